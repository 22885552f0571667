/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request: what this program wants of systemd, and nothing else of it.
 *
 * A process that reaches systemd asks it itself (manager.h); one that does not, as the sandboxed
 * service, has the helper rdma-provision-manager.service ask. The helper accepts just these.
 */
#pragma once

#include "manager.h"

enum request {
	REQUEST_KUBELET, /* start rdma-provision-kubelet.service and wait; the answer is its job's
			    result word */
	REQUEST_UDEV,    /* reload systemd-udevd.service, as manager_reload_unit() */
	/* networkd reads its files again when it was started before a time, CLOCK_REALTIME in
	   microseconds: the argument. 0 also when it need not, or does not run. */
	REQUEST_NETWORKD,
	REQUEST_RELOAD, /* as manager_reload() */
	_REQUEST_N
};

/* A request will come soon: the helper's unit is started while the node is looked at. */
void request_prepare(void);

/*
 * @argument: "" where none is named above. @ret_words: of the answer, empty for none; may be NULL.
 * Return: 0 or as the functions of manager.h; -EHOSTDOWN: neither systemd nor the helper can be
 * asked.
 */
int request_make(enum request what, const char *argument, char *ret_words, size_t size);

/*
 * The helper's side: does what a question says. Return: as the request; -EPERM: a unit that has no
 * kubelet; -EOPNOTSUPP: there is no such request.
 */
int request_serve(const char *question, char **ret_answer);
