/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random fabrics: does NCCL, told what nccl_text() says, use the ports that it should use, and on
 * each a GID that the peer can answer to?
 *
 * NCCL's part is written here from its documentation, the sections NCCL_IB_HCA, NCCL_IB_GID_INDEX,
 * NCCL_IB_ADDR_FAMILY and NCCL_IB_ADDR_RANGE of its list of environment variables. What is right
 * follows from what the fabric was made of. "test-fabrics SEED" makes others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/nccl/nccl-output.h"

#include <arpa/inet.h>

#define N_FABRICS 5000
#define MAX_PORTS 40

/* A function of a card, each with one port. */
struct function {
	unsigned card, model, rate;
	bool is_vf, is_active, has_node, is_ours, is_infiniband;
	const char *v4, *v6; /* of a GID beyond the link; NULL: none */
	bool is_v1;          /* there is no v2 of it */
	bool is_of_second;   /* a VF of the PF that shares the RDMA device of the first one */
};

struct fabric {
	struct function functions[MAX_PORTS];
	size_t n;

	struct config config;
	struct device_config section;
	struct plan plan;
	struct node node;
	struct pci pcis[MAX_PORTS];
	struct ibdev ibdevs[MAX_PORTS];
	struct port ports[MAX_PORTS];
	struct gid gids[MAX_PORTS][10];
	struct netdev netdevs[4 * MAX_PORTS], uppers[3 * MAX_PORTS];
	size_t n_uppers;
	struct address addresses[4 * MAX_PORTS + 1];
	struct device devices[MAX_PORTS];
	struct need needs[MAX_PORTS];
};

static uint64_t seed = 1, fabric_seed;

static unsigned draw(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 11) % n;
}

/* --- the fabric --- */

static const char *add_gid(struct fabric *f, size_t i, uint32_t index, const char *type,
			   const char *text)
{
	struct port *p = &f->ports[i];
	struct gid *g = &f->gids[i][p->n_gids++];

	g->index = index;
	COPY(g->type, type);
	COPY(g->gid, text);
	COPY(g->netdev, f->netdevs[i].name);
	return g->gid;
}

static void add_address(struct fabric *f, size_t i, int family, const char *gid)
{
	struct address *a = &f->addresses[f->node.n_addresses++];
	unsigned word;

	a->ifindex = f->netdevs[i].ifindex;
	a->family = family;
	for (unsigned k = 0; k < 8; k++) {
		assert_int_equal(sscanf(gid + 5 * k, "%4x", &word), 1);
		a->local[2 * k] = (uint8_t)(word >> 8);
		a->local[2 * k + 1] = (uint8_t)word;
	}
	if (family == AF_INET) {
		memmove(a->local, a->local + 12, 4);
		memcpy(a->peer, a->local, 4);
	}
}

/* A v1 and a v2 GID for each address, as mlx5 has them, or v1 alone. */
static const char *add_pair(struct fabric *f, size_t i, int family, const char *text)
{
	const uint32_t last = f->gids[i][f->ports[i].n_gids - 1].index;
	const uint32_t index = last + 1 + 2 * (draw(4) == 0);
	const char *gid = add_gid(f, i, index, "IB/RoCE v1", text);

	if (!f->functions[i].is_v1)
		gid = add_gid(f, i, index + 1, "RoCE v2", text);
	add_address(f, i, family, text);
	return gid;
}

/* An address of a storage network, on a VLAN above the netdev. */
static void add_vlan(struct fabric *f, size_t i)
{
	struct netdev *vlan = &f->uppers[f->n_uppers++];
	const size_t n_gids = f->ports[i].n_gids;
	char text[48];

	*vlan = (struct netdev){ .ifindex = 300 + (uint32_t)i,
				 .kind = "vlan",
				 .link = f->netdevs[i].ifindex,
				 .has_carrier = f->netdevs[i].has_carrier };
	snprintf(vlan->name, IFNAME_LEN, "vlan%zu", i);
	snprintf(text, sizeof(text), "0000:0000:0000:0000:0000:ffff:0a63:%04zx", i + 1);
	add_pair(f, i, AF_INET, text);
	for (size_t k = n_gids; k < f->ports[i].n_gids; k++)
		COPY(f->gids[i][k].netdev, vlan->name);
	f->addresses[f->node.n_addresses - 1].ifindex = vlan->ifindex;
}

static void add_gids(struct fabric *f, size_t i)
{
	const unsigned vlan = draw(8);
	struct function *fn = &f->functions[i];
	char text[48];

	snprintf(text, sizeof(text), "fe80:0000:0000:0000:0000:00ff:fe00:%04zx", i);
	add_gid(f, i, 0, "IB/RoCE v1", text);
	if (fn->is_infiniband)
		return;
	add_gid(f, i, 1, "RoCE v2", text);
	fn->is_v1 = draw(12) == 0;
	if (draw(5) == 0) {
		snprintf(text, sizeof(text), "0000:0000:0000:0000:0000:ffff:a9fe:%04zx", i + 1);
		add_pair(f, i, AF_INET, text);
	}
	if (draw(4) > 0) {
		if (vlan == 0)
			add_vlan(f, i);
		snprintf(text, sizeof(text), "0000:0000:0000:0000:0000:ffff:0a%02x:%04zx", draw(3),
			 i + 1);
		fn->v4 = add_pair(f, i, AF_INET, text);
		if (vlan == 1)
			add_vlan(f, i);
	}
	if (draw(3) == 0) {
		snprintf(text, sizeof(text), "fd00:0000:0000:%04x:0000:0000:0000:%04zx", draw(3),
			 i + 1);
		fn->v6 = add_pair(f, i, AF_INET6, text);
	}
}

static void add_function(struct fabric *f, struct function fn, unsigned bus, unsigned vf,
			 unsigned number)
{
	const size_t i = f->n++;
	struct pci *pci = &f->pcis[i];
	struct ibdev *ib = &f->ibdevs[i];
	struct port *p = &f->ports[i];

	fn.is_active = draw(8) > 0;
	fn.has_node = draw(8) > 0;
	f->functions[i] = fn;
	snprintf(pci->address, sizeof(pci->address), "0000:%02x:%02x.0", bus, vf);
	pci->device = (uint16_t)(2 * fn.model + fn.is_vf);
	if (fn.is_vf)
		snprintf(pci->physfn, sizeof(pci->physfn), "0000:%02x:00.%u", bus, fn.is_of_second);
	snprintf(ib->name, sizeof(ib->name), "mlx5_%s%u", draw(20) == 0 ? "bond_" : "", number);
	COPY(ib->pci, pci->address);
	COPY(ib->node_type, "CA");
	if (fn.has_node)
		snprintf(ib->uverbs, sizeof(ib->uverbs), "uverbs%zu", i);
	ib->ports = p;
	ib->n_ports = 1;
	p->number = 1;
	p->gids = f->gids[i];
	COPY(p->state, fn.is_active ? "ACTIVE" : "DOWN");
	COPY(p->link_layer, fn.is_infiniband ? "InfiniBand" : "Ethernet");
	snprintf(p->rate, sizeof(p->rate), "%u Gb/sec (4X NDR)", fn.rate);
	snprintf(f->netdevs[i].name, IFNAME_LEN, "rail%zu", i);
	COPY(f->netdevs[i].pci, pci->address);
	f->netdevs[i].ifindex = (uint32_t)i + 1;
	f->netdevs[i].has_carrier = fn.is_active;
	add_gids(f, i);
}

/* Sections match a card or not; without any, the node needs it or not. */
static void add_to_plan(struct fabric *f, size_t i, bool has_sections)
{
	if (has_sections && f->functions[i].is_ours)
		f->devices[f->plan.n_devices++] = (struct device){ .pci = &f->pcis[i],
								   .ibdev = &f->ibdevs[i],
								   .config = &f->section,
								   .is_vf = f->functions[i].is_vf };
	if (!has_sections && !f->functions[i].is_ours)
		COPY(f->needs[f->plan.n_needs++].pci, f->pcis[i].address);
}

/* Both PFs of a card are ports of a bond, which has one RDMA device: that of the first. */
static void add_lag(struct fabric *f, size_t first, unsigned bus, struct netdev netdevs[2])
{
	netdevs[0] = (struct netdev){ .ifindex = 100 + bus, .kind = "bond" };
	snprintf(netdevs[0].name, IFNAME_LEN, "bond%u", bus);
	netdevs[1] = (struct netdev){ .ifindex = 200 + bus, .master = 100 + bus };
	snprintf(netdevs[1].name, IFNAME_LEN, "second%u", bus);
	snprintf(netdevs[1].pci, sizeof(netdevs[1].pci), "0000:%02x:00.1", bus);
	f->netdevs[first].master = 100 + bus;
}

static int by_ifindex(const void *a, const void *b)
{
	return (int)((const struct netdev *)a)->ifindex - (int)((const struct netdev *)b)->ifindex;
}

static bool make(struct fabric *f)
{
	static const unsigned rates[] = { 100, 200, 400, 400 };
	const bool is_pod = draw(2), is_elsewhere = is_pod && draw(2), has_sections = draw(2);
	const unsigned n_cards = 1 + draw(9), start = draw(60);

	*f = (struct fabric){ .config.n_devices = has_sections };
	for (unsigned card = 0; card < n_cards; card++) {
		struct function fn = { .card = card,
				       .model = draw(3),
				       .rate = rates[draw(4)],
				       .is_infiniband = draw(3) == 0,
				       .is_ours = is_pod || draw(4) > 0 };
		const unsigned n_vfs = draw(4);
		const bool is_lag = !is_pod && draw(3) == 0;
		const size_t first = f->n;

		for (unsigned vf = is_pod && draw(2); vf <= n_vfs; vf++) {
			fn.is_vf = vf > 0;
			fn.is_of_second = is_lag && vf > 0 && (fn.is_of_second || draw(2));
			/* no two are equal: 7 and 60 have no common divisor */
			add_function(f, fn, 0x20 + card, vf, (start + 7 * (unsigned)f->n) % 60);
		}
		if (is_lag) {
			add_lag(f, first, 0x20 + card, f->uppers + f->n_uppers);
			f->n_uppers += 2;
		}
	}
	for (size_t i = 0; i < f->n; i++)
		add_to_plan(f, i, has_sections);
	f->plan.devices = f->devices;
	f->plan.needs = f->needs;
	f->node.pcis = f->pcis;
	f->node.ibdevs = f->ibdevs;
	f->node.n_pcis = f->node.n_ibdevs = f->n;
	f->node.has_verbs = true;
	f->node.netdevs = f->netdevs;
	f->node.n_netdevs = f->n + f->n_uppers;
	memcpy(f->netdevs + f->n, f->uppers, f->n_uppers * sizeof(*f->uppers));
	qsort(f->netdevs, f->node.n_netdevs, sizeof(*f->netdevs), by_ifindex);
	f->node.addresses = f->addresses;
	if (is_elsewhere) { /* one of the pod's own has the name of a rail */
		f->netdevs[0] = (struct netdev){ .ifindex = 2, .has_carrier = draw(2) };
		snprintf(f->netdevs[0].name, IFNAME_LEN, "rail%u", draw((unsigned)f->n + 1));
		f->node.n_netdevs = f->node.n_addresses = 1;
		f->addresses[0] = (struct address){ .ifindex = 2, .family = AF_INET };
		memcpy(f->addresses[0].local, (uint8_t[]){ 192, 168, 0, 9 }, 4);
		memcpy(f->addresses[0].peer, f->addresses[0].local, 4);
	}
	return is_pod;
}

/* --- NCCL --- */

struct nccl_settings {
	char hca[1024], family[16], range[64];
	int index, version;
};

static void read_settings(const char *text, struct nccl_settings *s)
{
	*s = (struct nccl_settings){ .family = "AF_INET", .index = -1, .version = 2 };
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		sscanf(line, "NCCL_IB_HCA=%1023s", s->hca);
		sscanf(line, "NCCL_IB_GID_INDEX=%d", &s->index);
		sscanf(line, "NCCL_IB_ADDR_FAMILY=%15s", s->family);
		sscanf(line, "NCCL_IB_ADDR_RANGE=%63s", s->range);
		sscanf(line, "NCCL_IB_ROCE_VERSION_NUM=%d", &s->version);
	}
}

/* "^" excludes, "=" is for whole names, else a name is a prefix; ":" is a port. */
static bool takes(const char *list, const char *name, uint32_t port)
{
	bool is_not = *list == '^', is_exact, is_there = false;
	char words[1024], *rest = words;

	list += is_not;
	is_exact = *list == '=';
	list += is_exact;
	assert_true(COPY(words, list));
	for (char *word; (word = strsep(&rest, ","));) {
		char *number = strchr(word, ':');

		if (number)
			*number++ = '\0';
		is_there = is_there || ((is_exact ? strcmp(name, word) == 0
						  : strncmp(name, word, strlen(word)) == 0) &&
					(!number || strtoul(number, NULL, 10) == port));
	}
	return is_there != is_not;
}

static bool is_in_range(const char *range, const uint8_t gid[static 16])
{
	uint8_t net[16] = { [10] = 0xff, [11] = 0xff };
	char text[64], *slash;
	unsigned length;

	if (!*range)
		return true;
	COPY(text, range);
	slash = strchr(text, '/');
	*slash = '\0';
	length = (unsigned)strtoul(slash + 1, NULL, 10);
	if (inet_pton(AF_INET, text, net + 12) == 1)
		length += 96;
	else
		assert_int_equal(inet_pton(AF_INET6, text, net), 1);
	for (unsigned bit = 0; bit < length; bit++)
		if ((net[bit / 8] ^ gid[bit / 8]) & 0x80 >> bit % 8)
			return false;
	return true;
}

/* The GID that NCCL gives to its queue pairs on this port, or NULL. */
static const struct gid *find_gid(const struct nccl_settings *s, const struct port *p)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const char *type = s->version == 2 ? "RoCE v2" : "IB/RoCE v1";
	uint8_t gid[16];

	for (size_t i = 0; i < p->n_gids; i++) {
		const struct gid *g = &p->gids[i];

		if (s->index >= 0 && g->index == (uint32_t)s->index)
			return g;
		assert_int_equal(inet_pton(AF_INET6, g->gid, gid), 1);
		if (s->index < 0 && strcmp(g->type, type) == 0 && is_in_range(s->range, gid) &&
		    (memcmp(gid, mapped, 12) == 0) == (strcmp(s->family, "AF_INET") == 0))
			return g;
	}
	return NULL;
}

/* --- what is right --- */

static bool is_fit(const struct function *fn)
{
	return fn->is_active && fn->has_node && fn->is_ours &&
	       (fn->is_infiniband || fn->v4 || fn->v6);
}

/* Is it of the model of one of the fastest, @rate? */
static bool is_of_fastest(const struct fabric *f, const bool fit[static MAX_PORTS], size_t i,
			  unsigned rate)
{
	const struct function *a = &f->functions[i], *b = f->functions;

	for (size_t k = 0; k < f->n; k++, b++)
		if (fit[k] && b->rate == rate && a->model == b->model && a->is_vf == b->is_vf &&
		    a->is_infiniband == b->is_infiniband)
			return true;
	return false;
}

/* One for each card, and then the fastest of them, and slower ones of their models. Return: how
 * many. */
static size_t find_right(const struct fabric *f, bool ret[static MAX_PORTS])
{
	unsigned rate = 0;
	size_t n = 0;

	for (size_t i = 0, last = SIZE_MAX; i < f->n; i++) {
		if (!is_fit(&f->functions[i]) ||
		    (last != SIZE_MAX && f->functions[last].card == f->functions[i].card))
			continue;
		last = i;
		ret[i] = true;
		rate = MAX(rate, f->functions[i].rate);
	}
	for (size_t i = 0; i < f->n; i++) {
		ret[i] = ret[i] && is_of_fastest(f, ret, i, rate);
		n += ret[i];
	}
	return n;
}

/* Of the right ones as many as can be of one kind: v1 only where there is nothing else. */
static size_t count_most(const struct fabric *f, const bool right[static MAX_PORTS])
{
	size_t n[5] = {}, most;

	for (size_t i = 0; i < f->n; i++) {
		const struct function *fn = &f->functions[i];

		n[0] += right[i] && fn->is_infiniband;
		n[1] += right[i] && fn->v4 && !fn->is_v1;
		n[2] += right[i] && fn->v6 && !fn->is_v1;
		n[3] += right[i] && fn->v4 && !fn->is_infiniband;
		n[4] += right[i] && fn->v6 && !fn->is_infiniband;
	}
	most = MAX(n[0], MAX(n[1], n[2]));
	return most > 0 ? most : MAX(n[3], n[4]);
}

static void check(const struct fabric *f, const struct nccl *c, const char *text)
{
	bool right[MAX_PORTS] = {}, is_infiniband = false, is_roce = false;
	struct nccl_settings s;
	size_t n_used = 0;

	if (find_right(f, right) == 0) {
		assert_int_equal(c->reason, REASON_NCCL_NONE);
		return;
	}
	assert_int_equal(c->reason, REASON_NONE);
	read_settings(text, &s);
	for (size_t i = 0; i < f->n; i++) {
		const struct function *fn = &f->functions[i];
		const struct gid *g;

		if (!fn->is_active || !fn->has_node || !takes(s.hca, f->ibdevs[i].name, 1))
			continue;
		n_used++;
		assert_true(right[i]);
		is_infiniband = is_infiniband || fn->is_infiniband;
		is_roce = is_roce || !fn->is_infiniband;
		if (fn->is_infiniband)
			continue;
		g = find_gid(&s, &f->ports[i]);
		assert_non_null(g);
		assert_true((fn->v4 && strcmp(g->gid, fn->v4) == 0) ||
			    (fn->v6 && strcmp(g->gid, fn->v6) == 0));
		assert_true(fn->is_v1 || strcmp(g->type, "RoCE v2") == 0);
	}
	assert_false(is_infiniband && is_roce);
	assert_int_equal(n_used, count_most(f, right));
}

/* A comment for each port that is not listed, none of which NCCL would take for a setting. */
static void check_comments(const struct fabric *f, const struct nccl *c)
{
	_cleanup_(freep) char *text = NULL;
	size_t n_lines = 0, n_left = 0, n_vfs = 0;

	assert_int_equal(nccl_left_out(c, &text), 0);
	assert_null(strchr(text, '='));
	for (const char *p = text; *p; p = strchr(p, '\n') + 1, n_lines++)
		assert_int_equal(*p, '#');
	for (size_t i = 0; i < c->n_ports; i++) {
		n_left += *c->ports[i].why ? !*c->ports[i].physfn : *c->ports[i].slow != 0;
		n_vfs += *c->ports[i].why && *c->ports[i].physfn;
	}
	assert_int_equal(c->n_ports, f->n);
	assert_int_equal(n_lines, n_left + (n_vfs > 0));
}

static void nccl_uses_the_right_ports_of_any_fabric(void **state _unused_)
{
	static struct fabric f;
	size_t n_listed = 0, n_exact = 0, n_searched = 0;

	for (size_t i = 0; i < N_FABRICS; i++) {
		_cleanup_(nccl_done) struct nccl c = {};
		_cleanup_(freep) char *text = NULL;
		const bool is_pod = (fabric_seed = seed, make(&f));

		assert_int_equal(nccl_choose(is_pod ? NULL : &f.config, &f.node,
					     is_pod ? NULL : &f.plan, &c),
				 0);
		if (c.reason == REASON_NONE)
			assert_int_equal(nccl_text(&c, false, false, &text), 0);
		check(&f, &c, text);
		check_comments(&f, &c);
		n_listed += text != NULL;
		n_exact += c.is_exact;
		n_searched += c.is_searched;
	}
	/* each kind was there often */
	assert_true(n_listed > N_FABRICS / 2);
	assert_true(n_exact > N_FABRICS / 20);
	assert_true(n_searched > N_FABRICS / 20);
}

/* Is the port of this function listed, in a fabric that is no pod's? */
static bool is_listed(const struct fabric *f, size_t i)
{
	_cleanup_(nccl_done) struct nccl c = {};

	assert_int_equal(nccl_choose(&f->config, &f->node, &f->plan, &c), 0);
	for (size_t k = 0; k < c.n_ports; k++)
		if (c.ports[k].ibdev == &f->ibdevs[i])
			return !*c.ports[k].why;
	return false;
}

/* A second function of the first port: its RDMA device has no PCI function, its netdev leads to
 * one.
 */
static size_t add_subfunction(struct fabric *f)
{
	const size_t sf = f->node.n_ibdevs++, n = f->node.n_addresses;
	struct netdev *nd = &f->netdevs[f->node.n_netdevs++];

	*nd = (struct netdev){ .ifindex = 1000, .name = "sf0", .has_carrier = true };
	COPY(nd->scalable_of, f->pcis[0].address);
	f->ibdevs[sf] = f->ibdevs[0];
	COPY(f->ibdevs[sf].name, "mlx4_sf");
	f->ibdevs[sf].pci[0] = '\0';
	f->ports[sf] = f->ports[0];
	f->ibdevs[sf].ports = &f->ports[sf];
	f->ports[sf].gids = f->gids[sf];
	memcpy(f->gids[sf], f->gids[0], sizeof(f->gids[0]));
	for (size_t i = 0; i < f->ports[sf].n_gids; i++)
		COPY(f->gids[sf][i].netdev, nd->name);
	for (size_t i = 0; i < n; i++)
		if (f->addresses[i].ifindex == f->netdevs[0].ifindex) {
			f->addresses[f->node.n_addresses] = f->addresses[i];
			f->addresses[f->node.n_addresses++].ifindex = nd->ifindex;
		}
	return sf;
}

static void a_subfunction_counts_where_its_pf_does_not(void **state _unused_)
{
	static struct fabric f;
	size_t sf;

	while (make(&f) || !is_listed(&f, 0) || f.functions[0].is_infiniband ||
	       f.node.n_addresses + 4 > ELEMENTSOF(f.addresses))
		;
	sf = add_subfunction(&f);
	assert_true(is_listed(&f, 0));
	assert_false(is_listed(&f, sf));
	f.ibdevs[0].uverbs[0] = '\0';
	assert_true(is_listed(&f, sf));
	/* The node needs the NIC that both are on. */
	f.config.n_devices = f.plan.n_devices = 0;
	f.plan.n_needs = 1;
	COPY(f.needs[0].pci, f.pcis[0].address);
	assert_false(is_listed(&f, sf));
}

/* As eRDMA of the primary ENI, or the bond of SCC, where there is no other. */
static void a_nic_that_carries_the_node_is_listed_where_jobs_have_no_other(void **state _unused_)
{
	static struct fabric f;

	while (make(&f) || f.plan.n_devices == 0 || !is_listed(&f, 0) || !is_listed(&f, f.n - 1) ||
	       f.functions[0].card == f.functions[f.n - 1].card ||
	       f.functions[0].rate != f.functions[f.n - 1].rate)
		;
	f.plan.n_needs = 1;
	COPY(f.needs[0].pci, f.pcis[0].address);
	assert_false(is_listed(&f, 0));
	f.needs[0].is_by_vf = true;
	assert_true(is_listed(&f, 0));
	f.needs[0].is_by_vf = false;
	COPY(f.ports[0].rate, "64000 Gb/sec (4X)"); /* others together are slower */
	assert_true(is_listed(&f, 0));
	COPY(f.ports[0].rate, f.ports[f.n - 1].rate);
	f.needs[0].why = NEED_UNKNOWN;
	assert_true(is_listed(&f, 0));
	f.needs[0].why = 0;
	COPY(f.pcis[0].driver, "erdma");
	assert_true(is_listed(&f, 0));
	f.pcis[0].driver[0] = '\0';
	for (size_t i = 1; i < f.n; i++)
		COPY(f.needs[f.plan.n_needs++].pci, f.pcis[i].address);
	assert_true(is_listed(&f, 0));
	f.devices[0].aside = REASON_NODE_NIC;
	assert_false(is_listed(&f, 0));
}

/* A PF whose VFs go to pods stays on the host. */
static void a_device_that_moves_into_a_pod_is_left_out(void **state _unused_)
{
	static struct fabric f;

	while (make(&f) || f.plan.n_devices < 2 || !is_listed(&f, 0) || !f.devices[1].is_vf)
		;
	for (size_t i = 0; i < f.plan.n_devices; i++)
		f.devices[i].is_handed_out = f.devices[i].is_vf;
	f.config.plugin.type = PLUGIN_SRIOV;
	assert_true(is_listed(&f, 0));
	f.devices[0].is_handed_out = true;
	assert_false(is_listed(&f, 0));
	assert_false(is_listed(&f, 1));
	f.config.plugin.type = PLUGIN_RDMA_SHARED;
	assert_true(is_listed(&f, 0));
}

/* netvsc of Hyper-V has a device and no kind, a bond has a kind and no device. */
static void a_port_of_a_synthetic_nic_is_left_out_and_one_of_a_bond_is_not(void **state _unused_)
{
	static struct fabric f;
	struct netdev *master;

	while (make(&f) || !is_listed(&f, 0))
		;
	master = &f.netdevs[f.node.n_netdevs++];
	*master = (struct netdev){ .ifindex = 1000, .name = "eth0", .kind = "bond" };
	f.netdevs[0].master = master->ifindex;
	assert_true(is_listed(&f, 0));
	*master = (struct netdev){ .ifindex = 1000, .name = "eth0", .has_device = true };
	assert_false(is_listed(&f, 0));
}

/* Also where no RDMA device is left here, as with namespaces of their own for RDMA devices. */
static void ports_in_pods_need_no_section(void **state _unused_)
{
	_cleanup_(nccl_done) struct nccl none = {};
	static struct fabric f;

	while (make(&f) || f.plan.n_devices == 0 || !is_listed(&f, 0))
		;
	for (int n_left = 1; n_left >= 0; n_left--) {
		_cleanup_(nccl_done) struct nccl c = {};

		f.node.n_ibdevs = (size_t)n_left;
		for (size_t i = 0; i < f.plan.n_devices; i++)
			f.plan.devices[i].is_in_pod = true;
		assert_int_equal(nccl_choose(&f.config, &f.node, &f.plan, &c), 0);
		assert_int_equal(c.reason, REASON_NCCL_NONE);
		assert_non_null(strstr(c.detail, n_left > 0 ? "a pod has it" : "pods have"));
		assert_non_null(strstr(c.advice ?: "", "in the pod:"));
	}
	f.plan.n_devices = 0;
	assert_int_equal(nccl_choose(&f.config, &f.node, &f.plan, &none), 0);
	assert_string_equal(none.detail, "there is no RDMA device here");
	assert_non_null(strstr(none.advice ?: "", "request the RDMA resource"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nccl_uses_the_right_ports_of_any_fabric),
		cmocka_unit_test(a_subfunction_counts_where_its_pf_does_not),
		cmocka_unit_test(a_port_of_a_synthetic_nic_is_left_out_and_one_of_a_bond_is_not),
		cmocka_unit_test(ports_in_pods_need_no_section),
		cmocka_unit_test(a_device_that_moves_into_a_pod_is_left_out),
		cmocka_unit_test(a_nic_that_carries_the_node_is_listed_where_jobs_have_no_other),
	};

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 10) | 1;
	if (cmocka_run_group_tests(tests, NULL, NULL) == 0)
		return EXIT_SUCCESS;
	fprintf(stderr, "the seed of this fabric is %" PRIu64 "\n", fabric_seed);
	return EXIT_FAILURE;
}
