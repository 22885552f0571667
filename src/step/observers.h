/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observers: the functions by which a look reads the facts of each room. What they read and where
 * from is at the top of the files that they are in, FACT-observe.c, and kubelet/look.c;
 * pci-observe.h and others are for more than a look. A want of memory is noted: node_result().
 */
#pragma once

#include "../model/boots.h"
#include "../os/os.h"

struct questions; /* plan.h */

/* Fills memory.boots and node.program. */
void observe_boots(const struct fs *fs, struct node *n, struct memory *memory);

/*
 * Fills node.netdevs (unless recorded ones are there already), .tunnel_ends, .addresses, .routes,
 * .rules, .neighbours, .netnses, .aways, .all, .now_usec and .indexes.
 */
int observe_net(struct os *d, struct node *n);

/* QUESTION_LOOKUPS: asks the kernel, into node.lookups. Return: how many were asked. */
int observe_lookups(struct os *d, const struct questions *q, struct node *n);

/*
 * Reads the links of other network namespaces: a macvlan, ipvlan or VLAN of a pod has a trace in
 * ours only where the function has an ibdev, as a GID. Nothing is forked, and no namespace is
 * entered.
 *
 * Fills node.netnses and node.aways of a running system: what is bound to a file of /run/netns
 * (ip-netns(8), the CNI) or /run/docker/netns. The name of one below /run/netns is its file name,
 * else the path. One that ended meanwhile is left out. Wants netdevs.
 */
void observe_namespaces(struct os *d, struct node *n);

/*
 * Fills vf_infos and has_silent_vfs (live roots only; a captured one has them in its answers),
 * is_recorded and is_switched of PFs, and is_random_mac of the netdevs of VFs. Needs functions and
 * netdevs. A driver that does not answer for its VFs leaves nothing of them.
 */
void observe_vfs(struct os *d, struct node *n, const struct memory *memory);

/* QUESTION_PCIE: node.vf_owners, where no capture has told them. */
void observe_vf_owners(const struct fs *fs, const struct questions *q, struct node *n);

/*
 * Fills netdev.sign of all netdevs. Wants netdevs and addresses. A recorder gets the lines that are
 * read.
 */
void observe_signs(const struct fs *fs, struct node *n);

/* Sets cni_pid of functions that are out, or back with other settings. */
void observe_cni(const struct fs *fs, struct node *n, const struct memory *memory);

/*
 * Fills node.metadatas; needs the netdevs of the node and the failures in @memory. METADATA_KNOWN
 * is an answer of this boot, as the pass that asked recorded it; the other states are of earlier
 * passes that asked and failed. A file that this service did not write counts as absent.
 */
void observe_metadata(const struct fs *fs, struct node *n, const struct memory *memory);

/*
 * Fills node.dcbs on the running system when @q asks for it. mlx5 answers for each PF with some
 * thirty commands to its firmware, under the RTNL. A PF that is being written to is left out.
 * Return: 1 when drivers were asked, 0, or -ENOMEM.
 */
int observe_dcbs(struct os *d, const struct questions *q, struct node *n,
		 const struct memory *memory);

/* Reads the defaults that rdma_cm has for each port: os/rdma.h. */
void observe_rdma_cm(const struct fs *fs, struct node *n);

/*
 * Asks the kernel about each destination without an answer (result -ENODATA). Below --root an
 * answer that the capture recorded stays, and others are computed: model/route-find.h. Wants
 * netdevs, addresses, routes, rules, tunnel_ends and the destinations of files.
 */
void observe_destinations_ask(struct os *d, struct node *n);

/*
 * Asks devlink for the health and the eswitch of functions. This look is separate, because it must
 * not be made while a write to a PCI function is stuck: it needs memory.stuck. Live roots only; a
 * captured tree has the answers.
 */
void observe_health(struct os *d, struct node *n, struct memory *memory);

/*
 * Are the drop-ins that rdma-provision-generator wrote others than the configuration asks for? Not
 * where systemd does not run, in a captured tree, for a file of --config, while the files are
 * others than @c, which is in force, and where another generator of that name, in /etc, /run or
 * /usr/local, takes the place of ours. Return: 1 stale, 0, or -ENOMEM.
 */
int observe_generated(const struct fs *fs, const struct config *c);

/*
 * Fills node.outputs for the paths that are asked for, and node.output_records. A look of its own,
 * since the paths are of the configuration. A link in the place of a file is not ours. What cannot
 * be read counts as a file of another program.
 */
void observe_files(const struct fs *fs, const struct config *c, struct node *n);
