/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers: the API servers that a kubelet is to reach, as its files name them.
 *
 * All clusters of a kubeconfig count, whichever its context names. k3s and RKE2 have a proxy on the
 * loopback address in theirs, and what is behind it in "server" of their own configuration, K3S_URL
 * or RKE2_URL, and in the file that the proxy keeps (pkg/agent/loadbalancer in k3s); MicroK8s keeps
 * it in provider.yaml of its proxy. Nobody is asked what a name is.
 */
#pragma once

#include "../model/kubelet.h"
#include "rancher.h"

#define SNAP_DIR "/var/snap/"

/*
 * Fills the servers of @ret, each host once: those of --kubeconfig and --bootstrap-kubeconfig where
 * one is given, and of the usual files where none is, or one of a snap. A recorder gets copies with
 * the hosts alone. @rancher: NULL of others. Return: 0 or -ENOMEM; a file that cannot be read or
 * understood has none.
 */
int servers_find(const struct fs *fs, const struct flags *flags, const struct rancher *rancher,
		 struct kubelet *ret);
