/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actions: the plan as people and programs read it, in the order of execution.
 *
 * Only the plan before it is run: the journal and state.json have the results.
 */
#pragma once

#include "../model/plan.h"

/**
 * output_actions_json() - the document of "plan --json"
 * @p:    the plan
 * @ret:
 * {"actions":[{"step","verb","target","subject","from","to","class","code","advice","detail"}]},
 * one action on each line; "subject" only where the target has several of a kind; "from" and "to"
 * are numbers where the verb counts something and there is one, otherwise text, empty when not
 * meant; "target" is empty for the whole node
 *
 * Return: 0, or -ENOMEM.
 */
int output_actions_json(const struct plan *p, char **ret);

/**
 * output_actions_text() - one line for each action, hints below a heading, and how many there are
 * @p:    the plan
 * @ret:  "0000:41:00.0: set-num-vfs 0 -> 4" for a change; what is none goes on with its class and
 * code, and has its meaning, detail and advice below it, as a hint, which is no item of the plan:
 * status tells it, too. Where VFs are made, a line says what follows. The last line is "1 change
 * now, 4 VFs later". Without control characters
 *
 * Return: 0, or -ENOMEM.
 */
int output_actions_text(const struct plan *p, char **ret);

/**
 * output_impossible() - the last line of "check" and "set" when what was asked for cannot be had
 * @ret: "1 change is impossible: 0000:41:00.0: set-num-vfs: ...", with the first of them; owned by
 * the caller; NULL: none is
 *
 * Return: 0, or -ENOMEM.
 */
int output_impossible(const struct plan *p, char **ret);
