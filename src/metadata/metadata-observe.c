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
	struct metadata *m = (struct metadata *)node_metadata(n, mac);

	if (!m) {
		m = APPEND(n->metadatas, n->n_metadatas);
		if (m)
			COPY(m->mac, mac);
	}
	return m;
}

/* Takes over the recorded answers; if a MAC has several, the last one counts. */
static int recall_answers(const struct fs *fs, struct node *n)
{
	_owns_(struct metadata_answers, entries) l = {};
	int r;

	r = memory_read(fs, MEMORY_BOOT, &metadata_answers_fields, &l);
	for (size_t i = 0; i < l.n_entries && r >= 0; i++) {
		struct metadata *m = entry_of(n, l.entries[i].mac);

		if (!m)
			return -ENOMEM;
		r = metadata_parse(l.entries[i].answer, m);
		COPY(m->mac, l.entries[i].mac);
	}
	return r;
}

static int note_failures(struct node *n, const struct memory *memory)
{
	for (size_t i = 0; i < memory->n_attempts; i++) {
		const struct attempt *f = &memory->attempts[i];
		struct metadata *m;

		if (f->result >= 0 || f->verb != VERB_ASK_METADATA || !metadata_is_mac(f->to))
			continue;
		m = entry_of(n, f->to);
		if (!m)
			return -ENOMEM;
		if (m->state == METADATA_KNOWN)
			continue;
		m->state = f->result == -EBADMSG ? METADATA_REFUSED : METADATA_WAITING;
		COPY(m->detail, f->error);
	}
	return 0;
}

int observe_metadata(const struct fs *fs, struct node *n, const struct memory *memory)
{
	int r;

	r = recall_answers(fs, n);
	if (r >= 0)
		r = note_failures(n, memory);
	SORT(n->metadatas, n->n_metadatas, compare_text);
	return r;
}
