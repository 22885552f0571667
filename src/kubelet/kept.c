/* SPDX-License-Identifier: Apache-2.0 */
#include "kept.h"

#include "../model/kubelet.h"

#define CUT_BYTES (sizeof(((struct yaml_item *)0)->text) + 1)

/* Besides the settings of model/kubelet.h. NULL: all of a map. */
static const struct {
	const char *key, *sub;
} keys[] = {
	{ "apiVersion", "" },
	{ "kind", "" },
	{ "kubeReserved", "cpu" },
	{ "kubeReservedCgroup", "" },
	{ "systemReserved", "cpu" },
	{ "systemReservedCgroup", "" },
	{ "kubeReserved", "memory" },
	{ "systemReserved", "memory" },
	{ "topologyManagerPolicyOptions", NULL },
	{ "cpuManagerPolicyOptions", NULL },
	{ "featureGates", NULL },
	{ "memoryManagerPolicy", "" },
	{ "reservedMemory", "" },
	{ "evictionHard", "" },
	{ "evictionHard", "memory.available" },
	{ "mergeDefaultEvictionSettings", "" },
};

bool kept_is_read(const char *key, const char *sub)
{
	for (int s = 0; s < _KUBELET_SETTING_N; s++)
		if (streq(key, kubelet_key((enum kubelet_setting)s)))
			return !*sub;
	return ANY(k, keys, ELEMENTSOF(keys),
		   streq(key, k->key) && (!k->sub || streq(sub, k->sub)));
}

static bool is_key_read(const char *key)
{
	return ANY(k, keys, ELEMENTSOF(keys), streq(key, k->key)) || kept_is_read(key, "");
}

struct writer {
	FILE *f;
	bool is_json, has_any;
	uint32_t line;
};

/* Bytes that no value of a kubelet has are shown as "?", here as anywhere. */
static void put_quoted(const struct writer *w, const char *text, size_t pad_to)
{
	size_t n = 0;

	fputc('"', w->f);
	for (; *text; text++, n++)
		if (*text == '\n' || *text == '\t' || *text == '\r')
			fputs(*text == '\n' ? "\\n" : *text == '\t' ? "\\t" : "\\r", w->f);
		else if (*text == '"' || *text == '\\')
			fprintf(w->f, "\\%c", *text);
		else
			fputc(*text < ' ' || *text > '~' ? '?' : *text, w->f);
	for (; n > 0 && n < pad_to; n++)
		fputc('x', w->f);
	fputc('"', w->f);
}

/* Is it a number or a boolean? Any other plain word may as well be quoted. */
static bool is_bare(const struct yaml_item *item)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._+";
	const char first = item->text[0];

	return item->is_plain && item->text[first == '-'] &&
	       !item->text[(first == '-') + strspn(item->text + (first == '-'), letters)];
}

/* An odd value stays odd in the copy: by a tag; in JSON, which has no tags, by its length. */
static void put_word(const struct writer *w, const struct yaml_item *item)
{
	if (item->is_null)
		fputs("null", w->f);
	else if (item->is_odd && !*item->text)
		fputs("{}", w->f);
	else if (is_bare(item) && !item->is_odd)
		fputs(item->text, w->f);
	else {
		fputs(item->is_odd && !w->is_json ? "!!str " : "", w->f);
		put_quoted(w, item->text, item->is_odd && w->is_json ? CUT_BYTES : 0);
	}
}

/* The words of each element are all that is read of it. */
static void put_list(const struct writer *w, const struct yaml_items *l,
		     const struct yaml_item *top)
{
	const struct yaml_item *item = top + 1, *end = l->items + l->n_items;

	for (fputc('[', w->f); item < end && item->is_listed; item++)
		fprintf(w->f, "%s[%s]", item > top + 1 ? ", " : "", item->is_odd ? item->text : "");
	fputc(']', w->f);
}

/* A map with the keys that are read; other collections are empty ones. */
static void put_value(const struct writer *w, const struct yaml_items *l,
		      const struct yaml_item *top)
{
	const char *mark = "{";

	for (size_t i = 0; i < l->n_items && !*top->text && top->is_odd; i++) {
		const struct yaml_item *item = &l->items[i];

		if (!streq(item->key, top->key) || !*item->sub ||
		    !kept_is_read(item->key, item->sub) ||
		    yaml_find(l, item->key, item->sub) != item)
			continue;
		fputs(mark, w->f);
		put_quoted(w, item->sub, 0);
		fputs(": ", w->f);
		put_word(w, item);
		mark = ", ";
	}
	if (streq(top->key, YAML_WITH_WORDS) && top->is_odd && !*top->text)
		put_list(w, l, top);
	else if (*mark == '{')
		put_word(w, top);
	else
		fputc('}', w->f);
}

static void begin(struct writer *w, uint32_t line)
{
	if (w->has_any)
		fputs(w->is_json ? "," : "\n", w->f);
	w->line += w->has_any && !w->is_json;
	w->has_any = true;
	for (; w->line < line; w->line++)
		fputc('\n', w->f);
}

static void put_key(struct writer *w, const char *key)
{
	fprintf(w->f, w->is_json ? "\"%s\": " : "%s: ", key);
}

/* A key that is there twice is fatal in a drop-in, whichever it is. */
static void put_duplicates(struct writer *w)
{
	for (int i = 0; i < 2; i++) {
		begin(w, w->line);
		put_key(w, "leftOut");
		fputs("null", w->f);
	}
}

int kept_write(const struct yaml_items *l, char **ret, size_t *ret_size)
{
	struct writer w = { .is_json = l->is_json, .line = 1 };
	_cleanup_(stream_done) struct stream out = {};

	if (stream_open(&out) < 0)
		return -ENOMEM;
	w.f = out.f;
	if (w.is_json)
		fputc('{', w.f);
	for (size_t i = 0; i < l->n_items; i++) {
		const struct yaml_item *item = &l->items[i];

		/* Only the last of equal keys counts. */
		if (!is_key_read(item->key) || yaml_find(l, item->key, "") != item)
			continue;
		begin(&w, item->line);
		put_key(&w, item->key);
		put_value(&w, l, item);
	}
	if (yaml_has_duplicates(l))
		put_duplicates(&w);
	if (l->is_fixed) { /* an alias makes the copy fixed, too */
		begin(&w, w.line);
		fputs("leftOut: [&leftOut ~, *leftOut]", w.f);
	}
	fputs(w.is_json ? "}\n" : "\n", w.f);
	if (stream_take(&out, ret) < 0)
		return -ENOMEM;
	*ret_size = out.size;
	return 0;
}
