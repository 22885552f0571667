/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into linux.uml, which has room for 2696 bytes of extended registers. On processors with
 * AMX the host takes only its whole area back (xstateregs_set() in arch/x86/kernel/fpu/regset.c),
 * so a shorter one is completed here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

static long (*next)(int request, ...);

static long set_xstate(pid_t pid, const struct iovec *given)
{
	static char area[64 * 1024];
	struct iovec all = { area, sizeof(area) };

	if (next(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &all) < 0)
		return -1;
	if (given->iov_len < all.iov_len)
		memcpy(area, given->iov_base, given->iov_len);
	else
		all = *given;
	return next(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &all);
}

__attribute__((visibility("default"))) long ptrace(enum __ptrace_request request, ...)
{
	va_list args;
	void *address, *data;
	pid_t pid;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	address = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);

	if (!next)
		next = dlsym(RTLD_NEXT, "ptrace");
	if (request == PTRACE_SETREGSET && (long)address == NT_X86_XSTATE)
		return set_xstate(pid, data);
	return next(request, pid, address, data);
}
