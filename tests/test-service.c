/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../src/model/paths.h"
#include "../src/os/events.h"
#include "../src/os/uevent.h"
#include "../src/service/apply-request.h"
#include "../src/service/service.h"
#include "../src/service/worker.h"
#include "tree.h"

#define CONFIG_PATH "etc/rdma-provision/rdma-provision.conf"
#define MSEC        USEC_PER_MSEC

/*
 * The service itself, on a small root, without events. Its workers are children that give the
 * result of the scene at once.
 */
static struct scene {
	struct tree tree;
	void (*on_pass)(unsigned n); /* called when the worker of a pass is started, from 1 */
	void (*on_told)(void);       /* when systemd is told of the result of a pass */
	void (*on_ready)(unsigned n);
	struct pass_result result;
	unsigned n_passes, n_ready;
	uint64_t settle_usec[32]; /* of the configuration of each pass */
	bool is_by_hand[32], was_held[32];
	pid_t client; /* "apply" */
} scene;

/* SettleSec= tells configurations apart. */
static void configure(const char *settle)
{
	char text[128];

	snprintf(text, sizeof(text), "[Service]\nReadyTimeoutSec=20\nSettleSec=%s\n", settle);
	tree_file(&scene.tree, CONFIG_PATH, text);
}

int __real_fs_open_root(const char *path, struct fs *ret);
int __wrap_fs_open_root(const char *path, struct fs *ret);
int __wrap_worker_start(const struct pass *pass, bool is_held, struct worker *ret);
int __wrap_sd_notify(int unset, const char *state);
int __wrap_sd_notifyf(int unset, const char *format, ...);
int __wrap_uevents_open(struct uevents *u);
int __wrap_uevents_fd(const struct uevents *u);
int __wrap_events_open(struct netlink *nl);
int __wrap_netlink_fd(const struct netlink *nl);
int __wrap_devlink_watch(struct netlink *nl);
void __wrap_manager_prepare(void);

int __wrap_fs_open_root(const char *path, struct fs *ret)
{
	return __real_fs_open_root(path ? path : scene.tree.root, ret);
}

_Noreturn static void be_worker(int pipe, int gate)
{
	const struct worker_message looked = { .kind = WORKER_LOOKED },
				    ends = { .kind = WORKER_ENDS, .result = scene.result };
	eventfd_t value;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (gate >= 0 &&
	    (write(pipe, &looked, sizeof(looked)) < 0 || eventfd_read(gate, &value) < 0))
		_exit(EXIT_FAILURE);
	_exit(write(pipe, &ends, sizeof(ends)) < 0);
}

int __wrap_worker_start(const struct pass *pass, bool is_held, struct worker *ret)
{
	const unsigned n = ++scene.n_passes;
	int fds[2];

	assert_true(n < ELEMENTSOF(scene.settle_usec));
	scene.settle_usec[n] = pass->config->service.settle_usec;
	scene.is_by_hand[n] = pass->is_by_hand;
	scene.was_held[n] = fs_exists(&scene.tree.fs, HOLD_PATH);
	if (scene.on_pass)
		scene.on_pass(n);
	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	ret->pipe = fds[0];
	ret->gate = is_held ? eventfd(0, EFD_CLOEXEC) : -EBADF;
	ret->pid = fork();
	if (ret->pid == 0)
		be_worker(fds[1], ret->gate);
	close(fds[1]);
	return ret->pid < 0 ? -errno : 0;
}

int __wrap_sd_notify(_unused_ int unset, const char *state)
{
	if (streq(state, "READY=1"))
		scene.on_ready(++scene.n_ready);
	return 0;
}

int __wrap_sd_notifyf(_unused_ int unset, const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (scene.on_told && strstr(text, "STATUS=the result"))
		scene.on_told();
	return 0;
}

int __wrap_uevents_open(_unused_ struct uevents *u)
{
	return 0;
}

int __wrap_uevents_fd(_unused_ const struct uevents *u)
{
	return eventfd(0, EFD_CLOEXEC);
}

int __wrap_events_open(_unused_ struct netlink *nl)
{
	return 0;
}

int __wrap_netlink_fd(_unused_ const struct netlink *nl)
{
	return eventfd(0, EFD_CLOEXEC);
}

int __wrap_devlink_watch(_unused_ struct netlink *nl)
{
	return -ENOENT;
}

void __wrap_manager_prepare(void)
{
}

static void end(void)
{
	kill(getpid(), SIGTERM);
}

static void end_when_ready(_unused_ unsigned n)
{
	end();
}

static int set_up(_unused_ void **state)
{
	scene = (struct scene){ .on_ready = end_when_ready,
				.result = { .state = NODE_READY, .summary = "the result" } };
	tree_make(&scene.tree);
	configure("1ms");
	return 0;
}

static int tear_down(_unused_ void **state)
{
	tree_remove(&scene.tree);
	return 0;
}

static void run(void)
{
	alarm(30);
	assert_int_equal(service_run(NULL), 0);
	alarm(0);
}

static void configure_in_the_first_pass(unsigned n)
{
	if (n == 1)
		configure("2ms");
}

static void
a_configuration_that_is_written_during_a_pass_is_read_before_ready(_unused_ void **state)
{
	scene.on_pass = configure_in_the_first_pass;
	run();
	assert_int_equal(scene.n_passes, 2);
	assert_int_equal(scene.settle_usec[1], 1 * MSEC);
	assert_int_equal(scene.settle_usec[2], 2 * MSEC);
}

static void configure_between_passes(void)
{
	configure("2ms");
	scene.on_told = NULL;
	scene.result = (struct pass_result){ .state = NODE_READY };
}

static void a_configuration_that_is_written_while_the_node_starts_is_read_by_the_next_pass(
	_unused_ void **state)
{
	scene.result.state = NODE_STARTING;
	scene.result.n_waiting = 1;
	scene.on_told = configure_between_passes;
	run();
	assert_int_equal(scene.n_passes, 2);
	assert_int_equal(scene.settle_usec[2], 2 * MSEC);
}

static void configure_when_ready(unsigned n)
{
	if (n == 1)
		configure("2ms");
	else
		end();
}

static void a_configuration_that_is_written_until_ready_is_read(_unused_ void **state)
{
	scene.on_ready = configure_when_ready;
	run();
	assert_int_equal(scene.n_ready, 2); /* the second one ends the reload */
	assert_int_equal(scene.settle_usec[1], 1 * MSEC);
	assert_int_equal(scene.settle_usec[2], 2 * MSEC);
}

static void hold_and_reload(unsigned n)
{
	if (n == 2) {
		end();
		return;
	}
	tree_file(&scene.tree, HOLD_PATH, "");
	kill(getpid(), SIGHUP);
}

static void a_start_and_a_reload_end_the_hold_of_revert(_unused_ void **state)
{
	tree_file(&scene.tree, HOLD_PATH, "");
	scene.on_ready = hold_and_reload;
	run();
	assert_int_equal(scene.n_passes, 2);
	assert_false(scene.was_held[1]);
	assert_false(scene.was_held[2]);
}

static void look_when_ready(unsigned n)
{
	if (n == 1)
		kill(getpid(), SIGUSR1);
}

static void configure_and_look_again(void)
{
	if (scene.n_passes != 2)
		return;
	configure("2ms");
	kill(getpid(), SIGUSR1);
}

static void end_with_the_third(unsigned n)
{
	if (n == 3)
		end();
}

/* Of "clear". */
static void another_look_keeps_the_configuration(_unused_ void **state)
{
	scene.on_ready = look_when_ready;
	scene.on_told = configure_and_look_again;
	scene.on_pass = end_with_the_third;
	run();
	assert_int_equal(scene.n_passes, 3);
	assert_int_equal(scene.settle_usec[3], 1 * MSEC);
	assert_false(scene.is_by_hand[3]);
}

/* "rdma-provision apply", which ends the service. */
static void apply_when_ready(unsigned n)
{
	struct apply_request req = {};
	int r;

	if (n > 1)
		return;
	scene.client = fork();
	if (scene.client != 0)
		return;
	configure("2ms");
	r = apply_request_make(&scene.tree.fs, &req);
	if (r >= 0)
		r = apply_request_wait(&scene.tree.fs, &req, 20 * USEC_PER_SEC);
	kill(getppid(), SIGTERM);
	_exit(r < 0 ? EXIT_FAILURE : r);
}

static void apply_is_a_pass_of_the_service_by_hand_with_the_new_configuration(_unused_ void **state)
{
	int status;

	scene.result.exit_code = 3;
	scene.on_ready = apply_when_ready;
	run();
	assert_int_equal(waitpid(scene.client, &status, 0), scene.client);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_true(scene.n_passes > 1);
	assert_false(scene.is_by_hand[1]);
	assert_true(scene.is_by_hand[scene.n_passes]);
	assert_int_equal(scene.settle_usec[scene.n_passes], 2 * MSEC);
}

static void a_second_service_does_not_run(_unused_ void **state)
{
	pid_t other = fork();

	if (other == 0) {
		_cleanup_(closep) int fd = apply_request_listen(&scene.tree.fs);

		kill(getpid(), SIGSTOP);
		_exit(fd < 0);
	}
	assert_int_equal(waitpid(other, NULL, WUNTRACED), other);
	assert_int_equal(service_run(NULL), -EBUSY);
	kill(other, SIGKILL);
	assert_int_equal(waitpid(other, NULL, 0), other);
}

static void mend_the_kubelets_file(unsigned n)
{
	if (n > 1)
		return;
	tree_file(&scene.tree, "kubelet/cpu_manager_state", "{}");
	tree_file(&scene.tree, "kubelet/.config.yaml.new", "kind: KubeletConfiguration\n");
	assert_int_equal(renameat(scene.tree.fs.root, "kubelet/.config.yaml.new",
				  scene.tree.fs.root, "kubelet/config.yaml"),
			 0);
}

static void add_a_drop_in_with_the_second(unsigned n)
{
	if (n == 2)
		tree_file(&scene.tree, "kubelet/conf.d/a.conf", "");
	if (n == 3)
		end();
}

static void a_change_of_the_kubelets_files_is_looked_at(_unused_ void **state)
{
	tree_file(&scene.tree, "kubelet/config.yaml", "kind: [\n");
	tree_file(&scene.tree, "kubelet/conf.d/b.conf", "");
	snprintf(scene.result.files[0], sizeof(scene.result.files[0]), "%s/kubelet/config.yaml",
		 scene.tree.root);
	snprintf(scene.result.files[1], sizeof(scene.result.files[1]), "%s/kubelet/conf.d",
		 scene.tree.root);
	scene.on_ready = mend_the_kubelets_file;
	scene.on_pass = add_a_drop_in_with_the_second;
	run();
	assert_int_equal(scene.n_passes, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_configuration_that_is_written_during_a_pass_is_read_before_ready),
		TEST(a_configuration_that_is_written_while_the_node_starts_is_read_by_the_next_pass),
		TEST(a_configuration_that_is_written_until_ready_is_read),
		TEST(a_start_and_a_reload_end_the_hold_of_revert),
		TEST(another_look_keeps_the_configuration),
		TEST(apply_is_a_pass_of_the_service_by_hand_with_the_new_configuration),
		TEST(a_second_service_does_not_run),
		TEST(a_change_of_the_kubelets_files_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
