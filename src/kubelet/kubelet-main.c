/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet main: what the kubelet's units start before each kubelet. The same as "rdma-provision
 * VERB", in a program that links no more than these two verbs need, so that it starts in a
 * millisecond.
 */
#include "../base/log.h"
#include "../command.h"

#define USAGE                                                                                      \
	"usage: rdma-provision-kubelet gate|kubelet-ensure [--strict] [--root=DIR], by systemd; "  \
	"rdma-provision has these verbs for people"

static const struct {
	const char *name;
	int (*run)(const struct command *cmd);
} verbs[] = {
	{ "gate", command_gate },
	{ "kubelet-ensure", command_kubelet_ensure },
};

/* Also what tests and measurements need. */
static bool parse(int argc, char **argv, struct command *ret)
{
	struct command cmd = {};

	for (int i = 2; i < argc; i++)
		if (streq(argv[i], "--strict"))
			cmd.is_strict = true;
		else if (!(cmd.root = after(argv[i], "--root=")))
			return false;
	*ret = cmd;
	return argc > 1;
}

int main(int argc, char **argv)
{
	struct command cmd;

	for (size_t i = 0; i < ELEMENTSOF(verbs) && parse(argc, argv, &cmd); i++)
		if (streq(argv[1], verbs[i].name))
			return verbs[i].run(&cmd);

	if (argc == 2 && streq(argv[1], "--help"))
		return puts(USAGE) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	log_error(USAGE);
	return EXIT_FAILURE;
}
