/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

static enum log_level max_level = LOG_LEVEL_INFO;
static bool is_json;

void log_set_level(enum log_level level)
{
	max_level = level;
}

void log_set_json(void)
{
	is_json = true;
}

/* The variable is set for scripts as well, wherever their output goes: systemd.exec(5) */
bool log_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char own[48];
	struct stat st;

	if (!stream || fstat(STDERR_FILENO, &st) < 0)
		return false;
	PRINT(own, "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	return streq(own, stream);
}

/* sd-daemon(3) */
static const char *const prefixes[] = {
	[LOG_LEVEL_ERROR] = "<3>", [LOG_LEVEL_WARNING] = "<4>", [LOG_LEVEL_NOTICE] = "<5>",
	[LOG_LEVEL_INFO] = "<6>",  [LOG_LEVEL_DEBUG] = "<7>",
};

/* A line as an object on stdout; a byte that is no UTF-8 becomes U+FFFD, and a control '?'. */
static void put_json(enum log_level level, const char *text)
{
	uint32_t c;

	printf("{\"priority\": %d, \"text\": \"", level);
	for (size_t n; *text; text += MAX(n, (size_t)1)) {
		n = utf8_decode(text, SIZE_MAX, &c);
		if (n == 0)
			fputs("\\ufffd", stdout);
		else if (n == 1)
			printf(c == '"' || c == '\\' ? "\\%c" : "%c",
			       c < ' ' || c > '~' ? '?' : (int)c);
		else
			fwrite(text, n, 1, stdout);
	}
	puts("\"}");
	fflush(stdout); /* before this process becomes another one */
}

/*
 * Writes a line by one write(2): workers and the service share the descriptor. Names of devices and
 * files in it may hold escapes of a terminal.
 */
static void log_write(enum log_level level, const char *text, const char *cause)
{
	char line[1024];
	int n;

	n = PRINT(line, "%s%s%s%s\n", log_is_journal() && !is_json ? prefixes[level] : "", text,
		  *cause ? ": " : "", cause);
	if (n < 0)
		return;
	if ((size_t)n >= sizeof(line)) {
		n = sizeof(line) - 1;
		line[n - 1] = '\n';
	}

	make_still(line);
	if (is_json && !ferror(stdout)) {
		line[strlen(line) - 1] = '\0';
		put_json(level, line);
		return;
	}

	/* There is nowhere left to report a log that cannot be written. */
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}

int log_line_errno(enum log_level level, int r, const char *format, ...)
{
	char text[960];
	va_list ap;

	if (level > max_level)
		return r;

	va_start(ap, format);
	vsnprintf(text, r < 0 ? 800 : sizeof(text), format, ap); /* with room for the cause */
	va_end(ap);
	log_write(level, text, r < 0 ? strerror(-r) : "");
	return r;
}

int standard_open(void)
{
	signal(SIGPIPE, SIG_IGN);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return -errno;
	return 0;
}

int standard_print(const char *text)
{
	bool is_bad;
	int r;

	errno = EIO; /* of what stdio wrote before the last part */
	is_bad = fputs(text, stdout) == EOF || fflush(stdout) == EOF || ferror(stdout);
	r = is_bad ? -errno : 0;
	if (r < 0 && r != -EPIPE) /* "| head" wants no more */
		log_error_errno(r, "The output cannot be written");
	return r;
}
