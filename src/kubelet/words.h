/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words: systemd's rules to make words of a line of a unit, and variables of a file of variables.
 *
 * Pure. Sources: systemd.syntax(7), systemd.exec(5), systemd.service(5) "Command lines";
 * src/basic/extract-word.c and env-file.c for what they leave out.
 */
#pragma once

#include "../base/util.h"

#define MAX_TEXT_BYTES ((size_t)128 * 1024) /* MAX_ARG_STRLEN of linux/binfmts.h: an argument */
#define MAX_WORDS      ((size_t)8192)       /* of one text; a command line has some 50 */

/* Letters of the name of a variable, which no digit begins. */
#define VARIABLE_LETTERS "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"

/* Writes down a problem unless one is noted already. */
_printf_(2, 3) void problem_note(char problem[static 256], const char *format, ...);

/* Without blanks at its ends: strings.TrimSpace() of Go, in ASCII. @text is changed. */
char *word_trim(char *text);

/*
 * Splits at blanks. Quotes hold words together and go. @has_escapes: as in units, with C's escapes,
 * where a wrong one is -EBADMSG; else as for "$NAME", where a backslash only goes. An open quote:
 * -EBADMSG. More than MAX_WORDS: -E2BIG.
 */
int words_split(const char *text, bool has_escapes, struct words *ret);

/*
 * The specifiers that name the unit: "%n", "%N" and "%p"; those of the host name @host, whole "%H"
 * and up to its first dot "%l"; and "%%". -EBADMSG: another one, no @host is known (""), or the
 * word becomes longer than MAX_TEXT_BYTES. @ret: the caller's.
 */
int word_expand_specifiers(const char *word, const char *unit, const char *host, char **ret);

/* An assignment of a file of variables, or of a unit. */
struct variable {
	char name[64];
	char *value;        /* owned */
	uint32_t from, to;  /* bytes of the file that the assignment takes */
	uint32_t insert_at; /* where more can be added to the value, inside its quotes */
	uint16_t page;      /* set by unit.c, as the next one */
	bool is_file;       /* of a file of variables, not of a unit */
	/* The comment above it ends in a backslash, and each line between as well: before systemd
	 * 254 it is a part of that comment. */
	bool is_doubtful;
};
void variable_done(struct variable *v);

/*
 * The next assignment of a file of variables (EnvironmentFile=) from *at on; what is none is
 * skipped. Return: 1, 0 at the end, or -ENOMEM.
 */
int variable_next(const char *text, size_t size, size_t *at, struct variable *ret);
