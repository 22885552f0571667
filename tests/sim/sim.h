/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sim: one life of a node, from one number.
 *
 * kernel.c is a model of what a kernel does to PCI functions, netdevs and RDMA devices. os.c
 * puts it behind the program's os: the linker gives calls of theirs to it (--wrap), so that
 * verbs, ledger and reports are the program's own, on a disk in memory (disk.c). routes.c has what
 * the kernel keeps of addresses and routes. world.c is its struct world, and life.c what happens
 * around it: boots, reloads, users, faults, and what must never be. Time passes only in
 * sim_advance().
 */
#pragma once

#include "../../src/model/vf-facts.h"
#include "../../src/model/world.h"
#include "../../src/os/manager.h"
#include "../../src/os/os.h"
#include "../../src/pass/loop.h"

#define FUNCS_MAX 160
#define JOBS_MAX  64

/* Numbers that no function has. */
#define BOND_IFINDEX         100000
#define REPRESENTORS_IFINDEX 200000
#define LAG_INDEX            100000
#define BOND_NAME            "bond0"

/* APPEND() of what there is always memory for. */
#define GROW(array, n) ((__typeof__(array))sim_must(APPEND(array, n)))

static inline void *sim_must(void *slot)
{
	return slot ? slot : (abort(), NULL);
}

/* What a driver does in its own way; the sources are in habits[] of kernel.c. */
enum {
	HABIT_RDMA = 1,       /* its functions have RDMA devices */
	HABIT_NO_VF_RDMA = 2, /* but not its VFs */
	HABIT_INFINIBAND = 4,
	HABIT_UP_FIRST = 8,  /* refuses VFs, with success, while the PF's netdev is down */
	HABIT_SHORT = 16,    /* its firmware may enable fewer VFs than asked for, with success */
	HABIT_NO_TRUST = 32, /* has no ndo_set_vf_trust */
	HABIT_RANDOM = 64,   /* a VF without a MAC makes one up, and tells it of NET_ADDR_RANDOM */
	HABIT_NO_SRIOV = 128,
	HABIT_IWARP = 256,
	HABIT_NO_NETDEV = 512, /* its ports are those of another function's netdev */
	HABIT_SWITCHDEV = 1024,
};

struct habit {
	const char *driver, *netdev; /* netdev: what its names begin with */
	const char *module;          /* makes its RDMA devices; NULL: the driver does */
	uint16_t vendor, device;
	uint32_t total_vfs;
	unsigned flags;
	uint64_t vf_usec, bind_usec, rdma_usec; /* of a healthy one */
};

struct func {
	char address[PCI_LEN];
	const struct habit *habit;
	int pf;       /* of a VF: which one; -1: none */
	int partner;  /* whose netdev it uses, or the other port of a bond; -1: none */
	bool is_port; /* of a bond */
	uint32_t vf_index;
	uint64_t appears_usec, ibdev_usec; /* UINT64_MAX: never */
	bool is_bound, is_up, has_carrier, is_random, is_in_pod, is_node;
	uint64_t instance;
	uint32_t ifindex, mtu, ib_index;
	char netdev[IFNAME_LEN], ibdev[IBDEV_LEN], mac[24];
	char bound_guid[24]; /* of a VF: what its driver read when it was bound */
	bool autoprobe;      /* of a PF */
	uint32_t num_vfs;    /* of a PF: made */
	uint32_t total_vfs, firmware;
	bool is_count_foreign; /* another program wrote that number */
	bool is_unnoted;       /* the program said in this boot that it could not note one */
	struct vf_info info;
	uint32_t user;    /* pid of a process that has it open; 0: none */
	bool is_replaced; /* another card since the last pass */
	char given[24];   /* the MAC that it was given first, over all boots */
	char ended[24];   /* of a VF: MAC or GUID of its driver at the end of a boot */
	bool is_odd;      /* in this boot something kept it from the usual identity */
	struct dcb dcb;
	char roce_tos[QOS_TOS_LEN], roce_mode[16]; /* of rdma_cm */
	bool has_cm_folder;
	bool is_qos_left;               /* "revert" did not see it, and has forgotten what it was */
	char altnames[64], pod_mac[24]; /* pod_mac: of its netdev, when it has another */
	char pod_netdev[IFNAME_LEN];    /* what the pod that has it calls its netdev */
	uint64_t pod_usec;              /* its GIDs have that name then: a work queue makes them */
	/* What it had when it went into a pod, until that is compared; name empty: it is not. */
	struct given lent;
	uint64_t named_usec; /* udev names its netdev then; 0: it has, or never will */
	uint64_t cni_usec;   /* a CNI plugin is at work on it till then */
	uint64_t follows_usec, ended_usec; /* namespaces.c: its RDMA device; its last pod */
	bool is_orphan;                    /* its netdev is gone, in no namespace */
	bool was_cni_at_look;
	bool is_spoilt; /* others changed it in this boot, or what the program set failed */
	bool was_usable_at_look, was_with_pf_at_look, was_usable_with_pf, was_used_at_look,
		was_lag_at_look;
	bool was_refused_at_look; /* libibverbs could not open it */
	uint64_t lost_usec; /* of the first look that did not see it usable, after one that did; 0:
			       none */
	/* links.c: */
	uint32_t carrier_downs, n_losses; /* n_losses: of its cable, in this boot */
	uint64_t bounce_usec, heard_usec; /* heard: from then on each loss has to be counted */
	struct losses {
		uint64_t usec[16];
		size_t n;
	} new_losses, sure_losses; /* that no pass has seen; that one has counted for sure */
	size_t pass_losses;        /* of the new ones, what the pass that runs was given */
	uint32_t n_sure;
	bool was_had_at_look, is_exposed;
};

struct rates { /* of a thousand */
	unsigned error, hang, slow, few, late, user, file, kill, flap, undo, lost, operator, clock,
		command;
};

struct sim {
	uint64_t seed, random;
	uint64_t now_usec;
	uint64_t look_usec; /* of the last look of a pass */
	bool is_traced, is_dead, is_failed, is_quiet;
	bool is_cut; /* the power, and nothing is written any more */
	char failure[400];
	struct os os;
	struct rates rates;

	struct func funcs[FUNCS_MAX];
	size_t n_funcs;
	uint32_t next_ifindex, next_index;
	uint64_t next_instance;
	uint64_t locked_until_usec; /* a write of a number of VFs goes on till then */
	struct func *locked;        /* of this PF */
	bool is_foreign;            /* that write is of another program */
	uint64_t cost_usec;         /* of the action that is being done */
	uint32_t writer_pid;        /* of that write; UINT32_MAX: it is of the job that begins */
	char boot_id[40], kernel[32];
	bool is_removal_asked; /* by "revert --vfs" */
	bool is_reverting;
	bool is_reconfigured; /* in this boot */
	bool is_by_hand;      /* a command of an administrator, not the service */
	const struct config *config;
	char doing[256];       /* target of the action that began last */
	char state_hash[17];   /* the configuration of state.json */
	unsigned n_doors_left; /* until the process dies; 0: it does not */
	unsigned n_kernel_writes, n_file_writes;
	unsigned full;    /* no file can be written: 1: below /var, 2: below /run */
	int64_t wall_sec; /* CLOCK_REALTIME when the boot clock was at zero */
	bool is_container_loading;
	uint64_t bond_usec; /* ports become those of a bond then; UINT64_MAX: there is none */
	bool is_bond_early; /* the bond is there before that, without a port */
	uint32_t package;   /* its version */
	enum topology_policy kubelet_policy; /* of its file, over boots */
	bool is_compat;                      /* the driver of eRDMA is */
	unsigned lease;                      /* which address the metadata service tells */
	enum netns_mode netns_mode;
	bool has_module[8]; /* modules[] of kernel.c */

	struct job {
		bool is_there;
		uint64_t due_usec;
		int result;
		char error[192];
	} jobs[JOBS_MAX];

	bool verbs[_VERB_N], reasons[_REASON_N]; /* met */
};

extern struct sim sim;

/* Tells it, with the number of the life, which ends. */
void sim_fail(const char *format, ...) _printf_(1, 2);
void sim_trace(const char *format, ...) _printf_(1, 2);
uint64_t sim_random(uint64_t below);
bool sim_chance(unsigned of_thousand);
void sim_advance(uint64_t until_usec);

/* kernel.c */
void kernel_plug(const char *driver, unsigned slot, unsigned number);
bool kernel_is_lag(const struct func *pf);
uint32_t kernel_ib_index(const struct func *f);
bool kernel_is_iwarp(const struct func *f);
void kernel_boot(void); /* all VFs are gone, PFs are bound */
uint64_t kernel_next(void);
void kernel_name_netdevs(void); /* what udev names by now */
struct func *kernel_find(const char *address, size_t len);
struct func *kernel_of_ifindex(uint32_t ifindex);
bool func_is_there(const struct func *f);
bool func_has_ibdev(const struct func *f);
bool kernel_has_netdev(const struct func *f);
bool func_is_usable(const struct func *f);
int kernel_set_num_vfs(struct func *pf, uint32_t n);
int kernel_bind(struct func *f);
void kernel_unbind(struct func *f);
void kernel_replug(struct func *pf); /* another card in the slot, or the driver bound again */
void kernel_unplug(struct func *pf); /* for a time */
void kernel_plug_again(struct func *pf);
bool is_life_with_slots(void);
void kernel_show(struct node *n);
int kernel_load(const char *module);
void kernel_forget(const char *module);       /* that it was loaded */
uint32_t kernel_count(const struct func *pf); /* its VFs, with those that are being made */

void kernel_unload(const char *driver);
void kernel_probe(const char *driver);

/* routes.c */
void routes_boot(void);
uint64_t routes_next(void); /* when an address comes */
void routes_act(void);      /* another program does */
void routes_show(struct node *n);
void routes_show_destination(struct node *n); /* the default one; the routes are there */
struct netconf routes_conf(const struct func *f);
void routes_show_gids(uint32_t ifindex, const char *netdev, struct port *port);
int routes_write_conf(const char *path, const char *value); /* "NETDEV/KEY" */
void routes_look_up(struct lookup *l);
void routes_check(void);
void routes_check_reverted(void);

bool os_is_managed(const struct func *f); /* os.c: by the configuration of now */
/* os.c: a change of this function that is felt by nobody; NULL: of what is gone. */
int os_touch(const struct func *f, const char *what);
/* The same of one that takes its link away for a moment. */
int os_touch_felt(const struct func *f, const char *what);
/* The same of one that takes it away. */
int os_touch_away(const struct func *f, const char *what);

/* priorities.c */
void priorities_bind(struct func *f); /* as its card has them */
void priorities_write(FILE *f);       /* what is asked for */
void priorities_answer(struct node *n);
void priorities_show(const struct func *f, struct port *port);
void priorities_forget(void); /* by "revert" */
void priorities_check_reverted(void);

/* namespaces.c */
bool is_life_with_namespaces(void);
void namespaces_boot(void);
void namespaces_write(FILE *f); /* what is asked for */
void namespaces_show(struct node *n);
void namespaces_move(struct func *f); /* into a pod, or back */
bool namespaces_has_followed(const struct func *f);
void namespaces_leave(void);
void namespaces_check(void);

/* metadata.c */
bool is_life_with_metadata(void);
void metadata_boot(void);
void metadata_check_address(const struct address *a); /* one that is set */

/* smc.c */
bool is_life_with_smc(void);
void smc_boot(void);
void smc_write(FILE *f); /* what is asked for */
void smc_show(struct node *n);
bool smc_is_missing(void);
void smc_act(struct func *f); /* another program does */
void smc_check(void);

/* kubelet.c */
void kubelet_boot(void);
void kubelet_write(FILE *f); /* what is asked for */
void kubelet_begin_pass(void);
void kubelet_show(const struct config *c, struct node *n);
void kubelet_act(void); /* another program does */
int kubelet_request(enum want what);

/* driver.c */
void driver_boot(void);
void driver_write(FILE *f); /* what is asked for */
void driver_show(struct node *n);

/* links.c */
void links_boot(void);
void links_configure(void);        /* another configuration is in force */
void links_break(void);            /* what was heard before says nothing of what comes */
void links_listen(void);           /* from here on; what was before is not known */
void links_hear(void);             /* that announcements were lost */
void links_touch(struct func *f);  /* something is done to it that may take its carrier */
void links_forget(struct func *f); /* what was counted */
void links_set(struct func *f, bool is_up, bool has_carrier, uint32_t mtu);
void links_bounce(struct func *f); /* its cable */
void links_gone(struct func *f);   /* called before its netdev is */
void links_here(struct func *f);
uint64_t links_next(void);
void links_go_on(void);
void links_write(FILE *f); /* what is asked for */
const struct link_log *links_begin_pass(void);
void links_look(void);
void links_end_pass(const struct pass_result *result);
void links_see_plan(const struct plan *p);
void links_check_plugin_file(const char *text);
void links_check_quiet(void);
void links_check_end(void);

/* others.c */
void others_begin(void); /* with a boot */
uint64_t others_next(void);
void others_go_on(void);
void others_tell(void); /* something that has an event happened */
void others_tell_late(void);
void others_leave(void); /* who makes faults; who uses something stays */
void others_give_back(void);
void others_forget_given(void);
void others_check_given(void); /* what pods gave back is as it was */
struct func *others_any(bool is_vf);
void others_use(struct func *f);
void others_see_failure(const char *target);
void others_see_link(struct func *f);

/* Does it to this function, or what it is named after. Return: is there such an event? */
bool others_do(const char *what, struct func *f);

/* script.c: the cards of a script; NULL: it cannot be read. */
const char *script_open(const char *path, uint64_t *ret_seed);
bool script_is_on(void);
bool script_is_over(void); /* nothing of it is left */
bool script_boot(void);    /* is there another boot? It begins */
uint64_t script_next(void);
void script_go_on(void);

/* life.c: the service is woken. */
void life_event(void);
/* An administrator gives a command, once no pass is running. */
void life_command(void);
void life_configure(const char *text); /* of a script */

/* world.c */
struct world sim_world(void);

/* life.c: one life. @cards: of a script, or NULL. Return: is it as it should be? */
bool life_run(uint64_t seed, const char *cards, bool is_traced);
