/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Life: a node from its first boot to "revert": what is plugged in, what is asked for, who comes
 * and goes, what fails; and the service around the passes, at the pace of pace.h.
 */
#include "../../src/base/log.h"
#include "../../src/load.h"
#include "../../src/model/paths.h"
#include "../../src/observe/ledger.h"
#include "../../src/output/state.h"
#include "../../src/pace.h"
#include "../../src/revert.h"
#include "sim.h"

#include <ftw.h>
#include <stdarg.h>
#include <sys/stat.h>

#define CONFIG_PATH "etc/rdma-provision/rdma-provision.conf"
#define SEC         USEC_PER_SEC
#define PASSES_MAX  400 /* of one boot: more is a loop that does not end */

struct sim sim;

/* The service, as watch.c is one. */
static struct {
	struct config config;
	struct pace pace;
	uint64_t started_usec, ready_usec; /* READY=1 is due then */
	uint64_t event_usec, storm_usec, not_before_usec, look_at_usec;
	bool is_first, is_retry, is_ready, is_settled, is_in_pass;
	bool is_command_due; /* of an administrator */
	unsigned n_passes;
} service;

/* What was tried in the present pass. */
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

void life_event(void)
{
	service.event_usec = sim.now_usec;
	if (service.storm_usec == 0)
		service.storm_usec = sim.now_usec;
	pace_hurry(&service.pace);
}

static int degrade(void);

/* To the next thing that happens, or to @until_usec. Return: did anything? */
static bool step(uint64_t until_usec)
{
	const uint64_t kernel = kernel_next();
	const uint64_t other = others_next();
	uint64_t next = MIN(MIN(kernel, other), until_usec);

	if (service.is_in_pass && !service.is_ready)
		next = MIN(next, MAX(service.ready_usec, sim.now_usec));
	sim.now_usec = MAX(next, sim.now_usec);
	if (service.is_in_pass && !service.is_ready && sim.now_usec >= service.ready_usec)
		degrade();
	if (next == kernel)
		others_tell();
	if (next == other)
		others_go_on();
	return next == kernel || next == other;
}

void sim_advance(uint64_t until_usec)
{
	while (sim.now_usec < until_usec && !sim.is_failed)
		step(until_usec);
}

/* --- the service --- */

/* go_without() of watch.c: READY=1 waits for no pass. */
static int degrade(void)
{
	sim_trace("READY=1 without the pass that goes on");
	service.is_ready = service.is_settled = true;
	return run_degrade(&service.config, REASON_READY_TIMEOUT, "a pass");
}

static void read_config(void)
{
	struct config c = {};

	if (load_config(&sim.doors.fs, NULL, &c) < 0)
		return;
	config_done(&service.config);
	service.config = c;
	sim.config = &service.config;
}

static void start_service(void)
{
	config_done(&service.config);
	memset(&service, 0, sizeof(service));
	pace_start(&service.pace);
	read_config();
	service.is_first = service.is_retry = true;
	service.started_usec = sim.now_usec;
	service.ready_usec = sim.now_usec + service.config.service.ready_timeout_usec;
	service.look_at_usec = sim.now_usec;
	fs_remove(&sim.doors.fs, HOLD_PATH);
}

static uint64_t settled_usec(void)
{
	return service.ready_usec - MIN(service.config.service.ready_timeout_usec / 10, 5 * SEC);
}

static struct func *other_vf(const char *pf)
{
	struct func *f = others_any(true);

	return f && !streq(sim.funcs[f->pf].address, pf) ? f : NULL;
}

static void on_start(void *userdata _unused_, const struct action *a,
		     uint64_t deadline_usec _unused_)
{
	sim.verbs[a->verb] = true;
	COPY(sim.doing, a->target);
	if (n_tried < ELEMENTSOF(tried)) {
		tried[n_tried].verb = a->verb;
		COPY(tried[n_tried++].target, a->target);
	}
	sim_trace("%s: %s %s -> %s", a->target, verb_name(a->verb), a->from, a->to);
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

	r = fs_read_all(&sim.doors.fs, STATE_PATH, MAX_STATE_BYTES, false, &text, &size);
	if (r >= 0 && output_read_state(text, NULL, &state) < 0)
		sim_fail("state.json cannot be read");
	else if (r < 0 && r != -ENOENT)
		sim_fail("state.json: %s", strerror(-r));
	if (fs_exists(&sim.doors.fs, READY_PATH) && r >= 0 && !sim.is_dead && state != NODE_READY)
		sim_fail("\"ready\" is there beside a state that is %s", node_state_name(state));
}

static bool was_tried(const struct failure *f)
{
	for (size_t i = 0; i < n_tried; i++)
		if (streq(verb_name(tried[i].verb), f->verb) && streq(tried[i].target, f->target))
			return true;
	return false;
}

/* What failed on a card that is not there any more has not failed on the one that is. */
static void check_failures(bool is_quiet)
{
	_cleanup_(node_done) struct node n = {};
	_cleanup_(freep) char *text = NULL;
	bool is_any = false;
	size_t size;

	for (size_t i = 0; i < sim.n_funcs; i++)
		is_any |= sim.funcs[i].is_replaced;
	if (is_any && is_quiet &&
	    fs_read_all(&sim.doors.fs, STATE_PATH, MAX_STATE_BYTES, false, &text, &size) >= 0)
		output_parse_memory(text, sim.boot_id, &n);
	for (size_t i = 0; i < n.n_failures; i++) {
		const struct failure *f = &n.failures[i];
		const struct func *func = kernel_find(f->target, strlen(f->target));

		if (func && func->is_replaced && func->instance == f->instance && !was_tried(f))
			sim_fail("%s: %s failed on the card before, and is not tried on this one",
				 f->target, f->verb);
	}
	for (size_t i = 0; i < sim.n_funcs; i++)
		sim.funcs[i].is_replaced = false;
}

static int run_once(struct pass_result *ret)
{
	const struct world w = sim_world();
	const struct pass pass = {
		.config = &service.config,
		.is_settled = service.is_settled,
		.settled_usec = service.is_settled ? 0 : settled_usec(),
		.is_retry = service.is_retry,
		.is_kept = true,
		.is_service = true,
		.is_first = service.is_first,
		.on_start = on_start,
	};
	const unsigned n_before = sim.n_file_writes;
	const uint64_t begun_usec = sim.now_usec;
	int r;

	sim_trace("pass %u%s", ++service.n_passes, service.is_retry ? ", tries again" : "");
	service.is_retry = false;
	service.storm_usec = 0;
	service.is_in_pass = true;
	n_tried = 0;
	r = run_pass(&w, &pass, ret);
	service.is_in_pass = false;
	if (sim.n_file_writes > n_before)
		check_memory();
	if (r >= 0 && !sim.is_dead)
		check_failures(service.event_usec < begun_usec);
	return r;
}

static void tell_ready(void)
{
	if (service.is_ready)
		return;
	sim_trace("READY=1");
	service.is_ready = service.is_settled = true;
}

static void make_pass(void)
{
	struct pass_result result = {};
	const uint64_t settle = service.config.service.settle_usec;
	uint64_t look;
	int r = run_once(&result);

	if (sim.is_dead)
		return;
	sim_trace("= %s, %d changes, %d failed, %" PRIu32 " waiting%s", result.summary,
		  result.n_changes, result.n_failed, result.n_waiting, r < 0 ? ", no result" : "");
	service.is_first = service.is_first && r < 0;
	if (r >= 0 && result.state != NODE_STARTING)
		tell_ready();
	if (r < 0 && service.is_settled) {
		run_degrade(&service.config, REASON_WORKER_DIED, strerror(-r));
		tell_ready();
	}
	service.not_before_usec = result.n_lost > 0 ? sim.now_usec + settle : 0;
	look = pace_after(&service.pace, r < 0 ? NULL : &result, settle, false, sim.now_usec);
	service.look_at_usec = look;
}

/* When the next pass begins, and whether it is one that tries again. */
static uint64_t next_pass(void)
{
	uint64_t when = MIN(service.look_at_usec, service.pace.retry_at_usec);

	if (service.storm_usec > 0)
		when = MIN(when, pace_settle(service.config.service.settle_usec, service.event_usec,
					     service.storm_usec, service.not_before_usec));
	if (!service.is_settled)
		when = MIN(when, MAX(settled_usec(), sim.now_usec));
	return when;
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
	r = revert(&w, with_vfs);
	sim.is_removal_asked = sim.is_by_hand = sim.is_reverting = false;
	sim_trace("revert%s: %d", with_vfs ? " --vfs" : "", r);
	return r;
}

/* "apply", without what it waits for. */
static void apply_by_hand(void)
{
	const struct world w = sim_world();
	const struct pass pass = { .config = &service.config,
				   .is_retry = true,
				   .is_kept = true,
				   .is_first = true,
				   .on_start = on_start };
	struct pass_result result = {};

	sim.is_by_hand = true;
	run_pass(&w, &pass, &result);
	sim.is_by_hand = false;
	sim_trace("apply: %s", result.summary);
}

/* What is killed meanwhile is the command, not the service. */
static void run_command(void)
{
	const unsigned what = (unsigned)sim_random(4);

	service.is_command_due = false;
	sim_trace("a command of an administrator");
	if (what < 2)
		revert_all(what == 1);
	else if (what == 2)
		apply_by_hand();
	if (what == 3 || sim_random(3) == 0) { /* "reload" */
		fs_remove(&sim.doors.fs, HOLD_PATH);
		service.is_first = service.is_retry = true;
	}
	if (sim.is_failed)
		return;
	sim.is_dead = false;
	sim.n_doors_left = 0;
	life_event();
}

/* Passes until then; the last of them may end later. */
static void serve(uint64_t until_usec)
{
	while (!sim.is_dead && sim.now_usec < until_usec) {
		const uint64_t when = next_pass();

		if (service.is_command_due) {
			run_command();
			continue;
		}
		if (when > sim.now_usec) { /* what happens on the way may bring it forward */
			step(MIN(when, until_usec));
			continue;
		}
		if (!service.is_settled && sim.now_usec >= settled_usec())
			service.is_settled = true;
		service.is_retry = service.is_retry || service.pace.retry_at_usec <= sim.now_usec;
		if (service.n_passes >= PASSES_MAX) {
			sim_fail("%u passes, and no end", service.n_passes);
			return;
		}
		make_pass();
		if (!service.is_ready && sim.now_usec > service.ready_usec)
			sim_fail("READY=1 did not come in time");
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

/* @is_other: one after another in the same life, often of the same cards. */
static void write_config(bool is_other)
{
	static const char *match;
	char text[2048], path[160];
	FILE *f;
	int n;

	n = snprintf(text, sizeof(text),
		     "[Service]\nReadyTimeoutSec=%s\nSettleSec=%s\n[DevicePlugin]\nType=%s\n",
		     PICK("60", "120", "300"), PICK("0.1", "0.5", "2"),
		     PICK("none", "rdma-shared", "sriov", "hca"));
	if (sim_random(3) == 0)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      "Manifest=/run/pods/plugin.yaml\nImage=example.com/plugin:1\n"
			      "[Output]\nMetrics=/run/metrics/node.prom\n"
			      "NFD=/run/metrics/features\n");
	if (!is_other || sim_random(3) == 0)
		match = PICK("driver:mlx5_core", "driver:mlx5_core", "driver:*", "id:15b3:101d",
			     "driver:erdma driver:mlx5_core", "driver:bnxt_en driver:ice");
	n += snprintf(text + n, sizeof(text) - (size_t)n, "[Device rdma]\nMatch=%s\n", match);
	switch (sim_random(6)) {
	case 0:
		n += snprintf(text + n, sizeof(text) - (size_t)n, "VirtualFunctions=exclusive\n");
		break;
	case 1:
		n += snprintf(text + n, sizeof(text) - (size_t)n, "VirtualFunctions=shared\n");
		break;
	case 2:
		break;
	default:
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      "VirtualFunctions=shared-multi\nCount=%s\n",
			      PICK("1", "2", "2", "3", "4", "9", "max"));
	}
	if (sim_random(3) == 0)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "MTU=%s\n",
			      PICK("4200", "9000", "1500", "65000"));
	if (sim_random(3) == 0)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "Trust=%s\n", PICK("yes", "no"));
	if (sim_random(8) == 0)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "Identity=keep\n");
	if (sim_random(8) == 0)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "Expect=%s\n", PICK("1", "9"));
	if (sim_random(30) == 0)
		snprintf(text + n, sizeof(text) - (size_t)n, "Nonsense=%s\n", PICK("1", "9"));
	sim_trace("configuration:\n%s", text);

	snprintf(path, sizeof(path), "%s/" CONFIG_PATH, sim.root);
	f = fopen(path, "we");
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

/* --- boots --- */

static void make_folders(const char *const *folders, size_t n)
{
	char path[160];

	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", sim.root, folders[i]);
		mkdir(path, 0755);
	}
}

static int remove_one(const char *path, const struct stat *st _unused_, int kind _unused_,
		      struct FTW *at)
{
	return at->level > 0 ? remove(path) : 0;
}

static void empty(const char *folder)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", sim.root, folder);
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void boot(unsigned number)
{
	static const char *const folders[] = { "run", "run/metrics", "run/pods" };

	sim_trace("--- boot %u ---", number);
	empty("run");
	make_folders(folders, ELEMENTSOF(folders));
	snprintf(sim.boot_id, sizeof(sim.boot_id), "%08x-0000-4000-8000-%012" PRIx64, number,
		 sim.seed & 0xffffffffffff);
	snprintf(sim.kernel, sizeof(sim.kernel), "6.%u.0",
		 1 + (unsigned)sim_random(1 + number % 3));
	sim.package = (uint32_t)sim_random(1 + number % 2);
	sim.now_usec = 20 * SEC;
	sim.is_quiet = false;
	sim.state_hash[0] = '\0';
	kernel_boot();
	others_begin();
}

/*
 * Without new faults nothing is left to be done. One more pass may write what the last one has
 * seen, as that a function is in a pod now; after that one nothing is written at all.
 */
static void check_end(void)
{
	struct pass_result result = {};

	for (unsigned i = 0; i < 2 && !sim.is_dead; i++) {
		sim.n_kernel_writes = sim.n_file_writes = 0;
		if (run_once(&result) < 0)
			sim_fail("a pass without a fault fails");
		if (result.state == NODE_STARTING)
			sim_fail("the node is never more than starting");
		if (result.n_changes > 0 || sim.n_kernel_writes > 0 ||
		    (i > 0 && sim.n_file_writes > 0))
			sim_fail("%d changes, %u writes to the kernel and %u to files on a "
				 "finished node",
				 result.n_changes, sim.n_kernel_writes, sim.n_file_writes);
	}
}

static void live_boot(void)
{
	uint64_t faults_usec = sim.now_usec + sim_random(150 * SEC);

	start_service();
	for (unsigned kills = 0; kills < 2; kills++) {
		serve(faults_usec);
		if (sim_random(2) == 0 && !sim.is_failed) {
			sim.is_dead = false;
			sim.n_doors_left = 0;
			memset(sim.jobs, 0, sizeof(sim.jobs));
			if (sim_random(3) > 0)
				write_config(true);
			start_service(); /* after a kill, or as a reload */
		}
		if (sim.is_dead)
			return; /* a power cut */
	}
	sim.is_quiet = true;
	others_leave();
	life_event();
	serve(sim.now_usec + 650 * SEC); /* each retry comes in that time */
	check_end();
}

/* What of a life's folder may outlive "revert": what is remembered, and who holds still. */
static int check_left(const char *path, const struct stat *st _unused_, int kind,
		      struct FTW *at _unused_)
{
	static const char *const kept[] = { "/etc/", "/var/lib/rdma-provision/",
					    "/run/rdma-provision/" };
	const char *name = path + strlen(sim.root);

	for (size_t i = 0; i < ELEMENTSOF(kept); i++)
		if (kind != FTW_F || is_prefix(name, kept[i]))
			return 0;
	sim_fail("%s outlives revert", name);
	return 0;
}

/* The facts are as they were before the first pass of this boot. */
static void check_facts(const struct ledger_entry *noted, size_t n)
{
	static const char *const gone[] = { PLUGIN_CONFIG_PATH, READY_PATH, RULES_PATH };

	for (size_t i = 0; i < ELEMENTSOF(gone); i++)
		if (fs_exists(&sim.doors.fs, gone[i]))
			sim_fail("/%s outlives revert", gone[i]);
	nftw(sim.root, check_left, 8, FTW_PHYS);
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
	_cleanup_(freep) struct ledger_entry *noted = NULL;
	size_t n = 0;

	if (sim.is_dead || ledger_read(&sim.doors.fs, &noted, &n) < 0)
		return;
	sim.is_quiet = true;
	others_give_back();
	if (revert_all(true) == 0)
		check_facts(noted, n);
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
	sim.funcs[i].is_port = sim.funcs[i + 1].is_port = is_port;
	if (is_port)
		sim.funcs[i + 1].partner = i;
	else
		COPY(sim.funcs[i + 1].mac, sim.funcs[i].mac);
}

static void make_node(void)
{
	static const char *const cards[] = { "ens", "ens", "ens", "igb", "bnxt_en",
					     "ice", "ib",  "enm", "enr", "i40e" };
	const unsigned n = 1 + (unsigned)sim_random(3);

	kernel_plug("igb", 1, 0);
	sim.funcs[0].is_node = true;
	for (unsigned i = 0; i < n; i++)
		kernel_plug(cards[sim_random(ELEMENTSOF(cards))], 0x41 + i, 0);
	if (sim_random(8) == 0)
		plug_pair("erdma", "virtio-pci", 0x51, false);
	if (sim_random(8) == 0)
		plug_pair("enm", "enm", 0x61, true);
	sim.is_bond_known = sim_random(2) == 0;
	if (sim_random(4) > 0)
		sim.rates = (struct rates){ rate(300), rate(60),  rate(100), rate(300), rate(400),
					    rate(500), rate(100), rate(60),  rate(300), rate(200),
					    rate(300), rate(200), rate(200), rate(100) };
}

bool life_run(uint64_t seed, const char *root, bool is_traced)
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
	COPY(sim.root, root);
	empty("run");
	empty("var");
	make_folders(folders, ELEMENTSOF(folders));
	if (fs_open_root(root, &sim.doors.fs) < 0)
		return false;

	sim.wall_sec = 1800000000;
	sim.netns_mode = sim_random(4) == 0 ? NETNS_MODE_EXCLUSIVE : NETNS_MODE_SHARED;
	make_node();
	write_config(false);
	n_boots = 1 + (unsigned)(sim_random(2) == 0) + (sim_random(12) == 0);
	for (unsigned i = 1; i <= n_boots && !sim.is_failed; i++) {
		sim.is_dead = false;
		sim.n_doors_left = 0;
		boot(i);
		live_boot();
	}
	check_reverted();
	fs_done(&sim.doors.fs);
	return !sim.is_failed;
}
