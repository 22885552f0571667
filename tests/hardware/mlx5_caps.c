// SPDX-License-Identifier: GPL-2.0
/* Capabilities. What the model lacks is left zero, and then the driver does not ask for it. */
#include "mlx5.h"

static void general(const struct cx_function *fn, void *cap)
{
	bool is_ethernet = !fn->is_infiniband;

#define SET(field, value) MLX5_SET(cmd_hca_cap, cap, field, value)
	SET(vhca_id, fn->f->card->slot << 8 | soft_devfn(fn->f));
	SET(page_request_disable, 1); /* no memory is lent to the firmware */
	SET(fast_teardown, 1);        /* when the node shuts down */
	SET(port_type, is_ethernet ? MLX5_CAP_PORT_TYPE_ETH : MLX5_CAP_PORT_TYPE_IB);
	SET(num_ports, 1);
	SET(native_port_num, fn->f->port + 1);
	if (is_pf(fn) && is_ethernet && fn->f->card->n_ports > 1) {
		SET(lag_master, 1);
		SET(num_lag_ports, fn->f->card->n_ports);
	}
	SET(vport_group_manager, cx_is_manager(fn));
	SET(eswitch_manager, cx_is_manager(fn) && is_ethernet);
	SET(eth_virt, is_ethernet);
	SET(eth_net_offloads, is_ethernet);
	SET(nic_flow_table, is_ethernet);
	SET(roce, is_ethernet);
	SET(ib_virt, fn->is_infiniband); /* else MADs are asked for what a port is */
	SET(mcam_reg, is_pf(fn));
	SET(vport_counters, 1);
	SET(nic_vport_change_event, 1);
	SET(disable_local_lb_uc, 1);
	SET(disable_local_lb_mc, 1);
	SET(log_max_current_uc_list, 7);
	SET(log_max_current_mc_list, 7);
	SET(log_max_vlan_list, 9);
	SET(log_max_l2_table, 9);
	SET(max_tc, 8);
	SET(qos, is_pf(fn) && is_ethernet);
	SET(ets, is_pf(fn) && is_ethernet);
	SET(dcbx, is_pf(fn) && is_ethernet);
	SET(qcam_reg, is_pf(fn) && is_ethernet);

	SET(uar_sz, 5);
	SET(log_pg_sz, 12);
	SET(log_uar_page_sz, 0);
	SET(num_of_uars_per_page, 1);
	SET(bf, 1);
	SET(log_bf_reg_size, 9);
	SET(log_max_eq, 6);
	SET(log_max_eq_sz, 22);
	SET(max_num_eqs, 32);
	SET(log_max_cq, 17);
	SET(log_max_cq_sz, 22);
	SET(cq_oi, 1);
	SET(cq_moderation, 1);
	SET(cqe_version, 1);
	SET(compact_address_vector, 1);
	SET(cmdif_checksum, 0);
	SET(log_max_mkey, 24);
	SET(log_max_mrw_sz, 31);
	SET(log_max_klm_list_size, 16);
	SET(max_indirection, 4);
	SET(log_max_pd, 16);
	SET(log_max_xrcd, 16);
	SET(log_max_transport_domain, 16);

	SET(rc, 1);
	SET(uc, 1);
	SET(ud, 1);
	SET(xrc, 1); /* mlx5_ib registers no device without */
	SET(apm, 1);
	SET(pkv, 1);
	SET(qkv, 1);
	SET(log_max_qp, 17);
	SET(log_max_qp_sz, 15);
	SET(max_qp_cnt, 8);
	SET(log_max_srq, 16);
	SET(log_max_srq_sz, 15);
	SET(log_max_msg, 30);
	SET(log_max_ra_req_qp, 4);
	SET(log_max_ra_res_qp, 4);
	SET(log_max_mcg, 13);
	SET(max_qp_mcg, 240);
	SET(local_ca_ack_delay, 16);
	SET(gid_table_size, 0);  /* 8 entries */
	SET(pkey_table_size, 0); /* 128 */

	SET(log_max_rq, 16);
	SET(log_max_sq, 16);
	SET(log_max_rmp, 16);
	SET(log_max_rqt, 16);
	SET(log_max_rqt_size, 11);
	SET(log_max_tir, 16);
	SET(log_max_tis, 16);
	SET(log_max_tis_per_sq, 3);
	SET(log_max_wq_sz, 18);
	SET(basic_cyclic_rcv_wqe, 1);
	SET(max_wqe_sz_sq, 1024); /* mlx5e wants 16 blocks of 64 bytes */
	SET(max_wqe_sz_rq, 512);
	SET(max_wqe_sz_sq_dc, 512);
	SET(log_max_stride_sz_sq, 6);
	SET(log_min_stride_sz_sq, 6);
	SET(log_max_stride_sz_rq, 6);
	SET(log_min_stride_sz_rq, 4);
#undef SET
}

static void ethernet(const struct cx_function *fn, void *cap)
{
#define SET(field, value) MLX5_SET(per_protocol_networking_offload_caps, cap, field, value)
	SET(csum_cap, 1);
	SET(vlan_cap, 1);
	SET(max_lso_cap, 18);
	SET(rss_ind_tbl_cap, 7);
	SET(self_lb_en_modifiable, 1);
	SET(wqe_inline_mode, 1);
#undef SET
}

static void roce(const struct cx_function *fn, void *cap)
{
#define SET(field, value) MLX5_SET(roce_cap, cap, field, value)
	SET(roce_version, MLX5_ROCE_VERSION_1_CAP | MLX5_ROCE_VERSION_2_CAP);
	SET(l3_type, MLX5_ROCE_L3_TYPE_IPV4_CAP |
			     MLX5_ROCE_L3_TYPE_IPV6_CAP); /* without, ib_core refuses the device */
	SET(r_roce_dest_udp_port, ROCE_V2_UDP_DPORT);
	SET(r_roce_min_src_udp_port, 0xc000);
	SET(r_roce_max_src_udp_port, 0xffff);
	SET(roce_address_table_size, 16);
#undef SET
}

static void flow_table(void *properties, unsigned int levels)
{
#define SET(field, value) MLX5_SET(flow_table_prop_layout, properties, field, value)
	SET(ft_support, 1);
	SET(max_ft_level, levels);
	SET(log_max_ft_size, 20);
	SET(log_max_ft_num, 20);
	SET(log_max_flow, 20);
	SET(log_max_destination, 10);
	SET(flow_modify_en, 1);
	SET(modify_root, 1);
	SET(identified_miss_table_mode, 1);
	SET(flow_table_modify, 1);
#undef SET
	memset(MLX5_ADDR_OF(flow_table_prop_layout, properties, ft_field_support), 0xff,
	       MLX5_ST_SZ_BYTES(flow_table_fields_supported));
}

static void receive_tables(const struct cx_function *fn, void *cap)
{
	flow_table(MLX5_ADDR_OF(flow_table_nic_cap, cap, flow_table_properties_nic_receive),
		   255); /* with 64 mlx5_core has no tables of a LAG, and mlx5_ib does without */
}

static void eswitch_tables(const struct cx_function *fn, void *cap)
{
	flow_table(MLX5_ADDR_OF(flow_table_eswitch_cap, cap, flow_table_properties_nic_esw_fdb), 4);
	flow_table(MLX5_ADDR_OF(flow_table_eswitch_cap, cap, flow_table_properties_esw_acl_ingress),
		   1);
	flow_table(MLX5_ADDR_OF(flow_table_eswitch_cap, cap, flow_table_properties_esw_acl_egress),
		   1);
}

static void eswitch(const struct cx_function *fn, void *cap)
{
	MLX5_SET(e_switch_cap, cap, vport_svlan_strip, 1);
	MLX5_SET(e_switch_cap, cap, vport_cvlan_strip, 1);
	MLX5_SET(e_switch_cap, cap, vport_cvlan_insert_if_not_exist, 1);
	MLX5_SET(e_switch_cap, cap, vport_cvlan_insert_overwrite, 1);
}

static void (*const groups[])(const struct cx_function *fn, void *cap) = {
	[MLX5_CAP_GENERAL] = general,
	[MLX5_CAP_ETHERNET_OFFLOADS] = ethernet,
	[MLX5_CAP_ROCE] = roce,
	[MLX5_CAP_FLOW_TABLE] = receive_tables,
	[MLX5_CAP_ESWITCH_FLOW_TABLE] = eswitch_tables,
	[MLX5_CAP_ESWITCH] = eswitch,
};

void cx_capabilities(const struct cx_function *fn, unsigned int type, void *cap)
{
	if (type < ARRAY_SIZE(groups) && groups[type])
		groups[type](fn, cap);
}
