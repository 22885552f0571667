/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The static binary rdma-nccl-env: "rdma-provision nccl-env" for containers that have none of its
 * libraries. Its command line, nothing else.
 */
#include "../base/log.h"
#include "../os/fs.h"
#include "nccl-env.h"

#include <getopt.h>

#define LONG 0x100 /* added to the letter of a long option, to tell it from a short one */

static int print_help(void)
{
	printf("rdma-nccl-env [OPTIONS] [--exec COMMAND...]: the NCCL settings for the RDMA "
	       "devices that are seen here\n\n"
	       "  --exec      run the command that follows with them, and nothing without them\n"
	       "  --export    as \"export NAME=VALUE\" for a shell's eval; \"false\" when there "
	       "are "
	       "none\n"
	       "  --conf      as /etc/nccl.conf takes it\n"
	       "  --exact     NCCL_IB_HCA with \"=\": these names, not what begins with them\n"
	       "  --root=DIR  look at a mounted tree instead of the running system\n"
	       "  --help      this text\n"
	       "  --version   print the version\n"
	       "Exit code: 0, or 1 when there are none, with the reason; with --exec that of "
	       "the command.\n"
	       "Manual: rdma-nccl-env(1)\n");
	return standard_print("") < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run(const char *root, const struct nccl_request *req)
{
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	int r = fs_open_root(root, &fs);

	if (r < 0)
		return log_error_errno(r, "--root=%s", root ? root : "/");
	return nccl_env_here(&fs, req);
}

int main(int argc, char **argv)
{
	int is_export = 0, is_conf = 0, is_exact = 0;
	const struct option options[] = {
		{ "export", no_argument, &is_export, 1 },
		{ "conf", no_argument, &is_conf, 1 },
		{ "exact", no_argument, &is_exact, 1 },
		{ "root", required_argument, NULL, LONG + 'r' },
		{ "help", no_argument, NULL, LONG + 'h' },
		{ "version", no_argument, NULL, LONG + 'v' },
		{},
	};
	struct nccl_request req = { .exec = nccl_env_cut_command(&argc, argv),
				    .traffic_class = -1,
				    .service_level = -1 };
	bool is_wrong = false;
	const char *root = NULL;
	int letter;

	if (standard_open() < 0)
		return EXIT_FAILURE;
	while ((letter = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		const char word[] = { '-', (char)optopt, '\0' };

		switch (letter % LONG) {
		case 0: /* has set its flag */
			break;
		case 'r':
			root = optarg;
			break;
		case 'h':
			return print_help();
		case 'v':
			return standard_print("rdma-nccl-env " PROJECT_VERSION "\n") < 0
				       ? EXIT_FAILURE
				       : EXIT_SUCCESS;
		default:
			/* optopt is 0, 1 or more than LONG for a long option */
			log_error("%s %s", optopt <= 1 || optopt > LONG ? argv[optind - 1] : word,
				  letter == ':' ? "has no value" : "is no option here");
			is_wrong = true;
		}
	}
	req.is_export = is_export;
	req.is_exact = is_exact;
	if (is_wrong || optind < argc || req.is_export + is_conf + (req.exec != NULL) > 1 ||
	    (req.exec && !req.exec[0])) {
		log_error("%s\"rdma-nccl-env --help\" lists what is accepted",
			  is_wrong        ? ""
			  : optind < argc ? "rdma-nccl-env takes no argument; "
					  : "use one of --export, --conf and --exec COMMAND; ");
		return nccl_env_exit_code(-EINVAL, req.is_export);
	}
	return nccl_env_exit_code(run(root, &req), req.is_export);
}
