/* SPDX-License-Identifier: Apache-2.0 */
#include "places-observe.h"

#include "../model/boots.h"
#include "../model/graph.h"
#include "../model/ip.h"
#include "../model/route-find.h"
#include "../os/route.h"
#include "../step/observers.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <linux/rtnetlink.h>

#define MAX_HOSTS_BYTES  (16u << 20) /* lists against advertisements have some 5 MiB */
#define MAX_RESOLV_BYTES 65536u

static const char blanks[] = " \t\r";

/* The next word of @line, which is cut. NULL: there is none. */
static char *cut_word(char **line)
{
	char *word = *line + strspn(*line, blanks), *end = word + strcspn(word, blanks);

	*line = end + (*end != '\0');
	*end = '\0';
	return *word ? word : NULL;
}

/* --- names --- */

/* A line of /etc/hosts: hosts(5). A name may end with a dot: lookupStaticHost() of Go's net. */
static void read_host(struct node *n, char *line, uint32_t number, const char *name)
{
	struct host host = { .line = number };
	const size_t n_name = strlen(name) - (name[strlen(name) - 1] == '.');
	bool is_found = false;
	char *word;

	line[strcspn(line, "#")] = '\0';
	word = cut_word(&line);
	if (!word || !ip_parse(word, &host.family, host.address))
		return;
	while ((word = cut_word(&line))) {
		const size_t len = strlen(word);

		is_found |= len - (word[len - 1] == '.') == n_name &&
			    strncasecmp(word, name, n_name) == 0;
	}
	if (!is_found)
		return;
	COPY(host.name, name);
	NODE_ADD(n, hosts, host);
}

/* Adds the lines with that name, once. */
static void find_name(struct places *p, const char *name)
{
	uint32_t number = 0;

	if (ANY(h, p->n->hosts, p->n->n_hosts, streq(h->name, name)) || !*name ||
	    strlen(name) >= HOST_NAME_LEN)
		return;
	for (const char *at = p->hosts; at && *at; at += *at == '\n') {
		const char *end = strchrnul(at, '\n');
		_cleanup_(freep) char *line = strndup(at, (size_t)(end - at));

		if (!node_note(p->n, line ? 0 : -ENOMEM))
			return;
		read_host(p->n, line, ++number, name);
		at = end;
	}
}

static int compare_hosts(const void *a, const void *b)
{
	const struct host *x = a, *y = b;

	return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
				  : strcmp(x->name, y->name);
}

/* Each in its line. */
static void record_hosts(const struct places *p)
{
	_cleanup_(stream_done) struct stream out = {};
	uint32_t line = 1, last = 0;

	if (!p->fs->on_read || !p->hosts || !node_note(p->n, stream_open(&out)))
		return;
	FOREACH(h, p->n->hosts, p->n->n_hosts) {
		char address[64];

		for (; line < h->line; line++)
			fputc('\n', out.f);
		ip_format(h->family, h->address, UINT32_MAX, address, sizeof(address));
		fprintf(out.f, "%s %s", last == h->line ? "" : address, h->name);
		last = h->line;
	}
	fputs("\n# other lines are left out\n", out.f);
	node_note(p->n, fs_record_stream(p->fs, "etc/hosts", &out));
}

/* As the kubelet makes it: without blanks, in lower case. */
static void find_own_name(struct places *p)
{
	const char *given = p->n->kubelet.host_name;
	char text[HOST_NAME_LEN], *rest = text, *name;

	COPY(text, *given ? given : p->n->host_name);
	name = cut_word(&rest);
	for (char *c = name; c && *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (name)
		find_name(p, name);
}

/* --- destinations --- */

static void append(struct node *n, enum destination_to to, const struct lookup *l,
		   const char *words, bool is_rdma)
{
	struct destination d = { .to = to, .is_rdma = is_rdma, .lookup = *l };

	COPY(d.words, words);
	NODE_ADD(n, destinations, d);
}

static struct destination *find_asked(const struct node *n, enum destination_to to,
				      const struct lookup *l)
{
	return FIND(d, n->destinations, n->n_destinations,
		    d->to == to && d->lookup.family == l->family &&
			    d->lookup.ifindex == l->ifindex && d->lookup.mark == l->mark &&
			    memcmp(d->lookup.dst, l->dst, sizeof(l->dst)) == 0);
}

/* @words: of a file, with anything in them. */
static void append_foreign(struct places *p, enum destination_to to, const struct lookup *l,
			   const char *words)
{
	char shown[sizeof(p->n->destinations->words)];

	COPY(shown, words);
	make_printable(shown);
	append(p->n, to, l, shown, p->is_rdma);
}

static void add_address(struct places *p, enum destination_to to, int family, const uint8_t *bytes,
			const char *words)
{
	struct lookup l = { .family = family, .result = -ENODATA };
	struct destination *asked;

	memcpy(l.dst, bytes, sizeof(l.dst));
	asked = find_asked(p->n, to, &l);
	if (asked)
		asked->is_rdma |= p->is_rdma;
	else if (!ip_is_loopback(family, bytes) && !is_zero(bytes))
		append_foreign(p, to, &l, words);
}

void places_add_device(struct places *p, enum destination_to to, const struct netdev *nd,
		       const char *words)
{
	struct lookup l = { .n_hops = 1 };

	if (!nd)
		return;
	l.ifindex = l.found = l.hops[0] = nd->ifindex;
	append_foreign(p, to, &l, words);
}

const struct netdev *places_netdev(const struct places *p, const char *name)
{
	return FIND(nd, p->n->netdevs, p->n->n_netdevs, netdev_is_called(nd, name));
}

void places_add_unnamed(struct places *p, enum destination_to to, const char *words)
{
	const struct lookup l = { .result = -EDESTADDRREQ };

	if (!ANY(d, p->n->destinations, p->n->n_destinations,
		 d->to == to && d->lookup.result == l.result))
		append_foreign(p, to, &l, words);
}

bool places_add(struct places *p, enum destination_to to, const char *host, const char *words)
{
	char text[HOST_NAME_LEN], *zone;
	bool is_known = false;
	uint8_t bytes[16];
	int family;

	if (!COPY(text, host))
		return false;
	zone = strchr(text, '%');
	if (zone)
		*zone++ = '\0';
	if (ip_parse(text, &family, bytes)) {
		if (zone && to != TO_NAME_SERVER)
			places_add_device(p, to, places_netdev(p, zone), words);
		else if (!zone && !ip_is_link_local(family, bytes))
			add_address(p, to, family, bytes, words);
		return true;
	}
	find_name(p, text);
	for (size_t i = 0; i < p->n->n_hosts; i++)
		if (streq(p->n->hosts[i].name, text)) {
			add_address(p, to, p->n->hosts[i].family, p->n->hosts[i].address, words);
			is_known = true;
		}
	return is_known;
}

/* --- servers --- */

static void add_api_servers(struct places *p)
{
	const struct kubelet *k = &p->n->kubelet;
	char words[sizeof(p->n->destinations->words)];

	for (size_t i = 0; i < k->n_servers; i++) {
		PRINT(words, "API server, %.140s", k->servers[i].path);
		places_add(p, TO_API_SERVER, k->servers[i].host, words);
	}
}

/* resolv.conf(5). @ret_is_stub: it names one on the loopback address. */
static void read_resolv(struct places *p, const char *path, bool *ret_is_stub)
{
	_cleanup_(stream_done) struct stream out = {};
	_cleanup_(freep) char *text = NULL;
	char words[160], *rest, *line;

	PRINT(words, "name server, /%s", path);
	if (!node_note(p->n, fs_read_all(p->fs, path, MAX_RESOLV_BYTES, true, &text, NULL)) ||
	    !node_note(p->n, stream_open(&out)))
		return;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		char *word = cut_word(&line), *host = word ? cut_word(&line) : NULL;
		uint8_t bytes[16];
		int family;

		if (!host || !streq(word, "nameserver"))
			continue;
		fprintf(out.f, "nameserver %s\n", host);
		*ret_is_stub |= ip_parse(host, &family, bytes) && ip_is_loopback(family, bytes);
		places_add(p, TO_NAME_SERVER, host, words);
	}
	fputs("# other lines are left out\n", out.f);
	node_note(p->n, fs_record_stream(p->fs, path, &out));
}

static void add_name_servers(struct places *p)
{
	static const char *const behind[] = { "run/systemd/resolve/resolv.conf",
					      "run/NetworkManager/no-stub-resolv.conf",
					      "run/NetworkManager/resolv.conf" };
	bool is_stub = false;

	read_resolv(p, "etc/resolv.conf", &is_stub);
	for (size_t i = 0; i < ELEMENTSOF(behind) && is_stub; i++)
		read_resolv(p, behind[i], &(bool){ false });
}

static void add_remembered(struct places *p, const struct memory *memory)
{
	uint8_t bytes[16];
	int family;

	for (const struct boot *b = NULL; (b = boots_before(p->n, memory, b));)
		FOREACH(k, b->needs, b->n_needs)
			if (ip_parse(k->of, &family, bytes) &&
			    !ANY(d, p->n->destinations, p->n->n_destinations,
				 d->to != TO_MOUNT && d->lookup.family == family &&
					 memcmp(d->lookup.dst, bytes, sizeof(bytes)) == 0))
				add_address(p, TO_BEFORE, family, bytes, "needed in the last boot");
}

void observe_places(const struct fs *fs, struct node *n, const struct memory *memory)
{
	struct places p = { .fs = fs, .n = n };

	fs_read_host_name(fs, n->host_name, sizeof(n->host_name));
	make_printable(n->host_name);
	node_note(n, fs_read_all(fs, "etc/hosts", MAX_HOSTS_BYTES, true, &p.hosts, NULL));
	find_own_name(&p);
	add_api_servers(&p);
	add_name_servers(&p);
	storage_add(&p);
	add_remembered(&p, memory);
	SORT(n->hosts, n->n_hosts, compare_hosts);
	record_hosts(&p);
	free(p.hosts);
}

/* --- where default routes lead --- */

/* @vrf: NULL: by the main rules */
static void add_default(struct node *n, const struct lookup *of, const struct netdev *vrf)
{
	const enum destination_to to = vrf ? TO_VRF : TO_DEFAULT;
	struct lookup l = *of;
	char address[INET6_ADDRSTRLEN], words[sizeof(n->destinations->words)];

	l.ifindex = vrf ? vrf->ifindex : 0;
	if (find_asked(n, to, &l))
		return;
	ip_format(l.family, l.dst, UINT32_MAX, address, sizeof(address));
	PRINT(words, "default route%s%s, %s", vrf ? " of the VRF " : "", vrf ? vrf->name : "",
	      address);
	append(n, to, &l, words, false);
}

/* Addresses of documentation are nobody's: RFC 5737 and 3849. A rule may lead some elsewhere. */
static void add_documentation(struct node *n, struct lookup *l)
{
	static const char *const addresses[] = { "192.0.2.1", "198.51.100.1", "203.0.113.1",
						 "2001:db8::1" };
	const uint32_t longest = l->family == AF_INET6 ? 3 : 1;

	for (size_t i = 0; i < ELEMENTSOF(addresses); i++) {
		if (inet_pton(l->family, addresses[i], l->dst) != 1)
			continue;
		if (!ANY(t, n->routes, n->n_routes,
			 t->family == l->family && t->prefix_len > longest &&
				 ip_is_in_prefix(l->dst, t->dst, t->prefix_len)))
			add_default(n, l, NULL);
	}
}

static void add_defaults(struct node *n, int family)
{
	struct lookup l = { .family = family, .result = -ENODATA };

	add_documentation(n, &l);
	if (!node_note(n, route_find_default(n, family, l.dst)))
		return;
	add_default(n, &l, NULL);
	FOREACH(vrf, n->netdevs, n->n_netdevs)
		if (vrf->vrf_table && ANY(t, n->routes, n->n_routes,
					  t->family == family && t->table == vrf->vrf_table &&
						  t->prefix_len == 0 && t->type == RTN_UNICAST))
			add_default(n, &l, vrf);
}

/* --- where tunnels lead --- */

static bool is_on(const struct graph *g, uint32_t ifindex, const struct netdev *tunnel)
{
	const struct netdev *nd = node_netdev(g->n, ifindex);

	return nd && (nd == tunnel || graph_is_above(g, nd, tunnel));
}

static bool leads_into(const struct graph *g, const struct lookup *l, const struct netdev *tunnel)
{
	return l->result == 0 &&
	       (is_on(g, l->found, tunnel) || ANY(hop, l->hops, l->n_hops, is_on(g, *hop, tunnel)));
}

static void add_end(struct node *n, const struct tunnel_end *end, const struct netdev *tunnel,
		    const char *what_for)
{
	struct lookup l = { .family = end->family,
			    .ifindex = tunnel->link,
			    .mark = end->mark,
			    .result = -ENODATA };
	char address[INET6_ADDRSTRLEN], words[2 * sizeof(n->destinations->words)];

	memcpy(l.dst, end->remote, sizeof(l.dst));
	if (find_asked(n, TO_TUNNEL_END, &l))
		return;
	ip_format(l.family, l.dst, UINT32_MAX, address, sizeof(address));
	PRINT(words, "the other end of %s, %s, for: %s", tunnel->name, address, what_for);
	append(n, TO_TUNNEL_END, &l, words, false);
}

struct known_address {
	const struct node *n;
	const struct address *a;
};

static int on_kubelet(void *userdata, int family, const uint8_t *bytes, const char *how _unused_)
{
	const struct known_address *k = userdata;
	const struct netdev *nd = node_netdev(k->n, k->a->ifindex);

	return bytes ? family == k->a->family && memcmp(bytes, k->a->local, 16) == 0
		     : nd && netdev_is_called(nd, k->n->kubelet.flannel_iface);
}

static bool is_kubelets(const struct node *n, const struct address *a)
{
	struct known_address k = { n, a };

	return node_find_kubelet(n, on_kubelet, &k) > 0;
}

/* The other ends of tunnels that packets to @d leave by. NULL: a kubelet whose address is on a
 * tunnel is reached by the other ends. */
static void add_ends(const struct graph *g, struct node *n, const struct destination *d)
{
	FOREACH(end, n->tunnel_ends, n->n_tunnel_ends) {
		const struct netdev *tunnel = node_netdev(n, end->ifindex);

		if (tunnel && !is_zero(end->remote) &&
		    (d ? leads_into(g, &d->lookup, tunnel)
		       : ANY(a, n->addresses, n->n_addresses,
			     is_on(g, a->ifindex, tunnel) && is_kubelets(n, a))))
			add_end(n, end, tunnel, d ? d->words : "the kubelet's address");
	}
}

/* The kernel passes over a route of IPv6 while its router does not answer: rt6_score_route() in
 * net/ipv6/route.c. So the hops of the best route count as well, but not those of rails that
 * routers advertise themselves on. */
static void add_hops(const struct node *n, struct lookup *l)
{
	struct lookup best = *l;

	best.n_hops = 0;
	route_find(n, &best);
	if (ANY(hop, best.hops, best.n_hops, *hop == l->found) ||
	    (best.protocol == RTPROT_RA && l->protocol != RTPROT_RA))
		return;
	for (size_t i = 0; best.result >= 0 && i < best.n_hops && l->n_hops < LOOKUP_HOPS; i++)
		if (!ANY(hop, l->hops, l->n_hops, *hop == best.hops[i]))
			l->hops[l->n_hops++] = best.hops[i];
}

static void ask(struct os *d, struct node *n, struct lookup *l)
{
	if (l->result != -ENODATA)
		return;
	if (!d->fs.is_live)
		return route_find(n, l);
	node_note(n, route_lookup(&d->route, l, true));
	if (l->family == AF_INET6 && l->result == 0)
		add_hops(n, l);
}

/* An end that was asked about is not asked about again, so this ends. */
void observe_destinations_ask(struct os *d, struct node *n)
{
	_cleanup_(graph_done) struct graph g = {};
	struct destination asked;

	add_defaults(n, AF_INET);
	add_defaults(n, AF_INET6);
	if (n->n_tunnel_ends > 0 && !node_note(n, graph_make(n, &g)))
		return;
	add_ends(&g, n, NULL);
	for (size_t i = 0; i < n->n_destinations; i++) {
		ask(d, n, &n->destinations[i].lookup);
		asked = n->destinations[i]; /* the array may move */
		if (asked.to != TO_MOUNT)
			add_ends(&g, n, &asked);
	}
}
