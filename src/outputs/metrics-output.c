/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics: the text file for node_exporter's textfile collector.
 *
 * Pure text, in Prometheus' exposition format. It tells when and how the last pass was that changed
 * something, and is where that is kept: it outlives a reboot with the file. No other time is in it,
 * so a pass that changes nothing leaves its bytes as they are. A device in a pod is usable.
 *
 *     rdma_provision_ready                              0 or 1
 *     rdma_provision_state{state}                       1 for the one state, 0 for the others
 *     rdma_provision_devices{state, reason}             functions handed out: "usable" (reason
 *                                                       "none"), "unusable"; "missing": NICs
 *                                                       that Expect= asks for
 *     rdma_provision_reasons{code, severity, pci}       how many there are now of each code: of a
 *                                                       NIC with its VFs, or of the node (pci "")
 *     rdma_provision_changes{class}                     those that are not made, and why
 *     rdma_provision_resource_devices{resource}         devices that the plugin exposes; not with
 *                                                       Type=none
 *     rdma_provision_build_info{version}                1
 *     rdma_provision_virtual_functions_wanted{pci}      of each NIC, where a number is asked for
 *     rdma_provision_virtual_functions_present{pci}
 *     rdma_provision_health{target, code}               1 for each hint about health
 *     rdma_provision_link_losses_total{pci}             with [Health], of each NIC
 *     rdma_provision_link_returns_total{pci}
 *     rdma_provision_link_flapping{pci}
 *     rdma_provision_last_change_timestamp_seconds      the end of that pass
 *     rdma_provision_last_change_duration_seconds
 *     rdma_provision_last_change_steps                  changes made in it
 */
#include "documents-output.h"

#include "../base/document.h"
#include "../plugin/plugin-output.h"
#include "../show/state.h"

#include <fnmatch.h>

#define NAME     "rdma_provision_"
#define TIME     NAME "last_change_timestamp_seconds"
#define DURATION NAME "last_change_duration_seconds"
#define STEPS    NAME "last_change_steps"

/* All others are gauges: none of them only grows. */
#define HEAD(name, help)         "# HELP " name " " help "\n# TYPE " name " gauge\n"
#define GAUGE(name, help, value) HEAD(name, help) name " " value "\n"

/* The last change: a format to print it, and a pattern of what was printed by that. */
#define CHANGE(time, duration, steps)                                                              \
	GAUGE(TIME, "When the last pass ended that changed something.", time)                      \
	GAUGE(DURATION, "How long that pass took.", duration)                                      \
	GAUGE(STEPS, "How many changes it made.", steps)
#define CHANGE_MAX 1024 /* bytes of it, far more than any */
#define DIGITS     "+([0-9])"

static void put_head(FILE *f, const char *name, const char *help)
{
	fprintf(f, HEAD("%s", "%s"), name, help, name);
}

static void put_state(FILE *f, const struct plan *p)
{
	put_head(f, NAME "ready", "Whether all expected RDMA devices are usable.");
	fprintf(f, NAME "ready %d\n", p->state == NODE_READY);
	put_head(f, NAME "state", "Which of its states the node is in.");
	for (enum node_state s = 0; s < _NODE_STATE_N; s++)
		fprintf(f, NAME "state{state=\"%s\"} %d\n", node_state_name(s), p->state == s);
}

static uint32_t count(const struct plan *p, enum reason reason, bool is_usable)
{
	uint32_t n = 0;

	FOREACH(d, p->devices, p->n_devices)
		n += d->is_handed_out && d->is_usable == is_usable &&
		     (is_usable || d->reason == reason);
	return n;
}

static void put_devices(FILE *f, const struct plan *p)
{
	static const char line[] = NAME "devices{state=\"%s\",reason=\"%s\"} %" PRIu32 "\n";

	put_head(f, NAME "devices", "RDMA functions that are handed out, by state and reason.");
	fprintf(f, line, "usable", "none", count(p, REASON_NONE, true));
	for (enum reason r = 0; r < _REASON_N; r++)
		if (count(p, r, false) > 0)
			fprintf(f, line, "unusable", r == REASON_NONE ? "none" : reason_code(r),
				count(p, r, false));
	if (p->n_missing > 0)
		fprintf(f, line, "missing", reason_code(REASON_DEVICES_MISSING), p->n_missing);
}

/* Backslash, quote and newline: the format has no other escapes. */
static void put_label(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (*s == '\\' || *s == '"')
			fputc('\\', f);
		fputc(*s == '\n' ? '?' : *s, f);
	}
}

/* Reasons of one code about one NIC: a card of 64 VFs is one line. */
struct reason_count {
	enum reason reason;
	const char *pci; /* "": of the node, or of a file */
	uint32_t n;
};

static const char *nic_of(const struct node *n, const char *target)
{
	const struct pci *pci = node_pci(n, target);

	return !pci ? "" : pci->physfn[0] ? pci->physfn : pci->address;
}

static int count_reason(struct reason_count **counts, size_t *n_counts, enum reason reason,
			const char *pci)
{
	struct reason_count *found =
		FIND(c, *counts, *n_counts, c->reason == reason && streq(c->pci, pci));

	if (!found)
		return ADD(*counts, *n_counts, (struct reason_count){ reason, pci, 1 });
	found->n++;
	return 0;
}

static int put_reasons(FILE *f, const struct config *c, const struct node *n, const struct plan *p)
{
	static const char *const severities[] = {
		[SEVERITY_WARNING] = "warning",
		[SEVERITY_ERROR] = "error",
		[SEVERITY_NONE] = "none",
	};
	_cleanup_(freep) struct reason_count *counts = NULL;
	json_auto_t *reasons = output_reasons(c, p);
	size_t n_counts = 0;

	if (!reasons)
		return -ENOMEM;
	document_each(item, reasons)
		if (count_reason(&counts, &n_counts,
				 reason_from_code(document_get_text(item, "code")),
				 nic_of(n, document_get_text(item, "target"))) < 0)
			return -ENOMEM;
	if (n_counts > 0)
		put_head(f, NAME "reasons",
			 "Why the node is not as it was asked for, by code and NIC.");
	FOREACH(count, counts, n_counts) {
		fprintf(f, NAME "reasons{code=\"%s\",severity=\"%s\",pci=\"",
			reason_code(count->reason), severities[reason_severity(count->reason)]);
		put_label(f, count->pci);
		fprintf(f, "\"} %" PRIu32 "\n", count->n);
	}
	return 0;
}

static void put_changes(FILE *f, const struct plan *p)
{
	put_head(f, NAME "changes", "Changes that were asked for and are not made, by class.");
	for (enum class class = CLASS_CHANGE + 1; class < _CLASS_N; class ++) {
		uint32_t n = 0;

		for (size_t i = 0; i < p->n_actions; i++)
			n += p->actions[i].class == class;
		fprintf(f, NAME "changes{class=\"%s\"} %" PRIu32 "\n", class_name(class), n);
	}
}

static void put_resources(FILE *f, const struct config *c, const struct plan *p)
{
	const char *resource = NULL;
	bool has_head = false;

	/* With Type=none the plugin of the platform decides it. */
	while (c->plugin.type != PLUGIN_NONE &&
	       (resource = output_plugin_next_resource(c, p, resource))) {
		uint32_t n = 0;

		if (!has_head)
			put_head(f, NAME "resource_devices",
				 "Devices that the device plugin exposes.");
		has_head = true;

		for (size_t i = 0; i < p->lint.n_exposed; i++)
			n += streq(p->lint.exposed[i].resource, resource);
		fprintf(f, NAME "resource_devices{resource=\"");
		put_label(f, resource);
		fprintf(f, "\"} %" PRIu32 "\n", n);
	}
}

static void put_of_nic(FILE *f, const char *name, const struct device *d, uint32_t n)
{
	fprintf(f, "%s{pci=\"", name);
	put_label(f, d->pci->address);
	fprintf(f, "\"} %" PRIu32 "\n", n);
}

static void put_vfs(FILE *f, const struct plan *p, const char *name, const char *help,
		    bool is_wanted)
{
	bool has_head = false;

	FOREACH(d, p->devices, p->n_devices) {
		uint32_t n = is_wanted ? d->wanted_vfs : d->pci->num_vfs;

		if (d->is_vf || n == COUNT_LEAVE)
			continue;
		if (!has_head)
			put_head(f, name, help);
		has_head = true;
		put_of_nic(f, name, d, n);
	}
}

static void put_health(FILE *f, const struct plan *p)
{
	static const char name[] = NAME "health";

	if (p->n_health > 0)
		put_head(f, name, "Hints about what works and could do better, by code.");
	for (size_t i = 0; i < p->n_health; i++) {
		fprintf(f, "%s{target=\"", name);
		put_label(f, p->health[i].target);
		fprintf(f, "\",code=\"%s\"} 1\n", reason_code(p->health[i].reason));
	}
}

/* Prints the link counters of each NIC that is watched. */
static void put_links(FILE *f, const struct plan *p)
{
	static const char losses[] = NAME "link_losses_total",
			  returns[] = NAME "link_returns_total", flapping[] = NAME "link_flapping";

	if (!ANY(d, p->devices, p->n_devices, d->is_watched))
		return;
	fprintf(f, "# HELP %s Losses of the link of each NIC since it was usable first.\n", losses);
	fprintf(f, "# TYPE %s counter\n", losses);
	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i].is_watched)
			put_of_nic(f, losses, &p->devices[i], p->devices[i].losses.n);
	fprintf(f, "# HELP %s How many of these losses are over.\n", returns);
	fprintf(f, "# TYPE %s counter\n", returns);
	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i].is_watched)
			put_of_nic(f, returns, &p->devices[i], p->devices[i].losses.n_back);
	put_head(f, flapping, "Whether each NIC flaps, as [Health] Flap= says.");
	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i].is_watched)
			put_of_nic(f, flapping, &p->devices[i], p->devices[i].is_flapping);
}

/* @old: the file as it is, or NULL; its last lines stay while this pass has changed nothing. */
static void put_change(FILE *f, const struct last_change *change, const char *old)
{
	old = old ? strstr(old, "# HELP " TIME) : NULL;
	if (change->steps > 0)
		fprintf(f, CHANGE("%" PRId64, "%" PRIu64 ".%06" PRIu64, "%" PRIu32),
			change->time_sec, change->duration_usec / USEC_PER_SEC,
			change->duration_usec % USEC_PER_SEC, change->steps);
	else if (old && strlen(old) < CHANGE_MAX &&
		 fnmatch(CHANGE(DIGITS, DIGITS "." DIGITS, DIGITS), old, FNM_EXTMATCH) == 0)
		fputs(old, f);
}

int metrics_text(const struct config *c, const struct node *n, const struct plan *p, char **ret)
{
	const struct last_change none = {};
	_cleanup_(stream_done) struct stream out = {};

	if (stream_open(&out) < 0)
		return -ENOMEM;
	fputs(output_mark(OUTPUT_METRICS), out.f);
	put_state(out.f, p);
	put_devices(out.f, p);
	if (put_reasons(out.f, c, n, p) < 0)
		return -ENOMEM;
	put_changes(out.f, p);
	put_resources(out.f, c, p);
	put_head(out.f, NAME "build_info", "The version of rdma-provision.");
	fprintf(out.f, NAME "build_info{version=\"%s\"} 1\n", PROJECT_VERSION);
	put_vfs(out.f, p, NAME "virtual_functions_wanted", "VFs that each NIC is to have.", true);
	put_vfs(out.f, p, NAME "virtual_functions_present", "VFs that each NIC has.", false);
	put_health(out.f, p);
	put_links(out.f, p);
	put_change(out.f, p->tried ? &p->tried->change : &none, n->outputs[OUTPUT_METRICS].text);
	return stream_take(&out, ret);
}
