/* SPDX-License-Identifier: Apache-2.0 */
#include "smc.h"

#include "../model/pnet.h"
#include "nl.h"

#include <linux/netlink.h>
#include <linux/smc.h>

#define ABSENT "n/a" /* stands for a name in the kernel's answers */

static bool get_name(const struct nlattr *attr, char *ret, size_t size)
{
	const char *name = attr ? nla_get_string(attr) : ABSENT;

	if (!copy(ret, size, streq(name, ABSENT) ? "" : name))
		return false;
	make_printable(ret);
	return true;
}

int smc_on_entry(struct nlmsghdr *h, void *userdata)
{
	static const struct nla_policy policy[SMC_PNETID_MAX + 1] = {
		[SMC_PNETID_NAME] = { .type = NLA_STRING },
		[SMC_PNETID_ETHNAME] = { .type = NLA_STRING },
		[SMC_PNETID_IBNAME] = { .type = NLA_STRING },
		[SMC_PNETID_IBPORT] = { .type = NLA_U8 },
	};
	struct nlattr *tb[SMC_PNETID_MAX + 1];
	struct smc_table *t = userdata;
	struct pnet e = {};

	if (genlmsg_parse(h, 0, tb, SMC_PNETID_MAX, policy) < 0 || !tb[SMC_PNETID_NAME] ||
	    !get_name(tb[SMC_PNETID_NAME], e.id, sizeof(e.id)) ||
	    !get_name(tb[SMC_PNETID_ETHNAME], e.netdev, sizeof(e.netdev)) ||
	    !get_name(tb[SMC_PNETID_IBNAME], e.ibdev, sizeof(e.ibdev)))
		return -EBADMSG;
	if (e.ibdev[0])
		e.port = tb[SMC_PNETID_IBPORT] ? nla_get_u8(tb[SMC_PNETID_IBPORT]) : 1;
	if (!e.ibdev[0] == !e.netdev[0]) /* of neither or of both: no kernel says so */
		return -EBADMSG;

	return ADD(t->entries, t->n, e);
}

static int compare_entry(const void *a, const void *b)
{
	const struct pnet *x = a, *y = b;
	int r = strcmp(x->id, y->id);

	if (r == 0)
		r = strcmp(x->ibdev, y->ibdev);
	return r != 0 ? r : strcmp(x->netdev, y->netdev);
}

/* @id: NULL: without one. @ret: NULL: there is no memory */
static int make_request(struct netlink *nl, uint8_t command, int flags, const char *id,
			struct nl_msg **ret)
{
	uint16_t family;
	int r = netlink_find_family(nl, SMCR_GENL_FAMILY_NAME, &family);

	if (r < 0)
		return r;
	*ret = netlink_request(family, command, SMCR_GENL_FAMILY_VERSION, flags);
	if (id)
		*ret = put_string(*ret, SMC_PNETID_NAME, id);
	return 0;
}

int smc_list(struct netlink *nl, struct pnet **ret, size_t *ret_n)
{
	_owns_(struct smc_table, entries) t = {};
	struct nl_msg *m;
	int r = make_request(nl, SMC_PNETID_GET, NLM_F_DUMP, NULL, &m);

	if (r >= 0)
		r = netlink_list(nl, m, smc_on_entry, &t, &t.n);
	SORT(t.entries, t.n, compare_entry);
	return TAKE_LIST(r, t.entries, t.n, ret, ret_n);
}

int smc_add(struct netlink *nl, const struct pnet *e)
{
	struct nl_msg *m;
	int r = make_request(nl, SMC_PNETID_ADD, 0, e->id, &m);

	if (r < 0)
		return r;
	if (e->netdev[0])
		m = put_string(m, SMC_PNETID_ETHNAME, e->netdev);
	if (e->ibdev[0])
		m = put_u8(put_string(m, SMC_PNETID_IBNAME, e->ibdev), SMC_PNETID_IBPORT,
			   (uint8_t)e->port);
	return netlink_ask(nl, m);
}

int smc_remove(struct netlink *nl, const char *id)
{
	struct nl_msg *m;
	int r = make_request(nl, SMC_PNETID_DEL, 0, id, &m);

	return r < 0 ? r : netlink_ask(nl, m);
}
