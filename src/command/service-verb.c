/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Service: the verb run, and apply and wait, which have a running service make its pass and wait
 * for it; gate and kubelet-ensure, which run before each start of a kubelet.
 */
#include "../base/document.h"
#include "../base/log.h"
#include "../config/load.h"
#include "../model/paths.h"
#include "../os/manager.h"
#include "../pass/live.h"
#include "../pass/loop.h"
#include "../pass/report.h"
#include "../service/apply-request.h"
#include "../service/service.h"
#include "../service/wait.h"
#include "session.h"
#include "status.h"

#include <sys/prctl.h>

#define UNIT        "rdma-provision.service"
#define TOLD_ITEMS  3 /* reasons, of all */
#define STRICT_USEC (2 * USEC_PER_SEC)
#define PASS_USEC   (10 * USEC_PER_SEC) /* for the pass of the service at least */

int command_run(const struct command *cmd)
{
	return service_run(cmd->config) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* With --json: the state as it was left. */
static int print_state(const struct command *cmd, const struct fs *fs)
{
	_cleanup_(freep) char *state = NULL;
	int r = fs_read_all(fs, STATE_PATH, MAX_STATE_BYTES, false, &state, NULL);

	if (r < 0 && cmd->is_json)
		log_error_errno(r, "/" STATE_PATH);
	if (r < 0)
		return cmd->is_json ? EXIT_FAILURE : EXIT_SUCCESS;
	if (!cmd->config && status_add_config_changed(fs, &state) > 0)
		log_warning("%s: %s. %s", reason_code(REASON_CONFIG_CHANGED),
			    reason_meaning(REASON_CONFIG_CHANGED),
			    reason_advice(REASON_CONFIG_CHANGED));
	return cmd->is_json ? session_print(state) : EXIT_SUCCESS;
}

static int run_pass(void *userdata, const struct pass *pass, struct pass_result *ret)
{
	const struct world world = live_world(userdata);

	return loop_pass(&world, pass, ret);
}

/* The first of the reasons that the last pass left. Return: how many there are; -errno: there is no
 * state. */
static int tell_reasons(const struct fs *fs, const char *before)
{
	_cleanup_(freep) char *text = NULL;
	json_auto_t *state = NULL;
	const json_t *reasons, *item;
	size_t size, i;
	int r = fs_read_all(fs, STATE_PATH, MAX_STATE_BYTES, false, &text, &size);

	if (r >= 0)
		r = document_parse(text, size, 0, &state, NULL);
	if (r < 0)
		return r;
	reasons = json_object_get(state, "reasons");
	json_array_foreach(reasons, i, item) {
		const char *target = document_get_text(item, "target");
		const char *detail = document_get_text(item, "detail");

		if (i < TOLD_ITEMS)
			log_info("%s%s: %s: %s%s%s", before, *target ? target : "the node",
				 document_get_text(item, "code"),
				 document_get_text(item, "meaning"), *detail ? ": " : "", detail);
	}
	if (i > TOLD_ITEMS)
		log_info("... and %zu more: \"rdma-provision status\"", i - TOLD_ITEMS);
	return (int)i;
}

static int ask_service(const struct fs *fs, uint64_t timeout_usec)
{
	struct apply_request req = {};
	int r = apply_request_make(fs, &req);

	if (r >= 0) {
		log_info(
			UNIT
			" reads the configuration and makes the pass; its journal has each change");
		r = apply_request_wait(fs, &req, timeout_usec);
	}
	if (r == -ETIMEDOUT) {
		log_error(UNIT " did not end its pass within %" PRIu64
			       " s; it goes on: \"rdma-provision wait\", \"rdma-provision status\"",
			  timeout_usec / USEC_PER_SEC);
		return EXIT_CODE_NOT_YET;
	}
	if (r < 0)
		log_error_errno(r, r == -ESRCH ? UNIT " ended before its pass did"
					       : UNIT " cannot be asked for a pass");
	if (r == EXIT_CODE_DEGRADED)
		tell_reasons(fs, "");
	return r;
}

/* Has a running service make the pass: two configurations must not take turns on the node. */
static int apply(const struct command *cmd, struct session *s)
{
	struct apply_request service;
	int r = apply_request_find(&s->os.fs, &service);

	if (r < 0)
		return log_error_errno(r, "/" REQUEST_PATH);
	if (r == 0 && fs_exists(&s->os.fs, HOLD_PATH))
		r = fs_remove(&s->os.fs, HOLD_PATH);
	if (r < 0)
		return log_error_errno(r, "/" HOLD_PATH);
	if (r == 0)
		return service_apply(run_pass, &s->os, &s->config, cmd->config);
	if (!cmd->config)
		return ask_service(&s->os.fs, MAX(s->config.service.ready_timeout_usec, PASS_USEC));
	log_error("--config=%s: " UNIT " runs, with the configuration of the node: stop it first",
		  cmd->config);
	return -EBUSY;
}

int command_apply(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	int r = session_open(cmd, &s);

	if (r < 0 || s.config.is_invalid)
		return EXIT_FAILURE;

	r = apply(cmd, &s);
	return r < 0 || print_state(cmd, &s.os.fs) != EXIT_SUCCESS ? EXIT_FAILURE : r;
}

struct waiting {
	const struct fs *fs;
	struct manager_watch watch;
	int fd; /* of it; -EBADF: there is no systemd that answers */
	struct manager_activity activity;
};

/* Logs what keeps the node from being ready, as the last pass left it. */
static void tell_waiting(void *userdata)
{
	const struct waiting *w = userdata;
	int r = tell_reasons(w->fs, "Waiting for ");

	if (r < 0)
		log_info("Waiting for the first pass of " UNIT "%s%s",
			 w->fd >= 0 ? ", which is " : "", w->activity.active);
	else if (r == 0)
		log_info("Waiting for the pass of " UNIT " to end");
}

/* Is the state that of another configuration than the service starts with? */
static bool is_of_other_config(const struct fs *fs)
{
	_cleanup_(freep) char *state = NULL;

	return fs_read_all(fs, STATE_PATH, MAX_STATE_BYTES, false, &state, NULL) >= 0 &&
	       status_add_config_changed(fs, &state) > 0;
}

/* A service that ends no start or reload has made its state. Where systemd cannot be asked that is
 * not known, and the state that is there counts. */
static enum wait_for what_comes(void *userdata)
{
	struct waiting *w = userdata;
	const struct manager_activity *a = &w->activity;

	if (w->fd >= 0 && manager_watch_look(&w->watch, &w->activity) < 0) {
		manager_watch_done(&w->watch);
		w->fd = -EBADF;
	}
	if (w->fd < 0 || (!a->has_job && streq(a->active, "active")))
		return WAIT_ANY;
	if (!a->has_job && (streq(a->active, "inactive") || streq(a->active, "failed")))
		return WAIT_NOTHING;
	return is_of_other_config(w->fs) ? WAIT_NEXT : WAIT_ANY;
}

static int wait_for_node(const struct command *cmd, struct waiting *w, enum node_state *ret)
{
	const struct wait request = {
		.timeout_usec = cmd->timeout_usec,
		.what = what_comes,
		.on_tick = isatty(STDERR_FILENO) ? tell_waiting : NULL,
		.fd = &w->fd,
		.userdata = w,
	};

	return wait_state(w->fs, &request, ret);
}

int command_wait(const struct command *cmd)
{
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	struct waiting w = { .fs = &fs, .fd = -EBADF };
	enum node_state state;
	int r = fs_open_root(NULL, &fs);

	if (r >= 0 && manager_watch_open(UNIT, &w.watch) >= 0)
		w.fd = manager_watch_fd(&w.watch);
	if (r >= 0)
		r = wait_for_node(cmd, &w, &state);
	if (r == -ETIMEDOUT) {
		log_info("The node is not ready yet.");
		tell_waiting(&w);
	}
	manager_watch_done(&w.watch);
	if (r == -ETIMEDOUT) {
		print_state(cmd, &fs); /* there may be none */
		return ferror(stdout) ? EXIT_FAILURE : EXIT_CODE_NOT_YET;
	}
	if (r == -ESRCH) {
		log_error(UNIT
			  " is %s, so the node does not get ready; see \"systemctl status " UNIT
			  "\"",
			  streq(w.activity.load, "loaded") ? w.activity.active : w.activity.load);
		return EXIT_FAILURE;
	}
	if (r < 0) {
		log_error_errno(r, "The state cannot be waited for");
		return EXIT_FAILURE;
	}
	if (print_state(cmd, &fs) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	return session_exit_code(state);
}

int command_kubelet(const struct command *cmd)
{
	return session_become_kubelet(cmd, false);
}

/* Waits whatever the service does: without the wait systemd restarts a kubelet ten times a
 * second. */
static bool is_ready(const struct fs *fs)
{
	const struct wait w = { .timeout_usec = fs->is_live ? STRICT_USEC : 0,
				.until_ready = true };
	enum node_state state;

	wait_state(fs, &w, &state);
	if (wait_read_state(fs, &state) < 0)
		state = NODE_STARTING;
	if (state != NODE_READY)
		log_error("The kubelet is held back: Gate=strict and the node is %s; see "
			  "\"rdma-provision status\"",
			  node_state_name(state));
	return state == NODE_READY;
}

/* --strict: by the drop-in of Gate=strict, which holds whatever the files have become since. */
int command_gate(const struct command *cmd)
{
	_cleanup_(config_done) struct config c = {};
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	int r;

	/* As in helper-verb.c. A failure is no reason to hold a kubelet. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		log_warning_errno(-errno, "PR_SET_DUMPABLE");
	r = fs_open_root(cmd->root, &fs);
	if (r < 0)
		session_refuse_root(cmd, r);
	/* The service reports whatever is wrong with the configuration itself. */
	if (!cmd->is_strict &&
	    (r < 0 || load_valid(&fs, cmd->config, &c) < 0 || c.kubelet.gate != GATE_STRICT))
		return EXIT_SUCCESS;
	return r >= 0 && is_ready(&fs) ? EXIT_SUCCESS : EXIT_FAILURE;
}
