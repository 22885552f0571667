// SPDX-License-Identifier: GPL-2.0
/*
 * Event, completion and send queues. What is sent goes nowhere, and is completed at once: a driver
 * that fills its receive queues waits for the completion of a no-op. So is what a queue pair sends,
 * whose receives wait until it fails. The doorbells by which the driver asks for the next event are
 * not looked at: each completion has one.
 */
#include "mlx5.h"

#include <linux/mlx5/cq.h>
#include <linux/mlx5/qp.h>
#include <linux/slab.h>

#define SENDS    XA_MARK_0
#define EQE_SIZE sizeof(struct mlx5_eqe)

static struct cx_ring *ring_new(const void *pages, unsigned int n_pages)
{
	struct cx_ring *ring = kzalloc(struct_size(ring, pages, n_pages), GFP_KERNEL);

	if (!ring)
		return NULL;
	ring->n_pages = n_pages;
	for (unsigned int i = 0; i < n_pages; i++)
		ring->pages[i] = be64_to_cpup((const __be64 *)pages + i);
	return ring;
}

/* The entry with this count, NULL when it cannot be reached. */
static void *entry_at(struct cx_function *fn, const struct cx_ring *ring, u32 count)
{
	u32 at = ring->start + (count & (BIT(ring->log_count) - 1)) * ring->stride;

	if (at / ring->page >= ring->n_pages)
		return NULL;
	return soft_dma(fn->f, ring->pages[at / ring->page] + at % ring->page, ring->stride);
}

/* Says which lap of the ring this is, as the driver does by its own counter. */
static u8 owner_of(const struct cx_ring *ring)
{
	return ring->head >> ring->log_count & 1;
}

/* --- events --- */

static void eq_post(struct cx_function *fn, struct cx_ring *eq, u8 type, u8 sub_type,
		    const union ev_data *data)
{
	struct mlx5_eqe *e = entry_at(fn, eq, eq->head);

	if (!e)
		return;
	memset(e, 0, offsetof(struct mlx5_eqe, owner));
	e->type = type;
	e->sub_type = sub_type;
	e->data = *data;
	wmb(); /* what it says, before it is the driver's */
	WRITE_ONCE(e->owner, owner_of(eq));
	eq->head++;
	soft_interrupt(fn->f, eq->reports_to);
}

static struct cx_ring *eq_for(const struct cx_function *fn, u8 type)
{
	for (unsigned int i = 1; i < N_EQS; i++)
		if (fn->eqs[i] && fn->eqs[i]->events & BIT_ULL(type))
			return fn->eqs[i];
	return NULL;
}

bool cx_has_events(const struct cx_function *fn, u8 type)
{
	return eq_for(fn, type);
}

void cx_post(struct cx_function *fn, u8 type, u8 sub_type, const union ev_data *data)
{
	struct cx_ring *eq = eq_for(fn, type);

	if (eq)
		eq_post(fn, eq, type, sub_type, data);
}

u8 cx_create_eq(struct cx_command *c)
{
	const void *context = MLX5_ADDR_OF(create_eq_in, c->in, eq_context_entry);
	struct cx_ring *eq;
	unsigned int number = 1;

	while (number < N_EQS && c->fn->eqs[number])
		number++;
	if (number == N_EQS)
		return MLX5_CMD_STAT_NO_RES_ERR;
	if (c->in_bytes < MLX5_ST_SZ_BYTES(create_eq_in))
		return MLX5_CMD_STAT_BAD_INP_LEN_ERR;
	eq = ring_new(MLX5_ADDR_OF(create_eq_in, c->in, pas),
		      (c->in_bytes - MLX5_ST_SZ_BYTES(create_eq_in)) / 8);
	if (!eq)
		return MLX5_CMD_STAT_INT_ERR;
	eq->number = number;
	eq->log_count = MLX5_GET(eqc, context, log_eq_size);
	eq->stride = EQE_SIZE;
	eq->page = PAGE_SIZE << MLX5_GET(eqc, context, log_page_size);
	eq->reports_to = MLX5_GET(eqc, context, intr);
	eq->events = MLX5_GET64(create_eq_in, c->in, event_bitmask[0]);
	c->fn->eqs[number] = eq;
	MLX5_SET(create_eq_out, c->out, eq_number, number);
	return 0;
}

u8 cx_destroy_eq(struct cx_command *c)
{
	unsigned int number = MLX5_GET(destroy_eq_in, c->in, eq_number);

	if (number >= N_EQS || !c->fn->eqs[number])
		return MLX5_CMD_STAT_BAD_RES_ERR;
	kfree(c->fn->eqs[number]);
	c->fn->eqs[number] = NULL;
	return 0;
}

/* --- completion and send queues --- */

static u8 keep(struct cx_command *c, struct cx_ring *ring)
{
	ring->number = ++c->fn->n_handles;
	if (xa_err(xa_store(&c->fn->queues, ring->number, ring, GFP_KERNEL))) {
		kfree(ring);
		return MLX5_CMD_STAT_INT_ERR;
	}
	return 0;
}

u8 cx_create_cq(struct cx_command *c)
{
	const void *context = MLX5_ADDR_OF(create_cq_in, c->in, cq_context);
	struct cx_ring *cq;
	u8 status;

	if (c->in_bytes < MLX5_ST_SZ_BYTES(create_cq_in))
		return MLX5_CMD_STAT_BAD_INP_LEN_ERR;
	cq = ring_new(MLX5_ADDR_OF(create_cq_in, c->in, pas),
		      (c->in_bytes - MLX5_ST_SZ_BYTES(create_cq_in)) / 8);
	if (!cq)
		return MLX5_CMD_STAT_INT_ERR;
	cq->log_count = MLX5_GET(cqc, context, log_cq_size);
	cq->stride = sizeof(struct mlx5_cqe64) << MLX5_GET(cqc, context, cqe_sz);
	cq->page = PAGE_SIZE << MLX5_GET(cqc, context, log_page_size);
	cq->reports_to = MLX5_GET(cqc, context, c_eqn_or_apu_element);
	status = keep(c, cq);
	if (!status)
		MLX5_SET(create_cq_out, c->out, cqn, cq->number);
	return status;
}

u8 cx_create_sq(struct cx_command *c)
{
	const void *context = MLX5_ADDR_OF(create_sq_in, c->in, ctx);
	const void *wq = MLX5_ADDR_OF(sqc, context, wq);
	struct cx_ring *sq;
	u8 status;

	if (c->in_bytes < MLX5_ST_SZ_BYTES(create_sq_in))
		return MLX5_CMD_STAT_BAD_INP_LEN_ERR;
	sq = ring_new(MLX5_ADDR_OF(wq, wq, pas),
		      (c->in_bytes - MLX5_ST_SZ_BYTES(create_sq_in)) / 8);
	if (!sq)
		return MLX5_CMD_STAT_INT_ERR;
	sq->log_count = MLX5_GET(wq, wq, log_wq_sz);
	sq->stride = BIT(MLX5_GET(wq, wq, log_wq_stride));
	sq->page = PAGE_SIZE << MLX5_GET(wq, wq, log_wq_pg_sz);
	sq->reports_to = MLX5_GET(sqc, context, cqn);
	sq->record = MLX5_GET64(wq, wq, dbr_addr);
	status = keep(c, sq);
	if (status)
		return status;
	xa_set_mark(&c->fn->queues, sq->number, SENDS);
	MLX5_SET(create_sq_out, c->out, sqn, sq->number);
	return 0;
}

/* --- queue pairs --- */

/* In its memory the receive queue comes first. */
u8 cx_create_pair(struct cx_command *c)
{
	const void *context = MLX5_ADDR_OF(create_qp_in, c->in, qpc);
	struct cx_ring *qp;
	u8 status;

	if (c->in_bytes < MLX5_ST_SZ_BYTES(create_qp_in))
		return MLX5_CMD_STAT_BAD_INP_LEN_ERR;
	qp = ring_new(MLX5_ADDR_OF(create_qp_in, c->in, pas),
		      (c->in_bytes - MLX5_ST_SZ_BYTES(create_qp_in)) / 8);
	if (!qp)
		return MLX5_CMD_STAT_INT_ERR;
	qp->is_pair = true;
	qp->has_sends = !MLX5_GET(qpc, context, no_sq);
	qp->has_receives = MLX5_GET(qpc, context, rq_type) == MLX5_NON_ZERO_RQ;
	qp->log_count = MLX5_GET(qpc, context, log_sq_size);
	qp->stride = MLX5_SEND_WQE_BB;
	qp->page = PAGE_SIZE << MLX5_GET(qpc, context, log_page_size);
	qp->start = MLX5_GET(qpc, context, page_offset) * (qp->page / 64);
	if (qp->has_receives)
		qp->start += 16u << (MLX5_GET(qpc, context, log_rq_stride) +
				     MLX5_GET(qpc, context, log_rq_size));
	qp->reports_to = MLX5_GET(qpc, context, cqn_snd);
	qp->received_to = MLX5_GET(qpc, context, cqn_rcv);
	qp->record = MLX5_GET64(qpc, context, dbr_addr);
	qp->user_index = MLX5_GET(qpc, context, user_index);
	status = keep(c, qp);
	if (!status)
		MLX5_SET(create_qp_out, c->out, qpn, qp->number);
	return status;
}

/* The number is at the same place in each command. */
static struct cx_ring *pair_of(struct cx_command *c)
{
	struct cx_ring *qp = xa_load(&c->fn->queues, MLX5_GET(rst2init_qp_in, c->in, qpn));

	return qp && qp->is_pair ? qp : NULL;
}

/* Between the two the driver sets the doorbell record back. */
u8 cx_start_pair(struct cx_command *c)
{
	struct cx_ring *qp = pair_of(c);

	if (!qp)
		return MLX5_CMD_STAT_BAD_RES_ERR;
	qp->head = qp->received = 0;
	if (qp->has_sends)
		xa_set_mark(&c->fn->queues, qp->number, SENDS);
	return 0;
}

u8 cx_reset_pair(struct cx_command *c)
{
	struct cx_ring *qp = pair_of(c);

	if (!qp)
		return MLX5_CMD_STAT_BAD_RES_ERR;
	xa_clear_mark(&c->fn->queues, qp->number, SENDS);
	return 0;
}

/* Of each kind: the number is at the same place. */
u8 cx_destroy_queue(struct cx_command *c)
{
	struct cx_ring *ring = xa_erase(&c->fn->queues, MLX5_GET(destroy_cq_in, c->in, cqn));

	kfree(ring);
	return ring ? 0 : MLX5_CMD_STAT_BAD_RES_ERR;
}

void cx_free_queues(struct cx_function *fn)
{
	struct cx_ring *ring;
	unsigned long number;

	for (unsigned int i = 1; i < N_EQS; i++) {
		kfree(fn->eqs[i]);
		fn->eqs[i] = NULL;
	}
	xa_for_each(&fn->queues, number, ring)
	{
		xa_erase(&fn->queues, number);
		kfree(ring);
	}
	fn->told = IB_PORT_DOWN;
}

/* Tells that something is over, in the completion queue of this number. */
static void finish(struct cx_function *fn, u32 number, u8 opcode, const void *what)
{
	struct cx_ring *cq = xa_load(&fn->queues, number);
	struct mlx5_cqe64 *e;
	union ev_data data = {};
	void *entry;

	entry = cq ? entry_at(fn, cq, cq->head) : NULL;
	if (!entry)
		return;
	e = entry + cq->stride - sizeof(*e);
	memcpy(e, what, offsetof(struct mlx5_cqe64, op_own));
	wmb(); /* what it says, before it is the driver's */
	WRITE_ONCE(e->op_own, opcode << 4 | owner_of(cq));
	cq->head++;

	data.comp.cqn = cpu_to_be32(cq->number);
	if (cq->reports_to < N_EQS && fn->eqs[cq->reports_to])
		eq_post(fn, fn->eqs[cq->reports_to], MLX5_EVENT_TYPE_COMP, 0, &data);
}

static void complete_send(struct cx_function *fn, const struct cx_ring *sq, u32 opcode, u16 count)
{
	struct mlx5_cqe64 e = {
		.sop_drop_qpn = cpu_to_be32(opcode << 24 | sq->number),
		.srqn = cpu_to_be32(sq->user_index),
		.wqe_counter = cpu_to_be16(count),
	};

	finish(fn, sq->reports_to, MLX5_CQE_REQ, &e);
}

/* What was sent is complete; what waits to be received is flushed. */
u8 cx_fail_pair(struct cx_command *c)
{
	struct cx_ring *qp = pair_of(c);
	const __be32 *record = qp ? soft_dma(c->fn->f, qp->record, 8) : NULL;
	struct mlx5_err_cqe e = { .syndrome = MLX5_CQE_SYNDROME_WR_FLUSH_ERR };
	u16 rung;

	if (!qp)
		return MLX5_CMD_STAT_BAD_RES_ERR;
	rung = record && qp->has_receives ? be32_to_cpu(READ_ONCE(record[MLX5_RCV_DBR]))
					  : qp->received;
	e.srqn = cpu_to_be32(qp->user_index);
	e.s_wqe_opcode_qpn = cpu_to_be32(qp->number);
	for (; (u16)qp->received != rung; qp->received++)
		finish(c->fn, qp->received_to, MLX5_CQE_RESP_ERR, &e);
	return 0;
}

static bool serve_send(struct cx_function *fn, struct cx_ring *sq)
{
	const __be32 *record = soft_dma(fn->f, sq->record, 8);
	u16 rung;

	rung = record ? be32_to_cpu(READ_ONCE(record[MLX5_SND_DBR])) : sq->head;
	if ((u16)sq->head == rung)
		return false;
	rmb(); /* the entries, after their number */
	while ((u16)sq->head != rung) {
		const struct mlx5_wqe_ctrl_seg *wqe = entry_at(fn, sq, sq->head);
		u16 count = sq->head;

		if (!wqe)
			break;
		sq->head += max(
			1u, DIV_ROUND_UP((be32_to_cpu(wqe->qpn_ds) & 0x3f) * 16, MLX5_SEND_WQE_BB));
		if (wqe->fm_ce_se & MLX5_WQE_CTRL_CQ_UPDATE)
			complete_send(fn, sq, be32_to_cpu(wqe->opmod_idx_opcode) & 0xff, count);
	}
	return true;
}

bool cx_serve_queues(struct cx_function *fn)
{
	struct cx_ring *sq;
	unsigned long number;
	bool was_busy = false;

	xa_for_each_marked(&fn->queues, number, sq, SENDS) was_busy |= serve_send(fn, sq);
	return was_busy;
}
