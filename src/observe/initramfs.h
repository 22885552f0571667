/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Initramfs: does it hold a module, so that options on the root file system come too late for it?
 *
 * What is looked at, and what is not: an image is one or several cpio archives one after the other
 * (Documentation/driver-api/early-userspace/buffer-format.rst). The uncompressed ones, in which
 * some distributions keep all modules, are walked by name. For the compressed rest five libraries
 * would have to be linked into a service that never needs them again, so of that only the recipe
 * is asked: what the tool that makes the image is told to put in. The recipe can tell that a module
 * is in it, never that it is not: by default the tools also take whole classes of drivers.
 *
 * Recipes: initramfs-tools(7) modules; add_drivers and force_drivers of dracut.conf(5); and dracut
 * takes what modules-load.d names (modules.d/00systemd/module-setup.sh in dracut).
 */
#pragma once

#include "../doors/fs.h"
#include "../model/node.h"

enum initramfs_answer {
	INITRAMFS_NONE,    /* there is no image in /boot */
	INITRAMFS_HAS,     /* .where tells how that is known */
	INITRAMFS_HAS_NOT, /* each image was seen to its end */
	INITRAMFS_UNKNOWN,
};

struct initramfs {
	enum initramfs_answer answer;
	char where[320];     /* "/etc/initramfs-tools/modules:3", or the image itself */
	const char *command; /* what makes the images anew; NULL: neither tool is there */
};

/* @n: its options are used. Cannot fail: what cannot be read is not known. */
void observe_initramfs(const struct fs *fs, const struct node *n, const char *module,
		       struct initramfs *ret);
