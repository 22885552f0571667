/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz: the configuration, from one file or several (fuzz.h), and the editor of drop-ins.
 *
 * What is accepted can be written in its canonical form, and that is accepted and gives the same
 * form and hash. What dropin_set() leaves has our value and every other key as it was, and a second
 * run changes nothing; dropin_unset() leaves every other key as it was, and ours nowhere.
 */
#include "../../src/config/config.h"
#include "../../src/config/dropin.h"
#include "../../src/config/reader.h"
#include "fuzz.h"

static void read_again(const struct config *c)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config again = {};
	_cleanup_(freep) char *text = NULL, *text_again = NULL;

	require(config_text(c, &text) == 0);
	require(config_parse_text("/again", text, strlen(text), &again, &errors) == 0);
	require(errors.n_items == 0);
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

/* The keys of a text in their order, but for the one that is edited. */
struct keys {
	const char *section, *key;
	char *others; /* owned */
	size_t size;
	FILE *f;
	char *value; /* owned; of the one */
	unsigned n;  /* how often that is there */
};

static void keys_done(struct keys *k)
{
	if (k->f)
		fclose(k->f);
	free(k->others);
	free(k->value);
}

/* How many blanks there are after "Device" means nothing: config.h. */
static const char *canonical(const char *section, char *buf, size_t size)
{
	const char *name = after(section, "Device");

	if (!name || !*name || !strchr(" \t", *name))
		return section;
	snprintf(buf, size, "Device %s", name + strspn(name, " \t"));
	return buf;
}

static int on_key(void *userdata, const char *section, const char *name, const char *value,
		  _unused_ unsigned line, _unused_ unsigned last)
{
	struct keys *k = userdata;
	char buf[LINE_MAX_BYTES + 1];

	if (!name)
		return 0;
	section = canonical(section, buf, sizeof(buf));
	if (streq(section, k->section) && streq(name, k->key)) {
		free(k->value);
		k->value = strdup(value);
		require(k->value != NULL);
		k->n++;
	} else {
		fprintf(k->f, "[%s]%s=%s\n", section, name, value);
	}
	return 0;
}

/* Return: false when the text is malformed. */
static bool list_keys(const char *text, size_t size, struct keys *k)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	int r;

	k->f = open_memstream(&k->others, &k->size);
	require(k->f != NULL);
	r = reader_parse("/f", text, size, &errors, on_key, k);
	require(r == 0 || r == -E2BIG);
	require(fflush(k->f) == 0);
	return r == 0 && errors.n_malformed == 0;
}

static char *text_of_lines(const struct dropin *d, size_t *ret_size)
{
	char *text = NULL;

	require(dropin_text(d, &text, ret_size) == 0);
	return text;
}

static void set(const char *text, size_t size, const char *section, const char *key,
		const char *value)
{
	_cleanup_(keys_done) struct keys before = { section, key }, after = { section, key };
	_cleanup_(dropin_done) struct dropin d = {}, again = {};
	_cleanup_(freep) char *out = NULL;
	size_t out_size;
	bool is_well;
	int r;

	is_well = list_keys(text, size, &before);
	require(dropin_open(text, size, &d) == 0);
	r = dropin_set(&d, section, key, value);
	out = text_of_lines(&d, &out_size);
	if (r <= 0) { /* nothing has changed */
		require(out_size == size && (size == 0 || memcmp(out, text, size) == 0));
		require(r != 0 || (before.n == 1 && streq(before.value, value)));
		return;
	}

	require(is_well && list_keys(out, out_size, &after));
	require(after.n == 1 && streq(after.value, value));
	require(streq(before.others, after.others));

	require(dropin_open(out, out_size, &again) == 0);
	require(dropin_set(&again, section, key, value) == 0);
}

static void unset(const char *text, size_t size, const char *section, const char *key)
{
	_cleanup_(keys_done) struct keys before = { section, key }, after = { section, key };
	_cleanup_(dropin_done) struct dropin d = {};
	_cleanup_(freep) char *out = NULL;
	size_t out_size;

	list_keys(text, size, &before);
	require(dropin_open(text, size, &d) == 0);
	if (dropin_unset(&d, section, key) < 0)
		return;

	out = text_of_lines(&d, &out_size);
	require(list_keys(out, out_size, &after));
	require(after.n == 0 && streq(before.others, after.others));
}

static void edit(const char *text, size_t size)
{
	set(text, size, "Device nic", "Count", "7");
	set(text, size, "Route", "Metric", "");
	unset(text, size, "Device nic", "Count");
	unset(text, size, "Route", "Metric");
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
