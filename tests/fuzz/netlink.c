/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz: what the kernel answers to the netlink doors, and what it tells unasked.
 *
 * The first byte says which door asks. Each answer to a request of it is a number of bytes (two,
 * little-endian) and that many bytes of netlink messages; DONE follows by itself, and the kernel's
 * sequence number is put in. libnl itself has the place to stand in for the socket: what it is
 * given to receive goes through doors/netlink.c as from the kernel.
 *
 * What a door gives is terminated, sorted where its header says so, and can be released.
 */
#include <linux/netlink.h>
#include <netlink/handlers.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "../../src/doors/devlink.h"
#include "../../src/doors/events.h"
#include "../../src/doors/link.h"
#include "../../src/doors/neighbour.h"
#include "../../src/doors/netns.h"
#include "../../src/doors/rdma.h"
#include "../../src/doors/route.h"
#include "../../src/doors/rule.h"
#include "../../src/doors/smc.h"
#include "../../src/doors/vf.h"
#include "fuzz.h"

/* What is still to be answered with. */
static struct {
	const uint8_t *data;
	size_t size;
	uint32_t seq;
	bool is_over; /* the answer to this request was given */
} kernel;

static int on_send(_unused_ struct nl_sock *sock, struct nl_msg *m)
{
	kernel.seq = nlmsg_hdr(m)->nlmsg_seq;
	kernel.is_over = false;
	return (int)nlmsg_hdr(m)->nlmsg_len;
}

static const uint8_t *next_answer(size_t *ret)
{
	const uint8_t *data = kernel.data;
	size_t length;

	if (kernel.size < 2)
		return NULL;
	length = MIN((size_t)data[0] | (size_t)data[1] << 8, kernel.size - 2);
	kernel.data += 2 + length;
	kernel.size -= 2 + length;
	*ret = length;
	return data + 2;
}

static void set_seq(uint8_t *data, size_t size)
{
	struct nlmsghdr *h = (struct nlmsghdr *)data;

	for (int rest = (int)size; nlmsg_ok(h, rest); h = nlmsg_next(h, &rest))
		h->nlmsg_seq = kernel.seq;
}

/* libnl frees the bytes. */
static int on_receive(_unused_ struct nl_sock *sock, struct sockaddr_nl *from, unsigned char **ret,
		      _unused_ struct ucred **creds)
{
	struct nlmsghdr done = { .nlmsg_len = NLMSG_LENGTH(sizeof(int)),
				 .nlmsg_type = NLMSG_DONE,
				 .nlmsg_seq = kernel.seq };
	const uint8_t *answer;
	size_t size = 0;

	*from = (struct sockaddr_nl){ .nl_family = AF_NETLINK };
	answer = kernel.is_over ? NULL : next_answer(&size);
	kernel.is_over = true;
	if (!answer || size < sizeof(struct nlmsghdr)) {
		*ret = calloc(1, NLMSG_SPACE(sizeof(int)));
		require(*ret != NULL);
		memcpy(*ret, &done, sizeof(done));
		return NLMSG_LENGTH(sizeof(int));
	}

	*ret = malloc(size);
	require(*ret != NULL);
	memcpy(*ret, answer, size);
	set_seq(*ret, size);
	return (int)size;
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
	size_t n = 0;

	if (link_list(nl, &list, &n) < 0)
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
	const uint8_t src[16] = { 10, 0, 0, 1 };
	uint32_t ifindex;
	size_t n = 0;

	route_list(nl, &list, &n);
	route_lookup(nl, AF_INET, src, src, 2, &ifindex);
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
	_cleanup_(freep) struct far_link *list = NULL;
	size_t n = 0;

	netns_list_links(nl, 1, -1, &list, &n);
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

/* One datagram of a socket that listens. */
static void try_events(_unused_ struct netlink *nl)
{
	_cleanup_(freep) void *buf = NULL;
	const uint8_t *datagram;
	size_t size;

	while ((datagram = next_answer(&size))) {
		buf = malloc(MAX(size, 1));
		require(buf != NULL);
		memcpy(buf, datagram, size);
		require(events_count(buf, (int)size) >= 0);
		free(TAKE(buf));
	}
}

/* The order is that of the seeds: tests/fuzz/make-seeds. */
static void (*const doors[])(struct netlink *nl) = {
	try_links,   try_addresses,  try_routes,    try_rules, try_neighbours, try_ibdevs, try_holders,
	try_netns_mode, try_far_links, try_vfs, try_devlink, try_smc, try_events,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Once closed after an error it cannot be opened: there is no such protocol. */
	_cleanup_(netlink_done) struct netlink nl = { .protocol = 31 };

	if (size == 0)
		return 0;
	kernel.data = data + 1;
	kernel.size = size - 1;
	open_kernel(&nl);
	doors[data[0] % ELEMENTSOF(doors)](&nl);
	return 0;
}
