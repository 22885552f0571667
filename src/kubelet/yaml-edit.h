/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML edit: changes one top-level scalar of a KubeletConfiguration, in YAML or JSON, without
 * touching another byte. The second half of yaml.h, whose errors it returns.
 *
 * The new text is parsed again and compared with the old one, event by event (and JSON value by
 * value): a text that would not read as meant is -EUCLEAN, never a result.
 */
#pragma once

#include "../base/util.h"

#define EDIT_MAX_VALUE 64

/**
 * edit_set() - the text with one value changed, everything else byte-identical
 * @text, @size: the file
 * @key:      a top-level key
 * @value:    shorter than EDIT_MAX_VALUE, without control characters, else -EOPNOTSUPP; other than
 *            letters, digits, "-" and "," it is put in double quotes
 * @ret:      the new text, owned by the caller
 * @ret_size: its size
 *
 * A key that is there keeps its place, quotes and comment: the last one, when there are several. A
 * block scalar ("|", ">") becomes one word on the line of its key. A missing key goes below the
 * line of "kind", as that line is indented and ended; in JSON behind the member "kind".
 *
 * Return: 1 when the text differs, 0 when the value was there already (*ret is a copy), or -errno.
 */
int edit_set(const char *text, size_t size, const char *key, const char *value, char **ret,
	     size_t *ret_size);

/* Removes a key that is alone on its line, else -EOPNOTSUPP. Return: as edit_set(). */
int edit_unset(const char *text, size_t size, const char *key, char **ret, size_t *ret_size);

/* A copy of any text with @put in the place of some bytes. Return: 1 or -ENOMEM. */
int edit_replace(const char *text, size_t size, size_t from, size_t to, const char *put, char **ret,
		 size_t *ret_size);
