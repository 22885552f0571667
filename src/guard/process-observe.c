/* SPDX-License-Identifier: Apache-2.0 */
#include "process-observe.h"

#include "../model/use-facts.h"

#include <ctype.h>

#define MAX_CGROUP_BYTES 65536u
#define ID_DIGITS        12   /* of a container's id: what its tools print */
#define NAMED_SOCKS_MAX  4096 /* each is compared with all open files */
#define LEAST_ID_DIGITS  32   /* what is shorter is a name */

static bool parse_pid(const char *text, uint32_t *ret)
{
	return take_number(&text, INT32_MAX, ret) && !*text;
}

/* "PID (comm) STATE ...", the start is field 22: proc(5). The comm may hold anything. */
static bool parse_stat(char *text, struct process *p)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')'), *field;

	if (!open || !close || close < open)
		return false;
	*close = '\0';
	COPY(p->command, open + 1);
	make_printable(p->command);

	field = close + 1;
	for (int i = 3; i <= 22; i++) {
		field += strspn(field, " ");
		if (!*field)
			return false;
		if (i == 22)
			p->start = strtoull(field, NULL, 10);
		field += strcspn(field, " ");
	}
	return true;
}

/* Return: 1 when it was read, 0 when it is gone meanwhile or something that is no process. */
static int read_process(const struct fs *fs, const char *name, struct process *ret)
{
	char stat[1024];

	return fs_read(fs, FS_PATH("proc/%s/stat", name), stat, sizeof(stat)) >= 0 &&
	       parse_stat(stat, ret);
}

uint64_t process_age_usec(const struct fs *fs, const char *pid)
{
	const uint64_t tick_usec = USEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	struct process p = {};

	return read_process(fs, pid, &p) ? clock_usec(CLOCK_BOOTTIME) - p.start * tick_usec
					 : UINT64_MAX;
}

uint64_t process_started_usec(const struct fs *fs)
{
	const uint64_t now = now_usec(), age = process_age_usec(fs, "self");

	return age == UINT64_MAX ? now : now - MIN(age, now);
}

int processes_list_named(const struct fs *fs, const char *command, struct processes *ret)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	_owns_(struct processes, items) list = {};
	int r = fs_list(fs, "proc", &names);

	FOREACH_WHILE(name, names.names, names.n_names, r >= 0) {
		struct process p = {};
		char comm[64];

		if (!parse_pid(*name, &p.pid))
			continue;
		if (fs_read(fs, FS_PATH("proc/%s/comm", *name), comm, sizeof(comm)) < 0 ||
		    !streq(comm, command) || !read_process(fs, *name, &p))
			continue;
		r = ADD(list.items, list.n, p);
	}
	if (r < 0)
		return r;
	SORT(list.items, list.n, compare_u32);
	*ret = TAKE_STRUCT(list);
	return 0;
}

static size_t length_without(const char *name, const char *suffix)
{
	const size_t length = strlen(name), n = strlen(suffix);

	return length > n && streq(name + length - n, suffix) ? length - n : length;
}

/*
 * "cri-containerd-ID.scope", "kubepods-podX.slice:cri-containerd:ID" or "ID": the id is what is
 * behind the last '-' or ':'.
 */
static bool find_container(const char *name, char *ret, size_t size)
{
	const size_t length = length_without(name, ".scope");
	size_t at = length, from;

	while (at > 0 && isxdigit((unsigned char)name[at - 1]))
		at--;
	if (length - at < LEAST_ID_DIGITS || (at > 0 && !strchr("-:", name[at - 1])))
		return false;
	for (from = MAX(at, 1u) - 1; from > 0 && name[from - 1] != ':'; from--)
		;
	snprintf(ret, size, "%.*s", (int)(at - from + ID_DIGITS), name + from);
	return true;
}

static bool is_unit(const char *name)
{
	const size_t length = strlen(name);

	return length_without(name, ".service") < length || length_without(name, ".scope") < length;
}

void parse_cgroup(char *text, char *ret, size_t size)
{
	char container[80] = "", unit[80] = "", *line, *name;

	while ((line = strsep(&text, "\n"))) { /* "HIERARCHY:CONTROLLERS:PATH" */
		const char *controllers;

		strsep(&line, ":");
		controllers = strsep(&line, ":");
		while ((name = strsep(&line, "/")))
			if (!find_container(name, container, sizeof(container)) && is_unit(name) &&
			    (!*controllers || streq(controllers, "name=systemd")))
				PRINT(unit, "%s", name);
	}

	make_printable(container);
	make_printable(unit);
	copy(ret, size, container[0] ? container : unit);
}

void process_container(const struct fs *fs, uint32_t pid, char *ret, size_t size)
{
	_cleanup_(freep) char *text = NULL;
	size_t n;

	ret[0] = '\0';
	if (fs_read_all(fs, FS_PATH("proc/%" PRIu32 "/cgroup", pid), MAX_CGROUP_BYTES, true, &text,
			&n) >= 0)
		parse_cgroup(text, ret, size);
}

/* --- sockets --- */

static void name_sock(const struct fs *fs, const char *pid, uint64_t inode, struct sock *socks,
		      size_t n)
{
	struct process p = {};

	for (size_t i = 0; i < n; i++) {
		if (socks[i].inode != inode || socks[i].pid > 0 || !parse_pid(pid, &p.pid) ||
		    !read_process(fs, pid, &p))
			continue;
		socks[i].pid = p.pid;
		COPY(socks[i].command, p.command);
	}
}

void process_name_socks(const struct fs *fs, struct sock *socks, size_t n)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char target[64];
	uint32_t pid;
	int r = n > 0 && n <= NAMED_SOCKS_MAX ? fs_list(fs, "proc", &names) : -ENOENT;

	for (size_t i = 0; i < names.n_names && r != -EACCES; i++) {
		_cleanup_(fs_names_done) struct fs_names fds = {};

		if (!parse_pid(names.names[i], &pid))
			continue;
		r = fs_list(fs, FS_PATH("proc/%s/fd", names.names[i]), &fds);
		for (size_t k = 0; k < fds.n_names && r != -EACCES; k++) {
			r = fs_read_link(fs, FS_PATH("proc/%s/fd/%s", names.names[i], fds.names[k]),
					 target, sizeof(target));
			if (r >= 0 && is_prefix(target, "socket:["))
				name_sock(fs, names.names[i],
					  strtoull(after(target, "socket:["), NULL, 10), socks, n);
		}
	}
}
