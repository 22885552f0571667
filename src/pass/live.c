/* SPDX-License-Identifier: Apache-2.0 */
#include "live.h"

#include "../base/document.h"
#include "../base/log.h"
#include "../device/ibdev-observe.h"
#include "../device/pci-observe.h"
#include "../device/rdma-observe.h"
#include "../guard/places-observe.h"
#include "../guard/process-observe.h"
#include "../guard/users-observe.h"
#include "../health/limits-observe.h"
#include "../kubelet/look.h"
#include "../model/link-log.h"
#include "../model/memory.h"
#include "../model/module-options.h"
#include "../model/paths.h"
#include "../module/modprobe-observe.h"
#include "../module/module-observe.h"
#include "../os/child.h"
#include "../os/kmsg.h"
#include "../os/memory-file.h"
#include "../os/smc.h"
#include "../os/snapshot.h"
#include "../os/verbs-ask.h"
#include "../plugin/plugin-observe.h"
#include "../step/observers.h"

#include <poll.h>

#define MAX_ANSWERS_BYTES (64u << 20) /* a node with full Internet routes */
#define MAX_RULES_BYTES   (1u << 20)

/*
 * Reads the answers of netlink and others that a tree, captured or written by hand, has beside its
 * files (snapshot.h). Return: 0, also without any, or -errno.
 */
static int read_answers(const struct fs *fs, struct node *n)
{
	_cleanup_(freep) char *text = NULL;
	char problem[256] = "";
	int r = fs_read_all(fs, ANSWERS_PATH, MAX_ANSWERS_BYTES, false, &text, NULL);

	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		r = snapshot_read(text, n, problem, sizeof(problem));
	if (r < 0)
		log_error_errno(r, "%s", problem[0] ? problem : ANSWERS_PATH);
	return r;
}

static void observe_outputs(const struct fs *fs, struct node *n)
{
	const int r = fs_read_all(fs, RULES_PATH, MAX_RULES_BYTES, false, &n->rules_file, NULL);

	if (!node_note(n, r) && r != -ENOENT && r != -ENOMEM)
		log_debug_errno(r, "/" RULES_PATH ": not ours, will be replaced");
}

/* Parses the head of state.json, which are its first keys: the devices after it may be many. */
static int parse_head(char *text, size_t size, json_t **ret)
{
	char *end = memmem(text, size, ",\n  \"reasons\"", strlen(",\n  \"reasons\""));

	if (end) {
		strcpy(end, "}");
		size = (size_t)(end - text) + 1;
	}
	return document_parse(text, size, JSON_REJECT_DUPLICATES, ret, NULL);
}

/* Reads the head of state.json. If the file is missing or not ours, @ret stays as it is. */
static void read_head(const struct fs *fs, struct node *n, struct state_head *ret)
{
	_cleanup_(freep) char *text = NULL;
	json_auto_t *document = NULL;
	struct state_head head = {};
	size_t size;
	int r = fs_read_all(fs, STATE_PATH, MAX_STATE_BYTES, false, &text, &size);

	if (r >= 0)
		r = parse_head(text, size, &document);
	if (r >= 0)
		r = fields_parse(&state_head_fields, document, &head, NULL);
	if (node_note(n, r))
		*ret = head;
	else if (r != -ENOENT)
		log_debug_errno(r, STATE_PATH ": not used");
}

static void recall(const struct fs *fs, struct node *n, struct memory *memory)
{
	struct state_head head = {};
	struct ledger ledger = {};
	struct boots boots = {};
	const struct memory_table tables[] = { { &pass_memory_fields, memory },
					       { &ledger_fields, &ledger },
					       { &boots_fields, &boots } };

	read_head(fs, n, &head);
	if (node_note(n, memory_read_tables(fs, MEMORY_BOOT, tables, ELEMENTSOF(tables))))
		memory_take(memory, n->boot_id, &head);
	memory->ledger = ledger.entries;
	memory->n_ledger = ledger.n_entries;
	memory->boots = boots.entries;
	memory->n_boots = boots.n_entries;
}

/* Is @pid a process of ours? The kernel reuses PIDs, so its command is compared. */
static bool is_ours(const struct fs *fs, uint32_t pid)
{
	char command[32];

	return pid > 0 &&
	       fs_read(fs, FS_PATH("proc/%" PRIu32 "/comm", pid), command, sizeof(command)) >= 0 &&
	       streq(command, program_invocation_short_name);
}

/* Notes a write of this pass that got stuck, and forgets stuck processes that are gone by now. */
static void find_stuck(const struct fs *fs, const struct attempts *tried, struct memory *memory)
{
	for (size_t i = 0; tried && i < tried->n_actions; i++) {
		const struct action *a = &tried->actions[i];

		if (a->verb != VERB_SET_NUM_VFS || !a->is_done || a->result != -ETIMEDOUT)
			continue;
		COPY(memory->stuck, a->target);
		memory->stuck_pid = a->pid;
	}
	if (!is_ours(fs, memory->stuck_pid) && fs->is_live)
		memory->stuck[0] = '\0';
	if (!is_ours(fs, memory->devlink_pid))
		memory->devlink_pid = 0;
	for (size_t i = 0; i < memory->n_devices; i++)
		if (!is_ours(fs, memory->devices[i].sick_pid))
			memory->devices[i].sick_pid = 0;
}

int observe_memory(const struct fs *fs, const struct attempts *tried, struct node *n,
		   struct memory *memory)
{
	recall(fs, n, memory);
	n->is_held = fs_exists(fs, HOLD_PATH) != 0; /* also when that is not known */
	find_stuck(fs, tried, memory);
	observe_boots(fs, n, memory);
	return node_result(n);
}

void observe_writer(const struct fs *fs, const struct node *n, const struct attempts *tried,
		    struct memory *memory)
{
	FOREACH_WHILE(pf, n->pcis, n->n_pcis, fs->is_live && !memory->stuck[0]) {
		int pid;

		if (!pf->has_sriov || attempts_changing_vfs(tried, pf->address))
			continue;
		pid = fs_writer(fs, FS_PATH("sys/bus/pci/devices/%s/sriov_numvfs", pf->address));
		if (pid > 0 && is_ours(fs, (uint32_t)pid)) {
			const uint64_t age = process_age_usec(fs, FS_PATH("%d", pid));

			COPY(memory->stuck, pf->address);
			memory->stuck_pid = (uint32_t)pid;
			if (age < verb_deadline_usec(VERB_SET_NUM_VFS, pf->total_vfs))
				memory->stuck_sec = (uint32_t)(age / USEC_PER_SEC) + 1;
		}
	}
}

/*
 * Reads SMC's table of PNETIDs, with the entries of all programs, if the module smc is in the
 * kernel. A captured tree has the table in its answers. A table that cannot be read is no error.
 */
static void observe_smc(struct os *d, struct node *n)
{
	const struct module *m = node_module(n, SMC_MODULE);
	int r;

	if (!d->fs.is_live || !m || (m->state != MODULE_LOADED && m->state != MODULE_BUILTIN))
		return;

	r = smc_list(&d->generic, &n->pnets, &n->n_pnets);
	n->has_pnets = node_note(n, r);
	if (r < 0 && r != -ENOMEM)
		log_debug_errno(r, "The table of PNETIDs cannot be read");
}

/*
 * The folders "net" and "infiniband" of a function are there while a netdev, or an RDMA device, is
 * in any namespace: get_device_parent() and cleanup_glue_dir() in drivers/base/core.c.
 */
static void look_for_aways(const struct fs *fs, struct node *n)
{
	static const char *const folders[] = { "net", "infiniband" };
	struct fs quiet = *fs; /* a captured tree has no empty folders */

	quiet.on_read = NULL;
	FOREACH_WHILE(pci, n->pcis, n->n_pcis, fs->is_live) {
		const bool lacks[] = { !node_netdev_of(n, pci->address),
				       !node_ibdev_of(n, pci->address) };
		int found = 0;

		if (!pci->driver[0] || !rdma_part_of(pci->driver) || !(lacks[0] || lacks[1]))
			continue;
		for (size_t k = 0; k < ELEMENTSOF(lacks) && found == 0; k++)
			if (lacks[k])
				found = fs_exists(&quiet, FS_PATH("sys/bus/pci/devices/%s/%s",
								  pci->address, folders[k]));
		pci->is_searched = found >= 0;
		pci->is_away = found > 0;
	}
}

/* Looks at VFs and RDMA devices, and makes the indexes again. */
static int observe_devices(struct os *d, struct node *n, const struct memory *memory)
{
	int r;

	observe_vfs(d, n, memory);
	r = observe_rdma(d, n, memory);
	node_make_indexes(n);
	look_for_aways(&d->fs, n);
	observe_adevs(&d->fs, n);
	return r;
}

/* Warns about files that a copied tree lacks: what they show is unknown, not missing. */
static void say_unknown(const struct fs *fs, const struct node *n)
{
	const struct {
		bool is_here;
		const char *part, *words;
	} rows[] = { { !n->lacks_net, "proc/net", "addresses, routes and users of devices" },
		     { fs_exists(fs, "sys/module") && fs_exists(fs, "lib/modules"),
		       fs_exists(fs, "sys/module") ? "sys/module" : MODULES_PATH,
		       "kernel modules" },
		     { n->has_functions, "", "PCI functions" },
		     { n->n_netdevs > 0, "", "network devices" },
		     { n->n_ibdevs > 0, "", "RDMA devices" },
		     { fs_exists(fs, "run/udev/data"), "", "names by udev" },
		     { fs_exists(fs, "dev"), "", "character devices" },
		     { fs_exists(fs, "etc/systemd"), "", "/etc/systemd" } };
	char words[256] = "";

	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		if (!rows[i].is_here && (n->is_copy || i == 0)) {
			const bool is_part = rows[i].part[0] && fs_exists(fs, rows[i].part);

			append_word(words, sizeof(words), ", ", "%s%s%s", rows[i].words,
				    is_part ? " beyond /" : "", is_part ? rows[i].part : "");
		}
	if (*words)
		log_warning("Not in this tree, and so neither known nor judged: %s%s", words,
			    n->has_functions ? "" : "; --root= takes the folder that has sys");
}

/* Everything the plan needs that is not of the configuration, in one look. */
static int observe_node(struct os *d, const struct attempts *tried, struct node *ret,
			struct memory *ret_memory)
{
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	int r;

	fs_read(&d->fs, "proc/sys/kernel/osrelease", n.kernel, sizeof(n.kernel));
	fs_read(&d->fs, "proc/sys/kernel/random/boot_id", n.boot_id, sizeof(n.boot_id));

	n.is_copy = n.lacks_net = !d->fs.is_live && !fs_exists(&d->fs, ANSWERS_PATH);
	r = observe_memory(&d->fs, tried, &n, &memory);
	if (r >= 0)
		r = observe_pci(&d->fs, &n, &memory);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n.n_pcis; i++)
		n.pcis[i].is_busy = attempts_is_being_written(tried, n.pcis[i].address);
	observe_writer(&d->fs, &n, tried, &memory);
	if (!d->fs.is_live)
		r = read_answers(&d->fs, &n);
	if (r < 0)
		return r;
	if (!d->fs.is_live)
		observe_socks(d, &n);
	r = observe_net(d, &n);
	if (r < 0)
		return r;
	observe_signs(&d->fs, &n);
	observe_metadata(&d->fs, &n, &memory);
	observe_cni(&d->fs, &n, &memory);
	r = observe_devices(d, &n, &memory);
	if (r < 0)
		return r;
	say_unknown(&d->fs, &n);
	node_forget_replaced(&n, &memory); /* before it is used */
	r = observe_modules(d, &n);
	if (r < 0)
		return r;
	observe_smc(d, &n);
	observe_rdma_cm(&d->fs, &n);
	observe_limits(&d->fs, &n);
	observe_outputs(&d->fs, &n);
	r = observe_options(&d->fs, &n);
	if (r >= 0)
		r = node_result(&n);
	if (r < 0)
		return r;

	if (os_is_incomplete(d))
		log_warning(OS_INCOMPLETE ": some of them may be missing from this look");
	*ret = TAKE_STRUCT(n);
	*ret_memory = TAKE_STRUCT(memory);
	return 0;
}

static int look_at(struct os *d, const struct config *c, const struct attempts *tried,
		   struct node *ret, struct memory *ret_memory)
{
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	int r = observe_node(d, tried, &n, &memory);

	if (r < 0)
		return log_error_errno(r, "The node cannot be observed");

	r = kubelet_look(&d->fs, c, n.is_copy, &n.kubelet, &n.kubelet_decision);
	if (r < 0)
		return r;
	observe_places(&d->fs, &n, &memory);
	observe_destinations_ask(d, &n);
	if (d->link_log)
		link_log_give(d->link_log, &n);
	observe_health(d, &n, &memory);
	r = observe_generated(&d->fs, c);
	n.is_generated_stale = r > 0;
	observe_plugin(&d->fs, c, &n, &memory);
	observe_files(&d->fs, c, &n);
	if (r >= 0)
		r = node_result(&n);
	if (r < 0)
		return r;
	/* A file whose absence is not known either would count as absent. */
	if (d->fs.unread->error < 0)
		return log_error_errno(d->fs.unread->error, "The node cannot be observed: /%s",
				       d->fs.unread->path);

	*ret = TAKE_STRUCT(n);
	*ret_memory = TAKE_STRUCT(memory);
	return 0;
}

static int look(void *userdata, const struct config *c, const struct attempts *tried,
		struct node *ret, struct memory *ret_memory)
{
	struct os *d = userdata;
	struct fs_unread *callers = d->fs.unread, unread = {};
	int r;

	d->fs.unread = &unread;
	r = look_at(d, c, tried, ret, ret_memory);
	d->fs.unread = callers;
	for (size_t i = 0; i < MIN(unread.n, ELEMENTSOF(unread.paths)); i++) {
		fs_note_unread(&d->fs, unread.paths[i], -EACCES);
		if (!callers)
			log_warning_errno(-EACCES, "/%s", unread.paths[i]);
	}
	return r;
}

/* --- questions --- */

static bool is_there(const struct fs *fs, const struct ibdev *ib)
{
	char name[IBDEV_LEN];

	observe_text(fs, FS_PATH("sys/class/infiniband_verbs/%s/ibdev", ib->uverbs), name,
		     sizeof(name));
	return streq(name, ib->name);
}

/* Return: 0, 1 when @result proves nothing about the device, or -errno; see struct ibdev. */
static int judge_verbs(const struct fs *fs, const struct ibdev *ib, int result)
{
	log_debug("%s: libibverbs: %s", ib->name, result < 0 ? strerror(-result) : "opened");

	/* Without permission to open the device nothing is learnt about it. */
	if (result == -EACCES || result == -EPERM)
		return 1;
	/* A device that has left since it was seen has not failed: its removal is an event. */
	return result < 0 && !is_there(fs, ib) ? 1 : result;
}

static uint32_t mtu_of(const struct node *n, const struct ibdev *ib)
{
	const struct netdev *nd = node_netdev_named(n, ib->netdev);

	return nd ? nd->mtu : 0;
}

static bool recall_opened(const struct os *d, const struct node *n, struct ibdev *ib)
{
	for (size_t i = 0; i < d->n_opened && ib->index != UINT32_MAX; i++)
		if (d->opened[i].index == ib->index && d->opened[i].mtu == mtu_of(n, ib)) {
			ib->active_mtu = d->opened[i].active_mtu;
			ib->verbs = 0;
			return true;
		}
	return false;
}

static void note_opened(struct os *d, struct node *n, const struct ibdev *ib)
{
	const struct opened o = { ib->index, ib->active_mtu, mtu_of(n, ib) };

	if (ib->verbs == 0)
		node_note(n, ADD(d->opened, d->n_opened, o));
}

int observe_verbs(struct os *d, const struct questions *q, struct node *n)
{
	_cleanup_(freep) struct verbs_answer *answers = calloc(q->n_ibdevs, sizeof(*answers));
	_cleanup_(freep) char(*names)[IBDEV_LEN] = calloc(q->n_ibdevs, sizeof(*names));
	size_t n_names = 0;
	int n_tried = 0;

	if (!questions_ask(q, QUESTION_VERBS))
		return 0;
	if (!node_note(n, answers && names ? 0 : -ENOMEM))
		return 0;
	for (size_t i = 0; i < q->n_ibdevs; i++) {
		struct ibdev *ib = (struct ibdev *)node_ibdev_named(n, q->ibdevs[i]);

		if (ib && recall_opened(d, n, ib))
			n_tried++;
		else if (ib && ib->uverbs[0])
			COPY(names[n_names++], q->ibdevs[i]);
	}
	if (n_names > 0)
		verbs_try((const char(*)[IBDEV_LEN])names, n_names, answers);
	for (size_t i = 0; i < n_names; i++) {
		struct ibdev *ib = (struct ibdev *)node_ibdev_named(n, names[i]);

		/* Another device of that name may have come since. */
		if (answers[i].result == -ENODEV && is_there(&d->fs, ib))
			verbs_try((const char(*)[IBDEV_LEN])names + i, 1, &answers[i]);
		ib->active_mtu = answers[i].active_mtu;
		ib->verbs = judge_verbs(&d->fs, ib, answers[i].result);
		note_opened(d, n, ib);
		n_tried += ib->verbs != 1;
	}
	return n_tried;
}

static int answer(void *userdata, const struct questions *q, const struct memory *memory,
		  struct node *n)
{
	struct os *d = userdata;
	int n_known, r;

	observe_pcie(&d->fs, q, n); /* nothing is planned by it */
	observe_vf_owners(&d->fs, q, n);
	n_known = observe_log(&d->fs, q, n);
	n_known += observe_link_downed(&d->fs, q, n);
	if (d->fs.is_live && questions_ask(q, QUESTION_USERS)) {
		observe_users(d, n, memory);
		n_known++;
	}
	if (d->fs.is_live && questions_ask(q, QUESTION_SOCKS)) {
		observe_socks(d, n);
		n_known++;
	}
	if (d->fs.is_live)
		n_known += observe_verbs(d, q, n) + observe_lookups(d, q, n);
	r = observe_dcbs(d, q, n, memory);
	return node_result(n) ?: n_known + r > 0;
}

/* --- clock and children --- */

static uint64_t tell_usec(void *userdata _unused_)
{
	return now_usec();
}

static int64_t tell_sec(void *userdata _unused_)
{
	return time(NULL);
}

static int begin(void *userdata _unused_, struct child *c, size_t i)
{
	return child_begin(c, i);
}

static int end(void *userdata _unused_, struct child *c, uint64_t until_usec, char *ret_error,
	       size_t size)
{
	return child_end(c, until_usec, ret_error, size);
}

static int wait_until(void *userdata _unused_, struct pollfd *fds, size_t n, uint64_t until_usec)
{
	const uint64_t now = now_usec();
	const uint64_t msec = until_usec > now ? (until_usec - now) / USEC_PER_MSEC + 1 : 0;

	return poll(fds, n, (int)MIN(msec, UINT64_C(3600000)));
}

struct world live_world(struct os *d)
{
	return (struct world){ .os = d,
			       .now_usec = tell_usec,
			       .time_sec = tell_sec,
			       .look = look,
			       .answer = answer,
			       .begin = begin,
			       .end = end,
			       .finish = child_done,
			       .leave = child_leave,
			       .wait = wait_until,
			       .userdata = d };
}
