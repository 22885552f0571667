/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include "base/log.h"
#include "live.h"
#include "observe/modprobe-observe.h"
#include "os/rdma.h"
#include "plan/steps.h"

static int look(void *userdata, const struct config *c _unused_, struct attempts *tried,
		struct node *ret, struct memory *ret_memory)
{
	struct options *o = userdata;

	for (size_t i = 0; i < ELEMENTSOF(o->files) && o->files[i].path; i++) {
		int r = observe_option_file(&o->os->fs, o->files[i].path, &o->files[i].have);

		if (r < 0)
			return log_error_errno(r, "/%s", o->files[i].path);
	}
	*ret = (struct node){};
	*ret_memory = (struct memory){ .tried = tried };
	return 0;
}

static int answer(void *userdata, const struct questions *q _unused_,
		  const struct memory *memory _unused_, struct node *n)
{
	const struct options *o = userdata;
	struct netlink *rdma = &o->os->rdma;
	int r;

	r = netlink_open(rdma);
	if (r == -EPROTONOSUPPORT) /* a kernel without RDMA, or its module is not installed */
		return 0;
	if (r < 0)
		return log_error_errno(r, "The RDMA netns mode cannot be read");
	r = rdma_get_netns_mode(rdma, &n->netns_mode);
	return r < 0 ? log_error_errno(r, "The RDMA netns mode cannot be read") : 1;
}

/* The netns mode matters when the files are written. */
static void ask(const struct options *o, const struct node *n, struct plan *p)
{
	const uint32_t question = 1u << QUESTION_NETNS_MODE;

	if (o->config && o->config->rdma.netns_mode != NETNS_MODE_KEEP && o->os->fs.is_live &&
	    !plan_has_open_changes(p))
		p->questions.set = question & ~n->asked;
}

static int make_plan(const struct pass *pass, const struct node *n, const struct memory *memory,
		     struct plan *ret)
{
	const struct options *o = pass->userdata;
	_cleanup_(plan_done) struct plan p = {};
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(o->files) && o->files[i].path && r >= 0; i++)
		r = plan_option_file(&o->files[i], &p);
	if (r >= 0 && o->config)
		r = plan_netns(o->config, n, memory, &p);
	if (r < 0)
		return r;
	plan_mark_tried(memory->tried, &p);
	ask(o, n, &p);
	*ret = TAKE_STRUCT(p);
	return 0;
}

int options_put(struct options *o)
{
	static const struct config nothing;
	const struct pass pass = {
		.make_plan = make_plan, .config = &nothing, .is_wait_over = true, .userdata = o
	};
	struct world w = live_world(o->os);
	struct pass_result result = {};
	int r;

	w.look = look;
	w.answer = answer;
	w.userdata = o;
	r = loop_rounds(&w, &pass, &result);
	for (size_t i = 0; i < ELEMENTSOF(o->files); i++)
		free(o->files[i].have);
	return r < 0 ? r : result.n_changes;
}
