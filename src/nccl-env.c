/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl-env.h"

#include "base/log.h"
#include "observe/nccl-observe.h"
#include "observe/snapshot.h"
#include "output/nccl-output.h"

/* Returns only when it fails. */
static int become(char *const *command, char *settings)
{
	char *rest = NULL;

	for (char *line = strtok_r(settings, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (*line != '#' && putenv(line) != 0)
			return log_error_errno(-errno, "%s", line);
	execvp(command[0], command);
	return log_error_errno(-errno, "%s", command[0]);
}

static int use_settings(const struct nccl *c, const struct nccl_request *req)
{
	_cleanup_(freep) char *text = NULL;
	int r;

	r = nccl_text(c, req->is_export && !req->exec, req->is_exact, &text);
	if (r < 0)
		return log_error_errno(r, "NCCL");
	return req->exec ? become(req->exec, text) : standard_print(text);
}

int nccl_env(const struct config *config, const struct node *n, const struct plan *p,
	     const struct nccl_request *req)
{
	_cleanup_(nccl_done) struct nccl c = {};
	int r;

	r = nccl_choose(config, n, p, &c);
	if (r < 0)
		return log_error_errno(r, "NCCL");

	if (c.reason != REASON_NONE) {
		log_error("%s%s%s", reason_meaning(c.reason), c.detail[0] ? ": " : "", c.detail);
		log_error("%s", c.advice[0] ? c.advice : reason_advice(c.reason));
		return -ENODATA;
	}
	c.traffic_class = req->traffic_class;
	c.service_level = req->service_level;
	return use_settings(&c, req);
}

int nccl_env_here(const struct fs *fs, const struct nccl_request *req)
{
	_cleanup_(node_done) struct node n = {};
	int r;

	if (!fs->is_live && fs_exists(fs, ANSWERS_PATH) > 0)
		return log_error_errno(-ENOTSUP, "This program cannot read captures: use "
						 "\"rdma-provision nccl-env --root=\"");
	r = observe_nccl(fs, &n);
	return r < 0 ? log_error_errno(r, "/sys cannot be read") : nccl_env(NULL, &n, NULL, req);
}

int nccl_env_exit_code(int r, bool is_export)
{
	if (r < 0 && is_export)
		standard_print("false\n");
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

char **nccl_env_cut_command(int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++) {
		if (!streq(argv[i], "--exec"))
			continue;
		*argc = i;
		argv[i++] = NULL;
		return argv + i + (argv[i] && streq(argv[i], "--"));
	}
	return NULL;
}
