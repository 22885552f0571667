/* SPDX-License-Identifier: Apache-2.0 */
#include "status.h"

#include "../base/log.h"
#include "../config/load.h"
#include "../model/paths.h"
#include "../os/manager.h"
#include "../os/terminal.h"
#include "../pass/loop.h"
#include "../service/wait.h"
#include "../show/state.h"
#include "../show/tree.h"
#include "session.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#define UNIT  "rdma-provision.service"
#define CLEAR "\033[H\033[2J"
#define CHUNK 4096 /* PIPE_BUF: what a pipe that is writable takes without waiting */

static enum tree_view view_of(const struct command *cmd)
{
	return cmd->is_problems ? TREE_PROBLEMS : cmd->is_topology ? TREE_TOPOLOGY : TREE_ALL;
}

/* Asks systemd for the state of the service; "" when it cannot be asked. */
static void ask_unit(char *ret, size_t size)
{
	_cleanup_(manager_watch_done) struct manager_watch watch = {};
	struct manager_activity a = {};
	int r = manager_watch_open(UNIT, &watch);

	if (r >= 0)
		r = manager_watch_look(&watch, &a);
	copy(ret, size, r < 0 ? "" : a.active);
}

static bool is_active(const char *word)
{
	static const char *const words[] = { "", "active", "activating", "reloading",
					     "refreshing" };

	return ANY(w, words, ELEMENTSOF(words), streq(word, *w));
}

static int draw(const char *state, enum tree_view view, char **ret)
{
	const struct screen screen = terminal_screen();

	return output_tree(state, view, &screen, ret);
}

static int read_file(const struct fs *fs, char **ret)
{
	return fs_read_all(fs, STATE_PATH, MAX_STATE_BYTES, false, ret, NULL);
}

static int look(struct os *d, const char *config, char **ret)
{
	_cleanup_(config_done) struct config c = {};
	int r = load_config(&d->fs, config, &c);

	return r < 0 ? r : loop_state(d, &c, !config, ret);
}

/* The state as the service left it; as a look now shows it, without that or with @config. */
static int read_state(struct os *d, const char *config, char **ret)
{
	char word[32] = "";
	int r;

	if (config)
		return look(d, config, ret);
	r = read_file(&d->fs, ret);
	if (r >= 0)
		r = MIN(status_add_config_changed(&d->fs, ret), 0);
	if (r == -EINVAL) /* damaged, and told below */
		r = 0;
	if (r < 0 && r != -ENOENT)
		return log_error_errno(r, "/" STATE_PATH);
	if (r == -ENOENT) {
		if (d->fs.is_live)
			log_info("No pass has run in this boot; this is the node as it is now.");
		return look(d, NULL, ret);
	}

	if (d->fs.is_live)
		ask_unit(word, sizeof(word));
	if (is_active(word))
		return 0;
	log_info(UNIT " is %s: this is the node as %s.", word,
		 geteuid() != 0 ? "the last pass left it" : "it is now");
	if (geteuid() != 0)
		return 0;
	free(TAKE(*ret));
	return look(d, NULL, ret);
}

int status_add_config_changed(const struct fs *fs, char **state)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config c = {};
	struct fs_unread denied = {};
	struct fs mine = *fs; /* borrowed */
	int r;

	mine.unread = &denied;
	r = config_load(&mine, NULL, &c, &errors);
	if ((r < 0 && r != -EINVAL) || denied.n > 0)
		return MIN(r, 0) == -ENOMEM ? r : 0;
	return output_add_config_changed(r < 0 ? NULL : c.hash, state);
}

/*
 * Prints the node. Problems are logged.
 * Return: 0 with the state in @ret, or -errno.
 */
static int show_once(struct os *d, const struct command *cmd, enum node_state *ret)
{
	_cleanup_(freep) char *state = NULL, *tree = NULL;
	enum node_state now;
	int r = read_state(d, cmd->config, &state);

	if (r < 0)
		return r;
	r = output_read_state(state, NULL, &now);
	if (r < 0) {
		log_error("/" STATE_PATH ": is damaged; the next pass of the service replaces it");
		return r;
	}
	if (!cmd->is_json)
		r = draw(state, view_of(cmd), &tree);
	if (r < 0)
		return r;

	r = standard_print(cmd->is_json ? state : tree);
	if (r >= 0)
		*ret = now;
	return r;
}

/* Following it */

struct follow {
	const struct fs *fs;
	int inotify, signals;
	enum tree_view view;
	bool is_json, is_terminal;
	bool is_due;   /* drawn again even when nothing changed: the terminal has another size */
	bool is_told;  /* it was said that there is no state */
	bool is_over;  /* a signal came, or nobody reads any more */
	bool has_any;  /* something was printed */
	char *shown;   /* owned; what was printed last */
	char unit[32]; /* what was said of the service last */
	enum node_state state;
};

static void follow_done(struct follow *f)
{
	closep(&f->inotify);
	closep(&f->signals);
	free(f->shown);
}

static int on_signal(struct follow *f)
{
	struct signalfd_siginfo info;

	if (read(f->signals, &info, sizeof(info)) != sizeof(info))
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (info.ssi_signo == SIGWINCH)
		f->is_due = true;
	else
		f->is_over = true;
	return 0;
}

/*
 * Waits for a change, a signal or the end of the reader; with @is_writing for room instead of a
 * change. A reader that stops reading must not keep a signal from ending this.
 */
static int wait_any(struct follow *f, bool is_writing)
{
	struct pollfd fds[] = {
		{ .fd = f->signals, .events = POLLIN },
		{ .fd = STDOUT_FILENO, .events = is_writing ? POLLOUT : 0 },
		{ .fd = is_writing ? -1 : f->inotify, .events = POLLIN },
	};
	int r = 0;

	if (poll(fds, ELEMENTSOF(fds), -1) < 0)
		return errno == EINTR ? 0 : -errno;
	if (fds[1].revents & (POLLERR | POLLHUP | POLLNVAL))
		f->is_over = true;
	else if (fds[0].revents && !(fds[1].revents & POLLOUT))
		r = on_signal(f);
	if (r >= 0 && fds[2].revents)
		r = wait_drain(f->inotify);
	return r < 0 ? r : (fds[1].revents & POLLOUT) != 0;
}

static int put(struct follow *f, const char *text)
{
	size_t left = strlen(text);

	while (left > 0 && !f->is_over) {
		ssize_t n;
		int r = wait_any(f, true);

		if (r < 0)
			return r;
		if (r == 0 || f->is_over)
			continue;
		n = write(STDOUT_FILENO, text, MIN(left, CHUNK));
		if (n < 0 && errno == EPIPE)
			f->is_over = true;
		else if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n > 0) {
			text += n;
			left -= (size_t)n;
		}
	}
	return 0;
}

static void tell_missing(struct follow *f)
{
	if (!f->is_told)
		log_info("/" STATE_PATH " is not there: waiting for the first pass of " UNIT ".");
	f->is_told = true;
	free(TAKE(f->shown));
}

static void tell_unit(struct follow *f)
{
	char word[sizeof(f->unit)] = "";

	ask_unit(word, sizeof(word));
	if (!is_active(word) && (f->is_terminal || !streq(word, f->unit)))
		log_info(UNIT " is %s: this is the node as the last pass left it.", word);
	COPY(f->unit, word);
}

static int show(struct follow *f, const char *state)
{
	_cleanup_(freep) char *text = NULL;
	int r = f->is_json ? output_state_line(state, &text) : draw(state, f->view, &text);

	if (r < 0)
		return r;
	f->is_told = false;
	if (f->shown && streq(f->shown, text) && !f->is_due)
		return 0;

	f->is_due = false;
	if (f->is_terminal && !f->is_json)
		r = put(f, CLEAR);
	else if (f->has_any && !f->is_json)
		r = put(f, "\n");
	tell_unit(f);
	if (r >= 0)
		r = put(f, text);
	free(f->shown);
	f->shown = TAKE(text);
	f->has_any = true;
	return r;
}

static int refresh(struct follow *f)
{
	_cleanup_(freep) char *state = NULL;
	enum node_state now;
	int r = read_file(f->fs, &state);

	if (r == -ENOENT) {
		if (f->is_terminal && f->shown)
			put(f, CLEAR);
		tell_missing(f);
		return 0;
	}
	if (r < 0)
		return r;
	if (output_read_state(state, NULL, &now) < 0) {
		log_error("/" STATE_PATH ": is damaged; the next pass of the service replaces it");
		return 0;
	}
	r = status_add_config_changed(f->fs, &state);
	if (r < 0)
		return r;
	f->state = now;
	return show(f, state);
}

/* The signals come by a descriptor. */
static int open_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGWINCH);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/*
 * Prints the node, and again whenever that changes
 * @fs:      of the running system
 * @cmd:     with is_json one document a line
 * @ret:     the last state that was seen; NODE_STARTING when there was none
 *
 * By inotify, nothing is polled. On a terminal the picture is drawn in place, also after its size
 * changed; elsewhere a new one follows an empty line, and only when it is another. A state file
 * that is not there is waited for. Ends by SIGINT and SIGTERM, and when the reader is gone, also
 * while nothing changes.
 *
 * Return: 0 or -errno.
 */
static int follow(const struct fs *fs, const struct command *cmd, enum node_state *ret)
{
	_cleanup_(follow_done) struct follow f = { .fs = fs,
						   .inotify = wait_open(),
						   .signals = open_signals(),
						   .view = view_of(cmd),
						   .is_json = cmd->is_json,
						   .is_terminal = isatty(STDOUT_FILENO),
						   .state = NODE_STARTING };
	int r = MIN(f.inotify, f.signals);

	while (r >= 0 && !f.is_over) {
		/* Watch first, look then: a change in between wakes us. */
		r = wait_watch(f.inotify);
		if (r >= 0)
			r = refresh(&f);
		if (r >= 0 && !f.is_over)
			r = wait_any(&f, false);
	}
	*ret = f.state;
	return r < 0 ? log_error_errno(r, "/" STATE_PATH " cannot be followed") : 0;
}

void status_tell_denied(const struct fs_unread *denied)
{
	char text[512] = "";

	if (denied->n == 0)
		return;
	for (size_t i = 0; i < MIN(denied->n, ELEMENTSOF(denied->paths)); i++)
		append_word(text, sizeof(text), ", ", "/%s", denied->paths[i]);
	log_info("Not all can be seen by this user: no permission for %s%s; root sees the rest.",
		 text, denied->n > ELEMENTSOF(denied->paths) ? " and others" : "");
}

int command_status(const struct command *cmd)
{
	const char *problem =
		cmd->is_follow && cmd->root
			? "--follow is for the running system: nothing changes below --root"
		: cmd->is_follow && cmd->config ? "--follow shows what the service does with its "
						  "own configuration: leave out --config"
						: NULL;
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	enum node_state state = NODE_STARTING;
	int r;

	if (problem) {
		log_error("%s", problem);
		return EXIT_FAILURE;
	}
	if (session_open_os(cmd, &s) < 0)
		return EXIT_FAILURE;

	if (cmd->is_follow)
		r = follow(&s.os.fs, cmd, &state);
	else
		r = show_once(&s.os, cmd, &state);
	status_tell_denied(&s.denied);
	return r < 0 ? EXIT_FAILURE : session_exit_code(state);
}
