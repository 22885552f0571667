/* SPDX-License-Identifier: Apache-2.0 */
#include "judge-rules.h"

#include "../guard/guard-rules.h"
#include "../guard/vf-precheck-rules.h"
#include "../model/in-use.h"
#include "../model/ip.h"
#include "../model/module-options.h"
#include "../model/route-facts.h"
#include "../model/vf-facts.h"
#include "../step/identity-rules.h"
#include "../step/quirk-rules.h"
#include "../step/steps.h"

#include <linux/if_link.h>

/* --- why a port is not ACTIVE, as far as links and carriers show it --- */

/* The objects that a port depends on; each may be NULL. */
struct cause_view {
	const struct netdev *own, *pf, *representor;
	const struct vf_info *info;
	const struct port *port, *above; /* that of its PF */
	bool is_copy;                    /* it may lack the carrier */
	bool is_left;                    /* its link is left to the host: route/link-plan.c */
};

/* "pf0vf3", "c1pf0vf3": __devlink_port_phys_port_name_get() in net/devlink/port.c */
static const struct netdev *find_representor(const struct node *n, const struct pci *vf)
{
	const struct pci *pf = node_pci(n, vf->physfn);
	char name[IFNAME_LEN];

	if (!pf || !streq(pf->eswitch, "switchdev"))
		return NULL;
	snprintf(name, sizeof(name), "vf%" PRIu32, vf->vf_index);
	return FIND(nd, n->netdevs, n->n_netdevs,
		    streq(nd->pci, pf->address) && streq(strstr(nd->port_name, "vf") ?: "", name));
}

enum lack {
	LACK_SWITCH, /* the port itself is disabled */
	LACK_ANSWER, /* no other end is found */
	LACK_HOST,   /* down, and not ours to bring up */
	LACK_UP,
	LACK_ENABLED, /* its PF has it disabled */
	LACK_SUPPORT, /* of InfiniBand: the subnet manager knows the PF alone */
	LACK_MANAGER, /* of InfiniBand: the link is trained, and it is a subnet manager's turn */
	LACK_CABLE,
	LACK_CARRIER,
	LACK_PORT, /* all that was looked at is there */
};

static bool lacks(const struct cause_view *v, const struct netdev *nd, enum lack what)
{
	switch (what) {
	case LACK_SWITCH:
		return v->port && streq(v->port->phys_state, "Disabled");
	case LACK_ANSWER:
		return v->port && streq(v->port->phys_state, "Polling");
	case LACK_HOST:
		return nd && !nd->is_up && v->is_left;
	case LACK_UP:
		return nd && !nd->is_up;
	case LACK_ENABLED:
		return v->info && v->info->link_state == IFLA_VF_LINK_STATE_DISABLE;
	case LACK_SUPPORT:
		return v->above && streq(v->above->link_layer, "InfiniBand") &&
		       streq(v->above->state, "ACTIVE") && lacks(v, nd, LACK_MANAGER);
	case LACK_MANAGER:
		return v->port && streq(v->port->link_layer, "InfiniBand") &&
		       (streq(v->port->state, "INIT") || streq(v->port->state, "ARMED"));
	case LACK_CABLE:
		return nd && streq(nd->link_state, LINK_NO_CABLE);
	case LACK_CARRIER:
		return nd && !nd->has_carrier;
	default:
		return nd && !v->is_copy && v->port && streq(v->port->link_layer, "Ethernet");
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
	{ LACK_HOST, offsetof(struct cause_view, own), "no link was asked for, %s is down",
	  "The service leaves it to the host, as a port of another device or since the node needs "
	  "it, or may need it: set it up where it is configured, in a network manager (\"nmcli "
	  "device\", \"networkctl\"), or by \"ip link set\" with the name and \"up\"." },
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
	{ LACK_SUPPORT, offsetof(struct cause_view, own),
	  "the subnet manager that serves its physical function does not make it ACTIVE",
	  "The subnet manager has to support virtual functions: the opensm of NVIDIA does with "
	  "\"virt_enabled 2\" in opensm.conf, that of most distributions does not." },
	{ LACK_MANAGER, offsetof(struct cause_view, own),
	  "it has a link, and no subnet manager makes it ACTIVE",
	  "Start a subnet manager for this fabric (opensm, opafm for Omni-Path, or that of a "
	  "switch); on InfiniBand \"sminfo\" tells whether one is reached from here." },
	{ LACK_CABLE, offsetof(struct cause_view, pf), "%s of its physical function has no cable",
	  NULL },
	{ LACK_CABLE, offsetof(struct cause_view, own), "%s has no cable", NULL },
	{ LACK_CARRIER, offsetof(struct cause_view, pf),
	  "%s of its physical function has no carrier", NULL },
	{ LACK_CARRIER, offsetof(struct cause_view, own), "%s has no carrier", NULL },
	{ LACK_PORT, offsetof(struct cause_view, own), "%s has a carrier",
	  "The link is there: look in \"dmesg\" for the PCI address, and with \"rdma link\" "
	  "which network device the port follows." },
};

/*
 * Finds what keeps the port of a device down.
 * @nd:     its netdev; NULL: none, or it does not count
 * @port:   its port; NULL: that of its PF
 * @detail: what is known of the port; the cause is appended, if one is seen
 *
 * From what was never asked for to what only the cable can be: the device's own link is down, its
 * PF's is, in switchdev mode its representor is (mlx5e_rep_open() in .../mlx5/core/en_rep.c sets
 * the state of the VF's port), its PF keeps it down, there is no subnet manager, no cable, or no
 * carrier, with what the driver tells of that.
 *
 * Return: what to do about it, or NULL: what REASON_PORT_DOWN advises.
 */
static const char *find_port_cause(const struct node *n, const struct device *d,
				   const struct netdev *nd, const struct port *port, char *detail,
				   size_t size)
{
	const struct pci *pci = d->pci;
	const struct ibdev *pf = node_ibdev_of(n, pci->physfn);
	const struct cause_view v = {
		nd,
		pci->physfn[0] ? node_netdev_of(n, pci->physfn) : NULL,
		find_representor(n, pci),
		pci->physfn[0] ? node_vf_info(n, pci->physfn, pci->vf_index) : NULL,
		port,
		pf && pf->n_ports > 0 ? &pf->ports[0] : NULL,
		n->is_copy,
		d->is_port || (plan_carries_node(d) && d->need->why != NEED_WAITING)
	};

	/* A VF whose PF is not on this machine has no cable here. */
	const char *cable =
		!pci->physfn[0] && pci_is_vf(pci)
			? "It is a virtual function of a card of the host: look there for "
			  "what is set for it (\"ip link set PF vf N state auto\"), and "
			  "whether its physical function has a link."
			: NULL;

	for (size_t i = 0; i < ELEMENTSOF(causes); i++) {
		const struct netdev *named;
		const char *words;

		memcpy(&named, (const char *)&v + causes[i].netdev, sizeof(named));
		if (!lacks(&v, named, causes[i].lack))
			continue;
		append_word(detail, size, ": ", causes[i].words, named ? named->name : "");
		words = named && named->is_up ? named->link_state : "";
		if (words[0] && !streq(words, LINK_NO_CABLE))
			append_word(detail, size, ": ", "%s", words);
		return causes[i].advice ?: cable;
	}
	return cable;
}

/* --- is a device usable? --- */

bool judge_is_part_of_lag(const struct node *n, const struct pci *pci)
{
	const struct netdev *bond = node_bond_of(n, node_netdev_of(n, pci->address));
	size_t slot = strcspn(pci->address, ".") + 1;

	if (!bond || node_ibdev_of(n, pci->address) || (pci->has_adev && !pci->is_adev_bound))
		return false;
	if (vf_precheck_is_lag(n, bond))
		return true;

	return quirk_has(pci, QUIRK_ROCE_LAG) && !node_is_infiniband(n, pci) &&
	       ANY(nd, n->netdevs, n->n_netdevs,
		   nd->master == bond->ifindex && strncmp(nd->pci, pci->address, slot) == 0 &&
			   strcmp(nd->pci, pci->address) < 0 && node_ibdev_of(n, nd->pci));
}

/* The GIDs of a bonded port are of the bond, also where netlink names its slave; each port of a
 * function with two (mlx4) has a netdev of its own. */
static bool is_own_netdev(const struct node *n, const struct device *d, const char *name)
{
	const struct netdev *nd = node_netdev_named(n, name);

	return streq(name, d->netdev_name) || (d->bond && streq(name, d->bond->name)) ||
	       (nd && !nd->port_name[0] && streq(nd->pci, d->pci->address));
}

static bool is_gid_ready(const struct node *n, const struct device *d, const struct port *port)
{
	return ANY(g, port->gids, port->n_gids,
		   streq(g->type, GID_ROCE_V2) && g->netdev[0] && is_own_netdev(n, d, g->netdev));
}

/*
 * Is it used with an address that the host has? That of a VF, and of a NIC that moves into a pod,
 * is the pod's.
 */
static bool needs_address(const struct config *c, const struct device *d)
{
	if (d->is_vf && plugin_gives_vfs(c->plugin.type))
		return false;
	if (d->config->require_address != REQUIRE_ADDRESS_AUTO)
		return d->config->require_address == REQUIRE_ADDRESS_YES;
	return c->route.manage && !d->is_vf && d->config->mode == VF_MODE_KEEP &&
	       !plugin_moves_netdev(c->plugin.type);
}

static bool has_routable_address(const struct node *n, const struct netdev *nd)
{
	FOREACH(a, n->addresses, n->n_addresses) {
		uint8_t gid[16];

		gid_of_address(a, gid);
		if (a->ifindex == nd->ifindex && gid_is_routable(gid))
			return true;
	}
	return false;
}

/* Does the netdev, or a VLAN or bond above it, have an address? @port: in its GIDs; NULL: any. */
static bool has_address(const struct plan *p, const struct device *d, const struct port *port)
{
	const struct netdev *nd;

	for (size_t i = 0; (nd = graph_of(&p->graph, d->pci->address, &i));)
		if (nd->netns == 0 && (port ? gid_index_of(port, nd->name, NULL) >= 0
					    : has_routable_address(p->graph.n, nd)))
			return true;
	return false;
}

/* Has the port a GID of a global IPv6 address of the netdev, or of a VLAN or bond above it? */
static bool has_ipv6_gid(const struct plan *p, const struct device *d, const struct port *port)
{
	const struct netdev *nd;
	uint8_t bytes[16];

	for (size_t i = 0; (nd = graph_of(&p->graph, d->pci->address, &i));)
		if (nd->netns == 0 &&
		    ANY(g, port->gids, port->n_gids,
			streq(g->type, GID_ROCE_V2) && streq(g->netdev, nd->name) &&
				gid_parse(g->gid, bytes) && gid_is_global_ipv6(bytes)))
			return true;
	return false;
}

/* Has another port of its bond the GIDs of the bond's address? The active port alone has them:
 * bond_delete_netdev_default_gids() in drivers/infiniband/core/roce_gid_mgmt.c. */
static bool is_backup(const struct node *n, const struct device *d)
{
	FOREACH_WHILE(nd, n->netdevs, n->n_netdevs, d->bond) {
		const struct ibdev *ib =
			nd->master == d->bond->ifindex ? node_ibdev_of(n, nd->pci) : NULL;

		for (size_t k = 0; ib && ib != d->ibdev && k < ib->n_ports; k++)
			if (gid_index_of(&ib->ports[k], d->bond->name, NULL) >= 0)
				return true;
	}
	return false;
}

/* Names what is to give the missing address; NULL: the network manager, as the reason says. */
static const char *who_gives(const struct config *c, const struct device *d)
{
	if (c->route.manage && c->route.address == ADDRESS_METADATA)
		return "The metadata service gives it ([Route] Address=metadata): \"rdma-provision "
		       "plan\" shows what it was asked and what it answered.";
	if (c->route.manage && c->route.address == ADDRESS_STATIC)
		return "It is set by StaticAddress= in a section of this NIC ([Route] "
		       "Address=static).";
	if (pci_is_erdma(d->pci))
		return "The eRDMA controller gives it before the interface is up; set [Route] "
		       "Address=metadata, or configure the interface in the network manager of the "
		       "node. If Terway has the interface, its addresses are those of pods: "
		       "exclude it by eni_tag_filter.";
	return NULL;
}

/* Judges an active port of Ethernet. */
static enum reason judge_address(const struct config *c, const struct plan *p, struct device *d,
				 const struct port *port)
{
	const bool is_without = ibdev_lacks_mad(d->ibdev); /* its GID is of no address */
	const bool is_ipv6 = c->route.manage && c->route.ipv6 == IPV6_RA && !pci_is_erdma(d->pci) &&
			     guard_may(d, GUARD_ROUTES);

	if (!is_without && !is_gid_ready(p->graph.n, d, port)) {
		d->is_backup = is_backup(p->graph.n, d);
		return d->is_backup ? REASON_NONE : REASON_NO_GID;
	}
	if (!is_without && is_ipv6 && !has_ipv6_gid(p, d, port))
		return REASON_NO_IPV6_GID;
	if (!d->needs_address || has_address(p, d, is_without ? NULL : port))
		return REASON_NONE;
	d->is_backup = is_backup(p->graph.n, d);
	if (d->is_backup)
		return REASON_NONE;
	if (has_address(p, d, NULL)) /* for a moment: route/address-plan.c */
		return REASON_GID_PENDING;
	d->advice = who_gives(c, d);
	return REASON_NO_ADDRESS;
}

/* The best reason over all ports: one good port makes a device usable. */
static enum reason judge_ports(const struct config *c, const struct node *n, const struct plan *p,
			       struct device *d)
{
	enum reason worst = REASON_PORT_DOWN;
	const struct ibdev *ib = d->ibdev;

	for (size_t i = 0; i < ib->n_ports; i++) {
		const struct port *port = &ib->ports[i];

		if (!streq(port->state, "ACTIVE")) {
			if (worst != REASON_PORT_DOWN || d->advice) /* a cause was seen */
				continue;
			snprintf(d->detail, sizeof(d->detail), "%s port %" PRIu32 " is %s",
				 ib->name, port->number,
				 port->state[0] ? port->state : "unreadable");
			d->advice = find_port_cause(n, d, i == 0 ? d->netdev : NULL, port,
						    d->detail, sizeof(d->detail));
			continue;
		}
		/* InfiniBand has its GID from the fabric. */
		d->advice = NULL;
		worst = streq(port->link_layer, "Ethernet") ? judge_address(c, p, d, port)
							    : REASON_NONE;
		if (worst == REASON_NONE) {
			d->detail[0] = '\0';
			return REASON_NONE;
		}
		snprintf(d->detail, sizeof(d->detail), "%s port %" PRIu32 ", netdev %s", ib->name,
			 port->number, d->netdev_name[0] ? d->netdev_name : "not known");
	}
	return worst;
}

/* A driver removes ibdev and netdev when the firmware fails: mlx5_error_sw_reset(),
 * mlx5_unload_one() in .../mlx5/core. With either left, an error does not concern users. */
static bool has_failed(const struct node *n, const struct pci *pci)
{
	return pci && pci->health[0] && !node_ibdev_of(n, pci->address) &&
	       !node_netdev_of(n, pci->address);
}

static enum reason say_failed(const struct pci *pci, struct device *d)
{
	snprintf(d->detail, sizeof(d->detail), "devlink health reporter of %s in error state: %s",
		 pci->address, pci->health);
	return REASON_PF_SICK;
}

/* A VF of the sriov plugin is brought up by a CNI, in a pod: until then only its PF can tell, and
 * what its PF has set for it. */
static enum reason judge_pf(const struct node *n, struct device *d)
{
	const struct vf_info *info = node_vf_info(n, d->pci->physfn, d->pci->vf_index);
	const struct ibdev *ib = node_ibdev_of(n, d->pci->physfn);
	const struct netdev *nd = node_netdev_of(n, d->pci->physfn);
	const struct pci *pf = node_pci(n, d->pci->physfn);
	const bool is_pf_up = ib ? ibdev_is_active(ib) : nd && nd->is_up && nd->has_carrier;
	char cause[192] = "";

	if (is_pf_up && !(info && info->link_state == IFLA_VF_LINK_STATE_DISABLE))
		return REASON_NONE;
	if (has_failed(n, pf))
		return say_failed(pf, d);
	d->advice = find_port_cause(n, d, NULL, ib && ib->n_ports > 0 ? &ib->ports[0] : NULL, cause,
				    sizeof(cause));
	if (is_pf_up || strstr(cause, "of its physical function"))
		COPY(d->detail, cause);
	else
		snprintf(d->detail, sizeof(d->detail), "of its physical function %s%s%s",
			 d->pci->physfn, cause[0] ? ": " : "", cause);
	return REASON_PORT_DOWN;
}

const struct device *judge_pf_of(const struct plan *p, const struct device *d)
{
	if (!d->is_vf)
		return NULL;
	while (d > p->devices && d->is_vf)
		d--;
	return d;
}

/*
 * Is the card in DPU mode? The driver of the PF reports nothing of its VFs either, so nothing may
 * have been tried: mlx5e_get_vf_config() in .../mlx5/core/en_main.c gives the EPERM of
 * mlx5_eswitch_get_vport().
 */
bool plan_refuses_settings(const struct node *n, const struct device *d)
{
	const struct pci *pf = d->is_vf ? node_pci(n, d->pci->physfn) : d->pci;

	return d->unsupported & VF_SETTING_REFUSED ||
	       (pf && pf->has_silent_vfs && streq(pf->driver, "mlx5_core"));
}

/* Source: NVIDIA BlueField BSP, "Controlling Host PF and VF Parameters". */
static enum reason say_zero_guid(const struct node *n, struct device *d)
{
	COPY(d->detail, d->ibdev->name);
	if (d->is_vf && plan_refuses_settings(n, d))
		d->advice = "The card lets the host set nothing of its VFs, as a BlueField in DPU "
			    "mode does. Set the MAC on the system of the card (\"echo MAC "
			    ">/sys/class/net/p0/smart_nic/vfN/mac\"), then rebind the driver of "
			    "the virtual function here.";
	return REASON_ZERO_GUID;
}

enum reason judge_device(const struct config *c, const struct node *n, const struct memory *memory,
			 const struct plan *p, struct device *d)
{
	const struct device *pf = judge_pf_of(p, d);
	const struct ibdev *ib = d->ibdev;

	d->needs_address = needs_address(c, d);
	/* The driver of the device hangs, so that no user may count on it. */
	if (streq(memory->stuck, d->pci->address)) {
		COPY(d->detail, memory->stuck_sec > 0 ? "" : "a write to it never came back");
		return memory->stuck_sec > 0 ? REASON_VF_CHANGING : REASON_PCI_STUCK;
	}
	if (!d->pci->driver[0] && pf && pf->sick[0]) {
		COPY(d->detail, pf->sick);
		return REASON_PF_SICK;
	}
	/* Most kernels do not have the one driver of eRDMA: it is known by its PCI id. */
	if (pci_is_erdma(d->pci) && !d->pci->driver[0] && !d->pci->module[0] &&
	    !n->is_dkms_building) {
		COPY(d->detail, ERDMA_MODULE);
		return REASON_MODULE_MISSING;
	}
	if (!d->pci->driver[0]) {
		COPY(d->detail, d->pci->module);
		return REASON_NO_DRIVER;
	}
	if (has_failed(n, d->pci))
		return say_failed(d->pci, d);
	/* The netdev of InfiniBand is ib_ipoib's, which need not be loaded. */
	if (d->is_vf && d->pci->is_without_netdev && !(ib && node_is_infiniband(n, d->pci))) {
		const struct device_memory *m = memory_device(memory, d->pci->address);

		snprintf(d->detail, sizeof(d->detail), "%s is in no network namespace",
			 m ? m->netdev : "its netdev");
		return REASON_VF_ORPHAN;
	}
	if (!ib && judge_is_part_of_lag(n, d->pci)) {
		snprintf(d->detail, sizeof(d->detail), "%s is a port of %s", d->netdev_name,
			 d->bond->name);
		return REASON_PORT_OF_LAG;
	}
	if (!ib)
		return REASON_NO_IBDEV;
	if (guid_is_unset(ib->node_guid) && !ibdev_lacks_mad(ib))
		return say_zero_guid(n, d);
	if (d->is_vf && d->config->identity == IDENTITY_DERIVED &&
	    identity_is_other(n, p, d->pci, d->netdev, ib, d->detail, sizeof(d->detail)))
		return REASON_VF_IDENTITY;
	d->detail[0] = '\0';
	if (!ib->uverbs[0])
		return REASON_NO_UVERBS;
	if (!n->has_rdma_cm)
		return REASON_NO_RDMA_CM;
	/* The shared plugin drops a device without umad in any case. */
	if (!ib->umad[0] && (!ibdev_lacks_mad(ib) || c->plugin.type == PLUGIN_RDMA_SHARED))
		return reason_without_umad(c, n, d->pci);
	if (ib->verbs < 0) {
		snprintf(d->detail, sizeof(d->detail), "%s: %s", ib->name, strerror(-ib->verbs));
		return REASON_VERBS_FAILED;
	}
	return d->is_vf && plugin_gives_vfs(c->plugin.type) ? judge_pf(n, d)
							    : judge_ports(c, n, p, d);
}

bool judge_is_bound_again(const struct pci *pci, const struct device_memory *m)
{
	return m->usable_instance > 0 && pci->instance > 0 && m->usable_instance != pci->instance;
}

bool judge_is_in_pod(const struct node *n, const struct device *d, const struct device_memory *m)
{
	if (!m || !m->was_usable || !d->pci->driver[0] || judge_is_bound_again(d->pci, m) ||
	    has_failed(n, d->pci))
		return false;
	/* In no namespace; the netdev of eRDMA is another function's. */
	if (d->pci->is_searched && !d->pci->is_away && !pci_is_erdma(d->pci))
		return false;
	if (m->netdev[0] && !d->netdev)
		return !d->pci->is_without_netdev;
	/* A port of a bond is here: the ports of a card share one RDMA device, which comes later.
	 */
	return !d->ibdev && !d->bond && !m->was_virtual && n->netns_mode == NETNS_MODE_EXCLUSIVE;
}

uint32_t judge_unsupported(const struct node *n, const struct device_memory *m,
			   const struct plan *p, const struct pci *pf)
{
	uint32_t bits = m ? m->unsupported : 0, refused = 0, done = 0;
	size_t at = SIZE_MAX;
	const struct action *a = NULL;

	while ((a = attempts_next_of_vfs(p->tried, n, pf->address, &at, a))) {
		bits |= action_unsupported_setting(a);
		/*
		 * In DPU mode the eswitch belongs to the card's own processors, and the host's PF
		 * may set nothing of its VFs: mlx5_eswitch_get_vport() in .../mlx5/core/eswitch.c
		 * gives EPERM or EINVAL, the firmware EREMOTEIO.
		 */
		if (streq(pf->driver, "mlx5_core") && a->is_done && a->verb != VERB_SET_MTU &&
		    (a->result == -EPERM || a->result == -EINVAL || a->result == -EREMOTEIO))
			refused |= verb_vf_setting(a->verb);
		if (a->is_done && a->result >= 0)
			done |= verb_vf_setting(a->verb);
	}
	/* A setting that another VF of the PF took is supported, and only failed here. */
	refused &= ~done;
	return bits | refused | (refused ? VF_SETTING_REFUSED : 0);
}

static bool has_bound_vf(const struct node *n, const struct pci *pf)
{
	size_t at = SIZE_MAX, i;

	while ((i = node_next(n, NODE_INDEX_VF, pf->address, &at)) != SIZE_MAX)
		if (n->pcis[i].driver[0])
			return true;
	return false;
}

void judge_sick(const struct node *n, const struct device_memory *m, const struct plan *p,
		struct device *d)
{
	const struct action *t = NULL;
	size_t at = SIZE_MAX;

	while ((t = attempts_next_of_vfs(p->tried, n, d->pci->address, &at, t))) {
		if (!action_is_bad_bind(t))
			continue;
		if (t->took_usec <= SLOW_BIND_USEC) {
			if (!has_bound_vf(n, d->pci))
				snprintf(d->sick, sizeof(d->sick), "%.19s could not be bound",
					 t->target);
			continue;
		}
		snprintf(d->sick, sizeof(d->sick), "binding %.19s %s %" PRIu64 " s", t->target,
			 t->result == -ETIMEDOUT ? "did not end in"
			 : t->result < 0         ? "failed after"
						 : "took",
			 t->took_usec / USEC_PER_SEC);
		d->is_sick_long = true;
		d->sick_pid = t->pid;
		return;
	}
	/* A start, a reload or "apply" tries the VFs again, unless the kernel is still at it. */
	if (!m || !m->sick[0] || m->instance != d->pci->instance ||
	    (p->tried && p->tried->is_first && m->sick_pid == 0))
		return;
	COPY(d->sick, m->sick);
	d->is_sick_long = true;
	d->sick_pid = m->sick_pid;
}

/* --- what stands behind a catch-all reason: each gives a name for its words, or NULL --- */

static const struct module *part_of(const struct node *n, const struct pci *pci)
{
	const struct rdma_part *part = rdma_part_of(pci->driver);

	return part ? node_module(n, part->module) : NULL;
}

static const char *unloaded_part(const struct node *n, const struct pci *pci)
{
	const struct module *m = part_of(n, pci);

	return m && !module_is_in_kernel(m) && !node_ibdev_of(n, pci->address) ? m->name : NULL;
}

static const char *loaded_part(const struct node *n, const struct pci *pci)
{
	const struct module *m = part_of(n, pci);

	return m && module_is_in_kernel(m) && !pci->health[0] && !pci->unreadable[0] &&
			       !node_ibdev_of(n, pci->address)
		       ? m->name
		       : NULL;
}

/* The RDMA device is all that such a card has. */
static const char *loaded_part_of_infiniband(const struct node *n, const struct pci *pci)
{
	return pci->class >> 8 == CLASS_INFINIBAND ? loaded_part(n, pci) : NULL;
}

static const char *reporter(const struct node *n _unused_, const struct pci *pci)
{
	return pci->health[0] ? pci->health : NULL;
}

static const char *container(const struct node *n, const struct pci *pci)
{
	return vf_precheck_is_container(n, pci) ? "" : NULL;
}

/* @type: NULL: any, of which a copy has all that is judged */
static bool has_gid(const struct ibdev *ib, const char *type)
{
	for (size_t p = 0; p < ib->n_ports; p++)
		if (ANY(g, ib->ports[p].gids, ib->ports[p].n_gids,
			type ? streq(g->type, type) : g->type[0] && g->netdev[0]))
			return true;
	return false;
}

/* The function's folder (is_away) shows it, in a capture that namespaces have names, or that a port
 * has GIDs, as it has of a netdev alone, wherever that is: ib_cache_gid_set_default_gid(). */
static const char *namespace_of(const struct node *n, const struct pci *pci)
{
	const struct ibdev *ib;
	bool lacks_netdev;

	if (!pci->driver[0] || pci->health[0] || n->is_copy || (pci->is_searched && !pci->is_away))
		return NULL;
	ib = node_ibdev_of(n, pci->address);
	lacks_netdev = pci->class >> 8 == CLASS_ETHERNET && !node_netdev_of(n, pci->address) &&
		       !pci_lacks_netdev(pci);
	if (!(lacks_netdev || (n->netns_mode == NETNS_MODE_EXCLUSIVE && !ib)) ||
	    !(pci->is_away || n->n_netnses > 0 || (ib && has_gid(ib, GID_ROCE_V2))))
		return NULL;
	return n->n_netnses == 1 ? n->netnses[0].name : "see \"ip netns\" and \"lsns -t net\"";
}

/* A netdev is down after it was moved, and no VF has a link then. */
static const char *namespace_of_pf(const struct node *n, const struct pci *pci)
{
	const struct pci *pf = pci->physfn[0] ? node_pci(n, pci->physfn) : NULL;

	return pf ? namespace_of(n, pf) : NULL;
}

/* uio_pci_generic and igb_uio are those of DPDK. */
static const char *foreign_driver(const struct node *n _unused_, const struct pci *pci)
{
	return in_use_is_vfio(pci) || strstr(pci->driver, "uio") || pci->has_other_driver
		       ? pci->driver
		       : NULL;
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

static const char *driver_of_parameter(const struct node *n _unused_, const struct pci *pci)
{
	return quirk_has(pci, QUIRK_VFS_BY_PARAMETER) ? "" : NULL;
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

static const char *driver_loaded(const struct node *n, const struct pci *pci)
{
	const struct module *m = node_module(n, pci->module);

	return m && module_is_in_kernel(m) ? m->name : NULL;
}

/* A copy may be without modules.alias. */
static const char *no_module(const struct node *n, const struct pci *pci)
{
	return pci->module[0] || n->is_copy ? NULL : "";
}

/* The driver of eRDMA has the netdev of another function, by its MAC. */
static const char *interface_of_erdma(const struct node *n, const struct pci *pci)
{
	const struct ibdev *ib = node_ibdev_of(n, pci->address);

	return pci_is_erdma(pci) && ib && !ib->netdev[0] && !n->is_copy ? "" : NULL;
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
			       !node_netdev_of(n, pci->address) && !pci_lacks_netdev(pci)
		       ? pci->driver
		       : NULL;
}

static const char *driver_without_part(const struct node *n _unused_, const struct pci *pci)
{
	return rdma_part_of(pci->driver) ? NULL : pci->driver;
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

static const char *empty_table_of_mlx5(const struct node *n, const struct pci *pci)
{
	return driver_of_mlx5(n, pci) ? empty_table(n, pci) : NULL;
}

/* A copy with no RDMA device, of any function, was made without them. One that was made in another
 * network namespace, as that of a pod, has other netdevs than the function's. */
static const char *missing(const struct node *n, const struct pci *pci, enum reason of)
{
	const struct ibdev *ib = node_ibdev_of(n, pci->address);
	const bool lacks_netdev = n->n_netdevs == 0 || (pci->class >> 8 == CLASS_ETHERNET &&
							!node_netdev_of(n, pci->address));
	const char *kind = n->n_ibdevs == 0 ? "RDMA devices"
			   : lacks_netdev   ? "network devices"
					    : NULL;

	if (of == REASON_NO_ADDRESS)
		return n->lacks_net ? "addresses" : NULL;
	/* The port of eRDMA follows the netdev of another function. */
	if (of == REASON_PORT_DOWN && n->is_copy && n->n_netdevs == 0 && pci_is_erdma(pci))
		return kind;
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
	case REASON_NO_UMAD:
		return "character devices";
	case REASON_NONE:
		return ib && !ANY(t, ib->ports, ib->n_ports, t->link_layer[0])
			       ? "the kind of its ports"
			       : NULL;
	case REASON_NO_GID:
		return kind ?: ib && !has_gid(ib, NULL) ? "GIDs" : NULL;
	case REASON_PF_SICK:
	case REASON_NO_IBDEV:
		return pci->driver[0] && !in_use_is_vfio(pci) ? kind : NULL;
	default:
		return NULL;
	}
}

static const char *device_without_mad(const struct node *n, const struct pci *pci)
{
	const struct ibdev *ib = node_ibdev_of(n, pci->address);

	return pci_is_erdma(pci) || (ib && ibdev_lacks_mad(ib)) ? "" : NULL;
}

#define FOREIGN_DRIVER                                                                             \
	foreign_driver, "it is bound to %s",                                                       \
		"Leave the function out of Match=, or bind it to its own driver."
/* tout_def_sw_val[] in .../mlx5/core/lib/tout.c: the firmware has two minutes to start. */
#define NO_NETDEV                                                                                  \
	driver_without_netdev, "%s is bound, but has no network device here",                      \
		"The driver may still wait for the card to start, mlx5_core for two minutes. "     \
		"Then look in \"dmesg\" for the PCI address, and at \"devlink dev param show "     \
		"pci/ADDRESS name enable_eth\": with false there is no network device. The "       \
		"service tries again when something changes."

#define WITHOUT_RDMA                                                                               \
	"%s is loaded, and has made none",                                                         \
		"Look in \"dmesg\" for the PCI address, and at \"devlink dev param show "          \
		"pci/ADDRESS\": with enable_rdma or enable_roce false there is none, nor on a "    \
		"card without RDMA."

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
	{ REASON_PF_SICK, REASON_NO_IBDEV, loaded_part_of_infiniband, WITHOUT_RDMA },
	{ REASON_PORT_DOWN, REASON_IN_NETNS, namespace_of, "network namespaces: %s", NULL },
	{ REASON_PORT_DOWN, REASON_PORT_DOWN, NO_NETDEV },
	{ REASON_PORT_DOWN, REASON_IN_NETNS, namespace_of_pf,
	  "of its physical function, network namespaces: %s", NULL },
	{ REASON_PORT_DOWN, REASON_IN_NETNS, interface_of_erdma,
	  "the network interface of the ENI, which the port follows", NULL },
	{ REASON_NO_IBDEV, REASON_NO_IBDEV, FOREIGN_DRIVER },
	{ REASON_NO_IBDEV, REASON_DRIVER_CONTAINER, container, NULL, NULL },
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
	{ REASON_NO_IBDEV, REASON_NO_IBDEV, reporter, "devlink health reporter in error state: %s",
	  "Look in \"dmesg\" for the PCI address, and at \"devlink health show pci/ADDRESS\". "
	  "Where that is of an error of long ago: with the devlink parameter enable_rdma or "
	  "enable_roce false there is no RDMA device either." },
	{ REASON_NO_IBDEV, REASON_NO_IBDEV, loaded_part, WITHOUT_RDMA },
	{ REASON_NO_DRIVER, REASON_DRIVER_CONTAINER, container, NULL, NULL },
	{ REASON_NO_DRIVER, REASON_NO_DRIVER, driver_override, "its driver_override is %s",
	  "No other driver is bound while it is set. Clear it where it was set (\"driverctl "
	  "unset-override ADDRESS\", a udev rule, an operator), or leave the function out of "
	  "Match=." },
	{ REASON_NO_DRIVER, REASON_NO_DRIVER, driver_unloaded, "%s is not loaded",
	  "\"rdma-provision plan\" says what keeps the module from being loaded." },
	{ REASON_NO_DRIVER, REASON_AUTOPROBE_OFF, pf_without_autoprobe, "of %s", NULL },
	{ REASON_NO_DRIVER, REASON_NO_DRIVER, driver_loaded, "%s is loaded, and does not drive it",
	  NULL },
	{ REASON_NO_DRIVER, REASON_NO_DRIVER, no_module, "no installed module claims it",
	  "Install the package that has its driver for this kernel (see uname -r): "
	  "linux-modules-extra (Ubuntu), kernel-modules-extra (RHEL, Alibaba Cloud Linux, Fedora) "
	  "or the vendor's driver. Where the driver is built in, see its error in \"dmesg\"." },
	{ REASON_NO_UMAD, REASON_NO_UMAD, device_without_mad, NULL,
	  "Devices of iWARP and EFA have none, and this plugin cannot hand them out: use "
	  "[DevicePlugin] Type=hca or dranet. eRDMA has one in compat mode, where ib_umad is "
	  "loaded "
	  "and the driver was built with MAD." },
	{ REASON_NO_GID, REASON_IN_NETNS, namespace_of, "network namespaces: %s", NULL },
	{ REASON_NO_GID, REASON_NO_GID, NO_NETDEV },
	{ REASON_NO_GID, REASON_NO_GID, empty_table_of_mlx5, "the GID table of %s is empty",
	  "RoCE may be switched off: see \"devlink dev param show pci/ADDRESS name enable_roce\". "
	  "If it is false, set it to true and run \"devlink dev reload\"." },
	{ REASON_NO_GID, REASON_NO_GID, empty_table, "the GID table of %s is empty",
	  "Leave the function out of Match= if this device has none, as mana's own." },
	{ REASON_NO_GID, REASON_NO_GID, device_of_v1, "%s has RoCE v1 alone",
	  "Leave the function out of Match= if its card has no RoCE v2, as ConnectX-3 without "
	  "Pro." },
	{ REASON_ZERO_GUID, REASON_ZERO_GUID, vf_of_guest, NULL, NULL },
	{ REASON_ZERO_GUID, REASON_ZERO_GUID, NULL, NULL,
	  "The GUID of a physical function is that of the card: compare it with what the vendor's "
	  "tool shows (mlx5: \"mstflint -d ADDRESS query\"), and set it there." },
	{ REASON_VF_DRIVER, REASON_VF_DRIVER, driver_of_parameter, NULL,
	  "Set the options num_vfs= and probe_vf= of mlx4_core in /etc/modprobe.d to the number of "
	  "Count=, or to 0 with VirtualFunctions=exclusive; then load the driver again, or "
	  "reboot." },
	{ REASON_NO_SRIOV, REASON_NO_SRIOV, vf_of_guest, NULL,
	  "It is a virtual function itself, of a card of the host: use "
	  "VirtualFunctions=exclusive." },
	{ REASON_NO_SRIOV, REASON_NO_SRIOV, driver_of_mlx5, NULL,
	  "In a virtual machine use VirtualFunctions=exclusive: its host has the virtual "
	  "functions. Else enable SR-IOV in the card's firmware (mstconfig SRIOV_EN=1 and "
	  "NUM_OF_VFS) and in the BIOS, then power cycle." },
};

enum reason judge_cause(const struct node *n, const struct pci *pci, enum reason of, char *detail,
			size_t size, const char **ret_advice)
{
	const char *lacking = missing(n, pci, of);

	if (lacking) {
		snprintf(detail, size, "%s", lacking);
		return REASON_NOT_RECORDED;
	}
	FOREACH(it, evidence, ELEMENTSOF(evidence)) {
		const char *name = it->of != of ? NULL : it->seen ? it->seen(n, pci) : "";

		if (!name)
			continue;
		if (it->words)
			snprintf(detail, size, it->words, name);
		if (it->advice)
			*ret_advice = it->advice;
		return it->reason;
	}
	return of;
}
