/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/wait.h>

#include "../src/base/log.h"
#include "../src/command/set.h"
#include "../src/config/reader.h"
#include "../src/model/paths.h"
#include "tree.h"

#define HEADER                                                                                     \
	"# Written whole by \"rdma-provision set\" and \"unset\": they keep keys that were added " \
	"by hand, but no comments.\n"
#define MAIN_PATH "etc/rdma-provision/rdma-provision.conf"

/* --- text in, text out --- */

static struct pairs parsed(const char *text)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	struct pairs p;

	assert_int_equal(pairs_parse("x", text, strlen(text), &p, &errors), 0);
	assert_int_equal(errors.n_items, 0);
	return p;
}

/* The text after one change, written behind the header "#". */
static char *edited(const char *text, const char *section, const char *key, const char *value,
		    int want)
{
	_cleanup_(pairs_done) struct pairs p = parsed(text);
	char *now;
	size_t size;
	int r;

	r = value ? pairs_set(&p, section, key, value) : pairs_unset(&p, section, key);
	if (r != want)
		print_message("%s.%s=%s in\n%s\n", section, key, value ? value : "(unset)", text);
	assert_int_equal(r, want);
	assert_int_equal(pairs_text(&p, "#", &now, &size), 0);
	assert_int_equal(size, strlen(now));
	return now;
}

static void a_file_is_written_whole(void **state _unused_)
{
	static const struct {
		const char *before, *section, *key, *value, *after;
	} cases[] = {
		/* in its place */
		{ "[A]\nk=1\nl=1\n", "A", "k", "2", "#\n\n[A]\nk=2\nl=1\n" },
		{ "[A]\nk=1\n[B]\nk=1\n", "B", "k", "2", "#\n\n[A]\nk=1\n\n[B]\nk=2\n" },
		{ "[A]\nk=\n", "A", "k", "2", "#\n\n[A]\nk=2\n" },
		{ "[A]\nk=1\n", "A", "k", "", "#\n\n[A]\nk=\n" },
		{ "[A]\nk=a#b;c=d%e\n", "A", "k", "#=%;\"'$HOME", "#\n\n[A]\nk=#=%;\"'$HOME\n" },
		/* behind the last key of its section, which stands once then */
		{ "[A]\nl=1", "A", "k", "2", "#\n\n[A]\nl=1\nk=2\n" },
		{ "[A]\nl=1\n[B]\nl=1\n[A]\nm=1\n", "A", "k", "2",
		  "#\n\n[A]\nl=1\nm=1\nk=2\n\n[B]\nl=1\n" },
		{ "[Device  a]\nl=1\n", "Device a", "k", "2", "#\n\n[Device a]\nl=1\nk=2\n" },
		/* a section without keys counts: of [Device NAME] the first that matches is used */
		{ "[B]\n[A]\nl=1\n", "B", "k", "2", "#\n\n[B]\nk=2\n\n[A]\nl=1\n" },
		{ "[B]\n[A]\nl=1\n", "A", "k", "2", "#\n\n[B]\n\n[A]\nl=1\nk=2\n" },
		/* a new section */
		{ "", "A", "k", "2", "#\n\n[A]\nk=2\n" },
		{ "[Device a]\nk=1\n", "Device", "k", "2",
		  "#\n\n[Device a]\nk=1\n\n[Device]\nk=2\n" },
		{ "", "Device a", "k", "2", "#\n\n[Device a]\nk=2\n" },
		/* comments, blanks and the ends of lines are not kept */
		{ "\xef\xbb\xbf# c\r\n[ A ]\r\n # k=0\r\n k = 1 \r\n\r\n;k=3\r\n", "A", "l", "2",
		  "#\n\n[A]\nk=1\nl=2\n" },
		/* a list is one value, whatever lines it has */
		{ "[Device a]\nMatch=x\nMTU=1\nMatch=y\n", "Device a", "MTU", "2",
		  "#\n\n[Device a]\nMatch=x y\nMTU=2\n" },
		{ "[Device a]\nMatch=x\nMTU=1\nMatch=y\n", "Device a", "Match", "z",
		  "#\n\n[Device a]\nMatch=z\nMTU=1\n" },
		{ "[Device a]\nMatch=x\nMTU=1\nMatch=y\n", "Device a", "Match", NULL,
		  "#\n\n[Device a]\nMTU=1\n" },
		{ "[Device a]\nMatch=x\nMatch=\nMatch=y\n", "Device a", "MTU", "2",
		  "#\n\n[Device a]\nMatch=y\nMTU=2\n" },
		/* removed */
		{ "[A]\nk=1\nl=1\n", "A", "k", NULL, "#\n\n[A]\nl=1\n" },
		{ "[A]\nk=1\n", "A", "k", NULL, "#\n" },
		{ "[B]\nl=1\n[A]\nk=1\n[C]\n", "A", "k", NULL, "#\n\n[B]\nl=1\n\n[C]\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(freep) char *now = NULL, *again = NULL;

		now = edited(cases[i].before, cases[i].section, cases[i].key, cases[i].value,
			     cases[i].value ? 1 : 0);
		assert_string_equal(now, cases[i].after);
		again = edited(now, cases[i].section, cases[i].key, cases[i].value,
			       cases[i].value ? 0 : -ENOENT);
		assert_string_equal(again, cases[i].after);
	}
}

static void a_key_that_is_set_twice_is_malformed(void **state _unused_)
{
	static const char *const texts[] = { "[A]\nk=1\nk=2\n", "[A]\nk=1\n[B]\n[A]\nk=2\n",
					     "[Device a]\nk=1\n[Device  a]\nk=2\n" };

	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		_cleanup_(config_errors_done) struct config_errors errors = {};
		_cleanup_(pairs_done) struct pairs p = {};

		assert_int_equal(pairs_parse("x", texts[i], strlen(texts[i]), &p, &errors), 0);
		assert_int_equal(errors.n_malformed, 1);
		assert_non_null(strstr(errors.items[0].text, "is set in line 2 already"));
	}
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Up to the length of a line, and over it: then on several lines. */
static void a_list_of_any_length_is_written_as_it_was(void **state _unused_)
{
	for (size_t n = 1; n < 100; n++) {
		_cleanup_(pairs_done) struct pairs p = {}, again = {};
		_cleanup_(freep) char *text = NULL;
		char value[1024] = "";
		size_t size;

		for (size_t i = 0; i < n; i++)
			sprintf(value + strlen(value), "%sx%0*zu", i ? " " : "", (int)(i % 7), i);
		assert_int_equal(pairs_set(&p, "Device a", "Match", value), 1);
		assert_int_equal(pairs_set(&p, "Device a", "MTU", "1"), 1);
		assert_int_equal(pairs_text(&p, "#", &text, &size), 0);
		again = parsed(text);
		assert_string_equal(pairs_find(&again, "Device a", "Match")->value, value);
		/* This is the line that errors are found by. */
		assert_int_equal(p.items[1].put, pairs_find(&again, "Device a", "MTU")->line);
		assert_int_equal(p.items[0].put, pairs_find(&again, "Device a", "Match")->line);
	}
}

/* The keys in the order of their sections' names, as one text. */
static char *meaning(const char *text)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(pairs_done) struct pairs p = {};
	char *lines[64] = {}, *all = calloc(1, 8192);
	size_t n = 0;

	assert_non_null(all);
	assert_int_equal(pairs_parse("x", text, strlen(text), &p, &errors), 0);
	for (size_t i = 0; i < p.n_items; i++)
		if (p.items[i].key)
			assert_true(asprintf(&lines[n++], "%s|%s|%s\n", p.items[i].section,
					     p.items[i].key, p.items[i].value) > 0);
	if (n > 0)
		qsort(lines, n, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < n; i++) {
		strcat(all, lines[i]);
		free(lines[i]);
	}
	if (errors.n_malformed == 0)
		return all;
	free(all);
	return NULL;
}

/* Whatever a file is put together from: what is written then is read as the same keys. */
static void any_file_means_the_same_once_it_is_written(void **state _unused_)
{
	static const char *const pieces[] = {
		"[A]\n",        "[B]\n",       "[ Device  a.b ]\n",
		"k=1\n",        "l = 2\n",     "m=\n",
		" # c = 1\n",   ";[A]\n",      "\n",
		" \t\n",        "n=a=b#c%d\n", "\r\n",
		"o=1\r\n",      "p=1",         "#",
		"\xef\xbb\xbf",
	};
	unsigned seed = 1, n_valid = 0;

	for (int round = 0; round < 60000; round++) {
		_cleanup_(freep) char *before = NULL, *after = NULL, *now = NULL;
		char text[512] = "[A]\n";

		for (int i = rand_r(&seed) % 9; i >= 0; i--)
			strcat(text, pieces[(unsigned)rand_r(&seed) % ELEMENTSOF(pieces)]);
		before = meaning(text);
		if (!before)
			continue;
		n_valid++;
		now = edited(text, "Z", "z", NULL, -ENOENT);
		after = meaning(now);
		if (!after || !streq(before, after))
			print_message("%s\n=>\n%s\n", text, now);
		assert_non_null(after);
		assert_string_equal(before, after);
	}
	assert_true(n_valid > 3000);
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

static void keys_that_a_person_added_are_kept(void **state)
{
	struct tree *t = *state;

	tree_file(t, SET_PATH, "; mine\r\n[Route]\r\n# why = 1\r\nManage = no\r\n\r\n; end");
	assert_int_equal(set_keys(t, "Route.Manage=no"), 0); /* then nothing is written */
	assert_file(t, SET_PATH, "; mine\r\n[Route]\r\n# why = 1\r\nManage = no\r\n\r\n; end");
	assert_int_equal(set_keys(t, "Route.Metric=300 Kubelet.Gate=off"), 1);
	assert_file(t, SET_PATH,
		    HEADER "\n[Route]\nManage=no\nMetric=300\n\n[Kubelet]\nGate=off\n");
}

static void what_is_wrong_is_named_and_nothing_is_written(void **state)
{
	static const struct {
		const char *set, *old, *elsewhere, *said;
	} cases[] = {
		{ "Route.Metric=many", NULL, NULL,
		  "[Route] Metric=many is not valid: use a number from" },
		{ "Route.Mtric=1", NULL, NULL, "Mtric= in [Route]: unknown key, did you mean" },
		{ "Rout.Metric=1", NULL, NULL, "[Rout]: unknown section, did you mean [Route]?" },
		{ "Route.Gate=off", NULL, NULL, "unknown key, it belongs in [Kubelet]" },
		{ "Route.Manage=yes Route.Metric=0", NULL, NULL, "Metric=0 is not valid" },
		{ "Route.Manage=yes Route.Manage=no", NULL, NULL, "Route.Manage: is given twice" },
		{ "Manage=yes", NULL, NULL, "Manage=yes is not valid: use SECTION.KEY=VALUE" },
		{ "Route.Manage", NULL, NULL, "Route.Manage is not valid: use SECTION.KEY=VALUE" },
		{ "Route.=yes", NULL, NULL, "use SECTION.KEY=VALUE" },
		{ ".Manage=yes", NULL, NULL, "use SECTION.KEY=VALUE" },
		{ "[Route].Manage=yes", NULL, NULL, "use SECTION.KEY=VALUE" },
		{ "Route.#Manage=yes", NULL, NULL, "use SECTION.KEY=VALUE" },
		{ "Route.Manage=yes\n[SMC]", NULL, NULL, "use a value that is one line" },
		{ "Route.Manage=yes\\", NULL, NULL, "use a value that is one line" },
		{ "Route.Manage=yes_;no", NULL, NULL,
		  "[Route] Manage=yes ;no is not valid: use no \" ;\" in a line" },
		{ "Device_a.Count=4", NULL, NULL, "Count=4 with VirtualFunctions=keep" },
		/* together with what there is, in the lines as they are now */
		{ "Device_a.Count=4", NULL,
		  "[Device a]\nMatch=driver:x\nVirtualFunctions=exclusive\n",
		  "Count=4 with VirtualFunctions=exclusive" },
		{ "Device_a.VirtualFunctions=shared",
		  "[Kubelet]\n[Device a]\nMatch=driver:x\nVirtualFunctions=shared-multi\nCount=4\n",
		  NULL, "VirtualFunctions=shared in [Device a]" },
		{ "Kubelet.Gate=strict", "[Kubelet]\n\n[Route]\nMetric=x\n", NULL,
		  "Metric=x is not valid: use a number from 1 to 2147483647 (/" SET_PATH ":4)" },
		{ "Route.Metric=many", "[Route]\nMetric=5\n", NULL,
		  "[Route] Metric=many is not valid: use a number from" },
		{ "Route.Manage=yes", NULL, "[Route]\n\nMetric=x\n",
		  "Metric=x is not valid: use a number from 1 to 2147483647 (/" MAIN_PATH ":3)" },
		{ "Route.Manage=yes", NULL, "[Route\n", "alone in its line (/" MAIN_PATH ":1)" },
		{ "Route.Manage=yes", NULL, "[Route]\nFuture=1\n",
		  "Future= in [Route]: unknown key" },
		{ "Route.Manage=yes", "[Kubelet]\n[Route\n", NULL,
		  "alone in its line (/" SET_PATH ":2)" },
		{ "Route.Manage=yes", "[Route]\nManage=no\n#\nManage=no\n", NULL,
		  "use each key once in a section of a file (/" SET_PATH ":4)" },
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
	assert_file(t, SET_PATH, HEADER "\n[Route]\nMetric=7\n");
}

static void unset_tells_where_else_a_key_is_set(void **state)
{
	struct tree *t = *state;
	char said[4096];

	tree_file(t, MAIN_PATH, "[Route]\nManage=yes\n");
	tree_file(t, "usr/local/lib/rdma-provision/rdma-provision.conf.d/20-x.conf",
		  "\n[Route]\nManage=no\n");
	tree_link(t, PRESET_PATH, "/" PRESET_FOLDER "/one.conf");
	tree_file(t, SET_PATH, "[Kubelet]\nGate=strict\n");
	assert_int_equal(run(t, true, NULL, "Kubelet.Gate Route.Manage", said), -ENOENT);
	assert_non_null(strstr(
		said, "but in /usr/local/lib/rdma-provision/rdma-provision.conf.d/20-x.conf:3"));
	assert_int_equal(run(t, true, NULL, "Device_rdma.MTU", said), -ENOENT);
	assert_non_null(strstr(said, "but in /" PRESET_PATH ":3: "));
	assert_int_equal(run(t, true, NULL, "SMC.Enable", said), -ENOENT);
	assert_non_null(strstr(said, "nor anywhere else"));
	assert_int_equal(run(t, true, NULL, "Route.Manage=yes", said), -EINVAL);
	assert_file(t, SET_PATH, "[Kubelet]\nGate=strict\n");

	tree_file(t, SET_PATH, "[Kubelet]\nGate=strict\n[Route]\nManage=yes\n");
	assert_int_equal(run(t, true, NULL, "Kubelet.Gate Route.Manage", said), 1);
	assert_non_null(strstr(said, "Route.Manage: /usr/local/lib/rdma-provision/"
				     "rdma-provision.conf.d/20-x.conf:3 says Manage=no"));
	assert_null(strstr(said, "Kubelet.Gate: "));
}

static void unset_may_not_leave_something_invalid(void **state)
{
	struct tree *t = *state;
	char said[4096];

	tree_file(t, SET_PATH, "[Device a]\nVirtualFunctions=shared-multi\nCount=2\n");
	assert_int_equal(run(t, true, NULL, "Device_a.Count", said), -EINVAL);
	assert_non_null(strstr(said, "(/" SET_PATH ":2)"));
	assert_int_equal(run(t, true, NULL, "Device_a.Count Device_a.VirtualFunctions", said), 1);
	assert_file(t, SET_PATH, NULL);
}

static void a_value_that_is_overridden_is_reported(void **state)
{
	static const char *const later[] = {
		"etc/rdma-provision/rdma-provision.conf.d/90-x.conf",
		"usr/local/lib/rdma-provision/rdma-provision.conf.d/60-x.conf",
	};
	struct tree *t = *state;
	char said[4096];

	tree_file(t, "usr/lib/rdma-provision/rdma-provision.conf.d/50-set.conf",
		  "[Route]\nMetric=900\n");
	tree_file(t, "run/rdma-provision/rdma-provision.conf.d/50-set.conf",
		  "[Route]\nMetric=900\n"); /* which was in force at no time */
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
		assert_null(strstr(
			said, "/run/rdma-provision/rdma-provision.conf.d/50-set.conf: is not"));
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

static void a_file_that_is_open_in_an_editor_is_left(void **state)
{
	_cleanup_(closep) int fd = -EBADF;
	struct tree *t = *state;
	char said[4096], path[512];
	struct stat st;

	assert_int_equal(run(t, false, NULL, "Route.Metric=300", said), 1);
	tree_path(t, SET_PATH, path, sizeof(path));
	assert_int_equal(chmod(path, 0600), 0);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(run(t, false, NULL, "Route.Metric=400", said), -EAGAIN);
	assert_non_null(strstr(said, "/" SET_PATH ": another program is writing it"));
	assert_int_equal(run(t, true, NULL, "Route.Metric", said), -EAGAIN);
	assert_int_equal(write(fd, "Manage=yes\n", 11), 11);
	closep(&fd);
	fd = -EBADF;

	/* What was added is in it, and so is the mode. */
	assert_int_equal(run(t, false, NULL, "Route.Metric=400", said), 1);
	assert_int_equal(run(t, true, NULL, "Route.Manage", said), 1);
	assert_int_equal(fs_stat(&t->fs, SET_PATH, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
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
		{ "three", "--preset=three is not valid: use one of bad, one, two" },
		{ "../presets/one", "use one of" },
		{ ".one", "use one of" },
		{ "bad", "(/" PRESET_FOLDER "/bad.conf:2)" },
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

static void what_was_in_force_before_is_reported_apart(void **state)
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

static void calls_of_set_at_the_same_time_lose_nothing(void **state)
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
		cmocka_unit_test(a_file_is_written_whole),
		cmocka_unit_test(a_key_that_is_set_twice_is_malformed),
		cmocka_unit_test(a_list_of_any_length_is_written_as_it_was),
		cmocka_unit_test(any_file_means_the_same_once_it_is_written),
#define WITH_TREE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		WITH_TREE(the_file_is_made_changed_and_removed),
		WITH_TREE(a_name_with_dots_ends_at_the_last_of_them),
		WITH_TREE(keys_that_a_person_added_are_kept),
		WITH_TREE(what_is_wrong_is_named_and_nothing_is_written),
		WITH_TREE(a_bad_value_in_the_own_file_is_repaired_by_setting_it),
		WITH_TREE(unset_tells_where_else_a_key_is_set),
		WITH_TREE(unset_may_not_leave_something_invalid),
		WITH_TREE(a_value_that_is_overridden_is_reported),
		WITH_TREE(what_is_no_file_of_its_own_is_left),
		WITH_TREE(a_file_that_is_open_in_an_editor_is_left),
		WITH_TREE(a_preset_is_linked_replaced_and_removed),
		WITH_TREE(a_preset_that_is_none_changes_nothing),
		WITH_TREE(only_a_link_to_a_preset_is_replaced),
		WITH_TREE(keys_and_preset_are_written_both_or_neither),
		WITH_TREE(the_configuration_is_valid_between_the_two_files),
		WITH_TREE(what_was_in_force_before_is_reported_apart),
		WITH_TREE(calls_of_set_at_the_same_time_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
