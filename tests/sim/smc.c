/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Smc: the table of PNETIDs as the kernel's module keeps it. In the lives that have a metadata
 * service or eRDMA's driver in its modes, so that the others stay what they were.
 *
 * A device has one entry, and an RDMA device keeps the PNETID that was applied to it whatever it is
 * called later: smc_pnet_add_ib(), smc_pnet_apply_ib(). All entries of a PNETID go together:
 * smc_pnet_remove_by_pnetid(). A rename leaves the old name in the table. All in
 * net/smc/smc_pnet.c.
 */
#include "../../src/os/smc.h"
#include "../../src/model/module-options.h"
#include "../../src/model/pnet.h"
#include "sim.h"

#include <ctype.h>

static struct {
	struct entry {
		struct pnet e;
		bool is_foreign;
	} *entries, *owed, *gone; /* owned; owed: of others, that went with one of ours; gone: all
				     that went last, which may come back as they were */
	size_t n_entries, n_owed, n_gone;
	struct applied {
		uint64_t instance;
		char id[PNETID_LEN];
	} applied[FUNCS_MAX];
	bool is_missing, has_no_table;
} smc;

/* Nobody declares what the linker makes of --wrap. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

bool is_life_with_smc(void)
{
	return is_life_with_metadata() || is_life_with_slots();
}

static bool is_same(const struct pnet *a, const struct pnet *b)
{
	return streq(a->netdev, b->netdev) && streq(a->ibdev, b->ibdev) && a->port == b->port;
}

static void put(const struct pnet *e, bool is_foreign)
{
	*GROW(smc.entries, smc.n_entries) = (struct entry){ *e, is_foreign };
}

/* Of the RDMA device of this name: what is applied to it. NULL: there is no such device. */
static char *applied_to(const char *ibdev)
{
	for (size_t i = 0; i < sim.n_funcs; i++) {
		const struct func *f = &sim.funcs[i];
		struct applied *a = &smc.applied[i];

		if (!func_has_ibdev(f) || !streq(f->ibdev, ibdev))
			continue;
		if (a->instance != f->instance)
			*a = (struct applied){ .instance = f->instance };
		for (size_t k = 0; k < smc.n_entries && !a->id[0]; k++)
			if (streq(smc.entries[k].e.ibdev, ibdev))
				COPY(a->id, smc.entries[k].e.id);
		return a->id;
	}
	return NULL;
}

void smc_boot(void)
{
	free(smc.entries);
	free(smc.owed);
	free(smc.gone);
	memset(&smc, 0, sizeof(smc));
	smc.is_missing = !is_life_with_smc();
	if (smc.is_missing)
		return;
	smc.is_missing = sim_random(8) == 0;
	smc.has_no_table = sim_random(8) == 0;
	if (sim_random(2) == 0 && !smc.is_missing)
		kernel_load(SMC_MODULE);
}

void smc_write(FILE *f)
{
	if (is_life_with_smc())
		fprintf(f, "[SMC]\nEnable=%s\n",
			sim_random(4) == 0   ? "no"
			: sim_random(2) == 0 ? "auto"
					     : "yes");
}

bool smc_is_missing(void)
{
	return smc.is_missing;
}

void smc_show(struct node *n)
{
	const struct module *m = node_module(n, SMC_MODULE);

	if (is_life_with_smc() && m && m->state == MODULE_LOADED)
		n->has_pnets = smc_list(NULL, &n->pnets, &n->n_pnets) >= 0;
}

static void give(const struct pnet *e)
{
	for (size_t i = 0; i < smc.n_entries; i++)
		if (is_same(&smc.entries[i].e, e))
			return; /* EEXIST */
	put(e, true);
}

/* An administrator gives an RDMA device and the node's own netdev one PNETID. */
void smc_act(struct func *f)
{
	struct pnet ibdev = { .id = "ADMIN", .port = 1 }, netdev = { .id = "ADMIN" };

	if (!f || !func_has_ibdev(f))
		return;
	COPY(ibdev.ibdev, f->ibdev);
	COPY(netdev.netdev, sim.funcs[0].netdev);
	give(&ibdev);
	give(&netdev);
	sim_trace("a command gives %s and %s a PNETID", ibdev.ibdev, netdev.netdev);
}

int __wrap_smc_list(struct netlink *nl _unused_, struct pnet **ret, size_t *ret_n)
{
	*ret = NULL;
	*ret_n = 0;
	if (smc.has_no_table)
		return -ENOENT;
	for (size_t i = 0; i < smc.n_entries; i++)
		*GROW(*ret, *ret_n) = smc.entries[i].e;
	return 0;
}

static int touch(void)
{
	int r = os_touch(NULL, "PNETID");

	sim.cost_usec += USEC_PER_MSEC;
	if (r >= 0 && sim_chance(sim.rates.error / 2))
		r = -ENOMEM;
	if (r < 0) /* what was owed cannot be given back */
		smc.n_owed = 0;
	return r;
}

static bool is_id_of(const char *id, const char *mac)
{
	for (; *mac; mac++)
		if (*mac != ':' && toupper((unsigned char)*mac) != *id++)
			return false;
	return true;
}

/* One of ours: has the device another MAC that has this name now? */
static bool is_of_another(const struct pnet *e)
{
	for (size_t i = 0; i < sim.n_funcs; i++) {
		const struct func *f = &sim.funcs[i];
		const bool is_it = e->ibdev[0]
					   ? func_has_ibdev(f) && streq(f->ibdev, e->ibdev)
					   : kernel_has_netdev(f) && streq(f->netdev, e->netdev);

		if (is_it && !kernel_is_lag(f) && !is_id_of(e->id, f->mac) &&
		    !(f->pod_mac[0] && is_id_of(e->id, f->pod_mac)))
			return true;
	}
	return false;
}

static bool was_there(const struct pnet *e)
{
	for (size_t i = 0; i < smc.n_gone; i++)
		if (is_same(&smc.gone[i].e, e) && streq(smc.gone[i].e.id, e->id))
			return true;
	return false;
}

int __wrap_smc_add(struct netlink *nl _unused_, const struct pnet *e)
{
	char *applied = e->ibdev[0] ? applied_to(e->ibdev) : NULL;
	bool is_foreign = false;
	int r = touch();

	if (!streq(e->id, "ADMIN") && !was_there(e) && is_of_another(e))
		sim_fail("%s%s gets the PNETID %s, of another device", e->ibdev, e->netdev, e->id);
	for (size_t i = 0; i < smc.n_entries && r >= 0; i++)
		if (is_same(&smc.entries[i].e, e))
			r = -EEXIST;
	if (r >= 0 && applied && applied[0])
		r = -EEXIST;
	for (size_t i = 0; i < smc.n_owed; i++)
		if (r >= 0 && is_same(&smc.owed[i].e, e) && streq(smc.owed[i].e.id, e->id)) {
			is_foreign = true;
			smc.owed[i] = smc.owed[--smc.n_owed];
		}
	if (r >= 0)
		put(e, is_foreign);
	if (r >= 0 && applied)
		memcpy(applied, e->id, sizeof(e->id));
	return r;
}

/* Is that device nobody's but its entry's maker's? */
static bool is_of_others(const struct pnet *e)
{
	return e->netdev[0] && streq(e->netdev, sim.funcs[0].netdev);
}

int __wrap_smc_remove(struct netlink *nl _unused_, const char *id)
{
	int r = touch();
	size_t n = 0;

	if (r < 0)
		return r;
	smc.n_gone = 0;
	for (size_t i = 0; i < smc.n_entries; i++) {
		const struct entry *had = &smc.entries[i];

		if (!streq(had->e.id, id)) {
			smc.entries[n++] = *had;
			continue;
		}
		*GROW(smc.gone, smc.n_gone) = *had;
		if (had->is_foreign && is_of_others(&had->e))
			*GROW(smc.owed, smc.n_owed) = *had;
	}
	r = n == smc.n_entries ? -ENOENT : 0;
	smc.n_entries = n;
	for (size_t i = 0; i < sim.n_funcs; i++)
		if (streq(smc.applied[i].id, id))
			smc.applied[i].id[0] = '\0';
	return r;
}

void smc_check(void)
{
	if (smc.n_owed > 0)
		sim_fail("an entry of PNETID %s of others went, and did not come back",
			 smc.owed[0].e.id);
}
