/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manifest: a static pod of the device plugin, for the kubelet's folder of static pods.
 *
 * Pure text. The kubelet derives the identity of a static pod from the whole of it
 * (pkg/kubelet/config/common.go), so another hash in its annotation ends the old pod and starts a
 * new one, which reads the plugin's new file. What the containers need is what the published
 * DaemonSets of the plugins ask for.
 */
#pragma once

#include "../model/paths.h"
#include "../model/plan.h"

/**
 * output_manifest() - the pod
 * @c:        for the type, the image and the folder of the plugin's file
 * @root_dir: of the kubelet: the plugin registers below it
 * @document: the text of that file, for the hash
 * @ret:      YAML, owned by the caller
 *
 * Return: 0 or -ENOMEM.
 */
int output_manifest(const struct config *c, const char *root_dir, const char *document, char **ret);
