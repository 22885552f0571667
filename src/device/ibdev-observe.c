/* SPDX-License-Identifier: Apache-2.0 */
#include "ibdev-observe.h"

#include "pci-observe.h"

#define ZERO_GID     "0000:0000:0000:0000:0000:0000:0000:0000"
#define NO_INTERFACE ":0000:0000:0000:0000" /* behind the prefix */

/* The word of "4: ACTIVE" or "1: CA". */
static void keep_word(char *text)
{
	char *colon = strstr(text, ": ");

	if (colon)
		memmove(text, colon + 2, strlen(colon + 2) + 1);
}

void observe_text(const struct fs *fs, const char *path, char *ret, size_t size)
{
	char line[128]; /* @ret has room for the text, but not for the newline that comes with it */

	if (fs_read(fs, path, line, sizeof(line)) < 0 || !copy(ret, size, line))
		ret[0] = '\0';
}

/*
 * A GID takes the first slot that is empty (find_gid() in drivers/infiniband/core/cache.c), so what
 * lies behind so many empty ones came when as many addresses were there, and they are gone. A table
 * has 256 slots on mlx5 and 1024 on rxe, each a file: to read them all is most of a look. Where an
 * address has no GID before them, the rest is read as well: rdma-observe.c.
 */
#define MAX_EMPTY 4

/* The numbers of the slots, which a folder has in the order of their letters. */
static int list_slots(const struct fs *fs, const char *folder, uint32_t **ret, size_t *ret_n)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	uint32_t *slots;
	int r = fs_list(fs, FS_PATH("%s/gids", folder), &names);

	if (r < 0 || names.n_names == 0)
		return r == -ENOENT ? 0 : r;

	slots = calloc(names.n_names, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < names.n_names; i++)
		slots[i] = (uint32_t)strtoul(names.names[i], NULL, 10);
	qsort(slots, names.n_names, sizeof(*slots), compare_u32);
	*ret = slots;
	*ret_n = names.n_names;
	return 0;
}

/* An empty slot is not added: its attributes give EINVAL. Return: 1 when it has one, 0, -errno. */
static int observe_gid(const struct fs *fs, const char *folder, uint32_t index, struct port *port)
{
	struct gid gid = { .index = index };

	observe_text(fs, FS_PATH("%s/gids/%" PRIu32, folder, index), gid.gid, sizeof(gid.gid));
	if (!gid.gid[0] || streq(gid.gid, ZERO_GID))
		return 0;
	/* Old drivers fill the free slots of InfiniBand with the prefix of the subnet. */
	if (!streq(port->link_layer, "Ethernet") && strlen(gid.gid) == strlen(ZERO_GID) &&
	    streq(gid.gid + strlen(NO_INTERFACE) - 1, NO_INTERFACE))
		return 0;

	observe_text(fs, FS_PATH("%s/gid_attrs/types/%" PRIu32, folder, index), gid.type,
		     sizeof(gid.type));
	observe_text(fs, FS_PATH("%s/gid_attrs/ndevs/%" PRIu32, folder, index), gid.netdev,
		     sizeof(gid.netdev));

	return ADD(port->gids, port->n_gids, gid) < 0 ? -ENOMEM : 1;
}

static int observe_first_gids(const struct fs *fs, const char *folder, struct port *port)
{
	uint32_t n_empty = 0;

	for (uint32_t i = 0; n_empty < MAX_EMPTY; i++) {
		int r = observe_gid(fs, folder, i, port);

		if (r < 0)
			return r;
		n_empty = r > 0 ? 0 : n_empty + 1;
	}
	return 0;
}

static int observe_gids(const struct fs *fs, const char *folder, struct port *port)
{
	_cleanup_(freep) uint32_t *slots = NULL;
	size_t n_slots = 0;
	int r = list_slots(fs, folder, &slots, &n_slots);

	for (size_t i = 0; i < n_slots && r >= 0; i++)
		r = observe_gid(fs, folder, slots[i], port);
	return MIN(r, 0);
}

static int observe_port(const struct fs *fs, const char *ibdev, const char *number, bool is_short,
			struct port *port)
{
	const char *folder = FS_PATH(IBDEV_FOLDER "/%s/ports/%s", ibdev, number);

	char mask[16] = "";

	port->number = (uint32_t)strtoul(number, NULL, 10);
	observe_text(fs, FS_PATH("%s/state", folder), port->state, sizeof(port->state));
	keep_word(port->state);
	observe_text(fs, FS_PATH("%s/link_layer", folder), port->link_layer,
		     sizeof(port->link_layer));
	observe_text(fs, FS_PATH("%s/rate", folder), port->rate, sizeof(port->rate));
	if (streq(port->link_layer, "InfiniBand") && !streq(port->state, "ACTIVE"))
		observe_text(fs, FS_PATH("%s/phys_state", folder), port->phys_state,
			     sizeof(port->phys_state));
	keep_word(port->phys_state);
	/* The bit IB_PORT_SM: ib_umad_sm_open() in drivers/infiniband/core/user_mad.c sets it. */
	if (streq(port->link_layer, "InfiniBand"))
		observe_text(fs, FS_PATH("%s/cap_mask", folder), mask, sizeof(mask));
	port->is_manager = strtoul(mask, NULL, 16) & 2;

	return is_short ? observe_first_gids(fs, folder, port) : observe_gids(fs, folder, port);
}

static int observe_ports(const struct fs *fs, bool is_short, struct ibdev *ib)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	int r = fs_list(fs, FS_PATH(IBDEV_FOLDER "/%s/ports", ib->name), &names);

	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? 0 : r;

	for (size_t i = 0; i < names.n_names && r >= 0; i++) {
		struct port *port = APPEND(ib->ports, ib->n_ports);

		r = port ? observe_port(fs, ib->name, names.names[i], is_short, port) : -ENOMEM;
	}
	return r;
}

int observe_ibdev_function(const struct fs *fs, struct ibdev *ib)
{
	char target[512];
	int r = fs_read_link(fs, FS_PATH(IBDEV_FOLDER "/%s/device", ib->name), target,
			     sizeof(target));

	if (r < 0 && !fs->is_live) /* a copy without that link */
		r = fs_read_link(fs, FS_PATH(IBDEV_FOLDER "/%s", ib->name), target, sizeof(target));
	if (r >= 0)
		parse_pci_of_path(target, ib->pci, sizeof(ib->pci));
	return r == -ENOENT || r == -EINVAL ? 0 : MIN(r, 0);
}

int observe_ibdev(const struct fs *fs, bool is_short, struct ibdev *ib)
{
	const char *folder = FS_PATH(IBDEV_FOLDER "/%s", ib->name);
	_cleanup_(fs_leave) struct fs inside = {};
	int r;

	fs_enter(fs, folder, &inside);
	r = ib->pci[0] ? 0 : observe_ibdev_function(&inside, ib);
	if (r < 0)
		return r;

	observe_text(&inside, FS_PATH("%s/node_guid", folder), ib->node_guid,
		     sizeof(ib->node_guid));
	observe_text(&inside, FS_PATH("%s/node_type", folder), ib->node_type,
		     sizeof(ib->node_type));
	keep_word(ib->node_type);
	observe_text(&inside, FS_PATH("%s/fw_ver", folder), ib->firmware, sizeof(ib->firmware));

	return observe_ports(&inside, is_short, ib);
}

int observe_all_gids(const struct fs *fs, struct ibdev *ib)
{
	const char *device = FS_PATH(IBDEV_FOLDER "/%s", ib->name);
	_cleanup_(fs_leave) struct fs inside = {};
	int r = 0;

	fs_enter(fs, device, &inside);
	FOREACH_WHILE(port, ib->ports, ib->n_ports, r >= 0) {
		free(TAKE(port->gids));
		port->n_gids = 0;
		r = observe_gids(&inside, FS_PATH("%s/ports/%" PRIu32, device, port->number), port);
	}
	return r;
}

bool ibdev_has_dev(const struct fs *fs, const struct node *n)
{
	return !n->is_copy || fs_exists(fs, "dev") > 0;
}

static int observe_class(const struct fs *fs, struct node *n, const char *class, const char *prefix,
			 size_t member)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char ibdev[IBDEV_LEN];
	struct ibdev *ib;
	int r = fs_list(fs, class, &names);

	if (r < 0)
		return r;

	FOREACH(name, names.names, names.n_names) {
		if (!is_prefix(*name, prefix))
			continue;
		/* The attribute is live; names and udev links may be of before a rename. */
		observe_text(fs, FS_PATH("%s/%s/ibdev", class, *name), ibdev, sizeof(ibdev));
		if (!ibdev[0] ||
		    (ibdev_has_dev(fs, n) && !fs_exists(fs, FS_PATH("dev/infiniband/%s", *name))))
			continue;

		ib = (struct ibdev *)node_ibdev_named(n, ibdev); /* one of our own */
		if (ib)
			copy((char *)ib + member, sizeof(ib->uverbs), *name);
	}
	return 0;
}

/* A copy is asked below the function as well: it may have no links of a class. */
static int observe_class_of(const struct fs *fs, struct node *n, const char *name,
			    const char *prefix, size_t member)
{
	int r = observe_class(fs, n, FS_PATH("sys/class/%s", name), prefix, member);

	FOREACH_WHILE(ib, n->ibdevs, n->n_ibdevs, n->is_copy) {
		const int below = observe_class(
			fs, n, FS_PATH("sys/bus/pci/devices/%s/%s", ib->pci, name), prefix, member);
		if (below != -ENOENT)
			r = below;
	}
	return r;
}

int observe_nodes(const struct fs *fs, struct node *n)
{
	int r = observe_class_of(fs, n, "infiniband_verbs", "uverbs",
				 offsetof(struct ibdev, uverbs));

	n->has_verbs = r >= 0 && (!n->is_copy || ANY(d, n->ibdevs, n->n_ibdevs, d->uverbs[0]));
	if (r >= 0 || r == -ENOENT)
		r = observe_class_of(fs, n, "infiniband_mad", "umad", offsetof(struct ibdev, umad));
	return r == -ENOENT ? 0 : r;
}
