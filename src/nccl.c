/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl.h"

#include "base/log.h"
#include "observe/nccl.h"
#include "output/nccl.h"

static int print_settings(const struct nccl *c, bool is_export, bool is_exact)
{
	_cleanup_(freep) char *text = NULL;
	int r;

	r = nccl_text(c, is_export, is_exact, &text);
	if (r < 0)
		return r;
	if (fputs(text, stdout) == EOF || fflush(stdout) == EOF)
		return log_error_errno(-errno, "The output cannot be written");
	return 0;
}

int nccl_env(const struct fs *fs, struct node *recorded, bool is_export, bool is_exact)
{
	_cleanup_(nccl_done) struct nccl c = {};
	_cleanup_(node_done) struct node n = {};
	int r;

	if (recorded) {
		n.netdevs = TAKE(recorded->netdevs);
		n.n_netdevs = recorded->n_netdevs;
		recorded->n_netdevs = 0;
	}
	r = observe_nccl(fs, &n);
	if (r < 0)
		return log_error_errno(r, "/sys cannot be read");
	r = nccl_choose(&n, &c);
	if (r < 0)
		return log_error_errno(r, "NCCL");

	if (c.reason != REASON_NONE) {
		log_error("%s%s%s", reason_meaning(c.reason), c.detail[0] ? ": " : "", c.detail);
		log_error("%s", c.advice[0] ? c.advice : reason_advice(c.reason));
		return -ENODATA;
	}
	return print_settings(&c, is_export, is_exact);
}
