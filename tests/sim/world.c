/* SPDX-License-Identifier: Apache-2.0 */
/*
 * World: struct world before the model. What is remembered comes from the files of this life, read
 * by the program's own readers.
 */
#include "../../src/model/world.h"
#include "../../src/device/rdma-observe.h"
#include "../../src/model/link-log.h"
#include "../../src/model/paths.h"
#include "../../src/model/route-facts.h"
#include "../../src/model/use-facts.h"
#include "../../src/os/child.h"
#include "../../src/pass/live.h"
#include "../../src/plugin/plugin-observe.h"
#include "../../src/show/state.h"
#include "../../src/step/observers.h"
#include "sim.h"

#include <poll.h>

#define MAX_RULES_BYTES (1u << 20)

static uint64_t tell_usec(void *userdata _unused_)
{
	return sim.now_usec;
}

static int64_t tell_sec(void *userdata _unused_)
{
	return time(NULL);
}

static int look_at_files(const struct config *c, const struct attempts *tried, struct node *n,
			 struct memory *memory)
{
	const struct fs *fs = &sim.os.fs;
	size_t size;
	int r;

	r = observe_memory(fs, tried, n, memory);
	observe_vfs(&sim.os, n, memory);
	if (r >= 0)
		r = fs_read_all(fs, RULES_PATH, MAX_RULES_BYTES, false, &n->rules_file, &size);
	observe_plugin(fs, c, n, memory);
	observe_files(fs, c, n);
	return r < 0 && r != -ENOENT ? r : node_result(n);
}

/* "revert" hands nothing out, and tells no pass what it saw. */
static void note_usable(void)
{
	sim.look_usec = sim.now_usec;
	for (size_t i = 0; i < sim.n_funcs; i++) {
		sim.funcs[i].was_refused_at_look = false;
		if (!sim.is_reverting) {
			const bool is_usable = func_is_usable(&sim.funcs[i]);

			if (is_usable || sim.funcs[i].was_usable_at_look)
				sim.funcs[i].lost_usec = is_usable ? 0 : sim.now_usec;
			sim.funcs[i].was_usable_at_look = is_usable;
			sim.funcs[i].was_with_pf_at_look = is_usable && sim.funcs[i].pf >= 0 &&
							   !sim.funcs[sim.funcs[i].pf].is_in_pod;
		}
		sim.funcs[i].was_lag_at_look = kernel_is_lag(&sim.funcs[i]);
		sim.funcs[i].was_cni_at_look = sim.funcs[i].cni_usec > sim.now_usec;
		/* Without an RDMA device, as the second port of a bond is, no look shows who uses
		 * it. */
		sim.funcs[i].was_used_at_look =
			(sim.funcs[i].user > 0 && func_has_ibdev(&sim.funcs[i])) ||
			sim.funcs[i].is_in_pod;
	}
}

static void note_failures(const struct attempts *t)
{
	for (size_t i = 0; t && i < t->n_actions; i++)
		if (t->actions[i].is_done)
			sim.reasons[action_failure(&t->actions[i])] = true;
}

static void note_reasons(const struct plan *p)
{
	for (size_t i = 0; p && i < p->n_actions; i++) {
		sim.reasons[p->actions[i].reason] = true;
		if (p->actions[i].is_done)
			sim.reasons[action_failure(&p->actions[i])] = true;
	}
	for (size_t i = 0; p && i < p->n_reasons; i++)
		sim.reasons[p->reasons[i].reason] = true;
	for (size_t i = 0; p && i < p->n_health; i++)
		sim.reasons[p->health[i].reason] = true;
	for (size_t i = 0; p && i < p->n_devices; i++)
		sim.reasons[p->devices[i].reason] = true;
}

int __wrap_plan_ask(const struct node *n, struct plan *p);
int __real_plan_ask(const struct node *n, struct plan *p);

/* The last step of each plan. */
int __wrap_plan_ask(const struct node *n, struct plan *p)
{
	note_reasons(p);
	links_see_plan(p);
	return __real_plan_ask(n, p);
}

static int look(void *userdata _unused_, const struct config *c, const struct attempts *tried,
		struct node *ret, struct memory *ret_memory)
{
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	int r;

	if (sim.is_dead)
		return -ECANCELED;
	kernel_show(&n);
	for (size_t i = 0; i < n.n_pcis; i++)
		n.pcis[i].is_busy |= attempts_is_being_written(tried, n.pcis[i].address);
	for (size_t i = 0; i < n.n_ibdevs; i++)
		rdma_find_netdev(&n, &n.ibdevs[i]);
	node_make_indexes(&n);
	if (sim.os.link_log)
		link_log_give(sim.os.link_log, &n);
	r = look_at_files(c, tried, &n, &memory);
	smc_show(&n);
	namespaces_show(&n);
	driver_show(&n);
	kubelet_show(c, &n);
	if (is_life_with_metadata())
		observe_metadata(&sim.os.fs, &n, &memory);
	if (r >= 0)
		r = node_result(&n);
	if (r < 0)
		return r;
	snprintf(n.program, sizeof(n.program), "%" PRIu32, sim.package);
	for (size_t i = 0; i < n.n_ibdevs; i++)
		rdma_recall(&n, &memory, &n.ibdevs[i]);
	node_forget_replaced(&n, &memory);
	observe_writer(&sim.os.fs, &n, tried, &memory);
	note_usable();
	links_look();
	note_failures(tried);

	*ret = TAKE_STRUCT(n);
	*ret_memory = TAKE_STRUCT(memory);
	return 0;
}

static void answer_users(struct node *n)
{
	for (size_t i = 0; i < sim.n_funcs; i++) {
		const struct func *f = &sim.funcs[i];
		struct user *u;

		if (!func_is_there(f) || (f->user == 0 && !f->is_in_pod))
			continue;
		u = GROW(n->users, n->n_users);
		COPY(u->target, f->address);
		u->use = !f->is_in_pod                ? USE_CONTEXT
			 : namespaces_has_followed(f) ? USE_IBDEV_NETNS
						      : USE_NETDEV_NETNS;
		u->pid = f->user;
		COPY(u->command, "job");
	}
	if (n->n_users > 1)
		qsort(n->users, n->n_users, sizeof(*n->users),
		      (int (*)(const void *, const void *))strcmp);
	n->has_users = true;
}

static void answer_verbs(const struct questions *q, struct node *n)
{
	for (size_t i = 0; i < q->n_ibdevs; i++) {
		struct ibdev *ib = (struct ibdev *)node_ibdev_named(n, q->ibdevs[i]);

		ib->verbs = sim_chance(sim.rates.late / 8) ? -EIO : 0;
		ib->active_mtu = 1024;
		if (ib->verbs < 0)
			kernel_find(ib->pci, strlen(ib->pci))->was_refused_at_look = true;
	}
}

static int answer(void *userdata _unused_, const struct questions *q,
		  const struct memory *memory _unused_, struct node *n)
{
	if (questions_ask(q, QUESTION_USERS))
		answer_users(n);
	if (questions_ask(q, QUESTION_DCB))
		priorities_answer(n);
	if (questions_ask(q, QUESTION_VERBS))
		answer_verbs(q, n);
	for (size_t i = 0; i < q->n_lookups && questions_ask(q, QUESTION_LOOKUPS); i++) {
		struct lookup *l = GROW(n->lookups, n->n_lookups);

		*l = q->lookups[i];
		routes_look_up(l);
	}
	return 1;
}

/* What it changes it changes now; its end comes when its time is over. */
static int begin(void *userdata _unused_, struct child *c, size_t i)
{
	struct job *job = sim.jobs;

	if (sim.is_dead)
		return -ECANCELED;
	while (job < sim.jobs + JOBS_MAX && job->is_there)
		job++;
	if (job == sim.jobs + JOBS_MAX)
		return -EAGAIN;
	*job = (struct job){ .is_there = true };
	sim.cost_usec = USEC_PER_MSEC;
	job->result = c->call(c->userdata, i, job->error);
	job->due_usec = sim.now_usec + sim.cost_usec;
	c->fd = (int)(job - sim.jobs);
	c->pid = 1000 + (pid_t)(sim.next_instance++);
	if (job->result < 0)
		others_see_failure(sim.doing);
	if (sim.writer_pid == UINT32_MAX)
		sim.writer_pid = (uint32_t)c->pid;
	sim_trace("  takes %" PRIu64 " ms, and ends with %d", sim.cost_usec / USEC_PER_MSEC,
		  job->result);
	return 0;
}

static int end(void *userdata _unused_, struct child *c, uint64_t until_usec, char *ret_error,
	       size_t size)
{
	struct job *job = &sim.jobs[c->fd];
	const uint64_t due = job->due_usec;

	if (sim.is_dead)
		return -ECANCELED;
	job->is_there = false;
	sim_advance(MIN(due, until_usec));
	c->pid = 0;
	if (due > until_usec)
		return -ETIMEDOUT;
	copy(ret_error, size, job->error);
	return job->result;
}

static void finish(struct child *c)
{
	c->pid = 0;
}

static void leave(struct child *c)
{
	sim.jobs[c->fd].is_there = false;
	c->pid = 0;
}

static int wait_until(void *userdata _unused_, struct pollfd *fds, size_t n, uint64_t until_usec)
{
	uint64_t next = until_usec;
	int n_ended = 0;

	for (size_t i = 0; i < n; i++)
		if (fds[i].fd >= 0)
			next = MIN(next, sim.jobs[fds[i].fd].due_usec);
	if (next == UINT64_MAX)
		sim_fail("the loop waits for what never comes");
	else if (!sim.is_dead)
		sim_advance(next);
	for (size_t i = 0; i < n; i++) {
		const bool is_over = fds[i].fd >= 0 &&
				     (sim.is_dead || sim.jobs[fds[i].fd].due_usec <= sim.now_usec);

		fds[i].revents = is_over ? POLLIN : 0;
		n_ended += is_over;
	}
	return n_ended;
}

struct world sim_world(void)
{
	return (struct world){ .os = &sim.os,
			       .now_usec = tell_usec,
			       .time_sec = tell_sec,
			       .look = look,
			       .answer = answer,
			       .begin = begin,
			       .end = end,
			       .finish = finish,
			       .leave = leave,
			       .wait = wait_until };
}
