/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cause: why a port is not ACTIVE, as far as links and carriers show it, and the cheaper causes
 * that stand before a catch-all reason. Pure.
 */
#pragma once

#include "../model/plan.h"

/**
 * cause_of_port() - what keeps the port of a device down
 * @nd:     its netdev; NULL: none, or it does not count
 * @port:   its port; NULL: that of its PF
 * @detail: what is known of the port; the cause is appended, if one is seen
 *
 * From what was never asked for to what only the cable can be: the device's own link is down, its
 * PF's is, in switchdev mode its representor is (mlx5e_rep_open() in .../mlx5/core/en_rep.c sets
 * the state of the VF's port), its PF keeps it down, there is no subnet
 * manager, no cable, or no carrier, with what the driver tells of that.
 *
 * Return: what to do about it, or NULL: what REASON_PORT_DOWN advises.
 */
const char *cause_of_port(const struct node *n, const struct pci *pci, const struct netdev *nd,
			  const struct port *port, char *detail, size_t size);

/*
 * pf-sick, no-driver, no-ibdev, port-down, no-gid, no-umad, zero-guid and no-sriov say what is
 * missing, which has many causes. A cause is named only when it is seen: it replaces @detail, and
 * @ret_advice where the advice of its reason does not fit. Return: the reason to report, @of when
 * no cause is seen.
 */
enum reason cause_of_reason(const struct node *n, const struct pci *pci, enum reason of,
			    char *detail, size_t size, const char **ret_advice);

/* Is it a device of iWARP, EFA or usNIC? It has no management datagrams, nor a use for a GUID. */
bool cause_lacks_mad(const struct ibdev *ib);
