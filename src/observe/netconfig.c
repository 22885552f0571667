/* SPDX-License-Identifier: Apache-2.0 */
#include "netconfig.h"

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>

#define MAX_BYTES    (256u << 10)
#define MAX_FILES    512u  /* of all kinds together */
#define MAX_SUBJECTS 4096u /* stanzas of ifupdown, and the other files */
#define MAX_DEPTH    4u    /* of files that ifupdown includes */

enum source {
	NETWORKD,
	KEYFILE, /* of NetworkManager */
	IFCFG,
	IFUPDOWN,
};

/* What files say of a subject. Lists are blank-separated; an empty one holds for every netdev. */
enum field {
	NAMES,
	MACS,
	PERM_MACS,
	PATHS, /* udev's ID_PATH, "pci-0000:17:00.0" */
	DRIVERS,
	_LIST_N,
	MORE = _LIST_N, /* further conditions */
	BOND,           /* the one it is to be a port of */
	KIND,           /* of what it is to be a port of */
	AUTO,
	_FIELD_N
};

/* A key that is not here is not used, and so in no capture. */
static const struct {
	enum source source;
	const char *section, *key; /* NULL: any other key */
	enum field field;
} keys[] = {
	{ NETWORKD, "Match", "Name", NAMES },
	{ NETWORKD, "Match", "MACAddress", MACS },
	{ NETWORKD, "Match", "PermanentMACAddress", PERM_MACS },
	{ NETWORKD, "Match", "Path", PATHS },
	{ NETWORKD, "Match", "Driver", DRIVERS },
	{ NETWORKD, "Match", NULL, MORE },
	{ NETWORKD, "Network", "Bond", BOND },
	{ KEYFILE, "connection", "interface-name", NAMES },
	{ KEYFILE, "ethernet", "mac-address", MACS },
	{ KEYFILE, "802-3-ethernet", "mac-address", MACS },
	{ KEYFILE, "connection", "master", BOND },
	{ KEYFILE, "connection", "controller", BOND },
	{ KEYFILE, "connection", "slave-type", KIND },
	{ KEYFILE, "connection", "port-type", KIND },
	{ KEYFILE, "connection", "autoconnect", AUTO },
	{ IFCFG, "", "DEVICE", NAMES },
	{ IFCFG, "", "HWADDR", MACS },
	{ IFCFG, "", "MASTER", BOND },
	{ IFCFG, "", "SLAVE", KIND },
	{ IFCFG, "", "ONBOOT", AUTO },
	{ IFUPDOWN, "", "iface", NAMES },
	{ IFUPDOWN, "", "bond-master", BOND },
	{ IFUPDOWN, "", "bond_master", BOND },
	{ IFUPDOWN, "", "bond-slaves", MORE },
	{ IFUPDOWN, "", "bond_slaves", MORE },
	{ IFUPDOWN, "", "slaves", MORE },
	{ IFUPDOWN, "", "source", AUTO },
	{ IFUPDOWN, "", "source-directory", AUTO },
};

struct subject {
	enum source source;
	char fields[_FIELD_N][256];
	char path[PATH_LEN]; /* absolute: of the file that names the bond */
};

struct look {
	const struct fs *fs;
	struct node *n;
	bool *is_decided; /* owned; of each netdev, by networkd: its first file that matches counts
			   */
	unsigned n_files, n_subjects, depth;
};

static void look_done(struct look *l)
{
	free(l->is_decided);
}

/* --- netdevs that are meant --- */

/* As systemd reads its lists: an initial "!" turns the whole list over. */
static bool is_listed(const char *list, const char *value)
{
	const bool is_inverted = list[0] == '!';
	bool found = !list[0];
	char word[64];

	for (list += is_inverted; *list && !found;) {
		const size_t n = strcspn(list, " \t");

		snprintf(word, sizeof(word), "%.*s", (int)MIN(n, sizeof(word) - 1), list);
		found = value[0] && n < sizeof(word) && fnmatch(word, value, 0) == 0;
		list += n + strspn(list + n, " \t");
	}
	return found != is_inverted;
}

/* As digits alone: there are three ways to write one. */
static void strip_mac(const char *mac, char *ret, size_t size)
{
	size_t n = 0;

	for (; *mac && n + 1 < size; mac++)
		if (isxdigit((unsigned char)*mac) || strchr(" \t!", *mac))
			ret[n++] = (char)tolower((unsigned char)*mac);
	ret[n] = '\0';
}

static bool is_meant(const struct subject *s, const struct netdev *nd, const struct pci *pci)
{
	char mac[MAC_LEN], perm_mac[MAC_LEN], path[PCI_LEN + 8];

	strip_mac(nd->mac, mac, sizeof(mac));
	strip_mac(nd->perm_mac, perm_mac, sizeof(perm_mac));
	snprintf(path, sizeof(path), "pci-%s", pci->address);
	return is_listed(s->fields[NAMES], nd->name) &&
	       (is_listed(s->fields[MACS], mac) || is_listed(s->fields[MACS], perm_mac)) &&
	       is_listed(s->fields[PERM_MACS], perm_mac) && is_listed(s->fields[PATHS], path) &&
	       is_listed(s->fields[DRIVERS], pci->driver);
}

static const struct pci *function_of(const struct node *n, const struct netdev *nd)
{
	const struct pci *pci = nd->master ? NULL : node_pci(n, nd->pci);

	return pci && pci->has_sriov && pci->driver[0] ? pci : NULL;
}

static bool is_no(const char *value)
{
	return strcasecmp(value, "no") == 0 || strcasecmp(value, "false") == 0 || streq(value, "0");
}

static bool is_port(const struct subject *s)
{
	const char *kind = s->fields[KIND];

	if (s->source == KEYFILE ? !streq(kind, "bond")
				 : s->source == IFCFG && (!*kind || is_no(kind)))
		return false;
	return s->fields[BOND][0] && !is_no(s->fields[AUTO]);
}

static bool has_condition(const struct subject *s)
{
	bool has = s->fields[MORE][0];

	for (size_t i = 0; i < _LIST_N; i++)
		has |= s->fields[i][0] != '\0';
	return has;
}

static void judge(struct look *l, const struct subject *s)
{
	/* networkd ignores a file without [Match]. */
	if (l->n_subjects++ >= MAX_SUBJECTS || (s->source == NETWORKD && !has_condition(s)))
		return;

	for (size_t i = 0; i < l->n->n_netdevs; i++) {
		struct netdev *nd = &l->n->netdevs[i];
		const struct pci *pci = function_of(l->n, nd);

		if (!pci || (s->source == NETWORKD && l->is_decided[i]) || !is_meant(s, nd, pci))
			continue;
		if (is_port(s) && !nd->bond_file[0])
			COPY(nd->bond_file, s->path);
		/* What may not match decides nothing. */
		l->is_decided[i] |= s->source == NETWORKD && (is_port(s) || !s->fields[MORE][0]);
	}
}

/* --- lines --- */

static char *strip(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	for (n = strlen(s); n > 0 && isspace((unsigned char)s[n - 1]); n--)
		;
	s[n] = '\0';
	return s;
}

/* Ends the line that begins at @at, joined with those it is continued on, and returns the next. */
static char *cut_line(char *at)
{
	const bool is_comment = strchr("#;", at[strspn(at, " \t")]);
	char *end = strchrnul(at, '\n');

	while (!is_comment && *end && end > at && end[-1] == '\\') {
		end[-1] = *end = ' ';
		end = strchrnul(end, '\n');
	}
	if (!*end)
		return end;
	*end = '\0';
	return end + 1;
}

/* Parts "KEY=VALUE", of ifupdown "KEY VALUE"; quotes go. */
static char *cut_value(char *line, enum source source)
{
	const size_t n = strcspn(line, source == IFUPDOWN ? " \t" : "=");
	char *value = strip(line[n] ? line + n + 1 : line + n);
	const size_t len = strlen(value);

	line[n] = '\0';
	strip(line);
	if (len < 2 || (value[0] != '"' && value[0] != '\'') || value[len - 1] != value[0])
		return value;
	value[len - 1] = '\0';
	return value + 1;
}

static int find_key(enum source source, const char *section, const char *key)
{
	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		if (keys[i].source == source && streq(keys[i].section, section) &&
		    (!keys[i].key || streq(keys[i].key, key)))
			return (int)i;
	return -ENOENT;
}

/* Lists of networkd grow, and an empty value empties them. What is too long is not understood. */
static void set_field(struct subject *s, enum field field, const char *value)
{
	char *to = s->fields[field], digits[sizeof(s->fields[0])];
	size_t n = s->source == NETWORKD && field < _LIST_N ? strlen(to) : 0;

	if (field == MACS || field == PERM_MACS) {
		strip_mac(value, digits, sizeof(digits));
		value = digits;
	}
	if (!value[0])
		n = 0;
	if (n + strlen(value) + 2 > sizeof(s->fields[0])) {
		to[0] = '\0';
		COPY(s->fields[MORE], "too long");
		return;
	}
	snprintf(to + n, sizeof(s->fields[0]) - n, "%s%s", n ? " " : "", value);
}

static int on_interfaces_key(struct look *l, struct subject *s, size_t key, const char *value);

static int on_line(struct look *l, struct subject *s, char *line, char *section, size_t size,
		   const char *path, FILE *copy_to)
{
	const char *value;
	int key;

	if (!*line || strchr("#;", *line))
		return 0;
	if (*line == '[') {
		line[strcspn(line, "]")] = '\0';
		copy(section, size, line + 1);
		return 0;
	}

	value = cut_value(line, s->source);
	key = find_key(s->source, section, line);
	if (key < 0)
		return 0;
	if (copy_to && *section)
		fprintf(copy_to, "[%s]\n", section);
	if (copy_to)
		fprintf(copy_to, "%s%s%s\n", keys[key].key ? keys[key].key : "Other",
			s->source == IFUPDOWN ? " " : "=", keys[key].key ? value : "yes");
	if (keys[key].field == BOND || s->source == IFUPDOWN)
		COPY(s->path, path);
	if (s->source == IFUPDOWN)
		return on_interfaces_key(l, s, (size_t)key, value);
	set_field(s, keys[key].field, value);
	return 0;
}

/* Return: 1 when it was read, 0 when there is nothing to read, or -ENOMEM. */
static int read_file(struct look *l, struct subject *s, const char *path)
{
	_cleanup_(freep) char *text = NULL, *shown = NULL;
	char absolute[PATH_MAX + 1], section[64] = "";
	size_t size, n_shown = 0;
	FILE *copy_to = NULL;
	int r;

	if (l->n_files++ >= MAX_FILES)
		return 0;
	r = fs_read_all(l->fs, path, MAX_BYTES, true, &text, &size);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (l->fs->on_read && !(copy_to = open_memstream(&shown, &n_shown)))
		return -ENOMEM;

	snprintf(absolute, sizeof(absolute), "/%s", path);
	for (char *at = text, *next; *at && r >= 0; at = next) {
		next = cut_line(at);
		r = on_line(l, s, strip(at), section, sizeof(section), absolute, copy_to);
	}
	if (copy_to) {
		if (size > 0)
			fputs("# other keys are left out\n", copy_to);
		if (text_close(copy_to, &shown) < 0)
			r = -ENOMEM;
	}
	if (r < 0)
		return r;
	if (shown)
		fs_record(l->fs, RECORD_FILE, path, shown, n_shown);
	return size > 0;
}

/* --- files --- */

/* A file of a set: those of higher folders hide those of the same name in lower ones. */
struct file {
	char name[NAME_MAX + 1];
	const char *folder;
};

struct files {
	struct file *files; /* owned */
	size_t n;
};

static void files_done(struct files *f)
{
	free(f->files);
}

static int compare_file(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

static int list_folder(struct look *l, const char *folder, const char *below, const char *pattern,
		       struct files *f)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%s%s", folder, below);
	r = fs_list(l->fs, path, &names);
	for (size_t i = 0; i < names.n_names && f->n < MAX_FILES && r >= 0; i++) {
		bool is_hidden = fnmatch(pattern, names.names[i], FNM_PERIOD) != 0;
		struct file *file;

		for (size_t k = 0; k < f->n && !is_hidden; k++)
			is_hidden = streq(f->files[k].name, names.names[i]);
		if (is_hidden)
			continue;
		file = APPEND(f->files, f->n);
		if (!file)
			return -ENOMEM;
		COPY(file->name, names.names[i]);
		file->folder = folder;
	}
	return r == -ENOMEM ? r : 0;
}

/* By name, whatever folder they are in. */
static int list_files(struct look *l, const char *const *folders, const char *below,
		      const char *pattern, struct files *ret)
{
	int r = 0;

	for (; *folders && r >= 0; folders++)
		r = list_folder(l, *folders, below, pattern, ret);
	if (r >= 0 && ret->n > 0)
		qsort(ret->files, ret->n, sizeof(*ret->files), compare_file);
	return r;
}

/* All files of a kind, each a subject; those of networkd with their drop-ins. */
static int look_at_files(struct look *l, enum source source, const char *const *folders,
			 const char *pattern)
{
	_cleanup_(files_done) struct files f = {};
	int r;

	r = list_files(l, folders, "", pattern, &f);
	for (size_t i = 0; i < f.n && r >= 0; i++) {
		_cleanup_(files_done) struct files drop_ins = {};
		struct subject s = { .source = source };
		char path[PATH_MAX], below[NAME_MAX + 8];

		snprintf(path, sizeof(path), "%s/%s", f.files[i].folder, f.files[i].name);
		r = read_file(l, &s, path);
		if (r <= 0)
			continue; /* a link to /dev/null, or empty: masked */
		snprintf(below, sizeof(below), "/%s.d", f.files[i].name);
		if (source == NETWORKD)
			r = list_files(l, folders, below, "*.conf", &drop_ins);
		for (size_t k = 0; k < drop_ins.n && r >= 0; k++) {
			snprintf(path, sizeof(path), "%s%s/%s", drop_ins.files[k].folder, below,
				 drop_ins.files[k].name);
			r = read_file(l, &s, path);
		}
		if (r >= 0)
			judge(l, &s);
	}
	return MIN(r, 0);
}

/* --- ifupdown --- */

static int look_at_interfaces(struct look *l, const char *path)
{
	struct subject s = { .source = IFUPDOWN };

	return MIN(read_file(l, &s, path), 0);
}

/* @pattern may have globs in its last part. */
static int include(struct look *l, const char *pattern, bool is_folder)
{
	_cleanup_(files_done) struct files f = {};
	char folder[PATH_MAX], *name;
	int r;

	snprintf(folder, sizeof(folder), "%s%s%s", pattern[0] == '/' ? "" : "etc/network/",
		 pattern + (pattern[0] == '/'), is_folder ? "/*" : "");
	name = strrchr(folder, '/');
	if (!name || l->depth == MAX_DEPTH)
		return 0;
	*name++ = '\0';

	l->depth++;
	r = list_folder(l, folder, "", name, &f);
	for (size_t i = 0; i < f.n && r >= 0; i++) {
		char path[PATH_MAX + NAME_MAX];

		snprintf(path, sizeof(path), "%s/%s", folder, f.files[i].name);
		r = strlen(path) < PATH_MAX ? look_at_interfaces(l, path) : 0;
	}
	l->depth--;
	return r;
}

/* "all" and "/REGEX/" are no names and no globs: what they mean is for ifenslave to know. */
static bool has_pattern(const char *words)
{
	while (*words) {
		const size_t n = strcspn(words, " \t");

		if (*words == '/' || (n == 3 && is_prefix(words, "all")))
			return true;
		words += n + strspn(words + n, " \t");
	}
	return false;
}

/* The field says what a key is about; a bond names its ports, or a port its bond. */
static int on_interfaces_key(struct look *l, struct subject *s, size_t key, const char *value)
{
	struct subject ports = { .source = IFUPDOWN, .fields[BOND] = "yes" };
	char name[IFNAME_LEN];

	switch (keys[key].field) {
	case NAMES:
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(value, " \t"), value);
		set_field(s, NAMES, name);
		return 0;
	case AUTO:
		return include(l, value, streq(keys[key].key, "source-directory"));
	case BOND:
		set_field(&ports, NAMES, s->fields[NAMES]);
		break;
	default:
		if (!*value || streq(value, "none"))
			return 0;
		set_field(&ports, NAMES, has_pattern(value) ? "" : value);
	}
	COPY(ports.path, s->path);
	judge(l, &ports);
	return 0;
}

/* --- all of them --- */

static int look_at_all(struct look *l)
{
	static const char *const networkd[] = {
		"etc/systemd/network",     "run/systemd/network", "usr/local/lib/systemd/network",
		"usr/lib/systemd/network", "lib/systemd/network", NULL
	};
	static const char *const keyfiles[] = { "etc/NetworkManager/system-connections", NULL };
	static const char *const other_keyfiles[] = { "run/NetworkManager/system-connections",
						      "usr/lib/NetworkManager/system-connections",
						      NULL };
	static const char *const ifcfg[] = { "etc/sysconfig/network-scripts", NULL };
	int r;

	r = look_at_files(l, NETWORKD, networkd, "*.network");
	if (r >= 0) /* older ones have no ending */
		r = look_at_files(l, KEYFILE, keyfiles, "*[!~]");
	if (r >= 0)
		r = look_at_files(l, KEYFILE, other_keyfiles, "*.nmconnection");
	if (r >= 0)
		r = look_at_files(l, IFCFG, ifcfg, "ifcfg-*[!~]");
	if (r >= 0)
		r = look_at_interfaces(l, "etc/network/interfaces");
	return r;
}

int observe_netconfig(const struct fs *fs, struct node *n)
{
	_cleanup_(look_done) struct look l = { .fs = fs, .n = n };
	bool is_asked = false;

	for (size_t i = 0; i < n->n_netdevs; i++)
		is_asked |= function_of(n, &n->netdevs[i]) != NULL;
	if (!is_asked)
		return 0;
	l.is_decided = calloc(n->n_netdevs, sizeof(*l.is_decided));
	return l.is_decided ? look_at_all(&l) : -ENOMEM;
}
