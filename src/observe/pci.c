/* SPDX-License-Identifier: Apache-2.0 */
#include "pci.h"

#define FOLDER       "sys/bus/pci/devices"
#define CLASS_BRIDGE 0x06

static int read_optional_u32(const struct fs *fs, const char *path, uint32_t absent, uint32_t *ret)
{
	int r = fs_read_u32(fs, path, ret);

	if (r == -ENOENT) {
		*ret = absent;
		return 0;
	}
	return r;
}

static int read_numa_node(const struct fs *fs, const char *folder, int *ret)
{
	char path[128], text[16];
	int r;

	*ret = -1;
	snprintf(path, sizeof(path), "%s/numa_node", folder);
	r = fs_read(fs, path, text, sizeof(text));
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;

	/* "-1" is what a machine without NUMA says. */
	if (text[0] != '-')
		*ret = (int)strtol(text, NULL, 10);
	return 0;
}

/* Text that a device does not have stays empty. */
static int read_optional(int r)
{
	return r == -ENOENT || r == -EMSGSIZE ? 0 : r;
}

/* Since 4.12; where it is missing VFs are bound as soon as they are there. */
static int read_autoprobe(const struct fs *fs, const char *folder, struct pci *pci)
{
	uint32_t value = 0;
	char path[128];
	int r;

	snprintf(path, sizeof(path), "%s/sriov_drivers_autoprobe", folder);
	r = fs_read_u32(fs, path, &value);
	pci->has_autoprobe = r >= 0;
	pci->autoprobe = value != 0;
	return r == -ENOENT ? 0 : r;
}

static int observe_function(const struct fs *fs, const char *address, struct pci *ret)
{
	struct pci pci = {};
	char folder[64], path[128];
	uint32_t id = 0;
	int r;

	if (!COPY(pci.address, address))
		return -EINVAL;
	snprintf(folder, sizeof(folder), FOLDER "/%s", address);

	snprintf(path, sizeof(path), "%s/class", folder);
	r = read_optional_u32(fs, path, 0, &pci.class);
	if (r < 0)
		return r;
	if (pci.class >> 16 == CLASS_BRIDGE) {
		*ret = pci;
		return 0;
	}

	snprintf(path, sizeof(path), "%s/vendor", folder);
	r = read_optional_u32(fs, path, 0, &id);
	pci.vendor = (uint16_t)id;
	if (r >= 0) {
		snprintf(path, sizeof(path), "%s/device", folder);
		r = read_optional_u32(fs, path, 0, &id);
		pci.device = (uint16_t)id;
	}
	if (r >= 0)
		r = read_numa_node(fs, folder, &pci.numa_node);
	if (r >= 0) {
		snprintf(path, sizeof(path), "%s/modalias", folder);
		r = read_optional(fs_read(fs, path, pci.modalias, sizeof(pci.modalias)));
	}
	if (r >= 0) {
		snprintf(path, sizeof(path), "%s/driver", folder);
		r = read_optional(fs_read_link_name(fs, path, pci.driver, sizeof(pci.driver)));
	}
	if (r >= 0) {
		snprintf(path, sizeof(path), "%s/sriov_totalvfs", folder);
		r = fs_read_u32(fs, path, &pci.total_vfs);
		pci.has_sriov = r >= 0;
		r = r == -ENOENT ? 0 : r; /* a card without SR-IOV has no such file */
	}
	if (r >= 0 && pci.has_sriov)
		r = fs_count(fs, folder, "virtfn", &pci.num_vfs);
	if (r >= 0 && pci.has_sriov)
		r = read_autoprobe(fs, folder, &pci);
	if (r < 0)
		return r;

	*ret = pci;
	return 0;
}

/* A VF is known by the virtfnN link of its PF, never by arithmetic on addresses. */
static int name_vfs(const struct fs *fs, struct node *n, const struct pci *pf)
{
	for (uint32_t found = 0, i = 0; found < pf->num_vfs && i < pf->total_vfs; i++) {
		char path[128], address[PCI_LEN];
		struct pci *vf;
		int r;

		snprintf(path, sizeof(path), FOLDER "/%s/virtfn%" PRIu32, pf->address, i);
		r = fs_read_link_name(fs, path, address, sizeof(address));
		if (r == -ENOENT)
			continue; /* being made or removed just now */
		if (r < 0)
			return r;

		found++;
		vf = (struct pci *)node_pci(n, address);
		if (!vf)
			continue; /* appeared after the folder was listed: the next look has it */
		COPY(vf->physfn, pf->address);
		vf->vf_index = i;
	}

	return 0;
}

int observe_pci(const struct fs *fs, struct node *n)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	int r;

	r = fs_list(fs, FOLDER, &names);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;

	for (size_t i = 0; i < names.n_names; i++) {
		struct pci pci, *slot;

		r = observe_function(fs, names.names[i], &pci);
		if (r == -ENOENT || r == -ENODEV)
			continue; /* unplugged while we looked */
		if (r < 0)
			return r;
		if (pci.class >> 16 == CLASS_BRIDGE)
			continue;

		slot = APPEND(n->pcis, n->n_pcis);
		if (!slot)
			return -ENOMEM;
		*slot = pci;
	}

	for (size_t i = 0; i < n->n_pcis; i++) {
		if (n->pcis[i].num_vfs == 0)
			continue;
		r = name_vfs(fs, n, &n->pcis[i]);
		if (r < 0)
			return r;
	}

	return 0;
}
