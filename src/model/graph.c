/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

#define OVS_KIND "openvswitch"
#define PPP_KIND "ppp"

static void pairs_done(struct graph_pairs *p)
{
	free(p->items);
	*p = (struct graph_pairs){};
}

void graph_done(struct graph *g)
{
	pairs_done(&g->below);
	pairs_done(&g->above);
	pairs_done(&g->functions);
}

static size_t count(const struct node *n)
{
	return n->n_netdevs + n->n_aways;
}

static const struct netdev *netdev_at(const struct node *n, size_t i)
{
	return i < n->n_netdevs ? &n->netdevs[i] : &n->aways[i - n->n_netdevs];
}

static uint32_t number_of(const struct node *n, const struct netdev *nd)
{
	if (n->n_netdevs > 0 && nd >= n->netdevs && nd < n->netdevs + n->n_netdevs)
		return (uint32_t)(nd - n->netdevs);
	return (uint32_t)(n->n_netdevs + (size_t)(nd - n->aways));
}

static int compare_pair(const void *a, const void *b)
{
	const struct graph_pair *x = a, *y = b;
	const int r = compare_u32(&x->of, &y->of);

	return r ? r : compare_u32(&x->is, &y->is);
}

static void add_pair(struct graph_pairs *p, uint32_t of, uint32_t is)
{
	p->is_short |= ADD(p->items, p->n, (struct graph_pair){ of, is }) < 0;
}

static void sort_pairs(struct graph_pairs *p)
{
	SORT(p->items, p->n, compare_pair);
	KEEP(pair, p->items, p->n, pair == p->items || compare_pair(pair - 1, pair) != 0);
}

static const struct graph_pair *next_pair(const struct graph_pairs *p, uint32_t of, size_t *i)
{
	const size_t at = lower_bound_u32(p->items, p->n, sizeof(*p->items), of) + *i;

	++*i;
	return at < p->n && p->items[at].of == of ? &p->items[at] : NULL;
}

/* --- single steps --- */

static const struct netdev *netdev_in(const struct node *n, uint32_t netns, uint32_t ifindex)
{
	if (netns == 0)
		return ifindex > 0 ? node_netdev(n, ifindex) : NULL;
	return FIND(a, n->aways, n->n_aways, a->netns == netns && a->ifindex == ifindex);
}

static void add_step(const struct node *n, const struct netdev *upper, const struct netdev *lower,
		     struct graph_pairs *steps)
{
	if (upper && lower && upper != lower)
		add_pair(steps, number_of(n, upper), number_of(n, lower));
}

static void add_link(const struct node *n, const struct netdev *nd, struct graph_pairs *steps)
{
	const struct netdev *link = netdev_in(n, nd->is_link_here ? 0 : nd->netns, nd->link);

	if (!link || nd->link == 0)
		return;
	if (link->netns == nd->netns && link->link == nd->ifindex) /* the other end of a wire */
		link = netdev_in(n, link->netns, link->master);
	add_step(n, nd, link, steps);
}

/* Is it below each netdev of that kind: a port of the datapath, or one that sessions leave by? */
static bool is_below_kind(const struct node *n, const struct netdev *nd, const char *kind)
{
	const struct netdev *master = netdev_in(n, nd->netns, nd->master);

	return streq(kind, PPP_KIND) ? nd->has_pppoe : master && streq(master->kind, OVS_KIND);
}

static void list_steps(const struct node *n, struct graph_pairs *ret)
{
	for (size_t i = 0; i < count(n); i++) {
		const struct netdev *nd = netdev_at(n, i);

		add_link(n, nd, ret);
		if (nd->master)
			add_step(n, netdev_in(n, nd->netns, nd->master), nd, ret);
		if (nd->netns == 0 && (streq(nd->kind, OVS_KIND) || streq(nd->kind, PPP_KIND)))
			FOREACH(lower, n->netdevs, n->n_netdevs)
				if (is_below_kind(n, lower, nd->kind))
					add_step(n, nd, lower, ret);
	}
	sort_pairs(ret);
}

/* --- any number of steps --- */

struct visit {
	uint32_t *marks; /* owned; of each netdev: 1 + the one whose lower netdevs it is one of */
	uint32_t *queue; /* owned */
};

static void visit_done(struct visit *v)
{
	free(v->marks);
	free(v->queue);
}

static void add_below(const struct graph_pairs *steps, uint32_t upper, struct visit *v,
		      struct graph *g)
{
	size_t n_queued = 1;

	v->queue[0] = upper;
	v->marks[upper] = upper + 1;
	for (size_t i = 0; i < n_queued; i++) {
		const struct graph_pair *s;

		for (size_t k = 0; (s = next_pair(steps, v->queue[i], &k));) {
			if (v->marks[s->is] == upper + 1)
				continue;
			v->marks[s->is] = upper + 1;
			v->queue[n_queued++] = s->is;
			add_pair(&g->below, upper, s->is);
			add_pair(&g->above, s->is, upper);
		}
	}
}

static void close_steps(const struct graph_pairs *steps, struct graph *g)
{
	_cleanup_(visit_done) struct visit v = {
		.marks = calloc(count(g->n) + 1, sizeof(*v.marks)),
		.queue = calloc(count(g->n) + 1, sizeof(*v.queue)),
	};

	g->below.is_short = !v.marks || !v.queue;
	for (size_t i = 0; i < steps->n && !g->below.is_short; i++)
		if (i == 0 || steps->items[i].of != steps->items[i - 1].of)
			add_below(steps, steps->items[i].of, &v, g);
	sort_pairs(&g->below);
	sort_pairs(&g->above);
}

/* --- functions --- */

const char *graph_function(const struct netdev *nd)
{
	return nd->pci[0] ? nd->pci : nd->scalable_of;
}

static void add_of_function(struct graph *g, const char *address, const struct netdev *nd)
{
	const struct pci *pci = address[0] && nd ? node_pci(g->n, address) : NULL;
	const struct graph_pair *up;

	if (!pci)
		return;
	add_pair(&g->functions, (uint32_t)(pci - g->n->pcis), number_of(g->n, nd));
	for (size_t i = 0; (up = next_pair(&g->above, number_of(g->n, nd), &i));)
		add_pair(&g->functions, (uint32_t)(pci - g->n->pcis), up->is);
}

static void list_functions(struct graph *g)
{
	const struct node *n = g->n;

	for (size_t i = 0; i < count(n); i++)
		add_of_function(g, graph_function(netdev_at(n, i)), netdev_at(n, i));
	FOREACH(ib, n->ibdevs, n->n_ibdevs)
		add_of_function(g, ib->pci, node_netdev_named(n, ib->netdev));
	sort_pairs(&g->functions);
}

int graph_make(const struct node *n, struct graph *ret)
{
	_cleanup_(pairs_done) struct graph_pairs steps = {};
	_cleanup_(graph_done) struct graph g = { .n = n };

	list_steps(n, &steps);
	close_steps(&steps, &g);
	list_functions(&g);
	if (steps.is_short || g.below.is_short || g.above.is_short || g.functions.is_short)
		return -ENOMEM;
	*ret = TAKE_STRUCT(g);
	return 0;
}

/* --- questions --- */

static const struct netdev *next_netdev(const struct graph *g, const struct graph_pairs *p,
					uint32_t of, size_t *i)
{
	const struct graph_pair *pair = next_pair(p, of, i);

	return pair ? netdev_at(g->n, pair->is) : NULL;
}

const struct netdev *graph_below(const struct graph *g, const struct netdev *nd, size_t *i)
{
	return next_netdev(g, &g->below, number_of(g->n, nd), i);
}

const struct netdev *graph_above(const struct graph *g, const struct netdev *nd, size_t *i)
{
	return next_netdev(g, &g->above, number_of(g->n, nd), i);
}

const struct netdev *graph_of(const struct graph *g, const char *pci, size_t *i)
{
	const struct pci *function = node_pci(g->n, pci);

	return function ? next_netdev(g, &g->functions, (uint32_t)(function - g->n->pcis), i)
			: NULL;
}

bool graph_is_above(const struct graph *g, const struct netdev *upper, const struct netdev *lower)
{
	const struct graph_pair key = { number_of(g->n, lower), number_of(g->n, upper) };

	return SEARCH(&key, g->above.items, g->above.n, compare_pair);
}
