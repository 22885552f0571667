/* SPDX-License-Identifier: Apache-2.0 */
#include "os.h"

#include <linux/netlink.h>

int os_open(const char *root, struct os *ret)
{
	struct os d = { .fs = { .root = -EBADF },
			.route = { .protocol = NETLINK_ROUTE },
			.rdma = { .protocol = NETLINK_RDMA },
			.generic = { .protocol = NETLINK_GENERIC },
			.socks = { .protocol = NETLINK_SOCK_DIAG } };
	int r = fs_open_root(root, &d.fs);

	if (r < 0)
		return r;

	/* The module indexes of an unknown tree may be made to crash libkmod. */
	d.modules.is_closed = !d.fs.is_live;
	*ret = d;
	return 0;
}

void os_close(struct os *d)
{
	modules_done(&d->modules);
	netlink_done(&d->route);
	netlink_done(&d->rdma);
	netlink_done(&d->generic);
	free(d->told);
	free(d->opened);
	netlink_done(&d->socks);
	fs_done(&d->fs);
}

bool os_is_incomplete(const struct os *d)
{
	return d->route.is_incomplete || d->rdma.is_incomplete || d->generic.is_incomplete ||
	       d->socks.is_incomplete;
}

bool os_has_node(const struct fs *fs)
{
	return fs_exists(fs, "sys/bus/pci") > 0 &&
	       (!fs->is_live || fs_exists(fs, "run/systemd/system") > 0);
}
