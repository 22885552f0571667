/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "../base/log.h"
#include "../model/paths.h"

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

struct report_line {
	enum log_level level;
	const char *message; /* what MESSAGE_ID= is made of */
	const char *target, *code, *detail;
};

/* Copies a text that "journalctl -o cat" or a pager may show: it must not move the cursor. */
static void copy_still(char *to, size_t size, const char *from)
{
	copy(to, size, from);
	make_still(to);
}

/*
 * Under the journal with fields to search by, else as a line on stderr. A worker may have ended
 * before the journal looks whose process it was: OBJECT_SYSTEMD_UNIT= has "journalctl -u" show the
 * line all the same.
 */
static void tell(const struct report_line *l, const char *text)
{
	char id[MESSAGE_ID_LEN], message[1024], target[256], detail[1024];

	message_id(l->message, id);
	copy_still(message, sizeof(message), text);
	copy_still(target, sizeof(target), l->target);
	copy_still(detail, sizeof(detail), l->detail);
	if (!log_is_journal() ||
	    sd_journal_send("MESSAGE=%s", message, "MESSAGE_ID=%s", id, "PRIORITY=%i",
			    (int)l->level, "RDMA_TARGET=%s", target, "RDMA_CODE=%s", l->code,
			    "RDMA_DETAIL=%s", detail, "SYSLOG_IDENTIFIER=rdma-provision",
			    "OBJECT_SYSTEMD_UNIT=rdma-provision.service", NULL) < 0)
		log_line(l->level, "%s", text);
}

static enum log_level level_of(enum reason reason)
{
	return reason_severity(reason) == SEVERITY_ERROR ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING;
}

void report_action(const struct action *a)
{
	const char *target = a->target[0] ? a->target : "node";
	const enum reason failure = action_failure(a);
	struct report_line line = { LOG_LEVEL_NOTICE, messages[MESSAGE_CHANGE].name, target, "",
				    "" };
	char text[1024], change[CHANGE_LEN];
	int n = PRINT(text, "%s: %s", target, action_change(a, change));
	const char *words = a->error;

	/* The reasons left out here know no cause either. */
	if (!*words && failure != REASON_ACTION_FAILED && failure != REASON_ACTION_TIMEOUT &&
	    failure != REASON_NO_EFFECT)
		words = reason_meaning(failure);
	if (a->result < 0)
		snprintf(text + n, sizeof(text) - (size_t)n, ": %s%s%s%s", strerror(-a->result),
			 *words ? " (" : "", words, *words ? ")" : "");

	/* Nothing is wrong with a node whose card was taken out; a missing driver is a reason. */
	if (a->is_gone) {
		log_info("%s: unplugged or unbound meanwhile", text);
		return;
	}
	/* A setting that a driver lacks is no failure; where it was asked for, a hint says so. */
	if (action_unsupported_setting(a) & ~(uint32_t)VF_SETTING_MTU) {
		log_debug("%s", text);
		return;
	}
	if (failure != REASON_NONE) {
		line.level = level_of(failure);
		line.message = line.code = reason_code(failure);
		line.detail = text;
	}
	tell(&line, text);
}

static void tell_news(const struct news *news)
{
	const char *target = news->target[0] ? news->target : "node";
	const char *code = reason_code(news->reason);
	char text[1280];

	if (news->is_over) {
		PRINT(text, "%s: %s is over", target, code);
		tell(&(struct report_line){ LOG_LEVEL_NOTICE, messages[MESSAGE_OVER].name, target,
					    code, "" },
		     text);
		return;
	}
	PRINT(text, "%s: %s%s%s. %s", target, reason_meaning(news->reason),
	      news->detail[0] ? ": " : "", news->detail, news->advice);
	tell(&(struct report_line){ level_of(news->reason), code, target, code, news->detail },
	     text);
}

/* Did report_action() report this when the action failed? */
static bool was_reported(const struct plan *p, const struct news *news)
{
	return ANY(a, p->actions, p->n_actions,
		   action_failure(a) == news->reason && !a->is_vain &&
			   streq(a->target, news->target));
}

void report_news(const struct plan *p, const struct news *news, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (reason_severity(news[i].reason) != SEVERITY_NONE &&
		    (news[i].is_over || !was_reported(p, &news[i])))
			tell_news(&news[i]);
}

void report_change_of_state(enum node_state state, const char *summary)
{
	const bool is_ready = state == NODE_READY;
	const struct report_line line = {
		is_ready ? LOG_LEVEL_NOTICE : LOG_LEVEL_WARNING,
		messages[is_ready ? MESSAGE_READY : MESSAGE_DEGRADED].name, "node", "", summary
	};
	char text[256];

	PRINT(text, "node: %s", summary);
	tell(&line, text);
}

int report_state(const struct fs *fs, const struct config *c, const struct node *n,
		 const struct plan *p, const char *state_json)
{
	const bool is_ready = p->state == NODE_READY;
	char text[80];
	int r;

	/* "ready" must never be seen beside a state that is not. */
	r = is_ready ? 0 : fs_remove(fs, READY_PATH);
	if (r >= 0)
		r = fs_replace(fs, STATE_PATH, state_json, strlen(state_json), 0644);
	PRINT(text, "%s %s\n", n->boot_id, c->hash);
	if (r >= 0 && is_ready)
		r = fs_replace(fs, READY_PATH, text, strlen(text), 0644);
	return MIN(r, 0);
}

int report_exit_code(const struct plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++)
		if (!action_is_best_effort(&p->actions[i]))
			return EXIT_CODE_DEGRADED;
	return p->state == NODE_READY ? EXIT_SUCCESS : EXIT_CODE_DEGRADED;
}
