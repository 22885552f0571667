/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Health: reporters and eswitch mode of functions, over devlink. What a sick PF means is
 * guard/vf-precheck-rules.h.
 *
 * A request waits for the lock of each instance, which a driver holds as long as it initialises its
 * firmware or makes VFs: mlx5_init_one() and mlx5_device_enable_sriov() in
 * drivers/net/ethernet/mellanox/mlx5/core, devlink_nl_dumpit() in net/devlink/netlink.c. No signal
 * ends that wait. So the service asks in a child process, and uses the last answers of this pass
 * while it cannot ask. A child that does not come back is remembered, and no other is started until
 * it is gone. A command asks by itself, for a fork is dear, unless a driver may be initialising.
 */
#include "../base/log.h"
#include "../os/child.h"
#include "../os/devlink.h"
#include "../step/observers.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sys/mman.h>

#define DEADLINE_USEC (2 * USEC_PER_SEC)

struct health_request {
	struct pci *pcis; /* shared with the child, which fills them */
	size_t n;
};

/* A child that is left behind would keep the pipe of a command open, and its reader waiting. */
static void leave_output(void)
{
	_cleanup_(closep) int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
}

static int ask(void *userdata, size_t i _unused_, char *error _unused_)
{
	struct netlink own = { .protocol = NETLINK_GENERIC };
	struct health_request *q = userdata;

	leave_output();
	return devlink_read(&own, q->pcis, q->n); /* the process ends with it */
}

static int ask_in_child(struct os *d, struct node *n, struct memory *memory)
{
	const size_t size = n->n_pcis * sizeof(*n->pcis);
	struct health_request q = { .n = n->n_pcis };
	struct child child = { .call = ask, .userdata = &q };
	char words[CHILD_ERROR_LEN];
	pid_t pid = 0;
	int r;

	q.pcis = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (q.pcis == MAP_FAILED)
		return -ENOMEM;
	memcpy(q.pcis, n->pcis, size);
	r = child_begin(&child, 0);
	if (r >= 0) {
		pid = child.pid;
		r = child_end(&child, now_usec() + DEADLINE_USEC, words, sizeof(words));
	}
	child_done(&child);
	if (r >= 0)
		memcpy(n->pcis, q.pcis, size);
	munmap(q.pcis, size);
	d->devlink_pid = memory->devlink_pid = r == -ETIMEDOUT ? (uint32_t)pid : 0;
	if (r == -ETIMEDOUT)
		log_warning("A driver keeps devlink from answering: the health of functions is "
			    "not known until it is done");
	return r;
}

/*
 * Is there a PF without netdev and RDMA device? Its driver may be waiting for the firmware; an
 * unbound PF may be probed at any moment, for example by a pass that tries it again.
 */
static bool is_any_silent(const struct node *n)
{
	return ANY(p, n->pcis, n->n_pcis,
		   p->has_sriov && !node_netdev_of(n, p->address) && !node_ibdev_of(n, p->address));
}

static void remember(struct os *d, struct node *n)
{
	struct pci *told = reallocarray(d->told, n->n_pcis, sizeof(*told));

	if (!node_note(n, told ? 0 : -ENOMEM))
		return;
	memcpy(told, n->pcis, n->n_pcis * sizeof(*told));
	d->told = told;
	d->n_told = n->n_pcis;
}

/* Copies the last answers for each function whose instance has not changed. */
static void recall(const struct os *d, struct node *n)
{
	FOREACH(p, n->pcis, n->n_pcis) {
		const struct pci *told = SEARCH(p->address, d->told, d->n_told, compare_text);

		if (!told || told->instance != p->instance)
			continue;
		COPY(p->health, told->health);
		COPY(p->eswitch, told->eswitch);
	}
}

void observe_health(struct os *d, struct node *n, struct memory *memory)
{
	int r;

	/* A captured tree has the health in its answers. */
	if (!d->fs.is_live || !ANY(p, n->pcis, n->n_pcis, p->has_sriov && p->driver[0]))
		return;
	if (d->devlink_pid)
		memory->devlink_pid = d->devlink_pid;
	/* Another process holds a lock that devlink needs. */
	if (memory->stuck[0] || memory->devlink_pid || ANY(p, n->pcis, n->n_pcis, p->is_busy)) {
		recall(d, n);
		return;
	}
	r = d->is_service || is_any_silent(n) ? ask_in_child(d, n, memory)
					      : devlink_read(&d->generic, n->pcis, n->n_pcis);
	node_note(n, r);
	if (memory->devlink_pid || r == -ENOMEM)
		recall(d, n);
	else
		remember(d, n);
}
