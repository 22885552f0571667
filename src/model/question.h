/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Question: facts that cost too much to be read at each look. A plan that depends on them asks for
 * them; they are read into the node, and the plan is made again.
 */
#pragma once

#include "node.h"

enum question {
	QUESTION_USERS,       /* who uses what: node.users, node.socks */
	QUESTION_SOCKS,       /* which addresses do sockets of the host use? node.socks */
	QUESTION_VERBS,       /* can libibverbs open these RDMA devices? ibdev.verbs */
	QUESTION_LOOKUPS,     /* by which netdev would these packets leave? node.lookups */
	QUESTION_DCB,         /* what do the ports of these PFs do with priorities? node.dcbs */
	QUESTION_PCIE,        /* what are the PCIe links of these PFs? pci.link; for hints alone */
	QUESTION_LINK_DOWNED, /* how often did these PFs lose their link? ibdev.link_downed */
	QUESTION_NETNS_MODE,  /* of the RDMA subsystem, where nothing else is looked at */
	_QUESTION_N
};

struct questions {
	uint32_t set;              /* 1 << enum question */
	char (*ibdevs)[IBDEV_LEN]; /* owned; of QUESTION_VERBS: their names */
	size_t n_ibdevs;
	struct lookup *lookups; /* owned; of QUESTION_LOOKUPS: result and found are empty */
	size_t n_lookups;
	/* Owned; of the three that name PFs, each once: nothing is read of other functions.
	 */
	char (*functions)[PCI_LEN];
	size_t n_functions;
};

void questions_done(struct questions *q);
int questions_add_function(struct questions *q, const char *pci); /* 0 or -ENOMEM */
bool questions_name(const struct questions *q, const char *pci);
bool questions_ask(const struct questions *q, enum question question);
