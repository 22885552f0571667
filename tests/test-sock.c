/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netlink/handlers.h>
#include <netlink/socket.h>

#include "../src/os/sock.h"
#include "netns.h"
#include "skip.h"
#include "tree.h"

static struct netlink route = { .protocol = NETLINK_ROUTE };

/* "tcp 192.0.2.1:179>0.0.0.0:0 dev 0 listens" */
static void put(const struct sock *s, char *ret, size_t size)
{
	static const char *const names[IPPROTO_RAW + 1] = { [IPPROTO_TCP] = "tcp",
							    [IPPROTO_UDP] = "udp",
							    [IPPROTO_SCTP] = "sctp",
							    [IPPROTO_RAW] = "raw" };
	char local[INET6_ADDRSTRLEN], remote[INET6_ADDRSTRLEN];

	inet_ntop(s->family, s->local, local, sizeof(local));
	inet_ntop(s->family, s->remote, remote, sizeof(remote));
	snprintf(ret, size, "%s %s:%u>%s:%u dev %u%s", names[s->protocol], local, s->local_port,
		 remote, s->remote_port, s->ifindex, s->is_listening ? " listens" : "");
}

static bool has(const struct sock *socks, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++) {
		char is[160];

		put(&socks[i], is, sizeof(is));
		if (streq(is, text))
			return true;
	}
	return false;
}

#define TITLE "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n"
#define REST  " 00000000:00000000 00:00000000 00000000     0        0 12345 1 0\n"
#define EPS                                                                                        \
	" ENDPT     SOCK   STY SST HBKT LPORT   UID INODE LADDRS\n"                                \
	"       0        0 2   10  29   38412     0 12345 10.30.2.2 \n"

static void rows_of_proc_are_read(_unused_ void **state)
{
	_cleanup_(freep) struct sock *socks = NULL;
	struct tree t;
	size_t n;

	tree_make(&t);
	tree_file(&t, "proc/net/tcp",
		  TITLE "   0: 0100007F:0277 00000000:0000 0A" REST /* loopback */
			"   1: 00000000:0016 00000000:0000 0A" REST /* any address */
			"   2: 02021E0A:0CBC 00000000:0000 0A" REST
			"   3: 02021E0A:02BC 09091E0A:0801 01" REST
			"   4: 02021E0A:02BD 09091E0A:0801 06" REST /* TIME_WAIT */
			"   5: cut\n");
	tree_file(&t, "proc/net/udp", TITLE "  12: 02021E0A:0044 00000000:0000 07" REST);
	assert_int_equal(sock_list(NULL, &t.fs, &socks, &n), 0); /* without IPv6 */
	assert_int_equal(n, 3);
	free(TAKE(socks));

	tree_file(&t, "proc/net/tcp6",
		  TITLE "   0: 0000000000000000FFFF000002021E0A:280A "
			"0000000000000000FFFF000009091E0A:9C40 01" REST
			"   1: 00000000000000000000000001000000:0277 "
			"00000000000000000000000000000000:0000 0A" REST);
	tree_file(&t, "proc/net/udp6",
		  TITLE "   0: 000000FD000000000000000002000000:007B "
			"00000000000000000000000000000000:0000 07" REST);
	tree_file(&t, "proc/net/raw",
		  TITLE "   1: 02021E0A:0001 00000000:0000 07" REST /* ICMP */
			"  89: 02021E0A:0059 00000000:0000 07" REST);
	tree_file(&t, "proc/net/raw6",
		  TITLE "  58: 000000FD000000000000000002000000:003A "
			"00000000000000000000000000000000:0000 07" REST);
	tree_file(&t, "proc/net/sctp/eps", EPS);
	assert_int_equal(sock_list(NULL, &t.fs, &socks, &n), 0);
	assert_int_equal(n, 6);
	assert_true(has(socks, n, "raw 10.30.2.2:89>0.0.0.0:0 dev 0 listens"));
	assert_true(has(socks, n, "tcp 10.30.2.2:3260>0.0.0.0:0 dev 0 listens"));
	assert_true(has(socks, n, "tcp 10.30.2.2:700>10.30.9.9:2049 dev 0"));
	assert_true(has(socks, n, "tcp 10.30.2.2:10250>10.30.9.9:40000 dev 0"));
	assert_true(has(socks, n, "udp 10.30.2.2:68>0.0.0.0:0 dev 0 listens"));
	assert_true(has(socks, n, "udp fd00::2:123>:::0 dev 0 listens"));
	tree_remove(&t);
}

static void without_tables_nothing_is_known(_unused_ void **state)
{
	struct sock *socks = NULL;
	struct tree t;
	size_t n = 0;

	tree_make(&t);
	assert_int_equal(sock_list(NULL, &t.fs, &socks, &n), -ENOENT);
	tree_file(&t, "proc/net/tcp", TITLE);
	assert_int_equal(sock_list(NULL, &t.fs, &socks, &n), -ENOENT);
	assert_null(socks);
	tree_remove(&t);
}

/* The kernel of the next test, which has one association of SCTP and no other socket. */
static struct {
	uint32_t seq;
	bool has_told;
} kernel;

static int on_send(_unused_ struct nl_sock *sock, struct nl_msg *m)
{
	const struct inet_diag_req_v2 *q = nlmsg_data(nlmsg_hdr(m));

	kernel.seq = nlmsg_hdr(m)->nlmsg_seq;
	kernel.has_told = q->sdiag_protocol != IPPROTO_SCTP || q->sdiag_family != AF_INET6;
	return (int)nlmsg_hdr(m)->nlmsg_len;
}

static void add_ends(struct nl_msg *m, int type, const char *one, const char *other)
{
	struct sockaddr_storage list[2] = {};

	for (size_t i = 0; i < ELEMENTSOF(list); i++) {
		struct sockaddr_in *a = (struct sockaddr_in *)&list[i];

		a->sin_family = AF_INET;
		assert_int_equal(inet_pton(AF_INET, i == 0 ? one : other, &a->sin_addr), 1);
	}
	assert_int_equal(nla_put(m, type, sizeof(list), list), 0);
}

/* libnl frees the bytes. */
static int on_receive(_unused_ struct nl_sock *sock, struct sockaddr_nl *from, unsigned char **ret,
		      _unused_ struct ucred **creds)
{
	const struct inet_diag_msg i = {
		.idiag_family = AF_INET6,
		.id = { .idiag_sport = htons(38412), .idiag_dport = htons(5000), .idiag_if = 7 }
	};
	struct nl_msg *m =
		nlmsg_alloc_simple(kernel.has_told ? NLMSG_DONE : SOCK_DIAG_BY_FAMILY, 0);
	const int size_of_done = sizeof(int);
	int size;

	assert_int_equal(nlmsg_append(m, (void *)&i, kernel.has_told ? size_of_done : sizeof(i),
				      NLMSG_ALIGNTO),
			 0);
	if (!kernel.has_told) {
		add_ends(m, INET_DIAG_LOCALS, "10.30.2.2", "10.30.3.2");
		add_ends(m, INET_DIAG_PEERS, "10.30.2.9", "10.30.3.9");
	}
	nlmsg_hdr(m)->nlmsg_seq = kernel.seq;
	size = (int)nlmsg_hdr(m)->nlmsg_len;
	*ret = malloc((size_t)size);
	memcpy(*ret, nlmsg_hdr(m), (size_t)size);
	nlmsg_free(m);
	kernel.has_told = true;
	*from = (struct sockaddr_nl){ .nl_family = AF_NETLINK };
	return size;
}

/* An association has several addresses, of IPv4 also in a socket of IPv6. */
static void all_addresses_of_sctp_are_listed(_unused_ void **state)
{
	struct netlink nl = { .sock = nl_socket_alloc() };
	struct nl_cb *cb = nl_socket_get_cb(nl.sock);
	struct sock *socks = NULL;
	struct tree t;
	size_t n;

	nl_cb_overwrite_send(cb, on_send);
	nl_cb_overwrite_recv(cb, on_receive);
	nl_cb_put(cb);
	tree_make(&t);
	assert_int_equal(sock_list(&nl, &t.fs, &socks, &n), 0);
	assert_int_equal(n, 0); /* asked for, it would load sctp */
	tree_file(&t, "proc/net/sctp/eps", EPS);
	assert_int_equal(sock_list(&nl, &t.fs, &socks, &n), 0);
	assert_int_equal(n, 2);
	assert_true(has(socks, n, "sctp 10.30.2.2:38412>10.30.2.9:5000 dev 0"));
	assert_true(has(socks, n, "sctp 10.30.3.2:38412>10.30.2.9:5000 dev 0"));
	free(socks);
	netlink_done(&nl);
	tree_remove(&t);
}

/* Bound and, when it is of TCP, listening; @port: of RAW the protocol; @device: NULL, or what it is
 * bound to. */
static int open_socket(int family, int type, const char *local, uint16_t port, const char *device)
{
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in a4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(family, type | SOCK_CLOEXEC, type == SOCK_RAW ? port : 0), r;

	assert_int_equal(
		inet_pton(family, local,
			  family == AF_INET ? (void *)&a4.sin_addr : (void *)&a6.sin6_addr),
		1);
	if (device)
		assert_int_equal(
			setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, strlen(device)), 0);
	r = family == AF_INET ? bind(fd, (struct sockaddr *)&a4, sizeof(a4))
			      : bind(fd, (struct sockaddr *)&a6, sizeof(a6));
	assert_int_equal(r, 0);
	if (type == SOCK_STREAM)
		assert_int_equal(listen(fd, 1), 0);
	return fd;
}

/* From a socket of IPv6, as kubelet and others accept connections of IPv4. */
static int connect_mapped(const char *local, const char *to, uint16_t port)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6 };
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_int_equal(inet_pton(AF_INET6, local, &a.sin6_addr), 1);
	a.sin6_port = htons(700);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(inet_pton(AF_INET6, to, &a.sin6_addr), 1);
	a.sin6_port = htons(port);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void sockets_of_this_namespace_are_listed(_unused_ void **state)
{
	const struct netns_address address = { .local = "192.0.2.1", .prefix_len = 24 },
				   address6 = { .local = "2001:db8::1",
						.prefix_len = 64,
						.flags = IFA_F_NODAD };
	const uint32_t one = if_nametoindex("one");
	struct netlink nl = { .protocol = NETLINK_SOCK_DIAG };
	_cleanup_(freep) struct sock *socks = NULL;
	struct fs running = {};
	struct tree empty;
	char bound[64];
	int fds[9], r;
	size_t n = 0;

	assert_int_equal(netns_up(&route, if_nametoindex("lo")), 0);
	assert_int_equal(netns_up(&route, one), 0);
	assert_int_equal(netns_up(&route, if_nametoindex("two")), 0);
	assert_int_equal(netns_add_address(&route, one, &address), 0);
	assert_int_equal(netns_add_address(&route, one, &address6), 0);
	fds[0] = open_socket(AF_INET, SOCK_STREAM, "192.0.2.1", 3260, NULL);
	fds[1] = open_socket(AF_INET, SOCK_STREAM, "0.0.0.0", 22, NULL);
	fds[2] = open_socket(AF_INET, SOCK_DGRAM, "192.0.2.1", 123, NULL);
	fds[3] = open_socket(AF_INET, SOCK_DGRAM, "0.0.0.0", 68, "one");
	fds[4] = open_socket(AF_INET6, SOCK_STREAM, "2001:db8::1", 3260, NULL);
	fds[5] = open_socket(AF_INET, SOCK_STREAM, "127.0.0.1", 10248, NULL);
	fds[6] = connect_mapped("::ffff:192.0.2.1", "::ffff:192.0.2.9", 2049);

	fds[7] = open_socket(AF_INET, SOCK_RAW, "192.0.2.1", IPPROTO_GRE, NULL);
	fds[8] = open_socket(AF_INET6, SOCK_RAW, "::", IPPROTO_ICMPV6, "one"); /* networkd */

	tree_make(&empty);
	r = sock_list(&nl, &empty.fs, &socks, &n);
	tree_remove(&empty);
	free(TAKE(socks));
	assert_int_equal(fs_open_root(NULL, &running), 0);
	if (r >= 0)
		r = sock_list(&nl, &running, &socks, &n);
	fs_done(&running);
	netlink_done(&nl);
	for (size_t i = 0; i < ELEMENTSOF(fds); i++)
		close(fds[i]);
	if (r == -ENOENT || r == -EPROTONOSUPPORT)
		skip_without("inet_diag in this kernel");
	assert_int_equal(r, 0);
	assert_int_equal(n, 6);
	assert_true(has(socks, n, "raw 192.0.2.1:47>0.0.0.0:0 dev 0 listens"));
	assert_true(has(socks, n, "tcp 192.0.2.1:3260>0.0.0.0:0 dev 0 listens"));
	assert_true(has(socks, n, "udp 192.0.2.1:123>0.0.0.0:0 dev 0 listens"));
	assert_true(has(socks, n, "tcp 2001:db8::1:3260>:::0 dev 0 listens"));
	assert_true(has(socks, n, "udp 192.0.2.1:700>192.0.2.9:2049 dev 0"));
	snprintf(bound, sizeof(bound), "udp 0.0.0.0:68>0.0.0.0:0 dev %u listens", one);
	assert_true(has(socks, n, bound));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_proc_are_read),
		cmocka_unit_test(without_tables_nothing_is_known),
		cmocka_unit_test(all_addresses_of_sctp_are_listed),
		cmocka_unit_test(sockets_of_this_namespace_are_listed),
	};
	int r = netns_begin(&route, "one", "two");

	if (r == 0)
		r = cmocka_run_group_tests_name("sock", tests, NULL, NULL);
	netlink_done(&route);
	return r;
}
