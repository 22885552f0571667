/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#define BLANKS " \t\r\n"

void word_done(struct word *w)
{
	free(w->letters);
	*w = (struct word){};
}

void words_done(struct words *l)
{
	for (size_t i = 0; i < l->n_words; i++)
		word_done(&l->words[i]);
	free(l->words);
	*l = (struct words){};
}

void variable_done(struct variable *v)
{
	word_done(&v->value);
}

int word_add(struct word *w, struct letter letter)
{
	struct letter *slot = APPEND(w->letters, w->n_letters);

	if (!slot)
		return -ENOMEM;
	*slot = letter;
	return 0;
}

int word_add_word(struct word *w, const struct word *other)
{
	int r = 0;

	for (size_t i = 0; i < other->n_letters && r >= 0; i++)
		r = word_add(w, other->letters[i]);
	return r;
}

int word_add_text(struct word *w, const char *text, uint16_t page, uint32_t at)
{
	int r = 0;

	for (; *text && r >= 0; text++)
		r = word_add(w, (struct letter){ *text, page, at });
	return r;
}

int words_add(struct words *l, struct word *w)
{
	struct word *slot = APPEND(l->words, l->n_words);

	if (!slot)
		return -ENOMEM;
	*slot = *w;
	*w = (struct word){};
	return 0;
}

bool word_text(const struct word *w, char *ret, size_t size)
{
	const size_t n = MIN(w->n_letters, size - 1);

	for (size_t i = 0; i < n; i++)
		ret[i] = w->letters[i].c;
	ret[n] = '\0';
	return strlen(ret) == w->n_letters;
}

bool word_is(const struct word *w, const char *text)
{
	size_t i = 0;

	while (i < w->n_letters && text[i] && text[i] == w->letters[i].c)
		i++;
	return i == w->n_letters && !text[i];
}

bool word_is_whole(const struct word *w, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (w->letters[i].page == NO_PAGE || w->letters[i].page != w->letters[from].page ||
		    w->letters[i].at != w->letters[from].at + (i - from))
			return false;
	return from < to;
}

/* Splitting */

static int hex_of(char c)
{
	const char *digits = "0123456789abcdef", *digit;

	if (c >= 'A' && c <= 'F')
		c = (char)(c - 'A' + 'a');
	digit = c ? strchr(digits, c) : NULL;
	return digit ? (int)(digit - digits) : -1;
}

/* What stands behind the backslash at @at. Return: letters used, or -EBADMSG. */
static int unescape(const struct word *text, size_t at, char *ret)
{
	static const char names[] = "abfnrtv\\\"'s", values[] = "\a\b\f\n\r\t\v\\\"' ";
	const size_t left = text->n_letters - at;
	const char c = left > 0 ? text->letters[at].c : '\0';
	const char *name = c ? strchr(names, c) : NULL;
	int value = 0;

	if (name) {
		*ret = values[name - names];
		return 1;
	}
	/* Two hexadecimal or three octal digits; longer ones give no letter that a flag has. */
	if (left < 3 || (c != 'x' && (c < '0' || c > '3')))
		return -EBADMSG;
	for (size_t i = c == 'x'; i < 3; i++) {
		int digit = hex_of(text->letters[at + i].c);

		if (digit < 0 || (c != 'x' && digit > 7))
			return -EBADMSG;
		value = value * (c == 'x' ? 16 : 8) + digit;
	}
	if (value == 0)
		return -EBADMSG;
	*ret = (char)value;
	return 3;
}

static int split_one(const struct word *text, bool has_escapes, size_t *at, struct word *ret)
{
	char quote = '\0';
	int r = 0;

	for (; *at < text->n_letters && r >= 0; (*at)++) {
		struct letter letter = text->letters[*at];

		if (letter.c == '\\') {
			char c = '\0';
			int used = 1;

			if (*at + 1 == text->n_letters) {
				++*at;
				return has_escapes || quote ? -EBADMSG : 0;
			}
			if (has_escapes)
				used = unescape(text, *at + 1, &c);
			else
				c = text->letters[*at + 1].c;
			if (used < 0)
				return used;
			letter.c = c;
			/* Not what stands there: that is no place to edit. */
			letter.page = NO_PAGE;
			*at += (size_t)used;
			r = word_add(ret, letter);
		} else if (quote ? letter.c == quote : letter.c == '"' || letter.c == '\'') {
			quote = quote ? '\0' : letter.c;
		} else if (!quote && letter.c && strchr(BLANKS, letter.c)) {
			return 0;
		} else {
			r = word_add(ret, letter);
		}
	}

	return r < 0 ? r : quote ? -EBADMSG : 0;
}

int words_split(const struct word *text, bool has_escapes, struct words *ret)
{
	_cleanup_(words_done) struct words l = {};
	int r = 0;

	for (size_t at = 0; r >= 0;) {
		_cleanup_(word_done) struct word w = {};

		while (at < text->n_letters && text->letters[at].c &&
		       strchr(BLANKS, text->letters[at].c))
			at++;
		if (at == text->n_letters)
			break;
		r = l.n_words < MAX_WORDS ? split_one(text, has_escapes, &at, &w) : -E2BIG;
		if (r >= 0)
			r = words_add(&l, &w);
	}
	if (r < 0)
		return r;

	*ret = TAKE_STRUCT(l);
	return 0;
}

int word_expand_specifiers(struct word *w, const char *unit)
{
	static const struct {
		char name;
		const char *value; /* of the system manager: systemd.unit(5) "Specifiers" */
	} specifiers[] = {
		{ '%', "%" },        { 'C', "/var/cache" }, { 'E', "/etc" },     { 'h', "/root" },
		{ 'L', "/var/log" }, { 'S', "/var/lib" },   { 't', "/run" },     { 'T', "/tmp" },
		{ 'u', "root" },     { 'U', "0" },          { 'V', "/var/tmp" }, { 'g', "root" },
		{ 'G', "0" },        { 'd', "" },           { 'i', "" },         { 'I', "" },
	};
	_cleanup_(word_done) struct word out = {};
	int r = 0;

	for (size_t i = 0; i < w->n_letters && r >= 0; i++) {
		const struct letter *l = &w->letters[i];
		const char *value = NULL;
		char name[64];

		if (l->c != '%' || i + 1 == w->n_letters) {
			r = word_add(&out, *l);
			continue;
		}
		COPY(name, unit);
		if (w->letters[i + 1].c == 'N' || w->letters[i + 1].c == 'p')
			*(strrchr(name, '.') ? strrchr(name, '.') : name + strlen(name)) = '\0';
		if (strchr("nNp", w->letters[i + 1].c))
			value = name;
		for (size_t k = 0; k < ELEMENTSOF(specifiers) && !value; k++)
			if (specifiers[k].name == w->letters[i + 1].c)
				value = specifiers[k].value;
		if (!value || !*value)
			return -EBADMSG;
		if (out.n_letters > MAX_LETTERS)
			return -EBADMSG;
		r = word_add_text(&out, value, NO_PAGE, 0);
		i++;
	}
	if (r < 0)
		return r;

	word_done(w);
	*w = TAKE_STRUCT(out);
	return 0;
}

static void trim(struct word *w)
{
	size_t from = 0;

	while (w->n_letters > 0 && strchr(BLANKS, w->letters[w->n_letters - 1].c))
		w->letters[--w->n_letters] = (struct letter){};
	while (from < w->n_letters && strchr(BLANKS, w->letters[from].c))
		from++;
	memmove(w->letters, w->letters + from, (w->n_letters - from) * sizeof(*w->letters));
	w->n_letters -= from;
}

static size_t end_of_line(const char *text, size_t size, size_t at)
{
	const char *end = at < size ? memchr(text + at, '\n', size - at) : NULL;

	return end ? (size_t)(end - text) : size;
}

static bool is_comment(const char *text, size_t at, size_t end)
{
	while (at < end && strchr(" \t\r", text[at]))
		at++;
	return at < end && (text[at] == '#' || text[at] == ';');
}

int word_next_line(const char *text, size_t size, uint16_t page, size_t *at, struct word *ret)
{
	_cleanup_(word_done) struct word line = {};
	bool goes_on = true;
	int r = 0;

	if (*at >= size)
		return 0;

	while (goes_on && *at < size && r >= 0) {
		const size_t end = end_of_line(text, size, *at);
		size_t n_backslashes = 0;

		/* Also between lines that belong together. */
		if (is_comment(text, *at, end)) {
			*at = end + 1;
			continue;
		}
		while (n_backslashes < end - *at && text[end - 1 - n_backslashes] == '\\')
			n_backslashes++;
		goes_on = n_backslashes % 2 > 0;
		for (size_t i = *at; i < end && r >= 0; i++) {
			const bool is_joint = goes_on && i + 1 == end;

			if (text[i])
				r = word_add(&line, (struct letter){ is_joint ? ' ' : text[i], page,
								     (uint32_t)i });
		}
		*at = end + 1;
	}
	if (r < 0)
		return r;

	if (line.n_letters > 0)
		trim(&line);
	*ret = TAKE_STRUCT(line);
	return 1;
}

/* Files of variables: load_env_file() of systemd as one machine of states */

enum state {
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
	enum state state;
	struct word key;
	struct variable variable;
	size_t n_solid; /* letters of the value up to the last one that is no trailing blank */
	uint16_t page;
};

static void machine_done(struct machine *m)
{
	word_done(&m->key);
	variable_done(&m->variable);
}

static int take(struct machine *m, char c, size_t at, bool is_solid)
{
	int r;

	r = word_add(&m->variable.value, (struct letter){ c, m->page, (uint32_t)at });
	if (is_solid) {
		m->n_solid = m->variable.value.n_letters;
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
			m->variable.at = (uint32_t)at;
			r = word_add(&m->key, (struct letter){ c, m->page, (uint32_t)at });
		}
		break;
	case KEY:
		if (is_end) {
			m->state = PRE_KEY;
			word_done(&m->key);
		} else if (c == '=') {
			m->state = PRE_VALUE;
			m->variable.insert_at = (uint32_t)at + 1;
		} else {
			r = word_add(&m->key, (struct letter){ c, m->page, (uint32_t)at });
		}
		break;
	case PRE_VALUE:
		if (is_end)
			return 1;
		if (c == '\'' || c == '"') {
			m->state = c == '"' ? DOUBLE : SINGLE;
			if (m->variable.value.n_letters == 0)
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
	if (!*s || (*s >= '0' && *s <= '9'))
		return false;
	for (; *s; s++)
		if (*s != '_' && !(*s >= '0' && *s <= '9') && !(*s >= 'a' && *s <= 'z') &&
		    !(*s >= 'A' && *s <= 'Z'))
			return false;
	return true;
}

int variable_next(const char *text, size_t size, uint16_t page, size_t *at, struct variable *ret)
{
	while (*at < size) {
		_cleanup_(machine_done) struct machine m = { .page = page };
		bool fits;
		int r = 0;

		/* An end of the file is the end of a line. */
		while (r == 0 && *at <= size) {
			r = step(&m, *at < size ? text[*at] : '\n', *at);
			(*at)++;
		}
		if (r < 0)
			return r;
		while (m.variable.value.n_letters > m.n_solid)
			m.variable.value.letters[--m.variable.value.n_letters] = (struct letter){};
		if (m.key.n_letters > 0)
			trim(&m.key);
		fits = word_text(&m.key, m.variable.name, sizeof(m.variable.name));
		if (m.state < PRE_VALUE || m.state >= COMMENT || !fits || !is_name(m.variable.name))
			continue;

		m.variable.page = page;
		m.variable.is_file = true;
		*ret = m.variable;
		m.variable = (struct variable){};
		return 1;
	}
	return 0;
}
