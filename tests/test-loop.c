/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/dcbnl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../src/model/memory.h"
#include "../src/model/paths.h"
#include "../src/model/use-facts.h"
#include "../src/os/child.h"
#include "../src/os/memory-file.h"
#include "../src/os/os.h"
#include "../src/pass/live.h"
#include "../src/pass/loop.h"
#include "../src/show/state.h"
#include "tree.h"

#define PF "0000:41:00.0"
#define VF "0000:41:10.0"

/* Devices are in the order of their PFs: a VF of the first port stands before the second port. */
#define SECOND_PF "0000:41:00.1"
#define FIRST_VF  "0000:41:00.2"

/* A card with one VF where none is wanted. */
struct scene {
	struct tree tree;
	struct os os;
	unsigned n_looks, used_since; /* the look from which on the VF is in use; 0: never */
	bool is_dual_port;            /* and the second port is in use, in place of the VF */
	unsigned n_pfcs;              /* changes of PFC of the second port */
	enum verb verb;
	unsigned n_removals;
	bool is_replaced;          /* the card, after the first removal */
	bool is_cleared;           /* by "clear", in place of a pass */
	bool is_held;              /* by "revert", until the service starts again */
	unsigned n_told;           /* looks that the service heard of */
	struct pass_result result; /* of the last pass */
	const char *last_hash;
	bool had_state;
	bool has_memory; /* of the pass before */
};

static uint64_t get_now(_unused_ void *userdata)
{
	return now_usec();
}

static int64_t get_time(_unused_ void *userdata)
{
	return 0;
}

static struct pci *add_function(struct node *n, const char *address, const char *driver)
{
	struct pci *pci = APPEND(n->pcis, n->n_pcis);
	struct netdev *nd = APPEND(n->netdevs, n->n_netdevs);

	assert_true(pci && nd);
	COPY(pci->address, address);
	COPY(pci->driver, driver);
	pci->vendor = 0x8086;
	pci->class = 0x020000;
	pci->numa_node = -1;
	nd->ifindex = (uint32_t)n->n_netdevs + 1;
	nd->is_up = true;
	snprintf(nd->name, sizeof(nd->name), "eth%zu", n->n_netdevs);
	COPY(nd->pci, address);
	return pci;
}

static void add_second_port(struct node *n, bool is_open)
{
	struct ibdev *ib = APPEND(n->ibdevs, n->n_ibdevs);
	struct dcb *dcb = APPEND(n->dcbs, n->n_dcbs);

	assert_true(ib && dcb);
	add_function(n, SECOND_PF, "igb");
	COPY(ib->name, "igb1");
	COPY(ib->pci, SECOND_PF);
	ib->n_contexts = is_open;
	n->has_dcbs = true;
	dcb->ifindex = n->netdevs[n->n_netdevs - 1].ifindex;
	dcb->dcbx = DCB_CAP_DCBX_HOST;
	COPY(dcb->pfc, "none");
}

/* Of the last pass. */
static void add_losses(struct memory *memory, const char *hash)
{
	struct device_memory *m = APPEND(memory->devices, memory->n_devices);

	assert_non_null(m);
	COPY(m->pci, PF);
	m->usable_instance = m->instance = 1;
	m->losses = (struct link_losses){ .n = 3, .n_back = 3, .n_last = 3, .ifindex = 2 };
	m->aer = 5;
	COPY(memory->last_hash, hash);
	memory->last_state = NODE_READY;
}

static int look(void *userdata, _unused_ const struct config *c, const struct attempts *tried,
		struct node *ret, struct memory *ret_memory)
{
	struct scene *s = userdata;
	struct memory memory = {};
	struct node n = { .boot_id = "boot", .has_users = true, .is_held = s->is_held };
	struct pci *pci = add_function(&n, PF, "igb");
	struct user *u;

	pci->has_sriov = true;
	pci->instance = s->is_replaced && s->n_removals > 0 ? 2 : 1;
	pci->num_vfs = 1;
	pci->total_vfs = 7;
	pci->n_aer = 9;
	if (s->is_dual_port)
		add_second_port(&n, s->n_looks + 1 >= s->used_since && s->used_since > 0);
	pci = add_function(&n, s->is_dual_port ? FIRST_VF : VF, "igbvf");
	COPY(pci->physfn, PF);
	if (++s->n_looks >= s->used_since && s->used_since > 0 && !s->is_dual_port) {
		u = APPEND(n.users, n.n_users);
		assert_non_null(u);
		COPY(u->target, VF);
		u->use = USE_CONTEXT;
		u->pid = 4711;
	}
	if (s->has_memory)
		assert_true(observe_memory(&s->os.fs, tried, &n, &memory) >= 0);
	node_make_indexes(&n);
	if (s->last_hash)
		add_losses(&memory, s->last_hash);
	*ret = n;
	*ret_memory = memory;
	return 0;
}

static int answer(_unused_ void *userdata, _unused_ const struct questions *q,
		  _unused_ const struct memory *memory, _unused_ struct node *n)
{
	return 0;
}

static void on_start(void *userdata, const struct action *a, _unused_ uint64_t deadline_usec)
{
	struct scene *s = userdata;

	s->verb = a->verb;
	s->n_pfcs += a->verb == VERB_SET_DCB && streq(a->target, SECOND_PF);
}

static void on_looked(void *userdata, _unused_ bool is_whole)
{
	struct scene *s = userdata;

	s->n_told++;
}

/* It can do nothing. */
static int begin(void *userdata, _unused_ struct child *c, _unused_ size_t i)
{
	struct scene *s = userdata;

	s->n_removals += s->verb == VERB_SET_NUM_VFS;
	s->had_state |= s->verb == VERB_SET_NUM_VFS && fs_exists(&s->os.fs, STATE_PATH);
	return -EIO;
}

static void finish(_unused_ struct child *c)
{
}

static int run_in_tree(struct scene *s, bool is_retry)
{
	struct device_config section = { .name = "nic",
					 .match = (char[]){ "driver:igb" },
					 .mode = VF_MODE_EXCLUSIVE,
					 .count = COUNT_UNSET };
	const struct config config = { .hash = "0123",
				       .devices = &section,
				       .n_devices = 1,
				       .qos.pfc = "3",
				       .health.flap.count = s->is_cleared ? 3 : 0 };
	const struct world world = { .os = &s->os,
				     .now_usec = get_now,
				     .time_sec = get_time,
				     .look = look,
				     .answer = answer,
				     .begin = begin,
				     .finish = finish,
				     .leave = finish,
				     .userdata = s };
	const struct pass pass = { .config = &config,
				   .on_start = on_start,
				   .on_looked = on_looked,
				   .is_kept = !s->is_held,
				   .is_service = s->is_held,
				   .is_retry = is_retry,
				   .userdata = s };

	s->os.fs = s->tree.fs;
	if (s->is_cleared)
		return loop_clear(&world, &config, PF);
	s->result = (struct pass_result){};
	return loop_pass(&world, &pass, &s->result);
}

static void run(struct scene *s)
{
	tree_make(&s->tree);
	assert_int_equal(run_in_tree(s, false), 0);
	tree_remove(&s->tree);
}

static void vfs_are_not_removed_that_were_opened_since_the_look(_unused_ void **state)
{
	struct scene quiet = {}, used = { .used_since = 2 };

	run(&quiet);
	assert_int_equal(quiet.n_removals, 1);
	run(&used);
	assert_int_equal(used.n_removals, 0);
}

/* The look before the removal of VFs of the first port shows that the second one is in use. */
static void a_port_that_was_opened_since_the_look_keeps_its_link(_unused_ void **state)
{
	struct scene quiet = { .is_dual_port = true };
	struct scene used = { .is_dual_port = true, .used_since = 2 };

	run(&quiet);
	assert_int_equal(quiet.n_pfcs, 1);
	run(&used);
	assert_int_equal(used.n_removals, 1);
	assert_int_equal(used.n_pfcs, 0);
}

static void the_log_has_each_change_that_failed_and_the_new_state(_unused_ void **state)
{
	const int log = memfd_create("log", MFD_CLOEXEC), before = dup(STDERR_FILENO);
	struct scene s = {}, cleared = { .is_cleared = true, .last_hash = "0123" };
	char text[4096] = "";
	off_t end;

	assert_true(log >= 0 && before >= 0 && dup2(log, STDERR_FILENO) >= 0);
	run(&s);
	tree_make(&cleared.tree);
	assert_int_equal(run_in_tree(&cleared, false), 0);
	end = lseek(log, 0, SEEK_CUR);
	assert_int_equal(run_in_tree(&cleared, false), 0);
	assert_int_equal(lseek(log, 0, SEEK_CUR), end); /* the same state is no news */
	tree_remove(&cleared.tree);
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	assert_true(pread(log, text, sizeof(text) - 1, 0) > 0);
	close(log);
	close(before);
	assert_non_null(strstr(text, PF ": set-num-vfs 1 -> 0: Input/output error"));
	assert_non_null(strstr(text, "node: ready: 0 of 1 devices usable\n"));
}

static void a_service_that_holds_still_is_degraded_and_hears_of_one_look(_unused_ void **state)
{
	struct scene working = {}, held = { .is_held = true };

	run(&working);
	assert_true(working.n_looks > 1);
	assert_int_equal(working.n_told, 1);
	assert_int_not_equal(working.result.state, NODE_DEGRADED);
	run(&held);
	assert_int_equal(held.n_told, 1);
	assert_int_equal(held.n_removals, 0);
	assert_int_equal(held.result.state, NODE_DEGRADED);
}

static void a_state_of_the_new_configuration_is_there_before_its_changes(_unused_ void **state)
{
	struct scene s = {};

	run(&s);
	assert_true(s.had_state);
}

static void what_failed_on_a_card_is_tried_on_the_one_in_its_place(_unused_ void **state)
{
	struct scene s = { .is_replaced = true };

	run(&s);
	assert_int_equal(s.n_removals, 2);
}

static void what_failed_is_tried_again_by_a_reload_and_by_no_event(_unused_ void **state)
{
	struct scene s = { .has_memory = true };

	tree_make(&s.tree);
	assert_int_equal(run_in_tree(&s, false), 0);
	assert_int_equal(s.n_removals, 1);
	assert_int_equal(s.result.n_failed, 1);
	assert_int_equal(s.result.n_waiting, 1); /* for the RDMA device */
	assert_int_equal(fs_exists(&s.tree.fs, LAST_GOOD_PATH), 1);
	assert_int_equal(run_in_tree(&s, false), 0);
	assert_int_equal(s.n_removals, 1);
	assert_int_equal(run_in_tree(&s, true), 0);
	assert_int_equal(s.n_removals, 2);
	tree_remove(&s.tree);
}

/* There is a VF where none is wanted, which is for the service. */
static void clear_sets_counters_and_changes_nothing_else(_unused_ void **state)
{
	_cleanup_(memory_done) struct memory memory = {};
	struct scene s = { .is_cleared = true, .last_hash = "0123" };
	_cleanup_(freep) char *text = NULL;
	enum node_state last = NODE_STARTING;
	const struct device_memory *pf;
	size_t size;

	tree_make(&s.tree);
	assert_int_equal(run_in_tree(&s, false), 0);
	assert_int_equal(s.n_removals, 0);
	assert_int_equal(fs_read_all(&s.tree.fs, STATE_PATH, MAX_STATE_BYTES, false, &text, &size),
			 0);
	assert_int_equal(output_read_state(text, NULL, &last), 0);
	assert_int_equal(last, NODE_READY);
	assert_int_equal(memory_read(&s.tree.fs, MEMORY_BOOT, &pass_memory_fields, &memory), 0);
	pf = memory_device(&memory, PF);
	assert_non_null(pf);
	assert_int_equal(pf->losses.n, 3);
	assert_int_equal(pf->losses.n_last, 0);
	assert_int_equal(pf->aer, 9); /* as many as there are now */
	tree_remove(&s.tree);
}

static void
clear_is_refused_with_another_configuration_than_that_of_the_service(_unused_ void **state)
{
	struct scene s = { .is_cleared = true, .last_hash = "4567" };

	tree_make(&s.tree);
	assert_int_equal(run_in_tree(&s, false), -ESTALE);
	assert_int_equal(s.n_removals, 0);
	assert_false(fs_exists(&s.tree.fs, STATE_PATH));
	assert_false(fs_exists(&s.tree.fs, MEMORY_BOOT_PATH));
	tree_remove(&s.tree);
}

static void a_plan_without_a_pass_keeps_no_pointer_to_its_attempts(_unused_ void **state)
{
	_cleanup_(inspection_done) struct inspection in = {};
	const struct config config = { .hash = "0123" };
	struct tree tree;
	struct os os = {};

	tree_make(&tree);
	assert_int_equal(os_open(tree.root, &os), 0);
	assert_int_equal(loop_plan(&os, &config, &in), 0);
	assert_null(in.plan.tried);
	os_close(&os);
	tree_remove(&tree);
}

/* The lock of a pass, as another process has it. */
struct other {
	pid_t pid;
	unsigned n_waits, n_ends;
};

static void on_wait(void *userdata, bool is_over)
{
	struct other *o = userdata;

	assert_int_equal(o->n_waits, is_over);
	if (is_over) {
		o->n_ends++;
		return;
	}
	o->n_waits++;
	kill(o->pid, SIGKILL);
}

static void a_pass_tells_that_it_waits_for_another_one_and_that_this_is_over(_unused_ void **state)
{
	struct other other = {};
	const struct pass pass = { .on_wait = on_wait, .userdata = &other };
	struct tree tree;
	int lock;

	tree_make(&tree);
	other.pid = fork();
	if (other.pid == 0) {
		loop_lock(&tree.fs, NULL);
		raise(SIGSTOP);
		_exit(EXIT_SUCCESS);
	}
	assert_int_equal(waitpid(other.pid, NULL, WUNTRACED), other.pid);
	lock = loop_lock(&tree.fs, &pass);
	assert_true(lock >= 0);
	close(lock);
	assert_int_equal(other.n_waits, 1);
	assert_int_equal(other.n_ends, 1);
	assert_int_equal(waitpid(other.pid, NULL, 0), other.pid);
	tree_remove(&tree);
}

/* --- a pass of a service, with a change that outlives the plan that began it --- */

#define OTHER_PF  "0000:42:00.0"
#define MAX_LOOKS 8 /* with fewer the pass is over; a loop without an end has more */
#define FIRST_FD  100

/* Two cards that are to get another MTU: the first takes 21 s, and the second 25 s after it. */
struct slow {
	struct tree tree;
	struct os os;
	uint64_t now_usec;
	unsigned n_looks, n_answers; /* answers of the last look */
	struct {
		const char *target;
		uint64_t end_usec; /* 0: not begun */
		bool is_done;
	} changes[2];
	unsigned started; /* the change that was started last */
};

static uint64_t slow_now(void *userdata)
{
	return ((struct slow *)userdata)->now_usec;
}

static int slow_look(void *userdata, _unused_ const struct config *c,
		     _unused_ const struct attempts *tried, struct node *ret,
		     struct memory *ret_memory)
{
	struct slow *s = userdata;
	struct memory memory = {};
	struct node n = { .boot_id = "boot", .now_usec = s->now_usec };
	struct device_memory *m;

	memory_read(&s->os.fs, MEMORY_BOOT, &pass_memory_fields, &memory);
	m = FIND(it, memory.devices, memory.n_devices, streq(it->pci, PF))
		    ?: APPEND(memory.devices, memory.n_devices);
	assert_non_null(m);
	COPY(m->pci, PF);
	m->was_usable = true; /* and has no RDMA device any more */
	m->was_lost = false;
	for (size_t i = 0; i < ELEMENTSOF(s->changes); i++) {
		add_function(&n, s->changes[i].target, "igb");
		n.netdevs[i].mtu =
			s->changes[i].is_done || (i > 0 && !s->changes[0].is_done) ? 4200 : 1500;
	}
	node_make_indexes(&n);
	assert_true(++s->n_looks < MAX_LOOKS);
	s->n_answers = 0;
	*ret = n;
	*ret_memory = memory;
	return 0;
}

/* Its facts are others each time, so that nothing but the loop ends the questions. */
static int slow_answer(void *userdata, _unused_ const struct questions *q,
		       _unused_ const struct memory *memory, _unused_ struct node *n)
{
	struct slow *s = userdata;

	assert_true(++s->n_answers <= _QUESTION_N);
	return 1;
}

static void slow_start(void *userdata, const struct action *a, _unused_ uint64_t deadline_usec)
{
	struct slow *s = userdata;

	s->started = streq(a->target, OTHER_PF);
	assert_string_equal(a->target, s->changes[s->started].target);
	assert_int_equal(a->verb, VERB_SET_MTU);
}

static int slow_begin(void *userdata, struct child *c, _unused_ size_t i)
{
	struct slow *s = userdata;

	assert_int_equal(s->changes[s->started].end_usec, 0);
	s->changes[s->started].end_usec = s->now_usec + (s->started ? 25 : 21) * USEC_PER_SEC;
	c->fd = FIRST_FD + (int)s->started;
	return 0;
}

static int slow_wait(void *userdata, struct pollfd *fds, size_t n, uint64_t until_usec)
{
	struct slow *s = userdata;
	struct pollfd *first = NULL;

	for (size_t i = 0; i < n; i++)
		if (fds[i].fd >= FIRST_FD && (!first || fds[i].fd < first->fd))
			first = &fds[i];
	assert_non_null(first);
	if (s->changes[first->fd - FIRST_FD].end_usec > until_usec) {
		s->now_usec = MAX(s->now_usec, until_usec);
		return 0;
	}
	s->now_usec = s->changes[first->fd - FIRST_FD].end_usec;
	first->revents = POLLIN;
	return 1;
}

static int slow_end(void *userdata, struct child *c, _unused_ uint64_t until_usec,
		    _unused_ char *ret_error, _unused_ size_t size)
{
	struct slow *s = userdata;

	s->changes[c->fd - FIRST_FD].is_done = true;
	return 0;
}

static void a_change_outlives_its_plan_and_the_pass_ends_with_it(_unused_ void **state)
{
	struct device_config section = { .name = "nic",
					 .match = (char[]){ "driver:igb" },
					 .mode = VF_MODE_KEEP,
					 .count = COUNT_UNSET,
					 .mtu = 4200 };
	const struct config config = { .hash = "0123",
				       .devices = &section,
				       .n_devices = 1,
				       .service.settle_usec = 46 * USEC_PER_SEC,
				       .service.node_nic = "none" };
	struct slow s = { .now_usec = 1000 * USEC_PER_SEC,
			  .changes = { { .target = PF }, { .target = OTHER_PF } } };
	const struct world world = { .os = &s.os,
				     .now_usec = slow_now,
				     .time_sec = get_time,
				     .look = slow_look,
				     .answer = slow_answer,
				     .begin = slow_begin,
				     .end = slow_end,
				     .finish = finish,
				     .leave = finish,
				     .wait = slow_wait,
				     .userdata = &s };
	const struct pass pass = {
		.config = &config, .on_start = slow_start, .is_service = true, .userdata = &s
	};
	_cleanup_(memory_done) struct memory memory = {};
	struct pass_result result = {};

	tree_make(&s.tree);
	s.os.fs = s.tree.fs;
	assert_int_equal(loop_pass(&world, &pass, &result), 0);
	assert_true(s.changes[0].is_done && s.changes[1].is_done);
	assert_int_equal(s.now_usec, 1046 * USEC_PER_SEC);
	assert_int_equal(result.n_changes, 2);
	/* The first look, after each change, and after LONG_USEC of each. */
	assert_int_equal(s.n_looks, 5);
	assert_int_equal(result.n_lost, 0); /* it is lost for SettleSec= to the microsecond */
	assert_true(s.n_answers > 0);
	assert_int_equal(fs_exists(&s.tree.fs, STATE_PATH), 1);
	/* The first change was counted once, although two more looks followed the one that wrote
	 * it. */
	assert_int_equal(memory_read(&s.tree.fs, MEMORY_BOOT, &pass_memory_fields, &memory), 0);
	assert_int_equal(memory.n_attempts, 2);
	for (size_t i = 0; i < memory.n_attempts; i++)
		assert_int_equal(memory.attempts[i].n, 1);
	tree_remove(&s.tree);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(vfs_are_not_removed_that_were_opened_since_the_look),
		cmocka_unit_test(a_port_that_was_opened_since_the_look_keeps_its_link),
		cmocka_unit_test(the_log_has_each_change_that_failed_and_the_new_state),
		cmocka_unit_test(a_service_that_holds_still_is_degraded_and_hears_of_one_look),
		cmocka_unit_test(a_state_of_the_new_configuration_is_there_before_its_changes),
		cmocka_unit_test(clear_sets_counters_and_changes_nothing_else),
		cmocka_unit_test(
			clear_is_refused_with_another_configuration_than_that_of_the_service),
		cmocka_unit_test(a_plan_without_a_pass_keeps_no_pointer_to_its_attempts),
		cmocka_unit_test(a_pass_tells_that_it_waits_for_another_one_and_that_this_is_over),
		cmocka_unit_test(what_failed_on_a_card_is_tried_on_the_one_in_its_place),
		cmocka_unit_test(a_change_outlives_its_plan_and_the_pass_ends_with_it),
		cmocka_unit_test(what_failed_is_tried_again_by_a_reload_and_by_no_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
