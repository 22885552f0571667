/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet: takes back what kubelet-ensure did, as far as it is still ours: the part of "revert"
 * that is about files of the kubelet.
 */
#pragma once

#include "doors/fs.h"

/**
 * kubelet_revert() - put back what was there before our edits
 * @fs:      the node, or a folder
 * @on_done: told of each edit: its key and file, whether it was taken back, or why it was left
 *
 * Only where the file still holds our value; what somebody else changed is his. The static CPU
 * policy stays while its state file does.
 *
 * Return: how many were left although they still hold, or -errno.
 */
int kubelet_revert(const struct fs *fs,
		   void (*on_done)(const char *key, const char *path, const char *left));
