/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet: which values the settings we know will have at the kubelet's next start, who says so,
 * and where they could be changed.
 *
 * What will be started is read as systemd reads it (unit.h). A running kubelet's own
 * command line counts where that is not clear, and it is remembered for the next start; where it is
 * clear, the unit tells of the next start and the process only of this one. Without a unit the
 * usual files are looked for, and told by what is in them, never by their name.
 */
#pragma once

#include "../model/kubelet.h"
#include "../os/fs.h"

/* What kubelet-ensure keeps for later, beside what was found. */
struct kubelet_notes {
	char *cmdline; /* owned; of a running kubelet whose unit is not clear; NULL: nothing to keep
			*/
	size_t cmdline_size;
	char version[400]; /* for KUBELET_VERSION_PATH; empty: nothing to keep */
	char running[80];  /* "boot id:PID:start" of the running kubelet; empty: none */
};
void kubelet_notes_done(struct kubelet_notes *n);

/**
 * kubelet_find() - look for the kubelet and its settings
 * @fs:        the node
 * @may_help:  ask the manager helper for what systemd has loaded of the unit, where only that can
 *             (kubelet.is_unasked)
 * @ret:       what was found, always whole: see model/kubelet.h
 * @ret_notes: for kubelet-ensure, which may also run "kubelet --version" where the version counts;
 *             NULL: nothing is run
 *
 * A recorder gets copies that give the same answer with nothing else in them: of a
 * KubeletConfiguration all but staticPodURLHeader, of other files only the flags looked at.
 *
 * Return: 0, or -ENOMEM. What cannot be read or understood is noted in @ret.
 */
int kubelet_find(const struct fs *fs, bool may_help, struct kubelet *ret,
		 struct kubelet_notes *ret_notes);
