/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into the program under test: functions and RDMA devices on a kernel that has veth ends
 * and no RDMA.
 *
 * NETLINK_RDMA is a socket pair here, and the answers are those of idle devices: /run/oracle/rdma
 * has a line "INDEX NAME NETDEV" for each. In the answers of NETLINK_ROUTE the links named in
 * /run/oracle/functions, lines "NETDEV MAC", look like those of a PCI driver: no kind of their own,
 * no link to the other end, and a permanent address. Nothing else of them is changed; what they are
 * ports of is told by the kernel. libibverbs can open each RDMA device.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_FDS 1024

static struct {
	int protocol; /* 0: not one of these sockets, or NETLINK_ROUTE + 1, or NETLINK_RDMA + 1 */
	int peer;     /* of NETLINK_RDMA: where answers are written */
} sockets[MAX_FDS];

static bool is_rdma(int fd)
{
	return fd >= 0 && fd < MAX_FDS && sockets[fd].protocol == NETLINK_RDMA + 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int socket(int domain, int type, int protocol)
{
	int pair[2], fd;

	if (domain != AF_NETLINK || protocol != NETLINK_RDMA) {
		fd = NEXT(socket)(domain, type, protocol);
		if (fd >= 0 && fd < MAX_FDS)
			sockets[fd].protocol = domain == AF_NETLINK && protocol == NETLINK_ROUTE;
		return fd;
	}
	if (socketpair(AF_UNIX, SOCK_DGRAM | (type & (SOCK_CLOEXEC | SOCK_NONBLOCK)), 0, pair) < 0)
		return -1;
	if (pair[0] >= MAX_FDS)
		abort();
	sockets[pair[0]].protocol = NETLINK_RDMA + 1;
	sockets[pair[0]].peer = pair[1];
	return pair[0];
}

int close(int fd)
{
	if (is_rdma(fd))
		NEXT(close)(sockets[fd].peer);
	if (fd >= 0 && fd < MAX_FDS)
		sockets[fd].protocol = 0;
	return NEXT(close)(fd);
}

int bind(int fd, const struct sockaddr *address, socklen_t len)
{
	return is_rdma(fd) ? 0 : NEXT(bind)(fd, address, len);
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	return is_rdma(fd) && level == SOL_NETLINK ? 0
						   : NEXT(setsockopt)(fd, level, name, value, len);
}

/* libnl asks for these before it takes a socket. */
int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	int answer = name == SO_PROTOCOL ? NETLINK_RDMA
		     : name == SO_DOMAIN ? AF_NETLINK
		     : name == SO_TYPE   ? SOCK_RAW
					 : -1;

	if (!is_rdma(fd) || level != SOL_SOCKET || answer < 0)
		return NEXT(getsockopt)(fd, level, name, value, len);
	memcpy(value, &answer, sizeof(answer));
	return 0;
}

int getsockname(int fd, struct sockaddr *address, socklen_t *len)
{
	struct sockaddr_nl self = { .nl_family = AF_NETLINK, .nl_pid = (uint32_t)getpid() };

	if (!is_rdma(fd))
		return NEXT(getsockname)(fd, address, len);
	memcpy(address, &self, sizeof(self));
	*len = sizeof(self);
	return 0;
}

/* --- answers of RDMA netlink --- */

struct message {
	struct nlmsghdr head;
	char data[4000];
};

static void *end_of(struct message *m)
{
	return (char *)m + NLMSG_ALIGN(m->head.nlmsg_len);
}

static struct nlattr *put(struct message *m, int type, const void *data, size_t size)
{
	struct nlattr *a = end_of(m);

	a->nla_type = (uint16_t)type;
	a->nla_len = (uint16_t)(NLA_HDRLEN + size);
	if (size > 0)
		memcpy((char *)a + NLA_HDRLEN, data, size);
	m->head.nlmsg_len = NLMSG_ALIGN(m->head.nlmsg_len) + NLA_ALIGN(a->nla_len);
	return a;
}

static void put_u32(struct message *m, int type, uint32_t value)
{
	put(m, type, &value, sizeof(value));
}

static void put_u8(struct message *m, int type, uint8_t value)
{
	put(m, type, &value, sizeof(value));
}

static void put_text(struct message *m, int type, const char *text)
{
	put(m, type, text, strlen(text) + 1);
}

static void end_nest(struct message *m, struct nlattr *nest)
{
	nest->nla_len = (uint16_t)((char *)end_of(m) - (char *)nest);
	nest->nla_type |= NLA_F_NESTED;
}

struct request {
	const struct nlmsghdr *head;
	int peer, command;
	uint32_t index; /* UINT32_MAX: all */
};

static void answer(const struct request *q, struct message *m)
{
	m->head.nlmsg_seq = q->head->nlmsg_seq;
	if (write(q->peer, m, m->head.nlmsg_len) < 0)
		abort();
}

static struct message start(const struct request *q)
{
	return (struct message){
		.head = { .nlmsg_len = NLMSG_HDRLEN,
			  .nlmsg_type = q->head->nlmsg_type,
			  .nlmsg_flags = q->head->nlmsg_flags & NLM_F_DUMP ? NLM_F_MULTI : 0 }
	};
}

static void finish(const struct request *q, int error)
{
	struct message m = { .head = { .nlmsg_len = NLMSG_HDRLEN } };
	struct nlmsgerr e = { .error = error, .msg = *q->head };

	if (error == 0 && (q->head->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) {
		m.head.nlmsg_type = NLMSG_DONE;
		m.head.nlmsg_flags = NLM_F_MULTI;
		m.head.nlmsg_len += sizeof(int);
	} else {
		m.head.nlmsg_type = NLMSG_ERROR;
		m.head.nlmsg_flags = NLM_F_CAPPED;
		memcpy(m.data, &e, sizeof(e));
		m.head.nlmsg_len += sizeof(e);
	}
	answer(q, &m);
}

static void put_summary(struct message *m)
{
	static const struct {
		const char *name;
		uint64_t n;
	} idle[] = { { "pd", 2 },    { "cq", 3 }, { "qp", 2 },
		     { "cm_id", 0 }, { "mr", 0 }, { "ctx", 0 } };
	struct nlattr *table = put(m, RDMA_NLDEV_ATTR_RES_SUMMARY, NULL, 0), *entry;

	for (size_t i = 0; i < sizeof(idle) / sizeof(*idle); i++) {
		entry = put(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, NULL, 0);
		put_text(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, idle[i].name);
		put(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, &idle[i].n, sizeof(uint64_t));
		end_nest(m, entry);
	}
	end_nest(m, table);
}

static void put_kernel_pds(struct message *m)
{
	static const char *const owners[] = { "ib_core", "mlx5_ib" };
	struct nlattr *table = put(m, RDMA_NLDEV_ATTR_RES_PD, NULL, 0), *entry;

	for (size_t i = 0; i < 2; i++) {
		entry = put(m, RDMA_NLDEV_ATTR_RES_PD_ENTRY, NULL, 0);
		put_u32(m, RDMA_NLDEV_ATTR_RES_PDN, (uint32_t)i + 1);
		put_text(m, RDMA_NLDEV_ATTR_RES_KERN_NAME, owners[i]);
		end_nest(m, entry);
	}
	end_nest(m, table);
}

static void answer_device(const struct request *q, uint32_t index, const char *name,
			  const char *netdev)
{
	struct message m = start(q);

	put_u32(&m, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	put_text(&m, RDMA_NLDEV_ATTR_DEV_NAME, name);
	switch (q->command) {
	case RDMA_NLDEV_CMD_GET:
		put_u32(&m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
		put_u8(&m, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, 1);
		put_text(&m, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
		break;
	case RDMA_NLDEV_CMD_PORT_GET:
		put_u32(&m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
		put_u8(&m, RDMA_NLDEV_ATTR_PORT_STATE, 4);
		put_u8(&m, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, 5);
		put_text(&m, RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
		break;
	case RDMA_NLDEV_CMD_RES_GET:
		put_summary(&m);
		break;
	case RDMA_NLDEV_CMD_RES_PD_GET:
		put_kernel_pds(&m);
		break;
	default:
		return; /* a table without entries */
	}
	answer(q, &m);
}

static uint32_t index_of(const struct nlmsghdr *h)
{
	size_t at = NLMSG_HDRLEN;

	while (at + NLA_HDRLEN <= h->nlmsg_len) {
		const struct nlattr *a = (const void *)((const char *)h + at);
		uint32_t index;

		if (a->nla_type == RDMA_NLDEV_ATTR_DEV_INDEX && a->nla_len == NLA_HDRLEN + 4) {
			memcpy(&index, a + 1, sizeof(index));
			return index;
		}
		if (a->nla_len < NLA_HDRLEN)
			break;
		at += NLA_ALIGN(a->nla_len);
	}
	return UINT32_MAX;
}

static void answer_system(const struct request *q)
{
	struct message m = start(q);

	put_u8(&m, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1);
	answer(q, &m);
	finish(q, 0);
}

static void answer_request(int fd, const struct nlmsghdr *h)
{
	struct request q = { h, sockets[fd].peer, h->nlmsg_type & 0x3ff, index_of(h) };
	char name[64], netdev[64];
	bool is_known = q.index == UINT32_MAX;
	uint32_t index;
	FILE *f;

	if (q.command == RDMA_NLDEV_CMD_SYS_GET) {
		answer_system(&q);
		return;
	}
	f = fopen("/run/oracle/rdma", "re");
	while (f && fscanf(f, "%u %63s %63s", &index, name, netdev) == 3)
		if (q.index == UINT32_MAX || q.index == index) {
			answer_device(&q, index, name, netdev);
			is_known = true;
		}
	if (f)
		fclose(f);
	finish(&q, is_known ? 0 : -EINVAL);
}

static ssize_t take(int fd, const struct iovec *iov, size_t n)
{
	char data[8192] __attribute__((aligned(8)));
	size_t size = 0;

	for (size_t i = 0; i < n; i++) {
		if (size + iov[i].iov_len > sizeof(data))
			abort();
		memcpy(data + size, iov[i].iov_base, iov[i].iov_len);
		size += iov[i].iov_len;
	}
	answer_request(fd, (struct nlmsghdr *)data);
	return (ssize_t)size;
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	return is_rdma(fd) ? take(fd, m->msg_iov, m->msg_iovlen) : NEXT(sendmsg)(fd, m, flags);
}

ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to,
	       socklen_t len)
{
	struct iovec iov = { (void *)data, size };

	return is_rdma(fd) ? take(fd, &iov, 1) : NEXT(sendto)(fd, data, size, flags, to, len);
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	struct iovec iov = { (void *)data, size };

	return is_rdma(fd) ? take(fd, &iov, 1) : NEXT(send)(fd, data, size, flags);
}

/* --- functions in the answers of rtnetlink --- */

static bool find_function(const char *name, uint8_t mac[6])
{
	char line[64];
	bool found = false;
	FILE *f = fopen("/run/oracle/functions", "re");

	while (f && !found &&
	       fscanf(f, "%63s %2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx", line, &mac[0], &mac[1],
		      &mac[2], &mac[3], &mac[4], &mac[5]) == 7)
		found = strcmp(line, name) == 0;
	if (f)
		fclose(f);
	return found;
}

static struct nlattr *next_attr(struct nlattr *a)
{
	return (void *)((char *)a + NLA_ALIGN(a->nla_len));
}

#define FOR_EACH(a, first, end)                                                                    \
	for (struct nlattr *a = (first);                                                           \
	     (char *)a + NLA_HDRLEN <= (char *)(end) && a->nla_len >= NLA_HDRLEN;                  \
	     a = next_attr(a))

/* Type 0 is ignored by all readers. */
static void hide_kind(struct nlattr *info)
{
	FOR_EACH(a, info + 1, (char *)info + info->nla_len)
	if (a->nla_type == IFLA_INFO_KIND || a->nla_type == IFLA_INFO_DATA)
		a->nla_type = 0;
}

/* IFLA_STATS has room for the permanent address. */
static void make_perm_address(struct nlattr *stats, const uint8_t mac[6])
{
	const uint16_t whole = (uint16_t)NLA_ALIGN(stats->nla_len);
	struct nlattr *rest;

	stats->nla_type = IFLA_PERM_ADDRESS;
	stats->nla_len = NLA_HDRLEN + 6;
	memcpy(stats + 1, mac, 6);
	rest = next_attr(stats);
	rest->nla_type = 0;
	rest->nla_len = (uint16_t)(whole - NLA_ALIGN(NLA_HDRLEN + 6));
}

static void change_link(struct nlmsghdr *h)
{
	struct nlattr *first = (void *)((char *)h + NLMSG_SPACE(sizeof(struct ifinfomsg)));
	char *end = (char *)h + h->nlmsg_len;
	uint8_t mac[6];
	bool is_function = false;

	FOR_EACH(a, first, end)
	if (a->nla_type == IFLA_IFNAME)
		is_function = find_function((char *)(a + 1), mac);
	if (!is_function)
		return;

	FOR_EACH(a, first, end)
	switch (a->nla_type & NLA_TYPE_MASK) {
	case IFLA_LINKINFO:
		hide_kind(a);
		break;
	case IFLA_LINK:
	case IFLA_LINK_NETNSID:
		a->nla_type = 0;
		break;
	case IFLA_STATS:
		make_perm_address(a, mac);
		break;
	}
}

static void change_links(char *data, size_t size)
{
	size_t at = 0;

	while (at + NLMSG_HDRLEN <= size) {
		struct nlmsghdr *h = (void *)(data + at);

		if (h->nlmsg_len < NLMSG_HDRLEN || at + h->nlmsg_len > size)
			break;
		if (h->nlmsg_type == RTM_NEWLINK)
			change_link(h);
		at += NLMSG_ALIGN(h->nlmsg_len);
	}
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	ssize_t n = NEXT(recvmsg)(fd, m, flags);

	if (n > 0 && is_rdma(fd) && m->msg_name) {
		memcpy(m->msg_name, &kernel, sizeof(kernel));
		m->msg_namelen = sizeof(kernel);
	}
	if (n > 0 && fd < MAX_FDS && sockets[fd].protocol == NETLINK_ROUTE + 1)
		change_links(m->msg_iov[0].iov_base,
			     (size_t)n < m->msg_iov[0].iov_len ? (size_t)n : m->msg_iov[0].iov_len);
	return n;
}

/* --- libibverbs --- */

struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **list = calloc(64, sizeof(*list));
	FILE *f = fopen("/run/oracle/rdma", "re");
	char name[64];

	for (*n = 0; list && f && *n < 63 && fscanf(f, "%*u %63s %*s", name) == 1; (*n)++) {
		list[*n] = calloc(1, sizeof(**list));
		if (!list[*n])
			abort();
		memcpy(list[*n]->name, name, sizeof(name));
	}
	if (f)
		fclose(f);
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	for (size_t i = 0; list[i]; i++)
		free(list[i]);
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context = calloc(1, sizeof(*context));

	if (context)
		context->device = device;
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	free(context);
	return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t number,
		   struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr port = { .state = IBV_PORT_ACTIVE, .active_mtu = IBV_MTU_1024 };

	(void)context;
	(void)number;
	memcpy(compat, &port, offsetof(struct ibv_port_attr, port_cap_flags2));
	return 0;
}
