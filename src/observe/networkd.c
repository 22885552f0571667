/* SPDX-License-Identifier: Apache-2.0 */
#include "networkd.h"

#include <strings.h>

#define RUNTIME_PATH   "run/systemd/netif/state" /* written by it, whatever it manages */
#define MAX_CONF_BYTES (1u << 20)

static const char *const folders[] = { "etc/systemd", "run/systemd", "usr/local/lib/systemd",
				       "usr/lib/systemd", "lib/systemd" };
static const char *const keys[] = { "ManageForeignRoutes", "ManageForeignRoutingPolicyRules" };

/* What is said last, by name of the drop-in; the main file has none and comes first. */
struct answer {
	char name[256];
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
static void read_line(char *line, const char *name, struct answer answers[static 2])
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
		struct answer *a = &answers[i];

		if (!streq(line, keys[i]))
			continue;
		a->is_said = true;
		a->value = !is_no(value);
		COPY(a->name, name);
	}
}

/* A capture has what was understood. */
static void record(const struct fs *fs, const char *path, const struct answer said[static 2])
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
static int read_file(const struct fs *fs, const char *path, const char *name,
		     struct answer answers[static 2])
{
	struct answer said[ELEMENTSOF(keys)] = {};
	_cleanup_(freep) char *text = NULL;
	char *rest = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, path, MAX_CONF_BYTES, true, &text, &size);
	if (r < 0)
		return r;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		read_line(line, name, said);
	record(fs, path, said);
	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		if (said[i].is_said && (!answers[i].is_said || strcmp(name, answers[i].name) >= 0))
			answers[i] = said[i];
	return 0;
}

static bool is_hidden(const struct fs *fs, size_t folder, const char *name)
{
	char path[512];

	for (size_t i = 0; i < folder; i++) {
		snprintf(path, sizeof(path), "%s/networkd.conf.d/%s", folders[i], name);
		if (fs_exists(fs, path))
			return true;
	}
	return false;
}

static int read_drop_ins(const struct fs *fs, size_t folder, struct answer answers[static 2])
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char path[512];
	int r;

	snprintf(path, sizeof(path), "%s/networkd.conf.d", folders[folder]);
	r = fs_list(fs, path, &names);
	for (size_t i = 0; i < names.n_names && r >= 0; i++) {
		const char *dot = strrchr(names.names[i], '.');

		if (!dot || !streq(dot, ".conf") || is_hidden(fs, folder, names.names[i]))
			continue;
		snprintf(path, sizeof(path), "%s/networkd.conf.d/%s", folders[folder],
			 names.names[i]);
		if (read_file(fs, path, names.names[i], answers) == -ENOMEM)
			return -ENOMEM;
	}
	return r == -ENOMEM ? r : 0;
}

int observe_networkd(const struct fs *fs, struct node *n)
{
	struct answer answers[ELEMENTSOF(keys)] = {};
	bool has_main = false;
	char path[64];
	int r = 0;

	if (!fs_exists(fs, RUNTIME_PATH))
		return 0;

	for (size_t i = 0; i < ELEMENTSOF(folders) && r != -ENOMEM; i++) {
		if (has_main)
			break;
		snprintf(path, sizeof(path), "%s/networkd.conf", folders[i]);
		r = read_file(fs, path, "", answers);
		has_main = r >= 0;
	}
	for (size_t i = 0; i < ELEMENTSOF(folders) && r != -ENOMEM; i++)
		r = read_drop_ins(fs, i, answers);
	if (r == -ENOMEM)
		return r;

	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		n->is_networkd_foreign |= !answers[i].is_said || answers[i].value;
	return 0;
}
