/* SPDX-License-Identifier: Apache-2.0 */
#include "cause-rules.h"

#include "../guard/vf-precheck-rules.h"
#include "../model/in-use.h"
#include "../model/ip.h"
#include "../model/module-facts.h"
#include "../model/vf-facts.h"
#include "../model/way-facts.h"

#include <linux/if_link.h>

/* The objects that a port depends on. All but the first two may be NULL. */
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

enum lack {
	LACK_SWITCH, /* the port itself is disabled */
	LACK_ANSWER, /* no other end is found */
	LACK_UP,
	LACK_ENABLED, /* its PF has it disabled */
	LACK_MANAGER, /* of InfiniBand: the link is trained, and it is a subnet manager's turn */
	LACK_CABLE,
	LACK_CARRIER,
};

static bool lacks(const struct cause_view *v, const struct netdev *nd, enum lack what)
{
	switch (what) {
	case LACK_SWITCH:
		return v->port && streq(v->port->phys_state, "Disabled");
	case LACK_ANSWER:
		return v->port && streq(v->port->phys_state, "Polling");
	case LACK_UP:
		return nd && !nd->is_up;
	case LACK_ENABLED:
		return v->info && v->info->link_state == IFLA_VF_LINK_STATE_DISABLE;
	case LACK_MANAGER:
		return v->port && streq(v->port->link_layer, "InfiniBand") &&
		       (streq(v->port->state, "INIT") || streq(v->port->state, "ARMED"));
	case LACK_CABLE:
		return nd && streq(nd->link_state, LINK_NO_CABLE);
	default:
		return nd && !nd->has_carrier;
	}
}

static const struct {
	enum lack lack;
	size_t netdev; /* place in struct cause_view of the netdev that is named */
	const char *words, *advice;
} causes[] = {
	{ LACK_SWITCH, offsetof(struct cause_view, own), "the port is switched off (Disabled)",
	  "Switch it on where it was switched off: with \"ibportstate\" (enable), for mlx5 with "
	  "\"mstlink\" (--port_state UP)." },
	{ LACK_ANSWER, offsetof(struct cause_view, own),
	  "nothing answers at the other end (Polling)", NULL },
	{ LACK_UP, offsetof(struct cause_view, own), "no link was asked for, %s is down",
	  "It is brought up by the service; if it stays down look in \"journalctl -u "
	  "rdma-provision\", and for what lowers it: a network manager (\"nmcli device\", "
	  "\"networkctl\") or a script." },
	{ LACK_UP, offsetof(struct cause_view, pf), "%s of its physical function is down",
	  "A virtual function has a link only while its physical function is up: \"ip link set\" "
	  "with the name and \"up\", and look for what lowers it." },
	{ LACK_UP, offsetof(struct cause_view, representor), "its representor %s is down",
	  "In switchdev mode a virtual function has a link while its representor is up: add it to "
	  "the bridge of Open vSwitch, or \"ip link set\" with the name and \"up\"." },
	{ LACK_ENABLED, offsetof(struct cause_view, pf),
	  "%s keeps its link down (link-state disable)",
	  "\"ip link set PF vf N state auto\", and look for what disables it." },
	{ LACK_MANAGER, offsetof(struct cause_view, own),
	  "it has a link, and no subnet manager makes it ACTIVE",
	  "Start a subnet manager for this fabric (opensm, or that of a switch); \"sminfo\" tells "
	  "whether one is reached from here." },
	{ LACK_CABLE, offsetof(struct cause_view, pf), "%s of its physical function has no cable",
	  NULL },
	{ LACK_CABLE, offsetof(struct cause_view, own), "%s has no cable", NULL },
	{ LACK_CARRIER, offsetof(struct cause_view, pf),
	  "%s of its physical function has no carrier", NULL },
	{ LACK_CARRIER, offsetof(struct cause_view, own), "%s has no carrier", NULL },
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

		memcpy(&named, (const char *)&v + causes[i].netdev, sizeof(named));
		if (!lacks(&v, named, causes[i].lack))
			continue;
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

/* --- what stands behind a catch-all reason: each gives a name for its words, or NULL --- */

static const char *unloaded_part(const struct node *n, const struct pci *pci)
{
	const struct rdma_part *part = rdma_part_of(pci->driver);
	const struct module *m = part ? node_module(n, part->module) : NULL;

	return m && !module_is_in_kernel(m) && !node_ibdev_of(n, pci->address) ? m->name : NULL;
}

/* The function's folder (is_away) shows it; in a tree the only sign is that namespaces exist. */
static const char *namespace_of(const struct node *n, const struct pci *pci)
{
	const bool lacks_netdev = pci->class >> 8 == CLASS_ETHERNET && !pci_is_erdma(pci) &&
				  !node_netdev_of(n, pci->address);
	const bool lacks_ibdev =
		n->netns_mode == NETNS_MODE_EXCLUSIVE && !node_ibdev_of(n, pci->address);

	if (!pci->driver[0] || pci->health[0] || !(lacks_netdev || lacks_ibdev) ||
	    !(pci->is_away || (n->now_usec == 0 && n->n_netnses > 0)))
		return NULL;
	return n->n_netnses == 1 ? n->netnses[0].name : "\"ip netns\" or \"lsns -t net\" shows";
}

/* A netdev is down after it was moved, and no VF has a link then. */
static const char *namespace_of_pf(const struct node *n, const struct pci *pci)
{
	const struct pci *pf = pci->physfn[0] ? node_pci(n, pci->physfn) : NULL;

	return pf ? namespace_of(n, pf) : NULL;
}

static const char *foreign_driver(const struct node *n _unused_, const struct pci *pci)
{
	return in_use_is_vfio(pci) || pci->has_other_driver ? pci->driver : NULL;
}

/* ice_lag_link() in drivers/net/ethernet/intel/ice/ice_lag.c removes the RDMA device. */
static const char *bond_of_ice(const struct node *n, const struct pci *pci)
{
	const struct netdev *bond = node_bond_of(n, node_netdev_of(n, pci->address));

	return bond && streq(pci->driver, "ice") ? bond->name : NULL;
}

static const char *pf_without_autoprobe(const struct node *n, const struct pci *pci)
{
	const struct pci *pf = node_pci(n, pci->physfn);

	return pf && vf_precheck_has_autoprobe_off(pf) ? pf->address : NULL;
}

static const char *driver_of_mlx5(const struct node *n _unused_, const struct pci *pci)
{
	return streq(pci->driver, "mlx5_core") ? "" : NULL;
}

static const char *vf_of_guest(const struct node *n _unused_, const struct pci *pci)
{
	return pci_is_vf(pci) ? "" : NULL;
}

static const char *driver_unloaded(const struct node *n, const struct pci *pci)
{
	const struct module *m = node_module(n, pci->module);

	return m && !module_is_in_kernel(m) ? m->name : NULL;
}

static const char *driver_override(const struct node *n _unused_, const struct pci *pci)
{
	return pci->driver_override[0] && !streq(pci->driver_override, pci->module)
		       ? pci->driver_override
		       : NULL;
}

static const char *driver_without_netdev(const struct node *n, const struct pci *pci)
{
	return !n->is_copy && pci->driver[0] && !pci->health[0] && !pci->unreadable[0] &&
			       !pci->physfn[0] && pci->class >> 8 == CLASS_ETHERNET &&
			       !pci_is_erdma(pci) && !node_netdev_of(n, pci->address)
		       ? pci->driver
		       : NULL;
}

static const char *driver_without_part(const struct node *n _unused_, const struct pci *pci)
{
	return rdma_part_of(pci->driver) ? NULL : pci->driver;
}

static bool has_gid(const struct ibdev *ib, const char *type)
{
	for (size_t p = 0; p < ib->n_ports; p++)
		if (ANY(g, ib->ports[p].gids, ib->ports[p].n_gids, streq(g->type, type)))
			return true;
	return false;
}

static const char *device_of_v1(const struct node *n, const struct pci *pci)
{
	const struct ibdev *ib = node_ibdev_of(n, pci->address);

	return ib && has_gid(ib, GID_ROCE_V1) && !has_gid(ib, GID_ROCE_V2) ? ib->name : NULL;
}

/* With RoCE an ibdev has the GID of the MAC as soon as its netdev is there:
 * ib_cache_gid_set_default_gid() in drivers/infiniband/core/cache.c. */
static const char *empty_table(const struct node *n, const struct pci *pci)
{
	const struct ibdev *ib = node_ibdev_of(n, pci->address);
	const struct netdev *nd = node_netdev_of(n, pci->address);

	return ib && nd && nd->is_up && !ANY(p, ib->ports, ib->n_ports, p->n_gids > 0) ? ib->name
										       : NULL;
}

/* A copy with none of a kind, of any function, was made without them. */
static const char *missing(const struct node *n, const struct pci *pci, enum reason of)
{
	const struct ibdev *ib = node_ibdev_of(n, pci->address);
	const char *kind = n->n_ibdevs == 0    ? "RDMA devices"
			   : n->n_netdevs == 0 ? "network devices"
					       : NULL;

	if (of == REASON_NO_ADDRESS)
		return n->lacks_net ? "addresses" : NULL;
	/* Each device of a running kernel has ports. */
	if (of == REASON_PORT_DOWN && n->now_usec == 0 && ib && (ib->n_ports == 0 || n->is_copy) &&
	    !ANY(t, ib->ports, ib->n_ports, t->state[0]))
		return "the ports of its RDMA device";
	if (!n->is_copy)
		return NULL;
	switch (of) {
	case REASON_MODULE_MISSING:
		return "which modules there are";
	case REASON_NO_SRIOV:
		return pci->has_config ? NULL : "sriov_totalvfs";
	case REASON_NO_DRIVER:
		return node_lacks(n);
	case REASON_NO_UVERBS:
		return ANY(d, n->ibdevs, n->n_ibdevs, d->uverbs[0]) ? NULL : "character devices";
	case REASON_NO_UMAD:
		return ANY(d, n->ibdevs, n->n_ibdevs, d->umad[0]) ? NULL : "character devices";
	case REASON_NO_GID:
		return kind ?: ib && !ANY(t, ib->ports, ib->n_ports, t->n_gids > 0) ? "GIDs" : NULL;
	case REASON_PF_SICK:
	case REASON_NO_IBDEV:
		return pci->driver[0] && !in_use_is_vfio(pci) ? kind : NULL;
	default:
		return NULL;
	}
}

bool cause_lacks_mad(const struct ibdev *ib)
{
	return streq(ib->node_type, "RNIC") || streq(ib->node_type, "unspecified") ||
	       is_prefix(ib->node_type, "usNIC");
}

static const char *device_without_mad(const struct node *n, const struct pci *pci)
{
	const struct ibdev *ib = node_ibdev_of(n, pci->address);

	return pci_is_erdma(pci) || (ib && cause_lacks_mad(ib)) ? "" : NULL;
}

#define FOREIGN_DRIVER                                                                             \
	foreign_driver, "it is bound to %s",                                                       \
		"Leave the function out of Match=, or bind it to its own driver."
#define NO_NETDEV                                                                                  \
	driver_without_netdev, "%s is bound, but has no network device here",                      \
		"Look in \"dmesg\" for the PCI address, and at \"devlink dev param show "          \
		"pci/ADDRESS "                                                                     \
		"name enable_eth\": with false the driver makes no network device. The service "   \
		"tries "                                                                           \
		"again when something changes."

/* Evidence for each reason, the cheapest first. */
static const struct {
	enum reason of, reason;
	const char *(*seen)(const struct node *n, const struct pci *pci); /* NULL: always */
	const char *words, *advice; /* NULL: the detail stays; the reason has the words */
} evidence[] = {
	{ REASON_PF_SICK, REASON_NO_IBDEV, FOREIGN_DRIVER },
	{ REASON_PF_SICK, REASON_NO_IBDEV, unloaded_part, "%s is not loaded", NULL },
	{ REASON_PF_SICK, REASON_IN_NETNS, namespace_of, "network namespaces: %s", NULL },
	{ REASON_PF_SICK, REASON_PF_SICK, NO_NETDEV },
	{ REASON_PORT_DOWN, REASON_IN_NETNS, namespace_of, "network namespaces: %s", NULL },
	{ REASON_PORT_DOWN, REASON_PORT_DOWN, NO_NETDEV },
	{ REASON_PORT_DOWN, REASON_IN_NETNS, namespace_of_pf,
	  "of its physical function, network namespaces: %s", NULL },
	{ REASON_NO_IBDEV, REASON_NO_IBDEV, FOREIGN_DRIVER },
	{ REASON_NO_IBDEV, REASON_NO_IBDEV, unloaded_part, "%s is not loaded", NULL },
	{ REASON_NO_IBDEV, REASON_IN_NETNS, namespace_of, "network namespaces: %s", NULL },
	{ REASON_NO_IBDEV, REASON_NO_IBDEV, NO_NETDEV },
	{ REASON_NO_IBDEV, REASON_NO_IBDEV, bond_of_ice, "it is a port of %s",
	  "The driver ice removes the RDMA device of a port of a bond or team: take the port out "
	  "of it, or leave the function out of Match=." },
	{ REASON_NO_IBDEV, REASON_NO_IBDEV, driver_without_part,
	  "no RDMA part of the driver %s is known",
	  "Leave the function out of Match=, unless a software RDMA device (rdma_rxe, siw) is made "
	  "on its network device." },
	{ REASON_NO_DRIVER, REASON_NO_DRIVER, driver_override, "its driver_override is %s",
	  "No other driver is bound while it is set. Clear it where it was set (\"driverctl "
	  "unset-override ADDRESS\", a udev rule, an operator), or leave the function out of "
	  "Match=." },
	{ REASON_NO_DRIVER, REASON_NO_DRIVER, driver_unloaded, "%s is not loaded",
	  "\"rdma-provision plan\" says what keeps the module from being loaded." },
	{ REASON_NO_DRIVER, REASON_AUTOPROBE_OFF, pf_without_autoprobe, "of %s", NULL },
	{ REASON_NO_UMAD, REASON_NO_UMAD, device_without_mad, NULL,
	  "Devices of iWARP and EFA have none, and this plugin cannot hand them out: use "
	  "[DevicePlugin] Type=hca or dranet. eRDMA has one in compat mode, where ib_umad is "
	  "loaded "
	  "and the driver was built with MAD." },
	{ REASON_NO_GID, REASON_IN_NETNS, namespace_of, "network namespaces: %s", NULL },
	{ REASON_NO_GID, REASON_NO_GID, NO_NETDEV },
	{ REASON_NO_GID, REASON_NO_GID, empty_table, "the GID table of %s is empty",
	  "RoCE may be switched off: see \"devlink dev param show pci/ADDRESS name enable_roce\". "
	  "If it is false, set it to true and run \"devlink dev reload\"." },
	{ REASON_NO_GID, REASON_NO_GID, device_of_v1, "%s has RoCE v1 alone",
	  "Leave the function out of Match= if its card has no RoCE v2, as ConnectX-3 without "
	  "Pro." },
	{ REASON_ZERO_GUID, REASON_ZERO_GUID, vf_of_guest, NULL, NULL },
	{ REASON_ZERO_GUID, REASON_ZERO_GUID, NULL, NULL,
	  "The GUID of a physical function is that of the card: compare it with what the vendor's "
	  "tool shows (mlx5: \"mstflint -d ADDRESS query\"), and set it there." },
	{ REASON_NO_SRIOV, REASON_NO_SRIOV, vf_of_guest, NULL,
	  "It is a virtual function itself, of a card of the host: use "
	  "VirtualFunctions=exclusive." },
	{ REASON_NO_SRIOV, REASON_NO_SRIOV, driver_of_mlx5, NULL,
	  "Enable SR-IOV in the card's firmware (mstconfig SRIOV_EN=1 and NUM_OF_VFS) and in the "
	  "BIOS, then power cycle; if neither is possible, use VirtualFunctions=exclusive." },
};

enum reason cause_of_reason(const struct node *n, const struct pci *pci, enum reason of,
			    char *detail, size_t size, const char **ret_advice)
{
	const char *lacking = missing(n, pci, of);

	if (lacking) {
		snprintf(detail, size, "%s", lacking);
		return REASON_NOT_RECORDED;
	}
	for (size_t i = 0; i < ELEMENTSOF(evidence); i++) {
		const char *name = !evidence[i].seen ? "" : evidence[i].seen(n, pci);

		if (evidence[i].of != of || !name)
			continue;
		if (evidence[i].words)
			snprintf(detail, size, evidence[i].words, name);
		if (evidence[i].advice)
			*ret_advice = evidence[i].advice;
		return evidence[i].reason;
	}
	return of;
}
