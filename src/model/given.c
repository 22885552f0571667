/* SPDX-License-Identifier: Apache-2.0 */
#include "given.h"

#include "ip.h"
#include "route-facts.h"
#include "route-find.h"
#include "vf-facts.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#define ETHERNET_MAC_CHARS 17

/* False: one cannot be put back as it is. */
static bool look_at_addresses(const struct node *n, const struct memory *memory, uint32_t ifindex,
			      struct given *g)
{
	char text[INET6_ADDRSTRLEN + 8], metric[16], scope[5];
	const struct ledger_entry *e;
	bool is_whole = true;
	size_t n_of;
	const struct address *of = node_addresses_of(n, ifindex, &n_of);

	FOREACH(a, of, n_of) {
		if (!(a->flags & IFA_F_PERMANENT) || ip_is_link_local(a->family, a->local))
			continue;
		ip_format(a->family, a->local, a->prefix_len, text, sizeof(text));
		PRINT(metric, "%" PRIu32, a->metric);
		PRINT(scope, ",%u", a->scope);
		e = memory_entry(memory, "set-metric", "", ifindex, text);
		if (!memory_entry(memory, "add-address", "", ifindex, text))
			is_whole &=
				memcmp(a->peer, a->local, sizeof(a->peer)) == 0 &&
				append_word(g->addresses, sizeof(g->addresses), " ", "%s,%s%s",
					    text, e && ledger_is_ours(e, metric) ? e->from : metric,
					    a->scope == RT_SCOPE_UNIVERSE ? "" : scope);
	}
	return is_whole;
}

/* False: one cannot be put back as it is. */
static bool look_at_routes(const struct node *n, uint32_t ifindex, struct given *g)
{
	char dst[INET6_ADDRSTRLEN + 8], gateway[INET6_ADDRSTRLEN], src[INET6_ADDRSTRLEN];
	bool is_whole = true;

	FOREACH(t, n->routes, n->n_routes) {
		if (t->ifindex != ifindex || t->type != RTN_UNICAST ||
		    t->protocol == RTPROT_KERNEL || t->protocol == RTPROT_RA ||
		    t->protocol == RTPROT_DHCP || t->protocol == OWN_PROTOCOL)
			continue;
		ip_format(t->family, t->dst, t->prefix_len, dst, sizeof(dst));
		ip_format(t->family, t->gateway, UINT32_MAX, gateway, sizeof(gateway));
		if (*t->via)
			COPY(gateway, t->via);
		ip_format(t->family, t->src, UINT32_MAX, src, sizeof(src));
		is_whole &= !t->has_more && !t->is_partial &&
			    append_word(g->routes, sizeof(g->routes), " ",
					"%s,%s,%" PRIu32 ",%" PRIu32 ",%u%s%s", dst, gateway,
					t->metric, t->table, t->protocol,
					is_zero(t->src) ? "" : ",", is_zero(t->src) ? "" : src);
	}
	return is_whole;
}

bool given_look(const struct node *n, const struct memory *memory, const struct pci *pci,
		const struct netdev *nd, struct given *ret)
{
	/* A PF of InfiniBand sets GUIDs and link alone: ipoib_netdev_ops_pf of ipoib_main.c. */
	const struct vf_info *v =
		node_is_infiniband(n, pci) ? NULL : node_vf_info(n, pci->physfn, pci->vf_index);
	struct given g = { .mtu = nd->mtu, .vlan = v ? v->vlan : -1, .trust = v ? v->trust : -1 };
	bool is_whole = true;

	COPY(g.name, nd->name);
	/* Only a MAC of Ethernet: that of IPoIB contains the number of a queue pair. */
	COPY(g.mac, strlen(nd->mac) == ETHERNET_MAC_CHARS ? nd->mac : "");
	COPY(g.altnames, nd->altnames);
	COPY(g.vf_mac, v ? v->mac : "");
	if (!pci->physfn[0]) {
		const struct netdev *vrf = route_vrf_of(n, nd);

		COPY(g.vrf, vrf ? vrf->name : "");
		is_whole = look_at_addresses(n, memory, nd->ifindex, &g);
		is_whole &= look_at_routes(n, nd->ifindex, &g);
	}
	*ret = g;
	return is_whole;
}

struct given given_in_pf(const struct given *g)
{
	struct given in_pf = { .vlan = g->vlan, .trust = g->trust };

	COPY(in_pf.vf_mac, g->vf_mac);
	return in_pf;
}

bool given_next_word(const char **list, char *ret, size_t size)
{
	const size_t blanks = strspn(*list, " \t"), len = strcspn(*list + blanks, " \t");

	snprintf(ret, size, "%.*s", (int)len, *list + blanks);
	*list += blanks + len;
	return len > 0;
}

bool given_has_word(const char *list, const char *word, const char *end)
{
	const size_t len = strcspn(word, end);
	char found[sizeof(((struct given *)0)->altnames)];

	while (given_next_word(&list, found, sizeof(found)))
		if (strcspn(found, end) == len && memcmp(found, word, len) == 0)
			return true;
	return false;
}

static bool has_words(const char *list, const char *words, const char *end)
{
	char word[sizeof(((struct given *)0)->altnames)];

	while (given_next_word(&words, word, sizeof(word)))
		if (!given_has_word(list, word, end))
			return false;
	return true;
}

/* The order does not count: a name that was removed and added again comes last. */
static bool has_same_words(const char *a, const char *b, const char *end)
{
	return has_words(a, b, end) && has_words(b, a, end);
}

bool given_is_same(const struct given *a, const struct given *b)
{
	return streq(a->name, b->name) && streq(a->mac, b->mac) && a->mtu == b->mtu &&
	       has_same_words(a->altnames, b->altnames, "") && streq(a->vf_mac, b->vf_mac) &&
	       a->vlan == b->vlan && a->trust == b->trust &&
	       has_same_words(a->addresses, b->addresses, GIVEN_ADDRESS_END) &&
	       has_same_words(a->routes, b->routes, "") && streq(a->vrf, b->vrf);
}

/* "10.0.0.2/24,0", "169.254.3.4/16,0,253" or "0.0.0.0/0,10.0.0.1,100,254,3": an address with its
 * length, and more. */
static bool parse_word(const char *word, int *ret_family, uint8_t ret[static 16],
		       char fields[][INET6_ADDRSTRLEN], size_t n_fields)
{
	for (size_t i = 0; i < n_fields; i++) {
		const size_t len = strcspn(word, i == 0 ? "/" : ",");

		snprintf(fields[i], INET6_ADDRSTRLEN, "%.*s", (int)len, word);
		if ((i + 1 < n_fields) != (word[len] != '\0'))
			return false;
		word += len + 1;
	}
	return ip_parse(fields[0], ret_family, ret);
}

static uint32_t number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

bool given_parse_address(const char *word, uint32_t ifindex, struct address *ret)
{
	struct address a = { .ifindex = ifindex };
	char fields[4][INET6_ADDRSTRLEN] = {};

	if (!parse_word(word, &a.family, a.local, fields, 4) &&
	    !parse_word(word, &a.family, a.local, fields, 3))
		return false;
	memcpy(a.peer, a.local, sizeof(a.peer));
	a.prefix_len = number(fields[1]);
	a.metric = number(fields[2]);
	a.scope = (uint8_t)number(fields[3]);
	*ret = a;
	return true;
}

bool given_parse_route(const char *word, uint32_t ifindex, struct route *ret)
{
	struct route t = { .ifindex = ifindex, .type = RTN_UNICAST };
	char fields[7][INET6_ADDRSTRLEN];
	const bool has_src = parse_word(word, &t.family, t.dst, fields, 7);
	int family, family_of_gateway;

	if (!(has_src || parse_word(word, &t.family, t.dst, fields, 6)) ||
	    !ip_parse(fields[2], &family_of_gateway, t.gateway) ||
	    (has_src && !ip_parse(fields[6], &family, t.src)))
		return false;
	if (family_of_gateway != t.family) {
		COPY(t.via, fields[2]);
		memset(t.gateway, 0, sizeof(t.gateway));
	}
	t.prefix_len = number(fields[1]);
	t.metric = number(fields[3]);
	t.table = number(fields[4]);
	t.protocol = (uint8_t)number(fields[5]);
	t.scope = t.family == AF_INET && is_zero(t.gateway) && !*t.via ? RT_SCOPE_LINK
								       : RT_SCOPE_UNIVERSE;
	*ret = t;
	return true;
}
