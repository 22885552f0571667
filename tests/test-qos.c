/* SPDX-License-Identifier: Apache-2.0 */
/* Words of [QoS], what dcbnl answers, what is planned of it and taken back, and what is shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/dcbnl.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "../src/model/qos.h"
#include "../src/model/use-facts.h"
#include "../src/nccl/nccl-output.h"
#include "../src/os/dcb.h"
#include "../src/qos/qos-output.h"
#include "../src/step/steps.h"

#define PF      "0000:41:00.0"
#define OTHER   "0000:42:00.0"
#define IFINDEX 7
#define NONE    "----------------------------------------------------------------"
#define CLASSES "0000000011111111222222223333333344444444555555556666666677777777"
#define ETS_MLX "10234567 v,v,v,v,v,v,v,v"

static void words_have_one_form(_unused_ void **state)
{
	static const struct {
		const char *kind, *text, *expected; /* NULL: refused */
	} cases[] = {
		{ "pfc", "3", "3" },
		{ "pfc", "4 3", "3,4" },
		{ "pfc", "0,1,2,3,4,5,6,7", "0,1,2,3,4,5,6,7" },
		{ "pfc", "none", "none" },
		{ "pfc", "8", NULL },
		{ "pfc", "3,3", NULL },
		{ "pfc", "3-4", NULL },
		{ "pfc", "", NULL },
		{ "ets", "0:50 3:50", "00010000 50,50,s,s,s,s,s,s" },
		{ "ets", "0:40 3:60 6:strict", "00010020 40,60,s,s,s,s,s,s" },
		{ "ets", "0:strict", "00000000 s,s,s,s,s,s,s,s" },
		{ "ets", "0:12 1:12 2:12 3:12 4:13 5:13 6:13 7:13",
		  "01234567 12,12,12,12,13,13,13,13" },
		{ "ets", "3:100", NULL }, /* where would the others go? */
		{ "ets", "0:50 3:40", NULL },
		{ "ets", "0:50 3:50 3:0", NULL },
		{ "ets", "0:100 3:0", NULL },
		{ "ets", "0:50 3:50x", NULL },
		{ "dscp", "0:1",
		  "1---------------------------------------------------------------" },
		{ "dscp", "0-63:3",
		  "3333333333333333333333333333333333333333333333333333333333333333" },
		{ "dscp", "26:3,64:1", NULL },
		{ "dscp", "26:8", NULL },
		{ "dscp", "26:3 20-30:1", NULL },
		{ "dscp", "30-20:1", NULL },
		{ "dscp", "", NULL },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char ret[QOS_DSCP_LEN] = "";
		const bool is_good = streq(cases[i].kind, "pfc") ? qos_parse_pfc(cases[i].text, ret)
				     : streq(cases[i].kind, "ets")
					     ? qos_parse_ets(cases[i].text, ret)
					     : qos_parse_dscp(cases[i].text, ret);

		if (is_good != !!cases[i].expected)
			fail_msg("%s \"%s\": %d", cases[i].kind, cases[i].text, is_good);
		if (is_good)
			assert_string_equal(ret, cases[i].expected);
	}
}

static void words_come_back(_unused_ void **state)
{
	char ets[QOS_ETS_LEN], dscp[QOS_DSCP_LEN], text[512];

	assert_true(qos_parse_ets("6:strict,0:40 3:60", ets));
	qos_format_ets(ets, text, sizeof(text));
	assert_string_equal(text, "0:40 3:60 6:strict");
	assert_true(qos_parse_dscp("48:6 24-31:3", dscp));
	qos_format_dscp(dscp, text, sizeof(text));
	assert_string_equal(text, "24-31:3 48:6");
}

/* --- what the kernel says --- */

static struct nl_msg *make_answer_of_shares(uint8_t share)
{
	struct dcbmsg head = { .cmd = DCB_CMD_IEEE_GET };
	struct ieee_ets ets = {};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETDCB, 0);
	struct nlattr *ieee;

	memset(ets.tc_tsa, IEEE_8021QAZ_TSA_ETS, sizeof(ets.tc_tsa));
	memset(ets.tc_tx_bw, share, sizeof(ets.tc_tx_bw));
	nlmsg_append(m, &head, sizeof(head), NLMSG_ALIGNTO);
	ieee = nla_nest_start(m, DCB_ATTR_IEEE);
	nla_put(m, DCB_ATTR_IEEE_ETS, sizeof(ets), &ets);
	nla_nest_end(m, ieee);
	return m;
}

static struct nl_msg *make_answer(bool has_parts)
{
	struct dcbmsg head = { .cmd = DCB_CMD_IEEE_GET };
	struct ieee_ets ets = { .prio_tc = { 1, 0, 2, 3, 4, 5, 6, 7 },
				.tc_tsa = { IEEE_8021QAZ_TSA_ETS, IEEE_8021QAZ_TSA_STRICT,
					    IEEE_8021QAZ_TSA_VENDOR, IEEE_8021QAZ_TSA_CB_SHAPER },
				.tc_tx_bw = { 100 } };
	struct ieee_pfc pfc = { .pfc_en = 1 << 3 | 1 << 5 };
	const struct dcb_app apps[] = { { IEEE_8021QAZ_APP_SEL_DSCP, 3, 26 },
					{ IEEE_8021QAZ_APP_SEL_ETHERTYPE, 4, 35 },
					{ IEEE_8021QAZ_APP_SEL_DSCP, 1, 64 } };
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETDCB, 0);
	struct nlattr *ieee, *table;

	nlmsg_append(m, &head, sizeof(head), NLMSG_ALIGNTO);
	nla_put_string(m, DCB_ATTR_IFNAME, "ens1");
	ieee = nla_nest_start(m, DCB_ATTR_IEEE);
	if (has_parts) {
		nla_put(m, DCB_ATTR_IEEE_ETS, sizeof(ets), &ets);
		nla_put(m, DCB_ATTR_IEEE_PFC, sizeof(pfc), &pfc);
		table = nla_nest_start(m, DCB_ATTR_IEEE_APP_TABLE);
		for (size_t i = 0; i < ELEMENTSOF(apps); i++)
			nla_put(m, DCB_ATTR_IEEE_APP, sizeof(apps[i]), &apps[i]);
		nla_nest_end(m, table);
	}
	nla_nest_end(m, ieee);
	if (has_parts)
		nla_put_u8(m, DCB_ATTR_DCBX, DCB_CAP_DCBX_VER_IEEE);
	return m;
}

static void an_answer_becomes_texts(_unused_ void **state)
{
	struct nl_msg *m = make_answer(true);
	struct dcb d;

	assert_int_equal(dcb_parse(nlmsg_hdr(m), &d), 0);
	nlmsg_free(m);
	assert_string_equal(d.pfc, "3,5");
	assert_string_equal(d.ets, "10234567 100,s,v,c,s,s,s,s");
	assert_string_equal(d.dscp,
			    "--------------------------3-------------------------------------");
	assert_true(qos_is_firmware(&d)); /* no DCB_CAP_DCBX_HOST */
	assert_true(qos_is_valid(&d));

	m = make_answer(false);
	assert_int_equal(dcb_parse(nlmsg_hdr(m), &d), 0);
	nlmsg_free(m);
	assert_string_equal(d.pfc, "");
	assert_string_equal(d.ets, "");
	assert_string_equal(d.dscp, NONE);
	assert_false(qos_is_firmware(&d));

	m = make_answer_of_shares(255);
	assert_int_equal(dcb_parse(nlmsg_hdr(m), &d), 0);
	nlmsg_free(m);
	assert_string_equal(d.ets, "00000000 100,100,100,100,100,100,100,100");
	assert_true(qos_is_valid(&d));
}

/* --- what is planned --- */

struct scene {
	struct config config;
	struct device_config section;
	struct pci pcis[2];
	struct netdev netdev;
	struct ibdev ibdev;
	struct port port;
	struct dcb dcb;
	struct device devices[2];
	struct need need;
	struct ledger_entry ledger[8];
	struct user user;
	struct node node;
	struct memory memory;
};

static void set_scene(struct scene *s)
{
	*s = (struct scene){ .netdev = { .ifindex = IFINDEX, .name = "ens1", .pci = PF } };
	COPY(s->pcis[0].address, PF);
	s->pcis[0].class = 0x020000;
	COPY(s->pcis[1].address, "0000:41:00.1");
	COPY(s->pcis[1].physfn, PF);
	s->port = (struct port){ .number = 1, .link_layer = "Ethernet" };
	s->ibdev = (struct ibdev){
		.name = "mlx5_0", .pci = PF, .node_type = "CA", .ports = &s->port, .n_ports = 1
	};
	s->dcb = (struct dcb){ .ifindex = IFINDEX,
			       .dcbx = DCB_CAP_DCBX_HOST,
			       .pfc = "none",
			       .ets = ETS_MLX,
			       .dscp = NONE };
	s->devices[0] = (struct device){ .pci = &s->pcis[0],
					 .netdev = &s->netdev,
					 .ibdev = &s->ibdev,
					 .config = &s->section,
					 .use = DEVICE_FREE };
	s->node = (struct node){ .pcis = s->pcis,
				 .n_pcis = 2,
				 .netdevs = &s->netdev,
				 .n_netdevs = 1,
				 .ibdevs = &s->ibdev,
				 .n_ibdevs = 1,
				 .has_users = true,
				 .has_cm_config = true,
				 .has_dcbs = true,
				 .dcbs = &s->dcb,
				 .n_dcbs = 1 };
	s->memory = (struct memory){ .ledger = s->ledger };
	s->config.qos.trust = TRUST_MODE_DSCP;
	COPY(s->config.qos.pfc, "3");
	assert_true(qos_parse_dscp("26:3 48:6", s->config.qos.dscp));
	COPY(s->config.qos.tos, "106");
}

static void write_plan(const struct plan *p, char *ret, size_t size)
{
	size_t at = 0;

	*ret = '\0';
	for (size_t i = 0; i < p->n_actions; i++) {
		const struct action *a = &p->actions[i];

		at += (size_t)snprintf(ret + at, size - at, "%s%s %s %s->%s", at > 0 ? "\n" : "",
				       verb_name(a->verb), a->subject, a->text.from, a->text.to);
		if (a->class != CLASS_CHANGE)
			at += (size_t)snprintf(ret + at, size - at, " %s %s: %s",
					       class_name(a->class), reason_code(a->reason),
					       a->detail);
	}
	for (size_t i = 0; i < p->n_reasons; i++)
		at += (size_t)snprintf(ret + at, size - at, "%shint %s: %s", at > 0 ? "\n" : "",
				       reason_code(p->reasons[i].reason), p->reasons[i].detail);
}

static void assert_plan(struct scene *s, const char *expected)
{
	struct plan p = { .devices = s->devices, .n_devices = 1 };
	char text[2048];

	assert_int_equal(graph_make(&s->node, &p.graph), 0);
	plan_qos(&s->config, &s->node, &s->memory, &p);
	write_plan(&p, text, sizeof(text));
	assert_string_equal(text, expected);
	p.devices = NULL;
	p.n_devices = 0;
	plan_done(&p);
}

#define TOS  "set-roce ports/1/default_roce_tos ->106"
#define PORT "set-dcb dscp/26 none->3\nset-dcb dscp/48 none->6\nset-dcb pfc none->3\n"

static void what_differs_is_set(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	assert_plan(&s, PORT TOS);

	/* A second time. */
	assert_true(qos_parse_dscp("26:3 48:6", s.dcb.dscp));
	COPY(s.dcb.pfc, "3");
	COPY(s.port.roce_tos, "106");
	assert_plan(&s, "");

	s.config.qos.trust = TRUST_MODE_PCP;
	s.config.qos.dscp[0] = '\0';
	assert_plan(&s, "set-dcb dscp/26 3->none\nset-dcb dscp/48 6->none");

	set_scene(&s);
	s.config.qos.dscp[0] = s.config.qos.tos[0] = '\0';
	assert_true(qos_parse_ets("0:50 3:50", s.config.qos.ets));
	s.config.qos.mode = ROCE_MODE_V2;
	assert_plan(&s, "set-dcb trust pcp->dscp\nset-dcb pfc none->3\n"
			"set-dcb ets " ETS_MLX "->00010000 50,50,s,s,s,s,s,s\n"
			"set-roce ports/1/default_roce_mode ->RoCE v2");
	COPY(s.dcb.dscp, CLASSES);
	s.config.qos.trust = TRUST_MODE_PCP;
	s.config.qos.pfc[0] = s.config.qos.ets[0] = '\0';
	s.config.qos.mode = ROCE_MODE_KEEP;
	assert_plan(&s, "set-dcb trust dscp->pcp");

	s.config = (struct config){};
	assert_plan(&s, "");
}

static void what_must_not_be_set_is_told(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	s.dcb.dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_LLD_MANAGED;
	assert_plan(&s, "set-dcb  -> refused dcbx-firmware: ens1\n" TOS);

	set_scene(&s);
	s.devices[0].need = &s.need;
	s.devices[0].use = DEVICE_NEEDED;
	assert_plan(&s, "set-dcb  -> refused node-nic: ens1: [QoS]\n"
			"set-roce  -> refused node-nic: mlx5_0: [QoS]");

	set_scene(&s);
	s.node.n_dcbs = 0;
	s.node.has_cm_config = false;
	assert_plan(&s, "set-dcb  -> impossible qos-unsupported: ens1\n"
			"set-roce  -> impossible qos-unsupported: mlx5_0: "
			"/sys/kernel/config/rdma_cm is not there");
	s.node.is_copy = true; /* of a capture, which had the answers */
	s.node.has_cm_config = true;
	assert_plan(&s, "set-dcb  -> impossible qos-unsupported: ens1\n" TOS);
	s.node.has_dcbs = s.node.has_cm_config = false;
	assert_plan(&s, "set-dcb  -> waiting not-recorded: ens1\n"
			"set-roce  -> waiting not-recorded: mlx5_0: "
			"/sys/kernel/config/rdma_cm is not there");

	set_scene(&s);
	s.dcb.pfc[0] = '\0';
	assert_plan(&s, "set-dcb  -> impossible qos-unsupported: ens1: pfc\n" TOS);

	set_scene(&s);
	s.ibdev.n_contexts = 2;
	assert_plan(&s,
		    "set-dcb  -> needs-reboot qos-in-use: ens1: mlx5_0 has 2 open contexts\n" TOS);

	set_scene(&s);
	COPY(s.config.qos.pfc, "4");
	assert_plan(&s,
		    "set-dcb dscp/26 none->3\nset-dcb dscp/48 none->6\nset-dcb pfc none->4\n" TOS
		    "\nhint qos-mismatch: RoceToS=106 is DSCP 26, priority 3; PFC=4");

	set_scene(&s);
	s.devices[0].is_in_pod = true;
	assert_plan(&s, "");
}

static void who_uses_a_lag_uses_each_of_its_ports(_unused_ void **state)
{
	struct netdev netdevs[] = {
		{ .ifindex = IFINDEX, .name = "ens1", .pci = PF, .master = IFINDEX + 2 },
		{ .ifindex = IFINDEX + 1, .name = "ens2", .pci = OTHER, .master = IFINDEX + 2 },
		{ .ifindex = IFINDEX + 2, .name = "bond0", .kind = "bond" },
	};
	struct scene s;

	set_scene(&s);
	s.node.netdevs = netdevs;
	s.node.n_netdevs = ELEMENTSOF(netdevs);
	s.devices[0].netdev = &netdevs[0];
	s.devices[0].ibdev = NULL;
	COPY(s.ibdev.pci, OTHER);
	s.ibdev.n_contexts = 2;
	assert_plan(&s, "set-dcb  -> needs-reboot qos-in-use: ens1: mlx5_0 has 2 open contexts");

	netdevs[1].master = 0;
	assert_plan(&s, "set-dcb dscp/26 none->3\nset-dcb dscp/48 none->6\nset-dcb pfc none->3");
}

static void dcb_is_asked_for_only_where_it_is_set(_unused_ void **state)
{
	struct scene s;
	struct plan p;

	set_scene(&s);
	s.node.has_dcbs = false;
	p = (struct plan){ .devices = s.devices, .n_devices = 1 };
	s.config.qos.tos[0] = '\0';
	plan_qos(&s.config, &s.node, &s.memory, &p);
	assert_int_equal(p.n_actions, 0);
	assert_true(questions_ask(&p.questions, QUESTION_DCB));

	p = (struct plan){ .devices = s.devices, .n_devices = 1 };
	s.config = (struct config){ .qos.tos = "106" };
	COPY(s.port.roce_tos, "106");
	plan_qos(&s.config, &s.node, &s.memory, &p);
	assert_int_equal(p.questions.set, 0);
}

static void note(struct scene *s, const char *verb, const char *target, const char *subject,
		 const char *from, const char *to)
{
	struct ledger_entry *e = &s->ledger[s->memory.n_ledger++];

	COPY(e->verb, verb);
	COPY(e->target, target);
	COPY(e->subject, subject);
	COPY(e->from, from);
	COPY(e->to, to);
}

static void revert_puts_back_what_was_there(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;
	char text[1024];

	set_scene(&s);
	assert_true(qos_parse_dscp("26:3 48:5", s.dcb.dscp));
	COPY(s.dcb.pfc, "3");
	COPY(s.port.roce_tos, "106");
	note(&s, "set-dcb", PF, "dscp/26", "none", "3");
	note(&s, "set-dcb", PF, "dscp/48", "none", "6"); /* another program set 5 since */
	note(&s, "set-dcb", PF, "pfc", "none", "3");
	note(&s, "set-dcb", "0000:42:00.0", "pfc", "none", "3"); /* gone */
	note(&s, "set-roce", PF, "ports/1/default_roce_tos", "0", "106");
	assert_int_equal(plan_revert(&s.node, &s.memory, NULL, false, &p), 0);
	assert_true(questions_name(&p.questions, PF)); /* whatever is managed now */
	write_plan(&p, text, sizeof(text));
	assert_string_equal(text, "set-roce ports/1/default_roce_tos 106->0\n"
				  "set-dcb dscp/26 3->none\nset-dcb pfc 3->none");
	assert_true(p.actions[0].is_back);
}

/* --- what is shown --- */

static void nccl_gets_the_same_numbers(_unused_ void **state)
{
	struct ibdev ib = { .name = "mlx5_0" };
	struct port port = { .number = 1 };
	struct nccl_port np = { &ib, &port, PF, "", 10000 };
	struct nccl c = { .ports = &np,
			  .n_ports = 1,
			  .kind = NCCL_V2_IPV4,
			  .index = 3,
			  .traffic_class = 106,
			  .service_level = 3 };
	struct scene s;
	char *text;

	set_scene(&s);
	assert_int_equal(qos_priority(&s.config), 3);
	assert_int_equal(nccl_text(&c, false, false, &text), 0);
	assert_string_equal(text, "NCCL_IB_HCA=mlx5_0:1\nNCCL_IB_GID_INDEX=3\nNCCL_IB_TC=106\n"
				  "NCCL_IB_SL=3\n");
	free(text);

	s.config.qos.dscp[0] = '\0'; /* by the upper bits of DSCP 26 */
	assert_int_equal(qos_priority(&s.config), 3);
	s.config.qos.trust = TRUST_MODE_KEEP;
	assert_int_equal(qos_priority(&s.config), -1);
	c.service_level = c.traffic_class = -1;
	assert_int_equal(nccl_text(&c, false, false, &text), 0);
	assert_string_equal(text, "NCCL_IB_HCA=mlx5_0:1\nNCCL_IB_GID_INDEX=3\n");
	free(text);
}

static void what_is_known_is_shown(_unused_ void **state)
{
	json_t *shown;
	struct scene s;
	char *text;

	set_scene(&s);
	assert_true(qos_parse_ets("0:50 3:50", s.dcb.ets));
	COPY(s.dcb.dscp, CLASSES);
	COPY(s.port.roce_tos, "106");
	shown = output_qos(&s.node, &s.netdev, &s.ibdev);
	text = json_dumps(shown, JSON_COMPACT);
	assert_string_equal(text, "{\"dcbx\":\"host\",\"trust\":\"dscp\",\"pfc\":\"none\","
				  "\"ets\":\"0:50 3:50\",\"dscp\":\"0-7:0 8-15:1 16-23:2 24-31:3 "
				  "32-39:4 40-47:5 48-55:6 56-63:7\",\"tos\":\"106\"}");
	free(text);
	json_decref(shown);

	COPY(s.dcb.ets, ETS_MLX);
	s.dcb.dscp[0] = s.dcb.pfc[0] = '\0';
	shown = output_qos(&s.node, &s.netdev, NULL);
	text = json_dumps(shown, JSON_COMPACT);
	assert_string_equal(text, "{\"dcbx\":\"host\",\"ets\":\"" ETS_MLX "\"}");
	free(text);
	json_decref(shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_have_one_form),
		cmocka_unit_test(words_come_back),
		cmocka_unit_test(an_answer_becomes_texts),
		cmocka_unit_test(what_differs_is_set),
		cmocka_unit_test(what_must_not_be_set_is_told),
		cmocka_unit_test(who_uses_a_lag_uses_each_of_its_ports),
		cmocka_unit_test(dcb_is_asked_for_only_where_it_is_set),
		cmocka_unit_test(revert_puts_back_what_was_there),
		cmocka_unit_test(nccl_gets_the_same_numbers),
		cmocka_unit_test(what_is_known_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
