/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flap: losses of the links of managed NICs, and what follows from them.
 *
 * The kernel counts each loss of carrier (netif_carrier_off() in net/sched/sch_generic.c), also
 * those that are asked for: a link that is set down, or a driver that restarts its card for a new
 * MTU. The announcement that brings the new number tells which it was: model/link-log.h. So the
 * number is exact, however short a loss was, and however many one announcement has.
 */
#include "../model/link-log.h"
#include "../step/steps.h"

/* linkwatch tells of a loss within one: net/core/link_watch.c */
#define OWN_USEC (2 * USEC_PER_SEC)
#define SET_DOWN INT64_MAX           /* of grace_usec: until it is set up again */
#define OF_IBDEV (UINT32_C(1) << 31) /* in place of an ifindex, which is below */

static void add_losses(struct link_losses *l, const struct link_news *news)
{
	const uint32_t n = news->carrier_downs - l->carrier_downs;

	l->n += n;
	l->n_back = l->n - 1; /* another one follows only on a return */
	for (uint32_t i = 0; i < MIN(n, (uint32_t)LOSSES_MAX); i++) {
		if (l->n_last == LOSSES_MAX)
			memmove(l->last, l->last + 1, --l->n_last * sizeof(*l->last));
		l->last[l->n_last++] = (struct moment){ news->usec, news->sec };
	}
}

/* Is this announcement one of a link that was to be up, and that nothing was done to? */
static bool is_loss(const struct link_losses *l, const struct link_news *news, uint32_t mtu)
{
	return news->is_up && news->mtu == mtu && news->usec > l->grace_usec &&
	       news->carrier_downs > l->carrier_downs;
}

static bool may_take_carrier(const struct action *a)
{
	return !a->is_recalled &&
	       (a->step == STEP_DRIVER || a->step == STEP_VF || a->step == STEP_LINK);
}

/* Did this pass do something to the PF or its VFs that may take its carrier? */
static bool is_changed(const struct node *n, const struct plan *p, const struct pci *pf)
{
	const struct action *a = NULL;
	size_t at = SIZE_MAX;

	while ((a = attempts_next(p->tried, pf->address, a)))
		if (may_take_carrier(a))
			return true;
	while ((a = attempts_next_of_vfs(p->tried, n, pf->address, &at, a)))
		if (may_take_carrier(a))
			return true;
	return false;
}

/*
 * A port of InfiniBand without IPoIB is announced by nobody: its own counter tells, at each look.
 * It has 8 bits, and may be set to 0 by anyone who manages the fabric: perfquery(8).
 */
static void count_downed(const struct node *n, const struct plan *p, const struct device_memory *m,
			 struct device *d)
{
	const struct ibdev *ib = d->ibdev;
	struct link_losses *l = &d->losses;
	const bool is_read = ib && ib->link_downed_sec > 0;
	const struct link_news news = { .carrier_downs = is_read ? ib->link_downed : 0,
					.usec = n->now_usec,
					.sec = is_read ? ib->link_downed_sec : 0 };
	const uint32_t id = is_read ? ib->index | OF_IBDEV : 0;

	if (is_read && m && m->was_usable && l->ifindex == id && !is_changed(n, p, d->pci)) {
		if (news.carrier_downs < l->carrier_downs)
			l->carrier_downs = 0;
		if (news.carrier_downs > l->carrier_downs)
			add_losses(l, &news);
	}
	l->carrier_downs = news.carrier_downs;
	l->ifindex = id;
}

/*
 * A card may bounce as it comes up: after it was set up, or got another MTU. The first announcement
 * of a link may be the one that it was set up with: the netdevs of ib_ipoib are not announced as
 * they are registered, register_netdevice() in net/core/dev.c with the rtnl_link_ops of
 * ipoib_add_port(). Before a break, it may have been changed by a pass that was killed.
 * @mtu: of the announcement before, 0 when it is not known
 */
static uint64_t grace_after(uint64_t grace_usec, const struct link_news *news, uint32_t mtu)
{
	if (news->ifindex != 0 && !news->is_up)
		return SET_DOWN;
	if (news->ifindex == 0)
		return grace_usec == SET_DOWN ? SET_DOWN : MAX(grace_usec, news->usec + OWN_USEC);
	if (grace_usec == SET_DOWN || mtu != news->mtu)
		return news->usec + OWN_USEC;
	return grace_usec;
}

static void count_losses(const struct node *n, const struct plan *p, const struct device_memory *m,
			 struct device *d)
{
	const bool was_usable = m && m->was_usable;
	struct link_losses *l = &d->losses;
	const struct netdev *nd = d->netdev;
	bool is_known = was_usable && nd && l->ifindex == nd->ifindex;
	uint32_t mtu = m ? m->mtu : 0;

	if (!nd) {
		count_downed(n, p, m, d);
		return;
	}
	FOREACH(news, n->link_news, n->n_link_news) {
		if (news->usec <= l->seen_usec ||
		    (news->ifindex != 0 && news->ifindex != nd->ifindex))
			continue;
		l->seen_usec = news->usec;
		l->grace_usec = grace_after(l->grace_usec, news, is_known ? mtu : 0);
		if (is_known && is_loss(l, news, mtu))
			add_losses(l, news);
		is_known = was_usable && news->ifindex != 0 && !news->is_gone;
		l->carrier_downs = news->carrier_downs;
		mtu = news->mtu;
	}
	if (!is_known || is_changed(n, p, d->pci))
		l->carrier_downs = nd->carrier_downs;
	/* It may be down since before anybody listened, and set up while nobody did. */
	if (!nd->is_up)
		l->grace_usec = SET_DOWN;
	else if (!was_usable || is_changed(n, p, d->pci) || l->grace_usec == SET_DOWN)
		l->grace_usec = n->now_usec + OWN_USEC;
	l->ifindex = nd->ifindex;
}

static void note_return(const struct node *n, const struct device_memory *m, struct device *d)
{
	const bool has_link =
		d->netdev ? d->netdev->has_carrier : d->ibdev && ibdev_is_active(d->ibdev);

	if (!has_link)
		return;
	d->losses.n_back = d->losses.n;
	if (m && m->no_carrier_usec > 0)
		d->losses.back_usec = n->now_usec;
}

/* Is this moment over? Else there is another look then. In a captured tree no time passes. */
static bool is_over(const struct node *n, struct plan *p, uint64_t until_usec)
{
	if (n->now_usec == 0 || n->now_usec >= until_usec)
		return n->now_usec > 0;
	p->again_usec = p->again_usec > 0 ? MIN(p->again_usec, until_usec) : until_usec;
	return false;
}

static bool is_flapping(const struct config *c, const struct node *n, struct plan *p,
			const struct device *d)
{
	const struct link_losses *l = &d->losses;
	const struct flap *flap = &c->health.flap;
	uint64_t last_usec;

	if (flap->count == 0 || l->n_last < flap->count)
		return false;
	last_usec = l->last[l->n_last - 1].usec;
	if (last_usec - l->last[l->n_last - flap->count].usec > flap->usec)
		return false;
	return device_lacks_carrier(d) ||
	       !is_over(n, p, MAX(last_usec, l->back_usec) + c->health.quiet_usec);
}

/* "3 losses, the last 2026-11-23 17:01:12 17:01:15 17:01:20 UTC" */
static void tell_flapping(struct plan *p, const struct device *d, uint32_t count)
{
	const struct link_losses *l = &d->losses;
	char detail[256], when[24];
	size_t at = (size_t)PRINT(detail, "%" PRIu32 " losses, the last%s", l->n,
				  l->n == count ? "" : " ones");

	for (size_t i = l->n_last - count; i < l->n_last; i++) {
		const time_t sec = (time_t)l->last[i].sec;
		struct tm tm;

		if (gmtime_r(&sec, &tm) &&
		    strftime(when, sizeof(when),
			     i == l->n_last - count ? " %Y-%m-%d %H:%M:%S" : " %H:%M:%S", &tm) > 0)
			at += (size_t)snprintf(detail + at, sizeof(detail) - at, "%s", when);
	}
	plan_add_hint(p, REASON_LINK_FLAPPING, d->pci->address, "%s UTC%s", detail,
		      d->is_excluded ? "; left out" : "");
}

static void tell_dropped(const struct config *c, const struct node *n,
			 const struct device_memory *m, struct plan *p, const struct device *d)
{
	if (c->health.drop_usec == 0 || !m || !m->was_usable || !device_lacks_carrier(d) ||
	    m->no_carrier_usec == 0 || !is_over(n, p, m->no_carrier_usec + c->health.drop_usec))
		return;
	plan_add_hint(p, REASON_LINK_DROPPED, d->pci->address,
		      "no carrier for %" PRIu64 " s or longer", c->health.drop_usec / USEC_PER_SEC);
}

/* A DRA driver finds its devices itself. */
static bool is_exclusion_asked(const struct config *c)
{
	return c->health.act == HEALTH_ACT_EXCLUDE &&
	       (c->plugin.type == PLUGIN_NONE || plugin_has_file(c->plugin.type));
}

/* A shared device stays in the host's namespace; a process that has it open uses it. */
static bool is_had(const struct device *d)
{
	return d->is_in_pod ||
	       (d->ibdev && d->ibdev->n_contexts > 0 && d->ibdev->n_contexts != UINT32_MAX);
}

static void ask_for_downed(const struct node *n, struct plan *p, const struct device *d)
{
	if (d->netdev || !device_is_infiniband(d) || node_netdev_of(n, d->pci->address))
		return;
	p->questions.set |= 1u << QUESTION_LINK_DOWNED;
	p->texts.is_short |= questions_add_function(&p->questions, d->pci->address) < 0;
}

void plan_flaps(const struct config *c, const struct node *n, const struct memory *memory,
		struct plan *p)
{
	struct device *pf = NULL;

	FOREACH_WHILE(d, p->devices, p->n_devices, config_watches_links(c)) {
		const struct device_memory *m = memory_device(memory, d->pci->address);

		if (!d->is_vf) {
			pf = d;
			d->is_watched = true;
			d->losses = m ? m->losses : (struct link_losses){};
			count_losses(n, p, m, d);
			note_return(n, m, d);
			ask_for_downed(n, p, d);
			d->is_flapping = is_flapping(c, n, p, d);
		}
		d->is_excluded = pf && pf->is_flapping && is_exclusion_asked(c) && !is_had(d);
		if (!d->is_vf && d->is_flapping)
			tell_flapping(p, d, c->health.flap.count);
		if (!d->is_vf)
			tell_dropped(c, n, m, p, d);
	}
}
