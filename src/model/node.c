/* SPDX-License-Identifier: Apache-2.0 */
#include "node.h"

#include "given.h"
#include "ip.h"
#include "metadata.h"
#include "module-options.h"
#include "route-facts.h"
#include "use-facts.h"
#include "vf-facts.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <fnmatch.h>
#include <linux/rtnetlink.h>

#define CLASS_NETWORK   0x02
#define CLASS_DISPLAY   0x03
#define ERDMA_VENDOR    0x1ded /* drivers/infiniband/hw/erdma/erdma_main.c */
#define ERDMA_DEVICE    0x107f
#define GPU_VENDOR      0x10de /* NVIDIA */
#define AMD_VENDOR      0x1002
#define GAUDI_VENDOR    0x1da3 /* Habana Labs */
#define IPOIB_MAC_CHARS (20 * 3 - 1)
#define PORT_GUID_CHARS (8 * 3 - 1)

size_t pci_address_len(const char *text)
{
	static const char form[] = "x:xx:xx.x";
	size_t n = 0;

	while (n < 7 && isxdigit((unsigned char)text[n]) && text[n + 1] != ':')
		n++;
	if (n < 3)
		return 0;
	for (const char *f = form; *f; f++, n++)
		if (*f == 'x' ? !isxdigit((unsigned char)text[n]) : text[n] != *f)
			return 0;
	return text[n - 1] > '7' || isalnum((unsigned char)text[n]) ? 0 : n;
}

void module_done(struct module *m)
{
	free(m->parameters);
	*m = (struct module){};
}

void memory_done(struct memory *m)
{
	free(m->ledger);
	free(m->boots);
	free(m->devices);
	free(m->attempts);
	text_index_done(&m->by_target);
}

void node_done(struct node *n)
{
	FOREACH(ib, n->ibdevs, n->n_ibdevs) {
		FOREACH(port, ib->ports, ib->n_ports)
			free(port->gids);
		free(ib->ports);
	}
	FOREACH(m, n->modules, n->n_modules)
		module_done(m);

	free(n->dcbs);
	free(n->vf_infos);
	free(n->users);
	free(n->options);
	free(n->netnses);
	free(n->vf_owners);
	free(n->pcis);
	free(n->netdevs);
	free(n->aways);
	free(n->destinations);
	free(n->tunnel_ends);
	free(n->hosts);
	free(n->socks);
	free(n->log_lines);
	free(n->link_news);
	free(n->addresses);
	free(n->routes);
	free(n->rules);
	free(n->neighbours);
	free(n->lookups);
	free(n->metadatas);
	free(n->ibdevs);
	free(n->pnets);
	free(n->modules);
	free(n->plugin_file);
	free(n->manifest_file);
	free(n->plugin_processes);
	free(n->plugin_resources);
	free(n->rules_file);
	for (size_t i = 0; i < _OUTPUT_N; i++)
		free(n->outputs[i].text);
	free(n->output_records);
	free(n->memlocks);
	for (size_t i = 0; i < _NODE_INDEX_N; i++)
		text_index_done(&n->indexes[i]);
	*n = (struct node){};
}

int user_compare(const void *a, const void *b)
{
	const struct user *x = a, *y = b;
	int r = strcmp(x->target, y->target);

	if (r == 0)
		r = (x->use > y->use) - (x->use < y->use);
	if (r == 0)
		r = compare_u32(&x->pid, &y->pid);
	if (r == 0)
		r = strcmp(x->detail, y->detail);
	return r != 0 ? r : strcmp(x->command, y->command);
}

int vf_info_compare(const void *a, const void *b)
{
	const struct vf_info *x = a, *y = b;
	int order = strcmp(x->pf, y->pf);

	return order ? order : compare_u32(&x->index, &y->index);
}

const struct vf_info *node_vf_info(const struct node *n, const char *pf, uint32_t index)
{
	struct vf_info key = { .index = index };

	COPY(key.pf, pf);
	return SEARCH(&key, n->vf_infos, n->n_vf_infos, vf_info_compare);
}

NAMES(destination_to_name, enum destination_to, _TO_N,
      {
	      [TO_DEFAULT] = "default",
	      [TO_VRF] = "vrf",
	      [TO_API_SERVER] = "api-server",
	      [TO_NAME_SERVER] = "name-server",
	      [TO_STORAGE] = "storage",
	      [TO_MOUNT] = "mount",
	      [TO_BEFORE] = "last-boot",
	      [TO_TUNNEL_END] = "tunnel-end",
      });

NAMES(netconf_name, enum netconf_key, _NETCONF_N,
      { [NETCONF_ARP_IGNORE] = "ipv4/arp_ignore",
	[NETCONF_ARP_ANNOUNCE] = "ipv4/arp_announce",
	[NETCONF_RP_FILTER] = "ipv4/rp_filter",
	[NETCONF_DISABLE_IPV6] = "ipv6/disable_ipv6",
	[NETCONF_ACCEPT_RA] = "ipv6/accept_ra",
	[NETCONF_ACCEPT_RA_DEFRTR] = "ipv6/accept_ra_defrtr",
	[NETCONF_ACCEPT_RA_PINFO] = "ipv6/accept_ra_pinfo",
	[NETCONF_AUTOCONF] = "ipv6/autoconf",
	[NETCONF_ADDR_GEN_MODE] = "ipv6/addr_gen_mode",
	[NETCONF_USE_TEMPADDR] = "ipv6/use_tempaddr",
	[NETCONF_RA_DEFRTR_METRIC] = "ipv6/ra_defrtr_metric" });

bool node_has_managed_neighbours(const char *kernel)
{
	return strverscmp(kernel, "5.16") >= 0;
}

bool node_keeps_down(const struct node *n, const struct netdev *nd)
{
	return nd->is_unnamed && !nd->is_up && strverscmp(n->kernel, "6.2") < 0;
}

const struct ledger_entry *memory_entry(const struct memory *m, const char *verb,
					const char *target, uint32_t ifindex, const char *subject)
{
	return ledger_find(m->ledger, m->n_ledger, verb, target, ifindex, subject);
}

bool memory_gave(const struct memory *m, const struct address *a)
{
	char text[INET6_ADDRSTRLEN + 8];

	ip_format(a->family, a->local, a->prefix_len, text, sizeof(text));
	return memory_entry(m, "add-address", "", a->ifindex, text);
}

/* Few enough for a look at each. */
const struct metadata *node_metadata(const struct node *n, const char *mac)
{
	return FIND(m, n->metadatas, n->n_metadatas, streq(m->mac, mac));
}

const struct user *node_user(const struct node *n, const char *target, size_t *i)
{
	for (; *i < n->n_users; ++*i)
		if (streq(n->users[*i].target, target))
			return &n->users[(*i)++];
	return NULL;
}

NAMES(module_state_name, enum module_state, _MODULE_STATE_N,
      { [MODULE_MISSING] = "missing",
	[MODULE_BLACKLISTED] = "blacklisted",
	[MODULE_AVAILABLE] = "available",
	[MODULE_LOADED] = "loaded",
	[MODULE_BUILTIN] = "builtin" });

NAMES(use_name, enum use, _USE_N,
      { [USE_CONTEXT] = "open-context",
	[USE_QP] = "qp",
	[USE_CM_ID] = "cm-id",
	[USE_MANAGER] = "subnet-manager",
	[USE_KERNEL] = "kernel-user",
	[USE_NETDEV_NETNS] = "netdev-in-netns",
	[USE_IBDEV_NETNS] = "ibdev-in-netns",
	[USE_VFIO] = "vfio",
	[USE_VDPA] = "vdpa",
	[USE_DRIVER] = "other-driver",
	[USE_KVM] = "kvm",
	[USE_MASTER] = "enslaved",
	[USE_ADDRESS] = "host-address",
	[USE_UPPER] = "upper-netdev",
	[USE_MODULE] = "module",
	[USE_UNKNOWN] = "unknown" });

bool module_is_in_kernel(const struct module *m)
{
	return m && (m->state == MODULE_LOADED || m->state == MODULE_BUILTIN);
}

const struct parameter *module_parameter(const struct module *m, const char *name)
{
	return m ? FIND(p, m->parameters, m->n_parameters, streq(p->name, name)) : NULL;
}

bool node_forbids(const struct node *n, const char *module)
{
	const size_t len = strlen(module);

	for (const char *name = n->cmdline_blacklist; *name;) {
		size_t size = strcspn(name, ",");

		if (size == len && strncmp(name, module, len) == 0)
			return true;
		name += size;
		name += *name == ',';
	}
	return false;
}

bool module_is_built_for(const struct module *m, const char *release)
{
	const size_t n = strlen(release);

	if (!m->vermagic[0] || n == 0 ||
	    (is_prefix(m->vermagic, release) && (m->vermagic[n] == ' ' || !m->vermagic[n])))
		return true;
	return strstr(m->vermagic, " modversions") && m->srcversion[0] &&
	       streq(m->srcversion, m->loaded_srcversion);
}

const struct device_memory *memory_device(const struct memory *m, const char *pci)
{
	return SEARCH(pci, m->devices, m->n_devices, compare_text);
}

const struct netdev *node_netdev(const struct node *n, uint32_t ifindex)
{
	return SEARCH(&ifindex, n->netdevs, n->n_netdevs, compare_u32);
}

/* By insertion, which keeps the order inside a netdev. */
void node_sort_addresses(struct address *a, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct address moved = a[i];
		size_t to = i;

		while (to > 0 && a[to - 1].ifindex > moved.ifindex)
			to--;
		memmove(a + to + 1, a + to, (i - to) * sizeof(*a));
		a[to] = moved;
	}
}

const struct address *node_addresses_of(const struct node *n, uint32_t ifindex, size_t *ret_n)
{
	const struct address *a = n->addresses;
	size_t i = lower_bound_u32(a, n->n_addresses, sizeof(*a), ifindex), first = i;

	while (i < n->n_addresses && a[i].ifindex == ifindex)
		i++;
	*ret_n = i - first;
	return i > first ? a + first : NULL;
}

bool node_has_host_address(const struct node *n, const struct memory *m, uint32_t ifindex)
{
	size_t n_of;
	const struct address *of = node_addresses_of(n, ifindex, &n_of);

	return ANY(a, of, n_of,
		   !(a->family == AF_INET6 && a->scope == RT_SCOPE_LINK) && !memory_gave(m, a));
}

static const struct address *find_unicast(const struct node *n, uint32_t ifindex, int family)
{
	return FIND(a, n->addresses, n->n_addresses,
		    a->ifindex == ifindex && a->family == family &&
			    ip_is_unicast(family, a->local));
}

/* The first default route of main whose netdev, or lo, has an address: ChooseHostInterface() in
 * k8s.io/apimachinery/pkg/util/net. NULL: there is none, or a router has told of one as good. */
static const struct route *find_default(const struct node *n, int family,
					const struct address **ret)
{
	const struct route *first = NULL;

	FOREACH(t, n->routes, n->n_routes) {
		const struct address *a;

		if (t->family != family || t->table != RT_TABLE_MAIN || t->prefix_len > 0 ||
		    t->type != RTN_UNICAST ||
		    (first && t->metric >= first->metric + (t->protocol == RTPROT_RA)))
			continue;
		a = find_unicast(n, t->ifindex, family) ?: find_unicast(n, LOOPBACK, family);
		if (!a)
			continue;
		first = t;
		*ret = a;
	}
	return first && first->protocol != RTPROT_RA ? first : NULL;
}

/* Does a packet to the default destination leave by this route's netdev? */
static bool is_way(const struct node *n, const struct route *t)
{
	FOREACH(d, n->destinations, n->n_destinations)
		if (d->to == TO_DEFAULT && d->lookup.family == t->family &&
		    (d->lookup.found == t->ifindex ||
		     ANY(hop, d->lookup.hops, d->lookup.n_hops, *hop == t->ifindex)))
			return true;
	return false;
}

int node_find_kubelet(const struct node *n, kubelet_fn on, void *userdata)
{
	const char *name = n->kubelet.host_name[0] ? n->kubelet.host_name : n->host_name;
	char list[sizeof(n->kubelet.node_ip)], *rest, how[64];
	int family, first = AF_UNSPEC, r, found = 0;
	bool is_given = n->kubelet.flannel_iface[0];
	uint8_t bytes[16];

	COPY(list, n->kubelet.node_ip);
	for (char *word = strtok_r(list, ", ", &rest); word && found >= 0;
	     word = strtok_r(NULL, ", ", &rest)) {
		if (!ip_parse(word, &family, bytes))
			continue;
		first = first ?: family;
		if (is_zero(bytes)) /* 0.0.0.0 and :: only choose the family */
			continue;
		is_given = true;
		r = on(userdata, family, bytes, " (--node-ip)");
		found = r < 0 ? r : found | r;
	}
	r = found < 0 ? found : on(userdata, AF_UNSPEC, NULL, "");
	if (r == 0)
		r = found;
	if (r == 0 && is_given)
		return -EADDRNOTAVAIL;
	if (r == 0 && ip_parse(name, &family, bytes))
		r = on(userdata, family, bytes, " (its name)");
	for (size_t i = 0; i < 2 * n->n_hosts && r == 0; i++) {
		const struct host *h = &n->hosts[i % n->n_hosts];

		if ((h->family == (first ?: AF_INET)) != (i < n->n_hosts) ||
		    !ip_is_unicast(h->family, h->address) || strcasecmp(h->name, name) != 0)
			continue;
		PRINT(how, " (/etc/hosts:%" PRIu32 ")", h->line);
		r = on(userdata, h->family, h->address, how);
	}
	for (int turn = 0; turn < 2 && r == 0; turn++) {
		const bool is_ipv6 = (first == AF_INET6) != (turn == 1);
		const struct address *a;
		const struct route *t = find_default(n, is_ipv6 ? AF_INET6 : AF_INET, &a);

		if (t)
			return is_way(n, t) ? 0
					    : on(userdata, a->family, a->local, " (default route)");
	}
	return r;
}

void pci_print_id(uint32_t id, char ret[static PCI_ID_LEN])
{
	for (size_t i = PCI_ID_LEN - 1; i-- > 0; id >>= 4)
		ret[i] = "0123456789abcdef"[id & 0xf];
	ret[PCI_ID_LEN - 1] = '\0';
}

const char *pci_driver(const struct pci *pci)
{
	return pci->driver[0] ? pci->driver : pci->module;
}

bool pci_is_erdma(const struct pci *pci)
{
	return pci && ((pci->vendor == ERDMA_VENDOR && pci->device == ERDMA_DEVICE) ||
		       streq(pci_driver(pci), ERDMA_MODULE));
}

/* The auxiliary_device_id tables and module aliases below drivers/infiniband/hw. */
const struct rdma_part *rdma_part_of(const char *driver)
{
	static const struct rdma_part parts[] = {
		{ "mlx5_core", "mlx5_ib", VF_RDMA_YES },
		{ "mlx4_core", "mlx4_ib", VF_RDMA_YES },
		{ "bnxt_en", "bnxt_re", VF_RDMA_YES },
		{ "hns3", "hns_roce_hw_v2", VF_RDMA_YES },
		/* VFs are driven by iavf, which makes no auxiliary device for irdma:
		 * irdma_auxiliary_id_table[] in .../irdma/main.c */
		{ "ice", "irdma", VF_RDMA_NO },
		{ "i40e", "irdma", VF_RDMA_NO },
		{ "cxgb4", "iw_cxgb4", VF_RDMA_NO }, /* cxgb4vf has no upper-layer drivers */
		{ "qede", "qedr", VF_RDMA_NO },      /* rdma_supported in .../qed/qed_main.c */
		{ "be2net", "ocrdma", VF_RDMA_UNKNOWN },
		{ "bng_en", "bng_re", VF_RDMA_UNKNOWN },
		{ "mana", "mana_ib", VF_RDMA_UNKNOWN },
		{ "ionic", "ionic_rdma", VF_RDMA_UNKNOWN },
		{ "idpf", "irdma", VF_RDMA_UNKNOWN },
		{ "enic", "usnic_verbs", VF_RDMA_UNKNOWN },
		{ "erdma", "erdma", VF_RDMA_UNKNOWN },
		{ "efa", "efa", VF_RDMA_UNKNOWN },
		{ "hfi1", "hfi1", VF_RDMA_UNKNOWN },
		{ "ib_qib", "ib_qib", VF_RDMA_UNKNOWN },
		{ "ib_mthca", "ib_mthca", VF_RDMA_UNKNOWN },
		{ "vmw_pvrdma", "vmw_pvrdma", VF_RDMA_UNKNOWN },
	};

	return FIND(p, parts, ELEMENTSOF(parts), streq(p->driver, driver));
}

bool pci_lacks_netdev(const struct pci *pci)
{
	const struct rdma_part *part = rdma_part_of(pci->driver);

	return pci_is_erdma(pci) || (part && streq(part->driver, part->module));
}

/* The PCI id tables of mlx5_core, mlx4_core, iavf, idpf, hns3, bnxt_en, ionic, mana, qede and
 * be2net. */
bool pci_is_vf(const struct pci *pci)
{
	static const uint32_t ids[] = {
		0x15b31002, 0x15b31004, 0x15b31014, 0x15b31016, 0x15b31018, 0x15b3101a, 0x15b3101c,
		0x15b3101e, 0x8086145c, 0x8086154c, 0x80861571, 0x80861889, 0x808637cd, 0x19e5a22e,
		0x19e5a22f, 0x14e41606, 0x14e41607, 0x14e41608, 0x14e41609, 0x14e416bd, 0x14e416c1,
		0x14e416c2, 0x14e416c3, 0x14e416c4, 0x14e416c5, 0x14e416cb, 0x14e416d3, 0x14e416dc,
		0x14e416e1, 0x14e416e5, 0x14e416e6, 0x14e41806, 0x14e41807, 0x14e41808, 0x14e41809,
		0x14e41819, 0x14e4181b, 0x14e4d800, 0x1dd81003, 0x141400ba, 0x15b31012, 0x15b3a2d3,
		0x10771664, 0x10778090, 0x10dfe228, 0x10df0728
	};
	const uint32_t id = (uint32_t)pci->vendor << 16 | pci->device;

	return pci->physfn[0] || ANY(i, ids, ELEMENTSOF(ids), *i == id);
}

/* Chelsio's functions 0 to 3: init_one() in .../chelsio/cxgb4/cxgb4_main.c returns before it makes
 * a netdev. Bits 8 to 11 of the device are 0 then, and 4 of the ports: t4_pci_id_tbl.h. */
bool pci_is_for_vfs(const struct pci *pci)
{
	return streq(pci_driver(pci), "cxgb4") && (pci->device & 0xf00) == 0;
}

bool pci_is_network(const struct pci *pci)
{
	return pci->class >> 16 == CLASS_NETWORK;
}

/* Class 3D has no screen: it computes, whatever its vendor. AMD's Instinct are "other" displays or
 * "processing accelerators", which Gaudi is as well, and so is many an FPGA. */
bool pci_is_gpu(const struct pci *pci)
{
	const uint32_t class = pci->class >> 8;

	return class == 0x0302 || (pci->vendor == GPU_VENDOR && class >> 8 == CLASS_DISPLAY) ||
	       (pci->vendor == AMD_VENDOR && (class == 0x0380 || class == 0x1200)) ||
	       (pci->vendor == GAUDI_VENDOR && class == 0x1200);
}

size_t node_count_gpus(const struct node *n)
{
	size_t n_gpus = 0;

	for (size_t i = 0; i < n->n_pcis; i++)
		n_gpus += pci_is_gpu(&n->pcis[i]) && n->pcis[i].vendor == GPU_VENDOR;
	return n_gpus;
}

enum nearness pci_nearness(const struct pci *a, const struct pci *b)
{
	if (a->root_port[0] && streq(a->root_port, b->root_port))
		return NEARNESS_SWITCH;
	return a->numa_node >= 0 && a->numa_node == b->numa_node ? NEARNESS_NUMA_NODE
								 : NEARNESS_NONE;
}

NAMES(nearness_name, enum nearness, _NEARNESS_N,
      { [NEARNESS_NONE] = "", [NEARNESS_NUMA_NODE] = "numa_node", [NEARNESS_SWITCH] = "switch" });

bool netdev_is_lag_master(const struct netdev *nd)
{
	return streq(nd->kind, "bond") || streq(nd->kind, "team");
}

const struct netdev *node_bond_of(const struct node *n, const struct netdev *nd)
{
	const struct netdev *master = nd && nd->master ? node_netdev(n, nd->master) : NULL;

	return master && netdev_is_lag_master(master) ? master : NULL;
}

bool node_is_port(const struct node *n, const struct netdev *nd)
{
	const struct netdev *master = nd ? node_netdev(n, nd->master) : NULL;

	return nd && nd->master && !(master && streq(master->kind, "vrf"));
}

static bool has_port(const struct node *n, uint32_t ifindex)
{
	return ANY(netdev, n->netdevs, n->n_netdevs, netdev->master == ifindex);
}

const struct netdev *node_portless(const struct node *n, bool or_bridge)
{
	return FIND(nd, n->netdevs, n->n_netdevs,
		    (netdev_is_lag_master(nd) || (or_bridge && streq(nd->kind, "bridge"))) &&
			    !has_port(n, nd->ifindex));
}

/* "pf0vf3", "c1pf0", "pf0sf88"; the port itself is "p0". */
static bool is_representor(const struct netdev *nd)
{
	const char *name = nd->port_name;

	if (*name == 'c')
		name += 1 + strspn(name + 1, "0123456789");
	return is_prefix(name, "pf") && name[2] >= '0' && name[2] <= '9';
}

/* --- indexes --- */

/* A virtual one (rxe) has no function of its own: it is where its netdev is. */
static const char *ibdev_pci(const struct node *n, const struct ibdev *d)
{
	const struct netdev *netdev = *d->pci ? NULL : node_netdev_named(n, d->netdev);

	return netdev ? netdev->pci : d->pci;
}

#define INDEX(member, key_)                                                                        \
	{                                                                                          \
		offsetof(struct node, member),                                                     \
		offsetof(struct node, n_##member),                                                 \
		sizeof(*((struct node *)0)->member),                                               \
		offsetof(__typeof__(*((struct node *)0)->member), key_),                           \
	}

/* The array that each index is of, and the text of its elements. */
static const struct {
	size_t array, count, size, key;
} indexed[] = {
	[NODE_INDEX_PCI] = INDEX(pcis, address),
	[NODE_INDEX_VF] = INDEX(pcis, physfn),
	[NODE_INDEX_NETDEV_PCI] = INDEX(netdevs, pci),
	[NODE_INDEX_NETDEV_NAME] = INDEX(netdevs, name),
	[NODE_INDEX_NETDEV_MAC] = INDEX(netdevs, mac),
	[NODE_INDEX_NETDEV_PERM_MAC] = INDEX(netdevs, perm_mac),
	[NODE_INDEX_IBDEV_PCI] = INDEX(ibdevs, pci), /* by ibdev_pci() */
	[NODE_INDEX_IBDEV_GUID] = INDEX(ibdevs, node_guid),
	[NODE_INDEX_VF_MAC] = INDEX(vf_infos, mac),
	[NODE_INDEX_VF_NODE_GUID] = INDEX(vf_infos, node_guid),
	[NODE_INDEX_VF_PORT_GUID] = INDEX(vf_infos, port_guid),
};
_Static_assert(ELEMENTSOF(indexed) == _NODE_INDEX_N, "a row for every index");

static const char *key_of(const struct node *n, enum node_index_of which, size_t i)
{
	const char *items = *(const char *const *)((const char *)n + indexed[which].array);

	return which == NODE_INDEX_IBDEV_PCI ? ibdev_pci(n, &n->ibdevs[i])
					     : items + i * indexed[which].size + indexed[which].key;
}

static size_t count_of(const struct node *n, enum node_index_of which)
{
	return *(const size_t *)((const char *)n + indexed[which].count);
}

static void make_index(struct node *n, enum node_index_of which)
{
	text_index_done(&n->indexes[which]);
	for (size_t i = 0; i < count_of(n, which); i++)
		if (!node_note(n, text_index_add(&n->indexes[which], key_of(n, which, i))))
			return;
}

int node_result(const struct node *n)
{
	return n->is_short ? -ENOMEM : 0;
}

bool node_note(struct node *n, int r)
{
	n->is_short |= r == -ENOMEM;
	return r >= 0;
}

void node_make_indexes(struct node *n)
{
	for (enum node_index_of which = 0; which < _NODE_INDEX_N; which++)
		make_index(n, which);
}

size_t node_next(const struct node *n, enum node_index_of which, const char *key, size_t *at)
{
	if (is_empty(key)) /* else every virtual netdev would be of it */
		return *at = SIZE_MAX;
	do
		*at = text_index_next(&n->indexes[which], count_of(n, which), key, *at);
	while (*at != SIZE_MAX && !streq(key_of(n, which, *at), key));
	return *at;
}

const struct pci *node_pci(const struct node *n, const char *address)
{
	size_t at = SIZE_MAX, i;

	if (n->indexes[NODE_INDEX_PCI].n != n->n_pcis)
		return SEARCH(address, n->pcis, n->n_pcis, compare_text);
	i = node_next(n, NODE_INDEX_PCI, address, &at);
	return i == SIZE_MAX ? NULL : &n->pcis[i];
}

const struct netdev *node_netdev_of(const struct node *n, const char *pci)
{
	const struct netdev *first = NULL;
	size_t at = SIZE_MAX, i;

	while ((i = node_next(n, NODE_INDEX_NETDEV_PCI, pci, &at)) != SIZE_MAX) {
		const struct netdev *nd = &n->netdevs[i];

		if (is_representor(nd))
			continue;
		if (nd->perm_mac[0])
			return nd;
		if (!first)
			first = nd;
	}

	return first;
}

const struct netdev *node_netdev_named(const struct node *n, const char *name)
{
	size_t at = SIZE_MAX, i;

	i = node_next(n, NODE_INDEX_NETDEV_NAME, name, &at);
	return i == SIZE_MAX ? NULL : &n->netdevs[i];
}

const struct netdev *node_own_netdev(const struct node *n, const struct pci *pci)
{
	const struct netdev *nd = node_netdev_of(n, pci->address);
	const struct ibdev *ib = nd || !pci_is_erdma(pci) ? NULL : node_ibdev_of(n, pci->address);

	return ib ? node_netdev_named(n, ib->netdev) : nd;
}

bool netdev_is_called(const struct netdev *nd, const char *glob)
{
	const char *rest = nd->altnames;
	char name[sizeof(nd->altnames)];

	while (given_next_word(&rest, name, sizeof(name)))
		if (fnmatch(glob, name, 0) == 0)
			return true;
	return fnmatch(glob, nd->name, 0) == 0;
}

const struct ibdev *node_ibdev_of(const struct node *n, const char *pci)
{
	const struct ibdev *best = NULL;
	size_t at = SIZE_MAX, i;

	while ((i = node_next(n, NODE_INDEX_IBDEV_PCI, pci, &at)) != SIZE_MAX) {
		const struct ibdev *ib = &n->ibdevs[i];

		if (ib->is_smi)
			continue;
		if (*ib->pci && *ib->uverbs)
			return ib;
		if (!best || (*ib->pci && !*best->pci))
			best = ib;
	}

	return best;
}

const struct dcb *node_dcb(const struct node *n, uint32_t ifindex)
{
	return FIND(d, n->dcbs, n->n_dcbs, d->ifindex == ifindex);
}

const struct ibdev *node_ibdev_named(const struct node *n, const char *name)
{
	return SEARCH(name, n->ibdevs, n->n_ibdevs, compare_text);
}

/* libkmod and modprobe take both, the kernel shows '_' only. */
static bool is_same_module(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
			return false;

	return *a == *b;
}

const struct module *node_module(const struct node *n, const char *name)
{
	return FIND(m, n->modules, n->n_modules, is_same_module(m->name, name));
}

const char *node_lacks(const struct node *n)
{
	if (!n->is_copy || ANY(f, n->pcis, n->n_pcis, f->driver[0]))
		return NULL;
	return n->n_pcis > 0 ? "drivers" : n->has_functions ? NULL : "PCI functions";
}

const struct pci *node_vf(const struct node *n, const char *physfn, uint32_t vf_index)
{
	size_t at = SIZE_MAX, i;

	/* All of them, side by side, are the usual case. */
	i = node_next(n, NODE_INDEX_VF, physfn, &at);
	if (i != SIZE_MAX && i + vf_index < n->n_pcis) {
		const struct pci *vf = &n->pcis[i + vf_index];

		if (vf->vf_index == vf_index && streq(vf->physfn, physfn))
			return vf;
	}
	for (; i != SIZE_MAX; i = node_next(n, NODE_INDEX_VF, physfn, &at))
		if (n->pcis[i].vf_index == vf_index)
			return &n->pcis[i];

	return NULL;
}

uint32_t port_rate(const struct port *p)
{
	char *end;
	const unsigned long whole = strtoul(p->rate, &end, 10);

	return whole > 1000000 ? 0 : (uint32_t)whole * 10 + (is_prefix(end, ".5") ? 5 : 0);
}

bool ibdev_lacks_mad(const struct ibdev *ib)
{
	return streq(ib->node_type, "RNIC") || streq(ib->node_type, "unspecified") ||
	       is_prefix(ib->node_type, "usNIC");
}

bool ibdev_is_active(const struct ibdev *ib)
{
	return ANY(p, ib->ports, ib->n_ports, streq(p->state, "ACTIVE"));
}

bool node_is_infiniband(const struct node *n, const struct pci *pf)
{
	const struct netdev *nd = node_netdev_of(n, pf->address);

	return pf->class >> 8 == CLASS_INFINIBAND || (nd && strlen(nd->mac) == IPOIB_MAC_CHARS);
}

/* "b8ce:f603:0041:0000" of "00:00:11:07:fe:80:...:b8:ce:f6:03:00:41:00:00" */
void ipoib_guid(const char *mac, char ret[static MAC_LEN])
{
	const char *at = mac + IPOIB_MAC_CHARS - PORT_GUID_CHARS;

	ret[0] = '\0';
	if (strlen(mac) == IPOIB_MAC_CHARS)
		snprintf(ret, MAC_LEN, "%.2s%.2s:%.2s%.2s:%.2s%.2s:%.2s%.2s", at, at + 3, at + 6,
			 at + 9, at + 12, at + 15, at + 18, at + 21);
}

void node_card(const struct node *n, const struct pci *pci, char ret[static MAC_LEN])
{
	const char *address = pci->physfn[0] ? pci->physfn : pci->address;
	const struct netdev *nd = node_netdev_of(n, address);
	const struct ibdev *ib = node_ibdev_of(n, address);
	const struct pci *pf = node_pci(n, address);

	if (!pf || !node_is_infiniband(n, pf))
		copy(ret, MAC_LEN, nd ? nd->perm_mac : "");
	else if (ib && ib->node_guid[0] && !guid_is_unset(ib->node_guid))
		copy(ret, MAC_LEN, ib->node_guid);
	else
		ipoib_guid(nd ? nd->perm_mac : "", ret);
}

static bool is_replaced(const struct node *n, const struct device_memory *m)
{
	const struct pci *pci = node_pci(n, m->pci);
	char card[MAC_LEN] = "";

	if (pci)
		node_card(n, pci, card);
	return m->card[0] && card[0] && !streq(m->card, card);
}

void node_forget_replaced(const struct node *n, struct memory *memory)
{
	KEEP(m, memory->devices, memory->n_devices, !is_replaced(n, m));
}

bool guid_is_unset(const char *guid)
{
	return guid[0] &&
	       (strspn(guid, "0:") == strlen(guid) || strspn(guid, "f:") == strlen(guid));
}

NAMES(node_state_name, enum node_state, _NODE_STATE_N,
      { [NODE_STARTING] = "starting", [NODE_READY] = "ready", [NODE_DEGRADED] = "degraded" });
