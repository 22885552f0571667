/* SPDX-License-Identifier: Apache-2.0 */
#include "pci-observe.h"

#include <fcntl.h>
#include <net/if.h>

#define FOLDER       "sys/bus/pci/devices"
#define VDPA_FOLDER  "sys/bus/vdpa/devices"
#define CLASS_BRIDGE 0x06

#define MELLANOX         0x15b3
#define CONTAINER_FOLDER "run/mellanox/drivers"
#define VPD_BYTES        1024
#define MAX_UDEV_BYTES   (64u << 10)
#define MANAGEMENT_MARK  "SMDL=SW_MNG"

/*
 * Judges a failed read of a file of @pci. A missing file is no error; -ENODEV means that the
 * function went while we looked, and is not listed. Any other error costs this function alone, and
 * is reported where it matters.
 */
static int tolerate(struct pci *pci, const char *name, int r)
{
	if (r >= 0 || r == -ENOENT)
		return 0;
	if (r == -ENOMEM || r == -ENODEV)
		return r;
	PRINT(pci->unreadable, "%s: %s", name, strerror(-r));
	return 0;
}

static int read_number(const struct fs *fs, struct pci *pci, const char *name, uint32_t max,
		       uint32_t *ret, bool *ret_is_there)
{
	uint32_t value = 0;
	int r = fs_read_u32(fs, FS_PATH(FOLDER "/%s/%s", pci->address, name), &value);

	if (r >= 0 && value > max)
		r = -ERANGE;
	if (ret_is_there)
		*ret_is_there = r >= 0;
	*ret = r >= 0 ? value : 0;
	return tolerate(pci, name, r);
}

/* modalias_show() in drivers/pci/pci-sysfs.c: one file instead of three in each folder. */
static bool parse_modalias(struct pci *pci)
{
	unsigned vendor, device, base, sub, interface;

	if (sscanf(pci->modalias, "pci:v%8xd%8xsv%*8xsd%*8xbc%2xsc%2xi%2x", &vendor, &device, &base,
		   &sub, &interface) != 5 ||
	    vendor > UINT16_MAX || device > UINT16_MAX)
		return false;
	pci->vendor = (uint16_t)vendor;
	pci->device = (uint16_t)device;
	pci->class = base << 16 | sub << 8 | interface;
	return true;
}

/* Below --root the files count: a tree made by hand may have a modalias that does not fit them. */
static int read_ids(const struct fs *fs, struct pci *pci)
{
	uint32_t vendor = 0, device = 0;
	bool has_class = false;
	int r;

	fs_read(fs, FS_PATH(FOLDER "/%s/modalias", pci->address), pci->modalias,
		sizeof(pci->modalias));
	if (fs->is_live && parse_modalias(pci))
		return 0;
	r = read_number(fs, pci, "class", UINT32_MAX, &pci->class, &has_class);
	if (r < 0)
		return r;
	if (!has_class && !pci->unreadable[0] && parse_modalias(pci)) /* of a capture */
		return 0;
	r = read_number(fs, pci, "vendor", UINT16_MAX, &vendor, NULL);
	if (r >= 0)
		r = read_number(fs, pci, "device", UINT16_MAX, &device, NULL);
	pci->vendor = (uint16_t)vendor;
	pci->device = (uint16_t)device;
	return r;
}

static void read_numa_node(const struct fs *fs, struct pci *pci)
{
	char text[16];

	pci->numa_node = -1;
	/* "-1": the machine has no NUMA. */
	if (fs_read(fs, FS_PATH(FOLDER "/%s/numa_node", pci->address), text, sizeof(text)) >= 0 &&
	    text[0] >= '0' && text[0] <= '9')
		pci->numa_node = (int)strtol(text, NULL, 10);
}

static int read_sriov(const struct fs *fs, struct pci *pci)
{
	uint32_t autoprobe = 0;
	int r;

	/* A card without SR-IOV has no such file; the kernel has 16 bits for the number. */
	r = read_number(fs, pci, "sriov_totalvfs", UINT16_MAX, &pci->total_vfs, &pci->has_sriov);
	if (r < 0 || !pci->has_sriov)
		return r;

	r = tolerate(pci, "virtfn",
		     fs_count(fs, FS_PATH(FOLDER "/%s", pci->address), "virtfn", &pci->num_vfs));
	/* Since Linux 4.12; without this file VFs are bound as soon as they exist. */
	if (r >= 0)
		r = read_number(fs, pci, "sriov_drivers_autoprobe", 1, &autoprobe,
				&pci->has_autoprobe);
	pci->autoprobe = autoprobe != 0;
	return r;
}

static int read_driver(const struct fs *fs, struct pci *pci)
{
	const char *folder = FS_PATH(FOLDER "/%s", pci->address);
	const char *link = FS_PATH(FOLDER "/%s/driver", pci->address);
	int r = fs_read_link_name(fs, link, pci->driver, sizeof(pci->driver));
	struct stat st;

	if (r == -ENOENT)
		r = fs_read_uevent(fs, folder, "DRIVER=", pci->driver, sizeof(pci->driver));
	/* Files of a captured tree have numbers of their own. */
	if (fs->is_live && fs_stat(fs, r < 0 ? folder : link, &st) >= 0)
		pci->instance = st.st_ino;
	return tolerate(pci, "driver", r);
}

static int observe_function(const struct fs *fs, const char *address, struct pci *ret)
{
	_cleanup_(fs_leave) struct fs inside = {};
	struct pci pci = {};
	int r;

	if (!COPY(pci.address, address))
		return -ENODEV;
	r = read_ids(fs, &pci);
	if (r < 0)
		return r;
	if (pci.class >> 16 == CLASS_BRIDGE) {
		*ret = pci;
		return 0;
	}

	pci.has_config = !fs->is_live && fs_exists(fs, FS_PATH(FOLDER "/%s/config", address)) > 0;
	fs_enter(fs, FS_PATH(FOLDER "/%s", address), &inside);
	fs = &inside;
	read_numa_node(fs, &pci);
	r = read_driver(fs, &pci);
	if (r >= 0)
		r = read_sriov(fs, &pci);
	return GIVE(r, pci, ret);
}

/* The N of virtfnN. */
static bool parse_index(const char *name, uint32_t *ret)
{
	const char *at = after(name, "virtfn");

	return at && take_number(&at, UINT16_MAX, ret) && !*at;
}

/* A VF is known by the virtfnN link of its PF, never by arithmetic on addresses. */
static void name_vfs(const struct fs *fs, struct node *n, struct pci *pf)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char address[PCI_LEN];
	struct pci *vf;
	uint32_t index;

	node_note(n,
		  tolerate(pf, "virtfn", fs_list(fs, FS_PATH(FOLDER "/%s", pf->address), &names)));
	for (size_t i = 0; i < names.n_names; i++) {
		if (!parse_index(names.names[i], &index))
			continue;
		if (fs_read_link_name(fs, FS_PATH(FOLDER "/%s/virtfn%" PRIu32, pf->address, index),
				      address, sizeof(address)) < 0)
			continue; /* being made or removed just now */
		vf = (struct pci *)node_pci(n, address);
		if (!vf)
			continue; /* appeared after the folder was listed: the next look has it */
		COPY(vf->physfn, pf->address);
		vf->vf_index = index;
	}
}

/* A PF that plan_late() may probe: without a driver in this boot none hangs in a removal. */
static bool is_never_bound(const struct memory *memory, const struct pci *pci)
{
	const struct device_memory *m = memory_device(memory, pci->address);

	return pci->vendor == MELLANOX && pci_is_network(pci) &&
	       !(m && (m->netdev[0] || m->ibdev[0]));
}

/* A VF that hangs in a removal has no driver any more, and the lock of its driver is held. */
static void read_override(const struct fs *fs, const struct memory *memory, struct pci *pci)
{
	if ((!pci->physfn[0] && !is_never_bound(memory, pci)) || pci->driver[0] ||
	    (memory->stuck[0] &&
	     (streq(memory->stuck, pci->address) || streq(memory->stuck, pci->physfn))))
		return;
	fs_read(fs, FS_PATH(FOLDER "/%s/driver_override", pci->address), pci->driver_override,
		sizeof(pci->driver_override));
	if (streq(pci->driver_override, "(null)"))
		pci->driver_override[0] = '\0';
}

/*
 * The folder "net" of a function is there while it has a netdev in any namespace: another namespace
 * hides its contents, not the folder. get_device_parent(), cleanup_glue_dir() in
 * drivers/base/core.c. Netdevs of virtio are below another device. A captured tree has no empty
 * folders. Of physical functions only those of InfiniBand are asked, whose netdev goes with
 * ib_ipoib.
 */
static void look_for_netdev(const struct fs *fs, const struct memory *memory, struct pci *pci)
{
	const bool is_asked = pci->physfn[0] || pci->class >> 8 == CLASS_INFINIBAND;
	const struct device_memory *m = is_asked ? memory_device(memory, pci->address) : NULL;
	struct fs unrecorded = *fs; /* for a look at a capture does not ask this */

	if (!fs->is_live || !m || !m->netdev[0] || !pci->driver[0] ||
	    is_prefix(pci->driver, "virtio") || m->usable_instance != pci->instance)
		return;
	unrecorded.on_read = NULL;
	pci->is_without_netdev = !fs_exists(&unrecorded, FS_PATH(FOLDER "/%s/net", pci->address));
}

/* A vDPA device is below the function it was made of: _vdpa_register_device() in
 * drivers/vdpa/vdpa.c. */
static void name_vdpas(const struct fs *fs, struct node *n)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char target[512], address[PCI_LEN];
	struct pci *pci;

	/* Without the module there is no such bus. */
	node_note(n, fs_list(fs, VDPA_FOLDER, &names));
	for (size_t i = 0; i < names.n_names; i++) {
		if (fs_read_link(fs, FS_PATH(VDPA_FOLDER "/%s", names.names[i]), target,
				 sizeof(target)) < 0 ||
		    !parse_pci_of_path(target, address, sizeof(address)))
			continue;
		pci = (struct pci *)node_pci(n, address);
		if (pci)
			COPY(pci->vdpa, names.names[i]);
	}
}

static void look_for_adev(const struct fs *fs, struct node *n, struct pci *pci)
{
	_cleanup_(fs_names_done) struct fs_names names = {};

	node_note(n, fs_list(fs, FS_PATH(FOLDER "/%s", pci->address), &names));
	FOREACH(name, names.names, names.n_names) {
		if (!strstr(*name, ".rdma."))
			continue;
		pci->has_adev = true;
		pci->is_adev_bound =
			fs_exists(fs, FS_PATH(FOLDER "/%s/%s/driver", pci->address, *name)) > 0;
	}
}

void observe_adevs(const struct fs *fs, struct node *n)
{
	struct fs unrecorded = *fs; /* a captured tree has the answers */

	unrecorded.on_read = NULL;
	FOREACH(nd, n->netdevs, n->n_netdevs) {
		struct pci *pci = (struct pci *)node_pci(n, nd->pci);

		if (pci && node_bond_of(n, nd))
			look_for_adev(&unrecorded, n, pci);
	}
}

static bool has_management_mark(const struct fs *fs, const char *address)
{
	const char *path = FS_PATH(FOLDER "/%s/vpd", address);
	_cleanup_(closep) int fd = fs_open(fs, path, O_RDONLY | O_NONBLOCK);
	char text[VPD_BYTES];
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (size <= 0 || !memmem(text, (size_t)size, MANAGEMENT_MARK, strlen(MANAGEMENT_MARK)))
		return false;
	/* The rest has serial numbers, which nobody needs. */
	fs_record(fs, RECORD_FILE, path, MANAGEMENT_MARK "\n", strlen(MANAGEMENT_MARK) + 1);
	return true;
}

static void read_vpd(const struct fs *fs, const struct memory *memory, struct pci *pci)
{
	if (pci->vendor != MELLANOX || pci->class >> 8 != CLASS_INFINIBAND || pci->physfn[0] ||
	    memory_device(memory, pci->address))
		return;
	pci->is_management = has_management_mark(fs, pci->address);
}

bool observe_is_management(const struct fs *fs, const char *address)
{
	uint32_t vendor, class;

	return fs_read_u32(fs, FS_PATH(FOLDER "/%s/vendor", address), &vendor) >= 0 &&
	       fs_read_u32(fs, FS_PATH(FOLDER "/%s/class", address), &class) >= 0 &&
	       vendor == MELLANOX && class >> 8 == CLASS_INFINIBAND &&
	       !fs_exists(fs, FS_PATH(FOLDER "/%s/physfn", address)) &&
	       has_management_mark(fs, address);
}

/* "../../../devices/pci0000:40/0000:40:01.0/0000:41:00.0/...": the port, when one is above. */
static void read_root_port(const struct fs *fs, struct pci *pci)
{
	char target[512], *port;
	size_t len;

	if (pci->physfn[0] || (!pci_is_gpu(pci) && !pci_is_network(pci) && !pci_is_erdma(pci)))
		return;
	if (fs_read_link(fs, FS_PATH(FOLDER "/%s", pci->address), target, sizeof(target)) < 0)
		return;
	port = strstr(target, "/pci");
	port = port ? strchr(port + 1, '/') : NULL;
	len = port ? strcspn(port + 1, "/") : 0;
	if (len > 0 && port[1 + len] == '/' && pci_address_len(port + 1) == len)
		PRINT(pci->root_port, "%.*s", (int)len, port + 1);
}

int observe_pci(const struct fs *fs, struct node *n, const struct memory *memory)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	int r = fs_list(fs, FOLDER, &names);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;

	for (size_t i = 0; i < names.n_names; i++) {
		struct pci pci;

		if (pci_address_len(names.names[i]) != strlen(names.names[i]))
			continue;
		r = observe_function(fs, names.names[i], &pci);
		if (r == -ENODEV)
			continue; /* unplugged while we looked */
		if (r < 0)
			return r;
		/* Some copies, also of a capture, lack the folder that the link leads to. */
		if (!fs->is_live && !pci.class && !pci.vendor && !pci.unreadable[0]) {
			n->is_copy = true;
			continue;
		}
		n->has_functions = true;
		if (pci.class >> 16 == CLASS_BRIDGE)
			continue;
		NODE_ADD(n, pcis, pci);
	}

	for (size_t i = 0; i < n->n_pcis; i++)
		if (n->pcis[i].num_vfs > 0)
			name_vfs(fs, n, &n->pcis[i]);
	for (size_t i = 0; i < n->n_pcis; i++) {
		look_for_netdev(fs, memory, &n->pcis[i]);
		read_override(fs, memory, &n->pcis[i]);
		read_vpd(fs, memory, &n->pcis[i]);
	}
	for (size_t i = 0; i < n->n_pcis && ANY(g, n->pcis, n->n_pcis, pci_is_gpu(g)); i++)
		read_root_port(fs, &n->pcis[i]);

	n->is_container_loading = fs_exists(fs, CONTAINER_FOLDER) > 0 &&
				  !fs_exists(fs, CONTAINER_FOLDER "/.driver-ready");
	name_vdpas(fs, n);
	return node_result(n);
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
		if (len > 0 && pci_address_len(path) == len) {
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
 * Udev may have renamed the netdev since it was listed, and the kernel may have given its name to
 * another one: dev_alloc_name() in net/core/dev.c takes the first number that is free.
 */
static bool is_name_of_another(const struct fs *fs, const struct netdev *nd)
{
	struct fs quiet = *fs;
	uint32_t ifindex;

	quiet.on_read = NULL; /* a capture has it from netlink */
	return nd->ifindex > 0 &&
	       fs_read_u32(&quiet, FS_PATH("sys/class/net/%s/ifindex", nd->name), &ifindex) >= 0 &&
	       ifindex != nd->ifindex;
}

/* Has udev renamed the netdev since it was listed? It has its present name then. */
static bool take_new_name(const struct fs *fs, struct netdev *nd)
{
	char name[IF_NAMESIZE];

	if (!fs->is_live || nd->netns > 0 || !if_indextoname(nd->ifindex, name) ||
	    streq(nd->name, name))
		return false;
	COPY(nd->name, name);
	return true;
}

static int read_link(const struct fs *fs, const struct netdev *nd, char *ret, size_t size)
{
	int r = fs_read_link(fs, FS_PATH("sys/class/net/%s", nd->name), ret, size);

	/* a plain folder, in trees made by hand */
	return r == -ENOENT
		       ? fs_read_link(fs, FS_PATH("sys/class/net/%s/device", nd->name), ret, size)
		       : r;
}

/*
 * The link of a netdev in /sys/class/net leads through its PCI function also where another device
 * stands between (virtio); its "device" link names only the nearest.
 */
int observe_netdev_pci(const struct fs *fs, struct netdev *nd)
{
	char target[512], address[PCI_LEN];
	bool is_scalable, is_other;
	int r;

	do {
		address[0] = '\0';
		r = read_link(fs, nd, target, sizeof(target));
		if (r >= 0)
			find_function(target, address, &is_scalable);
		is_other = address[0] && is_name_of_another(fs, nd);
	} while ((r < 0 || is_other) && take_new_name(fs, nd));
	if (r == -ENOENT || r == -ENODEV)
		return 0; /* virtual, or gone just now */
	if (r < 0)
		return r;

	nd->has_device = !strstr(target, "/virtual/");
	if (!address[0] || is_other)
		return 0;
	if (is_scalable)
		COPY(nd->scalable_of, address);
	else
		COPY(nd->pci, address);
	return 0;
}

/* Does udev have files of netdevs? A tree may have a part of its files. */
static bool has_names(const struct fs *fs)
{
	uint32_t n = 0;

	return fs->is_live ? fs_exists(fs, "run/udev/data") > 0
			   : fs_count(fs, "run/udev/data", "n", &n) >= 0 && n > 0;
}

void observe_netdev_name(const struct fs *fs, struct netdev *nd)
{
	_cleanup_(freep) char *text = NULL;
	int r;

	if (!nd->pci[0])
		return;
	r = fs_read_all(fs, FS_PATH("run/udev/data/n%" PRIu32, nd->ifindex), MAX_UDEV_BYTES, true,
			&text, NULL);
	/* The netdev may have been renamed since it was listed. Without udev none is unnamed. */
	nd->is_unnamed = (r == -ENOENT && has_names(fs)) ||
			 (r >= 0 && strstr(text, "\nE:ID_RENAMING=1")) ||
			 !fs_exists(fs, FS_PATH("sys/class/net/%s", nd->name));
}
