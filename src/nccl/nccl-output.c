/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl-output.h"

#include "../model/ip.h"

#include <arpa/inet.h>
#include <ctype.h>

#define BOOTSTRAP_NETDEV "eth0"

static const char pod_advice[] =
	"Run it in the pod: \"rdma-nccl-env\" sees the devices that are there.";
static const char section_advice[] = "Let a [Device NAME] section match the NICs that jobs are to "
				     "use; \"rdma-provision status\" "
				     "lists them, and those that the node needs.";

void nccl_done(struct nccl *c)
{
	free(c->ports);
	*c = (struct nccl){};
}

/* Lists have ',' and ':' between names, and a shell many others. */
static bool is_plain(const char *name)
{
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return false;
	return *name;
}

/* --- the GIDs of a port --- */

static unsigned common_bits(const struct gid *a, const struct gid *b)
{
	uint8_t x[16] = {}, y[16] = {};
	unsigned n = 0;

	gid_parse(a->gid, x);
	gid_parse(b->gid, y);
	while (n < 128 && !((x[n / 8] ^ y[n / 8]) & (0x80 >> n % 8)))
		n++;
	return n;
}

/* _NCCL_KIND_N: an IPv6 address of the link alone, which NCCL passes over, or no GID of RoCE. */
static enum nccl_kind kind_of(const struct gid *g)
{
	const bool is_v2 = streq(g->type, GID_ROCE_V2);
	uint8_t gid[16];

	if ((!is_v2 && !streq(g->type, GID_ROCE_V1)) || !gid_parse(g->gid, gid))
		return _NCCL_KIND_N;
	if (gid_is_ipv4(gid))
		return is_v2 ? NCCL_V2_IPV4 : NCCL_V1_IPV4;
	if (!gid_is_global_ipv6(gid))
		return _NCCL_KIND_N;
	return is_v2 ? NCCL_V2_IPV6 : NCCL_V1_IPV6;
}

/*
 * A GID names its netdev, which may be in another network namespace and have a namesake here: its
 * address tells them apart. Without any address, as in a mounted tree, a netdev of the same
 * function is it, and a virtual one where that function has a netdev here, to stand on.
 */
static const struct netdev *netdev_here(const struct node *n, const struct ibdev *ib,
					const struct gid *g)
{
	const struct netdev *nd = node_netdev_named(n, g->netdev);
	uint8_t gid[16], of_address[16];
	bool is_it = !*ib->pci || (nd && *nd->pci ? streq(nd->pci, ib->pci)
						  : node_netdev_of(n, ib->pci) != NULL);

	if (!nd || !gid_parse(g->gid, gid))
		return NULL;
	for (size_t i = 0; i < n->n_addresses; i++) {
		gid_of_address(&n->addresses[i], of_address);
		is_it = n->addresses[i].ifindex == nd->ifindex && memcmp(gid, of_address, 16) == 0;
		if (is_it)
			break;
	}
	return is_it ? nd : NULL;
}

/* Does the GID count: by a netdev here with carrier, or with @is_away by one elsewhere? */
static bool has_way(const struct node *n, const struct ibdev *ib, const struct gid *g, bool is_away)
{
	const struct netdev *nd = netdev_here(n, ib, g);
	uint8_t gid[16];

	return gid_parse(g->gid, gid) && gid_is_routable(gid) &&
	       (is_away ? !nd : nd && nd->has_carrier);
}

static void find_kinds(const struct node *n, struct nccl_port *np)
{
	const bool is_infiniband = streq(np->port->link_layer, "InfiniBand");

	np->here = np->away = is_infiniband ? 1u << NCCL_INFINIBAND : 0;
	FOREACH_WHILE(g, np->port->gids, np->port->n_gids, !is_infiniband) {
		const enum nccl_kind kind = kind_of(g);

		if (kind == _NCCL_KIND_N)
			continue;
		np->here |= (unsigned)has_way(n, np->ibdev, g, false) << kind;
		np->away |= (unsigned)has_way(n, np->ibdev, g, true) << kind;
	}
}

/* --- who is a candidate --- */

static _printf_(2, 3) void leave_out(struct nccl_port *np, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(np->why, sizeof(np->why), format, ap);
	va_end(ap);
}

static bool is_synthetic(const struct node *n, const char *pci)
{
	const struct netdev *nd = *pci ? node_netdev_of(n, pci) : NULL;
	const struct netdev *master = nd && nd->master ? node_netdev(n, nd->master) : NULL;

	return master && master->has_device && !*master->kind;
}

static void leave_to_node(struct nccl_port *np)
{
	char words[96];

	plan_describe_need(np->need, words, sizeof(words));
	leave_out(np, "the node needs it, %s", words);
}

/* Does something tell that the node needs the port? */
static bool is_needed(const struct nccl_port *np)
{
	return np->need && np->need->why < NEED_UNKNOWN && !np->need->is_by_vf;
}

/* Leaves out a port that the configuration does not manage, that moves into pods, or that the node
 * needs itself. */
static void ask_plan(const struct config *c, const struct plan *p, struct nccl_port *np)
{
	const struct device *d = np->function ? plan_device(p, np->function) : NULL;

	np->section = d ? d->config : NULL;
	np->need = plan_need(p, np->pci);
	if (c->n_devices > 0 && !d)
		leave_out(np, "no [Device NAME] section is for it");
	else if (d && d->is_in_pod)
		leave_out(np, "a pod has it");
	else if (d && d->is_handed_out && plugin_moves_netdev(c->plugin.type))
		leave_out(np, "pods get it");
	else if (d ? d->aside == REASON_NODE_NIC : is_needed(np))
		leave_to_node(np);
	if (*np->why)
		np->advice = d && (d->is_in_pod || d->is_handed_out) ? pod_advice : section_advice;
}

static void judge(const struct config *c, const struct node *n, const struct plan *p,
		  struct nccl_port *np)
{
	if (n->has_verbs && !*np->ibdev->uverbs)
		leave_out(np, "it has no character device here");
	else if (streq(np->ibdev->node_type, "RNIC"))
		leave_out(np, "an iWARP device, which NCCL cannot use");
	else if (is_synthetic(n, np->pci))
		leave_out(np, "a port of a synthetic NIC");
	else if (p)
		ask_plan(c, p, np);
	if (!*np->why && !streq(np->port->state, "ACTIVE"))
		leave_out(np, "its port is %s", *np->port->state ? np->port->state : "not known");
	if (!*np->why)
		find_kinds(n, np);
	if (!*np->why && !np->here && !np->away)
		leave_out(np, "it has no GID of an address beyond link-local ones, on a netdev "
			      "with carrier");
}

/* The port of a LAG that has the RDMA device of all its ports, for one without; else itself. */
static const char *lag_port(const struct node *n, const char *pf)
{
	const struct netdev *bond = node_bond_of(n, node_netdev_of(n, pf)), *port = NULL;

	if (bond && !node_ibdev_of(n, pf))
		port = FIND(nd, n->netdevs, n->n_netdevs,
			    nd->master == bond->ifindex && node_ibdev_of(n, nd->pci));
	return port ? port->pci : pf;
}

static int add_port(const struct config *c, const struct node *n, const struct plan *p,
		    const struct ibdev *ib, const struct port *port, struct nccl *ret)
{
	struct nccl_port *np = APPEND(ret->ports, ret->n_ports);
	const struct netdev *nd = NULL;

	if (!np)
		return -ENOMEM;
	for (size_t i = 0; i < port->n_gids && !nd; i++)
		nd = node_netdev_named(n, port->gids[i].netdev);
	*np = (struct nccl_port){ ib, port, ib->pci, "", port_rate(port), nd };
	if (nd && !*np->pci)
		np->pci = *nd->pci ? nd->pci : nd->scalable_of;
	np->function = node_pci(n, np->pci);
	if (np->function)
		np->physfn = lag_port(n, np->function->physfn);
	judge(c, n, p, np);
	return 0;
}

static int add_all(const struct config *c, const struct node *n, const struct plan *p,
		   struct nccl *ret)
{
	int r = 0;

	for (size_t i = 0; i < n->n_ibdevs && r >= 0; i++)
		for (size_t k = 0; k < n->ibdevs[i].n_ports && r >= 0; k++)
			if (is_plain(n->ibdevs[i].name) && !n->ibdevs[i].is_smi)
				r = add_port(c, n, p, &n->ibdevs[i], &n->ibdevs[i].ports[k], ret);
	return r;
}

/* By rail: addresses are hexadecimal digits of one width, but for rare domains of 8 digits. */
static int compare_ports(const void *a, const void *b)
{
	const struct nccl_port *x = a, *y = b;
	int r;

	if (!*x->pci != !*y->pci)
		return *x->pci ? -1 : 1; /* those without a function last */
	r = strlen(x->pci) != strlen(y->pci) ? (strlen(x->pci) < strlen(y->pci) ? -1 : 1)
					     : strcmp(x->pci, y->pci);
	if (r == 0) /* what is only on a function comes behind it */
		r = !*x->ibdev->pci - !*y->ibdev->pci;
	if (r == 0)
		r = strverscmp(x->ibdev->name, y->ibdev->name); /* mlx5_2 before mlx5_10 */
	if (r == 0)
		r = (x->port->number > y->port->number) - (x->port->number < y->port->number);
	return r;
}

/* --- which candidates are listed --- */

/* The listed port that comes after @np, the first one after NULL; NULL: there is none. */
static struct nccl_port *next_listed(const struct nccl *c, const struct nccl_port *np)
{
	const size_t from = np ? (size_t)(np - c->ports) + 1 : 0;

	return FIND(q, c->ports + from, c->n_ports - from, !*q->why);
}

static unsigned kinds_of(const struct nccl *c, const struct nccl_port *np)
{
	return c->is_away ? np->away : np->here;
}

static void keep_those_here(struct nccl *c)
{
	c->is_away = true;
	for (struct nccl_port *np = NULL; (np = next_listed(c, np));)
		c->is_away = c->is_away && (np->here & ~(1u << NCCL_INFINIBAND)) == 0;
	for (struct nccl_port *np = NULL; (np = next_listed(c, np));)
		if (!kinds_of(c, np))
			leave_out(np, "its addresses are in another network namespace");
}

/* The PF of a VF or of a subfunction, or what it is itself. */
static const char *pf_of(const struct nccl_port *np)
{
	return *np->physfn ? np->physfn : np->pci;
}

/* Netdevs of one function are of different ports, as with mlx4. VFs have functions of their own,
 * subfunctions have none. */
static bool is_of_another_port(const struct netdev *a, const struct netdev *b)
{
	return a && b && a != b && *a->pci && streq(a->pci, b->pci);
}

/* The first function on the same physical port, of those before this one, or NULL. A PF goes before
 * its VFs by address. */
static const struct nccl_port *find_twin(const struct nccl *c, const struct nccl_port *of)
{
	for (struct nccl_port *np = NULL; (np = next_listed(c, np)) && np < of;)
		if (np->port->number == of->port->number && *pf_of(of) &&
		    streq(pf_of(np), pf_of(of)) && !is_of_another_port(np->netdev, of->netdev))
			return np;
	return NULL;
}

static void keep_one_function(struct nccl *c)
{
	for (size_t i = c->n_ports; i-- > 0;) {
		struct nccl_port *np = &c->ports[i];
		const struct nccl_port *twin = *np->why ? NULL : find_twin(c, np);

		if (twin)
			leave_out(np, "%s is a function of the same port", twin->ibdev->name);
	}
}

/* A port that carries the node is left to it, unless the jobs' others together are slower. On eRDMA
 * both share the card by design. */
static void keep_off_node(struct nccl *c)
{
	uint32_t rate = 0, n = 0;

	for (struct nccl_port *np = NULL; (np = next_listed(c, np)); n += !is_needed(np))
		rate += is_needed(np) ? 0 : np->rate;
	for (struct nccl_port *np = NULL; (np = next_listed(c, np));)
		if (is_needed(np) && !pci_is_erdma(np->function) && n > 0 && rate >= np->rate)
			leave_to_node(np);
}

/* Are both ports of one model, in one section? The modalias has the board beside the chip. */
static bool is_same_model(const struct nccl_port *a, const struct nccl_port *b)
{
	const struct pci *x = a->function, *y = b->function;

	return x && y && x->vendor == y->vendor && x->device == y->device &&
	       streq(x->modalias, y->modalias) && a->section == b->section &&
	       streq(a->port->link_layer, b->port->link_layer);
}

/* A slower port of the same model stays, since its link may have a fault: without it NCCL would
 * pair the ports behind it with those of other rails. */
static void keep_fastest(struct nccl *c)
{
	uint32_t highest = 0;

	for (struct nccl_port *np = NULL; (np = next_listed(c, np));)
		highest = MAX(highest, np->rate);
	for (struct nccl_port *np = NULL; (np = next_listed(c, np));)
		if (np->rate < highest) {
			PRINT(np->slow, "it has %" PRIu32 " Gb/s, others %" PRIu32, np->rate / 10,
			      highest / 10);
			if (!ANY(q, c->ports, c->n_ports,
				 !*q->why && q->rate == highest && is_same_model(q, np)))
				leave_out(np, "%s", np->slow);
		}
}

/* How many listed ports have the subnet prefix of @of, the first half of each InfiniBand GID? */
static size_t count_subnet(const struct nccl *c, const struct nccl_port *of)
{
	size_t n = 0;

	for (struct nccl_port *np = NULL; (np = next_listed(c, np));)
		n += of->port->n_gids > 0 && np->port->n_gids > 0 &&
		     common_bits(np->port->gids, of->port->gids) >= 64;
	return n;
}

/* Only the largest of some InfiniBand fabrics: where each rail has its own, none is larger. */
static void keep_largest_subnet(struct nccl *c)
{
	size_t most = 0;

	for (struct nccl_port *np = NULL; (np = next_listed(c, np));)
		most = MAX(most, count_subnet(c, np));
	for (struct nccl_port *np = NULL; (np = next_listed(c, np));)
		if (np->port->n_gids > 0 && count_subnet(c, np) < most)
			leave_out(np, "fewer ports have its subnet prefix, %.19s",
				  np->port->gids->gid);
}

static void keep_one_kind(struct nccl *c)
{
	static const char *const names[_NCCL_KIND_N] = { "InfiniBand", "RoCE v2 by IPv4",
							 "RoCE v2 by IPv6", "RoCE v1 by IPv4",
							 "RoCE v1 by IPv6" };
	size_t n[_NCCL_KIND_N] = {}, end;

	for (struct nccl_port *np = NULL; (np = next_listed(c, np));)
		for (enum nccl_kind k = 0; k < _NCCL_KIND_N; k++)
			n[k] += kinds_of(c, np) >> k & 1;
	end = n[NCCL_INFINIBAND] + n[NCCL_V2_IPV4] + n[NCCL_V2_IPV6] > 0 ? NCCL_V1_IPV4
									 : _NCCL_KIND_N;
	for (enum nccl_kind k = 0; k < end; k++)
		if (n[k] > n[c->kind])
			c->kind = k;
	for (struct nccl_port *np = NULL; (np = next_listed(c, np));)
		if (!(kinds_of(c, np) >> c->kind & 1))
			leave_out(np, "it has no %s, which others have", names[c->kind]);
	if (c->kind == NCCL_INFINIBAND)
		keep_largest_subnet(c);
}

static bool is_listed(const struct nccl *c, const struct ibdev *ib, uint32_t number)
{
	return ANY(np, c->ports, c->n_ports,
		   !*np->why && np->ibdev == ib && np->port->number == number);
}

/* Would NCCL take a port that is not listed for the continuation of a listed name? */
static bool is_ambiguous(const struct node *n, const struct nccl *c)
{
	for (struct nccl_port *np = NULL; (np = next_listed(c, np));)
		for (size_t i = 0; i < n->n_ibdevs; i++)
			if (is_prefix(n->ibdevs[i].name, np->ibdev->name) &&
			    !is_listed(c, &n->ibdevs[i], np->port->number))
				return true;
	return false;
}

/* --- the index --- */

/*
 * The GID that the port is to use: the first one of its own netdev or bond, or else of any above
 * that, as VLANs are. A table begins with the default GIDs of the own one:
 * gid_table_reserve_default() in drivers/infiniband/core/cache.c.
 */
static const struct gid *choose_gid(const struct node *n, const struct nccl *c,
				    const struct nccl_port *np)
{
	const struct gid *first = NULL;

	FOREACH(g, np->port->gids, np->port->n_gids) {
		if (kind_of(g) != c->kind || !has_way(n, np->ibdev, g, c->is_away))
			continue;
		if (streq(g->netdev, np->port->gids->netdev))
			return g;
		first = first ?: g;
	}
	return first;
}

/*
 * The common index, or that there is none; then also the smallest network with the GID of each port
 * in it. NCCL searches a port for the first GID of the kind there: ncclUpdateGidIndex() in
 * src/transport/net_ib. Return: false when a port was left out because that ends at another GID of
 * it: the rest may have a common index, or a smaller network.
 */
static bool find_index(const struct node *n, struct nccl *c)
{
	const bool is_v4 = c->kind == NCCL_V2_IPV4 || c->kind == NCCL_V1_IPV4;
	const unsigned n_before = is_v4 ? 96 : 0; /* ::ffff:a.b.c.d */
	const struct gid *first = NULL, *end;
	unsigned length = 128;
	bool is_common = true;
	uint8_t net[16];

	if (c->kind == NCCL_INFINIBAND)
		return true;
	for (struct nccl_port *np = NULL; (np = next_listed(c, np));) {
		np->gid = choose_gid(n, c, np);
		first = first ?: np->gid;
		length = MIN(length, common_bits(first, np->gid));
		is_common = is_common && np->gid->index == first->index;
	}
	c->index = first->index;
	c->is_searched = !is_common || !is_v4;
	for (struct nccl_port *np = NULL; c->is_searched && (np = next_listed(c, np));) {
		end = FIND(g, np->port->gids, np->port->n_gids,
			   kind_of(g) == c->kind && common_bits(g, first) >= length);
		c->is_searched = end == np->gid;
		if (!c->is_searched && !is_common) {
			leave_out(np,
				  "NCCL would take its GID %" PRIu32 " instead of %" PRIu32
				  ", which is not the index of all",
				  end->index, np->gid->index);
			return false;
		}
	}
	if (!c->is_searched || length <= n_before)
		return true;
	gid_parse(first->gid, net);
	for (unsigned bit = length; bit < 128; bit++)
		net[bit / 8] &= (uint8_t)~(0x80 >> bit % 8);
	ip_format(is_v4 ? AF_INET : AF_INET6, net + n_before / 8, length - n_before, c->range,
		  sizeof(c->range));
	return true;
}

void nccl_describe(const struct nccl_port *np, char *ret, size_t size)
{
	char number[16] = "";

	if (np->ibdev->n_ports > 1)
		PRINT(number, " port %" PRIu32, np->port->number);
	snprintf(ret, size, "%s%s is %s%s%s", np->ibdev->name, number,
		 *np->why ? "left out" : "listed", *np->why || *np->slow ? ": " : "",
		 *np->why ? np->why : np->slow);
}

static void explain_none(const struct node *n, const struct plan *p, struct nccl *c)
{
	const bool is_in_pod = p && ANY(d, p->devices, p->n_devices, d->is_in_pod);
	const struct nccl_port *np;

	c->reason =
		n->is_copy && (n->n_netdevs == 0 || !ANY(q, c->ports, c->n_ports, *q->port->state))
			? REASON_NOT_RECORDED
			: REASON_NCCL_NONE;
	if (n->n_ibdevs == 0) {
		COPY(c->detail, is_in_pod    ? "pods have the RDMA devices"
				: n->is_copy ? "RDMA devices"
					     : "there is no RDMA device here");
		c->advice = is_in_pod    ? pod_advice
			    : n->is_copy ? NULL
					 : "In a container, request the RDMA resource in the pod's "
					   "limits. On a node, \"rdma-provision status\" lists the "
					   "NICs and what each lacks.";
	}
	FOREACH(ib, n->ibdevs, n->n_ibdevs) {
		const struct pci *pci = node_pci(n, ib->pci);

		if (pci && streq(pci->driver, "efa")) {
			PRINT(c->detail, "%s is an EFA device", ib->name);
			c->advice = "NCCL uses EFA by libfabric and its plugin aws-ofi-nccl.";
			return;
		}
		if (streq(ib->node_type, "RNIC")) {
			PRINT(c->detail, "%s is an iWARP device, which NCCL cannot use", ib->name);
			c->advice = pci_is_erdma(pci)
					    ? "Set [Driver] Mode=ofed or compat."
					    : "Set the driver to RoCE v2 where it has that mode "
					      "(irdma: the devlink parameter enable_roce).";
			return;
		}
	}
	if (c->n_ports == 0)
		return;
	np = FIND(q, c->ports, c->n_ports, q->advice != section_advice) ?: c->ports;
	nccl_describe(np, c->detail, sizeof(c->detail));
	c->advice = np->advice;
}

/* All of them, and a netdev for bootstrap is there. */
static bool is_erdma_node(const struct node *n, const struct nccl *c)
{
	const struct netdev *bootstrap = node_netdev_named(n, BOOTSTRAP_NETDEV);

	for (struct nccl_port *np = NULL; (np = next_listed(c, np));)
		if (!pci_is_erdma(np->function))
			return false;
	return bootstrap && bootstrap->has_carrier;
}

int nccl_choose(const struct config *c, const struct node *n, const struct plan *p,
		struct nccl *ret)
{
	_cleanup_(nccl_done) struct nccl choice = { .traffic_class = -1, .service_level = -1 };
	int r = add_all(c, n, p, &choice);

	if (r < 0)
		return r;
	SORT(choice.ports, choice.n_ports, compare_ports);
	keep_those_here(&choice);
	keep_one_function(&choice);
	keep_off_node(&choice);
	keep_fastest(&choice);
	keep_one_kind(&choice);
	if (!next_listed(&choice, NULL)) {
		explain_none(n, p, &choice);
	} else {
		while (!find_index(n, &choice))
			;
		choice.is_exact = is_ambiguous(n, &choice);
		choice.is_erdma = is_erdma_node(n, &choice);
	}

	*ret = TAKE_STRUCT(choice);
	return 0;
}

static void print_search(FILE *f, const struct nccl *c, const char *prefix)
{
	const bool is_v6 = c->kind == NCCL_V2_IPV6 || c->kind == NCCL_V1_IPV6;

	fprintf(f, "# the index -1 needs NCCL 2.21 (in a container 2.26) or later\n");
	fprintf(f, "%sNCCL_IB_GID_INDEX=-1\n", prefix);
	fprintf(f, "%sNCCL_IB_ADDR_FAMILY=%s\n", prefix, is_v6 ? "AF_INET6" : "AF_INET");
	if (*c->range)
		fprintf(f, "%sNCCL_IB_ADDR_RANGE=%s\n", prefix, c->range);
	fprintf(f, "%sNCCL_IB_ROCE_VERSION_NUM=%d\n", prefix, c->kind >= NCCL_V1_IPV4 ? 1 : 2);
}

int nccl_text(const struct nccl *c, bool is_export, bool is_exact, char **ret)
{
	const char *prefix = is_export ? "export " : "", *comma = "";
	const bool is_roce = c->kind != NCCL_INFINIBAND;
	_cleanup_(stream_done) struct stream out = {};

	if (c->reason != REASON_NONE)
		return -ENODATA;
	if (stream_open(&out) < 0)
		return -ENOMEM;

	fprintf(out.f, "%sNCCL_IB_HCA=%s", prefix, is_exact || c->is_exact ? "=" : "");
	for (struct nccl_port *np = NULL; (np = next_listed(c, np));) {
		fprintf(out.f, "%s%s:%" PRIu32, comma, np->ibdev->name, np->port->number);
		comma = ",";
	}
	fputc('\n', out.f);
	if (c->is_searched)
		print_search(out.f, c, prefix);
	else if (is_roce)
		fprintf(out.f, "%sNCCL_IB_GID_INDEX=%" PRIu32 "\n", prefix, c->index);
	if (c->traffic_class >= 0 && is_roce)
		fprintf(out.f, "%sNCCL_IB_TC=%d\n", prefix, c->traffic_class);
	if (c->service_level >= 0 && is_roce)
		fprintf(out.f, "%sNCCL_IB_SL=%d\n", prefix, c->service_level);
	if (c->is_erdma)
		fprintf(out.f, "%sNCCL_SOCKET_IFNAME=" BOOTSTRAP_NETDEV "\n", prefix);
	return stream_take(&out, ret);
}

int nccl_left_out(const struct nccl *c, char **ret)
{
	_cleanup_(stream_done) struct stream out = {};
	size_t n_vfs = 0;
	char text[256];

	if (stream_open(&out) < 0)
		return -ENOMEM;
	FOREACH(np, c->ports, c->n_ports) {
		n_vfs += *np->why && *np->physfn;
		if (*np->why ? *np->physfn : !*np->slow)
			continue;
		nccl_describe(np, text, sizeof(text));
		for (char *p = text; *p; p++)
			*p = *p == '=' || iscntrl((unsigned char)*p) ? ' ' : *p;
		fprintf(out.f, "# %s\n", text);
	}
	if (n_vfs > 0)
		fprintf(out.f, "# %zu %s left out\n", n_vfs, n_vfs == 1 ? "VF is" : "VFs are");
	return stream_take(&out, ret);
}
