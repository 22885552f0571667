/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redact: copies of units, files of variables and command lines for a recorder, that give the same
 * answer with nothing else in them.
 *
 * The copies keep the lines at which things stand, the program, the names of variables and of files
 * of variables, and the flags that flags.h knows with their values, but of the node's labels only
 * those that are looked at. A command of a shell, or a script, that gives the kubelet's address
 * becomes the word "node-ip". Tokens, proxies with passwords and the like are not copied at all,
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
	return a->is_labels ? 0 : a->is_words ? FLAGS_WORDS : flags_labels(a->text);
}

/* labels_of() for the word of ExecStart= @source. */
static size_t labels_of_source(const struct unit *u, size_t source)
{
	const struct argument *a = FIND(it, u->arguments, u->n_arguments,
					it->source == source && (it->is_labels || it->is_words));

	return a ? labels_of(a) : flags_labels(u->exec.words[source]);
}

/* Does the word of ExecStart= @source become something relevant? */
static bool is_source_relevant(const struct unit *u, size_t source)
{
	return ANY(a, u->arguments, u->n_arguments, a->source == source && a->is_relevant);
}

/* Is "${NAME}" a part of something relevant? Then its value is. @ret_labels: of it, as above. */
static bool is_inside(const struct unit *u, const char *name, size_t *ret_labels)
{
	char pattern[80];

	PRINT(pattern, "${%s}", name);
	for (size_t i = 0; i < u->exec.n; i++) {
		const char *word = u->exec.words[i], *found = strstr(word, pattern);
		const size_t at = found ? (size_t)(found - word) : 0,
			     labels = labels_of_source(u, i),
			     words = labels == FLAGS_WORDS ? 0 : flags_words(word);

		if (!found || !is_source_relevant(u, i) || !flags_is_shown(word, labels, at))
			continue;
		*ret_labels = at == labels || (at > labels && word[at - 1] == ',') ? 0 : SIZE_MAX;
		if (at >= words)
			*ret_labels =
				at == words || word[at - 1] == ' ' ? FLAGS_WORDS : FLAGS_VALUE;
		return true;
	}
	return false;
}

/* The end of a word, which stays a word where nothing of it is shown. */
static const char *end_of(const struct argument *a)
{
	return a->is_labels || a->is_words ? "'' " : " ";
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
	fputs(end_of(a), c->f);
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

	FOREACH(a, u->arguments, u->n_arguments) {
		if (!a->is_relevant || a->source >= u->exec.n ||
		    !streq(after(u->exec.words[a->source], "$") ?: "", v->name))
			continue;
		go_to(c, unit_line(u, page, a->at), "\\");
		put_split(c, a, special);
	}
}

static void put_exec(const struct unit *u, struct redacted *c, uint16_t page)
{
	fputs("ExecStart=", c->f);
	for (size_t i = 0; i < u->exec.n; i++) {
		const char *w = u->exec.words[i];
		const bool is_variable = w[0] == '$' && w[1] && w[1] != '{' && w[1] != '$';

		if (i >= u->n_names && !is_variable && !is_source_relevant(u, i))
			continue;
		go_to(c, unit_line(u, page, u->exec_at[i]), "\\");
		fputc('"', c->f);
		put_text(c, w, is_variable ? SIZE_MAX : labels_of_source(u, i), "\"\\%");
		fputs("\" ", c->f);
	}
	if (u->hides_address) /* no line of a shell or script is copied: this word stands for it */
		fputs("node-ip", c->f);
}

/* Is the variable of the page, and the last of its name? */
static bool is_put(const struct unit *u, const struct variable *v, uint16_t page)
{
	return v->page == page && unit_variable(u, v->name) == v;
}

/* The copy has only statements that count, so that none needs to take back another. They are in the
 * order of the file, of each kind. */
static void put_statements(const struct unit *u, struct redacted *c, uint16_t page)
{
	bool has_exec = u->exec.n > 0 && u->exec_place.page == page;
	uint32_t last = UINT32_MAX;

	for (size_t e = 0, v = 0;;) {
		uint32_t of_file, of_variable, of_exec, at;

		while (e < u->n_env_files && u->env_files[e].place.page != page)
			e++;
		while (v < u->n_variables && !is_put(u, &u->variables[v], page))
			v++;
		of_file = e < u->n_env_files ? u->env_files[e].place.from : UINT32_MAX;
		of_variable = v < u->n_variables ? u->variables[v].from : UINT32_MAX;
		of_exec = has_exec ? u->exec_place.from : UINT32_MAX;
		at = MIN(MIN(of_file, of_variable), of_exec);
		if (at == UINT32_MAX)
			return;
		go_to(c, unit_line(u, page, at), "");
		if (at == of_file) {
			fprintf(c->f, "EnvironmentFile=%s%s",
				u->env_files[e].is_optional ? "-" : "", u->env_files[e].path);
			e++;
		} else if (at == of_variable) {
			/* Two on one line stay two of one Environment=. */
			fprintf(c->f,
				"%s\"%s=", at == last ? " " : "Environment=", u->variables[v].name);
			put_value(u, c, &u->variables[v++], page);
			fputs("\"", c->f);
			last = at;
		} else {
			put_exec(u, c, page);
			has_exec = false;
		}
	}
}

static void put_unit(const struct unit *u, struct redacted *c, uint16_t page)
{
	const struct page *p = &u->pages[page];
	uint32_t header = 0;

	for (size_t at = 0; at < p->size && header == 0; at += strcspn(p->text + at, "\n") + 1)
		if (is_prefix(p->text + at, "[Service]"))
			header = unit_line(u, page, (uint32_t)at);
	if (header == 0)
		return;

	go_to(c, header, "");
	fputs("[Service]", c->f);
	put_statements(u, c, page);
}

static void put_variables(const struct unit *u, struct redacted *c, uint16_t page)
{
	FOREACH(v, u->variables, u->n_variables) {
		if (!is_put(u, v, page))
			continue;
		if (v->is_doubtful) { /* by the comment above it */
			go_to(c, unit_line(u, page, v->from) - 1, "");
			fputs("#\\", c->f);
		}
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
	FOREACH(a, u->arguments, u->n_arguments) {
		if (!a->is_relevant || a->place.page != page)
			continue;
		if (!is_process)
			go_to(c, unit_line(u, page, a->at), "");
		put_text(c, a->text, labels_of(a), is_process ? "" : "\"'\\ ");
		if (is_process)
			fputc('\0', c->f);
		else
			fputs(end_of(a), c->f);
	}
}

int redact_unit(const struct fs *fs, const struct unit *u)
{
	for (size_t i = 0; i < u->n_pages && fs->on_read; i++) {
		_cleanup_(stream_done) struct stream out = {};
		struct redacted c = { .line = 1 };

		if (stream_open(&out) < 0)
			return -ENOMEM;
		c.f = out.f;
		if (u->pages[i].kind == PAGE_UNIT)
			put_unit(u, &c, (uint16_t)i);
		else if (u->pages[i].kind == PAGE_VARIABLES)
			put_variables(u, &c, (uint16_t)i);
		else
			put_flags(u, &c, (uint16_t)i);
		if (u->pages[i].kind != PAGE_PROCESS)
			fputc('\n', c.f);
		/* Behind all that has a line number. */
		for (size_t k = 0; k < u->passed.n && i == 0; k++)
			fprintf(c.f, "PassEnvironment=%s\n", u->passed.words[k]);
		/* A copy of the relevant parts would not show the problem. */
		if (*u->problem && i == 0 && u->pages[i].kind == PAGE_UNIT)
			fprintf(c.f, UNIT_PROBLEM_KEY "=%s\n", u->problem);
		if (*u->slice && u->slice_page == i)
			fprintf(c.f, "Slice=%s\n", u->slice);
		if (fs_record_stream(fs, u->pages[i].path + 1, &out) < 0)
			return -ENOMEM;
	}
	return 0;
}
