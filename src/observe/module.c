/* SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

/* Sorted, as node.modules has to be. */
const char *const rdma_modules[3] = { "ib_umad", "ib_uverbs", "rdma_ucm" };

/* What /sys/module tells: a folder without initstate is built in. */
static bool is_loaded(const struct fs *fs, const char *name, enum module_state *ret)
{
	char path[128], text[16];

	snprintf(path, sizeof(path), "sys/module/%s/initstate", name);
	if (fs_read(fs, path, text, sizeof(text)) >= 0) {
		*ret = MODULE_LOADED;
		return streq(text, "live");
	}

	snprintf(path, sizeof(path), "sys/module/%s", name);
	*ret = MODULE_BUILTIN;
	return fs_exists(fs, path);
}

static int compare_module(const void *a, const void *b)
{
	return strcmp(((const struct module *)a)->name, ((const struct module *)b)->name);
}

static int look(struct doors *d, struct node *n, const char *name)
{
	struct module module = {}, *slot;
	const struct module *known;
	int r;

	COPY(module.name, name);
	for (char *c = module.name; *c; c++)
		*c = *c == '-' ? '_' : *c; /* as the kernel spells it */

	known = n->n_modules > 0
			? bsearch(&module, n->modules, n->n_modules, sizeof(module), compare_module)
			: NULL;
	if (is_loaded(&d->fs, module.name, &module.state)) {
		if (known) {
			((struct module *)known)->state = module.state;
			return 0;
		}
	} else if (known) {
		return 0; /* recorded */
	} else {
		r = module_look(&d->modules, module.name, &module.state);
		if (r < 0)
			return r;
	}

	slot = APPEND(n->modules, n->n_modules);
	if (!slot)
		return -ENOMEM;
	*slot = module;
	qsort(n->modules, n->n_modules, sizeof(*n->modules), compare_module);
	return 0;
}

int observe_modules(struct doors *d, struct node *n)
{
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(rdma_modules) && r >= 0; i++)
		r = look(d, n, rdma_modules[i]);

	for (size_t i = 0; i < n->n_pcis && r >= 0; i++) {
		struct pci *pci = &n->pcis[i];

		if (pci->driver[0] || !pci->modalias[0])
			continue;
		if (!pci->module[0]) {
			r = module_resolve(&d->modules, pci->modalias, pci->module,
					   sizeof(pci->module));
			if (r == -ENOENT) { /* nobody drives it: a fact, not a failure */
				r = 0;
				continue;
			}
		}
		if (r >= 0)
			r = look(d, n, pci->module);
	}

	return r;
}
