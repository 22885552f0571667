/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata: the answers of the cloud's metadata service in this boot, from the file that
 * metadata/metadata-apply.c keeps. Sends no request.
 */
#include "../step/observers.h"

#include "../model/memory.h"
#include "../model/metadata.h"
#include "../os/memory-file.h"

/* The entry of a MAC; a missing entry is added as waiting. NULL: there is no memory. */
static struct metadata *entry_of(struct node *n, const char *mac)
{
	struct metadata *m = (struct metadata *)node_metadata(n, mac), new = {};

	if (m)
		return m;
	COPY(new.mac, mac);
	return NODE_ADD(n, metadatas, new) ? &n->metadatas[n->n_metadatas - 1] : NULL;
}

/* Takes over the recorded answers, all of them valid; if a MAC has several, the last one counts. */
static void recall_answers(const struct fs *fs, struct node *n)
{
	_owns_(struct metadata_answers, entries) l = {};

	node_note(n, memory_read(fs, MEMORY_BOOT, &metadata_answers_fields, &l));
	for (size_t i = 0; i < l.n_entries; i++) {
		struct metadata *m = entry_of(n, l.entries[i].mac);

		if (!m)
			return;
		metadata_parse(l.entries[i].answer, m);
		COPY(m->mac, l.entries[i].mac);
	}
}

static void note_failures(struct node *n, const struct memory *memory)
{
	FOREACH(f, memory->attempts, memory->n_attempts) {
		struct metadata *m;

		if (f->result >= 0 || f->verb != VERB_ASK_METADATA || !metadata_is_mac(f->to))
			continue;
		m = entry_of(n, f->to);
		if (!m || m->state == METADATA_KNOWN)
			continue;
		m->state = f->result == -EBADMSG ? METADATA_REFUSED : METADATA_WAITING;
		COPY(m->detail, f->error);
	}
}

void observe_metadata(const struct fs *fs, struct node *n, const struct memory *memory)
{
	recall_answers(fs, n);
	note_failures(n, memory);
	SORT(n->metadatas, n->n_metadatas, compare_text);
}
