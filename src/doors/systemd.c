/* SPDX-License-Identifier: Apache-2.0 */
#include "systemd.h"

#include "library.h"

const struct systemd *systemd_calls(void)
{
	static struct systemd systemd; /* filled once, as the linker would have done */
	static const struct library_call calls[] = {
#define ROW(name) { "sd_" #name, (void **)&systemd.name },
		SYSTEMD_CALLS(ROW)
	};

	if (library_load("libsystemd.so.0", calls, ELEMENTSOF(calls)) < 0)
		_exit(EXIT_FAILURE);
	return &systemd;
}
