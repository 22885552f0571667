/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vf: numbers of VFs, what VFs get through their PF, and the switch sriov_drivers_autoprobe with
 * its record. That nobody uses a VF was the plan's to see; what the kernel refuses gets words here.
 */
#include "../doors/vf.h"

#include "../base/log.h"
#include "../model/paths.h"
#include "ledger.h"
#include "verbs.h"

#define MAX_RECORD_BYTES (1u << 20)

/* What the kernel's answer means: sriov_numvfs_store() and sriov_enable() in drivers/pci/iov.c. */
static const struct {
	int error;
	const char *words;
} numvfs_errors[] = {
	{ ERANGE, "more than sriov_totalvfs" },
	{ EBUSY, "VFs exist already: the count changes only through zero" },
	{ ENOENT, "no driver is bound, or it has no SR-IOV" },
	{ EINVAL, "the driver does not take this number" },
	{ ENOMEM, "no room for the VFs: enable SR-IOV and ARI in the firmware setup, or boot with "
		  "pci=realloc (memory windows) or pci=assign-busses (bus numbers)" },
	{ EIO, "the card's VF counts disagree with each other: its firmware needs attention" },
	{ EPERM, "a VF is assigned to a virtual machine" },
};

/*
 * mlx5 leaves out VFs that its firmware does not enable, and says nothing of it. The number that is
 * there is what "revert --vfs" takes back.
 */
static int count_again(struct work *w, const struct action *a)
{
	struct action made = *a;
	uint32_t want = (uint32_t)strtoul(a->to, NULL, 10), have;
	char path[320];
	int r;

	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s", a->target);
	r = fs_count(&w->doors->fs, path, "virtfn", &have);
	if (r < 0 || have == want)
		return r;
	snprintf(w->error, sizeof(a->error), "%" PRIu32 " VFs are there, not %" PRIu32, have, want);
	snprintf(made.to, sizeof(made.to), "%" PRIu32, have);
	r = have > 0 && want > 0 ? ledger_note(w, &made, a->from) : 0;
	if (r < 0)
		log_warning_errno(r, "%s: not noted for revert", a->target);
	return -EREMOTEIO;
}

/* The number that was not made; what was noted before may be there still. */
static void take_back_note(struct work *w, const struct action *a)
{
	const struct ledger_entry *e =
		node_entry(w->node, verb_name(a->verb), a->target, 0, a->subject);
	struct action before = *a;
	int r;

	if (e)
		COPY(before.to, e->to);
	r = e ? ledger_note(w, &before, e->from) : ledger_forget(w, a, a->verb);
	if (r < 0)
		log_warning_errno(r, "%s: not noted for revert", a->target);
}

int apply_set_num_vfs(struct work *w, const struct action *a)
{
	const struct pci *pf = node_pci(w->node, a->target);
	char path[320];
	int r;

	if (pf && !pf->has_autoprobe)
		log_debug("%s: no sriov_drivers_autoprobe: VFs are bound as they are made",
			  a->target);
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/sriov_numvfs", a->target);
	/* Without a note "revert --vfs" leaves them; that is no reason not to make them. */
	r = streq(a->to, "0") ? 0 : ledger_note(w, a, a->from);
	if (r < 0)
		log_warning_errno(r, "%s: not noted for revert", a->target);
	r = fs_write_attribute(&w->doors->fs, path, a->to);
	if (r < 0 && !streq(a->to, "0"))
		take_back_note(w, a);
	for (size_t i = 0; i < ELEMENTSOF(numvfs_errors) && r < 0; i++)
		if (-r == numvfs_errors[i].error)
			copy(w->error, sizeof(a->error), numvfs_errors[i].words);
	if (r >= 0)
		r = count_again(w, a);
	return r >= 0 && streq(a->to, "0") ? ledger_forget(w, a, a->verb) : r;
}

/* --- the record of what is switched off for a moment --- */

/* The lines of this boot that are not about @address. */
static int keep_lines(const struct fs *fs, const char *path, const char *boot_id,
		      const char *address, FILE *to, bool *ret_is_there)
{
	_cleanup_(freep) char *text = NULL;
	char *rest, *line;
	size_t size;
	int r;

	r = fs_read_all(fs, path, MAX_RECORD_BYTES, false, &text, &size);
	*ret_is_there = r != -ENOENT;
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		const char *of = strchr(line, ' ');

		if (of && is_prefix(line, boot_id) && !streq(of + 1, address))
			fprintf(to, "%s\n", line);
	}
	return 0;
}

/* Whatever was there is merged into one file: of /var, or of /run where that cannot be written. */
static int write_record(const struct fs *fs, const char *text, const bool is_there[2])
{
	static const char *const paths[] = { AUTOPROBE_PATH, AUTOPROBE_RUN_PATH };
	bool is_written = !text[0];
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
		if (!is_written) {
			r = fs_replace(fs, paths[i], text, strlen(text), 0600);
			is_written = r >= 0;
			if (r < 0)
				log_debug_errno(r, "/%s: not written", paths[i]);
		} else if (is_there[i]) {
			r = fs_remove(fs, paths[i]);
		}
	}
	return MIN(r, 0);
}

/* Record of @address: there or not, and on the disk before this returns. */
static int set_record(struct work *w, const char *address, bool is_off)
{
	_cleanup_(unlock_lanes) int lock = lock_lanes(w);
	_cleanup_(freep) char *text = NULL; /* of the stream, valid once that is closed */
	const char *boot_id = w->node->boot_id;
	bool is_there[2] = {};
	size_t size = 0;
	FILE *f;
	int r;

	if (lock < 0)
		return lock;
	if (!boot_id[0]) /* such a line would be nobody's */
		return -ENODATA;
	f = open_memstream(&text, &size);
	if (!f)
		return -errno;
	r = keep_lines(&w->doors->fs, AUTOPROBE_PATH, boot_id, address, f, &is_there[0]);
	if (r >= 0)
		r = keep_lines(&w->doors->fs, AUTOPROBE_RUN_PATH, boot_id, address, f,
			       &is_there[1]);
	if (is_off)
		fprintf(f, "%s %s\n", boot_id, address);
	if (text_close(f, &text) < 0 && r >= 0)
		r = -ENOMEM;
	return r < 0 ? r : write_record(&w->doors->fs, text, is_there);
}

/*
 * Off: first the record, then the switch. On: first the switch, and the record goes once a look
 * shows it on. Whatever instant a crash comes at, the next pass finds what is to be done.
 */
int apply_set_autoprobe(struct work *w, const struct action *a)
{
	const bool is_off = streq(a->to, "0");
	uint32_t value;
	char path[320];
	int r = 0;

	if (is_off)
		r = set_record(w, a->target, true);
	if (r < 0) {
		copy(w->error, sizeof(a->error), "it could not be recorded first");
		return r;
	}

	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/sriov_drivers_autoprobe", a->target);
	r = fs_write_attribute(&w->doors->fs, path, a->to);
	if (r >= 0)
		r = fs_read_u32(&w->doors->fs, path, &value);
	if (r < 0)
		return r;
	if (value != !is_off)
		return -EIO;
	return is_off ? 0 : set_record(w, a->target, false);
}

/* --- what a VF has through its PF --- */

/* Names and numbers of netdevs are looked up last, by the PCI address of the PF. */
static int find_vf(struct work *w, const struct action *a, uint32_t *ret_ifindex,
		   uint32_t *ret_index)
{
	const struct pci *vf = node_pci(w->node, a->target);
	const struct netdev *nd = vf ? node_netdev_of(w->node, vf->physfn) : NULL;
	int r;

	if (!nd)
		return -ENODEV;
	r = netlink_open(&w->doors->route);
	if (r < 0)
		return r;
	*ret_ifindex = nd->ifindex;
	*ret_index = vf->vf_index;
	return 0;
}

int apply_set_vf_mac(struct work *w, const struct action *a)
{
	uint32_t ifindex, vf;
	int r = find_vf(w, a, &ifindex, &vf);

	return r < 0 ? r : vf_set_mac(&w->doors->route, ifindex, vf, a->to);
}

int apply_set_vf_guid(struct work *w, const struct action *a)
{
	uint32_t ifindex, vf;
	char node[sizeof(a->to)];
	char *port;
	int r;

	COPY(node, a->to);
	port = strchr(node, ' ');
	if (!port)
		return -EINVAL;
	*port++ = '\0';

	r = find_vf(w, a, &ifindex, &vf);
	return r < 0 ? r : vf_set_guids(&w->doors->route, ifindex, vf, node, port);
}

int apply_set_vf_trust(struct work *w, const struct action *a)
{
	uint32_t ifindex, vf;
	int r = find_vf(w, a, &ifindex, &vf);

	return r < 0 ? r : vf_set_trust(&w->doors->route, ifindex, vf, streq(a->to, "1"));
}

int apply_set_vf_link(struct work *w, const struct action *a)
{
	uint32_t ifindex, vf;
	int r = find_vf(w, a, &ifindex, &vf);

	return r < 0 ? r : vf_set_link_auto(&w->doors->route, ifindex, vf);
}

int apply_rebind_driver(struct work *w, const struct action *a)
{
	char path[320];
	int r;

	/* Never a PF, whatever took the address of the VF meanwhile. */
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/physfn", a->target);
	if (!fs_exists(&w->doors->fs, path))
		return -ENODEV;

	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/driver/unbind", a->target);
	r = fs_write_attribute(&w->doors->fs, path, a->target);
	return r < 0 ? r : apply_bind_driver(w, a);
}
