/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include "../model/plan.h"

#include <ctype.h>
#include <strings.h>

int parse_number(const char *value, uint64_t min, uint64_t max, uint64_t *ret)
{
	uint64_t n = 0;

	/* "010" is 8 to C and to systemd, and 10 to most people: neither is accepted. */
	if (!*value || (value[0] == '0' && value[1]))
		return -EINVAL;

	for (; *value; value++) {
		if (*value < '0' || *value > '9')
			return -EINVAL;
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*value - '0'), &n))
			return -EINVAL;
	}

	if (n < min || n > max)
		return -EINVAL;

	*ret = n;
	return 0;
}

int parse_boolean(const char *value, bool *ret)
{
	static const char *const words[][6] = {
		{ "no", "false", "off", "0", "n", "f" },
		{ "yes", "true", "on", "1", "y", "t" },
	};

	for (size_t is_true = 0; is_true < ELEMENTSOF(words); is_true++)
		for (size_t i = 0; i < ELEMENTSOF(words[0]); i++)
			if (strcasecmp(value, words[is_true][i]) == 0) {
				*ret = is_true;
				return 0;
			}

	return -EINVAL;
}

static uint64_t unit_usec(const char *unit, size_t n)
{
	static const struct {
		const char *name;
		uint64_t usec;
	} units[] = {
		{ "", USEC_PER_SEC },
		{ "us", 1 },
		{ "usec", 1 },
		{ "ms", USEC_PER_MSEC },
		{ "msec", USEC_PER_MSEC },
		{ "s", USEC_PER_SEC },
		{ "sec", USEC_PER_SEC },
		{ "second", USEC_PER_SEC },
		{ "seconds", USEC_PER_SEC },
		{ "m", 60 * USEC_PER_SEC },
		{ "min", 60 * USEC_PER_SEC },
		{ "minute", 60 * USEC_PER_SEC },
		{ "minutes", 60 * USEC_PER_SEC },
		{ "h", 3600 * USEC_PER_SEC },
		{ "hr", 3600 * USEC_PER_SEC },
		{ "hour", 3600 * USEC_PER_SEC },
		{ "hours", 3600 * USEC_PER_SEC },
		{ "d", 86400 * USEC_PER_SEC },
		{ "day", 86400 * USEC_PER_SEC },
		{ "days", 86400 * USEC_PER_SEC },
	};

	for (size_t i = 0; i < ELEMENTSOF(units); i++)
		if (strlen(units[i].name) == n && memcmp(units[i].name, unit, n) == 0)
			return units[i].usec;

	return 0;
}

static const char *digits_to(const char *s, uint64_t *ret)
{
	for (*ret = 0; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(*ret, 10, ret) ||
		    __builtin_add_overflow(*ret, (uint64_t)(*s - '0'), ret))
			return NULL;

	return s;
}

/* "1.5min" and the blanks behind it, added to @sum; where the next one begins, or NULL. */
static const char *add_span(const char *s, uint64_t *sum)
{
	uint64_t whole, unit, part, fraction = 0;
	const char *begin = s, *point = NULL, *name;

	s = digits_to(s, &whole);
	if (!s || s == begin)
		return NULL;
	if (*s == '.') {
		point = s + 1;
		s = point + strspn(point, "0123456789");
		if (s == point)
			return NULL;
	}

	name = s += strspn(s, " \t");
	s += strspn(s, "abcdefghijklmnopqrstuvwxyz");
	unit = unit_usec(name, (size_t)(s - name));
	if (unit == 0)
		return NULL;

	/* Each digit is worth a tenth of the one before; below a microsecond none is worth
	 * anything. */
	part = unit;
	for (; point && *point >= '0' && *point <= '9'; point++) {
		part /= 10;
		fraction += part * (uint64_t)(*point - '0');
	}

	if (__builtin_mul_overflow(whole, unit, &whole) ||
	    __builtin_add_overflow(*sum, whole, sum) || __builtin_add_overflow(*sum, fraction, sum))
		return NULL;

	return s + strspn(s, " \t");
}

int parse_span(const char *value, uint64_t *ret_usec)
{
	uint64_t sum = 0;

	do {
		value = add_span(value, &sum);
		if (!value)
			return -EINVAL;
	} while (*value);

	*ret_usec = sum;
	return 0;
}

/* Hexadecimal text as sysfs has it, or a glob of it. */
static bool is_hex_glob(const char *s, const char *others, const char *pattern)
{
	for (const char *c = s; *c; c++)
		if (!strchr("0123456789abcdef*?[]!^-", *c) && !strchr(others, *c))
			return false;

	if (strpbrk(s, "*?["))
		return true;

	/* No glob: then it is the whole name, or it can never match. 'x' is one digit. */
	for (; *s && *pattern; s++, pattern++)
		if (*pattern == 'x' ? !isxdigit((unsigned char)*s) : *s != *pattern)
			return false;

	return !*s && !*pattern;
}

static bool is_pci_glob(char *s)
{
	return is_hex_glob(s, ":.", "xxxx:xx:xx.x") || is_hex_glob(s, ":.", "xxxxx:xx:xx.x");
}

static bool is_id_glob(char *s)
{
	char *colon = strchr(s, ':');
	bool is_id;

	if (!colon || colon == s || !colon[1])
		return false;

	*colon = '\0';
	is_id = is_hex_glob(s, "", "xxxx") && is_hex_glob(colon + 1, "", "xxxx");
	*colon = ':';
	return is_id;
}

static bool is_name_glob(char *s)
{
	return strlen(s) < 64 && !strpbrk(s, "/\\:");
}

/* "[" without an end is an ordinary character to fnmatch(3): surely not what was meant. */
static bool has_balanced_brackets(const char *s)
{
	bool is_inside = false;

	for (; *s; s++) {
		if (*s == '[' && is_inside)
			return false;
		if (*s == ']' && !is_inside)
			return false;
		if (*s == '[' || *s == ']')
			is_inside = *s == '[';
	}

	return !is_inside;
}

static bool is_match_word(char *word)
{
	static const struct {
		const char *kind;
		bool is_hex;
		bool (*is_glob)(char *glob);
	} kinds[] = {
		{ "pci:", true, is_pci_glob },      { "id:", true, is_id_glob },
		{ "driver:", false, is_name_glob }, { "netdev:", false, is_name_glob },
		{ "ibdev:", false, is_name_glob },
	};

	for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
		char *glob;

		if (!is_prefix(word, kinds[i].kind))
			continue;

		glob = word + strlen(kinds[i].kind);
		for (char *c = glob; kinds[i].is_hex && *c; c++)
			*c = (char)tolower((unsigned char)*c);
		return *glob && has_balanced_brackets(glob) && kinds[i].is_glob(glob);
	}

	return false;
}

int parse_match(const char *value, char **ret)
{
	_cleanup_(freep) char *words = strdup(value), *match = calloc(1, strlen(value) + 1);
	char *at = match, *rest = NULL;

	if (!words || !match)
		return -ENOMEM;

	for (char *word = strtok_r(words, " \t", &rest); word;
	     word = strtok_r(NULL, " \t", &rest)) {
		if (!is_match_word(word))
			return -EINVAL;
		if (at != match)
			*at++ = ' ';
		at = stpcpy(at, word);
	}

	*ret = *match ? TAKE(match) : NULL;
	return 0;
}

struct setting_type {
	int (*parse)(const struct setting *s, const char *value, void *field);
	int (*format)(const struct setting *s, const void *field, char **ret);
	const char *(*word)(uint64_t value); /* of enumerations */
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
	int r;

	r = parse_number(value, s->min, s->max, &n);
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
	if (*value && !streq(value, "max"))
		return parse_u32(s, value, field);

	*(uint32_t *)field = *value ? COUNT_MAX : COUNT_UNSET;
	return 0;
}

static int format_count(const struct setting *s, const void *field, char **ret)
{
	uint32_t count = *(const uint32_t *)field;

	if (count == COUNT_UNSET || count == COUNT_MAX)
		return format_word(count == COUNT_MAX ? "max" : "", ret);
	return format_u32(s, field, ret);
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
	int r;

	r = parse_span(value, &usec);
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
	size_t n;

	n = (size_t)snprintf(fraction, sizeof(fraction), ".%06u", (unsigned)(usec % USEC_PER_SEC));
	while (n > 0 && (fraction[n - 1] == '0' || n == 1))
		fraction[--n] = '\0';

	return format_number(usec / USEC_PER_SEC, fraction, ret);
}

static int parse_globs(const struct setting *s _unused_, const char *value, void *field)
{
	char *match;
	int r;

	r = parse_match(value, &match);
	if (r < 0)
		return r;

	free(*(char **)field);
	*(char **)field = match;
	return 0;
}

static int format_globs(const struct setting *s _unused_, const void *field, char **ret)
{
	const char *match = *(char *const *)field;

	return format_word(match ? match : "", ret);
}

/* One label of a DNS name: RFC 1123. */
static bool is_dns_label(const char *s, size_t n)
{
	if (n == 0 || n > 63 || s[0] == '-' || s[n - 1] == '-')
		return false;

	for (size_t i = 0; i < n; i++)
		if (!(s[i] >= 'a' && s[i] <= 'z') && !(s[i] >= '0' && s[i] <= '9') && s[i] != '-')
			return false;

	return true;
}

/* The plugin takes letters, digits and "_" in names only; "kubernetes.io" is not for device
 * plugins. */
static int parse_resource(const struct setting *s _unused_, const char *value, void *field)
{
	const char *name = strchr(value, '/'), *label = value;
	size_t n;

	if (!name || strlen(value) >= sizeof(((struct config *)0)->plugin.resource))
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
	if (name[0] == '_' || name[n - 1] == '_')
		return -EINVAL;
	for (; *name; name++)
		if ((unsigned char)*name > 0x7f || (!isalnum((unsigned char)*name) && *name != '_'))
			return -EINVAL;

	strcpy(field, value); /* the length was looked at */
	return 0;
}

static int format_resource(const struct setting *s _unused_, const void *field, char **ret)
{
	return format_word(field, ret);
}

/* One of the words of the values min to max; nothing at all is the value 0, when that is outside.
 */
static int parse_enum(const struct setting *s, const char *value, void *field)
{
	if (!*value && s->min > 0) {
		*(unsigned *)field = 0;
		return 0;
	}

	for (uint64_t i = s->min; i <= s->max; i++)
		if (streq(value, s->type->word(i))) {
			*(unsigned *)field = (unsigned)i;
			return 0;
		}

	return -EINVAL;
}

static int format_enum(const struct setting *s, const void *field, char **ret)
{
	unsigned i = *(const unsigned *)field;

	return format_word(i < s->min ? "" : s->type->word(i), ret);
}

#define WORD(f, type)                                                                              \
	static const char *word_##f(uint64_t value)                                                \
	{                                                                                          \
		return f((type)value);                                                             \
	}                                                                                          \
	_Static_assert(sizeof(type) == sizeof(unsigned), "enumerations are stored as unsigned")

WORD(vf_mode_name, enum vf_mode);
WORD(netns_mode_name, enum netns_mode);
WORD(topology_policy_name, enum topology_policy);
WORD(gate_mode_name, enum gate_mode);
WORD(plugin_type_name, enum plugin_type);

static const struct setting_type type_u32 = { parse_u32, format_u32, NULL },
				 type_mtu = { parse_mtu, format_u32, NULL },
				 type_count = { parse_count, format_count, NULL },
				 type_bool = { parse_bool, format_bool, NULL },
				 type_usec = { parse_usec, format_usec, NULL },
				 type_globs = { parse_globs, format_globs, NULL },
				 type_resource = { parse_resource, format_resource, NULL },
				 type_vf_mode = { parse_enum, format_enum, word_vf_mode_name },
				 type_netns_mode = { parse_enum, format_enum,
						     word_netns_mode_name },
				 type_policy = { parse_enum, format_enum,
						 word_topology_policy_name },
				 type_gate = { parse_enum, format_enum, word_gate_mode_name },
				 type_plugin = { parse_enum, format_enum, word_plugin_type_name };

/* The comparison is there for the compiler to check the member's type. */
#define FIELD_OF(s, type, m) (offsetof(s, m) + 0 * sizeof((type *)0 == &((s *)0)->m))
#define FIELD(type, m)       FIELD_OF(struct config, type, m)
#define DEVICE(type, m)      FIELD_OF(struct device_config, type, m)
#define TEXT(m)              offsetof(struct config, m)

/* clang-format off */
const struct setting settings[N_SETTINGS] = {
	{ "RDMA", "NetnsMode", FIELD(enum netns_mode, rdma.netns_mode), &type_netns_mode,
	  0, _NETNS_MODE_N - 1, "keep", "keep, shared or exclusive",
	  "Whether all network namespaces share RDMA devices, or each sees its own only" },
	{ "Device", "Match", DEVICE(char *, match), &type_globs,
	  0, 0, "", "blank-separated globs such as pci:0000:41:00.0, id:15b3:101e, driver:mlx5_core, "
	  "netdev:ens1* or ibdev:mlx5_*",
	  "The NICs this section is about, by globs: one of each kind that is given must match" },
	{ "Device", "VirtualFunctions", DEVICE(enum vf_mode, mode), &type_vf_mode,
	  0, _VF_MODE_N - 1, "keep", "keep, exclusive, shared or shared-multi",
	  "No VFs (exclusive), one for each NIC (shared), Count= for each NIC (shared-multi)" },
	{ "Device", "Count", DEVICE(uint32_t, count), &type_count,
	  1, 65535, "", "a number from 1 to 65535, or \"max\"",
	  "VFs of each NIC with VirtualFunctions=shared-multi; max: as many as the NIC has" },
	{ "Device", "MTU", DEVICE(uint32_t, mtu), &type_mtu,
	  68, 65535, "0", "a number of bytes from 68 to 65535, or 0 to leave it alone",
	  "Bytes of the largest packet, raised on NICs and their VFs, never lowered under VFs" },
	{ "Device", "Expect", DEVICE(uint32_t, expect), &type_u32,
	  0, 65535, "0", "a number from 0 to 65535",
	  "NICs that must have appeared before the node is ready; 0: those that are there" },
	{ "Route", "Manage", FIELD(bool, route.manage), &type_bool,
	  0, 0, "no", "yes or no",
	  "Rank the prefix routes of managed NICs below those of other interfaces" },
	{ "Route", "Metric", FIELD(uint32_t, route.metric), &type_u32,
	  1, INT32_MAX, "200", "a number from 1 to 2147483647",
	  "The least metric of routes through managed NICs" },
	{ "Kubelet", "TopologyManagerPolicy", FIELD(enum topology_policy, kubelet.topology_policy), &type_policy,
	  TOPOLOGY_POLICY_BEST_EFFORT, _TOPOLOGY_POLICY_N - 1, "",
	  "best-effort, restricted, single-numa-node, or nothing to leave it alone",
	  "The topology manager policy that is made sure of in the kubelet's configuration" },
	{ "Kubelet", "Gate", FIELD(enum gate_mode, kubelet.gate), &type_gate,
	  0, _GATE_N - 1, "off", "off, degraded or strict",
	  "Hold the kubelet back until the node is ready or degraded (degraded), or ready (strict)" },
	{ "DevicePlugin", "Type", FIELD(enum plugin_type, plugin.type), &type_plugin,
	  0, _PLUGIN_N - 1, "none", "none or rdma-shared",
	  "The device plugin to write a configuration for: rdma-shared is k8s-rdma-shared-dev-plugin" },
	{ "DevicePlugin", "Resource", TEXT(plugin.resource), &type_resource,
	  0, 0, "rdma/hca", "PREFIX/NAME such as rdma/hca: a DNS name in lower case, then letters, digits and _",
	  "The name under which pods ask for devices" },
	{ "DevicePlugin", "Shares", FIELD(uint32_t, plugin.shares), &type_u32,
	  1, INT32_MAX, "1000", "a number from 1 to 2147483647",
	  "Pods that may have the resource at the same time" },
	{ "Service", "ReadyTimeoutSec", FIELD(uint64_t, service.ready_timeout_usec), &type_usec,
	  0, 86400, "300", "a time from 0 to 1d, for example 300 or 5min",
	  "After this time a node that is not ready is degraded, and boot goes on" },
	{ "Service", "SettleSec", FIELD(uint64_t, service.settle_usec), &type_usec,
	  0, 60, "0.5", "a time from 0 to 60s, for example 0.5 or 500ms",
	  "Devices come in bursts: how long it must be quiet before the node is looked at" },
};
/* clang-format on */

bool setting_is_device(const struct setting *s)
{
	return streq(s->section, "Device");
}

const struct setting *setting_find(const char *section, const char *name)
{
	for (size_t i = 0; i < N_SETTINGS; i++)
		if (streq(settings[i].section, section) && streq(settings[i].name, name))
			return &settings[i];

	return NULL;
}

int setting_parse(const struct setting *s, const char *value, void *base)
{
	return s->type->parse(s, value, (char *)base + s->offset);
}

int setting_check(const struct setting *s, const char *value)
{
	struct device_config device = {};
	struct config config = {};
	int r;

	r = setting_parse(s, value, setting_is_device(s) ? (void *)&device : (void *)&config);
	free(device.match);
	return r;
}

int setting_format(const struct setting *s, const void *base, char **ret)
{
	return s->type->format(s, (const char *)base + s->offset, ret);
}
