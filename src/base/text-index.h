/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text-index: which elements of an array may have a text, found without a look at each.
 *
 * It keeps hashes, not texts: the caller compares. An array that has grown or shrunk since by other
 * means has another length than its index, and then each element is a candidate.
 */
#pragma once

#include "util.h"

struct text_index {
	struct text_place {
		uint32_t hash;        /* of the text of this element */
		uint32_t next;        /* the next element in the same bucket */
		uint32_t first, last; /* of the bucket with this number */
	} *places;                    /* owned; as many as the power of two above n */
	size_t n;                     /* elements */
};

void text_index_done(struct text_index *x);
int text_index_add(struct text_index *x, const char *text); /* of element number x->n; or -ENOMEM */

/*
 * The next candidate for the same text in an array of @n elements, in its order; @last: the one
 * before, SIZE_MAX before the first.
 * Return: SIZE_MAX after the last.
 */
size_t text_index_next(const struct text_index *x, size_t n, const char *text, size_t last);
