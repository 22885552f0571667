/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nccl: the verb "nccl-env", which is also the whole of the static binary rdma-nccl-env.
 *
 * Links nothing but libc.
 */
#pragma once

#include "../base/util.h"

struct config;
struct fs;
struct node;
struct plan;

struct nccl_request {
	bool is_export, is_exact; /* as nccl_text() takes them */
	bool is_json;
	char *const *exec; /* a command and its arguments, to run with them; NULL: print */
	int traffic_class, service_level; /* as struct nccl has them */
};

/*
 * Prints the settings on stdout, or becomes the command, which has them in its environment; without
 * settings it prints why, and what to do, on stderr. Arguments are those of nccl_choose().
 * Return: 0, or -errno with the reason told.
 */
int nccl_env(const struct config *c, const struct node *n, const struct plan *p,
	     const struct nccl_request *req);
/* The same for what observe_nccl() sees, without a plan. A capture is refused: -ENOTSUP. */
int nccl_env_here(const struct fs *fs, const struct nccl_request *req);

/*
 * The exit code for the result of nccl_env(), or of what comes before it. A shell that evaluates
 * the output of "--export" does not see that code: it gets the command "false" instead.
 */
int nccl_env_exit_code(int r, bool is_export);

/*
 * Cuts the command after --exec, with options of its own, off *argc and @argv. Return: its words,
 * without a "--" before them, empty when there are none; NULL: there is no --exec.
 */
char **nccl_env_cut_command(int *argc, char **argv);

/*
 * Reads the facts that the choice of NCCL's ports (nccl/nccl-output.h) depends on from the
 * caller's sysfs, devices and addresses alone, without any privilege: in a container only the
 * devices and netdevs of that container count.
 *
 * Fills ibdevs; netdevs (of their functions, those that GIDs name, and eth0: name, ifindex, pci,
 * scalable_of and has_carrier only), on the running system their addresses; pcis of the ibdevs
 * (vendor, device, modalias, driver and physfn only). NICs that manage NVSwitches are without
 * ports. A node without RDMA has none. Return: 0 or -errno.
 */
int observe_nccl(const struct fs *fs, struct node *n);
