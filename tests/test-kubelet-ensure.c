/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet: the static CPU policy, the way back, and what may go wrong with files and programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/mount.h> /* before linux/fs.h: glibc before 2.36 does not bear it first */

#include <linux/fs.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "../src/kubelet/cpus.h"
#include "../src/kubelet/find.h"
#include "../src/kubelet/ledger-files.h"
#include "../src/kubelet/version.h"
#include "../src/kubelet/yaml.h"
#include "../src/model/ledger.h"
#include "../src/model/paths.h"
#include "../src/os/manager.h"
#include "../src/os/memory-file.h"
#include "forbid-call.h"
#include "kubelet-root.h"
#include "skip.h"

#define UNIT       "usr/lib/systemd/system/kubelet.service"
#define ENV        "etc/default/kubelet"
#define STATE      "var/lib/kubelet/cpu_manager_state"
#define PODS       "sys/fs/cgroup/kubepods/cgroup.procs"
#define OLD_STATE  "{\"policyName\":\"none\",\"defaultCpuSet\":\"\",\"checksum\":1353318690}"
#define NEW_STATE  "{\"policyName\":\"static\",\"defaultCpuSet\":\"0-7\",\"checksum\":1}"
#define RESERVE    "kubeReserved:\n  cpu: 500m\n"
#define UNIT_TEXT  "[Service]\nEnvironmentFile=-/" ENV "\nExecStart=/usr/bin/kubelet "
#define WITH_FILE  UNIT_TEXT "--config=/" FILE_PATH " $KUBELET_EXTRA_ARGS\n"
#define ARGS(text) "KUBELET_EXTRA_ARGS=\"" text "\"\n"

struct entry {
	const char *path, *text;
};

static void put_entries(const struct root *root, const struct entry *entries, size_t n)
{
	for (size_t i = 0; i < n && entries[i].path; i++)
		put_text(root, entries[i].path, entries[i].text);
}

/* The text of a file, or NULL. */
static char *text_of(const struct root *root, const char *path)
{
	char *text = NULL;
	size_t size;

	return fs_read_all(&root->fs, path, 1u << 20, true, &text, &size) < 0 ? NULL : text;
}

/* Eight CPUs of four cores. */
static void put_cpus(const struct root *root)
{
	put_text(root, "sys/devices/system/cpu/online", "0-7\n");
	put_text(root, "sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,4\n");
}

/* The static CPU policy */

static const struct {
	const char *name;
	struct entry entries[4];
	enum kubelet_outcome outcome;
	enum reason reason;
	const char *out; /* the file afterwards; NULL: as it was */
} cpu_nodes[] = {
	{ "reserved by the file",
	  { { FILE_PATH, HEAD RESERVE } },
	  KUBELET_CHANGED,
	  REASON_NONE,
	  HEAD "cpuManagerPolicy: static\n" RESERVE },
	{ "nothing reserved: the first core, in the same edit",
	  { { FILE_PATH, HEAD } },
	  KUBELET_CHANGED,
	  REASON_NONE,
	  HEAD "reservedSystemCPUs: \"0,4\"\ncpuManagerPolicy: static\n" },
	{ "amounts are added and rounded up",
	  { { FILE_PATH, HEAD "kubeReserved: {cpu: 6500m}\nsystemReserved: {cpu: 600m}\n" } },
	  KUBELET_REFUSED,
	  REASON_KUBELET_CPU_RESERVATION,
	  NULL },
	{ "seven of eight",
	  { { FILE_PATH, HEAD "kubeReserved: {cpu: 6500m}\nsystemReserved: {cpu: 500m}\n" } },
	  KUBELET_CHANGED,
	  REASON_NONE,
	  HEAD "cpuManagerPolicy: static\nkubeReserved: {cpu: 6500m}\nsystemReserved: {cpu: "
	       "500m}\n" },
	{ "memory alone is no reservation",
	  { { FILE_PATH, HEAD "kubeReserved: {memory: 1Gi}\n" } },
	  KUBELET_CHANGED,
	  REASON_NONE,
	  HEAD "reservedSystemCPUs: \"0,4\"\ncpuManagerPolicy: static\nkubeReserved: {memory: "
	       "1Gi}\n" },
	{ "zero is none",
	  { { FILE_PATH, HEAD "kubeReserved: {cpu: \"0\"}\n" } },
	  KUBELET_CHANGED,
	  REASON_NONE,
	  HEAD "reservedSystemCPUs: \"0,4\"\ncpuManagerPolicy: static\nkubeReserved: {cpu: "
	       "\"0\"}\n" },
	{ "a number without quotes ends the kubelet",
	  { { FILE_PATH, HEAD "kubeReserved:\n  cpu: 1\n" } },
	  KUBELET_REFUSED,
	  REASON_KUBELET_WOULD_EXIT,
	  NULL },
	{ "CPUs online in a list of 300 bytes",
	  { { FILE_PATH, HEAD RESERVE }, { "sys/devices/system/cpu/online", EVEN_CPUS "\n" } },
	  KUBELET_CHANGED,
	  REASON_NONE,
	  HEAD "cpuManagerPolicy: static\n" RESERVE },
	{ "a list wins over amounts",
	  { { FILE_PATH, HEAD "kubeReserved: {cpu: \"12\"}\nreservedSystemCPUs: \"0-1,4\"\n" } },
	  KUBELET_CHANGED,
	  REASON_NONE,
	  HEAD "cpuManagerPolicy: static\nkubeReserved: {cpu: \"12\"}\nreservedSystemCPUs: "
	       "\"0-1,4\"\n" },
	{ "a list and a cgroup",
	  { { FILE_PATH, HEAD "reservedSystemCPUs: 0-1\nsystemReservedCgroup: /system\n" } },
	  KUBELET_REFUSED,
	  REASON_KUBELET_CPU_RESERVATION,
	  NULL },
	{ "a cgroup and no amount",
	  { { FILE_PATH, HEAD "systemReservedCgroup: /system\n" } },
	  KUBELET_REFUSED,
	  REASON_KUBELET_CPU_RESERVATION,
	  NULL },
	{ "a flag replaces the file's map",
	  { { FILE_PATH, HEAD RESERVE },
	    { UNIT, WITH_FILE },
	    { ENV, ARGS("--kube-reserved=memory=1Gi") } },
	  KUBELET_REFUSED,
	  REASON_KUBELET_CPU_RESERVATION,
	  NULL },
	{ "a drop-in takes the file's map away",
	  { { FILE_PATH, HEAD RESERVE "kubeReservedCgroup: /runtime\n" },
	    { UNIT, UNIT_TEXT "--config=/" FILE_PATH " --config-dir=/etc/d\n" },
	    { "etc/d/a.conf", HEAD "kubeReserved: null\n" } },
	  KUBELET_REFUSED,
	  REASON_KUBELET_CPU_RESERVATION,
	  NULL },
	{ "a drop-in adds to the file's map",
	  { { FILE_PATH, HEAD RESERVE },
	    { UNIT, UNIT_TEXT "--config=/" FILE_PATH " --config-dir=/etc/d\n"
			      "Environment=KUBELET_CONFIG_DROPIN_DIR_ALPHA=1\n" },
	    { "etc/d/a.conf", HEAD "kubeReserved: {memory: 1Gi}\n" } },
	  KUBELET_CHANGED,
	  REASON_NONE,
	  HEAD "cpuManagerPolicy: static\n" RESERVE },
	{ "flags of a map add up",
	  { { FILE_PATH, HEAD },
	    { UNIT, WITH_FILE },
	    { ENV, ARGS("--kube-reserved=cpu=50m,memory=1Gi --kube-reserved=pid=1000") } },
	  KUBELET_CHANGED,
	  REASON_NONE,
	  HEAD "cpuManagerPolicy: static\n" },
	{ "where the state is cannot be told",
	  { { FILE_PATH, HEAD RESERVE },
	    { UNIT, WITH_FILE },
	    { ENV, ARGS("--root-dir=${SNAP_COMMON}/var/lib/kubelet") } },
	  KUBELET_REFUSED,
	  REASON_KUBELET_CPU_RESERVATION,
	  NULL },
	{ "the vendor's own value",
	  { { FILE_PATH, HEAD RESERVE "cpuManagerPolicy: enhanced-static\n" } },
	  KUBELET_REFUSED,
	  REASON_KUBELET_VALUE_UNKNOWN,
	  NULL },
	{ "state of another policy, and pods run",
	  { { FILE_PATH, HEAD RESERVE },
	    { STATE, OLD_STATE },
	    { "sys/fs/cgroup/kubepods.slice/cgroup.procs", "" } },
	  KUBELET_REFUSED,
	  REASON_KUBELET_CPU_STATE,
	  NULL },
	{ "state of another policy, and it was started in this boot",
	  { { FILE_PATH, HEAD RESERVE }, { STATE, OLD_STATE }, { PODS, "" } },
	  KUBELET_REFUSED,
	  REASON_KUBELET_CPU_STATE,
	  NULL },
	{ "state of the static policy",
	  { { FILE_PATH, HEAD RESERVE }, { STATE, NEW_STATE }, { PODS, "" } },
	  KUBELET_CHANGED,
	  REASON_NONE,
	  HEAD "cpuManagerPolicy: static\n" RESERVE },
};

static int ensure_static(const struct root *root, struct kubelet_result *ret)
{
	const struct config c = { .kubelet.cpu_policy = CPU_POLICY_STATIC };

	return kubelet_ensure(&root->fs, &c, ret);
}

static void the_static_policy_is_set_where_the_reservation_lets_it(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(cpu_nodes); i++) {
		const char *out =
			cpu_nodes[i].out ? cpu_nodes[i].out : cpu_nodes[i].entries[0].text;
		_cleanup_(root_done) struct root root = {};
		const struct kubelet_item *item;
		struct kubelet_result res;

		print_message("  %s\n", cpu_nodes[i].name);
		root_open(&root);
		put_cpus(&root);
		put_entries(&root, cpu_nodes[i].entries, ELEMENTSOF(cpu_nodes[i].entries));

		assert_int_equal(ensure_static(&root, &res), 0);
		item = &res.decision.items[KUBELET_CPU_POLICY];
		print_message("    %s\n", item->detail);
		assert_int_equal(item->outcome, cpu_nodes[i].outcome);
		assert_int_equal(item->reason, cpu_nodes[i].reason);
		assert_text(&root, FILE_PATH, out, strlen(out));

		assert_int_equal(ensure_static(&root, &res), 0);
		assert_int_equal(item->outcome,
				 cpu_nodes[i].out ? KUBELET_SATISFIED : cpu_nodes[i].outcome);
		assert_text(&root, FILE_PATH, out, strlen(out));
	}
}

static void
state_of_another_policy_goes_with_the_edit_and_only_before_the_first_start(_unused_ void **state)
{
	static const struct {
		const char *file, *state;
		bool was_started, is_there; /* afterwards */
	} cases[] = {
		{ HEAD RESERVE, OLD_STATE, false, false },
		{ HEAD RESERVE, "{ damaged", false, false },
		{ HEAD RESERVE, NEW_STATE, false, true },
		{ HEAD RESERVE, OLD_STATE, true, true },
		/* the power went between the two */
		{ HEAD "cpuManagerPolicy: static\n" RESERVE, OLD_STATE, false, false },
		{ HEAD "cpuManagerPolicy: static\n" RESERVE, OLD_STATE, true, true },
		/* nothing is taken from a kubelet that would start */
		{ HEAD "cpuManagerPolicy: none\nkubeReserved: {cpu: \"8\"}\n", OLD_STATE, false,
		  true },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_result res;

		root_open(&root);
		put_cpus(&root);
		put_text(&root, FILE_PATH, cases[i].file);
		put_text(&root, STATE, cases[i].state);
		put_text(&root, "var/lib/kubelet/memory_manager_state", OLD_STATE);
		if (cases[i].was_started)
			put_text(&root, PODS, "");

		assert_int_equal(ensure_static(&root, &res), 0);
		assert_int_equal(fs_exists(&root.fs, STATE), cases[i].is_there);
		assert_true(fs_exists(&root.fs, "var/lib/kubelet/memory_manager_state"));
	}
}

static void amounts_of_cpus_are_read_as_the_kubelet_reads_them(_unused_ void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t milli;
	} cases[] = {
		{ "500m", 0, 500 },     { "1", 0, 1000 },        { "0.5", 0, 500 },
		{ "1.5", 0, 1500 },     { ".5", 0, 500 },        { "2.", 0, 2000 },
		{ "0", 0, 0 },          { "0.0001", 0, 1 },      { "100u", 0, 1 },
		{ "1000000n", 0, 1 },   { "1k", 0, 1000000 },    { "", -EINVAL, 0 },
		{ "m", -EINVAL, 0 },    { "1e3", 0, 1000000 },   { "-1", -EDOM, 0 },
		{ "1E", -ERANGE, 0 },   { "5e-1", 0, 500 },      { "+1", 0, 1000 },
		{ "1e", -EINVAL, 0 },   { "1e 3", -EINVAL, 0 },  { "1ki", -EINVAL, 0 },
		{ "-0", 0, 0 },         { "1e3x", -EINVAL, 0 },  { "1e99", -ERANGE, 0 },
		{ "32Ei", -ERANGE, 0 }, { "0Ei", 0, 0 },         { "2E0", 0, 2000 },
		{ "1 ", -EINVAL, 0 },   { "1.2.3", -EINVAL, 0 }, { "1234567890123456", -ERANGE, 0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		uint64_t milli = 0;

		print_message("  %s\n", cases[i].text);
		assert_int_equal(cpus_parse_amount(cases[i].text, &milli), cases[i].r);
		if (cases[i].r == 0)
			assert_int_equal(milli, cases[i].milli);
	}
}

static void lists_of_cpus_are_counted_once_each(_unused_ void **state)
{
	static const struct {
		const char *list;
		int n;
	} cases[] = { { "0", 1 },       { "0-3", 4 },        { "0-1,8", 3 },    { "0,0,0-1", 2 },
		      { "", -EINVAL },  { "5-3", -EINVAL },  { "0-", -EINVAL }, { "0,", -EINVAL },
		      { "a", -EINVAL }, { "0-64", -EINVAL }, { "0 1", -EINVAL } };

	for (size_t i = 0; i < ELEMENTSOF(cases); i++)
		assert_int_equal(cpus_count(cases[i].list, 64), cases[i].n);
}

/* The way back */

#define FULL(policy) HEAD "a: b # c\n" KEY ": " policy " # theirs\nz: 1\n"
#define JSON_HEAD    "{\"kind\":\"KubeletConfiguration\""
#define JSON_TAIL    ",\"apiVersion\":\"kubelet.config.k8s.io/v1beta1\"}"
#define K3S_UNIT     "etc/systemd/system/k3s.service"
#define K3S_TEXT     "[Service]\nExecStart=/usr/local/bin/k3s server\n"
#define K3S_OWN      "etc/rancher/k3s/config.yaml.d/99-rdma-provision.yaml"
#define SNAP_UNIT    "etc/systemd/system/snap.microk8s.daemon-kubelite.service"
#define SNAP_ARGS    "var/snap/microk8s/current/args/kubelet"
#define VERSION_30   "/usr/bin/kubelet 1 1.1 v1.30.4\n"

static const struct {
	const char *name;
	struct entry entries[4];
	const char *path;   /* that is edited */
	const char *before; /* NULL: it was not there */
	const char *theirs; /* what another program makes of it, and is left; NULL: skipped */
} ways_back[] = {
	{ "a key that was not there",
	  { { FILE_PATH, HEAD "a: b\n" } },
	  FILE_PATH,
	  HEAD "a: b\n",
	  FULL("restricted") },
	{ "a value", { { FILE_PATH, FULL("none") } }, FILE_PATH, FULL("none"), FULL("restricted") },
	{ "a quoted value",
	  { { FILE_PATH, FULL("'none'") } },
	  FILE_PATH,
	  FULL("'none'"),
	  FULL("none") },
	{ "JSON, not there",
	  { { FILE_PATH, JSON_HEAD JSON_TAIL } },
	  FILE_PATH,
	  JSON_HEAD JSON_TAIL,
	  JSON_HEAD ",\"" KEY "\":\"restricted\"" JSON_TAIL },
	{ "JSON, a value",
	  { { FILE_PATH, JSON_HEAD ",\"" KEY "\":\"none\"" JSON_TAIL } },
	  FILE_PATH,
	  JSON_HEAD ",\"" KEY "\":\"none\"" JSON_TAIL,
	  JSON_HEAD JSON_TAIL },
	{ "a drop-in of ours",
	  { { FILE_PATH, HEAD },
	    { UNIT, UNIT_TEXT "--config=/" FILE_PATH " --config-dir=/etc/d\n" },
	    { "etc/d/x", "" },
	    { KUBELET_VERSION_PATH, VERSION_30 } },
	  "etc/d/90-rdma-provision.conf",
	  NULL,
	  HEAD KEY ": \"best-effort\"\na: b\n" },
	{ "a file of k3s",
	  { { K3S_UNIT, K3S_TEXT } },
	  K3S_OWN,
	  NULL,
	  "kubelet-arg+:\n- topology-manager-policy=best-effort\n- v=2\n" },
	{ "the value of a flag",
	  { { FILE_PATH, HEAD },
	    { UNIT, WITH_FILE },
	    { ENV, "# c\n" ARGS("--v=2 --topology_manager_policy none") } },
	  ENV,
	  "# c\n" ARGS("--v=2 --topology_manager_policy none"),
	  "# c\n" ARGS("--v=2 --topology_manager_policy restricted") },
	{ "a flag in a variable that was there",
	  { { UNIT, UNIT_TEXT "--topology-manager-policy=none $KUBELET_EXTRA_ARGS\n" },
	    { ENV, ARGS("--v=2") } },
	  ENV,
	  ARGS("--v=2"),
	  ARGS("--v=2 --topology-manager-policy=best-effort-x") },
	{ "a flag in an empty variable",
	  { { UNIT, UNIT_TEXT "$KUBELET_EXTRA_ARGS\n" }, { ENV, ARGS("") "A=b\n" } },
	  ENV,
	  ARGS("") "A=b\n",
	  ARGS("--topology-manager-policy=restricted") "A=b\n" },
	{ "a file of variables that was not there",
	  { { UNIT, UNIT_TEXT "$KUBELET_EXTRA_ARGS\n" } },
	  ENV,
	  NULL,
	  ARGS("--topology-manager-policy=restricted") },
	{ "a line of flags",
	  { { SNAP_UNIT, "[Service]\nExecStart=/usr/bin/snap run microk8s.daemon-kubelite\n" },
	    { SNAP_ARGS, "--v=2\n" } },
	  SNAP_ARGS,
	  "--v=2\n",
	  "--v=2\n--topology-manager-policy=restricted\n" },
	{ "a flag in a variable, and the same in a comment",
	  { { UNIT, UNIT_TEXT "$KUBELET_EXTRA_ARGS\n" },
	    { ENV, "; --topology-manager-policy=best-effort\n" ARGS("--v=2") } },
	  ENV,
	  "; --topology-manager-policy=best-effort\n" ARGS("--v=2"),
	  "; --topology-manager-policy=best-effort\n" ARGS("") },
	{ "a line of flags, and the same in a comment",
	  { { SNAP_UNIT, "[Service]\nExecStart=/usr/bin/snap run microk8s.daemon-kubelite\n" },
	    { SNAP_ARGS, "--v=2\n# --topology-manager-policy=best-effort\n" } },
	  SNAP_ARGS,
	  "--v=2\n# --topology-manager-policy=best-effort\n",
	  "--v=2\n # --topology-manager-policy=best-effort\n" },
};

static void assert_is(const struct root *root, const char *path, const char *text)
{
	_cleanup_(freep) char *have = text_of(root, path);

	if (text)
		assert_string_equal(have ? have : "(not there)", text);
	else
		assert_null(have);
}

static void what_is_taken_back_is_as_it_was_byte_for_byte(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(ways_back); i++) {
		_cleanup_(root_done) struct root root = {};
		_cleanup_(freep) char *edited = NULL;
		struct verdict v;

		print_message("  %s\n", ways_back[i].name);
		root_open(&root);
		put_entries(&root, ways_back[i].entries, ELEMENTSOF(ways_back[i].entries));
		assert_is(&root, ways_back[i].path, ways_back[i].before);

		assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
		assert_int_equal(v.outcome, KUBELET_CHANGED);
		edited = text_of(&root, ways_back[i].path);
		assert_non_null(edited);
		assert_string_not_equal(edited, ways_back[i].before ? ways_back[i].before : "");
		assert_true(fs_exists(&root.fs, KUBELET_RECORD_PATH));

		assert_int_equal(kubelet_revert(&root.fs), 0);
		assert_is(&root, ways_back[i].path, ways_back[i].before);
		assert_false(fs_exists(&root.fs, KUBELET_RECORD_PATH));
		assert_int_equal(kubelet_revert(&root.fs), 0); /* nothing is left to do */
	}
}

/* A later flag wins now. Which one is ours is not known while there are two like it. */
static void a_flag_that_is_not_in_force_any_more_is_taken_back(_unused_ void **state)
{
	static const struct entry entries[] = { { UNIT, UNIT_TEXT "$KUBELET_EXTRA_ARGS\n" },
						{ ENV, ARGS("--topology-manager-policy=none") } };
	_cleanup_(root_done) struct root root = {};
	struct verdict v;

	root_open(&root);
	put_entries(&root, entries, ELEMENTSOF(entries));
	assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
	assert_is(&root, ENV, ARGS("--topology-manager-policy=best-effort"));
	put_text(&root, UNIT,
		 UNIT_TEXT "$KUBELET_EXTRA_ARGS --topology-manager-policy=restricted\n");
	put_text(&root, ENV,
		 "#--topology-manager-policy=best-effort\n" ARGS(
			 "--topology-manager-policy=best-effort"));
	assert_int_equal(kubelet_revert(&root.fs), 1);
	put_text(&root, ENV, ARGS("--topology-manager-policy=best-effort"));
	assert_int_equal(kubelet_revert(&root.fs), 0);
	assert_is(&root, ENV, entries[1].text);
}

static void what_another_program_wrote_since_stays(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(ways_back); i++) {
		_cleanup_(root_done) struct root root = {};
		struct verdict v;

		print_message("  %s\n", ways_back[i].name);
		root_open(&root);
		put_entries(&root, ways_back[i].entries, ELEMENTSOF(ways_back[i].entries));
		assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
		put_text(&root, ways_back[i].path, ways_back[i].theirs);

		assert_int_equal(kubelet_revert(&root.fs), 0);
		assert_is(&root, ways_back[i].path, ways_back[i].theirs);
		assert_false(fs_exists(&root.fs, KUBELET_RECORD_PATH));
	}
}

static void a_key_that_was_moved_is_taken_back(_unused_ void **state)
{
	static const struct {
		const char *above, *below;
	} places[] = {
		{ HEAD "x: |\n  a\n", "z: 1\n" },
		{ HEAD "x: |\n  a\n", "\n\nz: 1\n" },
		{ HEAD "x: >-\n  a\n\n\n", "" },
		{ HEAD "x: {a: 1}\ny:\n- |\n   a\n", "\n# c\n" },
		{ "---\n", HEAD },
		{ "# c\n\n", "# d\n" HEAD },
	};

	for (size_t i = 0; i < ELEMENTSOF(places); i++) {
		_cleanup_(freep) char *moved = NULL, *before = NULL;
		_cleanup_(root_done) struct root root = {};
		struct verdict v;

		print_message("  %s[...]\n%s", places[i].above, places[i].below);
		root_open(&root);
		put_text(&root, FILE_PATH, HEAD);
		assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
		assert_true(asprintf(&moved, "%stopologyManagerPolicy: best-effort\n%s",
				     places[i].above, places[i].below) > 0);
		assert_true(asprintf(&before, "%s%s", places[i].above, places[i].below) > 0);
		put_text(&root, FILE_PATH, moved);

		assert_int_equal(kubelet_revert(&root.fs), 0);
		assert_is(&root, FILE_PATH, before);
	}
}

static void both_settings_of_one_file_go_back(_unused_ void **state)
{
	const struct config c = { .kubelet.topology_policy = TOPOLOGY_POLICY_RESTRICTED,
				  .kubelet.topology_scope = TOPOLOGY_SCOPE_POD,
				  .kubelet.cpu_policy = CPU_POLICY_STATIC };
	const char *const text = HEAD "cpuManagerPolicy: none\ntopologyManagerPolicy: \"none\"\n";
	_cleanup_(root_done) struct root root = {};
	struct kubelet_result res;

	root_open(&root);
	put_cpus(&root);
	put_text(&root, FILE_PATH, text);
	assert_int_equal(kubelet_ensure(&root.fs, &c, &res), 0);
	assert_is(&root, FILE_PATH,
		  HEAD "reservedSystemCPUs: \"0,4\"\ntopologyManagerScope: pod\n"
		       "cpuManagerPolicy: static\ntopologyManagerPolicy: \"restricted\"\n");
	assert_int_equal(kubelet_revert(&root.fs), 0);
	assert_is(&root, FILE_PATH, text);
}

/* Not a kubelet's words, and so none of ours; a kubelet refuses them, and revert puts them back. */
static void odd_values_go_back_in_quotes(_unused_ void **state)
{
	static const struct {
		const char *before, *after; /* NULL: the same bytes */
		bool is_left;
	} cases[] = {
		{ "\" None\"" },
		{ "' None'", "\" None\"" },
		{ "\"a \\\"b\\\" \\\\c\"" },
		{ "a b", "\"a b\"" },
		{ "\"x: y #z\"" },
		{ "\"a\\tb\"", "\"best-effort\"", true },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(freep) char *before = NULL, *after = NULL;
		_cleanup_(root_done) struct root root = {};
		const struct config c = { .kubelet.topology_policy = TOPOLOGY_POLICY_BEST_EFFORT,
					  .kubelet.topology_scope = TOPOLOGY_SCOPE_POD };
		_cleanup_(ledger_done) struct ledger l = {};
		struct ledger_entry *entry;
		struct kubelet_result res;
		_cleanup_(yaml_items_done) struct yaml_items items = {};
		struct yaml_fault fault;

		print_message("  %s\n", cases[i].before);
		assert_true(asprintf(&before, HEAD "topologyManagerPolicy: %s\n", cases[i].before) >
			    0);
		assert_true(asprintf(&after, HEAD "topologyManagerPolicy: %s\n",
				     cases[i].after ? cases[i].after : cases[i].before) > 0);
		root_open(&root);
		assert_int_equal(yaml_read(before, strlen(before), YAML_KUBELET, &items, &fault),
				 0);
		put_text(&root, FILE_PATH, HEAD "topologyManagerPolicy: \"best-effort\"\n");
		assert_int_equal(kubelet_ensure(&root.fs, &c, &res), 0); /* the scope alone */
		assert_int_equal(
			memory_read_all(&root.fs, MEMORY_KUBELET, &ledger_files_fields, &l), 0);
		entry = APPEND(l.entries, l.n_entries);
		assert_non_null(entry);
		*entry = (struct ledger_entry){ .way = KUBELET_WAY_FILE,
						.setting = KUBELET_TOPOLOGY_POLICY,
						.was_there = true,
						.target = "/" FILE_PATH,
						.to = "best-effort" };
		COPY(entry->from, yaml_find(&items, "topologyManagerPolicy", "")->text);
		assert_int_equal(memory_write(&root.fs, MEMORY_KUBELET, &ledger_files_fields, &l),
				 0);

		assert_int_equal(kubelet_revert(&root.fs), cases[i].is_left);
		assert_is(&root, FILE_PATH, after);
		assert_int_equal(fs_exists(&root.fs, KUBELET_RECORD_PATH), cases[i].is_left);
	}
}

static void the_static_policy_stays_while_its_state_does(_unused_ void **state)
{
	_cleanup_(root_done) struct root root = {};
	struct kubelet_result res;

	root_open(&root);
	put_cpus(&root);
	put_text(&root, FILE_PATH, HEAD RESERVE);
	assert_int_equal(ensure_static(&root, &res), 0);
	put_text(&root, STATE, NEW_STATE); /* as the kubelet does at its start */

	assert_int_equal(kubelet_revert(&root.fs), 1);
	assert_is(&root, FILE_PATH, HEAD "cpuManagerPolicy: static\n" RESERVE);
	assert_true(fs_exists(&root.fs, KUBELET_RECORD_PATH));

	assert_int_equal(fs_remove(&root.fs, STATE), 0);
	assert_int_equal(kubelet_revert(&root.fs), 0);
	assert_is(&root, FILE_PATH, HEAD RESERVE);
}

/* The core has other CPUs in a later boot: a machine with fewer CPUs, or without threads. */
static void a_reservation_of_ours_follows_the_cpus_in_one_run(_unused_ void **state)
{
	static const struct {
		const char *online, *core, *out;
	} rows[] = {
		{ "0-3\n", "0,2\n",
		  HEAD "reservedSystemCPUs: \"0,2\"\ncpuManagerPolicy: static\n" },
		{ "0-3\n", "0\n", HEAD "reservedSystemCPUs: \"0\"\ncpuManagerPolicy: static\n" },
		{ "4-7\n", "0,4\n", HEAD }, /* no kernel says so, but a container's files */
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_result res;

		print_message("  %s", rows[i].online);
		root_open(&root);
		put_cpus(&root);
		put_text(&root, FILE_PATH, HEAD);
		assert_int_equal(ensure_static(&root, &res), 0);
		put_text(&root, STATE, NEW_STATE);
		put_text(&root, "sys/devices/system/cpu/online", rows[i].online);
		put_text(&root, "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
			 rows[i].core);
		for (int again = 0; again < 2; again++) {
			assert_int_equal(ensure_static(&root, &res), 0);
			assert_is(&root, FILE_PATH, rows[i].out);
			assert_string_equal(res.decision.would_exit, "");
			assert_int_equal(fs_exists(&root.fs, STATE), 0);
		}
	}
}

#define BESIDES         "# Made by rdma-provision as its [Kubelet] section says; edits are lost.\n" HEAD
#define WORD(p)         KEY ": " p "\n"
#define WITH_DIR        UNIT_TEXT "--config=/" FILE_PATH " --config-dir=/etc/d\n"
#define OWN             "etc/d/90-rdma-provision.conf"
#define SITE            "etc/d/50-site.conf"
#define NEW_33          { KUBELET_VERSION_PATH, "/usr/bin/kubelet 1 1.1 v1.33.1\n" }
#define OWN_LINES(text) { OWN, BESIDES text }

static void too_many_numa_nodes_take_our_own_policy_back(_unused_ void **state)
{
	static const struct {
		const char *unit, *text, *later_unit; /* NULL: as it was */
		enum topology_policy later;
		const char *out;
		enum reason reason;
	} cases[] = {
		{ WITH_FILE, HEAD "a: b\n", NULL, TOPOLOGY_POLICY_BEST_EFFORT, HEAD "a: b\n",
		  REASON_KUBELET_NUMA_NODES },
		{ WITH_FILE, HEAD KEY ": best-effort\na: b\n", NULL, TOPOLOGY_POLICY_BEST_EFFORT,
		  HEAD KEY ": best-effort\na: b\n", REASON_KUBELET_NUMA_NODES },
		/* how it starts is not clear any more */
		{ WITH_FILE, HEAD, UNIT_TEXT "--config=/" FILE_PATH " --cpu-manager-policy=%Z\n",
		  TOPOLOGY_POLICY_BEST_EFFORT, HEAD, REASON_KUBELET_NUMA_NODES },
		/* as the reason advises */
		{ WITH_FILE, HEAD, NULL, TOPOLOGY_POLICY_UNSET, HEAD, REASON_NONE },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(root_done) struct root root = {};
		struct verdict v;

		root_open(&root);
		put_text(&root, UNIT, cases[i].unit);
		put_text(&root, FILE_PATH, cases[i].text);
		assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 8, &v), 0);
		if (cases[i].later_unit)
			put_text(&root, UNIT, cases[i].later_unit);
		assert_int_equal(ensure(&root.fs, cases[i].later, 34, &v), 0);
		assert_int_equal(v.reason, cases[i].reason);
		assert_is(&root, FILE_PATH, cases[i].out);
	}
}

/* The kubelet exits by the policy of another program, whatever becomes of ours. */
static void too_many_numa_nodes_leave_other_settings_of_ours(_unused_ void **state)
{
	const struct config c = { .kubelet = { .topology_policy = TOPOLOGY_POLICY_BEST_EFFORT,
					       .cpu_policy = CPU_POLICY_STATIC } };
	_cleanup_(root_done) struct root root = {};
	struct verdict v;

	root_open(&root);
	put_cpus(&root);
	put_text(&root, FILE_PATH, HEAD WORD("restricted") RESERVE);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ensure_config(&root.fs, &c, 34, &v), 0);
		assert_is(&root, FILE_PATH,
			  HEAD "cpuManagerPolicy: static\n" WORD("restricted") RESERVE);
	}
}

/* Set once; then another program or the configuration wants something else. */
static const struct {
	const char *name;
	struct entry entries[4], later[2], out; /* text NULL: not there */
	enum topology_policy first, then;
	enum topology_scope scope;
	bool is_static;
	enum reason reason;
} outdone[] = {
	{ "a file below our drop-in is stricter now",
	  { { UNIT, WITH_DIR }, { FILE_PATH, HEAD }, { "etc/d/x", "" }, NEW_33 },
	  { { FILE_PATH, HEAD WORD("restricted") } },
	  { OWN, NULL },
	  TOPOLOGY_POLICY_BEST_EFFORT,
	  TOPOLOGY_POLICY_BEST_EFFORT },
	{ "so is another drop-in, and the scope of ours stays",
	  { { UNIT, WITH_DIR }, { FILE_PATH, HEAD }, { "etc/d/x", "" }, NEW_33 },
	  { { SITE, HEAD WORD("single-numa-node") } },
	  OWN_LINES("topologyManagerScope: \"pod\"\n"),
	  TOPOLOGY_POLICY_BEST_EFFORT,
	  TOPOLOGY_POLICY_BEST_EFFORT,
	  TOPOLOGY_SCOPE_POD },
	{ "what is as strict as ours changes nothing",
	  { { UNIT, WITH_DIR }, { FILE_PATH, HEAD }, { "etc/d/x", "" }, NEW_33 },
	  { { SITE, HEAD WORD("best-effort") } },
	  OWN_LINES(KEY ": \"best-effort\"\n"),
	  TOPOLOGY_POLICY_BEST_EFFORT,
	  TOPOLOGY_POLICY_BEST_EFFORT },
	{ "a file below our flag",
	  { { UNIT, WITH_FILE }, { FILE_PATH, HEAD KEY ": &a none\n" }, { ENV, ARGS("") } },
	  { { FILE_PATH, HEAD WORD("restricted") } },
	  { ENV, ARGS("") },
	  TOPOLOGY_POLICY_BEST_EFFORT,
	  TOPOLOGY_POLICY_BEST_EFFORT },
	{ "flags of another file of k3s",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server\n" } },
	  { { "etc/rancher/k3s/config.yaml.d/50-site.yaml",
	      "kubelet-arg+:\n- topology-manager-policy=restricted\n" } },
	  { "etc/rancher/k3s/config.yaml.d/99-rdma-provision.yaml", NULL },
	  TOPOLOGY_POLICY_BEST_EFFORT,
	  TOPOLOGY_POLICY_BEST_EFFORT },
	{ "less is asked for: the file",
	  { { UNIT, WITH_FILE }, { FILE_PATH, HEAD } },
	  { { "etc/x", "" } },
	  { FILE_PATH, HEAD WORD("best-effort") },
	  TOPOLOGY_POLICY_SINGLE_NUMA_NODE,
	  TOPOLOGY_POLICY_BEST_EFFORT },
	{ "less is asked for: our drop-in",
	  { { UNIT, WITH_DIR }, { FILE_PATH, HEAD }, { "etc/d/x", "" }, NEW_33 },
	  { { "etc/x", "" } },
	  OWN_LINES(KEY ": \"best-effort\"\n"),
	  TOPOLOGY_POLICY_SINGLE_NUMA_NODE,
	  TOPOLOGY_POLICY_BEST_EFFORT },
	{ "less is asked for: a flag's value",
	  { { UNIT, UNIT_TEXT "$KUBELET_EXTRA_ARGS\n" },
	    { ENV, ARGS("--topology-manager-policy=none") } },
	  { { "etc/x", "" } },
	  { ENV, ARGS("--topology-manager-policy=best-effort") },
	  TOPOLOGY_POLICY_SINGLE_NUMA_NODE,
	  TOPOLOGY_POLICY_BEST_EFFORT },
	{ "less is asked for than there was before us",
	  { { UNIT, WITH_FILE }, { FILE_PATH, HEAD WORD("restricted # theirs") } },
	  { { "etc/x", "" } },
	  { FILE_PATH, HEAD WORD("restricted # theirs") },
	  TOPOLOGY_POLICY_SINGLE_NUMA_NODE,
	  TOPOLOGY_POLICY_BEST_EFFORT },
	{ "none is asked for",
	  { { UNIT, WITH_FILE }, { FILE_PATH, HEAD } },
	  { { "etc/x", "" } },
	  { FILE_PATH, HEAD },
	  TOPOLOGY_POLICY_SINGLE_NUMA_NODE,
	  TOPOLOGY_POLICY_NONE },
	{ "our list of CPUs beside a control group, with a state file",
	  { { UNIT, WITH_DIR }, { FILE_PATH, HEAD }, { "etc/d/x", "" }, NEW_33 },
	  { { SITE, HEAD "kubeReserved: {cpu: \"1\"}\nkubeReservedCgroup: /podruntime\n" },
	    { STATE, NEW_STATE } },
	  OWN_LINES(KEY ": \"best-effort\"\ncpuManagerPolicy: \"static\"\n"),
	  TOPOLOGY_POLICY_BEST_EFFORT,
	  TOPOLOGY_POLICY_BEST_EFFORT,
	  .is_static = true },
	{ "our policy beside an option that it excludes, with a state file",
	  { { UNIT, WITH_DIR }, { FILE_PATH, HEAD }, { "etc/d/x", "" }, NEW_33 },
	  { { SITE, HEAD "featureGates: {CPUManagerPolicyAlphaOptions: true}\n"
			 "cpuManagerPolicyOptions: {align-by-socket: \"true\"}\n" },
	    { STATE, NEW_STATE } },
	  OWN_LINES("cpuManagerPolicy: \"static\"\nreservedSystemCPUs: \"0,4\"\n"),
	  TOPOLOGY_POLICY_SINGLE_NUMA_NODE,
	  TOPOLOGY_POLICY_SINGLE_NUMA_NODE,
	  .is_static = true,
	  .reason = REASON_KUBELET_WOULD_EXIT },
};

static void what_is_ours_gives_way(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(outdone); i++) {
		struct config c = { .kubelet.topology_policy = outdone[i].first,
				    .kubelet.topology_scope = outdone[i].scope,
				    .kubelet.cpu_policy = outdone[i].is_static ? CPU_POLICY_STATIC
									       : CPU_POLICY_UNSET };
		_cleanup_(root_done) struct root root = {};
		struct kubelet_result res;

		print_message("  %s\n", outdone[i].name);
		root_open(&root);
		put_cpus(&root);
		put_numa_nodes(&root.fs, 2);
		put_entries(&root, outdone[i].entries, ELEMENTSOF(outdone[i].entries));
		assert_int_equal(kubelet_ensure(&root.fs, &c, &res), 0);
		assert_int_equal(res.decision.items[KUBELET_TOPOLOGY_POLICY].outcome,
				 KUBELET_CHANGED);

		put_entries(&root, outdone[i].later, ELEMENTSOF(outdone[i].later));
		c.kubelet.topology_policy = outdone[i].then;
		for (int again = 0; again < 2; again++) {
			assert_int_equal(kubelet_ensure(&root.fs, &c, &res), 0);
			assert_int_equal(res.decision.items[KUBELET_TOPOLOGY_POLICY].reason,
					 outdone[i].reason);
			assert_string_equal(res.decision.would_exit, "");
			assert_is(&root, outdone[i].out.path, outdone[i].out.text);
		}
		assert_int_equal(res.decision.items[KUBELET_TOPOLOGY_POLICY].outcome,
				 outdone[i].reason ? KUBELET_REFUSED : KUBELET_SATISFIED);
	}
}

/* Systemd knows the unit, and that it was not started in this boot. */
static int n_questions;
static const char *loaded_exec[2], *loaded_environment; /* or NULL */
static void put_word(struct words *l, const char *word)
{
	if (word)
		assert_int_equal(ADD(l->words, l->n, strdup(word)), 0);
}

int __wrap_manager_unit_ask(const char *unit, struct manager_unit *ret);
int __wrap_manager_unit_ask(_unused_ const char *unit, struct manager_unit *ret)
{
	n_questions++;
	*ret = (struct manager_unit){};
	put_word(&ret->exec, loaded_exec[0]);
	put_word(&ret->exec, loaded_exec[1]);
	put_word(&ret->environment, loaded_environment);
	return 0;
}

static void a_variable_counts_as_systemd_has_loaded_it(_unused_ void **state)
{
	static const struct {
		const char *text, *loaded, *argument;
	} rows[] = {
		{ "A=1", "A=1", "1" },
		{ "A=1 B=2", "A=1", "1" },
		{ "A=2", "A=1", "1" },
		{ "B=2", "A=1", "1" },
		{ "A=2", "AB=1", NULL },
		{ "A=2 B=2", "B=2", NULL },
		{ "A=2 \"B=2 A=1\"", NULL, NULL },
	};

	loaded_exec[0] = "/usr/bin/kubelet";
	loaded_exec[1] = "$A";
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		_cleanup_(unit_done) struct unit u = {};
		char text[128];

		root_open(&root);
		PRINT(text, "[Service]\nExecStart=/usr/bin/kubelet $A\nEnvironment=%s\n",
		      rows[i].text);
		put_text(&root, UNIT, text);
		loaded_environment = rows[i].loaded;
		root.fs.is_live = true;
		assert_int_equal(unit_read(&root.fs, "kubelet.service", true, &u), 0);
		root.fs.is_live = false;
		print_message("  %s\n", rows[i].text);
		assert_int_equal(u.n_arguments, rows[i].argument ? 1 : 0);
		if (rows[i].argument)
			assert_string_equal(u.arguments[0].text, rows[i].argument);
	}
	loaded_exec[0] = loaded_exec[1] = loaded_environment = NULL;
}

/* Until systemd is asked, a kubelet counts as started: then the old state would end the next start
 * with the static policy, and does not go. */
static void systemd_is_asked_before_a_value_of_ours_is_taken_back(_unused_ void **state)
{
	static const struct entry entries[] = { { FILE_PATH, HEAD RESERVE },
						{ UNIT, WITH_FILE },
						{ ENV, ARGS("--v=2") },
						{ STATE, OLD_STATE } };
	const struct config c = { .kubelet.cpu_policy = CPU_POLICY_STATIC };
	_cleanup_(root_done) struct root root = {};
	struct kubelet_result res;

	root_open(&root);
	put_cpus(&root);
	put_entries(&root, entries, ELEMENTSOF(entries));
	root.fs.is_live = true;
	assert_int_equal(kubelet_ensure(&root.fs, &c, &res), 0);
	root.fs.is_live = false;
	assert_true(n_questions > 0);
	assert_is(&root, FILE_PATH, HEAD "cpuManagerPolicy: static\n" RESERVE);
	assert_int_equal(fs_exists(&root.fs, STATE), 0);
}

/* A file that is gone leaves only its folder changed. */
static void systemd_is_asked_when_a_drop_in_was_removed(_unused_ void **state)
{
	static const char drop_in[] = "etc/systemd/system/kubelet.service.d/x.conf";
	_cleanup_(root_done) struct root root = {};
	struct stat reloaded, folder;

	root_open(&root);
	put_text(&root, UNIT, "[Service]\nExecStart=/usr/bin/kubelet\n");
	put_text(&root, drop_in, "");
	put_text(&root, "run/systemd/generator/x", "");
	root.fs.is_live = true;
	n_questions = 0;
	for (int is_removed = 0; is_removed < 2; is_removed++) {
		_cleanup_(unit_done) struct unit u = {};

		assert_int_equal(unit_read(&root.fs, "kubelet.service", false, &u), 0);
		assert_int_equal(n_questions, is_removed);
		do {
			put_text(&root, drop_in, "");
			assert_int_equal(fs_remove(&root.fs, drop_in), 0);
			assert_int_equal(fs_stat(&root.fs, "run/systemd/generator", &reloaded), 0);
			assert_int_equal(
				fs_stat(&root.fs, "etc/systemd/system/kubelet.service.d", &folder),
				0);
		} while (memcmp(&folder.st_ctim, &reloaded.st_ctim, sizeof(folder.st_ctim)) == 0);
	}
	root.fs.is_live = false;
}

static void a_damaged_record_is_no_reason_to_fail(_unused_ void **state)
{
	static const char *const records[] = {
		"",
		"{",
		"[]",
		"{\"edits\":[{}]}",
		"{\"edits\":[{\"key\":1}]}",
		"{\"edits\":[{\"key\":\"topologyManagerPolicy\",\"way\":\"file\",\"path\":\"../x\","
		"\"variable\":\"\",\"from\":\"\",\"to\":\"best-effort\",\"since\":\"\",\"running\":"
		"\"\"}]}",
	};

	for (size_t i = 0; i < ELEMENTSOF(records); i++) {
		_cleanup_(root_done) struct root root = {};
		struct verdict v;

		root_open(&root);
		put_text(&root, FILE_PATH, HEAD);
		put_text(&root, KUBELET_RECORD_PATH, records[i]);
		assert_int_equal(kubelet_revert(&root.fs), 0);
		assert_is(&root, FILE_PATH, HEAD);
		put_text(&root, KUBELET_RECORD_PATH, records[i]);
		assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
		assert_int_equal(v.outcome, KUBELET_CHANGED);
		assert_int_equal(kubelet_revert(&root.fs), 0);
		assert_is(&root, FILE_PATH, HEAD);
	}
}

static void revert_without_its_lock_says_so_once(_unused_ void **state)
{
	const int log = memfd_create("log", MFD_CLOEXEC), before = dup(STDERR_FILENO);
	_cleanup_(root_done) struct root root = {};
	const char *told;
	char text[1024] = "";
	int r;

	root_open(&root);
	put_text(&root, KUBELET_RECORD_PATH, "{}");
	put_text(&root, KUBELET_LOCK_PATH "/a-folder", "");
	assert_true(log >= 0 && before >= 0 && dup2(log, STDERR_FILENO) >= 0);
	r = kubelet_revert(&root.fs);
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	assert_true(pread(log, text, sizeof(text) - 1, 0) > 0);
	close(log);
	close(before);
	assert_true(r < 0);
	told = strstr(text, "/" KUBELET_LOCK_PATH);
	assert_non_null(told);
	assert_null(strstr(told + 1, "/" KUBELET_LOCK_PATH));
}

static void an_entry_beside_a_damaged_one_is_taken_back(_unused_ void **state)
{
	_cleanup_(root_done) struct root root = {};
	_cleanup_(freep) char *text = NULL, *spoilt = NULL;
	const char *list;
	struct verdict v;
	size_t size;

	root_open(&root);
	put_text(&root, FILE_PATH, HEAD);
	assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
	assert_int_equal(v.outcome, KUBELET_CHANGED);
	assert_int_equal(fs_read_all(&root.fs, KUBELET_RECORD_PATH, 65536, true, &text, &size), 0);
	list = strchr(text, '[');
	assert_non_null(list);
	assert_true(asprintf(&spoilt, "%.*s7, {\"key\": 1},%s", (int)(list + 1 - text), text,
			     list + 1) > 0);
	put_text(&root, KUBELET_RECORD_PATH, spoilt);
	assert_int_equal(kubelet_revert(&root.fs), 0);
	assert_is(&root, FILE_PATH, HEAD);
}

/* A flag that is added to a variable before another one of its name does not win. */
static void an_edit_without_effect_is_taken_back(_unused_ void **state)
{
	static const char *const before[] = { NULL, ARGS("--v=2") };

	for (size_t i = 0; i < ELEMENTSOF(before); i++) {
		_cleanup_(root_done) struct root root = {};
		struct verdict v;

		root_open(&root);
		put_text(&root, FILE_PATH, HEAD);
		put_text(&root, UNIT,
			 UNIT_TEXT "--config=/" FILE_PATH
				   " $KUBELET_EXTRA_ARGS --topology-manager-policy=none\n");
		if (before[i])
			put_text(&root, ENV, before[i]);
		assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
		assert_int_equal(v.outcome, KUBELET_REFUSED);
		assert_int_equal(v.reason, REASON_KUBELET_FLAG_WINS);
		assert_is(&root, ENV, before[i]);
		assert_is(&root, FILE_PATH, HEAD);
		assert_int_equal(kubelet_revert(&root.fs), 0);
		assert_is(&root, ENV, before[i]);
	}
}

/* Files that are none, and disks that do not take them */

static void full_path(const struct root *root, const char *path, char ret[PATH_MAX])
{
	assert_true(snprintf(ret, PATH_MAX, "%s/%s", root->path, path) < PATH_MAX);
}

static void make_fifo(const char *path)
{
	assert_int_equal(mkfifo(path, 0644), 0);
}
static void make_device(const char *path)
{
	if (mknod(path, S_IFCHR | 0644, makedev(1, 5)) < 0) /* /dev/zero never ends */
		make_fifo(path);
}
static void make_folder(const char *path)
{
	assert_int_equal(mkdir(path, 0755), 0);
}
static void make_loop(const char *path)
{
	assert_int_equal(symlink("config.yaml", path), 0);
}
static void make_long_loop(const char *path)
{
	char other[PATH_MAX];

	assert_true(snprintf(other, sizeof(other), "%s.other", path) < PATH_MAX);
	assert_int_equal(symlink("config.yaml.other", path), 0);
	assert_int_equal(symlink("/var/lib/kubelet/config.yaml", other), 0);
}
static void make_link_outside(const char *path)
{
	assert_int_equal(symlink("../../../../../../../../../../etc/passwd", path), 0);
}

static void what_is_no_file_is_refused_at_once(_unused_ void **state)
{
	static void (*const makers[])(const char *path) = { make_fifo,      make_device,
							    make_folder,    make_loop,
							    make_long_loop, make_link_outside };

	for (size_t i = 0; i < ELEMENTSOF(makers); i++) {
		_cleanup_(root_done) struct root root = {};
		char path[PATH_MAX];
		struct stat before, after;
		struct verdict v;

		root_open(&root);
		put_text(&root, UNIT, WITH_FILE);
		assert_true(fs_make_folders(&root.fs, "var/lib/kubelet") >= 0);
		full_path(&root, FILE_PATH, path);
		makers[i](path);
		before = stat_of(&root, FILE_PATH);

		alarm(10);
		assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
		alarm(0);
		print_message("  row %u %s: %s\n", v.row, reason_code(v.reason), v.detail);
		/* A link that leads nowhere is a file to wait for; of others nothing is known. */
		assert_true(v.outcome == KUBELET_WAITING ||
			    v.reason == REASON_KUBELET_VALUE_UNKNOWN);
		after = stat_of(&root, FILE_PATH);
		assert_int_equal(before.st_ino, after.st_ino);
	}
}

/* Opened by a program that has written nothing yet, as "make-flags >FILE" is in its beginning. */
static void a_file_that_is_open_for_writing_waits_for_the_next_start(_unused_ void **state)
{
	static const struct {
		const char *unit, *path, *text, *way_out;
	} cases[] = {
		{ WITH_FILE, FILE_PATH, HEAD, ENV },
		{ UNIT_TEXT "$KUBELET_EXTRA_ARGS\n", ENV, ARGS("--v=2"), FILE_PATH },
		{ UNIT_TEXT "$KUBELET_EXTRA_ARGS\n", ENV,
		  ARGS("--v=2 --topology-manager-policy=none"), FILE_PATH },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(root_done) struct root root = {};
		_cleanup_(closep) int fd = -EBADF;
		struct verdict v;

		root_open(&root);
		put_text(&root, cases[i].path, cases[i].text);
		put_text(&root, UNIT, cases[i].unit);
		fd = fs_open(&root.fs, cases[i].path, O_WRONLY);
		assert_true(fd >= 0);
		assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
		assert_int_equal(v.outcome, KUBELET_REFUSED);
		assert_int_equal(v.reason, REASON_KUBELET_FILE_REFUSED);
		assert_non_null(strstr(v.detail, "another program is writing it"));
		assert_is(&root, cases[i].path, cases[i].text);
		assert_is(&root, cases[i].way_out, NULL);

		closep(&fd);
		fd = -EBADF;
		assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
		assert_int_equal(v.outcome, KUBELET_CHANGED);
		assert_string_equal(v.path + 1, cases[i].path);

		fd = fs_open(&root.fs, cases[i].path, O_WRONLY);
		assert_int_equal(kubelet_revert(&root.fs), 1);
		closep(&fd);
		fd = -EBADF;
		assert_int_equal(kubelet_revert(&root.fs), 0);
		assert_is(&root, cases[i].path, cases[i].text);
	}
}

static void a_file_with_a_second_name_is_left_for_the_next_way(_unused_ void **state)
{
	_cleanup_(root_done) struct root root = {};
	char path[PATH_MAX], other[PATH_MAX];
	struct verdict v;

	root_open(&root);
	put_text(&root, FILE_PATH, HEAD);
	put_text(&root, UNIT, WITH_FILE);
	full_path(&root, FILE_PATH, path);
	full_path(&root, "var/lib/kubelet/second", other);
	assert_int_equal(link(path, other), 0);
	assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
	assert_int_equal(v.outcome, KUBELET_CHANGED);
	assert_int_equal(v.way, KUBELET_WAY_EXTRA);
	assert_is(&root, FILE_PATH, HEAD);
	assert_is(&root, ENV, ARGS("--topology-manager-policy=best-effort"));
}

#define POLICY       "topologyManagerPolicy: restricted\n"
#define BRACKETS     "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
#define BRACKETS_OUT "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
#define KIND_TEXT(s) s, sizeof(s) - 1

/*
 * A file beside whose policy, restricted, there is something. @line: of the cause; 0: it is
 * understood; UINT32_MAX: the cause has no line.
 */
static const struct {
	const char *name, *text;
	size_t size;
	uint32_t line;
	void (*make)(const char *path); /* no file with a text */
} kinds[] = {
	{ "nothing", KIND_TEXT(HEAD POLICY), 0, NULL },
	{ "an alias", KIND_TEXT(HEAD "a: &e {b: 1}\nc: *e\n" POLICY), 0, NULL },
	{ "an alias that is the policy",
	  KIND_TEXT(HEAD "a: &e restricted\ntopologyManagerPolicy: *e\n"), 0, NULL },
	{ "an alias in an alias", KIND_TEXT(HEAD "a: &e 1\nb: &f {c: *e}\nd: *f\n" POLICY), 0,
	  NULL },
	{ "a merge key", KIND_TEXT(HEAD "a: &e {topologyManagerPolicy: restricted}\n<<: *e\n"), 0,
	  NULL },
	{ "a list of merges",
	  KIND_TEXT(HEAD "a: &e {b: 1}\n<<: [*e, {topologyManagerPolicy: restricted}]\n"), 0,
	  NULL },
	{ "a merge key in another key", KIND_TEXT(HEAD "a: &e {b: 1}\nc:\n  <<: *e\n" POLICY), 0,
	  NULL },
	{ "an explicit key", KIND_TEXT(HEAD "? a\n: b\n" POLICY), 0, NULL },
	{ "the policy as an explicit key",
	  KIND_TEXT(HEAD "? topologyManagerPolicy\n: restricted\n"), 0, NULL },
	{ "an alias as the key", KIND_TEXT(HEAD "a: &e topologyManagerPolicy\n*e : restricted\n"),
	  0, NULL },
	{ "a tagged key", KIND_TEXT(HEAD "!!str a: b\n" POLICY), 0, NULL },
	{ "a tagged value", KIND_TEXT(HEAD "a: !!int 1\n" POLICY), 0, NULL },
	{ "an anchor on the value", KIND_TEXT(HEAD "topologyManagerPolicy: &e restricted\n"), 0,
	  NULL },
	{ "a directive", KIND_TEXT("%YAML 1.1\n---\n" HEAD POLICY), 0, NULL },
	{ "a mapping in braces below a comment",
	  KIND_TEXT("# c\n{kind: KubeletConfiguration, topologyManagerPolicy: restricted,\n"
		    "apiVersion: kubelet.config.k8s.io/v1beta1}\n"),
	  0, NULL },
	{ "120 nested brackets",
	  KIND_TEXT(HEAD "a: " BRACKETS BRACKETS BRACKETS BRACKETS BRACKETS_OUT BRACKETS_OUT
			    BRACKETS_OUT BRACKETS_OUT "\n" POLICY),
	  0, NULL },

	{ "an alias that has no end", KIND_TEXT(HEAD "a: &e [*e]\n<<: *e\n" POLICY), UINT32_MAX,
	  NULL },
	{ "an alias of nothing", KIND_TEXT(HEAD "a: *e\n" POLICY), 3, NULL },
	{ "a key with a tag of its own", KIND_TEXT(HEAD "!e a: b\n" POLICY), 3, NULL },
	{ "a collection as the key", KIND_TEXT(HEAD "? [a]\n: b\n" POLICY), 3, NULL },
	{ "a merge key and the key",
	  KIND_TEXT(HEAD "a: &e {topologyManagerPolicy: none}\n" POLICY "<<: *e\n"), UINT32_MAX,
	  NULL },
	{ "UTF-16", KIND_TEXT("\xFF\xFEk\0i\0n\0d\0:\0"), 1, NULL },
	{ "Latin-1 in a comment", KIND_TEXT(HEAD POLICY "# caf\xE9\n"), 4, NULL },
	{ "a NUL in a comment", KIND_TEXT(HEAD POLICY "# \0\n"), 4, NULL },
	{ "NULs, as a crash leaves them", KIND_TEXT("\0\0\0\0\0\0\0\0"), 1, NULL },
	{ "a C1 control in a comment", KIND_TEXT(HEAD POLICY "# \xC2\x85\n"), 4, NULL },
	{ "a tab", KIND_TEXT(HEAD "a:\n\tb: c\n" POLICY), 4, NULL },
	{ "a broken last line", KIND_TEXT(HEAD POLICY "a: \"b\n"), UINT32_MAX, NULL },
	{ "an alias of another file", KIND_TEXT(HEAD POLICY "a: *b\n"), UINT32_MAX, NULL },
	{ "another kind", KIND_TEXT(API "kind: Config\n" POLICY), UINT32_MAX, NULL },
	{ "JSON with a comment", KIND_TEXT("{} # c\n"), UINT32_MAX, NULL },
	{ "a FIFO", NULL, 0, UINT32_MAX, make_fifo },
	{ "a folder", NULL, 0, UINT32_MAX, make_folder },
	{ "a device", NULL, 0, UINT32_MAX, make_device },
	{ "a link to itself", NULL, 0, UINT32_MAX, make_loop },
	{ "a link to a link to it", NULL, 0, UINT32_MAX, make_long_loop },
};

static void put_kind(const struct root *root, size_t i, const char *path)
{
	char full[PATH_MAX];

	full_path(root, path, full);
	put_text(root, path, "");
	unlink(full);
	if (kinds[i].make)
		kinds[i].make(full);
	else
		put(root, path, kinds[i].text, kinds[i].size);
}

/* Best-effort is asked for, and there is a variable that could have a flag for it. */
static void check_kind(struct root *root, size_t i, const char *path)
{
	char cause[128] = "";
	struct verdict v;

	put_text(root, UNIT,
		 UNIT_TEXT "--config=/" FILE_PATH " --config-dir=/etc/d $KUBELET_EXTRA_ARGS\n");
	put_text(root, "run/rdma-provision/kubelet-version", "/usr/bin/kubelet 1 1.1 v1.31.4\n");
	put_kind(root, i, path);
	alarm(10);
	assert_int_equal(ensure(&root->fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
	alarm(0);
	print_message("  %s: row %u %s: %s\n", kinds[i].name, v.row, reason_code(v.reason),
		      v.detail);
	if (kinds[i].line != UINT32_MAX && kinds[i].line > 0)
		snprintf(cause, sizeof(cause), "/%s:%" PRIu32 ":", path, kinds[i].line);
	else if (kinds[i].line == UINT32_MAX)
		snprintf(cause, sizeof(cause), "/%s", path);
	assert_int_equal(v.outcome, kinds[i].line > 0 ? KUBELET_REFUSED : KUBELET_SATISFIED);
	assert_non_null(strstr(v.detail, cause));
	assert_int_equal(fs_exists(&root->fs, ENV), 0);
	assert_int_equal(fs_exists(&root->fs, "etc/d/90-rdma-provision.conf"), 0);
	if (kinds[i].text)
		assert_text(root, path, kinds[i].text, kinds[i].size);
}

static void a_file_that_cannot_be_read_has_no_value(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
		_cleanup_(root_done) struct root root = {}, with_drop_in = {};

		root_open(&root);
		check_kind(&root, i, FILE_PATH);
		if (kinds[i].make == make_folder) /* has drop-ins in it, none of which is there */
			continue;
		root_open(&with_drop_in);
		put_text(&with_drop_in, FILE_PATH, HEAD);
		check_kind(&with_drop_in, i, "etc/d/a.conf");
	}
}

/* Beside a stricter flag in the configuration of k3s. */
static void a_configuration_of_k3s_that_cannot_be_read_has_no_flags(_unused_ void **state)
{
#define RESTRICTED "topology-manager-policy=restricted"
#define DIR        "etc/rancher/k3s/config.yaml.d"
	static const struct {
		const char *name, *text;
		enum kubelet_outcome outcome;
		void (*make)(const char *path);
	} cases[] = {
		{ "a list", "kubelet-arg+: [" RESTRICTED "]\n", KUBELET_SATISFIED, NULL },
		{ "an alias", "a: &e " RESTRICTED "\nkubelet-arg+: [*e]\n", KUBELET_SATISFIED,
		  NULL },
		{ "a list by alias", "a: &e [" RESTRICTED "]\nkubelet-arg+: *e\n",
		  KUBELET_SATISFIED, NULL },
		{ "a merge key", "a: &e {kubelet-arg+: [" RESTRICTED "]}\n<<: *e\n",
		  KUBELET_SATISFIED, NULL },
		{ "an explicit key", "? kubelet-arg+\n: [" RESTRICTED "]\n", KUBELET_SATISFIED,
		  NULL },
		{ "a tag", "kubelet-arg+: [!!str " RESTRICTED "]\n", KUBELET_REFUSED, NULL },
		{ "a tab", "kubelet-arg+:\n\t- " RESTRICTED "\n", KUBELET_REFUSED, NULL },
		{ "Latin-1", "kubelet-arg+: [" RESTRICTED "] # \xE9\n", KUBELET_REFUSED, NULL },
		{ "a FIFO", NULL, KUBELET_REFUSED, make_fifo },
		{ "a folder", NULL, KUBELET_REFUSED, make_folder },
		{ "a link to itself", NULL, KUBELET_REFUSED, make_loop },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const char *name = cases[i].make == make_loop ? DIR "/config.yaml" : DIR "/50.yaml";
		_cleanup_(root_done) struct root root = {};
		char full[PATH_MAX];
		struct verdict v;

		root_open(&root);
		put_text(&root, "usr/lib/systemd/system/k3s.service",
			 "[Service]\nExecStart=/usr/local/bin/k3s server\n");
		put_text(&root, name, cases[i].text ? cases[i].text : "");
		full_path(&root, name, full);
		if (cases[i].make) {
			unlink(full);
			cases[i].make(full);
		}
		assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
		print_message("  %s: row %u %s: %s\n", cases[i].name, v.row, reason_code(v.reason),
			      v.detail);
		assert_int_equal(v.outcome, cases[i].outcome);
		assert_int_equal(fs_exists(&root.fs, DIR "/99-rdma-provision.yaml"), 0);
	}
#undef FLAG
#undef DIR
}

/* The size of a file is no reason; an empty one is being written. */
static void a_large_file_is_understood_and_an_empty_one_waited_for(_unused_ void **state)
{
	static const struct {
		size_t size;
		enum kubelet_outcome outcome;
	} cases[] = { { 0, KUBELET_WAITING },
		      { 1200 * 1024, KUBELET_SATISFIED },
		      { YAML_MAX_BYTES + 1, KUBELET_REFUSED } };

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(root_done) struct root root = {};
		_cleanup_(freep) char *text = malloc(cases[i].size + 1);
		struct verdict v;

		assert_non_null(text);
		memset(text, '#', cases[i].size);
		memcpy(text, HEAD POLICY, MIN(strlen(HEAD POLICY), cases[i].size));
		root_open(&root);
		put_text(&root, UNIT, WITH_FILE);
		put(&root, FILE_PATH, text, cases[i].size);
		assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
		print_message("  %zu bytes: %s\n", cases[i].size, v.detail);
		assert_int_equal(v.outcome, cases[i].outcome);
		assert_int_equal(fs_exists(&root.fs, ENV), 0);
	}
}

static void an_immutable_file_is_left_for_the_next_way(_unused_ void **state)
{
	_cleanup_(root_done) struct root root = {};
	_cleanup_(closep) int fd = -EBADF;
	struct verdict v;
	int flags = 0, r;

	root_open_on_disk(&root);
	put_text(&root, FILE_PATH, HEAD);
	put_text(&root, UNIT, WITH_FILE);
	fd = fs_open(&root.fs, FILE_PATH, O_RDONLY);
	assert_true(fd >= 0);
	r = ioctl(fd, FS_IOC_GETFLAGS, &flags);
	flags |= FS_IMMUTABLE_FL;
	if (r < 0 || ioctl(fd, FS_IOC_SETFLAGS, &flags) < 0)
		skip_without("files in /tmp that can be made immutable: %s", strerror(errno));

	r = ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v);
	flags &= ~FS_IMMUTABLE_FL;
	assert_int_equal(ioctl(fd, FS_IOC_SETFLAGS, &flags), 0);
	assert_int_equal(r, 0);
	assert_int_equal(v.outcome, KUBELET_CHANGED);
	assert_int_equal(v.way, KUBELET_WAY_EXTRA);
	assert_is(&root, FILE_PATH, HEAD);
	assert_is(&root, ENV, ARGS("--topology-manager-policy=best-effort"));
}

#define DISK_BYTES 65536

/* In a mount namespace of its own. Return: 0 as it should be, 1 not, 77 not allowed to mount. */
static int edit_on_full_disk(struct root *root)
{
	char path[PATH_MAX], text[DISK_BYTES / 2 + 8192];
	_cleanup_(freep) char *have = NULL;
	struct verdict v;
	size_t size;

	snprintf(path, sizeof(path), "%s/var", root->path);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mkdir(path, 0755) < 0 || mount("x", path, "tmpfs", 0, "size=64k") < 0)
		return 77;
	fs_done(&root->fs);
	if (fs_open_root(root->path, &root->fs) < 0)
		return 1;

	memset(text, '#', sizeof(text));
	memcpy(text, HEAD, strlen(HEAD));
	put(root, FILE_PATH, text, sizeof(text));
	if (ensure(&root->fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v) != -ENOSPC)
		return 1;
	if (fs_read_all(&root->fs, FILE_PATH, DISK_BYTES, true, &have, &size) < 0 ||
	    size != sizeof(text) || memcmp(have, text, size) != 0)
		return 1;
	return fs_exists(&root->fs, "var/lib/kubelet/.config.yaml.rdma-provision.tmp");
}

static void a_full_disk_leaves_the_old_file_whole(_unused_ void **state)
{
	_cleanup_(root_done) struct root root = {};
	int status;
	pid_t pid;

	root_open(&root);
	pid = fork();
	if (pid == 0)
		_exit(edit_on_full_disk(&root));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip_without("a small tmpfs in a mount namespace of its own");
	assert_int_equal(status, 0);
}

static void the_label_is_kept(_unused_ void **state)
{
	static const char label[] = "system_u:object_r:kubernetes_file_t:s0";
	_cleanup_(root_done) struct root root = {};
	char path[PATH_MAX], have[128] = "";
	struct verdict v;

	root_open(&root);
	put_text(&root, FILE_PATH, HEAD);
	full_path(&root, FILE_PATH, path);
	if (setxattr(path, "security.selinux", label, sizeof(label), 0) < 0)
		skip_without("extended attributes security.selinux in /dev/shm: %s",
			     strerror(errno));
	assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
	assert_int_equal(v.outcome, KUBELET_CHANGED);
	assert_int_equal(getxattr(path, "security.selinux", have, sizeof(have)), sizeof(label));
	assert_string_equal(have, label);
}

/* Programs */

static void put_program(const struct root *root, const char *name, const char *text)
{
	char path[PATH_MAX];

	put_text(root, name, text);
	full_path(root, name, path);
	assert_int_equal(chmod(path, 0755), 0);
}

static void a_program_that_hangs_fails_or_says_nothing_is_no_answer(_unused_ void **state)
{
	static const struct {
		const char *text;
		int r;
		const char *output;
	} cases[] = {
		{ "#!/bin/sh\necho Kubernetes v1.30.4\n", 0, "Kubernetes v1.30.4\n" },
		{ "#!/bin/sh\n[ \"$1\" = --version ] || exit 1\n", 0, "" },
		{ "#!/bin/sh\necho x\nexit 3\n", -EIO, "x\n" },
		{ "#!/bin/sh\necho out >&2\nread x || echo end\n", 0, "end\n" },
		{ "#!/bin/sh\nsleep 60\n", -ETIMEDOUT, "" },
		{ "#!/bin/sh\nsleep 60 &\nwait\n", -ETIMEDOUT, "" },
		{ "#!/bin/sh\ntrap '' TERM INT\nwhile :; do :; done\n", -ETIMEDOUT, "" },
		{ "#!/bin/sh\necho Kubernetes v1.30.4\nexec >&-\nsleep 0.1\n", 0,
		  "Kubernetes v1.30.4\n" },
		{ "#!/bin/sh\nexec >&-\nsleep 60\n", -ETIMEDOUT, "" },
		{ "#!/nonexistent\n", -EIO, "" },
	};
	_cleanup_(root_done) struct root root = {};

	root_open_on_disk(&root); /* /dev/shm may forbid to run anything */
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char path[PATH_MAX], output[64];
		uint64_t start, timeout;

		put_program(&root, "program", cases[i].text);
		full_path(&root, "program", path);
		start = now_usec();
		timeout = cases[i].r == -ETIMEDOUT ? USEC_PER_SEC / 2 : 20 * USEC_PER_SEC;
		assert_int_equal(program_output(path, "--version", timeout, output, sizeof(output)),
				 cases[i].r);
		assert_true(now_usec() - start < 20 * USEC_PER_SEC);
		if (cases[i].r == 0)
			assert_string_equal(output, cases[i].output);
	}
}

/* As in rdma-provision-kubelet.service of systemd 239, whose @system-service lacks the call. */
static void a_program_is_run_where_pidfd_open_is_forbidden(_unused_ void **state)
{
	_cleanup_(root_done) struct root root = {};
	char path[PATH_MAX], output[64];
	int status;
	pid_t pid;

	root_open_on_disk(&root);
	put_program(&root, "program", "#!/bin/sh\necho Kubernetes v1.30.4\n");
	full_path(&root, "program", path);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (!forbid_call(SYS_pidfd_open, EPERM))
			_exit(77);
		_exit(-program_output(path, "--version", 20 * USEC_PER_SEC, output,
				      sizeof(output)));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip_without("a seccomp filter");
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void what_a_program_starts_ends_with_it(_unused_ void **state)
{
	_cleanup_(root_done) struct root root = {};
	char path[PATH_MAX], output[16];

	root_open_on_disk(&root);
	put_program(&root, "program", "#!/bin/sh\n(sleep 1; touch \"$0.late\") &\nwait\n");
	full_path(&root, "program", path);
	assert_int_equal(
		program_output(path, "--version", USEC_PER_SEC / 5, output, sizeof(output)),
		-ETIMEDOUT);
	poll(NULL, 0, 2000);
	assert_false(fs_exists(&root.fs, "program.late"));
}

static void a_flood_of_output_is_cut(_unused_ void **state)
{
	_cleanup_(root_done) struct root root = {};
	char path[PATH_MAX], output[16];

	root_open_on_disk(&root);
	put_program(&root, "program", "#!/bin/sh\nhead -c 1000000 /dev/zero | tr '\\0' a\n");
	full_path(&root, "program", path);
	assert_int_equal(
		program_output(path, "--version", 10 * USEC_PER_SEC, output, sizeof(output)), 0);
	assert_string_equal(output, "aaaaaaaaaaaaaaa");
}

static void versions_are_read_from_what_is_printed(_unused_ void **state)
{
	static const struct {
		const char *output;
		uint32_t minor;
		const char *text;
	} cases[] = {
		{ "Kubernetes v1.30.4-eks-a18cd3a\n", 30, "v1.30.4-eks-a18cd3a" },
		{ "Kubernetes v0.0.0-master+$Format:%H$\n", 0, "v0.0.0-master+$Format:%H$" },
		{ "rke2 version v1.32.1+rke2r1 (abc)\ngo version go1.23.4\n", 32,
		  "v1.32.1+rke2r1" },
		{ "k3s version v1.31.5+k3s1 (56ec5dd4)\n", 31, "v1.31.5+k3s1" },
		{ "Kubernetes v1.28\n", 28, "v1.28" },
		{ "Kubernetes v2.1.0\n", 0, "v2.1.0" },
		{ "Kubernetes v1\n", 0, "" },
		{ "version 1.30\n", 0, "" },
		{ "v1.99999999999999999999\n", 0, "v1.99999999999999999999" },
		{ "", 0, "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char text[48];

		assert_int_equal(version_parse(cases[i].output, text, sizeof(text)),
				 cases[i].minor);
		assert_string_equal(text, cases[i].text);
	}
}

/* On the running system, with a file that stands for a kubelet. */
static void a_version_is_asked_for_once_and_again_when_the_file_is_another(_unused_ void **state)
{
	_cleanup_(root_done) struct root root = {};
	char path[PATH_MAX], key[PATH_MAX];
	struct version v = {};
	struct fs live = { .root = -EBADF };

	root_open_on_disk(&root);
	assert_int_equal(fs_open_root(NULL, &live), 0);
	put_program(&root, "kubelet", "#!/bin/sh\necho Kubernetes v1.30.4\n");
	full_path(&root, "kubelet", path);

	assert_int_equal(version_observe(&live, path, false, &v), 0);
	assert_int_equal(v.minor, 0); /* a look runs nothing */
	assert_int_equal(version_observe(&live, path, true, &v), 0);
	assert_int_equal(v.minor, 30);
	assert_true(snprintf(key, sizeof(key), "%s ", path) < PATH_MAX);
	assert_true(is_prefix(v.line, key));
	assert_non_null(strstr(v.line, " v1.30.4\n"));

	/* Below a folder nothing is run, and the file's number means nothing. */
	put_text(&root, KUBELET_VERSION_PATH, "/kubelet 1 1.1 v1.31.0\n");
	assert_int_equal(version_observe(&root.fs, "/kubelet", true, &v), 0);
	assert_int_equal(v.minor, 31);
	assert_string_equal(v.line, "");
	fs_done(&live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_static_policy_is_set_where_the_reservation_lets_it),
		cmocka_unit_test(
			state_of_another_policy_goes_with_the_edit_and_only_before_the_first_start),
		cmocka_unit_test(amounts_of_cpus_are_read_as_the_kubelet_reads_them),
		cmocka_unit_test(lists_of_cpus_are_counted_once_each),
		cmocka_unit_test(what_is_taken_back_is_as_it_was_byte_for_byte),
		cmocka_unit_test(what_another_program_wrote_since_stays),
		cmocka_unit_test(a_flag_that_is_not_in_force_any_more_is_taken_back),
		cmocka_unit_test(a_key_that_was_moved_is_taken_back),
		cmocka_unit_test(both_settings_of_one_file_go_back),
		cmocka_unit_test(odd_values_go_back_in_quotes),
		cmocka_unit_test(the_static_policy_stays_while_its_state_does),
		cmocka_unit_test(a_reservation_of_ours_follows_the_cpus_in_one_run),
		cmocka_unit_test(too_many_numa_nodes_take_our_own_policy_back),
		cmocka_unit_test(too_many_numa_nodes_leave_other_settings_of_ours),
		cmocka_unit_test(what_is_ours_gives_way),
		cmocka_unit_test(systemd_is_asked_before_a_value_of_ours_is_taken_back),
		cmocka_unit_test(a_damaged_record_is_no_reason_to_fail),
		cmocka_unit_test(a_variable_counts_as_systemd_has_loaded_it),
		cmocka_unit_test(systemd_is_asked_when_a_drop_in_was_removed),
		cmocka_unit_test(revert_without_its_lock_says_so_once),
		cmocka_unit_test(an_entry_beside_a_damaged_one_is_taken_back),
		cmocka_unit_test(an_edit_without_effect_is_taken_back),
		cmocka_unit_test(what_is_no_file_is_refused_at_once),
		cmocka_unit_test(a_file_that_is_open_for_writing_waits_for_the_next_start),
		cmocka_unit_test(a_file_with_a_second_name_is_left_for_the_next_way),
		cmocka_unit_test(a_file_that_cannot_be_read_has_no_value),
		cmocka_unit_test(a_configuration_of_k3s_that_cannot_be_read_has_no_flags),
		cmocka_unit_test(a_large_file_is_understood_and_an_empty_one_waited_for),
		cmocka_unit_test(an_immutable_file_is_left_for_the_next_way),
		cmocka_unit_test(a_full_disk_leaves_the_old_file_whole),
		cmocka_unit_test(the_label_is_kept),
		cmocka_unit_test(a_program_that_hangs_fails_or_says_nothing_is_no_answer),
		cmocka_unit_test(a_program_is_run_where_pidfd_open_is_forbidden),
		cmocka_unit_test(what_a_program_starts_ends_with_it),
		cmocka_unit_test(a_flood_of_output_is_cut),
		cmocka_unit_test(versions_are_read_from_what_is_printed),
		cmocka_unit_test(a_version_is_asked_for_once_and_again_when_the_file_is_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
