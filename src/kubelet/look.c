/* SPDX-License-Identifier: Apache-2.0 */
#include "look.h"

#include "../config/load.h"
#include "../model/kubelet.h"
#include "../step/observers.h"

#define MAX_LABEL_BYTES     ((size_t)1024 * 1024)
#define MAX_GENERATED_BYTES 4096
#define LABEL_CHARS         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

/*
 * Reads the value of the last line that has the label: vke.node.rdma.mode="shared" as the downward
 * API and scripts write it, or with ":" as YAML and JSON have it. Without a value it stays.
 */
static void find_label(const char *text, const char *key, struct kubelet_label *label)
{
	static const char quotes[] = " \t\"'\\";
	char found[sizeof(label->value)] = "";
	const char *value;

	for (; (text = strstr(text, key)); text = value) {
		value = text + strlen(key);
		value += strspn(value, quotes);
		if (*value != '=' && *value != ':')
			continue;
		value++;
		value += strspn(value, quotes);
		PRINT(found, "%.*s", (int)strspn(value, LABEL_CHARS), value);
	}
	if (*found) {
		COPY(label->value, found);
		label->is_in_file = true;
	}
}

/* No more of the file is recorded than these labels: user data may hold secrets. */
static int read_labels(const struct fs *fs, const char *path, struct kubelet *k)
{
	const struct {
		const char *key;
		struct kubelet_label *label;
	} rows[] = { { VKE_RDMA_MODE, &k->vke_rdma_mode },
		     { VKE_GPU_SCHEDULE, &k->vke_gpu_schedule } };
	_cleanup_(freep) char *text = NULL;
	char lines[128] = "";
	size_t size;
	int r;

	if (!*path)
		return 0;
	r = fs_read_all(fs, path + 1, MAX_LABEL_BYTES, true, &text, &size);
	if (r == -ENOMEM)
		return r;
	FOREACH(row, rows, r < 0 ? 0 : ELEMENTSOF(rows)) {
		find_label(text, row->key, row->label);
		if (row->label->is_in_file)
			append_word(lines, sizeof(lines), "", "%s=%s\n", row->key,
				    row->label->value);
	}
	if (!k->vke_rdma_mode.is_in_file)
		PRINT(k->label_problem, "%s",
		      r < 0 ? strerror(-r) : "it does not have the label " VKE_RDMA_MODE);
	if (*lines)
		fs_record(fs, RECORD_FILE, path + 1, lines, strlen(lines));
	return 0;
}

/* No default holds where a file or a flag that was not seen may say something else. */
static void forget_defaults(bool is_copy, struct kubelet_found *k)
{
	const bool is_absent = k->seen.is_waiting || (*k->seen.file && !k->seen.has_file);

	k->is_left_out = is_copy && is_absent;
	k->needs_dir = k->needs_dir && !is_copy; /* a copy may have it */
	for (enum kubelet_setting s = 0; s < _KUBELET_SETTING_N && (is_absent || *k->seen.problem);
	     s++)
		if (k->seen.values[s].source == KUBELET_DEFAULT)
			k->seen.values[s] = (struct kubelet_value){ .source = KUBELET_UNKNOWN };
}

int kubelet_judge(const struct fs *fs, const struct config *c, bool is_copy,
		  struct kubelet_found *ret, struct kubelet_decision *ret_decision,
		  struct kubelet_notes *ret_notes)
{
	int r = 0;

	for (bool is_asking = false, is_over = false; !is_over; is_asking = true) {
		r = kubelet_find(fs, is_asking, ret, is_asking ? NULL : ret_notes);
		if (r < 0)
			return r;
		forget_defaults(is_copy, ret);
		kubelet_decide(c, ret, ret_decision);
		/* Was something refused or taken back that systemd was not asked about? */
		is_over = is_asking || !ret->is_unasked ||
			  (!*ret->seen.problem && !*ret_decision->would_exit &&
			   !ANY(item, ret_decision->items, _KUBELET_SETTING_N,
				item->outcome == KUBELET_REFUSED || item->way == KUBELET_WAY_BACK));
	}
	return r;
}

int kubelet_look(const struct fs *fs, const struct config *c, bool is_copy, struct kubelet *ret,
		 struct kubelet_decision *ret_decision)
{
	struct kubelet_decision decision;
	struct kubelet_found k;
	int r = kubelet_judge(fs, c, is_copy, &k, &decision, NULL);

	if (r >= 0)
		r = read_labels(fs, c->kubelet.label_file, &k.seen);
	if (r < 0)
		return r;
	*ret = k.seen;
	*ret_decision = decision;
	return 0;
}

/* The drop-ins of the generator: the configuration may have changed since systemd ran it */

/* Return: 1: the file of that unit is not @wanted, or is there without one; 0 or -ENOMEM. */
static int is_other(const struct fs *fs, const char *unit, const char *wanted)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r = fs_read_all(fs, FS_PATH(GENERATED_FOLDER "/%s.d/" DROP_IN_NAME, unit),
			    MAX_GENERATED_BYTES, false, &text, &size);

	if (r == -ENOMEM)
		return r;
	return r < 0 ? wanted != NULL : !wanted || !streq(text, wanted);
}

/* systemd.generator(7): of one name the first folder's runs, and a link to /dev/null masks it. */
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
	r = kubelet_drop_in(c, &kubelet);
	if (r >= 0)
		r = is_other(fs, kubelet_units[0], kubelet);
	return r > 0 ? load_is_same(fs, c) && !is_replaced(fs) : r;
}
