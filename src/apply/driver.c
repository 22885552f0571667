/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

/* What the kernel's answer to loading a module means: finit_module(2), kernel/module/main.c. */
static const struct {
	int error;
	const char *words;
} load_errors[] = {
	{ ENOEXEC, "built for another kernel or damaged (vermagic, symbol versions)" },
	{ ENOENT, "not found, or it needs a symbol that the loaded modules do not have" },
	{ EKEYREJECTED, "its signature is not accepted" },
	{ EPERM,
	  "forbidden: blacklist, module_blacklist= on the kernel command line, or lockdown" },
	{ EINVAL, "a parameter in modprobe.d has a value it does not accept" },
	{ ENODEV, "it finds no device of its own" },
	{ EADDRINUSE, "a port it reserves is taken" },
};

int apply_load_module(struct work *w, const struct action *a)
{
	char path[320];
	int r;

	r = module_load(&w->doors->modules, a->target);
	for (size_t i = 0; i < ELEMENTSOF(load_errors) && r < 0; i++)
		if (-r == load_errors[i].error)
			copy(w->error, sizeof(a->error), load_errors[i].words);
	if (r < 0)
		return r;

	snprintf(path, sizeof(path), "sys/module/%s", a->target);
	return fs_exists(&w->doors->fs, path) ? 0 : -ENOENT;
}

int apply_bind_driver(struct work *w, const struct action *a)
{
	char path[320], driver[MODULE_LEN];
	int r;

	/* Reports success also when nothing was bound: drivers_probe_store() in drivers/base/bus.c.
	 */
	r = fs_write_attribute(&w->doors->fs, "sys/bus/pci/drivers_probe", a->target);
	if (r < 0)
		return r;

	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/driver", a->target);
	r = fs_read_link_name(&w->doors->fs, path, driver, sizeof(driver));
	if (r == -ENOENT)
		copy(w->error, sizeof(a->error),
		     "no driver took it (sriov_drivers_autoprobe off?)");
	return r;
}

int apply_reload_module(struct work *w _unused_, const struct action *a _unused_)
{
	return -EOPNOTSUPP;
}

int apply_rebind_driver(struct work *w _unused_, const struct action *a _unused_)
{
	return -EOPNOTSUPP;
}
