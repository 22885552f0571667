/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminal: how standard output shows a text.
 */
#pragma once

#include "../base/screen.h"

/*
 * COLUMNS counts wherever the output goes, else the terminal's own width. Colours are for a
 * terminal, without NO_COLOR (no-color.org). ASCII is for TERM=dumb, and for a locale that is set
 * and not of UTF-8, as systemd has it: where none is set, UTF-8 is shown.
 */
struct screen terminal_screen(void);
