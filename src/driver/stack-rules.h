/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stack: is a driver the kernel's own, a vendor's, or of an OFED or DOCA stack? Pure.
 *
 * The taint of a loaded module decides; for a module that is not loaded, or whose taint cannot be
 * read, its file does (intree), and if the file was not read, its folder. A version alone proves
 * nothing: drivers of the kernel have one too. OFED and DOCA bring an RDMA core of their own, and
 * mlx_compat below it. Source: kernel/module/main.c (TAINT_OOT_MODULE), mlnx-ofed-kernel's compat
 * module.
 */
#pragma once

#include "../model/node.h"

enum stack {
	STACK_UNKNOWN, /* the module was not looked at, there is none, or nothing is known of it */
	STACK_KERNEL,  /* in-tree */
	STACK_VENDOR,  /* out of tree, above the kernel's RDMA core */
	STACK_OFED,
	_STACK_N
};

/* @ret_evidence: what decided, as words: "mlx5_core has taint O, lies below updates/". */
enum stack stack_of(const struct node *n, const char *module, char *ret_evidence, size_t size);
