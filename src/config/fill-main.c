/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills the tables of settings and reasons into a page of the manual or a completion. Run when the
 * program is built, never installed.
 *
 * "fill FILE" prints FILE. What it puts in place of a line, which has to be the whole line:
 *
 *     @setting Driver.Mode@  the head of a setting's entry in a manual page: name, what it is, what
 *                            is accepted, default. What the line is followed by completes the entry
 *     @reasons held@         an entry of a manual page for each reason code that follows those told
 *                            already, in the order of the table, to this one; without a
 *                            code (@reasons @) all that are left
 *     @keys@                 a line for each setting, "Driver.Mode keep auto default compat ofed":
 *                            the words that its value is one of, when it is one of several
 *
 * A page that has one setting has all of them, each once and in the order of the table: anything
 * else is an error, and so is a line it does not know.
 */
#include "../model/reason.h"
#include "settings.h"

static size_t n_filled;       /* settings of the page so far */
static enum reason last_told; /* the last reason of the page so far */
static bool is_head;          /* the line before was the head of an entry */

/* Any text as text of a manual page: what troff has another meaning for is escaped. */
static void put_text(const char *text)
{
	static const struct {
		char letter;
		const char *escaped;
	} letters[] = {
		{ '-', "\\-" },   { '\\', "\\e" },  { '\'', "\\(aq" },
		{ '/', "/\\:" }, /* a long path may be broken behind it */
		{ '^', "\\(ha" }, { '~', "\\(ti" }, { '`', "\\(ga" },
	};

	if (*text == '.')
		fputs("\\&", stdout);
	for (; *text; text++) {
		size_t i = 0;

		while (i < ELEMENTSOF(letters) && letters[i].letter != *text)
			i++;
		if (i < ELEMENTSOF(letters))
			fputs(letters[i].escaped, stdout);
		else
			fputc(*text, stdout);
	}
}

static int put_setting(const char *key)
{
	const struct setting *s;
	const char *name;

	if (n_filled == N_SETTINGS)
		return -EINVAL;
	s = &settings[n_filled];
	name = after(key, s->section);
	if (!name || *name != '.' || !streq(name + 1, s->name)) {
		fprintf(stderr, "%s: the next of the table is %s.%s\n", key, s->section, s->name);
		return -EINVAL;
	}
	n_filled++;

	printf(".TP\n.B %s=\n", s->name);
	put_text(s->help);
	fputs(".\n.br\nAccepted: ", stdout);
	put_text(s->accepted);
	fputs(".\n.br\nDefault: ", stdout);
	put_text(*s->fallback ? s->fallback : "nothing");
	fputs(".\n", stdout);
	is_head = true;
	return 0;
}

static int put_reasons(const char *code)
{
	const enum reason last = *code ? reason_from_code(code) : _REASON_N - 1;

	if (last <= last_told)
		return -EINVAL;
	while (last_told < last) {
		const enum reason r = ++last_told;

		fputs(".TP\n.B ", stdout);
		put_text(reason_code(r));
		fputc('\n', stdout);
		put_text(reason_meaning(r));
		fputs(".\n.br\n", stdout);
		put_text(reason_advice(r));
		fputc('\n', stdout);
	}
	return 0;
}

static void put_keys(void)
{
	for (size_t i = 0; i < N_SETTINGS; i++) {
		const char *word;

		printf("%s.%s", settings[i].section, settings[i].name);
		for (size_t w = 0; (word = setting_word(&settings[i], w)); w++)
			printf(" %s", word);
		fputc('\n', stdout);
	}
}

/* @line has its line break, unless it is the last one. */
static int put_line(char *line)
{
	const size_t n = strcspn(line, "\n");
	const char *setting, *reason;

	/* Words behind the head are a paragraph of their own. */
	if (is_head && line[0] != '@' && !is_prefix(line, ".SH") && !is_prefix(line, ".RS"))
		fputs(".IP\n", stdout);
	is_head = false;

	if (line[0] != '@' || n < 2 || line[n - 1] != '@') {
		fputs(line, stdout);
		return 0;
	}

	line[n - 1] = '\0';
	setting = after(line, "@setting ");
	if (setting)
		return put_setting(setting);
	reason = after(line, "@reasons ");
	if (reason)
		return put_reasons(reason);
	if (streq(line, "@keys"))
		put_keys();
	else
		return -EINVAL;
	return 0;
}

int main(int argc, char **argv)
{
	_cleanup_(freep) char *line = NULL;
	size_t size = 0;
	FILE *f = NULL;
	int r = 0;

	if (argc == 2)
		f = fopen(argv[1], "re");
	if (!f) {
		fprintf(stderr, "usage: fill FILE\n");
		return EXIT_FAILURE;
	}

	while (r >= 0 && getline(&line, &size, f) >= 0) {
		r = put_line(line);
		if (r < 0)
			fprintf(stderr, "%s: this line cannot be filled: %s\n", argv[1], line);
	}
	if (r >= 0 && n_filled > 0 && n_filled < N_SETTINGS) {
		fprintf(stderr, "%s: there is nothing about %s.%s\n", argv[1],
			settings[n_filled].section, settings[n_filled].name);
		r = -EINVAL;
	}

	if (ferror(f) || fflush(stdout) != 0)
		r = -EIO;
	fclose(f);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
