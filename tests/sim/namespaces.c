/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespaces: the mode of RDMA network namespaces, and who has a network namespace. Only in some
 * lives, so that the others stay what they were.
 *
 * While any but the first one exists the kernel refuses another mode, in both directions:
 * rdma_compatdev_set() in drivers/infiniband/core/device.c. One that has ended exists until its
 * clean-up is over: cleanup_net() in net/core/net_namespace.c. In exclusive mode the RDMA device
 * goes into the pod after its netdev, as rdma-cni moves it, and is back before it: cleanup_net()
 * calls rdma_dev_exit_net() in drivers/infiniband/core/device.c, which was registered last, before
 * default_device_exit_batch() in net/core/dev.c.
 */
#include "../../src/model/use-facts.h"
#include "../../src/os/rdma.h"
#include "sim.h"

#define CLEANUP_USEC (2 * USEC_PER_SEC)

/* Of a unit with PrivateNetwork=yes. */
static struct {
	uint64_t from_usec, until_usec;
} unit;

static bool was_seen;    /* at the last look: one with a name */
static bool was_refused; /* in this boot: then only the next one sets the mode */

/* Nobody declares what the linker makes of --wrap. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

bool is_life_with_namespaces(void)
{
	return sim.seed % 8 == 2;
}

/* What "early" did of what is asked for is not known here. */
void namespaces_boot(void)
{
	memset(&unit, 0, sizeof(unit));
	was_refused = false;
	if (!is_life_with_namespaces())
		return;
	sim.netns_mode = sim_random(2) == 0 ? NETNS_MODE_EXCLUSIVE : NETNS_MODE_SHARED;
	unit.from_usec = sim_random(60 * USEC_PER_SEC);
	unit.until_usec = unit.from_usec + sim_random(60 * USEC_PER_SEC);
}

void namespaces_leave(void)
{
	unit.until_usec = MIN(unit.until_usec, sim.now_usec);
}

void namespaces_write(FILE *f)
{
	if (is_life_with_namespaces())
		fprintf(f, "[RDMA]\nNetnsMode=%s\n",
			sim_random(3) == 0   ? "keep"
			: sim_random(2) == 0 ? "shared"
					     : "exclusive");
}

static bool is_any_there(void)
{
	bool is_there = unit.until_usec > 0 && unit.from_usec <= sim.now_usec &&
			sim.now_usec < unit.until_usec + CLEANUP_USEC;

	for (size_t i = 0; i < sim.n_funcs; i++)
		is_there |= sim.funcs[i].is_in_pod ||
			    (sim.funcs[i].ended_usec > 0 &&
			     sim.now_usec < sim.funcs[i].ended_usec + CLEANUP_USEC);
	return is_there;
}

/* That of the unit has no name. */
void namespaces_show(struct node *n)
{
	was_seen = false;
	for (size_t i = 0; i < sim.n_funcs && is_life_with_namespaces(); i++) {
		struct netns *ns = sim.funcs[i].is_in_pod ? GROW(n->netnses, n->n_netnses) : NULL;

		if (!ns)
			continue;
		ns->inode = 4026532001 + i;
		COPY(ns->name, "pod");
		was_seen = true;
	}
}

/* Its RDMA device follows its netdev there. */
void namespaces_move(struct func *f)
{
	if (!is_life_with_namespaces())
		return;
	f->ended_usec = f->is_in_pod ? 0 : sim.now_usec;
	if (f->is_in_pod && sim.netns_mode == NETNS_MODE_EXCLUSIVE)
		f->follows_usec = sim.now_usec + sim_random(USEC_PER_SEC);
}

bool namespaces_has_followed(const struct func *f)
{
	return f->is_in_pod && sim.netns_mode == NETNS_MODE_EXCLUSIVE &&
	       f->follows_usec <= sim.now_usec;
}

int __wrap_rdma_set_netns_mode(struct netlink *nl _unused_, enum netns_mode mode)
{
	const char *problem = mode == sim.netns_mode                ? "and was so before"
			      : mode != sim.config->rdma.netns_mode ? "and not asked for"
			      : was_seen                            ? "and a namespace was seen"
								    : NULL;
	int r = os_touch(NULL, "RDMA network namespaces");

	if (problem)
		sim_fail("the mode of RDMA network namespaces is set, %s", problem);
	if (r >= 0 && is_any_there())
		r = -EBUSY;
	was_refused |= r == -EBUSY;
	if (r >= 0 && sim_chance(sim.rates.error))
		r = -ENOMEM;
	if (r >= 0)
		sim.netns_mode = mode;
	return r;
}

/* Is it as it was asked for, once nothing is in the way? */
void namespaces_check(void)
{
	const enum netns_mode asked = sim.config->rdma.netns_mode;

	if (is_life_with_namespaces() && !was_refused && asked != NETNS_MODE_KEEP &&
	    asked != sim.netns_mode && !is_any_there())
		sim_fail("RDMA network namespaces are %s, asked for is %s",
			 netns_mode_name(sim.netns_mode), netns_mode_name(asked));
}
