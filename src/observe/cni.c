/* SPDX-License-Identifier: Apache-2.0 */
#include "cni.h"

#define MAX_LOCKS_BYTES (1u << 20)

/* "1: FLOCK  ADVISORY  WRITE 1234 08:01:131075 0 EOF"; "-> FLOCK" waits for one. */
static uint32_t find_holder(const char *locks, uint64_t inode)
{
	char end[32];

	snprintf(end, sizeof(end), ":%" PRIu64 " ", inode);
	for (const char *line = locks; line && *line; line = strchr(line, '\n')) {
		const size_t len = strcspn(line += *line == '\n', "\n");
		const char *file = memmem(line, len, end, strlen(end));
		const char *pid = file ? memmem(line, len, "WRITE ", strlen("WRITE ")) : NULL;

		if (pid && memmem(line, len, ": FLOCK ", strlen(": FLOCK ")))
			return (uint32_t)strtoul(pid + strlen("WRITE "), NULL, 10);
	}
	return 0;
}

int observe_cni(const struct fs *fs, struct node *n)
{
	_cleanup_(freep) char *locks = NULL;
	size_t size;
	int r = 0;

	for (size_t i = 0; i < n->n_memories; i++) {
		struct pci *pci = (struct pci *)node_pci(n, n->memories[i].pci);
		char path[96];
		uint64_t inode;

		snprintf(path, sizeof(path), "var/lib/cni/sriov/pci/%s", n->memories[i].pci);
		if (!n->memories[i].is_out || !pci || fs_inode(fs, path, &inode) < 0)
			continue;
		if (!locks)
			r = fs_read_all(fs, "proc/locks", MAX_LOCKS_BYTES, false, &locks, &size);
		if (r < 0)
			return r == -ENOMEM ? r : 0;
		pci->cni_pid = find_holder(locks, inode);
	}
	return 0;
}
