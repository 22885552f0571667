/* SPDX-License-Identifier: Apache-2.0 */
#include "vf.h"

#include "nl.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netinet/ether.h>

#define VLAN_PRIORITY 4096 /* what comes before the number */

static void format_guid(uint64_t guid, char *ret, size_t size)
{
	snprintf(ret, size, "%04x:%04x:%04x:%04x", (unsigned)(guid >> 48),
		 (unsigned)(guid >> 32 & 0xffff), (unsigned)(guid >> 16 & 0xffff),
		 (unsigned)(guid & 0xffff));
}

/* The kernel sends -1 for a setting that a driver does not tell: rtnl_fill_vfinfo(). */
static int told(uint32_t value)
{
	return value > INT32_MAX ? -1 : (int)value;
}

static int parse_vf(struct nlattr *info, struct vf_info *ret)
{
	struct nlattr *tb[IFLA_VF_MAX + 1];
	struct vf_info v = { .vlan = -1, .trust = -1, .link_state = -1 };
	struct ifla_vf_link_state state;
	struct ifla_vf_trust trust;
	struct ifla_vf_vlan vlan;
	struct ifla_vf_guid guid;
	struct ifla_vf_mac mac;

	if (nla_parse_nested(tb, IFLA_VF_MAX, info, NULL) < 0 || !GET(tb[IFLA_VF_MAC], &mac))
		return -EBADMSG;

	v.index = mac.vf;
	PRINT(v.mac, "%02x:%02x:%02x:%02x:%02x:%02x", mac.mac[0], mac.mac[1], mac.mac[2],
	      mac.mac[3], mac.mac[4], mac.mac[5]);
	if (GET(tb[IFLA_VF_VLAN], &vlan))
		v.vlan = (int)((vlan.vlan & (VLAN_PRIORITY - 1)) + (vlan.qos & 7) * VLAN_PRIORITY);
	if (GET(tb[IFLA_VF_TRUST], &trust))
		v.trust = told(trust.setting);
	if (GET(tb[IFLA_VF_LINK_STATE], &state))
		v.link_state = told(state.link_state);
	if (GET(tb[IFLA_VF_IB_NODE_GUID], &guid))
		format_guid(guid.guid, v.node_guid, sizeof(v.node_guid));
	if (GET(tb[IFLA_VF_IB_PORT_GUID], &guid))
		format_guid(guid.guid, v.port_guid, sizeof(v.port_guid));
	*ret = v;
	return 0;
}

int vf_on_link(struct nlmsghdr *h, void *userdata)
{
	struct nlattr *tb[IFLA_MAX + 1], *info;
	struct vf_infos *list = userdata;
	int rest, r;

	if (h->nlmsg_type != RTM_NEWLINK)
		return 0;
	if (nlmsg_parse(h, sizeof(struct ifinfomsg), tb, IFLA_MAX, NULL) < 0)
		return -EBADMSG;
	if (!tb[IFLA_VFINFO_LIST])
		return 0;

	nla_for_each_nested(info, tb[IFLA_VFINFO_LIST], rest) {
		struct vf_info parsed;

		if (nla_type(info) != IFLA_VF_INFO)
			continue;
		r = parse_vf(info, &parsed);
		if (r < 0)
			return r;
		if (ADD(list->infos, list->n, parsed) < 0)
			return -ENOMEM;
	}
	return 0;
}

int vf_list(struct netlink *nl, uint32_t ifindex, struct vf_info **ret, size_t *ret_n)
{
	_owns_(struct vf_infos, infos) list = {};
	struct ifinfomsg i = { .ifi_family = AF_UNSPEC, .ifi_index = (int)ifindex };
	struct nl_msg *m = netlink_make(RTM_GETLINK, 0, &i, sizeof(i));
	int r;

	m = put_u32(m, IFLA_EXT_MASK, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
	r = netlink_dump(nl, m, vf_on_link, &list);
	SORT(list.infos, list.n, vf_info_compare);
	return TAKE_LIST(r, list.infos, list.n, ret, ret_n);
}

/* Sends one setting of one VF in a request of its own, so that each has its own answer. */
static int set(struct netlink *nl, uint32_t ifindex, int type, const void *data, size_t size)
{
	struct ifinfomsg i = { .ifi_family = AF_UNSPEC, .ifi_index = (int)ifindex };
	_cleanup_(nlmsg_freep) struct nl_msg *m = netlink_make(RTM_SETLINK, 0, &i, sizeof(i));
	struct nlattr *list = m ? nla_nest_start(m, IFLA_VFINFO_LIST) : NULL, *info;

	info = list ? nla_nest_start(m, IFLA_VF_INFO) : NULL;
	if (!info || nla_put(m, type, (int)size, data) < 0)
		return -ENOMEM;
	nla_nest_end(m, info);
	nla_nest_end(m, list);

	return netlink_ask(nl, TAKE(m));
}

int vf_set_mac(struct netlink *nl, uint32_t ifindex, uint32_t vf, const char *mac)
{
	struct ifla_vf_mac m = { .vf = vf };
	struct ether_addr bytes;

	if (!ether_aton_r(mac, &bytes))
		return -EINVAL;
	memcpy(m.mac, bytes.ether_addr_octet, sizeof(bytes.ether_addr_octet));
	return set(nl, ifindex, IFLA_VF_MAC, &m, sizeof(m));
}

int vf_set_vlan(struct netlink *nl, uint32_t ifindex, uint32_t vf, uint32_t vlan)
{
	struct ifla_vf_vlan v = { .vf = vf,
				  .vlan = vlan % VLAN_PRIORITY,
				  .qos = vlan / VLAN_PRIORITY };

	return set(nl, ifindex, IFLA_VF_VLAN, &v, sizeof(v));
}

int vf_set_trust(struct netlink *nl, uint32_t ifindex, uint32_t vf, bool is_trusted)
{
	struct ifla_vf_trust t = { .vf = vf, .setting = is_trusted };

	return set(nl, ifindex, IFLA_VF_TRUST, &t, sizeof(t));
}

int vf_set_link_auto(struct netlink *nl, uint32_t ifindex, uint32_t vf)
{
	struct ifla_vf_link_state s = { .vf = vf, .link_state = IFLA_VF_LINK_STATE_AUTO };

	return set(nl, ifindex, IFLA_VF_LINK_STATE, &s, sizeof(s));
}

/* "0200:00ff:fe00:0010"; the kernel wants it as a number of the host. */
static int parse_guid(const char *text, uint64_t *ret)
{
	uint64_t guid = 0;

	for (int i = 0; i < 4; i++) {
		char *end;
		unsigned long group = strtoul(text, &end, 16);

		if (end == text || end - text > 4 || *end != (i < 3 ? ':' : '\0'))
			return -EINVAL;
		guid = guid << 16 | group;
		text = end + 1;
	}

	*ret = guid;
	return 0;
}

static int set_guid(struct netlink *nl, uint32_t ifindex, uint32_t vf, int type, const char *text)
{
	struct ifla_vf_guid g = { .vf = vf };
	uint64_t guid;
	int r = parse_guid(text, &guid);

	if (r < 0)
		return r;
	g.guid = guid;
	return set(nl, ifindex, type, &g, sizeof(g));
}

int vf_set_guids(struct netlink *nl, uint32_t ifindex, uint32_t vf, const char *node,
		 const char *port)
{
	int r = set_guid(nl, ifindex, vf, IFLA_VF_IB_NODE_GUID, node);

	return r < 0 ? r : set_guid(nl, ifindex, vf, IFLA_VF_IB_PORT_GUID, port);
}
