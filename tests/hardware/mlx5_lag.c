// SPDX-License-Identifier: GPL-2.0
/*
 * A LAG of the two ports of a card, which the driver of the first makes when they are the only
 * ports of a bond. No packet chooses a port here, so that the map of ports is checked, and not
 * kept.
 */
#include "mlx5.h"

static bool is_master(const struct cx_function *fn)
{
	return is_pf(fn) && fn->f->port == 0 && fn->f->card->n_ports > 1;
}

static bool is_port(const struct cx_function *fn, unsigned int number)
{
	return number >= 1 && number <= fn->f->card->n_ports;
}

static u8 check_map(struct cx_command *c, const void *lag)
{
	bool is_map = is_port(c->fn, MLX5_GET(lagc, lag, tx_remap_affinity_1)) &&
		      is_port(c->fn, MLX5_GET(lagc, lag, tx_remap_affinity_2));

	return is_map ? 0 : MLX5_CMD_STAT_BAD_PARAM_ERR;
}

u8 cx_create_lag(struct cx_command *c)
{
	u8 status;

	if (!is_master(c->fn) || c->fn->is_lag)
		return MLX5_CMD_STAT_BAD_RES_STATE_ERR;
	status = check_map(c, MLX5_ADDR_OF(create_lag_in, c->in, ctx));
	c->fn->is_lag = !status;
	return status;
}

u8 cx_modify_lag(struct cx_command *c)
{
	if (!c->fn->is_lag)
		return MLX5_CMD_STAT_BAD_RES_STATE_ERR;
	return check_map(c, MLX5_ADDR_OF(modify_lag_in, c->in, ctx));
}

/* The RDMA device of the LAG goes first. */
u8 cx_destroy_lag(struct cx_command *c)
{
	if (!c->fn->is_lag || c->fn->is_vport_lag)
		return MLX5_CMD_STAT_BAD_RES_STATE_ERR;
	c->fn->is_lag = false;
	return 0;
}

u8 cx_create_vport_lag(struct cx_command *c)
{
	if (!c->fn->is_lag || c->fn->is_vport_lag)
		return MLX5_CMD_STAT_BAD_RES_STATE_ERR;
	c->fn->is_vport_lag = true;
	return 0;
}

u8 cx_destroy_vport_lag(struct cx_command *c)
{
	if (!c->fn->is_vport_lag)
		return MLX5_CMD_STAT_BAD_RES_STATE_ERR;
	c->fn->is_vport_lag = false;
	return 0;
}
