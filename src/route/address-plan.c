/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address: NICs get the address from the configuration or from the cloud, and lose one that this
 * service added and that is not wanted any more, or that is on another netdev still. Addresses that
 * another program set are never touched. Which NICs the cloud is asked about, and the wait for the
 * GID that an address becomes, are here as well.
 */
#include "../model/ip.h"
#include "../model/metadata.h"
#include "nic-netdev-rules.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

/* Is it the one that the NIC is to have, with whatever length? */
static bool is_wanted(const struct nic_netdev *k, const struct address *a)
{
	return a->family == k->address.family &&
	       memcmp(a->local, k->address.bytes, sizeof(a->local)) == 0;
}

static bool has_address(const struct node *n, const struct plan *p, const struct nic_netdev *k)
{
	/* With another length it is another program's where it stays, and is there all the same. */
	return ANY(a, n->addresses, n->n_addresses,
		   a->ifindex == k->netdev->ifindex && is_wanted(k, a) &&
			   !nic_netdev_is_leaving(p, a));
}

static struct address make_address(const struct config *c, const struct node *n,
				   const struct plan *p, const struct nic_netdev *k)
{
	struct address want = { .ifindex = k->netdev->ifindex,
				.family = k->address.family,
				.prefix_len = k->address.prefix_len,
				.scope = RT_SCOPE_UNIVERSE };

	memcpy(want.local, k->address.bytes, sizeof(want.local));
	memcpy(want.peer, k->address.bytes, sizeof(want.peer));
	want.metric = nic_netdev_metric(c, n, p, k, &want);
	return want;
}

static void want_address(const struct config *c, const struct node *n, struct plan *p,
			 const struct nic_netdev *k)
{
	struct action *a;
	char text[48];

	if (k->address.family == 0 || has_address(n, p, k))
		return;

	ip_format(k->address.family, k->address.bytes, k->address.prefix_len, text, sizeof(text));
	a = nic_netdev_add_action(p, k, VERB_ADD_ADDRESS, k->netdev->ifindex, text);
	a->address = make_address(c, n, p, k);
}

static bool is_ours(const struct memory *memory, const struct address *a)
{
	char text[48];

	ip_format(a->family, a->local, a->prefix_len, text, sizeof(text));
	return memory_entry(memory, verb_name(VERB_ADD_ADDRESS), "", a->ifindex, text);
}

/* An address that would divert packets of the node is not added, and the one before it stays. */
static void refuse_address(const struct config *c, const struct node *n,
			   const struct memory *memory, const struct plan *p, struct nic_netdev *k)
{
	struct address want;

	if (k->problem != REASON_NONE || k->address.family == 0 ||
	    ANY(a, n->addresses, n->n_addresses,
		a->ifindex == k->netdev->ifindex && is_wanted(k, a) &&
			(a->prefix_len == k->address.prefix_len || !is_ours(memory, a))))
		return;
	want = make_address(c, n, p, k);
	if (nic_netdev_diverts(n, &want, k->detail, sizeof(k->detail)))
		k->problem = REASON_ADDRESS_DIVERTS;
}

/* Removes an address of ours that is not wanted there any more, or has another length. */
static void drop_address(const struct memory *memory, struct plan *p, const struct nic_netdev *k,
			 const struct address *have)
{
	struct action *a;
	char text[48];

	if (k->netdev->ifindex == have->ifindex && is_wanted(k, have) &&
	    have->prefix_len == k->address.prefix_len)
		return;
	if (!is_ours(memory, have))
		return;

	ip_format(have->family, have->local, have->prefix_len, text, sizeof(text));
	a = nic_netdev_add_action(p, nic_netdev_of(p, have->ifindex), VERB_REMOVE_ADDRESS,
				  have->ifindex, text);
	a->address = *have;
}

static void tell_problem(struct plan *p, const struct nic_netdev *k)
{
	if (nic_netdev_is_hands_off(k)) /* plan_metadata() has reported why */
		return;
	plan_add_wait(p, STEP_ROUTE, CLASS_IMPOSSIBLE, k->device->pci->address, k->problem,
		      "%s%s%s", k->netdev->name, k->detail[0] ? ": " : "", k->detail);
}

static void drop_addresses(const struct node *n, const struct memory *memory, struct plan *p,
			   bool is_before)
{
	FOREACH(a, n->addresses, n->n_addresses) {
		/* Any other netdev, as the port of a bond, loses what a NIC is to have. */
		const struct nic_netdev *k =
			nic_netdev_of(p, a->ifindex)
				?: FIND(w, p->nic_netdevs, p->n_nic_netdevs, is_wanted(w, a));

		/* While the wanted address of a NIC is unknown, none is removed. */
		if (k && k->problem == REASON_NONE && is_wanted(k, a) == is_before)
			drop_address(memory, p, k, a);
	}
}

/*
 * An address goes after the new one is there, for a netdev without any loses its routes: but not
 * before the same address with another length, which IPv6 refuses beside it, and whose GID would go
 * with the old one. Source: ipv6_add_addr(); addr_event() in
 * drivers/infiniband/core/roce_gid_mgmt.c
 */
void plan_addresses(const struct config *c, const struct node *n, const struct memory *memory,
		    struct plan *p)
{
	if (!c->route.manage)
		return;
	for (size_t i = 0; i < p->n_nic_netdevs; i++)
		refuse_address(c, n, memory, p, &p->nic_netdevs[i]);
	drop_addresses(n, memory, p, true);
	for (size_t i = 0; i < p->n_nic_netdevs; i++)
		if (p->nic_netdevs[i].problem)
			tell_problem(p, &p->nic_netdevs[i]);
		else
			want_address(c, n, p, &p->nic_netdevs[i]);
	drop_addresses(n, memory, p, false);
}

static void wait_for_gid(struct plan *p, const struct device *d, const struct port *port,
			 const struct address *a)
{
	char text[48];

	ip_format(a->family, a->local, a->prefix_len, text, sizeof(text));
	plan_add_wait(p, STEP_ROUTE, CLASS_WAITING, d->pci->address, REASON_GID_PENDING,
		      "%s port %" PRIu32 ", %s", d->ibdev->name, port->number, text);
}

static void plan_port(const struct node *n, struct plan *p, const struct device *d,
		      const struct netdev *nd, const struct port *port)
{
	size_t n_of;
	const struct address *of = node_addresses_of(n, nd->ifindex, &n_of);
	const struct address *a = FIND(k, of, n_of,
				       k->family == AF_INET && k->scope == RT_SCOPE_UNIVERSE &&
					       !gid_is_there(port, nd->name, k));

	if (a)
		wait_for_gid(p, d, port, a);
}

/* Each port of a function with two (mlx4) has a netdev, whose GIDs alone it has. */
static bool is_of_other_port(const struct node *n, const struct netdev *nd, const struct port *port)
{
	FOREACH(g, port->gids, port->n_gids) {
		const struct netdev *other = node_netdev_named(n, g->netdev);

		if (other && other != nd && streq(other->pci, nd->pci))
			return true;
	}
	return false;
}

/*
 * The kernel adds the GID of an IPv4 address, ::ffff:a.b.c.d of type RoCE v2, a moment after the
 * address, and sends no event: update_gid_event_work_handler() in
 * drivers/infiniband/core/roce_gid_mgmt.c. A device that has no GID at all is not usable: that
 * reason is enough.
 */
void plan_gids(const struct config *c _unused_, const struct node *n,
	       const struct memory *memory _unused_, struct plan *p)
{
	FOREACH(d, p->devices, p->n_devices) {
		const struct netdev *nd = node_netdev_named(n, d->netdev_name);

		if (!d->is_handed_out || !d->is_usable || d->is_in_pod || !d->ibdev || !nd ||
		    ibdev_lacks_mad(d->ibdev))
			continue;
		FOREACH(port, d->ibdev->ports, d->ibdev->n_ports)
			if (streq(port->state, "ACTIVE") && streq(port->link_layer, "Ethernet") &&
			    !is_of_other_port(n, nd, port))
				plan_port(n, p, d, nd, port);
	}
}

/* Is there a default route in main? The primary ENI gets it from the network manager. */
static bool has_default_route(const struct node *n)
{
	return ANY(r, n->routes, n->n_routes,
		   r->table == RT_TABLE_MAIN && r->family == AF_INET && r->prefix_len == 0 &&
			   r->type == RTN_UNICAST && r->ifindex != 0);
}

static void wait_for(struct plan *p, const struct nic_netdev *k, const char *words)
{
	struct action *a = plan_add_reason(p, VERB_ASK_METADATA, CLASS_WAITING,
					   k->device->pci->address, REASON_METADATA_WAITING);

	COPY(a->text.to, k->netdev->mac);
	a->detail = plan_text(p, "%s: %s", k->netdev->name, words);
}

static void want_answer(const struct node *n, struct plan *p, const struct nic_netdev *k)
{
	const struct metadata *m = node_metadata(n, k->netdev->mac);
	struct action *a;

	if (m && m->state == METADATA_KNOWN)
		return;
	if (!has_default_route(n))
		return wait_for(p, k,
				"no NIC has a default route yet, so which is the primary one "
				"cannot be told");
	if (!k->netdev->is_up || !k->netdev->has_carrier)
		return wait_for(p, k, "it has no link");
	/* A pod may have given the NIC back with another MAC. */
	if (!k->netdev->master && k->netdev->perm_mac[0] &&
	    !streq(k->netdev->perm_mac, k->netdev->mac))
		return wait_for(p, k, "it does not have the MAC that it was made with");
	if (!metadata_is_mac(k->netdev->mac))
		return wait_for(p, k, "it has no MAC that can be asked about");

	a = plan_add(p, VERB_ASK_METADATA, k->device->pci->address);
	COPY(a->text.to, k->netdev->mac);
	a->detail = action_text(&p->texts, k->netdev->name);
}

void plan_metadata(const struct config *c, const struct node *n,
		   const struct memory *memory _unused_, struct plan *p)
{
	if (!c->route.manage || c->route.address != ADDRESS_METADATA)
		return;

	/* A VF has no ENI of its own: the service knows nothing of it. */
	for (size_t i = 0; i < p->n_nic_netdevs; i++)
		if (!p->nic_netdevs[i].device->is_vf)
			want_answer(n, p, &p->nic_netdevs[i]);
}
