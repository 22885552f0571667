/* SPDX-License-Identifier: Apache-2.0 */
#include "rc-ping.h"

#include <infiniband/verbs.h>
#include <poll.h>

#define WAIT_MSEC 2000
#define N_WORK    2 /* of each queue */

struct end {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char buf[RC_PING_BYTES];
};

struct ping {
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_port_attr attr;
	union ibv_gid gid;
	uint8_t port;
	int gid_index;
	struct end ends[2];
};

static void ping_done(struct ping *p)
{
	for (size_t i = 0; i < ELEMENTSOF(p->ends); i++) {
		struct end *e = &p->ends[i];

		if (e->qp)
			ibv_destroy_qp(e->qp);
		if (e->mr)
			ibv_dereg_mr(e->mr);
		if (e->cq)
			ibv_destroy_cq(e->cq);
	}
	if (p->pd)
		ibv_dealloc_pd(p->pd);
	if (p->channel)
		ibv_destroy_comp_channel(p->channel);
	if (p->context)
		ibv_close_device(p->context);
}

/* Of calls that return NULL or a negative number with errno, which some providers do not set. */
static int failed(void)
{
	return errno > 0 ? -errno : -EIO;
}

static int open_device(struct ping *p, const char *ibdev)
{
	struct ibv_device **list;
	int n = 0;

	list = ibv_get_device_list(&n);
	for (int i = 0; list && i < n && !p->context; i++)
		if (streq(ibv_get_device_name(list[i]), ibdev)) {
			p->context = ibv_open_device(list[i]);
			if (!p->context)
				break;
		}
	if (list)
		ibv_free_device_list(list);
	return p->context ? 0 : errno > 0 ? -errno : -ENODEV;
}

static int query(struct ping *p)
{
	int r;

	r = ibv_query_port(p->context, p->port, &p->attr);
	if (r == 0 && p->gid_index >= 0 &&
	    ibv_query_gid(p->context, p->port, p->gid_index, &p->gid) < 0)
		return failed();
	return -r;
}

static int make_end(struct ping *p, struct end *e)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { N_WORK, N_WORK, 1, 1, 0 },
	};

	e->cq = ibv_create_cq(p->context, 2 * N_WORK, NULL, p->channel, 0);
	e->mr = ibv_reg_mr(p->pd, e->buf, sizeof(e->buf), IBV_ACCESS_LOCAL_WRITE);
	if (!e->cq || !e->mr)
		return failed();
	init.send_cq = init.recv_cq = e->cq;
	e->qp = ibv_create_qp(p->pd, &init);
	return e->qp ? 0 : failed();
}

static int make(struct ping *p)
{
	int r = 0;

	p->pd = ibv_alloc_pd(p->context);
	p->channel = ibv_create_comp_channel(p->context);
	if (!p->pd || !p->channel)
		return failed();
	for (size_t i = 0; i < ELEMENTSOF(p->ends) && r >= 0; i++)
		r = make_end(p, &p->ends[i]);
	return r;
}

/* To INIT, to RTR with the other end as the peer, and to RTS. */
static int connect_end(const struct ping *p, const struct end *e, const struct end *peer)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = p->port
	}, rtr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = p->attr.active_mtu,
		.dest_qp_num = peer->qp->qp_num, .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr = { .dlid = p->attr.lid, .port_num = p->port },
	}, rts = {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 5, .rnr_retry = 5,
		.max_rd_atomic = 1,
	};
	int r;

	if (p->gid_index >= 0) {
		rtr.ah_attr.is_global = 1;
		rtr.ah_attr.grh = (struct ibv_global_route){ .dgid = p->gid,
							     .sgid_index = (uint8_t)p->gid_index,
							     .hop_limit = 64 };
	}
	r = ibv_modify_qp(e->qp, &init,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (r == 0)
		r = ibv_modify_qp(e->qp, &rtr,
				  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					  IBV_QP_MIN_RNR_TIMER);
	if (r == 0)
		r = ibv_modify_qp(e->qp, &rts,
				  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					  IBV_QP_MAX_QP_RD_ATOMIC);
	return -r;
}

static int connect_ends(const struct ping *p)
{
	int r = connect_end(p, &p->ends[0], &p->ends[1]);

	return r < 0 ? r : connect_end(p, &p->ends[1], &p->ends[0]);
}

/* Waits for the next completion of the end: its message went, or one came. */
static int complete(const struct ping *p, const struct end *e)
{
	struct pollfd fd = { .fd = p->channel->fd, .events = POLLIN };
	struct ibv_wc wc = {};
	struct ibv_cq *cq;
	void *context;
	int n, r;

	for (;;) {
		r = ibv_req_notify_cq(e->cq, 0);
		if (r != 0)
			return -r;
		n = ibv_poll_cq(e->cq, 1, &wc); /* one that came before it was asked for */
		if (n != 0)
			break;
		r = poll(&fd, 1, WAIT_MSEC);
		if (r <= 0)
			return r == 0 ? -ETIMEDOUT : -errno;
		if (ibv_get_cq_event(p->channel, &cq, &context) < 0)
			return failed();
		ibv_ack_cq_events(cq, 1);
	}
	return n > 0 && wc.status == IBV_WC_SUCCESS ? 0 : -ECOMM;
}

static int send_message(const struct ping *p, struct end *from, struct end *to)
{
	struct ibv_sge out = { (uintptr_t)from->buf, RC_PING_BYTES, from->mr->lkey },
		       in = { (uintptr_t)to->buf, RC_PING_BYTES, to->mr->lkey };
	struct ibv_recv_wr receive = { .sg_list = &in, .num_sge = 1 }, *bad_receive;
	struct ibv_send_wr send = { .sg_list = &out,
				    .num_sge = 1,
				    .opcode = IBV_WR_SEND,
				    .send_flags = IBV_SEND_SIGNALED },
			   *bad_send;
	int r;

	memset(from->buf, from == p->ends ? 0x5a : 0xa5, RC_PING_BYTES);
	memset(to->buf, 0, RC_PING_BYTES);
	r = ibv_post_recv(to->qp, &receive, &bad_receive);
	if (r == 0)
		r = ibv_post_send(from->qp, &send, &bad_send);
	if (r != 0)
		return -r;
	r = complete(p, from);
	if (r < 0)
		return r;
	r = complete(p, to);
	if (r < 0)
		return r;
	if (memcmp(from->buf, to->buf, RC_PING_BYTES) != 0)
		r = -EBADMSG;
	return r;
}

int rc_ping(const char *ibdev, uint8_t port, int gid_index, const char **ret_step)
{
	_cleanup_(ping_done) struct ping p = { .port = port, .gid_index = gid_index };
	int r;

	errno = 0;
	*ret_step = "open the device";
	r = open_device(&p, ibdev);
	if (r < 0)
		return r;
	*ret_step = "read its port and GID";
	r = query(&p);
	if (r < 0)
		return r;
	*ret_step = "make queue pairs";
	r = make(&p);
	if (r < 0)
		return r;
	*ret_step = "connect the queue pairs";
	r = connect_ends(&p);
	if (r < 0)
		return r;
	*ret_step = "send a message";
	r = send_message(&p, &p.ends[0], &p.ends[1]);
	if (r < 0)
		return r;
	*ret_step = "send the answer";
	return send_message(&p, &p.ends[1], &p.ends[0]);
}
