/* SPDX-License-Identifier: Apache-2.0 */
#include "blacklist-observe.h"

#include "cmdline-observe.h"
#include "modprobe-observe.h"

#include <fnmatch.h>

#define MAX_RULES 8192
#define CMDLINE   "modprobe.blacklist="

void blacklist_done(struct blacklist *b)
{
	free(b->rules);
	*b = (struct blacklist){};
}

static int add(struct blacklist *b, const char *module, bool is_glob)
{
	struct blacklist_rule rule = { .is_glob = is_glob };

	if (!module_spell(rule.module, module)) /* longer than any module's */
		return 0;
	return b->n_rules >= MAX_RULES ? -E2BIG : ADD(b->rules, b->n_rules, rule);
}

static int on_line(void *userdata, char *line)
{
	char *rest, *word, *module;

	if (*line == '#')
		return 0;
	word = strtok_r(line, "\t ", &rest);
	if (!word || (!streq(word, "blacklist") && !streq(word, "install")))
		return 0;
	module = strtok_r(NULL, "\t ", &rest);
	if (!module || (streq(word, "install") && !*rest))
		return 0;
	return add(userdata, module, streq(word, "install"));
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
		r = add(userdata, name, false);
	return r;
}

int blacklist_read(const struct fs *fs, struct blacklist *ret)
{
	_cleanup_(blacklist_done) struct blacklist list = {};
	int r;

	r = modprobe_read(fs, on_line, &list);
	if (r >= 0)
		r = cmdline_read(fs, on_word, &list);
	if (r < 0)
		return r;

	*ret = TAKE_STRUCT(list);
	return 0;
}

bool blacklist_has(const struct blacklist *b, const char *module)
{
	return ANY(rule, b->rules, b->n_rules,
		   rule->is_glob ? fnmatch(rule->module, module, 0) == 0
				 : streq(rule->module, module));
}
