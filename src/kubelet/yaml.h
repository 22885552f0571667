/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Yaml: the door to libyaml (and for JSON to jansson, which is stricter), for one purpose: to read
 * the scalars of a KubeletConfiguration (kubelet.config.k8s.io/v1beta1), or of the configuration of
 * RKE2 and k3s, and to tell where they stand. Editing is in edit.h.
 *
 * Is not a general YAML library and keeps no tree. It reads what the kubelet reads: the first
 * document only, the last of equal keys; what begins with "{" is JSON. What could be read in two
 * ways is refused:
 *
 *   -ENODATA    empty, or comments only
 *   -EFBIG      more than YAML_MAX_BYTES
 *   -EILSEQ     not UTF-8, a control character, or one that only YAML takes for a line break
 *   -EBADMSG    not YAML; begins with "{" and is not JSON
 *   -EMEDIUMTYPE not a KubeletConfiguration of v1beta1, or "kind" or "apiVersion" not told once
 *   -EOPNOTSUPP an alias anywhere; at the top level a "? key", tag, anchor or merge key, or flow
 *               style; directives; in what is edited: a value of several parts where a word is
 *               meant
 *   -EUCLEAN    the edited text would not read as meant (edit.h only)
 *   -ENOMEM
 */
#pragma once

#include "../base/util.h"

#define YAML_MAX_BYTES ((size_t)1024 * 1024)

/* A scalar of the top level, or one level below it. */
struct yaml_item {
	char key[64]; /* of the top level */
	char sub[64]; /* its key in the mapping below; empty: the value itself, or one of a list */
	char text[256]; /* decoded; one that does not fit is cut, and then is_odd */
	uint32_t line;  /* where it begins, from 1 */
	bool is_null;   /* "key:", "key: ~", "key: null" */
	bool is_plain;  /* without quotes: a number or a boolean is no string to the kubelet */
	bool is_listed; /* an element of a list */
	bool is_odd;    /* a collection, marked by a tag or anchor, too long, or with a NUL in it */
};

struct yaml_items {
	struct yaml_item *items; /* owned; in the order of the file */
	size_t n_items;
	bool is_json;
};

enum yaml_kind {
	YAML_KUBELET, /* only a KubeletConfiguration */
	YAML_ANY,     /* any mapping; "[]" and "{}" alone are none */
};

/* Every scalar of the first two levels. A collection gives an odd item before those in it. */
int yaml_read(const char *text, size_t size, enum yaml_kind kind, struct yaml_items *ret);
void yaml_items_done(struct yaml_items *l);

/* The last one of that name, @sub "" for a scalar of the top level; NULL: there is none. */
const struct yaml_item *yaml_find(const struct yaml_items *l, const char *key, const char *sub);

/* Is a key of the top level there twice? The kubelet takes the last; in a drop-in it is fatal. */
bool yaml_has_duplicates(const struct yaml_items *l);

/* One of the errors above as people read it: "is larger than 1 MiB". */
const char *yaml_problem(int r);

/* --- for edit.c --- */

/* A key of the top level with its value, in bytes of the text. */
struct yaml_entry {
	char key[64];          /* decoded, cut */
	char value[256];       /* decoded, cut */
	size_t length;         /* of the whole value */
	size_t key_at, key_to; /* of the key, with its quotes */
	size_t at, to;         /* of the value */
	size_t event;          /* number of the value's event, from 1 */
	uint32_t line;
	int style; /* yaml_scalar_style_t */
	bool is_scalar, is_marked, is_null;
};

struct yaml_document {
	/* Filled by yaml_document_read(). */
	bool is_json;
	struct yaml_entry kind, entry; /* the last "kind", and the last of the key asked for */
	size_t n_entries;              /* of the key asked for */

	/* Asked for. */
	const char *key;
	struct yaml_items *items; /* NULL: not wanted */
};

int yaml_document_read(const char *text, size_t size, enum yaml_kind kind, struct yaml_document *d);
