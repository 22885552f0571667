/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet: edits the topology manager policy in a kubelet's configuration file.
 *
 * The only writer of kubelet files. Whether something is to be edited is the plan's business.
 */
#pragma once

#include "../doors/fs.h"
#include "../model/node.h"

/**
 * kubelet_edit() - one scalar, and every other byte as it was
 * @fs:     the node, or a folder: there files are edited just the same
 * @path:   absolute below the root; a symbolic link to the file stays one
 * @policy: the new value
 *
 * The file keeps owner, mode and SELinux label. It is replaced by a temporary
 * ".NAME.rdma-provision.tmp" beside it.
 *
 * Return: 0; -EAGAIN when somebody else wrote the file meanwhile; what kubelet_is_refusal() knows;
 * or -ENOMEM, -ENOSPC, -EIO. The old file is still whole then.
 */
int kubelet_edit(const struct fs *fs, const char *path, const char *policy);

/* Is this error a property of the file (bind mount, read-only, not understood), not a fault of
 * ours? */
bool kubelet_is_refusal(int r);

/* One edit at a time. Return: a descriptor that holds the lock until it is closed, or -errno. */
int kubelet_lock(const struct fs *fs);
