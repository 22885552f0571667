/* SPDX-License-Identifier: Apache-2.0 */
#include "degrade.h"

#include "../model/paths.h"
#include "../os/fs.h"
#include "../pass/report.h"
#include "../show/state.h"

/* Makes a new state, with the reason alone, where state.json is of another boot or missing. */
static int make_degraded(const struct config *c, const char *boot_id, enum reason reason,
			 const char *detail, char **ret)
{
	_cleanup_(plan_done) struct plan p = { .state = NODE_DEGRADED };
	const struct memory memory = {};
	struct node n = {};
	int r;

	COPY(n.boot_id, boot_id);
	r = plan_add_hint(&p, reason, "", "%s", detail);
	return r < 0 ? r : output_state(c, &n, &memory, &p, ret);
}

/* While the node was starting, nobody was told what it lacked. */
static int tell_news(const char *before, const char *state)
{
	_cleanup_(freep) struct news *news = NULL;
	const struct plan none = {};
	size_t n = 0;
	int r = output_news(before, state, &news, &n);

	if (r >= 0)
		report_news(&none, news, n);
	return r;
}

int degrade(const struct config *c, enum reason reason, const char *detail)
{
	_cleanup_(freep) char *before = NULL, *state = NULL;
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	char boot_id[sizeof(((struct node *)0)->boot_id)];
	int r;

	r = fs_open_root(NULL, &fs);
	if (r >= 0)
		r = fs_read(&fs, "proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	if (r < 0)
		return r;
	r = fs_read_all(&fs, STATE_PATH, MAX_STATE_BYTES, false, &before, NULL);
	if (r >= 0)
		r = output_degrade(before, boot_id, c->hash, reason, detail, &state);
	if (r < 0 && r != -ENOMEM)
		r = make_degraded(c, boot_id, reason, detail, &state);
	if (r >= 0)
		r = fs_remove(&fs, READY_PATH);
	if (r < 0)
		return r;
	/* The running pass may be writing its own state at this very moment. */
	r = fs_replace(&fs, DEGRADED_PATH, state, strlen(state), 0644);
	if (r >= 0)
		r = fs_rename(&fs, DEGRADED_PATH, STATE_PATH, false);
	return r < 0 ? r : tell_news(before, state);
}
