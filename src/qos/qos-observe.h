/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Qos: what the ports of PFs do with priorities.
 */
#pragma once

#include "../model/question.h"
#include "../os/os.h"

/*
 * Fills node.dcbs when @q asks for it. mlx5 answers for each PF with some thirty commands to its
 * firmware, under the RTNL. A PF that is being written to is left out. Return: 1 when drivers were
 * asked, 0, or -ENOMEM.
 */
int observe_dcbs(struct os *d, const struct questions *q, struct node *n,
		 const struct memory *memory);

/* Reads the defaults that rdma_cm has for each port: os/rdma.h. */
void observe_rdma_cm(const struct fs *fs, struct node *n);
