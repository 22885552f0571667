/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gid: the GID that an IPv4 address becomes, ::ffff:a.b.c.d of type RoCE v2.
 *
 * The kernel adds it a moment after the address, and tells nobody: update_gid_event_work_handler()
 * in drivers/infiniband/core/roce_gid_mgmt.c.
 */
#include "../model/gid.h"
#include "nic-netdev.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

static int wait_for_gid(struct plan *p, const struct device *d, const struct port *port,
			const struct address *a)
{
	char text[48];

	ip_format(a->family, a->local, a->prefix_len, text, sizeof(text));
	return plan_add_item(p, STEP_ROUTE, VERB_WAIT, CLASS_WAITING, d->pci->address,
			     REASON_GID_PENDING, "%s port %" PRIu32 ", %s", d->ibdev->name,
			     port->number, text);
}

static int plan_port(const struct node *n, struct plan *p, const struct device *d,
		     const struct netdev *nd, const struct port *port)
{
	for (size_t i = node_first_address(n, nd->ifindex);
	     i < n->n_addresses && n->addresses[i].ifindex == nd->ifindex; i++) {
		const struct address *a = &n->addresses[i];

		if (a->family == AF_INET && a->scope == RT_SCOPE_UNIVERSE &&
		    !gid_is_there(port, nd->name, a))
			return wait_for_gid(p, d, port, a);
	}
	return 0;
}

/* One that has no GID at all is not usable: that reason is enough. */
int plan_gids(const struct config *c _unused_, const struct node *n,
	      const struct memory *memory _unused_, struct plan *p)
{
	for (size_t i = 0; i < p->n_devices; i++) {
		const struct device *d = &p->devices[i];
		const struct netdev *nd = node_netdev_named(n, d->netdev_name);

		if (!d->is_handed_out || !d->is_usable || d->is_in_pod || !d->ibdev || !nd ||
		    streq(d->ibdev->node_type, "RNIC"))
			continue;
		for (size_t k = 0; k < d->ibdev->n_ports; k++) {
			const struct port *port = &d->ibdev->ports[k];

			if (streq(port->state, "ACTIVE") && streq(port->link_layer, "Ethernet") &&
			    plan_port(n, p, d, nd, port) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}
