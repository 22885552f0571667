/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: the pure functions by which a pass calls each room of the mission: plan-make.c those that
 * append actions, loop.c and commands the others. Whether there was memory for all that they added
 * is plan_result().
 */
#pragma once

#include "attempts-plan.h"

struct module_options;

/* A step of plan_make(). It may use all that is set of @p by the steps before it. */
typedef void plan_step(const struct config *c, const struct node *n, const struct memory *memory,
		       struct plan *p);

/* First of all: the static pod of the boot before goes. */
plan_step plan_old_pod;

/*
 * The generated drop-ins of the kubelet's units, before all that may take long: READY=1 comes at
 * ReadyTimeoutSec= whatever still runs, and the kubelet starts with what systemd has loaded by
 * then. VERB_ENSURE_KUBELET may come late: these drop-ins run kubelet-ensure as well.
 */
plan_step plan_units;

#define QUIET_USEC (15 * USEC_PER_SEC)
#define YOUNG_USEC (10 * USEC_PER_SEC)

/* Sets p->graph, p->needs and what belongs to them, and p->again_usec. */
plan_step plan_needs;

#define NODE_NIC_AUTO "auto"
#define NODE_NIC_NONE "none"

/*
 * Which functions are managed, which of them are handed out, and what each is worth.
 *
 * Where VFs are asked for, they are handed out; otherwise the PF, and instead of VFs that could not
 * be made nothing, but for what carries the node. A change of that waits for the number of VFs.
 * With Type=sriov, which moves netdevs into pods, nothing that carries the node or that the host
 * uses. The first [Device NAME] section that matches a PF owns it. A name that udev is still to
 * replace matches no netdev:, and a PF with such a name goes to no section behind one with netdev:.
 */
plan_step plan_devices;
const struct device_config *
plan_section_of(const struct config *c, const struct node *n, const struct memory *memory,
		const struct pci *pci); /* NULL: none, or it is no NIC */
/* A function in a pod is matched by the names that it had, unless another device has one now. */
bool plan_is_match(const char *match, const struct node *n, const struct memory *memory,
		   const struct pci *pci);

/*
 * With [Health]: what of the announcements of links is a loss, which PFs flap, and which devices
 * are left out of the plugin's file. Losses are counted since the device was usable first; none
 * while its netdev is down or within 2 s after that, none by a change of MTU, and none by what this
 * service does to its function, up to 2 s later. p->again_usec is when one ends to flap, or is down
 * for Drop=.
 */
plan_step plan_flaps;

/* Does the function itself carry the node, so that its netdev is left alone? */
bool plan_carries_node(const struct device *d);

/*
 * Puts back what a pod left changed of a device, also of one that no section matches any more. It
 * is waited for SettleSec= in which nothing of it changes, and for a CNI plugin that is at work on
 * it: p->again_usec. Before all that looks at netdevs: sets is_changed and is_restore_due of
 * devices.
 */
plan_step plan_given_back;

/* After the links: a route needs one that is up. */
plan_step plan_lost;

plan_step plan_driver;
/* Loads a module that is not in the kernel, or says what stands against it. */
void plan_want_module(const struct node *n, struct plan *p, const char *name);
plan_step plan_netns;

/*
 * Adds a refused VERB_SET_OPTION for each line with another value than the wanted one, with file
 * and line in the advice, also where a file of ours comes later and wins. An option in a file of
 * ours that is not wanted any more is a hint.
 * @refuses_smc: a line that loads smc is one of them.
 */
void plan_options(const struct node *n, struct plan *p, const struct module_options *w,
		  bool refuses_smc);

/* A file of ours in modprobe.d. */
struct option_file {
	const char *path; /* below the root */
	const char *want; /* NULL: none is wanted; of two files both want the same */
	char *have;       /* NULL: there is none */
};

void plan_option_file(const struct option_file *f, struct plan *p);

/* Leaves out what three boots failed at; after each of those that may crash the machine. */
plan_step plan_boots;

/* Before plan_vf(): the rules have to be there when VFs appear. Sets p->rules. */
plan_step plan_udev_rules;

/* A VF count changes only through zero, so 4 to 8 takes two steps: sriov_numvfs_store() in
 * drivers/pci/iov.c. Nothing that is in use is ever destroyed. */
plan_step plan_vf;

/*
 * Sets up VFs that exist, in rounds: each look finds how far they are.
 *
 * They are made with sriov_drivers_autoprobe off, so no driver is bound. Then MAC or GUIDs, trust
 * and link state are set through their PF, before a driver reads them. After that autoprobe is
 * switched on again and they are bound. Autoprobe that this service switched off is also switched
 * on here after a crash, for any PF, whatever the configuration says by then.
 */
plan_step plan_vf_setup;
/* Does its card, or that of its PF, let the host set nothing of VFs? */
bool plan_refuses_settings(const struct node *n, const struct device *d);
uint32_t plan_wanted_vfs(const struct device_config *dc, const struct pci *pf); /* or COUNT_LEAVE */
bool plan_is_making_vfs(const struct plan *p, const char *pf); /* the number changes by this plan */
/* Are VFs to be made that get no driver before this service binds them? */
bool plan_makes_unbound_vfs(const struct node *n, const struct device *pf);
/*
 * The NICs of a section change their numbers of VFs together, so that a node never has two modes:
 * sets put_off_by and has_vf_mode of PFs.
 */
void plan_put_off(const struct node *n, const struct memory *memory, struct plan *p);
/* A VF that carries the node, so that the number of VFs its PF is to have is refused; or NULL. */
const struct need *plan_vf_of_node(const struct node *n, const struct plan *p,
				   const struct device *d);

plan_step plan_link_pf;
/* After plan_vf(): those of QUIRK_UP_AFTER_VFS. */
plan_step plan_link_late_pf;
plan_step plan_link_vf;

/*
 * [QoS]: priorities of the ports of PFs, by DCB, and rdma_cm's defaults of all devices; nothing of
 * what carries the node, what is in a pod or in use, and what firmware sets. Asks for node.dcbs.
 * In a copy either is not known where it is not there.
 */
plan_step plan_qos;

/* Sets p->nic_netdevs, with what they are to have: nic-netdev-rules.h. */
plan_step plan_nic_netdevs;

/*
 * Settings of NIC netdevs in /proc/sys/net, never a global one. Before links go up: the kernel asks
 * for routers when one does, if it is to listen to them.
 */
plan_step plan_sysctl;

/* Addresses of Address=static and metadata, and away with those of before. */
plan_step plan_addresses;

/*
 * The metric of the prefix routes of managed netdevs: the larger of Metric= and one more than the
 * highest metric of any route to that prefix that is not ours; several of ours in one prefix get
 * successive ones in the order of their PCI addresses. The same on every run, since ours do not
 * count.
 */
plan_step plan_route;

/* A table and rules for each NIC, PolicyRules=; and questions to the kernel whether they hold. */
plan_step plan_policy_routing;

/* IPv6=ra: the neighbour entry of each gateway is kept resolved. */
plan_step plan_neigh;

/* Hints about other programs that change managed NICs. */
plan_step plan_coexistence;

/* Waits for the GID of each IPv4 address, for which the kernel has no event. */
plan_step plan_gids;
/*
 * With Address=metadata: whom the metadata service is asked about, once in a boot, for its address
 * and its gateway. Not of what carries the node, such as the primary ENI; while there is no default
 * route, nothing can tell which that is. To be called before what uses the answers.
 */
plan_step plan_metadata;

/*
 * SMC-R: the module, and for each device that is handed out an entry of its netdev and one of its
 * RDMA device in SMC's table, both with the MAC as PNETID. Only in driver mode default; compat is
 * warned of, ofed refused.
 */
plan_step plan_smc;

/*
 * Probes a PF once more that was never bound in this boot, at most once a minute: p->again_usec.
 * When nothing else is left to be done.
 */
plan_step plan_late;

plan_step plan_kubelet;

/*
 * Sets p->questions: what the plan depends on, the node does not have, and no plan of this look
 * asked for. The last step of each plan. Return: plan_result().
 */
int plan_ask(const struct node *n, struct plan *p);

/* The items that say what the devices wait for, and the state of the node that follows. */
plan_step plan_state;

/**
 * plan_remember() - what pass_memory_fields of model/memory.h has for the next pass of this boot
 * @n:   the node as it was last seen
 * @p:   the plan for it, with what was tried of it and failed
 * @ret: release it with memory_done()
 *
 * A function was usable when it is, or was before in this boot. Names of what is not seen now are
 * kept. "index" is of the ibdev that libibverbs opened.
 *
 * Return: 0 or -ENOMEM.
 */
int plan_remember(const struct config *c, const struct node *n, const struct memory *memory,
		  const struct plan *p, struct memory *ret);

/* Last: p->plugin, p->manifest and p->lint are those of plugin-output.h, and p->state is known. */
plan_step plan_plugin;

/*
 * A NIC keeps the name that netdev: of its section matched it by. Drops the names of NICs whose
 * section has no netdev: now, before a plan is made with another configuration: another NIC may
 * have it.
 */
void plan_forget_names(const struct config *c, const struct node *n, struct memory *memory);

/*
 * Hints about what works and could do better: p->health, once the plan asks for nothing. PCIe: a
 * link below the lower of what both of its ends can; a slot that is slower than the card is no
 * hint. Its errors count since "clear". Rate: a port that is up, below the same cards of its
 * section. IOMMU: the PF's group translates. Memory: a runtime of containers whose limit is no
 * infinity.
 */
void plan_health(const struct node *n, const struct memory *memory, struct plan *p);

#define EXPLAIN_VFS_LEN 768

/*
 * Describes the wanted and the present VFs of a PF, or of the PF of a VF, for "explain": which
 * section counts, before which others that match as well, or that no section matches and VFs are
 * left as they are. EXPLAIN_VFS_LEN is room enough.
 *
 * Return: the number of VFs that is asked for; -1: VFs are left alone.
 */
int64_t plan_explain_vfs(const struct config *c, const struct node *n, const struct memory *memory,
			 const struct pci *pci, char *ret, size_t size);

/**
 * plan_outputs() - add what has to become of the files
 * @n:      with node.outputs and node.output_records
 * @p:      a finished plan, with plan.outputs (of outputs/documents-output.h)
 *
 * While there are other changes to make, files are only named as what comes last; but one that an
 * earlier boot left, and that says the node is ready, is replaced before them. A file that
 * another program wrote is refused. One that was written by us and is not asked for any more is
 * removed, and so are the NCCL and the CDI file when there is nothing to write: old text would be
 * wrong.
 */
plan_step plan_outputs;

/**
 * plan_revert() - list the steps back
 * @with_vfs: also VFs that were made in this boot, where no program uses them
 * @ret:      release with plan_done()
 *
 * Settings that another program has changed since then are left alone. VFs in use are refused, and
 * VFs of a PF in use whose driver loses the link when their number changes.
 *
 * Return: 0, or -ENOMEM.
 */
int plan_revert(const struct node *n, const struct memory *memory, const struct attempts *tried,
		bool with_vfs, struct plan *ret);

/* Adds the steps back of metrics and sysctls of one netdev. */
void plan_revert_netdev(const struct node *n, const struct memory *memory, struct plan *p,
			uint32_t ifindex);
