/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rdma: the RDMA subsystem over netlink (NETLINK_RDMA, "nldev").
 *
 * Opening that socket loads ib_core and so fixes the netns mode given in modprobe.d
 * (MODULE_ALIAS_NET_PF_PROTO in drivers/infiniband/core/netlink.c): the caller looks for
 * /sys/class/infiniband first.
 */
#pragma once

#include "../model/node.h"
#include "fs.h"
#include "netlink.h"

/*
 * Lists the ibdevs, sorted by name, with what netlink alone tells of each: name, index, is_smi,
 * n_contexts ("ctx" of RES_GET, UINT32_MAX when the kernel does not tell), n_cm_ids ("cm_id" of it)
 * and the netdev of port 1 when it is in the caller's namespace. Return: 0 or -errno.
 */
int rdma_list(struct netlink *nl, struct ibdev **ret, size_t *ret_n);

struct rdma_ibdevs {
	struct ibdev *ibdevs; /* owned */
	size_t n;
};
/* Adds the ibdev of one message: for rdma_list() and its test. Return: 0, -EBADMSG or -ENOMEM. */
int rdma_on_ibdev(struct nlmsghdr *h, void *userdata);

/*
 * Reads the current name of the ibdev with this index. Udev gives an ibdev another name after its
 * driver was bound, and the kernel gives the first name to the next device: assign_name() and
 * alloc_name() in drivers/infiniband/core/device.c. Opens the socket, for the device is there.
 * -ENODEV: the device is gone, or not visible here.
 */
int rdma_read_name(struct netlink *nl, uint32_t index, char *ret, size_t size);

/* A process, or a part of the kernel, that holds resources of one kind on one ibdev. */
struct rdma_holder {
	uint32_t pid;    /* 0: of the kernel, or a process that is gone or not ours to see */
	char kernel[32]; /* RES_KERN_NAME: "ib_core", "smc"; empty: of a process */
	uint32_t n;      /* how many */
};

enum rdma_resource {
	RDMA_CONTEXTS, /* open uverbs contexts; -EOPNOTSUPP of Linux 5.10 and older */
	RDMA_PDS,
	RDMA_CM_IDS, /* but for those that listen on all addresses */
};

/*
 * The holders of one kind of resource of the ibdev with this index, each once.
 * Return: 0; -ENODEV it is gone; -EOPNOTSUPP, the kernel has no such list; or -errno.
 * Source: res_get_common_dumpit() and fill_res_name_pid() in drivers/infiniband/core/nldev.c
 */
int rdma_list_holders(struct netlink *nl, uint32_t index, enum rdma_resource what,
		      struct rdma_holder **ret, size_t *ret_n);

struct rdma_holders {
	struct rdma_holder *holders; /* owned */
	size_t n;
	enum rdma_resource what;
};
/*
 * Adds the holders in one message to @userdata: for rdma_list_holders() and the test of what it
 * makes of malformed messages. Return: 0, -EBADMSG or -ENOMEM.
 */
int rdma_on_holders(struct nlmsghdr *h, void *userdata);

/* NETNS_MODE_SHARED or _EXCLUSIVE. -EOPNOTSUPP, -EINVAL: a kernel that has no such mode. */
int rdma_get_netns_mode(struct netlink *nl, enum netns_mode *ret);

/*
 * -EBUSY: another network namespace exists.
 * Source: rdma_compatdev_set() in drivers/infiniband/core/device.c
 */
int rdma_set_netns_mode(struct netlink *nl, enum netns_mode mode);

/*
 * rdma_cm has a folder for each RDMA device in configfs: it shows the defaults of connections, and
 * keeps nothing. Attributes are "ports/N/default_roce_tos" and "ports/N/default_roce_mode"; the
 * device keeps them until it goes. Source: drivers/infiniband/core/cma_configfs.c
 */
#define RDMA_CM_FOLDER "sys/kernel/config/rdma_cm"

/* -ENOENT: its folder is not there. -EPERM: no such attribute. */
int rdma_cm_read(const struct fs *fs, const char *ibdev, const char *attribute, char *ret,
		 size_t size);

/* Makes the folder. -ENODEV: there is no such device. Live roots only. */
int rdma_cm_open(const struct fs *fs, const char *ibdev);
int rdma_cm_set(const struct fs *fs, const char *ibdev, const char *attribute, const char *value);
/* Removes the folder; 0 when it is not there. */
int rdma_cm_close(const struct fs *fs, const char *ibdev);
/*
 * Removes the folders of names that no device has any more, as after udev has renamed one: a folder
 * keeps its name, and each read of it is ENODEV (cma_configfs_params_get() looks for the name). 0
 * without rdma_cm.
 */
int rdma_cm_close_left(const struct fs *fs);
