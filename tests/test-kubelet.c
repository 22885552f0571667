/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet: what is read from a kubelet's files, and what an edit leaves of them.
 *
 * Every input is put into a folder of its own, which is a node to the code under test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <sched.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "../src/kubelet/edit.h"
#include "../src/kubelet/find.h"
#include "../src/kubelet/look.h"
#include "../src/kubelet/yaml.h"
#include "../src/model/paths.h"
#include "../src/os/unit-file.h"
#include "kubelet-root.h"
#include "skip.h"

#define JSON(behind_kind, more)                                                                    \
	"{\"kind\":\"KubeletConfiguration\"" behind_kind                                           \
	",\"apiVersion\":\"kubelet.config.k8s.io/v1beta1\"" more "}"

struct layout_text {
	const char *data;
	size_t size;
};
#define TEXT(s) { s, sizeof(s) - 1 }
#define SAME    { NULL, 0 }

/* Nothing but the file itself is left in its folder. */
static void assert_alone(const struct root *root)
{
	_cleanup_(fs_names_done) struct fs_names names = {};

	assert_int_equal(fs_list(&root->fs, "var/lib/kubelet", &names), 0);
	assert_int_equal(names.n_names, 1);
}

/* A recorder that puts what it receives into another folder. */
static void on_read(void *userdata, enum record_kind kind, const char *path, const char *data,
		    size_t size)
{
	struct root *to = userdata;

	if (kind == RECORD_FOLDER)
		assert_true(fs_make_folders(&to->fs, path) >= 0);
	else if (kind == RECORD_FILE)
		put(to, path, data, size);
	else
		put_link(to, path, data);
}

/* What would be done, and nothing done. */
static struct verdict look_for(const struct fs *fs, enum topology_policy want,
			       struct kubelet_found *ret)
{
	const struct config c = { .kubelet.topology_policy = want };
	struct kubelet_decision d;

	assert_int_equal(kubelet_find(fs, false, ret, NULL), 0);
	kubelet_decide(&c, ret, &d);
	return verdict_of(&d.items[KUBELET_TOPOLOGY_POLICY], KUBELET_TOPOLOGY_POLICY);
}

static enum topology_policy policy_of(const struct fs *fs)
{
	struct kubelet_found k;

	look_for(fs, TOPOLOGY_POLICY_BEST_EFFORT, &k);
	return k.seen.values[KUBELET_TOPOLOGY_POLICY].rank;
}

static void assert_capture_tells_the_same(struct root *root, const char *secret)
{
	_cleanup_(root_done) struct root copy_of = {};
	struct kubelet_found k = {}, again = {};
	struct verdict v, w;
	char command[PATH_MAX];

	root_open(&copy_of);
	root->fs.on_read = on_read;
	root->fs.userdata = &copy_of;
	v = look_for(&root->fs, TOPOLOGY_POLICY_SINGLE_NUMA_NODE, &k);
	root->fs.on_read = NULL;

	w = look_for(&copy_of.fs, TOPOLOGY_POLICY_SINGLE_NUMA_NODE, &again);
	assert_int_equal(again.seen.is_there, k.seen.is_there);
	for (int s = 0; s < _KUBELET_SETTING_N; s++) {
		assert_int_equal(again.seen.values[s].rank, k.seen.values[s].rank);
		assert_int_equal(again.seen.values[s].source, k.seen.values[s].source);
		assert_int_equal(again.seen.values[s].line, k.seen.values[s].line);
		assert_string_equal(again.seen.values[s].path, k.seen.values[s].path);
	}
	assert_string_equal(again.seen.file, k.seen.file);
	assert_string_equal(again.seen.folder, k.seen.folder);
	assert_string_equal(again.seen.problem, k.seen.problem);
	assert_string_equal(again.seen.node_ip, k.seen.node_ip);
	assert_string_equal(again.seen.address_problem, k.seen.address_problem);
	assert_int_equal(again.seen.is_waiting, k.seen.is_waiting);
	assert_string_equal(again.seen.pod_folder, k.seen.pod_folder);
	assert_string_equal(again.seen.vke_rdma_mode.value, k.seen.vke_rdma_mode.value);
	assert_string_equal(again.seen.host_name, k.seen.host_name);
	assert_string_equal(again.seen.root_dir, k.seen.root_dir);
	assert_string_equal(again.seen.flannel_iface, k.seen.flannel_iface);
	assert_memory_equal(&again.seen.servers, &k.seen.servers, sizeof(k.seen.servers));
	assert_string_equal(again.extra.path, k.extra.path);
	assert_string_equal(again.drop_in, k.drop_in);
	assert_string_equal(again.rancher_path, k.rancher_path);
	assert_memory_equal(&again.seen.cpus, &k.seen.cpus, sizeof(k.seen.cpus));
	assert_int_equal(again.start.max_numa_nodes, k.start.max_numa_nodes);
	assert_int_equal(w.outcome, v.outcome);
	assert_int_equal(w.row, v.row);
	assert_int_equal(w.reason, v.reason);
	assert_string_equal(w.path, v.path);
	assert_string_equal(w.detail, v.detail);

	if (secret) {
		snprintf(command, sizeof(command), "grep -rqF '%s' %s", secret, copy_of.path);
		assert_int_not_equal(system(command), 0);
		snprintf(command, sizeof(command), "grep -rqF '%s' %s", secret, root->path);
		assert_int_equal(system(command), 0);
	}
}

#define NONE        TOPOLOGY_POLICY_NONE
#define UNSET       TOPOLOGY_POLICY_UNSET
#define BEST_EFFORT TOPOLOGY_POLICY_BEST_EFFORT
#define BOM         "\xEF\xBB\xBF"

/* Outcome and policy before; "out" is what is in the file afterwards when best-effort is asked for.
 */
static const struct {
	const char *name;
	struct layout_text in, out;
	enum kubelet_outcome outcome;
	enum topology_policy before;
} files[] = {
	/* plain */
	{ "absent", TEXT(HEAD), TEXT(HEAD KEY ": best-effort\n"), KUBELET_CHANGED, NONE },
	{ "absent, more follows",
	  TEXT(HEAD "cgroupDriver: systemd # x\nfeatureGates:\n  A: true\n"),
	  TEXT(HEAD KEY ": best-effort\ncgroupDriver: systemd # x\nfeatureGates:\n  A: true\n"),
	  KUBELET_CHANGED, NONE },
	{ "none", TEXT(HEAD KEY ": none\n"), TEXT(HEAD KEY ": best-effort\n"), KUBELET_CHANGED,
	  NONE },
	{ "spacing and comment are kept", TEXT(HEAD KEY ":    none   # keep me\n"),
	  TEXT(HEAD KEY ":    best-effort   # keep me\n"), KUBELET_CHANGED, NONE },
	{ "kind last without newline", TEXT(API "kind: KubeletConfiguration"),
	  TEXT(API "kind: KubeletConfiguration\n" KEY ": best-effort"), KUBELET_CHANGED, NONE },
	{ "kind with comment", TEXT(API "kind: KubeletConfiguration # c\nx: 1\n"),
	  TEXT(API "kind: KubeletConfiguration # c\n" KEY ": best-effort\nx: 1\n"), KUBELET_CHANGED,
	  NONE },
	{ "kind on the next line", TEXT("kind:\n  KubeletConfiguration\n" API),
	  TEXT("kind:\n  KubeletConfiguration\n" KEY ": best-effort\n" API), KUBELET_CHANGED,
	  NONE },
	{ "kind first and quoted", TEXT("\"kind\": 'KubeletConfiguration'\n" API),
	  TEXT("\"kind\": 'KubeletConfiguration'\n" KEY ": best-effort\n" API), KUBELET_CHANGED,
	  NONE },
	{ "no final newline", TEXT(HEAD KEY ": none"), TEXT(HEAD KEY ": best-effort"),
	  KUBELET_CHANGED, NONE },
	{ "single quotes", TEXT(HEAD KEY ": 'none'\n"), TEXT(HEAD KEY ": 'best-effort'\n"),
	  KUBELET_CHANGED, NONE },
	{ "double quotes", TEXT(HEAD KEY ": \"none\" #c\n"),
	  TEXT(HEAD KEY ": \"best-effort\" #c\n"), KUBELET_CHANGED, NONE },
	{ "escapes in the value", TEXT(HEAD KEY ": \"n\\x6fne\"\n"),
	  TEXT(HEAD KEY ": \"best-effort\"\n"), KUBELET_CHANGED, NONE },
	{ "escapes in the key", TEXT(HEAD "\"topology\\u004danagerPolicy\": none\n"),
	  TEXT(HEAD "\"topology\\u004danagerPolicy\": best-effort\n"), KUBELET_CHANGED, NONE },
	{ "empty value", TEXT(HEAD KEY ":\n"), TEXT(HEAD KEY ": best-effort\n"), KUBELET_CHANGED,
	  NONE },
	{ "empty value and comment", TEXT(HEAD KEY ": # comment\nx: 1\n"),
	  TEXT(HEAD KEY ": best-effort # comment\nx: 1\n"), KUBELET_CHANGED, NONE },
	{ "empty value at the end", TEXT(HEAD KEY ":"), TEXT(HEAD KEY ": best-effort"),
	  KUBELET_CHANGED, NONE },
	{ "tilde", TEXT(HEAD KEY ": ~\n"), TEXT(HEAD KEY ": best-effort\n"), KUBELET_CHANGED,
	  NONE },
	{ "null", TEXT(HEAD KEY ": null\n"), TEXT(HEAD KEY ": best-effort\n"), KUBELET_CHANGED,
	  NONE },
	{ "empty string", TEXT(HEAD KEY ": \"\"\n"), TEXT(HEAD KEY ": \"best-effort\"\n"),
	  KUBELET_CHANGED, NONE },
	{ "value on the next line", TEXT(HEAD KEY ":\n  none\nx: 1\n"),
	  TEXT(HEAD KEY ":\n  best-effort\nx: 1\n"), KUBELET_CHANGED, NONE },
	{ "a tab before the value", TEXT(HEAD KEY ":\tnone\n"), TEXT(HEAD KEY ":\tbest-effort\n"),
	  KUBELET_CHANGED, NONE },
	{ "wrong case is another key", TEXT(HEAD "TopologyManagerPolicy: best-effort\n"),
	  TEXT(HEAD KEY ": best-effort\nTopologyManagerPolicy: best-effort\n"), KUBELET_CHANGED,
	  NONE },
	{ "a comment is no key", TEXT(HEAD "# " KEY ": none\n"),
	  TEXT(HEAD KEY ": best-effort\n# " KEY ": none\n"), KUBELET_CHANGED, NONE },
	{ "another key begins like it",
	  TEXT(HEAD "topologyManagerPolicyOptions:\n  prefer-closest-numa-nodes: '1'\n"),
	  TEXT(HEAD KEY
	       ": best-effort\ntopologyManagerPolicyOptions:\n  prefer-closest-numa-nodes: '1'\n"),
	  KUBELET_CHANGED, NONE },
	{ "unknown fields and duplicates of others", TEXT(HEAD "zz: 1\nzz: 2\n" KEY ": none\n"),
	  TEXT(HEAD "zz: 1\nzz: 2\n" KEY ": best-effort\n"), KUBELET_CHANGED, NONE },

	/* line ends, marks, characters */
	{ "CRLF with BOM",
	  TEXT(BOM "kind: KubeletConfiguration\r\napiVersion: kubelet.config.k8s.io/v1beta1"
		   "\r\n" KEY ": 'none'   # keep me\r\n"),
	  TEXT(BOM "kind: KubeletConfiguration\r\napiVersion: kubelet.config.k8s.io/v1beta1\r\n" KEY
		   ": 'best-effort'   # keep me\r\n"),
	  KUBELET_CHANGED, NONE },
	{ "CRLF with BOM, absent",
	  TEXT(BOM "kind: KubeletConfiguration\r\napiVersion: kubelet.config.k8s.io/v1beta1\r\n"),
	  TEXT(BOM "kind: KubeletConfiguration\r\n" KEY
		   ": best-effort\r\napiVersion: kubelet.config.k8s.io/v1beta1\r\n"),
	  KUBELET_CHANGED, NONE },
	{ "CRLF, kind last without one",
	  TEXT("apiVersion: kubelet.config.k8s.io/v1beta1\r\nkind: KubeletConfiguration"),
	  TEXT("apiVersion: kubelet.config.k8s.io/v1beta1\r\nkind: KubeletConfiguration\r\n" KEY
	       ": best-effort"),
	  KUBELET_CHANGED, NONE },
	{ "CR alone",
	  TEXT("apiVersion: kubelet.config.k8s.io/v1beta1\rkind: KubeletConfiguration\rx: 1\r"),
	  TEXT("apiVersion: kubelet.config.k8s.io/v1beta1\rkind: KubeletConfiguration\r" KEY
	       ": best-effort\rx: 1\r"),
	  KUBELET_CHANGED, NONE },
	{ "characters of several bytes before it",
	  TEXT(HEAD "# \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\nx: \"\xE4\xB8\xAD\"\n" KEY
		    ": none # \xC3\xA9\n"),
	  TEXT(HEAD "# \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\nx: \"\xE4\xB8\xAD\"\n" KEY
		    ": best-effort # \xC3\xA9\n"),
	  KUBELET_CHANGED, NONE },
	{ "all keys indented",
	  TEXT("  apiVersion: kubelet.config.k8s.io/v1beta1\n  kind: KubeletConfiguration\n"
	       "  x: 1\n"),
	  TEXT("  apiVersion: kubelet.config.k8s.io/v1beta1\n  kind: KubeletConfiguration\n  " KEY
	       ": best-effort\n  x: 1\n"),
	  KUBELET_CHANGED, NONE },

	/* what looks like the key */
	{ "quoted continuation at column 0", TEXT(HEAD "clusterDomain: \"a\n" KEY ": none\nb\"\n"),
	  TEXT(HEAD KEY ": best-effort\nclusterDomain: \"a\n" KEY ": none\nb\"\n"), KUBELET_CHANGED,
	  NONE },
	{ "single-quoted continuation", TEXT(HEAD "clusterDomain: 'it''s\n" KEY ": none\nb'\n"),
	  TEXT(HEAD KEY ": best-effort\nclusterDomain: 'it''s\n" KEY ": none\nb'\n"),
	  KUBELET_CHANGED, NONE },
	{ "flow mapping with the key at column 0",
	  TEXT(HEAD "kubeReserved: {cpu: 1,\n" KEY ": none}\n"),
	  TEXT(HEAD KEY ": best-effort\nkubeReserved: {cpu: 1,\n" KEY ": none}\n"), KUBELET_CHANGED,
	  NONE },
	{ "block scalar with the key, no final newline",
	  TEXT(HEAD "clusterDomain: |\n  " KEY ": none\n  # " KEY ": none"),
	  TEXT(HEAD KEY ": best-effort\nclusterDomain: |\n  " KEY ": none\n  # " KEY ": none"),
	  KUBELET_CHANGED, NONE },
	{ "folded scalar with the key", TEXT(HEAD "clusterDomain: >+\n  " KEY ": none\n\n\n"),
	  TEXT(HEAD KEY ": best-effort\nclusterDomain: >+\n  " KEY ": none\n\n\n"), KUBELET_CHANGED,
	  NONE },
	{ "nested mapping with the key", TEXT(HEAD "a:\n  " KEY ": restricted\n"),
	  TEXT(HEAD KEY ": best-effort\na:\n  " KEY ": restricted\n"), KUBELET_CHANGED, NONE },
	{ "list at the parent's indent", TEXT(HEAD "a:\n- " KEY ": none\n" KEY ": none\n"),
	  TEXT(HEAD "a:\n- " KEY ": none\n" KEY ": best-effort\n"), KUBELET_CHANGED, NONE },
	{ "plain scalar with an apostrophe", TEXT(HEAD "a: it's\n" KEY ": none\nb: it's\n"),
	  TEXT(HEAD "a: it's\n" KEY ": best-effort\nb: it's\n"), KUBELET_CHANGED, NONE },
	{ "nested anchor and tag", TEXT(HEAD "a: &x {b: !!str c}\n" KEY ": none\n"),
	  TEXT(HEAD "a: &x {b: !!str c}\n" KEY ": best-effort\n"), KUBELET_CHANGED, NONE },

	/* duplicates: the last one counts */
	{ "none, then best-effort", TEXT(HEAD KEY ": none\n# c\n" KEY ": best-effort\n"), SAME,
	  KUBELET_SATISFIED, BEST_EFFORT },
	{ "best-effort, then none", TEXT(HEAD KEY ": best-effort\n# c\n" KEY ": none\n"),
	  TEXT(HEAD KEY ": best-effort\n# c\n" KEY ": best-effort\n"), KUBELET_CHANGED, NONE },
	{ "restricted, then nothing", TEXT(HEAD KEY ": restricted\n" KEY ":\n"),
	  TEXT(HEAD KEY ": restricted\n" KEY ": best-effort\n"), KUBELET_CHANGED, NONE },
	{ "quoted, then plain", TEXT(HEAD "'" KEY "': restricted\n" KEY ": none\n"),
	  TEXT(HEAD "'" KEY "': restricted\n" KEY ": best-effort\n"), KUBELET_CHANGED, NONE },

	/* documents */
	{ "marker and comment before", TEXT("# c\n---\n" HEAD KEY ": none\n"),
	  TEXT("# c\n---\n" HEAD KEY ": best-effort\n"), KUBELET_CHANGED, NONE },
	{ "key only in the second document", TEXT(HEAD "---\n" HEAD KEY ": restricted\n"),
	  TEXT(HEAD KEY ": best-effort\n---\n" HEAD KEY ": restricted\n"), KUBELET_CHANGED, NONE },
	{ "key behind the document's end", TEXT(HEAD "...\n" KEY ": restricted\n"),
	  TEXT(HEAD KEY ": best-effort\n...\n" KEY ": restricted\n"), KUBELET_CHANGED, NONE },
	{ "second document is broken", TEXT(HEAD "---\n{[\n"),
	  TEXT(HEAD KEY ": best-effort\n---\n{[\n"), KUBELET_CHANGED, NONE },

	/* misspelt: the kubelet would not start with it */
	{ "wrong case of the value", TEXT(HEAD KEY ": Best-Effort\n"),
	  TEXT(HEAD KEY ": best-effort\n"), KUBELET_CHANGED, UNSET },
	{ "a blank in the quotes", TEXT(HEAD KEY ": \"none \" # c\n"),
	  TEXT(HEAD KEY ": \"best-effort\" # c\n"), KUBELET_CHANGED, UNSET },

	/* satisfied */
	{ "best-effort", TEXT(HEAD KEY ": best-effort\n"), SAME, KUBELET_SATISFIED, BEST_EFFORT },
	{ "best-effort, quoted", TEXT(HEAD KEY ": \"best-effort\"\n"), SAME, KUBELET_SATISFIED,
	  BEST_EFFORT },
	{ "restricted", TEXT(HEAD KEY ": restricted\n"), SAME, KUBELET_SATISFIED,
	  TOPOLOGY_POLICY_RESTRICTED },
	{ "single-numa-node", TEXT(HEAD KEY ": single-numa-node # theirs\n"), SAME,
	  KUBELET_SATISFIED, TOPOLOGY_POLICY_SINGLE_NUMA_NODE },
	{ "stripped block that says it", TEXT(HEAD KEY ": >-\n  best-effort\n"), SAME,
	  KUBELET_SATISFIED, BEST_EFFORT },

	/* refused: values */
	{ "a boolean", TEXT(HEAD KEY ": no\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "a stricter one, misspelt", TEXT(HEAD KEY ": Restricted\n"), SAME, KUBELET_REFUSED,
	  UNSET },
	{ "comment without a blank", TEXT(HEAD KEY ": best-effort#x\n"), SAME, KUBELET_REFUSED,
	  UNSET },
	{ "clipped block ends in newline", TEXT(HEAD KEY ": |\n  best-effort\n"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "folded block ends in newline", TEXT(HEAD KEY ": >\n  best-effort\n"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "stripped block", TEXT(HEAD KEY ": >-\n  none\nx: 1\n"),
	  TEXT(HEAD KEY ": best-effort\nx: 1\n"), KUBELET_CHANGED, NONE },
	{ "stripped literal block with a comment, nothing behind it",
	  TEXT(HEAD KEY ":  |- # c\n    none"), TEXT(HEAD KEY ":  best-effort # c"),
	  KUBELET_CHANGED, NONE },
	{ "stripped block and empty lines", TEXT(HEAD KEY ": >-\n\n  none\n\n# c\nx: 1\n"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "a mapping", TEXT(HEAD KEY ": {a: b}\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "a list", TEXT(HEAD KEY ":\n- none\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "several lines", TEXT(HEAD KEY ": none\n  more\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "a hidden NUL", TEXT(HEAD KEY ": \"best-effort\\0x\"\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "a vendor's value", TEXT(HEAD KEY ": enhanced-static\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "anchor on the value", TEXT(HEAD KEY ": &a none\n"), SAME, KUBELET_REFUSED, NONE },
	{ "tag on the value", TEXT(HEAD KEY ": !!str none\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "tag without a value", TEXT(HEAD KEY ": !!null\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "alias as the value", TEXT(HEAD "a: &a none\n" KEY ": *a\n"), SAME, KUBELET_REFUSED,
	  NONE },

	/* refused: structure */
	{ "merge key", TEXT(HEAD "a: &k {" KEY ": none}\n" KEY ": best-effort\n<<: *k\n"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "merge key before the key",
	  TEXT(HEAD "a: &k {" KEY ": none}\n<<: *k\n" KEY ": best-effort\n"), SAME, KUBELET_REFUSED,
	  UNSET },
	{ "merge of a literal mapping", TEXT(HEAD KEY ": best-effort\n<<: {" KEY ": none}\n"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "merge by tag", TEXT(HEAD KEY ": best-effort\n!!merge x: {" KEY ": none}\n"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "alias elsewhere", TEXT(HEAD "a: &a 1\nb: [*a]\n"), SAME, KUBELET_REFUSED, NONE },
	{ "alias as key", TEXT(HEAD "a: &a " KEY "\n*a : restricted\n"), SAME, KUBELET_SATISFIED,
	  TOPOLOGY_POLICY_RESTRICTED },
	{ "anchor on the key", TEXT(HEAD "&a " KEY ": none\n"), SAME, KUBELET_REFUSED, NONE },
	{ "tag on the key", TEXT(HEAD "!!str " KEY ": none\n"), SAME, KUBELET_REFUSED, NONE },
	{ "complex key", TEXT(HEAD "? " KEY "\n: none\n"), SAME, KUBELET_REFUSED, NONE },
	{ "complex kind", TEXT("? kind\n: KubeletConfiguration\n" API), SAME, KUBELET_REFUSED,
	  NONE },
	{ "list as key", TEXT(HEAD "? [a]\n: b\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "tagged document", TEXT("--- !!map\n" HEAD), SAME, KUBELET_REFUSED, NONE },
	{ "flow mapping on the marker's line", TEXT("--- {kind: KubeletConfiguration}\n"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "flow mapping below a comment",
	  TEXT("# c\n{kind: KubeletConfiguration, apiVersion: kubelet.config.k8s.io/v1beta1}\n"),
	  SAME, KUBELET_REFUSED, NONE },
	{ "directive", TEXT("%YAML 1.1\n---\n" HEAD), SAME, KUBELET_REFUSED, NONE },
	{ "tag directive", TEXT("%TAG !e! tag:example.com,2000:\n---\n" HEAD), SAME,
	  KUBELET_REFUSED, NONE },
	{ "percent sign in the middle", TEXT(HEAD "%x\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "dedent below the first key",
	  TEXT("  apiVersion: kubelet.config.k8s.io/v1beta1\n"
	       "  kind: KubeletConfiguration\n" KEY ": none\n"),
	  SAME, KUBELET_REFUSED, UNSET },
	{ "no blank behind the colon", TEXT(HEAD KEY ":none\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "tab as indentation", TEXT(HEAD "a:\n\tb: c\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "open quote", TEXT(HEAD "a: \"b\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "JSON with a comment", TEXT(JSON("", "") "# c\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "JSON with a comma too many", TEXT(JSON("", ",")), SAME, KUBELET_REFUSED, UNSET },
	{ "JSON and more", TEXT(JSON("", "") "{}"), SAME, KUBELET_REFUSED, UNSET },
	{ "JSON and a document", TEXT(JSON("", "") "\n---\n" HEAD), SAME, KUBELET_REFUSED, UNSET },
	{ "JSON with single quotes", TEXT("{'kind': 'KubeletConfiguration'}"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "JSON without an end", TEXT("{\"kind\": \"KubeletConfiguration\""), SAME, KUBELET_REFUSED,
	  UNSET },
	{ "JSON of another kind", TEXT("{\"kind\": \"Config\", \"apiVersion\": \"v1\"}"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "JSON with a number as the value", TEXT(JSON("", ",\"" KEY "\":1")), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "JSON with an object as the value", TEXT(JSON("", ",\"" KEY "\":{}")), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "JSON with half a surrogate", TEXT(JSON("", ",\"a\":\"\\ud83d\"")), SAME, KUBELET_REFUSED,
	  UNSET },
	{ "JSON behind a BOM", TEXT(BOM JSON("", "")), SAME, KUBELET_REFUSED, NONE },

	/* JSON */
	{ "JSON, compact, absent", TEXT(JSON("", "")),
	  TEXT(JSON(",\"" KEY "\":\"best-effort\"", "")), KUBELET_CHANGED, NONE },
	{ "JSON, compact, present", TEXT(JSON("", ",\"" KEY "\":\"none\"")),
	  TEXT(JSON("", ",\"" KEY "\":\"best-effort\"")), KUBELET_CHANGED, NONE },
	{ "JSON behind blanks, pretty",
	  TEXT("\n  {\n  \"kind\": \"KubeletConfiguration\",\n  \"apiVersion\": "
	       "\"kubelet.config.k8s.io/v1beta1\"\n}\n"),
	  TEXT("\n  {\n  \"kind\": \"KubeletConfiguration\",\n  \"" KEY
	       "\": \"best-effort\",\n  \"apiVersion\": \"kubelet.config.k8s.io/v1beta1\"\n}\n"),
	  KUBELET_CHANGED, NONE },
	{ "JSON, the key below another and in a string",
	  TEXT(JSON("", ",\"kubeReserved\":{\"" KEY "\":\"none\"},\"a\":\"\\\"" KEY
			"\\\": \\\"x\\\"\"")),
	  TEXT(JSON(",\"" KEY "\":\"best-effort\"",
		    ",\"kubeReserved\":{\"" KEY "\":\"none\"},\"a\":\"\\\"" KEY
		    "\\\": \\\"x\\\"\"")),
	  KUBELET_CHANGED, NONE },
	{ "JSON, escapes in the key and the value",
	  TEXT(JSON("", ",\"topology\\u004danagerPolicy\" : \"n\\u006fne\"")),
	  TEXT(JSON("", ",\"topology\\u004danagerPolicy\" : \"best-effort\"")), KUBELET_CHANGED,
	  NONE },
	{ "JSON, null", TEXT(JSON("", ",\"" KEY "\":null")),
	  TEXT(JSON("", ",\"" KEY "\":\"best-effort\"")), KUBELET_CHANGED, NONE },
	{ "JSON, twice, the last one counts",
	  TEXT(JSON("", ",\"" KEY "\":\"restricted\",\"" KEY "\":\"none\"")),
	  TEXT(JSON("", ",\"" KEY "\":\"restricted\",\"" KEY "\":\"best-effort\"")),
	  KUBELET_CHANGED, NONE },
	{ "JSON, wrong case is another key", TEXT(JSON("", ",\"TopologyManagerPolicy\":\"x\"")),
	  TEXT(JSON(",\"" KEY "\":\"best-effort\"", ",\"TopologyManagerPolicy\":\"x\"")),
	  KUBELET_CHANGED, NONE },
	{ "JSON, tabs and CRLF",
	  TEXT("{\r\n\t\"apiVersion\":\t\"kubelet.config.k8s.io/v1beta1\",\r\n\t\"kind\":\t"
	       "\"KubeletConfiguration\"\r\n}\r\n"),
	  TEXT("{\r\n\t\"apiVersion\":\t\"kubelet.config.k8s.io/v1beta1\",\r\n\t\"kind\":\t"
	       "\"KubeletConfiguration\",\r\n\t\"" KEY "\":\t\"best-effort\"\r\n}\r\n"),
	  KUBELET_CHANGED, NONE },
	{ "JSON, stricter", TEXT(JSON("", ",\"" KEY "\":\"single-numa-node\"")), SAME,
	  KUBELET_SATISFIED, TOPOLOGY_POLICY_SINGLE_NUMA_NODE },
	{ "JSON, all kinds of values",
	  TEXT(JSON("", ",\"a\":[1,2.5e3,true,false,null,\"\\/"
			"\\t\",{\"b\":[]},[[]]],\"c\":\"\xC3\xA9\"")),
	  TEXT(JSON(",\"" KEY "\":\"best-effort\"", ",\"a\":[1,2.5e3,true,false,null,\"\\/"
						    "\\t\",{\"b\":[]},[[]]],\"c\":\"\xC3\xA9\"")),
	  KUBELET_CHANGED, NONE },

	/* refused: another kind, or none */
	{ "nothing", TEXT(""), SAME, KUBELET_WAITING, UNSET },
	{ "blanks", TEXT(" \n\n"), SAME, KUBELET_WAITING, UNSET },
	{ "comments only", TEXT("# kind: KubeletConfiguration\n"), SAME, KUBELET_WAITING, UNSET },
	{ "marker only", TEXT("---\n"), SAME, KUBELET_WAITING, UNSET },
	{ "empty first document", TEXT("---\n---\n" HEAD), SAME, KUBELET_WAITING, UNSET },
	{ "first document of kubeadm",
	  TEXT("apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\n---\n" HEAD), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "kubeconfig",
	  TEXT("apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user: {token: s3cret}\n"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "kind missing", TEXT(API), SAME, KUBELET_REFUSED, UNSET },
	{ "version missing", TEXT(KIND), SAME, KUBELET_REFUSED, UNSET },
	{ "another version", TEXT("apiVersion: kubelet.config.k8s.io/v1\n" KIND), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "kind twice", TEXT(HEAD KIND), SAME, KUBELET_REFUSED, UNSET },
	{ "kind with a tag", TEXT(API "kind: !!str KubeletConfiguration\n"), SAME, KUBELET_REFUSED,
	  NONE },
	{ "kind as a block", TEXT(API "kind: |-\n  KubeletConfiguration\n"), SAME, KUBELET_REFUSED,
	  UNSET },
	{ "a list of documents", TEXT("- " API "  " KIND), SAME, KUBELET_REFUSED, UNSET },
	{ "a word", TEXT("KubeletConfiguration\n"), SAME, KUBELET_REFUSED, UNSET },

	/* refused: characters */
	{ "U+2028 before the key", TEXT(HEAD "a: b\xE2\x80\xA8" KEY ": none\n"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "U+0085 in a comment", TEXT(HEAD "# c\xC2\x85" KEY ": none\n"), SAME, KUBELET_REFUSED,
	  UNSET },
	{ "U+FEFF inside", TEXT(HEAD BOM KEY ": none\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "NUL", TEXT(HEAD KEY ": none\n\0"), SAME, KUBELET_REFUSED, UNSET },
	{ "Latin-1 in a comment", TEXT(HEAD "# caf\xE9\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "cut UTF-8 at the end", TEXT(HEAD "# \xE2\x82"), SAME, KUBELET_REFUSED, UNSET },
	{ "overlong UTF-8", TEXT(HEAD "# \xC0\xAF\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "surrogate", TEXT(HEAD "# \xED\xA0\x80\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "escape character", TEXT(HEAD "# \x1B[1m\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "UTF-16", TEXT("\xFF\xFEk\0i\0n\0d\0:\0"), SAME, KUBELET_REFUSED, UNSET },
};

static void an_edit_changes_the_value_and_nothing_else(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(files); i++) {
		_cleanup_(root_done) struct root root = {};
		const struct layout_text *out = files[i].out.data ? &files[i].out : &files[i].in;
		const bool is_changed = files[i].outcome == KUBELET_CHANGED;
		struct verdict res;
		struct stat before, after;

		print_message("  %s\n", files[i].name);
		root_open(&root);
		put(&root, FILE_PATH, files[i].in.data, files[i].in.size);
		before = stat_of(&root, FILE_PATH);
		assert_capture_tells_the_same(&root, NULL);

		assert_int_equal(ensure(&root.fs, BEST_EFFORT, 2, &res), 0);
		print_message("    %s\n", res.detail);
		assert_int_equal(res.outcome, files[i].outcome);
		assert_int_equal(res.from, files[i].before);
		assert_int_equal(res.reason, res.outcome == KUBELET_WAITING ? REASON_KUBELET_NO_FILE
					     : res.outcome != KUBELET_REFUSED ? REASON_NONE
					     : res.row == 4 ? REASON_KUBELET_VALUE_UNKNOWN
							    : REASON_KUBELET_FILE_REFUSED);
		assert_string_equal(res.path, "/" FILE_PATH);
		assert_text(&root, FILE_PATH, out->data, out->size);
		assert_alone(&root);
		after = stat_of(&root, FILE_PATH);
		assert_int_equal(before.st_ino == after.st_ino, !is_changed);

		if (is_changed)
			assert_int_equal(policy_of(&root.fs), BEST_EFFORT);

		assert_int_equal(ensure(&root.fs, BEST_EFFORT, 2, &res), 0);
		assert_int_equal(res.outcome, is_changed ? KUBELET_SATISFIED : files[i].outcome);
		assert_text(&root, FILE_PATH, out->data, out->size);
		assert_int_equal(stat_of(&root, FILE_PATH).st_ino, after.st_ino);
	}
}

static void a_file_above_four_mebibytes_is_refused(_unused_ void **state)
{
	static const struct {
		size_t size;
		enum kubelet_outcome outcome;
	} cases[] = { { YAML_MAX_BYTES - 64, KUBELET_CHANGED },
		      { YAML_MAX_BYTES + 1, KUBELET_REFUSED },
		      { 2 * YAML_MAX_BYTES, KUBELET_REFUSED } };

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(root_done) struct root root = {};
		_cleanup_(freep) char *text = malloc(cases[i].size);
		struct verdict res;

		assert_non_null(text);
		memset(text, '#', cases[i].size);
		memcpy(text, HEAD, strlen(HEAD));
		root_open(&root);
		put(&root, FILE_PATH, text, cases[i].size);
		assert_capture_tells_the_same(&root, NULL);

		assert_int_equal(ensure(&root.fs, BEST_EFFORT, 1, &res), 0);
		assert_int_equal(res.outcome, cases[i].outcome);
		if (res.outcome == KUBELET_REFUSED)
			assert_text(&root, FILE_PATH, text, cases[i].size);
	}
}

#define LONG_BYTES ((size_t)1024 * 1024) /* a second at most, and ten with sanitizers */

static void deep_or_long_files_take_no_long_time(_unused_ void **state)
{
	static const char *const units[] = { "[",      "{a: ", "? ",  "- ", KEY ":\n",
					     "a: b\n", "&a ",  "!a ", "'",  "a" };

	for (size_t i = 0; i < ELEMENTSOF(units); i++) {
		_cleanup_(freep) char *text = calloc(1, LONG_BYTES), *out = NULL;
		size_t n = strlen(HEAD), size;

		assert_non_null(text);
		memcpy(text, HEAD, n);
		if (i < 4) /* as the value of some key */
			n += (size_t)sprintf(text + n, "x: ");
		while (n + strlen(units[i]) < LONG_BYTES)
			n += (size_t)sprintf(text + n, "%s", units[i]);

		alarm(20);
		edit_set(text, n, KEY, BE, &out, &size);
		alarm(0);
	}
}

#define UNIT    "usr/lib/systemd/system/kubelet.service"
#define DROP_IN "usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf"
#define KUBEADM                                                                                    \
	"# Note: this dropin only works with kubeadm and kubelet v1.11+\n[Service]\n"              \
	"Environment=\"KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-"  \
	"kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf\"\n"                               \
	"Environment=\"KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml\"\n"              \
	"EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env\n"                                    \
	"EnvironmentFile=-/etc/default/kubelet\n"                                                  \
	"ExecStart=\n"                                                                             \
	"ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS "                \
	"$KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS\n"
#define RESTRICTED TOPOLOGY_POLICY_RESTRICTED
#define CGROUP     "sys/fs/cgroup/system.slice/kubelet.service/cgroup.procs"

struct entry {
	const char *path, *text;
};

#define OWN_UNIT(rest) { UNIT, "[Service]\nExecStart=/usr/bin/kubelet " rest "\n" }
#define EXTRA                                                                                      \
	{ UNIT, "[Service]\nEnvironmentFile=-/etc/default/kubelet\n"                               \
		"ExecStart=/usr/bin/kubelet --config=/" FILE_PATH " $KUBELET_EXTRA_ARGS\n" }
#define PLAIN_UNIT  { UNIT, "[Service]\nExecStart=/usr/bin/kubelet\n" }
#define VERSION(v)  { "run/rdma-provision-kubelet/version", "/usr/bin/kubelet 1 1.1 " v "\n" }
#define DROP_IN_DIR "--config=/" FILE_PATH " --config-dir=/etc/d"
#define ALPHA_UNIT                                                                                 \
	"[Service]\nEnvironment=KUBELET_CONFIG_DROPIN_DIR_ALPHA=1\n"                               \
	"ExecStart=/usr/bin/kubelet " DROP_IN_DIR "\n"
#define CHANGED      KUBELET_CHANGED
#define SATISFIED    KUBELET_SATISFIED
#define REFUSED      KUBELET_REFUSED
#define WAITING      KUBELET_WAITING
#define FLAG_WINS    REASON_KUBELET_FLAG_WINS
#define FILE_REFUSED REASON_KUBELET_FILE_REFUSED
#define UNCLEAR      REASON_KUBELET_UNCLEAR
#define NO_FILE      REASON_KUBELET_NO_FILE
#define RANCHER_DIR  "etc/rancher/k3s/config.yaml.d"

/* The file is always there, without a policy. Best-effort is asked for; @rank: what was found. */
static const struct {
	const char *name;
	struct entry entries[8];
	uint32_t row, rank;
	enum kubelet_outcome outcome;
	enum reason reason;
	enum kubelet_way way;
	const char *path;
	const char *detail; /* a part of it */
} nodes[] = {
	/* units */
	{ "kubeadm",
	  { PLAIN_UNIT, { DROP_IN, KUBEADM } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "is not set" },
	{ "kubeadm with flags of its own",
	  { PLAIN_UNIT,
	    { DROP_IN, KUBEADM },
	    { "var/lib/kubelet/kubeadm-flags.env",
	      "KUBELET_KUBEADM_ARGS=\"--container-runtime-endpoint=unix:///run/c.sock\"\n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },
	{ "without a configuration file, nor a place for flags",
	  { PLAIN_UNIT },
	  12,
	  NONE,
	  REFUSED,
	  FILE_REFUSED,
	  0,
	  "",
	  "neither --config nor a variable" },
	{ "drop-in takes the command back",
	  { OWN_UNIT("--config=/etc/a --topology-manager-policy=none"),
	    { DROP_IN,
	      "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet --config=/" FILE_PATH "\n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },
	{ "two commands",
	  { { UNIT, "[Service]\nExecStart=/bin/a\nExecStart=/usr/bin/kubelet\n" } },
	  12,
	  NONE,
	  REFUSED,
	  UNCLEAR,
	  0,
	  "",
	  "more than one ExecStart=" },
	{ "drop-in of a higher folder, in the order of names",
	  { PLAIN_UNIT,
	    { DROP_IN, "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet --config=/etc/a\n" },
	    { "etc/systemd/system/kubelet.service.d/10-kubeadm.conf",
	      "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet --config=/" FILE_PATH "\n" },
	    { "run/systemd/system/kubelet.service.d/05-x.conf",
	      "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet --config=/etc/b\n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },
	{ "other sections and commands do not count",
	  { { UNIT,
	      "[Unit]\nExecStart=/bin/x\n[Service]\nExecStartPre=/bin/x --config=/y "
	      "--topology-manager-policy=none\nExecStart=/usr/bin/kubelet --config=/" FILE_PATH
	      "\n[Install]\nEnvironment=A=b\n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },
	{ "continued lines with comments between",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet \\\n# --config=/a \\\n  ; c\n"
		    "  --config /" FILE_PATH " \\\n --topology-manager-policy=restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/" UNIT,
	  "/" UNIT ":6: --topology-manager-policy=restricted" },
	{ "prefixes of the program",
	  { { UNIT, "[Service]\nExecStart=-+/usr/bin/kubelet --config=/" FILE_PATH "\n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },
	{ "a program of another name that is called as a kubelet is",
	  { { UNIT, "[Service]\nExecStart=/opt/bin/node-agent --config=/" FILE_PATH "\n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },
	{ "another name for it",
	  { { UNIT,
	      "[Service]\nExecStart=@/usr/bin/kubelet --config=/x --config=/" FILE_PATH "\n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },
	{ "no variables with a colon",
	  { { UNIT, "[Service]\nEnvironment=F=/x\nExecStart=:/usr/bin/kubelet --config=${F}\n" } },
	  12,
	  NONE,
	  REFUSED,
	  UNCLEAR,
	  0,
	  "",
	  "--config=${F} is not understood" },
	{ "a shell",
	  { { UNIT, "[Service]\nExecStart=/bin/sh -c 'exec kubelet --config=/x'\n" } },
	  12,
	  NONE,
	  REFUSED,
	  UNCLEAR,
	  0,
	  "",
	  "/bin/sh" },
	{ "quotes and escapes",
	  { { UNIT, "[Service]\nExecStart=\"/usr/bin/kubelet\" "
		    "'--config=/var/lib/kubelet/config\\x2eyaml' "
		    "--x=\"a b\"\n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },
	{ "an open quote",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet \"--config=/x\n" } },
	  12,
	  NONE,
	  REFUSED,
	  UNCLEAR,
	  0,
	  "",
	  "is not understood" },
	{ "specifiers of the unit's name",
	  { { UNIT, "[Service]\nEnvironmentFile=-/etc/default/%p\nExecStart=/usr/bin/kubelet "
		    "--config=/var/lib/%N/config.yaml $A\n" },
	    { "etc/default/kubelet", "A=--topology-manager-policy=restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/default/kubelet",
	  ":1:" },
	{ "another specifier",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet --config=%S/x\n" } },
	  12,
	  NONE,
	  REFUSED,
	  UNCLEAR,
	  0,
	  "",
	  "/" UNIT ":2: ExecStart= is not understood" },
	{ "a variable that systemd takes away",
	  { { UNIT, "[Service]\nUnsetEnvironment=\nUnsetEnvironment=A\nEnvironment=A=--v=2\n"
		    "ExecStart=/usr/bin/kubelet $A\n" } },
	  12,
	  NONE,
	  REFUSED,
	  UNCLEAR,
	  0,
	  "",
	  "/" UNIT ":3: UnsetEnvironment= is not understood" },
	{ "another specifier in the name of a file",
	  { { UNIT, "[Service]\n\nEnvironmentFile=-%E/default/kubelet\n"
		    "ExecStart=/usr/bin/kubelet $A\n" } },
	  12,
	  NONE,
	  REFUSED,
	  UNCLEAR,
	  0,
	  "",
	  "/" UNIT ":3: EnvironmentFile= is not understood" },
	{ "another specifier in a variable that is not on the command line",
	  { { UNIT, "[Service]\nEnvironment=\"PASSWORD=100%S\"\n"
		    "ExecStart=/usr/bin/kubelet --config=/" FILE_PATH "\n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },

	/* variables */
	{ "$VAR is split with its quotes, ${VAR} is not",
	  { { UNIT,
	      "[Service]\nEnvironment=\"A=--x --config='/" FILE_PATH "'\" \"B=--topology-manager-"
	      "policy=restricted --y\"\nExecStart=/usr/bin/kubelet $A ${B}\n" } },
	  4,
	  UNSET,
	  REFUSED,
	  REASON_KUBELET_VALUE_UNKNOWN,
	  0,
	  "/" UNIT,
	  "restricted --y" },
	{ "${VAR} inside a word",
	  { { UNIT,
	      "[Service]\nEnvironment=P=restricted F=/" FILE_PATH "\nExecStart=/usr/bin/kubelet "
	      "--config=${F} --topology-manager-policy=${P}\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/" UNIT,
	  ":2: --topology-manager-policy=restricted" },
	{ "$VAR inside a word stays, $$ is $",
	  { { UNIT,
	      "[Service]\nEnvironment=P=restricted\nExecStart=/usr/bin/kubelet --config=/" FILE_PATH
	      " --topology-manager-policy=$P --x=$$P\n" } },
	  4,
	  UNSET,
	  REFUSED,
	  REASON_KUBELET_VALUE_UNKNOWN,
	  0,
	  "/" UNIT,
	  "=$P" },
	{ "variables that are not there are nothing",
	  { OWN_UNIT("$NONE --config=/" FILE_PATH "${NONE}") },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },
	{ "files win over Environment=, the last one wins, a reset takes back",
	  { { UNIT,
	      "[Service]\nEnvironmentFile=/etc/gone\nEnvironmentFile=\nEnvironment=A=--topology-"
	      "manager-policy=none\nEnvironmentFile=/etc/1\nEnvironmentFile=/etc/2\n"
	      "ExecStart=/usr/bin/kubelet --config=/" FILE_PATH " $A\n" },
	    { "etc/1", "A=--topology-manager-policy=none\n" },
	    { "etc/2",
	      "A=--topology-manager-policy=none\nA=--topology-manager-policy=restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/2",
	  "/etc/2:2:" },
	{ "files by pattern",
	  { { UNIT,
	      "[Service]\nEnvironmentFile=/etc/kubelet/*.env\nExecStart=/usr/bin/kubelet $A\n" },
	    { "etc/kubelet/a.env", "A=--topology-manager-policy=restricted\n" },
	    { "etc/kubelet/b.conf", "A=--topology-manager-policy=none\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/kubelet/a.env",
	  "" },
	{ "a file that must be there is waited for",
	  { { UNIT, "[Service]\nEnvironmentFile=/etc/eks/kubelet/environment\n"
		    "ExecStart=/usr/bin/kubelet $NODEADM_KUBELET_ARGS\n" } },
	  10,
	  NONE,
	  WAITING,
	  NO_FILE,
	  0,
	  "",
	  "is not there" },
	{ "comments, blank names and rubbish in a file",
	  { EXTRA,
	    { "etc/default/kubelet",
	      "#KUBELET_EXTRA_ARGS=--topology-manager-policy=none\n; x=y\nrubbish\n=x\n1A=b\n"
	      "export B=c\n  KUBELET_EXTRA_ARGS =  '--v=2'  \n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },
	{ "an assignment behind a comment that ends in a backslash",
	  { EXTRA,
	    { "etc/default/kubelet", "# KUBELET_EXTRA_ARGS=\"--v=4\" \\\n"
				     "# c \\\n KUBELET_EXTRA_ARGS=\"--v=2\"\n" } },
	  12,
	  NONE,
	  REFUSED,
	  UNCLEAR,
	  0,
	  "/" FILE_PATH,
	  "/etc/default/kubelet:3: " },
	{ "an assignment behind a comment that goes on over a line",
	  { EXTRA,
	    { "etc/default/kubelet", "#KUBELET_EXTRA_ARGS=\"--v=4 \\\n  --logtostderr \\\n"
				     "KUBELET_EXTRA_ARGS=\"--v=2\"\n" } },
	  12,
	  NONE,
	  REFUSED,
	  UNCLEAR,
	  0,
	  "/" FILE_PATH,
	  "/etc/default/kubelet:3: " },
	{ "lines behind backslashes that each systemd reads alike",
	  { EXTRA,
	    { "etc/default/kubelet",
	      "# a \\\n# b\nB=b\n# c \\\\\nC=c\n; d \\\r\nD=d\n# e \\\n\nE=e\n# f \\\nrubbish "
	      "\\\\\n"
	      "F=f\nrubbish \\\nKUBELET_EXTRA_ARGS=--topology-manager-policy=none\n" } },
	  5,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_TOKEN,
	  "/etc/default/kubelet",
	  ":15: " },
	{ "a flag on a continued line",
	  { EXTRA,
	    { "etc/default/kubelet", "KUBELET_EXTRA_ARGS=--v=2 \\\n"
				     " --topology-manager-policy \\\n restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/default/kubelet",
	  ":3:" },

	/* flags */
	{ "flag in a file of variables",
	  { EXTRA,
	    { "etc/default/kubelet",
	      "# c\nKUBELET_EXTRA_ARGS=\"--v=2 --topology-manager-policy=none\"\n" } },
	  5,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_TOKEN,
	  "/etc/default/kubelet",
	  "/etc/default/kubelet:2: --topology-manager-policy=none" },
	{ "flag with underscores, the last of two lines",
	  { EXTRA,
	    { "etc/default/kubelet", "KUBELET_EXTRA_ARGS=--topology-manager-policy=restricted\n"
				     "KUBELET_EXTRA_ARGS=\"--topology_manager_policy none\"\n" } },
	  5,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_TOKEN,
	  "/etc/default/kubelet",
	  ":2:" },
	{ "the last of two flags",
	  { EXTRA,
	    { "etc/default/kubelet", "KUBELET_EXTRA_ARGS=--topology-manager-policy=restricted "
				     "--topology-manager-policy=none --v=2\n" } },
	  5,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_TOKEN,
	  "/etc/default/kubelet",
	  "" },
	{ "flag without a value",
	  { EXTRA,
	    { "etc/default/kubelet",
	      "KUBELET_EXTRA_ARGS=\"--topology-manager-policy= --v=2\"\n" } },
	  5,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_TOKEN,
	  "/etc/default/kubelet",
	  "" },
	{ "flag whose name only begins like it",
	  { EXTRA,
	    { "etc/default/kubelet",
	      "KUBELET_EXTRA_ARGS=\"--topology-manager-policy-optionsx=a=b --configs=/x\"\n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },
	{ "flag in the unit, and a variable for more",
	  { { UNIT, "[Service]\nEnvironmentFile=-/etc/default/kubelet\nExecStart=/usr/bin/kubelet "
		    "--topology-manager-policy=none $KUBELET_EXTRA_ARGS\n" } },
	  5,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_EXTRA,
	  "/etc/default/kubelet",
	  "" },
	{ "flag in the unit, and no variable",
	  { OWN_UNIT("--topology-manager-policy=none") },
	  5,
	  NONE,
	  REFUSED,
	  FLAG_WINS,
	  0,
	  "/" UNIT,
	  ":2: --topology-manager-policy=none" },
	{ "flag in a variable of the unit",
	  { { UNIT, "[Service]\nEnvironment=KUBELET_ARGS=--topology-manager-policy=none\n"
		    "ExecStart=/usr/bin/kubelet $KUBELET_ARGS\n" } },
	  5,
	  NONE,
	  REFUSED,
	  FLAG_WINS,
	  0,
	  "/" UNIT,
	  ":2:" },
	{ "flag that is put together of pieces",
	  { { UNIT, "[Service]\nEnvironmentFile=/etc/e\nExecStart=/usr/bin/kubelet "
		    "--topology-manager-policy=${A}${B}\n" },
	    { "etc/e", "A=no\nB=ne\n" } },
	  5,
	  NONE,
	  REFUSED,
	  FLAG_WINS,
	  0,
	  "/etc/e",
	  "" },
	{ "a vendor's word",
	  { EXTRA,
	    { "etc/default/kubelet", "KUBELET_EXTRA_ARGS=--topology-manager-policy=numa-x\n" } },
	  4,
	  UNSET,
	  REFUSED,
	  REASON_KUBELET_VALUE_UNKNOWN,
	  0,
	  "/etc/default/kubelet",
	  "=numa-x" },
	{ "no file, no flag: one is added",
	  { { UNIT, "[Service]\nEnvironmentFile=-/etc/sysconfig/kubelet\n"
		    "ExecStart=/usr/bin/kubelet $KUBELET_EXTRA_ARGS\n" } },
	  11,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_EXTRA,
	  "/etc/sysconfig/kubelet",
	  "" },

	{ "a flag in the unit, and no file of variables that is the kubelet's",
	  { { UNIT, "[Service]\nEnvironmentFile=-/etc/environment\nExecStart=/usr/bin/kubelet "
		    "--topology-manager-policy=none $KUBELET_EXTRA_ARGS\n" } },
	  5,
	  NONE,
	  REFUSED,
	  FLAG_WINS,
	  0,
	  "/" UNIT,
	  ":3: --topology-manager-policy=none" },
	{ "a flag in the unit, and a later file of variables that another program writes",
	  { { UNIT, "[Service]\nEnvironmentFile=-/etc/default/kubelet\n"
		    "EnvironmentFile=-/run/metadata/flatcar\nExecStart=/usr/bin/kubelet "
		    "--topology-manager-policy=none $KUBELET_EXTRA_ARGS\n" },
	    { "run/metadata/flatcar", "COREOS_EC2_IPV4_LOCAL=192.0.2.1\n" } },
	  5,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_EXTRA,
	  "/etc/default/kubelet",
	  "" },

	/* files */
	{ "another file",
	  { OWN_UNIT("--config=/etc/kubernetes/kubelet.conf"),
	    { "etc/kubernetes/kubelet.conf", HEAD KEY ": restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/kubernetes/kubelet.conf",
	  ":3: topologyManagerPolicy: restricted" },
	{ "kubeconfig in its place",
	  { OWN_UNIT("--config \"/etc/kubernetes/kubelet.conf\""),
	    { "etc/kubernetes/kubelet.conf", "apiVersion: v1\nkind: Config\ntoken: s3cret\n" } },
	  4,
	  UNSET,
	  REFUSED,
	  REASON_KUBELET_VALUE_UNKNOWN,
	  0,
	  "/etc/kubernetes/kubelet.conf",
	  "is not a KubeletConfiguration" },
	{ "kubeconfig in its place, and a variable for more",
	  { { UNIT, "[Service]\nEnvironmentFile=-/etc/default/kubelet\nExecStart=/usr/bin/kubelet "
		    "--config=/etc/kubernetes/kubelet.conf $KUBELET_EXTRA_ARGS\n" },
	    { "etc/kubernetes/kubelet.conf", "apiVersion: v1\nkind: Config\n" } },
	  4,
	  UNSET,
	  REFUSED,
	  REASON_KUBELET_VALUE_UNKNOWN,
	  0,
	  "/etc/kubernetes/kubelet.conf",
	  "is not a KubeletConfiguration" },
	{ "file not there",
	  { OWN_UNIT("--config=/etc/kubernetes/absent") },
	  10,
	  NONE,
	  WAITING,
	  NO_FILE,
	  0,
	  "/etc/kubernetes/absent",
	  "/etc/kubernetes/absent is not there" },
	{ "the last of two files",
	  { OWN_UNIT("--config=/a --config=/" FILE_PATH) },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },
	{ "relative file",
	  { OWN_UNIT("--config=k.yaml") },
	  12,
	  NONE,
	  REFUSED,
	  UNCLEAR,
	  0,
	  "",
	  "is not understood" },
	{ "file with dots",
	  { OWN_UNIT("--config=/var/../x") },
	  12,
	  NONE,
	  REFUSED,
	  UNCLEAR,
	  0,
	  "",
	  "is not understood" },
	{ "without a unit the usual places, by content",
	  { { FILE_PATH, "apiVersion: v1\nkind: Config\n" },
	    { "etc/kubernetes/kubelet/config.json",
	      "{\"kind\":\"KubeletConfiguration\",\"apiVersion\":"
	      "\"kubelet.config.k8s.io/v1beta1\"}" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/etc/kubernetes/kubelet/config.json",
	  "" },
	{ "a value that would spoil the terminal",
	  { { FILE_PATH, HEAD KEY ": \"\\e[1m\\n\"\n" } },
	  4,
	  UNSET,
	  REFUSED,
	  REASON_KUBELET_VALUE_UNKNOWN,
	  0,
	  "/" FILE_PATH,
	  ": ?[1m?" },

	{ "a state file of CPUs that are no range",
	  { { FILE_PATH, HEAD "cpuManagerPolicy: static\nkubeReserved: {cpu: 500m}\n" },
	    { "sys/devices/system/cpu/online", EVEN_CPUS "\n" },
	    { "var/lib/kubelet/cpu_manager_state",
	      "{\"policyName\":\"static\",\"defaultCpuSet\":\"" EVEN_CPUS "\"}" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },

	{ "a flag behind the variable for more, which would not win",
	  { { UNIT, "[Service]\nEnvironmentFile=/etc/e\nExecStart=/usr/bin/kubelet "
		    "$KUBELET_EXTRA_ARGS --topology-manager-policy=none\n" },
	    { "etc/e", "KUBELET_EXTRA_ARGS=--v=2\n" } },
	  5,
	  NONE,
	  REFUSED,
	  FLAG_WINS,
	  0,
	  "/" UNIT,
	  "/" UNIT ":3: --topology" },

	/* running */
	{ "running kubelet decides where the unit is not clear",
	  { { UNIT, "[Service]\nExecStart=/bin/start\n" },
	    { CGROUP, "12\n345\n" },
	    { "proc/12/cmdline", "/usr/bin/other" },
	    { "proc/345/cmdline", "/usr/bin/kubelet|--config|/etc/k|--v=2" },
	    { "etc/k", HEAD KEY ": restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/k",
	  "" },
	{ "the last one that was seen does as well",
	  { { UNIT, "[Service]\nExecStart=/bin/start\n" },
	    { "var/lib/rdma-provision-kubelet/cmdline", "/usr/bin/kubelet|--config=/etc/k" },
	    { "etc/k", HEAD KEY ": none\n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/etc/k",
	  "" },
	{ "running kubelet with a flag that nobody wrote",
	  { { UNIT, "[Service]\nExecStart=/bin/start\n" },
	    { CGROUP, "345\n" },
	    { "proc/345/cmdline", "kubelet|--config=/etc/k|--topology_manager_policy|none" } },
	  5,
	  NONE,
	  REFUSED,
	  FLAG_WINS,
	  0,
	  "/proc/345/cmdline",
	  "/proc/345/cmdline: --topology" },
	{ "running kubelet on version 1 groups",
	  { { UNIT, "[Service]\nExecStart=/bin/start\n" },
	    { "sys/fs/cgroup/systemd/system.slice/kubelet.service/cgroup.procs", "345\n" },
	    { "proc/345/cmdline", "kubelet|--config=/etc/a|--config=/etc/k" },
	    { "etc/k", HEAD KEY ": restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/k",
	  "" },
	{ "running kubelet in a slice of its own",
	  { { UNIT, "[Service]\nSlice=runtime.slice\nExecStart=/bin/start\n" },
	    { "sys/fs/cgroup/runtime.slice/kubelet.service/cgroup.procs", "345\n" },
	    { "proc/345/cmdline", "kubelet|--config=/etc/k" },
	    { "etc/k", HEAD KEY ": restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/k",
	  "" },
	{ "running kubelet in a slice below another, which a drop-in names",
	  { { UNIT, "[Service]\nSlice=runtime.slice\nExecStart=/bin/start\n" },
	    { "etc/systemd/system/kubelet.service.d/x.conf", "[Service]\nSlice=kube-node.slice\n" },
	    { "sys/fs/cgroup/kube.slice/kube-node.slice/kubelet.service/cgroup.procs", "345\n" },
	    { "proc/345/cmdline", "kubelet|--config=/etc/k" },
	    { "etc/k", HEAD KEY ": restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/k",
	  "" },
	{ "running kubelet in the control group that its file names",
	  { OWN_UNIT("--config=/etc/k"),
	    { "sys/fs/cgroup/kubelet.slice/cgroup.procs", "12\n345\n" },
	    { "proc/12/cmdline", "/usr/bin/other" },
	    { "proc/345/cmdline", "kubelet|--config=/etc/k" },
	    { "etc/k", HEAD "kubeletCgroups: /kubelet.slice\n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/etc/k",
	  "" },
	{ "running kubelet in the control group that its flag names, on version 1 groups",
	  { OWN_UNIT("--config=/etc/k --kubelet-cgroups=/podruntime/kubelet"),
	    { "sys/fs/cgroup/systemd/podruntime/kubelet/cgroup.procs", "345\n" },
	    { "proc/345/cmdline", "kubelet|--config=/etc/k" },
	    { "etc/k", HEAD "kubeletCgroups: /gone\n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/etc/k",
	  "" },
	{ "a control group that no kubelet is in",
	  { OWN_UNIT("--config=/etc/k"),
	    { "sys/fs/cgroup/systemd/system.slice/cgroup.procs", "12\n" },
	    { "proc/12/cmdline", "/usr/bin/other" },
	    { "etc/k", HEAD "kubeletCgroups: /systemd/system.slice\n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/etc/k",
	  "" },
	{ "a clear unit tells of the next start, whatever runs",
	  { OWN_UNIT("--config=/etc/new"),
	    { CGROUP, "345\n" },
	    { "proc/345/cmdline", "kubelet|--config=/etc/old" },
	    { "etc/new", HEAD KEY ": none\n" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/etc/new",
	  "" },

	/* folder of drop-ins */
	{ "drop-ins, version not known",
	  { OWN_UNIT(DROP_IN_DIR), { "etc/d/x", "" } },
	  7,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_DROP_IN,
	  "/etc/d/90-rdma-provision.conf",
	  "" },
	{ "a drop-in says none, version not known",
	  { OWN_UNIT(DROP_IN_DIR), { "etc/d/99-site.conf", HEAD KEY ": none\n" } },
	  7,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_DROP_IN,
	  "/etc/d/zz-rdma-provision.conf",
	  "" },
	{ "drop-ins, version not known, which may be 1.28: the file",
	  { { UNIT, ALPHA_UNIT }, { "etc/d/x", "" } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },
	{ "a drop-in says none, version not known, which may be 1.28",
	  { { UNIT, ALPHA_UNIT }, { "etc/d/99-site.conf", HEAD KEY ": none\n" } },
	  12,
	  NONE,
	  REFUSED,
	  FILE_REFUSED,
	  0,
	  "/etc/d/99-site.conf",
	  "/etc/d/99-site.conf says none, and the kubelet's version is not known" },
	{ "drop-ins, 1.30",
	  { OWN_UNIT(DROP_IN_DIR), { "etc/d/x", "" }, VERSION("v1.30.4-eks-a18cd3a") },
	  7,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_DROP_IN,
	  "/etc/d/90-rdma-provision.conf",
	  "" },
	{ "drop-ins, a build without version",
	  { OWN_UNIT(DROP_IN_DIR), { "etc/d/x", "" }, VERSION("v0.0.0-master+$Format:%H$") },
	  7,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_DROP_IN,
	  "/etc/d/90-rdma-provision.conf",
	  "" },
	{ "drop-ins, 1.27 has none",
	  { OWN_UNIT(DROP_IN_DIR), { "etc/d/x", "" }, VERSION("v1.27.1") },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },
	{ "drop-ins, 1.28 with an empty folder",
	  { OWN_UNIT(DROP_IN_DIR), { "etc/d/x", "" }, VERSION("v1.28.15") },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/" FILE_PATH,
	  "" },
	{ "drop-ins, 1.28 resets what they do not say",
	  { OWN_UNIT(DROP_IN_DIR),
	    { FILE_PATH, HEAD KEY ": restricted\n" },
	    { "etc/d/a.conf", HEAD },
	    VERSION("v1.28.15") },
	  12,
	  NONE,
	  REFUSED,
	  FILE_REFUSED,
	  0,
	  "/" FILE_PATH,
	  "1.28 reset" },
	{ "a later drop-in says none: a name behind it",
	  { OWN_UNIT(DROP_IN_DIR),
	    { "etc/d/95-site.conf", HEAD KEY ": none\n" },
	    VERSION("v1.33.0") },
	  7,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_DROP_IN,
	  "/etc/d/99-rdma-provision.conf",
	  "95-site.conf:3" },
	{ "nothing comes behind it",
	  { OWN_UNIT(DROP_IN_DIR), { "etc/d/zzz.conf", HEAD KEY ": none\n" }, VERSION("v1.33.0") },
	  12,
	  NONE,
	  REFUSED,
	  FILE_REFUSED,
	  0,
	  "/etc/d/zzz.conf",
	  "zzz.conf:3" },
	{ "a later drop-in is stricter",
	  { OWN_UNIT(DROP_IN_DIR), { "etc/d/99-site.conf", HEAD KEY ": restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/d/99-site.conf",
	  "" },
	{ "null in a drop-in takes back",
	  { OWN_UNIT(DROP_IN_DIR),
	    { FILE_PATH, HEAD KEY ": restricted\n" },
	    { "etc/d/99-site.conf", HEAD KEY ": null\n" },
	    VERSION("v1.31.2") },
	  7,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_DROP_IN,
	  "/etc/d/zz-rdma-provision.conf",
	  "" },
	{ "hidden ones count, other endings do not, the order is by bytes and folders",
	  { OWN_UNIT(DROP_IN_DIR),
	    { "etc/d/.zz.conf", HEAD KEY ": none\n" },
	    { "etc/d/A.CONF", HEAD KEY ": single-numa-node\n" },
	    { "etc/d/b.conf.tmp", HEAD KEY ": single-numa-node\n" },
	    { "etc/d/20-x.conf", HEAD KEY ": restricted\n" },
	    { "etc/d/20-x/9.conf", HEAD KEY ": single-numa-node\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/d/20-x.conf",
	  "" },
	{ "a drop-in without kind ends the kubelet",
	  { OWN_UNIT(DROP_IN_DIR), { "etc/d/a.conf", KEY ": restricted\n" } },
	  4,
	  UNSET,
	  REFUSED,
	  REASON_KUBELET_VALUE_UNKNOWN,
	  0,
	  "/" FILE_PATH,
	  "/etc/d/a.conf: is not a KubeletConfiguration" },
	{ "and a flag is not edited beside it",
	  { EXTRA,
	    { "etc/default/kubelet",
	      "KUBELET_EXTRA_ARGS=\"" DROP_IN_DIR " --topology-manager-policy=none\"\n" },
	    { "etc/d/a.conf", KEY ": restricted\n" } },
	  4,
	  NONE,
	  REFUSED,
	  REASON_KUBELET_VALUE_UNKNOWN,
	  0,
	  "/etc/default/kubelet",
	  "/etc/d/a.conf: is not a KubeletConfiguration" },
	{ "and one with a key twice",
	  { OWN_UNIT(DROP_IN_DIR), { "etc/d/a.conf", HEAD "a: 1\na: 2\n" } },
	  4,
	  UNSET,
	  REFUSED,
	  REASON_KUBELET_VALUE_UNKNOWN,
	  0,
	  "/" FILE_PATH,
	  "/etc/d/a.conf: a key is there twice" },

	{ "and one with a key of a map twice",
	  { OWN_UNIT(DROP_IN_DIR),
	    { "etc/d/a.conf", HEAD "kubeReserved: {cpu: '1', memory: 1Gi, cpu: '2'}\n" } },
	  4,
	  UNSET,
	  REFUSED,
	  REASON_KUBELET_VALUE_UNKNOWN,
	  0,
	  "/" FILE_PATH,
	  "/etc/d/a.conf: a key is there twice" },
	{ "equal keys of two maps",
	  { OWN_UNIT(DROP_IN_DIR),
	    { "etc/d/a.conf", HEAD "kubeReserved: {cpu: '1'}\nsystemReserved: {cpu: '1'}\n" KEY
				   ": restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/d/a.conf",
	  "" },

	/* RKE2, k3s, MicroK8s */
	{ "rke2 with drop-ins of all its units, and of this one",
	  { { "usr/lib/systemd/system/rke2-agent.service",
	      "[Service]\nExecStart=/usr/bin/rke2 agent\n" },
	    { "etc/systemd/system/rke2-.service.d/10-x.conf",
	      "[Service]\nEnvironment=RKE2_CONFIG_FILE=/etc/r.yaml\n" },
	    { "etc/systemd/system/rke2-.service.d/20-x.conf",
	      "[Service]\nEnvironment=RKE2_CONFIG_FILE=/etc/hidden.yaml\n" },
	    { "usr/lib/systemd/system/rke2-agent.service.d/20-x.conf", "[Service]\nNice=1\n" },
	    { "etc/r.yaml", "kubelet-arg: topology-manager-policy=restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/r.yaml",
	  "r.yaml:1:" },
	{ "k3s, version not known",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server\n" } },
	  6,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_RANCHER,
	  "/" RANCHER_DIR "/99-rdma-provision.yaml",
	  "" },
	{ "k3s that runs",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server\n" },
	    { "sys/fs/cgroup/system.slice/k3s.service/cgroup.procs", "77\n" },
	    { "proc/77/cmdline", "/usr/local/bin/k3s server" } },
	  6,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_RANCHER,
	  "/" RANCHER_DIR "/99-rdma-provision.yaml",
	  "" },
	{ "k3s by another name, beside a unit of another program and one that is not enabled",
	  { { "etc/systemd/system/k3s-gpu.service",
	      "[Unit]\nExecStart=/x\n[Service]\nType=notify\nExecStart=/usr/local/bin/k3s \\\n"
	      "    agent \\\n    '--token=x' \\\n" },
	    { "etc/systemd/system/k3s-backup.service", "[Service]\nExecStart=/opt/xk3s\n" },
	    { "etc/systemd/system/multi-user.target.wants/k3s-gpu.service", "" },
	    { "etc/systemd/system/k3s-agent.service", "[Service]\nExecStart=/usr/bin/k3s agent\n" },
	    PLAIN_UNIT },
	  6,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_RANCHER,
	  "/" RANCHER_DIR "/99-rdma-provision.yaml",
	  "" },
	{ "k3s with a name in capitals",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server\n" },
	    { RANCHER_DIR "/5.YAML", "kubelet-arg: [topology-manager-policy=none]\n" },
	    { RANCHER_DIR "/6.Yml", "kubelet-arg: [topology-manager-policy=restricted]\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/" RANCHER_DIR "/6.Yml",
	  "" },
	{ "k3s 1.32",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server\n" },
	    { "run/rdma-provision-kubelet/version", "/usr/local/bin/k3s 1 1.1 v1.32.1+k3s1\n" } },
	  6,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_DROP_IN,
	  "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d/90-rdma-provision.conf",
	  "" },
	{ "k3s with a flag in its configuration",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server\n" },
	    { "etc/rancher/k3s/config.yaml",
	      "token: s3cret\nkubelet-arg:\n- v=2\n- topology-manager-policy=restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/rancher/k3s/config.yaml",
	  "config.yaml:4:" },
	{ "k3s with a file for its kubelet",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server\n" },
	    { "etc/rancher/k3s/config.yaml", "kubelet-arg: config=/etc/kubelet.yaml\n" },
	    { "etc/kubelet.yaml", HEAD "topologyManagerPolicy: restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/kubelet.yaml",
	  "kubelet.yaml:3:" },
	{ "k3s with a folder for its kubelet",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server\n" },
	    { "etc/rancher/k3s/config.yaml", "kubelet-arg: config-dir=/etc/kubelet.d\n" },
	    { "etc/kubelet.d/1.conf", HEAD "topologyManagerPolicy: restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/kubelet.d/1.conf",
	  "1.conf:3:" },
	{ "k3s 1.32 with a folder for its kubelet, of which it keeps a copy",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server\n" },
	    { "run/rdma-provision-kubelet/version", "/usr/local/bin/k3s 1 1.1 v1.32.1+k3s1\n" },
	    { "etc/rancher/k3s/config.yaml", "kubelet-arg: config-dir=/etc/kubelet.d\n" },
	    { "etc/kubelet.d/1.conf", HEAD } },
	  6,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_RANCHER,
	  "/" RANCHER_DIR "/99-rdma-provision.yaml",
	  "" },
	{ "k3s whose variable names its configuration",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nEnvironment=K3S_CONFIG_FILE=/etc/k3s.yaml\n"
	      "ExecStart=/usr/local/bin/k3s server\n" },
	    { "etc/k3s.yaml", "kubelet-arg: v=2\n" } },
	  6,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_RANCHER,
	  "/etc/k3s.yaml.d/99-rdma-provision.yaml",
	  "" },
	{ "k3s whose short flag names its configuration",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server -c /etc/k3s.yaml\n" },
	    { "etc/k3s.yaml", "kubelet-arg: v=2\n" } },
	  6,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_RANCHER,
	  "/etc/k3s.yaml.d/99-rdma-provision.yaml",
	  "" },
	{ "k3s, the variable before the flags, and the first of those",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nEnvironment=K3S_CONFIG_FILE=/etc/k3s.yaml\n"
	      "ExecStart=/usr/local/bin/k3s server --config=/etc/b.yaml\n" },
	    { "etc/k3s.yaml", "kubelet-arg: topology-manager-policy=restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/k3s.yaml",
	  "k3s.yaml:1:" },
	{ "k3s, the first flag",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server -c=/etc/k3s.yaml --config /b\n" },
	    { "etc/k3s.yaml", "kubelet-arg: topology-manager-policy=restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/k3s.yaml",
	  "k3s.yaml:1:" },
	{ "k3s whose variables are empty",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nEnvironment=K3S_CONFIG_FILE= K3S_DATA_DIR=\n"
	      "ExecStart=/usr/local/bin/k3s server\n" },
	    { "run/rdma-provision-kubelet/version", "/usr/local/bin/k3s 1 1.1 v1.32.1+k3s1\n" } },
	  6,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_DROP_IN,
	  "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d/90-rdma-provision.conf",
	  "" },
	{ "k3s whose variable is empty, version not known",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nEnvironment=K3S_CONFIG_FILE=\nExecStart=/usr/local/bin/k3s server\n" } },
	  6,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_RANCHER,
	  "/" RANCHER_DIR "/99-rdma-provision.yaml",
	  "" },
	{ "k3s whose configuration is in the network",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nEnvironment=K3S_CONFIG_FILE=https://a:s3cret@b/k3s.yaml\n"
	      "ExecStart=/usr/local/bin/k3s server\n" } },
	  12,

	  NONE,
	  REFUSED,
	  UNCLEAR,
	  0,
	  "",
	  "is no file by a whole path" },
	{ "a shell before k3s",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/bin/sh -c '/usr/local/bin/k3s server --token=s3cret'\n" } },
	  6,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_RANCHER,
	  "/" RANCHER_DIR "/99-rdma-provision.yaml",
	  "" },
	{ "k3s whose variable names its folder",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nEnvironment=K3S_DATA_DIR=/data\nExecStart=/usr/local/bin/k3s server\n" },
	    { "data/agent/etc/kubelet.conf.d/1.conf",
	      HEAD "topologyManagerPolicy: restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/data/agent/etc/kubelet.conf.d/1.conf",
	  "1.conf:3:" },
	{ "k3s, a later file takes the flags away",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server\n" },
	    { "etc/rancher/k3s/config.yaml", "kubelet-arg: topology-manager-policy=restricted\n" },
	    { RANCHER_DIR "/50.yaml", "kubelet-arg: [v=2]\n" } },
	  6,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_RANCHER,
	  "/" RANCHER_DIR "/99-rdma-provision.yaml",
	  "" },
	{ "k3s, a later file adds to them",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server\n" },
	    { "etc/rancher/k3s/config.yaml", "kubelet-arg: topology-manager-policy=restricted\n" },
	    { RANCHER_DIR "/50.yaml", "kubelet-arg+: [v=2]\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/rancher/k3s/config.yaml",
	  ":1:" },
	{ "k3s, a later file adds other flags to ours",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server\n" },
	    { RANCHER_DIR "/zzz.yaml", "kubelet-arg+: [v=2]\n" } },
	  6,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_RANCHER,
	  "/" RANCHER_DIR "/99-rdma-provision.yaml",
	  "" },
	{ "k3s, a later file takes all flags away",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server\n" },
	    { RANCHER_DIR "/zzz.yaml", "kubelet-arg: [v=2]\n" } },
	  6,
	  NONE,
	  REFUSED,
	  REASON_KUBELET_FILE_REFUSED,
	  0,
	  "",
	  "/zzz.yaml sorts behind each file of ours" },
	{ "k3s, nothing comes behind a file with flags",
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server\n" },
	    { RANCHER_DIR "/zzz.yaml", "kubelet-arg: [topology-manager-policy=none]\n" } },
	  6,
	  NONE,
	  REFUSED,
	  FLAG_WINS,
	  0,
	  "/" RANCHER_DIR "/zzz.yaml",
	  ":1:" },
	{ "k3s with a flag that its unit has: no file comes behind it",
	  { { "etc/systemd/system/k3s.service", "[Service]\nExecStart=/usr/local/bin/k3s server "
						"--kubelet-arg=topology-manager-policy=none\n" },
	    { "etc/rancher/k3s/config.yaml",
	      "kubelet-arg: [topology-manager-policy=restricted]\n" } },
	  6,
	  NONE,
	  REFUSED,
	  FLAG_WINS,
	  0,
	  "/etc/systemd/system/k3s.service",
	  ":2:" },
	{ "k3s with a flag of which it depends on the version whether it is there",
	  { { "etc/systemd/system/k3s.service", "[Service]\nEnvironmentFile=/etc/default/k3s\n"
						"ExecStart=/usr/local/bin/k3s server $FLAGS\n" },
	    { "etc/default/k3s",
	      "# flags \\\nFLAGS=--kubelet-arg=topology-manager-policy=none\n" } },
	  12,
	  NONE,
	  REFUSED,
	  UNCLEAR,
	  0,
	  "",
	  "/etc/default/k3s:2: " },
	{ "rke2 with another data folder",
	  { { "usr/lib/systemd/system/rke2-agent.service",
	      "[Service]\nExecStart=/usr/bin/rke2 agent --data-dir=/data/rke2\n" },
	    { "data/rke2/agent/etc/kubelet.conf.d/00-rke2-defaults.conf",
	      HEAD KEY ": restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/data/rke2/agent/etc/kubelet.conf.d/00-rke2-defaults.conf",
	  "" },
	{ "MicroK8s",
	  { { "etc/systemd/system/snap.microk8s.daemon-kubelite.service",
	      "[Service]\nExecStart=/usr/bin/snap run microk8s.daemon-kubelite\n" },
	    { "var/snap/microk8s/current/args/kubelet",
	      "--v=2\n# --topology-manager-policy=none\n"
	      " \t# --topology-manager-policy=restricted\n" } },
	  11,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_EXTRA,
	  "/var/snap/microk8s/current/args/kubelet",
	  "" },
	{ "Canonical Kubernetes",
	  { { "etc/systemd/system/snap.k8s.kubelet.service",
	      "[Service]\nExecStart=/usr/bin/snap run k8s.kubelet\n" },
	    { "var/snap/k8s/common/args/kubelet", "--v=2\n" } },
	  11,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_EXTRA,
	  "/var/snap/k8s/common/args/kubelet",
	  "" },
	{ "EKS Distro",
	  { { "etc/systemd/system/snap.eks.daemon-kubelet.service",
	      "[Service]\nExecStart=/usr/bin/snap run eks.daemon-kubelet\n" },
	    { "var/snap/eks/current/args/kubelet", "--v=2\n" } },
	  11,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_EXTRA,
	  "/var/snap/eks/current/args/kubelet",
	  "" },
	{ "Charmed Kubernetes",
	  { { "etc/systemd/system/snap.kubelet.daemon.service",
	      "[Service]\nExecStart=/usr/bin/snap run kubelet.daemon\n" },
	    { "var/snap/kubelet/current/args",
	      "--config=\"/root/cdk/kubelet/config.yaml\"\n--node-ip=\"192.0.2.6\"\n" },
	    { "root/cdk/kubelet/config.yaml", HEAD } },
	  9,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_FILE,
	  "/root/cdk/kubelet/config.yaml",
	  "" },
	{ "EKS on Ubuntu, with a flag",
	  { { "etc/systemd/system/snap.kubelet-eks.daemon.service",
	      "[Service]\nExecStart=/usr/bin/snap run kubelet-eks.daemon\n" },
	    { "var/snap/kubelet-eks/current/args",
	      "--config=/etc/k --topology-manager-policy=none\n" },
	    { "etc/k", HEAD } },
	  5,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_TOKEN,
	  "/var/snap/kubelet-eks/current/args",
	  ":1:" },
	{ "MicroK8s with a flag",
	  { { "etc/systemd/system/snap.microk8s.daemon-kubelite.service",
	      "[Service]\nExecStart=/usr/bin/snap run microk8s.daemon-kubelite\n" },
	    { "var/snap/microk8s/current/args/kubelet",
	      "--v=2\n--topology-manager-policy=none\n" } },
	  5,
	  NONE,
	  CHANGED,
	  0,
	  KUBELET_WAY_TOKEN,
	  "/var/snap/microk8s/current/args/kubelet",
	  ":2:" },

	/* others' nodes */
	{ "OpenShift",
	  { OWN_UNIT(DROP_IN_DIR),
	    { "etc/machine-config-daemon/currentconfig", "{}" },
	    VERSION("v1.33.0"),
	    { "etc/d/x", "" } },
	  1,
	  NONE,
	  REFUSED,
	  REASON_KUBELET_MANAGED,
	  0,
	  "/" FILE_PATH,
	  "openshift" },
	{ "Bottlerocket",
	  { OWN_UNIT("--config=/" FILE_PATH), { "etc/os-release", "ID=bottlerocket\n" } },
	  1,
	  NONE,
	  REFUSED,
	  REASON_KUBELET_MANAGED,
	  0,
	  "/" FILE_PATH,
	  "bottlerocket" },
	{ "Talos",
	  { OWN_UNIT("--config=/" FILE_PATH), { "etc/os-release", "NAME=x\nID=\"talos\"\n" } },
	  1,
	  NONE,
	  REFUSED,
	  REASON_KUBELET_MANAGED,
	  0,
	  "/" FILE_PATH,
	  "talos" },
	{ "k0s, before it has written a file",
	  { { "etc/systemd/system/k0sworker.service",
	      "[Service]\nExecStart=/usr/local/bin/k0s worker --profile=gpu\n" } },
	  1,
	  NONE,
	  REFUSED,
	  REASON_KUBELET_MANAGED,
	  0,
	  "/var/lib/k0s/kubelet-config.yaml",
	  "k0s" },
	{ "k0s with a profile that has the policy",
	  { { "etc/systemd/system/k0sworker.service",
	      "[Service]\nExecStart=/usr/local/bin/k0s worker --profile=gpu\n" },
	    { "var/lib/k0s/kubelet-config.yaml", HEAD KEY ": restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/var/lib/k0s/kubelet-config.yaml",
	  "" },
	{ "k0s with a flag that has the policy",
	  { { "etc/systemd/system/k0sworker.service",
	      "[Service]\nExecStart=/usr/local/bin/k0s worker "
	      "--kubelet-extra-args=--topology-manager-policy=restricted\n" },
	    { "var/lib/k0s/kubelet-config.yaml", HEAD } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/systemd/system/k0sworker.service",
	  "/etc/systemd/system/k0sworker.service:2: --topology-manager-policy=restricted" },
	{ "k0s with several flags in one word, and more than a value has room for",
	  { { "etc/systemd/system/k0sworker.service",
	      "[Service]\nExecStart=/usr/local/bin/k0s \"worker\" \"--config=/etc/k0s.yaml\" "
	      "\"--kubelet-extra-args=--node-labels=s3cret="
	      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,"
	      "s3cret/"
	      "b=bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb "
	      "--tls-cert=s3cret --kube-reserved=cpu=500m --v=s3cret "
	      "--image-gc-high-threshold=80 --cpu-manager-policy=static "
	      "--topology-manager-policy=restricted\"\n" },
	    { "var/lib/k0s/kubelet-config.yaml", HEAD } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/systemd/system/k0sworker.service",
	  "/etc/systemd/system/k0sworker.service:2: --topology-manager-policy=restricted" },
	{ "k0s with another data folder",
	  { { "etc/systemd/system/k0sworker.service",
	      "[Service]\nExecStart=/usr/local/bin/k0s worker --data-dir=/data/k0s\n" },
	    { "data/k0s/kubelet-config.yaml", HEAD KEY ": restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/data/k0s/kubelet-config.yaml",
	  "" },
	{ "MicroShift",
	  { { "usr/lib/systemd/system/microshift.service",
	      "[Service]\nWorkingDirectory=/usr/bin/\nExecStart=microshift run\n" },
	    { "var/lib/microshift/resources/kubelet/config/config.yaml", HEAD } },
	  1,
	  NONE,
	  REFUSED,
	  REASON_KUBELET_MANAGED,
	  0,
	  "/var/lib/microshift/resources/kubelet/config/config.yaml",
	  "microshift" },
	{ "OpenShift, as it should be",
	  { OWN_UNIT("--config=/etc/k"),
	    { "etc/machine-config-daemon/currentconfig", "{}" },
	    { "etc/k", HEAD KEY ": restricted\n" } },
	  4,
	  RESTRICTED,
	  SATISFIED,
	  0,
	  0,
	  "/etc/k",
	  "" },
};

static void put_entry(const struct root *root, const struct entry *e)
{
	char text[4096];
	size_t size = strlen(e->text);

	assert_true(COPY(text, e->text));
	if (is_prefix(e->path, "proc/") || strstr(e->path, "kubelet/cmdline")) {
		for (char *c = text; *c; c++)
			*c = *c == '|' ? '\0' : *c;
		size++; /* every word ends in NUL, the last one too */
	}
	put(root, e->path, text, size);
}

static bool is_told_by(const char *path, const struct kubelet_found *k)
{
	for (int s = 0; s < _KUBELET_SETTING_N; s++)
		if (streq(k->seen.values[s].path, path))
			return true;
	return false;
}

static void the_file_or_flag_that_decides_is_found(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(nodes); i++) {
		_cleanup_(root_done) struct root root = {};
		bool has_secret = false;
		struct verdict v;
		struct kubelet_found k;

		print_message("  %s\n", nodes[i].name);
		root_open(&root);
		put_text(&root, FILE_PATH, HEAD);
		for (size_t e = 0; e < ELEMENTSOF(nodes[i].entries) && nodes[i].entries[e].path;
		     e++) {
			put_entry(&root, &nodes[i].entries[e]);
			has_secret |= strstr(nodes[i].entries[e].text, "s3cret") != NULL;
		}

		v = look_for(&root.fs, BEST_EFFORT, &k);
		print_message("    row %u %s %s %s %s: %s\n", v.row,
			      kubelet_outcome_name(v.outcome), reason_code(v.reason),
			      kubelet_way_name(v.way), v.path, v.detail);
		assert_true(k.seen.is_there);
		assert_int_equal(k.seen.is_running,
				 strstr(nodes[i].name, "running") || strstr(nodes[i].name, "runs"));
		assert_int_equal(k.seen.values[0].rank, nodes[i].rank);
		assert_int_equal(v.row, nodes[i].row);
		assert_int_equal(v.outcome, nodes[i].outcome);
		assert_int_equal(v.reason, nodes[i].reason);
		assert_int_equal(v.way, nodes[i].way);
		assert_string_equal(v.path, nodes[i].path);
		assert_non_null(strstr(v.detail, nodes[i].detail));
		assert_capture_tells_the_same(&root, has_secret ? "s3cret" : NULL);

		/* What it says it would do, it does, and then it is done. */
		assert_int_equal(ensure(&root.fs, BEST_EFFORT, 2, &v), 0);
		if (nodes[i].outcome != KUBELET_CHANGED) {
			assert_int_equal(v.outcome, nodes[i].outcome);
			continue;
		}
		assert_int_equal(v.outcome, k.seen.is_running ? KUBELET_DEFERRED : KUBELET_CHANGED);
		assert_int_equal(v.way, nodes[i].way);
		v = look_for(&root.fs, BEST_EFFORT, &k);
		assert_int_equal(v.outcome, KUBELET_SATISFIED);
		assert_true(is_told_by(nodes[i].path, &k));
	}
}

/* The version is one that loads drop-ins. What the link is in its folder counts. */
static void links_in_and_to_the_folder_of_drop_ins_are_the_kubelets(_unused_ void **state)
{
	static const struct {
		const char *name, *link, *target, *folder; /* of --config-dir */
		uint32_t row, rank;
		const char *detail;
	} cases[] = {
		{ "a file", "etc/d/50.conf", "../kubelet-site", "/etc/d", 4, RESTRICTED,
		  "50.conf:3" },
		{ "nowhere: the kubelet would not start", "etc/d/x.conf", "gone", "/etc/d", 4,
		  UNSET, "x.conf: leads nowhere" },
		{ "nowhere, with another ending", "etc/d/x.yaml", "gone", "/etc/d", 7, NONE, "" },
		{ "a folder that ends in .conf", "etc/d/x.conf", "../e", "/etc/d", 4, UNSET,
		  "x.conf" },
		{ "the folder itself: nothing is read", "etc/link", "e", "/etc/link", 9, NONE, "" },
		{ "the folder itself, with a slash", "etc/link", "e", "/etc/link/", 4, RESTRICTED,
		  "a.conf:3" },
		{ "a folder that is not there", "etc/other", "e", "/etc/gone", 9, NONE, "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(root_done) struct root root = {};
		struct verdict v;
		struct kubelet_found k;
		char text[256];

		print_message("  %s\n", cases[i].name);
		root_open(&root);
		snprintf(text, sizeof(text),
			 "[Service]\nExecStart=/usr/bin/kubelet --config=/" FILE_PATH
			 " --config-dir=%s\n",
			 cases[i].folder);
		put_text(&root, UNIT, text);
		put_text(&root, FILE_PATH, HEAD);
		put_text(&root, "etc/d/readme", "");
		put_text(&root, "etc/e/a.conf", HEAD KEY ": restricted\n");
		put_text(&root, "etc/kubelet-site", HEAD KEY ": restricted\n");
		put_text(&root, "run/rdma-provision-kubelet/version",
			 "/usr/bin/kubelet 1 1.1 v1.31.4\n");
		put_link(&root, cases[i].link, cases[i].target);

		v = look_for(&root.fs, BEST_EFFORT, &k);
		print_message("    row %u: %s\n", v.row, v.detail);
		assert_int_equal(v.row, cases[i].row);
		assert_int_equal(k.seen.values[0].rank, cases[i].rank);
		assert_non_null(strstr(v.detail, cases[i].detail));
	}
}

/* As files are when the power went before they were written. */
static void a_nul_in_a_unit_or_its_variables_is_not_understood(_unused_ void **state)
{
	static const char *const paths[] = { "etc/default/kubelet",
					     "usr/lib/systemd/system/kubelet.service.d/x.conf" };
	static const char text[] = "KUBELET_EXTRA_ARGS=--a\0b --\0\0c=1 \0\n";

	for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
		_cleanup_(root_done) struct root root = {};
		struct verdict v;
		struct kubelet_found k;

		root_open(&root);
		put_text(&root, FILE_PATH, HEAD);
		put_text(&root, UNIT,
			 "[Service]\nEnvironmentFile=-/etc/default/kubelet\n"
			 "ExecStart=/usr/bin/kubelet --config=/" FILE_PATH
			 " $KUBELET_EXTRA_ARGS\n");
		put(&root, paths[i], text, sizeof(text) - 1);
		v = look_for(&root.fs, BEST_EFFORT, &k);
		assert_int_equal(v.reason, UNCLEAR);
		assert_non_null(strstr(v.detail, "has a NUL in it"));
	}
}

/* A continuation of a shell, which systemd and MicroK8s do not have there. */
static void a_backslash_at_the_end_of_a_value_or_line_only_goes(_unused_ void **state)
{
	static const char *const values[][2] = {
		{ "etc/default/kubelet", "KUBELET_EXTRA_ARGS='--v=2 \\'\n" },
		{ "etc/default/kubelet", "KUBELET_EXTRA_ARGS=\"--v=2 \\\\\"\n" },
		{ "usr/lib/systemd/system/kubelet.service.d/x.conf",
		  "[Service]\nEnvironment=\"KUBELET_EXTRA_ARGS=--v=2 \\\\\"\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(values); i++) {
		_cleanup_(root_done) struct root root = {};
		struct verdict v;
		struct kubelet_found k;

		root_open(&root);
		put_text(&root, FILE_PATH, HEAD);
		put_text(&root, UNIT,
			 "[Service]\nEnvironmentFile=-/etc/default/kubelet\n"
			 "ExecStart=/usr/bin/kubelet --config=/" FILE_PATH
			 " $KUBELET_EXTRA_ARGS\n");
		put_text(&root, values[i][0], values[i][1]);
		v = look_for(&root.fs, BEST_EFFORT, &k);
		assert_int_not_equal(v.reason, UNCLEAR);
		assert_true(k.seen.is_there);
	}
}

static char *repeat(const char *head, const char *text, size_t n, const char *tail)
{
	char *out = malloc(strlen(head) + n * strlen(text) + strlen(tail) + 1), *at;

	assert_non_null(out);
	at = stpcpy(out, head);
	for (size_t i = 0; i < n; i++)
		at = stpcpy(at, text);
	strcpy(at, tail);
	return out;
}

/* A few KiB that would become many GiB. */
static void a_command_line_that_grows_without_bound_is_not_understood(_unused_ void **state)
{
	static const struct {
		const char *text, *detail;
		size_t n;
		const char *value;
	} cases[] = {
		{ "${A}", "ExecStart= has a word of more than", 20000, "x" },
		{ "$A ", "more variables and flags than", 8000, "x" },
		{ "$B ", "$B: more than 8192 words", 1, "y " },
		{ "%n", "ExecStart= is not understood", 60000, "x" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(root_done) struct root root = {};
		_cleanup_(freep) char *variables = NULL, *unit = NULL;
		struct verdict v;
		struct kubelet_found k;

		root_open(&root);
		put_text(&root, FILE_PATH, HEAD);
		unit = repeat("[Service]\nEnvironmentFile=/etc/default/kubelet\n"
			      "ExecStart=/usr/bin/kubelet --config=/" FILE_PATH " ",
			      cases[i].text, cases[i].n, "\n");
		variables = repeat(streq(cases[i].text, "$B ") ? "B=" : "A=", cases[i].value, 60000,
				   "\n");
		put_text(&root, UNIT, unit);
		put_text(&root, "etc/default/kubelet", variables);
		v = look_for(&root.fs, BEST_EFFORT, &k);
		print_message("    %s\n", v.detail);
		assert_int_equal(v.reason, UNCLEAR);
		assert_non_null(strstr(v.detail, cases[i].detail));
	}
}

static void a_node_without_kubelet_has_none(_unused_ void **state)
{
	_cleanup_(root_done) struct root root = {};
	struct verdict res;
	struct kubelet_found k;

	root_open(&root);
	look_for(&root.fs, BEST_EFFORT, &k);
	assert_false(k.seen.is_there);
	assert_int_equal(ensure(&root.fs, BEST_EFFORT, 1, &res), 0);
	assert_int_equal(res.outcome, KUBELET_SATISFIED); /* there is nobody to want it */

	/* A masked unit starts nothing. */
	put_link(&root, "etc/systemd/system/kubelet.service", "/dev/null");
	put_text(&root, UNIT, "[Service]\nExecStart=/usr/bin/kubelet --config=/a\n");
	look_for(&root.fs, BEST_EFFORT, &k);
	assert_false(k.seen.is_there);
	assert_capture_tells_the_same(&root, NULL);
}

static void a_file_beside_a_masked_unit_may_be_read_by_none(_unused_ void **state)
{
	static const char *const texts[] = { HEAD, HEAD KEY ": single-numa-node\n" };

	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_found k;
		struct verdict res;

		root_open(&root);
		put_link(&root, "etc/systemd/system/kubelet.service", "/dev/null");
		put_text(&root, FILE_PATH, texts[i]);
		res = look_for(&root.fs, BEST_EFFORT, &k);
		assert_int_equal(res.outcome, REFUSED);
		assert_int_equal(res.reason, UNCLEAR);
		assert_string_equal(res.detail, "kubelet.service is masked, and no unit is known "
						"that reads /" FILE_PATH);
		assert_capture_tells_the_same(&root, NULL);
	}
}

#define LONG_LABELS                                                                                \
	"example.com/first=0123456789012345678901234567890123456789012345678901234567890,"         \
	"example.com/second=0123456789012345678901234567890123456789012345678901234567890,"        \
	"example.com/third=0123456789012345678901234567890123456789012345678901234567890,"         \
	"example.com/fourth=0123456789012345678901234567890123456789012345678901234567890,"

static void the_label_of_the_mode_is_read_wherever_flags_are(_unused_ void **state)
{
	static const struct {
		struct entry entries[3];
		const char *mode;
	} rows[] = {
		{ { PLAIN_UNIT }, "" },
		{ { OWN_UNIT("--node-labels=a=b,vke.node.rdma.mode=shared") }, "shared" },
		{ { OWN_UNIT("--node-labels a=b,not.vke.node.rdma.mode=shared") }, "" },
		{ { OWN_UNIT("--node-labels=" LONG_LABELS "vke.node.rdma.mode=exclusive,c=d") },
		  "exclusive" },
		{ { OWN_UNIT("--node-labels=a=b --node-labels=vke.node.rdma.mode=shared-multi") },
		  "shared-multi" },
		{ { PLAIN_UNIT,
		    { "etc/systemd/system/kubelet.service.d/20-labels.conf",
		      "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet "
		      "--node-labels=vke.node.rdma.mode=shared\n" } },
		  "shared" },
		{ { EXTRA,
		    { "etc/default/kubelet", "KUBELET_EXTRA_ARGS=--node-labels=" LONG_LABELS
					     "vke.node.rdma.mode=shared\n" } },
		  "shared" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_found k;

		root_open(&root);
		for (size_t e = 0; e < 3 && rows[i].entries[e].path; e++)
			put_text(&root, rows[i].entries[e].path, rows[i].entries[e].text);
		look_for(&root.fs, BEST_EFFORT, &k);
		assert_string_equal(k.seen.vke_rdma_mode.value, rows[i].mode);
		assert_capture_tells_the_same(&root, NULL);
	}
}

/* Source: pkg/component/worker/kubelet.go of k0s */
static void the_root_folder_of_k0s_is_in_its_data_folder(_unused_ void **state)
{
	static const struct {
		const char *flags, *root_dir;
	} rows[] = {
		{ "", "/var/lib/k0s/kubelet" },
		{ "--data-dir /data", "/data/kubelet" },
		{ "--data-dir=/data --kubelet-root-dir=/kubelet", "/kubelet" },
		{ "--kubelet-root-dir=/a \"--kubelet-extra-args=--v=2 --root-dir=/b\"", "/b" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_found k;
		char text[256];

		root_open(&root);
		snprintf(text, sizeof(text), "[Service]\nExecStart=/usr/local/bin/k0s worker %s\n",
			 rows[i].flags);
		put_text(&root, "etc/systemd/system/k0sworker.service", text);
		look_for(&root.fs, BEST_EFFORT, &k);
		assert_string_equal(k.seen.root_dir, rows[i].root_dir);
		assert_capture_tells_the_same(&root, NULL);
	}
}

/* The wrappers of snaps have a shell read their files. */
static void the_root_folder_of_a_snap_may_be_in_its_variables(_unused_ void **state)
{
#define MICROK8S_UNIT "etc/systemd/system/snap.microk8s.daemon-kubelite.service"
#define MICROK8S_ARGS "var/snap/microk8s/current/args/kubelet"
	static const struct {
		const char *unit, *file, *flags, *root_dir;
		bool is_unclear;
	} rows[] = {
		{ MICROK8S_UNIT, MICROK8S_ARGS, "--root-dir=${SNAP_COMMON}/var/lib/kubelet\n",
		  "/var/snap/microk8s/common/var/lib/kubelet", false },
		{ MICROK8S_UNIT, MICROK8S_ARGS, "--root-dir=\"$SNAP_COMMON/kubelet\"\n",
		  "/var/snap/microk8s/common/kubelet", false },
		{ "etc/systemd/system/snap.kubelet-eks.daemon.service",
		  "var/snap/kubelet-eks/current/args", "--root-dir ${SNAP_DATA}/kubelet\n",
		  "/var/snap/kubelet-eks/current/kubelet", false },
		{ MICROK8S_UNIT, MICROK8S_ARGS, "--root-dir=${SNAP_USER_DATA}/a\n",
		  KUBELET_ROOT_DIR, true },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_found k;

		root_open(&root);
		put_text(&root, rows[i].unit, "[Service]\nExecStart=/usr/bin/snap run x\n");
		put_text(&root, rows[i].file, rows[i].flags);
		look_for(&root.fs, BEST_EFFORT, &k);
		assert_string_equal(k.seen.root_dir, rows[i].root_dir);
		assert_int_equal(k.seen.cpus.is_unclear, rows[i].is_unclear);
		assert_capture_tells_the_same(&root, NULL);
	}
}

#define K3S_UNIT        "etc/systemd/system/k3s.service"
#define K3S             "etc/rancher/k3s/config.yaml"
#define K0S_UNIT        "etc/systemd/system/k0sworker.service"
#define RESTRICTED_FLAG "--topology-manager-policy=restricted"

static void the_folder_of_static_pods_is_known_or_not(_unused_ void **state)
{
	static const char k3s[] = "[Service]\nExecStart=/usr/local/bin/k3s agent\n";
	static const struct {
		struct entry entries[2];
		const char *folder;
	} rows[] = {
		{ { OWN_UNIT("--config=/" FILE_PATH),
		    { FILE_PATH, HEAD "staticPodPath: /etc/kubelet.d\n" } },
		  "/etc/kubelet.d" },
		{ { OWN_UNIT("--config=/" FILE_PATH " --pod-manifest-path=/etc/pods"),
		    { FILE_PATH, HEAD "staticPodPath: /etc/kubelet.d\n" } },
		  "/etc/pods" },
		{ { OWN_UNIT("--config=/" FILE_PATH " $MORE"), { FILE_PATH, HEAD } }, "none" },
		{ { OWN_UNIT("--config=/" FILE_PATH) }, "" }, /* the file comes later */
		{ { OWN_UNIT("--config=/" FILE_PATH), { FILE_PATH, HEAD "staticPodPath: [a]\n" } },
		  "" },
		{ { { FILE_PATH, HEAD } }, "" }, /* and no unit, which may have a flag */
		{ { { K3S_UNIT, k3s } }, "/var/lib/rancher/k3s/agent/pod-manifests" },
		{ { { K3S_UNIT, k3s },
		    { K3S, "data-dir: /data/k3s\nkubelet-arg: root-dir=/data/kubelet\n" } },
		  "/data/k3s/agent/pod-manifests" },
		{ { { K3S_UNIT, k3s }, { K3S, "kubelet-arg: pod-manifest-path=/etc/pods\n" } },
		  "/etc/pods" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_found k;

		root_open(&root);
		for (size_t e = 0; e < 2 && rows[i].entries[e].path; e++)
			put_text(&root, rows[i].entries[e].path, rows[i].entries[e].text);
		look_for(&root.fs, BEST_EFFORT, &k);
		assert_string_equal(k.seen.pod_folder, rows[i].folder);
		assert_capture_tells_the_same(&root, NULL);
	}
}

static void the_nodes_address_is_read(_unused_ void **state)
{
	static const char k3s[] = "[Service]\nExecStart=/usr/local/bin/k3s server\n";
	static const struct {
		struct entry entries[6];
		const char *node_ip, *host_name, *flannel_iface;
	} rows[] = {
		{ { PLAIN_UNIT }, "", "", "" },
		{ { OWN_UNIT("--node-ip=192.0.2.1,2001:db8::1") },
		  "192.0.2.1,2001:db8::1",
		  "",
		  "" },
		{ { OWN_UNIT("--node-ip 192.0.2.1 --node-ip=192.0.2.2") }, "192.0.2.2", "", "" },
		{ { OWN_UNIT("--node_ip 192.0.2.1 --hostname_override 192.0.2.9") },
		  "192.0.2.1",
		  "192.0.2.9",
		  "" },
		{ { OWN_UNIT("--hostname-override=a --hostname-override=b --flannel-iface=eth1") },
		  "",
		  "b",
		  "" },
		{ { EXTRA, { "etc/default/kubelet", "KUBELET_EXTRA_ARGS=--node-ip=::1\n" } },
		  "::1",
		  "",
		  "" },
		{ { { K3S_UNIT, k3s }, { K3S, "node-ip: 192.0.2.1\n" } }, "192.0.2.1", "", "" },
		{ { { "etc/systemd/system/k3s-gpu.service", k3s },
		    { K3S, "node-ip: 192.0.2.1\n" } },
		  "192.0.2.1",
		  "",
		  "" },
		{ { { "etc/systemd/system/k3s-backup.service", "[Service]\nExecStart=/bin/k3sd\n" },
		    { K3S, "node-ip: 192.0.2.1\n" } },
		  "",
		  "",
		  "" },
		{ { { K3S_UNIT, k3s }, { K3S, "node-ip: [192.0.2.1, 'fd00::1']\n" } },
		  "192.0.2.1,fd00::1",
		  "",
		  "" },
		{ { { K3S_UNIT, k3s }, { K3S, "kubelet-arg: [node-ip=192.0.2.7]\n" } },
		  "192.0.2.7",
		  "",
		  "" },
		{ { { K3S_UNIT, "[Service]\nExecStart=/usr/local/bin/k3s agent --node-ip "
				"192.0.2.8\n" } },
		  "192.0.2.8",
		  "",
		  "" },
		/* In whatever order the keys stand, and in whichever file. */
		{ { { K3S_UNIT, k3s },
		    { K3S, "node-ip: 192.0.2.1\nflannel-iface: eth1\nnode-name: n1\n"
			   "kubelet-arg:\n- max-pods=200\n" } },
		  "192.0.2.1",
		  "n1",
		  "eth1" },
		{ { { K3S_UNIT, k3s },
		    { K3S, "node-ip: 192.0.2.1\nnode-external-ip: 203.0.113.1\n" },
		    { K3S ".d/10-a.yaml", "kubelet-arg: [max-pods=200]\nnode-name: n2\n" } },
		  "192.0.2.1",
		  "n2",
		  "" },
		/* The last file that has the key wins, "+" adds to it, the command line comes last.
		 */
		{ { { K3S_UNIT, k3s },
		    { K3S, "node-ip: 192.0.2.1\n" },
		    { K3S ".d/10-a.yaml", "node-ip: [192.0.2.2]\nnode-ip+: 'fd00::2'\n" } },
		  "192.0.2.2,fd00::2",
		  "",
		  "" },
		{ { { K3S_UNIT, "[Service]\nExecStart=/usr/local/bin/k3s agent "
				"-node-ip=192.0.2.3 -i fd00::3 --node-name n3 "
				"--flannel-iface eth3\n" },
		    { K3S, "node-ip: 192.0.2.1\nflannel-iface: eth1\nnode-name: n1\n" } },
		  "192.0.2.3,fd00::3",
		  "n3",
		  "eth3" },
		{ { { K3S_UNIT, "[Service]\nEnvironment=K3S_NODE_NAME=n4\n"
				"ExecStart=/usr/local/bin/k3s agent\n" } },
		  "",
		  "n4",
		  "" },
		{ { { K3S_UNIT,
		      "[Service]\nExecStart=/usr/local/bin/k3s server --config /etc/k3s.yaml\n" },
		    { "etc/k3s.yaml", "node-ip: 192.0.2.4\n" },
		    { "etc/k3s.yaml.d/10-a.yaml", "flannel-iface: eth4\n" } },
		  "192.0.2.4",
		  "",
		  "eth4" },
		/* k0sctl writes such a flag for privateAddress:. */
		{ { { K0S_UNIT,
		      "[Service]\nExecStart=/usr/local/bin/k0s worker "
		      "--kubelet-extra-args=--node-ip=192.0.2.5 --config=/etc/k0s.yaml\n" } },
		  "192.0.2.5",
		  "",
		  "" },
		{ { { "usr/lib/systemd/system/microshift.service",
		      "[Service]\nWorkingDirectory=/usr/bin/\nExecStart=microshift run\n" },
		    { "etc/microshift/config.yaml",
		      "node:\n  hostnameOverride: n5\n  nodeIP: 192.0.2.5\ndns: {}\n" } },
		  "192.0.2.5",
		  "n5",
		  "" },
		{ { { "usr/lib/systemd/system/microshift.service",
		      "[Service]\nWorkingDirectory=/usr/bin/\nExecStart=microshift run\n" },
		    { "etc/microshift/config.yaml", "# node:\n#   nodeIP: \"\"\n" } },
		  "",
		  "",
		  "" },
		/* The last of the folder wins, other names are not read, null takes back. */
		{ { { "usr/lib/systemd/system/microshift.service",
		      "[Service]\nWorkingDirectory=/usr/bin/\nExecStart=microshift run\n" },
		    { "etc/microshift/config.yaml",
		      "node:\n  hostnameOverride: n5\n  nodeIP: 192.0.2.5\n" },
		    { "etc/microshift/config.d/10-a.yaml", "node:\n  nodeIP: 192.0.2.6\n" },
		    { "etc/microshift/config.d/20-a.yaml",
		      "node:\n  nodeIP: 192.0.2.7\n  hostnameOverride: null\n" },
		    { "etc/microshift/config.d/30-a.conf", "node:\n  nodeIP: 192.0.2.8\n" },
		    { "etc/microshift/config.d/40-a.yaml", "# node:\n" } },
		  "192.0.2.7",
		  "",
		  "" },
		{ { OWN_UNIT("--hostname-override=%l.%H.%p"),
		    { "proc/sys/kernel/hostname", "n6.lab\n" },
		    { "etc/hostname", "n7\n" } },
		  "",
		  "n6.n6.lab.kubelet",
		  "" },
		{ { { UNIT, "[Service]\nEnvironment=NAME=%H\nExecStart=/usr/bin/kubelet "
			    "--hostname-override=${NAME}\n" },
		    { "etc/hostname", "n6\n" } },
		  "",
		  "n6",
		  "" },
		/* What the kubelet is given by hand wins over what it is given by k3s. */
		{ { { K3S_UNIT, k3s },
		    { K3S, "kubelet-arg: [node-ip=192.0.2.7, hostname-override=n7]\n"
			   "node-ip: 192.0.2.1\nnode-name: n1\n" } },
		  "192.0.2.7",
		  "n7",
		  "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_found k;

		root_open(&root);
		for (size_t e = 0; e < 6 && rows[i].entries[e].path; e++)
			put_text(&root, rows[i].entries[e].path, rows[i].entries[e].text);
		look_for(&root.fs, BEST_EFFORT, &k);
		assert_string_equal(k.seen.node_ip, rows[i].node_ip);
		assert_string_equal(k.seen.host_name, rows[i].host_name);
		assert_string_equal(k.seen.flannel_iface, rows[i].flannel_iface);
		assert_string_equal(k.seen.address_problem, "");
		assert_capture_tells_the_same(&root, NULL);
	}
}

static void a_command_line_that_cannot_be_read_tells_no_address(_unused_ void **state)
{
#define SERVICE(text) { UNIT, "[Service]\n" text "\n" }
#define KUBELET       "ExecStart=/usr/bin/kubelet --config=/" FILE_PATH " "
#define WRAPPED       "kubelet.service: what /opt/start.sh does is not known"
#define PODS          "sys/fs/cgroup/kubepods.slice/cgroup.procs"
	static const struct entry process = { "proc/345/cmdline",
					      "/usr/bin/kubelet|--node-ip=192.0.2.7|--v=2" };
	static const struct {
		struct entry unit;
		bool is_running;
		const char *problem, *node_ip;
	} rows[] = {
		{ SERVICE(KUBELET), false, "", "" },
		{ SERVICE("ExecStart=/opt/start.sh"), false, WRAPPED, "" },
		{ SERVICE("ExecStart=/opt/start.sh"), true, "", "192.0.2.7" },
		{ SERVICE("ExecStart=/opt/plain.sh"), false, "", "" },
		{ SERVICE("ExecStart=/bin/true --config=/" FILE_PATH), false, "", "" },
		{ SERVICE("ExecStart=/bin/sh -c 'exec sleep infinity'"), false, "", "" },
		{ SERVICE("ExecStart=/opt/start.sh --node-ip=192.0.2.1"), false, "", "192.0.2.1" },
		{ SERVICE("ExecStart=/bin/sh -c 'kubelet --node-ip=$$(hostname -i)'"), false,
		  "kubelet.service: what /bin/sh does is not known", "" },
		{ SERVICE("Environment=TOKEN=s3cret\n"
			  "ExecStart=/bin/sh -c 'exec k3s agent --token ${TOKEN} --x s3cret "
			  "--node-ip $$(hostname -i)' --kube-reserved=cpu=1"),
		  false, "kubelet.service: what /bin/sh does is not known", "" },
		{ SERVICE("ExecStart=/bin/sh -c 'exec k3s agent --flannel-iface=eth1'"), false,
		  "kubelet.service: what /bin/sh does is not known", "" },
		{ SERVICE("EnvironmentFile=/etc/default/kubelet\n"
			  "ExecStart=/bin/sh -c 'kubelet $$EXTRA'"),
		  false, "kubelet.service: what /bin/sh does is not known", "" },
		{ SERVICE("EnvironmentFile=/etc/default/kubelet\nExecStart=/opt/plain.sh"), false,
		  "kubelet.service: what /opt/plain.sh does is not known", "" },
		{ SERVICE("Environment=A=--node-ip=::1\nEnvironment=A=\nExecStart=/opt/plain.sh"),
		  false, "", "" },
		{ SERVICE("Environment=A=--node-ip=::1\nExecStart=/opt/start.sh kubelet"), false,
		  "", "" },
		/* It hands on what stands behind the kubelet. */
		{ SERVICE("ExecStart=/opt/start.sh /usr/bin/kubelet --v=2"), false, "", "" },
		{ SERVICE("ExecStart="), false, "", "" },
		{ SERVICE("Environment=A=--node-ip=::1\nExecStart="), false, "", "" },
		/* A file that has to be there is not. */
		{ SERVICE("EnvironmentFile=/run/ip\n" KUBELET "--node-ip=${IP}"), false,
		  "kubelet.service: --node-ip=${IP} is not known", "${IP}" },
		{ SERVICE("EnvironmentFile=/run/ip\n" KUBELET "--node-ip=${IP}"), true, "",
		  "192.0.2.7" },
		{ SERVICE("EnvironmentFile=/run/ip\n" KUBELET "$ARGS"), false,
		  "kubelet.service: $ARGS is not known", "" },
		{ SERVICE("EnvironmentFile=/run/ip\n" KUBELET "--v=2 ${ARGS}"), false,
		  "kubelet.service: ${ARGS} is not known", "" },
		{ SERVICE("EnvironmentFile=/run/ip\n" KUBELET "$ARGS --node-ip 192.0.2.1"), false,
		  "", "192.0.2.1" },
		/* The last --node-ip wins, and a word behind it may be one. */
		{ SERVICE("EnvironmentFile=/run/ip\n" KUBELET "--node-ip=192.0.2.1 $ARGS"), false,
		  "kubelet.service: $ARGS is not known", "192.0.2.1" },
		{ SERVICE("EnvironmentFile=/run/ip\n" KUBELET "--node-ip=192.0.2.1 $ARGS"), true,
		  "", "192.0.2.7" },
		{ SERVICE("EnvironmentFile=/run/ip\n" KUBELET
			  "$A --node-ip 192.0.2.1 --v ${V} ${B}"),
		  false, "kubelet.service: ${B} is not known", "192.0.2.1" },
		{ SERVICE("EnvironmentFile=/run/ip\n" KUBELET "--v=${V} --v ${V}"), false, "", "" },
		{ SERVICE("EnvironmentFile=/run/ip\nEnvironment=IP=192.0.2.1\n" KUBELET
			  "--node-ip=${IP}"),
		  false, "", "192.0.2.1" },
		{ SERVICE("EnvironmentFile=-/run/ip\n" KUBELET "--node-ip=${IP} $ARGS"), false, "",
		  "" },
		/* Behind a comment that ends in a backslash. */
		{ SERVICE("EnvironmentFile=/opt/ip\n" KUBELET "--node-ip=${IP}"), false,
		  "kubelet.service: --node-ip=$IP is not known", "$IP" },
		{ SERVICE("EnvironmentFile=/opt/ip\n" KUBELET "$IP"), false,
		  "kubelet.service: $IP is not known", "" },
		{ SERVICE("EnvironmentFile=/opt/ip\n" KUBELET "$IP"), true, "", "192.0.2.7" },
		{ SERVICE("EnvironmentFile=/opt/ip\n" KUBELET "$A"), false, "", "" },
		{ SERVICE("EnvironmentFile=/opt/ip\nExecStart=/bin/sh -c 'kubelet $$IP'"), false,
		  "/opt/ip:2: the comment above ends in \\ and goes on here before systemd 254",
		  "" },
		{ SERVICE("PassEnvironment=A IP\n" KUBELET "--node-ip=${IP}"), false,
		  "kubelet.service: --node-ip=${IP} is not known", "${IP}" },
		{ SERVICE("PassEnvironment=IP\nPassEnvironment=\n" KUBELET "--node-ip=${IP}"),
		  false, "", "" },
		{ SERVICE(KUBELET "--hostname-override=%m.fabric"), false,
		  "kubelet.service: --hostname-override=%m.fabric is not known", "" },
		{ SERVICE(KUBELET "--hostname-override=%m --node-ip=192.0.2.1"), false, "",
		  "192.0.2.1" },
		{ SERVICE(KUBELET "--cert-dir=%S/x"), false, "", "" },
		{ { K3S_UNIT, "[Service]\nExecStart=/usr/local/bin/k3s agent --config x\n" },
		  false,
		  "k3s.service: its configuration is no file by a whole path",
		  "" },
		/* No unit of it is known, as where a container runtime starts it. */
		{ { PODS, "" }, false, "", "" }, /* k3s by another name, or it starts again */
		{ { PODS, "" }, true, "", "192.0.2.7" },
		{ { "var/lib/pods", "" }, true, "", "" }, /* of a container's kubelet */
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_found k;

		root_open(&root);
		put_text(&root, rows[i].unit.path, rows[i].unit.text);
		put_text(&root, "opt/start.sh",
			 "#!/bin/bash\nexec kubelet --node-ip=$(hostname -i)\n");
		put_text(&root, "opt/ip", "# c \\\nIP=192.0.2.1\n");
		put_text(&root, "opt/plain.sh",
			 "#!/bin/bash\nexec kubelet --config=/" FILE_PATH "\n");
		put_text(&root, "etc/default/kubelet", "EXTRA='--v=2 --node-ip=192.0.2.5'\n");
		if (rows[i].is_running) {
			put_text(&root, CGROUP, "345\n");
			put_entry(&root, &process);
		}
		look_for(&root.fs, BEST_EFFORT, &k);
		print_message("%s\n", rows[i].unit.text);
		assert_string_equal(k.seen.address_problem, rows[i].problem);
		assert_string_equal(k.seen.node_ip, rows[i].node_ip);
		assert_capture_tells_the_same(&root, strstr(rows[i].unit.text, "s3cret") ? "s3cret"
											 : NULL);
	}
}

/* An image carries the command line of the kubelet of the machine that it was made on. */
static void a_command_line_is_remembered_for_one_machine(_unused_ void **state)
{
	static const struct {
		const char *noted, *now, *node_ip;
	} rows[] = {
		{ "id-1", "id-1", "192.0.2.7" }, { "id-1", "id-2", "" },  { "", "id-2", "" },
		{ "id-1", "", "192.0.2.7" },     { "", "", "192.0.2.7" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		_owns_(struct kubelet_notes, cmdline) notes = {};
		struct kubelet_found k;

		root_open(&root);
		put_text(&root, UNIT, "[Service]\nExecStart=/bin/sh -c 'kubelet --node-ip=$$IP'\n");
		put_text(&root, CGROUP, "345\n");
		put_entry(&root, &(struct entry){ "proc/345/cmdline",
						  "/usr/bin/kubelet|--node-ip=192.0.2.7" });
		put_text(&root, "etc/machine-id", rows[i].noted);
		assert_int_equal(kubelet_find(&root.fs, false, &k, &notes), 0);
		assert_string_equal(k.seen.node_ip, "192.0.2.7");

		put(&root, "var/lib/rdma-provision-kubelet/cmdline", notes.cmdline,
		    notes.cmdline_size);
		put_text(&root, CGROUP, "");
		put_text(&root, "etc/machine-id", rows[i].now);
		look_for(&root.fs, BEST_EFFORT, &k);
		assert_string_equal(k.seen.node_ip, rows[i].node_ip);
		assert_int_equal(*k.seen.address_problem, *rows[i].node_ip ? 0 : 'k');
		assert_capture_tells_the_same(&root, *rows[i].now ? rows[i].now : NULL);
	}
}

/* "192.0.2.1 /FILE; name /FILE" */
static void describe_servers(const struct kubelet *k, char *ret, size_t size)
{
	*ret = '\0';
	for (size_t i = 0; i < k->n_servers; i++) {
		const size_t n = strlen(ret);

		snprintf(ret + n, size - n, "%s%s %s", n > 0 ? "; " : "", k->servers[i].host,
			 k->servers[i].path);
	}
}

#define KUBECONFIG(server)                                                                         \
	"apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster:\n"                         \
	"    certificate-authority: /etc/ca # server: https://198.51.100.1\n    server: " server   \
	"\nusers:\n- name: u\n  user: {token: s3cret, server: s3cret}\n"

static void the_api_servers_are_read(_unused_ void **state)
{
	static const char conf[] = "etc/kubernetes/kubelet.conf", k3s[] = K3S;
	static const struct {
		struct entry entries[4];
		const char *expected;
	} rows[] = {
		{ { PLAIN_UNIT }, "" },
		{ { PLAIN_UNIT, { conf, KUBECONFIG("https://192.0.2.1:6443") } },
		  "192.0.2.1 /etc/kubernetes/kubelet.conf" },
		{ { { conf, KUBECONFIG("'https://[fd00::1]:6443'") } },
		  "fd00::1 /etc/kubernetes/kubelet.conf" },
		{ { { conf, KUBECONFIG("\"https://u:s3cret@api.example:6443/x\"") } },
		  "api.example /etc/kubernetes/kubelet.conf" },
		{ { { conf, KUBECONFIG("\"\"") } }, "" },
		{ { { conf, "{\"clusters\": [{\"cluster\": {\"server\": \"https://192.0.2.1\"}}, "
			    "{\"cluster\": {\"server\": \"https://192.0.2.2\"}}, "
			    "{\"cluster\": {\"server\": \"https://192.0.2.1:1\"}}]}" } },
		  "192.0.2.1 /etc/kubernetes/kubelet.conf; 192.0.2.2 "
		  "/etc/kubernetes/kubelet.conf" },
		{ { { conf, "clusters: [{cluster: {server: https://192.0.2.1}}" } }, "" },
		/* The flags say where, and only then is nowhere else looked. */
		{ { OWN_UNIT("--kubeconfig /etc/k --bootstrap-kubeconfig=/etc/b"),
		    { "etc/b", KUBECONFIG("https://192.0.2.3:6443") },
		    { conf, KUBECONFIG("https://192.0.2.1:6443") } },
		  "192.0.2.3 /etc/b" },
		{ { { K3S_UNIT, "[Service]\nExecStart=/usr/local/bin/k3s agent\n" },
		    { k3s, "token: s3cret\nserver: https://192.0.2.4:6443\n" },
		    { "var/lib/rancher/k3s/agent/etc/k3s-agent-load-balancer.json",
		      "{\"ServerURL\": \"https://192.0.2.4:6443\", \"ServerAddresses\": "
		      "[\"192.0.2.5:6443\", \"[fd00::5]:6443\"], \"x\": \"s3cret\"}" } },
		  "192.0.2.4 /etc/rancher/k3s/config.yaml; 192.0.2.5 "
		  "/var/lib/rancher/k3s/agent/etc/k3s-agent-load-balancer.json; fd00::5 "
		  "/var/lib/rancher/k3s/agent/etc/k3s-agent-load-balancer.json" },
		{ { { K3S_UNIT, "[Service]\nEnvironmentFile=-/etc/e\n"
				"ExecStart=/usr/local/bin/k3s agent --data-dir /data\n" },
		    { "etc/e", "K3S_TOKEN=s3cret\nK3S_URL=https://u:s3cret@192.0.2.6:6443\n" },
		    { "data/agent/kubelet.kubeconfig", KUBECONFIG("https://127.0.0.1:6444") } },
		  "192.0.2.6 K3S_URL; 127.0.0.1 /data/agent/kubelet.kubeconfig" },
		{ { { K0S_UNIT,
		      "[Service]\nExecStart=/usr/local/bin/k0s worker --data-dir /data\n" },
		    { "data/kubelet.conf", KUBECONFIG("https://192.0.2.8:6443") } },
		  "192.0.2.8 /data/kubelet.conf" },
		{ { { "var/snap/microk8s/current/args/traefik/provider.yaml",
		      "tcp:\n  services:\n    kube-apiserver:\n      loadBalancer:\n"
		      "        servers:\n        - address: 192.0.2.7:16443\n" } },
		  "192.0.2.7 /var/snap/microk8s/current/args/traefik/provider.yaml" },
		/* Its own kubeconfig names that proxy alone. */
		{ { { MICROK8S_UNIT, "[Service]\nExecStart=/usr/bin/snap run x\n" },
		    { MICROK8S_ARGS, "--kubeconfig=${SNAP_DATA}/a.config\n" },
		    { "var/snap/microk8s/current/a.config", KUBECONFIG("https://127.0.0.1:1") },
		    { "var/snap/microk8s/current/args/traefik/provider.yaml",
		      "servers: [{address: '192.0.2.7:16443'}]\n" } },
		  "127.0.0.1 /var/snap/microk8s/current/a.config; 192.0.2.7 "
		  "/var/snap/microk8s/current/args/traefik/provider.yaml" },
	};
	char said[1024];

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_found k;
		bool has_secret = false;

		root_open(&root);
		for (size_t e = 0; e < 4 && rows[i].entries[e].path; e++) {
			put_text(&root, rows[i].entries[e].path, rows[i].entries[e].text);
			has_secret |= strstr(rows[i].entries[e].text, "s3cret") != NULL;
		}
		look_for(&root.fs, BEST_EFFORT, &k);
		describe_servers(&k.seen, said, sizeof(said));
		assert_string_equal(said, rows[i].expected);
		assert_capture_tells_the_same(&root, has_secret ? "s3cret" : NULL);
	}
}

static void a_capture_of_k3s_holds_no_secrets(_unused_ void **state)
{
	static const char *const configs[] = {
		("token: s3cret # s3cret\nkubelet-arg:\n- manifest-url=https://u:s3cret@h\n"
		 "- manifest-url-header=Authorization:Bearer s3cret\n- --v=s3cret\n"
		 "- topology-manager-policy=restricted\ndata-dir: /data/k3s\nserver: "
		 "https://s3cret@h\n"),
		"kubelet-arg: manifest-url=https://u:s3cret@h\nkubelet-arg-s3cret: s3cret\n",
		"kubelet-arg+: [kubelet-arg=v=s3cret, cpu-manager-policy=static]\n---\na: s3cret\n",
		("{\"data-dir\": \"/data/k3s\", \"kubelet-arg\": [\"v=s3cret\"], \"token\": "
		 "\"s3cret\"}"),
		"data-dir: /data/k3s\nnode-ip: 192.0.2.1\nagent-token: s3cret\n",
	};

	for (size_t i = 0; i < ELEMENTSOF(configs); i++) {
		_cleanup_(root_done) struct root root = {};

		root_open(&root);
		put_text(&root, "etc/systemd/system/k3s.service",
			 "[Service]\nEnvironment=K3S_TOKEN=s3cret\nExecStart=/usr/local/bin/k3s "
			 "server "
			 "--token s3cret --server https://u:s3cret@h:6443 "
			 "--kubelet-arg=manifest-url=https://u:s3cret@h "
			 "--kubelet-arg "
			 "v=s3cret --kubelet-arg topology-manager-scope=pod\n");
		put_text(&root, "etc/rancher/k3s/config.yaml", configs[i]);
		put_text(&root, "etc/rancher/k3s/config.yaml.d/zz.yaml",
			 "kubelet-arg+:\n- v=s3cret\n");
		assert_capture_tells_the_same(&root, "s3cret");
	}
}

/* k0s makes words of --kubelet-extra-args at each blank: internal/pkg/flags/flags.go of k0s. */
static void a_capture_of_k0s_holds_no_secrets(_unused_ void **state)
{
	static const struct {
		const char *flags, *variables;
		uint32_t rank;
	} rows[] = {
		{ "\"--kubelet-extra-args=" RESTRICTED_FLAG " --token=s3cret\"", "", RESTRICTED },
		{ "--kubelet-extra-args \"" RESTRICTED_FLAG " --token=s3cret\"", "", RESTRICTED },
		{ "\"--kubelet-extra-args=" RESTRICTED_FLAG "\t--token=s3cret\"", "", RESTRICTED },
		{ "\"--kubelet_extra_args=--v=1 --token=s3cret\" --x=s3cret", "", NONE },
		{ "\"-kubelet-extra-args=--v=1 --token=s3cret\"", "", NONE },
		{ "--kubelet-extra-args=" RESTRICTED_FLAG " --kubelet-extra-args=--v=s3cret", "",
		  NONE },
		{ "$ARGS", "'ARGS=--kubelet-extra-args \"--v=s3cret " RESTRICTED_FLAG "\"'",
		  RESTRICTED },
		{ "--kubelet-extra-args ${ARGS}", "'ARGS=--v=s3cret " RESTRICTED_FLAG "'",
		  RESTRICTED },
		{ "\"--kubelet-extra-args=--v=1 ${ARGS} ${TOKEN}\"",
		  "'ARGS=--v=s3cret " RESTRICTED_FLAG "' TOKEN=s3cret", RESTRICTED },
		{ "--kubelet-extra-args=--topology-manager-policy=${ARGS}",
		  "'ARGS=restricted --token=s3cret'", RESTRICTED },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_found k;
		char text[512];

		root_open(&root);
		print_message("  %s\n", rows[i].flags);
		snprintf(text, sizeof(text),
			 "[Service]\nEnvironment=%s\nExecStart=/usr/local/bin/k0s worker %s\n",
			 rows[i].variables, rows[i].flags);
		put_text(&root, K0S_UNIT, text);
		look_for(&root.fs, BEST_EFFORT, &k);
		assert_int_equal(k.seen.values[KUBELET_TOPOLOGY_POLICY].rank, rows[i].rank);
		assert_capture_tells_the_same(&root, "s3cret");
	}
}

static void a_capture_holds_no_secrets(_unused_ void **state)
{
	static const struct entry entries[] = {
		{ FILE_PATH, HEAD "staticPodURLHeader:\n  Authorization: [s3cret]\n" },
		{ FILE_PATH, HEAD "staticPodURLHeader:\n- s3cret\n# s3cret\n" KEY ": none\n" },
		{ FILE_PATH, HEAD "staticPodURLHeader: {A:\n  [\"s3cret\"]} # c\n" KEY ": none\n" },
		{ FILE_PATH, HEAD "staticPodURLHeader: |\n  s3cret\n" KEY ": none\n" },
		{ FILE_PATH, HEAD "staticPodURLHeader: a-s3cret\nstaticPodURLHeader: {}\n" },
		{ FILE_PATH, "kind: Config\nusers: [{token: s3cret}]\n" },
		{ FILE_PATH, "{\"kind\": \"s3cret\"}" },
		{ FILE_PATH, JSON("", ",\"staticPodURLHeader\":{\"A\":[\"s3cret\"]}") },
		{ FILE_PATH, HEAD "a: [s3cret\n" },
		{ FILE_PATH,
		  HEAD "# s3cret\n" KEY ": none # s3cret\nserverTLSBootstrap: s3cret\n" },
		{ FILE_PATH, HEAD KEY ": none\n---\nkind: Secret\nstringData:\n  a: s3cret\n" },
		{ FILE_PATH, HEAD KEY ": none\n...\ns3cret\n" },
		{ FILE_PATH, HEAD "staticPodURL: https://user:s3cret@h/?token=s3cret\n" },
		{ FILE_PATH, HEAD KEY ": {a: s3cret}\n" },
		{ FILE_PATH, HEAD KEY ": [s3cret]\n" },
		{ FILE_PATH, HEAD "kubeReserved: {cpu: 500m, s3cret: s3cret}\n" KEY ": none\n" },
		{ FILE_PATH, HEAD "kubeReserved:\n  cpu: [s3cret]\n  # s3cret\n" },
		{ FILE_PATH, HEAD "a: s3cret\na: s3cret\n" KEY ": none\n" KEY ": best-effort\n" },
		{ FILE_PATH, HEAD KEY ": &s3cret !!str none\n" },
		{ FILE_PATH, HEAD KEY ":\n\n  \"best-effort\"\n\n# s3cret\n" KEY "2: s3cret\n" },
		{ FILE_PATH,
		  "{\n\"a\": \"s3cret\",\n\"" KEY
		  "\": \"none\",\n\"kubeReserved\": {\"cpu\": \"1\", "
		  "\"b\": \"s3cret\"}, \"kind\": \"KubeletConfiguration\",\n\n\"apiVersion\": "
		  "\"kubelet.config.k8s.io/v1beta1\", \"staticPodURL\": \"s3cret\"}\n" },
		{ "etc/default/kubelet",
		  "TOKEN=s3cret\nA=\"--x=s3cret --config=/" FILE_PATH " --y=s3cret\"\n" },
		{ UNIT, "[Service]\nEnvironment=HTTPS_PROXY=http://u:s3cret@p\nExecStart=/usr/bin/"
			"kubelet "
			"--config=/" FILE_PATH " --x=s3cret\n" },
		{ UNIT, "[Service]\nEnvironment=\"A=--node-labels s3cret=a --config=/" FILE_PATH
			" " RESTRICTED_FLAG "\"\nExecStart=/usr/bin/kubelet $A\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(entries); i++) {
		_cleanup_(root_done) struct root root = {};

		root_open(&root);
		put_text(&root, FILE_PATH, HEAD);
		put_entry(&root, &entries[i]);
		assert_capture_tells_the_same(&root, "s3cret");
	}
}

static void what_is_not_asked_for_or_not_possible_changes_nothing(_unused_ void **state)
{
	static const struct {
		enum topology_policy want;
		uint32_t n_numa_nodes;
		const char *text;
		enum kubelet_outcome outcome;
		enum reason reason;
	} cases[] = {
		{ UNSET, 2, HEAD, KUBELET_SATISFIED, REASON_NONE },
		{ UNSET, 2, "garbage: [", KUBELET_SATISFIED, REASON_NONE },
		{ BEST_EFFORT, 8, HEAD, KUBELET_CHANGED, REASON_NONE },
		{ BEST_EFFORT, 9, HEAD, KUBELET_REFUSED, REASON_KUBELET_NUMA_NODES },
		{ BEST_EFFORT, 34, HEAD KEY ": none\n", KUBELET_REFUSED,
		  REASON_KUBELET_NUMA_NODES },
		{ BEST_EFFORT, 34, HEAD KEY ": restricted\n", KUBELET_REFUSED,
		  REASON_KUBELET_NUMA_NODES },
		{ BEST_EFFORT, 34,
		  HEAD KEY
		  ": none\ntopologyManagerPolicyOptions:\n  max-allowable-numa-nodes: \"34\"\n",
		  KUBELET_CHANGED, REASON_NONE },
		{ BEST_EFFORT, 34,
		  HEAD "topologyManagerPolicyOptions: {max-allowable-numa-nodes: \"33\"}\n",
		  KUBELET_REFUSED, REASON_KUBELET_NUMA_NODES },
		{ RESTRICTED, 2, HEAD KEY ": best-effort\n", KUBELET_CHANGED, REASON_NONE },
		{ RESTRICTED, 2, HEAD KEY ": single-numa-node\n", KUBELET_SATISFIED, REASON_NONE },
		{ TOPOLOGY_POLICY_SINGLE_NUMA_NODE, 2, HEAD KEY ": restricted\n", KUBELET_CHANGED,
		  REASON_NONE },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(root_done) struct root root = {};
		struct verdict res;

		root_open(&root);
		put_text(&root, FILE_PATH, cases[i].text);
		assert_int_equal(ensure(&root.fs, cases[i].want, cases[i].n_numa_nodes, &res), 0);
		assert_int_equal(res.outcome, cases[i].outcome);
		assert_int_equal(res.reason, cases[i].reason);
		if (res.outcome != KUBELET_CHANGED) {
			assert_text(&root, FILE_PATH, cases[i].text, strlen(cases[i].text));
			continue;
		}
		assert_int_equal(policy_of(&root.fs), cases[i].want);
	}
}

static void links_owner_and_mode_stay(_unused_ void **state)
{
	static const char *const targets[] = { "/etc/kubernetes/real.yaml",
					       "../../../etc/kubernetes/real.yaml", "hop" };

	for (size_t i = 0; i < ELEMENTSOF(targets); i++) {
		_cleanup_(root_done) struct root root = {};
		const bool is_root = geteuid() == 0;
		struct verdict res;
		char full[PATH_MAX];
		struct stat st;

		root_open(&root);
		put_link(&root, FILE_PATH, targets[i]);
		put_link(&root, "var/lib/kubelet/hop", "/etc/../etc/kubernetes/real.yaml");
		put_text(&root, "etc/kubernetes/real.yaml", HEAD);
		assert_true(snprintf(full, sizeof(full), "%s/etc/kubernetes/real.yaml", root.path) >
			    0);
		assert_int_equal(chmod(full, 0640), 0);
		if (is_root)
			assert_int_equal(chown(full, 12, 34), 0);

		assert_int_equal(ensure(&root.fs, BEST_EFFORT, 1, &res), 0);
		assert_int_equal(res.outcome, KUBELET_CHANGED);
		assert_string_equal(res.path, "/" FILE_PATH);
		assert_true(S_ISLNK(stat_of(&root, FILE_PATH).st_mode));
		st = stat_of(&root, "etc/kubernetes/real.yaml");
		assert_true(S_ISREG(st.st_mode));
		assert_int_equal(st.st_mode & 07777, 0640);
		if (is_root)
			assert_true(st.st_uid == 12 && st.st_gid == 34);
		assert_text(&root, "etc/kubernetes/real.yaml", HEAD KEY ": best-effort\n",
			    strlen(HEAD KEY ": best-effort\n"));
	}
}

#define TEMPORARY "var/lib/kubelet/.config.yaml.rdma-provision.tmp"

static void a_temporary_file_left_by_a_crash_or_planted_is_taken_away(_unused_ void **state)
{
	for (int i = 0; i < 3; i++) {
		_cleanup_(root_done) struct root root = {};
		struct verdict res;

		root_open(&root);
		put_text(&root, FILE_PATH, HEAD);
		put_text(&root, "victim", "v");
		if (i == 0)
			put_text(&root, TEMPORARY, "half");
		else
			put_link(&root, TEMPORARY, i == 1 ? "../../../victim" : "absent");

		assert_int_equal(ensure(&root.fs, BEST_EFFORT, 1, &res), 0);
		assert_int_equal(res.outcome, KUBELET_CHANGED);
		assert_text(&root, "victim", "v", 1);
		assert_alone(&root);
	}
}

static void a_temporary_file_that_is_open_elsewhere_is_not_waited_for(_unused_ void **state)
{
	_cleanup_(root_done) struct root root = {};
	_cleanup_(closep) int fd = -EBADF;
	struct verdict res;

	root_open(&root);
	put_text(&root, FILE_PATH, HEAD);
	put_text(&root, TEMPORARY, ""); /* mode 0644: anybody could lock it */
	fd = fs_open(&root.fs, TEMPORARY, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);

	alarm(20);
	assert_int_equal(ensure(&root.fs, BEST_EFFORT, 1, &res), 0);
	alarm(0);
	assert_int_equal(res.outcome, KUBELET_CHANGED);
	assert_alone(&root);
}

static void a_second_one_waits_for_the_first(_unused_ void **state)
{
	_cleanup_(root_done) struct root root = {};
	_cleanup_(closep) int fd = -EBADF;
	int status;
	pid_t pid;

	root_open(&root);
	put_text(&root, FILE_PATH, HEAD);
	put_text(&root, "run/rdma-provision/kubelet.lock", "");
	fd = fs_open(&root.fs, "run/rdma-provision/kubelet.lock", O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);

	pid = fork();
	if (pid == 0) {
		struct verdict res;

		_exit(ensure(&root.fs, BEST_EFFORT, 1, &res) < 0 || res.outcome != KUBELET_CHANGED);
	}
	poll(NULL, 0, 300); /* more than it would need */
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	assert_text(&root, FILE_PATH, HEAD, strlen(HEAD));

	assert_int_equal(flock(fd, LOCK_UN), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_text(&root, FILE_PATH, HEAD KEY ": best-effort\n",
		    strlen(HEAD KEY ": best-effort\n"));
}

/* Lets every open go on; at that of the temporary file first puts another file in the real one's
 * place. */
static void interfere(int notify, const struct root *root, const char *other, unsigned *n)
{
	char from[PATH_MAX], to[PATH_MAX], link[64];
	struct fanotify_event_metadata event;
	struct fanotify_response response;

	if (read(notify, &event, sizeof(event)) != (ssize_t)sizeof(event))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", event.fd);
	memset(to, 0, sizeof(to));
	assert_true(readlink(link, to, sizeof(to) - 1) > 0);
	if (strstr(to, ".rdma-provision.tmp") && (*n)++ == 0) {
		snprintf(from, sizeof(from), "%s/%s", root->path, other);
		snprintf(to, sizeof(to), "%s/" FILE_PATH, root->path);
		assert_int_equal(rename(from, to), 0);
	}

	response = (struct fanotify_response){ .fd = event.fd, .response = FAN_ALLOW };
	assert_int_equal(write(notify, &response, sizeof(response)), sizeof(response));
	close(event.fd);
}

static void what_another_one_writes_meanwhile_is_not_lost(_unused_ void **state)
{
	static const struct {
		const char *other, *expected;
	} cases[] = {
		{ HEAD "other: 1\n", HEAD KEY ": best-effort\nother: 1\n" },
		{ HEAD KEY ": restricted\n", HEAD KEY ": restricted\n" },
		{ "kind: Other\n", "kind: Other\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(root_done) struct root root = {};
		_cleanup_(closep) int notify = -EBADF;
		struct verdict res;
		char folder[PATH_MAX];
		unsigned n = 0;
		int status;
		pid_t pid;

		root_open(&root);
		put_text(&root, FILE_PATH, HEAD);
		put_text(&root, "other", cases[i].other);
		snprintf(folder, sizeof(folder), "%s/var/lib/kubelet", root.path);
		notify = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);
		if (notify < 0 ||
		    fanotify_mark(notify, FAN_MARK_ADD, FAN_OPEN_PERM | FAN_EVENT_ON_CHILD,
				  AT_FDCWD, folder) < 0)
			skip_without("fanotify: %s", strerror(errno));

		pid = fork();
		if (pid == 0)
			_exit(ensure(&root.fs, BEST_EFFORT, 1, &res) < 0);
		while (waitpid(pid, &status, WNOHANG) == 0)
			if (poll(&(struct pollfd){ .fd = notify, .events = POLLIN }, 1, 20) > 0)
				interfere(notify, &root, "other", &n);
		close(TAKE_FD(notify));

		assert_int_equal(status, 0);
		assert_true(n > 0);
		assert_text(&root, FILE_PATH, cases[i].expected, strlen(cases[i].expected));
		assert_alone(&root);
	}
}

static void a_finished_node_is_only_read(_unused_ void **state)
{
	_cleanup_(root_done) struct root root = {};
	struct verdict res;

	root_open(&root);
	put_text(&root, FILE_PATH, HEAD KEY ": restricted\n");
	assert_int_equal(ensure(&root.fs, BEST_EFFORT, 1, &res), 0);
	assert_false(fs_exists(&root.fs, "run")); /* not even the lock */
}

/* In a mount namespace of its own. Return: 0 as it should be, 1 not, 77 not allowed to mount. */
static int edit_mounted(struct root *root, const char *path, unsigned long flags)
{
	struct verdict res;
	char full[PATH_MAX];
	int r;

	snprintf(full, sizeof(full), "%s/%s", root->path, path);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(full, full, NULL, MS_BIND, NULL) < 0)
		return 77;
	if (flags && mount(NULL, full, NULL, MS_BIND | MS_REMOUNT | flags, NULL) < 0)
		return 77;

	/* The descriptor from before leads to where nothing is mounted. */
	fs_done(&root->fs);
	if (fs_open_root(root->path, &root->fs) < 0)
		return 1;
	r = ensure(&root->fs, BEST_EFFORT, 1, &res);
	print_message("    %s\n", res.detail);
	return r < 0 || res.outcome != KUBELET_REFUSED || res.reason != REASON_KUBELET_FILE_REFUSED;
}

static void a_file_that_cannot_be_replaced_is_refused(_unused_ void **state)
{
	static const struct {
		const char *path;
		unsigned long flags;
	} cases[] = { { FILE_PATH, 0 }, { "var/lib/kubelet", MS_RDONLY } };

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(root_done) struct root root = {};
		int status;
		pid_t pid;

		root_open(&root);
		put_text(&root, FILE_PATH, HEAD);
		pid = fork();
		if (pid == 0)
			_exit(edit_mounted(&root, cases[i].path, cases[i].flags));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			skip_without("a mount namespace of its own");
		assert_int_equal(status, 0);
		assert_text(&root, FILE_PATH, HEAD, strlen(HEAD));
		assert_alone(&root);
	}
}

static void many_at_once_give_one_whole_file(_unused_ void **state)
{
	for (int round = 0; round < 10; round++) {
		_cleanup_(root_done) struct root root = {};
		pid_t children[6];

		root_open_on_disk(&root); /* where fsync() takes its time */
		put_text(&root, FILE_PATH, HEAD "a: b\n");
		for (size_t i = 0; i < ELEMENTSOF(children); i++) {
			children[i] = fork();
			if (children[i] == 0) {
				struct verdict res;
				int r = ensure(&root.fs, BEST_EFFORT, 1, &res);

				_exit(r < 0 || res.outcome == KUBELET_REFUSED);
			}
		}
		for (size_t i = 0; i < ELEMENTSOF(children); i++) {
			int status;

			assert_int_equal(waitpid(children[i], &status, 0), children[i]);
			assert_int_equal(status, 0);
		}
		assert_text(&root, FILE_PATH, HEAD KEY ": best-effort\na: b\n",
			    strlen(HEAD KEY ": best-effort\na: b\n"));
		assert_alone(&root);
	}
}

/* A reader takes no more names than it has room for: that of all services is never lost. */
static void a_unit_of_many_dashes_has_drop_ins_of_all_services(_unused_ void **state)
{
	for (size_t n = 0; n < 12; n++) {
		_cleanup_(root_done) struct root root = {};
		_cleanup_(unit_paths_done) struct unit_paths l = {};
		char unit[64];

		snprintf(unit, sizeof(unit), "k%.*s.service", (int)(2 * n),
			 "-a-b-c-d-e-f-g-h-i-j-k-l");
		root_open(&root);
		put_text(&root, FS_PATH("etc/systemd/system/%s", unit), "");
		put_text(&root, "etc/systemd/system/service.d/a.conf", "");
		assert_int_equal(unit_file_list(&root.fs, unit, &l), 0);
		print_message("  %s: %zu\n", unit, l.n);
		assert_int_equal(l.n, 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_edit_changes_the_value_and_nothing_else),
		cmocka_unit_test(a_file_above_four_mebibytes_is_refused),
		cmocka_unit_test(deep_or_long_files_take_no_long_time),
		cmocka_unit_test(the_file_or_flag_that_decides_is_found),
		cmocka_unit_test(links_in_and_to_the_folder_of_drop_ins_are_the_kubelets),
		cmocka_unit_test(a_nul_in_a_unit_or_its_variables_is_not_understood),
		cmocka_unit_test(a_backslash_at_the_end_of_a_value_or_line_only_goes),
		cmocka_unit_test(a_command_line_that_grows_without_bound_is_not_understood),
		cmocka_unit_test(a_node_without_kubelet_has_none),
		cmocka_unit_test(a_file_beside_a_masked_unit_may_be_read_by_none),
		cmocka_unit_test(a_capture_of_k0s_holds_no_secrets),
		cmocka_unit_test(a_capture_holds_no_secrets),
		cmocka_unit_test(the_label_of_the_mode_is_read_wherever_flags_are),
		cmocka_unit_test(the_root_folder_of_k0s_is_in_its_data_folder),
		cmocka_unit_test(the_root_folder_of_a_snap_may_be_in_its_variables),
		cmocka_unit_test(the_folder_of_static_pods_is_known_or_not),
		cmocka_unit_test(the_nodes_address_is_read),
		cmocka_unit_test(a_command_line_that_cannot_be_read_tells_no_address),
		cmocka_unit_test(a_command_line_is_remembered_for_one_machine),
		cmocka_unit_test(the_api_servers_are_read),
		cmocka_unit_test(a_capture_of_k3s_holds_no_secrets),
		cmocka_unit_test(what_is_not_asked_for_or_not_possible_changes_nothing),
		cmocka_unit_test(links_owner_and_mode_stay),
		cmocka_unit_test(a_temporary_file_left_by_a_crash_or_planted_is_taken_away),
		cmocka_unit_test(a_temporary_file_that_is_open_elsewhere_is_not_waited_for),
		cmocka_unit_test(a_second_one_waits_for_the_first),
		cmocka_unit_test(what_another_one_writes_meanwhile_is_not_lost),
		cmocka_unit_test(a_finished_node_is_only_read),
		cmocka_unit_test(a_unit_of_many_dashes_has_drop_ins_of_all_services),
		cmocka_unit_test(a_file_that_cannot_be_replaced_is_refused),
		cmocka_unit_test(many_at_once_give_one_whole_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
