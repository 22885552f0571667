/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random nodes: what carries the node, what the host uses and what is not ours must be the target
 * of no change and of no hand-out that moves it. The oracle here is naive and shares no code with
 * src/model/node-nic.c and src/model/in-use.c.
 *
 * A number is a node: "test-node-harm NUMBER" makes that one alone, and prints it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/model/boots.h"
#include "../src/model/paths.h"
#include "../src/model/rtproto.h"
#include "../src/observe/rdma-observe.h"
#include "../src/output/plugin-output.h"
#include "../src/plan/output-plan.h"

#include "scene.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#define N_NODES     40000
#define N_LIVES     20000
#define MAX_PFS     5
#define MAX_VFS     3
#define MAX_PCIS    (MAX_PFS * (MAX_VFS + 1) + MAX_PFS)
#define MAX_NETDEVS 48
#define MAX_ROUTES  32

struct scene {
	uint64_t random;
	struct config config;
	struct device_config section;
	char match[256];
	struct node node;
	struct memory memory;
	struct pci pcis[MAX_PCIS];
	struct netdev netdevs[MAX_NETDEVS];
	struct ibdev ibdevs[MAX_PCIS];
	struct port ports[MAX_PCIS];
	struct gid gids[MAX_PCIS];
	struct vf_info vf_infos[MAX_PFS * MAX_VFS];
	struct address addresses[MAX_NETDEVS];
	struct route routes[MAX_ROUTES];
	struct rule rules[8];
	struct ledger_entry ledger[8];
	struct module modules[8];
	uint32_t next_ifindex;
	struct boot boot;
	struct device_memory memories[MAX_PCIS];
	/* What carried the node before its link was lost; none: it was not. */
	char remembered[MAX_PCIS][PCI_LEN];
	size_t n_remembered;
};

static struct scene scene;

/* --- chance --- */

/* splitmix64 */
static uint64_t next(struct scene *s)
{
	uint64_t z = (s->random += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint32_t below(struct scene *s, uint32_t n)
{
	return (uint32_t)(next(s) % n);
}

static bool one_in(struct scene *s, uint32_t n)
{
	return below(s, n) == 0;
}

/* --- parts --- */

static struct pci *add_pci(struct scene *s, const char *address, const char *driver)
{
	struct pci *pci = &s->pcis[s->node.n_pcis++];

	*pci = (struct pci){ .vendor = 0x15b3, .device = 0x1021, .class = 0x020000 };
	COPY(pci->address, address);
	COPY(pci->driver, driver);
	COPY(pci->module, *driver ? "" : "mlx5_core");
	return pci;
}

static struct netdev *add_netdev(struct scene *s, const char *name, const char *pci,
				 const char *kind)
{
	struct netdev *nd = &s->netdevs[s->node.n_netdevs++];

	assert_true(s->node.n_netdevs <= MAX_NETDEVS);
	*nd = (struct netdev){ .ifindex = s->next_ifindex++, .mtu = 1500, .max_mtu = 9978 };
	nd->is_up = nd->has_carrier = !one_in(s, 8);
	nd->bond_mode = streq(kind, "bond") ? (int)below(s, 7) : BOND_MODE_UNKNOWN;
	COPY(nd->name, name);
	COPY(nd->pci, pci);
	COPY(nd->kind, kind);
	snprintf(nd->mac, sizeof(nd->mac), "52:54:00:00:00:%02x", nd->ifindex);
	COPY(nd->perm_mac, *pci ? nd->mac : "");
	return nd;
}

static void add_ibdev(struct scene *s, const char *pci, const char *netdev)
{
	const size_t i = s->node.n_ibdevs++;
	struct ibdev *ib = &s->ibdevs[i];

	*ib = (struct ibdev){
		.node_type = "CA", .uverbs = "uverbs0", .umad = "umad0", .n_ports = 1
	};
	ib->ports = &s->ports[i];
	snprintf(ib->name, sizeof(ib->name), "mlx5_%02zu", i);
	snprintf(ib->node_guid, sizeof(ib->node_guid), "5254:0000:0000:%04zx", i + 1);
	COPY(ib->pci, pci);
	COPY(ib->netdev, netdev);
	ib->n_contexts = one_in(s, 10);
	s->ports[i] = (struct port){
		.number = 1, .state = "ACTIVE", .link_layer = "Ethernet", .n_gids = 1
	};
	s->ports[i].gids = &s->gids[i];
	s->gids[i] = (struct gid){ .type = "RoCE v2" };
	COPY(s->gids[i].gid, "fe80:0000:0000:0000:5054:00ff:fe00:0001");
	COPY(s->gids[i].netdev, netdev);
}

static void add_vfs(struct scene *s, struct pci *pf)
{
	char pf_address[PCI_LEN], address[PCI_LEN], name[IFNAME_LEN];

	COPY(pf_address, pf->address);
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		static const char *const drivers[] = {
			"mlx5_core", "mlx5_core", "mlx5_core", "", "vfio-pci", "uio_pci_generic"
		};
		const char *driver = drivers[below(s, ELEMENTSOF(drivers))];
		struct vf_info *info = &s->vf_infos[s->node.n_vf_infos++];
		struct pci *vf;

		snprintf(address, sizeof(address), "%.11s%u", pf_address, (i + 1) % 8);
		vf = add_pci(s, address, driver);
		vf->vf_index = i;
		vf->has_other_driver = *driver && !streq(driver, "mlx5_core");
		if (!*driver && one_in(s, 3))
			COPY(vf->driver_override, "vfio-pci");
		if (one_in(s, 12))
			COPY(vf->vdpa, "vdpa0");
		COPY(vf->physfn, pf_address);
		*info = (struct vf_info){ .index = i, .trust = (int)below(s, 2), .link_state = -1 };
		COPY(info->pf, pf_address);
		snprintf(info->mac, sizeof(info->mac), "00:00:00:00:00:0%u", below(s, 2) * (i + 1));
		if (!streq(driver, "mlx5_core"))
			continue;
		snprintf(name, sizeof(name), "vf%.2sv%u", pf_address + 5, i);
		add_netdev(s, name, address, "");
		add_ibdev(s, address, name);
		if (one_in(s, 4))
			COPY(s->ibdevs[s->node.n_ibdevs - 1].node_guid, "0000:0000:0000:0000");
	}
}

static void add_card(struct scene *s, uint32_t i)
{
	char address[PCI_LEN], name[IFNAME_LEN];
	struct pci *pf;

	snprintf(address, sizeof(address), "0000:%02x:00.0", 0x40 + i);
	snprintf(name, sizeof(name), "eth%u", i);
	pf = add_pci(s, address, "mlx5_core");
	pf->has_sriov = pf->has_autoprobe = true;
	pf->autoprobe = !one_in(s, 10);
	pf->total_vfs = 8;
	pf->num_vfs = one_in(s, 2) ? below(s, MAX_VFS + 1) : 0;
	add_netdev(s, name, address, "");
	add_ibdev(s, address, name);
	add_vfs(s, pf);
}

/* A scalable function of a card: a netdev below its PF, without a PCI function of its own. */
static void add_scalable(struct scene *s, uint32_t i)
{
	char name[IFNAME_LEN], pf[PCI_LEN];
	struct netdev *nd;

	snprintf(name, sizeof(name), "eth%us88", i);
	snprintf(pf, sizeof(pf), "0000:%02x:00.0", 0x40 + i);
	nd = add_netdev(s, name, "", "");
	COPY(nd->scalable_of, pf);
}

/* The RDMA function of eRDMA, whose netdev is that of a virtio NIC. */
static void add_eri(struct scene *s, uint32_t i)
{
	char address[PCI_LEN], eni[PCI_LEN], name[IFNAME_LEN];
	struct pci *pci;

	snprintf(eni, sizeof(eni), "0000:%02x:00.0", 0x60 + 2 * i);
	snprintf(address, sizeof(address), "0000:%02x:00.0", 0x61 + 2 * i);
	snprintf(name, sizeof(name), "eni%u", i);
	pci = add_pci(s, eni, "virtio-pci");
	pci->vendor = 0x1af4;
	add_netdev(s, name, eni, "");
	pci = add_pci(s, address, "erdma");
	pci->vendor = 0x1ded;
	pci->device = 0x107f;
	pci->class = 0;
	add_ibdev(s, address, name);
}

static struct netdev *any_netdev(struct scene *s)
{
	return &s->netdevs[below(s, (uint32_t)s->node.n_netdevs)];
}

/* Something virtual above one or two that are free. */
static void add_upper(struct scene *s)
{
	static const char *const masters[] = { "bond", "team", "bridge", "openvswitch" };
	static const char *const stacked[] = { "vlan", "macvlan", "ipvlan" };
	struct netdev *lower[2] = { any_netdev(s), any_netdev(s) };
	char name[IFNAME_LEN];
	struct netdev *upper;

	snprintf(name, sizeof(name), "up%u", s->next_ifindex);
	if (one_in(s, 2)) {
		upper = add_netdev(s, name, "", stacked[below(s, ELEMENTSOF(stacked))]);
		upper->link = lower[0]->ifindex;
		return;
	}
	upper = add_netdev(s, name, "", masters[below(s, ELEMENTSOF(masters))]);
	for (size_t i = 0; i < 2; i++)
		if (lower[i]->master == 0 && !streq(lower[i]->kind, "openvswitch"))
			lower[i]->master = upper->ifindex;
	if (streq(upper->kind, "openvswitch")) /* and a port of its own, which routes are on */
		add_netdev(s, "br-int", "", "openvswitch");
}

static void add_address(struct scene *s, const struct netdev *nd)
{
	const size_t i = s->node.n_addresses++;
	struct address *a = &s->addresses[i];

	*a = (struct address){ .ifindex = nd->ifindex, .flags = IFA_F_PERMANENT };
	a->family = one_in(s, 3) ? AF_INET6 : AF_INET;
	a->prefix_len = a->family == AF_INET ? 24 : 64;
	if (a->family == AF_INET6)
		memcpy(a->local, (const uint8_t[]){ 0xfd, [15] = (uint8_t)(i + 1) }, 16);
	else
		memcpy(a->local, (const uint8_t[]){ 10, (uint8_t)below(s, 3), 0, (uint8_t)(i + 2) },
		       4);
	memcpy(a->peer, a->local, 16);
	a->metric = one_in(s, 3) ? 200 : 0;
	if (one_in(s, 6))
		a->scope = RT_SCOPE_LINK;
}

static void add_route(struct scene *s, const struct netdev *nd, uint32_t prefix_len)
{
	static const uint8_t protocols[] = { RTPROT_BOOT, RTPROT_DHCP, RTPROT_STATIC, RTPROT_RA };
	struct route *t = &s->routes[s->node.n_routes++];

	*t = (struct route){ .family = one_in(s, 3) ? AF_INET6 : AF_INET,
			     .prefix_len = prefix_len,
			     .table = RT_TABLE_MAIN,
			     .ifindex = nd->ifindex,
			     .metric = 100 * below(s, 4),
			     .protocol = protocols[below(s, ELEMENTSOF(protocols))],
			     .type = RTN_UNICAST };
	if (t->family == AF_INET && t->protocol == RTPROT_RA)
		t->protocol = RTPROT_DHCP;
	if (prefix_len > 0)
		t->dst[0] = 172;
	memcpy(t->gateway, (const uint8_t[]){ 10, 0, 0, 1 }, 4);
	if (t->family == AF_INET6)
		memcpy(t->gateway, (const uint8_t[]){ 0xfe, 0x80, [15] = 1 }, 16);
	if (prefix_len == 0 && s->node.n_addresses > 0 && one_in(s, 4)) {
		const struct address *a = &s->addresses[below(s, (uint32_t)s->node.n_addresses)];

		if (a->family == t->family)
			memcpy(t->src, a->local, 16);
	}
}

/* In the NIC's own table: ours, or one that an administrator added there. */
static void add_table_route(struct scene *s, const struct netdev *nd)
{
	const struct address *a = &s->addresses[below(s, (uint32_t)s->node.n_addresses)];
	struct route *t = &s->routes[s->node.n_routes++];

	*t = (struct route){ .family = a->family,
			     .table = OWN_TABLE_BASE + nd->ifindex,
			     .ifindex = nd->ifindex,
			     .metric = a->family == AF_INET6 ? 1024 : 0,
			     .protocol = one_in(s, 2) ? RTPROT_STATIC : OWN_PROTOCOL,
			     .scope = a->family == AF_INET ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE,
			     .type = RTN_UNICAST };
	if (one_in(s, 2)) {
		t->prefix_len = a->prefix_len;
		memcpy(t->dst, a->local, a->prefix_len / 8);
	} else {
		memcpy(t->gateway, (const uint8_t[]){ 10, 0, 0, 1 }, 4);
	}
}

/* What an earlier version of ours left on a NIC, or an administrator made just so. */
static void add_rule(struct scene *s, const struct netdev *nd)
{
	s->rules[s->node.n_rules++] =
		(struct rule){ .family = AF_INET,
			       .preference = OWN_PREFERENCE_FROM,
			       .table = OWN_TABLE_BASE + nd->ifindex,
			       .protocol = one_in(s, 3) ? RTPROT_STATIC : OWN_PROTOCOL,
			       .action = 1,
			       .src = { 10, 0, 0, 2 },
			       .src_len = 32 };
}

/* Where ours are to be written: nothing, a file of ours or one of another program. */
static void make_files(struct scene *s)
{
	static char foreign[] = "apiVersion: v1\n", ours[] = "0000:40:00.0 ",
		    pod[] = MANIFEST_MARK "\nold";

	COPY(s->memory.last_hash, one_in(s, 2) ? "0123456789abcdef" : "");
	s->node.is_plugin_foreign = one_in(s, 2);
	s->node.plugin_file = one_in(s, 3) ? NULL : s->node.is_plugin_foreign ? foreign : ours;
	s->node.manifest_file = one_in(s, 3) ? NULL : one_in(s, 2) ? foreign : pod;
	for (enum output o = 0; o < _OUTPUT_N; o++) {
		struct output_file *file = &s->node.outputs[o];

		file->has_folder = !one_in(s, 8);
		file->is_there = file->has_folder && one_in(s, 2);
		file->text = file->is_there && one_in(s, 2) ? ours : NULL;
	}
}

static int by_address(const void *a, const void *b)
{
	return strcmp(((const struct pci *)a)->address, ((const struct pci *)b)->address);
}

static int by_ifindex(const void *a, const void *b)
{
	const struct address *x = a, *y = b;

	return (x->ifindex > y->ifindex) - (x->ifindex < y->ifindex);
}

static int by_pf(const void *a, const void *b)
{
	const struct vf_info *x = a, *y = b;
	int r = strcmp(x->pf, y->pf);

	return r ? r : (x->index > y->index) - (x->index < y->index);
}

static void make_node(struct scene *s)
{
	static const char *const modules[] = { "ib_umad", "ib_uverbs", "mlx5_core", "rdma_ucm" };
	const uint32_t n_cards = 1 + below(s, MAX_PFS), n_eris = one_in(s, 4) ? 1 + below(s, 2) : 0;
	const uint32_t n_uppers = below(s, 5), n_addresses = 1 + below(s, 6);
	const uint32_t n_defaults = below(s, 5), n_routes = below(s, 3), n_rules = below(s, 3);
	const uint32_t n_table_routes = below(s, 4);

	s->node = (struct node){ .kernel = "6.12.0",
				 .netns_mode = NETNS_MODE_SHARED,
				 .has_rdma_cm = true,
				 .now_usec = 1000 * USEC_PER_SEC,
				 .pcis = s->pcis,
				 .netdevs = s->netdevs,
				 .ibdevs = s->ibdevs,
				 .vf_infos = s->vf_infos,
				 .addresses = s->addresses,
				 .routes = s->routes,
				 .rules = s->rules,
				 .modules = s->modules };
	s->memory = (struct memory){ .ledger = s->ledger };
	s->next_ifindex = 2;
	for (size_t i = 0; i < ELEMENTSOF(modules); i++) {
		s->modules[s->node.n_modules].state = MODULE_LOADED;
		COPY(s->modules[s->node.n_modules++].name, modules[i]);
	}
	for (uint32_t i = 0; i < n_cards; i++)
		add_card(s, i);
	for (uint32_t i = 0; i < n_cards; i++)
		if (one_in(s, 6))
			add_scalable(s, i);
	for (uint32_t i = 0; i < n_eris; i++)
		add_eri(s, i);
	for (uint32_t i = 0; i < n_uppers; i++)
		add_upper(s);
	for (uint32_t i = 0; i < n_addresses; i++)
		add_address(s, any_netdev(s));
	for (uint32_t i = 0; i < n_defaults; i++)
		add_route(s, any_netdev(s), 0);
	for (uint32_t i = 0; i < n_routes; i++)
		add_route(s, any_netdev(s), 12);
	for (uint32_t i = 0; i < n_table_routes; i++)
		add_table_route(s, any_netdev(s));
	for (uint32_t i = 0; i < n_rules; i++)
		add_rule(s, any_netdev(s));
	for (size_t i = 0; i < s->node.n_netdevs; i++)
		COPY(s->netdevs[i].way_file, one_in(s, 4) ? "/etc/network/interfaces" : "");
	make_files(s);
	if (one_in(s, 4)) {
		const struct address *a = &s->addresses[below(s, (uint32_t)s->node.n_addresses)];

		inet_ntop(a->family, a->local, s->node.kubelet.node_ip,
			  sizeof(s->node.kubelet.node_ip));
	}
	s->node.has_users = one_in(s, 2);
	s->node.netns_mode = one_in(s, 4) ? NETNS_MODE_EXCLUSIVE : NETNS_MODE_SHARED;

	qsort(s->pcis, s->node.n_pcis, sizeof(*s->pcis), by_address);
	qsort(s->addresses, s->node.n_addresses, sizeof(*s->addresses), by_ifindex);
	if (s->node.n_vf_infos > 0)
		qsort(s->vf_infos, s->node.n_vf_infos, sizeof(*s->vf_infos), by_pf);
}

/* The shapes of the presets, and what an administrator adds to them. */
static void make_config(struct scene *s)
{
	static const struct {
		const char *match;
		enum vf_mode mode;
		uint32_t count;
		bool manage;
		enum ipv6_mode ipv6;
		enum plugin_type type;
	} presets[] = {
		{ "driver:erdma", VF_MODE_KEEP, COUNT_UNSET, true, IPV6_NO, PLUGIN_NONE },
		{ "driver:mlx5_core", VF_MODE_KEEP, COUNT_UNSET, false, IPV6_NO,
		  PLUGIN_RDMA_SHARED },
		{ "driver:mlx5_core", VF_MODE_KEEP, COUNT_UNSET, true, IPV6_RA,
		  PLUGIN_RDMA_SHARED },
		{ "driver:mlx5_core", VF_MODE_KEEP, COUNT_UNSET, false, IPV6_NO, PLUGIN_HCA },
		{ "driver:mlx5_core", VF_MODE_EXCLUSIVE, COUNT_UNSET, false, IPV6_NO,
		  PLUGIN_SRIOV },
		{ "driver:mlx5_core", VF_MODE_SHARED, COUNT_UNSET, false, IPV6_NO, PLUGIN_SRIOV },
		{ "driver:mlx5_core", VF_MODE_SHARED_MULTI, 4, false, IPV6_NO, PLUGIN_SRIOV },
	};
	const size_t i = below(s, ELEMENTSOF(presets));
	struct device_config *dc = &s->section;

	*dc = (struct device_config){ .name = "rdma", .mode = presets[i].mode };
	dc->count = presets[i].count;
	COPY(s->match, presets[i].match);
	if (one_in(s, 5)) /* the function is named */
		snprintf(s->match, sizeof(s->match), "pci:0000:40:00.0%s",
			 one_in(s, 2) ? " pci:0000:4?:00.0" : "");
	else if (one_in(s, 5))
		COPY(s->match, "netdev:*");
	dc->match = s->match;
	dc->mtu = one_in(s, 3) ? 4200 : 0;
	dc->trust = (enum trust)below(s, _TRUST_N);
	s->config.devices = dc;
	s->config.n_devices = 1;
	s->config.route.manage = presets[i].manage || one_in(s, 3);
	s->config.route.ipv6 = presets[i].ipv6;
	s->config.route.metric = 200;
	s->config.route.rules = (enum policy_rules)below(s, _POLICY_RULES_N);
	s->config.route.address = one_in(s, 4) ? ADDRESS_STATIC : ADDRESS_EXISTING;
	if (s->config.route.address == ADDRESS_STATIC)
		dc->address = (struct ip){ AF_INET, { 10, 77, 0, 2 }, 24 };
	s->config.plugin.type =
		one_in(s, 4) ? (enum plugin_type)below(s, _PLUGIN_N) : presets[i].type;
	COPY(s->config.plugin.resource, "rdma/hca");
	COPY(s->config.plugin.config_file, "/run/rdma-provision/device-plugin/config.json");
	s->config.plugin.shares = 1000;
	if (one_in(s, 2))
		COPY(s->config.plugin.manifest, "/etc/kubernetes/manifests/rdma.yaml");
	for (enum output o = 0; o < _OUTPUT_N; o++)
		if (one_in(s, 2))
			snprintf(s->config.output.paths[o], sizeof(s->config.output.paths[o]),
				 "/o/%d", o);
}

/* What output/ would: the addresses of the devices, and a pod. */
static int make_document(const struct config *c, _unused_ const struct node *n, struct plan *p)
{
	char text[512] = "";

	for (size_t i = 0; i < p->n_devices; i++)
		if (output_plugin_offers(&p->devices[i]))
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ",
				 p->devices[i].pci->address);
	if (!*text || c->plugin.type == PLUGIN_NONE)
		return 0;
	p->plugin = strdup(text);
	p->manifest = *c->plugin.manifest ? strdup(MANIFEST_MARK "\nnew") : NULL;
	return p->plugin ? 0 : -ENOMEM;
}

static void make_outputs(struct scene *s, struct plan *p)
{
	for (enum output o = 0; o < _OUTPUT_N; o++) {
		p->outputs[o].path = *s->config.output.paths[o] ? s->config.output.paths[o] : NULL;
		p->outputs[o].text = p->outputs[o].path && !one_in(s, 3) ? strdup("new") : NULL;
	}
	assert_int_equal(plan_outputs(&s->config, &s->node, &s->memory, p), 0);
}

/* --- the oracle --- */

static const struct netdev *by_index(const struct node *n, uint32_t ifindex)
{
	for (size_t i = 0; i < n->n_netdevs; i++)
		if (n->netdevs[i].ifindex == ifindex)
			return &n->netdevs[i];
	return NULL;
}

/* Is the function at or below this netdev? */
static bool reaches(const struct node *n, const struct netdev *nd, const char *pci, int depth)
{
	if (depth > 12)
		return false;
	if (streq(nd->pci, pci) || streq(nd->scalable_of, pci))
		return true;
	for (size_t i = 0; i < n->n_ibdevs; i++)
		if (streq(n->ibdevs[i].pci, pci) && streq(n->ibdevs[i].netdev, nd->name))
			return true;
	for (size_t i = 0; i < n->n_netdevs; i++) {
		const struct netdev *o = &n->netdevs[i];
		const struct netdev *master = by_index(n, o->master);
		const bool is_ovs_port = streq(nd->kind, "openvswitch") && master &&
					 streq(master->kind, "openvswitch");

		if ((o->master == nd->ifindex || nd->link == o->ifindex || is_ovs_port) &&
		    o != nd && reaches(n, o, pci, depth + 1))
			return true;
	}
	return false;
}

static bool owns(const struct node *n, const struct netdev *nd, int family, const uint8_t *bytes)
{
	bool is_zero = true;

	for (int i = 0; i < (family == AF_INET ? 4 : 16); i++)
		is_zero &= bytes[i] == 0;
	for (size_t i = 0; i < n->n_addresses && !is_zero; i++)
		if (n->addresses[i].ifindex == nd->ifindex && n->addresses[i].family == family &&
		    memcmp(n->addresses[i].local, bytes, family == AF_INET ? 4 : 16) == 0)
			return true;
	return false;
}

static bool is_default(const struct route *t)
{
	return t->prefix_len == 0 && t->table == RT_TABLE_MAIN;
}

static bool has_ipv4_default(const struct node *n)
{
	for (size_t i = 0; i < n->n_routes; i++)
		if (is_default(&n->routes[i]) && n->routes[i].family == AF_INET)
			return true;
	return false;
}

static bool has_default(const struct node *n)
{
	for (size_t i = 0; i < n->n_routes; i++)
		if (is_default(&n->routes[i]))
			return true;
	return false;
}

/* Would a better default route take the packets of this one? */
static bool is_best(const struct node *n, const struct route *t, bool with_ra)
{
	for (size_t i = 0; i < n->n_routes; i++) {
		const struct route *o = &n->routes[i];

		if (o->family != t->family || !is_default(o) ||
		    (!with_ra && o->protocol == RTPROT_RA))
			continue;
		if (o->metric < t->metric || (o->metric == t->metric && t->protocol == RTPROT_RA &&
					      o->protocol != RTPROT_RA))
			return false;
	}
	return true;
}

static bool is_remembered(const char *pci)
{
	for (size_t i = 0; i < scene.n_remembered; i++)
		if (streq(scene.remembered[i], pci))
			return true;
	return false;
}

/* Does the node itself leave by this netdev, or have its address on it? */
static bool is_way_of_node(const struct node *n, const struct netdev *nd)
{
	const bool has_ip = *n->kubelet.node_ip; /* one of this node, as they are made here */
	const bool with_ra = !has_ipv4_default(n) && !has_ip;
	uint8_t ip[16] = {};

	if (scene.n_remembered > 0)
		return is_remembered(nd->pci);
	if (*nd->way_file && !has_ip && !has_default(n)) /* in a first boot */
		return true;
	for (size_t i = 0; i < n->n_routes; i++) {
		const struct route *t = &n->routes[i];

		if (!is_default(t) ||
		    (t->family == AF_INET6 && t->protocol == RTPROT_RA && !with_ra) ||
		    !is_best(n, t, t->family == AF_INET || with_ra))
			continue;
		if (t->ifindex == nd->ifindex || owns(n, nd, t->family, t->src))
			return true;
	}
	if (has_ip && inet_pton(AF_INET, n->kubelet.node_ip, ip) == 1)
		return owns(n, nd, AF_INET, ip);
	return has_ip && inet_pton(AF_INET6, n->kubelet.node_ip, ip) == 1 &&
	       owns(n, nd, AF_INET6, ip);
}

static bool carries(const struct node *n, const char *pci)
{
	if (scene.n_remembered > 0)
		return is_remembered(pci);
	for (size_t i = 0; i < n->n_netdevs; i++)
		if (is_way_of_node(n, &n->netdevs[i]) && reaches(n, &n->netdevs[i], pci, 0))
			return true;
	return false;
}

static bool has_host_address(const struct node *n, const char *pci)
{
	for (size_t i = 0; i < n->n_addresses; i++) {
		const struct netdev *nd = by_index(n, n->addresses[i].ifindex);

		if (n->addresses[i].scope == RT_SCOPE_UNIVERSE && nd && streq(nd->pci, pci))
			return true;
	}
	return false;
}

static bool has_master(const struct node *n, const char *pci)
{
	for (size_t i = 0; i < n->n_netdevs; i++)
		if (streq(n->netdevs[i].pci, pci) && n->netdevs[i].master > 0)
			return true;
	return false;
}

static const struct pci *function(const struct node *n, const char *address)
{
	for (size_t i = 0; i < n->n_pcis; i++)
		if (streq(n->pcis[i].address, address))
			return &n->pcis[i];
	return NULL;
}

/* Another program has it: its driver is none that its modalias resolves to. */
static bool is_of_another(const struct pci *vf)
{
	return *vf->physfn &&
	       (streq(vf->driver, "vfio-pci") || streq(vf->driver, "uio_pci_generic") ||
		*vf->driver_override || *vf->vdpa);
}

static bool has_vf_of_node(const struct node *n, const char *pf)
{
	for (size_t i = 0; i < n->n_pcis; i++)
		if (streq(n->pcis[i].physfn, pf) && carries(n, n->pcis[i].address))
			return true;
	return false;
}

/* A change of its VFs takes those that are there away. */
static const struct pci *untouchable_vf(const struct node *n, const char *pf)
{
	for (size_t i = 0; i < n->n_pcis; i++) {
		const struct pci *vf = &n->pcis[i];

		if (streq(vf->physfn, pf) &&
		    (has_host_address(n, vf->address) || has_master(n, vf->address) ||
		     carries(n, vf->address) || is_of_another(vf)))
			return vf;
	}
	return NULL;
}

/* --- what must hold --- */

/* Is the netdev of a managed NIC, or above one? */
static bool is_managed(const struct node *n, const struct plan *p, const struct netdev *nd)
{
	for (size_t i = 0; i < p->n_devices; i++)
		if (reaches(n, nd, p->devices[i].pci->address, 0))
			return true;
	return false;
}

static const char *judge_route(const struct action *a)
{
	switch (a->verb) {
	case VERB_ADD_RULE:
	case VERB_REMOVE_RULE:
		return a->rule.protocol == OWN_PROTOCOL ? NULL : "changes a rule of others";
	case VERB_SET_ROUTE:
	case VERB_REMOVE_ROUTE:
		if (a->route.route.table != OWN_TABLE_BASE + a->route.route.ifindex)
			return "changes a route of no table of ours";
		return a->route.route.protocol == OWN_PROTOCOL ? NULL : "changes a route of others";
	case VERB_REMOVE_ADDRESS:
	case VERB_REMOVE_NEIGHBOUR: /* nothing is recorded here */
		return "removes what others made";
	default:
		return NULL;
	}
}

static const char *judge_file(const struct scene *s, const struct plan *p, const struct action *a)
{
	const struct node *n = &s->node;
	const bool is_write = a->verb == VERB_WRITE_PLUGIN;

	switch (a->verb) {
	case VERB_WRITE_PLUGIN:
	case VERB_REMOVE_PLUGIN: /* the same text is written once more to record it */
		return n->is_plugin_foreign && n->plugin_file &&
				       !(is_write && streq(n->plugin_file, p->plugin))
			       ? "changes the plugin's file of others"
			       : NULL;
	case VERB_WRITE_MANIFEST:
	case VERB_REMOVE_MANIFEST:
		return n->manifest_file && !is_prefix(n->manifest_file, MANIFEST_MARK)
			       ? "changes a pod of others"
			       : NULL;
	case VERB_WRITE_OUTPUT:
	case VERB_REMOVE_OUTPUT:
		for (enum output o = 0; o < _OUTPUT_N; o++)
			if (streq(a->target, s->config.output.paths[o]) && n->outputs[o].is_there &&
			    !n->outputs[o].text)
				return "changes an output of others";
		return NULL;
	default:
		return NULL;
	}
}

static const char *judge_action(const struct scene *s, const struct plan *p, const struct action *a)
{
	const struct node *n = &s->node;
	const struct pci *f = function(n, a->target);
	const struct netdev *nd = a->ifindex > 0 ? by_index(n, a->ifindex) : NULL;
	const bool is_named = streq(a->target, "0000:40:00.0") && is_prefix(s->match, "pci:0");
	const bool is_removal = a->verb == VERB_REMOVE_RULE || a->verb == VERB_REMOVE_ROUTE;

	const char *fault;

	if (a->class != CLASS_CHANGE)
		return NULL;
	fault = judge_route(a);
	if (!fault)
		fault = judge_file(s, p, a);
	if (fault)
		return fault;
	if (!is_removal && nd && !is_managed(n, p, nd))
		return "changes a netdev of no managed NIC";
	if (is_removal || a->is_back || a->verb == VERB_SET_PNETID)
		return NULL;
	if (nd && is_way_of_node(n, nd) && !(is_named && a->verb == VERB_SET_MTU))
		return "changes the netdev of the node";
	if (!f)
		return NULL;
	if (carries(n, f->address) &&
	    !(is_named && (a->verb == VERB_SET_NUM_VFS || a->verb == VERB_SET_AUTOPROBE ||
			   a->verb == VERB_SET_MTU)))
		return "changes what carries the node";
	if (a->verb == VERB_SET_MTU && !is_named && has_vf_of_node(n, f->address))
		return "changes the PF of a VF that carries the node";
	if (a->verb == VERB_SET_NUM_VFS && f->num_vfs > 0 && untouchable_vf(n, f->address))
		return "destroys a VF that is in use";
	if (a->verb == VERB_REBIND_DRIVER &&
	    (has_host_address(n, f->address) || has_master(n, f->address)))
		return "rebinds what the host uses";
	if (is_of_another(f))
		return "changes what another program has";
	return NULL;
}

static const char *judge_device(const struct scene *s, const struct device *d)
{
	const bool has_wish =
		s->section.mode == VF_MODE_SHARED || s->section.mode == VF_MODE_SHARED_MULTI;
	const struct node *n = &s->node;

	if (output_plugin_offers(d) && is_of_another(d->pci))
		return "hands out what another program has";
	if (output_plugin_offers(d) && !d->is_vf && has_wish)
		return "hands out a PF instead of VFs";
	if (s->config.plugin.type != PLUGIN_SRIOV || !output_plugin_offers(d))
		return NULL;
	if (carries(n, d->pci->address))
		return "hands out what carries the node";
	if (has_host_address(n, d->pci->address) &&
	    !(s->config.route.manage && s->config.route.ipv6 == IPV6_RA))
		return "hands out what has an address of the host";
	if (has_master(n, d->pci->address))
		return "hands out a port of a bond, team or bridge";
	return NULL;
}

/* What was met: a test that never meets a case shows nothing of it. */
static struct {
	uint32_t changes, carriers, handed_out, refused, named, scalable, routes, files, left,
		in_pod, lost;
} met;

static bool is_in_pod(const struct scene *s, const char *pci)
{
	for (size_t i = 0; i < s->memory.n_devices; i++)
		if (streq(s->memories[i].pci, pci))
			return true;
	return false;
}

/* Of a netdev that a router advertised for, and what is beside that below it. */
static bool is_above_remembered(const struct node *n, const char *netdev)
{
	for (size_t i = 0; i < n->n_netdevs; i++)
		for (size_t k = 0; k < scene.n_remembered && streq(n->netdevs[i].name, netdev); k++)
			if (reaches(n, &n->netdevs[i], scene.remembered[k], 0))
				return true;
	return false;
}

/* Of what earlier looks saw. */
static const char *judge_past(const struct scene *s, const struct device *d)
{
	const char *pci = d->pci->address;

	met.in_pod += is_in_pod(s, pci);
	met.lost += s->n_remembered > 0 && is_remembered(pci);
	if (is_in_pod(s, pci) && !d->is_in_pod)
		return "takes a VF in a pod for one that is back";
	if (s->n_remembered > 0 && d->node_nic && !is_remembered(pci) &&
	    !has_vf_of_node(&s->node, pci) && !is_above_remembered(&s->node, d->node_nic->netdev))
		return "takes a rail for what carries the node";
	return NULL;
}

/* What is of ours on the node's netdev is on its way out, where routes are managed at all. */
static const char *judge_rules(const struct scene *s, const struct plan *p)
{
	for (size_t i = 0; i < s->node.n_rules && s->config.route.manage; i++) {
		const struct netdev *nd =
			by_index(&s->node, s->node.rules[i].table - OWN_TABLE_BASE);
		bool is_removed = false;

		for (size_t k = 0; k < p->n_actions; k++)
			is_removed |= p->actions[k].verb == VERB_REMOVE_RULE &&
				      p->actions[k].ifindex == nd->ifindex;
		if (s->node.rules[i].protocol == OWN_PROTOCOL && is_way_of_node(&s->node, nd) &&
		    !is_removed)
			return "leaves a rule of ours on the netdev of the node";
	}
	return NULL;
}

/* As a hint or as an item of the plan. */
static const char *judge_words(const struct plan *p)
{
	for (size_t i = 0; i < p->n_devices; i++) {
		const char *target = p->devices[i].pci->address;
		uint32_t n = 0;

		for (size_t k = 0; k < p->n_reasons; k++)
			n += p->reasons[k].reason == REASON_NODE_NIC &&
			     streq(p->reasons[k].target, target);
		for (size_t k = 0; k < p->n_actions; k++)
			n += p->actions[k].reason == REASON_NODE_NIC &&
			     streq(p->actions[k].target, target);
		if (n > 1)
			return "says node-nic twice of one function";
	}
	return NULL;
}

static void print_scene(const struct scene *s, const struct plan *p)
{
	printf("Match=%s VirtualFunctions=%s Type=%s Manage=%d node-ip=%s\n", s->match,
	       vf_mode_name(s->section.mode), plugin_type_name(s->config.plugin.type),
	       s->config.route.manage, s->node.kubelet.node_ip);
	for (size_t i = 0; i < s->node.n_netdevs; i++)
		printf("%u: %s %s %s master %u link %u\n", s->netdevs[i].ifindex,
		       s->netdevs[i].name, s->netdevs[i].pci, s->netdevs[i].kind,
		       s->netdevs[i].master, s->netdevs[i].link);
	for (size_t i = 0; i < s->node.n_addresses; i++)
		printf("address of %u, family %d, scope %u\n", s->addresses[i].ifindex,
		       s->addresses[i].family, s->addresses[i].scope);
	for (size_t i = 0; i < s->node.n_routes; i++)
		printf("route /%u dev %u family %d metric %u proto %u\n", s->routes[i].prefix_len,
		       s->routes[i].ifindex, s->routes[i].family, s->routes[i].metric,
		       s->routes[i].protocol);
	for (size_t i = 0; i < p->n_actions; i++)
		printf("%s %s %s %s\n", verb_name(p->actions[i].verb), p->actions[i].target,
		       p->actions[i].subject, class_name(p->actions[i].class));
	for (size_t i = 0; i < p->n_reasons; i++)
		printf("hint %s %s %s\n", reason_code(p->reasons[i].reason), p->reasons[i].target,
		       p->reasons[i].detail);
}

/* A file of another program, in the way of ours. */
static void count_files(const struct plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		const struct action *a = &p->actions[i];

		met.left +=
			a->reason == REASON_OUTPUT_FOREIGN || a->reason == REASON_MANIFEST_FOREIGN;
		met.files += a->class == CLASS_CHANGE && a->verb >= VERB_WRITE_PLUGIN;
		met.routes += a->class == CLASS_CHANGE &&
			      (a->verb == VERB_REMOVE_ROUTE || a->verb == VERB_SET_ROUTE);
	}
}

static void count(const struct scene *s, const struct plan *p)
{
	count_files(p);
	for (size_t i = 0; i < p->n_actions; i++)
		met.changes += p->actions[i].class == CLASS_CHANGE;
	for (size_t i = 0; i < s->node.n_netdevs; i++)
		met.scalable += *s->node.netdevs[i].scalable_of &&
				is_way_of_node(&s->node, &s->node.netdevs[i]);
	for (size_t i = 0; i < p->n_devices; i++) {
		met.handed_out += s->config.plugin.type == PLUGIN_SRIOV &&
				  output_plugin_offers(&p->devices[i]);
		met.carriers += carries(&s->node, p->devices[i].pci->address);
		met.named += p->devices[i].is_named && p->devices[i].node_nic;
	}
	for (size_t i = 0; i < p->n_reasons; i++)
		met.refused += p->reasons[i].reason == REASON_NODE_NIC ||
			       p->reasons[i].reason == REASON_PORT_IN_USE;
}

static void look(struct scene *s, uint64_t number, bool is_printed, struct plan *p)
{
	const char *fault = NULL;

	assert_int_equal(
		make_whole_plan(&s->config, &s->node, &s->memory, NULL, true, make_document, p), 0);
	make_outputs(s, p);

	for (size_t i = 0; i < p->n_actions && !fault; i++)
		fault = judge_action(s, p, &p->actions[i]);
	for (size_t i = 0; i < p->n_devices && !fault; i++)
		fault = judge_device(s, &p->devices[i]);
	for (size_t i = 0; i < p->n_devices && !fault; i++)
		fault = judge_past(s, &p->devices[i]);
	if (!fault)
		fault = judge_rules(s, p);
	if (!fault)
		fault = judge_words(p);
	if (fault || is_printed)
		print_scene(s, p);
	if (fault)
		fail_msg("node %" PRIu64 " %s", number, fault);
	count(s, p);
}

static void try_node(uint64_t number, bool is_printed)
{
	_cleanup_(plan_done) struct plan p = {};

	scene = (struct scene){ .random = number };
	make_node(&scene);
	make_config(&scene);
	look(&scene, number, is_printed, &p);
}

/* --- from one look to the next --- */

static bool is_used_by_host(const struct node *n, const struct netdev *nd)
{
	for (size_t i = 0; i < n->n_netdevs; i++)
		if (n->netdevs[i].link == nd->ifindex)
			return true;
	for (size_t i = 0; i < n->n_routes; i++)
		if (n->routes[i].ifindex == nd->ifindex)
			return true;
	for (size_t i = 0; i < n->n_addresses; i++)
		if (n->addresses[i].ifindex == nd->ifindex)
			return true;
	for (size_t i = 0; i < n->n_rules; i++)
		if (n->rules[i].table == OWN_TABLE_BASE + nd->ifindex)
			return true;
	return nd->master > 0;
}

/* Its netdev has the name of one of the host there. */
static void move_into_pod(struct scene *s, struct ibdev *ib, struct netdev *nd)
{
	struct device_memory *m = &s->memories[s->memory.n_devices++];
	const struct netdev *host = any_netdev(s);

	*m = (struct device_memory){ .was_usable = true, .is_out = one_in(s, 2) };
	COPY(m->pci, ib->pci);
	COPY(m->netdev, nd->name);
	COPY(m->ibdev, ib->name);
	COPY(m->given.name, nd->name);
	COPY(m->given.mac, nd->mac);
	m->given.mtu = nd->mtu + 1;
	m->given.vlan = 7;
	COPY(ib->ports->gids->netdev, host->name);
	COPY(ib->netdev, "");
	COPY(nd->pci, "");
	snprintf(nd->name, sizeof(nd->name), "away%u", nd->ifindex);
}

static void move_vfs_into_pods(struct scene *s)
{
	s->node.netns_mode = NETNS_MODE_SHARED;
	s->memory.devices = s->memories;
	for (size_t i = 0; i < s->node.n_pcis; i++) {
		const struct pci *pci = &s->pcis[i];

		if (!*pci->physfn || !streq(pci->driver, "mlx5_core") || is_of_another(pci) ||
		    !one_in(s, 2))
			continue;
		for (size_t k = 0; k < s->node.n_netdevs; k++)
			for (size_t j = 0; j < s->node.n_ibdevs; j++)
				if (streq(s->netdevs[k].pci, pci->address) &&
				    streq(s->ibdevs[j].pci, pci->address) &&
				    !is_used_by_host(&s->node, &s->netdevs[k]))
					move_into_pod(s, &s->ibdevs[j], &s->netdevs[k]);
	}
	for (size_t i = 0; i < s->node.n_ibdevs; i++)
		rdma_find_netdev(&s->node, &s->ibdevs[i]);
}

static void remember_carriers(struct scene *s)
{
	char found[MAX_PCIS][PCI_LEN];
	size_t n = 0;

	for (size_t i = 0; i < s->node.n_pcis; i++)
		if (carries(&s->node, s->pcis[i].address))
			COPY(found[n++], s->pcis[i].address);
	if (n <= MAX_NODE_NICS) { /* more are not kept */
		memcpy(s->remembered, found, sizeof(found));
		s->n_remembered = n;
	}
}

/* As networkd has it; a look may come while the link is out, or once it is back. */
static void lose_uplink(struct scene *s)
{
	const bool is_back = one_in(s, 2);
	size_t n = 0;

	for (size_t i = 0; i < s->node.n_netdevs; i++) {
		struct netdev *nd = &s->netdevs[i];

		nd->carrier_downs += is_remembered(nd->pci);
		nd->has_carrier &= !is_remembered(nd->pci) || is_back;
	}
	for (size_t i = 0; i < s->node.n_routes; i++) {
		const struct route *t = &s->routes[i];
		const struct netdev *nd = by_index(&s->node, t->ifindex);
		bool is_of_uplink = t->protocol != RTPROT_RA || t->family == AF_INET;

		for (size_t k = 0; k < s->n_remembered; k++)
			is_of_uplink |= reaches(&s->node, nd, s->remembered[k], 0);
		if (!is_default(t) || !is_of_uplink)
			s->routes[n++] = *t;
	}
	s->node.n_routes = n;
	s->node.now_usec += USEC_PER_SEC;
	*s->node.kubelet.node_ip = '\0';
}

static void try_life(uint64_t number, bool is_printed)
{
	_cleanup_(plan_done) struct plan first = {}, second = {};
	struct scene *s = &scene;

	*s = (struct scene){ .random = number, .boot.boot_id = "now" };
	make_node(s);
	make_config(s);
	move_vfs_into_pods(s);
	COPY(s->node.boot_id, s->boot.boot_id);
	s->memory.boots = &s->boot;
	s->memory.n_boots = 1;
	look(s, number, is_printed, &first);
	boots_conclude(&s->config, &s->node, &s->memory, &first, &s->boot);

	remember_carriers(s);
	if (s->n_remembered == 0)
		return;
	lose_uplink(s);
	look(s, number, is_printed, &second);
}

static void random_nodes_are_not_harmed(_unused_ void **state)
{
	for (uint64_t i = 1; i <= N_NODES; i++)
		try_node(i, false);

	assert_true(met.changes > N_NODES);
	assert_true(met.carriers > N_NODES / 2);
	assert_true(met.handed_out > N_NODES / 10);
	assert_true(met.refused > N_NODES / 4);
	assert_true(met.named > N_NODES / 100);
	assert_true(met.scalable > N_NODES / 100);
	assert_true(met.routes > N_NODES / 4);
	assert_true(met.files > N_NODES / 4);
	assert_true(met.left > N_NODES / 4);
}

static void what_was_is_not_forgotten(_unused_ void **state)
{
	for (uint64_t i = 1; i <= N_LIVES; i++)
		try_life(i, false);
	assert_true(met.in_pod > N_LIVES / 10);
	assert_true(met.lost > N_LIVES / 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_nodes_are_not_harmed),
		cmocka_unit_test(what_was_is_not_forgotten),
	};

	if (argc == 2) {
		try_node(strtoull(argv[1], NULL, 10), true);
		try_life(strtoull(argv[1], NULL, 10), true);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
