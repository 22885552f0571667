/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include "base/log.h"
#include "doors/events.h"
#include "doors/uevent.h"
#include "report/report.h"
#include "worker.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#define STORM_USEC (5 * USEC_PER_SEC) /* a storm of events cannot put a pass off for longer */
/* The kernel gives no event for GIDs and for the state of a port: looks at growing intervals. */
#define LOOK_FIRST_USEC (50 * USEC_PER_MSEC)
#define LOOK_LAST_USEC  (2 * USEC_PER_SEC)
/* Beyond all deadlines that are told: for the worker's own way to its first action. */
#define MARGIN_USEC (60 * USEC_PER_SEC)

struct watch {
	struct doors *doors; /* of "apply": passes run here; NULL: in a worker */
	const char *file;    /* --config */
	struct config config;
	sd_event *event;
	struct uevents uevents;
	struct netlink events;
	sd_event_source *settle, *deadline, *look, *worker_io, *worker_end;
	struct worker worker;
	uint64_t storm_usec; /* since when events put the next pass off; 0: none is due */
	uint64_t look_usec;  /* the next interval */
	bool is_again;       /* something happened while a pass was running */
	bool is_settled;     /* the time to wait is over */
	bool is_first;
	bool is_ready;   /* READY=1 was sent */
	bool has_result; /* of the present worker */
	struct pass_result result;
};

static uint64_t now_usec(struct watch *w)
{
	uint64_t now = 0;

	sd_event_now(w->event, CLOCK_MONOTONIC, &now);
	return now;
}

static int start_pass(struct watch *w);

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

/* Something changed: remember it, and look once it has been quiet. */
static int look_soon(struct watch *w)
{
	uint64_t now = now_usec(w), when = now + w->config.service.settle_usec;

	w->look_usec = LOOK_FIRST_USEC;
	if (w->worker.pid) {
		w->is_again = true;
		return 0;
	}
	if (w->storm_usec == 0)
		w->storm_usec = now;
	return arm(w->settle, MIN(when, w->storm_usec + STORM_USEC));
}

static void tell_status(struct watch *w, const char *text, uint64_t extend_usec)
{
	if (w->doors)
		return;
	if (extend_usec && !w->is_ready)
		sd_notifyf(false, "STATUS=%s\nEXTEND_TIMEOUT_USEC=%" PRIu64, text,
			   extend_usec + MARGIN_USEC);
	else
		sd_notifyf(false, "STATUS=%s", text);
}

/* A pass is over: say so, and see what has to be looked at again. */
static int on_result(struct watch *w)
{
	const struct pass_result *res = &w->result;
	int r = 0;

	w->is_first = false;
	tell_status(w, res->summary, w->config.service.ready_timeout_usec);

	/* "apply" waits for what its own changes bring, also on a node that was degraded before. */
	if (w->doors && (res->exit_code == 0 || res->n_waiting == 0 || w->is_settled))
		return sd_event_exit(w->event, res->exit_code);

	if (!w->doors && res->state != NODE_STARTING) {
		if (!w->is_ready)
			sd_notify(false, "READY=1");
		w->is_ready = true;
		w->is_settled = true;
		r = sd_event_source_set_enabled(w->deadline, SD_EVENT_OFF);
	}

	if (r >= 0 && w->is_again) {
		w->is_again = false;
		return look_soon(w);
	}
	if (r >= 0 && res->n_waiting > 0 && w->look_usec <= LOOK_LAST_USEC) {
		r = arm(w->look, now_usec(w) + w->look_usec);
		w->look_usec *= 2;
	}
	return r;
}

static int on_worker_message(sd_event_source *s _unused_, int fd _unused_,
			     uint32_t revents _unused_, void *userdata)
{
	struct watch *w = userdata;
	struct worker_message m;
	int r;

	while ((r = worker_read(&w->worker, &m)) > 0) {
		if (m.kind == WORKER_STARTS) {
			tell_status(w, m.text, m.deadline_usec);
			continue;
		}
		w->has_result = m.error >= 0;
		w->result = m.result;
	}
	if (r < 0)
		w->worker_io = sd_event_source_unref(w->worker_io);
	return 0;
}

static int on_worker_end(sd_event_source *s _unused_, const siginfo_t *si, void *userdata)
{
	struct watch *w = userdata;
	int r;

	/* What it wrote last may still be in the pipe. */
	if (w->worker_io)
		on_worker_message(NULL, -1, 0, w);
	w->worker_io = sd_event_source_unref(w->worker_io);
	w->worker_end = sd_event_source_unref(w->worker_end);
	close(TAKE_FD(w->worker.pipe));
	w->worker.pid = 0;

	if (w->has_result)
		return leave_on_error(w, on_result(w));

	log_error("A pass ended without a result (%s %d), trying again",
		  si->si_code == CLD_EXITED ? "exit code" : "signal", si->si_status);
	w->look_usec = MIN(w->look_usec * 2, STORM_USEC);
	r = arm(w->look, now_usec(w) + w->look_usec);
	return leave_on_error(w, r);
}

static int start_worker(struct watch *w)
{
	int r;

	w->has_result = false;
	w->result = (struct pass_result){};
	r = worker_start(&w->config, w->is_settled, w->is_first, &w->worker);
	if (r < 0)
		return log_error_errno(r, "A pass cannot be started");

	r = sd_event_add_io(w->event, &w->worker_io, w->worker.pipe, EPOLLIN, on_worker_message, w);
	if (r >= 0)
		r = sd_event_add_child(w->event, &w->worker_end, w->worker.pid, WEXITED,
				       on_worker_end, w);
	return r;
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
	struct pass pass = { &w->config, w->is_settled, w->is_first, on_start, NULL };
	int r;

	w->storm_usec = 0;
	if (!w->doors)
		return w->worker.pid ? 0 : start_worker(w);

	r = run_pass(w->doors, &pass, &w->result);
	return r < 0 ? r : on_result(w);
}

static int on_settled(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	struct watch *w = userdata;

	return leave_on_error(w, start_pass(w));
}

static int on_deadline(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	struct watch *w = userdata;

	w->is_settled = true;
	w->is_again = w->worker.pid != 0;
	return leave_on_error(w, start_pass(w));
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
	/* What the pass is about is found again by the next one, whatever instant it ends at. */
	if (w->worker.pid)
		kill(w->worker.pid, SIGKILL);
	return sd_event_exit(w->event, 0);
}

static int load_config(struct watch *w)
{
	struct doors d = {};
	struct config c = {};
	int r;

	r = run_open(NULL, &d);
	if (r < 0)
		return r;
	r = run_load_config(&d, w->file, &c);
	run_close(&d);
	if (r < 0)
		return r;

	config_done(&w->config);
	w->config = c;
	return 0;
}

static int on_reload(sd_event_source *s _unused_, const struct signalfd_siginfo *si _unused_,
		     void *userdata)
{
	struct watch *w = userdata;
	int r;

	if (w->is_ready)
		sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now_usec(w));
	r = load_config(w);
	if (r < 0)
		log_error_errno(r, "The configuration is kept as it was");
	w->is_first = true;
	r = look_soon(w);
	if (r >= 0 && !w->worker.pid)
		r = arm(w->settle, now_usec(w));
	if (w->is_ready)
		sd_notify(false, "READY=1");
	return leave_on_error(w, r);
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
		r = add_timer(w, &w->settle, on_settled);
	if (r >= 0)
		r = add_timer(w, &w->look, on_settled);
	if (r >= 0)
		r = add_timer(w, &w->deadline, on_deadline);
	if (r >= 0)
		r = arm(w->deadline, now_usec(w) + w->config.service.ready_timeout_usec);
	return r < 0 ? log_error_errno(r, "Events cannot be subscribed to") : 0;
}

static void close_watch(struct watch *w)
{
	sd_event_source_unref(w->settle);
	sd_event_source_unref(w->look);
	sd_event_source_unref(w->deadline);
	sd_event_source_unref(w->worker_io);
	sd_event_source_unref(w->worker_end);
	uevents_done(&w->uevents);
	netlink_done(&w->events);
	sd_event_unref(w->event);
	if (w->worker.pid)
		close(w->worker.pipe);
}

int watch_service(const char *file)
{
	struct watch w = { .file = file, .is_first = true, .look_usec = LOOK_FIRST_USEC };
	int r;

	r = load_config(&w);
	if (r < 0)
		return r;
	r = open_watch(&w);
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
	config_done(&w.config);
	return r;
}

int watch_apply(struct doors *d, const struct config *c)
{
	struct watch w = {
		.doors = d, .config = *c, .is_first = true, .look_usec = LOOK_FIRST_USEC
	};
	struct pass pass = { c, false, true, on_start, NULL };
	int r;

	/* A finished node is told by one look, without subscribing to anything. */
	r = run_pass(d, &pass, &w.result);
	if (r < 0)
		return r;
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
