/* SPDX-License-Identifier: Apache-2.0 */
#include "ethtool.h"

#include "nl.h"

#include <linux/ethtool_netlink.h>

int ethtool_on_link(struct nlmsghdr *h, void *userdata)
{
	/* enum ethtool_link_ext_state of include/uapi/linux/ethtool.h, in its order */
	static const char *const names[] = {
		"autoneg",
		"link-training-failure",
		"link-logical-mismatch",
		"bad-signal-integrity",
		LINK_NO_CABLE,
		"cable-issue",
		"eeprom-issue",
		"calibration-failure",
		"power-budget-exceeded",
		"overheat",
		"module",
	};
	static const struct nla_policy policy[ETHTOOL_A_LINKSTATE_MAX + 1] = {
		[ETHTOOL_A_LINKSTATE_EXT_STATE] = { .type = NLA_U8 },
	};
	struct nlattr *tb[ETHTOOL_A_LINKSTATE_MAX + 1];
	struct netdev *nd = userdata;
	uint8_t state;

	if (genlmsg_parse(h, 0, tb, ETHTOOL_A_LINKSTATE_MAX, policy) < 0)
		return -EBADMSG;
	if (!tb[ETHTOOL_A_LINKSTATE_EXT_STATE])
		return 0;
	state = nla_get_u8(tb[ETHTOOL_A_LINKSTATE_EXT_STATE]);
	if (state < ELEMENTSOF(names))
		COPY(nd->link_state, names[state]);
	else
		PRINT(nd->link_state, "state-%u", state);
	return 0;
}

static int read_link(struct netlink *nl, uint16_t family, struct netdev *nd)
{
	_cleanup_(nlmsg_freep) struct nl_msg *m =
		netlink_request(family, ETHTOOL_MSG_LINKSTATE_GET, ETHTOOL_GENL_VERSION, 0);
	struct nlattr *header =
		m ? nla_nest_start(m, ETHTOOL_A_LINKSTATE_HEADER | NLA_F_NESTED) : NULL;

	if (!header || nla_put_u32(m, ETHTOOL_A_HEADER_DEV_INDEX, nd->ifindex) < 0)
		return -ENOMEM;
	nla_nest_end(m, header);
	return netlink_dump(nl, TAKE(m), ethtool_on_link, nd);
}

static bool is_asked(const struct node *n, const struct netdev *nd)
{
	const struct pci *pci = nd->is_up && !nd->has_carrier ? node_pci(n, nd->pci) : NULL;

	return pci && !pci->physfn[0];
}

int ethtool_read(struct netlink *nl, const struct node *n, struct netdev *netdevs, size_t n_netdevs)
{
	uint16_t family = 0;
	int r = 0;

	for (size_t i = 0; i < n_netdevs && r != -ENOMEM; i++) {
		if (!is_asked(n, &netdevs[i]))
			continue;
		if (family == 0)
			r = netlink_find_family(nl, ETHTOOL_GENL_NAME, &family);
		if (family == 0) /* any error means that nothing is known */
			break;
		r = read_link(nl, family, &netdevs[i]);
	}
	return r == -ENOMEM ? r : 0;
}
