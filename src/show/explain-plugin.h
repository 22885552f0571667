/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explain: of the device plugin, from facts to verdict: its file and whether that is written, who
 * starts it, the processes of it and whether they have read the file, what its own rules
 * (lint-rules.h) make of each device, what it exposes, and what to do.
 *
 * Pure.
 */
#pragma once

#include "../model/plan.h"

/**
 * output_explain_plugin() - for people, or as the document of "explain plugin --json"
 * @n: with all processes of the plugin in plugin_processes, when has_processes
 *
 * {
 *   "type", "path", "devices": [ { "pci", "resource" } ], "excluded": [ { "target", "code",
 *       "meaning", "detail", "advice" } ]: as in "check --json"; the last two are empty with
 *       Type=none,
 *   "resources": [ { "resource", "devices" } ]: the pools of "devices", in the order of the file,
 *   "written": the file has what it should have, "waits": code of why it is not written, or "",
 *   "manifest": path of its static pod, "" without one,
 *   "processes_known", "processes": [ { "pid", "command", "container", "since_change": seconds from
 *       the last change of the file to its start, below 0: it has not read it; null: there is no
 *       file } ],
 *   "exposes": how many devices the running configuration comes to,
 *   "code", "meaning", "detail", "advice": what is in the way of that; "" for nothing
 * }
 *
 * Return: 0 or -ENOMEM.
 */
int output_explain_plugin(const struct config *c, const struct node *n, const struct memory *memory,
			  const struct plan *p, bool has_processes, bool is_json, char **ret);
