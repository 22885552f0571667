/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

#include "settings.h"

#include <ini.h>

#define BLANKS       " \t"
#define NAME_MAX_LEN 49 /* MAX_SECTION of inih is 50 */

struct config_reader {
	const char *file;
	const char *rest; /* of the data */
	size_t n_rest;
	unsigned line;                 /* that was read last, from 1 */
	char text[LINE_MAX_BYTES + 1]; /* of it, without blanks at its beginning */
	bool is_skipping; /* a malformed header was reported: the keys below it are skipped */

	struct config_errors *errors;
	int (*on_key)(void *userdata, const char *section, const char *name, const char *value,
		      unsigned line);
	void *userdata;
	int result;
};

#define malformed(rd, ...)                                                                         \
	note(rd, config_errors_add((rd)->errors, false, (rd)->file, (rd)->line, __VA_ARGS__))

/* Returns false, for those who refuse a line. */
static bool note(struct config_reader *rd, int r)
{
	if (r < 0)
		rd->result = r;
	return false;
}

static char *strip(char *s)
{
	size_t n;

	s += strspn(s, BLANKS);
	for (n = strlen(s); n > 0 && strchr(BLANKS, s[n - 1]); n--)
		;
	s[n] = '\0';
	return s;
}

char *reader_squeeze(char *s)
{
	char *to = s, *from = s + strspn(s, BLANKS);

	for (; *from; from++)
		if (!strchr(BLANKS, *from))
			*to++ = *from;
		else if (from[1] && !strchr(BLANKS, from[1]))
			*to++ = ' ';
	*to = '\0';
	return s;
}

bool reader_has_control(const char *s)
{
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f)
			return true;

	return false;
}

/* A ";" behind a blank, outside of the comments that are a line. */
static bool has_comment(const char *s)
{
	for (const char *at = s; (at = strchr(at, ';')); at++)
		if (at > s && strchr(BLANKS, at[-1]))
			return true;

	return false;
}

/* The next line to rd->text, without its end; false: there is none, or it was refused. */
static bool take_line(struct config_reader *rd)
{
	const char *s = rd->rest, *end = memchr(s, '\n', rd->n_rest);
	size_t n = end ? (size_t)(end - s) : rd->n_rest;

	rd->rest += n + !!end;
	rd->n_rest -= n + !!end;
	rd->line++;
	n -= n > 0 && s[n - 1] == '\r';

	if (n > LINE_MAX_BYTES)
		return malformed(rd,
				 "a line of %zu bytes: use at most %d, and several lines for a key "
				 "that takes a list",
				 n, LINE_MAX_BYTES);
	if (memchr(s, '\0', n))
		return malformed(rd, "a NUL byte is not valid: use text in UTF-8");
	memcpy(rd->text, s, n);
	rd->text[n] = '\0';
	memmove(rd->text, rd->text + strspn(rd->text, BLANKS), n + 1 - strspn(rd->text, BLANKS));
	return true;
}

/* Is it a line whose every byte inih would take as it is meant? */
static bool check_line(struct config_reader *rd)
{
	const size_t n = strlen(rd->text);
	char buf[QUOTED_LEN];

	if (!config_is_utf8(rd->text, n))
		return malformed(rd, "invalid UTF-8: use text in UTF-8");
	if (reader_has_control(rd->text))
		return malformed(rd, "a control character is not valid: use text without any");
	if (rd->text[n - 1] == '\\')
		return malformed(rd,
				 "%s is not valid: use no backslash at the end, for lines are not "
				 "continued; a key that takes a list may be repeated",
				 config_quoted(rd->text, buf));
	if (has_comment(rd->text))
		return malformed(rd,
				 "%s is not valid: use no \" ;\" in a line, for it would begin a "
				 "comment; comments have lines of their own",
				 config_quoted(rd->text, buf));
	return true;
}

/* "[NAME]" is reported, and rd->text is that with one blank between words. */
static bool begin_section(struct config_reader *rd)
{
	char buf[QUOTED_LEN], *end, *name;

	strip(rd->text);
	end = rd->text + strlen(rd->text) - 1;
	rd->is_skipping = true;
	if (*end != ']')
		return malformed(rd,
				 "%s is not valid: use a section as [SECTION] or [SECTION NAME], "
				 "alone in its line",
				 config_quoted(rd->text, buf));

	*end = '\0';
	name = reader_squeeze(rd->text + 1);
	if (!*name || strpbrk(name, ":;[]") || strlen(name) > NAME_MAX_LEN)
		return malformed(rd,
				 "[%s] is not valid: use the name of a section, at most %d bytes "
				 "without brackets, colons and semicolons",
				 config_quoted(name, buf), NAME_MAX_LEN);

	rd->is_skipping = false;
	note(rd, rd->on_key(rd->userdata, name, NULL, NULL, rd->line));
	strcat(rd->text, "]");
	return true;
}

/* Is it "KEY=VALUE"? */
static bool check_key(struct config_reader *rd)
{
	const char *equals = strchr(rd->text, '=');
	char buf[QUOTED_LEN];

	if (equals && equals > rd->text)
		return true;
	return malformed(
		rd,
		"%s: no %s in this line: use KEY=VALUE, [SECTION], or a comment that begins with "
		"# or ;",
		config_quoted(strip(rd->text), buf), equals ? "key" : "=");
}

/* The reader of ini_parse_stream(), as fgets(3). inih gets "k=" of a key: on_ini() has the line. */
static char *on_line(char *buf, int size, void *userdata)
{
	struct config_reader *rd = userdata;

	while (rd->result == 0 && rd->n_rest > 0) {
		if (!take_line(rd))
			continue;
		if (!*rd->text || strchr("#;", *rd->text) || !check_line(rd))
			continue;
		if (*rd->text == '[' ? !begin_section(rd) : rd->is_skipping || !check_key(rd))
			continue;

		snprintf(buf, (size_t)size, "%s\n", *rd->text == '[' ? rd->text : "k=");
		return buf;
	}

	return NULL;
}

/* The handler of ini_parse_stream(); some builds of inih call it for sections, without a name. */
static int on_ini(void *userdata, const char *section, const char *name, const char *value _unused_)
{
	struct config_reader *rd = userdata;
	char buf[QUOTED_LEN], *equals = strchr(rd->text, '=');

	if (!name || !*name || rd->result < 0)
		return 1;

	if (*section) {
		*equals = '\0';
		note(rd, rd->on_key(rd->userdata, section, strip(rd->text), strip(equals + 1),
				    rd->line));
		return 1;
	}

	rd->is_skipping = true; /* once is enough */
	malformed(rd,
		  "%s: text before the first section: use a line with a section first, for example "
		  "[Device]",
		  config_quoted(strip(rd->text), buf));
	return 1;
}

int reader_parse(const char *file, const char *data, size_t size, struct config_errors *errors,
		 int (*on_key)(void *userdata, const char *section, const char *name,
			       const char *value, unsigned line),
		 void *userdata)
{
	static const char bom[] = { '\xef', '\xbb', '\xbf' };
	const size_t n_bom = size >= sizeof(bom) && memcmp(data, bom, sizeof(bom)) == 0 ? 3 : 0;
	struct config_reader rd = { .file = file,
				    .rest = data + n_bom,
				    .n_rest = size - n_bom,
				    .errors = errors,
				    .on_key = on_key,
				    .userdata = userdata };
	int r = ini_parse_stream(on_line, &rd, on_ini, &rd);

	if (r == -2) /* of its line buffer */
		return -ENOMEM;

	return rd.result;
}

/* Pairs */

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

struct pair *pairs_find(const struct pairs *p, const char *section, const char *key)
{
	return FIND(item, p->items, p->n_items,
		    streq(item->section, section) &&
			    (key ? item->key && streq(item->key, key) : !item->key));
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
	struct pair *before = pairs_find(parser->pairs, section, name);

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
	int r = reader_parse(file, text, size, errors, on_key, &parser);

	if (r < 0 && r != -E2BIG)
		return r;

	*ret = TAKE_STRUCT(p);
	return 0;
}

int pairs_set(struct pairs *p, const char *section, const char *key, const char *value)
{
	struct pair *item = pairs_find(p, section, key);
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

int pairs_unset(struct pairs *p, const char *section, const char *key)
{
	struct pair *item = pairs_find(p, section, key);

	if (!item)
		return -ENOENT;

	drop(p, item);
	item = pairs_find(p, section, NULL);
	if (item && !ANY(it, p->items, p->n_items, it->key && streq(it->section, section)))
		drop(p, item);
	return 0;
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
		if (!ANY(it, p->items, i, streq(it->section, p->items[i].section)))
			put_section(out.f, p, i, &line);
	if (stream_take(&out, ret) < 0)
		return -ENOMEM;
	*ret_size = out.size;
	return 0;
}
