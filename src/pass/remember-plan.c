/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remember: what the next pass of this boot must know of this one.
 */
#include "../model/given.h"
#include "../step/steps.h"

/* The index tells that this very ibdev was opened, so that it need not be again. */
static uint32_t opened_index(const struct device *d, const struct device_memory *m)
{
	if (d->ibdev && d->ibdev->verbs == 0)
		return d->ibdev->index;
	if (m && (!d->ibdev || (d->ibdev->verbs > 0 && d->ibdev->index == m->index)))
		return m->index;
	return UINT32_MAX;
}

static void remember_sick(const struct device *d, struct device_memory *m)
{
	COPY(m->sick, d->is_sick_long ? d->sick : "");
	m->sick_pid = d->is_sick_long ? d->sick_pid : 0;
	m->instance = d->is_sick_long ? d->pci->instance : 0;
}

/* A PF in a pod does not show what was set through it: such values are those of @before. */
static struct given with_pf(const struct given *g, const struct given *before)
{
	struct given known = *g;

	if (g->vlan < 0 && before->vf_mac[0]) {
		known.vlan = before->vlan;
		known.trust = before->trust;
		COPY(known.vf_mac, before->vf_mac);
	}
	return known;
}

static void keep_given(struct device_memory *m, const struct given *g)
{
	m->given = with_pf(g, &m->given);
	m->seen = (struct given){};
	m->seen_usec = 0;
}

static bool has_stayed(const struct node *n, const struct device_memory *m)
{
	return m->seen_usec > 0 && n->now_usec - m->seen_usec >= GIVEN_USEC;
}

/* The rules are those of model/given.h. @m is that of the last pass, or empty. */
static void remember_given(const struct node *n, const struct memory *memory,
			   const struct device *d, bool is_wanted, struct device_memory *m)
{
	struct given now, known;
	bool is_new;

	/* The driver's binding of these is over. */
	if (m->usable_instance != d->pci->instance) {
		m->given = given_in_pf(&m->given);
		m->seen = (struct given){};
	}
	if (d->is_in_pod) {
		keep_given(m, !m->is_out && has_stayed(n, m) ? &m->seen : &m->given);
		m->is_out = m->given.name[0];
	}
	if (d->is_in_pod || !d->netdev || (!d->is_handed_out && !m->is_out))
		return;

	given_look(n, memory, d->pci, d->netdev, &now);
	known = with_pf(&now, &m->given);
	is_new = !m->given.name[0] || is_wanted;
	m->is_out = d->is_changed || (m->is_out && m->given.vf_mac[0] && !now.vf_mac[0]);
	if (!m->is_out && is_new && (!d->is_usable || d->netdev->is_unnamed))
		return;
	if (!m->is_out && (is_new || given_is_same(&known, &m->given) ||
			   (given_is_same(&now, &m->seen) && has_stayed(n, m)))) {
		keep_given(m, &now);
	} else if (!given_is_same(&now, &m->seen)) {
		m->seen = now;
		m->seen_usec = n->now_usec;
	}
}

/* A value that cannot be seen now is kept from the last pass. */
static struct device_memory remember(const struct node *n, const struct memory *memory,
				     const struct device *d, bool is_wanted)
{
	const struct device_memory *old = memory_device(memory, d->pci->address);
	struct device_memory m = old ? *old : (struct device_memory){};
	char card[MAC_LEN];

	COPY(m.pci, d->pci->address);
	if (d->ibdev || d->ibdev_name[0])
		COPY(m.ibdev, d->ibdev ? d->ibdev->name : d->ibdev_name);
	if (d->netdev || (d->is_in_pod && d->netdev_name[0]))
		COPY(m.netdev, d->netdev ? d->netdev->name : d->netdev_name);
	node_card(n, d->pci, card);
	if (*card)
		COPY(m.card, card);
	if (d->ibdev) {
		m.was_virtual = d->ibdev->is_virtual && !pci_is_erdma(d->pci);
		m.active_mtu = d->ibdev->active_mtu;
	}
	if (d->netdev)
		m.mtu = d->netdev->mtu;
	m.index = opened_index(d, old);
	m.was_rebuilt = d->is_rebuilt;
	m.was_port = (m.was_port && !is_wanted) || node_bond_of(n, d->netdev);
	m.was_exclusive =
		d->config->mode == VF_MODE_EXCLUSIVE || (d->put_off_by && m.was_exclusive);
	/* Told of the PF alone; with new VFs it may have it: mlx5 has some in legacy mode only. */
	m.unsupported = d->is_vf || d->pci->num_vfs == 0 ? 0 : d->unsupported;
	remember_sick(d, &m);
	if (!device_lacks_carrier(d))
		m.no_carrier_usec = 0;
	else if (m.no_carrier_usec == 0)
		m.no_carrier_usec = n->now_usec;
	m.losses = d->losses;
	m.aer = MIN(m.aer, d->pci->n_aer); /* it begins at 0 when the kernel finds the card again */
	remember_given(n, memory, d, is_wanted, &m);
	if (d->is_by_name && !m.matched[0])
		COPY(m.matched, m.netdev);
	m.was_usable = d->is_usable || m.was_usable;
	/* A device that is left to the host is not handed out, so its loss counts at once. */
	m.was_lost = m.was_usable && (!d->is_usable || d->aside != REASON_NONE);
	if (d->is_usable) {
		m.usable_usec = device_usable_usec(n, memory, d);
		m.usable_instance = d->pci->instance;
	}
	return m;
}

/*
 * Adds the attempts that are remembered, and the actions of this pass that failed. Another program
 * may have undone a change of a netdev while this pass went on: if that happens again and again,
 * plan_contest() leaves the change alone.
 */
static int add_attempts(const struct memory *memory, const struct plan *p, struct memory *to)
{
	int r = 0;

	for (size_t i = 0; i < memory->n_attempts && r >= 0; i++)
		r = ADD(to->attempts, to->n_attempts, memory->attempts[i]);
	FOREACH_WHILE(a, p->actions, p->n_actions, r >= 0) {
		struct attempt t = { .verb = a->verb,
				     .result = a->result,
				     .is_vain = a->is_vain,
				     .instance = a->instance,
				     .value = a->value,
				     .ifindex = a->ifindex };
		char to_text[SHOWN_LEN];

		if (!a->is_done || a->result >= 0 || (a->is_vain && a->ifindex > 0))
			continue;
		COPY(t.target, a->target);
		COPY(t.subject, a->subject);
		COPY(t.to, action_to(a, to_text));
		COPY(t.error, a->error);
		r = ADD(to->attempts, to->n_attempts, t);
	}
	return r;
}

/* Functions that are gone are remembered for one more look, which then drops them. */
static int add_gone(const struct node *n, const struct memory *memory, struct memory *to)
{
	int r = 0;

	for (size_t i = 0; i < memory->n_devices && r >= 0; i++) {
		struct device_memory m = memory->devices[i];

		if (!m.was_usable || m.was_lost || node_pci(n, m.pci))
			continue;
		m.was_lost = true;
		m.index = UINT32_MAX;
		m.unsupported = 0;
		m.was_rebuilt = false;
		r = ADD(to->devices, to->n_devices, m);
	}
	return r;
}

int plan_remember(const struct config *c, const struct node *n, const struct memory *memory,
		  const struct plan *p, struct memory *ret)
{
	_cleanup_(memory_done) struct memory to = {};
	int r = 0;

	COPY(to.boot_id, n->boot_id);
	COPY(to.last_hash, c->hash);
	COPY(to.stuck, memory->stuck);
	to.stuck_pid = *memory->stuck ? memory->stuck_pid : 0;
	to.devlink_pid = memory->devlink_pid;
	to.was_held = n->is_held;
	to.was_wait_over = p->is_wait_over || p->state == NODE_READY;
	to.net_hash = p->net_hash;
	to.net_usec = p->net_usec;
	COPY(to.last_plugin_path, *n->old_plugin_path ? n->old_plugin_path : c->plugin.config_file);
	for (size_t i = 0; i < p->n_devices && r >= 0; i++)
		r = ADD(to.devices, to.n_devices,
			remember(n, memory, &p->devices[i], p->is_wanted));
	FOREACH_WHILE(d, p->unmanaged, p->n_unmanaged, r >= 0) {
		const struct device_memory m = remember(n, memory, d, p->is_wanted);

		r = m.is_out ? ADD(to.devices, to.n_devices, m) : 0;
	}
	if (r >= 0)
		r = add_gone(n, memory, &to);
	if (r >= 0)
		r = add_attempts(memory, p, &to);
	return GIVE(r, to, ret);
}
