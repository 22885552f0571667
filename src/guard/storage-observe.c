/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage: where the file systems come from that the node, its kubelet and its container runtime
 * live on, and what the kernel's command line says of that.
 *
 * The mounts of these folders, as /proc/PID/mountinfo has them (proc(5)), with the layers of an
 * overlay and the files of loop devices: of a file system without a device the peers in its options
 * or its source; of a block device, through partitions, dm and md (slaves in sysfs), the address of
 *
 *   iSCSI    each connection of its session, and the address and the netdev that its host is
 *            bound to: drivers/scsi/scsi_transport_iscsi.c, iscsi_sw_tcp_host_get_param()
 *   NVMe     traddr=, host_traddr=, src_addr= and host_iface= of each controller with transport
 *            tcp or rdma: nvmf_get_address() in drivers/nvme/host/fabrics.c, nvme_tcp_get_address()
 *   nbd      the first address in the command line of its client, if that still runs, or what the
 *            kernel's command line names
 *   RBD      the address of this host that its client has
 *   others   the function that the disk is below: SRP, FCoE, and offloads of iSCSI
 *
 * Where sysfs does not tell what a disk is made of, for ZFS, and without mounts, all sessions and
 * controllers count. The runtime may have its folder elsewhere: a file of containerd, CRI-O or
 * Docker or the storage.conf of containers names it, and the layers of the overlay that was mounted
 * last are in it. An overlay at the top level, as "/usr" with systemd-sysext, is none of a
 * container.
 *
 * The other mounts of file systems without a device tell their servers alone, as TO_MOUNT.
 *
 * Where nothing of this names a server of a file system or disk whose kind has its data elsewhere,
 * the place is not known: BeeGFS, GPFS, DRBD, AoE, an nbd without its client, a server that only
 * DNS knows. The client of FUSE is a program, whose sockets tell.
 *
 * On the command line ip= of kernel and dracut (Documentation/admin-guide/nfs/nfsroot.rst,
 * dracut.cmdline(7)), bootdev=, BOOTIF= of pxelinux, nfsroot=, netroot=, root=, nbdroot= and
 * iscsi_target_ip=.
 *
 * Not seen: what is behind FCoE on a VLAN; the other devices of a btrfs; data servers of pNFS;
 * servers of Lustre behind the first colon.
 */
#include "places-observe.h"

#include "../model/ip.h"
#include "../model/route-facts.h"
#include "../module/cmdline-observe.h"

#include <ctype.h>

#define MAX_MOUNTS_BYTES  (16u << 20) /* a node with pods has some thousand, of 300 bytes each */
#define MAX_CMDLINE_BYTES (2u << 20)
#define MAX_CONF_BYTES    (1u << 20)
#define MAX_VISITS        128u /* of mounts and block devices; rings are data */
#define MOUNTS            "proc/self/mountinfo"
#define SERVER_LEN        64

/* A line of mountinfo, whose fields were decoded in place. */
struct mount {
	char *device, *point, *type, *source, *options;
	bool is_visited;
};

struct storage {
	struct mount *mounts; /* owned */
	struct places *p;
	const struct mount *at;   /* that is visited */
	char nbd[SERVER_LEN];     /* "nbd0 server of /", which has no client; or "" */
	enum destination_to to;   /* of the servers of mounts */
	size_t n_mounts, n_named; /* servers, devices and functions */
	uint32_t n_visits;
};

static void add(struct storage *s, const char *host, const char *what, const char *where)
{
	char words[sizeof(((struct destination *)0)->words)];

	PRINT(words, "%.60s, %.90s", what, where);
	s->n_named += places_add(s->p, s->to, host, words);
}

/* "nfs4 server of /data", "drbd0 server of /". A capture has the words, and names of other folders
 * are no part of it. */
static void print_server(const struct storage *s, const char *of, char ret[static SERVER_LEN])
{
	snprintf(ret, SERVER_LEN, "%.16s server%s%.30s", of, s->to == TO_MOUNT ? "" : " of ",
		 s->to == TO_MOUNT ? "" : s->at->point);
}

static void add_unnamed(struct storage *s, const char *what)
{
	char words[sizeof(((struct destination *)0)->words)];

	PRINT(words, "%s, /" MOUNTS, what);
	places_add_unnamed(s->p, s->to, words);
}

static void add_netdev(struct storage *s, const struct netdev *nd, const char *words)
{
	s->n_named += nd != NULL;
	places_add_device(s->p, TO_STORAGE, nd, words);
}

static void add_device(struct storage *s, const char *name, const char *what, const char *where)
{
	char words[sizeof(((struct destination *)0)->words)];

	PRINT(words, "%.60s names %.20s, %.70s", what, name, where);
	add_netdev(s, places_netdev(s->p, name), words);
}

/* The netdev that has the address from which storage is reached, "10.0.0.5". */
static void add_local(struct storage *s, const char *text, const char *who, const char *where)
{
	const struct node *n = s->p->n;
	char words[sizeof(((struct destination *)0)->words)];
	const struct address *a;
	uint8_t bytes[16];
	int family;

	if (!ip_parse(text, &family, bytes))
		return;
	a = FIND(k, n->addresses, n->n_addresses,
		 k->family == family && memcmp(k->local, bytes, ip_bits(family) / 8) == 0);
	PRINT(words, "%.60s has its address, %.70s", who, where);
	if (a)
		add_netdev(s, node_netdev(n, a->ifindex), words);
}

/* --- mounts --- */

/* "\040" to a blank: mangle() in fs/proc_namespace.c. */
static void decode(char *text)
{
	char *to = text;

	for (const char *c = text; *c; c++)
		if (c[0] == '\\' && c[1] >= '0' && c[1] <= '3' && c[2] >= '0' && c[2] <= '7' &&
		    c[3] >= '0' && c[3] <= '7') {
			*to++ = (char)((c[1] - '0') << 6 | (c[2] - '0') << 3 | (c[3] - '0'));
			c += 3;
		} else {
			*to++ = *c;
		}
	*to = '\0';
}

/* "36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw,errors=continue" */
static bool parse_mount(char *line, struct mount *ret)
{
	char *fields[6] = {}, *word;

	for (size_t i = 0; i < ELEMENTSOF(fields); i++)
		fields[i] = strsep(&line, " ");
	while ((word = strsep(&line, " ")) && !streq(word, "-"))
		;
	*ret = (struct mount){ .device = fields[2], .point = fields[4] };
	ret->type = strsep(&line, " ");
	ret->source = strsep(&line, " ");
	ret->options = strsep(&line, " ");
	if (!ret->options)
		return false;
	decode(ret->point);
	decode(ret->source);
	decode(ret->options);
	return true;
}

/* As in the tables of options below; @ret: what is behind the key, up to the next comma. */
static bool next_option(const char **at, const char *key, char *ret, size_t size)
{
	for (const char *word = *at; word && *word; word += *word == ',') {
		const char *end = strchrnul(word, ','), *value = after(word, key);

		if (value && value <= end) {
			snprintf(ret, size, "%.*s", (int)(end - value), value);
			*at = end;
			return true;
		}
		word = end;
	}
	return false;
}

static const char *const peer_keys[] = { "addr=", "mon_addr=" };
/* NFS and 9p have a key for the transport, SMB has one word. */
static const char *const rdma_keys[] = { "proto=rdma", "trans=rdma", "rdma" };
static const char *const layer_keys[] = { "lowerdir=", "lowerdir+=", "upperdir=", "datadir+=" };

/* A file system whose data is elsewhere, whatever its source is. */
static bool is_network(const struct mount *m)
{
	static const char *const types[] = { "beegfs", "ceph", "cifs",  "gpfs", "lustre",
					     "nfs",    "nfs4", "panfs", "smb3", "wekafs" };

	return ANY(type, types, ELEMENTSOF(types), streq(m->type, *type));
}

/* Its servers have their network behind them: "10.0.0.1@o2ib". */
static bool is_lustre(const struct mount *m)
{
	return streq(m->type, "lustre");
}

/* "10.0.0.1:/a", "//server/share", "10.0.0.1:6789,10.0.0.2:6789:/" */
static void add_source(struct storage *s, const struct mount *m, const char *what)
{
	const char *begin = m->source + (is_prefix(m->source, "//") ? 2 : 0);
	const char *end = strstr(begin, ":/");
	char text[512], *rest = text, *word;

	PRINT(text, "%.*s", end ? (int)MIN(end - begin, 511) : 511, begin);
	while ((word = strsep(&rest, ","))) {
		char host[HOST_NAME_LEN];

		if (is_lustre(m))
			word[strcspn(word, "@")] = '\0';
		ip_host(word, host, sizeof(host));
		if (*host)
			add(s, host, what, "/" MOUNTS);
	}
}

static void visit_network(struct storage *s, const struct mount *m)
{
	const size_t n_named = s->n_named;
	char what[SERVER_LEN], list[512];
	bool is_found = false;

	s->at = m;
	print_server(s, m->type, what);
	s->p->is_rdma = ANY(key, rdma_keys, ELEMENTSOF(rdma_keys),
			    next_option(&(const char *){ m->options }, *key, list, sizeof(list)));
	for (size_t i = 0; i < ELEMENTSOF(peer_keys); i++) {
		const char *at = m->options;

		while (next_option(&at, peer_keys[i], list, sizeof(list)))
			for (char *rest = list, *word; (word = strsep(&rest, "/"));) {
				char host[HOST_NAME_LEN] = "";

				/* A zone is no part of a URL. */
				if (strchr(word, '%'))
					COPY(host, word);
				else
					ip_host(word, host, sizeof(host));
				is_found |= *host;
				if (*host)
					add(s, host, what, "/" MOUNTS);
			}
	}
	if (!is_found)
		add_source(s, m, what);
	s->p->is_rdma = false;
	if (s->n_named == n_named && is_network(m))
		add_unnamed(s, what);
}

/* The last of those that lie on each other. */
static struct mount *find_mount(const struct storage *s, const char *path)
{
	struct mount *best = NULL;

	FOREACH(m, s->mounts, s->n_mounts) {
		const char *rest = after(path, m->point);

		if (rest && (streq(m->point, "/") || *rest == '/' || !*rest) &&
		    (!best || strlen(m->point) >= strlen(best->point)))
			best = m;
	}
	return best;
}

/* Without links, which are recorded, and so is where they lead. */
static bool resolve(const struct storage *s, const char *path, char ret[static PATH_MAX])
{
	const struct fs *fs = s->p->fs;

	return fs_exists(fs, path) > 0 && fs_resolve(fs, path, ret) >= 0 && fs_exists(fs, ret) > 0;
}

/* --- block devices --- */

static void visit_path(struct storage *s, const char *path);

/* The number behind "/session" and the like; 0: none. */
static unsigned long number_in(const char *path, const char *part)
{
	const char *at = strstr(path, part);

	return at ? strtoul(at + strlen(part), NULL, 10) : 0;
}

/* Connections whose name begins so. */
static void add_connections(struct storage *s, const char *prefix, const char *what)
{
	static const char *const files[] = { "address", "persistent_address" };
	_cleanup_(fs_names_done) struct fs_names names = {};
	char text[HOST_NAME_LEN];

	node_note(s->p->n, fs_list(s->p->fs, "sys/class/iscsi_connection", &names));
	for (size_t i = 0; i < names.n_names; i++)
		for (size_t k = 0; k < ELEMENTSOF(files); k++) {
			const char *file = FS_PATH("sys/class/iscsi_connection/%s/%s",
						   names.names[i], files[k]);

			if (is_prefix(names.names[i], prefix) &&
			    fs_read(s->p->fs, file, text, sizeof(text)) >= 0)
				add(s, text, what, "/sys/class/iscsi_connection");
		}
}

static void visit_iscsi(struct storage *s, const char *path)
{
	const unsigned long session = number_in(path, "/session"), host = number_in(path, "/host");
	char prefix[40], text[HOST_NAME_LEN], what[64];

	if (session == 0)
		return;
	PRINT(prefix, "connection%lu:", session);
	PRINT(what, "iSCSI session %lu", session);
	add_connections(s, prefix, what);
	if (fs_read(s->p->fs, FS_PATH("sys/class/iscsi_host/host%lu/ipaddress", host), text,
		    sizeof(text)) >= 0)
		add_local(s, text, what, "/sys/class/iscsi_host");
	if (fs_read(s->p->fs, FS_PATH("sys/class/iscsi_host/host%lu/netdev", host), text,
		    sizeof(text)) >= 0)
		add_device(s, text, what, "/sys/class/iscsi_host");
}

static void visit_controller(struct storage *s, const char *folder)
{
	static const struct {
		const char *key, *what;
		void (*add)(struct storage *s, const char *value, const char *what,
			    const char *where);
	} options[] = {
		{ "traddr=", "NVMe target", add },
		{ "host_traddr=", "an NVMe controller", add_local },
		{ "src_addr=", "an NVMe controller", add_local },
		{ "host_iface=", "host_iface", add_device },
	};
	char transport[16], address[512], text[HOST_NAME_LEN];

	if (fs_read(s->p->fs, FS_PATH("%s/transport", folder), transport, sizeof(transport)) < 0 ||
	    (!streq(transport, "tcp") && !streq(transport, "rdma")) ||
	    fs_read(s->p->fs, FS_PATH("%s/address", folder), address, sizeof(address)) < 0)
		return;
	s->p->is_rdma = streq(transport, "rdma");
	for (size_t i = 0; i < ELEMENTSOF(options); i++) {
		const char *at = address;

		if (next_option(&at, options[i].key, text, sizeof(text)))
			options[i].add(s, text, options[i].what, FS_PATH("/%s", folder));
	}
	s->p->is_rdma = false;
}

/* The folder of a namespace is in that of its controller, or of the subsystem with all of them. */
static void visit_nvme(struct storage *s, const char *path)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	const char *slash = strrchr(path, '/');
	const int n = (int)(slash - path);

	if (!is_prefix(slash, "/nvme"))
		return;
	visit_controller(s, FS_PATH("%.*s", n, path));
	node_note(s->p->n, fs_list(s->p->fs, FS_PATH("%.*s", n, path), &names));
	for (size_t i = 0; i < names.n_names; i++)
		if (is_prefix(names.names[i], "nvme"))
			visit_controller(s, FS_PATH("%.*s/%s", n, path, names.names[i]));
}

/* A disk of which it is not known where it comes from: from each there is. */
static void visit_any(struct storage *s)
{
	_cleanup_(fs_names_done) struct fs_names names = {};

	add_connections(s, "connection", "an iSCSI session");
	node_note(s->p->n, fs_list(s->p->fs, "sys/class/nvme", &names));
	for (size_t i = 0; i < names.n_names; i++)
		visit_controller(s, FS_PATH("sys/class/nvme/%s", names.names[i]));
}

static void visit_nbd(struct storage *s, const char *path)
{
	_cleanup_(freep) char *text = NULL;
	uint8_t bytes[16];
	uint32_t pid;
	size_t size;
	int family;

	if (fs_read_u32(s->p->fs, FS_PATH("%s/pid", path), &pid) < 0 ||
	    !node_note(s->p->n, fs_read_all(s->p->fs, FS_PATH("proc/%" PRIu32 "/cmdline", pid),
					    MAX_CMDLINE_BYTES, true, &text, &size)))
		return;
	for (const char *word = text; word < text + size; word += strlen(word) + 1)
		if (ip_parse(word, &family, bytes)) {
			fs_record(s->p->fs, RECORD_FILE, FS_PATH("proc/%" PRIu32 "/cmdline", pid),
				  word, strlen(word) + 1);
			add(s, word, "nbd server", strrchr(path, '/') + 1);
			return;
		}
}

/* The kernel's client of Ceph has one address, "10.0.0.5:0/2912": rbd_client_addr_show()
 * in drivers/block/rbd.c */
static void visit_rbd(struct storage *s, const char *path)
{
	const char *number = after(strrchr(path, '/'), "/rbd");
	char text[HOST_NAME_LEN], host[HOST_NAME_LEN];

	if (!number || fs_read(s->p->fs, FS_PATH("sys/bus/rbd/devices/%s/client_addr", number),
			       text, sizeof(text)) < 0)
		return;
	ip_host(text, host, sizeof(host));
	add_local(s, host, "a client of Ceph", "/sys/bus/rbd");
}

/* A disk that is reached without IP is below the function, which may have no netdev: SRP in
 * drivers/infiniband/ulp/srp, iSER and offloads of iSCSI. */
static void visit_functions(struct storage *s, const char *path)
{
	FOREACH(pci, s->p->n->pcis, s->p->n->n_pcis) {
		struct destination d = { .to = TO_STORAGE,
					 .words = "a disk is below it, /sys/class/block" };

		COPY(d.pci, pci->address);
		if (pci_is_network(pci) && strstr(path, pci->address)) {
			NODE_ADD(s->p->n, destinations, d);
			s->n_named++;
		}
	}
}

/* Has this disk its data elsewhere? Its driver gives it the name. */
static bool is_remote(const char *path)
{
	static const char *const names[] = { "/drbd", "/etherd!", "/rbd", "/rnbd", "/scini" };

	return number_in(path, "/session") > 0 ||
	       ANY(name, names, ELEMENTSOF(names), is_prefix(strrchr(path, '/'), *name));
}

/* @path: its folder in sysfs, or a link to it. */
static void visit_block(struct storage *s, const char *path)
{
	static void (*const visits[])(struct storage *s,
				      const char *path) = { visit_functions, visit_iscsi,
							    visit_nvme, visit_nbd, visit_rbd };
	_cleanup_(fs_names_done) struct fs_names names = {};
	char real[PATH_MAX], file[PATH_MAX], what[SERVER_LEN];
	const size_t n_named = s->n_named;

	if (s->n_visits++ >= MAX_VISITS)
		return;
	if (!resolve(s, path, real) || !strchr(real, '/')) {
		visit_any(s);
		return;
	}
	if (fs_exists(s->p->fs, FS_PATH("%s/partition", real)) > 0)
		*strrchr(real, '/') = '\0';
	for (size_t i = 0; i < ELEMENTSOF(visits); i++)
		visits[i](s, real);
	print_server(s, strrchr(real, '/') + 1, what);
	if (s->n_named == n_named && is_prefix(what, "nbd"))
		COPY(s->nbd, what);
	else if (s->n_named == n_named && is_remote(real))
		add_unnamed(s, what);
	if (fs_read(s->p->fs, FS_PATH("%s/loop/backing_file", real), file, sizeof(file)) >= 0)
		visit_path(s, file);
	node_note(s->p->n, fs_list(s->p->fs, FS_PATH("%s/slaves", real), &names));
	for (size_t i = 0; i < names.n_names; i++)
		visit_block(s, FS_PATH("%s/slaves/%s", real, names.names[i]));
}

/* --- folders --- */

static void visit_layers(struct storage *s, const struct mount *m)
{
	char list[PATH_MAX];

	for (size_t i = 0; i < ELEMENTSOF(layer_keys); i++) {
		const char *at = m->options;

		while (next_option(&at, layer_keys[i], list, sizeof(list)))
			for (char *rest = list, *word; (word = strsep(&rest, ":"));)
				if (*word == '/')
					visit_path(s, word);
	}
}

/* Mounts without a device number of their own name a device, a pool, or servers. The number that
 * Lustre has is of a server (client_common_fill_super() in lustre/llite/llite_lib.c), and the
 * device of GPFS is a word. */
static void visit_source(struct storage *s, const struct mount *m)
{
	char real[PATH_MAX];

	s->at = m;
	if (is_network(m))
		visit_network(s, m);
	else if (!is_prefix(m->device, "0:"))
		visit_block(s, FS_PATH("sys/dev/block/%.20s", m->device));
	else if (is_prefix(m->source, "/dev/") && resolve(s, m->source + 1, real) &&
		 strchr(real, '/'))
		visit_block(s, FS_PATH("sys/class/block%s", strrchr(real, '/')));
	else if (streq(m->type, "zfs") || streq(m->type, "btrfs"))
		visit_any(s);
	else
		visit_network(s, m);
}

/* Where a link leads to need not be there: a copy may lack it, and its mount is known by its text.
 */
static void visit_path(struct storage *s, const char *path)
{
	char real[PATH_MAX], whole[PATH_MAX + 1];
	const int r = fs_resolve(s->p->fs, fs_bare(path), real);
	struct mount *m;

	if (r == 0 || r == -ENOENT)
		PRINT(whole, "/%s", real);
	else
		COPY(whole, path);
	m = find_mount(s, whole);
	if (!m || m->is_visited || s->n_visits++ >= MAX_VISITS)
		return;
	m->is_visited = true;
	if (streq(m->type, "overlay"))
		visit_layers(s, m);
	else
		visit_source(s, m);
}

static void put_encoded(FILE *f, const char *text, size_t n)
{
	FOREACH(it, text, n)
		fprintf(f, *it <= ' ' || *it == '\\' ? "\\%03o" : "%c", (unsigned char)*it);
}

/* A user and a password, if any, are before "@". */
static void put_mount(FILE *f, const struct mount *m)
{
	const char *at = is_lustre(m) ? NULL : strrchr(m->source, '@');
	const char *source = at ? at + 1 : m->source;

	fprintf(f, "1 1 %s / ", m->device);
	put_encoded(f, m->point, strlen(m->point));
	fprintf(f, " rw - %s ", m->type);
	put_encoded(f, source, strlen(source));
	fputs(" rw", f);
	for (const char *word = m->options; *word; word += *word == ',') {
		const size_t n = strcspn(word, ",");

		if (ANY(key, peer_keys, ELEMENTSOF(peer_keys), is_prefix(word, *key)) ||
		    ANY(key, rdma_keys, ELEMENTSOF(rdma_keys), is_prefix(word, *key)) ||
		    ANY(key, layer_keys, ELEMENTSOF(layer_keys), is_prefix(word, *key))) {
			fputc(',', f);
			put_encoded(f, word, n);
		}
		word += n;
	}
	fputc('\n', f);
}

/* The mounts that are read. */
static void record_mounts(const struct storage *s)
{
	_cleanup_(stream_done) struct stream out = {};

	if (!s->p->fs->on_read || !node_note(s->p->n, stream_open(&out)))
		return;
	for (size_t i = 0; i < s->n_mounts; i++)
		if (s->mounts[i].is_visited)
			put_mount(out.f, &s->mounts[i]);
	node_note(s->p->n, fs_record_stream(s->p->fs, MOUNTS, &out));
}

/* The folder that a key names, in TOML or JSON. @is_top: before any table. No other line is
 * recorded. */
static void visit_file(struct storage *s, const char *path, const char *key, bool is_top)
{
	_cleanup_(freep) char *text = NULL;
	char *rest, *line, folder[PATH_MAX];

	if (!node_note(s->p->n, fs_read_all(s->p->fs, path, MAX_CONF_BYTES, true, &text, NULL)))
		return;
	for (rest = text; (line = strsep(&rest, "\n,{"));) {
		const char *at = line + strspn(line, " \t\""), *value = after(at, key), *end;

		if (is_top && *at == '[')
			return;
		value = value ? value + strspn(value, " \t\"'=:") : "";
		if (*value != '/')
			continue;
		end = value + strcspn(value, "\"'");
		PRINT(folder, "%.*s", (int)MIN(end - value, PATH_MAX - 1), value);
		visit_path(s, folder);
		fs_record(s->p->fs, RECORD_FILE, path, line, (size_t)(end - line) + (*end != '\0'));
		return;
	}
}

/* Where the runtimes have their folders, with all drop-ins. */
static void visit_files(struct storage *s)
{
	static const struct {
		const char *path, *key;
		bool is_top, is_folder;
	} files[] = {
		{ "etc/containerd/config.toml", "root", true, false },
		{ "etc/containerd/conf.d", "root", true, true },
		{ "etc/containers/storage.conf", "graphroot", false, false },
		{ "etc/crio/crio.conf", "root", false, false },
		{ "etc/crio/crio.conf.d", "root", false, true },
		{ "etc/docker/daemon.json", "data-root", false, false },
	};

	FOREACH(file, files, ELEMENTSOF(files)) {
		_cleanup_(fs_names_done) struct fs_names names = {};

		if (!file->is_folder)
			visit_file(s, file->path, file->key, file->is_top);
		else
			node_note(s->p->n, fs_list(s->p->fs, file->path, &names));
		for (size_t i = 0; i < names.n_names; i++)
			visit_file(s, FS_PATH("%s/%s", file->path, names.names[i]), file->key,
				   file->is_top);
	}
}

static void visit_folders(struct storage *s)
{
	static const char *const folders[] = { "/",
					       "/usr",
					       "/var",
					       "/var/lib",
					       KUBELET_ROOT_DIR,
					       "/var/lib/containerd",
					       "/var/lib/docker",
					       "/var/lib/containers",
					       "/var/lib/rancher",
					       "/var/lib/k0s",
					       "/var/snap" };

	for (size_t i = 0; i < ELEMENTSOF(folders); i++)
		visit_path(s, folders[i]);
	if (*s->p->n->kubelet.root_dir)
		visit_path(s, s->p->n->kubelet.root_dir);
	/* k3s and RKE2 have it in --data-dir, beside the folder of their containerd. */
	if (*s->p->n->kubelet.pod_folder == '/')
		visit_path(s, s->p->n->kubelet.pod_folder);
	visit_files(s);
	for (size_t i = s->n_mounts; i-- > 0;)
		if (streq(s->mounts[i].type, "overlay") && strchr(s->mounts[i].point + 1, '/')) {
			visit_path(s, s->mounts[i].point);
			return;
		}
}

/* Adds the servers of the other mounts; the source of one without a server, as tmpfs, is a word. */
static void visit_others(struct storage *s)
{
	s->to = TO_MOUNT;
	for (size_t i = 0; i < s->n_mounts; i++) {
		const struct mount *m = &s->mounts[i];

		if (!m->is_visited &&
		    (is_network(m) || (is_prefix(m->device, "0:") && strpbrk(m->source, ":./"))))
			visit_network(s, m);
	}
	s->to = TO_STORAGE;
}

/* The service may have mounts of its own; those of the first process are the host's. */
static void add_mounts(struct storage *s)
{
	_cleanup_(freep) char *text = NULL;
	char *rest, *line;
	int r = -ENOENT;

	if (s->p->fs->is_live)
		r = fs_read_all(s->p->fs, "proc/1/mountinfo", MAX_MOUNTS_BYTES, true, &text, NULL);
	if (r < 0 && r != -ENOMEM)
		r = fs_read_all(s->p->fs, MOUNTS, MAX_MOUNTS_BYTES, true, &text, NULL);
	if (!node_note(s->p->n, r))
		return visit_any(s);
	for (rest = text; (line = strsep(&rest, "\n"));) {
		struct mount m;

		if (parse_mount(line, &m))
			node_note(s->p->n, ADD(s->mounts, s->n_mounts, m));
	}
	visit_folders(s);
	record_mounts(s);
	visit_others(s);
}

/* --- command line --- */

#define CMDLINE "kernel command line"

/* The host that a value begins with: "[fd00::1]:/a", "10.0.0.1:3260:..."; none of "/a". */
static void add_first_host(struct storage *s, const char *key, const char *value)
{
	const size_t n = *value == '[' ? strcspn(value, "]") + 1 : strcspn(value, ":/,");
	char text[HOST_NAME_LEN + 2], host[HOST_NAME_LEN];
	uint8_t bytes[16];
	int family;

	if (ip_parse(value, &family, bytes)) { /* of IPv6, without brackets */
		add(s, value, key, CMDLINE);
		return;
	}
	PRINT(text, "%.*s", (int)MIN(n, sizeof(text) - 1), value);
	ip_host(text, host, sizeof(host));
	if (*host)
		add(s, host, key, CMDLINE);
}

/* "nfs:10.0.0.1:/a", "iscsi:10.0.0.1::3260::iqn...", "nbd:10.0.0.1:2000", "cifs://server/share" */
static void on_root(struct storage *s, const char *key, const char *value)
{
	static const char *const schemes[] = {
		"nfs:", "nfs4:", "iscsi:", "nbd:", "cifs://", "cifs:"
	};

	for (size_t i = 0; i < ELEMENTSOF(schemes); i++)
		if (is_prefix(value, schemes[i])) {
			add_first_host(s, key, value + strlen(schemes[i]));
			return;
		}
}

/* Cuts the next field of ip=; a colon in brackets is of an address. */
static char *cut_field(char **rest)
{
	char *field = *rest, *end = field;

	if (!field)
		return NULL;
	if (*field == '[') {
		field++;
		end = strchrnul(field, ']');
		if (*end)
			*end++ = '\0';
	}
	end = strchrnul(end, ':');
	*rest = *end ? end + 1 : NULL;
	*end = '\0';
	return field;
}

/*
 * Kernel: CLIENT:SERVER:GATEWAY:NETMASK:NAME:DEVICE:METHOD:..., and so has dracut, besides
 * DEVICE:METHOD[:MTU[:MAC]]; or one word.
 */
static void on_ip(struct storage *s, const char *key, const char *value)
{
	char text[512], *rest = text, *fields[6] = {};
	uint8_t bytes[16];
	size_t n = 0;
	int family;

	COPY(text, value);
	while (n < ELEMENTSOF(fields) && (fields[n] = cut_field(&rest)))
		n++;
	if (n > 1 && *fields[0] && !ip_parse(fields[0], &family, bytes)) {
		add_device(s, fields[0], key, CMDLINE);
		return;
	}
	if (n > 1 && *fields[1])
		add(s, fields[1], key, CMDLINE);
	if (n == ELEMENTSOF(fields) && *fields[5])
		add_device(s, fields[5], key, CMDLINE);
	else
		add_local(s, fields[0], key, CMDLINE);
}

static void on_bootdev(struct storage *s, const char *key, const char *value)
{
	add_device(s, value, key, CMDLINE);
}

/* "01-b8-ce-f6-17-00-00": the type of hardware, and the MAC. */
static void on_bootif(struct storage *s, const char *key, const char *value)
{
	const char *dash = strchr(value, '-');
	const struct netdev *nd;
	char mac[MAC_LEN];

	COPY(mac, dash ? dash + 1 : "");
	for (char *c = mac; *c; c++)
		*c = *c == '-' ? ':' : (char)tolower((unsigned char)*c);
	nd = FIND(k, s->p->n->netdevs, s->p->n->n_netdevs,
		  *mac && streq(*k->perm_mac ? k->perm_mac : k->mac, mac));
	if (nd)
		add_device(s, nd->name, key, CMDLINE);
}

static int on_word(void *userdata, const char *word)
{
	static const struct {
		const char *key;
		void (*on_value)(struct storage *s, const char *key, const char *value);
	} words[] = {
		{ "BOOTIF=", on_bootif },
		{ "bootdev=", on_bootdev },
		{ "ip=", on_ip },
		{ "iscsi_target_ip=", add_first_host },
		{ "nbdroot=", add_first_host },
		{ "netroot=", on_root },
		{ "nfsroot=", add_first_host },
		{ "root=", on_root },
	};

	FOREACH(w, words, ELEMENTSOF(words))
		if (is_prefix(word, w->key))
			w->on_value(userdata, w->key, word + strlen(w->key));
	return 0;
}

void storage_add(struct places *p)
{
	_owns_(struct storage, mounts) s = { .p = p, .to = TO_STORAGE };
	size_t n_named;

	add_mounts(&s);
	n_named = s.n_named;
	node_note(p->n, cmdline_read(p->fs, on_word, &s));
	if (*s.nbd && s.n_named == n_named)
		add_unnamed(&s, s.nbd);
}
