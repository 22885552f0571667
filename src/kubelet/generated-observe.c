/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated: whether the drop-ins that rdma-provision-generator wrote are those that a
 * configuration asks for. The configuration may have changed since systemd ran its generators.
 */
#include "../step/observers.h"

#include "../model/units.h"

#define MAX_BYTES 4096

/* Return: 1 when the file of that unit is another than @wanted, or is there without, 0 or -ENOMEM.
 */
static int is_other(const struct fs *fs, const char *unit, const char *wanted)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, FS_PATH(GENERATED_FOLDER "/%s.d/" DROP_IN_NAME, unit), MAX_BYTES, false,
			&text, &size);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || !wanted)
		return r >= 0 || (wanted && r < 0);
	return !streq(text, wanted);
}

/* systemd.generator(7): of one name that of the first folder runs, and a link to /dev/null masks.
 */
static bool is_replaced(const struct fs *fs)
{
	static const char *const folders[] = { "run/systemd/system-generators",
					       "etc/systemd/system-generators",
					       "usr/local/lib/systemd/system-generators" };

	return ANY(f, folders, ELEMENTSOF(folders),
		   fs_exists(fs, FS_PATH("%s/rdma-provision-generator", *f)) > 0);
}

int observe_generated(const struct fs *fs, const struct config *c)
{
	_cleanup_(freep) char *kubelet = NULL;
	struct fs unrecorded = *fs; /* in a captured tree there is no systemd that would read it */
	int r;

	unrecorded.on_read = NULL;
	fs = &unrecorded;
	if (!fs->is_live || c->is_one_file || !fs_exists(fs, "run/systemd/system"))
		return 0;
	r = units_kubelet_drop_in(c, &kubelet);
	if (r >= 0)
		r = is_other(fs, kubelet_units[0], kubelet);
	return r > 0 ? !is_replaced(fs) : r;
}
