/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "../src/model/given.h"
#include "../src/model/module-options.h"
#include "../src/model/vf-facts.h"
#include "../src/step/identity-rules.h"
#include "../src/step/steps.h"
#include "scene.h"

#define PF     "0000:41:00.0"
#define VF     "0000:41:00.1"
#define SECOND "0000:42:00.0"
#define SEC    USEC_PER_SEC
#define START  (100 * SEC)

enum {
	OF_PF,
	OF_VF,
	OF_SECOND,
	N
};

/* A PF with one VF, and another PF that no section matches. The memory is that of passes before. */
struct scene {
	struct config config;
	struct device_config section;
	struct node node;
	struct pci pcis[N];
	struct netdev netdevs[N + 1]; /* the last is a VRF, where a test counts it */
	struct ibdev ibdevs[N];
	struct port ports[N];
	struct gid gids[N];
	struct vf_info info;
	struct module modules[3];
	struct action tried[4];
	struct attempts tries;
	struct memory memory; /* owned */
	uint64_t again_usec;  /* of the last pass */
};

static void add(struct scene *s, size_t i, const char *address, const char *name)
{
	s->pcis[i] = (struct pci){ .vendor = 0x15b3,
				   .class = 0x020000,
				   .driver = "mlx5_core",
				   .numa_node = -1,
				   .instance = 7 };
	COPY(s->pcis[i].address, address);
	s->netdevs[i] = (struct netdev){
		.ifindex = (uint32_t)i + 2, .mtu = 1500, .is_up = true, .has_carrier = true
	};
	COPY(s->netdevs[i].name, name);
	COPY(s->netdevs[i].pci, address);
	snprintf(s->netdevs[i].mac, sizeof(s->netdevs[i].mac), "02:00:00:00:00:0%zu", i);
	COPY(s->netdevs[i].perm_mac, s->netdevs[i].mac);
	s->gids[i] =
		(struct gid){ .gid = "fe80:0000:0000:0000:0200:00ff:fe00:0001", .type = "RoCE v2" };
	s->ports[i] = (struct port){ .number = 1,
				     .state = "ACTIVE",
				     .link_layer = "Ethernet",
				     .gids = &s->gids[i],
				     .n_gids = 1 };
	COPY(s->gids[i].netdev, name);
	s->ibdevs[i] = (struct ibdev){ .node_type = "CA",
				       .uverbs = "uverbs0",
				       .umad = "umad0",
				       .ports = &s->ports[i],
				       .n_ports = 1 };
	snprintf(s->ibdevs[i].node_guid, sizeof(s->ibdevs[i].node_guid), "b8ce:f603:0041:000%zu",
		 i);
	snprintf(s->ibdevs[i].name, sizeof(s->ibdevs[i].name), "mlx5_%zu", i);
	COPY(s->ibdevs[i].pci, address);
	COPY(s->ibdevs[i].netdev, name);
}

static void set_scene(struct scene *s)
{
	static const char *const modules[] = { "ib_umad", "ib_uverbs", "rdma_ucm" };

	*s = (struct scene){};
	add(s, OF_PF, PF, "ens1");
	add(s, OF_VF, VF, "ens1v0");
	add(s, OF_SECOND, SECOND, "ens2");
	s->pcis[OF_PF].has_sriov = s->pcis[OF_PF].has_autoprobe = s->pcis[OF_PF].autoprobe = true;
	s->pcis[OF_PF].total_vfs = s->pcis[OF_PF].num_vfs = 1;
	COPY(s->pcis[OF_VF].physfn, PF);
	COPY(s->netdevs[OF_VF].altnames, "rail1 ens1f0v0");
	s->info = (struct vf_info){ .pf = PF, .mac = "02:00:00:00:00:01" };
	s->section = (struct device_config){ .name = "rail",
					     .match = (char *)"netdev:ens1",
					     .mode = VF_MODE_SHARED_MULTI,
					     .count = 1 };
	s->config = (struct config){ .devices = &s->section, .n_devices = 1 };
	s->config.service.settle_usec = 2 * SEC;
	for (size_t i = 0; i < ELEMENTSOF(modules); i++) {
		COPY(s->modules[i].name, modules[i]);
		s->modules[i].state = MODULE_LOADED;
	}
	s->tries.actions = s->tried;
	s->node = (struct node){ .netns_mode = NETNS_MODE_SHARED,
				 .has_rdma_cm = true,
				 .boot_id = "boot-1",
				 .now_usec = START,
				 .pcis = s->pcis,
				 .n_pcis = N,
				 .netdevs = s->netdevs,
				 .n_netdevs = N,
				 .ibdevs = s->ibdevs,
				 .n_ibdevs = N,
				 .vf_infos = &s->info,
				 .n_vf_infos = 1,
				 .modules = s->modules,
				 .n_modules = ELEMENTSOF(modules) };
	s->memory = (struct memory){};
}

/* A pass at that second, whose memory is the next one's. */
static void pass(struct scene *s, unsigned sec, char *ret, size_t size)
{
	_cleanup_(plan_done) struct plan p = {};
	struct memory next = {};

	s->node.now_usec = START + sec * SEC;
	assert_int_equal(make_whole_plan(&s->config, &s->node, &s->memory, &s->tries, true, &p), 0);
	assert_int_equal(plan_remember(&s->config, &s->node, &s->memory, &p, &next), 0);
	s->again_usec = p.again_usec;
	ret[0] = '\0';
	for (size_t i = 0; i < p.n_actions; i++) {
		const struct action *a = &p.actions[i];
		char from[SHOWN_LEN], to[SHOWN_LEN];

		if (a->verb == VERB_WRITE_RULES)
			continue;
		snprintf(ret + strlen(ret), size - strlen(ret), "%s%s %s%s%s%s%s%s",
			 *ret ? "\n" : "", verb_name(a->verb),
			 a->verb == VERB_SET_ROUTE ? a->subject : "", action_from(a, from),
			 *action_to(a, to) ? ">" : "", action_to(a, to),
			 a->class == CLASS_CHANGE ? "" : " ",
			 a->class == CLASS_CHANGE ? "" : reason_code(a->reason));
	}
	for (size_t i = 0; i < p.n_reasons; i++)
		snprintf(ret + strlen(ret), size - strlen(ret), "%s%s: %s", *ret ? "\n" : "",
			 reason_code(p.reasons[i].reason), p.reasons[i].detail);
	free(s->memory.devices);
	s->memory.devices = TAKE(next.devices);
	s->memory.n_devices = next.n_devices;
	memory_done(&next);
}

static void assert_pass(struct scene *s, unsigned sec, const char *expected)
{
	char is[2048];

	pass(s, sec, is, sizeof(is));
	assert_string_equal(is, expected);
}

static struct netdev *vf_netdev(struct scene *s)
{
	return &s->netdevs[OF_VF];
}

static void go_out(struct scene *s)
{
	vf_netdev(s)->pci[0] = '\0';
	COPY(vf_netdev(s)->name, "not-here");
	COPY(s->ibdevs[OF_VF].netdev, "");
}

static void come_back(struct scene *s, const char *name)
{
	COPY(vf_netdev(s)->pci, VF);
	COPY(vf_netdev(s)->name, name);
	COPY(s->ibdevs[OF_VF].netdev, name);
	COPY(s->gids[OF_VF].netdev, name);
	vf_netdev(s)->is_up = false;
}

static void change(struct scene *s)
{
	COPY(vf_netdev(s)->mac, "0a:00:00:00:00:77");
	COPY(vf_netdev(s)->altnames, "ens1f0v0 podnic");
	vf_netdev(s)->mtu = 1400;
	COPY(s->info.mac, "0a:00:00:00:00:77");
	s->info.vlan = 100;
	s->info.trust = 1;
}

#define ALL                                                                                        \
	"set-vf-vlan 100>0\nset-vf-mac 0a:00:00:00:00:77>02:00:00:00:00:01\n"                      \
	"set-mac 0a:00:00:00:00:77>02:00:00:00:00:01\nset-vf-trust 1>0\nset-mtu 1400>1500\n"       \
	"remove-altname >podnic\nset-name net1>ens1v0\nadd-altname >rail1"
#define HINT                                                                                       \
	"given-back: net1: set-vf-vlan; set-vf-mac; set-mac; set-vf-trust; set-mtu; "              \
	"remove-altname; set-name; add-altname"

static void what_a_pod_left_changed_is_put_back_once_it_is_quiet(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	assert_pass(&s, 0, "");
	change(&s);
	go_out(&s);
	assert_pass(&s, 20, "");
	come_back(&s, "net1");
	assert_pass(&s, 30, HINT);
	assert_pass(&s, 31, HINT);
	s.info.vlan = 200; /* somebody is still at it */
	pass(&s, 33, (char[2048]){ "" }, 2048);
	s.info.vlan = 100;
	assert_pass(&s, 34, HINT);
	assert_pass(&s, 36, ALL);

	come_back(&s, "ens1v0");
	COPY(vf_netdev(&s)->mac, "02:00:00:00:00:01");
	COPY(vf_netdev(&s)->altnames, "ens1f0v0 rail1");
	vf_netdev(&s)->mtu = 1500;
	COPY(s.info.mac, "02:00:00:00:00:01");
	s.info.vlan = s.info.trust = 0;
	assert_pass(&s, 37, "set-link-up ");
	vf_netdev(&s)->is_up = true;
	assert_pass(&s, 38, "");
	/* Nobody had it out: it is left alone. */
	COPY(vf_netdev(&s)->name, "mine");
	assert_pass(&s, 50, "");
	assert_pass(&s, 70, "");
	memory_done(&s.memory);
}

#define ROUTES "set-route 10.30.9.1/32 table 100\nset-route 0.0.0.0/0 table 100"

/* The second PF, which is handed out itself, with an address and a route by a gateway, and behind
 * that the route on the link to the gateway. @later: Match= of the section while it is in the pod;
 * @link: with what its link comes up again. */
static void assert_pf_gets_back_all(const char *later, struct ledger_entry *changes,
				    const char *link)
{
	struct address addresses[] = {
		{ .family = AF_INET, .local = { 10, 30, 2, 2 }, .flags = IFA_F_PERMANENT },
		{ .family = AF_INET, .local = { 10, 30, 3, 2 } }, /* has a lifetime */
	};
	struct route routes[] = {
		{ .family = AF_INET, .gateway = { 10, 30, 9, 1 }, .table = 100 },
		{ .family = AF_INET, .dst = { 10, 30, 9, 1 }, .prefix_len = 32, .table = 100 },
		{ .family = AF_INET, .gateway = { 10, 30, 2, 1 }, .table = 254 },
	};
	struct netdev *nd;
	struct scene s;
	char text[256];

	set_scene(&s);
	nd = &s.netdevs[OF_SECOND];
	nd->conf.known = 1u << NETCONF_ACCEPT_RA | 1u << NETCONF_ACCEPT_RA_DEFRTR;
	nd->conf.values[NETCONF_ACCEPT_RA] = nd->conf.values[NETCONF_ACCEPT_RA_DEFRTR] = 1;
	s.memory.ledger = changes;
	s.memory.n_ledger = changes ? 1 : 0;
	COPY(s.config.service.node_nic, "none");
	s.section.match = (char *)"netdev:ens2";
	COPY(s.ibdevs[OF_SECOND].node_type, "RNIC"); /* no GID of an address is waited for */
	s.section.mode = VF_MODE_EXCLUSIVE;
	for (size_t i = 0; i < ELEMENTSOF(addresses); i++) {
		memcpy(addresses[i].peer, addresses[i].local, 4);
		addresses[i].ifindex = nd->ifindex;
		addresses[i].prefix_len = 24;
	}
	for (size_t i = 0; i < ELEMENTSOF(routes); i++) {
		routes[i].ifindex = nd->ifindex;
		routes[i].type = RTN_UNICAST;
		routes[i].scope = i == 1 ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
		routes[i].protocol = i < 2 ? RTPROT_STATIC : RTPROT_DHCP;
	}
	s.node.addresses = addresses;
	s.node.routes = routes;
	s.node.n_addresses = ELEMENTSOF(addresses);
	s.node.n_routes = ELEMENTSOF(routes);
	assert_pass(&s, 0, "");

	nd->pci[0] = '\0';
	s.node.n_netdevs = N - 1;
	s.node.n_addresses = s.node.n_routes = 0;
	assert_pass(&s, 20, "");
	s.section.match = (char *)later;
	s.section.mode = streq(later, "pci:" PF) ? VF_MODE_SHARED_MULTI : VF_MODE_EXCLUSIVE;
	assert_pass(&s, 25, "");
	COPY(nd->pci, SECOND);
	nd->is_up = false;
	s.node.n_netdevs = N;
	s.pcis[OF_SECOND].cni_pid = 4711;
	assert_pass(&s, 30, link);
	s.pcis[OF_SECOND].cni_pid = 0;
	PRINT(text, "%s\nadd-address >10.30.2.2/24\n" ROUTES, link);
	assert_pass(&s, 30, text);
	nd->is_up = true;
	assert_pass(&s, 30, "add-address >10.30.2.2/24\n" ROUTES);
	s.node.n_addresses = 1;
	addresses[0].metric = 201; /* ranked anew, below a rail that has taken its place */
	assert_pass(&s, 30, ROUTES);
	s.node.n_routes = 2;
	assert_pass(&s, 30, "");
	s.node.n_addresses = s.node.n_routes = 0; /* it is here: others may take it away */
	assert_pass(&s, 31, "");
	s.memory.ledger = NULL;
	s.memory.n_ledger = 0;
	memory_done(&s.memory);
}

static void a_pf_gets_back_its_addresses_and_routes_by_one_plan(_unused_ void **state)
{
	assert_pf_gets_back_all("netdev:ens2", NULL, "set-sysctl 1>0\nset-link-up ");
}

/* It takes no default route of a router where this service had brought it up before. */
static void a_pf_that_no_section_matches_any_more_gets_them_back_as_well(_unused_ void **state)
{
	struct ledger_entry change = { .verb = "set-sysctl",
				       .ifindex = OF_SECOND + 2,
				       .subject = "ipv6/accept_ra_defrtr" };

	assert_pf_gets_back_all("pci:" PF, NULL, "set-link-up ");
	assert_pf_gets_back_all("pci:" PF, &change, "set-sysctl 1>0\nset-link-up ");
}

/* Beside a VRF, and with an address to give to the netdev of SECOND, which is the return value. */
static struct netdev *set_vrf_scene(struct scene *s, struct address *ret)
{
	set_scene(s);
	s->netdevs[N] = (struct netdev){ .name = "vrf0", .ifindex = 9, .kind = "vrf" };
	COPY(s->config.service.node_nic, "none");
	*ret = (struct address){ .family = AF_INET,
				 .local = { 10, 30, 2, 2 },
				 .peer = { 10, 30, 2, 2 },
				 .prefix_len = 24,
				 .flags = IFA_F_PERMANENT };
	return &s->netdevs[OF_SECOND];
}

/* The kernel takes a port that leaves for another namespace out of its VRF: vrf_device_event(). */
static void a_port_of_a_vrf_gets_nothing_back_outside_of_it(_unused_ void **state)
{
	struct address address;
	struct netdev *nd;
	struct scene s;

	nd = set_vrf_scene(&s, &address);
	s.config.plugin.type = PLUGIN_SRIOV;
	s.section.match = (char *)"pci:" SECOND;
	s.section.mode = VF_MODE_EXCLUSIVE;
	COPY(s.ibdevs[OF_SECOND].node_type, "RNIC");
	address.ifindex = nd->ifindex;
	nd->master = 9;
	s.node.has_socks = true;
	s.node.addresses = &address;
	s.node.n_addresses = 1;
	s.node.n_netdevs = N + 1;
	assert_pass(&s, 0,
		    "write-plugin  plugin-name\n"
		    "port-addressed: ens2 has 10.30.2.2/24; it also leaves VRF vrf0, and gets all "
		    "back once it is a port of that again");

	s.config.plugin.type = PLUGIN_NONE;
	nd->pci[0] = '\0';
	nd->master = 0;
	COPY(nd->name, "not-here");
	s.node.n_addresses = 0;
	assert_pass(&s, 20, "");
	COPY(nd->pci, SECOND);
	COPY(nd->name, "ens2");
	assert_pass(&s, 30,
		    "given-back: ens2: it left VRF vrf0; its addresses and routes come back once "
		    "it is a port of that again");
	nd->master = 9;
	assert_pass(&s, 40, "add-address >10.30.2.2/24");
	nd->master = 8; /* of another program's bridge */
	assert_pass(&s, 50, "");
	memory_done(&s.memory);
}

/* While it was in a pod, another NIC became the way to a server in its network. */
static void an_address_that_would_divert_packets_stays_away(_unused_ void **state)
{
	struct destination server = {
		.to = TO_API_SERVER,
		.lookup = { .family = AF_INET, .dst = { 10, 30, 2, 50 }, .found = OF_PF + 2 }
	};
	struct route route = { .family = AF_INET,
			       .gateway = { 10, 30, 2, 1 },
			       .table = 100,
			       .type = RTN_UNICAST,
			       .protocol = RTPROT_STATIC };
	struct address address;
	struct netdev *nd;
	struct scene s;

	nd = set_vrf_scene(&s, &address);
	s.section.match = (char *)"pci:" SECOND;
	s.section.mode = VF_MODE_EXCLUSIVE;
	COPY(s.ibdevs[OF_SECOND].node_type, "RNIC");
	address.ifindex = route.ifindex = nd->ifindex;
	s.node.addresses = &address;
	s.node.routes = &route;
	s.node.n_addresses = s.node.n_routes = 1;
	assert_pass(&s, 0, "");

	nd->pci[0] = '\0';
	s.node.n_addresses = s.node.n_routes = 0;
	assert_pass(&s, 20, "");
	COPY(nd->pci, SECOND);
	s.node.destinations = &server;
	s.node.n_destinations = 1;
	assert_pass(&s, 30, "wait  address-diverts");
	server.lookup.prefix_len = 32; /* a route to it alone */
	assert_pass(&s, 40, "add-address >10.30.2.2/24\nset-route 0.0.0.0/0 table 100");
	memory_done(&s.memory);
}

/* The VRF is gone for good: a person who asks for a pass, or for other settings, means the port as
 * it is now, and the next pod gives back that. */
static void a_port_that_left_its_vrf_for_good_is_recorded_again(_unused_ void **state)
{
	static const struct {
		const char *hash, *left; /* of the configuration by then; the hint */
		bool is_by_hand, has_address;
	} rows[] = {
		{ "one", "given-back: ens2: it left VRF vrf0; ", false, true },
		{ "two", "", false, true },
		{ "one", "", true, true },
		{ "one", "", false, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct address address;
		struct netdev *nd;
		char text[2048];
		struct scene s;

		nd = set_vrf_scene(&s, &address);
		COPY(s.config.hash, "one");
		s.section.match = (char *)"pci:" SECOND;
		s.section.mode = VF_MODE_EXCLUSIVE;
		COPY(s.ibdevs[OF_SECOND].node_type, "RNIC");
		address.ifindex = nd->ifindex;
		nd->master = 9;
		s.node.addresses = &address;
		s.node.n_addresses = rows[i].has_address;
		s.node.n_netdevs = N + 1;
		assert_pass(&s, 0, "");
		COPY(s.memory.last_hash, "one");
		nd->pci[0] = '\0';
		nd->master = 0;
		s.node.n_addresses = 0;
		s.node.n_netdevs = N;
		assert_pass(&s, 20, "");
		COPY(nd->pci, SECOND);
		COPY(s.config.hash, rows[i].hash);
		s.node.is_by_hand = rows[i].is_by_hand;
		pass(&s, 30, text, sizeof(text));
		assert_true(*rows[i].left ? is_prefix(text, rows[i].left) : !*text);
		COPY(s.memory.last_hash, rows[i].hash);
		s.node.is_by_hand = false;
		assert_pass(&s, 31, *rows[i].left ? text : "");

		address.local[3] = address.peer[3] = 9; /* set by the administrator */
		s.node.n_addresses = 1;
		pass(&s, 40, text, sizeof(text));
		pass(&s, 60, text, sizeof(text));
		nd->pci[0] = '\0';
		s.node.n_addresses = 0;
		assert_pass(&s, 70, "");
		COPY(nd->pci, SECOND);
		pass(&s, 80, text, sizeof(text));
		assert_true(*rows[i].left ? is_prefix(text, rows[i].left)
					  : streq(text, "add-address >10.30.2.9/24"));
		memory_done(&s.memory);
	}
}

static void a_route_of_a_pf_is_put_back_as_it_was(_unused_ void **state)
{
	static const struct route rows[] = {
		{ .family = AF_INET, .dst = { 10, 99 }, .prefix_len = 16, .metric = 7 },
		{ .family = AF_INET, .gateway = { 10, 30, 2, 1 }, .src = { 10, 30, 2, 2 } },
		{ .family = AF_INET, .via = "fe80::1" },
		{ .family = AF_INET, .via = "fe80::1", .src = { 10, 30, 2, 2 } },
		{ .family = AF_INET6, .dst = { 0xfd }, .prefix_len = 8, .src = { 0xfd, 1 } },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct route t = rows[i], back = {};
		struct given g;
		struct scene s;

		set_scene(&s);
		t.ifindex = s.netdevs[OF_PF].ifindex;
		t.type = RTN_UNICAST;
		t.table = 100;
		t.protocol = RTPROT_STATIC;
		t.scope = t.family == AF_INET && t.metric ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
		s.node.routes = &t;
		s.node.n_routes = 1;
		given_look(&s.node, &s.memory, &s.pcis[OF_PF], &s.netdevs[OF_PF], &g);
		assert_true(given_parse_route(g.routes, t.ifindex, &back));
		assert_memory_equal(&back, &t, sizeof(t));
	}
}

static void an_address_of_a_pf_is_put_back_as_it_was(_unused_ void **state)
{
	static const struct address rows[] = {
		{ .family = AF_INET, .local = { 10, 30, 2, 2 }, .prefix_len = 24, .metric = 7 },
		{ .family = AF_INET, .local = { 169, 254, 3, 4 }, .scope = RT_SCOPE_LINK },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct address a = rows[i], back = {};
		struct given g;
		struct scene s;

		set_scene(&s);
		a.ifindex = s.netdevs[OF_PF].ifindex;
		memcpy(a.peer, a.local, sizeof(a.peer));
		a.flags = IFA_F_PERMANENT;
		s.node.addresses = &a;
		s.node.n_addresses = 1;
		given_look(&s.node, &s.memory, &s.pcis[OF_PF], &s.netdevs[OF_PF], &g);
		assert_true(given_parse_address(g.addresses, a.ifindex, &back));
		back.flags = a.flags;
		assert_memory_equal(&back, &a, sizeof(a));
	}
}

/* Unless another program has changed it since. */
static void the_metric_that_is_put_back_is_that_before_ours(_unused_ void **state)
{
	struct address a = { .family = AF_INET,
			     .local = { 10, 30, 2, 2 },
			     .prefix_len = 24,
			     .flags = IFA_F_PERMANENT };
	struct ledger_entry ours = {
		.verb = "set-metric", .subject = "10.30.2.2/24", .from = "7", .to = "201"
	};

	for (uint32_t metric = 200; metric <= 201; metric++) {
		struct given g;
		struct scene s;

		set_scene(&s);
		ours.ifindex = a.ifindex = s.netdevs[OF_PF].ifindex;
		a.metric = metric;
		memcpy(a.peer, a.local, sizeof(a.peer));
		s.node.addresses = &a;
		s.memory.ledger = &ours;
		s.node.n_addresses = s.memory.n_ledger = 1;
		given_look(&s.node, &s.memory, &s.pcis[OF_PF], &s.netdevs[OF_PF], &g);
		assert_string_equal(g.addresses,
				    metric == 201 ? "10.30.2.2/24,7" : "10.30.2.2/24,200");
	}
}

/* In the pod it has the name of another NIC of the host, which only its RDMA device shows here. */
static void a_device_in_a_pod_is_no_netdev_of_the_host_with_its_name(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	assert_pass(&s, 0, "");
	go_out(&s);
	change(&s);
	assert_pass(&s, 20, "");
	COPY(s.ibdevs[OF_VF].netdev, "ens2");
	COPY(s.gids[OF_VF].netdev, "ens2");
	for (unsigned sec = 30; sec < 60; sec += 10)
		assert_pass(&s, sec, "");
	memory_done(&s.memory);
}

static void by_nobody(_unused_ struct scene *s)
{
}
static void by_a_cni_plugin(struct scene *s)
{
	s->pcis[OF_VF].cni_pid = 4711;
}
static void by_a_process(struct scene *s)
{
	s->ibdevs[OF_VF].n_contexts = 1;
}
static void by_a_person(struct scene *s)
{
	s->tries.is_asked = true;
}
static void two_names_that_are_missing_are_told_once(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	assert_pass(&s, 0, "");
	go_out(&s);
	assert_pass(&s, 20, "");
	come_back(&s, "ens1v0");
	vf_netdev(&s)->is_up = true;
	COPY(vf_netdev(&s)->altnames, "podnic one");
	assert_pass(&s, 30, "given-back: ens1v0: remove-altname; add-altname");
	memory_done(&s.memory);
}

static void what_a_pf_in_a_pod_does_not_tell_waits_for_it(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	assert_pass(&s, 0, "");
	go_out(&s);
	assert_pass(&s, 20, "");
	s.info.vlan = 100;
	s.node.n_vf_infos = 0;
	come_back(&s, "ens1v0");
	vf_netdev(&s)->is_up = true;
	assert_pass(&s, 30, "");
	assert_pass(&s, 90, "");
	s.node.n_vf_infos = 1;
	assert_pass(&s, 100, "given-back: ens1v0: set-vf-vlan");
	assert_pass(&s, 102, "set-vf-vlan 100>0");
	memory_done(&s.memory);
}

/* A pod sets a VLAN, and the PF is back with the VF. */
static void assert_vlan_is_put_back(struct scene *s)
{
	go_out(s);
	assert_pass(s, 60, "");
	s->info.vlan = 100;
	s->node.n_vf_infos = 1;
	come_back(s, "ens1v0");
	assert_pass(s, 90, "given-back: ens1v0: set-vf-vlan");
	assert_pass(s, 92, "set-vf-vlan 100>0");
}

/* An administrator's "apply" while the PF is in a pod records what shows, and forgets nothing. */
static void what_a_pf_in_a_pod_does_not_tell_is_as_it_was(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	assert_pass(&s, 0, "");
	s.node.n_vf_infos = 0;
	s.node.is_by_hand = true;
	assert_pass(&s, 10, "");
	s.node.is_by_hand = false;
	assert_pass(&s, 30, "");
	assert_pass(&s, 50, "");
	assert_vlan_is_put_back(&s);
	memory_done(&s.memory);
}

static void what_its_pf_has_outlives_a_binding(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	assert_pass(&s, 0, "");
	s.node.n_vf_infos = 0; /* the PF is in a pod */
	s.pcis[OF_VF].instance = 8;
	assert_pass(&s, 10, "");
	assert_vlan_is_put_back(&s);
	memory_done(&s.memory);
}

/* The MAC that this service would give the VF. */
static void set_derived_mac(struct scene *s, char mac[static 24])
{
	_cleanup_(plan_done) struct plan p = {};
	char seed[MAC_LEN];

	s->section.identity = IDENTITY_DERIVED;
	identity_seed(&s->node, &s->pcis[OF_PF], seed);
	identity_mac(&s->node, &p, seed, &s->pcis[OF_VF], mac, 24);
	COPY(s->info.mac, mac);
	COPY(vf_netdev(s)->mac, mac);
	COPY(vf_netdev(s)->perm_mac, mac);
}

/* Its netdev is another one than the pod had, and nothing is known of that. */
static void a_vf_that_was_bound_again_gets_back_what_its_pf_had(_unused_ void **state)
{
	for (int i = 0; i < 4; i++) {
		const bool is_pf_away = i & 1;
		char expected[256], mac[24] = "02:00:00:00:00:01";
		struct scene s;

		set_scene(&s);
		if (i & 2)
			set_derived_mac(&s, mac);
		assert_pass(&s, 0, "");
		go_out(&s);
		s.node.n_vf_infos = is_pf_away ? 0 : 1;
		assert_pass(&s, 20, "");
		change(&s);
		COPY(vf_netdev(&s)->perm_mac, vf_netdev(&s)->mac);
		come_back(&s, "net1");
		vf_netdev(&s)->is_up = true;
		s.pcis[OF_VF].instance = 8;
		if (is_pf_away)
			assert_pass(&s, 30, "");
		s.node.n_vf_infos = 1;
		assert_pass(&s, 40,
			    "given-back: net1: set-vf-vlan; set-vf-mac; set-mac; set-vf-trust");
		snprintf(expected, sizeof(expected),
			 "set-vf-vlan 100>0\nset-vf-mac 0a:00:00:00:00:77>%s\n"
			 "set-mac 0a:00:00:00:00:77>%s\nset-vf-trust 1>0",
			 mac, mac);
		assert_pass(&s, 42, expected);
		s.info.vlan = s.info.trust = 0;
		COPY(s.info.mac, mac);
		COPY(vf_netdev(&s)->mac, mac);
		assert_pass(&s, 43, "");
		assert_pass(&s, 60, "");
		memory_done(&s.memory);
	}
}

static void with_settings(struct scene *s)
{
	s->section.mtu = s->netdevs[OF_PF].mtu = 1400;
	s->section.trust = TRUST_ON;
}
static void told_nothing(struct scene *s)
{
	s->node.n_vf_infos = 0;
}
static void bound_again(struct scene *s)
{
	s->pcis[OF_VF].instance = 8;
}
static void in_a_bond(struct scene *s)
{
	vf_netdev(s)->master = s->netdevs[OF_SECOND].ifindex;
}
static void without_a_setting(struct scene *s)
{
	s->tried[0] = (struct action){ .verb = VERB_SET_VF_TRUST,
				       .is_done = true,
				       .result = -EOPNOTSUPP,
				       .target = VF,
				       .subject = "",
				       .detail = "",
				       .error = "" };
	s->tries.n_actions = 1;
}
static void with_a_name_that_failed(struct scene *s)
{
	s->tried[0] = (struct action){ .verb = VERB_SET_NAME,
				       .is_done = true,
				       .result = -EEXIST,
				       .target = VF,
				       .subject = "",
				       .detail = "",
				       .error = "" };
	COPY(s->tried[0].text.to, "ens1v0");
	s->tries.n_actions = 1;
	vf_netdev(s)->mtu = 1500;
	COPY(vf_netdev(s)->mac, "02:00:00:00:00:01");
	COPY(vf_netdev(s)->altnames, "rail1 ens1f0v0");
	s->node.n_vf_infos = 0;
}

static void what_is_put_back_depends_on_who_has_it(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
		const char *first, *second;
	} rows[] = {
		{ "free", by_nobody, HINT, ALL },
		{ "CNI plugin", by_a_cni_plugin, HINT "; process 4711 of a CNI plugin holds it",
		  HINT "; process 4711 of a CNI plugin holds it" },
		{ "in use", by_a_process, "set-link-up \n" HINT "; its RDMA device is open",
		  "set-link-up \n" HINT "; its RDMA device is open" },
		{ "apply", by_a_person, ALL, ALL },
		{ "untold", told_nothing,
		  "given-back: net1: set-mac; set-mtu; remove-altname; set-name; add-altname",
		  "set-mac 0a:00:00:00:00:77>02:00:00:00:00:01\nset-mtu 1400>1500\n"
		  "remove-altname >podnic\nset-name net1>ens1v0\nadd-altname >rail1" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		char text[2][2048];
		struct scene s;

		set_scene(&s);
		assert_pass(&s, 0, "");
		go_out(&s);
		assert_pass(&s, 20, "");
		change(&s);
		come_back(&s, "net1");
		rows[i].set(&s);
		pass(&s, 30, text[0], sizeof(text[0]));
		pass(&s, 32, text[1], sizeof(text[1]));
		assert_string_equal(text[0], rows[i].first);
		assert_string_equal(text[1], rows[i].second);
		memory_done(&s.memory);
	}
}

static void a_lock_that_is_kept_is_looked_at_less_and_less(_unused_ void **state)
{
	static const struct {
		unsigned sec, again_sec;
	} rows[] = { { 30, 2 }, { 31, 2 }, { 40, 10 }, { 60, 30 }, { 630, 60 } };
	struct scene s;

	set_scene(&s);
	assert_pass(&s, 0, "");
	go_out(&s);
	assert_pass(&s, 20, "");
	change(&s);
	come_back(&s, "net1");
	by_a_cni_plugin(&s);
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		assert_pass(&s, rows[i].sec, HINT "; process 4711 of a CNI plugin holds it");
		assert_int_equal(s.again_usec, s.node.now_usec + rows[i].again_sec * SEC);
	}
	memory_done(&s.memory);
}

static void what_cannot_be_put_back_is_left(_unused_ void **state)
{
	static const struct {
		void (*set)(struct scene *s);
		const char *has, *has_not;
	} rows[] = {
		{ with_settings, "set-vf-vlan", "set-mtu" },
		{ with_settings, "set-vf-trust", "set-vf-trust 1>0" },
		{ bound_again, "", "set-name" },
		{ in_a_bond, "", "set-name" },
		{ without_a_setting, "set-name", "set-vf-trust" },
		{ with_a_name_that_failed, "set-link-up", "set-mtu" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		char text[2048];
		struct scene s;

		set_scene(&s);
		assert_pass(&s, 0, "");
		go_out(&s);
		assert_pass(&s, 20, "");
		change(&s);
		come_back(&s, "net1");
		rows[i].set(&s);
		if (rows[i].set == with_settings)
			s.info.trust = 0;
		pass(&s, 30, text, sizeof(text));
		pass(&s, 32, text, sizeof(text));
		assert_true(strstr(text, rows[i].has));
		assert_false(strstr(text, rows[i].has_not));
		memory_done(&s.memory);
	}
}

static void a_change_counts_once_it_stayed(_unused_ void **state)
{
	static const struct {
		unsigned changed, seen_again, out;
		enum {
			EVENT,
			FIRST,
			APPLY
		} pass; /* at "changed" */
		bool is_taken;
	} rows[] = {
		{ 50, 0, 55, EVENT, false }, /* by the CNI plugin that took it away */
		{ 50, 0, 60, EVENT, true },   { 50, 61, 62, EVENT, true },
		{ 50, 55, 59, EVENT, false }, { 50, 0, 51, APPLY, true },
		{ 50, 0, 51, FIRST, false }, /* the service was started again in the middle */
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		char text[2048];
		struct scene s;

		set_scene(&s);
		assert_pass(&s, 0, "");
		COPY(vf_netdev(&s)->name, "mine");
		COPY(s.ibdevs[OF_VF].netdev, "mine");
		COPY(s.gids[OF_VF].netdev, "mine");
		s.tries.is_asked = rows[i].pass != EVENT;
		s.tries.is_first = rows[i].pass == FIRST;
		s.node.is_by_hand = rows[i].pass == APPLY;
		assert_pass(&s, rows[i].changed, "");
		s.tries.is_asked = s.tries.is_first = s.node.is_by_hand = false;
		if (rows[i].seen_again)
			assert_pass(&s, rows[i].seen_again, "");
		go_out(&s);
		assert_pass(&s, rows[i].out, "");
		come_back(&s, "net1");
		pass(&s, 80, text, sizeof(text));
		pass(&s, 82, text, sizeof(text));
		assert_string_equal(text, rows[i].is_taken ? "set-name net1>mine"
							   : "set-name net1>ens1v0");
		memory_done(&s.memory);
	}
}

static void a_name_that_udev_has_not_given_yet_is_not_taken(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	come_back(&s, "eth0");
	vf_netdev(&s)->is_unnamed = vf_netdev(&s)->is_up = true;
	assert_pass(&s, 0, "");
	come_back(&s, "ens1v0");
	vf_netdev(&s)->is_up = true;
	vf_netdev(&s)->is_unnamed = false;
	assert_pass(&s, 1, "");
	go_out(&s);
	assert_pass(&s, 5, "");
	come_back(&s, "net1");
	vf_netdev(&s)->is_up = true;
	assert_pass(&s, 30, "given-back: net1: set-name");
	assert_pass(&s, 32, "set-name net1>ens1v0");
	memory_done(&s.memory);
}

static void a_vf_without_netdev_is_rebound_when_nobody_uses_it(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	assert_pass(&s, 0, "");
	go_out(&s);
	s.pcis[OF_VF].is_without_netdev = true;
	assert_pass(&s, 20, "wait  vf-orphan");
	assert_pass(&s, 22, "rebind-driver >mlx5_core");
	s.ibdevs[OF_VF].n_contexts = 1;
	assert_pass(&s, 24, "wait  vf-orphan");
	s.ibdevs[OF_VF].n_contexts = 0;
	s.pcis[OF_VF].is_without_netdev = false;
	assert_pass(&s, 26, "");
	memory_done(&s.memory);
}

static void set_infiniband(struct scene *s)
{
	set_scene(s);
	s->pcis[OF_PF].class = s->pcis[OF_VF].class = 0x020700;
	COPY(s->ports[OF_PF].link_layer, "InfiniBand");
	COPY(s->ports[OF_VF].link_layer, "InfiniBand");
}

/* The kernel tells a VLAN and a trust of 0 of each, and nobody can set others. */
static void an_infiniband_vf_is_back_without_its_pf(_unused_ void **state)
{
	struct scene s;

	set_infiniband(&s);
	assert_pass(&s, 0, "");
	go_out(&s);
	assert_pass(&s, 20, "");
	s.node.n_vf_infos = 0; /* the PF is in a pod */
	come_back(&s, "ens1v0");
	vf_netdev(&s)->is_up = true;
	assert_pass(&s, 30, "");
	come_back(&s, "mine"); /* nobody had it out: it is left alone */
	vf_netdev(&s)->is_up = true;
	assert_pass(&s, 50, "");
	assert_pass(&s, 70, "");
	memory_done(&s.memory);
}

/* Another program made the VFs anew: these have never been usable. Others of before were in a pod.
 */
static void a_vf_that_others_made_anew_gets_its_identity(_unused_ void **state)
{
	for (int i = 0; i < 4; i++) {
		const bool is_ib = i & 1, was_out = i & 2;
		char text[2048];
		struct scene s;

		is_ib ? set_infiniband(&s) : set_scene(&s);
		s.section.identity = IDENTITY_DERIVED;
		s.info.vlan = is_ib ? 0 : 5;
		assert_pass(&s, 0, "");
		if (was_out)
			go_out(&s);
		assert_pass(&s, 20, "");
		come_back(&s, "ens1v0");
		s.pcis[OF_VF].instance = 8;
		vf_netdev(&s)->is_random_mac = true;
		COPY(s.info.mac, "00:00:00:00:00:00");
		s.info.vlan = 0;
		if (is_ib) {
			s.info.link_state = IFLA_VF_LINK_STATE_DISABLE;
			COPY(s.info.node_guid, "0000:0000:0000:0000");
			COPY(s.info.port_guid, "0000:0000:0000:0000");
			COPY(s.ibdevs[OF_VF].node_guid, "0000:0000:0000:0000");
		}
		pass(&s, 30, text, sizeof(text));
		assert_non_null(strstr(text, is_ib ? "set-vf-guid" : "set-vf-mac"));
		assert_true(!is_ib || strstr(text, "set-vf-link >auto"));
		assert_non_null(strstr(text, "rebind-driver >mlx5_core"));
		assert_null(strstr(text, "given-back"));
		memory_done(&s.memory);
	}
}

/* "modprobe -r ib_ipoib": its RDMA device works on. */
static void an_infiniband_vf_without_ipoib_is_not_rebound(_unused_ void **state)
{
	struct scene s;

	set_infiniband(&s);
	assert_pass(&s, 0, "");
	go_out(&s);
	s.pcis[OF_VF].is_without_netdev = true;
	assert_pass(&s, 20, "");
	assert_pass(&s, 22, "");
	memory_done(&s.memory);
}

static void come_back_as(struct scene *s, size_t i, const char *name)
{
	COPY(s->netdevs[i].pci, s->pcis[i].address);
	COPY(s->netdevs[i].name, name);
	COPY(s->ibdevs[i].netdev, name);
	COPY(s->gids[i].netdev, name);
}

/* A pod with both has given each the other's name. */
static void two_that_have_each_others_name_get_their_own(_unused_ void **state)
{
	struct device_config sections[2];
	struct scene s;

	set_scene(&s);
	sections[0] = sections[1] = s.section;
	sections[1].match = (char *)"pci:" SECOND;
	sections[1].mode = VF_MODE_KEEP;
	s.config.devices = sections;
	s.config.n_devices = 2;
	assert_pass(&s, 0, "");
	s.netdevs[OF_SECOND].pci[0] = '\0';
	COPY(s.netdevs[OF_SECOND].name, "not-here-2");
	COPY(s.ibdevs[OF_SECOND].netdev, "");
	go_out(&s);
	assert_pass(&s, 20, "");
	come_back_as(&s, OF_VF, "ens2");
	come_back_as(&s, OF_SECOND, "ens1v0");
	assert_pass(&s, 30, "given-back: ens2: set-name\ngiven-back: ens1v0: set-name");
	assert_pass(&s, 32, "set-name ens2>back3\nset-name ens1v0>back4");
	come_back_as(&s, OF_VF, "back3");
	come_back_as(&s, OF_SECOND, "back4");
	assert_pass(&s, 33, "given-back: back3: set-name\ngiven-back: back4: set-name");
	assert_pass(&s, 35, "set-name back3>ens1v0\nset-name back4>ens2");
	come_back_as(&s, OF_VF, "ens1v0");
	come_back_as(&s, OF_SECOND, "ens2");
	assert_pass(&s, 36, "");
	memory_done(&s.memory);
}

/* As a PF that a pod had beside its VF: it was not handed out, so nobody renames it. */
static void a_name_that_another_device_keeps_is_waited_for(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	assert_pass(&s, 0, "");
	go_out(&s);
	assert_pass(&s, 20, "");
	come_back(&s, "net1");
	vf_netdev(&s)->is_up = true;
	COPY(s.netdevs[OF_PF].name, "ens1v0");
	COPY(s.ibdevs[OF_PF].netdev, "ens1v0");
	assert_pass(&s, 30, "given-back: net1: set-name");
	assert_pass(&s, 32, "given-back: net1: set-name; ens1v0 is the name of " PF);
	COPY(s.netdevs[OF_PF].name, "ens1");
	COPY(s.ibdevs[OF_PF].netdev, "ens1");
	assert_pass(&s, 34, "set-name net1>ens1v0");
	memory_done(&s.memory);
}

/* In a pod it has no name here: the last one counts, unless another device has it now. */
static void a_device_in_a_pod_is_matched_by_its_last_name(_unused_ void **state)
{
	static const struct {
		const char *match, *other; /* the name that the other NIC has by then */
		bool is_match;
	} rows[] = {
		{ "netdev:ens2", "ens1", true },  { "netdev:rail*", "ens1", true },
		{ "netdev:ens3", "ens1", false }, { "netdev:ens2", "ens2", false },
		{ "ibdev:mlx5_2", "ens1", true }, { "ibdev:mlx5_1", "ens1", false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s);
		s.section.match = (char *)"pci:" SECOND;
		s.section.mode = VF_MODE_EXCLUSIVE;
		COPY(s.netdevs[OF_SECOND].altnames, "rail2");
		assert_pass(&s, 0, "");
		s.node.n_netdevs = s.node.n_ibdevs = N - 1;
		COPY(s.netdevs[OF_PF].name, rows[i].other);
		assert_int_equal(
			plan_is_match(rows[i].match, &s.node, &s.memory, &s.pcis[OF_SECOND]),
			rows[i].is_match);
		memory_done(&s.memory);
	}
}

/* Match= is changed while a pod has it, and it comes back with the pod's name. */
static void a_section_keeps_the_card_it_matched_in_a_pod(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	s.section.match = (char *)"pci:" SECOND;
	s.section.mode = VF_MODE_EXCLUSIVE;
	s.section.expect = 1;
	assert_pass(&s, 0, "");
	s.netdevs[OF_SECOND].pci[0] = '\0';
	COPY(s.netdevs[OF_SECOND].name, "not-here");
	COPY(s.ibdevs[OF_SECOND].netdev, "");
	assert_pass(&s, 20, "");
	s.section.match = (char *)"netdev:ens2";
	assert_pass(&s, 25, "");
	come_back_as(&s, OF_SECOND, "net1");
	assert_pass(&s, 30, "given-back: net1: set-name");
	assert_pass(&s, 32, "set-name net1>ens2");
	memory_done(&s.memory);
}

static void a_section_keeps_the_card_it_matched_by_name(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;

	set_scene(&s);
	assert_pass(&s, 0, "");
	COPY(s.netdevs[OF_PF].name, "other0");
	COPY(s.ibdevs[OF_PF].netdev, "other0");
	COPY(s.netdevs[OF_SECOND].name, "ens1"); /* another card has its name */
	assert_pass(&s, 10, "");
	assert_int_equal(plan_make(&s.config, &s.node, &s.memory, &s.tries, true, &p), 0);
	assert_int_equal(p.n_devices, 2);
	assert_string_equal(p.devices[0].pci->address, PF);
	assert_string_equal(p.devices[1].pci->address, VF);
	memory_done(&s.memory);
}

static void a_name_is_kept_by_the_section_that_matched_it(_unused_ void **state)
{
	static const struct {
		const char *match;  /* of the first section; the second one wants ens1 */
		const char *second; /* its NIC */
	} rows[] = {
		{ "netdev:ens1", NULL },
		{ "netdev:ens*", NULL },
		{ "pci:" PF, SECOND },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		const struct device *last;
		struct device_config sections[2];
		struct scene s;

		set_scene(&s);
		assert_pass(&s, 0, "");
		COPY(s.netdevs[OF_PF].name, "other0");
		COPY(s.ibdevs[OF_PF].netdev, "other0");
		COPY(s.netdevs[OF_SECOND].name, "ens1");
		COPY(s.ibdevs[OF_SECOND].netdev, "ens1");
		sections[0] = sections[1] = s.section;
		sections[0].match = (char *)rows[i].match;
		sections[1].mode = VF_MODE_KEEP;
		s.config.devices = sections;
		s.config.n_devices = 2;
		plan_forget_names(&s.config, &s.node, &s.memory);
		assert_int_equal(plan_make(&s.config, &s.node, &s.memory, &s.tries, true, &p), 0);
		last = &p.devices[p.n_devices - 1];
		assert_string_equal(last->pci->address, rows[i].second ? rows[i].second : VF);
		memory_done(&s.memory);
	}
}

/* The PF is to be ens0, the second one ens1: the kernel gave these names the other way round. */
static void a_name_that_udev_has_yet_to_give_matches_no_section(_unused_ void **state)
{
	static const char *const seconds[] = { "netdev:ens0", "pci:*" };

	for (size_t i = 0; i < ELEMENTSOF(seconds); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct device_config sections[2];
		char is[2048];
		struct scene s;

		set_scene(&s);
		sections[0] = sections[1] = s.section;
		sections[1].match = (char *)seconds[i];
		sections[1].mode = VF_MODE_KEEP;
		s.config.devices = sections;
		s.config.n_devices = 2;
		COPY(s.netdevs[OF_SECOND].name, "ens0");
		s.netdevs[OF_PF].is_unnamed = s.netdevs[OF_SECOND].is_unnamed = true;
		pass(&s, 0, is, sizeof(is));
		assert_int_equal(s.memory.n_devices, 0);

		COPY(s.netdevs[OF_PF].name, "ens0");
		COPY(s.netdevs[OF_SECOND].name, "ens1");
		s.netdevs[OF_PF].is_unnamed = s.netdevs[OF_SECOND].is_unnamed = false;
		pass(&s, 10, is, sizeof(is));
		assert_int_equal(plan_make(&s.config, &s.node, &s.memory, &s.tries, true, &p), 0);
		FOREACH(d, p.devices, p.n_devices)
			if (!d->is_vf)
				assert_ptr_equal(d->config, &sections[streq(d->pci->address, PF)]);
		memory_done(&s.memory);
	}
}

static void a_device_is_usable_since_its_driver_was_bound(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	assert_pass(&s, 0, "");
	assert_int_equal(memory_device(&s.memory, VF)->usable_usec, 0); /* nobody knows */
	COPY(s.memory.last_hash, "hash");
	COPY(s.config.hash, "hash");
	s.pcis[OF_VF].instance = 8;
	COPY(s.ports[OF_VF].state, "DOWN");
	pass(&s, 10, (char[2048]){ "" }, 2048);
	COPY(s.ports[OF_VF].state, "ACTIVE");
	pass(&s, 20, (char[2048]){ "" }, 2048);
	assert_int_equal(memory_device(&s.memory, VF)->usable_usec, START + 20 * SEC);
	pass(&s, 30, (char[2048]){ "" }, 2048);
	assert_int_equal(memory_device(&s.memory, VF)->usable_usec, START + 20 * SEC);
	memory_done(&s.memory);
}

static void two_functions_with_one_mac_are_reported(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	COPY(s.netdevs[OF_SECOND].mac, "02:00:00:00:00:01");
	assert_pass(&s, 0, "mac-twice: 02:00:00:00:00:01: ens1v0 (" VF ") and ens2 (" SECOND ")");
	go_out(&s); /* in a pod: its PF tells it */
	assert_pass(&s, 20,
		    "mac-twice: 02:00:00:00:00:01: ens2 (" SECOND ") and its virtual function (" VF
		    ")");
	s.netdevs[OF_SECOND].master = 99; /* a port of a bond */
	assert_pass(&s, 30, "");
	memory_done(&s.memory);
}

static void two_functions_with_one_guid_are_reported(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	COPY(s.ibdevs[OF_VF].node_guid, "5254:00ff:fe11:0000");
	COPY(s.ibdevs[OF_SECOND].node_guid, "5254:00ff:fe11:0000");
	assert_pass(&s, 0,
		    "guid-twice: 5254:00ff:fe11:0000: mlx5_1 (" VF ") and mlx5_2 (" SECOND ")");
	s.netdevs[OF_SECOND].master = 99; /* a port of a bond */
	assert_pass(&s, 10, "");
	s.netdevs[OF_SECOND].master = 0;
	COPY(s.ibdevs[OF_SECOND].pci, VF); /* a second RDMA device of one function */
	assert_pass(&s, 20, "");
	memory_done(&s.memory);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_its_pf_has_outlives_a_binding),
		cmocka_unit_test(a_vf_that_was_bound_again_gets_back_what_its_pf_had),
		cmocka_unit_test(what_a_pod_left_changed_is_put_back_once_it_is_quiet),
		cmocka_unit_test(a_pf_gets_back_its_addresses_and_routes_by_one_plan),
		cmocka_unit_test(a_pf_that_no_section_matches_any_more_gets_them_back_as_well),
		cmocka_unit_test(a_port_of_a_vrf_gets_nothing_back_outside_of_it),
		cmocka_unit_test(an_address_that_would_divert_packets_stays_away),
		cmocka_unit_test(a_port_that_left_its_vrf_for_good_is_recorded_again),
		cmocka_unit_test(a_route_of_a_pf_is_put_back_as_it_was),
		cmocka_unit_test(an_address_of_a_pf_is_put_back_as_it_was),
		cmocka_unit_test(the_metric_that_is_put_back_is_that_before_ours),
		cmocka_unit_test(two_names_that_are_missing_are_told_once),
		cmocka_unit_test(what_a_pf_in_a_pod_does_not_tell_waits_for_it),
		cmocka_unit_test(what_a_pf_in_a_pod_does_not_tell_is_as_it_was),
		cmocka_unit_test(a_device_in_a_pod_is_no_netdev_of_the_host_with_its_name),
		cmocka_unit_test(what_is_put_back_depends_on_who_has_it),
		cmocka_unit_test(a_lock_that_is_kept_is_looked_at_less_and_less),
		cmocka_unit_test(what_cannot_be_put_back_is_left),
		cmocka_unit_test(a_change_counts_once_it_stayed),
		cmocka_unit_test(a_name_that_udev_has_not_given_yet_is_not_taken),
		cmocka_unit_test(a_vf_without_netdev_is_rebound_when_nobody_uses_it),
		cmocka_unit_test(an_infiniband_vf_is_back_without_its_pf),
		cmocka_unit_test(a_vf_that_others_made_anew_gets_its_identity),
		cmocka_unit_test(an_infiniband_vf_without_ipoib_is_not_rebound),
		cmocka_unit_test(two_that_have_each_others_name_get_their_own),
		cmocka_unit_test(a_name_that_another_device_keeps_is_waited_for),
		cmocka_unit_test(a_device_in_a_pod_is_matched_by_its_last_name),
		cmocka_unit_test(a_section_keeps_the_card_it_matched_in_a_pod),
		cmocka_unit_test(a_section_keeps_the_card_it_matched_by_name),
		cmocka_unit_test(a_name_is_kept_by_the_section_that_matched_it),
		cmocka_unit_test(a_name_that_udev_has_yet_to_give_matches_no_section),
		cmocka_unit_test(a_device_is_usable_since_its_driver_was_bound),
		cmocka_unit_test(two_functions_with_one_mac_are_reported),
		cmocka_unit_test(two_functions_with_one_guid_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
