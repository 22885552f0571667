/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group: neighbours of one reason in a list, for people. Pure.
 *
 * Items are objects with "target", "code", "detail" and "advice". Neighbours of one code and advice
 * become one item, whose target is "0000:41:00.0, 0000:42:00.0". Where their details differ, its
 * detail is empty, and "details" is the list of them: {"target": "0000:41:00.0", "detail": ...}.
 */
#pragma once

#include <jansson.h>

/* A new list, which the caller owns; NULL: no memory. No list at all gives an empty one. */
json_t *output_group(const json_t *reasons);
