/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Yaml: the door to libyaml, for one purpose: to read and set one top-level scalar of a
 * KubeletConfiguration (kubelet.config.k8s.io/v1beta1) without touching another byte.
 *
 * Is not a general YAML library and keeps no tree. Nobody else includes <yaml.h>. It reads what the
 * kubelet reads: the first document only, the last of two equal keys. What could be read in two
 * ways is refused:
 *
 *   -ENODATA         empty, or comments only
 *   -EFBIG           more than YAML_MAX_BYTES
 *   -EILSEQ          not UTF-8, a control character, or one that only YAML takes for a line break
 *   -EPROTONOSUPPORT JSON
 *   -EBADMSG         not YAML
 *   -EMEDIUMTYPE     not a KubeletConfiguration of v1beta1, or "kind" or "apiVersion" not told once
 *   -EOPNOTSUPP      an alias anywhere; at the top level a "? key", tag, anchor, merge key or
 * {...}; directives; a value of several lines or parts where a word is meant -EUCLEAN         the
 * edited text would not read as meant (yaml_set() only) -ENOMEM
 */
#pragma once

#include "../base/util.h"

#define YAML_MAX_BYTES ((size_t)1024 * 1024)

struct yaml_value {
	char text[64]; /* decoded; a longer one is cut */
	uint32_t line; /* where the value begins, from 1 */
	bool is_null;  /* "key:", "key: ~", "key: null" */
};

/* Return: 1 when the key is there, 0 when it is not, or one of the errors above. */
int yaml_get(const char *text, size_t size, const char *key, struct yaml_value *ret);

/**
 * yaml_set() - the text with one value changed, everything else byte-identical
 * @text, @size: the file
 * @key:      a top-level key
 * @value:    a plain word: a-z, 0-9 and "-", beginning with a letter
 * @ret:      the new text, owned by the caller
 * @ret_size: its size
 *
 * A key that is there keeps its place, quotes and comment: the last one, when there are several. A
 * block scalar ("|", ">") is refused. A missing key goes below the line of "kind", as that line is
 * indented and ended. The result is parsed again and compared event by event.
 *
 * Return: 1 when the text differs, 0 when the value was there already (*ret is a copy), or -errno.
 */
int yaml_set(const char *text, size_t size, const char *key, const char *value, char **ret,
	     size_t *ret_size);

/* A copy of the same size in which the values of @key, and comments among them, are only "####". */
int yaml_blank(const char *text, size_t size, const char *key, char **ret);

/* One of the errors above as people read it: "is JSON, which is not edited". */
const char *yaml_problem(int r);
