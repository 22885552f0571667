/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include "../base/document.h"
#include "../base/log.h"
#include "../model/units.h"
#include "helper.h"

#define SOCKET        "/run/rdma-provision-manager.socket"
#define KUBELET_UNIT  "rdma-provision-kubelet.service"
#define UDEV_UNIT     "systemd-udevd.service"
#define NETWORKD_UNIT "systemd-networkd.service"
#define READ_UNIT     "unit"
#define READ_USEC     (2 * USEC_PER_SEC) /* systemd may be busy; then the files tell */
#define RESULT_LEN    64

static int start_kubelet_unit(_unused_ const char *argument, uint64_t timeout_usec,
			      char ret[static RESULT_LEN])
{
	return manager_start_unit(KUBELET_UNIT, timeout_usec, ret, RESULT_LEN);
}

static int reload_udev(_unused_ const char *argument, uint64_t timeout_usec,
		       _unused_ char ret[static RESULT_LEN])
{
	return manager_reload_unit(UDEV_UNIT, timeout_usec);
}

static int reload_networkd(const char *argument, uint64_t timeout_usec,
			   _unused_ char ret[static RESULT_LEN])
{
	uint64_t started;
	int r;

	r = manager_get_start(NETWORKD_UNIT, &started);
	if (r < 0)
		return r;
	if (started == 0 || started > strtoull(argument, NULL, 10))
		return 0;
	return manager_reload_networkd(timeout_usec);
}

static int reload_units(_unused_ const char *argument, uint64_t timeout_usec,
			_unused_ char ret[static RESULT_LEN])
{
	return manager_reload(timeout_usec);
}

static const struct {
	const char *name;
	int (*make)(const char *argument, uint64_t timeout_usec, char ret[static RESULT_LEN]);
	uint64_t timeout_usec; /* below the deadline of the verb that makes it */
} requests[] = {
	[REQUEST_KUBELET] = { "kubelet", start_kubelet_unit, 25 * USEC_PER_SEC },
	[REQUEST_UDEV] = { "udev", reload_udev, 25 * USEC_PER_SEC },
	[REQUEST_NETWORKD] = { "networkd", reload_networkd, 10 * USEC_PER_SEC },
	[REQUEST_RELOAD] = { "reload", reload_units, 50 * USEC_PER_SEC }, /* all generators run */
};
_Static_assert(ELEMENTSOF(requests) == _REQUEST_N, "a line for every request");

void request_prepare(void)
{
	const int r = helper_wake(SOCKET);

	if (r < 0 && r != -EHOSTDOWN)
		log_debug_errno(r, SOCKET);
}

int request_make(enum request what, const char *argument, char *ret_words, size_t size)
{
	const uint64_t timeout_usec = requests[what].timeout_usec;
	_cleanup_(freep) char *answer = NULL;
	char words[RESULT_LEN] = "", question[128];
	int r;

	r = requests[what].make(argument, timeout_usec, words);
	if (r == -EHOSTDOWN) {
		snprintf(question, sizeof(question), "%s %s", requests[what].name, argument);
		r = helper_ask(SOCKET, question, timeout_usec, &answer);
	}
	if (ret_words)
		copy(ret_words, size, answer ? answer : words);
	return r;
}

/* A unit as text */

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

static int write_unit(const struct manager_unit *m, char **ret)
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

int request_unit(const char *unit, bool may_help, struct manager_unit *ret)
{
	_cleanup_(freep) char *answer = NULL;
	char question[128];
	int r;

	r = manager_read_unit(unit, READ_USEC, ret);
	if (r != -EHOSTDOWN || !may_help)
		return r;
	snprintf(question, sizeof(question), READ_UNIT " %s", unit);
	/* The helper has to be started as well. */
	r = helper_ask(SOCKET, question, 5 * READ_USEC, &answer);
	return r < 0 ? r : parse_unit(answer, ret);
}

static bool is_kubelet_unit(const char *unit)
{
	for (size_t i = 0; i < ELEMENTSOF(kubelet_units); i++)
		if (streq(kubelet_units[i], unit))
			return true;
	return false;
}

static int serve_unit(const char *unit, char **ret_answer)
{
	_cleanup_(manager_unit_done) struct manager_unit m = {};
	int r;

	if (!is_kubelet_unit(unit))
		return -EPERM;
	r = manager_read_unit(unit, READ_USEC, &m);
	return r < 0 ? r : write_unit(&m, ret_answer);
}

int request_serve(const char *question, char **ret_answer)
{
	const size_t length = strcspn(question, " ");
	const char *argument = question + length + (question[length] != '\0');
	char name[16] = "", words[RESULT_LEN] = "";
	int r;

	snprintf(name, sizeof(name), "%.*s", (int)MIN(length, sizeof(name)), question);
	if (streq(name, READ_UNIT))
		return serve_unit(argument, ret_answer);

	for (size_t i = 0; i < ELEMENTSOF(requests); i++) {
		if (!streq(requests[i].name, name))
			continue;
		r = requests[i].make(argument, requests[i].timeout_usec, words);
		*ret_answer = strdup(words);
		return *ret_answer ? r : -ENOMEM;
	}
	return -EOPNOTSUPP;
}
