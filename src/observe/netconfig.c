/* SPDX-License-Identifier: Apache-2.0 */
#include "netconfig.h"

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>

#define MAX_BYTES   (256u << 10)
#define MAX_FILES   512  /* of all kinds together */
#define MODE_UNSAID (-2) /* which is the kernel's default */

/* A bond that is told of, and its mode. */
struct bond {
	char name[IFNAME_LEN];
	char uuid[40], id[64]; /* of NetworkManager's connection */
	int mode;
};

struct look {
	const struct fs *fs;
	struct node *n;
	struct bond *bonds; /* owned */
	size_t n_bonds;
	size_t n_files;             /* read until now */
	char (*includes)[PATH_MAX]; /* owned; of ifupdown: one file is read at a time */
	size_t n_includes;

	/* What the files of one subject have said until now. */
	struct enslave row;
	struct bond bond;
	bool is_bond, is_port, is_off;
	char to[40]; /* name of the bond, or UUID */
	const char *path;
};

/* Return: 1 when the line says something that is used, 0 when not, or -ENOMEM. */
typedef int key_handler(struct look *l, const char *section, const char *key, const char *value,
			uint32_t line);

static void look_done(struct look *l)
{
	free(l->bonds);
	free(l->includes);
}

static void begin(struct look *l, enum enslave_source source)
{
	l->row = (struct enslave){ .source = source, .mode = BOND_MODE_UNKNOWN };
	l->bond = (struct bond){ .mode = MODE_UNSAID };
	l->is_bond = l->is_port = l->is_off = false;
	l->to[0] = '\0';
}

static int parse_mode(const char *text)
{
	static const char *const names[] = { "balance-rr", "active-backup", "balance-xor",
					     "broadcast",  "802.3ad",       "balance-tlb",
					     "balance-alb" };

	for (int i = 0; i < (int)ELEMENTSOF(names); i++)
		if (streq(text, names[i]) || (text[0] == '0' + i && !text[1]))
			return i;
	return BOND_MODE_UNKNOWN;
}

/* Adds the words of @value to a list; an empty value empties it, as in systemd's files. */
static void add_words(char *list, size_t size, const char *value)
{
	size_t len = strlen(list);

	if (!value[0])
		list[0] = '\0';
	else if (len + strlen(value) + 2 <= size)
		snprintf(list + len, size - len, "%s%s", len ? " " : "", value);
}

/* MACs as digits alone: there are three ways to write one. */
static void add_macs(char *list, size_t size, const char *value)
{
	char digits[64] = "";
	size_t n = 0;

	if (!value[0])
		list[0] = '\0';
	for (;; value++) {
		if (isxdigit((unsigned char)*value) && n + 1 < sizeof(digits)) {
			digits[n++] = (char)tolower((unsigned char)*value);
		} else if (!*value || isspace((unsigned char)*value)) {
			digits[n] = '\0';
			if (n > 0)
				add_words(list, size, digits);
			n = 0;
		}
		if (!*value)
			return;
	}
}

static int add_row(struct look *l, const char *to)
{
	struct enslave *e = APPEND(l->n->enslaves, l->n->n_enslaves);

	if (!e)
		return -ENOMEM;
	*e = l->row;
	COPY(e->bond, to); /* a UUID is cut: see resolve() */
	return 0;
}

static int add_bond(struct look *l)
{
	struct bond *b;

	if (!l->bond.name[0])
		return 0;
	b = APPEND(l->bonds, l->n_bonds);
	if (!b)
		return -ENOMEM;
	*b = l->bond;
	return 0;
}

static void say_where(struct look *l, uint32_t line)
{
	snprintf(l->row.file, sizeof(l->row.file), "/%s", l->path);
	l->row.line = line;
}

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
static char *cut_line(char *at, uint32_t *ret_lines)
{
	const bool is_comment = at[strspn(at, " \t")] == '#' || at[strspn(at, " \t")] == ';';
	char *end = strchrnul(at, '\n');

	*ret_lines = 1;
	while (!is_comment && *end && end > at && end[-1] == '\\') {
		end[-1] = *end = ' ';
		end = strchrnul(end, '\n');
		++*ret_lines;
	}
	if (!*end)
		return end;
	*end = '\0';
	return end + 1;
}

/* One line of an ini file, an ifcfg file (no sections, quotes) or interfaces (blank for "="). */
static int scan_line(struct look *l, char *line, char *section, size_t size, uint32_t number,
		     key_handler *on_key)
{
	char *at = strip(line), *value;
	size_t len;

	if (!*at || *at == '#' || *at == ';')
		return 0;
	if (*at == '[') {
		at[strcspn(at, "]")] = '\0';
		copy(section, size, at + 1);
		return 1;
	}

	len = strcspn(at, l->row.source == ENSLAVE_IFUPDOWN ? " \t" : "=");
	if (len == 0 || (!at[len] && l->row.source != ENSLAVE_IFUPDOWN))
		return 0; /* no key, or no value where there has to be one */
	value = at[len] ? at + len + 1 : at + len;
	at[len] = '\0';
	value = strip(value);
	len = strlen(value);
	if (len >= 2 && (value[0] == '"' || value[0] == '\'') && value[len - 1] == value[0]) {
		value[len - 1] = '\0';
		value++;
	}
	return on_key(l, section, strip(at), value, number);
}

/*
 * Not by inih, which tells no line numbers, cuts long lines and knows neither of the two other
 * syntaxes. What is used goes into a capture, with empty lines for the rest.
 */
static int scan(struct look *l, char *text, size_t text_size, key_handler *on_key)
{
	_cleanup_(freep) char *kept = malloc(text_size + 2);
	char section[64] = "";
	uint32_t line = 1;
	size_t n = 0;

	if (!kept)
		return -ENOMEM;

	for (char *at = text, *next; *at; at = next) {
		_cleanup_(freep) char *whole = NULL;
		uint32_t n_lines;
		int r;

		next = cut_line(at, &n_lines);
		whole = strdup(at);
		if (!whole)
			return -ENOMEM;
		r = scan_line(l, at, section, sizeof(section), line, on_key);
		if (r < 0)
			return r;
		if (r > 0) {
			memcpy(kept + n, whole, strlen(whole));
			n += strlen(whole);
		}
		for (uint32_t i = 0; i < n_lines && n <= text_size; i++)
			kept[n++] = '\n';
		line += n_lines;
	}

	fs_record(l->fs, RECORD_FILE, l->path, kept, n);
	return 0;
}

/* Return: 1 when it was read, 0 when there is nothing to read, or -ENOMEM. */
static int look_at(struct look *l, const char *path, key_handler *on_key)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	if (l->n_files++ >= MAX_FILES)
		return 0;
	r = fs_read_all(l->fs, path, MAX_BYTES, true, &text, &size);
	if (r < 0)
		return r == -ENOMEM ? r : 0;

	l->path = path;
	r = scan(l, text, size, on_key);
	return r < 0 ? r : size > 0;
}

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
	if (r < 0)
		return r == -ENOMEM ? r : 0;

	for (size_t i = 0; i < names.n_names; i++) {
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
	return 0;
}

/* By name, whatever folder they are in. */
static int list_files(struct look *l, const char *const *folders, size_t n, const char *below,
		      const char *pattern, struct files *ret)
{
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++)
		r = list_folder(l, folders[i], below, pattern, ret);
	if (r >= 0 && ret->n > 0)
		qsort(ret->files, ret->n, sizeof(*ret->files), compare_file);
	return r;
}

/* --- networkd --- */

static const char *const networkd_folders[] = { "etc/systemd/network", "run/systemd/network",
						"usr/local/lib/systemd/network",
						"usr/lib/systemd/network", "lib/systemd/network" };

static int on_network_key(struct look *l, const char *section, const char *key, const char *value,
			  uint32_t line)
{
	struct enslave *e = &l->row;

	if (streq(section, "Network") && streq(key, "Bond")) {
		COPY(l->to, value);
		say_where(l, line);
		return 1;
	}
	if (!streq(section, "Match"))
		return 0;

	if (streq(key, "Name"))
		add_words(e->names, sizeof(e->names), value);
	else if (streq(key, "MACAddress"))
		add_macs(e->macs, sizeof(e->macs), value);
	else if (streq(key, "PermanentMACAddress"))
		add_macs(e->perm_macs, sizeof(e->perm_macs), value);
	else if (streq(key, "Path"))
		add_words(e->paths, sizeof(e->paths), value);
	else if (streq(key, "Driver"))
		add_words(e->drivers, sizeof(e->drivers), value);
	else
		e->has_more = true;
	return 1;
}

static int on_netdev_key(struct look *l, const char *section, const char *key, const char *value,
			 _unused_ uint32_t line)
{
	if (streq(section, "NetDev") && streq(key, "Name"))
		COPY(l->bond.name, value);
	else if (streq(section, "NetDev") && streq(key, "Kind"))
		l->is_bond = streq(value, "bond");
	else if (streq(section, "Bond") && streq(key, "Mode"))
		l->bond.mode = parse_mode(value);
	else
		return 0;
	return 1;
}

/* The file, and then its drop-ins. Return: 1 when there is something in it, 0, or -ENOMEM. */
static int look_at_networkd(struct look *l, const struct file *file, key_handler *on_key)
{
	_cleanup_(files_done) struct files drop_ins = {};
	char path[PATH_MAX], below[NAME_MAX + 8];
	int r;

	snprintf(path, sizeof(path), "%s/%s", file->folder, file->name);
	r = look_at(l, path, on_key);
	if (r <= 0)
		return r; /* a link to /dev/null, or empty: masked */

	snprintf(below, sizeof(below), "/%s.d", file->name);
	r = list_files(l, networkd_folders, ELEMENTSOF(networkd_folders), below, "*.conf",
		       &drop_ins);
	for (size_t i = 0; i < drop_ins.n && r >= 0; i++) {
		snprintf(path, sizeof(path), "%s%s/%s", drop_ins.files[i].folder, below,
			 drop_ins.files[i].name);
		r = look_at(l, path, on_key);
	}
	return r < 0 ? r : 1;
}

static int look_at_netdevs(struct look *l)
{
	_cleanup_(files_done) struct files f = {};
	int r;

	r = list_files(l, networkd_folders, ELEMENTSOF(networkd_folders), "", "*.netdev", &f);
	for (size_t i = 0; i < f.n && r >= 0; i++) {
		begin(l, ENSLAVE_NETWORKD);
		r = look_at_networkd(l, &f.files[i], on_netdev_key);
		if (r > 0 && l->is_bond)
			r = add_bond(l);
	}
	return MIN(r, 0);
}

static bool has_condition(const struct enslave *e)
{
	return e->names[0] || e->macs[0] || e->perm_macs[0] || e->paths[0] || e->drivers[0];
}

static int look_at_networks(struct look *l)
{
	_cleanup_(files_done) struct files f = {};
	int r;

	r = list_files(l, networkd_folders, ELEMENTSOF(networkd_folders), "", "*.network", &f);
	for (size_t i = 0; i < f.n && r >= 0; i++) {
		begin(l, ENSLAVE_NETWORKD);
		r = look_at_networkd(l, &f.files[i], on_network_key);
		/* Without [Match] it is ignored; and what may not match decides nothing. */
		if (r > 0 && (has_condition(&l->row) || (l->to[0] && l->row.has_more)))
			r = add_row(l, l->to);
	}
	return MIN(r, 0);
}

/* --- NetworkManager --- */

static int on_keyfile_key(struct look *l, const char *section, const char *key, const char *value,
			  uint32_t line)
{
	struct enslave *e = &l->row;

	if (streq(section, "connection") && streq(key, "type")) {
		l->is_bond = streq(value, "bond");
	} else if (streq(section, "connection") && streq(key, "id")) {
		COPY(l->bond.id, value);
	} else if (streq(section, "connection") && streq(key, "uuid")) {
		COPY(l->bond.uuid, value);
	} else if (streq(section, "connection") && streq(key, "interface-name")) {
		COPY(l->bond.name, value);
		COPY(e->names, value);
	} else if (streq(section, "connection") && streq(key, "autoconnect")) {
		l->is_off = streq(value, "false");
	} else if (streq(section, "connection") &&
		   (streq(key, "master") || streq(key, "controller"))) {
		COPY(l->to, value);
		say_where(l, line);
	} else if (streq(section, "connection") &&
		   (streq(key, "slave-type") || streq(key, "port-type"))) {
		l->is_port = streq(value, "bond");
	} else if (streq(section, "bond") && streq(key, "mode")) {
		l->bond.mode = parse_mode(value);
	} else if ((streq(section, "ethernet") || streq(section, "802-3-ethernet")) &&
		   streq(key, "mac-address")) {
		add_macs(e->macs, sizeof(e->macs), value);
	} else {
		return 0;
	}
	return 1;
}

static int look_at_keyfiles(struct look *l)
{
	static const char *const folders[] = {
		"etc/NetworkManager/system-connections",
		"run/NetworkManager/system-connections",
		"usr/lib/NetworkManager/system-connections",
	};
	_cleanup_(files_done) struct files f = {};
	int r;

	/* Older ones in /etc have no ending. */
	r = list_folder(l, folders[0], "", "*[!~]", &f);
	if (r >= 0)
		r = list_files(l, folders + 1, ELEMENTSOF(folders) - 1, "", "*.nmconnection", &f);
	for (size_t i = 0; i < f.n && r >= 0; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", f.files[i].folder, f.files[i].name);
		begin(l, ENSLAVE_NM);
		r = look_at(l, path, on_keyfile_key);
		if (r > 0 && l->is_bond)
			r = add_bond(l);
		else if (r > 0 && l->is_port && l->to[0] && !l->is_off)
			r = add_row(l, l->to);
	}
	return MIN(r, 0);
}

/* --- ifcfg --- */

static bool is_yes(const char *value)
{
	return strcasecmp(value, "yes") == 0 || strcasecmp(value, "true") == 0 || streq(value, "1");
}

static int on_ifcfg_key(struct look *l, _unused_ const char *section, const char *key,
			const char *value, uint32_t line)
{
	if (streq(key, "DEVICE")) {
		COPY(l->bond.name, value);
		COPY(l->row.names, value);
	} else if (streq(key, "HWADDR")) {
		add_macs(l->row.macs, sizeof(l->row.macs), value);
	} else if (streq(key, "ONBOOT")) {
		l->is_off = !is_yes(value);
	} else if (streq(key, "MASTER")) {
		COPY(l->to, value);
		say_where(l, line);
	} else if (streq(key, "SLAVE")) {
		l->is_port = is_yes(value);
	} else if (streq(key, "BONDING_OPTS")) {
		const char *mode = strstr(value, "mode=");
		char word[32] = "";

		l->is_bond = true;
		if (mode)
			snprintf(word, MIN(sizeof(word), strcspn(mode + 5, " \t") + 1), "%s",
				 mode + 5);
		l->bond.mode = parse_mode(word);
	} else {
		return 0;
	}
	return 1;
}

static int look_at_ifcfgs(struct look *l)
{
	static const char *const folders[] = { "etc/sysconfig/network-scripts" };
	_cleanup_(files_done) struct files f = {};
	int r;

	r = list_files(l, folders, ELEMENTSOF(folders), "", "ifcfg-*[!~]", &f);
	for (size_t i = 0; i < f.n && r >= 0; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", folders[0], f.files[i].name);
		begin(l, ENSLAVE_IFCFG);
		r = look_at(l, path, on_ifcfg_key);
		if (r > 0 && l->is_bond)
			r = add_bond(l);
		else if (r > 0 && l->is_port && l->to[0] && !l->is_off)
			r = add_row(l, l->to);
	}
	return MIN(r, 0);
}

/* --- ifupdown --- */

/* The end of a stanza is the begin of the next, or of another file. */
static int end_stanza(struct look *l)
{
	int r = 0;

	if (l->is_bond)
		r = add_bond(l);
	if (r >= 0 && l->is_port)
		r = add_row(l, l->to);
	begin(l, ENSLAVE_IFUPDOWN);
	return r;
}

/* @pattern may have globs in its last part. */
static int include(struct look *l, const char *pattern, bool is_folder)
{
	_cleanup_(files_done) struct files f = {};
	char folder[PATH_MAX];
	char *name;
	int r;

	snprintf(folder, sizeof(folder), "%s%s%s", pattern[0] == '/' ? "" : "etc/network/",
		 pattern + (pattern[0] == '/'), is_folder ? "/*" : "");
	name = strrchr(folder, '/');
	if (!name)
		return 0;
	*name++ = '\0';

	r = list_folder(l, folder, "", name, &f);
	if (f.n > 0)
		qsort(f.files, f.n, sizeof(*f.files), compare_file);
	for (size_t i = 0; i < f.n && r >= 0; i++) {
		char(*path)[PATH_MAX] = APPEND(l->includes, l->n_includes);

		if (!path)
			return -ENOMEM;
		if (snprintf(*path, sizeof(*path), "%s/%s", folder, f.files[i].name) >=
		    (int)sizeof(*path))
			l->n_includes--;
	}
	return r;
}

static bool is_option(const char *key, const char *name)
{
	/* "bond-mode" and "bond_mode" */
	return is_prefix(key, "bond") && (key[4] == '-' || key[4] == '_') && streq(key + 5, name);
}

/* "all" and "/REGEX/" are no names and no globs: what they mean is for ifenslave to know. */
static bool has_pattern(const char *words)
{
	while (*words) {
		size_t len = strcspn(words, " \t");

		if (*words == '/' || (len == 3 && is_prefix(words, "all")))
			return true;
		words += len;
		words += strspn(words, " \t");
	}
	return false;
}

static int on_interfaces_key(struct look *l, _unused_ const char *section, const char *key,
			     const char *value, uint32_t line)
{
	static const char *const stanzas[] = { "iface", "mapping", "auto", "rename" };
	bool is_stanza = is_prefix(key, "allow-") || is_prefix(key, "no-");
	int r;

	for (size_t i = 0; i < ELEMENTSOF(stanzas); i++)
		is_stanza |= streq(key, stanzas[i]);
	if (is_stanza || is_prefix(key, "source")) {
		r = end_stanza(l);
		if (r >= 0 && is_prefix(key, "source"))
			r = include(l, value, streq(key, "source-directory"));
		if (r >= 0 && streq(key, "iface"))
			snprintf(l->bond.name, MIN(sizeof(l->bond.name), strcspn(value, " \t") + 1),
				 "%s", value);
		return r < 0 ? r : 1;
	}

	if (is_option(key, "slaves") || streq(key, "slaves")) {
		l->is_bond = true;
		if (streq(value, "none"))
			return 1;
		l->is_port = true;
		l->row.has_more = has_pattern(value);
		COPY(l->row.names, l->row.has_more ? "" : value);
		COPY(l->to, l->bond.name);
		say_where(l, line);
	} else if (is_option(key, "master")) {
		l->is_port = true;
		COPY(l->row.names, l->bond.name);
		COPY(l->to, value);
		say_where(l, line);
	} else if (is_option(key, "mode")) {
		l->is_bond = true;
		l->bond.mode = parse_mode(value);
	} else {
		return 0;
	}
	return 1;
}

static int look_at_interfaces(struct look *l)
{
	char(*first)[PATH_MAX] = APPEND(l->includes, l->n_includes);
	int r = 0;

	if (!first)
		return -ENOMEM;
	COPY(*first, "etc/network/interfaces");

	/* The list grows while it is read; MAX_FILES ends it where files include each other. */
	for (size_t i = 0; i < l->n_includes && i < MAX_FILES && r >= 0; i++) {
		char path[PATH_MAX];

		COPY(path, l->includes[i]);
		begin(l, ENSLAVE_IFUPDOWN);
		r = look_at(l, path, on_interfaces_key);
		if (r >= 0)
			r = end_stanza(l);
	}
	return r;
}

/* --- all of them --- */

/* @to was cut to the length of an interface's name: of a UUID the first 15 digits are as unique. */
static bool is_meant(const char *name, const char *to)
{
	return name[0] &&
	       (streq(name, to) || (strlen(to) == IFNAME_LEN - 1 && is_prefix(name, to)));
}

/*
 * What a port's file does not say stands in the bond's, which NetworkManager may name by UUID or ID
 * as well. Of several stanzas for one bond the one that says its mode counts.
 */
static void resolve_row(const struct look *l, struct enslave *e)
{
	const struct bond *found = NULL;

	for (size_t k = 0; k < l->n_bonds && e->bond[0]; k++) {
		const struct bond *b = &l->bonds[k];
		const bool is_by_nm = e->source == ENSLAVE_NM &&
				      (is_meant(b->uuid, e->bond) || is_meant(b->id, e->bond));

		if ((streq(b->name, e->bond) || is_by_nm) && (!found || found->mode == MODE_UNSAID))
			found = b;
	}
	if (!found)
		return;
	COPY(e->bond, found->name);
	if (e->mode == BOND_MODE_UNKNOWN)
		e->mode = found->mode == MODE_UNSAID ? 0 : found->mode;
}

static void resolve(struct look *l)
{
	for (size_t i = 0; i < l->n->n_enslaves; i++)
		resolve_row(l, &l->n->enslaves[i]);
}

int observe_netconfig(const struct fs *fs, struct node *n)
{
	_cleanup_(look_done) struct look l = { .fs = fs, .n = n };
	bool is_asked = false;
	int r;

	for (size_t i = 0; i < n->n_pcis; i++)
		is_asked |= n->pcis[i].has_sriov && n->pcis[i].driver[0];
	if (!is_asked)
		return 0;

	r = look_at_netdevs(&l);
	if (r >= 0)
		r = look_at_networks(&l);
	if (r >= 0)
		r = look_at_keyfiles(&l);
	if (r >= 0)
		r = look_at_ifcfgs(&l);
	if (r >= 0)
		r = look_at_interfaces(&l);
	if (r >= 0)
		resolve(&l);
	return r;
}
