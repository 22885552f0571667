/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set: the drop-in of "set" and "unset", /etc/rdma-provision/rdma-provision.conf.d/50-set.conf, and
 * the link to a preset beside it, 10-preset.conf.
 *
 * All or nothing: what is asked for in one call is checked together with everything else that is in
 * force, unknown keys included, and only then written. It changes no other file, and nothing on the
 * node: that is for a reload. Calls that run at the same time wait for each other, 30 s at
 * most: SET_LOCK_PATH of model/paths.h.
 */
#pragma once

#include "../model/config.h"
#include "../os/fs.h"

struct os;

struct set_request {
	bool is_unset;
	bool is_trial; /* the configuration is made, and nothing is written */
	char **keys;   /* "SECTION.KEY=VALUE", or "SECTION.KEY" to unset */
	size_t n_keys;
	bool with_preset;
	const char *preset; /* its name; NULL with with_preset: remove the link */
	struct os *os; /* what its device plugin would refuse is not written; NULL: anything is */
};

struct set_result {
	struct config config; /* as it is now; release with config_done() */
	bool is_same;         /* what is in force is what was in force before */
};

/**
 * set_change() - make one change of the configuration
 * @ret: filled in on success
 *
 * Settings that are written, errors, and settings that other files override are logged.
 *
 * Return: 1 when something was written; 0 when there was nothing to change; or -errno, and then
 * nothing was written.
 */
int set_change(const struct fs *fs, const struct set_request *req, struct set_result *ret);
