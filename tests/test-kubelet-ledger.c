/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet: revert gives back what others wrote last, whatever they, kubelet-ensure and SIGKILL did
 * before, in any order.
 *
 * A lot is a number: "test-kubelet-ledger 17 1" does what lot 17 did, "test-kubelet-ledger 0
 * 100000" takes longer. The text that is expected is kept beside the file by what others do to it;
 * nothing of src/ has a say in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/wait.h>

#include "../src/base/log.h"
#include "../src/kubelet/ledger-files.h"
#include "../src/kubelet/yaml.h"
#include "../src/model/paths.h"
#include "kubelet-root.h"

#define UNIT        "usr/lib/systemd/system/kubelet.service"
#define ENV         "etc/default/kubelet"
#define UNIT_TEXT   "[Service]\nEnvironmentFile=-/" ENV "\nExecStart=/usr/bin/kubelet "
#define WITH_FILE   UNIT_TEXT "--config=/" FILE_PATH " $KUBELET_EXTRA_ARGS\n"
#define FLAG        "--topology-manager-policy="
#define JSON(rest)  "{\"kind\":\"KubeletConfiguration\"" rest ",\"apiVersion\":" JSON_API "}\n"
#define JSON_API    "\"kubelet.config.k8s.io/v1beta1\""
#define JSON_KEY    ",\"" KEY "\":"
#define K3S_UNIT    "etc/systemd/system/k3s.service"
#define K3S_OWN     "etc/rancher/k3s/config.yaml.d/99-rdma-provision.yaml"
#define SNAP_UNIT   "etc/systemd/system/snap.microk8s.daemon-kubelite.service"
#define SNAP_ARGS   "var/snap/microk8s/current/args/kubelet"
#define N_LOTS      300
#define N_STEPS     12
#define DIED        9
#define MAX_TEXTS   8
#define CHANCE(one) (draw(one) == 0)

static const struct layout {
	const char *name, *path;
	bool is_own, has_comments, may_go;
	struct {
		const char *path, *text;
	} others[4];
	struct {
		const char *text, *value; /* NULL: no file; the value that it has, or NULL */
	} texts[MAX_TEXTS];               /* that others write */
} layouts[] = {
	{ "YAML", FILE_PATH, .has_comments = true, .others = { { UNIT, WITH_FILE } },
	  .texts = { { HEAD },
		     { HEAD "a: b # c" },
		     { HEAD KEY ": none\n", "none" },
		     { HEAD KEY ": \"\" # nothing\n" },
		     { "# x\r\n" API "a: {b: c}\r\n" KIND "z: 1\r\n" },
		     { HEAD "a: b\n" KEY ": 'best-effort' # theirs\nz: 1\n", BE },
		     { HEAD KEY ": \"restricted\"", "restricted" }, } },
	{ "JSON", FILE_PATH, .others = { { UNIT, WITH_FILE } },
	  .texts = { { JSON("") },
		     { JSON(JSON_KEY "\"none\""), "none" },
		     { JSON(JSON_KEY " \"best-effort\" "), BE },
		     { JSON(JSON_KEY "\"restricted\""), "restricted" } } },
	{ "flags in a file of variables", ENV, .has_comments = true,
	  .others = { { UNIT, UNIT_TEXT "$KUBELET_EXTRA_ARGS\n" } },
	  .texts = { { "KUBELET_EXTRA_ARGS=\"--v=2 " FLAG "none\"\n", "none" },
		     { "KUBELET_EXTRA_ARGS=\"" FLAG "best-effort --v=2\"\nA=b\n", BE },
		     { "KUBELET_EXTRA_ARGS=\"--v=2 --topology_manager_policy restricted\"\n",
		       "restricted" },
		     { "KUBELET_EXTRA_ARGS=\"--v=2\"\n" },
		     { "KUBELET_EXTRA_ARGS=\"\"\n" },
		     { "A=b\n" },
		     { "A=b" }, } },
	{ "a flag in an unset variable", ENV, .has_comments = true,
	  .others = { { UNIT, UNIT_TEXT FLAG "none $KUBELET_EXTRA_ARGS\n" } },
	  .texts = { { "" },
		     { "KUBELET_EXTRA_ARGS=--v=2\n" },
		     { "KUBELET_EXTRA_ARGS=\n" },
		     { "KUBELET_EXTRA_ARGS=''" },
		     { "KUBELET_EXTRA_ARGS=\"" FLAG "best-effort\"\n", BE },
		     { "A=b\n\n" },
		     { "# A=b" }, } },
	{ "lines of flags", SNAP_ARGS, .has_comments = true,
	  .others = { { SNAP_UNIT, "[Service]\nExecStart=/usr/bin/snap run "
				   "microk8s.daemon-kubelite\n" } },
	  .texts = { { "--v=2\n" },
		     { "--v=2" },
		     { "\n--v=2\n\n" },
		     { FLAG "none\n--v=2\n", "none" },
		     { "--v=2\n" FLAG "best-effort\n", BE },
		     { FLAG "restricted", "restricted" } } },
	{ "a drop-in", "etc/d/90-rdma-provision.conf", true,
	  .others = { { FILE_PATH, HEAD },
		      { UNIT, UNIT_TEXT "--config=/" FILE_PATH " --config-dir=/etc/d\n" },
		      { "etc/d/x", "" },
		      { KUBELET_VERSION_PATH, "/usr/bin/kubelet 1 1.1 v1.30.4\n" } },
	  .texts = { {},
		     { HEAD KEY ": none\n", "none" },
		     { HEAD KEY ": \"best-effort\"\n", BE },
		     { HEAD "a: b\n" } } },
	{ "a file of k3s", K3S_OWN, true,
	  .others = { { K3S_UNIT, "[Service]\nExecStart=/usr/local/bin/k3s server\n" } },
	  .texts = { {},
		     { "kubelet-arg+:\n- topology-manager-policy=none\n", "none" },
		     { "kubelet-arg+: [topology-manager-policy=best-effort]\n", BE },
		     { "node-name: x\n" } } },
};

/* Where a process is killed: before and after each change of a name, counted from 0. */
static int deadline = -1;

int __real_renameat(int from, const char *a, int to, const char *b);
int __wrap_renameat(int from, const char *a, int to, const char *b);
int __real_renameat2(int from, const char *a, int to, const char *b, unsigned flags);
int __wrap_renameat2(int from, const char *a, int to, const char *b, unsigned flags);
int __real_unlinkat(int fd, const char *path, int flags);
int __wrap_unlinkat(int fd, const char *path, int flags);

static void pass_point(void)
{
	if (deadline >= 0 && deadline-- == 0)
		_exit(DIED);
}

int __wrap_renameat(int from, const char *a, int to, const char *b)
{
	int r;

	pass_point();
	r = __real_renameat(from, a, to, b);
	pass_point();
	return r;
}

int __wrap_renameat2(int from, const char *a, int to, const char *b, unsigned flags)
{
	int r;

	pass_point();
	r = __real_renameat2(from, a, to, b, flags);
	pass_point();
	return r;
}

int __wrap_unlinkat(int fd, const char *path, int flags)
{
	int r;

	pass_point();
	r = __real_unlinkat(fd, path, flags);
	pass_point();
	return r;
}

struct life {
	struct root root;
	const struct layout *layout;
	uint64_t random;
	unsigned number;
	char *expected;     /* owned; what revert is to leave; NULL: no file */
	const char *ours;   /* the value that we have set, as far as others can see */
	bool is_unsettled;  /* killed, and did not run again since */
	char history[4096]; /* for who reads a failure */
};

static uint32_t draw_of(struct life *l, uint32_t n)
{
	l->random = l->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(l->random >> 33) % n;
}
#define draw(n) draw_of(l, n)

_printf_(2, 3) static void tell(struct life *l, const char *format, ...)
{
	const size_t n = strlen(l->history);
	va_list args;

	va_start(args, format);
	vsnprintf(l->history + n, sizeof(l->history) - n, format, args);
	va_end(args);
}

static char *now_of(const struct life *l)
{
	char *text = NULL;
	size_t size;

	return fs_read_all(&l->root.fs, l->layout->path, 1u << 20, true, &text, &size) < 0 ? NULL
											   : text;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? streq(a, b) : a == b;
}

static void check(const struct life *l, bool is_right, const char *what)
{
	_cleanup_(freep) char *now = now_of(l);

	if (is_right)
		return;
	print_error("lot %u, %s: %s\n%s\n--- is\n%s\n--- is to be\n%s\n", l->number,
		    l->layout->name, what, l->history, now ? now : "(not there)",
		    l->expected ? l->expected : "(not there)");
	fail();
}

static void check_text(const struct life *l, const char *what)
{
	_cleanup_(freep) char *now = now_of(l);

	check(l, is_same(now, l->expected), what);
}

/* In place, or as an editor does. */
static void write_text(struct life *l, const char *text)
{
	char full[PATH_MAX];
	_cleanup_(closep) int fd = -EBADF;

	if (CHANCE(2)) {
		put_text(&l->root, l->layout->path, text);
		return;
	}
	snprintf(full, sizeof(full), "%s/%s", l->root.path, l->layout->path);
	fd = open(full, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		put_text(&l->root, l->layout->path, text);
	else
		assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void others_write(struct life *l)
{
	const struct layout *y = l->layout;
	unsigned i, n = 1;

	while (n < MAX_TEXTS && y->texts[n].text)
		n++;
	n += y->may_go && CHANCE(4);
	i = draw(n);
	/* The same value once more is no other value, and nobody could tell. */
	if (y->texts[i].value && l->ours && streq(y->texts[i].value, l->ours))
		return;
	tell(l, "  others write %s\n", y->texts[i].text ? y->texts[i].text : "nothing");
	if (y->texts[i].text)
		write_text(l, y->texts[i].text);
	else
		assert_int_equal(fs_remove(&l->root.fs, y->path), 0);
	free(l->expected);
	l->expected = y->texts[i].text ? strdup(y->texts[i].text) : NULL;
	l->is_unsettled = false;
}

/* Others change something else in the file, and keep what is there of ours. */
static void others_add(struct life *l)
{
	_cleanup_(freep) char *now = now_of(l), *with = NULL, *expected = TAKE(l->expected);

	if (!now || !l->layout->has_comments || l->is_unsettled) {
		l->expected = TAKE(expected);
		return;
	}
	tell(l, "  others add a comment\n");
	assert_true(asprintf(&with, "# note\n%s", now) > 0);
	assert_true(asprintf(&l->expected, "# note\n%s", expected ? expected : "") > 0);
	write_text(l, with);
}

/* Return: the exit status. */
static int run(struct life *l, bool is_revert, const struct config *c, uint32_t n_numa)
{
	struct kubelet_result res;
	int status;
	pid_t pid;

	put_numa_nodes(&l->root.fs, n_numa);
	if (deadline < 0)
		return is_revert ? kubelet_revert(&l->root.fs)
				 : kubelet_ensure(&l->root.fs, c, &res);
	pid = fork();
	if (pid == 0)
		_exit((is_revert ? kubelet_revert(&l->root.fs)
				 : kubelet_ensure(&l->root.fs, c, &res)) < 0);
	deadline = -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void ensure_some(struct life *l)
{
	static const char *const words[] = { "best-effort", "restricted", "single-numa-node" };
	_cleanup_(freep) char *before = now_of(l), *after = NULL;
	const unsigned i = draw(3);
	const struct config c = { .kubelet.topology_policy = TOPOLOGY_POLICY_BEST_EFFORT + i,
				  .kubelet.topology_scope =
					  CHANCE(2) ? TOPOLOGY_SCOPE_POD : TOPOLOGY_SCOPE_UNSET };
	int r;

	deadline = CHANCE(3) ? (int)draw(24) : -1;
	tell(l, "  ensure %s, killed at %d\n", words[i], deadline);
	r = run(l, false, &c, 2);
	check(l, r == 0 || r == DIED, "ensure fails");
	after = now_of(l);
	l->is_unsettled = r == DIED;
	if (!is_same(before, after))
		l->ours = words[i];
	check(l,
	      is_same(before, after) || !l->layout->is_own || !before ||
		      is_prefix(before, "# Made by"),
	      "a file of others was replaced");
}

static void revert(struct life *l)
{
	_cleanup_(freep) char *now = NULL;
	int r;

	deadline = CHANCE(3) ? (int)draw(16) : -1;
	tell(l, "  revert, killed at %d\n", deadline);
	r = run(l, true, NULL, 0);
	check(l, r == 0 || r == DIED, "revert fails");
	l->is_unsettled = r == DIED;
	if (r == 0)
		check_text(l, "revert");
	now = now_of(l);
	if (is_same(now, l->expected))
		l->ours = NULL;
}

/* More NUMA nodes than a kubelet takes with a policy. */
static void grow(struct life *l)
{
	const struct config c = { .kubelet.topology_policy = TOPOLOGY_POLICY_BEST_EFFORT };
	_cleanup_(freep) char *before = now_of(l), *after = NULL;

	tell(l, "  more NUMA nodes\n");
	check(l, run(l, false, &c, 34) == 0, "ensure fails");
	l->is_unsettled = false;
	after = now_of(l);
	check(l,
	      !l->ours || !after || !strstr(after, l->ours) ||
		      (l->expected && strstr(l->expected, l->ours)),
	      "the policy stays with more NUMA nodes");
	/* The scope goes with the policy, and not where that is another program's. */
	if (!is_same(before, after) && !(after && strstr(after, "pod")))
		check_text(l, "with more NUMA nodes");
	if (!is_same(before, after))
		l->ours = NULL;
}

static void begin(struct life *l, unsigned number, const struct layout *y)
{
	*l = (struct life){ .number = number, .random = number, .layout = y };
	root_open(&l->root);
	for (size_t i = 0; i < ELEMENTSOF(y->others) && y->others[i].path; i++)
		put_text(&l->root, y->others[i].path, y->others[i].text);
	draw(2);
}

static void end(struct life *l)
{
	tell(l, "  revert in the end\n");
	check(l, run(l, true, NULL, 0) == 0, "revert fails");
	check_text(l, "revert in the end");
	check(l, !fs_exists(&l->root.fs, KUBELET_RECORD_PATH), "the ledger is not empty");
	free(l->expected);
	root_done(&l->root);
}

static void live(unsigned number)
{
	static void (*const steps[])(struct life *l) = { others_write, others_add,  ensure_some,
							 ensure_some,  ensure_some, revert,
							 grow };
	struct life life, *l = &life;

	begin(l, number, &layouts[number % ELEMENTSOF(layouts)]);
	others_write(l);
	for (int i = 0; i < N_STEPS; i++)
		steps[draw(ELEMENTSOF(steps))](l);
	end(l);
}

/*
 * A process is killed at point @at. Where nothing of ours is in the file then, an administrator
 * sets the very value of ours, which stays. Return: was the process killed?
 */
static bool is_killed(const struct layout *y, bool is_revert, unsigned at)
{
	const struct config c = { .kubelet.topology_policy = TOPOLOGY_POLICY_BEST_EFFORT };
	_cleanup_(freep) char *now = NULL;
	struct life life, *l = &life;
	size_t best = 0;
	int r;

	begin(l, at, y);
	while (!y->texts[best].value || !streq(y->texts[best].value, BE))
		best++;
	if (y->texts[0].text) {
		put_text(&l->root, y->path, y->texts[0].text);
		l->expected = strdup(y->texts[0].text);
	}
	if (is_revert)
		assert_int_equal(run(l, false, &c, 2), 0);
	tell(l, "  %s killed at %u\n", is_revert ? "revert" : "ensure", at);
	deadline = (int)at;
	r = run(l, is_revert, &c, 2);
	now = now_of(l);
	if (r == DIED && is_same(now, l->expected)) {
		free(l->expected);
		l->expected = strdup(y->texts[best].text);
		write_text(l, l->expected);
	}
	end(l);
	return r == DIED;
}

static void no_kill_takes_what_an_administrator_sets(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(layouts); i++)
		for (int is_revert = 0; is_revert < 2; is_revert++) {
			unsigned at = 0;

			while (is_killed(&layouts[i], is_revert, at))
				at++;
			assert_in_range(at, 4, 60);
		}
}

static unsigned first_lot = 0, n_lots = N_LOTS;

static void what_others_wrote_last_is_given_back(_unused_ void **state)
{
	for (unsigned i = 0; i < n_lots; i++)
		live(first_lot + i);
}

static void ensure_policy(const struct root *root, enum topology_policy policy,
			  enum kubelet_outcome expected)
{
	const struct config c = { .kubelet.topology_policy = policy };
	struct kubelet_result res;

	assert_int_equal(kubelet_ensure(&root->fs, &c, &res), 0);
	assert_int_equal(res.decision.items[KUBELET_TOPOLOGY_POLICY].outcome, expected);
}

static void before_is_written_once(_unused_ void **state)
{
	static const char *const texts[] = { HEAD "a: b\n", HEAD KEY ": none\n" };

	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		_cleanup_(root_done) struct root root = {};

		root_open(&root);
		put_text(&root, FILE_PATH, texts[i]);
		ensure_policy(&root, TOPOLOGY_POLICY_BEST_EFFORT, KUBELET_CHANGED);
		ensure_policy(&root, TOPOLOGY_POLICY_RESTRICTED, KUBELET_CHANGED);
		ensure_policy(&root, TOPOLOGY_POLICY_SINGLE_NUMA_NODE, KUBELET_CHANGED);
		assert_int_equal(kubelet_revert(&root.fs), 0);
		assert_text(&root, FILE_PATH, texts[i], strlen(texts[i]));
	}
}

/* A folder in its place can be neither read nor written. */
static void what_cannot_be_noted_is_not_changed(_unused_ void **state)
{
	static const char text[] = HEAD "a: b\n";
	_cleanup_(root_done) struct root root = {};

	root_open(&root);
	put_text(&root, FILE_PATH, text);
	assert_true(fs_make_folders(&root.fs, KUBELET_RECORD_PATH) >= 0);
	ensure_policy(&root, TOPOLOGY_POLICY_RESTRICTED, KUBELET_REFUSED);
	assert_text(&root, FILE_PATH, text, strlen(text));
	assert_true(kubelet_revert(&root.fs) < 0); /* what is to be given back is not known */

	assert_int_equal(unlinkat(root.fs.root, KUBELET_RECORD_PATH, AT_REMOVEDIR), 0);
	ensure_policy(&root, TOPOLOGY_POLICY_RESTRICTED, KUBELET_CHANGED);
	assert_int_equal(kubelet_revert(&root.fs), 0);
	assert_text(&root, FILE_PATH, text, strlen(text));
}

/* As version 0.1.0 wrote it, and one of its edits that this version raises. */
static void entries_of_an_earlier_version_are_given_back(_unused_ void **state)
{
	static const char text[] = HEAD "a: b\n";
	static const char record[] =
		"{\n  \"schema\": 1,\n  \"edits\": [\n    {\n"
		"      \"key\": \"topologyManagerPolicy\",\n      \"way\": \"file\",\n"
		"      \"path\": \"/" FILE_PATH "\",\n      \"variable\": \"\",\n"
		"      \"was_there\": false,\n      \"created\": false,\n      \"from\": \"\",\n"
		"      \"to\": \"best-effort\",\n      \"since\": \"2026-11-23T07:51:48Z\",\n"
		"      \"running\": \"\"\n    }\n  ]\n}\n";

	for (int i = 0; i < 2; i++) {
		_cleanup_(root_done) struct root root = {};

		root_open(&root);
		put_text(&root, FILE_PATH, HEAD KEY ": best-effort\na: b\n");
		put_text(&root, KUBELET_RECORD_PATH, record);
		if (i == 1)
			ensure_policy(&root, TOPOLOGY_POLICY_RESTRICTED, KUBELET_CHANGED);
		assert_int_equal(kubelet_revert(&root.fs), 0);
		assert_text(&root, FILE_PATH, text, strlen(text));
		assert_false(fs_exists(&root.fs, KUBELET_RECORD_PATH));
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_is_written_once),
		cmocka_unit_test(what_cannot_be_noted_is_not_changed),
		cmocka_unit_test(entries_of_an_earlier_version_are_given_back),
		cmocka_unit_test(no_kill_takes_what_an_administrator_sets),
		cmocka_unit_test(what_others_wrote_last_is_given_back),
	};

	log_set_level(LOG_LEVEL_ERROR);
	if (argc == 3) {
		first_lot = (unsigned)strtoul(argv[1], NULL, 10);
		n_lots = (unsigned)strtoul(argv[2], NULL, 10);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
