/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module options: kernel modules and the options that files set for them; the driver mode in force,
 * and the options that follow from it.
 *
 * Pure, and called by all that have to agree: a plan compares it with what is loaded, os/module.h
 * passes it when it loads, early and bake write it to modprobe.d. Facts: which parameters there
 * are, and that none of them can be changed at run time, is in kernel/src/erdma_main.c and
 * erdma_compat.c of the out-of-tree erdma driver, and in drivers/infiniband/core/device.c
 * (ib_core.netns_mode); the in-tree erdma has none.
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

#define ERDMA_COMPAT     "compat_mode"        /* bool */
#define ERDMA_PORTS      "reserve_ports_base" /* ushort */
#define ERDMA_PORTS_BASE 30608                /* the driver's own, 0x7790 */
#define ERDMA_N_PORTS    16
#define CORE_MODULE      "ib_core"
#define CORE_NETNS       "netns_mode" /* bool: shared */
#define NVIDIA_MODULE    "nvidia"
#define NVIDIA_DEBIAN    "nvidia_current" /* its file in Debian; loaded, it is nvidia as well */
#define PEERMEM_MODULE   "nvidia_peermem"
#define SMC_MODULE       "smc"

struct module_option {
	char module[MODULE_LEN];
	char name[MODULE_LEN];
	char value[16]; /* "Y", "N", "0", "1" or a decimal number */
};

struct module_options {
	struct module_option options[4]; /* by module, in the order in which they are written */
	size_t n_options;
};

/*
 * The mode that is wanted. auto keeps a mode that another program set: eRDMA's driver loaded with
 * compat_mode=Y, which nothing but an option does, or not loaded yet where node.options have that
 * one of another file; and any mode where routes of the ACK eRDMA Controller are.
 * node_driver_mode_alone() says what auto would choose without that: ofed with a GPU and its
 * driver, else default.
 */
enum driver_mode node_driver_mode(const struct config *c, const struct node *n);
enum driver_mode node_driver_mode_alone(const struct config *c, const struct node *n);
/* Is eRDMA's driver loaded with compat_mode=Y? */
bool module_options_is_compat(const struct node *n);
/* eRDMA never has a umad device in its default mode; others, and eRDMA in compat, may get one. */
enum reason reason_without_umad(const struct config *c, const struct node *n,
				const struct pci *pci);

/*
 * The options that are wanted: @mode is the resolved one (never auto). Nothing of erdma with keep;
 * nothing of ib_core with NetnsMode=keep. Whether the module has such a parameter is not asked
 * here.
 */
void module_options_wanted(const struct config *c, enum driver_mode mode,
			   struct module_options *ret);

/* The wanted value of this parameter; NULL: none is wanted. */
const char *module_options_value(const struct module_options *w, const char *module,
				 const char *name);

/*
 * The options of one module as modprobe.d and modprobe take them: "compat_mode=Y
 * reserve_ports_base=31000". Return: false, and "", when there is none.
 */
bool module_options_text(const struct module_options *w, const char *module, char *ret,
			 size_t size);

/*
 * Does the kernel read both as the same? Y, 1 and on are one bool, 0x7790 and 30608 one number; a
 * bool without a value is true. @type is that of the parameter ("bool", "ushort"), empty: not
 * known. Source: param_set_bool(), kstrtobool(), lib/kstrtox.c
 */
bool module_options_is_same(const char *type, const char *a, const char *b);

/* Is it a file of modprobe.d that this service writes? Lines in those are no contradiction. */
bool module_options_is_own(const char *path);
