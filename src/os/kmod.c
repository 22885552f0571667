/* SPDX-License-Identifier: Apache-2.0 */
#include "kmod.h"

#include "../base/log.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>

#define LIBRARY "libkmod.so.2"

struct kmod kmod;

int kmod_open(void)
{
	static const char *const names[] = {
#define NAME(name) "kmod_" #name,
		KMOD_FUNCTIONS(NAME)
	};
	void *functions[ELEMENTSOF(names)], *library;

	if (kmod.new)
		return 0;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; i < ELEMENTSOF(names) && library; i++) {
		functions[i] = dlsym(library, names[i]);
		if (!functions[i])
			library = NULL; /* and it stays open: nobody tries again for long */
	}
	if (!library)
		return log_error_errno(-ELIBACC, "%s", dlerror());
	static_assert(sizeof(functions) == sizeof(kmod), "one pointer each");
	memcpy(&kmod, functions, sizeof(kmod));
	return 0;
}
