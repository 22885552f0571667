/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set-verb: the verbs set and unset, and what they say of the change.
 */
#include "../base/log.h"
#include "../os/manager.h"
#include "../pass/loop.h"
#include "../show/actions.h"
#include "../show/check.h"
#include "../step/observers.h"
#include "preset.h"
#include "session.h"
#include "set.h"

#define RELOAD_USEC (60 * USEC_PER_SEC)

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
	_cleanup_(inspection_done) struct inspection in = {};
	_cleanup_(freep) char *text = NULL;
	int r = 0;

	if (!os_has_node(&d->fs) && !is_same)
		log_info("There is no node here to plan for: it takes effect when one boots");
	else if (os_has_node(&d->fs))
		r = loop_plan(d, c, &in);
	if (r >= 0 && os_has_node(&d->fs))
		r = cmd->is_json ? output_actions_json(&in.plan, &text)
				 : output_actions_text(&in.plan, &text);
	if (r < 0)
		log_warning_errno(r, "What a restart would do is not known");
	else if (os_has_node(&d->fs) && in.plan.n_devices == 0 && !is_same)
		tell_no_nic(c);
	if (!text)
		return cmd->is_json ? session_print("null\n") : EXIT_SUCCESS;
	if (output_impossible(&in.plan, ret_impossible) < 0)
		return EXIT_FAILURE;
	if (is_same && !cmd->is_json)
		return EXIT_SUCCESS;

	if (in.plan.n_actions > 0)
		log_info("A restart would do this:");
	return session_show(text, cmd->is_json);
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

/* Would the device plugin refuse what is written for it? A node that cannot be looked at refuses
 * nothing. */
static int refuse(void *userdata, const struct config *c)
{
	_cleanup_(inspection_done) struct inspection in = {};
	_cleanup_(freep) char *problem = NULL;
	const struct plan *seen = NULL;
	struct os *d = userdata;
	int r;

	if (c->plugin.type == PLUGIN_NONE)
		return 0;
	if (os_has_node(&d->fs) && loop_plan(d, c, &in) >= 0)
		seen = &in.plan;
	r = output_check_plugin(c, seen, &problem);
	if (problem)
		log_error("%s", problem);
	return r < 0 ? r : problem ? -EINVAL : 0;
}

static int change_configuration(const struct command *cmd, struct set_request *req)
{
	struct preset_choice choice = {};
	struct set_result res = {};
	int told = EXIT_SUCCESS, r;
	struct os d = {};

	r = session_open_root(cmd, &d);
	if (r < 0)
		return EXIT_FAILURE;
	if (!req->is_unset) {
		req->refuse = refuse;
		req->userdata = &d;
	}

	if (req->preset && streq(req->preset, "auto"))
		r = preset_choose(&d, &choice, &req->preset);
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
