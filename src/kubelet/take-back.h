/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet: takes back what kubelet-ensure did, as far as it is still ours: the part of "revert"
 * that is about files of the kubelet.
 */
#pragma once

#include "../os/fs.h"

/**
 * kubelet_revert() - put back what was there before our edits
 * @fs:      the node, or a folder
 * @on_done: called for each edit with its key and file. @is_back: it was taken back; else another
 *           program has changed the value since, or @left says why it still holds
 *
 * Only where the file still holds our value; a value that another program changed stays. The static
 * CPU policy stays while its state file does.
 *
 * Return: how many were left although they still hold, or -errno.
 */
int kubelet_revert(const struct fs *fs, void (*on_done)(const char *key, const char *path,
							bool is_back, const char *left));
