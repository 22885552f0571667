/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include "../model/action.h"
#include "nl.h"

#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <netinet/ether.h>

enum {                                     /* newer than the oldest headers */
	ATTR_IFLA_CARRIER_DOWN_COUNT = 48, /* 4.16 */
	ATTR_IFLA_PROP_LIST = 52,          /* 5.5 */
	ATTR_IFLA_ALT_IFNAME = 53,
	ATTR_IFLA_PERM_ADDRESS = 54,    /* 5.6 */
	ATTR_IFLA_TARGET_NETNSID = 46,  /* 4.20 */
	ATTR_IFLA_PARENT_DEV_NAME = 56, /* 5.14 */
	ATTR_IFLA_PARENT_DEV_BUS_NAME = 57,
	LINK_ATTR_MAX = ATTR_IFLA_PARENT_DEV_BUS_NAME,
	MESSAGE_NEWLINKPROP = 108, /* RTM_NEWLINKPROP */
	MESSAGE_DELLINKPROP = 109,
	ATTR_IFA_PROTO = 11,         /* 5.18 */
	CONF6_RA_DEFRTR_METRIC = 52, /* DEVCONF_RA_DEFRTR_METRIC, 5.12 */
};

#define NO_ID (-1) /* of a network namespace */

struct link_list {
	const int32_t *own;     /* NULL: of this namespace */
	struct netdev *netdevs; /* owned */
	size_t n;
	struct tunnel_end *ends; /* owned */
	size_t n_ends;
};

struct addresses {
	struct address *addresses; /* owned */
	size_t n;
};

static void links_done(struct link_list *l)
{
	free(l->netdevs);
	free(l->ends);
}

/* A name that is too long for an action, and what has no room, is left out. */
static void read_altnames(struct nlattr *list, char *ret, size_t size)
{
	struct nlattr *a;
	int rest;

	if (!list)
		return;
	nla_for_each_nested(a, list, rest) {
		char name[SHOWN_LEN + 1];

		if (nla_type(a) != ATTR_IFLA_ALT_IFNAME)
			continue;
		nla_strlcpy(name, a, sizeof(name));
		if (strlen(name) < SHOWN_LEN && !strchr(name, ' '))
			append_word(ret, size, " ", "%s", name);
	}
}

#define IPTUN IFLA_IPTUN_LINK, IFLA_IPTUN_FWMARK, IFLA_IPTUN_REMOTE, IFLA_IPTUN_LOCAL
#define GRE   IFLA_GRE_LINK, IFLA_GRE_FWMARK, IFLA_GRE_REMOTE, IFLA_GRE_LOCAL
#define VTI   IFLA_VTI_LINK, IFLA_VTI_FWMARK, IFLA_VTI_REMOTE, IFLA_VTI_LOCAL

/* Attributes of IFLA_INFO_DATA; 0: the kind has none. A kind of both families has two rows. */
static const struct tunnel_kind {
	const char *kind;
	int family, link, mark, remote, local;
} tunnel_kinds[] = {
	{ "ipip", AF_INET, IPTUN },
	{ "sit", AF_INET, IPTUN },
	{ "ip6tnl", AF_INET6, IPTUN },
	{ "gre", AF_INET, GRE },
	{ "gretap", AF_INET, GRE },
	{ "erspan", AF_INET, GRE },
	{ "ip6gre", AF_INET6, GRE },
	{ "ip6gretap", AF_INET6, GRE },
	{ "ip6erspan", AF_INET6, GRE },
	{ "vti", AF_INET, VTI },
	{ "vti6", AF_INET6, VTI },
	{ "vxlan", AF_INET, IFLA_VXLAN_LINK, 0, IFLA_VXLAN_GROUP, IFLA_VXLAN_LOCAL },
	{ "vxlan", AF_INET6, IFLA_VXLAN_LINK, 0, IFLA_VXLAN_GROUP6, IFLA_VXLAN_LOCAL6 },
	{ "geneve", AF_INET, 0, 0, IFLA_GENEVE_REMOTE, 0 },
	{ "geneve", AF_INET6, 0, 0, IFLA_GENEVE_REMOTE6, 0 },
};

/* False: it is not told, zero or multicast. */
static bool read_end(const struct nlattr *data, int attribute, int family, uint8_t ret[16])
{
	const struct nlattr *a =
		attribute ? nla_find(nla_data(data), nla_len(data), attribute) : NULL;
	uint8_t bytes[16] = {};

	if (!a || (size_t)nla_len(a) != address_bytes(family))
		return false;
	memcpy(bytes, nla_data(a), address_bytes(family));
	if (is_zero(bytes) || (family == AF_INET ? bytes[0] >> 4 == 14 : bytes[0] == 0xff))
		return false;
	memcpy(ret, bytes, sizeof(bytes));
	return true;
}

static uint32_t find_u32(const struct nlattr *data, int attribute)
{
	const struct nlattr *a =
		data && attribute ? nla_find(nla_data(data), nla_len(data), attribute) : NULL;

	return a && nla_len(a) == sizeof(uint32_t) ? nla_get_u32(a) : 0;
}

static int add_end(const struct tunnel_kind *k, const struct nlattr *data, const struct netdev *d,
		   struct link_list *links)
{
	struct tunnel_end end = { .ifindex = d->ifindex,
				  .family = k->family,
				  .mark = find_u32(data, k->mark) };
	const bool has_remote = read_end(data, k->remote, k->family, end.remote),
		   has_local = read_end(data, k->local, k->family, end.local);

	return has_remote || has_local ? ADD(links->ends, links->n_ends, end) : 0;
}

/* A link that the kernel names is what counts; a VXLAN's stands among its own attributes alone. */
static int read_tunnel(const struct nlattr *data, struct netdev *d, struct link_list *links)
{
	int r = 0;

	FOREACH_WHILE(k, tunnel_kinds, ELEMENTSOF(tunnel_kinds), r >= 0) {
		if (!streq(d->kind, k->kind))
			continue;
		if (!d->link)
			d->link = find_u32(data, k->link);
		r = links ? add_end(k, data, d, links) : 0;
	}
	return MIN(r, 0);
}

static int read_bond_mode(const struct nlattr *data)
{
	const struct nlattr *a = nla_find(nla_data(data), nla_len(data), IFLA_BOND_MODE);

	return a && nla_len(a) == sizeof(uint8_t) ? nla_get_u8(a) : BOND_MODE_UNKNOWN;
}

/* @is_here: its link, if any, is in this namespace */
static int read_kind(struct nlattr *linkinfo, bool is_here, struct netdev *d,
		     struct link_list *links)
{
	struct nlattr *tb[IFLA_INFO_MAX + 1], *data;

	d->bond_mode = BOND_MODE_UNKNOWN;
	if (!linkinfo || nla_parse_nested(tb, IFLA_INFO_MAX, linkinfo, NULL) < 0 ||
	    !tb[IFLA_INFO_KIND])
		return 0;

	nla_strlcpy(d->kind, tb[IFLA_INFO_KIND], sizeof(d->kind));
	data = tb[IFLA_INFO_DATA];
	if (!data)
		return 0;
	if (streq(d->kind, "bond"))
		d->bond_mode = read_bond_mode(data);
	if (streq(d->kind, "vrf"))
		d->vrf_table = find_u32(data, IFLA_VRF_TABLE);
	return is_here ? read_tunnel(data, d, links) : 0;
}

/* The kernel's own arrays: an older one has fewer values. */
static void read_conf(const struct nlattr *a, size_t index, enum netconf_key key,
		      struct netconf *ret)
{
	if (!a || (size_t)nla_len(a) < (index + 1) * sizeof(int32_t))
		return;
	memcpy(&ret->values[key], (const char *)nla_data(a) + index * sizeof(int32_t),
	       sizeof(int32_t));
	ret->known |= 1u << key;
}

/* Source: inet_fill_link_af() in net/ipv4/devinet.c, ipv6_store_devconf() in net/ipv6/addrconf.c */
static void read_family(struct nlattr *spec, struct netdev *ret)
{
	static const struct {
		int family, attribute;
		size_t index;
		enum netconf_key key;
	} values[] = {
		{ AF_INET, IFLA_INET_CONF, IPV4_DEVCONF_ARP_IGNORE - 1, NETCONF_ARP_IGNORE },
		{ AF_INET, IFLA_INET_CONF, IPV4_DEVCONF_ARP_ANNOUNCE - 1, NETCONF_ARP_ANNOUNCE },
		{ AF_INET, IFLA_INET_CONF, IPV4_DEVCONF_RP_FILTER - 1, NETCONF_RP_FILTER },
		{ AF_INET6, IFLA_INET6_CONF, DEVCONF_DISABLE_IPV6, NETCONF_DISABLE_IPV6 },
		{ AF_INET6, IFLA_INET6_CONF, DEVCONF_ACCEPT_RA, NETCONF_ACCEPT_RA },
		{ AF_INET6, IFLA_INET6_CONF, DEVCONF_ACCEPT_RA_DEFRTR, NETCONF_ACCEPT_RA_DEFRTR },
		{ AF_INET6, IFLA_INET6_CONF, DEVCONF_ACCEPT_RA_PINFO, NETCONF_ACCEPT_RA_PINFO },
		{ AF_INET6, IFLA_INET6_CONF, DEVCONF_AUTOCONF, NETCONF_AUTOCONF },
		{ AF_INET6, IFLA_INET6_CONF, DEVCONF_ADDR_GEN_MODE, NETCONF_ADDR_GEN_MODE },
		{ AF_INET6, IFLA_INET6_CONF, DEVCONF_USE_TEMPADDR, NETCONF_USE_TEMPADDR },
		{ AF_INET6, IFLA_INET6_CONF, CONF6_RA_DEFRTR_METRIC, NETCONF_RA_DEFRTR_METRIC },
	};
	struct nlattr *families[AF_INET6 + 1];

	if (!spec || nla_parse_nested(families, AF_INET6, spec, NULL) < 0)
		return;

	for (size_t i = 0; i < ELEMENTSOF(values); i++) {
		struct nlattr *family = families[values[i].family];

		if (family)
			read_conf(nla_find(nla_data(family), nla_len(family), values[i].attribute),
				  values[i].index, values[i].key, &ret->conf);
	}
	ret->inet6_flags = find_u32(families[AF_INET6], IFLA_INET6_FLAGS);
}

/* Sysfs shows no function of a netdev in another namespace. */
static void read_function(const struct nlattr *name, const struct nlattr *bus, struct netdev *d)
{
	char parent[32] = "", kind[16] = "";

	if (name && bus) {
		nla_strlcpy(parent, name, sizeof(parent));
		nla_strlcpy(kind, bus, sizeof(kind));
	}
	if (!streq(kind, "pci") || !COPY(d->pci, parent))
		d->pci[0] = '\0';
}

/* With a netns ID the index is one of that namespace, and means nothing in the netdev's own. */
static void read_link(struct nlattr *const *tb, const int32_t *own, struct netdev *d)
{
	const uint32_t link = get_u32(tb[IFLA_LINK], 0);
	const struct nlattr *id = tb[IFLA_LINK_NETNSID];

	d->is_link_here = id && own && *own >= 0 && nla_get_s32(id) == *own;
	if (d->is_link_here || (!id && link != d->ifindex))
		d->link = link;
}

int link_parse(struct nlmsghdr *h, const int32_t *own, struct netdev *ret, struct link_list *links)
{
	static const struct nla_policy policy[LINK_ATTR_MAX + 1] = {
		[IFLA_IFNAME] = { .type = NLA_STRING },
		[IFLA_MTU] = { .type = NLA_U32 },
		[IFLA_MAX_MTU] = { .type = NLA_U32 },
		[IFLA_MASTER] = { .type = NLA_U32 },
		[IFLA_LINK] = { .type = NLA_U32 },
		[IFLA_LINK_NETNSID] = { .type = NLA_S32 },
		[IFLA_LINKINFO] = { .type = NLA_NESTED },
		[IFLA_PHYS_PORT_NAME] = { .type = NLA_STRING },
		[ATTR_IFLA_CARRIER_DOWN_COUNT] = { .type = NLA_U32 },
		[ATTR_IFLA_PARENT_DEV_NAME] = { .type = NLA_STRING },
		[ATTR_IFLA_PARENT_DEV_BUS_NAME] = { .type = NLA_STRING },
	};
	struct nlattr *tb[LINK_ATTR_MAX + 1];
	const struct ifinfomsg *i;
	struct netdev d = {};
	int r;

	if (nlmsg_parse(h, sizeof(*i), tb, LINK_ATTR_MAX, policy) < 0 || !tb[IFLA_IFNAME])
		return -EBADMSG;
	if (own && !tb[ATTR_IFLA_TARGET_NETNSID]) /* it did not understand: these are our own */
		return -EOPNOTSUPP;

	i = nlmsg_data(h);
	d.ifindex = i->ifi_index;
	d.is_up = i->ifi_flags & IFF_UP;
	d.has_carrier = i->ifi_flags & IFF_LOWER_UP;
	nla_strlcpy(d.name, tb[IFLA_IFNAME], sizeof(d.name));
	format_mac(tb[IFLA_ADDRESS], d.mac, sizeof(d.mac));
	format_mac(tb[ATTR_IFLA_PERM_ADDRESS], d.perm_mac, sizeof(d.perm_mac));
	if (tb[IFLA_PHYS_PORT_NAME])
		nla_strlcpy(d.port_name, tb[IFLA_PHYS_PORT_NAME], sizeof(d.port_name));
	read_altnames(tb[ATTR_IFLA_PROP_LIST], d.altnames, sizeof(d.altnames));
	read_family(tb[IFLA_AF_SPEC], &d);
	d.mtu = get_u32(tb[IFLA_MTU], 0);
	d.max_mtu = get_u32(tb[IFLA_MAX_MTU], 0);
	d.carrier_downs = get_u32(tb[ATTR_IFLA_CARRIER_DOWN_COUNT], 0);
	d.master = get_u32(tb[IFLA_MASTER], 0);
	read_link(tb, own, &d);
	r = read_kind(tb[IFLA_LINKINFO], !tb[IFLA_LINK_NETNSID], &d, links);
	if (r < 0)
		return r;
	if (own)
		read_function(tb[ATTR_IFLA_PARENT_DEV_NAME], tb[ATTR_IFLA_PARENT_DEV_BUS_NAME], &d);
	*ret = d;
	return 0;
}

static int on_link(struct nlmsghdr *h, void *userdata)
{
	struct link_list *links = userdata;
	struct netdev d;
	int r;

	if (h->nlmsg_type != RTM_NEWLINK)
		return 0;
	if (links->n == 0) /* the dump may be asked for again */
		links->n_ends = 0;
	r = link_parse(h, links->own, &d, links->own ? NULL : links);
	if (r < 0)
		return r;
	return ADD(links->netdevs, links->n, d);
}

static int compare_end(const void *a, const void *b)
{
	const struct tunnel_end *x = a, *y = b;

	return x->ifindex != y->ifindex ? compare_u32(&x->ifindex, &y->ifindex)
					: memcmp(x->remote, y->remote, sizeof(x->remote));
}

/* Without RTEXT_FILTER_VF: with it mlx5 asks its firmware about each VF, one after the other. */
static int list(struct netlink *nl, const int32_t *id, const int32_t *own, struct netdev **ret,
		size_t *ret_n, struct tunnel_end **ret_ends, size_t *ret_n_ends)
{
	_cleanup_(links_done) struct link_list links = { .own = own };
	struct ifinfomsg i = { .ifi_family = AF_UNSPEC };
	struct nl_msg *m = netlink_make(RTM_GETLINK, NLM_F_DUMP, &i, sizeof(i));
	int r;

	m = put_u32(m, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	if (id)
		m = put_u32(m, ATTR_IFLA_TARGET_NETNSID, (uint32_t)*id);
	r = netlink_list(nl, m, on_link, &links, &links.n);
	if (r < 0)
		return r;

	SORT(links.netdevs, links.n, compare_u32);
	SORT(links.ends, links.n_ends, compare_end);
	*ret = TAKE(links.netdevs);
	*ret_n = links.n;
	if (ret_ends) {
		*ret_ends = TAKE(links.ends);
		*ret_n_ends = links.n_ends;
	}
	return 0;
}

int link_list(struct netlink *nl, struct netdev **ret, size_t *ret_n, struct tunnel_end **ret_ends,
	      size_t *ret_n_ends)
{
	return list(nl, NULL, NULL, ret, ret_n, ret_ends, ret_n_ends);
}

/* --- other network namespaces --- */

static int on_id(struct nlmsghdr *h, void *userdata)
{
	static const struct nla_policy policy[NETNSA_NSID + 1] = {
		[NETNSA_NSID] = { .type = NLA_S32 },
	};
	struct nlattr *tb[NETNSA_NSID + 1];

	if (h->nlmsg_type != RTM_NEWNSID)
		return 0;
	if (nlmsg_parse(h, sizeof(struct rtgenmsg), tb, NETNSA_NSID, policy) < 0 ||
	    !tb[NETNSA_NSID])
		return -EBADMSG;
	*(int32_t *)userdata = nla_get_s32(tb[NETNSA_NSID]);
	return 0;
}

/* @fd: -EBADF means the namespace of this process. */
static struct nl_msg *make_request(int type, int fd)
{
	struct rtgenmsg g = { .rtgen_family = AF_UNSPEC };
	struct nl_msg *m = netlink_make(type, 0, &g, sizeof(g));

	return put_u32(m, fd < 0 ? NETNSA_PID : NETNSA_FD, (uint32_t)(fd < 0 ? getpid() : fd));
}

static int get_id(struct netlink *nl, int fd, int32_t *ret)
{
	*ret = NO_ID;
	return netlink_dump(nl, make_request(RTM_GETNSID, fd), on_id, ret);
}

static int give_id(struct netlink *nl, int fd)
{
	struct nl_msg *m = make_request(RTM_NEWNSID, fd);
	int r = netlink_ask(nl, put_u32(m, NETNSA_NSID, (uint32_t)NO_ID)); /* any */

	return r == -EEXIST ? 0 : r; /* another program was faster */
}

int link_get_netns_id(struct netlink *nl, int fd, int32_t *ret)
{
	int r = get_id(nl, fd, ret);

	if (r < 0 || *ret != NO_ID)
		return r;
	r = give_id(nl, fd);
	if (r >= 0)
		r = get_id(nl, fd, ret);
	return r >= 0 && *ret == NO_ID ? -ESRCH : r;
}

int link_list_of(struct netlink *nl, int fd, int32_t own, struct netdev **ret, size_t *ret_n)
{
	int32_t id;
	int r = link_get_netns_id(nl, fd, &id);

	return r < 0 ? r : list(nl, &id, &own, ret, ret_n, NULL, NULL);
}

/* --- addresses --- */

/* Return: 1 when it is an address of ours to look at, 0 when not, or -EBADMSG. */
static int parse_address(struct nlmsghdr *h, struct nlattr *tb[static ATTR_IFA_PROTO + 1],
			 struct address *ret)
{
	static const struct nla_policy policy[ATTR_IFA_PROTO + 1] = {
		[IFA_FLAGS] = { .type = NLA_U32 },
		[IFA_RT_PRIORITY] = { .type = NLA_U32 },
	};
	const struct nlattr *local, *peer;
	const struct ifaddrmsg *i;
	int bytes;

	if (h->nlmsg_type != RTM_NEWADDR)
		return 0;
	if (nlmsg_parse(h, sizeof(*i), tb, ATTR_IFA_PROTO, policy) < 0)
		return -EBADMSG;

	i = nlmsg_data(h);
	if (i->ifa_family != AF_INET && i->ifa_family != AF_INET6)
		return 0;

	/* IPv6 names the address itself IFA_ADDRESS, unless it has a peer. */
	local = tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS];
	peer = tb[IFA_ADDRESS] ? tb[IFA_ADDRESS] : tb[IFA_LOCAL];
	bytes = (int)address_bytes(i->ifa_family);
	if (!local || nla_len(local) != bytes || nla_len(peer) != bytes)
		return -EBADMSG;

	*ret = (struct address){
		.ifindex = i->ifa_index,
		.family = i->ifa_family,
		.prefix_len = i->ifa_prefixlen,
		.scope = i->ifa_scope,
		.metric = get_u32(tb[IFA_RT_PRIORITY], 0),
		.flags = get_u32(tb[IFA_FLAGS], i->ifa_flags),
	};
	memcpy(ret->local, nla_data(local), bytes);
	memcpy(ret->peer, nla_data(peer), bytes);
	return 1;
}

static int on_address(struct nlmsghdr *h, void *userdata)
{
	struct nlattr *tb[ATTR_IFA_PROTO + 1];
	struct addresses *list = userdata;
	struct address a;
	int r = parse_address(h, tb, &a);

	return r <= 0 ? r : ADD(list->addresses, list->n, a);
}

int link_list_addresses(struct netlink *nl, struct address **ret, size_t *ret_n)
{
	_owns_(struct addresses, addresses) list = {};
	const struct ifaddrmsg i = { .ifa_family = AF_UNSPEC };
	struct nl_msg *m = netlink_make(RTM_GETADDR, NLM_F_DUMP, &i, sizeof(i));
	int r = netlink_list(nl, m, on_address, &list, &list.n);

	node_sort_addresses(list.addresses, list.n);
	return TAKE_LIST(r, list.addresses, list.n, ret, ret_n);
}

/* --- changes --- */

/* RTM_SETLINK, unlike RTM_NEWLINK, can never make a link. */
static struct nl_msg *set_link(uint32_t ifindex, unsigned flags, unsigned change)
{
	const struct ifinfomsg i = { .ifi_index = (int)ifindex,
				     .ifi_flags = flags,
				     .ifi_change = change };

	return netlink_make(RTM_SETLINK, 0, &i, sizeof(i));
}

int link_set_up(struct netlink *nl, uint32_t ifindex)
{
	return netlink_ask(nl, set_link(ifindex, IFF_UP, IFF_UP));
}

int link_set_down(struct netlink *nl, uint32_t ifindex)
{
	return netlink_ask(nl, set_link(ifindex, 0, IFF_UP));
}

int link_sync(struct netlink *nl, uint32_t ifindex)
{
	return netlink_ask(nl, set_link(ifindex, 0, 0));
}

static int set_attribute(struct netlink *nl, uint32_t ifindex, int type, const void *data,
			 size_t size)
{
	return netlink_ask(nl, netlink_put(set_link(ifindex, 0, 0), type, data, size));
}

int link_set_mtu(struct netlink *nl, uint32_t ifindex, uint32_t mtu)
{
	return set_attribute(nl, ifindex, IFLA_MTU, &mtu, sizeof(mtu));
}

int link_set_mac(struct netlink *nl, uint32_t ifindex, const char *mac)
{
	struct ether_addr bytes;

	if (!ether_aton_r(mac, &bytes))
		return -EINVAL;
	return set_attribute(nl, ifindex, IFLA_ADDRESS, &bytes, sizeof(bytes));
}

int link_set_name(struct netlink *nl, uint32_t ifindex, const char *name)
{
	return set_attribute(nl, ifindex, IFLA_IFNAME, name, strlen(name) + 1);
}

int link_change_altname(struct netlink *nl, uint32_t ifindex, const char *name, bool is_added)
{
	const struct ifinfomsg i = { .ifi_index = (int)ifindex };
	_cleanup_(nlmsg_freep) struct nl_msg *m = netlink_make(
		is_added ? MESSAGE_NEWLINKPROP : MESSAGE_DELLINKPROP,
		is_added ? NLM_F_CREATE | NLM_F_EXCL | NLM_F_APPEND : 0, &i, sizeof(i));
	struct nlattr *list = m ? nla_nest_start(m, ATTR_IFLA_PROP_LIST) : NULL;

	if (!list || nla_put_string(m, ATTR_IFLA_ALT_IFNAME, name) < 0)
		return -ENOMEM;
	nla_nest_end(m, list);

	return netlink_ask(nl, TAKE(m));
}

/* An address found again, and the request made of it. */
struct link_change {
	const struct address *wanted;
	uint32_t metric;
	struct nl_msg *request; /* owned */
	size_t n;               /* 0: the address was not found */
};

static void change_done(struct link_change *c)
{
	nlmsg_free(c->request);
}

static bool is_same(const struct address *a, const struct address *b)
{
	return a->family == b->family && a->ifindex == b->ifindex &&
	       a->prefix_len == b->prefix_len &&
	       memcmp(a->local, b->local, sizeof(a->local)) == 0 &&
	       memcmp(a->peer, b->peer, sizeof(a->peer)) == 0;
}

static struct nl_msg *make_change(const struct address *a, uint32_t metric,
				  struct nlattr *tb[static ATTR_IFA_PROTO + 1])
{
	static const int kept[] = { IFA_LOCAL, IFA_ADDRESS,   IFA_BROADCAST,
				    IFA_LABEL, IFA_CACHEINFO, ATTR_IFA_PROTO };
	/* All others are the kernel's: it would clear these if they were not sent again. */
	uint32_t flags = a->flags & (IFA_F_NODAD | IFA_F_HOMEADDRESS | IFA_F_MANAGETEMPADDR |
				     IFA_F_NOPREFIXROUTE | IFA_F_MCAUTOJOIN);
	struct ifaddrmsg i = {
		.ifa_family = a->family,
		.ifa_prefixlen = a->prefix_len,
		.ifa_flags = flags & 0xff,
		.ifa_scope = a->scope,
		.ifa_index = a->ifindex,
	};
	struct nl_msg *m = netlink_make(RTM_NEWADDR, NLM_F_REPLACE, &i, sizeof(i));

	for (size_t k = 0; k < ELEMENTSOF(kept); k++)
		if (tb[kept[k]])
			m = netlink_put(m, kept[k], nla_data(tb[kept[k]]),
					(size_t)nla_len(tb[kept[k]]));
	return put_u32(put_u32(m, IFA_FLAGS, flags), IFA_RT_PRIORITY, metric);
}

static int on_address_to_change(struct nlmsghdr *h, void *userdata)
{
	struct nlattr *tb[ATTR_IFA_PROTO + 1];
	struct link_change *c = userdata;
	struct address a;
	int r = parse_address(h, tb, &a);

	if (r <= 0)
		return r;
	if (c->n > 0 || !is_same(&a, c->wanted))
		return 0;
	if (a.family == AF_INET6 && !(a.flags & IFA_F_PERMANENT))
		return -EOPNOTSUPP;

	nlmsg_free(c->request);
	c->request = make_change(&a, c->metric, tb);
	c->n = 1;
	return c->request ? 0 : -ENOMEM;
}

/*
 * An address deleted between the two requests would come back by the second: the kernel knows no
 * "only if it is there" (it ignores the absence of NLM_F_CREATE). Nothing is done in between.
 */
int link_set_metric(struct netlink *nl, const struct address *address, uint32_t metric)
{
	_cleanup_(change_done) struct link_change c = { .wanted = address, .metric = metric };
	const struct ifaddrmsg i = { .ifa_family = address->family };
	struct nl_msg *m = netlink_make(RTM_GETADDR, NLM_F_DUMP, &i, sizeof(i));
	int r = netlink_list(nl, m, on_address_to_change, &c, &c.n);

	if (r < 0)
		return r;
	if (c.n == 0)
		return -EADDRNOTAVAIL;

	return netlink_ask(nl, TAKE(c.request));
}

static struct nl_msg *make_address(int request, int flags, const struct address *a)
{
	struct ifaddrmsg i = { .ifa_family = a->family,
			       .ifa_prefixlen = a->prefix_len,
			       .ifa_scope = a->scope,
			       .ifa_index = a->ifindex };
	struct nl_msg *m = netlink_make(request, flags, &i, sizeof(i));
	const size_t bytes = address_bytes(a->family);

	m = netlink_put(m, IFA_LOCAL, a->local, bytes);
	return netlink_put(m, IFA_ADDRESS, a->local, bytes);
}

/* All ones behind the prefix, as "ip address add ... brd +" and DHCP clients have it. */
static struct nl_msg *put_broadcast(struct nl_msg *m, const struct address *a)
{
	uint8_t bytes[4];

	if (a->family != AF_INET || a->prefix_len >= 31)
		return m;
	memcpy(bytes, a->local, sizeof(bytes));
	for (uint32_t bit = a->prefix_len; bit < 32; bit++)
		bytes[bit / 8] |= 0x80 >> bit % 8;
	return netlink_put(m, IFA_BROADCAST, bytes, sizeof(bytes));
}

int link_add_address(struct netlink *nl, const struct address *a)
{
	struct nl_msg *m = make_address(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, a);

	m = put_u32(put_broadcast(m, a), IFA_RT_PRIORITY, a->metric);
	return netlink_ask(nl, put_u8(m, ATTR_IFA_PROTO, OWN_PROTOCOL));
}

int link_remove_address(struct netlink *nl, const struct address *a)
{
	int r = netlink_ask(nl, make_address(RTM_DELADDR, 0, a));

	return r == -EADDRNOTAVAIL || r == -ENODEV ? 0 : r;
}
