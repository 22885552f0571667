/* SPDX-License-Identifier: Apache-2.0 */
#include "sock.h"

#include "../model/ip.h"
#include "nl.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>

#define MAX_BYTES (64u << 20) /* of a table: a row has some 150 bytes, of IPv6 more */

struct socks {
	struct sock *items; /* owned */
	size_t n;
	uint8_t protocol; /* of the table that is read */
};

static const struct {
	int family;
	uint8_t protocol;
	const char *path;
	bool is_always; /* without its file it is not known; else there is none */
} tables[] = {
	{ AF_INET, IPPROTO_TCP, "proc/net/tcp", true },
	{ AF_INET, IPPROTO_UDP, "proc/net/udp", true },
	{ AF_INET6, IPPROTO_TCP, "proc/net/tcp6", false },
	{ AF_INET6, IPPROTO_UDP, "proc/net/udp6", false },
	{ AF_INET, IPPROTO_RAW, "proc/net/raw", false },
	{ AF_INET6, IPPROTO_RAW, "proc/net/raw6", false },
	{ AF_INET, IPPROTO_SCTP, "proc/net/sctp/eps", false },
	{ AF_INET6, IPPROTO_SCTP, "proc/net/sctp/eps", false },
};

/* A socket of IPv6 may have addresses of IPv4: ::ffff:192.0.2.1 */
static void unmap(struct sock *s)
{
	if (s->family != AF_INET6 || !gid_is_ipv4(s->local))
		return;
	s->family = AF_INET;
	memmove(s->local, s->local + 12, 4);
	memset(s->local + 4, 0, 12);
	memmove(s->remote, s->remote + 12, 4);
	memset(s->remote + 4, 0, 12);
}

/* Return: 0, -ENOMEM or -E2BIG. */
static int add(struct socks *l, struct sock s, uint8_t state)
{
	unmap(&s);
	if (state == TCP_TIME_WAIT || (is_zero(s.local) && s.ifindex == 0) ||
	    ip_is_loopback(s.family, s.local) ||
	    (l->protocol == IPPROTO_RAW &&
	     (s.local_port == IPPROTO_ICMP || s.local_port == IPPROTO_ICMPV6)))
		return 0;
	if (l->n == SOCKS_MAX)
		return -E2BIG;
	s.protocol = l->protocol;
	s.is_listening = s.remote_port == 0;
	return ADD(l->items, l->n, s);
}

static int on_sock(struct nlmsghdr *h, void *userdata)
{
	const struct inet_diag_msg *m = nlmsg_data(h);
	const struct nlattr *locals, *peers;
	struct sock s = {};
	int r = 0;

	if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*m)))
		return -EBADMSG;
	s.family = m->idiag_family;
	s.ifindex = m->id.idiag_if;
	s.inode = m->idiag_inode;
	s.local_port = ntohs(m->id.idiag_sport);
	s.remote_port = ntohs(m->id.idiag_dport);
	memcpy(s.local, m->id.idiag_src, address_bytes(s.family));
	memcpy(s.remote, m->id.idiag_dst, address_bytes(s.family));
	locals = nlmsg_find_attr(h, sizeof(*m), INET_DIAG_LOCALS);
	peers = nlmsg_find_attr(h, sizeof(*m), INET_DIAG_PEERS);
	if (!locals)
		return add(userdata, s, m->idiag_state);

	/* SCTP has lists of struct sockaddr_storage. The message itself has the first address
	 * alone, nothing of IPv4 in a socket of IPv6, and the netdev by which an association
	 * leaves: inet_diag_msg_sctpasoc_fill() in net/sctp/diag.c */
	if (peers)
		get_sockaddr(nla_data(peers), (size_t)nla_len(peers), s.remote);
	if (s.remote_port > 0)
		s.ifindex = 0;
	for (int at = 0; at < nla_len(locals) && r >= 0; at += sizeof(struct sockaddr_storage)) {
		s.family = get_sockaddr((const char *)nla_data(locals) + at,
					(size_t)(nla_len(locals) - at), s.local);
		r = s.family ? add(userdata, s, m->idiag_state) : 0;
	}
	return r;
}

static int list_table(struct netlink *nl, int family, struct socks *l)
{
	const struct inet_diag_req_v2 q = {
		.sdiag_family = (uint8_t)family,
		.sdiag_protocol = l->protocol,
		.idiag_states = ~(1u << TCP_TIME_WAIT),
	};

	return netlink_list(nl, netlink_make(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &q, sizeof(q)),
			    on_sock, l, &l->n);
}

/* --- /proc --- */

/* "0200000A:0016", or four such words for IPv6: each is a number in the order of this machine. */
static bool parse_end(const char *text, int family, uint8_t ret[16], uint16_t *ret_port)
{
	const size_t n_words = address_bytes(family) / 4;

	if (strlen(text) != n_words * 8 + 5 || text[n_words * 8] != ':')
		return false;
	for (size_t i = 0; i < n_words; i++) {
		char digits[9] = "";
		uint32_t word;

		memcpy(digits, text + i * 8, 8);
		word = (uint32_t)strtoul(digits, NULL, 16);
		memcpy(ret + i * 4, &word, 4);
	}
	*ret_port = (uint16_t)strtoul(text + n_words * 8 + 1, NULL, 16);
	return true;
}

/* "sl local_address rem_address st queues timer retransmissions uid timeout inode ...": the first
 * row has these names. */
static int on_row(char *row, int family, struct socks *l)
{
	struct sock s = { .family = family };
	char *fields[10] = {}, *save = NULL;

	for (size_t i = 0; i < ELEMENTSOF(fields); i++)
		fields[i] = strtok_r(i == 0 ? row : NULL, " ", &save);
	if (!fields[3] || !parse_end(fields[1], family, s.local, &s.local_port) ||
	    !parse_end(fields[2], family, s.remote, &s.remote_port))
		return 0;
	s.inode = fields[9] ? strtoull(fields[9], NULL, 10) : 0;
	return add(l, s, (uint8_t)strtoul(fields[3], NULL, 16));
}

static int read_table(const struct fs *fs, const char *path, int family, struct socks *l)
{
	_cleanup_(freep) char *text = NULL;
	int r = fs_read_all(fs, path, MAX_BYTES, true, &text, NULL);

	if (r < 0)
		return r == -EFBIG ? -E2BIG : r;
	for (char *rest = text, *row; r >= 0 && (row = strsep(&rest, "\n"));)
		r = on_row(row, family, l);
	return r;
}

int sock_list(struct netlink *nl, const struct fs *fs, struct sock **ret, size_t *ret_n)
{
	_owns_(struct socks, items) l = {};
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(tables) && r >= 0; i++) {
		if (!tables[i].is_always && fs_exists(fs, tables[i].path) == 0)
			continue;
		l.protocol = tables[i].protocol;
		r = nl ? list_table(nl, tables[i].family, &l) : -ENOENT;
		if (r < 0 && r != -ENOMEM && r != -E2BIG)
			r = read_table(fs, tables[i].path, tables[i].family, &l);
	}
	return TAKE_LIST(r, l.items, l.n, ret, ret_n);
}
