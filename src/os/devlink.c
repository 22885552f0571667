/* SPDX-License-Identifier: Apache-2.0 */
#include "devlink.h"

#include "nl.h"

#include <linux/devlink.h>
#include <netlink/genl/ctrl.h>

#define STATE_ERROR 1 /* DEVLINK_HEALTH_REPORTER_STATE_ERROR of include/net/devlink.h */

/* The function an answer is about, NULL: another bus, or one that is not looked at. */
static struct pci *find_function(struct nlattr **tb, struct devlink_functions *f)
{
	if (!tb[DEVLINK_ATTR_BUS_NAME] || !tb[DEVLINK_ATTR_DEV_NAME] ||
	    nla_strcmp(tb[DEVLINK_ATTR_BUS_NAME], "pci") != 0)
		return NULL;
	return SEARCH(nla_get_string(tb[DEVLINK_ATTR_DEV_NAME]), f->pcis, f->n_pcis, compare_text);
}

/* @ret: as find_function() */
static int parse(struct nlmsghdr *h, struct devlink_functions *f,
		 struct nlattr *tb[static DEVLINK_ATTR_MAX + 1], struct pci **ret)
{
	static const struct nla_policy policy[DEVLINK_ATTR_MAX + 1] = {
		[DEVLINK_ATTR_BUS_NAME] = { .type = NLA_STRING },
		[DEVLINK_ATTR_DEV_NAME] = { .type = NLA_STRING },
		[DEVLINK_ATTR_ESWITCH_MODE] = { .type = NLA_U16 },
		[DEVLINK_ATTR_HEALTH_REPORTER] = { .type = NLA_NESTED },
	};

	if (genlmsg_parse(h, 0, tb, DEVLINK_ATTR_MAX, policy) < 0)
		return -EBADMSG;
	*ret = find_function(tb, f);
	return 0;
}

int devlink_on_reporter(struct nlmsghdr *h, void *userdata)
{
	static const struct nla_policy policy[DEVLINK_ATTR_MAX + 1] = {
		[DEVLINK_ATTR_HEALTH_REPORTER_NAME] = { .type = NLA_STRING },
		[DEVLINK_ATTR_HEALTH_REPORTER_STATE] = { .type = NLA_U8 },
	};
	struct nlattr *tb[DEVLINK_ATTR_MAX + 1], *reporter[DEVLINK_ATTR_MAX + 1];
	struct pci *pci;
	struct devlink_functions *f = userdata;
	int r = parse(h, f, tb, &pci);

	for (size_t i = 0; i < f->n_pcis && f->n_reporters == 0; i++)
		f->pcis[i].health[0] = '\0';
	f->n_reporters++;
	if (r < 0 || !pci || !tb[DEVLINK_ATTR_HEALTH_REPORTER])
		return r;
	if (nla_parse_nested(reporter, DEVLINK_ATTR_MAX, tb[DEVLINK_ATTR_HEALTH_REPORTER], policy) <
	    0)
		return -EBADMSG;

	if (reporter[DEVLINK_ATTR_HEALTH_REPORTER_NAME] &&
	    reporter[DEVLINK_ATTR_HEALTH_REPORTER_STATE] &&
	    nla_get_u8(reporter[DEVLINK_ATTR_HEALTH_REPORTER_STATE]) == STATE_ERROR)
		/* Without those that do not fit: that there is one is what counts. */
		append_word(pci->health, sizeof(pci->health), " ", "%s",
			    nla_get_string(reporter[DEVLINK_ATTR_HEALTH_REPORTER_NAME]));
	return 0;
}

int devlink_on_eswitch(struct nlmsghdr *h, void *userdata)
{
	struct nlattr *tb[DEVLINK_ATTR_MAX + 1];
	struct pci *pci;
	uint16_t mode;
	int r = parse(h, userdata, tb, &pci);

	if (r < 0 || !pci || !tb[DEVLINK_ATTR_ESWITCH_MODE])
		return r;
	mode = nla_get_u16(tb[DEVLINK_ATTR_ESWITCH_MODE]);
	COPY(pci->eswitch, mode == DEVLINK_ESWITCH_MODE_LEGACY      ? "legacy"
			   : mode == DEVLINK_ESWITCH_MODE_SWITCHDEV ? "switchdev"
								    : "other");
	return 0;
}

static int read_health(struct netlink *nl, uint16_t family, struct devlink_functions *f)
{
	struct nl_msg *m = netlink_request(family, DEVLINK_CMD_HEALTH_REPORTER_GET,
					   DEVLINK_GENL_VERSION, NLM_F_DUMP);

	return netlink_list(nl, m, devlink_on_reporter, f, &f->n_reporters);
}

static int read_eswitch(struct netlink *nl, uint16_t family, struct devlink_functions *f,
			const char *address)
{
	struct nl_msg *m =
		netlink_request(family, DEVLINK_CMD_ESWITCH_GET, DEVLINK_GENL_VERSION, 0);

	m = put_string(m, DEVLINK_ATTR_BUS_NAME, "pci");
	m = put_string(m, DEVLINK_ATTR_DEV_NAME, address);
	return netlink_dump(nl, m, devlink_on_eswitch, f);
}

int devlink_read(struct netlink *nl, struct pci *pcis, size_t n_pcis)
{
	struct devlink_functions f = { pcis, n_pcis };
	uint16_t family;
	int r;

	if (!ANY(p, pcis, n_pcis, p->has_sriov && p->driver[0]))
		return 0;

	/* Any other error means that nothing is known. */
	r = netlink_find_family(nl, DEVLINK_GENL_NAME, &family);
	if (r < 0)
		return r == -ENOMEM ? r : 0;

	r = read_health(nl, family, &f);
	for (size_t i = 0; i < n_pcis && r != -ENOMEM; i++)
		if (pcis[i].has_sriov && pcis[i].driver[0])
			r = read_eswitch(nl, family, &f, pcis[i].address);
	return r == -ENOMEM ? r : 0;
}

int devlink_watch(struct netlink *nl)
{
	int r, group;

	nl->protocol = NETLINK_GENERIC;
	r = netlink_open(nl);
	if (r < 0)
		return r;
	group = genl_ctrl_resolve_grp(nl->sock, DEVLINK_GENL_NAME, DEVLINK_GENL_MCGRP_CONFIG_NAME);
	if (group < 0)
		return -ENOENT;
	return netlink_join(nl, group);
}

int devlink_count(void *buf, int size, _unused_ void *userdata)
{
	int n = 0;

	for (struct nlmsghdr *h = buf; nlmsg_ok(h, size); h = nlmsg_next(h, &size)) {
		uint8_t command =
			genlmsg_valid_hdr(h, 0) ? genlmsg_hdr(h)->cmd : DEVLINK_CMD_UNSPEC;

		n += command == DEVLINK_CMD_DEL || command == DEVLINK_CMD_HEALTH_REPORTER_RECOVER;
	}
	return n;
}
