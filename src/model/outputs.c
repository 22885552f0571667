/* SPDX-License-Identifier: Apache-2.0 */
#include "outputs.h"

/*
 * All readers skip lines that begin with "#"; without a "=" a line is no setting of NCCL in
 * any case, and without HELP or TYPE none of Prometheus.
 */
static const struct {
	const char *name, *mark, *ready; /* ready: the line that says so, NULL: none */
} outputs[] = {
	[OUTPUT_NFD] = { "NFD", "# Written by rdma-provision: NFD features\n",
			 "/rdma-provision.ready=true\n" },
	[OUTPUT_NCCL] = { "NCCL", "# Written by rdma-provision: NCCL settings\n", NULL },
	[OUTPUT_METRICS] = { "Metrics", "# Written by rdma-provision: metrics\n",
			     "\nrdma_provision_ready 1\n" },
	[OUTPUT_CDI] = { "CDI", "# Written by rdma-provision: CDI devices\n", NULL },
};
_Static_assert(ELEMENTSOF(outputs) == _OUTPUT_N, "a line for every output");

const char *output_name(enum output o)
{
	return (size_t)o < ELEMENTSOF(outputs) ? outputs[o].name : "";
}

const char *output_mark(enum output o)
{
	return (size_t)o < ELEMENTSOF(outputs) ? outputs[o].mark : "";
}

bool output_is_own(enum output o, const char *text)
{
	return is_prefix(text, output_mark(o));
}

bool output_is_ready(enum output o, const char *text)
{
	return (size_t)o < ELEMENTSOF(outputs) && outputs[o].ready &&
	       strstr(text, outputs[o].ready);
}
