/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Node: what the kernel and files show, and beside it what this service remembers.
 *
 * Plain data: names are stored by value because the kernel bounds their length; arrays are owned
 * and sorted by their first field, so that the same node always gives the same struct.
 */
#pragma once

#include "../base/text-index.h"
#include "config.h"
#include "kubelet.h"
#include "ledger.h"
#include "reason.h"
#include "verb.h"

#define PCI_LEN    20 /* "0000:3b:00.0"; domains of 8 digits fit */
#define IFNAME_LEN 16 /* IFNAMSIZ */
#define IBDEV_LEN  64 /* IB_DEVICE_NAME_MAX */
#define MODULE_LEN 64 /* MODULE_NAME_LEN is 64 minus a pointer */
#define MAC_LEN    64 /* "aa:bb:..."; 20 bytes for IPoIB; MAX_ADDR_LEN is 32, not in use */

/* A PCIe link, or what one of its ends can do; 0: not told. */
struct pcie {
	uint32_t speed; /* megatransfers a second and lane: 16000 for "16.0 GT/s PCIe" */
	uint32_t width; /* lanes */
};

#define CLASS_ETHERNET   0x0200 /* pci.class >> 8 */
#define CLASS_INFINIBAND 0x0207

/* A PCI function that is not a bridge. */
struct pci {
	char address[PCI_LEN];
	uint16_t vendor, device;
	uint32_t class;          /* 24 bits, 0x020000: Ethernet */
	int numa_node;           /* -1: none told */
	char driver[MODULE_LEN]; /* bound to; empty: unbound */
	char modalias[128];      /* "pci:v00008086d..." */
	char module[MODULE_LEN]; /* that libkmod finds for the modalias; only looked up when
				    unbound, of VFs with another driver than their PF, and of NICs
				    without netdev and RDMA device here */
	char physfn[PCI_LEN];    /* of a VF: its PF; empty: no VF */
	uint32_t vf_index;       /* of a VF: N of its virtfnN */
	bool has_sriov;          /* sriov_totalvfs is there */
	uint32_t total_vfs;      /* sriov_totalvfs */
	bool is_management;      /* a NIC that manages NVSwitches: pci-observe.h */
	uint32_t num_vfs;    /* virtfn* links: reading sriov_numvfs waits for a write in flight */
	bool has_silent_vfs; /* its driver was asked for them and told nothing of any */
	bool has_autoprobe;  /* sriov_drivers_autoprobe is there */
	bool autoprobe;      /* its value */
	bool is_recorded;    /* our record says that we switched autoprobe off, in any boot */
	bool is_switched;    /* the same, in this boot */
	char unreadable[64]; /* attributes that cannot be read, and why: "sriov_totalvfs: ...";
				empty: all can */
	char health[64];  /* devlink health reporters in error state, "fw fw_fatal"; empty: none */
	char eswitch[16]; /* devlink eswitch mode: "legacy", "switchdev"; empty: not told */
	/* These are only known of PFs: limits-observe.h. */
	struct pcie link, max_link; /* as it is, and as the card could have it */
	struct pcie max_slot;       /* as the port above it could */
	uint32_t n_aer;             /* errors that the kernel counted, but for corrected ones */
	/* On nodes with a GPU, of GPUs and NICs: the root port above it, empty: not told. Functions
	 * below one root port are below one PCIe switch, or are one card. */
	char root_port[PCI_LEN];
	char iommu[16]; /* type of its IOMMU group: "DMA", "DMA-FQ", "identity"; empty: none */
	/*
	 * These tell that a VF is of another program: in-use.h. The override is only read while the
	 * VF is unbound, since the read waits for a driver that is being bound: device_lock() in
	 * driver_override_show(), drivers/pci/pci-sysfs.c.
	 */
	char driver_override[MODULE_LEN]; /* empty: none, or bound */
	bool has_other_driver; /* bound to another driver than the one its modalias resolves to */
	char vdpa[32];         /* a vDPA device made of it, "vdpa0"; empty: none */
	/*
	 * Another one after the function was plugged in, made or bound again: the number of the
	 * link to its driver in sysfs, while it is unbound that of the function itself. They are
	 * not used twice in a boot: __kernfs_new_node() in fs/kernfs/dir.c. 0: not known.
	 */
	uint64_t instance;
	bool is_busy; /* a write of ours to it goes on: its driver is not asked for anything */
	/* On a running system: the function is a VF, or a PF of InfiniBand, that had a netdev and
	 * has none any more, in no namespace. */
	bool is_without_netdev;
	/* The function lacks its netdev or RDMA device here: was its folder asked whether that is
	 * in another network namespace, and is it? */
	bool is_searched, is_away;
	/* The auxiliary device by which the driver of a bond's port offers RDMA,
	 * "mlx5_core.rdma.1", is there, and has a driver, the module of RDMA: pci-observe.h. */
	bool has_adev, is_adev_bound;
	bool has_config; /* of a tree: the function has its file "config", as when all was copied */
	uint32_t cni_pid; /* of the CNI plugin at work on it: guard/signs-observe.c; 0: none */
};

/* Do VFs of a driver, or of a PF, have RDMA? */
enum vf_rdma {
	VF_RDMA_UNKNOWN,
	VF_RDMA_YES,
	VF_RDMA_NO,
};

/* The module that makes the RDMA devices of a driver's functions. */
struct rdma_part {
	const char *driver, *module; /* the same where one module does both */
	enum vf_rdma of_vfs;
};

const struct rdma_part *rdma_part_of(const char *driver); /* NULL: none is known */

/* How near two functions are to each other. */
enum nearness {
	NEARNESS_NONE, /* or not told */
	NEARNESS_NUMA_NODE,
	NEARNESS_SWITCH,
	_NEARNESS_N
};

#define ERDMA_MODULE "erdma"
const char *pci_driver(const struct pci *pci); /* unbound: the module that would be its driver */
bool pci_is_erdma(const struct pci *pci); /* 1ded:107f, or of the driver of that name; NULL: no */
bool pci_lacks_netdev(const struct pci *pci); /* its driver makes RDMA devices alone */
bool pci_is_vf(const struct pci *pci);        /* of a PF here, or by its id: of one of the host */
bool pci_is_for_vfs(const struct pci *pci);   /* its driver uses it to make VFs alone */
bool pci_is_network(const struct pci *pci);   /* class 02xx, InfiniBand as well; not eRDMA */
bool pci_is_gpu(const struct pci *pci);       /* or another accelerator: by class and vendor */
enum nearness pci_nearness(const struct pci *a, const struct pci *b);
const char *nearness_name(enum nearness n); /* "switch", "numa_node", "" */

#define HOST_NAME_LEN 254

#define BOND_MODE_UNKNOWN (-1)

/* Settings of one netdev below /proc/sys/net/ipv4/conf and ipv6/conf, in enum netconf_key. */
enum netconf_key {
	NETCONF_ARP_IGNORE,
	NETCONF_ARP_ANNOUNCE,
	NETCONF_RP_FILTER,
	NETCONF_DISABLE_IPV6,
	NETCONF_ACCEPT_RA,
	NETCONF_ACCEPT_RA_DEFRTR,
	NETCONF_ACCEPT_RA_PINFO,
	NETCONF_AUTOCONF,
	NETCONF_ADDR_GEN_MODE,
	NETCONF_USE_TEMPADDR,
	NETCONF_RA_DEFRTR_METRIC, /* since 5.12 */
	_NETCONF_N
};

struct netconf {
	/* The value is valid where the bit 1 << key is set; all are int to the kernel. */
	uint32_t known;
	int32_t values[_NETCONF_N];
};

struct netdev {
	uint32_t ifindex;
	char name[IFNAME_LEN];
	char pci[PCI_LEN];         /* its function; empty: virtual, or of a scalable function */
	char scalable_of[PCI_LEN]; /* the function its scalable function was made of; else empty */
	char mac[MAC_LEN];
	char perm_mac[MAC_LEN];     /* IFLA_PERM_ADDRESS; empty: not told */
	char port_name[IFNAME_LEN]; /* IFLA_PHYS_PORT_NAME: "p0"; empty: not told */
	char kind[16];              /* IFLA_INFO_KIND: "bond", "team", "vlan"; empty: plain */
	struct netconf conf;
	/* IFLA_BOND_MODE of a bond, 0 to 6; BOND_MODE_UNKNOWN: not told, or a team, whose runner
	 * only teamd knows. */
	int bond_mode;
	uint32_t mtu, max_mtu; /* bytes; max_mtu 0: not told */
	uint32_t master;       /* ifindex, 0: none */
	uint32_t link;         /* ifindex of what it is stacked on (IFLA_LINK), 0: none or itself */
	uint32_t netns;        /* of node.aways: 1 + the number of its namespace in node.netnses */
	bool is_link_here; /* of node.aways: link is an ifindex of this namespace, not of its own */
	bool has_device;   /* it is no virtual one: hardware, of PCI or not */
	bool has_pppoe;    /* a PPPoE session leaves by it */
	uint32_t vrf_table;   /* of a VRF: IFLA_VRF_TABLE */
	uint32_t inet6_flags; /* IFLA_INET6_FLAGS: a router solicitation is out, or answered */
	/* A program is at work on its addresses, by guard/signs-observe.c; empty: none */
	char sign[96];
	bool is_unnamed;        /* udev has yet to name it; only looked up with a function */
	bool is_random_mac;     /* addr_assign_type is NET_ADDR_RANDOM; only looked up of VFs */
	bool is_up;             /* IFF_UP */
	bool has_carrier;       /* IFF_LOWER_UP */
	uint32_t carrier_downs; /* times that carrier was lost, for any reason */
	char altnames[192];     /* blank-separated; of at most SHOWN_LEN - 1 letters each */
	/* Driver's words on a PF's netdev that is up without carrier: os/ethtool.h; empty: none */
	char link_state[24];
};

#define LINK_NO_CABLE "no-cable" /* ETHTOOL_LINK_EXT_STATE_NO_CABLE */

/* The losses of a PF's link while it was to be up: health/flap-plan.c. */
struct link_losses {
	uint32_t n;      /* since the device was usable first in this boot */
	uint32_t n_back; /* how many of them were over at the last look: the same, or one less */
	struct moment {
		uint64_t usec; /* CLOCK_MONOTONIC */
		int64_t sec;   /* CLOCK_REALTIME */
	} last[LOSSES_MAX];    /* of those that clear did not drop, the last, oldest first */
	size_t n_last;
	/* Losses count from here on; 0: of no link yet. Without a netdev: of an RDMA device. */
	uint32_t ifindex, carrier_downs;
	uint64_t seen_usec;  /* of the last announcement that was looked at */
	uint64_t grace_usec; /* until then losses are of our own changes */
	uint64_t back_usec;  /* carrier came back then */
};

/* The DCB settings for priorities on a PF's port: the texts are those of qos.h. */
struct dcb {
	uint32_t ifindex;
	uint32_t dcbx; /* DCB_CAP_DCBX_*; HOST where the driver has no words for it */
	char pfc[QOS_PFC_LEN], ets[QOS_ETS_LEN], dscp[QOS_DSCP_LEN];
};

struct gid {
	uint32_t index;
	char gid[40];            /* "fe80:0000:...", as in sysfs */
	char type[16];           /* "RoCE v2", "IB/RoCE v1" */
	char netdev[IFNAME_LEN]; /* of gid_attrs/ndevs; empty: not readable here */
};

struct port {
	uint32_t number;
	char state[16];      /* "ACTIVE", "DOWN": the word of sysfs' "4: ACTIVE" */
	char link_layer[16]; /* "Ethernet", "InfiniBand" */
	char rate[48];       /* "400 Gb/sec (4X NDR)" */
	struct gid *gids;    /* owned; only those that are not zero */
	size_t n_gids;
	/* The defaults of rdma_cm for connections over RoCE: os/rdma.h; empty: not shown. */
	char roce_tos[QOS_TOS_LEN], roce_mode[16]; /* "106", "RoCE v2" */
	char phys_state[32]; /* "Polling"; only of InfiniBand that is not ACTIVE */
	bool is_manager;     /* of InfiniBand: a subnet manager has it open */
};

struct ibdev {
	char name[IBDEV_LEN];
	uint32_t index;    /* RDMA_NLDEV_ATTR_DEV_INDEX: stable over renames, unique in a boot;
			      UINT32_MAX: not known */
	char pci[PCI_LEN]; /* of its device link, or as device/rdma-observe.h says; of a virtual
			      one that of its netdev */
	bool is_virtual;   /* its device link names no PCI function: rxe, siw, those of scalable
			      functions */
	bool is_smi; /* of subnet management packets alone, beside that of an XDR card's users */
	char netdev[IFNAME_LEN]; /* its own netdev, found in the order of device/rdma-observe.h;
				    empty: not visible here */
	char node_guid[24];      /* "xxxx:xxxx:xxxx:xxxx" */
	char node_type[16];      /* "CA", "RNIC" */
	char firmware[64];       /* fw_ver; empty: not told */
	char uverbs[32],
		umad[32];    /* names of the character devices; empty: none, or no node in /dev */
	uint32_t n_contexts; /* open user contexts; UINT32_MAX: not known, which is never zero */
	uint32_t n_cm_ids;   /* connections and listeners of processes and of the kernel; 0: none,
				or not known */
	uint32_t active_mtu; /* bytes, of its first port, when it was opened; 0: not known */
	int verbs;           /* of libibverbs: 0 could be opened, -errno, or 1: not tried */
	struct port *ports;  /* owned */
	size_t n_ports;
	/* Link losses of the ports of an InfiniBand device without a netdev, counted since its
	 * driver was bound; and when they were read, CLOCK_REALTIME, 0: they were not. */
	uint32_t link_downed;
	int64_t link_downed_sec;
};

/* How much memory a unit lets what it starts lock: RLIMIT_MEMLOCK, soft. */
struct memlock {
	char unit[64];  /* "containerd.service" */
	uint64_t bytes; /* UINT64_MAX: any */
};

#define PNETID_LEN 17 /* SMC_MAX_PNETID_LEN and NUL */

/* Settings that a PF's driver was found not to have: bits of "unsupported". */
enum vf_setting {
	VF_SETTING_MAC = 1,
	VF_SETTING_GUID = 2,
	VF_SETTING_TRUST = 4,
	VF_SETTING_LINK = 8,
	VF_SETTING_MTU = 16,     /* of the VF's own netdev */
	VF_SETTING_REFUSED = 32, /* the driver has one of them, and its card refuses it */
	VF_SETTING_ALL = 63,
};

/* Values that a pod may change: those of the netdev, and of a VF those in its PF's driver. */
struct given {
	char name[IFNAME_LEN]; /* empty: not known */
	char mac[24];          /* empty: not told, or of InfiniBand */
	uint32_t mtu;
	char altnames[192];
	char vf_mac[24]; /* empty: the PF told nothing, or it is of InfiniBand */
	int vlan, trust; /* -1: not told */
	/* A PF loses these when it leaves: model/given.h. */
	char addresses[512];  /* "10.0.0.2/24,0 fd00::2/64,256": each with its metric */
	char routes[1024];    /* "::/0,fd::1,9,254,3": gateway, metric, table, protocol, src */
	char vrf[IFNAME_LEN]; /* that it is a port of; empty: of none */
};

/* Facts of a function that earlier passes of this boot found: model/memory.h. */
struct device_memory {
	char pci[PCI_LEN];
	char ibdev[IBDEV_LEN];
	char netdev[IFNAME_LEN];
	uint32_t index;  /* of the ibdev when it was last opened by libibverbs */
	bool was_usable; /* at any look of this boot */
	bool was_lost;   /* usable before, but at the last look not, or left to the host */
	/* Identifies the card in any slot: another card in the same slot has another one. */
	char card[MAC_LEN];   /* node_card() of that time; empty: not known */
	uint32_t unsupported; /* of a PF: vf_setting bits */
	bool was_virtual;     /* of the ibdev: is_virtual, and it goes with its netdev: not erdma */
	bool was_rebuilt;     /* of a VF: unbound and bound again by us */
	bool was_port;        /* of a PF: its netdev was a port of a LAG since the last "apply" */
	bool was_exclusive;   /* its section says so, or did before a change that is put off */
	uint32_t active_mtu, mtu; /* of ibdev and netdev when it was last opened; 0: not known */
	/* As in struct device, of a PF with is_sick_long; else empty. */
	char sick[128];
	uint32_t sick_pid;
	uint64_t instance;         /* of the function at that time */
	uint64_t usable_instance;  /* of the function when it was usable last; 0: not known */
	uint64_t usable_usec;      /* CLOCK_MONOTONIC: when it was so first; 0: not known */
	struct link_losses losses; /* of a PF, with [Health] */
	uint32_t aer; /* of a PF: n_aer when "clear" was used; UINT32_MAX: when it is read next */
	uint64_t no_carrier_usec; /* CLOCK_MONOTONIC: device_lacks_carrier() since then; 0: not */
	/* given: as it was handed out; seen: other values, since seen_usec: model/given.h. */
	struct given given, seen;
	uint64_t seen_usec;       /* CLOCK_MONOTONIC */
	bool is_out;              /* in a pod, or back from one and not yet as it was */
	char matched[IFNAME_LEN]; /* of a PF: its netdev's name when a section matched it first */
};

/*
 * A change that was tried in this boot. One that failed is not tried again and again by events; one
 * that was made not long ago is known when others undo it again and again: step/attempts-plan.h.
 */
struct attempt {
	enum verb verb;
	char target[256], to[48];
	int result; /* -errno, or 0: it was made, and n and what follows are known */
	char error[192];
	bool is_vain;             /* as that of the action */
	uint64_t instance, value; /* of the action; 0: not known */
	char subject[96];
	uint32_t ifindex;
	uint32_t n; /* times it was made since since_usec, which is a minute at most */
	uint64_t since_usec, last_usec; /* CLOCK_MONOTONIC */
	uint64_t pause_usec; /* after last_usec, if undone once more; 0: done again at once */
};

/* A file of [Output], as it is now. */
struct output_file {
	bool has_folder;
	bool is_there; /* something is */
	char *text;    /* owned; NULL: not there, or not written by us */
};

/* A file of [Output] that this service wrote, under this configuration or an earlier one. */
struct output_record {
	enum output output;
	char path[PATH_LEN];
};

/* Size and time of a pass that changed something. */
struct last_change {
	uint32_t steps;         /* changes made; 0: no such pass is known */
	int64_t time_sec;       /* of its end, CLOCK_REALTIME */
	uint64_t duration_usec; /* until the last of them was made */
};

enum node_state {
	NODE_STARTING,
	NODE_READY,
	NODE_DEGRADED,
	_NODE_STATE_N
};

const char *node_state_name(enum node_state s);

/* A line of the kernel's log about a function, with the time since the boot. */
struct log_line {
	char pci[PCI_LEN];
	char text[256];
};

#define LOG_LINES_MAX    5 /* of a function */
#define LOG_PROBE_FAILED "failed with error"

struct attempts;
struct boot;

/*
 * Changes made and facts seen before, in this boot and over boots, as its files have them:
 * model/memory.h. state.json has last_state and last_hash.
 */
struct memory {
	struct ledger_entry *ledger; /* owned, in the order in which they came */
	size_t n_ledger;
	struct boot *boots; /* owned; the oldest first, boots.h */
	size_t n_boots;
	bool has_boots_in_run; /* the present one is in /run: /var could not be written */

	/* of earlier passes, all empty when they were of another boot */
	char boot_id[40];              /* theirs */
	struct device_memory *devices; /* owned, by PCI address */
	size_t n_devices;
	enum node_state last_state;
	char last_hash[17];              /* the configuration of that state */
	char last_plugin_path[PATH_LEN]; /* where it had the plugin's file */
	bool was_held;                   /* by "revert", as of node.is_held */
	bool was_wait_over;              /* with that configuration, as of plan.is_wait_over */
	uint64_t net_hash,
		net_usec; /* of addresses and routes, and when they changed: needs-rules.c */
	struct attempt *attempts; /* owned; of that configuration */
	size_t n_attempts;
	struct text_index by_target; /* of attempts */
	/*
	 * The write of this PF's number of VFs did not return. It holds a lock that all others
	 * take: pci_lock_rescan_remove() in drivers/pci/iov.c since Linux 6.18
	 */
	char stuck[PCI_LEN];
	uint32_t stuck_pid; /* of the process that still writes */
	uint32_t stuck_sec; /* how long it writes as long as its time is not over; 0: it is over */
	/* The process that asked devlink and waits for a driver; 0: none, devlink is asked. */
	uint32_t devlink_pid;
};

/* Keys with an index: the array is not sorted by the key, or has long elements. */
enum node_index_of {
	NODE_INDEX_PCI,
	NODE_INDEX_NETDEV_PCI,
	NODE_INDEX_NETDEV_NAME,
	NODE_INDEX_IBDEV_PCI, /* of a virtual one that of its netdev */
	NODE_INDEX_VF,        /* by its physfn */
	NODE_INDEX_NETDEV_MAC,
	NODE_INDEX_NETDEV_PERM_MAC,
	NODE_INDEX_IBDEV_GUID, /* its node GUID */
	NODE_INDEX_VF_MAC,     /* of vf_infos, as the next two */
	NODE_INDEX_VF_NODE_GUID,
	NODE_INDEX_VF_PORT_GUID,
	_NODE_INDEX_N,
};

struct node {
	char kernel[128]; /* release, as uname -r */
	char boot_id[40];
	enum netns_mode
		netns_mode; /* of the RDMA subsystem; KEEP: not known, no RDMA subsystem yet */
	bool has_rdma_cm;   /* /dev/infiniband/rdma_cm */
	bool has_cm_config; /* the folder of rdma_cm in configfs */

	struct pci *pcis; /* owned, by address */
	size_t n_pcis;
	struct netdev *netdevs; /* owned, by ifindex */
	size_t n_netdevs;
	struct netdev *aways; /* owned, by netns and ifindex; netdevs of node.netnses with a name */
	size_t n_aways;
	struct link_news *link_news; /* owned, in the order in which they came; of a service */
	size_t n_link_news;
	struct address *addresses; /* owned, by ifindex */
	size_t n_addresses;
	struct route *routes; /* owned, in the kernel's order */
	size_t n_routes;
	struct rule *rules; /* owned, in the kernel's order */
	size_t n_rules;
	struct neighbour *neighbours; /* owned, in the kernel's order; IPv6 routers only */
	size_t n_neighbours;
	struct netconf all;     /* conf/all: the IPv4 ones that count together with the netdev's */
	struct lookup *lookups; /* owned */
	size_t n_lookups;
	struct destination *destinations; /* owned; what the node reaches, with the answers */
	size_t n_destinations;
	struct tunnel_end *tunnel_ends; /* owned; WireGuard's last */
	size_t n_tunnel_ends;
	char host_name[HOST_NAME_LEN]; /* of the node: uname -n */
	struct host *hosts;            /* owned, in the order of the file */
	size_t n_hosts;
	bool has_socks;     /* they could be listed: only then none is none */
	struct sock *socks; /* owned */
	size_t n_socks;
	uint32_t asked;    /* 1 << enum question: a plan of this look asked for them, once */
	uint64_t now_usec; /* CLOCK_MONOTONIC at this look; 0: of a captured tree */
	char machine[17];  /* hash of /etc/machine-id; empty: there is none */
	struct metadata *metadatas; /* owned, by MAC; only of NICs that were asked about */
	size_t n_metadatas;
	bool has_verbs;       /* the class of uverbs devices is there: only then none is none */
	struct ibdev *ibdevs; /* owned, by name */
	size_t n_ibdevs;
	bool has_pnets;     /* SMC's table could be read: the module is there */
	struct pnet *pnets; /* owned, by id, netdevs before RDMA devices */
	size_t n_pnets;
	struct module *modules; /* owned, by name */
	size_t n_modules;
	bool has_memlocks;        /* the answers of a capture had them */
	struct memlock *memlocks; /* owned, by unit: of those that start containers */
	size_t n_memlocks;

	bool has_dcbs;    /* they were asked about */
	struct dcb *dcbs; /* owned, by ifindex; of PFs whose driver has DCB */
	size_t n_dcbs;
	struct vf_info *vf_infos; /* owned, by PF and index */
	size_t n_vf_infos;
	bool has_users;     /* they were asked for: only before something is taken away */
	struct user *users; /* owned, by target */
	size_t n_users;
	struct option *options; /* owned, in the order in which they count: the last wins */
	size_t n_options;
	struct vf_owner *vf_owners; /* owned */
	size_t n_vf_owners;
	struct netns *netnses; /* owned */
	size_t n_netnses;
	bool is_dkms_building; /* dkms.service is activating */
	/* A container with NVIDIA's driver has begun and is not done: device/pci-observe.h. */
	bool is_container_loading;
	char cmdline_blacklist[256]; /* module_blacklist= of the kernel, comma-separated */

	struct kubelet kubelet; /* what kubelet/ found */
	struct kubelet_decision kubelet_decision;
	bool is_generated_stale; /* drop-ins of the kubelet's units: look.c */
	char *plugin_file;       /* owned; content of the device plugin's file, NULL: absent */
	bool is_plugin_foreign;  /* there is something that this service did not write */
	char *manifest_file;     /* owned; content of Manifest=, NULL: absent */
	/* Files of an earlier configuration that are still there; empty: none. */
	char old_plugin_path[PATH_LEN], old_manifest_path[PATH_LEN];
	struct plugin_process *plugin_processes; /* owned; by pid */
	size_t n_plugin_processes;
	/* Sockets of device plugins, and what they registered with the kubelet: plugin-observe.h */
	char plugin_sockets[256]; /* "a.sock b.sock": those that fit */
	uint32_t n_plugin_sockets;
	struct plugin_resource *plugin_resources; /* owned */
	size_t n_plugin_resources;
	char *rules_file; /* owned; content of the generated udev rules, NULL: absent */
	struct output_file outputs[_OUTPUT_N];
	struct output_record *output_records; /* owned */
	size_t n_output_records;
	char program[64]; /* which build of ours this is */
	/* A copy of files, and no capture: what it does not have is not known. */
	bool is_copy;
	bool has_functions; /* there is a PCI function of any kind */
	bool lacks_net;  /* addresses, routes and rules were not recorded: what is here is a part */
	bool is_held;    /* "revert" was run: nothing is changed until the next start or reload */
	bool is_by_hand; /* an administrator wants it now, also what failed in earlier boots */

	bool is_short; /* there was no memory for a fact: see node_result() */

	struct log_line *log_lines; /* owned, oldest first; of QUESTION_LOG */
	size_t n_log_lines;

	struct text_index indexes[_NODE_INDEX_N];
};

/* The bytes of the address at @text, "0000:3b:00.0" with 4 to 8 digits of domain, behind which no
 * letter or digit stands; 0: it is none. */
size_t pci_address_len(const char *text);

void module_done(struct module *m);
void memory_done(struct memory *m);
void node_done(struct node *n);

/* Was there memory for all facts so far? Return: 0 or -ENOMEM: the node is not to be judged. */
int node_result(const struct node *n);
/* Notes a want of memory for a fact of @n, when @r says so. Return: @r >= 0. */
bool node_note(struct node *n, int r);
/* Appends a fact: NODE_ADD(n, users, u) is one of n->users. Without memory it is noted. */
#define NODE_ADD(node, member, ...)                                                                \
	node_note((node), ADD((node)->member, (node)->n_##member, __VA_ARGS__))

/*
 * With thousands of VFs each search through all of them is felt. Rebuilds the indexes; the
 * names, addresses and links they are made of do not change afterwards.
 */
void node_make_indexes(struct node *n);
/* The next element with this key behind *@at, which becomes it: SIZE_MAX before the first, and
 * after the last. */
size_t node_next(const struct node *n, enum node_index_of which, const char *key, size_t *at);

/* The order of their arrays; of VFs of one PF, which need not be named, that of their indexes. */
int vf_info_compare(const void *a, const void *b);
int user_compare(const void *a, const void *b);

/* All NULL when there is none. Linear ones are for small arrays, the others search sorted ones. */
const struct pci *node_pci(const struct node *n, const char *address);
/* "1ded", a vendor or device as plugins name it. It is asked of each function: no printf(). */
#define PCI_ID_LEN 5
void pci_print_id(uint32_t id, char ret[static PCI_ID_LEN]);
size_t node_count_gpus(const struct node *n); /* of NVIDIA; node.pcis is enough */
const struct netdev *node_netdev(const struct node *n, uint32_t ifindex);

/* By ifindex; those of one netdev stay in the kernel's order, the primary one first. */
void node_sort_addresses(struct address *a, size_t n);
/* Its addresses, side by side; NULL: it has none. */
const struct address *node_addresses_of(const struct node *n, uint32_t ifindex, size_t *ret_n);
/* An address that neither the kernel (link-local IPv6) nor this service gave it. */
bool node_has_host_address(const struct node *n, const struct memory *m, uint32_t ifindex);
/* @bytes: NULL for the netdev of flannel-iface. @how: words to put behind the address. Return: 1
 * when it is here, 0 or -errno. */
typedef int (*kubelet_fn)(void *userdata, int family, const uint8_t *bytes, const char *how);
/* Calls @on for what may be the kubelet's address, in its own order, until one is here: all of
 * --node-ip and flannel-iface, the node's name, /etc/hosts (none of the link), the first default
 * route of main unless packets leave by it: of both first the family that --node-ip begins with,
 * else IPv4. Return: as @on; -EADDRNOTAVAIL: --node-ip or flannel-iface is given, and none is here.
 * Nothing else takes its place then: NodeAddress() in pkg/kubelet/nodestatus/setters.go, and
 * pkg/agent/config/config.go of k3s. */
int node_find_kubelet(const struct node *n, kubelet_fn on, void *userdata);

/*
 * Is it the master of a LAG, a bond or a team? Drivers make no difference between the two:
 * netif_is_lag_master() in include/linux/netdevice.h.
 */
bool netdev_is_lag_master(const struct netdev *nd);
/* The bond or team that a netdev is a port of, or NULL; @nd may be NULL. */
const struct netdev *node_bond_of(const struct node *n, const struct netdev *nd);
/* Is it a port of a bond, team, bridge or datapath? A VRF is a routing table: its ports keep their
 * own MTU and state. @nd may be NULL. */
bool node_is_port(const struct node *n, const struct netdev *nd);
/* A bond or team, or with @or_bridge a bridge, that has no port yet and may get any; or NULL. */
const struct netdev *node_portless(const struct node *n, bool or_bridge);

/*
 * The first netdev of a function that has a permanent MAC, else the first. In switchdev mode those
 * that represent VFs there are of the PF's function too, and may come before it: they are none of
 * it. Names: __devlink_port_phys_port_name_get() in net/devlink/port.c.
 */
const struct netdev *node_netdev_of(const struct node *n, const char *pci);
/* The same, of eRDMA that of the function beside it, which its RDMA device names. */
const struct netdev *node_own_netdev(const struct node *n, const struct pci *pci);
const struct netdev *node_netdev_named(const struct node *n, const char *name);
bool netdev_is_called(const struct netdev *nd, const char *glob); /* altnames are names too */
const struct dcb *node_dcb(const struct node *n, uint32_t ifindex);
/*
 * The first RDMA device of a function: the hardware's own before a virtual one, and before both one
 * with a uverbs device, which a device for management datagrams alone (RDMA_DEVICE_TYPE_SMI) never
 * has: ib_uverbs_add_one() in drivers/infiniband/core/uverbs_main.c.
 */
const struct ibdev *node_ibdev_of(const struct node *n, const char *pci);
const struct ibdev *node_ibdev_named(const struct node *n, const char *name);
const struct module *node_module(const struct node *n,
				 const char *name); /* '-' and '_' are equal */
const struct vf_info *node_vf_info(const struct node *n, const char *pf, uint32_t index);
/* The users of one target from number @i on: the next one, or NULL. */
const struct user *node_user(const struct node *n, const char *target, size_t *i);
const struct metadata *node_metadata(const struct node *n, const char *mac);
const char *netconf_name(enum netconf_key k); /* "ipv4/arp_ignore" */
/* Does the kernel of this release ("6.1.0-13-amd64") keep neighbours resolved by itself?
 * Since 5.16. */
bool node_has_managed_neighbours(const char *release);
/* Must @nd stay down until udev has renamed it? Before Linux 6.2 a netdev that is up keeps its
 * name: -EBUSY of dev_change_name() in net/core/dev.c. */
bool node_keeps_down(const struct node *n, const struct netdev *nd);
/* The last one of this key, or NULL. @ifindex 0: by @target. */
const struct ledger_entry *memory_entry(const struct memory *m, const char *verb,
					const char *target, uint32_t ifindex, const char *subject);
bool memory_gave(const struct memory *m, const struct address *a); /* did this service add it? */
bool module_is_in_kernel(const struct module *m);                  /* NULL: no */
const struct parameter *module_parameter(const struct module *m, const char *name);
/* Is it one of the names of module_blacklist=: -EPERM for everybody? As the kernel spells it. */
bool node_forbids(const struct node *n, const char *module);
/*
 * May the kernel of this release take the file? False when its vermagic is of another release:
 * then only symbol versions could make it fit (weak-updates), and that they do is known of a file
 * whose very copy is loaded. Source: same_magic() in kernel/module/version.c
 */
bool module_is_built_for(const struct module *m, const char *release);
const struct device_memory *memory_device(const struct memory *m, const char *pci);

#define IPOIB_MODULE "ib_ipoib"

/* By class or by its netdev. */
bool node_is_infiniband(const struct node *n, const struct pci *pf);
/* The rate of a port in tenths of Gb/s: 25 for "2.5 Gb/sec (1X SDR)"; 0: not known. Source:
 * rate_show() in drivers/infiniband/core/sysfs.c */
uint32_t port_rate(const struct port *p);
/* Is it a device of iWARP, EFA or usNIC? It has no management datagrams, nor a use for a GUID, nor
 * a GID of RoCE. */
bool ibdev_lacks_mad(const struct ibdev *ib);
/* Has it a port that is ACTIVE? */
bool ibdev_is_active(const struct ibdev *ib);

/*
 * The port GUID, "xxxx:xxxx:xxxx:xxxx", in the MAC of an IPoIB netdev: the last 8 of its 20 bytes;
 * "" of another MAC. The first 4 are flags and the number of its QP, another one after each start:
 * RFC 4391, 9.1.1.
 */
void ipoib_guid(const char *mac, char ret[static MAC_LEN]);

/*
 * The lasting identity of the card of a function (of its PF, for a VF); "" when it is not told.
 *
 * Ethernet: the permanent MAC. InfiniBand: the node GUID of the ibdev, which is there without
 * ib_ipoib, else the port GUID of its permanent MAC.
 */
void node_card(const struct node *n, const struct pci *pci, char ret[static MAC_LEN]);
/* Drops the memory of functions that are of another card now. */
void node_forget_replaced(const struct node *n, struct memory *memory);
/* "0000:0000:0000:0000", or all ones, as ib-sriov-cni leaves a VF that had none. Or a MAC. "" is
 * not known. */
bool guid_is_unset(const char *guid);

/* Names a fact that a copy lacks of each function, so that none can match; NULL: none. */
const char *node_lacks(const struct node *n);
/* The VFs of a PF are the functions that name it as physfn: calls in order of their index. */
const struct pci *node_vf(const struct node *n, const char *physfn, uint32_t vf_index);
