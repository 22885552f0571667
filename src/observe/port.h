/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Port: the TCP ports that a driver may want, of this network namespace.
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

/*
 * Fills listening, local_ports and reserved_ports; @n has none of them yet. A socket of IPv6 counts
 * as well: on [::] it has the port of IPv4, too. What other namespaces have is not looked at: there
 * the kernel refuses the load. Return: 0 or -ENOMEM.
 */
int observe_ports(const struct fs *fs, struct node *n);
