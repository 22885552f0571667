/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Program path: where the other programs of this package are.
 */
#pragma once

#include <limits.h>

/*
 * "rdma-provision" + @suffix in the folder of this program, as in a build, where that can be
 * executed; else @installed. @path: room for the answer.
 */
const char *program_path(const char *suffix, const char *installed, char path[static PATH_MAX]);
