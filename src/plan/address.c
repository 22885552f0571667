/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address: NICs get the address that was configured, or that the cloud told, and lose one of ours
 * that is another by now. Addresses that another program set are never touched.
 */
#include "nic-netdev.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

static bool has_address(const struct node *n, const struct nic_netdev *k)
{
	for (size_t i = 0; i < n->n_addresses; i++) {
		const struct address *a = &n->addresses[i];

		/* With another length it is another program's, and there all the same. */
		if (a->ifindex == k->netdev->ifindex && a->family == k->address.family &&
		    memcmp(a->local, k->address.bytes, sizeof(a->local)) == 0)
			return true;
	}
	return false;
}

static int want_address(const struct config *c, const struct node *n, struct plan *p,
			const struct nic_netdev *k)
{
	struct address want = { .ifindex = k->netdev->ifindex,
				.family = k->address.family,
				.prefix_len = k->address.prefix_len,
				.scope = RT_SCOPE_UNIVERSE };
	struct action *a;
	char text[48];

	if (k->address.family == 0 || has_address(n, k))
		return 0;

	memcpy(want.local, k->address.bytes, sizeof(want.local));
	memcpy(want.peer, k->address.bytes, sizeof(want.peer));
	want.metric = nic_netdev_metric(c, n, p, k, &want);
	ip_format(want.family, want.local, want.prefix_len, text, sizeof(text));
	a = nic_netdev_add_action(p, k, VERB_ADD_ADDRESS, want.ifindex, text);
	if (!a)
		return -ENOMEM;
	a->address = want;
	return 0;
}

/* One that we added before, and that is another now. The new one is there before the old one goes.
 */
static int drop_address(const struct memory *memory, struct plan *p, const struct nic_netdev *k,
			const struct address *have)
{
	struct action *a;
	char text[48];

	if (have->family == k->address.family &&
	    memcmp(have->local, k->address.bytes, sizeof(have->local)) == 0)
		return 0;
	ip_format(have->family, have->local, have->prefix_len, text, sizeof(text));
	if (!memory_entry(memory, verb_name(VERB_ADD_ADDRESS), "", have->ifindex, text))
		return 0;

	a = nic_netdev_add_action(p, k, VERB_REMOVE_ADDRESS, have->ifindex, text);
	if (!a)
		return -ENOMEM;
	a->address = *have;
	return 0;
}

static int tell_problem(struct plan *p, const struct nic_netdev *k)
{
	if (nic_netdev_is_hands_off(k)) /* plan_metadata() has told why */
		return 0;
	return plan_add_item(p, STEP_ROUTE, VERB_WAIT, CLASS_REFUSED, k->device->pci->address,
			     k->problem, "%s%s%s", k->netdev->name, k->detail[0] ? ": " : "",
			     k->detail);
}

int plan_addresses(const struct config *c, const struct node *n, const struct memory *memory,
		   struct plan *p)
{
	int r = 0;

	for (size_t i = 0; i < p->n_nic_netdevs && c->route.manage && r >= 0; i++)
		r = p->nic_netdevs[i].problem ? tell_problem(p, &p->nic_netdevs[i])
					      : want_address(c, n, p, &p->nic_netdevs[i]);

	for (size_t i = 0; i < n->n_addresses && c->route.manage && r >= 0; i++) {
		const struct nic_netdev *k = nic_netdev_of(p, n->addresses[i].ifindex);

		/* What is not known is no reason to take something away. */
		if (k && k->problem == REASON_NONE)
			r = drop_address(memory, p, k, &n->addresses[i]);
	}
	return r;
}
