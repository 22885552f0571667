/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words: text whose every letter knows where it stands in which file, and systemd's rules to make
 * words of it. So a flag that came through a unit, a variable and a file of variables can still be
 * found, and edited, in the place where somebody wrote it.
 *
 * Pure: pages are numbered by the caller. Sources: systemd.syntax(7), systemd.exec(5),
 * systemd.service(5) "Command lines"; src/basic/extract-word.c and env-file.c for what they leave
 * out.
 */
#pragma once

#include "../base/util.h"

#define NO_PAGE     UINT16_MAX
#define MAX_LETTERS ((size_t)128 * 1024) /* of an argument: MAX_ARG_STRLEN in linux/binfmts.h */
#define MAX_WORDS   ((size_t)8192)       /* of one text; a command line has some 50 */

struct letter {
	char c;
	uint16_t page; /* NO_PAGE: nobody wrote it */
	uint32_t at;   /* byte in the page */
};

struct word {
	struct letter *letters; /* owned */
	size_t n_letters;
};

struct words {
	struct word *words; /* owned */
	size_t n_words;
};

void word_done(struct word *w);
void words_done(struct words *l);
int word_add(struct word *w, struct letter letter); /* 0 or -ENOMEM */
int word_add_word(struct word *w, const struct word *other);
int word_add_text(struct word *w, const char *text, uint16_t page, uint32_t at); /* all there */
int words_add(struct words *l, struct word *w); /* takes the word; 0 or -ENOMEM */

/* As C text. Return: false when it was cut. */
bool word_text(const struct word *w, char *ret, size_t size);
bool word_is(const struct word *w, const char *text);

/* Do letters @from to @to stand in one piece in one page, as they are? Then one can be edited. */
bool word_is_whole(const struct word *w, size_t from, size_t to);

/*
 * Splits at blanks. Quotes hold words together and go. @has_escapes: as in units, with C's escapes,
 * where a wrong one is -EBADMSG; else as for "$NAME", where a backslash only goes. An open quote:
 * -EBADMSG. More than MAX_WORDS: -E2BIG.
 */
int words_split(const struct word *text, bool has_escapes, struct words *ret);

/*
 * Specifiers of a system unit: "%n", "%E" and more. -EBADMSG: one that is not known, or the word
 * becomes longer than MAX_LETTERS.
 */
int word_expand_specifiers(struct word *w, const char *unit);

/*
 * The next line of a unit from *at on, joined with those that continue it, without comments and
 * outer blanks. Return: 1, 0 at the end, or -ENOMEM.
 */
int word_next_line(const char *text, size_t size, uint16_t page, size_t *at, struct word *ret);

/* One assignment of a file of variables. */
struct variable {
	char name[64];
	struct word value;  /* owned */
	uint16_t page;      /* of the name */
	uint32_t at;        /* where the name begins */
	uint32_t insert_at; /* where more can be added to the value, inside its quotes */
	bool is_file;       /* of a file of variables, not of a unit */
};
void variable_done(struct variable *v);

/*
 * The next assignment of a file of variables (EnvironmentFile=) from *at on; what is none is
 * skipped. Return: 1, 0 at the end, or -ENOMEM.
 */
int variable_next(const char *text, size_t size, uint16_t page, size_t *at, struct variable *ret);
