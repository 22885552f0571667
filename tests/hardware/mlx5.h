/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of a ConnectX: what mlx5_core and mlx5_ib ask of the card and its firmware, and no
 * packets.
 *
 * mlx5.c has the module, its parameters, the initialization segment and the command queue;
 * mlx5_commands.c answers commands, mlx5_caps.c those about capabilities, mlx5_lag.c those about a
 * LAG, and mlx5_queues.c has event, completion and send queues.
 */
#ifndef SOFT_MLX5_H
#define SOFT_MLX5_H

#include <linux/mlx5/device.h>
#include <linux/mlx5/driver.h>
#include <linux/mlx5/mlx5_ifc.h>
#include <linux/mlx5/port.h>
#include <linux/xarray.h>

#include "bus.h"

#define N_COMMANDS 32 /* entries of the command queue */
#define N_EQS      64

/* A ring in the memory of the driver: an event queue, a completion queue, a send queue, or the send
 * queue of a queue pair. */
struct cx_ring {
	u32 number;
	u32 log_count, stride, page; /* bytes */
	u32 head;                    /* what the card has produced or consumed since the start */
	u32 reports_to;              /* an interrupt vector, an event queue, a completion queue */
	u64 events;                  /* of an event queue: bit N for an event of type N */
	u64 record;                  /* of a send queue: the DMA address of its doorbell record */
	struct {                     /* of a queue pair */
		bool is_pair, has_sends, has_receives;
		u32 start;       /* bytes before the first entry: its receive queue is there */
		u32 user_index;  /* the driver's own name for it */
		u32 received;    /* how many receives were completed */
		u32 received_to; /* their completion queue */
	};
	unsigned int n_pages;
	u64 pages[]; /* DMA addresses */
};

struct cx_function {
	struct soft_function *f;
	struct mlx5_init_seg *iseg;
	bool is_infiniband;
	bool is_enabled;           /* of a VF: the PF said so */
	bool is_crashed;           /* by a fault: its queues are gone, and commands fail */
	bool is_lag, is_vport_lag; /* of the first PF of two: what its driver has made */

	u64 commands;                   /* the DMA address of the command queue, 0 for none */
	unsigned long seen[N_COMMANDS]; /* jiffies when the entry was first seen as the card's, 0
					   while it is not */
	bool is_hung[N_COMMANDS];       /* by a fault: it is never answered */
	unsigned int n_rings;

	struct cx_ring *eqs[N_EQS];
	struct xarray queues; /* of completion and send queues and of pairs, by number; what sends
				 is marked */
	u32 n_handles, n_uars, n_counters;

	/* the virtual port */
	u8 mac[ETH_ALEN];
	u64 node_guid, port_guid;
	bool is_roce, is_port_on; /* the latter of the PF: PAOS */
	u32 link_policy;          /* of a VF: up, down, or as the PF: MLX5_VPORT_ADMIN_STATE_* */
	u32 vport_mtu, port_mtu;
	/* priorities, of the PF: mlx5_qos.c */
	u8 pfc, trust, dscp[64], classes[8], groups[8], shares[8];
	enum ib_port_state told; /* the state of the port, as the driver was told last */

	unsigned long beat; /* jiffies of the last change of the health counter */
};

struct cx_command {
	struct cx_function *fn;
	u16 opcode, mod;
	u8 *in, *out;
	u32 in_bytes, out_bytes;
};

static inline bool is_pf(const struct cx_function *fn)
{
	return fn->f->number == 0;
}

/* Of the same port: 0 is its PF. NULL when there is none of this number. */
static inline struct cx_function *cx_vport(const struct cx_function *fn, unsigned int number)
{
	struct soft_function *f = soft_function(fn->f->card, fn->f->port, number);

	return f ? f->data : NULL;
}

/* mlx5.c */
bool cx_is_up(const struct cx_function *fn); /* its link */
enum ib_port_state cx_port_state(const struct cx_function *fn);
bool cx_has_cable(const struct cx_function *fn);
bool cx_is_refused(const struct cx_function *vf); /* does the firmware not enable it? */
bool cx_is_fault(const char *parameter,
		 const struct cx_function *fn);   /* does the parameter name this function? */
bool cx_is_manager(const struct cx_function *fn); /* of the virtual ports of its VFs */
bool cx_has_dcbx(const struct cx_function *fn);   /* does its firmware set priorities? */
extern bool cx_trace;

/* mlx5_caps.c: MLX5_CAP_*, as in op_mod of QUERY_HCA_CAP; the answer is zero already */
void cx_capabilities(const struct cx_function *fn, unsigned int type, void *cap);

/**
 * cx_run() - answer a command
 * @c: out is zero
 *
 * Return: a status of the firmware, MLX5_CMD_STAT_*; 0 is success, and then out is what it answers
 */
u8 cx_run(struct cx_command *c);

/* mlx5_qos.c: registers */
void cx_init_priorities(struct cx_function *fn);
void cx_priority_registers(struct cx_function *fn, void *reg, bool is_write);
void cx_flow_control(struct cx_function *fn, void *reg, bool is_write);
void cx_trust(struct cx_function *fn, void *reg, bool is_write);
void cx_dscp_map(struct cx_function *fn, void *reg, bool is_write);
void cx_traffic_class(struct cx_function *fn, void *reg, bool is_write);
void cx_shares(struct cx_function *fn, void *reg, bool is_write);
void cx_dcbx(struct cx_function *fn, void *reg, bool is_write);

/* mlx5_lag.c: these return a status as well */
u8 cx_create_lag(struct cx_command *c);
u8 cx_modify_lag(struct cx_command *c);
u8 cx_destroy_lag(struct cx_command *c);
u8 cx_create_vport_lag(struct cx_command *c);
u8 cx_destroy_vport_lag(struct cx_command *c);

/* mlx5_queues.c: these return a status as well */
u8 cx_create_eq(struct cx_command *c);
u8 cx_destroy_eq(struct cx_command *c);
u8 cx_create_cq(struct cx_command *c);
u8 cx_create_sq(struct cx_command *c);
u8 cx_create_pair(struct cx_command *c);
u8 cx_start_pair(struct cx_command *c); /* from reset */
u8 cx_reset_pair(struct cx_command *c);
u8 cx_fail_pair(struct cx_command *c); /* what waits to be received fails */
u8 cx_destroy_queue(struct cx_command *c);
void cx_free_queues(struct cx_function *fn);
bool cx_has_events(const struct cx_function *fn, u8 type); /* does an event queue take them? */
void cx_post(struct cx_function *fn, u8 type, u8 sub_type, const union ev_data *data);
bool cx_serve_queues(struct cx_function *fn); /* true if something was sent */

#endif
