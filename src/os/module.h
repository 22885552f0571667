/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module: access to kernel modules, over libkmod; and which build of one a file is.
 *
 * Modules are loaded and unloaded by this process, or, where it has no CAP_SYS_MODULE as the
 * sandboxed service, by the helper rdma-provision-module.service. Without a helper the kernel's own
 * refusal is the answer.
 *
 * Nobody else includes kmod.h. A folder other than the running kernel's has to be a trusted
 * one: libkmod crashes on an index that was made to do so, waits for a FIFO in the place of one,
 * and follows links out of the tree. Below --root libkmod is not asked, therefore: what is known of
 * modules is in the answers of a capture (os/snapshot.h), and module/module-observe.c knows
 * what keeps them out.
 *
 * "install" commands of modprobe.d are never run: libkmod would give them to a shell, and this
 * program starts none. A module that has one counts as blacklisted: "install NAME /bin/false" is
 * how hardened images switch a module off, and any other command means that inserting it is not
 * enough.
 */
#pragma once

#include "../model/module-options.h"

#define MODULE_SOCKET "/run/rdma-provision-module.socket"

struct fs;
struct kmod_ctx;

struct modules {
	struct kmod_ctx *ctx; /* owned; NULL until first use */
	const char *folder; /* of a test: "ROOT/lib/modules/RELEASE"; NULL: of the running kernel */
	const char *config; /* with a folder: the root whose modprobe.d counts, NULL: none */
	bool is_closed;     /* no module is found, and libkmod not even asked */
};

void modules_done(struct modules *m);

/* Makes the next question read modprobe.d and the indexes again. */
void modules_forget(struct modules *m);

/*
 * All functions below return -ENOTSUP, with the name in the log, when a file of modprobe.d is a
 * FIFO or a device, which libkmod would wait for.
 *
 * The name of the module for a modalias, blacklists not regarded: -ENOENT when there is none.
 */
int module_resolve(struct modules *m, const char *modalias, char *ret, size_t size);

/*
 * MODULE_MISSING, _BLACKLISTED (as "modprobe -b" sees it), _AVAILABLE or _BUILTIN
 * (modules.builtin); whether it is loaded is what /sys/module tells: not asked here.
 */
int module_look(struct modules *m, const char *name, enum module_state *ret);

/*
 * Whether modprobe.d names a file for it and what that file says of itself: fills path, and, when
 * it could be read, has_info, version, srcversion, vermagic, is_intree and the parameters with
 * their types ("parm" and "parmtype" of modinfo; "charp" and "array of int" as they stand there).
 * Parameters that @ret has already, those in force, keep their values. With @with_info false the
 * file is not opened: path alone.
 *
 * Compressed files are read as far as this libkmod can (kmod_features): one that it cannot read, or
 * that is damaged, gives has_info false, for nothing is known about its parameters then.
 * Return: 0, or -ENOENT: no such file (built in, or not installed).
 */
int module_read(struct modules *m, bool with_info, struct module *ret);

/*
 * The modules that it needs, directly or not, blank-separated; cut short when there is no room.
 * Return: 0 or -errno.
 */
int module_needs(struct modules *m, const char *name, char *ret, size_t size);

/*
 * Does the file of @provider export each symbol that the file of @name takes from there with the
 * very version that it was built for? Symbols that the file of @provider does not have are
 * passed over. Where the kernel has no versions (CONFIG_MODVERSIONS), or libkmod cannot read them,
 * there is nothing to compare. Return: how many were compared and are equal; -EXDEV with the name
 * of the first symbol that differs; or another -errno.
 */
int module_compare_symbols(struct modules *m, const char *name, const char *provider, char *ret,
			   size_t size);

/*
 * Loads a module with its dependencies and options, as modprobe does; respects blacklists.
 * @options, such as "compat_mode=Y" or "", follow those of modprobe.d and win over them. A module
 * that is loaded would not get them, hence -EEXIST then. A parameter that the module does not have
 * is ignored by the kernel: look at module_read() before, and at /sys/module/NAME/parameters after.
 * Return: 0 also when it was loaded already; -ENOENT no such module or an unknown symbol, -EPERM
 * blacklisted (by modprobe.d, or the kernel's module_blacklist=, or lockdown), -ENOEXEC built for
 * another kernel, -EKEYREJECTED signature, -EINVAL parameter value, -ENODEV, -EADDRINUSE from its
 * init, -EBUSY it is just being removed, -EROFS with a folder, whose modules are not the running
 * kernel's. The kernel waits for a module that another process is just loading (initstate
 * "coming"). Source: kmod_module_probe_insert_module() in libkmod, add_unformed_module() in
 * kernel/module/main.c
 */
int module_load(struct modules *m, const char *name, const char *options);

/*
 * Removes this one module, none that it depends on; never waits for users (O_NONBLOCK).
 * Return: 0; -ENOENT it is not loaded, or built in; -EAGAIN it is in use: references or holders;
 * -EBUSY it is in the middle of being loaded or removed, or it has no exit function; -EPERM no
 * CAP_SYS_MODULE, or modules are locked (kernel.modules_disabled); -EROFS with a folder.
 * Source: delete_module(2)
 */
int module_remove(struct modules *m, const char *name);

/*
 * The helper's side. It loads what an RDMA node may need, which is a fixed list, what the modalias
 * of a PCI function that is here resolves to, and the RDMA part of the driver that one is bound to;
 * gives options to erdma alone, and only those that choose its mode; and unloads nothing but erdma,
 * whose mode is a parameter. Return: as above; -EOPNOTSUPP: a question that is none of these.
 */
int module_serve(struct modules *m, const struct fs *fs, const char *question);

/*
 * The build-id: the linker writes a hash of all that it links into a note of the file, and the
 * kernel shows the notes of what it loaded: add_notes_attrs() in kernel/module/sysfs.c.
 */
#define BUILD_ID_LEN 65 /* 32 bytes as hex digits; 20 are usual */

/*
 * Reads the build-id of a module's file, as hex digits. The file must be uncompressed, of 64 bits
 * and of this machine's byte order. Return: 0; -ENOENT there is no such file or no such note;
 * -ENOEXEC no such file of a module, compressed or damaged; -ENOMEM, or another -errno.
 */
int module_build_id_of_file(const struct fs *fs, const char *path, char ret[static BUILD_ID_LEN]);

/* Reads the build-id of a loaded module. Return: as module_build_id_of_file(). */
int module_build_id(const struct fs *fs, const char *module, char ret[static BUILD_ID_LEN]);

/* Finds the build-id in the bytes of a module's file. Pure. Exported for a test. */
int module_parse_build_id(const char *bytes, size_t size, char ret[static BUILD_ID_LEN]);
