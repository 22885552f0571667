/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

#include "../base/log.h"
#include "../config/config-read.h"
#include "../model/memory.h"
#include "../model/paths.h"
#include "../os/memory-file.h"
#include "../show/state.h"
#include "../step/attempts-plan.h"
#include "../step/steps.h"
#include "apply.h"
#include "boots-apply.h"
#include "live.h"
#include "plan-make.h"
#include "report.h"

#include <fcntl.h>

#define LONG_USEC (20 * USEC_PER_SEC) /* a pass that takes longer looks and tells the state */

#define MAX_ROUNDS 16 /* a step opens the next: modules, VFs, drivers, links, addresses, files */

int loop_add_config_changed(const struct config *c, const struct memory *memory, struct plan *p)
{
	if (*memory->last_hash && !c->is_invalid && !streq(memory->last_hash, c->hash))
		plan_add_hint(p, REASON_CONFIG_CHANGED, "", NULL);
	return plan_result(p);
}

/* A device that was usable before this pass and is not since a look of this pass. */
struct loss {
	char pci[PCI_LEN];
	uint64_t since_usec; /* of the first look of this pass that found it so */
};

/* A pass, or a look for one, and how far it has come. */
struct progress {
	const struct world *world;
	const struct pass *pass;
	struct attempts tried;
	const char *clear; /* the NIC whose losses are forgotten; NULL: none */
	bool is_recalling; /* what failed before has failed in the next plan as well */
	bool is_wait_over;
	struct loss *losses; /* owned */
	size_t n_losses;
	const struct node *node; /* of this round */
	const struct plan *plan; /* of this round */
	struct boot_notes notes;
	uint32_t n_rounds; /* of those that began actions */
	uint64_t started_usec;
	uint64_t look_usec; /* how long the last look took */
	bool is_out_of_memory;
};

static void progress_done(struct progress *pr)
{
	attempts_done(&pr->tried);
	boot_notes_done(&pr->notes);
	free(pr->losses);
}

static uint64_t now(const struct world *w)
{
	return w->now_usec(w->userdata);
}

static struct loss *find_loss(const struct progress *pr, const char *pci)
{
	return FIND(l, pr->losses, pr->n_losses, streq(l->pci, pci));
}

/* A pass may take minutes: a loss for SettleSec= within it counts, as after a second pass. */
static void remember_losses(const struct progress *pr, struct memory *memory)
{
	const uint64_t settle_usec = pr->pass->config->service.settle_usec;

	for (size_t i = 0; i < memory->n_devices; i++) {
		const struct loss *loss = find_loss(pr, memory->devices[i].pci);

		if (loss && now(pr->world) - loss->since_usec >= settle_usec)
			memory->devices[i].was_lost = true;
	}
}

static bool is_lost(const struct node *n, const struct plan *p, const struct device_memory *m)
{
	const struct device *d =
		FIND(it, p->devices, p->n_devices, streq(it->pci->address, m->pci));

	return m->was_usable && (d ? !d->is_usable : !node_pci(n, m->pci));
}

static int note_losses(struct progress *pr, const struct node *n, const struct memory *memory,
		       const struct plan *p)
{
	FOREACH(m, memory->devices, memory->n_devices) {
		struct loss *loss = find_loss(pr, m->pci);

		if (!loss && is_lost(n, p, m)) {
			loss = APPEND(pr->losses, pr->n_losses);
			if (!loss)
				return -ENOMEM;
			COPY(loss->pci, m->pci);
			loss->since_usec = now(pr->world);
		} else if (loss && !is_lost(n, p, m)) {
			*loss = pr->losses[--pr->n_losses];
		}
	}
	return 0;
}

static int make_plan(const struct progress *pr, const struct node *n, const struct memory *memory,
		     struct plan *p)
{
	const struct pass *pass = pr->pass;

	plan_done(p);
	if (pass->make_plan)
		return pass->make_plan(pass, n, memory, &pr->tried, p);
	return plan_make(pass->config, n, memory, &pr->tried, pr->is_wait_over, p);
}

/* A plan that asks for facts is made again with them. Each is asked for once in a look. */
static int ask_and_plan(const struct progress *pr, struct node *n, const struct memory *memory,
			struct plan *p)
{
	int r = make_plan(pr, n, memory, p);

	while (r >= 0 && p->questions.set) {
		n->asked |= p->questions.set;
		r = pr->world->answer(pr->world->userdata, &p->questions, memory, n);
		if (r == 0)
			break;
		if (r > 0)
			r = make_plan(pr, n, memory, p);
	}
	return r < 0 || pr->pass->make_plan ? r : plan_finish(pr->pass->config, n, memory, p);
}

/* The number stays: it only grows in a boot. */
static void clear_losses(const struct progress *pr, struct memory *memory)
{
	for (size_t i = 0; i < memory->n_devices && pr->clear; i++)
		if (streq(memory->devices[i].pci, pr->clear)) {
			memory->devices[i].losses.n_last = 0;
			memory->devices[i].aer = UINT32_MAX;
		}
}

/* Drops remembered failures and attempts that no longer apply. */
static int settle_memory(struct progress *pr, struct node *n, struct memory *memory)
{
	const struct config *c = pr->pass->config;
	int r;

	n->is_by_hand = pr->pass->is_by_hand;
	if (pr->pass->make_plan)
		return 0;
	plan_forget_names(c, n, memory);
	remember_losses(pr, memory);
	clear_losses(pr, memory);
	r = pr->is_recalling ? plan_recall_failures(c, n, memory, pr->pass->is_retry, &pr->tried)
			     : 0;
	if (r < 0)
		return r;
	pr->is_recalling = false;
	plan_forget_replaced(n, &pr->tried);
	r = plan_note_repeats(c, n, &pr->tried, memory);
	plan_forget_ended(n, &pr->tried, memory);
	return r;
}

void inspection_done(struct inspection *in)
{
	plan_done(&in->plan);
	node_done(&in->node);
	memory_done(&in->memory);
}

static int look_and_plan(struct progress *pr, struct inspection *ret)
{
	_cleanup_(inspection_done) struct inspection in = {};
	const struct world *w = pr->world;
	int r = w->look(w->userdata, pr->pass->config, &pr->tried, &in.node, &in.memory);

	if (r >= 0)
		r = settle_memory(pr, &in.node, &in.memory);
	if (r >= 0)
		r = ask_and_plan(pr, &in.node, &in.memory, &in.plan);
	if (r >= 0)
		r = plan_result(&in.plan);
	if (r >= 0)
		*ret = TAKE_STRUCT(in); /* the plan points into arrays, which keep their place */
	return MIN(r, 0);
}

int loop_plan(struct os *d, const struct config *c, struct inspection *ret)
{
	const struct world w = live_world(d);
	const struct pass pass = { .config = c };
	struct progress pr = { .world = &w, .pass = &pass };
	int r = look_and_plan(&pr, ret);

	if (r >= 0)
		ret->plan.tried = NULL;
	return r;
}

static int lock_pass(const struct fs *fs, const struct pass *pass)
{
	_cleanup_(closep) int fd = fs_open_lock(fs, LOCK_PATH);
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fd < 0)
		return fd;

	if (fcntl(fd, F_SETLK, &whole) < 0) {
		if (errno != EAGAIN && errno != EACCES)
			return -errno;
		if (pass && pass->on_wait)
			pass->on_wait(pass->userdata, false);
		else
			log_info("Another pass is running, waiting for its end");
		while (fcntl(fd, F_SETLKW, &whole) < 0)
			if (errno != EINTR)
				return -errno;
		if (pass && pass->on_wait)
			pass->on_wait(pass->userdata, true);
	}

	return TAKE_FD(fd);
}

int loop_lock(const struct fs *fs, const struct pass *pass)
{
	int fd = lock_pass(fs, pass);

	return fd < 0 ? log_error_errno(fd, "/" LOCK_PATH) : fd;
}

static int save_last_good(const struct fs *fs, const struct config *c)
{
	_cleanup_(freep) char *text = NULL;
	int r;

	if (c->is_invalid)
		return 0;
	r = config_text(c, &text);
	if (r < 0)
		return r;

	r = fs_replace(fs, LAST_GOOD_PATH, text, strlen(text), 0600);
	return r < 0 ? r : 0;
}

/* Remembers what is tried, so that the next round's plan knows what goes on and what failed. */
static void on_start(void *userdata, const struct action *a, uint64_t deadline_usec)
{
	struct progress *pr = userdata;
	const struct pass *pass = pr->pass;

	pr->is_out_of_memory |= attempts_begin(&pr->tried, a) < 0;
	boot_notes_start(&pr->notes, &pr->world->os->fs, pass->config, pr->node, a);
	if (pass->on_start)
		pass->on_start(pass->userdata, a, deadline_usec);
}

static void on_end(void *userdata, const struct action *a)
{
	struct progress *pr = userdata;
	const struct world *w = pr->world;

	report_action(a);
	boot_notes_end(&pr->notes, pr->pass->config, pr->node, a);
	attempts_end(&pr->tried, a);
	/* How far the pass has come in changing the node. Files that tell of it are no steps. */
	if (a->result >= 0 && !verb_has(a->verb, OUTPUT))
		pr->tried.change =
			(struct last_change){ pr->tried.change.steps + 1, w->time_sec(w->userdata),
					      now(w) - pr->started_usec };
}

/* Finds the same change, or the one in its place, in a plan that was made again. */
static const struct action *find_again(const struct plan *p, const struct action *a)
{
	const struct action *found = NULL;

	FOREACH(b, p->actions, p->n_actions) {
		if (b->verb != a->verb || !streq(b->target, a->target))
			continue;
		if (action_is_open(b) && action_is_same_step(b, a))
			return b;
		if (!found || b->class != CLASS_CHANGE)
			found = b;
	}
	return found;
}

/* Has one got or lost a user since the plan was made? */
static bool has_other_users(const struct plan *old, const struct plan *p)
{
	const struct device *before;

	return ANY(d, p->devices, p->n_devices,
		   (before = plan_device(old, d->pci)) && before->use != d->use);
}

/*
 * Between look and write a process may have begun to use it. What is taken away from a process
 * cannot be given back, so the whole look is made again right before, with the same result or not
 * at all.
 */
static int recheck(void *userdata, const struct action *a, char *words, size_t size)
{
	_cleanup_(inspection_done) struct inspection in = {};
	struct progress *pr = userdata;
	const struct action *now;
	int r = look_and_plan(pr, &in);

	if (r < 0) {
		snprintf(words, size, "the node could not be looked at again right before");
		return r;
	}

	now = find_again(&in.plan, a);
	if (now && action_is_open(now) && action_is_same_step(now, a))
		return has_other_users(pr->plan, &in.plan);
	if (now && now->class != CLASS_CHANGE)
		snprintf(words, size, "came in between: %s",
			 now->detail[0] ? now->detail : reason_meaning(now->reason));
	else
		snprintf(words, size, "the node changed in between, it is not wanted any more");
	return -EBUSY;
}

static void summarise(const struct plan *p, struct pass_result *ret)
{
	uint32_t n_out = 0, n_usable = 0;

	for (size_t i = 0; i < p->n_devices; i++) {
		n_out += p->devices[i].is_handed_out;
		n_usable += p->devices[i].is_handed_out && p->devices[i].is_usable;
		ret->n_lost += p->devices[i].is_lost;
	}
	ret->n_lost += p->n_gone;
	/* No event tells that a plugin was restarted. */
	for (size_t i = 0; i < p->n_reasons; i++)
		ret->n_waiting += p->reasons[i].reason == REASON_PLUGIN_RESTART_NEEDED;
	FOREACH(action, p->actions, p->n_actions) {
		ret->n_lost += action->reason == REASON_DEVICE_LOST;
		/* A contested change has a time of its own, again_usec below. */
		ret->n_waiting += action->class == CLASS_WAITING &&
				  !action_is_best_effort(action) && !action->is_missing &&
				  action->reason != REASON_CONTESTED;
		ret->n_absent += action->class == CLASS_WAITING &&
				 (action->reason == REASON_NO_IBDEV ||
				  action->reason == REASON_DRIVER_CONTAINER);
		/* Best-effort actions are tried again at events; a full disk causes none. */
		ret->n_failed += action->is_done && action->result < 0 &&
				 action->verb != VERB_RELOAD_UNITS &&
				 (!action_is_best_effort(action) || verb_has(action->verb, OUTPUT));
	}

	ret->n_silent = p->n_silent;
	ret->again_usec = p->again_usec;

	PRINT(ret->summary, "%s: %" PRIu32 " of %" PRIu32 " devices usable%s",
	      node_state_name(p->state), n_usable, n_out, p->n_missing ? ", some missing" : "");
}

/*
 * To the journal, what a state of this boot has that the one before had not. A node that asks for
 * nothing is not told to be ready, and neither is one that is ready still.
 */
static int tell_news(const struct plan *p, const char *before, const char *state)
{
	_cleanup_(freep) struct news *news = NULL;
	enum node_state old = NODE_STARTING;
	struct pass_result result = {};
	size_t n = 0;
	int r;

	if (before && streq(before, state))
		return 0;
	r = output_news(before, state, &news, &n);
	if (r < 0)
		return r;
	report_news(p, news, n);

	if (before && output_read_state(before, NULL, &old) < 0)
		old = NODE_STARTING;
	if (p->state == NODE_STARTING || p->state == old ||
	    (old == NODE_STARTING && p->state == NODE_READY && p->n_devices == 0))
		return 0;
	summarise(p, &result);
	report_change_of_state(p->state, result.summary);
	return 0;
}

static int write_state(const struct fs *fs, const struct config *c, const struct node *n,
		       const struct memory *memory, const struct plan *p)
{
	_cleanup_(freep) char *state = NULL, *before = NULL;
	_cleanup_(memory_done) struct memory next = {};
	int r = output_state(c, n, memory, p, &state);

	if (r >= 0)
		r = plan_remember(c, n, memory, p, &next);
	if (r < 0)
		return r;
	r = fs_read_all(fs, STATE_PATH, MAX_STATE_BYTES, false, &before, NULL);
	if (r == -ENOMEM)
		return r;
	r = memory_write(fs, MEMORY_BOOT, &pass_memory_fields, &next);
	if (r < 0)
		return log_error_errno(r, "What is remembered cannot be written to "
					  "/" MEMORY_BOOT_PATH);
	r = report_state(fs, c, n, p, state);
	if (r < 0)
		return log_error_errno(r, "The state cannot be written to /" STATE_PATH);
	return tell_news(p, before, state);
}

/* Looks at the node and plans. The first look of a pass recalls failures of earlier passes. */
static int look_again(struct progress *pr, bool is_first, struct inspection *in)
{
	const struct pass *pass = pr->pass;
	int r;

	pr->is_wait_over = pass->is_wait_over ||
			   (pass->wait_end_usec > 0 && now(pr->world) >= pass->wait_end_usec);
	pr->is_recalling = is_first && !(pass->is_first && pass->is_retry);
	pr->look_usec = now(pr->world);
	r = look_and_plan(pr, in);
	pr->look_usec = now(pr->world) - pr->look_usec;
	if (r < 0 || pass->make_plan)
		return r;
	r = note_losses(pr, &in->node, &in->memory, &in->plan);
	if (r < 0)
		return r;
	if (is_first && pass->on_looked)
		pass->on_looked(pass->userdata, in->plan.is_whole);
	if (is_first)
		r = boot_notes_open(&in->node, &in->memory, &pr->notes);
	if (r < 0)
		return r;
	if (!pass->is_service || !in->node.is_held)
		return 0;
	in->plan.state = NODE_DEGRADED; /* nothing that is missing will be made */
	plan_add_hint(&in->plan, REASON_HELD, "", NULL);
	return plan_result(&in->plan);
}

/* Logs what is left of make_plan(). Return: 0, or -errno of what failed or was not to be tried. */
static int tell_what_is_left(const struct plan *p)
{
	int r = 0;

	FOREACH(a, p->actions, p->n_actions) {
		if (a->is_done) { /* told when it failed */
			r = MIN(r, a->result);
			continue;
		}
		log_warning("%s: %s is left: %s: %s", a->target, verb_name(a->verb),
			    reason_meaning(a->reason), a->detail);
		r = -EBUSY;
	}
	return r;
}

static int conclude(struct progress *pr, const struct node *n, const struct memory *memory,
		    const struct plan *p, struct pass_result *ret)
{
	const struct fs *fs = &pr->world->os->fs;
	const struct pass *pass = pr->pass;

	if (pass->make_plan)
		return tell_what_is_left(p);
	boot_notes_conclude(&pr->notes, fs, pass->config, n, memory, p);
	ret->state = p->state;
	ret->exit_code = report_exit_code(p);
	summarise(p, ret);
	COPY(ret->files[0], n->kubelet.file);
	COPY(ret->files[1], n->kubelet.folder);
	ret->is_watched = config_watches_links(pass->config);
	return write_state(fs, pass->config, n, memory, p);
}

/*
 * Writes the state before the pass ends: a driver whose firmware does not answer is at a probe for
 * two minutes, and what became of the other cards is known by then. This comes before the time
 * limit as well: degrade() adds to the state that was written last.
 */
static int write_meanwhile(struct progress *pr, const struct apply *ap, const struct node *n,
			   const struct memory *memory, struct plan *p)
{
	char text[192];
	int r;

	if (!pr->pass->is_service || pr->pass->make_plan ||
	    now(pr->world) - pr->started_usec < LONG_USEC)
		return 0;
	action_describe(apply_oldest(ap), text, sizeof(text));
	if (pr->is_wait_over)
		plan_add_hint(p, REASON_READY_TIMEOUT, "", "%s", text);
	r = plan_result(p) ?: write_state(&pr->world->os->fs, pr->pass->config, n, memory, p);
	FOREACH(a, pr->tried.actions, pr->tried.n_actions)
		a->is_noted |= r >= 0 && a->is_done;
	return r;
}

/*
 * The time of the next look if no action ends before. Events go to the service's main process:
 * while an action takes long, this one learns of other changes by looking alone.
 */
static uint64_t wait_until(const struct progress *pr)
{
	const uint64_t end_usec = pr->is_wait_over ? 0 : pr->pass->wait_end_usec;
	const uint64_t long_usec = now(pr->world) + LONG_USEC;

	return end_usec > 0 ? MIN(end_usec, long_usec) : long_usec;
}

/* Looks once, and begins the actions that can begin. Return: 1 when nothing is left, 0 or
 * -errno. */
static int run_round(struct progress *pr, struct apply *ap, struct pass_result *ret)
{
	_cleanup_(inspection_done) struct inspection in = {};
	const struct pass *pass = pr->pass;
	const struct world *w = pr->world;
	int r = look_again(pr, pr->n_rounds == 0, &in);

	if (r < 0)
		return r;
	pr->node = &in.node;
	pr->plan = &in.plan;
	ap->grace_usec = pr->look_usec;
	ap->is_stale = false;
	if (plan_has_open_changes(&in.plan) && pr->n_rounds < MAX_ROUNDS + in.node.n_pcis &&
	    !(pass->is_service && in.node.is_held)) {
		/* The state of an old configuration must not be taken for this one's. */
		if (!pass->make_plan && !streq(in.memory.last_hash, pass->config->hash))
			r = write_state(&w->os->fs, pass->config, &in.node, &in.memory, &in.plan);
		if (r >= 0)
			r = apply_some(ap, &in.node, &in.memory, &in.plan, wait_until(pr));
	}
	pr->n_rounds += r > 0;
	ret->n_changes += MAX(r, 0);
	if (r >= 0 && pr->is_out_of_memory) /* what is not remembered would be tried for ever */
		r = -ENOMEM;
	if (r != 0 || ap->is_stale)
		return MIN(r, 0);
	if (!apply_is_busy(ap)) {
		r = conclude(pr, &in.node, &in.memory, &in.plan, ret);
		return r < 0 ? r : 1;
	}
	if (pass->on_wait_for)
		pass->on_wait_for(pass->userdata, apply_oldest(ap));
	r = write_meanwhile(pr, ap, &in.node, &in.memory, &in.plan);
	apply_wait(ap, &in.node, wait_until(pr));
	return MIN(r, 0);
}

/* Rounds of plan and apply, until there is nothing to do that was not tried. */
int loop_rounds(const struct world *w, const struct pass *pass, struct pass_result *ret)
{
	_cleanup_(progress_done) struct progress pr = {
		.world = w,
		.pass = pass,
		/* An administrator wants the change now, however often another program undid it. */
		.tried = { .is_asked = !pass->is_service || pass->is_first,
			   .is_first = pass->is_first },
		.started_usec = now(w)
	};
	const struct apply_hooks hooks = { on_start, on_end, recheck, &pr };
	_cleanup_(apply_done) struct apply ap = { .world = w, .hooks = &hooks };
	int r = 0;

	while (r == 0)
		r = run_round(&pr, &ap, ret);
	return MIN(r, 0);
}

int loop_pass(const struct world *w, const struct pass *pass, struct pass_result *ret)
{
	const struct fs *fs = &w->os->fs;
	struct pass_result result = {};
	int r;
	_cleanup_(closep) int lock_fd = loop_lock(fs, pass);

	if (lock_fd < 0)
		return lock_fd;

	r = pass->is_kept ? save_last_good(fs, pass->config) : 0;
	if (r < 0 && pass->is_first) /* "/var" may be read-only or not there yet */
		log_warning_errno(r, "/" LAST_GOOD_PATH ": not kept");

	r = loop_rounds(w, pass, &result);
	if (r >= 0)
		*ret = result;
	return r;
}

int loop_clear(const struct world *w, const struct config *c, const char *pci)
{
	_cleanup_(inspection_done) struct inspection in = {};
	_cleanup_(closep) int lock = loop_lock(&w->os->fs, NULL);
	const struct pass pass = { .config = c, .is_service = true };
	_cleanup_(progress_done) struct progress pr = { .world = w, .pass = &pass, .clear = pci };
	int r = lock < 0 ? lock : look_again(&pr, true, &in);

	if (r >= 0 && !streq(in.memory.last_hash, c->hash))
		r = -ESTALE;
	if (r < 0)
		return r;
	in.plan.state =
		in.memory.last_state; /* what there is to be done is for the next pass to judge */
	return write_state(&w->os->fs, c, &in.node, &in.memory, &in.plan);
}

int loop_state(struct os *d, const struct config *c, bool is_of_node, char **ret)
{
	_cleanup_(inspection_done) struct inspection in = {};
	const struct world w = live_world(d);
	const struct pass pass = { .config = c };
	/* Failures of earlier passes are reported as a pass reports them. */
	_cleanup_(progress_done) struct progress pr = { .world = &w,
							.pass = &pass,
							.is_recalling = true };
	int r = look_and_plan(&pr, &in);

	if (r >= 0 && is_of_node)
		r = loop_add_config_changed(c, &in.memory, &in.plan);
	return r < 0 ? r : output_state(c, &in.node, &in.memory, &in.plan, ret);
}
