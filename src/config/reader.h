/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader: the bytes of one file to sections, keys and values, with the lines they stand in.
 *
 * It knows no setting. inih parses; this module is the reader function inih asks for lines, and
 * hands it each line in a form that every build of inih takes as it is:
 *
 * - inih cuts lines at 200 bytes (INI_MAX_LINE), continues values on indented lines, and ends a
 * value at " ;": all three are choices of whoever built the library. So it never sees a value:
 * "Key=a b ; c" becomes "Key=12", the number of the line, and the value is kept here.
 * - inih cuts the names of sections at 49 bytes: longer ones are refused here.
 * - inih does not tell of a section without keys: each header is followed by a line "@=12".
 *
 * Syntax, as systemd.syntax(7): "#" or ";" begin a comment at the beginning of a line only; a
 * backslash at the end of a line continues it on the next, comments between are skipped; blanks
 * around names and values mean nothing; quotes are not special. A byte order mark and CRLF are
 * accepted. The line of a continued value is its first.
 *
 * Malformed: a line (or what continuing makes of it) over 4096 bytes, a NUL byte; outside of
 * comments also invalid UTF-8 and control characters but tab; what is neither "[SECTION]" nor
 * "KEY=VALUE"; a key before the first section. Reading goes on behind such a line, so that one look
 * shows all that is wrong.
 */
#pragma once

#include "problem.h"

#define LINE_MAX_BYTES 4096

/**
 * reader_parse() - tell the sections and keys of one file in their order
 * @file:   for messages
 * @errors: what is malformed is added here
 * @on_key: a section begins when @name is NULL; else one key of it, @value without blanks around
 * it, may be empty; from @line to @last, where it is continued. Returns 0, or a negative errno that
 * ends the reading
 *
 * Return: 0, also with malformed lines; -ENOMEM; -E2BIG when there were too many of them; or what
 * @on_key returned.
 */
int reader_parse(const char *file, const char *data, size_t size, struct config_errors *errors,
		 int (*on_key)(void *userdata, const char *section, const char *name,
			       const char *value, unsigned line, unsigned last),
		 void *userdata);
