/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz: kubelet-ensure, once more, and revert, on any text of three files of a kubelet: "unit",
 * "variables" and "configuration" of an input (fuzz.h).
 *
 * The second run writes nothing. Revert gives back each file byte for byte, and leaves none of
 * ours. None of them fails.
 */
#include "../../src/kubelet/ensure.h"
#include "../../src/base/log.h"
#include "../../src/kubelet/ledger-files.h"
#include "place.h"

static const struct {
	const char *name, *path, *text; /* of an input without that file */
} files[] = {
	{ "unit", "etc/systemd/system/kubelet.service",
	  "[Service]\nEnvironmentFile=-/etc/default/kubelet\n"
	  "ExecStart=/usr/bin/kubelet --config=/etc/k $KUBELET_EXTRA_ARGS\n" },
	{ "variables", "etc/default/kubelet", "KUBELET_EXTRA_ARGS=--v=2\n" },
	{ "configuration", "etc/k",
	  "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n" },
	{ "nodes", "sys/devices/system/node/node0/cpulist", "0-3\n" },
};

static char root[300];

static void put(const char *path, const char *data, size_t size)
{
	_cleanup_(freep) char *full = NULL;
	_cleanup_(closep) int fd = -EBADF;

	require(asprintf(&full, "%s/%s", root, path) > 0);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		require(mkdir(full, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
}

static void put_files(const char *text, size_t size)
{
	struct part part;
	size_t at = 0;

	snprintf(root, sizeof(root), "%s/root", place());
	require(mkdir(root, 0755) == 0);
	for (size_t i = 0; i < ELEMENTSOF(files); i++)
		put(files[i].path, files[i].text, strlen(files[i].text));
	while (next_part(text, size, &at, &part)) {
		for (size_t i = 0; i < ELEMENTSOF(files); i++)
			if (streq(files[i].name, part.name))
				put(files[i].path, part.data, part.size);
		free(part.name);
	}
}

/* What others see of the tree: the sum over the paths, modes and bytes of all files below /etc. */
static uint64_t sum;

static int on_file(const char *path, const struct stat *st, int type, _unused_ struct FTW *ftw)
{
	char data[4096];
	_cleanup_(closep) int fd = -EBADF;
	uint64_t h;
	ssize_t n;

	if (type != FTW_F)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	require(fd >= 0);
	h = hash_text(path + strlen(root)) + st->st_mode;
	while ((n = read(fd, data, sizeof(data))) > 0)
		for (ssize_t i = 0; i < n; i++)
			h = (h ^ (unsigned char)data[i]) * UINT64_C(0x100000001b3);
	sum += h;
	return 0;
}

static uint64_t look(void)
{
	_cleanup_(freep) char *etc = NULL;

	require(asprintf(&etc, "%s/etc", root) > 0);
	sum = 0;
	require(nftw(etc, on_file, 16, FTW_PHYS) == 0);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct config c = { .kubelet = { .topology_policy = TOPOLOGY_POLICY_BEST_EFFORT,
					       .topology_scope = TOPOLOGY_SCOPE_POD } };
	_cleanup_(freep) char *text = text_of(data, size);
	static struct kubelet_result result;
	uint64_t before, after;
	struct fs fs;

	log_set_level((enum log_level)0);
	put_files(text, size);
	require(fs_open_root(root, &fs) == 0);
	before = look();
	require(kubelet_ensure(&fs, &c, &result) == 0);
	after = look();
	require(kubelet_ensure(&fs, &c, &result) == 0);
	require(look() == after);
	require(kubelet_revert(&fs) == 0);
	require(look() == before);
	fs_done(&fs);
	remove_tree(root);
	return 0;
}
