/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sheet: labelled lines for people, as explain, check and status print them.
 *
 * Pure. A label stands before the first of its lines, in a column of its own; no control character
 * of a line reaches the terminal.
 */
#pragma once

#include "../base/util.h"

struct sheet {
	FILE *f;           /* for what is no labelled line: a heading, a table */
	const char *label; /* of the next line; "" after it */
	int indent, width; /* columns before the labels, and of them */
	char *text;        /* of the stream, valid once that is closed */
	size_t size;
	bool is_begun; /* the line at the end */
};

int sheet_open(struct sheet *s, int indent, int width);

/* Adds to the line at the end, which begins with the label, and ends it. */
void sheet_add(struct sheet *s, const char *format, ...) _printf_(2, 3);
void sheet_end(struct sheet *s);
void sheet_line(struct sheet *s, const char *format, ...) _printf_(2, 3); /* both */

/* A label and its line. */
#define sheet_put(s, of, ...) ((s)->label = (of), sheet_line((s), __VA_ARGS__))

/* The text, which the caller owns; the sheet is done then as well. Return: 0 or -ENOMEM. */
int sheet_close(struct sheet *s, char **ret);
void sheet_done(struct sheet *s);

/* What moves the cursor becomes '?', the end of a line as well. */
void sheet_plain(char *text);
