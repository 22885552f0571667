/* SPDX-License-Identifier: Apache-2.0 */
#include "program-path.h"

#include "../base/util.h"

#include <unistd.h>

const char *program_path(const char *suffix, const char *installed, char path[static PATH_MAX])
{
	const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;
	size_t used;

	if (n <= 0)
		return installed;
	path[n] = '\0';
	slash = strrchr(path, '/');
	used = slash ? (size_t)(slash + 1 - path) : 0;
	if ((size_t)snprintf(path + used, PATH_MAX - used, "rdma-provision%s", suffix) >=
	    PATH_MAX - used)
		return installed;
	return access(path, X_OK) == 0 ? path : installed;
}
