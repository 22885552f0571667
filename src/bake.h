/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bake: the module options of a configuration into an image, for drivers that are loaded before
 * rdma-provision-early.service can write them: by the initramfs.
 */
#pragma once

#include "model/config.h"
#include "os/os.h"

/*
 * Writes /etc/modprobe.d/zz-rdma-provision.conf below the root, as "early" would write it to /run;
 * or removes it, when nothing is asked for. Mode=auto depends on the machine that boots, so
 * nothing is written for it. Then tells in the log what is contrary to it, with file and line, and
 * how an initramfs is rebuilt.
 *
 * Return: 0; -EEXIST when a file of that name is not ours; or another -errno of the file.
 */
int bake(struct os *d, const struct config *c);

/* Removes that file again; the same errors, none when there is none. */
int bake_undo(struct os *d);
