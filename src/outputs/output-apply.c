/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output: files of [Output], and the record of those that were written, so that they can be taken
 * back when the configuration does not name them any more.
 */
#include "../model/memory.h"
#include "../os/memory-file.h"
#include "../step/other-files.h"
#include "../step/verbs.h"

static const struct plan_output *find_output(const struct work *w, const struct action *a,
					     enum output *ret)
{
	const struct plan_output *found =
		FIND(o, w->plan->outputs, _OUTPUT_N, o->path && streq(o->path, a->target));

	if (found)
		*ret = (enum output)(found - w->plan->outputs);
	return found;
}

static int change_record(const struct fs *fs, enum memory_lifetime lifetime,
			 const struct output_record *record, bool is_there)
{
	_owns_(struct output_records, entries) l = {};
	struct output_record *found;
	int r = memory_read_all(fs, lifetime, &output_records_fields, &l);

	if (r < 0)
		return r;
	found = FIND(e, l.entries, l.n_entries,
		     e->output == record->output && streq(e->path, record->path));
	if (!found == !is_there)
		return 0;
	if (found)
		KEEP(e, l.entries, l.n_entries, e != found);
	else if (ADD(l.entries, l.n_entries, *record) < 0)
		return -ENOMEM;
	return memory_write(fs, lifetime, &output_records_fields, &l);
}

/* Before a file is written, and after it is removed. */
static int record_file(const struct fs *fs, enum output o, const char *path, bool is_there)
{
	struct output_record record = { .output = o };
	int r, r_boot;

	COPY(record.path, path);
	r = change_record(fs, MEMORY_NODE, &record, is_there);
	if (is_there && r >= 0)
		return r;
	r_boot = change_record(fs, MEMORY_BOOT, &record, is_there); /* /var cannot be written */
	return is_there || r >= 0 ? r_boot : r;
}

int apply_write_output(struct work *w, const struct action *a)
{
	const struct fs *fs = &w->os->fs;
	enum output o;
	int r;
	const struct plan_output *wanted = find_output(w, a, &o);

	if (!wanted || !wanted->text)
		return -ENOENT; /* a plan that was not made for this */

	/* Another program may have replaced it since the look. */
	r = other_files_look(fs, a->target + 1, output_mark(o));
	if (r >= 0)
		r = record_file(fs, o, a->target, true);
	if (r >= 0)
		r = other_files_put(fs, output_name(o), a->target, wanted->text);
	return MIN(r, 0);
}

int apply_remove_output(struct work *w, const struct action *a)
{
	const struct fs *fs = &w->os->fs;
	int r;

	for (enum output o = 0; o < _OUTPUT_N; o++) {
		if (!streq(a->text.to, output_name(o)))
			continue;
		r = other_files_look(fs, a->target + 1, output_mark(o));
		if (r > 0)
			r = other_files_put(fs, output_name(o), a->target, NULL);
		else if (r == 0) /* a temporary one of a crash, perhaps, in nobody's way */
			fs_output_remove(fs, a->target + 1);
		else if (r == -EEXIST)
			r = 0; /* another program's by now: it stays, and is not ours any more */
		return r < 0 ? r : record_file(fs, o, a->target, false);
	}
	return -EINVAL;
}
