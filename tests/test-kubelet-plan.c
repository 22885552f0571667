/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet: the decision table, row by row, and when the static CPU policy is safe.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/kubelet/look.h"

#define FILE_PATH  "/var/lib/kubelet/config.yaml"
#define EXTRA_PATH "/etc/default/kubelet"

/* A kubelet of kubeadm that says nothing of any setting: what a test changes is in its function. */
static struct kubelet_found make(void)
{
	struct kubelet_found k = {
		.seen = { .is_there = true, .has_file = true, .file = FILE_PATH }
	};

	for (int s = 0; s < _KUBELET_SETTING_N; s++)
		k.seen.values[s] = (struct kubelet_value){ .rank = 1 };
	k.seen.cpus =
		(struct kubelet_cpus){ .n_online = 8,
				       .first_core = "0,4",
				       .n_first_core = 2,
				       .checkpoint_path = "/var/lib/kubelet/cpu_manager_state" };
	return k;
}

static void say(struct kubelet_found *k, enum kubelet_source source, const char *word)
{
	struct kubelet_value *v = &k->seen.values[KUBELET_TOPOLOGY_POLICY];

	*v = (struct kubelet_value){ .source = source,
				     .rank = kubelet_rank(KUBELET_TOPOLOGY_POLICY, word),
				     .line = 7 };
	COPY(v->text, word);
	COPY(v->path, source == KUBELET_FLAG ? EXTRA_PATH : FILE_PATH);
}

static void nothing(_unused_ struct kubelet_found *k)
{
}
static void is_none(struct kubelet_found *k)
{
	say(k, KUBELET_FILE, "none");
}
static void is_best_effort(struct kubelet_found *k)
{
	say(k, KUBELET_FILE, "best-effort");
}
static void is_single(struct kubelet_found *k)
{
	say(k, KUBELET_FLAG, "single-numa-node");
}
static void is_vendors(struct kubelet_found *k)
{
	say(k, KUBELET_FILE, "numa-x");
}
static void is_misspelt(struct kubelet_found *k)
{
	say(k, KUBELET_FILE, "Best-Effort");
	k->seen.values[0].rank = TOPOLOGY_POLICY_BEST_EFFORT;
	k->seen.values[0].is_misspelt = true;
}
static void is_misspelt_stricter(struct kubelet_found *k)
{
	is_misspelt(k);
	k->seen.values[0].rank = TOPOLOGY_POLICY_SINGLE_NUMA_NODE;
}
static void is_openshift(struct kubelet_found *k)
{
	COPY(k->seen.manager, "openshift");
}
static void is_openshift_and_right(struct kubelet_found *k)
{
	is_openshift(k);
	is_single(k);
}
static void allows_34_nodes(struct kubelet_found *k)
{
	k->start.max_numa_nodes = 34;
}
static void is_unclear(struct kubelet_found *k)
{
	COPY(k->seen.problem, "kubelet.service: what /bin/sh does is not known");
}
static void is_unclear_and_right(struct kubelet_found *k)
{
	is_unclear(k);
	is_single(k);
}
static void is_flag(struct kubelet_found *k)
{
	say(k, KUBELET_FLAG, "none");
}
static void is_token(struct kubelet_found *k)
{
	is_flag(k);
	k->words[0].to = 1;
}
static void has_extra(struct kubelet_found *k)
{
	COPY(k->extra.path, EXTRA_PATH);
	COPY(k->extra.variable, "KUBELET_EXTRA_ARGS");
}
static void is_flag_and_extra(struct kubelet_found *k)
{
	is_flag(k);
	has_extra(k);
}
static void is_token_that_was_refused(struct kubelet_found *k)
{
	is_token(k);
	has_extra(k);
	k->blocked = 1u << KUBELET_WAY_TOKEN;
}
static void is_rancher(struct kubelet_found *k)
{
	k->flavour = KUBELET_RANCHER;
	k->seen.has_file = false;
	COPY(k->seen.file, "");
	COPY(k->seen.folder, "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d");
	COPY(k->rancher_path, "/etc/rancher/k3s/config.yaml.d/99-rdma-provision.yaml");
	COPY(k->drop_in, "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d/90-rdma-provision.conf");
	k->minor = 31;
}
static void is_new_rancher(struct kubelet_found *k)
{
	is_rancher(k);
	k->minor = 32;
}
static void is_new_rancher_with_flag(struct kubelet_found *k)
{
	is_new_rancher(k);
	is_flag(k);
	COPY(k->seen.values[0].path, "/etc/rancher/k3s/config.yaml");
}
static void is_rancher_with_a_flag_of_the_unit(struct kubelet_found *k)
{
	is_rancher(k);
	is_flag(k);
}
static void is_rancher_with_a_last_flag(struct kubelet_found *k)
{
	is_rancher(k);
	is_flag(k);
	COPY(k->rancher_path, "");
}
static void is_rancher_without_a_way(struct kubelet_found *k)
{
	is_rancher(k);
	COPY(k->rancher_path, "");
}
static void has_folder(struct kubelet_found *k)
{
	COPY(k->seen.folder, "/etc/kubelet.d");
	k->seen.has_folder = true;
	COPY(k->drop_in, "/etc/kubelet.d/90-rdma-provision.conf");
	k->minor = 30;
}
static void has_folder_of_29(struct kubelet_found *k)
{
	has_folder(k);
	k->minor = 29;
}
static void has_folder_of_28(struct kubelet_found *k)
{
	has_folder(k);
	k->minor = 28;
}
static void has_folder_of_28_with_drop_ins(struct kubelet_found *k)
{
	has_folder_of_28(k);
	k->is_reset = true;
}
static void has_folder_of_nobody_knows(struct kubelet_found *k)
{
	has_folder(k);
	k->minor = 0;
}
static void has_link_for_folder(struct kubelet_found *k)
{
	has_folder(k);
	k->seen.has_folder = false;
	COPY(k->drop_in, "");
}
static void has_none_in_the_last_drop_in(struct kubelet_found *k)
{
	has_folder(k);
	say(k, KUBELET_DROP_IN, "none");
	COPY(k->drop_in, "");
}
static void lacks_file(struct kubelet_found *k)
{
	k->seen.has_file = false;
}
static void lacks_file_and_has_extra(struct kubelet_found *k)
{
	lacks_file(k);
	has_extra(k);
}
static void waits(struct kubelet_found *k)
{
	COPY(k->seen.file, "");
	k->seen.has_file = false;
	k->seen.is_waiting = true;
}
static void has_bad_file(struct kubelet_found *k)
{
	k->file_result = -EBADMSG;
	COPY(k->seen.file_problem, "is not YAML");
}
static void has_bad_file_and_extra(struct kubelet_found *k)
{
	has_bad_file(k);
	has_extra(k);
}
static void has_refused_file_and_extra(struct kubelet_found *k)
{
	has_extra(k);
	k->blocked = 1u << KUBELET_WAY_FILE;
	COPY(k->blocked_detail, FILE_PATH ": is mounted by itself");
}
static void has_only_refused_ways(struct kubelet_found *k)
{
	has_refused_file_and_extra(k);
	k->blocked |= 1u << KUBELET_WAY_EXTRA;
}
static void has_nothing(struct kubelet_found *k)
{
	lacks_file(k);
	COPY(k->seen.file, "");
}

#define CHANGED   KUBELET_CHANGED
#define SATISFIED KUBELET_SATISFIED
#define REFUSED   KUBELET_REFUSED
#define WAITING   KUBELET_WAITING
#define BE        TOPOLOGY_POLICY_BEST_EFFORT

/* Rows 3 and 8 are not in use. */
static const struct {
	const char *name;
	void (*change)(struct kubelet_found *k);
	enum topology_policy want;
	uint32_t n_numa_nodes, row;
	enum kubelet_outcome outcome;
	enum kubelet_way way;
	enum reason reason;
	const char *path;
} cases[] = {
	{ "1 managed", is_openshift, BE, 2, 1, REFUSED, 0, REASON_KUBELET_MANAGED, FILE_PATH },
	{ "1 not when it is right", is_openshift_and_right, BE, 2, 4, SATISFIED, 0, REASON_NONE,
	  EXTRA_PATH },
	{ "2 nine NUMA nodes", nothing, BE, 9, 2, REFUSED, 0, REASON_KUBELET_NUMA_NODES,
	  FILE_PATH },
	{ "2 also when it is so already", is_best_effort, BE, 9, 2, REFUSED, 0,
	  REASON_KUBELET_NUMA_NODES, FILE_PATH },
	{ "2 not eight", nothing, BE, 8, 9, CHANGED, KUBELET_WAY_FILE, REASON_NONE, FILE_PATH },
	{ "2 not when an option allows more", allows_34_nodes, BE, 34, 9, CHANGED, KUBELET_WAY_FILE,
	  REASON_NONE, FILE_PATH },
	{ "2 nor when it allows too few", allows_34_nodes, BE, 35, 2, REFUSED, 0,
	  REASON_KUBELET_NUMA_NODES, FILE_PATH },
	{ "3 one NUMA node is asked for all the same", nothing, BE, 1, 9, CHANGED, KUBELET_WAY_FILE,
	  REASON_NONE, FILE_PATH },
	{ "4 equal", is_best_effort, BE, 2, 4, SATISFIED, 0, REASON_NONE, FILE_PATH },
	{ "4 stricter, by flag", is_single, BE, 2, 4, SATISFIED, 0, REASON_NONE, EXTRA_PATH },
	{ "4 less strict is not enough", is_best_effort, TOPOLOGY_POLICY_RESTRICTED, 2, 9, CHANGED,
	  KUBELET_WAY_FILE, REASON_NONE, FILE_PATH },
	{ "4 a vendor's word", is_vendors, BE, 2, 4, REFUSED, 0, REASON_KUBELET_VALUE_UNKNOWN,
	  FILE_PATH },
	{ "4 stricter but misspelt", is_misspelt_stricter, BE, 2, 4, REFUSED, 0,
	  REASON_KUBELET_VALUE_UNKNOWN, FILE_PATH },
	{ "4 misspelt is no value", is_misspelt, BE, 2, 9, CHANGED, KUBELET_WAY_FILE, REASON_NONE,
	  FILE_PATH },
	{ "5 a flag that can be edited", is_token, BE, 2, 5, CHANGED, KUBELET_WAY_TOKEN,
	  REASON_NONE, EXTRA_PATH },
	{ "5 a flag of the unit, and a variable for more", is_flag_and_extra, BE, 2, 5, CHANGED,
	  KUBELET_WAY_EXTRA, REASON_NONE, EXTRA_PATH },
	{ "5 a flag whose file could not be written", is_token_that_was_refused, BE, 2, 5, CHANGED,
	  KUBELET_WAY_EXTRA, REASON_NONE, EXTRA_PATH },
	{ "5 a flag of the unit", is_flag, BE, 2, 5, REFUSED, 0, REASON_KUBELET_FLAG_WINS,
	  EXTRA_PATH },
	{ "6 k3s before 1.32", is_rancher, BE, 2, 6, CHANGED, KUBELET_WAY_RANCHER, REASON_NONE,
	  "/etc/rancher/k3s/config.yaml.d/99-rdma-provision.yaml" },
	{ "6 k3s from 1.32 on", is_new_rancher, BE, 2, 6, CHANGED, KUBELET_WAY_DROP_IN, REASON_NONE,
	  "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d/90-rdma-provision.conf" },
	{ "6 a flag wins over drop-ins there too", is_new_rancher_with_flag, BE, 2, 6, CHANGED,
	  KUBELET_WAY_RANCHER, REASON_NONE,
	  "/etc/rancher/k3s/config.yaml.d/99-rdma-provision.yaml" },
	{ "6 a flag of the unit, behind all files", is_rancher_with_a_flag_of_the_unit, BE, 2, 6,
	  REFUSED, 0, REASON_KUBELET_FLAG_WINS, EXTRA_PATH },
	{ "6 a flag behind every name of ours", is_rancher_with_a_last_flag, BE, 2, 6, REFUSED, 0,
	  REASON_KUBELET_FLAG_WINS, EXTRA_PATH },
	{ "6 no way", is_rancher_without_a_way, BE, 2, 6, REFUSED, 0, REASON_KUBELET_FILE_REFUSED,
	  "" },
	{ "7 a folder of drop-ins", has_folder, BE, 2, 7, CHANGED, KUBELET_WAY_DROP_IN, REASON_NONE,
	  "/etc/kubelet.d/90-rdma-provision.conf" },
	{ "7 of 1.29, which it was only given with its variable", has_folder_of_29, BE, 2, 7,
	  CHANGED, KUBELET_WAY_DROP_IN, REASON_NONE, "/etc/kubelet.d/90-rdma-provision.conf" },
	{ "7 nothing sorts behind the one that says none", has_none_in_the_last_drop_in, BE, 2, 12,
	  REFUSED, 0, REASON_KUBELET_FILE_REFUSED, FILE_PATH },
	{ "8 1.28: the file", has_folder_of_28, BE, 2, 9, CHANGED, KUBELET_WAY_FILE, REASON_NONE,
	  FILE_PATH },
	{ "8 1.28 with drop-ins, which reset the file", has_folder_of_28_with_drop_ins, BE, 2, 12,
	  REFUSED, 0, REASON_KUBELET_FILE_REFUSED, FILE_PATH },
	{ "9 a file", is_none, BE, 2, 9, CHANGED, KUBELET_WAY_FILE, REASON_NONE, FILE_PATH },
	{ "9 the version is not known", has_folder_of_nobody_knows, BE, 2, 9, CHANGED,
	  KUBELET_WAY_FILE, REASON_NONE, FILE_PATH },
	{ "9 the folder is a link: nothing is read from it", has_link_for_folder, BE, 2, 9, CHANGED,
	  KUBELET_WAY_FILE, REASON_NONE, FILE_PATH },
	{ "10 not there yet", lacks_file, BE, 2, 10, WAITING, 0, REASON_KUBELET_NO_FILE,
	  FILE_PATH },
	{ "10 also where there is a variable for more", lacks_file_and_has_extra, BE, 2, 10,
	  WAITING, 0, REASON_KUBELET_NO_FILE, FILE_PATH },
	{ "10 a file of variables is not there", waits, BE, 2, 10, WAITING, 0,
	  REASON_KUBELET_NO_FILE, "" },
	{ "11 the file is refused", has_bad_file_and_extra, BE, 2, 11, CHANGED, KUBELET_WAY_EXTRA,
	  REASON_NONE, EXTRA_PATH },
	{ "11 the file could not be written", has_refused_file_and_extra, BE, 2, 11, CHANGED,
	  KUBELET_WAY_EXTRA, REASON_NONE, EXTRA_PATH },
	{ "12 how it is started is not clear", is_unclear, BE, 2, 12, REFUSED, 0,
	  REASON_KUBELET_UNCLEAR, FILE_PATH },
	{ "12 not when it is right all the same", is_unclear_and_right, BE, 2, 4, SATISFIED, 0,
	  REASON_NONE, EXTRA_PATH },
	{ "12 the file is refused and there is no other way", has_bad_file, BE, 2, 12, REFUSED, 0,
	  REASON_KUBELET_FILE_REFUSED, FILE_PATH },
	{ "12 all ways were tried", has_only_refused_ways, BE, 2, 12, REFUSED, 0,
	  REASON_KUBELET_FILE_REFUSED, FILE_PATH },
	{ "12 neither file nor variable", has_nothing, BE, 2, 12, REFUSED, 0,
	  REASON_KUBELET_FILE_REFUSED, "" },
};

static void the_first_row_that_is_met_decides(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const struct config c = { .kubelet.topology_policy = cases[i].want };
		struct kubelet_decision d;
		struct kubelet_found k = make();
		const struct kubelet_item *item = &d.items[KUBELET_TOPOLOGY_POLICY];

		print_message("  %s\n", cases[i].name);
		cases[i].change(&k);
		k.n_numa_nodes = cases[i].n_numa_nodes;
		kubelet_decide(&c, &k, &d);
		print_message("    row %u %s %s %s: %s\n", item->row,
			      kubelet_outcome_name(item->outcome), reason_code(item->reason),
			      item->path, item->detail);
		assert_int_equal(item->row, cases[i].row);
		assert_int_equal(item->outcome, cases[i].outcome);
		assert_int_equal(item->way, cases[i].way);
		assert_int_equal(item->reason, cases[i].reason);
		assert_string_equal(item->path, cases[i].path);
		assert_string_equal(item->to, kubelet_word(KUBELET_TOPOLOGY_POLICY, cases[i].want));
		assert_true(*item->detail != '\0');
		for (int s = 1; s < _KUBELET_SETTING_N; s++)
			assert_int_equal(d.items[s].row, 0); /* not asked for */
	}
}

static void what_is_not_asked_for_is_not_decided(_unused_ void **state)
{
	const struct config c = {};
	struct kubelet_decision d;
	struct kubelet_found k = make();

	kubelet_decide(&c, &k, &d);
	for (int s = 0; s < _KUBELET_SETTING_N; s++)
		assert_int_equal(d.items[s].row, 0);
	assert_false(d.is_state_removed);
}

/* The scope has no limit of NUMA nodes, and "pod" is the stricter one. */
static void the_scope_goes_by_the_same_table(_unused_ void **state)
{
	static const struct {
		enum topology_scope want, have;
		uint32_t n_numa_nodes, row;
	} scopes[] = {
		{ TOPOLOGY_SCOPE_POD, TOPOLOGY_SCOPE_CONTAINER, 2, 9 },
		{ TOPOLOGY_SCOPE_POD, TOPOLOGY_SCOPE_CONTAINER, 34, 9 },
		{ TOPOLOGY_SCOPE_POD, TOPOLOGY_SCOPE_POD, 2, 4 },
		{ TOPOLOGY_SCOPE_CONTAINER, TOPOLOGY_SCOPE_POD, 2, 4 },
		{ TOPOLOGY_SCOPE_CONTAINER, TOPOLOGY_SCOPE_CONTAINER, 2, 4 },
	};

	for (size_t i = 0; i < ELEMENTSOF(scopes); i++) {
		const struct config c = { .kubelet.topology_scope = scopes[i].want };
		struct kubelet_decision d;
		struct kubelet_found k = make();

		k.seen.values[KUBELET_TOPOLOGY_SCOPE].rank = scopes[i].have;
		k.n_numa_nodes = scopes[i].n_numa_nodes;
		kubelet_decide(&c, &k, &d);
		assert_int_equal(d.items[KUBELET_TOPOLOGY_SCOPE].row, scopes[i].row);
		assert_int_equal(d.items[KUBELET_TOPOLOGY_POLICY].row, 0);
	}
}

/* What the node is, and what becomes of CPUManagerPolicy=static. */
struct cpu_case {
	const char *name;
	struct kubelet_cpus cpus; /* paths are filled in; n_online 0 here means 8 */
	bool was_started, is_running, is_static;
	enum kubelet_outcome outcome;
	enum reason reason;
	const char *reserve; /* is also written: "" nothing */
	bool is_state_removed;
	const char *detail; /* of the refusal; NULL: any */
};

#define RESERVED .n_reserved = 1
#define CORE     .first_core = "0,4", .n_first_core = 2

static const struct cpu_case cpu_cases[] = {
	/* reservations */
	{ "something is reserved", { RESERVED }, .outcome = CHANGED, .reserve = "" },
	{ "nothing is: the first core with its siblings",
	  { CORE },
	  .outcome = CHANGED,
	  .reserve = "0,4" },
	{ "nothing is, and the core is not known",
	  {},
	  .outcome = REFUSED,
	  .reason = REASON_KUBELET_CPU_RESERVATION,
	  .reserve = "",
	  .detail = "the CPUs of core 0 are not known, or not online" },
	{ "nothing is, and there is one core",
	  { CORE, .n_online = 2 },
	  .outcome = REFUSED,
	  .reason = REASON_KUBELET_CPU_RESERVATION,
	  .reserve = "",
	  .detail = "there is no core to spare" },
	{ "nothing is, and a cgroup forbids to list CPUs",
	  { CORE, .has_cgroup = true },
	  .outcome = REFUSED,
	  .reason = REASON_KUBELET_CPU_RESERVATION,
	  .reserve = "" },
	{ "an amount is, with a cgroup",
	  { RESERVED, .has_cgroup = true },
	  .outcome = CHANGED,
	  .reserve = "" },
	{ "a list is, with a cgroup",
	  { RESERVED, .is_list = true, .has_cgroup = true },
	  .outcome = REFUSED,
	  .reason = REASON_KUBELET_CPU_RESERVATION,
	  .reserve = "" },
	{ "a flag takes the file's amount away",
	  { CORE, .is_by_flag = true },
	  .outcome = REFUSED,
	  .reason = REASON_KUBELET_CPU_RESERVATION,
	  .reserve = "" },
	{ "all CPUs are",
	  { .n_reserved = 8 },
	  .outcome = REFUSED,
	  .reason = REASON_KUBELET_CPU_RESERVATION,
	  .reserve = "" },
	{ "all but one are", { .n_reserved = 7 }, .outcome = CHANGED, .reserve = "" },
	{ "it is not understood",
	  { RESERVED, .is_unclear = true },
	  .outcome = REFUSED,
	  .reason = REASON_KUBELET_CPU_RESERVATION,
	  .reserve = "" },

	/* the state file */
	{ "state of none, before the first start",
	  { RESERVED, .checkpoint = "none" },
	  .outcome = CHANGED,
	  .reserve = "" },
	{ "state of none, and it has run",
	  { RESERVED, .checkpoint = "none" },
	  .was_started = true,
	  .outcome = REFUSED,
	  .reason = REASON_KUBELET_CPU_STATE,
	  .reserve = "" },
	{ "no state, and it runs: it may write one now",
	  { RESERVED },
	  .was_started = true,
	  .is_running = true,
	  .outcome = REFUSED,
	  .reason = REASON_KUBELET_CPU_STATE,
	  .reserve = "" },
	{ "no state, and it has run without writing one",
	  { RESERVED },
	  .was_started = true,
	  .outcome = CHANGED,
	  .reserve = "" },
	{ "state of static already, and it has run",
	  { RESERVED, .checkpoint = "static" },
	  .was_started = true,
	  .outcome = CHANGED,
	  .reserve = "" },
	{ "state of static for other CPUs, and it has run",
	  { RESERVED, .checkpoint = "static", .state_problem = "current set" },
	  .was_started = true,
	  .outcome = REFUSED,
	  .reason = REASON_KUBELET_WOULD_EXIT,
	  .reserve = "" },
	{ "state of static for other CPUs, before the first start",
	  { RESERVED, .checkpoint = "static", .state_problem = "current set" },
	  .outcome = CHANGED,
	  .reserve = "" },
	{ "state of static of a reservation that is gone, and it has run",
	  { CORE, .checkpoint = "static" },
	  .was_started = true,
	  .outcome = REFUSED,
	  .reason = REASON_KUBELET_CPU_STATE,
	  .reserve = "" },
	{ "damaged state, before the first start",
	  { RESERVED, .checkpoint = "damaged" },
	  .outcome = CHANGED,
	  .reserve = "" },

	/* the policy is there: only the state is left to do, as after a power cut between the two
	 */
	{ "policy and state",
	  { RESERVED, .checkpoint = "static" },
	  .is_static = true,
	  .outcome = SATISFIED,
	  .reserve = "" },
	{ "policy without state",
	  { RESERVED },
	  .is_static = true,
	  .outcome = SATISFIED,
	  .reserve = "" },
	{ "policy and the old state, before the first start",
	  { RESERVED, .checkpoint = "none" },
	  .is_static = true,
	  .outcome = SATISFIED,
	  .reserve = "",
	  .is_state_removed = true },
	{ "policy and the old state, and it has run",
	  { RESERVED, .checkpoint = "none" },
	  .is_static = true,
	  .was_started = true,
	  .outcome = REFUSED,
	  .reason = REASON_KUBELET_CPU_STATE,
	  .reserve = "" },
};

static void
the_static_cpu_policy_is_only_set_where_the_kubelet_starts_with_it(_unused_ void **state)
{
	const struct config c = { .kubelet.cpu_policy = CPU_POLICY_STATIC };

	for (size_t i = 0; i < ELEMENTSOF(cpu_cases); i++) {
		const struct cpu_case *t = &cpu_cases[i];
		const struct kubelet_item *item, *reserved;
		struct kubelet_decision d;
		struct kubelet_found k = make();

		print_message("  %s\n", t->name);
		k.seen.cpus = t->cpus;
		k.seen.cpus.n_online = t->cpus.n_online ? t->cpus.n_online : 8;
		k.was_started = t->was_started;
		k.seen.is_running = t->is_running;
		if (t->is_static) {
			k.seen.values[KUBELET_CPU_POLICY].rank = CPU_POLICY_STATIC;
			k.seen.values[KUBELET_CPU_POLICY].source = KUBELET_FILE;
			COPY(k.seen.values[KUBELET_CPU_POLICY].text, "static");
		}

		kubelet_decide(&c, &k, &d);
		item = &d.items[KUBELET_CPU_POLICY];
		reserved = &d.items[KUBELET_RESERVED_CPUS];
		print_message("    %s %s: %s\n", kubelet_outcome_name(item->outcome),
			      reason_code(item->reason), item->detail);
		assert_int_equal(item->outcome, t->outcome);
		assert_int_equal(item->reason, t->reason);
		assert_string_equal(reserved->row > 0 ? reserved->to : "", t->reserve);
		assert_int_equal(reserved->row > 0, *t->reserve != '\0');
		assert_int_equal(d.is_state_removed, t->is_state_removed);
		if (t->detail)
			assert_string_equal(d.items[KUBELET_CPU_POLICY].detail, t->detail);
	}
}

static void without_online_cpus_nothing_is_reserved(_unused_ void **state)
{
	const struct config c = { .kubelet.cpu_policy = CPU_POLICY_STATIC };
	struct kubelet_decision d;
	struct kubelet_found k = make();

	k.seen.cpus.n_online = 0;
	kubelet_decide(&c, &k, &d);
	assert_int_equal(d.items[KUBELET_CPU_POLICY].reason, REASON_KUBELET_CPU_RESERVATION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_row_that_is_met_decides),
		cmocka_unit_test(what_is_not_asked_for_is_not_decided),
		cmocka_unit_test(the_scope_goes_by_the_same_table),
		cmocka_unit_test(
			the_static_cpu_policy_is_only_set_where_the_kubelet_starts_with_it),
		cmocka_unit_test(without_online_cpus_nothing_is_reserved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
