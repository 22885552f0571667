/* SPDX-License-Identifier: Apache-2.0 */
#include "netconfig.h"

#include "../model/boots.h"
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
	const char *folders[4], *pattern;
} places[] = {
	{ NETWORKD,
	  { "etc/systemd/network", "run/systemd/network", "usr/lib/systemd/network" },
	  "*.network" },
	{ KEYFILE, { "etc/NetworkManager/system-connections" }, "*[!~]" }, /* older: no ending */
	{ KEYFILE, { "run/NetworkManager/system-connections" }, "*.nmconnection" },
	{ IFCFG, { "etc/sysconfig/network-scripts" }, "ifcfg-*[!~]" },
	{ IFUPDOWN, { "etc/network" }, "interfaces" },
	{ IFUPDOWN, { "etc/network/interfaces.d" }, "*" },
	{ IFUPDOWN, { "run/network/interfaces.d" }, "*" },
};

enum what {
	NAMES,  /* ports: all keys of this kind that are given have to match */
	BOND,   /* those ports are ports of a bond */
	PORTS,  /* the bond's own list of its ports */
	WAY,    /* those ports get a default route, or what is stacked on them may */
	ROUTE,  /* as WAY, unless one of the next kind leaves that route out */
	NO_WAY, /* as DEFROUTE=no */
	LOWER,  /* the ports that something is stacked on, which may get a default route */
	OTHER,  /* a condition that is not looked at: the file may be of another machine */
};

/* A key that is not here is not used, and so in no capture. */
static const struct {
	enum manager manager;
	enum what what;
	const char *section; /* NULL: any */
	const char *key;
	const char *value; /* it has; NULL: any that does not say "no" */
} keys[] = {
	{ NETWORKD, OTHER, "[Match]", "", NULL }, /* any key but those behind it */
	{ NETWORKD, NAMES, "[Match]", "Name", NULL },
	{ NETWORKD, NAMES, "[Match]", "MACAddress", NULL },
	{ NETWORKD, NAMES, "[Match]", "PermanentMACAddress", NULL },
	{ NETWORKD, NAMES, "[Match]", "Path", NULL },
	{ NETWORKD, NAMES, "[Match]", "Driver", NULL },
	{ NETWORKD, NAMES, "[Match]", "Type", NULL },
	{ NETWORKD, BOND, NULL, "Bond", NULL },
	{ NETWORKD, ROUTE, "[Network]", "DHCP", NULL },
	{ NETWORKD, WAY, NULL, "Gateway", NULL },
	{ NETWORKD, WAY, "[Network]", "Bridge", NULL },
	{ NETWORKD, WAY, "[Network]", "VLAN", NULL },
	{ NETWORKD, WAY, "[Network]", "MACVLAN", NULL },
	{ NETWORKD, WAY, "[Network]", "IPVLAN", NULL },
	{ NETWORKD, NO_WAY, "[DHCP]", "UseRoutes", "no" },
	{ NETWORKD, NO_WAY, "[DHCPv4]", "UseRoutes", "no" },
	{ NETWORKD, NO_WAY, "[DHCPv4]", "UseGateway", "no" },
	{ KEYFILE, NAMES, "[connection]", "type", NULL },
	{ KEYFILE, NAMES, NULL, "interface-name", NULL },
	{ KEYFILE, NAMES, NULL, "mac-address", NULL },
	{ KEYFILE, BOND, NULL, "slave-type", "bond" },
	{ KEYFILE, BOND, NULL, "port-type", "bond" },
	{ KEYFILE, WAY, "[connection]", "master", NULL },
	{ KEYFILE, WAY, "[connection]", "controller", NULL },
	{ KEYFILE, ROUTE, "[ipv4]", "method", "auto" },
	{ KEYFILE, ROUTE, "[ipv4]", "gateway", NULL },
	{ KEYFILE, WAY, "[ipv6]", "gateway", NULL },
	{ KEYFILE, ROUTE, "[ipv4]", "address1", "," }, /* the gateway is behind it */
	{ KEYFILE, NO_WAY, "[ipv4]", "never-default", "true" },
	{ KEYFILE, LOWER, NULL, "parent", NULL },
	{ IFCFG, NAMES, NULL, "DEVICE", NULL },
	{ IFCFG, NAMES, NULL, "HWADDR", NULL },
	{ IFCFG, BOND, NULL, "MASTER", NULL },
	{ IFCFG, ROUTE, NULL, "BOOTPROTO", NULL },
	{ IFCFG, ROUTE, NULL, "GATEWAY", NULL },
	{ IFCFG, WAY, NULL, "BRIDGE", NULL },
	{ IFCFG, WAY, NULL, "OVS_BRIDGE", NULL },
	{ IFCFG, WAY, NULL, "TEAM_MASTER", NULL },
	{ IFCFG, NO_WAY, NULL, "DEFROUTE", "no" },
	{ IFCFG, LOWER, NULL, "PHYSDEV", NULL },
	{ IFUPDOWN, NAMES, NULL, "iface", NULL },
	{ IFUPDOWN, BOND, NULL, "bond-master", NULL },
	{ IFUPDOWN, BOND, NULL, "bond_master", NULL },
	{ IFUPDOWN, PORTS, NULL, "bond-slaves", NULL },
	{ IFUPDOWN, PORTS, NULL, "bond_slaves", NULL },
	{ IFUPDOWN, PORTS, NULL, "slaves", NULL },
	{ IFUPDOWN, WAY, NULL, "gateway", NULL },
	{ IFUPDOWN, LOWER, NULL, "bridge-ports", NULL },
	{ IFUPDOWN, LOWER, NULL, "bridge_ports", NULL },
	{ IFUPDOWN, LOWER, NULL, "vlan-raw-device", NULL },
	{ IFUPDOWN, LOWER, NULL, "vlan_raw_device", NULL },
};

_Static_assert(ELEMENTSOF(keys) <= 64, "a bit for each, in struct port_answer");

/* A line: a key of the table above, or -1 for another or a section, and where its value is. */
struct config_line {
	const char *at, *value;
	size_t len, value_len;
	int key;
};

/* What is left of a file. */
struct config_text {
	enum manager manager;
	const char *at;
	const char *section; /* the last line that began one */
};

static bool is_key(const struct config_text *t, size_t key, const struct config_line *l)
{
	const size_t n = strlen(keys[key].key);

	return keys[key].manager == t->manager && l->len > n &&
	       strncmp(l->at, keys[key].key, n) == 0 &&
	       (n == 0 ? isalpha((unsigned char)*l->at) : strchr(" \t=", l->at[n]) != NULL) &&
	       (!keys[key].section || is_prefix(t->section, keys[key].section));
}

/* Takes the next line, with those it is continued on. Return: false at the end. */
static bool next_line(struct config_text *t, struct config_line *ret)
{
	const char *begin = t->at + strspn(t->at, " \t\r\n"), *end = strchrnul(begin, '\n');

	*ret = (struct config_line){ .at = begin, .key = -1 };
	while (!strchr("#;", *begin) && *end && end[-1] == '\\')
		end = strchrnul(end + 1, '\n');
	ret->len = (size_t)(end - begin);
	t->at = end;
	if (*begin == '[')
		t->section = begin;
	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		if (is_key(t, i, ret)) {
			const char *value = begin + strlen(keys[i].key);

			ret->key = (int)i;
			ret->value = value + strspn(value, " \t=\"'");
			ret->value_len = (size_t)(end - MIN(ret->value, end));
		}
	return *begin;
}

/* The first word of a value, in the words of all managers. */
static bool is_no(const struct config_line *l)
{
	static const char *const words[] = { "", "0", "n", "no", "off", "false", "none", "static" };
	const size_t n = MIN(strcspn(l->value, " \t\r\n\"'"), l->value_len);

	for (size_t i = 0; i < ELEMENTSOF(words); i++)
		if (n == strlen(words[i]) && strncasecmp(l->value, words[i], n) == 0)
			return true;
	return false;
}

static bool has_value(const struct config_line *l)
{
	const char *value = keys[l->key].value;

	if (!value)
		return !is_no(l);
	if (streq(value, "no"))
		return is_no(l);
	return memmem(l->value, l->value_len, value, strlen(value));
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

/* Of a netdev without a function its kind is the type: "bond". */
static bool is_type(const char *word, const struct netdev *nd, const struct pci *pci)
{
	static const char types[] = " ether ethernet 802-3-ethernet infiniband ";
	char part[80];

	snprintf(part, sizeof(part), " %s ", word);
	return pci ? strstr(types, part) != NULL : streq(word, nd->kind) || streq(word, "ether");
}

static bool is_port(const char *word, const struct netdev *nd, const struct pci *pci)
{
	char path[PCI_LEN + 8];

	snprintf(path, sizeof(path), "pci-%s", nd->pci); /* udev's ID_PATH */
	return fnmatch(word, nd->name, 0) == 0 || fnmatch(word, path, 0) == 0 ||
	       (pci && fnmatch(word, pci->driver, 0) == 0) || is_mac(word, nd->mac) ||
	       is_mac(word, nd->perm_mac) || is_type(word, nd, pci);
}

/* As systemd reads its lists: an initial "!" turns the whole list over. */
static bool is_listed(const struct config_line *l, const struct netdev *nd, const struct pci *pci)
{
	static const char between[] = " \t\r\n\\\"';";
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

/* What a file says of a port. */
struct port_answer {
	uint64_t given, met; /* bits of keys: names, and those that are the port's */
	bool is_bond, has_way, has_route, has_no_way, has_condition, has_method;
	/* ifupdown, and what a bond or VLAN says of its ports: whatever else the file names */
	bool is_port, is_lower;
};

static bool is_named(const struct port_answer *a)
{
	return a->given && a->met == a->given;
}

/* "iface eth1 inet dhcp": behind the name. */
static bool is_dhcp(const struct config_line *l)
{
	static const char between[] = " \t\r\n\\";
	const char *at = l->value, *end = at + l->value_len;

	do {
		at += strcspn(at, between);
		at += strspn(at, between);
	} while (at < end && !is_prefix(at, "dhcp"));
	return at < end;
}

static void on_key(struct port_answer *a, const struct config_line *l, const struct netdev *nd,
		   const struct pci *pci)
{
	const bool is_ifupdown = keys[l->key].manager == IFUPDOWN;
	const uint64_t bit = UINT64_C(1) << l->key;

	switch (keys[l->key].what) {
	case NAMES:
		if (is_ifupdown) /* the next stanza */
			a->given = a->met = 0;
		a->given |= bit;
		a->met |= is_listed(l, nd, pci) ? bit : 0;
		a->is_lower |= is_ifupdown && a->met && is_dhcp(l);
		break;
	case BOND:
		a->is_bond |= has_value(l);
		a->is_port |= is_ifupdown && a->met;
		break;
	case PORTS:
		a->is_port |= is_listed(l, nd, pci);
		break;
	case LOWER:
		a->is_lower |= is_listed(l, nd, pci);
		break;
	case WAY:
		a->has_way |= has_value(l);
		a->is_lower |= is_ifupdown && a->met;
		break;
	case ROUTE:
		a->has_route |= has_value(l);
		a->has_method |= streq(keys[l->key].key, "method");
		break;
	case NO_WAY:
		a->has_no_way |= has_value(l);
		break;
	case OTHER:
		a->has_condition = true;
	}
}

/* The lines of a file whose keys are used: each netdev asks them all. */
struct config_lines {
	struct config_line *lines; /* owned */
	size_t n;
};

static void config_lines_done(struct config_lines *l)
{
	free(l->lines);
}

static int list_lines(const char *text, enum manager manager, struct config_lines *ret)
{
	struct config_text t = { .manager = manager, .at = text, .section = "" };
	struct config_line l, *slot;

	while (next_line(&t, &l)) {
		if (l.key < 0)
			continue;
		slot = APPEND(ret->lines, ret->n);
		if (!slot)
			return -ENOMEM;
		*slot = l;
	}
	return 0;
}

static void ask_file(const struct config_lines *l, enum manager manager, const struct netdev *nd,
		     const struct pci *pci, struct port_answer *ret)
{
	*ret = (struct port_answer){};
	for (size_t i = 0; i < l->n; i++)
		on_key(ret, &l->lines[i], nd, pci);
	ret->has_route |= manager == KEYFILE && !ret->has_method; /* NetworkManager's default */
	if (manager != IFUPDOWN && is_named(ret)) {
		ret->is_port |= ret->is_bond;
		ret->is_lower |= ret->has_way || (ret->has_route && !ret->has_no_way);
	}
	ret->is_lower |= ret->is_port;
}

/* The section that keys of the table are in, or NULL. */
static const char *section_of(enum manager manager, const char *line)
{
	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		if (keys[i].manager == manager && keys[i].section &&
		    is_prefix(line, keys[i].section))
			return keys[i].section;
	return NULL;
}

/* Lines whose keys are used, and which section they are in: the others may be passwords. */
static int record(const struct fs *fs, const char *path, const char *text, enum manager manager)
{
	_cleanup_(stream_done) struct stream out = {};
	struct config_text t = { .manager = manager, .at = text, .section = "" };
	struct config_line l;

	if (stream_open(&out) < 0)
		return -ENOMEM;
	while (next_line(&t, &l)) {
		const char *section = *l.at == '[' ? section_of(manager, l.at) : NULL;

		if (l.key >= 0 && keys[l.key].what == OTHER)
			fputs("Other=\n", out.f);
		else if (l.key >= 0)
			fprintf(out.f, "%.*s\n", (int)l.len, l.at);
		else if (*l.at == '[')
			fprintf(out.f, "%s\n", section ? section : "[Other]");
	}
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

/* A search of all files. */
struct netconfig {
	const struct fs *fs;
	struct node *n;
	bool *is_networkd; /* owned; for each netdev: networkd has its file, and reads no other */
	bool with_ways;
};

static void netconfig_done(struct netconfig *s)
{
	free(s->is_networkd);
}

static void note(char ret[static NETCONFIG_LEN], const char *path)
{
	if (!ret[0])
		snprintf(ret, NETCONFIG_LEN, "/%s", path);
}

static void look_at_netdev(struct netconfig *s, const char *path, enum manager manager,
			   const struct config_lines *l, size_t netdev)
{
	struct netdev *nd = &s->n->netdevs[netdev];
	const struct pci *pci = node_pci(s->n, nd->pci);
	struct port_answer a;

	if (!s->with_ways && !function_of(s->n, nd))
		return;
	ask_file(l, manager, nd, pci, &a);
	if (a.is_port && function_of(s->n, nd))
		note(nd->bond_file, path);
	if (a.is_lower && s->with_ways && !(manager == NETWORKD && s->is_networkd[netdev]))
		note(nd->way_file, path);
	s->is_networkd[netdev] |= manager == NETWORKD && is_named(&a) && !a.has_condition;
}

static int look_at_file(struct netconfig *s, const char *path, enum manager manager)
{
	_cleanup_(config_lines_done) struct config_lines l = {};
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	r = fs_read_all(s->fs, path, MAX_BYTES, true, &text, &size);
	if (r >= 0 && s->fs->on_read)
		r = record(s->fs, path, text, manager);
	if (r >= 0)
		r = list_lines(text, manager, &l);
	for (size_t i = 0; r >= 0 && i < s->n->n_netdevs; i++)
		look_at_netdev(s, path, manager, &l, i);
	return r == -ENOMEM ? r : 0;
}

int observe_netconfig(const struct fs *fs, const struct memory *memory, struct node *n)
{
	_cleanup_(netconfig_done) struct netconfig s = { .fs = fs, .n = n };
	bool is_known_now, is_asked;
	size_t n_files = 0;
	int r = 0;

	s.with_ways = is_asked = boots_is_first(n, memory, &is_known_now);
	s.is_networkd = calloc(n->n_netdevs + 1, sizeof(*s.is_networkd));
	if (!s.is_networkd)
		return -ENOMEM;
	for (size_t i = 0; i < n->n_netdevs; i++)
		is_asked |= function_of(n, &n->netdevs[i]) != NULL;
	for (size_t i = 0; is_asked && i < ELEMENTSOF(places) && r != -ENOMEM; i++) {
		_cleanup_(conf_files_done) struct conf_files files = {};

		r = conf_files_list(fs, places[i].folders, places[i].pattern, &files);
		for (size_t k = 0; k < files.n_items && r != -ENOMEM; k++)
			if (!files.items[k].is_masked && n_files++ < MAX_FILES)
				r = look_at_file(&s, files.items[k].path, places[i].manager);
	}
	return r == -ENOMEM ? r : 0;
}
