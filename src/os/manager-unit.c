/* SPDX-License-Identifier: Apache-2.0 */
#include "manager-unit.h"

#include "../base/document.h"
#include "helper.h"

#define ASK_USEC (2 * USEC_PER_SEC) /* systemd may be busy; then the files tell */

static void words_free(struct manager_words *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->words[i]);
	free(l->words);
}

void manager_unit_done(struct manager_unit *m)
{
	words_free(&m->exec);
	words_free(&m->environment);
	words_free(&m->inherited);
	words_free(&m->env_files);
	*m = (struct manager_unit){};
}

static const struct {
	const char *name;
	size_t offset; /* of a struct manager_words */
} lists[] = {
	{ "exec", offsetof(struct manager_unit, exec) },
	{ "environment", offsetof(struct manager_unit, environment) },
	{ "inherited", offsetof(struct manager_unit, inherited) },
	{ "env_files", offsetof(struct manager_unit, env_files) },
};

static json_t *pack_words(const struct manager_words *l)
{
	json_auto_t *array = json_array();

	/* What is no UTF-8 has no place in JSON: all of it is left to the files then. */
	for (size_t i = 0; i < l->n; i++)
		if (json_array_append_new(array, json_string(l->words[i])) < 0)
			return NULL;
	return json_incref(array);
}

int manager_unit_print(const struct manager_unit *m, char **ret)
{
	json_auto_t *root = json_pack("{s:I}", "start_usec", (json_int_t)m->start_usec);

	for (size_t i = 0; i < ELEMENTSOF(lists); i++)
		if (json_object_set_new(
			    root, lists[i].name,
			    pack_words((const void *)((const char *)m + lists[i].offset))) < 0)
			return -EBADMSG;
	*ret = json_dumps(root, JSON_COMPACT);
	return *ret ? 0 : -ENOMEM;
}

static int read_words(const json_t *array, struct manager_words *ret)
{
	const json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
	{
		char **slot = APPEND(ret->words, ret->n);

		if (slot)
			*slot = strdup(json_is_string(item) ? json_string_value(item) : "");
		if (!slot || !*slot)
			return -ENOMEM;
	}
	return 0;
}

static int parse_unit(const char *text, struct manager_unit *ret)
{
	_cleanup_(manager_unit_done) struct manager_unit m = {};
	json_auto_t *root = NULL;
	int r;

	r = document_parse(text, strlen(text), 0, &root, NULL);
	if (!json_is_object(root))
		return r == -ENOMEM ? r : -EBADMSG;
	for (size_t i = 0; i < ELEMENTSOF(lists) && r >= 0; i++)
		r = read_words(json_object_get(root, lists[i].name),
			       (void *)((char *)&m + lists[i].offset));
	if (r < 0)
		return r;
	m.start_usec = (uint64_t)json_integer_value(json_object_get(root, "start_usec"));
	*ret = TAKE_STRUCT(m);
	return 0;
}

int manager_unit_ask(const char *unit, struct manager_unit *ret)
{
	_cleanup_(freep) char *answer = NULL;
	char question[128];
	int r;

	snprintf(question, sizeof(question), MANAGER_UNIT_QUESTION " %s", unit);
	r = helper_ask(MANAGER_SOCKET, question, ASK_USEC, &answer);
	return r < 0 ? r : parse_unit(answer, ret);
}
