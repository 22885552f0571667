/* SPDX-License-Identifier: Apache-2.0 */
#include "node-nic.h"

#include "boots.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>

#define OVS_KIND "openvswitch"

/* What is known of one netdev while the search goes down. */
struct mark {
	const struct netdev *root; /* that has the route or the address; NULL: not met */
	enum node_nic_why why;
	bool is_expanded; /* what is below it is marked as well */
};

struct search {
	const struct node *n;
	struct mark *marks;    /* owned; one for each netdev */
	struct node_nic *nics; /* owned */
	size_t n_nics;
	bool has_node_ip; /* the kubelet's is here */
};

static void search_done(struct search *s)
{
	free(s->marks);
	free(s->nics);
}

/* --- where the node leaves --- */

static void mark(struct search *s, uint32_t ifindex, const struct netdev *root,
		 enum node_nic_why why)
{
	const struct netdev *nd = ifindex > 0 ? node_netdev(s->n, ifindex) : NULL;
	struct mark *m = nd ? &s->marks[nd - s->n->netdevs] : NULL;

	if (!m || m->root)
		return;
	m->root = root ? root : nd;
	m->why = why;
}

/* Return: was there any? */
static bool mark_owner(struct search *s, int family, const uint8_t bytes[static 16])
{
	const size_t size = family == AF_INET ? 4 : 16;
	static const uint8_t none[16];
	bool is_found = false;

	for (size_t i = 0; i < s->n->n_addresses; i++) {
		const struct address *a = &s->n->addresses[i];

		if (a->family != family || memcmp(a->local, bytes, size) != 0 ||
		    memcmp(bytes, none, size) == 0)
			continue;
		mark(s, a->ifindex, NULL, NODE_NIC_ADDRESS);
		is_found |= node_netdev(s->n, a->ifindex) != NULL;
	}
	return is_found;
}

static bool is_default(const struct route *t, int family)
{
	return t->table == RT_TABLE_MAIN && t->family == family && t->prefix_len == 0 &&
	       t->type == RTN_UNICAST && t->ifindex > 0;
}

/* The lower, the better. */
static uint64_t rank_of(const struct route *t)
{
	return 2 * (uint64_t)t->metric + (t->protocol == RTPROT_RA);
}

static const struct route *best_default(const struct node *n, int family, bool with_ra)
{
	const struct route *best = NULL;

	for (size_t i = 0; i < n->n_routes; i++)
		if (is_default(&n->routes[i], family) &&
		    (with_ra || n->routes[i].protocol != RTPROT_RA) &&
		    (!best || rank_of(&n->routes[i]) < rank_of(best)))
			best = &n->routes[i];
	return best;
}

static void mark_routes(struct search *s, const struct route *best)
{
	for (size_t i = 0; i < s->n->n_routes; i++) {
		const struct route *t = &s->n->routes[i];

		if (!is_default(t, best->family) || rank_of(t) != rank_of(best))
			continue;
		mark(s, t->ifindex, NULL, NODE_NIC_ROUTE);
		mark_owner(s, t->family, t->src);
	}
}

/* "10.0.0.2,fd00::2"; 0.0.0.0 and :: are only families. Return: was there any here? */
static bool mark_node_ips(struct search *s, const char *list)
{
	char word[INET6_ADDRSTRLEN];
	uint8_t bytes[16];
	bool is_found = false;

	while (*list) {
		const size_t len = strcspn(list, ", ");

		if (len > 0 && len < sizeof(word)) {
			memcpy(word, list, len);
			word[len] = '\0';
			if (inet_pton(AF_INET, word, bytes) == 1)
				is_found |= mark_owner(s, AF_INET, bytes);
			else if (inet_pton(AF_INET6, word, bytes) == 1)
				is_found |= mark_owner(s, AF_INET6, bytes);
		}
		list += len;
		list += strspn(list, ", ");
	}
	return is_found;
}

/* Return: does only what a router advertised tell it? */
static bool mark_roots(struct search *s)
{
	const struct route *ipv4 = best_default(s->n, AF_INET, true), *ipv6;

	s->has_node_ip = mark_node_ips(s, s->n->kubelet.node_ip);
	if (ipv4)
		mark_routes(s, ipv4);
	ipv6 = best_default(s->n, AF_INET6, !ipv4 && !s->has_node_ip);
	if (ipv6)
		mark_routes(s, ipv6);
	return ipv6 && ipv6->protocol == RTPROT_RA;
}

/* --- down to the functions --- */

static bool is_below(const struct node *n, const struct netdev *nd, const struct netdev *upper)
{
	const struct netdev *master = nd->master ? node_netdev(n, nd->master) : NULL;

	return upper->link == nd->ifindex || nd->master == upper->ifindex ||
	       (streq(upper->kind, OVS_KIND) && master && streq(master->kind, OVS_KIND));
}

/* Return: was there anything new? */
static bool expand(struct search *s)
{
	bool is_new = false;

	for (size_t i = 0; i < s->n->n_netdevs; i++) {
		struct mark *m = &s->marks[i];

		if (!m->root || m->is_expanded)
			continue;
		m->is_expanded = is_new = true;
		for (size_t k = 0; k < s->n->n_netdevs; k++)
			if (is_below(s->n, &s->n->netdevs[k], &s->n->netdevs[i]))
				mark(s, s->n->netdevs[k].ifindex, m->root, m->why);
	}
	return is_new;
}

static int add(struct search *s, const char *pci, const struct mark *m, bool is_by_vf)
{
	struct node_nic *k = (struct node_nic *)node_nic_of(s->nics, s->n_nics, pci);

	if (!pci[0])
		return 0;
	if (k) {
		k->is_by_vf &= is_by_vf;
		return 0;
	}
	k = APPEND(s->nics, s->n_nics);
	if (!k)
		return -ENOMEM;
	k->why = m->why;
	k->is_by_vf = is_by_vf;
	COPY(k->pci, pci);
	COPY(k->netdev, m->root ? m->root->name : "");
	COPY(k->file, m->why == NODE_NIC_SOON ? m->root->way_file : "");
	return 0;
}

static int add_function(struct search *s, const char *address, const struct mark *m)
{
	const struct pci *pci = node_pci(s->n, address);
	int r;

	r = add(s, address, m, false);
	return r >= 0 && pci && pci->physfn[0] ? add(s, pci->physfn, m, true) : r;
}

static const char *function_of(const struct netdev *nd)
{
	return nd->pci[0] ? nd->pci : nd->scalable_of;
}

static int add_functions(struct search *s)
{
	int r = 0;

	for (size_t i = 0; i < s->n->n_netdevs && r >= 0; i++)
		if (s->marks[i].root)
			r = add_function(s, function_of(&s->n->netdevs[i]), &s->marks[i]);
	/* The netdev of an RDMA device may be of another function, or a bond. */
	for (size_t i = 0; i < s->n->n_ibdevs && r >= 0; i++) {
		const struct netdev *nd = node_netdev_named(s->n, s->n->ibdevs[i].netdev);
		const struct mark *m = nd ? &s->marks[nd - s->n->netdevs] : NULL;

		if (m && m->root)
			r = add_function(s, s->n->ibdevs[i].pci, m);
	}
	return r;
}

static bool has_roots(const struct search *s)
{
	for (size_t i = 0; i < s->n->n_netdevs; i++)
		if (s->marks[i].root)
			return true;
	return false;
}

/* --- in a first boot --- */

static bool has_ipv4(const struct node *n, const struct netdev *nd)
{
	for (size_t i = 0; i < n->n_addresses; i++)
		if (n->addresses[i].ifindex == nd->ifindex && n->addresses[i].family == AF_INET)
			return true;
	return false;
}

/* Which file names it is not known before udev has given it its name. VFs here are made by us. */
static bool is_coming(const struct node *n, const struct netdev *nd)
{
	const struct pci *pci = node_pci(n, nd->pci);

	return nd->way_file[0] || (nd->is_unnamed && pci && !pci->physfn[0]);
}

/* Sets ret_until_usec while something is to come and another default route is there. */
static void mark_coming(struct search *s, const struct memory *memory, uint64_t *ret_until_usec)
{
	bool is_known;
	const bool has_way = has_roots(s), is_first = boots_is_first(s->n, memory, &is_known);

	if (!is_first ||
	    (has_way ? s->has_node_ip || s->n->now_usec == 0 || s->n->now_usec >= SOON_USEC
		     : is_known))
		return;
	for (size_t i = 0; i < s->n->n_netdevs; i++) {
		const struct netdev *nd = &s->n->netdevs[i];

		if (!is_coming(s->n, nd) || s->marks[i].root || (has_way && has_ipv4(s->n, nd)))
			continue;
		mark(s, nd->ifindex, NULL, NODE_NIC_SOON);
		*ret_until_usec = has_way ? SOON_USEC : 0;
	}
	while (expand(s))
		;
}

static bool is_remembered(const struct boot *b, const char *pci)
{
	for (size_t i = 0; pci[0] && i < b->n_node_nics; i++)
		if (streq(b->node_nics[i], pci))
			return true;
	return false;
}

/* Is any function below that netdev one that carried the node? */
static bool leads_to_remembered(const struct search *s, const struct netdev *root,
				const struct boot *b)
{
	for (size_t i = 0; i < s->n->n_netdevs; i++)
		if (s->marks[i].root == root && is_remembered(b, function_of(&s->n->netdevs[i])))
			return true;
	return false;
}

/* What carried the node lost its routes for a time, which the rails did not. */
static void drop_others(struct search *s, const struct boot *b)
{
	for (size_t i = 0; i < s->n->n_netdevs; i++)
		if (s->marks[i].root && !leads_to_remembered(s, s->marks[i].root, b))
			s->marks[i].root = NULL;
}

static int add_remembered(struct search *s, const struct boot *b)
{
	static const struct mark before = { .why = NODE_NIC_BEFORE };
	int r = 0;

	for (size_t i = 0; b && i < b->n_node_nics && r >= 0; i++)
		if (node_pci(s->n, b->node_nics[i])) /* it may have been taken out */
			r = add_function(s, b->node_nics[i], &before);
	return r;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct node_nic *)a)->pci, ((const struct node_nic *)b)->pci);
}

int node_nic_find(const struct node *n, const struct memory *memory, struct node_nic **ret,
		  size_t *ret_n, uint64_t *ret_until_usec)
{
	_cleanup_(search_done) struct search s = { .n = n };
	uint64_t until_usec;
	const struct boot *b = boots_carrying(n, memory, &until_usec);
	bool is_by_ra, is_before;
	int r;

	s.marks = calloc(n->n_netdevs + 1, sizeof(*s.marks));
	if (!s.marks)
		return -ENOMEM;

	is_by_ra = mark_roots(&s);
	while (expand(&s))
		;
	is_by_ra &= b && b->n_node_nics > 0;
	if (is_by_ra)
		drop_others(&s, b);
	is_before =
		is_by_ra || !has_roots(&s); /* a router may be back before the other family is */
	if (!is_before)
		until_usec = 0;
	mark_coming(&s, memory, &until_usec);
	r = add_functions(&s);
	if (is_before)
		r = r < 0 ? r : add_remembered(&s, b);
	if (r < 0)
		return r;

	if (s.n_nics > 0)
		qsort(s.nics, s.n_nics, sizeof(*s.nics), compare);
	*ret_n = s.n_nics;
	*ret = TAKE(s.nics);
	*ret_until_usec = until_usec;
	return 0;
}

const struct node_nic *node_nic_of(const struct node_nic *list, size_t n, const char *pci)
{
	for (size_t i = 0; i < n; i++)
		if (streq(list[i].pci, pci))
			return &list[i];
	return NULL;
}

void node_nic_describe(const struct node_nic *k, char *ret, size_t size)
{
	static const char *const words[] = {
		[NODE_NIC_ROUTE] = " has the default route",
		[NODE_NIC_ADDRESS] = " has the node's address",
		[NODE_NIC_SOON] = " is to get a default route, which is not there yet, by ",
		[NODE_NIC_BEFORE] = "it carried the node before; there is no default route now",
	};

	snprintf(ret, size, "%s%s%s%s", k->is_by_vf ? "by one of its VFs: " : "", k->netdev,
		 k->why == NODE_NIC_SOON && !k->file[0] ? " has no name by udev yet, so no file of "
							  "a network manager that names it counts"
							: words[k->why],
		 k->file);
}
