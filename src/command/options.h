/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: the verbs "early" and "bake", which write files of ours in modprobe.d, through loop.h.
 */
#pragma once

#include "../model/config.h"
#include "../os/os.h"

/*
 * Puts the module options of a configuration into an image, for drivers that are loaded before
 * rdma-provision-early.service can write them: by the initramfs.
 *
 * Writes /etc/modprobe.d/zz-rdma-provision.conf below the root, as "early" would write it to /run;
 * or removes it, when nothing is asked for. Mode=auto depends on the machine that boots, so
 * nothing is written for it. Then tells in the log what is contrary to it, with file and line, and
 * how an initramfs is rebuilt. Forgets earlier boots, and in an image all: they are of the machine
 * that it was made on.
 *
 * Return: 0; -EEXIST when a file of that name is not ours; or another -errno of the file.
 */
int bake(struct os *d, const struct config *c);

/* Removes the file of bake(); the same errors, none when there is no file. */
int bake_undo(struct os *d);

/*
 * Early is the part that must precede sysinit.target, before any driver is loaded and any other
 * network namespace exists. Needs nothing below /var and writes only below /run/modprobe.d.
 *
 * Writes the options that give erdma and ib_core the mode that is asked for at their first load,
 * whether a device is there or not, and removes them when nothing is asked for. "auto" follows from
 * the PCI functions and modules there are now, and from compat_mode=Y of another file. A module
 * that is loaded already, from the initramfs, gets a line in the log and is left to the service;
 * but the netns mode is set by netlink, which is opened for nothing else.
 *
 * A file baked into /etc hides ours of the same name in /run. When it says something else, because
 * the configuration has changed since, a second one in /run, which comes after both, has the
 * options. With nothing asked for, the baked file is left as it is: "bake --undo" removes it.
 *
 * A failure stops nothing that follows: without a driver mode the netns mode is still set.
 * Return: 0, or the -errno of what failed.
 */
int early(struct os *d, const struct config *c);
