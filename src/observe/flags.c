/* SPDX-License-Identifier: Apache-2.0 */
#include "flags.h"

static const char *const names[] = {
	[FLAG_CONFIG] = "config",
	[FLAG_CONFIG_DIR] = "config-dir",
	[FLAG_POLICY] = "topology-manager-policy",
	[FLAG_SCOPE] = "topology-manager-scope",
	[FLAG_CPU_POLICY] = "cpu-manager-policy",
	[FLAG_RESERVED_CPUS] = "reserved-cpus",
	[FLAG_POLICY_OPTIONS] = "topology-manager-policy-options",
	[FLAG_KUBE_RESERVED] = "kube-reserved",
	[FLAG_SYSTEM_RESERVED] = "system-reserved",
	[FLAG_KUBE_CGROUP] = "kube-reserved-cgroup",
	[FLAG_SYSTEM_CGROUP] = "system-reserved-cgroup",
	[FLAG_ROOT_DIR] = "root-dir",
	[FLAG_NODE_IP] = "node-ip",
	[FLAG_KUBELET_ARG] = "kubelet-arg",
	[FLAG_DATA_DIR] = "data-dir",
};
_Static_assert(ELEMENTSOF(names) == _FLAG_N, "a name for every flag");

void flags_done(struct flags *l)
{
	free(l->flags);
	*l = (struct flags){};
}

/* The flag that @text names up to "=" or its end. */
static bool is_flag(const char *text, enum flag_kind *ret, size_t *ret_size)
{
	char name[40];
	size_t n = strcspn(text, "=");

	if (n >= sizeof(name))
		return false;
	for (size_t i = 0; i < n; i++)
		name[i] = text[i] == '_' ? '-' : text[i];
	name[n] = '\0';

	for (size_t i = 0; i < ELEMENTSOF(names); i++)
		if (streq(name, names[i])) {
			*ret = (enum flag_kind)i;
			*ret_size = n;
			return true;
		}
	return false;
}

static struct flag *add(struct flags *l, enum flag_kind kind)
{
	struct flag *f = APPEND(l->flags, l->n_flags);

	if (f)
		f->kind = kind;
	return f;
}

/* The value is the word from letter @from on. */
static void locate(struct flag *f, const struct unit *u, const struct word *w, size_t from)
{
	const struct letter *first;
	const struct page *page;

	if (w->n_letters == 0)
		return;
	/* An empty value has no letter: then it stands behind the "=". */
	first = &w->letters[MIN(from, w->n_letters - 1)];
	if (first->page >= u->n_pages)
		return;

	page = &u->pages[first->page];
	COPY(f->path, page->path);
	f->line = unit_line(u, first->page, first->at);
	if (page->kind != PAGE_VARIABLES && page->kind != PAGE_FLAGS)
		return;

	if (from == w->n_letters) {
		f->from = f->to = first->at + 1;
		f->is_editable = true;
	} else {
		f->from = first->at;
		f->to = w->letters[w->n_letters - 1].at + 1;
		f->is_editable = word_is_whole(w, from, w->n_letters);
	}
}

static void take_value(struct flag *f, const struct word *w, size_t from)
{
	size_t n = 0;

	for (size_t i = from; i < w->n_letters && n < sizeof(f->value) - 1; i++)
		f->value[n++] = w->letters[i].c;
	f->value[n] = '\0';
	f->is_cut = strlen(f->value) != w->n_letters - from;
}

int flags_read(struct unit *u, struct flags *ret)
{
	_cleanup_(flags_done) struct flags l = {};

	for (size_t i = 0; i < u->n_arguments; i++) {
		struct argument *a = &u->arguments[i], *value = a;
		enum flag_kind kind;
		char text[48] = "";
		size_t n, from;
		struct flag *f;

		word_text(&a->word, text, sizeof(text));
		if (streq(text, "--"))
			break;
		if (!is_prefix(text, "--") || !is_flag(text + 2, &kind, &n))
			continue;

		a->is_relevant = true;
		from = n + 3;
		if (a->word.n_letters == n + 2) { /* no "=": it is the next word */
			if (i + 1 == u->n_arguments)
				break;
			value = &u->arguments[++i];
			from = 0;
		}
		f = add(&l, kind);
		if (!f)
			return -ENOMEM;
		take_value(f, &value->word, from);
		/* What RKE2 or k3s pass on may be any flag of the kubelet. */
		a->is_relevant = kind != FLAG_KUBELET_ARG || flags_is_kubelets(f->value);
		value->is_relevant = a->is_relevant;
		locate(f, u, &value->word, from);
	}

	*ret = TAKE_STRUCT(l);
	return 0;
}

bool flags_is_kubelets(const char *text)
{
	enum flag_kind kind;
	size_t n;

	return is_flag(text + (is_prefix(text, "--") ? 2 : 0), &kind, &n) &&
	       kind != FLAG_KUBELET_ARG && kind != FLAG_DATA_DIR;
}

int flags_add_text(struct flags *l, const char *text, const char *path, uint32_t line)
{
	enum flag_kind kind;
	struct flag *f;
	size_t n;

	if (!is_flag(text + (is_prefix(text, "--") ? 2 : 0), &kind, &n))
		return 0;
	text += is_prefix(text, "--") ? 2 : 0;
	f = add(l, kind);
	if (!f)
		return -ENOMEM;
	f->is_cut = !COPY(f->value, text + n + (text[n] == '='));
	COPY(f->path, path);
	f->line = line;
	return 0;
}

const struct flag *flags_last(const struct flags *l, enum flag_kind kind)
{
	for (size_t i = l->n_flags; i-- > 0;)
		if (l->flags[i].kind == kind)
			return &l->flags[i];
	return NULL;
}

bool flags_map(const struct flags *l, enum flag_kind kind, const char *key, char *ret, size_t size)
{
	const size_t n = strlen(key);
	bool is_given = false;

	*ret = '\0';
	for (size_t i = 0; i < l->n_flags; i++) {
		char text[sizeof(l->flags[i].value)], *rest = text, *pair;

		if (l->flags[i].kind != kind)
			continue;
		is_given = true;
		COPY(text, l->flags[i].value);
		while ((pair = strsep(&rest, ",")))
			if (is_prefix(pair, key) && pair[n] == '=')
				copy(ret, size, pair + n + 1);
	}
	return is_given;
}
