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

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../src/doors/yaml.h"
#include "../src/kubelet.h"
#include "../src/observe/kubelet.h"

#define FILE_PATH "var/lib/kubelet/config.yaml"
#define API       "apiVersion: kubelet.config.k8s.io/v1beta1\n"
#define KIND      "kind: KubeletConfiguration\n"
#define HEAD      API KIND
#define KEY       "topologyManagerPolicy"
#define BE        "best-effort"

struct text {
	const char *data;
	size_t size;
};
#define TEXT(s) { s, sizeof(s) - 1 }
#define SAME    { NULL, 0 }

struct root {
	char path[64];
	struct fs fs;
};

static int remove_entry(const char *path, _unused_ const struct stat *st, _unused_ int flag,
			_unused_ struct FTW *ftw)
{
	return remove(path);
}

static void root_open_in(struct root *ret, const char *folder)
{
	snprintf(ret->path, sizeof(ret->path), "%s/test-kubelet-XXXXXX", folder);
	assert_non_null(mkdtemp(ret->path));
	assert_int_equal(fs_open_root(ret->path, &ret->fs), 0);
}

/* In memory where there is such a folder: every edit waits for the disk, twice. */
static void root_open(struct root *ret)
{
	root_open_in(ret, access("/dev/shm", W_OK) >= 0 ? "/dev/shm" : "/tmp");
}

static void root_done(struct root *root)
{
	fs_done(&root->fs);
	nftw(root->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void put(const struct root *root, const char *path, const char *data, size_t size)
{
	char folder[PATH_MAX], full[PATH_MAX];
	int fd;

	COPY(folder, path);
	if (strrchr(folder, '/')) {
		*strrchr(folder, '/') = '\0';
		assert_true(fs_make_folders(&root->fs, folder) >= 0);
	}
	assert_true(snprintf(full, sizeof(full), "%s/%s", root->path, path) > 0);
	unlink(full); /* an empty file may have been seen there first */
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
}

static void put_text(const struct root *root, const char *path, const char *text)
{
	put(root, path, text, strlen(text));
}

static void put_link(const struct root *root, const char *path, const char *target)
{
	char full[PATH_MAX];

	put_text(root, path, "");
	assert_true(snprintf(full, sizeof(full), "%s/%s", root->path, path) > 0);
	assert_int_equal(unlink(full), 0);
	assert_int_equal(symlink(target, full), 0);
}

static struct stat stat_of(const struct root *root, const char *path)
{
	char full[PATH_MAX];
	struct stat st;

	assert_true(snprintf(full, sizeof(full), "%s/%s", root->path, path) > 0);
	assert_int_equal(lstat(full, &st), 0);
	return st;
}

static void assert_text(const struct root *root, const char *path, const char *data, size_t size)
{
	_cleanup_(freep) char *have = NULL;
	size_t have_size;

	assert_int_equal(fs_read_all(&root->fs, path, 4 * YAML_MAX_BYTES, true, &have, &have_size),
			 0);
	assert_int_equal(have_size, size);
	assert_memory_equal(have, data, size);
}

/* Nothing but the file itself is left in its folder. */
static void assert_alone(const struct root *root)
{
	_cleanup_(fs_names_done) struct fs_names names = {};

	assert_int_equal(fs_list(&root->fs, "var/lib/kubelet", &names), 0);
	assert_int_equal(names.n_names, 1);
}

/* A recorder that puts what it is told into another folder. */
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

static void assert_capture_tells_the_same(struct root *root, const char *secret)
{
	_cleanup_(root_done) struct root copy_of = {};
	struct kubelet k = {}, again = {};
	char command[PATH_MAX];

	root_open(&copy_of);
	root->fs.on_read = on_read;
	root->fs.userdata = &copy_of;
	assert_int_equal(observe_kubelet(&root->fs, &k), 0);
	root->fs.on_read = NULL;

	assert_int_equal(observe_kubelet(&copy_of.fs, &again), 0);
	assert_int_equal(again.is_there, k.is_there);
	assert_int_equal(again.policy, k.policy);
	assert_int_equal(again.refusal, k.refusal);
	assert_string_equal(again.path, k.path);
	assert_string_equal(again.detail, k.detail);

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
	struct text in, out;
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
	{ "another key begins like it", TEXT(HEAD "topologyManagerPolicyOptions:\n  a: b\n"),
	  TEXT(HEAD KEY ": best-effort\ntopologyManagerPolicyOptions:\n  a: b\n"), KUBELET_CHANGED,
	  NONE },
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
	{ "wrong case of the value", TEXT(HEAD KEY ": Best-Effort\n"), SAME, KUBELET_REFUSED,
	  UNSET },
	{ "comment without a blank", TEXT(HEAD KEY ": best-effort#x\n"), SAME, KUBELET_REFUSED,
	  UNSET },
	{ "clipped block ends in newline", TEXT(HEAD KEY ": |\n  best-effort\n"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "stripped block", TEXT(HEAD KEY ": >-\n  none\n"), SAME, KUBELET_REFUSED, NONE },
	{ "a mapping", TEXT(HEAD KEY ": {a: b}\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "a list", TEXT(HEAD KEY ":\n- none\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "several lines", TEXT(HEAD KEY ": none\n  more\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "a hidden NUL", TEXT(HEAD KEY ": \"best-effort\\0x\"\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "a vendor's value", TEXT(HEAD KEY ": enhanced-static\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "anchor on the value", TEXT(HEAD KEY ": &a none\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "tag on the value", TEXT(HEAD KEY ": !!str none\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "tag without a value", TEXT(HEAD KEY ": !!null\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "alias as the value", TEXT(HEAD "a: &a none\n" KEY ": *a\n"), SAME, KUBELET_REFUSED,
	  UNSET },

	/* refused: structure */
	{ "merge key", TEXT(HEAD "a: &k {" KEY ": none}\n" KEY ": best-effort\n<<: *k\n"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "merge of a literal mapping", TEXT(HEAD KEY ": best-effort\n<<: {" KEY ": none}\n"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "merge by tag", TEXT(HEAD KEY ": best-effort\n!!merge x: {" KEY ": none}\n"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "alias elsewhere", TEXT(HEAD "a: &a 1\nb: [*a]\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "alias as key", TEXT(HEAD "a: &a " KEY "\n*a : restricted\n"), SAME, KUBELET_REFUSED,
	  UNSET },
	{ "anchor on the key", TEXT(HEAD "&a " KEY ": none\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "tag on the key", TEXT(HEAD "!!str " KEY ": none\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "complex key", TEXT(HEAD "? " KEY "\n: none\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "complex kind", TEXT("? kind\n: KubeletConfiguration\n" API), SAME, KUBELET_REFUSED,
	  UNSET },
	{ "list as key", TEXT(HEAD "? [a]\n: b\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "tagged document", TEXT("--- !!map\n" HEAD), SAME, KUBELET_REFUSED, UNSET },
	{ "flow mapping on the marker's line", TEXT("--- {kind: KubeletConfiguration}\n"), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "flow mapping below a comment",
	  TEXT("# c\n{kind: KubeletConfiguration, apiVersion: kubelet.config.k8s.io/v1beta1}\n"),
	  SAME, KUBELET_REFUSED, UNSET },
	{ "directive", TEXT("%YAML 1.1\n---\n" HEAD), SAME, KUBELET_REFUSED, UNSET },
	{ "tag directive", TEXT("%TAG !e! tag:example.com,2000:\n---\n" HEAD), SAME,
	  KUBELET_REFUSED, UNSET },
	{ "percent sign in the middle", TEXT(HEAD "%x\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "dedent below the first key",
	  TEXT("  apiVersion: kubelet.config.k8s.io/v1beta1\n"
	       "  kind: KubeletConfiguration\n" KEY ": none\n"),
	  SAME, KUBELET_REFUSED, UNSET },
	{ "no blank behind the colon", TEXT(HEAD KEY ":none\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "tab as indentation", TEXT(HEAD "a:\n\tb: c\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "open quote", TEXT(HEAD "a: \"b\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "JSON",
	  TEXT("{\"kind\":\"KubeletConfiguration\",\"apiVersion\":\"kubelet.config.k8s.io/"
	       "v1beta1\"}"),
	  SAME, KUBELET_REFUSED, UNSET },
	{ "JSON behind blanks", TEXT("\n  {\"kind\": \"KubeletConfiguration\"}\n"), SAME,
	  KUBELET_REFUSED, UNSET },

	/* refused: another kind, or none */
	{ "nothing", TEXT(""), SAME, KUBELET_REFUSED, UNSET },
	{ "blanks", TEXT(" \n\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "comments only", TEXT("# kind: KubeletConfiguration\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "marker only", TEXT("---\n"), SAME, KUBELET_REFUSED, UNSET },
	{ "empty first document", TEXT("---\n---\n" HEAD), SAME, KUBELET_REFUSED, UNSET },
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
	  UNSET },
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
		const struct text *out = files[i].out.data ? &files[i].out : &files[i].in;
		const bool is_changed = files[i].outcome == KUBELET_CHANGED;
		struct kubelet_result res;
		struct kubelet k;
		struct stat before, after;

		print_message("  %s\n", files[i].name);
		root_open(&root);
		put(&root, FILE_PATH, files[i].in.data, files[i].in.size);
		before = stat_of(&root, FILE_PATH);
		assert_capture_tells_the_same(&root, NULL);

		assert_int_equal(kubelet_ensure(&root.fs, BEST_EFFORT, 2, &res), 0);
		print_message("    %s\n", res.detail);
		assert_int_equal(res.outcome, files[i].outcome);
		assert_int_equal(res.from, files[i].before);
		assert_int_equal(res.reason, res.outcome == KUBELET_REFUSED
						     ? REASON_KUBELET_FILE_REFUSED
						     : REASON_NONE);
		assert_string_equal(res.path, "/" FILE_PATH);
		assert_text(&root, FILE_PATH, out->data, out->size);
		assert_alone(&root);
		after = stat_of(&root, FILE_PATH);
		assert_int_equal(before.st_ino == after.st_ino, !is_changed);

		assert_int_equal(observe_kubelet(&root.fs, &k), 0);
		assert_int_equal(k.policy, is_changed ? BEST_EFFORT : files[i].before);
		assert_true(k.is_there);

		assert_int_equal(kubelet_ensure(&root.fs, BEST_EFFORT, 2, &res), 0);
		assert_int_equal(res.outcome, is_changed ? KUBELET_SATISFIED : files[i].outcome);
		assert_text(&root, FILE_PATH, out->data, out->size);
		assert_int_equal(stat_of(&root, FILE_PATH).st_ino, after.st_ino);
	}
}

static void a_file_above_one_mebibyte_is_refused(_unused_ void **state)
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
		struct kubelet_result res;

		assert_non_null(text);
		memset(text, '#', cases[i].size);
		memcpy(text, HEAD, strlen(HEAD));
		root_open(&root);
		put(&root, FILE_PATH, text, cases[i].size);
		assert_capture_tells_the_same(&root, NULL);

		assert_int_equal(kubelet_ensure(&root.fs, BEST_EFFORT, 1, &res), 0);
		assert_int_equal(res.outcome, cases[i].outcome);
		if (res.outcome == KUBELET_REFUSED)
			assert_text(&root, FILE_PATH, text, cases[i].size);
	}
}

static void deep_or_long_files_take_no_long_time(_unused_ void **state)
{
	static const char *const units[] = { "[",      "{a: ", "? ",  "- ", KEY ":\n",
					     "a: b\n", "&a ",  "!a ", "'",  "a" };

	for (size_t i = 0; i < ELEMENTSOF(units); i++) {
		_cleanup_(freep) char *text = calloc(1, YAML_MAX_BYTES), *out = NULL;
		size_t n = strlen(HEAD), size;

		assert_non_null(text);
		memcpy(text, HEAD, n);
		if (i < 4) /* as the value of some key */
			n += (size_t)sprintf(text + n, "x: ");
		while (n + strlen(units[i]) < YAML_MAX_BYTES)
			n += (size_t)sprintf(text + n, "%s", units[i]);

		alarm(20);
		yaml_set(text, n, KEY, BE, &out, &size);
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

/* The file is always there, with policy none, unless a case says otherwise. */
static const struct {
	const char *name;
	struct entry entries[6];
	enum topology_policy policy;
	enum reason refusal;
	const char *path;
	const char *detail; /* a part of it */
} nodes[] = {
	{ "kubeadm",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet\n" }, { DROP_IN, KUBEADM } },
	  NONE,
	  REASON_NONE,
	  "/" FILE_PATH,
	  "is not set" },
	{ "kubeadm with flags of its own",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet\n" },
	    { DROP_IN, KUBEADM },
	    { "var/lib/kubelet/kubeadm-flags.env",
	      "KUBELET_KUBEADM_ARGS=\"--container-runtime-endpoint=unix:///run/c.sock\"\n" } },
	  NONE,
	  REASON_NONE,
	  "/" FILE_PATH,
	  "" },
	{ "flag in the environment file",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet\n" },
	    { DROP_IN, KUBEADM },
	    { "etc/default/kubelet",
	      "# c\nKUBELET_EXTRA_ARGS=\"--v=2 --topology-manager-policy=none\"\n" } },
	  NONE,
	  REASON_KUBELET_FLAG_WINS,
	  "/etc/default/kubelet",
	  "/etc/default/kubelet:2: --topology-manager-policy=none" },
	{ "flag that satisfies",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet\n" },
	    { DROP_IN, KUBEADM },
	    { "etc/default/kubelet",
	      "KUBELET_EXTRA_ARGS=--topology-manager-policy restricted\n" } },
	  RESTRICTED,
	  REASON_KUBELET_FLAG_WINS,
	  "/etc/default/kubelet",
	  ":1:" },
	{ "flag with underscores, the last of two lines",
	  { { "etc/default/kubelet",
	      "KUBELET_EXTRA_ARGS=--v=2\nKUBELET_EXTRA_ARGS=\"--topology_manager_policy "
	      "none\"\n" } },
	  NONE,
	  REASON_KUBELET_FLAG_WINS,
	  "/etc/default/kubelet",
	  ":2:" },
	{ "flag on a continued line",
	  { { "etc/sysconfig/kubelet", "KUBELET_EXTRA_ARGS=--v=2 \\\n"
				       " --topology-manager-policy \\\n restricted\n" } },
	  RESTRICTED,
	  REASON_KUBELET_FLAG_WINS,
	  "/etc/sysconfig/kubelet",
	  ":2:" },
	{ "flag in a comment",
	  { { "etc/default/kubelet", "#KUBELET_EXTRA_ARGS=--topology-manager-policy=none\n"
				     "; --config-dir=/x\n" } },
	  NONE,
	  REASON_NONE,
	  "/" FILE_PATH,
	  "" },
	{ "flag whose name only begins like it",
	  { { "etc/default/kubelet",
	      "A=\"--topology-manager-policy-options=a=b --configs=/x\"\n" } },
	  NONE,
	  REASON_NONE,
	  "/" FILE_PATH,
	  "" },
	{ "two flags that differ",
	  { { "etc/default/kubelet",
	      "A=--topology-manager-policy=none\nB=--topology-manager-policy=restricted\n" } },
	  UNSET,
	  REASON_KUBELET_FLAG_WINS,
	  "/etc/default/kubelet",
	  "differ" },
	{ "flag without a value",
	  { { "etc/default/kubelet", "A=\"--topology-manager-policy=\"\n" } },
	  UNSET,
	  REASON_KUBELET_FLAG_WINS,
	  "/etc/default/kubelet",
	  "" },
	{ "flag with a variable",
	  { { "etc/default/kubelet", "A=--topology-manager-policy=$X\n" } },
	  UNSET,
	  REASON_KUBELET_FLAG_WINS,
	  "/etc/default/kubelet",
	  "" },
	{ "flag in a file that the unit does not name",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet\n" },
	    { "etc/default/kubelet", "A=--topology-manager-policy=restricted\n" } },
	  UNSET,
	  REASON_KUBELET_FLAG_WINS,
	  "/etc/default/kubelet",
	  "" },
	{ "flag in the unit",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet \\\n  # a comment\n"
		    "  --topology-manager-policy=best-effort\n" } },
	  BEST_EFFORT,
	  REASON_KUBELET_FLAG_WINS,
	  "/" UNIT,
	  ":4:" },
	{ "flag in a comment inside a continued line",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet \\\n# "
		    "--topology-manager-policy=best-effort\n --v=2\n" } },
	  NONE,
	  REASON_NONE,
	  "/" FILE_PATH,
	  "" },
	{ "flag of another command",
	  { { UNIT, "[Service]\nExecStartPre=/bin/x --config=/y --topology-manager-"
		    "policy=none\nExecStart=/usr/bin/kubelet\n" } },
	  NONE,
	  REASON_NONE,
	  "/" FILE_PATH,
	  "" },
	{ "drop-in takes the command back",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet --config=/etc/a "
		    "--topology-manager-policy=none\n" },
	    { DROP_IN,
	      "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet --config=/" FILE_PATH "\n" } },
	  NONE,
	  REASON_NONE,
	  "/" FILE_PATH,
	  "" },
	{ "drop-in of a higher folder",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet\n" },
	    { DROP_IN, "[Service]\nEnvironment=A=--config=/etc/a\n" },
	    { "etc/systemd/system/kubelet.service.d/10-kubeadm.conf",
	      "[Service]\nEnvironment=A=--config=/" FILE_PATH "\n" } },
	  NONE,
	  REASON_NONE,
	  "/" FILE_PATH,
	  "" },
	{ "environment file named by the unit",
	  { { UNIT, "[Service]\nEnvironmentFile=-/etc/kubernetes/kubelet-customized-args.conf\n"
		    "ExecStart=/usr/bin/kubelet $KUBELET_CUSTOMIZED_ARGS\n" },
	    { "etc/kubernetes/kubelet-customized-args.conf",
	      "KUBELET_CUSTOMIZED_ARGS=\"--topology-manager-policy=restricted\"\n" } },
	  RESTRICTED,
	  REASON_KUBELET_FLAG_WINS,
	  "/etc/kubernetes/kubelet-customized-args.conf",
	  ":1:" },
	{ "environment files by pattern",
	  { { UNIT,
	      "[Service]\nEnvironmentFile=/etc/kubelet/*.env\nExecStart=/usr/bin/kubelet\n" } },
	  UNSET,
	  REASON_KUBELET_FILE_REFUSED,
	  "",
	  "/etc/kubelet/*.env" },
	{ "another file",
	  { { UNIT,
	      "[Service]\nExecStart=/usr/bin/kubelet --config=/etc/kubernetes/kubelet.conf\n" },
	    { "etc/kubernetes/kubelet.conf", HEAD KEY ": restricted\n" } },
	  RESTRICTED,
	  REASON_NONE,
	  "/etc/kubernetes/kubelet.conf",
	  ":3: topologyManagerPolicy: restricted" },
	{ "kubeconfig in its place",
	  { { UNIT,
	      "[Service]\nExecStart=/usr/bin/kubelet --config \"/etc/kubernetes/kubelet.conf\"\n" },
	    { "etc/kubernetes/kubelet.conf", "apiVersion: v1\nkind: Config\ntoken: s3cret\n" } },
	  UNSET,
	  REASON_KUBELET_FILE_REFUSED,
	  "/etc/kubernetes/kubelet.conf",
	  "is not a KubeletConfiguration" },
	{ "file not there",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet --config=/etc/kubernetes/absent\n" } },
	  UNSET,
	  REASON_KUBELET_NO_FILE,
	  "/etc/kubernetes/absent",
	  "is not there" },
	{ "two files",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet --config=/a\n" },
	    { "etc/default/kubelet", "A=--config=/b\n" } },
	  UNSET,
	  REASON_KUBELET_FILE_REFUSED,
	  "",
	  "--config=/b" },
	{ "file by variable",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet --config=${F}\n" } },
	  UNSET,
	  REASON_KUBELET_FILE_REFUSED,
	  "",
	  "${F} is not understood" },
	{ "file by specifier",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet --config=%E/k\n" } },
	  UNSET,
	  REASON_KUBELET_FILE_REFUSED,
	  "",
	  "%E/k is not understood" },
	{ "relative file",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet --config=k.yaml\n" } },
	  UNSET,
	  REASON_KUBELET_FILE_REFUSED,
	  "",
	  "is not understood" },
	{ "file with dots",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet --config=/var/../x\n" } },
	  UNSET,
	  REASON_KUBELET_FILE_REFUSED,
	  "",
	  "is not understood" },
	{ "folder of drop-ins",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet --config=/" FILE_PATH
		    " --config-dir=/etc/d\n" } },
	  UNSET,
	  REASON_KUBELET_FILE_REFUSED,
	  "",
	  "--config-dir=/etc/d" },
	{ "running kubelet decides",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet --config=${F}\n" },
	    { CGROUP, "12\n345\n" },
	    { "proc/12/cmdline", "/usr/bin/other" },
	    { "proc/345/cmdline", "/usr/bin/kubelet|--config|/etc/k|--v=2" },
	    { "etc/k", HEAD KEY ": restricted\n" } },
	  RESTRICTED,
	  REASON_NONE,
	  "/etc/k",
	  "" },
	{ "running kubelet with a flag",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet $X\n" },
	    { CGROUP, "345\n" },
	    { "proc/345/cmdline", "kubelet|--config=/etc/k|--topology_manager_policy|none" } },
	  NONE,
	  REASON_KUBELET_FLAG_WINS,
	  "/proc/345/cmdline",
	  "/proc/345/cmdline: --topology" },
	{ "running kubelet on version 1 groups",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet $X\n" },
	    { "sys/fs/cgroup/systemd/system.slice/kubelet.service/cgroup.procs", "345\n" },
	    { "proc/345/cmdline", "kubelet|--config=/etc/a|--config=/etc/k" },
	    { "etc/k", HEAD KEY ": restricted\n" } },
	  RESTRICTED,
	  REASON_NONE,
	  "/etc/k",
	  "" },
	{ "running kubelet has no file",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet $X\n" },
	    { CGROUP, "345\n" },
	    { "proc/345/cmdline", "kubelet|--v=2" } },
	  UNSET,
	  REASON_KUBELET_FILE_REFUSED,
	  "",
	  "has no --config" },
	{ "unit changed since the kubelet started",
	  { { UNIT, "[Service]\nExecStart=/usr/bin/kubelet --config=/etc/new\n" },
	    { CGROUP, "345\n" },
	    { "proc/345/cmdline", "kubelet|--config=/etc/old" } },
	  UNSET,
	  REASON_KUBELET_FILE_REFUSED,
	  "",
	  "/etc/new, but the kubelet runs with /etc/old" },
	{ "a value that would spoil the terminal",
	  { { FILE_PATH, HEAD KEY ": \"\\e[1m\\n\"\n" } },
	  UNSET,
	  REASON_KUBELET_FILE_REFUSED,
	  "/" FILE_PATH,
	  ": ?[1m? is not a policy" },
};

static void put_entry(const struct root *root, const struct entry *e)
{
	char text[4096];
	size_t size = strlen(e->text);

	assert_true(COPY(text, e->text));
	if (is_prefix(e->path, "proc/")) {
		for (char *c = text; *c; c++)
			*c = *c == '|' ? '\0' : *c;
		size++; /* every word ends in NUL, the last one too */
	}
	put(root, e->path, text, size);
}

static void the_file_or_flag_that_decides_is_found(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(nodes); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet k;

		print_message("  %s\n", nodes[i].name);
		root_open(&root);
		put_text(&root, FILE_PATH, HEAD);
		for (size_t e = 0; e < ELEMENTSOF(nodes[i].entries) && nodes[i].entries[e].path;
		     e++)
			put_entry(&root, &nodes[i].entries[e]);

		assert_int_equal(observe_kubelet(&root.fs, &k), 0);
		print_message("    %s\n", k.detail);
		assert_true(k.is_there);
		assert_int_equal(k.policy, nodes[i].policy);
		assert_int_equal(k.refusal, nodes[i].refusal);
		assert_string_equal(k.path, nodes[i].path);
		assert_non_null(strstr(k.detail, nodes[i].detail));
		assert_capture_tells_the_same(&root, NULL);
	}
}

static void a_node_without_kubelet_has_none(_unused_ void **state)
{
	_cleanup_(root_done) struct root root = {};
	struct kubelet_result res;
	struct kubelet k;

	root_open(&root);
	assert_int_equal(observe_kubelet(&root.fs, &k), 0);
	assert_false(k.is_there);
	assert_int_equal(k.policy, UNSET);
	assert_int_equal(k.refusal, REASON_KUBELET_NO_FILE);
	assert_int_equal(kubelet_ensure(&root.fs, BEST_EFFORT, 1, &res), 0);
	assert_int_equal(res.outcome, KUBELET_SATISFIED); /* there is nobody to want it */

	/* A masked unit starts nothing. */
	put_link(&root, "etc/systemd/system/kubelet.service", "/dev/null");
	put_text(&root, UNIT, "[Service]\nExecStart=/usr/bin/kubelet --config=/a\n");
	assert_int_equal(observe_kubelet(&root.fs, &k), 0);
	assert_false(k.is_there);
	assert_capture_tells_the_same(&root, NULL);
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
		{ FILE_PATH, HEAD "a: [s3cret\n" },
		{ "etc/default/kubelet",
		  "TOKEN=s3cret\nA=\"--x=s3cret --config=/" FILE_PATH " --y=s3cret\"\n" },
		{ UNIT, "[Service]\nEnvironment=HTTPS_PROXY=http://u:s3cret@p\nExecStart=/usr/bin/"
			"kubelet "
			"--config=/" FILE_PATH " --x=s3cret\n" },
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
		{ BEST_EFFORT, 34, HEAD KEY ": restricted\n", KUBELET_SATISFIED, REASON_NONE },
		{ RESTRICTED, 2, HEAD KEY ": best-effort\n", KUBELET_CHANGED, REASON_NONE },
		{ RESTRICTED, 2, HEAD KEY ": single-numa-node\n", KUBELET_SATISFIED, REASON_NONE },
		{ TOPOLOGY_POLICY_SINGLE_NUMA_NODE, 2, HEAD KEY ": restricted\n", KUBELET_CHANGED,
		  REASON_NONE },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_result res;
		struct kubelet k;

		root_open(&root);
		put_text(&root, FILE_PATH, cases[i].text);
		assert_int_equal(
			kubelet_ensure(&root.fs, cases[i].want, cases[i].n_numa_nodes, &res), 0);
		assert_int_equal(res.outcome, cases[i].outcome);
		assert_int_equal(res.reason, cases[i].reason);
		assert_int_equal(res.to, cases[i].want);
		if (res.outcome != KUBELET_CHANGED) {
			assert_text(&root, FILE_PATH, cases[i].text, strlen(cases[i].text));
			continue;
		}
		assert_int_equal(observe_kubelet(&root.fs, &k), 0);
		assert_int_equal(k.policy, cases[i].want);
	}
}

static void links_owner_and_mode_stay(_unused_ void **state)
{
	static const char *const targets[] = { "/etc/kubernetes/real.yaml",
					       "../../../etc/kubernetes/real.yaml", "hop" };

	for (size_t i = 0; i < ELEMENTSOF(targets); i++) {
		_cleanup_(root_done) struct root root = {};
		const bool is_root = geteuid() == 0;
		struct kubelet_result res;
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

		assert_int_equal(kubelet_ensure(&root.fs, BEST_EFFORT, 1, &res), 0);
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
		struct kubelet_result res;

		root_open(&root);
		put_text(&root, FILE_PATH, HEAD);
		put_text(&root, "victim", "v");
		if (i == 0)
			put_text(&root, TEMPORARY, "half");
		else
			put_link(&root, TEMPORARY, i == 1 ? "../../../victim" : "absent");

		assert_int_equal(kubelet_ensure(&root.fs, BEST_EFFORT, 1, &res), 0);
		assert_int_equal(res.outcome, KUBELET_CHANGED);
		assert_text(&root, "victim", "v", 1);
		assert_alone(&root);
	}
}

static void a_temporary_file_somebody_holds_is_not_waited_for(_unused_ void **state)
{
	_cleanup_(root_done) struct root root = {};
	_cleanup_(closep) int fd = -EBADF;
	struct kubelet_result res;

	root_open(&root);
	put_text(&root, FILE_PATH, HEAD);
	put_text(&root, TEMPORARY, ""); /* mode 0644: anybody could lock it */
	fd = fs_open(&root.fs, TEMPORARY, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);

	alarm(20);
	assert_int_equal(kubelet_ensure(&root.fs, BEST_EFFORT, 1, &res), 0);
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
		struct kubelet_result res;

		_exit(kubelet_ensure(&root.fs, BEST_EFFORT, 1, &res) < 0 ||
		      res.outcome != KUBELET_CHANGED);
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
		struct kubelet_result res;
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
			skip();

		pid = fork();
		if (pid == 0)
			_exit(kubelet_ensure(&root.fs, BEST_EFFORT, 1, &res) < 0);
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
	struct kubelet_result res;

	root_open(&root);
	put_text(&root, FILE_PATH, HEAD KEY ": restricted\n");
	assert_int_equal(kubelet_ensure(&root.fs, BEST_EFFORT, 1, &res), 0);
	assert_false(fs_exists(&root.fs, "run")); /* not even the lock */
}

/* In a mount namespace of its own. Return: 0 as it should be, 1 not, 77 not allowed to mount. */
static int edit_mounted(struct root *root, const char *path, unsigned long flags)
{
	struct kubelet_result res;
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
	r = kubelet_ensure(&root->fs, BEST_EFFORT, 1, &res);
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
			skip();
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

		root_open_in(&root, "/tmp"); /* where fsync() takes its time */
		put_text(&root, FILE_PATH, HEAD "a: b\n");
		for (size_t i = 0; i < ELEMENTSOF(children); i++) {
			children[i] = fork();
			if (children[i] == 0) {
				struct kubelet_result res;
				int r = kubelet_ensure(&root.fs, BEST_EFFORT, 1, &res);

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_edit_changes_the_value_and_nothing_else),
		cmocka_unit_test(a_file_above_one_mebibyte_is_refused),
		cmocka_unit_test(deep_or_long_files_take_no_long_time),
		cmocka_unit_test(the_file_or_flag_that_decides_is_found),
		cmocka_unit_test(a_node_without_kubelet_has_none),
		cmocka_unit_test(a_capture_holds_no_secrets),
		cmocka_unit_test(what_is_not_asked_for_or_not_possible_changes_nothing),
		cmocka_unit_test(links_owner_and_mode_stay),
		cmocka_unit_test(a_temporary_file_left_by_a_crash_or_planted_is_taken_away),
		cmocka_unit_test(a_temporary_file_somebody_holds_is_not_waited_for),
		cmocka_unit_test(a_second_one_waits_for_the_first),
		cmocka_unit_test(what_another_one_writes_meanwhile_is_not_lost),
		cmocka_unit_test(a_finished_node_is_only_read),
		cmocka_unit_test(a_file_that_cannot_be_replaced_is_refused),
		cmocka_unit_test(many_at_once_give_one_whole_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
