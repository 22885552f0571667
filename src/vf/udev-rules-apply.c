/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules: generated udev rules, and everybody who has to read them told before a VF appears.
 */
#include "../os/request.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "../step/other-files.h"
#include "../step/verbs.h"

/* The file of this package is in every image, hence networkd reads it when it starts. */
static const char *const network_files[] = {
	"usr/lib/systemd/network/00-rdma-provision.network",
	"lib/systemd/network/00-rdma-provision.network",
};

/* When the file came to be here; 0: it is not, since this systemd does not need or know it. */
static uint64_t network_file_usec(const struct fs *fs)
{
	for (size_t i = 0; i < ELEMENTSOF(network_files); i++) {
		_cleanup_(closep) int fd = fs_open(fs, network_files[i], O_RDONLY);
		struct stat st;

		if (fd >= 0 && fstat(fd, &st) >= 0)
			return (uint64_t)st.st_ctim.tv_sec * USEC_PER_SEC +
			       (uint64_t)st.st_ctim.tv_nsec / NSEC_PER_USEC;
	}
	return 0;
}

/*
 * Only when the package was installed while networkd was running: a reload also makes it read what
 * another program has changed and not yet announced to it.
 */
static int tell_networkd(struct work *w)
{
	const uint64_t file = network_file_usec(&w->os->fs);
	char since[24];
	int r;

	if (file == 0)
		return 0;
	snprintf(since, sizeof(since), "%" PRIu64, file);
	r = request_make(REQUEST_NETWORKD, since, NULL, 0);
	if (r == -ENOENT || r == -EHOSTDOWN)
		return 0; /* it is not running */
	if (r < 0)
		copy(w->error, CHILD_ERROR_LEN,
		     "networkd could not be told to read its files again: \"networkctl reload\"");
	return r;
}

/* It would look at its rules by itself, but at most every 3 seconds: event_queue_start() in
 * src/udev/udevd.c. */
static int tell_udev(struct work *w)
{
	int r = request_make(REQUEST_UDEV, "", NULL, 0);

	if (r == -ENOENT)
		return 0; /* a node without it has no rules either */
	if (r < 0)
		copy(w->error, CHILD_ERROR_LEN,
		     "udev could not be told to read its rules again: \"udevadm control "
		     "--reload\"");
	return r;
}

int apply_write_rules(struct work *w, const struct action *a)
{
	int r;

	r = other_files_put(&w->os->fs, RULES_NAME, a->target, w->rules);
	if (r >= 0)
		r = tell_udev(w);
	if (r < 0)
		return r;
	if (w->rules)
		r = tell_networkd(w);
	return MIN(r, 0);
}
