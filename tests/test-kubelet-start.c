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
#include "../src/model/paths.h"
#include "kubelet-root.h"

#define UNIT   "usr/lib/systemd/system/kubelet.service"
#define STATIC "cpuManagerPolicy: static\nkubeReserved: {cpu: '1'}\n"
#define ALPHA  "featureGates: {CPUManagerPolicyAlphaOptions: true}\n"
#define STATE(free, pods)                                                                          \
	"{\"policyName\":\"static\",\"defaultCpuSet\":\"" free "\",\"entries\":{" pods             \
	"},\"checksum\":1}"
#define PODS "featureGates: {PodLevelResources: true, PodLevelResourceManagers: true}\n"
#define POD_STATE                                                                                  \
	"{\"policyName\":\"static\",\"defaultCpuSet\":\"0-3\",\"podEntries\":{\"uid\":{"           \
	"\"cpuSet\":\"4-7\"}},"                                                                    \
	"\"checksum\":1}"
/* The kernel's file has some 40 lines. */
#define MEMINFO                                                                                    \
	"Node 0 MemFree: 4194304 kB\nNode 0 MemUsed: 4194304 kB\nNode 0 Active: 1048576 kB\n"      \
	"Node 0 Inactive: 1048576 kB\nNode 0 HugePages_Total: 0\nNode 0 HugePages_Free: 0\n"
#define RESERVED(nodes) "memoryManagerPolicy: Static\nreservedMemory: [" nodes "]\n"
#define MIB(node, n)    "{numaNode: " node ", limits: {memory: " n "Mi}}"
#define MACHINE(node, total, reserved, rest)                                                       \
	"\"" node "\":{\"memoryMap\":{\"memory\":{\"total\":" total                                \
	",\"systemReserved\":" reserved ",\"allocatable\":" rest ",\"free\":" rest                 \
	"}},\"cells\":[" node "]}"
/* The state of node 0 with this many bytes of huge pages, and of node 1. */
#define HUGE(total, rest)                                                                          \
	MEMORY_STATE("\"0\":{\"memoryMap\":{\"hugepages-2Mi\":{\"total\":" total                   \
		     ",\"systemReserved\":0,\"allocatable\":" total ",\"free\":" total             \
		     "},\"memory\":{\"total\":8589934592,\"systemReserved\":104857600,"            \
		     "\"allocatable\":" rest ",\"free\":" rest                                     \
		     "}},\"cells\":[0]}," MACHINE("1", "8589934592", "0", "8589934592"))
#define MEMORY_STATE(nodes) "{\"policyName\":\"Static\",\"machineState\":{" nodes "}}"
#define MANY_GATES                                                                                 \
	"ANameOfAGateThatNoKubeletHasInIt=true,AnotherNameOfAGateThatNoKubeletHasInIt=false,"      \
	"YetAnotherNameOfAGateThatNoKubeletHas=true,"
#define MANY_DISKS                                                                                 \
	"nodefs.available<10%%,nodefs.inodesFree<5%%,imagefs.available<15%%,"                      \
	"imagefs.inodesFree<5%%,pid.available<10%%,"
#define SINGLE TOPOLOGY_POLICY_SINGLE_NUMA_NODE
#define BEST   TOPOLOGY_POLICY_BEST_EFFORT

/* Eight CPUs in one package, two NUMA nodes, and nothing asked for, unless a row says more. */
static const struct row {
	const char *name, *values, *flags, *cpu_state, *memory_state;
	uint32_t n_nodes, n_packages, minor; /* minor: 0 when the version is not known */
	uint32_t n_huge;                     /* pages of 2 MiB of node 0; 0: it has none */
	enum topology_policy want;
	enum cpu_policy want_cpu;
	const char *exit; /* the beginning of the words; NULL: it starts */
	bool is_refused;  /* what was asked for: an edit would make it exit */
	bool is_unjudged; /* it may exit */
} cases[] = {
	{ "nothing is said" },
	{ "static and a policy are asked for, with a reservation", "kubeReserved: {cpu: '1'}\n",
	  .want = SINGLE, .want_cpu = CPU_POLICY_STATIC },
	{ "a policy is asked for, and static, which is refused without a reservation", "",
	  .want = BEST, .want_cpu = CPU_POLICY_STATIC },
	{ "by socket and a single node are asked for",
	  STATIC ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n", .want = SINGLE,
	  .exit = "Topolgy manager single-numa-node policy is incompatible", .is_refused = true },
	{ "the same with a state that is no JSON",
	  STATIC ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n", .cpu_state = "{",
	  .want = SINGLE, .exit = "Topolgy manager single-numa-node policy is incompatible",
	  .is_refused = true },
	{ "the same without a reservation",
	  "cpuManagerPolicy: static\n" ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n",
	  .want = SINGLE, .exit = "Topolgy manager single-numa-node policy is incompatible",
	  .is_refused = true, .is_unjudged = true },
	{ "another policy is asked for without a reservation",
	  "cpuManagerPolicy: static\n" ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n",
	  .want = BEST, .exit = "[cpumanager] unable to determine reserved CPU resources" },
	{ "by socket and a single node are there",
	  STATIC ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n" KEY
		       ": single-numa-node\n",
	  .exit = "Topolgy manager single-numa-node policy is incompatible" },
	{ "by socket with another policy",
	  STATIC ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n", .want = BEST },
	{ "by socket, which is false",
	  STATIC ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'false'}\n", .want = SINGLE },
	{ "by socket without the static policy",
	  ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n",
	  .exit = "None policy: received unsupported options" },
	{ "no options without the static policy", "cpuManagerPolicyOptions: {}\n" },
	{ "an option of a kubelet that reads none",
	  "cpuManagerPolicyOptions: {full-pcpus-only: 'true'}\n", .minor = 21 },
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
	{ "by socket with its gate behind many others",
	  STATIC "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n",
	  "--feature-gates=" MANY_GATES MANY_GATES MANY_GATES "CPUManagerPolicyAlphaOptions=true",
	  .is_unjudged = true },
	{ "whole cores and across cores",
	  STATIC ALPHA "cpuManagerPolicyOptions: {full-pcpus-only: 'true', "
		       "distribute-cpus-across-cores: 'true'}\n",
	  .exit = "static policy options full-pcpus-only and distribute-cpus-across-cores can "
		  "not" },
	{ "whole cores and across nodes",
	  STATIC "cpuManagerPolicyOptions: {full-pcpus-only: 'true', "
		 "distribute-cpus-across-numa: 'true'}\n" },
	{ "by cache and across nodes, which the policy none refuses, and static is asked for",
	  "reservedSystemCPUs: 0-1\ncpuManagerPolicyOptions: {distribute-cpus-across-numa: "
	  "'true', prefer-align-cpus-by-uncorecache: 'true'}\n",
	  .want_cpu = CPU_POLICY_STATIC, .exit = "static policy options prefer-align-cpus-by-",
	  .is_refused = true },
	{ "the same beside a policy that a flag keeps from being set",
	  "reservedSystemCPUs: 0-1\ncpuManagerPolicyOptions: {distribute-cpus-across-numa: "
	  "'true', prefer-align-cpus-by-uncorecache: 'true'}\n",
	  "--topology-manager-policy=none", .want = BEST, .want_cpu = CPU_POLICY_STATIC,
	  .exit = "static policy options prefer-align-cpus-by-", .is_refused = true,
	  .is_unjudged = true },
	{ "by cache and across nodes",
	  STATIC "cpuManagerPolicyOptions: {prefer-align-cpus-by-uncorecache: 'true', "
		 "distribute-cpus-across-numa: 'true'}\n",
	  .exit = "static policy options prefer-align-cpus-by-uncorecache and "
		  "distribute-cpus-across-numa can not" },
	{ "a policy in another case", KEY ": Best-Effort\n",
	  .exit = "topologyManagerPolicy (--topology-manager-policy) \"Best-Effort\" must be one "
		  "of" },
	{ "a policy in another case, and it is asked for", KEY ": Best-Effort\n", .want = BEST },
	{ "a scope with a blank, and a policy is asked for", "topologyManagerScope: 'pod '\n",
	  .want = BEST,
	  .exit = "topologyManagerScope (--topology-manager-scope) \"pod \" must be one of" },
	{ "a CPU policy in another case", "cpuManagerPolicy: Static\nkubeReserved: {cpu: '1'}\n",
	  .exit = "unknown policy: \"Static\"" },
	{ "a CPU policy in another case, and it is asked for",
	  "cpuManagerPolicy: Static\nkubeReserved: {cpu: '1'}\n", .want_cpu = CPU_POLICY_STATIC,
	  .is_unjudged = true },
	{ "a flag without a value", "", "--cpu-manager-policy=", .exit = "unknown policy: \"\"" },
	{ "a word of nobody, which a kubelet of others may know", KEY ": numa-aware\n",
	  .is_unjudged = true },
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
	{ "state of fewer CPUs, and static is asked for", "kubeReserved: {cpu: '1'}\n",
	  .cpu_state = STATE("0-3", ""), .want_cpu = CPU_POLICY_STATIC,
	  .exit = "current set of available CPUs \"0-7\" doesn't match with CPUs in state",
	  .is_refused = true },
	{ "state of these CPUs, and static is asked for", "kubeReserved: {cpu: '1'}\n",
	  .cpu_state = STATE("0-7", ""), .want_cpu = CPU_POLICY_STATIC, .is_unjudged = true },
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
	  .exit = "cpuset: \"4-5\" overlaps with default cpuset \"0-7\"" },
	{ "state of these CPUs with those of a whole pod", STATIC PODS, .cpu_state = POD_STATE,
	  .minor = 36 },
	{ "the same with all alpha gates", STATIC "featureGates: {AllAlpha: true}\n",
	  .cpu_state = POD_STATE, .minor = 36, .is_unjudged = true },
	/* A kubelet of 1.36 finds the checksum wrong, and says so in place of this. */
	{ "the same, which the kubelet does not read", STATIC, .cpu_state = POD_STATE, .minor = 37,
	  .is_unjudged = true,
	  .exit = "current set of available CPUs \"0-7\" doesn't match with CPUs in state "
		  "\"0-3\"" },
	{ "the same, as of 1.37", STATIC PODS,
	  .cpu_state =
		  "{\"policyName\":\"static\",\"defaultCpuSet\":\"0-3\",\"checksum\":1,"
		  "\"data\":\"{\\\"podEntries\\\":{\\\"uid\\\":{\\\"cpuSet\\\":\\\"4-7\\\"}}}\"}",
	  .minor = 37, .is_unjudged = true },
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
	{ "memory state of another policy", RESERVED(MIB("0", "100")),
	  .memory_state = "{\"policyName\":\"None\"}",
	  .exit = "[memorymanager] configured policy \"Static\" differs from state checkpoint "
		  "policy \"None\": "
		  "/var/lib/kubelet/memory_manager_state" },
	{ "a memory state that is no JSON", "", .memory_state = "",
	  .exit = "could not restore state from checkpoint: "
		  "/var/lib/kubelet/memory_manager_state" },
	{ "memory state of this policy",
	  "memoryManagerPolicy: Static\nreservedMemory: [{numaNode: 0, limits: {memory: 100Mi}}]\n",
	  .memory_state = "{\"policyName\":\"Static\"}" },
	{ "static memory without any reserved", "memoryManagerPolicy: Static\n",
	  .exit = "the total amount \"0\" of type \"memory\" is not equal" },
	{ "static memory, reserved by flag", "memoryManagerPolicy: Static\n",
	  "--reserved-memory=0:memory=100Mi" },
	{ "static memory, reserved by a flag of too little", "memoryManagerPolicy: Static\n",
	  "'--reserved-memory=0:memory=60Mi;1:memory=39Mi'",
	  .exit = "the total amount \"99Mi\" of type \"memory\"" },
	{ "static memory, reserved by two flags", "memoryManagerPolicy: Static\n",
	  "--reserved-memory=0:memory=60Mi --reserved-memory=1:memory=40Mi" },
	{ "a flag that takes the list away", RESERVED(MIB("0", "1")),
	  "'--reserved-memory=0:memory=60Mi;1:memory=40Mi'" },
	{ "a flag of huge pages", "memoryManagerPolicy: Static\n",
	  "--reserved-memory=0:memory=100Mi,hugepages-2Mi=4Mi",
	  .exit = "the total amount \"4Mi\" of type \"hugepages-2Mi\"" },
	{ "static memory, and nothing is kept free",
	  "memoryManagerPolicy: Static\nevictionHard: {nodefs.available: 10%}\n",
	  .exit = "[memorymanager] you should specify the system reserved memory" },
	{ "the sums are the same",
	  RESERVED(MIB("0", "1124") ", " MIB(
		  "1", "1024")) "kubeReserved: {memory: 1Gi}\nsystemReserved: {memory: 1Gi}\n" },
	{ "one Mi is missing",
	  RESERVED(MIB("0", "1123") ", " MIB(
		  "1", "1024")) "kubeReserved: {memory: 1Gi}\nsystemReserved: {memory: 1Gi}\n",
	  .exit = "the total amount \"2147Mi\" of type \"memory\" is not equal to the value "
		  "\"2148Mi\" determined by Node Allocatable feature" },
	{ "a reservation of nothing", "reservedMemory: [" MIB("1", "0") "]\n",
	  .exit = "invalid configuration: reserved memory may not be zero for NUMA node 1 and "
		  "resource \"memory\"" },
	{ "a reservation of nothing, by flag", "", "--reserved-memory=0:memory=1Mi,hugepages-2Mi=0",
	  .exit = "invalid configuration: reserved memory may not be zero for NUMA node 0 and "
		  "resource \"hugepages-2Mi\"" },
	{ "two reservations of one node",
	  "reservedMemory: [" MIB("0", "1") ", " MIB("0", "1") "]\n",
	  .exit = "invalid configuration: the reserved memory has a duplicate value for NUMA node "
		  "0 and resource \"memory\"" },
	{ "two reservations of huge pages of one node",
	  "reservedMemory: [{numaNode: 0, limits: {hugepages-2Mi: 2Mi}}, "
	  "{numaNode: 0, limits: {hugepages-2Mi: 2Mi}}]\n",
	  .exit = "invalid configuration: the reserved memory has a duplicate value" },
	{ "two sizes of huge pages of one node",
	  "reservedMemory: [{numaNode: 0, limits: {hugepages-2Mi: 2Mi, hugepages-1Gi: 1Gi}}]\n" },
	{ "a reservation of CPUs", "reservedMemory: [{numaNode: 0, limits: {cpu: 1}}]\n",
	  .exit = "invalid configuration: the limit type \"cpu\" for NUMA node 0 is not "
		  "supported" },
	{ "a reservation of nothing, which is not read yet",
	  "reservedMemory: [" MIB("1", "0") "]\n", .minor = 20 },
	{ "another policy needs no sums", "reservedMemory: [" MIB("0", "1") "]\n" },
	{ "what is kept free by flag",
	  RESERVED(MIB("0", "150")) "evictionHard: {memory.available: 1Gi}\n",
	  "'--eviction-hard=nodefs.available<10%%,memory.available<150Mi'" },
	{ "what is kept free by file", RESERVED(MIB("0", "150")),
	  .exit = "the total amount \"150Mi\" of type \"memory\" is not equal to the value "
		  "\"100Mi\"" },
	{ "thresholds of a flag that is longer than what is read", RESERVED(MIB("0", "150")),
	  "'--eviction-hard=" MANY_DISKS MANY_DISKS MANY_DISKS "memory.available<150Mi'" },
	{ "a flag that is cut inside a threshold", "",
	  "'--eviction-hard=" MANY_DISKS MANY_DISKS
	  "nodefs.available<0.000000000000000000000000000000000000000000000000000000000000001%%'" },
	{ "a share of all memory, which is not judged",
	  RESERVED(MIB("0", "150")) "evictionHard: {memory.available: 5%}\n", .is_unjudged = true },
	{ "huge pages",
	  RESERVED("{numaNode: 0, limits: {hugepages-2Mi: 4Mi, memory: 100Mi}}, "
		   "{limits: {hugepages-2Mi: 4Mi}, numaNode: 1}"),
	  .exit = "the total amount \"8Mi\" of type \"hugepages-2Mi\" is not equal to the value "
		  "\"0\"" },
	{ "the keys the other way round", RESERVED("{limits: {memory: 99Mi}, numaNode: 0}"),
	  .exit = "the total amount \"99Mi\"" },
	{ "a list with an alias, which is not judged",
	  "x: &x {memory: 1Mi}\n" RESERVED("{numaNode: 0, limits: *x}"), .is_unjudged = true },
	{ "static memory of a kubelet without a memory manager", RESERVED(MIB("0", "1")),
	  .minor = 20 },
	{ "static memory whose gate is off by default", RESERVED(MIB("0", "1")), .minor = 21 },
	{ "static memory whose gate is on by default", RESERVED(MIB("0", "1")), .minor = 22,
	  .exit = "the total amount \"1Mi\"" },
	{ "static memory whose gate is off",
	  RESERVED(MIB("0", "1")) "featureGates: {MemoryManager: false}\n", .minor = 31 },
	{ "the gate of memory before it went", "featureGates: {MemoryManager: true}\n",
	  .minor = 35 },
	{ "the gate of memory after it went", "featureGates: {MemoryManager: true}\n", .minor = 36,
	  .exit = "unrecognized feature gate: MemoryManager" },
	{ "memory of a node that is not there", RESERVED(MIB("0", "50") ", " MIB("2", "50")),
	  .exit = "the reserved memory configuration references a NUMA node 2 that does not exist "
		  "on this machine" },
	{ "memory state of these nodes", RESERVED(MIB("0", "100")),
	  .memory_state =
		  MEMORY_STATE(MACHINE("0", "8589934592", "104857600", "8485076992") "," MACHINE(
			  "1", "8589934592", "0", "8589934592")) },
	{ "memory state of a page more", RESERVED(MIB("0", "100")),
	  .memory_state =
		  MEMORY_STATE(MACHINE("0", "8589938688", "104857600", "8485081088") "," MACHINE(
			  "1", "8589934592", "0", "8589934592")),
	  .exit = "[memorymanager] the expected machine state is different from the real one" },
	{ "memory state of another reservation", RESERVED(MIB("0", "100")),
	  .memory_state = MEMORY_STATE(MACHINE("0", "8589934592", "0", "8589934592") "," MACHINE(
		  "1", "8589934592", "104857600", "8485076992")),
	  .exit = "[memorymanager] the expected machine state" },
	{ "memory state of one node", RESERVED(MIB("0", "100")),
	  .memory_state = MEMORY_STATE(MACHINE("0", "8589934592", "104857600", "8485076992")),
	  .exit = "[memorymanager] the expected machine state" },
	{ "memory state of these huge pages", RESERVED(MIB("0", "100")), .n_huge = 512,
	  .memory_state = HUGE("1073741824", "7411335168") },
	{ "memory state of fewer huge pages", RESERVED(MIB("0", "100")), .n_huge = 512,
	  .memory_state = HUGE("0", "8485076992"),
	  .exit = "[memorymanager] the expected machine state" },
	{ "memory state of one huge page more", RESERVED(MIB("0", "100")), .n_huge = 511,
	  .memory_state = HUGE("1073741824", "7411335168"),
	  .exit = "[memorymanager] the expected machine state" },
	{ "memory state of no node, which is made anew", RESERVED(MIB("0", "100")),
	  .memory_state = MEMORY_STATE("") },
	{ "no memory policy", "memoryManagerPolicy: None\n" },
	{ "an option that is new", STATIC "cpuManagerPolicyOptions: {full-pcpus-only: '1'}\n",
	  .minor = 23 },
	{ "an option whose gate is off by default",
	  STATIC "cpuManagerPolicyOptions: {full-pcpus-only: '1'}\n", .minor = 22,
	  .exit = "require feature gates \"CPUManager\", \"CPUManagerPolicyOptions\" enabled" },
	{ "across nodes while it is alpha",
	  STATIC "cpuManagerPolicyOptions: {distribute-cpus-across-numa: 'true'}\n", .minor = 32,
	  .exit = "CPU Manager Policy Alpha-level Options not enabled, but option "
		  "\"distribute-cpus-across-numa\"" },
	{ "across nodes while it is beta",
	  STATIC "cpuManagerPolicyOptions: {distribute-cpus-across-numa: 'true'}\n", .minor = 33 },
	{ "across nodes without beta options",
	  STATIC "cpuManagerPolicyOptions: {distribute-cpus-across-numa: 'true'}\n"
		 "featureGates: {AllBeta: false}\n",
	  .minor = 33, .exit = "CPU Manager Policy Beta-level Options not enabled" },
	{ "an alpha option that is false, without its gate",
	  STATIC "cpuManagerPolicyOptions: {align-by-socket: 'false'}\n", .minor = 33,
	  .exit = "CPU Manager Policy Alpha-level Options not enabled" },
	{ "by socket before there was one",
	  STATIC ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n", .minor = 24,
	  .exit = "unknown CPU Manager Policy option: \"align-by-socket\"" },
	{ "by socket in the first version",
	  STATIC ALPHA "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n", .minor = 25 },
	{ "strict while it is alpha",
	  STATIC "cpuManagerPolicyOptions: {strict-cpu-reservation: 'true'}\n", .minor = 32,
	  .exit = "CPU Manager Policy Alpha-level Options" },
	{ "by cache while it is alpha",
	  STATIC "cpuManagerPolicyOptions: {prefer-align-cpus-by-uncorecache: 'true'}\n",
	  .minor = 33, .exit = "CPU Manager Policy Alpha-level Options" },
	{ "by cache while it is beta",
	  STATIC "cpuManagerPolicyOptions: {prefer-align-cpus-by-uncorecache: 'true'}\n",
	  .minor = 34 },
	{ "by cache without beta options",
	  STATIC "cpuManagerPolicyOptions: {prefer-align-cpus-by-uncorecache: 'true'}\n"
		 "featureGates: {CPUManagerPolicyBetaOptions: false}\n",
	  .minor = 35, .exit = "CPU Manager Policy Beta-level Options not enabled" },
	{ "by cache while it is stable",
	  STATIC "cpuManagerPolicyOptions: {prefer-align-cpus-by-uncorecache: 'true'}\n"
		 "featureGates: {CPUManagerPolicyBetaOptions: false}\n",
	  .minor = 36 },
	{ "an option that is not in the newest kubelet",
	  STATIC "cpuManagerPolicyOptions: {full: 'true'}\n", .minor = 37,
	  .exit = "unknown CPU Manager Policy option: \"full\"" },
	{ "an option that no kubelet has", STATIC "cpuManagerPolicyOptions: {full: 'true'}\n",
	  .exit = "unknown CPU Manager Policy option: \"full\"" },
	{ "closest nodes of a kubelet that reads none",
	  KEY ": restricted\ntopologyManagerPolicyOptions: {prefer-closest-numa-nodes: 'true'}\n",
	  .minor = 25 },
	{ "closest nodes whose gate is off by default",
	  "topologyManagerPolicyOptions: {prefer-closest-numa-nodes: 'true'}\n", .minor = 27,
	  .exit = "require feature gates \"TopologyManagerPolicyOptions\" enabled" },
	{ "closest nodes",
	  KEY ": restricted\ntopologyManagerPolicyOptions: {prefer-closest-numa-nodes: 'true'}\n",
	  .minor = 28 },
	{ "closest nodes of a gate that is beta, without these",
	  KEY ": restricted\ntopologyManagerPolicyOptions: {prefer-closest-numa-nodes: 'true'}\n"
	      "featureGates: {AllBeta: false}\n",
	  .minor = 31, .exit = "require feature gates \"TopologyManagerPolicyOptions\" enabled" },
	{ "closest nodes of a gate that is no longer beta, without these",
	  KEY ": restricted\ntopologyManagerPolicyOptions: {prefer-closest-numa-nodes: 'true'}\n"
	      "featureGates: {AllBeta: false}\n",
	  .minor = 32 },
	{ "closest nodes whose gate is off",
	  KEY ": restricted\ntopologyManagerPolicyOptions: {prefer-closest-numa-nodes: 'true'}\n"
	      "featureGates: {TopologyManagerPolicyOptions: false}\n",
	  .minor = 35, .exit = "require feature gates \"TopologyManagerPolicyOptions\" enabled" },
	{ "closest nodes whose gate cannot be turned off",
	  "featureGates: {TopologyManagerPolicyOptions: false}\n", .minor = 36,
	  .exit = "cannot set feature gate TopologyManagerPolicyOptions to false" },
	{ "a maximum before there was one",
	  KEY ": restricted\ntopologyManagerPolicyOptions: {max-allowable-numa-nodes: '9'}\n",
	  .minor = 30, .n_nodes = 9,
	  .exit = "unknown Topology Manager Policy option: \"max-allowable-numa-nodes\"" },
	{ "a maximum that is passed",
	  KEY ": restricted\ntopologyManagerPolicyOptions: {max-allowable-numa-nodes: '9'}\n",
	  .minor = 31, .n_nodes = 10,
	  .exit = "unsupported on machines with more than 9 NUMA Nodes" },
	{ "a maximum before there was one, without a policy",
	  "topologyManagerPolicyOptions: {max-allowable-numa-nodes: '9'}\n", .minor = 30 },
	{ "closest nodes, of which neither yes nor no is said",
	  KEY ": restricted\ntopologyManagerPolicyOptions: {prefer-closest-numa-nodes: 'yes'}\n",
	  .exit = "bad value for option \"prefer-closest-numa-nodes\"" },
	{ "the same without a policy",
	  "topologyManagerPolicyOptions: {prefer-closest-numa-nodes: 'yes'}\n", .minor = 33 },
	{ "the same, and a policy is asked for",
	  "topologyManagerPolicyOptions: {prefer-closest-numa-nodes: 'yes'}\n", .want = BEST,
	  .minor = 33, .exit = "bad value for option \"prefer-closest-numa-nodes\"",
	  .is_refused = true },
	{ "a maximum that is no number",
	  "topologyManagerPolicyOptions: {max-allowable-numa-nodes: '9x'}\n", .want = BEST,
	  .minor = 33,
	  .exit = "unable to convert policy option to integer \"max-allowable-numa-nodes\"",
	  .is_refused = true },
	{ "a maximum without quotes",
	  "topologyManagerPolicyOptions: {max-allowable-numa-nodes: 16}\n", .minor = 33,
	  .exit = "json: cannot unmarshal number into Go struct field "
		  "KubeletConfiguration.topologyManagerPolicyOptions of type string" },
	{ "a maximum without quotes, which is not read yet",
	  "topologyManagerPolicyOptions: {max-allowable-numa-nodes: 16}\n", .minor = 25 },
	{ "whole cores, by a flag that is no boolean", STATIC,
	  "--cpu-manager-policy-options=full-pcpus-only=on",
	  .exit = "bad value for option \"full-pcpus-only\"" },
	{ "two options in one flag, which takes one", STATIC,
	  "--cpu-manager-policy-options=full-pcpus-only=true,distribute-cpus-across-numa=true",
	  .exit = "bad value for option \"full-pcpus-only\"" },
	{ "two flags of one option each", STATIC,
	  "--cpu-manager-policy-options=full-pcpus-only=true "
	  "--cpu-manager-policy-options=distribute-cpus-across-numa=true" },
	{ "two options of the topology in one flag", KEY ": restricted\n",
	  "--topology-manager-policy-options=prefer-closest-numa-nodes=true,max-allowable-numa-"
	  "nodes=16",
	  .n_nodes = 9, .minor = 33 },
	{ "whole cores without quotes", STATIC "cpuManagerPolicyOptions: {full-pcpus-only: true}\n",
	  .exit = "json: cannot unmarshal bool into Go struct field "
		  "KubeletConfiguration.cpuManagerPolicyOptions of type string" },
	{ "whole cores by a letter", STATIC "cpuManagerPolicyOptions: {full-pcpus-only: t}\n" },
	{ "whole cores without quotes, which a flag takes away",
	  STATIC "cpuManagerPolicyOptions: {full-pcpus-only: True}\n",
	  "--cpu-manager-policy-options=full-pcpus-only=1",
	  .exit = "json: cannot unmarshal bool into Go struct field" },
	{ "whole cores by a word that only YAML 1.1 takes for a boolean",
	  STATIC "cpuManagerPolicyOptions: {full-pcpus-only: yes}\n",
	  .exit = "json: cannot unmarshal bool into Go struct field "
		  "KubeletConfiguration.cpuManagerPolicyOptions of type string" },
	{ "closest nodes by another such word",
	  "topologyManagerPolicyOptions: {prefer-closest-numa-nodes: On}\n", .minor = 33,
	  .exit = "json: cannot unmarshal bool into Go struct field" },
	{ "a maximum as a number of another form",
	  "topologyManagerPolicyOptions: {max-allowable-numa-nodes: 1e1}\n", .minor = 33,
	  .exit = "json: cannot unmarshal number into Go struct field" },
	{ "whole cores without quotes, and a flag that says nothing",
	  "cpuManagerPolicyOptions: {full-pcpus-only: true}\n", "--cpu-manager-policy-options=",
	  .exit = "invalid argument \"\" for \"--cpu-manager-policy-options\" flag: malformed "
		  "pair, expect string=string" },
	{ "two options of the CPU manager in two flags", STATIC,
	  "--cpu-manager-policy-options=full-pcpus-only=true "
	  "--cpu-manager-policy-options=distribute-cpus-across-numa=true",
	  .minor = 33 },
	{ "an amount without a name", "", "--kube-reserved=500m",
	  .exit = "invalid argument \"500m\" for \"--kube-reserved\" flag: malformed pair, expect "
		  "string=string" },
	{ "an amount that another flag replaces", "",
	  "--kube-reserved=cpu=x,memory=1Gi --kube-reserved=cpu=1" },
	{ "an amount that the same flag replaces", "", "--system-reserved=cpu=x,cpu=1" },
	{ "static with blanks in its flag", "cpuManagerPolicy: static\n",
	  "'--kube-reserved=memory=1Gi, cpu= 1 '", .is_unjudged = true },
	{ "sums with blanks in a flag", RESERVED(MIB("0", "1124")),
	  "'--kube-reserved=cpu=1, memory = 1Gi'", .is_unjudged = true },
	{ "gates with blanks in a flag",
	  STATIC "cpuManagerPolicyOptions: {align-by-socket: 'true'}\n",
	  "'--feature-gates=AllBeta=true, CPUManagerPolicyAlphaOptions = true '",
	  .is_unjudged = true },
	{ "an amount of nothing", "", "--system-reserved=" },
	{ "a threshold with another sign", "", "--eviction-hard=memory.available=1Gi",
	  .exit = "invalid argument \"memory.available=1Gi\" for \"--eviction-hard\" flag: "
		  "malformed pair, expect string<string" },
	{ "memory in a unit that is none", "kubeReserved: {cpu: 500m, memory: 500MB}\n",
	  .exit = "--kube-reserved value failed to parse: failed to parse quantity \"500MB\" for "
		  "\"memory\" resource" },
	{ "memory in a unit that is none, by flag", "", "--system-reserved=memory=1GB",
	  .exit = "--system-reserved value failed to parse: failed to parse quantity \"1GB\" for "
		  "\"memory\" resource" },
	{ "a threshold in a unit that is none", "evictionHard: {memory.available: 500MB}\n",
	  .exit = "quantities must match the regular expression" },
	{ "memory in a unit of the wrong case", "kubeReserved: {memory: 100mi}\n",
	  .exit = "--kube-reserved value failed to parse: failed to parse quantity \"100mi\" for "
		  "\"memory\" resource: unable to parse quantity's suffix" },
	{ "negative CPUs", "kubeReserved: {cpu: '-1'}\n",
	  .exit = "--kube-reserved value failed to parse: resource quantity for \"cpu\" cannot be "
		  "negative: -1" },
	{ "CPUs with an exponent", "cpuManagerPolicy: static\nkubeReserved: {cpu: '1e0'}\n" },
	{ "CPUs that are null", "kubeReserved: {cpu: null}\n",
	  .exit = "--kube-reserved value failed to parse: failed to parse quantity \"\" for "
		  "\"cpu\" "
		  "resource: quantities must match the regular expression" },
	{ "a gate that is null and cannot be turned off", "featureGates: {TopologyManager: null}\n",
	  .minor = 27,
	  .exit = "cannot set feature gate TopologyManager to false, feature is locked to true" },
	{ "a gate by flag that is no boolean", "",
	  "--feature-gates=CPUManagerPolicyBetaOptions=yes", .minor = 26,
	  .exit = "invalid value of CPUManagerPolicyBetaOptions: yes, err: " },
	{ "a threshold of nothing", "evictionHard: {memory.available: '0'}\n",
	  .exit = "eviction threshold" },
	{ "a threshold of more than all", "evictionHard: {memory.available: 101%}\n",
	  .exit = "eviction percentage threshold" },
	{ "a threshold of a share that is none", "evictionHard: {memory.available: '5 %'}\n",
	  .exit = "strconv.ParseFloat: parsing" },
	{ "a topology policy with a tag", KEY ": !!str restricted\n" },
	{ "static with a tag", "cpuManagerPolicy: !!str static\nkubeReserved: {cpu: '1'}\n" },
	{ "a policy that a vendor's kubelet may have", "cpuManagerPolicy: dynamic\n",
	  .is_unjudged = true },
	{ "a scope in another case", "topologyManagerScope: Pod\n",
	  .exit = "topologyManagerScope (--topology-manager-scope) \"Pod\" must be one of" },
	{ "more CPUs than there are, without a policy", "kubeReserved: {cpu: '9'}\n",
	  .exit = "invalid Node Allocatable configuration. Resource \"cpu\" has a reservation of" },
	{ "a maximum with a sign",
	  KEY ": restricted\ntopologyManagerPolicyOptions: {max-allowable-numa-nodes: '+9'}\n",
	  .minor = 35 },
	{ "a maximum below zero",
	  KEY ": restricted\ntopologyManagerPolicyOptions: {max-allowable-numa-nodes: '-1'}\n",
	  .minor = 35,
	  .exit = "the minimum value of \"max-allowable-numa-nodes\" should not be less than 8" },
	{ "CPUs that a list replaces",
	  "kubeReserved: {cpu: null, memory: 100Mi}\nreservedSystemCPUs: 0-1\n" },
	{ "memory beside a list of CPUs", "kubeReserved: {memory: 1gi}\nreservedSystemCPUs: 0-1\n",
	  .exit = "--kube-reserved value failed to parse: failed to parse quantity \"1gi\"" },
	{ "a gate that is on by another word", "featureGates: {CPUManagerPolicyOptions: on}\n",
	  .minor = 33 },
	{ "an option of the topology manager without its gate",
	  KEY ": restricted\nfeatureGates: {TopologyManagerPolicyBetaOptions: false}\n"
	      "topologyManagerPolicyOptions: {max-allowable-numa-nodes: '9'}\n",
	  .minor = 33,
	  .exit = "topology manager policy beta-level options not enabled, but option "
		  "\"max-allowable-numa-nodes\" provided" },
	{ "memory of nothing beside a share",
	  "evictionHard: {memory.available: 5%}\nreservedMemory: [" MIB("0", "0") "]\n",
	  .exit = "invalid configuration: reserved memory may not be zero for NUMA node 0" },
	{ "memory of a NUMA node in a unit that is none",
	  "reservedMemory: [{numaNode: 0, limits: {memory: 100MB}}]\n",
	  .exit = "quantities must match the regular expression" },
	{ "memory of a NUMA node that is null",
	  "reservedMemory: [{numaNode: 0, limits: {memory: null}}]\n",
	  .exit = "invalid configuration: reserved memory may not be zero for NUMA node 0" },
	{ "two values of another type",
	  "systemReserved: {cpu: 1}\nevictionHard: {memory.available: 1}\n",
	  .exit = "json: cannot unmarshal number into Go struct field "
		  "KubeletConfiguration.evictionHard of type string" },
	{ "a threshold as a share",
	  "evictionHard: {memory.available: 5%, nodefs.available: 10%}\n" },
	{ "an option of a flag without a value", KEY ": restricted\n",
	  "--topology-manager-policy-options=max-allowable-numa-nodes=9,prefer-closest-numa-nodes",
	  .exit = "invalid argument \"max-allowable-numa-nodes=9,prefer-closest-numa-nodes\" for "
		  "\"--topology-manager-policy-options\" flag: malformed pair" },
	{ "no options of a flag that may have none", KEY ": restricted\n",
	  "--topology-manager-policy-options=" },
	{ "reserved CPUs without quotes", "kubeReserved: {cpu: 1}\n",
	  .exit = "json: cannot unmarshal number into Go struct field "
		  "KubeletConfiguration.kubeReserved of type string" },
	{ "reserved processes without quotes", "systemReserved: {cpu: 100m, pid: 1000}\n",
	  .exit = "json: cannot unmarshal number into Go struct field "
		  "KubeletConfiguration.systemReserved of type string" },
	{ "reserved processes in quotes", "systemReserved: {cpu: 100m, pid: '1000'}\n" },
	{ "reserved processes without quotes, which the same key takes away",
	  "systemReserved: {pid: 1000}\nsystemReserved: {pid: '1000'}\n" },
	{ "bytes that are kept free without quotes",
	  "evictionHard: {memory.available: 104857600, nodefs.available: 10%}\n",
	  .exit = "json: cannot unmarshal number into Go struct field "
		  "KubeletConfiguration.evictionHard of type string" },
	{ "inodes that are kept free without quotes",
	  "evictionHard: {memory.available: 100Mi, nodefs.inodesFree: 5}\n",
	  .exit = "json: cannot unmarshal number into Go struct field "
		  "KubeletConfiguration.evictionHard of type string" },
	{ "reserved storage without quotes", "systemReserved: {ephemeral-storage: 1073741824}\n",
	  .exit = "json: cannot unmarshal number into Go struct field "
		  "KubeletConfiguration.systemReserved of type string" },
	{ "reserved CPUs as a float that only C has", "kubeReserved: {cpu: 0x1p3}\n",
	  .exit = "--kube-reserved value failed to parse: failed to parse quantity \"0x1p3\" for "
		  "\"cpu\" resource" },
	{ "reserved CPUs as a hexadecimal number", "kubeReserved: {cpu: 0x1e}\n",
	  .exit = "json: cannot unmarshal number" },
	{ "a list of one CPU without quotes", "reservedSystemCPUs: 4\n",
	  .exit = "json: cannot unmarshal number into Go struct field "
		  "KubeletConfiguration.reservedSystemCPUs of type string" },
	{ "a gate in quotes", "featureGates: {CPUManagerPolicyAlphaOptions: 'true'}\n",
	  .exit = "json: cannot unmarshal string into Go struct field "
		  "KubeletConfiguration.featureGates of type bool" },
	{ "a gate by another word", "featureGates: {CPUManagerPolicyAlphaOptions: off}\n" },
	{ "a gate that went", "featureGates: {TopologyManager: true}\n", .minor = 29,
	  .exit = "unrecognized feature gate: TopologyManager" },
	{ "a gate that will go", "featureGates: {TopologyManager: true}\n", .minor = 28 },
	{ "a gate that cannot be turned off", "featureGates: {TopologyManager: false}\n",
	  .minor = 27,
	  .exit = "cannot set feature gate TopologyManager to false, feature is locked to true" },
	{ "a gate that a policy needs",
	  KEY ": restricted\nfeatureGates: {TopologyManager: false}\n", .minor = 26,
	  .exit = "topologyManagerPolicy restricted requires feature gate TopologyManager" },
	{ "a gate that a policy needs, and that is not asked for",
	  "featureGates: {TopologyManager: false}\n", .want = BEST, .minor = 26,
	  .exit = "topologyManagerPolicy best-effort requires feature gate", .is_refused = true },
	{ "a gate that is newer", ALPHA, .minor = 22,
	  .exit = "unrecognized feature gate: CPUManagerPolicyAlphaOptions" },
	{ "a gate of a version that is not known", "featureGates: {TopologyManager: true}\n" },
	{ "a folder that is not there", "", "--config-dir=/etc/gone", .minor = 30,
	  .exit = "failed to walk through kubelet dropin directory \"/etc/gone" },
	{ "a folder that is not there, and a policy is asked for", "", "--config-dir=/etc/gone",
	  .want = BEST, .minor = 31,
	  .exit = "failed to walk through kubelet dropin directory \"/etc/gone\": lstat /etc/gone: "
		  "no" },
	{ "a folder that is there", "", "--config-dir=/var/lib/kubelet", .minor = 30 },
	{ "a folder without its variable", "", "--config-dir=/var/lib/kubelet", .want = BEST,
	  .minor = 29,
	  .exit = "flag /var/lib/kubelet specified but environment variable "
		  "KUBELET_CONFIG_DROPIN_DIR_ALPHA not set, cannot start kubelet" },
	{ "a folder with its variable", "",
	  "--config-dir=/var/lib/kubelet\nEnvironment=KUBELET_CONFIG_DROPIN_DIR_ALPHA=",
	  .minor = 28 },
	{ "a folder, of which a kubelet knows nothing", "",
	  "--config-dir=/var/lib/kubelet\nEnvironment=KUBELET_CONFIG_DROPIN_DIR_ALPHA=on",
	  .minor = 27, .exit = "unknown flag: --config-dir" },
	{ "a memory policy in another case", "memoryManagerPolicy: static\n",
	  .exit = "unknown policy: \"static\"" },
	{ "a list that is none", "reservedSystemCPUs: 0-x\n",
	  .exit = "unable to parse reservedSystemCPUs (--reserved-cpus) 0-x" },
};

static void put_number(const struct root *root, const char *format, uint32_t i, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), format, i);
	put_text(root, path, text);
}

static void make(const struct root *root, const struct row *row, uint32_t minor)
{
	const uint32_t n_nodes = row->n_nodes ?: 2, n_packages = row->n_packages ?: 1;
	char text[2048];

	snprintf(text, sizeof(text),
		 "[Service]\nExecStart=/usr/bin/kubelet --config=/" FILE_PATH " %s\n",
		 row->flags ?: "");
	put_text(root, UNIT, text);
	snprintf(text, sizeof(text), HEAD "%s", row->values ?: "");
	put_text(root, FILE_PATH, text);
	put_text(root, "sys/devices/system/cpu/online", "0-7\n");
	for (uint32_t n = 0; n < n_nodes; n++)
		put_number(root, "sys/devices/system/node/node%u/meminfo", n,
			   "Node 0 MemTotal:        8388608 kB\nNode 0 MemFree: 1 kB\n");
	for (uint32_t c = 0; c < 8; c++)
		put_number(root, "sys/devices/system/cpu/cpu%u/topology/physical_package_id", c,
			   c % n_packages ? "1\n" : "0\n");
	snprintf(text, sizeof(text), "%" PRIu32 "\n", row->n_huge);
	if (row->n_huge)
		put_text(root,
			 "sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages",
			 text);
	snprintf(text, sizeof(text), "/usr/bin/kubelet v1.%" PRIu32 ".0\n", minor);
	if (minor)
		put_text(root, KUBELET_VERSION_PATH, text);
	/* It has run: no state is removed. */
	put_text(root, "sys/fs/cgroup/kubepods.slice/cgroup.procs", "");
	if (row->cpu_state)
		put_text(root, "var/lib/kubelet/cpu_manager_state", row->cpu_state);
	if (row->memory_state)
		put_text(root, "var/lib/kubelet/memory_manager_state", row->memory_state);
}

static void a_kubelet_that_would_exit_is_told_in_its_own_words(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const struct config c = { .kubelet.topology_policy = cases[i].want,
					  .kubelet.cpu_policy = cases[i].want_cpu };
		_cleanup_(root_done) struct root root = {};
		const struct kubelet_item *item;
		struct kubelet_decision d;
		struct kubelet k;

		root_open(&root);
		make(&root, &cases[i], cases[i].minor);
		assert_int_equal(kubelet_look(&root.fs, &c, false, &k, &d), 0);
		item = FIND(it, d.items, _KUBELET_SETTING_N,
			    it->reason == REASON_KUBELET_WOULD_EXIT);
		print_message("  %s: %s\n", cases[i].name, item ? item->detail : d.would_exit);
		assert_int_equal(item != NULL, cases[i].is_refused);
		if (!cases[i].want_cpu && !item)
			assert_int_equal(d.items[KUBELET_TOPOLOGY_POLICY].reason, REASON_NONE);
		if (cases[i].is_refused)
			assert_true(is_prefix(item->detail, cases[i].exit));
		else if (cases[i].exit)
			assert_true(is_prefix(d.would_exit, cases[i].exit));
		else
			assert_string_equal(d.would_exit, "");
	}
}

/* mergeKubeletConfigurations() in cmd/kubelet/app/server.go merges into a file with defaults. */
static void what_the_file_leaves_to_the_default_stays_beside_a_drop_in(_unused_ void **state)
{
	static const struct {
		const char *of_file, *drop_in, *exit;
	} rows[] = {
		{ RESERVED(MIB("0", "100")), "evictionHard: {nodefs.available: 5%}\n", "" },
		{ RESERVED(MIB("0", "150")), "evictionHard: {memory.available: 150Mi}\n", "" },
		{ RESERVED(MIB("0", "1024")) "kubeReserved: {memory: 1Gi}\n",
		  "evictionHard: {memory.available: null}\n", "" },
		{ RESERVED(MIB("0", "1124")) "kubeReserved: {memory: 1Gi}\n",
		  "evictionHard: null\n", "the total amount \"1124Mi\"" },
		{ RESERVED(MIB("0", "100")) "evictionHard: {imagefs.available: 9%}\n",
		  "evictionHard: {nodefs.available: 5%}\n", "the total amount \"100Mi\"" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_decision d;
		struct kubelet k;
		char text[512];

		root_open(&root);
		put_text(&root, UNIT,
			 "[Service]\nExecStart=/usr/bin/kubelet --config=/" FILE_PATH
			 " --config-dir=/etc/d\n");
		snprintf(text, sizeof(text), HEAD "%s", rows[i].of_file);
		put_text(&root, FILE_PATH, text);
		snprintf(text, sizeof(text), HEAD "%s", rows[i].drop_in);
		put_text(&root, "etc/d/a.conf", text);
		put_text(&root, "sys/devices/system/node/node0/meminfo", "");
		assert_int_equal(kubelet_look(&root.fs, &(struct config){}, false, &k, &d), 0);
		print_message("  %s\n", d.would_exit);
		assert_true(*rows[i].exit ? is_prefix(d.would_exit, rows[i].exit) : !*d.would_exit);
	}
}

/* k3s hands its own thresholds to the kubelet, by flag or by file. */
static void sums_with_the_default_of_k3s_are_not_judged(_unused_ void **state)
{
	static const struct {
		const char *flags, *exit;
	} rows[] = {
		{ "", "" },
		{ "--kubelet-arg=eviction-hard=memory.available<100Mi", "" },
		{ "--kubelet-arg=eviction-hard=memory.available<99Mi", "the total amount" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_decision d;
		struct kubelet k;

		root_open(&root);
		put_text(&root, "etc/systemd/system/k3s.service",
			 FS_PATH("[Service]\nExecStart=/usr/local/bin/k3s agent "
				 "--kubelet-arg=memory-manager-policy=Static "
				 "--kubelet-arg=reserved-memory=0:memory=100Mi %s\n",
				 rows[i].flags));
		put_text(&root, "sys/devices/system/node/node0/meminfo", "");
		assert_int_equal(kubelet_look(&root.fs, &(struct config){}, false, &k, &d), 0);
		print_message("  %zu: %s\n", i, d.would_exit);
		assert_true(*rows[i].exit ? is_prefix(d.would_exit, rows[i].exit) : !*d.would_exit);
	}
}

/* The file is decoded before drop-ins are merged into it, and these only then. */
static void a_wrong_type_counts_in_the_file_and_in_force(_unused_ void **state)
{
	static const char *const texts[] = { "", "kubeReserved: {cpu: '1'}\n",
					     "kubeReserved: {cpu: 1}\n",
					     "kubeReserved: {cpu: null}\n",
					     "kubeReserved: null\n" };
	static const struct {
		uint8_t of_file, first, last; /* of texts */
		bool is_wrong;
	} rows[] = { { 0, 2, 1 }, { 0, 1, 2, true }, { 0, 2, 0, true }, { 0, 2, 3 },
		     { 0, 2, 4 }, { 2, 1, 1, true }, { 1, 2, 1 } };

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_decision d;
		struct kubelet k;

		root_open(&root);
		put_text(&root, UNIT,
			 "[Service]\nExecStart=/usr/bin/kubelet --config=/" FILE_PATH
			 " --config-dir=/etc/d\n");
		put_text(&root, FILE_PATH, FS_PATH(HEAD "%s", texts[rows[i].of_file]));
		put_text(&root, "etc/d/10-a.conf", FS_PATH(HEAD "%s", texts[rows[i].first]));
		put_text(&root, "etc/d/20-b.conf", FS_PATH(HEAD "%s", texts[rows[i].last]));
		assert_int_equal(kubelet_look(&root.fs, &(struct config){}, false, &k, &d), 0);
		print_message("  %zu: %s\n", i, d.would_exit);
		assert_int_equal(is_prefix(d.would_exit, "json: cannot unmarshal number"),
				 rows[i].is_wrong);
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
		assert_int_equal(kubelet_look(&root.fs, &c, false, &k, &d), 0);
		assert_int_equal(d.is_state_removed, !has_run);
		assert_int_equal(*d.would_exit != '\0', has_run);
	}
}

/* As sos and others leave a node: the unit is there, and its file may say anything. */
static void a_file_that_a_copy_lacks_is_not_known(_unused_ void **state)
{
	static const struct {
		const char *unit, *text, *flags;
		enum kubelet_source source;
		enum reason of_copy, reason; /* of a node that has no more */
	} rows[] = {
		{ UNIT, "kubelet", "", KUBELET_UNKNOWN, REASON_NOT_RECORDED,
		  REASON_KUBELET_NO_FILE },
		{ UNIT, "kubelet", "--topology-manager-policy=restricted", KUBELET_FLAG,
		  REASON_NONE, REASON_NONE },
		{ UNIT, "kubelet",
		  "--topology-manager-policy=restricted --cpu-manager-policy=static", KUBELET_FLAG,
		  REASON_NONE, REASON_NONE },
		{ UNIT, "kubelet", "$ARGS\nEnvironmentFile=/etc/gone", KUBELET_UNKNOWN,
		  REASON_NOT_RECORDED, REASON_KUBELET_NO_FILE },
		{ "etc/systemd/system/snap.kubelet.daemon.service", "snap run kubelet", "",
		  KUBELET_UNKNOWN, REASON_NOT_RECORDED, REASON_KUBELET_NO_FILE },
		{ "etc/systemd/system/k0sworker.service", "k0s worker", "", KUBELET_UNKNOWN,
		  REASON_NOT_RECORDED, REASON_KUBELET_MANAGED },
	};
	const struct config c = { .kubelet.topology_policy = BEST };

	for (size_t i = 0; i < 2 * ELEMENTSOF(rows); i++) {
		const bool is_copy = i % 2;
		_cleanup_(root_done) struct root root = {};
		struct kubelet_decision d;
		struct kubelet k;
		char text[256];

		root_open(&root);
		snprintf(text, sizeof(text),
			 "[Service]\nExecStart=/usr/bin/%s --config=/" FILE_PATH " %s\n",
			 rows[i / 2].text, rows[i / 2].flags);
		put_text(&root, rows[i / 2].unit, text);
		if (strstr(rows[i / 2].flags, "$ARGS"))
			put_text(&root, FILE_PATH, HEAD);
		assert_int_equal(kubelet_look(&root.fs, &c, is_copy, &k, &d), 0);
		assert_int_equal(d.items[KUBELET_TOPOLOGY_POLICY].reason,
				 is_copy ? rows[i / 2].of_copy : rows[i / 2].reason);
		assert_string_equal(d.would_exit, "");
		if (is_copy)
			assert_int_equal(k.values[KUBELET_TOPOLOGY_POLICY].source,
					 rows[i / 2].source);
	}
}

static const struct {
	const char *text, *detail; /* the beginning of it */
} refused[] = {
	{ HEAD "kubeReserved: {cpu: 1\nmaxPods: 2\n",
	  "4:8: did not find expected ',' or '}', while parsing a flow mapping" },
	{ HEAD KEY ":none\n", "4:1: could not find expected ':', while scanning a simple key" },
	{ KIND "  apiVersion: x\n", "2:13: mapping values are not allowed in this context" },
	{ KIND "\tapiVersion: x\n", "2:1: found a tab character that violate" }, /* libyaml 0.2.2 */
	{ "{\"kind\": \"KubeletConfiguration\",\n \"secret\" 1}\n", "2:11: ':' expected" },
	{ HEAD "x: *d\n", "3: is not valid YAML or JSON" },
};

static void a_file_that_does_not_parse_is_told_with_line_and_column(_unused_ void **state)
{
	const struct config c = { .kubelet.topology_policy = BEST };

	for (size_t i = 0; i < ELEMENTSOF(refused); i++) {
		_cleanup_(root_done) struct root root = {};
		struct kubelet_decision d;
		struct kubelet k;

		root_open(&root);
		put_text(&root, UNIT,
			 "[Service]\nExecStart=/usr/bin/kubelet --config=/" FILE_PATH "\n");
		put_text(&root, FILE_PATH, refused[i].text);
		assert_int_equal(kubelet_look(&root.fs, &c, false, &k, &d), 0);
		print_message("  %s\n", d.items[KUBELET_TOPOLOGY_POLICY].detail);
		assert_true(is_prefix(
			after(d.items[KUBELET_TOPOLOGY_POLICY].detail, "/" FILE_PATH ":") ?: "",
			refused[i].detail));
	}
}

static void put_cpu(const struct root *root, uint32_t cpu, uint32_t node)
{
	char path[96], target[64];

	snprintf(path, sizeof(path), "sys/devices/system/node/node%" PRIu32 "/cpu%" PRIu32, node,
		 cpu);
	snprintf(target, sizeof(target), "../../cpu/cpu%" PRIu32, cpu);
	put_link(root, path, target);
}

/*
 * For tests/kubelets: the node of a row for a kubelet of this minor version, with what a kubelet
 * itself reads of the machine, after the edit that was asked for. One that is refused is made.
 * "exit" has the words with which that kubelet is to exit by our rules.
 */
static void write_node(const struct root *root, const struct row *row, uint32_t minor)
{
	const struct config c = { .kubelet.topology_policy = row->want,
				  .kubelet.cpu_policy = row->want_cpu };
	const uint32_t n_nodes = row->n_nodes ?: 2, n_packages = row->n_packages ?: 1;
	struct kubelet_result res = {};
	const struct kubelet_item *item = &res.decision.items[KUBELET_TOPOLOGY_POLICY];
	struct kubelet_decision d;
	struct kubelet k;
	char text[2048] = "";
	bool is_refused;

	make(root, row, minor);
	for (uint32_t cpu = 0; cpu < 8; cpu++) {
		put_number(root, "sys/devices/system/cpu/cpu%u/topology/core_id", cpu, "0\n");
		put_cpu(root, cpu, cpu % n_nodes);
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "processor\t: %" PRIu32 "\ncpu MHz\t\t: 2000.000\nphysical id\t: %" PRIu32
			 "\ncore id\t\t: 0\n\n",
			 cpu, cpu % n_packages ? 1 : 0);
	}
	put_text(root, "proc/cpuinfo", text);
	for (uint32_t node = 0; node < n_nodes; node++)
		put_number(root, "sys/devices/system/node/node%u/distance", node,
			   &"20 20 20 20 20 20 20 20 20 20\n"[3 * (10 - n_nodes)]);

	if (c.kubelet.topology_policy)
		assert_int_equal(kubelet_ensure(&root->fs, &c, &res), 0);
	is_refused = item->reason == REASON_KUBELET_WOULD_EXIT;
	if (is_refused) {
		snprintf(text, sizeof(text), HEAD "%s" KEY ": %s\n", row->values, item->to);
		put_text(root, FILE_PATH, text);
	}
	assert_int_equal(kubelet_look(&root->fs, &(struct config){}, false, &k, &d), 0);
	put_text(root, "exit", is_refused ? item->detail : d.would_exit);
	put_text(root, "name", row->name);
	put_text(root, "flags", row->flags ?: "");
}

/*
 * Random nodes: of each group at most one line, its values by the letter behind "$". Without what
 * no rule is about: gates that are not looked at, all alpha gates, more memory than there is.
 */
static const char *const groups[][6] = {
	{ "cpuManagerPolicy: static", "cpuManagerPolicy: static", "cpuManagerPolicy: none",
	  "cpuManagerPolicy: Static", "cpuManagerPolicy: null" },
	{ KEY ": restricted", KEY ": single-numa-node", KEY ": best-effort", KEY ": none",
	  KEY ": Restricted" },
	{ "topologyManagerScope: pod", "topologyManagerScope: Pod" },
	{ "kubeReserved: {cpu: $A}", "kubeReserved: {cpu: '1', memory: $M}", "kubeReserved: {}",
	  "kubeReserved: {cpu: $A, memory: 100Mi, ephemeral-storage: 1Gi}", "kubeReserved: null" },
	{ "systemReserved: {cpu: $A}", "systemReserved: {memory: $M, pid: '1000'}" },
	{ "reservedSystemCPUs: $L", "reservedSystemCPUs: '0'", "kubeReservedCgroup: /kube" },
	{ "evictionHard: {memory.available: $E}", "evictionHard: {nodefs.available: $E}",
	  "evictionHard: {memory.available: 100Mi, imagefs.available: $E}", "evictionHard: {}" },
	{ "memoryManagerPolicy: Static\n"
	  "reservedMemory: [{numaNode: 0, limits: {memory: $M}}]",
	  "reservedMemory: [{numaNode: 0, limits: {memory: $M}}, {numaNode: 1, limits: {memory: "
	  "1Gi}}]",
	  "memoryManagerPolicy: static" },
	{ "cpuManagerPolicyOptions: {full-pcpus-only: $B}",
	  "cpuManagerPolicyOptions: {align-by-socket: $B}",
	  "cpuManagerPolicyOptions: {strict-cpu-reservation: $B, distribute-cpus-across-numa: $B}",
	  "cpuManagerPolicyOptions: {other: $B}", "cpuManagerPolicyOptions: {}" },
	{ "topologyManagerPolicyOptions: {prefer-closest-numa-nodes: $B}",
	  "topologyManagerPolicyOptions: {max-allowable-numa-nodes: $N}",
	  "topologyManagerPolicyOptions: {other: $B, max-allowable-numa-nodes: $N}" },
	{ "featureGates: {CPUManagerPolicyAlphaOptions: $G}",
	  "featureGates: {CPUManagerPolicyBetaOptions: $G}",
	  "featureGates: {TopologyManagerPolicyAlphaOptions: $G, CPUManagerPolicyAlphaOptions: $G}",
	  "featureGates: {TopologyManagerPolicyBetaOptions: $G, CPUManagerPolicyOptions: $G}" },
};
static const char *const random_flags[] = {
	"--cpu-manager-policy=static",
	"--kube-reserved=cpu=$A",
	"--kube-reserved=",
	"--kube-reserved=cpu",
	"--system-reserved=memory=$M,cpu=1",
	"--reserved-cpus=$L",
	"--eviction-hard=memory.available<$E",
	"--cpu-manager-policy-options=full-pcpus-only=$B",
	"--cpu-manager-policy-options=",
	"--cpu-manager-policy-options=full-pcpus-only=true,align-by-socket=true",
	"--topology-manager-policy-options=max-allowable-numa-nodes=$N",
	"--topology-manager-policy-options=",
	"--feature-gates=CPUManagerPolicyAlphaOptions=$G",
	"--memory-manager-policy=Static",
	"--reserved-memory=0:memory=$M",
};
static const struct {
	char letter;
	const char *of[20]; /* without blanks, for the flags */
} letters[] = {
	{ 'A',
	  { "'1'",  "500m", "'0.5'", "1.5",  "2",  "'8'",  "'9'",  "'0'",    "'1e0'", "1e0",
	    "100u", "'1k'", "'+1'",  "'-1'", "''", "null", "'1.'", "2cores", "0x2",   "'2E0'" } },
	{ 'M', { "100Mi", "100Mi", "100Mi", "'104857600'", "104857600", "50Mi", "100M",
		 "'1e8'", "500MB", "1gi",   "'0'",         "null",      "-1Mi", "0.1Gi",
		 "100mi", "10%",   "1.5Gi", "''",          "100Ki",     "1Gi" } },
	{ 'E',
	  { "100Mi", "10%", "5%", "0%",  "100%", "'50Mi'", "500MB", "'-1Mi'", "101%",  "10.5%",
	    "null",  "''",  "0",  "'0'", "1e8",  "'%'",    "x%",    "-1%",    "150Mi", "1G" } },
	{ 'L',
	  { "0",     "'0'",       "0-1",  "'0,4'", "'8'", "0-x", "'0-7'", "''", "'1,'", "0-0",
	    "'3-1'", "'0-1,1-2'", "null", "0x1",   "1e0", "a",   "'7'",   "-1", "0,,1", "00" } },
	{ 'B', { "'true'", "'true'", "'false'", "true", "'1'", "'yes'", "yes",
		 "'True'", "T",      "''",      "null", "'t'", "off",   "'TRUE'",
		 "y",      "n",      "~",       "0",    "'0'", "tRUE" } },
	{ 'N', { "'8'",  "'10'", "'7'",  "12",   "'0x9'", "'9'", "'16x'", "''",   "'+9'", "'1_0'",
		 "'-1'", "9.0",  "'09'", "null", "1e1",   "'0'", "'8.0'", "nine", "'99'", "~" } },
	{ 'G',
	  { "true", "true", "true", "false", "false", "'true'", "on", "off", "null",    "1",
	    "yes",  "True", "y",    "TRUE",  "~",     "no",     "''", "t",   "'false'", "on" } },
};

static uint64_t dice;

static size_t roll(size_t n)
{
	dice = dice * 6364136223846793005 + 1442695040888963407;
	return (size_t)(dice >> 33) % n;
}

static void add_line(char text[static 1024], const char *line, const char *end)
{
	size_t n = strlen(text);

	for (; *line && n < 960; line++) {
		const char letter = *line == '$' ? *++line : '\0';

		text[n++] = *line;
		for (size_t i = 0; i < ELEMENTSOF(letters); i++)
			if (letters[i].letter == letter)
				n += (size_t)snprintf(text + n - 1, 32, "%s",
						      letters[i].of[roll(20)]) -
				     1;
	}
	snprintf(text + n, 1024 - n, "%s", end);
}

static void write_random_node(const struct root *root, size_t number, uint32_t minor)
{
	static const char *const states[] = { STATE("0-7", ""), STATE("0-3", ""),
					      STATE("0-5", "\"uid\":{\"app\":\"6-7\"}") };
	char name[32], values[1024] = "", flags[1024] = "";
	struct row row = { .name = name, .values = values, .flags = flags };

	dice = number;
	snprintf(name, sizeof(name), "random %zu", number);
	for (size_t i = 0; i < ELEMENTSOF(groups); i++) {
		const char *line = roll(3) == 0 ? groups[i][roll(ELEMENTSOF(groups[i]))] : NULL;

		if (line)
			add_line(values, line, "\n");
	}
	if (roll(3) == 0)
		add_line(flags, random_flags[roll(ELEMENTSOF(random_flags))], "");
	for (char *quote; (quote = strchr(flags, '\''));) /* it is no file */
		memmove(quote, quote + 1, strlen(quote));
	row.cpu_state = roll(4) == 0 ? states[roll(ELEMENTSOF(states))] : NULL;
	row.n_nodes = (uint32_t)roll(8) == 0 ? 9 : (uint32_t)roll(2) + 1;
	row.n_packages = (uint32_t)roll(2) + 1;
	row.want = roll(3) == 0 ? BEST : 0;
	write_node(root, &row, minor);
}

static const char *folder; /* where they are written */
static uint32_t minor_to_write;
static size_t n_random;

static void open_node(struct root *root, size_t i)
{
	snprintf(root->path, sizeof(root->path), "%s/%05zu", folder, i);
	assert_int_equal(mkdir(root->path, 0755), 0);
	assert_int_equal(fs_open_root(root->path, &root->fs), 0);
}

static void nodes_are_written_for_a_kubelet(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(cases) + n_random; i++) {
		struct root root = {};

		if (i < ELEMENTSOF(cases) && cases[i].is_unjudged)
			continue;
		open_node(&root, i);
		if (i < ELEMENTSOF(cases))
			write_node(&root, &cases[i], minor_to_write);
		else
			write_random_node(&root, i - ELEMENTSOF(cases) + 1, minor_to_write);
		fs_done(&root.fs);
	}
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest writes[] = {
		cmocka_unit_test(nodes_are_written_for_a_kubelet),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kubelet_that_would_exit_is_told_in_its_own_words),
		cmocka_unit_test(what_the_file_leaves_to_the_default_stays_beside_a_drop_in),
		cmocka_unit_test(sums_with_the_default_of_k3s_are_not_judged),
		cmocka_unit_test(a_wrong_type_counts_in_the_file_and_in_force),
		cmocka_unit_test(a_state_of_other_cpus_goes_before_the_first_start),
		cmocka_unit_test(a_file_that_does_not_parse_is_told_with_line_and_column),
		cmocka_unit_test(a_file_that_a_copy_lacks_is_not_known),
	};

	if (argc < 3)
		return cmocka_run_group_tests(tests, NULL, NULL);
	folder = argv[1];
	minor_to_write = (uint32_t)strtoul(argv[2], NULL, 10);
	n_random = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	return cmocka_run_group_tests(writes, NULL, NULL);
}
