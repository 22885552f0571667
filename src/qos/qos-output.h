/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Qos: what a function does with priorities, as state.json and explain show it.
 *
 * Pure.
 */
#pragma once

#include <jansson.h>

#include "../model/node.h"

/* For a template of sheet.h: what follows the device in a line. */
#define OUTPUT_QOS                                                                                 \
	"[{?dcbx=firmware}set by the firmware: ][trust {trust}][, PFC {pfc}][, ETS {ets}]"         \
	"[, DSCP {dscp}][{?trust}{?tos}, |{?trust}{?mode}, ][rdma_cm {mode}][ ToS {tos}]"

/*
 * Its members: dcbx ("host", "firmware"), trust, pfc, ets and dscp in the words of the
 * settings, or those of model/qos.h where the settings have none; tos and mode of the first
 * port. Only what is known. Return: a new object, or NULL when there is no memory; an empty one
 * when nothing is known.
 */
json_t *output_qos(const struct node *n, const struct netdev *nd, const struct ibdev *ib);
