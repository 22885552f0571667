/* SPDX-License-Identifier: Apache-2.0 */
#include "version.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "../base/log.h"
#include "../model/paths.h"
#include "program.h"

#define RUN_USEC (3 * USEC_PER_SEC) /* kubelet-ensure has 5 s for all it does */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

uint32_t version_parse(const char *output, char *ret_text, size_t size)
{
	unsigned long major, minor;
	const char *at = output;
	char *end;
	size_t n;

	*ret_text = '\0';
	while (*at && (*at != 'v' || !is_digit(at[1])))
		at++;
	if (!*at)
		return 0;

	major = strtoul(at + 1, &end, 10);
	if (*end != '.' || !is_digit(end[1]))
		return 0;
	minor = strtoul(end + 1, NULL, 10);
	n = strcspn(at, " \t\r\n");
	if (n < size) {
		memcpy(ret_text, at, n);
		ret_text[n] = '\0';
	}
	/* "v0.0.0-master+$Format:%H$" is what a build without its history says. */
	return major == 1 && minor < 1000 ? (uint32_t)minor : 0;
}

/* What is remembered of it, of the running system only while the file is the same. */
static bool is_remembered(const struct fs *fs, const char *binary, const char *key,
			  struct version *ret)
{
	char line[400];
	const char *rest;

	if (fs_read(fs, KUBELET_VERSION_PATH, line, sizeof(line)) < 0)
		return false;
	rest = after(line, fs->is_live ? key : binary);
	if (!rest)
		return false;
	ret->minor = version_parse(rest, ret->text, sizeof(ret->text));
	return true;
}

int version_observe(const struct fs *fs, const char *binary, bool may_run, struct version *ret)
{
	_cleanup_(closep) int fd = -EBADF;
	char key[320] = "", output[512];
	struct version v = {};
	struct stat st;
	int r;

	*ret = v;
	if (!*binary)
		return 0;
	if (fs->is_live) {
		fd = fs_open(fs, fs_bare(binary), O_PATH);
		if (fd < 0 || fstat(fd, &st) < 0)
			return 0;
		snprintf(key, sizeof(key), "%s %llu %lld.%09ld ", binary,
			 (unsigned long long)st.st_ino, (long long)st.st_mtim.tv_sec,
			 st.st_mtim.tv_nsec);
	}
	if (is_remembered(fs, binary, key, ret) || !may_run || !fs->is_live)
		return 0;

	r = program_output(binary, "--version", RUN_USEC, output, sizeof(output));
	if (r < 0)
		log_warning_errno(r, "%s --version", binary);
	else
		v.minor = version_parse(output, v.text, sizeof(v.text));
	/* A failure is remembered too: one that hangs would cost its time at every start. */
	snprintf(v.line, sizeof(v.line), "%s%s\n", key, v.text);
	*ret = v;
	return 0;
}
