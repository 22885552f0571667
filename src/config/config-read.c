/* SPDX-License-Identifier: Apache-2.0 */
#include "config-read.h"

#include "../model/ip.h"
#include "reader.h"
#include "settings.h"

#include <assert.h>
#include <fnmatch.h>

#define DEVICES_MAX 256

/* The value that the files give a setting in a section. */
struct said {
	char *text;       /* owned; NULL: not said, or taken back by "Key=" */
	const char *file; /* of the last file that says something, owned by the files; NULL: none */
	unsigned line;
	unsigned order; /* counts up over all files */
};

/* All settings of a [Device NAME], or of [Device] and all other sections together. */
struct layer {
	char name[sizeof(
		((struct device_config *)0)->name)]; /* of [Device NAME]; empty: the first */
	struct said said[N_SETTINGS];
};

struct merge {
	struct layer *layers; /* owned; the first is no [Device NAME] */
	size_t n_layers;
	struct config_errors *errors;
	unsigned order;

	/* while reading a file */
	const char *file;
	const char *section; /* as in the table; NULL: an unknown one */
	size_t layer;
};

void config_files_done(struct config_files *f)
{
	for (size_t i = 0; i < f->n_items; i++) {
		free(f->items[i].path);
		free(f->items[i].data);
	}
	free(f->items);
	*f = (struct config_files){};
}

static void merge_done(struct merge *m)
{
	for (size_t i = 0; i < m->n_layers; i++)
		for (size_t k = 0; k < N_SETTINGS; k++)
			free(m->layers[i].said[k].text);
	free(m->layers);
}

#define malformed(m, line, ...) config_errors_add((m)->errors, false, (m)->file, line, __VA_ARGS__)
#define unknown(m, line, ...)   config_errors_add((m)->errors, true, (m)->file, line, __VA_ARGS__)

static const char *table_section(const char *name)
{
	for (size_t i = 0; i < N_SETTINGS; i++)
		if (streq(settings[i].section, name))
			return settings[i].section;

	return NULL;
}

/* Is it the first setting of its section? The keys of a section stand together. */
static bool is_first_of_section(size_t i)
{
	return i == 0 || !streq(settings[i].section, settings[i - 1].section);
}

/* The section that "[rdma]" means, where there is a [Device rdma]; NULL: it has another name. */
static const char *meant_device(const struct merge *m, const char *section)
{
	for (size_t i = 1; i < m->n_layers; i++)
		if (strcasecmp(m->layers[i].name, section) == 0)
			return m->layers[i].name;
	return NULL;
}

static int unknown_section(struct merge *m, const char *section, unsigned line)
{
	const size_t n_word = strcspn(section, " .");
	const char *device = meant_device(m, section);
	char accepted[256] = "", buf[QUOTED_LEN], name[QUOTED_LEN], word[QUOTED_LEN];
	struct nearest nearest = { .word = word };

	PRINT(word, "%.*s", (int)n_word, section);
	for (size_t i = 0; i < N_SETTINGS; i++) {
		if (!is_first_of_section(i))
			continue;
		nearest_offer(&nearest, settings[i].section);
		append_word(accepted, sizeof(accepted), ", ", "[%s]%s", settings[i].section,
			    setting_is_device(&settings[i]) ? ", [Device NAME]" : "");
	}
	if (!device && section[n_word] && section[n_word + 1] && nearest.best &&
	    streq(nearest.best, "Device"))
		device = section + n_word + 1;
	if (device)
		return unknown(m, line, "[%s]: unknown section, did you mean [Device %s]?",
			       config_quoted(section, buf), config_quoted(device, name));
	if (nearest.best)
		return unknown(m, line, "[%s]: unknown section, did you mean [%s]?",
			       config_quoted(section, buf), nearest.best);

	return unknown(m, line, "[%s]: unknown section: use %s", config_quoted(section, buf),
		       accepted);
}

/* Words of the systems' own pages, and what they are here. */
static const struct {
	const char *section; /* NULL: any */
	const char *word, *meant;
} vendor_words[] = {
	{ NULL, "preferDriver", "Mode= in [Driver]" }, /* of the ACK eRDMA Controller */
	{ NULL, "allocateAllDevices", "CPUManagerPolicy=static in [Kubelet], for false" },
	{ "Device", "Mode", "VirtualFunctions=" }, /* vke.node.rdma.mode */
	{ "Device", "rdmaMode", "VirtualFunctions=" },
	{ "DevicePlugin", "Mode", "Type=" }, /* {"mode": "hca"} of SCC's plugin */
	{ NULL, "rdmaHcaMax", "Shares= in [DevicePlugin]" },
	{ NULL, "resourceName", "Resource= in [DevicePlugin]" },
	{ NULL, "resourcePrefix", "Resource= in [DevicePlugin]" },
	{ "Device", "numVfs", "Count=" },
	{ "Device", "num_vfs", "Count=" },
	{ "Device", "sriov_numvfs", "Count=" },
};

const char *config_meant_by(const char *section, const char *word)
{
	FOREACH(w, vendor_words, ELEMENTSOF(vendor_words))
		if (strcasecmp(w->word, word) == 0 && (!w->section || streq(w->section, section)))
			return w->meant;
	return NULL;
}

static int unknown_key(struct merge *m, const char *name, unsigned line)
{
	const char *device = m->layers[m->layer].name, *meant = config_meant_by(m->section, name);
	struct nearest nearest = { .word = name };
	char accepted[256] = "", buf[QUOTED_LEN],
	     section[sizeof(m->layers->name) + sizeof("Device ")];

	PRINT(section, "%s%s%s", m->section, device[0] ? " " : "", device);
	if (meant)
		return unknown(m, line, "%s= in [%s]: unknown key, did you mean %s?",
			       config_quoted(name, buf), section, meant);
	for (size_t i = 0; i < N_SETTINGS; i++) {
		const bool is_here = streq(settings[i].section, m->section);

		if (!is_here && strcasecmp(settings[i].name, name) == 0)
			return unknown(m, line,
				       "%s= in [%s]: unknown key, it belongs in [%s]%s%s%s",
				       config_quoted(name, buf), section, settings[i].section,
				       streq(settings[i].name, name) ? "" : " as ",
				       streq(settings[i].name, name) ? "" : settings[i].name,
				       streq(settings[i].name, name) ? "" : "=");
		if (!is_here)
			continue;

		nearest_offer(&nearest, settings[i].name);
		append_word(accepted, sizeof(accepted), ", ", "%s=", settings[i].name);
	}

	if (nearest.best)
		return unknown(m, line, "%s= in [%s]: unknown key, did you mean %s=?",
			       config_quoted(name, buf), section, nearest.best);
	return unknown(m, line, "%s= in [%s]: unknown key: use %s", config_quoted(name, buf),
		       section, accepted);
}

/* Finds or adds [Device @name]. */
static int open_device(struct merge *m, const char *name, unsigned line)
{
	char buf[QUOTED_LEN];
	struct layer *layer;

	if (name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")])
		return malformed(m, line,
				 "[Device %s] is not valid: use a name of letters, digits, \"_\", "
				 "\"-\" and \".\"",
				 config_quoted(name, buf));

	m->section = table_section("Device");
	for (m->layer = 1; m->layer < m->n_layers; m->layer++)
		if (streq(m->layers[m->layer].name, name))
			return 0;

	if (m->n_layers > DEVICES_MAX) {
		m->section = NULL;
		return malformed(
			m, line,
			"[Device %s] is one too many: use at most %d sections of this kind", name,
			DEVICES_MAX);
	}

	layer = APPEND(m->layers, m->n_layers);
	if (!layer)
		return -ENOMEM;
	COPY(layer->name, name); /* the reader lets no longer ones pass */
	return 0;
}

static int open_section(struct merge *m, const char *section, unsigned line)
{
	const char *name = after(section, "Device ");

	m->section = NULL;
	m->layer = 0;
	if (name)
		return open_device(m, name, line);

	m->section = table_section(section);
	return m->section ? 0 : unknown_section(m, section, line);
}

/* Puts a hint on quotes, or the kind that "drvier:mlx5_core" means; empty: there is none. */
static void put_hint(const struct setting *s, const char *value, char *ret, size_t size)
{
	static const char *const kinds[] = { "pci:", "id:", "driver:", "netdev:", "ibdev:" };
	char kind[16];
	struct nearest nearest = { .word = kind };

	ret[0] = '\0';
	if (value[0] == '"' || value[0] == '\'') {
		snprintf(ret, size, "quotes have no meaning here: ");
		return;
	}
	if (!setting_is_list(s))
		return;
	PRINT(kind, "%.*s:", (int)strcspn(value, ": \t="), value);
	for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
		nearest_offer(&nearest, kinds[i]);
	if (nearest.distance > 0 && nearest.best)
		snprintf(ret, size, "did you mean %s? ", nearest.best);
}

static int set(struct merge *m, const struct setting *s, const char *value, unsigned line)
{
	struct said *said = &m->layers[m->layer].said[s - settings];
	const bool is_again = said->file == m->file;
	char buf[QUOTED_LEN], hint[64];
	int r;

	if (is_again && !setting_is_list(s))
		return malformed(
			m, line,
			"%s=%s: set in line %u already: use each key once in a section of a file",
			s->name, config_quoted(value, buf), said->line);

	put_hint(s, value, hint, sizeof(hint));
	r = *value ? setting_check(s, value) : 0;
	if (r == -EINVAL)
		return malformed(m, line, "%s=%s is not valid: %suse %s", s->name,
				 config_quoted(value, buf), hint, s->accepted);
	if (r < 0)
		return r;

	if (!is_again || !*value) {
		free(said->text);
		said->text = NULL;
	}
	*said = (struct said){ said->text, m->file, line, ++m->order };
	return *value ? setting_append(&said->text, value) : 0;
}

static int on_key(void *userdata, const char *section, const char *name, const char *value,
		  unsigned line)
{
	struct merge *m = userdata;
	const struct setting *s;

	if (!name)
		return open_section(m, section, line);
	if (!m->section)
		return 0;

	s = setting_find(m->section, name);
	return s ? set(m, s, value, line) : unknown_key(m, name, line);
}

/* The value for a section: its own, else that of [Device], else NULL. */
static const struct said *said_of(const struct merge *m, size_t layer, const struct setting *s)
{
	const struct said *own = &m->layers[layer].said[s - settings];
	const struct said *general = &m->layers[0].said[s - settings];

	if (own->text)
		return own;
	return general->text ? general : NULL;
}

static int fill(const struct merge *m, size_t layer, bool is_device, void *base)
{
	for (size_t i = 0; i < N_SETTINGS; i++) {
		const struct said *said;
		int r;

		if (setting_is_device(&settings[i]) != is_device)
			continue;

		said = said_of(m, layer, &settings[i]);
		r = setting_parse(&settings[i], said ? said->text : settings[i].fallback, base);
		if (r < 0)
			return r;
	}

	return 0;
}

static const struct said *later(const struct said *a, const struct said *b)
{
	return b && b->order > a->order ? b : a;
}

/* Is it a value of [Device], and not of the section itself? */
static bool is_general(const struct merge *m, const struct said *said)
{
	return said >= m->layers[0].said && said < m->layers[0].said + N_SETTINGS;
}

#define malformed_at(m, said, ...)                                                                 \
	config_errors_add((m)->errors, false, (said)->file, (said)->line, __VA_ARGS__)

/* Tells how to clear a Count= of an earlier file than the VirtualFunctions= it contradicts. */
static void put_way_out(const struct merge *m, const struct said *mode, const struct said *count,
			const char *name, char *ret, size_t size)
{
	const bool is_of_all = is_general(m, count);

	ret[0] = '\0';
	if (later(mode, count) == mode && !streq(mode->file, count->file))
		snprintf(
			ret, size,
			"; to clear Count= of %s:%u, add \"Device%s%s.Count=\" to \"rdma-provision "
			"set\"",
			count->file, count->line, is_of_all ? "" : " ", is_of_all ? "" : name);
}

/* VirtualFunctions= and Count= of one section: do they mean the same? */
static int check_count(const struct merge *m, size_t layer, struct device_config *d)
{
	const struct setting *c = setting_find("Device", "Count");
	const struct said *mode = said_of(m, layer, setting_find("Device", "VirtualFunctions"));
	const struct said *count = said_of(m, layer, c);
	char way_out[PATH_LEN + 160] = "";

	assert(mode || d->mode == VF_MODE_KEEP); /* not set: the default */
	if (mode && count)
		put_way_out(m, mode, count, d->name, way_out, sizeof(way_out));
	if (d->mode == VF_MODE_SHARED_MULTI && !count)
		return malformed_at(m, mode,
				    "VirtualFunctions=shared-multi without Count= in [Device %s] "
				    "is not valid: add Count=, %s",
				    d->name, c->accepted);

	if (d->mode == VF_MODE_SHARED && count && d->count != 1)
		return malformed_at(
			m, later(mode, count),
			"Count=%s with VirtualFunctions=shared in [Device %s] is not valid: use "
			"Count=1 or none, or VirtualFunctions=shared-multi%s",
			count->text, d->name, way_out);

	if (d->mode == VF_MODE_EXCLUSIVE && count) {
		if (!is_general(m, count) || is_general(m, mode))
			return malformed_at(
				m, later(mode, count),
				"Count=%s with VirtualFunctions=exclusive in [Device %s] is not "
				"valid: use no Count=, for exclusive means no VFs%s",
				count->text, d->name, way_out);
		d->count = COUNT_UNSET;
	}

	/* Count= of [Device] is for those sections that have a use for it. */
	if (d->mode == VF_MODE_KEEP && count) {
		if (!is_general(m, count) || (mode && is_general(m, mode)))
			return malformed_at(
				m, later(count, mode),
				"Count=%s with VirtualFunctions=keep%s in [Device %s] is not "
				"valid: use no Count=, or VirtualFunctions=shared-multi",
				count->text, mode ? "" : ", the default,", d->name);
		d->count = COUNT_UNSET;
	}

	return 0;
}

static int check_netns(const struct merge *m, const struct config *c)
{
	const struct said *mode = said_of(m, 0, setting_find("RDMA", "NetnsMode"));
	const struct said *type = said_of(m, 0, setting_find("DevicePlugin", "Type"));

	if (c->rdma.netns_mode != NETNS_MODE_EXCLUSIVE ||
	    (c->plugin.type != PLUGIN_RDMA_SHARED && c->plugin.type != PLUGIN_HCA))
		return 0;

	return malformed_at(
		m, later(mode, type),
		"NetnsMode=exclusive with Type=%s is not valid: use NetnsMode=shared or keep, for "
		"pods in other network namespaces cannot use the devices of this one",
		plugin_type_name(c->plugin.type));
}

static int check_manifest(const struct merge *m, const struct config *c)
{
	const struct said *at = said_of(m, 0, setting_find("DevicePlugin", "Manifest"));

	if (!*c->plugin.manifest || !at)
		return 0;
	if (!*c->plugin.image)
		return malformed_at(m, at,
				    "Manifest=%s without Image= is not valid: add Image=, the "
				    "image of the device plugin",
				    c->plugin.manifest);
	if (c->plugin.type != PLUGIN_NONE && !plugin_has_file(c->plugin.type))
		return malformed_at(m,
				    later(at, said_of(m, 0, setting_find("DevicePlugin", "Type"))),
				    "Manifest=%s with Type=%s is not valid: use another Type=, for "
				    "a DRA driver needs the API server and is no static pod",
				    c->plugin.manifest, plugin_type_name(c->plugin.type));
	return 0;
}

/* The argument of each mode that names the plugin's file is in plugin/manifest-output.c; hca has
 * none. */
static int check_config_file(const struct merge *m, const struct config *c)
{
	const struct said *file = said_of(m, 0, setting_find("DevicePlugin", "ConfigFile"));
	const struct said *type = said_of(m, 0, setting_find("DevicePlugin", "Type"));

	if (c->plugin.type != PLUGIN_HCA || !file ||
	    streq(strrchr(c->plugin.config_file, '/'), "/config.json"))
		return 0;
	return malformed_at(m, later(file, type),
			    "ConfigFile=%s with Type=hca is not valid: use a file named "
			    "config.json, for in its mode hca the plugin reads no other one",
			    c->plugin.config_file);
}

/* A map with an entry makes a card trust it. */
static int check_dscp(const struct merge *m, const struct config *c)
{
	const struct said *map = said_of(m, 0, setting_find("QoS", "DSCP"));
	const struct said *mode = said_of(m, 0, setting_find("QoS", "TrustMode"));

	if (!*c->qos.dscp || c->qos.trust == TRUST_MODE_DSCP)
		return 0;
	return malformed_at(m, later(map, mode),
			    "DSCP=%s with TrustMode=%s is not valid: use TrustMode=dscp, for a "
			    "card with such a map trusts it",
			    map->text, trust_mode_name(c->qos.trust));
}

/* The names that the plugin takes behind the '/', if @resource has another one; else NULL. */
static const char *resource_problem(enum plugin_type type, const char *resource)
{
	switch (type) {
	case PLUGIN_RDMA_SHARED:
		return strchr(strchr(resource, '/'), '-') ? "a name of letters, digits and \"_\", "
							    "for the plugin takes no \"-\""
							  : NULL;
	case PLUGIN_HCA:
		return streq(resource, HCA_RESOURCE) ? NULL
						     : HCA_RESOURCE
			       ", for in its mode hca the plugin has no other name";
	default:
		return NULL; /* sriov takes what the setting takes */
	}
}

/* The resource of one section: layer 0 is [DevicePlugin]. */
static const struct said *said_resource(const struct merge *m, size_t layer)
{
	return said_of(m, layer, setting_find(layer == 0 ? "DevicePlugin" : "Device", "Resource"));
}

static const char *resource_of(const struct config *c, size_t layer)
{
	return layer == 0 ? c->plugin.resource : c->devices[layer - 1].resource;
}

/* The resource of [DevicePlugin] has no devices when every section has its own. */
static bool is_resource_used(const struct config *c, size_t layer)
{
	if (layer > 0)
		return c->devices[layer - 1].resource[0];
	return ANY(d, c->devices, c->n_devices, !d->resource[0]);
}

/* k8s-rdma-shared-dev-plugin compares names without their prefixes. */
static int check_equal_name(const struct merge *m, const struct config *c, size_t layer)
{
	const char *resource = resource_of(c, layer);

	for (size_t i = 0; i < layer; i++) {
		const char *other = resource_of(c, i);
		const struct said *at;

		if (!is_resource_used(c, i) || streq(other, resource) ||
		    !streq(strchr(other, '/'), strchr(resource, '/')))
			continue;
		at = said_resource(m, layer);
		if (i == 0 && said_resource(m, 0))
			at = later(at, said_resource(m, 0));
		return malformed_at(
			m, at,
			"Resource=%s and Resource=%s with Type=rdma-shared are not valid: use "
			"names that differ behind the \"/\", for the plugin compares those alone",
			other, resource);
	}
	return 0;
}

static int check_resources(const struct merge *m, const struct config *c)
{
	const struct said *type = said_of(m, 0, setting_find("DevicePlugin", "Type"));
	int r = 0;

	for (size_t i = 0; i <= c->n_devices && c->plugin.type != PLUGIN_NONE && r >= 0; i++) {
		const struct said *said = said_resource(m, i);
		const char *problem;

		if (!resource_of(c, i)[0] || !said)
			continue;
		problem = resource_problem(c->plugin.type, resource_of(c, i));
		if (problem)
			r = malformed_at(m, later(said, type),
					 "Resource=%s with Type=%s is not valid: use %s",
					 said->text, plugin_type_name(c->plugin.type), problem);
		else if (i > 0 && c->plugin.type == PLUGIN_RDMA_SHARED)
			r = check_equal_name(m, c, i);
	}
	return r;
}

/* eRDMA's network has no IPv6. Source: drivers/infiniband/hw/erdma/erdma_main.c, erdma_pci_tbl */
static bool is_about_erdma(const char *match)
{
	_cleanup_(freep) char *words = match ? strdup(match) : NULL;
	char *rest = NULL;

	for (char *w = words ? strtok_r(words, " ", &rest) : NULL; w;
	     w = strtok_r(NULL, " ", &rest)) {
		const char *driver = after(w, "driver:"), *id = after(w, "id:");

		/* A glob for all NICs there are is about none in particular. */
		if (driver && fnmatch(driver, "erdma", 0) == 0 &&
		    fnmatch(driver, "mlx5_core", 0) != 0)
			return true;
		if (id && fnmatch(id, "1ded:107f", 0) == 0 && fnmatch(id, "15b3:101e", 0) != 0)
			return true;
	}
	return false;
}

static int check_ipv6(const struct merge *m, size_t layer, const struct config *c,
		      const struct device_config *d)
{
	const struct said *ipv6 = said_of(m, 0, setting_find("Route", "IPv6"));
	const struct said *match = said_of(m, layer, setting_find("Device", "Match"));

	if (c->route.ipv6 != IPV6_RA || !is_about_erdma(d->match))
		return 0;
	return malformed_at(m, later(ipv6, match),
			    "IPv6=ra with the eRDMA NICs of [Device %s] is not valid: use IPv6=no, "
			    "for the network of eRDMA has no IPv6",
			    d->name);
}

/* StaticAddress= and Gateway= of one section: of one NIC, and of one network. */
static int check_address(const struct merge *m, size_t layer, const struct device_config *d)
{
	const struct said *address = said_of(m, layer, setting_find("Device", "StaticAddress"));
	const struct said *gateway = said_of(m, layer, setting_find("Device", "Gateway"));

	if (!gateway)
		return 0;
	if (!address)
		return malformed_at(m, gateway,
				    "Gateway= without StaticAddress= in [Device %s] is not valid: "
				    "add StaticAddress=",
				    d->name);
	/* The gateway of IPv6 is mostly known by its link-local address. */
	if (d->gateway.family != d->address.family ||
	    (!ip_is_link_local(d->gateway.family, d->gateway.bytes) &&
	     !ip_is_in_prefix(d->gateway.bytes, d->address.bytes, d->address.prefix_len)) ||
	    memcmp(d->gateway.bytes, d->address.bytes, sizeof(d->gateway.bytes)) == 0)
		return malformed_at(m, later(address, gateway),
				    "Gateway=%s with StaticAddress=%s is not valid: use another "
				    "address inside its prefix",
				    gateway->text, address->text);
	return 0;
}

static int check_is_meant(const struct merge *m)
{
	const struct said *match = said_of(m, 0, setting_find("Device", "Match"));
	const struct said *address = said_of(m, 0, setting_find("Device", "StaticAddress"));

	if (address)
		return malformed_at(m, address,
				    "StaticAddress= in [Device] is not valid: use the section of "
				    "the one NIC that has it");
	if (!match || m->n_layers > 1)
		return 0;
	return malformed_at(m, match,
			    "Match= in [Device], which has only defaults for others, is not valid: "
			    "use a section with a name, for example [Device nic]");
}

static int build(const struct merge *m, struct config *c)
{
	int r = fill(m, 0, false, c);

	if (r >= 0)
		r = check_netns(m, c);
	if (r >= 0)
		r = check_manifest(m, c);
	if (r >= 0)
		r = check_config_file(m, c);
	if (r >= 0)
		r = check_dscp(m, c);
	if (r >= 0)
		r = check_is_meant(m);
	if (r < 0)
		return r;

	for (size_t i = 1; i < m->n_layers; i++) {
		struct device_config *d = APPEND(c->devices, c->n_devices);

		if (!d)
			return -ENOMEM;
		COPY(d->name, m->layers[i].name);
		r = fill(m, i, true, d);
		if (r >= 0)
			r = check_count(m, i, d);
		if (r >= 0)
			r = check_address(m, i, d);
		if (r >= 0)
			r = check_ipv6(m, i, c, d);
		if (r < 0)
			return r;
	}
	return check_resources(m, c);
}

static int finish(struct config *c, const struct config_errors *errors)
{
	_cleanup_(freep) char *text = NULL;
	int r;

	c->has_unknown = errors->n_unknown > 0;
	r = config_text(c, &text);
	if (r < 0)
		return r;

	PRINT(c->hash, "%016" PRIx64, hash_text(text));
	if (c->has_unknown)
		COPY(c->problem, config_errors_first(errors));
	return 0;
}

/* -E2BIG has ended the reading of what is malformed anyway. */
static int merge_files(struct merge *m, const struct config_files *files, struct config *ret)
{
	_cleanup_(config_done) struct config c = {};
	int r = 0;

	FOREACH_WHILE(item, files->items, files->n_items, r >= 0) {
		m->file = item->path;
		m->section = NULL;
		if (item->size > 0)
			r = reader_parse(m->file, item->data, item->size, m->errors, on_key, m);
	}
	/* Malformed files are not merged: problems that follow would be reported as well. */
	if (r >= 0 && m->errors->n_malformed == 0)
		r = build(m, &c);
	if (r >= 0 && m->errors->n_malformed == 0)
		r = finish(&c, m->errors);
	if (r < 0 && r != -E2BIG)
		return r;
	if (m->errors->n_malformed > 0)
		return -EINVAL;

	*ret = TAKE_STRUCT(c);
	return 0;
}

int config_merge(const struct config_files *files, struct config *ret, struct config_errors *errors)
{
	_cleanup_(merge_done) struct merge m = { .errors = errors };

	return APPEND(m.layers, m.n_layers) ? merge_files(&m, files, ret) : -ENOMEM;
}

int config_parse_text(const char *file, const char *text, size_t size, struct config *ret,
		      struct config_errors *errors)
{
	_cleanup_(freep) char *path = strdup(file);
	/* Neither is written to. */
	struct config_file item = { path, (char *)(uintptr_t)text, size };

	if (!path)
		return -ENOMEM;
	return config_merge(&(struct config_files){ &item, 1 }, ret, errors);
}

/* The keys of the section that begins at setting @first and differ from the defaults. */
static int put_section(FILE *f, const char *name, size_t first, const void *base)
{
	bool has_header = false;

	for (size_t i = first; i < N_SETTINGS && (i == first || !is_first_of_section(i)); i++) {
		_cleanup_(freep) char *value = NULL;
		int r = setting_format(&settings[i], base, &value);

		if (r < 0)
			return r;
		if (streq(value, settings[i].fallback))
			continue;

		if (!has_header && !setting_is_device(&settings[i]))
			fprintf(f, "[%s]\n", name);
		has_header = true;
		setting_put(f, settings[i].name, value, setting_is_list(&settings[i]));
	}

	return 0;
}

static int put_all(FILE *f, const struct config *c)
{
	for (size_t i = 0; i < N_SETTINGS; i++) {
		int r = 0;

		if (!is_first_of_section(i))
			continue;
		if (!setting_is_device(&settings[i]))
			r = put_section(f, settings[i].section, i, c);

		/* A section without keys is written all the same: names and their order count. */
		for (size_t k = 0; setting_is_device(&settings[i]) && k < c->n_devices && r >= 0;
		     k++) {
			fprintf(f, "[Device %s]\n", c->devices[k].name);
			r = put_section(f, c->devices[k].name, i, &c->devices[k]);
		}
		if (r < 0)
			return r;
	}

	return 0;
}

int config_text(const struct config *c, char **ret)
{
	_cleanup_(stream_done) struct stream out = {};
	int r;

	if (stream_open(&out) < 0)
		return -ENOMEM;
	r = put_all(out.f, c);
	if (c->has_unknown)
		fputs("[Unknown]\n", out.f);
	return r < 0 ? r : stream_take(&out, ret);
}
