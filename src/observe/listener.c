/* SPDX-License-Identifier: Apache-2.0 */
#include "listener.h"

#include "../base/log.h"

#include <fcntl.h>

#define MAX_RESERVED_BYTES (512u << 10) /* all ports, one by one */
#define MAX_LISTENERS      16384
#define FIRST_PORT         1024
#define ROCE_V2_PORT       4791
#define TCP_LISTEN         "0A" /* include/net/tcp_states.h */
#define N_PORTS            65536

static const struct {
	const char *name;
	bool is_udp;
} tables[] = { { "tcp", false }, { "tcp6", false }, { "udp", true }, { "udp6", true } };

/* What is being read of one namespace. */
struct reader {
	struct node *n;
	struct sockets *sockets;
	uint64_t netns;               /* 0: ours */
	bool is_udp;                  /* of this table */
	uint8_t seen[2][N_PORTS / 8]; /* ports of TCP and UDP that are in the list */
};

void sockets_done(struct sockets *s)
{
	free(s->items);
	*s = (struct sockets){};
}

static int add_listener(struct reader *rd, uint16_t port, uint64_t inode)
{
	uint8_t *seen = &rd->seen[rd->is_udp][port / 8], bit = (uint8_t)(1u << port % 8);
	struct socket_of *socket;
	struct listener *l;

	if (*seen & bit)
		return 0;
	if (rd->n->n_listeners >= MAX_LISTENERS)
		return -ENOSPC;
	*seen |= bit;

	l = APPEND(rd->n->listeners, rd->n->n_listeners);
	socket = APPEND(rd->sockets->items, rd->sockets->n);
	if (!l || !socket)
		return -ENOMEM;
	l->is_udp = rd->is_udp;
	l->port = port;
	l->netns = rd->netns;
	socket->inode = inode;
	socket->listener = rd->n->n_listeners - 1;
	return 0;
}

/*
 * "sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode": get_tcp4_sock() in
 * net/ipv4/tcp_ipv4.c. Return: 1 when no more of interest can follow: those that listen come first.
 */
static int on_row(struct reader *rd, char *row)
{
	const char *fields[10] = {}, *port;
	unsigned long number;
	char *rest = row, *field;
	size_t n = 0;

	while (n < ELEMENTSOF(fields) && (field = strsep(&rest, " \t")))
		if (*field)
			fields[n++] = field;
	if (n < ELEMENTSOF(fields) || !(port = strrchr(fields[1], ':')))
		return 0; /* the title */
	if (!rd->is_udp && !streq(fields[3], TCP_LISTEN))
		return 1;

	number = strtoul(port + 1, NULL, 16);
	if (rd->is_udp ? number != ROCE_V2_PORT : number < FIRST_PORT || number >= N_PORTS)
		return 0;
	return add_listener(rd, (uint16_t)number, strtoull(fields[9], NULL, 10));
}

/* Row by row, so that the connections of a busy node are not read. */
static int read_table(const struct fs *fs, const char *path, struct reader *rd)
{
	_cleanup_(closep) int fd = -EBADF;
	char buf[16384];
	size_t have = 0;
	int r = 0;

	fd = fs_open(fs, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;

	while (r == 0) {
		ssize_t n = read(fd, buf + have, sizeof(buf) - 1 - have);
		char *row = buf, *end;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		have += (size_t)n;
		buf[have] = '\0';

		while (r == 0 && (end = strchr(row, '\n'))) {
			*end = '\0';
			r = on_row(rd, row);
			row = end + 1;
		}
		have -= (size_t)(row - buf);
		memmove(buf, row, have);
		if (have == sizeof(buf) - 1) /* no row is that long */
			return -EBADMSG;
	}
	return r;
}

/* Of the namespace that @process is in. Return: as of the first table. */
static int read_tables(const struct fs *fs, const char *process, struct reader *rd)
{
	char path[64];
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(tables); i++) {
		snprintf(path, sizeof(path), "proc/%s/net/%s", process, tables[i].name);
		rd->is_udp = tables[i].is_udp;
		r = read_table(fs, path, rd);
		if (r == -ENOMEM || r == -ENOSPC || (r < 0 && i == 0))
			return r; /* IPv6 may be off, IPv4 never is */
	}
	return 0;
}

static int read_namespace(const struct fs *fs, const struct processes *p, const struct netns *ns,
			  struct reader *rd)
{
	char process[16];
	int r;

	snprintf(process, sizeof(process), "%" PRIu32, ns->pid);
	r = read_tables(fs, process, rd);
	/* That one is gone: another one may still be there. */
	for (size_t i = 0; i < p->n && r < 0 && r != -ENOMEM && r != -ENOSPC; i++) {
		if (p->items[i].netns != ns->inode || p->items[i].pid == ns->pid)
			continue;
		snprintf(process, sizeof(process), "%" PRIu32, p->items[i].pid);
		r = read_tables(fs, process, rd);
	}
	return r;
}

static int compare_socket(const void *a, const void *b)
{
	const struct socket_of *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static void read_local_ports(const struct fs *fs, uint16_t ret[static 2])
{
	unsigned long first, last;
	char text[64], *end;

	if (fs_read(fs, "proc/sys/net/ipv4/ip_local_port_range", text, sizeof(text)) < 0)
		return;
	first = strtoul(text, &end, 10);
	last = strtoul(end, NULL, 10);
	if (first == 0 || last < first || last >= N_PORTS)
		return;
	ret[0] = (uint16_t)first;
	ret[1] = (uint16_t)last;
}

/* What has no room is left out, in whole ranges: half a range is another one. */
static int read_reserved_ports(const struct fs *fs, char *ret, size_t size)
{
	_cleanup_(freep) char *text = NULL;
	size_t length;
	char *comma;
	int r;

	ret[0] = '\0';
	r = fs_read_all(fs, "proc/sys/net/ipv4/ip_local_reserved_ports", MAX_RESERVED_BYTES, false,
			&text, &length);
	if (r < 0)
		return r == -ENOMEM ? r : 0;

	text[strcspn(text, "\n")] = '\0';
	if (!copy(ret, size, text)) {
		comma = strrchr(ret, ',');
		*(comma ? comma : ret) = '\0';
	}
	make_printable(ret);
	return 0;
}

int observe_listeners(const struct fs *fs, const struct processes *p, struct node *n,
		      struct sockets *ret)
{
	_cleanup_(sockets_done) struct sockets sockets = {};
	_cleanup_(freep) struct reader *rd = NULL;
	int r;

	read_local_ports(fs, n->local_ports);
	r = read_reserved_ports(fs, n->reserved_ports, sizeof(n->reserved_ports));
	if (r < 0)
		return r;
	rd = calloc(1, sizeof(*rd));
	if (!rd)
		return -ENOMEM;
	rd->n = n;
	rd->sockets = &sockets;

	r = read_tables(fs, "self", rd);
	for (size_t i = 0; i < n->n_netnses && r != -ENOMEM && r != -ENOSPC; i++) {
		if (n->netnses[i].pid == 0)
			continue;
		rd->netns = n->netnses[i].inode;
		memset(rd->seen, 0, sizeof(rd->seen));
		r = read_namespace(fs, p, &n->netnses[i], rd);
	}
	if (r == -ENOMEM)
		return r;
	if (r == -ENOSPC)
		log_warning("More than %d ports are taken, not all are looked at", MAX_LISTENERS);

	if (sockets.n > 0)
		qsort(sockets.items, sockets.n, sizeof(*sockets.items), compare_socket);
	*ret = sockets;
	sockets = (struct sockets){};
	return 0;
}

void listeners_claim(const struct fs *fs, const struct sockets *s, const struct process *p,
		     uint64_t inode, struct node *n)
{
	const struct socket_of key = { .inode = inode };
	const struct socket_of *found;
	struct listener *l;

	found = s->n > 0 ? bsearch(&key, s->items, s->n, sizeof(key), compare_socket) : NULL;
	if (!found)
		return;

	/* Shared by several: the one that was there first, which mostly is the parent. */
	l = &n->listeners[found->listener];
	if (l->pid != 0)
		return;
	l->pid = p->pid;
	COPY(l->command, p->command);
	process_container(fs, p->pid, l->container, sizeof(l->container));
}

static int compare_listener(const void *a, const void *b)
{
	const struct listener *x = a, *y = b;

	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	if (x->is_udp != y->is_udp)
		return x->is_udp - y->is_udp;
	return (x->netns > y->netns) - (x->netns < y->netns);
}

void listeners_sort(struct node *n)
{
	if (n->n_listeners > 0)
		qsort(n->listeners, n->n_listeners, sizeof(*n->listeners), compare_listener);
}
