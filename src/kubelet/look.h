/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look: what this program tells the others of the kubelet.
 */
#pragma once

#include "../model/config.h"
#include "../model/kubelet-report.h"
#include "find.h"

/**
 * kubelet_look() - what is found, and what is to be done about it
 * @c: the policies that are asked for
 *
 * Edits nothing and runs nothing. The manager helper is asked for what systemd has loaded of the
 * unit where something cannot be done to the kubelet by what its files say.
 *
 * Return: 0, or -ENOMEM.
 */
int kubelet_look(const struct fs *fs, const struct config *c, struct kubelet_report *ret);

/* Was something refused that systemd may know better than the files? It was not asked yet. */
bool kubelet_needs_systemd(const struct kubelet_found *k, const struct kubelet_decision *d);

int kubelet_report_print(const struct kubelet_report *report, char **ret); /* 0 or -ENOMEM */
