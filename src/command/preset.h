/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preset: the link /etc/rdma-provision/rdma-provision.conf.d/10-preset.conf to one of the files in
 * /usr/lib/rdma-provision/presets.
 *
 * Only such a link is ever replaced or removed. The target is absolute, and below --root it is of
 * that tree.
 *
 * Which one is for this node, as "set --preset=auto" asks, plan_preset() tells. Pure.
 *
 * It knows the node label of VKE, which --node-labels of the kubelet or LabelFile= tells, and eRDMA
 * functions, which only ACK serves. Other NICs are in more than one of the systems, which the type
 * of the instance tells: ecs.scc* are those of Super Computing Clusters of Alibaba Cloud; ecs.hpc*
 * and ecs.ebmhpc* are the HPC types of Volcengine, whose documentation of the plugin recommends
 * "shared", but for ecs.hpcg1ve.21xlarge, and ecs.hpcpni2.28xlarge in some regions, which need
 * "exclusive". Otherwise the caller has to name the preset; for NICs of other drivers
 * there is none.
 */
#pragma once

#include "../model/node.h"

#include <limits.h>

struct fs;
struct os;

struct preset {
	bool is_new;                          /* the link is not as it will be */
	char target[PATH_MAX], old[PATH_MAX]; /* of the link; empty: there is none */
	char *text; /* owned; what is in it; NULL: there will be no link */
	size_t size;
};

void preset_done(struct preset *p);

/**
 * preset_find() - what a preset has in it, and may the link to it be made?
 * @name: "vke-shared"; NULL: for removing the link
 * @is_trial: of a tree without this preset, take that of the running system
 *
 * Errors are logged; an unknown name with those that there are. Return: 0 or -errno.
 */
int preset_find(const struct fs *fs, const char *name, bool is_trial, struct preset *ret);

/* Makes or removes a link that is new; @is_back: as it was when it was found. 0, 1 or -errno. */
int preset_put(const struct fs *fs, const struct preset *p, bool is_back);

struct preset_choice {
	char name[32];    /* "vke-shared"; empty: it cannot be told */
	char why[192];    /* what of the node says so, or what is missing */
	char advice[128]; /* what to do where it cannot be told */
	bool wants_type;  /* the instance's type would tell */
};

/* @type: of the instance; empty: not known */
void plan_preset(const struct node *n, const char *type, struct preset_choice *ret);

/* Chooses the preset of --preset=auto for this node; @ret_name is in @ret. Return: 0 or -errno,
 * which is logged. */
int preset_choose(struct os *d, struct preset_choice *ret, const char **ret_name);

/* Logs the names of the presets: "--preset= takes one of ack-erdma, ...". */
void preset_list(const struct fs *fs, const char *begin);
