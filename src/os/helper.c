/* SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"

#include "fs.h"

#include <linux/capability.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define TAKEN          '+' /* the first byte of each answer, before the work begins */
#define TAKE_USEC      (60 * USEC_PER_SEC)
#define FIRST_ROOM     4096
#define MAX_ANSWER     (32u << 20) /* users of a node with thousands of containers */
#define MAX_RESULT_LEN 16

bool helper_is_needed(int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	/* The C library has no function for it. */
	return syscall(SYS_capget, &header, data) < 0 ||
	       !(data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability));
}

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static int send_question(const char *path, const char *question, int end)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	union control control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
					      .cmsg_level = SOL_SOCKET,
					      .cmsg_type = SCM_RIGHTS } };
	struct iovec text = { .iov_base = (char *)question, .iov_len = strlen(question) };
	struct msghdr m = { .msg_name = &to,
			    .msg_namelen = sizeof(to),
			    .msg_iov = &text,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	_cleanup_(closep) int fd = -EBADF;

	if (!COPY(to.sun_path, path))
		return -ENAMETOOLONG;
	if (text.iov_len >= HELPER_QUESTION_LEN)
		return -EMSGSIZE;
	memcpy(CMSG_DATA(&control.header), &end, sizeof(end));
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (sendmsg(fd, &m, MSG_NOSIGNAL) >= 0)
		return 0;
	/* A full queue belongs to a helper that is stuck. */
	return errno == EAGAIN ? -ETIMEDOUT
	       : errno == ENOENT || errno == ECONNREFUSED || errno == EACCES || errno == EPERM
		       ? -EHOSTDOWN
		       : -errno;
}

/* Return: how much was read, 0 at the end, or -errno. */
static ssize_t read_some(int fd, uint64_t end_usec, char *ret, size_t size)
{
	ssize_t n;
	int r;

	for (;;) {
		r = fs_wait_readable(fd, end_usec);
		if (r <= 0)
			return r < 0 ? r : -ETIMEDOUT;
		n = recv(fd, ret, size, MSG_DONTWAIT);
		if (n >= 0)
			return n;
		if (errno == ECONNRESET) /* closed with something unread */
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
}

static int read_answer(int fd, uint64_t end_usec, char **ret)
{
	_cleanup_(freep) char *text = NULL;
	size_t n = 0, room = 0;
	ssize_t got;

	do {
		if (room - n < 2) {
			char *grown = realloc(text, room = room ? room * 2 : FIRST_ROOM);

			if (!grown)
				return -ENOMEM;
			text = grown;
		}
		got = read_some(fd, end_usec, text + n, room - n - 1);
		if (got < 0)
			return (int)got;
		n += (size_t)got;
		if (n > MAX_ANSWER)
			return -EBADMSG;
	} while (got > 0);

	text[n] = '\0';
	if (n == 0)
		return -EIO;
	if (strlen(text) != n)
		return -EBADMSG;
	*ret = TAKE(text);
	return 0;
}

/* "-16\n", and the text. */
static int parse_answer(const char *answer, char **ret_text)
{
	const char *text = strchr(answer, '\n');
	char *end;
	long result;

	if (!text || text - answer > MAX_RESULT_LEN)
		return -EBADMSG;
	result = strtol(answer, &end, 10);
	if (end != text || end == answer || result > INT_MAX || result < -4095)
		return -EBADMSG;
	if (ret_text) {
		*ret_text = strdup(text + 1);
		if (!*ret_text)
			return -ENOMEM;
	}
	return (int)result;
}

static int make_pair(int *ret_ours, int *ret_theirs)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	*ret_ours = ends[0];
	*ret_theirs = ends[1];
	return 0;
}

int helper_ask(const char *path, const char *question, uint64_t deadline_usec, char **ret_answer)
{
	const uint64_t begin_usec = now_usec();
	_cleanup_(closep) int ours = -EBADF, theirs = -EBADF;
	_cleanup_(freep) char *answer = NULL;
	ssize_t got;
	char taken;
	int r = make_pair(&ours, &theirs);

	if (r >= 0)
		r = send_question(path, question, theirs);
	if (r < 0)
		return r;
	close(TAKE_FD(theirs)); /* so that the helper's end is the last one */

	got = read_some(ours, begin_usec + MIN(deadline_usec, TAKE_USEC), &taken, 1);
	if (got <= 0)
		return got < 0 ? (int)got : -EIO;
	if (taken != TAKEN)
		return -EBADMSG;
	r = read_answer(ours, begin_usec + deadline_usec, &answer);
	return r < 0 ? r : parse_answer(answer, ret_answer);
}

int helper_wake(const char *path)
{
	_cleanup_(closep) int ours = -EBADF, theirs = -EBADF;
	int r = make_pair(&ours, &theirs);

	if (r < 0)
		return r;
	closep(&ours);
	ours = -EBADF;
	return send_question(path, "", theirs);
}

/* The other side */

/* The descriptor of a message that has just this one; -EBADF otherwise. */
static int descriptor_of(struct msghdr *m)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fd;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(sizeof(int)))
		return -EBADF;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* Has the asker hung up? Then nothing must be done for it: it has given up. */
static bool is_gone(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, 0) < 0 || p.revents & (POLLHUP | POLLERR | POLLNVAL);
}

int helper_take(int socket, struct helper_question *ret)
{
	union control control = {};
	struct iovec text = { .iov_base = ret->text, .iov_len = sizeof(ret->text) - 1 };
	/* Room for one descriptor: the kernel lets go of more. */
	struct msghdr m = { .msg_iov = &text,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = CMSG_LEN(sizeof(int)) };
	_cleanup_(closep) int fd = -EBADF;
	const char taken = TAKEN;
	struct ucred asker;
	socklen_t size = sizeof(asker);
	ssize_t n = recvmsg(socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0)
		return -errno;
	fd = descriptor_of(&m);
	ret->text[n] = '\0';
	if (fd < 0 || m.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || strlen(ret->text) != (size_t)n)
		return -EBADMSG;
	/* SO_PEERCRED names the process that made the socket pair. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &asker, &size) < 0)
		return -EBADMSG;
	if (is_gone(fd) || fs_write_all(fd, &taken, 1) < 0)
		return -ESRCH;

	ret->fd = TAKE_FD(fd);
	return 0;
}

int helper_answer(const struct helper_question *q, int result, const char *text)
{
	char line[MAX_RESULT_LEN];
	int r;

	PRINT(line, "%d\n", result);
	r = fs_write_all(q->fd, line, strlen(line));
	return r < 0 || !text ? r : fs_write_all(q->fd, text, strlen(text));
}

void helper_question_done(struct helper_question *q)
{
	closep(&q->fd);
	q->fd = -EBADF;
}
