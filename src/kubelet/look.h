/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look: what this program tells the others of the kubelet, and keeps for them.
 */
#pragma once

#include "../model/kubelet-report.h"
#include "../os/stamps.h"
#include "find.h"

/**
 * kubelet_look() - what is found, and what is to be done about it
 * @c:          the policies that are asked for
 * @ret_stamps: of all that was read; is_useless where the report cannot be kept
 *
 * Edits nothing and runs nothing. The manager helper is asked for what systemd has loaded of the
 * unit where something cannot be done to the kubelet by what its files say.
 *
 * Return: 0, or -ENOMEM.
 */
int kubelet_look(const struct fs *fs, const struct config *c, struct kubelet_report *ret,
		 struct stamps *ret_stamps);

/* Was something refused that systemd may know better than the files? It was not asked yet. */
bool kubelet_needs_systemd(const struct kubelet_found *k, const struct kubelet_decision *d);

/* The same root, whose files are stamped where a report may be kept. */
struct fs kubelet_stamped(const struct fs *fs, struct stamps *stamps);

struct kubelet_report kubelet_report_make(const struct config *c, const struct kubelet_found *k,
					  const struct kubelet_decision *d);

/*
 * Replaces KUBELET_REPORT_PATH: the caller has the lock. With useless stamps the report that is
 * there stays: its own stamps tell what it is worth. Return: 1 when written, 0 or -errno.
 */
int kubelet_report_keep(const struct fs *fs, const struct kubelet_report *report,
			const struct stamps *stamps);

int kubelet_report_print(const struct kubelet_report *report, char **ret); /* 0 or -ENOMEM */
