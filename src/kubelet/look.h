/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet look: what the rest of rdma-provision sees of this folder, through live.c alone. It
 * reads, and what edits is not linked into that program: tests/check-pure.
 */
#pragma once

#include "../model/config.h"
#include "../model/kubelet.h"
#include "../os/fs.h"

/**
 * kubelet_look() - what was found, and what is to be done about it
 *
 * Edits nothing and runs nothing. What systemd has loaded of the unit is asked of the manager
 * helper where this process does not reach systemd and something is to be said about the kubelet.
 *
 * Return: 0, or -ENOMEM.
 */
int kubelet_look(const struct fs *fs, const struct config *c, struct kubelet *ret,
		 struct kubelet_decision *ret_decision);
