/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/os/conf-files.h"
#include "tree.h"

static const char *const folders[] = { CONF_FOLDERS("x.d"), "lib/x.d", NULL };

/* The paths in their order, masked ones in parentheses. */
static void assert_list(struct tree *t, const char *pattern, const char *want)
{
	_cleanup_(conf_files_done) struct conf_files f = {};
	char text[1024] = "";

	assert_int_equal(conf_files_list(&t->fs, folders, pattern, &f), 0);
	for (size_t i = 0; i < f.n_items; i++) {
		assert_string_equal(f.items[i].name, strrchr(f.items[i].path, '/') + 1);
		sprintf(text + strlen(text),
			conf_file_is_masked(&t->fs, f.items[i].path) ? "(%s) " : "%s ",
			f.items[i].path);
	}
	assert_string_equal(text, want);
}

static void names_are_sorted_and_the_first_folder_counts(void **state)
{
	struct tree *t = *state;

	assert_list(t, "*.conf", "");
	tree_file(t, "usr/lib/x.d/50-a.conf", "");
	tree_file(t, "usr/lib/x.d/70-c.conf", "");
	tree_file(t, "lib/x.d/70-c.conf", "");
	tree_file(t, "lib/x.d/90-d.conf", "");
	tree_file(t, "run/x.d/70-c.conf", "");
	tree_file(t, "run/x.d/60-b.conf", "");
	tree_file(t, "etc/x.d/60-b.conf", "");
	tree_file(t, "usr/local/lib/x.d/50-a.conf", "");
	assert_list(t, "*.conf",
		    "usr/local/lib/x.d/50-a.conf etc/x.d/60-b.conf run/x.d/70-c.conf "
		    "lib/x.d/90-d.conf ");
}

static void a_mask_hides_and_is_marked(void **state)
{
	static const struct {
		const char *target;
		bool is_mask;
	} links[] = {
		{ "/dev/null", true },    { "../../dev/null", true }, { "/devnull", false },
		{ "/dev/null/x", false }, { "a.conf", false },
	};
	struct tree *t = *state;

	tree_file(t, "usr/lib/x.d/m.conf", "");
	for (size_t i = 0; i < ELEMENTSOF(links); i++) {
		tree_link(t, "etc/x.d/m.conf", links[i].target);
		assert_list(t, "*.conf",
			    links[i].is_mask ? "(etc/x.d/m.conf) " : "etc/x.d/m.conf ");
		assert_int_equal(fs_remove(&t->fs, "etc/x.d/m.conf"), 0);
	}
	/* So does an empty file, which is read as one that says nothing. */
	tree_file(t, "run/x.d/m.conf", "");
	assert_list(t, "*.conf", "run/x.d/m.conf ");
}

static void other_names_are_not_looked_at(void **state)
{
	static const char *const names[] = { "a.conf",  "b.conf~",    ".c.conf", ".conf",
					     "d.alias", "e.conf.bak", "conf" };
	struct tree *t = *state;

	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		char path[64];

		snprintf(path, sizeof(path), "etc/x.d/%s", names[i]);
		tree_file(t, path, "");
	}
	assert_list(t, "*.conf", "etc/x.d/a.conf ");
	assert_list(t, "*.@(conf|alias)", "etc/x.d/a.conf etc/x.d/d.alias ");
}

static void a_folder_that_cannot_be_listed_is_named(void **state)
{
	_cleanup_(conf_files_done) struct conf_files f = {};
	struct tree *t = *state;

	tree_file(t, "run/x.d", "no folder");
	tree_file(t, "usr/lib/x.d/a.conf", "");
	assert_int_equal(conf_files_list(&t->fs, folders, "*.conf", &f), 0);
	assert_int_equal(f.n_items, 1);
	assert_string_equal(f.unread, "run/x.d");
	assert_int_equal(f.error, -ENOTDIR);
}

int main(void)
{
#define test(f) cmocka_unit_test_setup_teardown(f, tree_set_up, tree_tear_down)
	const struct CMUnitTest tests[] = {
		test(names_are_sorted_and_the_first_folder_counts),
		test(a_mask_hides_and_is_marked),
		test(other_names_are_not_looked_at),
		test(a_folder_that_cannot_be_listed_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
