/* SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#define DEFAULT_METRIC_IPV6 256 /* IP6_RT_PRIO_ADDRCONF in include/net/ip6_route.h */

/* The prefix of an address, host bits cleared. */
static void prefix_of(const struct address *a, uint8_t ret[16])
{
	memset(ret, 0, 16);
	for (uint32_t bit = 0; bit < a->prefix_len; bit++)
		ret[bit / 8] |= a->peer[bit / 8] & (0x80 >> bit % 8);
}

static bool is_same_prefix(const struct address *a, const struct address *b)
{
	uint8_t x[16], y[16];

	if (a->family != b->family || a->prefix_len != b->prefix_len)
		return false;
	prefix_of(a, x);
	prefix_of(b, y);
	return memcmp(x, y, sizeof(x)) == 0;
}

/* Has the kernel made a prefix route for this address that may be ranked? */
static bool has_prefix_route(const struct address *a)
{
	uint32_t bits = a->family == AF_INET ? 32 : 128;

	/* The prefix route of an IPv6 address with a lifetime is not moved but doubled by the
	 * kernel: inet6_addr_modify() in net/ipv6/addrconf.c */
	if (a->family == AF_INET6 && !(a->flags & IFA_F_PERMANENT))
		return false;
	return a->scope == RT_SCOPE_UNIVERSE && a->prefix_len < bits && a->prefix_len > 0 &&
	       !(a->flags & (IFA_F_SECONDARY | IFA_F_NOPREFIXROUTE));
}

static uint32_t metric_of(const struct address *a)
{
	if (a->metric == 0 && a->family == AF_INET6)
		return DEFAULT_METRIC_IPV6;
	return a->metric;
}

static const struct device *managed_netdev(const struct plan *p, uint32_t ifindex)
{
	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i].netdev && p->devices[i].netdev->ifindex == ifindex &&
		    !p->devices[i].is_in_pod)
			return &p->devices[i];
	return NULL;
}

/* Ours is what the kernel made for the address of a managed netdev. */
static bool is_foreign(const struct plan *p, const struct route *t)
{
	return t->protocol != RTPROT_KERNEL || !managed_netdev(p, t->ifindex);
}

/* The lowest metric that ranks below everybody else's route to this prefix. */
static uint32_t base_metric(const struct config *c, const struct node *n, const struct plan *p,
			    const struct address *a)
{
	uint32_t base = c->route.metric;
	uint8_t prefix[16];

	prefix_of(a, prefix);
	for (size_t i = 0; i < n->n_routes; i++) {
		const struct route *t = &n->routes[i];

		if (t->family == a->family && t->prefix_len == a->prefix_len &&
		    memcmp(t->dst, prefix, sizeof(prefix)) == 0 && is_foreign(p, t) &&
		    t->metric < UINT32_MAX && t->metric + 1 > base)
			base = t->metric + 1;
	}
	return base;
}

/* "ens1v0 10.0.0.2/24" */
static void describe(const struct address *a, const char *netdev, char *ret, size_t size)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(a->family, a->local, text, sizeof(text));
	snprintf(ret, size, "%s %s/%" PRIu32, netdev, text, a->prefix_len);
}

static int want_metric(const struct node *n, struct plan *p, const struct device *d, size_t address,
		       uint32_t want)
{
	const struct address *have = &n->addresses[address];
	struct action *a;

	if (metric_of(have) == want)
		return 0;

	a = plan_add(p, STEP_ROUTE, VERB_SET_METRIC, CLASS_CHANGE, d->pci->address);
	if (!a)
		return -ENOMEM;
	a->ifindex = have->ifindex;
	a->address = address;
	snprintf(a->from, sizeof(a->from), "%" PRIu32, metric_of(have));
	snprintf(a->to, sizeof(a->to), "%" PRIu32, want);
	describe(have, d->netdev->name, a->detail, sizeof(a->detail));
	return 0;
}

/*
 * How many managed netdevs before this one have an address in the same prefix: devices are in the
 * order of their PCI addresses, so each rail keeps its rank. A netdev that two devices share counts
 * once.
 */
static uint32_t rank_of(const struct node *n, const struct plan *p, const struct device *d,
			const struct address *a)
{
	uint32_t rank = 0;

	for (const struct device *other = p->devices; other < d; other++) {
		if (!other->netdev || managed_netdev(p, other->netdev->ifindex) != other ||
		    other->netdev == d->netdev)
			continue;
		for (size_t i = 0; i < n->n_addresses; i++) {
			const struct address *b = &n->addresses[i];

			if (b->ifindex == other->netdev->ifindex && has_prefix_route(b) &&
			    is_same_prefix(a, b)) {
				rank++;
				break;
			}
		}
	}
	return rank;
}

int plan_route(const struct config *c, const struct node *n, struct plan *p)
{
	int r = 0;

	if (!c->route.manage)
		return 0;

	for (size_t i = 0; i < n->n_addresses && r >= 0; i++) {
		const struct address *a = &n->addresses[i];
		const struct device *d = managed_netdev(p, a->ifindex);

		if (!d || !has_prefix_route(a))
			continue;
		r = want_metric(n, p, d, i, base_metric(c, n, p, a) + rank_of(n, p, d, a));
	}
	return r;
}
