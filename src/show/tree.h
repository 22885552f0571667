/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tree: state.json as a picture that a person reads in ten seconds.
 *
 * Pure text to text. The input may be anything: members that are missing or of another type count
 * as empty, and no control character of it reaches the terminal.
 */
#pragma once

#include "../base/screen.h"

enum tree_view {
	TREE_ALL,
	TREE_PROBLEMS, /* what is not usable or not handed out, and reasons */
	TREE_TOPOLOGY, /* GPUs and NICs as a matrix, as "nvidia-smi topo -m" */
};

/**
 * output_tree() - draw the node
 * @state_json:  the text of output_state()
 * @screen:        rate and driver are left out where the rows are wider
 * @ret:         the text: NUMA node, PF, VF; plugin, kubelet, boots before; reasons with
 * advice
 *
 * A row is: mark, PCI address, ibdev, netdev, driver, state and rate of the first port, and what it
 * is worth: the index and address of its first RoCE v2 GID (IPv4 goes first), the reason code, or
 * how many VFs it has. The marks: "✓" usable, "✗" handed out and not usable, "·" not handed out.
 *
 * Return: 0, -EINVAL for what is no such text, -ENOMEM.
 */
int output_tree(const char *state_json, enum tree_view view, const struct screen *screen,
		char **ret);
