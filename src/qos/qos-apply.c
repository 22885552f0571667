/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Qos: one value of a port, or one default of rdma_cm. The ledger has both by PCI address: they
 * outlast a netdev that goes into a pod, and comes back as another.
 */
#include "../os/dcb.h"
#include "../os/memory-file.h"
#include "../os/rdma.h"
#include "../step/ledger-apply.h"
#include "../step/other-files.h"
#include "../step/verbs.h"

#include <net/if.h>

static int end(struct work *w, const struct action *a, int r)
{
	return r >= 0 && a->is_back ? ledger_forget(w, a, a->verb) : r;
}

int apply_set_dcb(struct work *w, const struct action *a)
{
	const struct netdev *nd = node_netdev_of(w->node, a->target);
	char name[IFNAME_LEN];
	int r;

	if (!nd)
		return -ENODEV;
	r = ledger_note(w, a, a->text.from);
	if (r < 0)
		return r;
	if (!if_indextoname(nd->ifindex, name)) /* as of now: another may have its old name */
		return -errno;
	return end(w, a, dcb_set(&w->os->route, name, a->subject, a->text.to));
}

/* The default shows once the folder exists. The name is read again after the ledger's write. */
static int set_default(struct work *w, const struct action *a, uint32_t index, char name[IBDEV_LEN])
{
	const struct fs *fs = &w->os->fs;
	char from[SHOWN_LEN];
	int r = rdma_read_name(&w->os->rdma, index, name, IBDEV_LEN);

	if (r >= 0)
		r = other_files_set_roce(fs, name, "", "open");
	if (r < 0)
		return r;
	r = rdma_cm_read(fs, name, a->subject, from, sizeof(from));
	if (r < 0 || (a->is_back && !streq(from, a->text.from))) /* another program's since */
		return r;
	r = ledger_note(w, a, from);
	if (r < 0 || streq(from, a->text.to))
		return r;
	r = rdma_read_name(&w->os->rdma, index, name, IBDEV_LEN);
	return r < 0 ? r : other_files_set_roce(fs, name, a->subject, a->text.to);
}

/* Is this the device's only entry left? Its folder shows what other entries have set. */
static bool is_last(struct work *w, const struct action *a)
{
	_cleanup_(ledger_done) struct ledger l = {};
	size_t n = 0;

	if (memory_read(&w->os->fs, MEMORY_BOOT, &ledger_fields, &l) < 0)
		return false;
	FOREACH(e, l.entries, l.n_entries)
		n += streq(e->verb, verb_name(a->verb)) && streq(e->target, a->target);
	return n <= 1;
}

int apply_set_roce(struct work *w, const struct action *a)
{
	const struct ibdev *ibdev = node_ibdev_of(w->node, a->target);
	char name[IBDEV_LEN];
	int r;

	if (!ibdev)
		return -ENODEV;
	r = set_default(w, a, ibdev->index, name);
	if (r >= 0 && a->is_back && is_last(w, a))
		r = other_files_set_roce(&w->os->fs, name, "", NULL);
	return end(w, a, r);
}
