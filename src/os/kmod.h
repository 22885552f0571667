/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kmod: libkmod, opened when it is first asked. It and libcrypto, which it needs, take longer to be
 * linked than a pass on a finished node takes for everything else, and such a pass asks nothing
 * (module-ask.h). Packages name it as a dependency, since no linker notes it.
 *
 * Only module.c includes this.
 */
#pragma once

#include <libkmod.h>

#define KMOD_FUNCTIONS(F)                                                                          \
	F(list_next)                                                                               \
	F(load_resources)                                                                          \
	F(module_apply_filter)                                                                     \
	F(module_get_dependencies)                                                                 \
	F(module_get_info)                                                                         \
	F(module_get_initstate)                                                                    \
	F(module_get_install_commands)                                                             \
	F(module_get_module)                                                                       \
	F(module_get_name)                                                                         \
	F(module_get_path)                                                                         \
	F(module_get_symbols)                                                                      \
	F(module_get_versions)                                                                     \
	F(module_info_free_list)                                                                   \
	F(module_info_get_key)                                                                     \
	F(module_info_get_value)                                                                   \
	F(module_new_from_lookup)                                                                  \
	F(module_new_from_name)                                                                    \
	F(module_probe_insert_module)                                                              \
	F(module_remove_module)                                                                    \
	F(module_symbol_get_crc)                                                                   \
	F(module_symbol_get_symbol)                                                                \
	F(module_symbols_free_list)                                                                \
	F(module_unref)                                                                            \
	F(module_unref_list)                                                                       \
	F(module_version_get_crc)                                                                  \
	F(module_version_get_symbol)                                                               \
	F(module_versions_free_list)                                                               \
	F(new)                                                                                     \
	F(set_log_fn)                                                                              \
	F(unref)                                                                                   \
	F(validate_resources)

#define KMOD_MEMBER(name) __typeof__(kmod_##name) *name;

/* kmod.new() is kmod_new(). NULL before kmod_open(). */
extern struct kmod {
	KMOD_FUNCTIONS(KMOD_MEMBER)
} kmod;

/* Return: 0, also when it is open; -ELIBACC: it cannot be opened, or lacks a function, which is
 * logged. */
int kmod_open(void);
