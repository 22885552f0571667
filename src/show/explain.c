/* SPDX-License-Identifier: Apache-2.0 */
#include "explain.h"

#include "../base/document.h"
#include "../model/ip.h"
#include "../model/module-options.h"
#include "../model/use-facts.h"
#include "../nccl/nccl-output.h"
#include "../qos/qos-output.h"
#include "../step/steps.h"
#include "sheet.h"
#include "state.h"

#define LABEL_WIDTH 14

/* The function that has the RDMA device of a bond or team, else the first of its ports. */
static const struct pci *find_bond(const struct node *n, const struct netdev *bond)
{
	const struct pci *first = NULL;

	for (size_t i = 0; i < n->n_netdevs; i++) {
		const struct pci *pci = node_pci(n, n->netdevs[i].pci);

		if (!pci || n->netdevs[i].master != bond->ifindex)
			continue;
		if (node_ibdev_of(n, pci->address))
			return pci;
		first = first ? first : pci;
	}
	return first;
}

const struct pci *output_explain_find(const struct node *n, const struct plan *p, const char *name)
{
	const struct netdev *nd = node_netdev_named(n, name);

	for (size_t i = 0; i < n->n_pcis; i++) {
		const char *rest = after(n->pcis[i].address, "0000:");

		if (streq(n->pcis[i].address, name) || (rest && streq(rest, name)))
			return &n->pcis[i];
	}
	if (!*name)
		return NULL;
	FOREACH(d, p->devices, p->n_devices)
		if ((d->netdev && streq(d->netdev->name, name)) || streq(d->netdev_name, name) ||
		    (d->ibdev && streq(d->ibdev->name, name)) || streq(d->ibdev_name, name))
			return d->pci;
	FOREACH(ib, n->ibdevs, n->n_ibdevs)
		if (ib->pci[0] && (streq(ib->name, name) || streq(ib->netdev, name)))
			return node_pci(n, ib->pci);
	if (nd && netdev_is_lag_master(nd))
		return find_bond(n, nd);
	return nd ? node_pci(n, nd->pci) : NULL;
}

const char *output_explain_name(const struct node *n, size_t i)
{
	if (i < n->n_ibdevs)
		return n->ibdevs[i].pci[0] ? n->ibdevs[i].name : "";
	i -= n->n_ibdevs;
	if (i < n->n_netdevs)
		return n->netdevs[i].pci[0] ? n->netdevs[i].name : "";
	i -= n->n_netdevs;
	return i < n->n_pcis ? n->pcis[i].address : NULL;
}

struct facts {
	const struct config *config;
	const struct node *node;
	const struct memory *memory;
	const struct plan *plan;
	const struct pci *pci;
	const struct device *device; /* NULL: it is not managed */
	const struct netdev *netdev;
	const struct ibdev *ibdev;
	const struct module *module;
	char module_name[MODULE_LEN];
};

static void gather(struct facts *f)
{
	const struct pci *pci = f->pci;

	f->device = plan_device(f->plan, pci);
	f->ibdev = node_ibdev_of(f->node, pci->address);
	f->netdev = f->device ? f->device->netdev : node_netdev_of(f->node, pci->address);
	module_spell(f->module_name, pci_driver(pci));
	f->module = f->module_name[0] ? node_module(f->node, f->module_name) : NULL;
}

/* The numbers of a VF are those of its PF. */
static json_t *make_vfs(const struct facts *f)
{
	const struct pci *pf = f->pci->physfn[0] ? node_pci(f->node, f->pci->physfn) : f->pci;
	char words[EXPLAIN_VFS_LEN];
	json_int_t wanted =
		plan_explain_vfs(f->config, f->node, f->memory, f->pci, words, sizeof(words));

	if (!pf)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:o}", "wanted", wanted, "present",
			 (json_int_t)pf->num_vfs, "possible", (json_int_t)pf->total_vfs, "words",
			 document_text(words));
}

/* Best evidence first: what is loaded is what counts. */
static const char *origin(const struct module *m, const char **ret_evidence)
{
	static const char *const folders[] = { "/extra/", "/updates/", "/weak-updates/" };

	*ret_evidence = "";
	if (!m)
		return "";
	if (m->state == MODULE_LOADED && m->has_taint && m->is_out_of_tree) {
		*ret_evidence = "it taints the kernel with O";
		return "out-of-tree";
	}
	if (m->state == MODULE_BUILTIN) {
		*ret_evidence = "it is built in";
		return "in-tree";
	}
	if (m->state == MODULE_LOADED && m->has_taint) {
		*ret_evidence = "it does not taint the kernel with O";
		return "in-tree";
	}
	if (m->has_info) {
		*ret_evidence =
			m->is_intree ? "its file says intree=Y" : "its file does not say intree=Y";
		return m->is_intree ? "in-tree" : "out-of-tree";
	}
	for (size_t i = 0; i < ELEMENTSOF(folders); i++)
		if (strstr(m->path, folders[i])) {
			*ret_evidence = "its folder";
			return "out-of-tree";
		}
	return "";
}

static bool differs(const char *a, const char *b)
{
	return *a && *b && !streq(a, b);
}

static bool is_stale(const struct module *m)
{
	return m && m->state == MODULE_LOADED &&
	       (differs(m->srcversion, m->loaded_srcversion) ||
		differs(m->version, m->loaded_version));
}

static json_t *make_parameter(const struct facts *f, const struct parameter *q)
{
	const struct option *o =
		FIND_LAST(it, f->node->options, f->node->n_options,
			  it->source != OPTION_LOAD && streq(it->module, f->module_name) &&
				  streq(it->name, q->name));
	const char *source = "default";

	if (!*q->value)
		source = "";
	else if (o && module_options_is_same(q->type, o->value, q->value))
		source = o->source == OPTION_CMDLINE      ? "command-line"
			 : module_options_is_own(o->file) ? "own-file"
							  : "file";

	return json_pack("{s:o, s:o, s:o, s:s, s:o, s:I, s:o}", "name", document_text(q->name),
			 "type", document_text(q->type), "value", document_text(q->value), "source",
			 source, "file", document_text(o ? o->file : ""), "line",
			 (json_int_t)(o ? o->line : 0), "said", document_text(o ? o->value : ""));
}

static json_int_t number(uint32_t value)
{
	return value == UINT32_MAX ? -1 : (json_int_t)value;
}

/* clang-format off */
static json_t *make_driver(const struct facts *f)
{
	static const struct module none = { .refcnt = UINT32_MAX };
	const struct module *m = f->module ? f->module : &none;
	const char *evidence, *from = origin(f->module, &evidence);

	return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:b, s:I, s:o, s:o}",
			 "name", document_text(f->pci->driver),
			 "module", document_text(f->module_name),
			 "state", f->module ? module_state_name(f->module->state) : "",
			 "path", document_text(m->path),
			 "version", document_text(m->version),
			 "srcversion", document_text(m->srcversion),
			 "loaded_version", document_text(m->loaded_version),
			 "loaded_srcversion", document_text(m->loaded_srcversion),
			 "origin", from,
			 "evidence", evidence,
			 "stale", is_stale(f->module),
			 "refcnt", m->state == MODULE_LOADED ? number(m->refcnt) : (json_int_t)-1,
			 "holders", document_text(m->holders),
			 "parameters", document_list(q, m->parameters, m->n_parameters, true,
						     make_parameter(f, q)));
}

static json_t *make_ibdev(const struct facts *f)
{
	const struct ibdev *ib = f->ibdev;

	if (!ib)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:I, s:o, s:I, s:o}",
			 "name", document_text(ib->name),
			 "node_type", document_text(ib->node_type),
			 "node_guid", document_text(ib->node_guid),
			 "uverbs", document_text(ib->uverbs),
			 "umad", document_text(ib->umad),
			 "rdma_cm", f->node->has_rdma_cm,
			 "contexts", number(ib->n_contexts),
			 "verbs", document_text(ib->verbs == 0 ? "opened"
						: ib->verbs > 0 ? "not tried"
								: strerror(-ib->verbs)),
			 "active_mtu", (json_int_t)ib->active_mtu,
			 "ports", output_ports(ib, f->netdev ? f->netdev->name : ib->netdev,
					       node_bond_of(f->node, f->netdev)));
}

static json_t *make_netdev(const struct facts *f)
{
	const struct netdev *nd = f->netdev;
	const struct netdev *master = nd && nd->master ? node_netdev(f->node, nd->master) : NULL;

	if (!nd)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:I, s:b, s:b, s:o}",
			 "name", document_text(nd->name),
			 "mac", document_text(nd->mac),
			 "perm_mac", document_text(nd->perm_mac),
			 "mtu", (json_int_t)nd->mtu,
			 "up", nd->is_up,
			 "carrier", nd->has_carrier,
			 "master", document_text(master ? master->name : ""));
}
/* clang-format on */

/* The function itself, its PF, its module, or what every device needs. */
static bool is_about(const struct facts *f, const char *target)
{
	return *target && (streq(target, f->pci->address) || streq(target, f->pci->physfn) ||
			   streq(target, f->module_name));
}

static json_t *make_users(const struct facts *f)
{
	return document_list(u, f->node->users, f->node->n_users, is_about(f, u->target),
			     json_pack("{s:o, s:s, s:I, s:o, s:o, s:o}", "target",
				       document_text(u->target), "use", use_name(u->use), "pid",
				       (json_int_t)u->pid, "command", document_text(u->command),
				       "container", document_text(u->container), "detail",
				       document_text(u->detail)));
}

static json_t *make_pcie(const struct pci *pci)
{
	if (pci->link.speed == 0 && pci->link.width == 0)
		return json_null();
	return json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I}", "speed", (json_int_t)pci->link.speed, "width",
		(json_int_t)pci->link.width, "max_speed", (json_int_t)pci->max_link.speed,
		"max_width", (json_int_t)pci->max_link.width, "slot_speed",
		(json_int_t)pci->max_slot.speed, "slot_width", (json_int_t)pci->max_slot.width);
}

/* Hints about the function, and those about all devices. */
static json_t *make_hints(const struct facts *f, const struct diagnostic *hints, size_t n)
{
	return document_list(h, hints, n,
			     is_about(f, h->target) ||
				     (f->device && h->reason == REASON_MEMLOCK_LIMITED),
			     output_reason(h->reason, h->target, h->detail, NULL));
}

static json_t *make_action(const struct action *a)
{
	char buf_from[SHOWN_LEN], buf_to[SHOWN_LEN];
	const char *from = action_from(a, buf_from), *to = action_to(a, buf_to);

	return json_pack("{s:o, s:s, s:o, s:o, s:o, s:s, s:s, s:o, s:o}", "target",
			 document_text(a->target), "verb", verb_name(a->verb), "subject",
			 document_text(streq(a->subject, to) ? "" : a->subject), "from",
			 document_text(from), "to", document_text(to), "class",
			 class_name(a->class), "code", reason_code(a->reason), "detail",
			 document_text(a->detail), "advice",
			 document_text(a->class == CLASS_CHANGE ? "" : action_advice(a)));
}

/*
 * The right MTU depends on the cloud's side and on the workload, so the present one is shown and
 * not judged. Source: Alibaba Cloud, "Configure eRDMA on a GPU-accelerated instance".
 */
static json_t *make_notes(const struct facts *f)
{
	char text[256];

	if (!pci_is_erdma(f->pci) || !f->netdev)
		return json_array();
	PRINT(text,
	      "NCCL with the LL128 protocol needs MTU=8500 where the ENI has jumbo frames, and "
	      "MTU=1400 where it has not: another one corrupts data; %s has %" PRIu32,
	      f->netdev->name, f->netdev->mtu);
	return json_pack("[s]", text);
}

static json_t *make_nccl_port(const struct nccl_port *np)
{
	char text[256];

	nccl_describe(np, text, sizeof(text));
	return document_text(text);
}

/* For jobs on the host, a text for each port. */
static json_t *make_nccl(const struct facts *f)
{
	_cleanup_(nccl_done) struct nccl c = {};

	if (nccl_choose(f->config, f->node, f->plan, &c) < 0)
		return NULL;
	return document_list(np, c.ports, c.n_ports, np->ibdev == f->ibdev, make_nccl_port(np));
}

/* Empty: the function does not carry the node. */
static json_t *make_node_nic(const struct facts *f)
{
	const struct need *k = plan_need(f->plan, f->pci->address);
	char text[384] = "";

	if (k)
		plan_describe_need(k, text, sizeof(text));
	return document_text(text);
}

/* Why a usable device is not handed out. */
static const char *why_not(const struct facts *f)
{
	const struct device *d = f->device;
	const struct action *a = plan_num_vfs(f->plan, d->pci->address);

	if (d->aside != REASON_NONE)
		return reason_code(d->aside);
	if (d->is_vf)
		return "its section hands out no VFs";
	if (ANY(vf, f->plan->devices, f->plan->n_devices,
		vf->is_handed_out && streq(vf->pci->physfn, d->pci->address)))
		return "only VFs of it are";
	if (!a)
		return "no VF of it is";
	return a->reason == REASON_NONE ? "its VFs will be" : reason_code(a->reason);
}

/* NULL: there is no memory. */
static json_t *make_document(const struct config *c, const struct node *n,
			     const struct memory *memory, const struct plan *p,
			     const struct pci *pci)
{
	struct facts f = { c, n, memory, p, pci };
	const struct device *d;
	enum reason reason;
	char id[16];

	gather(&f);
	d = f.device;
	reason = d ? d->reason : REASON_NONE;
	PRINT(id, "%04x:%04x", pci->vendor, pci->device);

	/* clang-format off */
	return json_pack("{s:o, s:s, s:i, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:b, s:o, s:b,"
			 " s:b, s:b, s:b, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o,"
			 " s:o, s:s, s:s}",
			 "pci", document_text(pci->address),
			 "id", id,
			 "numa_node", pci->numa_node,
			 "pf", document_text(pci->physfn),
			 "section", document_text(d ? d->config->name : ""),
			 "mode", d ? vf_mode_name(d->config->mode) : "",
			 "sections", document_list(s, c->devices, c->n_devices, true,
						   json_pack("{s:o, s:o}", "name", document_text(s->name),
							     "match", document_text(s->match ?: ""))),
			 "vfs", make_vfs(&f),
			 "driver", make_driver(&f),
			 "ibdev", make_ibdev(&f),
			 "netdev", make_netdev(&f),
			 "netns_mode", netns_mode_name(n->netns_mode),
			 "copy", n->is_copy,
			 "users_known", n->has_users,
			 "users", make_users(&f),
			 "managed", d != NULL,
			 "handed_out", d && d->is_handed_out,
			 "usable", d && d->is_usable,
			 "in_pod", d && d->is_in_pod,
			 "code", reason_code(reason),
			 "meaning", reason_meaning(reason),
			 "detail", document_text(d ? d->detail : ""),
			 "advice", d ? device_advice(d) : "",
			 "actions", document_list(a, p->actions, p->n_actions,
						  is_about(&f, a->target), make_action(a)),
			 "hints", make_hints(&f, p->reasons, p->n_reasons),
			 "pcie", make_pcie(pci),
			 "iommu", document_text(pci->iommu),
			 "health", make_hints(&f, p->health, p->n_health),
			 "kernel", document_list(l, n->log_lines, n->n_log_lines,
						 streq(l->pci, pci->address), document_text(l->text)),
			 "notes", make_notes(&f),
			 "node_nic", make_node_nic(&f),
			 "nccl", make_nccl(&f),
			 "qos", output_qos(n, f.netdev, f.ibdev),
			 "aside", d ? reason_code(d->aside) : "",
			 "why_not", d && !d->is_handed_out && reason == REASON_NONE ? why_not(&f) : "");
	/* clang-format on */
}

/* Prints the section of the function, or all sections when it has none. */
static void put_sections(struct sheet *s, const json_t *d)
{
	const json_t *sections = json_object_get(d, "sections"), *vfs = json_object_get(d, "vfs");
	const char *name = document_get_text(d, "section");

	s->label = "Section";
	if (!*name)
		sheet_line(s, "none: no [Device NAME] section is for it%s",
			   json_array_size(sections) > 0 ? "; these are there:" : "");
	document_each(section, sections) {
		const char *own = document_get_text(section, "name");

		if (*name && !streq(own, name))
			continue;
		sheet_add(s, "[Device %s] Match=%s", own, document_get_text(section, "match"));
		if (*name)
			sheet_add(s, ", VirtualFunctions=%s", document_get_text(d, "mode"));
		sheet_end(s);
	}

	/* A function that never has VFs gets no line about them. */
	s->label = "VFs";
	if (document_get_number(vfs, "possible") > 0 || document_get_number(vfs, "wanted") > 0 ||
	    strstr(document_get_text(vfs, "words"), ", before "))
		sheet_fill(s, vfs, "{words}");
}

/* "16.0 GT/s x16", or the part of it that is known. */
static void format_pcie(const json_t *pcie, const char *speed, const char *width, char *buf,
			size_t size)
{
	const long long mts = document_get_number(pcie, speed);
	const long long lanes = document_get_number(pcie, width);
	char of_width[32] = "";

	if (lanes > 0)
		PRINT(of_width, " x%lld", lanes);
	if (mts > 0)
		snprintf(buf, size, "%lld.%lld GT/s%s", mts / 1000, mts % 1000 / 100, of_width);
	else
		snprintf(buf, size, "%s", *of_width ? of_width + 1 : "not told");
}

static void put_pcie(struct sheet *s, const json_t *d)
{
	const json_t *pcie = json_object_get(d, "pcie");
	char is[64], card[64], slot[64];

	s->label = "PCIe";
	if (json_is_object(pcie)) {
		format_pcie(pcie, "speed", "width", is, sizeof(is));
		format_pcie(pcie, "max_speed", "max_width", card, sizeof(card));
		format_pcie(pcie, "slot_speed", "slot_width", slot, sizeof(slot));
		sheet_line(s, "%s; the card has %s, its slot %s", is, card, slot);
	}
	sheet_fill(s, d, "[IOMMU group of type {iommu}]");
}

/* Names the kind of address behind the GID index, which gid_index_of() chose. */
static void put_gid_index(struct sheet *s, const json_t *port)
{
	const json_t *gids = json_object_get(port, "gids");
	const json_int_t index = document_get_number(port, "gid_index");
	uint8_t gid[16];

	for (size_t i = 0; i < json_array_size(gids) && index >= 0; i++) {
		const json_t *item = json_array_get(gids, i);

		if (document_get_number(item, "index") != index ||
		    !gid_parse(document_get_text(item, "gid"), gid))
			continue;
		sheet_line(s, "  gid_index %lld, of %s address", (long long)index,
			   gid_is_ipv4(gid) ? "its IPv4" : "a global IPv6");
		return;
	}
}

static void put_ports(struct sheet *s, const json_t *ib)
{
	const json_t *ports = json_object_get(ib, "ports");

	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);

		sheet_fill(s, port,
			   "port {port}: [{state}|state not known], [{link_layer}|kind not known]"
			   "[, {rate}]");
		if (i == 0)
			sheet_fill(s, ib, "[  active MTU {+active_mtu}]");
		put_gid_index(s, port);
		sheet_fill_list(s, json_object_get(port, "gids"),
				"  gid {index} {gid} {type}[ of {netdev}]");
	}
}

#define PLACE "[{?+line}{file}:{line}|the kernel command line]"
#define SAID  "[{said}|it without a value]"

static const struct sheet_row driver_rows[] = {
	{ "Driver", "",
	  "[{driver.name}[, {driver.state}]"
	  "|none: bound to nothing; the module for it is {driver.module}, [{driver.state}|not "
	  "known]"
	  "|{?copy}not in this tree|none, and no installed module claims it]" },
	{ NULL, "driver",
	  "{path}\n"
	  "[{origin}: {evidence}]\n"
	  "[{?version}file: version {version}, srcversion [{srcversion}|not told]"
	  "|file: version not told, srcversion {srcversion}]\n"
	  "[{?loaded_version}loaded: version {loaded_version}, "
	  "srcversion [{loaded_srcversion}|not told]"
	  "|loaded: version not told, srcversion {loaded_srcversion}]\n"
	  "[{?stale}the installed one is another than the loaded one: installed but not reloaded]\n"
	  "[held by {holders}]" },
	{ "Parameters", "driver.parameters",
	  "[{!source}{?file}{name}: nothing in force; " PLACE " says " SAID
	  "|{!source}{name}: nothing in force"
	  "|{!source=default}{name}={value}, from " PLACE "[{?source=own-file} (ours)]"
	  "|{?file}{name}={value} is in force; " PLACE " says " SAID " for the next load"
	  "|{name}={value}, the driver's default or given by hand]" },
};

static const struct sheet_row ibdev_rows[] = {
	{ "RDMA device", "", "[{!ibdev}[{?copy}not in this tree|none]]" },
	{ NULL, "ibdev",
	  "{name}, [{node_type}|type not told], node GUID [{node_guid}|not told], libibverbs: "
	  "{verbs}" },
	{ NULL, "",
	  "[{!ibdev}|{?copy}character nodes: [{ibdev.uverbs}|uverbs not known], [{ibdev.umad}|umad "
	  "not known]"
	  "|character nodes: [{ibdev.uverbs}|no uverbs], [{ibdev.umad}|no umad], "
	  "[{?ibdev.rdma_cm}rdma_cm|no rdma_cm]]" },
};

static const struct sheet_row other_rows[] = {
	{ "Netdev", "", "[{!netdev}[{?copy}not in this tree|none in this network namespace]]" },
	{ NULL, "netdev",
	  "{name}, [{!mtu=0}[{?up}up|down], [{?carrier}carrier|no carrier], MTU {mtu}|link and MTU "
	  "not known][, {mac}][{!perm_mac=@mac}, permanent {perm_mac}][, enslaved to {master}]" },
	{ NULL, "", "[carries the node: {node_nic}]" },
	{ "QoS", "qos", OUTPUT_QOS },
	{ "NCCL", "nccl", "{}" },
	{ "Namespaces", "", "RDMA mode [{!netns_mode=keep}{netns_mode}|not known]" },
	{ "Users", "", "[{!users_known}not looked for|{!users}none]" },
	{ NULL, "users", "{target}: {use}[ pid {+pid}][ {command}][ in {container}][, {detail}]" },
	{ "Plan", "actions",
	  "{target}: {verb}[ {subject}][ {from} -> {to}| {from}| {to}]"
	  "[{?code}: {class} ({code})[: {detail}]|[ ({detail})]]\n"
	  "[{?code}  → {advice}]" },
	{ NULL, "", "[{!actions}nothing to do for it]" },
	{ "Hints", "hints", "{code}: {meaning}[: {detail}]\n  → {advice}" },
	{ "Health", "health", "{target}: {code}: {meaning}: {detail}\n  → {advice}" },
	{ "Kernel's log", "kernel", "{}" },
	{ "Notes", "notes", "{}" },
	{ "Verdict", "",
	  "[{!managed}not managed: left alone and never handed out"
	  "|{?in_pod}usable, in a pod: {meaning}"
	  "|{!code}usable; not handed out: {why_not}"
	  "|{!code}usable, handed out"
	  "|[{?handed_out}not usable|not handed out], {code}: {meaning}[: {detail}]\n  → "
	  "{advice}]" },
};

#define FILL(s, d, rows) sheet_fill_rows((s), (d), rows, ELEMENTSOF(rows))

static int draw(const json_t *document, char **ret)
{
	_cleanup_(sheet_done) struct sheet s = {};

	if (sheet_open(&s, 0, LABEL_WIDTH) < 0)
		return -ENOMEM;

	s.label = "Device";
	sheet_fill(&s, document,
		   "{pci} ({id})[, {ibdev.name}][, {netdev.name}][, a VF of {pf}]\n"
		   "[NUMA node {numa_node}]");
	put_sections(&s, document);
	FILL(&s, document, driver_rows);
	put_pcie(&s, document);
	FILL(&s, document, ibdev_rows);
	put_ports(&s, json_object_get(document, "ibdev"));
	FILL(&s, document, other_rows);
	return sheet_close(&s, ret);
}

int output_explain(const struct config *c, const struct node *n, const struct memory *memory,
		   const struct plan *p, const struct pci *pci, bool is_json, char **ret)
{
	json_auto_t *document = make_document(c, n, memory, p, pci);

	if (!document)
		return -ENOMEM;
	return is_json ? document_print(document, ret) : draw(document, ret);
}
