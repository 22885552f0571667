/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State: state.json, what this service tells of a node: conf/schema/state.schema.json.
 *
 * Pure text, both ways. It has no time stamps: a finished node gives equal bytes at every pass.
 * The schema says what each key is; the tables in state.c have them in their order. "health",
 * "gpus", "smc", "boots" and "needs" are there only where there is one. A text that is not known is
 * "".
 */
#pragma once

#include <jansson.h>

#include "../model/message.h"
#include "../model/plan.h"

/**
 * output_state() - all of state.json
 * @c:    what was asked for
 * @n:    the node as it was last seen
 * @p:    the plan for it; what was tried of it and failed becomes a reason
 * @ret:  the text
 *
 * Reasons come in this order, each code once for a target: configuration, devices that are handed
 * out and not usable, actions, hints.
 *
 * Return: 0, or -ENOMEM.
 */
int output_state(const struct config *c, const struct node *n, const struct memory *memory,
		 const struct plan *p, char **ret);

/* The reasons of that document, as the key "reasons"; NULL: there is no memory. */
json_t *output_reasons(const struct config *c, const struct plan *p);

/* The functions that the node needs, and why, as the key "needs"; NULL: there is no memory. */
json_t *output_needs(const struct plan *p);

/*
 * The state that a text of output_state() tells, of this boot or, with NULL, of any. Nothing else
 * of the text is looked at. Return: 0, -ENOENT for another boot, or -EINVAL.
 */
int output_read_state(const char *json, const char *boot_id, enum node_state *ret);

/**
 * output_add_config_changed() - the reason configuration-changed, before all others
 * @hash: of the configuration on disk; NULL: it is malformed
 * @json: a text of output_state(); replaced where it is of another configuration: by the hash, or
 *        for NULL where it does not say config-invalid itself
 *
 * Return: 1 when it was added, 0 when the text is as it was, -EINVAL or -ENOMEM.
 */
int output_add_config_changed(const char *hash, char **json);

/**
 * output_degrade() - the same text, of a degraded node
 * @json:   a text of output_state()
 * @hash:   of the configuration in force
 * @reason: why, before all others, and once
 *
 * Return: 0, -EINVAL for what is no such text of this boot, or -ENOMEM.
 */
int output_degrade(const char *json, const char *boot_id, const char *hash, enum reason reason,
		   const char *detail, char **ret);

/* A text of output_state() in one line, for JSON lines. Return: 0, -EINVAL or -ENOMEM. */
int output_state_line(const char *json, char **ret);

/* An item of "reasons"; @advice NULL: the reason's own. Return: NULL when there is no memory. */
struct json_t *output_reason(enum reason reason, const char *target, const char *detail,
			     const char *advice);

/* "ports" of one device with this netdev; none for NULL. Return: NULL when there is no memory. */
struct json_t *output_ports(const struct ibdev *d, const char *netdev, const struct netdev *bond);

/**
 * output_news() - what the journal has to be told when a state follows another
 * @before:  a text of output_state(), or NULL
 * @after:   another
 * @ret:     first what is over, then what is new, each in the order of its document; owned
 *
 * While a node starts, what it still lacks is no news: nothing comes of an @after that is starting,
 * and a @before that is, is no text, or of another boot, counts as one without reasons. New is
 * whatever differs, be it in its detail alone; over is a code that its target has not any more.
 *
 * Return: 0 or -ENOMEM.
 */
int output_news(const char *before, const char *after, struct news **ret, size_t *ret_n);
