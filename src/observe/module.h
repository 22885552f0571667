/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module: the kernel modules that matter: those of the RDMA character devices, and those that the
 * modalias of an unbound function asks for.
 */
#pragma once

#include "../doors/doors.h"
#include "../model/node.h"

/* The modules behind uverbs*, rdma_cm and umad*, which every plugin needs. */
extern const char *const rdma_modules[3];

/* Fills node.modules and the module of every unbound function in node.pcis. */
int observe_modules(struct doors *d, struct node *n);
