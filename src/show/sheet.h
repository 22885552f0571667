/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sheet: labelled lines for people, as explain, check and status print them.
 *
 * Pure. A label stands before the first of its lines, in a column of its own; no control character
 * of a line reaches the terminal.
 *
 * Lines of a document are written by a template:
 *   {key}       text or number of a member, "a.b" of a member of a member, "" the value itself.
 *               It is empty without one, for false, null, an empty list and a number below 0
 *   {+key}      the same, and 0 is empty as well; {#key}: how many are in a list, 0 is empty
 *   {?key}      nothing; the part has a value if the key has one
 *   {!key}      nothing; the part has a value if the key has none
 *   {?key=word} {!key=word}: the value is the word, or is not; "@other" is the value of that key
 *   {@key}      the number of a member as a time: "2026-11-21 10:03 UTC"
 *   {*key,; }ITEM{/}  ITEM for each item of a list, "; " between them; empty for none
 *   [a|b]       the first part whose keys all have a value, or nothing
 * A newline in a template begins another line. Lines that come out empty are left out.
 */
#pragma once

#include <jansson.h>

#include "../base/util.h"

#define SHEET_LINE_LEN 2048

struct sheet {
	struct stream out; /* its f also for what is no labelled line: a heading, a table */
	const char *label; /* of the next line; "" after it */
	int indent, width; /* columns before the labels, and of them */
	bool is_begun;     /* the line at the end */
};

int sheet_open(struct sheet *s, int indent, int width);

/* Adds to the line at the end, which begins with the label, and ends it. */
void sheet_add(struct sheet *s, const char *format, ...) _printf_(2, 3);
void sheet_end(struct sheet *s);
void sheet_line(struct sheet *s, const char *format, ...) _printf_(2, 3); /* both */

/* Lines of a document. Of @list: the same for each item of a list, or once for an object. */
void sheet_fill(struct sheet *s, const json_t *document, const char *template);
void sheet_fill_list(struct sheet *s, const json_t *list, const char *template);

/* Gives the lines of a document as a text. */
void sheet_format(const json_t *document, const char *template, char *ret, size_t size);

/* Rows of templates, each with a label. */
struct sheet_row {
	const char *label; /* NULL: as the row before */
	const char *list;  /* key of a list or object in the document; "": the document itself */
	const char *template;
};
void sheet_fill_rows(struct sheet *s, const json_t *document, const struct sheet_row *rows,
		     size_t n);

/* The text, which the caller owns. Return: 0 or -ENOMEM. */
int sheet_close(struct sheet *s, char **ret);
void sheet_done(struct sheet *s);

/*
 * Neighbours of one reason in a list: a new list, which the caller owns; NULL: no memory. No list
 * at all gives an empty one.
 *
 * Items are objects with "target", "code", "detail" and "advice", a plan's also with "change" and
 * "class". Neighbours that differ in target and detail alone, and have a code, become one item,
 * whose target is "0000:41:00.0, 0000:42:00.0". Where their details differ, its detail is empty,
 * and "details" is the list of them: {"target": "0000:41:00.0", "detail": ...}.
 */
json_t *output_group(const json_t *reasons);

/*
 * Prints groups: a head by @template, and below it "  MEANING: DETAIL", details, and "  → ADVICE".
 * Items without a code have a head alone.
 */
void output_group_print(struct sheet *s, const json_t *groups, const char *template);
void output_group_body(struct sheet *s, const json_t *group); /* all but the head */
