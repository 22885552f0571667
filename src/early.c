/* SPDX-License-Identifier: Apache-2.0 */
#include "early.h"

#include "base/log.h"
#include "doors/rdma.h"
#include "model/paths.h"

/* netns_mode: drivers/infiniband/core/device.c: true is shared. */
static int write_options(const struct fs *fs, enum netns_mode mode)
{
	char text[128];
	int r;

	if (mode == NETNS_MODE_KEEP)
		return fs_remove(fs, MODPROBE_PATH);

	snprintf(text, sizeof(text),
		 "# Written by rdma-provision-early.service: [RDMA] NetnsMode=\n"
		 "options ib_core netns_mode=%d\n",
		 mode == NETNS_MODE_SHARED);
	r = fs_replace(fs, MODPROBE_PATH, text, strlen(text), 0644);
	return r < 0 ? r : 0;
}

static int set_mode(struct doors *d, enum netns_mode mode)
{
	enum netns_mode now;
	int r;

	/* Opening the socket loads ib_core, with the option just written. */
	r = netlink_open(&d->rdma);
	if (r == -EPROTONOSUPPORT) /* a kernel without RDMA, or its module is not installed */
		return 0;
	if (r >= 0)
		r = rdma_get_netns_mode(&d->rdma, &now);
	if (r < 0 || now == mode)
		return r;

	r = rdma_set_netns_mode(&d->rdma, mode);
	if (r >= 0)
		log_notice("node: set-netns-mode %s -> %s", netns_mode_name(now),
			   netns_mode_name(mode));
	return r;
}

int early(struct doors *d, const struct config *c)
{
	int r;

	r = write_options(&d->fs, c->rdma.netns_mode);
	if (r < 0)
		return log_error_errno(r, "/" MODPROBE_PATH);
	if (c->rdma.netns_mode == NETNS_MODE_KEEP)
		return 0;

	r = set_mode(d, c->rdma.netns_mode);
	return r < 0 ? log_error_errno(r, "The RDMA netns mode cannot be set") : 0;
}
