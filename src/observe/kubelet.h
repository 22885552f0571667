/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet: which topology manager policy the kubelet will have at its next start, and which file
 * says so.
 *
 * Knows units named kubelet.service and one configuration file, as kubeadm lays them out. It does
 * not expand variables: flags are looked for wherever the unit, its drop-ins and environment files
 * could hand them to the kubelet, and what is not clear is refused.
 */
#pragma once

#include "../doors/fs.h"
#include "../model/node.h"

/* The top-level key, and the word for what the file does not say. */

/**
 * observe_kubelet() - look for the kubelet and its policy
 * @fs:  the node
 * @ret: what was found, always whole:
 *       policy may be known even where there is a refusal: compare it first, then look at the
 * refusal; UNSET means that it is not known. path is absolute. KUBELET_FLAG_WINS: a flag decides;
 * path is the file it stands in. KUBELET_NO_FILE: the file is not there (before "kubeadm join") or
 * no kubelet is. KUBELET_FILE_REFUSED: --config-dir, an unclear --config, or a file that yaml.h
 * refuses.
 *
 * Where a kubelet runs, the --config of its command line is the one that counts. A recorder gets
 * copies that give the same answer with nothing else in them: of a KubeletConfiguration all but
 * staticPodURLHeader, of other files only the flags looked at.
 *
 * Return: 0, or -ENOMEM. A file that cannot be read is a refusal.
 */
int observe_kubelet(const struct fs *fs, struct kubelet *ret);
