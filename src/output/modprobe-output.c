/* SPDX-License-Identifier: Apache-2.0 */
#include "modprobe-output.h"

#define MARKER "# Written by rdma-provision"

static const struct {
	const char *module, *settings;
} modules[] = {
	{ ERDMA_MODULE, "[Driver] Mode=, ReservePortsBase=" },
	{ CORE_MODULE, "[RDMA] NetnsMode=" },
};

int output_modprobe(const struct module_options *w, char **ret)
{
	char text[512] = "";
	size_t n = 0;

	for (size_t i = 0; i < ELEMENTSOF(modules); i++) {
		char options[256];

		if (!module_options_text(w, modules[i].module, options, sizeof(options)))
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "# %s\noptions %s %s\n",
				      modules[i].settings, modules[i].module, options);
	}

	*ret = NULL;
	if (n == 0)
		return 0;
	if (asprintf(ret, MARKER "(8) from its configuration; changes here are lost.\n%s", text) <
	    0) {
		*ret = NULL;
		return -ENOMEM;
	}
	return 0;
}

bool output_is_modprobe(const char *text)
{
	return is_prefix(text, MARKER); /* an empty one masks ours, on purpose */
}
