/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#define BLANKS     " \t\r\n"
#define HEX_DIGITS "0123456789abcdefABCDEF"

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

void variable_done(struct variable *v)
{
	free(v->value);
	*v = (struct variable){};
}

/* Splitting */

/* Reads an escape sequence; @at is behind its backslash. Return: bytes used, or -EBADMSG. */
static int unescape(const char *at, char *ret)
{
	static const char names[] = "abfnrtv\\\"'s", values[] = "\a\b\f\n\r\t\v\\\"' ";
	const char *name = *at ? strchr(names, *at) : NULL;
	const bool is_hex = *at == 'x';
	const size_t n = is_hex ? 2 : 3;
	char digits[4];

	if (name) {
		*ret = values[name - names];
		return 1;
	}
	/* Two hexadecimal or three octal digits; longer ones give no letter that a flag has. */
	at += is_hex;
	if ((!is_hex && *at > '3') || strspn(at, is_hex ? HEX_DIGITS : "01234567") < n)
		return -EBADMSG;
	PRINT(digits, "%.*s", (int)n, at);
	*ret = (char)strtoul(digits, NULL, is_hex ? 16 : 8);
	return *ret ? 3 : -EBADMSG;
}

/* Writes the next word of *text to @to, which has room for all of it. 0 or -EBADMSG. */
static int split_one(const char **text, bool has_escapes, char *to)
{
	char quote = '\0';

	for (; **text; ++*text) {
		const char c = **text;

		if (c == '\\') {
			int used = 1;

			*to = (*text)[1];
			if (!*to) {
				++*text;
				return has_escapes || quote ? -EBADMSG : 0;
			}
			if (has_escapes)
				used = unescape(*text + 1, to);
			if (used < 0)
				return used;
			*text += used;
			to++;
		} else if (quote ? c == quote : c == '"' || c == '\'') {
			quote = quote ? '\0' : c;
		} else if (!quote && strchr(BLANKS, c)) {
			break;
		} else {
			*to++ = c;
		}
	}
	*to = '\0';
	return quote ? -EBADMSG : 0;
}

int words_split(const char *text, bool has_escapes, struct words *ret)
{
	_cleanup_(words_done) struct words l = {};
	_cleanup_(freep) char *room = malloc(strlen(text) + 1);

	while (room && *(text += strspn(text, BLANKS))) {
		char **word;
		int r;

		if (l.n == MAX_WORDS)
			return -E2BIG;
		r = split_one(&text, has_escapes, room);
		if (r < 0)
			return r;
		word = APPEND(l.words, l.n);
		if (word)
			*word = strdup(room);
		if (!word || !*word)
			return -ENOMEM;
	}
	if (!room)
		return -ENOMEM;

	*ret = TAKE_STRUCT(l);
	return 0;
}

int word_expand_specifiers(const char *word, const char *unit, const char *host, char **ret)
{
	const char *dot = strrchr(unit, '.') ?: unit + strlen(unit);
	_cleanup_(stream_done) struct stream out = {};
	int r = 0;

	if (stream_open(&out) < 0)
		return -ENOMEM;
	for (; *word && r >= 0; word++) {
		if (*word != '%' || !word[1]) {
			r = fputc(*word, out.f);
			continue;
		}
		word++;
		if (!strchr(*host ? "%nNpHl" : "%nNp", *word) ||
		    ftell(out.f) > (long)MAX_TEXT_BYTES)
			return -EBADMSG;
		if (strchr("%nH", *word))
			r = fputs(*word == '%' ? "%" : *word == 'n' ? unit : host, out.f);
		else if (*word == 'l')
			r = fprintf(out.f, "%.*s", (int)strcspn(host, "."), host);
		else
			r = fprintf(out.f, "%.*s", (int)(dot - unit), unit);
	}
	return r < 0 ? -ENOMEM : stream_take(&out, ret);
}

/* Files of variables: load_env_file() of systemd as one machine of states */

enum word_state {
	PRE_KEY,
	KEY,
	COMMENT,
	PRE_VALUE,
	VALUE,
	VALUE_ESCAPE,
	SINGLE,
	DOUBLE,
	DOUBLE_ESCAPE,
};

struct machine {
	char *value; /* room for the rest of the file */
	size_t n;    /* bytes of it */
	enum word_state state;
	bool is_escaped; /* the next byte: an odd number of backslashes is before it */
	struct variable variable;
	size_t key_end; /* of the name, which begins at variable.from */
	size_t n_solid; /* bytes of the value up to the last one that is no trailing blank */
};

static void take(struct machine *m, char c, size_t at, bool is_solid)
{
	if (c)
		m->value[m->n++] = c;
	if (is_solid) {
		m->n_solid = m->n;
		m->variable.insert_at = (uint32_t)at + 1;
	}
}

/* Return: does this byte end an assignment? */
static bool step(struct machine *m, char c, size_t at)
{
	const bool is_end = c == '\n' || c == '\r';

	if (is_end && m->state < PRE_VALUE)
		m->variable.is_doubtful =
			m->is_escaped && (m->variable.is_doubtful || m->state == COMMENT);
	m->is_escaped = c == '\\' && !m->is_escaped;
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
			return true;
		if (c == '\'' || c == '"') {
			m->state = c == '"' ? DOUBLE : SINGLE;
			if (m->n == 0)
				m->variable.insert_at = (uint32_t)at + 1;
		} else if (c == '\\') {
			m->state = VALUE_ESCAPE;
		} else if (!strchr(" \t", c)) {
			m->state = VALUE;
			take(m, c, at, true);
		}
		break;
	case VALUE:
		if (is_end)
			return true;
		if (c == '\\')
			m->state = VALUE_ESCAPE;
		else
			take(m, c, at, !strchr(" \t", c));
		break;
	case VALUE_ESCAPE:
		m->state = VALUE;
		if (!is_end)
			take(m, c, at, true);
		break;
	case SINGLE:
		if (c == '\'')
			m->state = PRE_VALUE;
		else
			take(m, c, at, true);
		break;
	case DOUBLE:
		if (c == '"')
			m->state = PRE_VALUE;
		else if (c == '\\')
			m->state = DOUBLE_ESCAPE;
		else
			take(m, c, at, true);
		break;
	case DOUBLE_ESCAPE:
		m->state = DOUBLE;
		if (strchr("\"\\`$", c)) {
			take(m, c, at, true);
		} else if (c != '\n') {
			take(m, '\\', at - 1, true);
			take(m, c, at, true);
		}
		break;
	case COMMENT:
		m->state = is_end ? PRE_KEY : COMMENT;
		break;
	}
	return false;
}

int variable_next(const char *text, size_t size, size_t *at, struct variable *ret)
{
	/* Two more: the NUL, and the line end that the end of the file stands for. */
	_cleanup_(freep) char *room = *at < size ? malloc(size - *at + 2) : NULL;

	while (*at < size) {
		struct machine m = { .value = room };
		bool is_over = false;
		const char *key;
		size_t n;

		if (!room)
			return -ENOMEM;
		while (!is_over && *at <= size) {
			is_over = step(&m, *at < size ? text[*at] : '\n', *at);
			(*at)++;
		}
		if (m.state < PRE_VALUE)
			continue;
		key = text + m.variable.from;
		for (n = m.key_end - m.variable.from; n > 0 && strchr(BLANKS, key[n - 1]); n--)
			;
		n = (size_t)PRINT(m.variable.name, "%.*s", (int)n, key);
		if (n == 0 || n >= sizeof(m.variable.name) || (*key >= '0' && *key <= '9') ||
		    m.variable.name[strspn(m.variable.name, VARIABLE_LETTERS)])
			continue;

		m.variable.value = strndup(room, m.n_solid);
		if (!m.variable.value)
			return -ENOMEM;
		m.variable.to = (uint32_t)MIN(*at, size);
		m.variable.is_file = true;
		*ret = m.variable;
		return 1;
	}
	return 0;
}
