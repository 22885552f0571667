/* SPDX-License-Identifier: Apache-2.0 */
#include "netconfig.h"

#include "../os/conf-files.h"

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>

#define MAX_BYTES (256u << 10)
#define MAX_FILES 512u /* of all kinds together */

enum manager {
	NETWORKD,
	KEYFILE, /* of NetworkManager */
	IFCFG,
	IFUPDOWN,
};

static const struct {
	enum manager manager;
	const char *folders[3], *pattern;
} places[] = {
	{ NETWORKD, { "etc/systemd/network", "run/systemd/network" }, "*.network" },
	{ KEYFILE, { "etc/NetworkManager/system-connections" }, "*[!~]" }, /* older: no ending */
	{ KEYFILE, { "run/NetworkManager/system-connections" }, "*.nmconnection" },
	{ IFCFG, { "etc/sysconfig/network-scripts" }, "ifcfg-*[!~]" },
	{ IFUPDOWN, { "etc/network" }, "interfaces" },
	{ IFUPDOWN, { "etc/network/interfaces.d" }, "*" },
};

enum what {
	NAMES, /* ports: all keys of this kind that are given have to match */
	BOND,  /* those ports are ports of a bond */
	PORTS, /* the bond's own list of its ports */
};

/* A key that is not here is not used, and so in no capture. */
static const struct {
	enum manager manager;
	enum what what;
	const char *key;
	const char *value; /* NULL: any */
} keys[] = {
	{ NETWORKD, NAMES, "Name", NULL },
	{ NETWORKD, NAMES, "MACAddress", NULL },
	{ NETWORKD, NAMES, "PermanentMACAddress", NULL },
	{ NETWORKD, NAMES, "Path", NULL },
	{ NETWORKD, NAMES, "Driver", NULL },
	{ NETWORKD, BOND, "Bond", NULL },
	{ KEYFILE, NAMES, "interface-name", NULL },
	{ KEYFILE, NAMES, "mac-address", NULL },
	{ KEYFILE, BOND, "slave-type", "bond" },
	{ KEYFILE, BOND, "port-type", "bond" },
	{ IFCFG, NAMES, "DEVICE", NULL },
	{ IFCFG, NAMES, "HWADDR", NULL },
	{ IFCFG, BOND, "MASTER", NULL },
	{ IFUPDOWN, NAMES, "iface", NULL },
	{ IFUPDOWN, BOND, "bond-master", NULL },
	{ IFUPDOWN, BOND, "bond_master", NULL },
	{ IFUPDOWN, PORTS, "bond-slaves", NULL },
	{ IFUPDOWN, PORTS, "bond_slaves", NULL },
	{ IFUPDOWN, PORTS, "slaves", NULL },
};

/* A line: a key of the table above, or -1 for another or a section, and where its value is. */
struct config_line {
	const char *at, *value;
	size_t len, value_len;
	int key;
};

static bool is_key(enum manager manager, size_t key, const struct config_line *l)
{
	const size_t n = strlen(keys[key].key);

	return keys[key].manager == manager && l->len > n &&
	       strncmp(l->at, keys[key].key, n) == 0 && strchr(" \t=", l->at[n]);
}

/* Takes the next line from @at, with those it is continued on. Return: false at the end. */
static bool next_line(const char **at, enum manager manager, struct config_line *ret)
{
	const char *begin = *at + strspn(*at, " \t\r\n"), *end = strchrnul(begin, '\n');

	*ret = (struct config_line){ .at = begin, .key = -1 };
	while (!strchr("#;", *begin) && *end && end[-1] == '\\')
		end = strchrnul(end + 1, '\n');
	ret->len = (size_t)(end - begin);
	*at = end;
	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		if (is_key(manager, i, ret)) {
			const char *value = begin + strlen(keys[i].key);

			ret->key = (int)i;
			ret->value = value + strspn(value, " \t=");
			ret->value_len = (size_t)(end - MIN(ret->value, end));
		}
	return *begin;
}

/* A MAC as digits alone: there are three ways to write one. */
static void strip_mac(const char *mac, char *ret, size_t size)
{
	size_t n = 0;

	for (; *mac && n + 1 < size; mac++)
		if (isxdigit((unsigned char)*mac))
			ret[n++] = (char)tolower((unsigned char)*mac);
	ret[n] = '\0';
}

static bool is_mac(const char *word, const char *mac)
{
	char a[MAC_LEN], b[MAC_LEN];

	strip_mac(word, a, sizeof(a));
	strip_mac(mac, b, sizeof(b));
	return *b && streq(a, b);
}

static bool is_port(const char *word, const struct netdev *nd, const struct pci *pci)
{
	char path[PCI_LEN + 8];

	snprintf(path, sizeof(path), "pci-%s", pci->address); /* udev's ID_PATH */
	return fnmatch(word, nd->name, 0) == 0 || fnmatch(word, path, 0) == 0 ||
	       fnmatch(word, pci->driver, 0) == 0 || is_mac(word, nd->mac) ||
	       is_mac(word, nd->perm_mac);
}

/* As systemd reads its lists: an initial "!" turns the whole list over. */
static bool is_listed(const struct config_line *l, const struct netdev *nd, const struct pci *pci)
{
	static const char between[] = " \t\r\n\\\"'";
	const char *at = l->value, *end = at + l->value_len;
	const bool is_inverted = l->value_len > 0 && *at == '!';
	bool found = false;

	for (at += is_inverted; at < end && !found;) {
		const size_t n = MIN(strcspn(at, between), (size_t)(end - at));
		char word[64];

		snprintf(word, sizeof(word), "%.*s", (int)MIN(n, sizeof(word) - 1), at);
		found = n > 0 && n < sizeof(word) && is_port(word, nd, pci);
		at += n;
		at += strspn(at, between);
	}
	return found != is_inverted;
}

/* What the lines so far say of a port. */
struct port_answer {
	uint32_t given, met; /* bits of keys: names, and those that are the port's */
	bool is_bond;
	bool is_port; /* ifupdown: without a look at the rest, which is about others */
};

static void on_key(struct port_answer *a, const struct config_line *l, const struct netdev *nd,
		   const struct pci *pci)
{
	const bool is_ifupdown = keys[l->key].manager == IFUPDOWN;
	const uint32_t bit = 1u << l->key;

	switch (keys[l->key].what) {
	case NAMES:
		if (is_ifupdown) /* the next stanza */
			a->given = a->met = 0;
		a->given |= bit;
		a->met |= is_listed(l, nd, pci) ? bit : 0;
		break;
	case BOND:
		a->is_bond |= !keys[l->key].value || is_prefix(l->value, keys[l->key].value);
		a->is_port |= is_ifupdown && a->met;
		break;
	case PORTS:
		a->is_port |= is_listed(l, nd, pci);
	}
}

static bool names_port(const char *text, enum manager manager, const struct netdev *nd,
		       const struct pci *pci)
{
	bool is_match = manager != NETWORKD;
	struct port_answer a = {};
	struct config_line l;

	while (!a.is_port && next_line(&text, manager, &l)) {
		if (manager == NETWORKD && *l.at == '[')
			is_match = is_prefix(l.at, "[Match]");
		if (l.key >= 0 && (is_match || keys[l.key].what != NAMES))
			on_key(&a, &l, nd, pci);
	}
	return a.is_port || (manager != IFUPDOWN && a.is_bond && a.given && a.met == a.given);
}

/* Lines whose keys are used, and which section they are in: the others may be passwords. */
static int record(const struct fs *fs, const char *path, const char *text, enum manager manager)
{
	_cleanup_(stream_done) struct stream out = {};
	struct config_line l;

	if (stream_open(&out) < 0)
		return -ENOMEM;
	while (next_line(&text, manager, &l))
		if (l.key >= 0)
			fprintf(out.f, "%.*s\n", (int)l.len, l.at);
		else if (*l.at == '[')
			fputs(is_prefix(l.at, "[Match]") ? "[Match]\n" : "[Other]\n", out.f);
	fputs("# other lines are left out\n", out.f);
	if (stream_close(&out) < 0)
		return -ENOMEM;
	fs_record(fs, RECORD_FILE, path, out.text, out.size);
	return 0;
}

/* A bound function with SR-IOV whose netdev has no master yet, or NULL. */
static const struct pci *function_of(const struct node *n, const struct netdev *nd)
{
	const struct pci *pci = nd->master ? NULL : node_pci(n, nd->pci);

	return pci && pci->has_sriov && pci->driver[0] ? pci : NULL;
}

static int look_at_file(const struct fs *fs, const char *path, enum manager manager, struct node *n)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, path, MAX_BYTES, true, &text, &size);
	if (r >= 0 && fs->on_read)
		r = record(fs, path, text, manager);
	for (size_t i = 0; r >= 0 && i < n->n_netdevs; i++) {
		struct netdev *nd = &n->netdevs[i];
		const struct pci *pci = nd->bond_file[0] ? NULL : function_of(n, nd);

		if (!pci || !names_port(text, manager, nd, pci))
			continue;
		nd->bond_file[0] = '/';
		copy(nd->bond_file + 1, sizeof(nd->bond_file) - 1, path);
	}
	return r == -ENOMEM ? r : 0;
}

int observe_netconfig(const struct fs *fs, struct node *n)
{
	bool is_asked = false;
	size_t n_files = 0;
	int r = 0;

	for (size_t i = 0; i < n->n_netdevs; i++)
		is_asked |= function_of(n, &n->netdevs[i]) != NULL;
	for (size_t i = 0; is_asked && i < ELEMENTSOF(places) && r != -ENOMEM; i++) {
		_cleanup_(conf_files_done) struct conf_files files = {};

		r = conf_files_list(fs, places[i].folders, places[i].pattern, &files);
		for (size_t k = 0; k < files.n_items && r != -ENOMEM; k++)
			if (!files.items[k].is_masked && n_files++ < MAX_FILES)
				r = look_at_file(fs, files.items[k].path, places[i].manager, n);
	}
	return r == -ENOMEM ? r : 0;
}
