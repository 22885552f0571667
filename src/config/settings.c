/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include "../model/ip.h"
#include "../model/paths.h"
#include "parse.h"
#include "reader.h"

#include <ctype.h>
#include <fnmatch.h>

struct setting_type {
	int (*parse)(const struct setting *s, const char *value, void *field);
	int (*format)(const struct setting *s, const void *field, char **ret);
	/* Texts of [QoS]; format_qos NULL: the text is shown as it is kept. */
	bool (*parse_qos)(const char *text, char *ret);
	void (*format_qos)(const char *text, char *ret, size_t size);
};

static int format_word(const char *word, char **ret)
{
	*ret = strdup(word);
	return *ret ? 0 : -ENOMEM;
}

static int format_number(uint64_t n, const char *unit, char **ret)
{
	return asprintf(ret, "%llu%s", (unsigned long long)n, unit) < 0 ? -ENOMEM : 0;
}

static int parse_u32(const struct setting *s, const char *value, void *field)
{
	uint64_t n;
	int r = parse_number(value, s->min, s->max, &n);

	if (r >= 0)
		*(uint32_t *)field = (uint32_t)n;
	return r;
}

static int format_u32(const struct setting *s _unused_, const void *field, char **ret)
{
	return format_number(*(const uint32_t *)field, "", ret);
}

static int parse_mtu(const struct setting *s, const char *value, void *field)
{
	if (!streq(value, "0"))
		return parse_u32(s, value, field);

	*(uint32_t *)field = 0;
	return 0;
}

static int parse_count(const struct setting *s, const char *value, void *field)
{
	if (!streq(value, "max"))
		return parse_u32(s, value, field);

	*(uint32_t *)field = COUNT_MAX;
	return 0;
}

static int format_count(const struct setting *s, const void *field, char **ret)
{
	const uint32_t n = *(const uint32_t *)field;

	return n == 0 || n == COUNT_MAX ? format_word(n ? "max" : "", ret)
					: format_u32(s, field, ret);
}

static int parse_bool(const struct setting *s _unused_, const char *value, void *field)
{
	return parse_boolean(value, field);
}

static int format_bool(const struct setting *s _unused_, const void *field, char **ret)
{
	return format_word(*(const bool *)field ? "yes" : "no", ret);
}

static int parse_usec(const struct setting *s, const char *value, void *field)
{
	uint64_t usec;
	int r = parse_span(value, &usec);

	if (r < 0)
		return r;
	if (usec < s->min * USEC_PER_SEC || usec > s->max * USEC_PER_SEC)
		return -EINVAL;

	*(uint64_t *)field = usec;
	return 0;
}

/* In seconds, with as many digits behind the point as it takes. */
static int format_usec(const struct setting *s _unused_, const void *field, char **ret)
{
	uint64_t usec = *(const uint64_t *)field;
	char fraction[sizeof(".123456")];
	size_t n = (size_t)PRINT(fraction, ".%06u", (unsigned)(usec % USEC_PER_SEC));

	while (n > 0 && (fraction[n - 1] == '0' || n == 1))
		fraction[--n] = '\0';

	return format_number(usec / USEC_PER_SEC, fraction, ret);
}

/* "3/12h" */
static int parse_flap(const struct setting *s, const char *value, void *field)
{
	const char *slash = strchr(value, '/');
	struct flap flap = {};
	char count[16];
	uint64_t n;
	int r;

	if (!slash || (size_t)(slash - value) >= sizeof(count))
		return -EINVAL;
	PRINT(count, "%.*s", (int)(slash - value), value);
	r = parse_number(count, 1, LOSSES_MAX, &n);
	if (r >= 0)
		r = parse_usec(s, slash + 1, &flap.usec);
	if (r < 0)
		return r;
	flap.count = (uint32_t)n;
	*(struct flap *)field = flap;
	return 0;
}

static int format_flap(const struct setting *s, const void *field, char **ret)
{
	const struct flap *flap = field;
	_cleanup_(freep) char *span = NULL;
	char *text;
	int r;

	if (flap->count == 0)
		return format_word("", ret);
	r = format_usec(s, &flap->usec, &span);
	if (r < 0)
		return r;
	if (asprintf(&text, "%" PRIu32 "/%s", flap->count, span) < 0)
		return -ENOMEM;
	*ret = text;
	return 0;
}

static int parse_globs(const struct setting *s _unused_, const char *value, void *field)
{
	return parse_match(value, field);
}

static int format_globs(const struct setting *s _unused_, const void *field, char **ret)
{
	const char *match = *(char *const *)field;

	return format_word(match ? match : "", ret);
}

static int parse_node_nic(const struct setting *s _unused_, const char *value, void *field)
{
	_cleanup_(freep) char *match = NULL;
	int r;

	if (!streq(value, "auto") && !streq(value, "none")) {
		r = parse_match(value, &match);
		if (r < 0)
			return r;
	}
	return copy(field, NODE_NIC_LEN, match ? match : value) ? 0 : -EINVAL;
}

/* With a length where s->max is 1. */
static int parse_address(const struct setting *s, const char *value, void *field)
{
	return parse_ip(value, s->max > 0, field);
}

static int format_address(const struct setting *s, const void *field, char **ret)
{
	const struct ip *ip = field;
	char text[64];

	if (ip->family == 0)
		return format_word("", ret);
	ip_format(ip->family, ip->bytes, s->max > 0 ? ip->prefix_len : UINT32_MAX, text,
		  sizeof(text));
	return format_word(text, ret);
}

/* Is it a label of a DNS name? RFC 1123. */
static bool is_dns_label(const char *s, size_t n)
{
	if (n == 0 || n > 63 || s[0] == '-' || s[n - 1] == '-')
		return false;

	return !ANY(c, s, n, !(*c >= 'a' && *c <= 'z') && !(*c >= '0' && *c <= '9') && *c != '-');
}

/* No plugin takes more than letters, digits, "_" and "-" in names; check_resources() of
 * config-read.c knows which of them takes "-". */
static int parse_resource(const struct setting *s _unused_, const char *value, void *field)
{
	const char *name = strchr(value, '/'), *label = value;
	size_t n;

	/* IsExtendedResourceName() in pkg/apis/core/v1/helper: the kubelet refuses these two. */
	if (!name || strlen(value) >= RESOURCE_LEN || strstr(value, "kubernetes.io/") ||
	    is_prefix(value, "requests."))
		return -EINVAL;

	for (; label < name; label += n + 1) {
		n = strcspn(label, "./");
		if (!is_dns_label(label, n) || (label[n] == '.' && label + n + 1 == name))
			return -EINVAL;
	}

	name++;
	n = strlen(name);
	if (name == value + 1 || n == 0 || n > 63)
		return -EINVAL;
	/* Kubernetes wants a letter or a digit at both ends. */
	if (strchr("_-", name[0]) || strchr("_-", name[n - 1]))
		return -EINVAL;
	for (; *name; name++)
		if ((unsigned char)*name > 0x7f ||
		    (!isalnum((unsigned char)*name) && !strchr("_-", *name)))
			return -EINVAL;

	strcpy(field, value); /* the length was looked at */
	return 0;
}

static bool is_in_folder(const char *path, const char *folder)
{
	const size_t n = strlen(folder);

	return is_prefix(path + 1, folder) && path[1 + n] == '/' && !strchr(path + n + 2, '/');
}

/* Absolute, without "..", "//" and hidden names; at its end a file. */
static bool is_path(const char *value)
{
	if (value[0] != '/' || strlen(value) >= PATH_LEN || strstr(value, "//") ||
	    strstr(value, "/.") || value[strlen(value) - 1] == '/')
		return false;
	for (const char *p = value; *p; p++)
		if (*p <= ' ' || *p > '~')
			return false;
	return true;
}

/* Files of static pods are in folders of these names: staticPodPath as distributions set it. */
#define POD_PATTERN "*/*@(manifests|static-pods|kubelet.d)/+([!/])"

static int parse_path(const struct setting *s, const char *value, void *field)
{
	const char *below = s->max > 0 ? "/run/" : "/";

	if (!is_path(value) || !is_prefix(value, below))
		return -EINVAL;
	if (strpbrk(value, "\"'\\:")) /* it stands in YAML as well */
		return -EINVAL;
	if (s->max == 0 && fnmatch(POD_PATTERN, value, FNM_EXTMATCH) != 0)
		return -EINVAL;

	/* Plugins get the whole folder to see: it must be none that holds more. */
	if (s->max > 0 && (!strchr(value + strlen(below), '/') || is_in_folder(value, RUN_FOLDER)))
		return -EINVAL;

	strcpy(field, value); /* the length was looked at */
	return 0;
}

static int parse_file(const struct setting *s _unused_, const char *value, void *field)
{
	if (!is_path(value))
		return -EINVAL;

	strcpy(field, value); /* the length was looked at */
	return 0;
}

/* A reference to an image, as far as it can do harm: distribution/reference has the grammar. */
static int parse_image(const struct setting *s _unused_, const char *value, void *field)
{
	if (strlen(value) >= PATH_LEN || !isalnum((unsigned char)*value))
		return -EINVAL;
	for (const char *p = value; *p; p++)
		if ((unsigned char)*p > 0x7f ||
		    (!isalnum((unsigned char)*p) && !strchr("._-/:@", *p)))
			return -EINVAL;

	strcpy(field, value); /* the length was looked at */
	return 0;
}

static int format_text(const struct setting *s _unused_, const void *field, char **ret)
{
	return format_word(field, ret);
}

/*
 * The names that readers look for, in which no other program sees a file of its own: the folder of
 * NFD's source "local"; the end of NCCL's /etc/nccl.conf and ~/.nccl.conf; the end in
 * node_exporter's textfile collector; the folder of CDI, below /run, since an earlier boot had
 * other devices.
 */
static const char *const output_patterns[_OUTPUT_N] = {
	[OUTPUT_NFD] = "*/features.d/+([!/])",
	[OUTPUT_NCCL] = "*nccl.conf",
	[OUTPUT_METRICS] = "*.prom",
	[OUTPUT_CDI] = "/run/?(*/)cdi",
};

static int parse_output(const struct setting *s, const char *value, void *field)
{
	if (streq(value, "no")) {
		*(char *)field = '\0';
		return 0;
	}
	if (!is_path(value) || fnmatch(output_patterns[s->min], value, FNM_EXTMATCH) != 0)
		return -EINVAL;

	strcpy(field, value); /* the length was looked at */
	return 0;
}

static int format_output(const struct setting *s _unused_, const void *field, char **ret)
{
	return format_word(*(const char *)field ? field : "no", ret);
}

/* The field has the file in that folder. */
static int parse_cdi(const struct setting *s, const char *value, void *field)
{
	const int r = strlen(value) + strlen(CDI_FILE) < PATH_LEN ? parse_output(s, value, field)
								  : -EINVAL;

	if (r >= 0 && *(const char *)field)
		strcat(field, CDI_FILE);
	return r;
}

static int format_cdi(const struct setting *s, const void *field, char **ret)
{
	char folder[PATH_LEN];

	COPY(folder, field);
	if (*folder)
		*strrchr(folder, '/') = '\0';
	return format_output(s, folder, ret);
}

/* Settings of [QoS]: a text, or "keep" for none. */
static int parse_kept(const struct setting *s, const char *value, void *field)
{
	if (streq(value, "keep"))
		*(char *)field = '\0';
	return streq(value, "keep") || s->type->parse_qos(value, field) ? 0 : -EINVAL;
}

static int parse_tos(const struct setting *s, const char *value, void *field)
{
	uint64_t n = 0;
	int r = streq(value, "keep") ? 0 : parse_number(value, s->min, s->max, &n);

	if (r >= 0)
		snprintf(field, QOS_TOS_LEN, "%.*u", streq(value, "keep") ? 0 : 1, (unsigned)n);
	return r;
}

static int format_kept(const struct setting *s, const void *field, char **ret)
{
	char text[512];

	COPY(text, field);
	if (s->type->format_qos)
		s->type->format_qos(field, text, sizeof(text));
	return format_word(*(const char *)field ? text : "keep", ret);
}

/* Accepts the words of the values min to max. */
static int parse_enum(const struct setting *s, const char *value, void *field)
{
	for (uint64_t i = s->min; i <= s->max; i++)
		if (streq(value, s->word((unsigned)i))) {
			*(unsigned *)field = (unsigned)i;
			return 0;
		}

	return -EINVAL;
}

static int format_enum(const struct setting *s, const void *field, char **ret)
{
	unsigned i = *(const unsigned *)field;

	return format_word(i < s->min ? "" : s->word(i), ret);
}

static const struct setting_type type_enum = { parse_enum, format_enum };
_Static_assert(sizeof(enum vf_mode) == sizeof(unsigned), "enumerations are stored as unsigned");

static const struct setting_type type_u32 = { parse_u32, format_u32 };
static const struct setting_type type_mtu = { parse_mtu, format_u32 };
static const struct setting_type type_count = { parse_count, format_count };
static const struct setting_type type_ports = { parse_u32, format_count };
static const struct setting_type type_bool = { parse_bool, format_bool };
static const struct setting_type type_usec = { parse_usec, format_usec };
static const struct setting_type type_flap = { parse_flap, format_flap };
static const struct setting_type type_globs = { parse_globs, format_globs };
static const struct setting_type type_node_nic = { parse_node_nic, format_text };
static const struct setting_type type_resource = { parse_resource, format_text };
static const struct setting_type type_ip = { parse_address, format_address };
static const struct setting_type type_path = { parse_path, format_text };
static const struct setting_type type_file = { parse_file, format_text };
static const struct setting_type type_image = { parse_image, format_text };
static const struct setting_type type_output = { parse_output, format_output };
static const struct setting_type type_cdi = { parse_cdi, format_cdi };
static const struct setting_type type_pfc = { parse_kept, format_kept, qos_parse_pfc };
static const struct setting_type type_ets = { parse_kept, format_kept, qos_parse_ets,
					      qos_format_ets };
static const struct setting_type type_dscp = { parse_kept, format_kept, qos_parse_dscp,
					       qos_format_dscp };
static const struct setting_type type_tos = { parse_tos, format_kept };

/* The comparison is there for the compiler to check the member's type. */
#define FIELD_OF(s, type, m) (offsetof(s, m) + 0 * sizeof((type *)0 == &((s *)0)->m))
#define FIELD(type, m)       FIELD_OF(struct config, type, m)
#define DEVICE(type, m)      FIELD_OF(struct device_config, type, m)
#define TEXT(m)              offsetof(struct config, m)
#define DEVICE_TEXT(m)       offsetof(struct device_config, m)

/* clang-format off */
const struct setting settings[N_SETTINGS] = {
	{ "Driver", "Mode", FIELD(enum driver_mode, driver.mode), &type_enum,
	  0, _DRIVER_MODE_N - 1, "keep", "keep, auto, default, compat or ofed",
	  "The driver mode of eRDMA and the driver stack of other cards; keep changes no driver", driver_mode_name },
	{ "Driver", "NvidiaPeermem", FIELD(enum peermem_mode, driver.peermem), &type_enum,
	  0, _PEERMEM_N - 1, "auto", "auto, yes or no",
	  "Load nvidia_peermem once the GPU and RDMA drivers are loaded (best effort)", peermem_mode_name },
	{ "Driver", "ReservePortsBase", FIELD(uint32_t, driver.reserve_ports_base), &type_ports,
	  1024, 65520, "", "a port from 1024 to 65520, or nothing for the driver's own (30608)",
	  "The first of the 16 TCP ports that eRDMA reserves in compat and ofed mode" },
	{ "RDMA", "NetnsMode", FIELD(enum netns_mode, rdma.netns_mode), &type_enum,
	  0, _NETNS_MODE_N - 1, "keep", "keep, shared or exclusive",
	  "Whether all network namespaces share RDMA devices, or each sees its own only", netns_mode_name },
	{ "Device", "Match", DEVICE(char *, match), &type_globs,
	  0, 0, "", "blank-separated globs such as pci:0000:41:00.0, id:15b3:101e, driver:mlx5_core, "
	  "netdev:ens1* or ibdev:mlx5_*",
	  "The NICs of this section, by globs: one of each kind that is given must match" },
	{ "Device", "VirtualFunctions", DEVICE(enum vf_mode, mode), &type_enum,
	  0, _VF_MODE_N - 1, "keep", "keep, exclusive, shared or shared-multi",
	  "No VFs (exclusive), one on each NIC (shared), Count= on each NIC (shared-multi)", vf_mode_name },
	{ "Device", "Count", DEVICE(uint32_t, count), &type_count,
	  1, 65535, "", "a number from 1 to 65535, or max",
	  "VFs on each NIC with VirtualFunctions=shared-multi; max: as many as the NIC supports" },
	{ "Device", "MTU", DEVICE(uint32_t, mtu), &type_mtu,
	  68, 65535, "0", "a number of bytes from 68 to 65535, or 0 to keep it",
	  "The MTU of NICs and their VFs in bytes; it is never lowered while VFs exist" },
	{ "Device", "Trust", DEVICE(enum trust, trust), &type_enum,
	  0, _TRUST_N - 1, "keep", "keep, yes or no",
	  "Whether VFs may change their MAC and receive all packets", trust_name },
	{ "Device", "Identity", DEVICE(enum identity, identity), &type_enum,
	  0, _IDENTITY_N - 1, "derived", "derived or keep",
	  "Derive the MAC or GUID of a VF without one from its NIC, the same at each boot", identity_name },
	{ "Device", "Resource", DEVICE_TEXT(resource), &type_resource,
	  0, 0, "", "PREFIX/NAME such as rdma/gpu (PREFIX not of kubernetes.io, not requests.*), or "
	  "nothing for that of [DevicePlugin]",
	  "The resource name of these devices, if they are a separate pool" },
	{ "Device", "Expect", DEVICE(uint32_t, expect), &type_u32,
	  0, 65535, "1", "a number from 0 to 65535",
	  "The number of NICs that must be present before the node is ready; 0: none" },
	{ "Device", "RequireAddress", DEVICE(enum require_address, require_address), &type_enum,
	  0, _REQUIRE_ADDRESS_N - 1, "auto", "auto, yes or no",
	  "Whether a device is usable only with an address of the host; auto: with [Route] Manage=yes", require_address_name },
	{ "Device", "StaticAddress", DEVICE(struct ip, address), &type_ip,
	  0, 1, "", "the address of a host with its prefix length, such as 10.0.1.5/24",
	  "With [Route] Address=static: the address of the NIC, which must be the only one that matches" },
	{ "Device", "Gateway", DEVICE(struct ip, gateway), &type_ip,
	  0, 0, "", "an address such as 10.0.1.253, inside the prefix of StaticAddress=",
	  "With [Route] Address=static: the gateway in the NIC's own table; empty: none" },
	{ "Route", "Manage", FIELD(bool, route.manage), &type_bool,
	  0, 0, "no", "yes or no",
	  "Apply this section to managed NICs, and rank their prefix routes below those of other NICs" },
	{ "Route", "Metric", FIELD(uint32_t, route.metric), &type_u32,
	  1, INT32_MAX, "200", "a number from 1 to 2147483647",
	  "The lowest metric of routes through managed NICs" },
	{ "Route", "PolicyRules", FIELD(enum policy_rules, route.rules), &type_enum,
	  0, _POLICY_RULES_N - 1, "auto", "auto, yes or no",
	  "A routing table and rules for each managed NIC, so that traffic from its address leaves through it", policy_rules_name },
	{ "Route", "Address", FIELD(enum address_mode, route.address), &type_enum,
	  0, _ADDRESS_MODE_N - 1, "existing", "existing, metadata or static",
	  "Where the IPv4 address and gateway of managed NICs come from", address_mode_name },
	{ "Route", "IPv6", FIELD(enum ipv6_mode, route.ipv6), &type_enum,
	  0, _IPV6_MODE_N - 1, "no", "no or ra",
	  "Take a stable IPv6 address from router advertisements on managed NICs", ipv6_mode_name },
	{ "SMC", "Enable", FIELD(enum smc_mode, smc.enable), &type_enum,
	  0, _SMC_N - 1, "no", "no, auto or yes",
	  "Load smc and give managed RDMA devices and their netdevs a PNETID, in driver mode default", smc_mode_name },
	{ "SMC", "PNETID", FIELD(enum pnetid_mode, smc.pnetid), &type_enum,
	  0, _PNETID_N - 1, "auto", "auto",
	  "The PNETID of an RDMA device and its netdev: auto is the netdev's MAC", pnetid_mode_name },
	{ "Kubelet", "TopologyManagerPolicy", FIELD(enum topology_policy, kubelet.topology_policy), &type_enum,
	  TOPOLOGY_POLICY_BEST_EFFORT, _TOPOLOGY_POLICY_N - 1, "",
	  "best-effort, restricted, single-numa-node, or nothing to keep it",
	  "The topology manager policy to set in the kubelet's configuration", topology_policy_name },
	{ "Kubelet", "TopologyManagerScope", FIELD(enum topology_scope, kubelet.topology_scope), &type_enum,
	  TOPOLOGY_SCOPE_CONTAINER, _TOPOLOGY_SCOPE_N - 1, "",
	  "container, pod, or nothing to keep it",
	  "The topology manager scope to set in the kubelet's configuration: align containers or whole pods", topology_scope_name },
	{ "Kubelet", "CPUManagerPolicy", FIELD(enum cpu_policy, kubelet.cpu_policy), &type_enum,
	  CPU_POLICY_STATIC, _CPU_POLICY_N - 1, "",
	  "static, or nothing to keep it",
	  "The CPU manager policy to set, only if the kubelet is certain to start with it", cpu_policy_name },
	{ "Kubelet", "Gate", FIELD(enum gate_mode, kubelet.gate), &type_enum,
	  0, _GATE_N - 1, "degraded", "off, degraded or strict",
	  "Hold the kubelet back until the node is ready or degraded (degraded), or ready (strict)", gate_mode_name },
	{ "Kubelet", "LabelFile", TEXT(kubelet.label_file), &type_file,
	  0, 0, "", "an absolute path of a file without names that begin with a dot, or nothing",
	  "A file with labels of the node, which win over --node-labels of the kubelet" },
	{ "DevicePlugin", "Type", FIELD(enum plugin_type, plugin.type), &type_enum,
	  0, _PLUGIN_N - 1, "none", "none, rdma-shared, sriov, hca, dranet or dra-sriov",
	  "The device plugin to write a configuration for: k8s-rdma-shared-dev-plugin (rdma-shared), "
	  "sriov-network-device-plugin (sriov), k8s-rdma-sriov-dev-plugin in its mode hca (hca); or the DRA driver, "
	  "which reads none: dranet, or dra-driver-sriov (dra-sriov)", plugin_type_name },
	{ "DevicePlugin", "ConfigFile", TEXT(plugin.config_file), &type_path,
	  0, 1, "/" PLUGIN_CONFIG_PATH, "an absolute path of a file in a folder of its own below /run, which is empty after a boot",
	  "The path of that configuration; plugins mount its folder" },
	{ "DevicePlugin", "Resource", TEXT(plugin.resource), &type_resource,
	  0, 0, "rdma/hca", "PREFIX/NAME such as rdma/hca: a DNS name in lower case (not of kubernetes.io, "
	  "not requests.*), then letters, digits, _ and -",
	  "The resource name that pods request" },
	{ "DevicePlugin", "Shares", FIELD(uint32_t, plugin.shares), &type_u32,
	  1, INT32_MAX, "1000", "a number from 1 to 2147483647",
	  "The number of pods that can have the resource at the same time" },
	{ "DevicePlugin", "Manifest", TEXT(plugin.manifest), &type_path,
	  0, 0, "", "an absolute path of a file in a folder manifests, pod-manifests, static-pods or "
	  "kubelet.d, or nothing",
	  "A file in the kubelet's folder of static pods: the plugin is started when the node is ready or "
	  "degraded, and restarted when its configuration changes" },
	{ "DevicePlugin", "Image", TEXT(plugin.image), &type_image,
	  0, 0, "", "an image such as ghcr.io/mellanox/k8s-rdma-shared-dev-plugin:v1.5.3",
	  "The image of that static pod" },
	{ "Output", "NFD", TEXT(output.paths[OUTPUT_NFD]), &type_output,
	  OUTPUT_NFD, 0, "no", "an absolute path of a file in a folder features.d, such as "
	  "/etc/kubernetes/node-feature-discovery/features.d/rdma-provision, or no",
	  "A feature file for node-feature-discovery: modes, counts, links and readiness as labels" },
	{ "Output", "NCCL", TEXT(output.paths[OUTPUT_NCCL]), &type_output,
	  OUTPUT_NCCL, 0, "no", "an absolute path that ends in nccl.conf, such as /etc/nccl.conf, or no",
	  "The settings of \"nccl-env --conf\" for jobs on the host" },
	{ "Output", "Metrics", TEXT(output.paths[OUTPUT_METRICS]), &type_output,
	  OUTPUT_METRICS, 0, "no", "an absolute path that ends in .prom, such as "
	  "/var/lib/node_exporter/textfile_collector/rdma-provision.prom, or no",
	  "Metrics for node_exporter's textfile collector" },
	{ "Output", "CDI", TEXT(output.paths[OUTPUT_CDI]), &type_cdi,
	  OUTPUT_CDI, 0, "no", "an absolute path of a folder cdi below /run, such as /run/cdi, or no",
	  "A folder for a CDI specification: container runtimes get each RDMA device by its name" },
	{ "Health", "Flap", FIELD(struct flap, health.flap), &type_flap,
	  1, 30 * 86400, "", "a number from 1 to 16 and a time up to 30d, such as 3/12h, or nothing",
	  "A NIC flaps when its link was lost so many times within this time" },
	{ "Health", "Drop", FIELD(uint64_t, health.drop_usec), &type_usec,
	  0, 30 * 86400, "0", "a time up to 30d, for example 4min, or 0",
	  "A NIC whose link is lost for longer than this is reported; 0: none is" },
	{ "Health", "Quiet", FIELD(uint64_t, health.quiet_usec), &type_usec,
	  1, 30 * 86400, "600", "a time from 1s to 30d, for example 10min",
	  "A NIC no longer flaps when its link was up for this time" },
	{ "Health", "Act", FIELD(enum health_act, health.act), &type_enum,
	  0, _HEALTH_ACT_N - 1, "none", "none or exclude",
	  "Whether a NIC that flaps is left out of the device plugin's configuration", health_act_name },
	{ "QoS", "TrustMode", FIELD(enum trust_mode, qos.trust), &type_enum,
	  0, _TRUST_MODE_N - 1, "keep", "keep, pcp or dscp",
	  "Whether managed NICs take the priority of packets from the VLAN tag (pcp) or from the IP header (dscp)", trust_mode_name },
	{ "QoS", "PFC", TEXT(qos.pfc), &type_pfc,
	  0, 0, "keep", "priorities from 0 to 7 such as 3 or 3,4, none, or keep",
	  "The priorities with flow control on managed NICs" },
	{ "QoS", "ETS", TEXT(qos.ets), &type_ets,
	  0, 0, "keep", "PRIORITY:SHARE in percent, 100 in all, or PRIORITY:strict, with priority 0, such as "
	  "\"0:50 3:50 6:strict\", or keep",
	  "The share of each priority in the bandwidth of managed NICs; the others share that of priority 0" },
	{ "QoS", "DSCP", TEXT(qos.dscp), &type_dscp,
	  0, 0, "keep", "DSCP:PRIORITY, each DSCP from 0 to 63 once, priorities from 0 to 7, such as \"24-31:3 48:6\", or keep",
	  "The priority of packets by their DSCP, with TrustMode=dscp" },
	{ "QoS", "RoceToS", TEXT(qos.tos), &type_tos,
	  0, 255, "keep", "a number from 0 to 255, four times the DSCP plus the bits for ECN, or keep",
	  "The type of service that rdma_cm gives connections over RoCE of managed devices" },
	{ "QoS", "RoceMode", FIELD(enum roce_mode, qos.mode), &type_enum,
	  0, _ROCE_MODE_N - 1, "keep", "keep, v1 or v2",
	  "The version of RoCE that rdma_cm uses on managed devices", roce_mode_name },
	{ "Service", "ReadyTimeoutSec", FIELD(uint64_t, service.ready_timeout_usec), &type_usec,
	  0, 86400, "300", "a time from 0 to 1d, for example 300 or 5min",
	  "After this time a node that is not ready is degraded, and the boot continues" },
	{ "Service", "SettleSec", FIELD(uint64_t, service.settle_usec), &type_usec,
	  0, 60, "0.5", "a time from 0 to 60s, for example 0.5 or 500ms",
	  "Time without device events before a pass starts, because devices appear in bursts" },
	{ "Service", "NodeNIC", TEXT(service.node_nic), &type_node_nic,
	  0, 0, "auto", "auto, none, or blank-separated globs as in Match=, such as netdev:bond0",
	  "The NICs that carry the node and are left to the host, or auto to find them" },
};
/* clang-format on */

bool setting_is_device(const struct setting *s)
{
	return streq(s->section, "Device");
}

bool setting_is_list(const struct setting *s)
{
	return s->type == &type_globs;
}

const struct setting *setting_find(const char *section, const char *name)
{
	return FIND(s, settings, N_SETTINGS, streq(s->section, section) && streq(s->name, name));
}

int setting_parse(const struct setting *s, const char *value, void *base)
{
	if (!*value && !*s->fallback)
		return 0;
	return s->type->parse(s, value, (char *)base + s->offset);
}

int setting_check(const struct setting *s, const char *value)
{
	struct device_config device = {};
	struct config config = {};
	int r = setting_parse(s, value, setting_is_device(s) ? (void *)&device : (void *)&config);

	free(device.match);
	return r;
}

int setting_format(const struct setting *s, const void *base, char **ret)
{
	return s->type->format(s, (const char *)base + s->offset, ret);
}

const char *setting_word(const struct setting *s, size_t i)
{
	if (s->type == &type_bool)
		return i < 2 ? (i == 0 ? "yes" : "no") : NULL;
	return s->word && s->min + i <= s->max ? s->word((unsigned)(s->min + i)) : NULL;
}

int setting_append(char **text, const char *more)
{
	const size_t n = *text && *more ? strlen(*text) : 0;
	char *grown = realloc(*text, n + strlen(more) + 2);

	if (!grown)
		return -ENOMEM;
	*text = grown;
	sprintf(grown + n, "%s%s", n > 0 ? " " : "", more);
	return 0;
}

/* The bytes of a list that fit into one line: whole words. */
static size_t fitting(const char *value, size_t room)
{
	size_t n = strlen(value);

	if (n <= room)
		return n;
	for (n = room; n > 0 && !strchr(" \t", value[n]); n--)
		;
	return n > 0 ? n : strcspn(value, " \t");
}

unsigned setting_put(FILE *f, const char *name, const char *value, bool is_list)
{
	unsigned n_lines = 0;

	do {
		size_t n =
			is_list ? fitting(value, LINE_MAX_BYTES - 1 - strlen(name)) : strlen(value);

		fprintf(f, "%s=%.*s\n", name, (int)n, value);
		n_lines++;
		value += n;
		value += strspn(value, " \t");
	} while (*value);
	return n_lines;
}
