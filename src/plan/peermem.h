/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peermem: nvidia_peermem, with which GPUs register their memory for RDMA. For plan/ only, pure.
 *
 * Best effort: a failure is told and changes no state, for NCCL has dmabuf. It is tried late, when
 * nvidia, ib_core and an RDMA device are there, and again when a GPU or an RDMA device appears: how
 * many there are is part of the action, so that it is another one then.
 */
#pragma once

#include "../model/plan.h"

/* @is_wanted: what NvidiaPeermem=auto means here. Return: 0 or -ENOMEM. */
int plan_peermem(const struct config *c, const struct node *n, struct plan *p, bool is_wanted);
