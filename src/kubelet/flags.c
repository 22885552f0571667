/* SPDX-License-Identifier: Apache-2.0 */
#include "flags.h"

#include "../model/kubelet.h"
#include "start-rules.h"

#define BLANKS " \t\n\v\f\r"

static const struct flag_name {
	const char *name;
	enum flag_kind kind;
	const char *key; /* as flags_key() */
} names[] = {
	{ "config", FLAG_CONFIG },
	{ "config-dir", FLAG_CONFIG_DIR },
	{ "topology-manager-policy", FLAG_POLICY },
	{ "topology-manager-scope", FLAG_SCOPE },
	{ "cpu-manager-policy", FLAG_CPU_POLICY },
	{ "reserved-cpus", FLAG_RESERVED_CPUS },
	{ "topology-manager-policy-options", FLAG_POLICY_OPTIONS, "topologyManagerPolicyOptions" },
	{ "kube-reserved", FLAG_KUBE_RESERVED, "kubeReserved" },
	{ "system-reserved", FLAG_SYSTEM_RESERVED, "systemReserved" },
	{ "kube-reserved-cgroup", FLAG_KUBE_CGROUP, "kubeReservedCgroup" },
	{ "system-reserved-cgroup", FLAG_SYSTEM_CGROUP, "systemReservedCgroup" },
	{ "root-dir", FLAG_ROOT_DIR },
	{ "cpu-manager-policy-options", FLAG_CPU_OPTIONS, "cpuManagerPolicyOptions" },
	{ "memory-manager-policy", FLAG_MEMORY_POLICY, "memoryManagerPolicy" },
	{ "feature-gates", FLAG_FEATURE_GATES, "featureGates" },
	{ "reserved-memory", FLAG_RESERVED_MEMORY, "reservedMemory" },
	{ "eviction-hard", FLAG_EVICTION_HARD, "evictionHard" },
	{ "kubelet-cgroups", FLAG_KUBELET_CGROUPS, "kubeletCgroups" },
	{ "node-labels", FLAG_NODE_LABELS },
	{ "hostname-override", FLAG_HOST_NAME },
	{ "kubeconfig", FLAG_KUBECONFIG },
	{ "bootstrap-kubeconfig", FLAG_BOOTSTRAP_KUBECONFIG },
	{ "pod-manifest-path", FLAG_POD_FOLDER, "staticPodPath" },
	{ "node-ip", FLAG_NODE_IP },
	{ "kubelet-arg", FLAG_KUBELET_ARG },
	{ "data-dir", FLAG_DATA_DIR },
	{ "node-name", FLAG_NODE_NAME },
	{ "flannel-iface", FLAG_FLANNEL_IFACE },
	{ "server", FLAG_SERVER },
	{ "kubelet-extra-args", FLAG_EXTRA_ARGS },
	{ "kubelet-root-dir", FLAG_ROOT_DIR }, /* of k0s */
	/* short names of k3s and RKE2 */
	{ "i", FLAG_NODE_IP },
	{ "s", FLAG_SERVER },
	{ "d", FLAG_DATA_DIR },
	{ "c", FLAG_OWN_CONFIG },
};
_Static_assert(ELEMENTSOF(names) == _FLAG_N + 4, "a name for every flag");
_Static_assert(FLAG_RESERVED_CPUS - FLAG_POLICY == KUBELET_RESERVED_CPUS &&
		       _KUBELET_SETTING_N == KUBELET_RESERVED_CPUS + 1,
	       "a flag for every setting, in their order");

static bool is_edited(enum flag_kind kind)
{
	return kind >= FLAG_POLICY && kind < FLAG_POLICY + _KUBELET_SETTING_N;
}

const char *flags_name(enum flag_kind kind)
{
	return FIND(it, names, ELEMENTSOF(names), it->kind == kind)->name;
}

const char *flags_key(enum flag_kind kind)
{
	return is_edited(kind) ? kubelet_key(kind - FLAG_POLICY)
			       : FIND(it, names, ELEMENTSOF(names), it->kind == kind)->key;
}

void flags_done(struct flags *l)
{
	free(l->flags);
	*l = (struct flags){};
}

/* The flag that @text names up to "=" or its end, at *ret_end; _FLAG_N: none of these. */
static enum flag_kind kind_of(const char *text, size_t *ret_end)
{
	const struct flag_name *row;
	char name[40];
	size_t n = strcspn(text, "=");

	*ret_end = n;
	if (n >= sizeof(name))
		return _FLAG_N;
	for (size_t i = 0; i < n; i++)
		name[i] = text[i] == '_' ? '-' : text[i];
	name[n] = '\0';

	row = FIND(it, names, ELEMENTSOF(names), streq(name, it->name));
	return row ? row->kind : _FLAG_N;
}

/* Where the value can be edited, if it can. 0 or -ENOMEM. */
static int find_value(struct flag *f, const struct unit *u, size_t i, size_t value)
{
	const uint16_t page = u->arguments[i].place.page;
	int r;

	if (page >= u->n_pages ||
	    (u->pages[page].kind != PAGE_VARIABLES && u->pages[page].kind != PAGE_FLAGS))
		return 0;
	r = arguments_find_literal(u, i, value, &f->from, &f->to);
	if (r > 0)
		f->line = unit_line(u, page, f->from);
	return MIN(r, 0);
}

/* The labels of a node that are looked at. */
static const char *const labels_read[] = { VKE_RDMA_MODE "=", VKE_GPU_SCHEDULE "=" };

static bool is_label_read(const char *pair)
{
	return ANY(l, labels_read, ELEMENTSOF(labels_read), is_prefix(pair, *l));
}

/* The gates that start-rules.c judges. */
static bool is_gate_read(const char *pair)
{
	const size_t n = strcspn(pair, "=" BLANKS);

	return pair[n + strspn(pair + n, BLANKS)] == '=' &&
	       ANY(row, start_rows + GATES, _START_WORD_N - GATES,
		   strncmp(pair, row->name, n) == 0 && !row->name[n]);
}

/* The labels and gates that are looked at, wherever they stand in a long list. */
static void set_value(struct flag *f, const char *text)
{
	bool (*const is_read)(const char *pair) = f->kind == FLAG_NODE_LABELS     ? is_label_read
						  : f->kind == FLAG_FEATURE_GATES ? is_gate_read
										  : NULL;
	size_t used = 0, n;

	if (!is_read) {
		f->is_cut = !COPY(f->value, text);
		return;
	}
	for (; *text; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		if (is_read(text + strspn(text, BLANKS)) && used + n + 2 <= sizeof(f->value))
			used += (size_t)snprintf(f->value + used, sizeof(f->value) - used, "%.*s,",
						 (int)n, text);
	}
}

static struct flag *add(struct flags *l, enum flag_kind kind, const char *text, const char *path,
			uint32_t line)
{
	struct flag *f = APPEND(l->flags, l->n_flags);

	if (!f)
		return NULL;
	f->kind = kind;
	f->line = line;
	set_value(f, text);
	COPY(f->path, path);
	return f;
}

/* Flags of the kubelet in the value of the last --kubelet-extra-args. 0 or -ENOMEM. */
static int add_words(struct flags *l, const char *text)
{
	const struct flag of = *flags_last(l, FLAG_EXTRA_ARGS);
	_cleanup_(freep) char *words = strdup(text);
	char *rest = words, *word;
	int r = words ? 0 : -ENOMEM;

	while (r >= 0 && (word = strsep(&rest, BLANKS)))
		r = flags_add_text(l, word, of.path, of.line);
	return r;
}

int flags_read(struct unit *u, struct flags *ret)
{
	const bool is_k0s = is_prefix(u->name, "k0s");
	_cleanup_(flags_done) struct flags l = {};
	struct {
		size_t argument, value, flag;
	} last[_FLAG_N] = {};
	bool is_rancher = false;

	for (size_t i = 0; i < u->n_arguments; i++) {
		struct argument *a = &u->arguments[i], *value = a;
		enum flag_kind kind;
		size_t n, from, dashes;
		struct flag *f;
		uint16_t page;

		if (streq(a->text, "--"))
			break;
		if (streq(a->text, "server") || streq(a->text, "agent"))
			a->is_relevant = is_rancher = true;
		if (*a->text != '-')
			continue;
		dashes = is_prefix(a->text, "--") ? 2 : 1;
		kind = kind_of(a->text + dashes, &n);
		if (kind == _FLAG_N || (dashes == 1 && kind < FLAG_NODE_IP))
			continue;
		if (kind == FLAG_OWN_CONFIG && (dashes == 2 || !is_rancher))
			continue; /* a shell's: "sh -c" */
		if (is_k0s && kind < FLAG_KUBELET_ARG && !is_prefix(a->text, "--kubelet-"))
			continue; /* its own, such as --config */

		a->is_relevant = true;
		from = n + dashes + 1;
		if (!a->text[n + dashes]) { /* no "=": it is the next word */
			if (i + 1 == u->n_arguments)
				break;
			value = &u->arguments[++i];
			from = 0;
		}
		page = value->place.page;
		f = add(&l, kind, value->text + from, page < u->n_pages ? u->pages[page].path : "",
			unit_line(u, page, value->at));
		if (!f)
			return -ENOMEM;
		f->source = a->source;
		/* RKE2 and k3s pass on any flag of the kubelet: only known ones are relevant. Of
		 * k0s flags_is_shown() tells them apart in one word. */
		a->is_relevant =
			kind != FLAG_KUBELET_ARG || (flags_is_kubelets(value->text + from) &&
						     !strpbrk(value->text + from, BLANKS));
		value->is_relevant = a->is_relevant;
		value->is_labels = kind == FLAG_NODE_LABELS && from == 0;
		value->is_words = kind == FLAG_EXTRA_ARGS && from == 0;
		last[kind].argument = i + 1;
		last[kind].value = from;
		last[kind].flag = l.n_flags - 1;
	}

	if (is_k0s && last[FLAG_EXTRA_ARGS].argument > 0 &&
	    add_words(&l, u->arguments[last[FLAG_EXTRA_ARGS].argument - 1].text +
				  last[FLAG_EXTRA_ARGS].value) < 0)
		return -ENOMEM;

	/* Only what counts is ever edited. */
	for (enum flag_kind kind = FLAG_POLICY; is_edited(kind); kind++)
		if (last[kind].argument > 0 &&
		    find_value(&l.flags[last[kind].flag], u, last[kind].argument - 1,
			       last[kind].value) < 0)
			return -ENOMEM;

	*ret = TAKE_STRUCT(l);
	return 0;
}

uint64_t flags_rest(const struct unit *u)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < u->n_arguments; i++) {
		const char *text = u->arguments[i].text;
		size_t n;

		if (is_prefix(text, "--") && is_edited(kind_of(text + 2, &n)))
			i += !text[n + 2];
		else
			hash = hash * 31 + hash_text(text);
	}
	return hash;
}

bool flags_is_kubelets(const char *text)
{
	size_t n;

	return kind_of(after(text, "--") ?: text, &n) < FLAG_KUBELET_ARG;
}

int flags_add_text(struct flags *l, const char *text, const char *path, uint32_t line)
{
	enum flag_kind kind;
	size_t n;

	text = after(text, "--") ?: text;
	kind = kind_of(text, &n);
	return kind == _FLAG_N || add(l, kind, text + n + (text[n] == '='), path, line) ? 0
											: -ENOMEM;
}

size_t flags_labels(const char *text)
{
	const char *rest = text + strspn(text, "-");
	size_t n;
	const enum flag_kind kind = kind_of(rest, &n);

	if (!rest[n])
		return SIZE_MAX;
	rest += n + 1;
	if (kind == FLAG_KUBELET_ARG) {
		n = flags_labels(rest);
		return n == SIZE_MAX ? n : (size_t)(rest - text) + n;
	}
	return kind == FLAG_NODE_LABELS ? (size_t)(rest - text) : SIZE_MAX;
}

size_t flags_words(const char *text)
{
	const size_t dashes = strspn(text, "-");
	size_t n;

	return kind_of(text + dashes, &n) == FLAG_EXTRA_ARGS && text[dashes + n] ? dashes + n + 1
										 : SIZE_MAX;
}

bool flags_is_shown(const char *text, size_t labels, size_t at)
{
	const size_t before = labels == FLAGS_WORDS ? 0 : flags_words(text);
	/* User and password of a URL, as --server has one. */
	const char *url = strstr(text, "://"), *user = url ? url + 3 + strcspn(url + 3, "/@") : "";
	size_t from = at;

	if (*user == '@' && at >= (size_t)(url - text) + 3 && at <= (size_t)(user - text))
		return false;
	if (labels == FLAGS_VALUE)
		return at < strcspn(text, BLANKS);
	if (at >= before) {
		while (from > before && !strchr(BLANKS, text[from - 1]))
			from--;
		text += from;
		return strchr(BLANKS, text[at - from]) || is_prefix(text, "${") ||
		       (flags_is_kubelets(text) &&
			flags_is_shown(text, flags_labels(text), at - from));
	}
	if (at < labels)
		return true;
	while (from > labels && text[from - 1] != ',')
		from--;
	/* A variable has whole labels. */
	return is_label_read(text + from) || is_prefix(text + from, "${");
}

const struct flag *flags_last(const struct flags *l, enum flag_kind kind)
{
	return FIND_LAST(f, l->flags, l->n_flags, f->kind == kind);
}

const char *flags_value(const struct flags *l, const struct sources *sources, enum flag_kind kind)
{
	const struct flag *f = flags_last(l, kind);
	const struct yaml_item *item = sources_find(sources, flags_key(kind), "", NULL);

	return f ? f->value : item && !item->is_null ? item->text : "";
}

bool flags_map(const struct flags *l, enum flag_kind kind, const char *key, char *ret, size_t size)
{
	bool is_given = false;

	*ret = '\0';
	for (size_t i = 0; i < l->n_flags; i++) {
		char text[sizeof(l->flags[i].value)], *rest = text, *pair;

		if (l->flags[i].kind != kind)
			continue;
		is_given = true;
		COPY(text, l->flags[i].value);
		while ((pair = strsep(&rest, ","))) {
			char *name = strsep(&pair, kind == FLAG_EVICTION_HARD ? "<" : "=");

			if (pair && streq(word_trim(name), key))
				copy(ret, size, word_trim(pair));
		}
		if (l->flags[i].is_cut)
			copy(ret, size, "?");
	}
	return is_given;
}
