/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

#include <assert.h>
#include <ini.h>

#define BLANKS        " \t"
#define NAME_MAX_LEN  49  /* MAX_SECTION and MAX_NAME of inih are 50 */
#define SECTION_BEGIN "@" /* no key of a file has this name, see is_name() */

struct reader {
	const char *file;
	const char *rest; /* of the data */
	size_t n_rest;
	unsigned line; /* of the last physical line read */

	char text[LINE_MAX_BYTES + 1]; /* of the line inih was given last */
	unsigned text_line;            /* where it began */
	char *value;                   /* in text */
	bool begins_section;           /* a header was handed out, SECTION_BEGIN comes next */
	bool is_awaited;               /* inih has not called back for the last line yet */
	enum {
		BEFORE_FIRST_SECTION,
		IN_SECTION,
		IN_NO_SECTION, /* its header was malformed, and said so: its keys are skipped */
	} state;

	struct config_errors *errors;
	int (*on_key)(void *userdata, const char *section, const char *name, const char *value,
		      unsigned line, unsigned last);
	void *userdata;
	int result;
};

#define malformed(rd, line, ...)                                                                   \
	note(rd, config_errors_add((rd)->errors, false, (rd)->file, line, __VA_ARGS__))

static void note(struct reader *rd, int r)
{
	if (r < 0)
		rd->result = r;
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

static bool has_control(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)s[i] < ' ' && s[i] != '\t') || s[i] == 0x7f)
			return true;

	return false;
}

/* Blanks and a backslash at the end that is not itself escaped: systemd.syntax(7). */
static bool is_continued(const char *s, size_t n)
{
	bool is_escaped = false;

	for (size_t i = 0; i < n; i++)
		is_escaped = !is_escaped && s[i] == '\\';

	return is_escaped;
}

/* One physical line without its end. */
static bool next_physical(struct reader *rd, const char **ret, size_t *ret_n)
{
	const char *end;
	size_t n;

	if (rd->n_rest == 0)
		return false;

	end = memchr(rd->rest, '\n', rd->n_rest);
	n = end ? (size_t)(end - rd->rest) : rd->n_rest;

	*ret = rd->rest;
	*ret_n = n > 0 && rd->rest[n - 1] == '\r' ? n - 1 : n;
	rd->rest += n + !!end;
	rd->n_rest -= n + !!end;
	rd->line++;
	return true;
}

/* Adds a physical line to the text, where @n bytes are already: how many are now, 0 for a malformed
 * one. */
static size_t add_physical(struct reader *rd, size_t n, const char *s, size_t len)
{
	if (n + len > LINE_MAX_BYTES)
		malformed(rd, rd->line, "a line of %zu bytes: accepted: at most %d bytes", n + len,
			  LINE_MAX_BYTES);
	else if (memchr(s, '\0', len))
		malformed(rd, rd->line, "a NUL byte: accepted: text in UTF-8");
	else if (!is_utf8(s, len))
		malformed(rd, rd->line, "invalid UTF-8: accepted: text in UTF-8");
	else if (has_control(s, len))
		malformed(rd, rd->line, "a control character: accepted: text in UTF-8");
	else {
		memcpy(rd->text + n, s, len);
		rd->text[n + len] = '\0';
		return n + len;
	}

	return 0;
}

/* What must hold for comments as well: a file with NUL bytes is no text, whatever it begins with.
 */
static bool is_comment(const char *s, size_t n)
{
	const char *begin = s;

	while (n > 0 && strchr(BLANKS, *begin) && *begin) {
		begin++;
		n--;
	}

	return n > 0 && (*begin == '#' || *begin == ';') && !memchr(begin, '\0', n) &&
	       n + (size_t)(begin - s) <= LINE_MAX_BYTES;
}

/* One line after joining what is continued; false: there are no more. */
static bool next_logical(struct reader *rd)
{
	const char *s;
	size_t len, n = 0;

	rd->text[0] = '\0';
	while (rd->result == 0 && next_physical(rd, &s, &len)) {
		if (is_comment(s, len))
			continue;
		if (n == 0)
			rd->text_line = rd->line;

		n = add_physical(rd, n, s, len);
		if (n == 0)
			continue;
		if (!is_continued(rd->text, n))
			return true;
		rd->text[n - 1] = ' ';
	}

	return rd->result == 0 && n > 0;
}

static bool is_name(const char *name)
{
	return *name && !strpbrk(name, ":;[]") && !streq(name, SECTION_BEGIN);
}

static const char *header(struct reader *rd, char *text)
{
	char buf[QUOTED_LEN], *end = text + strlen(text) - 1, *name;

	rd->state = IN_NO_SECTION;
	if (*end != ']') {
		malformed(
			rd, rd->text_line,
			"%s: accepted: a section as [SECTION] or [SECTION NAME], alone in its line",
			quoted(text, buf));
		return NULL;
	}

	*end = '\0';
	name = strip(text + 1);
	if (!is_name(name) || strlen(name) > NAME_MAX_LEN) {
		malformed(
			rd, rd->text_line,
			"[%s]: accepted: the name of a section, at most %d bytes without brackets, "
			"colons and semicolons",
			quoted(name, buf), NAME_MAX_LEN);
		return NULL;
	}

	rd->state = IN_SECTION;
	rd->begins_section = true;
	return name;
}

static const char *key(struct reader *rd, char *text)
{
	char buf[QUOTED_LEN], *equals = strchr(text, '='), *name;

	if (rd->state == IN_NO_SECTION)
		return NULL;

	if (rd->state == BEFORE_FIRST_SECTION) {
		malformed(
			rd, rd->text_line,
			"%s: text before the first section: accepted: a line with a section first, "
			"for example [Device]",
			quoted(text, buf));
		rd->state = IN_NO_SECTION; /* once is enough */
		return NULL;
	}

	if (equals) {
		*equals = '\0';
		name = strip(text);
		rd->value = strip(equals + 1);
		if (is_name(name) && strlen(name) <= NAME_MAX_LEN)
			return name;
		*equals = '=';
	}

	malformed(rd, rd->text_line,
		  "%s: accepted: KEY=VALUE, [SECTION], or a comment that begins with # or ;",
		  quoted(text, buf));
	return NULL;
}

/* The last line was for inih to understand, and it did not: then neither do we. */
static void check_awaited(struct reader *rd)
{
	char buf[QUOTED_LEN];

	if (rd->is_awaited && rd->result == 0)
		malformed(rd, rd->text_line, "%s: accepted: KEY=VALUE", quoted(rd->text, buf));
	rd->is_awaited = false;
}

/* The reader of ini_parse_stream(), as fgets(3). What is written fits the smallest buffer inih has.
 */
static char *on_line(char *buf, int size, void *userdata)
{
	struct reader *rd = userdata;

	check_awaited(rd);
	if (rd->result < 0)
		return NULL;

	if (rd->begins_section) {
		rd->begins_section = false;
		rd->is_awaited = true;
		snprintf(buf, (size_t)size, SECTION_BEGIN "=%u\n", rd->text_line);
		return buf;
	}

	while (next_logical(rd)) {
		char *text = strip(rd->text);
		const char *name;
		int n;

		if (!*text)
			continue;

		name = *text == '[' ? header(rd, text) : key(rd, text);
		if (!name)
			continue;

		n = rd->begins_section
			    ? snprintf(buf, (size_t)size, "[%s]\n", name)
			    : snprintf(buf, (size_t)size, "%s=%u\n", name, rd->text_line);
		assert(n > 0 && n < size);
		rd->is_awaited = !rd->begins_section;
		return buf;
	}

	return NULL;
}

/* The handler of ini_parse_stream(). */
static int on_ini(void *userdata, const char *section, const char *name, const char *value _unused_)
{
	struct reader *rd = userdata;
	bool is_begin = streq(name, SECTION_BEGIN);

	rd->is_awaited = false;
	if (rd->result == 0)
		note(rd, rd->on_key(rd->userdata, section, is_begin ? NULL : name,
				    is_begin ? NULL : rd->value, rd->text_line, rd->line));
	return 1;
}

int reader_parse(const char *file, const char *data, size_t size, struct config_errors *errors,
		 int (*on_key)(void *userdata, const char *section, const char *name,
			       const char *value, unsigned line, unsigned last),
		 void *userdata)
{
	static const char bom[] = { '\xef', '\xbb', '\xbf' };
	struct reader rd = {
		.file = file, .errors = errors, .on_key = on_key, .userdata = userdata
	};
	bool has_bom = size >= sizeof(bom) && memcmp(data, bom, sizeof(bom)) == 0;
	int r;

	rd.rest = data + (has_bom ? sizeof(bom) : 0);
	rd.n_rest = size - (has_bom ? sizeof(bom) : 0);

	r = ini_parse_stream(on_line, &rd, on_ini, &rd);
	check_awaited(&rd);
	if (r == -2) /* of its line buffer */
		return -ENOMEM;

	return rd.result;
}
