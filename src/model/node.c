/* SPDX-License-Identifier: Apache-2.0 */
#include "node.h"

#define CLASS_INFINIBAND 0x0207
#define IPOIB_MAC_CHARS  (20 * 3 - 1)
#define PORT_GUID_CHARS  (8 * 3 - 1)

static void ibdev_done(struct ibdev *d)
{
	for (size_t i = 0; i < d->n_ports; i++)
		free(d->ports[i].gids);
	free(d->ports);
}

void module_done(struct module *m)
{
	free(m->parameters);
	*m = (struct module){};
}

void node_done(struct node *n)
{
	for (size_t i = 0; i < n->n_ibdevs; i++)
		ibdev_done(&n->ibdevs[i]);

	for (size_t i = 0; i < n->n_modules; i++)
		module_done(&n->modules[i]);

	free(n->vf_infos);
	free(n->users);
	free(n->options);
	free(n->netnses);
	free(n->listeners);
	free(n->pcis);
	free(n->netdevs);
	free(n->addresses);
	free(n->routes);
	free(n->rules);
	free(n->neighbours);
	free(n->lookups);
	free(n->ledger);
	free(n->metadatas);
	free(n->ibdevs);
	free(n->pnets);
	free(n->modules);
	free(n->enslaves);
	free(n->plugin_file);
	free(n->manifest_file);
	free(n->plugin_processes);
	free(n->rules_file);
	for (size_t i = 0; i < _OUTPUT_N; i++)
		free(n->outputs[i].text);
	free(n->output_records);
	free(n->memlocks);
	free(n->memories);
	free(n->failures);
	free(n->boots);
	free(n->repeats);
	*n = (struct node){};
}

/* bsearch() wants no NULL, not even of no elements. */
static const void *find(const void *key, const void *array, size_t n, size_t size,
			int (*compare)(const void *key, const void *element))
{
	return n > 0 ? bsearch(key, array, n, size, compare) : NULL;
}

static int compare_pci(const void *key, const void *element)
{
	return strcmp(key, ((const struct pci *)element)->address);
}

static int compare_memory(const void *key, const void *element)
{
	return strcmp(key, ((const struct memory *)element)->pci);
}

static int compare_netdev(const void *key, const void *element)
{
	const uint32_t a = *(const uint32_t *)key, b = ((const struct netdev *)element)->ifindex;

	return (a > b) - (a < b);
}

const struct pci *node_pci(const struct node *n, const char *address)
{
	return find(address, n->pcis, n->n_pcis, sizeof(*n->pcis), compare_pci);
}

const struct vf_info *node_vf_info(const struct node *n, const char *pf, uint32_t index)
{
	for (size_t i = 0; i < n->n_vf_infos; i++)
		if (n->vf_infos[i].index == index && streq(n->vf_infos[i].pf, pf))
			return &n->vf_infos[i];
	return NULL;
}

const char *netconf_name(enum netconf_key k)
{
	static const char *const names[] = {
		[NETCONF_ARP_IGNORE] = "ipv4/arp_ignore",
		[NETCONF_ARP_ANNOUNCE] = "ipv4/arp_announce",
		[NETCONF_RP_FILTER] = "ipv4/rp_filter",
		[NETCONF_DISABLE_IPV6] = "ipv6/disable_ipv6",
		[NETCONF_ACCEPT_RA] = "ipv6/accept_ra",
		[NETCONF_ACCEPT_RA_DEFRTR] = "ipv6/accept_ra_defrtr",
		[NETCONF_AUTOCONF] = "ipv6/autoconf",
		[NETCONF_ADDR_GEN_MODE] = "ipv6/addr_gen_mode",
		[NETCONF_USE_TEMPADDR] = "ipv6/use_tempaddr",
		[NETCONF_RA_DEFRTR_METRIC] = "ipv6/ra_defrtr_metric",
	};
	_Static_assert(ELEMENTSOF(names) == _NETCONF_N, "a name for every key");

	return (unsigned)k < _NETCONF_N ? names[k] : "";
}

bool has_managed_neighbours(const char *kernel)
{
	char *end;
	unsigned long major = strtoul(kernel, &end, 10);
	unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

	return major > 5 || (major == 5 && minor >= 16);
}

const struct ledger_entry *node_entry(const struct node *n, const char *verb, const char *target,
				      uint32_t ifindex, const char *subject)
{
	for (size_t i = n->n_ledger; i > 0; i--) {
		const struct ledger_entry *e = &n->ledger[i - 1];

		if (streq(e->verb, verb) && e->ifindex == ifindex &&
		    (ifindex > 0 || streq(e->target, target)) && streq(e->subject, subject))
			return e;
	}
	return NULL;
}

/* Few enough for a look at each. */
const struct metadata *node_metadata(const struct node *n, const char *mac)
{
	for (size_t i = 0; i < n->n_metadatas; i++)
		if (streq(n->metadatas[i].mac, mac))
			return &n->metadatas[i];
	return NULL;
}

const struct user *node_user(const struct node *n, const char *target, size_t *i)
{
	for (; *i < n->n_users; ++*i)
		if (streq(n->users[*i].target, target))
			return &n->users[(*i)++];
	return NULL;
}

const char *use_name(enum use u)
{
	static const char *const names[] = {
		[USE_CONTEXT] = "open-context",
		[USE_QP] = "qp",
		[USE_CM_ID] = "cm-id",
		[USE_KERNEL] = "kernel-user",
		[USE_NETDEV_NETNS] = "netdev-in-netns",
		[USE_IBDEV_NETNS] = "ibdev-in-netns",
		[USE_VFIO] = "vfio",
		[USE_KVM] = "kvm",
		[USE_MASTER] = "enslaved",
		[USE_UPPER] = "upper-netdev",
		[USE_MODULE] = "module",
		[USE_UNKNOWN] = "unknown",
	};
	_Static_assert(ELEMENTSOF(names) == _USE_N, "a name for every use");

	return (size_t)u < ELEMENTSOF(names) ? names[u] : "";
}

const struct parameter *module_parameter(const struct module *m, const char *name)
{
	for (size_t i = 0; m && i < m->n_parameters; i++)
		if (streq(m->parameters[i].name, name))
			return &m->parameters[i];
	return NULL;
}

bool node_forbids(const struct node *n, const char *module)
{
	const size_t len = strlen(module);

	for (const char *name = n->cmdline_blacklist; *name;) {
		size_t size = strcspn(name, ",");

		if (size == len && strncmp(name, module, len) == 0)
			return true;
		name += size;
		name += *name == ',';
	}
	return false;
}

bool is_built_for(const struct module *m, const char *release)
{
	const size_t n = strlen(release);

	if (!m->vermagic[0] || n == 0 ||
	    (is_prefix(m->vermagic, release) && (m->vermagic[n] == ' ' || !m->vermagic[n])))
		return true;
	return strstr(m->vermagic, " modversions") && m->srcversion[0] &&
	       streq(m->srcversion, m->loaded_srcversion);
}

const struct memory *node_memory(const struct node *n, const char *pci)
{
	return find(pci, n->memories, n->n_memories, sizeof(*n->memories), compare_memory);
}

const struct netdev *node_netdev(const struct node *n, uint32_t ifindex)
{
	return find(&ifindex, n->netdevs, n->n_netdevs, sizeof(*n->netdevs), compare_netdev);
}

/* "pf0vf3", "c1pf0", "pf0sf88"; the port itself is "p0". */
static bool is_representor(const struct netdev *nd)
{
	const char *name = nd->port_name;

	if (*name == 'c')
		name += 1 + strspn(name + 1, "0123456789");
	return is_prefix(name, "pf") && name[2] >= '0' && name[2] <= '9';
}

const struct netdev *node_netdev_of(const struct node *n, const char *pci)
{
	const struct netdev *first = NULL;

	if (is_empty(pci)) /* or every virtual one would be of it */
		return NULL;

	for (size_t i = 0; i < n->n_netdevs; i++) {
		const struct netdev *nd = &n->netdevs[i];

		if (!streq(nd->pci, pci) || is_representor(nd))
			continue;
		if (nd->perm_mac[0])
			return nd;
		if (!first)
			first = nd;
	}

	return first;
}

const struct netdev *node_netdev_named(const struct node *n, const char *name)
{
	if (is_empty(name))
		return NULL;

	for (size_t i = 0; i < n->n_netdevs; i++)
		if (streq(n->netdevs[i].name, name))
			return &n->netdevs[i];

	return NULL;
}

/* A virtual one (rxe) has no function of its own: it is where its netdev is. */
static bool is_of(const struct node *n, const struct ibdev *d, const char *pci)
{
	const struct netdev *netdev;

	if (*d->pci)
		return streq(d->pci, pci);

	netdev = node_netdev_named(n, d->netdev);
	return netdev && streq(netdev->pci, pci);
}

const struct ibdev *node_ibdev_of(const struct node *n, const char *pci)
{
	const struct ibdev *virtual = NULL;

	if (is_empty(pci))
		return NULL;

	for (size_t i = 0; i < n->n_ibdevs; i++) {
		if (!is_of(n, &n->ibdevs[i], pci))
			continue;
		if (*n->ibdevs[i].pci) /* the hardware's own goes first */
			return &n->ibdevs[i];
		if (!virtual)
			virtual = &n->ibdevs[i];
	}

	return virtual;
}

const struct ibdev *node_ibdev_named(const struct node *n, const char *name)
{
	for (size_t i = 0; i < n->n_ibdevs; i++)
		if (streq(n->ibdevs[i].name, name))
			return &n->ibdevs[i];
	return NULL;
}

/* libkmod and modprobe take both, the kernel shows '_' only. */
static bool is_same_module(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
			return false;

	return *a == *b;
}

const struct module *node_module(const struct node *n, const char *name)
{
	for (size_t i = 0; i < n->n_modules; i++)
		if (is_same_module(n->modules[i].name, name))
			return &n->modules[i];

	return NULL;
}

const struct pci *node_vf(const struct node *n, const char *physfn, uint32_t vf_index)
{
	if (is_empty(physfn))
		return NULL;

	for (size_t i = 0; i < n->n_pcis; i++)
		if (streq(n->pcis[i].physfn, physfn) && n->pcis[i].vf_index == vf_index)
			return &n->pcis[i];

	return NULL;
}

bool node_is_infiniband(const struct node *n, const struct pci *pf)
{
	const struct netdev *nd = node_netdev_of(n, pf->address);

	return pf->class >> 8 == CLASS_INFINIBAND || (nd && strlen(nd->mac) == IPOIB_MAC_CHARS);
}

/* "b8ce:f603:0041:0000" of "00:00:11:07:fe:80:...:b8:ce:f6:03:00:41:00:00" */
void ipoib_guid(const char *mac, char ret[static MAC_LEN])
{
	const char *at = mac + IPOIB_MAC_CHARS - PORT_GUID_CHARS;

	ret[0] = '\0';
	if (strlen(mac) == IPOIB_MAC_CHARS)
		snprintf(ret, MAC_LEN, "%.2s%.2s:%.2s%.2s:%.2s%.2s:%.2s%.2s", at, at + 3, at + 6,
			 at + 9, at + 12, at + 15, at + 18, at + 21);
}

void node_card(const struct node *n, const struct pci *pci, char ret[static MAC_LEN])
{
	const char *address = pci->physfn[0] ? pci->physfn : pci->address;
	const struct netdev *nd = node_netdev_of(n, address);
	const struct ibdev *ib = node_ibdev_of(n, address);
	const struct pci *pf = node_pci(n, address);

	if (!pf || !node_is_infiniband(n, pf))
		copy(ret, MAC_LEN, nd ? nd->perm_mac : "");
	else if (ib && ib->node_guid[0] && !is_zero_guid(ib->node_guid))
		copy(ret, MAC_LEN, ib->node_guid);
	else
		ipoib_guid(nd ? nd->perm_mac : "", ret);
}

static bool is_replaced(const struct node *n, const struct memory *m)
{
	const struct pci *pci = node_pci(n, m->pci);
	char card[MAC_LEN] = "";

	if (pci)
		node_card(n, pci, card);
	return m->card[0] && card[0] && !streq(m->card, card);
}

void node_forget_replaced(struct node *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->n_memories; i++)
		if (!is_replaced(n, &n->memories[i]))
			n->memories[kept++] = n->memories[i];
	n->n_memories = kept;
}

bool is_zero_guid(const char *guid)
{
	return guid[0] && strspn(guid, "0:") == strlen(guid);
}
