/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Catalog: what "journalctl -x" says below a line of ours, made of the table of reasons when the
 * program is built, so that the two cannot differ.
 *
 * Format: https://systemd.io/CATALOG. @FIELD@ is put in by journalctl, from the line's own fields.
 */
#pragma once

#include "../model/message.h"

int output_catalog(char **ret); /* all of it; 0 or -ENOMEM */
