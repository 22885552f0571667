/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-ask.h"

#include "../base/document.h"
#include "../model/units.h"
#include "program-ask.h"
#include "program-path.h"

static int parse(const char *text, size_t size, struct kubelet_report *ret)
{
	json_auto_t *document = NULL;
	struct kubelet_report report = {};
	int r;

	r = document_parse(text, size, JSON_REJECT_DUPLICATES, &document, NULL);
	if (r >= 0)
		r = fields_parse(&kubelet_report_fields, document, &report, NULL);
	if (r >= 0)
		*ret = report;
	return MIN(r, 0);
}

/* One chunk of @text. Return: 1 when it is the report, 0 or -errno. */
static int take_chunk(const struct fs *fs, const char **text, const char *end,
		      struct kubelet_report *ret)
{
	unsigned long path_size, size;
	char path[PATH_MAX], *rest;
	const char *newline = memchr(*text, '\n', (size_t)(end - *text));
	long kind;

	if (!newline)
		return -EBADMSG;
	kind = strtol(*text, &rest, 10);
	path_size = strtoul(rest, &rest, 10);
	size = strtoul(rest, &rest, 10);
	if (rest != newline || path_size >= sizeof(path) || size > (size_t)(end - newline) ||
	    path_size + size > (size_t)(end - newline - 1))
		return -EBADMSG;
	memcpy(path, newline + 1, path_size);
	path[path_size] = '\0';
	*text = newline + 1 + path_size + size;
	if (kind == KUBELET_CHUNK_REPORT) {
		int r = parse(newline + 1 + path_size, size, ret);

		return r < 0 ? r : 1;
	}
	if (kind < 0)
		return kind >= -4095 ? (int)kind : -EBADMSG;
	if (fs->on_read && kind <= RECORD_FOLDER)
		fs->on_read(fs->userdata, (enum record_kind)kind, path, newline + 1 + path_size,
			    size);
	return 0;
}

static void add_denied(const struct fs *fs, const struct kubelet_report *report)
{
	for (size_t i = 0; i < report->n_denied; i++)
		fs_note_denied(fs, report->denied[i].path);
}

int kubelet_ask(const struct fs *fs, const struct config *asked, struct kubelet_report *ret)
{
	_cleanup_(freep) char *said = NULL;
	struct kubelet_report report = {};
	const char *words[8] = { "rdma-provision-kubelet", "look" }, *text;
	char path[PATH_MAX], policies[3][64];
	size_t size, n = 2;
	int r, n_reports = 0;

	if (!fs->is_live)
		words[n++] = "--root=" PROGRAM_ROOT;
	if (fs->on_read)
		words[n++] = "--record";
	snprintf(policies[0], sizeof(policies[0]), "--topology-policy=%s",
		 topology_policy_name(asked->kubelet.topology_policy));
	snprintf(policies[1], sizeof(policies[1]), "--topology-scope=%s",
		 topology_scope_name(asked->kubelet.topology_scope));
	snprintf(policies[2], sizeof(policies[2]), "--cpu-policy=%s",
		 cpu_policy_name(asked->kubelet.cpu_policy));
	for (size_t i = 0; i < ELEMENTSOF(policies); i++)
		words[n++] = policies[i];

	r = program_ask(program_path("-kubelet", KUBELET_PROGRAM, path), words,
			fs->is_live ? -EBADF : fs->root, &said, &size);
	if (r < 0)
		return r;
	for (text = said; text < said + size && r >= 0; n_reports += r > 0)
		r = take_chunk(fs, &text, said + size, &report);
	if (r < 0)
		return r;
	if (n_reports != 1)
		return -EIO;
	add_denied(fs, &report);
	*ret = report;
	return 0;
}
