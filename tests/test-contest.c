/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/step/attempts-plan.h"
#include "scene.h"

#define PF    "0000:41:00.0"
#define START (1000 * USEC_PER_SEC)
#define NET   7 /* ifindex */

struct scene {
	struct config config;
	struct node node;
	struct memory memory;
	struct pci pcis[1];
	struct ibdev ibdevs[1];
	struct netdev netdevs[1];
	struct plan last; /* as it was planned */
};

static void set_scene(struct scene *s)
{
	*s = (struct scene){ .pcis = { { .address = PF, .instance = 100 } },
			     .netdevs = { { .ifindex = NET } },
			     .ibdevs = { { .name = "mlx5_0", .index = 5, .pci = PF } } };
	s->node = (struct node){ .pcis = s->pcis,
				 .n_pcis = 1,
				 .ibdevs = s->ibdevs,
				 .n_ibdevs = 1,
				 .netdevs = s->netdevs,
				 .n_netdevs = 1 };
	COPY(s->config.hash, "0011223344556677");
	COPY(s->memory.last_hash, "0011223344556677");
}

static void end_scene(struct scene *s)
{
	plan_done(&s->last);
	free(s->memory.attempts);
	text_index_done(&s->memory.by_target);
}

struct change {
	enum verb verb;
	const char *target;
	uint32_t ifindex;
	const char *subject, *from, *to;
};

static const struct change mtu = { VERB_SET_MTU, PF, NET, "", "1500", "9000" };

static void add(struct plan *p, const struct change *c)
{
	struct action *a = plan_add(p, c->verb, c->target);

	assert_non_null(a);
	a->ifindex = c->ifindex;
	a->subject = c->subject;
	action_set(a, c->from, c->to);
}

/* A pass that finds these changes wanted, and makes those that are not left alone. Return: how many
 * are made. */
static size_t pass_of(struct scene *s, uint64_t sec, const struct change *changes, size_t n,
		      bool is_asked)
{
	struct attempts tried = { .is_asked = is_asked };
	struct plan p = { .tried = &tried };

	s->node.now_usec = START + sec * USEC_PER_SEC;
	for (size_t i = 0; i < n; i++)
		add(&p, &changes[i]);
	plan_contest(&s->config, &s->node, &s->memory, 0, &p);

	for (size_t i = 0; i < p.n_actions; i++) {
		struct action *slot;

		if (!action_is_open(&p.actions[i]))
			continue;
		slot = APPEND(tried.actions, tried.n_actions);
		assert_non_null(slot);
		*slot = p.actions[i];
		slot->is_done = true;
	}
	assert_int_equal(plan_note_repeats(&s->config, &s->node, &tried, &s->memory), 0);
	n = tried.n_actions;
	attempts_done(&tried);
	p.tried = NULL;
	plan_done(&s->last);
	s->last = p;
	return n;
}

static bool is_made(struct scene *s, uint64_t sec, const struct change *c)
{
	return pass_of(s, sec, c, 1, false) == 1;
}

static void what_is_undone_again_and_again_is_left_alone_for_a_growing_time(_unused_ void **state)
{
	static const struct {
		const char *name;
		uint64_t at[16]; /* seconds, 0 ends but for the first */
		const char *expected;
	} rows[] = {
		{ "once a second", { 0, 1, 2, 3, 4, 30, 61, 62 }, "ddd----d" },
		{ "three in a minute", { 0, 20, 40, 60 }, "ddd-" },
		{ "by a person, five in ten minutes", { 0, 120, 240, 360, 480 }, "ddddd" },
		{ "two in each minute", { 0, 31, 62, 93, 124, 155 }, "dddddd" },
		{ "and not again", { 0, 1, 2, 100 }, "dddd" },
		{ "twice as long", { 0, 1, 2, 3, 63, 64, 182, 184, 185, 420, 425 }, "ddd-d--d--d" },
		{ "up to an hour",
		  { 0, 1, 2, 63, 184, 425, 906, 1867, 3788, 3789, 7380, 7390, 10980, 10995 },
		  "ddddddddd--d-d" },
		{ "quiet for twice the time",
		  { 0, 1, 2, 3, 63, 64, 310, 311, 312, 313 },
		  "ddd-d-ddd-" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		char is[64] = "";
		struct scene s;

		set_scene(&s);
		for (size_t k = 0; k < ELEMENTSOF(rows[i].at) && (k == 0 || rows[i].at[k]); k++)
			is[k] = is_made(&s, rows[i].at[k], &mtu) ? 'd' : '-';
		if (!streq(is, rows[i].expected))
			fail_msg("%s: %s, not %s", rows[i].name, is, rows[i].expected);
		end_scene(&s);
	}
}

/* The scene made different before each pass. */
static void card_is_another(struct scene *s, struct change *c, unsigned i)
{
	c->ifindex = s->netdevs[0].ifindex = NET + i;
}
/* A look at which it is away, and then it is back with its number. */
static void was_in_a_pod(struct scene *s, struct change *c _unused_, unsigned i)
{
	s->node.n_netdevs = 0;
	pass_of(s, i, NULL, 0, false);
	s->node.n_netdevs = 1;
}
static void function_is_another(struct scene *s, struct change *c _unused_, unsigned i)
{
	s->pcis[0].instance = 100 + i;
}
static void ibdev_is_another(struct scene *s, struct change *c _unused_, unsigned i)
{
	s->ibdevs[0].index = 5 + i;
}
static void value_is_another(struct scene *s _unused_, struct change *c, unsigned i)
{
	c->to = i == 1 ? "9000" : "1500";
}
static void text_is_another(struct scene *s _unused_, struct change *c, unsigned i)
{
	c->subject = i % 2 ? "a" : "b"; /* stands in for it: the plan has no file here */
}
static void from_is_another(struct scene *s _unused_, struct change *c, unsigned i)
{
	c->from = i % 2 ? "1400" : "1500";
}
static void config_is_another(struct scene *s, struct change *c _unused_, unsigned i)
{
	s->config.hash[0] = (char)('0' + i % 2);
	if (i > 0)
		s->memory.last_hash[0] = (char)('0' + (i + 1) % 2);
}
static void nothing_is(struct scene *s _unused_, struct change *c _unused_, unsigned i _unused_)
{
}

static void only_the_same_change_of_the_same_device_counts(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s, struct change *c, unsigned i);
		struct change change;
		bool is_left;
	} rows[] = {
		{ "the MTU", nothing_is, { VERB_SET_MTU, PF, NET, "", "1500", "9000" }, true },
		{ "from anything",
		  from_is_another,
		  { VERB_SET_MTU, PF, NET, "", "1500", "9000" },
		  true },
		{ "of a netdev made again",
		  card_is_another,
		  { VERB_SET_MTU, PF, NET, "", "1500", "9000" },
		  false },
		{ "of a netdev that was away",
		  was_in_a_pod,
		  { VERB_SET_LINK_UP, PF, NET, "", "", "" },
		  false },
		{ "to and fro",
		  value_is_another,
		  { VERB_SET_MTU, PF, NET, "", "1500", "9000" },
		  false },
		{ "by another configuration",
		  config_is_another,
		  { VERB_SET_MTU, PF, NET, "", "1500", "9000" },
		  false },
		{ "of another key",
		  text_is_another,
		  { VERB_SET_SYSCTL, PF, NET, "", "0", "1" },
		  false },
		{ "VFs", nothing_is, { VERB_SET_NUM_VFS, PF, 0, "", "0", "4" }, true },
		{ "VFs of a PF bound again",
		  function_is_another,
		  { VERB_SET_NUM_VFS, PF, 0, "", "0", "4" },
		  false },
		{ "a driver", nothing_is, { VERB_BIND_DRIVER, PF, 0, "", "", "igbvf" }, true },
		{ "SMC", nothing_is, { VERB_SET_PNETID, PF, 0, "", "", "AABBCCDDEEFF" }, true },
		{ "SMC of an RDMA device made again",
		  ibdev_is_another,
		  { VERB_SET_PNETID, PF, 0, "", "", "AABBCCDDEEFF" },
		  false },
		{ "a probe",
		  nothing_is,
		  { VERB_PROBE_NEIGHBOUR, PF, NET, "fe80::1", "", "" },
		  false },
		{ "a question", nothing_is, { VERB_ASK_METADATA, PF, NET, "", "", "mac" }, false },
		{ "a file", nothing_is, { VERB_WRITE_PLUGIN, "/run/x", 0, "", "", "" }, true },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct change c = rows[i].change;
		bool is_left = false;
		struct scene s;

		set_scene(&s);
		for (unsigned k = 0; k <= CONTEST_MAX; k++) {
			rows[i].set(&s, &c, k);
			is_left = !is_made(&s, k, &c);
		}
		if (is_left != rows[i].is_left)
			fail_msg("%s: %s", rows[i].name, is_left ? "left alone" : "done");
		end_scene(&s);
	}
}

static void the_text_of_a_file_is_its_value(_unused_ void **state)
{
	static const struct {
		enum verb verb;
		const char *target;
	} rows[] = { { VERB_WRITE_RULES, "/run/rules" },
		     { VERB_WRITE_PLUGIN, "/run/plugin" },
		     { VERB_WRITE_MANIFEST, "/etc/manifest" },
		     { VERB_WRITE_OUTPUT, "/run/metrics" } };

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		uint64_t values[2];

		for (unsigned k = 0; k < 2; k++) {
			char *text = (char *)(k ? "new" : "old");
			struct plan p = { .rules = text, .plugin = text, .manifest = text };
			const struct change c = { rows[i].verb, rows[i].target, 0, "", "", "" };
			struct scene s;

			set_scene(&s);
			p.outputs[OUTPUT_METRICS].path = "/run/metrics";
			p.outputs[OUTPUT_METRICS].text = text;
			add(&p, &c);
			plan_contest(&s.config, &s.node, &s.memory, 0, &p);
			values[k] = p.actions[0].value;
			free(p.actions);
			action_texts_done(&p.texts);
			text_index_done(&p.by_target);
		}
		assert_true(values[0] != values[1]);
		assert_true(values[0] <= INT64_MAX && values[1] <= INT64_MAX);
	}
}

/* By a rename there and back, say. */
static void what_was_undone_by_this_service_does_not_count(_unused_ void **state)
{
	static const struct change there = { VERB_ADD_RULE, PF, NET, "oif ens1", "", "" },
				   back = { VERB_REMOVE_RULE, PF, NET, "oif ens1", "", "" };
	struct scene s;

	set_scene(&s);
	for (unsigned i = 0; i < 10; i++) {
		assert_true(is_made(&s, 2 * i, &there));
		assert_true(is_made(&s, 2 * i + 1, &back));
	}
	end_scene(&s);
}

static void the_way_of_vfs_through_zero_is_one_change(_unused_ void **state)
{
	static const struct change fewer[] = { { VERB_SET_NUM_VFS, PF, 0, "", "4", "0" },
					       { VERB_SET_AUTOPROBE, PF, 0, "", "1", "0" },
					       { VERB_SET_NUM_VFS, PF, 0, "", "0", "8" } },
				   none[] = { { VERB_SET_AUTOPROBE, PF, 0, "", "1", "0" },
					      { VERB_SET_NUM_VFS, PF, 0, "", "0", "8" } },
				   on = { VERB_SET_AUTOPROBE, PF, 0, "", "0", "1" };
	struct scene s;

	set_scene(&s);
	for (unsigned i = 0; i < CONTEST_MAX; i++) {
		assert_int_equal(pass_of(&s, i, fewer, 3, false), 3);
		assert_true(is_made(&s, i, &on));
	}
	assert_int_equal(pass_of(&s, 10, fewer, 3, false), 0);
	assert_int_equal(s.last.n_actions, 1); /* one item */
	assert_int_equal(s.last.actions[0].verb, VERB_SET_NUM_VFS);
	assert_int_equal(s.last.actions[0].number.from.n, 4);
	assert_int_equal(s.last.actions[0].number.to.n, 8);

	/* Nor does the kernel lose its way of binding VFs for a change that is not made. */
	assert_int_equal(pass_of(&s, 11, none, 2, false), 0);
	assert_int_equal(s.last.n_actions, 1);
	assert_int_equal(s.last.actions[0].verb, VERB_SET_NUM_VFS);
	assert_int_equal(s.last.actions[0].number.from.n, 0);
	assert_true(is_made(&s, 12, &on)); /* what is left over from before is always given back */
	end_scene(&s);
}

static void it_waits_with_a_reason_until_a_time(_unused_ void **state)
{
	static const struct change up = { VERB_SET_LINK_UP, PF, NET, "", "", "" };
	const struct change both[] = { mtu, up };
	const struct action *a;
	struct scene s;
	char detail[512];

	set_scene(&s);
	for (unsigned i = 0; i < CONTEST_MAX; i++) {
		assert_true(is_made(&s, i, &mtu));
		assert_true(is_made(&s, i, &up));
		assert_int_equal(s.last.again_usec, 0);
	}
	assert_int_equal(pass_of(&s, 20, both, 2, false), 0);
	assert_int_equal(s.last.again_usec, START + (2 + 60) * USEC_PER_SEC);
	a = &s.last.actions[0];
	assert_int_equal(a->class, CLASS_WAITING);
	assert_int_equal(a->reason, REASON_CONTESTED);
	assert_string_equal(a->detail, "set-mtu 9000: undone again and again, left alone for 60 s");
	assert_string_equal(s.last.actions[1].detail,
			    "set-link-up: undone again and again, left alone for 60 s");

	/* Told once: the words stay. */
	COPY(detail, a->detail);
	assert_false(is_made(&s, 33, &mtu));
	assert_string_equal(s.last.actions[0].detail, detail);
	end_scene(&s);
}

static void a_person_gets_it_at_once_and_the_count_begins_again(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	for (unsigned i = 0; i < CONTEST_MAX; i++)
		assert_true(is_made(&s, i, &mtu));
	assert_false(is_made(&s, 3, &mtu));
	assert_int_equal(pass_of(&s, 4, &mtu, 1, true), 1);
	assert_true(is_made(&s, 5, &mtu));
	assert_true(is_made(&s, 6, &mtu));
	assert_true(is_made(&s, 7, &mtu));
	assert_false(is_made(&s, 8, &mtu));
	end_scene(&s);
}

static void a_pass_without_changes_remembers_the_same(_unused_ void **state)
{
	struct attempt before;
	struct scene s;

	set_scene(&s);
	for (unsigned i = 0; i < CONTEST_MAX; i++)
		assert_true(is_made(&s, i, &mtu));
	before = s.memory.attempts[0];
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(pass_of(&s, 5, &mtu, 1, false), 0); /* left alone */
		assert_int_equal(pass_of(&s, 100000, NULL, 0, i), 0);
		assert_int_equal(s.memory.n_attempts, 1);
		assert_memory_equal(&s.memory.attempts[0], &before, sizeof(before));
	}
	end_scene(&s);
}

static void what_is_past_makes_room(_unused_ void **state)
{
	static const struct change vfs = { VERB_SET_NUM_VFS, PF, 0, "", "0", "4" };
	struct change c = mtu;
	struct scene s;

	set_scene(&s);
	for (unsigned i = 0; i < 1000; i++) { /* a card that comes and goes all day */
		c.ifindex = s.netdevs[0].ifindex = 1000 + i;
		assert_true(is_made(&s, 10 * i, &c));
		assert_int_equal(s.memory.n_attempts, 1);
	}
	for (unsigned i = 0; i < 1000; i++) { /* or one that is bound again */
		s.pcis[0].instance = 1000 + i;
		assert_true(is_made(&s, 10000 + 10 * i, &vfs));
		assert_true(s.memory.n_attempts <= 8);
	}
	end_scene(&s);
}

static void what_failed_was_undone_by_nobody(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	s.node.now_usec = START;
	for (unsigned i = 0; i < 10; i++) {
		struct plan p = {};
		struct attempts tried;

		add(&p, &mtu);
		tried = attempts_of(&p);
		tried.actions[0].is_done = true;
		tried.actions[0].result = -ENOMEM;
		assert_int_equal(plan_note_repeats(&s.config, &s.node, &tried, &s.memory), 0);
		plan_done(&p);
	}
	assert_int_equal(s.memory.n_attempts, 0);
	end_scene(&s);
}

static void what_was_tried_on_another_instance_was_not_tried_on_this_one(_unused_ void **state)
{
	static const struct {
		struct change change;
		uint64_t instance; /* of the PF, by then */
		bool is_done;
	} rows[] = {
		{ { VERB_SET_NUM_VFS, PF, 0, "", "0", "4" }, 100, true },
		{ { VERB_SET_NUM_VFS, PF, 0, "", "0", "4" }, 101, false },
		{ { VERB_SET_NUM_VFS, PF, 0, "", "0", "4" }, 0, true },      /* not known */
		{ { VERB_REBIND_DRIVER, PF, 0, "", "", "igb" }, 101, true }, /* by that */
		{ { VERB_LOAD_MODULE, "ib_umad", 0, "", "", "" }, 101, true },
		{ { VERB_SET_MTU, PF, NET, "", "1500", "9000" }, 101, true }, /* by its number */
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct attempts tried;
		struct plan p = {};
		struct scene s;

		set_scene(&s);
		add(&p, &rows[i].change);
		plan_contest(&s.config, &s.node, &s.memory, 0, &p);
		tried = attempts_of(&p);
		tried.actions[0].is_done = true;
		s.pcis[0].instance = rows[i].instance;
		plan_forget_replaced(&s.node, &tried);
		assert_int_equal(tried.actions[0].is_done, rows[i].is_done);
		plan_done(&p);
		end_scene(&s);
	}
}

static void rdma_cm_s_defaults_are_of_a_device_and_its_name(_unused_ void **state)
{
	static const struct change tos = { VERB_SET_ROCE, PF,   0, "ports/1/default_roce_tos",
					   "0",           "106" };
	static const struct {
		const char *name;
		uint32_t index;
		bool is_done;
	} rows[] = { { "mlx5_0", 5, true }, { "rocep65s0f0", 5, false }, { "mlx5_0", 6, false } };

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct attempts tried;
		struct plan p = {};
		struct scene s;

		set_scene(&s);
		add(&p, &tos);
		plan_contest(&s.config, &s.node, &s.memory, 0, &p);
		tried = attempts_of(&p);
		tried.actions[0].is_done = true;
		COPY(s.ibdevs[0].name, rows[i].name);
		s.ibdevs[0].index = rows[i].index;
		plan_forget_replaced(&s.node, &tried);
		assert_int_equal(tried.actions[0].is_done, rows[i].is_done);
		plan_done(&p);
		end_scene(&s);
	}
}

static void what_failed_on_another_instance_is_recalled_as_not_tried(_unused_ void **state)
{
	for (uint64_t instance = 100; instance <= 101; instance++) {
		_cleanup_(attempts_done) struct attempts tried = {};
		struct attempt *failed;
		struct scene s;

		set_scene(&s);
		s.pcis[0].instance = instance;
		failed = APPEND(s.memory.attempts, s.memory.n_attempts);
		assert_non_null(failed);
		*failed = (struct attempt){
			.verb = VERB_SET_NUM_VFS, .target = PF, .instance = 100, .result = -EIO
		};
		COPY(failed->to, "4");
		assert_int_equal(plan_recall_failures(&s.config, &s.node, &s.memory, false, &tried),
				 0);
		plan_forget_replaced(&s.node, &tried);
		assert_int_equal(tried.n_actions, 1);
		assert_int_equal(tried.actions[0].is_done, instance == 100);
		end_scene(&s);
	}
}

static void a_timer_does_not_take_away_what_works(_unused_ void **state)
{
	static const struct {
		enum verb verb;
		uint32_t num_vfs;
		const char *to;
		int result;
		bool is_tried;
	} rows[] = {
		{ VERB_SET_NUM_VFS, 0, "8", -EIO, true },
		{ VERB_SET_NUM_VFS, 3, "8", -EREMOTEIO, false },
		{ VERB_SET_NUM_VFS, 3, "0", -EBUSY, true },
		{ VERB_SET_LINK_UP, 3, "", -EIO, true },
		{ VERB_RELOAD_MODULE, 0, "compat_mode=Y", -EBUSY, true },
		{ VERB_RELOAD_MODULE, 0, "compat_mode=Y", -EADDRINUSE, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		for (int is_timer = 0; is_timer < 2; is_timer++) {
			_cleanup_(attempts_done) struct attempts tried = {};
			struct attempt *failed;
			struct scene s;

			set_scene(&s);
			s.pcis[0].num_vfs = rows[i].num_vfs;
			failed = APPEND(s.memory.attempts, s.memory.n_attempts);
			assert_non_null(failed);
			*failed = (struct attempt){ .verb = rows[i].verb,
						    .target = PF,
						    .result = rows[i].result };
			COPY(failed->to, rows[i].to);
			assert_int_equal(plan_recall_failures(&s.config, &s.node, &s.memory,
							      is_timer, &tried),
					 0);
			assert_int_equal(tried.n_actions, !is_timer || !rows[i].is_tried);
			end_scene(&s);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_undone_again_and_again_is_left_alone_for_a_growing_time),
		cmocka_unit_test(only_the_same_change_of_the_same_device_counts),
		cmocka_unit_test(the_text_of_a_file_is_its_value),
		cmocka_unit_test(what_was_undone_by_this_service_does_not_count),
		cmocka_unit_test(the_way_of_vfs_through_zero_is_one_change),
		cmocka_unit_test(it_waits_with_a_reason_until_a_time),
		cmocka_unit_test(a_person_gets_it_at_once_and_the_count_begins_again),
		cmocka_unit_test(a_pass_without_changes_remembers_the_same),
		cmocka_unit_test(what_is_past_makes_room),
		cmocka_unit_test(what_failed_was_undone_by_nobody),
		cmocka_unit_test(what_was_tried_on_another_instance_was_not_tried_on_this_one),
		cmocka_unit_test(a_timer_does_not_take_away_what_works),
		cmocka_unit_test(rdma_cm_s_defaults_are_of_a_device_and_its_name),
		cmocka_unit_test(what_failed_on_another_instance_is_recalled_as_not_tried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
