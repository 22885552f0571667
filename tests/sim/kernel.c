/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel: what a kernel and its drivers do, as far as this program can see it.
 */
#include "../../src/model/module-options.h"
#include "sim.h"

#include <linux/if_link.h>

/*
 * mlx5_core: mlx5_sriov_enable() in .../mlx5/core/sriov.c enables VF by VF, goes on after one that
 * fails and returns success; in switchdev mode a VF has a link while its representor is up:
 * mlx5e_rep_open() in .../core/en_rep.c. igb: igb_enable_sriov(), igbvf_probe() makes up a MAC
 * where the PF has none or is down. bnxt_en: bnxt_sriov_configure() returns 0 while the PF is down.
 * ice, i40e: VFs are iavf's, without an auxiliary device for irdma: irdma_auxiliary_id_table[] in
 * hw/irdma/main.c; X722 has iWARP alone: i40iw_auxiliary_id_table[] in hw/irdma/i40iw_if.c. erdma:
 * no SR-IOV, iWARP; its netdev is of another function with its MAC: erdma_enum_and_get_netdev() in
 * hw/erdma/erdma_main.c.
 */
#define MLX5 "mlx5_core"
static const struct habit habits[] = {
	{ "igb", "eth", NULL, 0x8086, 0x10c9, 7, HABIT_RANDOM, 20000, 30000, 0 },
	{ MLX5, "ens", NULL, 0x15b3, 0x101d, 6, HABIT_RDMA | HABIT_SHORT, 600000, 400000, 300000 },
	{ MLX5, "ib", NULL, 0x15b3, 0x1021, 4,
	  HABIT_RDMA | HABIT_SHORT | HABIT_INFINIBAND | HABIT_NO_TRUST, 600000, 400000, 300000 },
	{ "ice", "enp", "irdma", 0x8086, 0x1593, 8, HABIT_RDMA | HABIT_NO_VF_RDMA, 50000, 60000,
	  900000 },
	{ "bnxt_en", "enb", NULL, 0x14e4, 0x1750, 5, HABIT_RDMA | HABIT_UP_FIRST, 90000, 200000,
	  700000 },
	{ "i40e", "eni", "irdma", 0x8086, 0x37d2, 8, HABIT_RDMA | HABIT_NO_VF_RDMA | HABIT_IWARP,
	  50000, 60000, 900000 },
	{ MLX5, "enm", NULL, 0x15b3, 0x1019, 4, HABIT_RDMA | HABIT_NO_TRUST, 600000, 400000,
	  300000 },
	{ MLX5, "enr", NULL, 0x15b3, 0x101b, 4, HABIT_RDMA | HABIT_SHORT | HABIT_SWITCHDEV, 600000,
	  400000, 300000 },
	{ "erdma", "", NULL, 0x1ded, 0x107f, 0,
	  HABIT_RDMA | HABIT_IWARP | HABIT_NO_SRIOV | HABIT_NO_NETDEV, 0, 0, 400000 },
	{ "virtio-pci", "env", NULL, 0x1af4, 0x1041, 0, HABIT_NO_SRIOV, 0, 0, 0 },
};

/* Loaded on demand, or by us. */
static const char *const modules[] = { "ib_core",  "ib_uverbs", "rdma_ucm", "ib_umad",
				       "ib_ipoib", "irdma",     SMC_MODULE };

static int set_module(const char *module, bool is_loaded)
{
	for (size_t i = 0; i < ELEMENTSOF(modules); i++)
		if (streq(modules[i], module)) {
			sim.has_module[i] = is_loaded;
			return 0;
		}
	return -ENOENT;
}

int kernel_load(const char *module)
{
	return set_module(module, true);
}

void kernel_forget(const char *module)
{
	set_module(module, false);
}

static bool has_module(const char *module)
{
	for (size_t i = 0; i < ELEMENTSOF(modules); i++)
		if (streq(modules[i], module))
			return sim.has_module[i];
	return false;
}

uint64_t sim_random(uint64_t below)
{
	uint64_t z = (sim.random += UINT64_C(0x9e3779b97f4a7c15)); /* splitmix64 */

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return below > 0 ? (z ^ z >> 31) % below : 0;
}

/* Faults end when it is quiet. */
bool sim_chance(unsigned of_thousand)
{
	return !sim.is_quiet && of_thousand > 0 && sim_random(1000) < of_thousand;
}

bool func_is_there(const struct func *f)
{
	return f->appears_usec <= sim.now_usec;
}

/*
 * The ports of a card in a bond share an RDMA device, of the first, while none of them has VFs:
 * mlx5_lag_check_prereq() and mlx5_do_bond() in .../mlx5/core/lag/lag.c.
 */
bool kernel_is_lag(const struct func *pf)
{
	const struct func *other = pf->is_port ? &sim.funcs[pf->partner] : NULL;

	return other && sim.bond_usec <= sim.now_usec && pf->is_bound && other->is_bound &&
	       pf->num_vfs == 0 && other->num_vfs == 0;
}

bool func_has_ibdev(const struct func *f)
{
	return func_is_there(f) && f->is_bound && f->ibdev_usec <= sim.now_usec &&
	       (!f->habit->module || has_module(f->habit->module)) &&
	       !(kernel_is_lag(f) && f->partner < f - sim.funcs);
}

bool kernel_is_iwarp(const struct func *f)
{
	return f->habit->flags & HABIT_IWARP &&
	       !(f->habit->flags & HABIT_NO_NETDEV && sim.is_compat);
}

/* An InfiniBand port needs no netdev, but a VF's one a link state that lets it. */
static bool is_port_up(const struct func *f)
{
	if (f->habit->flags & HABIT_NO_NETDEV)
		f = &sim.funcs[f->partner];
	if (!(f->habit->flags & HABIT_INFINIBAND))
		return f->is_up && f->has_carrier;
	return f->has_carrier && f->info.link_state != IFLA_VF_LINK_STATE_DISABLE;
}

/*
 * What the program calls usable, from the model's own state. A device has no uverbsN without
 * ib_uverbs_add_one() in drivers/infiniband/core/uverbs_main.c, nor umadN without ib_umad_add_one()
 * in user_mad.c beside it.
 */
bool func_is_usable(const struct func *f)
{
	return func_has_ibdev(f) && has_module("ib_uverbs") && has_module("rdma_ucm") &&
	       (has_module("ib_umad") || kernel_is_iwarp(f)) &&
	       (f->is_in_pod || is_port_up(f) || (f->pf >= 0 && is_port_up(&sim.funcs[f->pf])));
}

struct func *kernel_find(const char *address, size_t len)
{
	for (size_t i = 0; i < sim.n_funcs; i++)
		if (strlen(sim.funcs[i].address) == len &&
		    strncmp(sim.funcs[i].address, address, len) == 0)
			return &sim.funcs[i];
	return NULL;
}

/* IPoIB makes its netdevs of RDMA devices: ipoib_add_one() in .../ulp/ipoib/ipoib_main.c. */
bool kernel_has_netdev(const struct func *f)
{
	if (!func_is_there(f) || !f->is_bound || f->is_in_pod || f->is_orphan ||
	    f->habit->flags & HABIT_NO_NETDEV)
		return false;
	return !(f->habit->flags & HABIT_INFINIBAND) ||
	       (has_module("ib_ipoib") && func_has_ibdev(f));
}

struct func *kernel_of_ifindex(uint32_t ifindex)
{
	for (size_t i = 0; i < sim.n_funcs; i++)
		if (sim.funcs[i].ifindex == ifindex && kernel_has_netdev(&sim.funcs[i]))
			return &sim.funcs[i];
	return NULL;
}

static void make_mac(char *ret, size_t size, unsigned first, uint32_t number)
{
	snprintf(ret, size, "%02x:00:00:00:%02x:%02x", first, number >> 8 & 0xff, number & 0xff);
}

/* Only in some, so that the others stay what they were. */
static bool is_life_with_names(void)
{
	return sim.seed % 8 == 3;
}

void kernel_name_netdevs(void)
{
	for (size_t i = 0; i < sim.n_funcs; i++) {
		struct func *f = &sim.funcs[i];

		if (f->named_usec == 0 || f->named_usec > sim.now_usec)
			continue;
		f->named_usec = 0;
		if (!kernel_has_netdev(f))
			continue;
		snprintf(f->netdev, sizeof(f->netdev), "%s%" PRIu32, f->habit->netdev, f->ifindex);
		sim_trace("%s: udev names its netdev %s", f->address, f->netdev);
	}
}

/* The first number that is free: alloc_name() in drivers/infiniband/core/device.c. */
static void name_ibdev(struct func *f)
{
	uint32_t number = 0;
	bool is_free;

	do {
		is_free = true;
		snprintf(f->ibdev, sizeof(f->ibdev), "rdma%" PRIu32, number++);
		for (size_t i = 0; i < sim.n_funcs; i++)
			is_free &= &sim.funcs[i] == f || !sim.funcs[i].is_bound ||
				   !streq(sim.funcs[i].ibdev, f->ibdev);
	} while (!is_free);
}

int kernel_bind(struct func *f)
{
	const struct habit *h = f->habit;
	uint64_t late = sim_chance(sim.rates.late) ? sim_random(40 * USEC_PER_SEC) : 0;

	f->is_bound = true;
	f->instance = ++sim.next_instance;
	f->ifindex = ++sim.next_ifindex;
	f->ib_index = sim.next_index++;
	f->mtu = 1500;
	snprintf(f->netdev, sizeof(f->netdev), "%s%" PRIu32, h->netdev, f->ifindex);
	f->named_usec = 0;
	if (f->pf >= 0 && is_life_with_names()) {
		snprintf(f->netdev, sizeof(f->netdev), "eth%" PRIu32, f->ifindex);
		f->named_usec =
			MAX(sim.now_usec, f->appears_usec) + 1 + sim_random(8 * USEC_PER_SEC);
	}
	name_ibdev(f);
	f->is_random = f->is_orphan = false;
	f->carrier_downs = 0;
	f->bounce_usec = UINT64_MAX;
	f->pod_mac[0] = f->lent.name[0] = '\0';
	snprintf(f->altnames, sizeof(f->altnames), "enp%s", f->address); /* as udev gives one */
	COPY(f->bound_guid, f->info.node_guid);
	if (f->pf >= 0) {
		f->is_random = streq(f->info.mac, "00:00:00:00:00:00") ||
			       (h->flags & HABIT_RANDOM && !sim.funcs[f->pf].is_up);
		if (f->is_random)
			make_mac(f->mac, sizeof(f->mac), 0x06,
				 (uint32_t)sim_random(65536)); /* eth_hw_addr_random() */
		else
			COPY(f->mac, f->info.mac);
	}
	priorities_bind(f);
	f->ibdev_usec = UINT64_MAX;
	if (h->flags & HABIT_RDMA && !(f->pf >= 0 && h->flags & HABIT_NO_VF_RDMA))
		f->ibdev_usec =
			MAX(sim.now_usec, f->appears_usec) + sim_random(h->rdma_usec + 1) + late;
	links_here(f);
	return 0;
}

void kernel_unbind(struct func *f)
{
	links_gone(f);
	links_forget(f);
	f->is_bound = f->is_up = f->is_in_pod = f->is_orphan = false;
	f->lent.name[0] = '\0';
	f->user = 0;
	f->ibdev_usec = UINT64_MAX;
}

void kernel_replug(struct func *pf)
{
	const uint32_t mtu = pf->mtu;

	kernel_unbind(pf);
	kernel_bind(pf);
	if (sim_random(2) == 0) { /* a network manager is faster than we are */
		links_set(pf, true, true, mtu);
	}
	pf->has_carrier = pf->is_replaced = true;
}

void kernel_probe(const char *driver)
{
	for (size_t i = 0; i < sim.n_funcs; i++)
		if (sim.funcs[i].pf < 0 && !sim.funcs[i].is_bound &&
		    streq(sim.funcs[i].habit->driver, driver))
			kernel_bind(&sim.funcs[i]);
}

uint32_t kernel_count(const struct func *pf)
{
	uint32_t n = 0;

	for (size_t i = 0; i < sim.n_funcs; i++)
		n += sim.funcs[i].pf == pf - sim.funcs && sim.funcs[i].appears_usec != UINT64_MAX;
	return n;
}

static void add_vf(struct func *pf, uint32_t index, uint64_t appears_usec)
{
	struct func *f = NULL;
	char address[PCI_LEN];

	/* The same VF has the same address in each boot: pci_iov_virtfn_devfn(). */
	snprintf(address, sizeof(address), "%.8s%02x.%x", pf->address,
		 1 + index / 8 + 2 * (uint32_t)(pf->address[11] - '0'), index % 8);
	f = kernel_find(address, strlen(address));
	if (!f && sim.n_funcs < FUNCS_MAX) {
		f = &sim.funcs[sim.n_funcs++];
		*f = (struct func){ .pf = (int)(pf - sim.funcs), .partner = -1 };
		COPY(f->address, address);
	}
	if (!f)
		return;
	f->habit = pf->habit;
	f->vf_index = index;
	f->appears_usec = appears_usec;
	f->instance = ++sim.next_instance;
	f->is_bound = f->is_up = f->is_in_pod = false;
	f->was_usable_at_look = f->was_with_pf_at_look = f->was_usable_with_pf = false;
	f->lost_usec = 0;
	f->has_carrier = true;
	f->user = 0;
	f->info = (struct vf_info){ .index = index,
				    .trust = pf->habit->flags & HABIT_NO_TRUST ? -1 : 0 };
	COPY(f->info.pf, pf->address);
	COPY(f->info.mac, "00:00:00:00:00:00");
	if (pf->habit->flags & HABIT_INFINIBAND) { /* as mlx5 makes each VF: hw/mlx5/ib_virt.c */
		COPY(f->info.node_guid, "0000:0000:0000:0000");
		COPY(f->info.port_guid, "0000:0000:0000:0000");
		f->info.link_state = IFLA_VF_LINK_STATE_DISABLE;
	}
	f->ibdev_usec = UINT64_MAX;
	if (pf->autoprobe)
		kernel_bind(f);
}

static void remove_vfs(struct func *pf)
{
	for (size_t i = 0; i < sim.n_funcs; i++)
		if (sim.funcs[i].pf == pf - sim.funcs) {
			kernel_unbind(&sim.funcs[i]);
			sim.funcs[i].appears_usec = UINT64_MAX;
		}
	pf->num_vfs = 0;
}

/* delete_module(): remove() of each of its functions. */
void kernel_unload(const char *driver)
{
	for (size_t i = 0; i < sim.n_funcs; i++) {
		struct func *pf = &sim.funcs[i];

		if (pf->pf >= 0 || !streq(pf->habit->driver, driver))
			continue;
		remove_vfs(pf);
		kernel_unbind(pf);
	}
}

/* pciehp_unconfigure_device() in drivers/pci/hotplug/pciehp_pci.c: the slot is empty. */
void kernel_unplug(struct func *pf)
{
	remove_vfs(pf);
	kernel_unbind(pf);
	pf->appears_usec = UINT64_MAX;
}

void kernel_plug_again(struct func *pf)
{
	pf->appears_usec = sim.now_usec;
	pf->autoprobe = pf->has_carrier = true;
	kernel_bind(pf);
}

/* Only in some, so that the others stay what they were. */
bool is_life_with_slots(void)
{
	return sim.seed % 8 == 0;
}

/*
 * What some drivers say of a number of VFs: i40e_pci_sriov_configure() in
 * .../i40e/i40e_virtchnl_pf.c refuses with EINVAL, igb_disable_sriov() with EPERM while a virtual
 * machine has one.
 */
static int refuse(uint32_t n)
{
	return n > 0 ? -EINVAL : -EPERM;
}

/* sriov_numvfs_store() in drivers/pci/iov.c. */
int kernel_set_num_vfs(struct func *pf, uint32_t n)
{
	static const int errors[] = { -EBUSY, -EAGAIN, -ENOMEM, -EIO };
	const struct habit *h = pf->habit;
	uint64_t begins = sim.now_usec, each = h->vf_usec;
	uint32_t made = n;

	if (n > pf->total_vfs)
		return -ERANGE;
	if (!pf->is_bound || h->flags & HABIT_NO_SRIOV)
		return -ENOENT;
	if (n == pf->num_vfs)
		return 0;
	if (n > 0 && pf->num_vfs > 0)
		return -EBUSY;
	sim.cost_usec += 100 * USEC_PER_MSEC;
	if (h->flags & HABIT_UP_FIRST && !pf->is_up)
		return 0;
	if (n == 0 ? sim_chance(sim.rates.error)
		   : is_life_with_slots() && sim_chance(sim.rates.error / 4))
		return refuse(n);
	if (sim_chance(sim.rates.error))
		return errors[sim_random(ELEMENTSOF(errors))];
	if (sim_chance(sim.rates.hang)) {
		sim_trace("  %s: the write hangs", pf->address);
		begins += (310 + sim_random(300)) * USEC_PER_SEC;
	} else if (sim_chance(sim.rates.slow)) {
		each *= 20;
	}
	if (n == 0) {
		sim.cost_usec += begins - sim.now_usec + pf->num_vfs * 200 * USEC_PER_MSEC;
		remove_vfs(pf);
	} else {
		if (h->flags & HABIT_SHORT && sim_chance(sim.rates.few))
			made = (uint32_t)sim_random(n);
		for (uint32_t i = 0; i < made; i++)
			add_vf(pf, i, begins + (i + 1) * each);
		pf->num_vfs = made;
		sim.cost_usec += begins - sim.now_usec + (n + 1) * each;
	}
	sim.locked_until_usec = sim.now_usec + sim.cost_usec;
	sim.locked = pf;
	sim.writer_pid = UINT32_MAX;
	sim.is_foreign = pf->is_count_foreign = false;
	return 0;
}

/* @number: of the function. */
void kernel_plug(const char *driver, unsigned slot, unsigned number)
{
	struct func *f = &sim.funcs[sim.n_funcs++];
	size_t i = 0;

	while (!streq(habits[i].driver, driver) && !streq(habits[i].netdev, driver))
		i++;
	*f = (struct func){ .habit = &habits[i], .pf = -1, .partner = -1 };
	snprintf(f->address, sizeof(f->address), "0000:%02x:00.%u", slot, number);
	make_mac(f->mac, sizeof(f->mac), 0x00, slot + (number << 8));
}

void kernel_boot(void)
{
	sim.next_ifindex = 1;
	sim.next_index = 0;
	sim.next_instance = 100;
	sim.locked_until_usec = 0;
	sim.writer_pid = 0;
	memset(sim.jobs, 0, sizeof(sim.jobs));
	routes_boot();
	links_boot();
	namespaces_boot();
	metadata_boot();
	driver_boot();
	kubelet_boot();
	for (size_t i = 0; i < ELEMENTSOF(modules); i++)
		sim.has_module[i] = !streq(modules[i], SMC_MODULE) && sim_random(4) > 0;
	smc_boot();
	for (size_t i = 0; i < sim.n_funcs; i++) {
		struct func *f = &sim.funcs[i];

		f->appears_usec = f->pf < 0 ? 0 : UINT64_MAX;
		f->num_vfs = 0;
		f->autoprobe = true;
		f->is_count_foreign = f->is_unnoted = f->is_odd = f->is_spoilt = false;
		f->cni_usec = 0;
		if (f->total_vfs == 0 || sim_chance(sim.rates.operator/ 8)) { /* other firmware */
			f->total_vfs = f->habit->total_vfs - (uint32_t)(sim_random(6) == 0);
			f->firmware = (uint32_t)sim_random(100);
		}
		kernel_unbind(f);
		f->has_carrier = true;
		/* Its driver may come late, from DKMS or a container. */
		if (f->pf < 0 && (f->is_node || !sim_chance(sim.rates.late / 8))) {
			kernel_bind(f);
			f->is_up = f->is_node;
		}
	}
}

/*
 * When something comes that has an event of its own: functions, RDMA devices, and the end of a
 * write of a number of VFs: KOBJ_CHANGE in sriov_enable() and sriov_disable(), drivers/pci/iov.c.
 */
uint64_t kernel_next(void)
{
	uint64_t next = sim.locked_until_usec > sim.now_usec ? sim.locked_until_usec : UINT64_MAX;

	next = MIN(next, MIN(routes_next(), links_next()));
	if (sim.bond_usec > sim.now_usec)
		next = MIN(next, sim.bond_usec);
	for (size_t i = 0; i < sim.n_funcs; i++) {
		const struct func *f = &sim.funcs[i];

		if (f->appears_usec > sim.now_usec)
			next = MIN(next, f->appears_usec);
		if (f->is_bound && f->ibdev_usec > sim.now_usec)
			next = MIN(next, f->ibdev_usec);
		if (f->named_usec > sim.now_usec)
			next = MIN(next, f->named_usec);
		if (f->is_in_pod && f->follows_usec > sim.now_usec)
			next = MIN(next, f->follows_usec);
	}
	return next;
}

/* --- what an observer sees --- */

static void show_pci(const struct func *f, struct node *n)
{
	struct pci *pci = GROW(n->pcis, n->n_pcis);
	const struct habit *h = f->habit;

	COPY(pci->address, f->address);
	pci->vendor = h->vendor;
	pci->device = h->device;
	pci->class = h->flags & HABIT_INFINIBAND ? 0x020700 : 0x020000;
	pci->numa_node = f->address[5] & 1;
	COPY(pci->driver, f->is_bound ? h->driver : "");
	snprintf(pci->modalias, sizeof(pci->modalias), "pci:v%08Xd%08X", h->vendor, h->device);
	COPY(pci->module, f->is_bound ? "" : h->driver);
	pci->instance = f->instance;
	pci->is_without_netdev = f->is_orphan;
	pci->is_searched = true;
	pci->is_away = f->is_in_pod;
	pci->cni_pid = f->cni_usec > sim.now_usec ? 4711 : 0;
	if (f->pf >= 0) {
		COPY(pci->physfn, sim.funcs[f->pf].address);
		pci->vf_index = f->vf_index;
		return;
	}
	pci->has_sriov = pci->has_autoprobe = !(h->flags & HABIT_NO_SRIOV);
	pci->total_vfs = f->total_vfs;
	COPY(pci->eswitch, h->flags & HABIT_SWITCHDEV ? "switchdev" : "");
	pci->autoprobe = f->autoprobe;
	for (size_t i = 0; i < sim.n_funcs; i++)
		pci->num_vfs += sim.funcs[i].pf == f - sim.funcs && func_is_there(&sim.funcs[i]);
}

/* Of IPoIB: 20 bytes, the last 8 are the port GUID; RFC 4391, 9.1.1. */
static void show_mac(const struct func *f, char *ret, size_t size)
{
	if (f->habit->flags & HABIT_INFINIBAND)
		snprintf(ret, size, "00:00:00:48:fe:80:00:00:00:00:00:00:%.8s:ff:fe:%s", f->mac,
			 f->mac + strlen("00:00:00:"));
	else
		copy(ret, size, f->mac);
}

static void show_netdev(const struct func *f, struct node *n)
{
	struct netdev *nd;

	if (!kernel_has_netdev(f))
		return;
	nd = GROW(n->netdevs, n->n_netdevs);
	nd->ifindex = f->ifindex;
	COPY(nd->name, f->netdev);
	nd->is_unnamed = f->named_usec > 0;
	COPY(nd->pci, f->address);
	show_mac(f, nd->mac, sizeof(nd->mac));
	COPY(nd->perm_mac, f->pf < 0 ? nd->mac : "");
	if (f->pod_mac[0])
		COPY(nd->mac, f->pod_mac);
	COPY(nd->altnames, f->altnames);
	nd->mtu = f->mtu;
	nd->max_mtu = 9978;
	nd->is_up = f->is_up;
	nd->has_carrier = f->is_up && f->has_carrier;
	nd->carrier_downs = f->carrier_downs;
	nd->conf = routes_conf(f);
	if (f->is_port && sim.bond_usec <= sim.now_usec)
		nd->master = BOND_IFINDEX;
}

/* In switchdev mode: a port of the PF's function for each VF. */
static void show_representor(const struct func *f, struct node *n)
{
	struct netdev *nd;

	if (f->pf < 0 || !(f->habit->flags & HABIT_SWITCHDEV) ||
	    !kernel_has_netdev(&sim.funcs[f->pf]))
		return;
	nd = GROW(n->netdevs, n->n_netdevs);
	nd->ifindex = (uint32_t)(f - sim.funcs) + REPRESENTORS_IFINDEX;
	snprintf(nd->name, sizeof(nd->name), "rep%" PRIu32, nd->ifindex);
	snprintf(nd->port_name, sizeof(nd->port_name), "pf0vf%" PRIu32, f->vf_index);
	COPY(nd->pci, sim.funcs[f->pf].address);
	nd->mtu = 1500;
}

static void show_bond(struct node *n)
{
	struct netdev *nd;

	if (sim.bond_usec == UINT64_MAX || (sim.bond_usec > sim.now_usec && !sim.is_bond_early))
		return;
	nd = GROW(n->netdevs, n->n_netdevs);
	nd->ifindex = BOND_IFINDEX;
	COPY(nd->name, BOND_NAME);
	COPY(nd->kind, "bond");
	nd->bond_mode = 4;
	nd->mtu = 1500;
	nd->is_up = nd->has_carrier = sim.bond_usec <= sim.now_usec;
}

/* What an RDMA device calls its netdev: sysfs has the name in another namespace as well. */
static const char *netdev_of(const struct func *f)
{
	if (f->is_in_pod)
		return f->pod_usec > sim.now_usec ? "" : f->pod_netdev;
	if (f->habit->flags & HABIT_NO_NETDEV)
		return sim.funcs[f->partner].netdev;
	return kernel_is_lag(f) ? BOND_NAME : f->netdev;
}

static void show_port(const struct func *f, struct ibdev *ib)
{
	const bool is_ib = f->habit->flags & HABIT_INFINIBAND;
	struct port *port = GROW(ib->ports, ib->n_ports);
	struct gid *gid;

	port->number = 1;
	COPY(port->state, is_port_up(f) ? "ACTIVE" : "DOWN");
	COPY(port->link_layer, is_ib ? "InfiniBand" : "Ethernet");
	COPY(port->rate, "100 Gb/sec (4X EDR)");
	priorities_show(f, port);
	gid = GROW(port->gids, port->n_gids);
	COPY(gid->gid, "fe80:0000:0000:0000:0000:00ff:fe00:0001");
	COPY(gid->type, is_ib ? "IB/RoCE v1" : "RoCE v2");
	COPY(gid->netdev, netdev_of(f));
	routes_show_gids(kernel_is_lag(f) ? BOND_IFINDEX : f->ifindex, netdev_of(f), port);
}

uint32_t kernel_ib_index(const struct func *f)
{
	return f->ib_index + (kernel_is_lag(f) ? LAG_INDEX : 0);
}

static void show_ibdev(const struct func *f, struct node *n)
{
	struct ibdev *ib;

	/* Shared network namespaces: it is seen here also while its netdev is in a pod. */
	if (!func_has_ibdev(f) || namespaces_has_followed(f))
		return;
	ib = GROW(n->ibdevs, n->n_ibdevs);
	COPY(ib->name, kernel_is_lag(f) ? "mlx5_bond_0" : f->ibdev);
	ib->index = kernel_ib_index(f);
	COPY(ib->pci, f->address);
	COPY(ib->netdev, f->is_in_pod ? "" : netdev_of(f));
	snprintf(ib->node_guid, sizeof(ib->node_guid), "%c%c%c%c:%c%cff:fe%c%c:%c%c%c%c", f->mac[0],
		 f->mac[1], f->mac[3], f->mac[4], f->mac[6], f->mac[7], f->mac[9], f->mac[10],
		 f->mac[12], f->mac[13], f->mac[15], f->mac[16]);
	if (f->pf >= 0 && f->habit->flags & HABIT_INFINIBAND)
		COPY(ib->node_guid, f->bound_guid);
	COPY(ib->node_type, kernel_is_iwarp(f) ? "RNIC" : "CA");
	snprintf(ib->firmware, sizeof(ib->firmware), "22.%" PRIu32 ".1000", f->firmware);
	if (has_module("ib_uverbs"))
		snprintf(ib->uverbs, sizeof(ib->uverbs), "uverbs%" PRIu32, f->ib_index);
	if (has_module("ib_umad") && !kernel_is_iwarp(f))
		snprintf(ib->umad, sizeof(ib->umad), "umad%" PRIu32, f->ib_index);
	ib->n_contexts = f->user > 0;
	ib->verbs = 1;
	show_port(f, ib);
}

static void show_module(struct node *n, const char *name, bool is_loaded)
{
	struct module *m = GROW(n->modules, n->n_modules);

	COPY(m->name, name);
	m->state = is_loaded                                     ? MODULE_LOADED
		   : streq(name, SMC_MODULE) && smc_is_missing() ? MODULE_MISSING
								 : MODULE_AVAILABLE;
}

void kernel_show(struct node *n)
{
	COPY(n->kernel, sim.kernel);
	COPY(n->boot_id, sim.boot_id);
	n->netns_mode = sim.netns_mode;
	n->is_container_loading = sim.is_container_loading;
	n->has_rdma_cm = n->has_cm_config = has_module("rdma_ucm");
	n->now_usec = sim.now_usec;
	for (size_t i = 0; i < sim.n_funcs; i++) {
		const struct func *f = &sim.funcs[i];

		if (!func_is_there(f))
			continue;
		show_pci(f, n);
		show_netdev(f, n);
		show_representor(f, n);
		show_ibdev(f, n);
	}
	show_bond(n);
	routes_show(n);
	routes_show_destination(n);
	for (size_t i = 0; i < ELEMENTSOF(modules); i++)
		show_module(n, modules[i], sim.has_module[i]);
	for (size_t i = 0; i < ELEMENTSOF(habits); i++)
		if (!node_module(n, habits[i].driver))
			show_module(n, habits[i].driver, true);
	SORT(n->modules, n->n_modules, compare_text);
	SORT(n->pcis, n->n_pcis, compare_text);
	SORT(n->netdevs, n->n_netdevs, compare_u32);
	SORT(n->addresses, n->n_addresses, compare_u32);
	SORT(n->ibdevs, n->n_ibdevs, compare_text);
}
