/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rancher: the flags that RKE2 and k3s give to the kubelet in them.
 *
 * They come from "kubelet-arg" in /etc/rancher/NAME/config.yaml and config.yaml.d/, where the last
 * file that has the key wins, "kubelet-arg+" adds to what was said before, and those of the command
 * line come last; other keys, tokens among them, are not looked at. From 1.32 on they also have a
 * folder of drop-ins. Source: "Configuration Options" in the documentation of either.
 */
#pragma once

#include "flags.h"

struct rancher {
	struct flags flags; /* the kubelet's */
	char folder[256];   /* of drop-ins, absolute */
	char own_path[256]; /* a file of ours in config.yaml.d that would win; empty: none would */
	char problem[256];  /* what was not understood */
};

/* @own: the flags of the unit itself. Return: 0 or -ENOMEM. */
int rancher_read(const struct fs *fs, const struct unit *u, const struct flags *own,
		 struct rancher *ret);
void rancher_done(struct rancher *r);
