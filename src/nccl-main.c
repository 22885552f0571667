/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The static binary rdma-nccl-env: "rdma-provision nccl-env" for containers that have none of its
 * libraries. Its command line, nothing else.
 */
#include "base/log.h"
#include "doors/fs.h"
#include "nccl.h"

#include <getopt.h>

static int print_help(void)
{
	printf("rdma-nccl-env [OPTIONS]: the NCCL settings for the RDMA devices that are seen "
	       "here\n\n"
	       "  --export    as \"export NAME=VALUE\", for a shell\n"
	       "  --conf      as /etc/nccl.conf takes it\n"
	       "  --exact     NCCL_IB_HCA with \"=\": these names, not what begins with them\n"
	       "  --root=DIR  look at a captured or mounted tree instead of the running system\n"
	       "  --help      this text\n"
	       "  --version   print the version\n"
	       "Exit code: 0, or 1 when there are none, with the reason. Manual: "
	       "rdma-nccl-env(1)\n");
	return EXIT_SUCCESS;
}

static int run(const char *root, bool is_export, bool is_exact)
{
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	int r;

	r = fs_open_root(root, &fs);
	if (r < 0) {
		log_error_errno(r, "%s", root ? root : "/");
		return EXIT_FAILURE;
	}
	return nccl_env(&fs, NULL, is_export, is_exact) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "export", no_argument, NULL, 'e' },
		{ "conf", no_argument, NULL, 'f' },
		{ "exact", no_argument, NULL, 'x' },
		{ "root", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{},
	};
	bool is_export = false, is_conf = false, is_exact = false;
	const char *root = NULL;
	int letter;

	while ((letter = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (letter) {
		case 'e':
			is_export = true;
			break;
		case 'f':
			is_conf = true;
			break;
		case 'x':
			is_exact = true;
			break;
		case 'r':
			root = optarg;
			break;
		case 'h':
			return print_help();
		case 'v':
			printf("rdma-nccl-env " PROJECT_VERSION "\n");
			return EXIT_SUCCESS;
		default:
			return EXIT_FAILURE; /* getopt_long() has said what is wrong */
		}
	}
	if (optind < argc || (is_export && is_conf)) {
		log_error("%s; \"rdma-nccl-env --help\"",
			  optind < argc ? "rdma-nccl-env takes no argument"
					: "--export and --conf are two forms: take one");
		return EXIT_FAILURE;
	}
	return run(root, is_export, is_exact);
}
