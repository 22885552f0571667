/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs.h"

#include "reader.h"
#include "settings.h"

struct parser {
	struct pairs *pairs;
	const char *file;
	struct config_errors *errors;
};

static void pair_done(struct pair *p)
{
	free(p->section);
	free(p->key);
	free(p->value);
	*p = (struct pair){};
}

void pairs_done(struct pairs *p)
{
	for (size_t i = 0; i < p->n_items; i++)
		pair_done(&p->items[i]);
	free(p->items);
	*p = (struct pairs){};
}

/* @key: NULL for the header. */
static struct pair *find(const struct pairs *p, const char *section, const char *key)
{
	return FIND(item, p->items, p->n_items,
		    streq(item->section, section) &&
			    (key ? item->key && streq(item->key, key) : !item->key));
}

const struct pair *pairs_find(const struct pairs *p, const char *section, const char *key)
{
	return find(p, section, key);
}

/* @key and @value: NULL for a header. */
static int add(struct pairs *p, const char *section, const char *key, const char *value,
	       unsigned line)
{
	_cleanup_(pair_done) struct pair pair = {
		.section = strdup(section),
		.key = key ? strdup(key) : NULL,
		.value = value ? strdup(value) : NULL,
		.line = line,
	};

	if (!pair.section || !pair.key != !key || !pair.value != !value ||
	    ADD(p->items, p->n_items, pair) < 0)
		return -ENOMEM;
	pair = (struct pair){}; /* it is the list's */
	return 0;
}

static bool is_list(const char *section, const char *key)
{
	const struct setting *s =
		setting_find(is_prefix(section, "Device ") ? "Device" : section, key);

	return s && setting_is_list(s);
}

static int on_key(void *userdata, const char *section, const char *name, const char *value,
		  unsigned line)
{
	struct parser *parser = userdata;
	struct pair *before = find(parser->pairs, section, name);

	if (before && !name)
		return 0;
	if (before && is_list(section, name))
		return setting_append(&before->value, value);
	if (before)
		return config_errors_add(parser->errors, false, parser->file, line,
					 "%s= in [%s] is set in line %u already: use each key once "
					 "in a section of a file",
					 name, section, before->line);
	return add(parser->pairs, section, name, value, line);
}

int pairs_parse(const char *file, const char *text, size_t size, struct pairs *ret,
		struct config_errors *errors)
{
	_cleanup_(pairs_done) struct pairs p = {};
	struct parser parser = { &p, file, errors };
	int r;

	r = reader_parse(file, text, size, errors, on_key, &parser);
	if (r < 0 && r != -E2BIG)
		return r;

	*ret = TAKE_STRUCT(p);
	return 0;
}

int pairs_set(struct pairs *p, const char *section, const char *key, const char *value)
{
	struct pair *item = find(p, section, key);
	char *copied;
	int r;

	if (!item) {
		r = add(p, section, key, value, 0);
		return r < 0 ? r : 1;
	}
	if (streq(item->value, value))
		return 0;

	copied = strdup(value);
	if (!copied)
		return -ENOMEM;
	free(item->value);
	item->value = copied;
	item->line = 0;
	return 1;
}

static void drop(struct pairs *p, struct pair *item)
{
	pair_done(item);
	p->n_items--;
	/* APPEND() computes the room from the count, and after this there is more than that. */
	memmove(item, item + 1, (size_t)(p->items + p->n_items - item) * sizeof(*item));
}

static bool has_keys(const struct pairs *p, const char *section)
{
	return ANY(item, p->items, p->n_items, item->key && streq(item->section, section));
}

int pairs_unset(struct pairs *p, const char *section, const char *key)
{
	struct pair *item = find(p, section, key);

	if (!item)
		return -ENOENT;

	drop(p, item);
	item = has_keys(p, section) ? NULL : find(p, section, NULL);
	if (item)
		drop(p, item);
	return 0;
}

static bool is_first_of_section(const struct pairs *p, size_t i)
{
	return !ANY(item, p->items, i, streq(item->section, p->items[i].section));
}

/* Writes a section: a blank line, its header, its keys. */
static void put_section(FILE *f, struct pairs *p, size_t first, unsigned *line)
{
	const char *section = p->items[first].section;

	fprintf(f, "\n[%s]\n", section);
	*line += 2;
	for (size_t i = first; i < p->n_items; i++) {
		struct pair *item = &p->items[i];

		if (!streq(item->section, section))
			continue;
		item->put = *line - !item->key;
		if (item->key)
			*line +=
				setting_put(f, item->key, item->value, is_list(section, item->key));
	}
}

int pairs_text(struct pairs *p, const char *header, char **ret, size_t *ret_size)
{
	_cleanup_(stream_done) struct stream out = {};
	unsigned line = 2; /* the next one that is written */

	if (stream_open(&out) < 0)
		return -ENOMEM;
	fprintf(out.f, "%s\n", header);
	for (size_t i = 0; i < p->n_items; i++)
		if (is_first_of_section(p, i))
			put_section(out.f, p, i, &line);
	if (stream_take(&out, ret) < 0)
		return -ENOMEM;
	*ret_size = out.size;
	return 0;
}
