/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: what a pass leaves for the next one, as texts.
 */
#pragma once

#include <jansson.h>

#include "../src/model/memory.h"
#include "../src/show/state.h"
#include "../src/step/steps.h"

/* What a pass in this boot finds in state.json and in its memory. Return: of state.json. */
static inline int take_texts(const char *state, const char *memory, const char *boot_id,
			     struct memory *ret)
{
	json_auto_t *document = json_loads(state, JSON_REJECT_DUPLICATES, NULL);
	json_auto_t *object = json_loads(memory, JSON_REJECT_DUPLICATES, NULL);
	struct state_head head = {}, none = {};
	int r;

	r = fields_parse(&state_head_fields, document, &head, NULL);
	if (fields_parse(&pass_memory_fields, object, ret, NULL) < 0) {
		memory_done(ret);
		*ret = (struct memory){};
	}
	memory_take(ret, boot_id, r < 0 ? &none : &head);
	return r;
}

/* Release it with free(). */
static inline char *memory_text(const struct config *c, const struct node *n,
				const struct memory *memory, const struct plan *p)
{
	_cleanup_(memory_done) struct memory kept = {};
	json_auto_t *object = NULL;

	if (plan_remember(c, n, memory, p, &kept) < 0)
		abort();
	object = fields_pack(&pass_memory_fields, &kept);
	return json_dumps(object, 0);
}

static inline int take_next(const struct config *c, const struct node *n,
			    const struct memory *memory, const struct plan *p, const char *boot_id,
			    struct memory *ret)
{
	_cleanup_(freep) char *state = NULL, *text = memory_text(c, n, memory, p);

	return output_state(c, n, memory, p, &state) < 0 ? -ENOMEM
							 : take_texts(state, text, boot_id, ret);
}
