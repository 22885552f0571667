/* SPDX-License-Identifier: Apache-2.0 */
#include "redact.h"

/* One copy in the making. */
struct copy {
	FILE *f;
	uint32_t line;
};

/* Goes on to that line; @joint: what keeps two lines together. */
static void go_to(struct copy *c, uint32_t line, const char *joint)
{
	for (; c->line < line; c->line++)
		fprintf(c->f, "%s\n", joint);
}

static void put(struct copy *c, char letter, const char *special)
{
	if (strchr(special, letter))
		fputc(letter == '%' ? '%' : '\\', c->f);
	fputc(letter, c->f);
}

static uint32_t line_of(const struct unit *u, const struct word *w, uint16_t page)
{
	for (size_t i = 0; i < w->n_letters; i++)
		if (w->letters[i].page == page)
			return unit_line(u, page, w->letters[i].at);
	return 0;
}

static bool is_of(const struct word *w, uint16_t page)
{
	for (size_t i = 0; i < w->n_letters; i++)
		if (w->letters[i].page == page)
			return true;
	return false;
}

/* Does the word of ExecStart= @source become something relevant? */
static bool is_source_relevant(const struct unit *u, size_t source)
{
	for (size_t i = 0; i < u->n_arguments; i++)
		if (u->arguments[i].source == source && u->arguments[i].is_relevant)
			return true;
	return false;
}

static bool is_alone(const struct word *w, const char *name)
{
	char text[72];

	return w->n_letters > 1 && w->letters[0].c == '$' && word_text(w, text, sizeof(text)) &&
	       streq(text + 1, name);
}

/* Is "${NAME}" a part of something relevant? Then its value is. */
static bool is_inside(const struct unit *u, const char *name)
{
	char pattern[80], text[512];

	snprintf(pattern, sizeof(pattern), "${%s}", name);
	for (size_t i = 0; i < u->exec.n_words; i++) {
		word_text(&u->exec.words[i], text, sizeof(text));
		if (strstr(text, pattern) && is_source_relevant(u, i))
			return true;
	}
	return false;
}

/* Blanks and quotes of a word that "$NAME" will split off again. */
static void put_split(struct copy *c, const struct word *w, const char *special)
{
	for (size_t i = 0; i < w->n_letters; i++) {
		if (strchr(" \t\"'\\", w->letters[i].c))
			put(c, '\\', special);
		put(c, w->letters[i].c, special);
	}
	fputc(' ', c->f);
}

/* NAME="the relevant words": what is between the quotes, which are the caller's. */
static void put_value(const struct unit *u, struct copy *c, const struct variable *v, uint16_t page)
{
	const char *special = u->pages[page].kind == PAGE_UNIT ? "\"\\%" : "\"\\`$";

	if (is_inside(u, v->name))
		for (size_t i = 0; i < v->value.n_letters; i++)
			put(c, v->value.letters[i].c, special);

	for (size_t i = 0; i < u->n_arguments; i++) {
		const struct argument *a = &u->arguments[i];

		if (!a->is_relevant || a->source >= u->exec.n_words ||
		    !is_alone(&u->exec.words[a->source], v->name))
			continue;
		go_to(c, line_of(u, &a->word, page), "\\");
		put_split(c, &a->word, special);
	}
}

static void put_exec(const struct unit *u, struct copy *c, uint16_t page)
{
	char program[16] = "";
	size_t n_names = 1;

	/* With "@" the second word is what the program is called by. */
	word_text(&u->exec.words[0], program, sizeof(program));
	for (const char *at = program; *at && strchr("@-:+!", *at); at++)
		n_names += *at == '@';

	fputs("ExecStart=", c->f);
	for (size_t i = 0; i < u->exec.n_words; i++) {
		const struct word *w = &u->exec.words[i];
		const bool is_variable = w->n_letters > 1 && w->letters[0].c == '$' &&
					 w->letters[1].c != '{' && w->letters[1].c != '$';

		if (i >= n_names && !is_variable && !is_source_relevant(u, i))
			continue;
		go_to(c, line_of(u, w, page), "\\");
		fputc('"', c->f);
		for (size_t k = 0; k < w->n_letters; k++)
			put(c, w->letters[k].c, "\"\\%");
		fputs("\" ", c->f);
	}
}

/* The line of each variable; 0: of another page, or it does not count. */
static uint32_t *find_lines(const struct unit *u, uint16_t page)
{
	uint32_t *lines = calloc(u->n_variables + 1, sizeof(*lines));

	for (size_t i = 0; lines && i < u->n_variables; i++) {
		const struct variable *v = &u->variables[i];

		if (v->page == page && unit_variable(u, v->name) == v)
			lines[i] = unit_line(u, page, v->at);
	}
	return lines;
}

/* Only what counts is in the copy, so that nothing needs to take back something else. */
static int put_unit(const struct unit *u, struct copy *c, uint16_t page)
{
	_cleanup_(freep) uint32_t *lines = find_lines(u, page);
	const struct page *p = &u->pages[page];
	uint32_t n_lines = unit_line(u, page, (uint32_t)p->size), header = 0;

	for (size_t at = 0; at < p->size && header == 0; at += strcspn(p->text + at, "\n") + 1)
		if (is_prefix(p->text + at, "[Service]"))
			header = unit_line(u, page, (uint32_t)at);
	if (!lines)
		return -ENOMEM;
	if (header == 0)
		return 0;

	for (uint32_t line = header; line <= n_lines; line++) {
		if (line == header) {
			go_to(c, line, "");
			fputs("[Service]", c->f);
			/* What a copy of the relevant parts does not show. */
			if (*u->problem && page == 0) {
				go_to(c, line + 1, "");
				fprintf(c->f, UNIT_PROBLEM_KEY "=%s", u->problem);
				go_to(c, line + 2, "");
				return 0;
			}
		}
		for (size_t i = 0; i < u->n_env_files; i++)
			if (u->env_files[i].page == page &&
			    unit_line(u, page, u->env_files[i].at) == line) {
				go_to(c, line, "");
				fprintf(c->f, "EnvironmentFile=%s%s",
					u->env_files[i].is_optional ? "-" : "",
					u->env_files[i].path);
			}
		for (size_t i = 0; i < u->n_variables; i++) {
			const struct variable *v = &u->variables[i];

			if (lines[i] != line)
				continue;
			/* Two on one line stay two of one Environment=. */
			fputs(c->line == line && line > header ? " " : "", c->f);
			if (c->line < line) {
				go_to(c, line, "");
				fputs("Environment=", c->f);
			}
			fprintf(c->f, "\"%s=", v->name);
			put_value(u, c, v, page);
			fputs("\"", c->f);
		}
		if (u->exec.n_words > 0 && is_of(&u->exec.words[0], page) &&
		    line_of(u, &u->exec.words[0], page) == line) {
			go_to(c, line, "");
			put_exec(u, c, page);
		}
	}
	return 0;
}

static void put_variables(const struct unit *u, struct copy *c, uint16_t page)
{
	for (size_t i = 0; i < u->n_variables; i++) {
		const struct variable *v = &u->variables[i];

		if (v->page != page || unit_variable(u, v->name) != v)
			continue;
		go_to(c, unit_line(u, page, v->at), "");
		fprintf(c->f, "%s=\"", v->name);
		put_value(u, c, v, page);
		fputs("\"", c->f);
	}
}

static void put_flags(const struct unit *u, struct copy *c, uint16_t page)
{
	const bool is_process = u->pages[page].kind == PAGE_PROCESS;

	if (is_process) {
		fputs(u->pages[page].text, c->f);
		fputc('\0', c->f);
	}
	for (size_t i = 0; i < u->n_arguments; i++) {
		const struct word *w = &u->arguments[i].word;

		if (!u->arguments[i].is_relevant || !is_of(w, page))
			continue;
		if (!is_process)
			go_to(c, line_of(u, w, page), "");
		for (size_t k = 0; k < w->n_letters; k++)
			put(c, w->letters[k].c, is_process ? "" : "\"'\\ ");
		fputc(is_process ? '\0' : ' ', c->f);
	}
}

int redact_unit(const struct fs *fs, const struct unit *u)
{
	for (size_t i = 0; i < u->n_pages && fs->on_read; i++) {
		_cleanup_(freep) char *text = NULL; /* of the stream, valid once that is closed */
		struct copy c = { .line = 1 };
		size_t size = 0;
		int r = 0;

		c.f = open_memstream(&text, &size);
		if (!c.f)
			return -ENOMEM;
		if (u->pages[i].kind == PAGE_UNIT)
			r = put_unit(u, &c, (uint16_t)i);
		else if (u->pages[i].kind == PAGE_VARIABLES)
			put_variables(u, &c, (uint16_t)i);
		else
			put_flags(u, &c, (uint16_t)i);
		if (u->pages[i].kind != PAGE_PROCESS)
			fputc('\n', c.f);
		if (text_close(c.f, &text) < 0 || r < 0)
			return -ENOMEM;
		fs_record(fs, RECORD_FILE, u->pages[i].path + 1, text, size);
	}
	return 0;
}
