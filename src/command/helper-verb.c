/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helper: the verb of the units that do what the service has no right to do, the other side of
 * os/helper.h and os/want.h. The process carries out wishes, and answers a question of the service
 * from standard input, its socket; others too when they come within five seconds. SIGALRM ends it
 * when the work on one does not end.
 */
#include "../base/log.h"
#include "../config/load.h"
#include "../kubelet/look.h"
#include "../model/paths.h"
#include "../os/child.h"
#include "../os/helper.h"
#include "../os/kmsg.h"
#include "../os/manager.h"
#include "../os/os.h"
#include "../plugin/plugin-output.h"
#include "../service/wait.h"
#include "../step/observers.h"
#include "../step/other-files.h"
#include "command.h"

#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>

#define LINGER_MSEC 5000 /* kubelet-ensure asks what the service asked before it */

static int serve_reload(_unused_ struct os *d, const struct helper_question *q, char **ret)
{
	return manager_serve(q->text, ret);
}

/* Return: 1, 0, or -errno, which stands for 1: what is asked for is done unless it is known to be
 * in vain. */
static int is_stale(const struct fs *fs)
{
	_cleanup_(config_done) struct config c = {};
	int r = load_valid(fs, NULL, &c);

	return r < 0 ? r : observe_generated(fs, &c);
}

static int serve_reload_wants(const struct fs *fs)
{
	return manager_serve_wants(fs, is_stale);
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
	int (*serve_wants)(const struct fs *fs); /* NULL: no path unit starts it */
	unsigned limit_sec; /* of a question, or all wishes: just above the deadline of its asker */
} helpers[] = {
	{ "reload", serve_reload, serve_reload_wants, 80 },
	{ "module", serve_module, NULL, 150 },
	{ "files", serve_files, NULL, 20 },
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

/* Serves one question. Return: 0, or -errno, logged. */
static int serve_one(const struct helper *h)
{
	struct helper_question q = { .fd = -EBADF };
	int r = helper_take(STDIN_FILENO, &q);

	if (r == -EAGAIN || r == -ESRCH)
		return 0;
	if (r == -ENOTSOCK)
		return log_error_errno(r, "Standard input: rdma-provision-%s.socket starts this",
				       h->name);
	if (r < 0)
		return log_error_errno(r, "The question cannot be read");

	r = run_question(h, &q);
	helper_question_done(&q);
	return r;
}

struct server {
	const struct helper *helper;
	struct fs fs;
	int wishes;         /* owned; readable when one comes; negative: that is not seen */
	struct child child; /* carries out wishes, so that no question waits for them */
	bool was_wanted;    /* some were there: the end of the unit is waited for */
	int result;         /* the first -errno, logged */
};

static void server_done(struct server *s)
{
	closep(&s->wishes);
	fs_done(&s->fs);
}

/* Return: how many there were, or -errno, logged. */
static int serve_wants(void *userdata, size_t i _unused_, char *error _unused_)
{
	const struct server *s = userdata;
	int r;

	alarm(s->helper->limit_sec);
	r = s->helper->serve_wants(&s->fs);
	return r < 0 ? log_error_errno(r, "A wish of the service was not carried out") : r;
}

static void note(struct server *s, int r)
{
	if (s->result >= 0)
		s->result = MIN(r, 0);
}

static void begin_wishes(struct server *s)
{
	int r;

	if (s->wishes >= 0)
		wait_drain(s->wishes);
	r = child_begin(&s->child, 0);
	note(s, r < 0 ? log_error_errno(r, "Wishes of the service") : 0);
}

static void end_wishes(struct server *s)
{
	char error[CHILD_ERROR_LEN];
	int r = child_end(&s->child, now_usec() + USEC_PER_SEC, error, sizeof(error));

	child_done(&s->child);
	s->was_wanted |= r != 0;
	if (r == -EIO || r == -ETIMEDOUT)
		log_error_errno(r, "Wishes of the service: not all were carried out");
	note(s, r);
}

/* Starting a unit costs more than most questions, and they come in bursts: so the process lingers.
 */
static bool goes_on(struct server *s, uint64_t until_usec)
{
	const bool is_busy = s->child.pid > 0, is_open = s->result >= 0 && now_usec() < until_usec;
	struct pollfd fds[] = {
		{ is_open ? STDIN_FILENO : -1, POLLIN, 0 },
		{ is_busy ? s->child.fd : s->wishes, POLLIN, 0 },
	};

	if (!is_open && !is_busy)
		return false;
	if (poll(fds, ELEMENTSOF(fds), is_busy ? -1 : s->was_wanted ? 0 : LINGER_MSEC) <= 0)
		return false;
	if (fds[1].revents && is_busy)
		end_wishes(s);
	else if (fds[1].revents)
		begin_wishes(s);
	if (fds[0].revents)
		note(s, serve_one(s->helper));
	return true;
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
	_cleanup_(
		server_done) struct server s = { .helper = h, .fs.root = -EBADF, .wishes = -EBADF };
	uint64_t until_usec;

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
	if (h->serve_wants) {
		note(&s, fs_open_root(NULL, &s.fs));
		s.wishes = want_watch(&s.fs);
		if (s.wishes < 0)
			log_warning_errno(s.wishes, "/" WANT_FOLDER);
		s.child = (struct child){ .call = serve_wants, .userdata = &s };
		begin_wishes(&s);
	}
	note(&s, serve_one(h));
	while (goes_on(&s, until_usec))
		;
	return s.result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
