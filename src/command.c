/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "bake.h"
#include "base/log.h"
#include "capture.h"
#include "doors/manager.h"
#include "early.h"
#include "kubelet-revert.h"
#include "live.h"
#include "load.h"
#include "model/paths.h"
#include "nccl.h"
#include "observe/generated.h"
#include "observe/observe.h"
#include "output/actions.h"
#include "preset.h"
#include "report/report.h"
#include "revert.h"
#include "run.h"
#include "serve.h"
#include "set.h"
#include "status.h"
#include "wait.h"
#include "watch.h"

#include <fcntl.h>
#include <sys/stat.h>

#define EXIT_CODE_CHANGES 2 /* of plan */
#define RELOAD_USEC       (60 * USEC_PER_SEC)

/* What most verbs need, released together. */
struct session {
	struct doors doors;
	struct config config;
	struct fs_denied denied;
};

static void session_done(struct session *s)
{
	config_done(&s->config);
	run_close(&s->doors);
}

static int open_root(const struct command *cmd, struct doors *ret)
{
	int r = run_open(cmd->root, ret);

	return r < 0 ? log_error_errno(r, "%s", cmd->root ? cmd->root : "/") : 0;
}

static int open_doors(const struct command *cmd, struct session *ret)
{
	int r;

	r = open_root(cmd, &ret->doors);
	if (r < 0) {
		*ret = (struct session){ .doors.fs.root = -EBADF };
		return r;
	}
	ret->doors.fs.denied = &ret->denied;
	return 0;
}

static int session_open(const struct command *cmd, struct session *ret)
{
	int r = open_doors(cmd, ret);

	return r < 0 ? r : load_config(&ret->doors.fs, cmd->config, &ret->config);
}

/* Prints the whole of a document, or says that nobody took it. */
static int print(const char *text)
{
	if (fputs(text, stdout) == EOF || fflush(stdout) == EOF) {
		log_error_errno(-errno, "The output cannot be written");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

int command_run(const struct command *cmd)
{
	return watch_service(cmd->config) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int command_early(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .doors.fs.root = -EBADF };

	return session_open(cmd, &s) < 0 || early(&s.doors, &s.config) < 0 ? EXIT_FAILURE
									   : EXIT_SUCCESS;
}

int command_plan(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .doors.fs.root = -EBADF };
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};
	_cleanup_(freep) char *text = NULL;
	int r;

	r = session_open(cmd, &s);
	if (r < 0 || s.config.is_invalid)
		return EXIT_FAILURE;

	r = run_plan(&s.doors, &s.config, false, NULL, &n, &p);
	if (r >= 0 && !cmd->config)
		r = run_add_config_changed(&s.config, &n, &p);
	if (r >= 0)
		r = cmd->is_json ? output_actions_json(&p, &text) : output_actions_text(&p, &text);
	if (r < 0 || print(text) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	status_tell_denied(&s.denied);
	return p.n_actions > 0 ? EXIT_CODE_CHANGES : EXIT_SUCCESS;
}

/* With --json: the state as it was left. */
static int print_state(const struct command *cmd, const struct fs *fs)
{
	_cleanup_(freep) char *state = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, STATE_PATH, MAX_STATE_BYTES, false, &state, &size);
	if (r < 0 && cmd->is_json)
		log_error_errno(r, "/" STATE_PATH);
	if (r < 0)
		return cmd->is_json ? EXIT_FAILURE : EXIT_SUCCESS;
	if (!cmd->config && status_add_config_changed(fs, &state) > 0)
		log_warning("%s: %s. %s", reason_code(REASON_CONFIG_CHANGED),
			    reason_meaning(REASON_CONFIG_CHANGED),
			    reason_advice(REASON_CONFIG_CHANGED));
	return cmd->is_json ? print(state) : EXIT_SUCCESS;
}

int command_apply(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .doors.fs.root = -EBADF };
	int r;

	r = session_open(cmd, &s);
	if (r < 0 || s.config.is_invalid)
		return EXIT_FAILURE;

	r = watch_apply(&s.doors, &s.config, cmd->config);
	return r < 0 || print_state(cmd, &s.doors.fs) != EXIT_SUCCESS ? EXIT_FAILURE : r;
}

static int exit_code(enum node_state state)
{
	static const int codes[] = {
		[NODE_STARTING] = EXIT_CODE_NOT_YET,
		[NODE_READY] = EXIT_SUCCESS,
		[NODE_DEGRADED] = EXIT_CODE_DEGRADED,
	};

	_Static_assert(ELEMENTSOF(codes) == _NODE_STATE_N, "an exit code for every state");
	return codes[state];
}

int command_status(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .doors.fs.root = -EBADF };
	enum node_state state;
	int r;

	if (cmd->is_follow && cmd->root) {
		log_error("--follow is for the running system: nothing changes below --root");
		return EXIT_FAILURE;
	}
	if (open_doors(cmd, &s) < 0)
		return EXIT_FAILURE;

	if (cmd->is_follow)
		r = status_follow(&s.doors.fs, cmd->is_json, &state);
	else
		r = status_show(&s.doors, cmd->config, cmd->is_json, &state);
	status_tell_denied(&s.denied);
	return r < 0 ? EXIT_FAILURE : exit_code(state);
}

int command_explain(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .doors.fs.root = -EBADF };
	_cleanup_(freep) char *text = NULL;

	if (!cmd->argument) {
		log_error("explain takes a PCI address, netdev or RDMA device, as \"status\" shows "
			  "them, \"kubelet\" or \"plugin\"");
		return EXIT_FAILURE;
	}
	if (session_open(cmd, &s) < 0 ||
	    run_explain(&s.doors, &s.config, cmd->argument, cmd->is_json, &text) < 0)
		return EXIT_FAILURE;
	status_tell_denied(&s.denied);
	return print(text);
}

int command_check(const struct command *cmd)
{
	const char *file = cmd->argument ? cmd->argument : cmd->config;
	_cleanup_(freep) char *text = NULL;
	struct doors d = {};
	int r;

	r = open_root(cmd, &d);
	if (r < 0)
		return EXIT_FAILURE;

	r = run_check(&d, file, cmd->is_json, &text);
	run_close(&d);
	if (r >= 0 && !cmd->is_json && print("The configuration is valid.\n") != EXIT_SUCCESS)
		return EXIT_FAILURE;
	if (text && print(text) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void tell_reboot(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_actions; i++)
		n += p->actions[i].class == CLASS_NEEDS_REBOOT;
	if (p->n_actions == 0)
		log_info("There is nothing to change on the node");
	else if (n > 0)
		log_info("A reboot is needed for %zu of these %zu", n, p->n_actions);
	else
		log_info("No reboot is needed");
}

/* What a reload would do. Whatever goes wrong here is told, and is no failure: it is written. */
static void tell_plan(const struct command *cmd, struct doors *d, const struct config *c)
{
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};
	_cleanup_(freep) char *text = NULL;
	int r = 0;

	if (!run_has_node(&d->fs))
		log_info("There is no node here to plan for: it takes effect when one boots");
	else
		r = run_plan(d, c, false, NULL, &n, &p);
	if (r >= 0 && run_has_node(&d->fs))
		r = cmd->is_json ? output_actions_json(&p, &text) : output_actions_text(&p, &text);
	if (r < 0)
		log_warning_errno(r, "What a reload would do cannot be told");
	if (!text) {
		if (cmd->is_json)
			print("null\n");
		return;
	}

	if (p.n_actions > 0)
		log_info("A reload would do this:");
	print(text);
	tell_reboot(&p);
}

/* The kubelet's unit has other lines now: systemd reads them, and starts nothing. */
static void reload_units(void)
{
	int r = manager_reload(RELOAD_USEC);

	if (r < 0)
		log_warning_errno(r, "The kubelet's unit is as it was until \"systemctl "
				     "daemon-reload\"");
	else
		log_notice("kubelet.service: systemd has read its drop-ins again");
}

static void tell_change(const struct command *cmd, struct doors *d, const struct set_result *res,
			bool is_written)
{
	if (res->is_same)
		log_info(is_written ? "Nothing to change on the node: the same values were in "
				      "force before"
				    : "Nothing to change");
	if (!res->is_same || cmd->is_json)
		tell_plan(cmd, d, &res->config);
	if (is_written && observe_generated(&d->fs, &res->config) > 0)
		reload_units();
	if (!res->is_same && run_has_node(&d->fs))
		log_info("To put it into force: systemctl reload rdma-provision");
}

static int change_configuration(const struct command *cmd, const struct set_request *req)
{
	struct set_result res = {};
	struct doors d = {};
	int r;

	r = open_root(cmd, &d);
	if (r < 0)
		return EXIT_FAILURE;

	if (req->with_preset && req->preset && !*req->preset) {
		preset_list(&d.fs, "--preset without a name");
		r = -EINVAL;
	} else
		r = set_change(&d.fs, req, &res);
	if (r >= 0)
		tell_change(cmd, &d, &res, r > 0);
	config_done(&res.config);
	run_close(&d);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int command_set(const struct command *cmd)
{
	if (cmd->n_arguments == 0 && !cmd->preset) {
		log_error("set takes SECTION.KEY=VALUE, for example Driver.Mode=compat or \"Device "
			  "nic.MTU=9000\", or --preset=NAME; \"rdma-provision set --help\" tells "
			  "more");
		return EXIT_FAILURE;
	}
	return change_configuration(cmd, &(struct set_request){
						 .keys = cmd->arguments,
						 .n_keys = cmd->n_arguments,
						 .with_preset = cmd->preset,
						 .preset = cmd->preset,
					 });
}

int command_unset(const struct command *cmd)
{
	if (cmd->n_arguments == 0 && !cmd->preset) {
		log_error("unset takes SECTION.KEY, for example Driver.Mode or \"Device "
			  "nic.MTU\", or --preset; \"rdma-provision unset --help\" tells more");
		return EXIT_FAILURE;
	}
	if (cmd->preset && *cmd->preset) {
		log_error("--preset=%s: unset takes --preset without a name", cmd->preset);
		return EXIT_FAILURE;
	}
	return change_configuration(cmd, &(struct set_request){
						 .is_unset = true,
						 .keys = cmd->arguments,
						 .n_keys = cmd->n_arguments,
						 .with_preset = cmd->preset,
					 });
}

int command_wait(const struct command *cmd)
{
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	enum node_state state;
	int r;

	r = fs_open_root(NULL, &fs);
	if (r >= 0)
		r = wait_state(&fs, cmd->timeout_usec, NULL, &state);
	if (r == -ETIMEDOUT) {
		log_info("The node is not ready yet.");
		print_state(cmd, &fs);
		return EXIT_CODE_NOT_YET;
	}
	if (r < 0) {
		log_error_errno(r, "The state cannot be waited for");
		return EXIT_FAILURE;
	}
	if (print_state(cmd, &fs) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	return exit_code(state);
}

#define REVERT_SEC 60 /* looks at the kubelet again for each value that goes back */

static void on_reverted(const char *key, const char *path, const char *left)
{
	if (left)
		log_warning("%s: %s is left: %s", path, key, left);
	else
		log_notice("%s: %s is as it was, or somebody else's", path, key);
}

int command_revert(const struct command *cmd)
{
	struct doors d = {};
	struct world w;
	int r, r_kubelet;

	r = open_root(cmd, &d);
	if (r < 0)
		return EXIT_FAILURE;

	/* Of a tree that is no running system there is nothing to take back but files. Each part
	 * is taken back whatever became of the other. */
	w = live_world(&d);
	r = d.fs.is_live ? revert(&w, cmd->with_vfs) : 0;
	if (!cmd->root)
		command_limit("revert of the kubelet's files", REVERT_SEC, EXIT_FAILURE);
	r_kubelet = kubelet_revert(&d.fs, on_reverted);
	if (r_kubelet < 0)
		log_error_errno(r_kubelet, "kubelet");
	run_close(&d);
	return r < 0 || r_kubelet != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int command_bake(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .doors.fs.root = -EBADF };
	int r;

	r = session_open(cmd, &s);
	if (r < 0 || (s.config.is_invalid && !cmd->is_undo))
		return EXIT_FAILURE;
	return (cmd->is_undo ? bake_undo(&s.doors) : bake(&s.doors, &s.config)) < 0 ? EXIT_FAILURE
										    : EXIT_SUCCESS;
}

int command_nccl_env(const struct command *cmd)
{
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	_cleanup_(node_done) struct node recorded = {};
	int r;

	if (cmd->is_export && cmd->is_conf) {
		log_error("--export and --conf are two forms: take one");
		return EXIT_FAILURE;
	}
	r = fs_open_root(cmd->root, &fs);
	if (r < 0) {
		log_error_errno(r, "%s", cmd->root ? cmd->root : "/");
		return EXIT_FAILURE;
	}
	if (!fs.is_live)
		r = observe_answers(&fs, &recorded);
	if (r >= 0)
		r = nccl_env(&fs, &recorded, cmd->is_export, cmd->is_exact);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int command_capture(const struct command *cmd)
{
	const char *path = cmd->argument ? cmd->argument : "rdma-provision-capture.tar";
	const bool is_stdout = streq(path, "-");
	struct doors d = {};
	int r;

	r = open_root(cmd, &d);
	if (r < 0)
		return EXIT_FAILURE;
	r = is_stdout ? capture(&d, cmd->config, STDOUT_FILENO)
		      : capture_file(&d, cmd->config, path);
	run_close(&d);
	if (r < 0) {
		log_error_errno(r, "%s", path);
		return EXIT_FAILURE;
	}

	if (!is_stdout)
		log_info("%s: unpack it into a folder and use --root=FOLDER with plan or status",
			 path);
	return EXIT_SUCCESS;
}

int command_helper(const struct command *cmd)
{
	return serve(cmd->argument) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
