/* SPDX-License-Identifier: Apache-2.0 */
#include "vf-observe.h"

#include "../base/log.h"
#include "../model/memory.h"
#include "../os/memory-file.h"
#include "../os/vf.h"

#define NET_ADDR_RANDOM 1 /* include/uapi/linux/netdevice.h */

static int recall_autoprobe(const struct fs *fs, enum memory_lifetime lifetime, struct node *n)
{
	_cleanup_(autoprobes_done) struct autoprobes l = {};
	int r;

	r = memory_read(fs, lifetime, &autoprobes_fields, &l);
	for (size_t i = 0; i < l.n_entries; i++) {
		const struct autoprobe_entry *e = &l.entries[i];
		struct pci *pci = (struct pci *)node_pci(n, e->pci);

		if (!pci)
			continue;
		pci->is_recorded = true;
		pci->is_switched |= n->boot_id[0] && streq(e->boot_id, n->boot_id);
	}
	return r;
}

static int list_infos(struct netlink *nl, struct pci *pf, struct node *n,
		      const struct memory *memory)
{
	const struct netdev *nd = node_netdev_of(n, pf->address);
	_cleanup_(freep) struct vf_info *infos = NULL;
	size_t n_infos = 0;
	int r;

	/* A driver stuck in a write may hold what its answer needs, and the kernel would wait for
	 * it with the lock of all network devices held. */
	if (!nd || pf->is_busy || streq(memory->stuck, pf->address))
		return 0;

	r = vf_list(nl, nd->ifindex, &infos, &n_infos);
	if (r == -ENOMEM)
		return r;
	if (r < 0) /* it is gone, or has more VFs than fit into one answer */
		log_debug_errno(r, "%s: nothing told of its VFs", pf->address);
	pf->has_silent_vfs = r >= 0 && n_infos == 0;

	for (size_t i = 0; i < n_infos; i++) {
		struct vf_info *slot = APPEND(n->vf_infos, n->n_vf_infos);

		if (!slot)
			return -ENOMEM;
		*slot = infos[i];
		COPY(slot->pf, pf->address);
	}
	return 0;
}

/* IFLA_VF_MAC of some drivers (igb) is the MAC that the VF's own driver made up. */
static void look_for_random_mac(const struct fs *fs, struct node *n, struct netdev *nd)
{
	const struct pci *pci = node_pci(n, nd->pci);
	uint32_t type = 0;

	if (!pci || !pci->physfn[0])
		return;
	nd->is_random_mac = fs_read_u32(fs, FS_PATH("sys/class/net/%s/addr_assign_type", nd->name),
					&type) >= 0 &&
			    type == NET_ADDR_RANDOM;
}

int observe_vfs(struct os *d, struct node *n, const struct memory *memory)
{
	int r;

	r = recall_autoprobe(&d->fs, MEMORY_NODE, n);
	if (r >= 0)
		r = recall_autoprobe(&d->fs, MEMORY_BOOT, n);
	for (size_t i = 0; i < n->n_netdevs; i++)
		look_for_random_mac(&d->fs, n, &n->netdevs[i]);
	for (size_t i = 0; i < n->n_pcis && r >= 0 && d->fs.is_live; i++)
		if (n->pcis[i].num_vfs > 0)
			r = list_infos(&d->route, &n->pcis[i], n, memory);
	return r;
}
