/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata: what an answer may be, who is asked about, and the calls to the helper, whose
 * side the test plays. The helper itself is tested by metadata-service.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "../src/metadata/metadata-apply.h"
#include "../src/model/paths.h"
#include "../src/os/helper.h"
#include "../src/step/observers.h"
#include "scene.h"
#include "tree.h"

#define MAC "52:54:00:0a:bc:01"

static void an_answer_is_a_host_and_a_gateway_in_one_prefix(_unused_ void **state)
{
	static const struct {
		const char *address, *prefix, *gateway, *expected; /* NULL: refused */
	} rows[] = {
		{ "10.0.1.5", "10.0.1.0/24", "10.0.1.253", "10.0.1.5/24 10.0.1.253" },
		{ "10.0.1.5", "10.0.1.77/24", "10.0.1.253", "10.0.1.5/24 10.0.1.253" },
		{ "10.255.255.254", "10.0.0.0/8", "10.0.0.1", "10.255.255.254/8 10.0.0.1" },
		{ "10.0.1.1", "10.0.1.0/30", "10.0.1.2", "10.0.1.1/30 10.0.1.2" },
		{ "10.0.1.1", "10.0.1.0/31", "10.0.1.0", NULL },
		{ "10.0.1.1", "10.0.1.1/32", "10.0.1.1", NULL },
		{ "10.0.1.1", "10.0.0.0/7", "10.0.1.2", NULL },
		{ "10.0.1.1", "0.0.0.0/0", "10.0.1.2", NULL },
		{ "10.0.2.5", "10.0.1.0/24", "10.0.1.253", NULL },
		{ "10.0.1.5", "10.0.1.0/24", "10.0.2.253", NULL },
		{ "10.0.1.5", "10.0.1.0/24", "10.0.1.5", NULL },
		{ "10.0.1.0", "10.0.1.0/24", "10.0.1.253", NULL },
		{ "10.0.1.255", "10.0.1.0/24", "10.0.1.253", NULL },
		{ "10.0.1.5", "10.0.1.0/24", "10.0.1.0", NULL },
		{ "10.0.1.5", "10.0.1.0/24", "10.0.1.255", NULL },
		{ "10.0.1.5", "10.0.1.0/24", "", NULL },
		{ "10.0.1.5", "10.0.1.0/24", "0.0.0.0", NULL },
		{ "", "10.0.1.0/24", "10.0.1.1", NULL },
		{ "10.0.1", "10.0.1.0/24", "10.0.1.1", NULL },
		{ "10.0.1.05", "10.0.1.0/24", "10.0.1.1", NULL },
		{ " 10.0.1.5", "10.0.1.0/24", "10.0.1.1", NULL },
		{ "10.0.1.5", "10.0.1.0/024", "10.0.1.1", NULL },
		{ "10.0.1.5", "10.0.1.0/+24", "10.0.1.1", NULL },
		{ "10.0.1.5", "10.0.1.0/ 24", "10.0.1.1", NULL },
		{ "10.0.1.5", "10.0.1.0/24 ", "10.0.1.1", NULL },
		{ "10.0.1.5", "10.0.1.0/", "10.0.1.1", NULL },
		{ "10.0.1.5", "10.0.1.0/4294967320", "10.0.1.1", NULL },
		{ "127.0.0.5", "127.0.0.0/8", "127.0.0.1", NULL },
		{ "0.0.1.5", "0.0.1.0/24", "0.0.1.1", NULL },
		{ "224.0.1.5", "224.0.1.0/24", "224.0.1.1", NULL },
		{ "169.254.1.5", "169.254.0.0/16", "169.254.0.1", NULL },
		{ "fd00::5", "fd00::/64", "fd00::1", NULL },
	};
	char text[METADATA_LINE_LEN], problem[METADATA_LINE_LEN];

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct metadata m = {}, again = {};
		int r;

		problem[0] = '\0';
		r = metadata_make(rows[i].address, rows[i].prefix, rows[i].gateway, &m, problem,
				  sizeof(problem));
		assert_int_equal(r, rows[i].expected ? 0 : -EINVAL);
		assert_int_equal(problem[0] == '\0', rows[i].expected != NULL);
		if (r < 0)
			continue;
		assert_int_equal(m.state, METADATA_KNOWN);
		metadata_format(&m, text, sizeof(text));
		assert_string_equal(text, rows[i].expected);
		assert_int_equal(metadata_parse(text, &again), 0);
		assert_memory_equal(&m, &again, sizeof(m));
	}
}

static void malformed_lines_are_not_taken(_unused_ void **state)
{
	static const char *const rows[] = {
		"",
		" ",
		"10.0.1.5/24",
		"10.0.1.5/24 ",
		"10.0.1.5 10.0.1.1",
		"10.0.1.5/24  10.0.1.1",
		"10.0.1.5/24 10.0.1.1 ",
		"10.0.1.5/24 10.0.1.1 10.0.1.2",
		"10.0.1.5 /24 10.0.1.1",
		"10.0.1.5/24 10.0.2.1",
		"10.0.1.0/24 10.0.1.1",
		"/24 10.0.1.1",
	};
	struct metadata m;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		assert_int_equal(metadata_parse(rows[i], &m), -EINVAL);
}

static void only_a_plain_mac_is_asked_about(_unused_ void **state)
{
	static const struct {
		const char *mac;
		bool expected;
	} rows[] = {
		{ MAC, true },
		{ "00:16:3e:00:00:01", true },
		{ "52:54:00:0A:BC:01", false },
		{ "01:00:5e:00:00:01", false },
		{ "ff:ff:ff:ff:ff:ff", false },
		{ "00:00:00:00:00:00", false },
		{ "52:54:00:0a:bc", false },
		{ "52:54:00:0a:bc:01:02", false },
		{ "52-54-00-0a-bc-01", false },
		{ "52:54:00:0a:bc:0/", false },
		{ "", false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		assert_int_equal(metadata_is_mac(rows[i].mac), rows[i].expected);
}

static void the_answers_of_a_boot_are_read_back(_unused_ void **state)
{
	static const char text[] =
		"{\"metadata\":["
		"{\"mac\":\"52:54:00:0a:bc:02\",\"answer\":\"10.0.2.5/24 10.0.2.253\"},"
		"{\"mac\":\"junk\",\"answer\":\"\"},7,"
		"{\"mac\":\"52:54:00:0a:bc:01\",\"answer\":\"10.0.1.5/24 10.0.9.253\"},"
		"{\"mac\":\"52:54:00:0a:bc:01\",\"answer\":\"10.0.1.5/24 10.0.1.253\"},"
		"{\"mac\":\"52:54:00:0a:bc:01\",\"answer\":\"10.0.1.6/24 10.0.1.253\"},"
		"{\"mac\":\"52:54:00:0a:bc:03\",\"answer\":\"10.0.3.5/24 10.0.3.253\"}]}";
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	struct tree t;

	tree_make(&t);
	observe_metadata(&t.fs, &n, &memory);
	assert_int_equal(n.n_metadatas, 0);
	tree_file(&t, MEMORY_BOOT_PATH, text);
	observe_metadata(&t.fs, &n, &memory);
	assert_int_equal(n.n_metadatas, 3);
	assert_string_equal(n.metadatas[0].mac, MAC);
	assert_int_equal(n.metadatas[0].address[3], 6); /* the last one */
	assert_int_equal(node_metadata(&n, "52:54:00:0a:bc:02")->gateway[3], 253);
	assert_int_equal(node_metadata(&n, "52:54:00:0a:bc:03")->prefix_len, 24);
	assert_null(node_metadata(&n, "52:54:00:0a:bc:04"));
	tree_remove(&t);
}

static void what_else_is_known_of_a_nic_is_noted(_unused_ void **state)
{
	static const struct attempt failures[] = {
		{ VERB_ASK_METADATA, "0000:41:00.0", MAC, -EAGAIN, .error = "status 500" },
		{ VERB_ASK_METADATA, "0000:42:00.0", "52:54:00:0a:bc:02", -EBADMSG,
		  .error = "no gateway" },
		{ VERB_ASK_METADATA, "0000:43:00.0", "52:54:00:0a:bc:03", -EAGAIN,
		  .error = "status 500" },
		{ VERB_SET_MTU, "0000:44:00.0", "52:54:00:0a:bc:04", -EAGAIN, .error = "" },
		{ VERB_ASK_METADATA, "0000:44:00.0", "../etc", -EAGAIN, .error = "" },
	};
	struct netdev netdevs[] = { { .ifindex = 2, .mac = "52:54:00:0a:bc:05" },
				    { .ifindex = 3, .mac = MAC },
				    { .ifindex = 4 } };
	struct route routes[] = {
		{ .family = AF_INET, .table = RT_TABLE_MAIN, .ifindex = 2, .type = RTN_UNICAST },
		{ .family = AF_INET,
		  .table = RT_TABLE_MAIN,
		  .ifindex = 2,
		  .type = RTN_UNICAST,
		  .metric = 100 },
		{ .family = AF_INET,
		  .table = RT_TABLE_MAIN,
		  .ifindex = 3,
		  .type = RTN_UNICAST,
		  .prefix_len = 8 },
		{ .family = AF_INET6, .table = RT_TABLE_MAIN, .ifindex = 3, .type = RTN_UNICAST },
		/* ours, of a NIC that is not the primary one */
		{ .family = AF_INET, .table = 11400003, .ifindex = 3, .type = RTN_UNICAST },
		{ .family = AF_INET, .table = RT_TABLE_MAIN, .ifindex = 4, .type = RTN_UNICAST },
		{ .family = AF_INET, .table = RT_TABLE_MAIN, .type = RTN_BLACKHOLE },
	};
	struct memory memory = { .attempts = (struct attempt *)failures,
				 .n_attempts = ELEMENTSOF(failures) };
	struct node n = { .netdevs = netdevs,
			  .n_netdevs = ELEMENTSOF(netdevs),
			  .routes = routes,
			  .n_routes = ELEMENTSOF(routes) };
	struct tree t;

	tree_make(&t);
	tree_file(&t, MEMORY_BOOT_PATH,
		  "{\"metadata\":[{\"mac\":\"52:54:00:0a:bc:03\","
		  "\"answer\":\"10.0.3.5/24 10.0.3.253\"}]}");
	observe_metadata(&t.fs, &n, &memory);
	assert_int_equal(n.n_metadatas, 3);
	assert_int_equal(n.metadatas[0].state, METADATA_WAITING);
	assert_string_equal(n.metadatas[0].detail, "status 500");
	assert_int_equal(n.metadatas[1].state, METADATA_REFUSED);
	assert_int_equal(n.metadatas[2].state, METADATA_KNOWN);
	free(n.metadatas);
	tree_remove(&t);
}

/* --- the door --- */

#define NEVER (-1) /* it neither answers nor closes */

/* The other side, in a process of its own: takes one question and gives this answer. */
static pid_t play_helper(const char *path, const char *answer, int size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct helper_question q = { .fd = -EBADF };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	pid_t pid;

	COPY(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	pid = fork();
	if (pid > 0) {
		close(fd);
		return pid;
	}

	if (poll(&p, 1, 20000) != 1 || helper_take(fd, &q) < 0 || !streq(q.text, MAC))
		_exit(1);
	if (size == NEVER)
		pause();
	/* In two parts, as a stream may come. */
	if (helper_answer(&q, 0, "") < 0 || write(q.fd, answer, (size_t)size / 2) < 0 ||
	    write(q.fd, answer + size / 2, (size_t)(size - size / 2)) < 0)
		_exit(0); /* who had enough has closed */
	_exit(0);
}

static void the_helper_is_not_trusted_either(_unused_ void **state)
{
	static char large[1 << 20];
#define ANSWER(s) (s), (int)sizeof(s) - 1
	static const struct {
		const char *answer;
		int size;
		int expected;
		enum metadata_state state;
		const char *detail;
	} rows[] = {
		{ ANSWER("known 10.0.1.5/24 10.0.1.253\n"), 0, METADATA_KNOWN, "" },
		{ ANSWER("waiting status 500\n"), 0, METADATA_WAITING, "status 500" },
		{ ANSWER("refused \x1b[2J\n"), 0, METADATA_REFUSED, "?[2J" },
		{ ANSWER("known 10.0.1.5/24 10.0.2.253\n"), -EBADMSG, 0, "" },
		{ ANSWER("known 10.0.1.5/24 10.0.1.253"), -EBADMSG, 0, "" },
		{ ANSWER("known 10.0.1.5/24 10.0.1.253\nknown\n"), -EBADMSG, 0, "" },
		{ ANSWER("known 10.0.1.5/24\00010.0.1.253\n"), -EBADMSG, 0, "" },
		{ ANSWER("known\n"), -EBADMSG, 0, "" },
		{ ANSWER("10.0.1.5/24 10.0.1.253\n"), -EBADMSG, 0, "" },
		{ ANSWER("\n"), -EBADMSG, 0, "" },
		{ "", 0, -EBADMSG, 0, "" },
		{ large, sizeof(large), -EBADMSG, 0, "" },
		{ "", NEVER, -ETIMEDOUT, 0, "" },
	};

	memset(large, '1', sizeof(large));
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct metadata m = { .detail = "untouched" };
		char path[96];
		struct tree t;
		pid_t pid;
		int r, status;

		tree_make(&t);
		snprintf(path, sizeof(path), "%s/socket", t.root);
		assert_int_equal(metadata_ask(path, MAC, USEC_PER_SEC, &m), -EHOSTDOWN);
		pid = play_helper(path, rows[i].answer, rows[i].size);
		r = metadata_ask(path, MAC,
				 rows[i].size == NEVER ? 200 * USEC_PER_MSEC : 20 * USEC_PER_SEC,
				 &m);
		if (rows[i].size == NEVER)
			kill(pid, SIGTERM);
		waitpid(pid, &status, 0);
		assert_int_equal(r, rows[i].expected);
		if (r < 0) {
			assert_string_equal(m.detail, "untouched");
		} else {
			assert_int_equal(m.state, rows[i].state);
			assert_string_equal(m.detail, rows[i].detail);
			assert_string_equal(m.mac, MAC);
		}
		tree_remove(&t);
	}
}

/* --- the plan --- */

/* eth0 is the primary NIC and not managed; eth1 is, has link and no address. */
struct scene {
	struct config config;
	struct device_config section;
	struct node node;
	struct memory memory;
	struct pci pcis[2];
	struct netdev netdevs[2];
	struct ibdev ibdev;
	struct route routes[3];
	struct metadata metadata;
	struct attempts tried;
	struct action tried_action;
};

static void set_scene(struct scene *s)
{
	static const struct pci card = { .address = "0000:41:00.0",
					 .class = 0x020000,
					 .driver = "mlx5_core" };
	static const struct pci other = { .address = "0000:05:00.0",
					  .class = 0x020000,
					  .driver = "virtio-pci" };

	*s = (struct scene){ .section = { .name = "nic",
					  .count = COUNT_UNSET,
					  .match = (char *)"driver:mlx5_core" } };
	s->config.devices = &s->section;
	s->config.n_devices = 1;
	s->config.route.manage = true;
	s->config.route.address = ADDRESS_METADATA;
	s->pcis[0] = other;
	s->pcis[1] = card;
	s->netdevs[0] = (struct netdev){ .ifindex = 2,
					 .name = "eth0",
					 .is_up = true,
					 .has_carrier = true,
					 .pci = "0000:05:00.0" };
	s->netdevs[1] = (struct netdev){ .ifindex = 3,
					 .name = "eth1",
					 .mac = MAC,
					 .is_up = true,
					 .has_carrier = true,
					 .pci = "0000:41:00.0" };
	s->ibdev = (struct ibdev){ .name = "mlx5_0", .pci = "0000:41:00.0", .netdev = "eth1" };
	s->routes[0] = (struct route){
		.family = AF_INET, .table = RT_TABLE_MAIN, .ifindex = 2, .type = RTN_UNICAST
	};
	s->node = (struct node){ .pcis = s->pcis,
				 .n_pcis = 2,
				 .netdevs = s->netdevs,
				 .n_netdevs = 2,
				 .ibdevs = &s->ibdev,
				 .n_ibdevs = 1,
				 .routes = s->routes,
				 .n_routes = 1,
				 .metadatas = &s->metadata };
}

static void nothing(struct scene *s _unused_)
{
}

static void not_managed(struct scene *s)
{
	s->config.route.manage = false;
}

static void existing(struct scene *s)
{
	s->config.route.address = ADDRESS_EXISTING;
}

static void known(struct scene *s)
{
	s->metadata.state = METADATA_KNOWN;
	COPY(s->metadata.mac, MAC);
	s->node.n_metadatas = 1;
}

static void of_another(struct scene *s)
{
	known(s);
	COPY(s->metadata.mac, "52:54:00:0a:bc:02");
}

static void primary(struct scene *s)
{
	s->routes[0].ifindex = s->netdevs[1].ifindex;
}

static void refused_before(struct scene *s)
{
	known(s);
	s->metadata.state = METADATA_REFUSED;
}

static void no_default(struct scene *s)
{
	s->routes[0].prefix_len = 24;
}

static void default_elsewhere(struct scene *s)
{
	s->routes[0].table = 11400002;
}

static void no_carrier(struct scene *s)
{
	s->netdevs[1].has_carrier = false;
}

static void virtual_function(struct scene *s)
{
	s->pcis[0].total_vfs = s->pcis[0].num_vfs = 1;
	s->pcis[0].has_sriov = true;
	COPY(s->pcis[0].driver, "mlx5_core");
	COPY(s->pcis[1].physfn, s->pcis[0].address);
	/* Its PF needs nothing. */
	known(s);
	COPY(s->netdevs[0].mac, MAC);
	COPY(s->netdevs[1].mac, "52:54:00:0a:bc:03");
	s->config.route.ipv6 = IPV6_RA;
	s->section.mode = VF_MODE_SHARED;
	s->netdevs[1].conf.known = 1u << NETCONF_ACCEPT_RA;
}

static void had_no_answer(struct scene *s)
{
	s->tried_action = (struct action){ .step = STEP_ROUTE,
					   .verb = VERB_ASK_METADATA,
					   .class = CLASS_CHANGE,
					   .is_done = true,
					   .result = -EAGAIN,
					   .target = "0000:41:00.0",
					   .text.to = MAC,
					   .error = "status 500",
					   .subject = "",
					   .detail = "" };
	s->tried.actions = &s->tried_action;
	s->tried.n_actions = 1;
}

static void had_a_bad_answer(struct scene *s)
{
	had_no_answer(s);
	s->tried_action.result = -EBADMSG;
}

static void had_none_and_lost_its_link(struct scene *s)
{
	had_no_answer(s);
	no_carrier(s);
}

static void is_another_card_now(struct scene *s)
{
	had_no_answer(s);
	COPY(s->netdevs[1].mac, "52:54:00:0a:bc:09");
}

static void who_needs_an_address_is_asked_about(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*spoil)(struct scene *s);
		const char *expected;
	} rows[] = {
		{ "asked", nothing, "change " MAC },
		{ "Manage=no", not_managed, "" },
		{ "Address=existing", existing, "" },
		{ "the answer is known", known, "" },
		{ "an answer for another", of_another, "change " MAC },
		{ "another try", refused_before, "change " MAC },
		{ "the primary NIC", primary, "hint node-nic" },
		{ "nobody is the primary NIC yet", no_default, "waiting " MAC " metadata-waiting" },
		{ "a table of ours says nothing of that", default_elsewhere,
		  "waiting " MAC " metadata-waiting" },
		{ "no link", no_carrier, "waiting " MAC " metadata-waiting" },
		/* nor waited for; the hint is of its PF, which has the default route */
		{ "a VF", virtual_function, "set-sysctl hint node-nic" },
		{ "no answer", had_no_answer, "waiting " MAC " metadata-waiting tried" },
		{ "a bad answer", had_a_bad_answer, "refused " MAC " metadata-refused tried" },
		/* so that it is forgotten, and asked again with the link */
		{ "no answer, then no link", had_none_and_lost_its_link,
		  "waiting " MAC " metadata-waiting" },
		{ "another card", is_another_card_now, "change 52:54:00:0a:bc:09" },
	};
	struct scene s;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		char text[512] = "";
		size_t n = 0;

		set_scene(&s);
		rows[i].spoil(&s);
		assert_int_equal(make_whole_plan(&s.config, &s.node, &s.memory, &s.tried, true, &p),
				 0);
		for (size_t k = 0; k < p.n_actions; k++) {
			const struct action *a = &p.actions[k];

			if (a->is_done)
				assert_non_null(strstr(a->detail, ": status 500"));
			if (a->verb == VERB_ASK_METADATA)
				n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %s%s%s%s",
						      class_name(a->class), a->text.to,
						      a->reason ? " " : "", reason_code(a->reason),
						      a->is_done ? " tried" : "");
			else if (a->verb == VERB_SET_SYSCTL)
				n += (size_t)snprintf(text + n, sizeof(text) - n, "set-sysctl ");
		}
		for (size_t k = 0; k < p.n_reasons; k++)
			if (p.reasons[k].reason == REASON_NODE_NIC)
				n += (size_t)snprintf(text + n, sizeof(text) - n, "hint %s",
						      reason_code(p.reasons[k].reason));
		assert_row(rows[i].name, text, rows[i].expected);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_a_host_and_a_gateway_in_one_prefix),
		cmocka_unit_test(malformed_lines_are_not_taken),
		cmocka_unit_test(only_a_plain_mac_is_asked_about),
		cmocka_unit_test(the_answers_of_a_boot_are_read_back),
		cmocka_unit_test(what_else_is_known_of_a_nic_is_noted),
		cmocka_unit_test(the_helper_is_not_trusted_either),
		cmocka_unit_test(who_needs_an_address_is_asked_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
