/* SPDX-License-Identifier: Apache-2.0 */
#include "port.h"

#include <fcntl.h>

#define MAX_RESERVED_BYTES (512u << 10) /* all ports, one by one */
#define MAX_LISTENING      16384
#define TCP_LISTEN         "0A" /* include/net/tcp_states.h */
#define N_PORTS            65536

/*
 * "sl local_address rem_address st ...": get_tcp4_sock() in net/ipv4/tcp_ipv4.c.
 * Return: 0, -ENOMEM, or 1 when no more of interest can follow: sockets that listen come first.
 */
static int on_row(char *row, struct node *n)
{
	const char *fields[4] = {}, *port;
	unsigned long number;
	size_t n_fields = 0;
	uint16_t *slot;
	char *field;

	while (n_fields < ELEMENTSOF(fields) && (field = strsep(&row, " ")))
		if (*field)
			fields[n_fields++] = field;
	if (n_fields < ELEMENTSOF(fields) || !(port = strrchr(fields[1], ':')))
		return 0; /* the title */
	if (!streq(fields[3], TCP_LISTEN) || n->n_listening >= MAX_LISTENING)
		return 1;

	number = strtoul(port + 1, NULL, 16);
	if (number >= N_PORTS)
		return 0;
	slot = APPEND(n->listening, n->n_listening);
	if (!slot)
		return -ENOMEM;
	*slot = (uint16_t)number;
	return 0;
}

/* Row by row, so that the connections of a busy node are not read. Without IPv6 there is no tcp6.
 */
static int read_table(const struct fs *fs, const char *path, struct node *n)
{
	_cleanup_(closep) int fd = -EBADF;
	_cleanup_(freep) char *row = NULL;
	size_t size = 0;
	int r = 0;
	FILE *f;

	fd = fs_open(fs, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd == -ENOMEM ? fd : 0;
	f = fdopen(fd, "r");
	if (!f)
		return -ENOMEM;
	(void)TAKE_FD(fd); /* f has it now */

	while (r == 0 && getline(&row, &size, f) >= 0)
		r = on_row(row, n);
	fclose(f);
	return r < 0 ? r : 0;
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

int observe_ports(const struct fs *fs, struct node *n)
{
	struct fs quiet = *fs;
	int r;

	quiet.on_read = NULL; /* the ports are recorded, not the connections of the node */
	read_local_ports(&quiet, n->local_ports);
	r = read_reserved_ports(&quiet, n->reserved_ports, sizeof(n->reserved_ports));
	if (r < 0)
		return r;
	r = read_table(&quiet, "proc/self/net/tcp", n);
	return r < 0 ? r : read_table(&quiet, "proc/self/net/tcp6", n);
}
