/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loop: one pass, config and node to plan to apply to observe again to report. The only file that
 * sees every stage.
 */
#pragma once

#include "../model/world.h"
#include "../os/os.h"

struct pass;

/* The arguments of a pass, beside the configuration. */
struct pass {
	/*
	 * The steps to a goal that the configuration does not ask for, and that is not
	 * remembered: revert, early and bake have one. Return: 0 or -errno. NULL: all that the
	 * configuration asks for.
	 */
	int (*make_plan)(const struct pass *pass, const struct node *n, const struct memory *memory,
			 const struct attempts *tried, struct plan *ret);
	const struct config *config;
	bool is_wait_over;      /* ReadyTimeoutSec= is over */
	uint64_t wait_end_usec; /* CLOCK_MONOTONIC: it is then; 0: it never is in this pass */
	bool is_retry;   /* also try again what failed before in this boot; without is_first not
			    what takes away what works: step/attempts-plan.h */
	bool is_by_hand; /* an administrator waits for it: also try again what failed in
			    earlier boots */
	bool is_kept;    /* the configuration is that of the node: keep it as the last good one */
	const struct link_log *link_log; /* what links told the service; NULL: nobody listens */
	bool is_service; /* nothing is changed after "revert", until the next start or reload */
	bool is_first;   /* after a start or reload, no repetition: problems are worth a line, and
			    what others undid again and again is done once more */
	/* Called before each change; may be NULL. */
	void (*on_start)(void *userdata, const struct action *a, uint64_t deadline_usec);
	/* Called when there is nothing to do but to wait for its end; may be NULL. */
	void (*on_wait_for)(void *userdata, const struct action *a);
	/* Another pass holds the lock; and, with @is_over, it has ended. May be NULL. */
	void (*on_wait)(void *userdata, bool is_over);
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
	bool is_watched;    /* [Health]: errors of a PCIe link have no event either */
	uint32_t n_lost; /* devices that another look, SettleSec= later, has to confirm as lost */
	int n_failed;    /* changes that failed now or before and are still wanted */
	uint64_t again_usec; /* CLOCK_MONOTONIC, when what is left alone is tried again; 0: nothing
				is */
	char summary[192];   /* one line for people */
	char files[2][256];  /* the kubelet's file and its folder of drop-ins; empty: none */
};

/* The hint configuration-changed, where state.json is of another configuration than @c. */
int loop_add_config_changed(const struct config *c, const struct memory *memory, struct plan *p);

struct inspection {
	struct node node;
	struct memory memory;
	struct plan plan;
};

void inspection_done(struct inspection *in);

/* Observes and plans, changing nothing. Libibverbs is tried where that is due. */
int loop_plan(struct os *d, const struct config *c, struct inspection *ret);

/*
 * The lock of a pass, waited for; closing the descriptor releases it. Held by this process alone: a
 * child that gets stuck must not keep it (hence no flock). @pass: for its on_wait; or NULL. Return:
 * fd, or -errno, which is logged with the path.
 */
int loop_lock(const struct fs *fs, const struct pass *pass);

/* A whole pass under the lock of the service (/run/rdma-provision/lock). Live roots only. */
int loop_pass(const struct world *w, const struct pass *pass, struct pass_result *ret);
/* The loop alone: the caller has the lock. */
int loop_rounds(const struct world *w, const struct pass *pass, struct pass_result *ret);

/*
 * Forgets the losses of a NIC under the lock: in what is remembered and in the state, which stays
 * starting, ready or degraded. Changes nothing else. Live roots only. Return: 0; -ESTALE: @c is not
 * the configuration of the last pass; or -errno.
 */
int loop_clear(const struct world *w, const struct config *c, const char *pci);

/* The document of "status --json", made by looking now. @is_of_node: the service is to run with @c.
 */
int loop_state(struct os *d, const struct config *c, bool is_of_node, char **ret);
