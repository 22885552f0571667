/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Given back: a device that a pod gives back with other settings gets back those that it was handed
 * out with, which are in model/given.h.
 */
#include "../guard/in-use-plan.h"
#include "../model/given.h"
#include "../model/ip.h"
#include "../model/route-find.h"
#include "../route/nic-netdev-rules.h"
#include "../step/identity-rules.h"
#include "../step/steps.h"

#define LONGEST_USEC (60 * USEC_PER_SEC) /* between two looks at a lock */

struct back {
	const struct node *n;
	const struct memory *memory;
	struct plan *p;
	struct device *d;
	bool is_used;  /* a process has its RDMA device open, and would notice */
	bool is_quiet; /* the device did not change for SettleSec=, and no CNI plugin is at work */
	bool by_gateway; /* which routes put_route() puts back */
	bool diverts;    /* an address that stays away: no route comes back without it */
	bool differs;
	bool is_pending;             /* and is not there yet for another reason than a failure */
	char names[160];             /* of what differs */
	const struct netdev *holder; /* that keeps its name; NULL: none */
};

/* Has nothing changed for SettleSec=? A person who asks for a pass need not wait. */
static bool is_quiet(const struct config *c, const struct node *n, const struct plan *p,
		     const struct device *d, const struct device_memory *m, const struct given *now)
{
	if (d->pci->cni_pid > 0)
		return false;
	if (n->now_usec == 0 || (p->tried && p->tried->is_asked)) /* 0: a captured tree */
		return true;
	return given_is_same(now, &m->seen) && n->now_usec - m->seen_usec >= c->service.settle_usec;
}

static void want(struct back *b, enum verb verb, const char *from, const char *to)
{
	struct action *a;

	if (streq(from, to) || verb_vf_setting(verb) & b->d->unsupported)
		return;
	b->differs = true;
	if (!b->is_quiet || b->is_used) {
		if (!strstr(b->names, verb_name(verb)))
			in_use_append(b->names, sizeof(b->names), "%s", verb_name(verb));
		return;
	}
	a = plan_add(b->p, verb, b->d->pci->address);
	a->step = STEP_VF;
	if (verb != VERB_SET_VF_MAC && verb != VERB_SET_VF_VLAN && verb != VERB_SET_VF_TRUST)
		a->ifindex = b->d->netdev->ifindex;
	action_set(a, from, to);
	a->detail =
		plan_text(b->p, "%s, given back by a pod with other settings", b->d->netdev->name);
	b->is_pending |= !attempts_find_begun(b->p->tried, verb, a->target, to);
	if (verb == VERB_SET_VF_MAC)
		identity_give(b->p, b->d->pci, to);
}

/* A negative number is unknown, and is not known to differ. */
static void want_number(struct back *b, enum verb verb, int64_t from, int64_t to)
{
	char texts[2][24];

	if (from < 0 || to < 0)
		return;
	PRINT(texts[0], "%" PRId64, from);
	PRINT(texts[1], "%" PRId64, to);
	want(b, verb, texts[0], texts[1]);
}

static void want_text(struct back *b, enum verb verb, const char *from, const char *to)
{
	if (*from && *to)
		want(b, verb, from, to);
}

/* Wants @verb for each name in @list that @without lacks. */
static void want_altnames(struct back *b, enum verb verb, const char *list, const char *without)
{
	char name[sizeof(((struct given *)0)->altnames)];

	while (given_next_word(&list, name, sizeof(name)))
		if (!given_has_word(without, name, ""))
			want(b, verb, "", name);
}

/* A name that another device came back with, and is to lose as well, is free at the next look: this
 * device steps aside, for the other one may wait for its name. */
static void want_name(struct back *b, const struct given *now, const struct given *g)
{
	const struct netdev *holder = node_netdev_named(b->n, g->name);
	const struct device_memory *m = holder ? memory_device(b->memory, holder->pci) : NULL;
	char aside[IFNAME_LEN];

	if (!holder || holder == b->d->netdev)
		return want_text(b, VERB_SET_NAME, now->name, g->name);
	PRINT(aside, "back%" PRIu32, b->d->netdev->ifindex);
	/* The holder keeps the name, as a PF whose VFs alone are handed out, or is in use: each try
	 * would only take the link down and up. */
	if (!m || !m->is_out || streq(holder->name, m->given.name) || streq(now->name, aside)) {
		b->differs = true;
		b->holder = holder;
		in_use_append(b->names, sizeof(b->names), "%s", verb_name(VERB_SET_NAME));
		return;
	}
	want(b, VERB_SET_NAME, now->name, aside);
}

/* An untrusted VF may be refused a MAC, and a name is free once it is no alternative one. */
static void want_all(struct back *b, const struct given *now, const struct given *g)
{
	const struct device_config *dc = b->d->config;

	want_number(b, VERB_SET_VF_VLAN, now->vlan, g->vlan);
	want_text(b, VERB_SET_VF_MAC, now->vf_mac, g->vf_mac);
	want_text(b, VERB_SET_MAC, now->mac, g->mac);
	if (dc->trust == TRUST_KEEP)
		want_number(b, VERB_SET_VF_TRUST, now->trust, g->trust);
	if (!g->name[0]) /* its netdev is another one since: remember-plan.c */
		return;
	if (dc->mtu == 0)
		want_number(b, VERB_SET_MTU, now->mtu, g->mtu);
	want_altnames(b, VERB_REMOVE_ALTNAME, now->altnames, g->altnames);
	want_name(b, now, g);
	want_altnames(b, VERB_ADD_ALTNAME, g->altnames, now->altnames);
}

/* --- what a PF lost --- */

static struct action *add_lost(struct back *b, enum verb verb)
{
	const struct device *d = b->d;
	struct action *a = plan_add(b->p, verb, d->pci->address);

	a->ifindex = d->netdev->ifindex;
	a->is_back = true;
	a->detail =
		plan_text(b->p, "%s had it before a pod had %s", d->netdev->name, d->netdev->name);
	return a;
}

static void put_address(struct back *b, const char *word)
{
	char subject[64], detail[256];
	struct address x;
	struct action *a;

	if (!given_parse_address(word, b->d->netdev->ifindex, &x))
		return;
	if (nic_netdev_diverts(b->n, &x, detail, sizeof(detail))) {
		b->diverts = true;
		return plan_add_wait(b->p, STEP_ROUTE, CLASS_IMPOSSIBLE, b->d->pci->address,
				     REASON_ADDRESS_DIVERTS, "%s: %s", b->d->netdev->name, detail);
	}
	a = add_lost(b, VERB_ADD_ADDRESS);
	a->address = x;
	ip_format(x.family, x.local, x.prefix_len, subject, sizeof(subject));
	a->subject = action_text(&b->p->texts, subject);
}

static void put_route(struct back *b, const char *word)
{
	struct route t;
	struct action *a;

	if (!given_parse_route(word, b->d->netdev->ifindex, &t) ||
	    route_has_gateway(&t) != b->by_gateway)
		return;
	a = add_lost(b, VERB_SET_ROUTE);
	a->route.route = t;
	a->subject = nic_netdev_format_route(b->p, &t);
}

static bool is_up_by_then(const struct plan *p, const struct device *d)
{
	const struct action *a = NULL;

	while ((a = plan_next(p, d->pci->address, a)))
		if (a->verb == VERB_SET_LINK_UP && a->ifindex == d->netdev->ifindex &&
		    action_is_open(a))
			return true;
	return d->netdev->is_up;
}

/* Adds the words of @list that are missing, once the link is up and no CNI plugin works on it. */
static void want_lost(struct back *b, const char *list, const char *now, const char *end,
		      void (*put)(struct back *b, const char *word))
{
	char word[sizeof(((struct given *)0)->altnames)];

	while (given_next_word(&list, word, sizeof(word))) {
		if (given_has_word(now, word, end))
			continue;
		b->d->is_changed = true;
		if (is_up_by_then(b->p, b->d) && b->d->pci->cni_pid == 0)
			put(b, word);
	}
}

/* @same_usec: how long the device has been as it is */
static void hint(const struct config *c, struct back *b, uint64_t same_usec)
{
	const struct pci *pci = b->d->pci;
	/* No event tells that a lock is released. A lock that is kept is looked at less and less.
	 */
	const uint64_t least_usec = MAX(c->service.settle_usec, USEC_PER_SEC),
		       same = pci->cni_pid > 0 ? MIN(same_usec, LONGEST_USEC) : 0,
		       again = b->n->now_usec + MAX(least_usec, same);
	char who[64] = "";

	if (b->is_used) /* no event tells that it is closed: the next event looks */
		COPY(who, "; its RDMA device is open");
	else if (b->is_quiet) /* an event tells that the other one is renamed */
		PRINT(who, "; %s is the name of %s", b->holder->name,
		      b->holder->pci[0] ? b->holder->pci : "another device");
	else
		b->p->again_usec = b->p->again_usec > 0 ? MIN(b->p->again_usec, again) : again;
	if (pci->cni_pid > 0)
		PRINT(who, "; process %" PRIu32 " of a CNI plugin holds it", pci->cni_pid);
	plan_add_hint(b->p, REASON_GIVEN_BACK, pci->address, "%s: %s%s", b->d->netdev->name,
		      b->names, who);
}

/* The memory of @d, if it is to get @ret back; else NULL. */
static const struct device_memory *memory_of_out(const struct node *n, const struct memory *memory,
						 const struct device *d, struct given *ret)
{
	const struct device_memory *m = memory_device(memory, d->pci->address);
	const struct netdev *vrf = route_vrf_of(n, d->netdev);

	if (!m || !m->is_out || !d->netdev || d->is_in_pod || plan_carries_node(d) ||
	    (d->netdev->master && !(vrf && streq(vrf->name, m->given.vrf))))
		return NULL;
	*ret = m->usable_instance == d->pci->instance ? m->given : given_in_pf(&m->given);
	return m;
}

static void plan_one(const struct config *c, const struct node *n, const struct memory *memory,
		     struct plan *p, struct device *d)
{
	struct given now, g;
	const struct device_memory *m = memory_of_out(n, memory, d, &g);
	struct back b = { .n = n, .memory = memory, .p = p, .d = d };

	if (!m)
		return;
	given_look(n, memory, d->pci, d->netdev, &now);
	/* A VF that has the MAC of its PF's table got it when it was bound again; without one there
	 * it was made anew. */
	if (!g.name[0] && !guid_is_unset(g.vf_mac)) {
		if (guid_is_unset(now.vf_mac))
			return;
		if (streq(now.mac, now.vf_mac))
			COPY(g.mac, g.vf_mac);
	}
	b.is_used = d->ibdev && d->ibdev->n_contexts > 0 && d->ibdev->n_contexts != UINT32_MAX;
	b.is_quiet = is_quiet(c, n, p, d, m, &now);
	want_all(&b, &now, &g);
	if (b.differs && (!b.is_quiet || b.is_used || b.holder))
		hint(c, &b, given_is_same(&now, &m->seen) ? n->now_usec - m->seen_usec : 0);
	d->is_changed = b.differs;
	d->is_restore_due = b.differs && !b.is_used && (!b.is_quiet || b.is_pending);
}

void plan_given_back(const struct config *c, const struct node *n, const struct memory *memory,
		     struct plan *p)
{
	for (size_t i = 0; i < p->n_devices; i++)
		plan_one(c, n, memory, p, &p->devices[i]);
	for (size_t i = 0; i < p->n_unmanaged; i++)
		plan_one(c, n, memory, p, &p->unmanaged[i]);
}

static void plan_lost_of(const struct node *n, const struct memory *memory, struct plan *p,
			 struct device *d)
{
	struct back b = { .n = n, .memory = memory, .p = p, .d = d };
	struct given now, g;

	if (!memory_of_out(n, memory, d, &g))
		return;
	if (g.vrf[0] && !d->netdev->master) {
		if (p->is_wanted || !(g.addresses[0] || g.routes[0]))
			return;
		d->is_changed = true;
		return plan_add_hint(p, REASON_GIVEN_BACK, d->pci->address,
				     "%s: it left VRF %s; its addresses and routes come back "
				     "once it is a port of that again",
				     d->netdev->name, g.vrf);
	}
	given_look(n, memory, d->pci, d->netdev, &now);
	want_lost(&b, g.addresses, now.addresses, GIVEN_ADDRESS_END, put_address);
	if (b.diverts)
		return;
	want_lost(&b, g.routes, now.routes, "", put_route);
	b.by_gateway = true;
	want_lost(&b, g.routes, now.routes, "", put_route);
}

/* Routes by a gateway follow the addresses and the routes on the link, as they do in the plan. */
void plan_lost(const struct config *c _unused_, const struct node *n, const struct memory *memory,
	       struct plan *p)
{
	for (size_t i = 0; i < p->n_devices; i++)
		plan_lost_of(n, memory, p, &p->devices[i]);
	for (size_t i = 0; i < p->n_unmanaged; i++)
		plan_lost_of(n, memory, p, &p->unmanaged[i]);
}
