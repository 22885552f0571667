/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/wait.h>

#include "../src/base/log.h"
#include "../src/config/dropin.h"
#include "../src/config/reader.h"
#include "../src/model/paths.h"
#include "../src/set.h"
#include "tree.h"

#define HEADER                                                                                     \
	"# Written by \"rdma-provision set\"; change it with \"rdma-provision set\" and "          \
	"\"unset\", or by hand.\n"
#define MAIN_PATH "etc/rdma-provision/rdma-provision.conf"

/* --- text in, text out --- */

static char *edited(const char *text, size_t size, const char *section, const char *key,
		    const char *value, int want, size_t *ret_size)
{
	_cleanup_(dropin_done) struct dropin e = {};
	char *now;
	int r;

	assert_int_equal(dropin_open(text, size, &e), 0);
	r = value ? dropin_set(&e, section, key, value) : dropin_unset(&e, section, key);
	if (r != want)
		print_message("%s.%s=%s in\n%.200s\n", section, key, value ? value : "(unset)",
			      text);
	assert_int_equal(r, want);
	assert_int_equal(dropin_text(&e, &now, ret_size), 0);
	return now;
}

static const struct {
	const char *before, *section, *key, *value, *after;
} sets[] = {
	/* in its place */
	{ "[A]\nk=1\n", "A", "k", "2", "[A]\nk=2\n" },
	{ "# c\n[A]\n # k=0\nk = 1\n;k=3\n", "A", "k", "2", "# c\n[A]\n # k=0\nk = 2\n;k=3\n" },
	{ "[A]\n\tk\t=\t 1  \nl=1\n", "A", "k", "2", "[A]\n\tk\t=\t 2\nl=1\n" },
	{ "[A]\nk=1", "A", "k", "2", "[A]\nk=2" },
	{ "[A]\nk=1\n[B]\nk=1\n", "B", "k", "2", "[A]\nk=1\n[B]\nk=2\n" },
	{ "[A]\nk=\n", "A", "k", "2", "[A]\nk=2\n" },
	{ "[A]\nk=1\n", "A", "k", "", "[A]\nk=\n" },
	{ "[A]\r\nk=1\r\nl=1\r\n", "A", "k", "2", "[A]\r\nk=2\r\nl=1\r\n" },
	{ "[A]\nk=a#b;c=d%e\n", "A", "k", "#=%;\"'$HOME", "[A]\nk=#=%;\"'$HOME\n" },
	{ "[A]\nl=1\n[B]\n[A]\nk=1\n", "A", "k", "2", "[A]\nl=1\n[B]\n[A]\nk=2\n" },
	{ "[Device  a.b]\nk=1\n", "Device a.b", "k", "2", "[Device  a.b]\nk=2\n" },
	{ "[ A ]\nk=1\n", "A", "k", "2", "[ A ]\nk=2\n" },
	{ "\xef\xbb\xbf[A]\nk=1\n", "A", "k", "2", "\xef\xbb\xbf[A]\nk=2\n" },
	/* continued */
	{ "[A]\nk=1 \\\n 2\nl=1\n", "A", "k", "3", "[A]\nk=3\nl=1\n" },
	{ "[A]\nk=1 \\\n# c\n 2\nl=1\n", "A", "k", "3", "[A]\nk=3\n# c\nl=1\n" },
	{ "[A]\nk \\\n = 1\nl=1\n", "A", "k", "3", "[A]\nk=3\nl=1\n" },
	{ "[A]\n \\\nk=1\nl=1\n", "A", "k", "3", "[A]\nk=3\nl=1\n" },
	{ "[A]\nk=1 \\", "A", "k", "3", "[A]\nk=3" },
	{ "[A]\nk=1 \\\n# c", "A", "k", "3", "[A]\nk=3\n# c" },
	{ "[A]\nk=1\\\\\nl=1\n", "A", "k", "3", "[A]\nk=3\nl=1\n" },
	/* behind the last key of its section */
	{ "[A]\nl=1\n", "A", "k", "2", "[A]\nl=1\nk=2\n" },
	{ "[A]\nl=1", "A", "k", "2", "[A]\nl=1\nk=2\n" },
	{ "[A]\r\nl=1", "A", "k", "2", "[A]\r\nl=1\r\nk=2\r\n" },
	{ "[A]\nl=1\n\n# of B\n[B]\n", "A", "k", "2", "[A]\nl=1\nk=2\n\n# of B\n[B]\n" },
	{ "[A]\n#k=1\n\n[B]\n", "A", "k", "2", "[A]\n#k=1\nk=2\n\n[B]\n" },
	{ "[A]\n[B]\n", "A", "k", "2", "[A]\nk=2\n[B]\n" },
	{ "[A]", "A", "k", "2", "[A]\nk=2\n" },
	{ "[A]\nl=1\n[B]\nl=1\n[A]\nm=1\n", "A", "k", "2", "[A]\nl=1\n[B]\nl=1\n[A]\nm=1\nk=2\n" },
	{ "[A]\nl=1 \\\n 2\n\n[B]\n", "A", "k", "2", "[A]\nl=1 \\\n 2\nk=2\n\n[B]\n" },
	{ "[A]\nl=1 \\", "A", "k", "2", "[A]\nl=1 \\\n\nk=2\n" },
	{ "[A]\nl=1 \\\n# c\n", "A", "k", "2", "[A]\nl=1 \\\n# c\n\nk=2\n" },
	{ "[Device a]\nl=1\n", "Device\t a", "k", "2", "[Device a]\nl=1\nk=2\n" },
	/* a new section */
	{ "", "A", "k", "2", "[A]\nk=2\n" },
	{ "# c\n", "A", "k", "2", "# c\n\n[A]\nk=2\n" },
	{ "# c", "A", "k", "2", "# c\n\n[A]\nk=2\n" },
	{ "# [A]\n", "A", "k", "2", "# [A]\n\n[A]\nk=2\n" },
	{ "[B]\nk=1\n\n", "A", "k", "2", "[B]\nk=1\n\n[A]\nk=2\n" },
	{ "[B]\r\nk=1\r\n", "A", "k", "2", "[B]\r\nk=1\r\n\r\n[A]\r\nk=2\r\n" },
	{ "[B]\nk=1 \\", "A", "k", "2", "[B]\nk=1 \\\n\n[A]\nk=2\n" },
	{ "[Device a]\nk=1\n", "Device a.b", "k", "2", "[Device a]\nk=1\n\n[Device a.b]\nk=2\n" },
	{ "[Device a]\nk=1\n", "Device", "k", "2", "[Device a]\nk=1\n\n[Device]\nk=2\n" },
	{ "", "Device   a", "k", "2", "[Device a]\nk=2\n" },
};

static void a_key_is_set_and_nothing_else_changes(void **state _unused_)
{
	for (size_t i = 0; i < ELEMENTSOF(sets); i++) {
		_cleanup_(freep) char *now = NULL, *again = NULL;
		size_t size;

		now = edited(sets[i].before, strlen(sets[i].before), sets[i].section, sets[i].key,
			     sets[i].value, 1, &size);
		assert_string_equal(now, sets[i].after);
		assert_int_equal(size, strlen(now));

		again = edited(now, size, sets[i].section, sets[i].key, sets[i].value, 0, &size);
		assert_string_equal(again, sets[i].after);
	}
}

static void a_key_is_removed_and_nothing_else_changes(void **state _unused_)
{
	static const struct {
		const char *before, *section, *key, *after;
	} cases[] = {
		{ "[A]\nk=1\nl=1\n", "A", "k", "[A]\nl=1\n" },
		{ "[A]\nl=1\nk=1", "A", "k", "[A]\nl=1\n" },
		{ "# c\n[A]\n# about k\nk=1\n", "A", "k", "# c\n[A]\n# about k\n" },
		{ "[A]\nk=1 \\\n# c\n 2\n", "A", "k", "[A]\n# c\n" },
		/* with its section */
		{ "[A]\nk=1\n", "A", "k", "" },
		{ "# c\n\n[A]\nk=1\n", "A", "k", "# c\n" },
		{ "[B]\nl=1\n\n[A]\nk=1\n\n[C]\n", "A", "k", "[B]\nl=1\n\n[C]\n" },
		{ "[A]\n\nk=1 \\\n 2\n\n", "A", "k", "" },
		{ "[A]\nl=1\n[B]\n[A]\nk=1\n", "A", "k", "[A]\nl=1\n[B]\n" },
		{ "[Device  a]\r\nk=1\r\n[B]\r\n", "Device a", "k", "[B]\r\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(freep) char *now = NULL;
		size_t size;

		now = edited(cases[i].before, strlen(cases[i].before), cases[i].section,
			     cases[i].key, NULL, 0, &size);
		assert_string_equal(now, cases[i].after);
	}
}

static void what_cannot_be_done_changes_nothing(void **state _unused_)
{
	static const struct {
		const char *before, *section, *key, *value;
		int want;
	} cases[] = {
		{ "[A]\nk=1\nk=2\n", "A", "k", "3", -EEXIST },
		{ "[A]\nk=1\n[B]\n[A]\nk=2\n", "A", "k", "3", -EEXIST },
		{ "[A]\nk=1\nk=2\n", "A", "k", NULL, -EEXIST },
		{ "[A]\nl=1\n", "A", "k", NULL, -ENOENT },
		{ "[Device]\nk=1\n", "Device a", "k", NULL, -ENOENT },
		{ "[A\nk=1\n", "A", "k", "3", -EBADMSG },
		{ "k=1\n", "A", "k", "3", -EBADMSG },
		{ "[A]\nk\n", "A", "k", NULL, -EBADMSG },
		/* what a file cannot say */
		{ "[A]\nk=1\n", "A", "k", "a\nl=2", -EINVAL },
		{ "[A]\nk=1\n", "A", "k", "a\r", -EINVAL },
		{ "[A]\nk=1\n", "A", "k", "a\\", -EINVAL },
		{ "[A]\nk=1", "A", "k", "a\\", -EINVAL },
		{ "[A]\nk=1\nl=2\n", "A", "k", "a\\", -EINVAL },
		{ "[A]\nk=1\n", "A", "k", " a", -EINVAL },
		{ "[A]\nk=1\n", "A", "k", "a\x01", -EINVAL },
		{ "[A]\nk=1\n", "A", "k", "\xff", -EINVAL },
		{ "[A]\n", "A", "#k", "1", -EINVAL },
		{ "[A]\n", "A]\n[B", "k", "1", -EINVAL },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(freep) char *now = NULL;
		size_t size;

		now = edited(cases[i].before, strlen(cases[i].before), cases[i].section,
			     cases[i].key, cases[i].value, cases[i].want, &size);
		assert_string_equal(now, cases[i].before);
	}
}

static void a_value_of_any_length_is_written_whole_or_refused(void **state _unused_)
{
	for (size_t n = 4080; n < 4110; n++) {
		_cleanup_(freep) char *value = malloc(n + 1), *now = NULL;
		const int want = strlen("k=") + n <= LINE_MAX_BYTES ? 1 : -EINVAL;
		size_t size;

		assert_non_null(value);
		memset(value, 'x', n);
		value[n] = '\0';
		now = edited("[A]\nk=1\n", 8, "A", "k", value, want, &size);
		assert_int_equal(size, want == 1 ? 7 + n : 8);
	}
}

/* Everything a reader tells, as one text. */
static int on_key(void *userdata, const char *section, const char *name, const char *value,
		  unsigned line _unused_, unsigned last _unused_)
{
	if (name)
		fprintf(userdata, "%s|%s|%s\n", section, name, value);
	return 0;
}

static char *meaning(const char *text, size_t text_size)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	char *told = NULL;
	size_t size;
	FILE *f = open_memstream(&told, &size);

	assert_non_null(f);
	assert_int_equal(reader_parse("x", text, text_size, &errors, on_key, f), 0);
	assert_int_equal(fclose(f), 0);
	if (errors.n_malformed == 0)
		return told;
	free(told);
	return NULL;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Keys without the one, in an order that does not depend on the file. */
static char *others(char *told, const char *but, bool *ret_has)
{
	char *lines[64] = {}, *rest = NULL, *text = calloc(1, 8192);
	size_t n = 0;

	assert_non_null(text);
	*ret_has = false;
	for (char *l = strtok_r(told, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest)) {
		if (is_prefix(l, but))
			*ret_has = true;
		else
			lines[n++] = l;
	}
	if (n > 0)
		qsort(lines, n, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < n; i++)
		strcat(strcat(text, lines[i]), "\n");
	return text;
}

/* Whatever a file is put together from: the reader then tells the same keys but for that one. */
static void in_any_file_the_other_keys_mean_the_same(void **state _unused_)
{
	static const char *const pieces[] = {
		"[A]\n",      "[B]\n",       "[ Device  a.b ]\n",
		"k=1\n",      "l = 2 \\\n",  "m=\\\n",
		" # c = 1\n", ";[A]\n",      "\n",
		" \t\n",      "n=a=b#c%d\n", "x=1 \\\\\n",
		"k \\\n",     "= 3\n",       "[A] \\\n",
		"\r\n",       "o=1\r\n",     "p=1",
		"\\\n",       "#",           "\xef\xbb\xbf",
		" \\\r\n",
	};
	unsigned seed = 1, n_valid = 0;

	for (int round = 0; round < 60000; round++) {
		_cleanup_(freep) char *before = NULL, *after = NULL, *now = NULL, *kept = NULL,
				      *kept_now = NULL;
		_cleanup_(dropin_done) struct dropin e = {};
		char text[512] = "[A]\n";
		bool had, has;
		size_t size;
		int r;

		for (int i = rand_r(&seed) % 9; i >= 0; i--)
			strcat(text, pieces[(unsigned)rand_r(&seed) % ELEMENTSOF(pieces)]);
		before = meaning(text, strlen(text));
		assert_int_equal(dropin_open(text, strlen(text), &e), 0);
		r = round % 2 ? dropin_set(&e, "A", "k", "new") : dropin_unset(&e, "A", "k");
		if (!before) {
			assert_int_equal(r, -EBADMSG);
			continue;
		}
		if (r == -EEXIST || r == -ENOENT)
			continue;
		n_valid++;
		assert_int_equal(r, round % 2);
		assert_int_equal(dropin_text(&e, &now, &size), 0);
		after = meaning(now, size);
		if (!after)
			print_message("%s\n=>\n%s\n", text, now);
		assert_non_null(after);
		kept = others(before, "A|k|", &had);
		kept_now = others(after, "A|k|", &has);
		if (!streq(kept, kept_now) || has != (round % 2))
			print_message("%s\n=>\n%s\n", text, now);
		assert_string_equal(kept, kept_now);
		assert_int_equal(has, round % 2);
	}
	assert_true(n_valid > 3000);
}

static void a_large_file_is_edited_as_well(void **state _unused_)
{
	const size_t n = 1024 * 1024;
	_cleanup_(freep) char *text = malloc(n + 1), *now = NULL;
	size_t size;

	assert_non_null(text);
	memset(text, '#', n);
	for (size_t i = 79; i < n; i += 80)
		text[i] = '\n';
	memcpy(text + n / 2 / 80 * 80, "[A]\nk=1\n", 8);
	text[n] = '\0';
	now = edited(text, n, "A", "k", "23", 1, &size);
	assert_int_equal(size, n + 1);
	assert_memory_equal(now, text, n / 2 / 80 * 80);
	assert_memory_equal(now + size - n / 2 + 80, text + n - n / 2 + 80, n / 2 - 80);
}

/* --- files --- */

static int set_up(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	tree_make(t);
	tree_file(t, PRESET_FOLDER "/one.conf", "[Device rdma]\nMatch=driver:x\nMTU=1500\n");
	tree_file(t, PRESET_FOLDER "/two.conf",
		  "[Device rdma]\nMatch=driver:x\nVirtualFunctions=shared-multi\nCount=4\n");
	tree_file(t, PRESET_FOLDER "/bad.conf", "[Device rdma]\nMTU=many\n");
	*state = t;
	return 0;
}

static int tear_down(void **state)
{
	tree_remove(*state);
	free(*state);
	return 0;
}

/* What was said goes to a file, to be looked at. */
static int change(struct tree *t, const struct set_request *req, char said[4096], bool *ret_same)
{
	_cleanup_(closep) int saved = dup(STDERR_FILENO);
	struct set_result res = {};
	FILE *f = tmpfile();
	size_t n;
	int r;

	assert_true(saved >= 0 && f);
	fflush(stderr);
	assert_true(dup2(fileno(f), STDERR_FILENO) >= 0);
	r = set_change(&t->fs, req, &res);
	fflush(stderr);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	rewind(f);
	n = fread(said, 1, 4095, f);
	said[n] = '\0';
	fclose(f);
	if (ret_same)
		*ret_same = res.is_same;
	config_done(&res.config);
	return r;
}

/* @words: keys, blank-separated; "_" stands for a blank in them. */
static int run(struct tree *t, bool is_unset, const char *preset, const char *words,
	       char said[4096])
{
	char text[1024], *keys[16], *rest = NULL;
	struct set_request req = { .is_unset = is_unset, .keys = keys };

	COPY(text, words);
	for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
		for (char *s = w; (s = strchr(s, '_'));)
			*s = ' ';
		keys[req.n_keys++] = w;
	}
	req.with_preset = preset;
	req.preset = preset && *preset ? preset : NULL;
	return change(t, &req, said, NULL);
}

static int set_keys(struct tree *t, const char *words)
{
	char said[4096];

	return run(t, false, NULL, words, said);
}

static void assert_file(struct tree *t, const char *path, const char *want)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	r = fs_read_all(&t->fs, path, 1 << 21, false, &text, &size);
	if (!want) {
		assert_int_equal(r, -ENOENT);
		return;
	}
	assert_int_equal(r, 0);
	assert_string_equal(text, want);
}

static void the_file_is_made_changed_and_removed(void **state)
{
	struct tree *t = *state;
	char said[4096];

	assert_int_equal(set_keys(t, "Device_nic.Match=driver:igb Route.Manage=yes"), 1);
	assert_file(t, SET_PATH,
		    HEADER "\n[Device nic]\nMatch=driver:igb\n\n[Route]\nManage=yes\n");
	assert_int_equal(set_keys(t, "Device__nic.MTU=9000 Route.Manage=no"), 1);
	assert_file(t, SET_PATH,
		    HEADER "\n[Device nic]\nMatch=driver:igb\nMTU=9000\n\n[Route]\nManage=no\n");
	assert_int_equal(set_keys(t, "Route.Manage=no"), 0);
	assert_int_equal(run(t, true, NULL, "Device_nic.Match Device_nic.MTU", said), 1);
	assert_file(t, SET_PATH, HEADER "\n[Route]\nManage=no\n");
	assert_int_equal(run(t, true, NULL, "Route.Manage", said), 1);
	assert_file(t, SET_PATH, NULL);
}

static void a_name_with_dots_ends_at_the_last_of_them(void **state)
{
	struct tree *t = *state;

	assert_int_equal(set_keys(t, "Device_a.b.Match=pci:0000:41:00.0"), 1);
	assert_file(t, SET_PATH, HEADER "\n[Device a.b]\nMatch=pci:0000:41:00.0\n");
}

static void what_a_person_wrote_is_kept(void **state)
{
	struct tree *t = *state;

	tree_file(t, SET_PATH, "; mine\r\n[Route]\r\n# why = 1\r\nManage = no\r\n\r\n; end");
	assert_int_equal(set_keys(t, "Route.Manage=yes Route.Metric=300 Kubelet.Gate=off"), 1);
	assert_file(t, SET_PATH,
		    "; mine\r\n[Route]\r\n# why = 1\r\nManage = yes\r\nMetric=300\r\n\r\n; end\r\n"
		    "\r\n[Kubelet]\r\nGate=off\r\n");
}

static void what_is_wrong_is_named_and_nothing_is_written(void **state)
{
	static const struct {
		const char *set, *old, *elsewhere, *said;
	} cases[] = {
		{ "Route.Metric=many", NULL, NULL, "[Route] Metric=many: accepted: a number from" },
		{ "Route.Mtric=1", NULL, NULL, "Mtric= in [Route]: unknown key, did you mean" },
		{ "Rout.Metric=1", NULL, NULL, "[Rout]: unknown section, did you mean [Route]?" },
		{ "Route.Gate=off", NULL, NULL, "unknown key, it belongs in [Kubelet]" },
		{ "Route.Manage=yes Route.Metric=0", NULL, NULL, "Metric=0: accepted" },
		{ "Route.Manage=yes Route.Manage=no", NULL, NULL, "Route.Manage: is given twice" },
		{ "Manage=yes", NULL, NULL, "Manage=yes: accepted: SECTION.KEY=VALUE" },
		{ "Route.Manage", NULL, NULL, "Route.Manage: accepted: SECTION.KEY=VALUE" },
		{ "Route.=yes", NULL, NULL, "accepted: SECTION.KEY=VALUE" },
		{ ".Manage=yes", NULL, NULL, "accepted: SECTION.KEY=VALUE" },
		{ "[Route].Manage=yes", NULL, NULL, "accepted: SECTION.KEY=VALUE" },
		{ "Route.#Manage=yes", NULL, NULL, "accepted: SECTION.KEY=VALUE" },
		{ "Route.Manage=yes\n[SMC]", NULL, NULL, "accepted: a value that is one line" },
		{ "Route.Manage=yes\\", NULL, NULL, "accepted: a value that is one line" },
		{ "Device_a.Count=4", NULL, NULL, "Count=4 with VirtualFunctions=keep" },
		/* together with what there is, in the lines as they are now */
		{ "Device_a.Count=4", NULL,
		  "[Device a]\nMatch=driver:x\nVirtualFunctions=exclusive\n",
		  "Count=4 with VirtualFunctions=exclusive" },
		{ "Device_a.VirtualFunctions=shared",
		  "[Kubelet]\n[Device a]\nMatch=driver:x\nVirtualFunctions=shared-multi\nCount=4\n",
		  NULL, "VirtualFunctions=shared in [Device a]" },
		{ "Kubelet.Gate=strict", "[Kubelet]\n\n[Route]\nMetric=x\n", NULL,
		  "/" SET_PATH ":4: Metric=x: accepted" },
		{ "Route.Manage=yes", NULL, "[Route]\n\nMetric=x\n",
		  "/" MAIN_PATH ":3: Metric=x: accepted" },
		{ "Route.Manage=yes", NULL, "[Route\n", "/" MAIN_PATH ":1: [Route: accepted" },
		{ "Route.Manage=yes", NULL, "[Route]\nFuture=1\n",
		  "/" MAIN_PATH ":2: Future= in [Route]: unknown key" },
		{ "Route.Manage=yes", "[Kubelet]\n[Route\n", NULL,
		  "/" SET_PATH ":2: [Route: accepted" },
		{ "Route.Manage=yes", "[Route]\nManage=no\n#\nManage=no\n", NULL,
		  "/" SET_PATH ":4: Manage= in [Route] is set in line 2 already" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct tree *t = *state;
		char said[4096];

		assert_int_equal(fs_remove(&t->fs, SET_PATH), 0);
		if (cases[i].old)
			tree_file(t, SET_PATH, cases[i].old);
		tree_file(t, MAIN_PATH, cases[i].elsewhere ? cases[i].elsewhere : "");
		if (run(t, false, NULL, cases[i].set, said) >= 0 || !strstr(said, cases[i].said) ||
		    !strstr(said, "Nothing was changed"))
			fail_msg("%s: \"%s\" is not said but \"%s\"", cases[i].set, cases[i].said,
				 said);
		assert_file(t, SET_PATH, cases[i].old);
	}
}

static void a_bad_value_in_the_own_file_is_repaired_by_setting_it(void **state)
{
	struct tree *t = *state;

	tree_file(t, SET_PATH, "[Route]\nMetric=x\n");
	assert_int_equal(set_keys(t, "Route.Metric=7"), 1);
	assert_file(t, SET_PATH, "[Route]\nMetric=7\n");
}

static void unset_tells_where_else_a_key_is_set(void **state)
{
	struct tree *t = *state;
	char said[4096];

	tree_file(t, MAIN_PATH, "[Route]\nManage=yes\n");
	tree_file(t, "run/rdma-provision/rdma-provision.conf.d/20-x.conf",
		  "\n[Route]\nManage=no\n");
	tree_link(t, PRESET_PATH, "/" PRESET_FOLDER "/one.conf");
	tree_file(t, SET_PATH, "[Kubelet]\nGate=strict\n");
	assert_int_equal(run(t, true, NULL, "Kubelet.Gate Route.Manage", said), -ENOENT);
	assert_non_null(
		strstr(said, "but in /run/rdma-provision/rdma-provision.conf.d/20-x.conf:3"));
	assert_int_equal(run(t, true, NULL, "Device_rdma.MTU", said), -ENOENT);
	assert_non_null(strstr(said, "but in /" PRESET_PATH ":3: "));
	assert_int_equal(run(t, true, NULL, "SMC.Enable", said), -ENOENT);
	assert_non_null(strstr(said, "nor anywhere else"));
	assert_int_equal(run(t, true, NULL, "Route.Manage=yes", said), -EINVAL);
	assert_file(t, SET_PATH, "[Kubelet]\nGate=strict\n");
}

static void unset_may_not_leave_something_invalid(void **state)
{
	struct tree *t = *state;
	char said[4096];

	tree_file(t, SET_PATH, "[Device a]\nVirtualFunctions=shared-multi\nCount=2\n");
	assert_int_equal(run(t, true, NULL, "Device_a.Count", said), -EINVAL);
	assert_non_null(strstr(said, "/" SET_PATH ":2: VirtualFunctions=shared-multi without"));
	assert_int_equal(run(t, true, NULL, "Device_a.Count Device_a.VirtualFunctions", said), 1);
	assert_file(t, SET_PATH, NULL);
}

static void a_value_that_is_overridden_is_told(void **state)
{
	static const char *const later[] = {
		"etc/rdma-provision/rdma-provision.conf.d/90-x.conf",
		"run/rdma-provision/rdma-provision.conf.d/60-x.conf",
	};
	struct tree *t = *state;
	char said[4096];

	tree_file(t, "usr/lib/rdma-provision/rdma-provision.conf.d/50-set.conf",
		  "[Route]\nMetric=900\n");
	for (size_t i = 0; i < ELEMENTSOF(later); i++) {
		char want[256];

		assert_int_equal(fs_remove(&t->fs, SET_PATH), 0);
		tree_file(t, later[i], "[Route]\nMetric=800\n");
		assert_int_equal(run(t, false, NULL, "Route.Metric=300", said), 1);
		snprintf(want, sizeof(want),
			 "Route.Metric=300 is not in force: /%s:2 comes later and says Metric=800",
			 later[i]);
		assert_non_null(strstr(said, want));
		assert_non_null(strstr(said, "50-set.conf: is not in force any more, /" SET_PATH));
		assert_int_equal(fs_remove(&t->fs, later[i]), 0);
	}
	assert_int_equal(run(t, false, NULL, "Route.Metric=400", said), 1);
	assert_null(strstr(said, "not in force"));
}

static void what_is_no_file_of_its_own_is_left(void **state)
{
	struct tree *t = *state;
	char said[4096];

	tree_link(t, SET_PATH, "/dev/null");
	assert_int_equal(run(t, false, NULL, "Route.Manage=yes", said), -EEXIST);
	assert_non_null(strstr(said, "is a link to /dev/null, so it is masked"));
	assert_int_equal(fs_remove(&t->fs, SET_PATH), 0);
	tree_link(t, SET_PATH, "other.conf");
	assert_int_equal(run(t, false, NULL, "Route.Manage=yes", said), -EEXIST);
	assert_int_equal(fs_remove(&t->fs, SET_PATH), 0);
	tree_file(t, SET_PATH "/x", "");
	assert_true(run(t, false, NULL, "Route.Manage=yes", said) < 0);
	assert_non_null(strstr(said, "is no regular file"));
}

static void assert_preset(struct tree *t, const char *want)
{
	char target[256];

	if (!want) {
		assert_int_equal(fs_read_link(&t->fs, PRESET_PATH, target, sizeof(target)),
				 -ENOENT);
		return;
	}
	assert_int_equal(fs_read_link(&t->fs, PRESET_PATH, target, sizeof(target)), 0);
	assert_string_equal(target, want);
}

static void a_preset_is_linked_replaced_and_removed(void **state)
{
	struct tree *t = *state;
	char said[4096];

	assert_int_equal(run(t, false, "one", "", said), 1);
	assert_preset(t, "/" PRESET_FOLDER "/one.conf");
	assert_file(t, PRESET_PATH, "[Device rdma]\nMatch=driver:x\nMTU=1500\n");
	assert_int_equal(run(t, false, "one", "", said), 0);
	assert_int_equal(run(t, false, "two", "Device_rdma.Count=8", said), 1);
	assert_preset(t, "/" PRESET_FOLDER "/two.conf");
	assert_file(t, SET_PATH, HEADER "\n[Device rdma]\nCount=8\n");

	/* The values need the preset, so both or none. */
	assert_int_equal(run(t, true, "", "", said), -EINVAL);
	assert_preset(t, "/" PRESET_FOLDER "/two.conf");
	assert_int_equal(run(t, true, "", "Device_rdma.Count", said), 1);
	assert_preset(t, NULL);
	assert_file(t, SET_PATH, NULL);
	assert_int_equal(run(t, true, "", "", said), -ENOENT);
}

static void a_preset_that_is_none_changes_nothing(void **state)
{
	static const struct {
		const char *name, *said;
	} cases[] = {
		{ "three", "--preset=three: accepted: one of bad, one, two" },
		{ "../presets/one", "accepted: one of" },
		{ ".one", "accepted: one of" },
		{ "bad", "/" PRESET_FOLDER "/bad.conf:2: MTU=many: accepted" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct tree *t = *state;
		char said[4096];

		assert_true(run(t, false, cases[i].name, "Route.Manage=yes", said) < 0);
		if (!strstr(said, cases[i].said))
			fail_msg("\"%s\" is not said but \"%s\"", cases[i].said, said);
		assert_preset(t, NULL);
		assert_file(t, SET_PATH, NULL);
	}
}

static void only_a_link_to_a_preset_is_replaced(void **state)
{
	static const struct {
		const char *target; /* NULL: a file */
		bool is_own;
	} cases[] = {
		{ NULL, false },
		{ "/dev/null", false },
		{ "/etc/mine.conf", false },
		{ "/" PRESET_FOLDER "/sub/x.conf", false },
		{ "/" PRESET_FOLDER "/gone.conf", true },
		{ "../../../" PRESET_FOLDER "/one.conf", true },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct tree *t = *state;
		char said[4096];

		assert_int_equal(fs_remove(&t->fs, PRESET_PATH), 0);
		if (cases[i].target)
			tree_link(t, PRESET_PATH, cases[i].target);
		else
			tree_file(t, PRESET_PATH, "");
		assert_int_equal(run(t, false, "two", "", said), cases[i].is_own ? 1 : -EEXIST);
		if (cases[i].is_own)
			assert_preset(t, "/" PRESET_FOLDER "/two.conf");
		else if (cases[i].target)
			assert_preset(t, cases[i].target);
		assert_int_equal(run(t, true, "", "", said), cases[i].is_own ? 1 : -EEXIST);
	}
}

/* When the link cannot be made, the file is as it was. */
static void keys_and_preset_are_written_both_or_neither(void **state)
{
	struct tree *t = *state;
	char said[4096];

	/* Not empty: it cannot be taken for what a crash left behind. */
	tree_file(t, DROPIN_FOLDER "/." PRESET_NAME ".tmp/x", "");
	assert_true(run(t, false, "one", "Route.Manage=yes", said) < 0);
	assert_file(t, SET_PATH, NULL);
	assert_preset(t, NULL);
	tree_file(t, SET_PATH, "[Route]\nMetric=7\n");
	assert_true(run(t, false, "one", "Route.Manage=yes", said) < 0);
	assert_file(t, SET_PATH, "[Route]\nMetric=7\n");
}

/* Where the keys need the new preset it is linked first, for a power cut may come in between. */
static void the_configuration_is_valid_between_the_two_files(void **state)
{
	struct tree *t = *state;
	struct stat before, after;
	char said[4096];

	assert_int_equal(run(t, false, "one", "", said), 1);
	assert_int_equal(fstatat(t->fs.root, PRESET_PATH, &before, AT_SYMLINK_NOFOLLOW), 0);
	tree_file(t, DROPIN_FOLDER "/." SET_NAME ".tmp/x", "");
	assert_true(run(t, false, "two", "Device_rdma.Count=8", said) < 0);
	assert_file(t, SET_PATH, NULL);
	assert_preset(t, "/" PRESET_FOLDER "/one.conf"); /* put back */
	assert_int_equal(fstatat(t->fs.root, PRESET_PATH, &after, AT_SYMLINK_NOFOLLOW), 0);
	assert_memory_not_equal(&before.st_ctim, &after.st_ctim, sizeof(before.st_ctim));
}

static void what_was_in_force_before_is_told_apart(void **state)
{
	char *key[] = { (char *)(uintptr_t)"Route.Metric=200" };
	const struct set_request req = { .keys = key, .n_keys = 1 };
	struct tree *t = *state;
	char said[4096];
	bool is_same;

	assert_int_equal(change(t, &req, said, &is_same), 1);
	assert_true(is_same); /* the default */
	key[0] = (char *)(uintptr_t)"Route.Metric=201";
	assert_int_equal(change(t, &req, said, &is_same), 1);
	assert_false(is_same);
	assert_int_equal(change(t, &req, said, &is_same), 0);
	assert_true(is_same);
}

static void those_who_come_at_the_same_time_lose_nothing(void **state)
{
	struct tree *t = *state;
	int status;

	for (int i = 0; i < 16; i++) {
		pid_t pid = fork();
		char key[64];

		assert_true(pid >= 0);
		if (pid > 0)
			continue;
		snprintf(key, sizeof(key), "Device_n%d.Match=driver:d%d", i, i);
		_exit(set_keys(t, key) == 1 ? 0 : 1);
	}
	for (int i = 0; i < 16; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	for (int i = 0; i < 16; i++) {
		char section[64];
		char said[4096];

		snprintf(section, sizeof(section), "Device_n%d.Match", i);
		assert_int_equal(run(t, true, NULL, section, said), 1);
	}
	assert_file(t, SET_PATH, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_is_set_and_nothing_else_changes),
		cmocka_unit_test(a_key_is_removed_and_nothing_else_changes),
		cmocka_unit_test(what_cannot_be_done_changes_nothing),
		cmocka_unit_test(a_value_of_any_length_is_written_whole_or_refused),
		cmocka_unit_test(in_any_file_the_other_keys_mean_the_same),
		cmocka_unit_test(a_large_file_is_edited_as_well),
#define WITH_TREE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		WITH_TREE(the_file_is_made_changed_and_removed),
		WITH_TREE(a_name_with_dots_ends_at_the_last_of_them),
		WITH_TREE(what_a_person_wrote_is_kept),
		WITH_TREE(what_is_wrong_is_named_and_nothing_is_written),
		WITH_TREE(a_bad_value_in_the_own_file_is_repaired_by_setting_it),
		WITH_TREE(unset_tells_where_else_a_key_is_set),
		WITH_TREE(unset_may_not_leave_something_invalid),
		WITH_TREE(a_value_that_is_overridden_is_told),
		WITH_TREE(what_is_no_file_of_its_own_is_left),
		WITH_TREE(a_preset_is_linked_replaced_and_removed),
		WITH_TREE(a_preset_that_is_none_changes_nothing),
		WITH_TREE(only_a_link_to_a_preset_is_replaced),
		WITH_TREE(keys_and_preset_are_written_both_or_neither),
		WITH_TREE(the_configuration_is_valid_between_the_two_files),
		WITH_TREE(what_was_in_force_before_is_told_apart),
		WITH_TREE(those_who_come_at_the_same_time_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
