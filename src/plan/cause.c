/* SPDX-License-Identifier: Apache-2.0 */
#include "cause.h"

#include <linux/if_link.h>

/* What a port hangs on. All may be NULL but the first two. */
struct cause_view {
	const struct node *n;
	const struct pci *pci;
	const struct netdev *own, *pf, *representor;
	const struct vf_info *info;
	const struct port *port;
};

/* "pf0vf3", "c1pf0vf3": __devlink_port_phys_port_name_get() in net/devlink/port.c */
static const struct netdev *find_representor(const struct node *n, const struct pci *vf)
{
	const struct pci *pf = node_pci(n, vf->physfn);
	char name[IFNAME_LEN];

	if (!pf || !streq(pf->eswitch, "switchdev"))
		return NULL;
	snprintf(name, sizeof(name), "vf%" PRIu32, vf->vf_index);
	for (size_t i = 0; i < n->n_netdevs; i++) {
		const char *of_vf = strstr(n->netdevs[i].port_name, "vf");

		if (streq(n->netdevs[i].pci, pf->address) && of_vf && streq(of_vf, name))
			return &n->netdevs[i];
	}
	return NULL;
}

static bool is_own_down(const struct cause_view *v)
{
	return v->own && !v->own->is_up;
}

static bool is_pf_down(const struct cause_view *v)
{
	return v->pf && !v->pf->is_up;
}

static bool is_representor_down(const struct cause_view *v)
{
	return v->representor && !v->representor->is_up;
}

static bool is_disabled(const struct cause_view *v)
{
	return v->info && v->info->link_state == IFLA_VF_LINK_STATE_DISABLE;
}

/* Of InfiniBand: the link is trained, and it is a subnet manager's turn. */
static bool is_without_manager(const struct cause_view *v)
{
	return v->port && streq(v->port->link_layer, "InfiniBand") &&
	       (streq(v->port->state, "INIT") || streq(v->port->state, "ARMED"));
}

static bool has_no_cable(const struct cause_view *v)
{
	return v->own && streq(v->own->link_state, LINK_NO_CABLE);
}

static bool has_pf_no_cable(const struct cause_view *v)
{
	return v->pf && streq(v->pf->link_state, LINK_NO_CABLE);
}

static bool has_pf_no_carrier(const struct cause_view *v)
{
	return v->pf && !v->pf->has_carrier;
}

static bool has_no_carrier(const struct cause_view *v)
{
	return v->own && !v->own->has_carrier;
}

static const struct {
	bool (*is)(const struct cause_view *v);
	size_t netdev; /* the one that is named: its place in struct cause_view */
	const char *words, *advice;
} causes[] = {
	{ is_own_down, offsetof(struct cause_view, own), "no link was asked for, %s is down",
	  "It is brought up by the service; if it stays down look in \"journalctl -u "
	  "rdma-provision\", and for what lowers it: a network manager (\"nmcli device\", "
	  "\"networkctl\") or a script." },
	{ is_pf_down, offsetof(struct cause_view, pf), "%s of its physical function is down",
	  "A virtual function has a link only while its physical function is up: \"ip link set\" "
	  "with the name and \"up\", and look for what lowers it." },
	{ is_representor_down, offsetof(struct cause_view, representor),
	  "its representor %s is down",
	  "In switchdev mode a virtual function has a link while its representor is up: add it to "
	  "the bridge of Open vSwitch, or \"ip link set\" with the name and \"up\"." },
	{ is_disabled, offsetof(struct cause_view, pf),
	  "%s keeps its link down (link-state disable)",
	  "\"ip link set PF vf N state auto\", and look for what disables it." },
	{ is_without_manager, offsetof(struct cause_view, own),
	  "it has a link, and no subnet manager makes it ACTIVE",
	  "Start a subnet manager for this fabric (opensm, or that of a switch); \"sminfo\" tells "
	  "whether one is reached from here." },
	{ has_pf_no_cable, offsetof(struct cause_view, pf),
	  "%s of its physical function has no cable", NULL },
	{ has_no_cable, offsetof(struct cause_view, own), "%s has no cable", NULL },
	{ has_pf_no_carrier, offsetof(struct cause_view, pf),
	  "%s of its physical function has no carrier", NULL },
	{ has_no_carrier, offsetof(struct cause_view, own), "%s has no carrier", NULL },
};

const char *cause_of_port(const struct node *n, const struct pci *pci, const struct netdev *nd,
			  const struct port *port, char *detail, size_t size)
{
	const struct cause_view v = { n,
				      pci,
				      nd,
				      pci->physfn[0] ? node_netdev_of(n, pci->physfn) : NULL,
				      find_representor(n, pci),
				      pci->physfn[0] ? node_vf_info(n, pci->physfn, pci->vf_index)
						     : NULL,
				      port };

	for (size_t i = 0; i < ELEMENTSOF(causes); i++) {
		const struct netdev *named;
		const char *words;
		size_t used = strlen(detail);

		if (!causes[i].is(&v))
			continue;
		memcpy(&named, (const char *)&v + causes[i].netdev, sizeof(named));
		used += (size_t)snprintf(detail + used, size - used, "%s", used > 0 ? ": " : "");
		if (used < size)
			used += (size_t)snprintf(detail + used, size - used, causes[i].words,
						 named ? named->name : "");
		words = named && named->is_up ? named->link_state : "";
		if (used < size && words[0] && !streq(words, LINK_NO_CABLE))
			snprintf(detail + used, size - used, ": %s", words);
		return causes[i].advice;
	}
	return NULL;
}
