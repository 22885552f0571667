/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Main: the table of verbs and the reading of the command line. Nothing else.
 */
#include "base/log.h"
#include "command/command.h"
#include "config/config-errors.h"
#include "config/parse.h"
#include "health/health-output.h"
#include "nccl/nccl-env.h"
#include "os/tar.h"

#include <getopt.h>

#define EXIT_USAGE EXIT_FAILURE

enum {
	TAKES_ROOT = 1 << 0,
	TAKES_CONFIG = 1 << 1,
	TAKES_JSON = 1 << 2,
	TAKES_TIMEOUT = 1 << 3,
	TAKES_STRICT = 1 << 4,
	TAKES_UNDO = 1 << 5,
	TAKES_VFS = 1 << 6,
	TAKES_NCCL = 1 << 7,
	TAKES_PRESET = 1 << 8,
	TAKES_MANY = 1 << 9, /* arguments, any number of them */
	TAKES_FOLLOW = 1 << 10,
	TAKES_CHECK = 1 << 11,
	TAKES_NPD = 1 << 12,
	NEEDS_ROOT = 1 << 13,                 /* but below --root= */
	TAKES_LINES = TAKES_JSON | 1 << 15,   /* a JSON object for each line of the log */
	TAKES_ARCHIVE = TAKES_ROOT | 1 << 14, /* only looks, so an archive may be the root */
};

static const struct {
	const char *name, *argument, *help;    /* argument: "" when there is none */
	int (*run)(const struct command *cmd); /* NULL: a heading */
	unsigned takes;
	const char *more; /* for "VERB --help" */
} verbs[] = {
	{ "Look" },
	{ "status", "", "show the node as a tree: NUMA nodes, NICs, VFs, RDMA devices, reasons",
	  command_status, TAKES_ARCHIVE | TAKES_CONFIG | TAKES_JSON | TAKES_FOLLOW,
	  "The state is the one that the service wrote. It is read now with --config,\n"
	  "before the first pass of a boot, and for root while the service is inactive.\n"
	  "With --follow --json: one document on each line.\n"
	  "Exit code: 0 ready, 3 degraded, 4 not yet, 1 error.\n" },
	{ "explain", "DEVICE",
	  "show the facts and the verdict for a device, the kubelet or the plugin", command_explain,
	  TAKES_ARCHIVE | TAKES_CONFIG | TAKES_JSON,
	  "Reads the node now: section, driver, origin of its parameters, port, GIDs,\n"
	  "verdict.\n"
	  "explain kubelet: its settings at its next start, what sets them, and since when.\n"
	  "explain plugin: its file, which processes read it, its rules for each device,\n"
	  "and what it exposes.\n"
	  "Exit code: 0 success, 1 no such device.\n" },
	{ "plan", "", "print the changes that apply would make, in order", command_plan,
	  TAKES_ARCHIVE | TAKES_CONFIG | TAKES_JSON | TAKES_PRESET,
	  "With --preset=NAME: as if \"set --preset=NAME\" had linked it; nothing is written.\n"
	  "Exit code: 0 nothing to do, 2 there is something, 1 error.\n" },
	{ "check", "[FILE]",
	  "check the configuration, and print what the device plugin would expose", command_check,
	  TAKES_ARCHIVE | TAKES_CONFIG | TAKES_JSON | TAKES_CHECK,
	  "An unknown key is an error here. The plugin's own rules are replayed on this\n"
	  "node: what it exposes when the plan is done, and now where that differs.\n"
	  "With --json: {\"valid\": ..., \"problems\": [...], \"plugin\": {...}}.\n"
	  "Exit code: 0 valid, 1 not, or the plugin would refuse its file or expose\n"
	  "nothing, or a change is impossible; with --ready also 1 when no device is usable\n"
	  "now.\n" },
	{ "verify", "",
	  "test devices, GIDs, SMC-R, NCCL's settings, and the resources of the kubelet",
	  command_verify, TAKES_ARCHIVE | TAKES_CONFIG | TAKES_JSON,
	  "A line for each check: PASS, FAIL with what was expected, or skipped. Below it\n"
	  "is the command that checks the same between two nodes. It changes nothing and\n"
	  "opens no port.\n"
	  "Exit code: 0 no check failed, 1 one did, or the tree lacks what was asked\n"
	  "for (\"not known\"), or error.\n" },
	{ "health", "[DEVICE]",
	  "show how often links were lost, and hints about NICs, of the last pass", command_health,
	  TAKES_ARCHIVE | TAKES_NPD | TAKES_JSON,
	  "Losses are counted with [Health] Flap= or Drop=. --npd, without DEVICE, answers\n"
	  "as a plugin of node-problem-detector, with one line; CONDITION is RdmaNotReady,\n"
	  "RdmaLinkFlapping or RdmaPcieDegraded.\n"
	  "Exit code: 0 no NIC has link-flapping, link-dropped, pcie-slow or pcie-errors,\n"
	  "1 one has, 2 not known, or error; with --npd 0 the condition is not true, 1 it\n"
	  "is, 2 not known, or error.\n" },
	{ "wait", "", "wait until the node is ready or degraded", command_wait,
	  TAKES_TIMEOUT | TAKES_JSON,
	  "It prints what it waits for, each 10 s on a terminal and when the time is over,\n"
	  "and ends when rdma-provision.service fails, is stopped or masked. With --json it\n"
	  "prints the state in the end, as status does.\n"
	  "Exit code: 0 ready, 3 degraded, 4 the time is over, 1 error or no service.\n" },
	{ "Change" },
	{ "set", "KEY=VALUE...", "change the configuration: all values or none", command_set,
	  NEEDS_ROOT | TAKES_ROOT | TAKES_JSON | TAKES_PRESET | TAKES_MANY,
	  "KEY is SECTION.KEY: Driver.Mode=compat, Device.nic.MTU=9000 for [Device nic].\n"
	  "The values are checked with the whole configuration, and by the rules of the\n"
	  "device plugin on this node, written to\n"
	  "/etc/rdma-provision/rdma-provision.conf.d/50-set.conf, and the changes that a\n"
	  "restart would make are printed. --preset=auto chooses the preset by the\n"
	  "kubelet's node labels, the functions on the bus and the instance type. With\n"
	  "--json: the document of \"plan --json\", null without a node.\n"
	  "Exit code: 0 written, or nothing to change; 1 error, and nothing is written\n"
	  "unless only the output failed, or the last line says that a change is impossible\n"
	  "on this node.\n" },
	{ "unset", "KEY...", "remove values that set wrote: all of them or none", command_unset,
	  NEEDS_ROOT | TAKES_ROOT | TAKES_JSON | TAKES_PRESET | TAKES_MANY,
	  "KEY is SECTION.KEY: \"Driver.Mode\", \"Device nic.MTU\". Other files are not\n"
	  "changed; if another file sets the key, unset names it. --preset, without a name,\n"
	  "removes the link.\n"
	  "Exit code: 0 written; 1 error, and nothing is written unless only the output\n"
	  "failed.\n" },
	{ "presets", "", "list the presets, with the purpose of each", command_presets,
	  TAKES_ARCHIVE | TAKES_JSON,
	  "\"*\" marks the preset that \"set --preset=NAME\" linked. With --json: {\"presets\":\n"
	  "[{\"name\": ..., \"description\": ..., \"linked\": ...}]}.\n"
	  "Exit code: 0, or 1 when they cannot be read.\n" },
	{ "apply", "", "make the changes, wait for the devices, and check the result",
	  command_apply, NEEDS_ROOT | TAKES_CONFIG | TAKES_JSON,
	  "A running service reads the configuration and makes the pass; else this process\n"
	  "does.\n"
	  "With --json it prints the final state, as status does.\n"
	  "Exit code: 0 finished, 3 degraded, 4 the service did not end its pass in time,\n"
	  "1 error.\n" },
	{ "clear", "DEVICE", "forget the losses and PCIe errors of this NIC: it no longer flaps",
	  command_clear, NEEDS_ROOT | TAKES_CONFIG,
	  "DEVICE is a PCI address, netdev or RDMA device of the NIC or one of its VFs. The\n"
	  "number of losses in this boot is kept.\n"
	  "Exit code: 0, or 1 when it cannot be done.\n" },
	{ "revert", "",
	  "undo routes, rules, addresses, settings and kubelet values; needs no configuration",
	  command_revert, NEEDS_ROOT | TAKES_ROOT | TAKES_VFS | TAKES_LINES,
	  "Settings that other programs changed since then are kept. A running service then\n"
	  "changes nothing until its next start or reload, or \"apply\".\n"
	  "With --json it prints each line as {\"priority\": ..., \"text\": ...}.\n"
	  "Exit code: 0 everything is undone, 1 not.\n" },
	{ "Images" },
	{ "bake", "", "write the module options into modprobe.d of an image", command_bake,
	  NEEDS_ROOT | TAKES_ROOT | TAKES_CONFIG | TAKES_UNDO | TAKES_LINES,
	  "Prints lines that contradict them, and the commands that rebuild an initramfs.\n"
	  "With --json it prints each line as {\"priority\": ..., \"text\": ...}.\n"
	  "Exit code: 0, or 1 when the file cannot be written.\n" },
	{ "capture", "[FILE]", "write the facts that every stage reads to a tar archive",
	  command_capture, TAKES_ARCHIVE | TAKES_CONFIG | TAKES_LINES,
	  "FILE defaults to rdma-provision-capture.tar; \"-\" is standard output. --root\n"
	  "accepts it. With --json it prints each line as\n"
	  "{\"priority\": ..., \"text\": ...}.\n"
	  "Exit code: 0; 1 error, or the archive lacks what is named: it could not be read.\n" },
	{ "Kubernetes and jobs" },
	{ "manifest", "dra", "print the Kubernetes objects for a DRA driver on nodes like this one",
	  command_manifest, TAKES_ARCHIVE | TAKES_CONFIG | TAKES_JSON,
	  "A DeviceClass with the extended resource name, a ResourceClaimTemplate, and for\n"
	  "dra-driver-sriov (Type=dra-sriov or sriov) a SriovResourcePolicy. It writes\n"
	  "nothing. With --json it prints the same objects as a List.\n"
	  "Exit code: 0, or 1 when no device is usable, or error.\n" },
	{ "nccl-env", "", "print the NCCL settings for the RDMA devices of this node",
	  command_nccl_env, TAKES_ARCHIVE | TAKES_NCCL | TAKES_JSON,
	  "The fastest active ports, by the rules of rdma-nccl-env(1). --exec comes last.\n"
	  "Exit code: 0, or 1 when there are none; with --exec that of the command.\n" },
	{ "" }, /* internal: the manual alone has them */
	{ "run", "", "run the service: passes until the node is finished, then hotplug",
	  command_run, NEEDS_ROOT | TAKES_CONFIG,
	  "Started by rdma-provision.service; SIGHUP reads the configuration again.\n" },
	{ "early", "", "write module options and set the RDMA netns mode, before drivers load",
	  command_early, NEEDS_ROOT | TAKES_CONFIG,
	  "Started by rdma-provision-early.service. Writes only below /run/modprobe.d.\n" },
	{ "gate", "", "before the kubelet starts: fail with [Kubelet] Gate=strict, unless ready",
	  command_gate, TAKES_ROOT | TAKES_CONFIG | TAKES_STRICT,
	  "Gate=strict waits 2 s at most for the node to get ready, and so does --strict\n"
	  "whatever the configuration is. With another Gate= it returns at once.\n"
	  "Exit code: 0 start the kubelet, 1 do not start it.\n" },
	{ "kubelet-ensure", "", "set the requested settings in the kubelet's configuration",
	  command_kubelet, TAKES_ROOT | TAKES_CONFIG | TAKES_STRICT,
	  "The only writer of kubelet files; with --root it edits files below that folder.\n"
	  "It gives up after 5 s.\n"
	  "Exit code: 0; with --strict 1 on failure.\n" },
	{ "helper", "NAME", "perform a task for which the service lacks the privilege",
	  command_helper, 0,
	  "Started by rdma-provision-NAME.socket, and \"reload\" also by\n"
	  "rdma-provision-reload.path. NAME is \"reload\", \"module\" or \"files\".\n"
	  "Exit code: 0 success, 1 failure.\n" },
};

struct verb_line {
	struct command command;
	unsigned given; /* options with a bit in TAKES_* */
	bool is_help, is_version;
};

#define FLAG(m) offsetof(struct verb_line, m)
#define LONG    0x100 /* added to the letter of a long option, to tell it from a short one */

static const struct {
	const char *name, *value, *help;
	unsigned takes; /* 0: every verb has it */
	int has_value, letter;
	size_t flag; /* of struct verb_line, a bool; 0: it has a value */
} options[] = {
	{ "root", "=DIR", "read a captured or mounted tree, or an archive, not this system",
	  TAKES_ROOT, required_argument, 'r' },
	{ "config", "=FILE", "read only this file instead of the configuration folders",
	  TAKES_CONFIG, required_argument, 'c' },
	{ "json", "", "print JSON for programs", TAKES_JSON, no_argument, 'j',
	  FLAG(command.is_json) },
	{ "follow", "", "update the output at every change, until a signal", TAKES_FOLLOW,
	  no_argument, 'w', FLAG(command.is_follow) },
	{ "problems", "", "show only what is not well; VFs that are well get one line",
	  TAKES_FOLLOW, no_argument, 'l', FLAG(command.is_problems) },
	{ "topology", "", "show GPUs, NICs and NUMA nodes as a matrix", TAKES_FOLLOW, no_argument,
	  'y', FLAG(command.is_topology) },
	{ "timeout", "=SEC", "give up after this time (\"90\", \"5min\"); default: never",
	  TAKES_TIMEOUT, required_argument, 't' },
	{ "strict", "", "exit with 1 on failure", TAKES_STRICT, no_argument, 's',
	  FLAG(command.is_strict) },
	{ "undo", "", "remove what the verb wrote", TAKES_UNDO, no_argument, 'u',
	  FLAG(command.is_undo) },
	{ "vfs", "", "also remove virtual functions of this boot that are not in use", TAKES_VFS,
	  no_argument, 'V', FLAG(command.with_vfs) },
	{ "exec", "",
	  "run the command that follows with the settings; do not run it without settings",
	  TAKES_NCCL, no_argument, 'X' },
	{ "ready", "", "fail when no RDMA device is usable now", TAKES_CHECK, no_argument, 'R',
	  FLAG(command.is_ready) },
	{ "pod", "", "print a pod that asks for the devices of this node, as YAML", TAKES_CHECK,
	  no_argument, 'P', FLAG(command.with_pod) },
	{ "export", "",
	  "print \"export NAME=VALUE\" for a shell's eval; \"false\" without settings", TAKES_NCCL,
	  no_argument, 'e', FLAG(command.is_export) },
	{ "conf", "", "print the format of /etc/nccl.conf", TAKES_NCCL, no_argument, 'f',
	  FLAG(command.is_conf) },
	{ "exact", "", "print NCCL_IB_HCA with \"=\": exact names instead of prefixes", TAKES_NCCL,
	  no_argument, 'x', FLAG(command.is_exact) },
	{ "npd", "=CONDITION",
	  "one line and exit code for node-problem-detector; no condition: of all of them",
	  TAKES_NPD, optional_argument, 'n' },
	{ "preset", "=NAME",
	  "with set: link this preset, or \"auto\"; with plan: try it; with unset, no name: remove "
	  "the link",
	  TAKES_PRESET, optional_argument, 'p' },
	{ "debug", "", "log every value that is read and every change", 0, no_argument, 'd',
	  FLAG(command.is_debug) },
	{ "help", "", "print this text, or the help of a verb", 0, no_argument, 'h',
	  FLAG(is_help) },
	{ "version", "", "print the version", 0, no_argument, 'v', FLAG(is_version) },
};

static void print_option(size_t i)
{
	printf("  --%s%-*s  %s\n", options[i].name, (int)(13 - strlen(options[i].name)),
	       options[i].value, options[i].help);
}

static int print_help(void)
{
	printf("rdma-provision VERB [OPTIONS]: turn this host into a finished Kubernetes "
	       "RDMA node\n");
	for (size_t i = 0; *verbs[i].name; i++)
		if (verbs[i].run)
			printf("  %s %-*s %s\n", verbs[i].name, (int)(15 - strlen(verbs[i].name)),
			       verbs[i].argument, verbs[i].help);
		else
			printf("\n%s:\n", verbs[i].name);
	printf("\nOptions of most verbs; \"rdma-provision VERB --help\" has the others:\n");
	for (size_t i = 0; i < ELEMENTSOF(options); i++)
		if (!options[i].takes ||
		    options[i].takes & (TAKES_ROOT | TAKES_CONFIG | TAKES_JSON))
			print_option(i);
	printf("\nExamples:\n"
	       "    rdma-provision status\n"
	       "    rdma-provision plan --preset=vke-shared\n"
	       "    rdma-provision set --preset=vke-shared Device.rdma.Expect=4\n"
	       "Exit codes: 0 success, 1 error, 2 plan has changes, or health is not known,\n"
	       "3 degraded, 4 not ready yet\n"
	       "Manual: rdma-provision(8); configuration: rdma-provision.conf(5)\n");
	return standard_print("") < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int print_verb_help(size_t verb)
{
	printf("rdma-provision %s%s%s [OPTIONS]\n\n%s.\n%s\n", verbs[verb].name,
	       verbs[verb].argument[0] ? " " : "", verbs[verb].argument, verbs[verb].help,
	       verbs[verb].more);
	for (size_t i = 0; i < ELEMENTSOF(options); i++)
		if (options[i].takes & verbs[verb].takes)
			print_option(i);
	return standard_print("") < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Return: the verb's row, or ELEMENTSOF(verbs) with the nearest one suggested. */
static size_t find_verb(const char *name)
{
	struct nearest nearest = { .word = name };
	bool is_internal = false;

	for (size_t i = 0; i < ELEMENTSOF(verbs); i++) {
		is_internal |= !*verbs[i].name;
		if (!verbs[i].run)
			continue;
		if (streq(verbs[i].name, name))
			return i;
		if (!is_internal)
			nearest_offer(&nearest, verbs[i].name);
	}

	nearest_offer(&nearest, "--version");
	log_error("%s is no verb: %s%s%s\"rdma-provision --help\" lists them",
		  *name ? name : "\"\"", nearest.best ? "did you mean " : "",
		  nearest.best ? nearest.best : "", nearest.best ? "? " : "");
	return ELEMENTSOF(verbs);
}

/* The words that other programs have, and ours for them. */
static const struct {
	const char *letter, *word, *instead;
} foreign_options[] = {
	{ "-n", "--dry-run", "is no option: \"rdma-provision plan\" prints the changes" },
	{ "-o", "--output", "is no option: --json prints JSON" },
	{ "-q", "--quiet", "is no option: the exit code is the answer, >/dev/null hides the rest" },
	{ "-v", "--verbose", "is no option: --debug logs more, --version prints the version" },
};

static int refuse_option(bool is_without_value, const char *last)
{
	const char letter[] = { '-', (char)optopt, '\0' };
	const char *word = optopt == 0 || optopt > LONG ? last : letter,
		   *instead = is_without_value ? "has no value"
			      : optopt > LONG  ? "is not valid: the option takes no value"
					       : "is no option here";

	FOREACH_WHILE(row, foreign_options, ELEMENTSOF(foreign_options), !is_without_value)
		if (streq(word, row->letter) || is_prefix(word, row->word))
			instead = row->instead;
	log_error("%s %s", word, instead);
	return -EINVAL;
}

static int read_option(int letter, const char *value, struct verb_line *line)
{
	size_t i = 0;

	while (i < ELEMENTSOF(options) && options[i].letter != letter)
		i++;

	line->given |= options[i].takes;
	if (value && !*value && strchr("rc", letter)) {
		log_error("--%s= is not valid: use a path", options[i].name);
		return -EINVAL;
	}
	if (options[i].flag)
		*(bool *)((char *)line + options[i].flag) = true;
	if (letter == 'r')
		line->command.root = value;
	else if (letter == 'c')
		line->command.config = value;
	else if (letter == 'n')
		line->command.npd = value ? value : "";
	else if (letter == 'p')
		line->command.preset = value ? value : "";
	else if (letter == 't' && parse_span(value, &line->command.timeout_usec) < 0) {
		log_error("--timeout=%s is not valid: use a time in seconds, or with a unit such "
			  "as \"5min\"",
			  value);
		return -EINVAL;
	}
	if (line->command.is_debug)
		log_set_level(LOG_LEVEL_DEBUG);
	return 0;
}

static int read_options(int argc, char **argv, struct verb_line *line)
{
	struct option longs[ELEMENTSOF(options) + 1] = {};
	int letter, r = 0;

	for (size_t i = 0; i < ELEMENTSOF(options); i++)
		longs[i] = (struct option){ options[i].name, options[i].has_value, NULL,
					    options[i].letter + LONG };
	/* To the end, for "--export" behind a wrong one decides how it ends. */
	while ((letter = getopt_long(argc, argv, ":h", longs, NULL)) != -1)
		if (letter == '?' || letter == ':')
			r = r < 0 ? r : refuse_option(letter == ':', argv[optind - 1]);
		else if (read_option(letter % LONG, optarg, line) < 0)
			r = -EINVAL;
	return r;
}

static int check_line(size_t verb, int n_arguments, char **arguments, const struct verb_line *line)
{
	unsigned foreign = line->given & ~verbs[verb].takes;

	for (size_t i = 0; i < ELEMENTSOF(options) && foreign; i++)
		if (options[i].takes & foreign) {
			log_error("%s does not take --%s", verbs[verb].name, options[i].name);
			return -EINVAL;
		}
	if (n_arguments > (verbs[verb].argument[0] ? 1 : 0) && !(verbs[verb].takes & TAKES_MANY)) {
		log_error("%s takes %s", verbs[verb].name,
			  verbs[verb].argument[0] ? "one argument at most" : "no argument");
		return -EINVAL;
	}
	if (n_arguments > 0 && line->command.npd) {
		log_error("--npd takes no DEVICE: use --npd=CONDITION");
		return -EINVAL;
	}
	if (n_arguments > 0 && !*arguments[0]) {
		log_error("%s takes no empty argument", verbs[verb].name);
		return -EINVAL;
	}
	return 0;
}

/* A script that reads the exit code must not take a wrong argument for an answer. */
static int refuse_line(const struct verb_line *line, const char *verb)
{
	log_error("\"rdma-provision %s%s--help\" lists what is accepted", verb ? verb : "",
		  verb ? " " : "");
	return verb && streq(verb, "health") ? HEALTH_UNKNOWN
					     : nccl_env_exit_code(-EINVAL, line->command.is_export);
}

static int run(size_t verb, struct command *cmd)
{
	const bool may_be_archive = (verbs[verb].takes & TAKES_ARCHIVE) == TAKES_ARCHIVE;
	const bool has_lines = cmd->is_json && (verbs[verb].takes & TAKES_LINES) == TAKES_LINES;
	_cleanup_(tar_remove) struct unpacked u = {};
	int r;

	if (has_lines)
		log_set_json();
	r = cmd->root && !cmd->exec && may_be_archive ? tar_unpack(cmd->root, &u) : 1;
	if (r < 0) {
		log_error("--root=%s: %s", cmd->root, u.problem);
		return streq(cmd->verb, "health") ? HEALTH_UNKNOWN
						  : nccl_env_exit_code(r, cmd->is_export);
	}
	if (r == 0)
		cmd->root = u.root;
	r = verbs[verb].run(cmd);
	return has_lines && standard_print("") < 0 ? EXIT_FAILURE : r;
}

int main(int argc, char **argv)
{
	struct verb_line line = {
		.command.timeout_usec = UINT64_MAX,
		.command.exec = nccl_env_cut_command(&argc, argv),
	};
	size_t verb;
	int r;

	if (standard_open() < 0)
		return EXIT_FAILURE;
	if (line.command.exec)
		line.given = TAKES_NCCL;
	if (read_options(argc, argv, &line) < 0)
		return refuse_line(&line, argv[optind]);
	if (line.is_version)
		return standard_print("rdma-provision " PROJECT_VERSION "\n") < 0 ? EXIT_FAILURE
										  : EXIT_SUCCESS;
	if (optind < argc && streq(argv[optind], "help")) {
		line.is_help = true;
		optind++;
	}
	if (optind >= argc) {
		r = print_help();
		return line.is_help ? r : EXIT_USAGE;
	}

	verb = find_verb(argv[optind]);
	if (verb == ELEMENTSOF(verbs))
		return EXIT_USAGE;
	if (line.is_help)
		return print_verb_help(verb);
	if (check_line(verb, argc - optind - 1, argv + optind + 1, &line) < 0)
		return refuse_line(&line, argv[optind]);

	if (verbs[verb].takes & NEEDS_ROOT && geteuid() != 0 && !line.command.root) {
		log_error("%s needs root", verbs[verb].name);
		return EXIT_FAILURE;
	}

	line.command.verb = verbs[verb].name;
	line.command.argument = argv[optind + 1];
	line.command.arguments = argv + optind + 1;
	line.command.n_arguments = (size_t)(argc - optind - 1);
	return run(verb, &line.command);
}
