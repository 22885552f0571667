/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Link: PFs are up before their VFs are made, or before these get their drivers; VFs once they are
 * there; MTUs. No address and no route, and none from a router that the node would leave by.
 */
#include "../guard/guard-rules.h"
#include "../step/quirk-rules.h"
#include "nic-netdev-rules.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#define IPV6_MIN_MTU 1280 /* include/uapi/linux/ipv6.h */

/* Does the kernel take routes of this kind from router advertisements for it? Not known: no. */
static bool takes_routes(const struct netconf *c, enum netconf_key key)
{
	const uint32_t needed = 1u << NETCONF_ACCEPT_RA | 1u << key;

	return (c->known & needed) == needed && c->values[NETCONF_ACCEPT_RA] > 0 &&
	       c->values[key] > 0;
}

/*
 * A netdev that we bring up has no manager. Once it is up the kernel asks for routers, and each of
 * them becomes a default route of main with metric 1024, rt6_add_dflt_router() in net/ipv6/route.c,
 * and its prefixes for the link routes with metric 256, addrconf_prefix_rcv() in
 * net/ipv6/addrconf.c. With IPv6=ra that is wanted, the default route by a metric of its own.
 * @unmanaged: the memory, for a device that no section matches any more: it takes none only if this
 * service saw to that before. Else NULL.
 */
static void want_no_routes(const struct memory *unmanaged, struct plan *p, const struct device *d,
			   const struct netdev *nd, enum netconf_key key)
{
	const char *name = netconf_name(key);
	const struct nic_netdev *k = nic_netdev_of(p, nd->ifindex);
	struct action *a;

	if ((k && k->is_ra) || !takes_routes(&nd->conf, key) ||
	    (unmanaged && !memory_entry(unmanaged, "set-sysctl", "", nd->ifindex, name)))
		return;

	a = plan_add(p, VERB_SET_SYSCTL, d->pci->address);
	a->step = STEP_LINK; /* right before the link goes up */
	a->ifindex = nd->ifindex;
	a->subject = name;
	action_set_numbers(a, nd->conf.values[key], 0);
	a->detail = action_text(&p->texts, nd->name);
}

static void want_less_of_routers(const struct memory *unmanaged, struct plan *p,
				 const struct device *d, const struct netdev *nd)
{
	want_no_routes(unmanaged, p, d, nd, NETCONF_ACCEPT_RA_DEFRTR);
	if (nic_netdev_router_diverts(p->graph.n, nd))
		want_no_routes(unmanaged, p, d, nd, NETCONF_ACCEPT_RA_PINFO);
}

/* VLANs above it go up with it: vlan_device_event() in net/8021q/vlan.c. */
static void want_all_less_of_routers(const struct node *n, const struct memory *unmanaged,
				     struct plan *p, const struct device *d,
				     const struct netdev *nd)
{
	const struct netdev *upper;

	want_less_of_routers(unmanaged, p, d, nd);
	for (size_t i = 0; (upper = graph_above(&p->graph, nd, &i));)
		if (upper->netns == 0 && !upper->is_up && nic_netdev_is_vlan_on(n, upper, nd))
			want_less_of_routers(unmanaged, p, d, upper);
}

/* Is the address on the netdev, or on a VLAN that goes up with it? */
static bool is_on(const struct node *n, const struct address *a, const struct netdev *nd)
{
	const struct netdev *on = node_netdev(n, a->ifindex);

	return on == nd || nic_netdev_is_vlan_on(n, on, nd);
}

static void want_up(const struct node *n, const struct memory *unmanaged, struct plan *p,
		    const struct device *d, const struct netdev *nd)
{
	struct action *a;
	char detail[256];

	/* A port that is up can be enslaved by no plain "ip link set master": bond_enslave(). */
	if (nd->is_up || (node_keeps_down(n, nd) && !p->is_wait_over))
		return;
	if (ANY(x, n->addresses, n->n_addresses,
		!nd->master && is_on(n, x, nd) && nic_netdev_diverts(n, x, detail, sizeof(detail))))
		return plan_add_wait(p, STEP_LINK, CLASS_IMPOSSIBLE, d->pci->address,
				     REASON_ADDRESS_DIVERTS, "%s", detail);
	want_all_less_of_routers(n, unmanaged, p, d, nd);

	a = plan_add(p, VERB_SET_LINK_UP, d->pci->address);
	a->ifindex = nd->ifindex;
	a->detail = action_text(&p->texts, nd->name);
}

static void want_all_up(const struct node *n, struct plan *p, const struct device *d)
{
	const struct netdev *nd;

	for (size_t i = 0; (nd = nic_netdev_next_port(p, d, &i));)
		if (!node_is_port(n, nd))
			want_up(n, NULL, p, d, nd);
}

/* Is a lower MTU refused, because users of VFs count on the present one? */
static bool is_kept_by_vfs(const struct node *n, const struct device *d, const struct netdev *nd,
			   uint32_t want)
{
	const struct netdev *pf = d->is_vf ? node_netdev_of(n, d->pci->physfn) : NULL;

	if (want >= nd->mtu)
		return false;
	/* New VFs may have a larger MTU than a PF that was lowered: theirs may be lowered. */
	return d->is_vf ? pf && pf->mtu > want : d->pci->num_vfs > 0;
}

/*
 * No VF of Ethernet gets a larger MTU than its PF has and keeps, as the PF sets that of the port:
 * larger frames are lost, or the VF receives none at all, ixgbe_set_vf_lpe() in
 * drivers/net/ethernet/intel/ixgbe/ixgbe_sriov.c.
 */
static uint32_t find_wanted(const struct node *n, const struct plan *p, const struct device *d,
			    const struct netdev *nd)
{
	const struct netdev *pf =
		d->is_vf && !device_is_infiniband(d) ? node_netdev_of(n, d->pci->physfn) : NULL;
	const struct action *a = NULL;

	if (!pf || pf->mtu >= d->config->mtu)
		return d->config->mtu;
	while ((a = plan_next(p, d->pci->physfn, a)))
		if (a->verb == VERB_SET_MTU && a->ifindex == pf->ifindex && action_is_open(a))
			return d->config->mtu;
	return MIN(d->config->mtu, MAX(nd->mtu, pf->mtu));
}

/*
 * The next netdev above that the kernel lowers with @nd: vlan_device_event() in net/8021q/vlan.c,
 * macvlan_device_event(), ipvlan_device_event() and macsec_notify() in drivers/net.
 */
static const struct netdev *next_lowered(const struct plan *p, const struct netdev *nd,
					 uint32_t mtu, size_t *i)
{
	static const char *const kinds[] = { "vlan",   "macvlan", "macvtap",
					     "ipvlan", "ipvtap",  "macsec" };
	const struct netdev *upper;

	while ((upper = graph_above(&p->graph, nd, i)))
		if (upper->mtu > mtu &&
		    ANY(kind, kinds, ELEMENTSOF(kinds), streq(*kind, upper->kind)))
			break;
	return upper;
}

static const struct netdev *find_lowered_port(const struct node *n, const struct plan *p,
					      const struct netdev *nd, uint32_t mtu)
{
	const struct netdev *upper;

	for (size_t i = 0; (upper = next_lowered(p, nd, mtu, &i));)
		if (upper->netns == 0 ? node_is_port(n, upper) : upper->master > 0)
			break;
	return upper;
}

/* Has it an address or a route of IPv6, or a route by a gateway of IPv6, beside the kernel's own?
 */
static bool has_ipv6(const struct node *n, const struct netdev *nd)
{
	return ANY(a, n->addresses, n->n_addresses,
		   a->ifindex == nd->ifindex && a->family == AF_INET6 &&
			   a->scope != RT_SCOPE_LINK) ||
	       ANY(t, n->routes, n->n_routes,
		   t->ifindex == nd->ifindex &&
			   (*t->via || (t->family == AF_INET6 && t->protocol != RTPROT_KERNEL)));
}

/*
 * The netdev that would lose what it has of IPv6 with this MTU: addrconf_notify() in
 * net/ipv6/addrconf.c. NULL: none would. One in another namespace may have something.
 */
static const struct netdev *find_losing_ipv6(const struct node *n, const struct plan *p,
					     const struct netdev *nd, uint32_t mtu)
{
	const struct netdev *it = mtu < IPV6_MIN_MTU && mtu < nd->mtu ? nd : NULL;

	for (size_t i = 0; it && it->netns == 0 && !has_ipv6(n, it);)
		it = next_lowered(p, nd, mtu, &i);
	return it;
}

static const char *name_lowered(struct plan *p, const struct netdev *nd, uint32_t mtu)
{
	const struct netdev *upper;
	char text[128];

	COPY(text, nd->name);
	for (size_t i = 0; (upper = next_lowered(p, nd, mtu, &i));)
		if (!ANY(k, p->nic_netdevs, p->n_nic_netdevs, k->netdev == upper))
			append_word(text, sizeof(text), " and ", "%s", upper->name);
	return action_text(&p->texts, text);
}

/* The bond sets the MTU of all its ports: bond_change_mtu() in drivers/net/bonding/bond_main.c. */
static void hint_mtu(const struct node *n, struct plan *p, const struct device *d,
		     const struct netdev *nd)
{
	const struct netdev *master = nd->netns == 0 ? node_netdev(n, nd->master) : NULL;

	if (d->config->mtu == 0 || d->config->mtu == nd->mtu || nd->mtu == 0)
		return;
	return plan_add_hint(p, REASON_MTU_OF_BOND, d->pci->address,
			     "%s has %" PRIu32 ", as a port of %s", nd->name, nd->mtu,
			     master ? master->name : "another device");
}

static void want_mtu(const struct node *n, struct plan *p, const struct device *d,
		     const struct netdev *nd)
{
	const uint32_t want = find_wanted(n, p, d, nd);
	const struct netdev *port, *losing = NULL;
	struct action *a;

	if (want == 0 || want == nd->mtu || (d->is_vf && d->unsupported & VF_SETTING_MTU))
		return;
	if (n->is_copy && nd->mtu == 0)
		return plan_add_wait(p, STEP_LINK, CLASS_WAITING, d->pci->address,
				     REASON_NOT_RECORDED, "the MTU of %s", nd->name);

	if (nd->max_mtu && want > nd->max_mtu)
		a = plan_add_reason(p, VERB_SET_MTU, CLASS_IMPOSSIBLE, d->pci->address,
				    REASON_MTU_TOO_LARGE);
	else if (is_kept_by_vfs(n, d, nd, want))
		a = plan_add_reason(p, VERB_SET_MTU, CLASS_REFUSED, d->pci->address,
				    REASON_MTU_UNDER_VFS);
	else if ((losing = find_losing_ipv6(n, p, nd, want)))
		a = plan_add_reason(p, VERB_SET_MTU, CLASS_REFUSED, d->pci->address,
				    REASON_MTU_UNDER_IPV6);
	else if ((port = find_lowered_port(n, p, nd, want)))
		return hint_mtu(n, p, d, port);
	else
		a = plan_add(p, VERB_SET_MTU, d->pci->address);

	a->ifindex = nd->ifindex;
	action_set_numbers(a, nd->mtu, want);
	if (a->reason == REASON_MTU_TOO_LARGE)
		a->detail = plan_text(p, "%s takes at most %" PRIu32, nd->name, nd->max_mtu);
	else
		a->detail = a->reason ? action_text(&p->texts, (losing ?: nd)->name)
				      : name_lowered(p, nd, want);
}

/*
 * A VLAN that has the rail's addresses; before it a VLAN that it is on, for none takes a larger MTU
 * than what it is on: vlan_dev_change_mtu() in net/8021q/vlan_dev.c.
 */
static void want_mtu_of_vlan(const struct node *n, struct plan *p, const struct device *d,
			     const struct netdev *vlan)
{
	const struct netdev *lower = node_netdev(n, vlan->link);

	if (streq(lower->kind, "vlan") && lower->mtu < d->config->mtu)
		want_mtu_of_vlan(n, p, d, lower);
	if (!ANY(a, p->actions, p->n_actions,
		 a->verb == VERB_SET_MTU && a->ifindex == vlan->ifindex))
		want_mtu(n, p, d, vlan);
}

/* The netdev, then VLANs above that have the rail's addresses. */
static void want_mtus(const struct config *c, const struct node *n, struct plan *p,
		      const struct device *d, const struct netdev *nd)
{
	const struct netdev *vlan;

	want_mtu(n, p, d, nd);
	for (size_t i = 0; (vlan = nic_netdev_next_vlan(c, p, d, nd, &i));)
		if (!is_kept_by_vfs(n, d, nd, d->config->mtu))
			want_mtu_of_vlan(n, p, d, vlan);
}

/* Does this plan remove the VF or rebind its driver, so that its netdev will be another one? */
static bool is_going(const struct plan *p, const struct device *d)
{
	const struct action *a = NULL;

	if (plan_is_making_vfs(p, d->pci->physfn))
		return true;
	while ((a = plan_next(p, d->pci->address, a)))
		if (a->verb == VERB_REBIND_DRIVER)
			return true;
	return false;
}

static bool is_up_after_vfs(const struct node *n, const struct device *d)
{
	return quirk_has(d->pci, QUIRK_UP_AFTER_VFS) && plan_makes_unbound_vfs(n, d);
}

/* Has this function a netdev that is ours to bring up or to change? */
static bool is_ours(const struct plan *p, const struct device *d)
{
	if (!d->netdev || d->is_in_pod || d->is_restore_due || d->gives_nothing)
		return false;
	/* VFs that are not ours to hand out are not ours to bring up. */
	if (d->is_vf && (!d->is_handed_out || is_going(p, d)))
		return false;
	return !plan_carries_node(d) || d->is_named;
}

static void plan_link(const struct config *c, const struct node *n, struct plan *p,
		      const struct device *d)
{
	const struct netdev *nd;

	/* Also of a PF whose VF is needed: igb_change_mtu() resets the port. */
	for (size_t i = 0; (nd = nic_netdev_next_port(p, d, &i));)
		if (node_is_port(n, nd))
			hint_mtu(n, p, d, nd);
		else if (guard_may(d, GUARD_MTU))
			want_mtus(c, n, p, d, nd);
	/* VFs of the sriov plugin are brought up by a CNI, in a pod. */
	if (plan_carries_node(d) || (d->is_vf && plugin_gives_vfs(c->plugin.type)) ||
	    (!d->is_vf && is_up_after_vfs(n, d)))
		return;
	want_all_up(n, p, d);
}

/* A VF is not brought up while a write to its PF hangs: before that it gets its MAC from the PF. */
static void plan_links(const struct config *c, const struct node *n, const struct memory *memory,
		       struct plan *p, bool of_vfs)
{
	FOREACH(d, p->devices, p->n_devices)
		if (d->is_vf == of_vfs && is_ours(p, d) &&
		    !(of_vfs && streq(memory->stuck, d->pci->physfn)))
			plan_link(c, n, p, d);
}

/* A PF is up before its VFs are made: some drivers give VFs no link otherwise. */
void plan_link_pf(const struct config *c, const struct node *n, const struct memory *memory,
		  struct plan *p)
{
	plan_links(c, n, memory, p, false);
	/* It was up when it was handed out, and no address or route comes back to one that is down.
	 */
	FOREACH(d, p->unmanaged, p->n_unmanaged)
		if (!d->is_vf && is_ours(p, d) && !node_is_port(n, d->netdev))
			want_up(n, memory, p, d, d->netdev);
}

void plan_link_late_pf(const struct config *c _unused_, const struct node *n,
		       const struct memory *memory _unused_, struct plan *p)
{
	FOREACH(d, p->devices, p->n_devices) {
		if (!d->is_vf && is_ours(p, d) && !plan_carries_node(d) &&
		    !node_is_port(n, d->netdev) && is_up_after_vfs(n, d))
			want_all_up(n, p, d);
	}
}

void plan_link_vf(const struct config *c, const struct node *n, const struct memory *memory,
		  struct plan *p)
{
	return plan_links(c, n, memory, p, true);
}
