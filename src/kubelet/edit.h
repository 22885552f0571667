/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edit: one change of a kubelet's files, carried out.
 *
 * The only writer of kubelet files. The plan chooses an edit; its caller looks afterwards whether
 * the edit had the effect that was meant, and can undo it.
 *
 * A top-level scalar of a KubeletConfiguration changes, in YAML or JSON, without another byte being
 * touched. The new text is parsed again and compared with the old one, event by event (and JSON
 * value by value): a text that would not read as meant is -EUCLEAN, never a result.
 */
#pragma once

#include "find.h"

/* The settings that are changed together in one file. */
struct kubelet_edit {
	enum kubelet_way way;
	char path[256]; /* absolute below the root; a symbolic link to the file stays one */
	struct {
		enum kubelet_setting setting;
		char value[64];
	} pairs[_KUBELET_SETTING_N];
	size_t n_pairs;

	/* KUBELET_WAY_TOKEN, or the way back of a flag that is in force: what stands there now, and
	 * where. */
	char old[64];
	uint32_t from, to;
	struct kubelet_extra extra; /* KUBELET_WAY_EXTRA */

	/* NULL, or called once the new file is on the disk: when it fails, the old one stays. */
	int (*on_written)(const struct fs *fs, const char *path, const struct stat *written);
};

/* Does only this program write the file of this way? Then no value of others is given back. */
bool kubelet_is_own(enum kubelet_way way);

void kubelet_edit_add(struct kubelet_edit *e, enum kubelet_setting s, const char *value);

/* A file before and after an edit, so that the edit can be undone. */
struct kubelet_undo {
	char path[256];
	char *before, *after; /* owned; before: NULL when there was no file */
	size_t before_size, after_size;
};
void kubelet_undo_done(struct kubelet_undo *u);

/**
 * kubelet_edit() - one edit, and every other byte as it was
 * @fs:  the node, or a folder: there files are edited just the same
 * @ret: what was done, also when nothing had to be
 *
 * Return: 1 when something was written, 0 when it was so already; -EAGAIN when another program
 * wrote the file meanwhile; what kubelet_is_refusal() knows, such as -EEXIST: another program made
 * a file of the name of ours; or -ENOMEM, -ENOSPC, -EIO. The old file is still whole then.
 */
int kubelet_edit(const struct fs *fs, const struct kubelet_edit *e, struct kubelet_undo *ret);

/* Puts the old text back unless the file has changed since. 0, -EAGAIN, or as kubelet_edit(). */
int kubelet_undo(const struct fs *fs, const struct kubelet_undo *u);

/*
 * Takes back an edit of an earlier run: @e has its file, in @old what it put there, in its pair
 * what was there before, if anything (@was_there), in @extra the variable that goes with its last
 * flag. A value that is no longer ours is left: 0. Two flags like it, neither in force: -ENOTUNIQ.
 * @is_created: the file was not there; it goes when nothing else is in it. Return: 1, 0, or as
 * kubelet_edit().
 */
int kubelet_take_back(const struct fs *fs, const struct kubelet_edit *e, bool was_there,
		      bool is_created);

/* Removes the temporary file that a crash left before @path was made. Return: 0 or -errno. */
int kubelet_remove_temporary(const struct fs *fs, const char *path);

/* The whole text of a file of ours: a drop-in, or one of config.yaml.d. 0 or -ENOMEM. */
int kubelet_own_text(const struct kubelet_edit *e, char **ret);

/* Is this error a property of the file (bind mount, read-only, not understood), not a fault of
 * ours? */
bool kubelet_is_refusal(int r);

/* Waits for other edits. Return: a descriptor that holds the lock until it is closed; or -errno,
 * logged with the path. */
int kubelet_lock(const struct fs *fs);

#define EDIT_MAX_VALUE 64

/**
 * edit_set() - the text with one value changed, everything else byte-identical
 * @text, @size: the file
 * @key:      a top-level key
 * @value:    shorter than EDIT_MAX_VALUE, without control characters, else -EOPNOTSUPP; other than
 *            letters, digits, "-" and "," it is put in double quotes. NULL: the key is removed
 * @ret:      the new text, owned by the caller
 * @ret_size: its size
 *
 * A key that is there keeps its place, quotes and comment: the last one, when there are several. A
 * block scalar ("|", ">") becomes one word on the line of its key. A missing key goes below the
 * line of "kind", as that line is indented and ended; in JSON behind the member "kind". A key that
 * is to be removed has to be there, once and alone on its line: else -EOPNOTSUPP.
 *
 * Return: 1 when the text differs, 0 when the value was there already (*ret is a copy), or an error
 * of yaml.h.
 */
int edit_set(const char *text, size_t size, const char *key, const char *value, char **ret,
	     size_t *ret_size);
