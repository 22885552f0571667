/* SPDX-License-Identifier: Apache-2.0 */
#include "screen.h"

/* Each letter has one column, as its replacement has. */
static const struct {
	const char *letter;
	char ascii;
} letters[] = {
	{ "✓", '+' }, { "✗", 'x' }, { "·", '-' }, { "→", '>' },
	{ "├", '|' }, { "└", '`' }, { "─", '-' }, { "│", '|' },
};

/* The length of a letter, or of an escape sequence. */
static size_t bytes(const char *s)
{
	size_t n = *s == '\033' ? strcspn(s, "m") : 0;

	for (n += s[n] != '\0'; (s[n] & 0xC0) == 0x80;)
		n++;
	return n;
}

int screen_columns(const char *s)
{
	int n = 0;

	for (; *s; s += bytes(s))
		n += *s != '\033';
	return n;
}

static void put(FILE *f, const struct screen *p, const char *s)
{
	for (size_t n; *s && p->is_ascii; s += n) {
		char shown = (*s & 0x80) ? '?' : *s;

		n = (*s & 0x80) ? bytes(s) : 1;
		for (size_t i = 0; i < ELEMENTSOF(letters) && n > 1; i++)
			shown = is_prefix(s, letters[i].letter) ? letters[i].ascii : shown;
		fputc(shown, f);
	}
	fputs(s, f);
}

/* The column in which the lines after the first one begin. */
static int hang(const struct screen *p, const char *line)
{
	const int n = (int)strspn(line, " ");
	const char *gap = strstr(line + n, "  ");
	char label[128];
	int at;

	if (is_prefix(line + n, "→ ") || is_prefix(line + n, "· "))
		return n + 2;
	if (n > 0 || !gap)
		return n > 0 ? n : 2;
	PRINT(label, "%.*s", (int)(gap + strspn(gap, " ") - line), line);
	at = screen_columns(label);
	return at < p->width / 2 ? at : 2;
}

static void fold(FILE *f, const struct screen *p, char *line)
{
	const int indent = hang(p, line);
	int at = 0;

	for (bool is_first = true; *line; is_first = false) {
		const int blanks = (int)strspn(line, " ");
		char *word = line + blanks, end;

		line = word + strcspn(word, " ");
		end = *line;
		*line = '\0';
		if (!is_first && p->width > 0 && at + blanks + screen_columns(word) > p->width) {
			fprintf(f, "\n%*s", indent, "");
			at = indent;
		} else
			at += fprintf(f, "%*s", blanks, "");
		put(f, p, word);
		at += screen_columns(word);
		*line = end;
	}
}

int screen_fit(const struct screen *p, const char *text, char **ret)
{
	_cleanup_(stream_done) struct stream out = {};
	_cleanup_(freep) char *copied = strdup(text);
	char *line = copied, *end;

	if (!copied || stream_open(&out) < 0)
		return -ENOMEM;
	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		fold(out.f, p, line);
		fputc('\n', out.f);
	}
	fold(out.f, p, line);
	return stream_take(&out, ret);
}
