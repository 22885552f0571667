/* SPDX-License-Identifier: Apache-2.0 */
#include "qos-output.h"

#include "../base/fields.h"

struct shown {
	char dcbx[16], trust[QOS_ETS_LEN], pfc[QOS_ETS_LEN], ets[64], dscp[512];
	char tos[QOS_TOS_LEN], mode[16];
};

static const struct field rows[] = {
	TEXT(struct shown, "dcbx", dcbx, .flags = FIELD_SPARSE),
	TEXT(struct shown, "trust", trust, .flags = FIELD_SPARSE),
	TEXT(struct shown, "pfc", pfc, .flags = FIELD_SPARSE),
	TEXT(struct shown, "ets", ets, .flags = FIELD_SPARSE),
	TEXT(struct shown, "dscp", dscp, .flags = FIELD_SPARSE),
	TEXT(struct shown, "tos", tos, .flags = FIELD_SPARSE),
	TEXT(struct shown, "mode", mode, .flags = FIELD_SPARSE),
};
static const struct fields fields = FIELDS(rows, struct shown);

/* Shares where that is all there is to say. */
static void show_ets(const char *ets, char *ret, size_t size)
{
	char again[QOS_ETS_LEN];

	qos_format_ets(ets, ret, size);
	if (!qos_parse_ets(ret, again) || !streq(again, ets))
		copy(ret, size, ets);
}

json_t *output_qos(const struct node *n, const struct netdev *nd, const struct ibdev *ib)
{
	const struct dcb *d = nd ? node_dcb(n, nd->ifindex) : NULL;
	struct shown s = {};

	if (d) {
		COPY(s.dcbx, qos_is_firmware(d) ? "firmware" : "host");
		qos_value(d, "trust", s.trust);
		qos_value(d, "pfc", s.pfc);
		qos_format_dscp(d->dscp, s.dscp, sizeof(s.dscp));
		if (*d->ets)
			show_ets(d->ets, s.ets, sizeof(s.ets));
	}
	if (ib && ib->n_ports > 0) {
		COPY(s.tos, ib->ports[0].roce_tos);
		COPY(s.mode, ib->ports[0].roce_mode);
	}
	return fields_pack(&fields, &s);
}
