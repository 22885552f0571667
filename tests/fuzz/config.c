/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz: the configuration, from one file or several (fuzz.h), and the writer of 50-set.conf.
 *
 * A configuration that is accepted can be written in its canonical form, and that is accepted and
 * gives the same form and hash. A file that pairs_text() writes after pairs_set() or pairs_unset()
 * has the new value, or no value, for that key, and every other key as it was.
 */
#include "../../src/config/config-read.h"
#include "../../src/config/reader.h"
#include "fuzz.h"

static void read_again(const struct config *c)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config again = {};
	_cleanup_(freep) char *text = NULL, *text_again = NULL;

	require(config_text(c, &text) == 0);
	require(config_parse_text("/again", text, strlen(text), &again, &errors) == 0);
	require(errors.n_unknown == c->has_unknown);
	require(config_text(&again, &text_again) == 0);
	require(streq(text, text_again) && streq(c->hash, again.hash));
}

static void merge(const struct config_files *files)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config c = {};
	int r;

	r = config_merge(files, &c, &errors);
	require(r == 0 || r == -EINVAL);
	require((r == -EINVAL) == (errors.n_malformed > 0));
	if (r == 0)
		read_again(&c);
}

/* Every key of @a, but for one, is in @b. */
static void require_keys(const struct pairs *a, const struct pairs *b, const char *section,
			 const char *key)
{
	for (size_t i = 0; i < a->n_items; i++) {
		const struct pair *p = &a->items[i], *q;

		if (!p->key || (streq(p->section, section) && streq(p->key, key)))
			continue;
		q = pairs_find(b, p->section, p->key);
		require(q && streq(p->value, q->value));
	}
}

/* @value: NULL to unset. */
static void edit_key(const char *text, size_t size, const char *section, const char *key,
		     const char *value)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(pairs_done) struct pairs before = {}, now = {}, after = {};
	_cleanup_(freep) char *out = NULL;
	const struct pair *p;
	size_t out_size;

	require(pairs_parse("/f", text, size, &before, &errors) == 0);
	if (errors.n_malformed > 0)
		return;
	require(pairs_parse("/f", text, size, &now, &errors) == 0);
	if (value)
		require(pairs_set(&now, section, key, value) >= 0);
	else if (pairs_unset(&now, section, key) < 0)
		return;

	require(pairs_text(&now, "#", &out, &out_size) == 0);
	require(pairs_parse("/g", out, out_size, &after, &errors) == 0);
	require(errors.n_malformed == 0);
	p = pairs_find(&after, section, key);
	require(value ? p && streq(p->value, value) : !p);
	require_keys(&before, &after, section, key);
	require_keys(&after, &before, section, key);
}

static void edit(const char *text, size_t size)
{
	edit_key(text, size, "Device nic", "Count", "7");
	edit_key(text, size, "Route", "Metric", "");
	edit_key(text, size, "Device nic", "Count", NULL);
	edit_key(text, size, "Route", "Metric", NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(freep) char *text = text_of(data, size);
	_cleanup_(config_files_done) struct config_files files = {};
	struct config_file *file;
	struct part r;

	for (size_t at = 0; next_part(text, size, &at, &r);) {
		file = APPEND(files.items, files.n_items);
		require(file != NULL);
		*file = (struct config_file){ r.name, text_of(r.data, r.size), r.size };
	}
	if (files.n_items == 0) {
		file = APPEND(files.items, files.n_items);
		require(file != NULL);
		*file = (struct config_file){ strdup("/f"), text_of(text, size), size };
	}

	merge(&files);
	for (size_t i = 0; i < files.n_items; i++)
		edit(files.items[i].data, files.items[i].size);
	return 0;
}
