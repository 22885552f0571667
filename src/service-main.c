/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program of rdma-provision.service, which stays between passes: it waits for events, and runs
 * "rdma-provision pass" for each pass. It has few libraries, so that it takes little memory.
 *
 *   rdma-provision-service [--config=FILE] [--debug]
 */
#include "base/log.h"
#include "base/standard.h"
#include "service.h"

#include <getopt.h>
#include <sys/prctl.h>

#define USAGE                                                                                      \
	"usage: rdma-provision-service [--config=FILE] [--debug], by systemd; \"rdma-provision "   \
	"run\" is for people"

int main(int argc, char **argv)
{
	static const struct option options[] = { { "config", required_argument, NULL, 'c' },
						 { "debug", no_argument, NULL, 'd' },
						 { "help", no_argument, NULL, 'h' },
						 {} };
	const char *file = NULL;
	int letter;

	if (standard_open() < 0)
		return EXIT_FAILURE;
	prctl(PR_SET_NAME, "rdma-provision"); /* its workers are of this name as well */
	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (letter == 'c')
			file = optarg;
		else if (letter == 'd')
			log_set_level(LOG_LEVEL_DEBUG);
		else if (letter == 'h')
			return standard_print(USAGE "\n") < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
		else
			return EXIT_FAILURE; /* getopt_long() has said what is wrong */
	}
	if (optind < argc) {
		log_error(USAGE);
		return EXIT_FAILURE;
	}
	return service_run(file) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
