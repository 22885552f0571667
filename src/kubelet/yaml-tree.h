/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML tree: the first document of a text as libyaml reads it, each node with the bytes it was made
 * of. The half of yaml.c that touches libyaml: os/yaml-json.c alone includes <yaml.h> besides, and
 * nobody but yaml.c, edit.c and servers.c looks at nodes.
 *
 * libyaml's marks count characters and leave a byte order mark out; here they are byte offsets.
 */
#pragma once

#include <yaml.h>

#include "yaml.h"

/*
 * Nodes are in the order of the text: those in a collection follow it, a key comes before its
 * value.
 */
struct yaml_node {
	yaml_event_type_t
		type;          /* YAML_SCALAR_EVENT, YAML_ALIAS_EVENT, or of a collection's start */
	int style;             /* yaml_scalar_style_t, or as it is for a collection */
	char *text;            /* owned; of a scalar, decoded, with a NUL behind it */
	size_t length;         /* of that */
	size_t at, to;         /* bytes, with anchor and tag */
	size_t end;            /* number of the first node behind it that is not in it */
	size_t meaning;        /* number of the node that an alias means; else its own */
	uint32_t line, column; /* of its start: from 1, and from 0 */
	bool has_anchor, has_tag;
	bool is_string; /* a scalar without a tag, or with "!!str" */
};

struct yaml_tree {
	struct yaml_node *nodes; /* owned; the first one is the root */
	size_t n_nodes;
	bool has_alias, has_directive, is_ended; /* is_ended: by "..." */
	struct yaml_fault fault;                 /* where and why it is refused */
};

/* The bytes of a UTF-8 byte order mark at the start: 3 or 0. */
size_t yaml_tree_bom(const char *text, size_t size);

/*
 * Reads the first document. -EFBIG, -ENODATA where it has no node, -EILSEQ, -EBADMSG, -EOPNOTSUPP
 * or -ENOMEM, as in yaml.h. @ret: also of a text that is refused; release with yaml_tree_done().
 */
int yaml_tree_read(const char *text, size_t size, struct yaml_tree *ret);
void yaml_tree_done(struct yaml_tree *t);

const struct yaml_node *yaml_tree_next(const struct yaml_tree *t, const struct yaml_node *n);

bool yaml_node_is_text(const struct yaml_node *n, const char *text); /* is it that scalar? */
bool yaml_node_is_null(const struct yaml_node *n); /* "key:", "key: ~", "key: null" */

/* A document of which scalars are looked for. Its tree has why it is refused. */
struct yaml_document {
	struct yaml_tree tree; /* owned */
	bool is_json, is_fixed;
	/* The value of the last "kind", and of the last of the key asked for; or NULL. Where an
	 * edit is safe their keys are the nodes right before them. */
	const struct yaml_node *kind, *entry;
	size_t n_entries; /* of the key asked for */

	/* Asked for. */
	const char *key;
	struct yaml_items *items; /* NULL: it is to be edited */
};

int yaml_document_read(const char *text, size_t size, enum yaml_kind kind, struct yaml_document *d);
void yaml_document_done(struct yaml_document *d);
