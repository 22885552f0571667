/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VF setup: identity, trust, link state and driver of VFs that exist. How many there are is decided
 * in vf-plan.c, which MAC or GUIDs a VF gets in step/identity-rules.c; steps.h describes the
 * rounds.
 */
#include "../device/judge-rules.h"
#include "../guard/in-use-plan.h"
#include "../guard/vf-precheck-rules.h"
#include "../model/module-options.h"
#include "../model/vf-facts.h"
#include "../step/identity-rules.h"
#include "../step/steps.h"

#include <linux/if_link.h>

/* A VF of ours, with what the driver of its PF reports of it. */
struct vf {
	const struct graph *graph; /* of the plan */
	const struct device *pf, *device;
	const struct vf_info *info; /* NULL: nothing is known */
	const char *seed;           /* of its identity; "": none */
};

/* After a write that never came back, or a bind that is a bad sign, nothing more is written to that
 * card; others have locks of their own. */
static bool is_held(const struct memory *memory, const struct device *pf)
{
	return streq(memory->stuck, pf->pci->address) || pf->sick[0];
}

/* --- settings --- */

static struct action *add_setting(struct plan *p, const struct vf *v, enum verb verb)
{
	struct action *a = plan_add(p, verb, v->device->pci->address);

	a->detail = plan_text(p, "VF %" PRIu32 " of %s", v->info->index, v->info->pf);
	return a;
}

/* Is the VF bound, not used by a pod since, and without a user now? */
static bool is_idle(const struct memory *memory, const struct vf *v)
{
	const struct device *d = v->device;
	const struct device_memory *m = memory_device(memory, d->pci->address);
	char users[64];

	return d->pci->driver[0] && !d->is_in_pod &&
	       !(m && m->was_usable && !judge_is_bound_again(d->pci, m)) &&
	       !in_use_of_function(v->graph, memory, d->pci, users, sizeof(users));
}

/* A VF reads its MAC or GUID when it is bound, so it is bound a second time: once in a boot. */
static bool can_rebuild(const struct memory *memory, const struct vf *v)
{
	return !v->device->is_rebuilt && !is_held(memory, v->pf) &&
	       !vf_precheck_has_autoprobe_off(v->pf->pci) && is_idle(memory, v);
}

static bool can_get_identity(const struct memory *memory, const struct vf *v)
{
	return v->pf->config->identity == IDENTITY_DERIVED && v->seed[0] &&
	       (!v->device->pci->driver[0] || can_rebuild(memory, v));
}

/*
 * A VF that was bound before its PF got a MAC for it takes that when it is brought up, and its
 * driver goes on to flag it as random: igbvf_reset(). So this is decided before we bring it up, and
 * not again after that.
 */
static bool was_brought_up(const struct plan *p, const struct device *d)
{
	return attempts_find_begun(p->tried, VERB_SET_LINK_UP, d->pci->address, "");
}

static void want_mac(const struct node *n, const struct memory *memory, struct plan *p,
		     const struct vf *v)
{
	struct action *a;
	char mac[24];

	if (node_is_infiniband(n, v->pf->pci) || v->pf->unsupported & VF_SETTING_MAC ||
	    !identity_is_unset_mac(n, v->device->pci, v->info) || was_brought_up(p, v->device) ||
	    !can_get_identity(memory, v))
		return;

	identity_mac(n, p, v->seed, v->device->pci, mac, sizeof(mac));
	if (streq(mac, v->info->mac))
		return;
	a = add_setting(p, v, VERB_SET_VF_MAC);
	COPY(a->text.from, v->info->mac);
	COPY(a->text.to, mac);
	identity_give(p, v->device->pci, mac);
}

static void want_guids(const struct node *n, const struct memory *memory, struct plan *p,
		       const struct vf *v)
{
	char node[GUID_LEN], port[GUID_LEN];
	struct action *a;

	if (!node_is_infiniband(n, v->pf->pci) || v->pf->unsupported & VF_SETTING_GUID ||
	    !identity_is_unset_guid(n, v->device->pci, v->info) || !can_get_identity(memory, v))
		return;

	identity_guids(n, p, v->seed, v->device->pci, v->info, node, port);
	a = add_setting(p, v, VERB_SET_VF_GUID);
	PRINT(a->text.to, "%s %s", node, port);
	identity_give(p, v->device->pci, node);
	identity_give(p, v->device->pci, port);
}

/* Some drivers reset a VF to set trust: i40e_ndo_set_vf_trust(). So not while a process uses it. */
static void want_trust(const struct node *n _unused_, const struct memory *memory, struct plan *p,
		       const struct vf *v)
{
	const int want = v->pf->config->trust == TRUST_ON;
	struct action *a;
	char users[192];

	if (v->pf->config->trust == TRUST_KEEP || v->pf->unsupported & VF_SETTING_TRUST ||
	    v->info->trust < 0 || v->info->trust == want)
		return;

	a = add_setting(p, v, VERB_SET_VF_TRUST);
	action_set_numbers(a, v->info->trust, want);
	if (!v->device->pci->driver[0] ||
	    !in_use_of_function(&p->graph, memory, v->device->pci, users, sizeof(users)))
		return;
	a->class = CLASS_NEEDS_REBOOT;
	a->reason = REASON_VF_IN_USE;
	a->detail = action_text(&p->texts, users);
}

/*
 * IFLA_VF_LINK_STATE_AUTO is 0. The link state of a VF that is bound is an administrator's choice
 * on Ethernet; on InfiniBand "disable" is how mlx5 makes each VF: mlx_to_net_policy() in
 * drivers/infiniband/hw/mlx5/ib_virt.c.
 */
static void want_link_auto(const struct node *n, const struct memory *memory, struct plan *p,
			   const struct vf *v)
{
	const bool is_as_made = node_is_infiniband(n, v->pf->pci) &&
				v->info->link_state == IFLA_VF_LINK_STATE_DISABLE;
	struct action *a;

	if (v->info->link_state <= IFLA_VF_LINK_STATE_AUTO ||
	    v->pf->unsupported & VF_SETTING_LINK ||
	    (v->device->pci->driver[0] && !(is_as_made && is_idle(memory, v))))
		return;
	a = add_setting(p, v, VERB_SET_VF_LINK);
	COPY(a->text.to, "auto");
}

static void want_settings(const struct node *n, const struct memory *memory, struct plan *p,
			  const struct vf *v)
{
	/* The settings go over the network device of the PF. */
	if (!v->info || !v->pf->netdev || is_held(memory, v->pf))
		return;

	want_mac(n, memory, p, v);
	want_guids(n, memory, p, v);
	want_trust(n, memory, p, v);
	want_link_auto(n, memory, p, v);
}

/* --- autoprobe --- */

/* A crash may come between the record and the switch, or between the switch and the record. */
static void restore_autoprobe(const struct node *n, const struct memory *memory, struct plan *p)
{
	FOREACH(pf, n->pcis, n->n_pcis) {
		struct action *a;

		if (!pf->is_recorded || vf_precheck_has_autoprobe_off(pf) || pf->is_busy ||
		    streq(memory->stuck, pf->address) || plan_is_making_vfs(p, pf->address))
			continue;
		a = plan_add(p, VERB_SET_AUTOPROBE, pf->address);
		action_set_numbers(a, pf->autoprobe, 1);
		a->detail = pf->autoprobe ? "only our record of it is left" : "";
	}
}

/* --- drivers --- */

/* Does this plan load @module, before anything is bound? */
static bool is_loading(const struct plan *p, const char *module)
{
	const struct action *a = NULL;

	while ((a = plan_next(p, module, a)))
		if (a->verb == VERB_LOAD_MODULE && a->class == CLASS_CHANGE)
			return !attempts_find_begun(p->tried, VERB_LOAD_MODULE, module, "");
	return false;
}

static bool is_loaded(const struct plan *p, const struct module *m, const struct pci *pf)
{
	if (module_is_in_kernel(m))
		return true;
	/* Loading it binds all there is, unless autoprobe is off at that time. */
	return m && m->state == MODULE_AVAILABLE && !pf->autoprobe && pf->is_switched &&
	       is_loading(p, m->name);
}

/*
 * A loaded driver binds by itself, unless the VF was made with sriov_drivers_autoprobe off or was
 * unbound since. Only VFs of ours are bound; an unbound PF is left as it is.
 */
static void want_binding(const struct node *n, const struct memory *memory, struct plan *p,
			 const struct vf *v)
{
	const struct pci *pf = v->pf->pci, *vf = v->device->pci;
	struct action *a;

	/* On a held card only the bind that failed stays in the plan, to be reported. */
	if (is_held(memory, v->pf) &&
	    !attempts_find_begun(p->tried, VERB_BIND_DRIVER, vf->address, vf->module))
		return;
	if (vf->driver[0] || !vf->module[0] || vf_precheck_has_autoprobe_off(pf) ||
	    !is_loaded(p, node_module(n, vf->module), pf))
		return;
	/* The next look finds the IPoIB netdev through which the VF gets its GUIDs first. */
	if (identity_lacks_ipoib(n, v->pf) && is_loading(p, IPOIB_MODULE))
		return;
	/* Without autoprobe no VF can be bound. */
	if (pf->is_switched && !pf->autoprobe &&
	    attempts_find_ended(p->tried, VERB_SET_AUTOPROBE, pf->address, 1))
		return;

	a = plan_add(p, VERB_BIND_DRIVER, vf->address);
	COPY(a->text.to, vf->module);
}

static bool gets_identity(const struct plan *p, const struct pci *vf)
{
	const struct action *a = NULL;
	char to[SHOWN_LEN];

	while ((a = plan_next(p, vf->address, a)))
		if ((a->verb == VERB_SET_VF_MAC || a->verb == VERB_SET_VF_GUID) &&
		    !attempts_find_begun(p->tried, a->verb, a->target, action_to(a, to)))
			return true;
	return false;
}

/* Has the PF what the VF's driver would read on a second try? */
static bool has_identity(const struct node *n, const struct vf *v)
{
	if (!v->info)
		return false;
	return node_is_infiniband(n, v->pf->pci)
		       ? !identity_is_unset_guid(n, v->device->pci, v->info)
		       : !identity_is_unset_mac(n, v->device->pci, v->info);
}

static bool is_wrong(const struct node *n, const struct plan *p, const struct vf *v)
{
	const struct device *d = v->device;
	char detail[192];

	if (d->ibdev && guid_is_unset(d->ibdev->node_guid) && has_identity(n, v))
		return true;
	/* The plan that set the MAC wants the rebind; a look right before has to want it still. A
	 * driver that was bound before the PF had a MAC for the VF, or while the PF was down, made
	 * one up, and makes up another one until the PF is up: igbvf_probe(). */
	return d->reason == REASON_VF_IDENTITY ||
	       (d->reason == REASON_NO_IBDEV && d->netdev && d->netdev->is_random_mac &&
		v->pf->netdev && v->pf->netdev->is_up &&
		identity_is_other(n, p, d->pci, d->netdev, d->ibdev, detail, sizeof(detail)));
}

/* Have two looks, SettleSec= apart, not seen the netdev of a VF that is without a user? */
static bool is_left_orphan(const struct memory *memory, const struct vf *v)
{
	const struct device *d = v->device;
	char users[64];

	return d->reason == REASON_VF_ORPHAN && !d->is_lost && !is_held(memory, v->pf) &&
	       !vf_precheck_has_autoprobe_off(v->pf->pci) &&
	       !in_use_of_function(v->graph, memory, d->pci, users, sizeof(users));
}

static void want_rebuild(const struct node *n, const struct memory *memory, struct plan *p,
			 const struct vf *v)
{
	const struct device *d = v->device;
	const bool is_wanted = v->pf->config->identity == IDENTITY_DERIVED &&
			       (is_wrong(n, p, v) || gets_identity(p, d->pci)) &&
			       can_rebuild(memory, v);
	struct action *a;

	if (!d->pci->driver[0] || (!is_wanted && !is_left_orphan(memory, v)))
		return;

	a = plan_add(p, VERB_REBIND_DRIVER, d->pci->address);
	COPY(a->text.to, d->pci->driver);
}

/* --- all of it --- */

static void for_each_vf(const struct node *n, const struct memory *memory, struct plan *p,
			void (*want)(const struct node *n, const struct memory *memory,
				     struct plan *p, const struct vf *v))
{
	const struct device *pf = NULL;
	char seed[MAC_LEN] = "";

	FOREACH(d, p->devices, p->n_devices) {
		struct vf v;

		if (!d->is_vf) {
			pf = d;
			identity_seed(n, d->pci, seed);
			continue;
		}
		/* VFs of others, and what this plan or the next boot removes, are left alone. While
		 * a write to the PF goes on nothing is known of its VFs. */
		if (!pf || pf->pci->is_busy || !d->is_handed_out || d->need ||
		    pf->config->mode == VF_MODE_EXCLUSIVE ||
		    plan_is_making_vfs(p, pf->pci->address) || vf_precheck_is_container(n, pf->pci))
			continue;
		v = (struct vf){ &p->graph, pf, d,
				 node_vf_info(n, pf->pci->address, d->pci->vf_index), seed };
		want(n, memory, p, &v);
	}
}

static void hint_foreign(struct plan *p, const struct device *pf)
{
	char detail[192] = "";

	FOREACH(d, p->devices, p->n_devices) {
		if (!d->is_foreign || !streq(d->pci->physfn, pf->pci->address))
			continue;
		in_use_append(detail, sizeof(detail), "%s: %s", d->pci->address, d->detail);
	}
	if (detail[0])
		plan_add_hint(p, REASON_VF_FOREIGN, pf->pci->address, "%s", detail);
}

static void hint_pf(const struct node *n, struct plan *p, const struct device *pf)
{
	const struct device_config *dc = pf->config;
	const struct vf_info *v = node_vf_info(n, pf->pci->address, 0);
	bool has_trust = !(pf->unsupported & VF_SETTING_TRUST) && !(v && v->trust < 0);
	char detail[64] = "", seed[MAC_LEN];

	if (vf_precheck_has_autoprobe_off(pf->pci))
		plan_add_hint(p, REASON_AUTOPROBE_OFF, pf->pci->address, NULL);
	hint_foreign(p, pf);
	if (dc->identity == IDENTITY_DERIVED && v && !identity_seed(n, pf->pci, seed) && seed[0])
		plan_add_hint(p, REASON_IDENTITY_UNSTABLE, pf->pci->address, "%s",
			      pf->netdev ? pf->netdev->name : "");

	if (plan_refuses_settings(n, pf) &&
	    (dc->identity == IDENTITY_DERIVED || dc->trust != TRUST_KEEP))
		plan_add_hint(p, REASON_VF_SETTING_UNSUPPORTED, pf->pci->address,
			      "its card refuses what the host sets of VFs, as in DPU mode");
	if (dc->trust != TRUST_KEEP && !has_trust)
		COPY(detail, "Trust=");
	if (dc->mtu && pf->unsupported & VF_SETTING_MTU)
		append_word(detail, sizeof(detail), ", ", "MTU=");
	if (detail[0])
		plan_add_hint(p, REASON_VF_SETTING_UNSUPPORTED, pf->pci->address, "%s", detail);
}

void plan_vf_setup(const struct config *c _unused_, const struct node *n,
		   const struct memory *memory, struct plan *p)
{
	for_each_vf(n, memory, p, want_settings);
	restore_autoprobe(n, memory, p);
	for_each_vf(n, memory, p, want_binding);
	for_each_vf(n, memory, p, want_rebuild);

	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i].has_vf_mode)
			hint_pf(n, p, &p->devices[i]);
}
