/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

#include "hand-over.h"
#include "live.h"
#include "worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

static void tell(const struct hand_over *h, enum worker_message_kind kind, const struct action *a,
		 uint64_t deadline_usec)
{
	struct worker_message m = { .kind = kind, .deadline_usec = deadline_usec };

	action_describe(a, m.text, sizeof(m.text));
	if (a->verb == VERB_SET_NUM_VFS && !action_is_to(a, 0)) {
		copy(m.pf, sizeof(m.pf), a->target);
		m.n_vfs = (uint32_t)a->number.to.n;
	}
	/* Nobody listens any more: the service is being stopped, and so are we. */
	if (write(h->pipe, &m, sizeof(m)) < 0)
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
	const struct hand_over *h = userdata;

	m.deadline_usec = is_over ? 0 : 3600 * USEC_PER_SEC;
	COPY(m.text, is_over ? "looking at the node" : "waiting for another pass to end");
	if (write(h->pipe, &m, sizeof(m)) < 0)
		log_debug_errno(-errno, "Progress cannot be told");
}

static void on_looked(void *userdata, bool is_ready)
{
	struct worker_message m = { .kind = WORKER_LOOKED, .is_ready = is_ready };
	const struct hand_over *h = userdata;
	eventfd_t value;

	if (h->gate < 0)
		return;
	/* What cannot be waited for is a failed pass, and made again. */
	if (write(h->pipe, &m, sizeof(m)) < 0 || eventfd_read(h->gate, &value) < 0)
		_exit(EXIT_FAILURE);
}

static int run_pass(const struct pass *pass, struct pass_result *ret)
{
	struct os d = {};
	struct world w;
	int r;

	r = os_open(NULL, &d);
	if (r < 0)
		return r;
	d.is_service = true;
	d.link_log = pass->link_log;
	w = live_world(&d);
	r = loop_pass(&w, pass, ret);
	os_close(&d);
	return r;
}

/* What the service has left open for this process is not for those that it starts. */
static int keep(int fd)
{
	return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
}

static int take(int fd, struct hand_over *ret)
{
	int r = hand_over_read(fd, ret);

	close(fd);
	if (r >= 0)
		r = keep(ret->pipe);
	if (r >= 0 && ret->gate >= 0)
		r = keep(ret->gate);
	return r;
}

int work(int fd)
{
	struct worker_message m = { .kind = WORKER_ENDS };
	_cleanup_(hand_over_done) struct hand_over h = {};
	int r;

	prctl(PR_SET_NAME, "rdma-provision"); /* the kernel has named it after a descriptor */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	r = take(fd, &h);
	if (r < 0)
		return log_error_errno(r, "This is for rdma-provision.service alone");
	if (getppid() != h.parent)
		return -ESRCH;
	log_set_level(h.level);

	h.pass.on_start = on_start;
	h.pass.on_wait_for = on_wait_for;
	h.pass.on_wait = on_wait;
	h.pass.on_looked = on_looked;
	h.pass.userdata = &h;
	m.error = run_pass(&h.pass, &m.result);
	return write(h.pipe, &m, sizeof(m)) == sizeof(m) ? 0 : -EPIPE;
}
