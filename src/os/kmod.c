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
		library = functions[i] ? library : NULL;
	}
	if (!library) {
		log_error("%s: it is in the package libkmod2 or kmod-libs", dlerror());
		return -ELIBACC;
	}
	static_assert(sizeof(functions) == sizeof(kmod), "one pointer each");
	memcpy(&kmod, functions, sizeof(kmod));
	return 0;
}
