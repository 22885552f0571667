/* SPDX-License-Identifier: Apache-2.0 */
#include "start-rules.h"

#include "cpus.h"

#define MAX_NODES       8 /* defaultMaxAllowableNUMANodes in topologymanager/topology_manager.go */
#define MINOR_LOOKED_AT 37
#define MINOR_DIR       28 /* the first with --config-dir */
#define MINOR_DIR_BETA  30 /* the first that needs no variable for it */
#define POLICY_NONE     1  /* of topology policies, and of CPU policies */
#define SINGLE_NODE     "single-numa-node"

/* policy_options.go in pkg/kubelet/cm/cpumanager and topologymanager, pkg/features/kube_features.go
 * (of 1.32 versioned_kube_features.go): of 1.20, 1.22, 1.26, 1.28 and 1.31 to 1.37. */
const struct start_row start_rows[_START_WORD_N] = {
	[CPU_OPTION_FULL_PCPUS] = { "full-pcpus-only", 22, 22, 33 },
	[CPU_OPTION_ACROSS_NUMA] = { "distribute-cpus-across-numa", 23, 33 },
	[CPU_OPTION_ACROSS_CORES] = { "distribute-cpus-across-cores", 31 },
	[CPU_OPTION_BY_SOCKET] = { "align-by-socket", 25 },
	[CPU_OPTION_STRICT] = { "strict-cpu-reservation", 32, 33, 35 },
	[CPU_OPTION_UNCORE] = { "prefer-align-cpus-by-uncorecache", 32, 34, 36 },
	[NUMA_OPTION_CLOSEST] = { "prefer-closest-numa-nodes", 26, 28, 32 },
	[NUMA_OPTION_MAX_NODES] = { "max-allowable-numa-nodes", 31, 31, 35 },
	[GATE_ALL_ALPHA] = { "AllAlpha" },
	[GATE_ALL_BETA] = { "AllBeta" },
	[GATE_TOPOLOGY] = { "TopologyManager", 16, 18, 27, 29 },
	[GATE_CPU] = { "CPUManager", 8, 10, 26, 33 },
	[GATE_MEMORY] = { "MemoryManager", 21, 22, 32, 36 },
	[GATE_CPU_OPTIONS] = { "CPUManagerPolicyOptions", 22, 23, 33 },
	[GATE_CPU_ALPHA] = { "CPUManagerPolicyAlphaOptions", 23 },
	[GATE_CPU_BETA] = { "CPUManagerPolicyBetaOptions", 23, 23 },
	[GATE_NUMA_OPTIONS] = { "TopologyManagerPolicyOptions", 26, 28, 36, .general = 32 },
	[GATE_NUMA_ALPHA] = { "TopologyManagerPolicyAlphaOptions", 26 },
	[GATE_NUMA_BETA] = { "TopologyManagerPolicyBetaOptions", 26, 28 },
	[GATE_CDI] = { "DevicePluginCDIDevices", 28, 29, 31, 34 },
	[GATE_POD_MANAGERS] = { "PodLevelResourceManagers", 36 }, /* beta of 1.37 is off */
};

/* In the order of the alphabet, in which the decoder meets them. */
const struct start_field start_fields[START_FIELDS] = {
	{ "cpuManagerPolicyOptions", "string", GATE_CPU_OPTIONS },
	{ "evictionHard", "string", GATE_TOPOLOGY },
	{ "featureGates", "bool", GATE_TOPOLOGY },
	{ "kubeReserved", "string", GATE_TOPOLOGY },
	{ "reservedSystemCPUs", "string", GATE_TOPOLOGY },
	{ "systemReserved", "string", GATE_TOPOLOGY },
	{ "topologyManagerPolicyOptions", "string", GATE_NUMA_OPTIONS },
};

struct start_question {
	const struct kubelet_found *k;
	const struct start_policies *p;
	bool is_static;
	const struct start_exits *but;
	struct start_exits *ret;
};

/* Notes a message with which the kubelet exits, unless it is empty or one of q->but. */
static _printf_(2, 3) void say(const struct start_question *q, const char *format, ...)
{
	struct start_exits *ret = q->ret;
	char words[sizeof(ret->first)];
	uint64_t hash;
	va_list ap;

	va_start(ap, format);
	vsnprintf(words, sizeof(words), format, ap);
	va_end(ap);
	hash = hash_text(words);
	if (!*words || ret->n == ELEMENTSOF(ret->hashes) ||
	    (q->but && ANY(h, q->but->hashes, q->but->n, *h == hash)))
		return;
	if (ret->n == 0)
		COPY(ret->first, words);
	ret->hashes[ret->n++] = hash;
}

static uint32_t minor_of(const struct kubelet_found *k)
{
	return k->minor ?: MINOR_LOOKED_AT;
}

static bool has(const struct start_question *q, enum start_word option)
{
	return q->k->start.on >> option & 1;
}

/* A version of start_rows; 0 is none. */
static bool is_since(const struct kubelet_found *k, uint8_t minor)
{
	return minor > 0 && minor_of(k) >= minor;
}

/* Enabled() in component-base/featuregate/feature_gate.go, with AllAlpha and AllBeta. */
bool start_has_gate(const struct kubelet_found *k, enum start_word gate)
{
	const bool is_beta = is_since(k, start_rows[gate].beta);
	const enum start_word all = is_beta ? GATE_ALL_BETA : GATE_ALL_ALPHA;
	const struct kubelet_start *s = &k->start;

	if (is_since(k, start_rows[gate].stable))
		return true;
	if (s->given >> gate & 1)
		return s->on >> gate & 1;
	if (s->given >> all & 1 && !is_since(k, start_rows[gate].general))
		return s->on >> all & 1;
	return is_beta;
}

/* The options of the two managers. Older kubelets than the one that brought the gate do not read
 * them.
 */
static const struct option_kind {
	const char *of, *gates, *levels[2]; /* as the kubelet calls them */
	enum start_word first, end;
	enum start_word gate; /* those for alpha and beta options follow */
} kinds[] = {
	{ "CPU Manager Policy",
	  "\"CPUManager\", \"CPUManagerPolicyOptions\"",
	  { "CPU Manager Policy Alpha-level Options", "CPU Manager Policy Beta-level Options" },
	  0,
	  NUMA_OPTIONS,
	  GATE_CPU_OPTIONS },
	{ "Topology Manager Policy",
	  "\"TopologyManagerPolicyOptions\"",
	  { "topology manager policy alpha-level options",
	    "topology manager policy beta-level options" },
	  NUMA_OPTIONS,
	  GATES,
	  GATE_NUMA_OPTIONS },
};

static bool is_any_given(const struct start_question *q, enum start_kind kind)
{
	const uint32_t bits = (1u << kinds[kind].end) - (1u << kinds[kind].first);
	const struct kubelet_start *s = &q->k->start;

	return minor_of(q->k) >= start_rows[kinds[kind].gate].since &&
	       (s->given & bits || *s->other_option[kind]);
}

/* cmd/kubelet/app/server.go, NewKubeletCommand(): flags first. The folder:
 * mergeKubeletConfigurations() in cmd/kubelet/app/server.go: 1.28, and without the variable 1.30.
 * From 1.32 on k3s copies a folder that it is given: extractConfigArgs() in its
 * pkg/daemons/agent/agent.go. */
static void judge_flags(const struct start_question *q)
{
	if (q->k->has_dir_flag && minor_of(q->k) < MINOR_DIR)
		say(q, "unknown flag: --config-dir");
	say(q, "%s", q->k->start.flag_problem);
	if (q->k->has_dir_flag && q->k->lacks_variable && minor_of(q->k) < MINOR_DIR_BETA)
		say(q,
		    "flag %.80s specified but environment variable " DROP_INS_VARIABLE
		    " not set, cannot start kubelet",
		    q->k->seen.folder);
	else if (q->k->needs_dir)
		say(q,
		    "failed to walk through kubelet dropin directory \"%.80s\": lstat %.80s: no "
		    "such file or directory",
		    q->k->seen.folder, q->k->seen.folder);
}

/* kubeletconfig/util/codec/codec.go, DecodeKubeletConfiguration() */
static void judge_types(const struct start_question *q)
{
	for (size_t i = 0; i < START_FIELDS; i++)
		if (q->k->start.wrong_type[i] &&
		    minor_of(q->k) >= start_rows[start_fields[i].gate].since)
			say(q,
			    "json: cannot unmarshal %s into Go struct field "
			    "KubeletConfiguration.%s of type %s",
			    q->k->start.wrong_type[i], start_fields[i].key, start_fields[i].type);
	if (minor_of(q->k) >= start_rows[GATE_MEMORY].since)
		say(q, "%s", q->k->start.decode_problem);
}

/* SetFromMap() in component-base/featuregate/feature_gate.go. A version that is not known breaks
 * neither rule. */
static void judge_gates(const struct start_question *q)
{
	for (enum start_word g = GATE_TOPOLOGY; g < _START_WORD_N && q->k->minor > 0; g++) {
		const struct start_row *row = &start_rows[g];

		if (!(q->k->start.given >> g & 1))
			continue;
		if (q->k->minor < row->since || (row->gone && q->k->minor >= row->gone))
			say(q, "unrecognized feature gate: %s", row->name);
		else if (is_since(q->k, row->stable) && !has(q, g))
			say(q, "cannot set feature gate %s to false, feature is locked to true",
			    row->name);
	}
}

static void judge_configuration(const struct start_question *q)
{
	const struct kubelet_cpus *c = &q->k->seen.cpus;

	/* apis/config/validation/validation.go: to 1.26 */
	if (q->p->topology > POLICY_NONE && !start_has_gate(q->k, GATE_TOPOLOGY))
		say(q, "topologyManagerPolicy %s requires feature gate TopologyManager",
		    kubelet_word(KUBELET_TOPOLOGY_POLICY, q->p->topology));
	/* apis/config/validation/validation.go */
	for (enum kubelet_setting s = KUBELET_TOPOLOGY_POLICY; s <= KUBELET_TOPOLOGY_SCOPE; s++)
		if (q->p->misspelt >> s & 1)
			say(q, "%s (--%s) \"%s\" must be one of", kubelet_key(s), kubelet_flag(s),
			    q->k->seen.values[s].text);
	if (c->is_list && c->has_cgroup)
		say(q, "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup "
		       "(--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)");
	/* apis/config/validation/validation_reserved_memory.go: 1.21 */
	if (minor_of(q->k) >= start_rows[GATE_MEMORY].since)
		say(q, "%s", q->k->start.reserved_problem);
	/* cmd/kubelet/app/server.go, getReservedCPUs() */
	say(q, "%s", c->list_problem);
	/* cmd/kubelet/app/server.go, parseResourceList(); eviction/helpers.go */
	say(q, "%s", q->k->start.amount_problem);
	/* cmd/kubelet/app/server.go, run(): 1.22 to 1.32, from 1.26 on */
	for (enum start_kind kind = START_CPUS; kind <= START_NUMA; kind++)
		if (is_any_given(q, kind) && !start_has_gate(q->k, kinds[kind].gate))
			say(q, "require feature gates %s enabled", kinds[kind].gates);
}

/* CheckPolicyOptionAvailable(), NewStaticPolicyOptions() and NewPolicyOptions() in cm/cpumanager/
 * and cm/topologymanager/policy_options.go: from 1.22 and 1.26 on. */
static void judge_options(const struct start_question *q, enum start_kind kind)
{
	const struct option_kind *of = &kinds[kind];
	const char *unknown = q->k->start.other_option[kind];

	if (!is_any_given(q, kind) || q->k->minor > MINOR_LOOKED_AT)
		return;
	for (enum start_word o = of->first; o < of->end; o++) {
		const bool is_beta = is_since(q->k, start_rows[o].beta);

		if (!(q->k->start.given >> o & 1))
			continue;
		if (minor_of(q->k) < start_rows[o].since)
			unknown = start_rows[o].name;
		else if (!is_since(q->k, start_rows[o].stable) &&
			 !start_has_gate(q->k, of->gate + 1 + is_beta))
			say(q, "%s not enabled, but option \"%s\" provided", of->levels[is_beta],
			    start_rows[o].name);
		else if (q->k->start.bad >> o & 1)
			say(q, "%s \"%s\"",
			    o == NUMA_OPTION_MAX_NODES
				    ? "unable to convert policy option to integer"
				    : "bad value for option",
			    start_rows[o].name);
	}
	if (*unknown)
		say(q, "unknown %s option: \"%s\"", of->of, unknown);
}

/* Before 1.28 options are looked at without a policy, too. */
static void judge_topology(const struct start_question *q)
{
	const bool has_policy = q->p->topology > POLICY_NONE;
	const bool has_max = q->k->start.max_numa_nodes > 0 &&
			     minor_of(q->k) >= start_rows[NUMA_OPTION_MAX_NODES].since;
	const uint32_t max = has_max ? q->k->start.max_numa_nodes : MAX_NODES;

	if (has_policy || minor_of(q->k) < 28)
		judge_options(q, START_NUMA);
	/* cm/topologymanager/policy_options.go, NewPolicyOptions(): 1.31 */
	if (has_policy && max < MAX_NODES)
		say(q,
		    "the minimum value of \"max-allowable-numa-nodes\" should not be less than %d",
		    MAX_NODES);
	/* cm/topologymanager/topology_manager.go, NewManager() */
	if (has_policy && q->k->n_numa_nodes != CPUS_UNKNOWN && q->k->n_numa_nodes > max)
		say(q, "unsupported on machines with more than %" PRIu32 " NUMA Nodes", max);
}

/* cm/cpumanager/policy_options.go: NewStaticPolicyOptions() from 1.31 and 1.32 on, and
 * ValidateStaticPolicyOptions() from 1.25 on. */
static void judge_pairs(const struct start_question *q)
{
	static const enum start_word pairs[][2] = {
		{ CPU_OPTION_FULL_PCPUS, CPU_OPTION_ACROSS_CORES },
		{ CPU_OPTION_ACROSS_NUMA, CPU_OPTION_ACROSS_CORES },
		{ CPU_OPTION_UNCORE, CPU_OPTION_ACROSS_CORES },
		{ CPU_OPTION_UNCORE, CPU_OPTION_ACROSS_NUMA },
	};

	for (size_t i = 0; i < ELEMENTSOF(pairs); i++)
		if (has(q, pairs[i][0]) && has(q, pairs[i][1]))
			say(q, "static policy options %s and %s can not be used at the same time",
			    start_rows[pairs[i][0]].name, start_rows[pairs[i][1]].name);
	if (!has(q, CPU_OPTION_BY_SOCKET))
		return;
	if (q->p->topology == kubelet_rank(KUBELET_TOPOLOGY_POLICY, SINGLE_NODE))
		say(q, "Topolgy manager " SINGLE_NODE " policy is incompatible with CPUManager "
		       "align-by-socket policy option");
	if (q->k->n_numa_nodes != CPUS_UNKNOWN &&
	    q->k->start.n_packages > MAX(q->k->n_numa_nodes, 1))
		say(q, "Align by socket is not compatible with hardware where number of sockets "
		       "are more than number of NUMA");
}

static void judge_cpus(const struct start_question *q)
{
	const struct kubelet_cpus *c = &q->k->seen.cpus;

	/* cm/cpumanager/cpu_manager.go, NewManager() */
	if (q->p->misspelt >> KUBELET_CPU_POLICY & 1)
		say(q, "unknown policy: \"%s\"", q->k->seen.values[KUBELET_CPU_POLICY].text);
	/* cm/cpumanager/policy_none.go, NewNonePolicy(): 1.22 */
	if (q->p->cpu == POLICY_NONE && is_any_given(q, START_CPUS))
		say(q, "None policy: received unsupported options");
	if (!q->is_static)
		return;
	/* cm/cpumanager/cpu_manager.go, NewManager() */
	if (!q->p->is_reserved && c->n_reserved == 0 && !c->is_unclear)
		say(q, "[cpumanager] unable to determine reserved CPU resources for static policy");
	judge_options(q, START_CPUS);
	judge_pairs(q);
	/* cm/cpumanager/policy_static.go, NewStaticPolicy() */
	if (c->n_online > 0 && c->n_reserved > c->n_online && !c->is_unclear)
		say(q, "[cpumanager] unable to reserve the required amount of CPUs");
}

static bool is_memory_managed(const struct start_question *q)
{
	return minor_of(q->k) >= start_rows[GATE_MEMORY].since && start_has_gate(q->k, GATE_MEMORY);
}

/* cm/memorymanager/memory_manager.go, NewManager(): 1.21 */
static void judge_memory(const struct start_question *q)
{
	const struct kubelet_start *s = &q->k->start;

	if (!is_memory_managed(q) || !*s->memory_policy || streq(s->memory_policy, "None"))
		return;
	if (!streq(s->memory_policy, "Static"))
		say(q, "unknown policy: \"%s\"", s->memory_policy);
	else
		say(q, "%s", s->memory_problem);
}

static void judge_cpu_state(const struct start_question *q)
{
	const struct kubelet_cpus *c = &q->k->seen.cpus;
	const char *policy = q->is_static ? "static" : "none";

	if (!q->p->is_cpu_state_asked || c->is_unclear || !q->p->cpu)
		return;
	/* cm/cpumanager/state/state_checkpoint.go, restoreState() */
	if (streq(c->checkpoint, STATE_DAMAGED))
		say(q, "could not restore state from checkpoint: %.200s", c->checkpoint_path);
	else if (*c->checkpoint && !streq(c->checkpoint, policy))
		say(q,
		    "configured policy \"%s\" differs from state checkpoint policy \"%s\": %.140s",
		    policy, c->checkpoint, c->checkpoint_path);
	/* cm/cpumanager/policy_static.go, validateState() */
	else if (q->is_static)
		say(q, "%s", c->state_problem);
}

static void judge_memory_state(const struct start_question *q)
{
	const struct kubelet_start *s = &q->k->start;

	if (!is_memory_managed(q) || q->k->seen.cpus.is_unclear)
		return;
	/* cm/memorymanager/state/state_checkpoint.go, restoreState(): 1.21 */
	if (streq(s->memory_state, STATE_DAMAGED))
		say(q, "could not restore state from checkpoint: %.150s/memory_manager_state",
		    q->k->seen.root_dir);
	else if (*s->memory_state && !streq(s->memory_state, s->memory_policy))
		say(q,
		    "[memorymanager] configured policy \"%s\" differs from state checkpoint policy "
		    "\"%s\": %.120s/memory_manager_state",
		    s->memory_policy, s->memory_state, q->k->seen.root_dir);
	/* cm/memorymanager/policy_static.go, validateState(): 1.21 */
	else if (streq(s->memory_policy, "Static"))
		say(q, "%s", s->memory_state_problem);
}

/* cm/node_container_manager_linux.go, validateNodeAllocatable() */
static void judge_capacity(const struct start_question *q)
{
	const struct kubelet_cpus *c = &q->k->seen.cpus;

	if (c->n_online > 0 && c->n_reserved > c->n_online && !c->is_unclear)
		say(q, "invalid Node Allocatable configuration. Resource \"cpu\" has a reservation "
		       "of");
}

/*
 * In the order in which a kubelet meets them. Sources are below pkg/kubelet where no other folder
 * is named. A version of which nothing is said has them since 1.20.
 */
static void (*const rules[])(const struct start_question *q) = {
	judge_flags, judge_types,  judge_gates,     judge_configuration, judge_topology,
	judge_cpus,  judge_memory, judge_cpu_state, judge_memory_state,  judge_capacity,
};

void start_find_exits(const struct kubelet_found *k, const struct start_policies *p,
		      const struct start_exits *but, struct start_exits *ret)
{
	const struct start_question q = { k, p,
					  p->cpu == kubelet_rank(KUBELET_CPU_POLICY, "static"), but,
					  ret };

	*ret = (struct start_exits){};
	for (size_t i = 0; i < ELEMENTSOF(rules) && !*k->unknown; i++)
		rules[i](&q);
}
