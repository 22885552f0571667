/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manager unit: what systemd has loaded of a service, for programs without libsystemd.
 */
#include "manager.h"

#include "../base/document.h"
#include "../base/fields.h"
#include "helper.h"

/* systemd may be busy, or the helper slow to start; kubelet-ensure has five in all. */
#define ASK_USEC (4 * USEC_PER_SEC)

void manager_unit_done(struct manager_unit *m)
{
	words_done(&m->exec);
	words_done(&m->environment);
	words_done(&m->inherited);
	words_done(&m->env_files);
	*m = (struct manager_unit){};
}

struct word {
	char *text;
};

static const struct field word_rows[] = {
	FIELD(FIELD_OWNED, struct word, "word", text, .flags = FIELD_ALONE),
};
static const struct fields word_fields = FIELDS(word_rows, struct word);

#define WORDS(key, member)                                                                         \
	FIELD(FIELD_LIST, struct manager_unit, key, member.words, .of = &word_fields,              \
	      .count = offsetof(struct manager_unit, member.n))

static const struct field unit_rows[] = {
	WORDS("exec", exec),
	WORDS("environment", environment),
	WORDS("inherited", inherited),
	WORDS("env_files", env_files),
	NUMBER(struct manager_unit, "start_usec", start_usec),
};
static const struct fields unit_fields = FIELDS(unit_rows, struct manager_unit);

int manager_unit_print(const struct manager_unit *m, char **ret)
{
	json_auto_t *document = fields_pack(&unit_fields, m);

	return document ? document_dump(document, JSON_COMPACT, ret) : -ENOMEM;
}

static int parse_unit(const char *text, struct manager_unit *ret)
{
	_cleanup_(manager_unit_done) struct manager_unit m = {};
	json_auto_t *document = NULL;
	int r = document_parse(text, strlen(text), 0, &document, NULL);

	if (r >= 0)
		r = fields_parse(&unit_fields, document, &m, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : -EBADMSG;
	*ret = TAKE_STRUCT(m);
	return 0;
}

int manager_unit_ask(const char *unit, struct manager_unit *ret)
{
	_cleanup_(freep) char *answer = NULL;
	char question[128];
	int r;

	PRINT(question, MANAGER_UNIT_QUESTION "%s", unit);
	r = helper_ask(MANAGER_SOCKET, question, ASK_USEC, &answer);
	return r < 0 ? r : parse_unit(answer, ret);
}
