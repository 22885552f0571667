/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/observe/ibdev.h"
#include "../src/observe/observe.h"
#include "tree.h"

#define PORT    "sys/class/infiniband/rx0/ports/1/"
#define N_SLOTS 128
#define ZERO    "0000:0000:0000:0000:0000:0000:0000:0000\n"

static void put_slot(const struct tree *t, uint32_t slot, bool is_set)
{
	char path[256];

	snprintf(path, sizeof(path), PORT "gids/%" PRIu32, slot);
	tree_file(t, path, is_set ? "fe80:0000:0000:0000:0000:0000:0000:0001\n" : ZERO);
	if (!is_set)
		return;
	snprintf(path, sizeof(path), PORT "gid_attrs/types/%" PRIu32, slot);
	tree_file(t, path, "RoCE v2\n");
	snprintf(path, sizeof(path), PORT "gid_attrs/ndevs/%" PRIu32, slot);
	tree_file(t, path, "eth0\n");
}

static bool is_in(const uint32_t *slots, size_t n, uint32_t slot)
{
	for (size_t i = 0; i < n; i++)
		if (slots[i] == slot)
			return true;
	return false;
}

static void ibdev_free(struct ibdev *d)
{
	for (size_t i = 0; i < d->n_ports; i++)
		free(d->ports[i].gids);
	free(d->ports);
}

/* In the order of their numbers: "10" stands before "2" in the folder. */
static void gids_are_read_up_to_many_empty_slots(_unused_ void **state)
{
	static const struct {
		uint32_t set[4];
		size_t n_set, n_found;
	} cases[] = {
		{ {}, 0, 0 },
		{ { 0 }, 1, 1 },
		{ { 0, 1, 2, 10 }, 4, 4 },
		{ { 5 }, 1, 1 },
		{ { 0, 8 }, 2, 2 },         /* 7 between them */
		{ { 0, 9 }, 2, 1 },         /* 8: the end */
		{ { 0, 7, 14, 22 }, 4, 4 }, /* counted from zero behind each */
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(ibdev_free) struct ibdev ib = { .name = "rx0" };
		struct tree t;

		tree_make(&t);
		for (uint32_t slot = 0; slot < N_SLOTS; slot++)
			put_slot(&t, slot, is_in(cases[i].set, cases[i].n_set, slot));
		assert_int_equal(observe_ibdev(&t.fs, true, &ib), 0);
		assert_int_equal(ib.n_ports, 1);
		assert_int_equal(ib.ports[0].n_gids, cases[i].n_found);
		for (size_t k = 0; k < cases[i].n_found; k++) {
			assert_int_equal(ib.ports[0].gids[k].index, cases[i].set[k]);
			assert_string_equal(ib.ports[0].gids[k].type, "RoCE v2");
			assert_string_equal(ib.ports[0].gids[k].netdev, "eth0");
		}
		assert_int_equal(observe_all_gids(&t.fs, &ib), 0);
		assert_int_equal(ib.ports[0].n_gids, cases[i].n_set);
		tree_remove(&t);
	}
}

/* libibverbs knows none of these names: one is there and has no provider, the others left. */
static void what_left_meanwhile_is_no_failure_of_libibverbs(_unused_ void **state)
{
	static const struct {
		const char *ibdev; /* what has that character device by now */
		bool is_failure;
	} cases[] = {
		{ "test_none\n", true },
		{ "test_other\n", false },
		{ NULL, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct ibdev ib = { .name = "test_none", .uverbs = "uverbs0", .verbs = 1 };
		char name[][IBDEV_LEN] = { "test_none" };
		const struct questions q = { 1u << QUESTION_VERBS, .ibdevs = name, .n_ibdevs = 1 };
		struct node n = { .ibdevs = &ib, .n_ibdevs = 1 };
		struct os d = {};
		struct tree t;

		tree_make(&t);
		if (cases[i].ibdev)
			tree_file(&t, "sys/class/infiniband_verbs/uverbs0/ibdev", cases[i].ibdev);
		d.fs = t.fs;
		d.fs.is_live = true;
		assert_int_equal(observe_verbs(&d, &q, &n), cases[i].is_failure);
		if (cases[i].is_failure)
			assert_true(ib.verbs < 0);
		else
			assert_int_equal(ib.verbs, 1);
		tree_remove(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gids_are_read_up_to_many_empty_slots),
		cmocka_unit_test(what_left_meanwhile_is_no_failure_of_libibverbs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
