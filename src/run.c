/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "apply/apply.h"
#include "apply/boots.h"
#include "base/log.h"
#include "config/config.h"
#include "config/problem.h"
#include "doors/kmsg.h"
#include "live.h"
#include "load.h"
#include "model/paths.h"
#include "observe/observe.h"
#include "observe/plugin.h"
#include "output/check.h"
#include "output/explain-kubelet.h"
#include "output/explain-plugin.h"
#include "output/explain.h"
#include "output/files.h"
#include "output/metrics.h"
#include "output/plugin.h"
#include "output/state.h"
#include "plan/contest.h"
#include "plan/output.h"
#include "plan/plan.h"
#include "report/report.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sys/stat.h>

#define MAX_ROUNDS 16 /* a step opens the next: modules, VFs, drivers, links, addresses, files */

int run_open(const char *root, struct doors *ret)
{
	struct doors d = { .fs = { .root = -EBADF },
			   .route = { .protocol = NETLINK_ROUTE },
			   .rdma = { .protocol = NETLINK_RDMA },
			   .devlink = { .protocol = NETLINK_GENERIC },
			   .ethtool = { .protocol = NETLINK_GENERIC },
			   .smc = { .protocol = NETLINK_GENERIC } };
	int r;

	r = fs_open_root(root, &d.fs);
	if (r < 0)
		return r;

	/* What libkmod finds in the indexes of an unknown tree may be made to crash it. */
	d.modules.is_closed = !d.fs.is_live;
	*ret = d;
	return 0;
}

void run_close(struct doors *d)
{
	modules_done(&d->modules);
	netlink_done(&d->route);
	netlink_done(&d->rdma);
	netlink_done(&d->devlink);
	free(d->told);
	netlink_done(&d->ethtool);
	netlink_done(&d->smc);
	fs_done(&d->fs);
}

int run_add_config_changed(const struct config *c, const struct node *n, struct plan *p)
{
	return *n->last_hash && !c->is_invalid && !streq(n->last_hash, c->hash)
		       ? plan_add_hint(p, REASON_CONFIG_CHANGED, "", "")
		       : 0;
}

/* The files of [Output] tell of a plan that is made, so they come after it. */
static int add_outputs(const struct config *c, const struct plan *tried, struct node *n,
		       struct plan *p)
{
	const char *metrics = n->outputs[OUTPUT_METRICS].text;
	int r;

	if (tried && tried->change.steps > 0)
		n->last_change = tried->change;
	else if (metrics && metrics_read_change(metrics, &n->last_change) < 0)
		n->last_change = (struct last_change){}; /* nothing was changed yet */
	r = output_files(c, n, p);
	return r < 0 ? r : plan_outputs(c, n, tried, p);
}

/* Who looks and plans, and what for. */
struct view {
	const struct world *world;
	const struct pass *pass; /* NULL: nothing is changed */
	const struct config *config;
	struct plan *tried; /* NULL: nothing was */
	bool is_settled;
};

static bool has_goal(const struct view *v)
{
	return v->pass && v->pass->make_plan;
}

static int make_plan(const struct view *v, const struct node *n, struct plan *p)
{
	plan_done(p);
	*p = (struct plan){};
	if (has_goal(v))
		return v->pass->make_plan(v->pass, n, v->tried, p);
	return plan_make(v->config, n, v->tried, v->is_settled, output_plugin_all, p);
}

/* What was remembered or tried and is past by now. */
static int settle_memory(const struct view *v, struct node *n)
{
	int r;

	n->is_by_hand = v->pass && !v->pass->is_service;
	if (!v->tried || has_goal(v))
		return 0;
	plan_forget_replaced(n, v->tried);
	r = plan_note_repeats(v->config, v->tried, n);
	if (r >= 0)
		plan_forget_ended(v->tried, n);
	return r;
}

static int look_and_plan(const struct view *v, struct node *ret_node, struct plan *ret)
{
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};
	const struct world *w = v->world;
	int r;

	r = w->look(w->userdata, v->config, v->tried, &n);
	if (r >= 0)
		r = settle_memory(v, &n);
	if (r >= 0)
		r = make_plan(v, &n, &p);
	for (enum question q = 0; q < _QUESTION_N && r >= 0; q++) {
		r = w->answer(w->userdata, q, &p, &n);
		if (r > 0)
			r = make_plan(v, &n, &p);
	}
	if (r >= 0 && !has_goal(v))
		r = add_outputs(v->config, v->tried, &n, &p);
	if (r < 0)
		return r;

	/* The plan points into the arrays of the node, which keep their place. */
	*ret_node = TAKE_STRUCT(n);
	*ret = TAKE_STRUCT(p);
	return 0;
}

int run_plan(struct doors *d, const struct config *c, bool is_settled, struct plan *tried,
	     struct node *ret_node, struct plan *ret)
{
	const struct world w = live_world(d);
	const struct view v = {
		.world = &w, .config = c, .tried = tried, .is_settled = is_settled
	};

	return look_and_plan(&v, ret_node, ret);
}

/* All that is wrong, as sentences: of the configuration, and last of the device plugin. */
static int make_check_document(const struct config_errors *errors, const char *problem,
			       const struct config *c, const struct plan *p, char **ret)
{
	const char *texts[2 * PROBLEMS_MAX + 1] = {};
	size_t n = 0;

	for (; n < errors->n_items && n < ELEMENTSOF(texts) - 1; n++)
		texts[n] = errors->items[n].text;
	if (problem)
		texts[n++] = problem;
	return output_check(texts, n, c, p, ret);
}

bool run_has_node(const struct fs *fs)
{
	return fs_exists(fs, "sys/bus/pci") &&
	       (!fs->is_live || fs_exists(fs, "run/systemd/system"));
}

/* What the device plugin would make of this node; where there is none nothing is seen. */
static int look(struct doors *d, const struct config *c, struct node *n, struct plan *p,
		const struct plan **ret)
{
	int r;

	*ret = NULL;
	if (c->plugin.type == PLUGIN_NONE)
		return 0;
	if (!run_has_node(&d->fs)) {
		log_info("There is no node here, so what the device plugin would expose is not "
			 "known");
		return 0;
	}
	r = run_plan(d, c, false, NULL, n, p);
	if (r >= 0)
		*ret = p;
	return r;
}

int run_check(struct doors *d, const char *file, bool is_json, char **ret)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config c = {};
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};
	_cleanup_(freep) char *problem = NULL;
	const struct plan *seen = NULL;
	bool is_bad;
	int r;

	r = load_file(&d->fs, file, &c, &errors);
	if (r < 0 && r != -EINVAL)
		return log_error_errno(r, "The configuration cannot be read");
	is_bad = r < 0 || errors.n_unknown > 0;

	if (r >= 0) {
		r = look(d, &c, &n, &p, &seen);
		if (r >= 0)
			r = output_check_plugin(&c, seen, &problem);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < errors.n_items && !is_json; i++)
		log_error("%s", errors.items[i].text);
	if (problem && !is_json)
		log_error("%s", problem);

	r = is_json ? make_check_document(&errors, problem, &c, seen, ret)
		    : output_check_text(&c, seen, ret);
	return r < 0 ? r : is_bad || problem ? -EINVAL : 0;
}

int run_lock(const struct fs *fs, const struct pass *pass)
{
	_cleanup_(closep) int fd = -EBADF;
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int r;

	fd = fs_open(fs, LOCK_PATH, O_RDWR | O_CREAT);
	if (fd == -ENOENT) {
		r = fs_make_folders(fs, RUN_FOLDER);
		if (r < 0)
			return r;
		fd = fs_open(fs, LOCK_PATH, O_RDWR | O_CREAT);
	}
	if (fd < 0)
		return fd;

	if (fcntl(fd, F_SETLK, &whole) < 0) {
		if (errno != EAGAIN && errno != EACCES)
			return -errno;
		if (pass && pass->on_wait)
			pass->on_wait(pass->userdata);
		else
			log_info("Another pass is running, waiting for its end");
		while (fcntl(fd, F_SETLKW, &whole) < 0)
			if (errno != EINTR)
				return -errno;
	}

	return TAKE_FD(fd);
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

struct progress {
	struct view view;
	const struct fs *fs; /* of what is remembered */
	const struct pass *pass;
	struct plan *tried;
	const struct node *node; /* of this round */
	struct boot_notes *notes;
	bool is_out_of_memory;
};

static uint64_t now(const struct world *w)
{
	return w->now_usec(w->userdata);
}

/* Remembers what is tried, so that the next round's plan knows what goes on and what failed. */
static void on_start(void *userdata, const struct action *a, uint64_t deadline_usec)
{
	struct progress *progress = userdata;
	struct action *slot = APPEND(progress->tried->actions, progress->tried->n_actions);

	if (slot) {
		*slot = *a;
		slot->is_running = true;
	}
	progress->is_out_of_memory |= !slot;
	boot_notes_start(progress->notes, progress->fs, progress->pass->config, progress->node, a);
	if (progress->pass->on_start)
		progress->pass->on_start(progress->pass->userdata, a, deadline_usec);
}

static void on_end(void *userdata, const struct action *a)
{
	const struct progress *progress = userdata;
	struct plan *tried = progress->tried;

	report_action(a);
	boot_notes_end(progress->notes, progress->pass->config, progress->node, a);
	for (size_t i = 0; i < tried->n_actions; i++)
		if (tried->actions[i].is_running && is_same_change(&tried->actions[i], a)) {
			tried->actions[i] = *a;
			break;
		}
}

/* What failed before in this boot, with the same configuration, has failed: events do not try it
 * again. */
static int recall_failures(const struct config *c, const struct node *n, struct plan *tried)
{
	if (!streq(n->last_hash, c->hash))
		return 0;

	for (size_t i = 0; i < n->n_failures; i++) {
		const struct failure *f = &n->failures[i];
		struct action *a = APPEND(tried->actions, tried->n_actions);

		if (!a)
			return -ENOMEM;
		a->class = CLASS_CHANGE;
		a->is_done = true;
		a->verb = verb_from_name(f->verb);
		a->result = f->result;
		a->instance = f->instance;
		COPY(a->target, f->target);
		COPY(a->to, f->to);
		COPY(a->error, f->error);
	}
	plan_forget_replaced(n, tried);
	return 0;
}

/* The same change in a plan that was made anew, or what stands in its place. */
static const struct action *find_again(const struct plan *p, const struct action *a)
{
	const struct action *found = NULL;

	for (size_t i = 0; i < p->n_actions; i++) {
		const struct action *b = &p->actions[i];

		if (b->verb != a->verb || !streq(b->target, a->target))
			continue;
		if (is_open_change(b) && streq(b->from, a->from) && streq(b->to, a->to))
			return b;
		if (!found || b->class != CLASS_CHANGE)
			found = b;
	}
	return found;
}

/*
 * Between look and write somebody may have come. What is taken away from somebody cannot be given
 * back, so the whole look is made again right before, with the same result or not at all.
 */
static int recheck(void *userdata, const struct action *a, char *words, size_t size)
{
	const struct progress *progress = userdata;
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};
	const struct action *now;
	int r;

	r = look_and_plan(&progress->view, &n, &p);
	if (r < 0) {
		snprintf(words, size, "the node could not be looked at again right before");
		return r;
	}

	now = find_again(&p, a);
	if (now && is_open_change(now) && streq(now->from, a->from) && streq(now->to, a->to))
		return 0;
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
	/* Nobody tells that a plugin was restarted. */
	for (size_t i = 0; i < p->n_reasons; i++)
		ret->n_waiting += p->reasons[i].reason == REASON_PLUGIN_RESTART_NEEDED;
	for (size_t i = 0; i < p->n_actions; i++) {
		ret->n_lost += p->actions[i].reason == REASON_DEVICE_LOST;
		/* What is left alone for a time has its own one, below. */
		ret->n_waiting += p->actions[i].class == CLASS_WAITING &&
				  !is_best_effort(&p->actions[i]) && !p->actions[i].is_missing &&
				  p->actions[i].reason != REASON_CONTESTED;
		ret->n_absent += p->actions[i].class == CLASS_WAITING &&
				 p->actions[i].reason == REASON_NO_IBDEV;
		/* What is best effort is tried again by events; a full disk makes none. */
		ret->n_failed += p->actions[i].is_done && p->actions[i].result < 0 &&
				 p->actions[i].verb != VERB_RELOAD_UNITS &&
				 (!is_best_effort(&p->actions[i]) || is_output(p->actions[i].verb));
	}

	ret->n_silent = p->n_silent;
	ret->again_usec = p->again_usec;

	snprintf(ret->summary, sizeof(ret->summary),
		 "%s: %" PRIu32 " of %" PRIu32 " devices usable%s", node_state_name(p->state),
		 n_usable, n_out, p->n_missing ? ", some missing" : "");
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
		       const struct plan *p)
{
	_cleanup_(freep) char *state = NULL, *before = NULL;
	size_t size;
	int r;

	r = output_state(c, n, p, &state);
	if (r < 0)
		return r;
	r = fs_read_all(fs, STATE_PATH, MAX_STATE_BYTES, false, &before, &size);
	if (r == -ENOMEM)
		return r;
	r = report_state(fs, c, n, p, state);
	if (r < 0)
		return log_error_errno(r, "The state cannot be written to /" STATE_PATH);
	return tell_news(p, before, state);
}

/* Before the changes of a new configuration, nobody may take the state of the old one for this
 * one's. */
static int write_first_state(const struct fs *fs, const struct config *c, const struct node *n,
			     const struct plan *p)
{
	return streq(n->last_hash, c->hash) ? 0 : write_state(fs, c, n, p);
}

/* How far the pass has come in changing the node. Files that tell of it are none of its steps. */
static void count_steps(const struct world *w, uint64_t started_usec, struct plan *tried)
{
	uint32_t steps = 0;

	for (size_t i = 0; i < tried->n_actions; i++)
		steps += tried->actions[i].is_done && tried->actions[i].result >= 0 &&
			 !is_output(tried->actions[i].verb);
	if (steps > tried->change.steps)
		tried->change = (struct last_change){ steps, w->time_sec(w->userdata),
						      now(w) - started_usec };
}

static bool is_over(const struct world *w, const struct pass *pass)
{
	return pass->is_settled || (pass->settled_usec > 0 && now(w) >= pass->settled_usec);
}

/* One look at the node, with a plan for it. In the first one failures of before are recalled. */
static int look_again(struct progress *pr, bool is_first, struct node *n, struct plan *p)
{
	const struct pass *pass = pr->pass;
	int r;

	pr->view.is_settled = is_over(pr->view.world, pass);
	r = look_and_plan(&pr->view, n, p);
	if (r < 0 || pass->make_plan)
		return r;
	if (is_first && !pass->is_retry && n->n_failures > 0) {
		r = recall_failures(pass->config, n, pr->tried);
		if (r >= 0)
			r = make_plan(&pr->view, n, p);
		if (r >= 0)
			r = add_outputs(pass->config, pr->tried, n, p);
	}
	if (r >= 0 && is_first && pass->on_looked)
		pass->on_looked(pass->userdata, p->is_whole);
	if (r >= 0 && is_first)
		r = boot_notes_open(n, pr->notes);
	if (r >= 0 && pass->is_service && n->is_held)
		r = plan_add_hint(p, REASON_HELD, "", "");
	return r;
}

/* Of a goal. Return: 0, or the -errno of what failed or was not to be tried. */
static int tell_what_is_left(const struct plan *p)
{
	int r = 0;

	for (size_t i = 0; i < p->n_actions; i++) {
		const struct action *a = &p->actions[i];

		if (a->is_done) { /* told when it failed */
			r = a->result;
			continue;
		}
		log_warning("%s: %s is left: %s: %s", a->target, verb_name(a->verb),
			    reason_meaning(a->reason), a->detail);
		r = -EBUSY;
	}
	return r;
}

static int conclude(struct progress *pr, const struct node *n, const struct plan *p,
		    struct pass_result *ret)
{
	const struct pass *pass = pr->pass;

	if (pass->make_plan)
		return tell_what_is_left(p);
	boot_notes_conclude(pr->notes, pr->fs, pass->config, n, p);
	ret->state = p->state;
	ret->exit_code = report_exit_code(p);
	summarise(p, ret);
	return write_state(pr->fs, pass->config, n, p);
}

/* One look, and what of its plan can be begun. Return: 1 when there is nothing more, 0 or -errno.
 */
static int run_round(struct progress *pr, struct apply *ap, uint32_t round, struct pass_result *ret)
{
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};
	const struct pass *pass = pr->pass;
	const struct world *w = pr->view.world;
	const uint64_t begun_usec = now(w);
	int r;

	r = look_again(pr, round == 0, &n, &p);
	if (r < 0)
		return r;
	pr->node = &n;
	ap->grace_usec = now(w) - begun_usec;
	if (has_open_changes(&p) && round < MAX_ROUNDS + n.n_pcis &&
	    !(pass->is_service && n.is_held)) {
		r = pass->make_plan ? 0 : write_first_state(pr->fs, pass->config, &n, &p);
		if (r >= 0)
			r = apply_some(ap, &n, &p);
	}
	ret->n_changes += MAX(r, 0);
	if (r >= 0 && pr->is_out_of_memory) /* what is not remembered would be tried for ever */
		r = -ENOMEM;
	if (r != 0)
		return MIN(r, 0);
	if (!apply_is_busy(ap)) {
		r = conclude(pr, &n, &p, ret);
		return r < 0 ? r : 1;
	}
	if (pass->on_wait_for)
		pass->on_wait_for(pass->userdata, apply_oldest(ap));
	apply_wait(ap, &n,
		   pr->view.is_settled || pass->settled_usec == 0 ? UINT64_MAX
								  : pass->settled_usec);
	return 0;
}

/* Rounds of plan and apply, until there is nothing to do that was not tried. */
int run_rounds(const struct world *w, const struct pass *pass, struct pass_result *ret)
{
	_cleanup_(boot_notes_done) struct boot_notes notes = {};
	/* Who asks by hand wants it now, however often somebody undid it. */
	_cleanup_(plan_done) struct plan tried = { .is_asked = !pass->is_service || pass->is_first,
						   .is_first = pass->is_first };
	struct progress progress = { .view = { w, pass, pass->config, &tried, false },
				     .fs = &w->doors->fs,
				     .pass = pass,
				     .tried = &tried,
				     .notes = &notes };
	const struct apply_hooks hooks = { on_start, on_end, recheck, &progress };
	_cleanup_(apply_done) struct apply ap = { .world = w, .hooks = &hooks };
	const uint64_t started_usec = now(w);
	int r = 0;

	for (uint32_t round = 0; r == 0; round++) {
		r = run_round(&progress, &ap, round, ret);
		count_steps(w, started_usec, &tried);
	}
	return MIN(r, 0);
}

int run_pass(const struct world *w, const struct pass *pass, struct pass_result *ret)
{
	const struct fs *fs = &w->doors->fs;
	_cleanup_(closep) int lock_fd = -EBADF;
	struct pass_result result = {};
	int r;

	lock_fd = run_lock(fs, pass);
	if (lock_fd < 0)
		return log_error_errno(lock_fd, "/" LOCK_PATH);

	r = pass->is_kept ? save_last_good(fs, pass->config) : 0;
	if (r < 0 && pass->is_first) /* "/var" may be read-only or not there yet */
		log_warning_errno(r, "/" LAST_GOOD_PATH ": not kept");

	r = run_rounds(w, pass, &result);
	if (r < 0)
		return r;

	*ret = result;
	return 0;
}

/* A state that is of another boot, or none at all: what is known then is the reason alone. */
static int make_degraded(const struct config *c, const char *boot_id, enum reason reason,
			 const char *detail, char **ret)
{
	_cleanup_(plan_done) struct plan p = { .state = NODE_DEGRADED };
	struct node n = {};
	int r;

	COPY(n.boot_id, boot_id);
	r = plan_add_hint(&p, reason, "", detail);
	return r < 0 ? r : output_state(c, &n, &p, ret);
}

int run_degrade(const struct config *c, enum reason reason, const char *detail)
{
	_cleanup_(freep) char *before = NULL, *state = NULL;
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	char boot_id[sizeof(((struct node *)0)->boot_id)];
	size_t size;
	int r;

	r = fs_open_root(NULL, &fs);
	if (r >= 0)
		r = fs_read(&fs, "proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	if (r < 0)
		return r;
	r = fs_read_all(&fs, STATE_PATH, MAX_STATE_BYTES, false, &before, &size);
	if (r >= 0)
		r = output_degrade(before, boot_id, c->hash, reason, detail, &state);
	if (r < 0 && r != -ENOMEM)
		r = make_degraded(c, boot_id, reason, detail, &state);
	if (r >= 0)
		r = fs_remove(&fs, READY_PATH);
	/* The pass that goes on may be writing its own at this very moment. */
	if (r >= 0)
		r = fs_replace(&fs, DEGRADED_PATH, state, strlen(state), 0644);
	return r < 0 ? r : fs_rename(&fs, DEGRADED_PATH, STATE_PATH);
}

int run_state(struct doors *d, const struct config *c, char **ret)
{
	_cleanup_(plan_done) struct plan tried = {};
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};
	int r;

	r = run_plan(d, c, false, NULL, &n, &p);
	if (r >= 0 && n.n_failures > 0) { /* what failed before is told as a pass would tell it */
		plan_done(&p);
		p = (struct plan){};
		r = recall_failures(c, &n, &tried);
		if (r >= 0)
			r = plan_make(c, &n, &tried, false, output_plugin_all, &p);
		if (r >= 0)
			r = add_outputs(c, &tried, &n, &p);
	}
	if (r >= 0)
		r = run_add_config_changed(c, &n, &p);
	return r < 0 ? r : output_state(c, &n, &p, ret);
}

/* Mean these, whatever else has that name. */
#define KUBELET_NAME "kubelet"
#define PLUGIN_NAME  "plugin"

static int refuse_name(const struct node *n, const char *name)
{
	struct nearest nearest = { .word = name };
	char shown[QUOTED_LEN];
	const char *candidate;

	for (size_t i = 0; (candidate = output_explain_name(n, i)); i++)
		if (*candidate)
			nearest_offer(&nearest, candidate);
	nearest_offer(&nearest, KUBELET_NAME);
	nearest_offer(&nearest, PLUGIN_NAME);
	log_error(
		"%s: no PCI function, netdev or RDMA device on a PCI function has that name%s%s%s",
		quoted(name, shown), nearest.best ? ", did you mean " : "",
		nearest.best ? nearest.best : "", nearest.best ? "?" : "");
	return -ENODEV;
}

static int explain_plugin(struct doors *d, const struct config *c, struct node *n,
			  const struct plan *p, bool is_json, char **ret)
{
	int r = observe_plugin_processes(&d->fs, c, n);

	return r < 0 ? r : output_explain_plugin(c, n, p, d->fs.is_live, is_json, ret);
}

int run_explain(struct doors *d, const struct config *c, const char *name, bool is_json, char **ret)
{
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};
	const struct pci *pci;
	int r;

	r = run_plan(d, c, false, NULL, &n, &p);
	if (r < 0)
		return r;
	if (streq(name, KUBELET_NAME))
		return output_explain_kubelet(c, &n, &p, is_json, ret);
	if (streq(name, PLUGIN_NAME))
		return explain_plugin(d, c, &n, &p, is_json, ret);
	pci = output_explain_find(&n, &p, name);
	if (!pci)
		return refuse_name(&n, name);

	/* A person waits for this: a look into processes is not too much. */
	if (d->fs.is_live && !n.has_users)
		r = observe_users(d, &n);
	if (r >= 0) {
		const int n_lines = kmsg_read(&d->fs, pci->address, n.log_lines, LOG_LINES_MAX);

		n.n_log_lines = (size_t)MAX(n_lines, 0); /* not everybody may read it */
		r = output_explain(c, &n, &p, pci, is_json, ret);
	}
	return r < 0 ? log_error_errno(r, "%s", name) : 0;
}
