/* SPDX-License-Identifier: Apache-2.0 */
#include "start.h"

#include "cpus.h"

#define MAX_NODES       8 /* defaultMaxAllowableNUMANodes in topologymanager/topology_manager.go */
#define MINOR_LOOKED_AT 35
#define POLICY_NONE     1 /* of topology policies, and of CPU policies */
#define SINGLE_NODE     "single-numa-node"

static const char *const option_names[] = {
	[CPU_OPTION_FULL_PCPUS] = "full-pcpus-only",
	[CPU_OPTION_ACROSS_NUMA] = "distribute-cpus-across-numa",
	[CPU_OPTION_ACROSS_CORES] = "distribute-cpus-across-cores",
	[CPU_OPTION_BY_SOCKET] = "align-by-socket",
	[CPU_OPTION_STRICT] = "strict-cpu-reservation",
	[CPU_OPTION_UNCORE] = "prefer-align-cpus-by-uncorecache",
};
_Static_assert(ELEMENTSOF(option_names) == _CPU_OPTION_N, "a name for every option");

const char *start_option(enum cpu_option o)
{
	return option_names[o];
}

const struct start_gate start_gates[START_GATES_N] = {
	{ "TopologyManager", 29 },
	{ "CPUManager", 33 },
	{ "DevicePluginCDIDevices", 34 },
};

struct start_question {
	const struct kubelet_found *k;
	const struct start_policies *p;
	bool is_static;
};

static bool has_option(const struct start_question *q, enum cpu_option o)
{
	return q->is_static && q->k->start.cpu_options >> o & 1;
}

/* Is the version that new? One that is not known is taken for a newer one. */
static bool is_since(const struct start_question *q, uint32_t minor)
{
	return q->k->minor == 0 || q->k->minor >= minor;
}

static bool is_socket_and_node(const struct start_question *q, char ret[256])
{
	snprintf(ret, 256,
		 "Topolgy manager " SINGLE_NODE
		 " policy is incompatible with CPUManager align-by-socket policy option");
	return has_option(q, CPU_OPTION_BY_SOCKET) &&
	       q->p->topology == kubelet_rank(KUBELET_TOPOLOGY_POLICY, SINGLE_NODE);
}

static bool has_more_sockets(const struct start_question *q, char ret[256])
{
	snprintf(ret, 256,
		 "Align by socket is not compatible with hardware where number of "
		 "sockets are more than number of NUMA");
	return has_option(q, CPU_OPTION_BY_SOCKET) && q->p->n_numa_nodes != CPUS_UNKNOWN &&
	       q->k->start.n_packages > MAX(q->p->n_numa_nodes, 1);
}

static bool has_unlike_options(const struct start_question *q, char ret[256])
{
	static const enum cpu_option pairs[][2] = {
		{ CPU_OPTION_FULL_PCPUS, CPU_OPTION_ACROSS_CORES },
		{ CPU_OPTION_ACROSS_NUMA, CPU_OPTION_ACROSS_CORES },
		{ CPU_OPTION_UNCORE, CPU_OPTION_ACROSS_CORES },
		{ CPU_OPTION_UNCORE, CPU_OPTION_ACROSS_NUMA },
	};

	for (size_t i = 0; i < ELEMENTSOF(pairs); i++)
		if (has_option(q, pairs[i][0]) && has_option(q, pairs[i][1])) {
			snprintf(ret, 256,
				 "static policy options %s and %s can not be used at the same time",
				 option_names[pairs[i][0]], option_names[pairs[i][1]]);
			return true;
		}
	return false;
}

/* Up to the newest version that was looked at. */
static bool has_alpha_option(const struct start_question *q, char ret[256])
{
	static const enum cpu_option alpha[] = { CPU_OPTION_BY_SOCKET, CPU_OPTION_ACROSS_CORES };

	for (size_t i = 0; i < ELEMENTSOF(alpha) && !q->k->start.has_alpha_options &&
			   q->k->minor <= MINOR_LOOKED_AT;
	     i++)
		if (has_option(q, alpha[i])) {
			snprintf(ret, 256,
				 "CPU Manager Policy Alpha-level Options not enabled, but "
				 "option \"%s\" provided",
				 option_names[alpha[i]]);
			return true;
		}
	return false;
}

static bool has_many_nodes(const struct start_question *q, char ret[256])
{
	snprintf(ret, 256, "unsupported on machines with more than %d NUMA Nodes", MAX_NODES);
	return q->p->topology > POLICY_NONE && q->p->n_numa_nodes != CPUS_UNKNOWN &&
	       q->p->n_numa_nodes > MAX(MAX_NODES, q->k->max_numa_nodes);
}

static bool has_small_maximum(const struct start_question *q, char ret[256])
{
	snprintf(ret, 256,
		 "the minimum value of \"max-allowable-numa-nodes\" should not be less "
		 "than %d",
		 MAX_NODES);
	return q->p->topology > POLICY_NONE && q->k->max_numa_nodes > 0 &&
	       q->k->max_numa_nodes < MAX_NODES && is_since(q, 31);
}

static bool has_gone_gate(const struct start_question *q, char ret[256])
{
	for (size_t i = 0; i < START_GATES_N; i++)
		if (q->k->start.gates >> i & 1 && q->k->minor >= start_gates[i].minor) {
			snprintf(ret, 256, "unrecognized feature gate: %s", start_gates[i].name);
			return true;
		}
	return false;
}

static bool has_other_cpus(const struct start_question *q, char ret[256])
{
	const struct kubelet_cpus *c = &q->k->seen.cpus;

	copy(ret, 256, c->list_problem);
	return *c->list_problem;
}

static bool has_list_and_cgroup(const struct start_question *q, char ret[256])
{
	snprintf(ret, 256,
		 "can't use reservedSystemCPUs (--reserved-cpus) with "
		 "systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup "
		 "(--kube-reserved-cgroup)");
	return q->k->seen.cpus.is_list && q->k->seen.cpus.has_cgroup;
}

static bool has_no_reserved_cpu(const struct start_question *q, char ret[256])
{
	const struct kubelet_cpus *c = &q->k->seen.cpus;

	snprintf(ret, 256,
		 "[cpumanager] unable to determine reserved CPU resources for static "
		 "policy");
	return q->is_static && !q->p->is_reserved && c->n_reserved == 0 && !c->is_unclear;
}

static bool has_all_cpus_reserved(const struct start_question *q, char ret[256])
{
	const struct kubelet_cpus *c = &q->k->seen.cpus;

	snprintf(ret, 256, "[cpumanager] unable to reserve the required amount of CPUs");
	return q->is_static && c->n_online > 0 && c->n_reserved > c->n_online && !c->is_unclear;
}

static bool has_other_cpu_state(const struct start_question *q, char ret[256])
{
	const struct kubelet_cpus *c = &q->k->seen.cpus;
	const char *policy = q->is_static ? "static" : "none";

	if (streq(c->checkpoint, "damaged"))
		snprintf(ret, 256, "could not restore state from checkpoint: %.200s",
			 c->checkpoint_path);
	else
		snprintf(ret, 256,
			 "configured policy \"%s\" differs from state checkpoint policy \"%s\": "
			 "%.140s",
			 policy, c->checkpoint, c->checkpoint_path);
	return q->p->is_cpu_state_asked && q->p->cpu > 0 && *c->checkpoint &&
	       !streq(c->checkpoint, policy) && !c->is_unclear;
}

static bool has_unlike_cpu_state(const struct start_question *q, char ret[256])
{
	const struct kubelet_cpus *c = &q->k->seen.cpus;

	copy(ret, 256, c->state_problem);
	return q->p->is_cpu_state_asked && q->is_static && *c->state_problem && !c->is_unclear;
}

static bool has_other_memory_state(const struct start_question *q, char ret[256])
{
	const struct kubelet_start *s = &q->k->start;

	snprintf(ret, 256,
		 "[memorymanager] configured policy \"%s\" differs from state checkpoint policy "
		 "\"%s\": %.120s/memory_manager_state",
		 s->memory_policy, s->memory_state, q->k->seen.root_dir);
	return *s->memory_state && !streq(s->memory_state, s->memory_policy) &&
	       !q->k->seen.cpus.is_unclear;
}

/* By default 100Mi are kept free (evictionHard), which have to be reserved on some NUMA node. */
static bool has_no_reserved_memory(const struct start_question *q, char ret[256])
{
	const struct kubelet_start *s = &q->k->start;

	snprintf(ret, 256,
		 "the total amount \"0\" of type \"memory\" is not equal to the value "
		 "determined by Node Allocatable feature");
	return streq(s->memory_policy, "Static") && !s->has_reserved_memory && !s->has_eviction;
}

/*
 * Below pkg/kubelet where no other folder is named. A version of which nothing is said has them
 * since 1.20.
 */
static bool (*const rules[])(const struct start_question *q, char ret[256]) = {
	is_socket_and_node, /* cm/cpumanager/policy_options.go, ValidateStaticPolicyOptions(): 1.25
			     */
	has_more_sockets, /* cm/cpumanager/policy_options.go, ValidateStaticPolicyOptions(): 1.25 */
	has_alpha_option, /* cm/cpumanager/policy_options.go, CheckPolicyOptionAvailable(): 1.22 */
	has_unlike_options, /* cm/cpumanager/policy_options.go, NewStaticPolicyOptions(): 1.31, 1.32
			     */
	has_many_nodes,     /* cm/topologymanager/topology_manager.go, NewManager() */
	has_small_maximum,  /* cm/topologymanager/policy_options.go, NewPolicyOptions(): 1.31 */
	has_gone_gate,      /* component-base/featuregate/feature_gate.go, SetFromMap() */
	has_list_and_cgroup,    /* apis/config/validation/validation.go */
	has_other_cpus,         /* cmd/kubelet/app/server.go, getReservedCPUs() */
	has_no_reserved_cpu,    /* cm/cpumanager/cpu_manager.go, NewManager() */
	has_all_cpus_reserved,  /* cm/cpumanager/policy_static.go, NewStaticPolicy() */
	has_other_cpu_state,    /* cm/cpumanager/state/state_checkpoint.go, restoreState() */
	has_unlike_cpu_state,   /* cm/cpumanager/policy_static.go, validateState() */
	has_other_memory_state, /* cm/memorymanager/state/state_checkpoint.go: 1.21 */
	has_no_reserved_memory, /* cm/memorymanager/memory_manager.go,
				   validateReservedMemory(): 1.21 */
};

void start_find_exit(const struct kubelet_found *k, const struct start_policies *p, char ret[256])
{
	const struct start_question q = { k, p,
					  p->cpu == kubelet_rank(KUBELET_CPU_POLICY, "static") };

	for (size_t i = 0; i < ELEMENTSOF(rules) && !*k->unknown; i++)
		if (rules[i](&q, ret))
			return;
	*ret = '\0';
}
