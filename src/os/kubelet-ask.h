/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet ask: what there is to know of the kubelet. Its files are read by a program of its own,
 * rdma-provision-kubelet, which keeps its report in KUBELET_REPORT_PATH: after each kubelet-ensure
 * and after each look of a pass. The program is run again where that report is not good any more.
 */
#pragma once

#include "../model/kubelet-report.h"
#include "fs.h"

/*
 * The verb "look" prints chunks: a line "KIND BYTES-OF-PATH BYTES", the path, and so many bytes.
 * KIND is an enum record_kind, for the recorder of @fs; KUBELET_CHUNK_REPORT; or -errno, why there
 * is none.
 */
#define KUBELET_CHUNK        "%d %zu %zu\n"
#define KUBELET_CHUNK_REPORT (RECORD_FOLDER + 1)

/**
 * kubelet_report_read() - the report that was kept, where it is as good as a new look
 * @asked: for these policies
 *
 * Return: 1; 0 when there is none; or -ENOMEM.
 */
int kubelet_report_read(const struct fs *fs, const struct config *asked,
			struct kubelet_report *ret);

/*
 * The same, and a new look where there is none: below --root, for a recorder, and after a change.
 * @is_kept: the new one may be kept. Return: 0 or -errno: the program tells nothing.
 */
int kubelet_ask(const struct fs *fs, const struct config *asked, bool is_kept,
		struct kubelet_report *ret);
