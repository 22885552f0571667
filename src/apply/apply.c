/* SPDX-License-Identifier: Apache-2.0 */
#include "apply.h"

#include "../base/log.h"
#include "child.h"
#include "verbs.h"

/*
 * How long a verb may take. A VF may cost the kernel 120 s when its firmware is slow, and 0.6 s
 * when all is well: drivers/net/ethernet/mellanox/mlx5/core/lib/tout.c; loading a driver probes its
 * devices.
 */
static const struct {
	int (*run)(struct work *w, const struct action *a);
	uint64_t base_usec, each_usec; /* each: for one of the number in "to" or "from" */
} verbs[] = {
	[VERB_WAIT] = { NULL, 0, 0 },
	[VERB_LOAD_MODULE] = { apply_load_module, 150 * USEC_PER_SEC, 0 },
	[VERB_RELOAD_MODULE] = { apply_reload_module, 300 * USEC_PER_SEC, 0 },
	[VERB_SET_OPTION] = { NULL, 0, 0 },
	[VERB_BIND_DRIVER] = { apply_bind_driver, 130 * USEC_PER_SEC, 0 },
	[VERB_PROBE_DRIVER] = { apply_probe_driver, 300 * USEC_PER_SEC, 0 },
	[VERB_SET_NETNS_MODE] = { apply_set_netns_mode, 10 * USEC_PER_SEC, 0 },
	[VERB_SET_NUM_VFS] = { apply_set_num_vfs, 120 * USEC_PER_SEC, 600 * USEC_PER_MSEC },
	[VERB_WRITE_RULES] = { apply_write_rules, 30 * USEC_PER_SEC, 0 },
	[VERB_SET_AUTOPROBE] = { apply_set_autoprobe, 30 * USEC_PER_SEC, 0 },
	[VERB_SET_VF_MAC] = { apply_set_vf_mac, 30 * USEC_PER_SEC, 0 },
	[VERB_SET_VF_GUID] = { apply_set_vf_guid, 30 * USEC_PER_SEC, 0 },
	[VERB_SET_VF_TRUST] = { apply_set_vf_trust, 30 * USEC_PER_SEC, 0 },
	[VERB_SET_VF_LINK] = { apply_set_vf_link, 30 * USEC_PER_SEC, 0 },
	[VERB_REBIND_DRIVER] = { apply_rebind_driver, 260 * USEC_PER_SEC, 0 },
	[VERB_SET_LINK_UP] = { apply_set_link_up, 30 * USEC_PER_SEC, 0 },
	[VERB_SET_MTU] = { apply_set_mtu, 30 * USEC_PER_SEC, 0 },
	[VERB_SET_METRIC] = { apply_set_metric, 10 * USEC_PER_SEC, 0 },
	[VERB_SET_SYSCTL] = { apply_set_sysctl, 10 * USEC_PER_SEC, 0 },
	[VERB_ADD_ADDRESS] = { apply_add_address, 10 * USEC_PER_SEC, 0 },
	[VERB_REMOVE_ADDRESS] = { apply_remove_address, 10 * USEC_PER_SEC, 0 },
	[VERB_SET_ROUTE] = { apply_set_route, 10 * USEC_PER_SEC, 0 },
	[VERB_REMOVE_ROUTE] = { apply_remove_route, 10 * USEC_PER_SEC, 0 },
	[VERB_ADD_RULE] = { apply_add_rule, 10 * USEC_PER_SEC, 0 },
	[VERB_REMOVE_RULE] = { apply_remove_rule, 10 * USEC_PER_SEC, 0 },
	[VERB_KEEP_NEIGHBOUR] = { apply_keep_neighbour, 10 * USEC_PER_SEC, 0 },
	[VERB_PROBE_NEIGHBOUR] = { apply_probe_neighbour, 10 * USEC_PER_SEC, 0 },
	[VERB_REMOVE_NEIGHBOUR] = { apply_remove_neighbour, 10 * USEC_PER_SEC, 0 },
	[VERB_ASK_METADATA] = { apply_ask_metadata, 20 * USEC_PER_SEC, 0 },
	[VERB_SET_PNETID] = { apply_set_pnetid, 10 * USEC_PER_SEC, 0 },
	[VERB_ENSURE_KUBELET] = { apply_ensure_kubelet, 30 * USEC_PER_SEC, 0 },
	[VERB_RELOAD_UNITS] = { apply_reload_units, 60 * USEC_PER_SEC, 0 },
	[VERB_WRITE_PLUGIN] = { apply_write_plugin, 30 * USEC_PER_SEC, 0 },
	[VERB_REMOVE_PLUGIN] = { apply_remove_plugin, 30 * USEC_PER_SEC, 0 },
	[VERB_WRITE_MANIFEST] = { apply_write_manifest, 30 * USEC_PER_SEC, 0 },
	[VERB_REMOVE_MANIFEST] = { apply_remove_manifest, 30 * USEC_PER_SEC, 0 },
	[VERB_WRITE_OUTPUT] = { apply_write_output, 30 * USEC_PER_SEC, 0 },
	[VERB_REMOVE_OUTPUT] = { apply_remove_output, 30 * USEC_PER_SEC, 0 },
};
_Static_assert(ELEMENTSOF(verbs) == _VERB_N, "a line for every verb");

static uint64_t deadline_of(const struct action *a)
{
	uint64_t from = strtoul(a->from, NULL, 10), to = strtoul(a->to, NULL, 10);

	return verbs[a->verb].base_usec + MAX(from, to) * verbs[a->verb].each_usec;
}

/* What the child gets of a plan. */
struct job {
	struct work work;
	bool is_own; /* the doors are the child's */
};

/* The parent's sockets have its answers in flight: the child opens its own. */
static void take_doors(struct job *job)
{
	if (!job->is_own) {
		netlink_done(&job->work.doors->route);
		netlink_done(&job->work.doors->rdma);
		netlink_done(&job->work.doors->devlink);
		netlink_done(&job->work.doors->smc);
	}
	job->is_own = true;
	/* What the kernel said of another action. */
	job->work.doors->rdma.error[0] = job->work.doors->route.error[0] = '\0';
}

static int run_job(void *userdata, size_t i, char *error)
{
	struct job *job = userdata;
	const struct action *a = &job->work.plan->actions[i];
	int r;

	take_doors(job);
	job->work.error = error;
	r = verbs[a->verb].run(&job->work, a);
	/* The kernel's own words, where it has some. */
	if (r < 0 && !error[0])
		copy(error, CHILD_ERROR_LEN,
		     job->work.doors->rdma.error[0] ? job->work.doors->rdma.error
						    : job->work.doors->route.error);
	return r;
}

/*
 * Was the function of this node unplugged before or while it was written to? The driver of a PF
 * leaves it first, and takes its VFs along.
 */
static bool is_gone(const struct doors *d, const struct node *n, const struct action *a)
{
	const struct pci *pci = node_pci(n, a->target);
	char path[320];

	if (!pci)
		return false;
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s%s", a->target,
		 a->verb == VERB_SET_NUM_VFS && pci->driver[0] ? "/driver" : "");
	return !fs_exists(&d->fs, path);
}

/*
 * VFs that could not be removed are there still, with somebody on them: what follows of the same
 * card was meant for none, and its next plan tells what is to be done.
 */
static bool is_void(const struct node *n, const struct plan *p, size_t i)
{
	const struct action *a = &p->actions[i];
	const struct pci *pci = node_pci(n, a->target);

	for (size_t k = 0; k < i && a->step == STEP_VF; k++) {
		const struct action *b = &p->actions[k];

		if (b->verb == VERB_SET_NUM_VFS && b->is_done && b->result < 0 &&
		    streq(b->to, "0") &&
		    (streq(b->target, a->target) || (pci && streq(b->target, pci->physfn))))
			return true;
	}
	return false;
}

/*
 * What takes udev long is made beside what udev has no part in: it reads its rules anew while the
 * links of PFs come up. The first VF waits for it.
 */
static bool goes_beside(const struct action *a)
{
	return a->verb == VERB_WRITE_RULES;
}

static bool may_overtake(const struct action *a)
{
	return a->verb == VERB_SET_LINK_UP || a->verb == VERB_SET_MTU || a->verb == VERB_SET_SYSCTL;
}

static void end_action(struct doors *d, const struct node *n, const struct apply_hooks *hooks,
		       struct action *a)
{
	a->is_done = true;
	a->is_gone = a->result < 0 && is_gone(d, n, a);
	hooks->on_end(hooks->userdata, a);
}

/* An action that goes on while others are made. */
struct beside {
	struct child child;
	struct action *action; /* NULL: none does */
	uint64_t until_usec;
};

static int begin_beside(struct beside *b, struct action *a, size_t i)
{
	int r = child_begin(&b->child, i);

	if (r < 0)
		return r;
	b->action = a;
	b->until_usec = now_usec() + deadline_of(a);
	return 0;
}

static void end_beside(struct doors *d, const struct node *n, const struct apply_hooks *hooks,
		       struct beside *b)
{
	struct action *a = b->action;

	if (!a)
		return;
	b->action = NULL;
	a->result = child_end(&b->child, b->until_usec, a->error, sizeof(a->error));
	end_action(d, n, hooks, a);
}

int apply_plan(struct doors *d, const struct node *n, const struct apply_hooks *hooks,
	       struct plan *p)
{
	struct job job = { .work = { .doors = d, .node = n, .plan = p, .rules = p->rules } };
	_cleanup_(child_done) struct child child = { .call = run_job, .userdata = &job };
	struct beside beside = { .child = { .call = run_job, .userdata = &job } };
	int n_tried = 0;

	for (size_t i = 0; i < p->n_actions; i++) {
		struct action *a = &p->actions[i];

		if (a->class != CLASS_CHANGE || a->is_done || is_void(n, p, i))
			continue;
		if (!may_overtake(a))
			end_beside(d, n, hooks, &beside);

		hooks->on_start(hooks->userdata, a, deadline_of(a));
		n_tried++;
		a->result = hooks->recheck && is_destructive(a)
				    ? hooks->recheck(hooks->userdata, a, a->error, sizeof(a->error))
				    : 0;
		if (a->result >= 0 && goes_beside(a)) {
			a->result = begin_beside(&beside, a, i);
			if (a->result >= 0)
				continue;
		} else if (a->result >= 0) {
			a->result =
				child_call(&child, i, deadline_of(a), a->error, sizeof(a->error));
		}
		end_action(d, n, hooks, a);
		/* No more writes to PCI functions in this boot: the next plan leaves them out. */
		if (plan_stuck(p)[0])
			break;
	}
	end_beside(d, n, hooks, &beside);
	child_done(&beside.child);
	return n_tried;
}
