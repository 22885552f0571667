/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vf: numbers of VFs, what VFs get through their PF, the switch sriov_drivers_autoprobe with its
 * record, and the udev rules, with all told that have to read them before a VF appears. That nobody
 * uses a VF was the plan's to see; what the kernel refuses gets words here.
 */
#include "../os/vf.h"

#include "../base/log.h"
#include "../model/memory.h"
#include "../model/paths.h"
#include "../os/manager.h"
#include "../os/memory-file.h"
#include "../step/ledger-apply.h"
#include "../step/other-files.h"
#include "../step/verbs.h"

#include <fcntl.h>
#include <sys/stat.h>

/*
 * A write that succeeds may have made fewer VFs, or none, as bnxt_sriov_configure() does without
 * resources in the firmware or with the netdev down. (mlx5 makes all functions: one that its
 * firmware refuses fails its own probe.) The number that is there is what "revert --vfs" takes
 * back.
 */
static int count_again(struct work *w, const struct action *a)
{
	struct action made = *a;
	const int64_t want = a->number.to.n;
	char from[SHOWN_LEN];
	uint32_t have;
	int r = fs_count(&w->os->fs, FS_PATH("sys/bus/pci/devices/%s", a->target), "virtfn", &have);

	if (r < 0 || have == want)
		return r;
	snprintf(w->error, CHILD_ERROR_LEN, "%" PRIu32 " VFs are there, not %" PRId64, have, want);
	made.number.to.n = have;
	r = have > 0 && want > 0 ? ledger_note(w, &made, action_from(a, from)) : 0;
	if (r < 0)
		log_warning_errno(r, "%s: not noted for revert", a->target);
	return -EREMOTEIO;
}

/* Removes the note of a number that was not made; the note of an earlier number is put back. */
static void take_back_note(struct work *w, const struct action *a)
{
	const struct ledger_entry *e =
		memory_entry(w->memory, verb_name(a->verb), a->target, 0, a->subject);
	struct action before = *a;
	int r;

	if (e)
		action_set(&before, e->from, e->to);
	r = e ? ledger_note(w, &before, e->from) : ledger_forget(w, a, a->verb);
	if (r < 0)
		log_warning_errno(r, "%s: not noted for revert", a->target);
}

/*
 * Another program may have been writing its number when the node was looked at: the VFs that were
 * counted were some of those that it made. Reading the number waits for the end of that write.
 * Source: sriov_numvfs_show() in drivers/pci/iov.c
 */
static int check_removal(struct work *w, const struct action *a)
{
	uint32_t number, have = 0;
	int r = fs_read_u32(&w->os->fs, FS_PATH("sys/bus/pci/devices/%s/sriov_numvfs", a->target),
			    &number);

	if (r == -ENOENT)
		return 0; /* the write fails with the reason */
	if (r >= 0)
		r = fs_count(&w->os->fs, FS_PATH("sys/bus/pci/devices/%s", a->target), "virtfn",
			     &have);
	if (r < 0 || have == a->number.from.n)
		return r;
	snprintf(w->error, CHILD_ERROR_LEN, "%" PRIu32 " VFs came in between", have);
	return -EBUSY;
}

int apply_set_num_vfs(struct work *w, const struct action *a)
{
	const struct pci *pf = node_pci(w->node, a->target);
	const char *path = FS_PATH("sys/bus/pci/devices/%s/sriov_numvfs", a->target);
	char from[SHOWN_LEN], to[SHOWN_LEN];
	const bool is_removal = action_is_to(a, 0);
	int r;

	if (is_removal) {
		r = check_removal(w, a);
		if (r < 0)
			return r;
	}
	if (pf && !pf->has_autoprobe)
		log_debug("%s: no sriov_drivers_autoprobe: VFs are bound as they are made",
			  a->target);
	/* Without a note "revert --vfs" leaves them; that is no reason not to make them. */
	r = is_removal ? 0 : ledger_note(w, a, action_from(a, from));
	if (r < 0)
		log_warning_errno(r, "%s: not noted for revert", a->target);
	r = fs_write_attribute(&w->os->fs, path, action_to(a, to));
	if (r < 0 && !is_removal)
		take_back_note(w, a);
	if (r >= 0)
		r = count_again(w, a);
	return r >= 0 && is_removal ? ledger_forget(w, a, a->verb) : r;
}

/* --- the record of what is switched off for a moment --- */

/* Adds the entry of @address or removes it; entries of other boots are dropped. */
static int change_record(const struct fs *fs, enum memory_lifetime lifetime, const char *boot_id,
			 const char *address, bool is_off)
{
	_owns_(struct autoprobes, entries) l = {};
	struct autoprobe_entry *e;
	size_t n;
	int r = memory_read_all(fs, lifetime, &autoprobes_fields, &l);

	if (r < 0)
		return r;
	n = l.n_entries;
	KEEP(k, l.entries, l.n_entries, streq(k->boot_id, boot_id) && !streq(k->pci, address));
	if (!is_off)
		return l.n_entries == n ? 0 : memory_write(fs, lifetime, &autoprobes_fields, &l);

	e = APPEND(l.entries, l.n_entries);
	if (!e)
		return -ENOMEM;
	COPY(e->boot_id, boot_id);
	COPY(e->pci, address);
	return memory_write(fs, lifetime, &autoprobes_fields, &l);
}

/*
 * Record of @address: there or not, and on the disk before this returns. In /run where /var cannot
 * be written.
 */
static int set_record(struct work *w, const char *address, bool is_off)
{
	_cleanup_(closep) int lock = fs_lock(&w->os->fs, LANES_LOCK_PATH, LANES_LOCK_USEC);
	const struct fs *fs = &w->os->fs;
	const char *boot_id = w->node->boot_id;
	int r, r_boot;

	if (lock < 0)
		return lock;
	if (!boot_id[0]) /* no boot would take the entry for its own */
		return -ENODATA;
	r = change_record(fs, MEMORY_NODE, boot_id, address, is_off);
	if (is_off && r >= 0)
		return 0;
	if (r < 0)
		log_debug_errno(r, "/" MEMORY_NODE_PATH ": not written");
	r_boot = change_record(fs, MEMORY_BOOT, boot_id, address, is_off);
	return is_off || r >= 0 ? r_boot : r;
}

/*
 * Off: first the record, then the switch. On: first the switch, and the record goes once a look
 * shows it on. Whatever instant a crash comes at, the next pass finds what is to be done.
 */
int apply_set_autoprobe(struct work *w, const struct action *a)
{
	const char *path = FS_PATH("sys/bus/pci/devices/%s/sriov_drivers_autoprobe", a->target);
	const bool is_off = action_is_to(a, 0);
	uint32_t value;
	int r = 0;

	if (is_off)
		r = set_record(w, a->target, true);
	if (r < 0) {
		copy(w->error, CHILD_ERROR_LEN, "it could not be recorded first");
		return r;
	}

	r = fs_write_attribute(&w->os->fs, path, is_off ? "0" : "1");
	if (r >= 0)
		r = fs_read_u32(&w->os->fs, path, &value);
	if (r < 0)
		return r;
	if (value != !is_off)
		return -EIO;
	return is_off ? 0 : set_record(w, a->target, false);
}

/* --- what a VF has through its PF --- */

/* Names and numbers of netdevs are looked up last, by the PCI address of the PF. */
int apply_set_vf(struct work *w, const struct action *a)
{
	const struct pci *vf = node_pci(w->node, a->target);
	const struct netdev *nd = vf ? node_netdev_of(w->node, vf->physfn) : NULL;
	struct netlink *nl = &w->os->route;
	char node[GUID_LEN];

	if (!nd)
		return -ENODEV;
	switch (a->verb) {
	case VERB_SET_VF_MAC:
		return vf_set_mac(nl, nd->ifindex, vf->vf_index, a->text.to);
	case VERB_SET_VF_GUID:
		PRINT(node, "%.*s", GUID_LEN - 1, a->text.to);
		return vf_set_guids(nl, nd->ifindex, vf->vf_index, node, a->text.to + GUID_LEN);
	case VERB_SET_VF_TRUST:
		return vf_set_trust(nl, nd->ifindex, vf->vf_index, action_is_to(a, 1));
	case VERB_SET_VF_LINK:
		return vf_set_link_auto(nl, nd->ifindex, vf->vf_index);
	default:
		return vf_set_vlan(nl, nd->ifindex, vf->vf_index, (uint32_t)a->number.to.n);
	}
}

int apply_rebind_driver(struct work *w, const struct action *a)
{
	int r;

	/* Never a PF, whatever took the address of the VF meanwhile. */
	if (fs_exists(&w->os->fs, FS_PATH("sys/bus/pci/devices/%s/physfn", a->target)) <= 0)
		return -ENODEV;

	r = fs_write_attribute(
		&w->os->fs, FS_PATH("sys/bus/pci/devices/%s/driver/unbind", a->target), a->target);
	return r < 0 ? r : apply_bind_driver(w, a);
}

/* --- udev rules --- */

/* udev would look at its rules by itself, but at most every 3 seconds: event_queue_start() in
 * src/udev/udevd.c. */
int apply_write_rules(struct work *w, const struct action *a)
{
	int r = other_files_put(&w->os->fs, RULES_NAME, a->target, w->rules);

	if (r < 0)
		return r;
	r = manager_request(&w->os->fs, WANT_RULES);
	if (r < 0)
		copy(w->error, CHILD_ERROR_LEN,
		     "udev and networkd could not be told to read their files again: \"udevadm "
		     "control --reload\", \"networkctl reload\"");
	return r;
}
