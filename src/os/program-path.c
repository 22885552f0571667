/* SPDX-License-Identifier: Apache-2.0 */
#include "program-path.h"

#include <string.h>
#include <unistd.h>

const char *program_path(const char *suffix, const char *installed, char path[static PATH_MAX])
{
	const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - strlen(suffix) - 1);

	if (n <= 0)
		return installed;
	strcpy(path + n, suffix);
	return access(path, X_OK) == 0 ? path : installed;
}
