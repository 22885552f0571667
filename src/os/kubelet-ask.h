/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet ask: what there is to know of the kubelet. Its files are read by a program of its own,
 * rdma-provision-kubelet, which each look runs.
 */
#pragma once

#include "../model/config.h"
#include "../model/kubelet-report.h"
#include "fs.h"

/*
 * The verb "look" prints chunks: a line "KIND BYTES-OF-PATH BYTES", the path, and so many bytes.
 * KIND is an enum record_kind, for the recorder of @fs; KUBELET_CHUNK_REPORT; or -errno, why there
 * is none.
 */
#define KUBELET_CHUNK        "%d %zu %zu\n"
#define KUBELET_CHUNK_REPORT (RECORD_FOLDER + 1)

/* Return: 0 or -errno: the program tells nothing. @asked: for these policies. */
int kubelet_ask(const struct fs *fs, const struct config *asked, struct kubelet_report *ret);
