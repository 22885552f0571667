/* SPDX-License-Identifier: Apache-2.0 */
#include "metadata.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

/* A full queue of the socket is -EAGAIN: nobody else asks, so it is not waited for. */
static int open_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_(closep) int fd = -EBADF;

	if (!COPY(address.sun_path, path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

static int wait_for(int fd, uint64_t end_usec)
{
	const uint64_t now = now_usec();
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int r;

	if (now >= end_usec)
		return -ETIME;
	r = poll(&p, 1, (int)MIN((end_usec - now) / USEC_PER_MSEC + 1, (uint64_t)INT32_MAX));
	if (r < 0)
		return errno == EINTR ? 0 : -errno;
	return r == 0 ? -ETIME : 0;
}

/* All there is, until the other side closes. */
static int read_answer(int fd, uint64_t end_usec, char *ret, size_t size, size_t *ret_n)
{
	size_t n = 0;
	ssize_t got;
	int r;

	for (;;) {
		r = wait_for(fd, end_usec);
		if (r < 0)
			return r;
		got = read(fd, ret + n, size - n);
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (got == 0)
			break;
		n += got > 0 ? (size_t)got : 0;
		if (n == size)
			return -EBADMSG;
	}
	*ret_n = n;
	return 0;
}

int metadata_parse_answer(char *line, size_t n, struct metadata *ret)
{
	const char *known, *waiting, *refused;

	if (n == 0 || memchr(line, '\n', n) != line + n - 1 || memchr(line, '\0', n))
		return -EBADMSG;
	line[n - 1] = '\0';
	known = after(line, "known ");
	waiting = after(line, "waiting ");
	refused = after(line, "refused ");

	if (known)
		return metadata_parse(known, ret) < 0 ? -EBADMSG : 0;
	if (!waiting && !refused)
		return -EBADMSG;
	*ret = (struct metadata){ .state = waiting ? METADATA_WAITING : METADATA_REFUSED };
	COPY(ret->detail, waiting ? waiting : refused);
	make_printable(ret->detail);
	return 0;
}

int metadata_ask(const char *path, const char *mac, uint64_t deadline_usec, struct metadata *ret)
{
	const uint64_t end_usec = now_usec() + deadline_usec;
	char line[METADATA_LINE_LEN];
	_cleanup_(closep) int fd = -EBADF;
	struct metadata m = {};
	size_t n;
	int r;

	n = (size_t)snprintf(line, sizeof(line), "%s\n", mac);
	fd = open_socket(path);
	if (fd < 0)
		return fd;
	/* Fits into the buffer of any socket. */
	if (n >= sizeof(line) || send(fd, line, n, MSG_NOSIGNAL) != (ssize_t)n)
		return -EIO;

	r = read_answer(fd, end_usec, line, sizeof(line), &n);
	if (r >= 0)
		r = metadata_parse_answer(line, n, &m);
	if (r < 0)
		return r;
	COPY(m.mac, mac);
	*ret = m;
	return 0;
}
