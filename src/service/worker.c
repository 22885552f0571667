/* SPDX-License-Identifier: Apache-2.0 */
#include "worker.h"

#include "../base/log.h"
#include "../pass/live.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

static void tell(const struct worker *w, enum worker_message_kind kind, const struct action *a,
		 uint64_t deadline_usec)
{
	struct worker_message m = { .kind = kind, .deadline_usec = deadline_usec };

	action_describe(a, m.text, sizeof(m.text));
	if (a->verb == VERB_SET_NUM_VFS && !action_is_to(a, 0)) {
		copy(m.pf, sizeof(m.pf), a->target);
		m.n_vfs = (uint32_t)a->number.to.n;
	}
	/* The service does not listen any more: it is being stopped, and so is the worker. */
	if (write(w->pipe, &m, sizeof(m)) < 0)
		log_debug_errno(-errno, "Progress cannot be told");
}

static void on_start(void *userdata, const struct action *a, uint64_t deadline_usec)
{
	tell(userdata, WORKER_STARTS, a, deadline_usec);
}

static void on_wait_for(void *userdata, const struct action *a)
{
	tell(userdata, WORKER_WAITS, a, 0);
}

/* A pass of the command line may be making VFs, PF by PF. */
static void on_wait(void *userdata, bool is_over)
{
	struct worker_message m = { .kind = WORKER_LOCKS };
	const struct worker *w = userdata;

	m.deadline_usec = is_over ? 0 : 3600 * USEC_PER_SEC;
	COPY(m.text, is_over ? "looking at the node" : "waiting for another pass to end");
	if (write(w->pipe, &m, sizeof(m)) < 0)
		log_debug_errno(-errno, "Progress cannot be told");
}

static void on_looked(void *userdata, bool is_ready)
{
	struct worker_message m = { .kind = WORKER_LOOKED, .is_ready = is_ready };
	const struct worker *w = userdata;
	eventfd_t value;

	if (w->gate < 0)
		return;
	/* If the worker cannot wait, the pass has failed, and the service makes another one. */
	if (write(w->pipe, &m, sizeof(m)) < 0 || eventfd_read(w->gate, &value) < 0)
		_exit(EXIT_FAILURE);
}

static int run_pass(const struct pass *pass, struct pass_result *ret)
{
	struct os d = {};
	struct world w;
	int r = os_open(NULL, &d);

	if (r < 0)
		return r;
	d.is_service = true;
	d.link_log = pass->link_log;
	w = live_world(&d);
	r = loop_pass(&w, pass, ret);
	os_close(&d);
	return r;
}

/* When memory is short the kernel takes the pass, which is made again, and not the service. */
static void go_first(void)
{
	_cleanup_(closep) int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "0", 1) < 0)
		log_debug_errno(-errno, "oom_score_adj");
}

/*
 * Is it the socket by which libsystemd writes to the journal? It keeps the number for good, in a
 * fork as well: journal_fd() in src/libsystemd/sd-journal/journal-send.c. No other socket of this
 * kind is open for longer than a call.
 */
static bool is_of_journal(int fd)
{
	int domain = 0, type = 0;

	getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &(socklen_t){ sizeof(domain) });
	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &(socklen_t){ sizeof(type) });
	return domain == AF_UNIX && type == SOCK_DGRAM;
}

/* A worker that is stuck in the kernel must not keep the service's sockets and pipes open. */
static int close_others(const struct worker *w)
{
	_cleanup_(closedirp) DIR *folder = opendir("/proc/self/fd");
	const struct dirent *d;

	if (!folder)
		return log_error_errno(-errno, "/proc/self/fd");
	while ((d = readdir(folder))) {
		const int fd = (int)strtol(d->d_name, NULL, 10);

		if (fd > STDERR_FILENO && fd != w->pipe && fd != w->gate && fd != dirfd(folder) &&
		    !is_of_journal(fd))
			close(fd);
	}
	return 0;
}

_Noreturn static void be_worker(struct worker *w, pid_t service, struct pass pass)
{
	struct worker_message m = { .kind = WORKER_ENDS };
	sigset_t none;

	go_first();
	/* The service blocks the signals that it reads from a descriptor. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != service)
		_exit(EXIT_FAILURE);

	pass.on_start = on_start;
	pass.on_wait_for = on_wait_for;
	pass.on_wait = on_wait;
	pass.on_looked = on_looked;
	pass.userdata = w;
	m.error = close_others(w);
	if (m.error >= 0)
		m.error = run_pass(&pass, &m.result);
	_exit(write(w->pipe, &m, sizeof(m)) == sizeof(m) ? EXIT_SUCCESS : EXIT_FAILURE);
}

int worker_start(const struct pass *pass, bool is_held, struct worker *ret)
{
	_cleanup_(closep) int from = -EBADF, to = -EBADF, gate = -EBADF;
	const pid_t service = getpid();
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	from = fds[0];
	to = fds[1];
	if (fcntl(from, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	if (is_held) {
		gate = eventfd(0, EFD_CLOEXEC);
		if (gate < 0)
			return -errno;
	}

	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		be_worker(&(struct worker){ .pipe = to, .gate = gate }, service, *pass);

	ret->pid = pid;
	ret->pipe = TAKE_FD(from);
	ret->gate = TAKE_FD(gate);
	return 0;
}

int worker_release(struct worker *w)
{
	_cleanup_(closep) int gate = TAKE_FD(w->gate);

	return eventfd_write(gate, 1) < 0 ? -errno : 0;
}

void worker_done(struct worker *w)
{
	close(TAKE_FD(w->pipe));
	if (w->gate >= 0)
		close(TAKE_FD(w->gate));
	w->pid = 0;
}

uint64_t worker_limit(const struct worker_message *m, uint64_t now_usec, uint64_t limit_usec)
{
	const uint64_t usec = now_usec + m->deadline_usec + WORKER_MARGIN_USEC;

	return m->kind == WORKER_LOCKS ? usec : MAX(limit_usec, usec);
}

int worker_read(struct worker *w, struct worker_message *ret)
{
	ssize_t n = read(w->pipe, ret, sizeof(*ret));

	if (n == (ssize_t)sizeof(*ret)) {
		ret->text[sizeof(ret->text) - 1] = '\0';
		return 1;
	}
	if (n == 0)
		return -EPIPE;
	if (n > 0)
		return -EIO;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}
