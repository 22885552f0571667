/* SPDX-License-Identifier: Apache-2.0 */
#include "service.h"

#include "../base/log.h"
#include "../config/load.h"
#include "../guard/process-observe.h"
#include "../model/paths.h"
#include "../os/devlink.h"
#include "../os/events.h"
#include "../os/manager.h"
#include "../os/uevent.h"
#include "../pass/report.h"
#include "../show/state.h"
#include "apply-request.h"
#include "schedule.h"
#include "worker.h"

#include <signal.h>
#include <sys/inotify.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

/* No STATUS= for shorter actions: nobody could read it, and each update wakes PID 1. */
#define TELL_USEC (250 * USEC_PER_MSEC)
/*
 * Until READY=1 a pass brings hundreds of events, and a wakeup for each takes the processors from
 * udev. During a pass all events mean the same: another look is due after it.
 */
#define REST_USEC (250 * USEC_PER_MSEC)
/* A killed worker is gone long before; one that is stuck in the kernel is left to systemd. */
#define STOP_USEC (1 * USEC_PER_SEC)

struct watch {
	/* Makes a pass of "apply", in this process. NULL: passes run in workers. */
	int (*run_here)(void *userdata, const struct pass *pass, struct pass_result *ret);
	void *userdata;
	const char *file; /* --config */
	struct config config;
	struct schedule schedule;
	sd_event *event;
	struct fs fs; /* of the service; "apply" has its own */
	int requests; /* owned; of apply_request_listen(); -EBADF: none can be made */
	uint64_t request;
	struct uevents uevents;
	struct netlink events, devlink;
	struct link_log link_log; /* with [Health] */
	sd_event_source *timers[_TIMER_N], *tell, *worker_io, *worker_end, *worker_limit;
	sd_event_source *uevent_io, *netlink_io, *rest; /* the two are off until it expires */
	uint64_t armed_usec[_TIMER_N];                  /* as the timers are set */
	char files[2][256];                             /* of struct pass_result, as watched */
	sd_event_source *file_events[2];
	struct worker worker;
	uint64_t limit_usec;          /* when the worker is given up */
	struct worker_message making; /* what the worker is at */
	uint32_t n_made;              /* VFs of it that were seen last */
	bool is_stopping;             /* the loop ends with the worker */
	bool sees_neighbours;
	bool is_whole;   /* its look found nothing left to be done */
	bool is_other;   /* the configuration is not the one before */
	bool is_asked;   /* of struct schedule_input */
	bool has_result; /* of the present worker */
	int error;       /* of its pass as a whole */
	struct pass_result result;
	char problem[64]; /* why there is no result */
};

static int handle(struct watch *w, enum schedule_event event);
static int end_pass(struct watch *w);
static int read_changed(struct watch *w);
static int reload(struct watch *w);
static int take_uevents(struct watch *w);

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

static void tell_status(struct watch *w, const char *text, uint64_t extend_usec)
{
	if (w->run_here)
		return;
	if (extend_usec && (!w->schedule.is_ready || w->schedule.is_reloading))
		sd_notifyf(false, "STATUS=%s\nEXTEND_TIMEOUT_USEC=%" PRIu64, text,
			   extend_usec + WORKER_MARGIN_USEC);
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
	char text[256];

	if (!m->pf[0])
		return;
	if (fs_count(&w->fs, FS_PATH("sys/bus/pci/devices/%s", m->pf), "virtfn", &n_made) < 0 ||
	    n_made == w->n_made)
		return;
	w->n_made = n_made;
	PRINT(text, "%s, %" PRIu32 " of %" PRIu32, m->text, n_made, m->n_vfs);
	tell_status(w, text, 0);
}

static int on_tell(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	struct watch *w = userdata;

	tell_status(w, w->making.text, w->making.deadline_usec);
	return 0;
}

/* Quick actions come in rows: the status names one of them now and again. */
static int tell_start(struct watch *w, const struct worker_message *m)
{
	int r, armed;

	r = take_uevents(w);
	if (r < 0)
		return r;
	w->schedule.n_ibdevs_known = w->uevents.n_ibdevs;
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

static int listen_to(struct watch *w, bool is_on)
{
	const int enabled = is_on ? SD_EVENT_ON : SD_EVENT_OFF;
	int r = sd_event_source_set_enabled(w->uevent_io, enabled);

	return r < 0 ? r : sd_event_source_set_enabled(w->netlink_io, enabled);
}

static int on_rested(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	struct watch *w = userdata;

	return leave_on_error(w, listen_to(w, true));
}

/* Stops reading events for REST_USEC after one of them. */
static int rest(struct watch *w)
{
	int r;

	if (w->schedule.state != SCHEDULE_PASS || w->schedule.is_ready)
		return 0;
	r = listen_to(w, false);
	return r < 0 ? r : arm(w->rest, now_usec() + REST_USEC);
}

static void forget_worker(struct watch *w)
{
	leave_on_error(w, listen_to(w, true));
	w->worker_io = sd_event_source_unref(w->worker_io);
	w->worker_end = sd_event_source_unref(w->worker_end);
	sd_event_source_set_enabled(w->worker_limit, SD_EVENT_OFF);
	sd_event_source_set_enabled(w->tell, SD_EVENT_OFF);
	worker_done(&w->worker);
	w->making = (struct worker_message){};
}

static int set_limit(struct watch *w, const struct worker_message *m)
{
	w->limit_usec = worker_limit(m, now_usec(), w->limit_usec);
	return arm(w->worker_limit, w->limit_usec);
}

/* Handles a pass without a result: it died, was stuck, or could not look at the node. */
static int fail(struct watch *w)
{
	log_error("A pass failed (%s), trying again in %" PRIu64 " s", w->problem,
		  w->schedule.retry_usec / USEC_PER_SEC);
	link_log_break(&w->link_log, now_usec()); /* what it did to links may not be remembered */
	w->has_result = false;
	return handle(w, EVENT_FAILED);
}

static int on_worker_message(sd_event_source *s _unused_, int fd _unused_,
			     uint32_t revents _unused_, void *userdata)
{
	struct watch *w = userdata;
	struct worker_message m;
	int r;

	while ((r = worker_read(&w->worker, &m)) > 0) {
		if (m.kind == WORKER_ENDS) {
			w->has_result = true;
			w->error = m.error;
			w->result = m.result;
		} else if (m.kind == WORKER_LOOKED) {
			w->is_whole = m.is_ready;
			r = read_changed(w);
			if (r >= 0)
				r = handle(w, EVENT_LOOKED);
		} else {
			r = tell_start(w, &m);
			if (r >= 0)
				r = set_limit(w, &m);
		}
		if (r < 0)
			return leave_on_error(w, r);
	}
	if (r < 0)
		w->worker_io = sd_event_source_unref(w->worker_io);
	return 0;
}

static int on_worker_end(sd_event_source *s _unused_, const siginfo_t *si, void *userdata)
{
	struct watch *w = userdata;

	if (w->is_stopping)
		return sd_event_exit(w->event, 0);

	/* The last message of the worker may still be in the pipe. */
	if (w->worker_io)
		on_worker_message(NULL, -1, 0, w);
	forget_worker(w);

	if (w->schedule.state == SCHEDULE_CANCELLED)
		return leave_on_error(w, handle(w, EVENT_ENDED));
	if (w->has_result && w->error >= 0)
		return leave_on_error(w, end_pass(w));

	if (w->has_result)
		COPY(w->problem, strerror(-w->error));
	else
		PRINT(w->problem, "its process ended by %s %d",
		      si->si_code == CLD_EXITED ? "exit code" : "signal", si->si_status);
	return leave_on_error(w, fail(w));
}

/* sd-event has reaped the worker by then. */
static int on_left_end(sd_event_source *s _unused_, const siginfo_t *si _unused_,
		       void *userdata _unused_)
{
	return 0;
}

/* A process stuck in the kernel does not die; it is left behind, and the loop goes on. */
static int on_worker_limit(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	struct watch *w = userdata;
	const pid_t pid = w->worker.pid;
	int r;

	if (w->is_stopping)
		return sd_event_exit(w->event, 0);
	if (!pid)
		return 0;
	kill(pid, SIGKILL);
	forget_worker(w);
	r = sd_event_add_child(w->event, NULL, pid, WEXITED, on_left_end, NULL);
	if (r < 0)
		log_error_errno(r, "Process %d stays a zombie", (int)pid);
	COPY(w->problem, "it did not come back in its time");
	return leave_on_error(w, fail(w));
}

static void on_start(void *userdata _unused_, const struct action *a,
		     uint64_t deadline_usec _unused_)
{
	char text[192];

	action_describe(a, text, sizeof(text));
	log_debug("%s", text);
}

static struct pass make_pass(const struct watch *w)
{
	struct pass pass = { .config = &w->config,
			     .is_kept = !w->file,
			     .link_log = config_watches_links(&w->config) ? &w->link_log : NULL };

	schedule_fill(&w->schedule, &pass);
	if (w->run_here)
		pass.on_start = on_start;
	return pass;
}

static int start_worker(struct watch *w, bool is_held)
{
	const struct pass pass = make_pass(w);
	int r;

	w->has_result = false;
	w->result = (struct pass_result){};
	r = worker_start(&pass, is_held, &w->worker);
	if (r < 0) {
		COPY(w->problem, strerror(-r));
		return fail(w);
	}

	r = sd_event_add_io(w->event, &w->worker_io, w->worker.pipe, EPOLLIN, on_worker_message, w);
	if (r >= 0)
		r = sd_event_add_child(w->event, &w->worker_end, w->worker.pid, WEXITED,
				       on_worker_end, w);
	w->limit_usec = 0;
	return r < 0 ? r : set_limit(w, &(struct worker_message){ .kind = WORKER_STARTS });
}

/* Makes a pass of "apply" in this process. */
static int run_here(struct watch *w)
{
	const struct pass pass = make_pass(w);
	int r = w->run_here(w->userdata, &pass, &w->result);

	return r < 0 ? r : handle(w, EVENT_RESULT);
}

/* The state when no pass can tell it */

/* Makes a new state, with the reason alone, where state.json is of another boot or missing. */
static int make_degraded(const struct config *c, const char *boot_id, enum reason reason,
			 const char *detail, char **ret)
{
	_cleanup_(plan_done) struct plan p = { .state = NODE_DEGRADED };
	const struct memory memory = {};
	struct node n = {};

	COPY(n.boot_id, boot_id);
	plan_add_hint(&p, reason, "", "%s", detail);
	return plan_result(&p) ?: output_state(c, &n, &memory, &p, ret);
}

/* While the node was starting, nobody was told what it lacked. */
static int tell_news(const char *before, const char *state)
{
	_cleanup_(freep) struct news *news = NULL;
	const struct plan none = {};
	size_t n = 0;
	int r = output_news(before, state, &news, &n);

	if (r >= 0)
		report_news(&none, news, n);
	return r;
}

int degrade(const struct config *c, enum reason reason, const char *detail)
{
	_cleanup_(freep) char *before = NULL, *state = NULL;
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	char boot_id[sizeof(((struct node *)0)->boot_id)];
	int r = fs_open_root(NULL, &fs);

	if (r >= 0)
		r = fs_read(&fs, "proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	if (r < 0)
		return r;
	r = fs_read_all(&fs, STATE_PATH, MAX_STATE_BYTES, false, &before, NULL);
	if (r >= 0)
		r = output_degrade(before, boot_id, c->hash, reason, detail, &state);
	if (r < 0 && r != -ENOMEM)
		r = make_degraded(c, boot_id, reason, detail, &state);
	if (r >= 0)
		r = fs_remove(&fs, READY_PATH);
	if (r < 0)
		return r;
	/* The running pass may be writing its own state at this very moment. */
	r = fs_replace(&fs, DEGRADED_PATH, state, strlen(state), 0644);
	if (r >= 0)
		r = fs_rename(&fs, DEGRADED_PATH, STATE_PATH, false);
	return r < 0 ? r : tell_news(before, state);
}

static int degrade_failed(struct watch *w)
{
	int r = degrade(&w->config, REASON_WORKER_DIED, w->problem);

	if (r >= 0)
		tell_status(w, "degraded: passes fail, see the journal", 0);
	else
		log_error_errno(r, "The state cannot be written to /" STATE_PATH);
	return 0;
}

static int degrade_late(struct watch *w)
{
	const char *step = w->making.text[0] ? w->making.text : "looking at the node";
	char text[256];
	int r = degrade(&w->config, REASON_READY_TIMEOUT, step);

	if (r < 0)
		log_error_errno(r, "The state cannot be written to /" STATE_PATH);
	PRINT(text, "degraded: ReadyTimeoutSec= is over, still %s", step);
	tell_status(w, text, 0);
	return 0;
}

static int answer(struct watch *w)
{
	const int exit_code = w->has_result ? w->result.exit_code : EXIT_FAILURE;
	int r = apply_request_answer(&w->fs, w->request, exit_code);

	if (r < 0)
		log_error_errno(r, "/" ANSWER_PATH ": \"apply\" waits in vain");
	return 0;
}

static int send_reloading(struct watch *w _unused_)
{
	sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now_usec());
	return 0;
}

static int send_reloaded(struct watch *w _unused_)
{
	sd_notify(false, "READY=1");
	return 0;
}

/*
 * systemd merges a reload into a start that is not over, so files that changed during the start are
 * looked at once more. A file that changes after this needs a reload that is one: READY=1 is
 * dispatched before calls over D-Bus (EVENT_PRIORITY_NOTIFY in src/core/manager.h).
 */
static int send_ready(struct watch *w)
{
	sd_notify(false, "READY=1");
	return load_is_changed(&w->fs, w->file, &w->config) ? reload(w) : 0;
}

static int kill_worker(struct watch *w)
{
	return kill(w->worker.pid, SIGKILL) < 0 ? -errno : 0;
}

static int start_look(struct watch *w)
{
	return start_worker(w, true);
}

static int start_pass(struct watch *w)
{
	return w->run_here ? run_here(w) : start_worker(w, false);
}

static int release_worker(struct watch *w)
{
	return worker_release(&w->worker);
}

static int leave(struct watch *w)
{
	return sd_event_exit(w->event, w->result.exit_code);
}

static int arm_timers(struct watch *w)
{
	int r = 0;

	for (enum schedule_event i = 0; i < _TIMER_N && r >= 0; i++) {
		const uint64_t at_usec = w->schedule.at_usec[i];

		if (at_usec == w->armed_usec[i])
			continue;
		w->armed_usec[i] = at_usec;
		r = at_usec == SCHEDULE_NEVER
			    ? sd_event_source_set_enabled(w->timers[i], SD_EVENT_OFF)
			    : arm(w->timers[i], at_usec);
	}
	return r;
}

/* The service's half of schedule.h: what the schedule decides is done here. */
static int handle(struct watch *w, enum schedule_event event)
{
	static int (*const todos[])(struct watch *w) = {
		degrade_failed, degrade_late, answer,     send_reloading, send_reloaded, send_ready,
		kill_worker,    start_look,   start_pass, release_worker, leave,
	};
	const struct schedule_input in = { .now_usec = now_usec(),
					   .is_whole = w->is_whole,
					   .is_other = w->is_other,
					   .is_asked = w->is_asked,
					   .config = &w->config,
					   .result = &w->result };
	unsigned todo;
	int r;

	w->schedule.n_ibdevs = w->uevents.n_ibdevs;
	todo = schedule_event(&w->schedule, event, &in);
	r = arm_timers(w);
	for (size_t i = 0; i < ELEMENTSOF(todos) && r >= 0; i++)
		if (todo & 1u << i)
			r = todos[i](w);
	return r;
}

/* The folder of a file is watched, as editors put another file in its place. */
static int on_file(sd_event_source *s, const struct inotify_event *e, void *userdata)
{
	struct watch *w = userdata;
	const bool is_drop_in = s == w->file_events[1];

	if (e->mask & IN_IGNORED) /* the folder is gone: the next pass watches it again */
		w->files[is_drop_in][0] = '\0';
	else if (!is_drop_in && e->len > 0 && !streq(e->name, strrchr(w->files[0], '/') + 1))
		return 0;
	return leave_on_error(w, handle(w, EVENT_CHANGED));
}

static void watch_files(struct watch *w)
{
	const uint32_t mask = IN_CLOSE_WRITE | IN_MOVE | IN_DELETE | IN_ONLYDIR;

	for (size_t i = 0; i < ELEMENTSOF(w->files); i++) {
		char folder[sizeof(w->files[i])];

		if (streq(w->files[i], w->result.files[i]))
			continue;
		COPY(w->files[i], w->result.files[i]);
		COPY(folder, w->files[i]);
		if (i == 0 && *folder)
			*strrchr(folder, '/') = '\0';
		w->file_events[i] = sd_event_source_unref(w->file_events[i]);
		if (*folder && sd_event_add_inotify(w->event, &w->file_events[i], folder, mask,
						    on_file, w) < 0)
			w->files[i][0] = '\0'; /* it is not there: the next pass tries again */
	}
}

static int end_pass(struct watch *w)
{
	int r = read_changed(w);

	watch_files(w);
	tell_status(w, w->result.summary, w->config.service.ready_timeout_usec);
	return r < 0 ? r : handle(w, EVENT_RESULT);
}

/* An expired timer of the schedule. A look that begins ahead keeps the configuration as it is. */
static int on_timer(sd_event_source *source, uint64_t usec _unused_, void *userdata)
{
	struct watch *w = userdata;
	enum schedule_event i = 0;
	int r;

	while (w->timers[i] != source)
		i++;
	w->armed_usec[i] = SCHEDULE_NEVER; /* it is one-shot */
	r = i == TIMER_AHEAD ? 0 : read_changed(w);
	return leave_on_error(w, r < 0 ? r : handle(w, i));
}

/* @is_all: no event is left to be read, so the service may rest. */
static int note_change(struct watch *w, bool is_all)
{
	int r = handle(w, EVENT_CHANGED);

	return r < 0 || !is_all ? r : rest(w);
}

static int take_uevents(struct watch *w)
{
	int r = uevents_drain(&w->uevents);

	if (r == 0)
		return 0;
	if (r < 0)
		log_warning_errno(r, "Device events were lost, looking at everything");
	tell_progress(w);
	return note_change(w, r < UEVENTS_TURN_MAX);
}

static int on_uevent(sd_event_source *s _unused_, int fd _unused_, uint32_t revents _unused_,
		     void *userdata)
{
	struct watch *w = userdata;

	return leave_on_error(w, take_uevents(w));
}

static int on_netlink(sd_event_source *s _unused_, int fd _unused_, uint32_t revents _unused_,
		      void *userdata)
{
	struct watch *w = userdata;
	int r = netlink_drain(&w->events, events_count,
			      config_watches_links(&w->config) ? &w->link_log : NULL);

	if (r == 0)
		return 0;
	if (r < 0)
		link_log_break(&w->link_log, now_usec());
	if (r < 0)
		log_warning_errno(r, "Network events were lost, looking at everything");
	return leave_on_error(w, note_change(w, r < NETLINK_TURN_MAX));
}

static int on_devlink(sd_event_source *s _unused_, int fd _unused_, uint32_t revents _unused_,
		      void *userdata)
{
	struct watch *w = userdata;
	int r = netlink_drain(&w->devlink, devlink_count, NULL);

	return r == 0 ? 0 : leave_on_error(w, handle(w, EVENT_CHANGED)); /* lost ones: look */
}

static int on_terminate(sd_event_source *s _unused_, const struct signalfd_siginfo *si _unused_,
			void *userdata)
{
	struct watch *w = userdata;

	sd_notify(false, "STOPPING=1");
	if (!w->worker.pid || w->is_stopping)
		return sd_event_exit(w->event, 0);

	/* The pass may end at any instant: the next one finds again what it was about. */
	kill(w->worker.pid, SIGKILL);
	w->is_stopping = true;
	return leave_on_error(w, arm(w->worker_limit, now_usec() + STOP_USEC));
}

static int read_config(struct watch *w)
{
	struct config c = {};
	int r = load_config(&w->fs, w->file, &c);

	if (r < 0)
		return r;

	config_done(&w->config);
	w->config = c;
	return 0;
}

/* An older kernel must be asked again and again to probe the routers of IPv6=ra. */
static int watch_neighbours(struct watch *w)
{
	struct utsname name;

	if (!w->config.route.manage || w->config.route.ipv6 != IPV6_RA || w->sees_neighbours ||
	    uname(&name) < 0 || node_has_managed_neighbours(name.release))
		return 0;
	w->sees_neighbours = true;
	return events_add_neighbours(&w->events);
}

/* Removes the file by which "revert" holds a running service: a start or a reload lets it go on. */
static void go_on(const struct watch *w)
{
	int r = fs_remove(&w->fs, HOLD_PATH);

	if (r < 0)
		log_warning_errno(r, "/" HOLD_PATH ": nothing is changed while it is there");
}

/* Reads the configuration, for all that follows. The number of the last request is taken first,
 * since the configuration was written before it. */
static int take_config(struct watch *w)
{
	const uint64_t request = apply_request_take(w->requests);
	char hash[sizeof(w->config.hash)];
	int r;

	w->is_asked = request > w->request;
	w->request = request;
	COPY(hash, w->config.hash);
	r = read_config(w);
	if (r < 0)
		log_error_errno(r, "The configuration is kept as it was");
	w->is_other = !streq(hash, w->config.hash);
	if (w->is_other)
		link_log_break(&w->link_log, now_usec());
	r = watch_neighbours(w);
	return r < 0 ? r : handle(w, EVENT_CONFIG);
}

/* Reads the configuration again when its files have changed and READY=1 was not sent yet. */
static int read_changed(struct watch *w)
{
	if (w->run_here || w->schedule.is_ready || !load_is_changed(&w->fs, w->file, &w->config))
		return 0;
	log_notice("The configuration was changed during the start and is read again");
	return take_config(w);
}

/* The new configuration is in force after the next pass, and READY=1 says so then. */
static int reload(struct watch *w)
{
	int r;

	go_on(w);
	r = take_config(w);
	return r < 0 ? r : handle(w, EVENT_RELOAD);
}

static int on_reload(sd_event_source *s _unused_, const struct signalfd_siginfo *si _unused_,
		     void *userdata)
{
	struct watch *w = userdata;

	return leave_on_error(w, reload(w));
}

/* The signal that "clear" sends. */
static int on_look(sd_event_source *s _unused_, const struct signalfd_siginfo *si _unused_,
		   void *userdata)
{
	struct watch *w = userdata;

	return leave_on_error(w, handle(w, EVENT_CHANGED));
}

static const struct {
	int signal;
	sd_event_signal_handler_t handler; /* NULL: sd_event_add_child() has one */
} signals[] = {
	{ SIGTERM, on_terminate }, { SIGINT, on_terminate }, { SIGHUP, on_reload },
	{ SIGUSR1, on_look },      { SIGCHLD, NULL },
};

static int block_signals(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < ELEMENTSOF(signals); i++)
		sigaddset(&mask, signals[i].signal);
	return sigprocmask(SIG_BLOCK, &mask, NULL) < 0 ? -errno : 0;
}

static int add_signals(struct watch *w)
{
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(signals) && signals[i].handler && r >= 0; i++)
		r = sd_event_add_signal(w->event, NULL, signals[i].signal, signals[i].handler, w);
	return r;
}

static int add_timer(struct watch *w, sd_event_source **ret, sd_event_time_handler_t handler)
{
	int r = sd_event_add_time(w->event, ret, CLOCK_MONOTONIC, UINT64_MAX, 1, handler, w);

	return r < 0 ? r : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

/* Subscribes to devlink; a kernel without it has no events that could be missed. */
static int watch_devlink(struct watch *w)
{
	int r = devlink_watch(&w->devlink);

	if (r < 0) {
		log_debug_errno(r, "devlink: no announcements");
		return 0;
	}
	return sd_event_add_io(w->event, NULL, netlink_fd(&w->devlink), EPOLLIN, on_devlink, w);
}

/* Subscribes first, so that nothing is missed between the look and the wait. */
static int subscribe(struct watch *w)
{
	int r = sd_event_new(&w->event);

	if (r >= 0)
		r = uevents_open(&w->uevents);
	if (r >= 0)
		r = sd_event_add_io(w->event, &w->uevent_io, uevents_fd(&w->uevents), EPOLLIN,
				    on_uevent, w);
	if (r < 0)
		return r;
	link_log_break(&w->link_log, now_usec());
	r = events_open(&w->events);
	if (r >= 0)
		r = sd_event_add_io(w->event, &w->netlink_io, netlink_fd(&w->events), EPOLLIN,
				    on_netlink, w);
	if (r < 0)
		return r;
	r = watch_devlink(w);
	for (size_t i = 0; i < ELEMENTSOF(w->timers) && r >= 0; i++) {
		w->armed_usec[i] = SCHEDULE_NEVER;
		r = add_timer(w, &w->timers[i], on_timer);
	}
	if (r >= 0)
		r = add_timer(w, &w->tell, on_tell);
	if (r >= 0)
		r = add_timer(w, &w->rest, on_rested);
	if (r < 0)
		return r;
	r = add_timer(w, &w->worker_limit, on_worker_limit);
	return r < 0 ? r : watch_neighbours(w);
}

static int open_watch(struct watch *w)
{
	int r = subscribe(w);

	return r < 0 ? log_error_errno(r, "Events cannot be subscribed to") : 0;
}

static void close_watch(struct watch *w)
{
	sd_event_source *const others[] = { w->tell,       w->rest,           w->uevent_io,
					    w->netlink_io, w->worker_limit,   w->worker_io,
					    w->worker_end, w->file_events[0], w->file_events[1] };

	for (size_t i = 0; i < ELEMENTSOF(w->timers); i++)
		sd_event_source_unref(w->timers[i]);
	for (size_t i = 0; i < ELEMENTSOF(others); i++)
		sd_event_source_unref(others[i]);
	uevents_done(&w->uevents);
	netlink_done(&w->events);
	netlink_done(&w->devlink);
	sd_event_unref(w->event);
	if (w->worker.pid)
		worker_done(&w->worker);
}

/* Runs until the event loop ends. */
static int run(struct watch *w)
{
	int r;

	/* Before the helper looks for wishes in it. */
	r = fs_make_folders(&w->fs, WANT_FOLDER);
	if (r < 0)
		log_warning_errno(r, "/" WANT_FOLDER);
	if (!fs_exists(&w->fs, RULES_PATH)) /* udev will have to read them */
		manager_prepare();
	go_on(w);
	r = open_watch(w);
	if (r >= 0)
		r = add_signals(w);
	if (r >= 0)
		r = sd_event_set_watchdog(w->event, true);
	if (r < 0)
		return r;
	tell_status(w, "looking at the node", w->config.service.ready_timeout_usec);
	r = handle(w, TIMER_SETTLE);
	return r < 0 ? r : sd_event_loop(w->event);
}

/*
 * From here on "apply" finds this service, whose configuration is read after that. Without it
 * passes are made all the same, and "apply" makes its own.
 */
static int listen_to_apply(struct watch *w)
{
	int r = block_signals();

	if (r < 0)
		return r;
	w->requests = apply_request_listen(&w->fs);
	if (w->requests == -EBUSY)
		return log_error_errno(-EBUSY, "Another service runs on this node");
	if (w->requests < 0)
		log_warning_errno(w->requests, "/" REQUEST_PATH);
	w->request = apply_request_take(w->requests);
	return 0;
}

int service_run(const char *file)
{
	struct watch w = { .file = file, .fs = { .root = -EBADF }, .requests = -EBADF };
	int r = fs_open_root(NULL, &w.fs);

	if (r >= 0)
		r = listen_to_apply(&w);
	if (r >= 0)
		r = read_config(&w);
	if (r >= 0) {
		schedule_start(&w.schedule, false, &w.config, process_started_usec(&w.fs));
		r = run(&w);
		close_watch(&w);
	}
	closep(&w.requests);
	fs_done(&w.fs);
	config_done(&w.config);
	return r;
}

int service_apply(int (*run_pass)(void *userdata, const struct pass *pass, struct pass_result *ret),
		  void *userdata, const struct config *c, const char *file)
{
	struct watch w = { .run_here = run_pass,
			   .userdata = userdata,
			   .requests = -EBADF,
			   .config = *c,
			   .file = file };
	const struct schedule_input in = { .now_usec = now_usec(), .result = &w.result };
	struct pass pass;
	int r;

	schedule_start(&w.schedule, true, c, in.now_usec);
	schedule_event(&w.schedule, TIMER_SETTLE, &in);
	pass = make_pass(&w);

	/* A finished node is seen by one look, without subscribing to anything. */
	r = run_pass(userdata, &pass, &w.result);
	if (r < 0)
		return r;
	if (schedule_event(&w.schedule, EVENT_RESULT, &in) & DO_EXIT)
		return w.result.exit_code;

	log_info("%s; waiting for the rest", w.result.summary);
	r = open_watch(&w);
	if (r >= 0)
		r = handle(&w, TIMER_SETTLE);
	if (r >= 0)
		r = sd_event_loop(w.event);
	close_watch(&w);
	return r;
}
