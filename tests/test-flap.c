/* SPDX-License-Identifier: Apache-2.0 */
/* What is a loss of a link, what flaps, and what node-problem-detector gets to read of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/health/health-output.h"
#include "../src/model/link-log.h"
#include "../src/step/steps.h"

#define SEC     USEC_PER_SEC
#define IFINDEX 7

/* A PF with one VF, over several passes. */
struct scene {
	struct config config;
	struct pci pcis[2];
	struct netdev netdev;
	struct ibdev ibdev; /* of the VF */
	struct ibdev own;   /* of the PF: it has no netdev then */
	struct port port;
	struct device_memory seen;
	struct device devices[2];
	struct link_log log;
	uint64_t now_usec;
	uint64_t again_usec;
	bool is_downed_asked;
	char hints[512];       /* of the last pass: "code detail; ..." */
	bool is_in_pod;        /* the VF */
	struct action *action; /* done in each pass */
};

static void set_scene(struct scene *s)
{
	*s = (struct scene){ .now_usec = 1000 * SEC };
	s->config.health.flap = (struct flap){ 3, 3600 * SEC };
	s->config.health.quiet_usec = 600 * SEC;
	s->config.health.act = HEALTH_ACT_EXCLUDE;
	COPY(s->pcis[0].address, "0000:41:00.0");
	COPY(s->pcis[1].address, "0000:41:00.1");
	COPY(s->pcis[1].physfn, "0000:41:00.0");
	s->netdev = (struct netdev){ .ifindex = IFINDEX,
				     .mtu = 1500,
				     .is_up = true,
				     .has_carrier = true,
				     .carrier_downs = 5 };
	COPY(s->seen.pci, "0000:41:00.0");
	s->seen.mtu = 1500;
	link_log_break(&s->log, s->now_usec);
}

/* The device is usable at each of them; what it found is remembered. */
static void pass(struct scene *s)
{
	struct attempts tried = { .actions = s->action, .n_actions = s->action ? 1 : 0 };
	struct memory memory = { .devices = &s->seen, .n_devices = 1 };
	struct node n = { .pcis = s->pcis, .n_pcis = 2, .now_usec = s->now_usec };
	struct plan p = { .tried = &tried, .devices = s->devices, .n_devices = 2 };
	size_t at = 0;

	s->devices[0] = (struct device){ .pci = &s->pcis[0], .netdev = &s->netdev };
	if (s->own.n_ports > 0)
		s->devices[0] = (struct device){ .pci = &s->pcis[0], .ibdev = &s->own };
	s->devices[1] = (struct device){ .pci = &s->pcis[1], .ibdev = &s->ibdev, .is_vf = true };
	s->devices[1].is_in_pod = s->is_in_pod;
	link_log_give(&s->log, &n);
	plan_flaps(&s->config, &n, &memory, &p);
	s->hints[0] = '\0';
	for (size_t i = 0; i < p.n_reasons; i++)
		at += (size_t)snprintf(s->hints + at, sizeof(s->hints) - at, "%s%s %s",
				       i > 0 ? "; " : "", reason_code(p.reasons[i].reason),
				       p.reasons[i].detail);
	s->again_usec = p.again_usec;
	s->is_downed_asked = questions_ask(&p.questions, QUESTION_LINK_DOWNED);
	questions_done(&p.questions);
	s->seen.losses = s->devices[0].losses;
	s->seen.mtu = s->netdev.mtu;
	s->seen.was_usable = true;
	if (!device_lacks_carrier(&s->devices[0]))
		s->seen.no_carrier_usec = 0;
	else if (s->seen.no_carrier_usec == 0)
		s->seen.no_carrier_usec = s->now_usec;
	free(p.reasons);
	free(n.link_news);
}

/* The kernel announces the link as it is now. */
static void announce(struct scene *s)
{
	const struct link_news news = { .ifindex = s->netdev.ifindex,
					.carrier_downs = s->netdev.carrier_downs,
					.mtu = s->netdev.mtu,
					.is_up = s->netdev.is_up,
					.usec = s->now_usec,
					.sec = (int64_t)(s->now_usec / SEC) };

	link_log_add(&s->log, &news);
}

static void lose(struct scene *s, uint32_t n)
{
	s->netdev.carrier_downs += n;
	announce(s);
}

/* Ready since some time. */
static void set_ready(struct scene *s)
{
	set_scene(s);
	pass(s);
	s->now_usec += 60 * SEC;
	pass(s);
}

static void losses_are_counted_exactly(_unused_ void **state)
{
	struct scene s;

	set_ready(&s);
	lose(&s, 1);
	announce(&s); /* carrier is back: the same number */
	lose(&s, 3);  /* one announcement of three */
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 4);
	pass(&s);
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 4);
	/* A pass may see the number before its announcement comes. */
	s.netdev.carrier_downs++;
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 4);
	announce(&s);
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 5);
	assert_int_equal(s.devices[0].losses.n_last, 5);
}

static void a_link_that_is_set_down_loses_nothing(_unused_ void **state)
{
	struct scene s;

	set_ready(&s);
	for (int i = 0; i < 5; i++) {
		s.netdev.is_up = false;
		lose(&s, 1);
		s.netdev.is_up = true;
		announce(&s);
	}
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 0);
	lose(&s, 1); /* the card bounces as it comes up */
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 0);
	s.now_usec += 3 * SEC;
	lose(&s, 1); /* and the next one counts */
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 1);
}

static void a_loss_by_a_change_of_ours_does_not_count(_unused_ void **state)
{
	struct action action = { .verb = VERB_SET_NUM_VFS,
				 .step = STEP_VF,
				 .target = "",
				 .subject = "",
				 .detail = "",
				 .error = "" };
	struct scene s;

	set_scene(&s);
	lose(&s, 2); /* before it is handed out */
	pass(&s);
	lose(&s, 1); /* an announcement that was on its way */
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 0);

	set_ready(&s);
	s.netdev.mtu = 9000; /* of another program: the driver restarts its card */
	lose(&s, 1);
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 0);

	set_ready(&s);
	action.target = "0000:41:00.0";
	s.action = &action;
	s.netdev.carrier_downs++;
	pass(&s);
	announce(&s);
	s.now_usec += SEC;
	lose(&s, 1);
	s.action = NULL;
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 0);
	s.now_usec += 2 * SEC;
	lose(&s, 1);
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 1);

	/* One that failed before this pass does nothing in it. */
	set_ready(&s);
	action.is_recalled = true;
	s.action = &action;
	pass(&s);
	s.now_usec += SEC;
	lose(&s, 1);
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 1);
}

static void what_nobody_saw_is_not_counted(_unused_ void **state)
{
	struct scene s;

	set_ready(&s);
	s.netdev.carrier_downs += 4; /* the service is restarted meanwhile */
	link_log_break(&s.log, s.now_usec);
	pass(&s);
	announce(&s);
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 0);
	s.now_usec += 10 * SEC;
	lose(&s, 1);
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 1);

	s.netdev.ifindex++; /* made anew by its driver, from 0 */
	s.netdev.carrier_downs = 0;
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 1);
}

static void a_card_that_bounces_after_a_change_has_lost_nothing(_unused_ void **state)
{
	struct scene s;

	set_ready(&s);
	/* A pass that set the MTU was killed, and noted nothing. */
	link_log_break(&s.log, s.now_usec);
	announce(&s);
	s.now_usec += SEC;
	lose(&s, 1);
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 0);

	s.now_usec += 60 * SEC;
	s.netdev.mtu = 9000; /* by another program */
	lose(&s, 1);
	s.now_usec += SEC;
	lose(&s, 1);
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 0);
	s.now_usec += 2 * SEC;
	lose(&s, 1);
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 1);
}

/* The first announcement may be the one of its way up: ib_ipoib's netdevs have none before it. */
static void a_link_that_was_not_known_may_bounce(_unused_ void **state)
{
	struct scene s;

	set_ready(&s);
	s.netdev.ifindex++; /* its driver was loaded again */
	s.netdev.carrier_downs = 0;
	announce(&s);
	s.now_usec += SEC;
	lose(&s, 1);
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 0);
}

static void a_link_whose_mtu_changed_unheard_may_bounce(_unused_ void **state)
{
	struct scene s;

	set_ready(&s);
	link_log_break(&s.log, s.now_usec);
	s.now_usec += 10 * SEC;
	s.netdev.mtu = 9000; /* by another program */
	lose(&s, 1);
	s.now_usec += SEC;
	lose(&s, 1);
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 0);
	s.now_usec += 2 * SEC;
	lose(&s, 1);
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 1);
}

static void a_link_counts_again_when_its_way_up_was_lost(_unused_ void **state)
{
	struct scene s;

	set_ready(&s);
	s.netdev.is_up = false;
	announce(&s);
	s.netdev.is_up = true;
	link_log_break(&s.log, s.now_usec);
	pass(&s);
	s.now_usec += 3 * SEC;
	lose(&s, 1);
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 1);
}

/* Without IPoIB, at each look. */
static void a_port_without_netdev_has_a_counter_of_its_own(_unused_ void **state)
{
	static const struct {
		uint32_t link_downed; /* of its port */
		bool is_active;
		uint32_t losses, returns;
		const char *hints;
	} rows[] = {
		{ 7, true, 0, 0, "" }, /* before it was usable */
		{ 8, true, 1, 1, "" },
		{ 9, false, 2, 1, "" },
		{ 9, true, 2, 2, "" },
		{ 1, true, 3, 3, /* set to 0 by another program */
		  "link-flapping 3 losses, the last 1970-01-01 00:00:08 00:00:09 00:00:01 UTC; "
		  "left out" },
		{ 0, true, 3, 3,
		  "link-flapping 3 losses, the last 1970-01-01 00:00:08 00:00:09 00:00:01 UTC; "
		  "left out" },
	};
	struct scene s;

	set_scene(&s);
	s.own = (struct ibdev){ .index = IFINDEX, .ports = &s.port, .n_ports = 1 };
	COPY(s.port.link_layer, "InfiniBand");
	COPY(s.port.state, "ACTIVE");
	pass(&s);
	assert_true(s.is_downed_asked);
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		s.now_usec += SEC;
		s.own.link_downed = rows[i].link_downed;
		s.own.link_downed_sec = rows[i].link_downed;
		if (rows[i].link_downed == 0)
			s.own.link_downed_sec = 1;
		COPY(s.port.state, rows[i].is_active ? "ACTIVE" : "DOWN");
		pass(&s);
		assert_int_equal(s.devices[0].losses.n, rows[i].losses);
		assert_int_equal(s.devices[0].losses.n_back, rows[i].returns);
		assert_string_equal(s.hints, rows[i].hints);
	}

	set_scene(&s);
	s.config.health.drop_usec = 240 * SEC;
	s.own = (struct ibdev){ .ports = &s.port, .n_ports = 1 };
	COPY(s.port.link_layer, "InfiniBand");
	COPY(s.port.state, "ACTIVE");
	pass(&s);
	COPY(s.port.state, "DOWN");
	pass(&s);
	s.now_usec += 240 * SEC;
	pass(&s);
	assert_string_equal(s.hints, "link-dropped no carrier for 240 s or longer");

	COPY(s.port.link_layer, "Ethernet"); /* its netdev is in a pod */
	pass(&s);
	assert_false(s.is_downed_asked);
	assert_string_equal(s.hints, "");
}

static void a_nic_flaps_until_it_was_quiet(_unused_ void **state)
{
	struct scene s;
	uint64_t last_usec;

	set_ready(&s);
	for (int i = 0; i < 3; i++) {
		assert_string_equal(s.hints, "");
		s.now_usec += 10 * SEC;
		lose(&s, 1);
		pass(&s);
	}
	last_usec = s.now_usec;
	assert_string_equal(s.hints, "link-flapping 3 losses, the last 1970-01-01 00:17:50 "
				     "00:18:00 00:18:10 UTC; left out");
	assert_true(s.devices[0].is_excluded && s.devices[1].is_excluded);
	assert_int_equal(s.again_usec, last_usec + 600 * SEC);

	s.is_in_pod = true;
	pass(&s);
	assert_false(s.devices[1].is_excluded);
	s.is_in_pod = false;
	s.ibdev.n_contexts = 1; /* a shared one is in no pod's namespace */
	pass(&s);
	assert_true(s.devices[0].is_excluded);
	assert_false(s.devices[1].is_excluded);
	s.ibdev.n_contexts = UINT32_MAX; /* it is not told */
	pass(&s);
	assert_true(s.devices[1].is_excluded);
	s.ibdev.n_contexts = 0;

	s.now_usec = last_usec + 600 * SEC;
	pass(&s);
	assert_string_equal(s.hints, "");
	assert_false(s.devices[0].is_excluded || s.devices[1].is_excluded);
	assert_int_equal(s.again_usec, 0);

	/* Outside of the window there are two. */
	s.now_usec = last_usec + 3600 * SEC;
	lose(&s, 1);
	pass(&s);
	assert_string_equal(s.hints, "");
	assert_int_equal(s.devices[0].losses.n, 4);
}

static void without_exclude_it_is_only_told(_unused_ void **state)
{
	struct scene s;

	set_ready(&s);
	s.config.health.act = HEALTH_ACT_NONE;
	lose(&s, 3);
	pass(&s);
	assert_true(s.devices[0].is_flapping);
	assert_false(s.devices[0].is_excluded);
	s.config.health.act = HEALTH_ACT_EXCLUDE;
	for (enum plugin_type i = 0; i < _PLUGIN_N; i++) {
		s.config.plugin.type = i; /* a DRA driver finds its devices itself */
		pass(&s);
		assert_int_equal(s.devices[0].is_excluded,
				 i != PLUGIN_DRANET && i != PLUGIN_DRA_SRIOV);
	}
}

static void a_dropped_link_is_told_after_its_time(_unused_ void **state)
{
	struct scene s;

	set_ready(&s);
	s.config.health.drop_usec = 240 * SEC;
	s.netdev.has_carrier = false;
	lose(&s, 1);
	pass(&s);
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 1);
	assert_int_equal(s.devices[0].losses.n_back, 0);
	assert_string_equal(s.hints, "");
	assert_int_equal(s.again_usec, s.now_usec + 240 * SEC);
	s.now_usec += 240 * SEC;
	pass(&s);
	assert_string_equal(s.hints, "link-dropped no carrier for 240 s or longer");
	s.netdev.has_carrier = true;
	pass(&s);
	assert_int_equal(s.devices[0].losses.n_back, 1);
	assert_string_equal(s.hints, "");
}

static void without_health_nothing_is_counted(_unused_ void **state)
{
	struct scene s;

	set_ready(&s);
	s.config.health.flap.count = 0;
	lose(&s, 3);
	pass(&s);
	assert_false(s.devices[0].is_watched);
	assert_int_equal(s.devices[0].losses.n, 0);
	assert_int_equal(s.again_usec, 0);
}

static void the_log_is_bounded_and_keeps_its_order(_unused_ void **state)
{
	struct scene s;
	struct node n = {};

	set_scene(&s);
	for (int i = 0; i < 2 * LINK_LOG_MAX; i++)
		lose(&s, 1);
	link_log_give(&s.log, &n);
	assert_int_equal(n.n_link_news, LINK_LOG_MAX);
	for (size_t i = 1; i < n.n_link_news; i++)
		assert_true(n.link_news[i].usec > n.link_news[i - 1].usec);
	assert_int_equal(n.link_news[LINK_LOG_MAX - 1].carrier_downs, 5 + 2 * LINK_LOG_MAX);
	free(n.link_news);
}

static void vfs_leave_room_for_their_pf(_unused_ void **state)
{
	struct link_news news = { .mtu = 1500, .is_vf = true };
	struct scene s;

	set_ready(&s);
	lose(&s, 1);
	for (uint32_t i = 0; i < 2 * LINK_LOG_MAX; i++) {
		news.ifindex = 100 + i;
		link_log_add(&s.log, &news);
	}
	pass(&s);
	assert_int_equal(s.devices[0].losses.n, 1);
}

#define STATE(state_, link_, reason_, health_)                                                     \
	"{\"boot_id\":\"b\",\"state\":\"" state_ "\",\"devices\":[{\"pci\":\"0000:41:00.0\","      \
	"\"netdev\":\"ens1\",\"ibdev\":\"mlx5_0\"" link_                                           \
	",\"vfs\":[{\"pci\":\"0000:41:00.1\"}]}],"                                                 \
	"\"reasons\":[" reason_ "],\"health\":[" health_ "]}"
#define LINK          ",\"link\":{\"losses\":3,\"flapping\":true,\"excluded\":true}"
#define REASON(code_) "{\"code\":\"" code_ "\",\"target\":\"0000:41:00.0\",\"detail\":\"3 losses\"}"

static void a_condition_is_a_line_and_a_code(_unused_ void **state)
{
	static const struct {
		const char *json, *condition;
		int code;
		const char *line;
	} rows[] = {
		{ NULL, "RdmaNotReady", 2,
		  "There is no state of this boot: is rdma-provision.service running?\n" },
		{ "{\"boot_id\":\"a\"}", "RdmaNotReady", 2,
		  "There is no state of this boot: is rdma-provision.service running?\n" },
		{ "[]{", "RdmaNotReady", 2,
		  "There is no state of this boot: is rdma-provision.service running?\n" },
		{ STATE("ready", "", "", ""), "RdmaReady", 2,
		  "RdmaReady is not valid: use RdmaNotReady, RdmaLinkFlapping or "
		  "RdmaPcieDegraded\n" },
		{ STATE("ready", "", "", ""), "RdmaNotReady", 0, "the node is ready\n" },
		{ STATE("starting", "", "", ""), "RdmaNotReady", 2, "the node is starting\n" },
		{ STATE("degraded", "", REASON("port-down"), ""), "RdmaNotReady", 1,
		  "the node is degraded: 0000:41:00.0 port-down\n" },
		{ STATE("ready", "", "", ""), "RdmaLinkFlapping", 2,
		  "losses of links are not counted: [Health] is not set\n" },
		{ STATE("starting", "", "", ""), "RdmaLinkFlapping", 2, "the node is starting\n" },
		{ STATE("starting", LINK, "", ""), "RdmaLinkFlapping", 2,
		  "the node is starting\n" },
		{ STATE("starting", "", "", ""), "RdmaPcieDegraded", 2, "the node is starting\n" },
		{ STATE("starting", "", "", REASON("pcie-slow")), "RdmaPcieDegraded", 1,
		  "0000:41:00.0: pcie-slow: 3 losses\n" },
		{ STATE("ready", LINK, "", ""), "RdmaLinkFlapping", 0, "no link flaps\n" },
		{ STATE("ready", LINK, REASON("link-flapping"), ""), "RdmaLinkFlapping", 1,
		  "0000:41:00.0: link-flapping: 3 losses\n" },
		{ STATE("ready", LINK, REASON("link-dropped"), ""), "RdmaLinkFlapping", 1,
		  "0000:41:00.0: link-dropped: 3 losses\n" },
		{ STATE("ready", "", "", ""), "RdmaPcieDegraded", 0,
		  "no PCIe link is slow or had errors\n" },
		{ NULL, "", 2,
		  "There is no state of this boot: is rdma-provision.service running?\n" },
		{ STATE("ready", "", "", ""), "", 0, "the node is ready\n" },
		{ STATE("ready", LINK, REASON("link-dropped"), ""), "", 1,
		  "0000:41:00.0: link-dropped: 3 losses\n" },
		{ STATE("degraded", LINK, REASON("link-dropped"), ""), "", 1,
		  "the node is degraded: 0000:41:00.0 link-dropped\n" },
		{ STATE("ready", "", "", REASON("pcie-slow")), "", 1,
		  "0000:41:00.0: pcie-slow: 3 losses\n" },
		{ STATE("ready", "", "", REASON("pcie-errors")), "RdmaPcieDegraded", 1,
		  "0000:41:00.0: pcie-errors: 3 losses\n" },
		{ STATE("ready", "", "", REASON("pcie-slow")), "RdmaPcieDegraded", 1,
		  "0000:41:00.0: pcie-slow: 3 losses\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(freep) char *line = NULL;

		assert_int_equal(output_npd(rows[i].json, "b", rows[i].condition, &line),
				 rows[i].code);
		assert_string_equal(line, rows[i].line);
	}
}

static void people_read_a_line_for_each_nic(_unused_ void **state)
{
	static const char json[] = STATE("ready", LINK, REASON("link-flapping"), "");
	static const struct {
		const char *name;
		int code;
		const char *text;
	} rows[] = {
		{ NULL, 1,
		  "0000:41:00.0 ens1 mlx5_0: link lost 3 times, flapping, left out of the plugin\n"
		  "0000:41:00.0: link-flapping: 3 losses\n" },
		{ "0000:41:00.1", 1,
		  "0000:41:00.0 ens1 mlx5_0: link lost 3 times, flapping, left out of the plugin\n"
		  "0000:41:00.0: link-flapping: 3 losses\n" },
		{ "ens2", 2, "ens2: no managed NIC has this name\n" },
		{ "", 2, ": no managed NIC has this name\n" },
	};
	char pci[PCI_LEN];

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(freep) char *text = NULL;

		assert_int_equal(output_health(json, "b", rows[i].name, false, &text),
				 rows[i].code);
		assert_string_equal(text, rows[i].text);
	}
	assert_int_equal(output_find_nic(json, "mlx5_0", pci, sizeof(pci)), 0);
	assert_string_equal(pci, "0000:41:00.0");
	assert_int_equal(output_find_nic(json, "mlx5_1", pci, sizeof(pci)), -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_are_counted_exactly),
		cmocka_unit_test(a_link_that_is_set_down_loses_nothing),
		cmocka_unit_test(a_loss_by_a_change_of_ours_does_not_count),
		cmocka_unit_test(what_nobody_saw_is_not_counted),
		cmocka_unit_test(a_card_that_bounces_after_a_change_has_lost_nothing),
		cmocka_unit_test(a_link_that_was_not_known_may_bounce),
		cmocka_unit_test(a_link_whose_mtu_changed_unheard_may_bounce),
		cmocka_unit_test(a_link_counts_again_when_its_way_up_was_lost),
		cmocka_unit_test(a_port_without_netdev_has_a_counter_of_its_own),
		cmocka_unit_test(a_nic_flaps_until_it_was_quiet),
		cmocka_unit_test(without_exclude_it_is_only_told),
		cmocka_unit_test(a_dropped_link_is_told_after_its_time),
		cmocka_unit_test(without_health_nothing_is_counted),
		cmocka_unit_test(the_log_is_bounded_and_keeps_its_order),
		cmocka_unit_test(vfs_leave_room_for_their_pf),
		cmocka_unit_test(a_condition_is_a_line_and_a_code),
		cmocka_unit_test(people_read_a_line_for_each_nic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
