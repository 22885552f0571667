/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files: what is to stand in each file of [Output].
 *
 * Pure text. Is not the decision whether a file may be written (plan/output-plan.c).
 */
#pragma once

#include "../model/plan.h"

/**
 * output_files() - fill plan.outputs
 * @n:   with node.outputs; @memory: with memory.last_change
 * @p:   a finished plan: the files tell of its devices and its state
 *
 * What is there stays while the loss of a device is not confirmed yet. The NCCL file is of a node
 * that is ready or degraded, and stays while a device is in a pod: files that change when pods come
 * and go would be read at the wrong moment. The CDI file appears when the node is ready or
 * degraded, and is gone while no device has a character device.
 *
 * Return: 0 or -ENOMEM.
 */
int output_files(const struct config *c, const struct node *n, const struct memory *memory,
		 struct plan *p);
