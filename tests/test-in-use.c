/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#include "../src/model/in-use.h"
#include "../src/model/route-facts.h"
#include "scene.h"

#define NODE "0000:02:00.0"
#define PF   "0000:41:00.0"
#define VF   "0000:41:00.1"

enum {
	ETH0 = 1,
	ETH1,
	V0,
	EXTRA
};

/* A PF and a VF of it, each with netdev and RDMA device, beside the NIC of the node. */
struct in_use_scene {
	struct pci pcis[3];
	struct netdev netdevs[8], aways[2];
	struct ibdev ibdevs[3];
	struct port ports[2];
	struct gid gids[2];
	struct address addresses[48];
	struct route routes[48];
	struct rule rules[2];
	struct sock socks[8];
	struct tunnel_end ends[1];
	struct destination destinations[1];
	struct netns netnses[2];
	struct ledger_entry ledger[2];
	struct device_memory devices[1];
	struct user users[1];
	struct node n;
	struct memory memory;
};

static void make_scene(struct in_use_scene *s)
{
	*s = (struct in_use_scene){
		.pcis = { { NODE, .class = 0x020000, .driver = "igb" },
			  { PF, .class = 0x020000, .driver = "mlx5_core" },
			  { VF, .class = 0x020000, .driver = "mlx5_core", .physfn = PF } },
		.netdevs = { { ETH0, "eth0", NODE, .is_up = true },
			     { ETH1, "eth1", PF, .is_up = true },
			     { V0, "v0", VF, .is_up = true } },
		.ibdevs = { { "mlx5_0", 0, PF, .netdev = "eth1" },
			    { "mlx5_1", 1, VF, .netdev = "v0" } },
	};
	s->n = (struct node){ .netns_mode = NETNS_MODE_SHARED,
			      .has_socks = true,
			      .pcis = s->pcis,
			      .n_pcis = 3,
			      .netdevs = s->netdevs,
			      .n_netdevs = 3,
			      .aways = s->aways,
			      .ibdevs = s->ibdevs,
			      .n_ibdevs = 2,
			      .addresses = s->addresses,
			      .routes = s->routes,
			      .rules = s->rules,
			      .socks = s->socks,
			      .tunnel_ends = s->ends,
			      .destinations = s->destinations,
			      .netnses = s->netnses,
			      .users = s->users };
	s->memory = (struct memory){ .ledger = s->ledger, .devices = s->devices };
}

/* In the order in which they are in the array: by ifindex. */
static struct address *add_address(struct in_use_scene *s, uint32_t ifindex, const char *local,
				   uint32_t prefix_len)
{
	struct address *a = &s->addresses[s->n.n_addresses++];

	*a = (struct address){ .ifindex = ifindex,
			       .prefix_len = prefix_len,
			       .flags = IFA_F_PERMANENT };
	parse(local, &a->family, a->local);
	memcpy(a->peer, a->local, sizeof(a->peer));
	return a;
}

static struct route *add_route(struct in_use_scene *s, uint32_t ifindex, const char *dst,
			       uint32_t prefix_len, const char *gateway)
{
	struct route *t = &s->routes[s->n.n_routes++];
	int family;

	*t = (struct route){ .ifindex = ifindex,
			     .prefix_len = prefix_len,
			     .table = RT_TABLE_MAIN,
			     .type = RTN_UNICAST,
			     .protocol = RTPROT_BOOT };
	parse(dst, &t->family, t->dst);
	if (gateway)
		parse(gateway, &family, t->gateway);
	return t;
}

static struct netdev *add_netdev(struct in_use_scene *s, const char *name, const char *kind,
				 uint32_t link)
{
	struct netdev *nd = &s->netdevs[s->n.n_netdevs++];

	*nd = (struct netdev){ .ifindex = (uint32_t)s->n.n_netdevs, .link = link, .is_up = true };
	COPY(nd->name, name);
	COPY(nd->kind, kind);
	return nd;
}

static struct netdev *add_away(struct in_use_scene *s, const char *name, uint32_t link)
{
	struct netdev *nd = &s->aways[s->n.n_aways++];

	*nd = (struct netdev){ .ifindex = 2, .link = link, .is_link_here = true, .netns = 1 };
	COPY(nd->name, name);
	s->netnses[0] = (struct netns){ .inode = 7, .name = "cni-1" };
	s->n.n_netnses = 1;
	return nd;
}

static struct sock *add_sock(struct in_use_scene *s, uint8_t protocol, const char *local,
			     uint16_t port)
{
	struct sock *sock = &s->socks[s->n.n_socks++];

	*sock = (struct sock){ .protocol = protocol, .local_port = port, .is_listening = true };
	parse(local, &sock->family, sock->local);
	return sock;
}

static void add_ledger(struct in_use_scene *s, const char *verb, const char *target,
		       uint32_t ifindex, const char *subject)
{
	struct ledger_entry *e = &s->ledger[s->memory.n_ledger++];

	*e = (struct ledger_entry){ .ifindex = ifindex };
	COPY(e->verb, verb);
	COPY(e->target, target);
	COPY(e->subject, subject);
}

/* --- addresses and routes --- */

static void an_address(struct in_use_scene *s)
{
	add_address(s, ETH1, "10.30.2.2", 24);
	add_route(s, ETH1, "10.30.2.0", 24, NULL)->protocol = RTPROT_KERNEL;
}
static void add_addresses(struct in_use_scene *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct address *a = add_address(s, ETH1, "10.30.2.0", 24);

		a->local[3] = a->peer[3] = (uint8_t)(100 + i);
	}
}
static void addresses_that_are_kept(struct in_use_scene *s)
{
	add_addresses(s, 30);
}
static void more_addresses_than_are_kept(struct in_use_scene *s)
{
	add_addresses(s, 31);
}
static void an_address_with_a_peer(struct in_use_scene *s)
{
	an_address(s);
	s->addresses[s->n.n_addresses - 1].peer[3]++;
}
static void an_ipv4_link_local_one(struct in_use_scene *s)
{
	add_address(s, ETH1, "169.254.3.4", 16)->scope = RT_SCOPE_LINK;
}
static void the_kernels_link_local_one(struct in_use_scene *s)
{
	add_address(s, ETH1, "fe80::1", 64)->scope = RT_SCOPE_LINK;
}
static void one_that_we_added(struct in_use_scene *s)
{
	an_address(s);
	add_ledger(s, "add-address", "", ETH1, "10.30.2.2/24");
}
static void an_advertised_one(struct in_use_scene *s)
{
	add_address(s, ETH1, "fd00::2", 64)->flags = 0;
}
static void an_advertised_one_that_we_asked_for(struct in_use_scene *s)
{
	an_advertised_one(s);
	add_ledger(s, "set-sysctl", "", ETH1, "ipv6/accept_ra");
}
static void a_route_to_its_gateway(struct in_use_scene *s)
{
	an_address(s);
	add_route(s, ETH1, "10.30.9.1", 32, NULL)->scope = RT_SCOPE_LINK;
	add_route(s, ETH1, "0.0.0.0", 0, "10.30.9.1")->table = 200;
}
static void a_route_to_a_gateway_of_another(struct in_use_scene *s)
{
	a_route_to_its_gateway(s);
	s->routes[2].ifindex = ETH0;
}
/* Full mesh without a switch: a NIC for each other node. */
static void a_route_to_a_peer(struct in_use_scene *s)
{
	an_address(s);
	add_route(s, ETH1, "10.30.2.9", 32, NULL)->scope = RT_SCOPE_LINK;
}
static void a_route_to_a_peer_of_ipv6(struct in_use_scene *s)
{
	an_address(s);
	add_route(s, ETH1, "fd00:99::7", 128, NULL)->protocol = RTPROT_STATIC;
}
static void add_routes(struct in_use_scene *s, size_t n)
{
	an_address(s);
	for (size_t i = 0; i < n; i++) {
		struct route *t = add_route(s, ETH1, "10.30.2.0", 31, NULL);

		t->scope = RT_SCOPE_LINK;
		t->dst[3] = (uint8_t)(100 + 2 * i);
	}
}
static void routes_that_are_kept(struct in_use_scene *s)
{
	add_routes(s, 33);
}
static void more_routes_than_are_kept(struct in_use_scene *s)
{
	add_routes(s, 34);
}
/* BGP without numbers: 10.30.9.1 via inet6 fe80::1, which has the scope of one with a gateway. */
static void a_route_by_a_gateway_of_ipv6(struct in_use_scene *s)
{
	a_route_to_its_gateway(s);
	s->routes[1].scope = RT_SCOPE_UNIVERSE;
}
static void a_route_that_is_onlink(struct in_use_scene *s)
{
	a_route_to_its_gateway(s);
	s->routes[1].is_partial = true;
}
static void a_route_that_is_onlink_by_dhcp(struct in_use_scene *s)
{
	a_route_that_is_onlink(s);
	s->routes[1].protocol = RTPROT_DHCP;
}
static void a_route_for_a_tos(struct in_use_scene *s)
{
	a_route_to_its_gateway(s);
	s->routes[1].has_more = true;
}
static void a_route_to_its_prefix(struct in_use_scene *s)
{
	struct route *t;

	an_address(s);
	t = add_route(s, ETH1, "10.30.2.0", 24, NULL);
	t->table = 200;
	t->scope = RT_SCOPE_LINK;
}
static void a_route_that_is_wider(struct in_use_scene *s)
{
	an_address(s);
	add_route(s, ETH1, "10.30.2.0", 23, NULL);
}
static void a_route_of_ours(struct in_use_scene *s)
{
	an_address(s);
	add_route(s, ETH1, "10.0.0.0", 8, "10.30.2.1")->protocol = OWN_PROTOCOL;
}
static void a_route_to_the_fabric(struct in_use_scene *s)
{
	an_address(s);
	add_route(s, ETH1, "10.30.0.0", 16, "10.30.2.1");
}
/* networkd's to each name server of a lease, and a cloud's to its metadata server. */
static void a_route_of_dhcp_to_a_server(struct in_use_scene *s)
{
	an_address(s);
	add_route(s, ETH1, "169.254.169.254", 32, "10.30.2.1")->protocol = RTPROT_DHCP;
}
static void a_route_to_a_server(struct in_use_scene *s)
{
	an_address(s);
	add_route(s, ETH1, "169.254.169.254", 32, "10.30.2.1");
}
static void a_route_of_dhcp_to_a_network(struct in_use_scene *s)
{
	an_address(s);
	add_route(s, ETH1, "10.30.0.0", 16, "10.30.2.1")->protocol = RTPROT_DHCP;
}
/* Google Cloud's addresses have no prefix, and their network is behind the gateway. */
static void a_route_of_dhcp_to_its_network(struct in_use_scene *s)
{
	add_address(s, ETH1, "10.30.2.2", 32);
	add_route(s, ETH1, "10.30.2.1", 32, NULL)->protocol = RTPROT_DHCP;
	add_route(s, ETH1, "10.30.2.0", 24, "10.30.2.1")->protocol = RTPROT_DHCP;
}
static void a_route_of_dhcp_beside_its_network(struct in_use_scene *s)
{
	a_route_of_dhcp_to_its_network(s);
	add_route(s, ETH1, "10.40.2.0", 24, "10.30.2.1")->protocol = RTPROT_DHCP;
}
static void a_route_to_169_254(struct in_use_scene *s)
{
	struct route *t;

	an_address(s);
	t = add_route(s, ETH1, "169.254.0.0", 16, NULL);
	t->scope = RT_SCOPE_LINK;
	t->metric = 1003;
}
/* With DHCPv6 the address has no prefix; networkd and NetworkManager add the one of the router. */
static void an_advertised_route(struct in_use_scene *s)
{
	add_address(s, ETH1, "fd00::2", 128);
	add_route(s, ETH1, "fd00::", 64, NULL)->protocol = RTPROT_RA;
}
static void an_advertised_route_to_a_network(struct in_use_scene *s)
{
	an_advertised_route(s);
	parse("fe80::1", &s->routes[0].family, s->routes[0].gateway);
}
static void a_default_route_of_another_table(struct in_use_scene *s)
{
	an_address(s);
	add_route(s, ETH1, "0.0.0.0", 0, "10.30.2.1")->table = 200;
}
static struct rule *add_rule(struct in_use_scene *s, const char *src, uint32_t src_len)
{
	struct rule *r = &s->rules[s->n.n_rules++];

	*r = (struct rule){ .table = 200, .src_len = src_len };
	parse(src, &r->family, r->src);
	return r;
}
static void a_rule_for_its_address(struct in_use_scene *s)
{
	a_default_route_of_another_table(s);
	add_rule(s, "10.30.2.2", 32);
	COPY(add_rule(s, "0.0.0.0", 0)->oif, "eth1");
}
/* "to 10.30.2.0/24 lookup 200" and "from 10.30.2.0/24 lookup 200" */
static void rules_to_and_from_its_network(struct in_use_scene *s)
{
	struct rule *r;
	int family;

	a_default_route_of_another_table(s);
	add_rule(s, "10.30.2.0", 24);
	r = add_rule(s, "0.0.0.0", 0);
	r->dst_len = 24;
	parse("10.30.2.0", &family, r->dst);
}
/* Plugins of clouds give pods addresses of the network of a NIC, and send what comes from them by
 * it. */
static void a_rule_for_a_pod(struct in_use_scene *s)
{
	a_rule_for_its_address(s);
	s->rules[0].src[3] = 77;
}
/* One that is the same on all nodes of a fabric. */
static void a_rule_for_its_fabric(struct in_use_scene *s)
{
	a_default_route_of_another_table(s);
	add_rule(s, "10.30.0.0", 16);
}
static void a_rule_for_a_network_of_two(struct in_use_scene *s)
{
	a_rule_for_its_fabric(s);
	add_address(s, ETH0, "10.30.9.2", 24);
}
static void a_rule_for_a_network_with_pods(struct in_use_scene *s)
{
	a_rule_for_its_fabric(s);
	add_route(s, ETH0, "10.30.2.77", 32, NULL);
}
static void a_rule_for_all_but_its_address(struct in_use_scene *s)
{
	a_default_route_of_another_table(s);
	add_rule(s, "10.30.2.2", 32)->is_invert = true;
}
static void a_rule_for_pods_of_table_default(struct in_use_scene *s)
{
	a_default_route_of_another_table(s);
	s->routes[1].table = RT_TABLE_DEFAULT;
	add_rule(s, "10.244.0.0", 16)->table = RT_TABLE_DEFAULT;
}
/* Of the kernel, behind that of the main table: fib_default_rules_init() of net/ipv4/fib_rules.c */
static void the_rule_of_table_default(struct in_use_scene *s)
{
	struct rule *r;

	a_rule_for_pods_of_table_default(s);
	r = &s->rules[0];
	memset(r->src, 0, sizeof(r->src));
	r->src_len = 0;
	r->preference = 32767;
}
static void a_rule_for_all(struct in_use_scene *s)
{
	a_default_route_of_another_table(s);
	add_rule(s, "0.0.0.0", 0);
}
static void an_address_of_its_sf(struct in_use_scene *s)
{
	COPY(add_netdev(s, "eth1s88", "", 0)->scalable_of, PF);
	add_address(s, EXTRA, "10.31.0.2", 24);
}
/* The netdev is of another function, and stays when this one goes. */
static void the_netdev_of_an_erdma(struct in_use_scene *s)
{
	an_address(s);
	s->pcis[1].vendor = 0x1ded;
	s->pcis[1].device = 0x107f;
	COPY(s->netdevs[1].pci, NODE);
	add_netdev(s, "eth1.5", "vlan", ETH1);
	add_sock(s, IPPROTO_UDP, "0.0.0.0", 67)->ifindex = EXTRA;
}
static void a_route_alone(struct in_use_scene *s)
{
	add_route(s, ETH1, "10.30.0.0", 16, NULL);
}

/* --- sockets --- */

static void no_socks(struct in_use_scene *s)
{
	an_address(s);
	s->n.has_socks = false;
}
static void a_connection(struct in_use_scene *s)
{
	struct sock *sock;
	int family;

	an_address(s);
	sock = add_sock(s, IPPROTO_TCP, "10.30.2.2", 700);
	sock->is_listening = false;
	sock->remote_port = 2049;
	parse("10.30.9.9", &family, sock->remote);
}
static void a_connection_from_elsewhere(struct in_use_scene *s)
{
	a_connection(s);
	s->socks[0].local[3] = 3;
}
static void a_server_on_it(struct in_use_scene *s)
{
	an_address(s);
	add_address(s, ETH1, "10.30.2.3", 24);
	add_sock(s, IPPROTO_TCP, "10.30.2.2", 3260);
}
static void an_sctp_server(struct in_use_scene *s)
{
	an_address(s);
	add_sock(s, IPPROTO_SCTP, "10.30.2.2", 38412);
}
static void vrrp(struct in_use_scene *s)
{
	an_address(s);
	add_sock(s, IPPROTO_RAW, "0.0.0.0", 112)->ifindex = ETH1;
}
static void a_dhcp_client(struct in_use_scene *s)
{
	an_address(s);
	add_address(s, ETH1, "fd00::2", 64);
	add_sock(s, IPPROTO_UDP, "10.30.2.2", 68);
	add_sock(s, IPPROTO_UDP, "0.0.0.0", 68)->ifindex = ETH1;
	add_sock(s, IPPROTO_UDP, "fd00::2", 546);
}
static void tcp_on_the_port_of_dhcp(struct in_use_scene *s)
{
	an_address(s);
	add_sock(s, IPPROTO_TCP, "10.30.2.2", 68);
}
static void ntpd(struct in_use_scene *s)
{
	add_address(s, ETH0, "192.0.2.10", 24);
	an_address(s);
	add_sock(s, IPPROTO_UDP, "192.0.2.10", 123);
	add_sock(s, IPPROTO_UDP, "10.30.2.2", 123);
}
/* kube-proxy has all addresses of services on a dummy that is down. */
static void ntpd_beside_services(struct in_use_scene *s)
{
	ntpd(s);
	add_netdev(s, "kube-ipvs0", "dummy", 0)->is_up = false;
	add_address(s, EXTRA, "10.96.0.1", 32);
}
static void servers_of_vrfs(struct in_use_scene *s)
{
	ntpd(s);
	for (size_t i = 0; i < s->n.n_socks; i++)
		s->socks[i].ifindex = 80 + (uint32_t)i;
}
static void a_server_beside_one_of_a_vrf(struct in_use_scene *s)
{
	ntpd(s);
	s->socks[0].ifindex = 80;
}
static void ntpd_of_this_address_alone(struct in_use_scene *s)
{
	ntpd(s);
	s->socks[0].local_port = 124;
}
static void ntpd_of_the_link(struct in_use_scene *s)
{
	ntpd(s);
	add_address(s, ETH1, "fe80::2", 64)->scope = RT_SCOPE_LINK;
	add_sock(s, IPPROTO_UDP, "fe80::2", 123)->ifindex = ETH1;
}
static void ntpd_of_the_link_alone(struct in_use_scene *s)
{
	add_address(s, ETH0, "192.0.2.10", 24);
	add_sock(s, IPPROTO_UDP, "192.0.2.10", 123);
	add_sock(s, IPPROTO_UDP, "fe80::2", 123)->ifindex = ETH1;
}
static void ntpd_without_its_address(struct in_use_scene *s)
{
	ntpd_of_the_link(s);
	s->socks[1].local_port = 124;
	s->socks[1].local[3] = 3;
}
/* DHCPv6 for the hosts on these links. */
static void kea(struct in_use_scene *s)
{
	add_address(s, ETH0, "192.0.2.10", 24);
	add_sock(s, IPPROTO_UDP, "fe80::2", 547)->ifindex = ETH1;
	add_sock(s, IPPROTO_UDP, "fe80::3", 547)->ifindex = ETH0;
}
static void a_connection_of_the_link(struct in_use_scene *s)
{
	ntpd_of_the_link(s);
	s->socks[2].is_listening = false;
}
static void a_socket_of_the_netdev(struct in_use_scene *s)
{
	add_sock(s, IPPROTO_UDP, "0.0.0.0", 4789)->ifindex = ETH1;
}

/* --- mounts --- */

static struct lookup *add_mount(struct in_use_scene *s)
{
	struct destination *d = &s->destinations[s->n.n_destinations++];

	an_address(s);
	*d = (struct destination){ TO_MOUNT, "nfs server" };
	d->lookup = (struct lookup){ .family = AF_INET, .dst = { 10, 30, 9, 9 }, .found = ETH1 };
	return &d->lookup;
}
static void a_mount(struct in_use_scene *s)
{
	add_mount(s);
}
static void a_mount_by_a_second_hop(struct in_use_scene *s)
{
	struct lookup *l = add_mount(s);

	l->found = ETH0;
	l->hops[1] = ETH1;
	l->n_hops = 2;
}
static void a_mount_elsewhere(struct in_use_scene *s)
{
	add_mount(s)->found = ETH0;
}
static void a_mount_without_a_way(struct in_use_scene *s)
{
	add_mount(s)->result = -ENETUNREACH;
}
static void a_mount_by_its_netdev(struct in_use_scene *s)
{
	struct lookup *l = add_mount(s);

	*l = (struct lookup){ .found = ETH1 };
}
static void a_mount_from_anywhere(struct in_use_scene *s)
{
	*add_mount(s) = (struct lookup){ .result = -EDESTADDRREQ };
}
static void a_mount_from_anywhere_and_no_address(struct in_use_scene *s)
{
	a_mount_from_anywhere(s);
	s->n.n_addresses = 0;
}
static void a_node_that_lives_on_anything(struct in_use_scene *s)
{
	a_mount_from_anywhere(s);
	s->destinations[0].to = TO_STORAGE;
}
static void what_the_node_lives_on(struct in_use_scene *s)
{
	add_mount(s);
	s->destinations[0].to = TO_STORAGE;
}
static void a_name_server(struct in_use_scene *s)
{
	add_mount(s);
	s->destinations[0].to = TO_NAME_SERVER;
}
static void a_device_on_the_command_line(struct in_use_scene *s)
{
	add_mount(s)->family = AF_UNSPEC;
	s->destinations[0].to = TO_STORAGE;
}

/* --- tunnels --- */

static void add_tunnel(struct in_use_scene *s, const char *remote)
{
	struct tunnel_end *end = &s->ends[s->n.n_tunnel_ends++];

	an_address(s);
	*end = (struct tunnel_end){ .ifindex = add_netdev(s, "gre1", "gre", 0)->ifindex };
	parse(remote, &end->family, end->remote);
}
static void a_tunnel(struct in_use_scene *s)
{
	add_tunnel(s, "10.30.2.9");
}
static void a_tunnel_that_is_down(struct in_use_scene *s)
{
	a_tunnel(s);
	s->netdevs[s->n.n_netdevs - 1].is_up = false;
}
static void a_tunnel_elsewhere(struct in_use_scene *s)
{
	add_tunnel(s, "10.31.2.9");
}

/* All NICs in one network, as in a cloud's: @metric of the rail's own route. */
static void add_neighbour(struct in_use_scene *s, uint32_t metric)
{
	a_tunnel(s);
	s->routes[0].metric = metric;
	add_route(s, ETH0, "10.30.2.0", 24, NULL)->protocol = RTPROT_KERNEL;
}
static void a_tunnel_by_another_netdev(struct in_use_scene *s)
{
	add_neighbour(s, 100);
}
static void a_tunnel_by_either_netdev(struct in_use_scene *s)
{
	add_neighbour(s, 0);
}
static void a_tunnel_by_an_unknown_rule(struct in_use_scene *s)
{
	add_neighbour(s, 100);
	*add_rule(s, "0.0.0.0", 0) =
		(struct rule){ .family = AF_INET, .table = RT_TABLE_MAIN, .has_more = true };
}

/* As FRR has it for EVPN: who is at the other end is told by the forwarding table. */
static void a_tunnel_from_here(struct in_use_scene *s)
{
	struct tunnel_end *end = &s->ends[0];

	a_tunnel_elsewhere(s);
	*end = (struct tunnel_end){ .ifindex = end->ifindex };
	parse("10.30.2.2", &end->family, end->local);
}
static void a_tunnel_from_elsewhere(struct in_use_scene *s)
{
	a_tunnel_from_here(s);
	s->ends[0].local[3] = 3;
}

static void add_pods(struct in_use_scene *s, const char *kind, const char *gateway)
{
	an_address(s);
	add_route(s, add_netdev(s, "tunl0", kind, 0)->ifindex, "10.244.1.0", 24, gateway);
}
static void a_tunnel_by_its_gateway(struct in_use_scene *s)
{
	add_pods(s, "ipip", "10.30.2.9");
}
static void a_tunnel_by_another_gateway(struct in_use_scene *s)
{
	add_pods(s, "ipip", "10.31.2.9");
}
static void a_gateway_behind_the_end(struct in_use_scene *s)
{
	add_tunnel(s, "10.31.2.9");
	add_route(s, s->ends[0].ifindex, "10.244.1.0", 24, "10.30.2.9");
}
static void a_gateway_of_a_tunnel_from_elsewhere(struct in_use_scene *s)
{
	a_tunnel_from_elsewhere(s);
	add_route(s, s->ends[0].ifindex, "10.244.1.0", 24, "10.30.2.9");
}
static void a_gateway_of_no_tunnel(struct in_use_scene *s)
{
	add_pods(s, "dummy", "10.30.2.9");
}

/* --- what stands on it --- */

static void a_port_of(struct in_use_scene *s, const char *kind)
{
	s->netdevs[1].master = add_netdev(s, "upper", kind, 0)->ifindex;
}
static void a_bridge(struct in_use_scene *s)
{
	a_port_of(s, "bridge");
}
static void a_bond(struct in_use_scene *s)
{
	a_port_of(s, "bond");
}
static void a_team(struct in_use_scene *s)
{
	a_port_of(s, "team");
}
static void ovs(struct in_use_scene *s)
{
	a_port_of(s, "openvswitch");
}
static void an_unseen_master(struct in_use_scene *s)
{
	s->netdevs[1].master = 99;
}
static void a_vrf(struct in_use_scene *s)
{
	a_port_of(s, "vrf");
}
static void a_vrf_with_addresses(struct in_use_scene *s)
{
	a_vrf(s);
	an_address(s);
	add_address(s, EXTRA, "10.99.0.1", 32);
}
static void a_server_of_the_vrf(struct in_use_scene *s)
{
	a_vrf_with_addresses(s);
	add_sock(s, IPPROTO_TCP, "0.0.0.0", 4420)->ifindex = EXTRA;
}
static void a_server_of_a_vrf_of_two(struct in_use_scene *s)
{
	a_server_of_the_vrf(s);
	s->netdevs[0].master = EXTRA;
}
static void a_connection_of_a_vrf_of_two(struct in_use_scene *s)
{
	a_server_of_a_vrf_of_two(s);
	s->socks[0].is_listening = false;
	s->socks[0].local[0] = 10;
	s->socks[0].local[1] = 99;
	s->socks[0].local[3] = 1;
}
static void a_connection_of_its_other_port(struct in_use_scene *s)
{
	a_connection_of_a_vrf_of_two(s);
	s->socks[0].local[3] = 2;
}
static void an_idle_vlan(struct in_use_scene *s)
{
	add_netdev(s, "eth1.5", "vlan", ETH1);
}
static void a_socket_of_a_vlan(struct in_use_scene *s)
{
	an_idle_vlan(s);
	add_sock(s, IPPROTO_UDP, "0.0.0.0", 67)->ifindex = EXTRA;
}
static void a_dhcp_client_of_a_vlan(struct in_use_scene *s)
{
	a_socket_of_a_vlan(s);
	s->socks[0].local_port = 68;
}
static void ntpd_of_a_vlan(struct in_use_scene *s)
{
	ntpd_of_the_link_alone(s);
	an_idle_vlan(s);
	s->socks[1].ifindex = EXTRA;
}
static void an_idle_vlan_and_an_address(struct in_use_scene *s)
{
	an_address(s);
	an_idle_vlan(s);
}
static void a_down_macvlan_and_an_address(struct in_use_scene *s)
{
	an_address(s);
	add_netdev(s, "mv0", "macvlan", ETH1)->is_up = false;
}
static void a_vlan_with_an_address(struct in_use_scene *s)
{
	an_idle_vlan(s);
	add_address(s, EXTRA, "10.31.0.2", 24);
}
static void a_vlan_with_a_route(struct in_use_scene *s)
{
	an_idle_vlan(s);
	add_route(s, EXTRA, "10.31.0.0", 16, NULL);
}
static void a_vlan_in_a_bridge(struct in_use_scene *s)
{
	add_netdev(s, "eth1.5", "vlan", ETH1)->master = EXTRA + 1;
	add_netdev(s, "br0", "bridge", 0);
}
static void a_macvlan_of_a_vlan(struct in_use_scene *s)
{
	an_idle_vlan(s);
	add_netdev(s, "mv0", "macvlan", EXTRA);
	add_address(s, EXTRA + 1, "10.31.0.2", 24);
}
static void a_tap_of_a_vm(struct in_use_scene *s)
{
	add_netdev(s, "macvtap0", "macvtap", ETH1);
}
static void an_ipoib_child(struct in_use_scene *s)
{
	s->pcis[1].class = 0x020700;
	add_netdev(s, "eth1.8001", "ipoib", ETH1);
	add_address(s, EXTRA, "10.31.0.2", 24);
}
static void a_vlan_of_the_node(struct in_use_scene *s)
{
	add_netdev(s, "eth0.5", "vlan", ETH0);
	add_address(s, EXTRA, "10.31.0.2", 24);
}

/* --- other namespaces --- */

/* The function has no RDMA device, so no GID shows it. */
static void a_macvlan_of_a_pod(struct in_use_scene *s)
{
	add_away(s, "net1", ETH1);
	s->n.n_ibdevs = 0;
}
static void a_macvlan_of_a_pod_on_its_vlan(struct in_use_scene *s)
{
	an_idle_vlan(s);
	add_away(s, "net1", EXTRA);
}
static void a_macvlan_of_a_pod_on_another(struct in_use_scene *s)
{
	add_away(s, "net1", ETH0);
}
static void a_macvlan_on_a_netdev_of_its_namespace(struct in_use_scene *s)
{
	add_away(s, "net1", ETH1)->is_link_here = false;
}
static void its_netdev_in_a_pod(struct in_use_scene *s)
{
	COPY(add_away(s, "eth1", 0)->pci, PF);
	s->netdevs[1].pci[0] = '\0';
}
static void its_netdev_out_of_sight(struct in_use_scene *s)
{
	s->netdevs[1].pci[0] = '\0';
}
static void its_netdev_is_not_in_a_copy(struct in_use_scene *s)
{
	its_netdev_out_of_sight(s);
	s->n.is_copy = true;
}
static void its_netdev_is_not_made(struct in_use_scene *s)
{
	its_netdev_out_of_sight(s);
	s->pcis[1].is_searched = true;
}
static void its_card_failed(struct in_use_scene *s)
{
	its_netdev_out_of_sight(s);
	s->n.netns_mode = NETNS_MODE_SHARED;
	s->n.n_ibdevs = 0;
	COPY(s->pcis[1].health, "fw_fatal");
}
static void its_card_failed_perhaps(struct in_use_scene *s)
{
	its_card_failed(s);
	s->n.netns_mode = NETNS_MODE_EXCLUSIVE;
}
static void its_netdev_is_away(struct in_use_scene *s)
{
	its_netdev_is_not_made(s);
	s->pcis[1].is_away = true;
}
static void its_driver_makes_no_netdev(struct in_use_scene *s)
{
	its_netdev_out_of_sight(s);
	COPY(s->pcis[1].driver, "efa");
}

static void its_ibdev_out_of_sight(struct in_use_scene *s)
{
	s->n.netns_mode = NETNS_MODE_EXCLUSIVE;
	s->n.n_ibdevs = 0;
	s->devices[0] = (struct device_memory){ .pci = PF, .ibdev = "mlx5_0", .was_usable = true };
	s->memory.n_devices = 1;
}
static void its_ibdev_is_away(struct in_use_scene *s)
{
	its_ibdev_out_of_sight(s);
	s->memory.n_devices = 0;
	s->pcis[1].is_searched = s->pcis[1].is_away = true;
}
static void its_ibdev_is_nowhere(struct in_use_scene *s)
{
	its_ibdev_out_of_sight(s);
	s->pcis[1].is_searched = true;
}
static void a_closed_namespace(struct in_use_scene *s)
{
	s->netnses[0] = (struct netns){ .inode = 7, .name = "cni-1", .is_closed = true };
	s->n.n_netnses = 1;
}
static void a_gid_from_elsewhere(struct in_use_scene *s)
{
	s->gids[0] = (struct gid){ 3, "0000:0000:0000:0000:0000:ffff:0a63:0001", "RoCE v2", "" };
	s->ports[0] = (struct port){ .gids = s->gids, .n_gids = 1 };
	s->ibdevs[0].ports = s->ports;
	s->ibdevs[0].n_ports = 1;
}

/* udev renames eth7 to eth1 in this look, and the next netdev of the kernel is eth7. */
static void a_gid_of_another_moment(struct in_use_scene *s)
{
	a_gid_from_elsewhere(s);
	s->gids[0] =
		(struct gid){ 1, "fe80:0000:0000:0000:5054:00ff:feaa:0001", "RoCE v2", "eth7" };
	COPY(s->netdevs[1].mac, "52:54:00:aa:00:01");
}
static void a_gid_by_a_name_of_another(struct in_use_scene *s)
{
	a_gid_of_another_moment(s);
	COPY(s->netdevs[0].name, "eth7");
}
static void an_address_by_a_name_of_another_moment(struct in_use_scene *s)
{
	an_address(s);
	a_gid_from_elsewhere(s);
	s->gids[0] =
		(struct gid){ 3, "0000:0000:0000:0000:0000:ffff:0a1e:0202", "RoCE v2", "eth7" };
}
static void a_gid_of_another_mac(struct in_use_scene *s)
{
	a_gid_of_another_moment(s);
	COPY(s->netdevs[1].mac, "52:54:00:aa:00:02");
}

/* --- RDMA and others --- */

static void contexts(struct in_use_scene *s)
{
	s->ibdevs[0].n_contexts = 2;
}
static void contexts_of_its_second_ibdev(struct in_use_scene *s)
{
	s->ibdevs[s->n.n_ibdevs++] = (struct ibdev){
		"siw0", 2, PF, .is_virtual = true, .netdev = "eth1", .n_contexts = 2
	};
}
static void contexts_of_its_sf(struct in_use_scene *s)
{
	COPY(add_netdev(s, "eth1s88", "", 0)->scalable_of, PF);
	s->ibdevs[s->n.n_ibdevs++] = (struct ibdev){ "mlx5_2", 2, .is_virtual = true,
						     .netdev = "eth1s88", .n_contexts = 1 };
}
static void a_subnet_manager(struct in_use_scene *s)
{
	s->ports[0] = (struct port){ .number = 1, .is_manager = true };
	s->ibdevs[0].ports = s->ports;
	s->ibdevs[0].n_ports = 1;
}
static void a_subnet_manager_as_a_vf_tells_it(struct in_use_scene *s)
{
	a_subnet_manager(s);
	s->pcis[1].vendor = 0x15b3;
	s->pcis[1].device = 0x101e;
}
static void uncounted_contexts(struct in_use_scene *s)
{
	s->ibdevs[0].n_contexts = UINT32_MAX;
}
static void uncounted_contexts_of_a_copy(struct in_use_scene *s)
{
	uncounted_contexts(s);
	s->n.is_copy = true;
}

static void uncounted_contexts_and_an_address(struct in_use_scene *s)
{
	uncounted_contexts_of_a_copy(s);
	an_address(s);
}

static void uncounted_contexts_and_a_gid(struct in_use_scene *s)
{
	uncounted_contexts_of_a_copy(s);
	a_gid_from_elsewhere(s);
}

static void uncounted_contexts_and_its_gid(struct in_use_scene *s)
{
	uncounted_contexts_and_a_gid(s);
	COPY(s->gids[0].netdev, "eth1");
	s->n.lacks_net = true;
}

static void uncounted_contexts_and_routes(struct in_use_scene *s)
{
	uncounted_contexts_of_a_copy(s);
	more_routes_than_are_kept(s);
}

static void a_user_with_a_name(struct in_use_scene *s)
{
	s->users[0] = (struct user){ PF, USE_KERNEL, .detail = "mlx5_0: 2 PDs of nvme_rdma" };
	s->n.n_users = 1;
}
static void a_user_of_another(struct in_use_scene *s)
{
	a_user_with_a_name(s);
	COPY(s->users[0].target, NODE);
}
static void vfio(struct in_use_scene *s)
{
	COPY(s->pcis[1].driver, "vfio-pci");
}
static void another_driver(struct in_use_scene *s)
{
	COPY(s->pcis[1].driver, "pci-stub");
	COPY(s->pcis[1].module, "mlx5_core");
	s->pcis[1].has_other_driver = true;
}
static void vdpa(struct in_use_scene *s)
{
	COPY(s->pcis[1].vdpa, "vdpa0");
}

static const struct {
	const char *name;
	void (*spoil)(struct in_use_scene *s);
	enum in_use_degree degree;
	const char *why;
} rows[] = {
	{ "nothing", NULL, IN_USE_FREE, "" },
	{ "an address", an_address, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "address of its SF", an_address_of_its_sf, IN_USE_USED, "eth1s88 has 10.31.0.2/24" },
	{ "addresses that are kept", addresses_that_are_kept, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.100/24" },
	{ "more addresses than are kept", more_addresses_than_are_kept, IN_USE_USED,
	  "eth1 has addresses or routes that cannot be put back after a pod" },
	{ "routes that are kept", routes_that_are_kept, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "more routes than are kept", more_routes_than_are_kept, IN_USE_USED,
	  "eth1 has addresses or routes that cannot be put back after a pod" },
	{ "address with a peer", an_address_with_a_peer, IN_USE_USED,
	  "eth1 has addresses or routes that cannot be put back after a pod" },
	{ "of 169.254/16", an_ipv4_link_local_one, IN_USE_ADDRESSED, "eth1 has 169.254.3.4/16" },
	{ "link-local of IPv6", the_kernels_link_local_one, IN_USE_FREE, "" },
	{ "that we added", one_that_we_added, IN_USE_FREE, "" },
	{ "advertised", an_advertised_one, IN_USE_ADDRESSED, "eth1 has fd00::2/64" },
	{ "advertised, as we asked", an_advertised_one_that_we_asked_for, IN_USE_FREE, "" },
	{ "route to a gateway", a_route_to_its_gateway, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "route to a gateway of another", a_route_to_a_gateway_of_another, IN_USE_USED,
	  "eth1 has a route to 10.30.9.1/32" },
	{ "route to a peer", a_route_to_a_peer, IN_USE_USED, "eth1 has a route to 10.30.2.9/32" },
	{ "route to a peer of IPv6", a_route_to_a_peer_of_ipv6, IN_USE_USED,
	  "eth1 has a route to fd00:99::7/128" },
	{ "onlink", a_route_that_is_onlink, IN_USE_USED,
	  "eth1 has addresses or routes that cannot be put back after a pod" },
	{ "onlink by DHCP", a_route_that_is_onlink_by_dhcp, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "route for a TOS", a_route_for_a_tos, IN_USE_USED,
	  "eth1 has addresses or routes that cannot be put back after a pod" },
	{ "gateway of IPv6", a_route_by_a_gateway_of_ipv6, IN_USE_USED,
	  "eth1 has a route to 10.30.9.1/32" },
	{ "route to its prefix", a_route_to_its_prefix, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "wider route", a_route_that_is_wider, IN_USE_USED, "eth1 has a route to 10.30.2.0/23" },
	{ "route of ours", a_route_of_ours, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "route to the fabric", a_route_to_the_fabric, IN_USE_USED,
	  "eth1 has a route to 10.30.0.0/16" },
	{ "route of DHCP to a server", a_route_of_dhcp_to_a_server, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "route to a server", a_route_to_a_server, IN_USE_USED,
	  "eth1 has a route to 169.254.169.254/32" },
	{ "route of DHCP to its network", a_route_of_dhcp_to_its_network, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/32" },
	{ "route of DHCP beside its network", a_route_of_dhcp_beside_its_network, IN_USE_USED,
	  "eth1 has a route to 10.40.2.0/24" },
	{ "route of DHCP to a network", a_route_of_dhcp_to_a_network, IN_USE_USED,
	  "eth1 has a route to 10.30.0.0/16" },
	{ "route to 169.254/16", a_route_to_169_254, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "advertised route", an_advertised_route, IN_USE_ADDRESSED, "eth1 has fd00::2/128" },
	{ "advertised, by a router", an_advertised_route_to_a_network, IN_USE_USED,
	  "eth1 has a route to fd00::/64" },
	{ "default route of another table", a_default_route_of_another_table, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "rule for its address", a_rule_for_its_address, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "rules for its network", rules_to_and_from_its_network, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "rule for a pod", a_rule_for_a_pod, IN_USE_USED, "eth1 has a route to 0.0.0.0/0" },
	{ "rule for its fabric", a_rule_for_its_fabric, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "rule for a network of two", a_rule_for_a_network_of_two, IN_USE_USED,
	  "eth1 has a route to 0.0.0.0/0" },
	{ "rule for a network with pods", a_rule_for_a_network_with_pods, IN_USE_USED,
	  "eth1 has a route to 0.0.0.0/0" },
	{ "rule for all but its address", a_rule_for_all_but_its_address, IN_USE_USED,
	  "eth1 has a route to 0.0.0.0/0" },
	{ "rule for pods, table default", a_rule_for_pods_of_table_default, IN_USE_USED,
	  "eth1 has a route to 0.0.0.0/0" },
	{ "rule of table default", the_rule_of_table_default, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "rule for all", a_rule_for_all, IN_USE_USED, "eth1 has a route to 0.0.0.0/0" },
	{ "route alone", a_route_alone, IN_USE_USED, "eth1 has a route to 10.30.0.0/16" },
	{ "netdev of an eRDMA", the_netdev_of_an_erdma, IN_USE_FREE, "" },
	{ "sockets are not known", no_socks, IN_USE_USED,
	  "which sockets use the addresses of eth1 is not known" },
	{ "connection", a_connection, IN_USE_USED,
	  "10.30.2.2 has a connection to 10.30.9.9 port 2049" },
	{ "connection from elsewhere", a_connection_from_elsewhere, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "server", a_server_on_it, IN_USE_USED, "a program listens on 10.30.2.2, TCP port 3260" },
	{ "SCTP", an_sctp_server, IN_USE_USED, "a program listens on 10.30.2.2, SCTP port 38412" },
	{ "VRRP", vrrp, IN_USE_USED, "a socket is bound to eth1, IP protocol 112" },
	{ "DHCP client", a_dhcp_client, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "TCP 68", tcp_on_the_port_of_dhcp, IN_USE_USED,
	  "a program listens on 10.30.2.2, TCP port 68" },
	{ "ntpd", ntpd, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "ntpd beside services", ntpd_beside_services, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "ntpd of one address", ntpd_of_this_address_alone, IN_USE_USED,
	  "a program listens on 10.30.2.2, UDP port 123" },
	{ "ntpd of the link", ntpd_of_the_link, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "ntpd of the link alone", ntpd_of_the_link_alone, IN_USE_FREE, "" },
	{ "ntpd without its address", ntpd_without_its_address, IN_USE_USED, "UDP port 123" },
	{ "server of two links", kea, IN_USE_USED, "UDP port 547" },
	{ "connection of the link", a_connection_of_the_link, IN_USE_USED, "UDP port" },
	{ "servers of two VRFs", servers_of_vrfs, IN_USE_USED,
	  "a program listens on 10.30.2.2, UDP port 123" },
	{ "server beside one of a VRF", a_server_beside_one_of_a_vrf, IN_USE_USED,
	  "a program listens on 10.30.2.2, UDP port 123" },
	{ "bound to the netdev", a_socket_of_the_netdev, IN_USE_USED,
	  "a socket is bound to eth1, UDP port 4789" },
	{ "mount", a_mount, IN_USE_USED, "eth1 leads to 10.30.9.9, nfs server" },
	{ "mount by a second hop", a_mount_by_a_second_hop, IN_USE_USED,
	  "eth1 leads to 10.30.9.9, nfs server" },
	{ "mount elsewhere", a_mount_elsewhere, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "mount without a way", a_mount_without_a_way, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "mount by its netdev", a_mount_by_its_netdev, IN_USE_USED, "eth1 leads to nfs server" },
	{ "mount from anywhere", a_mount_from_anywhere, IN_USE_USED,
	  "nothing tells where this is, and eth1 may lead there: nfs server" },
	{ "mount from anywhere and no address", a_mount_from_anywhere_and_no_address, IN_USE_FREE,
	  "" },
	{ "node that lives on anything", a_node_that_lives_on_anything, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "what the node lives on", what_the_node_lives_on, IN_USE_USED,
	  "eth1 leads to 10.30.9.9, nfs server" },
	{ "name server", a_name_server, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "device on the command line", a_device_on_the_command_line, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "tunnel", a_tunnel, IN_USE_USED, "the tunnel gre1 leads to 10.30.2.9" },
	{ "down tunnel", a_tunnel_that_is_down, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "other tunnel", a_tunnel_elsewhere, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "tunnel by another netdev", a_tunnel_by_another_netdev, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "tunnel by either netdev", a_tunnel_by_either_netdev, IN_USE_USED,
	  "the tunnel gre1 leads to 10.30.2.9" },
	{ "tunnel by an unknown rule", a_tunnel_by_an_unknown_rule, IN_USE_USED,
	  "the tunnel gre1 leads to 10.30.2.9" },
	{ "tunnel from here", a_tunnel_from_here, IN_USE_USED,
	  "10.30.2.2 is the local end of the tunnel gre1" },
	{ "tunnel from elsewhere", a_tunnel_from_elsewhere, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "its gateway", a_gateway_of_a_tunnel_from_elsewhere, IN_USE_USED,
	  "the tunnel gre1 leads to 10.30.2.9" },
	{ "tunnel by its gateway", a_tunnel_by_its_gateway, IN_USE_USED,
	  "the tunnel tunl0 leads to 10.30.2.9" },
	{ "tunnel by another gateway", a_tunnel_by_another_gateway, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "gateway behind the end", a_gateway_behind_the_end, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "gateway of no tunnel", a_gateway_of_no_tunnel, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "bridge", a_bridge, IN_USE_USED, "eth1 belongs to upper" },
	{ "bond", a_bond, IN_USE_USED, "eth1 belongs to upper" },
	{ "team", a_team, IN_USE_USED, "eth1 belongs to upper" },
	{ "OVS", ovs, IN_USE_USED, "eth1 belongs to upper" },
	{ "unseen master", an_unseen_master, IN_USE_USED, "eth1 belongs to one that is not seen" },
	{ "VRF", a_vrf, IN_USE_FREE, "" },
	{ "VRF, addresses", a_vrf_with_addresses, IN_USE_ADDRESSED, "eth1 has 10.30.2.2/24" },
	{ "VRF, server", a_server_of_the_vrf, IN_USE_USED, "is bound to upper, TCP port 4420" },
	{ "VRF of two, server", a_server_of_a_vrf_of_two, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "VRF of two, connection", a_connection_of_a_vrf_of_two, IN_USE_USED,
	  "a socket is bound to upper, TCP port 4420" },
	{ "VRF of two, other port", a_connection_of_its_other_port, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "VLAN, socket", a_socket_of_a_vlan, IN_USE_USED,
	  "a socket is bound to eth1.5, UDP port 67" },
	{ "VLAN, DHCP client", a_dhcp_client_of_a_vlan, IN_USE_FREE, "" },
	{ "VLAN, ntpd", ntpd_of_a_vlan, IN_USE_FREE, "" },
	{ "idle VLAN", an_idle_vlan, IN_USE_FREE, "" },
	{ "idle VLAN, address", an_idle_vlan_and_an_address, IN_USE_USED,
	  "eth1 has 10.30.2.2/24 and carries eth1.5" },
	{ "down macvlan, address", a_down_macvlan_and_an_address, IN_USE_USED,
	  "eth1 has 10.30.2.2/24 and carries mv0" },
	{ "VLAN, address", a_vlan_with_an_address, IN_USE_USED, "eth1 carries eth1.5" },
	{ "VLAN, route", a_vlan_with_a_route, IN_USE_USED, "eth1 carries eth1.5" },
	{ "VLAN in a bridge", a_vlan_in_a_bridge, IN_USE_USED, "eth1 carries eth1.5" },
	{ "macvlan of a VLAN", a_macvlan_of_a_vlan, IN_USE_USED, "eth1 carries mv0" },
	{ "tap of a VM", a_tap_of_a_vm, IN_USE_USED, "eth1 carries macvtap0" },
	{ "IPoIB child", an_ipoib_child, IN_USE_USED, "eth1 carries eth1.8001" },
	{ "VLAN of the node", a_vlan_of_the_node, IN_USE_FREE, "" },
	{ "macvlan of a pod", a_macvlan_of_a_pod, IN_USE_USED,
	  "net1 in network namespace 7, cni-1" },
	{ "of a pod, on its VLAN", a_macvlan_of_a_pod_on_its_vlan, IN_USE_USED,
	  "net1 in network namespace 7, cni-1" },
	{ "of a pod, on another", a_macvlan_of_a_pod_on_another, IN_USE_FREE, "" },
	{ "of a pod, on one there", a_macvlan_on_a_netdev_of_its_namespace, IN_USE_FREE, "" },
	{ "its netdev in a pod", its_netdev_in_a_pod, IN_USE_USED,
	  "netdev-in-netns, eth1 in network namespace 7, cni-1" },
	{ "its netdev out of sight", its_netdev_out_of_sight, IN_USE_USED,
	  "its netdev in another network namespace" },
	{ "not copied", its_netdev_is_not_in_a_copy, IN_USE_UNKNOWN,
	  "unknown, its netdev is not in this tree" },
	{ "not made", its_netdev_is_not_made, IN_USE_FREE, "" },
	{ "failed", its_card_failed, IN_USE_FREE, "" },
	{ "failed, or both are elsewhere", its_card_failed_perhaps, IN_USE_USED,
	  "its netdev in another network namespace" },
	{ "seen to be away", its_netdev_is_away, IN_USE_USED,
	  "its netdev in another network namespace" },
	{ "of a driver that makes none", its_driver_makes_no_netdev, IN_USE_FREE, "" },
	{ "its ibdev out of sight", its_ibdev_out_of_sight, IN_USE_USED,
	  "its ibdev mlx5_0 in another network namespace" },
	{ "its ibdev seen to be away", its_ibdev_is_away, IN_USE_USED,
	  "ibdev-in-netns, its ibdev in another network namespace" },
	{ "its ibdev in no namespace", its_ibdev_is_nowhere, IN_USE_FREE, "" },
	{ "closed namespace", a_closed_namespace, IN_USE_USED,
	  "the links of network namespace cni-1 cannot be listed" },
	{ "GID", a_gid_from_elsewhere, IN_USE_USED, "of a netdev above it" },
	{ "GID by another name", a_gid_of_another_moment, IN_USE_FREE, "" },
	{ "GID by a name of another", a_gid_by_a_name_of_another, IN_USE_FREE, "" },
	{ "address by another name", an_address_by_a_name_of_another_moment, IN_USE_ADDRESSED,
	  "eth1 has 10.30.2.2/24" },
	{ "GID of another MAC", a_gid_of_another_mac, IN_USE_USED, "of a netdev above it, eth7" },
	{ "contexts", contexts, IN_USE_USED, "mlx5_0 has 2 open contexts" },
	{ "contexts of its second ibdev", contexts_of_its_second_ibdev, IN_USE_USED,
	  "siw0 has 2 open contexts" },
	{ "contexts of its SF", contexts_of_its_sf, IN_USE_USED, "mlx5_2 has 1 open context" },
	{ "subnet manager", a_subnet_manager, IN_USE_USED, "subnet-manager, port 1 of mlx5_0" },
	{ "that of the host", a_subnet_manager_as_a_vf_tells_it, IN_USE_FREE, "" },
	{ "uncounted contexts", uncounted_contexts, IN_USE_USED, "cannot be counted" },
	{ "uncounted contexts of a copy", uncounted_contexts_of_a_copy, IN_USE_UNKNOWN,
	  "cannot be counted" },
	{ "and an address", uncounted_contexts_and_an_address, IN_USE_UNKNOWN,
	  "cannot be counted" },
	{ "and a GID", uncounted_contexts_and_a_gid, IN_USE_USED, "of a netdev above it" },
	{ "and a GID of its own", uncounted_contexts_and_its_gid, IN_USE_UNKNOWN,
	  "cannot be counted" },
	{ "and its routes", uncounted_contexts_and_routes, IN_USE_USED, "cannot be put back" },
	{ "kernel", a_user_with_a_name, IN_USE_USED, "kernel-user, mlx5_0: 2 PDs of nvme_rdma" },
	{ "user of another", a_user_of_another, IN_USE_FREE, "" },
	{ "vfio", vfio, IN_USE_USED, "it is bound to vfio-pci" },
	{ "another driver", another_driver, IN_USE_USED, "it is bound to pci-stub and not to" },
	{ "vDPA", vdpa, IN_USE_USED, "it is the vDPA device vdpa0" },
};

static void a_pf_is_used_or_only_addressed_or_free(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(graph_done) struct graph g = {};
		enum in_use_degree degree;
		struct in_use_scene s;
		char why[448];

		make_scene(&s);
		if (rows[i].spoil)
			rows[i].spoil(&s);
		assert_int_equal(graph_make(&s.n, &g), 0);
		degree = in_use_degree(&g, &s.memory, &s.pcis[1], false, why, sizeof(why));
		if (degree != rows[i].degree || !strstr(why, rows[i].why) ||
		    (degree == IN_USE_FREE && why[0]))
			fail_msg("%s: %d, %s", rows[i].name, degree, why);
	}
}

/* in_use_find() leaves out a PF that is only addressed, as nothing is taken from the host. */
static void users_are_those_of_a_used_function(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(graph_done) struct graph g = {};
		struct user found[IN_USE_MAX];
		struct in_use_scene s;
		size_t n_found;

		make_scene(&s);
		if (rows[i].spoil)
			rows[i].spoil(&s);
		assert_int_equal(graph_make(&s.n, &g), 0);
		n_found = in_use_find(&g, &s.memory, &s.pcis[1], found);
		if ((n_found > 0) != (rows[i].degree >= IN_USE_USED && s.n.n_users == 0))
			fail_msg("%s: %zu users", rows[i].name, n_found);
		/* The VF has none of it, but may carry what is in a closed namespace. */
		assert_int_equal(in_use_find(&g, &s.memory, &s.pcis[2], found),
				 s.netnses[0].is_closed);
	}
}

static void of_a_vf_any_address_is_a_use(_unused_ void **state)
{
	static const struct {
		const char *local;
		uint32_t prefix_len;
		bool has_lifetime;
		const char *ours; /* in the ledger: the VF was made, or brought up */
		bool is_used;
	} cases[] = {
		{ "10.30.2.2", 24, false, "", true },
		{ "10.30.2.2", 24, false, "set-num-vfs", true },
		{ "169.254.1.1", 16, false, "", true },
		{ "fe80::1", 64, false, "", false },
		{ "fd00::2", 64, true, "", true },
		{ "fd00::2", 64, true, "set-num-vfs", false },
		{ "fd00::2", 64, true, "set-link-up", false },
		{ "fd00::2", 64, false, "set-link-up", true },
		{ "fd00::2", 128, true, "set-link-up", true }, /* from DHCPv6 */
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(graph_done) struct graph g = {};
		struct user found[IN_USE_MAX];
		struct in_use_scene s;
		char why[448];

		make_scene(&s);
		add_address(&s, V0, cases[i].local, cases[i].prefix_len)->flags =
			cases[i].has_lifetime ? 0 : IFA_F_PERMANENT;
		add_ledger(&s, cases[i].ours, PF, streq(cases[i].ours, "set-link-up") ? V0 : 0, "");
		assert_int_equal(graph_make(&s.n, &g), 0);
		assert_int_equal(in_use_find(&g, &s.memory, &s.pcis[2], found), cases[i].is_used);
		assert_int_equal(in_use_degree(&g, &s.memory, &s.pcis[2], false, why, sizeof(why)),
				 cases[i].is_used ? IN_USE_USED : IN_USE_FREE);
	}
}

static void a_socket_of_a_vf_is_a_use(_unused_ void **state)
{
	static const struct {
		const char *local;
		uint16_t port;
		bool is_listening, is_everywhere, is_used;
	} cases[] = {
		{ "fe80::2", 179, false, false, true }, { "0.0.0.0", 4789, true, false, true },
		{ "0.0.0.0", 68, true, false, false },  /* DHCP */
		{ "fe80::2", 546, true, false, false }, /* DHCPv6 */
		{ "fe80::2", 123, true, true, false },  /* ntpd */
		{ "fe80::2", 123, true, false, true },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(graph_done) struct graph g = {};
		struct user found[IN_USE_MAX];
		struct in_use_scene s;
		struct sock *sock;

		make_scene(&s);
		add_address(&s, ETH0, "192.0.2.10", 24);
		add_sock(&s, IPPROTO_UDP, "192.0.2.10", cases[i].is_everywhere ? 123 : 22);
		sock = add_sock(&s, IPPROTO_UDP, cases[i].local, cases[i].port);
		sock->ifindex = V0;
		sock->is_listening = cases[i].is_listening;
		assert_int_equal(graph_make(&s.n, &g), 0);
		assert_int_equal(in_use_find(&g, &s.memory, &s.pcis[2], found), cases[i].is_used);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pf_is_used_or_only_addressed_or_free),
		cmocka_unit_test(users_are_those_of_a_used_function),
		cmocka_unit_test(of_a_vf_any_address_is_a_use),
		cmocka_unit_test(a_socket_of_a_vf_is_a_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
