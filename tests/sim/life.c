/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Life: a node from its first boot to "revert": what is plugged in, what is asked for, who comes
 * and goes, what fails; and the service around the passes, by schedule.h as service.c.
 */
#include "../../src/base/log.h"
#include "../../src/command/revert.h"
#include "../../src/config/load.h"
#include "../../src/model/memory.h"
#include "../../src/model/paths.h"
#include "../../src/os/memory-file.h"
#include "../../src/pass/live.h"
#include "../../src/service/schedule.h"
#include "../../src/service/service.h"
#include "../../src/show/state.h"
#include "disk.h"
#include "sim.h"

#include <stdarg.h>

#define CONFIG_PATH "etc/rdma-provision/rdma-provision.conf"
#define SEC         USEC_PER_SEC
#define PASSES_MAX  400 /* of one boot: more is a loop that does not end */

struct sim sim;

/* Of an administrator: files are edited, and "apply" follows without a reload. */
static bool is_life_with_edits(void)
{
	return sim.seed % 16 == 9;
}

/* The service, as service.c is one. */
static struct {
	struct config config;
	struct schedule schedule;
	bool is_command_due;               /* as soon as no pass runs */
	bool was_changed;                  /* in the present pass */
	bool is_whole, is_other, is_asked; /* of struct schedule_input */
	bool is_apply_waiting;             /* for the pass that it asked for */
	bool is_waiting;                   /* after the last pass */
	unsigned todo;                     /* of the schedule, that is not done yet */
	unsigned n_passes;
} service;

/* The configuration that the last "apply" put into force; empty: another one was written since. */
static char applied[17];
static const struct config *in_force; /* of the present pass */

/* What was tried since the last pass with a result. */
static struct {
	enum verb verb;
	char target[PCI_LEN];
} tried[512];
static size_t n_tried;

void sim_fail(const char *format, ...)
{
	va_list ap;

	if (sim.is_failed)
		return;
	va_start(ap, format);
	vsnprintf(sim.failure, sizeof(sim.failure), format, ap);
	va_end(ap);
	sim.is_failed = sim.is_dead = true;
	sim_trace("FAILED: %s", sim.failure);
}

void sim_trace(const char *format, ...)
{
	va_list ap;

	if (!sim.is_traced)
		return;
	printf("%10.3f ", (double)sim.now_usec / 1e6);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
}

/* --- the world around --- */

static void handle(enum schedule_event event, const struct pass_result *result)
{
	const struct schedule_input in = {
		.now_usec = sim.now_usec,
		.is_whole = service.is_whole,
		.is_other = service.is_other,
		.is_asked = service.is_asked,
		.config = &service.config,
		.result = result,
	};

	service.todo |= schedule_event(&service.schedule, event, &in);
	if (service.todo & DO_DEGRADE_LATE) {
		sim_trace("READY=1 without the pass that goes on");
		degrade(&service.config, REASON_READY_TIMEOUT, "a pass");
	}
	if (service.todo & DO_DEGRADE_FAILED)
		degrade(&service.config, REASON_WORKER_DIED, "a pass");
	if (service.todo & DO_READY)
		sim_trace("READY=1");
	if (service.todo & DO_ANSWER) {
		sim_trace("apply: its pass is over");
		service.is_apply_waiting = false;
	}
	if (service.todo & DO_KILL)
		sim_trace("the look is cancelled");
	service.todo &= DO_KILL | DO_LOOK | DO_PASS | DO_RELEASE;
}

void life_event(void)
{
	service.was_changed = true;
	handle(EVENT_CHANGED, NULL);
}

/* When the next timer of the service expires, and which one; SCHEDULE_NEVER when all are off. */
static uint64_t next_timer(enum schedule_event *ret)
{
	const struct schedule *s = &service.schedule;

	*ret = TIMER_AHEAD;
	for (enum schedule_event i = 0; i < _TIMER_N; i++)
		if (s->at_usec[i] < s->at_usec[*ret])
			*ret = i;
	return s->at_usec[*ret];
}

/* To the next thing that happens, or to @until_usec. Return: did anything? */
static bool step(uint64_t until_usec)
{
	enum schedule_event timer = _TIMER_N;
	const uint64_t kernel = kernel_next();
	const uint64_t other = others_next();
	const uint64_t due = sim.is_by_hand ? UINT64_MAX : next_timer(&timer);
	const uint64_t next = MIN(MIN(MIN(kernel, other), due), until_usec);

	sim.now_usec = MAX(next, sim.now_usec);
	if (next == kernel) {
		links_go_on();
		kernel_name_netdevs();
		others_tell();
	}
	if (next == other)
		others_go_on();
	if (next == due)
		handle(timer, NULL);
	return next == kernel || next == other || next == due;
}

void sim_advance(uint64_t until_usec)
{
	while (sim.now_usec < until_usec && !sim.is_failed)
		step(until_usec);
}

/* --- the service --- */

static void read_config(void)
{
	struct config c = {};

	if (load_config(&sim.os.fs, NULL, &c) < 0)
		return;
	service.is_other = !streq(service.config.hash, c.hash);
	config_done(&service.config);
	service.config = c;
	sim.config = &service.config;
	links_configure();
}

static void start_service(void)
{
	config_done(&service.config);
	memset(&service, 0, sizeof(service));
	read_config();
	links_listen();
	schedule_start(&service.schedule, false, &service.config, sim.now_usec);
	fs_remove(&sim.os.fs, HOLD_PATH);
}

/* "reload" */
static void reload_service(void)
{
	sim_trace("reload");
	fs_remove(&sim.os.fs, HOLD_PATH);
	read_config();
	handle(EVENT_CONFIG, NULL);
	service.is_asked = false;
	handle(EVENT_RELOAD, NULL);
}

static struct func *other_vf(const char *pf)
{
	struct func *f = others_any(true);

	return f && !streq(sim.funcs[f->pf].address, pf) ? f : NULL;
}

/* What an event's pass finds as failed in a pass before, with the same configuration. */
static struct memory before;

static void read_failures(bool is_retry)
{
	_cleanup_(node_done) struct node n = {};

	memory_done(&before);
	before = (struct memory){};
	COPY(n.boot_id, sim.boot_id);
	if (!is_retry && observe_memory(&sim.os.fs, NULL, &n, &before) < 0)
		sim_fail("memory cannot be read");
	if (!streq(before.last_hash, service.config.hash))
		before.n_attempts = 0;
}

static void check_not_failed(const struct action *a)
{
	char to[SHOWN_LEN];

	for (size_t i = 0; i < before.n_attempts; i++) {
		const struct attempt *f = &before.attempts[i];

		if (f->result < 0 && f->verb == a->verb && streq(f->target, a->target) &&
		    streq(f->subject, a->subject) && streq(f->to, action_to(a, to)) &&
		    f->ifindex == a->ifindex && f->instance == a->instance && f->value == a->value)
			sim_fail("%s: %s failed before, and is tried again by an event", a->target,
				 verb_name(f->verb));
	}
}

static void on_start(void *userdata _unused_, const struct action *a,
		     uint64_t deadline_usec _unused_)
{
	char from[SHOWN_LEN], to[SHOWN_LEN];

	/* Else two configurations take turns, and each makes its own VFs of those of the other. */
	if (*applied && !streq(in_force->hash, applied))
		sim_fail("%s: %s with another configuration than that of \"apply\"", a->target,
			 verb_name(a->verb));
	sim.verbs[a->verb] = true;
	COPY(sim.doing, a->target);
	if (!sim.is_by_hand)
		check_not_failed(a);
	if (n_tried < ELEMENTSOF(tried)) {
		tried[n_tried].verb = a->verb;
		COPY(tried[n_tried++].target, a->target);
	}
	sim_trace("%s: %s %s -> %s", a->target, verb_name(a->verb), action_from(a, from),
		  action_to(a, to));
	if (a->verb == VERB_SET_NUM_VFS && sim_chance(sim.rates.user))
		others_use(other_vf(a->target)); /* while its turn has not come */
	if (sim_chance(sim.rates.kill))
		sim.n_doors_left = 1 + (unsigned)sim_random(4);
}

static void check_memory(void)
{
	_cleanup_(freep) char *text = NULL;
	enum node_state state;
	size_t size;
	int r;

	r = fs_read_all(&sim.os.fs, STATE_PATH, MAX_STATE_BYTES, false, &text, &size);
	if (r >= 0 && output_read_state(text, NULL, &state) < 0)
		sim_fail("state.json cannot be read");
	else if (r < 0 && r != -ENOENT)
		sim_fail("state.json: %s", strerror(-r));
	if (fs_exists(&sim.os.fs, READY_PATH) && r >= 0 && !sim.is_dead && state != NODE_READY)
		sim_fail("\"ready\" is there beside a state that is %s", node_state_name(state));
}

static bool was_tried(const struct attempt *f)
{
	for (size_t i = 0; i < n_tried; i++)
		if (tried[i].verb == f->verb && streq(tried[i].target, f->target))
			return true;
	return false;
}

/* What failed on a card that is not there any more has not failed on the one that is. */
static void check_failures(bool is_quiet)
{
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	bool is_any = false;

	for (size_t i = 0; i < sim.n_funcs; i++)
		is_any |= sim.funcs[i].is_replaced;
	COPY(n.boot_id, sim.boot_id);
	if (is_any && is_quiet && observe_memory(&sim.os.fs, NULL, &n, &memory) < 0)
		sim_fail("memory cannot be read");
	for (size_t i = 0; i < memory.n_attempts; i++) {
		const struct attempt *f = &memory.attempts[i];
		const struct func *func = kernel_find(f->target, strlen(f->target));

		if (f->result < 0 && func && func->is_replaced && func->instance == f->instance &&
		    !was_tried(f))
			sim_fail("%s: %s failed on the card before, and is not tried on this one",
				 f->target, verb_name(f->verb));
	}
	for (size_t i = 0; i < sim.n_funcs; i++)
		sim.funcs[i].is_replaced = false;
}

/* A worker that is held waits for the schedule; a cancelled one does nothing more. */
static void on_looked(void *userdata _unused_, bool is_whole)
{
	service.is_whole = is_whole;
	if (service.schedule.state == SCHEDULE_LOOKING)
		handle(EVENT_LOOKED, NULL);
	while (service.schedule.state == SCHEDULE_LOOKING && !sim.is_failed)
		step(UINT64_MAX);
	sim.is_dead |= service.schedule.state == SCHEDULE_CANCELLED;
}

static int run_once(struct pass *pass, struct pass_result *ret)
{
	const struct world w = sim_world();
	const unsigned n_before = sim.n_file_writes;
	int r;

	pass->config = in_force = &service.config;
	pass->is_kept = pass->is_service = true;
	pass->on_start = on_start;
	pass->on_looked = on_looked;
	sim_trace("pass %u%s", ++service.n_passes, pass->is_retry ? ", tries again" : "");
	service.was_changed = false;
	read_failures(pass->is_retry);
	sim.os.link_log = pass->link_log = links_begin_pass();
	kubelet_begin_pass();
	r = loop_pass(&w, pass, ret);
	sim.os.link_log = NULL;
	if (sim.n_file_writes > n_before)
		check_memory();
	if (r < 0 || sim.is_dead)
		return r;
	links_end_pass(ret);
	check_failures(!service.was_changed);
	n_tried = 0;
	return r;
}

/* What the schedule asked for: a worker, from its start to its end. */
static void run_worker(void)
{
	struct pass pass = {};
	struct pass_result result = {};
	int r;

	service.todo = 0;
	if (service.n_passes >= PASSES_MAX) {
		sim_fail("%u passes, and no end", service.n_passes);
		return;
	}
	schedule_fill(&service.schedule, &pass);
	r = run_once(&pass, &result);
	if (service.schedule.state == SCHEDULE_CANCELLED && !sim.is_failed && !sim.is_cut) {
		sim.is_dead = false;
		service.todo = 0;
		handle(EVENT_ENDED, NULL);
		return;
	}
	if (sim.is_dead)
		return;
	others_forget_given();
	sim_trace("= %s, %d changes, %d failed, %" PRIu32 " waiting%s", result.summary,
		  result.n_changes, result.n_failed, result.n_waiting, r < 0 ? ", no result" : "");
	service.todo = 0;
	service.is_waiting = result.n_waiting > 0;
	if (r < 0)
		links_break();
	handle(r < 0 ? EVENT_FAILED : EVENT_RESULT, &result);
	if (!service.schedule.is_ready && sim.now_usec > service.schedule.ready_usec)
		sim_fail("READY=1 did not come in time");
}

void life_command(void)
{
	service.is_command_due = true;
}

static int revert_all(bool with_vfs)
{
	const struct world w = sim_world();
	int r;

	sim.is_removal_asked = with_vfs;
	sim.is_by_hand = sim.is_reverting = true;
	r = revert(&w, NULL, with_vfs);
	sim.is_removal_asked = sim.is_by_hand = sim.is_reverting = false;
	priorities_forget();
	for (size_t i = 0; i < sim.n_funcs; i++)
		links_forget(&sim.funcs[i]);
	sim_trace("revert%s: %d", with_vfs ? " --vfs" : "", r);
	return r;
}

/* "apply" while the service is stopped, without what it waits for; the service starts then. */
static void apply_alone(const struct config *c)
{
	const struct world w = sim_world();
	const struct pass pass = { .config = c,
				   .is_retry = true,
				   .is_by_hand = true,
				   .is_kept = true,
				   .is_first = true,
				   .on_start = on_start };
	struct pass_result result = {};

	in_force = c;
	sim.is_by_hand = true;
	kubelet_begin_pass();
	loop_pass(&w, &pass, &result);
	sim.is_by_hand = false;
	sim_trace("apply: %s", result.summary);
	if (sim.is_failed || sim.is_cut)
		return;
	sim.is_dead = false;
	sim.n_doors_left = 0;
	start_service();
}

/* "apply": while the service runs it has it do all but look whether the configuration is malformed.
 */
static void apply_by_hand(void)
{
	_cleanup_(config_done) struct config c = {};

	if (load_config(&sim.os.fs, NULL, &c) < 0 || c.is_invalid)
		return;
	COPY(applied, c.hash);
	if (is_life_with_edits() || sim.seed % 3 > 0) {
		sim_trace("apply");
		service.is_asked = service.is_apply_waiting = true;
		reload_service();
	} else {
		apply_alone(&c);
	}
}

static void write_config(bool is_other);

/* What is killed meanwhile is the command, not the service. */
static void run_command(void)
{
	const bool is_edit = is_life_with_edits() && sim_random(2) == 0;
	const unsigned what = is_edit ? 2 : (unsigned)sim_random(4);

	service.is_command_due = false;
	if (script_is_on()) {
		start_service();
		return;
	}
	sim_trace("a command of an administrator");
	if (is_edit)
		write_config(true); /* and no reload */
	if (what < 2)
		revert_all(what == 1);
	else if (what == 2)
		apply_by_hand();
	if (!is_edit && (what == 3 || sim_random(3) == 0))
		reload_service();
	if (sim.is_failed || sim.is_cut)
		return;
	sim.is_dead = false;
	sim.n_doors_left = 0;
	life_event();
}

/* Passes until then; the last of them may end later. */
static void serve(uint64_t until_usec)
{
	while (!sim.is_dead && sim.now_usec < until_usec) {
		if (service.todo & (DO_LOOK | DO_PASS))
			run_worker();
		else if (service.is_command_due)
			run_command();
		else
			step(until_usec);
	}
}

/* --- what is asked for --- */

static const char *pick(const char *const *words, size_t n)
{
	return words[sim_random(n)];
}

#define PICK(...)                                                                                  \
	pick((const char *const[]){ __VA_ARGS__ },                                                 \
	     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void put_device(FILE *f)
{
	if (sim_random(3) == 0)
		fprintf(f, "MTU=%s\n", PICK("4200", "9000", "1500", "65000"));
	if (sim_random(3) == 0)
		fprintf(f, "Trust=%s\n", PICK("yes", "no"));
	if (sim_random(8) == 0)
		fputs("Identity=keep\n", f);
	if (sim_random(8) == 0)
		fprintf(f, "Expect=%s\n", PICK("1", "9"));
	if (sim_random(30) == 0)
		fprintf(f, "Nonsense=%s\n", PICK("1", "9"));
	if (sim_random(2) == 0)
		fputs(PICK("VirtualFunctions=exclusive\n", "VirtualFunctions=shared\n", ""), f);
	else
		fprintf(f, "VirtualFunctions=shared-multi\nCount=%s\n",
			PICK("1", "2", "2", "3", "4", "9", "max"));
}

static void put_route(FILE *f)
{
	const bool is_static = sim_random(3) == 0;

	if (is_static)
		fputs(PICK("StaticAddress=10.9.0.5/24\nGateway=10.9.0.1\n",
			   "StaticAddress=10.0.0.77/24\n"),
		      f);
	fprintf(f, "[Route]\nManage=yes\nMetric=%s\nPolicyRules=%s\nAddress=%s\n",
		PICK("1", "200", "250"), PICK("auto", "yes", "yes", "no"),
		is_static                 ? "static"
		: is_life_with_metadata() ? "metadata"
					  : "existing");
}

/* @is_other: one after another in the same life, often of the same cards. */
static void write_config(bool is_other)
{
	static const char *match;
	char text[2048] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	sim.is_reconfigured = is_other;
	applied[0] = '\0';
	if (is_life_with_slots())
		match = "driver:erdma driver:mlx5_core";
	else if (!is_other || sim_random(3) == 0)
		match = PICK("driver:mlx5_core", "driver:mlx5_core", "driver:*", "id:15b3:101d",
			     "driver:erdma driver:mlx5_core", "driver:bnxt_en driver:ice");
	fprintf(f, "[Service]\nReadyTimeoutSec=%s\nSettleSec=%s\n[DevicePlugin]\nType=%s\n",
		PICK("60", "120", "300"), PICK("0.1", "0.5", "2"),
		PICK("none", "rdma-shared", "sriov", "hca"));
	if (sim_random(3) == 0)
		fputs("Manifest=/run/manifests/plugin.yaml\nImage=example.com/plugin:1\n"
		      "[Output]\nMetrics=/run/metrics/node.prom\nNFD=/run/features.d/node\n"
		      "CDI=/run/cdi\n",
		      f);
	/* Hardly any NIC of a life has an address. */
	fprintf(f, "[Device rdma]\nMatch=%s\nRequireAddress=no\n", match);
	put_device(f);
	if (sim_random(3) == 0 || is_life_with_metadata())
		put_route(f);
	priorities_write(f);
	links_write(f);
	namespaces_write(f);
	smc_write(f);
	kubelet_write(f);
	driver_write(f);
	fclose(f);
	sim_trace("configuration:\n%s", text);
	disk_put(CONFIG_PATH, text);
}

/* --- boots --- */

static void make_folders(const char *const *folders, size_t n)
{
	for (size_t i = 0; i < n; i++)
		disk_make_folder(folders[i]);
}

static void boot(unsigned number)
{
	static const char *const folders[] = { "run/metrics", "run/manifests", "run/features.d",
					       "run/cdi" };

	sim_trace("--- boot %u ---", number);
	disk_boot(sim.is_dead);
	sim.is_dead = sim.is_cut = false;
	make_folders(folders, ELEMENTSOF(folders));
	snprintf(sim.boot_id, sizeof(sim.boot_id), "%08x-0000-4000-8000-%012" PRIx64, number,
		 sim.seed & 0xffffffffffff);
	snprintf(sim.kernel, sizeof(sim.kernel), "6.%u.0",
		 1 + (unsigned)sim_random(1 + number % 3));
	sim.package = (uint32_t)sim_random(1 + number % 2);
	sim.now_usec = 20 * SEC;
	sim.is_quiet = sim.is_reconfigured = false;
	sim.state_hash[0] = '\0';
	kernel_boot();
	others_begin();
}

/* A VF that the configuration of the whole boot made has what it had in the boots before. */
static void check_identities(void)
{
	for (size_t i = 0; i < sim.n_funcs && !sim.is_reconfigured; i++) {
		struct func *f = &sim.funcs[i];
		const char *id = f->habit->flags & HABIT_INFINIBAND ? f->bound_guid : f->mac;

		if (f->pf < 0 || !func_is_there(f) || !f->is_bound || f->is_odd ||
		    sim.funcs[f->pf].is_odd || is_prefix(id, "0000:") ||
		    service.config.n_devices != 1 ||
		    service.config.devices[0].identity != IDENTITY_DERIVED)
			continue;
		if (f->ended[0] && !streq(f->ended, id))
			sim_fail("%s ends a boot as %s, and another one as %s", f->address, id,
				 f->ended);
		COPY(f->ended, id);
	}
}

/*
 * Without new faults nothing is left to be done. One more pass may write what the last one has
 * seen, as that a function is in a pod now; after that one nothing is written at all.
 */
static void check_end(void)
{
	struct pass pass = { .is_wait_over = true };
	struct pass_result result = {};

	if (service.is_apply_waiting && !sim.is_dead)
		sim_fail("\"apply\" has no answer");
	if (!fs_exists(&sim.os.fs, HOLD_PATH))
		links_check_quiet();
	for (unsigned i = 0; i < 2 && !sim.is_dead; i++) {
		sim.n_kernel_writes = sim.n_file_writes = 0;
		if (run_once(&pass, &result) < 0)
			sim_fail("a pass without a fault fails");
		if (result.state == NODE_STARTING)
			sim_fail("the node is never more than starting");
		if (i == 0 && service.is_waiting && result.n_waiting == 0)
			sim_fail("what was waited for is there, and nobody has looked");
		if (result.n_changes > 0 || sim.n_kernel_writes > 0 ||
		    (i > 0 && sim.n_file_writes > 0))
			sim_fail("%d changes, %u writes to the kernel and %u to files on a "
				 "finished node",
				 result.n_changes, sim.n_kernel_writes, sim.n_file_writes);
	}
	check_identities();
	smc_check();
	links_check_end();
	if (!fs_exists(&sim.os.fs, HOLD_PATH))
		namespaces_check();
	if (!fs_exists(&sim.os.fs, HOLD_PATH))
		others_check_given();
	if (service.config.route.manage && !fs_exists(&sim.os.fs, HOLD_PATH))
		routes_check();
}

/* The events of a script, and 30 s more. */
static void live_script(void)
{
	while (script_next() != UINT64_MAX && !sim.is_failed) {
		serve(script_next());
		script_go_on();
	}
	serve(sim.now_usec + 30 * SEC);
}

static void live_boot(void)
{
	uint64_t faults_usec = sim.now_usec + sim_random(150 * SEC);

	script_go_on();
	start_service();
	if (script_is_on())
		live_script();
	for (unsigned kills = 0; kills < 2 && !script_is_on(); kills++) {
		serve(faults_usec);
		if (!sim.is_cut && sim_random(2) == 0 && !sim.is_failed) {
			sim.is_dead = false;
			sim.n_doors_left = 0;
			memset(sim.jobs, 0, sizeof(sim.jobs));
			if (sim_random(4) == 0) /* while nobody looks */
				others_give_back();
			if (sim_random(3) > 0)
				write_config(true);
			start_service(); /* after a kill, or as a reload */
		}
		if (sim.is_dead)
			return; /* a power cut */
	}
	sim.is_quiet = true;
	others_leave();
	if (!service.is_waiting) /* it looks again without an event */
		life_event();
	serve(sim.now_usec + 720 * SEC); /* each retry comes in that time */
	check_end();
}

/* What of a life's folder may outlive "revert": what is remembered, and who holds still. */
static void check_left(void)
{
	const char *path;

	for (size_t i = 0; (path = disk_next_file(&i));)
		if (!is_prefix(path, "etc/") && !is_prefix(path, "var/lib/rdma-provision/") &&
		    !is_prefix(path, "run/rdma-provision/"))
			sim_fail("/%s outlives revert", path);
}

/* The facts are as they were before the first pass of this boot. */
static void check_facts(const struct ledger_entry *noted, size_t n)
{
	static const char *const gone[] = { PLUGIN_CONFIG_PATH, READY_PATH, RULES_PATH };

	for (size_t i = 0; i < ELEMENTSOF(gone); i++)
		if (fs_exists(&sim.os.fs, gone[i]))
			sim_fail("/%s outlives revert", gone[i]);
	check_left();
	routes_check_reverted();
	priorities_check_reverted();
	for (size_t i = 0; i < sim.n_funcs; i++)
		if (sim.funcs[i].pf < 0 && sim.funcs[i].is_bound && !sim.funcs[i].autoprobe)
			sim_fail("%s: sriov_drivers_autoprobe is off after revert",
				 sim.funcs[i].address);
	/* What could not be noted stays; the log has it. */
	for (size_t i = 0; i < n; i++) {
		const struct func *f = kernel_find(noted[i].target, strlen(noted[i].target));

		if (f && streq(noted[i].verb, verb_name(VERB_SET_NUM_VFS)) && kernel_count(f) > 0 &&
		    !f->is_count_foreign && !f->is_unnoted)
			sim_fail("%s has VFs after revert", f->address);
	}
}

static void check_reverted(void)
{
	_cleanup_(ledger_done) struct ledger noted = {};

	if (sim.is_dead || memory_read(&sim.os.fs, MEMORY_BOOT, &ledger_fields, &noted) < 0)
		return;
	sim.is_quiet = true;
	others_give_back();
	if (revert_all(true) == 0)
		check_facts(noted.entries, noted.n_entries);
}

static unsigned rate(unsigned most)
{
	return sim_random(3) == 0 ? (unsigned)sim_random(most) : 0;
}

/* Two functions that belong together. */
static void plug_pair(const char *first, const char *second, unsigned slot, bool is_port)
{
	const int i = (int)sim.n_funcs;

	kernel_plug(first, slot, 0);
	kernel_plug(second, slot, 1);
	sim.funcs[i].partner = i + 1;
	sim.funcs[i + 1].partner = i;
	sim.funcs[i].is_port = sim.funcs[i + 1].is_port = is_port;
	if (!is_port)
		COPY(sim.funcs[i + 1].mac, sim.funcs[i].mac);
}

static void plug_cards(const char *cards)
{
	char words[64], *save = NULL;
	unsigned slot = 0x41;

	COPY(words, cards);
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save), slot++)
		if (streq(w, "erdma"))
			plug_pair(w, "virtio-pci", slot, false);
		else
			kernel_plug(w, slot, 0);
}

/* @script: the cards of one, or NULL */
static void make_node(const char *script)
{
	static const char *const cards[] = { "ens", "ens", "ens", "igb", "bnxt_en",
					     "ice", "ib",  "enm", "enr", "i40e" };
	const unsigned n = 1 + (unsigned)sim_random(3);

	kernel_plug("igb", 1, 0);
	sim.funcs[0].is_node = true;
	if (script) {
		plug_cards(script);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		kernel_plug(cards[sim_random(ELEMENTSOF(cards))], 0x41 + i, 0);
	if (sim_random(is_life_with_slots() ? 2 : 8) == 0)
		plug_pair("erdma", "virtio-pci", 0x51, false);
	if (sim_random(8) == 0)
		plug_pair("enm", "enm", 0x61, true);
	sim.is_bond_early = sim_random(2) == 0;
	if (sim_random(4) > 0)
		sim.rates = (struct rates){ rate(300), rate(60),  rate(100), rate(300), rate(400),
					    rate(500), rate(100), rate(60),  rate(300), rate(200),
					    rate(300), rate(200), rate(200), rate(100) };
	if (is_life_with_edits())
		sim.rates.command = 300;
}

void life_configure(const char *text)
{
	sim.is_reconfigured = sim.config;
	disk_put(CONFIG_PATH, text);
}

bool life_run(uint64_t seed, const char *cards, bool is_traced)
{
	static const char *const folders[] = { "etc", "etc/rdma-provision", "run", "var",
					       "var/lib" };
	bool verbs[_VERB_N], reasons[_REASON_N];
	unsigned n_boots;

	memcpy(verbs, sim.verbs, sizeof(verbs));
	memcpy(reasons, sim.reasons, sizeof(reasons));
	config_done(&service.config);
	memset(&service, 0, sizeof(service));
	memset(&sim, 0, sizeof(sim));
	memcpy(sim.verbs, verbs, sizeof(verbs));
	memcpy(sim.reasons, reasons, sizeof(reasons));
	sim.seed = sim.random = seed;
	sim.is_traced = is_traced;
	disk_begin();
	make_folders(folders, ELEMENTSOF(folders));
	if (fs_open_root(NULL, &sim.os.fs) < 0)
		return false;

	sim.wall_sec = 1800000000;
	sim.netns_mode = sim_random(4) == 0 ? NETNS_MODE_EXCLUSIVE : NETNS_MODE_SHARED;
	make_node(cards);
	if (script_is_on())
		script_go_on();
	else
		write_config(false);
	n_boots = 1 + (unsigned)(sim_random(2) == 0) + (sim_random(12) == 0);
	if (is_life_with_cuts())
		n_boots = MAX(n_boots, 2);
	for (unsigned i = 1; !sim.is_failed && (script_is_on() ? script_boot() : i <= n_boots);
	     i++) {
		sim.n_doors_left = 0;
		boot(i);
		live_boot();
	}
	check_reverted();
	fs_done(&sim.os.fs);
	if (disk_left_open())
		sim_fail("/%s stays open", disk_left_open());
	return !sim.is_failed;
}
