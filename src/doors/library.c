/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

#include "../base/log.h"

#include <dlfcn.h>

int library_load(const char *soname, const struct library_call *calls, size_t n)
{
	void *library;

	if (*calls[n - 1].slot) /* the last to be filled */
		return 0;

	library = dlopen(soname, RTLD_NOW | RTLD_NODELETE);
	if (!library) {
		log_error("A library cannot be loaded: %s", dlerror());
		return -ELIBACC;
	}
	for (size_t i = 0; i < n; i++) {
		void *call = dlsym(library, calls[i].name);

		if (!call) {
			log_error("%s is too old: %s", soname, dlerror());
			dlclose(library);
			return -ELIBACC;
		}
		*calls[i].slot = call;
	}
	return 0; /* its handle stays open: it is not unloaded */
}
