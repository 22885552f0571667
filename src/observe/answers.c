/* SPDX-License-Identifier: Apache-2.0 */
#include "answers.h"

#include "../base/document.h"
#include "../model/plan.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>

/* Adds @item, which is taken, to @array. False when there is no memory. */
static bool add(json_t *array, json_t *item)
{
	return item && json_array_append_new(array, item) == 0;
}

/* Names and values of those that are known. */
static json_t *pack_conf(const struct netconf *c)
{
	json_t *conf = json_object();

	for (enum netconf_key k = 0; k < _NETCONF_N; k++)
		if (c->known & 1u << k &&
		    json_object_set_new(conf, netconf_name(k), json_integer(c->values[k])) < 0) {
			json_decref(conf);
			return NULL;
		}
	return conf;
}

static bool write_links(const struct node *n, json_t *links)
{
	for (size_t i = 0; i < n->n_netdevs; i++) {
		const struct netdev *d = &n->netdevs[i];
		json_t *conf = pack_conf(&d->conf);

		if (!conf ||
		    !add(links,
			 json_pack("{s:I,s:o,s:s,s:s,s:o,s:s,s:i,s:I,s:I,s:I,s:I,s:b,s:b,s:s,s:o}",
				   "ifindex", (json_int_t)d->ifindex, "name",
				   document_name(d->name), "mac", d->mac, "perm_mac", d->perm_mac,
				   "port_name", document_name(d->port_name), "kind", d->kind,
				   "bond_mode", d->bond_mode, "mtu", (json_int_t)d->mtu, "max_mtu",
				   (json_int_t)d->max_mtu, "master", (json_int_t)d->master, "link",
				   (json_int_t)d->link, "up", (int)d->is_up, "carrier",
				   (int)d->has_carrier, "link_state", d->link_state, "conf", conf)))
			return false;
	}
	return true;
}

static void format_prefix(int family, const uint8_t *bytes, uint32_t len, char *ret, size_t size)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(family, bytes, text, sizeof(text));
	snprintf(ret, size, "%s/%" PRIu32, text, len);
}

/* Empty for none. */
static void format_host(int family, const uint8_t *bytes, char *ret, size_t size)
{
	static const uint8_t zero[16];

	ret[0] = '\0';
	if (memcmp(bytes, zero, sizeof(zero)) != 0)
		inet_ntop(family, bytes, ret, (socklen_t)size);
}

static bool write_rules(const struct node *n, json_t *rules)
{
	char src[64];

	for (size_t i = 0; i < n->n_rules; i++) {
		const struct rule *u = &n->rules[i];

		format_prefix(u->family, u->src, u->src_len, src, sizeof(src));
		if (!add(rules,
			 json_pack("{s:I,s:I,s:i,s:i,s:s,s:o,s:b}", "preference",
				   (json_int_t)u->preference, "table", (json_int_t)u->table,
				   "protocol", (int)u->protocol, "action", (int)u->action, "src",
				   src, "oif", document_name(u->oif), "more", (int)u->has_more)))
			return false;
	}
	return true;
}

static bool write_neighbours(const struct node *n, json_t *neighbours)
{
	char address[INET6_ADDRSTRLEN];

	for (size_t i = 0; i < n->n_neighbours; i++) {
		const struct neighbour *b = &n->neighbours[i];

		format_host(b->family, b->address, address, sizeof(address));
		if (!add(neighbours,
			 json_pack("{s:I,s:s,s:i,s:i,s:b}", "ifindex", (json_int_t)b->ifindex,
				   "address", address, "state", (int)b->state, "protocol",
				   (int)b->protocol, "managed", (int)b->is_managed)))
			return false;
	}
	return true;
}

static bool write_lookups(const struct node *n, json_t *lookups)
{
	char address[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];

	for (size_t i = 0; i < n->n_lookups; i++) {
		const struct lookup *l = &n->lookups[i];

		format_host(l->family, l->address, address, sizeof(address));
		format_host(l->family, l->dst, dst, sizeof(dst));
		if (!add(lookups, json_pack("{s:I,s:s,s:s,s:i,s:I}", "ifindex",
					    (json_int_t)l->ifindex, "address", address, "dst", dst,
					    "result", l->result, "found", (json_int_t)l->found)))
			return false;
	}
	return true;
}

static bool write_addresses(const struct node *n, json_t *addresses)
{
	char local[64], peer[64];

	for (size_t i = 0; i < n->n_addresses; i++) {
		const struct address *a = &n->addresses[i];

		format_prefix(a->family, a->local, a->prefix_len, local, sizeof(local));
		format_prefix(a->family, a->peer, a->prefix_len, peer, sizeof(peer));
		if (!add(addresses,
			 json_pack("{s:I,s:s,s:s,s:I,s:I,s:i}", "ifindex", (json_int_t)a->ifindex,
				   "address", local, "peer", peer, "metric", (json_int_t)a->metric,
				   "flags", (json_int_t)a->flags, "scope", (int)a->scope)))
			return false;
	}
	return true;
}

static bool write_routes(const struct node *n, json_t *routes)
{
	char dst[64], gateway[INET6_ADDRSTRLEN], src[INET6_ADDRSTRLEN];

	for (size_t i = 0; i < n->n_routes; i++) {
		const struct route *t = &n->routes[i];

		format_prefix(t->family, t->dst, t->prefix_len, dst, sizeof(dst));
		format_host(t->family, t->gateway, gateway, sizeof(gateway));
		format_host(t->family, t->src, src, sizeof(src));
		if (!add(routes,
			 json_pack("{s:s,s:s,s:s,s:I,s:I,s:I,s:i,s:i,s:i}", "dst", dst, "gateway",
				   gateway, "src", src, "table", (json_int_t)t->table, "ifindex",
				   (json_int_t)t->ifindex, "metric", (json_int_t)t->metric,
				   "protocol", (int)t->protocol, "scope", (int)t->scope, "type",
				   (int)t->type)))
			return false;
	}
	return true;
}

static bool write_rdma(const struct node *n, json_t *rdma)
{
	for (size_t i = 0; i < n->n_ibdevs; i++) {
		const struct ibdev *b = &n->ibdevs[i];

		if (!add(rdma,
			 json_pack("{s:o,s:I,s:o,s:I,s:i,s:I}", "name", document_name(b->name),
				   "index", (json_int_t)b->index, "netdev",
				   document_name(b->netdev), "contexts", (json_int_t)b->n_contexts,
				   "verbs", b->verbs, "active_mtu", (json_int_t)b->active_mtu)))
			return false;
	}
	return true;
}

/* Without a file, the word for the state is all there is. */
static json_t *pack_module(const struct module *m)
{
	json_t *item, *types;

	if (!m->path[0])
		return json_string(module_state_name(m->state));

	item = json_pack("{s:s,s:o}", "state", module_state_name(m->state), "path",
			 document_name(m->path));
	if (item && m->is_blacklisted &&
	    json_object_set_new(item, "blacklisted", json_true()) < 0) {
		json_decref(item);
		return NULL;
	}
	if (!item || !m->has_info)
		return item;

	types = json_object();
	if (json_object_set_new(item, "version", document_name(m->version)) < 0 ||
	    json_object_set_new(item, "srcversion", document_name(m->srcversion)) < 0 ||
	    json_object_set_new(item, "vermagic", document_name(m->vermagic)) < 0 ||
	    json_object_set_new(item, "intree", json_boolean(m->is_intree)) < 0 ||
	    json_object_set_new(item, "parameters", types) < 0) {
		json_decref(item);
		return NULL;
	}
	for (size_t i = 0; i < m->n_parameters; i++)
		if (m->parameters[i].type[0] &&
		    json_object_set_new(types, m->parameters[i].name,
					document_name(m->parameters[i].type)) < 0) {
			json_decref(item);
			return NULL;
		}
	return item;
}

/* What devlink told of functions; those of which it told nothing are left out. */
static bool write_devlink(const struct node *n, json_t *devlink)
{
	for (size_t i = 0; i < n->n_pcis; i++) {
		const struct pci *p = &n->pcis[i];

		if (!p->health[0] && !p->eswitch[0])
			continue;
		if (!add(devlink,
			 json_pack("{s:o,s:o,s:o}", "pci", document_name(p->address), "health",
				   document_name(p->health), "eswitch", document_name(p->eswitch))))
			return false;
	}
	return true;
}

static bool write_pnets(const struct node *n, json_t *pnets)
{
	for (size_t i = 0; i < n->n_pnets; i++) {
		const struct pnet *e = &n->pnets[i];

		if (!add(pnets, json_pack("{s:o,s:o,s:o,s:I}", "id", document_name(e->id), "netdev",
					  document_name(e->netdev), "ibdev",
					  document_name(e->ibdev), "port", (json_int_t)e->port)))
			return false;
	}
	return true;
}

static bool write_vf_infos(const struct node *n, json_t *vf_infos)
{
	for (size_t i = 0; i < n->n_vf_infos; i++) {
		const struct vf_info *v = &n->vf_infos[i];

		if (!add(vf_infos, json_pack("{s:s,s:I,s:s,s:i,s:i,s:s,s:s}", "pf", v->pf, "index",
					     (json_int_t)v->index, "mac", v->mac, "trust", v->trust,
					     "link_state", v->link_state, "node_guid", v->node_guid,
					     "port_guid", v->port_guid)))
			return false;
	}
	return true;
}

static bool write_modules(const struct node *n, json_t *modules, json_t *modalias)
{
	for (size_t i = 0; i < n->n_modules; i++)
		if (json_object_set_new(modules, n->modules[i].name, pack_module(&n->modules[i])) <
		    0)
			return false;

	for (size_t i = 0; i < n->n_pcis; i++)
		if (n->pcis[i].module[0] && json_object_set_new(modalias, n->pcis[i].modalias,
								json_string(n->pcis[i].module)) < 0)
			return false;
	return true;
}

static bool write_users(const struct node *n, json_t *users)
{
	for (size_t i = 0; i < n->n_users; i++) {
		const struct user *u = &n->users[i];

		if (!add(users, json_pack("{s:o,s:s,s:I,s:o,s:o,s:o}", "target",
					  document_name(u->target), "use", use_name(u->use), "pid",
					  (json_int_t)u->pid, "command", document_name(u->command),
					  "container", document_name(u->container), "detail",
					  document_name(u->detail))))
			return false;
	}
	return true;
}

static bool write_netnses(const struct node *n, json_t *netnses)
{
	for (size_t i = 0; i < n->n_netnses; i++) {
		const struct netns *ns = &n->netnses[i];

		if (!add(netnses,
			 json_pack("{s:I,s:I,s:o,s:o,s:o}", "inode", (json_int_t)ns->inode, "pid",
				   (json_int_t)ns->pid, "command", document_name(ns->command),
				   "unit", document_name(ns->unit), "name",
				   document_name(ns->name))))
			return false;
	}
	return true;
}

static bool write_ports(const struct node *n, json_t *ports)
{
	for (size_t i = 0; i < n->n_listening; i++)
		if (!add(ports, json_integer(n->listening[i])))
			return false;
	return true;
}

/* The lists are there only when somebody looked: none and not known are not the same. */
static bool write_look(const struct node *n, json_t *root)
{
	json_t *users = json_array(), *netnses = json_array(), *ports = json_array();

	/* json_object_set_new() takes NULL as a failure. */
	if (json_object_set_new(root, "users", users) < 0 ||
	    json_object_set_new(root, "netnses", netnses) < 0 ||
	    json_object_set_new(root, "listening", ports) < 0)
		return false;
	return write_users(n, users) && write_netnses(n, netnses) && write_ports(n, ports) &&
	       json_object_set_new(root, "reserved_ports", json_string(n->reserved_ports)) >= 0 &&
	       json_object_set_new(
		       root, "local_ports",
		       json_pack("[i,i]", (int)n->local_ports[0], (int)n->local_ports[1])) >= 0;
}

static bool write_memlocks(const struct node *n, json_t *memlocks)
{
	for (size_t i = 0; i < n->n_memlocks; i++) {
		const struct memlock *m = &n->memlocks[i];
		const bool is_any = m->bytes > INT64_MAX;

		if (!add(memlocks, json_pack("{s:o,s:I}", "unit", document_name(m->unit), "bytes",
					     is_any ? (json_int_t)-1 : (json_int_t)m->bytes)))
			return false;
	}
	return true;
}

int answers_write(const struct node *n, char **ret)
{
	json_auto_t *root = NULL;
	json_t *links, *addresses, *routes, *rules, *neighbours, *lookups, *rdma, *devlink,
		*vf_infos, *modules, *modalias, *pnets, *memlocks;

	root = json_pack("{s:i,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema", 1,
			 "netns_mode", netns_mode_name(n->netns_mode), "links",
			 links = json_array(), "addresses", addresses = json_array(), "routes",
			 routes = json_array(), "rules", rules = json_array(), "neighbours",
			 neighbours = json_array(), "lookups", lookups = json_array(), "rdma",
			 rdma = json_array(), "devlink", devlink = json_array(), "vf_infos",
			 vf_infos = json_array(), "modules", modules = json_object(), "modalias",
			 modalias = json_object());
	if (root && n->is_dkms_building &&
	    json_object_set_new(root, "dkms_building", json_true()) < 0)
		return -ENOMEM;
	if (root && n->has_users && !write_look(n, root))
		return -ENOMEM;
	/* An empty table is another answer than none. */
	if (root && n->has_pnets &&
	    (json_object_set_new(root, "pnets", pnets = json_array()) < 0 ||
	     !write_pnets(n, pnets)))
		return -ENOMEM;
	if (root && n->has_memlocks &&
	    (json_object_set_new(root, "memlocks", memlocks = json_array()) < 0 ||
	     !write_memlocks(n, memlocks)))
		return -ENOMEM;
	if (!root || !write_links(n, links) || !write_addresses(n, addresses) ||
	    !write_routes(n, routes) || !write_rules(n, rules) ||
	    !write_neighbours(n, neighbours) || !write_lookups(n, lookups) ||
	    !write_rdma(n, rdma) || !write_devlink(n, devlink) || !write_vf_infos(n, vf_infos) ||
	    !write_modules(n, modules, modalias))
		return -ENOMEM;

	*ret = json_dumps(root, JSON_INDENT(1));
	return *ret ? 0 : -ENOMEM;
}

/* Where the reader stands, for the message. */
struct place {
	const char *list;
	size_t index;
	const char *key;
};

/* Absent is empty, as of a tree made by hand. */
static bool get_name(json_t *item, const char *key, char *ret, size_t size)
{
	*ret = '\0';
	return !json_object_get(item, key) || document_get_name(item, key, ret, size);
}
#define GET(item, key, to) get_name((item), (key), (to), sizeof(to))

/* Not absent; it becomes part of paths. */
#define GET_FILE_NAME(item, key, to) document_get_file_name((item), (key), (to), sizeof(to))

static uint32_t get_number(json_t *item, const char *key, uint32_t absent)
{
	json_t *j = json_object_get(item, key);
	json_int_t value = json_integer_value(j);

	return json_is_integer(j) && value >= 0 && value <= UINT32_MAX ? (uint32_t)value : absent;
}

/* "10.0.0.0/24" to family, bytes and length. */
static bool parse_prefix(const char *text, int *ret_family, uint8_t *ret, uint32_t *ret_len)
{
	const char *slash = strchr(text, '/');
	char address[INET6_ADDRSTRLEN], *end;
	unsigned long len;

	if (!slash || (size_t)(slash - text) >= sizeof(address))
		return false;
	memcpy(address, text, (size_t)(slash - text));
	address[slash - text] = '\0';

	*ret_family = strchr(address, ':') ? AF_INET6 : AF_INET;
	len = strtoul(slash + 1, &end, 10);
	*ret_len = (uint32_t)len;
	return end != slash + 1 && !*end && len <= (*ret_family == AF_INET ? 32 : 128) &&
	       inet_pton(*ret_family, address, ret) == 1;
}

static int read_link(json_t *item, struct node *n)
{
	struct netdev *d = APPEND(n->netdevs, n->n_netdevs);
	uint32_t mode;

	if (!d)
		return -ENOMEM;
	d->ifindex = get_number(item, "ifindex", 0);
	d->mtu = get_number(item, "mtu", 0);
	d->max_mtu = get_number(item, "max_mtu", 0);
	d->master = get_number(item, "master", 0);
	d->link = get_number(item, "link", 0);
	mode = get_number(item, "bond_mode", UINT32_MAX);
	d->bond_mode = mode <= INT32_MAX ? (int)mode : BOND_MODE_UNKNOWN;
	for (enum netconf_key k = 0; k < _NETCONF_N; k++) {
		json_t *value = json_object_get(json_object_get(item, "conf"), netconf_name(k));

		if (!json_is_integer(value))
			continue;
		d->conf.known |= 1u << k;
		d->conf.values[k] = (int32_t)json_integer_value(value);
	}
	d->is_up = json_is_true(json_object_get(item, "up"));
	d->has_carrier = json_is_true(json_object_get(item, "carrier"));
	if (!GET_FILE_NAME(item, "name", d->name) || !GET(item, "mac", d->mac) ||
	    !GET(item, "perm_mac", d->perm_mac) || !GET(item, "port_name", d->port_name) ||
	    !GET(item, "kind", d->kind) || !GET(item, "link_state", d->link_state) || !d->name[0] ||
	    d->ifindex == 0)
		return -EINVAL;
	return 0;
}

static int read_address(json_t *item, struct node *n)
{
	struct address *a = APPEND(n->addresses, n->n_addresses);
	const char *peer = document_get_text(item, "peer");
	uint32_t len;
	int family;

	if (!a)
		return -ENOMEM;
	a->ifindex = get_number(item, "ifindex", 0);
	a->metric = get_number(item, "metric", 0);
	a->flags = get_number(item, "flags", 0);
	a->scope = (uint8_t)get_number(item, "scope", 0);
	if (!parse_prefix(document_get_text(item, "address"), &a->family, a->local, &a->prefix_len))
		return -EINVAL;
	if (!peer[0])
		memcpy(a->peer, a->local, sizeof(a->peer));
	else if (!parse_prefix(peer, &family, a->peer, &len) || family != a->family)
		return -EINVAL;
	return 0;
}

/* None at all is fine: then @ret stays zero. */
static bool parse_host(const char *text, int *family, uint8_t *ret)
{
	if (!*text)
		return true;
	*family = strchr(text, ':') ? AF_INET6 : AF_INET;
	return inet_pton(*family, text, ret) == 1;
}

static int read_rule(json_t *item, struct node *n)
{
	struct rule *u = APPEND(n->rules, n->n_rules);
	uint32_t len;

	if (!u)
		return -ENOMEM;
	u->preference = get_number(item, "preference", 0);
	u->table = get_number(item, "table", 0);
	u->protocol = (uint8_t)get_number(item, "protocol", 0);
	u->action = (uint8_t)get_number(item, "action", 1);
	u->has_more = json_is_true(json_object_get(item, "more"));
	if (!parse_prefix(document_get_text(item, "src"), &u->family, u->src, &len) ||
	    !GET(item, "oif", u->oif))
		return -EINVAL;
	u->src_len = (uint8_t)len;
	return 0;
}

static int read_neighbour(json_t *item, struct node *n)
{
	struct neighbour *b = APPEND(n->neighbours, n->n_neighbours);

	if (!b)
		return -ENOMEM;
	b->ifindex = get_number(item, "ifindex", 0);
	b->state = (uint16_t)get_number(item, "state", 0);
	b->protocol = (uint8_t)get_number(item, "protocol", 0);
	b->is_managed = json_is_true(json_object_get(item, "managed"));
	return parse_host(document_get_text(item, "address"), &b->family, b->address) && b->family
		       ? 0
		       : -EINVAL;
}

static int read_lookup(json_t *item, struct node *n)
{
	struct lookup *l = APPEND(n->lookups, n->n_lookups);
	int family;

	if (!l)
		return -ENOMEM;
	l->ifindex = get_number(item, "ifindex", 0);
	l->found = get_number(item, "found", 0);
	l->result = (int)json_integer_value(json_object_get(item, "result"));
	return parse_host(document_get_text(item, "address"), &family, l->address) &&
			       parse_host(document_get_text(item, "dst"), &l->family, l->dst) &&
			       l->family
		       ? 0
		       : -EINVAL;
}

static int read_route(json_t *item, struct node *n)
{
	int family;

	struct route *t = APPEND(n->routes, n->n_routes);

	if (!t)
		return -ENOMEM;
	t->ifindex = get_number(item, "ifindex", 0);
	t->metric = get_number(item, "metric", 0);
	t->protocol = (uint8_t)get_number(item, "protocol", 0);
	t->scope = (uint8_t)get_number(item, "scope", 0);
	t->type = (uint8_t)get_number(item, "type", 1);
	t->table = get_number(item, "table", RT_TABLE_MAIN);
	if (!parse_host(document_get_text(item, "gateway"), &family, t->gateway) ||
	    !parse_host(document_get_text(item, "src"), &family, t->src))
		return -EINVAL;
	return parse_prefix(document_get_text(item, "dst"), &t->family, t->dst, &t->prefix_len)
		       ? 0
		       : -EINVAL;
}

static int read_ibdev(json_t *item, struct node *n)
{
	struct ibdev *b = APPEND(n->ibdevs, n->n_ibdevs);

	if (!b)
		return -ENOMEM;
	b->index = get_number(item, "index", UINT32_MAX);
	b->n_contexts = get_number(item, "contexts", UINT32_MAX);
	b->verbs = (int)json_integer_value(json_object_get(item, "verbs"));
	b->active_mtu = get_number(item, "active_mtu", 0);
	return GET_FILE_NAME(item, "name", b->name) && b->name[0] && GET(item, "netdev", b->netdev)
		       ? 0
		       : -EINVAL;
}

static uint64_t get_inode(json_t *item, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(item, key));

	return value > 0 ? (uint64_t)value : 0;
}

static int read_user(json_t *item, struct node *n)
{
	struct user *u = APPEND(n->users, n->n_users);
	const char *use = document_get_text(item, "use");
	int known = 0;

	if (!u)
		return -ENOMEM;
	while (known < _USE_N && !streq(use, use_name((enum use)known)))
		known++;
	u->use = (enum use)known;
	u->pid = get_number(item, "pid", 0);
	return known < _USE_N && GET(item, "target", u->target) && u->target[0] &&
			       GET(item, "command", u->command) &&
			       GET(item, "container", u->container) &&
			       GET(item, "detail", u->detail)
		       ? 0
		       : -EINVAL;
}

static int get_told(json_t *item, const char *key)
{
	json_t *j = json_object_get(item, key);
	json_int_t value = json_integer_value(j);

	return json_is_integer(j) && value >= 0 && value <= INT32_MAX ? (int)value : -1;
}

static int read_vf_info(json_t *item, struct node *n)
{
	struct vf_info *v = APPEND(n->vf_infos, n->n_vf_infos);

	if (!v)
		return -ENOMEM;
	v->index = get_number(item, "index", UINT32_MAX);
	v->trust = get_told(item, "trust");
	v->link_state = get_told(item, "link_state");
	return GET(item, "pf", v->pf) && v->pf[0] && v->index != UINT32_MAX &&
			       GET(item, "mac", v->mac) && GET(item, "node_guid", v->node_guid) &&
			       GET(item, "port_guid", v->port_guid)
		       ? 0
		       : -EINVAL;
}

static int read_pnet(json_t *item, struct node *n)
{
	struct pnet *e = APPEND(n->pnets, n->n_pnets);

	if (!e)
		return -ENOMEM;
	e->port = get_number(item, "port", 0);
	return GET(item, "id", e->id) && e->id[0] && GET(item, "netdev", e->netdev) &&
			       GET(item, "ibdev", e->ibdev) &&
			       (e->netdev[0] == '\0') == (e->ibdev[0] != '\0') &&
			       (e->port > 0) == (e->ibdev[0] != '\0')
		       ? 0
		       : -EINVAL;
}

static int read_devlink(json_t *item, struct node *n)
{
	struct pci *p = (struct pci *)node_pci(n, document_get_text(item, "pci"));

	if (!p)
		return 0; /* its files were left out of the tree */
	return GET(item, "health", p->health) && GET(item, "eswitch", p->eswitch) ? 0 : -EINVAL;
}

static int read_memlock(json_t *item, struct node *n)
{
	const json_t *bytes = json_object_get(item, "bytes");
	struct memlock *m = APPEND(n->memlocks, n->n_memlocks);

	if (!m)
		return -ENOMEM;
	m->bytes = json_integer_value(bytes) < 0 ? UINT64_MAX : (uint64_t)json_integer_value(bytes);
	return json_is_integer(bytes) && GET(item, "unit", m->unit) && m->unit[0] ? 0 : -EINVAL;
}

static int read_netns(json_t *item, struct node *n)
{
	struct netns *ns = APPEND(n->netnses, n->n_netnses);

	if (!ns)
		return -ENOMEM;
	ns->inode = get_inode(item, "inode");
	ns->pid = get_number(item, "pid", 0);
	return ns->inode > 0 && GET(item, "command", ns->command) && GET(item, "unit", ns->unit) &&
			       GET(item, "name", ns->name)
		       ? 0
		       : -EINVAL;
}

static int read_port(json_t *item, struct node *n)
{
	const json_int_t port = json_integer_value(item);
	uint16_t *slot = APPEND(n->listening, n->n_listening);

	if (!slot)
		return -ENOMEM;
	*slot = (uint16_t)port;
	return port > 0 && port <= UINT16_MAX ? 0 : -EINVAL;
}

/* Two numbers; anything else leaves the range unknown. */
static void read_local_ports(json_t *ports, uint16_t ret[static 2])
{
	const json_int_t first = json_integer_value(json_array_get(ports, 0));
	const json_int_t last = json_integer_value(json_array_get(ports, 1));

	if (first > 0 && first <= last && last <= UINT16_MAX) {
		ret[0] = (uint16_t)first;
		ret[1] = (uint16_t)last;
	}
}

static int compare_user(const void *a, const void *b)
{
	const struct user *x = a, *y = b;
	int r = strcmp(x->target, y->target);

	if (r == 0)
		r = (x->use > y->use) - (x->use < y->use);
	return r != 0 ? r : (x->pid > y->pid) - (x->pid < y->pid);
}

static int compare_vf_info(const void *a, const void *b)
{
	const struct vf_info *x = a, *y = b;
	int order = strcmp(x->pf, y->pf);

	return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int compare_netdev(const void *a, const void *b)
{
	const struct netdev *x = a, *y = b;

	return x->ifindex < y->ifindex ? -1 : x->ifindex > y->ifindex;
}

static int compare_module(const void *a, const void *b)
{
	return strcmp(((const struct module *)a)->name, ((const struct module *)b)->name);
}

static int read_state(const char *text, enum module_state *ret)
{
	for (enum module_state s = MODULE_MISSING; s < _MODULE_STATE_N; s++)
		if (text && streq(text, module_state_name(s))) {
			*ret = s;
			return 0;
		}
	return -EINVAL;
}

/* A word, as the first captures have it and as one writes it by hand, or an object. */
static int read_module(json_t *value, struct module *m)
{
	json_t *types = json_object_get(value, "parameters"), *type;
	const char *name;

	if (json_is_string(value))
		return read_state(json_string_value(value), &m->state);

	m->is_intree = json_is_true(json_object_get(value, "intree"));
	m->is_blacklisted = json_is_true(json_object_get(value, "blacklisted"));
	m->has_info = json_is_object(types);
	if (read_state(document_get_text(value, "state"), &m->state) < 0 ||
	    !GET(value, "path", m->path) || !GET(value, "version", m->version) ||
	    !GET(value, "srcversion", m->srcversion) || !GET(value, "vermagic", m->vermagic))
		return -EINVAL;

	json_object_foreach(types, name, type)
	{
		struct parameter *p = APPEND(m->parameters, m->n_parameters);

		if (!p)
			return -ENOMEM;
		if (!json_is_string(type) || !COPY(p->name, name) || !GET(types, name, p->type))
			return -EINVAL;
	}
	module_sort_parameters(m);
	return 0;
}

static int read_modules(json_t *root, struct node *n, struct place *at)
{
	json_t *value;
	const char *key;
	int r;

	at->list = "modules";
	json_object_foreach(json_object_get(root, "modules"), key, value)
	{
		struct module *m = APPEND(n->modules, n->n_modules);

		if (!m)
			return -ENOMEM;
		at->key = key;
		m->refcnt = UINT32_MAX;
		r = COPY(m->name, key) ? read_module(value, m) : -EINVAL;
		if (r < 0)
			return r;
	}
	if (n->n_modules > 0)
		qsort(n->modules, n->n_modules, sizeof(*n->modules), compare_module);

	n->is_dkms_building = json_is_true(json_object_get(root, "dkms_building"));
	for (size_t i = 0; i < n->n_pcis; i++) {
		struct pci *pci = &n->pcis[i];

		if (pci->modalias[0] && (!pci->driver[0] || pci->physfn[0]))
			COPY(pci->module,
			     document_get_text(json_object_get(root, "modalias"), pci->modalias));
	}
	return 0;
}

static int read_lists(json_t *root, struct node *n, struct place *at)
{
	static const struct {
		const char *name;
		int (*read)(json_t *item, struct node *n);
	} lists[] = {
		{ "links", read_link },           { "addresses", read_address },
		{ "routes", read_route },         { "rdma", read_ibdev },
		{ "users", read_user },           { "netnses", read_netns },
		{ "listening", read_port },       { "devlink", read_devlink },
		{ "vf_infos", read_vf_info },     { "rules", read_rule },
		{ "neighbours", read_neighbour }, { "lookups", read_lookup },
		{ "pnets", read_pnet },           { "memlocks", read_memlock },
	};
	json_t *item;
	int r;

	for (size_t i = 0; i < ELEMENTSOF(lists); i++) {
		at->list = lists[i].name;
		json_array_foreach(json_object_get(root, lists[i].name), at->index, item)
		{
			r = lists[i].read(item, n);
			if (r < 0)
				return r;
		}
	}

	if (n->n_netdevs > 0)
		qsort(n->netdevs, n->n_netdevs, sizeof(*n->netdevs), compare_netdev);
	if (n->n_users > 0)
		qsort(n->users, n->n_users, sizeof(*n->users), compare_user);
	n->has_users = json_is_array(json_object_get(root, "users"));
	n->has_pnets = json_is_array(json_object_get(root, "pnets"));
	n->has_memlocks = json_is_array(json_object_get(root, "memlocks"));
	read_local_ports(json_object_get(root, "local_ports"), n->local_ports);
	if (!GET(root, "reserved_ports", n->reserved_ports))
		n->reserved_ports[0] = '\0';
	if (n->n_vf_infos > 0)
		qsort(n->vf_infos, n->n_vf_infos, sizeof(*n->vf_infos), compare_vf_info);
	return 0;
}

int answers_read(const char *text, struct node *n, char *problem, size_t size)
{
	json_auto_t *root = NULL;
	struct place at = { .key = "" };
	json_error_t error;
	const char *mode;
	int r;

	r = document_parse(text, strlen(text), JSON_REJECT_DUPLICATES, &root, &error);
	if (r == -ENOMEM)
		return r;
	if (!root || !json_is_object(root)) {
		snprintf(problem, size, ANSWERS_PATH ":%d: %s", root ? 1 : error.line,
			 root ? "an object is expected" : error.text);
		return -EINVAL;
	}

	mode = document_get_text(root, "netns_mode");
	for (enum netns_mode m = NETNS_MODE_KEEP; m < _NETNS_MODE_N; m++)
		if (streq(mode, netns_mode_name(m)))
			n->netns_mode = m;

	r = read_lists(root, n, &at);
	if (r >= 0)
		r = read_modules(root, n, &at);
	if (r == -EINVAL)
		snprintf(problem, size, ANSWERS_PATH ": %s: entry %zu %s: a value is malformed",
			 at.list, at.index, at.key);
	return r;
}
