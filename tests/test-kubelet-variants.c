/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flags that come from variables, in the layouts of tests/nodes/kubelet-*, written in every way
 * that systemd reads: quotes, escapes, continued lines, comments, several lines, files and
 * variables, in any order. Of each variant the test knows the words of the command line and the
 * bytes that decide.
 *
 * After an edit these bytes are the wanted ones and every other byte is as before, the resolved
 * value is the wanted one and all other flags are unchanged; without an edit every file is
 * byte-equal to before. revert gives back the bytes of before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/kubelet/find.h"
#include "../src/kubelet/ledger-files.h"
#include "../src/kubelet/yaml.h"
#include "kubelet-root.h"

#define MAX_SLOTS  4
#define N_VARIANTS 400 /* of each layout */
#define FLAG       "topology-manager-policy"

/* A variable of the unit, in the order of its command line, and words that it has on that node. */
struct slot {
	const char *path, *variable, *words;
};

static const struct layout {
	const char *node;
	struct slot slots[MAX_SLOTS];
	const char *early; /* a file of variables that is read before all of these, or NULL */
} layouts[] = {
	{ "kubelet-kubeadm",
	  { { "var/lib/kubelet/kubeadm-flags.env", "KUBELET_KUBEADM_ARGS",
	      "--container-runtime-endpoint=unix:///run/c.sock --pod-infra-container-image=p:3.9" },
	    { "etc/sysconfig/kubelet", "KUBELET_EXTRA_ARGS", "--v=4" } },
	  "var/lib/kubelet/kubeadm-flags.env" },
	{ "kubelet-ack",
	  { { "var/lib/kubelet/kubeadm-flags.env", "KUBELET_KUBEADM_ARGS", "--v=2" },
	    { "etc/kubernetes/kubelet-customized-args.conf", "KUBELET_CUSTOMIZED_ARGS",
	      "--kube-reserved=cpu=50m,memory=1024Mi --kube-reserved=pid=1000" } },
	  "var/lib/kubelet/kubeadm-flags.env" },
	{ "kubelet-aks-policy-flag",
	  { { "etc/default/kubelet", "KUBELET_TLS_BOOTSTRAP_FLAGS", "--rotate-certificates" },
	    { "etc/default/kubelet", "KUBELET_CONFIG_FILE_FLAGS", "" },
	    { "etc/default/kubelet", "KUBELET_FLAGS", "--address=0.0.0.0 --v=2" } } },
	{ "kubelet-gke",
	  { { "etc/default/kubelet", "KUBELET_OPTS",
	      "--v=2 --config /home/kubernetes/kubelet-config.yaml "
	      "--cert-dir=/var/lib/kubelet" } } },
	{ "kubelet-kubespray",
	  { { "etc/kubernetes/kubelet.env", "KUBE_LOG_LEVEL", "--v=2" },
	    { "etc/kubernetes/kubelet.env", "KUBELET_ARGS",
	      "--config=/etc/kubernetes/kubelet-config.yaml --runtime-cgroups=/system.slice" },
	    { "etc/kubernetes/kubelet.env", "KUBELET_CLOUDPROVIDER", "" } } },
	{ "kubelet-eks-al2023-plain",
	  { { "etc/eks/kubelet/environment", "NODEADM_KUBELET_ARGS",
	      "--config=/etc/kubernetes/kubelet/config.json --hostname-override=ip" } } },
};

static uint64_t seed;

static unsigned any(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed % n);
}

struct file {
	char path[128], text[8192];
	size_t size;
};

struct variant {
	struct file files[MAX_SLOTS + 1];
	size_t n_files;
	char value[32];  /* of the policy that decides */
	bool has_policy; /* is it a flag at all? */
	bool is_literal; /* it stands somewhere as it is */
	size_t file, at; /* then: there */
};

static void write_text(struct file *f, const char *text)
{
	const size_t n = strlen(text);

	assert_true(f->size + n < sizeof(f->text));
	memcpy(f->text + f->size, text, n + 1);
	f->size += n;
}

static struct file *file_of(struct variant *v, const char *path)
{
	for (size_t i = 0; i < v->n_files; i++)
		if (streq(v->files[i].path, path))
			return &v->files[i];
	COPY(v->files[v->n_files].path, path);
	return &v->files[v->n_files++];
}

enum style {
	STYLE_BARE,
	STYLE_DOUBLE,
	STYLE_SINGLE,
	_STYLE_N
};

/* Between two words: blanks, or the end of a line where that is none of the value. */
static void write_gap(struct file *f, enum style style)
{
	static const char *const gaps[] = { " ", "  ", "\t", " \\\n", " \\\n\t " };

	write_text(f, gaps[any(style == STYLE_SINGLE ? 3 : ELEMENTSOF(gaps))]);
	if (style == STYLE_SINGLE && any(5) == 0)
		write_text(f, "\n");
}

/* @value as it is, in quotes that go, or with an escape in it. Return: does it stand there? */
static bool write_value(struct file *f, const char *value, enum style style, size_t *ret_at)
{
	const char *quote = style == STYLE_SINGLE ? "\"" : "'";
	const unsigned kind = any(6);

	if (kind == 0 && strlen(value) > 2) {
		char escaped[64];

		snprintf(escaped, sizeof(escaped), "%.2s\\%s", value, value + 2);
		write_text(f, escaped);
		return false;
	}
	write_text(f, kind == 1 ? quote : "");
	*ret_at = f->size;
	write_text(f, value);
	write_text(f, kind == 1 ? quote : "");
	return true;
}

static void write_policy(struct variant *v, struct file *f, enum style style)
{
	static const char *const values[] = { "none", "none", "none", "none", "restricted" };
	static const char *const names[] = { "--topology-manager-policy",
					     "--topology_manager_policy",
					     "--topology-manager_policy" };
	const char *value = values[any(ELEMENTSOF(values))];

	write_text(f, names[any(ELEMENTSOF(names))]);
	if (any(2))
		write_text(f, "=");
	else
		write_gap(f, style);
	v->has_policy = true;
	COPY(v->value, value);
	v->is_literal = write_value(f, value, style, &v->at);
	v->file = (size_t)(f - v->files);
}

/* NAME=words, with @n_policies of ours among them. */
static void write_assignment(struct variant *v, struct file *f, const struct slot *slot,
			     unsigned n_policies)
{
	static const char *const decoys[] = { "--node-labels=" FLAG "=none",
					      "--hostname-override=none",
					      "--" FLAG "-options=prefer-closest-numa-nodes=true",
					      "--none" };
	static const char *const quotes[] = { "", "\"", "'" };
	const enum style style = (enum style)any(_STYLE_N);
	char words[512], *rest = words, *word;

	COPY(words, slot->words);
	write_text(f, any(4) ? "" : "  ");
	write_text(f, slot->variable);
	write_text(f, any(8) ? "=" : " = ");
	write_text(f, quotes[style]);
	/* A value that begins with a quote, or is nothing, would be another case of bare ones. */
	write_text(f, "--x=1");
	while ((word = strsep(&rest, " "))) {
		write_gap(f, style);
		write_text(f, word);
		if (streq(word, "--config"))
			continue; /* the next word is its value */
		if (any(3) == 0) {
			write_gap(f, style);
			write_text(f, decoys[any(ELEMENTSOF(decoys))]);
		}
		if (n_policies > 0 && !any(2)) {
			write_gap(f, style);
			write_policy(v, f, style);
			n_policies--;
		}
	}
	for (; n_policies > 0; n_policies--) {
		write_gap(f, style);
		write_policy(v, f, style);
	}
	if (any(3) == 0) {
		write_gap(f, style);
		write_text(f, decoys[any(2)]);
	}
	write_text(f, quotes[style]);
	write_text(f, any(8) ? "\n" : " \n");
}

/* What is no assignment, or one that another comes after. */
static void write_noise(struct file *f, const char *variable)
{
	static const char *const lines[] = { "# none\n",
					     "\n",
					     "#%s=--" FLAG "=none\n",
					     "; %s=--" FLAG "=restricted\n",
					     "OTHER=\"--" FLAG "=none\"\n",
					     "%s=\"--" FLAG "=restricted\"\n",
					     "export %s=none\n",
					     "rubbish\n" };
	char line[128];

	while (any(3)) {
		snprintf(line, sizeof(line), lines[any(ELEMENTSOF(lines))], variable);
		write_text(f, line);
	}
}

static void make_variant(const struct layout *l, struct variant *v)
{
	size_t n_slots = 0, with;

	*v = (struct variant){};
	while (n_slots < MAX_SLOTS && l->slots[n_slots].path)
		n_slots++;
	with = any((unsigned)n_slots);
	/* The order of the files is the unit's, the order of lines in them is any: the last comes
	 * first here. */
	if (l->early)
		write_noise(file_of(v, l->early), l->slots[n_slots - 1].variable);
	for (size_t i = 0; i < n_slots; i++) {
		struct file *f = file_of(v, l->slots[i].path);

		write_noise(f, l->slots[i].variable);
		write_assignment(v, f, &l->slots[i], i == with ? any(3) : any(5) == 0);
	}
	for (size_t i = 0; i < v->n_files; i++)
		if (any(4) == 0 && v->files[i].text[v->files[i].size - 1] == '\n')
			v->files[i].text[--v->files[i].size] = '\0';
}

/* Is @text what @f has, with @put at @at in place of @n bytes? */
static bool is_spliced(const struct file *f, size_t at, size_t n, const char *put, const char *text,
		       size_t size)
{
	const size_t put_size = strlen(put);

	return size == f->size - n + put_size && memcmp(text, f->text, at) == 0 &&
	       memcmp(text + at, put, put_size) == 0 &&
	       memcmp(text + at + put_size, f->text + at + n, f->size - at - n) == 0;
}

/* One flag more, somewhere, and nothing else. */
static bool is_inserted(const struct file *f, const char *text, size_t size)
{
	static const char *const puts[] = { " --" FLAG "=" BE, "--" FLAG "=" BE };

	for (size_t i = 0; i < ELEMENTSOF(puts); i++)
		for (size_t at = 0; at <= f->size; at++)
			if (is_spliced(f, at, 0, puts[i], text, size))
				return true;
	return size > f->size && memcmp(text, f->text, f->size) == 0; /* a line of its own */
}

static void show(const struct variant *v, const char *why)
{
	print_message("%s: policy %s%s\n", why, v->has_policy ? v->value : "not given",
		      v->is_literal ? "" : ", not literal");
	for (size_t i = 0; i < v->n_files; i++)
		print_message("--- %s\n%s\n", v->files[i].path, v->files[i].text);
}

#define CHECK(v, what)                                                                             \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			show(v, #what);                                                            \
			fail();                                                                    \
		}                                                                                  \
	} while (0)

/* What each file may be after an edit that went this way; NONE: after no edit. */
static void check_files(const struct root *root, const struct variant *v, enum kubelet_way way,
			const char *edited)
{
	for (size_t i = 0; i < v->n_files; i++) {
		const struct file *f = &v->files[i];
		_cleanup_(freep) char *text = NULL;
		size_t size;

		assert_int_equal(
			fs_read_all(&root->fs, f->path, YAML_MAX_BYTES, true, &text, &size), 0);
		if (way == KUBELET_WAY_TOKEN && i == v->file)
			CHECK(v, is_spliced(f, v->at, strlen(v->value), BE, text, size));
		else if (way == KUBELET_WAY_EXTRA && streq(edited + 1, f->path))
			CHECK(v, is_inserted(f, text, size));
		else
			CHECK(v, is_spliced(f, 0, 0, "", text, size));
	}
}

static void check_variant(const struct root *root, const struct variant *v, unsigned n_ways[])
{
	struct kubelet_found before, after;
	struct verdict verdict;
	clock_t begin = clock();

	for (size_t i = 0; i < v->n_files; i++)
		put(root, v->files[i].path, v->files[i].text, v->files[i].size);
	assert_int_equal(kubelet_find(&root->fs, false, &before, NULL), 0);
	CHECK(v, (before.seen.values[0].source == KUBELET_FLAG) == v->has_policy);
	CHECK(v, !v->has_policy || streq(before.seen.values[0].text, v->value));
	CHECK(v, !*before.seen.problem);

	assert_int_equal(ensure(&root->fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &verdict), 0);
	assert_int_equal(kubelet_find(&root->fs, false, &after, NULL), 0);
	CHECK(v, after.rest == before.rest);
	CHECK(v, clock() - begin < 5 * CLOCKS_PER_SEC);
	n_ways[verdict.way]++;
	if (verdict.outcome != KUBELET_CHANGED) {
		CHECK(v, streq(v->value, "restricted") == (verdict.outcome == KUBELET_SATISFIED));
		CHECK(v, verdict.outcome == KUBELET_SATISFIED || !v->is_literal);
		check_files(root, v, KUBELET_WAY_NONE, "");
		return;
	}
	CHECK(v, streq(after.seen.values[0].text, BE));
	/* The one literal is what is changed, wherever there is one. */
	CHECK(v, (verdict.way == KUBELET_WAY_TOKEN) == (v->has_policy && v->is_literal));
	check_files(root, v, verdict.way, verdict.path);

	assert_int_equal(kubelet_revert(&root->fs), 0);
	if (verdict.way == KUBELET_WAY_TOKEN)
		check_files(root, v, KUBELET_WAY_NONE, "");
}

static void an_edit_changes_the_literal_that_decides_and_no_other_byte(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(layouts); i++) {
		_cleanup_(root_done) struct root root = {};
		unsigned n_ways[_KUBELET_WAY_N] = {};
		char command[1024];

		root_open(&root);
		snprintf(command, sizeof(command), "cp -r " NODES "/%s/root/. %s", layouts[i].node,
			 root.path);
		assert_int_equal(system(command), 0);
		for (unsigned k = 1; k <= N_VARIANTS; k++) {
			struct variant v;

			seed = k * UINT64_C(0x9e3779b97f4a7c15);
			make_variant(&layouts[i], &v);
			check_variant(&root, &v, n_ways);
		}
		print_message("  %s: %u literals, %u added flags, %u files, %u left alone\n",
			      layouts[i].node, n_ways[KUBELET_WAY_TOKEN], n_ways[KUBELET_WAY_EXTRA],
			      n_ways[KUBELET_WAY_FILE], n_ways[KUBELET_WAY_NONE]);
		assert_true(n_ways[KUBELET_WAY_TOKEN] > N_VARIANTS / 10);
	}
}

/* "${V}" may say more than one thing; then nothing is edited, unless only the policy changes. */
static void a_variable_that_says_two_things_is_left_alone(_unused_ void **state)
{
	static const struct {
		const char *exec, *variables, *after; /* NULL: as it was */
	} cases[] = {
		{ "--" FLAG "=${P}", "P=none\n", "P=best-effort\n" },
		{ "--" FLAG "=${P}", "P='none'  \n", "P='best-effort'  \n" },
		{ "--" FLAG " ${P}", "P=none\n", "P=best-effort\n" },
		{ "--" FLAG "=${P} --node-labels=p=${P}", "P=none\n", NULL },
		{ "--node-labels=${P} --" FLAG "=${P}", "P=none\n", NULL },
		{ "--" FLAG "=${P}${Q}", "P=none\n", "P=best-effort\n" },
		{ "--" FLAG "=${P}${Q}", "P=no\nQ=ne\n", NULL },
		{ "--" FLAG "=no${Q}", "Q=ne\n", NULL },
		{ "$P $P", "P=--" FLAG "=none\n", "P=--" FLAG "=best-effort\n" },
		{ "$P --none=${P}", "P=--" FLAG "=none\n", NULL },
		{ "$P", "P=--none --" FLAG " none --none=none\n",
		  "P=--none --" FLAG " best-effort --none=none\n" },
		{ "$P", "P='--" FLAG "=\"\"'\n", "P='--" FLAG "=best-effort\"\"'\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_found before, after;
		struct verdict v;
		char unit[512];

		print_message("  %s, %s", cases[i].exec, cases[i].variables);
		root_open(&root);
		put_text(&root, FILE_PATH, HEAD);
		snprintf(unit, sizeof(unit),
			 "[Service]\nEnvironmentFile=/etc/v\nExecStart=/usr/bin/kubelet "
			 "--config=/%s %s\n",
			 FILE_PATH, cases[i].exec);
		put_text(&root, "usr/lib/systemd/system/kubelet.service", unit);
		put_text(&root, "etc/v", cases[i].variables);
		assert_int_equal(kubelet_find(&root.fs, false, &before, NULL), 0);
		assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
		assert_int_equal(kubelet_find(&root.fs, false, &after, NULL), 0);
		assert_int_equal(before.rest == after.rest, true);
		assert_int_equal(v.outcome, cases[i].after ? KUBELET_CHANGED : KUBELET_REFUSED);
		assert_text(&root, "etc/v", cases[i].after ? cases[i].after : cases[i].variables,
			    strlen(cases[i].after ? cases[i].after : cases[i].variables));
	}
}

/* Thousands of words and variables, and any may be the one that has it. */
static void it_takes_less_than_five_seconds_of_a_processor(_unused_ void **state)
{
	static const struct {
		const char *name, *exec, *head, *word, *tail;
		size_t n;
	} cases[] = {
		{ "words", "$A", "A=", "none ", "--" FLAG "=n\\one\n", 7000 },
		{ "one long word", "--x=${A} $B", "A=", "none", "\nB='--" FLAG "=n\\one'\n",
		  30000 },
		{ "variables", "$A $A $A $A", "", "B=none\n", "A=--" FLAG "=n\\one\n", 8000 },
		{ "assignments of the same", "$A", "", "A=--" FLAG "=none\n", "", 6000 },
		{ "quotes", "$A", "A=--" FLAG "=", "''", "none\n", 60000 },
		{ "lines", "$A", "A=", "\\\n", "--" FLAG "=none\n", 100000 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const size_t n_word = strlen(cases[i].word);
		_cleanup_(freep) char *text = malloc(1 << 20);
		_cleanup_(root_done) struct root root = {};
		clock_t begin;
		struct verdict v;
		char unit[512], *at;

		assert_non_null(text);
		at = stpcpy(text, cases[i].head);
		for (size_t k = 0; k < cases[i].n && (size_t)(at - text) + n_word < 250000; k++)
			at = stpcpy(at, cases[i].word);
		strcpy(at, cases[i].tail);
		root_open(&root);
		put_text(&root, FILE_PATH, HEAD);
		snprintf(unit, sizeof(unit),
			 "[Service]\nEnvironmentFile=/etc/v\nExecStart=/usr/bin/kubelet "
			 "--config=/%s %s\n",
			 FILE_PATH, cases[i].exec);
		put_text(&root, "usr/lib/systemd/system/kubelet.service", unit);
		put_text(&root, "etc/v", text);
		begin = clock();
		assert_int_equal(ensure(&root.fs, TOPOLOGY_POLICY_BEST_EFFORT, 2, &v), 0);
		print_message("  %s: %s %s, %u ms\n", cases[i].name,
			      kubelet_outcome_name(v.outcome), v.detail,
			      (unsigned)((clock() - begin) * 1000 / CLOCKS_PER_SEC));
		assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_edit_changes_the_literal_that_decides_and_no_other_byte),
		cmocka_unit_test(a_variable_that_says_two_things_is_left_alone),
		cmocka_unit_test(it_takes_less_than_five_seconds_of_a_processor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
