/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

/* What the kernel's answer means: sriov_numvfs_store() and sriov_enable() in drivers/pci/iov.c. */
static const struct {
	int error;
	const char *words;
} numvfs_errors[] = {
	{ ERANGE, "more than sriov_totalvfs" },
	{ EBUSY, "VFs exist already: the count changes only through zero" },
	{ ENOENT, "no driver is bound, or it has no SR-IOV" },
	{ EINVAL, "not a number the kernel takes" },
	{ ENOMEM, "no room for the VFs: enable SR-IOV and ARI in the firmware setup, or boot with "
		  "pci=realloc (memory windows) or pci=assign-busses (bus numbers)" },
	{ EIO, "the card's VF counts disagree with each other: its firmware needs attention" },
	{ EPERM, "a VF is assigned to a virtual machine" },
};

int apply_set_num_vfs(struct work *w, const struct action *a)
{
	char path[320];
	int r;

	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/sriov_numvfs", a->target);
	r = fs_write_attribute(&w->doors->fs, path, a->to);
	for (size_t i = 0; i < ELEMENTSOF(numvfs_errors) && r < 0; i++)
		if (-r == numvfs_errors[i].error)
			copy(w->error, sizeof(a->error), numvfs_errors[i].words);
	return r;
}

int apply_set_autoprobe(struct work *w _unused_, const struct action *a _unused_)
{
	return -EOPNOTSUPP;
}

int apply_set_vf_mac(struct work *w _unused_, const struct action *a _unused_)
{
	return -EOPNOTSUPP;
}

int apply_set_vf_guid(struct work *w _unused_, const struct action *a _unused_)
{
	return -EOPNOTSUPP;
}

int apply_set_vf_trust(struct work *w _unused_, const struct action *a _unused_)
{
	return -EOPNOTSUPP;
}

int apply_set_vf_link(struct work *w _unused_, const struct action *a _unused_)
{
	return -EOPNOTSUPP;
}
