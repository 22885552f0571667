/* SPDX-License-Identifier: Apache-2.0 */
#include "identity-rules.h"

#include "../model/vf-facts.h"

#define MAX_TRIES 1000000 /* a node has fewer addresses than that */

bool identity_seed(const struct node *n, const struct pci *pf, char ret[static MAC_LEN])
{
	const struct netdev *nd = node_netdev_of(n, pf->address);
	const struct ibdev *ib = node_ibdev_of(n, pf->address);

	node_card(n, pf, ret);
	if (ret[0])
		return true;
	if (ib && ib->node_guid[0] && !guid_is_unset(ib->node_guid)) {
		copy(ret, MAC_LEN, ib->node_guid);
		return true;
	}
	ipoib_guid(nd ? nd->mac : "", ret);
	if (!ret[0])
		copy(ret, MAC_LEN, nd ? nd->mac : "");
	return false;
}

/* The last step spreads the difference of one bit over all, which FNV does not (MurmurHash3). */
static uint64_t hash(const char *kind, const char *seed, uint32_t index, uint32_t try)
{
	char text[160];
	uint64_t h;

	PRINT(text, "%s %s %" PRIu32 " %" PRIu32, kind, seed, index, try);
	h = hash_text(text);
	h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
	h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return h ^ h >> 33;
}

/* Does this plan give the MAC or GUID @text to another VF than @vf? */
static bool is_given(const struct plan *p, const struct pci *vf, const char *text)
{
	size_t i = SIZE_MAX;

	while ((i = text_index_next(&p->by_identity, p->n_identities, text, i)) != SIZE_MAX)
		if (streq(p->identities[i].text, text) && !streq(p->identities[i].pci, vf->address))
			return true;
	return false;
}

/* Does another function than @vf have the MAC or GUID @text, by the index @which? */
static bool is_at_other(const struct node *n, enum node_index_of which, const struct pci *vf,
			const char *text)
{
	size_t at = SIZE_MAX, i;

	while ((i = node_next(n, which, text, &at)) != SIZE_MAX) {
		const struct vf_info *v = &n->vf_infos[i];
		const bool is_own =
			which == NODE_INDEX_NETDEV_MAC || which == NODE_INDEX_NETDEV_PERM_MAC
				? streq(n->netdevs[i].pci, vf->address)
			: which == NODE_INDEX_IBDEV_GUID
				? streq(n->ibdevs[i].pci, vf->address)
				: v->index == vf->vf_index && streq(v->pf, vf->physfn);

		if (!is_own)
			return true;
	}
	return false;
}

static bool is_taken(const struct node *n, const struct plan *p, const struct pci *vf,
		     const char *text)
{
	for (enum node_index_of which = NODE_INDEX_NETDEV_MAC; which <= NODE_INDEX_VF_PORT_GUID;
	     which++)
		if (is_at_other(n, which, vf, text))
			return true;
	return is_given(p, vf, text);
}

void identity_give(struct plan *p, const struct pci *vf, const char *text)
{
	struct given_identity i = {};

	COPY(i.pci, vf->address);
	COPY(i.text, text);
	PLAN_ADD(p, identities, i);
	/* Without memory for the index a search compares each identity. */
	text_index_add(&p->by_identity, i.text);
}

void identity_mac(const struct node *n, const struct plan *p, const char *seed,
		  const struct pci *vf, char *ret, size_t size)
{
	for (uint32_t try = 0; try < MAX_TRIES; try++) {
		uint64_t h = hash("mac", seed, vf->vf_index, try);

		snprintf(ret, size, "%02x:%02x:%02x:%02x:%02x:%02x",
			 (unsigned)(h >> 40 & 0xfc) | 0x02, (unsigned)(h >> 32 & 0xff),
			 (unsigned)(h >> 24 & 0xff), (unsigned)(h >> 16 & 0xff),
			 (unsigned)(h >> 8 & 0xff), (unsigned)(h & 0xff));
		if (!is_taken(n, p, vf, ret))
			return;
	}
}

static void make_guid(const struct node *n, const struct plan *p, const char *kind,
		      const char *seed, const struct pci *vf, char ret[static GUID_LEN])
{
	for (uint32_t try = 0; try < MAX_TRIES; try++) {
		uint64_t h = hash(kind, seed, vf->vf_index, try);

		snprintf(ret, GUID_LEN, "%04x:%04x:%04x:%04x",
			 (unsigned)(h >> 48 & 0xfcff) | 0x0200, (unsigned)(h >> 32 & 0xffff),
			 (unsigned)(h >> 16 & 0xffff), (unsigned)(h & 0xffff));
		if (!is_taken(n, p, vf, ret))
			return;
	}
}

void identity_guids(const struct node *n, const struct plan *p, const char *seed,
		    const struct pci *vf, const struct vf_info *v, char ret_node[static GUID_LEN],
		    char ret_port[static GUID_LEN])
{
	copy(ret_node, GUID_LEN, v->node_guid);
	copy(ret_port, GUID_LEN, v->port_guid);
	if (guid_is_unset(ret_node))
		make_guid(n, p, "node-guid", seed, vf, ret_node);
	if (guid_is_unset(ret_port))
		make_guid(n, p, "port-guid", seed, vf, ret_port);
}

bool identity_is_unset_mac(const struct node *n, const struct pci *vf, const struct vf_info *v)
{
	const struct netdev *nd = node_netdev_of(n, vf->address);
	const struct ibdev *ib = node_ibdev_of(n, vf->address);

	if (!guid_is_unset(v->mac))
		return nd && nd->is_random_mac && streq(nd->mac, v->mac);
	if (!vf->driver[0] || !nd || nd->is_random_mac)
		return true;
	return ib && guid_is_unset(ib->node_guid);
}

static bool has_other_mac(const struct node *n, const struct plan *p, const struct pci *vf,
			  const struct netdev *nd, const struct vf_info *v, char *detail,
			  size_t size)
{
	const bool has_perm = nd->perm_mac[0] && !guid_is_unset(nd->perm_mac);
	const char *is = has_perm ? nd->perm_mac : nd->mac;
	char seed[MAC_LEN], given[24];

	/* The MAC is empty when the netdev was renamed while it was read. */
	if (!*is || guid_is_unset(v->mac) || streq(is, v->mac) || streq(nd->mac, v->mac) ||
	    (!has_perm && nd->master))
		return false;
	identity_seed(n, node_pci(n, vf->physfn), seed);
	identity_mac(n, p, seed, vf, given, sizeof(given));
	snprintf(detail, size, "%s came up with the MAC %s, given was %s", nd->name, is, v->mac);
	return streq(v->mac, given);
}

static bool has_other_guid(const struct node *n, const struct plan *p, const struct pci *vf,
			   const struct ibdev *ib, const struct vf_info *v, char *detail,
			   size_t size)
{
	static const struct vf_info none = { .node_guid = "0000:0000:0000:0000",
					     .port_guid = "0000:0000:0000:0000" };
	char seed[MAC_LEN], node[GUID_LEN], port[GUID_LEN];

	if (!v->node_guid[0] || guid_is_unset(v->node_guid) || !ib->node_guid[0] ||
	    streq(ib->node_guid, v->node_guid))
		return false;
	identity_seed(n, node_pci(n, vf->physfn), seed);
	identity_guids(n, p, seed, vf, &none, node, port);
	snprintf(detail, size, "%s came up with the node GUID %s, given was %s", ib->name,
		 ib->node_guid, v->node_guid);
	return streq(node, v->node_guid);
}

bool identity_is_other(const struct node *n, const struct plan *p, const struct pci *vf,
		       const struct netdev *nd, const struct ibdev *ib, char *detail, size_t size)
{
	const struct pci *pf = node_pci(n, vf->physfn);
	const struct vf_info *v = node_vf_info(n, vf->physfn, vf->vf_index);

	if (!pf || !v)
		return false;
	if (node_is_infiniband(n, pf))
		return ib && has_other_guid(n, p, vf, ib, v, detail, size);
	return nd && has_other_mac(n, p, vf, nd, v, detail, size);
}

bool identity_is_unset_guid(const struct node *n, const struct pci *vf, const struct vf_info *v)
{
	const struct ibdev *ib = node_ibdev_of(n, vf->address);

	if (vf->driver[0] && ib && !guid_is_unset(ib->node_guid))
		return false;
	return v->node_guid[0] && v->port_guid[0] &&
	       (guid_is_unset(v->node_guid) || guid_is_unset(v->port_guid));
}

bool identity_lacks_ipoib(const struct node *n, const struct device *pf)
{
	return pf->has_vf_mode && pf->config->identity == IDENTITY_DERIVED && pf->pci->driver[0] &&
	       node_is_infiniband(n, pf->pci) && !pf->netdev &&
	       !(pf->unsupported & VF_SETTING_GUID);
}
