/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet report: what is printed of a look at the kubelet comes back as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/base/document.h"
#include "../src/kubelet/look.h"

/* Each row has another value, and the longest one that its member has room for. */
static void fill(const struct fields *s, char *base)
{
	for (size_t i = 0; i < s->n_rows; i++) {
		const struct field *f = &s->rows[i];
		char *at = base + f->offset;

		switch (f->type) {
		case FIELD_NUMBER:
			memset(at, 0x11 + (int)i, f->size);
			at[f->size - 1] = 1; /* below the most a signed one takes */
			break;
		case FIELD_FLAG:
			*at = true;
			break;
		case FIELD_WORD:
			*(unsigned *)at = f->n_words - 1;
			break;
		case FIELD_NAME:
			memset(at, 'a' + (int)(i % 26), f->size - 1);
			at[1] = '\n';
			at[2] = (char)0xC3;
			break;
		case FIELD_ARRAY:
			for (size_t n = 0; n < f->size / f->of->size; n++)
				fill(f->of, at + n * f->of->size);
			if (f->count > 0)
				*(size_t *)(base + f->count) = f->size / f->of->size;
			break;
		default:
			assert_int_equal(f->type, FIELD_MAP);
		}
	}
}

/* Of a struct without pointers: a byte that no row writes is one between two members. */
static void cover(const struct fields *s, size_t from, size_t size, bool *covered)
{
	for (size_t i = 0; i < s->n_rows; i++) {
		const size_t count = s->rows[i].count;

		if (count >= from && count < from + size)
			memset(covered + (count - from), true, sizeof(size_t));
		for (size_t b = 0; b < s->rows[i].size; b++)
			if (s->rows[i].offset + b >= from && s->rows[i].offset + b < from + size)
				covered[s->rows[i].offset + b - from] = true;
	}
}

static void assert_covered(size_t from, size_t size)
{
	_cleanup_(freep) bool *covered = calloc(size, sizeof(*covered));
	size_t n_holes = 0;

	assert_non_null(covered);
	cover(&kubelet_report_fields, from, size, covered);
	for (size_t i = 0; i < size; i++) {
		n_holes = covered[i] ? 0 : n_holes + 1;
		if (n_holes > 3)
			fail_msg("byte %zu of %zu is in no row", i, size);
	}
}

static void all_of_it_comes_back_as_it_was(_unused_ void **state)
{
	struct kubelet_report r = {}, back = {};
	_cleanup_(freep) char *text = NULL;
	json_auto_t *document = NULL;

	assert_covered(offsetof(struct kubelet_report, kubelet), sizeof(r.kubelet));
	assert_covered(offsetof(struct kubelet_report, decision), sizeof(r.decision));

	fill(&kubelet_report_fields, (char *)&r);
	assert_int_equal(kubelet_report_print(&r, &text), 0);
	assert_int_equal(document_parse(text, strlen(text), 0, &document, NULL), 0);
	assert_int_equal(fields_parse(&kubelet_report_fields, document, &back, NULL), 0);

	assert_memory_equal(&back.kubelet, &r.kubelet, sizeof(r.kubelet));
	assert_memory_equal(&back.decision, &r.decision, sizeof(r.decision));
	assert_memory_equal(back.denied, r.denied, sizeof(r.denied));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_comes_back_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
