/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory file: what is remembered, one JSON object for each time that it lasts.
 *
 * Each module that remembers something has keys of the object and a table for them: model/memory.h.
 * A file is always replaced as a whole, by one process at a time; keys of other modules stay.
 */
#pragma once

#include "../base/fields.h"
#include "fs.h"

enum memory_lifetime {
	MEMORY_BOOT, /* MEMORY_BOOT_PATH, in /run */
	MEMORY_NODE, /* MEMORY_NODE_PATH, in /var: over boots */
	/* KUBELET_RECORD_PATH, in /var: only for the holder of the lock of kubelet/edit.h */
	MEMORY_KUBELET,
};

/*
 * Reads the keys of a table into @ret, which stays empty where there is no file. A file that cannot
 * be read, or is no object, counts as none; a look tells of that once, by memory_read_tables().
 * Return: 0 or -ENOMEM.
 */
int memory_read(const struct fs *fs, enum memory_lifetime l, const struct fields *s, void *ret);

/*
 * memory_read() for keys that are changed and written again: a file that is there and cannot be
 * read is an error, since all that it has would be lost. Return: 0 or -errno.
 */
int memory_read_all(const struct fs *fs, enum memory_lifetime l, const struct fields *s, void *ret);

/* memory_read() for several tables: the file of a node with many VFs takes a while to be parsed. */
struct memory_table {
	const struct fields *fields;
	void *ret;
};
int memory_read_tables(const struct fs *fs, enum memory_lifetime l,
		       const struct memory_table *tables, size_t n);

/*
 * Replaces the keys of a table. An equal file is not written; a file without a key is removed.
 * Return: 0 or -errno; a file that cannot be read is not replaced; -ETIMEDOUT: another process
 * writes for longer than FS_LOCK_USEC.
 */
int memory_write(const struct fs *fs, enum memory_lifetime l, const struct fields *s,
		 const void *from);
