/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet: what rdma-provision-kubelet tells of it, of which this program knows nothing by itself.
 */
#pragma once

#include "../model/node.h"
#include "../os/os.h"

/*
 * Fills node.kubelet and node.kubelet_decision. Where that program tells nothing, the policies that
 * are asked for are refused with its reason. Return: 0 or -ENOMEM.
 */
int observe_kubelet(struct os *d, const struct config *c, struct node *n);
