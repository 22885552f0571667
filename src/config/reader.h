/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader: the bytes of one file to sections, keys and values, with the lines they stand in, one by
 * one or as a list of pairs that can be changed and written as a new file.
 *
 * It knows no setting; of pairs only which are lists. inih follows the sections. It asks a function
 * of this module for lines, which counts them and hands over sections itself (inih does not report
 * one without keys). Names and values are of the line itself: the buffers of inih, of 200 and 50
 * bytes, would cut them. Refused is
 *
 * - a line of more than LINE_MAX_BYTES;
 * - one with ";" behind a blank, where inih would end the value;
 * - one that ends in a backslash: lines are not continued. Nor does inih see indented lines, which
 * it would take for more of the value before: blanks at the beginning of a line are removed;
 * - a section whose name is over 49 bytes (MAX_SECTION), or which is not alone in its line.
 *
 * Syntax: "#" or ";" begin a comment at the beginning of a line only; blanks around names and
 * values mean nothing; quotes are not special; ":" is a letter. A byte order mark and CRLF
 * are accepted.
 *
 * Malformed are also a NUL byte; outside of comments invalid UTF-8 and control characters but tab;
 * what is neither "[SECTION]" nor "KEY=VALUE"; a key before the first section. Reading goes on
 * behind such a line, so that one look shows all that is wrong.
 *
 * Source: ini_parse_stream() in ini.c of https://github.com/benhoyt/inih
 */
#pragma once

#include "config-errors.h"

#define LINE_MAX_BYTES 4096 /* without its end */

/**
 * reader_parse() - report the sections and keys of one file in their order
 * @file:   for messages
 * @errors: what is malformed is added here
 * @on_key: a section begins when @name is NULL, its words with one blank between: "Device nic";
 * else one key of it, @value may be empty. Returns 0, or a negative errno that ends the reading
 *
 * Return: 0, also with malformed lines; -ENOMEM; -E2BIG when there were too many of them; or what
 * @on_key returned.
 */
int reader_parse(const char *file, const char *data, size_t size, struct config_errors *errors,
		 int (*on_key)(void *userdata, const char *section, const char *name,
			       const char *value, unsigned line),
		 void *userdata);

/* The words of @s with one blank between, as they are in a section. Returns @s. */
char *reader_squeeze(char *s);

bool reader_has_control(const char *s); /* a control character but tab? */

/*
 * Pairs, text in and text out. A key that is a list is one pair, however many lines it has.
 * Comments and blank lines are not kept. Sections are named as the reader reports them.
 */
struct pair {
	char *section; /* owned; without brackets: "Route", "Device nic" */
	char *key;     /* owned; NULL: the header of the section, which may have no keys */
	char *value;   /* owned; NULL with key */
	unsigned line; /* in the text that was parsed, from 1; 0: pairs_set() made it */
	unsigned put;  /* in the text that pairs_text() made, from 1; 0: there is none */
};

struct pairs {
	struct pair *items; /* owned; in the order of the text */
	size_t n_items;
};

void pairs_done(struct pairs *p);

/**
 * pairs_parse() - read one text
 * @file:   for messages
 * @errors: lines that are malformed are added here, also a key that is set twice and is no list;
 * the other lines are read all the same
 *
 * Return: 0 or -ENOMEM.
 */
int pairs_parse(const char *file, const char *text, size_t size, struct pairs *ret,
		struct config_errors *errors);

/* @key: NULL for the header. NULL: it is not set. */
struct pair *pairs_find(const struct pairs *p, const char *section, const char *key);

/* Return: 1 when something changed, 0 when the key had this value, or -ENOMEM. */
int pairs_set(struct pairs *p, const char *section, const char *key, const char *value);

/* The section goes with its last key. Return: 0, or -ENOENT when the key is not set. */
int pairs_unset(struct pairs *p, const char *section, const char *key);

/* The whole file, with @header as its first line; each section stands once. 0 or -ENOMEM. */
int pairs_text(struct pairs *p, const char *header, char **ret, size_t *ret_size);
