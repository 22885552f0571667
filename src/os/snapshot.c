/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot.h"

#include "../base/document.h"
#include "../base/fields.h"
#include "../model/module-options.h"
#include "../model/pnet.h"
#include "../model/route-find.h"
#include "../model/use-facts.h"
#include "../model/vf-facts.h"

#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

/* --- links, addresses, routes --- */

static const struct field link_rows[] = {
	NUMBER(struct netdev, "ifindex", ifindex, .min = 1, .max = UINT32_MAX,
	       .flags = FIELD_NEEDED),
	FILE_NAME(struct netdev, "name", name, .flags = FIELD_NEEDED),
	NAME(struct netdev, "mac", mac),
	NAME(struct netdev, "perm_mac", perm_mac),
	NAME(struct netdev, "port_name", port_name),
	NAME(struct netdev, "kind", kind),
	NUMBER(struct netdev, "bond_mode", bond_mode, .min = BOND_MODE_UNKNOWN, .max = INT32_MAX,
	       .absent = BOND_MODE_UNKNOWN),
	NUMBER(struct netdev, "mtu", mtu),
	NUMBER(struct netdev, "max_mtu", max_mtu),
	NUMBER(struct netdev, "carrier_downs", carrier_downs, .flags = FIELD_SPARSE),
	NUMBER(struct netdev, "master", master),
	NUMBER(struct netdev, "link", link),
	FLAG(struct netdev, "up", is_up),
	FLAG(struct netdev, "carrier", has_carrier),
	NAME(struct netdev, "link_state", link_state),
	NAME(struct netdev, "altnames", altnames, .flags = FIELD_SPARSE),
	NUMBER(struct netdev, "vrf_table", vrf_table, .flags = FIELD_SPARSE),
	NUMBER(struct netdev, "inet6_flags", inet6_flags, .flags = FIELD_SPARSE),
	NAME(struct netdev, "sign", sign, .flags = FIELD_SPARSE),
	NUMBER(struct netdev, "netns", netns, .flags = FIELD_SPARSE),
	FLAG(struct netdev, "link_here", is_link_here, .flags = FIELD_SPARSE),
	FIELD(FIELD_NUMBERS, struct netdev, "conf", conf.values, .word = netconf_name,
	      .n_words = _NETCONF_N, .known = offsetof(struct netdev, conf.known)),
};

static const struct fields link_fields = FIELDS(link_rows, struct netdev, .compare = compare_u32);

static int compare_away(const void *a, const void *b)
{
	const struct netdev *x = a, *y = b;

	return x->netns != y->netns ? compare_u32(&x->netns, &y->netns) : compare_u32(a, b);
}

static const struct fields away_fields = FIELDS(link_rows, struct netdev, .compare = compare_away);

static const struct field address_rows[] = {
	NUMBER(struct address, "ifindex", ifindex),
	PREFIX(struct address, "address", local, prefix_len, .flags = FIELD_NEEDED | FIELD_FAMILY),
	PREFIX(struct address, "peer", peer, prefix_len),
	NUMBER(struct address, "metric", metric),
	NUMBER(struct address, "flags", flags),
	NUMBER(struct address, "scope", scope),
};

/* A tree written by hand may leave out a peer that is the address itself. */
static bool complete_address(void *item)
{
	struct address *a = item;

	if (is_zero(a->peer))
		memcpy(a->peer, a->local, sizeof(a->peer));
	return true;
}

static const struct fields address_fields =
	FIELDS(address_rows, struct address, .is_valid = complete_address);

static const struct field route_rows[] = {
	PREFIX(struct route, "dst", dst, prefix_len, .flags = FIELD_NEEDED | FIELD_FAMILY),
	HOST(struct route, "gateway", gateway),
	NAME(struct route, "via", via, .flags = FIELD_SPARSE),
	HOST(struct route, "src", src),
	NUMBER(struct route, "table", table, .absent = RT_TABLE_MAIN),
	NUMBER(struct route, "ifindex", ifindex),
	NUMBER(struct route, "metric", metric),
	NUMBER(struct route, "protocol", protocol),
	NUMBER(struct route, "scope", scope),
	NUMBER(struct route, "type", type, .absent = RTN_UNICAST),
	NUMBER(struct route, "nexthop", nexthop, .flags = FIELD_SPARSE),
	FLAG(struct route, "dead", is_dead, .flags = FIELD_SPARSE),
	FLAG(struct route, "more", has_more, .flags = FIELD_SPARSE),
	FLAG(struct route, "partial", is_partial, .flags = FIELD_SPARSE),
};
static const struct fields route_fields = FIELDS(route_rows, struct route);

static const struct field rule_rows[] = {
	NUMBER(struct rule, "preference", preference),
	NUMBER(struct rule, "table", table),
	NUMBER(struct rule, "protocol", protocol),
	NUMBER(struct rule, "action", action, .absent = FR_ACT_TO_TBL),
	PREFIX(struct rule, "src", src, src_len, .flags = FIELD_NEEDED | FIELD_FAMILY),
	NAME(struct rule, "oif", oif),
	PREFIX(struct rule, "dst", dst, dst_len, .flags = FIELD_FAMILY),
	NAME(struct rule, "iif", iif, .flags = FIELD_SPARSE),
	NUMBER(struct rule, "mark", mark, .flags = FIELD_SPARSE),
	NUMBER(struct rule, "mask", mask, .flags = FIELD_SPARSE),
	NUMBER(struct rule, "goto", to_preference, .flags = FIELD_SPARSE),
	NUMBER(struct rule, "suppress_prefixlength", suppress_prefix, .min = -1, .max = 128,
	       .absent = -1),
	FLAG(struct rule, "l3mdev", is_l3mdev, .flags = FIELD_SPARSE),
	FLAG(struct rule, "invert", is_invert, .flags = FIELD_SPARSE),
	/* An older capture sets it for each condition that has a row of its own now. */
	FLAG(struct rule, "more", has_more),
};
static const struct fields rule_fields = FIELDS(rule_rows, struct rule);

static const struct field neighbour_rows[] = {
	NUMBER(struct neighbour, "ifindex", ifindex),
	HOST(struct neighbour, "address", address, .flags = FIELD_NEEDED | FIELD_FAMILY),
	NUMBER(struct neighbour, "state", state),
	NUMBER(struct neighbour, "protocol", protocol),
	FLAG(struct neighbour, "managed", is_managed),
};
static const struct fields neighbour_fields = FIELDS(neighbour_rows, struct neighbour);

struct hop {
	uint32_t ifindex;
};

static const struct field hop_rows[] = {
	NUMBER(struct hop, "ifindex", ifindex, .flags = FIELD_NEEDED | FIELD_ALONE),
};
static const struct fields hop_fields = FIELDS(hop_rows, struct hop);

/* The rows of a lookup that is @in_ (nothing, or a member and its dot) a struct. */
#define LOOKUP_ROWS(struct_, in_, dst_flags, absent_)                                              \
	NUMBER(struct_, "ifindex", in_ ifindex),                                                   \
		FIELD(FIELD_HOST, struct_, "dst", in_ dst,                                         \
		      .family = offsetof(struct_, in_ family), .flags = FIELD_FAMILY | dst_flags), \
		FIELD(FIELD_HOST, struct_, "address", in_ address,                                 \
		      .family = offsetof(struct_, in_ family)),                                    \
		NUMBER(struct_, "mark", in_ mark, .flags = FIELD_SPARSE),                          \
		NUMBER(struct_, "result", in_ result, .absent = absent_),                          \
		NUMBER(struct_, "found", in_ found),                                               \
		FIELD(FIELD_ARRAY, struct_, "hops", in_ hops, .of = &hop_fields,                   \
		      .count = offsetof(struct_, in_ n_hops), .max = LOOKUP_HOPS,                  \
		      .flags = FIELD_SPARSE),                                                      \
		FIELD(FIELD_HOST, struct_, "gateway", in_ gateway,                                 \
		      .family = offsetof(struct_, in_ family), .flags = FIELD_SPARSE),             \
		FIELD(FIELD_HOST, struct_, "source", in_ source,                                   \
		      .family = offsetof(struct_, in_ family), .flags = FIELD_SPARSE),             \
		NUMBER(struct_, "protocol", in_ protocol, .flags = FIELD_SPARSE),                  \
		NUMBER(struct_, "prefix_len", in_ prefix_len, .flags = FIELD_SPARSE)

static const struct field lookup_rows[] = {
	LOOKUP_ROWS(struct lookup, , FIELD_NEEDED, 0),
};
static const struct fields lookup_fields = FIELDS(lookup_rows, struct lookup);

/* --- what the node must reach --- */

/* Without a destination it is the netdev that a file names, or a function. */
static const struct field destination_rows[] = {
	WORD_FIELD(struct destination, "to", to, destination_to_name, _TO_N, .flags = FIELD_NEEDED),
	NAME(struct destination, "words", words),
	NAME(struct destination, "pci", pci, .flags = FIELD_SPARSE),
	FLAG(struct destination, "rdma", is_rdma, .flags = FIELD_SPARSE),
	LOOKUP_ROWS(struct destination, lookup., 0, -ENODATA),
};
static const struct fields destination_fields = FIELDS(destination_rows, struct destination);

static const struct field tunnel_end_rows[] = {
	NUMBER(struct tunnel_end, "ifindex", ifindex),
	HOST(struct tunnel_end, "remote", remote, .flags = FIELD_SPARSE | FIELD_FAMILY),
	HOST(struct tunnel_end, "local", local, .flags = FIELD_SPARSE | FIELD_FAMILY),
	NUMBER(struct tunnel_end, "mark", mark, .flags = FIELD_SPARSE),
};
static const struct fields tunnel_end_fields = FIELDS(tunnel_end_rows, struct tunnel_end);

static const struct field host_rows[] = {
	NAME(struct host, "name", name, .flags = FIELD_NEEDED),
	HOST(struct host, "address", address, .flags = FIELD_NEEDED | FIELD_FAMILY),
	NUMBER(struct host, "line", line),
};
static const struct fields host_fields = FIELDS(host_rows, struct host);

static const struct field sock_rows[] = {
	NUMBER(struct sock, "family", family, .flags = FIELD_NEEDED),
	NUMBER(struct sock, "protocol", protocol),
	HOST(struct sock, "local", local),
	NUMBER(struct sock, "local_port", local_port),
	HOST(struct sock, "remote", remote),
	NUMBER(struct sock, "remote_port", remote_port),
	NUMBER(struct sock, "ifindex", ifindex, .flags = FIELD_SPARSE),
	FLAG(struct sock, "listening", is_listening, .flags = FIELD_SPARSE),
	NUMBER(struct sock, "pid", pid, .flags = FIELD_SPARSE),
	NAME(struct sock, "command", command, .flags = FIELD_SPARSE),
};
static const struct fields sock_fields = FIELDS(sock_rows, struct sock);

/* --- RDMA devices, VFs, SMC --- */

static const struct field ibdev_rows[] = {
	FILE_NAME(struct ibdev, "name", name, .flags = FIELD_NEEDED),
	NUMBER(struct ibdev, "index", index, .absent = UINT32_MAX),
	NAME(struct ibdev, "netdev", netdev),
	FLAG(struct ibdev, "smi", is_smi, .flags = FIELD_SPARSE),
	NUMBER(struct ibdev, "contexts", n_contexts, .absent = UINT32_MAX),
	NUMBER(struct ibdev, "verbs", verbs),
	NUMBER(struct ibdev, "active_mtu", active_mtu),
};

static const struct fields ibdev_fields = FIELDS(ibdev_rows, struct ibdev, .compare = compare_text);

static const struct field vf_rows[] = {
	NAME(struct vf_info, "pf", pf, .flags = FIELD_NEEDED),
	NUMBER(struct vf_info, "index", index, .max = UINT32_MAX - 1, .flags = FIELD_NEEDED),
	NAME(struct vf_info, "mac", mac),
	NUMBER(struct vf_info, "vlan", vlan, .min = -1, .max = UINT16_MAX, .absent = -1),
	NUMBER(struct vf_info, "trust", trust, .min = -1, .max = INT32_MAX, .absent = -1),
	NUMBER(struct vf_info, "link_state", link_state, .min = -1, .max = INT32_MAX, .absent = -1),
	NAME(struct vf_info, "node_guid", node_guid),
	NAME(struct vf_info, "port_guid", port_guid),
};

static const struct fields vf_fields = FIELDS(vf_rows, struct vf_info, .compare = vf_info_compare);

static const struct field vf_owner_rows[] = {
	NAME(struct vf_owner, "path", path, .flags = FIELD_NEEDED),
	NAME(struct vf_owner, "key", key),
	NAME(struct vf_owner, "pci", pci),
};
static const struct fields vf_owner_fields = FIELDS(vf_owner_rows, struct vf_owner);

static const struct field dcb_rows[] = {
	NUMBER(struct dcb, "ifindex", ifindex, .min = 1, .max = UINT32_MAX, .flags = FIELD_NEEDED),
	NUMBER(struct dcb, "dcbx", dcbx),
	NAME(struct dcb, "pfc", pfc),
	NAME(struct dcb, "ets", ets),
	NAME(struct dcb, "dscp", dscp),
};

static bool is_dcb(void *item)
{
	return qos_is_valid(item);
}

static const struct fields dcb_fields = FIELDS(dcb_rows, struct dcb, .is_valid = is_dcb);

static const struct field pnet_rows[] = {
	NAME(struct pnet, "id", id, .flags = FIELD_NEEDED),
	NAME(struct pnet, "netdev", netdev),
	NAME(struct pnet, "ibdev", ibdev),
	NUMBER(struct pnet, "port", port),
};

/* Is the entry of a netdev, or of a port of an RDMA device, and not of both? */
static bool is_pnet(void *item)
{
	const struct pnet *e = item;
	const bool has_ibdev = e->ibdev[0] != '\0';

	return !e->netdev[0] == has_ibdev && (e->port > 0) == has_ibdev;
}

static const struct fields pnet_fields = FIELDS(pnet_rows, struct pnet, .is_valid = is_pnet);

/* --- who uses what --- */

static const struct field user_rows[] = {
	NAME(struct user, "target", target, .flags = FIELD_NEEDED),
	WORD_FIELD(struct user, "use", use, use_name, _USE_N, .flags = FIELD_NEEDED),
	NUMBER(struct user, "pid", pid),
	NAME(struct user, "command", command),
	NAME(struct user, "container", container),
	NAME(struct user, "detail", detail),
};

static const struct fields user_fields = FIELDS(user_rows, struct user, .compare = user_compare);

static const struct field netns_rows[] = {
	NUMBER(struct netns, "inode", inode, .max = INT64_MAX, .flags = FIELD_NEEDED),
	NAME(struct netns, "name", name),
	FLAG(struct netns, "closed", is_closed, .flags = FIELD_SPARSE),
};
static const struct fields netns_fields = FIELDS(netns_rows, struct netns);

static const struct field memlock_rows[] = {
	NAME(struct memlock, "unit", unit, .flags = FIELD_NEEDED),
	NUMBER(struct memlock, "bytes", bytes, .flags = FIELD_NEEDED | FIELD_NONE),
};
static const struct fields memlock_fields = FIELDS(memlock_rows, struct memlock);

/* --- modules --- */

static const struct field parameter_rows[] = {
	NAME(struct parameter, NULL, name),
	NAME(struct parameter, "type", type, .flags = FIELD_ALONE | FIELD_SPARSE),
};
static const struct fields parameter_fields = FIELDS(parameter_rows, struct parameter);

/* Without a file, the word for the state is all there is; so the first captures have it. */
static const struct field module_rows[] = {
	NAME(struct module, NULL, name),
	WORD_FIELD(struct module, "state", state, module_state_name, _MODULE_STATE_N,
		   .flags = FIELD_NEEDED | FIELD_ALONE),
	NAME(struct module, "path", path, .flags = FIELD_SPARSE),
	FLAG(struct module, "blacklisted", is_blacklisted, .flags = FIELD_SPARSE),
	NAME(struct module, "version", version, .flags = FIELD_SPARSE),
	NAME(struct module, "srcversion", srcversion, .flags = FIELD_SPARSE),
	NAME(struct module, "vermagic", vermagic, .flags = FIELD_SPARSE),
	FLAG(struct module, "intree", is_intree, .flags = FIELD_SPARSE),
	LIST(FIELD_MAP, struct module, "parameters", parameters, parameter_fields,
	     .has = offsetof(struct module, has_info)),
};

static bool complete_module(void *item)
{
	struct module *m = item;

	m->refcnt = UINT32_MAX;
	SORT(m->parameters, m->n_parameters, compare_text);
	return true;
}

static const struct fields module_fields =
	FIELDS(module_rows, struct module, .is_valid = complete_module, .compare = compare_text);

/* --- all of them --- */

static const struct field node_rows[] = {
	WORD_FIELD(struct node, "netns_mode", netns_mode, netns_mode_name, _NETNS_MODE_N,
		   .flags = FIELD_FORGET),
	LIST(FIELD_LIST, struct node, "links", netdevs, link_fields),
	LIST(FIELD_LIST, struct node, "addresses", addresses, address_fields),
	LIST(FIELD_LIST, struct node, "routes", routes, route_fields),
	LIST(FIELD_LIST, struct node, "rules", rules, rule_fields),
	LIST(FIELD_LIST, struct node, "neighbours", neighbours, neighbour_fields),
	LIST(FIELD_LIST, struct node, "lookups", lookups, lookup_fields),
	LIST(FIELD_LIST, struct node, "aways", aways, away_fields, .flags = FIELD_SPARSE),
	LIST(FIELD_LIST, struct node, "destinations", destinations, destination_fields,
	     .flags = FIELD_SPARSE),
	LIST(FIELD_LIST, struct node, "tunnel_ends", tunnel_ends, tunnel_end_fields,
	     .flags = FIELD_SPARSE),
	NAME(struct node, "host_name", host_name, .flags = FIELD_SPARSE),
	LIST(FIELD_LIST, struct node, "hosts", hosts, host_fields, .flags = FIELD_SPARSE),
	LIST(FIELD_LIST, struct node, "socks", socks, sock_fields,
	     .has = offsetof(struct node, has_socks)),
	LIST(FIELD_LIST, struct node, "rdma", ibdevs, ibdev_fields),
	LIST(FIELD_LIST, struct node, "vf_infos", vf_infos, vf_fields),
	LIST(FIELD_LIST, struct node, "vf_owners", vf_owners, vf_owner_fields,
	     .flags = FIELD_SPARSE),
	LIST(FIELD_LIST, struct node, "dcb", dcbs, dcb_fields,
	     .has = offsetof(struct node, has_dcbs)),
	LIST(FIELD_MAP, struct node, "modules", modules, module_fields),
	FLAG(struct node, "copy", is_copy, .flags = FIELD_SPARSE),
	FLAG(struct node, "dkms_building", is_dkms_building, .flags = FIELD_SPARSE),
	/* An empty list and an unknown one differ. */
	LIST(FIELD_LIST, struct node, "users", users, user_fields,
	     .has = offsetof(struct node, has_users)),
	LIST(FIELD_LIST, struct node, "netnses", netnses, netns_fields, .flags = FIELD_SPARSE),
	LIST(FIELD_LIST, struct node, "pnets", pnets, pnet_fields,
	     .has = offsetof(struct node, has_pnets)),
	LIST(FIELD_LIST, struct node, "memlocks", memlocks, memlock_fields,
	     .has = offsetof(struct node, has_memlocks)),
};
static const struct fields node_fields = FIELDS(node_rows, struct node);

/*
 * The functions with facts of devlink, and those with a module for their modalias. Both are copies,
 * of which only the members in the tables below are written.
 */
struct extras {
	struct pci *devlinks, *modaliases; /* owned */
	size_t n_devlinks, n_modaliases;
};

static const struct field devlink_rows[] = {
	NAME(struct pci, "pci", address),
	NAME(struct pci, "health", health),
	NAME(struct pci, "eswitch", eswitch),
	FLAG(struct pci, "silent_vfs", has_silent_vfs, .flags = FIELD_SPARSE),
	FLAG(struct pci, "searched", is_searched, .flags = FIELD_SPARSE),
	FLAG(struct pci, "away", is_away, .flags = FIELD_SPARSE),
	FLAG(struct pci, "adev", has_adev, .flags = FIELD_SPARSE),
	FLAG(struct pci, "adev_bound", is_adev_bound, .flags = FIELD_SPARSE),
};
static const struct fields devlink_fields = FIELDS(devlink_rows, struct pci);

static const struct field modalias_rows[] = {
	NAME(struct pci, NULL, modalias),
	NAME(struct pci, "module", module, .flags = FIELD_ALONE),
};
static const struct fields modalias_fields = FIELDS(modalias_rows, struct pci);

static const struct field extras_rows[] = {
	LIST(FIELD_LIST, struct extras, "devlink", devlinks, devlink_fields),
	LIST(FIELD_MAP, struct extras, "modalias", modaliases, modalias_fields),
};
static const struct fields extras_fields = FIELDS(extras_rows, struct extras);

static void extras_done(struct extras *a)
{
	free(a->devlinks);
	free(a->modaliases);
}

static int collect(const struct node *n, struct extras *ret)
{
	FOREACH(p, n->pcis, n->n_pcis) {
		if ((p->health[0] || p->eswitch[0] || p->has_silent_vfs || p->is_searched ||
		     p->has_adev) &&
		    ADD(ret->devlinks, ret->n_devlinks, *p) < 0)
			return -ENOMEM;
		if (p->module[0] && ADD(ret->modaliases, ret->n_modaliases, *p) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The files of a function may have been left out of the tree. */
static void distribute(const struct extras *a, struct node *n)
{
	for (size_t i = 0; i < a->n_devlinks; i++) {
		struct pci *p = (struct pci *)node_pci(n, a->devlinks[i].address);

		if (!p)
			continue;
		COPY(p->health, a->devlinks[i].health);
		COPY(p->eswitch, a->devlinks[i].eswitch);
		p->has_silent_vfs = a->devlinks[i].has_silent_vfs;
		p->is_searched = a->devlinks[i].is_searched;
		p->is_away = a->devlinks[i].is_away;
		p->has_adev = a->devlinks[i].has_adev;
		p->is_adev_bound = a->devlinks[i].is_adev_bound;
	}
	FOREACH(p, n->pcis, n->n_pcis) {
		const bool is_asked =
			p->modalias[0] && (!p->driver[0] || p->physfn[0] || pci_is_network(p));

		for (size_t k = 0; k < a->n_modaliases && is_asked; k++)
			if (streq(p->modalias, a->modaliases[k].modalias))
				COPY(p->module, a->modaliases[k].module);
	}
}

/* --- the order of what is in a list --- */

#define ORDER "order" /* key of an entry: its place in the list */
#define SHOWN "text"  /* of an entry, while it is sorted; no list has such a key */

static int number_entries(json_t *root)
{
	const char *key;
	json_t *list, *entry;
	size_t i;

	json_object_foreach(root, key, list) {
		json_array_foreach(list, i, entry) {
			if (document_add_number(entry, ORDER, (int64_t)i) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	const int64_t i = document_get_number(x, ORDER), k = document_get_number(y, ORDER);

	return i != k ? (i > k) - (i < k)
		      : strverscmp(document_get_text(x, SHOWN), document_get_text(y, SHOWN));
}

static int note_text(json_t *entry)
{
	_cleanup_(freep) char *text = json_dumps(entry, JSON_COMPACT | JSON_SORT_KEYS);

	return json_object_set_new(entry, SHOWN, json_string(text));
}

/* A list without places, as people write it and older captures have it, has one order as well. */
static json_t *sort_list(json_t *list)
{
	const size_t n = json_array_size(list);
	_cleanup_(freep) json_t **entries = calloc(n + 1, sizeof(*entries));
	json_auto_t *sorted = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *entry = json_array_get(list, i);

		if (!json_is_object(entry)) /* malformed: its place is that of the file */
			return json_incref(list);
		if (!entries || (!json_object_get(entry, ORDER) && note_text(entry) < 0))
			return NULL;
		entries[i] = entry;
	}
	SORT(entries, n, compare_entries);
	for (size_t i = 0; i < n; i++)
		if (json_array_append(sorted, entries[i]) < 0)
			return NULL;
	return TAKE(sorted);
}

/* Other lists are sorted when read; links refer to their namespace by its place in its list. */
static bool is_to_be_sorted(const char *key, const json_t *list)
{
	return !ANY(n, node_rows, ELEMENTSOF(node_rows),
		    streq(n->key, key) && n->of && n->of->compare) &&
	       (json_is_array(list) &&
		(!streq(key, "netnses") || json_object_get(json_array_get(list, 0), ORDER)));
}

static json_t *sort_lists(json_t *root)
{
	json_auto_t *sorted = json_object(); /* json_copy() hides that it had no memory */
	const char *key;
	json_t *list;

	json_object_foreach(root, key, list) {
		list = is_to_be_sorted(key, list) ? sort_list(list) : json_incref(list);
		if (json_object_set_new(sorted, key, list) < 0)
			return NULL;
	}
	return TAKE(sorted);
}

int snapshot_write(const struct node *n, char **ret)
{
	static const char *const net[] = { "addresses", "routes", "rules", "destinations" };
	_cleanup_(extras_done) struct extras a = {};
	json_auto_t *root = fields_pack(&node_fields, n), *rest = NULL;

	if (collect(n, &a) < 0)
		return -ENOMEM;
	rest = fields_pack(&extras_fields, &a);
	/* A part would pass for the whole; its files are in the capture. */
	for (size_t i = 0; i < ELEMENTSOF(net) && n->lacks_net; i++)
		json_object_del(root, net[i]);
	if (!rest || !root || json_object_update(root, rest) < 0 || number_entries(root) < 0 ||
	    document_add_number(root, "schema", 1) < 0)
		return -ENOMEM;
	*ret = json_dumps(root, JSON_INDENT(1));
	return *ret ? 0 : -ENOMEM;
}

/*
 * Older trees note of a rule only that it has more conditions. A rule that leads to no table can
 * only be that of VRFs: fib4_rule_configure() in net/ipv4/fib_rules.c.
 */
static void complete_rules(struct node *n)
{
	FOREACH(rule, n->rules, n->n_rules)
		if (rule->table == RT_TABLE_UNSPEC && rule->action == FR_ACT_TO_TBL) {
			rule->is_l3mdev = true;
			rule->has_more = false;
		}
}

/* Older trees do not have the table of a VRF: the routes of its ports are in it. */
static void complete_vrfs(struct node *n)
{
	FOREACH(t, n->routes, n->n_routes) {
		const struct netdev *nd = node_netdev(n, t->ifindex);
		struct netdev *vrf = (struct netdev *)route_vrf_of(n, nd);

		if (vrf && vrf->vrf_table == 0 && t->table != RT_TABLE_MAIN &&
		    t->table < OWN_TABLE_BASE)
			vrf->vrf_table = t->table;
	}
}

int snapshot_read(const char *text, struct node *n, char *problem, size_t size)
{
	_cleanup_(extras_done) struct extras a = {};
	json_auto_t *root = NULL, *sorted = NULL;
	char place[FIELDS_PLACE_LEN];
	json_error_t error;
	int r = document_parse(text, strlen(text), JSON_REJECT_DUPLICATES, &root, &error);

	if (r == -ENOMEM)
		return r;
	if (!root || !json_is_object(root)) {
		snprintf(problem, size, ANSWERS_PATH ":%d: %s", root ? 1 : error.line,
			 root ? "an object is expected" : error.text);
		return -EINVAL;
	}

	sorted = sort_lists(root);
	if (!sorted)
		return -ENOMEM;
	r = fields_parse(&node_fields, sorted, n, place);
	if (r == -EINVAL) /* the place is that of the file */
		r = fields_parse(&node_fields, root, n, place);
	if (r >= 0)
		r = fields_parse(&extras_fields, root, &a, place);
	if (r == -EINVAL)
		snprintf(problem, size, ANSWERS_PATH ": %s: a value is malformed", place);
	if (r < 0)
		return r;
	n->lacks_net = !json_object_get(root, "addresses");
	node_sort_addresses(n->addresses, n->n_addresses);
	complete_rules(n);
	complete_vrfs(n);
	distribute(&a, n);
	return 0;
}
