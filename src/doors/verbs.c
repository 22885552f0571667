/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

#include <infiniband/verbs.h>

static void device_listp(struct ibv_device ***list)
{
	if (*list)
		ibv_free_device_list(*list);
}

static int try_open(struct ibv_device *device)
{
	struct ibv_context *context;

	errno = 0;
	context = ibv_open_device(device);
	if (!context)
		return errno > 0 ? -errno : -EIO;

	ibv_close_device(context);
	return 0;
}

int verbs_try(const char *ibdev)
{
	_cleanup_(device_listp) struct ibv_device **list = NULL;
	int n = 0;

	errno = 0;
	list = ibv_get_device_list(&n);
	if (!list) /* ENOSYS: the kernel has no RDMA devices at all */
		return errno == 0 || errno == ENOSYS ? -ENODEV : -errno;

	for (int i = 0; i < n; i++)
		if (streq(ibv_get_device_name(list[i]), ibdev))
			return try_open(list[i]);

	return -ENODEV;
}
