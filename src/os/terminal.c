/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <sys/ioctl.h>

static const char *get(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

/* The first that is set and not empty: locale(7). */
static bool is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	FOREACH(name, names, ELEMENTSOF(names))
		if (*get(*name))
			return strcasestr(get(*name), "UTF-8") || strcasestr(get(*name), "UTF8");
	return true;
}

struct screen terminal_screen(void)
{
	const bool is_terminal = isatty(STDOUT_FILENO), is_dumb = streq(get("TERM"), "dumb");
	const unsigned long columns = strtoul(get("COLUMNS"), NULL, 10);
	struct winsize size = {};

	if (columns > 0 && columns < UINT16_MAX)
		size.ws_col = (unsigned short)columns;
	else if (is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		size.ws_col = 0;
	return (struct screen){ .width = size.ws_col,
				.has_colour = is_terminal && !is_dumb && !getenv("NO_COLOR"),
				.is_ascii = is_dumb || !is_utf8() };
}
