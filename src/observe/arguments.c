/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"

static int add_argument(struct unit *u, struct word *w, size_t source)
{
	struct argument *a;

	if (!unit_has_room(u, w))
		return 0;
	a = APPEND(u->arguments, u->n_arguments);
	if (!a)
		return -ENOMEM;
	a->word = *w;
	a->source = source;
	*w = (struct word){};
	return 0;
}

static int on_split(struct unit *u, const char *what, int r)
{
	if (r == -EBADMSG)
		unit_problem(u, "%s: the quotes do not match", what);
	else if (r == -E2BIG)
		unit_problem(u, "%s: more than %zu words", what, MAX_WORDS);
	return r == -ENOMEM ? r : 0;
}

/* "$NAME" as a word of its own: none, one or more words. */
static int expand_alone(struct unit *u, const char *name, size_t source)
{
	const struct variable *v = unit_variable(u, name);
	_cleanup_(words_done) struct words words = {};
	char what[sizeof(u->name) + 80];
	int r;

	if (!v)
		return 0;
	snprintf(what, sizeof(what), "%s: $%s", u->name, name);
	r = on_split(u, what, words_split(&v->value, false, &words));
	for (size_t i = 0; i < words.n_words && r >= 0; i++)
		r = add_argument(u, &words.words[i], source);
	return r;
}

/* "${NAME}" inside a word, and "$$". */
static int expand_inside(struct unit *u, const struct word *w, size_t source)
{
	_cleanup_(word_done) struct word out = {};
	int r = 0;

	for (size_t i = 0; i < w->n_letters && r >= 0 && out.n_letters <= MAX_LETTERS; i++) {
		const struct letter *l = &w->letters[i];
		const bool is_more = i + 1 < w->n_letters;
		char name[64] = "";
		size_t n = 0;

		if (l->c == '$' && is_more && l[1].c == '{') {
			for (size_t k = i + 2; k < w->n_letters && w->letters[k].c != '}'; k++)
				if (n < sizeof(name) - 1)
					name[n++] = w->letters[k].c;
			if (i + 2 + n < w->n_letters && w->letters[i + 2 + n].c == '}') {
				if (unit_variable(u, name))
					r = word_add_word(&out, &unit_variable(u, name)->value);
				i += n + 2;
				continue;
			}
		}
		r = word_add(&out, *l);
		if (l->c == '$' && is_more && l[1].c == '$')
			i++;
	}
	if (out.n_letters > MAX_LETTERS) {
		unit_problem(u, "%s: ExecStart= has a word of more than %zu bytes", u->name,
			     MAX_LETTERS);
		return 0;
	}
	return r < 0 ? r : add_argument(u, &out, source);
}

int arguments_expand(struct unit *u)
{
	char program[sizeof(u->program) + 8] = "";
	const char *path = program;
	bool has_variables = true;
	size_t first = 1;
	int r = 0;

	if (u->exec.n_words == 0)
		return 0;
	if (!word_text(&u->exec.words[0], program, sizeof(program)))
		unit_problem(u, "%s: ExecStart= is not understood", u->name);
	for (; *path && strchr("@-:+!", *path); path++) {
		first += *path == '@'; /* the next word is only how it is called */
		has_variables &= *path != ':';
	}
	if (*path == '/')
		COPY(u->program, path);

	for (size_t i = first; i < u->exec.n_words && r >= 0; i++) {
		const struct word *w = &u->exec.words[i];
		_cleanup_(word_done) struct word plain = {};
		char text[72];

		if (!has_variables) {
			r = word_add_word(&plain, w);
			if (r >= 0)
				r = add_argument(u, &plain, i);
		} else if (w->n_letters > 1 && w->letters[0].c == '$' && w->letters[1].c != '{' &&
			   w->letters[1].c != '$') {
			if (word_text(w, text, sizeof(text)))
				r = expand_alone(u, text + 1, i);
		} else {
			r = expand_inside(u, w, i);
		}
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
		_cleanup_(word_done) struct word line = {};
		_cleanup_(words_done) struct words words = {};

		end = is_process ? at + strlen(p->text + at) : at + strcspn(p->text + at, "\n");
		if (end > p->size) /* a NUL in a file of lines */
			end = p->size;
		for (size_t i = at; i < end && r >= 0; i++)
			r = word_add(&line, (struct letter){ p->text[i], page, (uint32_t)i });
		if (r >= 0 && is_process)
			r = add_argument(u, &line, SIZE_MAX);
		if (r < 0 || is_process || (line.n_letters > 0 && line.letters[0].c == '#'))
			continue;

		r = on_split(u, p->path, words_split(&line, false, &words));
		for (size_t i = 0; i < words.n_words && r >= 0; i++)
			r = add_argument(u, &words.words[i], SIZE_MAX);
	}
	return r;
}
