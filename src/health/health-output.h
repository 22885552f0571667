/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Health: what state.json says of links and cards, in lines for people and for
 * node-problem-detector.
 *
 * Pure text, of a text of output_state(). The codes are those of the custom plugins of
 * node-problem-detector, which takes the first line of stdout for the message of a condition:
 * pkg/custompluginmonitor/plugin/plugin.go.
 */
#pragma once

#include "../base/util.h"

enum { /* exit codes */
	HEALTH_OK,
	HEALTH_NOT_OK,
	HEALTH_UNKNOWN,
};

/**
 * output_npd() - one line about one condition
 * @json:      state.json; NULL: there is none
 * @boot_id:   of this boot: a state of another one tells nothing
 * @condition: "RdmaNotReady", "RdmaLinkFlapping" or "RdmaPcieDegraded"; "": the first one that is
 *             met, or the state
 * @ret:       owned, one line
 *
 * Return: HEALTH_*, or -ENOMEM. While the node is starting, a condition that is not met is not
 * known.
 */
int output_npd(const char *json, const char *boot_id, const char *condition, char **ret);

/* Describes links and cards for people: a line for each NIC, and below it one for each hint. @name:
 * as output_find_nic() takes it, or NULL for all. @is_json: these members of the state instead. */
int output_health(const char *json, const char *boot_id, const char *name, bool is_json,
		  char **ret);

/* The PCI address of the managed NIC that has this PCI address, netdev or RDMA device, or a VF that
 * has it. Return: 0, -ENODEV, -EINVAL for what is no state, or -ENOMEM. */
int output_find_nic(const char *json, const char *name, char *ret, size_t size);
