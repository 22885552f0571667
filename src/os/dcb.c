/* SPDX-License-Identifier: Apache-2.0 */
#include "dcb.h"

#include "nl.h"

#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#define N_DSCP (QOS_DSCP_LEN - 1)

/* The kernel's answer, in its own structs. */
struct answer {
	bool has_ets, has_pfc;
	struct ieee_ets ets;
	struct ieee_pfc pfc;
	struct dcb_app apps[4 * N_DSCP]; /* of the map */
	size_t n_apps;
	uint32_t dcbx;
	int result; /* of a change */
};

static void take_map(const struct nlattr *table, struct answer *a)
{
	struct nlattr *attr;
	struct dcb_app app;
	int rest;

	nla_for_each_nested(attr, table, rest) {
		if (nla_type(attr) == DCB_ATTR_IEEE_APP && GET(attr, &app) &&
		    app.selector == IEEE_8021QAZ_APP_SEL_DSCP && app.protocol < N_DSCP &&
		    app.priority < QOS_N && a->n_apps < ELEMENTSOF(a->apps))
			a->apps[a->n_apps++] = app;
	}
}

static int on_answer(struct nlmsghdr *h, void *userdata)
{
	struct nlattr *tb[DCB_ATTR_MAX + 1], *ieee[DCB_ATTR_IEEE_MAX + 1];
	struct answer *a = userdata;
	const struct dcbmsg *msg = nlmsg_data(h);

	if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*msg)) ||
	    nlmsg_parse(h, sizeof(*msg), tb, DCB_ATTR_MAX, NULL) < 0)
		return -EBADMSG;
	if (msg->cmd != DCB_CMD_IEEE_GET) {
		if (tb[DCB_ATTR_IEEE] && nla_len(tb[DCB_ATTR_IEEE]) > 0)
			a->result = (int8_t)nla_get_u8(tb[DCB_ATTR_IEEE]);
		return 0;
	}
	a->dcbx = tb[DCB_ATTR_DCBX] && nla_len(tb[DCB_ATTR_DCBX]) > 0
			  ? nla_get_u8(tb[DCB_ATTR_DCBX])
			  : DCB_CAP_DCBX_HOST;
	if (!tb[DCB_ATTR_IEEE])
		return 0;
	if (nla_parse_nested(ieee, DCB_ATTR_IEEE_MAX, tb[DCB_ATTR_IEEE], NULL) < 0)
		return -EBADMSG;
	a->has_ets = GET(ieee[DCB_ATTR_IEEE_ETS], &a->ets);
	a->has_pfc = GET(ieee[DCB_ATTR_IEEE_PFC], &a->pfc);
	if (ieee[DCB_ATTR_IEEE_APP_TABLE])
		take_map(ieee[DCB_ATTR_IEEE_APP_TABLE], a);
	return 0;
}

/* A request about this netdev; NULL when there is no memory. */
static struct nl_msg *request(const char *netdev, uint8_t command)
{
	const struct dcbmsg head = { .dcb_family = AF_UNSPEC, .cmd = command };
	const int type = command == DCB_CMD_IEEE_GET ? RTM_GETDCB : RTM_SETDCB;

	return put_string(netlink_make(type, 0, &head, sizeof(head)), DCB_ATTR_IFNAME, netdev);
}

static int read_all(struct netlink *nl, const char *netdev, struct answer *ret)
{
	*ret = (struct answer){};
	return netlink_dump(nl, request(netdev, DCB_CMD_IEEE_GET), on_answer, ret);
}

/* --- as texts --- */

static void format_pfc(const struct ieee_pfc *pfc, char ret[static QOS_PFC_LEN])
{
	char *to = ret;

	for (unsigned i = 0; i < QOS_N; i++)
		if (pfc->pfc_en & 1u << i)
			to += sprintf(to, "%s%u", to > ret ? "," : "", i);
	if (to == ret)
		copy(ret, QOS_PFC_LEN, "none");
}

static void format_ets(const struct ieee_ets *ets, char ret[static QOS_ETS_LEN])
{
	size_t at = 0;

	for (int i = 0; i < QOS_N; i++)
		at += (size_t)snprintf(ret + at, QOS_ETS_LEN - at, "%u", ets->prio_tc[i] % QOS_N);
	for (int i = 0; i < QOS_N; i++) {
		const char gap = i == 0 ? ' ' : ',';

		if (ets->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS)
			at += (size_t)snprintf(ret + at, QOS_ETS_LEN - at, "%c%u", gap,
					       MIN(ets->tc_tx_bw[i], 100u));
		else
			at += (size_t)snprintf(ret + at, QOS_ETS_LEN - at, "%c%c", gap,
					       ets->tc_tsa[i] == IEEE_8021QAZ_TSA_STRICT ? 's'
					       : ets->tc_tsa[i] == IEEE_8021QAZ_TSA_CB_SHAPER
						       ? 'c'
						       : 'v');
	}
}

/* The last of several entries for a DSCP is shown: a change removes the others. */
static void format_map(const struct answer *a, char ret[static QOS_DSCP_LEN])
{
	memset(ret, '-', N_DSCP);
	ret[N_DSCP] = '\0';
	for (size_t i = 0; i < a->n_apps; i++)
		ret[a->apps[i].protocol] = (char)('0' + a->apps[i].priority);
}

static void describe(const struct answer *a, struct dcb *ret)
{
	*ret = (struct dcb){ .dcbx = a->dcbx };
	if (a->has_pfc)
		format_pfc(&a->pfc, ret->pfc);
	if (a->has_ets)
		format_ets(&a->ets, ret->ets);
	format_map(a, ret->dscp);
}

int dcb_parse(struct nlmsghdr *h, struct dcb *ret)
{
	struct answer a = {};
	int r = on_answer(h, &a);

	if (r >= 0)
		describe(&a, ret);
	return r;
}

int dcb_read(struct netlink *nl, const char *netdev, struct dcb *ret)
{
	struct answer a;
	int r = read_all(nl, netdev, &a);

	if (r >= 0)
		describe(&a, ret);
	return r;
}

/* --- changes --- */

/* @n: how many entries of the map are in @data; 1 for anything else. */
static int change(struct netlink *nl, const char *netdev, uint8_t command, int type,
		  const void *data, size_t size, size_t n)
{
	_cleanup_(nlmsg_freep) struct nl_msg *m = request(netdev, command);
	struct nlattr *ieee, *table = NULL;
	struct answer a = {};
	int r;

	ieee = m ? nla_nest_start(m, DCB_ATTR_IEEE) : NULL;
	if (ieee && type == DCB_ATTR_IEEE_APP_TABLE) {
		table = nla_nest_start(m, type);
		type = DCB_ATTR_IEEE_APP;
	}
	for (size_t i = 0; i < n; i++)
		if (!ieee || nla_put(m, type, (int)size, (const char *)data + i * size) < 0)
			return -ENOMEM;
	if (table)
		nla_nest_end(m, table);
	nla_nest_end(m, ieee);
	r = netlink_dump(nl, TAKE(m), on_answer, &a);
	return r < 0 ? r : a.result;
}

static int change_map(struct netlink *nl, const char *netdev, uint8_t command,
		      const struct dcb_app *apps, size_t n)
{
	return n == 0 ? 0
		      : change(nl, netdev, command, DCB_ATTR_IEEE_APP_TABLE, apps, sizeof(*apps),
			       n);
}

static int set_pfc(struct netlink *nl, const char *netdev, struct answer *a, const char *to)
{
	char text[QOS_PFC_LEN];

	if (!a->has_pfc)
		return -ENODATA;
	if (!qos_parse_pfc(to, text))
		return -EINVAL;
	a->pfc.pfc_en = 0;
	for (const char *p = text; *p && !streq(text, "none"); p++)
		if (*p != ',')
			a->pfc.pfc_en |= (uint8_t)(1u << (*p - '0'));
	return change(nl, netdev, DCB_CMD_IEEE_SET, DCB_ATTR_IEEE_PFC, &a->pfc, sizeof(a->pfc), 1);
}

static int set_ets(struct netlink *nl, const char *netdev, struct answer *a, const char *to)
{
	struct dcb dcb = {};
	const char *item;

	COPY(dcb.ets, to);
	if (!a->has_ets)
		return -ENODATA;
	if (!*to || !qos_is_valid(&dcb))
		return -EINVAL;
	item = dcb.ets + QOS_N + 1;
	for (int i = 0; i < QOS_N; i++, item += strcspn(item, ",") + 1) {
		a->ets.prio_tc[i] = (uint8_t)(dcb.ets[i] - '0');
		a->ets.tc_tx_bw[i] = (uint8_t)strtoul(item, NULL, 10);
		a->ets.tc_tsa[i] = *item == 's'   ? IEEE_8021QAZ_TSA_STRICT
				   : *item == 'v' ? IEEE_8021QAZ_TSA_VENDOR
				   : *item == 'c' ? IEEE_8021QAZ_TSA_CB_SHAPER
						  : IEEE_8021QAZ_TSA_ETS;
	}
	return change(nl, netdev, DCB_CMD_IEEE_SET, DCB_ATTR_IEEE_ETS, &a->ets, sizeof(a->ets), 1);
}

static struct dcb_app make_app(unsigned dscp, char priority)
{
	return (struct dcb_app){ .selector = IEEE_8021QAZ_APP_SEL_DSCP,
				 .priority = (uint8_t)(priority - '0'),
				 .protocol = (uint16_t)dscp };
}

/*
 * Removes the entries of this DSCP, but for the one with @priority. mlx5 removes the old entry
 * itself when it gets another one, so the map is read here.
 */
static int remove_others(struct netlink *nl, const char *netdev, unsigned dscp, char priority)
{
	struct answer a;
	int r = read_all(nl, netdev, &a);

	if (r < 0)
		return r;
	KEEP(app, a.apps, a.n_apps, app->protocol == dscp && app->priority + '0' != priority);
	return change_map(nl, netdev, DCB_CMD_IEEE_DEL, a.apps, a.n_apps);
}

/* Adds the new entry first: while the map is empty a card trusts no DSCP. */
static int set_dscp(struct netlink *nl, const char *netdev, unsigned dscp, char priority)
{
	const struct dcb_app app = make_app(dscp, priority);
	int r = 0;

	if (priority != '-')
		r = change_map(nl, netdev, DCB_CMD_IEEE_SET, &app, 1);
	return r < 0 && r != -EEXIST ? r : remove_others(nl, netdev, dscp, priority);
}

static int set_trust(struct netlink *nl, const char *netdev, struct answer *a, const char *to)
{
	if (streq(to, trust_mode_name(TRUST_MODE_PCP)))
		return change_map(nl, netdev, DCB_CMD_IEEE_DEL, a->apps, a->n_apps);
	if (!streq(to, trust_mode_name(TRUST_MODE_DSCP)))
		return -EINVAL;
	for (unsigned i = 0; i < N_DSCP; i++)
		a->apps[i] = make_app(i, qos_class_of(i));
	return change_map(nl, netdev, DCB_CMD_IEEE_SET, a->apps, N_DSCP);
}

int dcb_set(struct netlink *nl, const char *netdev, const char *subject, const char *to)
{
	const char *number = after(subject, QOS_DSCP_PREFIX);
	const unsigned long dscp = number ? strtoul(number, NULL, 10) : 0;
	struct answer a;
	int r;

	if (number)
		return dscp >= N_DSCP || !*to || !strchr("01234567n", *to)
			       ? -EINVAL
			       : set_dscp(nl, netdev, (unsigned)dscp, *to == 'n' ? '-' : *to);
	r = read_all(nl, netdev, &a);
	if (r < 0)
		return r;
	return streq(subject, "trust") ? set_trust(nl, netdev, &a, to)
	       : streq(subject, "pfc") ? set_pfc(nl, netdev, &a, to)
	       : streq(subject, "ets") ? set_ets(nl, netdev, &a, to)
				       : -EINVAL;
}
