/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output: the files of [Output], after everything else: they tell of the plan that was made.
 *
 * Pure. Nobody waits for them, and they change no state when they cannot be written.
 */
#pragma once

#include "../model/plan.h"

/**
 * plan_outputs() - add what has to become of the files
 * @n:      with node.outputs and node.output_records
 * @p:      a finished plan, with plan.outputs (of outputs/documents-output.h)
 *
 * While there are other changes to make, files are only named as what comes last; but one that an
 * earlier boot left, and that says the node is ready, is replaced before them. A file that
 * another program wrote is refused. One that was written by us and is not asked for any more is
 * removed, and so are the NCCL and the CDI file when there is nothing to write: old text would be
 * wrong.
 *
 * Return: 0 or -ENOMEM.
 */
int plan_outputs(const struct config *c, const struct node *n, const struct memory *memory,
		 struct plan *p);
