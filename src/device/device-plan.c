/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device: which functions are managed, which are handed out, and what each is worth: the definition
 * of usable. It adds no action: what is to be done about one that is not is pass/node-state-plan.c,
 * and what else a NIC lacks the other files of this folder.
 */
#include "../guard/guard-rules.h"
#include "../guard/vf-precheck-rules.h"
#include "../model/in-use.h"
#include "../model/ip.h"
#include "../model/module-options.h"
#include "../step/identity-rules.h"
#include "../step/steps.h"
#include "cause-rules.h"

#include <fnmatch.h>
#include <linux/if_link.h>
#include <sys/socket.h>

static const struct netdev *netdev_of(const struct node *n, const struct pci *pci)
{
	const struct netdev *nd = node_netdev_of(n, pci->address);
	const struct ibdev *ib;

	if (nd || !pci_is_erdma(pci))
		return nd;

	/* The RDMA function and the netdev are two PCI devices. */
	ib = node_ibdev_of(n, pci->address);
	return ib ? node_netdev_named(n, ib->netdev) : NULL;
}

static void driver_name(const struct pci *pci, char *ret, size_t size)
{
	/* An unbound function matches the driver that its modalias resolves to. */
	copy(ret, size, pci->driver[0] ? pci->driver : pci->module);
}

/* Writes '_' for '-', except in ranges: "[a-z]". */
static void spell_as_module(char *name)
{
	bool is_in_brackets = false;

	for (; *name; name++) {
		if (*name == '[' || *name == ']')
			is_in_brackets = *name == '[';
		else if (*name == '-' && !is_in_brackets)
			*name = '_';
	}
}

/* Drivers may have '-' in their names ("xen-netfront"), which their modules spell '_'. */
static bool is_driver_match(const char *glob, const char *name)
{
	char module_glob[256], module[IBDEV_LEN];

	COPY(module_glob, glob);
	COPY(module, name);
	spell_as_module(module_glob);
	spell_as_module(module);
	return fnmatch(glob, name, 0) == 0 || fnmatch(module_glob, module, 0) == 0;
}

/* Did a section match another function by this name in this boot? That one keeps it. */
static bool is_name_of_other(const struct node *n, const struct memory *memory,
			     const struct pci *pci, const char *name)
{
	return ANY(d, memory->devices, memory->n_devices,
		   streq(d->matched, name) && !streq(d->pci, pci->address) && node_pci(n, d->pci));
}

/* Does one word of Match= ("driver:mlx5_core") fit? @kind is set to its kind. */
static bool is_word_match(const char *word, size_t len, const struct node *n,
			  const struct memory *memory, const struct pci *pci, size_t *kind)
{
	static const char *const kinds[] = { "pci:", "id:", "driver:", "netdev:", "ibdev:" };
	const struct netdev *nd = netdev_of(n, pci);
	const struct ibdev *ib = node_ibdev_of(n, pci->address);
	const struct device_memory *m = memory_device(memory, pci->address);
	char values[ELEMENTSOF(kinds)][IBDEV_LEN] = {};
	char pattern[256];

	if (len >= sizeof(pattern))
		return false;
	memcpy(pattern, word, len);
	pattern[len] = '\0';

	COPY(values[0], pci->address);
	snprintf(values[1], sizeof(values[1]), "%04x:%04x", pci->vendor, pci->device);
	driver_name(pci, values[2], sizeof(values[2]));
	COPY(values[3], nd && !is_name_of_other(n, memory, pci, nd->name) ? nd->name : "");
	COPY(values[4], ib ? ib->name : "");

	for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
		const char *glob = after(pattern, kinds[i]);

		if (!glob)
			continue;
		*kind = i;
		if (streq(kinds[i], "netdev:") && m && m->matched[0] &&
		    fnmatch(glob, m->matched, 0) == 0)
			return true;
		if (!values[i][0])
			return false;
		return streq(kinds[i], "driver:") ? is_driver_match(glob, values[i])
						  : fnmatch(glob, values[i], 0) == 0;
	}

	*kind = 0;
	return false;
}

/* Words of the same kind are alternatives; every kind that is named has to fit. */
bool plan_is_match(const char *match, const struct node *n, const struct memory *memory,
		   const struct pci *pci)
{
	unsigned named = 0, fits = 0;

	for (const char *word = match; word && *word;) {
		size_t len = strcspn(word, " \t"), kind = 0;
		bool fit;

		if (len > 0) {
			fit = is_word_match(word, len, n, memory, pci, &kind);
			named |= 1u << kind;
			fits |= fit ? 1u << kind : 0;
		}
		word += len;
		word += strspn(word, " \t");
	}

	return named != 0 && fits == named;
}

/*
 * Does a word name this very function? Globs match what an administrator may not have thought of.
 */
static bool is_named(const char *match, const struct node *n, const struct memory *memory,
		     const struct pci *pci)
{
	for (const char *word = match; word && *word;) {
		const size_t len = strcspn(word, " \t"), plain = strcspn(word, " \t*?[\\");
		size_t kind;

		if ((is_prefix(word, "pci:") || is_prefix(word, "netdev:")) && plain == len &&
		    is_word_match(word, len, n, memory, pci, &kind))
			return true;
		word += len;
		word += strspn(word, " \t");
	}
	return false;
}

/* The function of an eRDMA device's netdev has nothing of its own: netdev:eth1 means the eRDMA
 * function. */
static bool is_netdev_of_erdma(const struct node *n, const struct pci *pci)
{
	const struct netdev *nd = node_netdev_of(n, pci->address);

	for (size_t i = 0; nd && i < n->n_ibdevs; i++) {
		const struct pci *owner = node_pci(n, n->ibdevs[i].pci);

		if (owner && owner != pci && pci_is_erdma(owner) &&
		    streq(n->ibdevs[i].netdev, nd->name))
			return true;
	}
	return false;
}

/* Could the function be a NIC? A glob such as pci:* must not reach disks. */
static bool is_nic(const struct node *n, const struct pci *pci)
{
	if (pci->is_management)
		return false;
	if (node_ibdev_of(n, pci->address) || pci_is_erdma(pci))
		return true;
	return pci_is_network(pci) && !is_netdev_of_erdma(n, pci);
}

const struct device_config *plan_section_of(const struct config *c, const struct node *n,
					    const struct memory *memory, const struct pci *pci)
{
	if (!is_nic(n, pci))
		return NULL;
	return FIND(d, c->devices, c->n_devices, plan_is_match(d->match, n, memory, pci));
}

void plan_forget_names(const struct config *c, const struct node *n, struct memory *memory)
{
	for (size_t i = 0; i < memory->n_devices; i++) {
		struct device_memory *m = &memory->devices[i];
		const struct pci *pci = m->matched[0] ? node_pci(n, m->pci) : NULL;
		const struct device_config *dc = pci ? plan_section_of(c, n, memory, pci) : NULL;

		if (pci && !(dc && strstr(dc->match, "netdev:")))
			m->matched[0] = '\0';
	}
}

/*
 * Both ports of a mlx5 NIC in one bond share one ibdev, below the first port: the other port is
 * nothing by itself. Before that ibdev is made the ports lose their own ones, the first port first.
 * "mlx5_bond_%d" in drivers/infiniband/hw/mlx5/main.c; mlx5_do_bond() and mlx5_lag_remove_devices()
 * in .../mlx5/core/lag/lag.c
 */
static bool is_part_of_lag(const struct node *n, const struct pci *pci)
{
	const struct netdev *bond = node_bond_of(n, node_netdev_of(n, pci->address));
	size_t slot = strcspn(pci->address, ".") + 1;

	if (!bond || !streq(pci->driver, "mlx5_core") || node_ibdev_of(n, pci->address))
		return false;

	return ANY(nd, n->netdevs, n->n_netdevs,
		   nd->master == bond->ifindex && strncmp(nd->pci, pci->address, slot) == 0 &&
			   strcmp(nd->pci, pci->address) < 0 && node_ibdev_of(n, nd->pci));
}

/* The GIDs of a bonded port are of the bond, also where netlink names its slave. */
static bool is_gid_ready(const struct device *d, const struct port *port, bool is_ipv6)
{
	uint8_t bytes[16];

	for (size_t i = 0; i < port->n_gids; i++) {
		const struct gid *gid = &port->gids[i];

		if (is_ipv6 && (!gid_parse(gid->gid, bytes) || !gid_is_global_ipv6(bytes)))
			continue;
		if (streq(gid->type, GID_ROCE_V2) && gid->netdev[0] &&
		    (streq(gid->netdev, d->netdev_name) ||
		     (d->bond && streq(gid->netdev, d->bond->name))))
			return true;
	}
	return false;
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
	for (size_t i = 0; i < n->n_addresses; i++) {
		const struct address *a = &n->addresses[i];
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

/* Has another port of its bond the GIDs of the bond's address? The active port alone has them:
 * bond_delete_netdev_default_gids() in drivers/infiniband/core/roce_gid_mgmt.c. */
static bool is_backup(const struct node *n, const struct device *d)
{
	for (size_t i = 0; d->bond && i < n->n_netdevs; i++) {
		const struct ibdev *ib = n->netdevs[i].master == d->bond->ifindex
						 ? node_ibdev_of(n, n->netdevs[i].pci)
						 : NULL;

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
	const bool is_iwarp = streq(d->ibdev->node_type, "RNIC");
	const bool is_ipv6 = c->route.manage && c->route.ipv6 == IPV6_RA && !pci_is_erdma(d->pci);

	if (!is_iwarp && !is_gid_ready(d, port, false))
		return REASON_NO_GID;
	if (!is_iwarp && is_ipv6 && !is_gid_ready(d, port, true))
		return REASON_NO_IPV6_GID;
	/* iWARP has no GID of an address. */
	if (!d->needs_address || has_address(p, d, is_iwarp ? NULL : port))
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
			if (worst != REASON_PORT_DOWN)
				continue;
			snprintf(d->detail, sizeof(d->detail), "%s port %" PRIu32 " is %s",
				 ib->name, port->number,
				 port->state[0] ? port->state : "unreadable");
			d->advice = cause_of_port(n, d->pci, i == 0 ? d->netdev : NULL, port,
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
	d->advice = cause_of_port(n, d->pci, NULL, ib && ib->n_ports > 0 ? &ib->ports[0] : NULL,
				  cause, sizeof(cause));
	if (is_pf_up || strstr(cause, "of its physical function"))
		COPY(d->detail, cause);
	else
		snprintf(d->detail, sizeof(d->detail), "of its physical function %s%s%s",
			 d->pci->physfn, cause[0] ? ": " : "", cause);
	return REASON_PORT_DOWN;
}

/* The PF of a VF: the nearest preceding device that is not a VF. NULL for a PF. */
static const struct device *pf_of(const struct plan *p, const struct device *d)
{
	if (!d->is_vf)
		return NULL;
	while (d > p->devices && d->is_vf)
		d--;
	return d;
}

/* eRDMA has one driver, which most kernels do not have: it is known by its PCI id. */
static bool lacks_module(const struct node *n, const struct pci *pci)
{
	return pci_is_erdma(pci) && !pci->driver[0] && !pci->module[0] && !n->is_dkms_building;
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

/* The definition of a usable device, each condition in the order in which a driver fulfils them. */
static enum reason judge(const struct config *c, const struct node *n, const struct memory *memory,
			 const struct plan *p, struct device *d)
{
	const struct device *pf = pf_of(p, d);
	const struct ibdev *ib = d->ibdev;

	d->needs_address = needs_address(c, d);
	/* The driver of the device hangs, so that no user may count on it. */
	if (streq(memory->stuck, d->pci->address)) {
		COPY(d->detail, "a write to it never came back");
		return REASON_PCI_STUCK;
	}
	if (!d->pci->driver[0] && pf && pf->sick[0]) {
		COPY(d->detail, pf->sick);
		return REASON_PF_SICK;
	}
	if (lacks_module(n, d->pci)) {
		COPY(d->detail, ERDMA_MODULE);
		return REASON_MODULE_MISSING;
	}
	if (!d->pci->driver[0]) {
		snprintf(d->detail, sizeof(d->detail), "%s",
			 d->pci->module[0] || n->is_copy ? d->pci->module : "no module claims it");
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
	if (!ib && is_part_of_lag(n, d->pci)) {
		snprintf(d->detail, sizeof(d->detail), "%s is a port of %s", d->netdev_name,
			 d->bond->name);
		return REASON_PORT_OF_LAG;
	}
	if (!ib)
		return REASON_NO_IBDEV;
	if (guid_is_zero(ib->node_guid))
		return say_zero_guid(n, d);
	if (d->is_vf && d->config->identity == IDENTITY_DERIVED &&
	    identity_is_other(n, p, d->pci, d->netdev, ib, d->detail, sizeof(d->detail)))
		return REASON_VF_IDENTITY;
	d->detail[0] = '\0';
	if (!ib->uverbs[0])
		return REASON_NO_UVERBS;
	if (!n->has_rdma_cm)
		return REASON_NO_RDMA_CM;
	/* iWARP has no management datagrams, but the shared plugin drops a device without umad. */
	if (!ib->umad[0] && (!streq(ib->node_type, "RNIC") || c->plugin.type == PLUGIN_RDMA_SHARED))
		return reason_without_umad(c, n, d->pci);
	if (ib->verbs < 0) {
		snprintf(d->detail, sizeof(d->detail), "%s: %s", ib->name, strerror(-ib->verbs));
		return REASON_VERBS_FAILED;
	}
	return d->is_vf && plugin_gives_vfs(c->plugin.type) ? judge_pf(n, d)
							    : judge_ports(c, n, p, d);
}

/* Was the function bound again? Then its driver makes its devices here, but has not yet. */
static bool is_bound_again(const struct pci *pci, const struct device_memory *m)
{
	return m->usable_instance > 0 && pci->instance > 0 && m->usable_instance != pci->instance;
}

/*
 * A bound function whose netdev left for another namespace after it was usable in this boot; in
 * exclusive netns mode its ibdev alone may have left.
 */
static bool is_in_pod(const struct node *n, const struct device *d, const struct device_memory *m)
{
	if (!m || !m->was_usable || !d->pci->driver[0] || is_bound_again(d->pci, m) ||
	    has_failed(n, d->pci))
		return false;
	if (m->netdev[0] && !d->netdev)
		return !d->pci->is_without_netdev;
	return !d->ibdev && !m->was_virtual && n->netns_mode == NETNS_MODE_EXCLUSIVE;
}

/*
 * In DPU mode the eswitch belongs to the card's own processors, and the host's PF may set nothing
 * of its VFs: mlx5_eswitch_get_vport() in .../mlx5/core/eswitch.c gives EPERM or EINVAL, the
 * firmware EREMOTEIO.
 */
static bool is_refused(const struct pci *pf, const struct action *a)
{
	return streq(pf->driver, "mlx5_core") && a->is_done && a->verb != VERB_SET_MTU &&
	       (a->result == -EPERM || a->result == -EINVAL || a->result == -EREMOTEIO);
}

/* Settings that were tried on a VF of this PF, in this pass or, as remembered, in this boot. */
static uint32_t find_unsupported(const struct node *n, const struct memory *memory,
				 const struct pci *pf)
{
	const struct device_memory *m = memory_device(memory, pf->address);
	uint32_t bits = m ? m->unsupported : 0, refused = 0, done = 0;
	size_t at = SIZE_MAX;
	const struct action *a = NULL;

	while ((a = attempts_next_of_vfs(memory->tried, n, pf->address, &at, a))) {
		bits |= action_unsupported_setting(a);
		if (is_refused(pf, a))
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

/*
 * A VF among a hundred may fail by itself. When the first VF fails, or one is so slow that all of
 * them would take up the boot, the other VFs of the PF are left.
 */
static void find_sick(const struct node *n, const struct memory *memory, struct device *d)
{
	const struct device_memory *m = memory_device(memory, d->pci->address);

	const struct action *t = NULL;
	size_t at = SIZE_MAX;

	while ((t = attempts_next_of_vfs(memory->tried, n, d->pci->address, &at, t))) {
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
	    (memory->tried && memory->tried->is_first && m->sick_pid == 0))
		return;
	COPY(d->sick, m->sick);
	d->is_sick_long = true;
	d->sick_pid = m->sick_pid;
}

/* --- what is left to the host --- */

bool plan_carries_node(const struct device *d)
{
	return d->need && !d->need->is_by_vf;
}

static bool has_vf_wish(const struct device_config *dc)
{
	return dc->mode == VF_MODE_SHARED || dc->mode == VF_MODE_SHARED_MULTI;
}

/*
 * With a type that moves the netdev nothing is handed out that carries the node or that the host
 * uses. The other types share the RDMA device, and move nothing.
 */
static enum reason find_aside(const struct config *c, const struct device *d)
{
	if (!plugin_moves_netdev(c->plugin.type) || guard_may(d, GUARD_MOVE))
		return REASON_NONE;
	if (d->has_vf_mode) /* VFs that exist, also of a PF that the node needs */
		return d->need && !d->is_named && d->pci->num_vfs == 0 ? guard_reason(d->need)
								       : REASON_NONE;
	return guard_reason(d->need);
}

static void add_word(char *list, size_t size, bool is_true, const char *word)
{
	const size_t len = strlen(list);

	if (is_true)
		snprintf(list + len, size - len, "%s%s", len > 0 ? ", " : "", word);
}

/* Lists the settings of its section or [Route] that the device does not get. */
static void list_left_out(const struct config *c, const struct device *d, char *ret, size_t size)
{
	const bool is_free = d->need && !d->is_named;
	const uint32_t want = d->is_vf ? UINT32_MAX : plan_wanted_vfs(d->config, d->pci);

	ret[0] = '\0';
	add_word(ret, size, is_free && want != UINT32_MAX && want != d->pci->num_vfs,
		 "VirtualFunctions=");
	add_word(ret, size,
		 is_free && (!d->is_vf || d->is_handed_out) && d->netdev && d->config->mtu > 0 &&
			 d->config->mtu != d->netdev->mtu,
		 "MTU=");
	add_word(ret, size, plan_carries_node(d) && d->netdev && c->route.manage, "[Route]");
	add_word(ret, size, d->is_vf && d->aside != REASON_NONE, "[DevicePlugin] Type=sriov");
}

/* Reports each function once, as a hint, for a glob may well match it by chance. */
static int tell_aside(const struct config *c, const struct node *n, struct plan *p,
		      const struct device *d)
{
	const enum reason reason = d->need ? guard_reason(d->need) : d->aside;
	const bool is_waiting = d->need && d->need->why == NEED_WAITING;
	char detail[448], left_out[96];

	if (plugin_moves_netdev(c->plugin.type) && d->use == DEVICE_ADDRESSED && d->is_handed_out)
		return plan_add_hint(p, REASON_PORT_ADDRESSED, d->pci->address, "%s", d->used_by);
	list_left_out(c, d, left_out, sizeof(left_out));
	if (reason == REASON_NONE || d->is_in_pod || (!left_out[0] && d->aside == REASON_NONE))
		return 0;
	if (!d->is_vf && plan_vf_of_node(n, p, d)) /* the refused change reports it */
		return 0;

	if (d->aside != REASON_NONE)
		plan_describe_aside(p, d, detail, sizeof(detail));
	else
		plan_describe_need(d->need, detail, sizeof(detail));
	if (left_out[0])
		snprintf(detail + strlen(detail), sizeof(detail) - strlen(detail), "; left out: %s",
			 left_out);
	if (!is_waiting && !d->is_asked_for)
		return plan_add_hint(p, reason, d->pci->address, "%s", detail);

	return plan_add_item(p, STEP_PLUGIN, VERB_WAIT, is_waiting ? CLASS_WAITING : CLASS_REFUSED,
			     d->pci->address, reason, "%s", detail);
}

static bool gives_nothing(const struct memory *memory, const struct plan *p, const struct device *d)
{
	char detail[GATE_DETAIL_LEN];
	enum class class;

	return d->has_vf_mode && d->pci->num_vfs == 0 && d->wanted_vfs != UINT32_MAX &&
	       d->wanted_vfs > 0 &&
	       vf_obstacle(p, memory, d->pci, d->wanted_vfs, &class, detail, sizeof(detail)) !=
		       REASON_NONE &&
	       class == CLASS_IMPOSSIBLE;
}

/* A PF that is to have VFs is no stand-in for them, whatever keeps them from being made. */
static void hand_out(const struct config *c, const struct node *n, const struct plan *p,
		     struct device *d)
{
	const bool is_meant =
		d->is_vf ? pf_of(p, d)->has_vf_mode : !d->has_vf_mode && !is_part_of_lag(n, d->pci);

	if (is_meant || !d->is_vf) /* VFs of others are not handed out in any case */
		d->aside = find_aside(c, d);
	d->is_handed_out = is_meant && d->aside == REASON_NONE && !d->is_foreign;
}

static int add_device(const struct config *c, const struct node *n, const struct memory *memory,
		      struct plan *p, const struct pci *pci, const struct device_config *dc)
{
	const struct device_memory *m = memory_device(memory, pci->address);
	struct device *d = APPEND(p->devices, p->n_devices);

	if (!d)
		return -ENOMEM;
	d->pci = pci;
	d->netdev = netdev_of(n, pci);
	d->bond = node_bond_of(n, d->netdev);
	d->ibdev = node_ibdev_of(n, pci->address);
	d->config = dc;
	d->need = plan_need(p, pci->address);
	d->is_vf = pci->physfn[0];
	d->has_vf_mode = !d->is_vf && has_vf_wish(dc);
	d->is_by_name = !d->is_vf && strstr(dc->match, "netdev:");
	d->is_named = !d->is_vf && is_named(dc->match, n, memory, pci);
	d->is_in_pod = is_in_pod(n, d, m);
	guard_look(c, memory, p, d);
	d->wanted_vfs = d->is_vf || (d->need && !guard_may(d, GUARD_NUM_VFS))
				? UINT32_MAX
				: plan_wanted_vfs(dc, pci);
	d->unsupported = d->is_vf ? pf_of(p, d)->unsupported : find_unsupported(n, memory, pci);
	d->is_rebuilt = (m && m->was_rebuilt) ||
			attempts_find(memory->tried, VERB_REBIND_DRIVER, pci->address, pci->driver);
	if (!d->is_vf)
		find_sick(n, memory, d);
	/* The GIDs of a bonded port belong to the bond: what the ibdev calls its netdev counts. */
	COPY(d->netdev_name, d->ibdev && d->ibdev->netdev[0] ? d->ibdev->netdev
			     : d->netdev                     ? d->netdev->name
							     : "");
	COPY(d->ibdev_name, d->ibdev ? d->ibdev->name : "");
	d->gives_nothing = gives_nothing(memory, p, d);
	d->is_foreign = in_use_is_foreign(pci, d->detail, sizeof(d->detail));
	if (d->is_foreign) {
		d->is_in_pod = false;
		d->reason = REASON_VF_FOREIGN;
		return 0;
	}
	if (d->is_in_pod) {
		COPY(d->netdev_name, m->netdev);
		COPY(d->ibdev_name, m->ibdev);
		d->is_usable = true;
		d->reason = REASON_IN_POD;
		return 0;
	}

	d->reason = judge(c, n, memory, p, d);
	d->reason = cause_of_reason(n, pci, d->reason, d->detail, sizeof(d->detail), &d->advice);
	d->is_usable = d->reason == REASON_NONE;
	/* On its way into a pod, or back, a device is unusable for a moment: one look proves
	 * nothing. A device that was bound again was never usable. */
	d->is_lost =
		!d->is_usable && m && m->was_usable && !m->was_lost && !is_bound_again(d->pci, m);
	if (d->is_lost && m->netdev[0])
		COPY(d->netdev_name, m->netdev);
	return 0;
}

static int add_vfs(const struct config *c, const struct node *n, const struct memory *memory,
		   struct plan *p, const struct pci *pf, const struct device_config *dc)
{
	for (uint32_t i = 0, found = 0; found < pf->num_vfs && i < pf->total_vfs; i++) {
		const struct pci *vf = node_vf(n, pf->address, i);
		int r;

		if (!vf)
			continue;
		found++;
		r = add_device(c, n, memory, p, vf, dc);
		if (r < 0)
			return r;
	}
	return 0;
}

/* A section needs one NIC unless it says otherwise: having none is a reason of its own. */
static void add_missing(struct plan *p, const struct device_config *dc, uint32_t n_there)
{
	if (n_there > 0 || dc->expect > 1)
		p->n_missing += dc->expect - n_there;
	else if (!p->unmatched)
		p->unmatched = dc;
}

/* Expect= counts the PFs that each section matches. A PF that is left to the host counts. */
static void count_missing(const struct config *c, struct plan *p)
{
	for (size_t i = 0; i < c->n_devices; i++) {
		uint32_t n_there = 0, n_kept = 0;

		for (size_t k = 0; k < p->n_devices; k++) {
			const struct device *d = &p->devices[k];
			const bool is_match = !d->is_vf && d->config == &c->devices[i];

			n_there += is_match;
			n_kept += is_match && d->aside == REASON_NONE;
		}
		for (size_t k = 0; k < p->n_devices; k++) {
			struct device *d = &p->devices[k];

			d->is_asked_for |= !d->is_vf && d->config == &c->devices[i] &&
					   d->aside != REASON_NONE &&
					   (d->is_named || n_kept < c->devices[i].expect);
		}
		if (n_there < c->devices[i].expect)
			add_missing(p, &c->devices[i], n_there);
	}
}

/* A card that was pulled, or is being reset, has no function to look at: memory knows it. */
static void count_gone(const struct node *n, const struct memory *memory, struct plan *p)
{
	for (size_t i = 0; i < memory->n_devices; i++)
		p->n_gone += memory->devices[i].was_usable && !memory->devices[i].was_lost &&
			     !node_pci(n, memory->devices[i].pci);
}

int plan_devices(const struct config *c, const struct node *n, const struct memory *memory,
		 struct plan *p)
{
	int r = 0;

	for (size_t i = 0; i < n->n_pcis; i++) {
		const struct pci *pci = &n->pcis[i];
		const struct device_config *dc;

		if (pci->physfn[0])
			continue;
		dc = plan_section_of(c, n, memory, pci);
		if (!dc)
			continue;

		r = add_device(c, n, memory, p, pci, dc);
		if (r >= 0)
			r = add_vfs(c, n, memory, p, pci, dc);
		if (r < 0)
			return r;
	}

	plan_put_off(n, memory, p);
	for (size_t i = 0; i < p->n_devices; i++)
		hand_out(c, n, p, &p->devices[i]);
	count_missing(c, p);
	for (size_t i = 0; i < p->n_devices && r >= 0; i++)
		r = tell_aside(c, n, p, &p->devices[i]);
	count_gone(n, memory, p);
	return r;
}
