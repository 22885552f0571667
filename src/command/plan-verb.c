/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plan: the verb plan, which prints what a pass would do.
 */
#include "../base/log.h"
#include "../pass/loop.h"
#include "../show/actions.h"
#include "preset.h"
#include "session.h"
#include "set.h"
#include "status.h"

#define EXIT_CODE_CHANGES 2

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
	r = session_open_os(cmd, ret);
	if (r >= 0 && streq(cmd->preset, "auto"))
		r = preset_choose(&ret->os, &choice, &req.preset);
	if (r >= 0)
		r = set_change(&ret->os.fs, &req, &res);
	if (r >= 0)
		ret->config = res.config;
	return r;
}

int command_plan(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(inspection_done) struct inspection in = {};
	_cleanup_(freep) char *text = NULL;
	int r;

	r = cmd->preset ? try_preset(cmd, &s) : session_open(cmd, &s);
	if (r < 0 || s.config.is_invalid)
		return EXIT_FAILURE;

	if (loop_plan(&s.os, &s.config, &in) < 0)
		return EXIT_FAILURE;
	if (!cmd->config && !cmd->preset &&
	    loop_add_config_changed(&s.config, &in.memory, &in.plan) < 0)
		return EXIT_FAILURE;
	r = cmd->is_json ? output_actions_json(&in.plan, &text)
			 : output_actions_text(&in.plan, &text);
	if (r < 0 || session_show(text, cmd->is_json) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	status_tell_denied(&s.denied);
	return in.plan.n_actions > 0 ? EXIT_CODE_CHANGES : EXIT_SUCCESS;
}
