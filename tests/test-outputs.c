/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of [Output] on disk: looked at, planned, written and taken back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/model/memory.h"
#include "../src/model/paths.h"
#include "../src/model/udev-rules.h"
#include "../src/nccl/nccl-env.h"
#include "../src/os/memory-file.h"
#include "../src/os/rdma.h"
#include "../src/plugin/plugin-observe.h"
#include "../src/step/observers.h"
#include "../src/step/other-files.h"
#include "../src/step/steps.h"
#include "../src/step/verbs.h"
#include "tree.h"

struct place {
	struct tree tree;
	struct os os;
	struct config config;
};

static int make_place(void **state)
{
	static struct place p;

	p = (struct place){};
	tree_make(&p.tree);
	p.os.fs = p.tree.fs;
	COPY(p.config.output.paths[OUTPUT_NFD], "/etc/nfd/rdma");
	COPY(p.config.output.paths[OUTPUT_METRICS], "/etc/prom/rdma.prom");
	tree_file(&p.tree, "etc/nfd/other", "x=1\n");
	tree_file(&p.tree, "etc/prom/other", "");
	*state = &p;
	return 0;
}

static int remove_place(void **state)
{
	tree_remove(&((struct place *)*state)->tree);
	return 0;
}

/* One pass with this text in every file that is asked for. Return: how many items there were. */
static size_t run(struct place *p, const char *text, int *ret_result)
{
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan plan = { .state = NODE_READY };
	char error[192] = "";
	struct work w = { .os = &p->os, .node = &n, .plan = &plan, .error = error };

	*ret_result = 0;
	observe_files(&p->os.fs, &p->config, &n);
	for (enum output o = 0; o < _OUTPUT_N; o++) {
		if (!p->config.output.paths[o][0])
			continue;
		plan.outputs[o].path = p->config.output.paths[o];
		assert_true(asprintf(&plan.outputs[o].text, "%s%s", output_mark(o), text) > 0);
	}
	plan_outputs(&p->config, &n, &memory, &plan);
	for (size_t i = 0; i < plan.n_actions; i++) {
		int r = 0;

		if (plan.actions[i].class != CLASS_CHANGE)
			continue;
		r = plan.actions[i].verb == VERB_WRITE_OUTPUT
			    ? apply_write_output(&w, &plan.actions[i])
			    : apply_remove_output(&w, &plan.actions[i]);
		if (r < 0)
			*ret_result = r;
	}
	return plan.n_actions;
}

static char *content(const struct place *p, const char *path)
{
	char *text = NULL;
	size_t size;

	return fs_read_all(&p->os.fs, path, 4096, false, &text, &size) < 0 ? NULL : text;
}

static void assert_content(const struct place *p, const char *path, const char *expected)
{
	_cleanup_(freep) char *text = content(p, path);

	if (!expected) {
		assert_null(text);
		return;
	}
	assert_non_null(text);
	assert_string_equal(text, expected);
}

/* What is recorded: "NFD /path" for each. */
static void assert_records(const struct place *p, enum memory_lifetime lifetime,
			   const char *expected)
{
	_owns_(struct output_records, entries) l = {};
	char got[512] = "";

	assert_int_equal(memory_read(&p->os.fs, lifetime, &output_records_fields, &l), 0);
	for (size_t i = 0; i < l.n_entries; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s %s\n",
			 output_name(l.entries[i].output), l.entries[i].path);
	assert_string_equal(got, expected);
}

#define NFD_MARK     "# Written by rdma-provision: NFD features\n"
#define METRICS_MARK "# Written by rdma-provision: metrics\n"

static void files_are_written_once_and_taken_back(void **state)
{
	struct place *p = *state;
	struct stat before, after;
	char path[512];
	int r;

	assert_int_equal(run(p, "a\n", &r), 2);
	assert_int_equal(r, 0);
	assert_content(p, "etc/nfd/rdma", NFD_MARK "a\n");
	assert_content(p, "etc/prom/rdma.prom", METRICS_MARK "a\n");
	assert_records(p, MEMORY_NODE, "NFD /etc/nfd/rdma\nMetrics /etc/prom/rdma.prom\n");

	tree_path(&p->tree, "etc/nfd/rdma", path, sizeof(path));
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(before.st_mode & 0777, 0644);
	assert_int_equal(run(p, "a\n", &r), 0);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);

	assert_int_equal(run(p, "b\n", &r), 2);
	assert_content(p, "etc/nfd/rdma", NFD_MARK "b\n");

	/* Another path for one, none for the other. */
	COPY(p->config.output.paths[OUTPUT_NFD], "/etc/nfd/new");
	p->config.output.paths[OUTPUT_METRICS][0] = '\0';
	assert_int_equal(run(p, "b\n", &r), 3);
	assert_int_equal(r, 0);
	assert_content(p, "etc/nfd/rdma", NULL);
	assert_content(p, "etc/nfd/new", NFD_MARK "b\n");
	assert_content(p, "etc/prom/rdma.prom", NULL);
	assert_records(p, MEMORY_NODE, "NFD /etc/nfd/new\n");
	assert_int_equal(run(p, "b\n", &r), 0);
}

static void what_others_wrote_stays(void **state)
{
	static const char *const texts[] = { "x=1\n", "", METRICS_MARK,
					     "\n# Written by rdma-provision: NFD features\n" };
	struct place *p = *state;
	int r;

	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		tree_file(&p->tree, "etc/nfd/rdma", texts[i]);
		run(p, "a\n", &r);
		assert_int_equal(r, 0);
		assert_content(p, "etc/nfd/rdma", texts[i]);
	}
}

static void a_planted_link_is_neither_followed_nor_replaced(void **state)
{
	static const char *const targets[] = { "../precious", "/etc/precious", "nowhere", "rdma" };
	struct place *p = *state;
	int r;

	tree_file(&p->tree, "etc/precious", NFD_MARK "mine\n");
	for (size_t i = 0; i < ELEMENTSOF(targets); i++) {
		char target[64];

		assert_int_equal(fs_remove(&p->os.fs, "etc/nfd/rdma"), 0);
		tree_link(&p->tree, "etc/nfd/rdma", targets[i]);
		run(p, "a\n", &r);
		assert_int_equal(r, 0);
		assert_int_equal(fs_read_link(&p->os.fs, "etc/nfd/rdma", target, sizeof(target)),
				 0);
		assert_string_equal(target, targets[i]);
		assert_content(p, "etc/precious", NFD_MARK "mine\n");
		assert_content(p, "etc/nfd/nowhere", NULL);
	}
	/* The same for the file that is renamed to it. */
	assert_int_equal(fs_remove(&p->os.fs, "etc/nfd/rdma"), 0);
	tree_link(&p->tree, "etc/nfd/.rdma.tmp", "../precious");
	run(p, "a\n", &r);
	assert_content(p, "etc/nfd/rdma", NFD_MARK "a\n");
	assert_content(p, "etc/precious", NFD_MARK "mine\n");
}

/* Between the look and the write. */
static void who_comes_in_between_is_left_alone(void **state)
{
	char text[] = NFD_MARK;
	const struct plan plan = { .outputs = { { .path = "/etc/nfd/rdma", .text = text } } };
	struct action write = { .verb = VERB_WRITE_OUTPUT,
				.target = "/etc/nfd/rdma",
				.subject = "",
				.detail = "",
				.error = "" };
	struct action drop = { .verb = VERB_REMOVE_OUTPUT,
			       .target = "/etc/nfd/rdma",
			       .text.to = "NFD",
			       .subject = "",
			       .detail = "",
			       .error = "" };
	struct place *p = *state;
	struct work w = { .os = &p->os, .plan = &plan };

	tree_file(&p->tree, "etc/nfd/rdma", "x=1\n");
	assert_int_equal(apply_write_output(&w, &write), -EEXIST);
	assert_int_equal(apply_remove_output(&w, &drop), 0);
	assert_content(p, "etc/nfd/rdma", "x=1\n");
}

static void a_missing_folder_is_reported_and_not_made(void **state)
{
	struct place *p = *state;
	int r;

	COPY(p->config.output.paths[OUTPUT_NFD], "/etc/absent/rdma");
	assert_int_equal(run(p, "a\n", &r), 2);
	assert_int_equal(r, 0);
	assert_false(fs_exists(&p->os.fs, "etc/absent"));
	assert_content(p, "etc/prom/rdma.prom", METRICS_MARK "a\n");
}

static void without_var_the_record_is_of_this_boot(void **state)
{
	struct place *p = *state;
	int r;

	tree_file(&p->tree, "var", "no folder");
	assert_int_equal(run(p, "a\n", &r), 2);
	assert_int_equal(r, 0);
	assert_records(p, MEMORY_BOOT, "NFD /etc/nfd/rdma\nMetrics /etc/prom/rdma.prom\n");
	p->config.output.paths[OUTPUT_NFD][0] = '\0';
	assert_int_equal(run(p, "a\n", &r), 1);
	assert_content(p, "etc/nfd/rdma", NULL);
	assert_records(p, MEMORY_BOOT, "Metrics /etc/prom/rdma.prom\n");
}

static void a_damaged_record_is_no_order_to_remove(void **state)
{
	struct place *p = *state;
	_cleanup_(node_done) struct node n = {};

	tree_file(&p->tree, MEMORY_NODE_PATH,
		  "{\"outputs\":[{\"output\":\"NFD\"},{\"output\":\"NFD\",\"path\":\"\"},7,"
		  "{\"output\":\"NFD\",\"path\":\"etc/x\"},"
		  "{\"output\":\"Other\",\"path\":\"/etc/x\"},"
		  "{\"output\":\"NFD\",\"path\":\"/etc/nfd/rdma\"},"
		  "{\"output\":\"NFD\",\"path\":\"/etc/nfd/other\"}]}");
	observe_files(&p->os.fs, &p->config, &n);
	assert_int_equal(n.n_output_records, 2);
	assert_string_equal(n.output_records[0].path, "/etc/nfd/rdma");
	assert_string_equal(n.output_records[1].path, "/etc/nfd/other");
}

static void a_removal_that_the_record_asks_for_spares_others(void **state)
{
	struct place *p = *state;
	int r;

	tree_file(&p->tree, MEMORY_NODE_PATH,
		  "{\"outputs\":[{\"output\":\"NFD\",\"path\":\"/etc/nfd/other\"},"
		  "{\"output\":\"NFD\",\"path\":\"/etc/nfd/rdma\"},"
		  "{\"output\":\"Metrics\",\"path\":\"/etc/prom/rdma.prom\"}]}");
	assert_int_equal(run(p, "a\n", &r), 3);
	assert_int_equal(r, 0);
	assert_content(p, "etc/nfd/other", "x=1\n");
	/* The others keep their order, which is that of their removal. */
	assert_records(p, MEMORY_NODE, "NFD /etc/nfd/rdma\nMetrics /etc/prom/rdma.prom\n");
}

/* What the sysfs of a container may look like: strange, but bounded. */
static void strange_devices_are_read_without_harm(void **state)
{
	struct place *p = *state;
	_cleanup_(node_done) struct node n = {};
	char text[9000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	tree_file(&p->tree, "sys/class/infiniband/a/ports/1/rate", text);
	tree_file(&p->tree, "sys/class/infiniband/a/ports/1/gids/0", text);
	tree_file(&p->tree, "sys/class/infiniband/a/ports/1/gids/1", "0000:1\n");
	tree_file(&p->tree, "sys/class/infiniband/a/ports/1/gid_attrs/ndevs/1", "../../x\n");
	tree_file(&p->tree, "sys/class/infiniband/a/ports/1/gid_attrs/types/1", "RoCE v2\n");
	tree_file(&p->tree, "sys/class/infiniband/b", "a file\n");
	tree_file(&p->tree, "sys/class/net/eth0/carrier", "1\n");
	tree_link(&p->tree, "sys/class/infiniband/c", "c");
	assert_int_equal(observe_nccl(&p->os.fs, &n), -ELOOP);
	assert_int_equal(fs_remove(&p->os.fs, "sys/class/infiniband/b"), 0);
	assert_int_equal(fs_remove(&p->os.fs, "sys/class/infiniband/c"), 0);
	node_done(&n);
	n = (struct node){};
	assert_int_equal(observe_nccl(&p->os.fs, &n), 0);
	assert_int_equal(n.n_ibdevs, 1);
	assert_string_equal(n.ibdevs[0].ports[0].rate, "");
	assert_int_equal(n.ibdevs[0].ports[0].n_gids, 1);
	assert_int_equal(n.n_netdevs, 1); /* eth0 alone */
}

#define NCCL_MARK "# Written by rdma-provision: NCCL settings\n"
#define POD       MANIFEST_MARK "\nkind: Pod\n"

/* What the helper writes, for every caller. */
static void nothing_but_our_own_files_is_written_below_etc(void **state)
{
	static const struct {
		const char *name, *path, *text;
		int expected;
	} rows[] = {
		{ "NCCL", "/etc/nccl.conf", NCCL_MARK "NCCL_IB_HCA=mlx5_0:1\n# a comment\n", 0 },
		{ "NCCL", "/etc/nccl.conf", NCCL_MARK "NCCL_IB_HCA=mlx5_0:1\n\n", -EPERM },
		{ "NCCL", "/etc/nccl.conf", NCCL_MARK "* * * * * root reboot\n", -EPERM },
		{ "NCCL", "/etc/nccl.conf", "NCCL_X=1\n", -EPERM }, /* without our mark */
		{ "NCCL", "/etc/nccl.conf", NCCL_MARK "NCCL_X=1:/lib.so\n", -EPERM },
		{ "NCCL", "/etc/nccl.conf", NCCL_MARK "NCCL_X=1 b\n", -EPERM },
		{ "NCCL", "/etc/nccl.conf", NCCL_MARK "NCCL_IB_ADDR_RANGE=1:/lib.so\n", -EPERM },
		{ "NCCL", "/etc/nccl.conf",
		  NCCL_MARK "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1\nNCCL_IB_ADDR_RANGE=fd00::/64\n", 0 },
		{ "NCCL", "/etc/cron.d/x", NCCL_MARK "NCCL_IB_HCA=mlx5_0:1\n", -ESTALE },
		{ "NCCL", "/etc/shadow", "", -EEXIST }, /* of another */
		{ "NCCL", "/usr/x", "", -EPERM },
		{ "NCCL", "/etc/../usr/x", "", -EPERM },
		{ "NCCL", "/etc/nccl.conf", "", 0 },
		{ "NCCL", "/etc/nccl.conf", "", 0 }, /* gone already */
		{ "NCCL", "", "", -EPERM },
		{ "NFD", "/etc/features", NFD_MARK NFD_PREFIX "ready=true\n", 0 },
		{ "NFD", "/etc/features", NFD_MARK NFD_PREFIX "ready=/lib.so\n", -EPERM },
		{ "NFD", "/etc/features", NFD_MARK "feature.node.kubernetes.io/cpu=x\n", -EPERM },
		{ "NFD", "/etc/nccl.conf", NFD_MARK NFD_PREFIX "ready=true\n", -ESTALE },
		{ "NCCL", "/etc/features", "", -EEXIST }, /* ours, and of another name */
		{ "NFD", "/etc/features", "", 0 },
		{ "Manifest", "/etc/pods/rdma.yaml", POD, 0 },
		{ "Manifest", "/etc/pods/rdma.yaml", POD "  image: other\n", -ESTALE },
		{ "Manifest", "/etc/pods/other.yaml", POD, -ESTALE },
		{ "Manifest", "/var/lib/rancher/k3s/agent/pod-manifests/x", "",
		  0 }, /* there is none */
		{ "Manifest", "/etc/pods/rdma.yaml", "", 0 },
		{ "Metrics", "/etc/metrics", "# Written by rdma-provision: metrics\n", -EPERM },
		{ "", "/etc/nccl.conf", "", -EPERM },
		{ "Rules", "/" RULES_PATH, "0000:3b:00.0\n", 0 },
		{ "Rules", "/" RULES_PATH, "RUN+=\"/bin/x\"\n", -EPERM }, /* no address */
		{ "Rules", "/run/udev/rules.d/00-x.rules", "0000:3b:00.0\n", -EPERM },
		{ "Rules", "/" RULES_PATH, "", 0 },
		{ "Rules", "/etc/nccl.conf", "", -EPERM },
	};
	struct file_request allowed = { .manifest = "/etc/pods/rdma.yaml", .manifest_text = POD };
	struct place *p = *state;

	allowed.paths[OUTPUT_NCCL] = "/etc/nccl.conf";
	allowed.paths[OUTPUT_NFD] = "/etc/features";
	allowed.paths[OUTPUT_METRICS] = "/etc/metrics";
	tree_file(&p->tree, "etc/shadow", "root:*\n");
	tree_file(&p->tree, "etc/pods/.keep", "");
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(freep) char *question = NULL;

		assert_true(asprintf(&question, "%s %s\n%s", rows[i].name, rows[i].path,
				     rows[i].text) > 0);
		if (other_files_serve(&p->os.fs, &allowed, question) != rows[i].expected)
			fail_msg("%s", question);
		if (rows[i].expected == 0)
			assert_true(fs_exists(&p->os.fs, rows[i].path + 1) == !!*rows[i].text);
	}
	assert_int_equal(other_files_serve(&p->os.fs, &allowed, "NCCL /etc/nccl.conf"), -EBADMSG);
	assert_int_equal(other_files_serve(&p->os.fs, &allowed, "/etc/nccl.conf\nNCCL_X=1\n"),
			 -EBADMSG);

	tree_file(&p->tree, "etc/nccl.conf", "NCCL_DEBUG=INFO\n");
	assert_int_equal(other_files_serve(&p->os.fs, &allowed, "NCCL /etc/nccl.conf\n"), -EEXIST);

	/* While the configuration is not known its files stay as they are; rules need none. */
	allowed.unread = -ESTALE;
	assert_int_equal(other_files_serve(&p->os.fs, &allowed, "NFD /etc/features\n"), -ESTALE);
	assert_int_equal(
		other_files_serve(&p->os.fs, &allowed, "Rules /" RULES_PATH "\n0000:3b:00.0"), 0);
	allowed.unread = 0;

	/* While there is no plugin file there is no manifest. */
	allowed.manifest_text = NULL;
	assert_int_equal(
		other_files_serve(&p->os.fs, &allowed, "Manifest /etc/pods/rdma.yaml\n" POD),
		-EPERM);
}

/* A rule may run a program as root, so nothing of what was asked for is in it but addresses. */
static void udev_rules_are_made_of_addresses_alone(void **state)
{
	static const struct {
		const char *asked, *pfs;
	} rows[] = {
		{ "0000:3b:00.0\n", "0000:3b:00.0 " },
		{ "0000:3b:00.0 10000:01:1f.7", "0000:3b:00.0 10000:01:1f.7 " },
		{ "ACTION==\"add\", RUN+=\"/bin/x\"\n0000:3b:00.0/../../x\", RUN+=\"/bin/x",
		  "0000:3b:00.0 " },
		{ "0000:3b:00.0.x 0000:3b:00.00 00000:3b:00.g x0000:3b:00.0 000:3b:00.0",
		  "0000:3b:00.0 " },
		{ "0000:3b:00.0\\\n", "0000:3b:00.0 " },
	};
	struct place *p = *state;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(freep) char *question = NULL, *text = NULL, *again = NULL;
		char pfs[256] = "";
		size_t size;

		assert_true(asprintf(&question, "Rules /" RULES_PATH "\n%s", rows[i].asked) > 0);
		assert_int_equal(other_files_serve(&p->os.fs, &(struct file_request){}, question),
				 0);
		assert_true(fs_read_all(&p->os.fs, RULES_PATH, 65536, false, &text, &size) >= 0);
		assert_int_equal(udev_rules_make(text, &again), 0);
		assert_string_equal(again, text); /* what the plan compares */
		for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
			const char *pf = after(line, "TEST==\"/sys/bus/pci/devices/");

			if (pf)
				snprintf(pfs + strlen(pfs), sizeof(pfs) - strlen(pfs), "%.*s ",
					 (int)strcspn(pf, "/"), pf);
		}
		assert_string_equal(pfs, rows[i].pfs);
		assert_null(strstr(text, "RUN"));
	}
}

/* Other modules have folders in configfs as well. */
static void defaults_of_rdma_cm_are_all_that_is_written_to_configfs(void **state)
{
	static const struct {
		const char *question;
		int expected;
	} rows[] = {
		{ "RoCE mlx5_0/\nopen", 0 },
		{ "RoCE mlx5_0/ports/1/default_roce_tos\n106", -EROFS }, /* in a tree */
		{ "RoCE mlx5_0/ports/1/other\n1", -EPERM },
		{ "RoCE mlx5_0/../../target/x\n1", -EPERM },
		{ "RoCE mlx5_0/ports/1/../../../target/default_roce_tos\n1", -EPERM },
		{ "RoCE ../target/\nopen", -EPERM },
		{ "RoCE mlx5_0\nopen", -EPERM },
		{ "RoCE /ports/1/default_roce_tos\n1", -EPERM },
	};
	struct place *p = *state;

	tree_file(&p->tree, RDMA_CM_FOLDER "/mlx5_0/ports/1/default_roce_tos", "0\n");
	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		if (other_files_serve(&p->os.fs, &(struct file_request){}, rows[i].question) !=
		    rows[i].expected)
			fail_msg("%s", rows[i].question);
}

#define test(f) cmocka_unit_test_setup_teardown(f, make_place, remove_place)

/* It was a file when its content was read. */
static void a_plugin_configuration_that_became_a_fifo_is_not_waited_for(void **state)
{
	struct place *p = *state;
	struct config c = { .plugin = { .type = PLUGIN_SRIOV, .config_file = "/etc/plugin.json" } };
	_cleanup_(node_done) struct node n = { .plugin_file = strdup("{}") };
	struct fs fs = p->tree.fs;

	assert_int_equal(mkfifoat(p->tree.fs.root, "etc/plugin.json", 0644), 0);
	tree_file(&p->tree, "proc/1/comm", "sriovdp\n");
	fs.is_live = true;
	alarm(10);
	assert_int_equal(observe_plugin_processes(&fs, &c, &n), 0);
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(files_are_written_once_and_taken_back),
		test(what_others_wrote_stays),
		test(a_planted_link_is_neither_followed_nor_replaced),
		test(who_comes_in_between_is_left_alone),
		test(a_missing_folder_is_reported_and_not_made),
		test(without_var_the_record_is_of_this_boot),
		test(a_damaged_record_is_no_order_to_remove),
		test(a_removal_that_the_record_asks_for_spares_others),
		test(strange_devices_are_read_without_harm),
		test(a_plugin_configuration_that_became_a_fifo_is_not_waited_for),
		test(nothing_but_our_own_files_is_written_below_etc),
		test(udev_rules_are_made_of_addresses_alone),
		test(defaults_of_rdma_cm_are_all_that_is_written_to_configfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
