/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Library: shared libraries that are loaded when they are first needed.
 *
 * libkmod brings libcrypto with it, and libibverbs its providers; libsystemd is larger than all the
 * rest, libudev tells of events alone, and libnl is for those who ask the kernel of more than
 * files. A gate, or a look at another tree, needs none or one of them, so they are not linked. The
 * table of calls in a door does what the linker would have done.
 */
#pragma once

#include "../base/util.h"

struct library_call {
	const char *name;
	void **slot; /* where the address of the call goes */
};

/*
 * Loads it, once: a second call is a look at the last slot. It stays until the process ends.
 * Return: 0, or -ELIBACC when it, or a call of it, is not there; which one is in the log.
 */
int library_load(const char *soname, const struct library_call *calls, size_t n);
