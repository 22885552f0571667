/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Way facts: the places that the node must reach, by which netdev a packet leaves, and its sockets.
 */
#pragma once

#include "node.h"

#define LOOKUP_HOPS 16

/* A question to the kernel, RTM_GETROUTE, and its answer: by which netdev does this packet leave?
 */
struct lookup {
	int family;
	uint8_t dst[16];
	uint8_t address[16]; /* as source; all zero: none */
	uint32_t ifindex; /* of the NIC that is meant; without a source the output device: 0: any */
	uint32_t mark;    /* of the packet, 0: none */

	int result;         /* 0 or -errno; -ENODATA: not asked, and it could not be computed */
	uint32_t found;     /* ifindex that it would leave by */
	uint8_t source[16]; /* that the packet would have; all zero: not told */
	/* The route that matched (RTM_F_FIB_MATCH), where a destination is asked about: */
	uint32_t hops[LOOKUP_HOPS]; /* ifindex of each next hop */
	size_t n_hops;
	uint8_t gateway[16]; /* of the first next hop; all zero: none */
	uint8_t protocol;    /* RTPROT_* */
	uint32_t prefix_len;
};

/* A place that the node must reach, or the other end of a tunnel by which it reaches one. */
enum destination_to {
	TO_DEFAULT, /* an address that only default routes lead to */
	TO_VRF,     /* the same, with the VRF as output device */
	TO_API_SERVER,
	TO_NAME_SERVER,
	TO_STORAGE,    /* of the root file system, and those that kubelet and runtime live on */
	TO_TUNNEL_END, /* the remote end of a tunnel that a packet to one of the others leaves by */
	_TO_N
};

struct destination {
	enum destination_to to;
	char words[160]; /* where it comes from: "API server, /etc/kubernetes/kubelet.conf" */
	struct lookup lookup;
};

/* The remote end of a tunnel: of a WireGuard device one for each peer that has an endpoint. */
struct tunnel_end {
	uint32_t ifindex; /* of the tunnel */
	int family;
	uint8_t remote[16];
	uint32_t mark; /* that its own packets have, 0: none */
};

/* A line of /etc/hosts that has the name of the node, or of a place it must reach. */
struct host {
	char name[HOST_NAME_LEN];
	int family;
	uint8_t address[16];
	uint32_t line; /* from 1 */
};

/* A TCP or UDP socket of the host that is bound to one address or netdev, or connected. */
struct sock {
	int family;
	uint8_t protocol;              /* IPPROTO_TCP, IPPROTO_UDP */
	uint8_t local[16], remote[16]; /* all zero: any, or not connected */
	uint16_t local_port, remote_port;
	uint32_t ifindex; /* of SO_BINDTODEVICE; 0: none */
	bool is_listening;
	uint64_t inode;   /* 0: not told */
	uint32_t pid;     /* of a process that has it; 0: not known, or the kernel's own */
	char command[32]; /* of that */
};

/* A network namespace that has a name, other than our own: step/observers.h. */
struct netns {
	uint64_t inode; /* 0: not known */
	char name[64];  /* of its file below /run/netns, else the path */
	bool is_closed; /* its links are not known: which functions they use is not known either */
};

const char *destination_to_name(enum destination_to to); /* "api-server" */
