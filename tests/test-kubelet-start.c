/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start: each rule by which a kubelet exits at its start, with nodes on both sides of its edge.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/kubelet/look.h"
#include "../src/kubelet/yaml.h"
#include "kubelet-root.h"

#define UNIT   "usr/lib/systemd/system/kubelet.service"
#define STATIC "cpuManagerPolicy: static\nkubeReserved: {cpu: '1'}\n"
#define ALPHA  "featureGates: {CPUManagerPolicyAlphaOptions: true}\n"
#define STATE(free, pods)                                                                          \
	"{\"policyName\":\"static\",\"defaultCpuSet\":\"" free "\",\"entries\":{" pods             \
	"},\"checksum\":1}"
#define SINGLE TOPOLOGY_POLICY_SINGLE_NUMA_NODE
#define BEST   TOPOLOGY_POLICY_BEST_EFFORT

/* Eight CPUs in one package, two NUMA nodes, and nothing asked for, unless a row says more. */
static const struct {
	const char *name, *values, *flags, *cpu_state, *memory_state;
	uint32_t n_nodes, n_packages;
	enum topology_policy want;
	const char *exit; /* the beginning of the words; NULL: it starts */
	bool is_refused;  /* what was asked for: an edit would make it exit */
} cases[] = {
	{ "nothing is said" },
	{ "by socket and a single node are asked for",
	  STATIC ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n", .want = SINGLE,
	  .exit = "Topolgy manager single-numa-node policy is incompatible", .is_refused = true },
	{ "by socket and a single node are there",
	  STATIC ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n" KEY
		       ": single-numa-node\n",
	  .exit = "Topolgy manager single-numa-node policy is incompatible" },
	{ "by socket with another policy",
	  STATIC ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n", .want = BEST },
	{ "by socket, which is false",
	  STATIC ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'false'}\n", .want = SINGLE },
	{ "by socket without the static policy",
	  ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n", .want = SINGLE },
	{ "by socket, which a flag takes away",
	  STATIC ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n",
	  "--cpu-manager-policy-options=full-pcpus-only=true", .want = SINGLE },
	{ "by socket, by flag", STATIC ALPHA, "--cpu-manager-policy-options=align-by-socket=true",
	  .want = SINGLE, .exit = "Topolgy manager", .is_refused = true },
	{ "by socket with more sockets than nodes",
	  STATIC ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n", .n_nodes = 1,
	  .n_packages = 2, .exit = "Align by socket is not compatible" },
	{ "by socket without its gate",
	  STATIC "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n",
	  .exit = "CPU Manager Policy Alpha-level Options not enabled" },
	{ "by socket with its gate by flag",
	  STATIC "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n",
	  "--feature-gates=CPUManagerPolicyAlphaOptions=true" },
	{ "whole cores and across cores",
	  STATIC ALPHA "cpuManagerPolicyOptions: {full-pcpus-only: 'true', "
		       "distribute-cpus-across-cores: 'true'}\n",
	  .exit = "static policy options full-pcpus-only and distribute-cpus-across-cores can "
		  "not" },
	{ "whole cores and across nodes",
	  STATIC "cpuManagerPolicyOptions: {full-pcpus-only: 'true', "
		 "distribute-cpus-across-numa: 'true'}\n" },
	{ "by cache and across nodes",
	  STATIC "cpuManagerPolicyOptions: {prefer-align-cpus-by-uncorecache: 'true', "
		 "distribute-cpus-across-numa: 'true'}\n",
	  .exit = "static policy options prefer-align-cpus-by-uncorecache and "
		  "distribute-cpus-across-numa can not" },
	{ "nine nodes", KEY ": restricted\n", .n_nodes = 9,
	  .exit = "unsupported on machines with more than 8 NUMA Nodes" },
	{ "nine nodes without a policy", "", .n_nodes = 9 },
	{ "eight nodes", KEY ": restricted\n", .n_nodes = 8 },
	{ "nine nodes are allowed",
	  KEY ": restricted\ntopologyManagerPolicyOptions: {max-allowable-numa-nodes: '9'}\n",
	  .n_nodes = 9 },
	{ "seven nodes are allowed",
	  KEY ": restricted\ntopologyManagerPolicyOptions: {max-allowable-numa-nodes: '7'}\n",
	  .exit = "the minimum value of \"max-allowable-numa-nodes\"" },
	{ "a list and a cgroup", "reservedSystemCPUs: 0-1\nkubeReservedCgroup: /kube\n",
	  .exit = "can't use reservedSystemCPUs" },
	{ "a list of CPUs that are not there", "reservedSystemCPUs: 0,8\n",
	  .exit = "reserved-cpus: 0,8 is not a subset of online-cpus: 0-7" },
	{ "a list of CPUs that are there", "reservedSystemCPUs: 0,7\n" },
	{ "static without a reservation", "cpuManagerPolicy: static\n",
	  .exit = "[cpumanager] unable to determine reserved CPU resources" },
	{ "static with all CPUs reserved", "cpuManagerPolicy: static\nkubeReserved: {cpu: '9'}\n",
	  .exit = "[cpumanager] unable to reserve the required amount" },
	{ "state of another policy", STATIC, .cpu_state = "{\"policyName\":\"none\"}",
	  .exit = "configured policy \"static\" differs from state checkpoint policy \"none\"" },
	{ "state of static, and the policy none", "", .cpu_state = STATE("0-7", ""),
	  .exit = "configured policy \"none\" differs from state checkpoint policy \"static\"" },
	{ "a state that is no JSON", "", .cpu_state = "{",
	  .exit = "could not restore state from checkpoint" },
	{ "state of fewer CPUs", STATIC, .cpu_state = STATE("0-3", ""),
	  .exit = "current set of available CPUs \"0-7\" doesn't match with CPUs in state "
		  "\"0-3\"" },
	{ "state of more CPUs", STATIC, .cpu_state = STATE("0-8", ""),
	  .exit = "current set of available CPUs \"0-7\" doesn't match with CPUs in state "
		  "\"0-8\"" },
	{ "state of these CPUs", STATIC, .cpu_state = STATE("0-7", "") },
	{ "state of these CPUs with those of a pod", STATIC,
	  .cpu_state = STATE("0-3,6-7", "\"uid\":{\"app\":\"4-5\"}") },
	{ "state with a CPU that is a pod's and everybody's", STATIC,
	  .cpu_state = STATE("0-7", "\"uid\":{\"app\":\"4-5\"}"),
	  .exit = "a container's cpuset overlaps with default cpuset \"0-7\"" },
	{ "state of nothing, which is made anew", STATIC, .cpu_state = STATE("", "") },
	{ "state of pods alone", STATIC, .cpu_state = STATE("", "\"uid\":{\"app\":\"0-7\"}"),
	  .exit = "default cpuset cannot be empty" },
	{ "state without a reserved CPU", "cpuManagerPolicy: static\nreservedSystemCPUs: 0-1\n",
	  .cpu_state = STATE("1-7", "\"uid\":{\"app\":\"0\"}"),
	  .exit = "not all reserved cpus: \"0-1\" are present in defaultCpuSet: \"1-7\"" },
	{ "strict: state without the reserved CPUs",
	  "cpuManagerPolicy: static\nreservedSystemCPUs: 0-1\n"
	  "cpuManagerPolicyOptions: {strict-cpu-reservation: 'true'}\n",
	  .cpu_state = STATE("2-7", "") },
	{ "strict: state with a reserved CPU",
	  "cpuManagerPolicy: static\nreservedSystemCPUs: 0-1\n"
	  "cpuManagerPolicyOptions: {strict-cpu-reservation: 'true'}\n",
	  .cpu_state = STATE("1-7", ""),
	  .exit = "some of strictly reserved cpus: \"1\" are present in defaultCpuSet: \"1-7\"" },
	{ "memory state of another policy", "memoryManagerPolicy: Static\n",
	  .memory_state = "{\"policyName\":\"None\"}",
	  .exit = "[memorymanager] configured policy \"Static\" differs from state checkpoint "
		  "policy \"None\": "
		  "/var/lib/kubelet/memory_manager_state" },
	{ "memory state of this policy",
	  "memoryManagerPolicy: Static\nreservedMemory: [{numaNode: 0, limits: {memory: 100Mi}}]\n",
	  .memory_state = "{\"policyName\":\"Static\"}" },
	{ "static memory without any reserved", "memoryManagerPolicy: Static\n",
	  .exit = "the total amount \"0\" of type \"memory\" is not equal" },
	{ "static memory, reserved by flag", "memoryManagerPolicy: Static\n",
	  "--reserved-memory=0:memory=100Mi" },
	{ "static memory, and nothing is kept free",
	  "memoryManagerPolicy: Static\nevictionHard: {nodefs.available: 10%}\n" },
	{ "no memory policy", "memoryManagerPolicy: None\n" },
};

static void put_number(const struct root *root, const char *format, uint32_t i, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), format, i);
	put_text(root, path, text);
}

static void make(struct root *root, size_t i)
{
	const uint32_t n_nodes = cases[i].n_nodes ?: 2, n_packages = cases[i].n_packages ?: 1;
	char text[1024];

	root_open(root);
	snprintf(text, sizeof(text),
		 "[Service]\nExecStart=/usr/bin/kubelet --config=/" FILE_PATH " %s\n",
		 cases[i].flags ?: "");
	put_text(root, UNIT, text);
	snprintf(text, sizeof(text), HEAD "%s", cases[i].values ?: "");
	put_text(root, FILE_PATH, text);
	put_text(root, "sys/devices/system/cpu/online", "0-7\n");
	for (uint32_t n = 0; n < n_nodes; n++)
		put_number(root, "sys/devices/system/node/node%u/cpulist", n, "\n");
	for (uint32_t c = 0; c < 8; c++)
		put_number(root, "sys/devices/system/cpu/cpu%u/topology/physical_package_id", c,
			   c % n_packages ? "1\n" : "0\n");
	/* It has run: no state is removed. */
	put_text(root, "sys/fs/cgroup/kubepods.slice/cgroup.procs", "");
	if (cases[i].cpu_state)
		put_text(root, "var/lib/kubelet/cpu_manager_state", cases[i].cpu_state);
	if (cases[i].memory_state)
		put_text(root, "var/lib/kubelet/memory_manager_state", cases[i].memory_state);
}

static void a_kubelet_that_would_exit_is_told_in_its_own_words(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const struct config c = { .kubelet.topology_policy = cases[i].want };
		_cleanup_(root_done) struct root root = {};
		const struct kubelet_item *item;
		struct kubelet_decision d;
		struct kubelet k;

		make(&root, i);
		assert_int_equal(kubelet_look(&root.fs, &c, &k, &d), 0);
		item = &d.items[KUBELET_TOPOLOGY_POLICY];
		print_message("  %s: %s\n", cases[i].name,
			      *d.would_exit ? d.would_exit : item->detail);
		assert_string_equal(reason_code(item->reason),
				    cases[i].is_refused ? "kubelet-would-exit" : "");
		if (cases[i].is_refused)
			assert_true(is_prefix(item->detail, cases[i].exit));
		else if (cases[i].exit)
			assert_true(is_prefix(d.would_exit, cases[i].exit));
		else
			assert_string_equal(d.would_exit, "");
	}
}

/* A state file of other CPUs is removed before the first start of a boot, and only then. */
static void a_state_of_other_cpus_goes_before_the_first_start(_unused_ void **state)
{
	const struct config c = { .kubelet.cpu_policy = CPU_POLICY_STATIC };

	for (int has_run = 0; has_run < 2; has_run++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_decision d;
		struct kubelet k;

		root_open(&root);
		put_text(&root, UNIT,
			 "[Service]\nExecStart=/usr/bin/kubelet --config=/" FILE_PATH "\n");
		put_text(&root, FILE_PATH, HEAD STATIC);
		put_text(&root, "sys/devices/system/cpu/online", "0-7\n");
		put_text(&root, "var/lib/kubelet/cpu_manager_state", STATE("0-3", ""));
		if (has_run)
			put_text(&root, "sys/fs/cgroup/kubepods.slice/cgroup.procs", "");
		assert_int_equal(kubelet_look(&root.fs, &c, &k, &d), 0);
		assert_int_equal(d.is_state_removed, !has_run);
		assert_int_equal(*d.would_exit != '\0', has_run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kubelet_that_would_exit_is_told_in_its_own_words),
		cmocka_unit_test(a_state_of_other_cpus_goes_before_the_first_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
