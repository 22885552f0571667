/* SPDX-License-Identifier: Apache-2.0 */
#include "hand-over.h"

#include <assert.h>
#include <sys/mman.h>

#ifndef MFD_NOEXEC_SEAL /* Linux 6.3 */
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/* What the file begins with. */
struct build {
	char name[32];
	size_t sizes[4];
};

static const struct build build = {
	"rdma-provision " PROJECT_VERSION,
	{ sizeof(struct hand_over), sizeof(struct config), sizeof(struct device_config),
	  sizeof(struct link_log) },
};

/* @r: an error of before, after which nothing more is written or read. */
static int put(int fd, int r, const void *bytes, size_t size)
{
	ssize_t n;

	if (r < 0)
		return r;
	n = write(fd, bytes, size);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -ENOSPC;
}

static int take(int fd, int r, void *ret, size_t size)
{
	ssize_t n;

	if (r < 0)
		return r;
	n = read(fd, ret, size);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EBADMSG;
}

/* Where vm.memfd_noexec= is 2, one that could be executed is refused. */
static int open_memory(void)
{
	int fd = memfd_create("pass", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("pass", MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int put_device(int fd, int r, const struct device_config *d)
{
	const size_t size = d->match ? strlen(d->match) : 0;

	r = put(fd, r, d, sizeof(*d));
	if (!d->match)
		return r;
	r = put(fd, r, &size, sizeof(size));
	return put(fd, r, d->match, size);
}

int hand_over_write(const struct hand_over *h)
{
	_cleanup_(closep) int fd = open_memory();
	const struct config *c = h->pass.config;
	int r = 0;

	assert(!h->pass.make_plan);
	if (fd < 0)
		return fd;
	r = put(fd, r, &build, sizeof(build));
	r = put(fd, r, h, sizeof(*h));
	r = put(fd, r, c, sizeof(*c));
	for (size_t i = 0; i < c->n_devices; i++)
		r = put_device(fd, r, &c->devices[i]);
	if (h->pass.link_log)
		r = put(fd, r, h->pass.link_log, sizeof(*h->pass.link_log));
	if (r >= 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	return r < 0 ? r : TAKE_FD(fd);
}

static int take_match(int fd, char **ret)
{
	_cleanup_(freep) char *match = NULL;
	size_t size = 0;
	int r;

	r = take(fd, 0, &size, sizeof(size));
	if (r < 0)
		return r;
	match = calloc(1, size + 1);
	if (!match)
		return -ENOMEM;
	r = take(fd, 0, match, size);
	if (r >= 0)
		*ret = TAKE(match);
	return r;
}

static int take_device(int fd, struct config *c)
{
	struct device_config *d = APPEND(c->devices, c->n_devices);
	bool has_match;
	int r;

	if (!d)
		return -ENOMEM;
	r = take(fd, 0, d, sizeof(*d));
	has_match = d->match;
	d->match = NULL; /* it was the address in the other process */
	return r < 0 || !has_match ? r : take_match(fd, &d->match);
}

static int take_config(int fd, struct config *ret)
{
	struct config c = {};
	int r = take(fd, 0, &c, sizeof(c));

	if (r < 0)
		return r;
	*ret = c;
	ret->devices = NULL;
	ret->n_devices = 0;
	while (r >= 0 && ret->n_devices < c.n_devices)
		r = take_device(fd, ret);
	return r;
}

/* What of the other process would be an address is set again or is none. */
static int take_all(int fd, struct hand_over *h)
{
	struct build theirs = {};
	struct hand_over told = {};
	char more;
	int r;

	r = take(fd, 0, &theirs, sizeof(theirs));
	if (r >= 0 && memcmp(&theirs, &build, sizeof(build)) != 0)
		r = -EBADMSG;
	r = take(fd, r, &told, sizeof(told));
	if (r < 0)
		return r;

	h->config = calloc(1, sizeof(*h->config));
	if (told.pass.link_log)
		h->link_log = malloc(sizeof(*h->link_log));
	if (!h->config || (told.pass.link_log && !h->link_log))
		return -ENOMEM;
	r = take_config(fd, h->config);
	if (h->link_log)
		r = take(fd, r, h->link_log, sizeof(*h->link_log));
	if (r >= 0 && read(fd, &more, 1) != 0)
		r = -EBADMSG;

	told.config = h->config;
	told.link_log = h->link_log;
	told.pass.config = h->config;
	told.pass.link_log = h->link_log;
	*h = told;
	return r;
}

int hand_over_read(int fd, struct hand_over *ret)
{
	struct hand_over h = {};
	int r = take_all(fd, &h);

	if (r < 0)
		hand_over_done(&h);
	else
		*ret = h;
	return r;
}

void hand_over_done(struct hand_over *h)
{
	if (h->config)
		config_done(h->config);
	free(h->config);
	free(h->link_log);
}
