/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Document: the few words that every JSON document of this folder is made with.
 *
 * Not a wrapper of jansson: it only keeps text that is no UTF-8 (sysfs promises none, and a name
 * that was cut may end within a letter) from spoiling a whole document.
 */
#pragma once

#include <jansson.h>

#include "../base/util.h"

/* Never fails but for memory: what is no UTF-8 becomes '?'. */
static inline json_t *document_text(const char *s)
{
	_cleanup_(freep) char *plain = NULL;
	json_t *text = json_string(s);

	if (text)
		return text;

	plain = strdup(s);
	if (!plain)
		return NULL;
	for (char *p = plain; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';

	return json_string(plain);
}

static inline int document_add_number(json_t *object, const char *key, int64_t number)
{
	return json_object_set_new(object, key, json_integer(number)) < 0 ? -ENOMEM : 0;
}

/* What is read back: a member that is missing or of another type is empty. */
static inline const char *document_get_text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

static inline int64_t document_get_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static inline bool document_get_flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* With a newline at its end, as files have. */
static inline int document_print(const json_t *document, char **ret)
{
	_cleanup_(freep) char *text = json_dumps(document, JSON_INDENT(2));
	char *grown;
	size_t n;

	if (!text)
		return -ENOMEM;

	n = strlen(text);
	grown = realloc(text, n + 2);
	if (!grown)
		return -ENOMEM;

	text = NULL;
	memcpy(grown + n, "\n", 2);
	*ret = grown;
	return 0;
}
