/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugin: when the device plugin's file and its static pod are written, and when they go.
 *
 * Last of all: once the node is ready, or degraded, nothing needs to be done to it, and no device
 * has just been lost; when it has no device for the plugin then, both go. Before that neither of
 * them is there: the file because it lives in /run, the pod because the first pass of a boot
 * removes it before all else, so that the kubelet does not start a plugin without a file.
 */
#include "../model/paths.h"
#include "../model/plugin-facts.h"
#include "../step/steps.h"

/* Return: false, for the file is not what it should be. */
static bool write_later(struct plan *p, enum class class, const char *path, enum reason reason,
			const char *detail)
{
	plan_add_item(p, VERB_WRITE_PLUGIN, class, path, reason, "%s", detail);
	return false;
}

static bool has_lost_device(const struct plan *p, char *detail, size_t size)
{
	const struct device *lost = FIND(d, p->devices, p->n_devices, d->is_lost);

	if (lost)
		copy(detail, size, lost->pci->address);
	return lost;
}

/* Is a device lost? One look is no proof, and without a memory of this boot it is the first. */
static bool has_lost(const struct memory *memory, const struct plan *p, char *detail, size_t size)
{
	if (!*memory->last_hash) {
		copy(detail, size, "nothing is remembered of this boot");
		return true;
	}
	if (has_lost_device(p, detail, size))
		return true;
	if (p->n_gone > 0)
		snprintf(detail, size, "%" PRIu32 " functions are gone", p->n_gone);
	return p->n_gone > 0;
}

/* Hints at findings about devices that are meant to be exposed. "check" shows the rest. */
static void tell_findings(struct plan *p)
{
	FOREACH(finding, p->lint.findings, p->lint.n_findings)
		if (finding->reason != REASON_PLUGIN_FOREIGN)
			plan_add_hint(p, finding->reason, finding->target, "%s", finding->detail);
}

/* A file that has the right text and no record is "written" once more, which records it. */
static bool is_written(const struct node *n, const struct plan *p)
{
	return plan_has_plugin_file(n, p) && !n->is_plugin_foreign;
}

/* Return: is the file, or will it be by this plan, what it should be? */
static bool plan_file(const struct config *c, const struct node *n, const struct memory *memory,
		      bool is_changing, struct plan *p)
{
	const char *path = c->plugin.config_file;
	char lost[64] = "";

	if (p->plugin && p->lint.refusal != REASON_NONE)
		return write_later(p, CLASS_REFUSED, path, p->lint.refusal, p->lint.detail);
	if (n->is_plugin_foreign && !plan_has_plugin_file(n, p))
		return write_later(p, CLASS_REFUSED, path, REASON_OUTPUT_FOREIGN, "");
	if (is_changing || p->state == NODE_STARTING)
		return !is_changing && is_written(n, p)
			       ? false
			       : write_later(p, CLASS_WAITING, path, REASON_NOT_READY,
					     n->plugin_file ? "the present one stays" : "");
	tell_findings(p);
	if (is_written(n, p))
		return true;
	/* Nothing is taken from a running plugin on the word of one look. Nor does a first file
	 * have a lost device, which the plugin might not have exposed. */
	if (n->plugin_file ? has_lost(memory, p, lost, sizeof(lost))
			   : has_lost_device(p, lost, sizeof(lost)))
		return write_later(p, CLASS_WAITING, path, REASON_DEVICE_LOST, lost);

	plan_add(p, VERB_WRITE_PLUGIN, path);
	return true;
}

static bool is_our_manifest(const char *text)
{
	return text && is_prefix(text, MANIFEST_MARK "\n");
}

static void plan_manifest(const struct config *c, const struct node *n, struct plan *p)
{
	const char *path = c->plugin.manifest;

	/* There is one pod at a time: the old pod goes first. */
	if (!p->manifest || *n->old_manifest_path)
		return;
	if (n->manifest_file && !is_our_manifest(n->manifest_file))
		return plan_add_item(p, VERB_WRITE_MANIFEST, CLASS_REFUSED, path,
				     REASON_OUTPUT_FOREIGN, NULL);
	if (n->manifest_file && streq(n->manifest_file, p->manifest))
		return;
	plan_add(p, VERB_WRITE_MANIFEST, path);
}

/* The kubelet must not start a plugin that has nothing to read. */
static void end_manifest(const struct config *c, const struct node *n, struct plan *p)
{
	const bool is_planned = p->n_actions > 0 && p->actions[0].verb == VERB_REMOVE_MANIFEST;

	if (is_our_manifest(n->manifest_file) && !is_planned)
		plan_add(p, VERB_REMOVE_MANIFEST, c->plugin.manifest);
}

void plan_old_pod(const struct config *c, const struct node *n, const struct memory *memory,
		  struct plan *p)
{
	const bool is_old = !*memory->last_hash && !n->plugin_file;

	if (is_old && !c->is_invalid)
		end_manifest(c, n, p);
}

/*
 * Each plugin has a socket for each of its resources. The kubelet knows a resource once, by the
 * plugin that registered it last, so an extra socket belongs to a second plugin for the same name,
 * or to one that was killed and whose resource the kubelet has dropped.
 */
static void hint_twice(const struct config *c, const struct node *n, struct plan *p)
{
	for (size_t i = 0; i < n->n_plugin_resources; i++) {
		const char *name = n->plugin_resources[i].name;
		const bool is_ours = streq(name, c->plugin.resource) ||
				     ANY(d, c->devices, c->n_devices, streq(name, d->resource));

		if (is_ours && n->n_plugin_sockets > n->n_plugin_resources)
			return plan_add_hint(p, REASON_PLUGIN_TWICE, name,
					     "%" PRIu32 " sockets of plugins (%s), %zu resources",
					     n->n_plugin_sockets, n->plugin_sockets,
					     n->n_plugin_resources);
	}
}

static void hint_restart(struct plan *p, const char *target, const struct plugin_process *q)
{
	plan_add_hint(p, REASON_PLUGIN_RESTART_NEEDED, target, "%s, pid %" PRIu32 "%s%s",
		      q->command, q->pid, *q->container ? " in " : "", q->container);
}

static void plan_restart(const struct config *c, const struct node *n, struct plan *p)
{
	if (*c->plugin.manifest || !is_written(n, p))
		return;

	FOREACH(q, n->plugin_processes, n->n_plugin_processes)
		if (q->is_dated && q->since_change_sec < 0) /* else it has read the file */
			hint_restart(p, c->plugin.config_file, q);
}

/* A driver reads no file, but knows what was there at its start. */
static void hint_missed(const struct config *c, const struct node *n, const struct memory *memory,
			struct plan *p)
{
	FOREACH(q, n->plugin_processes, n->n_plugin_processes) {
		const struct device *d = plan_missed_by(c, n, memory, p, q);

		if (d)
			hint_restart(p, d->pci->address, q);
	}
}

/* Removes files of an earlier configuration, unless the present one is malformed and so unknown. */
static void end_old(const struct config *c, const struct node *n, struct plan *p)
{
	if (c->is_invalid)
		return;
	if (*n->old_manifest_path)
		plan_add(p, VERB_REMOVE_MANIFEST, n->old_manifest_path);
	if (*n->old_plugin_path)
		plan_add(p, VERB_REMOVE_PLUGIN, n->old_plugin_path);
}

/* Is an action at the same PF, or at a VF of it, still running? */
static bool is_behind(const struct node *n, const struct plan *p, const struct action *a)
{
	const struct pci *pci = node_pci(n, a->target);
	const struct pci *pf = pci && pci->physfn[0] ? node_pci(n, pci->physfn) : pci;
	const struct action *b = NULL;
	size_t at = SIZE_MAX;

	while (pf && (b = attempts_next(p->tried, pf->address, b)))
		if (b->is_running)
			return true;
	while (pf && (b = attempts_next_of_vfs(p->tried, n, pf->address, &at, b)))
		if (b->is_running)
			return true;
	return false;
}

/* Will the node, not these files, be changed first? Once the wait is over, a PF that takes longer
 * holds up no other. */
static bool is_changed_first(const struct node *n, const struct plan *p)
{
	return ANY(a, p->actions, p->n_actions,
		   action_is_open(a) && !action_is_best_effort(a) &&
			   !(p->state == NODE_DEGRADED && (a->is_running || is_behind(n, p, a))));
}

static bool has_excluded(const struct plan *p)
{
	return ANY(d, p->devices, p->n_devices, d->is_excluded);
}

/* A usable device that the plugin does not expose is not handed out. Where the plugin would not
 * start, or the file would have no device at all, that is all of them, and no finding names one. */
static void judge_exposed(const struct config *c, bool is_changing, struct plan *p)
{
	const bool is_judged =
		p->lint.refusal == REASON_NONE && (p->plugin || !plugin_has_file(c->plugin.type));
	const struct device *first = NULL;
	char detail[64];
	size_t n = 0;

	FOREACH_WHILE(d, p->devices, p->n_devices, c->plugin.type != PLUGIN_NONE && !is_judged) {
		if (!d->is_handed_out || !d->is_usable || d->is_excluded)
			continue;
		first = first ? first : d;
		n++;
	}
	if (n + p->lint.n_withheld == 0 || is_changing || p->state == NODE_STARTING)
		return;
	p->state = NODE_DEGRADED;
	if (!plugin_has_file(c->plugin.type))
		return tell_findings(p);
	if (!first || p->plugin)
		return;
	PRINT(detail, n > 1 ? "%s and %zu more" : "%s", first->pci->address, n - 1);
	write_later(p, CLASS_REFUSED, c->plugin.config_file, REASON_PLUGIN_NOT_SELECTED, detail);
}

void plan_plugin(const struct config *c, const struct node *n, const struct memory *memory,
		 struct plan *p)
{
	const bool is_changing = is_changed_first(n, p);
	char lost[64];

	judge_exposed(c, is_changing, p);
	end_old(c, n, p);
	if (!c->is_invalid)
		hint_missed(c, n, memory, p);
	hint_twice(c, n, p);

	if (!plugin_has_file(c->plugin.type) ||
	    (!is_changing && (p->state != NODE_STARTING || has_excluded(p)) && !p->plugin)) {
		if (c->is_invalid)
			return;
		if (plugin_has_file(c->plugin.type) && n->plugin_file &&
		    has_lost(memory, p, lost, sizeof(lost))) {
			write_later(p, CLASS_WAITING, c->plugin.config_file, REASON_DEVICE_LOST,
				    lost);
			return;
		}
		end_manifest(c, n, p);
		if (n->plugin_file && !n->is_plugin_foreign)
			plan_add(p, VERB_REMOVE_PLUGIN, c->plugin.config_file);
		return;
	}

	if (plan_file(c, n, memory, is_changing, p))
		plan_manifest(c, n, p);
	else if (!n->plugin_file)
		end_manifest(c, n, p);
	plan_restart(c, n, p);
}
