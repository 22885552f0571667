/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inspect: the verbs check, explain and manifest, each by one look that changes nothing.
 */
#pragma once

#include "../model/config.h"
#include "../os/os.h"

/*
 * Is the configuration valid, and would the device plugin take what is written for it? Unknown keys
 * are errors. @ret: the document of "check --json"; or, where problems are logged, what the plugin
 * would expose on this node, if there is one, line by line, or a pod. Return: 0, -EINVAL when
 * something is wrong, or another -errno without a text.
 */
struct check_request {
	const char *file; /* NULL: the folders */
	bool is_json;
	bool is_ready; /* it is wrong when no device is usable now */
	bool with_pod; /* a pod for this node instead of what the plugin would expose */
};
/* @ret_impossible: as output_impossible(), to be said last; NULL as well where @ret has it */
int inspect_check(struct os *d, const struct check_request *req, char **ret, char **ret_impossible);

/*
 * Would the device plugin refuse what is written for this configuration? A node that cannot be
 * looked at refuses nothing. Return: 0, -EINVAL with the reason logged, or -ENOMEM.
 */
int inspect_refuse(struct os *d, const struct config *c);

/*
 * Why one device is or is not usable, by looking now: the document of "explain --json", or with
 * @is_json false its picture. @name: a PCI address, netdev or RDMA device, or "kubelet" or
 * "plugin", which mean these. Errors are logged. Return: 0, -ENODEV when nothing has that name, or
 * another -errno.
 */
int inspect_explain(struct os *d, const struct config *c, const char *name, bool is_json,
		    char **ret);

/*
 * The Kubernetes objects that a DRA driver needs for the devices of this node: plugin/dra-output.h.
 * Errors are logged. Return: 0, or -errno.
 */
int inspect_manifest(struct os *d, const struct config *c, char **ret);
