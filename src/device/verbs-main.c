/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that has libibverbs: os/verbs-ask.h asks it, and nobody else does.
 *
 *   rdma-provision-verbs try IBDEV...     a line for each: "RESULT MTU"
 *
 * RESULT is 0 or -errno. The program is killed when the process that started it ends, because a
 * driver may never return from an open.
 */
#include "../base/log.h"
#include "../base/util.h"

#include <infiniband/verbs.h>
#include <signal.h>
#include <sys/prctl.h>

CLEANUP(device_listp, struct ibv_device **, ibv_free_device_list);

/* The MTU of the port: RoCE takes the largest MTU of InfiniBand that fits the netdev's. */
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

static void try_all(char **names)
{
	_cleanup_(device_listp) struct ibv_device **list = NULL;
	int n = 0, no_list = 0;

	errno = 0;
	list = ibv_get_device_list(&n);
	if (!list) /* ENOSYS: the kernel has no RDMA devices at all */
		no_list = errno == 0 || errno == ENOSYS ? -ENODEV : -errno;

	for (; *names; names++) {
		uint32_t mtu = 0;
		int i = 0, r = no_list;

		while (r == 0 && i < n && !streq(ibv_get_device_name(list[i]), *names))
			i++;
		if (r == 0)
			r = i < n ? try_open(list[i], &mtu) : -ENODEV;
		printf("%d %" PRIu32 "\n", r, mtu);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	if (standard_open() < 0)
		return EXIT_FAILURE;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* it cannot fail with a valid signal */
	if (argc < 3 || !streq(argv[1], "try")) {
		fprintf(stderr, "usage: rdma-provision-verbs try IBDEV...\n");
		return EXIT_FAILURE;
	}
	try_all(argv + 2);
	return fflush(stdout) == EOF ? EXIT_FAILURE : EXIT_SUCCESS;
}
