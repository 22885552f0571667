/* SPDX-License-Identifier: Apache-2.0 */
#include "kmsg.h"

#include <fcntl.h>

#define PATH        "dev/kmsg"
#define MAX_RECORDS 100000 /* a writer as fast as this reader must not keep it here */
#define MAX_BYTES   (4u << 20)
#define WARNING     4 /* KERN_WARNING; lower is worse */

struct lines {
	const char *pci;
	struct log_line *all;
	size_t n, max;
};

/* "4,1234,5678,-;mlx5_core 0000:41:00.1: ...\n SUBSYSTEM=pci\n DEVICE=+pci:0000:41:00.1\n" */
static void take(struct lines *l, const char *record)
{
	const char *text = strchr(record, ';'), *number = strchr(record, ',');
	const char *time = number ? strchr(number + 1, ',') : NULL;
	const uint64_t usec = time ? strtoull(time + 1, NULL, 10) : 0;
	char device[PCI_LEN + 16], line[sizeof(l->all->text)];

	PRINT(device, "DEVICE=+pci:%s", l->pci);
	if (!text || (strtoul(record, NULL, 10) & 7) > WARNING)
		return;
	PRINT(line, "[%5" PRIu64 ".%06" PRIu64 "] %.*s", usec / USEC_PER_SEC, usec % USEC_PER_SEC,
	      (int)strcspn(text + 1, "\n"), text + 1);
	if (!strstr(line, l->pci) && !strstr(text, device))
		return;
	if (l->n == l->max)
		memmove(&l->all[0], &l->all[1], --l->n * sizeof(*l->all));
	COPY(l->all[l->n++].text, line);
}

static int take_file(struct lines *l, const struct fs *fs)
{
	_cleanup_(freep) char *text = NULL;
	int r = fs_read_all(fs, PATH, MAX_BYTES, false, &text, NULL);

	if (r < 0)
		return r;
	for (char *record = text, *end; record && *record; record = end) {
		end = strchr(record, '\n');
		while (end && end[1] == ' ')
			end = strchr(end + 1, '\n');
		if (end)
			*end++ = '\0';
		take(l, record);
	}
	return 0;
}

/* A record is one read; EPIPE tells that some were overwritten meanwhile. */
static int take_ring(struct lines *l, const struct fs *fs)
{
	_cleanup_(closep) int fd = fs_open(fs, PATH, O_RDONLY | O_NONBLOCK);
	char record[8192];

	if (fd < 0)
		return fd;
	for (int i = 0; i < MAX_RECORDS; i++) {
		ssize_t size = read(fd, record, sizeof(record) - 1);

		if (size < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (size <= 0)
			return size == 0 || errno == EAGAIN ? 0 : -errno;
		record[size] = '\0';
		take(l, record);
	}
	return 0;
}

int kmsg_read(const struct fs *fs, const char *pci, struct log_line *ret, size_t max)
{
	struct lines l = { pci, ret, 0, max };
	int r = max == 0 ? 0 : fs->is_live ? take_ring(&l, fs) : take_file(&l, fs);

	return r < 0 ? r : (int)l.n;
}
