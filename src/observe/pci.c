/* SPDX-License-Identifier: Apache-2.0 */
#include "pci.h"

#include <ctype.h>
#include <fcntl.h>

#define FOLDER        "sys/bus/pci/devices"
#define VDPA_FOLDER   "sys/bus/vdpa/devices"
#define CLASS_BRIDGE  0x06
#define CLASS_NETWORK 0x02
#define NVIDIA_VENDOR 0x15b3 /* Mellanox */

#define CLASS_INFINIBAND 0x0207
#define MELLANOX         0x15b3
#define CONTAINER_FOLDER "run/mellanox/drivers"
#define VPD_BYTES        1024
#define MANAGEMENT_MARK  "SMDL=SW_MNG"

/* An address as the kernel writes it: "0000:3b:00.0", longer domains with more digits. */
static bool is_address(const char *s, size_t len)
{
	const size_t domain = strspn(s, "0123456789abcdef");
	const char *rest = s + domain;

	return domain >= 4 && domain <= 8 && len == domain + 8 && rest[0] == ':' &&
	       isxdigit((unsigned char)rest[1]) && isxdigit((unsigned char)rest[2]) &&
	       rest[3] == ':' && isxdigit((unsigned char)rest[4]) &&
	       isxdigit((unsigned char)rest[5]) && rest[6] == '.' && rest[7] >= '0' &&
	       rest[7] <= '7';
}

/*
 * What a function does not have is absent. One that went while we looked (ENODEV) is no function of
 * this node. Anything else costs this function alone, and is told where it matters.
 */
static int tolerate(struct pci *pci, const char *name, int r)
{
	if (r >= 0 || r == -ENOENT)
		return 0;
	if (r == -ENOMEM || r == -ENODEV)
		return r;
	snprintf(pci->unreadable, sizeof(pci->unreadable), "%s: %s", name, strerror(-r));
	return 0;
}

static int read_number(const struct fs *fs, struct pci *pci, const char *name, uint32_t max,
		       uint32_t *ret, bool *ret_is_there)
{
	uint32_t value = 0;
	char path[128];
	int r;

	snprintf(path, sizeof(path), FOLDER "/%s/%s", pci->address, name);
	r = fs_read_u32(fs, path, &value);
	if (r >= 0 && value > max)
		r = -ERANGE;
	if (ret_is_there)
		*ret_is_there = r >= 0;
	*ret = r >= 0 ? value : 0;
	return tolerate(pci, name, r);
}

static void read_numa_node(const struct fs *fs, struct pci *pci)
{
	char path[128], text[16];

	pci->numa_node = -1;
	snprintf(path, sizeof(path), FOLDER "/%s/numa_node", pci->address);
	/* "-1" is what a machine without NUMA says. */
	if (fs_read(fs, path, text, sizeof(text)) >= 0 && text[0] >= '0' && text[0] <= '9')
		pci->numa_node = (int)strtol(text, NULL, 10);
}

static int read_sriov(const struct fs *fs, struct pci *pci)
{
	uint32_t autoprobe = 0;
	char path[128];
	int r;

	/* A card without SR-IOV has no such file; the kernel has 16 bits for it. */
	r = read_number(fs, pci, "sriov_totalvfs", UINT16_MAX, &pci->total_vfs, &pci->has_sriov);
	if (r < 0 || !pci->has_sriov)
		return r;

	snprintf(path, sizeof(path), FOLDER "/%s", pci->address);
	r = tolerate(pci, "virtfn", fs_count(fs, path, "virtfn", &pci->num_vfs));
	/* Since 4.12; where it is missing VFs are bound as soon as they are there. */
	if (r >= 0)
		r = read_number(fs, pci, "sriov_drivers_autoprobe", 1, &autoprobe,
				&pci->has_autoprobe);
	pci->autoprobe = autoprobe != 0;
	return r;
}

/* Files of a captured tree have numbers of their own. */
static void read_instance(const struct fs *fs, struct pci *pci)
{
	char path[128];

	if (!fs->is_live)
		return;
	snprintf(path, sizeof(path), FOLDER "/%s/driver", pci->address);
	if (fs_inode(fs, path, &pci->instance) >= 0)
		return;
	snprintf(path, sizeof(path), FOLDER "/%s", pci->address);
	if (fs_inode(fs, path, &pci->instance) < 0)
		pci->instance = 0; /* unplugged while we looked */
}

static int observe_function(const struct fs *fs, const char *address, struct pci *ret)
{
	_cleanup_(fs_leave) struct fs inside = {};
	struct pci pci = {};
	uint32_t vendor = 0, device = 0;
	char folder[64], path[128];
	int r;

	if (!COPY(pci.address, address))
		return -ENODEV;
	r = read_number(fs, &pci, "class", UINT32_MAX, &pci.class, NULL);
	if (r < 0)
		return r;
	if (pci.class >> 16 == CLASS_BRIDGE) {
		*ret = pci;
		return 0;
	}

	snprintf(folder, sizeof(folder), FOLDER "/%s", address);
	fs_enter(fs, folder, &inside);
	fs = &inside;
	r = read_number(fs, &pci, "vendor", UINT16_MAX, &vendor, NULL);
	if (r >= 0)
		r = read_number(fs, &pci, "device", UINT16_MAX, &device, NULL);
	pci.vendor = (uint16_t)vendor;
	pci.device = (uint16_t)device;
	read_numa_node(fs, &pci);
	if (r >= 0) {
		snprintf(path, sizeof(path), "%s/modalias", folder);
		if (fs_read(fs, path, pci.modalias, sizeof(pci.modalias)) < 0)
			pci.modalias[0] = '\0';
		snprintf(path, sizeof(path), "%s/driver", folder);
		r = tolerate(&pci, "driver",
			     fs_read_link_name(fs, path, pci.driver, sizeof(pci.driver)));
	}
	read_instance(fs, &pci);
	if (r >= 0)
		r = read_sriov(fs, &pci);
	if (r < 0)
		return r;

	*ret = pci;
	return 0;
}

/* The N of virtfnN. */
static bool parse_index(const char *name, uint32_t *ret)
{
	unsigned long index;
	char *end;

	if (strncmp(name, "virtfn", 6) != 0 || name[6] < '0' || name[6] > '9')
		return false;
	index = strtoul(name + 6, &end, 10);
	*ret = (uint32_t)index;
	return !*end && index <= UINT16_MAX;
}

/* A VF is known by the virtfnN link of its PF, never by arithmetic on addresses. */
static int name_vfs(const struct fs *fs, struct node *n, struct pci *pf)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char path[320], address[PCI_LEN];
	struct pci *vf;
	uint32_t index;
	int r;

	snprintf(path, sizeof(path), FOLDER "/%s", pf->address);
	r = fs_list(fs, path, &names);
	if (r < 0)
		return tolerate(pf, "virtfn", r) == -ENOMEM ? -ENOMEM : 0;

	for (size_t i = 0; i < names.n_names; i++) {
		if (!parse_index(names.names[i], &index))
			continue;
		snprintf(path, sizeof(path), FOLDER "/%s/virtfn%" PRIu32, pf->address, index);
		if (fs_read_link_name(fs, path, address, sizeof(address)) < 0)
			continue; /* being made or removed just now */
		vf = (struct pci *)node_pci(n, address);
		if (!vf)
			continue; /* appeared after the folder was listed: the next look has it */
		COPY(vf->physfn, pf->address);
		vf->vf_index = index;
	}
	return 0;
}

/* A PF that plan/late.c may probe: one that had no driver in this boot does not hang in a removal.
 */
static bool is_never_bound(const struct node *n, const struct pci *pci)
{
	const struct memory *m = node_memory(n, pci->address);

	return pci->vendor == NVIDIA_VENDOR && pci->class >> 16 == CLASS_NETWORK &&
	       !(m && (m->netdev[0] || m->ibdev[0]));
}

/* A VF that hangs in a removal has no driver any more, and the lock of its driver is held. */
static void read_override(const struct fs *fs, const struct node *n, struct pci *pci)
{
	char path[128];

	if ((!pci->physfn[0] && !is_never_bound(n, pci)) || pci->driver[0] ||
	    (n->stuck[0] && (streq(n->stuck, pci->address) || streq(n->stuck, pci->physfn))))
		return;
	snprintf(path, sizeof(path), FOLDER "/%s/driver_override", pci->address);
	if (fs_read(fs, path, pci->driver_override, sizeof(pci->driver_override)) < 0 ||
	    streq(pci->driver_override, "(null)"))
		pci->driver_override[0] = '\0';
}

/* A vDPA device is below the function it was made of: _vdpa_register_device() in
 * drivers/vdpa/vdpa.c. */
static int name_vdpas(const struct fs *fs, struct node *n)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char path[320], target[512], address[PCI_LEN];
	struct pci *pci;
	int r;

	r = fs_list(fs, VDPA_FOLDER, &names);
	if (r < 0)
		return r == -ENOMEM ? r : 0; /* without the module there is no such bus */

	for (size_t i = 0; i < names.n_names; i++) {
		snprintf(path, sizeof(path), VDPA_FOLDER "/%s", names.names[i]);
		if (fs_read_link(fs, path, target, sizeof(target)) < 0 ||
		    !parse_pci_of_path(target, address, sizeof(address)))
			continue;
		pci = (struct pci *)node_pci(n, address);
		if (pci)
			COPY(pci->vdpa, names.names[i]);
	}
	return 0;
}

static void read_vpd(const struct fs *fs, const struct node *n, struct pci *pci)
{
	_cleanup_(closep) int fd = -EBADF;
	char path[128], text[VPD_BYTES];
	ssize_t size;

	if (pci->vendor != MELLANOX || pci->class >> 8 != CLASS_INFINIBAND || pci->physfn[0] ||
	    node_memory(n, pci->address))
		return;
	snprintf(path, sizeof(path), FOLDER "/%s/vpd", pci->address);
	fd = fs_open(fs, path, O_RDONLY | O_NONBLOCK);
	size = fd < 0 ? -1 : read(fd, text, sizeof(text));
	pci->is_management =
		size > 0 && memmem(text, (size_t)size, MANAGEMENT_MARK, strlen(MANAGEMENT_MARK));
	/* The rest has serial numbers, which nobody needs. */
	if (pci->is_management)
		fs_record(fs, RECORD_FILE, path, MANAGEMENT_MARK "\n", strlen(MANAGEMENT_MARK) + 1);
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

		if (!is_address(names.names[i], strlen(names.names[i])))
			continue;
		r = observe_function(fs, names.names[i], &pci);
		if (r == -ENODEV)
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
	for (size_t i = 0; i < n->n_pcis; i++) {
		read_override(fs, n, &n->pcis[i]);
		read_vpd(fs, n, &n->pcis[i]);
	}

	n->is_container_loading = fs_exists(fs, CONTAINER_FOLDER) &&
				  !fs_exists(fs, CONTAINER_FOLDER "/.driver-ready");
	return name_vdpas(fs, n);
}

/* "mlx5_core.sf.4" */
static bool is_scalable(const char *s, size_t len)
{
	const char *infix = memmem(s, len, ".sf.", 4);
	const size_t digits = infix ? strspn(infix + 4, "0123456789") : 0;

	return digits > 0 && infix + 4 + digits == s + len;
}

/* The last function in a path; "" when there is none. */
static void find_function(const char *path, char ret[static PCI_LEN], bool *ret_is_scalable)
{
	ret[0] = '\0';
	*ret_is_scalable = false;
	for (size_t len; *path; path += len, path += *path == '/') {
		len = strcspn(path, "/");
		if (len < PCI_LEN && is_address(path, len)) {
			memcpy(ret, path, len);
			ret[len] = '\0';
			*ret_is_scalable = false;
		} else if (is_scalable(path, len)) {
			*ret_is_scalable = true;
		}
	}
}

bool parse_pci_of_path(const char *path, char *ret, size_t size)
{
	char address[PCI_LEN];
	bool is_scalable;

	find_function(path, address, &is_scalable);
	return address[0] && !is_scalable && copy(ret, size, address);
}

/*
 * The link of a netdev in /sys/class/net leads through its PCI function also where another device
 * stands between (virtio); its "device" link names only the nearest.
 */
int observe_netdev_pci(const struct fs *fs, struct netdev *nd)
{
	char path[64], target[512], address[PCI_LEN];
	bool is_scalable;
	int r;

	snprintf(path, sizeof(path), "sys/class/net/%s", nd->name);
	r = fs_read_link(fs, path, target, sizeof(target));
	if (r == -ENOENT) { /* a plain folder, in trees made by hand */
		snprintf(path, sizeof(path), "sys/class/net/%s/device", nd->name);
		r = fs_read_link(fs, path, target, sizeof(target));
	}
	if (r == -ENOENT || r == -ENODEV)
		return 0; /* virtual, renamed or gone just now */
	if (r < 0)
		return r;

	find_function(target, address, &is_scalable);
	if (is_scalable)
		COPY(nd->scalable_of, address);
	else
		COPY(nd->pci, address);
	return 0;
}
