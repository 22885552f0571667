/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator: what systemd runs at boot and at each daemon-reload, systemd.generator(7). Writes the
 * drop-ins that [Kubelet] asks for into the folder that is its first argument.
 *
 * Reads the configuration and the units of k3s, and never fails: without a valid one the drop-ins
 * are those of the default with the Gate= that can be read, and rdma-provision.service asks for
 * another daemon-reload when that is not what a valid one wants.
 */
#include "../base/log.h"
#include "../config/load.h"
#include "../config/reader.h"
#include "../config/settings.h"
#include "../model/kubelet.h"
#include "../os/unit-file.h"

#include <sys/resource.h>

#define LIMIT_SEC 5 /* systemd waits for generators before it does anything else */

static int write_drop_in(const struct fs *fs, const char *folder, const char *unit,
			 const char *text)
{
	char path[512];
	int r, n;

	n = PRINT(path, "%s/%s.d/" DROP_IN_NAME, fs_bare(folder), unit);
	r = n < (int)sizeof(path) ? fs_replace(fs, path, text, strlen(text), 0644) : -ENAMETOOLONG;
	return r < 0 ? log_error_errno(r, "/%s", path) : 0;
}

static int take_gate(void *userdata, const char *section, const char *name, const char *value,
		     unsigned line _unused_)
{
	const struct setting *s = setting_find("Kubelet", "Gate");

	if (name && streq(section, s->section) && streq(name, s->name))
		setting_parse(s, *value ? value : s->fallback, userdata);
	return 0;
}

/* Takes Gate= alone, for a line that is malformed elsewhere must not open a strict gate. Of a value
 * that is not accepted the one before it stays. */
static int load_gate(const struct fs *fs, struct config *c)
{
	_cleanup_(config_errors_done) struct config_errors unreadable = {};
	_cleanup_(config_files_done) struct config_files files = {};
	int r = config_files_load(fs, NULL, 0, &files, &unreadable);

	FOREACH(f, files.items, files.n_items) {
		_cleanup_(config_errors_done) struct config_errors errors = {};

		if (f->size > 0 &&
		    reader_parse(f->path, f->data, f->size, &errors, take_gate, c) == -ENOMEM)
			return -ENOMEM;
	}
	return r == -ENOMEM ? r : 0;
}

static int generate(const struct fs *fs, const char *folder)
{
	_cleanup_(config_done) struct config c = {};
	_cleanup_(freep) char *kubelet = NULL;
	_cleanup_(fs_names_done) struct fs_names named = {};
	int r = load_valid(fs, NULL, &c);

	if (r < 0) {
		r = config_load_default(&c);
		r = r < 0 ? r : load_gate(fs, &c);
	}
	if (r >= 0)
		r = kubelet_drop_in(&c, &kubelet);
	for (size_t i = 0; i < N_KUBELET_UNITS && r >= 0 && kubelet; i++)
		r = write_drop_in(fs, folder, kubelet_units[i], kubelet);
	if (r >= 0 && kubelet)
		r = unit_file_find(fs, K3S_UNITS, K3S_PROGRAM, &named);
	FOREACH_WHILE(name, named.names, named.n_names, r >= 0)
		r = write_drop_in(fs, folder, *name, kubelet);
	return r;
}

/* A generator that fails is logged by systemd as well; the boot goes on all the same. */
int main(int argc, char **argv)
{
	const struct rlimit limit = { LIMIT_BYTES, LIMIT_BYTES };
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };

	if (standard_open() < 0)
		return EXIT_FAILURE;
	if (argc < 2 || *argv[1] != '/') {
		log_error("usage: rdma-provision-generator FOLDER, by systemd");
		return EXIT_FAILURE;
	}
	setrlimit(RLIMIT_DATA, &limit);
	alarm(LIMIT_SEC);
	if (fs_open_root(NULL, &fs) >= 0)
		generate(&fs, argv[1]);
	return EXIT_SUCCESS;
}
