/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vf: what is known of VFs beside their functions: what their PF's driver tells of them, and what
 * we left half done.
 */
#include "../step/observers.h"

#include "../base/log.h"
#include "../model/memory.h"
#include "../model/plan.h"
#include "../os/conf-files.h"
#include "../os/memory-file.h"
#include "../os/vf.h"

#include <fnmatch.h>
#include <regex.h>

#define MAX_OWNER_BYTES (1u << 20)
#define NET_ADDR_RANDOM 1 /* include/uapi/linux/netdevice.h */
#define NETPLAN_LINK    "link:"

static void recall_autoprobe(const struct fs *fs, enum memory_lifetime lifetime, struct node *n)
{
	_owns_(struct autoprobes, entries) l = {};

	node_note(n, memory_read(fs, lifetime, &autoprobes_fields, &l));
	FOREACH(e, l.entries, l.n_entries) {
		struct pci *pci = (struct pci *)node_pci(n, e->pci);

		if (!pci)
			continue;
		pci->is_recorded = true;
		pci->is_switched |= n->boot_id[0] && streq(e->boot_id, n->boot_id);
	}
}

static void list_infos(struct netlink *nl, struct pci *pf, struct node *n,
		       const struct memory *memory)
{
	const struct netdev *nd = node_netdev_of(n, pf->address);
	_cleanup_(freep) struct vf_info *infos = NULL;
	size_t n_infos = 0;
	int r;

	/* A driver stuck in a write may hold what its answer needs, and the kernel would wait for
	 * it with the lock of all network devices held. */
	if (!nd || pf->is_busy || streq(memory->stuck, pf->address))
		return;

	r = vf_list(nl, nd->ifindex, &infos, &n_infos);
	/* It is gone, or has more VFs than fit into one answer. */
	if (!node_note(n, r) && r != -ENOMEM)
		log_debug_errno(r, "%s: nothing told of its VFs", pf->address);
	pf->has_silent_vfs = r >= 0 && n_infos == 0;

	for (size_t i = 0; i < n_infos; i++) {
		COPY(infos[i].pf, pf->address);
		NODE_ADD(n, vf_infos, infos[i]);
	}
}

/* IFLA_VF_MAC of some drivers (igb) is the MAC that the VF's own driver made up. */
static void look_for_random_mac(const struct fs *fs, struct node *n, struct netdev *nd)
{
	const struct pci *pci = node_pci(n, nd->pci);
	uint32_t type = 0;

	if (!pci || !pci->physfn[0])
		return;
	nd->is_random_mac = fs_read_u32(fs, FS_PATH("sys/class/net/%s/addr_assign_type", nd->name),
					&type) >= 0 &&
			    type == NET_ADDR_RANDOM;
}

/*
 * Files of other programs that set a number of VFs, and the word by which they do. In one row a
 * file hides those of its name in later folders: folders that do not stand for each other have rows
 * of their own. A folder of such a name counts with all files in it. Folders of drop-ins do not
 * hide each other: "systemctl edit" makes one in /etc beside that in /usr/lib.
 */
static const struct {
	const char *folders[6], *pattern, *key; /* NULL: ends the folders; an attribute of sysfs */
} owner_files[] = {
	{ { CONF_FOLDERS("systemd/network") }, "*.link?(.d)", "SR-IOVVirtualFunctions" },
	{ { CONF_FOLDERS("systemd/network") }, "*.link?(.d)", "VirtualFunction" }, /* the highest */
	{ { CONF_FOLDERS("netplan") }, "*.yaml", "virtual-function-count" },
	{ { CONF_FOLDERS("netplan") }, "*.yaml", NETPLAN_LINK },
	{ { CONF_FOLDERS("NetworkManager/system-connections") }, "*", "[sriov]" },
	{ { CONF_FOLDERS("NetworkManager/conf.d") }, "*.conf", "sriov-num-vfs" },
	{ { "etc/sysconfig/network-scripts" }, "ifcfg-*", "SRIOV_TOTAL_VFS" },
	{ { "etc/sysconfig/network" }, "*", NULL },
	{ { CONF_FOLDERS("udev/rules.d"), "lib/udev/rules.d" }, "*.rules", NULL },
	{ { CONF_FOLDERS("systemd/system") }, "*.service?(.d)", NULL },
	{ { CONF_FOLDERS("tmpfiles.d") }, "*.conf", NULL },
	{ { "etc", "etc/rc.d" }, "@(rc.local|crontab|sysfs.conf)", NULL },
	{ { "etc/init.d", "etc/rc.d/init.d" }, "*", NULL },
	{ { CONF_FOLDERS("modprobe.d"), "lib/modprobe.d" }, "*.conf", NULL },
	{ { "etc/cron.d" }, "*", NULL },
	{ { "var/spool/cron" }, "*", NULL },
	{ { "etc/sysfs.d" }, "*", NULL },
	{ { "usr/local/sbin" }, "*", NULL }, /* run by a unit */
	{ { "usr/local/bin" }, "*", NULL },
	{ { "opt/bin" }, "*", NULL },
	{ { "etc/tuned", "usr/lib/tuned" }, "*", NULL },
	{ { "etc/tuned/profiles", "usr/lib/tuned/profiles" }, "*", NULL },
	{ { "etc/network" }, "*", NULL },
	{ { CONF_FOLDERS("NetworkManager/dispatcher.d") }, "*", NULL },
	{ { "etc/networkd-dispatcher", "usr/lib/networkd-dispatcher" }, "*", NULL },
	{ { "etc/infiniband" }, "*", NULL }, /* post-start-hook.sh of OFED's openibd */
	{ { "var/lib/cloud/instance" }, "@(cloud-config.txt|scripts)", NULL },
	{ { "var/lib/cloud/scripts" }, "*", NULL },
	{ { "etc/cloud/cloud.cfg.d" }, "*.cfg", NULL },
	{ { "etc/nmstate" }, "*.yml", "total-vfs" },
	{ { "var/lib/os-net-config" }, "sriov_config.yaml", "numvfs" },
	/* The SR-IOV network operator has one for its pods and one for its units. */
	{ { "etc/sriov-operator" }, "@(pci|sriov-interface-config.yaml)", "numvfs" },
	{ { "etc/sriov-netplan-shim" }, "interfaces.yaml", "num_vfs" },
};

/* Is @word in a line that is no comment, as a word of its own: not "eth1" in "eth10"? A ";" begins
 * a comment only at the start of a line, for elsewhere a shell goes on behind it. */
static bool has_word(const char *text, const char *word)
{
	char pattern[128];
	regex_t r;
	bool is_there;

	PRINT(pattern, "^[ \t]*([^#; \ta-z0-9]|[^#; \t][^#]*[^#a-z0-9])?%s%s([^a-z0-9]|$)",
	      word[0] == '[' ? "\\" : "", word);
	if (!word[0] || !strcasestr(text, word) ||
	    regcomp(&r, pattern, REG_EXTENDED | REG_ICASE | REG_NEWLINE | REG_NOSUB))
		return false;
	is_there = regexec(&r, text, 0, NULL, 0) == 0;
	regfree(&r);
	return is_there;
}

static bool is_named(const char *text, const struct node *n, const struct pci *pci)
{
	const struct netdev *nd = node_netdev_of(n, pci->address);
	const struct ibdev *ib = node_ibdev_of(n, pci->address);

	return strstr(text, pci->address) || (ib && has_word(text, ib->name)) ||
	       (nd && (has_word(text, nd->name) || has_word(text, nd->mac)));
}

/* The SR-IOV network operator takes VFs as they are where a policy says so: has each its word? */
static bool is_external(const char *text, const char *key)
{
	static const char word[] = "externallymanaged";
	int n = 0;

	for (const char *at = text; (at = strcasestr(at, key)); at++)
		n++;
	for (const char *at = text; (at = strcasestr(at, word)); at++)
		n -= is_prefix(at + strlen(word) + strspn(at + strlen(word), "\": "), "true");
	return n <= 0;
}

/* Cuts the attribute where a shell only reads or tests it, or a udev rule compares it. */
static void drop_reads(char *text)
{
	static const char pattern[] =
		"((cat|[ \t]-[efrsw])[ \t]+|<[ \t]*)[^ \t>;|]*(sriov_numvfs|mlx5_num_vfs)"
		"|(sriov_numvfs|mlx5_num_vfs)}[=!]=";
	regmatch_t m[5];
	regex_t r;

	if (regcomp(&r, pattern, REG_EXTENDED | REG_NEWLINE))
		return;
	for (; regexec(&r, text, ELEMENTSOF(m), m, 0) == 0; text += m->rm_eo)
		text[m[3].rm_so >= 0 ? m[3].rm_so : m[4].rm_so] = ' ';
	regfree(&r);
}

/* Cuts all but the Ethernet devices of netplan: of these one with "link:" is a VF, and it makes as
 * many as a PF has of them: netplan_cli/cli/sriov.py. VLANs and tunnels have that key, too. */
static void cut_to_ethernets(char *text)
{
	size_t ethernets = SIZE_MAX, indent, n; /* ethernets: how far that key is indented */

	for (char *line = text; *line; line += n + (line[n] == '\n')) {
		n = strcspn(line, "\n");
		indent = strspn(line, " ");
		if (is_prefix(line + indent, "ethernets:"))
			ethernets = indent;
		else if (indent <= ethernets && indent < n && line[indent] != '#')
			ethernets = SIZE_MAX;
		if (ethernets == SIZE_MAX)
			memset(line, ' ', n);
	}
}

/* Adds a file for each PF that it names, or for every PF if it names none. False: a folder. */
static bool add_owner(const struct fs *fs, const char *path, const char *key, struct node *n)
{
	_cleanup_(freep) char *text = NULL;
	bool names_any = false;
	int r = fs_read_all(fs, path, MAX_OWNER_BYTES, true, &text, NULL);

	if (r >= 0 && !key && strcasestr(text, "vfs")) {
		drop_reads(text);
		/* OFED has one of its own beside the kernel's. */
		key = has_word(text, "mlx5_num_vfs") ? "mlx5_num_vfs" : "sriov_numvfs";
	}
	if (r >= 0 && key && streq(key, NETPLAN_LINK))
		cut_to_ethernets(text);
	if (r < 0 || !key || strstr(path, "rdma-provision") || !has_word(text, key))
		return r != -EISDIR;
	if (is_external(text, key))
		return true;
	for (size_t i = 0; i < n->n_pcis; i++)
		names_any |= is_named(text, n, &n->pcis[i]);
	FOREACH(pci, n->pcis, n->n_pcis) {
		struct vf_owner o = {};

		if (!pci->has_sriov || (names_any && !is_named(text, n, pci)))
			continue;
		PRINT(o.path, "/%s", path);
		PRINT(o.key, "%.*s", (int)strcspn(key, ":"), key);
		COPY(o.pci, pci->address);
		NODE_ADD(n, vf_owners, o);
	}
	return true;
}

static void add_owners(const struct fs *fs, const char *const *folders, const char *pattern,
		       const char *key, bool is_below, struct node *n)
{
	_cleanup_(conf_files_done) struct conf_files files = {};

	node_note(n, conf_files_list(fs, folders, pattern, &files));
	FOREACH(f, files.items, files.n_items) {
		char paths[ELEMENTSOF(owner_files->folders)][FS_PATH_LEN];
		const char *inside[ELEMENTSOF(paths)] = {};

		if (add_owner(fs, f->path, key, n) || is_below)
			continue;
		for (size_t k = f->rank; folders[k]; k++)
			if (k == f->rank || fnmatch("*.d", f->name, 0) == 0)
				inside[k - f->rank] =
					fs_format(paths[k], "%s/%s", folders[k], f->name);
		add_owners(fs, inside, "*", key, true, n);
	}
}

void observe_vf_owners(const struct fs *fs, const struct questions *q, struct node *n)
{
	struct fs quiet = *fs; /* a capture is to have no passwords: its answers tell */

	quiet.on_read = NULL;
	quiet.unread = NULL;
	if (n->n_vf_owners > 0)
		return;
	FOREACH_WHILE(file, owner_files, ELEMENTSOF(owner_files), questions_ask(q, QUESTION_PCIE))
		add_owners(&quiet, file->folders, file->pattern, file->key, false, n);
}

void observe_vfs(struct os *d, struct node *n, const struct memory *memory)
{
	recall_autoprobe(&d->fs, MEMORY_NODE, n);
	recall_autoprobe(&d->fs, MEMORY_BOOT, n);
	for (size_t i = 0; i < n->n_netdevs; i++)
		look_for_random_mac(&d->fs, n, &n->netdevs[i]);
	for (size_t i = 0; i < n->n_pcis && d->fs.is_live; i++)
		if (n->pcis[i].num_vfs > 0)
			list_infos(&d->route, &n->pcis[i], n, memory);
}
