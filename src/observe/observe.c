/* SPDX-License-Identifier: Apache-2.0 */
#include "observe.h"

#include "../base/log.h"
#include "../doors/verbs.h"
#include "../model/paths.h"
#include "answers.h"
#include "boots.h"
#include "cpus.h"
#include "ibdev.h"
#include "kubelet.h"
#include "limits.h"
#include "metadata.h"
#include "modprobe.h"
#include "module.h"
#include "net.h"
#include "netconfig.h"
#include "networkd.h"
#include "pci.h"
#include "rdma.h"
#include "smc.h"
#include "users.h"
#include "vf.h"

#define MAX_ANSWERS_BYTES (64u << 20) /* a node with full Internet routes */
#define MAX_RULES_BYTES   (1u << 20)

int observe_answers(const struct fs *fs, struct node *n)
{
	_cleanup_(freep) char *text = NULL;
	char problem[256] = "";
	size_t size;
	int r;

	r = fs_read_all(fs, ANSWERS_PATH, MAX_ANSWERS_BYTES, false, &text, &size);
	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		r = answers_read(text, n, problem, sizeof(problem));
	if (r < 0)
		log_error_errno(r, "%s", problem[0] ? problem : ANSWERS_PATH);
	return r;
}

/* Files that may be absent or unreadable for this user: what they would tell stays unknown. */
static void read_optional(const struct fs *fs, const char *path, char *ret, size_t size)
{
	if (fs_read(fs, path, ret, size) < 0)
		ret[0] = '\0';
}

static int observe_outputs(const struct fs *fs, struct node *n)
{
	size_t size;
	int r;

	r = fs_read_all(fs, RULES_PATH, MAX_RULES_BYTES, false, &n->rules_file, &size);
	if (r < 0 && r != -ENOENT && r != -ENOMEM)
		log_debug_errno(r, "/" RULES_PATH ": not ours, will be replaced");
	return r == -ENOMEM ? r : 0;
}

static int recall(const struct fs *fs,
		  int (*parse_memory)(const char *json, const char *boot_id, struct node *n),
		  struct node *n)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, STATE_PATH, MAX_STATE_BYTES, false, &text, &size);
	if (r < 0)
		return r == -ENOMEM ? r : 0; /* absent, or nothing that we wrote */

	r = parse_memory(text, n->boot_id, n);
	if (r < 0 && r != -ENOMEM) {
		log_debug_errno(r, STATE_PATH ": not used");
		r = 0;
	}
	return r;
}

/* A number is given to another process in the end, which is no program of ours. */
static bool is_ours(const struct fs *fs, uint32_t pid)
{
	char path[64], command[32];

	snprintf(path, sizeof(path), "proc/%" PRIu32 "/comm", pid);
	return pid > 0 && fs_read(fs, path, command, sizeof(command)) >= 0 &&
	       streq(command, program_invocation_short_name);
}

/* What got stuck, in this pass or before, is so until its process is gone. */
static void find_stuck(const struct fs *fs, const struct plan *tried, struct node *n)
{
	const struct action *stuck = tried ? plan_stuck(tried) : NULL;

	if (stuck) {
		COPY(n->stuck, stuck->target);
		n->stuck_pid = stuck->pid;
	}
	if (!is_ours(fs, n->stuck_pid) && fs->is_live)
		n->stuck[0] = '\0';
	for (size_t i = 0; i < n->n_memories; i++)
		if (!is_ours(fs, n->memories[i].sick_pid))
			n->memories[i].sick_pid = 0;
}

static void find_busy(const struct plan *tried, struct node *n)
{
	for (size_t i = 0; tried && i < tried->n_actions; i++)
		for (size_t k = 0; k < n->n_pcis && tried->actions[i].is_running; k++)
			n->pcis[k].is_busy |= streq(n->pcis[k].address, tried->actions[i].target);
}

int observe_memory(const struct fs *fs,
		   int (*parse_memory)(const char *json, const char *boot_id, struct node *n),
		   const struct plan *tried, struct node *n)
{
	int r;

	n->is_held = fs_exists(fs, HOLD_PATH);
	r = recall(fs, parse_memory, n);
	find_stuck(fs, tried, n);
	return r < 0 ? r : observe_boots(fs, n);
}

static bool is_writing(const struct plan *tried, const char *pf)
{
	for (size_t i = 0; tried && i < tried->n_actions; i++) {
		const struct action *a = &tried->actions[i];

		if (a->verb == VERB_SET_NUM_VFS && a->is_running && streq(a->target, pf))
			return true;
	}
	return false;
}

void observe_writer(const struct fs *fs, const struct plan *tried, struct node *n)
{
	for (size_t i = 0; i < n->n_pcis && fs->is_live && !n->stuck[0]; i++) {
		const struct pci *pf = &n->pcis[i];
		char path[128];
		int pid;

		if (!pf->has_sriov || is_writing(tried, pf->address))
			continue;
		snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/sriov_numvfs", pf->address);
		pid = fs_writer(fs, path);
		if (pid > 0 && is_ours(fs, (uint32_t)pid)) {
			COPY(n->stuck, pf->address);
			n->stuck_pid = (uint32_t)pid;
		}
	}
}

int observe_node(struct doors *d,
		 int (*parse_memory)(const char *json, const char *boot_id, struct node *n),
		 const struct plan *tried, struct node *ret)
{
	_cleanup_(node_done) struct node n = {};
	int r;

	read_optional(&d->fs, "proc/sys/kernel/osrelease", n.kernel, sizeof(n.kernel));
	read_optional(&d->fs, "proc/sys/kernel/random/boot_id", n.boot_id, sizeof(n.boot_id));
	n.n_numa_nodes = cpus_numa_nodes(&d->fs);

	r = observe_memory(&d->fs, parse_memory, tried, &n);
	if (r >= 0)
		r = observe_pci(&d->fs, &n);
	find_busy(tried, &n);
	observe_writer(&d->fs, tried, &n);
	if (r >= 0 && !d->fs.is_live)
		r = observe_answers(&d->fs, &n);
	if (r >= 0)
		r = observe_net(d, &n);
	if (r >= 0)
		r = node_make_indexes(&n);
	if (r >= 0)
		r = observe_netconfig(&d->fs, &n);
	if (r >= 0)
		r = observe_networkd(&d->fs, &n);
	if (r >= 0)
		r = observe_metadata(&d->fs, &n);
	if (r >= 0)
		r = observe_vfs(d, &n);
	if (r >= 0)
		r = observe_rdma(d, &n);
	if (r >= 0)
		r = node_make_indexes(&n); /* of the RDMA devices as well */
	if (r >= 0)
		node_forget_replaced(&n); /* before anything is made of what is remembered */
	if (r >= 0)
		r = observe_modules(d, &n);
	if (r >= 0)
		r = observe_smc(d, &n);
	if (r >= 0)
		r = observe_options(&d->fs, &n);
	if (r >= 0)
		r = observe_limits(&d->fs, &n);
	if (r >= 0)
		r = observe_kubelet(&d->fs, &n.kubelet, NULL);
	if (r >= 0)
		r = observe_outputs(&d->fs, &n);
	if (r < 0)
		return r;

	*ret = TAKE_STRUCT(n);
	return 0;
}

static bool is_there(const struct fs *fs, const struct ibdev *ib)
{
	char path[128], name[IBDEV_LEN];

	snprintf(path, sizeof(path), "sys/class/infiniband_verbs/%s/ibdev", ib->uverbs);
	observe_text(fs, path, name, sizeof(name));
	return streq(name, ib->name);
}

/* Return: 0, 1 when it is nobody's business, or -errno; see struct ibdev. */
static int try_verbs(const struct fs *fs, struct ibdev *ib)
{
	int r = verbs_try(ib->name, &ib->active_mtu);

	/* Another one of that name may have come since. */
	if (r == -ENODEV && is_there(fs, ib))
		r = verbs_try(ib->name, &ib->active_mtu);
	log_debug("%s: libibverbs: %s", ib->name, r < 0 ? strerror(-r) : "opened");

	/* Somebody who may not open it learns nothing about it. */
	if (r == -EACCES || r == -EPERM)
		return 1;
	/* Nor is it a failure that it left since it was seen: there is an event of that. */
	return r < 0 && !is_there(fs, ib) ? 1 : r;
}

int observe_verbs(const struct doors *d, const struct plan *p, struct node *n)
{
	int n_tried = 0;

	if (!d->fs.is_live)
		return 0;

	for (size_t i = 0; i < p->n_devices; i++) {
		struct ibdev *ib;

		if (!p->devices[i].is_handed_out || !p->devices[i].ibdev ||
		    !p->devices[i].ibdev->uverbs[0] || p->devices[i].ibdev->verbs != 1)
			continue;

		ib = &n->ibdevs[p->devices[i].ibdev - n->ibdevs];
		ib->verbs = try_verbs(&d->fs, ib);
		if (ib->verbs != 1)
			n_tried++;
	}
	return n_tried;
}

int observe_users_serve(struct doors *d, uint32_t asker, char **ret)
{
	_cleanup_(node_done) struct node n = {}, found = { .has_users = true };
	int r;

	r = observe_pci(&d->fs, &n);
	if (r >= 0)
		r = observe_net(d, &n);
	if (r >= 0)
		r = node_make_indexes(&n);
	if (r >= 0)
		r = observe_vfs(d, &n);
	if (r >= 0)
		r = observe_rdma(d, &n);
	if (r >= 0)
		r = node_make_indexes(&n);
	if (r >= 0)
		r = users_find(d, asker, &n);
	if (r < 0)
		return r;

	found.users = TAKE(n.users);
	found.n_users = TAKE(n.n_users);
	found.netnses = TAKE(n.netnses);
	found.n_netnses = TAKE(n.n_netnses);
	return answers_write(&found, ret);
}
