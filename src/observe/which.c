/* SPDX-License-Identifier: Apache-2.0 */
#include "which.h"

#include "../model/units.h"

#define MAX_BYTES ((size_t)2 * 1024 * 1024) /* of a command line; the kernel's default limit */

static bool is_unit_enabled(const struct fs *fs, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "etc/systemd/system/multi-user.target.wants/%s", name);
	return fs_exists(fs, path);
}

/* Unified hierarchy, and systemd's own of version 1. */
static bool has_cgroup(const struct fs *fs, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "sys/fs/cgroup/system.slice/%s/cgroup.procs", name);
	if (fs_exists(fs, path))
		return true;
	snprintf(path, sizeof(path), "sys/fs/cgroup/systemd/system.slice/%s/cgroup.procs", name);
	return fs_exists(fs, path);
}

int which_unit(const struct fs *fs, char *ret, size_t size)
{
	int best = 0;

	*ret = '\0';
	for (size_t i = 0; i < N_KUBELET_UNITS; i++) {
		int worth = 0;

		if (unit_is_there(fs, kubelet_units[i]))
			worth = has_cgroup(fs, kubelet_units[i])        ? 3
				: is_unit_enabled(fs, kubelet_units[i]) ? 2
									: 1;
		if (worth > best) {
			best = worth;
			copy(ret, size, kubelet_units[i]);
		}
	}
	return 0;
}

/* Of MicroK8s and k3s the kubelet is a thread of theirs; RKE2 has it as a process. */
static const char *const process_names[] = { "kubelet", "kubelite", "k3s" };

/* A command of ExecStartPre=, such as ours, is no kubelet. */
static int is_kubelet(const struct fs *fs, const char *pid)
{
	_cleanup_(freep) char *text = NULL;
	const char *name;
	char path[64];
	size_t size;
	int r;

	snprintf(path, sizeof(path), "proc/%s/cmdline", pid);
	r = fs_read_all(fs, path, MAX_BYTES, true, &text, &size);
	if (r < 0)
		return r == -ENOMEM ? r : 0; /* it has ended */
	text[strcspn(text, " ")] = '\0'; /* k3s hides its arguments: "/usr/local/bin/k3s server" */
	name = strrchr(text, '/');
	name = name ? name + 1 : text;
	for (size_t i = 0; i < ELEMENTSOF(process_names); i++)
		if (streq(name, process_names[i]))
			return 1;
	return 0;
}

int which_process(const struct fs *fs, const char *unit, uint32_t *ret_pid)
{
	static const char *const folders[] = { "sys/fs/cgroup/system.slice",
					       "sys/fs/cgroup/systemd/system.slice" };

	*ret_pid = 0;
	for (size_t i = 0; i < ELEMENTSOF(folders) && *unit; i++) {
		_cleanup_(freep) char *list = NULL;
		char *rest, *pid, path[160];
		size_t size;
		int r;

		snprintf(path, sizeof(path), "%s/%s/cgroup.procs", folders[i], unit);
		r = fs_read_all(fs, path, MAX_BYTES, false, &list, &size);
		if (r == -ENOMEM)
			return r;
		for (rest = list; r >= 0 && (pid = strsep(&rest, "\n"));) {
			if (!*pid || strlen(pid) > 9 || pid[strspn(pid, "0123456789")])
				continue;
			r = is_kubelet(fs, pid);
			if (r > 0) {
				*ret_pid = (uint32_t)strtoul(pid, NULL, 10);
				return 0;
			}
		}
		if (r == -ENOMEM)
			return r;
	}
	return 0;
}
