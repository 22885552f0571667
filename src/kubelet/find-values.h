/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find values: the half of find.c that reads the kubelet's own files and tells what its settings
 * will be, and all that is read on the way to a struct kubelet. Nobody else includes this file.
 */
#pragma once

#include "find.h"
#include "rancher.h"
#include "sources.h"
#include "unit.h"

struct value_look {
	const struct fs *fs;
	struct unit unit, process; /* process: the pages and arguments of a command line */
	struct flags flags;        /* that count */
	struct rancher rancher;
	struct sources sources;
	uint32_t pid; /* of the running kubelet, or 0 */
	bool is_asking;
};

void find_values_done(struct value_look *l);

/* The file of --config, or a usual one, and the folder of --config-dir. 0 or -ENOMEM. */
int find_values_files(struct value_look *l, struct kubelet_found *k);

/* Fills in the coming values, and where a drop-in of ours would win. The version must be known. */
void find_values(struct value_look *l, struct kubelet_found *k);
