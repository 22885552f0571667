/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coexistence: others who have their hands on managed NICs, told as hints; nothing is done about
 * them.
 */
#include "../model/route-facts.h"
#include "../model/vf-facts.h"
#include "../route/nic-netdev-rules.h"

/* Terway's tables: getRouteTableID() in its plugin/driver/utils */
#define TERWAY_TABLE_BASE 1000

static void hint_terway(const struct node *n, struct plan *p, const struct nic_netdev *k)
{
	const struct rule *rule = FIND(it, n->rules, n->n_rules,
				       it->protocol != OWN_PROTOCOL &&
					       it->table == TERWAY_TABLE_BASE + k->netdev->ifindex);

	if (!rule || !pci_is_erdma(k->device->pci))
		return;
	plan_add_hint(p, REASON_TERWAY_ENI, k->device->pci->address,
		      "a rule with preference %" PRIu32 " leads to table %" PRIu32
		      ", which is Terway's for %s",
		      rule->preference, rule->table, k->netdev->name);
}

static void hint_rival(const struct config *c, const struct node *n, struct plan *p,
		       const struct nic_netdev *k)
{
	const struct route *t = FIND(it, n->routes, n->n_routes,
				     nic_netdev_is_rival(n, k, it) && it->metric < c->route.metric);
	char dst[64];

	if (!t)
		return;
	ip_format(t->family, t->dst, t->prefix_len, dst, sizeof(dst));
	plan_add_hint(p, REASON_ROUTE_FOREIGN, k->device->pci->address,
		      "%s dev %s proto %d metric %" PRIu32, dst, k->netdev->name, t->protocol,
		      t->metric);
}

/* Not so often that it is put off, but again and again: what an owner does who looks every few
 * minutes. */
static void hint_contested(const struct memory *memory, struct plan *p, const struct nic_netdev *k)
{
	const struct ledger_entry *e =
		FIND(it, memory->ledger, memory->n_ledger,
		     it->ifindex == k->netdev->ifindex && it->total > OWN_RESTORES_MAX &&
			     (streq(it->verb, verb_name(VERB_SET_METRIC)) ||
			      streq(it->verb, verb_name(VERB_SET_SYSCTL))));

	if (e)
		plan_add_hint(p, REASON_CONTESTED, k->device->pci->address,
			      "%s %s is set back to something else again and again", e->verb,
			      e->subject);
}

/* The plugin of VKE acts on the label, this service on the sections: both have to mean the same. */
static void hint_vke_mode(const struct config *c, const struct node *n, struct plan *p)
{
	const char *label = n->kubelet.vke_rdma_mode.value;
	const bool is_file = n->kubelet.vke_rdma_mode.is_in_file;

	if (*n->kubelet.label_problem)
		plan_add_hint(p, REASON_LABEL_UNKNOWN, c->kubelet.label_file, "%s",
			      n->kubelet.label_problem);
	for (size_t i = 0; i < p->n_devices && *label; i++) {
		const struct device_config *dc = p->devices[i].config;

		if (p->devices[i].is_vf || streq(vf_mode_name(dc->mode), label))
			continue;
		return plan_add_hint(p, REASON_VKE_MODE, "kubelet",
				     "the label%s%s is %s, [Device %s] VirtualFunctions=%s",
				     is_file ? " in " : "", is_file ? c->kubelet.label_file : "",
				     label, dc->name, vf_mode_name(dc->mode));
	}
}

static void hint_vke_mgpu(const struct config *c, const struct node *n, struct plan *p)
{
	const struct kubelet_label *label = &n->kubelet.vke_gpu_schedule;

	if (p->n_devices == 0 || !streq(label->value, "mgpu"))
		return;
	plan_add_hint(p, REASON_VKE_MGPU, "kubelet", "%s%s" VKE_GPU_SCHEDULE "=mgpu",
		      label->is_in_file ? c->kubelet.label_file : "--node-labels",
		      label->is_in_file ? ": " : "=");
}

/* --- two functions with one MAC, or one node GUID --- */

#define ETHERNET_MAC_CHARS 17

struct station {
	const char *id, *pci, *name; /* id: MAC or GUID */
};

/* The number of a queue pair tells IPoIB's apart; not all trees have it. */
static bool is_station_mac(const char *mac)
{
	return strlen(mac) == ETHERNET_MAC_CHARS && mac[strspn(mac, "0:")];
}

/* The ports of a bond, and a VF below the netdev of a hypervisor, have that one's. */
static bool is_station(const struct netdev *nd)
{
	return nd->pci[0] && is_station_mac(nd->mac) && !nd->master;
}

/* Netdevs, and VFs that are not here by what their PFs have of them. */
static size_t list_stations(const struct node *n, struct station *ret)
{
	size_t n_stations = 0;

	FOREACH(nd, n->netdevs, n->n_netdevs)
		if (is_station(nd))
			ret[n_stations++] = (struct station){ nd->mac, nd->pci, nd->name };
	FOREACH(v, n->vf_infos, n->n_vf_infos) {
		const struct pci *vf = node_vf(n, v->pf, v->index);

		if (vf && is_station_mac(v->mac) && !node_netdev_of(n, vf->address))
			ret[n_stations++] =
				(struct station){ v->mac, vf->address, "its virtual function" };
	}
	return n_stations;
}

/* An RDMA device of a port of a bond may have made its GUID of the bond's MAC. */
static size_t list_guids(const struct node *n, struct station *ret)
{
	size_t n_guids = 0;

	FOREACH(ib, n->ibdevs, n->n_ibdevs) {
		const struct netdev *nd = node_netdev_of(n, ib->pci);

		if (ib->pci[0] && ib->node_guid[0] && !guid_is_unset(ib->node_guid) &&
		    !(nd && nd->master))
			ret[n_guids++] = (struct station){ ib->node_guid, ib->pci, ib->name };
	}
	return n_guids;
}

static bool is_managed(const struct node *n, const struct plan *p, const char *address)
{
	const struct pci *pci = node_pci(n, address);

	return pci && plan_device(p, pci);
}

static void hint_twice(const struct node *n, struct plan *p, enum reason reason, struct station *s,
		       size_t n_stations)
{
	SORT(s, n_stations, compare_text_at);
	for (size_t i = 1; i < n_stations; i++) {
		const struct station *a = &s[i - 1], *b = &s[i];

		if (!streq(a->id, b->id) || streq(a->pci, b->pci) ||
		    (!is_managed(n, p, a->pci) && !is_managed(n, p, b->pci)))
			continue;
		plan_add_hint(p, reason, a->pci, "%s: %s (%s) and %s (%s)", a->id, a->name, a->pci,
			      b->name, b->pci);
	}
}

static void hint_same(const struct node *n, struct plan *p)
{
	_cleanup_(freep) struct station *s =
		calloc(n->n_netdevs + n->n_vf_infos + n->n_ibdevs + 1, sizeof(*s));

	p->texts.is_short |= !s;
	if (!s)
		return;
	hint_twice(n, p, REASON_MAC_TWICE, s, list_stations(n, s));
	hint_twice(n, p, REASON_GUID_TWICE, s, list_guids(n, s));
}

void plan_coexistence(const struct config *c, const struct node *n, const struct memory *memory,
		      struct plan *p)
{
	hint_vke_mode(c, n, p);
	hint_vke_mgpu(c, n, p);
	hint_same(n, p);
	FOREACH_WHILE(k, p->nic_netdevs, p->n_nic_netdevs, c->route.manage) {
		hint_terway(n, p, k);
		hint_rival(c, n, p, k);
		hint_contested(memory, p, k);
	}
}
