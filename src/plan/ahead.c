/* SPDX-License-Identifier: Apache-2.0 */
#include "ahead.h"

#include "plan-make.h"

#include <linux/if_link.h>

#define ROUNDS_MAX       8    /* identity, driver, link, and some to spare */
#define VFS_MAX          1024 /* to be made: the work grows with their square */
#define ETHERNET_MTU     1500 /* of a new netdev: ether_setup() in net/ethernet/eth.c */
#define CLASS_INFINIBAND 0x0207

/* The facts as they will be: pcis, netdevs and vf_infos are its own, all else is the node's. */
struct ahead {
	struct node node;
	uint32_t n_made; /* VFs and netdevs, for their names */
	uint32_t n_vfs;
};

/* Those of before do not fit an array that has grown. */
static void drop_indexes(struct node *n)
{
	for (size_t i = 0; i < ELEMENTSOF(n->indexes); i++)
		free(n->indexes[i].order);
	memset(n->indexes, 0, sizeof(n->indexes));
}

static void ahead_done(struct ahead *w)
{
	free(w->node.pcis);
	free(w->node.netdevs);
	free(w->node.vf_infos);
	drop_indexes(&w->node);
}

/* With room for a power of two, as APPEND() has it. */
static void *duplicate(const void *array, size_t n, size_t size)
{
	size_t room = 1;
	void *to;

	while (room < n)
		room *= 2;
	to = reallocarray(NULL, room, size);
	return to && n > 0 ? memcpy(to, array, n * size) : to;
}

static int ahead_make(const struct node *n, struct ahead *w)
{
	struct node *m = &w->node;

	*m = *n;
	memset(m->indexes, 0, sizeof(m->indexes));
	m->pcis = duplicate(n->pcis, n->n_pcis, sizeof(*n->pcis));
	m->netdevs = duplicate(n->netdevs, n->n_netdevs, sizeof(*n->netdevs));
	m->vf_infos = duplicate(n->vf_infos, n->n_vf_infos, sizeof(*n->vf_infos));
	return m->pcis && m->netdevs && m->vf_infos ? 0 : -ENOMEM;
}

/* --- what a change makes of the facts --- */

static struct netdev *add_netdev(struct ahead *w, const char *pci)
{
	struct netdev *nd = APPEND(w->node.netdevs, w->node.n_netdevs);

	if (!nd)
		return NULL;
	nd->ifindex = w->node.n_netdevs > 1 ? nd[-1].ifindex + 1 : 1;
	snprintf(nd->name, sizeof(nd->name), "~%u", w->n_made++);
	COPY(nd->pci, pci);
	return nd;
}

/* VFs of InfiniBand get their GUIDs through the IPoIB netdev of their PF. */
static int load_ipoib(struct ahead *w)
{
	for (size_t i = 0; i < w->node.n_pcis; i++) {
		const struct pci *pf = &w->node.pcis[i];

		if (pf->class >> 8 == CLASS_INFINIBAND && !pf->physfn[0] && pf->driver[0] &&
		    !node_netdev_of(&w->node, pf->address) && !add_netdev(w, pf->address))
			return -ENOMEM;
	}
	return 0;
}

/* What a VF has when its driver is bound, after its PF: a netdev that is down. */
static int bind_vf(struct ahead *w, struct pci *vf)
{
	const struct netdev *like = node_netdev_of(&w->node, vf->physfn);
	const struct vf_info *info = node_vf_info(&w->node, vf->physfn, vf->vf_index);
	struct netdev *nd, pf = like ? *like : (struct netdev){}; /* the array moves */

	if (!vf->driver[0])
		COPY(vf->driver, vf->module);
	if (!like)
		return 0;
	nd = add_netdev(w, vf->address);
	if (!nd)
		return -ENOMEM;
	COPY(nd->mac, info ? info->mac : "");
	nd->conf = pf.conf;
	nd->max_mtu = pf.max_mtu;
	nd->mtu = vf->class >> 8 == CLASS_INFINIBAND ? pf.mtu : ETHERNET_MTU;
	return 0;
}

/* No PCI address is like its name. Its module is that of its PF: good enough for "loaded". */
static int add_vf(struct ahead *w, const struct pci *pf, uint32_t index)
{
	struct pci *vf = APPEND(w->node.pcis, w->node.n_pcis);
	struct vf_info *info = APPEND(w->node.vf_infos, w->node.n_vf_infos);

	if (!vf || !info)
		return -ENOMEM;
	snprintf(vf->address, sizeof(vf->address), "~%u", w->n_made++);
	vf->class = pf->class;
	vf->vf_index = index;
	COPY(vf->module, pf->driver);
	COPY(vf->physfn, pf->address);

	COPY(info->pf, pf->address);
	info->index = index;
	COPY(info->mac, "00:00:00:00:00:00");
	if (pf->class >> 8 == CLASS_INFINIBAND) {
		info->link_state = IFLA_VF_LINK_STATE_DISABLE;
		COPY(info->node_guid, "0000:0000:0000:0000");
		COPY(info->port_guid, "0000:0000:0000:0000");
	}
	return 0;
}

/* What is left of them is no NIC. */
static void remove_vfs(struct node *n, const char *pf)
{
	for (size_t i = 0; i < n->n_vf_infos; i++)
		if (streq(n->vf_infos[i].pf, pf))
			n->vf_infos[i].pf[0] = '\0';
	for (size_t i = 0; i < n->n_pcis; i++)
		if (streq(n->pcis[i].physfn, pf)) {
			n->pcis[i].physfn[0] = '\0';
			n->pcis[i].class = 0;
		}
}

static int set_num_vfs(struct ahead *w, struct pci *made, const struct action *a)
{
	struct node *n = &w->node;
	struct pci pf;
	int r = 0;

	remove_vfs(n, made->address);
	made->num_vfs = (uint32_t)MIN(a->number.to.n, (int64_t)made->total_vfs);
	pf = *made; /* the array moves */
	for (uint32_t i = 0; i < pf.num_vfs && r >= 0; i++)
		r = w->n_vfs++ < VFS_MAX ? add_vf(w, &pf, i) : -E2BIG;
	if (r < 0)
		return r;
	qsort(n->pcis, n->n_pcis, sizeof(*n->pcis), pci_compare);
	qsort(n->vf_infos, n->n_vf_infos, sizeof(*n->vf_infos), vf_info_compare);
	for (size_t i = 0; i < n->n_pcis && r >= 0 && (pf.autoprobe || !pf.has_autoprobe); i++)
		if (streq(n->pcis[i].physfn, pf.address))
			r = bind_vf(w, &n->pcis[i]);
	return r;
}

/* GIDs of its RDMA device go on to name the netdev, which gets the old name. */
static int rebind_vf(struct ahead *w, struct pci *vf)
{
	struct netdev *nd = (struct netdev *)node_netdev_of(&w->node, vf->address);
	char name[sizeof(nd->name)] = "";
	int r;

	if (nd) {
		COPY(name, nd->name);
		nd->name[0] = nd->pci[0] = '\0';
	}
	r = bind_vf(w, vf);
	nd = (struct netdev *)node_netdev_of(&w->node, vf->address);
	if (nd && name[0])
		COPY(nd->name, name);
	return r;
}

static int change_function(struct ahead *w, struct pci *pci, const struct action *a)
{
	struct vf_info *v = (struct vf_info *)node_vf_info(&w->node, pci->physfn, pci->vf_index);

	if (a->verb == VERB_SET_NUM_VFS)
		return a->number.to.is_meant ? set_num_vfs(w, pci, a) : 0;
	if (a->verb == VERB_BIND_DRIVER)
		return bind_vf(w, pci);
	if (a->verb == VERB_REBIND_DRIVER)
		return rebind_vf(w, pci);
	if (a->verb == VERB_SET_AUTOPROBE) {
		pci->autoprobe = action_is_to(a, 1);
		pci->is_switched = pci->is_recorded = !pci->autoprobe;
	}
	if (v && a->verb == VERB_SET_VF_MAC)
		COPY(v->mac, a->text.to);
	if (v && a->verb == VERB_SET_VF_GUID) {
		COPY(v->node_guid, a->guid.node);
		COPY(v->port_guid, a->guid.port);
	}
	if (v && a->verb == VERB_SET_VF_TRUST)
		v->trust = (int)a->number.to.n;
	if (v && a->verb == VERB_SET_VF_LINK)
		v->link_state = IFLA_VF_LINK_STATE_AUTO;
	return 0;
}

static void change_netdev(struct netdev *nd, const struct action *a)
{
	if (a->verb == VERB_SET_LINK_UP)
		nd->is_up = nd->has_carrier = true;
	if (a->verb == VERB_SET_MTU)
		nd->mtu = (uint32_t)a->number.to.n;
	for (enum netconf_key k = 0; a->verb == VERB_SET_SYSCTL && k < _NETCONF_N; k++)
		if (streq(netconf_name(k), a->subject))
			nd->conf.values[k] = (int32_t)a->number.to.n;
}

/* Of all other verbs nothing follows that is known before: their changes stay in each plan. */
static int change_all(struct ahead *w, const struct plan *p)
{
	int r = 0;

	drop_indexes(&w->node);
	for (size_t i = 0; i < p->n_actions && r >= 0; i++) {
		const struct action *a = &p->actions[i];
		struct pci *pci = (struct pci *)node_pci(&w->node, a->target);
		struct netdev *nd = (struct netdev *)node_netdev(&w->node, a->ifindex);

		if (action_is_open(a) && a->verb == VERB_LOAD_MODULE &&
		    streq(a->target, IPOIB_MODULE))
			r = load_ipoib(w);
		else if (action_is_open(a) && nd)
			change_netdev(nd, a);
		else if (action_is_open(a) && pci)
			r = change_function(w, pci, a);
	}
	return r < 0 ? r : node_make_indexes(&w->node);
}

/* --- rounds --- */

static bool is_in(const struct plan *p, const struct action *a)
{
	const struct action *b = NULL;

	while ((b = plan_next(p, a->target, b)))
		if (action_is_open(b) && action_is_same_change(b, a))
			return true;
	return false;
}

/* The same of the VF before it, in this round? */
static bool is_next_vf(const struct later *last, const struct action *a, const struct pci *vf)
{
	return last->last_vf + 1 == vf->vf_index && last->action.verb == a->verb &&
	       streq(last->action.target, vf->physfn) && streq(last->action.subject, a->subject) &&
	       action_is_same_step(&last->action, a);
}

static int add_later(const struct ahead *w, const struct action *a, size_t first, struct plan *p)
{
	const struct pci *vf = *a->target == '~' ? node_pci(&w->node, a->target) : NULL;
	struct later later = { .action = *a, .first_vf = -1, .last_vf = -1 }, *added;

	if (vf && a->verb == VERB_BIND_DRIVER)
		later.action.text.to[0] = '\0'; /* it may be another one than its PF has */
	for (size_t i = first; vf && i < p->n_later; i++)
		if (is_next_vf(&p->later[i], &later.action, vf)) {
			p->later[i].last_vf++;
			return 0;
		}
	if (vf) {
		COPY(later.action.target, vf->physfn);
		later.first_vf = later.last_vf = vf->vf_index;
	}
	added = APPEND(p->later, p->n_later);
	if (!added)
		return -ENOMEM;
	*added = later;
	return 0;
}

/* What the plan before it did not have. Return: 1 when there is any, 0 or -ENOMEM. */
static int add_round(const struct ahead *w, const struct plan *before, const struct plan *next,
		     struct plan *p)
{
	const size_t first = p->n_later;

	for (size_t i = 0; i < next->n_actions; i++)
		if (action_is_open(&next->actions[i]) && !is_in(before, &next->actions[i]) &&
		    add_later(w, &next->actions[i], first, p) < 0)
			return -ENOMEM;
	return p->n_later > first;
}

/* Does the plugin get anything in the end? */
static bool has_device(const struct plan *last)
{
	for (size_t i = 0; i < last->n_devices; i++)
		if (last->devices[i].is_handed_out && !last->devices[i].is_missing)
			return true;
	return false;
}

/* The files for others, which wait for all else. */
static int add_files(const struct ahead *w, struct plan *p)
{
	int r = 0;

	for (size_t i = 0; i < p->n_actions && r >= 0; i++) {
		const struct action *a = &p->actions[i];

		if (a->class == CLASS_WAITING && verb_is_file_for_others(a->verb) &&
		    (a->reason == REASON_NOT_READY || a->reason == REASON_OUTPUT_LAST))
			r = add_later(w, a, p->n_later, p);
	}
	return r;
}

int plan_ahead(const struct config *c, const struct node *n, const struct memory *memory,
	       struct plan *p)
{
	_cleanup_(plan_done) struct plan before = {}, next = {};
	_cleanup_(ahead_done) struct ahead w = {};
	int r;

	if (!plan_has_needed_changes(p))
		return 0;
	r = ahead_make(n, &w);
	if (r >= 0)
		r = change_all(&w, p);
	for (int i = 0; r >= 0 && i < ROUNDS_MAX; i++) {
		plan_done(&before);
		before = TAKE_STRUCT(next);
		r = plan_make(c, &w.node, memory, false, &next);
		if (r >= 0)
			r = add_round(&w, i == 0 ? p : &before, &next, p);
		if (r <= 0)
			break;
		r = change_all(&w, &next);
	}
	if (r >= 0 && has_device(&next))
		r = add_files(&w, p);
	if (r == -E2BIG)
		p->n_later = 0;
	return r == -E2BIG ? 0 : r;
}
