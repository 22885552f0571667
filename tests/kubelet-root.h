/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet root: a folder that is a node to the code under test, and kubelet-ensure in it.
 *
 * For tests of the kubelet only.
 */
#pragma once

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "../src/kubelet/ensure.h"
#include "../src/model/config.h"

#include "tree.h"

#define FILE_PATH "var/lib/kubelet/config.yaml"
#define API       "apiVersion: kubelet.config.k8s.io/v1beta1\n"
#define KIND      "kind: KubeletConfiguration\n"
#define HEAD      API KIND
#define KEY       "topologyManagerPolicy"
#define BE        "best-effort"

#define MAX_NUMA_NODES 34 /* of a node in these tests */

/* 96 CPUs: the threads beside them are off. */
#define EVEN_CPUS                                                                                  \
	"0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46,"                      \
	"48,50,52,54,56,58,60,62,64,66,68,70,72,74,76,78,80,82,84,86,88,90,"                       \
	"92,94,96,98,100,102,104,106,108,110,112,114,116,118,120,122,124,126,"                     \
	"128,130,132,134,136,138,140,142,144,146,148,150,152,154,156,158,160,"                     \
	"162,164,166,168,170,172,174,176,178,180,182,184,186,188,190"

struct root {
	char path[64];
	struct fs fs;
};

static inline void root_open(struct root *ret)
{
	tree_make_folder(ret->path, sizeof(ret->path));
	assert_int_equal(fs_open_root(ret->path, &ret->fs), 0);
}

/* For what memory may not have: a disk that is waited for, programs that run, attributes. */
static inline void root_open_on_disk(struct root *ret)
{
	snprintf(ret->path, sizeof(ret->path), "/tmp/test-kubelet-XXXXXX");
	assert_non_null(mkdtemp(ret->path));
	assert_int_equal(fs_open_root(ret->path, &ret->fs), 0);
}

static inline void root_done(struct root *root)
{
	fs_done(&root->fs);
	tree_remove_at(AT_FDCWD, root->path);
}

static inline void put(const struct root *root, const char *path, const char *data, size_t size)
{
	char folder[PATH_MAX], full[PATH_MAX];
	int fd;

	COPY(folder, path);
	if (strrchr(folder, '/')) {
		*strrchr(folder, '/') = '\0';
		assert_true(fs_make_folders(&root->fs, folder) >= 0);
	}
	assert_true(snprintf(full, sizeof(full), "%s/%s", root->path, path) > 0);
	unlink(full); /* an empty file may have been seen there first */
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
}

static inline void put_text(const struct root *root, const char *path, const char *text)
{
	put(root, path, text, strlen(text));
}

static inline void put_link(const struct root *root, const char *path, const char *target)
{
	char full[PATH_MAX];

	put_text(root, path, "");
	assert_true(snprintf(full, sizeof(full), "%s/%s", root->path, path) > 0);
	assert_int_equal(unlink(full), 0);
	assert_int_equal(symlink(target, full), 0);
}

static inline struct stat stat_of(const struct root *root, const char *path)
{
	char full[PATH_MAX];
	struct stat st;

	assert_true(snprintf(full, sizeof(full), "%s/%s", root->path, path) > 0);
	assert_int_equal(lstat(full, &st), 0);
	return st;
}

static inline void assert_text(const struct root *root, const char *path, const char *data,
			       size_t size)
{
	_cleanup_(freep) char *have = NULL;
	size_t have_size;

	assert_int_equal(fs_read_all(&root->fs, path, 4 * YAML_MAX_BYTES, true, &have, &have_size),
			 0);
	assert_int_equal(have_size, size);
	assert_memory_equal(have, data, size);
}

/* What comes of one setting. */
struct verdict {
	enum kubelet_outcome outcome;
	uint32_t row;
	enum reason reason;
	enum kubelet_way way;
	uint32_t from;
	char path[256], detail[256];
};

static inline struct verdict verdict_of(const struct kubelet_item *item, enum kubelet_setting s)
{
	struct verdict v = { item->outcome,
			     item->row,
			     item->reason,
			     item->way,
			     kubelet_rank(s, item->from),
			     "",
			     "" };

	COPY(v.path, item->path);
	COPY(v.detail, item->detail);
	return v;
}

/* The machine has as many NUMA nodes from now on. */
static inline void put_numa_nodes(const struct fs *fs, uint32_t n)
{
	for (uint32_t i = 0; i < MAX_NUMA_NODES; i++) {
		const char *path = FS_PATH("sys/devices/system/node/node%" PRIu32, i);

		if (i < n)
			assert_int_equal(fs_make_folders(fs, path), 0);
		else
			rmdir(FS_PATH("/proc/self/fd/%d/%s", fs->root, path));
	}
}

static inline int ensure_config(const struct fs *fs, const struct config *c, uint32_t n_numa_nodes,
				struct verdict *ret)
{
	struct kubelet_result res;
	int r;

	put_numa_nodes(fs, n_numa_nodes);
	r = kubelet_ensure(fs, c, &res);
	*ret = verdict_of(&res.decision.items[KUBELET_TOPOLOGY_POLICY], KUBELET_TOPOLOGY_POLICY);
	if (r >= 0 && ret->outcome == KUBELET_REFUSED &&
	    (res.kubelet.file_result < 0 || res.kubelet.seen.values[0].rank == 0))
		ret->from = 0; /* nothing is known of it */
	return r;
}

static inline int ensure(const struct fs *fs, enum topology_policy want, uint32_t n_numa_nodes,
			 struct verdict *ret)
{
	const struct config c = { .kubelet.topology_policy = want };

	return ensure_config(fs, &c, n_numa_nodes, ret);
}
