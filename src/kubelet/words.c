/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <ctype.h>

#define BLANKS " \t\r\n"

void problem_note(char problem[static 256], const char *format, ...)
{
	va_list ap;

	if (*problem)
		return;
	va_start(ap, format);
	vsnprintf(problem, 256, format, ap);
	va_end(ap);
}

char *word_trim(char *text)
{
	text += strspn(text, BLANKS "\v\f");
	for (size_t n = strlen(text); n > 0 && strchr(BLANKS "\v\f", text[n - 1]); n--)
		text[n - 1] = '\0';
	return text;
}

int text_add(struct text *t, char c)
{
	return ADD(t->bytes, t->n, c);
}

int text_add_string(struct text *t, const char *s)
{
	int r = 0;

	for (; *s && r >= 0; s++)
		r = text_add(t, *s);
	return r;
}

char *text_take(struct text *t)
{
	if (text_add(t, '\0') < 0)
		return NULL;
	t->n = 0;
	return TAKE(t->bytes);
}

void variable_done(struct variable *v)
{
	free(v->value);
	*v = (struct variable){};
}

/* Splitting */

static int hex_of(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return digit ? (int)(digit - digits) : -1;
}

/* Reads an escape sequence; @at is behind its backslash. Return: bytes used, or -EBADMSG. */
static int unescape(const char *at, char *ret)
{
	static const char names[] = "abfnrtv\\\"'s", values[] = "\a\b\f\n\r\t\v\\\"' ";
	const char *name = *at ? strchr(names, *at) : NULL;
	const bool is_hex = *at == 'x';
	int value = 0;

	if (name) {
		*ret = values[name - names];
		return 1;
	}
	/* Two hexadecimal or three octal digits; longer ones give no letter that a flag has. */
	if (!is_hex && (*at < '0' || *at > '3'))
		return -EBADMSG;
	for (size_t i = is_hex; i < 3; i++) {
		int digit = hex_of(at[i]); /* a NUL ends it */

		if (digit < 0 || (!is_hex && digit > 7))
			return -EBADMSG;
		value = value * (is_hex ? 16 : 8) + digit;
	}
	if (value == 0)
		return -EBADMSG;
	*ret = (char)value;
	return 3;
}

static int split_one(const char **text, bool has_escapes, struct text *ret)
{
	char quote = '\0';
	int r = 0;

	for (; **text && r >= 0; ++*text) {
		char c = **text;

		if (c == '\\') {
			int used = 1;

			if (!(*text)[1]) {
				++*text;
				return has_escapes || quote ? -EBADMSG : 0;
			}
			c = (*text)[1];
			if (has_escapes)
				used = unescape(*text + 1, &c);
			if (used < 0)
				return used;
			*text += used;
			r = text_add(ret, c);
		} else if (quote ? c == quote : c == '"' || c == '\'') {
			quote = quote ? '\0' : c;
		} else if (!quote && strchr(BLANKS, c)) {
			return 0;
		} else {
			r = text_add(ret, c);
		}
	}
	return r < 0 ? r : quote ? -EBADMSG : 0;
}

int words_split(const char *text, bool has_escapes, struct words *ret)
{
	_cleanup_(words_done) struct words l = {};

	for (;;) {
		_owns_(struct text, bytes) word = {};
		_cleanup_(freep) char *bytes = NULL;
		int r;

		text += strspn(text, BLANKS);
		if (!*text)
			break;
		if (l.n == MAX_WORDS)
			return -E2BIG;
		r = split_one(&text, has_escapes, &word);
		if (r < 0)
			return r;
		bytes = text_take(&word);
		if (!bytes || ADD(l.words, l.n, bytes) < 0)
			return -ENOMEM;
		TAKE(bytes);
	}

	*ret = TAKE_STRUCT(l);
	return 0;
}

int word_expand_specifiers(const char *word, const char *unit, char **ret)
{
	_owns_(struct text, bytes) out = {};
	const size_t n_bare =
		strrchr(unit, '.') ? (size_t)(strrchr(unit, '.') - unit) : strlen(unit);
	int r = 0;

	for (; *word && r >= 0; word++) {
		if (*word != '%' || !word[1]) {
			r = text_add(&out, *word);
			continue;
		}
		word++;
		if (!strchr("%nNp", *word) || out.n > MAX_TEXT_BYTES)
			return -EBADMSG;
		if (*word == '%')
			r = text_add(&out, '%');
		else
			for (size_t i = 0; unit[i] && (*word == 'n' || i < n_bare) && r >= 0; i++)
				r = text_add(&out, unit[i]);
	}
	if (r < 0)
		return r;
	*ret = text_take(&out);
	return *ret ? 0 : -ENOMEM;
}

/* Files of variables: load_env_file() of systemd as one machine of states */

enum word_state {
	PRE_KEY,
	KEY,
	PRE_VALUE,
	VALUE,
	VALUE_ESCAPE,
	SINGLE,
	DOUBLE,
	DOUBLE_ESCAPE,
	COMMENT,
	COMMENT_ESCAPE,
};

struct machine {
	struct text value; /* first, for _owns_() */
	enum word_state state;
	struct variable variable;
	size_t key_end; /* of the name, which begins at variable.from */
	size_t n_solid; /* bytes of the value up to the last one that is no trailing blank */
};

static int take(struct machine *m, char c, size_t at, bool is_solid)
{
	int r;

	r = c ? text_add(&m->value, c) : 0;
	if (is_solid) {
		m->n_solid = m->value.n;
		m->variable.insert_at = (uint32_t)at + 1;
	}
	return r;
}

static int step(struct machine *m, char c, size_t at)
{
	const bool is_end = c == '\n' || c == '\r';
	int r = 0;

	switch (m->state) {
	case PRE_KEY:
		if (c == '#' || c == ';') {
			m->state = COMMENT;
		} else if (!strchr(BLANKS, c)) {
			m->state = KEY;
			m->variable.from = (uint32_t)at;
		}
		break;
	case KEY:
		if (is_end) {
			m->state = PRE_KEY;
		} else if (c == '=') {
			m->state = PRE_VALUE;
			m->key_end = at;
			m->variable.insert_at = (uint32_t)at + 1;
		}
		break;
	case PRE_VALUE:
		if (is_end)
			return 1;
		if (c == '\'' || c == '"') {
			m->state = c == '"' ? DOUBLE : SINGLE;
			if (m->value.n == 0)
				m->variable.insert_at = (uint32_t)at + 1;
		} else if (c == '\\') {
			m->state = VALUE_ESCAPE;
		} else if (!strchr(" \t", c)) {
			m->state = VALUE;
			r = take(m, c, at, true);
		}
		break;
	case VALUE:
		if (is_end)
			return 1;
		if (c == '\\')
			m->state = VALUE_ESCAPE;
		else
			r = take(m, c, at, !strchr(" \t", c));
		break;
	case VALUE_ESCAPE:
		m->state = VALUE;
		if (!is_end)
			r = take(m, c, at, true);
		break;
	case SINGLE:
		if (c == '\'')
			m->state = PRE_VALUE;
		else
			r = take(m, c, at, true);
		break;
	case DOUBLE:
		if (c == '"')
			m->state = PRE_VALUE;
		else if (c == '\\')
			m->state = DOUBLE_ESCAPE;
		else
			r = take(m, c, at, true);
		break;
	case DOUBLE_ESCAPE:
		m->state = DOUBLE;
		if (strchr("\"\\`$", c)) {
			r = take(m, c, at, true);
		} else if (c != '\n') {
			r = take(m, '\\', at - 1, true);
			if (r >= 0)
				r = take(m, c, at, true);
		}
		break;
	case COMMENT:
		m->state = is_end ? PRE_KEY : c == '\\' ? COMMENT_ESCAPE : COMMENT;
		break;
	case COMMENT_ESCAPE:
		m->state = COMMENT;
		break;
	}
	return r;
}

static bool is_name(const char *s)
{
	return *s && !(*s >= '0' && *s <= '9') && !s[strspn(s, VARIABLE_LETTERS)];
}

int variable_next(const char *text, size_t size, size_t *at, struct variable *ret)
{
	while (*at < size) {
		_owns_(struct machine, value.bytes) m = {};
		const char *key;
		size_t n;
		int r = 0;

		/* An end of the file is the end of a line. */
		while (r == 0 && *at <= size) {
			r = step(&m, *at < size ? text[*at] : '\n', *at);
			(*at)++;
		}
		if (r < 0)
			return r;
		if (m.state < PRE_VALUE || m.state >= COMMENT)
			continue;
		key = text + m.variable.from;
		for (n = m.key_end - m.variable.from; n > 0 && strchr(BLANKS, key[n - 1]); n--)
			;
		n = (size_t)snprintf(m.variable.name, sizeof(m.variable.name), "%.*s", (int)n, key);
		if (n >= sizeof(m.variable.name) || !is_name(m.variable.name))
			continue;

		m.value.n = m.n_solid;
		m.variable.value = text_take(&m.value);
		if (!m.variable.value)
			return -ENOMEM;
		m.variable.to = (uint32_t)MIN(*at, size);
		m.variable.is_file = true;
		*ret = m.variable;
		return 1;
	}
	return 0;
}
