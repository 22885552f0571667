/* SPDX-License-Identifier: Apache-2.0 */
#include "verify.h"

#include "base/document.h"
#include "loop.h"
#include "model/gid.h"
#include "os/child.h"
#include "os/rc-ping.h"
#include "os/verbs-ask.h"
#include "output/forecast.h"
#include "output/nccl-output.h"
#include "output/plugin-output.h"
#include "output/sheet.h"

#define KUBELET_PLUGINS  "var/lib/kubelet/device-plugins" /* fixed: DevicePluginPath */
#define CHECKPOINT_PATH  KUBELET_PLUGINS "/kubelet_internal_checkpoint"
#define CHECKPOINT_BYTES (16u << 20)
#define PING_USEC        (20 * USEC_PER_SEC)

/* What was tried, and what came of it. */
struct verify {
	struct os *os;
	const struct config *config;
	const struct node *node;
	const struct plan *plan;
	json_t *checks; /* owned; see add() */
	int n_failed;
};

enum result {
	PASS,
	FAIL,
	SKIPPED
};

/*
 * @is: what was seen. @expected: what should be. @between: the command for two nodes. They are kept
 * as "is", "expected" and "between_nodes".
 */
static int add(struct verify *v, const char *check, const char *target, enum result result,
	       const char *is, const char *expected, const char *between)
{
	static const char *const words[] = { "PASS", "FAIL", "skipped" };

	v->n_failed += result == FAIL;
	return json_array_append_new(v->checks,
				     json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "result",
					       words[result], "check", check, "target",
					       document_text(target), "is", document_text(is),
					       "expected", document_text(expected), "between_nodes",
					       document_text(between))) < 0
		       ? -ENOMEM
		       : 0;
}

/* --- devices --- */

static const char *ibdev_of(const struct device *d)
{
	return d->ibdev ? d->ibdev->name : d->ibdev_name;
}

static int check_nodes(struct verify *v, const struct device *d)
{
	const struct ibdev *ib = d->ibdev;
	const bool has_all = ib && *ib->uverbs && v->node->has_rdma_cm;
	char is[192], between[96];

	if (!ib)
		snprintf(is, sizeof(is), "no RDMA device");
	else
		snprintf(is, sizeof(is), "%s%s%s%s", *ib->uverbs ? ib->uverbs : "no uverbs",
			 *ib->umad ? " " : "", ib->umad,
			 v->node->has_rdma_cm ? " rdma_cm" : ", no rdma_cm");
	snprintf(between, sizeof(between), "ibv_devinfo -d %s", ib ? ib->name : "DEVICE");
	return add(v, "nodes", d->pci->address, has_all ? PASS : FAIL, is,
		   "uverbsN and rdma_cm in /dev/infiniband", between);
}

static int check_usable(struct verify *v, const struct device *d)
{
	char is[512], between[96];

	if (d->is_usable)
		snprintf(is, sizeof(is), "%s is usable", ibdev_of(d));
	else
		snprintf(is, sizeof(is), "%s: %s%s%s", reason_code(d->reason),
			 reason_meaning(d->reason), *d->detail ? ": " : "", d->detail);
	snprintf(between, sizeof(between), "rdma-provision explain %s, on each node",
		 d->pci->address);
	return add(v, "device", d->pci->address, d->is_usable ? PASS : FAIL, is,
		   "driver bound, libibverbs opens it, port ACTIVE", between);
}

/* As programs choose: 3 for an IPv4 address, 2 for a global IPv6 address, 1 for the link's own. */
static int rank_gid(const struct gid *g)
{
	uint8_t gid[16];

	if (!streq(g->type, GID_ROCE_V2) || !gid_parse(g->gid, gid))
		return 0;
	return gid_is_ipv4(gid) ? 3 : gid_is_global_ipv6(gid) ? 2 : 1;
}

/* With sriov the CNI gives the addresses, in the pod. */
static const struct gid *find_gid(const struct verify *v, const struct port *p)
{
	const struct gid *best = NULL;
	int best_rank = plugin_gives_vfs(v->config->plugin.type) ? 0 : 1;

	for (size_t i = 0; i < p->n_gids; i++)
		if (rank_gid(&p->gids[i]) > best_rank) {
			best_rank = rank_gid(&p->gids[i]);
			best = &p->gids[i];
		}
	return best;
}

static bool is_infiniband(const struct port *p)
{
	return streq(p->link_layer, "InfiniBand");
}

static int check_gid(struct verify *v, const struct device *d, const struct port *p)
{
	const struct gid *g = find_gid(v, p);
	char is[128] = "no such GID", between[128];

	if (is_infiniband(p) || streq(d->ibdev->node_type, "RNIC"))
		return 0; /* the LID, and the IP address, are what counts there */
	if (g)
		snprintf(is, sizeof(is), "index %" PRIu32 ": %s", g->index, g->gid);
	snprintf(between, sizeof(between), "ibv_devinfo -v -d %s | grep GID", d->ibdev->name);
	return add(v, "gid", d->ibdev->name, g ? PASS : FAIL, is,
		   plugin_gives_vfs(v->config->plugin.type)
			   ? "a RoCE v2 GID"
			   : "a RoCE v2 GID of an IPv4 or global IPv6 address",
		   between);
}

struct verify_target {
	char ibdev[IBDEV_LEN];
	uint8_t port;
	int gid_index;
};

static int on_ping(void *userdata, size_t i _unused_, char *error)
{
	const struct verify_target *t = userdata;
	char step[64];
	int r = verbs_ping(t->ibdev, t->port, t->gid_index, step, sizeof(step));

	if (r < 0)
		snprintf(error, CHILD_ERROR_LEN, "%s: %s", step, strerror(-r));
	return r;
}

static int check_ping(struct verify *v, const struct device *d, const struct port *p)
{
	const struct gid *g = is_infiniband(p) ? NULL : find_gid(v, p);
	struct verify_target t = { .port = (uint8_t)p->number,
				   .gid_index = g ? (int)g->index : -1 };
	struct child child = { .call = on_ping, .userdata = &t };
	char is[CHILD_ERROR_LEN] = "", between[192], index[32] = "";
	const char *why_not = NULL;
	int r = 0;

	COPY(t.ibdev, d->ibdev->name);
	if (!v->os->fs.is_live)
		why_not = "this is no running system";
	else if (streq(d->ibdev->node_type, "RNIC"))
		why_not = "an iWARP device is connected by rdma_cm only";
	else if (!streq(p->state, "ACTIVE"))
		why_not = "the port is not ACTIVE";
	else if (!g && !is_infiniband(p))
		why_not = "there is no GID";
	if (!why_not)
		r = child_call(&child, 0, PING_USEC, is, sizeof(is));
	child_done(&child);

	if (why_not)
		COPY(is, why_not);
	else if (r >= 0)
		snprintf(is, sizeof(is), "%d bytes went both ways", RC_PING_BYTES);
	else if (!*is)
		COPY(is, strerror(-r));
	if (g)
		snprintf(index, sizeof(index), " -x %" PRIu32, g->index);
	snprintf(between, sizeof(between),
		 streq(d->ibdev->node_type, "RNIC")
			 ? "rping -s; on the other node rping -c -a ADDRESS"
			 : "ib_write_bw -d %s%s; on the other node the same with ADDRESS",
		 d->ibdev->name, index);
	return add(v, "rc-ping", d->ibdev->name,
		   why_not ? SKIPPED
		   : r < 0 ? FAIL
			   : PASS,
		   is, "a message between two queue pairs of the device, and its answer", between);
}

static int check_device(struct verify *v, const struct device *d)
{
	int r;

	if (!d->is_handed_out && d->reason == REASON_NONE)
		return 0; /* a PF whose VFs are handed out */
	if (d->aside != REASON_NONE || !d->is_handed_out)
		return add(v, "device", d->pci->address, SKIPPED,
			   reason_meaning(d->aside != REASON_NONE ? d->aside : d->reason),
			   "it is not handed out", "");
	r = check_usable(v, d);
	if (r < 0 || d->is_in_pod)
		return r;
	r = check_nodes(v, d);
	if (r < 0 || !d->ibdev || d->ibdev->n_ports == 0)
		return r;
	r = check_gid(v, d, &d->ibdev->ports[0]);
	return r < 0 ? r : check_ping(v, d, &d->ibdev->ports[0]);
}

static int check_devices(struct verify *v)
{
	int r = 0;

	/* Without a device the node is ready when each section has Expect=0. */
	if (v->plan->n_devices == 0 && v->config->n_devices > 0 && v->plan->state == NODE_READY)
		return add(v, "device", "node", SKIPPED, "no device matches, with Expect=0",
			   "none is expected yet", "");
	if (v->plan->n_devices == 0)
		return add(v, "device", "node", FAIL, "no device matches",
			   "a [Device NAME] section that matches an RDMA NIC", "");
	for (size_t i = 0; i < v->plan->n_devices && r >= 0; i++)
		r = check_device(v, &v->plan->devices[i]);
	return r;
}

/* --- SMC-R --- */

/* Why Enable=auto does nothing here; NULL: it has something to do. */
static const char *why_no_smc(const struct verify *v)
{
	const struct plan *p = v->plan;

	if (v->config->smc.enable != SMC_AUTO)
		return NULL;
	for (size_t i = 0; i < p->n_actions; i++)
		if (p->actions[i].step == STEP_SMC)
			return NULL;
	for (size_t i = 0; i < p->n_reasons; i++)
		if (p->reasons[i].reason == REASON_SMC_ABSENT ||
		    p->reasons[i].reason == REASON_SMC_IWARP)
			return reason_meaning(p->reasons[i].reason);
	return "[SMC] Enable=auto does nothing in this driver mode, or without a usable device";
}

static int check_smc(struct verify *v)
{
	static const char between[] = "smcss -a: SMCR, and not TCP, for a connection";
	const char *why_not = why_no_smc(v);
	size_t n_usable = 0, n_named = 0;
	char is[96];

	if (v->config->smc.enable == SMC_NO)
		return add(v, "smc", "node", SKIPPED, "[SMC] Enable=no", "it is not asked for", "");
	for (size_t i = 0; i < v->plan->n_devices; i++) {
		const struct device *d = &v->plan->devices[i];
		bool is_named = false;

		if (!d->is_usable || !d->is_handed_out || d->is_in_pod || !d->ibdev)
			continue;
		for (size_t k = 0; k < v->node->n_pnets; k++)
			is_named = is_named || streq(v->node->pnets[k].ibdev, d->ibdev->name) ||
				   (d->netdev && streq(v->node->pnets[k].netdev, d->netdev->name));
		n_usable++;
		n_named += is_named;
	}
	snprintf(is, sizeof(is),
		 v->node->has_pnets ? "%zu of %zu devices have a PNETID"
				    : "the module smc is not loaded",
		 n_named, n_usable);
	if (v->node->has_pnets && n_usable > 0 && n_named == n_usable)
		why_not = NULL;
	else if (why_not)
		return add(v, "smc", "node", SKIPPED, why_not, "", "");
	return add(v, "smc", "node",
		   v->node->has_pnets && n_usable > 0 && n_named == n_usable ? PASS : FAIL, is,
		   "smc loaded, a PNETID for each usable device", between);
}

/* --- NCCL --- */

static int check_nccl(struct verify *v)
{
	_cleanup_(nccl_done) struct nccl c = {};
	_cleanup_(freep) char *text = NULL;
	int r;

	r = nccl_choose(v->node, &c);
	if (r >= 0 && c.reason == REASON_NONE)
		r = nccl_text(&c, false, false, &text);
	if (r < 0)
		return r;
	for (char *p = text; p && *p; p++)
		*p = *p == '\n' ? (char)(p[1] ? ' ' : '\0') : *p;
	return add(
		v, "nccl", "node", text ? PASS : SKIPPED, text ? text : reason_meaning(c.reason),
		"ports and a GID index for NCCL",
		"NCCL_DEBUG=INFO rdma-nccl-env --exec all_reduce_perf: NET/IB, and these devices");
}

/* --- the kubelet --- */

/* {"Data": {"RegisteredDevices": {"rdma/hca": ["0", ...]}}}: checkpoint.go in devicemanager */
static int read_registered(const struct fs *fs, json_t **ret)
{
	_cleanup_(freep) char *text = NULL;
	json_auto_t *document = NULL;
	json_t *registered;
	size_t size;
	int r;

	r = fs_read_all(fs, CHECKPOINT_PATH, CHECKPOINT_BYTES, false, &text, &size);
	if (r >= 0)
		r = document_parse(text, size, 0, &document, NULL);
	if (r < 0)
		return r;
	registered = json_object_get(json_object_get(document, "Data"), "RegisteredDevices");
	*ret = json_is_object(registered) ? json_incref(registered) : json_object();
	return *ret ? 0 : -ENOMEM;
}

/* With Type=none and without a Resource= nobody has said that a device plugin should be here. */
static bool is_plugin_expected(const struct verify *v)
{
	const struct config *c = v->config;

	if (c->plugin.type != PLUGIN_NONE || !streq(c->plugin.resource, HCA_RESOURCE))
		return true;
	for (size_t i = 0; i < c->n_devices; i++)
		if (*c->devices[i].resource)
			return true;
	return false;
}

#define NO_PLUGIN_ASKED "[DevicePlugin] Type=none, and no Resource="

static int check_sockets(struct verify *v)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	bool has_kubelet = false;
	char is[512] = "no socket of a plugin";
	size_t used = 0;
	int r;

	r = fs_list(&v->os->fs, KUBELET_PLUGINS, &names);
	if (r < 0 && (r != -ENOENT || !v->os->fs.is_live))
		return add(v, "plugin", "kubelet", SKIPPED, strerror(-r),
			   "/" KUBELET_PLUGINS " can be read, as root", "");
	for (size_t i = 0; i < names.n_names && used < sizeof(is); i++) {
		const char *name = names.names[i], *dot = strrchr(name, '.');

		if (streq(name, "kubelet.sock"))
			has_kubelet = true;
		else if (dot && streq(dot, ".sock"))
			used += (size_t)snprintf(is + used, sizeof(is) - used, "%s%s",
						 used > 0 ? " " : "", name);
	}
	if ((!has_kubelet || used == 0) && !is_plugin_expected(v))
		return add(v, "plugin", "kubelet", SKIPPED, NO_PLUGIN_ASKED, "", "");
	return add(v, "plugin", "kubelet", has_kubelet && used > 0 ? PASS : FAIL,
		   has_kubelet ? is : "no kubelet.sock: the kubelet does not run",
		   "kubelet.sock and the socket of a device plugin in /" KUBELET_PLUGINS,
		   "kubectl get pods -A -o wide: the device plugin's pod of each node is Running");
}

/* @n_devices: how many of them our plugin exposes now. */
static int check_resource(struct verify *v, const json_t *registered, const char *resource,
			  size_t n_devices)
{
	const size_t n = json_array_size(json_object_get(registered, resource));
	const bool is_ours = v->config->plugin.type != PLUGIN_NONE;
	const size_t expected = output_plugin_allocatable(v->config, n_devices);
	char is[64], should[96];

	if (n == 0 && !is_plugin_expected(v))
		return add(v, "allocatable", resource, SKIPPED, NO_PLUGIN_ASKED, "", "");
	snprintf(is, sizeof(is), "%zu registered", n);
	if (is_ours)
		snprintf(should, sizeof(should), "%zu, as the plugin's file has it", expected);
	else
		COPY(should, "registered by the vendor's device plugin");
	return add(v, "allocatable", resource, (is_ours ? n == expected : n > 0) ? PASS : FAIL, is,
		   should,
		   "kubectl get node NODE -o jsonpath='{.status.allocatable}', for each node");
}

static int check_allocatable(struct verify *v)
{
	_cleanup_(forecast_done) struct forecast f = {};
	const bool is_ours = v->config->plugin.type != PLUGIN_NONE;
	json_auto_t *registered = NULL;
	int r;

	if (is_ours && !plugin_has_file(v->config->plugin.type))
		return add(v, "allocatable", "kubelet", SKIPPED, "a DRA driver has ResourceSlices",
			   "", "");
	r = forecast_make(v->config, v->plan, &f);
	if (r < 0)
		return r;
	r = read_registered(&v->os->fs, &registered);
	if (r == -ENOMEM)
		return r;
	if (r == -ENOENT && !is_plugin_expected(v))
		return add(v, "allocatable", "kubelet", SKIPPED, NO_PLUGIN_ASKED, "", "");
	if (r < 0)
		return add(v, "allocatable", "kubelet",
			   r == -ENOENT && v->os->fs.is_live ? FAIL : SKIPPED, strerror(-r),
			   "/" CHECKPOINT_PATH, "");
	/* Nothing is, or will be, exposed: what is registered is left from before. */
	if (f.n_pools == 0 && is_ours)
		return check_resource(v, registered, v->config->plugin.resource, 0);
	r = 0;
	for (size_t i = 0; i < f.n_pools && r >= 0; i++)
		r = check_resource(v, registered, f.pools[i].resource, f.pools[i].n_now);
	return r;
}

/* --- all of them --- */

static int print_text(const json_t *checks, char **ret)
{
	_cleanup_(sheet_done) struct sheet s = {};

	if (sheet_open(&s, 0, 0) < 0)
		return -ENOMEM;
	sheet_fill_list(&s, checks,
			"[{?result=FAIL}FAIL|{?result=PASS}PASS|skip] {check} {target}: {is}"
			"[{!result=PASS}; expected: {expected}]"
			"[\n     between nodes: {between_nodes}]");
	return sheet_close(&s, ret);
}

int verify(struct os *d, const struct config *c, bool is_json, char **ret)
{
	static int (*const checks[])(struct verify *) = {
		check_devices, check_smc, check_nccl, check_sockets, check_allocatable,
	};
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};
	struct verify v = { .os = d, .config = c, .node = &n, .plan = &p };
	json_auto_t *list = json_array(), *document = NULL;
	int r;

	if (!list)
		return -ENOMEM;
	v.checks = list;
	r = loop_plan(d, c, false, &n, &memory, &p);
	for (size_t i = 0; i < ELEMENTSOF(checks) && r >= 0; i++)
		r = checks[i](&v);
	if (r >= 0 && is_json) {
		document = json_pack("{s:O, s:i}", "checks", list, "failed", v.n_failed);
		r = document ? document_print(document, ret) : -ENOMEM;
	} else if (r >= 0)
		r = print_text(list, ret);
	return r < 0 ? r : v.n_failed > 0;
}
