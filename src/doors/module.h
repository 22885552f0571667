/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module: the door to kernel modules, over libkmod.
 *
 * Nobody else includes <libkmod.h>. "install" commands of modprobe.d are not run: a module that has
 * one counts as blacklisted. Of another tree than the running kernel's, /etc/modprobe.d and the
 * like beside it are read; but modprobe.blacklist= is always taken from the running kernel's
 * command line, by libkmod.
 */
#pragma once

#include "../model/node.h"

struct kmod_ctx;

struct modules {
	struct kmod_ctx *ctx; /* owned; NULL until first use */
	char *folder;         /* owned; "ROOT/lib/modules/RELEASE", NULL: of the running kernel */
};

/* Nothing is opened yet. @folder: the module tree to look into, or NULL for the running kernel's.
 */
int modules_open(struct modules *m, const char *folder);
void modules_done(struct modules *m);

/* The name of the module for a modalias, blacklists not regarded: -ENOENT when there is none. */
int module_resolve(struct modules *m, const char *modalias, char *ret, size_t size);

/*
 * MODULE_MISSING, _BLACKLISTED (as "modprobe -b" sees it), _AVAILABLE or _BUILTIN
 * (modules.builtin); whether it is loaded is what /sys/module tells: not asked here.
 */
int module_look(struct modules *m, const char *name, enum module_state *ret);

/*
 * Loads it with its dependencies and options, as modprobe does; respects blacklists.
 * Return: 0 also when it was loaded already; -ENOENT no such module or an unknown symbol, -EPERM
 * blacklisted (by modprobe.d, or the kernel's module_blacklist=, or lockdown), -ENOEXEC built for
 * another kernel, -EKEYREJECTED signature, -EINVAL parameter value, -ENODEV, -EADDRINUSE from its
 * init, -EROFS with a folder, whose modules are not the running kernel's. Source:
 * kmod_module_probe_insert_module() in libkmod
 */
int module_load(struct modules *m, const char *name);
