/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rancher: the flags that RKE2 and k3s give to the kubelet in them.
 *
 * They come from "kubelet-arg" in /etc/rancher/NAME/config.yaml and config.yaml.d/, or in the file
 * of --config or NAME_CONFIG_FILE and the folder beside it that has its name and ".d", where the
 * last file that has the key wins, "kubelet-arg+" adds to what was said before, and those of the
 * command line come last. "node-ip" (a list as well), "node-name", "flannel-iface" and "server" are
 * settings of their own, which a flag of the command line replaces, and of which the first two are
 * given to the kubelet before all of kubelet-arg, in whatever order the keys stand. Other keys,
 * tokens among them, are not looked at. From 1.32 on they also have a folder of drop-ins. Sources:
 * "Configuration Options" in the documentation of either; dotDFiles() in pkg/configfilearg of k3s,
 * to which ".YAML" is ".yaml".
 */
#pragma once

#include "flags.h"

struct rancher {
	char name[8];       /* "k3s", "rke2" */
	struct flags flags; /* the kubelet's: what its own settings come to, and kubelet-arg */
	char node_ip[96], node_name[254], flannel_iface[16]; /* its own settings; or empty */
	char server[288], server_path[160];
	char data_dir[192], config[256];
	char folder[256];   /* of drop-ins, absolute */
	char own_path[256]; /* a file of ours in config.yaml.d that would win; empty: none would */
	char rival[256];    /* the file that sorts behind each of ours then */
	char problem[256];  /* what was not understood */
};

/* K3S_URL, RKE2_NODE_NAME and such: what is in it is a host or a path. */
bool rancher_reads_variable(const char *name);

/* @own: the flags of the unit itself. Return: 0 or -ENOMEM. */
int rancher_read(const struct fs *fs, const struct unit *u, const struct flags *own,
		 struct rancher *ret);
void rancher_done(struct rancher *r);
