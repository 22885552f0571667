/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs: what one ini file sets, as a list that can be changed and written as a new file.
 *
 * Text in, text out: it opens nothing, and of settings it knows only which are lists. Such a key is
 * one pair, however many lines it has. Comments and blank lines are not kept. Sections are named as
 * the reader reports them.
 */
#pragma once

#include "config-errors.h"

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

/* NULL: it is not set. */
const struct pair *pairs_find(const struct pairs *p, const char *section, const char *key);

/* Return: 1 when something changed, 0 when the key had this value, or -ENOMEM. */
int pairs_set(struct pairs *p, const char *section, const char *key, const char *value);

/* The section goes with its last key. Return: 0, or -ENOENT when the key is not set. */
int pairs_unset(struct pairs *p, const char *section, const char *key);

/* The whole file, with @header as its first line; each section stands once. 0 or -ENOMEM. */
int pairs_text(struct pairs *p, const char *header, char **ret, size_t *ret_size);
