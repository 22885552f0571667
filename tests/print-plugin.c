/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print-plugin ROOT TYPE WHAT: the device plugin's configuration ("plugin"), its static pod
 * ("manifest") or who would be exposed, one "BDF RESOURCE" a line ("exposed"), for the devices of a
 * captured node that are usable as they are; the generated udev rules ("rules"); or a file of
 * [Output] ("NFD", "NCCL", "Metrics", "CDI"). TYPE is that of the plugin, or "-" for the one of the
 * node's configuration.
 */
#include "../src/config/load.h"
#include "../src/pass/loop.h"

static bool set_type(struct config *c, const char *type)
{
	for (unsigned t = 0; t < _PLUGIN_N; t++)
		if (streq(type, plugin_type_name((enum plugin_type)t))) {
			c->plugin.type = (enum plugin_type)t;
			return true;
		}
	return streq(type, "-");
}

static void print_exposed(const struct plan *p)
{
	for (size_t i = 0; i < p->lint.n_exposed; i++)
		printf("%s %s\n", p->lint.exposed[i].pci, p->lint.exposed[i].resource);
}

int main(int argc, char **argv)
{
	_cleanup_(config_done) struct config c = {};
	_cleanup_(inspection_done) struct inspection in = {};
	struct os d = {};
	int r;

	if (argc != 4 || os_open(argv[1], &d) < 0)
		return EXIT_FAILURE;

	r = load_config(&d.fs, NULL, &c);
	if (r >= 0 && !set_type(&c, argv[2]))
		r = -EINVAL;
	COPY(c.plugin.manifest, "/etc/kubernetes/manifests/rdma-device-plugin.yaml");
	COPY(c.plugin.image, "registry.example.com/device-plugin:v1");
	for (enum output o = 0; o < _OUTPUT_N; o++)
		COPY(c.output.paths[o], "/run/nobody/writes/this");
	if (r >= 0)
		r = loop_plan(&d, &c, &in);
	os_close(&d);
	if (r < 0)
		return EXIT_FAILURE;

	if (streq(argv[3], "exposed"))
		print_exposed(&in.plan);
	else if (streq(argv[3], "plugin") && in.plan.plugin && in.plan.lint.refusal == REASON_NONE)
		fputs(in.plan.plugin, stdout);
	else if (streq(argv[3], "manifest") && in.plan.manifest)
		fputs(in.plan.manifest, stdout);
	else if (streq(argv[3], "rules") && in.plan.rules)
		fputs(in.plan.rules, stdout);
	for (enum output o = 0; o < _OUTPUT_N; o++)
		if (streq(argv[3], output_name(o)) && in.plan.outputs[o].text)
			fputs(in.plan.outputs[o].text, stdout);
	return EXIT_SUCCESS;
}
