/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module: the kernel modules that matter: those of the RDMA character devices and drivers,
 * NVIDIA's, smc, and those that drive a NIC here or are asked for by the modalias of an unbound
 * function.
 *
 * What is loaded comes from /sys/module, what is installed from libkmod. Module files are opened
 * only where something may hang on what they say: that of erdma on a node with an eRDMA function
 * (its mode is a parameter, and only its file tells whether it has one), and those that an unbound
 * function waits for. Of the other drivers of NICs only the path is looked up.
 */
#pragma once

#include "../model/node.h"
#include "../os/os.h"

/* The modules behind uverbs*, rdma_cm and umad*, which every plugin needs. */
extern const char *const rdma_modules[3];

/*
 * Fills node.modules, the module of every unbound function in node.pcis, cmdline_blacklist, and,
 * on a live root, is_dkms_building. Wants node.pcis and node.ibdevs, and what was recorded of a
 * captured tree in node.modules: state and facts of the files. A driver that is bound in a tree
 * that tells nothing of its module counts as loaded, with an unknown number of references.
 */
int observe_modules(struct os *d, struct node *n);

/* The module that drives a bound function, as the kernel spells it: not always the driver's name.
 */
int observe_driver_module(const struct fs *fs, const struct pci *pci, char *ret, size_t size);
