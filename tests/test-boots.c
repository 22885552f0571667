/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/model/boots.h"
#include "../src/model/module-options.h"

#include "scene.h"

#define FIRST  "0000:41:00.0"
#define SECOND "0000:42:00.0"
#define VF     "0000:41:00.1"

/* Two cards without VFs, which are asked for, and the boots before. */
struct scene {
	struct config config;
	struct device_config section;
	struct node node;
	struct memory memory;
	struct pci pcis[3];
	struct netdev netdevs[2];
	struct ibdev ibdevs[2];
	struct port port;
	struct module modules[1];
	struct boot boots[MAX_BOOTS];
};

static void add_pf(struct scene *s, const char *address)
{
	struct pci *pf = &s->pcis[s->node.n_pcis++];
	struct netdev *nd = &s->netdevs[s->node.n_netdevs++];

	*pf = (struct pci){ .vendor = 0x8086,
			    .class = 0x020000,
			    .numa_node = -1,
			    .driver = "igb",
			    .has_sriov = true,
			    .has_autoprobe = true,
			    .autoprobe = true,
			    .total_vfs = 7 };
	COPY(pf->address, address);
	*nd = (struct netdev){ .ifindex = (uint32_t)s->node.n_netdevs + 1, .is_up = true };
	snprintf(nd->name, sizeof(nd->name), "eth%zu", s->node.n_netdevs);
	COPY(nd->pci, address);
	COPY(nd->mac, "52:54:00:00:00:10");
	COPY(nd->perm_mac, "52:54:00:00:00:10");
}

static void set_scene(struct scene *ret)
{
	*ret = (struct scene){ .config = { .hash = "0123456789abcdef" } };
	ret->section = (struct device_config){ .name = "rail",
					       .match = (char *)"driver:igb",
					       .mode = VF_MODE_SHARED_MULTI,
					       .count = 4 };
	ret->config.devices = &ret->section;
	ret->config.n_devices = 1;
	ret->node = (struct node){ .kernel = "6.1",
				   .boot_id = "now",
				   .program = "1",
				   .has_users = true,
				   .pcis = ret->pcis,
				   .netdevs = ret->netdevs,
				   .ibdevs = ret->ibdevs,
				   .n_ibdevs = 2,
				   .modules = ret->modules,
				   .n_modules = 1 };
	ret->memory = (struct memory){ .boots = ret->boots };
	add_pf(ret, FIRST);
	add_pf(ret, SECOND);
	ret->ibdevs[0] = (struct ibdev){ .name = "mlx5_0",
					 .pci = FIRST,
					 .firmware = "28.1",
					 .ports = &ret->port,
					 .n_ports = 1 };
	ret->ibdevs[1] = ret->ibdevs[0];
	COPY(ret->ibdevs[1].name, "mlx5_1");
	COPY(ret->ibdevs[1].pci, SECOND);
	ret->port = (struct port){ .number = 1, .state = "ACTIVE", .link_layer = "Ethernet" };
	ret->modules[0] = (struct module){ .name = "igb",
					   .state = MODULE_LOADED,
					   .loaded_version = "5.6",
					   .loaded_srcversion = "ABC" };
}

static struct boot_step step_of(const struct scene *s, enum verb verb, const char *target,
				const char *to)
{
	struct action a = { .verb = verb, .target = "", .subject = "", .detail = "", .error = "" };
	struct boot_step step;

	a.target = target;
	action_set(&a, "", to);
	assert_true(boots_step(&s->config, &s->node, &a, &step));
	return step;
}

/*
 * A letter for each boot, the oldest first, of the step that makes VFs of FIRST. "n": never ended,
 * "f": failed, "s": skipped, ".": ended well; with another "k"ernel, "c"onfiguration, "d"river,
 * firm"w"are, "p"rogram or "m"AC; "u": firmware not known.
 */
static void add_boots(struct scene *s, const char *boots, enum verb verb, const char *to)
{
	for (size_t i = 0; boots[i]; i++) {
		struct boot *b = &s->boots[s->memory.n_boots++];
		struct boot_step step = step_of(s, verb, FIRST, to);

		*b = (struct boot){ .state = NODE_DEGRADED };
		snprintf(b->boot_id, sizeof(b->boot_id), "boot %zu", i);
		COPY(b->kernel, boots[i] == 'k' ? "6.0" : "6.1");
		step.result = boots[i] == 'f' ? -ETIMEDOUT : 0;
		step.is_skipped = boots[i] == 's';
		if (step.is_skipped && i > 0) /* with the last result there is */
			step.result = s->boots[i - 1].steps[0].result;
		COPY(step.config, boots[i] == 'c' ? "other" : step.config);
		COPY(step.driver, boots[i] == 'd' ? "igb 5.5 ABC" : step.driver);
		COPY(step.program, boots[i] == 'p' ? "0" : step.program);
		COPY(step.card, boots[i] == 'm' ? "b8:3f:d2:00:00:99" : step.card);
		COPY(step.firmware, boots[i] == 'w'   ? "28.0"
				    : boots[i] == 'u' ? ""
						      : step.firmware);
		if (boots[i] != '.')
			boots_put(b, &step);
		else
			b->state = NODE_READY;
		if (boots[i] == '!')
			COPY(b->boot_id, "now");
	}
}

static void three_boots_that_fail_the_same_step_are_enough(_unused_ void **state)
{
	static const struct {
		const char *boots;
		bool is_loop;
	} cases[] = {
		{ "", false },
		{ "n", false },
		{ "nn", false },
		{ "nnn", true },
		{ "fff", true },
		{ "nfn", true },
		{ ".nnn", true },
		{ "nnnn", true },
		{ "nnns", true },
		{ "nnnssss", true },
		/* After a boot that was fine the count begins again, and so does another of what it
		 * was tried with.
		 */
		{ "nn.", false },
		{ "n.n", false },
		{ "nnn.", false },
		{ "nnn.nn", false },
		{ "nnk", false },
		{ "nnnk", false },
		{ "nnc", false },
		{ "nndn", false },
		{ "nnw", false },
		{ "nnp", false },
		{ "nnm", false },
		{ "nnu", true },
		/* The present boot is none of those before it. */
		{ "nn!", false },
		{ "nnn!", true },
		{ "nn.!", false },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct boot_step step;
		struct scene s;

		set_scene(&s);
		add_boots(&s, cases[i].boots, VERB_SET_NUM_VFS, "4");
		step = step_of(&s, VERB_SET_NUM_VFS, FIRST, "4");
		if (boots_is_loop(&s.node, &s.memory, &step) != cases[i].is_loop)
			fail_msg("\"%s\"", cases[i].boots);
		/* Another step is not meant. */
		step = step_of(&s, VERB_SET_NUM_VFS, FIRST, "3");
		assert_false(boots_is_loop(&s.node, &s.memory, &step));
		step = step_of(&s, VERB_SET_NUM_VFS, SECOND, "4");
		assert_false(boots_is_loop(&s.node, &s.memory, &step));
	}
}

static void print_plan(struct scene *s, char *ret, size_t size)
{
	_cleanup_(plan_done) struct plan p = {};
	char to[SHOWN_LEN];

	assert_int_equal(make_whole_plan(&s->config, &s->node, &s->memory, NULL, true, &p), 0);
	*ret = '\0';
	for (size_t i = 0; i < p.n_actions; i++) {
		const struct action *a = &p.actions[i];

		if (a->step == STEP_VF && a->verb != VERB_WRITE_RULES)
			snprintf(ret + strlen(ret), size - strlen(ret), "%s %.20s %s %s%s%.100s\n",
				 verb_name(a->verb), a->target, action_to(a, to),
				 reason_code(a->reason), a->detail[0] ? ": " : "", a->detail);
	}
	assert_true(p.state == NODE_DEGRADED);
}

static void a_step_that_loops_is_left_out_and_the_rest_is_not(_unused_ void **state)
{
#define MAKES(pf) "set-autoprobe " pf " 0 \nset-num-vfs " pf " 4 \n"
	static const struct {
		const char *boots;
		uint32_t have;
		bool is_by_hand;
		const char *plan;
	} cases[] = {
		{ "nn", 0, false, MAKES(FIRST) MAKES(SECOND) },
		{ "nnn", 0, false,
		  "set-num-vfs " FIRST " 4 boot-loop: set-num-vfs 4 began in 3 boots and never "
		  "ended\n" MAKES(SECOND) },
		{ "nnf", 0, false,
		  "set-num-vfs " FIRST " 4 boot-loop: set-num-vfs 4 failed in 3 boots: Connection "
		  "timed out\n" MAKES(SECOND) },
		{ "nnn", 0, true, MAKES(FIRST) MAKES(SECOND) },
		{ "nnn", 4, false, MAKES(SECOND) },
		/* What is there is not removed for nothing. */
		{ "nnn", 2, false,
		  "set-num-vfs " FIRST " 4 boot-loop: set-num-vfs 4 began in 3 boots and never "
		  "ended\n" MAKES(SECOND) },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char got[1024];
		struct scene s;

		set_scene(&s);
		s.pcis[0].num_vfs = cases[i].have;
		s.node.is_by_hand = cases[i].is_by_hand;
		add_boots(&s, cases[i].boots, VERB_SET_NUM_VFS, "4");
		print_plan(&s, got, sizeof(got));
		assert_string_equal(got, cases[i].plan);
	}
}

static void what_cannot_crash_a_machine_is_no_step(_unused_ void **state)
{
	static const enum verb can[] = { VERB_LOAD_MODULE,  VERB_RELOAD_MODULE,  VERB_BIND_DRIVER,
					 VERB_PROBE_DRIVER, VERB_SET_NETNS_MODE, VERB_SET_NUM_VFS,
					 VERB_REBIND_DRIVER };
	struct boot_step step;
	struct scene s;

	set_scene(&s);
	for (int v = 0; v < _VERB_N; v++) {
		const struct action a = {
			.verb = (enum verb)v, .target = "", .subject = "", .detail = "", .error = ""
		};
		bool is_one = false;

		for (size_t i = 0; i < ELEMENTSOF(can); i++)
			is_one |= can[i] == a.verb;
		assert_true(boots_step(&s.config, &s.node, &a, &step) == is_one);
	}
}

static void a_step_says_with_what_it_was_tried(_unused_ void **state)
{
	struct boot_step step;
	struct scene s;

	set_scene(&s);
	s.pcis[s.node.n_pcis] = s.pcis[1]; /* sorted by address */
	s.pcis[1] = (struct pci){ .address = VF, .physfn = FIRST, .module = "igb" };
	s.node.n_pcis++;

	step = step_of(&s, VERB_SET_NUM_VFS, FIRST, "4");
	assert_string_equal(step.driver, "igb 5.6 ABC");
	assert_string_equal(step.firmware, "28.1");
	assert_string_equal(step.config, "0123456789abcdef");
	assert_string_equal(step.program, "1");

	/* VFs are bound one by one, and crash at any of them. */
	step = step_of(&s, VERB_BIND_DRIVER, VF, "igb");
	assert_string_equal(step.target, FIRST);
	assert_string_equal(step.driver, "igb 5.6 ABC");
	assert_string_equal(step.firmware, "28.1");

	/* Not loaded: of its file. */
	s.modules[0].state = MODULE_AVAILABLE;
	COPY(s.modules[0].version, "5.7");
	step = step_of(&s, VERB_LOAD_MODULE, "igb", "");
	assert_string_equal(step.target, "igb");
	assert_string_equal(step.driver, "igb 5.7");

	step = step_of(&s, VERB_SET_NETNS_MODE, "", "shared");
	assert_string_equal(step.driver, "ib_core");
}

static void an_answer_with_a_reason_of_its_own_does_not_count(_unused_ void **state)
{
	static const struct {
		enum verb verb;
		const char *target;
		int result;
		bool is_gone, counts;
	} cases[] = {
		{ VERB_SET_NUM_VFS, FIRST, 0, false, false },
		{ VERB_SET_NUM_VFS, FIRST, -ETIMEDOUT, false, true },
		{ VERB_SET_NUM_VFS, FIRST, -ENOMEM, false, false }, /* vf-no-room: of the BIOS */
		{ VERB_SET_NUM_VFS, FIRST, -EBUSY, false, false },
		{ VERB_SET_NUM_VFS, FIRST, -EPROTO, false, true },
		{ VERB_SET_NUM_VFS, FIRST, -EPROTO, true, false }, /* unplugged */
		{ VERB_BIND_DRIVER, VF, -EIO, false, true },
		{ VERB_BIND_DRIVER, VF, -EBUSY, false, false },
		{ VERB_LOAD_MODULE, "igb", -EKEYREJECTED, false, false },
		{ VERB_LOAD_MODULE, "igb", -EIO, false, true },
		{ VERB_LOAD_MODULE, "nvidia_peermem", -EIO, false, false }, /* best effort */
		{ VERB_SET_NETNS_MODE, "", -EBUSY, false, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct action a = { .verb = cases[i].verb,
				    .is_done = true,
				    .is_gone = cases[i].is_gone,
				    .result = cases[i].result,
				    .target = "",
				    .subject = "",
				    .detail = "",
				    .error = "" };

		a.target = cases[i].target;
		assert_true(boots_counts(&a) == cases[i].counts);
	}
}

static void add_action(struct plan *p, enum verb verb, const char *to, enum reason reason,
		       bool is_done, int result)
{
	struct action *a = plan_add(p, verb, FIRST);

	assert_non_null(a);
	action_set(a, "", to);
	a->class = reason == REASON_NONE ? CLASS_CHANGE : CLASS_REFUSED;
	a->reason = reason;
	a->is_done = is_done;
	a->result = result;
}

/* What the plan at the end of a pass says of the step that is noted as begun. */
static void the_end_of_a_pass_tells_what_became_of_each_step(_unused_ void **state)
{
	static const struct {
		const char *boots; /* before this one */
		bool is_planned, is_done;
		enum reason reason;
		int result;
		enum node_state state, expected_state;
		size_t n_steps;
		int expected_result;
		bool is_skipped;
		const char *stuck; /* memory.stuck; NULL: nothing */
	} cases[] = {
		/* It is not wanted any more: it ended well. */
		{ "", false, false, REASON_NONE, 0, NODE_READY, NODE_READY, 0, 0, false },
		{ "", true, true, REASON_NONE, -ETIMEDOUT, NODE_DEGRADED, NODE_DEGRADED, 1,
		  -ETIMEDOUT, false },
		{ "", true, true, REASON_NONE, -ENOMEM, NODE_DEGRADED, NODE_DEGRADED, 0, 0, false },
		{ "nnn", true, false, REASON_BOOT_LOOP, 0, NODE_DEGRADED, NODE_DEGRADED, 1, 0,
		  true },
		{ "nnfs", true, false, REASON_BOOT_LOOP, 0, NODE_DEGRADED, NODE_DEGRADED, 1,
		  -ETIMEDOUT, true },
		{ "", true, false, REASON_VF_IN_USE, 0, NODE_DEGRADED, NODE_DEGRADED, 0, 0, false },
		/* A write goes on or hangs: of this PF, then of another one. */
		{ "", true, false, REASON_PCI_STUCK, 0, NODE_DEGRADED, NODE_DEGRADED, 1, 0, false,
		  FIRST },
		{ "", false, false, REASON_NONE, 0, NODE_DEGRADED, NODE_DEGRADED, 1, 0, false,
		  FIRST },
		{ "", true, false, REASON_PCI_STUCK, 0, NODE_DEGRADED, NODE_DEGRADED, 0, 0, false,
		  SECOND },
		/* While a node starts again the outcome of the boot is what it was. */
		{ "", false, false, REASON_NONE, 0, NODE_STARTING, NODE_STARTING, 0, 0, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(plan_done) struct plan p = { .state = cases[i].state };
		struct boot present = { .boot_id = "now" };
		struct boot_step step;
		struct scene s;

		set_scene(&s);
		COPY(s.memory.stuck, cases[i].stuck ?: "");
		add_boots(&s, cases[i].boots, VERB_SET_NUM_VFS, "4");
		step = step_of(&s, VERB_SET_NUM_VFS, FIRST, "4");
		boots_put(&present, &step);
		if (cases[i].is_planned)
			add_action(&p, VERB_SET_NUM_VFS, "4", cases[i].reason, cases[i].is_done,
				   cases[i].result);
		boots_conclude(&s.config, &s.node, &s.memory, &p, &present);

		assert_int_equal(present.state, cases[i].expected_state);
		assert_int_equal(present.n_steps, cases[i].n_steps);
		if (present.n_steps == 0)
			continue;
		assert_int_equal(present.steps[0].result, cases[i].expected_result);
		assert_true(present.steps[0].is_skipped == cases[i].is_skipped);
	}
}

static void what_trying_changes_of_a_driver_makes_no_other_step(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = { .state = NODE_DEGRADED };
	struct boot present = { .boot_id = "now" };
	struct boot_step step;
	struct scene s;

	set_scene(&s);
	step = step_of(&s, VERB_RELOAD_MODULE, FIRST, "");
	step.result = -ETIMEDOUT;
	COPY(step.driver, "igb 5.6 ABC, when it was loaded");
	boots_put(&present, &step);
	add_action(&p, VERB_RELOAD_MODULE, "", REASON_NONE, true, -ETIMEDOUT);
	boots_conclude(&s.config, &s.node, &s.memory, &p, &present);
	assert_int_equal(present.n_steps, 1);
	assert_string_equal(present.steps[0].driver, step.driver);
}

static void a_boot_has_room_for_so_many_steps_and_keeps_the_first(_unused_ void **state)
{
	struct boot b = {};

	for (int i = 0; i < MAX_BOOT_STEPS + 3; i++) {
		struct boot_step step = { .verb = VERB_SET_NUM_VFS };

		snprintf(step.to, sizeof(step.to), "%d", i);
		boots_put(&b, &step);
		boots_put(&b, &step);
	}
	assert_int_equal(b.n_steps, MAX_BOOT_STEPS);
	assert_string_equal(b.steps[0].to, "0");
	assert_string_equal(b.steps[MAX_BOOT_STEPS - 1].to, "15");

	boots_drop(&b, &(struct boot_step){ .verb = VERB_SET_NUM_VFS, .to = "0" });
	assert_int_equal(b.n_steps, MAX_BOOT_STEPS - 1);
	assert_string_equal(b.steps[0].to, "1");
	boots_drop(&b, &(struct boot_step){ .verb = VERB_SET_NUM_VFS, .to = "0" });
	assert_int_equal(b.n_steps, MAX_BOOT_STEPS - 1);
}

static void boots_are_listed_only_where_one_of_the_last_has_news(_unused_ void **state)
{
	static const struct {
		const char *boots;
		size_t first, n;
	} cases[] = {
		{ "", 0, 0 },    { "!", 0, 0 },      { ".", 0, 0 },      { "....", 0, 0 },
		{ "n", 0, 1 },   { "n.", 0, 2 },     { "n..!", 0, 3 },   { "n...", 0, 0 },
		{ "..n", 0, 3 }, { ".....n", 3, 3 }, { "....n!", 2, 3 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		size_t first, n;
		struct scene s;

		set_scene(&s);
		add_boots(&s, cases[i].boots, VERB_SET_NUM_VFS, "4");
		n = boots_telling(&s.node, &s.memory, &first);
		assert_int_equal(n, cases[i].n);
		if (n > 0)
			assert_int_equal(first, cases[i].first);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_boots_that_fail_the_same_step_are_enough),
		cmocka_unit_test(a_step_that_loops_is_left_out_and_the_rest_is_not),
		cmocka_unit_test(what_cannot_crash_a_machine_is_no_step),
		cmocka_unit_test(a_step_says_with_what_it_was_tried),
		cmocka_unit_test(an_answer_with_a_reason_of_its_own_does_not_count),
		cmocka_unit_test(the_end_of_a_pass_tells_what_became_of_each_step),
		cmocka_unit_test(what_trying_changes_of_a_driver_makes_no_other_step),
		cmocka_unit_test(a_boot_has_room_for_so_many_steps_and_keeps_the_first),
		cmocka_unit_test(boots_are_listed_only_where_one_of_the_last_has_news),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
