/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redact: copies of units, files of variables and command lines for a recorder, that give the same
 * answer with nothing else in them.
 *
 * The copies keep the lines at which things stand, the program, the names of variables and of files
 * of variables, and the flags that flags.h knows with their values, but of the node's labels only
 * those that are looked at. Tokens, proxies with passwords and the like are not copied at all,
 * rather than looked for.
 */
#include "unit.h"

#include "../model/ip.h"
#include "flags.h"
#include "rancher.h"

/* A copy that is being written. */
struct redacted {
	FILE *f;
	uint32_t line;
};

/* Ends lines until @line; @joint: "\" where a line goes on in the next one, else "". */
static void go_to(struct redacted *c, uint32_t line, const char *joint)
{
	for (; c->line < line; c->line++)
		fprintf(c->f, "%s\n", joint);
}

static void put(struct redacted *c, char byte, const char *special)
{
	if (strchr(special, byte))
		fputc(byte == '%' ? '%' : '\\', c->f);
	fputc(byte, c->f);
}

/* @labels: where the labels of a node begin in it, as flags_labels() tells it. */
static void put_text(struct redacted *c, const char *text, size_t labels, const char *special)
{
	for (size_t i = 0; text[i]; i++)
		if (flags_is_shown(text, labels, i))
			put(c, text[i], special);
}

static size_t labels_of(const struct argument *a)
{
	return a->is_labels ? 0 : flags_labels(a->text);
}

/* labels_of() for the word of ExecStart= @source. */
static size_t labels_of_source(const struct unit *u, size_t source)
{
	for (size_t i = 0; i < u->n_arguments; i++)
		if (u->arguments[i].source == source && u->arguments[i].is_labels)
			return 0;
	return flags_labels(u->exec.words[source]);
}

/* Does the word of ExecStart= @source become something relevant? */
static bool is_source_relevant(const struct unit *u, size_t source)
{
	return ANY(a, u->arguments, u->n_arguments, a->source == source && a->is_relevant);
}

static bool is_alone(const char *word, const char *name)
{
	return *word == '$' && streq(word + 1, name);
}

/* Is "${NAME}" a part of something relevant? Then its value is. @ret_labels: of it, as above. */
static bool is_inside(const struct unit *u, const char *name, size_t *ret_labels)
{
	char pattern[80];

	snprintf(pattern, sizeof(pattern), "${%s}", name);
	for (size_t i = 0; i < u->exec.n; i++) {
		const char *word = u->exec.words[i], *found = strstr(word, pattern);
		const size_t at = found ? (size_t)(found - word) : 0,
			     labels = labels_of_source(u, i);

		if (!found || !is_source_relevant(u, i) || !flags_is_shown(word, labels, at))
			continue;
		*ret_labels = at == labels || (at > labels && word[at - 1] == ',') ? 0 : SIZE_MAX;
		return true;
	}
	return false;
}

/* Blanks and quotes of a word that "$NAME" will split off again. */
static void put_split(struct redacted *c, const struct argument *a, const char *special)
{
	for (size_t i = 0; a->text[i]; i++) {
		if (!flags_is_shown(a->text, labels_of(a), i))
			continue;
		if (strchr(" \t\"'\\", a->text[i]))
			put(c, '\\', special);
		put(c, a->text[i], special);
	}
	fputc(' ', c->f);
}

/* NAME="the relevant words": what is between the quotes, which are the caller's. */
static void put_value(const struct unit *u, struct redacted *c, const struct variable *v,
		      uint16_t page)
{
	const char *special = u->pages[page].kind == PAGE_UNIT ? "\"\\%" : "\"\\`$";

	char host[256];
	size_t labels;

	ip_host(v->value, host, sizeof(host));
	if (is_inside(u, v->name, &labels))
		put_text(c, v->value, labels, special);
	else if (rancher_reads_variable(v->name))
		put_text(c, *v->value == '/' ? v->value : host, SIZE_MAX, special);

	for (size_t i = 0; i < u->n_arguments; i++) {
		const struct argument *a = &u->arguments[i];

		if (!a->is_relevant || a->source >= u->exec.n ||
		    !is_alone(u->exec.words[a->source], v->name))
			continue;
		go_to(c, unit_line(u, page, a->at), "\\");
		put_split(c, a, special);
	}
}

static void put_exec(const struct unit *u, struct redacted *c, uint16_t page)
{
	size_t n_names = 1;

	/* With "@" the second word is what the program is called by. */
	for (const char *at = u->exec.words[0]; *at && strchr("@-:+!", *at); at++)
		n_names += *at == '@';

	fputs("ExecStart=", c->f);
	for (size_t i = 0; i < u->exec.n; i++) {
		const char *w = u->exec.words[i];
		const bool is_variable = w[0] == '$' && w[1] && w[1] != '{' && w[1] != '$';

		if (i >= n_names && !is_variable && !is_source_relevant(u, i))
			continue;
		go_to(c, unit_line(u, page, u->exec_at[i]), "\\");
		fputc('"', c->f);
		put_text(c, w, labels_of_source(u, i), "\"\\%");
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
			lines[i] = unit_line(u, page, v->from);
	}
	return lines;
}

/* The next line after @line that has something; UINT32_MAX: there is none. */
static uint32_t next_line(const struct unit *u, uint16_t page, const uint32_t *lines, uint32_t line)
{
	uint32_t next = UINT32_MAX;

	for (size_t i = 0; i < u->n_env_files; i++) {
		const struct place *at = &u->env_files[i].place;
		const uint32_t found = at->page == page ? unit_line(u, page, at->from) : 0;

		if (found > line)
			next = MIN(next, found);
	}
	for (size_t i = 0; i < u->n_variables; i++)
		if (lines[i] > line)
			next = MIN(next, lines[i]);
	if (u->exec.n > 0 && u->exec_place.page == page) {
		const uint32_t found = unit_line(u, page, u->exec_place.from);

		if (found > line)
			next = MIN(next, found);
	}
	return next;
}

/* The copy has only statements that count, so that none needs to take back another. */
static int put_unit(const struct unit *u, struct redacted *c, uint16_t page)
{
	_cleanup_(freep) uint32_t *lines = find_lines(u, page);
	const struct page *p = &u->pages[page];
	uint32_t header = 0;

	for (size_t at = 0; at < p->size && header == 0; at += strcspn(p->text + at, "\n") + 1)
		if (is_prefix(p->text + at, "[Service]"))
			header = unit_line(u, page, (uint32_t)at);
	if (!lines)
		return -ENOMEM;
	if (header == 0)
		return 0;

	for (uint32_t line = header; line != UINT32_MAX; line = next_line(u, page, lines, line)) {
		if (line == header) {
			go_to(c, line, "");
			fputs("[Service]", c->f);
			/* A copy of the relevant parts would not show this problem. */
			if (*u->problem && page == 0) {
				go_to(c, line + 1, "");
				fprintf(c->f, UNIT_PROBLEM_KEY "=%s", u->problem);
				go_to(c, line + 2, "");
				return 0;
			}
		}
		for (size_t i = 0; i < u->n_env_files; i++)
			if (u->env_files[i].place.page == page &&
			    unit_line(u, page, u->env_files[i].place.from) == line) {
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
		if (u->exec.n > 0 && u->exec_place.page == page &&
		    unit_line(u, page, u->exec_place.from) == line) {
			go_to(c, line, "");
			put_exec(u, c, page);
		}
	}
	return 0;
}

static void put_variables(const struct unit *u, struct redacted *c, uint16_t page)
{
	for (size_t i = 0; i < u->n_variables; i++) {
		const struct variable *v = &u->variables[i];

		if (v->page != page || unit_variable(u, v->name) != v)
			continue;
		go_to(c, unit_line(u, page, v->from), "");
		fprintf(c->f, "%s=\"", v->name);
		put_value(u, c, v, page);
		fputs("\"", c->f);
	}
}

static void put_flags(const struct unit *u, struct redacted *c, uint16_t page)
{
	const bool is_process = u->pages[page].kind == PAGE_PROCESS;

	if (is_process) {
		fputs(u->pages[page].text, c->f);
		fputc('\0', c->f);
	}
	for (size_t i = 0; i < u->n_arguments; i++) {
		const struct argument *a = &u->arguments[i];

		if (!a->is_relevant || a->place.page != page)
			continue;
		if (!is_process)
			go_to(c, unit_line(u, page, a->at), "");
		put_text(c, a->text, labels_of(a), is_process ? "" : "\"'\\ ");
		fputc(is_process ? '\0' : ' ', c->f);
	}
}

int redact_unit(const struct fs *fs, const struct unit *u)
{
	for (size_t i = 0; i < u->n_pages && fs->on_read; i++) {
		_cleanup_(stream_done) struct stream out = {};
		struct redacted c = { .line = 1 };
		int r = 0;

		if (stream_open(&out) < 0)
			return -ENOMEM;
		c.f = out.f;
		if (u->pages[i].kind == PAGE_UNIT)
			r = put_unit(u, &c, (uint16_t)i);
		else if (u->pages[i].kind == PAGE_VARIABLES)
			put_variables(u, &c, (uint16_t)i);
		else
			put_flags(u, &c, (uint16_t)i);
		if (u->pages[i].kind != PAGE_PROCESS)
			fputc('\n', c.f);
		/* Behind all that has a line number. */
		if (*u->slice && u->slice_page == i)
			fprintf(c.f, "Slice=%s\n", u->slice);
		if (r < 0 || fs_record_stream(fs, u->pages[i].path + 1, &out) < 0)
			return -ENOMEM;
	}
	return 0;
}
