/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include "base/log.h"
#include "doors/rdma.h"
#include "live.h"
#include "observe/modprobe.h"
#include "plan/steps.h"

static int look(void *userdata, const struct config *c _unused_, const struct plan *tried _unused_,
		struct node *ret)
{
	struct options *o = userdata;
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(o->files) && o->files[i].path && r >= 0; i++)
		r = observe_option_file(&o->doors->fs, o->files[i].path, &o->files[i].have);
	if (r >= 0)
		*ret = (struct node){};
	return r;
}

/* The netns mode, when the files are written. */
static int answer(void *userdata, enum question q, const struct plan *p, struct node *n)
{
	const struct options *o = userdata;
	struct netlink *rdma = &o->doors->rdma;
	int r;

	if (q > 0 || !o->config || o->config->rdma.netns_mode == NETNS_MODE_KEEP ||
	    !o->doors->fs.is_live || has_open_changes(p))
		return 0;
	r = netlink_open(rdma);
	if (r == -EPROTONOSUPPORT) /* a kernel without RDMA, or its module is not installed */
		return 0;
	if (r >= 0)
		r = rdma_get_netns_mode(rdma, &n->netns_mode);
	return r < 0 ? log_error_errno(r, "The RDMA netns mode cannot be read") : 1;
}

static int make_plan(const struct pass *pass, const struct node *n, const struct plan *tried,
		     struct plan *ret)
{
	const struct options *o = pass->userdata;
	_cleanup_(plan_done) struct plan p = {};
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(o->files) && o->files[i].path && r >= 0; i++)
		r = plan_option_file(&o->files[i], &p);
	if (r >= 0 && o->config)
		r = plan_netns(o->config, n, &p);
	if (r < 0)
		return r;
	plan_mark_tried(tried, &p);
	*ret = TAKE_STRUCT(p);
	return 0;
}

int options_put(struct options *o)
{
	static const struct config nothing;
	const struct pass pass = {
		.make_plan = make_plan, .config = &nothing, .is_settled = true, .userdata = o
	};
	struct world w = live_world(o->doors);
	struct pass_result result = {};
	int r;

	w.look = look;
	w.answer = answer;
	w.userdata = o;
	r = run_rounds(&w, &pass, &result);
	for (size_t i = 0; i < ELEMENTSOF(o->files); i++)
		free(o->files[i].have);
	return r < 0 ? r : result.n_changes;
}
