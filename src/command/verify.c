/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verify: the checks that the vendors' pages make users do by hand, each with what was expected and
 * the command that checks the same between two nodes.
 *
 * It changes nothing, opens no port and sends nothing.
 */
#include "../base/document.h"
#include "../base/log.h"
#include "../model/ip.h"
#include "../model/plugin-facts.h"
#include "../model/pnet.h"
#include "../nccl/nccl-output.h"
#include "../pass/loop.h"
#include "../plugin/plugin-observe.h"
#include "../plugin/plugin-output.h"
#include "../show/check.h"
#include "../show/sheet.h"
#include "session.h"
#include "status.h"

enum result {
	PASS,
	FAIL,
	SKIPPED
};

/* The checks and their results. */
struct verify {
	struct os *os;
	const struct config *config;
	struct node *node;
	const struct plan *plan;
	char traffic[192];  /* the program that sends between two nodes, of the present device */
	json_t *checks;     /* owned; see add() */
	int n[SKIPPED + 1]; /* of each result */
	int n_unknown;      /* skipped, for a copy lacks what tells whether devices are usable */
};

enum check {
	CHECK_ANY, /* device at all */
	CHECK_DEVICE,
	CHECK_VFS,
	CHECK_WHOLE,
	CHECK_NODES,
	CHECK_GID,
	CHECK_SMC,
	CHECK_NCCL,
	CHECK_PLUGIN,
	CHECK_ALLOCATABLE
};

/* @between: the command for two nodes, with the target; NULL: traffic. */
static const struct {
	const char *name, *expected, *between;
} checks[] = {
	[CHECK_ANY] = { "device", "a device that is handed out",
			"rdma-provision status, on each node" },
	[CHECK_DEVICE] = { "device", "driver bound, libibverbs opens it, port ACTIVE",
			   "rdma-provision explain %s, on each node" },
	[CHECK_VFS] = { "device", "as many VFs as are asked for",
			"rdma-provision explain %s, on each node" },
	[CHECK_WHOLE] = { "device", "all that the configuration asks for",
			  "rdma-provision status, on each node" },
	[CHECK_NODES] = { "nodes", "uverbsN and rdma_cm in /dev/infiniband" },
	[CHECK_GID] = { "gid",
			"a RoCE v2 GID, with RequireAddress= of an IPv4 or global IPv6 address",
			"ibv_devinfo -v -d %s | grep GID" },
	[CHECK_SMC] = { "smc", "smc loaded, a PNETID for each usable device",
			"smcss -a: SMCR, and not TCP, for a connection" },
	[CHECK_NCCL] = { "nccl", "ports and a GID index for NCCL",
			 "NCCL_DEBUG=INFO rdma-nccl-env --exec all_reduce_perf: NET/IB, and these "
			 "devices" },
	[CHECK_PLUGIN] = { "plugin",
			   "kubelet.sock and the socket of a device plugin in /" PLUGIN_SOCKETS,
			   "kubectl get pods -A -o wide: the device plugin's pod of each node is "
			   "Running" },
	[CHECK_ALLOCATABLE] = { "allocatable",
				"what the plugin's file has, or any number of a vendor's plugin",
				"kubectl get node NODE -o jsonpath='{.status.allocatable}', for "
				"each node" },
};

/* @format: what was seen, or why the check is skipped. */
_printf_(5, 6) static int add(struct verify *v, enum check check, const char *target,
			      enum result result, const char *format, ...)
{
	static const char *const words[] = { "PASS", "FAIL", "skipped" };
	char is[512], between[192] = "";
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(is, sizeof(is), format, arguments);
	va_end(arguments);
	if (result != SKIPPED)
		PRINT(between, checks[check].between ? checks[check].between : "%s",
		      checks[check].between ? target : v->traffic);
	v->n[result]++;
	return json_array_append_new(v->checks,
				     json_pack("{s:s, s:s, s:o, s:o, s:s, s:o}", "result",
					       words[result], "check", checks[check].name, "target",
					       document_text(target), "is", document_text(is),
					       "expected",
					       result == SKIPPED ? "" : checks[check].expected,
					       "between_nodes", document_text(between))) < 0
		       ? -ENOMEM
		       : 0;
}

/* --- devices --- */

static int check_usable(struct verify *v, const struct device *d)
{
	const char *pci = d->pci->address;

	if (d->is_usable)
		return add(v, CHECK_DEVICE, pci, PASS, "%s is usable",
			   d->ibdev ? d->ibdev->name : d->ibdev_name);
	v->n_unknown += d->reason == REASON_NOT_RECORDED;
	return add(v, CHECK_DEVICE, pci, d->reason == REASON_NOT_RECORDED ? SKIPPED : FAIL,
		   "%s: %s%s%s", reason_code(d->reason), reason_meaning(d->reason),
		   *d->detail ? ": " : "", d->detail);
}

/* As programs choose: 3 for an IPv4 address, 2 for a global IPv6 address, 1 for the link's own. */
static int rank_gid(const struct gid *g)
{
	uint8_t gid[16];

	if (!streq(g->type, GID_ROCE_V2) || !gid_parse(g->gid, gid))
		return 0;
	return !gid_is_routable(gid) ? 1 : gid_is_ipv4(gid) ? 3 : 2;
}

static const struct gid *find_gid(const struct device *d, const struct port *p)
{
	const struct gid *best = NULL;
	int best_rank = d->needs_address ? 1 : 0;

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

static void set_traffic(struct verify *v, const struct device *d)
{
	const struct ibdev *ib = d->ibdev;
	const struct gid *g = ib->n_ports > 0 && !is_infiniband(&ib->ports[0])
				      ? find_gid(d, &ib->ports[0])
				      : NULL;
	char index[32] = "";

	if (g)
		PRINT(index, " -x %" PRIu32, g->index);
	PRINT(v->traffic,
	      streq(ib->node_type, "RNIC") ? "rping -s; on the other node rping -c -a ADDRESS"
	      : ibdev_lacks_mad(ib)
		      ? "fi_pingpong -p efa, or usnic; on the other node the same with ADDRESS"
		      : "ib_write_bw -d %s%s; on the other node the same with ADDRESS",
	      ib->name, index);
}

static int check_nodes(struct verify *v, const struct device *d)
{
	const struct ibdev *ib = d->ibdev;
	const char *pci = d->pci->address;

	v->traffic[0] = '\0';
	if (!ib)
		return add(v, CHECK_NODES, pci, FAIL, "no RDMA device");
	set_traffic(v, d);
	return add(v, CHECK_NODES, pci, *ib->uverbs && v->node->has_rdma_cm ? PASS : FAIL,
		   "%s%s%s%s", *ib->uverbs ? ib->uverbs : "no uverbs", *ib->umad ? " " : "",
		   ib->umad,
		   v->node->is_copy       ? ""
		   : v->node->has_rdma_cm ? " rdma_cm"
					  : ", no rdma_cm");
}

static int check_gid(struct verify *v, const struct device *d, const struct port *p)
{
	const struct gid *g = find_gid(d, p);

	if (is_infiniband(p) || ibdev_lacks_mad(d->ibdev))
		return 0; /* the LID, or the address of another kind, is what counts there */
	if (!g && d->is_backup)
		return add(v, CHECK_GID, d->ibdev->name, PASS, "of the active port of %s",
			   d->bond->name);
	if (!g)
		return add(v, CHECK_GID, d->ibdev->name, FAIL, "no such GID");
	return add(v, CHECK_GID, d->ibdev->name, PASS, "index %" PRIu32 ": %s", g->index, g->gid);
}

static int check_device(struct verify *v, const struct device *d)
{
	char why[448];
	int r;

	if (d->aside != REASON_NONE) {
		v->n_unknown += d->aside == REASON_NOT_RECORDED;
		plan_describe_aside(v->plan, d, why, sizeof(why));
		return add(v, CHECK_DEVICE, d->pci->address, SKIPPED, "%s: %s",
			   reason_meaning(d->aside), why);
	}
	if (d->has_vf_mode && d->wanted_vfs != COUNT_LEAVE && d->pci->num_vfs < d->wanted_vfs) {
		v->n_unknown += v->node->is_copy;
		return add(v, CHECK_VFS, d->pci->address, v->node->is_copy ? SKIPPED : FAIL,
			   "%" PRIu32 " of %" PRIu32 " VFs", d->pci->num_vfs, d->wanted_vfs);
	}
	if (!d->is_handed_out && d->reason == REASON_NONE)
		return 0; /* a PF whose VFs are handed out */
	if (!d->is_handed_out)
		return add(v, CHECK_DEVICE, d->pci->address, SKIPPED, "%s",
			   reason_meaning(d->reason));
	r = check_usable(v, d);
	if (r < 0 || d->is_in_pod || d->reason == REASON_NOT_RECORDED)
		return r;
	r = check_nodes(v, d);
	if (r < 0 || !d->ibdev || d->ibdev->n_ports == 0)
		return r;
	return check_gid(v, d, &d->ibdev->ports[0]);
}

static const struct action *find_missing(const struct plan *p)
{
	return FIND(a, p->actions, p->n_actions,
		    a->reason == REASON_DEVICES_MISSING || a->reason == REASON_NO_DEVICES);
}

/* Each device may be well while NICs are missing, or while the plugin would expose none of them. */
static int check_whole(struct verify *v)
{
	const struct plan *p = v->plan;
	const struct action *a = find_missing(p);

	if (v->os->fs.is_live && v->node->is_held)
		return add(v, CHECK_WHOLE, "node", FAIL, "%s", reason_meaning(REASON_HELD));
	if (v->n[FAIL] > 0 || ((!a || v->node->is_copy) && p->state != NODE_DEGRADED))
		return 0;
	if (!a)
		a = FIND(it, p->actions, p->n_actions,
			 it->class != CLASS_CHANGE && it->reason != REASON_NONE &&
				 it->reason != REASON_NOT_RECORDED);
	if (!a && v->node->is_copy && !v->config->has_unknown && !*v->config->ignored)
		return 0;
	return add(v, CHECK_WHOLE, "node", FAIL, "the node is %s%s%s", node_state_name(p->state),
		   a ? ": " : "", a ? reason_meaning(a->reason) : "");
}

static int check_devices(struct verify *v)
{
	const bool is_none = !ANY(d, v->plan->devices, v->plan->n_devices, d->is_handed_out);
	const bool is_missing = find_missing(v->plan);
	int r = 0;

	if (v->plan->n_devices == 0 && node_lacks(v->node))
		r = add(v, CHECK_ANY, "node", SKIPPED, "not in this tree: %s", node_lacks(v->node));
	else if (v->plan->n_devices == 0)
		r = add(v, CHECK_ANY, "node", is_missing ? FAIL : SKIPPED, "no device matches%s",
			is_missing                 ? ""
			: v->config->is_invalid    ? ": the configuration is invalid, and not used"
			: v->config->n_devices > 0 ? ", with Expect=0"
						   : ": no [Device NAME] section asks for one");
	else if (v->plan->state != NODE_READY && is_none)
		r = add(v, CHECK_ANY, "node", v->node->is_copy ? SKIPPED : FAIL,
			"no device is handed out");
	v->n_unknown =
		v->node->is_copy && is_none && v->plan->state != NODE_READY && v->n[FAIL] == 0;
	for (size_t i = 0; i < v->plan->n_devices && r >= 0; i++)
		r = check_device(v, &v->plan->devices[i]);
	return r < 0 ? r : check_whole(v);
}

/* --- SMC-R --- */

/* Why Enable=auto does nothing here; NULL: it has something to do. */
static const char *why_no_smc(const struct verify *v)
{
	const struct plan *p = v->plan;

	if (v->config->smc.enable != SMC_AUTO ||
	    ANY(a, p->actions, p->n_actions, a->step == STEP_SMC))
		return NULL;
	FOREACH(hint, p->reasons, p->n_reasons)
		if (hint->reason == REASON_SMC_ABSENT || hint->reason == REASON_SMC_IWARP)
			return reason_meaning(hint->reason);
	return "[SMC] Enable=auto does nothing in this driver mode, or without a usable device of "
	       "Ethernet";
}

static int check_smc(struct verify *v)
{
	const char *why_not = why_no_smc(v);
	size_t n_usable = 0, n_named = 0;
	struct pnet_wish w;
	bool is_good;

	if (v->config->smc.enable == SMC_NO)
		return add(v, CHECK_SMC, "node", SKIPPED, "[SMC] Enable=no");
	FOREACH(d, v->plan->devices, v->plan->n_devices) {
		if (!d->is_usable || !d->is_handed_out || d->is_in_pod ||
		    !pnet_wish(&(struct memory){}, d->pci->address, d->netdev, d->ibdev, &w))
			continue;
		n_usable++;
		n_named += ANY(p, v->node->pnets, v->node->n_pnets,
			       streq(p->ibdev, d->ibdev->name) ||
				       (d->netdev && streq(p->netdev, d->netdev->name)));
	}
	is_good = v->node->has_pnets && n_usable > 0 && n_named == n_usable;
	if (!why_not && n_usable == 0)
		why_not = "no usable device of Ethernet";
	if (!is_good && why_not)
		return add(v, CHECK_SMC, "node", SKIPPED, "%s", why_not);
	if (!v->node->has_pnets)
		return add(v, CHECK_SMC, "node", FAIL, "the module smc is not loaded");
	return add(v, CHECK_SMC, "node", is_good ? PASS : FAIL, "%zu of %zu devices have a PNETID",
		   n_named, n_usable);
}

/* --- NCCL --- */

static int check_nccl(struct verify *v)
{
	_cleanup_(nccl_done) struct nccl c = {};
	_cleanup_(freep) char *text = NULL;
	int r = nccl_choose(v->config, v->node, v->plan, &c);

	if (r >= 0 && c.reason == REASON_NONE)
		r = nccl_text(&c, false, false, &text);
	if (r < 0)
		return r;
	for (char *p = text; p && *p; p++)
		*p = *p == '\n' ? (char)(p[1] ? ' ' : '\0') : *p;
	return add(v, CHECK_NCCL, "node", text ? PASS : SKIPPED, "%s",
		   text ? text : reason_meaning(c.reason));
}

/* --- the kubelet --- */

/* With Type=none and without a Resource= nobody has said that a device plugin should be here. */
static bool is_plugin_expected(const struct verify *v)
{
	const struct config *c = v->config;

	if (c->plugin.type != PLUGIN_NONE || !streq(c->plugin.resource, HCA_RESOURCE))
		return true;
	return ANY(d, c->devices, c->n_devices, *d->resource);
}

static bool is_dra(const struct verify *v)
{
	return v->config->plugin.type != PLUGIN_NONE && !plugin_has_file(v->config->plugin.type);
}

#define DRA_HAS_NONE    "a DRA driver has ResourceSlices, and none of the device plugins' files"
#define NO_PLUGIN_ASKED "[DevicePlugin] Type=none, and no Resource="

static int check_sockets(struct verify *v)
{
	bool has_kubelet = false;
	int r = observe_plugin_sockets(&v->os->fs, v->config, v->node, &has_kubelet);
	const bool is_there = has_kubelet && v->node->n_plugin_sockets > 0;

	if (r == -ENOMEM)
		return r;
	if (is_dra(v))
		return add(v, CHECK_PLUGIN, "kubelet", SKIPPED, DRA_HAS_NONE);
	if (r < 0 && (r != -ENOENT || !v->os->fs.is_live))
		return add(v, CHECK_PLUGIN, "kubelet", SKIPPED, "/" PLUGIN_SOCKETS ": %s",
			   strerror(-r));
	if (!is_there && !is_plugin_expected(v))
		return add(v, CHECK_PLUGIN, "kubelet", SKIPPED, NO_PLUGIN_ASKED);
	return add(v, CHECK_PLUGIN, "kubelet", is_there ? PASS : FAIL, "%s",
		   !has_kubelet ? "no kubelet.sock: the kubelet does not run"
		   : is_there   ? v->node->plugin_sockets
				: "no socket of a plugin");
}

static size_t n_registered(const struct node *n, const char *resource)
{
	const struct plugin_resource *found =
		FIND(p, n->plugin_resources, n->n_plugin_resources, streq(p->name, resource));

	return found ? found->n_devices : 0;
}

/* @n_devices: how many of them our plugin exposes now. */
static int check_resource(struct verify *v, const char *resource, size_t n_devices)
{
	const size_t n = n_registered(v->node, resource);
	const bool is_ours = v->config->plugin.type != PLUGIN_NONE;
	const size_t expected = output_plugin_allocatable(v->config, n_devices);

	if (n == 0 && !is_plugin_expected(v))
		return add(v, CHECK_ALLOCATABLE, resource, SKIPPED, NO_PLUGIN_ASKED);
	if (!is_ours)
		return add(v, CHECK_ALLOCATABLE, resource, n > 0 ? PASS : FAIL, "%zu registered",
			   n);
	return add(v, CHECK_ALLOCATABLE, resource, n == expected ? PASS : FAIL,
		   "%zu registered, and %zu in the plugin's file", n, expected);
}

static int check_allocatable(struct verify *v)
{
	_cleanup_(forecast_done) struct forecast f = {};
	const bool is_ours = v->config->plugin.type != PLUGIN_NONE;
	int r;

	if (is_dra(v))
		return add(v, CHECK_ALLOCATABLE, "kubelet", SKIPPED, DRA_HAS_NONE);
	r = forecast_make(v->config, v->plan, &f);
	if (r < 0)
		return r;
	r = observe_plugin_resources(&v->os->fs, v->node);
	if (r == -ENOMEM)
		return r;
	if (r == -ENOENT && !is_plugin_expected(v))
		return add(v, CHECK_ALLOCATABLE, "kubelet", SKIPPED, NO_PLUGIN_ASKED);
	if (r < 0)
		return add(v, CHECK_ALLOCATABLE, "kubelet",
			   r == -ENOENT && v->os->fs.is_live ? FAIL : SKIPPED,
			   "/" PLUGIN_CHECKPOINT ": %s", strerror(-r));
	/* Nothing is, or will be, exposed: what is registered is left from before. */
	if (f.n_pools == 0 && is_ours)
		return check_resource(v, v->config->plugin.resource, 0);
	r = 0;
	for (size_t i = 0; i < f.n_pools && r >= 0; i++)
		r = check_resource(v, f.pools[i].resource, f.pools[i].n_now);
	return r;
}

/* --- all of them --- */

static int print_text(const struct verify *v, char **ret)
{
	_cleanup_(sheet_done) struct sheet s = {};

	if (sheet_open(&s, 0, 0) < 0)
		return -ENOMEM;
	sheet_fill_list(&s, v->checks,
			"{result} {check} {target}: {is}"
			"[{!result=PASS}; expected: {expected}]"
			"[\n     between nodes: {between_nodes}]");
	sheet_add(&s, "%d passed, %d failed, %d skipped", v->n[PASS], v->n[FAIL], v->n[SKIPPED]);
	if (v->n_unknown > 0)
		sheet_add(&s, ", %d not known", v->n_unknown);
	sheet_end(&s);
	return sheet_close(&s, ret);
}

/* @ret: the lines, or with @is_json the document. Return: 1 when a check failed or nothing is
 * known, 0, or -errno. */
static int verify(struct os *d, const struct config *c, bool is_json, char **ret)
{
	static int (*const all[])(struct verify *) = {
		check_devices, check_smc, check_nccl, check_sockets, check_allocatable,
	};
	_cleanup_(inspection_done) struct inspection in = {};
	struct verify v = { .os = d, .config = c, .node = &in.node, .plan = &in.plan };
	json_auto_t *list = json_array(), *document = NULL;
	int r;

	if (!list)
		return -ENOMEM;
	v.checks = list;
	r = loop_plan(d, c, &in);
	for (size_t i = 0; i < ELEMENTSOF(all) && r >= 0; i++)
		r = all[i](&v);
	if (r >= 0 && is_json) {
		document = json_pack("{s:O, s:i}", "checks", list, "failed", v.n[FAIL]);
		r = document ? document_print(document, ret) : -ENOMEM;
	} else if (r >= 0)
		r = print_text(&v, ret);
	return r < 0 ? r : v.n[FAIL] > 0 || v.n_unknown > 0;
}

int command_verify(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(freep) char *text = NULL;
	int r;

	if (session_open(cmd, &s) < 0 || (cmd->config && s.config.is_invalid))
		return EXIT_FAILURE;
	r = verify(&s.os, &s.config, cmd->is_json, &text);
	if (r < 0) {
		log_error_errno(r, "The node cannot be looked at");
		return EXIT_FAILURE;
	}
	status_tell_denied(&s.denied);
	return session_show(text, cmd->is_json) != EXIT_SUCCESS || r > 0 || s.config.is_invalid
		       ? EXIT_FAILURE
		       : EXIT_SUCCESS;
}
