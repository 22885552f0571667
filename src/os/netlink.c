/* SPDX-License-Identifier: Apache-2.0 */
#include "netlink.h"

#include "nl.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>

#define ANSWER_BYTES (32 * 1024)   /* the kernel fills no more than this into one part of a dump */
#define RETRY_USEC   USEC_PER_SEC  /* at a dump that changes while it is read */
#define PAUSE_USEC   USEC_PER_MSEC /* before the second try; each further pause is twice as long */

/* A request and its outcome. */
struct exchange {
	struct netlink *nl;
	uint32_t seq;
	int (*on_message)(struct nlmsghdr *h, void *userdata); /* NULL: only success matters */
	void *userdata;
	bool is_over, is_interrupted;
	int result;
};

CLEANUP(nl_socket_freep, struct nl_sock *, nl_socket_free);

void nlmsg_freep(struct nl_msg **m)
{
	nlmsg_free(*m);
}

/* All of these only make answers better, so a kernel without one of them is fine. */
static void set_options(int fd, int protocol)
{
	static const struct {
		int option, protocol; /* -1: any */
	} options[] = {
		{ NETLINK_EXT_ACK, -1 },
		{ NETLINK_CAP_ACK, -1 },
		{ NETLINK_GET_STRICT_CHK, NETLINK_ROUTE }, /* lets the kernel filter dumps */
	};

	for (size_t i = 0; i < ELEMENTSOF(options); i++)
		if (options[i].protocol < 0 || options[i].protocol == protocol)
			setsockopt(fd, SOL_NETLINK, options[i].option, &(int){ 1 }, sizeof(int));
}

/* Not nl_connect(), which turns errno into fewer codes of its own. */
int netlink_open(struct netlink *nl)
{
	_cleanup_(nl_socket_freep) struct nl_sock *sock = NULL;
	struct sockaddr_nl self = { .nl_family = AF_NETLINK };
	_cleanup_(closep) int fd = -EBADF;

	if (nl->sock)
		return 0;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, nl->protocol);
	if (fd < 0 || bind(fd, (struct sockaddr *)&self, sizeof(self)) < 0)
		return -errno;

	set_options(fd, nl->protocol);

	sock = nl_socket_alloc();
	if (!sock || nl_socket_set_msg_buf_size(sock, ANSWER_BYTES) < 0)
		return -ENOMEM;
	if (nl_socket_set_fd(sock, nl->protocol, fd) < 0)
		return -EIO;

	TAKE_FD(fd);
	nl_socket_enable_msg_peek(
		sock); /* a message may be larger than the buffer: one link, many VFs */
	nl->sock = TAKE(sock);
	return 0;
}

void netlink_done(struct netlink *nl)
{
	if (nl->sock) /* libnl may not be loaded */
		nl_socket_free(TAKE(nl->sock));
}

static void keep_words(struct netlink *nl, struct nlmsghdr *h)
{
	const struct nlmsgerr *e = nlmsg_data(h);
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];
	size_t before = sizeof(*e);

	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(h->nlmsg_flags & NLM_F_CAPPED)) /* then our request comes back first */
		before += NLMSG_ALIGN(e->msg.nlmsg_len) - NLMSG_HDRLEN;
	if (before > h->nlmsg_len || nlmsg_parse(h, before, tb, NLMSGERR_ATTR_MAX, NULL) < 0)
		return;
	if (tb[NLMSGERR_ATTR_MSG])
		nla_strlcpy(nl->error, tb[NLMSGERR_ATTR_MSG], sizeof(nl->error));
}

/* NLMSG_ERROR, which is also the ACK, and NLMSG_DONE begin with an int: 0 or a negative errno. */
static void finish(struct exchange *x, struct nlmsghdr *h)
{
	int error = 0;

	if (h->nlmsg_len >= NLMSG_LENGTH(sizeof(error)))
		memcpy(&error, nlmsg_data(h), sizeof(error));
	if (h->nlmsg_type == NLMSG_ERROR && h->nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr)))
		keep_words(x->nl, h);

	/* -ENOMEM is this process's own, and ends a look. */
	if (x->result >= 0 && error < 0)
		x->result = error == -ENOMEM ? -ENOBUFS : error;
	x->is_over = true;
}

/* Sees every message before libnl does, and leaves it nothing: NL_SKIP. */
static int on_in(struct nl_msg *m, void *userdata)
{
	struct exchange *x = userdata;
	struct nlmsghdr *h = nlmsg_hdr(m);

	if (nlmsg_get_src(m)->nl_pid != 0) /* not from the kernel */
		return NL_SKIP;
	if (h->nlmsg_seq != x->seq) /* not the answer to this */
		return NL_SKIP;

	if (h->nlmsg_flags & NLM_F_DUMP_INTR)
		x->is_interrupted = true;

	if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE)
		finish(x, h);
	else if (h->nlmsg_type >= NLMSG_MIN_TYPE && x->on_message && x->result >= 0)
		x->result = x->on_message(h, x->userdata);

	return NL_SKIP;
}

/* Reads to the end though the caller has had enough: a dump cut short would block the next one. */
static int receive(struct exchange *x)
{
	while (!x->is_over) {
		errno = 0;
		if (nl_recvmsgs_default(x->nl->sock) < 0)
			return errno > 0 ? -errno : -EIO;
	}

	return x->result < 0 ? x->result : x->is_interrupted;
}

/* Return: 0; 1: it was interrupted by a change; or -errno. */
static int dump(struct netlink *nl, struct nl_msg *m,
		int (*on_message)(struct nlmsghdr *h, void *userdata), void *userdata)
{
	struct exchange x = { .nl = nl, .on_message = on_message, .userdata = userdata };
	int r = netlink_open(nl);

	if (r < 0)
		return r;

	nl->error[0] = '\0';
	errno = 0;
	if (nl_send_auto(nl->sock, m) < 0) /* asks for an ACK as well */
		return errno > 0 ? -errno : -EIO;

	x.seq = nlmsg_hdr(m)->nlmsg_seq;
	nl_socket_modify_cb(nl->sock, NL_CB_MSG_IN, NL_CB_CUSTOM, on_in, &x);
	r = receive(&x);
	if (!x.is_over)
		netlink_done(nl); /* nobody knows what is still to come on this socket */
	return r;
}

int netlink_list(struct netlink *nl, struct nl_msg *m,
		 int (*on_message)(struct nlmsghdr *h, void *userdata), void *userdata, size_t *n)
{
	_cleanup_(nlmsg_freep) struct nl_msg *owned = m;
	const uint64_t deadline = now_usec() + RETRY_USEC;
	const size_t before = *n;
	int r = m ? dump(nl, owned, on_message, userdata) : -ENOMEM;

	/* There is no event that tells when the changes are over. */
	for (uint64_t pause = PAUSE_USEC; r > 0 && now_usec() + pause < deadline; pause *= 2) {
		usleep((useconds_t)pause);
		*n = before;
		nlmsg_hdr(owned)->nlmsg_seq = NL_AUTO_SEQ;
		r = dump(nl, owned, on_message, userdata);
	}
	nl->is_incomplete |= r > 0;
	return MIN(r, 0);
}

int netlink_dump(struct netlink *nl, struct nl_msg *m,
		 int (*on_message)(struct nlmsghdr *h, void *userdata), void *userdata)
{
	_cleanup_(nlmsg_freep) struct nl_msg *owned = m;
	int r = m ? dump(nl, owned, on_message, userdata) : -ENOMEM;

	return MIN(r, 0);
}

int netlink_ask(struct netlink *nl, struct nl_msg *m)
{
	return netlink_dump(nl, m, NULL, NULL);
}

static int on_family(struct nlmsghdr *h, void *userdata)
{
	static const struct nla_policy policy[CTRL_ATTR_MAX + 1] = {
		[CTRL_ATTR_FAMILY_ID] = { .type = NLA_U16 },
	};
	struct nlattr *tb[CTRL_ATTR_MAX + 1];
	uint16_t *family = userdata;

	if (genlmsg_parse(h, 0, tb, CTRL_ATTR_MAX, policy) < 0)
		return -EBADMSG;
	if (tb[CTRL_ATTR_FAMILY_ID])
		*family = nla_get_u16(tb[CTRL_ATTR_FAMILY_ID]);
	return 0;
}

struct nl_msg *netlink_make(int type, int flags, const void *header, size_t size)
{
	_cleanup_(nlmsg_freep) struct nl_msg *m = nlmsg_alloc_simple(type, flags);

	return m && nlmsg_append(m, (void *)header, size, NLMSG_ALIGNTO) >= 0 ? TAKE(m) : NULL;
}

struct nl_msg *netlink_request(uint16_t family, uint8_t command, uint8_t version, int flags)
{
	_cleanup_(nlmsg_freep) struct nl_msg *m = nlmsg_alloc();

	if (!m || !genlmsg_put(m, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, flags, command, version))
		return NULL;
	return TAKE(m);
}

struct nl_msg *netlink_put(struct nl_msg *m, int type, const void *data, size_t size)
{
	if (!m || nla_put(m, type, (int)size, data) >= 0)
		return m;
	nlmsg_free(m);
	return NULL;
}

int netlink_find_family(struct netlink *nl, const char *name, uint16_t *ret)
{
	struct nl_msg *m = netlink_request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, 0);
	uint16_t family = 0;
	int r;

	m = put_string(m, CTRL_ATTR_FAMILY_NAME, name);
	r = netlink_dump(nl, m, on_family, &family);
	if (r < 0)
		return r;
	if (family == 0)
		return -ENOENT;

	*ret = family;
	return 0;
}

int netlink_join(struct netlink *nl, int group)
{
	if (nl_socket_add_membership(nl->sock, group) < 0)
		return errno ? -errno : -EIO;
	return 0;
}

int netlink_fd(const struct netlink *nl)
{
	return nl_socket_get_fd(nl->sock);
}

/*
 * A socket that overran says so before it gives what it had until then, and takes nothing more
 * before that is read: netlink_overrun() and netlink_rcv_wake() in net/netlink/af_netlink.c. So
 * what was lost came after all that is there.
 */
int netlink_drain(struct netlink *nl, int (*count)(void *buf, int size, void *userdata),
		  void *userdata)
{
	char buf[ANSWER_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	bool is_lost = false;
	int n = 0;

	for (int i = 0; i < NETLINK_TURN_MAX || is_lost; i++) {
		ssize_t size = recv(netlink_fd(nl), buf, sizeof(buf), MSG_DONTWAIT);

		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0 && errno == EAGAIN)
			return is_lost ? -ENOBUFS : n;
		if (size < 0 && (errno != ENOBUFS || is_lost))
			return -errno;
		is_lost |= size < 0;
		n += size < 0 ? 0 : count(buf, (int)size, userdata);
	}
	return n;
}
