/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module: the kernel modules that matter: those of the RDMA character devices and drivers,
 * NVIDIA's, smc, and those that drive a NIC here or are asked for by the modalias of an unbound
 * function.
 *
 * Loaded modules come from /sys/module, installed ones from libkmod. Module files are opened only
 * where something depends on their contents: the file of erdma on a node with an eRDMA function
 * (its mode is a parameter, and only the file shows whether the module has it), and those of
 * modules that an unbound function waits for. For other drivers of NICs only the path is looked up.
 */
#pragma once

#include "../model/node.h"
#include "../os/os.h"

/* A copy may have this list, and no /sys/module: of a module that it lacks nothing is known. */
#define MODULES_PATH "proc/modules"

/*
 * Fills node.modules, the module of every unbound function in node.pcis and of one that may have
 * another driver than its own, cmdline_blacklist, and, on a live root, is_dkms_building. Needs
 * node.pcis, node.netdevs and node.ibdevs, and in node.modules what a captured tree recorded: state
 * and facts of the files. A bound driver whose module a tree does not describe counts as loaded,
 * with an unknown number of references.
 */
int observe_modules(struct os *d, struct node *n);

/* The module that drives a bound function, as the kernel spells it: not always as the driver. */
int observe_driver_module(const struct fs *fs, const struct pci *pci, char *ret, size_t size);
