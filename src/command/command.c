/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "../base/document.h"
#include "../base/log.h"
#include "../config/load.h"
#include "../health/health-output.h"
#include "../kubelet/generated-observe.h"
#include "../metadata/metadata-ask.h"
#include "../model/paths.h"
#include "../model/qos.h"
#include "../model/units.h"
#include "../nccl/nccl-env.h"
#include "../os/manager.h"
#include "../os/program-path.h"
#include "../os/terminal.h"
#include "../pass/live.h"
#include "../pass/loop.h"
#include "../pass/observe.h"
#include "../pass/report.h"
#include "../service/apply-request.h"
#include "../service/serve.h"
#include "../service/service.h"
#include "../service/wait.h"
#include "../show/actions.h"
#include "capture.h"
#include "inspect.h"
#include "options.h"
#include "preset-plan.h"
#include "preset.h"
#include "revert.h"
#include "set.h"
#include "status.h"
#include "verify.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define TYPE_USEC (12 * USEC_PER_SEC) /* the helper ends after 10 s */

#define EXIT_CODE_CHANGES 2 /* of plan */
#define BOOT_ID_LEN       40
#define RELOAD_USEC       (60 * USEC_PER_SEC)
#define TOLD_ITEMS        3 /* reasons, of all */
#define UNIT              "rdma-provision.service"
#define STRICT_USEC       (2 * USEC_PER_SEC)

/* The objects that most verbs need, released together. */
struct session {
	struct os os;
	struct config config;
	struct fs_unread denied;
};

static void session_done(struct session *s)
{
	config_done(&s->config);
	os_close(&s->os);
}

static int refuse_root(const struct command *cmd, int r)
{
	if (cmd->root && !*cmd->root)
		log_error("--root= is not valid: use a folder");
	else
		log_error_errno(r, "%s%s", cmd->root ? "--root=" : "/", cmd->root ? cmd->root : "");
	return r;
}

static int open_root(const struct command *cmd, struct os *ret)
{
	int r = os_open(cmd->root, ret);

	return r < 0 ? refuse_root(cmd, r) : 0;
}

static int open_doors(const struct command *cmd, struct session *ret)
{
	int r;

	r = open_root(cmd, &ret->os);
	if (r < 0) {
		*ret = (struct session){ .os.fs.root = -EBADF };
		return r;
	}
	ret->os.fs.unread = &ret->denied;
	return 0;
}

static int session_open(const struct command *cmd, struct session *ret)
{
	int r = open_doors(cmd, ret);

	return r < 0 ? r : load_config(&ret->os.fs, cmd->config, &ret->config);
}

/* As standard_print(). Return: an exit code. */
static int print(const char *text)
{
	return standard_print(text) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Prints a text for people, or a document as it is. Return: an exit code. */
static int print_as(const char *text, bool is_document)
{
	const struct screen screen = terminal_screen();
	_cleanup_(freep) char *fitted = NULL;

	if (is_document)
		return print(text);
	return screen_fit(&screen, text, &fitted) < 0 ? EXIT_FAILURE : print(fitted);
}

/* This process becomes KUBELET_PROGRAM. Return: the exit code when it cannot. */
static int become(const struct command *cmd, bool is_failed)
{
	_cleanup_(freep) char *root = NULL, *config = NULL;
	char path[PATH_MAX];
	const char *words[8] = { "rdma-provision-kubelet", cmd->verb };
	size_t n = 2;

	if ((cmd->root && asprintf(&root, "--root=%s", cmd->root) < 0) ||
	    (cmd->config && asprintf(&config, "--config=%s", cmd->config) < 0)) {
		log_error_errno(-ENOMEM, "%s", cmd->verb);
		return EXIT_FAILURE;
	}
	if (root)
		words[n++] = root;
	if (config)
		words[n++] = config;
	if (cmd->is_strict)
		words[n++] = "--strict";
	if (is_failed)
		words[n++] = "--failed";
	if (cmd->is_debug)
		words[n++] = "--debug";

	execv(program_path("-kubelet", KUBELET_PROGRAM, path), (char **)words);
	log_error_errno(-errno, KUBELET_PROGRAM);
	return EXIT_FAILURE;
}

int command_run(const struct command *cmd)
{
	return service_run(cmd->config) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int command_early(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };

	int r = open_doors(cmd, &s);

	if (r >= 0)
		r = load_valid(&s.os.fs, cmd->config, &s.config);
	if (r == -EINVAL)
		return EXIT_SUCCESS; /* the service tells of it */
	return r < 0 || early(&s.os, &s.config) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
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
	int r;

	r = fs_read_all(fs, STATE_PATH, MAX_STATE_BYTES, false, &text, &size);
	if (r >= 0)
		r = document_parse(text, size, 0, &state, NULL);
	if (r < 0)
		return r;
	reasons = json_object_get(state, "reasons");
	json_array_foreach(reasons, i, item)
	{
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
		log_error(UNIT " did not end its pass within ReadyTimeoutSec=%" PRIu64
			       "; it goes on: \"rdma-provision wait\", \"rdma-provision status\"",
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
	if (r == 0)
		return service_apply(run_pass, &s->os, &s->config, cmd->config);
	if (!cmd->config)
		return ask_service(&s->os.fs, s->config.service.ready_timeout_usec);
	log_error("--config=%s: " UNIT " runs, with the configuration of the node: stop it first",
		  cmd->config);
	return -EBUSY;
}

int command_apply(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	int r;

	r = session_open(cmd, &s);
	if (r < 0 || s.config.is_invalid)
		return EXIT_FAILURE;

	r = apply(cmd, &s);
	return r < 0 || print_state(cmd, &s.os.fs) != EXIT_SUCCESS ? EXIT_FAILURE : r;
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
	const struct status_request req = { cmd->config, cmd->is_json,
					    cmd->is_problems   ? TREE_PROBLEMS
					    : cmd->is_topology ? TREE_TOPOLOGY
							       : TREE_ALL };
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	enum node_state state;
	int r;

	if (cmd->is_follow && cmd->root) {
		log_error("--follow is for the running system: nothing changes below --root");
		return EXIT_FAILURE;
	}
	if (open_doors(cmd, &s) < 0)
		return EXIT_FAILURE;

	if (cmd->is_follow)
		r = status_follow(&s.os.fs, &req, &state);
	else
		r = status_show(&s.os, &req, &state);
	status_tell_denied(&s.denied);
	return r < 0 ? EXIT_FAILURE : exit_code(state);
}

int command_explain(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(freep) char *text = NULL;

	if (!cmd->argument) {
		log_error("explain takes a PCI address, netdev or RDMA device, as \"status\" shows "
			  "them, \"kubelet\" or \"plugin\"");
		return EXIT_FAILURE;
	}
	if (session_open(cmd, &s) < 0 ||
	    inspect_explain(&s.os, &s.config, cmd->argument, cmd->is_json, &text) < 0)
		return EXIT_FAILURE;
	status_tell_denied(&s.denied);
	return print_as(text, cmd->is_json);
}

int command_manifest(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(freep) char *text = NULL;

	if (!cmd->argument || !streq(cmd->argument, "dra")) {
		log_error("manifest takes \"dra\"");
		return EXIT_FAILURE;
	}
	if (session_open(cmd, &s) < 0 || s.config.is_invalid ||
	    inspect_manifest(&s.os, &s.config, &text) < 0)
		return EXIT_FAILURE;
	status_tell_denied(&s.denied);
	return print(text);
}

int command_check(const struct command *cmd)
{
	const struct check_request req = {
		.file = cmd->argument ? cmd->argument : cmd->config,
		.is_json = cmd->is_json,
		.is_ready = cmd->is_ready,
		.with_pod = cmd->with_pod,
	};
	_cleanup_(freep) char *text = NULL, *impossible = NULL;
	struct os d = {};
	int r;

	if (cmd->is_json && cmd->with_pod) {
		log_error("--pod prints YAML: take it without --json");
		return EXIT_FAILURE;
	}
	r = open_root(cmd, &d);
	if (r < 0)
		return EXIT_FAILURE;

	r = inspect_check(&d, &req, &text, &impossible);
	os_close(&d);
	if (r >= 0 && !cmd->is_json && !cmd->with_pod &&
	    print("The configuration is valid.\n") != EXIT_SUCCESS)
		return EXIT_FAILURE;
	if (text && print_as(text, cmd->is_json || cmd->with_pod) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	if (impossible)
		log_error("%s", impossible);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define NO_NIC                                                                                     \
	"No [Device NAME] section manages a NIC of this node: link a preset (\"rdma-provision "    \
	"presets\" lists them), or add a section, for example \"Device "                           \
	"rdma.Match=driver:mlx5_core\""

/* Sections that match nothing, or none at all. */
static void tell_no_nic(const struct config *c)
{
	if (c->n_devices == 0)
		log_warning(NO_NIC);
	for (size_t i = 0; i < c->n_devices; i++) {
		const struct device_config *d = &c->devices[i];

		if (d->expect == 0)
			log_info("No NIC of this node matches [Device %s] Match=%s; Expect=0 does "
				 "not wait for one",
				 d->name, d->match ? d->match : "");
		else
			log_warning("No NIC of this node matches [Device %s] Match=%s", d->name,
				    d->match ? d->match : "");
	}
}

/*
 * Prints the plan of a restart, or with @is_same only looks what of it is impossible. An error is
 * logged, and is no failure: the files are written; but what cannot be printed is one.
 * @ret_impossible: as output_impossible(). Return: an exit code.
 */
static int tell_plan(const struct command *cmd, struct os *d, const struct config *c, bool is_same,
		     char **ret_impossible)
{
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};
	_cleanup_(freep) char *text = NULL;
	int r = 0;

	if (!os_has_node(&d->fs) && !is_same)
		log_info("There is no node here to plan for: it takes effect when one boots");
	else if (os_has_node(&d->fs))
		r = loop_plan(d, c, false, &n, &memory, &p);
	if (r >= 0 && os_has_node(&d->fs))
		r = cmd->is_json ? output_actions_json(&p, &text) : output_actions_text(&p, &text);
	if (r < 0)
		log_warning_errno(r, "What a restart would do is not known");
	else if (os_has_node(&d->fs) && p.n_devices == 0 && !is_same)
		tell_no_nic(c);
	if (!text)
		return cmd->is_json ? print("null\n") : EXIT_SUCCESS;
	if (output_impossible(&p, ret_impossible) < 0)
		return EXIT_FAILURE;
	if (is_same && !cmd->is_json)
		return EXIT_SUCCESS;

	if (p.n_actions > 0)
		log_info("A restart would do this:");
	return print_as(text, cmd->is_json);
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

static int tell_change(const struct command *cmd, struct os *d, const struct set_result *res,
		       bool is_written)
{
	_cleanup_(freep) char *impossible = NULL;
	int r = EXIT_SUCCESS;

	if (res->is_same && is_written && res->config.n_devices == 0)
		log_warning(NO_NIC); /* defaults for no section are no values in force */
	else if (res->is_same)
		log_info(is_written ? "Nothing to change on the node: the same values were in "
				      "force before"
				    : "Nothing to change");
	r = tell_plan(cmd, d, &res->config, res->is_same, &impossible);
	if (is_written && observe_generated(&d->fs, &res->config) > 0)
		reload_units();
	if (!res->is_same && os_has_node(&d->fs))
		log_info("To put it into force: systemctl restart rdma-provision.service");
	if (impossible)
		log_error("%s", impossible);
	return impossible ? EXIT_FAILURE : r;
}

/* Chooses the preset of --preset=auto. */
static int choose_preset(struct os *d, struct preset_choice *ret, struct set_request *req)
{
	_cleanup_(config_done) struct config c = {};
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};
	char type[METADATA_TYPE_LEN] = "";
	int r;

	if (!os_has_node(&d->fs)) {
		log_error("--preset=auto: there is no node here to choose for");
		return -ENODEV;
	}
	r = load_config(&d->fs, NULL, &c);
	if (r >= 0)
		r = loop_plan(d, &c, false, &n, &memory, &p);
	if (r < 0)
		return log_error_errno(r, "--preset=auto: the node cannot be looked at");
	plan_preset(&n, "", ret);
	if (ret->wants_type && d->fs.is_live) {
		r = metadata_ask_type("/" METADATA_SOCKET_PATH, TYPE_USEC, type);
		if (r == -EAGAIN)
			log_notice("--preset=auto: no metadata service answers");
		else if (r < 0)
			log_warning_errno(r, "--preset=auto: the metadata service cannot be asked "
					     "(rdma-provision-metadata.socket)");
		plan_preset(&n, type, ret);
	}
	if (!*ret->name) {
		log_error("--preset=auto: %s: name one of those that \"rdma-provision presets\" "
			  "lists",
			  ret->why);
		return -ENODATA;
	}
	log_notice("--preset=auto: %s, for %s", ret->name, ret->why);
	req->preset = ret->name;
	return 0;
}

/* The session has the configuration that it would have with this preset. */
static int try_preset(const struct command *cmd, struct session *ret)
{
	struct set_request req = { .is_trial = true, .with_preset = true, .preset = cmd->preset };
	struct preset_choice choice = {};
	struct set_result res = {};
	int r;

	if (cmd->config) {
		log_error("--preset and --config: take one of them");
		return -EINVAL;
	}
	r = open_doors(cmd, ret);
	if (r >= 0 && streq(cmd->preset, "auto"))
		r = choose_preset(&ret->os, &choice, &req);
	if (r >= 0)
		r = set_change(&ret->os.fs, &req, &res);
	if (r >= 0)
		ret->config = res.config;
	return r;
}

int command_plan(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};
	_cleanup_(freep) char *text = NULL;
	int r;

	r = cmd->preset ? try_preset(cmd, &s) : session_open(cmd, &s);
	if (r < 0 || s.config.is_invalid)
		return EXIT_FAILURE;

	if (loop_plan(&s.os, &s.config, false, &n, &memory, &p) < 0)
		return EXIT_FAILURE;
	if (!cmd->config && !cmd->preset && loop_add_config_changed(&s.config, &memory, &p) < 0)
		return EXIT_FAILURE;
	r = cmd->is_json ? output_actions_json(&p, &text) : output_actions_text(&p, &text);
	if (r < 0 || print_as(text, cmd->is_json) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	status_tell_denied(&s.denied);
	return p.n_actions > 0 ? EXIT_CODE_CHANGES : EXIT_SUCCESS;
}

static int refuse(void *userdata, const struct config *c)
{
	return inspect_refuse(userdata, c);
}

static int change_configuration(const struct command *cmd, struct set_request *req)
{
	struct preset_choice choice = {};
	struct set_result res = {};
	int told = EXIT_SUCCESS, r;
	struct os d = {};

	r = open_root(cmd, &d);
	if (r < 0)
		return EXIT_FAILURE;
	if (!req->is_unset) {
		req->refuse = refuse;
		req->userdata = &d;
	}

	if (req->preset && streq(req->preset, "auto"))
		r = choose_preset(&d, &choice, req);
	if (r < 0)
		log_error("Nothing was changed");
	else if (req->with_preset && req->preset && !*req->preset) {
		preset_list(&d.fs, "--preset without a name");
		r = -EINVAL;
	} else
		r = set_change(&d.fs, req, &res);
	if (r >= 0)
		told = tell_change(cmd, &d, &res, r > 0);
	config_done(&res.config);
	os_close(&d);
	req->userdata = NULL; /* it is gone */
	return r < 0 ? EXIT_FAILURE : told;
}

/* "--preset NAME": the argument that is no KEY=VALUE. */
static void take_preset(struct set_request *req)
{
	for (size_t i = 0; i < req->n_keys; i++)
		if (!strchr(req->keys[i], '=')) {
			req->preset = req->keys[i];
			memmove(req->keys + i, req->keys + i + 1,
				(--req->n_keys - i) * sizeof(*req->keys));
			return;
		}
}

int command_set(const struct command *cmd)
{
	struct set_request req = {
		.keys = cmd->arguments,
		.n_keys = cmd->n_arguments,
		.with_preset = cmd->preset,
		.preset = cmd->preset,
	};

	if (cmd->n_arguments == 0 && !cmd->preset) {
		log_error("set takes SECTION.KEY=VALUE, for example Driver.Mode=compat or \"Device "
			  "nic.MTU=9000\", or --preset=NAME; \"rdma-provision set --help\" tells "
			  "more");
		return EXIT_FAILURE;
	}
	if (cmd->preset && !*cmd->preset)
		take_preset(&req);
	return change_configuration(cmd, &req);
}

static json_t *make_presets(const struct fs *fs, const struct fs_names *names)
{
	json_auto_t *list = json_array();
	for (size_t i = 0; i < names->n_names; i++) {
		const char *name = names->names[i];
		char text[1024];
		int r;

		r = preset_describe(fs, name, text, sizeof(text));
		if (r == -ENOMEM)
			return NULL;
		if (r < 0) {
			log_warning_errno(r, "/" PRESET_FOLDER "/%s.conf: cannot be described",
					  name);
			*text = '\0';
		}
		if (json_array_append_new(list,
					  json_pack("{s:o, s:o, s:b}", "name", document_text(name),
						    "description", document_text(text), "linked",
						    preset_is_linked(fs, name))) < 0)
			return NULL;
	}
	return json_pack("{s:O}", "presets", list);
}

static int print_presets(const struct command *cmd, const json_t *presets)
{
	_cleanup_(freep) char *text = NULL;
	const json_t *p;
	size_t i;

	if (cmd->is_json)
		return document_print(presets, &text) < 0 ? EXIT_FAILURE : print(text);
	if (json_array_size(json_object_get(presets, "presets")) == 0)
		log_info("There are no presets in /" PRESET_FOLDER);
	json_array_foreach(json_object_get(presets, "presets"), i, p)
		printf("%c %-17s %s\n", json_is_true(json_object_get(p, "linked")) ? '*' : ' ',
		       json_string_value(json_object_get(p, "name")),
		       json_string_value(json_object_get(p, "description")));
	return print("");
}

int command_presets(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(fs_names_done) struct fs_names names = {};
	json_auto_t *presets = NULL;
	int r;

	if (open_doors(cmd, &s) < 0)
		return EXIT_FAILURE;
	r = preset_names(&s.os.fs, &names);
	if (r < 0) {
		log_error_errno(r, "/" PRESET_FOLDER);
		return EXIT_FAILURE;
	}
	presets = make_presets(&s.os.fs, &names);
	return presets ? print_presets(cmd, presets) : EXIT_FAILURE;
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

int command_health(const struct command *cmd)
{
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	_cleanup_(freep) char *state = NULL, *text = NULL;
	char boot_id[BOOT_ID_LEN] = "";
	size_t size;
	int r;

	r = fs_open_root(cmd->root, &fs);
	if (r < 0) {
		log_error_errno(r, "--root=%s", cmd->root ? cmd->root : "/");
		return HEALTH_UNKNOWN;
	}
	r = fs_read(&fs, "proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	if (r >= 0)
		r = fs_read_all(&fs, STATE_PATH, MAX_STATE_BYTES, false, &state, &size);
	/* Without a state nothing is known, which has a line as well. */
	if (r != -ENOMEM)
		r = cmd->npd ? output_npd(state, boot_id, cmd->npd, &text)
			     : output_health(state, boot_id, cmd->argument, cmd->is_json, &text);
	return r < 0 || print(text) != EXIT_SUCCESS ? HEALTH_UNKNOWN : r;
}

/* Uses the configuration of the last pass: that of the files, else the last good one. */
static int clear(const struct command *cmd, struct session *s, const char *pci)
{
	const struct world world = live_world(&s->os);
	struct config c = {};
	int r = loop_clear(&world, &s->config, pci);

	if (r == -ESTALE && !cmd->config && config_load_last_good(&s->os.fs, &c) >= 0)
		r = loop_clear(&world, &c, pci);
	config_done(&c);
	if (r == -ESTALE)
		log_error("The last pass had another configuration, which is not known any more");
	else if (r < 0)
		log_error_errno(r, "%s: its losses cannot be forgotten", pci);
	return r;
}

int command_clear(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(freep) char *state = NULL;
	char pci[PCI_LEN];
	size_t size;
	int r;

	if (!cmd->argument) {
		log_error("clear takes a PCI address, netdev or RDMA device, as \"health\" shows "
			  "them");
		return EXIT_FAILURE;
	}
	if (session_open(cmd, &s) < 0)
		return EXIT_FAILURE;
	r = fs_read_all(&s.os.fs, STATE_PATH, MAX_STATE_BYTES, false, &state, &size);
	if (r >= 0)
		r = output_find_nic(state, cmd->argument, pci, sizeof(pci));
	if (r < 0) {
		log_error("%s: %s", cmd->argument,
			  state ? "no NIC in /" STATE_PATH " has this name: \"rdma-provision "
				  "status\" shows them"
				: "there is no state of this boot: is " UNIT " running?");
		return EXIT_FAILURE;
	}
	if (clear(cmd, &s, pci) < 0)
		return EXIT_FAILURE;
	r = apply_request_look(&s.os.fs);
	if (r < 0 && r != -ESRCH)
		log_warning_errno(r, UNIT " does not know of it until its next pass");
	return EXIT_SUCCESS;
}

int command_verify(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(freep) char *text = NULL;
	int r;

	if (session_open(cmd, &s) < 0 || (cmd->config && s.config.is_invalid))
		return EXIT_FAILURE;
	r = verify(&s.os, &s.config, cmd->is_json, &text);
	if (r < 0) {
		log_error_errno(r, "The node cannot be looked at");
		return EXIT_FAILURE;
	}
	status_tell_denied(&s.denied);
	return print_as(text, cmd->is_json) != EXIT_SUCCESS || r > 0 || s.config.is_invalid
		       ? EXIT_FAILURE
		       : EXIT_SUCCESS;
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

/* May the service still make the node ready? It may when systemd cannot be asked. */
static bool may_get_ready(void *userdata)
{
	struct waiting *w = userdata;
	const struct manager_activity *a = &w->activity;

	if (w->fd >= 0 && manager_watch_look(&w->watch, &w->activity) < 0) {
		manager_watch_done(&w->watch);
		w->fd = -EBADF;
	}
	if (w->fd < 0)
		return true;
	return a->has_job || (!streq(a->active, "inactive") && !streq(a->active, "failed"));
}

static int wait_for_node(const struct command *cmd, struct waiting *w, enum node_state *ret)
{
	const struct wait request = {
		.timeout_usec = cmd->timeout_usec,
		.may_come = may_get_ready,
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
	int r;

	r = fs_open_root(NULL, &fs);
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
	return exit_code(state);
}

int command_kubelet(const struct command *cmd)
{
	return become(cmd, false);
}

static bool may_come(void *userdata _unused_)
{
	return true;
}

/* Waits whatever the service does: without the wait systemd restarts a kubelet ten times a
 * second. */
static bool is_ready(const struct fs *fs)
{
	const struct wait w = { .timeout_usec = fs->is_live ? STRICT_USEC : 0,
				.until_ready = true,
				.may_come = may_come };
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

/* --strict: by the drop-in of Gate=strict, which holds whatever has become of the files since then.
 */
int command_gate(const struct command *cmd)
{
	_cleanup_(config_done) struct config c = {};
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	int r;

	/* As in serve.c. A failure is no reason to hold a kubelet. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		log_warning_errno(-errno, "PR_SET_DUMPABLE");
	r = fs_open_root(cmd->root, &fs);
	if (r < 0)
		refuse_root(cmd, r);
	/* The service reports whatever is wrong with the configuration itself. */
	if (!cmd->is_strict &&
	    (r < 0 || load_valid(&fs, cmd->config, &c) < 0 || c.kubelet.gate != GATE_STRICT))
		return EXIT_SUCCESS;
	return r >= 0 && is_ready(&fs) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int command_revert(const struct command *cmd)
{
	struct os d = {};
	struct world w;
	int r;

	r = open_root(cmd, &d);
	if (r < 0)
		return EXIT_FAILURE;

	/* A tree that is no running system has only files to take back. Each part is taken back
	 * whatever became of the other. */
	w = live_world(&d);
	r = d.fs.is_live ? revert(&w, cmd->with_vfs) : 0;
	os_close(&d);
	return become(cmd, r < 0);
}

int command_bake(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	int r;

	r = session_open(cmd, &s);
	if (r < 0 || (s.config.is_invalid && !cmd->is_undo))
		return EXIT_FAILURE;
	return (cmd->is_undo ? bake_undo(&s.os) : bake(&s.os, &s.config)) < 0 ? EXIT_FAILURE
									      : EXIT_SUCCESS;
}

static int run_nccl_env(const struct command *cmd)
{
	struct nccl_request req = {
		cmd->is_export, cmd->is_exact, cmd->is_json, cmd->exec, -1, -1
	};
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};
	int r;

	if (cmd->is_export + cmd->is_conf + cmd->is_json + (cmd->exec != NULL) > 1 ||
	    (cmd->exec && !cmd->exec[0])) {
		log_error(NCCL_ENV_FORMS);
		return -EINVAL;
	}
	r = session_open(cmd, &s);
	if (r < 0)
		return r;
	req.traffic_class = qos_traffic_class(&s.config);
	req.service_level = qos_priority(&s.config);
	r = loop_plan(&s.os, &s.config, false, &n, &memory, &p);
	return r < 0 ? r : nccl_env(&s.config, &n, &p, &req);
}

int command_nccl_env(const struct command *cmd)
{
	return nccl_env_exit_code(run_nccl_env(cmd), cmd->is_export);
}

int command_capture(const struct command *cmd)
{
	const char *path = cmd->argument ? cmd->argument : "rdma-provision-capture.tar";
	const bool is_stdout = streq(path, "-");
	struct os d = {};
	int r;

	r = open_root(cmd, &d);
	if (r < 0)
		return EXIT_FAILURE;
	r = is_stdout ? capture(&d, cmd->config, STDOUT_FILENO)
		      : capture_file(&d, cmd->config, path);
	os_close(&d);
	if (r < 0) {
		log_error_errno(r, "%s", path);
		return EXIT_FAILURE;
	}

	if (!is_stdout)
		log_info("%s: use --root=%s with plan or status", path, path);
	return r > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int command_helper(const struct command *cmd)
{
	return serve(cmd->argument) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
