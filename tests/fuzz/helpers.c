/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz: what programs of this package say to each other. The first byte says which: a question to
 * the helper of files or of modules, the answer of the helper that asks systemd for a unit, and
 * what "rdma-provision-kubelet look" prints.
 *
 * Whoever asks may be anybody: the helper of files writes at no path but those of its own
 * configuration, and there only what the reader of that file is to have. An answer is taken or
 * refused as a whole.
 */
#include "../../src/base/log.h"
#include "../../src/os/module.h"
#include "../../src/step/other-files.h"
#include "place.h"

/* Answers are parsed by functions of these files alone. */
#include "../../src/os/manager-unit.c"

#define MANIFEST "kind: Pod\n"

static struct fs fs;
static size_t n_files;

static int on_file(const char *path, _unused_ const struct stat *st, int type,
		   _unused_ struct FTW *ftw)
{
	path += strlen(place());
	n_files += type != FTW_D;
	require(type == FTW_D || streq(path, "/etc/nccl.conf") || streq(path, "/etc/nfd") ||
		streq(path, "/etc/manifests/a.yaml"));
	return 0;
}

static void try_files(const char *text, _unused_ size_t size)
{
	static const char prefix[] = "NCCL_";
	const struct file_request allowed = {
		.paths = { [OUTPUT_NCCL] = "/etc/nccl.conf", [OUTPUT_NFD] = "/etc/nfd" },
		.manifest = "/etc/manifests/a.yaml",
		.manifest_text = MANIFEST,
	};
	_cleanup_(freep) char *nccl = NULL, *manifest = NULL;
	size_t n;

	other_files_serve(&fs, &allowed, text);
	require(nftw(place(), on_file, 16, FTW_PHYS) == 0);
	if (fs_read_all(&fs, "etc/nccl.conf", 1 << 20, true, &nccl, &n) >= 0)
		for (const char *line = nccl; *line; line += *line == '\n') {
			require(*line == '#' || is_prefix(line, prefix));
			line += strcspn(line, "\n");
		}
	if (fs_read_all(&fs, "etc/manifests/a.yaml", 1 << 20, true, &manifest, &n) >= 0)
		require(streq(manifest, MANIFEST));
	if (n_files > 0) {
		fs_remove(&fs, "etc/nccl.conf");
		fs_remove(&fs, "etc/nfd");
		fs_remove(&fs, "etc/manifests/a.yaml");
	}
	n_files = 0;
}

/* No module is found. */
static void try_module(const char *text, _unused_ size_t size)
{
	struct modules m = { .is_closed = true };

	require(module_serve(&m, &fs, text) < 0);
	modules_done(&m);
}

static void try_unit(const char *text, _unused_ size_t size)
{
	_cleanup_(manager_unit_done) struct manager_unit m = {}, again = {};
	_cleanup_(freep) char *first = NULL, *second = NULL;

	if (parse_unit(text, &m) < 0)
		return;
	require(manager_unit_print(&m, &first) == 0);
	require(parse_unit(first, &again) == 0);
	require(manager_unit_print(&again, &second) == 0);
	require(streq(first, second));
}

static void (*const programs[])(const char *text, size_t size) = { try_files, try_module,
								   try_unit };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(freep) char *text = NULL;

	if (size == 0)
		return 0;
	text = text_of(data + 1, size - 1);
	log_set_level((enum log_level)0);
	if (fs.root <= 0) {
		require(fs_open_root(place(), &fs) == 0);
		require(fs_make_folders(&fs, "etc/manifests") == 0);
	}
	programs[data[0] % ELEMENTSOF(programs)](text, size - 1);
	return 0;
}
