/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes: addresses, routes, rules and settings of netdevs as a kernel keeps them for IPv4, and
 * the other programs that change them.
 *
 * The kernel has the prefix route of an address while its netdev is up: fib_add_ifaddr() in
 * net/ipv4/fib_frontend.c. A netdev that goes down loses its routes in all tables and keeps its
 * addresses: fib_netdev_event() there. One that goes, also into another namespace, loses both, and
 * its settings are the defaults when it comes back: inetdev_destroy(), inetdev_init() in
 * net/ipv4/devinet.c. Rules stay, whatever becomes of what they name: detach_rules() in
 * net/core/fib_rules.c.
 */
#include "../../src/os/link.h"
#include "../../src/os/route.h"
#include "../../src/route/nic-netdev-rules.h"
#include "sim.h"

#include <arpa/inet.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>

struct held {
	struct address a;
	uint32_t by_others; /* the metric that another program set last */
	bool is_ours;
	bool has_gateway;             /* a default route came with it */
	uint64_t from_usec, gid_usec; /* DHCP has its answer then; its GID is there then */
};

static struct {
	struct held *addresses; /* owned, as are the next two */
	struct route *routes;   /* without those that follow from addresses */
	struct rule *rules;     /* in the order of their preferences */
	size_t n_addresses, n_routes, n_rules;
	uint32_t seen[FUNCS_MAX]; /* ifindex of the netdev whose settings these are */
	struct netconf confs[FUNCS_MAX], all, defaults;
	uint32_t by_others[FUNCS_MAX][_NETCONF_N]; /* 1 << value: another program set that */
	bool has_addresses, is_one_network;
} net;

static const enum netconf_key keys[] = { NETCONF_ARP_IGNORE, NETCONF_ARP_ANNOUNCE,
					 NETCONF_RP_FILTER };

/* Nobody declares what the linker makes of --wrap. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define DROP(array, n, i) drop((array) + (i), array, &(n), sizeof(*(array)))

static void drop(void *at, const void *array, size_t *n, size_t size)
{
	memmove(at, (char *)at + size, --*n * size - (size_t)((char *)at - (const char *)array));
}

/* Of a netdev: 0: there is none, 1: it is down, 2: up. */
static int state_of(uint32_t ifindex)
{
	const struct func *f = kernel_of_ifindex(ifindex);

	if (!f)
		return ifindex == BOND_IFINDEX && sim.bond_usec <= sim.now_usec ? 2 : 0;
	return 1 + f->is_up;
}

/* What has gone with its netdev. */
static void settle(void)
{
	for (size_t i = net.n_addresses; i-- > 0;)
		if (state_of(net.addresses[i].a.ifindex) == 0)
			DROP(net.addresses, net.n_addresses, i);
	for (size_t i = net.n_routes; i-- > 0;)
		if (state_of(net.routes[i].ifindex) < 2)
			DROP(net.routes, net.n_routes, i);
}

static struct held *add_address(const struct address *a)
{
	struct held *h = GROW(net.addresses, net.n_addresses);

	h->a = *a;
	h->from_usec = sim.now_usec;
	/* Queued work: update_gid_event_work_handler() in infiniband/core/roce_gid_mgmt.c */
	h->gid_usec = sim.now_usec + sim_random(USEC_PER_SEC);
	return h;
}

/* A new netdev gets what its network manager has for it. */
struct netconf routes_conf(const struct func *f)
{
	const size_t i = (size_t)(f - sim.funcs);
	struct address a = { .ifindex = f->ifindex,
			     .family = AF_INET,
			     .local = { 10, 0, net.is_one_network ? 0 : i, 10 + i },
			     .prefix_len = 24 };
	struct held *h;

	if (net.seen[i] == f->ifindex)
		return net.confs[i];
	net.seen[i] = f->ifindex;
	net.confs[i] = net.defaults;
	memset(net.by_others[i], 0, sizeof(net.by_others[i]));
	if (!f->is_node && (!net.has_addresses || f->pf >= 0 || f->is_port))
		return net.confs[i];
	if (f->is_node)
		inet_pton(AF_INET, "192.0.2.2", a.local);
	memcpy(a.peer, a.local, sizeof(a.peer));
	h = add_address(&a);
	h->has_gateway = f->is_node || sim_random(2) == 0;
	if (!f->is_node)
		h->gid_usec = h->from_usec += sim_random(5 * USEC_PER_SEC);
	return net.confs[i];
}

static struct held *find_address(const uint8_t *local, uint32_t ifindex)
{
	for (size_t i = 0; i < net.n_addresses; i++) {
		struct held *h = &net.addresses[i];

		if (h->from_usec <= sim.now_usec && memcmp(h->a.local, local, 16) == 0 &&
		    (ifindex == 0 || h->a.ifindex == ifindex))
			return h;
	}
	return NULL;
}

static struct route *find_route(const struct route *t)
{
	for (size_t i = 0; i < net.n_routes; i++) {
		struct route *have = &net.routes[i];

		if (have->table == t->table && have->prefix_len == t->prefix_len &&
		    have->metric == t->metric && memcmp(have->dst, t->dst, sizeof(t->dst)) == 0)
			return have;
	}
	return NULL;
}

static struct rule *find_rule(const struct rule *rule)
{
	for (size_t i = 0; i < net.n_rules; i++) {
		struct rule *have = &net.rules[i];

		if (have->preference == rule->preference && have->table == rule->table &&
		    have->src_len == rule->src_len && streq(have->oif, rule->oif) &&
		    memcmp(have->src, rule->src, sizeof(rule->src)) == 0)
			return have;
	}
	return NULL;
}

static void add_rule(const struct rule *rule)
{
	size_t at = net.n_rules;

	GROW(net.rules, net.n_rules);
	for (; at > 0 && net.rules[at - 1].preference > rule->preference; at--)
		net.rules[at] = net.rules[at - 1];
	net.rules[at] = *rule;
}

/* --- what an observer sees --- */

static void show_address(const struct held *h, struct node *n)
{
	struct route t = { .family = AF_INET,
			   .prefix_len = h->a.prefix_len,
			   .table = RT_TABLE_MAIN,
			   .ifindex = h->a.ifindex,
			   .metric = h->a.metric,
			   .protocol = RTPROT_KERNEL,
			   .scope = RT_SCOPE_LINK,
			   .type = RTN_UNICAST };

	*GROW(n->addresses, n->n_addresses) = h->a;
	if (state_of(h->a.ifindex) < 2)
		return;
	ip_prefix(&h->a, t.dst);
	memcpy(t.src, h->a.local, sizeof(t.src));
	*GROW(n->routes, n->n_routes) = t;
	if (!h->has_gateway)
		return;
	memcpy(t.gateway, t.dst, sizeof(t.gateway));
	t.gateway[3] = 1;
	memset(t.dst, 0, sizeof(t.dst));
	memset(t.src, 0, sizeof(t.src));
	t.prefix_len = 0;
	t.metric = h->a.local[0] == 10 ? 300 : 100;
	t.protocol = RTPROT_DHCP;
	*GROW(n->routes, n->n_routes) = t;
}

void routes_show(struct node *n)
{
	settle();
	n->all = net.all;
	for (size_t i = 0; i < net.n_addresses; i++)
		if (net.addresses[i].from_usec <= sim.now_usec)
			show_address(&net.addresses[i], n);
	for (size_t i = 0; i < net.n_routes; i++)
		*GROW(n->routes, n->n_routes) = net.routes[i];
	for (size_t i = 0; i < net.n_rules; i++)
		*GROW(n->rules, n->n_rules) = net.rules[i];
}

void routes_show_gids(uint32_t ifindex, const char *netdev, struct port *port)
{
	for (size_t i = 0; i < net.n_addresses; i++) {
		const struct held *h = &net.addresses[i];
		struct gid *gid;

		if (h->a.ifindex != ifindex || h->gid_usec > sim.now_usec)
			continue;
		gid = GROW(port->gids, port->n_gids);
		gid->index = (uint32_t)port->n_gids - 1;
		snprintf(gid->gid, sizeof(gid->gid),
			 "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x", h->a.local[0],
			 h->a.local[1], h->a.local[2], h->a.local[3]);
		COPY(gid->type, "RoCE v2");
		COPY(gid->netdev, netdev);
	}
}

/* The longest prefix in this table; fib_table_lookup() in net/ipv4/fib_trie.c. */
static const struct route *best_route(const struct node *n, uint32_t table, const uint8_t *dst,
				      uint32_t oif)
{
	const struct route *best = NULL;

	for (size_t i = 0; i < n->n_routes; i++) {
		const struct route *t = &n->routes[i];

		if (t->table == table && (oif == 0 || t->ifindex == oif) &&
		    ip_is_in_prefix(dst, t->dst, t->prefix_len) &&
		    (!best || t->prefix_len > best->prefix_len ||
		     (t->prefix_len == best->prefix_len && t->metric < best->metric)))
			best = t;
	}
	return best;
}

/* fib_rules_lookup() in net/core/fib_rules.c */
static void look_up(const struct node *n, struct lookup *l)
{
	const struct func *f = kernel_of_ifindex(l->ifindex);
	const uint32_t oif = is_zero(l->address) ? l->ifindex : 0;
	const struct route *best = NULL;

	for (size_t i = 0; i < n->n_rules && !best; i++) {
		const struct rule *rule = &n->rules[i];

		if ((rule->src_len == 0 || memcmp(rule->src, l->address, 16) == 0) &&
		    (!rule->oif[0] || (oif && streq(rule->oif, f ? f->netdev : BOND_NAME))))
			best = best_route(n, rule->table, l->dst, oif);
	}
	l->result = best ? 0 : -ENETUNREACH;
	l->found = best ? best->ifindex : 0;
}

void routes_look_up(struct lookup *l)
{
	_cleanup_(node_done) struct node n = {};

	routes_show(&n);
	look_up(&n, l);
	if (!is_zero(l->address) && !find_address(l->address, 0))
		l->result = -EINVAL;
}

void routes_show_destination(struct node *n)
{
	struct destination *d = GROW(n->destinations, n->n_destinations);

	*d = (struct destination){ .to = TO_DEFAULT,
				   .words = "default route",
				   .lookup = { .family = AF_INET, .dst = { 203, 0, 113, 1 } } };
	look_up(n, &d->lookup);
}

/* --- what the program changes --- */

static int touch_netdev(uint32_t ifindex, const char *what)
{
	int r = os_touch(kernel_of_ifindex(ifindex), what);

	settle();
	sim.cost_usec += USEC_PER_MSEC;
	return r >= 0 && sim_chance(sim.rates.error / 2) ? -ENOMEM : r;
}

int __wrap_link_set_metric(struct netlink *nl _unused_, const struct address *a, uint32_t metric)
{
	int r = touch_netdev(a->ifindex, "metric");
	struct held *h = find_address(a->local, a->ifindex);

	if (r >= 0 && h)
		h->a.metric = metric;
	return r < 0 || h ? r : -EADDRNOTAVAIL;
}

int __wrap_link_add_address(struct netlink *nl _unused_, const struct address *a)
{
	int r = touch_netdev(a->ifindex, "address");

	metadata_check_address(a);
	if (r >= 0 && state_of(a->ifindex) == 0)
		r = -ENODEV;
	if (r >= 0 && find_address(a->local, a->ifindex))
		r = -EEXIST;
	if (r >= 0)
		add_address(a)->is_ours = true;
	return r;
}

int __wrap_link_remove_address(struct netlink *nl _unused_, const struct address *a)
{
	int r = touch_netdev(a->ifindex, "address is removed");
	struct held *h = find_address(a->local, a->ifindex);

	if (h && !h->is_ours)
		sim_fail("an address of another program is removed");
	if (r >= 0 && h)
		DROP(net.addresses, net.n_addresses, (size_t)(h - net.addresses));
	return r;
}

/* fib_check_nh(), fib_valid_prefsrc() and fib_check_nh_gw() in net/ipv4/fib_semantics.c */
static int check_route(const struct route *t)
{
	bool is_on_link = is_zero(t->gateway);

	if (state_of(t->ifindex) < 2)
		return state_of(t->ifindex) == 0 ? -ENODEV : -ENETDOWN;
	if (!is_zero(t->src) && !find_address(t->src, 0))
		return -EINVAL;
	for (size_t i = 0; i < net.n_routes && !is_on_link; i++)
		is_on_link =
			net.routes[i].ifindex == t->ifindex && net.routes[i].prefix_len > 0 &&
			ip_is_in_prefix(t->gateway, net.routes[i].dst, net.routes[i].prefix_len);
	return is_on_link ? 0 : -ENETUNREACH;
}

/* fib_table_insert() in net/ipv4/fib_trie.c; of a foreign one, find_foreign() in os/route.c */
int __wrap_route_set(struct netlink *nl _unused_, const struct route *t, bool is_replaced)
{
	int r = touch_netdev(t->ifindex, "route");
	struct route *have = find_route(t);

	if (t->protocol != OWN_PROTOCOL || t->table != OWN_TABLE_BASE + t->ifindex)
		sim_fail("netdev %" PRIu32 " gets a route in table %" PRIu32, t->ifindex, t->table);
	if (r >= 0)
		r = check_route(t);
	if (r >= 0 && have && (!is_replaced || have->protocol != OWN_PROTOCOL))
		r = -EEXIST;
	if (r >= 0)
		*(have ? have : GROW(net.routes, net.n_routes)) = *t;
	return r;
}

int __wrap_route_remove(struct netlink *nl _unused_, const struct route *t)
{
	int r = touch_netdev(t->ifindex, "route is removed");
	const struct route *have = find_route(t);

	if (t->protocol != OWN_PROTOCOL)
		sim_fail("a route of another program is removed");
	if (r >= 0 && have && have->protocol == OWN_PROTOCOL)
		DROP(net.routes, net.n_routes, (size_t)(have - net.routes));
	return r;
}

int __wrap_rule_add(struct netlink *nl _unused_, const struct rule *rule)
{
	int r = touch_netdev(nic_netdev_of_rule(rule), "rule");

	if (r >= 0 && !find_rule(rule))
		add_rule(rule);
	return r;
}

int __wrap_rule_remove(struct netlink *nl _unused_, const struct rule *rule)
{
	int r = touch_netdev(nic_netdev_of_rule(rule), "rule is removed");
	const struct rule *have = find_rule(rule);

	if (rule->protocol != OWN_PROTOCOL)
		sim_fail("a rule of another program is removed");
	if (r >= 0 && have && have->protocol == OWN_PROTOCOL)
		DROP(net.rules, net.n_rules, (size_t)(have - net.rules));
	return r;
}

char *__wrap_if_indextoname(unsigned ifindex, char *name)
{
	const struct func *f = kernel_of_ifindex(ifindex);

	errno = ENXIO;
	return f ? strcpy(name, f->netdev) : NULL;
}

int routes_write_conf(const char *path, const char *value)
{
	for (size_t i = 0; i < sim.n_funcs * ELEMENTSOF(keys); i++) {
		const struct func *f = &sim.funcs[i / ELEMENTSOF(keys)];
		const enum netconf_key key = keys[i % ELEMENTSOF(keys)];
		char name[64];
		int r;

		snprintf(name, sizeof(name), "%s/%s", f->netdev,
			 netconf_name(key) + strlen("ipv4/"));
		if (!streq(path, name) || !kernel_of_ifindex(f->ifindex))
			continue;
		r = touch_netdev(f->ifindex, path);
		if (r >= 0)
			net.confs[f - sim.funcs].values[key] = (int32_t)strtol(value, NULL, 10);
		return r;
	}
	return -ENOENT;
}

/* --- other programs --- */

/* An agent ranks the prefix of a NIC. */
static void add_rival(const struct address *a)
{
	struct route t = { .family = AF_INET,
			   .prefix_len = a->prefix_len,
			   .table = RT_TABLE_MAIN,
			   .ifindex = a->ifindex,
			   .metric = 150 + 50 * (uint32_t)sim_random(4),
			   .protocol = RTPROT_STATIC,
			   .type = RTN_UNICAST };

	ip_prefix(a, t.dst);
	if (!find_route(&t))
		*GROW(net.routes, net.n_routes) = t;
}

void routes_act(void)
{
	const struct rule rule = { .family = AF_INET,
				   .preference = sim_random(2) == 0 ? 1000 : 31000,
				   .table = RT_TABLE_MAIN,
				   .action = FR_ACT_TO_TBL };
	const unsigned what = (unsigned)sim_random(7);
	const size_t i = sim_random(sim.n_funcs), key = keys[sim_random(ELEMENTSOF(keys))];
	struct held *h;

	settle();
	h = net.n_addresses > 0 ? &net.addresses[sim_random(net.n_addresses)] : NULL;
	sim_trace("another program changes addresses, routes or rules: %u", what);
	if (what == 0) { /* of a network plugin */
		if (!find_rule(&rule))
			add_rule(&rule);
	} else if (what == 1 && net.n_rules > 1) { /* networkd: what is not its own, not main's */
		DROP(net.rules, net.n_rules, sim_random(net.n_rules - 1));
	} else if (what == 2 && net.n_routes > 0) {
		DROP(net.routes, net.n_routes, sim_random(net.n_routes));
	} else if (what == 3) { /* tuned */
		net.confs[i].values[key] = (int32_t)sim_random(3);
		net.by_others[i][key] |= 1u << net.confs[i].values[key];
	} else if (what == 4 && h) {
		add_rival(&h->a);
	} else if (what == 5 && h && !h->is_ours) { /* NetworkManager */
		h->a.metric = h->by_others = 100 * (uint32_t)sim_random(3);
	} else if (what == 6 && h && !h->is_ours && h->a.local[0] == 10) { /* another lease */
		uint8_t local[16];

		memcpy(local, h->a.local, sizeof(local));
		local[3] ^= 64;
		if (find_address(local, h->a.ifindex)) /* EEXIST */
			return;
		h->a.local[3] = h->a.peer[3] = local[3];
		h->a.metric = h->by_others = 0;
		h->gid_usec = sim.now_usec + sim_random(USEC_PER_SEC);
	}
	others_tell();
}

uint64_t routes_next(void)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < net.n_addresses; i++)
		if (net.addresses[i].from_usec > sim.now_usec)
			next = MIN(next, net.addresses[i].from_usec);
	return next;
}

void routes_boot(void)
{
	const struct rule rule = { .family = AF_INET,
				   .preference = 32766,
				   .table = RT_TABLE_MAIN,
				   .protocol = RTPROT_KERNEL,
				   .action = FR_ACT_TO_TBL };

	free(net.addresses);
	free(net.routes);
	free(net.rules);
	memset(&net, 0, sizeof(net));
	net.has_addresses = sim_random(3) == 0;
	net.is_one_network = sim_random(2) == 0;
	for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
		net.defaults.values[keys[i]] = (int32_t)sim_random(2);
		net.defaults.known = net.all.known |= 1u << keys[i];
	}
	net.all.values[NETCONF_RP_FILTER] = sim_random(8) == 0 ? 3 : 0;
	add_rule(&rule);
}

/* --- what must be --- */

/* What has an address with a rule of ours leaves by its netdev, unless a foreign rule is before. */
void routes_check(void)
{
	settle();
	for (size_t i = 0; i < net.n_rules && net.rules[i].preference <= OWN_PREFERENCE_FROM; i++) {
		const struct rule *rule = &net.rules[i];
		struct lookup l = { .ifindex = nic_netdev_of_rule(rule), .family = AF_INET };

		if (rule->protocol != OWN_PROTOCOL)
			return;
		memcpy(l.address, rule->src, sizeof(l.address));
		memcpy(l.dst, rule->src, sizeof(l.dst));
		l.dst[3] ^= 32;
		routes_look_up(&l);
		/* Nothing of a NIC is changed while the metadata service has not told of it. */
		if (sim.config->route.address == ADDRESS_METADATA && !find_address(rule->src, 0))
			continue;
		if (!find_address(rule->src, l.ifindex) || l.result < 0 || l.found != l.ifindex)
			sim_fail("netdev %" PRIu32 " has a rule, and its packets leave by %" PRIu32,
				 l.ifindex, l.found);
	}
}

void routes_check_reverted(void)
{
	unsigned n = 0;

	settle();
	for (size_t i = 0; i < net.n_rules; i++)
		n += net.rules[i].protocol == OWN_PROTOCOL;
	for (size_t i = 0; i < net.n_routes; i++)
		n += net.routes[i].protocol == OWN_PROTOCOL;
	for (size_t i = 0; i < net.n_addresses; i++) {
		const struct held *h = &net.addresses[i];

		n += h->is_ours || (h->a.metric > 0 && h->a.metric != h->by_others);
	}
	for (size_t i = 0; i < sim.n_funcs * ELEMENTSOF(keys); i++) {
		const size_t f = i / ELEMENTSOF(keys);
		const enum netconf_key key = keys[i % ELEMENTSOF(keys)];
		const int32_t now = net.confs[f].values[key];

		n += kernel_of_ifindex(net.seen[f]) && now != net.defaults.values[key] &&
		     !(net.by_others[f][key] >> now & 1);
	}
	if (n > 0)
		sim_fail("%u addresses, routes, rules or settings outlive revert", n);
}
