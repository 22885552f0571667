/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader: the bytes of one file to sections, keys and values, with the lines they stand in.
 *
 * It knows no setting. inih follows the sections. It asks a function of this module for lines,
 * which counts them and hands over sections itself (inih does not report one without keys). Names
 * and values are of the line itself: the buffers of inih, of 200 and 50 bytes, would cut them.
 * Refused is
 *
 * - a line of more than LINE_MAX_BYTES;
 * - one with ";" behind a blank, where inih would end the value;
 * - one that ends in a backslash: lines are not continued. Nor does inih see indented lines, which
 * it would take for more of the value before: blanks at the beginning of a line are removed;
 * - a section whose name is over 49 bytes (MAX_SECTION), or which is not alone in its line.
 *
 * Syntax: "#" or ";" begin a comment at the beginning of a line only; blanks around names and
 * values mean nothing; quotes are not special; ":" is a letter. A byte order mark and CRLF
 * are accepted.
 *
 * Malformed are also a NUL byte; outside of comments invalid UTF-8 and control characters but tab;
 * what is neither "[SECTION]" nor "KEY=VALUE"; a key before the first section. Reading goes on
 * behind such a line, so that one look shows all that is wrong.
 *
 * Source: ini_parse_stream() in ini.c of https://github.com/benhoyt/inih
 */
#pragma once

#include "config-errors.h"

#define LINE_MAX_BYTES 4096 /* without its end */

/**
 * reader_parse() - report the sections and keys of one file in their order
 * @file:   for messages
 * @errors: what is malformed is added here
 * @on_key: a section begins when @name is NULL, its words with one blank between: "Device nic";
 * else one key of it, @value may be empty. Returns 0, or a negative errno that ends the reading
 *
 * Return: 0, also with malformed lines; -ENOMEM; -E2BIG when there were too many of them; or what
 * @on_key returned.
 */
int reader_parse(const char *file, const char *data, size_t size, struct config_errors *errors,
		 int (*on_key)(void *userdata, const char *section, const char *name,
			       const char *value, unsigned line),
		 void *userdata);

/* The words of @s with one blank between, as they are in a section. Returns @s. */
char *reader_squeeze(char *s);
