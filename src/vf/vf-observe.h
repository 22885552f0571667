/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vf: what is known of VFs beside their functions: what their PF's driver tells of them, and what
 * we left half done.
 */
#pragma once

#include "../model/question.h"
#include "../os/os.h"

/*
 * Fills vf_infos and has_silent_vfs (live roots only; a captured one has them in its answers),
 * is_recorded and is_switched of PFs, and is_random_mac of the netdevs of VFs. Needs functions and
 * netdevs.
 *
 * Return: 0 or -errno. A driver that does not answer for its VFs leaves nothing of them.
 */
int observe_vfs(struct os *d, struct node *n, const struct memory *memory);

/* QUESTION_PCIE: node.vf_owners, also in a copy; no capture has them. Return: 0 or -ENOMEM. */
int observe_vf_owners(const struct fs *fs, const struct questions *q, struct node *n);
