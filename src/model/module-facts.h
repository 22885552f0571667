/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module facts: kernel modules, and the options that files set for them.
 */
#pragma once

#include "node.h"

/* Copies a name as the kernel spells it, '_' for '-'. False: there was no room. */
static inline bool module_spell(char ret[static MODULE_LEN], const char *name)
{
	const bool is_whole = copy(ret, MODULE_LEN, name);

	for (char *c = ret; *c; c++)
		*c = *c == '-' ? '_' : *c;
	return is_whole;
}

enum module_state {
	MODULE_MISSING,
	MODULE_BLACKLISTED,
	MODULE_AVAILABLE, /* on disk, not loaded */
	MODULE_LOADED,
	MODULE_BUILTIN,
	_MODULE_STATE_N
};

struct parameter {
	char name[MODULE_LEN];
	char type[16];  /* "bool", as the module file says (parmtype); empty: the file has none */
	char value[64]; /* in force (/sys/module/X/parameters); empty: not loaded or not readable */
};

struct module {
	char name[MODULE_LEN]; /* '_' for '-' */
	enum module_state state;

	/* The file on disk, as libkmod's kmod_module_get_info() reads it; empty where there is
	 * none. */
	char path[256];
	bool has_info; /* the file was opened and could be read: only then the next ones count, and
			  a parameter without a type is one that the file does not have */
	char version[64], srcversion[32];
	char vermagic[192]; /* begins with the release it was built for; empty: not told */
	bool is_intree;     /* the file says intree=Y */

	/* The module that is loaded. */
	char loaded_version[64], loaded_srcversion[32];
	bool is_blacklisted; /* it could not be loaded again; only of modules of a driver mode */
	bool has_taint;      /* /sys/module/X/taint could be read: only then the next one counts */
	bool is_out_of_tree; /* the taint has O */
	uint32_t refcnt;     /* UINT32_MAX: not known, which is never zero */
	char holders[256];   /* blank-separated */

	struct parameter *parameters; /* owned; by name; those of the file and those in force */
	size_t n_parameters;
};

/* The place of an option of a module, or of a line that keeps the module from what we want. */
enum option_source {
	OPTION_MODPROBE, /* a line of modprobe.d */
	OPTION_CMDLINE,  /* MODULE.PARAMETER=VALUE on the kernel's command line */
	OPTION_LOAD,     /* a module named in modules-load.d, or by modules_load= */
	_OPTION_SOURCE_N
};

struct option {
	char module[MODULE_LEN]; /* spelled by module_spell() */
	char name[MODULE_LEN];   /* of the parameter; empty for OPTION_LOAD */
	char value[64];          /* empty: said without "=" */
	enum option_source source;
	char file[256]; /* "/etc/modprobe.d/erdma.conf", "/proc/cmdline" */
	uint32_t line;  /* from 1; 0 for the command line */
};

const char *module_state_name(enum module_state s); /* "available" */
