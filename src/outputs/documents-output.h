/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents: the text of each file of [Output].
 *
 * Pure text. Is not the decision whether a file may be written (outputs/output-plan.c).
 */
#pragma once

#include "../model/plan.h"

/**
 * output_files() - fill plan.outputs
 * @n:   with node.outputs
 * @p:   a finished plan: the files tell of its devices and its state
 *
 * A file that exists stays while the loss of a device is not confirmed yet. The NCCL file exists on
 * a node that is ready or degraded, and stays while a device is in a pod: files that change when
 * pods come and go would be read at the wrong moment. The CDI file appears when the node is ready
 * or degraded, and is gone while no device has a character device.
 */
void output_files(const struct config *c, const struct node *n, struct plan *p);

/*
 * The file for container runtimes, by the specification of the Container Device Interface: YAML,
 * and NULL when there is no device to name. Return: 0 or -ENOMEM.
 *
 * It has a device for each function that is handed out and has a character
 * device, by its PCI address ("rdma-provision.io/rdma=0000:41:00.2"), and one with all of them
 * ("rdma-provision.io/rdma=all"). A device is its uverbs node, its umad node where there is one,
 * and rdma_cm. CDI moves no netdev into a container.
 *
 * Version 0.5.0 is the lowest that allows a name to begin with a digit, so runtimes that know no
 * later one take the file: "Released versions" in SPEC.md of cncf-tags/container-device-interface,
 * requiresV050() in its specs-go/version.go. A file without devices is invalid:
 * (*Spec).validate() in its pkg/cdi/spec.go.
 *
 * A device in a pod that took the RDMA device along ("exclusive") is left out until it is back:
 * nobody else can open it, and its character devices may get another number. So is one that flaps,
 * with Act=exclude.
 */
int cdi_text(const struct node *n, const struct plan *p, char **ret);

/**
 * nfd_text() - the whole file
 * @old:  the file as it is, or NULL: while a device is in a pod, and its port cannot be seen, link
 * layer and rates are taken from there
 *
 * Return: 0 or -ENOMEM.
 */
int nfd_text(const struct config *c, const struct node *n, const struct plan *p, const char *old,
	     char **ret);

/*
 * The whole file, with the last change when one is known: of this pass, or as the file of ours that
 * is there tells it. Return: 0 or -ENOMEM.
 */
int metrics_text(const struct config *c, const struct node *n, const struct plan *p, char **ret);
