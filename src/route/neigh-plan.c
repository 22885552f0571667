/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gateway: the neighbour entry of an IPv6 gateway is kept resolved.
 *
 * The first packet of a queue pair does not wait for a neighbour: a connection to another network
 * is refused while its gateway is not resolved. Source: addr_resolve_neigh() in
 * drivers/infiniband/core/addr.c
 */
#include "nic-netdev-rules.h"

#include <linux/neighbour.h>
#include <sys/socket.h>

#define MINUTE_USEC (60 * USEC_PER_SEC)
#define PROBES_MAX  5 /* of a gateway that does not answer, in a minute */

static const struct neighbour *find(const struct node *n, uint32_t ifindex, const uint8_t *address)
{
	return FIND(e, n->neighbours, n->n_neighbours,
		    e->ifindex == ifindex && memcmp(e->address, address, 16) == 0);
}

static void add(struct plan *p, const struct nic_netdev *k, enum verb verb, uint32_t ifindex,
		const uint8_t *address)
{
	char subject[48];
	struct action *a;

	ip_format(AF_INET6, address, UINT32_MAX, subject, sizeof(subject));
	a = nic_netdev_add_action(p, k, verb, ifindex, subject);
	a->neighbour = (struct neighbour){ .ifindex = ifindex, .family = AF_INET6 };
	memcpy(a->neighbour.address, address, 16);
}

/* A gateway that was probed that often in a minute is silent, not contested: it is no item. */
static bool is_probed(const struct node *n, const struct memory *memory, uint32_t ifindex,
		      const uint8_t *address)
{
	const struct ledger_entry *e;
	char subject[48];

	ip_format(AF_INET6, address, UINT32_MAX, subject, sizeof(subject));
	e = memory_entry(memory, verb_name(VERB_PROBE_NEIGHBOUR), "", ifindex, subject);
	/* The first time it was not there yet. */
	return e && n->now_usec >= e->since_usec && n->now_usec - e->since_usec < MINUTE_USEC &&
	       e->n > PROBES_MAX;
}

static bool is_fading(const struct neighbour *have)
{
	return !have || have->state == NUD_NONE || have->state & (NUD_STALE | NUD_FAILED);
}

static void want_gateway(const struct node *n, const struct memory *memory, struct plan *p,
			 const struct nic_netdev *k)
{
	const struct neighbour *have;
	uint8_t gateway[16];

	if (!k->is_ra || !k->netdev->is_up || nic_netdev_is_hands_off(k) ||
	    !nic_netdev_gateway(n, k, AF_INET6, gateway))
		return;

	have = find(n, k->netdev->ifindex, gateway);
	if (!node_has_managed_neighbours(n->kernel)) {
		if (is_fading(have) && !is_probed(n, memory, k->netdev->ifindex, gateway))
			add(p, k, VERB_PROBE_NEIGHBOUR, k->netdev->ifindex, gateway);
	} else if (!have || !have->is_managed) {
		add(p, k, VERB_KEEP_NEIGHBOUR, k->netdev->ifindex, gateway);
	}
}

/* Drops a neighbour entry of ours when the gateway is another one now. */
static void drop_neighbour(const struct node *n, struct plan *p, const struct neighbour *have)
{
	const struct nic_netdev *k = nic_netdev_of(p, have->ifindex);
	uint8_t gateway[16];

	if (have->protocol != OWN_PROTOCOL || (k && nic_netdev_is_hands_off(k)) ||
	    nic_netdev_is_used(p, have->ifindex))
		return;
	/* While there is no router, the previous gateway is as good as any. */
	if (k && k->is_ra &&
	    (!nic_netdev_gateway(n, k, AF_INET6, gateway) ||
	     memcmp(have->address, gateway, 16) == 0))
		return;
	add(p, k, VERB_REMOVE_NEIGHBOUR, have->ifindex, have->address);
}

void plan_neigh(const struct config *c, const struct node *n, const struct memory *memory,
		struct plan *p)
{
	for (size_t i = 0; i < p->n_nic_netdevs && c->route.manage; i++)
		want_gateway(n, memory, p, &p->nic_netdevs[i]);
	for (size_t i = 0; i < n->n_neighbours && c->route.manage; i++)
		drop_neighbour(n, p, &n->neighbours[i]);
}
