/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../src/config/config-read.h"
#include "../src/config/load.h"
#include "../src/config/parse.h"
#include "../src/config/reader.h"
#include "../src/config/settings.h"

#include "skip.h"
#include "tree.h"

#define NIC  "[Device a]\nMatch=driver:x\n"
#define MAIN "etc/rdma-provision/rdma-provision.conf"

static int parse_bytes(const char *text, size_t size, struct config *c,
		       struct config_errors *errors)
{
	return config_parse_text("/f", text, size, c, errors);
}

static void assert_valid(const char *text, size_t size, struct config *c)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};

	if (parse_bytes(text, size, c, &errors) != 0 || errors.n_items > 0)
		fail_msg("%s\nis refused: %s", text, config_errors_first(&errors));
}

static void assert_refused(const char *text, size_t size, const char *problem)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	struct config c = { .n_devices = 77 };

	if (parse_bytes(text, size, &c, &errors) != -EINVAL)
		fail_msg("accepted, but should be refused with %s", problem);
	assert_int_equal(c.n_devices, 77); /* written on success only */
	assert_string_equal(config_errors_first(&errors), problem);
	assert_int_equal(errors.n_malformed, 1); /* and nothing that only follows from it */
}

static void no_file_changes_nothing(void **state)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config c = {}, d = {};
	_cleanup_(freep) char *text = NULL;
	struct tree *p = *state;

	assert_int_equal(config_load(&p->fs, NULL, &c, &errors), 0);
	assert_int_equal(c.rdma.netns_mode, NETNS_MODE_KEEP);
	assert_int_equal(c.n_devices, 0);
	assert_false(c.route.manage);
	assert_int_equal(c.route.metric, 200);
	assert_int_equal(c.kubelet.topology_policy, TOPOLOGY_POLICY_UNSET);
	assert_int_equal(c.kubelet.gate, GATE_DEGRADED);
	assert_int_equal(c.plugin.type, PLUGIN_NONE);
	assert_string_equal(c.plugin.resource, "rdma/hca");
	assert_int_equal(c.plugin.shares, 1000);
	assert_int_equal(c.service.ready_timeout_usec, 300 * USEC_PER_SEC);
	assert_int_equal(c.service.settle_usec, USEC_PER_SEC / 2);
	assert_int_equal(config_text(&c, &text), 0);
	assert_string_equal(text, "");
	assert_string_equal(c.hash, "cbf29ce484222325"); /* FNV-1a of nothing */

	assert_int_equal(config_load_default(&d), 0);
	assert_string_equal(d.hash, c.hash);
}

static void every_setting_reads_its_own_default_and_text(void **state _unused_)
{
	for (size_t i = 0; i < N_SETTINGS; i++) {
		_cleanup_(freep) char *text = NULL;
		struct device_config device = { .match = NULL };
		struct config config = {};
		void *base = setting_is_device(&settings[i]) ? (void *)&device : (void *)&config;

		assert_int_equal(setting_parse(&settings[i], settings[i].fallback, base), 0);
		assert_int_equal(setting_format(&settings[i], base, &text), 0);
		assert_string_equal(text, settings[i].fallback);
		assert_ptr_equal(setting_find(settings[i].section, settings[i].name), &settings[i]);
		assert_true(strlen(settings[i].help) > 0 && !strchr(settings[i].help, '\n'));
		free(device.match);
	}
}

static void every_value_is_accepted_in_its_range_only(void **state _unused_)
{
	static const struct {
		const char *section, *name, *value, *canonical; /* NULL: refused */
	} cases[] = {
		{ "RDMA", "NetnsMode", "shared", "shared" },
		{ "RDMA", "NetnsMode", "Shared", NULL },
		{ "RDMA", "NetnsMode", "", NULL },
		{ "Device", "VirtualFunctions", "shared-multi", "shared-multi" },
		{ "Device", "VirtualFunctions", "multi", NULL },
		{ "Device", "Count", "1", "1" },
		{ "Device", "Count", "65535", "65535" },
		{ "Device", "Count", "max", "max" },
		{ "Device", "Count", "0", NULL },
		{ "Device", "Count", "65536", NULL },
		{ "Device", "Count", "-1", NULL },
		{ "Device", "Count", "+1", NULL },
		{ "Device", "Count", "08", NULL },
		{ "Device", "Count", "0x8", NULL },
		{ "Device", "Count", "8 VFs", NULL },
		{ "Device", "Count", "8.0", NULL },
		{ "Device", "Count", "18446744073709551617", NULL },
		{ "Device", "Count", "4294967297", NULL },
		{ "Device", "MTU", "0", "0" },
		{ "Device", "MTU", "67", NULL },
		{ "Device", "MTU", "68", "68" },
		{ "Device", "MTU", "65535", "65535" },
		{ "Device", "MTU", "65536", NULL },
		{ "Device", "Expect", "65535", "65535" },
		{ "Device", "Expect", "65536", NULL },
		{ "Route", "Manage", "yes", "yes" },
		{ "Route", "Manage", "TRUE", "yes" },
		{ "Route", "Manage", "1", "yes" },
		{ "Route", "Manage", "off", "no" },
		{ "Route", "Manage", "maybe", NULL },
		{ "Route", "Metric", "0", NULL },
		{ "Route", "Metric", "1", "1" },
		{ "Route", "Metric", "2147483647", "2147483647" },
		{ "Route", "Metric", "2147483648", NULL },
		{ "Route", "PolicyRules", "yes", "yes" },
		{ "Route", "PolicyRules", "maybe", NULL },
		{ "Route", "Address", "metadata", "metadata" },
		{ "Route", "Address", "dhcp", NULL },
		{ "Route", "IPv6", "ra", "ra" },
		{ "Route", "IPv6", "yes", NULL },
		{ "Device", "StaticAddress", "10.0.1.5/24", "10.0.1.5/24" },
		{ "Device", "StaticAddress", "10.0.1.4/31", "10.0.1.4/31" },
		{ "Device", "StaticAddress", "FD00::5/64", "fd00::5/64" },
		{ "Device", "StaticAddress", "10.0.1.5", NULL },
		{ "Device", "StaticAddress", "10.0.1.5/33", NULL },
		{ "Device", "StaticAddress", "10.0.1.5/32", NULL },
		{ "Device", "StaticAddress", "10.0.1.5/0", NULL },
		{ "Device", "StaticAddress", "10.0.1.5/024", NULL },
		{ "Device", "StaticAddress", "10.0.1.0/24", NULL },
		{ "Device", "StaticAddress", "10.0.1.255/24", NULL },
		{ "Device", "StaticAddress", "127.0.0.5/8", NULL },
		{ "Device", "StaticAddress", "169.254.1.5/16", NULL },
		{ "Device", "StaticAddress", "224.0.0.5/4", NULL },
		{ "Device", "StaticAddress", "fe80::5/64", NULL },
		{ "Device", "StaticAddress", "::1/64", NULL },
		{ "Device", "StaticAddress", "ff02::1/64", NULL },
		{ "Device", "StaticAddress", "10.0.1.5/24 10.0.2.5/24", NULL },
		{ "Device", "Gateway", "10.0.1.253", "10.0.1.253" },
		{ "Device", "Gateway", "fe80::1", "fe80::1" },
		{ "Device", "Gateway", "10.0.1.253/24", NULL },
		{ "Device", "Gateway", "gw", NULL },
		{ "Output", "NFD", "no", "no" },
		{ "Output", "NFD", "/etc/features.d/rdma", "/etc/features.d/rdma" },
		{ "Output", "NFD", "/etc/x.d/rdma", NULL },
		{ "Output", "NFD", "/etc/features.d/.rdma", NULL }, /* NFD leaves it out */
		{ "Output", "NFD", "/etc/features.d/a/rdma", NULL },
		{ "Output", "NFD", "/etc/features.d", NULL },
		{ "Output", "NFD", "/etc/ld.so.preload", NULL },
		{ "Output", "NFD", "", NULL },
		{ "Output", "NFD", "yes", NULL },
		{ "Output", "NFD", "etc/x", NULL },
		{ "Output", "NFD", "/etc/", NULL },
		{ "Output", "NFD", "/", NULL },
		{ "Output", "NFD", "/etc/.x", NULL },
		{ "Output", "NFD", "/etc/..", NULL },
		{ "Output", "NFD", "/etc/../x", NULL },
		{ "Output", "NFD", "/etc/./x", NULL },
		{ "Output", "NFD", "//x", NULL },
		{ "Output", "NFD", "/etc/a b", NULL },
		{ "Output", "NFD", "/etc/\x1b", NULL },
		{ "Output", "NCCL", "/etc/nccl.conf", "/etc/nccl.conf" },
		{ "Output", "NCCL", "/var/lib/job/rdma-nccl.conf", "/var/lib/job/rdma-nccl.conf" },
		{ "Output", "NCCL", "/etc/ld.so.preload", NULL },
		{ "Output", "NCCL", "/etc/profile", NULL },
		{ "Output", "NCCL", "/etc/cron.d/x", NULL },
		{ "Output", "NCCL", "/etc/nccl.conf/x", NULL },
		{ "Output", "Metrics", "/var/x.prom", "/var/x.prom" },
		{ "Output", "Metrics", "/var/x.txt", NULL },
		{ "Output", "Metrics", "/var/.prom", NULL },
		{ "Output", "Metrics", "/a", NULL },
		{ "Output", "CDI", "no", "no" },
		{ "Output", "CDI", "/run/cdi", "/run/cdi" },
		{ "Output", "CDI", "/run/a/cdi", "/run/a/cdi" },
		{ "Output", "CDI", "/run/a/b", NULL },
		{ "Output", "CDI", "/run/xcdi", NULL },
		{ "Output", "CDI", "", NULL },
		{ "Output", "CDI", "/run", NULL },
		{ "Output", "CDI", "/run/", NULL },
		{ "Output", "CDI", "/run/cdi/", NULL },
		{ "Output", "CDI", "/run/../etc", NULL },
		{ "Output", "CDI", "/etc/cdi", NULL }, /* it outlives a boot */
		{ "Output", "CDI", "/var/run/cdi", NULL },
		{ "Output", "CDI", "run/cdi", NULL },
		{ "Kubelet", "TopologyManagerPolicy", "best-effort", "best-effort" },
		{ "Kubelet", "TopologyManagerPolicy", "single-numa-node", "single-numa-node" },
		{ "Kubelet", "TopologyManagerPolicy", "", "" },
		{ "Kubelet", "TopologyManagerPolicy", "none", NULL },
		{ "Kubelet", "TopologyManagerScope", "pod", "pod" },
		{ "Kubelet", "TopologyManagerScope", "container", "container" },
		{ "Kubelet", "TopologyManagerScope", "", "" },
		{ "Kubelet", "TopologyManagerScope", "node", NULL },
		{ "Kubelet", "CPUManagerPolicy", "static", "static" },
		{ "Kubelet", "CPUManagerPolicy", "", "" },
		{ "Kubelet", "CPUManagerPolicy", "none", NULL },
		{ "Kubelet", "CPUManagerPolicy", "Static", NULL },
		{ "Kubelet", "Gate", "strict", "strict" },
		{ "Kubelet", "Gate", "yes", NULL },
		{ "DevicePlugin", "Type", "rdma-shared", "rdma-shared" },
		{ "DevicePlugin", "Type", "sriov", "sriov" },
		{ "DevicePlugin", "Type", "hca", "hca" },
		{ "DevicePlugin", "Type", "rdma", NULL },
		{ "DevicePlugin", "Resource", "rdma/hca_shared", "rdma/hca_shared" },
		{ "DevicePlugin", "Resource", "example.com/A1", "example.com/A1" },
		/* Which plugin takes it is looked at when all is merged. */
		{ "DevicePlugin", "Resource", "rdma/hca-shared", "rdma/hca-shared" },
		{ "DevicePlugin", "Resource", "rdma/-hca", NULL },
		{ "DevicePlugin", "Resource", "rdma/hca-", NULL },
		{ "DevicePlugin", "Resource", "rdma/h*a", NULL },
		{ "Device", "Resource", "rdma/gpu", "rdma/gpu" },
		{ "Device", "Resource", "gpu", NULL },
		{ "DevicePlugin", "ConfigFile", "/run/rdma-provision/device-plugin/config.json",
		  "/run/rdma-provision/device-plugin/config.json" },
		{ "DevicePlugin", "ConfigFile", "/run/a/b", "/run/a/b" },
		{ "DevicePlugin", "ConfigFile", "/etc/pcidp/config.json", NULL },
		{ "DevicePlugin", "ConfigFile", "/run/a", NULL },
		{ "DevicePlugin", "ConfigFile", "/run/a/", NULL },
		{ "DevicePlugin", "ConfigFile", "/run/rdma-provision/state.json", NULL },
		{ "DevicePlugin", "ConfigFile", "/run/a/../../etc/passwd", NULL },
		{ "DevicePlugin", "ConfigFile", "/run/a/.b", NULL },
		{ "DevicePlugin", "ConfigFile", "/run//a/b", NULL },
		{ "DevicePlugin", "ConfigFile", "run/a/b", NULL },
		{ "DevicePlugin", "ConfigFile", "/run/a/b c", NULL },
		{ "DevicePlugin", "Manifest", "/etc/kubernetes/manifests/rdma.yaml",
		  "/etc/kubernetes/manifests/rdma.yaml" },
		{ "DevicePlugin", "Manifest", "", "" },
		{ "DevicePlugin", "Manifest", "/var/lib/rancher/k3s/agent/pod-manifests/rdma.yaml",
		  "/var/lib/rancher/k3s/agent/pod-manifests/rdma.yaml" },
		{ "DevicePlugin", "Manifest", "/etc/kubelet.d/rdma.yaml",
		  "/etc/kubelet.d/rdma.yaml" },
		{ "DevicePlugin", "Manifest", "/etc/rdma.yaml", NULL },
		{ "DevicePlugin", "Manifest", "/etc/manifests", NULL },
		{ "DevicePlugin", "Manifest", "/etc/manifests/a/rdma.yaml", NULL },
		{ "DevicePlugin", "Manifest", "/etc/ld.so.preload", NULL },
		{ "DevicePlugin", "Manifest", "no", NULL },
		{ "DevicePlugin", "Manifest", "/etc/kubernetes/manifests/.rdma.yaml", NULL },
		{ "DevicePlugin", "Manifest", "/etc/a:b", NULL },
		{ "DevicePlugin", "Image", "ghcr.io/a/b:v1@sha256:00", "ghcr.io/a/b:v1@sha256:00" },
		{ "DevicePlugin", "Image", "", "" },
		{ "DevicePlugin", "Image", "a b", NULL },
		{ "DevicePlugin", "Image", "a\"b", NULL },
		{ "DevicePlugin", "Image", "/a", NULL },
		{ "DevicePlugin", "Resource", "rdma/hca.shared", NULL },
		{ "DevicePlugin", "Resource", "rdma/_hca", NULL },
		{ "DevicePlugin", "Resource", "rdma/", NULL },
		{ "DevicePlugin", "Resource", "/hca", NULL },
		{ "DevicePlugin", "Resource", "hca", NULL },
		{ "DevicePlugin", "Resource", "rdma/a/b", NULL },
		{ "DevicePlugin", "Resource", "RDMA/hca", NULL },
		{ "DevicePlugin", "Resource", "rdma./hca", NULL },
		{ "DevicePlugin", "Resource", "a..b/hca", NULL },
		{ "DevicePlugin", "Resource", "-a/hca", NULL },
		{ "DevicePlugin", "Resource", "kubernetes.io/hca", NULL },
		{ "DevicePlugin", "Resource", "rdma.kubernetes.io/hca", NULL },
		{ "DevicePlugin", "Resource", "requests.rdma/hca", NULL },
		{ "DevicePlugin", "Resource", "requests/hca", "requests/hca" },
		{ "DevicePlugin", "Resource", "kubernetes.io.rdma/hca", "kubernetes.io.rdma/hca" },
		{ "DevicePlugin", "Shares", "0", NULL },
		{ "DevicePlugin", "Shares", "2147483647", "2147483647" },
		{ "Health", "Flap", "3/12h", "3/43200" },
		{ "Health", "Flap", "16/1s", "16/1" },
		{ "Health", "Flap", "", "" },
		{ "Health", "Flap", "17/1h", NULL },
		{ "Health", "Flap", "0/1h", NULL },
		{ "Health", "Flap", "3", NULL },
		{ "Health", "Flap", "/1h", NULL },
		{ "Health", "Flap", "3/", NULL },
		{ "Health", "Flap", "3/31d", NULL },
		{ "Health", "Flap", "33333333333333333333/1h", NULL },
		{ "Health", "Drop", "4min", "240" },
		{ "Health", "Quiet", "0", NULL },
		{ "QoS", "TrustMode", "dscp", "dscp" },
		{ "QoS", "TrustMode", "vlan", NULL },
		{ "QoS", "PFC", "4 3", "3,4" },
		{ "QoS", "PFC", "none", "none" },
		{ "QoS", "PFC", "8", NULL },
		{ "QoS", "ETS", "3:50 0:50", "0:50 3:50" },
		{ "QoS", "ETS", "3:100", NULL },
		{ "QoS", "DSCP", "keep", "keep" },
		{ "QoS", "DSCP", "26:8", NULL },
		{ "QoS", "RoceToS", "106", "106" },
		{ "QoS", "RoceToS", "0", "0" },
		{ "QoS", "RoceToS", "256", NULL },
		{ "QoS", "RoceMode", "v2", "v2" },
		{ "Health", "Act", "exclude", "exclude" },
		{ "Health", "Act", "drain", NULL },
		{ "Service", "ReadyTimeoutSec", "5min", "300" },
		{ "Service", "ReadyTimeoutSec", "1d", "86400" },
		{ "Service", "ReadyTimeoutSec", "86400.1", NULL },
		{ "Service", "ReadyTimeoutSec", "infinity", NULL },
		{ "Service", "ReadyTimeoutSec", "-1", NULL },
		{ "Service", "SettleSec", "0", "0" },
		{ "Service", "SettleSec", "500ms", "0.5" },
		{ "Service", "SettleSec", "1us", "0.000001" },
		{ "Service", "SettleSec", "10.25", "10.25" },
		{ "Service", "SettleSec", "61", NULL },
		{ "Device", "Match", "  driver:mlx5_core\tpci:0000:3B:00.0 ",
		  "driver:mlx5_core pci:0000:3b:00.0" },
		{ "Device", "Match", "id:15B3:101e id:8086:*", "id:15b3:101e id:8086:*" },
		{ "Device", "Match", "pci:*:41:00.[01]", "pci:*:41:00.[01]" },
		{ "Device", "Match", "netdev:ens?f* ibdev:mlx5_*", "netdev:ens?f* ibdev:mlx5_*" },
		{ "Device", "Match", "pci:10000:01:00.0", "pci:10000:01:00.0" },
		{ "Device", "Match", "pci:41:00.0", NULL },
		{ "Device", "Match", "pci:0000:41:00:0", NULL },
		{ "Device", "Match", "pci:mlx5*", NULL },
		{ "Device", "Match", "id:15b3", NULL },
		{ "Device", "Match", "id:0x15b3:*", NULL },
		{ "Device", "Match", "id:15b:*", NULL },
		{ "Device", "Match", "id:*:", NULL },
		{ "Device", "Match", "driver:", NULL },
		{ "Device", "Match", "driver:../x", NULL },
		{ "Device", "Match", "netdev:ens[1", NULL },
		{ "Device", "Match", "netdev:ens1]", NULL },
		{ "Device", "Match", "mac:00:11:22:33:44:55", NULL },
		{ "Device", "Match", "Driver:x", NULL },
		{ "Device", "Match", "mlx5_0", NULL },
		{ "Device", "Match", "driver:a,driver:b:c", NULL },
		{ "Device", "Match", "driver:mlx5_core, netdev:eth1", NULL },
		{ "Device", "Match", "netdev:eth1,eth2", NULL },
		{ "Device", "Match", "driver:\"mlx5_core\"", NULL },
		{ "Device", "Match", "netdev:eth[0,1]", "netdev:eth[0,1]" },
		{ "Device", "Match", "netdev:[\"']eth[0,1]", "netdev:[\"']eth[0,1]" },
		{ "Device", "Match", "netdev:eth[0,1],eth2", NULL },
		{ "Service", "NodeNIC", "netdev:bond[0,1]", "netdev:bond[0,1]" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const struct setting *s = setting_find(cases[i].section, cases[i].name);
		_cleanup_(freep) char *text = NULL;
		struct device_config device = {};
		struct config config = {};
		void *base;
		int r;

		assert_non_null(s);
		base = setting_is_device(s) ? (void *)&device : (void *)&config;
		r = setting_parse(s, cases[i].value, base);
		if (r != (cases[i].canonical ? 0 : -EINVAL))
			fail_msg("%s=%s gives %d", cases[i].name, cases[i].value, r);
		if (r == 0) {
			assert_int_equal(setting_format(s, base, &text), 0);
			assert_string_equal(text, cases[i].canonical);
		}
		free(device.match);
	}
}

static void time_spans_are_those_of_systemd(void **state _unused_)
{
	static const struct {
		const char *value;
		int result;
		uint64_t usec;
	} cases[] = {
		{ "300", 0, 300000000 },
		{ "0.5", 0, 500000 },
		{ "1min 30s", 0, 90000000 },
		{ "1min30s", 0, 90000000 },
		{ "2 h", 0, 7200000000 },
		{ "0.0000019", 0, 1 },
		{ "1.5min", 0, 90000000 },
		{ "250 msec", 0, 250000 },
		{ "1w 1day", 0, 691200000000 },
		{ "", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ "1.", -EINVAL, 0 },
		{ ".5", -EINVAL, 0 },
		{ "5 fortnights", -EINVAL, 0 },
		{ "1 -1", -EINVAL, 0 },
		{ "5S", -EINVAL, 0 },
		{ "99999999999999999999", -EINVAL, 0 },
		{ "18446744073710", -EINVAL, 0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		uint64_t usec = 0;

		if (parse_span(cases[i].value, &usec) != cases[i].result)
			fail_msg("\"%s\"", cases[i].value);
		assert_int_equal(usec, cases[i].usec);
	}
}

static void bad_input_is_refused_with_file_line_key_and_value(void **state _unused_)
{
#define T(text) text, sizeof(text) - 1
	static const struct {
		const char *text;
		size_t size;
		const char *problem;
	} cases[] = {
		{ T("# x\n\n" NIC "Count=8 VFs\n"),
		  "Count=8 VFs is not valid: use a number from 1 to 65535, or max (/f:5)" },
		{ T("[Route]\nMetric=99999999999999999999\n"),
		  "Metric=99999999999999999999 is not valid: use a number from 1 to 2147483647 "
		  "(/f:2)" },
		{ T("[Route]\nManage=no # not\n"),
		  "Manage=no # not is not valid: use yes or no (/f:2)" },
		/* what inih would cut */
		{ T("[Route]\nManage=no ; not\n"),
		  "Manage=no ; not is not valid: use no \" ;\" in a line, for it would begin a "
		  "comment; comments have lines of their own (/f:2)" },
		{ T("[Route]\nManage= ;no\n"),
		  "Manage= ;no is not valid: use no \" ;\" in a line, for it would begin a "
		  "comment; comments have lines of their own (/f:2)" },
		{ T("[Route]\nManage\t;=no\n"),
		  "Manage\\x09;=no is not valid: use no \" ;\" in a line, for it would begin a "
		  "comment; comments have lines of their own (/f:2)" },
		/* lines are not continued */
		{ T(NIC "Expect=1\\\nMTU=0\n"),
		  "Expect=1\\ is not valid: use no backslash at the end, for lines are not "
		  "continued; a key that takes a list may be repeated (/f:3)" },
		{ T("[Device a]\nMatch=driver:x \\\n"),
		  "Match=driver:x \\ is not valid: use no backslash at the end, for lines are not "
		  "continued; a key that takes a list may be repeated (/f:2)" },
		{ T("[Device a]\nMatch=driver:x\n  driver=y z\n  driver y\n"),
		  "driver y: no = in this line: use KEY=VALUE, [SECTION], or a comment that begins "
		  "with "
		  "# or ; (/f:4)" },
		{ T("[Route]\nManage=\"no\"\n"),
		  "Manage=\"no\" is not valid: quotes have no meaning here: use yes or no (/f:2)" },
		{ T("[Route]\nMetric=1\n\nMetric=2\n"), "Metric=2: set in line 2 already: use each "
							"key once in a section of a file (/f:4)" },
		{ T(NIC "MTU=0\n[Route]\n[Device a]\nMTU=\n"),
		  "MTU=: set in line 3 already: use each key once in a section of a file (/f:6)" },
		{ T("Manage=yes\n[Route]\n"),
		  "Manage=yes: text before the first section: use a line with a section first, for "
		  "example [Device] (/f:1)" },
		{ T("[Route]\nManage=y\0es\n"),
		  "a NUL byte is not valid: use text in UTF-8 (/f:2)" },
		{ T("#\0\n"), "a NUL byte is not valid: use text in UTF-8 (/f:1)" },
		{ T("[Route]\nManage=\xff\n"), "invalid UTF-8: use text in UTF-8 (/f:2)" },
		{ T("[Route]\nManage=\xc0\xaf\n"), "invalid UTF-8: use text in UTF-8 (/f:2)" },
		{ T("[Route]\nManage=\xed\xa0\x80\n"), "invalid UTF-8: use text in UTF-8 (/f:2)" },
		{ T("[Route]\nManage=\xe2\x82"), "invalid UTF-8: use text in UTF-8 (/f:2)" },
		{ T("[Route]\nManage=\x1b[31m\n"),
		  "a control character is not valid: use text without any (/f:2)" },
		{ T("[Route]\rManage=yes\r"),
		  "a control character is not valid: use text without any (/f:1)" },
		{ T("[Route]\nManage=j\xc3\xa4\n"),
		  "Manage=j\xc3\xa4 is not valid: use yes or no (/f:2)" },
		{ T("[Route\nManage=yes\n"), "[Route is not valid: use a section as [SECTION] or "
					     "[SECTION NAME], alone in its line (/f:1)" },
		{ T("[Route] # x\n"), "[Route] # x is not valid: use a section as [SECTION] or "
				      "[SECTION NAME], alone in its line (/f:1)" },
		{ T("[]\n"), "[] is not valid: use the name of a section, at most 49 bytes without "
			     "brackets, colons and semicolons (/f:1)" },
		{ T("[Device a23456789012345678901234567890123456789012]\n[Device "
		    "a234567890123456789012345678901234567890123]\n"),
		  "[Device a234567890123456789012345678901234567890123] is not valid: use the name "
		  "of a section, at most 49 bytes without brackets, colons and semicolons (/f:2)" },
		{ T("[Device a/b]\n"), "[Device a/b] is not valid: use a name of letters, digits, "
				       "\"_\", \"-\" and \".\" (/f:1)" },
		{ T("[Device a b]\n"), "[Device a b] is not valid: use a name of letters, digits, "
				       "\"_\", \"-\" and \".\" (/f:1)" },
		{ T("[Route]\nManage\n"),
		  "Manage: no = in this line: use KEY=VALUE, [SECTION], or a "
		  "comment that begins with # or ; (/f:2)" },
		{ T("[Device a]\nMatch driver:x\n"),
		  "Match driver:x: no = in this line: use KEY=VALUE, [SECTION], or a comment that "
		  "begins with # or ; (/f:2)" },
		{ T("[Device a]\nMatch=drvier:mlx5_core\n"),
		  "Match=drvier:mlx5_core is not valid: did you mean driver:? use blank-separated "
		  "globs such as pci:0000:41:00.0, id:15b3:101e, driver:mlx5_core, netdev:ens1* or "
		  "ibdev:mlx5_* (/f:2)" },
		{ T("[Service]\nNodeNIC=bond0\n"),
		  "NodeNIC=bond0 is not valid: use auto, none, or blank-separated globs as in "
		  "Match=, such as netdev:bond0 (/f:2)" },
		{ T("[Route]\n=yes\n"),
		  "=yes: no key in this line: use KEY=VALUE, [SECTION], or a comment "
		  "that begins with # or ; (/f:2)" },
		{ T("[Device]\nMatch=driver:x\n"),
		  "Match= in [Device], which has only defaults for others, is not valid: use a "
		  "section with a name, for example [Device nic] (/f:2)" },
		{ T(NIC "Match2=1\nMatch=mac:00\n"),
		  "Match=mac:00 is not valid: use blank-separated globs such as pci:0000:41:00.0, "
		  "id:15b3:101e, driver:mlx5_core, netdev:ens1* or ibdev:mlx5_* (/f:4)" },
		{ T("[Device a]\nMatch=mac:00\n"),
		  "Match=mac:00 is not valid: use blank-separated globs such as pci:0000:41:00.0, "
		  "id:15b3:101e, driver:mlx5_core, netdev:ens1* or ibdev:mlx5_* (/f:2)" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++)
		assert_refused(cases[i].text, cases[i].size, cases[i].problem);
}

static void keys_that_contradict_each_other_are_refused_where_the_later_is(void **state _unused_)
{
	static const struct {
		const char *text, *problem; /* NULL: accepted */
		uint32_t count;
	} cases[] = {
		{ NIC "VirtualFunctions=shared\nCount=2\n",
		  "Count=2 with VirtualFunctions=shared in [Device a] is not valid: use Count=1 or "
		  "none, or VirtualFunctions=shared-multi (/f:4)",
		  0 },
		{ "[Device]\nCount=max\n" NIC "VirtualFunctions=shared\n",
		  "Count=max with VirtualFunctions=shared in [Device a] is not valid: use Count=1 "
		  "or none, or VirtualFunctions=shared-multi (/f:5)",
		  0 },
		{ NIC "VirtualFunctions=shared\nCount=1\n", NULL, 1 },
		{ NIC "VirtualFunctions=shared\n", NULL, COUNT_UNSET },
		{ NIC "VirtualFunctions=shared-multi\n",
		  "VirtualFunctions=shared-multi without Count= in [Device a] is not valid: add "
		  "Count=, a number from 1 to 65535, or max (/f:3)",
		  0 },
		{ "[Device]\nCount=3\n" NIC "VirtualFunctions=shared-multi\n", NULL, 3 },
		{ NIC "Count=2\nVirtualFunctions=exclusive\n",
		  "Count=2 with VirtualFunctions=exclusive in [Device a] is not valid: use no "
		  "Count=, for exclusive means no VFs (/f:4)",
		  0 },
		{ "[Device]\nCount=2\nVirtualFunctions=exclusive\n" NIC,
		  "Count=2 with VirtualFunctions=exclusive in [Device a] is not valid: use no "
		  "Count=, for exclusive means no VFs (/f:3)",
		  0 },
		{ "[Device]\nCount=2\n" NIC "VirtualFunctions=exclusive\n", NULL, COUNT_UNSET },
		{ NIC "Count=2\n",
		  "Count=2 with VirtualFunctions=keep, the default, in [Device a] is not valid: "
		  "use no Count=, or VirtualFunctions=shared-multi (/f:3)",
		  0 },
		{ NIC "Count=max\nVirtualFunctions=keep\n",
		  "Count=max with VirtualFunctions=keep in [Device a] is not valid: use no Count=, "
		  "or VirtualFunctions=shared-multi (/f:4)",
		  0 },
		{ "[Device]\nVirtualFunctions=keep\nCount=2\n" NIC,
		  "Count=2 with VirtualFunctions=keep in [Device a] is not valid: use no Count=, "
		  "or VirtualFunctions=shared-multi (/f:3)",
		  0 },
		{ "[Device]\nCount=2\n" NIC, NULL, COUNT_UNSET },
		{ "[Device]\nCount=2\n" NIC "VirtualFunctions=keep\n", NULL, COUNT_UNSET },
		{ "[RDMA]\nNetnsMode=exclusive\n[DevicePlugin]\nType=rdma-shared\n",
		  "NetnsMode=exclusive with Type=rdma-shared is not valid: use NetnsMode=shared or "
		  "keep, for pods in other network namespaces cannot use the devices of this one "
		  "(/f:4)",
		  0 },
		{ "[DevicePlugin]\nType=rdma-shared\n[RDMA]\nNetnsMode=exclusive\n",
		  "NetnsMode=exclusive with Type=rdma-shared is not valid: use NetnsMode=shared or "
		  "keep, for pods in other network namespaces cannot use the devices of this one "
		  "(/f:4)",
		  0 },
		{ "[RDMA]\nNetnsMode=exclusive\n[DevicePlugin]\nType=hca\n",
		  "NetnsMode=exclusive with Type=hca is not valid: use NetnsMode=shared or keep, "
		  "for pods in other network namespaces cannot use the devices of this one (/f:4)",
		  0 },
		{ "[RDMA]\nNetnsMode=exclusive\n[DevicePlugin]\nType=sriov\n" NIC, NULL,
		  COUNT_UNSET },
		{ "[DevicePlugin]\nType=rdma-shared\nResource=rdma/a-b\n",
		  "Resource=rdma/a-b with Type=rdma-shared is not valid: use a name of letters, "
		  "digits and \"_\", for the plugin takes no \"-\" (/f:3)",
		  0 },
		{ "[DevicePlugin]\nResource=rdma/a-b\nType=rdma-shared\n",
		  "Resource=rdma/a-b with Type=rdma-shared is not valid: use a name of letters, "
		  "digits and \"_\", for the plugin takes no \"-\" (/f:3)",
		  0 },
		{ "[DevicePlugin]\nResource=rdma/a-b\nType=sriov\n" NIC, NULL, COUNT_UNSET },
		{ "[DevicePlugin]\nResource=rdma/a\nType=hca\n",
		  "Resource=rdma/a with Type=hca is not valid: use rdma/hca, for in its mode hca "
		  "the plugin has no other name (/f:3)",
		  0 },
		{ "[DevicePlugin]\nType=hca\n" NIC "Resource=rdma/gpu\n",
		  "Resource=rdma/gpu with Type=hca is not valid: use rdma/hca, for in its mode hca "
		  "the plugin has no other name (/f:5)",
		  0 },
		{ "[DevicePlugin]\nType=rdma-shared\n" NIC
		  "Resource=x/a\n[Device b]\nResource=y/a\n",
		  "Resource=x/a and Resource=y/a with Type=rdma-shared are not valid: use names "
		  "that differ behind the \"/\", for the plugin compares those alone (/f:7)",
		  0 },
		{ "[DevicePlugin]\nType=rdma-shared\n" NIC "[Device b]\nResource=y/hca\n",
		  "Resource=rdma/hca and Resource=y/hca with Type=rdma-shared are not valid: use "
		  "names that differ behind the \"/\", for the plugin compares those alone (/f:6)",
		  0 },
		/* Nobody is left for the general one; the sriov plugin looks at prefixes too. */
		{ "[DevicePlugin]\nType=rdma-shared\n" NIC "Resource=y/hca\n", NULL, COUNT_UNSET },
		{ "[DevicePlugin]\nType=sriov\n" NIC "Resource=x/a\n[Device b]\nResource=y/a\n",
		  NULL, COUNT_UNSET },
		{ "[DevicePlugin]\nType=rdma-shared\n" NIC
		  "Resource=x/a\n[Device b]\nResource=x/a\n",
		  NULL, COUNT_UNSET },
		{ "[DevicePlugin]\nManifest=/etc/manifests/a.yaml\n",
		  "Manifest=/etc/manifests/a.yaml without Image= is not valid: add Image=, the "
		  "image of the device plugin (/f:2)",
		  0 },
		{ "[DevicePlugin]\nManifest=/etc/manifests/a.yaml\nImage=a\n" NIC, NULL,
		  COUNT_UNSET },
		{ "[DevicePlugin]\nManifest=/etc/manifests/a.yaml\nImage=a\nType=dranet\n",
		  "Manifest=/etc/manifests/a.yaml with Type=dranet is not valid: use another "
		  "Type=, for a DRA driver needs the API server and is no static pod (/f:4)",
		  0 },
		{ "[DevicePlugin]\nType=hca\nConfigFile=/run/a/b.json\n",
		  "ConfigFile=/run/a/b.json with Type=hca is not valid: use a file named "
		  "config.json, for in its mode hca the plugin reads no other one (/f:3)",
		  0 },
		{ "[DevicePlugin]\nConfigFile=/run/a/xconfig.json\nType=hca\n",
		  "ConfigFile=/run/a/xconfig.json with Type=hca is not valid: use a file named "
		  "config.json, for in its mode hca the plugin reads no other one (/f:3)",
		  0 },
		{ "[DevicePlugin]\nType=hca\nConfigFile=/run/a/config.json\n" NIC, NULL,
		  COUNT_UNSET },
		{ "[DevicePlugin]\nType=hca\n" NIC, NULL, COUNT_UNSET },
		{ "[DevicePlugin]\nType=sriov\nConfigFile=/run/a/b.json\n" NIC, NULL, COUNT_UNSET },
		/* What follows from a malformed value is not told as well. */
		{ NIC "VirtualFunctions=shared-multi\nCount=none\n",
		  "Count=none is not valid: use a number from 1 to 65535, or max (/f:4)", 0 },
		{ NIC "StaticAddress=10.0.1.5/24\nGateway=10.0.2.253\n",
		  "Gateway=10.0.2.253 with StaticAddress=10.0.1.5/24 is not valid: use another "
		  "address inside its prefix (/f:4)",
		  0 },
		{ NIC "Gateway=10.0.1.5\nStaticAddress=10.0.1.5/24\n",
		  "Gateway=10.0.1.5 with StaticAddress=10.0.1.5/24 is not valid: use another "
		  "address inside its prefix (/f:4)",
		  0 },
		{ NIC "StaticAddress=10.0.1.5/24\nGateway=fe80::1\n",
		  "Gateway=fe80::1 with StaticAddress=10.0.1.5/24 is not valid: use another "
		  "address inside its prefix (/f:4)",
		  0 },
		{ NIC "Gateway=10.0.1.253\n",
		  "Gateway= without StaticAddress= in [Device a] is not valid: add StaticAddress= "
		  "(/f:3)",
		  0 },
		{ NIC "[Device]\nStaticAddress=10.0.1.5/24\n",
		  "StaticAddress= in [Device] is not valid: use the section of the one NIC that "
		  "has it (/f:4)",
		  0 },
		{ "[Device]\nStaticAddress=10.0.1.5/24\n",
		  "StaticAddress= in [Device] is not valid: use the section of the one NIC that "
		  "has it (/f:2)",
		  0 },
		{ "[Device a]\nMatch=driver:erdma\n[Route]\nIPv6=ra\n",
		  "IPv6=ra with the eRDMA NICs of [Device a] is not valid: use IPv6=no, for the "
		  "network of eRDMA has no IPv6 (/f:4)",
		  0 },
		{ "[Route]\nIPv6=ra\n[Device a]\nMatch=id:1ded:107f\n",
		  "IPv6=ra with the eRDMA NICs of [Device a] is not valid: use IPv6=no, for the "
		  "network of eRDMA has no IPv6 (/f:4)",
		  0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(config_done) struct config c = {};
		const size_t size = strlen(cases[i].text);

		if (cases[i].problem) {
			assert_refused(cases[i].text, size, cases[i].problem);
			continue;
		}
		assert_valid(cases[i].text, size, &c);
		assert_int_equal(c.devices[0].count, cases[i].count);
	}
}

static void unknown_names_are_skipped_and_the_nearest_is_suggested(void **state _unused_)
{
	static const struct {
		const char *text, *problem;
	} cases[] = {
		{ "[Routes]\nMetric=7\n",
		  "[Routes]: unknown section, did you mean [Route]? (/f:1)" },
		{ "[Device.]\n", "[Device.]: unknown section, did you mean [Device]? (/f:1)" },
		{ "[Device.rdma]\n",
		  "[Device.rdma]: unknown section, did you mean [Device rdma]? (/f:1)" },
		{ "[device rdma]\n",
		  "[device rdma]: unknown section, did you mean [Device rdma]? (/f:1)" },
		{ "[Devices rdma]\n",
		  "[Devices rdma]: unknown section, did you mean [Device rdma]? (/f:1)" },
		{ "[Service rdma]\n",
		  "[Service rdma]: unknown section, did you mean [Service]? (/f:1)" },
		{ "[Device nic]\n[NIC]\n",
		  "[NIC]: unknown section, did you mean [Device nic]? (/f:2)" },
		{ "[Driver]\npreferDriver=ofed\n", "preferDriver= in [Driver]: unknown key, did "
						   "you mean Mode= in [Driver]? (/f:2)" },
		{ "[Device a]\nMode=shared\n",
		  "Mode= in [Device a]: unknown key, did you mean VirtualFunctions=? (/f:2)" },
		{ "[Device a]\nsriov_numvfs=4\n",
		  "sriov_numvfs= in [Device a]: unknown key, did you mean Count=? (/f:2)" },
		{ "[RDMA]\nMode=ofed\n",
		  "Mode= in [RDMA]: unknown key, it belongs in [Driver] (/f:2)" },
		{ "[Kubelet]\ntopologyManagerPolicy=best-effort\n",
		  "topologyManagerPolicy= in [Kubelet]: unknown key, did you mean "
		  "TopologyManagerPolicy=? (/f:2)" },
		{ "[Driver]\ntopologyManagerPolicy=best-effort\n",
		  "topologyManagerPolicy= in [Driver]: unknown key, it belongs in [Kubelet] as "
		  "TopologyManagerPolicy= (/f:2)" },
		{ "[route]\n", "[route]: unknown section, did you mean [Route]? (/f:1)" },
		{ "[Weather]\nRain=1\nRain=2\n",
		  "[Weather]: unknown section: use [Driver], [RDMA], [Device], [Device NAME], "
		  "[Route], [SMC], [Kubelet], [DevicePlugin], [Output], [Health], [QoS], [Service] "
		  "(/f:1)" },
		{ "[Foo]\n",
		  "[Foo]: unknown section: use [Driver], [RDMA], [Device], [Device NAME], "
		  "[Route], [SMC], [Kubelet], [DevicePlugin], [Output], [Health], [QoS], [Service] "
		  "(/f:1)" },
		{ "[Qso]\n", "[Qso]: unknown section, did you mean [QoS]? (/f:1)" },
		{ "[SM]\n", "[SM]: unknown section, did you mean [SMC]? (/f:1)" },
		{ "[Route nic]\n", "[Route nic]: unknown section, did you mean [Route]? (/f:1)" },
		{ NIC "Cuont=4\n",
		  "Cuont= in [Device a]: unknown key, did you mean Count=? (/f:3)" },
		{ NIC "count=4\n",
		  "count= in [Device a]: unknown key, did you mean Count=? (/f:3)" },
		{ "[Device]\nMetric=4\n",
		  "Metric= in [Device]: unknown key, it belongs in [Route] (/f:2)" },
		{ "[Route]\nColour=red\n", "Colour= in [Route]: unknown key: use Manage=, Metric=, "
					   "PolicyRules=, Address=, IPv6= (/f:2)" },
		{ "[Route]\n\xc2\x9b=1\n", "\\xc2\\x9b= in [Route]: unknown key: use Manage=, "
					   "Metric=, PolicyRules=, Address=, IPv6= (/f:2)" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(config_errors_done) struct config_errors errors = {};
		_cleanup_(config_done) struct config c = {};

		assert_int_equal(parse_bytes(cases[i].text, strlen(cases[i].text), &c, &errors), 0);
		assert_int_equal(errors.n_items, 1);
		assert_true(errors.items[0].is_unknown);
		assert_string_equal(errors.items[0].text, cases[i].problem);
		assert_true(c.has_unknown);
		assert_string_equal(c.problem, cases[i].problem);
		assert_int_equal(c.route.metric, 200);
	}
}

static void any_number_of_unknown_keys_is_not_malformed(void **state _unused_)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config c = {}, known = {};
	char text[8192] = "[Route]\nMetric=7\n";
	size_t n = strlen(text);

	assert_valid(text, n, &known);

	for (unsigned i = 0; i < 300; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "Future%u=1\n", i);
	assert_int_equal(parse_bytes(text, n, &c, &errors), 0);
	assert_int_equal(errors.n_unknown, 300);
	assert_int_equal(errors.n_items, PROBLEMS_MAX);
	assert_int_equal(c.route.metric, 7);
	assert_string_not_equal(c.hash, known.hash); /* it runs with another reason */
}

static void all_that_is_wrong_is_reported_at_once_but_not_without_end(void **state _unused_)
{
	_cleanup_(config_errors_done) struct config_errors few = {}, many = {};
	_cleanup_(freep) char *garbage = malloc(FILE_MAX_BYTES);
	static const char text[] = "[Route]\nMetric=x\nnot\nNew=1\nManage=2\n";
	struct config c;
	uint32_t seed = 1;

	assert_int_equal(parse_bytes(text, sizeof(text) - 1, &c, &few), -EINVAL);
	assert_int_equal(few.n_malformed, 3);
	assert_int_equal(few.n_unknown, 1);

	assert_non_null(garbage);
	for (size_t i = 0; i < FILE_MAX_BYTES; i++) {
		seed = seed * 1664525 + 1013904223;
		garbage[i] = (char)(seed >> 24);
	}
	assert_int_equal(parse_bytes(garbage, FILE_MAX_BYTES, &c, &many), -EINVAL);
	assert_int_equal(many.n_malformed, PROBLEMS_MAX);
	assert_int_equal(many.n_items, PROBLEMS_MAX);
}

static void lines_are_read_whole_and_longer_ones_refused(void **state _unused_)
{
	_cleanup_(config_done) struct config c = {};
	char text[LINE_MAX_BYTES + 64] = "[Device a]\nMatch=", *value = text + strlen(text);
	char comment[LINE_MAX_BYTES + 3];

	/* Of 4096 bytes: "Match=", 254 words of 15 bytes with their blanks, one of 26. */
	for (unsigned i = 0; i < 254; i++)
		sprintf(value + (size_t)i * 16, "driver:%08u ", i);
	strcat(text, "driver:untilthe--endofline");
	assert_int_equal(strlen(value) + strlen("Match="), LINE_MAX_BYTES);

	assert_valid(text, strlen(text), &c);
	assert_string_equal(c.devices[0].match, value);
	config_done(&c);
	strcat(text, "\r\n");
	assert_valid(text, strlen(text), &c);
	assert_string_equal(c.devices[0].match + strlen(c.devices[0].match) - 9, "endofline");

	strcpy(text + strlen(text) - 2, "s\n");
	assert_refused(text, strlen(text),
		       "a line of 4097 bytes: use at most 4096, and several lines for a key that "
		       "takes a list (/f:2)");

	memset(comment, '#', LINE_MAX_BYTES + 1);
	strcpy(comment + LINE_MAX_BYTES + 1, "\n");
	assert_refused(comment, strlen(comment),
		       "a line of 4097 bytes: use at most 4096, and several lines for a key that "
		       "takes a list (/f:1)");
}

static void a_list_grows_in_a_file_and_is_replaced_by_a_later_one(void **state _unused_)
{
	static const struct {
		const char *files[2], *match; /* of the first device; NULL: none */
	} cases[] = {
		{ { "[Device a]\nMatch=driver:x\nMatch=driver:y\n" }, "driver:x driver:y" },
		{ { "[Device a]\nMatch=driver:x\n[Route]\n[Device  a]\nMatch=driver:y driver:z\n" },
		  "driver:x driver:y driver:z" },
		{ { "[Device a]\nMatch=driver:x\nMatch=\nMatch=driver:y\n" }, "driver:y" },
		{ { "[Device a]\nMatch=driver:x\nMatch=\n" }, NULL },
		{ { "[Device a]\nMatch=driver:x\nMatch=driver:y\n",
		    "[Device a]\nMatch=driver:z\n" },
		  "driver:z" },
		{ { "[Device a]\nMatch=driver:x\n",
		    "[Device a]\nMatch=driver:y\nMatch=driver:z\n" },
		  "driver:y driver:z" },
		{ { "[Device a]\nMatch=driver:x\n", "[Device a]\nMatch=\n" }, NULL },
		/* of [Device] and of [Device a] are two lists */
		{ { "[Device]\nMatch=driver:x\n[Device a]\nMatch=driver:y\n" }, "driver:y" },
		{ { "[Device]\nMatch=driver:x\nMatch=driver:y\n[Device a]\n" },
		  "driver:x driver:y" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(config_errors_done) struct config_errors errors = {};
		_cleanup_(config_done) struct config c = {};
		struct config_file files[2] = {};
		size_t n = 0;

		for (; n < 2 && cases[i].files[n]; n++)
			files[n] = (struct config_file){ n ? (char *)"/2" : (char *)"/1",
							 (char *)(uintptr_t)cases[i].files[n],
							 strlen(cases[i].files[n]) };
		assert_int_equal(config_merge(&(struct config_files){ files, n }, &c, &errors), 0);
		assert_int_equal(errors.n_items, 0);
		if (cases[i].match)
			assert_string_equal(c.devices[0].match, cases[i].match);
		else
			assert_null(c.devices[0].match);
	}
}

static void what_editors_and_systemd_write_is_accepted(void **state _unused_)
{
	static const struct {
		const char *text;
		const char *match; /* of the first device */
	} cases[] = {
		{ "[Device a]\r\nMatch=driver:x\r\n", "driver:x" },
		{ "\xef\xbb\xbf[Device a]\nMatch=driver:x", "driver:x" },
		{ "  [Device \t a ]  \n  Match \t=  driver:x  \n", "driver:x" },
		{ "[Device a]\n# x\n ; x\n\n\nMatch=driver:x\n", "driver:x" },
		{ "# latin 1: \xe4\n[Device a]\nMatch=driver:x\n", "driver:x" },
		{ "[Device a]\nExpect=1\n  Match=driver:x\n", "driver:x" }, /* not continued */
		{ "[Device a]\nMatch: driver:x\n", "" },                    /* refused: no "=" */
		{ "[Device a]\nMatch=\n", NULL },
		{ "[Device a]\nMatch=netdev:a=b;c#d\n", "netdev:a=b;c#d" },
		{ "[Device a]\nMatch=netdev:a ;\n", "" }, /* refused: no comments behind values */
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(config_errors_done) struct config_errors errors = {};
		_cleanup_(config_done) struct config c = {};

		if (cases[i].match && !*cases[i].match) {
			assert_int_equal(
				parse_bytes(cases[i].text, strlen(cases[i].text), &c, &errors),
				-EINVAL);
			continue;
		}

		assert_valid(cases[i].text, strlen(cases[i].text), &c);
		assert_int_equal(c.n_devices, 1);
		assert_string_equal(c.devices[0].name, "a");
		if (cases[i].match)
			assert_string_equal(c.devices[0].match, cases[i].match);
		else
			assert_null(c.devices[0].match);
	}
}

static void sections_inherit_whatever_the_order_and_keep_their_own(void **state _unused_)
{
	static const char text[] =
		"[Device b]\nMTU=\nVirtualFunctions=shared-multi\nCount=2\n"
		"[Device]\nMatch=driver:x\nMTU=9000\nExpect=4\n"
		"[Device a]\nMTU=0\nMatch=driver:y\n[Device c]\n[Device b]\nExpect=1\n";
	_cleanup_(config_done) struct config c = {};
	static const struct device_config want[] = {
		{ .name = "b", .match = (char *)"driver:x", .mtu = 9000, .count = 2, .expect = 1 },
		{ .name = "a", .match = (char *)"driver:y", .count = COUNT_UNSET, .expect = 4 },
		{ .name = "c",
		  .match = (char *)"driver:x",
		  .mtu = 9000,
		  .count = COUNT_UNSET,
		  .expect = 4 },
	};

	assert_valid(text, sizeof(text) - 1, &c);
	assert_int_equal(c.n_devices, ELEMENTSOF(want));
	for (size_t i = 0; i < ELEMENTSOF(want); i++) {
		assert_string_equal(c.devices[i].name, want[i].name);
		assert_string_equal(c.devices[i].match, want[i].match);
		assert_int_equal(c.devices[i].mtu, want[i].mtu);
		assert_int_equal(c.devices[i].count, want[i].count);
		assert_int_equal(c.devices[i].expect, want[i].expect);
	}
}

static void sections_of_devices_have_a_limit(void **state _unused_)
{
	for (unsigned n = 256; n <= 257; n++) {
		_cleanup_(config_done) struct config c = {};
		char text[8192];
		size_t at = 0;

		for (unsigned i = 0; i < n; i++)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "[Device n%u]\n", i);
		if (n > 256) {
			assert_refused(text, at,
				       "[Device n256] is one too many: use at most 256 sections of "
				       "this kind (/f:257)");
			continue;
		}
		assert_valid(text, at, &c);
		assert_int_equal(c.n_devices, n);
	}
}

static void the_canonical_text_reads_as_the_same_configuration(void **state _unused_)
{
	static const char text[] =
		"[Service]\nSettleSec=250ms\n[Device]\nCount=8\nVirtualFunctions=shared-multi\n"
		"[Device b]\nMatch=id:15B3:*  driver:x\n[Route]\nMetric=200\nManage=1\n"
		"[Device a]\nVirtualFunctions=exclusive\nMatch=pci:0000:AF:00.0\n[Device z]\n"
		"[Kubelet]\nTopologyManagerPolicy=restricted\n";
	static const char want[] =
		"[Device b]\nMatch=id:15b3:* driver:x\nVirtualFunctions=shared-multi\nCount=8\n"
		"[Device a]\nMatch=pci:0000:af:00.0\nVirtualFunctions=exclusive\n"
		"[Device z]\nVirtualFunctions=shared-multi\nCount=8\n[Route]\nManage=yes\n"
		"[Kubelet]\nTopologyManagerPolicy=restricted\n[Service]\nSettleSec=0.25\n";
	_cleanup_(config_done) struct config c = {}, again = {};
	_cleanup_(freep) char *once = NULL, *twice = NULL;

	assert_valid(text, sizeof(text) - 1, &c);
	assert_int_equal(config_text(&c, &once), 0);
	assert_string_equal(once, want);

	assert_valid(once, strlen(once), &again);
	assert_int_equal(config_text(&again, &twice), 0);
	assert_string_equal(twice, want);
	assert_string_equal(again.hash, c.hash);
	assert_int_equal(strlen(c.hash), 16);
}

static void a_long_list_takes_several_lines_in_the_canonical_text(void **state _unused_)
{
	_cleanup_(config_done) struct config c = {}, again = {};
	_cleanup_(freep) char *once = NULL, *twice = NULL;
	char text[4096] = "[Device a]\n";

	for (unsigned i = 0; i < 40; i++)
		sprintf(text + strlen(text), "Match=netdev:%0*u\n", 1 + i % 60, i);
	assert_valid(text, strlen(text), &c);
	assert_int_equal(config_text(&c, &once), 0);
	assert_valid(once, strlen(once), &again);
	assert_string_equal(again.devices[0].match, c.devices[0].match);
	assert_int_equal(config_text(&again, &twice), 0);
	assert_string_equal(twice, once);
	for (const char *line = once; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= LINE_MAX_BYTES);
}

static void files_override_key_by_key_in_the_order_of_systemd(void **state)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config c = {};
	struct tree *p = *state;

	tree_file(p, "etc/rdma-provision/rdma-provision.conf", "[Route]\nMetric=1\n" NIC);
	tree_file(p, "usr/lib/rdma-provision/rdma-provision.conf", "malformed, and not read");
	tree_file(p, "usr/lib/rdma-provision/rdma-provision.conf.d/10-x.conf",
		  "[Route]\nMetric=10\nManage=yes\n[DevicePlugin]\nShares=10\n[Device b]\n");
	tree_file(p, "usr/local/lib/rdma-provision/rdma-provision.conf.d/20-x.conf",
		  "[Route]\nMetric=20\n[Device a]\nMTU=20\n[DevicePlugin]\nShares=\n");
	tree_file(p, "usr/local/lib/rdma-provision/rdma-provision.conf.d/05-x.conf",
		  "[Route]\nMetric=5\n[Device]\nMTU=5000\n");
	/* Hidden by rank, by a link, by an empty file, by their names. */
	tree_file(p, "usr/lib/rdma-provision/rdma-provision.conf.d/20-x.conf", "malformed");
	tree_file(p, "usr/lib/rdma-provision/rdma-provision.conf.d/30-x.conf", "malformed");
	tree_link(p, "etc/rdma-provision/rdma-provision.conf.d/30-x.conf", "/dev/null");
	tree_file(p, "usr/lib/rdma-provision/rdma-provision.conf.d/40-x.conf", "malformed");
	tree_file(p, "usr/local/lib/rdma-provision/rdma-provision.conf.d/40-x.conf", "");
	tree_file(p, "etc/rdma-provision/rdma-provision.conf.d/.50-x.conf", "malformed");
	tree_file(p, "etc/rdma-provision/rdma-provision.conf.d/50-x.conf~", "malformed");
	tree_file(p, "etc/rdma-provision/rdma-provision.conf.d/README", "malformed");

	assert_int_equal(config_load(&p->fs, NULL, &c, &errors), -EINVAL);
	assert_int_equal(errors.n_items, 1); /* MTU=20 */
	tree_file(p, "usr/local/lib/rdma-provision/rdma-provision.conf.d/20-x.conf",
		  "[Route]\nMetric=20\n[Device a]\nMTU=1500\n[DevicePlugin]\nShares=\n");
	config_errors_done(&errors);

	assert_int_equal(config_load(&p->fs, NULL, &c, &errors), 0);
	assert_int_equal(errors.n_items, 0);
	assert_int_equal(c.route.metric, 20);
	assert_true(c.route.manage);
	assert_int_equal(c.plugin.shares, 1000);
	assert_int_equal(c.n_devices, 2);
	assert_string_equal(c.devices[0].name, "a");
	assert_int_equal(c.devices[0].mtu, 1500);
	assert_string_equal(c.devices[1].name, "b");
	assert_int_equal(c.devices[1].mtu, 5000);
}

/* The folder there is the service's, and programs with more rights believe the configuration. */
static void a_file_below_run_is_not_read_and_is_named(void **state)
{
	static const struct {
		const char *path, *text, *named;
	} rows[] = {
		{ "run/rdma-provision/state.json", "{}", "" },
		{ "run/rdma-provision/rdma-provision.conf.d/README", "x", "" },
		{ "run/rdma-provision/rdma-provision.conf.d/99-x.conf",
		  "[Output]\nNCCL=/etc/nccl.conf\n",
		  "/run/rdma-provision/rdma-provision.conf.d/99-x.conf" },
		{ "run/rdma-provision/rdma-provision.conf.d/98-x.conf", "malformed",
		  "/run/rdma-provision/rdma-provision.conf.d/98-x.conf" },
		{ "run/rdma-provision/rdma-provision.conf", "malformed",
		  "/run/rdma-provision/rdma-provision.conf" },
	};
	struct tree *p = *state;

	tree_file(p, MAIN, "[Route]\nMetric=1\n");
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(config_done) struct config c = {};

		tree_file(p, rows[i].path, rows[i].text);
		assert_int_equal(load_config(&p->fs, NULL, &c), 0);
		assert_false(c.is_invalid);
		assert_int_equal(c.route.metric, 1);
		assert_string_equal(c.output.paths[OUTPUT_NCCL], "");
		assert_string_equal(c.ignored, rows[i].named);
		assert_false(load_is_changed(&p->fs, NULL, &c));
		*c.ignored = '\0';
		assert_int_equal(load_is_changed(&p->fs, NULL, &c), *rows[i].named != '\0');
	}
}

/* What the service kept may be of whoever took the service over. */
static void a_program_with_more_rights_reads_no_last_good_configuration(void **state)
{
	_cleanup_(config_done) struct config c = {}, other = {};
	struct tree *p = *state;

	tree_file(p, LAST_GOOD_PATH, "[Route]\nMetric=7\n");
	tree_file(p, MAIN, "[Route]\nMetric=x\n");
	assert_int_equal(load_config(&p->fs, NULL, &c), 0);
	assert_true(c.is_invalid);
	assert_int_equal(c.route.metric, 7);
	assert_int_equal(load_valid(&p->fs, NULL, &other), -EINVAL);
}

static void a_problem_names_the_file_it_is_in(void **state)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	struct tree *p = *state;
	struct config c;

	tree_file(p, MAIN, "[DevicePlugin]\nType=rdma-shared\n[Route]\nMetric=1\n");
	tree_file(p, "usr/lib/rdma-provision/rdma-provision.conf.d/a.conf",
		  "# x\n\n[RDMA]\nNetnsMode=exclusive\n[Route]\nMetric=2\n");

	assert_int_equal(config_load(&p->fs, NULL, &c, &errors), -EINVAL);
	assert_int_equal(errors.n_items, 1);
	assert_true(is_prefix(errors.items[0].text, "NetnsMode="));
	assert_string_equal(errors.items[0].text + errors.items[0].n_what,
			    " (/usr/lib/rdma-provision/rdma-provision.conf.d/a.conf:4)");
}

static void a_main_file_that_is_a_link_to_null_hides_the_others(void **state)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config c = {};
	struct tree *p = *state;

	tree_file(p, "usr/lib/rdma-provision/rdma-provision.conf", "[Route]\nMetric=1\n");
	tree_link(p, MAIN, "../../dev/null");
	assert_int_equal(config_load(&p->fs, NULL, &c, &errors), 0);
	assert_int_equal(c.route.metric, 200);
}

/* An absolute link, as of a preset, is one of that tree. */
static void a_dropin_that_is_a_link_is_of_the_same_root(void **state)
{
	static const char *const targets[] = {
		"/usr/lib/rdma-provision/presets/test.conf",
		"../../../usr/lib/rdma-provision/presets/test.conf",
		"/../../../../usr/lib/rdma-provision/presets/test.conf",
	};
	struct tree *p = *state;

	tree_file(p, "usr/lib/rdma-provision/presets/test.conf", "[Route]\nMetric=42\n");
	for (size_t i = 0; i < ELEMENTSOF(targets); i++) {
		_cleanup_(config_errors_done) struct config_errors errors = {};
		_cleanup_(config_done) struct config c = {};

		tree_link(p, MAIN ".d/10-preset.conf", targets[i]);
		assert_int_equal(config_load(&p->fs, NULL, &c, &errors), 0);
		assert_int_equal(c.route.metric, 42);
		assert_int_equal(fs_remove(&p->fs, MAIN ".d/10-preset.conf"), 0);
	}
}

static void drafts_take_the_place_of_dropins(void **state)
{
	static const struct {
		const char *data; /* of the draft */
		uint32_t metric;
	} cases[] = {
		{ "[Route]\nMetric=4\n", 4 }, /* before 60-x.conf, which says nothing of it */
		{ "", 1 },
		{ NULL, 3 }, /* then that of /usr/local/lib is not hidden any more */
	};
	struct tree *p = *state;

	tree_file(p, MAIN, "[Route]\nMetric=1\n");
	tree_file(p, MAIN ".d/50-x.conf", "[Route]\nMetric=2\n");
	tree_file(p, "usr/local/lib/rdma-provision/rdma-provision.conf.d/50-x.conf",
		  "[Route]\nMetric=3\n");
	tree_file(p, MAIN ".d/60-x.conf", "[Route]\nManage=yes\n");
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const struct config_draft draft = { "50-x.conf", cases[i].data,
						    cases[i].data ? strlen(cases[i].data) : 0 };
		_cleanup_(config_errors_done) struct config_errors errors = {};
		_cleanup_(config_files_done) struct config_files files = {};
		_cleanup_(config_done) struct config c = {};

		assert_int_equal(config_files_load(&p->fs, &draft, 1, &files, &errors), 0);
		assert_int_equal(config_merge(&files, &c, &errors), 0);
		assert_int_equal(c.route.metric, cases[i].metric);
		assert_true(c.route.manage);
	}
}

static void what_cannot_be_read_is_an_error_with_its_name(void **state)
{
	static const struct {
		const char *path, *problem;
	} cases[] = {
		{ MAIN, "/" MAIN ": a folder: use " },
		{ MAIN ".d/x.conf", "/" MAIN ".d/x.conf: a folder: use " },
		{ MAIN, "/" MAIN ": a link to /nowhere, which does not exist: use " },
		{ MAIN ".d/x.conf",
		  "/" MAIN ".d/x.conf: a link to /nowhere, which does not exist: use " },
		{ MAIN, "/" MAIN ": too large: use " },
		{ MAIN, "/" MAIN ": no regular file: use " },
		{ MAIN, "/" MAIN ": Too many levels of symbolic links: use " },
		{ MAIN ".d", "/" MAIN ".d: Not a directory: use a readable folder" },
	};
	_cleanup_(freep) char *large = calloc(1, FILE_MAX_BYTES + 1);
	struct tree *p = *state;

	assert_non_null(large);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(config_errors_done) struct config_errors errors = {};
		struct config c;
		char full[512];

		tree_path(p, cases[i].path, full, sizeof(full));
		switch (i) {
		case 0 ... 1:
			assert_int_equal(mkdir(full, 0755), 0);
			break;
		case 2 ... 3:
			tree_link(p, cases[i].path, "/nowhere");
			break;
		case 4:
			tree_bytes(p, cases[i].path, large, FILE_MAX_BYTES + 1);
			break;
		case 5:
			assert_int_equal(mkfifo(full, 0644), 0);
			break;
		case 6:
			tree_link(p, cases[i].path, "rdma-provision.conf");
			break;
		default:
			tree_file(p, cases[i].path, "");
		}

		assert_int_equal(config_load(&p->fs, NULL, &c, &errors), -EINVAL);
		assert_int_equal(errors.n_items, 1);
		if (!is_prefix(errors.items[0].text, cases[i].problem))
			fail_msg("%s", errors.items[0].text);
		tree_remove_at(p->fs.root, "etc");
	}
}

static void files_are_bounded_together(void **state)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_files_done) struct config_files files = {};
	_cleanup_(freep) char *lines = malloc(FILE_MAX_BYTES);
	struct tree *p = *state;
	char path[64];

	assert_non_null(lines);
	memset(lines, '\n', FILE_MAX_BYTES);
	for (unsigned i = 10; i < 30; i++) {
		snprintf(path, sizeof(path), MAIN ".d/%u.conf", i);
		tree_bytes(p, path, lines, FILE_MAX_BYTES);
	}
	assert_int_equal(config_files_load(&p->fs, NULL, 0, &files, &errors), 0);
	assert_int_equal(files.n_items, SUM_MAX_BYTES / FILE_MAX_BYTES);
	assert_int_equal(errors.n_items, 4);
	assert_non_null(after(errors.items[0].text,
			      "/" MAIN ".d/26.conf: too large together with those before it"));
}

static void a_file_without_permission_is_an_error(void **state)
{
	struct tree *p = *state;
	int status;
	pid_t pid;

	tree_file(p, MAIN, "");
	assert_int_equal(fchmodat(p->fs.root, MAIN, 0, 0), 0);
	assert_int_equal(chmod(p->root, 0755), 0);

	/* Root may read everything: ask as nobody, in a child that cannot come back. */
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		_cleanup_(config_errors_done) struct config_errors errors = {};
		const char *problem;
		struct config c;
		bool is_told;

		if (geteuid() == 0 && setuid(65534) < 0)
			_exit(2);
		if (config_load(&p->fs, NULL, &c, &errors) != -EINVAL)
			_exit(3);
		problem = config_errors_first(&errors);
		is_told = is_prefix(problem, "/" MAIN ": Permission denied: use ");
		config_errors_done(&errors);
		_exit(is_told ? 0 : 4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void one_file_alone_replaces_all_others(void **state)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config c = {};
	struct tree *p = *state;

	tree_file(p, MAIN, "malformed");
	tree_file(p, "tmp/my", "[Route]\nMetric=9\n");
	assert_int_equal(config_load(&p->fs, "/tmp/my", &c, &errors), 0);
	assert_int_equal(c.route.metric, 9);

	assert_int_equal(config_load(&p->fs, "/tmp/mine", &c, &errors), -EINVAL);
	assert_true(is_prefix(config_errors_first(&errors),
			      "/tmp/mine: No such file or directory: use "));
}

static void the_shipped_configuration_changes_nothing_and_shows_every_key(void **state _unused_)
{
	static const char path[] = "conf/rdma-provision.conf";
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config c = {}, none = {};
	_cleanup_(freep) char *text = NULL;
	struct fs here;
	size_t size;

	if (fs_open_root(".", &here) < 0 || !fs_exists(&here, path))
		skip_without("the source folder, where the shipped configuration is");
	assert_int_equal(config_load(&here, path, &c, &errors), 0);
	assert_int_equal(errors.n_items, 0);
	assert_int_equal(config_load_default(&none), 0);
	assert_string_equal(c.hash, none.hash);
	assert_int_equal(c.n_devices, 0);

	assert_int_equal(fs_read_all(&here, path, FILE_MAX_BYTES, false, &text, &size), 0);
	for (size_t i = 0; i < N_SETTINGS; i++) {
		char line[128];

		snprintf(line, sizeof(line), "\n#%s=%s\n", settings[i].name, settings[i].fallback);
		if (!strstr(text, line))
			fail_msg("%s is not shown", line);
	}
	fs_done(&here);
}

static void the_last_good_configuration_is_the_text_of_it(void **state)
{
	static const char *const texts[] = {
		"[Device]\nMTU=9000\n" NIC,
		"[Device]\nMTU=9000\nFuture=1\n" NIC, /* not taken for another configuration */
	};
	struct tree *p = *state;
	struct config good;

	assert_int_equal(config_load_last_good(&p->fs, &good), -ENOENT);
	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		_cleanup_(config_errors_done) struct config_errors errors = {};
		_cleanup_(config_done) struct config c = {};
		_cleanup_(freep) char *canonical = NULL;

		assert_int_equal(parse_bytes(texts[i], strlen(texts[i]), &c, &errors), 0);
		assert_int_equal(config_text(&c, &canonical), 0);
		tree_file(p, LAST_GOOD_PATH, canonical);
		assert_int_equal(config_load_last_good(&p->fs, &good), 0);
		assert_int_equal(good.devices[0].mtu, 9000);
		assert_string_equal(good.hash, c.hash);
		config_done(&good);
	}

	tree_file(p, LAST_GOOD_PATH, "malformed");
	assert_int_equal(config_load_last_good(&p->fs, &good), -EINVAL);
}

/* The lines "# /path" of systemd-analyze, which are its names of files, one below the other. */
static bool cat_config(const char *root, char *buf, size_t size)
{
	char option[128];
	size_t n = 0;
	int fds[2];
	pid_t pid;

	snprintf(option, sizeof(option), "--root=%s", root);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		execlp("systemd-analyze", "systemd-analyze", option, "cat-config", "--no-pager",
		       CONFIG_NAME, NULL);
		_exit(127);
	}

	close(fds[1]);
	for (ssize_t got = 1; got > 0 && n < size - 1; n += (size_t)MAX(got, 0))
		got = read(fds[0], buf + n, size - 1 - n);
	buf[n] = '\0';
	close(fds[0]);

	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status == 0;
}

/* But for those below /run. */
static void the_files_are_those_systemd_shows(void **state)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_files_done) struct config_files files = {};
	static const char *const folders[] = { "etc", "usr/local/lib", "usr/lib" };
	struct tree *p = *state;
	char shown[65536], *rest = NULL;
	size_t n = 0;

	/* Every drop-in in every set of folders but none: 7 of them. */
	for (unsigned set = 1; set < 8; set++)
		for (unsigned i = 0; i < ELEMENTSOF(folders); i++) {
			char path[256];

			if (!(set & 1U << i))
				continue;
			snprintf(path, sizeof(path), "%s/" CONFIG_NAME ".d/%u0-x.conf", folders[i],
				 8 - set);
			if (set % 5 == 0 && i == 0)
				tree_link(p, path, "/dev/null");
			else
				tree_file(p, path, set % 3 == 0 && i == 1 ? "" : "[Route]\n");
		}
	tree_file(p, "usr/local/lib/" CONFIG_NAME, "[Route]\n");
	tree_file(p, "usr/lib/" CONFIG_NAME, "[Route]\n");

	if (!cat_config(p->root, shown, sizeof(shown)))
		skip_without("a systemd-analyze that knows cat-config --root=");
	if (strstr(shown, CONFIG_NAME " not found"))
		skip_without("a systemd-analyze that looks for the main file in /usr "
			     "(systemd 248)");

	assert_int_equal(config_files_load(&p->fs, NULL, 0, &files, &errors), 0);
	assert_int_equal(errors.n_items, 0);
	for (char *line = strtok_r(shown, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!is_prefix(line, "# "))
			continue;
		assert_true(n < files.n_items);
		assert_string_equal(after(line + 2, p->root), files.items[n++].path);
	}
	assert_int_equal(n, files.n_items);
	assert_int_equal(n, 8);
}

#define test(f) cmocka_unit_test_setup_teardown(f, tree_set_up, tree_tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test(no_file_changes_nothing),
		cmocka_unit_test(every_setting_reads_its_own_default_and_text),
		cmocka_unit_test(every_value_is_accepted_in_its_range_only),
		cmocka_unit_test(time_spans_are_those_of_systemd),
		cmocka_unit_test(bad_input_is_refused_with_file_line_key_and_value),
		cmocka_unit_test(keys_that_contradict_each_other_are_refused_where_the_later_is),
		cmocka_unit_test(unknown_names_are_skipped_and_the_nearest_is_suggested),
		cmocka_unit_test(any_number_of_unknown_keys_is_not_malformed),
		cmocka_unit_test(all_that_is_wrong_is_reported_at_once_but_not_without_end),
		cmocka_unit_test(lines_are_read_whole_and_longer_ones_refused),
		cmocka_unit_test(a_list_grows_in_a_file_and_is_replaced_by_a_later_one),
		cmocka_unit_test(a_long_list_takes_several_lines_in_the_canonical_text),
		cmocka_unit_test(what_editors_and_systemd_write_is_accepted),
		cmocka_unit_test(sections_inherit_whatever_the_order_and_keep_their_own),
		cmocka_unit_test(sections_of_devices_have_a_limit),
		cmocka_unit_test(the_canonical_text_reads_as_the_same_configuration),
		test(files_override_key_by_key_in_the_order_of_systemd),
		test(a_file_below_run_is_not_read_and_is_named),
		test(a_program_with_more_rights_reads_no_last_good_configuration),
		test(a_problem_names_the_file_it_is_in),
		test(a_main_file_that_is_a_link_to_null_hides_the_others),
		test(a_dropin_that_is_a_link_is_of_the_same_root),
		test(drafts_take_the_place_of_dropins),
		test(what_cannot_be_read_is_an_error_with_its_name),
		test(files_are_bounded_together),
		test(a_file_without_permission_is_an_error),
		test(one_file_alone_replaces_all_others),
		cmocka_unit_test(the_shipped_configuration_changes_nothing_and_shows_every_key),
		test(the_last_good_configuration_is_the_text_of_it),
		test(the_files_are_those_systemd_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
