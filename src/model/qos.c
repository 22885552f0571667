/* SPDX-License-Identifier: Apache-2.0 */
#include "qos.h"

#include "node.h"

#include <linux/dcbnl.h>

#define N_DSCP (QOS_DSCP_LEN - 1)
#define STRICT UINT8_MAX /* a share */

NAMES(trust_mode_name, enum trust_mode, _TRUST_MODE_N,
      { [TRUST_MODE_KEEP] = "keep", [TRUST_MODE_PCP] = "pcp", [TRUST_MODE_DSCP] = "dscp" });

NAMES(roce_mode_name, enum roce_mode, _ROCE_MODE_N,
      { [ROCE_MODE_KEEP] = "keep", [ROCE_MODE_V1] = "v1", [ROCE_MODE_V2] = "v2" });

NAMES(roce_mode_text, enum roce_mode, _ROCE_MODE_N,
      { [ROCE_MODE_KEEP] = "", [ROCE_MODE_V1] = "IB/RoCE v1", [ROCE_MODE_V2] = "RoCE v2" });

static void skip_gap(const char **at)
{
	*at += strspn(*at, " \t,");
}

/* "3:" or "26:", and where the rest begins; nothing else may touch it. */
static bool take_key(const char **at, unsigned max, unsigned *ret)
{
	return take_number(at, max, ret) && *(*at)++ == ':';
}

static bool is_end(char c)
{
	return c == '\0' || strchr(" \t,", c);
}

bool qos_parse_pfc(const char *text, char ret[static QOS_PFC_LEN])
{
	char set[QOS_N] = {}, *to = ret;
	unsigned priority;

	if (streq(text, "none"))
		return copy(ret, QOS_PFC_LEN, text);
	for (skip_gap(&text); *text; skip_gap(&text)) {
		if (!take_number(&text, QOS_N - 1, &priority) || !is_end(*text) || set[priority])
			return false;
		set[priority] = 1;
	}
	for (unsigned i = 0; i < QOS_N; i++)
		if (set[i])
			to += sprintf(to, "%s%u", to > ret ? "," : "", i);
	*to = '\0';
	return to > ret;
}

/* The shares are of whole numbers, and all of those that are no "strict" are 100 together. */
static bool parse_shares(const char *text, uint8_t shares[static QOS_N])
{
	unsigned priority, share, sum = 0;
	bool has_any = false;

	for (skip_gap(&text); *text; skip_gap(&text)) {
		if (!take_key(&text, QOS_N - 1, &priority) || shares[priority])
			return false;
		if (is_prefix(text, "strict")) {
			text += strlen("strict");
			shares[priority] = STRICT;
		} else if (take_number(&text, 100, &share) && share > 0) {
			shares[priority] = (uint8_t)share;
			sum += share;
			has_any = true;
		}
		if (!shares[priority] || !is_end(*text))
			return false;
	}
	return shares[0] && (!has_any || sum == 100);
}

bool qos_parse_ets(const char *text, char ret[static QOS_ETS_LEN])
{
	uint8_t shares[QOS_N] = {};
	char list[QOS_ETS_LEN] = "", classes[QOS_N + 1] = "00000000";
	size_t at = 0;
	int n = 0;

	if (!parse_shares(text, shares))
		return false;
	for (int i = 0; i < QOS_N; i++) {
		if (!shares[i])
			continue;
		classes[i] = (char)('0' + n++);
		at += (size_t)snprintf(list + at, sizeof(list) - at,
				       shares[i] == STRICT ? ",s" : ",%u", shares[i]);
	}
	for (; n < QOS_N; n++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, ",s");
	snprintf(ret, QOS_ETS_LEN, "%s %.*s", classes, QOS_ETS_LEN - QOS_N - 2, list + 1);
	return true;
}

void qos_format_ets(const char *ets, char *ret, size_t size)
{
	const char *item = ets + QOS_N + 1;
	size_t at = 0;

	for (char class = '0'; class < '0' + QOS_N && *item; class ++) {
		const char *priority = memchr(ets, class, QOS_N);
		const int n = (int)strcspn(item, ",");

		if (priority)
			at += (size_t)snprintf(ret + at, size - at, "%s%td:%.*s", at > 0 ? " " : "",
					       priority - ets, *item == 's' ? 6 : n,
					       *item == 's' ? "strict" : item);
		item += n + (item[n] == ',');
	}
}

/* "26:" or "24-31:" */
static bool take_range(const char **at, unsigned *first, unsigned *last)
{
	if (!take_number(at, N_DSCP - 1, first))
		return false;
	*last = *first;
	return **at == '-'                                      ? (*at)++,
	       take_key(at, N_DSCP - 1, last) && *last > *first : *(*at)++ == ':';
}

bool qos_parse_dscp(const char *text, char ret[static QOS_DSCP_LEN])
{
	unsigned first, last, priority;
	char map[QOS_DSCP_LEN];
	bool has_any = false;

	memset(map, '-', N_DSCP);
	map[N_DSCP] = '\0';
	for (skip_gap(&text); *text; skip_gap(&text)) {
		if (!take_range(&text, &first, &last) ||
		    !take_number(&text, QOS_N - 1, &priority) || !is_end(*text))
			return false;
		for (; first <= last; first++) {
			if (map[first] != '-')
				return false;
			map[first] = (char)('0' + priority);
		}
		has_any = true;
	}
	return has_any && copy(ret, QOS_DSCP_LEN, map);
}

void qos_format_dscp(const char *dscp, char *ret, size_t size)
{
	size_t at = 0;

	*ret = '\0';
	for (size_t i = 0, n; dscp[i]; i += n) {
		const char same[] = { dscp[i], '\0' };

		n = strspn(dscp + i, same);
		if (dscp[i] == '-' || at >= size)
			continue;
		at += (size_t)snprintf(ret + at, size - at, "%s%zu", at > 0 ? " " : "", i);
		if (n > 1 && at < size)
			at += (size_t)snprintf(ret + at, size - at, "-%zu", i + n - 1);
		if (at < size)
			at += (size_t)snprintf(ret + at, size - at, ":%c", dscp[i]);
	}
}

static bool is_ets(const char *ets)
{
	size_t n_items = 1;

	if (strspn(ets, "01234567") != QOS_N || ets[QOS_N] != ' ')
		return false;
	ets += QOS_N + 1;
	for (const char *p = ets; *p; p++)
		n_items += *p == ',';
	return strspn(ets, "0123456789,svc") == strlen(ets) && n_items == QOS_N;
}

bool qos_is_valid(const struct dcb *d)
{
	char pfc[QOS_PFC_LEN];

	return (!*d->pfc || (qos_parse_pfc(d->pfc, pfc) && streq(pfc, d->pfc))) &&
	       (!*d->ets || is_ets(d->ets)) &&
	       (!*d->dscp || (strlen(d->dscp) == N_DSCP && strspn(d->dscp, "01234567-") == N_DSCP));
}

void qos_value(const struct dcb *d, const char *subject, char ret[static QOS_ETS_LEN])
{
	const char *number = after(subject, QOS_DSCP_PREFIX);
	const unsigned long dscp = number ? strtoul(number, NULL, 10) : 0;

	*ret = '\0';
	if (streq(subject, "pfc"))
		copy(ret, QOS_ETS_LEN, d->pfc);
	else if (streq(subject, "ets"))
		copy(ret, QOS_ETS_LEN, d->ets);
	else if (*d->dscp && !number)
		copy(ret, QOS_ETS_LEN,
		     trust_mode_name(strspn(d->dscp, "-") < N_DSCP ? TRUST_MODE_DSCP
								   : TRUST_MODE_PCP));
	else if (*d->dscp && dscp < N_DSCP)
		snprintf(ret, QOS_ETS_LEN, d->dscp[dscp] == '-' ? "none" : "%c", d->dscp[dscp]);
}

bool qos_is_firmware(const struct dcb *d)
{
	return d->dcbx & DCB_CAP_DCBX_LLD_MANAGED || !(d->dcbx & DCB_CAP_DCBX_HOST);
}

char qos_class_of(unsigned dscp)
{
	return (char)('0' + dscp / QOS_N);
}

int qos_traffic_class(const struct config *c)
{
	return *c->qos.tos ? (int)strtol(c->qos.tos, NULL, 10) : -1;
}

int qos_priority(const struct config *c)
{
	const unsigned dscp = (unsigned)strtoul(c->qos.tos, NULL, 10) / 4; /* the rest is ECN */

	if (!*c->qos.tos || c->qos.trust != TRUST_MODE_DSCP)
		return -1;
	if (!*c->qos.dscp)
		return qos_class_of(dscp) - '0';
	return c->qos.dscp[dscp] == '-' ? -1 : c->qos.dscp[dscp] - '0';
}

bool qos_is_dcb_set(const struct config *c)
{
	return c->qos.trust != TRUST_MODE_KEEP || *c->qos.pfc || *c->qos.ets || *c->qos.dscp;
}

bool qos_is_set(const struct config *c)
{
	return qos_is_dcb_set(c) || *c->qos.tos || c->qos.mode != ROCE_MODE_KEEP;
}
