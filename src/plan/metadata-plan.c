/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata: which NICs the cloud is asked about, and when. What the answer becomes is
 * plan/address.c.
 */
#include "../model/metadata.h"
#include "nic-netdev.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

/* Of the main table: the primary ENI has it from the network manager. */
static bool has_default_route(const struct node *n)
{
	for (size_t i = 0; i < n->n_routes; i++)
		if (n->routes[i].table == RT_TABLE_MAIN && n->routes[i].family == AF_INET &&
		    n->routes[i].prefix_len == 0 && n->routes[i].type == RTN_UNICAST &&
		    n->routes[i].ifindex != 0)
			return true;
	return false;
}

static int wait_for(struct plan *p, const struct nic_netdev *k, const char *words)
{
	struct action *a = plan_add_reason(p, STEP_ROUTE, VERB_ASK_METADATA, CLASS_WAITING,
					   k->device->pci->address, REASON_METADATA_WAITING);

	if (!a)
		return -ENOMEM;
	COPY(a->text.to, k->netdev->mac);
	snprintf(a->detail, sizeof(a->detail), "%s: %s", k->netdev->name, words);
	return 0;
}

static int want_answer(const struct node *n, struct plan *p, const struct nic_netdev *k)
{
	const struct metadata *m = node_metadata(n, k->netdev->mac);
	struct action *a;

	if (m && m->state == METADATA_KNOWN)
		return 0;
	if (!has_default_route(n))
		return wait_for(p, k,
				"no NIC has a default route yet, so which is the primary one "
				"cannot be told");
	if (!k->netdev->is_up || !k->netdev->has_carrier)
		return wait_for(p, k, "it has no link");
	/* A pod may have given it back with another one. */
	if (!k->netdev->master && k->netdev->perm_mac[0] &&
	    !streq(k->netdev->perm_mac, k->netdev->mac))
		return wait_for(p, k, "it does not have the MAC that it was made with");
	if (!metadata_is_mac(k->netdev->mac))
		return wait_for(p, k, "it has no MAC that can be asked about");

	a = plan_add(p, STEP_ROUTE, VERB_ASK_METADATA, CLASS_CHANGE, k->device->pci->address);
	if (!a)
		return -ENOMEM;
	COPY(a->text.to, k->netdev->mac);
	COPY(a->detail, k->netdev->name);
	return 0;
}

int plan_metadata(const struct config *c, const struct node *n,
		  const struct memory *memory _unused_, struct plan *p)
{
	int r = 0;

	if (!c->route.manage || c->route.address != ADDRESS_METADATA)
		return 0;

	/* A VF has no ENI of its own: the service knows nothing of it. */
	for (size_t i = 0; i < p->n_nic_netdevs && r >= 0; i++)
		if (!p->nic_netdevs[i].device->is_vf)
			r = want_answer(n, p, &p->nic_netdevs[i]);
	return r;
}
