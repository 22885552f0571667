/* SPDX-License-Identifier: Apache-2.0 */
#include "look.h"

#include "../base/document.h"
#include "../model/paths.h"
#include "../os/stamped.h"
#include "cpus.h"
#include "decide.h"

bool kubelet_needs_systemd(const struct kubelet_found *k, const struct kubelet_decision *d)
{
	bool is_refused = *k->seen.problem;

	for (size_t i = 0; i < _KUBELET_SETTING_N; i++)
		is_refused |= d->items[i].row > 0 && d->items[i].outcome == KUBELET_REFUSED;
	return k->is_unasked && is_refused;
}

struct fs kubelet_stamped(const struct fs *fs, struct stamps *stamps)
{
	struct fs ret = *fs;

	if (fs->is_live && !fs->on_read) {
		ret.stamps = stamps;
		/* NUMA nodes are counted, and a folder of sysfs has no times. */
		stamps_note(stamps, fs, "sys/devices/system/node/online");
	}
	return ret;
}

struct kubelet_report kubelet_report_make(const struct config *c, const struct kubelet_found *k,
					  const struct kubelet_decision *d)
{
	return (struct kubelet_report){
		.topology_policy = c->kubelet.topology_policy,
		.topology_scope = c->kubelet.topology_scope,
		.cpu_policy = c->kubelet.cpu_policy,
		.kubelet = k->seen,
		.decision = *d,
	};
}

int kubelet_look(const struct fs *fs, const struct config *c, struct kubelet_report *ret,
		 struct stamps *ret_stamps)
{
	_cleanup_(stamps_done) struct stamps stamps = {};
	const struct fs stamped = kubelet_stamped(fs, &stamps);
	struct kubelet_decision decision;
	bool is_asking = false, is_again;
	struct kubelet_found k;
	int r;

	do {
		r = kubelet_find(&stamped, is_asking, &k, NULL);
		if (r < 0)
			return r;
		kubelet_decide(c, &k, cpus_numa_nodes(fs), &decision);
		is_again = !is_asking && kubelet_needs_systemd(&k, &decision);
		is_asking = true;
	} while (is_again);

	*ret = kubelet_report_make(c, &k, &decision);
	stamps.is_useless |= k.is_fleeting;
	*ret_stamps = TAKE_STRUCT(stamps);
	return 0;
}

int kubelet_report_print(const struct kubelet_report *report, char **ret)
{
	json_auto_t *document = fields_pack(&kubelet_report_fields, report);

	return document ? document_dump(document, JSON_COMPACT, ret) : -ENOMEM;
}

int kubelet_report_keep(const struct fs *fs, const struct kubelet_report *report,
			const struct stamps *stamps)
{
	return stamped_write(fs, KUBELET_REPORT_PATH, &kubelet_report_fields, report, stamps);
}
