/* SPDX-License-Identifier: Apache-2.0 */
#include "module-apply.h"

#include "../model/module-options.h"

/* Meanings of the errors of loading a module: finit_module(2), kernel/module/main.c. */
static const struct {
	int error;
	const char *text;
} load_errors[] = {
	{ ENOEXEC, "built for another kernel or damaged (vermagic, symbol versions)" },
	{ ENOENT, "it needs a symbol that the loaded modules do not have: it was built against "
		  "another RDMA stack" },
	{ ENOPKG, "not found, nor a file of it" },
	{ EKEYREJECTED, "its signature is not accepted" },
	{ ENOKEY, "its signature is of a key that is not known" },
	{ EBADMSG, "its signature is damaged" },
	{ EINVAL, "one of its parameters has a value it does not accept" },
	{ ENODEV, "it finds no device of its own" },
	{ EADDRINUSE, "a port it reserves is taken" },
};

int module_find_file(struct work *w, const char *module)
{
	enum module_state state;
	int r;

	r = module_look(&w->os->modules, module, &state);
	if (r < 0)
		return r;
	return state == MODULE_MISSING ? -ENOPKG : state == MODULE_BLACKLISTED ? -EPERM : 0;
}

/* The module itself, or one that it needs, which is loaded before it, in the kernel's own list. */
static bool find_forbidden(struct work *w, const char *module, char *ret, size_t size)
{
	char needs[1024] = "", *rest;
	bool is_found = node_forbids(w->node, module);

	copy(ret, size, module);
	if (is_found || module_needs(&w->os->modules, module, needs, sizeof(needs)) < 0)
		return is_found;
	for (char *name = strtok_r(needs, " ", &rest); name && !is_found;
	     name = strtok_r(NULL, " ", &rest)) {
		is_found = node_forbids(w->node, name);
		copy(ret, size, name);
	}
	return is_found;
}

/* "none [integrity] confidentiality". Source: lockdown_read() in security/lockdown/lockdown.c */
static bool is_locked_down(const struct fs *fs, char *ret, size_t size)
{
	char text[64], *from, *end;

	if (fs_read(fs, "sys/kernel/security/lockdown", text, sizeof(text)) < 0)
		return false;
	from = strchr(text, '[');
	end = from ? strchr(from, ']') : NULL;
	if (!end)
		return false;
	*end = '\0';
	copy(ret, size, from + 1);
	return !streq(ret, "none");
}

static void put_forbidden(struct work *w, const char *module)
{
	const struct fs *fs = &w->os->fs;
	char name[MODULE_LEN], value[64] = "";

	if (module_find_file(w, module) == -EPERM)
		copy(w->error, CHILD_ERROR_LEN,
		     "forbidden: a blacklist or install line of modprobe.d");
	else if (find_forbidden(w, module, name, sizeof(name)))
		snprintf(w->error, CHILD_ERROR_LEN,
			 "forbidden: module_blacklist= on the kernel command line has %s", name);
	else if (fs_read(fs, "proc/sys/kernel/modules_disabled", value, sizeof(value)) >= 0 &&
		 streq(value, "1"))
		copy(w->error, CHILD_ERROR_LEN,
		     "forbidden: kernel.modules_disabled is 1, which only a reboot ends");
	else if (is_locked_down(fs, value, sizeof(value)))
		snprintf(w->error, CHILD_ERROR_LEN, "forbidden: the kernel is locked down (%s)",
			 value);
	else
		copy(w->error, CHILD_ERROR_LEN,
		     "forbidden: by a security module, or modprobe.d forbids a module that it "
		     "needs; modules_disabled and lockdown are off");
}

void module_put_error(struct work *w, const char *module, int error)
{
	if (error == -EPERM) {
		put_forbidden(w, module);
		return;
	}
	/* nv_mem_client_init() in nvidia-peermem.c: what is left of it without that interface */
	if (error == -EINVAL && streq(module, PEERMEM_MODULE)) {
		copy(w->error, CHILD_ERROR_LEN,
		     "it refuses: the NVIDIA driver was built without the peer-memory interface "
		     "of OFED");
		return;
	}
	for (size_t i = 0; i < ELEMENTSOF(load_errors); i++)
		if (-error == load_errors[i].error)
			copy(w->error, CHILD_ERROR_LEN, load_errors[i].text);
}
