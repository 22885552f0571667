/* SPDX-License-Identifier: Apache-2.0 */
#include "pnet.h"

#include <ctype.h>

#define PORT 1 /* a RoCE device with several ports is several functions by now */

/* "52:54:00:1a:0b:0c" to "5254001A0B0C"; false for what is no MAC of Ethernet. */
static bool format_id(const char *mac, char ret[static PNETID_LEN])
{
	size_t n = 0;

	if (strlen(mac) != strlen("00:00:00:00:00:00") || streq(mac, "00:00:00:00:00:00"))
		return false;
	for (size_t i = 0; mac[i]; i++) {
		if (i % 3 == 2 ? mac[i] != ':' : !isxdigit((unsigned char)mac[i]))
			return false;
		if (i % 3 != 2)
			ret[n++] = (char)toupper((unsigned char)mac[i]);
	}
	ret[n] = '\0';
	return true;
}

bool pnet_wish(const struct memory *memory, const char *pci, const struct netdev *netdev,
	       const struct ibdev *ibdev, struct pnet_wish *ret)
{
	const struct device_memory *m = memory_device(memory, pci);
	struct pnet_wish w = {};

	if (!netdev || !ibdev || ibdev->n_ports == 0 ||
	    !streq(ibdev->ports[0].link_layer, "Ethernet") || !format_id(netdev->mac, w.id))
		return false;

	COPY(w.netdev, netdev->name);
	COPY(w.ibdev, ibdev->name);
	COPY(w.old_netdev, m ? m->netdev : "");
	COPY(w.old_ibdev, m ? m->ibdev : "");
	*ret = w;
	return true;
}

enum pnet_worth pnet_judge(const struct node *n, const struct pnet_wish *w, const struct pnet *e)
{
	const bool is_ours = streq(e->id, w->id);

	if (e->netdev[0] && streq(e->netdev, w->netdev))
		return is_ours ? PNET_RIGHT : PNET_WRONG;
	if (e->ibdev[0] && streq(e->ibdev, w->ibdev))
		return is_ours && e->port == PORT ? PNET_RIGHT : PNET_WRONG;
	if (!is_ours)
		return PNET_FOREIGN;

	/* The administrator may have given our PNETID to another netdev, for SMC over that. */
	if (e->netdev[0])
		return streq(e->netdev, w->old_netdev) || !node_netdev_named(n, e->netdev)
			       ? PNET_WRONG
			       : PNET_FOREIGN;
	return streq(e->ibdev, w->old_ibdev) || !node_ibdev_named(n, e->ibdev) ? PNET_WRONG
									       : PNET_FOREIGN;
}

bool pnet_is_there(const struct node *n, const struct pnet_wish *w, const struct pnet *table,
		   size_t n_table, bool of_ibdev)
{
	return ANY(t, table, n_table,
		   (t->ibdev[0] != '\0') == of_ibdev && pnet_judge(n, w, t) == PNET_RIGHT);
}
