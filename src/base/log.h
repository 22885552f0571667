/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log: lines for people, on stderr, with a "<3>" priority prefix under the journal.
 *
 * Is not a file, not syslog. Level: error = someone must act; warning = usable, but not as asked;
 * notice = one line per change made; info = what a person at a terminal wants to know; debug =
 * every value read. The level and the form are the only globals of the program. The other two
 * standard descriptors are opened and written here as well: standard_open(), standard_print().
 */
#pragma once

#include "util.h"

enum log_level {
	LOG_LEVEL_ERROR = 3, /* as in syslog(3), for the prefix */
	LOG_LEVEL_WARNING = 4,
	LOG_LEVEL_NOTICE = 5,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7,
};

void log_set_level(enum log_level level);
void log_set_json(void);   /* from now on each line is a JSON object on stdout */
bool log_is_journal(void); /* stderr is the journal itself, not a file or a terminal */

/* Adds ": <text of the errno>", unless @r is 0; else it is a negative errno. It is returned, for
 * "return log_..." */
int log_line_errno(enum log_level level, int r, const char *format, ...) _printf_(3, 4);

#define log_line(level, ...)      ((void)log_line_errno((level), 0, __VA_ARGS__))
#define log_error(...)            log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...)          log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_notice(...)           log_line(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(...)             log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)            log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)
#define log_error_errno(r, ...)   log_line_errno(LOG_LEVEL_ERROR, (r), __VA_ARGS__)
#define log_warning_errno(r, ...) log_line_errno(LOG_LEVEL_WARNING, (r), __VA_ARGS__)
#define log_debug_errno(r, ...)   log_line_errno(LOG_LEVEL_DEBUG, (r), __VA_ARGS__)

/*
 * Opens /dev/null as those of the three that are closed: the first call of each main(), so that no
 * file that is opened later becomes one of them. In the wrong direction: reading from the first of
 * them and writing to the others is an error (EBADF), as it is for a closed one. SIGPIPE is
 * ignored: a verb ends what it began, whether its output is read or not. Return: 0 or -errno.
 */
int standard_open(void);

/*
 * Prints @text and all that was printed before. Return: 0, or -errno where some of it could not be
 * written, which is logged; a reader that is gone is -EPIPE and no text.
 */
int standard_print(const char *text);
