/* SPDX-License-Identifier: Apache-2.0 */
#include "ibverbs.h"

#include <infiniband/verbs.h>

static void device_listp(struct ibv_device ***list)
{
	if (*list)
		ibv_free_device_list(*list);
}

/* What the port does with packets: RoCE takes the largest MTU of InfiniBand that fits the netdev's.
 */
static uint32_t active_mtu(struct ibv_context *context)
{
	static const uint32_t bytes[] = { [IBV_MTU_256] = 256,
					  [IBV_MTU_512] = 512,
					  [IBV_MTU_1024] = 1024,
					  [IBV_MTU_2048] = 2048,
					  [IBV_MTU_4096] = 4096 };
	struct ibv_port_attr port = {};

	if (ibv_query_port(context, 1, &port) != 0 || (size_t)port.active_mtu >= ELEMENTSOF(bytes))
		return 0;
	return bytes[port.active_mtu];
}

static int try_open(struct ibv_device *device, uint32_t *ret_active_mtu)
{
	struct ibv_context *context;

	errno = 0;
	context = ibv_open_device(device);
	if (!context)
		return errno > 0 ? -errno : -EIO;

	*ret_active_mtu = active_mtu(context);
	ibv_close_device(context);
	return 0;
}

int ibverbs_try(const char *ibdev, uint32_t *ret_active_mtu)
{
	_cleanup_(device_listp) struct ibv_device **list = NULL;
	int n = 0;

	errno = 0;
	list = ibv_get_device_list(&n);
	if (!list) /* ENOSYS: the kernel has no RDMA devices at all */
		return errno == 0 || errno == ENOSYS ? -ENODEV : -errno;

	for (int i = 0; i < n; i++)
		if (streq(ibv_get_device_name(list[i]), ibdev))
			return try_open(list[i], ret_active_mtu);

	return -ENODEV;
}
