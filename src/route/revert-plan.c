/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Revert: takes back the settings that were made in the kernel in this boot. Pure, and without a
 * configuration: routes and rules of ours are known by their protocol, files for others by their
 * records, all else by the ledger.
 */
#include "../step/steps.h"

#include "../guard/guard-rules.h"
#include "../guard/in-use-plan.h"
#include "../guard/vf-precheck-rules.h"
#include "../model/paths.h"
#include "nic-netdev-rules.h"

#include <sys/socket.h>

/* Adds a step back (is_back): when it is done, its entry of the ledger is removed. */
static struct action *add(struct plan *p, enum verb verb, const char *target,
			  const struct ledger_entry *e, const char *to)
{
	struct action *a = plan_add(p, verb, target);

	a->is_back = true;
	action_set(a, "", to);
	if (e) {
		a->ifindex = e->ifindex;
		a->subject = action_text(&p->texts, e->subject);
	}
	return a;
}

static void revert_rules(const struct node *n, struct plan *p)
{
	for (size_t i = 0; i < n->n_rules; i++) {
		struct action *a;

		if (n->rules[i].protocol != OWN_PROTOCOL)
			continue;
		a = add(p, VERB_REMOVE_RULE, "", NULL, "");
		a->subject = nic_netdev_format_rule(p, &n->rules[i]);
		a->ifindex = nic_netdev_of_rule(&n->rules[i]);
		a->rule = n->rules[i];
	}
}

static void revert_routes(const struct node *n, struct plan *p)
{
	for (size_t i = 0; i < n->n_routes; i++) {
		struct action *a;

		if (n->routes[i].protocol != OWN_PROTOCOL)
			continue;
		a = add(p, VERB_REMOVE_ROUTE, "", NULL, "");
		a->subject = nic_netdev_format_route(p, &n->routes[i]);
		a->ifindex = n->routes[i].ifindex;
		a->route.route = n->routes[i];
	}
}

static void revert_neighbours(const struct node *n, struct plan *p)
{
	for (size_t i = 0; i < n->n_neighbours; i++) {
		struct action *a;
		char subject[64];

		if (n->neighbours[i].protocol != OWN_PROTOCOL)
			continue;
		a = add(p, VERB_REMOVE_NEIGHBOUR, "", NULL, "");
		ip_format(n->neighbours[i].family, n->neighbours[i].address, UINT32_MAX, subject,
			  sizeof(subject));
		a->subject = action_text(&p->texts, subject);
		a->ifindex = n->neighbours[i].ifindex;
		a->neighbour = n->neighbours[i];
	}
}

/* The address that a line of the ledger names, where it is still there. */
static const struct address *address_of(const struct node *n, const struct ledger_entry *e)
{
	FOREACH(a, n->addresses, n->n_addresses) {
		char subject[64];

		if (a->ifindex != e->ifindex)
			continue;
		ip_format(a->family, a->local, a->prefix_len, subject, sizeof(subject));
		if (streq(subject, e->subject))
			return a;
	}
	return NULL;
}

static void revert_address(const struct node *n, const struct memory *memory _unused_,
			   struct plan *p, const struct ledger_entry *e)
{
	const struct address *have = address_of(n, e);
	struct action *a;

	if (!have)
		return;
	a = add(p, VERB_REMOVE_ADDRESS, e->target, e, e->subject);
	a->address = *have;
}

static void revert_metric(const struct node *n, const struct memory *memory, struct plan *p,
			  const struct ledger_entry *e)
{
	const struct address *have = address_of(n, e);
	struct action *a;
	char now[16];

	if (!have || memory_entry(memory, verb_name(VERB_ADD_ADDRESS), "", e->ifindex, e->subject))
		return; /* an address of ours is removed, with its metric */
	PRINT(now, "%" PRIu32, have->metric);
	if (!ledger_is_ours(e, now))
		return;

	/* The kernel takes no 0 for IPv6, and means this by it: inet6_addr_modify(),
	 * IP6_RT_PRIO_ADDRCONF. */
	a = add(p, VERB_SET_METRIC, e->target, e,
		have->family == AF_INET6 && streq(e->from, "0") ? "256" : e->from);
	a->number.from = (struct number){ true, have->metric };
	a->number.address = *have;
}

static void revert_sysctl(const struct node *n, const struct memory *memory _unused_,
			  struct plan *p, const struct ledger_entry *e)
{
	const struct netdev *nd = node_netdev(n, e->ifindex);
	struct action *a;
	char now[16];

	for (enum netconf_key key = 0; nd && key < _NETCONF_N; key++) {
		if (!streq(netconf_name(key), e->subject) || !(nd->conf.known & 1u << key))
			continue;
		PRINT(now, "%" PRId32, nd->conf.values[key]);
		if (!ledger_is_ours(e, now) || streq(now, e->from))
			return;
		a = add(p, VERB_SET_SYSCTL, e->target, e, e->from);
		a->number.from = (struct number){ true, nd->conf.values[key] };
	}
}

static void revert_dcb(const struct node *n, const struct memory *memory, struct plan *p,
		       const struct ledger_entry *e)
{
	const struct netdev *nd = node_netdev_of(n, e->target);
	const struct dcb *d = nd ? node_dcb(n, nd->ifindex) : NULL;
	char now[QOS_ETS_LEN] = "", users[ACTION_TEXT_LEN];
	struct action *a;

	p->texts.is_short |= questions_add_function(&p->questions, e->target) < 0;
	p->questions.set |= 1u << QUESTION_DCB;
	if (d)
		qos_value(d, e->subject, now);
	if (!*now || !ledger_is_ours(e, now) || streq(now, e->from))
		return;
	a = add(p, VERB_SET_DCB, e->target, e, e->from);
	COPY(a->text.from, now);
	if (in_use_of_port(&p->graph, memory, node_pci(n, nd->pci), users, sizeof(users))) {
		a->class = CLASS_REFUSED;
		a->reason = REASON_QOS_IN_USE;
		a->detail = action_text(&p->texts, users);
	}
}

static void revert_roce(const struct node *n, const struct memory *memory _unused_, struct plan *p,
			const struct ledger_entry *e)
{
	const struct ibdev *ib = node_ibdev_of(n, e->target);
	struct action *a;

	for (size_t i = 0; ib && i < ib->n_ports; i++) {
		const struct port *port = &ib->ports[i];
		const char *now = strstr(e->subject, "_tos") ? port->roce_tos : port->roce_mode;
		char prefix[32];

		PRINT(prefix, "ports/%" PRIu32 "/", port->number);
		if (!after(e->subject, prefix) || (*now && !ledger_is_ours(e, now)))
			continue;
		a = add(p, VERB_SET_ROCE, e->target, e, e->from);
		COPY(a->text.from, *now ? now : e->to); /* not shown after a rename */
	}
}

static void revert_vfs(const struct node *n, const struct memory *memory, struct plan *p,
		       const struct ledger_entry *e)
{
	static const struct config nothing;
	const struct pci *pf = node_pci(n, e->target);
	struct device d = { .pci = pf, .netdev = node_netdev_of(n, e->target) };
	char users[ACTION_TEXT_LEN], now[16];
	struct action *a;
	enum class class;

	PRINT(now, "%" PRIu32, pf ? pf->num_vfs : 0);
	if (!pf || pf->num_vfs == 0 || !streq(now, e->to))
		return;

	a = add(p, VERB_SET_NUM_VFS, pf->address, e, "0");
	a->number.from = (struct number){ true, pf->num_vfs };
	if (memory->stuck[0]) { /* it would hang as well: guard/vf-precheck-rules.h */
		a->class = CLASS_WAITING;
		a->reason = memory->stuck_sec > 0 ? REASON_VF_CHANGING : REASON_PCI_STUCK;
		a->detail = action_text(&p->texts, memory->stuck);
	} else if (in_use_of_vfs(&p->graph, memory, pf, users, sizeof(users))) {
		a->class = CLASS_REFUSED;
		a->reason = REASON_VF_IN_USE;
		a->detail = action_text(&p->texts, users);
	} else if (vf_precheck(p, memory, pf, 0, &class, users, sizeof(users)) ==
		   REASON_PF_IN_LAG) {
		a->class = class;
		a->reason = REASON_PF_IN_LAG;
		a->detail = action_text(&p->texts, users);
	} else {
		/* plan_needs() wants a configuration; a PF that carries the node is in use. */
		guard_look(&nothing, memory, p, &d);
		if (guard_may(&d, GUARD_NUM_VFS))
			return;
		a->class = CLASS_REFUSED;
		a->reason = REASON_PF_IN_USE;
		a->detail = action_text(&p->texts, d.used_by);
	}
}

/* Turns autoprobe on again where a pass ended before it did. This also works while a write hangs in
 * the card: sriov_drivers_autoprobe_store() in drivers/pci/iov.c takes no lock. */
static void revert_autoprobe(const struct node *n, struct plan *p)
{
	FOREACH(pf, n->pcis, n->n_pcis) {
		struct action *a;

		if (!pf->is_recorded || (!pf->autoprobe && !pf->is_switched))
			continue;
		a = add(p, VERB_SET_AUTOPROBE, pf->address, NULL, "1");
		a->number.from = (struct number){ true, pf->autoprobe };
	}
}

/* Removes the files of [Output]: they describe a node that no longer exists. */
static void revert_outputs(const struct node *n, struct plan *p, bool with_vfs)
{
	/* The pod first: no plugin is to start without its file. */
	if (*n->old_manifest_path)
		add(p, VERB_REMOVE_MANIFEST, n->old_manifest_path, NULL, "");
	if (*n->old_plugin_path)
		add(p, VERB_REMOVE_PLUGIN, n->old_plugin_path, NULL, "");
	FOREACH(rec, n->output_records, n->n_output_records)
		add(p, VERB_REMOVE_OUTPUT, rec->path, NULL, output_name(rec->output));
	if (with_vfs && n->rules_file)
		add(p, VERB_WRITE_RULES, "/" RULES_PATH, NULL, "");
}

static void revert_ledger(const struct node *n, const struct memory *memory, struct plan *p,
			  enum verb verb,
			  void (*revert)(const struct node *n, const struct memory *memory,
					 struct plan *p, const struct ledger_entry *e))
{
	for (size_t i = 0; i < memory->n_ledger; i++)
		if (streq(memory->ledger[i].verb, verb_name(verb)))
			revert(n, memory, p, &memory->ledger[i]);
}

void plan_revert_netdev(const struct node *n, const struct memory *memory, struct plan *p,
			uint32_t ifindex)
{
	FOREACH(e, memory->ledger, memory->n_ledger) {
		if (e->ifindex != ifindex)
			continue;
		if (streq(e->verb, verb_name(VERB_SET_METRIC)))
			revert_metric(n, memory, p, e);
		else if (streq(e->verb, verb_name(VERB_SET_SYSCTL)))
			revert_sysctl(n, memory, p, e);
	}
}

/* Is it the netdev of this RDMA device, or the bond above that? */
static bool is_netdev_of(const struct node *n, const struct ibdev *ib, uint32_t ifindex)
{
	const struct netdev *nd = node_netdev_named(n, ib->netdev);

	return nd && (nd->ifindex == ifindex || nd->master == ifindex);
}

/* Leaves the routes of devices that are known to be in use: a connected QP keeps the route that it
 * was made with. Devices whose contexts cannot be counted do not count as in use here. */
static void leave_used(const struct node *n, struct plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++)
		FOREACH_WHILE(ib, n->ibdevs, n->n_ibdevs, p->actions[i].ifindex > 0) {
			struct action *a = &p->actions[i];

			if (ib->n_contexts == 0 || ib->n_contexts == UINT32_MAX ||
			    !is_netdev_of(n, ib, a->ifindex))
				continue;
			a->class = CLASS_REFUSED;
			a->reason = REASON_NIC_IN_USE;
			a->detail =
				plan_text(p, "%s, %s has %" PRIu32 " open context%s", a->subject,
					  ib->name, ib->n_contexts, ib->n_contexts == 1 ? "" : "s");
			break;
		}
}

int plan_revert(const struct node *n, const struct memory *memory, const struct attempts *tried,
		bool with_vfs, struct plan *ret)
{
	static const struct {
		enum verb verb;
		void (*revert)(const struct node *n, const struct memory *memory, struct plan *p,
			       const struct ledger_entry *e);
	} noted[] = {
		/* in this order */
		{ VERB_ADD_ADDRESS, revert_address }, { VERB_SET_METRIC, revert_metric },
		{ VERB_SET_SYSCTL, revert_sysctl },   { VERB_SET_ROCE, revert_roce },
		{ VERB_SET_DCB, revert_dcb },
	};
	_cleanup_(plan_done) struct plan p = { .tried = tried };
	int r = graph_make(n, &p.graph);

	if (r < 0)
		return r;
	revert_outputs(n, &p, with_vfs);
	revert_rules(n, &p);
	revert_routes(n, &p);
	revert_neighbours(n, &p);
	for (size_t i = 0; i < ELEMENTSOF(noted); i++)
		revert_ledger(n, memory, &p, noted[i].verb, noted[i].revert);
	revert_autoprobe(n, &p);
	if (with_vfs)
		revert_ledger(n, memory, &p, VERB_SET_NUM_VFS, revert_vfs);
	leave_used(n, &p);
	plan_mark_tried(&p);
	r = plan_ask(n, &p);
	return GIVE(r, p, ret);
}
