/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helper: the verb of the units that do what the service has no right to do, the other side of
 * os/helper.h. The process answers a question of the service from standard input, its socket, may
 * do that one thing, and does nothing else; a second one too when it comes at once. SIGALRM ends it
 * when the work on one does not end.
 */
#include "../base/log.h"
#include "../config/load.h"
#include "../kubelet/look.h"
#include "../os/child.h"
#include "../os/helper.h"
#include "../os/kmsg.h"
#include "../os/manager.h"
#include "../os/os.h"
#include "../plugin/plugin-output.h"
#include "../step/other-files.h"
#include "command.h"

#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>

#define LINGER_MSEC 1000
#define MAX_JOBS    3 /* TasksMax= of the unit */

static int serve_manager(_unused_ struct os *d, const struct helper_question *q, char **ret)
{
	return manager_serve(q->text, ret);
}

static int serve_module(struct os *d, const struct helper_question *q, char **ret)
{
	if (streq(q->text, KMSG_QUESTION)) /* without the capability it would ask itself */
		return helper_is_needed(CAP_SYSLOG) ? -EPERM : kmsg_read(&d->fs, ret);
	return module_serve(&d->modules, &d->fs, q->text);
}

/* Makes the manifest for the plugin's file on disk, which is written before. */
static int make_manifest(const struct fs *fs, const struct config *c, char **ret)
{
	_cleanup_(freep) char *document = NULL;
	struct kubelet_found k;
	int r;

	if (!*c->plugin.manifest || !plugin_has_file(c->plugin.type))
		return 0;
	r = fs_read_all(fs, c->plugin.config_file + 1, MAX_OUTPUT_BYTES, true, &document, NULL);
	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		r = kubelet_find(fs, false, &k, NULL);
	return r < 0 ? r : output_manifest(c, k.seen.root_dir, document, ret);
}

static int serve_files(struct os *d, const struct helper_question *q, _unused_ char **ret)
{
	_cleanup_(config_done) struct config c = {};
	_cleanup_(freep) char *manifest = NULL;
	struct file_request allowed;
	int r = load_valid(&d->fs, NULL, &c);

	if (r >= 0)
		r = make_manifest(&d->fs, &c, &manifest);
	/* While the files are malformed, the service works with the last good configuration. */
	allowed = (struct file_request){ .manifest = c.plugin.manifest,
					 .manifest_text = manifest,
					 .unread = r == -EINVAL ? -ESTALE : r };
	for (enum output o = 0; o < _OUTPUT_N; o++)
		allowed.paths[o] = c.output.paths[o];
	return other_files_serve(&d->fs, &allowed, q->text);
}

static const struct helper {
	const char *name;
	int (*run)(struct os *d, const struct helper_question *q, char **ret);
	unsigned limit_sec; /* of a question: just above the deadline of its asker */
	/* Each question has a process: the unit that one of them starts may ask another one. */
	bool is_parallel;
} helpers[] = {
	{ "manager", serve_manager, 60, .is_parallel = true },
	{ "module", serve_module, 150 },
	{ "files", serve_files, 20 },
};

struct job {
	const struct helper *helper;
	struct helper_question q;
	struct child child;
};

/* Return: 0, also when the client does not wait any more, or -errno. */
static int run_question(const struct helper *h, struct helper_question *q)
{
	_cleanup_(freep) char *text = NULL;
	struct os d = {};
	int r;

	alarm(h->limit_sec);
	r = os_open(NULL, &d);
	if (r >= 0) {
		r = h->run(&d, q, &text);
		os_close(&d);
	}
	alarm(0);
	log_debug_errno(r, "%.64s", q->text);
	r = helper_answer(q, r, text);
	return r == -EPIPE ? 0 : r;
}

static int run_job(void *userdata, size_t i _unused_, char *error _unused_)
{
	struct job *j = userdata;

	return run_question(j->helper, &j->q);
}

static struct job *find_free(struct job *jobs)
{
	return FIND(j, jobs, MAX_JOBS, j->child.pid == 0);
}

/* Serves one question. Return: 0, or -errno, logged. */
static int serve_one(const struct helper *h, struct job *jobs)
{
	struct job *j = h->is_parallel ? find_free(jobs) : NULL;
	struct helper_question q = { .fd = -EBADF };
	int r = helper_take(STDIN_FILENO, &q);

	if (r == -EAGAIN || r == -ESRCH)
		return 0;
	if (r == -ENOTSOCK)
		return log_error_errno(r, "Standard input: rdma-provision-%s.socket starts this",
				       h->name);
	if (r < 0)
		return log_error_errno(r, "The question cannot be read");

	if (j)
		*j = (struct job){ h, q, { .call = run_job, .userdata = j } };
	if (!j || child_begin(&j->child, 0) < 0)
		r = run_question(h, &q);
	helper_question_done(&q);
	return r;
}

static void end_jobs(const struct pollfd *fds, struct job *jobs)
{
	char error[CHILD_ERROR_LEN];

	for (size_t i = 0; i < MAX_JOBS; i++) {
		if (jobs[i].child.pid == 0 || fds[i].revents == 0)
			continue;
		if (child_end(&jobs[i].child, now_usec() + USEC_PER_SEC, error, sizeof(error)) < 0)
			log_warning("%.64s: not answered", jobs[i].q.text);
		child_done(&jobs[i].child);
	}
}

/*
 * Starting a unit costs more than most questions, and they come in bursts: is there another one?
 * Jobs that run already have a limit of their own, and are waited for.
 */
static bool is_asked_again(struct job *jobs, uint64_t until_usec)
{
	struct pollfd fds[1 + MAX_JOBS];
	bool is_busy;

	do {
		const bool is_open = find_free(jobs) && now_usec() < until_usec;

		is_busy = false;
		fds[0] = (struct pollfd){ .fd = is_open ? STDIN_FILENO : -1, .events = POLLIN };
		for (size_t i = 0; i < MAX_JOBS; i++) {
			const struct child *c = &jobs[i].child;

			fds[1 + i] = (struct pollfd){ c->pid > 0 ? c->fd : -1, POLLIN, 0 };
			is_busy |= c->pid > 0;
		}
		if (!is_open && !is_busy)
			return false;
		if (poll(fds, ELEMENTSOF(fds), is_busy ? -1 : LINGER_MSEC) < 0)
			return false;
		end_jobs(fds + 1, jobs);
		if (fds[0].revents)
			return true;
	} while (is_busy);
	return false;
}

static const struct helper *find_helper(const char *name)
{
	const struct helper *found =
		FIND(h, helpers, ELEMENTSOF(helpers), name && streq(h->name, name));
	char known[96] = "";

	if (found)
		return found;

	for (size_t i = 0; i < ELEMENTSOF(helpers); i++)
		append_word(known, sizeof(known), ", ", "%s", helpers[i].name);
	log_error("helper %s: there is none of this name: use %s", name ? name : "", known);
	return NULL;
}

int command_helper(const struct command *cmd)
{
	const struct helper *h = find_helper(cmd->argument);
	struct job jobs[MAX_JOBS] = {};
	uint64_t until_usec;
	int r;

	if (!h)
		return EXIT_FAILURE;
	/*
	 * The service has the same user and may have every capability of this process: it could
	 * write into its memory by /proc/PID/mem. Source: __ptrace_may_access() in kernel/ptrace.c
	 */
	if (prctl(PR_SET_DUMPABLE, 0) < 0) {
		log_error_errno(-errno, "PR_SET_DUMPABLE");
		return EXIT_FAILURE;
	}
	/* The limit of the unit has room for this and one more question. */
	until_usec = now_usec() + h->limit_sec * USEC_PER_SEC;
	do {
		r = serve_one(h, jobs);
		if (r < 0) /* what is asked already is answered still */
			until_usec = 0;
	} while (is_asked_again(jobs, until_usec));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
