/* SPDX-License-Identifier: Apache-2.0 */
#include "live.h"

#include "../base/log.h"
#include "../device/rdma-observe.h"
#include "../guard/places-observe.h"
#include "../guard/users-observe.h"
#include "../health/limits-observe.h"
#include "../kubelet/look.h"
#include "../model/link-log.h"
#include "../os/child.h"
#include "../plugin/plugin-observe.h"
#include "../step/observers.h"
#include "observe.h"

#include <poll.h>

static uint64_t tell_usec(void *userdata _unused_)
{
	return now_usec();
}

static int64_t tell_sec(void *userdata _unused_)
{
	return time(NULL);
}

static int look_at(struct os *d, const struct config *c, const struct attempts *tried,
		   struct node *ret, struct memory *ret_memory)
{
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	int r;

	r = observe_node(d, tried, &n, &memory);
	if (r < 0)
		return log_error_errno(r, "The node cannot be observed");

	r = kubelet_look(&d->fs, c, n.is_copy, &n.kubelet, &n.kubelet_decision);
	if (r < 0)
		return r;
	r = observe_places(&d->fs, &n);
	if (r >= 0)
		r = observe_destinations_ask(d, &n);
	if (r < 0)
		return r;
	if (d->link_log)
		r = link_log_give(d->link_log, &n);
	if (r >= 0)
		r = observe_health(d, &n, &memory);
	if (r >= 0)
		r = observe_generated(&d->fs, c);
	if (r < 0)
		return r;
	n.is_generated_stale = r > 0;
	r = observe_plugin(&d->fs, c, &n, &memory);
	if (r >= 0)
		r = observe_files(&d->fs, c, &n);
	if (r < 0)
		return r;
	/* A file whose absence is not known either would count as absent. */
	if (d->fs.unread->error < 0)
		return log_error_errno(d->fs.unread->error, "The node cannot be observed: /%s",
				       d->fs.unread->path);

	*ret = TAKE_STRUCT(n);
	*ret_memory = TAKE_STRUCT(memory);
	return 0;
}

static int look(void *userdata, const struct config *c, const struct attempts *tried,
		struct node *ret, struct memory *ret_memory)
{
	struct os *d = userdata;
	struct fs_unread *callers = d->fs.unread, unread = {};
	int r;

	d->fs.unread = &unread;
	r = look_at(d, c, tried, ret, ret_memory);
	d->fs.unread = callers;
	for (size_t i = 0; i < MIN(unread.n, ELEMENTSOF(unread.paths)); i++) {
		fs_note_unread(&d->fs, unread.paths[i], -EACCES);
		if (!callers)
			log_warning_errno(-EACCES, "/%s", unread.paths[i]);
	}
	return r;
}

static int answer(void *userdata, const struct questions *q, const struct memory *memory,
		  struct node *n)
{
	struct os *d = userdata;
	int n_known = 0, r;

	observe_pcie(&d->fs, q, n); /* nothing is planned by it */
	r = observe_vf_owners(&d->fs, q, n);
	if (r < 0)
		return r;
	n_known = observe_link_downed(&d->fs, q, n);
	if (!d->fs.is_live)
		return n_known;
	if (questions_ask(q, QUESTION_USERS)) {
		r = observe_users(d, n, memory);
		if (r < 0)
			return r;
		n_known++;
	}
	if (questions_ask(q, QUESTION_SOCKS)) {
		r = observe_socks(d, n);
		if (r < 0)
			return r;
		n_known++;
	}
	r = observe_verbs(d, q, n);
	if (r < 0)
		return r;
	n_known += r;
	r = observe_lookups(d, q, n);
	if (r >= 0) {
		n_known += r;
		r = observe_dcbs(d, q, n, memory);
	}
	return r < 0 ? r : n_known + r > 0;
}

static int begin(void *userdata _unused_, struct child *c, size_t i)
{
	return child_begin(c, i);
}

static int end(void *userdata _unused_, struct child *c, uint64_t until_usec, char *ret_error,
	       size_t size)
{
	return child_end(c, until_usec, ret_error, size);
}

static void finish(void *userdata _unused_, struct child *c)
{
	child_done(c);
}

static void leave(void *userdata _unused_, struct child *c)
{
	child_leave(c);
}

static int wait_until(void *userdata _unused_, struct pollfd *fds, size_t n, uint64_t until_usec)
{
	const uint64_t now = now_usec();
	const uint64_t msec = until_usec > now ? (until_usec - now) / USEC_PER_MSEC + 1 : 0;

	return poll(fds, n, (int)MIN(msec, UINT64_C(3600000)));
}

struct world live_world(struct os *d)
{
	return (struct world){ .os = d,
			       .now_usec = tell_usec,
			       .time_sec = tell_sec,
			       .look = look,
			       .answer = answer,
			       .begin = begin,
			       .end = end,
			       .finish = finish,
			       .leave = leave,
			       .wait = wait_until,
			       .userdata = d };
}
