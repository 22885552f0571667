/* SPDX-License-Identifier: Apache-2.0 */
#include "metadata.h"

#include "../base/log.h"
#include "../model/metadata.h"
#include "../model/paths.h"
#include "../model/plan.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

static int read_kept(const struct fs *fs, struct node *n)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, METADATA_PATH, MAX_METADATA_BYTES, false, &text, &size);
	if (r < 0) {
		if (r != -ENOENT && r != -ENOMEM)
			log_debug_errno(r, "/" METADATA_PATH ": not used");
		return r == -ENOMEM ? r : 0;
	}
	return metadata_parse_file(text, &n->metadatas, &n->n_metadatas);
}

/* The entry of a MAC, a new one and waiting when there is none. */
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

static int note_failures(struct node *n)
{
	for (size_t i = 0; i < n->n_failures; i++) {
		const struct failure *f = &n->failures[i];
		struct metadata *m;

		if (!streq(f->verb, verb_name(VERB_ASK_METADATA)) || !is_metadata_mac(f->to))
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

static int by_mac(const void *a, const void *b)
{
	return strcmp(((const struct metadata *)a)->mac, ((const struct metadata *)b)->mac);
}

int observe_metadata(const struct fs *fs, struct node *n)
{
	int r;

	r = read_kept(fs, n);
	if (r >= 0)
		r = note_failures(n);
	if (n->n_metadatas > 0)
		qsort(n->metadatas, n->n_metadatas, sizeof(*n->metadatas), by_mac);
	return r;
}
