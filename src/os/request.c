/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include "../base/log.h"
#include "../model/units.h"
#include "helper.h"

#define KUBELET_UNIT  "rdma-provision-kubelet.service"
#define UDEV_UNIT     "systemd-udevd.service"
#define NETWORKD_UNIT "systemd-networkd.service"
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
	const int r = helper_wake(MANAGER_SOCKET);

	if (r < 0 && r != -EHOSTDOWN)
		log_debug_errno(r, MANAGER_SOCKET);
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
		r = helper_ask(MANAGER_SOCKET, question, timeout_usec, &answer);
	}
	if (ret_words)
		copy(ret_words, size, answer ? answer : words);
	return r;
}

static bool is_kubelet_unit(const char *unit)
{
	return ANY(k, kubelet_units, ELEMENTSOF(kubelet_units), streq(*k, unit));
}

static int serve_unit(const char *unit, char **ret_answer)
{
	_cleanup_(manager_unit_done) struct manager_unit m = {};
	int r;

	if (!is_kubelet_unit(unit))
		return -EPERM;
	r = manager_read_unit(unit, READ_USEC, &m);
	return r < 0 ? r : manager_unit_print(&m, ret_answer);
}

int request_serve(const char *question, char **ret_answer)
{
	const size_t length = strcspn(question, " ");
	const char *argument = question + length + (question[length] != '\0');
	char name[16] = "", words[RESULT_LEN] = "";
	int r;

	snprintf(name, sizeof(name), "%.*s", (int)MIN(length, sizeof(name)), question);
	if (streq(name, MANAGER_UNIT_QUESTION))
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
