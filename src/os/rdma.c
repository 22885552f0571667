/* SPDX-License-Identifier: Apache-2.0 */
#include "rdma.h"

#include "nl.h"

#include <assert.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <rdma/rdma_netlink.h>
#include <sys/stat.h>

/* Numbers from newer headers than the oldest supported systems have; they are ABI. */
#define CMD_RES_CTX_GET    22
#define ATTR_RES_CTX       86
#define ATTR_RES_CTX_ENTRY 87
#define ATTR_DEV_TYPE      99 /* Linux 6.11 */
#define DEVICE_TYPE_SMI    1
/* "Always the end": one more than the last. */
#define RDMA_ATTR_COUNT MAX((int)RDMA_NLDEV_ATTR_MAX, ATTR_DEV_TYPE + 1)

static struct nl_msg *request(int command, int flags)
{
	return nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), flags);
}

static struct nl_msg *request_of(uint32_t index, int command, int flags)
{
	return put_u32(request(command, flags), RDMA_NLDEV_ATTR_DEV_INDEX, index);
}

/* No header of its own follows the one of netlink. */
static int parse(struct nlmsghdr *h, struct nlattr *tb[static RDMA_ATTR_COUNT])
{
	static const struct nla_policy policy[RDMA_ATTR_COUNT] = {
		[RDMA_NLDEV_ATTR_DEV_INDEX] = { .type = NLA_U32 },
		[RDMA_NLDEV_ATTR_DEV_NAME] = { .type = NLA_STRING },
		[RDMA_NLDEV_ATTR_NDEV_NAME] = { .type = NLA_STRING },
		[RDMA_NLDEV_ATTR_RES_SUMMARY] = { .type = NLA_NESTED },
		[RDMA_NLDEV_SYS_ATTR_NETNS_MODE] = { .type = NLA_U8 },
		[ATTR_DEV_TYPE] = { .type = NLA_U8 },
	};

	return nlmsg_parse(h, 0, tb, RDMA_ATTR_COUNT - 1, policy) < 0 ? -EBADMSG : 0;
}

int rdma_on_ibdev(struct nlmsghdr *h, void *userdata)
{
	struct nlattr *tb[RDMA_ATTR_COUNT];
	struct rdma_ibdevs *list = userdata;
	struct ibdev *d;
	int r = parse(h, tb);

	if (r < 0)
		return r;
	if (!tb[RDMA_NLDEV_ATTR_DEV_INDEX] || !tb[RDMA_NLDEV_ATTR_DEV_NAME])
		return -EBADMSG;

	d = APPEND(list->ibdevs, list->n);
	if (!d)
		return -ENOMEM;

	d->index = nla_get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	d->n_contexts = UINT32_MAX;
	d->verbs = 1;
	nla_strlcpy(d->name, tb[RDMA_NLDEV_ATTR_DEV_NAME], sizeof(d->name));
	d->is_smi = tb[ATTR_DEV_TYPE] && nla_get_u8(tb[ATTR_DEV_TYPE]) == DEVICE_TYPE_SMI;
	return 0;
}

static int on_port(struct nlmsghdr *h, void *userdata)
{
	struct nlattr *tb[RDMA_ATTR_COUNT];
	struct ibdev *d = userdata;
	int r = parse(h, tb);

	if (r < 0)
		return r;

	if (tb[RDMA_NLDEV_ATTR_NDEV_NAME])
		nla_strlcpy(d->netdev, tb[RDMA_NLDEV_ATTR_NDEV_NAME], sizeof(d->netdev));
	return 0;
}

/* Pd, cq and qp are never zero, since the kernel has its own. */
static void read_summary_entry(struct nlattr *entry, struct ibdev *d)
{
	static const struct nla_policy policy[RDMA_ATTR_COUNT] = {
		[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME] = { .type = NLA_STRING },
		[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR] = { .type = NLA_U64 },
	};
	struct nlattr *tb[RDMA_ATTR_COUNT], *name, *current;
	uint32_t n;

	if (nla_parse_nested(tb, RDMA_ATTR_COUNT - 1, entry, policy) < 0)
		return;

	name = tb[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME];
	current = tb[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR];
	if (!name || !current)
		return;
	n = MIN(nla_get_u64(current), (uint64_t)UINT32_MAX - 1);
	if (nla_strcmp(name, "ctx") == 0)
		d->n_contexts = n;
	else if (nla_strcmp(name, "cm_id") == 0)
		d->n_cm_ids = n;
}

static int on_resources(struct nlmsghdr *h, void *userdata)
{
	struct nlattr *tb[RDMA_ATTR_COUNT], *entry;
	int r, left;

	r = parse(h, tb);
	if (r < 0 || !tb[RDMA_NLDEV_ATTR_RES_SUMMARY])
		return r;

	nla_for_each_nested(entry, tb[RDMA_NLDEV_ATTR_RES_SUMMARY], left)
		if (nla_type(entry) == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY)
			read_summary_entry(entry, userdata);
	return 0;
}

int rdma_list(struct netlink *nl, struct ibdev **ret, size_t *ret_n)
{
	_owns_(struct rdma_ibdevs, ibdevs) list = {};
	struct nl_msg *m = request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	int r = netlink_list(nl, m, rdma_on_ibdev, &list, &list.n);

	if (r < 0)
		return r;

	/* A device that went away meanwhile, or a kernel that does not tell: both stay unknown. */
	FOREACH(d, list.ibdevs, list.n) {
		m = request_of(d->index, RDMA_NLDEV_CMD_PORT_GET, 0);
		r = netlink_dump(nl, put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1), on_port, d);
		if (r != -ENOMEM)
			r = netlink_dump(nl, request_of(d->index, RDMA_NLDEV_CMD_RES_GET, 0),
					 on_resources, d);
		if (r == -ENOMEM)
			return r;
	}

	SORT(list.ibdevs, list.n, compare_text);
	return TAKE_LIST(0, list.ibdevs, list.n, ret, ret_n);
}

int rdma_read_name(struct netlink *nl, uint32_t index, char *ret, size_t size)
{
	_owns_(struct rdma_ibdevs, ibdevs) found = {};
	struct nl_msg *m = request_of(index, RDMA_NLDEV_CMD_GET, 0);
	int r = netlink_dump(nl, m, rdma_on_ibdev, &found);

	if (r == -EINVAL || (r >= 0 && found.n == 0))
		return -ENODEV;
	return r < 0 ? r : copy(ret, size, found.ibdevs[0].name) ? 0 : -EMSGSIZE;
}

static const struct {
	int command, table, entry;
} resources[] = {
	[RDMA_CONTEXTS] = { CMD_RES_CTX_GET, ATTR_RES_CTX, ATTR_RES_CTX_ENTRY },
	[RDMA_PDS] = { RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PD,
		       RDMA_NLDEV_ATTR_RES_PD_ENTRY },
	[RDMA_CM_IDS] = { RDMA_NLDEV_CMD_RES_CM_ID_GET, RDMA_NLDEV_ATTR_RES_CM_ID,
			  RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY },
};

/*
 * A listener on all addresses has a cm_id of each device, with the address that it was given:
 * cma_listen_on_dev() in drivers/infiniband/core/cma.c
 */
static bool is_of_any_address(const struct nlattr *source)
{
	struct sockaddr_storage a = {};

	if (!source)
		return false;
	memcpy(&a, nla_data(source), MIN((size_t)nla_len(source), sizeof(a)));
	if (a.ss_family == AF_INET)
		return ((struct sockaddr_in *)&a)->sin_addr.s_addr == INADDR_ANY;
	return a.ss_family == AF_INET6 &&
	       IN6_IS_ADDR_UNSPECIFIED(&((struct sockaddr_in6 *)&a)->sin6_addr);
}

static int add_holder(struct nlattr *entry, struct rdma_holders *list)
{
	static const struct nla_policy policy[RDMA_ATTR_COUNT] = {
		[RDMA_NLDEV_ATTR_RES_PID] = { .type = NLA_U32 },
		[RDMA_NLDEV_ATTR_RES_KERN_NAME] = { .type = NLA_STRING },
	};
	struct nlattr *tb[RDMA_ATTR_COUNT];
	struct rdma_holder found = { .n = 1 }, *same;

	if (nla_parse_nested(tb, RDMA_ATTR_COUNT - 1, entry, policy) < 0)
		return -EBADMSG;
	if (is_of_any_address(tb[RDMA_NLDEV_ATTR_RES_SRC_ADDR]))
		return 0;

	/* Neither: of a process that is a zombie, or of another PID namespace. */
	if (tb[RDMA_NLDEV_ATTR_RES_PID])
		found.pid = nla_get_u32(tb[RDMA_NLDEV_ATTR_RES_PID]);
	else if (tb[RDMA_NLDEV_ATTR_RES_KERN_NAME])
		nla_strlcpy(found.kernel, tb[RDMA_NLDEV_ATTR_RES_KERN_NAME], sizeof(found.kernel));

	same = FIND(h, list->holders, list->n,
		    h->pid == found.pid && streq(h->kernel, found.kernel));
	if (!same)
		return ADD(list->holders, list->n, found);
	same->n++;
	return 0;
}

int rdma_on_holders(struct nlmsghdr *h, void *userdata)
{
	struct nlattr *tb[RDMA_ATTR_COUNT], *entry;
	struct rdma_holders *list = userdata;
	int r, left;

	r = parse(h, tb);
	if (r < 0 || !tb[resources[list->what].table]) /* a device without any */
		return r;

	nla_for_each_nested(entry, tb[resources[list->what].table], left) {
		if (nla_type(entry) != resources[list->what].entry)
			continue;
		r = add_holder(entry, list);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Is the ibdev still there? The kernel says -EINVAL both of an unknown command and of an unknown
 * device: rdma_nl_rcv_msg() and ib_device_get_by_index() in drivers/infiniband/core. */
static bool is_there(struct netlink *nl, uint32_t index)
{
	struct nl_msg *m = request_of(index, RDMA_NLDEV_CMD_GET, 0);

	return !m || netlink_ask(nl, m) >= 0;
}

int rdma_list_holders(struct netlink *nl, uint32_t index, enum rdma_resource what,
		      struct rdma_holder **ret, size_t *ret_n)
{
	_owns_(struct rdma_holders, holders) list = { .what = what };
	struct nl_msg *m = request_of(index, resources[what].command, NLM_F_DUMP);
	int r = netlink_list(nl, m, rdma_on_holders, &list, &list.n);

	if (r == -EINVAL)
		return is_there(nl, index) ? -EOPNOTSUPP : -ENODEV;
	return TAKE_LIST(r, list.holders, list.n, ret, ret_n);
}

static int on_system(struct nlmsghdr *h, void *userdata)
{
	struct nlattr *tb[RDMA_ATTR_COUNT];
	enum netns_mode *mode = userdata;
	int r = parse(h, tb);

	if (r < 0 || !tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE])
		return r;

	*mode = nla_get_u8(tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE]) ? NETNS_MODE_SHARED
							       : NETNS_MODE_EXCLUSIVE;
	return 0;
}

int rdma_get_netns_mode(struct netlink *nl, enum netns_mode *ret)
{
	struct nl_msg *m = request(RDMA_NLDEV_CMD_SYS_GET, 0);
	enum netns_mode mode = NETNS_MODE_KEEP;
	int r = netlink_dump(nl, m, on_system, &mode);

	if (r < 0)
		return r;
	if (mode == NETNS_MODE_KEEP)
		return -EOPNOTSUPP;

	*ret = mode;
	return 0;
}

int rdma_set_netns_mode(struct netlink *nl, enum netns_mode mode)
{
	assert(mode == NETNS_MODE_SHARED || mode == NETNS_MODE_EXCLUSIVE);
	return netlink_ask(nl, put_u8(request(RDMA_NLDEV_CMD_SYS_SET, 0),
				      RDMA_NLDEV_SYS_ATTR_NETNS_MODE, mode == NETNS_MODE_SHARED));
}

/* Ledgers and questions name them as well: no other path comes of that. */
static int format_path(const char *ibdev, const char *attribute, char *ret, size_t size)
{
	if (fnmatch("ports/+([0-9])/default_roce_@(tos|mode)", attribute, FNM_EXTMATCH) != 0)
		return -EPERM;
	snprintf(ret, size, RDMA_CM_FOLDER "/%s/%s", ibdev, attribute);
	return 0;
}

int rdma_cm_read(const struct fs *fs, const char *ibdev, const char *attribute, char *ret,
		 size_t size)
{
	char path[192];
	int r = format_path(ibdev, attribute, path, sizeof(path));

	return r < 0 ? r : fs_read(fs, path, ret, size);
}

/* Not fs_make_folders(): without rdma_cm nothing is to be made. */
int rdma_cm_open(const struct fs *fs, const char *ibdev)
{
	_cleanup_(closep) int folder = fs_open(fs, RDMA_CM_FOLDER, O_DIRECTORY | O_RDONLY);

	if (folder < 0)
		return folder;
	return mkdirat(folder, ibdev, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

int rdma_cm_set(const struct fs *fs, const char *ibdev, const char *attribute, const char *value)
{
	char path[192];
	int r = format_path(ibdev, attribute, path, sizeof(path));

	return r < 0 ? r : fs_write_attribute(fs, path, value);
}

int rdma_cm_close(const struct fs *fs, const char *ibdev)
{
	_cleanup_(closep) int folder = fs_open(fs, RDMA_CM_FOLDER, O_DIRECTORY | O_RDONLY);

	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	return unlinkat(folder, ibdev, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

int rdma_cm_close_left(const struct fs *fs)
{
	_cleanup_(fs_names_done) struct fs_names ibdevs = {};
	char mode[32];
	int r = fs_list(fs, RDMA_CM_FOLDER, &ibdevs);

	for (size_t i = 0; i < ibdevs.n_names && r >= 0; i++)
		if (rdma_cm_read(fs, ibdevs.names[i], "ports/1/default_roce_mode", mode,
				 sizeof(mode)) == -ENODEV)
			r = rdma_cm_close(fs, ibdevs.names[i]);
	return r == -ENOENT ? 0 : MIN(r, 0);
}
