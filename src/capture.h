/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture: a look at the node with the recorder on, as an archive that --root accepts once
 * unpacked.
 *
 * Holds exactly what the stages read: files and links as they were read, and the answers of
 * netlink, libkmod and libibverbs (observe/answers.h). Empty GIDs are left out.
 */
#pragma once

#include "run.h"

/* Writes the archive to @fd. Return: 0 or -errno. */
int capture(struct doors *d, const char *config_file, int fd);
/* The same into a file, below the working directory and not below the root: as fs_replace(). */
int capture_file(struct doors *d, const char *config_file, const char *path);
