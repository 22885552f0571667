/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Qos: what ports of managed NICs do with priorities, and what rdma_cm gives connections of managed
 * devices.
 *
 * A change of PFC takes the link of an mlx5 port down and up again: mlx5e_dcbnl_ieee_setpfc() in
 * drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c. So nothing of a port is changed while it or
 * a VF of it is in use.
 */
#include "../guard/guard-rules.h"
#include "../guard/in-use-plan.h"
#include "../step/steps.h"

#define N_SUBJECTS (QOS_DSCP_LEN + 2) /* of set-dcb: trust, pfc, ets, and a DSCP each */

/* A setting that is asked for of one port and that the port does not have. */
struct wish {
	char subject[16], from[QOS_ETS_LEN], to[QOS_ETS_LEN];
};

struct wishes {
	struct wish list[N_SUBJECTS];
	size_t n;
	char unknown[16]; /* a subject that the driver does not have; empty: it has all of them */
};

static void want(const struct dcb *d, const char *subject, const char *to, struct wishes *w)
{
	struct wish *wish = &w->list[w->n];

	qos_value(d, subject, wish->from);
	if (!*to || streq(wish->from, to))
		return;
	if (!*wish->from) {
		COPY(w->unknown, subject);
		return;
	}
	COPY(wish->subject, subject);
	COPY(wish->to, to);
	w->n++;
}

static void want_dscp(const struct dcb *d, unsigned dscp, char priority, struct wishes *w)
{
	const char to[] = { priority, '\0' };
	char subject[16];

	PRINT(subject, QOS_DSCP_PREFIX "%u", dscp);
	want(d, subject, priority == '-' ? "none" : to, w);
}

/* Is it the map that "trust dscp" sets as a whole? "trust pcp" may remove it as a whole. */
static bool is_plain_map(const struct dcb *d)
{
	for (unsigned i = 0; i < QOS_DSCP_LEN - 1; i++)
		if (d->dscp[i] != qos_class_of(i))
			return false;
	return true;
}

/* DSCP= gives an empty map its entries. A map of another program is removed by entries, so that
 * each can be restored. */
static void want_map(const struct config *c, const struct dcb *d, struct wishes *w)
{
	const bool is_pcp = c->qos.trust == TRUST_MODE_PCP;

	for (unsigned i = 0; c->qos.dscp[i]; i++)
		if (c->qos.dscp[i] != '-')
			want_dscp(d, i, c->qos.dscp[i], w);
	if (c->qos.trust == TRUST_MODE_KEEP || *c->qos.dscp)
		return;
	for (unsigned i = 0; d->dscp[i] && is_pcp && !is_plain_map(d); i++)
		if (d->dscp[i] != '-')
			want_dscp(d, i, '-', w);
	if (w->n == 0)
		want(d, "trust", trust_mode_name(c->qos.trust), w);
}

/* Does its port have a link layer with DCB, and its netdev a driver of its own? */
static bool has_port(const struct node *n, const struct device *d)
{
	return !d->is_vf && !d->gives_nothing && d->netdev && !d->is_in_pod &&
	       !pci_is_erdma(d->pci) && !node_is_infiniband(n, d->pci);
}

static void refuse(struct plan *p, const struct device *d, enum class class, enum reason reason,
		   const char *words)
{
	plan_add_item(p, VERB_SET_DCB, class, d->pci->address, reason, "%s%s%s", d->netdev->name,
		      *words ? ": " : "", words);
}

static void add_wishes(struct plan *p, const struct device *d, const struct wishes *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct action *a = plan_add(p, VERB_SET_DCB, d->pci->address);

		a->subject = action_text(&p->texts, w->list[i].subject);
		action_set(a, w->list[i].from, w->list[i].to);
		a->detail = action_text(&p->texts, d->netdev->name);
	}
}

static void plan_port(const struct config *c, const struct node *n, const struct memory *memory,
		      struct plan *p, const struct device *d)
{
	const struct dcb none = {}, *dcb = node_dcb(n, d->netdev->ifindex);
	char users[256];
	struct wishes w = {};

	want_map(c, dcb ? dcb : &none, &w);
	want(dcb ? dcb : &none, "pfc", c->qos.pfc, &w);
	want(dcb ? dcb : &none, "ets", c->qos.ets, &w);
	if (w.n == 0 && !*w.unknown)
		return;
	if (!guard_may(d, GUARD_DCB))
		return refuse(p, d, CLASS_REFUSED, guard_reason(d->need), "[QoS]");
	if (!n->has_dcbs)
		return refuse(p, d, CLASS_WAITING, REASON_NOT_RECORDED, "");
	if (!dcb)
		return refuse(p, d, CLASS_IMPOSSIBLE, REASON_QOS_UNSUPPORTED, "");
	if (qos_is_firmware(dcb))
		return refuse(p, d, CLASS_REFUSED, REASON_DCBX_FIRMWARE, "");
	if (*w.unknown)
		return refuse(p, d, CLASS_IMPOSSIBLE, REASON_QOS_UNSUPPORTED, w.unknown);
	if (in_use_of_port(&p->graph, memory, d->pci, users, sizeof(users)))
		return refuse(p, d, CLASS_NEEDS_REBOOT, REASON_QOS_IN_USE, users);
	add_wishes(p, d, &w);
}

/* --- rdma_cm --- */

static void want_default(struct plan *p, const struct device *d, const struct port *port,
			 const char *file, const char *from, const char *to)
{
	struct action *a;

	if (!*to || streq(from, to))
		return;
	a = plan_add(p, VERB_SET_ROCE, d->pci->address);
	a->subject = plan_text(p, "ports/%" PRIu32 "/%s", port->number, file);
	action_set(a, from, to);
	a->detail = action_text(&p->texts, d->ibdev->name);
}

static void plan_defaults(const struct config *c, const struct node *n, struct plan *p,
			  const struct device *d)
{
	const char *mode = roce_mode_text(c->qos.mode);

	if (!guard_may(d, GUARD_ROCE))
		return plan_add_item(p, VERB_SET_ROCE, CLASS_REFUSED, d->pci->address,
				     guard_reason(d->need), "%s: [QoS]", d->ibdev->name);
	if (!n->has_cm_config)
		return plan_add_item(p, VERB_SET_ROCE,
				     n->is_copy ? CLASS_WAITING : CLASS_IMPOSSIBLE, d->pci->address,
				     n->is_copy ? REASON_NOT_RECORDED : REASON_QOS_UNSUPPORTED,
				     "%s: /sys/kernel/config/rdma_cm is not there", d->ibdev->name);
	FOREACH(port, d->ibdev->ports, d->ibdev->n_ports) {
		if (!streq(port->link_layer, "Ethernet"))
			continue;
		want_default(p, d, port, "default_roce_mode", port->roce_mode, mode);
		want_default(p, d, port, "default_roce_tos", port->roce_tos, c->qos.tos);
	}
}

/* Does the device have defaults of rdma_cm? iWARP has none. */
static bool has_defaults(const struct node *n, const struct device *d)
{
	return d->ibdev && !d->is_in_pod && streq(d->ibdev->node_type, "CA") &&
	       !node_is_infiniband(n, d->pci);
}

static void tell_mismatch(const struct config *c, struct plan *p)
{
	const int priority = qos_priority(c);
	const char digit = (char)('0' + priority);

	if (priority < 0 || !*c->qos.pfc || strchr(c->qos.pfc, digit))
		return;
	plan_add_hint(p, REASON_QOS_MISMATCH, "", "RoceToS=%s is DSCP %lu, priority %d; PFC=%s",
		      c->qos.tos, strtoul(c->qos.tos, NULL, 10) / 4, priority, c->qos.pfc);
}

void plan_qos(const struct config *c, const struct node *n, const struct memory *memory,
	      struct plan *p)
{
	const bool has_dcb = qos_is_dcb_set(c);
	const bool has_cm = *c->qos.tos || c->qos.mode != ROCE_MODE_KEEP;

	FOREACH(d, p->devices, p->n_devices) {
		if (has_dcb && has_port(n, d)) {
			p->questions.set |= 1u << QUESTION_DCB;
			if (n->has_dcbs || n->is_copy)
				plan_port(c, n, memory, p, d);
		}
		if (has_cm && has_defaults(n, d))
			plan_defaults(c, n, p, d);
	}
	if (p->n_devices > 0)
		tell_mismatch(c, p);
}
