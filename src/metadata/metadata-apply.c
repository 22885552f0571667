/* SPDX-License-Identifier: Apache-2.0 */
#include "metadata-apply.h"

#include "../model/memory.h"
#include "../model/paths.h"
#include "../os/helper.h"
#include "../os/memory-file.h"
#include "../step/ledger-apply.h"
#include "../step/verbs.h"

/* The helper ends by itself before: src/metadata/metadata-main.c. */
#define ASK_USEC (12 * USEC_PER_SEC)

int metadata_parse_answer(char *line, struct metadata *ret)
{
	const char *known, *waiting, *refused;
	const size_t n = strcspn(line, "\n");

	if (n + 1 >= METADATA_LINE_LEN || !streq(line + n, "\n"))
		return -EBADMSG;
	line[n] = '\0';
	known = after(line, "known ");
	waiting = after(line, "waiting ");
	refused = after(line, "refused ");

	if (known)
		return metadata_parse(known, ret) < 0 ? -EBADMSG : 0;
	if (!waiting && !refused)
		return -EBADMSG;
	*ret = (struct metadata){ .state = waiting ? METADATA_WAITING : METADATA_REFUSED };
	COPY(ret->detail, waiting ? waiting : refused);
	make_printable(ret->detail);
	return 0;
}

int metadata_ask(const char *path, const char *mac, uint64_t deadline_usec, struct metadata *ret)
{
	_cleanup_(freep) char *answer = NULL;
	struct metadata m = {};
	int r = helper_ask(path, mac, deadline_usec, &answer);

	if (r >= 0)
		r = metadata_parse_answer(answer, &m);
	if (r < 0)
		return r;
	COPY(m.mac, mac);
	*ret = m;
	return 0;
}

int metadata_ask_type(const char *path, uint64_t deadline_usec, char ret[static METADATA_TYPE_LEN])
{
	_cleanup_(freep) char *answer = NULL;
	const char *known;
	int r = helper_ask(path, METADATA_TYPE, deadline_usec, &answer);

	if (r < 0)
		return r;
	answer[strcspn(answer, "\n")] = '\0';
	if (is_prefix(answer, "waiting "))
		return -EAGAIN;
	known = after(answer, "known ");
	if (!known || !metadata_is_type(known))
		return -EBADMSG;
	snprintf(ret, METADATA_TYPE_LEN, "%s", known);
	return 0;
}

/*
 * Kept for the whole boot: every pass needs the gateway, and the service is asked once. What other
 * NICs were told earlier in this round is in the file, not in the look before it; and others may be
 * told at this moment.
 */
static int keep(const struct work *w, const struct metadata *m)
{
	_cleanup_(closep) int lock = fs_lock(&w->os->fs, LANES_LOCK_PATH, LANES_LOCK_USEC);
	_owns_(struct metadata_answers, entries) l = {};
	const struct fs *fs = &w->os->fs;
	struct metadata_answer *a;
	int r = lock < 0 ? lock : memory_read_all(fs, MEMORY_BOOT, &metadata_answers_fields, &l);

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
	int r = metadata_ask("/" METADATA_SOCKET_PATH, a->text.to, ASK_USEC, &m);

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
