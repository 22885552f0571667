/* SPDX-License-Identifier: Apache-2.0 */
#include "live.h"

#include "base/log.h"
#include "doors/child.h"
#include "observe/generated.h"
#include "observe/kubelet.h"
#include "observe/net.h"
#include "observe/observe.h"
#include "observe/output.h"
#include "observe/plugin.h"
#include "output/state.h"

#include <poll.h>

static uint64_t tell_usec(void *userdata _unused_)
{
	return now_usec();
}

static int64_t tell_sec(void *userdata _unused_)
{
	return time(NULL);
}

static int look(void *userdata, const struct config *c, const struct plan *tried, struct node *ret)
{
	_cleanup_(node_done) struct node n = {};
	struct doors *d = userdata;
	int r;

	r = observe_node(d, output_parse_memory, tried, &n);
	if (r < 0)
		return log_error_errno(r, "The node cannot be observed");

	r = observe_health(d, &n);
	if (r >= 0)
		r = observe_generated(&d->fs, c);
	n.is_generated_stale = r > 0;
	if (r >= 0)
		r = observe_plugin(&d->fs, c, &n);
	if (r >= 0)
		r = observe_files(&d->fs, c, &n);
	if (r < 0)
		return r;

	*ret = TAKE_STRUCT(n);
	return 0;
}

static int answer_users(struct doors *d, const struct plan *p, struct node *n)
{
	int r;

	if (!d->fs.is_live || !needs_users(p))
		return 0;
	r = observe_users(d, n);
	return r < 0 ? r : 1;
}

static int answer_manager(struct doors *d, const struct plan *p, struct node *n)
{
	int r;

	if (!d->fs.is_live || !n->kubelet.is_unasked || !needs_manager(p))
		return 0;
	r = observe_kubelet_helped(&d->fs, &n->kubelet);
	return r < 0 ? r : 1;
}

static int answer_verbs(struct doors *d, const struct plan *p, struct node *n)
{
	return observe_verbs(d, p, n) > 0;
}

static int answer_lookups(struct doors *d, const struct plan *p, struct node *n)
{
	int r = observe_lookups(d, p, n);

	return MIN(r, 1);
}

static int answer(void *userdata, enum question q, const struct plan *p, struct node *n)
{
	static int (*const answers[])(struct doors *d, const struct plan *p, struct node *n) = {
		[QUESTION_USERS] = answer_users,
		[QUESTION_MANAGER] = answer_manager,
		[QUESTION_VERBS] = answer_verbs,
		[QUESTION_LOOKUPS] = answer_lookups,
	};
	_Static_assert(ELEMENTSOF(answers) == _QUESTION_N, "an answer to every question");

	return answers[q](userdata, p, n);
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

struct world live_world(struct doors *d)
{
	return (struct world){ .doors = d,
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
