/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verify: the checks that the vendors' pages make users do by hand, each with what was expected and
 * the command that checks the same between two nodes.
 *
 * It changes nothing, opens no port and sends nothing.
 */
#pragma once

#include "../model/config.h"
#include "../os/os.h"

/* @ret: the lines, or with @is_json the document. Return: 1 when a check failed, 0, or -errno. */
int verify(struct os *d, const struct config *c, bool is_json, char **ret);
