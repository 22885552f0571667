/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Yaml: reads the scalars of a KubeletConfiguration (kubelet.config.k8s.io/v1beta1), or of the
 * configuration of RKE2 and k3s, and where they stand: by libyaml, and JSON by jansson, which is
 * stricter. Editing is in edit.h.
 *
 * Is not a general YAML library. It reads what the kubelet reads: the first document only, the last
 * of equal keys, what aliases and merge keys bring in; what begins with "{" is JSON. A text whose
 * values cannot be told is refused, for nothing is known of it then:
 *
 *   -ENODATA    empty, or comments only
 *   -EFBIG      more than YAML_MAX_BYTES
 *   -EILSEQ     not UTF-8, a control character, or one that only YAML takes for a line break
 *   -EBADMSG    not YAML; begins with "{" and is not JSON
 *   -EMEDIUMTYPE not a KubeletConfiguration of v1beta1, or "kind" or "apiVersion" not told once
 *   -EOPNOTSUPP a key with a tag that is no string, or that is a collection; too many aliases,
 *               levels or keys; for editing alone: an alias anywhere; at the top level a "? key", a
 *               key with a tag or anchor, a merge key, or flow style; directives; a value of
 *               several parts where a word is meant
 *   -EUCLEAN    the edited text would not read as meant (edit.h only)
 *   -ENOMEM
 */
#pragma once

#include "../base/util.h"

#define YAML_MAX_BYTES  ((size_t)4 * 1024 * 1024)
#define YAML_WITH_WORDS "reservedMemory"

/* A scalar of the top level, or one level below it. */
struct yaml_item {
	char key[64]; /* of the top level */
	char sub[64]; /* its key in the mapping below; empty: the value itself, or one of a list */
	/* Decoded; one that does not fit is cut, and then is_odd. Of a collection in the list
	 * YAML_WITH_WORDS all its words, each in quotes, with "," between: empty when they do not
	 * fit, or are no words. */
	char text[256];
	uint32_t line;  /* where it begins, from 1 */
	bool is_null;   /* "key:", "key: ~", "key: null" */
	bool is_plain;  /* without quotes: a number or a boolean is no string to the kubelet */
	bool is_listed; /* an element of a list */
	bool is_odd;    /* a collection, with a tag, too long, with a NUL in it, or said by a merge
			   key and another way */
};

struct yaml_items {
	struct yaml_item *items; /* owned; in the order of the file */
	size_t n_items;
	bool is_json;
	bool is_fixed; /* no edit is safe: -EOPNOTSUPP */
};

/* Where a text is refused, and what its parser expected there. */
struct yaml_fault {
	uint32_t line, column; /* from 1; 0: not known */
	char why[112]; /* "did not find expected key, while parsing a block mapping"; or empty */
};

enum yaml_kind {
	YAML_KUBELET, /* only a KubeletConfiguration */
	YAML_ANY,     /* any mapping; "[]" and "{}" alone are none */
};

/*
 * Every scalar of the first two levels. A collection gives an odd item before those in it.
 * @fault: of what was refused.
 */
int yaml_read(const char *text, size_t size, enum yaml_kind kind, struct yaml_items *ret,
	      struct yaml_fault *fault);
void yaml_items_done(struct yaml_items *l);

/* The last one of that name, @sub "" for a scalar of the top level; NULL: there is none. */
const struct yaml_item *yaml_find(const struct yaml_items *l, const char *key, const char *sub);

/* Is a key of the first two levels there twice? The kubelet takes the last; in a drop-in it is
 * fatal. */
bool yaml_has_duplicates(const struct yaml_items *l);

/* The errors above as people read them: "is larger than 4 MiB". */
const char *yaml_problem(int r);
