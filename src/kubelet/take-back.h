/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet: takes back what kubelet-ensure did, as far as it is still ours, for "revert".
 */
#pragma once

#include "../os/fs.h"

/**
 * kubelet_revert() - put back what was there before our edits
 * @fs: the node, or a folder
 *
 * Only where the file still holds our value; a value that another program changed stays. The static
 * CPU policy stays while its state file does. A line in the log tells what became of each edit.
 *
 * Return: how many were left although they still hold, or -errno.
 */
int kubelet_revert(const struct fs *fs);
