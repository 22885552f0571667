/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Check: what "check" says of a configuration, and of what a device plugin would make of its file.
 */
#pragma once

#include "../model/plan.h"

/**
 * output_check_plugin() - what of the device plugin is an error
 * @c:    the configuration
 * @p:    a plan for the node as it is, or NULL: it was not looked at
 * @ret:  a sentence, owned by the caller; NULL: nothing is wrong
 *
 * An error is what no waiting will mend: the plugin would refuse its file or expose nothing of it,
 * or asks for what a device never has (eRDMA in default mode has no umad). A device that is not
 * usable yet is none.
 *
 * Return: 0 or -ENOMEM.
 */
int output_check_plugin(const struct config *c, const struct plan *p, char **ret);

/* Finds, as output_check_plugin(), that nothing is exposed when the plan is done, on a node that is
 * to have a NIC for it, with the reason and advice of the first device that is left out. More NICs
 * may come, so this is no reason not to set something. */
int output_check_exposed(const struct config *c, const struct plan *p, char **ret);

/* Finds, as output_check_plugin(), that a setting of [Kubelet] is refused on this node, by us or by
 * a kubelet that would exit. */
int output_check_kubelet(const struct config *c, const struct plan *p, char **ret);

/**
 * output_check() - the verdict for programs
 * @problems: sentences: file, line, key, value, what is accepted; or of output_check_plugin()
 * @c, @p:    as above; @p may be NULL, and then the plugin is left out
 * @ret: {"valid":true,"problems":[]}, and with a plugin
 * "plugin":{"type","path","devices":[{"pci","resource"}],"resources":[{"resource","devices",
 * "allocatable","shared","devices_now"}],"excluded":[{"target","code","meaning",
 * "detail","advice"}]}: what is exposed now, what is when the plan is done, and what is not (or,
 * with plugin-foreign, beside)
 *
 * Return: 0 or -ENOMEM.
 */
int output_check(const char *const *problems, size_t n_problems, const struct config *c,
		 const struct plan *p, char **ret);

/* Makes "plugin" of output_check(). Return: NULL when there is no memory. */
struct json_t;
struct json_t *output_check_make_plugin(const struct config *c, const struct plan *p);
/* The first item of "excluded" that is not exposed; NULL: none. */
const struct json_t *output_check_first(const struct json_t *excluded);

/* Describes "plugin" for people, a line for each device that is left out. 0 or -ENOMEM. */
int output_check_text(const struct config *c, const struct plan *p, char **ret);

/*
 * The devices that the device plugin exposes when the plan is done, beside those it exposes now. A
 * device counts in n_after when it is handed out and usable, when a change of the plan gives it
 * what it lacks, or when that comes by itself, as a carrier or an address; VFs that the plan makes
 * count where they have RDMA, VFs that it refuses to make do not. No device counts without a module
 * that it needs.
 */
struct forecast {
	struct forecast_pool {
		char resource[RESOURCE_LEN];
		size_t n_now, n_after; /* devices */
		size_t n_infiniband;   /* devices of n_after */
		size_t n_down;         /* those on ports that are down and stay so */
		size_t n_nics;         /* PFs of the devices of n_after */
	} *pools;                      /* owned; in the order of the devices */
	size_t n_pools;
};

int forecast_make(const struct config *c, const struct plan *p, struct forecast *ret);
void forecast_done(struct forecast *f);

/* In pod.c: a pod that asks for these devices, for "check --pod". -ENODATA: there will be no device
 * to ask for. */
int output_pod(const struct config *c, const struct node *n, const struct plan *p,
	       const struct forecast *f, char **ret);
