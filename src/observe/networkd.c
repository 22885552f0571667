/* SPDX-License-Identifier: Apache-2.0 */
#include "networkd.h"

#include "../os/conf-files.h"

#include <strings.h>

#define RUNTIME_PATH   "run/systemd/netif/state" /* written by it, whatever it manages */
#define MAX_CONF_BYTES (1u << 20)

static const char *const main_files[] = { CONF_FOLDERS("systemd/networkd.conf"),
					  "lib/systemd/networkd.conf" };
static const char *const folders[] = { CONF_FOLDERS("systemd/networkd.conf.d"),
				       "lib/systemd/networkd.conf.d", NULL };
static const char *const keys[] = { "ManageForeignRoutes", "ManageForeignRoutingPolicyRules" };

struct network_answer {
	bool is_said, value;
};

static bool is_no(const char *value)
{
	static const char *const words[] = { "no", "false", "off", "0", "n", "f" };

	for (size_t i = 0; i < ELEMENTSOF(words); i++)
		if (strcasecmp(value, words[i]) == 0)
			return true;
	return false;
}

/* Sections are not looked at: no other has such keys. */
static void read_line(char *line, struct network_answer answers[static 2])
{
	char *value = strchr(line, '=');

	if (!value)
		return;
	*value++ = '\0';
	value += strspn(value, " \t");
	value[strcspn(value, " \t\r")] = '\0';
	line += strspn(line, " \t");
	line[strcspn(line, " \t")] = '\0';
	for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
		struct network_answer *a = &answers[i];

		if (!streq(line, keys[i]))
			continue;
		a->is_said = true;
		a->value = !is_no(value);
	}
}

/* A capture has what was understood. */
static void record(const struct fs *fs, const char *path,
		   const struct network_answer said[static 2])
{
	char text[128] = "";
	size_t n = 0;

	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		if (said[i].is_said)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s=%s\n", keys[i],
					      said[i].value ? "yes" : "no");
	fs_record(fs, RECORD_FILE, path, text, n);
}

/* One that cannot be read says nothing, as to networkd itself. */
static int read_file(const struct fs *fs, const char *path, struct network_answer answers[static 2])
{
	struct network_answer said[ELEMENTSOF(keys)] = {};
	_cleanup_(freep) char *text = NULL;
	char *rest = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, path, MAX_CONF_BYTES, true, &text, &size);
	if (r < 0)
		return r;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		read_line(line, said);
	record(fs, path, said);
	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		if (said[i].is_said)
			answers[i] = said[i];
	return 0;
}

/* The main file of the first folder that has one, then the drop-ins: what is set last counts. */
static int read_files(const struct fs *fs, struct network_answer answers[static 2])
{
	_cleanup_(conf_files_done) struct conf_files files = {};
	int r = -ENOENT;

	for (size_t i = 0; i < ELEMENTSOF(main_files) && r < 0 && r != -ENOMEM; i++)
		r = read_file(fs, main_files[i], answers);
	if (r != -ENOMEM)
		r = conf_files_list(fs, folders, "*.conf", &files);
	for (size_t i = 0; i < files.n_items && r != -ENOMEM; i++)
		if (!files.items[i].is_masked)
			r = read_file(fs, files.items[i].path, answers);
	return r == -ENOMEM ? r : 0;
}

int observe_networkd(const struct fs *fs, struct node *n)
{
	struct network_answer answers[ELEMENTSOF(keys)] = {};
	int r;

	if (!fs_exists(fs, RUNTIME_PATH))
		return 0;
	r = read_files(fs, answers);
	if (r < 0)
		return r;

	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		n->is_networkd_foreign |= !answers[i].is_said || answers[i].value;
	return 0;
}
