/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output: the files of [Output], each for a reader of its own.
 *
 * Their folders are others'. So each begins with a line that says who wrote it and which one it is:
 * what begins otherwise was not written by us, and is never replaced or removed.
 */
#pragma once

#include "../base/util.h"

#define MAX_OUTPUT_BYTES (1u << 20)
#define NFD_PREFIX       "feature.node.kubernetes.io/rdma-provision."
#define CDI_FILE         "/rdma-provision.yaml" /* in the folder of CDI= */

enum output {
	OUTPUT_NFD,     /* feature file of node-feature-discovery's source "local" */
	OUTPUT_NCCL,    /* as /etc/nccl.conf */
	OUTPUT_METRICS, /* for node_exporter's textfile collector */
	OUTPUT_CDI,     /* devices for container runtimes, by the Container Device Interface */
	_OUTPUT_N
};

const char *output_name(enum output o); /* "NFD": the key in [Output]; "" for any other number */
const char *output_mark(enum output o); /* the first line, with its newline */
bool output_is_own(enum output o, const char *text);

/* Does this file of ours say that the node is ready? */
bool output_is_ready(enum output o, const char *text);
