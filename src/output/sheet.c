/* SPDX-License-Identifier: Apache-2.0 */
#include "sheet.h"

#include <stdarg.h>

int sheet_open(struct sheet *s, int indent, int width)
{
	*s = (struct sheet){ .label = "", .indent = indent, .width = width };
	s->f = open_memstream(&s->text, &s->size);
	return s->f ? 0 : -ENOMEM;
}

void sheet_plain(char *text)
{
	make_still(text);
	while ((text = strchr(text, '\n')))
		*text = '?';
}

static void add(struct sheet *s, const char *format, va_list ap)
{
	char text[2048];

	vsnprintf(text, sizeof(text), format, ap);
	sheet_plain(text);
	if (!s->is_begun)
		fprintf(s->f, "%*s%-*s", s->indent, "", s->width, s->label);
	fputs(text, s->f);
	s->is_begun = true;
	s->label = "";
}

void sheet_add(struct sheet *s, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add(s, format, ap);
	va_end(ap);
}

void sheet_end(struct sheet *s)
{
	fputc('\n', s->f);
	s->is_begun = false;
}

void sheet_line(struct sheet *s, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add(s, format, ap);
	va_end(ap);
	sheet_end(s);
}

int sheet_close(struct sheet *s, char **ret)
{
	FILE *f = s->f;
	int r;

	s->f = NULL;
	r = text_close(f, &s->text);
	if (r >= 0)
		*ret = TAKE(s->text);
	return r;
}

void sheet_done(struct sheet *s)
{
	if (s->f)
		fclose(s->f);
	free(s->text);
}
