/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ensure: the verb kubelet-ensure, which runs before every start of the kubelet. As loop.c does for
 * the node, it observes, plans, edits and observes again.
 *
 * It starts and restarts nothing, and lowers no value but its own. A finished node is only read.
 */
#pragma once

#include "../model/config.h"
#include "find.h"

struct kubelet_result {
	struct kubelet_decision decision; /* as found in the end; what was changed is so noted */
	struct kubelet_found kubelet;     /* as found in the end */
};

/**
 * kubelet_ensure() - make sure of what the configuration asks for
 * @fs:  the node, or a folder: there files are edited just the same, and nothing is run
 * @c:   what is asked for; where that is nothing, no file is even read
 * @ret: what came of it
 *
 * When another program writes a file meanwhile, the edit is tried again, a few times at most. An
 * edit that did not have the effect it was made for is taken back, and the next way is tried.
 * Before an edit it is noted in KUBELET_RECORD_PATH what was there.
 *
 * On the running system the report of its last look is kept for the service.
 *
 * Return: 0, or -errno with every file still whole: -ENOMEM, -ENOSPC, -EIO.
 */
int kubelet_ensure(const struct fs *fs, const struct config *c, struct kubelet_result *ret);
