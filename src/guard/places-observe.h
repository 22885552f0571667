/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places: what the node must reach, as files tell it, by which names it is known, and by which
 * netdev it reaches them: observe_destinations_ask() in step/observers.h.
 *
 * node.destinations get the servers of the kubelet's kubeconfigs (node.kubelet.servers), name
 * servers, what the file systems of the node come from, and the servers of other mounts
 * (storage-observe.c). /etc/hosts alone tells what a name is; DNS is never asked. An address on the
 * loopback, such as the proxy of kubespray or k3s, is no destination: node.kubelet.servers has the
 * words.
 *
 * Name servers: /etc/resolv.conf, and where that names a stub on the loopback address, the servers
 * behind it, as resolved and NetworkManager write them: systemd-resolved.service(8),
 * NetworkManager.conf(5) "rc-manager". An IPv6 link-local one is left out: a router advertises it,
 * and each rail may have its own.
 *
 * An address that the last boot needed a function for is asked as well, for a mount that comes
 * later.
 *
 * No file tells, and is added when the kernel is asked: for each family, and for each VRF that has
 * a default route of it, an address that only default routes lead to; and the other ends of each
 * tunnel that an answer leads into, or that the kubelet's address is on. A WireGuard packet has the
 * mark of its device, and one of a tunnel with a device is bound to that.
 */
#pragma once

#include "../model/route-facts.h"
#include "../os/fs.h"

struct memory;

/*
 * Appends to node.destinations: to, words and the question, with the result -ENODATA, for whoever
 * asks the kernel. Where a file names the device itself (ip= on the command line, the zone of an
 * address, host_iface= of NVMe), nothing is to be asked: lookup.family is AF_UNSPEC, result 0,
 * and found and the one of hops are that netdev. Of a disk below a function they are 0, and pci is
 * that function. Of storage and mounts from a place that nothing tells there is one each, with the
 * result -EDESTADDRREQ.
 *
 * Fills host_name and hosts as well: the lines with the node's name, which is --hostname-override
 * or the host name, in lower case, as the kubelet asks for it (GetHostname() in pkg/util/node), and
 * those with the name of a server. Wants netdevs, addresses, kubelet and memory.boots. A recorder
 * gets of each file the lines that are read.
 */
void observe_places(const struct fs *fs, struct node *n, const struct memory *memory);

/* --- between this and storage-observe.c --- */

struct places {
	const struct fs *fs;
	struct node *n;
	char *hosts;  /* owned; /etc/hosts; NULL: it cannot be read */
	bool is_rdma; /* what is added now is reached over RDMA */
};

/* @host: an address, with a zone or without, or a name. Return: is its address known? */
bool places_add(struct places *p, enum destination_to to, const char *host, const char *words);
/* A place that nothing tells the address of. */
void places_add_unnamed(struct places *p, enum destination_to to, const char *words);
/* The device itself; NULL: there is none. */
void places_add_device(struct places *p, enum destination_to to, const struct netdev *nd,
		       const char *words);
const struct netdev *places_netdev(const struct places *p, const char *name); /* or NULL */

/* Appends to node.destinations. */
void storage_add(struct places *p);
