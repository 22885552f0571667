/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet: its topology manager policy as a look shows it, kubelet-ensure that a unit of systemd
 * runs, and an agent that writes the file as well. In the lives with namespaces, so that the others
 * stay what they were.
 *
 * A running kubelet reads its file once, when it starts: what was changed then is deferred. The
 * units' drop-ins are a generator's, which runs when systemd reloads: systemd.generator(7).
 */
#include "../../src/model/kubelet.h"
#include "sim.h"

static struct {
	bool is_there, is_deferred, is_stale;
	bool was_wrong; /* at a look of this pass: an agent may have been faster than its plan */
	enum reason refusal; /* REASON_NONE: its file can be changed */
	bool is_cpu_unreserved;
} kubelet;

/* Nobody declares what the linker makes of --wrap. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* The reasons by which rows[] in src/kubelet/decide-rules.c refuses a change of a file. */
static const enum reason refusals[] = {
	REASON_KUBELET_FILE_REFUSED, REASON_KUBELET_FLAG_WINS,     REASON_KUBELET_UNCLEAR,
	REASON_KUBELET_MANAGED,      REASON_KUBELET_VALUE_UNKNOWN, REASON_KUBELET_NO_FILE,
	REASON_KUBELET_NUMA_NODES,
};

void kubelet_boot(void)
{
	if (!is_life_with_namespaces())
		return;
	if (sim.kubelet_policy == TOPOLOGY_POLICY_UNSET)
		sim.kubelet_policy = TOPOLOGY_POLICY_NONE;
	kubelet.is_there = sim_random(4) > 0;
	kubelet.refusal =
		sim_random(3) > 0 ? REASON_NONE : refusals[sim_random(ELEMENTSOF(refusals))];
	kubelet.is_deferred = kubelet.is_stale = false;
	kubelet.is_cpu_unreserved = sim_random(2) == 0;
}

void kubelet_write(FILE *f)
{
	if (!is_life_with_namespaces())
		return;
	kubelet.is_stale = sim.is_reconfigured;
	if (sim_random(3) == 0)
		fputs("[Kubelet]\nCPUManagerPolicy=static\n", f);
	else
		fprintf(f, "[Kubelet]\nTopologyManagerPolicy=%s\n",
			sim_random(2) == 0 ? "restricted" : "best-effort");
}

static bool is_right(const struct config *c)
{
	return sim.kubelet_policy >= c->kubelet.topology_policy;
}

/* Without CPUs in reserve, or with pods beside another policy's state, it does not start. */
static void show_cpus(struct kubelet_item *item)
{
	item->row = 1;
	item->outcome = KUBELET_REFUSED;
	item->reason = kubelet.is_cpu_unreserved ? REASON_KUBELET_CPU_RESERVATION
						 : REASON_KUBELET_CPU_STATE;
	COPY(item->path, "/var/lib/kubelet/config.yaml");
	COPY(item->to, "static");
}

void kubelet_begin_pass(void)
{
	kubelet.was_wrong = false;
}

void kubelet_show(const struct config *c, struct node *n)
{
	struct kubelet_item *item = &n->kubelet_decision.items[KUBELET_TOPOLOGY_POLICY];

	if (!is_life_with_namespaces())
		return;
	n->is_generated_stale = kubelet.is_stale;
	n->kubelet.is_there = kubelet.is_there;
	n->kubelet.is_deferred = kubelet.is_deferred;
	if (kubelet.is_there && c->kubelet.cpu_policy == CPU_POLICY_STATIC)
		show_cpus(&n->kubelet_decision.items[KUBELET_CPU_POLICY]);
	if (!kubelet.is_there || c->kubelet.topology_policy == TOPOLOGY_POLICY_UNSET)
		return;
	kubelet.was_wrong |= !is_right(c);
	item->row = 1;
	COPY(item->path, "/var/lib/kubelet/config.yaml");
	COPY(item->from, topology_policy_name(sim.kubelet_policy));
	COPY(item->to, topology_policy_name(c->kubelet.topology_policy));
	item->outcome = is_right(c)                                 ? KUBELET_SATISFIED
			: kubelet.refusal == REASON_NONE            ? KUBELET_CHANGED
			: kubelet.refusal == REASON_KUBELET_NO_FILE ? KUBELET_WAITING
								    : KUBELET_REFUSED;
	item->reason = item->outcome == KUBELET_SATISFIED ? REASON_NONE : kubelet.refusal;
}

/* kubeadm, or whatever else renders that file. */
void kubelet_act(void)
{
	if (!is_life_with_namespaces())
		return;
	sim.kubelet_policy =
		sim_random(2) == 0 ? TOPOLOGY_POLICY_NONE : TOPOLOGY_POLICY_BEST_EFFORT;
	kubelet.is_deferred = false;
	sim_trace("an agent writes the kubelet's file, and starts it again");
	others_tell();
}

int kubelet_request(enum want what)
{
	if (what == WANT_UNITS && is_life_with_namespaces()) {
		if (!kubelet.is_stale)
			sim_fail("systemd reloads, and has nothing to generate");
		kubelet.is_stale = false;
	}
	if (what != WANT_KUBELET)
		return 0;
	if (!kubelet.is_there || !kubelet.was_wrong || kubelet.refusal != REASON_NONE)
		sim_fail("kubelet-ensure is run, and has nothing to do");
	if (is_right(sim.config)) /* ensure() in src/kubelet/ensure.c: it decides once more */
		return 0;
	if (sim_chance(sim.rates.error))
		return sim_chance(500000) ? -EIO : 0; /* a wish that was taken, and failed */
	sim.kubelet_policy = sim.config->kubelet.topology_policy;
	kubelet.is_deferred = sim_random(2) == 0;
	return 0;
}
