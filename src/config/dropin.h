/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dropin: sets and removes keys in the text of one ini file, and leaves every other byte as it is.
 *
 * Text in, text out: it opens nothing and knows no setting. What is a section, a key, a comment and
 * a continued line, the reader says; sections are told apart as config.h does, so "Device  a" is
 * "Device a". Lines end as their neighbours do: CRLF stays CRLF.
 */
#pragma once

#include "problem.h"

struct dropin_line {
	const char *data; /* with its end of line; the last one may have none */
	size_t size;
	char *owned;  /* data, when it is not of the text that was opened */
	unsigned was; /* its number in that text, from 1; 0: dropin_set() wrote it */
};

/* A text as its lines; what was opened must outlive it. */
struct dropin {
	struct dropin_line *lines; /* owned */
	size_t n_lines;
};

int dropin_open(const char *text, size_t size, struct dropin *ret); /* 0 or -ENOMEM */
void dropin_done(struct dropin *d);

/* Where a key is set. */
struct dropin_place {
	unsigned line;  /* from 1 */
	unsigned again; /* where it is set a second time, which config/ does not accept; 0: nowhere
			 */
	char *value;    /* owned; as the reader gives it, of the first */
};
void dropin_place_done(struct dropin_place *p);

/* Looks in a whole text. Return: 1, 0 when it is not set there, -EBADMSG (see below) or -ENOMEM. */
int dropin_find(const char *text, size_t size, const char *section, const char *key,
		struct dropin_place *ret);

/**
 * dropin_set() - set one key
 * @section: without brackets: "Route", "Device nic"
 * @value:   what the reader would give back: one line, no blanks around it
 *
 * A key that is set changes its value in its place, comments between continued lines stay behind
 * it. Else it comes behind the last key of the last section of that name; else into a new section
 * at the end.
 *
 * Return: 1 when something changed, 0 when it had this value, -EEXIST when it is set twice,
 * -EBADMSG when the text is malformed, -EINVAL when no line can say this, or -ENOMEM; with an error
 * nothing has changed.
 */
int dropin_set(struct dropin *d, const char *section, const char *key, const char *value);

/**
 * dropin_unset() - remove one key
 *
 * The header goes with it when neither keys nor comments are left in that section.
 *
 * Return: 0, -ENOENT when it is not set, -EEXIST, -EBADMSG or -ENOMEM as above.
 */
int dropin_unset(struct dropin *d, const char *section, const char *key);

/* Is nothing in it but blank lines, and the line @header (without its end)? */
bool dropin_is_bare(const struct dropin *d, const char *header);

int dropin_text(const struct dropin *d, char **ret, size_t *ret_size); /* 0 or -ENOMEM */
