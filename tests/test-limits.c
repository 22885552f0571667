/* SPDX-License-Identifier: Apache-2.0 */
/* What sysfs, /proc and unit files say of links, IOMMUs and memory that may be locked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/device/pci-observe.h"
#include "../src/health/limits-observe.h"
#include "../src/model/plan.h"
#include "tree.h"

static void speeds_are_those_that_the_kernel_prints(_unused_ void **state)
{
	static const struct {
		const char *text;
		uint32_t speed;
	} cases[] = {
		{ "2.5 GT/s PCIe", 2500 },
		{ "5.0 GT/s PCIe", 5000 },
		{ "8 GT/s", 8000 }, /* before Linux 5.7 */
		{ "64.0 GT/s PCIe", 64000 },
		{ "133 MHz PCI-X", 0 },
		{ "Unknown", 0 },
		{ "Unknown speed", 0 },
		{ "", 0 },
		{ "-8 GT/s", 0 },
		{ "8", 0 },
		{ "8. GT/s", 0 },
		{ "99999999999999999999 GT/s", 0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++)
		assert_int_equal(parse_link_speed(cases[i].text), cases[i].speed);
}

static void limits_are_as_systemd_takes_them(_unused_ void **state)
{
	static const struct {
		const char *text;
		bool is_good;
		uint64_t bytes;
	} cases[] = {
		{ "infinity", true, UINT64_MAX },
		{ "infinity:infinity", true, UINT64_MAX },
		{ "0", true, 0 },
		{ "65536", true, 65536 },
		{ "64K", true, 65536 },
		{ "8M:16M", true, UINT64_C(8) << 20 },
		{ "1G", true, UINT64_C(1) << 30 },
		{ "15E", true, UINT64_C(15) << 60 },
		{ "16E", false, 0 },
		{ "", false, 0 },
		{ "8MB", false, 0 },
		{ "-1", false, 0 },
		{ "much", false, 0 },
		{ "99999999999999999999", false, 0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		uint64_t bytes = 0;

		assert_int_equal(parse_memlock(cases[i].text, &bytes), cases[i].is_good);
		assert_true(bytes == cases[i].bytes);
	}
}

#define LIMITS(soft)                                                                               \
	"Limit                     Soft Limit           Hard Limit           Units     \n"         \
	"Max processes             3571                 3571                 processes \n"         \
	"Max locked memory         " soft "              8388608              bytes     \n"

static void the_soft_limit_of_a_process_counts(_unused_ void **state)
{
	uint64_t bytes = 1;

	assert_true(parse_process_memlock(LIMITS("65536"), &bytes));
	assert_true(bytes == 65536);
	assert_true(parse_process_memlock(LIMITS("unlimited"), &bytes));
	assert_true(bytes == UINT64_MAX);
	assert_false(parse_process_memlock("", &bytes));
	assert_false(parse_process_memlock("Max locked memory", &bytes));
	assert_false(parse_process_memlock("Max locked memory   x\n", &bytes));
	assert_false(parse_process_memlock("Not Max locked memory   1 \n", &bytes));
}

/* "unit bytes; ..." */
static const char *memlocks(const struct tree *t)
{
	_cleanup_(node_done) struct node n = {};
	static char text[256];
	size_t len = 0;

	text[0] = '\0';
	observe_limits(&t->fs, &n);
	for (size_t i = 0; i < n.n_memlocks; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %" PRIi64,
					i > 0 ? "; " : "", n.memlocks[i].unit,
					(int64_t)n.memlocks[i].bytes);
	return text;
}

#define UNITS "usr/lib/systemd/system/"

static void files_tell_of_what_does_not_run(_unused_ void **state)
{
	struct tree t;

	tree_make(&t);
	assert_string_equal(memlocks(&t), "");
	/* The kubelet only where nothing else is known, then Docker, then the others. */
	tree_file(&t, UNITS "kubelet.service", "[Service]\nLimitMEMLOCK=64K\n");
	assert_string_equal(memlocks(&t), "kubelet.service 65536");
	tree_file(&t, UNITS "docker.service", "[Service]\n");
	assert_string_equal(memlocks(&t), "docker.service 8388608");
	tree_file(&t, UNITS "containerd.service", "[Service]\nLimitMEMLOCK=1M\n");
	assert_string_equal(memlocks(&t), "containerd.service 1048576");
	tree_file(&t, "etc/systemd/system/containerd.service.d/a.conf",
		  "[Service]\nLimitMEMLOCK=infinity\n");
	assert_string_equal(memlocks(&t), "containerd.service -1");
	/* Taken back by a later one: then the manager's default counts. */
	tree_file(&t, "run/systemd/system/containerd.service.d/b.conf",
		  "[Service]\nLimitMEMLOCK=\n");
	assert_string_equal(memlocks(&t), "containerd.service 8388608");
	tree_file(&t, "etc/systemd/system.conf",
		  "[Manager]\n#DefaultLimitMEMLOCK=8M\nDefaultLimitMEMLOCK=2M\n");
	assert_string_equal(memlocks(&t), "containerd.service 2097152");
	tree_file(&t, "usr/lib/systemd/system.conf.d/10.conf",
		  "[Manager]\nDefaultLimitMEMLOCK=infinity\n");
	assert_string_equal(memlocks(&t), "containerd.service -1");
	/* One that is masked is not there. */
	tree_link(&t, "etc/systemd/system/containerd.service", "/dev/null");
	assert_string_equal(memlocks(&t), "docker.service -1");
	/* A capture without this answer knows nothing. */
	tree_file(&t, "rdma-provision-answers.json", "{}");
	assert_string_equal(memlocks(&t), "");
	tree_remove(&t);
}

static void of_a_runtime_that_runs_its_process_counts(_unused_ void **state)
{
	struct tree t;

	tree_make(&t);
	t.fs.is_live = true; /* a folder that looks like a running system */
	tree_file(&t, UNITS "containerd.service",
		  "[Service]\nSlice=runtime.slice\nLimitMEMLOCK=infinity\n");
	tree_file(&t, UNITS "crio.service", "[Service]\nLimitMEMLOCK=1M\n");
	tree_file(&t, "sys/fs/cgroup/runtime.slice/containerd.service/cgroup.procs",
		  "70\n71\n72\n");
	assert_string_equal(memlocks(&t), "containerd.service -1; crio.service 1048576");
	/* Shims outlive a restart of the daemon, with the limit of the one before. */
	tree_file(&t, "proc/71/comm", "containerd-shim\n");
	tree_file(&t, "proc/71/limits", LIMITS("4096"));
	tree_file(&t, "proc/72/comm", "containerd\n");
	tree_file(&t, "proc/72/limits", LIMITS("65536"));
	/* Where one runs, those that do not are not asked. */
	assert_string_equal(memlocks(&t), "containerd.service 65536");
	tree_remove(&t);
}

static void links_are_read_from_both_ends(_unused_ void **state)
{
	static const char port[] = "sys/devices/pci0000:40/0000:40:01.0";
	static const char pf[] = "sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0";
	_cleanup_(questions_done) struct questions q = { .set = 1u << QUESTION_PCIE };
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	static const struct {
		const char *folder, *name, *text;
	} files[] = {
		{ port, "class", "0x060400\n" },
		{ port, "max_link_speed", "16.0 GT/s PCIe\n" },
		{ port, "max_link_width", "16\n" },
		{ port, "current_link_width", "1\n" },
		{ pf, "class", "0x020000\n" },
		{ pf, "vendor", "0x15b3\n" },
		{ pf, "device", "0x1021\n" },
		{ pf, "current_link_speed", "8.0 GT/s PCIe\n" },
		{ pf, "current_link_width", "8\n" },
		{ pf, "max_link_speed", "32.0 GT/s PCIe\n" },
		{ pf, "max_link_width", "255\n" },
		{ pf, "aer_dev_fatal", "DLP 2\nSDES 2\nUnsupReq 1\nTOTAL_ERR_FATAL 2\n" },
		{ pf, "aer_dev_nonfatal",
		  "DLP 0\nCmpltTO 3\nUnsupReq 5\nACSViol 5\nTOTAL_ERR_NONFATAL 8\n" },
	};
	struct tree t;

	tree_make(&t);
	for (size_t i = 0; i < ELEMENTSOF(files); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", files[i].folder, files[i].name);
		tree_file(&t, path, files[i].text);
	}
	tree_link(&t, "sys/bus/pci/devices/0000:40:01.0",
		  "../../../devices/pci0000:40/0000:40:01.0");
	tree_link(&t, "sys/bus/pci/devices/0000:41:00.0",
		  "../../../devices/pci0000:40/0000:40:01.0/0000:41:00.0");
	tree_link(&t, "sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0/iommu_group",
		  "../../../../kernel/iommu_groups/17");
	tree_file(&t, "sys/kernel/iommu_groups/17/type", "DMA-FQ\n");

	assert_int_equal(observe_pci(&t.fs, &n, &memory), 0);
	assert_int_equal(n.n_pcis, 1);
	observe_limits(&t.fs, &n);
	observe_pcie(&t.fs, &q, &n);
	assert_int_equal(n.pcis[0].link.speed, 0); /* nobody asked */
	assert_int_equal(questions_add_function(&q, "0000:41:00.0"), 0);
	q.set = 1u << QUESTION_DCB;
	observe_pcie(&t.fs, &q, &n);
	assert_int_equal(n.pcis[0].link.speed, 0);
	q.set |= 1u << QUESTION_PCIE;
	observe_pcie(&t.fs, &q, &n);
	assert_int_equal(n.pcis[0].link.speed, 8000);
	assert_int_equal(n.pcis[0].link.width, 8);
	assert_int_equal(n.pcis[0].max_link.speed, 32000);
	assert_int_equal(n.pcis[0].max_link.width, 0); /* it did not answer */
	assert_int_equal(n.pcis[0].max_slot.speed, 16000);
	assert_int_equal(n.pcis[0].max_slot.width, 16);
	assert_string_equal(n.pcis[0].iommu, "DMA-FQ");
	/* A request that is refused is no error of the link, and one message can have two bits. */
	assert_int_equal(n.pcis[0].n_aer, 2 + 3);

	/* Of a VF the same files say nothing. */
	n.pcis[0].link = n.pcis[0].max_link = n.pcis[0].max_slot = (struct pcie){};
	n.pcis[0].iommu[0] = '\0';
	COPY(n.pcis[0].physfn, "0000:41:00.7");
	observe_limits(&t.fs, &n);
	observe_pcie(&t.fs, &q, &n);
	assert_int_equal(n.pcis[0].link.speed, 0);
	assert_string_equal(n.pcis[0].iommu, "");
	tree_remove(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(speeds_are_those_that_the_kernel_prints),
		cmocka_unit_test(limits_are_as_systemd_takes_them),
		cmocka_unit_test(the_soft_limit_of_a_process_counts),
		cmocka_unit_test(files_tell_of_what_does_not_run),
		cmocka_unit_test(of_a_runtime_that_runs_its_process_counts),
		cmocka_unit_test(links_are_read_from_both_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
