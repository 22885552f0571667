/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML events: libyaml's events, each with the bytes it was made of. The half of yaml.h that
 * touches libyaml: os/yaml-json.c alone includes <yaml.h> besides, and nobody but yaml.c, edit.c
 * and servers.c this file.
 *
 * libyaml's marks count characters and leave a byte order mark out; here they are byte offsets.
 */
#pragma once

#include <yaml.h>

#include "../base/util.h"
#include "yaml.h"

struct yaml_events {
	yaml_parser_t parser;
	const char *text; /* NULL: not open */
	size_t size;
	size_t n_events;          /* given so far: the number of the last one, from 1 */
	size_t at_index, at_byte; /* the last mark that was converted */
};

/* The bytes of a UTF-8 byte order mark at the start: 3 or 0. */
size_t yaml_events_bom(const char *text, size_t size);

/*
 * Is it text a kubelet could read? At most YAML_MAX_BYTES of UTF-8 without control characters and
 * without those that only YAML takes for line breaks. Return: 1 when it is JSON to the kubelet
 * (which looks at the first byte that is no blank), 0, or -ENODATA, -EFBIG, -EILSEQ. @ret_line: of
 * a character that is refused, else 0.
 */
int yaml_events_check(const char *text, size_t size, uint32_t *ret_line);

int yaml_events_open(struct yaml_events *s, const char *text, size_t size); /* 0 or -ENOMEM */
void yaml_events_done(struct yaml_events *s);
int yaml_events_next(struct yaml_events *s, yaml_event_t *ret); /* 0, -EBADMSG or -ENOMEM */
size_t yaml_events_byte(struct yaml_events *s, const yaml_mark_t *mark);

bool yaml_events_is_text(const yaml_event_t *e, const char *text); /* of a scalar */
bool yaml_events_is_marked(
	const yaml_event_t *e); /* has an anchor or a tag, or is something else */
bool yaml_events_is_string(const yaml_event_t *e); /* a scalar without a tag, or with "!!str" */
struct yaml_fault yaml_events_fault(const struct yaml_events *s); /* or what has been reached */

/*
 * Follows an alias that @s gave last, to its first event, in @behind, which is opened for it and
 * parses the text again. Return: 0, -EBADMSG (there is no such anchor) or -ENOMEM.
 */
int yaml_events_follow(const struct yaml_events *s, const yaml_event_t *alias,
		       struct yaml_events *behind, yaml_event_t *ret);
