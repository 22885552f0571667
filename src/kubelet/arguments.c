/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments: the command line itself: the words of ExecStart= with their variables put in, by the
 * rules of systemd.service(5) "Command lines"; or those of a file of flags, or of a process.
 */
#include "unit.h"

#define PROBE        "best-effort" /* a plain word, as all that is ever put there */
#define MAX_PROBES   4             /* places that are tried for one value */
#define WINDOW_BYTES 4096          /* in which the next word of a statement is looked for */

/* Where the words of one statement were found so far. */
struct cursor {
	struct place place;
	uint32_t at;
};

static struct cursor cursor_of(const struct place *place)
{
	return (struct cursor){ *place, place->from };
}

/* Where the next word stands. Return: does it stand there as it is? */
static bool find_word(const struct unit *u, struct cursor *c, const char *word, uint32_t *ret)
{
	const size_t n = strlen(word);
	const char *text, *found;
	uint32_t to;

	*ret = c->at;
	if (c->place.page >= u->n_pages)
		return false;
	text = u->pages[c->place.page].text;
	while (*ret < c->place.to && strchr(" \t\r\n\\\"'", text[*ret]))
		++*ret;
	to = (uint32_t)MIN(c->place.to, *ret + n + WINDOW_BYTES);
	found = *ret < to ? memmem(text + *ret, to - *ret, word, n) : NULL;
	if (!found)
		return false;
	*ret = (uint32_t)(found - text);
	c->at = *ret + (uint32_t)n;
	return true;
}

static int add_argument(struct unit *u, const char *text, size_t source, struct cursor *c)
{
	struct argument *a;

	if (!unit_has_room(u, text))
		return 0;
	a = APPEND(u->arguments, u->n_arguments);
	if (!a)
		return -ENOMEM;
	a->text = strdup(text);
	a->source = source;
	a->place = c->place;
	a->is_literal = find_word(u, c, text, &a->at);
	return a->text ? 0 : -ENOMEM;
}

static int on_split(struct unit *u, const char *what, int r)
{
	if (r == -EBADMSG)
		unit_problem(u, "%s: the quotes do not match", what);
	else if (r == -E2BIG)
		unit_problem(u, "%s: more than %zu words", what, MAX_WORDS);
	return r == -ENOMEM ? r : 0;
}

static struct place place_of(const struct variable *v)
{
	return (struct place){ v->page, v->from, v->to };
}

/* "$NAME" as a word of its own: none, one or more words. */
static int expand_alone(struct unit *u, const char *name, size_t source)
{
	const struct variable *v = unit_variable(u, name);
	_cleanup_(words_done) struct words words = {};
	char what[sizeof(u->name) + 80];
	struct place place;
	struct cursor c;
	int r;

	if (!v)
		return 0;
	place = place_of(v);
	c = cursor_of(&place);
	snprintf(what, sizeof(what), "%s: $%s", u->name, name);
	r = on_split(u, what, words_split(v->value, false, &words));
	for (size_t i = 0; i < words.n && r >= 0; i++)
		r = add_argument(u, words.words[i], source, &c);
	return r;
}

/* "${NAME}" at the beginning of a word, or of the value of a flag, is where the value comes from.
 */
static const struct variable *source_of(const struct unit *u, const char *word)
{
	const char *at = word + (is_prefix(word, "${") ? 0 : strcspn(word, "="));
	char name[64] = "";
	size_t n;

	at += *at == '=';
	if (!is_prefix(at, "${"))
		return NULL;
	n = strcspn(at + 2, "}");
	if (n < sizeof(name))
		memcpy(name, at + 2, n);
	return unit_variable(u, name);
}

/* "${NAME}" inside a word, and "$$". */
static int expand_inside(struct unit *u, const char *word, size_t source, struct cursor *c)
{
	const struct variable *of = source_of(u, word);
	_cleanup_(text_done) struct text out = {};
	_cleanup_(freep) char *text = NULL;
	int r = 0;

	for (const char *at = word; *at && r >= 0 && out.n <= MAX_TEXT_BYTES; at++) {
		const char *end = is_prefix(at, "${") ? strchr(at, '}') : NULL;
		char name[64] = "";
		const struct variable *v;

		if (end) {
			snprintf(name, sizeof(name), "%.*s", (int)MIN(end - at - 2, 63), at + 2);
			v = unit_variable(u, name);
			if (v)
				r = text_add_string(&out, v->value);
			at = end;
			continue;
		}
		r = text_add(&out, *at);
		at += is_prefix(at, "$$");
	}
	if (out.n > MAX_TEXT_BYTES) {
		unit_problem(u, "%s: ExecStart= has a word of more than %zu bytes", u->name,
			     MAX_TEXT_BYTES);
		return 0;
	}
	text = r < 0 ? NULL : text_take(&out);
	if (!text)
		return -ENOMEM;
	if (of) {
		struct place place = place_of(of);
		struct cursor inside = cursor_of(&place);

		return add_argument(u, text, source, &inside);
	}
	return add_argument(u, text, source, c);
}

/* The program, and which of its words is the first that is an argument. */
static size_t read_program(struct unit *u, bool *ret_has_variables)
{
	const char *path = u->exec.words[0];
	size_t first = 1;

	*ret_has_variables = true;
	for (; *path && strchr("@-:+!", *path); path++) {
		first += *path == '@'; /* the next word is only how it is called */
		*ret_has_variables &= *path != ':';
	}
	if (*path == '/' && !COPY(u->program, path))
		unit_problem(u, "%s: ExecStart= is not understood", u->name);
	return first;
}

int arguments_expand(struct unit *u)
{
	struct cursor c = cursor_of(&u->exec_place);
	bool has_variables;
	size_t first;
	int r = 0;

	if (u->exec.n == 0)
		return 0;
	first = read_program(u, &has_variables);
	u->exec_at = calloc(u->exec.n, sizeof(*u->exec_at));
	if (!u->exec_at)
		return -ENOMEM;
	find_word(u, &c, "=", u->exec_at); /* behind "ExecStart=" */
	for (size_t i = 0; i < u->exec.n && r >= 0; i++) {
		const char *w = u->exec.words[i];
		struct cursor here = c;

		find_word(u, &c, w, &u->exec_at[i]);
		if (i < first)
			continue;
		if (!has_variables)
			r = add_argument(u, w, i, &here);
		else if (w[0] == '$' && w[1] && w[1] != '{' && w[1] != '$')
			r = expand_alone(u, w + 1, i);
		else
			r = expand_inside(u, w, i, &here);
	}
	return r;
}

int arguments_add_page(struct unit *u, uint16_t page)
{
	const struct page *p = &u->pages[page];
	const bool is_process = p->kind == PAGE_PROCESS;
	size_t from = is_process ? strlen(p->text) + 1 : 0; /* the program's own name */
	int r = 0;

	for (size_t at = from, end; at < p->size && r >= 0; at = end + 1) {
		_cleanup_(words_done) struct words words = {};
		_cleanup_(freep) char *line = NULL;
		struct cursor c;

		end = is_process ? at + strlen(p->text + at) : at + strcspn(p->text + at, "\n");
		if (end > p->size) /* a NUL in a file of lines */
			end = p->size;
		c = (struct cursor){ { page, (uint32_t)at, (uint32_t)end }, (uint32_t)at };
		line = strndup(p->text + at, end - at);
		if (!line)
			return -ENOMEM;
		if (is_process)
			r = add_argument(u, line, SIZE_MAX, &c);
		if (is_process || *line == '#')
			continue;

		r = on_split(u, p->path, words_split(line, false, &words));
		for (size_t i = 0; i < words.n && r >= 0; i++)
			r = add_argument(u, words.words[i], SIZE_MAX, &c);
	}
	return r;
}

/* The one text that says it */

/* Is @now the same command line but for argument @i, which has become @expected? */
static bool is_only_change(const struct argument *was, const struct argument *now, size_t n,
			   size_t i, const char *expected)
{
	for (size_t k = 0; k < n; k++)
		if (k == i ? !streq(now[k].text, expected)
			   : !streq(now[k].text, was[k].text) &&
				     !(streq(was[k].text, was[i].text) &&
				       streq(now[k].text, expected)))
			return false;
	return true;
}

/* The command line with another statement in place of a variable's. 0 or -ENOMEM. */
static int resolve(const struct unit *u, const char *statement, size_t size,
		   const struct place *place, struct unit *ret)
{
	_cleanup_(variable_done) struct variable v = {};
	struct variable *old = NULL, kept;
	size_t at = 0;
	int r;

	for (size_t i = 0; i < u->n_variables; i++)
		if (u->variables[i].is_file && u->variables[i].page == place->page &&
		    u->variables[i].from == place->from)
			old = &u->variables[i];
	r = old ? variable_next(statement, size, &at, &v) : 0;
	if (r <= 0 || at < size || !streq(v.name, old->name))
		return MIN(r, 0);

	kept = *old;
	*old = v;
	ret->exec = u->exec;
	ret->variables = u->variables;
	ret->n_variables = u->n_variables;
	r = arguments_expand(ret);
	*old = kept;
	/* They are @u's. */
	ret->exec = (struct words){};
	ret->variables = NULL;
	ret->n_variables = 0;
	return r;
}

/* The arguments of a file of flags with another text. 0 or -ENOMEM. */
static int resolve_flags(char *text, size_t size, struct unit *ret)
{
	const struct page page = { .kind = PAGE_FLAGS, .text = text, .size = size };

	if (ADD(ret->pages, ret->n_pages, page) < 0) {
		free(text);
		return -ENOMEM;
	}
	return arguments_add_page(ret, 0);
}

/* Does a plain word at @from to @to of the file give the argument that value? 1, 0 or -ENOMEM. */
static int try_place(const struct unit *u, size_t i, size_t value, uint32_t from, uint32_t to)
{
	const struct argument *a = &u->arguments[i];
	const struct page *page = &u->pages[a->place.page];
	const bool is_flags = page->kind == PAGE_FLAGS; /* they are the last arguments of all */
	const uint32_t begin = is_flags ? 0 : a->place.from;
	const size_t end = is_flags ? page->size : a->place.to;
	_cleanup_(unit_done) struct unit now = { .is_clear = true };
	_cleanup_(freep) char *text = NULL, *expected = NULL;
	size_t first;
	int size, r;

	size = asprintf(&text, "%.*s" PROBE "%.*s", (int)(from - begin), page->text + begin,
			(int)(end - to), page->text + to);
	if (size < 0 || asprintf(&expected, "%.*s" PROBE, (int)value, a->text) < 0)
		return -ENOMEM;
	r = is_flags ? resolve_flags(TAKE(text), (size_t)size, &now)
		     : resolve(u, text, (size_t)size, &a->place, &now);
	first = is_flags ? u->n_arguments - now.n_arguments : 0;
	return r < 0 ? r
		     : now.n_arguments + first == u->n_arguments && i >= first &&
			       is_only_change(u->arguments + first, now.arguments, now.n_arguments,
					      i - first, expected);
}

int arguments_find_literal(const struct unit *u, size_t i, size_t value, uint32_t *ret_from,
			   uint32_t *ret_to)
{
	const struct argument *a = &u->arguments[i];
	const uint32_t n = (uint32_t)strlen(a->text + value);
	const char *text = u->pages[a->place.page].text;
	uint32_t at = a->at + (uint32_t)value;
	int r = 0;

	if (a->is_literal)
		r = try_place(u, i, value, at, at + n);
	for (uint32_t k = 0; k < MAX_PROBES && r == 0 && n > 0; k++) {
		for (at = k == 0 ? a->place.to : at; at > a->place.from; at--)
			if (at + n <= a->place.to && memcmp(text + at, a->text + value, n) == 0)
				break;
		if (at == a->place.from)
			break;
		r = try_place(u, i, value, at, at + n);
		at -= r == 0;
	}
	if (r <= 0)
		return r;
	*ret_from = at;
	*ret_to = at + n;
	return 1;
}
