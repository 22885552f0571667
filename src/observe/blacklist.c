/* SPDX-License-Identifier: Apache-2.0 */
#include "blacklist.h"

#include "../os/module.h"
#include "cmdline.h"
#include "modprobe-observe.h"

#include <fnmatch.h>

#define MAX_RULES 8192
#define CMDLINE   "modprobe.blacklist="

/* While it is read. */
struct blacklist_reader {
	struct blacklist *list;
	bool is_packaged;
};

void blacklist_done(struct blacklist *b)
{
	for (size_t i = 0; i < b->n_rules; i++)
		free(b->rules[i].command);
	free(b->rules);
	*b = (struct blacklist){};
}

/* @command: NULL when the module is blacklisted. */
static int add(const struct blacklist_reader *rd, const char *module, const char *command)
{
	char name[MODULE_LEN];
	struct blacklist_rule *rule;

	if (!COPY(name, module)) /* longer than any module's */
		return 0;
	if (rd->list->n_rules >= MAX_RULES)
		return -E2BIG;
	rule = APPEND(rd->list->rules, rd->list->n_rules);
	if (!rule)
		return -ENOMEM;

	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : *c;
	COPY(rule->module, name);
	rule->is_packaged = rd->is_packaged;
	if (!command)
		return 0;
	rule->command = strdup(command);
	return rule->command ? 0 : -ENOMEM;
}

static int on_line(void *userdata, char *line)
{
	const struct blacklist_reader *rd = userdata;
	char *rest, *word, *module;

	if (*line == '#')
		return 0;
	word = strtok_r(line, "\t ", &rest);
	if (!word || (!streq(word, "blacklist") && !streq(word, "install")))
		return 0;
	module = strtok_r(NULL, "\t ", &rest);
	if (!module)
		return 0;

	if (streq(word, "blacklist"))
		return rd->is_packaged ? 0 : add(rd, module, NULL);
	return *rest ? add(rd, module, rest) : 0;
}

static int on_word(void *userdata, const char *word)
{
	_cleanup_(freep) char *list = NULL;
	int r = 0;

	word = after(word, CMDLINE);
	if (!word)
		return 0;
	list = strdup(word);
	if (!list)
		return -ENOMEM;
	for (char *rest, *name = strtok_r(list, ",", &rest); name && r >= 0;
	     name = strtok_r(NULL, ",", &rest))
		r = add(userdata, name, NULL);
	return r;
}

int blacklist_read(const struct fs *fs, struct blacklist *ret)
{
	_cleanup_(blacklist_done) struct blacklist list = {};
	struct blacklist_reader rd = { .list = &list };
	int r;

	r = modprobe_read(fs, false, on_line, &rd);
	if (r >= 0)
		r = cmdline_read(fs, on_word, &rd);
	rd.is_packaged = true;
	if (r >= 0)
		r = modprobe_read(fs, true, on_line, &rd);
	if (r < 0)
		return r;

	*ret = TAKE_STRUCT(list);
	return 0;
}

static const char *find_command(const struct blacklist *b, const char *module, bool is_packaged)
{
	for (size_t i = 0; i < b->n_rules; i++) {
		const struct blacklist_rule *rule = &b->rules[i];

		if (rule->command && rule->is_packaged == is_packaged &&
		    fnmatch(rule->module, module, 0) == 0)
			return rule->command;
	}
	return NULL;
}

bool is_kept_out(const struct blacklist *b, const char *module)
{
	const char *command = find_command(b, module, false);
	const char *theirs = find_command(b, module, true);

	for (size_t i = 0; i < b->n_rules; i++)
		if (!b->rules[i].command && streq(b->rules[i].module, module))
			return true;
	return command &&
	       (!module_is_inserting(command, module) || !theirs || !streq(theirs, command));
}
