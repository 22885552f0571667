/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Others: who else is on the node, and what it does to it: processes, pods, network managers, an
 * SR-IOV operator, a container with a driver, an administrator; clocks that are set; full disks;
 * cards that are replaced. And how the service gets to know of it: an event may be late.
 */
#include "../../src/model/given.h"
#include "../../src/model/memory.h"
#include "../../src/os/memory-file.h"
#include "sim.h"

#define SEC USEC_PER_SEC

static struct {
	uint64_t next_usec;
	uint64_t event_usec;   /* of events that are late; UINT64_MAX: none is */
	struct func *replug;   /* with the next event */
	bool is_manager;       /* a network manager that sets links as it thinks they should be */
	uint64_t manager_usec; /* when it does; UINT64_MAX: not */
	struct func *manages;  /* the link that it does that to */
	const char *container; /* the driver that one loads; NULL: none */
	uint64_t container_usec;
	struct func *away; /* a card that was pulled; NULL: none */
	uint64_t away_usec;
} others;

struct func *others_any(bool is_vf)
{
	size_t first = sim.n_funcs > 0 ? (size_t)sim_random(sim.n_funcs) : 0;

	for (size_t i = 0; i < sim.n_funcs; i++) {
		struct func *f = &sim.funcs[(first + i) % sim.n_funcs];

		if (!f->is_node && (f->pf >= 0) == is_vf && func_is_there(f) && f->is_bound)
			return f;
	}
	return NULL;
}

/*
 * A full socket loses events, and has ENOBUFS instead: netlink_overrun() in
 * net/netlink/af_netlink.c. What was lost is looked at late, together with what comes next. Some
 * changes have no event at all, as those of rules in other tables.
 */
void others_tell(void)
{
	if (!sim_chance(sim.rates.lost))
		life_event();
	else if (others.event_usec == UINT64_MAX && sim_random(3) > 0)
		others.event_usec = sim.now_usec + sim_random(5 * SEC);
}

void others_tell_late(void)
{
	if (others.event_usec == UINT64_MAX)
		others.event_usec = sim.now_usec + sim_random(5 * SEC);
}

void others_use(struct func *f)
{
	if (!f || !func_is_usable(f))
		return;
	f->user = f->user ? 0 : 20000 + (uint32_t)sim_random(1000);
	f->is_odd = true;
	sim_trace("%s is %s", f->address, f->user ? "opened by a process" : "closed");
}

/* As a look would have it. */
static void look_at(const struct func *f, struct given *ret)
{
	_cleanup_(node_done) struct node n = {};
	const struct vf_info *v = f->pf >= 0 ? &f->info : NULL;
	const struct netdev *nd;

	*ret = (struct given){};
	kernel_show(&n);
	nd = node_netdev_of(&n, f->address);
	if (!nd)
		return;
	given_look(&n, &(struct memory){}, node_pci(&n, f->address), nd, ret);
	COPY(ret->vf_mac, v ? v->mac : "");
	ret->vlan = v ? v->vlan : -1;
	ret->trust = v ? v->trust : -1;
}

/* Every other pod calls it as the host calls another one. */
static void name_in_pod(struct func *f)
{
	const struct func *host = &sim.funcs[f->ifindex / 2 % sim.n_funcs];
	const bool is_taken = f->ifindex % 2 && host != f && host->netdev[0];

	snprintf(f->pod_netdev, sizeof(f->pod_netdev), "%s", is_taken ? host->netdev : f->netdev);
	f->pod_usec = sim.now_usec + f->ifindex % 4 * SEC;
}

/* Only in some, so that the others stay what they were. */
static bool is_life_with_swaps(void)
{
	return sim.seed % 8 == 6;
}

/* A pod that has two of them gives each the other's name. */
static void swap_names(struct func *f)
{
	for (size_t i = 0; i < sim.n_funcs && is_life_with_swaps(); i++) {
		struct func *g = &sim.funcs[i];

		if (g == f || !g->is_in_pod || !g->lent.name[0] || !f->lent.name[0])
			continue;
		COPY(f->netdev, g->lent.name);
		COPY(g->netdev, f->lent.name);
		sim_trace("%s and %s have each other's names", f->address, g->address);
		return;
	}
}

/* "dev%d" of default_device_exit_net() in net/core/dev.c, for a name that is taken. */
static void name_at_return(struct func *f)
{
	for (size_t i = 0; i < sim.n_funcs; i++)
		if (&sim.funcs[i] != f && kernel_has_netdev(&sim.funcs[i]) &&
		    streq(sim.funcs[i].netdev, f->netdev))
			snprintf(f->netdev, sizeof(f->netdev), "dev%" PRIu32, f->ifindex);
}

/* What a CNI plugin sets before it moves a device, and a pod while it has it. */
static void change_settings(struct func *f)
{
	static uint32_t number;
	const bool is_ib = f->habit->flags & HABIT_INFINIBAND;

	snprintf(f->netdev, sizeof(f->netdev), "net%" PRIu32, ++number);
	swap_names(f);
	name_in_pod(f);
	if (sim_random(2) == 0)
		f->mtu = 1400;
	if (sim_random(2) == 0)
		snprintf(f->altnames, sizeof(f->altnames), "alt%" PRIu32, number);
	if (sim_random(2) == 0 && !is_ib)
		COPY(f->pod_mac, "0a:00:00:00:00:77");
	if (f->pf < 0)
		return;
	if (sim_random(2) == 0 && !is_ib && !f->is_random)
		COPY(f->info.mac, "0a:00:00:00:00:77");
	if (sim_random(2) == 0 && !is_ib) /* IPoIB has no ndo_set_vf_vlan() */
		f->info.vlan = (int)sim_random(4096);
	if (sim_random(2) == 0 && f->info.trust >= 0)
		f->info.trust = !f->info.trust;
}

/* Does the program know that it is out? One that was killed before it noted it cannot. */
static bool is_noted(const struct func *f)
{
	_cleanup_(memory_done) struct memory seen = {};
	const struct device_memory *m;

	if (memory_read(&sim.os.fs, MEMORY_BOOT, &pass_memory_fields, &seen) < 0)
		return false;
	m = memory_device(&seen, f->address);
	return streq(seen.boot_id, sim.boot_id) && m && m->is_out;
}

/*
 * With namespaces of their own RDMA devices go along: rdma_dev_change_netns() in
 * drivers/infiniband/core/device.c. What comes back has another number, and may have another name.
 */
static void take_into_pod(struct func *f)
{
	if (!f || !func_is_usable(f) || f->partner >= 0 || f->is_orphan)
		return;
	if (!f->is_in_pod && !f->lent.name[0])
		look_at(f, &f->lent);
	/* What its PF has for a VF no look shows while that is in a pod itself. */
	if (f->named_usec > 0 ||
	    (f->pf >= 0 && sim.funcs[f->pf].is_in_pod && !f->was_usable_with_pf))
		f->lent.name[0] = '\0';
	links_gone(f);
	f->is_in_pod = !f->is_in_pod;
	f->is_odd = true;
	f->is_up = false;
	if (f->is_in_pod)
		change_settings(f);
	if (!f->is_in_pod) {
		f->ifindex = ++sim.next_ifindex;
		name_at_return(f);
		/* Of what it is now the program cannot know that a pod made it:
		 * default_device_exit_net() keeps it. */
		f->is_spoilt |= !is_noted(f);
		if (f->is_spoilt)
			f->lent.name[0] = '\0';
		if (sim_random(3) == 0)
			f->cni_usec = sim.now_usec + sim_random(5 * SEC);
		if (sim_random(2) == 0)
			snprintf(f->ibdev, sizeof(f->ibdev), "pod%" PRIu64, sim_random(100000));
		links_here(f);
	}
	namespaces_move(f);
	sim_trace("%s %s", f->address, f->is_in_pod ? "goes into a pod" : "comes back");
	others_tell();
}

/* A pod that has a VF and its PF, or another VF, and ends with both. */
static void take_two(struct func *f)
{
	struct func *other = f && sim_random(2) == 0 ? &sim.funcs[f->pf] : others_any(true);

	if (!f || !other || other == f || other->is_in_pod != f->is_in_pod)
		return;
	take_into_pod(f);
	take_into_pod(other);
}

/*
 * Its name is that of a device that the program has not to put back, or not now, or cannot for the
 * same cause. Names in a ring can be put back: the search ends after n_left of them.
 */
static bool is_name_kept(const struct func *f, size_t n_left)
{
	for (size_t i = 0; i < sim.n_funcs; i++)
		if (&sim.funcs[i] != f && kernel_has_netdev(&sim.funcs[i]) &&
		    streq(sim.funcs[i].netdev, f->lent.name) &&
		    (!sim.funcs[i].lent.name[0] || sim.funcs[i].user > 0 ||
		     !os_is_managed(&sim.funcs[i]) ||
		     (n_left > 0 && is_name_kept(&sim.funcs[i], n_left - 1))))
			return true;
	return false;
}

/* A pass remembers nothing of a function that no section has, so no later one puts it back. */
void others_forget_given(void)
{
	for (size_t i = 0; i < sim.n_funcs; i++) {
		struct func *f = &sim.funcs[i];

		if (f->lent.name[0] && !f->is_in_pod && !os_is_managed(f))
			f->lent.name[0] = '\0';
	}
}

void others_check_given(void)
{
	for (size_t i = 0; i < sim.n_funcs; i++) {
		struct func *f = &sim.funcs[i];
		struct given now;

		if (!f->lent.name[0] || f->is_in_pod || f->is_spoilt || f->user > 0 ||
		    f->is_orphan || !os_is_managed(f))
			continue;
		if (f->pf >= 0 && sim.funcs[f->pf].is_in_pod) /* the VF's settings with it */
			continue;
		look_at(f, &now);
		if (is_name_kept(f, sim.n_funcs))
			COPY(now.name, f->lent.name);
		/* A function that has a route of another program is not handed out, so no pass
		 * notes the route. On others a pod leaves none. */
		if (*f->lent.routes)
			COPY(now.routes, f->lent.routes);
		if (sim.config->devices[0].mtu > 0 || sim.is_reconfigured)
			now.mtu = f->lent.mtu;
		if (sim.config->devices[0].trust != TRUST_KEEP || sim.is_reconfigured)
			now.trust = f->lent.trust;
		if (now.name[0] && !given_is_same(&now, &f->lent))
			sim_fail("%s went into a pod as %s, and is %s: MAC %s %s, MTU %u %u, names "
				 "%s %s, VLAN %d %d, trust %d %d, of its PF %s %s",
				 f->address, f->lent.name, now.name, f->lent.mac, now.mac,
				 f->lent.mtu, now.mtu, f->lent.altnames, now.altnames, f->lent.vlan,
				 now.vlan, f->lent.trust, now.trust, f->lent.vf_mac, now.vf_mac);
		f->lent.name[0] = '\0';
	}
}

/* Its driver lost it, as when a namespace ends while it is being reset. */
static void lose_netdev(struct func *f)
{
	if (!f || f->is_in_pod || !func_is_usable(f) || f->habit->flags & HABIT_INFINIBAND)
		return;
	links_gone(f);
	f->is_orphan = f->is_odd = true;
	f->is_up = false;
	sim_trace("%s: its netdev is in no namespace", f->address);
	others_tell();
}

static void flap(struct func *f)
{
	if (!f)
		return;
	links_set(f, f->is_up, !f->has_carrier, f->mtu);
	sim_trace("%s: carrier %s", f->address, f->has_carrier ? "on" : "off");
	others_tell();
}

static void rename_ibdev(struct func *f)
{
	if (!f || !func_has_ibdev(f))
		return;
	snprintf(f->ibdev, sizeof(f->ibdev), "roce%" PRIu64, sim_random(100000));
	f->has_cm_folder = false; /* that one has the old name */
	sim_trace("%s: its RDMA device is %s now", f->address, f->ibdev);
	others_tell();
}

static void undo(struct func *f)
{
	if (!f)
		return;
	links_set(f, false, f->has_carrier, 1500);
	f->is_spoilt = true;
	sim_trace("%s: a command sets the link down", f->address);
	others_tell();
}

static bool is_anything_used(const struct func *pf)
{
	bool is_used = pf->user > 0 || pf->is_in_pod;

	for (size_t i = 0; i < sim.n_funcs; i++)
		is_used |= sim.funcs[i].pf == pf - sim.funcs && func_is_there(&sim.funcs[i]) &&
			   (sim.funcs[i].user > 0 || sim.funcs[i].is_in_pod);
	return is_used;
}

/* Another number of VFs; it drains the node before, and waits for the lock as all do. */
static void operate(struct func *pf)
{
	const uint64_t cost_usec = sim.cost_usec;

	if (!pf || pf->is_port || is_anything_used(pf) || sim.locked_until_usec > sim.now_usec)
		return;
	sim_trace("%s: an operator writes another number of VFs", pf->address);
	kernel_set_num_vfs(pf, pf->num_vfs > 0 ? 0 : 1 + (uint32_t)sim_random(pf->total_vfs));
	pf->is_count_foreign = sim.is_foreign = pf->is_odd = true;
	sim.cost_usec = cost_usec;
	sim.writer_pid = 0;
	others_tell();
}

/* All functions of a driver lose it, for as long as its container takes. None has virtio-pci, which
 * disks have as well. */
static void unload_driver(struct func *of)
{
	const char *driver = of ? of->habit->driver : NULL;

	for (size_t i = 0; i < sim.n_funcs && driver; i++)
		if (streq(sim.funcs[i].habit->driver, driver) &&
		    (sim.funcs[i].is_node || is_anything_used(&sim.funcs[i])))
			return;
	if (!driver || streq(driver, "virtio-pci") || others.container ||
	    sim.locked_until_usec > sim.now_usec)
		return;
	sim_trace("a container loads another %s", driver);
	others.container = driver;
	others.container_usec = sim.now_usec + (1 + sim_random(30)) * SEC;
	sim.is_container_loading = true;
	kernel_unload(driver);
	others_tell();
}

static void load_driver(void)
{
	sim_trace("%s is loaded by its container", others.container);
	kernel_probe(others.container);
	others.container = NULL;
	sim.is_container_loading = false;
	others_tell();
}

/* NTP, a command, or a node without a battery. The boot clock goes on. */
static void set_clock(void)
{
	const int64_t year = 365 * 24 * 3600;
	const int64_t by = (int64_t)sim_random(6 * year) - 3 * year;

	sim.wall_sec = sim_random(4) == 0 ? 0 : MAX(sim.wall_sec + by, 0);
	sim_trace("the clock is set to %" PRId64, sim.wall_sec);
}

static void replug(void)
{
	struct func *pf = others.replug;

	others.replug = NULL;
	if (!pf || pf->is_node || !pf->is_bound || kernel_count(pf) > 0 ||
	    sim.locked_until_usec > sim.now_usec)
		return;
	sim_trace("another card is plugged in at %s", pf->address);
	kernel_replug(pf);
	others_tell();
}

/* Its slot is empty for a time; none of several functions, which would all be gone. */
static void pull(struct func *pf)
{
	if (!pf || others.away || pf->partner >= 0 || is_anything_used(pf) ||
	    sim.locked_until_usec > sim.now_usec)
		return;
	sim_trace("%s: the card is pulled", pf->address);
	others.away = pf;
	others.away_usec = sim.now_usec + (1 + sim_random(40)) * SEC;
	kernel_unplug(pf);
	others_tell();
}

static void put_back(void)
{
	sim_trace("%s: the card is there again", others.away->address);
	kernel_plug_again(others.away);
	others.away = NULL;
	others_tell();
}

void others_see_failure(const char *target)
{
	struct func *f = kernel_find(target, strlen(target));

	if (!f || f->pf >= 0 || !sim_chance(sim.rates.undo * 2))
		return;
	others.replug = f;
	others.next_usec = sim.now_usec + sim_random(6 * SEC);
}

void others_see_link(struct func *f)
{
	if (!others.is_manager || sim.is_quiet || others.manager_usec != UINT64_MAX)
		return;
	others.manages = f;
	others.manager_usec = sim.now_usec + sim_random(8 * SEC);
}

static void manage(void)
{
	struct func *f = others.manages;

	others.manager_usec = UINT64_MAX;
	if (!f->is_bound || f->is_in_pod || !func_is_there(f))
		return;
	sim_trace("%s: a network manager sets the link as it thinks it should be", f->address);
	links_set(f, f->is_up && sim_random(2) == 0, f->has_carrier, 1500);
	f->is_spoilt = true;
	others_tell();
}

static void act(void)
{
	others.next_usec = sim.now_usec + (1 + sim_random(40 * SEC));
	replug();
	if (sim_chance(sim.rates.user))
		others_use(others_any(sim_chance(800)));
	if (sim_chance(sim.rates.user / 2))
		take_into_pod(others_any(sim_chance(850)));
	if (is_life_with_swaps() && sim_chance(sim.rates.user))
		take_two(others_any(true));
	if (sim_chance(sim.rates.user / 8))
		lose_netdev(others_any(true));
	if (sim_chance(sim.rates.flap))
		flap(others_any(sim_chance(300)));
	if (sim_chance(sim.rates.flap))
		links_bounce(others_any(false));
	if (sim_chance(sim.rates.late))
		rename_ibdev(others_any(sim_chance(500)));
	if (sim_chance(sim.rates.undo))
		undo(others_any(sim_chance(500)));
	if (sim_chance(sim.rates.operator))
		operate(others_any(false));
	if (sim_chance(sim.rates.operator))
		routes_act();
	if (is_life_with_namespaces() && sim_chance(sim.rates.operator))
		kubelet_act();
	if (is_life_with_smc() && sim_chance(sim.rates.operator))
		smc_act(others_any(sim_chance(500)));
	if (sim_chance(sim.rates.operator/ 2))
		unload_driver(others_any(false));
	if (is_life_with_slots() && sim_chance(sim.rates.operator/ 4))
		pull(others_any(false));
	if (sim_chance(sim.rates.clock))
		set_clock();
	if (sim_chance(sim.rates.command))
		life_command();
	if (sim_chance(sim.rates.file))
		sim.full ^= 1u << sim_random(2);
}

/* Another program sets an MTU, and leaves the link up. */
static void set_mtu(struct func *f)
{
	links_set(f, f->is_up, f->has_carrier, 1500);
	others_tell();
}

static void bounce(struct func *f)
{
	f->bounce_usec = sim.now_usec;
}

/* Until "load", which needs no function. */
static void unload(struct func *f)
{
	unload_driver(f);
	others.container_usec = UINT64_MAX;
}

static void load(struct func *f _unused_)
{
	if (others.container)
		load_driver();
}

bool others_do(const char *what, struct func *f)
{
	static const struct {
		const char *name;
		void (*act)(struct func *f);
	} rows[] = {
		{ "use", others_use }, { "pod", take_into_pod }, { "lose", links_bounce },
		{ "flap", flap },      { "down", undo },         { "mtu", set_mtu },
		{ "bounce", bounce },  { "operate", operate },   { "unload", unload },
		{ "load", load },      { "pull", pull },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		if (streq(rows[i].name, what)) {
			rows[i].act(f);
			return true;
		}
	return false;
}

uint64_t others_next(void)
{
	uint64_t next = sim.is_quiet     ? UINT64_MAX
			: script_is_on() ? script_next()
					 : others.next_usec;

	if (others.container)
		next = MIN(next, others.container_usec);
	if (others.away)
		next = MIN(next, others.away_usec);
	return MAX(MIN(MIN(next, others.manager_usec), others.event_usec), sim.now_usec);
}

void others_go_on(void)
{
	if (others.event_usec <= sim.now_usec) {
		others.event_usec = UINT64_MAX;
		links_hear();
		life_event();
	}
	if (others.container && others.container_usec <= sim.now_usec)
		load_driver();
	if (others.away && others.away_usec <= sim.now_usec)
		put_back();
	if (others.manager_usec <= sim.now_usec)
		manage();
	if (!sim.is_quiet && script_is_on())
		script_go_on();
	else if (!sim.is_quiet && others.next_usec <= sim.now_usec)
		act();
}

void others_begin(void)
{
	memset(&others, 0, sizeof(others));
	others.event_usec = others.manager_usec = UINT64_MAX;
	others.next_usec = sim.now_usec + sim_random(30 * SEC);
	others.is_manager = sim_chance(sim.rates.operator);
	sim.is_container_loading = false;
	sim.full = 0;
	if (sim_chance(sim.rates.clock))
		set_clock();
	sim.bond_usec = UINT64_MAX;
	for (size_t i = 0; i < sim.n_funcs; i++)
		if (sim.funcs[i].is_port)
			sim.bond_usec = sim.now_usec + sim_random(3) * 5 * SEC;
}

void others_leave(void)
{
	namespaces_leave();
	links_hear();
	others.manager_usec = others.event_usec = UINT64_MAX;
	sim.full = 0;
	for (size_t i = 0; i < sim.n_funcs; i++)
		links_set(&sim.funcs[i], sim.funcs[i].is_up, true, sim.funcs[i].mtu);
}

void others_give_back(void)
{
	for (size_t i = 0; i < sim.n_funcs; i++) {
		sim.funcs[i].user = 0;
		if (sim.funcs[i].is_in_pod)
			take_into_pod(&sim.funcs[i]);
	}
}
