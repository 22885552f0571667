/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loader: kernel modules are loaded and unloaded by this process, or, where it has no
 * CAP_SYS_MODULE as the sandboxed service, by the helper rdma-provision-module.service. Requests
 * and results are those of module.h; without a helper the kernel's own refusal is the answer.
 */
#pragma once

#include "fs.h"
#include "module.h"

/* @options: "" for none; see module_load(). */
int loader_load(struct modules *m, const char *name, const char *options);
int loader_remove(struct modules *m, const char *name); /* as module_remove() */

/*
 * The helper's side. It loads what an RDMA node may need, which is a fixed list and what the
 * modalias of a PCI function that is here resolves to; gives options to erdma alone, and only those
 * that choose its mode; and unloads nothing but erdma, whose mode is a parameter. Return: as above;
 * -EOPNOTSUPP: a question that is none of these.
 */
int loader_serve(struct modules *m, const struct fs *fs, const char *question);
