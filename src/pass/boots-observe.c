/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boots: the last boots, the oldest first, from what is remembered over boots. Where /var could not
 * be written, those in /run come after what only /var has: it may be mounted late.
 *
 * Malformed records count as absent: a step that crashes the machine is then tried again, as it
 * would be without them. A step whose verb this version does not know is left out, and so are boots
 * of another machine, whose memory a golden image may carry.
 */
#include "../step/observers.h"

#include "../model/memory.h"
#include "../os/memory-file.h"

#include <fcntl.h>
#include <sys/stat.h>

/*
 * Tells which build runs, by the size and time of its file: a package keeps the time of its files.
 * For a tree below --root it is the build that ran there last.
 */
static void tell_program(const struct fs *fs, struct node *n, const struct memory *memory)
{
	_cleanup_(closep) int fd = -EBADF;
	struct stat st;

	COPY(n->program, PROJECT_VERSION);
	fd = fs->is_live ? fs_open(fs, "proc/self/exe", O_PATH) : -EBADF;
	if (fd >= 0 && fstat(fd, &st) >= 0)
		PRINT(n->program, "%s %lld %lld", PROJECT_VERSION, (long long)st.st_size,
		      (long long)st.st_mtim.tv_sec);

	FOREACH_WHILE(b, memory->boots, memory->n_boots, !fs->is_live)
		if (b->n_steps > 0)
			COPY(n->program, b->steps[b->n_steps - 1].program);
}

void observe_boots(const struct fs *fs, struct node *n, struct memory *memory)
{
	struct boots run = { memory->boots, memory->n_boots }, boots = {};

	memory->has_boots_in_run = boots_present(n, memory);
	if (!memory->has_boots_in_run)
		run.n_entries = 0;
	node_note(n, memory_read_tables(fs, MEMORY_NODE,
					&(struct memory_table){ &boots_fields, &boots }, 1));
	KEEP(b, boots.entries, boots.n_entries,
	     !ANY(it, run.entries, run.n_entries, streq(it->boot_id, b->boot_id)));
	FOREACH(b, run.entries, run.n_entries)
		node_note(n, ADD(boots.entries, boots.n_entries, *b));
	free(run.entries);
	if (boots.n_entries > MAX_BOOTS) { /* only the last ones count */
		memmove(boots.entries, boots.entries + boots.n_entries - MAX_BOOTS,
			MAX_BOOTS * sizeof(*boots.entries));
		boots.n_entries = MAX_BOOTS;
	}
	fs_read_machine(fs, n->machine);
	KEEP(b, boots.entries, boots.n_entries,
	     !b->machine[0] || !n->machine[0] || streq(b->machine, n->machine) ||
		     streq(b->boot_id, n->boot_id));
	memory->boots = boots.entries;
	memory->n_boots = boots.n_entries;
	tell_program(fs, n, memory);
}
