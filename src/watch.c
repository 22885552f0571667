/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include "base/log.h"
#include "doors/events.h"
#include "doors/request.h"
#include "doors/uevent.h"
#include "live.h"
#include "load.h"
#include "model/paths.h"
#include "pace.h"
#include "report/report.h"
#include "worker.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

/* The look of the next pass begins after a quarter of SettleSec=: the rest is time enough for it.
 */
#define AHEAD(settle_usec)  ((settle_usec) / 4)
#define AHEAD_AT_START_USEC (60 * USEC_PER_MSEC) /* at most: somebody waits for READY=1 */
/* Before ReadyTimeoutSec= is over: time for the files of a node that is as good as it gets. */
#define LAST_LOOK_USEC (5 * USEC_PER_SEC)
/* Beyond the deadlines of actions: how long a worker may look at the node. */
#define MARGIN_USEC (60 * USEC_PER_SEC)
/* What is over sooner nobody could read of, and each line costs systemd and its bus a turn. */
#define TELL_USEC (250 * USEC_PER_MSEC)
/* A killed worker is gone long before; one that is stuck in the kernel is left to systemd. */
#define STOP_USEC (1 * USEC_PER_SEC)

struct watch {
	struct doors *doors; /* of "apply": passes run here; NULL: in a worker */
	const char *file;    /* --config */
	struct config config;
	sd_event *event;
	struct fs fs; /* of the service; the doors of "apply" have their own */
	struct uevents uevents;
	struct netlink events;
	sd_event_source *ahead, *settle, *deadline, *look, *retry, *tell, *worker_io, *worker_end,
		*worker_limit;
	struct worker worker;
	enum {
		WORKER_GOES_ON,
		WORKER_IS_HELD,
		WORKER_IS_CANCELLED
	} errand;
	uint64_t limit_usec;          /* when it is given up */
	struct worker_message making; /* what the worker is at */
	uint32_t n_made;              /* VFs of it that were seen last */
	uint32_t n_ibdevs_known;      /* RDMA devices announced when its last action began */
	uint32_t n_ibdevs_due;        /* as many are announced when all are there */
	uint64_t started_usec;        /* READY=1 comes by ReadyTimeoutSec= after this */
	uint64_t event_usec;          /* of the last event */
	uint64_t ready_usec;          /* ReadyTimeoutSec= is over */
	uint64_t storm_usec;          /* since when events put the next pass off; 0: none is due */
	uint64_t not_before_usec;     /* of the next look: a loss needs two, SettleSec= apart */
	struct pace pace;
	bool is_again;   /* something happened while a pass was running */
	bool is_settled; /* the time to wait is over */
	bool is_first;
	bool is_retry;     /* the next pass tries again what failed */
	bool was_retry;    /* so does the present worker's */
	bool is_reloading; /* RELOADING=1 was sent */
	bool is_ready;     /* READY=1 was sent */
	bool is_stopping;  /* the loop ends with the worker */
	bool sees_neighbours;
	bool has_result; /* of the present worker */
	int error;       /* of its pass as a whole */
	struct pass_result result;
};

static int start_pass(struct watch *w);
static int reload(struct watch *w);
static int read_changed(struct watch *w);

/* An error returned to the loop would only switch its source off: leave instead. */
static int leave_on_error(struct watch *w, int r)
{
	return r < 0 ? sd_event_exit(w->event, r) : 0;
}

/* (Re)arms a one-shot timer; not sd_event_source_set_time_relative(), which systemd 239 lacks. */
static int arm(sd_event_source *timer, uint64_t when)
{
	int r = sd_event_source_set_time(timer, when);

	return r < 0 ? r : sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

/*
 * RDMA devices that are still to come, which each tells by an event: until then a look would find
 * nothing but that, and take the processors from those who make them.
 */
static bool is_ibdev_due(const struct watch *w)
{
	return !w->is_ready && (int32_t)(w->n_ibdevs_due - w->uevents.n_ibdevs) > 0;
}

/*
 * By the time of the events, whatever was done since: quiet that passed while a pass was running is
 * not waited for once more. The look of the pass begins before the end of the quiet: nothing that
 * happens meanwhile escapes it, for any event ends it.
 */
static int arm_settle(struct watch *w)
{
	uint64_t settle_usec = w->config.service.settle_usec;
	uint64_t ahead_usec = AHEAD(settle_usec);
	int r;

	if (is_ibdev_due(w))
		settle_usec = ahead_usec = MAX(settle_usec, PACE_DUE_USEC);
	else if (!w->is_ready)
		ahead_usec = MIN(ahead_usec, AHEAD_AT_START_USEC);
	r = w->doors ? 0 : arm(w->ahead, MAX(w->event_usec + ahead_usec, w->not_before_usec));
	return r < 0 ? r
		     : arm(w->settle, pace_settle(settle_usec, w->event_usec, w->storm_usec,
						  w->not_before_usec));
}

/* It has changed nothing yet; its end is seen like that of any other. */
static void cancel_look(struct watch *w)
{
	kill(w->worker.pid, SIGKILL);
	w->errand = WORKER_IS_CANCELLED;
	w->is_retry = w->is_retry || w->was_retry;
}

/* Something changed: remember it, and look once it has been quiet. */
static int look_soon(struct watch *w)
{
	pace_hurry(&w->pace);
	w->event_usec = now_usec();
	if (w->storm_usec == 0)
		w->storm_usec = w->event_usec;
	if (w->worker.pid && w->errand == WORKER_GOES_ON) {
		w->is_again = true;
		return 0;
	}
	if (w->worker.pid && w->errand == WORKER_IS_HELD)
		cancel_look(w);
	return arm_settle(w);
}

static void tell_status(struct watch *w, const char *text, uint64_t extend_usec)
{
	if (w->doors)
		return;
	if (extend_usec && (!w->is_ready || w->is_reloading))
		sd_notifyf(false, "STATUS=%s\nEXTEND_TIMEOUT_USEC=%" PRIu64, text,
			   extend_usec + MARGIN_USEC);
	else
		sd_notifyf(false, "STATUS=%s", text);
}

/*
 * The kernel tells of each new VF while the write that makes them goes on. The links are counted,
 * which waits for nothing; reading sriov_numvfs would wait for that very write.
 */
static void tell_progress(struct watch *w)
{
	const struct worker_message *m = &w->making;
	uint32_t n_made = 0;
	char path[64], text[256];

	if (!m->pf[0])
		return;
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s", m->pf);
	if (fs_count(&w->fs, path, "virtfn", &n_made) < 0 || n_made == w->n_made)
		return;
	w->n_made = n_made;
	snprintf(text, sizeof(text), "%s, %" PRIu32 " of %" PRIu32, m->text, n_made, m->n_vfs);
	tell_status(w, text, 0);
}

static int on_tell(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	struct watch *w = userdata;

	tell_status(w, w->making.text, w->making.deadline_usec);
	return 0;
}

/* Quick ones come in rows: then it is told now and again which one it is. */
static int tell_start(struct watch *w, const struct worker_message *m)
{
	int r, armed;

	w->n_ibdevs_known = w->uevents.n_ibdevs;
	/* VFs that are being made are what people wait for, whatever else begins meanwhile. */
	if (m->kind == WORKER_STARTS && !m->pf[0] && w->making.pf[0] && w->n_made < w->making.n_vfs)
		return 0;
	w->making = *m;
	w->n_made = 0;
	if (m->pf[0]) {
		tell_status(w, m->text, m->deadline_usec);
		return sd_event_source_set_enabled(w->tell, SD_EVENT_OFF);
	}
	r = sd_event_source_get_enabled(w->tell, &armed);
	return r < 0 || armed != SD_EVENT_OFF ? MIN(r, 0) : arm(w->tell, now_usec() + TELL_USEC);
}

/*
 * systemd merges a reload into a start that is not over, so files that changed during the start are
 * looked at once more. Whoever changes one after this asks for a reload that is one: READY=1 is
 * dispatched before calls over D-Bus (EVENT_PRIORITY_NOTIFY in src/core/manager.h).
 */
static int tell_ready(struct watch *w)
{
	const bool was_ready = w->is_ready;
	int r;

	if (!was_ready)
		sd_notify(false, "READY=1");
	w->is_ready = w->is_settled = true;
	r = sd_event_source_set_enabled(w->deadline, SD_EVENT_OFF);
	if (r < 0 || was_ready || !load_is_changed(&w->fs, w->file, &w->config))
		return r;
	return reload(w);
}

/* What is to be done without an event. @result: of the pass that is over; NULL: it gave none. */
static int arm_timers(struct watch *w, const struct pass_result *result)
{
	const uint64_t look = pace_after(&w->pace, result, w->config.service.settle_usec,
					 is_ibdev_due(w), now_usec());
	int r = look == PACE_NEVER ? 0 : arm(w->look, look);

	if (r < 0)
		return r;
	return w->pace.retry_at_usec == PACE_NEVER
		       ? sd_event_source_set_enabled(w->retry, SD_EVENT_OFF)
		       : arm(w->retry, w->pace.retry_at_usec);
}

/* A pass is over: say so, and see what has to be looked at again. */
static int on_result(struct watch *w)
{
	const struct pass_result *res = &w->result;
	int r = 0;

	/* "apply" waits for what its own changes bring, also on a node that was degraded before. */
	if (w->doors && (res->exit_code == 0 || res->n_waiting == 0 || w->is_settled))
		return sd_event_exit(w->event, res->exit_code);

	tell_status(w, res->summary, w->config.service.ready_timeout_usec);
	if (w->is_reloading && !w->is_again)
		sd_notify(false, "READY=1"); /* the new configuration is in force */
	w->is_reloading = w->is_reloading && w->is_again;
	w->is_first = false;
	if (!w->doors && res->state != NODE_STARTING) {
		r = read_changed(w);
		if (r > 0)
			w->is_again = true;
		else if (r == 0)
			r = tell_ready(w);
	}
	if (r < 0)
		return r;

	w->n_ibdevs_due = w->n_ibdevs_known + res->n_absent;
	w->not_before_usec = res->n_lost > 0 ? now_usec() + w->config.service.settle_usec : 0;
	if (w->is_again) {
		w->is_again = false;
		w->storm_usec = now_usec(); /* the last look of this pass has seen the rest */
		return arm_settle(w);
	}
	return arm_timers(w, res);
}

/*
 * A pass that gave no result: it died, was stuck, or could not look at the node. Whoever waits for
 * the node is not kept waiting beyond the time that is theirs.
 */
static int on_failure(struct watch *w, const char *problem)
{
	int r = 0;

	log_error("A pass failed (%s), trying again in %" PRIu64 " s", problem,
		  w->pace.retry_usec / USEC_PER_SEC);
	if (w->doors)
		return -EIO;

	w->is_again = false;
	w->storm_usec = 0;
	if (w->is_settled) {
		r = run_degrade(&w->config, REASON_WORKER_DIED, problem);
		if (r >= 0)
			tell_status(w, "degraded: passes fail, see the journal", 0);
		if (w->is_reloading)
			sd_notify(false, "READY=1");
		w->is_reloading = false;
		r = tell_ready(w);
	}
	return r < 0 ? r : arm_timers(w, NULL);
}

static void forget_worker(struct watch *w)
{
	w->worker_io = sd_event_source_unref(w->worker_io);
	w->worker_end = sd_event_source_unref(w->worker_end);
	sd_event_source_set_enabled(w->worker_limit, SD_EVENT_OFF);
	sd_event_source_set_enabled(w->tell, SD_EVENT_OFF);
	worker_done(&w->worker);
	w->making = (struct worker_message){};
}

/* Who waits for READY=1 does not wait for the end of the quiet when everybody is there. */
static int on_looked(struct watch *w, const struct worker_message *m)
{
	int r;

	if (!m->is_ready || w->is_ready || w->errand != WORKER_IS_HELD)
		return 0;
	r = sd_event_source_set_enabled(w->settle, SD_EVENT_OFF);
	return r < 0 ? r : start_pass(w);
}

/* Actions go on side by side: none shortens the time of another. */
static int extend_limit(struct watch *w, uint64_t usec)
{
	w->limit_usec = MAX(w->limit_usec, now_usec() + usec);
	return arm(w->worker_limit, w->limit_usec);
}

static int on_worker_message(sd_event_source *s _unused_, int fd _unused_,
			     uint32_t revents _unused_, void *userdata)
{
	struct watch *w = userdata;
	struct worker_message m;
	int r;

	while ((r = worker_read(&w->worker, &m)) > 0) {
		if (m.kind == WORKER_LOOKED) {
			r = on_looked(w, &m);
			if (r < 0)
				return leave_on_error(w, r);
			continue;
		}
		if (m.kind == WORKER_STARTS || m.kind == WORKER_WAITS) {
			r = tell_start(w, &m);
			if (r >= 0)
				r = extend_limit(w, m.deadline_usec + MARGIN_USEC);
			if (r < 0)
				return leave_on_error(w, r);
			continue;
		}
		w->has_result = true;
		w->error = m.error;
		w->result = m.result;
	}
	if (r < 0)
		w->worker_io = sd_event_source_unref(w->worker_io);
	return 0;
}

static int on_worker_end(sd_event_source *s _unused_, const siginfo_t *si, void *userdata)
{
	struct watch *w = userdata;
	char problem[64];

	if (w->is_stopping)
		return sd_event_exit(w->event, 0);

	/* What it wrote last may still be in the pipe. */
	if (w->worker_io)
		on_worker_message(NULL, -1, 0, w);
	forget_worker(w);

	if (w->errand == WORKER_IS_CANCELLED) {
		/* A pass that was due meanwhile, or the one that the timers are set for. */
		if (!w->is_again)
			return 0;
		w->is_again = false;
		return leave_on_error(w, start_pass(w));
	}
	if (w->has_result && w->error >= 0)
		return leave_on_error(w, on_result(w));

	if (w->has_result)
		snprintf(problem, sizeof(problem), "%s", strerror(-w->error));
	else
		snprintf(problem, sizeof(problem), "its process ended by %s %d",
			 si->si_code == CLD_EXITED ? "exit code" : "signal", si->si_status);
	return leave_on_error(w, on_failure(w, problem));
}

/* A process stuck in the kernel does not die; it is left behind, and the loop goes on. */
static int on_worker_limit(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	struct watch *w = userdata;

	if (w->is_stopping)
		return sd_event_exit(w->event, 0);
	if (!w->worker.pid)
		return 0;
	kill(w->worker.pid, SIGKILL);
	forget_worker(w);
	return leave_on_error(w, on_failure(w, "it did not come back in its time"));
}

/* The time to wait is over a little earlier than the time until READY=1. */
static uint64_t settled_usec(const struct watch *w)
{
	return w->ready_usec - MIN(w->config.service.ready_timeout_usec / 10, LAST_LOOK_USEC);
}

static struct pass make_pass(struct watch *w)
{
	return (struct pass){
		.config = &w->config,
		.is_settled = w->is_settled,
		.is_retry = w->is_retry || (w->doors && w->is_first),
		.is_kept = !w->file,
		.is_service = !w->doors,
		.is_first = w->is_first,
		.settled_usec = w->is_settled ? 0 : settled_usec(w),
	};
}

static int start_worker(struct watch *w, bool is_held)
{
	struct pass pass = make_pass(w);
	int r;

	w->was_retry = w->is_retry;
	w->n_ibdevs_known = w->uevents.n_ibdevs;
	w->has_result = w->is_retry = false;
	w->result = (struct pass_result){};
	w->errand = is_held ? WORKER_IS_HELD : WORKER_GOES_ON;
	r = worker_start(&pass, is_held, &w->worker);
	if (r < 0)
		return on_failure(w, strerror(-r));

	r = sd_event_add_io(w->event, &w->worker_io, w->worker.pipe, EPOLLIN, on_worker_message, w);
	if (r >= 0)
		r = sd_event_add_child(w->event, &w->worker_end, w->worker.pid, WEXITED,
				       on_worker_end, w);
	w->limit_usec = 0;
	return r < 0 ? r : extend_limit(w, MARGIN_USEC);
}

/* Also after a look that went on ahead. */
static int go_on_with_worker(struct watch *w)
{
	if (w->errand == WORKER_IS_CANCELLED)
		w->is_again = true;
	if (w->errand != WORKER_IS_HELD)
		return 0;
	w->errand = WORKER_GOES_ON;
	return worker_release(&w->worker);
}

static void on_start(void *userdata _unused_, const struct action *a,
		     uint64_t deadline_usec _unused_)
{
	char text[192];

	worker_describe(a, text, sizeof(text));
	log_debug("%s", text);
}

static int start_pass(struct watch *w)
{
	struct pass pass = make_pass(w);
	struct world world;
	int r;

	w->storm_usec = 0;
	if (!w->doors) {
		r = sd_event_source_set_enabled(w->ahead, SD_EVENT_OFF);
		if (r >= 0)
			r = read_changed(w);
		if (r > 0 && w->errand == WORKER_IS_HELD && w->worker.pid)
			cancel_look(w);
		if (r > 0)
			w->is_again = w->worker.pid != 0;
		if (r < 0)
			return r;
		return w->worker.pid ? go_on_with_worker(w) : start_worker(w, false);
	}

	w->n_ibdevs_known = w->uevents.n_ibdevs;
	pass.on_start = on_start;
	world = live_world(w->doors);
	r = run_pass(&world, &pass, &w->result);
	return r < 0 ? r : on_result(w);
}

static int on_settled(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	struct watch *w = userdata;

	return leave_on_error(w, start_pass(w));
}

/* Without an event in the meantime, which would have cancelled it, the look is as good as one made
 * later. */
static int on_ahead(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	struct watch *w = userdata;

	return w->worker.pid ? 0 : leave_on_error(w, start_worker(w, true));
}

static int on_retry(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	struct watch *w = userdata;

	w->is_retry = true;
	w->is_again = w->worker.pid != 0;
	return leave_on_error(w, start_pass(w));
}

/* A driver, a lock or a file may keep a pass for hours, and READY=1 waits for none of them. */
static int go_without(struct watch *w)
{
	const char *step = w->making.text[0] ? w->making.text : "looking at the node";
	char text[256];
	int r;

	if (w->doors || w->is_ready)
		return 0;
	r = run_degrade(&w->config, REASON_READY_TIMEOUT, step);
	if (r < 0)
		log_error_errno(r, "The state cannot be written to /" STATE_PATH);
	snprintf(text, sizeof(text), "degraded: ReadyTimeoutSec= is over, still %s", step);
	log_warning("node: %s", text);
	tell_status(w, text, 0);
	return tell_ready(w);
}

static int arm_deadline(struct watch *w)
{
	w->ready_usec =
		(w->is_ready ? now_usec() : w->started_usec) + w->config.service.ready_timeout_usec;
	return arm(w->deadline, settled_usec(w));
}

static int on_deadline(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	struct watch *w = userdata;
	int r;

	if (w->is_settled)
		return leave_on_error(w, go_without(w));
	w->is_settled = true;
	w->is_again = w->worker.pid != 0;
	r = arm(w->deadline, w->ready_usec);
	return leave_on_error(w, r < 0 ? r : start_pass(w));
}

static int on_uevent(sd_event_source *s _unused_, int fd _unused_, uint32_t revents _unused_,
		     void *userdata)
{
	struct watch *w = userdata;
	int r;

	r = uevents_drain(&w->uevents);
	if (r == 0)
		return 0;
	if (r < 0)
		log_warning_errno(r, "Device events were lost, looking at everything");
	tell_progress(w);
	return leave_on_error(w, look_soon(w));
}

static int on_netlink(sd_event_source *s _unused_, int fd _unused_, uint32_t revents _unused_,
		      void *userdata)
{
	struct watch *w = userdata;
	int r;

	r = events_drain(&w->events);
	if (r == 0)
		return 0;
	if (r < 0)
		log_warning_errno(r, "Network events were lost, looking at everything");
	return leave_on_error(w, look_soon(w));
}

static int on_terminate(sd_event_source *s _unused_, const struct signalfd_siginfo *si _unused_,
			void *userdata)
{
	struct watch *w = userdata;

	sd_notify(false, "STOPPING=1");
	if (!w->worker.pid || w->is_stopping)
		return sd_event_exit(w->event, 0);

	/* What the pass is about is found again by the next one, whatever instant it ends at. */
	kill(w->worker.pid, SIGKILL);
	w->is_stopping = true;
	return leave_on_error(w, arm(w->worker_limit, now_usec() + STOP_USEC));
}

static int read_config(struct watch *w)
{
	struct doors d = {};
	struct config c = {};
	int r;

	r = run_open(NULL, &d);
	if (r < 0)
		return r;
	r = load_config(&d.fs, w->file, &c);
	run_close(&d);
	if (r < 0)
		return r;

	config_done(&w->config);
	w->config = c;
	return 0;
}

/* An older kernel has to be told again and again to look for the routers of IPv6=ra. */
static int watch_neighbours(struct watch *w)
{
	struct utsname name;

	if (!w->config.route.manage || w->config.route.ipv6 != IPV6_RA || w->sees_neighbours ||
	    uname(&name) < 0 || has_managed_neighbours(name.release))
		return 0;
	w->sees_neighbours = true;
	return events_add_neighbours(&w->events);
}

/* What "revert" left behind for a running service: a start and a reload are the way on. */
static void go_on(const struct watch *w)
{
	int r = fs_remove(&w->fs, HOLD_PATH);

	if (r < 0)
		log_warning_errno(r, "/" HOLD_PATH ": nothing is changed while it is there");
}

/* Reads it, for all that follows. A time to wait that ends in READY=1 counts from the start. */
static int take_config(struct watch *w)
{
	char hash[sizeof(w->config.hash)];
	int r;

	COPY(hash, w->config.hash);
	r = read_config(w);
	if (r < 0)
		log_error_errno(r, "The configuration is kept as it was");
	r = watch_neighbours(w);
	if (r < 0)
		return r;
	w->is_first = w->is_retry = true;
	pace_renew(&w->pace);
	if (streq(hash, w->config.hash))
		return 0;
	w->is_settled = false;
	return arm_deadline(w);
}

/* Files that changed before READY=1 is sent. Return: 1 when they were read, 0 or -errno. */
static int read_changed(struct watch *w)
{
	int r;

	if (w->is_ready || !load_is_changed(&w->fs, w->file, &w->config))
		return 0;
	log_notice("The configuration was changed during the start and is read again");
	r = take_config(w);
	return r < 0 ? r : 1;
}

/* The new configuration is in force after the next pass, and READY=1 says so then. */
static int reload(struct watch *w)
{
	int r;

	if (w->is_ready) {
		sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now_usec());
		w->is_reloading = true;
	}

	go_on(w);
	r = take_config(w);
	if (r >= 0)
		r = look_soon(w);
	if (r >= 0 && (!w->worker.pid || w->errand == WORKER_IS_CANCELLED))
		r = arm(w->settle, now_usec());
	return r;
}

static int on_reload(sd_event_source *s _unused_, const struct signalfd_siginfo *si _unused_,
		     void *userdata)
{
	struct watch *w = userdata;

	return leave_on_error(w, reload(w));
}

static int add_signals(struct watch *w)
{
	static const struct {
		int signal;
		sd_event_signal_handler_t handler;
	} signals[] = { { SIGTERM, on_terminate },
			{ SIGINT, on_terminate },
			{ SIGHUP, on_reload } };
	sigset_t mask;
	int r = 0;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	for (size_t i = 0; i < ELEMENTSOF(signals); i++)
		sigaddset(&mask, signals[i].signal);
	if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		return -errno;

	for (size_t i = 0; i < ELEMENTSOF(signals) && r >= 0; i++)
		r = sd_event_add_signal(w->event, NULL, signals[i].signal, signals[i].handler, w);
	return r;
}

static int add_timer(struct watch *w, sd_event_source **ret, sd_event_time_handler_t handler)
{
	int r;

	r = sd_event_add_time(w->event, ret, CLOCK_MONOTONIC, UINT64_MAX, 1, handler, w);
	return r < 0 ? r : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

/* Subscribes first, so that nothing is missed between the look and the wait. */
static int open_watch(struct watch *w)
{
	int r;

	r = sd_event_new(&w->event);
	if (r >= 0)
		r = uevents_open(&w->uevents);
	if (r >= 0)
		r = sd_event_add_io(w->event, NULL, uevents_fd(&w->uevents), EPOLLIN, on_uevent, w);
	if (r >= 0)
		r = events_open(&w->events);
	if (r >= 0)
		r = sd_event_add_io(w->event, NULL, events_fd(&w->events), EPOLLIN, on_netlink, w);
	if (r >= 0)
		r = add_timer(w, &w->ahead, on_ahead);
	if (r >= 0)
		r = add_timer(w, &w->settle, on_settled);
	if (r >= 0)
		r = add_timer(w, &w->look, on_settled);
	if (r >= 0)
		r = add_timer(w, &w->retry, on_retry);
	if (r >= 0)
		r = add_timer(w, &w->tell, on_tell);
	if (r >= 0)
		r = add_timer(w, &w->worker_limit, on_worker_limit);
	if (r >= 0)
		r = add_timer(w, &w->deadline, on_deadline);
	if (r >= 0)
		r = arm_deadline(w);
	if (r >= 0)
		r = watch_neighbours(w);
	return r < 0 ? log_error_errno(r, "Events cannot be subscribed to") : 0;
}

static void close_watch(struct watch *w)
{
	sd_event_source_unref(w->ahead);
	sd_event_source_unref(w->settle);
	sd_event_source_unref(w->look);
	sd_event_source_unref(w->retry);
	sd_event_source_unref(w->deadline);
	sd_event_source_unref(w->tell);
	sd_event_source_unref(w->worker_limit);
	sd_event_source_unref(w->worker_io);
	sd_event_source_unref(w->worker_end);
	uevents_done(&w->uevents);
	netlink_done(&w->events);
	sd_event_unref(w->event);
	if (w->worker.pid)
		worker_done(&w->worker);
}

int watch_service(const char *file)
{
	struct watch w = { .file = file,
			   .fs = { .root = -EBADF },
			   .started_usec = now_usec(),
			   .is_first = true,
			   .is_retry = true };
	int r;

	pace_start(&w.pace);
	r = read_config(&w);
	if (r < 0)
		return r;
	r = fs_open_root(NULL, &w.fs);
	if (r >= 0) {
		if (!fs_exists(&w.fs, RULES_PATH)) /* udev will have to read them */
			request_prepare();
		go_on(&w);
		r = open_watch(&w);
	}
	if (r >= 0)
		r = add_signals(&w);
	if (r >= 0)
		r = sd_event_set_watchdog(w.event, true);
	if (r >= 0) {
		tell_status(&w, "looking at the node", w.config.service.ready_timeout_usec);
		r = start_pass(&w);
	}
	if (r >= 0)
		r = sd_event_loop(w.event);

	close_watch(&w);
	fs_done(&w.fs);
	config_done(&w.config);
	return r;
}

int watch_apply(struct doors *d, const struct config *c, const char *file)
{
	struct watch w = { .doors = d, .config = *c, .started_usec = now_usec(), .is_first = true };
	const struct world world = live_world(d);
	struct pass pass;
	int r;

	pace_start(&w.pace);
	w.file = file;
	w.ready_usec = w.started_usec + c->service.ready_timeout_usec;
	pass = make_pass(&w);
	pass.on_start = on_start;

	/* A finished node is told by one look, without subscribing to anything. */
	r = run_pass(&world, &pass, &w.result);
	if (r < 0)
		return r;
	w.is_first = false;
	if (w.result.exit_code == 0 || w.result.n_waiting == 0 ||
	    (w.result.state != NODE_STARTING && w.result.n_changes == 0))
		return w.result.exit_code;

	log_info("%s; waiting for the rest", w.result.summary);
	r = open_watch(&w);
	if (r >= 0)
		r = start_pass(&w);
	if (r >= 0)
		r = sd_event_loop(w.event);
	close_watch(&w);
	return r;
}
