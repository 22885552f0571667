/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet main: the program that reads and edits the files of the kubelet. Units start it before
 * each kubelet, so it links no more than its verbs need and starts in a millisecond; for people
 * "rdma-provision" runs it (session_become_kubelet()). How it ends is how the verb of
 * rdma-provision(8) does.
 */
#include "../base/log.h"
#include "../config/load.h"
#include "../model/paths.h"
#include "../os/want.h"
#include "ensure.h"
#include "ledger-files.h"

#include <signal.h>
#include <sys/resource.h>

#define USAGE                                                                                      \
	"usage: rdma-provision-kubelet kubelet-ensure|revert [--strict] [--failed] [--wanted] "    \
	"[--debug] [--json] [--root=DIR] [--config=FILE], by systemd; rdma-provision has these "   \
	"verbs for "                                                                               \
	"people"

#define ENSURE_SEC 5  /* kept by the process itself: in the kubelet's own unit no limit is ours */
#define REVERT_SEC 60 /* looks at the kubelet again for each value that goes back */

struct kubelet_command {
	const char *root, *config; /* NULL: the running system, the folders */
	bool is_strict, is_failed; /* is_failed: what "revert" did before */
	bool is_wanted;            /* a wish of the service has it run */
};

static char out_of_time[128];
static int exit_out_of_time;

static void on_alarm(_unused_ int signal)
{
	if (write(STDERR_FILENO, out_of_time, strlen(out_of_time)) >= 0)
		_exit(exit_out_of_time);
	_exit(exit_out_of_time);
}

/*
 * Ends this process after @sec seconds, with a line and this exit code, and limits its memory.
 * Files are replaced as a whole, so the process may end at any instant; locks end with it. The soft
 * limit alone: a program that is run has the hard one, version.h.
 */
static void limit_process(const char *verb, unsigned sec, int code)
{
	struct rlimit limit;

	PRINT(out_of_time, "%s%s: not done after %u s, and given up\n",
	      log_is_journal() ? "<4>" : "", verb, sec);
	exit_out_of_time = code;
	signal(SIGALRM, on_alarm);
	alarm(sec);
	if (getrlimit(RLIMIT_DATA, &limit) < 0)
		return;
	limit.rlim_cur = MIN(limit.rlim_max, LIMIT_BYTES);
	setrlimit(RLIMIT_DATA, &limit);
}

static int open_root(const struct kubelet_command *cmd, struct fs *fs)
{
	int r = fs_open_root(cmd->root, fs);

	return r < 0 ? log_error_errno(r, "%s", cmd->root ? cmd->root : "/") : 0;
}

/* Logs a line for each setting that is not simply right. Return: is all as configured? */
static bool tell_kubelet(const struct kubelet_result *res)
{
	bool is_good = true;

	for (int i = 0; i < _KUBELET_SETTING_N; i++) {
		const struct kubelet_item *item = &res->decision.items[i];
		const char *key = kubelet_key((enum kubelet_setting)i);

		if (item->outcome == KUBELET_SATISFIED) {
			if (item->row > 0)
				log_debug("%s: satisfied: %s", key, item->detail);
			continue;
		}
		if (item->outcome == KUBELET_CHANGED || item->outcome == KUBELET_DEFERRED) {
			log_notice("%s: %s %s%s%s%s", item->path, key, item->from,
				   *item->from ? " -> " : "", item->to,
				   item->outcome == KUBELET_DEFERRED
					   ? ", deferred to the kubelet's next start"
					   : "");
			continue;
		}
		log_line(item->outcome == KUBELET_WAITING ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING,
			 "kubelet: %s %s: %s%s%s. %s", kubelet_outcome_name(item->outcome),
			 reason_code(item->reason), reason_meaning(item->reason),
			 item->detail[0] ? ": " : "", item->detail, reason_advice(item->reason));
		is_good = false;
	}
	return is_good;
}

static int run_ensure(const struct kubelet_command *cmd)
{
	_cleanup_(config_done) struct config c = {};
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	const int failure = cmd->is_strict ? EXIT_FAILURE : EXIT_SUCCESS;
	struct kubelet_result result = {};
	int r;

	if (!cmd->root)
		limit_process("kubelet-ensure", ENSURE_SEC, failure);
	/* kubelet-ensure never keeps a kubelet from starting that would have started. */
	if (open_root(cmd, &fs) < 0)
		return failure;
	/* First of all: while it is there, systemd runs this again and again. */
	r = cmd->is_wanted ? want_take(&fs, WANT_KUBELET) : 0;
	if (r < 0)
		log_error_errno(r, "/" WANT_FOLDER);
	if (load_valid(&fs, cmd->config, &c) < 0)
		return failure;

	r = fs.is_live ? fs_exists(&fs, HOLD_PATH) : 0;
	if (r < 0) {
		log_error_errno(r, "/" HOLD_PATH);
		return failure;
	}
	if (r > 0) {
		log_info("Nothing is changed after \"revert\", until rdma-provision.service is "
			 "started or reloaded");
		return EXIT_SUCCESS;
	}

	r = kubelet_ensure(&fs, &c, &result);
	if (r < 0) {
		log_error_errno(r, "kubelet");
		return failure;
	}
	return tell_kubelet(&result) ? EXIT_SUCCESS : failure;
}

static int run_revert(const struct kubelet_command *cmd)
{
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	int r;

	if (open_root(cmd, &fs) < 0)
		return EXIT_FAILURE;
	if (!cmd->root)
		limit_process("revert of the kubelet's files", REVERT_SEC, EXIT_FAILURE);
	r = kubelet_revert(&fs); /* it logs */
	return r != 0 || cmd->is_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static const struct {
	const char *name;
	int (*run)(const struct kubelet_command *cmd);
} verbs[] = {
	{ "kubelet-ensure", run_ensure },
	{ "revert", run_revert },
};

static bool parse(int argc, char **argv, struct kubelet_command *ret)
{
	struct kubelet_command cmd = {};

	for (int i = 2; i < argc; i++) {
		const char *root = after(argv[i], "--root="), *config = after(argv[i], "--config=");

		if (root)
			cmd.root = root;
		else if (config)
			cmd.config = config;
		else if (streq(argv[i], "--strict"))
			cmd.is_strict = true;
		else if (streq(argv[i], "--failed"))
			cmd.is_failed = true;
		else if (streq(argv[i], "--wanted"))
			cmd.is_wanted = true;
		else if (streq(argv[i], "--json"))
			log_set_json();
		else if (streq(argv[i], "--debug"))
			log_set_level(LOG_LEVEL_DEBUG);
		else
			return false;
	}
	*ret = cmd;
	return argc > 1;
}

int main(int argc, char **argv)
{
	struct kubelet_command cmd;
	int r;

	if (standard_open() < 0)
		return EXIT_FAILURE;
	for (size_t i = 0; i < ELEMENTSOF(verbs) && parse(argc, argv, &cmd); i++)
		if (streq(argv[1], verbs[i].name)) {
			r = verbs[i].run(&cmd);
			return standard_print("") < 0 ? EXIT_FAILURE : r;
		}

	if (argc == 2 && streq(argv[1], "--help"))
		return standard_print(USAGE "\n") < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	log_error(USAGE);
	return EXIT_FAILURE;
}
