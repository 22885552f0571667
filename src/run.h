/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run: one pass, config and node to plan to apply to observe again to report. The only file that
 * sees every stage.
 */
#pragma once

#include "doors/doors.h"
#include "model/world.h"

struct pass;

/* What a pass is told, beside the configuration. */
struct pass {
	/*
	 * The steps to a goal that is not what the configuration asks for, of which nothing is
	 * remembered: revert, early and bake have one. @tried: what this pass tried before. Return:
	 * 0 or -errno. NULL: all that the configuration asks for.
	 */
	int (*make_plan)(const struct pass *pass, const struct node *n, const struct plan *tried,
			 struct plan *ret);
	const struct config *config;
	bool is_settled;       /* ReadyTimeoutSec= is over */
	uint64_t settled_usec; /* CLOCK_MONOTONIC: it is then; 0: it never is in this pass */
	bool is_retry;         /* also try again what failed before in this boot */
	bool is_kept;    /* the configuration is that of the node: keep it as the last good one */
	bool is_service; /* nothing is changed after "revert", until the next start or reload */
	bool is_first;   /* after a start or reload, no repetition: problems are worth a line, and
			    what others undid again and again is done once more */
	/* Called before each change; may be NULL. */
	void (*on_start)(void *userdata, const struct action *a, uint64_t deadline_usec);
	/* Called when there is nothing to do but to wait for its end; may be NULL. */
	void (*on_wait_for)(void *userdata, const struct action *a);
	void (*on_wait)(void *userdata); /* another pass holds the lock; may be NULL */
	/*
	 * Called after the first look, before the node is changed; may wait; may be NULL.
	 * @is_ready: nothing is left to be done to the node, but its files may be.
	 */
	void (*on_looked)(void *userdata, bool is_ready);
	void *userdata;
};

struct pass_result {
	enum node_state state;
	int exit_code;      /* of "apply" */
	int n_changes;      /* tried */
	uint32_t n_waiting; /* items that wait for a device, a port, an address */
	uint32_t n_absent;  /* of them: RDMA devices of functions that have a driver */
	uint32_t n_silent;  /* InfiniBand devices whose port nobody announces */
	uint32_t n_lost; /* devices that another look, SettleSec= later, has to confirm as lost */
	int n_failed;    /* changes that failed now or before and are still wanted */
	uint64_t again_usec; /* CLOCK_MONOTONIC, when what is left alone is tried again; 0: nothing
				is */
	char summary[192];   /* one line for people */
};

int run_open(const char *root, struct doors *ret); /* NULL: the running system */
void run_close(struct doors *d);

/* The hint configuration-changed, where state.json is of another configuration than @c. */
int run_add_config_changed(const struct config *c, const struct node *n, struct plan *p);

/*
 * Is there a node to look at? Not in the tree of an image, nor in a chroot, where sysfs, when there
 * is one, shows the machine that builds.
 */
bool run_has_node(const struct fs *fs);

/*
 * Is the configuration valid, and would the device plugin take what is written for it? Unknown keys
 * are errors. @ret: the document of "check --json"; or with @is_json false, where problems are
 * logged, what the plugin would expose on this node, if there is one, line by line. Return: 0,
 * -EINVAL when something is wrong, or another -errno without a text.
 */
int run_check(struct doors *d, const char *file, bool is_json, char **ret);

/* Observes and plans, changing nothing; release both. Libibverbs is tried where that is due. */
int run_plan(struct doors *d, const struct config *c, bool is_settled, struct plan *tried,
	     struct node *ret_node, struct plan *ret);

/*
 * The lock of a pass, waited for; closing the descriptor releases it. Held by this process alone: a
 * child that gets stuck must not keep it (hence no flock). @pass: for its on_wait; or NULL. Return:
 * fd or -errno.
 */
int run_lock(const struct fs *fs, const struct pass *pass);

/* A whole pass under the lock of the service (/run/rdma-provision/lock). Live roots only. */
int run_pass(const struct world *w, const struct pass *pass, struct pass_result *ret);
/* The loop alone: the caller has the lock. */
int run_rounds(const struct world *w, const struct pass *pass, struct pass_result *ret);

/*
 * For when no pass tells: they fail, or the time is over while one goes on. The last state becomes
 * that of a degraded node with @reason, and what it remembers is kept. Observes nothing, takes no
 * lock, waits for nobody: a state that the pass writes between its reading and its writing is lost
 * until the next pass, which looks at everything again. Return: 0 or -errno.
 */
int run_degrade(const struct config *c, enum reason reason, const char *detail);

/* The document of "status --json", made by looking now. */
int run_state(struct doors *d, const struct config *c, char **ret);

/*
 * Why one device is or is not usable, by looking now: the document of "explain --json", or with
 * @is_json false its picture. @name: a PCI address, netdev or RDMA device, or "kubelet" or
 * "plugin", which mean these. Errors are logged. Return: 0, -ENODEV when nothing has that name, or
 * another -errno.
 */
int run_explain(struct doors *d, const struct config *c, const char *name, bool is_json,
		char **ret);
