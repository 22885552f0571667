/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signs: is some program still at work on the addresses of a netdev, or a CNI plugin on a device?
 *
 *   packet socket    Iface of /proc/net/packet, packet_seq_show() in net/packet/af_packet.c. Every
 *                    DHCP client has one, and LLDP agents that take all protocols; one of LLDP's
 *                    own number, as networkd has for each link, does not count. Which process it is
 *                    nobody asks: its inode would have to be looked for in all of /proc.
 *   networkd         ADMIN_STATE= in /run/systemd/netif/links/IFINDEX is pending, initialized or
 *                    configuring: link_save() in src/network/networkd-state-file.c. It stays
 *                    "configuring" while a netdev without carrier waits for one.
 *   NetworkManager   managed=true in /run/NetworkManager/devices/IFINDEX, and the netdev has
 *                    carrier, but neither master nor address other than link-local IPv6:
 *                    nm_config_device_state_write() in src/core/nm-config.c. What NetworkManager
 *                    leaves alone by configuration has a file without that key. Before it has
 *                    written the file there is no sign.
 *   ifup@            its control group is there (Debian's ifup@.service is a oneshot in
 *                    system.slice), and /run/network/ifstate has no line for the netdev, which ifup
 *                    writes when it is done: ifupdown's state.c. "ifup -a" of networking.service
 *                    has no group for each netdev: of that only DHCP clients are seen.
 *
 * On a running system the files of the two managers count only while the unit has a control group:
 * they stay behind.
 *
 * sriov-cni holds a lock, flock(2), of /var/lib/cni/sriov/pci/ADDRESS from before it changes a
 * device until it exits: Lock() in its pkg/utils/pci_allocator.go. The kernel lists locks in
 * /proc/locks. Other plugins have no such sign.
 */
#include "../step/observers.h"

#include "../model/ip.h"
#include "../model/route-facts.h"
#include "../os/unit-file.h"

#include <linux/if_ether.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define MAX_BYTES        65536u
#define MAX_PACKET_BYTES (4u << 20)
#define MAX_LOCKS_BYTES  (1u << 20)
#define PACKET           "proc/self/net/packet"

struct signs {
	const struct fs *fs;
	struct node *n;
	bool has_networkd, has_nm;
	uint32_t *packets; /* owned; ifindexes that packet sockets are bound to */
	size_t n_packets;
	char *ifstate; /* owned; NULL: ifupdown has none */
};

static void signs_done(struct signs *s)
{
	free(s->packets);
	free(s->ifstate);
}

/* In a tree the folder tells. The control group is looked for there as well, so that a capture of a
 * capture has the same files. */
static bool runs(const struct fs *fs, const char *unit, const char *folder)
{
	return fs_exists(fs, folder) > 0 && (unit_file_has_cgroup(fs, unit) || !fs->is_live);
}

/* "sk RefCnt Type Proto Iface ...": Iface 0 is any. networkd listens for LLDP on each link. */
static void read_packets(struct signs *s)
{
	_cleanup_(stream_done) struct stream out = {};
	_cleanup_(freep) char *text = NULL;
	char *rest, *line;

	if (!node_note(s->n, fs_read_all(s->fs, PACKET, MAX_PACKET_BYTES, true, &text, NULL)) ||
	    !node_note(s->n, stream_open(&out)))
		return;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		uint32_t proto = 0, ifindex = 0;

		if (sscanf(line, "%*s %*u %*u %" SCNx32 " %" SCNu32, &proto, &ifindex) != 2 ||
		    ifindex == 0 || proto == ETH_P_LLDP)
			continue;
		node_note(s->n, ADD(s->packets, s->n_packets, ifindex));
		fprintf(out.f, "0 0 0 0 %" PRIu32 "\n", ifindex);
	}
	node_note(s->n, fs_record_stream(s->fs, PACKET, &out));
}

/* The value of "KEY=VALUE" in a state file, "" without it. */
static void read_state(const struct signs *s, const char *path, const char *key, char *ret,
		       size_t size)
{
	_cleanup_(freep) char *text = NULL;
	char line[64], *rest, *at;
	size_t n;

	ret[0] = '\0';
	if (!node_note(s->n, fs_read_all(s->fs, path, MAX_BYTES, true, &text, NULL)))
		return;
	for (rest = text; (at = strsep(&rest, "\n"));)
		if (after(at, key))
			copy(ret, size, after(at, key));
	make_printable(ret);
	n = (size_t)PRINT(line, "%s%s\n", key, ret);
	fs_record(s->fs, RECORD_FILE, path, line, n);
}

/* --- each of them: @ret stays empty without a sign --- */

static void see_packet(const struct signs *s, const struct netdev *nd, char *ret, size_t size)
{
	if (!ANY(p, s->packets, s->n_packets, *p == nd->ifindex))
		return;
	copy(ret, size, "a packet socket is bound to it, as DHCP clients have one");
}

static void see_networkd(const struct signs *s, const struct netdev *nd, char *ret, size_t size)
{
	static const char *const states[] = { "pending", "initialized", "configuring" };
	char state[16];

	if (!s->has_networkd)
		return;
	read_state(s, FS_PATH("run/systemd/netif/links/%" PRIu32, nd->ifindex),
		   "ADMIN_STATE=", state, sizeof(state));
	if (!ANY(known, states, ELEMENTSOF(states), streq(state, *known)))
		return;
	snprintf(ret, size, "its state in systemd-networkd is \"%s\"", state);
}

/* Has the netdev an address that is not link-local? The kernel makes those of IPv6 itself. */
static bool has_address(const struct node *n, uint32_t ifindex)
{
	size_t n_of;
	const struct address *of = node_addresses_of(n, ifindex, &n_of);

	return ANY(a, of, n_of, !ip_is_link_local(a->family, a->local));
}

static void see_nm(const struct signs *s, const struct netdev *nd, char *ret, size_t size)
{
	char managed[8];

	if (!s->has_nm || !nd->has_carrier || nd->master || has_address(s->n, nd->ifindex))
		return;
	read_state(s, FS_PATH("run/NetworkManager/devices/%" PRIu32, nd->ifindex),
		   "managed=", managed, sizeof(managed));
	if (!streq(managed, "true"))
		return;
	copy(ret, size, "NetworkManager manages it, and it has no address yet");
}

/* As systemd-escape(1) writes the name of an instance. */
static void escape(const char *name, char *ret, size_t size)
{
	size_t n = 0;

	for (; *name && n + 5 < size; name++)
		n += (size_t)snprintf(ret + n, size - n, *name == '-' ? "\\x2d" : "%c", *name);
	ret[n] = '\0';
}

/* "eth1=eth1" in the state of ifupdown. */
static bool is_in_ifstate(const char *text, const char *name)
{
	const size_t n = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, n) == 0 && line[n] == '=')
			return true;
	}
	return false;
}

static void see_ifup(const struct signs *s, const struct netdev *nd, char *ret, size_t size)
{
	char name[4 * IFNAME_LEN + 1];

	if (!s->ifstate || is_in_ifstate(s->ifstate, nd->name))
		return;
	escape(nd->name, name, sizeof(name));
	if (!unit_file_has_cgroup(s->fs, FS_PATH("ifup@%s.service", name)) &&
	    !unit_file_has_cgroup(s->fs, FS_PATH("system-ifup.slice/ifup@%s.service", name)))
		return;
	snprintf(ret, size, "ifup@%s.service is starting", name);
}

void observe_signs(const struct fs *fs, struct node *n)
{
	static void (*const sees[])(const struct signs *s, const struct netdev *nd, char *ret,
				    size_t size) = { see_packet, see_networkd, see_nm, see_ifup };
	_cleanup_(signs_done) struct signs s = { .fs = fs, .n = n };

	s.has_networkd = runs(fs, "systemd-networkd.service", "run/systemd/netif/links");
	s.has_nm = runs(fs, "NetworkManager.service", "run/NetworkManager/devices");
	node_note(n, fs_read_all(fs, "run/network/ifstate", MAX_BYTES, false, &s.ifstate, NULL));
	read_packets(&s);
	FOREACH(nd, n->netdevs, n->n_netdevs) {
		nd->sign[0] = '\0';
		for (size_t k = 0; k < ELEMENTSOF(sees) && !nd->sign[0]; k++)
			sees[k](&s, nd, nd->sign, sizeof(nd->sign));
	}
}

/* --- CNI plugins --- */

/*
 * " 08:01:131075 ": lock_get_status() in fs/locks.c. A file system without a device, such as btrfs,
 * has several numbers of which stat(2) tells another one: there the first part alone counts.
 */
static void format_file(const struct stat *st, char *ret, size_t size)
{
	if (major(st->st_dev) == 0)
		snprintf(ret, size, ":%ju ", (uintmax_t)st->st_ino);
	else
		snprintf(ret, size, " %02x:%02x:%ju ", major(st->st_dev), minor(st->st_dev),
			 (uintmax_t)st->st_ino);
}

/* "1: FLOCK  ADVISORY  WRITE 1234 08:01:131075 0 EOF"; "-> FLOCK" waits for one. */
static uint32_t find_holder(const char *locks, const struct stat *st)
{
	char end[48];

	format_file(st, end, sizeof(end));
	for (const char *line = locks; line && *line; line = strchr(line, '\n')) {
		const size_t len = strcspn(line += *line == '\n', "\n");
		const char *file = memmem(line, len, end, strlen(end));
		const char *pid = file ? memmem(line, len, "WRITE ", strlen("WRITE ")) : NULL;

		if (pid && memmem(line, len, ": FLOCK ", strlen(": FLOCK ")))
			return (uint32_t)strtoul(pid + strlen("WRITE "), NULL, 10);
	}
	return 0;
}

void observe_cni(const struct fs *fs, struct node *n, const struct memory *memory)
{
	_cleanup_(freep) char *locks = NULL;

	for (size_t i = 0; i < memory->n_devices; i++) {
		struct pci *pci = (struct pci *)node_pci(n, memory->devices[i].pci);
		const char *path = FS_PATH("var/lib/cni/sriov/pci/%s", memory->devices[i].pci);
		struct stat st;

		if (!memory->devices[i].is_out || !pci || fs_stat(fs, path, &st) < 0)
			continue;
		if (!locks && !node_note(n, fs_read_all(fs, "proc/locks", MAX_LOCKS_BYTES, false,
							&locks, NULL)))
			return;
		pci->cni_pid = find_holder(locks, &st);
	}
}
