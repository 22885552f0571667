/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Priorities: DCB of ports, and rdma_cm's defaults. A driver that is bound has those of its card;
 * mlx5 trusts DSCP while its map has an entry, and takes the link down for another PFC. Only in
 * some lives, so that the others stay what they were.
 */
#include "../../src/os/dcb.h"
#include "../../src/os/rdma.h"
#include "sim.h"

#include <linux/dcbnl.h>

#define ETS     "10234567 v,v,v,v,v,v,v,v" /* mlx5e_ets_init(), in .../mlx5/core/en_dcbnl.c */
#define V2      "RoCE v2"
#define PATH(x) "ports/1/default_roce_" x

/* The linker makes these names, and nobody declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static bool is_mlx5(const struct func *f)
{
	return streq(f->habit->driver, "mlx5_core");
}

static bool has_dcb(const struct func *f)
{
	return f->pf < 0 && !(f->habit->flags & HABIT_INFINIBAND) &&
	       (is_mlx5(f) || streq(f->habit->driver, "ice"));
}

void priorities_bind(struct func *f)
{
	f->dcb = (struct dcb){ .dcbx = is_mlx5(f) ? DCB_CAP_DCBX_HOST : DCB_CAP_DCBX_LLD_MANAGED };
	COPY(f->dcb.pfc, "none");
	COPY(f->dcb.ets, ETS);
	memset(f->dcb.dscp, '-', sizeof(f->dcb.dscp) - 1);
	COPY(f->roce_tos, "0");
	COPY(f->roce_mode, V2);
	f->has_cm_folder = f->is_qos_left = false;
}

void priorities_forget(void)
{
	for (size_t i = 0; i < sim.n_funcs; i++)
		sim.funcs[i].is_qos_left |= sim.funcs[i].is_in_pod;
}

void priorities_write(FILE *f)
{
	if (sim.seed % 10 != 0 && sim.seed % 10 != 2)
		return;
	fputs("[QoS]\n", f);
	fputs(((const char *const[]){ "TrustMode=dscp\nDSCP=26:3 48:6\n", "TrustMode=dscp\n",
				      "TrustMode=pcp\n", "" })[sim.seed / 10 % 4],
	      f);
	fputs(((const char *const[]){ "PFC=3\n", "PFC=none\n", "PFC=3,4\nETS=0:50 3:50 6:strict\n",
				      "" })[sim_random(4)],
	      f);
	fputs(((const char *const[]){ "RoceToS=106\n", "RoceToS=0\nRoceMode=v1\n",
				      "" })[sim_random(3)],
	      f);
}

void priorities_answer(struct node *n)
{
	for (size_t i = 0; i < n->n_netdevs; i++) {
		const struct func *f = kernel_of_ifindex(n->netdevs[i].ifindex);
		struct dcb *d = f && has_dcb(f) ? GROW(n->dcbs, n->n_dcbs) : NULL;

		if (!d)
			continue;
		*d = f->dcb;
		d->ifindex = f->ifindex;
	}
	n->has_dcbs = true;
}

void priorities_show(const struct func *f, struct port *port)
{
	if (!f->has_cm_folder)
		return;
	COPY(port->roce_tos, f->roce_tos);
	COPY(port->roce_mode, f->roce_mode);
}

static void set_map(struct func *f, const char *subject, const char *to)
{
	const char *number = after(subject, QOS_DSCP_PREFIX);

	if (number)
		f->dcb.dscp[strtoul(number, NULL, 10)] = *to == 'n' ? '-' : *to;
	for (unsigned i = 0; i < sizeof(f->dcb.dscp) - 1 && !number; i++)
		f->dcb.dscp[i] = streq(to, "dscp") ? qos_class_of(i) : '-';
}

int __wrap_dcb_set(struct netlink *nl _unused_, const char *netdev, const char *subject,
		   const char *to)
{
	struct func *f = sim.funcs;
	int r;

	while (f < sim.funcs + sim.n_funcs && !streq(f->netdev, netdev))
		f++;
	if (f == sim.funcs + sim.n_funcs || !kernel_of_ifindex(f->ifindex))
		return -ENODEV;
	r = os_touch_felt(f, subject);
	if (r < 0)
		return r;
	if (!has_dcb(f) || qos_is_firmware(&f->dcb))
		sim_fail("%s: its %s is set, and is not ours to set", f->address, subject);
	if (sim_chance(sim.rates.error))
		return -EIO;
	if (streq(subject, "pfc"))
		COPY(f->dcb.pfc, to);
	else if (streq(subject, "ets"))
		COPY(f->dcb.ets, to);
	else
		set_map(f, subject, to);
	return 0;
}

int __wrap_rdma_read_name(struct netlink *nl _unused_, uint32_t index, char *ret, size_t size)
{
	for (size_t i = 0; i < sim.n_funcs; i++) {
		const struct func *f = &sim.funcs[i];

		if (func_has_ibdev(f) && kernel_ib_index(f) == index)
			return copy(ret, size, kernel_is_lag(f) ? "mlx5_bond_0" : f->ibdev)
				       ? 0
				       : -EMSGSIZE;
	}
	return -ENODEV;
}

static struct func *of_ibdev(const char *name)
{
	for (size_t i = 0; i < sim.n_funcs; i++) {
		struct func *f = &sim.funcs[i];

		if (func_has_ibdev(f) && streq(kernel_is_lag(f) ? "mlx5_bond_0" : f->ibdev, name))
			return f;
	}
	return NULL;
}

int __wrap_rdma_cm_open(const struct fs *fs _unused_, const char *ibdev)
{
	struct func *f = of_ibdev(ibdev);
	int r = f ? os_touch(f, "its folder of rdma_cm is made") : -ENODEV;

	if (r >= 0)
		f->has_cm_folder = true;
	return r;
}

int __wrap_rdma_cm_read(const struct fs *fs _unused_, const char *ibdev, const char *attribute,
			char *ret, size_t size)
{
	const struct func *f = of_ibdev(ibdev);

	if (!f || !f->has_cm_folder)
		return -ENOENT;
	copy(ret, size, streq(attribute, PATH("tos")) ? f->roce_tos : f->roce_mode);
	return 0;
}

int __wrap_rdma_cm_set(const struct fs *fs _unused_, const char *ibdev, const char *attribute,
		       const char *value)
{
	struct func *f = of_ibdev(ibdev);
	int r = f ? os_touch(f, attribute) : -ENOENT;

	if (r < 0)
		return r;
	if (f->habit->flags & HABIT_INFINIBAND || kernel_is_iwarp(f))
		sim_fail("%s has no RoCE, and gets %s", f->address, attribute);
	if (sim_chance(sim.rates.error))
		return -EIO;
	if (streq(attribute, PATH("tos")))
		COPY(f->roce_tos, value);
	else
		COPY(f->roce_mode, value);
	return 0;
}

int __wrap_rdma_cm_close(const struct fs *fs _unused_, const char *ibdev)
{
	struct func *f = of_ibdev(ibdev);
	int r = f ? os_touch(f, "its folder of rdma_cm is removed") : 0;

	if (f && r >= 0)
		f->has_cm_folder = false;
	return r;
}

void priorities_check_reverted(void)
{
	for (size_t i = 0; i < sim.n_funcs; i++) {
		struct func *f = &sim.funcs[i], fresh = { .habit = f->habit };

		if (!func_is_there(f) || !f->is_bound || f->is_qos_left)
			continue;
		priorities_bind(&fresh);
		if (!streq(fresh.dcb.pfc, f->dcb.pfc) || !streq(fresh.dcb.ets, f->dcb.ets) ||
		    !streq(fresh.dcb.dscp, f->dcb.dscp))
			sim_fail("%s: PFC %s, ETS %s, DSCP %s after revert", f->address, f->dcb.pfc,
				 f->dcb.ets, f->dcb.dscp);
		if (func_has_ibdev(f) &&
		    (!streq(f->roce_tos, fresh.roce_tos) || !streq(f->roce_mode, fresh.roce_mode)))
			sim_fail("%s: ToS %s and mode %s after revert", f->address, f->roce_tos,
				 f->roce_mode);
	}
}
