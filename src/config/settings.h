/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings: the one table of everything that can be configured.
 *
 * The parser, "check", "set", completion and the manual are fed from it. A key that does nothing is
 * not in it. Files, sections and merging are not its business.
 */
#pragma once

#include "../model/config.h"

#define N_SETTINGS 50

struct setting {
	const char *section, *name;
	size_t offset; /* in struct config; of "Device" in struct device_config */
	const struct setting_type *type;
	uint64_t min, max;    /* of numbers; seconds of time spans; the values of enumerations */
	const char *fallback; /* what holds when it is not set, as text; may be empty */
	const char *accepted; /* completes "use " and, in the manual, "Accepted: " */
	const char *help;     /* one line, without a full stop */
	const char *(*word)(unsigned value); /* of an enumeration; else NULL */
};

/* In the order of the manual and of config_text(); the keys of a section stand together. */
extern const struct setting settings[N_SETTINGS];

bool setting_is_device(const struct setting *s); /* of [Device] and each [Device NAME] */

/* Several words with blanks between: the key may be repeated in a file, and each adds its words. */
bool setting_is_list(const struct setting *s);

/* By exact names, "Device" for every [Device NAME]; NULL: there is none. */
const struct setting *setting_find(const char *section, const char *name);

/**
 * setting_parse() - text to the field of a setting
 * @value: as in a file, without blanks around it; the fallback text is always valid, and where it
 *         is empty, the field stays zero for it
 * @base:  struct config or struct device_config, in which the field is zero
 *
 * Return: 0, -EINVAL when this is not what is accepted, or -ENOMEM.
 */
int setting_parse(const struct setting *s, const char *value, void *base);

int setting_check(const struct setting *s, const char *value); /* the same, keeping nothing */

/* The words that the value is one of, from 0 on; NULL behind the last, and where it is anything
 * else. */
const char *setting_word(const struct setting *s, size_t i);

/* The field as text in its one canonical form, which setting_parse() reads; 0 or -ENOMEM. */
int setting_format(const struct setting *s, const void *base, char **ret);

/* More words for a list; an empty @more clears it. *text is owned, or NULL. 0 or -ENOMEM. */
int setting_append(char **text, const char *more);

/*
 * Writes "NAME=VALUE" as the reader takes it: a list on several lines where one is too short.
 * Return: how many lines.
 */
unsigned setting_put(FILE *f, const char *name, const char *value, bool is_list);
