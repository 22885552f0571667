/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Config: what was asked for. Plain data, filled by config/ and read by everybody.
 *
 * Every field says "leave it alone" when zero.
 */
#pragma once

#include "../base/util.h"
#include "outputs.h"
#include "qos.h"

enum vf_mode {
	VF_MODE_KEEP,
	VF_MODE_EXCLUSIVE,    /* no VFs: the PF itself is handed out */
	VF_MODE_SHARED,       /* exactly one VF for each PF */
	VF_MODE_SHARED_MULTI, /* Count= VFs for each PF */
	_VF_MODE_N
};

enum driver_mode {
	DRIVER_MODE_KEEP,    /* drivers and their parameters are left alone */
	DRIVER_MODE_AUTO,    /* ofed where an NVIDIA GPU and its stack are, else default */
	DRIVER_MODE_DEFAULT, /* eRDMA: compat_mode=N */
	DRIVER_MODE_COMPAT,  /* eRDMA: compat_mode=Y */
	DRIVER_MODE_OFED,    /* eRDMA: compat_mode=Y; others must be of an OFED/DOCA stack */
	_DRIVER_MODE_N
};

enum peermem_mode {
	PEERMEM_AUTO, /* where the driver mode in force asks for it and a GPU is there */
	PEERMEM_YES,
	PEERMEM_NO,
	_PEERMEM_N
};

enum trust {
	TRUST_KEEP,
	TRUST_OFF,
	TRUST_ON,
	_TRUST_N
};

enum identity {
	IDENTITY_DERIVED, /* an unset admin MAC or GUID of a VF is derived from its PF's */
	IDENTITY_KEEP,
	_IDENTITY_N
};

enum netns_mode {
	NETNS_MODE_KEEP,
	NETNS_MODE_SHARED,
	NETNS_MODE_EXCLUSIVE,
	_NETNS_MODE_N
};

enum address_mode {
	ADDRESS_EXISTING, /* what the NICs have; the gateway is that of their own default route */
	ADDRESS_METADATA, /* what the cloud's metadata service says of each NIC's MAC */
	ADDRESS_STATIC,   /* StaticAddress= and Gateway= of the NIC's section */
	_ADDRESS_MODE_N
};

enum policy_rules {
	POLICY_RULES_AUTO, /* with several RDMA NICs, or where main would pick another NIC */
	POLICY_RULES_YES,
	POLICY_RULES_NO,
	_POLICY_RULES_N
};

enum ipv6_mode {
	IPV6_NO,
	IPV6_RA, /* an address by router advertisements, kept stable */
	_IPV6_MODE_N
};

enum smc_mode {
	SMC_NO,
	SMC_AUTO, /* in driver mode default, where the kernel has it */
	SMC_YES,
	_SMC_N
};

enum pnetid_mode {
	PNETID_AUTO, /* the MAC of each netdev */
	_PNETID_N
};

enum topology_policy { /* in order of strictness */
	TOPOLOGY_POLICY_UNSET,
	TOPOLOGY_POLICY_NONE, /* never asked for, but met in kubelet files */
	TOPOLOGY_POLICY_BEST_EFFORT,
	TOPOLOGY_POLICY_RESTRICTED,
	TOPOLOGY_POLICY_SINGLE_NUMA_NODE,
	_TOPOLOGY_POLICY_N
};

enum topology_scope { /* in order of strictness */
	TOPOLOGY_SCOPE_UNSET,
	TOPOLOGY_SCOPE_CONTAINER,
	TOPOLOGY_SCOPE_POD,
	_TOPOLOGY_SCOPE_N
};

enum cpu_policy {
	CPU_POLICY_UNSET,
	CPU_POLICY_NONE, /* never asked for, but met in kubelet files */
	CPU_POLICY_STATIC,
	_CPU_POLICY_N
};

enum gate_mode {
	GATE_OFF,
	GATE_DEGRADED,
	GATE_STRICT,
	_GATE_N
};

enum plugin_type {
	PLUGIN_NONE,
	PLUGIN_RDMA_SHARED, /* k8s-rdma-shared-dev-plugin */
	PLUGIN_SRIOV,       /* sriov-network-device-plugin */
	PLUGIN_HCA,         /* k8s-rdma-sriov-dev-plugin in its mode "hca", which selects nothing */
	PLUGIN_DRANET,      /* dranet, a DRA driver: finds devices itself, reads no file */
	PLUGIN_DRA_SRIOV,   /* dra-driver-sriov: the same, of virtual functions */
	_PLUGIN_N
};

#define RESOURCE_LEN 128        /* "rdma/hca" */
#define HCA_RESOURCE "rdma/hca" /* the only one of PLUGIN_HCA */
#define HCA_SHARES   1000       /* of it: RdmaHcaMaxResources in its server.go */
#define PATH_LEN     256        /* of files that settings name */

#define LOSSES_MAX 16 /* of Flap=, and as many are remembered with their times */

enum health_act {
	HEALTH_ACT_NONE,
	HEALTH_ACT_EXCLUDE, /* a device that flaps is left out of the plugin's file */
	_HEALTH_ACT_N
};

/* So many losses of a link, all of them within this time. */
struct flap {
	uint32_t count; /* 0: not looked at */
	uint64_t usec;
};

enum require_address {
	REQUIRE_ADDRESS_AUTO, /* as [Route] Manage= */
	REQUIRE_ADDRESS_YES,
	REQUIRE_ADDRESS_NO,
	_REQUIRE_ADDRESS_N
};

#define COUNT_UNSET 0                /* Count= was not given */
#define COUNT_MAX   (UINT32_MAX - 1) /* Count=max */
#define COUNT_LEAVE UINT32_MAX       /* of a plan: the number of VFs is left as it is */

#define NODE_NIC_LEN 512

/* An address with the length of its prefix. */
struct ip {
	int family;        /* AF_INET, AF_INET6; 0: none */
	uint8_t bytes[16]; /* network order, 4 bytes for AF_INET */
	uint32_t prefix_len;
};

/* A [Device NAME] section, the defaults of [Device] already in it. */
struct device_config {
	char name[64];
	char *match; /* owned; blank-separated globs, or NULL: matches nothing */
	enum vf_mode mode;
	uint32_t count;   /* VFs for each PF, COUNT_UNSET or COUNT_MAX */
	uint32_t mtu;     /* bytes, 0: leave alone */
	enum trust trust; /* of the VFs */
	enum identity identity;
	char resource[RESOURCE_LEN]; /* empty: that of [DevicePlugin] */
	enum require_address require_address;
	struct ip address; /* with [Route] Address=static; of the one NIC that matches */
	struct ip gateway; /* prefix_len is of no meaning */
	uint32_t expect;   /* PFs that must appear before the node is ready */
};

struct config {
	struct {
		enum driver_mode mode;
		enum peermem_mode peermem;
		uint32_t reserve_ports_base; /* first of 16 TCP ports; 0: the driver's own, 30608 */
	} driver;
	struct {
		enum netns_mode netns_mode;
	} rdma;
	struct device_config *devices; /* owned, in the order of the files: the first match wins */
	size_t n_devices;
	struct {
		bool manage;
		uint32_t metric;
		enum policy_rules rules;
		enum address_mode address;
		enum ipv6_mode ipv6;
	} route;
	struct {
		enum smc_mode enable;
		enum pnetid_mode pnetid;
	} smc;
	struct {
		enum topology_policy topology_policy;
		enum topology_scope topology_scope;
		enum cpu_policy cpu_policy;
		enum gate_mode gate;
		char label_file[PATH_LEN]; /* absolute; empty: none */
	} kubelet;
	struct {
		enum plugin_type type;
		char resource[RESOURCE_LEN]; /* "rdma/hca" */
		uint32_t shares;
		char config_file[PATH_LEN]; /* absolute, below /run */
		char manifest[PATH_LEN];    /* absolute; empty: no static pod */
		char image[PATH_LEN];       /* of that pod */
	} plugin;
	struct {
		char paths[_OUTPUT_N][PATH_LEN]; /* absolute; empty: not written */
	} output;
	struct {
		struct flap flap;
		uint64_t drop_usec, quiet_usec; /* drop_usec 0: not looked at */
		enum health_act act;
	} health;
	struct {
		enum trust_mode trust;
		char pfc[QOS_PFC_LEN], ets[QOS_ETS_LEN], dscp[QOS_DSCP_LEN]; /* qos.h */
		char tos[QOS_TOS_LEN];                                       /* "106" */
		enum roce_mode mode;
	} qos;
	struct {
		uint64_t ready_timeout_usec, settle_usec;
		char node_nic[NODE_NIC_LEN]; /* "auto", "none", or globs as in Match=; "": auto */
	} service;

	char hash[17];     /* of the merged text, hex */
	bool is_one_file;  /* of --config: no other process reads that */
	bool is_invalid;   /* the files are malformed: this is the last good one, or empty */
	bool has_unknown;  /* a key or section this version does not know was skipped */
	char problem[512]; /* the first error or unknown key, as shown to the user */
	char ignored[320]; /* a file below /run, which is not read; "" for none */
};

void config_done(struct config *c);

/* Does [Health] ask for what becomes of links? */
bool config_watches_links(const struct config *c);
bool config_has_kubelet_policy(const struct config *c); /* is one of them asked for? */

const char *driver_mode_name(enum driver_mode m);
const char *peermem_mode_name(enum peermem_mode m);
const char *trust_name(enum trust t);
const char *identity_name(enum identity i);
const char *require_address_name(enum require_address r);
const char *vf_mode_name(enum vf_mode m);
const char *netns_mode_name(enum netns_mode m);
const char *policy_rules_name(enum policy_rules p);
const char *address_mode_name(enum address_mode a);
const char *ipv6_mode_name(enum ipv6_mode i);
const char *smc_mode_name(enum smc_mode s);
const char *pnetid_mode_name(enum pnetid_mode p);
const char *topology_policy_name(enum topology_policy p);
const char *topology_scope_name(enum topology_scope s);
const char *cpu_policy_name(enum cpu_policy p);
const char *gate_mode_name(enum gate_mode g);
const char *plugin_type_name(enum plugin_type t);
bool plugin_has_file(enum plugin_type t); /* it reads one that we write */
bool plugin_gives_vfs(
	enum plugin_type t); /* a CNI moves them into a pod, and brings them up there */
bool plugin_moves_netdev(enum plugin_type t); /* into the pod that gets the device */
const char *health_act_name(enum health_act a);
