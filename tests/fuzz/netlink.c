/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz: what the kernel answers to the netlink os, and what it tells unasked.
 *
 * The first byte says which door asks. Each answer to a request of it is a number of bytes (two,
 * little-endian) and that many bytes of netlink messages; DONE follows by itself, and the kernel's
 * sequence number is put in. libnl itself has the place to stand in for the socket: what it is
 * given to receive goes through os/netlink.c as from the kernel.
 *
 * Each message comes alone, in a block of its own size, and one that is longer than what there is
 * ends there, with the last of its attributes and what that has in it: so to cut a message short
 * takes one byte.
 *
 * What a door gives is terminated, sorted where its header says so, and can be released.
 */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/handlers.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <rdma/rdma_netlink.h>

#include "../../src/model/pnet.h"
#include "../../src/os/dcb.h"
#include "../../src/os/devlink.h"
#include "../../src/os/events.h"
#include "../../src/os/link.h"
#include "../../src/os/rdma.h"
#include "../../src/os/route.h"
#include "../../src/os/smc.h"
#include "../../src/os/vf.h"
#include "../../src/os/wireguard.h"
#include "fuzz.h"

/* What is still to be answered with. */
static struct {
	const uint8_t *data;
	size_t size;
	size_t rest; /* of the answer that is being given */
	uint32_t seq;
} kernel;

static int on_send(_unused_ struct nl_sock *sock, struct nl_msg *m)
{
	/* What was left of the answer before is nobody's. */
	kernel.data += kernel.rest;
	kernel.size -= kernel.rest;
	kernel.rest = 0;
	if (kernel.size >= 2) {
		kernel.rest = (size_t)kernel.data[0] | (size_t)kernel.data[1] << 8;
		kernel.data += 2;
		kernel.size -= 2;
		kernel.rest = MIN(kernel.rest, kernel.size);
	}
	kernel.seq = nlmsg_hdr(m)->nlmsg_seq;
	return (int)nlmsg_hdr(m)->nlmsg_len;
}

/* What stands between the header of a message and its attributes. */
static size_t head_of(const struct nlmsghdr *h)
{
	switch (h->nlmsg_type) {
	case RTM_NEWLINK ... RTM_SETLINK:
		return sizeof(struct ifinfomsg);
	case RTM_NEWADDR ... RTM_GETADDR:
		return sizeof(struct ifaddrmsg);
	case RTM_NEWROUTE ... RTM_GETROUTE:
	case RTM_NEWNEIGH ... RTM_GETNEIGH:
	case RTM_NEWRULE ... RTM_GETRULE:
		return sizeof(struct rtmsg);
	default: /* RDMA has none; of the others it is 4 bytes */
		return h->nlmsg_type >> 10 == RDMA_NL_NLDEV ? 0 : 4;
	}
}

static void cut_attributes(uint8_t *data, size_t size, bool is_cut)
{
	struct nlattr a;

	while (size >= sizeof(a)) {
		memcpy(&a, data, sizeof(a));
		if (a.nla_len >= sizeof(a) && a.nla_len <= size) {
			const size_t step = MIN((size_t)NLA_ALIGN(a.nla_len), size);

			if (is_cut && step == size)
				cut_attributes(data + sizeof(a), a.nla_len - sizeof(a), true);
			data += step;
			size -= step;
			continue;
		}
		a.nla_len = (uint16_t)size;
		memcpy(data, &a, sizeof(a));
		cut_attributes(data + sizeof(a), size - sizeof(a), true);
		return;
	}
}

/* The next message of this answer, to be freed; NULL: there is none. */
static struct nlmsghdr *next_message(void)
{
	struct nlmsghdr h, *m;
	size_t size, step;

	if (kernel.rest < sizeof(h))
		return NULL;
	memcpy(&h, kernel.data, sizeof(h));
	size = MIN(MAX((size_t)h.nlmsg_len, sizeof(h)), kernel.rest);
	h.nlmsg_len = (uint32_t)size;
	h.nlmsg_seq = kernel.seq;
	m = malloc(size);
	require(m != NULL);
	memcpy(m, kernel.data, size);
	memcpy(m, &h, sizeof(h));
	if (size > sizeof(h) + head_of(&h))
		cut_attributes((uint8_t *)m + sizeof(h) + head_of(&h),
			       size - sizeof(h) - head_of(&h), false);

	step = MIN(NLMSG_ALIGN(size), kernel.rest);
	kernel.data += step;
	kernel.size -= step;
	kernel.rest -= step;
	return m;
}

/* libnl frees the bytes. */
static int on_receive(_unused_ struct nl_sock *sock, struct sockaddr_nl *from, unsigned char **ret,
		      _unused_ struct ucred **creds)
{
	struct nlmsghdr *m = next_message();

	if (!m) {
		m = calloc(1, NLMSG_LENGTH(sizeof(int)));
		require(m != NULL);
		*m = (struct nlmsghdr){ .nlmsg_len = NLMSG_LENGTH(sizeof(int)),
					.nlmsg_type = NLMSG_DONE,
					.nlmsg_seq = kernel.seq };
	}
	*from = (struct sockaddr_nl){ .nl_family = AF_NETLINK };
	*ret = (unsigned char *)m;
	return (int)m->nlmsg_len;
}

static void open_kernel(struct netlink *nl)
{
	struct nl_cb *cb;

	nl->sock = nl_socket_alloc();
	require(nl->sock != NULL);
	cb = nl_socket_get_cb(nl->sock);
	nl_cb_overwrite_send(cb, on_send);
	nl_cb_overwrite_recv(cb, on_receive);
	nl_cb_put(cb);
}

static void try_links(struct netlink *nl)
{
	_cleanup_(freep) struct netdev *list = NULL;
	_cleanup_(freep) struct tunnel_end *ends = NULL;
	size_t n = 0, n_ends = 0;

	if (link_list(nl, &list, &n, &ends, &n_ends) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		require(strlen(list[i].name) < sizeof(list[i].name));
}

static void try_addresses(struct netlink *nl)
{
	_cleanup_(freep) struct address *list = NULL;
	size_t n = 0;

	if (link_list_addresses(nl, &list, &n) < 0)
		return;
	for (size_t i = 1; i < n; i++)
		require(list[i - 1].ifindex <= list[i].ifindex);
	if (n > 0)
		link_set_metric(nl, &list[0], 100);
}

static void try_routes(struct netlink *nl)
{
	_cleanup_(freep) struct route *list = NULL;
	struct lookup l = { .family = AF_INET, .dst = { 10, 0, 0, 1 }, .mark = 1 };
	size_t n = 0;

	route_list(nl, &list, &n);
	route_lookup(nl, &l, true);
	require(l.n_hops <= LOOKUP_HOPS);
}

static void try_rules(struct netlink *nl)
{
	_cleanup_(freep) struct rule *list = NULL;
	size_t n = 0;

	rule_list(nl, &list, &n);
}

static void try_neighbours(struct netlink *nl)
{
	_cleanup_(freep) struct neighbour *list = NULL;
	size_t n = 0;

	neighbour_list(nl, &list, &n);
}

static void try_ibdevs(struct netlink *nl)
{
	struct node n = {};

	rdma_list(nl, &n.ibdevs, &n.n_ibdevs);
	for (size_t i = 0; i < n.n_ibdevs; i++)
		require(strlen(n.ibdevs[i].name) < sizeof(n.ibdevs[i].name));
	node_done(&n);
}

static void try_holders(struct netlink *nl)
{
	for (enum rdma_resource what = RDMA_CONTEXTS; what <= RDMA_CM_IDS; what++) {
		_cleanup_(freep) struct rdma_holder *list = NULL;
		size_t n = 0;

		rdma_list_holders(nl, 0, what, &list, &n);
	}
}

static void try_netns_mode(struct netlink *nl)
{
	enum netns_mode mode;

	if (rdma_get_netns_mode(nl, &mode) == 0)
		require(mode == NETNS_MODE_SHARED || mode == NETNS_MODE_EXCLUSIVE);
}

static void try_far_links(struct netlink *nl)
{
	_cleanup_(freep) struct netdev *list = NULL;
	size_t n = 0;

	link_list_of(nl, STDIN_FILENO, 0, &list, &n);
}

static void try_vfs(struct netlink *nl)
{
	_cleanup_(freep) struct vf_info *list = NULL;
	size_t n = 0;

	vf_list(nl, 2, &list, &n);
}

static void try_devlink(struct netlink *nl)
{
	struct pci pcis[] = {
		{ .address = "0000:3b:00.0", .driver = "mlx5_core", .has_sriov = true },
		{ .address = "0000:af:00.0", .driver = "mlx5_core", .has_sriov = true },
	};

	require(devlink_read(nl, pcis, ELEMENTSOF(pcis)) == 0);
	require(strlen(pcis[0].health) < sizeof(pcis[0].health));
}

static void try_smc(struct netlink *nl)
{
	_cleanup_(freep) struct pnet *list = NULL;
	size_t n = 0;

	if (smc_list(nl, &list, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		require_plain(list[i].id);
		require(!list[i].ibdev[0] != !list[i].netdev[0]);
	}
}

/* Each change reads what is there before. */
static void try_dcb(struct netlink *nl)
{
	static const char *const changes[][2] = {
		{ "pfc", "3" },
		{ "ets", "00010000 50,50,s,s,s,s,s,s" },
		{ "dscp/26", "none" },
		{ "trust", "pcp" },
	};
	struct dcb d;

	if (dcb_read(nl, "ens1", &d) == 0)
		require(qos_is_valid(&d));
	for (size_t i = 0; i < ELEMENTSOF(changes); i++)
		dcb_set(nl, "ens1", changes[i][0], changes[i][1]);
}

/* A socket that listens: each message is a datagram. */
static void try_events(_unused_ struct netlink *nl)
{
	struct link_log log = {};
	struct nlmsghdr *m;

	kernel.rest = kernel.size;
	while ((m = next_message())) {
		require(events_count(m, (int)m->nlmsg_len, &log) <= 1);
		free(m);
	}
}

static void try_wireguard(struct netlink *nl)
{
	_cleanup_(freep) struct tunnel_end *list = NULL;
	size_t n = 0;

	wireguard_list(nl, 7, &list, &n);
	for (size_t i = 0; i < n; i++)
		require(list[i].ifindex == 7 &&
			(list[i].family == AF_INET || list[i].family == AF_INET6));
}

/* The order is that of the seeds: tests/fuzz/make-seeds. */
static void (*const os[])(struct netlink *nl) = {
	try_links,   try_addresses, try_routes,     try_rules,     try_neighbours,
	try_ibdevs,  try_holders,   try_netns_mode, try_far_links, try_vfs,
	try_devlink, try_smc,       try_events,     try_dcb,       try_wireguard,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Once closed after an error it cannot be opened: there is no such protocol. */
	_cleanup_(netlink_done) struct netlink nl = { .protocol = 31 };

	if (size == 0)
		return 0;
	kernel.data = data + 1;
	kernel.size = size - 1;
	kernel.rest = 0;
	open_kernel(&nl);
	os[data[0] % ELEMENTSOF(os)](&nl);
	return 0;
}
