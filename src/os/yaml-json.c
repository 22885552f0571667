/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml-json.h"

#include "../base/document.h"

#include <yaml.h>

/* A plain scalar that JSON has as well (a number, true) is that; else it is text. */
static json_t *make_scalar(const yaml_node_t *n)
{
	const char *text = (const char *)n->data.scalar.value;
	json_t *value = NULL;

	if (n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	    document_parse(text, n->data.scalar.length, JSON_DECODE_ANY, &value, NULL) == -ENOMEM)
		return NULL;
	return value ? value : json_string(text);
}

static json_t *make_node(yaml_document_t *d, int index)
{
	const yaml_node_t *n = yaml_document_get_node(d, index);
	json_auto_t *value = n->type == YAML_SEQUENCE_NODE ? json_array() : json_object();

	if (n->type == YAML_SCALAR_NODE)
		return make_scalar(n);
	if (n->type == YAML_SEQUENCE_NODE)
		for (int *i = n->data.sequence.items.start; i < n->data.sequence.items.top; i++)
			if (json_array_append_new(value, make_node(d, *i)) < 0)
				return NULL;
	if (n->type == YAML_MAPPING_NODE)
		for (yaml_node_pair_t *p = n->data.mapping.pairs.start;
		     p < n->data.mapping.pairs.top; p++) {
			const yaml_node_t *key = yaml_document_get_node(d, p->key);

			if (json_object_set_new(value, (const char *)key->data.scalar.value,
						make_node(d, p->value)) < 0)
				return NULL;
		}
	return json_incref(value);
}

int yaml_to_json(const char *yaml, char **ret)
{
	json_auto_t *list =
		json_pack("{s:s, s:s, s:[]}", "apiVersion", "v1", "kind", "List", "items");
	json_t *items = json_object_get(list, "items");
	yaml_parser_t parser;
	yaml_document_t d;
	int r = 1;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)yaml, strlen(yaml));
	while (r > 0 && yaml_parser_load(&parser, &d)) {
		r = yaml_document_get_root_node(&d) ? 1 : 0;
		if (r > 0 && json_array_append_new(items, make_node(&d, 1)) < 0)
			r = -ENOMEM;
		yaml_document_delete(&d);
	}
	yaml_parser_delete(&parser);
	return r == 0 ? document_print(list, ret) : -ENOMEM;
}
