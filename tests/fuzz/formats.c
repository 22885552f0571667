/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz: files of others, each read by the module that reads it, below a folder with the files that
 * lead there and nothing else. The first line of an input names the format. What is read has a
 * recorder, as for a capture.
 *
 * A look fails only for want of memory, and there is enough: whatever is in the file, it is read
 * in bounded time and memory.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "../../src/base/log.h"
#include "../../src/config/load.h"
#include "../../src/guard/places-observe.h"
#include "../../src/guard/process-observe.h"
#include "../../src/health/limits-observe.h"
#include "../../src/kubelet/find.h"
#include "../../src/module/modprobe-observe.h"
#include "../../src/plugin/plugin-observe.h"
#include "../../src/step/observers.h"
#include "compose.h"
#include "place.h"

/* --- what reads them --- */

static int see_kubelet(const struct fs *fs)
{
	struct kubelet_found k = {};

	return kubelet_find(fs, false, &k, NULL);
}

/* With names to look for, and a netdev to be named. */
static int see_places(const struct fs *fs)
{
	_cleanup_(node_done) struct node n = {
		.kubelet = { .host_name = "a",
			     .servers = { { .host = "b" }, { .host = "10.0.0.1" } },
			     .n_servers = 2 },
	};
	struct netdev *nd = APPEND(n.netdevs, n.n_netdevs);

	require(nd != NULL);
	*nd = (struct netdev){ .ifindex = 2, .name = "eth1", .perm_mac = "b8:ce:f6:17:00:00" };
	observe_places(fs, &n, &(struct memory){});
	require(node_result(&n) == 0);
	for (size_t i = 0; i < n.n_destinations; i++)
		require_plain(n.destinations[i].words);
	return 0;
}

static int see_signs(const struct fs *fs)
{
	struct netdev nd = { .ifindex = 2, .name = "eth1", .has_carrier = true };
	struct node n = { .netdevs = &nd, .n_netdevs = 1 };

	observe_signs(fs, &n);
	require(node_result(&n) == 0);
	require_plain(nd.sign);
	return 0;
}

static int see_net(const struct fs *fs)
{
	_cleanup_(node_done) struct node n = {};
	struct os d = { .fs = *fs };

	return observe_net(&d, &n);
}

static int see_options(const struct fs *fs)
{
	_cleanup_(node_done) struct node n = {};
	const int r = observe_options(fs, &n);

	return r == -E2BIG ? 0 : r;
}

static int see_limits(const struct fs *fs)
{
	_cleanup_(node_done) struct node n = {};

	observe_limits(fs, &n);
	return node_result(&n);
}

static int see_config(const struct fs *fs)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config c = {};
	const int r = config_load(fs, NULL, &c, &errors);

	return r == -EINVAL ? 0 : r;
}

static int see_plugin(const struct fs *fs)
{
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	struct config c = { .plugin.config_file = "/etc/plugin", .plugin.manifest = "/etc/plugin" };

	observe_plugin(fs, &c, &n, &memory);
	return node_result(&n);
}

static int see_cgroup(const struct fs *fs)
{
	char text[128];

	process_container(fs, 1, text, sizeof(text));
	require_plain(text);
	return 0;
}

/* --- formats --- */

#define EXEC_START "[Service]\nExecStart=/usr/bin/kubelet --config=/etc/k $A ${B}\n"
#define KUBELET    "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"

static const char *const unit_words[] = { "[Service]\n",
					  "[Unit]\n",
					  "ExecStart=",
					  "ExecStart=\n",
					  "/usr/bin/kubelet ",
					  "Environment=",
					  "Environment=\n",
					  "EnvironmentFile=-/etc/default/kubelet\n",
					  "EnvironmentFile=/etc/*\n",
					  "EnvironmentFile=\n",
					  "LimitMEMLOCK=",
					  "A=",
					  "B=\"",
					  "$A",
					  "${A}",
					  "$B ",
					  "${",
					  "--config=/etc/k",
					  "--v=2",
					  "--topology-manager-policy=best-effort",
					  "%n",
					  "%%",
					  "%E",
					  "\\x20",
					  "\\n",
					  "\\",
					  "@-",
					  "infinity\n",
					  NULL };
static const char *const variable_words[] = { "A=",
					      "B=",
					      "A='--v=2",
					      "A=\"--v=2",
					      "--topology-manager-policy=",
					      "restricted",
					      "--config=/etc/k",
					      " \\",
					      "\\\\",
					      "$",
					      "`",
					      "'\n",
					      "\"\n",
					      "# ",
					      NULL };
static const char *const args_words[] = { "--config=/etc/k",
					  "--topology-manager-policy=",
					  "--cpu-manager-policy ",
					  "none\n",
					  "static\n",
					  "${SNAP_DATA}",
					  "$SNAP",
					  " \\\n",
					  "\\\n",
					  "'--v=2 ",
					  "\"",
					  "# ",
					  NULL };
static const char *const modprobe_words[] = {
	"options ", "erdma",    " compat_mode=1", "blacklist ", "install ",
	"alias ",   "softdep ", "remove ",        "ib_core ",   "netns_mode=\"0\" ",
	"a=\"b c",  "=",        "\\\n",           "# ",         NULL
};
static const char *const load_words[] = { "erdma", "ib-uverbs", "\n", "# ", ";", " ", "\\", NULL };
static const char *const cmdline_words[] = { "quiet ",
					     "erdma.compat_mode=",
					     "module_blacklist=",
					     "modules_load=",
					     "rd.modules_load=",
					     "irdma,",
					     "ib_core.netns_mode=\"0\"",
					     "erdma.x=\"a b",
					     "\"",
					     " ",
					     "--",
					     "nvidia-peermem.",
					     NULL };
static const char *const rancher_words[] = { "kubelet-arg:",
					     "kubelet-arg+:",
					     "\n- ",
					     "\n  - ",
					     "\"topology-manager-policy=restricted\"",
					     "config=/x",
					     "v=2",
					     "data-dir: ",
					     "/var/lib/x\n",
					     "'",
					     "\"",
					     "[",
					     "]",
					     "{",
					     "}",
					     "&a ",
					     "*a",
					     "|\n ",
					     ">-\n  ",
					     "# ",
					     "---\n",
					     "? ",
					     NULL };
static const char *const yaml_words[] = { KUBELET,
					  "kind: ",
					  "KubeletConfiguration\n",
					  "apiVersion: ",
					  "topologyManagerPolicy: ",
					  "best-effort\n",
					  "cpuManagerPolicy: static\n",
					  "reservedSystemCPUs: ",
					  "0-1\n",
					  "staticPodURLHeader: ",
					  "kubeReserved:",
					  "\n  cpu: 500m\n",
					  "featureGates:",
					  "- a\n",
					  "[",
					  "]",
					  "{",
					  "}",
					  "\"",
					  "'",
					  "|\n ",
					  ">\n ",
					  "&a ",
					  "*a",
					  "!!x ",
					  "---\n",
					  "...\n",
					  "? ",
					  "#",
					  "\t",
					  NULL };
static const char *const ini_words[] = { "[Device nic]\n",
					 "[Device ",
					 "]\n",
					 "[Route]\n",
					 "[DevicePlugin]\n",
					 "[Kubelet]\n",
					 "Match=",
					 "vendor:1ded",
					 "driver:mlx5_core",
					 "pci:0000:3b:00.0",
					 "netdev:eth*",
					 "VirtualFunctions=",
					 "exclusive\n",
					 "Count=",
					 "max\n",
					 "Metric=",
					 "300\n",
					 "Type=sriov\n",
					 "TopologyManagerPolicy=",
					 "Address=existing\n",
					 "\\\n",
					 " ;",
					 "# ",
					 NULL };
static const char *const json_words[] = { "{",
					  "}",
					  "[",
					  "]",
					  "\"configList\"",
					  ":",
					  ",",
					  "\"resourceName\"",
					  "\"a\"",
					  "null",
					  "1e9",
					  "\\u0000",
					  "# managed by rdma-provision",
					  NULL };
static const char *const conf_words[] = { "[Manager]\n", "DefaultLimitMEMLOCK=", "64K\n",
					  "8M:16M\n",    "infinity\n",           "\\\n",
					  NULL };
static const char *const cgroup_words[] = {
	"0::/",
	"1:name=systemd:",
	"kubepods",
	"-burstable",
	"-pod",
	"1b2f3c4d_5e6f_7a8b_9c0d_1e2f3a4b5c6d",
	".slice",
	"/",
	"cri-containerd-",
	":cri-containerd:",
	"docker",
	".scope",
	".service",
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	":",
	NULL
};

static const char *const kubeconfig_words[] = { "clusters:", "\n- ",
						"cluster: ", "\n    server: ",
						"https://",  "10.0.0.1:6443",
						"[fd00::1]", "u:p@",
						"name: c",   "{",
						"}",         "[",
						"]",         "&a ",
						"*a",        "servers:",
						"address: ", "ServerAddresses:",
						"---\n",     "? ",
						"\"",        "'",
						"# ",        NULL };
static const char *const hosts_words[] = { "10.0.0.1", "fd00::1", "fe80::1%eth1", " a", "\tb ",
					   "A",        " c",      "\n",           "#",  "\r\n",
					   NULL };
static const char *const resolv_words[] = { "nameserver ", "10.0.0.53", "127.0.0.53", "fd00::53",
					    "fe80::1",     "%eth1",     "search x",   "\n",
					    " ",           "\t",        "# ",         NULL };
static const char *const containerd_words[] = { "root", " = ", "=",  "\"/a/b\"", "'/a'",
						"\"",   "[x]", "\n", "#",        NULL };
static const char *const mountinfo_words[] = { "1 1 0:9 / ",
					       "1 1 7:0 / ",
					       "/ ",
					       "/var/lib ",
					       "/var/x ",
					       "rw ",
					       "- ",
					       "nfs4 ",
					       "overlay ",
					       "ext4 ",
					       "ceph ",
					       "10.0.0.9:/a ",
					       "/dev/a ",
					       "//b/c ",
					       "rw,addr=",
					       "10.0.0.9",
					       "%eth1",
					       "mon_addr=",
					       "[fd00::1]:678",
					       ",",
					       "\\040",
					       "lowerdir=/:",
					       "/var/x",
					       ":",
					       "\n",
					       " ",
					       NULL };
static const char *const boot_words[] = { "ip=",
					  "eth1",
					  ":",
					  "10.0.0.2",
					  "[fd00::2]",
					  ":dhcp",
					  "bootdev=",
					  "BOOTIF=01",
					  "-b8-ce-f6-",
					  "17-00-00",
					  "nfsroot=",
					  "/srv",
					  "root=nfs:",
					  "netroot=",
					  "iscsi:",
					  "u:p@",
					  "b",
					  "nbd:",
					  "cifs://",
					  "nbdroot=",
					  "\"",
					  "root=iscsi:@",
					  "iscsi_target_ip= ",
					  " ",
					  NULL };

static const char *const pppoe_words[] = { "Id       Address              Device\n",
					   "0000002A 00:00:5e:00:53:01 eth1\n",
					   "2A ",
					   " ",
					   "eth1",
					   "\n",
					   NULL };

static const char *const packet_words[] = { "sk RefCnt Type Proto  Iface\n",
					    "0 3 2 0800 2 1 0 0 21\n",
					    "0 ",
					    "ffff ",
					    "2",
					    "4294967296",
					    "-1",
					    "\n",
					    " ",
					    NULL };
static const char *const link_state_words[] = {
	"[device]\n",      "ADMIN_STATE=", "managed=", "configuring", "pending",   "true",
	"initialized\r\n", "\n",           "# ",       "=",           "eth1=eth1", NULL
};

struct around {
	const char *path, *text;
};

static const struct format {
	const char *name, *path;
	int (*see)(const struct fs *fs);
	const char *const *words;
	struct around around[3];
} formats[] = {
	{ "unit",
	  "etc/systemd/system/kubelet.service",
	  see_kubelet,
	  unit_words,
	  { { "etc/default/kubelet", "A=--v=2\nB=x\n" }, { "etc/k", KUBELET } } },
	{ "unit-drop-in",
	  "etc/systemd/system/kubelet.service.d/20-x.conf",
	  see_kubelet,
	  unit_words,
	  { { "etc/systemd/system/kubelet.service", EXEC_START }, { "etc/k", KUBELET } } },
	{ "variables",
	  "etc/default/kubelet",
	  see_kubelet,
	  variable_words,
	  { { "etc/systemd/system/kubelet.service",
	      EXEC_START "EnvironmentFile=-/etc/default/kubelet\n" },
	    { "etc/k", KUBELET } } },
	{ "args",
	  "var/snap/microk8s/current/args/kubelet",
	  see_kubelet,
	  args_words,
	  { { "etc/systemd/system/snap.microk8s.daemon-kubelite.service",
	      "[Service]\nExecStart=/usr/bin/snap run microk8s.daemon-kubelite\n" },
	    { "etc/k", KUBELET } } },
	{ "rke2",
	  "etc/rancher/rke2/config.yaml",
	  see_kubelet,
	  rancher_words,
	  { { "etc/systemd/system/rke2-server.service",
	      "[Service]\nExecStart=/usr/local/bin/rke2 server\n" } } },
	{ "k3s",
	  "etc/rancher/k3s/config.yaml.d/50-x.yaml",
	  see_kubelet,
	  rancher_words,
	  { { "etc/systemd/system/k3s.service",
	      "[Service]\nExecStart=/usr/local/bin/k3s server '--kubelet-arg=v=2'\n" } } },
	{ "kubelet-file",
	  "etc/k",
	  see_kubelet,
	  yaml_words,
	  { { "etc/systemd/system/kubelet.service", EXEC_START } } },
	{ "system.conf", "etc/systemd/system.conf", see_limits, conf_words, {} },
	{ "modprobe.d", "etc/modprobe.d/x.conf", see_options, modprobe_words, {} },
	{ "modules-load.d", "etc/modules-load.d/x.conf", see_options, load_words, {} },
	{ "kubeconfig", "etc/kubernetes/kubelet.conf", see_kubelet, kubeconfig_words, {} },
	{ "hosts", "etc/hosts", see_places, hosts_words, { { "etc/hostname", "c\n" } } },
	{ "resolv.conf",
	  "etc/resolv.conf",
	  see_places,
	  resolv_words,
	  { { "run/systemd/resolve/resolv.conf", "nameserver 10.0.0.54\n" } } },
	{ "mountinfo",
	  "proc/self/mountinfo",
	  see_places,
	  mountinfo_words,
	  { { "sys/dev/block/7:0/loop/backing_file", "/var/x\n" },
	    { "etc/hosts", "10.0.0.8 b\n" } } },
	{ "containerd",
	  "etc/containerd/config.toml",
	  see_places,
	  containerd_words,
	  { { "proc/self/mountinfo", "1 1 0:9 / /a rw - nfs4 10.0.0.9:/a rw,addr=10.0.0.9\n" } } },
	{ "boot", "proc/cmdline", see_places, boot_words, {} },
	{ "packet", "proc/self/net/packet", see_signs, packet_words, {} },
	{ "pppoe",
	  "proc/self/net/pppoe",
	  see_net,
	  pppoe_words,
	  { { "sys/class/net/eth1/ifindex", "2\n" } } },
	{ "netif-link", "run/systemd/netif/links/2", see_signs, link_state_words, {} },
	{ "nm-device", "run/NetworkManager/devices/2", see_signs, link_state_words, {} },
	{ "ifstate",
	  "run/network/ifstate",
	  see_signs,
	  link_state_words,
	  { { "sys/fs/cgroup/system.slice/ifup@eth1.service/cgroup.procs", "" } } },
	{ "cmdline", "proc/cmdline", see_options, cmdline_words, {} },
	{ "configuration", "etc/rdma-provision/rdma-provision.conf", see_config, ini_words, {} },
	{ "plugin", "etc/plugin", see_plugin, json_words, {} },
	{ "cgroup", "proc/1/cgroup", see_cgroup, cgroup_words, {} },
};

static char *roots[ELEMENTSOF(formats)];

static void put(const char *root, const char *path, const void *data, size_t size)
{
	_cleanup_(freep) char *full = NULL;
	_cleanup_(closep) int fd = -EBADF;

	require(asprintf(&full, "%s/%s", root, path) > 0);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		require(mkdir(full, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
}

static const char *root_of(size_t i)
{
	const struct format *f = &formats[i];

	if (roots[i])
		return roots[i];
	require(asprintf(&roots[i], "%s/%s", place(), f->name) > 0 && mkdir(roots[i], 0755) == 0);
	for (size_t k = 0; k < ELEMENTSOF(f->around) && f->around[k].path; k++)
		put(roots[i], f->around[k].path, f->around[k].text, strlen(f->around[k].text));
	return roots[i];
}

/* The format of the first line, and where the file begins. */
static size_t format_of(const char *text, size_t size, size_t *ret_at)
{
	const size_t length = strcspn(text, "\n");
	size_t found = 0;

	for (size_t i = 0; i < ELEMENTSOF(formats); i++)
		if (strlen(formats[i].name) == length &&
		    strncmp(text, formats[i].name, length) == 0)
			found = i;
	*ret_at = MIN(length + 1, size);
	return found;
}

static void on_read(void *userdata, _unused_ enum record_kind kind, const char *path,
		    const char *data, size_t size)
{
	size_t *sum = userdata;

	*sum += strlen(path);
	for (size_t i = 0; i < size && data; i++)
		*sum += (unsigned char)data[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(freep) char *text = text_of(data, size);
	struct fs fs;
	size_t at, i = format_of(text, size, &at), sum = 0;

	log_set_level((enum log_level)0);
	put(root_of(i), formats[i].path, text + at, size - at);
	require(fs_open_root(root_of(i), &fs) == 0);
	fs.on_read = on_read;
	fs.userdata = &sum;
	require(formats[i].see(&fs) >= 0);
	fs_done(&fs);
	return 0;
}

#ifdef HAVE_LIBFUZZER

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* The first line stays, or becomes that of another format; the file is composed, or its bytes
 * change. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	_cleanup_(freep) char *text = text_of(data, size), *file = malloc(max_size);
	size_t at, i = format_of(text, size, &at), n = size - at, head;

	require(file != NULL);
	memcpy(file, text + at, n);
	if (seed % 2 == 0) { /* a short one from its first word on: each format comes soon */
		i = seed / 2 % ELEMENTSOF(formats);
		n = 0;
	}
	head = strlen(formats[i].name) + 1;
	if (head + n >= max_size)
		return LLVMFuzzerMutate(data, size, max_size);

	if (seed % 4 == 1)
		n = LLVMFuzzerMutate((uint8_t *)file, n, max_size - head);
	else
		n = compose_into((uint8_t *)file, n, max_size - head, seed, formats[i].words);
	memcpy(data, formats[i].name, head - 1);
	data[head - 1] = '\n';
	memcpy(data + head, file, n);
	return head + n;
}

#endif
