/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture: a look at the node with the recorder on, as an archive that --root accepts once
 * unpacked.
 *
 * Holds what the stages read and nothing else: files of the kernel and our own as they were read,
 * but for the comments of the configuration, files of others made from the keys that were
 * understood, links, and the answers of netlink, libkmod and libibverbs (os/snapshot.h). Empty GIDs
 * are left out.
 */
#pragma once

#include "../pass/loop.h"

/*
 * Writes the archive to @fd. Return: 0; 1: it lacks something of the node that could not be read,
 * which is logged; or -errno.
 */
int capture(struct os *d, const char *config_file, int fd);
/*
 * Captures into a file, below the working directory and not below the root: as fs_replace(). A path
 * that is no file is not replaced but written into: standard output by any of its names, a FIFO, a
 * character device. -ELOOP: another link; -EMEDIUMTYPE: a block device or a socket.
 */
int capture_file(struct os *d, const char *config_file, const char *path);
