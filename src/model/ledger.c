/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger.h"

#include "../base/fields.h"

#define MAX_EDITS 256

static const struct field change_rows[] = {
	NAME(struct ledger_entry, "verb", verb, .flags = FIELD_NEEDED),
	NAME(struct ledger_entry, "target", target),
	NUMBER(struct ledger_entry, "ifindex", ifindex, .flags = FIELD_NEEDED),
	NAME(struct ledger_entry, "subject", subject),
	NAME(struct ledger_entry, "from", from),
	NAME(struct ledger_entry, "to", to),
	NAME(struct ledger_entry, "before", before, .flags = FIELD_SPARSE),
	NUMBER(struct ledger_entry, "n", n),
	NUMBER(struct ledger_entry, "since_usec", since_usec),
	NUMBER(struct ledger_entry, "total", total),
};
static const struct fields change_fields = FIELDS(change_rows, struct ledger_entry);

ENTRIES_FIELDS(ledger_fields, struct ledger, "changes", change_fields);

static const struct field edit_rows[] = {
	WORD_FIELD(struct ledger_entry, "key", setting, kubelet_key, _KUBELET_SETTING_N,
		   .flags = FIELD_NEEDED),
	WORD_FIELD(struct ledger_entry, "way", way, kubelet_way_name, _KUBELET_WAY_N,
		   .flags = FIELD_NEEDED),
	NAME(struct ledger_entry, "path", target, .flags = FIELD_NEEDED),
	FLAG(struct ledger_entry, "was_there", was_there),
	FLAG(struct ledger_entry, "created", is_created),
	NAME(struct ledger_entry, "added", added, .flags = FIELD_SPARSE),
	NAME(struct ledger_entry, "from", from),
	NAME(struct ledger_entry, "to", to),
	NAME(struct ledger_entry, "before", before, .flags = FIELD_SPARSE),
	NAME(struct ledger_entry, "file", file, .flags = FIELD_SPARSE),
	NAME(struct ledger_entry, "since", since),
	NAME(struct ledger_entry, "running", running),
};

static bool is_edit(void *item)
{
	const struct ledger_entry *e = item;

	return e->target[0] == '/' && e->way != KUBELET_WAY_NONE && (*e->to || *e->before);
}

static const struct fields edit_fields =
	FIELDS(edit_rows, struct ledger_entry, .is_valid = is_edit);

ENTRIES_FIELDS(ledger_files_fields, struct ledger, "edits", edit_fields, .max = MAX_EDITS);

void ledger_done(struct ledger *l)
{
	free(l->entries);
	*l = (struct ledger){};
}

struct ledger_entry *ledger_find(struct ledger_entry *entries, size_t n, const char *verb,
				 const char *target, uint32_t ifindex, const char *subject)
{
	return FIND_LAST(e, entries, n,
			 streq(e->verb, verb) && e->ifindex == ifindex &&
				 (ifindex > 0 || streq(e->target, target)) &&
				 streq(e->subject, subject));
}

struct ledger_entry *ledger_find_file(const struct ledger *l, enum kubelet_setting s,
				      const char *path)
{
	return FIND_LAST(e, l->entries, l->n_entries, e->setting == s && streq(e->target, path));
}

bool ledger_is_ours(const struct ledger_entry *e, const char *now)
{
	return streq(now, e->to) || (*e->before && streq(now, e->before));
}

void ledger_enter(struct ledger_entry *e, const char *now, const char *to)
{
	const bool is_ours = ledger_is_ours(e, now);

	if (!is_ours)
		COPY(e->from, now);
	COPY(e->before, is_ours ? now : "");
	COPY(e->to, to);
}

void ledger_drop(struct ledger *l, struct ledger_entry *e)
{
	l->n_entries--;
	memmove(e, e + 1, (size_t)(&l->entries[l->n_entries] - e) * sizeof(*e));
}
