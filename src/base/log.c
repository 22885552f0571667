/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <stdarg.h>

static enum log_level max_level = LOG_LEVEL_INFO;

void log_set_level(enum log_level level)
{
	max_level = level;
}

/* sd-daemon(3) */
static const char *const prefixes[] = {
	[LOG_LEVEL_ERROR] = "<3>", [LOG_LEVEL_WARNING] = "<4>", [LOG_LEVEL_NOTICE] = "<5>",
	[LOG_LEVEL_INFO] = "<6>",  [LOG_LEVEL_DEBUG] = "<7>",
};

/* One write for one line: workers and the service share the descriptor. */
static void log_write(enum log_level level, const char *text, const char *cause)
{
	const bool journal = getenv("JOURNAL_STREAM") != NULL; /* set by systemd: systemd.exec(5) */
	char line[1024];
	int n;

	n = snprintf(line, sizeof(line), "%s%s%s%s\n", journal ? prefixes[level] : "", text,
		     cause ? ": " : "", cause ? cause : "");
	if (n < 0)
		return;
	if ((size_t)n >= sizeof(line)) {
		n = sizeof(line) - 1;
		line[n - 1] = '\n';
	}

	/* There is nowhere left to report a log that cannot be written. */
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}

void log_line(enum log_level level, const char *format, ...)
{
	char text[960];
	va_list ap;

	if (level > max_level)
		return;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	log_write(level, text, NULL);
}

int log_line_errno(enum log_level level, int r, const char *format, ...)
{
	char text[800];
	va_list ap;

	if (level > max_level)
		return r;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	log_write(level, text, strerror(-r));
	return r;
}
