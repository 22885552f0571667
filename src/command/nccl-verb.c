/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nccl: the verb nccl-env.
 */
#include "../base/log.h"
#include "../model/qos.h"
#include "../nccl/nccl-env.h"
#include "../pass/loop.h"
#include "session.h"

static int run_nccl_env(const struct command *cmd)
{
	struct nccl_request req = {
		cmd->is_export, cmd->is_exact, cmd->is_json, cmd->exec, -1, -1
	};
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(inspection_done) struct inspection in = {};
	int r;

	if (cmd->is_export + cmd->is_conf + cmd->is_json + (cmd->exec != NULL) > 1 ||
	    (cmd->exec && !cmd->exec[0])) {
		log_error("use one of --export, --conf, --json and --exec COMMAND");
		return -EINVAL;
	}
	r = session_open(cmd, &s);
	if (r < 0)
		return r;
	req.traffic_class = qos_traffic_class(&s.config);
	req.service_level = qos_priority(&s.config);
	r = loop_plan(&s.os, &s.config, &in);
	return r < 0 ? r : nccl_env(&s.config, &in.node, &in.plan, &req);
}

int command_nccl_env(const struct command *cmd)
{
	return nccl_env_exit_code(run_nccl_env(cmd), cmd->is_export);
}
