/* SPDX-License-Identifier: Apache-2.0 */
#include "stack-rules.h"

#include "../guard/in-use-plan.h"
#include "../model/module-options.h"

#define COMPAT_MODULE "mlx_compat"

/* The folders below /lib/modules/RELEASE that are searched before the kernel's own: depmod.d(5). */
static const char *foreign_folder(const struct module *m)
{
	static const char *const folders[] = { "/extra/", "/updates/", "/weak-updates/" };

	for (size_t i = 0; i < ELEMENTSOF(folders); i++)
		if (strstr(m->path, folders[i]))
			return folders[i] + 1;
	return NULL;
}

static bool is_out_of_tree(const struct module *m)
{
	if (m->state == MODULE_BUILTIN)
		return false;
	if (m->state == MODULE_LOADED && m->has_taint)
		return m->is_out_of_tree;
	return m->has_info ? !m->is_intree : foreign_folder(m) != NULL;
}

/* All that is known, also where it did not decide: the reader may know better. */
static void tell(const struct module *m, char *ret, size_t size)
{
	const char *folder = foreign_folder(m);
	const char *version = m->loaded_version[0] ? m->loaded_version : m->version;

	in_use_append(ret, size, "%s %s", m->name,
		      m->state == MODULE_BUILTIN  ? "is built in"
		      : m->state != MODULE_LOADED ? "is not loaded"
		      : !m->has_taint             ? "is loaded, its taint is not told"
		      : m->is_out_of_tree         ? "has taint O"
						  : "has no taint O");
	if (m->has_info)
		in_use_append(ret, size, "its file says %sintree=Y", m->is_intree ? "" : "no ");
	if (folder)
		in_use_append(ret, size, "it lies below %s", folder);
	if (version[0])
		in_use_append(ret, size, "version %s", version);
}

enum stack stack_of(const struct node *n, const char *module, char *ret_evidence, size_t size)
{
	const struct module *m = node_module(n, module), *core = node_module(n, CORE_MODULE);
	const struct module *compat = node_module(n, COMPAT_MODULE);
	bool has_compat = compat && module_is_in_kernel(compat);
	bool has_core = core && is_out_of_tree(core);

	ret_evidence[0] = '\0';
	if (!m || m->state == MODULE_MISSING)
		return STACK_UNKNOWN;

	tell(m, ret_evidence, size);
	in_use_append(ret_evidence, size, COMPAT_MODULE " is %sloaded", has_compat ? "" : "not ");
	if (core && !streq(module, CORE_MODULE))
		in_use_append(ret_evidence, size, CORE_MODULE " is %s",
			      has_core ? "out of tree" : "the kernel's");

	if (m->state != MODULE_BUILTIN && !m->has_taint && !m->has_info && !m->path[0])
		return STACK_UNKNOWN;
	if (!is_out_of_tree(m))
		return STACK_KERNEL;
	return has_compat || has_core ? STACK_OFED : STACK_VENDOR;
}
