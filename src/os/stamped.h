/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stamped: what was found out at some cost, and is as good as looking again while no file that it
 * comes from is another one. Below /run.
 *
 * A file is a line of JSON, by a table of fields, and behind it the stamps.
 */
#pragma once

#include "../base/fields.h"
#include "fs.h"
#include "stamps.h"

/**
 * stamped_read() - what was kept, where it is still good
 * @ret:        zero before; where the return value is not 1 some of it may be filled
 * @ret_stamps: empty before; its stamps, to which more can be noted; or NULL
 *
 * Return: 1; 0 when there is none; or -ENOMEM.
 */
int stamped_read(const struct fs *fs, const char *path, const struct fields *fields, void *ret,
		 struct stamps *ret_stamps);

/*
 * Replaces it. With useless stamps the file that is there stays: its own stamps tell what it is
 * worth. Return: 1 when written, 0 or -errno.
 */
int stamped_write(const struct fs *fs, const char *path, const struct fields *fields,
		  const void *from, const struct stamps *stamps);
