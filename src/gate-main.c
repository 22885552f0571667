/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gate main: the program that a kubelet waits for, as [Kubelet] Gate= says. Units run it; for
 * people "rdma-provision gate" becomes it (command.c). How it ends is how that verb of
 * rdma-provision(8) does: 0 when the kubelet may start.
 */
#include "base/log.h"
#include "base/standard.h"
#include "load.h"
#include "os/manager.h"
#include "wait.h"

#include <sys/prctl.h>

#define USAGE                                                                                      \
	"usage: rdma-provision-gate [--strict] [--debug] [--root=DIR] [--config=FILE], by "        \
	"systemd; \"rdma-provision gate\" is for people"

#define SERVICE_UNIT "rdma-provision.service"
#define STRICT_USEC  (2 * USEC_PER_SEC) /* else systemd restarts a kubelet ten times a second */

struct gate {
	struct manager_watch watch; /* of the service */
	int fd;                     /* of it; -EBADF: there is none */
	bool is_strict;
};

/* "systemctl daemon-reexec" closes the connection: connect once more. */
static bool look_at_service(struct gate *g, struct manager_activity *ret)
{
	for (int i = 0; i < 2; i++) {
		if (g->fd < 0 && manager_watch_open(SERVICE_UNIT, &g->watch) >= 0)
			g->fd = manager_watch_fd(&g->watch);
		if (g->fd >= 0 && manager_watch_look(&g->watch, ret) >= 0)
			return true;
		manager_watch_done(&g->watch);
		g->fd = -EBADF;
	}
	return false;
}

/*
 * One whose start is queued is still to come in this boot. A service that is active and has left no
 * state could not write one. A strict gate waits whatever the service is at, see STRICT_USEC.
 */
static bool may_come(void *userdata, bool has_state)
{
	struct gate *g = userdata;
	struct manager_activity a = {};

	if (!look_at_service(g, &a))
		return false;
	return g->is_strict || a.has_job || streq(a.active, "activating") ||
	       (has_state && (streq(a.active, "active") || streq(a.active, "reloading")));
}

static int wait_at_gate(const struct fs *fs, bool is_strict, uint64_t limit_usec,
			enum node_state *ret)
{
	struct gate g = { .fd = -EBADF, .is_strict = is_strict };
	const struct wait w = {
		.timeout_usec = fs->is_live ? limit_usec : 0,
		.until_ready = g.is_strict,
		.may_come = may_come,
		.fd = &g.fd,
		.userdata = &g,
	};
	int r = wait_state(fs, &w, ret);

	manager_watch_done(&g.watch);
	return r;
}

static void wait_for_pass(const struct fs *fs, const struct config *c)
{
	enum node_state state;
	int r = wait_at_gate(fs, false, c->service.ready_timeout_usec, &state);

	if (r == -ETIMEDOUT)
		log_warning("The kubelet starts on a node that is starting: ReadyTimeoutSec= is "
			    "over; see \"rdma-provision status\"");
	else if (r < 0)
		log_warning_errno(r, "The kubelet starts, and the state of the node is not known; "
				     "see \"systemctl status " SERVICE_UNIT "\"");
}

static bool is_ready(const struct fs *fs)
{
	enum node_state state = NODE_STARTING;

	wait_at_gate(fs, true, STRICT_USEC, &state);
	if (wait_read_state(fs, &state) < 0)
		state = NODE_STARTING;
	if (state != NODE_READY)
		log_error("The kubelet is held back: Gate=strict and the node is %s; see "
			  "\"rdma-provision status\"",
			  node_state_name(state));
	return state == NODE_READY;
}

/*
 * What keeps a kubelet from starting, as [Kubelet] Gate= says. off: nothing. strict: all but a
 * ready node. degraded: a node that is starting, and it waits there, for it is run in a unit of its
 * own that the kubelet is only ordered after; it always opens in the end: with a warning after
 * ReadyTimeoutSec=, or when no state can be read or will come. Below a --root nothing is waited
 * for.
 */
static bool is_gate_open(const struct fs *fs, const struct config *c)
{
	if (c->kubelet.gate == GATE_DEGRADED)
		wait_for_pass(fs, c);
	return c->kubelet.gate != GATE_STRICT || is_ready(fs);
}

struct gate_command {
	const char *root, *config; /* NULL: the running system, the folders */
	bool is_strict;            /* the generator has read Gate=strict, which holds whatever has
				      become of the files since then */
};

static int run_gate(const struct gate_command *cmd)
{
	_cleanup_(config_done) struct config c = {};
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	int r;

	/* As in serve.c. A failure is no reason to hold a kubelet. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		log_warning_errno(-errno, "PR_SET_DUMPABLE");
	r = fs_open_root(cmd->root, &fs);
	if (r < 0)
		log_error_errno(r, "%s", cmd->root ? cmd->root : "/");
	if (cmd->is_strict)
		return r >= 0 && is_ready(&fs) ? EXIT_SUCCESS : EXIT_FAILURE;
	/* Whatever is wrong with the configuration itself is the service's to tell. */
	if (r < 0 || load_valid(&fs, cmd->config, &c) < 0)
		return EXIT_SUCCESS;
	return is_gate_open(&fs, &c) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static bool parse(int argc, char **argv, struct gate_command *cmd)
{
	for (int i = 1; i < argc; i++) {
		const char *root = after(argv[i], "--root="), *config = after(argv[i], "--config=");

		if (root)
			cmd->root = root;
		else if (config)
			cmd->config = config;
		else if (streq(argv[i], "--strict"))
			cmd->is_strict = true;
		else if (streq(argv[i], "--debug"))
			log_set_level(LOG_LEVEL_DEBUG);
		else
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct gate_command cmd = {};

	if (standard_open() < 0)
		return EXIT_FAILURE;
	if (parse(argc, argv, &cmd))
		return run_gate(&cmd);
	if (argc == 2 && streq(argv[1], "--help"))
		return standard_print(USAGE "\n") < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	log_error(USAGE);
	return EXIT_FAILURE;
}
