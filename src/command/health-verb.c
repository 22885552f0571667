/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Health: the verbs health and clear: the losses of links that the last pass counted.
 */
#include "../base/log.h"
#include "../config/load.h"
#include "../health/health-output.h"
#include "../model/paths.h"
#include "../pass/live.h"
#include "../pass/loop.h"
#include "../service/apply-request.h"
#include "session.h"

#define BOOT_ID_LEN 40
#define UNIT        "rdma-provision.service"

int command_health(const struct command *cmd)
{
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	_cleanup_(freep) char *state = NULL, *text = NULL;
	char boot_id[BOOT_ID_LEN] = "";
	int r = fs_open_root(cmd->root, &fs);

	if (r < 0) {
		log_error_errno(r, "--root=%s", cmd->root ? cmd->root : "/");
		return HEALTH_UNKNOWN;
	}
	r = fs_read(&fs, "proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	if (r >= 0)
		r = fs_read_all(&fs, STATE_PATH, MAX_STATE_BYTES, false, &state, NULL);
	/* Without a state nothing is known, which has a line as well. */
	if (r != -ENOMEM)
		r = cmd->npd ? output_npd(state, boot_id, cmd->npd, &text)
			     : output_health(state, boot_id, cmd->argument, cmd->is_json, &text);
	return r < 0 || session_print(text) != EXIT_SUCCESS ? HEALTH_UNKNOWN : r;
}

/* Uses the configuration of the last pass: that of the files, else the last good one. */
static int clear(const struct command *cmd, struct session *s, const char *pci)
{
	const struct world world = live_world(&s->os);
	struct config c = {};
	int r = loop_clear(&world, &s->config, pci);

	if (r == -ESTALE && !cmd->config && config_load_last_good(&s->os.fs, &c) >= 0)
		r = loop_clear(&world, &c, pci);
	config_done(&c);
	if (r == -ESTALE)
		log_error("The last pass had another configuration, which is not known any more");
	else if (r < 0)
		log_error_errno(r, "%s: its losses cannot be forgotten", pci);
	return r;
}

int command_clear(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(freep) char *state = NULL;
	char pci[PCI_LEN];
	int r;

	if (!cmd->argument) {
		log_error("clear takes a PCI address, netdev or RDMA device, as \"health\" shows "
			  "them");
		return EXIT_FAILURE;
	}
	if (session_open(cmd, &s) < 0)
		return EXIT_FAILURE;
	r = fs_read_all(&s.os.fs, STATE_PATH, MAX_STATE_BYTES, false, &state, NULL);
	if (r >= 0)
		r = output_find_nic(state, cmd->argument, pci, sizeof(pci));
	if (r < 0) {
		log_error("%s: %s", cmd->argument,
			  state ? "no NIC in /" STATE_PATH " has this name: \"rdma-provision "
				  "status\" shows them"
				: "there is no state of this boot: is " UNIT " running?");
		return EXIT_FAILURE;
	}
	if (clear(cmd, &s, pci) < 0)
		return EXIT_FAILURE;
	r = apply_request_look(&s.os.fs);
	if (r < 0 && r != -ESRCH)
		log_warning_errno(r, UNIT " does not know of it until its next pass");
	return EXIT_SUCCESS;
}
