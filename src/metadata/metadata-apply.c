/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata: has the helper ask the cloud about one NIC, and keeps the answer for this boot. Sets no
 * address: the next look finds the file, and the next plan makes of it what is wanted.
 */
#include "metadata-ask.h"

#include "../model/memory.h"
#include "../model/paths.h"
#include "../os/memory-file.h"
#include "../step/ledger-apply.h"
#include "../step/verbs.h"

/* The helper ends by itself before: src/metadata/metadata-main.c. */
#define ASK_USEC (12 * USEC_PER_SEC)
/*
 * Kept for the whole boot: every pass needs the gateway, and the service is asked once. What other
 * NICs were told earlier in this round is in the file, not in the look before it; and others may be
 * told at this moment.
 */
static int keep(const struct work *w, const struct metadata *m)
{
	_cleanup_(closep) int lock = fs_lock(&w->os->fs, LANES_LOCK_PATH, LANES_LOCK_USEC);
	_cleanup_(freep) struct metadata_answers l = {};
	const struct fs *fs = &w->os->fs;
	struct metadata_answer *a;
	int r;

	r = lock < 0 ? lock : memory_read_all(fs, MEMORY_BOOT, &metadata_answers_fields, &l);
	if (r < 0)
		return r;
	a = FIND(k, l.entries, l.n_entries, streq(k->mac, m->mac));
	if (!a)
		a = APPEND(l.entries, l.n_entries);
	if (!a)
		return -ENOMEM;
	COPY(a->mac, m->mac);
	metadata_format(m, a->answer, sizeof(a->answer));
	return memory_write(fs, MEMORY_BOOT, &metadata_answers_fields, &l);
}

int apply_ask_metadata(struct work *w, const struct action *a)
{
	struct metadata m;
	int r;

	r = metadata_ask("/" METADATA_SOCKET_PATH, a->text.to, ASK_USEC, &m);
	if (r < 0) {
		snprintf(w->error, CHILD_ERROR_LEN,
			 "the helper cannot be asked (rdma-provision-metadata.socket): %s",
			 strerror(-r));
		return -EAGAIN;
	}
	if (m.state == METADATA_KNOWN)
		return keep(w, &m);

	copy(w->error, CHILD_ERROR_LEN, m.detail);
	return m.state == METADATA_REFUSED ? -EBADMSG : -EAGAIN;
}
