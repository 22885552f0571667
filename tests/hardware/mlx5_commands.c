// SPDX-License-Identifier: GPL-2.0
#include "mlx5.h"

#include <linux/etherdevice.h>

#define FW_VERSION                                                                                 \
	(16u << 24 | 35 << 16 | 3006) /* as in the initialization segment, in the form of MCQI */
#define MCQI_VERSION 1                /* what is asked for: no public header has it */
#define NO_CABLE     1024             /* in PDDR: nor this */

#define GET(type, field)        MLX5_GET(type##_in, c->in, field)
#define SET(type, field, value) MLX5_SET(type##_out, c->out, field, value)

/* The virtual port that the command is about: all of them have the same first words. */
static struct cx_function *vport_of(struct cx_command *c)
{
	if (!GET(query_vport_state, other_vport))
		return c->fn;
	return is_pf(c->fn) ? cx_vport(c->fn, GET(query_vport_state, vport_number)) : NULL;
}

/* By which the driver knows that two PFs are ports of one card. */
static u64 card_guid(const struct cx_function *fn)
{
	const struct cx_function *first = soft_function(fn->f->card, 0, 0)->data;

	return first->node_guid;
}

/* --- the card --- */

static u8 accept(struct cx_command *c)
{
	return 0;
}

/* A PF enables itself, and its VFs by number; a VF that it did not enable cannot. */
static u8 enable(struct cx_command *c)
{
	unsigned int number = GET(enable_hca, function_id);
	struct cx_function *vf = number ? cx_vport(c->fn, number) : NULL;

	if (!number) {
		c->fn->is_lag = c->fn->is_vport_lag = false; /* a driver that begins */
		return is_pf(c->fn) || c->fn->is_enabled ? 0 : MLX5_CMD_STAT_BAD_RES_STATE_ERR;
	}
	if (!is_pf(c->fn) || !vf)
		return MLX5_CMD_STAT_BAD_PARAM_ERR;
	if (cx_is_refused(vf))
		return MLX5_CMD_STAT_NO_RES_ERR;
	vf->is_enabled = true;
	return 0;
}

static u8 disable(struct cx_command *c)
{
	unsigned int number = GET(disable_hca, function_id);
	struct cx_function *vf = number ? cx_vport(c->fn, number) : NULL;

	if (number && (!is_pf(c->fn) || !vf))
		return MLX5_CMD_STAT_BAD_PARAM_ERR;
	if (vf)
		vf->is_enabled = false;
	return 0;
}

/* Makes something that only has a number: in the same place of each answer. */
static u8 create(struct cx_command *c)
{
	SET(create_cq, cqn, ++c->fn->n_handles);
	return 0;
}

static u8 create_counter(struct cx_command *c)
{
	SET(alloc_q_counter, counter_set_id, 1 + c->fn->n_counters++ % 255);
	return 0;
}

/* A page of the BAR each, after those of the initialization segment and of MSI-X. */
static u8 create_uar(struct cx_command *c)
{
	const struct soft_model *m = c->fn->f->card->model;
	u32 n = ((is_pf(c->fn) ? m->pf_bar : m->vf_bar) >> PAGE_SHIFT) - 16;

	SET(alloc_uar, uar, 16 + c->fn->n_uars++ % n);
	return 0;
}

static u8 query_issi(struct cx_command *c)
{
	SET(query_issi, supported_issi_dw0, 3);
	return 0;
}

static u8 query_adapter(struct cx_command *c)
{
	void *a = MLX5_ADDR_OF(query_adapter_out, c->out, query_adapter_struct);

	MLX5_SET(query_adapter_param_block, a, ieee_vendor_id, 0x2c9);
	memcpy(MLX5_ADDR_OF(query_adapter_param_block, a, vsd_contd_psid), "MT_0000000008", 13);
	return 0;
}

static u8 query_capabilities(struct cx_command *c)
{
	struct cx_function *fn = c->fn;

	if (GET(query_hca_cap, other_function))
		fn = is_pf(fn) ? cx_vport(fn, GET(query_hca_cap, function_id)) : NULL;
	if (!fn)
		return MLX5_CMD_STAT_BAD_PARAM_ERR;
	cx_capabilities(fn, c->mod >> 1, MLX5_ADDR_OF(query_hca_cap_out, c->out, capability));
	return 0;
}

static u8 query_special_contexts(struct cx_command *c)
{
	SET(query_special_contexts, resd_lkey, 0x100);
	SET(query_special_contexts, null_mkey, 0x200);
	return 0;
}

static u8 create_mkey(struct cx_command *c)
{
	SET(create_mkey, mkey_index, ++c->fn->n_handles);
	return 0;
}

/* --- registers --- */

static void port_mtu(struct cx_function *fn, void *reg, bool is_write)
{
	if (is_write)
		fn->port_mtu = MLX5_GET(pmtu_reg, reg, admin_mtu);
	MLX5_SET(pmtu_reg, reg, max_mtu, fn->is_infiniband ? 4096 : 9978);
	MLX5_SET(pmtu_reg, reg, admin_mtu, fn->is_infiniband ? 4096 : fn->port_mtu);
	MLX5_SET(pmtu_reg, reg, oper_mtu, fn->is_infiniband ? 4096 : fn->port_mtu);
}

static void port_type(struct cx_function *fn, void *reg, bool is_write)
{
	if (fn->is_infiniband) {
		MLX5_SET(ptys_reg, reg, ib_link_width_capability, 0xf);
		MLX5_SET(ptys_reg, reg, ib_link_width_oper, 4); /* 4x */
		MLX5_SET(ptys_reg, reg, ib_proto_capability, 0x7f);
		MLX5_SET(ptys_reg, reg, ib_proto_oper, 0x20); /* EDR */
		return;
	}
	MLX5_SET(ptys_reg, reg, eth_proto_capability, MLX5E_PROT_MASK(MLX5E_100GBASE_CR4));
	MLX5_SET(ptys_reg, reg, eth_proto_admin, MLX5E_PROT_MASK(MLX5E_100GBASE_CR4));
	MLX5_SET(ptys_reg, reg, eth_proto_oper,
		 cx_is_up(fn) ? MLX5E_PROT_MASK(MLX5E_100GBASE_CR4) : 0);
}

static void port_state(struct cx_function *fn, void *reg, bool is_write)
{
	if (is_write && is_pf(fn))
		fn->is_port_on = MLX5_GET(paos_reg, reg, admin_status) == MLX5_PORT_UP;
	MLX5_SET(paos_reg, reg, admin_status, fn->is_port_on ? MLX5_PORT_UP : MLX5_PORT_DOWN);
	MLX5_SET(paos_reg, reg, oper_status, cx_is_up(fn) ? MLX5_PORT_UP : MLX5_PORT_DOWN);
}

static void port_lanes(struct cx_function *fn, void *reg, bool is_write)
{
	MLX5_SET(pvlc_reg, reg, vl_hw_cap, 4);
	MLX5_SET(pvlc_reg, reg, vl_admin, 4);
	MLX5_SET(pvlc_reg, reg, vl_operational, 4);
}

static void management(struct cx_function *fn, void *reg, bool is_write)
{
	if (MLX5_GET(mcam_reg, reg, access_reg_group) != MLX5_MCAM_REGS_FIRST_128)
		return;
	MLX5_SET(mcam_reg, reg, mng_access_reg_cap_mask.access_regs.mcqi, 1);
	MLX5_SET(mcam_reg, reg, mng_access_reg_cap_mask.access_regs.mcqs, 1);
}

static void components(struct cx_function *fn, void *reg, bool is_write)
{
	MLX5_SET(mcqs_reg, reg, last_index_flag, 1);
	MLX5_SET(mcqs_reg, reg, identifier, 1); /* the image that is booted */
}

static void component(struct cx_function *fn, void *reg, bool is_write)
{
	void *data = MLX5_ADDR_OF(mcqi_reg, reg, data);

	if (MLX5_GET(mcqi_reg, reg, info_type) == MCQI_VERSION)
		MLX5_SET(mcqi_version, data, version, FW_VERSION);
}

/* Why there is no link: 0 is no cause that is known, others are mlx5e_link_ext_state_opcode_map[].
 */
static void port_trouble(struct cx_function *fn, void *reg, bool is_write)
{
	void *page = MLX5_ADDR_OF(pddr_reg, reg, page_data.pddr_troubleshooting_page);

	if (MLX5_GET(pddr_reg, reg, page_select) ==
	    MLX5_PDDR_REG_PAGE_SELECT_TROUBLESHOOTING_INFO_PAGE)
		MLX5_SET(pddr_troubleshooting_page, page, status_opcode.pddr_monitor_opcode,
			 cx_has_cable(fn) ? 0 : NO_CABLE);
}

static void nothing(struct cx_function *fn, void *reg, bool is_write)
{
}

static const struct {
	u16 id;
	void (*access)(struct cx_function *fn, void *reg, bool is_write);
} registers[] = {
	{ MLX5_REG_PMTU, port_mtu },           { MLX5_REG_PTYS, port_type },
	{ MLX5_REG_PAOS, port_state },         { MLX5_REG_PVLC, port_lanes },
	{ MLX5_REG_MCAM, management },         { MLX5_REG_MCQS, components },
	{ MLX5_REG_MCQI, component },          { MLX5_REG_PPCNT, nothing },
	{ MLX5_REG_PFCC, cx_flow_control },    { MLX5_REG_QCAM, cx_priority_registers },
	{ MLX5_REG_QPTS, cx_trust },           { MLX5_REG_QPDPM, cx_dscp_map },
	{ MLX5_REG_QTCT, cx_traffic_class },   { MLX5_REG_QETCR, cx_shares },
	{ MLX5_REG_DCBX_PARAM, cx_dcbx },      { MLX5_REG_PDDR, port_trouble },
	{ MLX5_REG_PMAOS, nothing },           { MLX5_REG_NODE_DESC, nothing },
	{ MLX5_REG_HOST_ENDIANNESS, nothing },
};

static u8 access_register(struct cx_command *c)
{
	u16 id = GET(access_register, register_id);
	u8 *data = MLX5_ADDR_OF(access_register_out, c->out, register_data);

	if (c->out_bytes < MLX5_ST_SZ_BYTES(access_register_out))
		return MLX5_CMD_STAT_BAD_OUTP_LEN_ERR;
	for (unsigned int i = 0; i < ARRAY_SIZE(registers); i++) {
		if (registers[i].id != id)
			continue;
		memcpy(data, MLX5_ADDR_OF(access_register_in, c->in, register_data),
		       min(c->in_bytes, c->out_bytes) - MLX5_ST_SZ_BYTES(access_register_out));
		registers[i].access(c->fn, data, !c->mod);
		return 0;
	}
	pr_info("soft_mlx5: %s: register %#x is unknown\n", c->fn->f->name, id);
	return MLX5_CMD_STAT_BAD_PARAM_ERR;
}

/* --- virtual ports --- */

static u8 query_vport_state(struct cx_command *c)
{
	struct cx_function *fn = vport_of(c);

	if (!fn)
		return MLX5_CMD_STAT_BAD_PARAM_ERR;
	SET(query_vport_state, admin_state, is_pf(fn) ? fn->is_port_on : fn->link_policy);
	SET(query_vport_state, state, cx_is_up(fn));
	return 0;
}

static u8 modify_vport_state(struct cx_command *c)
{
	struct cx_function *fn = vport_of(c);

	if (!fn)
		return MLX5_CMD_STAT_BAD_PARAM_ERR;
	if (!is_pf(fn))
		fn->link_policy = GET(modify_vport_state, admin_state);
	return 0;
}

static u8 query_nic_vport(struct cx_command *c)
{
	void *context = MLX5_ADDR_OF(query_nic_vport_context_out, c->out, nic_vport_context);
	struct cx_function *fn = vport_of(c);

	if (!fn)
		return MLX5_CMD_STAT_BAD_PARAM_ERR;
	MLX5_SET(nic_vport_context, context, mtu, fn->vport_mtu);
	MLX5_SET(nic_vport_context, context, roce_en, fn->is_roce);
	MLX5_SET(nic_vport_context, context, min_wqe_inline_mode, 1);
	MLX5_SET64(nic_vport_context, context, system_image_guid, card_guid(fn));
	MLX5_SET64(nic_vport_context, context, node_guid, fn->node_guid);
	MLX5_SET64(nic_vport_context, context, port_guid, fn->port_guid);
	ether_addr_copy((u8 *)MLX5_ADDR_OF(nic_vport_context, context, permanent_address) + 2,
			fn->mac);
	return 0;
}

static u8 modify_nic_vport(struct cx_command *c)
{
	const void *context = MLX5_ADDR_OF(modify_nic_vport_context_in, c->in, nic_vport_context);
	struct cx_function *fn = vport_of(c);

	if (!fn)
		return MLX5_CMD_STAT_BAD_PARAM_ERR;
	if (GET(modify_nic_vport_context, field_select.roce_en))
		fn->is_roce = MLX5_GET(nic_vport_context, context, roce_en);
	if (GET(modify_nic_vport_context, field_select.mtu))
		fn->vport_mtu = MLX5_GET(nic_vport_context, context, mtu);
	if (GET(modify_nic_vport_context, field_select.node_guid))
		fn->node_guid = MLX5_GET64(nic_vport_context, context, node_guid);
	if (GET(modify_nic_vport_context, field_select.permanent_address))
		ether_addr_copy(fn->mac, (const u8 *)MLX5_ADDR_OF(nic_vport_context, context,
								  permanent_address) +
						 2);
	return 0;
}

static u8 query_hca_vport(struct cx_command *c)
{
	void *context = MLX5_ADDR_OF(query_hca_vport_context_out, c->out, hca_vport_context);
	struct cx_function *fn = vport_of(c);

	if (!fn)
		return MLX5_CMD_STAT_BAD_PARAM_ERR;
	MLX5_SET(hca_vport_context, context, port_physical_state,
		 cx_is_up(fn) ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_POLLING);
	MLX5_SET(hca_vport_context, context, port_state, cx_port_state(fn));
	MLX5_SET(hca_vport_context, context, vport_state, cx_port_state(fn));
	MLX5_SET(hca_vport_context, context, vport_state_policy, fn->link_policy);
	MLX5_SET(hca_vport_context, context, cap_mask1, 0x2651e848);
	MLX5_SET(hca_vport_context, context, cap_mask1_field_select,
		 0x10000); /* connection management */
	MLX5_SET64(hca_vport_context, context, system_image_guid, card_guid(fn));
	MLX5_SET64(hca_vport_context, context, node_guid, fn->node_guid);
	MLX5_SET64(hca_vport_context, context, port_guid, fn->port_guid);
	MLX5_SET(hca_vport_context, context, lid, fn->f->card->slot << 8 | (soft_devfn(fn->f) + 1));
	MLX5_SET(hca_vport_context, context, sm_lid, 1);
	MLX5_SET(hca_vport_context, context, has_smi, 1);
	return 0;
}

static u8 modify_hca_vport(struct cx_command *c)
{
	const void *context = MLX5_ADDR_OF(modify_hca_vport_context_in, c->in, hca_vport_context);
	struct cx_function *fn = vport_of(c);
	u32 fields = MLX5_GET(hca_vport_context, context, field_select);

	if (!fn)
		return MLX5_CMD_STAT_BAD_PARAM_ERR;
	if (fields & MLX5_HCA_VPORT_SEL_PORT_GUID)
		fn->port_guid = MLX5_GET64(hca_vport_context, context, port_guid);
	if (fields & MLX5_HCA_VPORT_SEL_NODE_GUID)
		fn->node_guid = MLX5_GET64(hca_vport_context, context, node_guid);
	if (fields & MLX5_HCA_VPORT_SEL_STATE_POLICY)
		fn->link_policy = MLX5_GET(hca_vport_context, context, vport_state_policy);
	return 0;
}

static u8 query_gid(struct cx_command *c)
{
	struct cx_function *fn = vport_of(c);
	__be64 *gid = (__be64 *)(c->out + MLX5_ST_SZ_BYTES(query_hca_vport_gid_out));

	if (!fn)
		return MLX5_CMD_STAT_BAD_PARAM_ERR;
	SET(query_hca_vport_gid, gids_num, 1);
	gid[0] = cpu_to_be64(0xfe80ull << 48);
	gid[1] = cpu_to_be64(fn->port_guid);
	return 0;
}

/* The first is the default partition, with full membership. */
static u8 query_pkey(struct cx_command *c)
{
	if (GET(query_hca_vport_pkey, pkey_index) == 0 ||
	    GET(query_hca_vport_pkey, pkey_index) == 0xffff)
		MLX5_SET(pkey, MLX5_ADDR_OF(query_hca_vport_pkey_out, c->out, pkey), pkey, 0xffff);
	return 0;
}

/* --- the table --- */

#define COMMAND(name, function) { MLX5_CMD_OP_##name, function }

static const struct {
	u16 opcode;
	u8 (*run)(struct cx_command *c);
} commands[] = {
	COMMAND(QUERY_HCA_CAP, query_capabilities),
	COMMAND(QUERY_ADAPTER, query_adapter),
	COMMAND(INIT_HCA, accept),
	COMMAND(TEARDOWN_HCA, accept),
	COMMAND(ENABLE_HCA, enable),
	COMMAND(DISABLE_HCA, disable),
	COMMAND(QUERY_PAGES, accept),
	COMMAND(SET_HCA_CAP, accept),
	COMMAND(QUERY_ISSI, query_issi),
	COMMAND(SET_ISSI, accept),
	COMMAND(CREATE_MKEY, create_mkey),
	COMMAND(DESTROY_MKEY, accept),
	COMMAND(QUERY_SPECIAL_CONTEXTS, query_special_contexts),
	COMMAND(CREATE_EQ, cx_create_eq),
	COMMAND(DESTROY_EQ, cx_destroy_eq),
	COMMAND(CREATE_CQ, cx_create_cq),
	COMMAND(DESTROY_CQ, cx_destroy_queue),
	COMMAND(MODIFY_CQ, accept),
	COMMAND(CREATE_QP, cx_create_pair),
	COMMAND(DESTROY_QP, cx_destroy_queue),
	COMMAND(RST2INIT_QP, cx_start_pair),
	COMMAND(INIT2RTR_QP, accept),
	COMMAND(RTR2RTS_QP, accept),
	COMMAND(RTS2RTS_QP, accept),
	COMMAND(INIT2INIT_QP, accept),
	COMMAND(2ERR_QP, cx_fail_pair),
	COMMAND(2RST_QP, cx_reset_pair),
	COMMAND(QUERY_QP, accept),
	COMMAND(CREATE_SRQ, create),
	COMMAND(DESTROY_SRQ, accept),
	COMMAND(CREATE_XRC_SRQ, create),
	COMMAND(DESTROY_XRC_SRQ, accept),
	COMMAND(ARM_XRC_SRQ, accept),
	COMMAND(QUERY_VPORT_STATE, query_vport_state),
	COMMAND(MODIFY_VPORT_STATE, modify_vport_state),
	COMMAND(QUERY_ESW_VPORT_CONTEXT, accept),
	COMMAND(MODIFY_ESW_VPORT_CONTEXT, accept),
	COMMAND(QUERY_NIC_VPORT_CONTEXT, query_nic_vport),
	COMMAND(MODIFY_NIC_VPORT_CONTEXT, modify_nic_vport),
	COMMAND(SET_ROCE_ADDRESS, accept),
	COMMAND(QUERY_HCA_VPORT_CONTEXT, query_hca_vport),
	COMMAND(MODIFY_HCA_VPORT_CONTEXT, modify_hca_vport),
	COMMAND(QUERY_HCA_VPORT_GID, query_gid),
	COMMAND(QUERY_HCA_VPORT_PKEY, query_pkey),
	COMMAND(QUERY_VNIC_ENV, accept),
	COMMAND(QUERY_VPORT_COUNTER, accept),
	COMMAND(ALLOC_Q_COUNTER, create_counter),
	COMMAND(DEALLOC_Q_COUNTER, accept),
	COMMAND(QUERY_Q_COUNTER, accept),
	COMMAND(ALLOC_PD, create),
	COMMAND(DEALLOC_PD, accept),
	COMMAND(ALLOC_UAR, create_uar),
	COMMAND(DEALLOC_UAR, accept),
	COMMAND(ACCESS_REG, access_register),
	COMMAND(ATTACH_TO_MCG, accept),
	COMMAND(DETACH_FROM_MCG, accept),
	COMMAND(ALLOC_XRCD, create),
	COMMAND(DEALLOC_XRCD, accept),
	COMMAND(ALLOC_TRANSPORT_DOMAIN, create),
	COMMAND(DEALLOC_TRANSPORT_DOMAIN, accept),
	COMMAND(SET_L2_TABLE_ENTRY, accept),
	COMMAND(DELETE_L2_TABLE_ENTRY, accept),
	COMMAND(CREATE_TIR, create),
	COMMAND(MODIFY_TIR, accept),
	COMMAND(DESTROY_TIR, accept),
	COMMAND(CREATE_SQ, cx_create_sq),
	COMMAND(MODIFY_SQ, accept),
	COMMAND(DESTROY_SQ, cx_destroy_queue),
	COMMAND(CREATE_RQ, create),
	COMMAND(MODIFY_RQ, accept),
	COMMAND(DESTROY_RQ, accept),
	COMMAND(CREATE_RMP, create),
	COMMAND(MODIFY_RMP, accept),
	COMMAND(DESTROY_RMP, accept),
	COMMAND(CREATE_TIS, create),
	COMMAND(MODIFY_TIS, accept),
	COMMAND(DESTROY_TIS, accept),
	COMMAND(CREATE_RQT, create),
	COMMAND(MODIFY_RQT, accept),
	COMMAND(DESTROY_RQT, accept),
	COMMAND(SET_FLOW_TABLE_ROOT, accept),
	COMMAND(CREATE_FLOW_TABLE, create),
	COMMAND(MODIFY_FLOW_TABLE, accept),
	COMMAND(DESTROY_FLOW_TABLE, accept),
	COMMAND(CREATE_FLOW_GROUP, create),
	COMMAND(DESTROY_FLOW_GROUP, accept),
	COMMAND(SET_FLOW_TABLE_ENTRY, accept),
	COMMAND(DELETE_FLOW_TABLE_ENTRY, accept),
	COMMAND(CREATE_LAG, cx_create_lag),
	COMMAND(MODIFY_LAG, cx_modify_lag),
	COMMAND(DESTROY_LAG, cx_destroy_lag),
	COMMAND(CREATE_VPORT_LAG, cx_create_vport_lag),
	COMMAND(DESTROY_VPORT_LAG, cx_destroy_vport_lag),
};

u8 cx_run(struct cx_command *c)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].opcode == c->opcode)
			return commands[i].run(c);
	return MLX5_CMD_STAT_BAD_OP_ERR;
}
