/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "../src/kubelet/look.h"
#include "../src/model/module-options.h"
#include "../src/model/paths.h"
#include "../src/model/plugin-facts.h"
#include "../src/model/use-facts.h"
#include "../src/model/vf-facts.h"
#include "../src/step/steps.h"
#include "scene.h"

#define KUBELET_FILE_PATH "/var/lib/kubelet/config.yaml"
#define PLUGIN_FILE       "/run/rdma-provision/device-plugin/config.json"
#define POD_FILE          "/etc/kubernetes/manifests/rdma.yaml"
#define POD               MANIFEST_MARK "\nthe pod\n"
#define FIRST             "0000:41:00.0" /* the first PF; its VFs are .1 to .7 */
#define SECOND            "0000:42:00.0"
#define OWN_GID           "fe80:0000:0000:0000:0200:00ff:fe00:0001"

/* A node of cards that are all well, and a configuration that wants nothing: each test spoils one
 * thing. */
struct scene {
	uint32_t n_numa_nodes; /* of the machine */
	struct config config;
	struct device_config sections[3];
	struct node node;
	struct memory memory;
	struct pci pcis[16];
	struct netdev netdevs[24];
	struct ibdev ibdevs[16];
	struct port ports[2 * 16];
	struct gid gids[4 * 16];
	struct address addresses[4];
	struct route routes[4];
	struct ledger_entry ledger[4];
	struct module modules[6];
	struct device_memory memories[16];
	const struct plan *tried;
	bool is_wait_over, is_asked;
	char rules[2048];
};

static int compare_pci(const void *a, const void *b)
{
	return strcmp(((const struct pci *)a)->address, ((const struct pci *)b)->address);
}

static int compare_netdev(const void *a, const void *b)
{
	const struct netdev *x = a, *y = b;

	return (x->ifindex > y->ifindex) - (x->ifindex < y->ifindex);
}

static struct pci *find_pci(struct scene *s, const char *address)
{
	struct pci *pci = (struct pci *)node_pci(&s->node, address);

	assert_non_null(pci);
	return pci;
}

static struct netdev *netdev_of(struct scene *s, const char *address)
{
	struct netdev *nd = (struct netdev *)node_netdev_of(&s->node, address);

	assert_non_null(nd);
	return nd;
}

static struct ibdev *ibdev_of(struct scene *s, const char *address)
{
	struct ibdev *ib = (struct ibdev *)node_ibdev_of(&s->node, address);

	assert_non_null(ib);
	return ib;
}

static struct netdev *add_netdev(struct scene *s, uint32_t ifindex, const char *name,
				 const char *address)
{
	assert_true(s->node.n_netdevs < ELEMENTSOF(s->netdevs));
	s->netdevs[s->node.n_netdevs] =
		(struct netdev){ .ifindex = ifindex, .mtu = 1500, .max_mtu = 9978, .is_up = true };
	COPY(s->netdevs[s->node.n_netdevs].name, name);
	COPY(s->netdevs[s->node.n_netdevs++].pci, address);
	qsort(s->netdevs, s->node.n_netdevs, sizeof(*s->netdevs), compare_netdev);
	return (struct netdev *)node_netdev(&s->node, ifindex);
}

/* An RDMA device with one good port. */
static void add_ibdev(struct scene *s, const char *name, const char *address, const char *netdev)
{
	size_t i = s->node.n_ibdevs++;
	struct ibdev *ib = &s->ibdevs[i];

	assert_true(i < ELEMENTSOF(s->ibdevs));
	*ib = (struct ibdev){ .index = (uint32_t)i,
			      .node_type = "CA",
			      .uverbs = "uverbs0",
			      .umad = "umad0",
			      .ports = &s->ports[2 * i],
			      .n_ports = 1 };
	COPY(ib->name, name);
	COPY(ib->pci, address);
	COPY(ib->netdev, netdev);
	s->ports[2 * i] = (struct port){ .number = 1,
					 .state = "ACTIVE",
					 .link_layer = "Ethernet",
					 .gids = &s->gids[4 * i],
					 .n_gids = 1 };
	s->gids[4 * i] = (struct gid){ .index = 1, .gid = OWN_GID, .type = "RoCE v2" };
	COPY(s->gids[4 * i].netdev, netdev);
}

static struct pci *add_pci(struct scene *s, const char *address, const char *driver)
{
	assert_true(s->node.n_pcis < ELEMENTSOF(s->pcis));
	s->pcis[s->node.n_pcis] =
		(struct pci){ .vendor = 0x15b3, .device = 0x1021, .class = 0x020000 };
	COPY(s->pcis[s->node.n_pcis].driver, driver);
	COPY(s->pcis[s->node.n_pcis++].address, address);
	qsort(s->pcis, s->node.n_pcis, sizeof(*s->pcis), compare_pci);
	return find_pci(s, address);
}

static void add_card(struct scene *s, unsigned n)
{
	char address[32], netdev[32], ibdev[32];
	struct pci *pf;

	snprintf(address, sizeof(address), "0000:4%u:00.0", n + 1);
	snprintf(netdev, sizeof(netdev), "eth%u", n + 1);
	snprintf(ibdev, sizeof(ibdev), "mlx5_%u", n);
	pf = add_pci(s, address, "mlx5_core");
	pf->has_sriov = true;
	pf->total_vfs = 7;
	add_netdev(s, 10 * (n + 1), netdev, address);
	add_ibdev(s, ibdev, address, netdev);
}

/* VFs of the first card, as good as itself. */
static void add_vfs(struct scene *s, uint32_t n)
{
	find_pci(s, FIRST)->num_vfs = n;
	for (uint32_t i = 0; i < n; i++) {
		char address[32], netdev[32], ibdev[32];
		struct pci *vf;

		snprintf(address, sizeof(address), "0000:41:00.%" PRIu32, i + 1);
		snprintf(netdev, sizeof(netdev), "eth1v%" PRIu32, i);
		snprintf(ibdev, sizeof(ibdev), "mlx5_v%" PRIu32, i);
		vf = add_pci(s, address, "mlx5_core");
		COPY(vf->physfn, FIRST);
		vf->vf_index = i;
		add_netdev(s, 11 + i, netdev, address);
		add_ibdev(s, ibdev, address, netdev);
	}
}

static void set_module(struct scene *s, const char *name, enum module_state state)
{
	struct module *m = (struct module *)node_module(&s->node, name);

	if (!m) {
		m = &s->modules[s->node.n_modules++];
		COPY(m->name, name);
	}
	m->state = state;
}

/* "ret" has to stay where it is: it points into itself. */
static void set_scene(struct scene *ret, unsigned n_cards)
{
	static const char *const modules[] = { "ib_umad", "ib_uverbs", "mlx5_core", "rdma_ucm" };

	*ret = (struct scene){};
	COPY(ret->config.plugin.config_file, PLUGIN_FILE);
	ret->sections[0] = (struct device_config){ .name = "rail",
						   .count = COUNT_UNSET,
						   .match = (char *)"driver:mlx5_core" };
	ret->config.devices = ret->sections;
	ret->config.n_devices = 1;
	ret->config.route.metric = 200;
	COPY(ret->config.service.node_nic, "none"); /* unless it has a default route */
	ret->node = (struct node){ .netns_mode = NETNS_MODE_SHARED,
				   .has_socks = true,
				   .has_rdma_cm = true,
				   .pcis = ret->pcis,
				   .netdevs = ret->netdevs,
				   .addresses = ret->addresses,
				   .routes = ret->routes,
				   .ibdevs = ret->ibdevs,
				   .modules = ret->modules };
	ret->memory = (struct memory){ .ledger = ret->ledger, .devices = ret->memories };
	COPY(ret->memory.last_hash, "0"); /* some pass was before this one */
	COPY(ret->config.hash, "0");
	for (size_t i = 0; i < ELEMENTSOF(modules); i++)
		set_module(ret, modules[i], MODULE_LOADED);
	for (unsigned i = 0; i < n_cards; i++)
		add_card(ret, i);
}

static void drop_netdev(struct scene *s, const char *address)
{
	size_t i = (size_t)(netdev_of(s, address) - s->netdevs);

	memmove(&s->netdevs[i], &s->netdevs[i + 1],
		(--s->node.n_netdevs - i) * sizeof(*s->netdevs));
}

static void drop_ibdev(struct scene *s, const char *address)
{
	size_t i = (size_t)(ibdev_of(s, address) - s->ibdevs);

	memmove(&s->ibdevs[i], &s->ibdevs[i + 1], (--s->node.n_ibdevs - i) * sizeof(*s->ibdevs));
}

static void remember(struct scene *s, const char *address, bool was_usable)
{
	struct device_memory *m = &s->memories[s->memory.n_devices++];

	*m = (struct device_memory){ .ibdev = "mlx5_was",
				     .netdev = "was0",
				     .was_usable = was_usable };
	COPY(m->pci, address);
}

int __wrap_output_plugin_all(const struct config *c, const struct node *n, struct plan *p);

/* The devices that a plugin would get: "0000:41:00.0 0000:42:00.0 ". */
int __wrap_output_plugin_all(const struct config *c, const struct node *n, struct plan *p)
{
	char text[512] = "";

	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i].is_handed_out && p->devices[i].is_usable)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ",
				 p->devices[i].pci->address);
	if (!*text || c->plugin.type == PLUGIN_NONE)
		return 0;
	/* What the linter says is output's: here the one rule that a whole node can break. */
	if (n->netns_mode == NETNS_MODE_EXCLUSIVE)
		p->lint.refusal = REASON_NETNS_EXCLUSIVE;
	p->plugin = strdup(text);
	p->manifest = *c->plugin.manifest ? strdup(POD) : NULL;
	return p->plugin ? 0 : -ENOMEM;
}

/* With the udev rules as the plan wants them: those have a test of their own. */
static void make_plan(struct scene *s, struct plan *ret)
{
	const struct kubelet_found found = { .seen = s->node.kubelet,
					     .n_numa_nodes = s->n_numa_nodes };
	struct attempts tried = attempts_of(s->tried);

	tried.is_asked = s->is_asked;

	kubelet_decide(&s->config, &found, &s->node.kubelet_decision);
	assert_int_equal(
		make_whole_plan(&s->config, &s->node, &s->memory, &tried, s->is_wait_over, ret), 0);
	s->node.rules_file = ret->rules && COPY(s->rules, ret->rules) ? s->rules : NULL;
	plan_done(ret);
	assert_int_equal(
		make_whole_plan(&s->config, &s->node, &s->memory, &tried, s->is_wait_over, ret), 0);
}

/* One line for each action: "set-num-vfs TARGET 0->4", and what else than a change it is. */
static void describe(const struct plan *p, char *ret, size_t size)
{
	*ret = '\0';
	for (size_t i = 0; i < p->n_actions; i++) {
		const struct action *a = &p->actions[i];
		char buf_from[SHOWN_LEN], buf_to[SHOWN_LEN];
		const char *from = action_from(a, buf_from), *to = action_to(a, buf_to);
		char *at = ret + strlen(ret);

		snprintf(at, size - strlen(ret), "%s%s %s", i ? "\n" : "", verb_name(a->verb),
			 a->target);
		if (*from || *to)
			snprintf(at + strlen(at), size - strlen(ret), " %s->%s", from, to);
		if (a->class != CLASS_CHANGE)
			snprintf(at + strlen(at), size - strlen(ret), " %s %s",
				 class_name(a->class), reason_code(a->reason));
		if (a->is_done)
			snprintf(at + strlen(at), size - strlen(ret), " failed");

		/* A change has no reason, and all else has one. */
		assert_int_equal(a->class == CLASS_CHANGE, a->reason == REASON_NONE);
	}
}

/* The name of the row goes along, so that a difference tells where it is. */
static void assert_plan(struct scene *s, const char *row, const char *expected)
{
	_cleanup_(plan_done) struct plan p = {};
	char text[2048];

	make_plan(s, &p);
	describe(&p, text, sizeof(text));
	assert_row(row, text, expected);
}

static void assert_handed_out(struct scene *s, const char *row, const char *expected)
{
	_cleanup_(plan_done) struct plan p = {};
	char text[256] = "";

	make_plan(s, &p);
	for (size_t i = 0; i < p.n_devices; i++)
		if (p.devices[i].is_handed_out)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 *text ? " " : "", p.devices[i].pci->address + strlen("0000:"));
	assert_row(row, text, expected);
}

static void assert_state(struct scene *s, const char *row, enum node_state expected)
{
	_cleanup_(plan_done) struct plan p = {};

	make_plan(s, &p);
	assert_row(row, node_state_name(p.state), node_state_name(expected));
}

static void a_finished_node_has_an_empty_plan_and_is_ready(_unused_ void **state)
{
	struct scene s;

	set_scene(&s, 2);
	assert_plan(&s, "two cards", "");
	assert_state(&s, "two cards", NODE_READY);
	set_scene(&s, 0);
	assert_plan(&s, "no card", "");
	assert_state(&s, "no card", NODE_READY);
}

/* --- virtual functions --- */

static void no_sriov(struct scene *s)
{
	find_pci(s, FIRST)->has_sriov = false;
	find_pci(s, FIRST)->total_vfs = 0;
}
static void none_in_firmware(struct scene *s)
{
	find_pci(s, FIRST)->total_vfs = 0;
}
static void never_bound(struct scene *s)
{
	static struct log_line line = { FIRST, "[  127.9] mlx5_core " FIRST ": probe with driver "
					       "mlx5_core failed with error -110" };

	*find_pci(s, FIRST)->driver = '\0';
	COPY(find_pci(s, FIRST)->module, "mlx5_core");
	s->node.log_lines = &line;
	s->node.n_log_lines = 1;
}
/* By another program, before this one looked. */
static void unbound_before(struct scene *s)
{
	never_bound(s);
	s->node.n_log_lines = 0;
}
static void of_another_error(struct scene *s)
{
	static struct log_line line = { FIRST, "[    7.1] mlx5_core " FIRST ": 63.008 Gb/s "
					       "available PCIe bandwidth, limited by 8.0 GT/s" };

	never_bound(s);
	s->node.log_lines = &line;
}
/* By another program, in this boot. */
static void unbound(struct scene *s)
{
	never_bound(s);
	s->memories[s->memory.n_devices++] =
		(struct device_memory){ .pci = FIRST, .netdev = "eth1" };
}
static void stuck(struct scene *s)
{
	COPY(s->memory.stuck, "0000:99:00.0");
}
static void bonded(struct scene *s)
{
	struct netdev *bond = add_netdev(s, 90, "bond0", "");

	COPY(bond->kind, "bond");
	bond->bond_mode = 4;
	netdev_of(s, FIRST)->master = 90;
}
static void bridged(struct scene *s)
{
	COPY(add_netdev(s, 90, "br0", "")->kind, "bridge");
	netdev_of(s, FIRST)->master = 90;
}
static void bonded_igb(struct scene *s)
{
	bonded(s);
	COPY(find_pci(s, FIRST)->driver, "igb");
	s->sections[0].match = (char *)"pci:*";
}

static void without_rdma_vfs(struct scene *s)
{
	find_pci(s, FIRST)->vendor = 0x8086;
	COPY(find_pci(s, FIRST)->driver, "ice");
	s->sections[0].match = (char *)"pci:*";
}

/* Where VFs are asked for their PF is not handed out, whether they are made or refused. */
static void assert_no_stand_in(struct scene *s, const char *row)
{
	static const enum plugin_type types[] = { PLUGIN_RDMA_SHARED, PLUGIN_SRIOV, PLUGIN_HCA };
	const bool has_wish = s->sections[0].mode == VF_MODE_SHARED ||
			      s->sections[0].mode == VF_MODE_SHARED_MULTI;

	for (size_t i = 0; i < ELEMENTSOF(types) && has_wish; i++) {
		_cleanup_(plan_done) struct plan p = {};

		s->config.plugin.type = types[i];
		make_plan(s, &p);
		if (p.devices[0].is_handed_out)
			fail_msg("%s, %s: the PF is handed out", row, plugin_type_name(types[i]));
	}
}

static void vf_counts_change_only_through_zero_and_within_limits(_unused_ void **state)
{
	static const struct {
		const char *name;
		enum vf_mode mode;
		uint32_t count, have;
		void (*spoil)(struct scene *s);
		const char *expected;
	} rows[] = {
		{ "0 to N", VF_MODE_SHARED_MULTI, 4, 0, NULL, "set-num-vfs " FIRST " 0->4" },
		{ "N to N", VF_MODE_SHARED_MULTI, 4, 4, NULL, "" },
		{ "N to M", VF_MODE_SHARED_MULTI, 6, 4, NULL,
		  "set-num-vfs " FIRST " 4->0\nset-num-vfs " FIRST " 0->6" },
		{ "M to N", VF_MODE_SHARED_MULTI, 4, 6, NULL,
		  "set-num-vfs " FIRST " 6->0\nset-num-vfs " FIRST " 0->4" },
		{ "all", VF_MODE_SHARED_MULTI, 7, 0, NULL, "set-num-vfs " FIRST " 0->7" },
		{ "max", VF_MODE_SHARED_MULTI, COUNT_MAX, 0, NULL, "set-num-vfs " FIRST " 0->7" },
		{ "max is there", VF_MODE_SHARED_MULTI, COUNT_MAX, 7, NULL, "" },
		{ "keep none", VF_MODE_KEEP, COUNT_UNSET, 0, NULL, "" },
		{ "keep some", VF_MODE_KEEP, COUNT_UNSET, 4, NULL, "" },
		{ "exclusive has none", VF_MODE_EXCLUSIVE, COUNT_UNSET, 0, NULL, "" },
		{ "exclusive ends them", VF_MODE_EXCLUSIVE, COUNT_UNSET, 4, NULL,
		  "set-num-vfs " FIRST " 4->0" },
		{ "shared is one", VF_MODE_SHARED, COUNT_UNSET, 0, NULL,
		  "set-num-vfs " FIRST " 0->1" },
		{ "shared is there", VF_MODE_SHARED, COUNT_UNSET, 1, NULL, "" },
		{ "shared of many", VF_MODE_SHARED, COUNT_UNSET, 4, NULL,
		  "set-num-vfs " FIRST " 4->0\nset-num-vfs " FIRST " 0->1" },

		{ "8 of 7", VF_MODE_SHARED_MULTI, 8, 0, NULL,
		  "set-num-vfs " FIRST " 0->8 impossible too-many-vfs" },
		{ "8 of 7 keeps those there", VF_MODE_SHARED_MULTI, 8, 4, NULL,
		  "set-num-vfs " FIRST " 4->8 impossible too-many-vfs" },
		{ "no SR-IOV", VF_MODE_SHARED_MULTI, 4, 0, no_sriov,
		  "set-num-vfs " FIRST " 0->4 impossible no-sriov" },
		{ "no SR-IOV, exclusive", VF_MODE_EXCLUSIVE, COUNT_UNSET, 0, no_sriov, "" },
		{ "no VFs in the firmware", VF_MODE_SHARED_MULTI, 4, 0, none_in_firmware,
		  "set-num-vfs " FIRST " 0->4 impossible no-sriov" },
		{ "max of none", VF_MODE_SHARED_MULTI, COUNT_MAX, 0, none_in_firmware,
		  "set-num-vfs " FIRST " 0->max impossible no-sriov" },
		{ "another card is stuck", VF_MODE_SHARED_MULTI, 4, 0, stuck,
		  "set-num-vfs " FIRST " 0->4 waiting pci-stuck" },
		{ "stuck, but nothing to do", VF_MODE_SHARED_MULTI, 4, 4, stuck, "" },
		{ "unbound PF", VF_MODE_SHARED_MULTI, 4, 0, unbound,
		  "set-num-vfs " FIRST " 0->4 waiting no-driver" },
		{ "in a bond", VF_MODE_SHARED_MULTI, 4, 0, bonded,
		  "set-num-vfs " FIRST " 0->4 refused pf-in-lag" },
		{ "in a bond, none asked for", VF_MODE_EXCLUSIVE, COUNT_UNSET, 0, bonded, "" },
		{ "VFs without RDMA", VF_MODE_SHARED_MULTI, 4, 0, without_rdma_vfs,
		  "set-num-vfs " FIRST " 0->4 impossible vf-without-rdma" },
		{ "in a bridge", VF_MODE_SHARED_MULTI, 4, 0, bridged,
		  "set-num-vfs " FIRST " 0->4" },
		{ "a bond of others than mlx5", VF_MODE_SHARED_MULTI, 4, 0, bonded_igb,
		  "set-num-vfs " FIRST " 0->4 needs-reboot pf-in-use" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 1);
		s.sections[0].mode = rows[i].mode;
		s.sections[0].count = rows[i].count;
		add_vfs(&s, rows[i].have);
		if (rows[i].spoil)
			rows[i].spoil(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
		assert_no_stand_in(&s, rows[i].name);
	}
}

#define VF "0000:41:00.2" /* one in the middle */

static void netdev_left(struct scene *s)
{
	drop_netdev(s, VF);
}
static void known_netdev_left(struct scene *s)
{
	remember(s, VF, false);
	drop_netdev(s, VF);
}
static void ibdev_left(struct scene *s)
{
	remember(s, VF, true);
	s->node.netns_mode = NETNS_MODE_EXCLUSIVE;
	drop_ibdev(s, VF);
}
static void ibdev_maybe_left(struct scene *s)
{
	ibdev_left(s);
	s->node.netns_mode = NETNS_MODE_KEEP;
}
static void ibdev_gone(struct scene *s)
{
	ibdev_left(s);
	s->node.netns_mode = NETNS_MODE_SHARED;
}
static void virtual_ibdev_gone(struct scene *s)
{
	ibdev_left(s);
	s->memories[0].was_virtual = true;
}
static void has_contexts(struct scene *s)
{
	ibdev_of(s, VF)->n_contexts = 1;
}
static void has_unknown_contexts(struct scene *s)
{
	ibdev_of(s, VF)->n_contexts = UINT32_MAX;
}
static void is_enslaved(struct scene *s)
{
	COPY(add_netdev(s, 90, "team0", "")->kind, "team");
	netdev_of(s, VF)->master = 90;
}
static void has_vlan(struct scene *s)
{
	add_netdev(s, 90, "vlan5", "")->link = netdev_of(s, VF)->ifindex;
}
static struct netdev *idle_vlan(struct scene *s)
{
	has_vlan(s);
	((struct netdev *)node_netdev(&s->node, 90))->is_up = false;
	return (struct netdev *)node_netdev(&s->node, 90);
}
static void has_idle_vlan(struct scene *s)
{
	idle_vlan(s);
}
static void has_vlan_with_address(struct scene *s)
{
	idle_vlan(s);
	s->addresses[s->node.n_addresses++] =
		(struct address){ .ifindex = 90, .family = AF_INET, .local = { 10, 5 } };
}
static void has_vlan_in_bridge(struct scene *s)
{
	idle_vlan(s)->master = 91;
}
static void has_vlan_below_idle_macvlan(struct scene *s)
{
	has_vlan(s);
	add_netdev(s, 91, "macvlan0", "")->link = 90;
}
static void has_vlan_below_macvlan(struct scene *s)
{
	has_vlan_below_idle_macvlan(s);
	s->addresses[s->node.n_addresses++] =
		(struct address){ .ifindex = 91, .family = AF_INET, .local = { 10, 5 } };
}
/* A GID of the VF's ibdev, beside its own: of 10.9.9.9, on a netdev of this name. */
static void add_foreign_gid(struct scene *s, const char *netdev)
{
	struct port *port = ibdev_of(s, VF)->ports;

	port->gids[port->n_gids] = (struct gid){ .index = 2,
						 .gid = "0000:0000:0000:0000:0000:ffff:0a09:0909",
						 .type = "RoCE v2" };
	COPY(port->gids[port->n_gids++].netdev, netdev);
}
static struct address *add_own(struct scene *s, int family)
{
	struct address *a = &s->addresses[s->node.n_addresses++];

	*a = (struct address){ .ifindex = netdev_of(s, VF)->ifindex,
			       .family = family,
			       .local = { 10, 9, 9, 9 },
			       .peer = { 10, 9, 9, 9 } };
	return a;
}
static void pods_net1(struct scene *s)
{
	add_foreign_gid(s, "net1");
}
static void pods_unnamed(struct scene *s)
{
	add_foreign_gid(s, "");
}
static void pods_as_the_pf(struct scene *s)
{
	add_foreign_gid(s, netdev_of(s, FIRST)->name);
}
static void pods_as_the_vf(struct scene *s)
{
	add_own(s, AF_INET)->local[3] = 10;
	s->node.addresses[0].peer[3] = 10;
	s->node.addresses[0].scope = 253; /* of the link: its own GID is not waited for */
	add_foreign_gid(s, netdev_of(s, VF)->name);
}
/* The address is this service's. */
static void note_own(struct scene *s, const char *address)
{
	struct ledger_entry *e = &s->ledger[s->memory.n_ledger++];

	e->ifindex = netdev_of(s, VF)->ifindex;
	COPY(e->verb, "add-address");
	COPY(e->subject, address);
}
static void host_address(struct scene *s)
{
	add_own(s, AF_INET)->prefix_len = 24;
	add_foreign_gid(s, netdev_of(s, VF)->name);
}
static void host_address_beside_ours(struct scene *s)
{
	host_address(s);
	note_own(s, "10.9.9.8/24");
}
static void host_route(struct scene *s)
{
	s->routes[s->node.n_routes++] = (struct route){ .family = AF_INET,
							.dst = { 10, 8 },
							.prefix_len = 16,
							.table = RT_TABLE_MAIN,
							.ifindex = netdev_of(s, VF)->ifindex,
							.protocol = RTPROT_STATIC,
							.type = RTN_UNICAST };
}
static void route_of_the_kernel(struct scene *s)
{
	host_route(s);
	s->routes[0].protocol = RTPROT_KERNEL;
}
static void advertised_address(struct scene *s)
{
	add_own(s, AF_INET6)->flags = 0;
}
static void advertised_address_asked_for(struct scene *s)
{
	advertised_address(s);
	note_own(s, "ipv6/accept_ra");
	COPY(s->ledger[0].verb, "set-sysctl");
}
static void own_gid(struct scene *s)
{
	add_own(s, AF_INET);
	note_own(s, "10.9.9.9/0");
	add_foreign_gid(s, netdev_of(s, VF)->name);
}
static void own_gid_of_a_peer(struct scene *s)
{
	add_own(s, AF_INET)->local[3] = 10;
	note_own(s, "10.9.9.10/0");
	add_foreign_gid(s, netdev_of(s, VF)->name);
}
static void own_gid_of_ipv6(struct scene *s)
{
	struct address *a = add_own(s, AF_INET6);

	memset(a->local, 0, sizeof(a->local));
	a->local[10] = a->local[11] = 0xff;
	memcpy(a->local + 12, a->peer, 4);
	note_own(s, "::ffff:10.9.9.9/0");
	add_foreign_gid(s, netdev_of(s, VF)->name);
}
static void gid_of_infiniband(struct scene *s)
{
	pods_net1(s);
	COPY(ibdev_of(s, VF)->ports->gids[1].type, "IB/RoCE v1");
}
static void has_vfio(struct scene *s)
{
	drop_netdev(s, VF);
	drop_ibdev(s, VF);
	COPY(find_pci(s, VF)->driver, "vfio-pci");
}
static void idle_vfio(struct scene *s)
{
	has_vfio(s);
	s->node.has_users = true;
}
static void has_vfio_of_mlx5(struct scene *s)
{
	has_vfio(s);
	COPY(find_pci(s, VF)->driver, "mlx5_vfio_pci");
}
static void idle_vfio_remembered(struct scene *s)
{
	idle_vfio(s);
	remember(s, VF, true);
	s->memories[0].netdev[0] = '\0';
	s->node.netns_mode = NETNS_MODE_EXCLUSIVE;
	COPY(find_pci(s, VF)->driver, "mlx5_vfio_pci");
}
static void has_vdpa(struct scene *s)
{
	COPY(find_pci(s, VF)->vdpa, "vdpa0");
}
static void has_stub(struct scene *s)
{
	has_vfio(s);
	COPY(find_pci(s, VF)->driver, "pci-stub");
	COPY(find_pci(s, VF)->module, "mlx5_core");
	find_pci(s, VF)->has_other_driver = true;
}
static void is_to_be_vfios(struct scene *s)
{
	has_vfio(s);
	find_pci(s, VF)->driver[0] = '\0';
	COPY(find_pci(s, VF)->module, "mlx5_core");
	COPY(find_pci(s, VF)->driver_override, "vfio-pci");
}
static void vfio_open(struct scene *s)
{
	static struct user user = { .target = VF, .use = USE_VFIO, .pid = 30, .command = "dpdk" };

	idle_vfio(s);
	s->node.users = &user;
	s->node.n_users = 1;
}
static void pf_has_contexts(struct scene *s)
{
	ibdev_of(s, FIRST)->n_contexts = 3; /* the PF stays */
}

static void vfs_that_are_in_use_wait_for_a_reboot(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*spoil)(struct scene *s);
		const char *user; /* empty: nobody */
		bool is_usable;   /* or not handed out */
	} rows[] = {
		{ "netdev elsewhere", netdev_left,
		  "netdev-in-netns, its netdev in another network namespace", true },
		{ "netdev elsewhere that was here", known_netdev_left,
		  "netdev-in-netns, its netdev was0 in another network namespace", true },
		{ "ibdev elsewhere", ibdev_left,
		  "ibdev-in-netns, its ibdev mlx5_was in another network namespace", true },
		{ "ibdev elsewhere, the mode is not known", ibdev_maybe_left, "its ibdev mlx5_was",
		  false },
		{ "ibdev gone where none can be elsewhere", ibdev_gone, "", false },
		{ "virtual ibdev gone", virtual_ibdev_gone, "", false },
		{ "open context", has_contexts, "mlx5_v1 has 1 open context", true },
		{ "unknown contexts", has_unknown_contexts, "contexts of mlx5_v1 cannot be counted",
		  true },
		{ "in a team", is_enslaved, "eth1v1 belongs to team0, a bridge, bond or team",
		  true },
		{ "a VLAN above it that has nothing", has_vlan, "", true },
		{ "a VLAN that is down and has nothing", has_idle_vlan, "", true },
		{ "a VLAN that is down with an address", has_vlan_with_address,
		  "upper-netdev, eth1v1 carries vlan5", true },
		{ "a VLAN that is down in a bridge", has_vlan_in_bridge, "carries vlan5", true },
		{ "a VLAN with a macvlan above it", has_vlan_below_macvlan, "carries macvlan0",
		  true },
		{ "two above it that have nothing", has_vlan_below_idle_macvlan, "", true },
		{ "macvlan of a pod", pods_net1, "of a netdev above it, net1", true },
		{ "macvlan without a name", pods_unnamed, "in another namespace", true },
		{ "macvlan called as a NIC here", pods_as_the_pf, "of a netdev above it, eth1",
		  true },
		{ "macvlan called as the VF", pods_as_the_vf, "of a netdev above it, eth1v1",
		  true },
		{ "an address of the host", host_address, "has 10.9.9.9/24", true },
		{ "one beside ours", host_address_beside_ours, "has 10.9.9.9/24", true },
		{ "a route of the host", host_route, "has a route to 10.8.0.0/16", true },
		{ "a route of the kernel", route_of_the_kernel, "", true },
		{ "an advertised address", advertised_address, "has a09:909::/0", true },
		{ "one that we asked for", advertised_address_asked_for, "", true },
		{ "a GID of its own address", own_gid, "", true },
		{ "a GID of its own, which has a peer", own_gid_of_a_peer, "", true },
		{ "a GID of its own IPv6 address", own_gid_of_ipv6, "", true },
		{ "no RoCE GID", gid_of_infiniband, "", true },
		{ "of a virtual machine", has_vfio, "vfio, it is bound to vfio-pci", true },
		{ "of another vfio driver", has_vfio_of_mlx5, "is bound to mlx5_vfio_pci", true },
		{ "of vfio, which no process has open", idle_vfio, "is bound to vfio-pci", true },
		{ "of vfio, and usable before", idle_vfio_remembered, "is bound to mlx5_vfio_pci",
		  true },
		{ "of vfio, which a process has open", vfio_open, "dpdk (pid 30)", true },
		{ "of vDPA", has_vdpa, "vdpa, it is the vDPA device vdpa0", true },
		{ "of another driver", has_stub,
		  "other-driver, it is bound to pci-stub and not to mlx5_core", true },
		{ "unbound, for another driver", is_to_be_vfios,
		  "other-driver, its driver_override is vfio-pci", true },
		{ "only the PF is in use", pf_has_contexts, "", true },
	};
	static const struct {
		enum vf_mode mode;
		uint32_t count;
		const char *used, *unused;
	} wishes[] = {
		{ VF_MODE_SHARED_MULTI, 3, "", "" },
		{ VF_MODE_SHARED_MULTI, 5, "set-num-vfs " FIRST " 3->5 needs-reboot vf-in-use\n",
		  "set-num-vfs " FIRST " 3->0\nset-num-vfs " FIRST " 0->5\n" },
		{ VF_MODE_EXCLUSIVE, COUNT_UNSET,
		  "set-num-vfs " FIRST " 3->0 needs-reboot vf-in-use\n",
		  "set-num-vfs " FIRST " 3->0\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		for (size_t k = 0; k < ELEMENTSOF(wishes); k++) {
			_cleanup_(plan_done) struct plan p = {};
			char expected[512];
			struct scene s;

			set_scene(&s, 1);
			add_vfs(&s, 3);
			rows[i].spoil(&s);
			s.sections[0].mode = wishes[k].mode;
			s.sections[0].count = wishes[k].count;
			/* Until their number changes they are handed out as before. */
			snprintf(expected, sizeof(expected), "%s%s",
				 *rows[i].user ? wishes[k].used : wishes[k].unused,
				 rows[i].is_usable || (!*rows[i].user && *wishes[k].unused)
					 ? ""
					 : "wait " VF " waiting no-ibdev\n");
			if (*expected)
				expected[strlen(expected) - 1] = '\0';
			assert_plan(&s, rows[i].name, expected);

			make_plan(&s, &p);
			if (*rows[i].user && *wishes[k].used)
				if (!strstr(p.actions[0].detail, rows[i].user))
					fail_msg("%s: %s", rows[i].name, p.actions[0].detail);
		}
	}
}

static void nics_of_a_section_change_together(_unused_ void **state)
{
	struct scene s;

	set_scene(&s, 2);
	add_vfs(&s, 3);
	s.sections[0].mode = VF_MODE_SHARED_MULTI;
	s.sections[0].count = 4;
	assert_plan(&s, "none is used",
		    "set-num-vfs " FIRST " 3->0\nset-num-vfs " FIRST " 0->4\n"
		    "set-num-vfs " SECOND " 0->4");
	ibdev_of(&s, VF)->n_contexts = 1;
	assert_plan(&s, "a VF is open: one without VFs is in the middle of its change",
		    "set-num-vfs " FIRST " 3->4 needs-reboot vf-in-use\n"
		    "set-num-vfs " SECOND " 0->4");
	assert_handed_out(&s, "until then as before", "41:00.1 41:00.2 41:00.3");
	s.sections[0].mode = VF_MODE_EXCLUSIVE;
	s.sections[0].count = COUNT_UNSET;
	assert_plan(&s, "one that has none wants none",
		    "set-num-vfs " FIRST " 3->0 needs-reboot vf-in-use");
	assert_handed_out(&s, "it was not in that mode", "41:00.1 41:00.2 41:00.3");
	ibdev_of(&s, VF)->n_contexts = 0;
	assert_handed_out(&s, "none is used", "41:00.0 42:00.0");
}

static void a_pf_in_a_pod_keeps_the_mode_of_its_section(_unused_ void **state)
{
	struct scene s;

	set_scene(&s, 2);
	s.sections[0].mode = VF_MODE_SHARED;
	remember(&s, FIRST, true);
	drop_netdev(&s, FIRST);
	assert_plan(&s, "its PF",
		    "set-num-vfs " FIRST " 0->1 needs-reboot vf-in-use\n"
		    "set-num-vfs " SECOND " 0->1 needs-reboot vf-in-use");
	assert_handed_out(&s, "both are handed out as before", "41:00.0 42:00.0");
}

static void one_card_that_cannot_does_not_keep_the_others(_unused_ void **state)
{
	struct scene s;

	set_scene(&s, 2);
	s.sections[0].mode = VF_MODE_SHARED_MULTI;
	s.sections[0].count = 4;
	no_sriov(&s);
	assert_plan(&s, "first without SR-IOV",
		    "set-num-vfs " FIRST " 0->4 impossible no-sriov\nset-num-vfs " SECOND " 0->4");
}

/* --- matching --- */

/* mlx5, an unbound ice, a disk, and eRDMA with the virtio function of its netdev. */
static void set_mixed_scene(struct scene *s)
{
	struct pci *pci;

	set_scene(s, 1);
	pci = add_pci(s, "0000:42:00.0", "");
	COPY(pci->module, "ice");
	pci->vendor = 0x8086;
	pci->device = 0x1592;
	pci = add_pci(s, "0000:43:00.0", "nvme");
	pci->class = 0x010802;
	pci = add_pci(s, "0000:44:00.0", "erdma");
	pci->vendor = 0x1ded;
	pci->device = 0x107f;
	pci->class = 0;
	pci = add_pci(s, "0000:45:00.0", "virtio-pci");
	pci->vendor = 0x1af4;
	pci->device = 0x1041;
	add_netdev(s, 90, "eth9", "0000:45:00.0");
	add_ibdev(s, "erdma_0", "0000:44:00.0", "eth9");
}

/* "41:rail 44:second ": the bus of each managed PF and its section. */
static void assert_managed(struct scene *s, const char *row, const char *expected)
{
	_cleanup_(plan_done) struct plan p = {};
	char is[512], should[512];

	make_plan(s, &p);
	snprintf(is, sizeof(is), "%s: ", row);
	for (size_t i = 0; i < p.n_devices; i++)
		if (!p.devices[i].is_vf)
			snprintf(is + strlen(is), sizeof(is) - strlen(is), "%.2s:%s ",
				 p.devices[i].pci->address + 5, p.devices[i].config->name);
	snprintf(should, sizeof(should), "%s: %s", row, expected);
	assert_string_equal(is, should);
}

static void match_words_of_a_kind_are_alternatives_and_kinds_add_up(_unused_ void **state)
{
	static const struct {
		const char *match, *expected;
	} rows[] = {
		{ "pci:0000:41:00.0", "41:rail " },
		{ "pci:*", "41:rail 42:rail 44:rail " }, /* no disk */
		{ "pci:0000:4[12]:00.?", "41:rail 42:rail " },
		{ "pci:0000:41:00", "" },
		{ "pci:0000:43:00.0", "" },
		{ "id:15b3:1021", "41:rail " },
		{ "id:15b3:*", "41:rail " },
		{ "id:1ded:107f", "44:rail " },
		{ "driver:mlx5_core", "41:rail " },
		{ "driver:mlx5", "" },
		{ "driver:ice", "42:rail " }, /* what would drive it */
		{ "driver:nvme", "" },
		{ "driver:erdma", "44:rail " },
		{ "netdev:eth1", "41:rail " },
		{ "netdev:eth9", "44:rail " }, /* the RDMA function, not that of the netdev */
		{ "netdev:eth*", "41:rail 44:rail " },
		{ "netdev:*", "41:rail 44:rail " }, /* without a netdev there is none to match */
		{ "ibdev:mlx5_*", "41:rail " },
		{ "ibdev:erdma_?", "44:rail " },
		{ "pci:0000:41:00.0 pci:0000:42:00.0", "41:rail 42:rail " },
		{ "driver:ice driver:mlx5_core", "41:rail 42:rail " },
		{ "driver:mlx5_core netdev:eth1", "41:rail " },
		{ "driver:mlx5_core netdev:eth2", "" },
		{ "driver:ice driver:mlx5_core id:15b3:*", "41:rail " },
		{ "netdev:eth2 driver:mlx5_core netdev:eth1", "41:rail " },
		{ "id:8086:* netdev:*", "" },
		{ " \tdriver:mlx5_core\t ", "41:rail " },
		{ "mac:*", "" },
		{ "*", "" },
		{ "", "" },
		{ " ", "" },
		{ NULL, "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_mixed_scene(&s);
		s.sections[0].match = (char *)rows[i].match;
		assert_managed(&s, rows[i].match ? rows[i].match : "none", rows[i].expected);
	}
}

static void a_word_of_255_characters_matches_and_a_longer_one_does_not(_unused_ void **state)
{
	char match[260] = "pci:";
	struct scene s;

	set_mixed_scene(&s);
	memset(match + 4, '*', 251);
	s.sections[0].match = match;
	assert_managed(&s, "255", "41:rail 42:rail 44:rail ");
	match[255] = '*';
	assert_managed(&s, "256", "");
}

/* Bound it has the name of its driver, unbound that of the module, which has no '-'. */
static void a_driver_matches_in_either_spelling(_unused_ void **state)
{
	static const struct {
		const char *match;
		bool fits;
	} rows[] = {
		{ "driver:acme-net", true },    { "driver:acme_net", true },
		{ "driver:acme-*", true },      { "driver:[a-c]cme-net", true },
		{ "driver:acme[-_]net", true }, { "driver:acmenet", false },
		{ "driver:acme-ne", false },    { "driver:[d-z]cme-net", false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_mixed_scene(&s);
		s.sections[0].match = (char *)rows[i].match;
		COPY(find_pci(&s, "0000:41:00.0")->driver, "acme-net");
		assert_managed(&s, rows[i].match, rows[i].fits ? "41:rail " : "");
		find_pci(&s, "0000:41:00.0")->driver[0] = '\0';
		COPY(find_pci(&s, "0000:41:00.0")->module, "acme_net");
		assert_managed(&s, rows[i].match, rows[i].fits ? "41:rail " : "");
	}
}

static void the_first_section_that_matches_owns_a_card(_unused_ void **state)
{
	struct scene s;

	set_mixed_scene(&s);
	s.config.n_devices = 3;
	s.sections[0] = (struct device_config){ .name = "first", .match = (char *)"id:1ded:*" };
	s.sections[1] = (struct device_config){ .name = "second", .match = (char *)"pci:*" };
	s.sections[2] = (struct device_config){ .name = "third", .match = (char *)"pci:*" };
	assert_managed(&s, "three sections", "41:second 42:second 44:first ");
	s.config.n_devices = 0;
	assert_managed(&s, "no section", "");
}

static void erdma_is_a_nic_whatever_its_class_and_before_its_driver_is_loaded(_unused_ void **state)
{
	struct pci *pci;
	struct scene s;

	set_mixed_scene(&s);
	drop_ibdev(&s, "0000:44:00.0");
	pci = find_pci(&s, "0000:44:00.0");
	*pci->driver = '\0';
	COPY(pci->module, "erdma");
	set_module(&s, "erdma", MODULE_AVAILABLE);
	s.sections[0].match = (char *)"driver:erdma";
	assert_managed(&s, "unbound", "44:rail ");
	assert_plan(&s, "unbound", "load-module erdma");
	*pci->module = '\0';
	assert_managed(&s, "no module on disk", "44:rail ");
}

static void vfs_go_with_their_pf_and_are_never_matched(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;

	set_scene(&s, 2);
	add_vfs(&s, 2);
	s.sections[0].mode = VF_MODE_SHARED_MULTI;
	s.sections[0].count = 2;
	s.sections[0].match = (char *)"pci:0000:41:00.0 pci:0000:41:00.1";
	make_plan(&s, &p);

	assert_int_equal(p.n_devices, 3);
	for (size_t i = 0; i < p.n_devices; i++) {
		assert_int_equal(p.devices[i].is_vf, i > 0);
		assert_int_equal(p.devices[i].is_handed_out, i > 0);
	}
	plan_done(&p);

	/* without their PF they are nobody's */
	s.sections[0].match = (char *)"pci:0000:41:00.1 netdev:eth1v0";
	make_plan(&s, &p);
	assert_int_equal(p.n_devices, 0);
}

/* The default route of the node, by the first card unless another netdev is given. */
static struct route *add_default_route(struct scene *s, uint32_t ifindex)
{
	struct route *t = &s->routes[s->node.n_routes++];

	COPY(s->config.service.node_nic, "auto");
	*t = (struct route){ .family = AF_INET,
			     .table = RT_TABLE_MAIN,
			     .ifindex = ifindex,
			     .protocol = RTPROT_DHCP,
			     .type = RTN_UNICAST };
	return t;
}

/* DHCP has no answer yet. */
static void a_first_boot_waits_for_the_default_route(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {}, settled = {};
	struct scene s;

	set_scene(&s, 1);
	s.sections[0].mode = VF_MODE_SHARED;
	s.sections[0].mtu = 4200;
	COPY(s.config.service.node_nic, "auto");
	COPY(netdev_of(&s, FIRST)->sign, "dhclient (pid 812) listens for DHCP");
	make_plan(&s, &p);
	assert_int_equal(p.n_actions, 1);
	assert_int_equal(p.actions[0].verb, VERB_WAIT);
	assert_int_equal(p.actions[0].class, CLASS_WAITING);
	assert_int_equal(p.actions[0].reason, REASON_NODE_NIC_UNKNOWN);
	assert_string_equal(p.actions[0].detail,
			    "1 matches, 1 is left out: node-nic-unknown, eth1: dhclient (pid 812) "
			    "listens for DHCP; left out: VirtualFunctions=, MTU=");
	assert_non_null(strstr(action_advice(&p.actions[0]), "the node's default route"));
	assert_int_equal(p.state, NODE_STARTING);

	add_netdev(&s, 90, "eth9", "")->has_device = true;
	add_default_route(&s, 90);
	assert_plan(&s, "another NIC is the node's",
		    "set-mtu " FIRST " 1500->4200\nset-num-vfs " FIRST " 0->1");
	s.node.n_routes = 0;

	s.is_wait_over = true;
	make_plan(&s, &settled);
	assert_string_equal(settled.actions[0].target, FIRST);
	assert_int_equal(settled.actions[0].verb, VERB_SET_MTU);
}

static uint32_t add_master(struct scene *s, const char *kind)
{
	s->netdevs[s->node.n_netdevs] = (struct netdev){ .ifindex = 900, .is_up = true };
	COPY(s->netdevs[s->node.n_netdevs].name, "master0");
	COPY(s->netdevs[s->node.n_netdevs].kind, kind);
	s->node.n_netdevs++;
	netdev_of(s, FIRST)->master = 900;
	return 900;
}

static void node_route(struct scene *s)
{
	add_default_route(s, netdev_of(s, FIRST)->ifindex);
}
static void node_bond(struct scene *s)
{
	add_default_route(s, add_master(s, "bond"));
}
static void rail_route(struct scene *s)
{
	node_route(s);
	s->routes[0].metric = 1000;
	add_netdev(s, 4711, "eth9", "")->has_device = true;
	add_default_route(s, 4711);
}
static void rail_address(struct scene *s)
{
	s->addresses[s->node.n_addresses++] =
		(struct address){ .ifindex = netdev_of(s, FIRST)->ifindex,
				  .family = AF_INET,
				  .prefix_len = 24,
				  .flags = IFA_F_PERMANENT,
				  .local = { 10, 1, 0, 2 },
				  .peer = { 10, 1, 0, 2 } };
}
static void in_team(struct scene *s)
{
	add_master(s, "team");
}
static void uncounted_of_a_copy(struct scene *s)
{
	s->ibdevs[0].n_contexts = UINT32_MAX;
	s->node.is_copy = true;
}
static void idle_vfs(struct scene *s)
{
	add_vfs(s, 2);
}
static void vf_of_a_vm(struct scene *s)
{
	idle_vfs(s);
	has_vfio(s);
}
static void vf_with_an_address(struct scene *s)
{
	idle_vfs(s);
	rail_address(s);
	s->addresses[0].ifindex = netdev_of(s, VF)->ifindex;
}
static void vf_in_a_pod(struct scene *s)
{
	idle_vfs(s);
	remember(s, VF, true);
	drop_netdev(s, VF);
}
static void vf_of_a_vm_and_address(struct scene *s)
{
	vf_of_a_vm(s);
	rail_address(s);
}
static void vf_of_a_copy(struct scene *s)
{
	idle_vfs(s);
	ibdev_of(s, VF)->n_contexts = UINT32_MAX;
	s->node.is_copy = true;
}
static void vf_of_infiniband(struct scene *s)
{
	vf_of_a_vm(s);
	find_pci(s, FIRST)->class = 0x020700;
}
static void pf_in_a_pod_beside_its_vf(struct scene *s)
{
	vf_of_a_vm(s);
	remember(s, FIRST, true);
	drop_netdev(s, FIRST);
}
static void nothing_of_the_host(_unused_ struct scene *s)
{
}

/* "PF out" or not for each card, then codes of hints and of items for the first. */
static void assert_hand_out(struct scene *s, const char *row, const char *expected)
{
	_cleanup_(plan_done) struct plan p = {};
	char text[256];
	size_t n;

	make_plan(s, &p);
	n = (size_t)snprintf(text, sizeof(text), "%d %d", p.devices[0].is_handed_out,
			     p.devices[1].is_handed_out);
	for (size_t i = 0; i < p.n_reasons; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, " %s",
				      reason_code(p.reasons[i].reason));
	for (size_t i = 0; i < p.n_actions; i++)
		if (streq(p.actions[i].target, FIRST))
			n += (size_t)snprintf(text + n, sizeof(text) - n, ", %s %s %s",
					      verb_name(p.actions[i].verb),
					      class_name(p.actions[i].class),
					      reason_code(p.actions[i].reason));
	/* The plugin's file is all that it lacks. */
	snprintf(text + n, sizeof(text) - n, ": %s", p.is_whole ? "whole" : "not whole");
	assert_row(row, text, expected);
}

static void what_the_host_uses_is_not_moved_or_changed(_unused_ void **state)
{
	static const char glob[] = "driver:mlx5_core", named[] = "pci:" FIRST " pci:0000:42:*";
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
		enum plugin_type type;
		enum vf_mode mode;
		const char *match;
		uint32_t mtu;
		const char *expected;
	} rows[] = {
		{ "free", nothing_of_the_host, PLUGIN_SRIOV, VF_MODE_EXCLUSIVE, glob, 0,
		  "1 1: whole" },
		{ "default route", node_route, PLUGIN_SRIOV, VF_MODE_EXCLUSIVE, glob, 0,
		  "0 1 node-nic: whole" },
		{ "port of the bond with it", node_bond, PLUGIN_SRIOV, VF_MODE_EXCLUSIVE, glob, 0,
		  "0 1 node-nic: whole" },
		{ "lesser default route", rail_route, PLUGIN_SRIOV, VF_MODE_EXCLUSIVE, glob, 0,
		  "1 1 port-addressed: whole" },
		{ "address", rail_address, PLUGIN_SRIOV, VF_MODE_KEEP, glob, 0,
		  "0 1 port-in-use: whole" },
		{ "address, exclusive", rail_address, PLUGIN_SRIOV, VF_MODE_EXCLUSIVE, glob, 0,
		  "1 1 port-addressed, wait waiting gid-pending: whole" },
		{ "team, exclusive", in_team, PLUGIN_SRIOV, VF_MODE_EXCLUSIVE, glob, 0,
		  "0 1 port-in-use: whole" },
		{ "team", in_team, PLUGIN_SRIOV, VF_MODE_KEEP, glob, 0, "0 1 port-in-use: whole" },
		{ "default route, dranet", node_route, PLUGIN_DRANET, VF_MODE_EXCLUSIVE, glob, 0,
		  "0 1 node-nic: whole" },
		{ "address, dranet", rail_address, PLUGIN_DRANET, VF_MODE_KEEP, glob, 0,
		  "0 1 port-in-use: whole" },
		{ "address, dranet, exclusive", rail_address, PLUGIN_DRANET, VF_MODE_EXCLUSIVE,
		  glob, 0, "1 1 port-addressed, wait waiting gid-pending: whole" },
		{ "team, dranet", in_team, PLUGIN_DRANET, VF_MODE_KEEP, glob, 0,
		  "0 1 port-in-use: whole" },
		{ "address, dra-sriov", rail_address, PLUGIN_DRA_SRIOV, VF_MODE_KEEP, glob, 0,
		  "0 1 port-in-use: whole" },
		{ "unknown in a copy", uncounted_of_a_copy, PLUGIN_SRIOV, VF_MODE_KEEP, glob, 0,
		  "0 1 not-recorded: whole" },
		{ "VFs that nobody uses", idle_vfs, PLUGIN_SRIOV, VF_MODE_KEEP, glob, 0,
		  "1 0: whole" },
		{ "VF of a VM", vf_of_a_vm, PLUGIN_SRIOV, VF_MODE_KEEP, glob, 0,
		  "0 0 port-in-use: whole" },
		{ "VF of a VM, dranet", vf_of_a_vm, PLUGIN_DRANET, VF_MODE_KEEP, glob, 0,
		  "0 0 port-in-use: whole" },
		{ "VF of a VM, and an address", vf_of_a_vm_and_address, PLUGIN_SRIOV, VF_MODE_KEEP,
		  glob, 0, "0 0 port-in-use: whole" },
		{ "VF of a VM, shared PF", vf_of_a_vm, PLUGIN_RDMA_SHARED, VF_MODE_KEEP, glob, 0,
		  "1 0: whole" },
		{ "VF of a VM, InfiniBand", vf_of_infiniband, PLUGIN_SRIOV, VF_MODE_KEEP, glob, 0,
		  "1 0: whole" },
		{ "VF with an address", vf_with_an_address, PLUGIN_SRIOV, VF_MODE_KEEP, glob, 0,
		  "0 0 port-in-use: whole" },
		{ "VF in a pod", vf_in_a_pod, PLUGIN_SRIOV, VF_MODE_KEEP, glob, 0,
		  "0 0 port-in-use: whole" },
		{ "VF of which a copy tells nothing", vf_of_a_copy, PLUGIN_SRIOV, VF_MODE_KEEP,
		  glob, 0, "0 0 not-recorded: whole" },
		{ "PF in a pod, VF of a VM", pf_in_a_pod_beside_its_vf, PLUGIN_SRIOV, VF_MODE_KEEP,
		  glob, 0, "1 0: whole" },
		{ "shared by rdma-shared", node_bond, PLUGIN_RDMA_SHARED, VF_MODE_KEEP, glob, 0,
		  "1 1: whole" },
		{ "shared by hca", node_route, PLUGIN_HCA, VF_MODE_EXCLUSIVE, glob, 0,
		  "1 1: whole" },
		{ "VFs of the node's", node_bond, PLUGIN_RDMA_SHARED, VF_MODE_SHARED, glob, 0,
		  "0 0 node-nic: not whole" },
		{ "VFs of the node's, hca", node_route, PLUGIN_HCA, VF_MODE_SHARED, glob, 0,
		  "0 0 node-nic: not whole" },
		{ "VFs of the node's, sriov", node_route, PLUGIN_SRIOV, VF_MODE_SHARED, glob, 0,
		  "0 0 node-nic: not whole" },
		{ "VFs by its name", node_bond, PLUGIN_RDMA_SHARED, VF_MODE_SHARED, named, 0,
		  "0 0, set-num-vfs change : not whole" },
		{ "address, shared", rail_address, PLUGIN_RDMA_SHARED, VF_MODE_KEEP, glob, 0,
		  "1 1, wait waiting gid-pending: whole" },
		{ "MTU", node_route, PLUGIN_RDMA_SHARED, VF_MODE_KEEP, glob, 9000,
		  "1 1 node-nic: not whole" }, /* of the other */
		{ "MTU by its name", node_route, PLUGIN_RDMA_SHARED, VF_MODE_KEEP, named, 9000,
		  "1 1, set-mtu change : not whole" },
		{ "named, but it would move", node_route, PLUGIN_SRIOV, VF_MODE_EXCLUSIVE,
		  "netdev:eth1 netdev:eth2", 0, "0 1, wait refused node-nic: not whole" },
		{ "a glob is no name", node_route, PLUGIN_SRIOV, VF_MODE_EXCLUSIVE,
		  "pci:0000:4[12]:00.0", 0, "0 1 node-nic: whole" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 2);
		s.is_wait_over = true;
		s.config.plugin.type = rows[i].type;
		s.sections[0].mode = rows[i].mode;
		s.sections[0].match = (char *)rows[i].match;
		s.sections[0].mtu = rows[i].mtu;
		rows[i].set(&s);
		assert_hand_out(&s, rows[i].name, rows[i].expected);
	}
}

static void route_of_a_vf(struct scene *s)
{
	s->config.plugin.type = PLUGIN_RDMA_SHARED;
	add_vfs(s, 2);
	add_default_route(s, netdev_of(s, VF)->ifindex);
}

static void a_way_out_is_named_where_it_is_one(_unused_ void **state)
{
#define ROUTE "2 match, 1 is left out: node-nic, eth1 has the default route"
	static const struct {
		void (*set)(struct scene *);
		enum vf_mode mode;
		uint32_t mtu;
		const char *detail;
	} rows[] = {
		{ rail_address, VF_MODE_KEEP, 0,
		  "2 match, 1 is left out: port-in-use, eth1 has 10.1.0.2/24; "
		  "VirtualFunctions=exclusive hands it out, until the pod ends" },
		{ in_team, VF_MODE_KEEP, 0,
		  "2 match, 1 is left out: port-in-use, enslaved, eth1 belongs to master0, a "
		  "bridge, "
		  "bond or team" },
		{ vf_of_a_vm_and_address, VF_MODE_KEEP, 0,
		  "2 match, 1 is left out: port-in-use, one of its VFs is in use, " VF
		  ": vfio, it is bound to vfio-pci" },
		{ vf_in_a_pod, VF_MODE_KEEP, 0,
		  "2 match, 1 is left out: port-in-use, one of its VFs is in use, " VF
		  ": in a pod" },
		{ node_route, VF_MODE_KEEP, 0, ROUTE },
		{ node_route, VF_MODE_SHARED, 9000,
		  ROUTE "; left out: VirtualFunctions=, MTU= (only for pci: or netdev: without a "
			"glob in Match=)" },
		{ route_of_a_vf, VF_MODE_SHARED, 9000,
		  "eth1v1 has the default route; left out: MTU=" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		const struct diagnostic *h;
		struct scene s;

		set_scene(&s, 2);
		s.is_wait_over = true;
		s.config.plugin.type = PLUGIN_SRIOV;
		s.sections[0].mode = rows[i].mode;
		s.sections[0].mtu = rows[i].mtu;
		rows[i].set(&s);
		make_plan(&s, &p);
		h = FIND(it, p.reasons, p.n_reasons,
			 streq(it->target, rows[i].set == route_of_a_vf ? VF : FIRST));
		assert_string_equal(h ? h->detail : "", rows[i].detail);
	}
#undef ROUTE
}

/* The first NIC is in a pod, so that the mode changes at the next boot. */
static void what_has_an_address_is_handed_out_until_then_only_if_it_was(_unused_ void **state)
{
	for (unsigned was_exclusive = 0; was_exclusive < 2; was_exclusive++) {
		struct scene s;

		set_scene(&s, 2);
		s.is_wait_over = true;
		s.config.plugin.type = PLUGIN_SRIOV;
		s.sections[0].mode = VF_MODE_SHARED;
		rail_address(&s);
		s.addresses[0].ifindex = netdev_of(&s, SECOND)->ifindex;
		remember(&s, FIRST, true);
		remember(&s, SECOND, true);
		s.memories[1].was_exclusive = was_exclusive;
		drop_netdev(&s, FIRST);
		assert_handed_out(&s, was_exclusive ? "from exclusive" : "from keep",
				  was_exclusive ? "41:00.0 42:00.0" : "41:00.0");
	}
}

/* All that a section matches carries the node: nothing is handed out, whatever the type. */
static void without_the_vfs_of_a_section_the_node_is_not_ready(_unused_ void **state)
{
	for (enum plugin_type type = PLUGIN_NONE; type < _PLUGIN_N; type++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s, 1);
		s.is_wait_over = true;
		s.config.plugin.type = type;
		s.sections[0].mode = VF_MODE_SHARED;
		s.sections[0].expect = 1;
		node_route(&s);
		make_plan(&s, &p);
		assert_int_equal(p.state, NODE_DEGRADED);
		assert_int_equal(p.devices[0].aside, REASON_NODE_NIC);
	}
}

/* The host has an address on the first of them. */
static void without_a_vf_to_hand_out_the_node_is_not_ready(_unused_ void **state)
{
	static const struct {
		uint32_t count;
		bool is_whole;
	} rows[] = { { 1, false }, { 2, true } };

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s, 1);
		s.is_wait_over = true;
		s.config.plugin.type = PLUGIN_SRIOV;
		s.sections[0].mode = VF_MODE_SHARED_MULTI;
		s.sections[0].count = rows[i].count;
		s.sections[0].expect = 1;
		add_vfs(&s, rows[i].count);
		rail_address(&s);
		s.addresses[0].ifindex = netdev_of(&s, "0000:41:00.1")->ifindex;
		make_plan(&s, &p);
		assert_int_equal(p.devices[1].aside, REASON_PORT_IN_USE);
		assert_int_equal(p.is_whole, rows[i].is_whole);
	}
}

/* A part of the kernel may have PDs alone, and contexts do not tell whose they are. */
static void users_of_a_pf_are_asked_for_before_it_is_moved(_unused_ void **state)
{
	static const struct {
		enum plugin_type type;
		uint32_t n_contexts;
		bool is_asked;
	} rows[] = { { PLUGIN_SRIOV, 0, true },
		     { PLUGIN_SRIOV, 1, true },
		     { PLUGIN_RDMA_SHARED, 0, false } };
	static struct user user = { .target = FIRST,
				    .use = USE_KERNEL,
				    .detail = "mlx5_0: 1 PD of smc" };

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s, 2);
		s.config.plugin.type = rows[i].type;
		s.sections[0].mode = VF_MODE_EXCLUSIVE;
		ibdev_of(&s, FIRST)->n_contexts = rows[i].n_contexts;
		make_plan(&s, &p);
		assert_int_equal(questions_ask(&p.questions, QUESTION_USERS), rows[i].is_asked);
		if (!rows[i].is_asked)
			continue;
		assert_int_equal(p.devices[0].is_handed_out, rows[i].n_contexts == 0);
		plan_done(&p);
		s.node.users = &user;
		s.node.n_users = 1;
		s.node.has_users = true;
		s.node.asked = 1u << QUESTION_USERS;
		make_plan(&s, &p);
		assert_int_equal(p.devices[0].aside, REASON_PORT_IN_USE);
		assert_string_equal(p.devices[0].used_by, "kernel-user, mlx5_0: 1 PD of smc");
		assert_false(questions_ask(&p.questions, QUESTION_USERS));
	}
}

/* A node may have thousands of VFs: those with connections and no contexts are asked about. */
static void users_of_a_vf_with_connections_are_asked_for(_unused_ void **state)
{
	for (uint32_t n_cm_ids = 0; n_cm_ids < 2; n_cm_ids++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s, 1);
		s.config.plugin.type = PLUGIN_SRIOV;
		s.sections[0].mode = VF_MODE_SHARED_MULTI;
		s.sections[0].count = 1;
		add_vfs(&s, 1);
		ibdev_of(&s, "0000:41:00.1")->n_cm_ids = n_cm_ids;
		make_plan(&s, &p);
		assert_true(p.devices[1].is_handed_out);
		assert_int_equal(questions_ask(&p.questions, QUESTION_USERS), n_cm_ids);
	}
}

static void the_pf_is_handed_out_unless_vfs_are_asked_for(_unused_ void **state)
{
	static const struct {
		enum vf_mode mode;
		uint32_t count, have;
		bool is_pf_out, is_vf_out;
	} rows[] = {
		{ VF_MODE_KEEP, COUNT_UNSET, 0, true, false },
		{ VF_MODE_KEEP, COUNT_UNSET, 2, true, false }, /* VFs of another program */
		{ VF_MODE_EXCLUSIVE, COUNT_UNSET, 2, true, false },
		{ VF_MODE_SHARED, COUNT_UNSET, 0, false, false },
		{ VF_MODE_SHARED, COUNT_UNSET, 1, false, true },
		{ VF_MODE_SHARED_MULTI, 2, 2, false, true },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s, 1);
		add_vfs(&s, rows[i].have);
		s.sections[0].mode = rows[i].mode;
		s.sections[0].count = rows[i].count;
		make_plan(&s, &p);
		assert_int_equal(p.n_devices, 1 + rows[i].have);
		assert_int_equal(p.devices[0].is_handed_out, rows[i].is_pf_out);
		for (size_t k = 1; k < p.n_devices; k++)
			assert_int_equal(p.devices[k].is_handed_out, rows[i].is_vf_out);
	}
}

/* --- links --- */

static void mtu_is_raised_everywhere_and_never_lowered_under_vfs(_unused_ void **state)
{
	static const struct {
		const char *name;
		uint32_t want, have, max, n_vfs;
		const char *expected;
		uint32_t vfs_have;
	} rows[] = {
		{ "not asked for", 0, 1500, 9978, 0, "" },
		{ "is there", 1500, 1500, 9978, 0, "" },
		{ "raised", 4200, 1500, 9978, 0, "set-mtu " FIRST " 1500->4200" },
		{ "raised to the limit", 9978, 1500, 9978, 0, "set-mtu " FIRST " 1500->9978" },
		{ "above the limit", 9979, 1500, 9978, 0,
		  "set-mtu " FIRST " 1500->9979 impossible mtu-too-large" },
		{ "no limit told", 9979, 1500, 0, 0, "set-mtu " FIRST " 1500->9979" },
		{ "lowered", 1500, 4200, 9978, 0, "set-mtu " FIRST " 4200->1500" },
		{ "PF first, then VFs", 4200, 1500, 9978, 2,
		  "set-mtu " FIRST " 1500->4200\nset-mtu 0000:41:00.1 1500->4200\n"
		  "set-mtu 0000:41:00.2 1500->4200" },
		{ "VFs follow", 4200, 4200, 9978, 2,
		  "set-mtu 0000:41:00.1 1500->4200\nset-mtu 0000:41:00.2 1500->4200" },
		{ "not lowered under VFs", 1500, 4200, 9978, 2,
		  "set-mtu " FIRST " 4200->1500 refused mtu-under-vfs" },
		{ "nor the VFs with it", 1500, 4200, 9978, 1,
		  "set-mtu " FIRST " 4200->1500 refused mtu-under-vfs\n"
		  "set-mtu 0000:41:00.1 4200->1500 refused mtu-under-vfs",
		  4200 },
		{ "VFs made under a PF that was lowered", 1400, 1400, 9978, 1,
		  "set-mtu 0000:41:00.1 1500->1400" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 1);
		add_vfs(&s, rows[i].n_vfs);
		s.sections[0].mode = rows[i].n_vfs ? VF_MODE_SHARED_MULTI : VF_MODE_KEEP;
		s.sections[0].count = rows[i].n_vfs ? rows[i].n_vfs : COUNT_UNSET;
		s.sections[0].mtu = rows[i].want;
		netdev_of(&s, FIRST)->mtu = rows[i].have;
		netdev_of(&s, FIRST)->max_mtu = rows[i].max;
		if (rows[i].vfs_have)
			netdev_of(&s, "0000:41:00.1")->mtu = rows[i].vfs_have;
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

/* Other PFs than those of "is_port" carry the node. */
static void a_vf_gets_no_larger_mtu_than_its_pf_keeps(_unused_ void **state)
{
	static const struct {
		const char *name;
		bool is_port, is_named, is_infiniband;
		uint32_t pf_has, vf_has;
		const char *expected;
	} rows[] = {
		{ "the node needs the PF", false, false, false, 1500, 1500, "" },
		{ "the PF is named", false, true, false, 1500, 1500,
		  "set-mtu " FIRST " 1500->4200\nset-mtu " VF " 1500->4200" },
		{ "a port of a bond", true, false, false, 1500, 1500, "" },
		{ "up to the PF's", true, false, false, 3000, 1500, "set-mtu " VF " 1500->3000" },
		{ "the PF has more", true, false, false, 9000, 1500, "set-mtu " VF " 1500->4200" },
		{ "a larger one stays", true, false, false, 1500, 3000, "" },
		{ "InfiniBand", true, false, true, 2044, 2044, "set-mtu " VF " 2044->4200" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 1);
		add_vfs(&s, 2);
		s.sections[0].mode = VF_MODE_SHARED_MULTI;
		s.sections[0].count = 2;
		s.sections[0].mtu = 4200;
		if (rows[i].is_named)
			s.sections[0].match = (char *)"netdev:eth1";
		netdev_of(&s, FIRST)->mtu = rows[i].pf_has;
		netdev_of(&s, VF)->mtu = rows[i].vf_has;
		netdev_of(&s, "0000:41:00.1")->mtu = 4200;
		if (rows[i].is_infiniband)
			COPY(ibdev_of(&s, VF)->ports[0].link_layer, "InfiniBand");
		if (rows[i].is_port) {
			netdev_of(&s, FIRST)->master = 90;
			COPY(add_netdev(&s, 90, "bond0", "")->kind, "bond");
		} else
			add_default_route(&s, netdev_of(&s, FIRST)->ifindex);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

static void a_pf_is_up_before_its_vfs_are_made_and_vfs_of_ours_follow(_unused_ void **state)
{
	static const struct {
		const char *name;
		enum vf_mode mode;
		uint32_t have;
		const char *down, *expected;
	} rows[] = {
		{ "PF", VF_MODE_KEEP, 0, FIRST, "set-link-up " FIRST },
		{ "PF before VFs", VF_MODE_SHARED_MULTI, 0, FIRST,
		  "set-link-up " FIRST "\nset-num-vfs " FIRST " 0->2" },
		{ "PF under VFs", VF_MODE_SHARED_MULTI, 2, FIRST, "set-link-up " FIRST },
		{ "VF of ours", VF_MODE_SHARED_MULTI, 2, VF, "set-link-up " VF },
		{ "VF of others", VF_MODE_KEEP, 2, VF, "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 1);
		add_vfs(&s, rows[i].have);
		s.sections[0].mode = rows[i].mode;
		s.sections[0].count = rows[i].mode == VF_MODE_KEEP ? COUNT_UNSET : 2;
		netdev_of(&s, rows[i].down)->is_up = false;
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

/* An older kernel renames nothing that is up. */
static void what_udev_has_not_named_is_not_brought_up(_unused_ void **state)
{
	static const struct {
		const char *name, *kernel;
		bool is_unnamed;
		bool is_wait_over;
		const char *waited; /* by an earlier pass, with this configuration; NULL: none */
		bool was_held;
		const char *expected;
	} rows[] = {
		{ "unnamed", "6.1.0-13-amd64", true, false, NULL, false,
		  "set-num-vfs " FIRST " 0->2 waiting pf-down" },
		{ "named", "6.1.0-13-amd64", false, false, NULL, false,
		  "set-link-up " FIRST "\nset-num-vfs " FIRST " 0->2" },
		{ "a kernel that can", "6.2.1", true, false, NULL, false,
		  "set-link-up " FIRST "\nset-num-vfs " FIRST " 0->2" },
		{ "udev never did", "5.10.0", true, true, NULL, false,
		  "set-link-up " FIRST "\nset-num-vfs " FIRST " 0->2" },
		{ "it was waited for", "5.10.0", true, false, "0", false,
		  "set-link-up " FIRST "\nset-num-vfs " FIRST " 0->2" },
		{ "another configuration was waited for", "5.10.0", true, false, "1", false,
		  "set-num-vfs " FIRST " 0->2 waiting pf-down" },
		{ "\"revert\" since then", "5.10.0", true, false, "0", true,
		  "set-num-vfs " FIRST " 0->2 waiting pf-down" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 1);
		s.sections[0].mode = VF_MODE_SHARED_MULTI;
		s.sections[0].count = 2;
		COPY(s.node.kernel, rows[i].kernel);
		netdev_of(&s, FIRST)->is_up = false;
		netdev_of(&s, FIRST)->is_unnamed = rows[i].is_unnamed;
		s.is_wait_over = rows[i].is_wait_over;
		s.memory.was_wait_over = rows[i].waited;
		s.memory.was_held = rows[i].was_held;
		s.memory.last_state = rows[i].waited ? NODE_DEGRADED : NODE_STARTING;
		COPY(s.memory.last_hash, rows[i].waited ? rows[i].waited : "");
		add_netdev(&s, 90, "eth9", "");
		add_default_route(&s, 90);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

static void set_ra(struct netdev *nd, int32_t accept_ra, int32_t accept_ra_defrtr)
{
	nd->conf.known = 1u << NETCONF_ACCEPT_RA | 1u << NETCONF_ACCEPT_RA_DEFRTR;
	nd->conf.values[NETCONF_ACCEPT_RA] = accept_ra;
	nd->conf.values[NETCONF_ACCEPT_RA_DEFRTR] = accept_ra_defrtr;
}

/* A manager decides for what it brought up; before that the kernel has its own way. */
static void what_we_bring_up_takes_no_default_route(_unused_ void **state)
{
	static const struct {
		const char *name, *of;
		bool is_up, is_ra;
		int32_t accept_ra, defrtr;
		const char *expected;
	} rows[] = {
		{ "PF", FIRST, false, false, 1, 1,
		  "set-sysctl " FIRST " 1->0\nset-link-up " FIRST },
		{ "VF", VF, false, false, 1, 1, "set-sysctl " VF " 1->0\nset-link-up " VF },
		{ "it is up", FIRST, true, false, 1, 1, "" },
		{ "it listens to no router", FIRST, false, false, 0, 1, "set-link-up " FIRST },
		{ "it takes none", FIRST, false, false, 1, 0, "set-link-up " FIRST },
		{ "routers are wanted", VF, false, true, 2, 1,
		  "set-link-up " VF "\nwait 0000:41:00.1 waiting no-ipv6-gid" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct netdev *nd;
		struct scene s;

		set_scene(&s, 1);
		add_vfs(&s, 2);
		s.sections[0].mode = VF_MODE_SHARED_MULTI;
		s.sections[0].count = 2;
		nd = netdev_of(&s, rows[i].of);
		nd->is_up = rows[i].is_up;
		set_ra(nd, rows[i].accept_ra, rows[i].defrtr);
		if (rows[i].is_ra) {
			s.config.route.manage = true;
			s.config.route.ipv6 = IPV6_RA;
		}
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

/* The kernel brings them up with what they are on: vlan_device_event() in net/8021q/vlan.c. */
static void nor_do_vlans_that_come_up_with_it(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	char text[256] = "";
	struct scene s;

	set_scene(&s, 1);
	netdev_of(&s, FIRST)->is_up = false;
	for (uint32_t i = 0; i < 4; i++) {
		static const char *const names[] = { "vlan", "on-vlan", "macvlan", "up" };
		struct netdev *nd = add_netdev(&s, 30 + i, names[i], "");

		COPY(nd->kind, i == 2 ? "macvlan" : "vlan");
		nd->link = i == 1 ? 30 : netdev_of(&s, FIRST)->ifindex;
		nd->is_up = i == 3;
		set_ra(nd, 1, 1);
	}
	make_plan(&s, &p);
	FOREACH(a, p.actions, p.n_actions)
		append_word(text, sizeof(text), "; ", "%s %s %" PRIu32, verb_name(a->verb),
			    a->detail, a->ifindex);
	assert_string_equal(text, "set-sysctl vlan 30; set-sysctl on-vlan 31; "
				  "set-link-up eth1 10");
}

/* --- routes --- */

/* As the kernel does for each address, of this netdev's RDMA device. */
static void add_gid(struct scene *s, uint32_t ifindex, const uint8_t *ipv4)
{
	const struct netdev *nd = node_netdev(&s->node, ifindex);

	for (size_t i = 0; nd && i < s->node.n_ibdevs; i++) {
		struct port *port = s->ibdevs[i].ports;
		struct gid *gid = &port->gids[port->n_gids];

		if (!streq(s->ibdevs[i].netdev, nd->name))
			continue;
		assert_true(port->n_gids++ < 4);
		*gid = (struct gid){ .index = (uint32_t)port->n_gids, .type = "RoCE v2" };
		COPY(gid->netdev, nd->name);
		snprintf(gid->gid, sizeof(gid->gid),
			 "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x", ipv4[0], ipv4[1],
			 ipv4[2], ipv4[3]);
	}
}

static struct address *add_address(struct scene *s, uint32_t ifindex, const char *local,
				   uint32_t prefix_len)
{
	struct address *a = &s->addresses[s->node.n_addresses++];

	assert_true(s->node.n_addresses <= ELEMENTSOF(s->addresses));
	*a = (struct address){ .ifindex = ifindex,
			       .prefix_len = prefix_len,
			       .family = strchr(local, ':') ? AF_INET6 : AF_INET,
			       .flags = IFA_F_PERMANENT,
			       .scope = RT_SCOPE_UNIVERSE };
	assert_int_equal(inet_pton(a->family, local, a->local), 1);
	memcpy(a->peer, a->local, sizeof(a->peer));
	if (a->family == AF_INET)
		add_gid(s, ifindex, a->peer);
	return a;
}

static void add_route(struct scene *s, const char *dst, uint32_t prefix_len, uint32_t ifindex,
		      uint32_t metric, uint8_t protocol)
{
	struct route *t = &s->routes[s->node.n_routes++];

	assert_true(s->node.n_routes <= ELEMENTSOF(s->routes));
	*t = (struct route){ .prefix_len = prefix_len,
			     .ifindex = ifindex,
			     .metric = metric,
			     .protocol = protocol,
			     .table = RT_TABLE_MAIN,
			     .scope = RT_SCOPE_LINK,
			     .type = RTN_UNICAST,
			     .family = strchr(dst, ':') ? AF_INET6 : AF_INET };
	assert_int_equal(inet_pton(t->family, dst, t->dst), 1);
}

#define RAIL1 10 /* ifindex of the first card's netdev */
#define RAIL2 20
#define OTHER 90 /* of nobody's card */

/* A router of the link may advertise the prefix by which another NIC reaches a server. */
static void what_we_bring_up_takes_no_prefix_that_diverts(_unused_ void **state)
{
#define DEFRTR "set-sysctl " FIRST " 1->0\n"
#define PINFO  DEFRTR
#define UP     "set-link-up " FIRST
	static const struct {
		const char *name, *gateway;
		enum destination_to to;
		uint32_t prefix_len, metric;
		bool is_ra;
		const char *expected;
	} rows[] = {
		{ "of systemd-networkd", "::", TO_API_SERVER, 64, 1024, false, DEFRTR PINFO UP },
		{ "of the kernel", "::", TO_API_SERVER, 64, 256, false, DEFRTR UP },
		{ "shorter", "::", TO_API_SERVER, 48, 256, false, DEFRTR PINFO UP },
		{ "a longer one", "::", TO_API_SERVER, 128, 1024, false, DEFRTR UP },
		{ "by a gateway", "fe80::1", TO_API_SERVER, 48, 1024, false, DEFRTR UP },
		{ "by a device of the default route", "::", TO_API_SERVER, 0, 1024, false,
		  DEFRTR UP },
		{ "not needed", "::", TO_MOUNT, 64, 1024, false, DEFRTR UP },
		{ "routers are wanted", "::", TO_API_SERVER, 64, 1024, true, UP },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct destination server = { .to = rows[i].to,
					      .lookup = { .family = AF_INET6,
							  .found = OTHER,
							  .prefix_len = rows[i].prefix_len } };
		struct netdev *nd;
		struct scene s;

		set_scene(&s, 1);
		nd = netdev_of(&s, FIRST);
		nd->is_up = false;
		set_ra(nd, rows[i].is_ra ? 2 : 1, 1);
		nd->conf.known |= 1u << NETCONF_ACCEPT_RA_PINFO;
		nd->conf.values[NETCONF_ACCEPT_RA_PINFO] = 1;
		s.config.route.manage = rows[i].is_ra;
		s.config.route.ipv6 = rows[i].is_ra ? IPV6_RA : IPV6_NO;
		add_netdev(&s, OTHER, "eth9", "");
		add_route(&s, "fd00::", rows[i].prefix_len, OTHER, rows[i].metric, RTPROT_RA);
		assert_int_equal(inet_pton(AF_INET6, "fd00::50", server.lookup.dst), 1);
		assert_int_equal(inet_pton(AF_INET6, rows[i].gateway, server.lookup.gateway), 1);
		s.node.destinations = &server;
		s.node.n_destinations = 1;
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
#undef DEFRTR
#undef PINFO
#undef UP
}

static void foreign(struct scene *s, uint32_t metric)
{
	add_route(s, "10.0.0.0", 24, OTHER, metric, RTPROT_KERNEL);
}
static void foreign_0(struct scene *s)
{
	foreign(s, 0);
}
static void foreign_100(struct scene *s)
{
	foreign(s, 100);
}
static void foreign_199(struct scene *s)
{
	foreign(s, 199);
}
static void foreign_200(struct scene *s)
{
	foreign(s, 200);
}
static void foreign_1024(struct scene *s)
{
	foreign(s, 100);
	foreign(s, 1024);
	foreign(s, 300);
}
static void foreign_longer(struct scene *s)
{
	add_route(s, "10.0.0.0", 25, OTHER, 1024, RTPROT_KERNEL);
	add_route(s, "10.0.1.0", 24, OTHER, 1024, RTPROT_KERNEL);
	add_route(s, "0.0.0.0", 0, OTHER, 1024, RTPROT_BOOT);
}
static void foreign_last(struct scene *s)
{
	foreign(s, UINT32_MAX);
}
static void rail2_foreign_last(struct scene *s)
{
	add_address(s, RAIL2, "10.0.0.3", 24);
	foreign(s, UINT32_MAX - 1);
}
static void own_5000(struct scene *s)
{
	add_route(s, "10.0.0.0", 24, RAIL1, 5000, RTPROT_KERNEL);
	s->addresses[0].metric = 5000;
}
static void static_300(struct scene *s)
{
	add_route(s, "10.0.0.0", 24, RAIL1, 300, RTPROT_STATIC);
	add_route(s, "10.0.0.0", 24, RAIL1, 0, RTPROT_KERNEL);
}
static void agents_300(struct scene *s)
{
	add_route(s, "10.0.0.0", 24, RAIL1, 300, RTPROT_BOOT);
}
static void agents_199(struct scene *s)
{
	add_route(s, "10.0.0.0", 24, RAIL1, 199, RTPROT_BOOT);
}
static void is_200(struct scene *s)
{
	s->addresses[0].metric = 200;
	add_route(s, "10.0.0.0", 24, RAIL1, 200, RTPROT_KERNEL);
}
static void rail2(struct scene *s)
{
	add_address(s, RAIL2, "10.0.0.3", 24);
}
static void rail2_elsewhere(struct scene *s)
{
	add_address(s, RAIL2, "10.0.1.3", 24);
}
static void rail2_again(struct scene *s)
{
	is_200(s);
	rail2(s);
	s->addresses[1].metric = 201;
	add_route(s, "10.0.0.0", 24, RAIL2, 201, RTPROT_KERNEL);
}
static void rail2_swapped(struct scene *s)
{
	rail2(s);
	s->addresses[0].metric = 201;
	s->addresses[1].metric = 200;
}
static void rail2_foreign(struct scene *s)
{
	rail2(s);
	foreign_1024(s);
}
static void rail2_alone(struct scene *s)
{
	rail2(s);
	s->addresses[0].flags |= IFA_F_NOPREFIXROUTE;
}
static void rail2_unmanaged(struct scene *s)
{
	rail2(s);
	add_route(s, "10.0.0.0", 24, RAIL2, 200, RTPROT_KERNEL);
	s->sections[0].match = (char *)"netdev:eth1";
}
static void is_host(struct scene *s)
{
	s->addresses[0].prefix_len = 32;
}
static void is_link_local(struct scene *s)
{
	s->addresses[0].scope = RT_SCOPE_LINK;
}
static void is_secondary(struct scene *s)
{
	s->addresses[0].flags |= IFA_F_SECONDARY;
}
static void has_no_prefix_route(struct scene *s)
{
	s->addresses[0].flags |= IFA_F_NOPREFIXROUTE;
}
/* What NetworkManager does: in the order in which it brings NICs up, from metric 100 on. */
static void hint_of_manager(uint32_t metric, uint32_t flags, uint8_t protocol, const char *expected)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;

	set_scene(&s, 1);
	s.config.route.manage = true;
	add_address(&s, RAIL1, "10.0.0.2", 24);
	s.addresses[0].flags |= flags;
	add_route(&s, "10.0.0.0", 24, RAIL1, metric, protocol);
	make_plan(&s, &p);
	assert_string_equal(p.n_reasons > 0 ? reason_code(p.reasons[0].reason) : "", expected);
	if (*expected)
		assert_string_equal(p.reasons[0].detail,
				    "10.0.0.0/24 dev eth1 has metric 101, below 200");
}

static void a_route_that_a_manager_made_is_reported(_unused_ void **state)
{
	hint_of_manager(101, IFA_F_NOPREFIXROUTE, RTPROT_KERNEL, "route-not-ranked");
	hint_of_manager(200, IFA_F_NOPREFIXROUTE, RTPROT_KERNEL, "");
	hint_of_manager(101, 0, RTPROT_KERNEL, "");
}

static void is_elsewhere(struct scene *s)
{
	s->addresses[0].ifindex = OTHER;
}
static void is_ipv6(struct scene *s)
{
	s->node.n_addresses = 0;
	add_address(s, RAIL1, "fd00:1::2", 64);
}
static void is_ipv6_foreign(struct scene *s)
{
	is_ipv6(s);
	add_route(s, "fd00:1::", 64, OTHER, 256, RTPROT_KERNEL);
}
static void is_ipv6_finished(struct scene *s)
{
	is_ipv6_foreign(s);
	s->addresses[0].metric = 257;
}
static void is_ipv6_host(struct scene *s)
{
	is_ipv6(s);
	s->addresses[0].prefix_len = 128;
}
static void has_peer(struct scene *s)
{
	assert_int_equal(inet_pton(AF_INET, "10.9.0.1", s->addresses[0].peer), 1);
	add_gid(s, RAIL1, s->addresses[0].peer);
	foreign_1024(s);
	add_route(s, "10.9.0.0", 24, OTHER, 400, RTPROT_KERNEL);
}
static void metric_500(struct scene *s)
{
	s->config.route.metric = 500;
	foreign_100(s);
}
static void not_managed(struct scene *s)
{
	s->config.route.manage = false;
	foreign_1024(s);
}

static void
prefix_routes_rank_below_everybody_elses_and_the_same_on_every_run(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
		const char *expected;
	} rows[] = {
		{ "alone", NULL, "set-metric " FIRST " 0->200" },
		{ "below 0", foreign_0, "set-metric " FIRST " 0->200" },
		{ "below 100", foreign_100, "set-metric " FIRST " 0->200" },
		{ "below 199", foreign_199, "set-metric " FIRST " 0->200" },
		{ "below 200", foreign_200, "set-metric " FIRST " 0->201" },
		{ "below the highest", foreign_1024, "set-metric " FIRST " 0->1025" },
		{ "other prefixes do not count", foreign_longer, "set-metric " FIRST " 0->200" },
		{ "nothing is below the last", foreign_last, "set-metric " FIRST " 0->200" },
		{ "our own does not count", own_5000, "set-metric " FIRST " 5000->200" },
		{ "what others put on our card counts", static_300, "set-metric " FIRST " 0->301" },
		{ "what an agent has ranked instead of the kernel stays", agents_300, "" },
		{ "but not below Metric=", agents_199, "set-metric " FIRST " 0->200" },
		{ "Metric=500", metric_500, "set-metric " FIRST " 0->500" },
		{ "finished", is_200, "" },
		{ "two rails", rail2, "set-metric " FIRST " 0->200\nset-metric " SECOND " 0->201" },
		{ "two rails, two prefixes", rail2_elsewhere,
		  "set-metric " FIRST " 0->200\nset-metric " SECOND " 0->200" },
		{ "two rails, finished", rail2_again, "" },
		{ "two rails, swapped", rail2_swapped,
		  "set-metric " FIRST " 201->200\nset-metric " SECOND " 200->201" },
		{ "two rails below another", rail2_foreign,
		  "set-metric " FIRST " 0->1025\nset-metric " SECOND " 0->1026" },
		{ "two rails below the last but one", rail2_foreign_last,
		  "set-metric " FIRST " 0->4294967295\nset-metric " SECOND " 0->4294967295" },
		{ "a rail without a route has no rank", rail2_alone,
		  "set-metric " SECOND " 0->200" },
		{ "the second is not managed", rail2_unmanaged, "set-metric " FIRST " 0->201" },
		{ "prefix of the peer", has_peer, "set-metric " FIRST " 0->401" },
		{ "a single host has no prefix route", is_host, "" },
		{ "link-local", is_link_local, "" },
		{ "secondary", is_secondary, "" },
		{ "no prefix route", has_no_prefix_route, "" },
		{ "of nobody's card", is_elsewhere, "" },
		{ "IPv6 begins at 256", is_ipv6, "set-metric " FIRST " 256->200" },
		{ "IPv6 below 256", is_ipv6_foreign, "set-metric " FIRST " 256->257" },
		{ "IPv6 finished", is_ipv6_finished, "" },
		{ "IPv6 host", is_ipv6_host, "" },
		{ "Manage=no", not_managed, "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 2);
		s.config.route.manage = true;
		s.config.route.rules = POLICY_RULES_NO;
		s.sections[0].require_address = REQUIRE_ADDRESS_NO;
		add_netdev(&s, OTHER, "eth9", "");
		add_address(&s, RAIL1, "10.0.0.2", 24);
		if (rows[i].set)
			rows[i].set(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

static void a_metric_names_its_address_and_its_netdev(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;

	set_scene(&s, 2);
	s.config.route.manage = true;
	s.config.route.rules = POLICY_RULES_NO;
	add_address(&s, RAIL1, "10.0.0.2", 32);
	add_address(&s, RAIL2, "10.0.1.2", 24);
	make_plan(&s, &p);
	assert_int_equal(p.n_actions, 1);
	assert_memory_equal(&p.actions[0].number.address, &s.addresses[1], sizeof(s.addresses[1]));
	assert_int_equal(p.actions[0].ifindex, RAIL2);
	assert_int_equal(p.actions[0].step, STEP_ROUTE);
}

/* --- kubelet --- */

/* A kubelet with a file that says this; UNSET: a word nobody knows. */
static void set_kubelet(struct scene *s, enum topology_policy policy)
{
	struct kubelet *k = &s->node.kubelet;

	*k = (struct kubelet){ .is_there = true, .has_file = true, .file = KUBELET_FILE_PATH };
	for (int i = 0; i < _KUBELET_SETTING_N; i++)
		k->values[i] = (struct kubelet_value){ .rank = 1 };
	k->values[0] = (struct kubelet_value){ .source = KUBELET_FILE, .rank = policy };
	COPY(k->values[0].path, KUBELET_FILE_PATH);
	COPY(k->values[0].text, policy ? topology_policy_name(policy) : "vendor");
}

/* Of the decision table itself there is a test of its own, test-kubelet-plan.c. */
static void the_kubelets_settings_are_one_change_and_refusals_are_reported(_unused_ void **state)
{
	static const struct {
		const char *name;
		bool is_missing;
		enum topology_policy want, have;
		enum topology_scope scope; /* asked for; it is container */
		uint32_t n_numa_nodes;
		const char *expected;
		enum reason hint;
	} rows[] = {
		{ "raised", 0, TOPOLOGY_POLICY_BEST_EFFORT, TOPOLOGY_POLICY_NONE, 0, 2,
		  "ensure-kubelet " KUBELET_FILE_PATH " none->best-effort", REASON_NONE },
		{ "both", 0, TOPOLOGY_POLICY_BEST_EFFORT, TOPOLOGY_POLICY_NONE, TOPOLOGY_SCOPE_POD,
		  2, "ensure-kubelet " KUBELET_FILE_PATH " none->best-effort", REASON_NONE },
		{ "the scope alone", 0, TOPOLOGY_POLICY_BEST_EFFORT, TOPOLOGY_POLICY_RESTRICTED,
		  TOPOLOGY_SCOPE_POD, 2, "ensure-kubelet " KUBELET_FILE_PATH " container->pod",
		  REASON_NONE },
		{ "is there", 0, TOPOLOGY_POLICY_RESTRICTED, TOPOLOGY_POLICY_RESTRICTED, 0, 2, "",
		  REASON_NONE },
		{ "not asked for", 0, TOPOLOGY_POLICY_UNSET, TOPOLOGY_POLICY_NONE, 0, 2, "",
		  REASON_NONE },
		{ "no kubelet", 1, TOPOLOGY_POLICY_BEST_EFFORT, TOPOLOGY_POLICY_UNSET, 0, 2, "",
		  REASON_KUBELET_NOT_FOUND },
		{ "9 NUMA nodes", 0, TOPOLOGY_POLICY_BEST_EFFORT, TOPOLOGY_POLICY_NONE, 0, 9, "",
		  REASON_KUBELET_NUMA_NODES },
		{ "not understood", 0, TOPOLOGY_POLICY_BEST_EFFORT, TOPOLOGY_POLICY_UNSET, 0, 2,
		  "ensure-kubelet " KUBELET_FILE_PATH
		  " vendor->best-effort refused kubelet-value-unknown",
		  REASON_NONE },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s, 1);
		s.config.kubelet.topology_policy = rows[i].want;
		s.config.kubelet.topology_scope = rows[i].scope;
		s.n_numa_nodes = rows[i].n_numa_nodes;
		set_kubelet(&s, rows[i].have);
		s.node.kubelet.is_there = !rows[i].is_missing;
		assert_plan(&s, rows[i].name, rows[i].expected);
		make_plan(&s, &p);
		assert_int_equal(p.n_reasons, rows[i].hint != REASON_NONE);
		if (p.n_reasons > 0)
			assert_int_equal(p.reasons[0].reason, rows[i].hint);
		/* The kubelet is no device, but ready is what nothing has to be done to. */
		assert_int_equal(p.state, plan_has_open_changes(&p) ? NODE_STARTING : NODE_READY);
	}
}

static void systemd_runs_its_generators_again_before_the_node_is_ready(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {}, again = {};
	struct attempts tried;
	struct scene s;

	set_scene(&s, 1);
	s.node.is_generated_stale = true;
	assert_plan(&s, "stale", "reload-units kubelet.service");
	/* READY=1 comes while a module is loaded, and the kubelet starts with what systemd has. */
	set_module(&s, "ib_umad", MODULE_AVAILABLE);
	assert_plan(&s, "before what takes long",
		    "reload-units kubelet.service\nload-module ib_umad");
	set_module(&s, "ib_umad", MODULE_LOADED);
	make_plan(&s, &p);
	assert_int_equal(p.state, NODE_STARTING);

	/* It had no effect, and is no reason to hold anything back. */
	p.actions[0].is_done = true;
	tried = (struct attempts){ .actions = p.actions, .n_actions = 1 };
	assert_int_equal(make_whole_plan(&s.config, &s.node, &s.memory, &tried, false, &again), 0);
	assert_false(plan_has_open_changes(&again));
	assert_int_equal(again.state, NODE_READY);
}

/* The generator and kubelet-ensure read no last good configuration: they keep what they made. */
static void a_malformed_configuration_asks_nothing_of_the_kubelets_programs(_unused_ void **state)
{
	struct scene s;

	set_scene(&s, 1);
	s.config.kubelet.topology_policy = TOPOLOGY_POLICY_RESTRICTED;
	s.n_numa_nodes = 2;
	set_kubelet(&s, TOPOLOGY_POLICY_NONE);
	s.node.is_generated_stale = true;
	assert_plan(&s, "valid",
		    "reload-units kubelet.service\n"
		    "ensure-kubelet " KUBELET_FILE_PATH " none->restricted");
	s.config.is_invalid = true;
	assert_plan(&s, "malformed", "");
}

/* --- driver and netns --- */

static void modules_that_are_not_there_are_loaded_or_told(_unused_ void **state)
{
	static const struct {
		const char *name, *module;
		enum module_state state;
		const char *expected;
	} rows[] = {
		{ "loaded", "ib_umad", MODULE_LOADED, "" },
		{ "built in", "ib_umad", MODULE_BUILTIN, "" },
		{ "available", "ib_umad", MODULE_AVAILABLE, "load-module ib_umad" },
		{ "uverbs", "ib_uverbs", MODULE_AVAILABLE, "load-module ib_uverbs" },
		{ "rdma_cm", "rdma_ucm", MODULE_AVAILABLE, "load-module rdma_ucm" },
		{ "missing", "ib_umad", MODULE_MISSING,
		  "load-module ib_umad impossible module-missing" },
		{ "blacklisted", "rdma_ucm", MODULE_BLACKLISTED,
		  "load-module rdma_ucm refused module-blacklisted" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 1);
		set_module(&s, rows[i].module, rows[i].state);
		assert_plan(&s, rows[i].name, rows[i].expected);
		s.config.n_devices = 0;
		assert_plan(&s, "nothing is managed", "");
	}
}

static void what_drives_an_unbound_function_is_loaded_and_binds_it(_unused_ void **state)
{
	static const struct {
		const char *name, *unbound, *module;
		enum module_state state;
		const char *expected;
	} rows[] = {
		{ "PF, to be loaded", FIRST, "mlx5_core", MODULE_AVAILABLE,
		  "load-module mlx5_core" },
		{ "PF, loaded", FIRST, "mlx5_core", MODULE_LOADED, "" },
		{ "PF, missing", FIRST, "mlx5_core", MODULE_MISSING,
		  "load-module mlx5_core impossible module-missing" },
		{ "VF, to be loaded", VF, "mlx5_core", MODULE_AVAILABLE, "load-module mlx5_core" },
		{ "VF, loaded", VF, "mlx5_core", MODULE_LOADED, "bind-driver " VF " ->mlx5_core" },
		{ "VF, blacklisted", VF, "mlx5_core", MODULE_BLACKLISTED,
		  "load-module mlx5_core refused module-blacklisted\n"
		  "wait " VF " waiting no-driver" },
		{ "VF, nobody drives it", VF, "", MODULE_LOADED, "wait " VF " waiting no-driver" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 1);
		add_vfs(&s, 2);
		s.sections[0].mode = VF_MODE_SHARED_MULTI;
		s.sections[0].count = 2;
		*find_pci(&s, rows[i].unbound)->driver = '\0';
		COPY(find_pci(&s, rows[i].unbound)->module, rows[i].module);
		set_module(&s, "mlx5_core", rows[i].state);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

static void override(struct scene *s)
{
	never_bound(s);
	COPY(find_pci(s, FIRST)->driver_override, "vfio-pci");
}
static void another_module(struct scene *s)
{
	never_bound(s);
	COPY(find_pci(s, FIRST)->module, "igb");
	set_module(s, "igb", MODULE_LOADED);
}
static void module_to_be_loaded(struct scene *s)
{
	never_bound(s);
	set_module(s, "mlx5_core", MODULE_AVAILABLE);
}
static void something_hangs(struct scene *s)
{
	never_bound(s);
	COPY(s->memory.stuck, SECOND);
}

/* The host of a BlueField that boots faster than the card. */
static void a_pf_whose_probe_came_too_early_is_probed_again(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*spoil)(struct scene *s);
		bool is_probed;
	} rows[] = {
		{ "its probe failed", never_bound, true },
		{ "meant for another driver", override, false },
		{ "unbound on purpose", unbound, false },
		{ "unbound before the first look", unbound_before, false },
		{ "the log has no failed probe", of_another_error, false },
		{ "of another driver", another_module, false },
		{ "loading binds it", module_to_be_loaded, false },
		{ "a write hangs", something_hangs, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		bool is_probed = false;
		struct scene s;

		set_scene(&s, 2);
		s.sections[0].match = (char *)"pci:*";
		rows[i].spoil(&s);
		make_plan(&s, &p);
		for (size_t k = 0; k < p.n_actions; k++)
			is_probed |= p.actions[k].verb == VERB_PROBE_DRIVER &&
				     p.actions[k].class == CLASS_CHANGE;
		if (is_probed != rows[i].is_probed)
			fail_msg("%s", rows[i].name);
	}
}

static void it_is_probed_once_a_minute_and_after_all_else(_unused_ void **state)
{
	struct attempt repeat = { .verb = VERB_PROBE_DRIVER, .target = FIRST, .n = 1 };
	_cleanup_(plan_done) struct plan p = {}, later = {};
	struct plan tried = {};
	struct scene s;

	set_scene(&s, 2);
	never_bound(&s);
	netdev_of(&s, SECOND)->is_up = false;
	assert_plan(&s, "all else goes before",
		    "set-link-up " SECOND "\nwait " FIRST " waiting no-driver");
	netdev_of(&s, SECOND)->is_up = true;
	assert_plan(&s, "then it", "probe-driver " FIRST " ->mlx5_core");

	/* Not again in the same pass, and it is no failure. */
	make_plan(&s, &p);
	p.actions[0].is_done = true;
	tried = (struct plan){ .actions = p.actions, .n_actions = 1 };
	s.tried = &tried;
	assert_plan(&s, "tried", "wait " FIRST " waiting no-driver");
	s.tried = NULL;

	s.memory.attempts = &repeat;
	s.memory.n_attempts = 1;
	s.node.now_usec = 100 * USEC_PER_SEC;
	repeat.last_usec = 41 * USEC_PER_SEC;
	assert_plan(&s, "59 s ago", "wait " FIRST " waiting no-driver");
	make_plan(&s, &later);
	assert_int_equal(later.again_usec, 101 * USEC_PER_SEC);
	repeat.last_usec = 40 * USEC_PER_SEC;
	assert_plan(&s, "a minute ago", "probe-driver " FIRST " ->mlx5_core");
}

static void an_unbound_pf_that_is_handed_out_is_a_reason(_unused_ void **state)
{
	struct scene s;

	set_scene(&s, 2);
	unbound(&s);
	assert_plan(&s, "loaded", "wait " FIRST " waiting no-driver");
	set_module(&s, "mlx5_core", MODULE_AVAILABLE);
	*find_pci(&s, SECOND)->driver = '\0';
	COPY(find_pci(&s, SECOND)->module, "mlx5_core");
	assert_plan(&s, "two of one module", "load-module mlx5_core");
}

static void the_netns_mode_is_changed_where_it_is_known_and_differs(_unused_ void **state)
{
	static const struct {
		enum netns_mode want, have;
		const char *expected;
	} rows[] = {
		{ NETNS_MODE_KEEP, NETNS_MODE_SHARED, "" },
		{ NETNS_MODE_SHARED, NETNS_MODE_SHARED, "" },
		{ NETNS_MODE_EXCLUSIVE, NETNS_MODE_EXCLUSIVE, "" },
		{ NETNS_MODE_EXCLUSIVE, NETNS_MODE_SHARED, "set-netns-mode  shared->exclusive" },
		{ NETNS_MODE_SHARED, NETNS_MODE_EXCLUSIVE, "set-netns-mode  exclusive->shared" },
		{ NETNS_MODE_EXCLUSIVE, NETNS_MODE_KEEP, "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 1);
		s.config.rdma.netns_mode = rows[i].want;
		s.node.netns_mode = rows[i].have;
		assert_plan(&s, netns_mode_name(rows[i].want), rows[i].expected);
	}
}

/* --- devices and state --- */

static struct port *first_port(struct scene *s)
{
	return ibdev_of(s, FIRST)->ports;
}
static void lost_ibdev(struct scene *s)
{
	drop_ibdev(s, FIRST);
}
static void lost_uverbs(struct scene *s)
{
	*ibdev_of(s, FIRST)->uverbs = '\0';
}
static void lost_umad(struct scene *s)
{
	*ibdev_of(s, FIRST)->umad = '\0';
}
static void iwarp(struct scene *s)
{
	lost_umad(s);
	COPY(ibdev_of(s, FIRST)->node_type, "RNIC");
	*first_port(s)->gids[0].netdev = '\0';
	*first_port(s)->gids[0].type = '\0';
}
static void usnic(struct scene *s)
{
	iwarp(s);
	COPY(ibdev_of(s, FIRST)->node_type, "usNIC UDP");
}
static void iwarp_for_plugin(struct scene *s)
{
	iwarp(s);
	s->config.plugin.type = PLUGIN_RDMA_SHARED;
}
static void lost_rdma_cm(struct scene *s)
{
	s->node.has_rdma_cm = false;
}
static void no_provider(struct scene *s)
{
	ibdev_of(s, FIRST)->verbs = -ENOSYS;
}
static void not_opened_yet(struct scene *s)
{
	ibdev_of(s, FIRST)->verbs = 1;
}
static void port_down(struct scene *s)
{
	COPY(first_port(s)->state, "DOWN");
}
static void firmware_reports(struct scene *s)
{
	COPY(find_pci(s, FIRST)->health, "fw");
}
static void firmware_failed(struct scene *s)
{
	COPY(find_pci(s, FIRST)->health, "fw_fatal");
	drop_netdev(s, FIRST);
	drop_ibdev(s, FIRST);
}
static void port_unreadable(struct scene *s)
{
	*first_port(s)->state = '\0';
}
static void no_ports(struct scene *s)
{
	ibdev_of(s, FIRST)->n_ports = 0;
}
static void gid_v1(struct scene *s)
{
	COPY(first_port(s)->gids[0].type, "IB/RoCE v1");
}
static void gid_of_another(struct scene *s)
{
	COPY(first_port(s)->gids[0].netdev, "macvlan0");
}
static void gid_of_bond(struct scene *s)
{
	bonded(s);
	COPY(first_port(s)->gids[0].netdev, "bond0");
}
static void gid_of_bridge(struct scene *s)
{
	bridged(s);
	COPY(first_port(s)->gids[0].netdev, "br0");
}
static void no_gids(struct scene *s)
{
	first_port(s)->n_gids = 0;
}
static void infiniband(struct scene *s)
{
	no_gids(s);
	COPY(first_port(s)->link_layer, "InfiniBand");
}
static void zero_guid(struct scene *s) /* of a VF that a virtual machine got */
{
	COPY(ibdev_of(s, FIRST)->node_guid, "0000:0000:0000:0000");
}
static void second_port_is_good(struct scene *s)
{
	struct ibdev *ib = ibdev_of(s, FIRST);

	ib->ports[1] = ib->ports[0];
	ib->ports[1].number = 2;
	ib->n_ports = 2;
	COPY(ib->ports[0].state, "DOWN");
}
static void no_numa_node(struct scene *s)
{
	find_pci(s, FIRST)->numa_node = -1;
}

static void its_driver_hangs(struct scene *s)
{
	COPY(s->memory.stuck, FIRST);
}
static void another_driver_hangs(struct scene *s)
{
	COPY(s->memory.stuck, "0000:99:00.0");
}

static void a_device_is_usable_when_every_condition_holds(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*spoil)(struct scene *s);
		enum reason reason;
	} rows[] = {
		{ "unbound", unbound, REASON_NO_DRIVER },
		{ "no ibdev", lost_ibdev, REASON_NO_IBDEV },
		{ "a zero GUID", zero_guid, REASON_ZERO_GUID },
		{ "no uverbs", lost_uverbs, REASON_NO_UVERBS },
		{ "no rdma_cm", lost_rdma_cm, REASON_NO_RDMA_CM },
		{ "no umad", lost_umad, REASON_NO_UMAD },
		{ "iWARP needs no umad and no GID", iwarp, REASON_NONE },
		{ "neither does usNIC", usnic, REASON_NONE },
		{ "the shared plugin drops iWARP", iwarp_for_plugin, REASON_NO_UMAD },
		{ "libibverbs cannot open it", no_provider, REASON_VERBS_FAILED },
		{ "libibverbs was not asked yet", not_opened_yet, REASON_NONE },
		{ "port down", port_down, REASON_PORT_DOWN },
		{ "an error of the firmware", firmware_reports, REASON_NONE },
		{ "one that took its devices away", firmware_failed, REASON_PF_SICK },
		{ "port unreadable", port_unreadable, REASON_PORT_DOWN },
		{ "no ports", no_ports, REASON_NOT_RECORDED },
		{ "no GIDs", no_gids, REASON_NO_GID },
		{ "RoCE v1 only", gid_v1, REASON_NO_GID },
		{ "GID of another netdev", gid_of_another, REASON_NO_GID },
		{ "GID of its bond", gid_of_bond, REASON_NONE },
		{ "GID of a bridge above", gid_of_bridge, REASON_NO_GID },
		{ "InfiniBand needs no GID of a netdev", infiniband, REASON_NONE },
		{ "one good port of two", second_port_is_good, REASON_NONE },
		{ "no NUMA", no_numa_node, REASON_NONE },
		{ "a write to it never came back", its_driver_hangs, REASON_PCI_STUCK },
		{ "a write to another", another_driver_hangs, REASON_NONE },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s, 1);
		rows[i].spoil(&s);
		make_plan(&s, &p);
		assert_row(rows[i].name, reason_code(p.devices[0].reason),
			   reason_code(rows[i].reason));
		assert_int_equal(p.devices[0].is_usable, rows[i].reason == REASON_NONE);
		assert_int_equal(p.state,
				 rows[i].reason == REASON_NONE ? NODE_READY : NODE_STARTING);
		/* what it waits for is an item of the plan */
		if (rows[i].reason != REASON_NONE) {
			assert_int_equal(p.actions[0].class, CLASS_WAITING);
			assert_int_equal(p.actions[0].reason, rows[i].reason);
			assert_string_equal(p.actions[0].target, FIRST);
		}
	}
}

/* A VLAN is the host's where the NIC itself has an address. */
static void a_vlan_with_the_rails_addresses_gets_its_mtu(_unused_ void **state)
{
	static const struct {
		const char *name, *own, *of_vlan;
		uint32_t want, have;
		const char *expected, *detail;
		struct ip address; /* of the NIC's section */
		uint32_t between;  /* MTU of a VLAN that the first one is on; 0: there is none */
	} rows[] = {
		{ "the rail's", NULL, "10.60.0.2", 4200, 1500,
		  "set-mtu " FIRST " 1500->4200\nset-mtu " FIRST " 1500->4200", "eth1" },
		{ "the host's", "10.0.0.2", "10.60.0.2", 4200, 1500, "set-mtu " FIRST " 1500->4200",
		  "eth1" },
		{ "the host's, as the NIC is to get one",
		  NULL,
		  "10.60.0.2",
		  4200,
		  1500,
		  "set-mtu " FIRST " 1500->4200\nadd-address " FIRST " ->10.0.0.5/24",
		  "eth1",
		  { AF_INET, { 10, 0, 0, 5 }, 24 } },
		{ "without addresses", NULL, NULL, 4200, 1500, "set-mtu " FIRST " 1500->4200",
		  "eth1" },
		{ "the rail's is lowered", NULL, "10.60.0.2", 1500, 4200,
		  "set-mtu " FIRST " 4200->1500\nset-mtu " FIRST " 4200->1500", "eth1" },
		{ "the host's goes down with it", "10.0.0.2", "10.60.0.2", 1500, 4200,
		  "set-mtu " FIRST " 4200->1500", "eth1 and eth1.7" },
		{ "on another VLAN", NULL, "10.60.0.2", 4200, 1500,
		  "set-mtu " FIRST " 1500->4200\nset-mtu " FIRST " 1450->4200\nset-mtu " FIRST
		  " 1500->4200",
		  "eth1", .between = 1450 },
		{ "on another VLAN that goes down with it", NULL, "10.60.0.2", 1500, 4200,
		  "set-mtu " FIRST " 4200->1500\nset-mtu " FIRST " 4200->1500", "eth1 and q0",
		  .between = 4200 },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct netdev *vlan;
		struct scene s;

		set_scene(&s, 1);
		s.sections[0].mtu = rows[i].want;
		s.sections[0].address = rows[i].address;
		s.config.route.manage = rows[i].address.family;
		s.config.route.address = ADDRESS_STATIC;
		vlan = add_netdev(&s, 30, "eth1.7", "");
		COPY(vlan->kind, "vlan");
		vlan->link = netdev_of(&s, FIRST)->ifindex;
		netdev_of(&s, FIRST)->mtu = vlan->mtu = rows[i].have;
		if (rows[i].own)
			add_address(&s, vlan->link, rows[i].own, 24);
		if (rows[i].of_vlan)
			add_address(&s, vlan->ifindex, rows[i].of_vlan, 24);
		if (rows[i].between) {
			struct netdev *q0 = add_netdev(&s, 31, "q0", "");

			COPY(q0->kind, "vlan");
			q0->link = netdev_of(&s, FIRST)->ifindex;
			q0->mtu = rows[i].between;
			vlan->link = q0->ifindex;
		}
		assert_plan(&s, rows[i].name, rows[i].expected);
		make_plan(&s, &p);
		assert_row(rows[i].name, p.actions[0].detail, rows[i].detail);
	}
}

static void an_mtu_is_not_lowered_below_a_port_of_another_device(_unused_ void **state)
{
	static const char changed[] = "set-mtu " FIRST " 4200->1500";
	static const struct {
		const char *kind, *of; /* of what is above the NIC, and of its master */
		uint32_t want;
		const char *expected, *detail; /* of the change, or of the hint */
	} rows[] = {
		{ "vlan", "bridge", 1500, "", "upper has 4200, as a port of master" },
		{ "vlan", "bond", 1500, "", "upper has 4200, as a port of master" },
		{ "macvlan", "bridge", 1500, "", "upper has 4200, as a port of master" },
		{ "vlan", "vrf", 1500, changed, "eth1 and upper" },
		{ "macvlan", "", 1500, changed, "eth1 and upper" },
		{ "ipvlan", "", 1500, changed, "eth1 and upper" },
		{ "macsec", "", 1500, changed, "eth1 and upper" },
		{ "vxlan", "bridge", 1500, changed, "eth1" },
		{ "vlan", "bridge", 9000, "set-mtu " FIRST " 4200->9000", "eth1" },
	};

	FOREACH(row, rows, ELEMENTSOF(rows)) {
		_cleanup_(plan_done) struct plan p = {};
		struct netdev *upper;
		struct scene s;
		char name[64];

		PRINT(name, "%s in a %s", row->kind, row->of);
		set_scene(&s, 1);
		s.sections[0].mtu = row->want;
		add_address(&s, netdev_of(&s, FIRST)->ifindex, "10.0.0.2", 24);
		upper = add_netdev(&s, 30, "upper", "");
		COPY(upper->kind, row->kind);
		upper->link = netdev_of(&s, FIRST)->ifindex;
		upper->master = *row->of ? 31 : 0;
		netdev_of(&s, FIRST)->mtu = upper->mtu = 4200;
		COPY(add_netdev(&s, 31, "master", "")->kind, row->of);
		assert_plan(&s, name, row->expected);
		make_plan(&s, &p);
		assert_row(name, *row->expected ? p.actions[0].detail : p.reasons[0].detail,
			   row->detail);
		if (!*row->expected)
			assert_string_equal(reason_code(p.reasons[0].reason), "mtu-of-bond");
	}
}

/* The kernel takes IPv6 off a netdev below 1280: addrconf_notify() in net/ipv6/addrconf.c. */
static void an_mtu_too_small_for_ipv6_in_use_is_refused(_unused_ void **state)
{
	static const char lowered[] = "set-mtu " FIRST " 1500->1000";
	static const char refused[] = "set-mtu " FIRST " 1500->1000 refused mtu-under-ipv6";
	static const struct {
		const char *address, *of_vlan, *via;
		uint32_t want;
		const char *expected, *detail;
	} rows[] = {
		{ "10.0.0.2", NULL, NULL, 1000, lowered, "eth1 and eth1.7" },
		{ "fe80::2", NULL, NULL, 1000, lowered, "eth1 and eth1.7" },
		{ "fe80::2", NULL, "fe80::1", 1000, refused, "eth1" },
		{ "fd00::2", NULL, NULL, 1000, refused, "eth1" },
		{ "fd00::2", NULL, NULL, 1280, "set-mtu " FIRST " 1500->1280", "eth1 and eth1.7" },
		{ "10.0.0.2", "fd00::2", NULL, 1000, refused, "eth1.7" },
		{ "10.0.0.2", "fe80::2", NULL, 1000, lowered, "eth1 and eth1.7" },
	};

	FOREACH(row, rows, ELEMENTSOF(rows)) {
		_cleanup_(plan_done) struct plan p = {};
		struct netdev *vlan;
		struct scene s;

		set_scene(&s, 1);
		s.sections[0].mtu = row->want;
		vlan = add_netdev(&s, 30, "eth1.7", "");
		COPY(vlan->kind, "vlan");
		vlan->link = netdev_of(&s, FIRST)->ifindex;
		add_address(&s, vlan->link, row->address, 24)->scope =
			is_prefix(row->address, "fe80") ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
		if (row->of_vlan)
			add_address(&s, vlan->ifindex, row->of_vlan, 64)->scope =
				is_prefix(row->of_vlan, "fe80") ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
		if (row->via) {
			add_route(&s, "10.90.0.0", 16, vlan->link, 20, RTPROT_BGP);
			COPY(s.routes[0].via, row->via);
		}
		make_plan(&s, &p);
		assert_plan(&s, row->address, row->expected);
		assert_row(row->address, p.actions[0].detail, row->detail);
	}
}

static void on_a_vlan(struct scene *s)
{
	struct netdev *vlan = add_netdev(s, 30, "eth1.7", "");

	vlan->link = netdev_of(s, FIRST)->ifindex;
	COPY(vlan->kind, "vlan");
	first_port(s)->gids[1] = first_port(s)->gids[0];
	first_port(s)->n_gids = 2;
	COPY(first_port(s)->gids[1].netdev, "eth1.7");
	COPY(first_port(s)->gids[1].gid, "0000:0000:0000:0000:0000:ffff:0a00:0002");
}

/* Its default GID is its own: those of the bond's address are the active port's. */
static void is_in_bond(struct scene *s)
{
	bonded(s);
	add_address(s, node_netdev_named(&s->node, "bond0")->ifindex, "10.0.0.2", 24);
}
static void is_backup_of_bond(struct scene *s)
{
	struct port *p = &ibdev_of(s, SECOND)->ports[0];

	is_in_bond(s);
	netdev_of(s, SECOND)->master = 90;
	p->gids[1] = p->gids[0];
	p->n_gids = 2;
	COPY(p->gids[1].netdev, "bond0");
	COPY(p->gids[1].gid, "0000:0000:0000:0000:0000:ffff:0a00:0002");
}

static void is_backup_without_gids(struct scene *s)
{
	is_backup_of_bond(s);
	first_port(s)->n_gids = 0;
}

static void a_device_needs_an_address_where_pods_use_that_of_the_host(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
		const char *address; /* of eth1 */
		const char *gid;     /* instead of the one that the address makes */
		enum require_address require;
		bool is_managed;
		enum vf_mode mode;
		enum plugin_type type;
		enum reason reason;
	} rows[] = {
		{ .name = "nobody asks" },
		{ .name = "the routes are ours", .is_managed = true, .reason = REASON_NO_ADDRESS },
		{ .name = "the section asks",
		  .require = REQUIRE_ADDRESS_YES,
		  .reason = REASON_NO_ADDRESS },
		{ .name = "the section does not",
		  .is_managed = true,
		  .require = REQUIRE_ADDRESS_NO },
		{ .name = "it moves into the pod", .is_managed = true, .type = PLUGIN_SRIOV },
		{ .name = "another program moves it",
		  .is_managed = true,
		  .mode = VF_MODE_EXCLUSIVE },
		{ .name = "IPv4", .is_managed = true, .address = "10.0.0.2" },
		{ .name = "of the link alone",
		  .is_managed = true,
		  .address = "169.254.0.2",
		  .reason = REASON_NO_ADDRESS },
		{ .name = "its GID is due",
		  .is_managed = true,
		  .address = "10.0.0.2",
		  .gid = OWN_GID,
		  .reason = REASON_GID_PENDING },
		{ .name = "IPv6",
		  .is_managed = true,
		  .address = "10.0.0.2",
		  .gid = "fd00:0000:0000:0000:0000:0000:0000:0002" },
		{ .name = "on a VLAN", .set = on_a_vlan, .is_managed = true },
		{ .name = "of a bond without its GID",
		  .set = is_in_bond,
		  .is_managed = true,
		  .reason = REASON_GID_PENDING },
		{ .name = "of a bond whose active port is another",
		  .set = is_backup_of_bond,
		  .is_managed = true },
		{ .name = "the same without GIDs",
		  .set = is_backup_without_gids,
		  .is_managed = true },
		{ .name = "the same where nobody asks", .set = is_backup_without_gids },
		{ .name = "iWARP without",
		  .set = iwarp,
		  .is_managed = true,
		  .reason = REASON_NO_ADDRESS },
		{ .name = "iWARP", .set = iwarp, .is_managed = true, .address = "10.0.0.2" },
		{ .name = "InfiniBand", .set = infiniband, .is_managed = true },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s,
			  rows[i].set == is_backup_of_bond || rows[i].set == is_backup_without_gids
				  ? 2
				  : 1);
		s.config.route.manage = rows[i].is_managed;
		s.config.plugin.type = rows[i].type;
		s.sections[0].mode = rows[i].mode;
		s.sections[0].require_address = rows[i].require;
		if (rows[i].address)
			add_address(&s, netdev_of(&s, FIRST)->ifindex, rows[i].address, 24);
		if (rows[i].set)
			rows[i].set(&s);
		if (rows[i].gid)
			COPY(first_port(&s)->gids[1].gid, rows[i].gid);
		make_plan(&s, &p);
		assert_row(rows[i].name, reason_code(p.devices[0].reason),
			   reason_code(rows[i].reason));
	}
}

/* The first card and its VF, whose port is DOWN although all is up and has a carrier. */
static void set_down(struct scene *s)
{
	set_scene(s, 1);
	add_vfs(s, 2);
	s->sections[0].mode = VF_MODE_SHARED_MULTI;
	s->sections[0].count = 2;
	for (size_t i = 0; i < s->node.n_netdevs; i++)
		s->netdevs[i].has_carrier = true;
	COPY(ibdev_of(s, VF)->ports[0].state, "DOWN");
}
static void vf_down(struct scene *s)
{
	netdev_of(s, VF)->is_up = netdev_of(s, VF)->has_carrier = false;
}
static void vf_without_carrier(struct scene *s)
{
	netdev_of(s, VF)->has_carrier = false;
}
static void pf_down(struct scene *s)
{
	netdev_of(s, FIRST)->is_up = netdev_of(s, FIRST)->has_carrier = false;
	vf_without_carrier(s);
}
static void pf_without_carrier(struct scene *s)
{
	netdev_of(s, FIRST)->has_carrier = false;
	vf_without_carrier(s);
}
static void no_cable(struct scene *s)
{
	pf_without_carrier(s);
	COPY(netdev_of(s, FIRST)->link_state, LINK_NO_CABLE);
}
static void autonegotiation(struct scene *s)
{
	pf_without_carrier(s);
	COPY(netdev_of(s, FIRST)->link_state, "autoneg");
}
static void representor(struct scene *s, const char *port_name, bool is_up)
{
	struct netdev *nd = add_netdev(s, 30, "eth1r", FIRST);

	COPY(netdev_of(s, FIRST)->perm_mac, "b8:ce:f6:41:00:00");
	COPY(find_pci(s, FIRST)->eswitch, "switchdev");
	COPY(nd->port_name, port_name);
	nd->is_up = is_up;
	vf_without_carrier(s);
}
static void representor_down(struct scene *s)
{
	representor(s, "pf0vf1", false);
}
static void representor_up(struct scene *s)
{
	representor(s, "pf0vf1", true);
}
static void another_representor_down(struct scene *s)
{
	representor(s, "c1pf0vf11", false);
}
static void not_initialised(struct scene *s)
{
	COPY(ibdev_of(s, VF)->ports[0].link_layer, "InfiniBand");
	COPY(ibdev_of(s, VF)->ports[0].state, "INIT");
	vf_without_carrier(s);
}
static void not_virtualised(struct scene *s)
{
	not_initialised(s);
	COPY(ibdev_of(s, FIRST)->ports[0].link_layer, "InfiniBand");
}
static void second_without_cause(struct scene *s)
{
	struct ibdev *ib = ibdev_of(s, VF);

	not_initialised(s);
	ib->ports[1] = ib->ports[0];
	ib->ports[1].number = 2;
	ib->n_ports = 2;
	COPY(ib->ports[1].state, "DOWN");
}
static void switched_off(struct scene *s)
{
	COPY(ibdev_of(s, VF)->ports[0].phys_state, "Disabled");
	vf_down(s);
}
static void polling(struct scene *s)
{
	COPY(ibdev_of(s, VF)->ports[0].phys_state, "Polling");
	vf_without_carrier(s);
}
static void of_a_cni(struct scene *s)
{
	s->config.plugin.type = PLUGIN_SRIOV;
	COPY(ibdev_of(s, FIRST)->ports[0].state, "DOWN");
	vf_down(s);
	pf_down(s);
}

static void of_a_cni_without_netdev(struct scene *s)
{
	of_a_cni(s);
	netdev_of(s, FIRST)->is_up = netdev_of(s, FIRST)->has_carrier = true;
}

static void disabled_for_a_cni(struct scene *s)
{
	static struct vf_info infos[2];

	for (uint32_t i = 0; i < ELEMENTSOF(infos); i++) {
		infos[i] = (struct vf_info){ .index = i,
					     .trust = 0,
					     .link_state = IFLA_VF_LINK_STATE_DISABLE };
		COPY(infos[i].pf, FIRST);
	}
	s->node.vf_infos = infos;
	s->node.n_vf_infos = ELEMENTSOF(infos);
	s->config.plugin.type = PLUGIN_SRIOV;
	vf_down(s);
}

static void without_netdev(struct scene *s)
{
	COPY(ibdev_of(s, VF)->ports[0].link_layer, "InfiniBand");
	COPY(find_pci(s, VF)->driver, "mlx5_core");
}

static void of_a_guest(struct scene *s)
{
	vf_without_carrier(s);
	*find_pci(s, VF)->physfn = '\0';
	find_pci(s, VF)->device = 0x101e;
}

static void down_as_a_port(struct scene *s)
{
	vf_down(s);
	netdev_of(s, VF)->master = netdev_of(s, FIRST)->ifindex;
}

static void down_and_needed(struct scene *s)
{
	vf_down(s);
	COPY(s->config.service.node_nic, "netdev:eth1v1");
}

/* A cause that is seen goes before the cable, which somebody has to look at. */
static void a_port_that_is_down_names_its_cause(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*spoil)(struct scene *s);
		const char *detail;
		bool is_cable;
		const char *advice; /* its first words; NULL: any */
	} rows[] = {
		{ "nothing is seen", without_netdev, "mlx5_v1 port 1 is DOWN", true },
		{ "all is up", set_down, "mlx5_v1 port 1 is DOWN: eth1v1 has a carrier", false },
		{ "of a guest", of_a_guest, "mlx5_v1 port 1 is DOWN: eth1v1 has no carrier",
		  false },
		{ "down", vf_down, "mlx5_v1 port 1 is DOWN: no link was asked for, eth1v1 is down",
		  false, "It is brought up by the service" },
		{ "down, as a port", down_as_a_port,
		  "mlx5_v1 port 1 is DOWN: no link was asked for, eth1v1 is down", false,
		  "The service leaves it" },
		{ "down, and the node needs it", down_and_needed,
		  "mlx5_v1 port 1 is DOWN: no link was asked for, eth1v1 is down", false,
		  "The service leaves it" },
		{ "its PF is down", pf_down,
		  "mlx5_v1 port 1 is DOWN: eth1 of its physical function is down", false },
		{ "its representor is down", representor_down,
		  "mlx5_v1 port 1 is DOWN: its representor eth1r is down", false },
		{ "its representor is up", representor_up,
		  "mlx5_v1 port 1 is DOWN: eth1v1 has no carrier", true },
		{ "the representor of another", another_representor_down,
		  "mlx5_v1 port 1 is DOWN: eth1v1 has no carrier", true },
		{ "no subnet manager", not_initialised,
		  "mlx5_v1 port 1 is INIT: it has a link, and no subnet manager makes it ACTIVE",
		  false },
		{ "a subnet manager that serves its PF alone", not_virtualised,
		  "mlx5_v1 port 1 is INIT: the subnet manager that serves its physical function "
		  "does not make it ACTIVE",
		  false },
		{ "of two ports, that with a cause", second_without_cause,
		  "mlx5_v1 port 1 is INIT: it has a link, and no subnet manager makes it ACTIVE",
		  false },
		{ "its port is switched off", switched_off,
		  "mlx5_v1 port 1 is DOWN: the port is switched off (Disabled)", false },
		{ "nobody is at the other end", polling,
		  "mlx5_v1 port 1 is DOWN: nothing answers at the other end (Polling)", true },
		{ "its PF has no carrier", pf_without_carrier,
		  "mlx5_v1 port 1 is DOWN: eth1 of its physical function has no carrier", true },
		{ "its PF has no cable", no_cable,
		  "mlx5_v1 port 1 is DOWN: eth1 of its physical function has no cable", true },
		{ "its PF's driver tells why", autonegotiation,
		  "mlx5_v1 port 1 is DOWN: eth1 of its physical function has no carrier: autoneg",
		  true },
		{ "no carrier", vf_without_carrier, "mlx5_v1 port 1 is DOWN: eth1v1 has no carrier",
		  true },
		{ "a CNI brings it up", of_a_cni, "eth1 of its physical function is down", false },
		{ "nothing is seen of its PF", of_a_cni_without_netdev,
		  "of its physical function 0000:41:00.0", true },
		{ "a CNI brings it up, and it is disabled", disabled_for_a_cni,
		  "eth1 keeps its link down (link-state disable)", false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		const struct device *d;
		struct scene s;

		set_down(&s);
		if (rows[i].spoil != set_down)
			rows[i].spoil(&s);
		make_plan(&s, &p);
		d = plan_device(&p, find_pci(&s, VF));
		assert_int_equal(d->reason, REASON_PORT_DOWN);
		assert_string_equal(d->detail, rows[i].detail);
		if ((strstr(device_advice(d), "cable") != NULL) != rows[i].is_cable ||
		    (strstr(device_advice(d), "a card of the host") != NULL) !=
			    (rows[i].spoil == of_a_guest) ||
		    (rows[i].advice && !is_prefix(device_advice(d), rows[i].advice)))
			fail_msg("%s: %s", rows[i].name, device_advice(d));
	}
}

static void the_port_of_a_bond_is_left_to_it(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;

	set_scene(&s, 1);
	s.sections[0].mtu = 4200;
	netdev_of(&s, FIRST)->is_up = false;
	assert_plan(&s, "a port of none", "set-mtu " FIRST " 1500->4200\nset-link-up " FIRST);
	netdev_of(&s, FIRST)->mtu = 4200;
	netdev_of(&s, FIRST)->master = 90;
	add_netdev(&s, 90, "bond0", "");
	assert_plan(&s, "of one with this MTU", "");
	netdev_of(&s, FIRST)->mtu = 1500;
	make_plan(&s, &p);
	assert_int_equal(p.n_actions, 0);
	assert_int_equal(p.n_reasons, 1);
	assert_string_equal(reason_code(p.reasons[0].reason), "mtu-of-bond");
	assert_string_equal(p.reasons[0].detail, "eth1 has 1500, as a port of bond0");
}

/* ConnectX-3: one function and ibdev, a netdev for each port. */
static void both_netdevs_of_a_card_with_two_ports_are_brought_up(_unused_ void **state)
{
	struct netdev *nd;
	struct scene s;

	set_scene(&s, 1);
	second_port_is_good(&s);
	COPY(netdev_of(&s, FIRST)->perm_mac, "b8:ce:f6:41:00:00");
	nd = add_netdev(&s, 31, "eth1d1", FIRST);
	nd->is_up = false;
	assert_plan(&s, "a representor", "");
	COPY(nd->perm_mac, "b8:ce:f6:41:00:01");
	assert_plan(&s, "the second", "set-link-up " FIRST);
	nd->master = 99;
	assert_plan(&s, "a bond has it", "");
}

static void both_netdevs_of_a_card_with_two_ports_are_rails(_unused_ void **state)
{
	struct netdev *nd, *vlan;
	struct scene s;

	set_scene(&s, 1);
	second_port_is_good(&s);
	s.sections[0].mtu = 4200;
	COPY(netdev_of(&s, FIRST)->perm_mac, "b8:ce:f6:41:00:00");
	nd = add_netdev(&s, 31, "eth1d1", FIRST);
	COPY(nd->perm_mac, "b8:ce:f6:41:00:01");
	assert_plan(&s, "MTU", "set-mtu " FIRST " 1500->4200\nset-mtu " FIRST " 1500->4200");
	vlan = add_netdev(&s, 32, "eth1d1.7", "");
	COPY(vlan->kind, "vlan");
	vlan->link = 31;
	add_address(&s, 32, "10.0.1.2", 24);
	assert_plan(&s, "a VLAN on the second",
		    "set-mtu " FIRST " 1500->4200\nset-mtu " FIRST " 1500->4200\n"
		    "set-mtu " FIRST " 1500->4200");
	nd->master = 99;
	assert_plan(&s, "a bond has the second", "set-mtu " FIRST " 1500->4200");
}

static void ipoib_with_carrier(struct scene *s)
{
	infiniband(s);
	netdev_of(s, FIRST)->has_carrier = true;
}
static void ipoib_without_carrier(struct scene *s)
{
	infiniband(s);
	netdev_of(s, FIRST)->has_carrier = false;
}
static void without_ipoib(struct scene *s)
{
	infiniband(s);
	s->node.n_netdevs = 0;
}
static void ipoib_down(struct scene *s)
{
	infiniband(s);
	netdev_of(s, FIRST)->is_up = false;
}
static void roce_without_netdev(struct scene *s)
{
	s->node.n_netdevs = 0;
}

/* An idle service is woken for a port only where no event is to come. */
static void an_infiniband_port_without_ipoib_is_looked_at(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*spoil)(struct scene *s);
		uint32_t n_silent;
	} rows[] = {
		{ "IPoIB", ipoib_with_carrier, 0 },
		{ "IPoIB that joined no multicast group", ipoib_without_carrier, 1 },
		{ "no IPoIB", without_ipoib, 1 },
		{ "IPoIB is down", ipoib_down, 1 },
		{ "Ethernet", no_gids, 0 },
		{ "Ethernet without netdev", roce_without_netdev, 0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s, 1);
		rows[i].spoil(&s);
		make_plan(&s, &p);
		if (p.n_silent != rows[i].n_silent)
			fail_msg("%s: %u", rows[i].name, p.n_silent);
	}
}

/* mlx5_bond_0 is both ports of a NIC. */
static void the_second_port_of_a_lag_waits_for_no_ibdev_of_its_own(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;

	set_scene(&s, 1);
	gid_of_bond(&s);
	add_pci(&s, "0000:41:00.1", "mlx5_core");
	add_netdev(&s, 11, "eth2", "0000:41:00.1")->master = 90;
	s.sections[0].expect = 2;
	assert_plan(&s, "both in the bond", "");
	assert_state(&s, "both in the bond", NODE_READY);
	make_plan(&s, &p);
	assert_true(p.devices[0].is_handed_out);
	assert_false(p.devices[1].is_handed_out);
	assert_int_equal(p.devices[1].reason, REASON_PORT_OF_LAG);

	/* the LAG is being made: the first port's has been taken away, the other's is next */
	COPY(ibdev_of(&s, FIRST)->pci, "0000:41:00.1");
	assert_plan(&s, "not yet a LAG", "wait " FIRST " waiting no-ibdev");
	assert_state(&s, "not yet a LAG", NODE_STARTING);
	COPY(ibdev_of(&s, "0000:41:00.1")->pci, FIRST);

	find_pci(&s, "0000:41:00.1")->has_adev = true;
	assert_plan(&s, "its own failed", "wait 0000:41:00.1 waiting no-ibdev");

	netdev_of(&s, "0000:41:00.1")->master = 0;
	assert_plan(&s, "not in the bond", "wait 0000:41:00.1 waiting no-ibdev");

	/* a bond of two NICs is no LAG */
	set_scene(&s, 2);
	gid_of_bond(&s);
	netdev_of(&s, SECOND)->master = 90;
	drop_ibdev(&s, SECOND);
	assert_plan(&s, "of another NIC", "wait " SECOND " waiting no-ibdev");

	/* one card in two slots, as a VM has it, and those of hns3 and bnxt_en */
	COPY(ibdev_of(&s, FIRST)->name, "mlx5_bond_0");
	assert_plan(&s, "in another slot", "");
	assert_state(&s, "in another slot", NODE_READY);
	COPY(ibdev_of(&s, FIRST)->name, "rocep65s0");
	find_pci(&s, FIRST)->has_adev = find_pci(&s, FIRST)->is_adev_bound = true;
	find_pci(&s, SECOND)->is_searched = true;
	assert_plan(&s, "by another name", "");
	COPY(ibdev_of(&s, FIRST)->name, "hns_bond_0");
	assert_plan(&s, "of another driver", "");
	COPY(ibdev_of(&s, FIRST)->name, "bnxt_re_bond0");
	assert_plan(&s, "of a third driver", "");
	netdev_of(&s, SECOND)->master = 0;
	assert_plan(&s, "beside the LAG", "wait " SECOND " waiting no-ibdev");
}

/* Chelsio's card has its ports on function 4. */
static void a_function_that_is_for_vfs_alone_is_no_nic(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;

	set_scene(&s, 1);
	COPY(find_pci(&s, FIRST)->driver, "cxgb4");
	find_pci(&s, FIRST)->device = 0x6401;
	add_pci(&s, "0000:41:00.1", "cxgb4")->device = 0x6001;
	add_pci(&s, "0000:41:00.2", "")->device = 0x6001;
	COPY(find_pci(&s, "0000:41:00.2")->module, "cxgb4");
	s.sections[0].match = (char *)"pci:0000:41:00.*";
	make_plan(&s, &p);
	assert_int_equal(p.n_devices, 1);
	assert_ptr_equal(p.devices[0].pci, find_pci(&s, FIRST));
}

static void expects_3(struct scene *s)
{
	s->sections[0].expect = 3;
}
static void expects_2(struct scene *s)
{
	s->sections[0].expect = 2;
}
static void expects_1(struct scene *s)
{
	s->sections[0].expect = 1;
}
static void expects_in_second(struct scene *s)
{
	s->sections[0].expect = 2;
	s->sections[1] =
		(struct device_config){ .name = "b", .match = (char *)"id:8086:*", .expect = 2 };
	s->config.n_devices = 2;
}
static void unknown_key(struct scene *s)
{
	s->config.has_unknown = true;
}
static void ignored_file(struct scene *s)
{
	COPY(s->config.ignored, "/run/rdma-provision/rdma-provision.conf");
}
static void invalid(struct scene *s)
{
	s->config.is_invalid = true;
}
static void wants_vfs(struct scene *s)
{
	s->sections[0].mode = VF_MODE_SHARED_MULTI;
	s->sections[0].count = 2;
	s->sections[0].match = (char *)"pci:" FIRST;
}
static void has_vfs(struct scene *s)
{
	wants_vfs(s);
	add_vfs(s, 2);
}
static void has_vfs_but_too_few_cards(struct scene *s)
{
	has_vfs(s);
	s->sections[0].expect = 2;
}
static void has_too_few_vfs(struct scene *s)
{
	wants_vfs(s);
	add_vfs(s, 2);
	s->sections[0].count = 4;
	has_contexts(s);
}
static void has_too_many_vfs(struct scene *s)
{
	wants_vfs(s);
	add_vfs(s, 2);
	s->sections[0].count = 1;
	has_contexts(s);
}
static void has_bad_vf(struct scene *s)
{
	has_vfs(s);
	COPY(ibdev_of(s, VF)->ports->state, "DOWN");
}
static void has_bad_pf(struct scene *s)
{
	has_vfs(s);
	port_down(s);
}
static void without_carrier_for(struct scene *s, uint64_t usec)
{
	static struct device_memory m;

	port_down(s);
	netdev_of(s, FIRST)->has_carrier = false;
	m = (struct device_memory){ .no_carrier_usec = 1000 * USEC_PER_SEC };
	COPY(m.pci, FIRST);
	s->memory.devices = &m;
	s->memory.n_devices = 1;
	s->node.now_usec = m.no_carrier_usec + usec;
}
static void without_carrier_for_a_while(struct scene *s)
{
	without_carrier_for(s, 60 * USEC_PER_SEC - 1);
}
static void without_carrier_for_a_minute(struct scene *s)
{
	without_carrier_for(s, 60 * USEC_PER_SEC);
}
/* InfiniBand without ib_ipoib */
static void without_netdev_for_a_while(struct scene *s)
{
	without_carrier_for(s, 60 * USEC_PER_SEC - 1);
	infiniband(s);
	drop_netdev(s, FIRST);
}
static void without_netdev_for_a_minute(struct scene *s)
{
	without_netdev_for_a_while(s);
	s->node.now_usec++;
}
static void without_a_subnet_manager(struct scene *s)
{
	without_netdev_for_a_minute(s);
	COPY(first_port(s)->state, "INIT");
}
static void without_cable(struct scene *s)
{
	port_down(s);
	netdev_of(s, FIRST)->has_carrier = false;
	COPY(netdev_of(s, FIRST)->link_state, LINK_NO_CABLE);
}
static void training(struct scene *s)
{
	without_cable(s);
	COPY(netdev_of(s, FIRST)->link_state, "link-training-failure");
}
static void without_cable_for_vfs(struct scene *s)
{
	has_bad_vf(s);
	netdev_of(s, FIRST)->has_carrier = false;
	COPY(netdev_of(s, FIRST)->link_state, LINK_NO_CABLE);
}
static void without_cable_and_another_port_down(struct scene *s)
{
	without_cable(s);
	COPY(s->ibdevs[1].ports->state, "DOWN");
	netdev_of(s, s->ibdevs[1].pci)->has_carrier = true;
}
static void bound_to_vfio(struct scene *s)
{
	drop_ibdev(s, FIRST);
	COPY(find_pci(s, FIRST)->driver, "vfio-pci");
	s->sections[0].match = (char *)"pci:" FIRST;
}
static void sick(struct scene *s)
{
	static struct device_memory m;

	has_vfs(s);
	*find_pci(s, VF)->driver = '\0';
	COPY(find_pci(s, VF)->module, "mlx5_core");
	m = (struct device_memory){ .sick = "binding it took 121 s" };
	COPY(m.pci, FIRST);
	s->memory.devices = &m;
	s->memory.n_devices = 1;
}
static void manages_nothing(struct scene *s)
{
	s->config.n_devices = 0;
}
static void plugin_without_cards(struct scene *s)
{
	s->config.n_devices = 0;
	s->config.plugin.type = PLUGIN_RDMA_SHARED;
}
static void unmatched_section(struct scene *s)
{
	s->sections[1] =
		(struct device_config){ .name = "b", .match = (char *)"id:1ded:107f", .expect = 1 };
	s->config.n_devices = 2;
}
static void unmatched_section_that_needs_none(struct scene *s)
{
	unmatched_section(s);
	s->sections[1].expect = 0;
}
static void plugin_with_no_card_expected(struct scene *s)
{
	s->sections[0].match = (char *)"id:1ded:107f";
	s->config.plugin.type = PLUGIN_RDMA_SHARED;
}
static void wants_vfs_in_bond(struct scene *s)
{
	wants_vfs(s);
	bonded(s);
}

static void wants_vfs_in_bond_of_one(struct scene *s)
{
	wants_vfs_in_bond(s);
	s->sections[1] = (struct device_config){ .name = "b", .match = (char *)"pci:" SECOND };
	s->config.n_devices = 2;
}

static void the_state_follows_from_the_devices_and_the_time(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
		enum node_state before, after; /* the time to wait for devices is over */
	} rows[] = {
		{ "all is well", expects_2, NODE_READY, NODE_READY },
		{ "more than expected", expects_1, NODE_READY, NODE_READY },
		{ "one is missing", expects_3, NODE_STARTING, NODE_DEGRADED },
		{ "missing of another section", expects_in_second, NODE_STARTING, NODE_DEGRADED },
		{ "port down", port_down, NODE_STARTING, NODE_DEGRADED },
		/* What no wait brings is missing at once. */
		{ "no cable", without_cable, NODE_DEGRADED, NODE_DEGRADED },
		{ "no cable at the PF of VFs", without_cable_for_vfs, NODE_DEGRADED,
		  NODE_DEGRADED },
		{ "no cable, and another port that comes up", without_cable_and_another_port_down,
		  NODE_STARTING, NODE_DEGRADED },
		{ "bound to vfio-pci", bound_to_vfio, NODE_DEGRADED, NODE_DEGRADED },
		{ "a link that is being trained", training, NODE_STARTING, NODE_DEGRADED },
		{ "no carrier yet", without_carrier_for_a_while, NODE_STARTING, NODE_DEGRADED },
		{ "no carrier", without_carrier_for_a_minute, NODE_DEGRADED, NODE_DEGRADED },
		{ "no netdev yet", without_netdev_for_a_while, NODE_STARTING, NODE_DEGRADED },
		{ "no netdev", without_netdev_for_a_minute, NODE_DEGRADED, NODE_DEGRADED },
		{ "no SM", without_a_subnet_manager, NODE_STARTING, NODE_DEGRADED },
		{ "a sick PF", sick, NODE_DEGRADED, NODE_DEGRADED },
		{ "no VFs yet", wants_vfs, NODE_STARTING, NODE_DEGRADED },
		{ "VFs", has_vfs, NODE_READY, NODE_READY },
		{ "VFs are no cards", has_vfs_but_too_few_cards, NODE_STARTING, NODE_DEGRADED },
		{ "too few VFs, in use", has_too_few_vfs, NODE_STARTING, NODE_DEGRADED },
		{ "too many VFs, in use", has_too_many_vfs, NODE_DEGRADED, NODE_DEGRADED },
		{ "a VF that is not usable", has_bad_vf, NODE_STARTING, NODE_DEGRADED },
		{ "the PF below VFs is not handed out", has_bad_pf, NODE_READY, NODE_READY },
		{ "VFs refused", wants_vfs_in_bond, NODE_STARTING, NODE_DEGRADED },
		{ "unknown key", unknown_key, NODE_DEGRADED, NODE_DEGRADED },
		{ "a file below /run", ignored_file, NODE_DEGRADED, NODE_DEGRADED },
		{ "malformed configuration", invalid, NODE_DEGRADED, NODE_DEGRADED },
		{ "nothing is managed", manages_nothing, NODE_READY, NODE_READY },
		{ "nothing for the plugin", plugin_without_cards, NODE_STARTING, NODE_DEGRADED },
		{ "a section that matches nothing", unmatched_section, NODE_STARTING,
		  NODE_DEGRADED },
		{ "one that needs none", unmatched_section_that_needs_none, NODE_READY,
		  NODE_READY },
		{ "none is needed for a plugin", plugin_with_no_card_expected, NODE_READY,
		  NODE_READY },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 2);
		rows[i].set(&s);
		assert_state(&s, rows[i].name, rows[i].before);
		s.is_wait_over = true;
		assert_state(&s, rows[i].name, rows[i].after);
		s.is_wait_over = false;
		s.memory.last_state = NODE_READY; /* in an earlier pass of this boot */
		assert_state(&s, rows[i].name, rows[i].after);
	}
}

static void what_is_missing_is_an_item_of_the_plan(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;

	set_scene(&s, 2);
	expects_in_second(&s);
	s.sections[0].expect = 3;
	assert_plan(&s, "one and two", "wait  waiting devices-missing");
	make_plan(&s, &p);
	assert_int_equal(p.n_missing, 3);
	plan_done(&p);

	set_scene(&s, 2);
	plugin_without_cards(&s);
	assert_plan(&s, "no card",
		    "wait  waiting no-devices\nwrite-plugin " PLUGIN_FILE " waiting not-ready");
	make_plan(&s, &p);
	assert_non_null(strstr(action_advice(&p.actions[0]), "Add a [Device NAME] section"));

	set_scene(&s, 2);
	plugin_with_no_card_expected(&s);
	assert_plan(&s, "no card, and none is needed", "");

	plan_done(&p);
	set_scene(&s, 2);
	unmatched_section(&s);
	assert_plan(&s, "no card of a section", "wait  waiting no-devices");
	make_plan(&s, &p);
	assert_string_equal(p.actions[0].detail, "[Device b] Match=id:1ded:107f");
}

static bool has_hint(const struct plan *p, enum reason reason)
{
	for (size_t i = 0; i < p->n_reasons; i++)
		if (p->reasons[i].reason == reason)
			return true;
	return false;
}

static void the_label_of_vke_is_compared_with_the_sections(_unused_ void **state)
{
	static const struct {
		const char *label;
		enum vf_mode mode;
		bool is_told;
	} rows[] = {
		{ "", VF_MODE_SHARED, false },
		{ "shared", VF_MODE_SHARED, false },
		{ "shared-multi", VF_MODE_SHARED, true },
		{ "exclusive", VF_MODE_KEEP, true },
		{ "exclusive", VF_MODE_EXCLUSIVE, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s, 1);
		s.sections[0].mode = rows[i].mode;
		COPY(s.node.kubelet.vke_rdma_mode.value, rows[i].label);
		make_plan(&s, &p);
		assert_int_equal(has_hint(&p, REASON_VKE_MODE), rows[i].is_told);
	}
}

static void mgpu_is_not_for_a_node_with_rdma(_unused_ void **state)
{
	static const struct {
		const char *label;
		bool has_devices, is_hint;
	} rows[] = {
		{ "", true, false },
		{ "nvidia", true, false },
		{ "mgpu", true, true },
		{ "mgpu", false, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s, 1);
		s.config.n_devices = rows[i].has_devices ? s.config.n_devices : 0;
		COPY(s.node.kubelet.vke_gpu_schedule.value, rows[i].label);
		make_plan(&s, &p);
		assert_int_equal(has_hint(&p, REASON_VKE_MGPU), rows[i].is_hint);
	}
}

static void a_cpu_policy_alone_aligns_nothing(_unused_ void **state)
{
	static const struct {
		enum cpu_policy cpus;
		enum topology_policy asked;
		const char *has;
		bool is_told;
	} rows[] = {
		{ CPU_POLICY_UNSET, TOPOLOGY_POLICY_UNSET, "none", false },
		{ CPU_POLICY_STATIC, TOPOLOGY_POLICY_UNSET, "", true },
		{ CPU_POLICY_STATIC, TOPOLOGY_POLICY_UNSET, "none", true },
		{ CPU_POLICY_STATIC, TOPOLOGY_POLICY_UNSET, "restricted", false },
		{ CPU_POLICY_STATIC, TOPOLOGY_POLICY_BEST_EFFORT, "none", false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s, 1);
		s.config.kubelet.cpu_policy = rows[i].cpus;
		s.config.kubelet.topology_policy = rows[i].asked;
		COPY(s.node.kubelet.values[KUBELET_TOPOLOGY_POLICY].text, rows[i].has);
		make_plan(&s, &p);
		assert_int_equal(has_hint(&p, REASON_KUBELET_ALIGNS_NOTHING), rows[i].is_told);
	}
}

/* --- in a pod --- */

static void a_function_that_left_after_it_was_usable_is_in_a_pod(_unused_ void **state)
{
	static const struct {
		const char *name;
		bool was_usable, has_netdev, has_ibdev, is_bound;
		enum netns_mode netns_mode;
		bool is_in_pod;
		enum reason reason;
		uint64_t instance; /* of the function; it was 5 when it was usable */
		const char *health;
		bool is_port, is_searched, is_away;
	} rows[] = {
		{ "both left", 1, 0, 0, 1, NETNS_MODE_EXCLUSIVE, true, REASON_IN_POD },
		{ "netdev left", 1, 0, 1, 1, NETNS_MODE_SHARED, true, REASON_IN_POD },
		{ "ibdev left", 1, 1, 0, 1, NETNS_MODE_EXCLUSIVE, true, REASON_IN_POD },
		{ "a port of a bond, its ibdev left", 1, 1, 0, 1, NETNS_MODE_EXCLUSIVE, false,
		  REASON_NO_IBDEV, .is_port = true },
		{ "an ibdev cannot leave in shared mode", 1, 1, 0, 1, NETNS_MODE_SHARED, false,
		  REASON_NO_IBDEV },
		{ "never was usable", 0, 0, 0, 1, NETNS_MODE_EXCLUSIVE, false, REASON_NO_IBDEV },
		{ "lost its driver", 1, 0, 0, 0, NETNS_MODE_EXCLUSIVE, false, REASON_NO_DRIVER },
		{ "came back", 1, 1, 1, 1, NETNS_MODE_EXCLUSIVE, false, REASON_NONE },
		{ "the same one left", 1, 0, 0, 1, NETNS_MODE_SHARED, true, REASON_IN_POD, 5 },
		{ "is being bound again", 1, 0, 0, 1, NETNS_MODE_SHARED, false, REASON_NO_IBDEV,
		  6 },
		{ "bound again, its ibdev comes later", 1, 1, 0, 1, NETNS_MODE_EXCLUSIVE, false,
		  REASON_NO_IBDEV, 6 },
		{ "its firmware failed", 1, 0, 0, 1, NETNS_MODE_SHARED, false, REASON_PF_SICK, 5,
		  "fw_fatal" },
		{ "its firmware failed, the netdev left", 1, 0, 1, 1, NETNS_MODE_SHARED, true,
		  REASON_IN_POD, 5, "fw" },
		{ "both are elsewhere", 1, 0, 0, 1, NETNS_MODE_EXCLUSIVE, true, REASON_IN_POD,
		  .is_searched = true, .is_away = true },
		{ "both are nowhere", 1, 0, 0, 1, NETNS_MODE_EXCLUSIVE, false, REASON_NO_IBDEV,
		  .is_searched = true },
		{ "the ibdev is nowhere", 1, 1, 0, 1, NETNS_MODE_EXCLUSIVE, false, REASON_NO_IBDEV,
		  .is_searched = true },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		const struct device *d;
		struct scene s;

		set_scene(&s, 1);
		has_vfs(&s);
		s.sections[0].mtu = 1500;
		s.node.netns_mode = rows[i].netns_mode;
		remember(&s, VF, rows[i].was_usable);
		s.memories[s.memory.n_devices - 1].usable_instance = 5;
		find_pci(&s, VF)->instance = rows[i].instance;
		COPY(find_pci(&s, VF)->health, rows[i].health ? rows[i].health : "");
		find_pci(&s, VF)->is_searched = rows[i].is_searched;
		find_pci(&s, VF)->is_away = rows[i].is_away;
		if (!rows[i].has_netdev)
			drop_netdev(&s, VF);
		if (!rows[i].has_ibdev)
			drop_ibdev(&s, VF);
		if (rows[i].is_port) {
			COPY(add_netdev(&s, 90, "bond0", "")->kind, "bond");
			netdev_of(&s, VF)->master = 90;
		}
		if (!rows[i].is_bound)
			*find_pci(&s, VF)->driver = '\0';
		make_plan(&s, &p);

		d = &p.devices[2];
		assert_string_equal(d->pci->address, VF);
		assert_int_equal(d->is_in_pod, rows[i].is_in_pod);
		assert_int_equal(d->reason, rows[i].reason);
		assert_int_equal(d->is_usable, rows[i].is_in_pod || rows[i].reason == REASON_NONE);
		assert_int_equal(p.state, d->is_usable                       ? NODE_READY
					  : rows[i].reason == REASON_PF_SICK ? NODE_DEGRADED
									     : NODE_STARTING);
		if (!rows[i].is_in_pod)
			continue;
		assert_int_equal(p.n_actions, 0);
		assert_string_equal(d->netdev_name, "was0");
		assert_string_equal(d->ibdev_name, "mlx5_was");
	}
}

static void what_was_usable_is_lost_only_when_a_second_look_says_so(_unused_ void **state)
{
	static const struct {
		const char *name;
		bool was_usable, was_lost, is_there, is_lost;
		uint64_t instance;
	} rows[] = {
		{ "never was usable", 0, 0, 0, 0 },
		{ "gone for the first time", 1, 0, 0, 1 },
		{ "the same one, gone for the first time", 1, 0, 0, 1, 5 },
		{ "bound again, and not yet usable", 1, 0, 0, 0, 6 },
		{ "still gone", 1, 1, 0, 0 },
		{ "there", 1, 0, 1, 0 },
		{ "there again", 1, 1, 1, 0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s, 1);
		has_vfs(&s);
		remember(&s, VF, rows[i].was_usable);
		s.memories[0].was_lost = rows[i].was_lost;
		s.memories[0].usable_instance = 5;
		find_pci(&s, VF)->instance = rows[i].instance;
		if (!rows[i].is_there)
			drop_ibdev(&s, VF);
		make_plan(&s, &p);

		assert_string_equal(p.devices[2].pci->address, VF);
		assert_int_equal(p.devices[2].is_lost, rows[i].is_lost);
		assert_int_equal(p.devices[2].is_usable, rows[i].is_there);
	}
}

static void what_is_in_a_pod_is_never_touched_and_stays_in_the_outputs(_unused_ void **state)
{
	struct scene s;

	set_scene(&s, 1);
	has_vfs(&s);
	remember(&s, VF, true);
	s.node.netns_mode = NETNS_MODE_EXCLUSIVE;
	drop_ibdev(&s, VF);
	s.sections[0].mtu = 4200;
	netdev_of(&s, FIRST)->mtu = 4200;
	netdev_of(&s, VF)->is_up = false;
	s.config.route.manage = true;
	add_address(&s, netdev_of(&s, VF)->ifindex, "10.0.0.2", 24);
	assert_plan(&s, "only the other VF", "set-mtu 0000:41:00.1 1500->4200");
}

/* --- plugin --- */

#define BOTH FIRST " " SECOND " "

static void first_down(struct scene *s)
{
	port_down(s);
}
static void both_down(struct scene *s)
{
	port_down(s);
	COPY(ibdev_of(s, SECOND)->ports->state, "DOWN");
}
static void link_down(struct scene *s)
{
	netdev_of(s, SECOND)->is_up = false;
}
static void both_down_one_to_be_raised(struct scene *s)
{
	both_down(s);
	link_down(s);
}
static void exclusive_netns(struct scene *s)
{
	s->node.netns_mode = NETNS_MODE_EXCLUSIVE;
}
static void none_matches(struct scene *s)
{
	s->sections[0].match = (char *)"id:ffff:*";
}
static void both_used_by_host(struct scene *s)
{
	s->config.plugin.type = PLUGIN_SRIOV;
	add_address(s, netdev_of(s, FIRST)->ifindex, "10.0.1.2", 24);
	add_address(s, netdev_of(s, SECOND)->ifindex, "10.0.2.2", 24);
}
static void no_plugin(struct scene *s)
{
	s->config.plugin.type = PLUGIN_NONE;
}
static void no_plugin_invalid(struct scene *s)
{
	no_plugin(s);
	s->config.is_invalid = true;
}

/* READY=1 does not wait for the end of the quiet for the sake of these files. */
static void a_node_that_only_lacks_its_files_is_whole(_unused_ void **state)
{
	static const struct {
		void (*set)(struct scene *s);
		bool is_whole;
	} rows[] = {
		{ NULL, true },
		{ first_down, false },
		{ link_down, false },
		{ wants_vfs, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s, 2);
		s.config.plugin.type = PLUGIN_RDMA_SHARED;
		s.node.plugin_file = NULL;
		if (rows[i].set)
			rows[i].set(&s);
		make_plan(&s, &p);
		assert_int_equal(p.state, NODE_STARTING);
		assert_int_equal(p.is_whole, rows[i].is_whole);
	}
}

static void the_plugin_file_is_last_and_only_of_a_ready_or_degraded_node(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
		bool is_wait_over;
		const char *file, *expected;
	} rows[] = {
		{ "ready", NULL, false, NULL, "write-plugin " PLUGIN_FILE },
		{ "written", NULL, false, BOTH, "" },
		{ "changed", NULL, false, SECOND " ", "write-plugin " PLUGIN_FILE },
		{ "starting", first_down, false, NULL,
		  "wait " FIRST " waiting port-down\nwrite-plugin " PLUGIN_FILE
		  " waiting not-ready" },
		{ "starting keeps the file", first_down, false, BOTH,
		  "wait " FIRST " waiting port-down\nwrite-plugin " PLUGIN_FILE
		  " waiting not-ready" },
		{ "starting with the right file", first_down, false, SECOND " ",
		  "wait " FIRST " waiting port-down" },
		{ "degraded", first_down, true, NULL,
		  "wait " FIRST " waiting port-down\nwrite-plugin " PLUGIN_FILE },
		{ "degraded, one left out", first_down, true, BOTH,
		  "wait " FIRST " waiting port-down\nwrite-plugin " PLUGIN_FILE },
		{ "degraded, written", first_down, true, SECOND " ",
		  "wait " FIRST " waiting port-down" },
		{ "none is usable", both_down, true, NULL,
		  "wait " FIRST " waiting port-down\nwait " SECOND " waiting port-down" },
		{ "none is usable any more", both_down, true, BOTH,
		  "wait " FIRST " waiting port-down\nwait " SECOND " waiting port-down\n"
		  "remove-plugin " PLUGIN_FILE },
		{ "a change before it", link_down, false, NULL,
		  "set-link-up " SECOND "\nwrite-plugin " PLUGIN_FILE " waiting not-ready" },
		{ "a change before it, degraded", link_down, true, NULL,
		  "set-link-up " SECOND "\nwrite-plugin " PLUGIN_FILE " waiting not-ready" },
		{ "none is usable yet", both_down_one_to_be_raised, true, BOTH,
		  "set-link-up " SECOND "\nwait " FIRST
		  " waiting port-down\nwrite-plugin " PLUGIN_FILE " waiting not-ready" },
		{ "what is refused does not hold it back", wants_vfs_in_bond_of_one, true, NULL,
		  "set-num-vfs " FIRST " 0->2 refused pf-in-lag\nwrite-plugin " PLUGIN_FILE },
		{ "but is not in it itself", wants_vfs_in_bond, true, NULL,
		  "set-num-vfs " FIRST " 0->2 refused pf-in-lag" },
		{ "exclusive mode", exclusive_netns, false, NULL,
		  "write-plugin " PLUGIN_FILE " refused netns-exclusive" },
		{ "no plugin", no_plugin, false, NULL, "" },
		{ "no plugin any more", no_plugin, false, BOTH, "remove-plugin " PLUGIN_FILE },
		{ "not on account of a mistake", no_plugin_invalid, false, BOTH, "" },
		{ "no section matches", none_matches, false, NULL, "" },
		{ "none matches any more", none_matches, false, BOTH,
		  "remove-plugin " PLUGIN_FILE },
		{ "all are left to the host", both_used_by_host, false, NULL, "" },
		{ "all are left to the host now", both_used_by_host, false, BOTH,
		  "remove-plugin " PLUGIN_FILE },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 2);
		s.config.plugin.type = PLUGIN_RDMA_SHARED;
		s.node.plugin_file = (char *)rows[i].file;
		s.is_wait_over = rows[i].is_wait_over;
		if (rows[i].set)
			rows[i].set(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

/* Whose a file is, is plugin/plugin-observe.c. */
static void a_file_of_others_is_neither_replaced_nor_removed(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
		const char *file, *expected;
	} rows[] = {
		{ "another text", NULL, SECOND " ",
		  "write-plugin " PLUGIN_FILE " refused output-foreign" },
		{ "not readable", NULL, NULL,
		  "write-plugin " PLUGIN_FILE " refused output-foreign" },
		{ "the same text, which is recorded", NULL, BOTH, "write-plugin " PLUGIN_FILE },
		{ "no plugin any more", no_plugin, BOTH, "" },
		{ "none is usable", both_down, BOTH,
		  "wait " FIRST " waiting port-down\nwait " SECOND " waiting port-down" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 2);
		s.config.plugin.type = PLUGIN_RDMA_SHARED;
		s.node.plugin_file = (char *)rows[i].file;
		s.node.is_plugin_foreign = s.is_wait_over = true;
		if (rows[i].set)
			rows[i].set(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

static void a_file_shrinks_only_when_two_looks_miss_the_device(_unused_ void **state)
{
	enum {
		DOWN = 1,       /* the first card is there, its ibdev is not */
		GONE = 2,       /* it is not there at all */
		SEEN = 4,       /* the look before missed it too */
		FORGOTTEN = 8,  /* no look before in this boot is remembered */
		NOT_THERE = 16, /* there is no file yet */
		RIGHT = 32,     /* the file has what it should have */
		LAST = 64,      /* the section matches no other card */
	};
	static const struct {
		int what;
		const char *expected;
	} rows[] = {
		{ DOWN, "wait " FIRST " waiting no-ibdev\nwrite-plugin " PLUGIN_FILE
			" waiting device-lost" },
		{ DOWN | SEEN, "wait " FIRST " waiting no-ibdev\nwrite-plugin " PLUGIN_FILE },
		{ DOWN | NOT_THERE, "wait " FIRST " waiting no-ibdev\nwrite-plugin " PLUGIN_FILE
				    " waiting device-lost" },
		{ GONE, "write-plugin " PLUGIN_FILE " waiting device-lost" },
		{ GONE | SEEN, "write-plugin " PLUGIN_FILE },
		{ GONE | NOT_THERE, "write-plugin " PLUGIN_FILE },
		{ GONE | RIGHT, "" },
		{ GONE | FORGOTTEN, "write-plugin " PLUGIN_FILE " waiting device-lost" },
		{ GONE | LAST, "write-plugin " PLUGIN_FILE " waiting device-lost" },
		{ GONE | LAST | SEEN, "remove-plugin " PLUGIN_FILE },
		{ GONE | LAST | FORGOTTEN, "write-plugin " PLUGIN_FILE " waiting device-lost" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		const int what = rows[i].what;
		struct scene s;
		char name[16];

		set_scene(&s, what & LAST ? 1 : 2);
		s.config.plugin.type = PLUGIN_RDMA_SHARED;
		s.is_wait_over = true;
		if (what & FORGOTTEN)
			*s.memory.last_hash = '\0';
		else
			remember(&s, FIRST, true);
		s.memories[0].was_lost = what & SEEN;
		s.node.plugin_file = what & NOT_THERE ? NULL : (char *)BOTH;
		if (what & RIGHT)
			s.node.plugin_file = (char *)SECOND " ";
		drop_ibdev(&s, FIRST);
		if (what & GONE) {
			drop_netdev(&s, FIRST);
			s.pcis[0] = s.pcis[1];
			s.node.n_pcis--;
		}
		snprintf(name, sizeof(name), "row %zu", i);
		assert_plan(&s, name, rows[i].expected);
	}
}

static void first_look(struct scene *s)
{
	first_down(s);
	*s->memory.last_hash = '\0';
}

static void a_static_pod_is_there_only_with_the_file_it_reads(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
		const char *file, *pod, *old_pod, *old_file, *expected;
	} rows[] = {
		{ "ready", NULL, NULL, NULL, "", "",
		  "write-plugin " PLUGIN_FILE "\nwrite-manifest " POD_FILE },
		{ "written", NULL, BOTH, POD, "", "", "" },
		{ "another file", NULL, "x", POD, "", "", "write-plugin " PLUGIN_FILE },
		{ "another pod", NULL, BOTH, MANIFEST_MARK "\nx", "", "",
		  "write-manifest " POD_FILE },
		{ "of another program", NULL, BOTH, "x", "", "",
		  "write-manifest " POD_FILE " refused output-foreign" },
		/* At the start of a boot: the kubelet comes later, and must not find it. */
		{ "first look of a boot", first_look, NULL, POD, "", "",
		  "remove-manifest " POD_FILE "\nwait " FIRST
		  " waiting port-down\nwrite-plugin " PLUGIN_FILE " waiting not-ready" },
		{ "first look, with the file", first_look, BOTH, POD, "", "",
		  "wait " FIRST " waiting port-down\nwrite-plugin " PLUGIN_FILE
		  " waiting not-ready" },
		{ "starting", first_down, NULL, POD, "", "",
		  "wait " FIRST " waiting port-down\nwrite-plugin " PLUGIN_FILE
		  " waiting not-ready\nremove-manifest " POD_FILE },
		{ "starting, of another program", first_down, NULL, "x", "", "",
		  "wait " FIRST " waiting port-down\nwrite-plugin " PLUGIN_FILE
		  " waiting not-ready" },
		{ "starting again", first_down, BOTH, POD, "", "",
		  "wait " FIRST " waiting port-down\nwrite-plugin " PLUGIN_FILE
		  " waiting not-ready" },
		{ "no plugin any more", no_plugin, BOTH, POD, "", "",
		  "remove-manifest " POD_FILE "\nremove-plugin " PLUGIN_FILE },
		{ "exclusive mode", exclusive_netns, NULL, POD, "", "",
		  "write-plugin " PLUGIN_FILE
		  " refused netns-exclusive\nremove-manifest " POD_FILE },
		/* Never two pods at a time: the next round writes the new one. */
		{ "another place", NULL, NULL, NULL, "/etc/old.yaml", "/run/old/x",
		  "remove-manifest /etc/old.yaml\nremove-plugin "
		  "/run/old/x\nwrite-plugin " PLUGIN_FILE },
		{ "not on account of a mistake", no_plugin_invalid, BOTH, POD, "/etc/old.yaml",
		  "/run/old/x", "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 2);
		s.config.plugin.type = PLUGIN_RDMA_SHARED;
		COPY(s.config.plugin.manifest, POD_FILE);
		s.node.plugin_file = (char *)rows[i].file;
		s.node.manifest_file = (char *)rows[i].pod;
		COPY(s.node.old_manifest_path, rows[i].old_pod);
		COPY(s.node.old_plugin_path, rows[i].old_file);
		if (rows[i].set)
			rows[i].set(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

static void a_plugin_that_has_not_read_its_file_is_named(_unused_ void **state)
{
	static const struct {
		const char *file, *manifest;
		bool is_dated;
		size_t n_hints;
	} rows[] = {
		{ BOTH, "", true, 1 },
		{ BOTH, "", false, 0 },
		{ SECOND, "", true, 0 },
		{ BOTH, POD_FILE, true, 0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct plugin_process process = { 4711, "sriovdp", "cri-containerd-0123456789ab",
						  .is_dated = rows[i].is_dated,
						  .since_change_sec = -1 };
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s, 2);
		s.config.plugin.type = PLUGIN_SRIOV;
		s.node.plugin_file = (char *)rows[i].file;
		COPY(s.config.plugin.manifest, rows[i].manifest);
		s.node.manifest_file = (char *)POD;
		s.node.plugin_processes = &process;
		s.node.n_plugin_processes = 1;
		make_plan(&s, &p);
		assert_int_equal(p.n_reasons, rows[i].n_hints);
		if (p.n_reasons > 0) {
			assert_int_equal(p.reasons[0].reason, REASON_PLUGIN_RESTART_NEEDED);
			assert_string_equal(p.reasons[0].detail,
					    "sriovdp, pid 4711 in cri-containerd-0123456789ab");
		}
	}
}

static void a_socket_more_than_resources_is_a_second_plugin(_unused_ void **state)
{
	static const struct {
		enum plugin_type type;
		uint32_t n_sockets;
		const char *resources[2];
		bool is_hint;
	} rows[] = {
		{ PLUGIN_RDMA_SHARED, 1, { "rdma/hca", NULL }, false },
		{ PLUGIN_RDMA_SHARED, 2, { "rdma/hca", NULL }, true },
		{ PLUGIN_RDMA_SHARED, 2, { "nvidia.com/gpu", "rdma/hca" }, false },
		{ PLUGIN_SRIOV, 3, { "nvidia.com/gpu", "rdma/hca" }, true },
		{ PLUGIN_SRIOV, 3, { "nvidia.com/gpu", "rdma/other" }, false }, /* none is ours */
		{ PLUGIN_SRIOV, 2, { NULL }, false }, /* none has registered yet */
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct plugin_resource resources[2];
		struct scene s;

		set_scene(&s, 2);
		s.config.plugin.type = rows[i].type;
		COPY(s.config.plugin.resource, "rdma/hca");
		s.node.n_plugin_sockets = rows[i].n_sockets;
		s.node.plugin_resources = resources;
		for (size_t k = 0; k < 2 && rows[i].resources[k]; k++) {
			COPY(resources[k].name, rows[i].resources[k]);
			s.node.n_plugin_resources++;
		}
		make_plan(&s, &p);
		assert_int_equal(has_hint(&p, REASON_PLUGIN_TWICE), rows[i].is_hint);
	}
}

static void a_vf_for_the_sriov_plugin_is_brought_up_by_a_cni(_unused_ void **state)
{
	static const struct {
		enum plugin_type type;
		bool is_pf_down;
		const char *expected;
	} rows[] = {
		{ PLUGIN_SRIOV, false, "write-plugin " PLUGIN_FILE },
		{ PLUGIN_SRIOV, true,
		  "wait 0000:41:00.1 waiting port-down\nwait " VF " waiting port-down" },
		{ PLUGIN_RDMA_SHARED, false,
		  "set-link-up " VF "\nwrite-plugin " PLUGIN_FILE " waiting not-ready" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 1);
		has_vfs(&s);
		s.is_wait_over = true;
		s.config.plugin.type = rows[i].type;
		netdev_of(&s, VF)->is_up = false;
		COPY(ibdev_of(&s, VF)->ports->state,
		     rows[i].type == PLUGIN_SRIOV ? "DOWN" : "ACTIVE");
		if (rows[i].is_pf_down)
			COPY(ibdev_of(&s, FIRST)->ports->state, "DOWN");
		assert_plan(&s, plugin_type_name(rows[i].type), rows[i].expected);
	}
}

/* --- what was tried --- */

static void try_all(struct plan *p, int result)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		if (!action_is_open(&p->actions[i]))
			continue;
		p->actions[i].is_done = true;
		p->actions[i].result = result;
		if (result < 0)
			p->actions[i].error = "the door says no";
	}
}

static void contest(struct scene *s, struct attempt *e, enum verb verb, const char *target,
		    const struct plan *wanted)
{
	*e = (struct attempt){ .n = 3, .since_usec = 1, .last_usec = 2, .pause_usec = 60000000 };
	e->verb = verb;
	COPY(e->target, target);
	for (size_t i = 0; i < wanted->n_actions; i++)
		if (wanted->actions[i].verb == verb && streq(wanted->actions[i].target, target)) {
			e->instance = wanted->actions[i].instance;
			e->value = wanted->actions[i].value;
		}
	s->memory.attempts = e;
	s->memory.n_attempts = 1;
	s->node.now_usec = 1000000;
}

static void what_is_contested_waits_and_the_rest_goes_on(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan before = {}, after = {}, asked = {};
	struct attempt e;
	struct scene s;
	char text[1024];

	set_scene(&s, 2);
	wants_vfs(&s);
	link_down(&s);
	s.sections[0].match = (char *)"driver:mlx5_core";
	s.pcis[0].has_autoprobe = s.pcis[0].autoprobe = true;
	s.is_wait_over = true;
	make_plan(&s, &before);
	assert_true(plan_has_open_changes(&before));

	contest(&s, &e, VERB_SET_NUM_VFS, FIRST, &before);
	make_plan(&s, &after);
	describe(&after, text, sizeof(text));
	/* Not even autoprobe is switched, and the other card gets what is its own. */
	assert_string_equal(text, "set-link-up " SECOND "\n"
				  "set-num-vfs " FIRST " 0->2 waiting contested\n"
				  "set-num-vfs " SECOND " 0->2");
	assert_int_equal(after.state, NODE_DEGRADED);
	assert_int_equal(after.again_usec, 60000002);

	s.is_asked = true; /* "apply" */
	make_plan(&s, &asked);
	assert_int_equal(asked.n_actions, before.n_actions);
	assert_true(action_is_open(&asked.actions[1]));
}

static void what_was_tried_and_is_still_wanted_has_failed(_unused_ void **state)
{
	static const int results[] = { 0, -EIO, -ETIMEDOUT };
	static const enum reason of_link[] = { REASON_NO_EFFECT, REASON_ACTION_FAILED,
					       REASON_ACTION_TIMEOUT };
	static const enum reason of_count[] = { REASON_NO_EFFECT, REASON_VF_FIRMWARE,
						REASON_ACTION_TIMEOUT };

	for (size_t i = 0; i < ELEMENTSOF(results); i++) {
		_cleanup_(plan_done) struct plan before = {}, after = {};
		struct scene s;

		set_scene(&s, 2);
		wants_vfs(&s);
		link_down(&s);
		s.sections[0].match = (char *)"driver:mlx5_core";
		s.config.plugin.type = PLUGIN_RDMA_SHARED;
		make_plan(&s, &before);
		assert_int_equal(before.n_actions, 4); /* up, two counts, the plugin waits */
		try_all(&before, results[i]);

		s.tried = &before;
		make_plan(&s, &after);
		for (size_t k = 0; k < 3; k++) {
			assert_true(after.actions[k].is_done);
			assert_false(action_is_open(&after.actions[k]));
			assert_int_equal(after.actions[k].result,
					 results[i] < 0 ? results[i] : -EIO);
			assert_string_equal(
				after.actions[k].error,
				results[i] < 0
					? "the door says no"
					: "the kernel accepted it, but it did not take effect, or "
					  "another program undid it at once");
		}
		assert_int_equal(action_failure(&after.actions[0]), of_link[i]);
		assert_int_equal(action_failure(&after.actions[1]), of_count[i]);
		/* what waits was not tried */
		assert_int_equal(after.actions[3].class, CLASS_WAITING);
		assert_false(after.actions[3].is_done);
	}
}

static void what_failed_does_not_hold_back_the_rest(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan before = {};
	struct scene s;

	set_scene(&s, 2);
	link_down(&s);
	s.config.plugin.type = PLUGIN_RDMA_SHARED;
	make_plan(&s, &before);
	try_all(&before, -EIO);
	s.tried = &before;
	assert_plan(&s, "link", "set-link-up " SECOND " failed\nwrite-plugin " PLUGIN_FILE);
}

static void a_write_of_the_plugin_that_failed_is_not_tried_again(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan before = {}, after = {};
	struct scene s;

	set_scene(&s, 1);
	s.config.plugin.type = PLUGIN_RDMA_SHARED;
	make_plan(&s, &before);
	assert_int_equal(before.n_actions, 1);
	try_all(&before, -ENOSPC);
	s.tried = &before;
	assert_plan(&s, "disk full", "write-plugin " PLUGIN_FILE " failed");
	make_plan(&s, &after);
	assert_false(action_is_open(&after.actions[0]));
}

static void a_plugin_file_written_for_fewer_devices_is_written_again(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan before = {};
	struct scene s;

	set_scene(&s, 1);
	s.config.plugin.type = PLUGIN_RDMA_SHARED;
	make_plan(&s, &before);
	assert_int_equal(before.n_actions, 1);
	try_all(&before, 0);
	s.tried = &before;
	assert_plan(&s, "more devices", "write-plugin " PLUGIN_FILE);
}

static void only_the_same_change_counts_as_tried(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan before = {};
	struct scene s;

	/* 4 to 6 ended at 0: the second half is to be tried, the first half is no failure */
	set_scene(&s, 1);
	wants_vfs(&s);
	add_vfs(&s, 4);
	s.sections[0].count = 6;
	make_plan(&s, &before);
	assert_int_equal(before.n_actions, 2);
	before.actions[0].is_done = true;

	set_scene(&s, 1);
	wants_vfs(&s);
	s.sections[0].count = 6;
	s.tried = &before;
	assert_plan(&s, "second half", "set-num-vfs " FIRST " 0->6");

	/* another count, another card and another netdev of the same card are other changes */
	before.actions[1].is_done = true;
	s.sections[0].count = 5;
	assert_plan(&s, "another count", "set-num-vfs " FIRST " 0->5");
	s.sections[0].count = 6;
	assert_plan(&s, "the same", "set-num-vfs " FIRST " 0->6 failed");
	before.actions[1].target = SECOND;
	assert_plan(&s, "another card", "set-num-vfs " FIRST " 0->6");
}

static void a_netdev_that_was_made_again_is_another(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan before = {};
	struct scene s;

	set_scene(&s, 2);
	link_down(&s);
	make_plan(&s, &before);
	try_all(&before, 0);
	s.tried = &before;
	assert_plan(&s, "the same", "set-link-up " SECOND " failed");
	netdev_of(&s, SECOND)->ifindex = 77;
	assert_plan(&s, "made again", "set-link-up " SECOND);
}

static void what_is_refused_now_is_no_failure(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan before = {};
	struct scene s;

	set_scene(&s, 1);
	wants_vfs(&s);
	make_plan(&s, &before);
	try_all(&before, -EBUSY);
	s.tried = &before;
	assert_plan(&s, "tried", "set-num-vfs " FIRST " 0->2 failed");
	bonded(&s);
	assert_plan(&s, "bonded since", "set-num-vfs " FIRST " 0->2 refused pf-in-lag");
}

/* --- the order --- */

static void the_order_is_that_of_the_mission(_unused_ void **state)
{
	struct scene s;

	set_scene(&s, 2);
	wants_vfs(&s);
	add_vfs(&s, 2);
	s.sections[1] = (struct device_config){ .name = "second",
						.match = (char *)"pci:" SECOND,
						.mode = VF_MODE_SHARED,
						.count = 1,
						.mtu = 4200 };
	s.config.n_devices = 2;
	s.config.rdma.netns_mode = NETNS_MODE_SHARED;
	s.node.netns_mode = NETNS_MODE_EXCLUSIVE;
	s.config.route.manage = true;
	s.config.kubelet.topology_policy = TOPOLOGY_POLICY_RESTRICTED;
	s.config.plugin.type = PLUGIN_NONE;
	s.node.plugin_file = (char *)"old";
	set_kubelet(&s, TOPOLOGY_POLICY_NONE);
	set_module(&s, "rdma_ucm", MODULE_AVAILABLE);
	netdev_of(&s, SECOND)->is_up = false;
	netdev_of(&s, VF)->is_up = false;
	add_address(&s, RAIL2, "10.0.0.2", 24);
	assert_plan(&s, "everything at once",
		    "load-module rdma_ucm\n"
		    "set-netns-mode  exclusive->shared\n"
		    "set-mtu " SECOND " 1500->4200\n"
		    "set-link-up " SECOND "\n"
		    "set-num-vfs " SECOND " 0->1\n"
		    "set-link-up " VF "\n"
		    "set-metric " SECOND " 0->200\n"
		    "ensure-kubelet " KUBELET_FILE_PATH " none->restricted\n"
		    "remove-plugin " PLUGIN_FILE);
}

static void a_dra_driver_gets_no_file_and_an_old_one_goes(_unused_ void **state)
{
	static const enum plugin_type types[] = { PLUGIN_NONE, PLUGIN_DRANET, PLUGIN_DRA_SRIOV };

	for (size_t i = 0; i < ELEMENTSOF(types); i++) {
		struct scene s;

		set_scene(&s, 1);
		s.config.plugin.type = types[i];
		assert_plan(&s, plugin_type_name(types[i]), "");
		s.node.plugin_file = (char *)"old";
		assert_plan(&s, plugin_type_name(types[i]), "remove-plugin " PLUGIN_FILE);
	}
}

static void one_change_of_the_kubelet_has_all_settings_around_a_refused_one(_unused_ void **state)
{
	const struct config config = {};
	const struct memory memory = {};
	struct node n = { .is_copy = true };
	struct kubelet_item *items = n.kubelet_decision.items;

	items[KUBELET_TOPOLOGY_POLICY] = (struct kubelet_item){
		.row = 7, .outcome = KUBELET_CHANGED, .path = "/a", .to = "restricted"
	};
	items[KUBELET_TOPOLOGY_SCOPE] = (struct kubelet_item){ .row = 5,
							       .outcome = KUBELET_REFUSED,
							       .reason = REASON_KUBELET_FLAG_WINS,
							       .path = "/b" };
	items[KUBELET_CPU_POLICY] = (struct kubelet_item){
		.row = 7, .outcome = KUBELET_CHANGED, .path = "/a", .to = "static"
	};
	for (size_t n_before = 0; n_before < 8; n_before++) {
		_cleanup_(plan_done) struct plan p = {};

		for (size_t i = 0; i < n_before; i++)
			plan_add(&p, VERB_SET_LINK_UP, "eth0");
		plan_kubelet(&config, &n, &memory, &p);
		assert_int_equal(p.n_actions, n_before + 2);
		assert_string_equal(p.actions[n_before].text.to, "restricted");
		assert_string_equal(p.actions[n_before].detail, "cpuManagerPolicy static");
		assert_string_equal(p.actions[n_before + 1].target, "/b");
	}
}

static void every_action_is_of_the_step_of_its_verb(_unused_ void **state)
{
	static const enum step steps[_VERB_N] = {
		[VERB_LOAD_MODULE] = STEP_DRIVER,   [VERB_BIND_DRIVER] = STEP_DRIVER,
		[VERB_SET_NETNS_MODE] = STEP_NETNS, [VERB_SET_NUM_VFS] = STEP_VF,
		[VERB_SET_LINK_UP] = STEP_LINK,     [VERB_SET_MTU] = STEP_LINK,
		[VERB_SET_METRIC] = STEP_ROUTE,     [VERB_ENSURE_KUBELET] = STEP_KUBELET,
		[VERB_RELOAD_UNITS] = STEP_KUBELET, [VERB_WRITE_PLUGIN] = STEP_PLUGIN,
		[VERB_REMOVE_PLUGIN] = STEP_PLUGIN,
	};
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;

	set_scene(&s, 2);
	has_vfs(&s);
	s.sections[0].match = (char *)"driver:mlx5_core";
	s.sections[0].mtu = 4200;
	s.config.rdma.netns_mode = NETNS_MODE_SHARED;
	s.node.netns_mode = NETNS_MODE_EXCLUSIVE;
	s.config.route.manage = true;
	s.config.kubelet.topology_policy = TOPOLOGY_POLICY_RESTRICTED;
	s.config.plugin.type = PLUGIN_RDMA_SHARED;
	set_kubelet(&s, TOPOLOGY_POLICY_NONE);
	set_module(&s, "rdma_ucm", MODULE_AVAILABLE);
	netdev_of(&s, SECOND)->is_up = false;
	add_address(&s, RAIL2, "10.0.0.2", 24);
	make_plan(&s, &p);

	assert_int_equal(p.n_actions, 11);
	for (size_t i = 0; i < p.n_actions; i++)
		assert_int_equal(p.actions[i].step, steps[p.actions[i].verb]);
	assert_int_equal(p.actions[p.n_actions - 1].verb, VERB_WRITE_PLUGIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_route_that_a_manager_made_is_reported),
		cmocka_unit_test(what_udev_has_not_named_is_not_brought_up),
		cmocka_unit_test(what_we_bring_up_takes_no_default_route),
		cmocka_unit_test(nor_do_vlans_that_come_up_with_it),
		cmocka_unit_test(what_we_bring_up_takes_no_prefix_that_diverts),
		cmocka_unit_test(systemd_runs_its_generators_again_before_the_node_is_ready),
		cmocka_unit_test(a_malformed_configuration_asks_nothing_of_the_kubelets_programs),
		cmocka_unit_test(a_finished_node_has_an_empty_plan_and_is_ready),
		cmocka_unit_test(vf_counts_change_only_through_zero_and_within_limits),
		cmocka_unit_test(vfs_that_are_in_use_wait_for_a_reboot),
		cmocka_unit_test(nics_of_a_section_change_together),
		cmocka_unit_test(a_pf_in_a_pod_keeps_the_mode_of_its_section),
		cmocka_unit_test(one_card_that_cannot_does_not_keep_the_others),
		cmocka_unit_test(match_words_of_a_kind_are_alternatives_and_kinds_add_up),
		cmocka_unit_test(a_word_of_255_characters_matches_and_a_longer_one_does_not),
		cmocka_unit_test(a_driver_matches_in_either_spelling),
		cmocka_unit_test(the_first_section_that_matches_owns_a_card),
		cmocka_unit_test(erdma_is_a_nic_whatever_its_class_and_before_its_driver_is_loaded),
		cmocka_unit_test(vfs_go_with_their_pf_and_are_never_matched),
		cmocka_unit_test(what_the_host_uses_is_not_moved_or_changed),
		cmocka_unit_test(a_way_out_is_named_where_it_is_one),
		cmocka_unit_test(what_has_an_address_is_handed_out_until_then_only_if_it_was),
		cmocka_unit_test(without_the_vfs_of_a_section_the_node_is_not_ready),
		cmocka_unit_test(without_a_vf_to_hand_out_the_node_is_not_ready),
		cmocka_unit_test(users_of_a_pf_are_asked_for_before_it_is_moved),
		cmocka_unit_test(users_of_a_vf_with_connections_are_asked_for),
		cmocka_unit_test(the_pf_is_handed_out_unless_vfs_are_asked_for),
		cmocka_unit_test(mtu_is_raised_everywhere_and_never_lowered_under_vfs),
		cmocka_unit_test(a_vf_gets_no_larger_mtu_than_its_pf_keeps),
		cmocka_unit_test(a_vlan_with_the_rails_addresses_gets_its_mtu),
		cmocka_unit_test(an_mtu_is_not_lowered_below_a_port_of_another_device),
		cmocka_unit_test(an_mtu_too_small_for_ipv6_in_use_is_refused),
		cmocka_unit_test(a_pf_is_up_before_its_vfs_are_made_and_vfs_of_ours_follow),
		cmocka_unit_test(
			prefix_routes_rank_below_everybody_elses_and_the_same_on_every_run),
		cmocka_unit_test(a_metric_names_its_address_and_its_netdev),
		cmocka_unit_test(the_kubelets_settings_are_one_change_and_refusals_are_reported),
		cmocka_unit_test(modules_that_are_not_there_are_loaded_or_told),
		cmocka_unit_test(what_drives_an_unbound_function_is_loaded_and_binds_it),
		cmocka_unit_test(a_pf_whose_probe_came_too_early_is_probed_again),
		cmocka_unit_test(it_is_probed_once_a_minute_and_after_all_else),
		cmocka_unit_test(an_unbound_pf_that_is_handed_out_is_a_reason),
		cmocka_unit_test(the_netns_mode_is_changed_where_it_is_known_and_differs),
		cmocka_unit_test(a_device_is_usable_when_every_condition_holds),
		cmocka_unit_test(a_device_needs_an_address_where_pods_use_that_of_the_host),
		cmocka_unit_test(a_port_that_is_down_names_its_cause),
		cmocka_unit_test(a_first_boot_waits_for_the_default_route),
		cmocka_unit_test(the_port_of_a_bond_is_left_to_it),
		cmocka_unit_test(both_netdevs_of_a_card_with_two_ports_are_brought_up),
		cmocka_unit_test(both_netdevs_of_a_card_with_two_ports_are_rails),
		cmocka_unit_test(an_infiniband_port_without_ipoib_is_looked_at),
		cmocka_unit_test(the_second_port_of_a_lag_waits_for_no_ibdev_of_its_own),
		cmocka_unit_test(a_function_that_is_for_vfs_alone_is_no_nic),
		cmocka_unit_test(the_state_follows_from_the_devices_and_the_time),
		cmocka_unit_test(what_is_missing_is_an_item_of_the_plan),
		cmocka_unit_test(the_label_of_vke_is_compared_with_the_sections),
		cmocka_unit_test(mgpu_is_not_for_a_node_with_rdma),
		cmocka_unit_test(a_cpu_policy_alone_aligns_nothing),
		cmocka_unit_test(a_function_that_left_after_it_was_usable_is_in_a_pod),
		cmocka_unit_test(what_was_usable_is_lost_only_when_a_second_look_says_so),
		cmocka_unit_test(what_is_in_a_pod_is_never_touched_and_stays_in_the_outputs),
		cmocka_unit_test(a_node_that_only_lacks_its_files_is_whole),
		cmocka_unit_test(the_plugin_file_is_last_and_only_of_a_ready_or_degraded_node),
		cmocka_unit_test(a_file_of_others_is_neither_replaced_nor_removed),
		cmocka_unit_test(a_file_shrinks_only_when_two_looks_miss_the_device),
		cmocka_unit_test(a_static_pod_is_there_only_with_the_file_it_reads),
		cmocka_unit_test(a_plugin_that_has_not_read_its_file_is_named),
		cmocka_unit_test(a_socket_more_than_resources_is_a_second_plugin),
		cmocka_unit_test(a_vf_for_the_sriov_plugin_is_brought_up_by_a_cni),
		cmocka_unit_test(what_is_contested_waits_and_the_rest_goes_on),
		cmocka_unit_test(what_was_tried_and_is_still_wanted_has_failed),
		cmocka_unit_test(what_failed_does_not_hold_back_the_rest),
		cmocka_unit_test(a_write_of_the_plugin_that_failed_is_not_tried_again),
		cmocka_unit_test(a_plugin_file_written_for_fewer_devices_is_written_again),
		cmocka_unit_test(only_the_same_change_counts_as_tried),
		cmocka_unit_test(a_netdev_that_was_made_again_is_another),
		cmocka_unit_test(what_is_refused_now_is_no_failure),
		cmocka_unit_test(the_order_is_that_of_the_mission),
		cmocka_unit_test(a_dra_driver_gets_no_file_and_an_old_one_goes),
		cmocka_unit_test(one_change_of_the_kubelet_has_all_settings_around_a_refused_one),
		cmocka_unit_test(every_action_is_of_the_step_of_its_verb),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
