/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Health: reporters and eswitch mode of functions, over devlink. What a sick PF means is
 * plan/gate.h.
 *
 * Whoever asks waits for the lock of each instance, which a driver holds as long as it initialises
 * its firmware or makes VFs: mlx5_init_one() and mlx5_device_enable_sriov() in
 * drivers/net/ethernet/mellanox/mlx5/core, devlink_nl_dumpit() in net/devlink/netlink.c. No signal
 * ends that. So the service asks in a child, and what it told last counts while it is not asked.
 */
#include "../base/log.h"
#include "../doors/child.h"
#include "../doors/devlink.h"
#include "observe.h"

#include <linux/netlink.h>
#include <sys/mman.h>

#define DEADLINE_USEC (2 * USEC_PER_SEC)

struct question {
	struct pci *pcis; /* shared with the child, which fills them */
	size_t n;
};

static int ask(void *userdata, size_t i _unused_, char *error _unused_)
{
	struct netlink own = { .protocol = NETLINK_GENERIC };
	struct question *q = userdata;

	return devlink_read(&own, q->pcis, q->n); /* the process ends with it */
}

static int ask_in_child(struct doors *d, struct node *n)
{
	const size_t size = n->n_pcis * sizeof(*n->pcis);
	struct question q = { .n = n->n_pcis };
	struct child child = { .call = ask, .userdata = &q };
	char words[CHILD_ERROR_LEN];
	int r;

	q.pcis = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (q.pcis == MAP_FAILED)
		return -ENOMEM;
	memcpy(q.pcis, n->pcis, size);
	r = child_call(&child, 0, DEADLINE_USEC, words, sizeof(words));
	child_done(&child);
	if (r >= 0)
		memcpy(n->pcis, q.pcis, size);
	munmap(q.pcis, size);
	d->is_devlink_held = r == -ETIMEDOUT;
	if (r == -ETIMEDOUT)
		log_warning("A driver keeps devlink from answering: the health of functions is "
			    "not known");
	return r;
}

static bool is_any_busy(const struct node *n)
{
	for (size_t i = 0; i < n->n_pcis; i++)
		if (n->pcis[i].is_busy)
			return true;
	return false;
}

static bool has_sriov(const struct node *n)
{
	for (size_t i = 0; i < n->n_pcis; i++)
		if (n->pcis[i].has_sriov && n->pcis[i].driver[0])
			return true;
	return false;
}

static int remember(struct doors *d, const struct node *n)
{
	struct pci *told = malloc(n->n_pcis * sizeof(*told));

	if (!told)
		return -ENOMEM;
	memcpy(told, n->pcis, n->n_pcis * sizeof(*told));
	free(d->told);
	d->told = told;
	d->n_told = n->n_pcis;
	return 0;
}

/* Of a function that is the one it was. */
static void recall(const struct doors *d, struct node *n)
{
	for (size_t i = 0, k = 0; i < n->n_pcis; i++) {
		struct pci *p = &n->pcis[i];

		while (k < d->n_told && strcmp(d->told[k].address, p->address) < 0)
			k++;
		if (k == d->n_told || !streq(d->told[k].address, p->address) ||
		    d->told[k].instance != p->instance)
			continue;
		COPY(p->health, d->told[k].health);
		COPY(p->eswitch, d->told[k].eswitch);
	}
}

int observe_health(struct doors *d, struct node *n)
{
	int r;

	/* Below a root it is in the answers. */
	if (!d->fs.is_live || !has_sriov(n))
		return 0;
	/* Another process holds a lock that devlink needs. */
	if (n->stuck[0] || d->is_devlink_held || is_any_busy(n)) {
		recall(d, n);
		return 0;
	}
	r = d->is_service ? ask_in_child(d, n) : devlink_read(&d->devlink, n->pcis, n->n_pcis);
	if (r == -ENOMEM)
		return r;
	if (!d->is_devlink_held)
		return remember(d, n);
	recall(d, n);
	return 0;
}
