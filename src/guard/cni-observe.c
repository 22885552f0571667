/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cni: which devices a CNI plugin is at work on right now.
 *
 * sriov-cni holds a lock, flock(2), of /var/lib/cni/sriov/pci/ADDRESS from before it changes a
 * device until it exits: Lock() in its pkg/utils/pci_allocator.go. The kernel lists locks in
 * /proc/locks. Other plugins have no such sign.
 */
#include "../step/observers.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#define MAX_LOCKS_BYTES (1u << 20)

/*
 * " 08:01:131075 ": lock_get_status() in fs/locks.c. A file system without a device, such as btrfs,
 * has several numbers of which stat(2) tells another one: there the first part alone counts.
 */
static void format_file(const struct stat *st, char *ret, size_t size)
{
	if (major(st->st_dev) == 0)
		snprintf(ret, size, ":%ju ", (uintmax_t)st->st_ino);
	else
		snprintf(ret, size, " %02x:%02x:%ju ", major(st->st_dev), minor(st->st_dev),
			 (uintmax_t)st->st_ino);
}

/* "1: FLOCK  ADVISORY  WRITE 1234 08:01:131075 0 EOF"; "-> FLOCK" waits for one. */
static uint32_t find_holder(const char *locks, const struct stat *st)
{
	char end[48];

	format_file(st, end, sizeof(end));
	for (const char *line = locks; line && *line; line = strchr(line, '\n')) {
		const size_t len = strcspn(line += *line == '\n', "\n");
		const char *file = memmem(line, len, end, strlen(end));
		const char *pid = file ? memmem(line, len, "WRITE ", strlen("WRITE ")) : NULL;

		if (pid && memmem(line, len, ": FLOCK ", strlen(": FLOCK ")))
			return (uint32_t)strtoul(pid + strlen("WRITE "), NULL, 10);
	}
	return 0;
}

int observe_cni(const struct fs *fs, struct node *n, const struct memory *memory)
{
	_cleanup_(freep) char *locks = NULL;
	size_t size;
	int r = 0;

	for (size_t i = 0; i < memory->n_devices; i++) {
		struct pci *pci = (struct pci *)node_pci(n, memory->devices[i].pci);
		char path[96];
		struct stat st;

		snprintf(path, sizeof(path), "var/lib/cni/sriov/pci/%s", memory->devices[i].pci);
		if (!memory->devices[i].is_out || !pci || fs_stat(fs, path, &st) < 0)
			continue;
		if (!locks)
			r = fs_read_all(fs, "proc/locks", MAX_LOCKS_BYTES, false, &locks, &size);
		if (r < 0)
			return r == -ENOMEM ? r : 0;
		pci->cni_pid = find_holder(locks, &st);
	}
	return 0;
}
