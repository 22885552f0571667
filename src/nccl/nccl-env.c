/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl-env.h"

#include "../base/log.h"
#include "../device/ibdev-observe.h"
#include "../device/pci-observe.h"
#include "../os/snapshot.h"
#include "nccl-output.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>

/* Returns only when it fails. */
static int become(char *const *command, char *settings)
{
	char *rest = NULL;

	for (char *line = strtok_r(settings, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (*line != '#' && putenv(line) != 0)
			return log_error_errno(-errno, "%s", line);
	signal(SIGPIPE, SIG_DFL); /* the command's own */
	execvp(command[0], command);
	return log_error_errno(-errno, "%s", command[0]);
}

/* Names and values are words without quotes. */
static int print_json(char *settings)
{
	char *rest = NULL, *value;
	const char *between = "{";

	for (char *line = strtok_r(settings, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		value = strchr(line, '=');
		if (*line == '#' || !value)
			continue;
		printf("%s\"%.*s\": \"%s\"", between, (int)(value - line), line, value + 1);
		between = ", ";
	}
	return standard_print("}\n");
}

static int use_settings(const struct nccl *c, const struct nccl_request *req)
{
	_cleanup_(freep) char *text = NULL;
	int r = nccl_text(c, req->is_export && !req->exec, req->is_exact, &text);

	if (r < 0)
		return log_error_errno(r, "NCCL");
	if (req->is_json)
		return print_json(text);
	return req->exec ? become(req->exec, text) : standard_print(text);
}

int nccl_env(const struct config *config, const struct node *n, const struct plan *p,
	     const struct nccl_request *req)
{
	_cleanup_(nccl_done) struct nccl c = {};
	int r = nccl_choose(config, n, p, &c);

	if (r < 0)
		return log_error_errno(r, "NCCL");

	if (c.reason != REASON_NONE) {
		log_error("%s%s%s", reason_meaning(c.reason), c.detail[0] ? ": " : "", c.detail);
		log_error("%s", c.advice ?: reason_advice(c.reason));
		return -ENODATA;
	}
	c.traffic_class = req->traffic_class;
	c.service_level = req->service_level;
	return use_settings(&c, req);
}

int nccl_env_here(const struct fs *fs, const struct nccl_request *req)
{
	_cleanup_(node_done) struct node n = {};
	int r;

	if (!fs->is_live && fs_exists(fs, ANSWERS_PATH) > 0)
		return log_error_errno(-ENOTSUP, "This program cannot read captures: use "
						 "\"rdma-provision nccl-env --root=\"");
	r = observe_nccl(fs, &n);
	return r < 0 ? log_error_errno(r, "/sys cannot be read") : nccl_env(NULL, &n, NULL, req);
}

int nccl_env_exit_code(int r, bool is_export)
{
	if (r < 0 && is_export)
		standard_print("false\n");
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

char **nccl_env_cut_command(int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++) {
		if (!streq(argv[i], "--exec"))
			continue;
		*argc = i;
		argv[i++] = NULL;
		return argv + i + (argv[i] && streq(argv[i], "--"));
	}
	return NULL;
}

#define MAX_IBDEVS 65536 /* beyond all hardware: what lists more is no sysfs */

static int add_netdev(const struct fs *fs, const char *name, struct node *n)
{
	struct netdev *nd;
	uint32_t carrier;

	/* It becomes part of a path. */
	if (!*name || strchr(name, '/') || streq(name, "..") || node_netdev_named(n, name) ||
	    fs_exists(fs, FS_PATH("sys/class/net/%s", name)) == 0)
		return 0;

	nd = APPEND(n->netdevs, n->n_netdevs);
	if (!nd)
		return -ENOMEM;
	COPY(nd->name, name);
	/* -EINVAL while it is down, and a copy may lack it. */
	nd->has_carrier =
		fs_read_u32(fs, FS_PATH("sys/class/net/%s/carrier", name), &carrier) >= 0 &&
		carrier == 1;
	fs_read_u32(fs, FS_PATH("sys/class/net/%s/ifindex", name), &nd->ifindex);
	return observe_netdev_pci(fs, nd);
}

/* The netdevs of its function, and those that its GIDs name: a bond or a VLAN is on no function. */
static int add_netdevs(const struct fs *fs, const struct ibdev *ib, struct node *n)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	int r = fs_list(fs, FS_PATH(IBDEV_FOLDER "/%s/device/net", ib->name), &names);

	r = r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < names.n_names && r >= 0; i++)
		r = add_netdev(fs, names.names[i], n);
	for (size_t p = 0; p < ib->n_ports && r >= 0; p++)
		for (size_t g = 0; g < ib->ports[p].n_gids && r >= 0; g++)
			r = add_netdev(fs, ib->ports[p].gids[g].netdev, n);
	return r;
}

static int add_pci(const struct fs *fs, const struct ibdev *ib, struct node *n)
{
	uint32_t vendor, device;
	struct pci pci = {};
	int r;

	if (!*ib->pci)
		return 0;
	r = fs_read_u32(fs, FS_PATH(IBDEV_FOLDER "/%s/device/vendor", ib->name), &vendor);
	if (r >= 0)
		r = fs_read_u32(fs, FS_PATH(IBDEV_FOLDER "/%s/device/device", ib->name), &device);
	if (r < 0) /* below a function, but none itself: its kind is not known */
		return r == -ENOENT || r == -ENODEV ? 0 : r;

	COPY(pci.address, ib->pci);
	observe_text(fs, FS_PATH(IBDEV_FOLDER "/%s/device/modalias", ib->name), pci.modalias,
		     sizeof(pci.modalias));
	pci.vendor = (uint16_t)vendor;
	pci.device = (uint16_t)device;
	r = fs_read_link_name(fs, FS_PATH(IBDEV_FOLDER "/%s/device/physfn", ib->name), pci.physfn,
			      sizeof(pci.physfn));
	if (r < 0)
		pci.physfn[0] = '\0'; /* no VF */
	if (fs_read_link_name(fs, FS_PATH(IBDEV_FOLDER "/%s/device/driver", ib->name), pci.driver,
			      sizeof(pci.driver)) < 0)
		pci.driver[0] = '\0'; /* going away just now */
	NODE_ADD(n, pcis, pci);
	return 0;
}

static int add_ibdev(const struct fs *fs, const char *name, struct node *n)
{
	struct ibdev *ib = APPEND(n->ibdevs, n->n_ibdevs);
	int r;

	if (!ib)
		return -ENOMEM;
	if (!COPY(ib->name, name)) {
		n->n_ibdevs--; /* no RDMA device has such a name */
		return 0;
	}
	r = observe_ibdev_function(fs, ib);
	if (r < 0)
		return r;
	if (*ib->pci && observe_is_management(fs, ib->pci))
		return 0; /* no job has anything to send by it: without ports */
	r = observe_ibdev(fs, false, ib);
	if (r < 0)
		return r;
	r = add_netdevs(fs, ib, n);
	return r < 0 ? r : add_pci(fs, ib, n);
}

static void add_address(const struct ifaddrs *i, struct node *n)
{
	const struct sockaddr *peer = i->ifa_flags & IFF_POINTOPOINT ? i->ifa_dstaddr : NULL;
	const struct netdev *nd = node_netdev_named(n, i->ifa_name);
	struct address a = {};

	if (!nd || !i->ifa_addr ||
	    (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6))
		return;
	a.ifindex = nd->ifindex;
	a.family = i->ifa_addr->sa_family;
	if (a.family == AF_INET6) {
		memcpy(a.local, &((const struct sockaddr_in6 *)i->ifa_addr)->sin6_addr, 16);
	} else {
		memcpy(a.local, &((const struct sockaddr_in *)i->ifa_addr)->sin_addr, 4);
		memcpy(a.peer, &((const struct sockaddr_in *)(peer ? peer : i->ifa_addr))->sin_addr,
		       4);
	}
	NODE_ADD(n, addresses, a);
}

/* A sandbox may forbid the socket for it; then functions tell whose netdevs these are. */
static void add_addresses(struct node *n)
{
	struct ifaddrs *all = NULL;

	if (!node_note(n, getifaddrs(&all) < 0 ? -errno : 0))
		return;
	for (const struct ifaddrs *i = all; i; i = i->ifa_next)
		add_address(i, n);
	freeifaddrs(all);
}

int observe_nccl(const struct fs *fs, struct node *n)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	int r = fs_list(fs, IBDEV_FOLDER, &names);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (names.n_names > MAX_IBDEVS)
		return -EFBIG;

	for (size_t i = 0; i < names.n_names && r >= 0; i++)
		r = add_ibdev(fs, names.names[i], n);
	if (r >= 0)
		r = add_netdev(fs, "eth0", n);
	if (fs->is_live)
		add_addresses(n);
	if (r >= 0)
		r = observe_nodes(fs, n);
	SORT(n->netdevs, n->n_netdevs, compare_u32);
	SORT(n->pcis, n->n_pcis, compare_text);
	return r < 0 ? r : node_result(n);
}
