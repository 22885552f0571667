/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata: has the helper ask the cloud about one NIC, and keeps the answer for this boot. Sets no
 * address: the next look finds the file, and the next plan makes of it what is wanted.
 */
#include "../doors/metadata.h"

#include "../model/paths.h"
#include "verbs.h"

/* The helper ends by itself before: src/metadata.c. */
#define ASK_USEC  (12 * USEC_PER_SEC)
#define ERROR_LEN sizeof(((struct action *)0)->error)

static int append(char **text, const struct metadata *m)
{
	char line[METADATA_LINE_LEN], *grown;

	metadata_format(m, line, sizeof(line));
	if (asprintf(&grown, "%s%s %s\n", *text, m->mac, line) < 0)
		return -ENOMEM;
	free(*text);
	*text = grown;
	return 0;
}

/*
 * Kept for the whole boot: every pass needs the gateway, and the service is asked once. What other
 * NICs were told earlier in this round is in the file, not in the look before it.
 */
static int keep(const struct fs *fs, const struct metadata *m)
{
	_cleanup_(freep) struct metadata *list = NULL;
	_cleanup_(freep) char *before = NULL, *text = strdup("");
	size_t size, n = 0;
	int r;

	r = fs_read_all(fs, METADATA_PATH, MAX_METADATA_BYTES, true, &before, &size);
	if (r >= 0)
		r = metadata_parse_file(before, &list, &n);
	if (r == -ENOMEM || !text)
		return -ENOMEM;

	r = 0; /* a file that cannot be read is none of ours, and is replaced */
	for (size_t i = 0; i < n && r >= 0; i++)
		if (!streq(list[i].mac, m->mac))
			r = append(&text, &list[i]);
	if (r >= 0)
		r = append(&text, m);
	if (r >= 0)
		r = fs_replace(fs, METADATA_PATH, text, strlen(text), 0644);
	return MIN(r, 0);
}

int apply_ask_metadata(struct work *w, const struct action *a)
{
	struct metadata m;
	int r;

	r = metadata_ask("/" METADATA_SOCKET_PATH, a->to, ASK_USEC, &m);
	if (r < 0) {
		snprintf(w->error, ERROR_LEN,
			 "the helper cannot be asked (rdma-provision-metadata.socket): %s",
			 strerror(-r));
		return -EAGAIN;
	}
	if (m.state == METADATA_KNOWN)
		return keep(&w->doors->fs, &m);

	copy(w->error, ERROR_LEN, m.detail);
	return m.state == METADATA_REFUSED ? -EBADMSG : -EAGAIN;
}
