/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include "../base/log.h"
#include "../config/load.h"
#include "../os/child.h"
#include "../os/terminal.h"
#include "../pass/report.h"

void session_done(struct session *s)
{
	config_done(&s->config);
	os_close(&s->os);
}

int session_refuse_root(const struct command *cmd, int r)
{
	return log_error_errno(r, "%s%s", cmd->root ? "--root=" : "/", cmd->root ? cmd->root : "");
}

int session_open_root(const struct command *cmd, struct os *ret)
{
	int r = os_open(cmd->root, ret);

	return r < 0 ? session_refuse_root(cmd, r) : 0;
}

int session_open_os(const struct command *cmd, struct session *ret)
{
	int r = session_open_root(cmd, &ret->os);

	if (r >= 0)
		ret->os.fs.unread = &ret->denied;
	return r;
}

int session_open(const struct command *cmd, struct session *ret)
{
	int r = session_open_os(cmd, ret);

	return r < 0 ? r : load_config(&ret->os.fs, cmd->config, &ret->config);
}

int session_print(const char *text)
{
	return standard_print(text) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int session_show(const char *text, bool is_document)
{
	const struct screen screen = terminal_screen();
	_cleanup_(freep) char *fitted = NULL;

	if (is_document)
		return session_print(text);
	return screen_fit(&screen, text, &fitted) < 0 ? EXIT_FAILURE : session_print(fitted);
}

int session_become_kubelet(const struct command *cmd, bool is_failed)
{
	_cleanup_(freep) char *root = NULL, *config = NULL;
	char path[PATH_MAX];
	const char *words[9] = { "rdma-provision-kubelet", cmd->verb };
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
	if (cmd->is_json)
		words[n++] = "--json";
	if (is_failed)
		words[n++] = "--failed";
	if (cmd->is_debug)
		words[n++] = "--debug";

	execv(program_path("-kubelet", KUBELET_PROGRAM, path), (char **)words);
	log_error_errno(-errno, KUBELET_PROGRAM);
	return EXIT_FAILURE;
}

int session_exit_code(enum node_state state)
{
	static const int codes[] = {
		[NODE_STARTING] = EXIT_CODE_NOT_YET,
		[NODE_READY] = EXIT_SUCCESS,
		[NODE_DEGRADED] = EXIT_CODE_DEGRADED,
	};

	_Static_assert(ELEMENTSOF(codes) == _NODE_STATE_N, "an exit code for every state");
	return codes[state];
}
