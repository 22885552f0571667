/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inspect: the verbs check, explain, manifest, plan and nccl-env, each by one look that changes
 * nothing.
 */
#include "../base/log.h"
#include "../config/config-errors.h"
#include "../config/load.h"
#include "../guard/users-observe.h"
#include "../health/limits-observe.h"
#include "../model/qos.h"
#include "../nccl/nccl-env.h"
#include "../os/kmsg.h"
#include "../os/yaml-json.h"
#include "../pass/loop.h"
#include "../plugin/plugin-observe.h"
#include "../plugin/plugin-output.h"
#include "../show/actions.h"
#include "../show/check.h"
#include "../show/explain.h"
#include "../step/observers.h"
#include "preset.h"
#include "session.h"
#include "set.h"
#include "status.h"

#define EXIT_CODE_CHANGES 2 /* of "plan" */

/* A pod is printed instead of what the plugin would expose, and never as the document. */
static bool wants_document(const struct command *cmd)
{
	return cmd->is_json && !cmd->with_pod;
}

/* All that is wrong, as sentences: of the configuration, and last of the device plugin. */
static int make_check_document(const struct config_errors *errors, const char *problem,
			       const struct config *c, const struct plan *p, char **ret)
{
	const char *texts[2 * PROBLEMS_MAX + 1] = {};
	size_t n = 0;

	for (; n < errors->n_items && n < ELEMENTSOF(texts) - 1; n++)
		texts[n] = errors->items[n].text;
	if (problem)
		texts[n++] = problem;
	return output_check(texts, n, c, p, ret);
}

/* Plans what the device plugin would make of this node; @ret is NULL without a node. */
static int look(struct os *d, const struct config *c, struct inspection *in,
		const struct plan **ret)
{
	int r;

	*ret = NULL;
	/* A copy without functions has a part of /sys, an image has nothing there. */
	if (!os_has_node(&d->fs) && (d->fs.is_live || fs_exists(&d->fs, "sys/class") <= 0)) {
		if (c->plugin.type != PLUGIN_NONE)
			log_info("There is no /sys/bus/pci here, so what the device plugin would "
				 "expose is not known");
		/* The kubelet's files may be there, and tell of themselves. */
		return config_has_kubelet_policy(c) ? loop_plan(d, c, in) : 0;
	}
	r = loop_plan(d, c, in);
	if (r >= 0)
		*ret = &in->plan;
	return r;
}

static int print_pod(const struct config *c, const struct node *n, const struct plan *p, char **ret)
{
	_cleanup_(forecast_done) struct forecast f = {};
	int r = p ? forecast_make(c, p, &f) : -ENODATA;

	if (r >= 0)
		r = output_pod(c, n, p, &f, ret);
	if (r == -ENODATA)
		log_error("There is no device of this node that a pod could ask for");
	return r == -ENODATA ? -EINVAL : r;
}

static int print_check(const struct command *cmd, const struct config_errors *errors,
		       const char *problem, const struct config *c, const struct node *n,
		       const struct plan *p, char **ret)
{
	if (wants_document(cmd))
		return make_check_document(errors, problem, c, p, ret);
	for (size_t i = 0; i < errors->n_items; i++)
		log_error("%s", errors->items[i].text);
	if (problem)
		log_error("%s", problem);
	return cmd->with_pod ? print_pod(c, n, p, ret) : output_check_text(c, p, ret);
}

static void warn_of_name(const char *section, const char *name, const char *key, const char *value)
{
	log_warning("[%s%s] %s=%s: other programs can change the name of a network device or RDMA "
		    "device, and the kernel numbers those that it names in the order of their "
		    "probes; pci: or id: keeps its meaning over boots",
		    section, name, key, value);
}

/* It says nothing about the node, so it is no problem. The name of a bond, which NodeNIC= may have,
 * is one of its configuration. */
static void warn_of_names(const struct config *c)
{
	if (strstr(c->service.node_nic, "netdev:eth"))
		warn_of_name("Service", "", "NodeNIC", c->service.node_nic);
	FOREACH(d, c->devices, c->n_devices) {
		const char *match = d->match ? d->match : "";

		if (!*match)
			log_warning("[Device %s] has no Match=, so it matches no NIC", d->name);
		if (strstr(match, "netdev:") || strstr(match, "ibdev:"))
			warn_of_name("Device ", d->name, "Match", match);
	}
}

/* Such a configuration is valid, and a value that is not in force is hard to see. */
static void warn_of_route(const struct config *c)
{
	const bool is_static = c->route.manage && c->route.address == ADDRESS_STATIC;
	_cleanup_(freep) char *text = NULL; /* without what is the default, as Manage=no is */

	if (!c->route.manage && config_text(c, &text) >= 0 && strstr(text, "[Route]\n"))
		log_warning("[Route] has no effect without Manage=yes");
	for (size_t i = 0; i < c->n_devices && !is_static; i++)
		if (c->devices[i].address.family != 0)
			log_warning("[Device %s] StaticAddress= has no effect without Manage=yes "
				    "and Address=static in [Route]",
				    c->devices[i].name);
}

/* The kubelet reads no static pod from another folder. */
static void warn_of_manifest(const struct config *c, const struct node *n)
{
	const char *path = c->plugin.manifest, *name = strrchr(path, '/');
	const char *folder = n->kubelet.pod_folder, *rest;

	if (!name || !*folder)
		return;
	rest = after(path, folder);
	if (streq(folder, POD_FOLDER_NONE))
		log_warning("[DevicePlugin] Manifest=%s: the kubelet reads no static pods: set its "
			    "staticPodPath, or remove Manifest=",
			    path);
	else if (!rest || (*rest && rest + (*rest == '/') != name + 1))
		log_warning(
			"[DevicePlugin] Manifest=%s: the kubelet reads static pods in %s: name a "
			"file there",
			path, folder);
}

static void warn_of_owners(const struct plan *p)
{
	FOREACH(h, p->reasons, p->n_reasons)
		if (h->reason == REASON_VF_BUSY)
			log_warning("%s: %s: %s", h->target, reason_meaning(h->reason), h->detail);
}

/* NICs and a kubelet may come later, so a configuration that waits for them is valid. */
static void warn_of_missing(const struct plan *p)
{
	const struct diagnostic *kubelet =
		FIND(d, p->reasons, p->n_reasons, d->reason == REASON_KUBELET_NOT_FOUND);

	if (kubelet)
		log_warning("%s: %s", reason_meaning(kubelet->reason), kubelet->detail);
	FOREACH(a, p->actions, p->n_actions)
		if (a->reason == REASON_DEVICES_MISSING || a->reason == REASON_NO_DEVICES)
			log_warning("%s: %s", reason_meaning(a->reason), a->detail);
}

/*
 * Is the configuration valid, and would the device plugin take what is written for it? Unknown keys
 * are errors. @ret: the document of "check --json"; or, where problems are logged, what the plugin
 * would expose on this node, if there is one, line by line, or a pod. Return: 0, -EINVAL when
 * something is wrong, or another -errno without a text.
 * @ret_impossible: as output_impossible(), to be said last; NULL as well where @ret has it
 */
static int check(struct os *d, const struct command *cmd, char **ret, char **ret_impossible)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config c = {};
	_cleanup_(inspection_done) struct inspection in = {};
	_cleanup_(freep) char *problem = NULL;
	const struct plan *seen = NULL;
	const char *file = cmd->argument ? cmd->argument : cmd->config; /* NULL: the folders */
	char ignored[sizeof(c.ignored)] = "";
	bool is_bad;
	int r;

	*ret_impossible = NULL;
	r = load_file(&d->fs, file, &c, &errors);
	if (r < 0 && r != -EINVAL)
		return log_error_errno(r, "The configuration cannot be read");
	if (!file && (config_files_ignored(&d->fs, ignored, sizeof(ignored)) < 0 ||
		      (*ignored && config_errors_add(&errors, true, ignored, 0, "%s",
						     reason_meaning(REASON_CONFIG_IGNORED)) < 0)))
		return -ENOMEM;
	is_bad = r < 0 || errors.n_unknown > 0;

	if (r >= 0) {
		warn_of_names(&c);
		warn_of_route(&c);
		r = look(d, &c, &in, &seen);
		if (r >= 0)
			r = output_check_plugin(&c, seen, &problem);
		if (r >= 0 && seen && !problem && !cmd->with_pod)
			r = output_impossible(seen,
					      wants_document(cmd) ? &problem : ret_impossible);
		if (r >= 0 && seen && !problem && !*ret_impossible)
			r = output_check_exposed(&c, seen, &problem);
		if (r >= 0 && (seen || in.node.kubelet.cpus.n_online > 0) && !problem &&
		    !*ret_impossible && !cmd->with_pod)
			r = output_check_kubelet(&c, &in.plan, &problem);
		if (r < 0)
			return r;
		warn_of_owners(&in.plan);
		warn_of_manifest(&c, &in.node);
		if (seen && !problem)
			warn_of_missing(seen);
	}
	r = print_check(cmd, &errors, problem, &c, &in.node, seen, ret);
	if (r >= 0 && cmd->is_ready &&
	    !(seen && ANY(device, seen->devices, seen->n_devices, output_plugin_offers(device)))) {
		log_error("No RDMA device that is handed out is usable now");
		return -EINVAL;
	}
	return r < 0 ? r : is_bad || problem || *ret_impossible ? -EINVAL : 0;
}

/* Mean these, whatever else has that name. */
#define KUBELET_NAME "kubelet"
#define PLUGIN_NAME  "plugin"

static int refuse_name(const struct node *n, const char *name)
{
	struct nearest nearest = { .word = name };
	char shown[QUOTED_LEN];
	const char *candidate;

	for (size_t i = 0; (candidate = output_explain_name(n, i)); i++)
		if (*candidate)
			nearest_offer(&nearest, candidate);
	nearest_offer(&nearest, KUBELET_NAME);
	nearest_offer(&nearest, PLUGIN_NAME);
	if (nearest.best && streq(nearest.best, name)) /* an RDMA device without a function here */
		nearest.best = NULL;
	log_error(n->is_copy
			  ? "%s: this tree has no PCI function of that name, or with a netdev or "
			    "RDMA device of that name%s%s%s"
			  : "%s: no PCI function, netdev or RDMA device on a PCI function has that "
			    "name%s%s%s",
		  config_quoted(name, shown), nearest.best ? ", did you mean " : "",
		  nearest.best ? nearest.best : "", nearest.best ? "?" : "");
	return -ENODEV;
}

/* Looks for what a pass does not look for each time. A person waits for it, so a look into
 * processes is not too much. */
static int look_closer(struct os *d, const struct pci *pci, struct node *n, struct memory *memory)
{
	_cleanup_(questions_done) struct questions q = {}, of_log = { .set = 1u << QUESTION_LOG };
	int r = questions_add_function(&of_log, pci->address);

	if (r >= 0 && d->fs.is_live && !n->has_users)
		r = observe_users(d, n, memory);
	if (r >= 0 && !pci->is_management)
		r = questions_add_function(&q, *pci->physfn ? pci->physfn : pci->address);
	if (r < 0)
		return r;
	q.set = 1u << QUESTION_PCIE | (n->has_dcbs ? 0 : 1u << QUESTION_DCB);
	observe_pcie(&d->fs, &q, n);
	observe_log(&d->fs, &of_log, n);
	r = observe_dcbs(d, &q, n, memory);
	return r < 0 ? r : node_result(n);
}

/*
 * Why one device is or is not usable, by looking now: the document of "explain --json", or with
 * @is_json false its picture. @name: a PCI address, netdev or RDMA device, or "kubelet" or
 * "plugin", which mean these. Errors are logged. Return: 0, -ENODEV when nothing has that name, or
 * another -errno.
 */
static int explain(struct os *d, const struct config *c, const char *name, bool is_json, char **ret)
{
	_cleanup_(inspection_done) struct inspection in = {};
	const struct pci *pci;
	int r = loop_plan(d, c, &in);

	if (r < 0)
		return r;
	if (streq(name, KUBELET_NAME))
		return output_explain_kubelet(c, &in.node, is_json, ret);
	if (streq(name, PLUGIN_NAME)) {
		r = observe_plugin_processes(&d->fs, c, &in.node);
		return r < 0 ? r
			     : output_explain_plugin(c, &in.node, &in.memory, &in.plan,
						     d->fs.is_live, is_json, ret);
	}
	pci = output_explain_find(&in.node, &in.plan, name);
	if (!pci)
		return refuse_name(&in.node, name);

	r = look_closer(d, pci, &in.node, &in.memory);
	if (r >= 0)
		r = output_explain(c, &in.node, &in.memory, &in.plan, pci, is_json, ret);
	return r < 0 ? log_error_errno(r, "%s", name) : 0;
}

/*
 * Errors are logged. Return: 0, or -errno.
 */
static int make_manifest(struct os *d, const struct config *c, char **ret)
{
	_cleanup_(inspection_done) struct inspection in = {};
	int r = loop_plan(d, c, &in);

	if (r < 0)
		return log_error_errno(r, "The node cannot be looked at");
	r = output_dra(c, &in.node, &in.plan, ret);
	if (r == -ENODATA)
		log_error("There is no usable device on this node that %s could hand out",
			  plugin_gives_vfs(c->plugin.type)
				  ? "dra-driver-sriov, which takes virtual functions,"
				  : "dranet");
	if (r == -EEXIST)
		log_error("Two resources would have objects of one name, in which \"/\" and \"_\" "
			  "are \"-\": use another Resource= for one of them");
	if (r == -E2BIG)
		log_error("A resource has a name of more than 63 characters, or more devices than "
			  "one DeviceClass can select: use another Resource=, or several");
	return r;
}

int command_explain(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(freep) char *text = NULL;

	if (!cmd->argument) {
		log_error("explain takes a PCI address, netdev or RDMA device, as \"status\" shows "
			  "them, \"kubelet\" or \"plugin\"");
		return EXIT_FAILURE;
	}
	if (session_open(cmd, &s) < 0 ||
	    explain(&s.os, &s.config, cmd->argument, cmd->is_json, &text) < 0)
		return EXIT_FAILURE;
	status_tell_denied(&s.denied);
	return session_show(text, cmd->is_json);
}

/* Prints Kubernetes objects as YAML, or as a List. Return: an exit code. */
static int print_objects(const struct command *cmd, const char *yaml)
{
	_cleanup_(freep) char *list = NULL;

	if (!cmd->is_json)
		return session_print(yaml);
	return yaml_to_json(yaml, &list) < 0 ? EXIT_FAILURE : session_print(list);
}

int command_manifest(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(freep) char *text = NULL;

	if (!cmd->argument || !streq(cmd->argument, "dra")) {
		log_error("manifest takes \"dra\"");
		return EXIT_FAILURE;
	}
	if (session_open(cmd, &s) < 0 || s.config.is_invalid ||
	    make_manifest(&s.os, &s.config, &text) < 0)
		return EXIT_FAILURE;
	status_tell_denied(&s.denied);
	return print_objects(cmd, text);
}

int command_check(const struct command *cmd)
{
	_cleanup_(freep) char *text = NULL, *impossible = NULL;
	_cleanup_(os_close) struct os d = { .fs.root = -EBADF };
	int r;

	if (session_open_root(cmd, &d) < 0)
		return EXIT_FAILURE;
	r = check(&d, cmd, &text, &impossible);
	if (r >= 0 && !cmd->is_json && !cmd->with_pod &&
	    session_print("The configuration is valid.\n") != EXIT_SUCCESS)
		return EXIT_FAILURE;
	if (text && (cmd->with_pod ? print_objects(cmd, text) : session_show(text, cmd->is_json)) !=
			    EXIT_SUCCESS)
		return EXIT_FAILURE;
	if (impossible)
		log_error("%s", impossible);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The session has the configuration that it would have with this preset. */
static int try_preset(const struct command *cmd, struct session *ret)
{
	struct set_request req = { .is_trial = true, .with_preset = true, .preset = cmd->preset };
	struct preset_choice choice = {};
	struct set_result res = {};
	int r;

	if (cmd->config) {
		log_error("--preset and --config: take one of them");
		return -EINVAL;
	}
	r = session_open_os(cmd, ret);
	if (r >= 0 && streq(cmd->preset, "auto"))
		r = preset_choose(&ret->os, &choice, &req.preset);
	if (r >= 0)
		r = set_change(&ret->os.fs, &req, &res);
	if (r >= 0)
		ret->config = res.config;
	return r;
}

int command_plan(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(inspection_done) struct inspection in = {};
	_cleanup_(freep) char *text = NULL;
	int r = cmd->preset ? try_preset(cmd, &s) : session_open(cmd, &s);

	if (r < 0 || s.config.is_invalid)
		return EXIT_FAILURE;

	if (loop_plan(&s.os, &s.config, &in) < 0)
		return EXIT_FAILURE;
	if (!cmd->config && !cmd->preset &&
	    loop_add_config_changed(&s.config, &in.memory, &in.plan) < 0)
		return EXIT_FAILURE;
	r = cmd->is_json ? output_actions_json(&in.plan, &text)
			 : output_actions_text(&in.plan, &text);
	if (r < 0 || session_show(text, cmd->is_json) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	status_tell_denied(&s.denied);
	return in.plan.n_actions > 0 ? EXIT_CODE_CHANGES : EXIT_SUCCESS;
}

static int run_nccl_env(const struct command *cmd)
{
	struct nccl_request req = {
		cmd->is_export, cmd->is_exact, cmd->is_json, cmd->exec, -1, -1
	};
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(inspection_done) struct inspection in = {};
	int r;

	if (cmd->is_export + cmd->is_conf + cmd->is_json + (cmd->exec != NULL) > 1 ||
	    (cmd->exec && !cmd->exec[0])) {
		log_error("use one of --export, --conf, --json and --exec COMMAND");
		return -EINVAL;
	}
	r = session_open(cmd, &s);
	if (r < 0)
		return r;
	req.traffic_class = qos_traffic_class(&s.config);
	req.service_level = qos_priority(&s.config);
	r = loop_plan(&s.os, &s.config, &in);
	return r < 0 ? r : nccl_env(&s.config, &in.node, &in.plan, &req);
}

int command_nccl_env(const struct command *cmd)
{
	return nccl_env_exit_code(run_nccl_env(cmd), cmd->is_export);
}
