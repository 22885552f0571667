/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule: policy routing rules over rtnetlink.
 */
#include "route.h"

#include "../model/route-facts.h"
#include "../model/rtproto.h"
#include "nl.h"

#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>

struct rules {
	struct rule *rules; /* owned */
	size_t n;
};

#define RULE_FIND_SOURCE 0x10000 /* FIB_RULE_FIND_SADDR */

/* Conditions that struct rule lacks, and all that newer kernels have: no condition is not sent. */
static bool has_more(const struct nlmsghdr *h, const struct fib_rule_hdr *i,
		     struct nlattr *tb[static FRA_MAX + 1])
{
	static const int conditions[] = { FRA_FLOW,       FRA_TUN_ID,   FRA_SUPPRESS_IFGROUP,
					  FRA_UID_RANGE,  FRA_IP_PROTO, FRA_SPORT_RANGE,
					  FRA_DPORT_RANGE };
	const struct nlattr *a;
	int rest;

	for (size_t k = 0; k < ELEMENTSOF(conditions); k++)
		if (tb[conditions[k]])
			return true;
	nlmsg_for_each_attr(a, h, sizeof(*i), rest) if (nla_type(a) > FRA_DPORT_RANGE) return true;
	return i->tos > 0 || i->flags & RULE_FIND_SOURCE;
}

/* A mark without a mask counts as a whole: fib_nl_fill_rule() in net/core/fib_rules.c sends both.
 */
static void read_conditions(const struct fib_rule_hdr *i, struct nlattr *tb[static FRA_MAX + 1],
			    struct rule *ret)
{
	ret->src_len = i->src_len;
	ret->dst_len = i->dst_len;
	if (tb[FRA_SRC])
		nla_memcpy(ret->src, tb[FRA_SRC], sizeof(ret->src));
	if (tb[FRA_DST])
		nla_memcpy(ret->dst, tb[FRA_DST], sizeof(ret->dst));
	if (tb[FRA_OIFNAME])
		nla_strlcpy(ret->oif, tb[FRA_OIFNAME], sizeof(ret->oif));
	if (tb[FRA_IIFNAME])
		nla_strlcpy(ret->iif, tb[FRA_IIFNAME], sizeof(ret->iif));
	ret->mark = get_u32(tb[FRA_FWMARK], 0);
	ret->mask = get_u32(tb[FRA_FWMASK], tb[FRA_FWMARK] ? UINT32_MAX : 0);
	ret->suppress_prefix = (int32_t)get_u32(tb[FRA_SUPPRESS_PREFIXLEN], UINT32_MAX);
	ret->is_l3mdev = tb[FRA_L3MDEV] && nla_get_u8(tb[FRA_L3MDEV]);
	ret->is_invert = i->flags & FIB_RULE_INVERT;
}

static int on_rule(struct nlmsghdr *h, void *userdata)
{
	static const struct nla_policy policy[FRA_MAX + 1] = {
		[FRA_PRIORITY] = { .type = NLA_U32 },
		[FRA_TABLE] = { .type = NLA_U32 },
		[FRA_PROTOCOL] = { .type = NLA_U8 },
		[FRA_OIFNAME] = { .type = NLA_STRING },
		[FRA_IIFNAME] = { .type = NLA_STRING },
		[FRA_FWMARK] = { .type = NLA_U32 },
		[FRA_FWMASK] = { .type = NLA_U32 },
		[FRA_GOTO] = { .type = NLA_U32 },
		[FRA_SUPPRESS_PREFIXLEN] = { .type = NLA_U32 },
		[FRA_L3MDEV] = { .type = NLA_U8 },
	};
	struct nlattr *tb[FRA_MAX + 1];
	const struct fib_rule_hdr *i;
	struct rules *list = userdata;
	struct rule *rule;

	if (h->nlmsg_type != RTM_NEWRULE)
		return 0;
	if (nlmsg_parse(h, sizeof(*i), tb, FRA_MAX, policy) < 0)
		return -EBADMSG;
	i = nlmsg_data(h);
	if (i->family != AF_INET && i->family != AF_INET6)
		return 0;

	rule = APPEND(list->rules, list->n);
	if (!rule)
		return -ENOMEM;
	rule->family = i->family;
	rule->action = i->action;
	rule->table = get_u32(tb[FRA_TABLE], i->table);
	rule->preference = get_u32(tb[FRA_PRIORITY], 0);
	rule->protocol = tb[FRA_PROTOCOL] ? nla_get_u8(tb[FRA_PROTOCOL]) : RTPROT_UNSPEC;
	rule->to_preference = get_u32(tb[FRA_GOTO], 0);
	read_conditions(i, tb, rule);
	rule->has_more = has_more(h, i, tb);
	return 0;
}

static int dump(struct netlink *nl, int family, struct rules *list)
{
	struct fib_rule_hdr i = { .family = family };
	struct nl_msg *m = netlink_make(RTM_GETRULE, NLM_F_DUMP, &i, sizeof(i));
	int r = netlink_list(nl, m, on_rule, list, &list->n);

	/* A kernel may be without IPv6, or without rules. */
	return r == -EAFNOSUPPORT || r == -EOPNOTSUPP ? 0 : r;
}

int rule_list(struct netlink *nl, struct rule **ret, size_t *ret_n)
{
	_cleanup_(freep) struct rules list = {};
	int r;

	r = dump(nl, AF_INET, &list);
	if (r >= 0)
		r = dump(nl, AF_INET6, &list);
	if (r < 0)
		return r;

	*ret = TAKE(list.rules);
	*ret_n = list.n;
	return 0;
}

static struct nl_msg *make(int request, int flags, const struct rule *rule)
{
	struct fib_rule_hdr i = { .family = rule->family,
				  .src_len = rule->src_len,
				  .table = rule->table < 256 ? rule->table : RT_TABLE_UNSPEC,
				  .action = FR_ACT_TO_TBL };
	struct nl_msg *m = netlink_make(request, flags, &i, sizeof(i));

	m = put_u32(m, FRA_TABLE, rule->table);
	m = put_u32(m, FRA_PRIORITY, rule->preference);
	m = put_u8(m, FRA_PROTOCOL, OWN_PROTOCOL);
	if (rule->src_len)
		m = netlink_put(m, FRA_SRC, rule->src, address_bytes(rule->family));
	return rule->oif[0] ? put_string(m, FRA_OIFNAME, rule->oif) : m;
}

int rule_add(struct netlink *nl, const struct rule *rule)
{
	int r = netlink_ask(nl, make(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, rule));
	return r == -EEXIST ? 0 : r;
}

int rule_remove(struct netlink *nl, const struct rule *rule)
{
	int r = netlink_ask(nl, make(RTM_DELRULE, 0, rule));
	return r == -ENOENT || r == -ESRCH ? 0 : r;
}
