/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger-apply.h"

#include "../model/paths.h"
#include "../os/memory-file.h"

#include <net/if.h>

#define MINUTE_USEC (60 * USEC_PER_SEC)

static struct ledger_entry *find(const struct ledger *l, const struct action *a, enum verb verb)
{
	return ledger_find(l->entries, l->n_entries, verb_name(verb), a->target, a->ifindex,
			   a->subject);
}

/* Reads the ledger again, since other actions may have written it after the look, also for netdevs
 * that came since: this one may have taken minutes. Entries of netdevs that are gone are left out.
 */
static int read_ledger(struct work *w, struct ledger *ret)
{
	char name[IF_NAMESIZE];
	int r = memory_read_all(&w->os->fs, MEMORY_BOOT, &ledger_fields, ret);

	KEEP(e, ret->entries, ret->n_entries,
	     e->ifindex == 0 || node_netdev(w->node, e->ifindex) ||
		     if_indextoname(e->ifindex, name));
	return r;
}

static struct ledger_entry *add(struct ledger *l, const struct action *a)
{
	struct ledger_entry *e = APPEND(l->entries, l->n_entries);

	if (!e)
		return NULL;
	COPY(e->verb, verb_name(a->verb));
	COPY(e->target, a->target);
	COPY(e->subject, a->subject);
	e->ifindex = a->ifindex;
	return e;
}

int ledger_note(struct work *w, const struct action *a, const char *from)
{
	_cleanup_(ledger_done) struct ledger l = {};
	_cleanup_(closep) int lock = fs_lock(&w->os->fs, LANES_LOCK_PATH, LANES_LOCK_USEC);
	const uint64_t now = now_usec();
	char buf[SHOWN_LEN];
	const char *to = action_to(a, buf);
	struct ledger_entry *e;
	int r;

	if (a->is_back)
		return 0;
	r = lock < 0 ? lock : read_ledger(w, &l);
	if (r < 0)
		return r;

	e = find(&l, a, a->verb);
	if (!e)
		e = add(&l, a);
	if (!e)
		return -ENOMEM;
	/* Only the same value once more counts as setting it again. */
	if (now - e->since_usec >= MINUTE_USEC || !streq(e->to, to)) {
		e->since_usec = now;
		e->n = 0;
	}
	e->total = streq(e->to, to) ? e->total + 1 : 1;
	e->n++;
	ledger_enter(e, from, to);
	r = memory_write(&w->os->fs, MEMORY_BOOT, &ledger_fields, &l);
	if (r < 0)
		snprintf(w->error, CHILD_ERROR_LEN,
			 "what is there now cannot be noted, so nothing was changed");
	return r;
}

int ledger_forget(struct work *w, const struct action *a, enum verb verb)
{
	_cleanup_(ledger_done) struct ledger l = {};
	_cleanup_(closep) int lock = fs_lock(&w->os->fs, LANES_LOCK_PATH, LANES_LOCK_USEC);
	int r = lock < 0 ? lock : read_ledger(w, &l);
	struct ledger_entry *e = r < 0 ? NULL : find(&l, a, verb);

	if (!e)
		return r;
	ledger_drop(&l, e);
	return memory_write(&w->os->fs, MEMORY_BOOT, &ledger_fields, &l);
}
