/* SPDX-License-Identifier: Apache-2.0 */
#include "rdma-cm.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>

/* Ledgers and questions name them as well: no other path comes of that. */
static int format_path(const char *ibdev, const char *attribute, char *ret, size_t size)
{
	if (fnmatch("ports/+([0-9])/default_roce_@(tos|mode)", attribute, FNM_EXTMATCH) != 0)
		return -EPERM;
	snprintf(ret, size, RDMA_CM_FOLDER "/%s/%s", ibdev, attribute);
	return 0;
}

int rdma_cm_read(const struct fs *fs, const char *ibdev, const char *attribute, char *ret,
		 size_t size)
{
	char path[192], line[64]; /* @ret need not have room for the newline */
	int r = format_path(ibdev, attribute, path, sizeof(path));

	if (r >= 0)
		r = fs_read(fs, path, line, sizeof(line));
	return r < 0 ? r : copy(ret, size, line) ? 0 : -EMSGSIZE;
}

/* Not fs_make_folders(): without rdma_cm nothing is to be made. */
int rdma_cm_open(const struct fs *fs, const char *ibdev)
{
	_cleanup_(closep) int folder = fs_open(fs, RDMA_CM_FOLDER, O_DIRECTORY | O_RDONLY);

	if (folder < 0)
		return folder;
	return mkdirat(folder, ibdev, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

int rdma_cm_set(const struct fs *fs, const char *ibdev, const char *attribute, const char *value)
{
	char path[192];
	int r = format_path(ibdev, attribute, path, sizeof(path));

	return r < 0 ? r : fs_write_attribute(fs, path, value);
}

int rdma_cm_close(const struct fs *fs, const char *ibdev)
{
	_cleanup_(closep) int folder = fs_open(fs, RDMA_CM_FOLDER, O_DIRECTORY | O_RDONLY);

	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	return unlinkat(folder, ibdev, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

int rdma_cm_close_left(const struct fs *fs)
{
	_cleanup_(fs_names_done) struct fs_names ibdevs = {};
	char mode[32];
	int r = fs_list(fs, RDMA_CM_FOLDER, &ibdevs);

	for (size_t i = 0; i < ibdevs.n_names && r >= 0; i++)
		if (rdma_cm_read(fs, ibdevs.names[i], "ports/1/default_roce_mode", mode,
				 sizeof(mode)) == -ENODEV)
			r = rdma_cm_close(fs, ibdevs.names[i]);
	return r == -ENOENT ? 0 : MIN(r, 0);
}
