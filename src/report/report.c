/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "../base/log.h"
#include "../model/paths.h"

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

/*
 * Under the journal with fields to search by, else as a line on stderr. A worker may have ended
 * before the journal looks whose process it was: OBJECT_SYSTEMD_UNIT= has "journalctl -u" show the
 * line all the same.
 */
static void tell(enum log_level level, const char *target, const char *code, const char *text)
{
	if (!log_is_journal() ||
	    sd_journal_send("MESSAGE=%s", text, "PRIORITY=%i", (int)level, "RDMA_TARGET=%s", target,
			    "RDMA_CODE=%s", code, "SYSLOG_IDENTIFIER=rdma-provision",
			    "OBJECT_SYSTEMD_UNIT=rdma-provision.service", NULL) < 0)
		log_line(level, "%s", text);
}

void report_action(const struct action *a)
{
	const char *target = a->target[0] ? a->target : "node";
	char text[1024];
	int n;

	n = snprintf(text, sizeof(text), "%s: %s", target, verb_name(a->verb));
	if (a->subject[0] && !streq(a->subject, a->to))
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %s", a->subject);
	if (a->to[0])
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %s%s%s", a->from,
			      a->from[0] ? " -> " : "", a->to);
	if (a->result < 0)
		snprintf(text + n, sizeof(text) - (size_t)n, ": %s%s%s%s", strerror(-a->result),
			 a->error[0] ? " (" : "", a->error, a->error[0] ? ")" : "");

	/* Nothing is wrong with a node whose card was taken out. */
	if (a->is_gone) {
		log_info("%s: unplugged meanwhile", text);
		return;
	}
	/* What a driver does not have is its answer; where it was asked for, a hint says so. */
	if (unsupported_setting(a) & ~(uint32_t)VF_SETTING_MTU) {
		log_debug("%s", text);
		return;
	}
	tell(a->result >= 0      ? LOG_LEVEL_NOTICE
	     : is_best_effort(a) ? LOG_LEVEL_WARNING
				 : LOG_LEVEL_ERROR,
	     target, reason_code(action_failure(a)), text);
}

static void tell_advised(enum reason reason, const char *target, const char *detail,
			 const char *advice)
{
	char text[1280];

	snprintf(text, sizeof(text), "%s: %s%s%s. %s", target[0] ? target : "node",
		 reason_meaning(reason), detail[0] ? ": " : "", detail, advice);
	tell(LOG_LEVEL_WARNING, target, reason_code(reason), text);
}

static void tell_reason(enum reason reason, const char *target, const char *detail)
{
	tell_advised(reason, target, detail, reason_advice(reason));
}

static void tell_deviations(const struct config *c, const struct plan *p)
{
	if (c->is_invalid || c->has_unknown)
		tell_reason(c->is_invalid ? REASON_CONFIG_INVALID : REASON_CONFIG_UNKNOWN,
			    "configuration", c->problem);
	for (size_t i = 0; i < p->n_actions; i++)
		if (p->actions[i].class != CLASS_CHANGE && p->actions[i].reason != REASON_NOT_READY)
			tell_advised(p->actions[i].reason, p->actions[i].target,
				     p->actions[i].detail, action_advice(&p->actions[i]));
	for (size_t i = 0; i < p->n_reasons; i++)
		tell_reason(p->reasons[i].reason, p->reasons[i].target, p->reasons[i].detail);
}

static int write_ready(const struct fs *fs, const struct config *c, const struct node *n,
		       const struct plan *p)
{
	char text[80];
	int r;

	if (p->state != NODE_READY)
		return fs_remove(fs, READY_PATH);

	snprintf(text, sizeof(text), "%s %s\n", n->boot_id, c->hash);
	r = fs_replace(fs, READY_PATH, text, strlen(text), 0644);
	return r < 0 ? r : 0;
}

int report_state(const struct fs *fs, const struct config *c, const struct node *n,
		 const struct plan *p, const char *state_json, bool is_news)
{
	int r;

	/* "ready" must never be seen beside a state that is not. */
	if (p->state != NODE_READY) {
		r = write_ready(fs, c, n, p);
		if (r < 0)
			return r;
	}

	r = fs_replace(fs, STATE_PATH, state_json, strlen(state_json), 0644);
	if (r < 0)
		return r;
	/* While starting, what is still missing is no news. */
	if (is_news && p->state != NODE_STARTING)
		tell_deviations(c, p);

	return p->state == NODE_READY ? write_ready(fs, c, n, p) : 0;
}

int report_exit_code(const struct plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++)
		if (!is_best_effort(&p->actions[i]))
			return EXIT_CODE_DEGRADED;
	return p->state == NODE_READY ? EXIT_SUCCESS : EXIT_CODE_DEGRADED;
}
