/* SPDX-License-Identifier: Apache-2.0 */
#include "limits-observe.h"

#include "../device/pci-observe.h"
#include "../model/plan.h"
#include "../os/snapshot.h"
#include "../os/unit-file.h"

#define DEVICES         "sys/bus/pci/devices"
#define MAX_WIDTH       32
#define MAX_SPEED       1000 /* GT/s: far above any generation */
#define MAX_UNIT_BYTES  ((size_t)256 * 1024)
#define MAX_LIMITS      ((size_t)16 * 1024)
#define MAX_AER         ((size_t)4096)
#define MAX_WALK        1024                /* processes of one unit */
#define DEFAULT_MEMLOCK (UINT64_C(8) << 20) /* of systemd */

uint32_t parse_link_speed(const char *s)
{
	unsigned long whole, tenths = 0;
	char *end;

	if (*s < '0' || *s > '9')
		return 0;
	whole = strtoul(s, &end, 10);
	if (end[0] == '.' && end[1] >= '0' && end[1] <= '9') {
		tenths = (unsigned long)(end[1] - '0');
		end += 2;
	}
	if (!is_prefix(end, " GT/s") || whole > MAX_SPEED)
		return 0;
	return (uint32_t)(whole * 1000 + tenths * 100);
}

static struct pcie read_link(const struct fs *fs, const char *pci, const char *which)
{
	struct pcie link = {};
	char text[32];

	if (fs_read(fs, FS_PATH(DEVICES "/%s/%s_link_speed", pci, which), text, sizeof(text)) >= 0)
		link.speed = parse_link_speed(text);
	if (fs_read_u32(fs, FS_PATH(DEVICES "/%s/%s_link_width", pci, which), &link.width) < 0 ||
	    link.width > MAX_WIDTH)
		link.width = 0;
	return link;
}

/* The port above a function: the parent folder of the function's folder. */
static bool find_slot(const struct fs *fs, const char *pci, char ret[static PCI_LEN])
{
	char target[512], *slash;

	if (fs_read_link(fs, FS_PATH(DEVICES "/%s", pci), target, sizeof(target)) < 0)
		return false;
	slash = strrchr(target, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return parse_pci_of_path(target, ret, PCI_LEN);
}

/*
 * The sum of lines such as "CmpltTO 2" of "aer_dev_fatal" and "aer_dev_nonfatal", without requests
 * that an end refused, as while a machine starts: they are no error of the link. The last line,
 * "TOTAL_ERR_FATAL 2", has each message once and is the most; a name counts each bit of it:
 * pci_dev_aer_stats_incr() in drivers/pci/pcie/aer.c. 0: no AER.
 */
static uint32_t read_errors(const struct fs *fs, const char *pci, const char *kind)
{
	_cleanup_(freep) char *text = NULL;
	const char *line, *number;
	uint64_t sum = 0;

	if (fs_read_all(fs, FS_PATH(DEVICES "/%s/aer_dev_%s", pci, kind), MAX_AER, false, &text,
			NULL) < 0)
		return 0;
	for (char *rest = text; (line = strsep(&rest, "\n")) && (number = strchr(line, ' '));) {
		const uint64_t n = MIN(strtoul(number, NULL, 10), INT32_MAX);

		if (is_prefix(line, "TOTAL_ERR_"))
			return (uint32_t)MIN(n, sum);
		sum += is_prefix(line, "UnsupReq ") || is_prefix(line, "ACSViol ") ? 0 : n;
	}
	return 0;
}

static void observe_link(const struct fs *fs, struct pci *pci)
{
	char slot[PCI_LEN];

	pci->link = read_link(fs, pci->address, "current");
	if (pci->link.speed == 0 && pci->link.width == 0)
		return;
	pci->n_aer =
		read_errors(fs, pci->address, "fatal") + read_errors(fs, pci->address, "nonfatal");
	pci->max_link = read_link(fs, pci->address, "max");
	if (find_slot(fs, pci->address, slot))
		pci->max_slot = read_link(fs, slot, "max");
}

static void observe_iommu(const struct fs *fs, struct pci *pci)
{
	char group[16];

	if (fs_read_link_name(fs, FS_PATH(DEVICES "/%s/iommu_group", pci->address), group,
			      sizeof(group)) < 0)
		return;
	fs_read(fs, FS_PATH("sys/kernel/iommu_groups/%s/type", group), pci->iommu,
		sizeof(pci->iommu));
}

/* Memory that may be locked */

bool parse_memlock(const char *s, uint64_t *ret)
{
	static const char units[] = "KMGTPE";
	unsigned long long value;
	const char *unit;
	int shift = 0;
	char *end;

	if (streq(s, "infinity") || is_prefix(s, "infinity:")) {
		*ret = UINT64_MAX;
		return true;
	}
	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	value = strtoull(s, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		shift = 10 * (int)(unit - units + 1);
		end++;
	}
	if (errno != 0 || (*end && *end != ':') || value > UINT64_MAX >> shift)
		return false;
	*ret = value << shift;
	return true;
}

bool parse_process_memlock(const char *text, uint64_t *ret)
{
	static const char name[] = "Max locked memory";
	const char *line = strstr(text, name);
	char *end;

	if (!line || (line > text && line[-1] != '\n'))
		return false;
	line += strlen(name);
	line += strspn(line, " ");
	if (is_prefix(line, "unlimited")) {
		*ret = UINT64_MAX;
		return true;
	}
	if (*line < '0' || *line > '9')
		return false;
	errno = 0;
	*ret = strtoull(line, &end, 10);
	return errno == 0 && *end == ' ';
}

enum rank {
	RANK_RUNTIME,
	RANK_DOCKER,
	RANK_KUBELET,
	_RANK_N
};

/* The units that start containers, and the names of their processes. */
static const struct starter {
	const char *unit, *command;
	enum rank rank;
} starters[] = {
	{ "containerd.service", "containerd", RANK_RUNTIME },
	{ "crio.service", "crio", RANK_RUNTIME },
	{ "k0scontroller.service", "containerd", RANK_RUNTIME },
	{ "k0sworker.service", "containerd", RANK_RUNTIME },
	{ "k3s-agent.service", "containerd", RANK_RUNTIME },
	{ "k3s.service", "containerd", RANK_RUNTIME },
	{ "rke2-agent.service", "containerd", RANK_RUNTIME },
	{ "rke2-server.service", "containerd", RANK_RUNTIME },
	{ "snap.microk8s.daemon-containerd.service", "containerd", RANK_RUNTIME },
	{ "docker.service", "dockerd", RANK_DOCKER },
	{ "kubelet.service", "kubelet", RANK_KUBELET },
};

/* The limit of the process of @s, if its unit runs. */
static bool read_running(const struct fs *fs, const struct starter *s, uint64_t *ret)
{
	_cleanup_(freep) char *pids = NULL;
	char *rest = NULL;
	int n = 0;

	if (unit_file_read_pids(fs, s->unit, true, &pids, NULL) < 0)
		return false;
	for (char *pid = strtok_r(pids, "\n", &rest); pid && n < MAX_WALK;
	     pid = strtok_r(NULL, "\n", &rest), n++) {
		_cleanup_(freep) char *text = NULL;
		char comm[32];

		if (fs_read(fs, FS_PATH("proc/%.12s/comm", pid), comm, sizeof(comm)) < 0 ||
		    !streq(comm, s->command))
			continue;
		return fs_read_all(fs, FS_PATH("proc/%.12s/limits", pid), MAX_LIMITS, true, &text,
				   NULL) >= 0 &&
		       parse_process_memlock(text, ret);
	}
	return false;
}

/* The last value of @key; an empty value resets it. Return: 0 or -ENOMEM. */
static int scan_memlock(const char *text, size_t size, const char *key, char *ret, size_t ret_size)
{
	bool is_service = false;
	size_t at = 0;

	for (;;) {
		_cleanup_(unit_setting_done) struct unit_setting s = {};
		int r = unit_file_next(text, size, &at, &is_service, &s);

		if (r <= 0)
			return r;
		if (streq(s.key, key))
			copy(ret, ret_size, s.value);
	}
}

/* The last value of @key in the files of a unit or system.conf; unreadable files are skipped. */
static void read_memlock(const struct fs *fs, const struct unit_paths *paths, const char *key,
			 struct node *n, char *ret, size_t ret_size)
{
	*ret = '\0';
	for (size_t i = 0; i < paths->n; i++) {
		_cleanup_(freep) char *text = NULL;
		size_t size;

		if (node_note(n,
			      fs_read_all(fs, paths->items[i], MAX_UNIT_BYTES, true, &text, &size)))
			node_note(n, scan_memlock(text, size, key, ret, ret_size));
	}
}

/* False: there is no such unit. */
static bool read_files(const struct fs *fs, const struct starter *s, struct node *n, uint64_t *ret)
{
	_cleanup_(unit_paths_done) struct unit_paths paths = {}, manager = {};
	char text[64];

	node_note(n, unit_file_list(fs, s->unit, &paths));
	if (paths.n == 0)
		return false;
	read_memlock(fs, &paths, "LimitMEMLOCK", n, text, sizeof(text));
	if (parse_memlock(text, ret))
		return true;
	node_note(n, unit_file_list_manager(fs, &manager));
	read_memlock(fs, &manager, "DefaultLimitMEMLOCK", n, text, sizeof(text));
	if (!parse_memlock(text, ret))
		*ret = DEFAULT_MEMLOCK;
	return true;
}

static void observe_rank(const struct fs *fs, enum rank rank, bool is_running, struct node *n)
{
	FOREACH(s, starters, ELEMENTSOF(starters)) {
		struct memlock m = {};

		if (s->rank != rank)
			continue;
		COPY(m.unit, s->unit);
		if (is_running ? read_running(fs, s, &m.bytes) : read_files(fs, s, n, &m.bytes))
			NODE_ADD(n, memlocks, m);
	}
}

/* Lists the units of the first rank that has any: those that run, else those installed. */
static void observe_memlocks(const struct fs *fs, struct node *n)
{
	struct fs unrecorded = *fs; /* a capture has them in its answers */

	unrecorded.on_read = NULL;
	for (enum rank rank = 0; rank < _RANK_N && n->n_memlocks == 0; rank++) {
		if (fs->is_live)
			observe_rank(&unrecorded, rank, true, n);
		if (n->n_memlocks == 0)
			observe_rank(&unrecorded, rank, false, n);
	}
	n->has_memlocks = true;
}

static bool is_nic(const struct node *n, const struct pci *pci)
{
	return !pci->physfn[0] && (pci_is_network(pci) || node_ibdev_of(n, pci->address));
}

void observe_pcie(const struct fs *fs, const struct questions *q, struct node *n)
{
	for (size_t i = 0; i < n->n_pcis && questions_ask(q, QUESTION_PCIE); i++)
		if (is_nic(n, &n->pcis[i]) && questions_name(q, n->pcis[i].address))
			observe_link(fs, &n->pcis[i]);
}

void observe_limits(const struct fs *fs, struct node *n)
{
	for (size_t i = 0; i < n->n_pcis; i++)
		if (is_nic(n, &n->pcis[i]))
			observe_iommu(fs, &n->pcis[i]);
	/* A captured tree has the limits in its answers or not at all: its unit files are not
	 * all. So are those of a copy without the administrator's. */
	if ((n->is_copy && fs_exists(fs, "etc/systemd") <= 0) || n->has_memlocks ||
	    (!fs->is_live && fs_exists(fs, ANSWERS_PATH) > 0))
		return;
	observe_memlocks(fs, n);
}
