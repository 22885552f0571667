/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/model/memory.h"
#include "../src/os/memory-file.h"
#include "../src/step/attempts-plan.h"
#include "../src/step/steps.h"
#include "scene.h"
#include "tree.h"

#define PF   "0000:41:00.0"
#define BOOT "01234567-89ab-cdef-0123-456789abcdef"
#define NET  7 /* ifindex */

static void text_is_another(struct plan *p, _unused_ struct action *a)
{
	p->options = p->rules = p->plugin = p->manifest = (char *)"another";
	p->outputs[OUTPUT_NFD].text = (char *)"another";
}
static void gateway_is_another(_unused_ struct plan *p, struct action *a)
{
	a->route.route.gateway[0] = 10;
}
static void via_is_another(_unused_ struct plan *p, struct action *a)
{
	COPY(a->route.route.via, "fe80::1");
}
static void metric_is_another(_unused_ struct plan *p, struct action *a)
{
	a->route.route.metric = 200;
}
static void source_is_another(_unused_ struct plan *p, struct action *a)
{
	a->route.route.src[0] = 10;
}
static void preference_is_another(_unused_ struct plan *p, struct action *a)
{
	a->rule.preference = 200;
}

/* A change of each verb, as the plan makes it. */
static const struct row {
	const char *target; /* NULL: the verb is no change */
	uint32_t ifindex;
	const char *subject, *to;
	const char *other; /* another value of "to"; NULL: there is none */
	/* Each makes the wanted value another one where "to" does not say it. */
	void (*change[4])(struct plan *p, struct action *a);
} rows[_VERB_N] = {
	[VERB_LOAD_MODULE] = { "ib_umad" },
	[VERB_RELOAD_MODULE] = { "erdma", .to = "compat_mode=Y", .other = "compat_mode=N" },
	[VERB_WRITE_OPTIONS] = { "/etc/modprobe.d/x", .change = { text_is_another } },
	[VERB_REMOVE_OPTIONS] = { "/etc/modprobe.d/x" },
	[VERB_BIND_DRIVER] = { PF, .to = "mlx5_core", .other = "vfio-pci" },
	[VERB_PROBE_DRIVER] = { PF, .to = "mlx5_core", .other = "vfio-pci" },
	[VERB_SET_NETNS_MODE] = { "", .to = "shared", .other = "exclusive" },
	[VERB_SET_NUM_VFS] = { PF, .to = "4", .other = "8" },
	[VERB_WRITE_RULES] = { "/run/udev/x.rules", .change = { text_is_another } },
	[VERB_SET_AUTOPROBE] = { PF, .to = "0", .other = "1" },
	[VERB_SET_VF_MAC] = { PF, .to = "02:00:00:00:00:01", .other = "02:00:00:00:00:02" },
	[VERB_SET_VF_GUID] = { PF, .to = "0200:0000:0000:0001 0200:0000:0000:0002",
			       .other = "0200:0000:0000:0001 0200:0000:0000:0003" },
	[VERB_SET_VF_TRUST] = { PF, .to = "1", .other = "0" },
	[VERB_SET_VF_LINK] = { PF, .to = "auto" },
	[VERB_SET_VF_VLAN] = { PF, .to = "100", .other = "0" },
	[VERB_REBIND_DRIVER] = { PF, .to = "mlx5_core", .other = "ice" },
	[VERB_SET_LINK_UP] = { PF, NET },
	[VERB_SET_MTU] = { PF, NET, .to = "9000", .other = "4200" },
	[VERB_SET_DCB] = { PF, .subject = "ets", .to = "00010020", .other = "00010021" },
	[VERB_SET_ROCE] = { PF, .subject = "ports/1/default_roce_tos", .to = "106",
			    .other = "104" },
	[VERB_SET_MAC] = { PF, NET, .to = "02:00:00:00:00:01", .other = "02:00:00:00:00:02" },
	[VERB_SET_NAME] = { PF, NET, .to = "ens1", .other = "ens2" },
	[VERB_ADD_ALTNAME] = { PF, NET, .to = "enp1s0", .other = "enp2s0" },
	[VERB_REMOVE_ALTNAME] = { PF, NET, .to = "enp1s0", .other = "enp2s0" },
	[VERB_SET_SYSCTL] = { PF, NET, "ipv4/arp_ignore", "2", .other = "1" },
	[VERB_ADD_ADDRESS] = { PF, NET, .to = "10.0.0.1/24", .other = "10.0.0.2/24" },
	[VERB_REMOVE_ADDRESS] = { PF, NET, .to = "10.0.0.1/24", .other = "10.0.0.2/24" },
	[VERB_ASK_METADATA] = { PF, .to = "02:00:00:00:00:01", .other = "02:00:00:00:00:02" },
	[VERB_SET_METRIC] = { PF, NET, "10.0.0.1/24", "200", .other = "201" },
	[VERB_SET_ROUTE] = { PF, NET, "10.0.0.0/24 table 9",
			     .change = { gateway_is_another, via_is_another, metric_is_another,
					 source_is_another } },
	[VERB_REMOVE_ROUTE] = { PF, NET, "10.0.0.0/24 table 9", .change = { metric_is_another } },
	[VERB_ADD_RULE] = { PF, NET, "from 10.0.0.1 table 9", .change = { preference_is_another } },
	[VERB_REMOVE_RULE] = { PF, NET, "oif ens1 table 9", .change = { preference_is_another } },
	[VERB_KEEP_NEIGHBOUR] = { PF, NET, "fe80::1" },
	[VERB_PROBE_NEIGHBOUR] = { PF, NET, "fe80::1" },
	[VERB_REMOVE_NEIGHBOUR] = { PF, NET, "fe80::1" },
	[VERB_SET_PNETID] = { PF, .to = "AABBCCDDEEFF", .other = "AABBCCDDEE00" },
	[VERB_ENSURE_KUBELET] = { "/var/lib/kubelet/config.yaml",
				  .subject = "topologyManagerPolicy", .to = "best-effort",
				  .other = "restricted" },
	[VERB_RELOAD_UNITS] = { "kubelet.service" },
	[VERB_WRITE_PLUGIN] = { "/run/config.json", .change = { text_is_another } },
	[VERB_REMOVE_PLUGIN] = { "/run/config.json" },
	[VERB_WRITE_MANIFEST] = { "/etc/pod.yaml", .change = { text_is_another } },
	[VERB_REMOVE_MANIFEST] = { "/etc/pod.yaml" },
	[VERB_WRITE_OUTPUT] = { "/run/nfd", .change = { text_is_another } },
	[VERB_REMOVE_OUTPUT] = { "/run/nfd", .to = "NFD", .other = "Metrics" },
};

struct scene {
	struct tree tree;
	struct config config;
	struct node node;
	struct pci pcis[1];
	struct netdev netdevs[2];
	struct ibdev ibdevs[1];
};

static void set_scene(struct scene *s)
{
	*s = (struct scene){ .pcis = { { .address = PF, .driver = "mlx5_core", .instance = 100 } },
			     .netdevs = { { .ifindex = NET, .pci = PF }, { .ifindex = NET + 1 } },
			     .ibdevs = { { .name = "mlx5_0", .index = 5, .pci = PF } } };
	s->node = (struct node){ .boot_id = BOOT,
				 .pcis = s->pcis,
				 .n_pcis = 1,
				 .netdevs = s->netdevs,
				 .n_netdevs = 2,
				 .ibdevs = s->ibdevs,
				 .n_ibdevs = 1 };
	COPY(s->config.hash, "0011223344556677");
	tree_make(&s->tree);
}

static struct action *want(struct plan *p, enum verb verb, const struct row *row)
{
	struct action *a = plan_add(p, verb, row->target);

	assert_non_null(a);
	p->outputs[OUTPUT_NFD].path = "/run/nfd";
	a->ifindex = row->ifindex;
	a->subject = row->subject ? row->subject : "";
	action_set(a, "", row->to ? row->to : "");
	return a;
}

/* The texts of these plans are constants. */
static void release(struct plan *p)
{
	free(p->actions);
	action_texts_done(&p->texts);
	text_index_done(&p->by_target);
	*p = (struct plan){};
}

/* A pass makes this change, which ends with @result, and writes its memory. */
static void pass_once(const struct scene *s, enum verb verb, int result, struct action *ret)
{
	static struct action_texts texts; /* of @ret, until the next pass */
	_cleanup_(attempts_done) struct attempts tried = {};
	_cleanup_(memory_done) struct memory now = {};
	struct memory memory = {};
	struct plan p = { .tried = &tried };
	struct action *a = want(&p, verb, &rows[verb]);

	plan_contest(&s->config, &s->node, &memory, 0, &p);
	assert_int_equal(attempts_begin(&tried, a), 0);
	tried.actions[0].is_running = false;
	tried.actions[0].is_done = true;
	tried.actions[0].result = result;
	tried.actions[0].error = result < 0 ? "no" : "";
	plan_mark_tried(&p);
	action_texts_done(&texts);
	*ret = action_copy(&texts, a);
	assert_int_equal(plan_remember(&s->config, &s->node, &memory, &p, &now), 0);
	assert_int_equal(memory_write(&s->tree.fs, MEMORY_BOOT, &pass_memory_fields, &now), 0);
	release(&p);
}

/* An event brings the next pass, which wants @p. */
static void next_pass(const struct scene *s, const char *boot_id, struct plan *p)
{
	const struct state_head head = { .boot_id = BOOT, .config_hash = "0011223344556677" };
	_cleanup_(attempts_done) struct attempts tried = {};
	_cleanup_(memory_done) struct memory memory = {};

	assert_int_equal(memory_read(&s->tree.fs, MEMORY_BOOT, &pass_memory_fields, &memory), 0);
	memory_take(&memory, boot_id, &head);
	assert_true(plan_recall_failures(&s->config, &s->node, &memory, false, &tried) >= 0);
	plan_forget_replaced(&s->node, &tried);
	assert_int_equal(plan_note_repeats(&s->config, &s->node, &tried, &memory), 0);
	p->tried = &tried;
	plan_contest(&s->config, &s->node, &memory, 0, p);
	plan_mark_tried(p);
	p->tried = NULL;
}

static bool is_tried(const struct scene *s, const char *boot_id, struct plan *p)
{
	bool is_open;

	next_pass(s, boot_id, p);
	is_open = action_is_open(&p->actions[0]);
	release(p);
	return is_open;
}

static void check_same(const struct scene *s, enum verb verb, const struct action *failed)
{
	struct plan p = {};
	const struct action *a = want(&p, verb, &rows[verb]);

	next_pass(s, BOOT, &p);
	if (action_is_open(a))
		fail_msg("%s is tried again by an event", verb_name(verb));
	assert_int_equal(a->result, failed->result);
	assert_int_equal(a->class, failed->class);
	assert_int_equal(action_failure(a), action_failure(failed));
	assert_string_equal(a->error, failed->error);
	release(&p);
}

static void check_other(const struct scene *s, enum verb verb, struct row row, const char *name)
{
	struct plan p = {};

	want(&p, verb, &row);
	if (!is_tried(s, BOOT, &p))
		fail_msg("%s of another %s is not tried", verb_name(verb), name);
}

static void check_others(const struct scene *s, enum verb verb)
{
	struct row row = rows[verb];

	row.target = "0000:42:00.0";
	check_other(s, verb, row, "target");
	row = rows[verb];
	row.ifindex = NET + 1;
	check_other(s, verb, row, "netdev");
	row = rows[verb];
	if (verb_value(verb) != VALUE_ADDRESS) {
		row.subject = "another";
		check_other(s, verb, row, "subject");
	}
	row = rows[verb];
	row.to = row.other;
	if (row.other)
		check_other(s, verb, row, "value");
	for (size_t i = 0; i < ELEMENTSOF(row.change) && row.change[i]; i++) {
		struct plan p = {};

		row.change[i](&p, want(&p, verb, &rows[verb]));
		if (!is_tried(s, BOOT, &p))
			fail_msg("%s, changed by %zu, is not tried", verb_name(verb), i);
	}
}

static void check_later(struct scene *s, enum verb verb)
{
	struct plan p = {};

	want(&p, verb, &rows[verb]);
	if (!is_tried(s, "another boot", &p))
		fail_msg("%s is not tried in the next boot", verb_name(verb));
	s->config.hash[0] = '1';
	want(&p, verb, &rows[verb]);
	if (!is_tried(s, BOOT, &p))
		fail_msg("%s is not tried for another configuration", verb_name(verb));
}

static void what_failed_is_not_tried_again_by_an_event(_unused_ void **state)
{
	for (enum verb verb = 0; verb < _VERB_N; verb++) {
		struct action failed;
		struct scene s;

		if (verb == VERB_WAIT || verb == VERB_SET_OPTION)
			continue;
		if (!rows[verb].target)
			fail_msg("%s has no row", verb_name(verb));
		set_scene(&s);
		pass_once(&s, verb, -EIO, &failed);
		check_same(&s, verb, &failed);
		s.node.n_netdevs = 0; /* as when a rule is taken away behind its netdev */
		check_same(&s, verb, &failed);
		s.node.n_netdevs = 2;
		check_others(&s, verb);
		check_later(&s, verb);
		tree_remove(&s.tree);
	}
}

/* Network managers do so while a link comes up: plan_contest() counts it. */
static void a_change_of_a_netdev_that_was_undone_is_tried_again(_unused_ void **state)
{
	for (enum verb verb = 0; verb < _VERB_N; verb++) {
		struct action failed;
		struct plan p = {};
		struct scene s;

		if (!rows[verb].target || verb == VERB_WRITE_RULES || verb_has(verb, FOR_OTHERS))
			continue;
		set_scene(&s);
		pass_once(&s, verb, 0, &failed);
		assert_int_equal(action_failure(&failed), REASON_NO_EFFECT);
		want(&p, verb, &rows[verb]);
		if (is_tried(&s, BOOT, &p) != (rows[verb].ifindex > 0))
			fail_msg("%s had no effect", verb_name(verb));
		if (rows[verb].ifindex == 0)
			check_same(&s, verb, &failed);
		tree_remove(&s.tree);
	}
}

/* 100 targets, three attempts on each. */
static void an_index_finds_what_a_search_through_all_finds(_unused_ void **state)
{
	_cleanup_(attempts_done) struct attempts t = {};
	_cleanup_(plan_done) struct plan p = {};
	char target[16];

	assert_null(attempts_next(NULL, PF, NULL));
	assert_null(attempts_next(&t, PF, NULL));
	assert_null(plan_next(&p, PF, NULL));
	for (unsigned i = 0; i < 300; i++) {
		const struct attempts plain = { .actions = t.actions, .n_actions = t.n_actions };
		const struct action *a = NULL, *b = NULL, *c = NULL;

		snprintf(target, sizeof(target), "%u", i * 7 % 100);
		do {
			a = attempts_next(&t, target, a);
			b = attempts_next(&plain, target, b);
			c = plan_next(&p, target, c);
			assert_ptr_equal(a, b);
			assert_int_equal(a ? a - t.actions : -1, c ? c - p.actions : -1);
		} while (a);
		c = plan_add(&p, VERB_BIND_DRIVER, target);
		assert_non_null(c);
		assert_int_equal(attempts_begin(&t, c), 0);
		assert_int_equal(t.by_target.n, t.n_actions);
	}
	p.actions[0] = p.actions[--p.n_actions];
	plan_index(&p);
	assert_ptr_equal(plan_next(&p, p.actions[0].target, NULL), &p.actions[0]);
	assert_int_equal(p.by_target.n, p.n_actions);
}

/* Tried on each VF of a PF, where the kernel left a gap in their numbers. */
static void the_attempts_on_vfs_are_found_from_their_pf(_unused_ void **state)
{
	static const char *const vfs[] = { "0000:41:00.1", "0000:41:00.4" };
	struct pci pcis[] = { { .address = PF, .num_vfs = 2, .total_vfs = 4 },
			      { .address = "0000:41:00.1", .physfn = PF, .vf_index = 0 },
			      { .address = "0000:41:00.4", .physfn = PF, .vf_index = 3 } };
	const struct node n = { .pcis = pcis, .n_pcis = ELEMENTSOF(pcis) };
	_cleanup_(attempts_done) struct attempts t = {};
	const struct action *a = NULL;
	struct action tried = {
		.verb = VERB_BIND_DRIVER, .target = "", .subject = "", .detail = "", .error = ""
	};
	size_t at = SIZE_MAX;

	for (unsigned k = 0; k < 6; k++) {
		tried.target = k % 3 < 2 ? vfs[k % 3] : PF;
		assert_int_equal(attempts_begin(&t, &tried), 0);
	}
	for (unsigned k = 0; k < 4; k++) {
		a = attempts_next_of_vfs(&t, &n, PF, &at, a);
		assert_non_null(a);
		assert_string_equal(a->target, vfs[k / 2]);
	}
	assert_null(attempts_next_of_vfs(&t, &n, PF, &at, a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_failed_is_not_tried_again_by_an_event),
		cmocka_unit_test(a_change_of_a_netdev_that_was_undone_is_tried_again),
		cmocka_unit_test(an_index_finds_what_a_search_through_all_finds),
		cmocka_unit_test(the_attempts_on_vfs_are_found_from_their_pf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
