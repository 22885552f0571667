/* SPDX-License-Identifier: Apache-2.0 */
#include "standard.h"

#include "log.h"

#include <fcntl.h>

int standard_open(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return -errno;
	return 0;
}

int standard_print(const char *text)
{
	errno = EIO; /* of what stdio wrote before the last part */
	if (fputs(text, stdout) == EOF || fflush(stdout) == EOF || ferror(stdout))
		return log_error_errno(-errno, "The output cannot be written");
	return 0;
}
