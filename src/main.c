/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Main: the table of verbs and the reading of the command line. Nothing else.
 */
#include "base/log.h"
#include "command.h"
#include "config/parse.h"
#include "config/problem.h"

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
};

static const struct {
	const char *name, *argument, *help; /* argument: "" when there is none */
	int (*run)(const struct command *cmd);
	unsigned takes;
	const char *more; /* for "VERB --help" */
} verbs[] = {
	{ "run", "", "the service: passes until the node is finished, then follows hotplug",
	  command_run, TAKES_CONFIG,
	  "Started by rdma-provision.service; SIGHUP reads the configuration again.\n" },
	{ "early", "", "what must precede the drivers: their options, the RDMA netns mode",
	  command_early, TAKES_CONFIG,
	  "Started by rdma-provision-early.service. Writes only below /run/modprobe.d.\n" },
	{ "plan", "", "print every change that would be made, in order, and make none",
	  command_plan, TAKES_ROOT | TAKES_CONFIG | TAKES_JSON,
	  "Exit code: 0 nothing to do, 2 there is something, 1 error.\n" },
	{ "apply", "", "make the changes, wait for the devices, and look again", command_apply,
	  TAKES_CONFIG | TAKES_JSON,
	  "With --json it prints the state in the end, as status does.\n"
	  "Exit code: 0 finished, 3 degraded, 1 error.\n" },
	{ "status", "", "draw the node: NUMA nodes, NICs, VFs, RDMA devices, and what is wrong",
	  command_status, TAKES_ROOT | TAKES_CONFIG | TAKES_JSON | TAKES_FOLLOW,
	  "As the service left it; without a running service, as a look shows it now.\n"
	  "With --follow --json: one document a line.\n"
	  "Exit code: 0 ready, 3 degraded, 4 not yet, 1 error.\n" },
	{ "explain", "DEVICE",
	  "why this PCI address, netdev, RDMA device, kubelet or plugin is as it is",
	  command_explain, TAKES_ROOT | TAKES_CONFIG | TAKES_JSON,
	  "Looks now: section, driver and where its parameters come from, port, GIDs, verdict.\n"
	  "explain kubelet: its settings at its next start, who decides them, and since when.\n"
	  "explain plugin: its file, who has read it, its rules for each device, what it exposes.\n"
	  "Exit code: 0 explained, 1 there is no such device.\n" },
	{ "check", "[FILE]",
	  "say whether the configuration is valid, and what the device plugin would expose",
	  command_check, TAKES_ROOT | TAKES_CONFIG | TAKES_JSON,
	  "An unknown key is an error here. The plugin's own rules are replayed on this node.\n"
	  "With --json: {\"valid\": ..., \"problems\": [...], \"plugin\": {...}}.\n"
	  "Exit code: 0 valid, 1 not, or the plugin would refuse its file or expose nothing.\n" },
	{ "set", "KEY=VALUE...", "change the configuration, all of what is given or nothing",
	  command_set, TAKES_ROOT | TAKES_JSON | TAKES_PRESET | TAKES_MANY,
	  "KEY is SECTION.KEY: \"Driver.Mode=compat\", \"Device nic.MTU=9000\". What is valid "
	  "together with\n"
	  "everything else is written to "
	  "/etc/rdma-provision/rdma-provision.conf.d/50-set.conf; then\n"
	  "it tells what a reload would do. With --json: the document of \"plan --json\", null\n"
	  "without a node.\n"
	  "Exit code: 0 written, or nothing to change; 1 error, and nothing is written.\n" },
	{ "unset", "KEY...", "take back what was set, all of what is given or nothing",
	  command_unset, TAKES_ROOT | TAKES_JSON | TAKES_PRESET | TAKES_MANY,
	  "KEY is SECTION.KEY: \"Driver.Mode\", \"Device nic.MTU\". What other files say stays; "
	  "where\n"
	  "a key is set elsewhere, that is told. --preset, without a name, removes the link.\n"
	  "Exit code: 0 written; 1 error, and nothing is written.\n" },
	{ "wait", "", "block until the node is ready or degraded", command_wait,
	  TAKES_TIMEOUT | TAKES_JSON,
	  "With --json it prints the state in the end, as status does.\n"
	  "Exit code: 0 ready, 3 degraded, 4 the time is over, 1 error.\n" },
	{ "gate", "", "before the kubelet starts: waits or fails as [Kubelet] Gate= says",
	  command_gate, TAKES_ROOT | TAKES_CONFIG,
	  "Gate=off opens at once, degraded waits while the node is starting, at most\n"
	  "ReadyTimeoutSec=, strict fails unless the node is ready.\n"
	  "Exit code: 0 go on, 1 hold the kubelet back.\n" },
	{ "kubelet-ensure", "", "make sure of topologyManagerPolicy in the kubelet's configuration",
	  command_kubelet_ensure, TAKES_ROOT | TAKES_CONFIG | TAKES_STRICT,
	  "The only writer of kubelet files; with --root it edits files below that folder.\n"
	  "It ends by itself after 5 s.\n"
	  "Exit code: 0 always, 1 with --strict when it could not be done.\n" },
	{ "revert", "",
	  "take back routes, rules, addresses, settings and kubelet values, also without "
	  "configuration",
	  command_revert, TAKES_ROOT | TAKES_VFS,
	  "What others changed since is left. A running service then changes nothing until its "
	  "next\n"
	  "start or reload. Exit code: 0 all is taken back, 1 not.\n" },
	{ "bake", "", "image build: write the module options into modprobe.d of the image",
	  command_bake, TAKES_ROOT | TAKES_CONFIG | TAKES_UNDO,
	  "Names lines that are contrary to them, and how an initramfs is rebuilt.\n"
	  "Exit code: 0, or 1 when the file cannot be written.\n" },
	{ "nccl-env", "", "print the NCCL settings for the RDMA devices that are seen here",
	  command_nccl_env, TAKES_ROOT | TAKES_NCCL,
	  "Ports with the highest rate of those with a RoCE v2 GID of an IPv4 address.\n"
	  "Exit code: 0, or 1 when there are none or their GID indexes differ.\n" },
	{ "helper", "NAME", "does one thing that the service has no right to do", command_helper, 0,
	  "Started for one question by the socket rdma-provision-NAME.socket. NAME is "
	  "\"manager\",\n"
	  "\"module\", \"users\" or \"nccl\".\n"
	  "Exit code: 0 answered, 1 not.\n" },
	{ "capture", "[FILE]", "write the facts that are read, as a tar that --root takes unpacked",
	  command_capture, TAKES_ROOT | TAKES_CONFIG,
	  "FILE is rdma-provision-capture.tar unless given; \"-\" is standard output.\n"
	  "Exit code: 0 or 1.\n" },
};

struct line {
	struct command command;
	unsigned given; /* options with a bit in TAKES_* */
	bool is_help, is_version, is_debug;
};

#define FLAG(m) offsetof(struct line, m)

static const struct {
	const char *name, *value, *help;
	unsigned takes; /* 0: every verb has it */
	int has_value, letter;
	size_t flag; /* of struct line, a bool; 0: it has a value */
} options[] = {
	{ "root", "=DIR", "look at a captured or mounted tree instead of the running system",
	  TAKES_ROOT, required_argument, 'r' },
	{ "config", "=FILE", "read this file alone instead of the configuration folders",
	  TAKES_CONFIG, required_argument, 'c' },
	{ "json", "", "print JSON for programs", TAKES_JSON, no_argument, 'j',
	  FLAG(command.is_json) },
	{ "follow", "", "draw it again whenever it changes, until a signal", TAKES_FOLLOW,
	  no_argument, 'w', FLAG(command.is_follow) },
	{ "timeout", "=SEC", "give up after this time (\"90\", \"5min\"); without it: never",
	  TAKES_TIMEOUT, required_argument, 't' },
	{ "strict", "", "fail when it could not be done", TAKES_STRICT, no_argument, 's',
	  FLAG(command.is_strict) },
	{ "undo", "", "remove what the verb wrote", TAKES_UNDO, no_argument, 'u',
	  FLAG(command.is_undo) },
	{ "vfs", "", "also remove virtual functions of this boot that nobody uses", TAKES_VFS,
	  no_argument, 'V', FLAG(command.with_vfs) },
	{ "export", "", "as \"export NAME=VALUE\", for a shell", TAKES_NCCL, no_argument, 'e',
	  FLAG(command.is_export) },
	{ "conf", "", "as /etc/nccl.conf takes it", TAKES_NCCL, no_argument, 'f',
	  FLAG(command.is_conf) },
	{ "exact", "", "NCCL_IB_HCA with \"=\": these names, not what begins with them", TAKES_NCCL,
	  no_argument, 'x', FLAG(command.is_exact) },
	{ "preset", "=NAME", "with set: link this preset; with unset, no name: remove the link",
	  TAKES_PRESET, optional_argument, 'p' },
	{ "debug", "", "log what is done", 0, no_argument, 'd', FLAG(is_debug) },
	{ "help", "", "this text, or with a verb its own", 0, no_argument, 'h', FLAG(is_help) },
	{ "version", "", "print the version", 0, no_argument, 'v', FLAG(is_version) },
};

static void print_option(size_t i)
{
	printf("  --%s%-*s  %s\n", options[i].name, (int)(12 - strlen(options[i].name)),
	       options[i].value, options[i].help);
}

static int print_help(void)
{
	printf("rdma-provision VERB [OPTIONS]: makes a finished Kubernetes RDMA node of this "
	       "host\n\n");
	for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
		printf("  %s %-*s %s\n", verbs[i].name, (int)(15 - strlen(verbs[i].name)),
		       verbs[i].argument, verbs[i].help);
	printf("\n");
	for (size_t i = 0; i < ELEMENTSOF(options); i++)
		print_option(i);
	printf("Manual: rdma-provision(8); configuration: "
	       "/etc/rdma-provision/rdma-provision.conf\n");
	return EXIT_SUCCESS;
}

static int print_verb_help(size_t verb)
{
	printf("rdma-provision %s%s%s [OPTIONS]\n\n%s.\n%s\n", verbs[verb].name,
	       verbs[verb].argument[0] ? " " : "", verbs[verb].argument, verbs[verb].help,
	       verbs[verb].more);
	for (size_t i = 0; i < ELEMENTSOF(options); i++)
		if (options[i].takes & verbs[verb].takes)
			print_option(i);
	return EXIT_SUCCESS;
}

/* Return: the verb's row, or ELEMENTSOF(verbs) with the nearest one suggested. */
static size_t find_verb(const char *name)
{
	struct nearest nearest = { .word = name };

	for (size_t i = 0; i < ELEMENTSOF(verbs); i++) {
		if (streq(verbs[i].name, name))
			return i;
		nearest_offer(&nearest, verbs[i].name);
	}

	log_error("%s: there is no such verb%s%s%s; \"rdma-provision --help\" lists them", name,
		  nearest.best ? ", did you mean " : "", nearest.best ? nearest.best : "",
		  nearest.best ? "?" : "");
	return ELEMENTSOF(verbs);
}

static int read_option(int letter, const char *value, struct line *line)
{
	size_t i = 0;

	while (i < ELEMENTSOF(options) && options[i].letter != letter)
		i++;
	if (i == ELEMENTSOF(options))
		return -EINVAL; /* getopt_long() has said what is wrong */

	line->given |= options[i].takes;
	if (options[i].flag)
		*(bool *)((char *)line + options[i].flag) = true;
	if (letter == 'r')
		line->command.root = value;
	else if (letter == 'c')
		line->command.config = value;
	else if (letter == 'p')
		line->command.preset = value ? value : "";
	else if (letter == 't' && parse_span(value, &line->command.timeout_usec) < 0) {
		log_error("--timeout=%s: accepted: a time in seconds, or with a unit such as "
			  "\"5min\"",
			  value);
		return -EINVAL;
	}
	if (line->is_debug)
		log_set_level(LOG_LEVEL_DEBUG);
	return 0;
}

static int read_options(int argc, char **argv, struct line *line)
{
	struct option longs[ELEMENTSOF(options) + 1] = {};
	int letter, r;

	for (size_t i = 0; i < ELEMENTSOF(options); i++)
		longs[i] = (struct option){ options[i].name, options[i].has_value, NULL,
					    options[i].letter };
	while ((letter = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		r = read_option(letter, optarg, line);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_line(size_t verb, int n_arguments, const struct line *line)
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
	return 0;
}

int main(int argc, char **argv)
{
	struct line line = { .command.timeout_usec = UINT64_MAX };
	size_t verb;

	if (read_options(argc, argv, &line) < 0)
		return EXIT_USAGE;
	if (line.is_version) {
		printf("rdma-provision " PROJECT_VERSION "\n");
		return EXIT_SUCCESS;
	}
	if (optind >= argc) {
		print_help();
		return line.is_help ? EXIT_SUCCESS : EXIT_USAGE;
	}

	verb = find_verb(argv[optind]);
	if (verb == ELEMENTSOF(verbs))
		return EXIT_USAGE;
	if (line.is_help)
		return print_verb_help(verb);
	if (check_line(verb, argc - optind - 1, &line) < 0)
		return EXIT_USAGE;

	line.command.argument = argv[optind + 1];
	line.command.arguments = argv + optind + 1;
	line.command.n_arguments = (size_t)(argc - optind - 1);
	return verbs[verb].run(&line.command);
}
