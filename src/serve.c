/* SPDX-License-Identifier: Apache-2.0 */
#include "serve.h"

#include "apply/other-files.h"
#include "base/log.h"
#include "load.h"
#include "observe/observe.h"
#include "os/helper.h"
#include "os/loader.h"
#include "os/request.h"
#include "output/manifest.h"

#include <poll.h>
#include <sys/prctl.h>

#define LINGER_MSEC 1000

static int serve_manager(_unused_ struct os *d, const struct helper_question *q, char **ret)
{
	return request_serve(q->text, ret);
}

static int serve_module(struct os *d, const struct helper_question *q, _unused_ char **ret)
{
	return loader_serve(&d->modules, &d->fs, q->text);
}

static int serve_users(struct os *d, const struct helper_question *q, char **ret)
{
	return observe_users_serve(d, (uint32_t)q->pid, ret);
}

/* Of the plugin's file as it is: that is written before. */
static int make_manifest(const struct fs *fs, const struct config *c, char **ret)
{
	_cleanup_(freep) char *document = NULL;
	size_t size;
	int r;

	if (!*c->plugin.manifest || !plugin_has_file(c->plugin.type))
		return 0;
	r = fs_read_all(fs, c->plugin.config_file + 1, MAX_OUTPUT_BYTES, true, &document, &size);
	if (r == -ENOENT)
		return 0;
	return r < 0 ? r : output_manifest(c, document, ret);
}

static int serve_files(struct os *d, const struct helper_question *q, _unused_ char **ret)
{
	_cleanup_(config_done) struct config c = {};
	_cleanup_(freep) char *manifest = NULL;
	struct file_request allowed;
	int r;

	r = load_config(&d->fs, NULL, &c);
	if (r >= 0)
		r = make_manifest(&d->fs, &c, &manifest);
	if (r < 0)
		return r;
	allowed = (struct file_request){ .manifest = c.plugin.manifest, .manifest_text = manifest };
	for (enum output o = 0; o < _OUTPUT_N; o++)
		allowed.paths[o] = c.output.paths[o];
	return other_files_serve(&d->fs, &allowed, q->text);
}

static const struct {
	const char *name;
	int (*run)(struct os *d, const struct helper_question *q, char **ret);
	unsigned limit_sec; /* of a question: just above the deadline of its asker */
} helpers[] = {
	{ "manager", serve_manager, 60 },
	{ "module", serve_module, 150 },
	{ "users", serve_users, 60 },
	{ "files", serve_files, 20 },
};

/* One question. Return: 0, also when who asked does not wait any more, or -errno, logged. */
static int serve_one(size_t i)
{
	struct helper_question q = { .fd = -EBADF };
	_cleanup_(freep) char *text = NULL;
	struct os d = {};
	int r;

	r = helper_take(STDIN_FILENO, &q);
	if (r == -EAGAIN || r == -ESRCH)
		return 0;
	if (r == -ENOTSOCK)
		return log_error_errno(r, "Standard input: rdma-provision-%s.socket starts this",
				       helpers[i].name);
	if (r < 0)
		return log_error_errno(r, "The question cannot be read");

	alarm(helpers[i].limit_sec);
	r = os_open(NULL, &d);
	if (r >= 0) {
		r = helpers[i].run(&d, &q, &text);
		os_close(&d);
	}
	alarm(0);
	log_debug_errno(r, "%.64s", q.text);
	r = helper_answer(&q, r, text);
	helper_question_done(&q);
	return r == -EPIPE ? 0 : r;
}

/* To start a unit costs more than most questions, and they come in bursts: is there another one? */
static bool is_asked_again(uint64_t until_usec)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	return now_usec() < until_usec && poll(&p, 1, LINGER_MSEC) > 0;
}

static int refuse_name(const char *name)
{
	char known[96] = "";

	for (size_t i = 0; i < ELEMENTSOF(helpers); i++)
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
			 i > 0 ? ", " : "", helpers[i].name);
	log_error("%s: there is no such helper; accepted: %s", name ? name : "", known);
	return -EINVAL;
}

int serve(const char *name)
{
	uint64_t until_usec;
	size_t i = 0;
	int r;

	while (i < ELEMENTSOF(helpers) && !(name && streq(helpers[i].name, name)))
		i++;
	if (i == ELEMENTSOF(helpers))
		return refuse_name(name);

	/*
	 * The service has the same user and may have every capability of this process: it could
	 * write into its memory by /proc/PID/mem. Source: __ptrace_may_access() in kernel/ptrace.c
	 */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return log_error_errno(-errno, "PR_SET_DUMPABLE");
	/* The limit of the unit has room for this and one more question. */
	until_usec = now_usec() + helpers[i].limit_sec * USEC_PER_SEC;
	do
		r = serve_one(i);
	while (r >= 0 && is_asked_again(until_usec));
	return r;
}
