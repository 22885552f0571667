/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Document: the few words that every JSON document of ours is made with.
 *
 * Not a wrapper of jansson: it only keeps text that is no UTF-8 (sysfs promises none, and a name
 * that was cut may end within a letter) from spoiling a whole document.
 *
 * The kernel takes nearly any byte for a name: of a netdev all but "/", ":" and blanks, of an RDMA
 * device all but "/". A name that is read back is therefore written with document_name() and
 * comes back byte for byte.
 * Source: dev_valid_name() in net/core/dev.c, ib_device_rename() in
 * drivers/infiniband/core/device.c
 */
#pragma once

#include <jansson.h>

#include "util.h"

/*
 * Parses a text; @error may be NULL. When there is no memory, jansson calls it a syntax error, and
 * a file would be taken for a damaged one; or it goes on without one letter of a string, lex_save()
 * in load.c. Return: 0, -EINVAL or -ENOMEM.
 */
static inline int document_parse(const char *text, size_t size, size_t flags, json_t **ret,
				 json_error_t *error)
{
	errno = 0;
	*ret = json_loadb(text, size, flags, error);
	if (errno == ENOMEM) {
		json_decref(*ret);
		*ret = NULL;
		return -ENOMEM;
	}
	return *ret ? 0 : -EINVAL;
}

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

/* A name to be read back: what is no printable ASCII, and the backslash, becomes "\xHH". */
static inline json_t *document_name(const char *s)
{
	_cleanup_(freep) char *escaped = malloc(4 * strlen(s) + 1);
	char *to = escaped;

	if (!escaped)
		return NULL;
	for (; *s; s++)
		if (*s >= ' ' && *s <= '~' && *s != '\\')
			*to++ = *s;
		else
			to += sprintf(to, "\\x%02X", (unsigned char)*s);
	*to = '\0';
	return json_string(escaped);
}

/* A list of what @item makes of each element @it of an array for which @condition holds. NULL:
 * there is no memory. */
#define document_list(it, array, n, condition, item)                                               \
	({                                                                                         \
		json_t *_list = json_array();                                                      \
		for (size_t _i = 0; _i < (n) && _list; _i++) {                                     \
			__typeof__(&*(array)) it = &(array)[_i];                                   \
			if ((condition) && json_array_append_new(_list, (item)) < 0) {             \
				json_decref(_list);                                                \
				_list = NULL;                                                      \
			}                                                                          \
		}                                                                                  \
		_list;                                                                             \
	})

/* A loop over the items of a list; none when it is no list. @it is each; the body does not set it.
 */
#define document_each(it, list)                                                                    \
	for (json_t *it = NULL, *_of_##it = (json_t *)(list); _of_##it; _of_##it = NULL)           \
		for (size_t _at_##it = 0; (it = json_array_get(_of_##it, _at_##it)); _at_##it++)

/* Does @condition, an expression of the item @it, hold for any item of a list? */
#define document_any(it, list, condition)                                                          \
	({                                                                                         \
		bool _any = false;                                                                 \
		for (size_t _i = 0; _i < json_array_size(list) && !_any; _i++) {                   \
			const json_t *it = json_array_get((list), _i);                             \
			_any = (condition);                                                        \
		}                                                                                  \
		_any;                                                                              \
	})

static inline int document_add_number(json_t *object, const char *key, int64_t number)
{
	return json_object_set_new(object, key, json_integer(number)) < 0 ? -ENOMEM : 0;
}

/* Reads a text: a member that is missing or of another type is empty. */
static inline const char *document_get_text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

static inline int document_hex(char c)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *digit = c ? strchr(digits, c) : NULL;

	return digit ? (int)(digit - digits) : -1;
}

/* Reads back the text of document_name(); other text stays as it is. False: no room. */
static inline bool document_from_name(const char *s, char *ret, size_t size)
{
	size_t n = 0;

	for (; *s && n < size; s++) {
		const bool is_escaped = s[0] == '\\' && s[1] == 'x' && document_hex(s[2]) >= 0 &&
					document_hex(s[3]) >= 0;

		ret[n++] = is_escaped ? (char)(document_hex(s[2]) * 16 + document_hex(s[3])) : *s;
		s += is_escaped ? 3 : 0;
	}
	if (n >= size)
		return false;
	ret[n] = '\0';
	return true;
}

/* document_from_name() of a value: false also for one that is no text. */
static inline bool document_to_name(const json_t *value, char *ret, size_t size)
{
	return json_is_string(value) && document_from_name(json_string_value(value), ret, size);
}

/* Reads a name that becomes part of a path: false also when it would lead elsewhere. */
static inline bool document_to_file_name(const json_t *value, char *ret, size_t size)
{
	return document_to_name(value, ret, size) && !strchr(ret, '/') && !streq(ret, ".") &&
	       !streq(ret, "..");
}

static inline int64_t document_get_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static inline bool document_get_flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* With a newline at its end, as files have. @flags: of json_dumps(). */
static inline int document_dump(const json_t *document, size_t flags, char **ret)
{
	_cleanup_(freep) char *text = json_dumps(document, flags);
	char *line;

	if (!text || asprintf(&line, "%s\n", text) < 0)
		return -ENOMEM;
	*ret = line;
	return 0;
}

static inline int document_print(const json_t *document, char **ret)
{
	return document_dump(document, JSON_INDENT(2), ret);
}
