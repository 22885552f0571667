/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl-output.h"

#include "../model/gid.h"

#include <arpa/inet.h>
#include <ctype.h>

#define BOOTSTRAP_NETDEV "eth0"

void nccl_done(struct nccl *c)
{
	free(c->ports);
	*c = (struct nccl){};
}

/* "400 Gb/sec (4X NDR)", "2.5 Gb/sec (1X SDR)": rate_show() in drivers/infiniband/core/sysfs.c */
static uint32_t parse_rate(const char *text)
{
	char *end;
	unsigned long whole = strtoul(text, &end, 10), hundredths = 0;

	if (end == text || whole > UINT32_MAX / 100 - 1)
		return 0;
	if (*end == '.')
		for (unsigned long unit = 10; unit > 0 && isdigit((unsigned char)*++end);
		     unit /= 10)
			hundredths += (unsigned long)(*end - '0') * unit;
	return (uint32_t)(whole * 100 + hundredths);
}

/* Lists have ',' and ':' between names, and a shell many others. */
static bool is_plain(const char *name)
{
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return false;
	return *name;
}

static bool has_carrier(const struct node *n, const char *netdev)
{
	const struct netdev *nd = node_netdev_named(n, netdev);

	return nd && nd->has_carrier;
}

/* Of an IPv4 address: VKE's rule. */
static bool is_ipv4(const struct gid *g)
{
	return is_prefix(g->gid, "0000:");
}

static bool is_ipv6(const struct gid *g)
{
	uint8_t gid[16];

	return gid_parse(g->gid, gid) && gid_is_global_ipv6(gid);
}

static bool is_candidate(const struct node *n, const struct gid *g, bool with_ipv6)
{
	return (with_ipv6 ? is_ipv6(g) : is_ipv4(g)) && streq(g->type, GID_ROCE_V2) &&
	       has_carrier(n, g->netdev);
}

static int add_port(const struct node *n, const struct ibdev *ib, const struct port *p,
		    const struct gid *g, struct nccl *c)
{
	const struct netdev *nd = g ? node_netdev_named(n, g->netdev) : NULL;
	struct nccl_port *slot = APPEND(c->ports, c->n_ports);

	if (!slot)
		return -ENOMEM;
	*slot = (struct nccl_port){ ib, p, g, ib->pci, parse_rate(p->rate) };
	if (!*slot->pci && nd)
		slot->pci = nd->pci;
	return 0;
}

static int add_roce(const struct node *n, const struct ibdev *ib, const struct port *p,
		    struct nccl *c)
{
	int r = 0;

	for (size_t g = 0; g < p->n_gids && r >= 0; g++)
		if (is_candidate(n, &p->gids[g], c->is_ipv6))
			r = add_port(n, ib, p, &p->gids[g], c);
	return r;
}

static int add_infiniband(const struct node *n, const struct ibdev *ib, const struct port *p,
			  struct nccl *c)
{
	if (!streq(p->link_layer, "InfiniBand") || !streq(p->state, "ACTIVE"))
		return 0;
	return add_port(n, ib, p, NULL, c);
}

static int add_all(const struct node *n,
		   int (*add)(const struct node *n, const struct ibdev *ib, const struct port *p,
			      struct nccl *c),
		   struct nccl *c)
{
	int r = 0;

	for (size_t i = 0; i < n->n_ibdevs && r >= 0; i++)
		for (size_t p = 0; p < n->ibdevs[i].n_ports && r >= 0; p++)
			if (is_plain(n->ibdevs[i].name))
				r = add(n, &n->ibdevs[i], &n->ibdevs[i].ports[p], c);
	return r;
}

static void keep_fastest(struct nccl *c)
{
	uint32_t highest = 0;
	size_t kept = 0;

	for (size_t i = 0; i < c->n_ports; i++)
		highest = MAX(highest, c->ports[i].rate);
	for (size_t i = 0; i < c->n_ports; i++)
		if (c->ports[i].rate == highest)
			c->ports[kept++] = c->ports[i];
	c->n_ports = kept;
}

/* mlx5_2 goes before mlx5_10. */
static int compare_names(const char *a, const char *b)
{
	size_t x = strlen(a), y = strlen(b);

	while (x > 0 && isdigit((unsigned char)a[x - 1]))
		x--;
	while (y > 0 && isdigit((unsigned char)b[y - 1]))
		y--;
	if (x == y && strncmp(a, b, x) == 0 && strlen(a) != strlen(b))
		return strlen(a) < strlen(b) ? -1 : 1;
	return strcmp(a, b);
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
	if (r == 0)
		r = compare_names(x->ibdev->name, y->ibdev->name);
	if (r == 0)
		r = (x->port->number > y->port->number) - (x->port->number < y->port->number);
	if (r == 0 && x->gid && y->gid)
		r = (x->gid->index > y->gid->index) - (x->gid->index < y->gid->index);
	return r;
}

/*
 * NCCL takes one index for all ports, or finds the index of each by itself. The index of an IPv6
 * address depends on when its router was heard, so it is never fixed.
 */
static bool is_searched(const struct nccl *c)
{
	bool is_mixed = false;

	for (size_t i = 1; i < c->n_ports; i++)
		is_mixed = is_mixed || (c->ports[i].gid && c->ports[0].gid &&
					c->ports[i].gid->index != c->ports[0].gid->index);
	return is_mixed || c->is_ipv6;
}

static unsigned common_bits(const uint8_t a[static 16], const uint8_t b[static 16])
{
	unsigned n = 0;

	while (n < 128 && !((a[n / 8] ^ b[n / 8]) & (0x80 >> n % 8)))
		n++;
	return n;
}

/*
 * The smallest network with all of the addresses in it: NCCL takes the first GID of a port that is
 * in it. "" when they have nothing in common: then the family alone decides.
 */
static void find_range(struct nccl *c)
{
	const unsigned n_before = c->is_ipv6 ? 0 : 96; /* ::ffff:a.b.c.d */
	uint8_t first[16], other[16];
	char text[INET6_ADDRSTRLEN];
	unsigned length = 128;

	if (!gid_parse(c->ports[0].gid->gid, first))
		return;
	for (size_t i = 1; i < c->n_ports; i++)
		if (gid_parse(c->ports[i].gid->gid, other))
			length = MIN(length, common_bits(first, other));
	if (length < n_before + 8)
		return;
	for (unsigned n = length; n < 128; n++)
		first[n / 8] &= (uint8_t)~(0x80 >> n % 8);
	inet_ntop(c->is_ipv6 ? AF_INET6 : AF_INET, first + n_before / 8, text, sizeof(text));
	snprintf(c->range, sizeof(c->range), "%s/%u", text, length - n_before);
}

static void explain_none(const struct node *n, struct nccl *c)
{
	c->reason = REASON_NCCL_NONE;
	if (n->n_ibdevs == 0)
		COPY(c->detail, "there is no RDMA device here");
	for (size_t i = 0; i < n->n_ibdevs; i++)
		if (streq(n->ibdevs[i].node_type, "RNIC")) {
			snprintf(c->detail, sizeof(c->detail),
				 "%s is an iWARP device, which NCCL cannot use", n->ibdevs[i].name);
			COPY(c->advice, "For eRDMA set [Driver] Mode=ofed or compat.");
			return;
		}
}

/* All of them, and a netdev for bootstrap is there. */
static bool is_erdma_node(const struct node *n, const struct nccl *c)
{
	for (size_t i = 0; i < c->n_ports; i++) {
		const struct pci *pci = node_pci(n, c->ports[i].pci);

		if (!pci || !pci_is_erdma(pci))
			return false;
	}
	return has_carrier(n, BOOTSTRAP_NETDEV);
}

int nccl_choose(const struct node *n, struct nccl *ret)
{
	_cleanup_(nccl_done) struct nccl c = { .traffic_class = -1, .service_level = -1 };
	int r;

	r = add_all(n, add_roce, &c);
	if (r >= 0 && c.n_ports == 0) {
		c.is_ipv6 = true;
		r = add_all(n, add_roce, &c);
	}
	if (r >= 0 && c.n_ports == 0) {
		c.is_ipv6 = false;
		r = add_all(n, add_infiniband, &c);
	}
	if (r < 0)
		return r;

	if (c.n_ports == 0) {
		explain_none(n, &c);
	} else {
		keep_fastest(&c);
		qsort(c.ports, c.n_ports, sizeof(*c.ports), compare_ports);
		c.is_searched = is_searched(&c);
		if (c.is_searched)
			find_range(&c);
		c.is_erdma = is_erdma_node(n, &c);
	}

	*ret = TAKE_STRUCT(c);
	return 0;
}

/* One port has several GIDs, which are neighbours in the list. */
static bool is_repeated(const struct nccl *c, size_t i)
{
	return i > 0 && c->ports[i].port == c->ports[i - 1].port;
}

static void print_search(FILE *f, const struct nccl *c, const char *prefix)
{
	fprintf(f, "%sNCCL_IB_GID_INDEX=-1\n", prefix);
	fprintf(f, "%sNCCL_IB_ADDR_FAMILY=%s\n", prefix, c->is_ipv6 ? "AF_INET6" : "AF_INET");
	if (*c->range)
		fprintf(f, "%sNCCL_IB_ADDR_RANGE=%s\n", prefix, c->range);
	fprintf(f, "%sNCCL_IB_ROCE_VERSION_NUM=2\n", prefix);
}

int nccl_text(const struct nccl *c, bool is_export, bool is_exact, char **ret)
{
	const char *prefix = is_export ? "export " : "";
	_cleanup_(stream_done) struct stream out = {};

	if (c->reason != REASON_NONE)
		return -ENODATA;
	if (stream_open(&out) < 0)
		return -ENOMEM;

	fprintf(out.f, "%sNCCL_IB_HCA=%s", prefix, is_exact ? "=" : "");
	for (size_t i = 0; i < c->n_ports; i++)
		if (!is_repeated(c, i))
			fprintf(out.f, "%s%s:%" PRIu32, i > 0 ? "," : "", c->ports[i].ibdev->name,
				c->ports[i].port->number);
	fputc('\n', out.f);
	if (c->is_searched)
		print_search(out.f, c, prefix);
	else if (c->ports[0].gid)
		fprintf(out.f, "%sNCCL_IB_GID_INDEX=%" PRIu32 "\n", prefix, c->ports[0].gid->index);
	if (c->traffic_class >= 0 && c->ports[0].gid)
		fprintf(out.f, "%sNCCL_IB_TC=%d\n", prefix, c->traffic_class);
	if (c->service_level >= 0 && c->ports[0].gid)
		fprintf(out.f, "%sNCCL_IB_SL=%d\n", prefix, c->service_level);
	if (c->is_erdma)
		fprintf(out.f, "%sNCCL_SOCKET_IFNAME=" BOOTSTRAP_NETDEV "\n", prefix);
	return stream_take(&out, ret);
}
