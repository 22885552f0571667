/* SPDX-License-Identifier: Apache-2.0 */
#include "boots-apply.h"

#include "../base/log.h"
#include "../model/memory.h"
#include "../model/paths.h"
#include "../os/memory-file.h"

int boot_notes_open(const struct node *n, const struct memory *memory, struct boot_notes *ret)
{
	struct boot_notes b = { .n = memory->n_boots, .is_in_run = memory->has_boots_in_run };
	struct boot *present;

	if (!n->boot_id[0]) /* this boot could not be told from others */
		return 0;
	b.boots = calloc(b.n + 1, sizeof(*b.boots));
	if (!b.boots)
		return -ENOMEM;

	for (size_t i = 0; i < b.n; i++)
		b.boots[i] = memory->boots[i];
	if (b.n == 0 || !streq(b.boots[b.n - 1].boot_id, n->boot_id)) {
		present = &b.boots[b.n++];
		COPY(present->boot_id, n->boot_id);
		COPY(present->kernel, n->kernel);
		COPY(present->machine, n->machine);
		present->time = time(NULL);
	}
	b.noted = b.boots[b.n - 1];
	if (b.n > MAX_BOOTS)
		memmove(b.boots, b.boots + 1, --b.n * sizeof(*b.boots));
	*ret = b;
	return 0;
}

void boot_notes_done(struct boot_notes *b)
{
	free(b->boots);
	*b = (struct boot_notes){};
}

/* Does the file have these steps, in any order? VFs of two PFs are bound at the same time. */
static bool is_noted(const struct boot_notes *b)
{
	const struct boot *present = &b->boots[b->n - 1];

	FOREACH(step, present->steps, present->n_steps) {
		const struct boot_step *s = boots_find(&b->noted, step);

		if (!s || s->result != step->result || s->is_skipped != step->is_skipped)
			return false;
	}
	return present->n_steps == b->noted.n_steps;
}

static void write_notes(struct boot_notes *b, const struct fs *fs)
{
	const struct boots boots = { b->boots, b->n }, none = {};
	int r = memory_write(fs, MEMORY_NODE, &boots_fields, &boots);

	if (r < 0 && !b->is_in_run)
		log_warning_errno(r, "/" MEMORY_NODE_PATH ": not written; the next boot will not "
				     "know what this one needed, nor what crashed it");
	if (r < 0 || b->is_in_run)
		memory_write(fs, MEMORY_BOOT, &boots_fields, r < 0 ? &boots : &none);
	b->is_in_run = r < 0;
	b->noted = b->boots[b->n - 1];
}

void boot_notes_start(struct boot_notes *b, const struct fs *fs, const struct config *c,
		      const struct node *n, const struct action *a)
{
	struct boot_step s;

	if (b->n == 0)
		return;
	if (boots_step(c, n, a, &s))
		boots_put(&b->boots[b->n - 1], &s);
	if (!is_noted(b))
		write_notes(b, fs);
}

void boot_notes_end(struct boot_notes *b, const struct config *c, const struct node *n,
		    const struct action *a)
{
	struct boot_step s;

	if (b->n == 0 || !boots_step(c, n, a, &s))
		return;
	s.result = a->result;
	if (boots_counts(a))
		boots_put(&b->boots[b->n - 1], &s);
	else
		boots_drop(&b->boots[b->n - 1], &s);
}

void boot_notes_conclude(struct boot_notes *b, const struct fs *fs, const struct config *c,
			 const struct node *n, const struct memory *memory, const struct plan *p)
{
	if (b->n == 0)
		return;
	boots_conclude(c, n, memory, p, &b->boots[b->n - 1]);
	write_notes(b, fs);
}
