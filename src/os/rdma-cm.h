/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rdma-cm: what rdma_cm gives connections of an RDMA device, by its folders in configfs.
 *
 * The folder of a device shows what is so anyway: it is there once it is made, and keeps nothing.
 * Attributes are "ports/N/default_roce_tos" and "ports/N/default_roce_mode"; the device keeps them
 * until it goes. Source: drivers/infiniband/core/cma_configfs.c
 */
#pragma once

#include "fs.h"

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
