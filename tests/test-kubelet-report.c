/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet report: what is kept of a look at the kubelet, and when it is no longer good.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/base/document.h"
#include "../src/kubelet/look.h"
#include "../src/kubelet/yaml.h"
#include "../src/model/paths.h"
#include "../src/os/kubelet-ask.h"
#include "kubelet-root.h"

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
	assert_int_equal(back.topology_policy, _TOPOLOGY_POLICY_N - 1);
	assert_int_equal(back.topology_scope, _TOPOLOGY_SCOPE_N - 1);
	assert_int_equal(back.cpu_policy, _CPU_POLICY_N - 1);
}

/* A folder whose files are taken for those of the running system. */
struct node_root {
	struct root root;
	struct config c;
};

static int setup(void **state)
{
	struct node_root *n = calloc(1, sizeof(*n));

	assert_non_null(n);
	root_open(&n->root);
	n->root.fs.is_live = true;
	n->c.kubelet.topology_policy = TOPOLOGY_POLICY_BEST_EFFORT;
	put_text(&n->root, FILE_PATH, HEAD KEY ": " BE "\n");
	put_text(&n->root, "sys/devices/system/cpu/online", "0-7\n");
	*state = n;
	return 0;
}

static int teardown(void **state)
{
	struct node_root *n = *state;

	root_done(&n->root);
	free(n);
	return 0;
}

/* Until what was written is older than a tick of the clock that files have their times from. */
static void wait_a_tick(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
}

static void keep(const struct node_root *n)
{
	_cleanup_(stamps_done) struct stamps stamps = {};
	struct kubelet_report r = {};

	wait_a_tick();
	assert_int_equal(kubelet_look(&n->root.fs, &n->c, &r, &stamps), 0);
	assert_true(r.kubelet.is_there);
	assert_false(stamps.is_useless);
	assert_int_equal(kubelet_report_keep(&n->root.fs, &r, &stamps), 1);
}

static bool holds(const struct node_root *n)
{
	struct kubelet_report r = {};
	int found = kubelet_report_read(&n->root.fs, &n->c, &r);

	assert_true(found >= 0);
	if (found > 0) {
		assert_true(r.kubelet.is_there);
		assert_string_equal(r.kubelet.values[0].text, BE);
		assert_int_equal(r.decision.items[0].row > 0, true);
		assert_int_equal(r.decision.items[0].outcome, KUBELET_SATISFIED);
	}
	return found > 0;
}

static void it_holds_until_a_file_it_comes_from_changes(void **state)
{
	static const struct {
		const char *name, *path, *text;
		bool is_same;
	} rows[] = {
		{ "its file", FILE_PATH, HEAD KEY ": restricted\n" },
		{ "a unit appears", "etc/systemd/system/kubelet.service", "[Unit]\n" },
		{ "in a folder of lower rank", "usr/lib/systemd/system/rke2-agent.service",
		  "[Unit]\n" },
		{ "what was edited", KUBELET_RECORD_PATH, "{}" },
		{ "CPUs go offline", "sys/devices/system/cpu/online", "0-3\n" },
		{ "NUMA nodes", "sys/devices/system/node/online", "0-1\n" },
		{ "another manager", "etc/machine-config-daemon/currentconfig", "{}" },
		{ "pods were started", "sys/fs/cgroup/kubepods/cgroup.procs", "" },
		{ "nothing of it", "etc/hostname", "node\n", .is_same = true },
		{ "what it does not read", "sys/devices/system/cpu/offline", "7\n",
		  .is_same = true },
	};
	const struct node_root *n = *state;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		char full[PATH_MAX];

		keep(n);
		assert_true(holds(n));
		put_text(&n->root, rows[i].path, rows[i].text);
		if (holds(n) != rows[i].is_same)
			fail_msg("%s: it %s", rows[i].name, rows[i].is_same ? "ends" : "holds");
		snprintf(full, sizeof(full), "%s/%s", n->root.path, rows[i].path);
		assert_int_equal(unlink(full), 0);
		put_text(&n->root, FILE_PATH, HEAD KEY ": " BE "\n");
		put_text(&n->root, "sys/devices/system/cpu/online", "0-7\n");
	}
}

static void it_is_of_what_was_asked_for(void **state)
{
	struct node_root *n = *state;

	keep(n);
	n->c.kubelet.topology_policy = TOPOLOGY_POLICY_UNSET;
	assert_false(holds(n));
	n->c.kubelet.topology_policy = TOPOLOGY_POLICY_BEST_EFFORT;
	n->c.kubelet.topology_scope = TOPOLOGY_SCOPE_POD;
	assert_false(holds(n));
	n->c.kubelet.topology_scope = TOPOLOGY_SCOPE_UNSET;
	n->c.kubelet.cpu_policy = CPU_POLICY_STATIC;
	assert_false(holds(n));
	n->c.kubelet.cpu_policy = CPU_POLICY_UNSET;
	assert_true(holds(n));
}

static void a_damaged_one_is_none(void **state)
{
	static const char *const texts[] = {
		"", "{", "[]", "{}", "{\"values\":[],\"decision\":[]}", "{\"stamps\":{\"etc\":1}}",
	};
	const struct node_root *n = *state;

	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		put_text(&n->root, KUBELET_REPORT_PATH, texts[i]);
		assert_false(holds(n));
	}
}

/* Times of files are those of the last tick: a second change in it would not be seen. */
static void one_of_files_that_just_changed_is_not_kept(void **state)
{
	_cleanup_(stamps_done) struct stamps stamps = {};
	const struct node_root *n = *state;
	struct kubelet_report r = {};

	wait_a_tick();
	put_text(&n->root, FILE_PATH, HEAD KEY ": " BE "\n");
	assert_int_equal(kubelet_look(&n->root.fs, &n->c, &r, &stamps), 0);
	assert_true(stamps.is_useless);
	assert_int_equal(kubelet_report_keep(&n->root.fs, &r, &stamps), 0);
	assert_false(fs_exists(&n->root.fs, KUBELET_REPORT_PATH));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_comes_back_as_it_was),
		cmocka_unit_test_setup_teardown(it_holds_until_a_file_it_comes_from_changes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(it_is_of_what_was_asked_for, setup, teardown),
		cmocka_unit_test_setup_teardown(a_damaged_one_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(one_of_files_that_just_changed_is_not_kept, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
