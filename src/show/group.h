/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group: neighbours of one reason in a list, for people. Pure.
 *
 * Items are objects with "target", "code", "detail" and "advice", a plan's also with "change" and
 * "class". Neighbours that differ in target and detail alone, and have a code, become one item,
 * whose target is "0000:41:00.0, 0000:42:00.0". Where their details differ, its detail is empty,
 * and "details" is the list of them: {"target": "0000:41:00.0", "detail": ...}.
 */
#pragma once

#include <jansson.h>

/*
 * Prints groups: a head by @template, and below it "  MEANING:
 * DETAIL", details, and "  → ADVICE". Items without a code have a head alone. See sheet.h.
 */
struct sheet;
void output_group_print(struct sheet *s, const json_t *groups, const char *template);
void output_group_body(struct sheet *s, const json_t *group); /* all but the head */

/* A new list, which the caller owns; NULL: no memory. No list at all gives an empty one. */
json_t *output_group(const json_t *reasons);
