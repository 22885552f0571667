/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Screen: a finished text for people, made to fit where it is shown. Pure; os/terminal.h fills the
 * struct.
 */
#pragma once

#include "util.h"

struct screen {
	int width;       /* columns, 0: no limit */
	bool has_colour; /* escape sequences for colours and bold letters */
	bool is_ascii;   /* the terminal or the locale has no UTF-8 */
};

/* Columns of a text: escape sequences have none, and all letters here have one. */
int screen_columns(const char *s);

/**
 * screen_fit() - fold lines that are wider than the screen, and replace what it cannot show
 * @text: of lines; what follows a fold begins in the column of the text behind the label of the
 * line (two blanks end a label), behind its arrow or bullet, or else two columns to the right
 * @ret:  owned by the caller
 *
 * Return: 0, or -ENOMEM.
 */
int screen_fit(const struct screen *p, const char *text, char **ret);
