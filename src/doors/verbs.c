/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

#include "library.h"

#include <infiniband/verbs.h>

/* The functions themselves, not the macros of their names: those would link the library. */
static struct {
	struct ibv_device **(*get_device_list)(int *n);
	void (*free_device_list)(struct ibv_device **list);
	const char *(*get_device_name)(struct ibv_device *device);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*close_device)(struct ibv_context *context);
	int (*query_port)(struct ibv_context *context, uint8_t port,
			  struct _compat_ibv_port_attr *ret); /* the fields of long ago */
} ibv; /* filled once, as the linker would have done */

static const struct library_call calls[] = {
	{ "ibv_get_device_list", (void **)&ibv.get_device_list },
	{ "ibv_free_device_list", (void **)&ibv.free_device_list },
	{ "ibv_get_device_name", (void **)&ibv.get_device_name },
	{ "ibv_open_device", (void **)&ibv.open_device },
	{ "ibv_close_device", (void **)&ibv.close_device },
	{ "ibv_query_port", (void **)&ibv.query_port },
};

static void device_listp(struct ibv_device ***list)
{
	if (*list)
		ibv.free_device_list(*list);
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

	if (ibv.query_port(context, 1, (struct _compat_ibv_port_attr *)&port) != 0 ||
	    (size_t)port.active_mtu >= ELEMENTSOF(bytes))
		return 0;
	return bytes[port.active_mtu];
}

static int try_open(struct ibv_device *device, uint32_t *ret_active_mtu)
{
	struct ibv_context *context;

	errno = 0;
	context = ibv.open_device(device);
	if (!context)
		return errno > 0 ? -errno : -EIO;

	*ret_active_mtu = active_mtu(context);
	ibv.close_device(context);
	return 0;
}

int verbs_try(const char *ibdev, uint32_t *ret_active_mtu)
{
	_cleanup_(device_listp) struct ibv_device **list = NULL;
	int n = 0, r;

	r = library_load("libibverbs.so.1", calls, ELEMENTSOF(calls));
	if (r < 0)
		return r;

	errno = 0;
	list = ibv.get_device_list(&n);
	if (!list) /* ENOSYS: the kernel has no RDMA devices at all */
		return errno == 0 || errno == ENOSYS ? -ENODEV : -errno;

	for (int i = 0; i < n; i++)
		if (streq(ibv.get_device_name(list[i]), ibdev))
			return try_open(list[i], ret_active_mtu);

	return -ENODEV;
}
