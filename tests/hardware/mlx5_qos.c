// SPDX-License-Identifier: GPL-2.0
/*
 * Priorities: registers of the port, which outlast the driver. Each is its last value: packets have
 * no priority here.
 */
#include "mlx5.h"

#define N_DSCP 64

void cx_init_priorities(struct cx_function *fn)
{
	fn->trust = MLX5_QPTS_TRUST_PCP;
	for (unsigned int i = 0; i < N_DSCP; i++)
		fn->dscp[i] = i >> 3;
}

void cx_priority_registers(struct cx_function *fn, void *reg, bool is_write)
{
	MLX5_SET(qcam_reg, reg, qos_access_reg_cap_mask.reg_cap.qpts, 1);
	MLX5_SET(qcam_reg, reg, qos_access_reg_cap_mask.reg_cap.qpdpm, 1);
}

void cx_flow_control(struct cx_function *fn, void *reg, bool is_write)
{
	struct cx_function *port = cx_vport(fn, 0);

	if (is_write && is_pf(fn) && MLX5_GET(pfcc_reg, reg, prio_mask_tx))
		port->pfc = MLX5_GET(pfcc_reg, reg, pfctx);
	MLX5_SET(pfcc_reg, reg, pfctx, port->pfc);
	MLX5_SET(pfcc_reg, reg, pfcrx, port->pfc);
}

void cx_trust(struct cx_function *fn, void *reg, bool is_write)
{
	struct cx_function *port = cx_vport(fn, 0);

	if (is_write && is_pf(fn))
		port->trust = MLX5_GET(qpts_reg, reg, trust_state);
	MLX5_SET(qpts_reg, reg, trust_state, port->trust);
}

void cx_dscp_map(struct cx_function *fn, void *reg, bool is_write)
{
	struct cx_function *port = cx_vport(fn, 0);

	for (unsigned int i = 0; i < N_DSCP; i++) {
		void *entry = MLX5_ADDR_OF(qpdpm_reg, reg, dscp[i]);

		if (is_write && is_pf(fn) && MLX5_GET16(qpdpm_dscp_reg, entry, e))
			port->dscp[i] = MLX5_GET16(qpdpm_dscp_reg, entry, prio);
		MLX5_SET16(qpdpm_dscp_reg, entry, prio, port->dscp[i]);
	}
}

void cx_traffic_class(struct cx_function *fn, void *reg, bool is_write)
{
	u8 *class = &cx_vport(fn, 0)->classes[MLX5_GET(qtct_reg, reg, prio)];

	if (is_write && is_pf(fn))
		*class = MLX5_GET(qtct_reg, reg, tclass);
	MLX5_SET(qtct_reg, reg, tclass, *class);
}

void cx_shares(struct cx_function *fn, void *reg, bool is_write)
{
	struct cx_function *port = cx_vport(fn, 0);

	for (unsigned int i = 0; i < 8; i++) {
		void *class = MLX5_ADDR_OF(qetc_reg, reg, tc_configuration[i]);

		if (is_write && is_pf(fn) && MLX5_GET(ets_tcn_config_reg, class, g))
			port->groups[i] = MLX5_GET(ets_tcn_config_reg, class, group);
		if (is_write && is_pf(fn) && MLX5_GET(ets_tcn_config_reg, class, b))
			port->shares[i] = MLX5_GET(ets_tcn_config_reg, class, bw_allocation);
		MLX5_SET(ets_tcn_config_reg, class, group, port->groups[i]);
		MLX5_SET(ets_tcn_config_reg, class, bw_allocation, port->shares[i]);
	}
}

/* Anything but 0 is the firmware's own: mlx5e_dcbnl_query_dcbx_mode(). */
void cx_dcbx(struct cx_function *fn, void *reg, bool is_write)
{
	MLX5_SET(dcbx_param, reg, version_oper, cx_has_dcbx(fn) ? 2 : 0);
}
