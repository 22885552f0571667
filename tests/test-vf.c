/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/rtnetlink.h>

#include "../src/model/module-options.h"
#include "../src/model/use-facts.h"
#include "../src/model/vf-facts.h"
#include "../src/show/state.h"
#include "../src/step/identity-rules.h"

#include "../src/guard/in-use-plan.h"
#include "../src/step/attempts-plan.h"
#include "../src/step/steps.h"
#include "memory.h"
#include "scene.h"

#define PF      "0000:41:00.0"
#define SECOND  "0000:42:00.0"
#define MAX_VF  7
#define ZERO    "00:00:00:00:00:00"
#define GUID_0  "0000:0000:0000:0000"
#define GUID_F  "ffff:ffff:ffff:ffff"
#define OWN_GID "fe80:0000:0000:0000:0200:00ff:fe00:0001"

/* Two cards, whose VFs are .1 to .7, in every state that a birth goes through. */
struct scene {
	struct config config;
	struct device_config section;
	struct node node;
	struct memory memory;
	struct pci pcis[24];
	struct netdev netdevs[24];
	struct ibdev ibdevs[24];
	struct port ports[24];
	struct gid gids[24];
	struct vf_info infos[2 * MAX_VF];
	struct address addresses[1];
	struct module modules[5];
	struct device_memory memories[2];
	struct user users[24];
	struct action tried[8];
	struct attempts tries;
	char rules[2048];
};

static struct pci *add_pci(struct scene *s, const char *address, const char *driver)
{
	struct pci *pci = &s->pcis[s->node.n_pcis++];

	*pci = (struct pci){ .vendor = 0x15b3, .class = 0x020000, .numa_node = -1 };
	COPY(pci->address, address);
	COPY(pci->driver, driver);
	return pci;
}

/* What a bound function brings: a netdev and an ibdev that are well. */
static void add_devices(struct scene *s, const char *address, const char *mac, const char *guid)
{
	size_t i = s->node.n_netdevs++, k = s->node.n_ibdevs++;
	struct netdev *nd = &s->netdevs[i];
	struct ibdev *ib = &s->ibdevs[k];

	*nd = (struct netdev){ .ifindex = (uint32_t)i + 2, .mtu = 1500, .is_up = true };
	snprintf(nd->name, sizeof(nd->name), "eth%zu", i);
	COPY(nd->pci, address);
	COPY(nd->mac, mac);
	*ib = (struct ibdev){ .node_type = "CA",
			      .uverbs = "uverbs0",
			      .umad = "umad0",
			      .ports = &s->ports[k],
			      .n_ports = 1 };
	snprintf(ib->name, sizeof(ib->name), "mlx5_%zu", k);
	COPY(ib->pci, address);
	COPY(ib->netdev, nd->name);
	COPY(ib->node_guid, guid);
	s->ports[k] = (struct port){ .number = 1,
				     .state = "ACTIVE",
				     .link_layer = "Ethernet",
				     .gids = &s->gids[k],
				     .n_gids = 1 };
	s->gids[k] = (struct gid){ .index = 1, .gid = OWN_GID, .type = "RoCE v2" };
	COPY(s->gids[k].netdev, nd->name);
}

static void add_card(struct scene *s, const char *address, const char *mac)
{
	struct pci *pf = add_pci(s, address, "mlx5_core");
	char guid[GUID_LEN];

	pf->has_sriov = pf->has_autoprobe = pf->autoprobe = true;
	pf->total_vfs = MAX_VF;
	snprintf(guid, sizeof(guid), "b8ce:f603:00%.2s:0000", address + 5);
	add_devices(s, address, mac, guid);
	COPY(s->netdevs[s->node.n_netdevs - 1].perm_mac, mac);
}

static int by_address(const void *a, const void *b)
{
	return strcmp(((const struct pci *)a)->address, ((const struct pci *)b)->address);
}

static struct pci *pci_of(struct scene *s, const char *address)
{
	struct pci *pci = (struct pci *)node_pci(&s->node, address);

	assert_non_null(pci);
	return pci;
}

/* VFs of a PF, with an admin MAC of their own or none; bound ones have what a driver makes: without
 * an admin MAC that is a random one. */
static void add_vfs(struct scene *s, const char *pf, uint32_t n, bool is_bound, const char *mac)
{
	pci_of(s, pf)->num_vfs = n;
	for (uint32_t i = 0; i < n; i++) {
		struct vf_info *v = &s->infos[s->node.n_vf_infos++];
		struct pci *vf;
		char address[32], own_mac[32], guid[32];

		snprintf(address, sizeof(address), "%.11s%" PRIu32, pf, i + 1);
		snprintf(guid, sizeof(guid), "0211:11ff:fe11:111%" PRIu32, i + 1);
		snprintf(own_mac, sizeof(own_mac), "02:11:11:11:11:1%" PRIu32, i + 1);
		vf = add_pci(s, address, is_bound ? "mlx5_core" : "");
		COPY(vf->physfn, pf);
		COPY(vf->module, is_bound ? "" : "mlx5_core");
		vf->vf_index = i;
		*v = (struct vf_info){ .index = i, .trust = 0, .link_state = 0 };
		COPY(v->pf, pf);
		COPY(v->mac, mac);
		if (is_bound)
			add_devices(s, address, own_mac, guid);
		if (is_bound)
			s->netdevs[s->node.n_netdevs - 1].is_random_mac = streq(mac, ZERO);
		qsort(s->pcis, s->node.n_pcis, sizeof(*s->pcis), by_address);
	}
}

static void add_module(struct scene *s, const char *name)
{
	struct module *m = &s->modules[s->node.n_modules++];

	COPY(m->name, name);
	m->state = MODULE_LOADED;
}

/* "ret" has to stay where it is: it points into itself. */
static void set_scene(struct scene *ret, uint32_t count)
{
	*ret = (struct scene){};
	ret->section = (struct device_config){ .name = "rail",
					       .match = (char *)"driver:mlx5_core",
					       .mode = VF_MODE_SHARED_MULTI,
					       .count = count };
	ret->config.devices = &ret->section;
	ret->config.n_devices = 1;
	ret->node = (struct node){ .netns_mode = NETNS_MODE_SHARED,
				   .has_rdma_cm = true,
				   .boot_id = "boot-1",
				   .pcis = ret->pcis,
				   .netdevs = ret->netdevs,
				   .ibdevs = ret->ibdevs,
				   .vf_infos = ret->infos,
				   .addresses = ret->addresses,
				   .modules = ret->modules,
				   .users = ret->users };
	ret->memory = (struct memory){ .devices = ret->memories };
	ret->tries.actions = ret->tried;
	add_module(ret, "ib_umad");
	add_module(ret, "ib_uverbs");
	add_module(ret, "rdma_ucm");
	add_module(ret, "mlx5_core");
	add_card(ret, PF, "b8:ce:f6:41:00:00");
}

static void set_tried(struct scene *s, enum verb verb, const char *target, const char *to,
		      int result)
{
	struct action *a = &s->tried[s->tries.n_actions++];

	*a = (struct action){ .verb = verb,
			      .is_done = true,
			      .result = result,
			      .target = "",
			      .subject = "",
			      .detail = "",
			      .error = "" };
	a->target = target;
	action_set(a, "", to);
}

/* The udev rules are test-rules' business: here they are right from the start. */
static void make_plan(struct scene *s, struct plan *ret)
{
	_cleanup_(plan_done) struct plan first = {};

	assert_int_equal(make_whole_plan(&s->config, &s->node, &s->memory, &s->tries, true, &first),
			 0);
	assert_true(COPY(s->rules, first.rules ? first.rules : ""));
	s->node.rules_file = first.rules ? s->rules : NULL;
	assert_int_equal(make_whole_plan(&s->config, &s->node, &s->memory, &s->tries, true, ret),
			 0);
}

/*
 * One line for each action: the verb, the end of the address after "0000:", from and to. A MAC or
 * GUID that was derived is "*".
 */
static void describe(const struct plan *p, char *ret, size_t size)
{
	*ret = '\0';
	for (size_t i = 0; i < p->n_actions; i++) {
		const struct action *a = &p->actions[i];
		bool is_derived = a->verb == VERB_SET_VF_MAC || a->verb == VERB_SET_VF_GUID;
		char from[SHOWN_LEN], to[SHOWN_LEN];
		char *at = ret + strlen(ret);

		snprintf(at, size - strlen(ret), "%s%s %s %s>%s%s%s%s%s", *ret ? "\n" : "",
			 verb_name(a->verb), a->target[0] ? a->target + 5 : "",
			 is_derived ? "" : action_from(a, from),
			 is_derived ? "*" : action_to(a, to), a->class == CLASS_CHANGE ? "" : " ",
			 a->class == CLASS_CHANGE ? "" : class_name(a->class),
			 a->class == CLASS_CHANGE ? "" : " ", reason_code(a->reason));
		if (a->is_done)
			snprintf(at + strlen(at), size - strlen(ret), " failed");
	}
	for (size_t i = 0; i < p->n_reasons; i++)
		snprintf(ret + strlen(ret), size - strlen(ret), "%s%s: %s", *ret ? "\n" : "",
			 reason_code(p->reasons[i].reason), p->reasons[i].detail);
}

static void assert_plan(struct scene *s, const char *row, const char *expected)
{
	_cleanup_(plan_done) struct plan p = {};
	char text[4096];

	make_plan(s, &p);
	describe(&p, text, sizeof(text));
	assert_row(row, text, expected);
}

/* --- staged birth --- */

#define OFF     "set-autoprobe 41:00.0 1>0\n"
#define ON      "set-autoprobe 41:00.0 0>1"
#define MAKE(n) "set-num-vfs 41:00.0 0>" n

static void old_kernel(struct scene *s)
{
	pci_of(s, PF)->has_autoprobe = pci_of(s, PF)->autoprobe = false;
}
static void off_by_others(struct scene *s)
{
	pci_of(s, PF)->autoprobe = false;
}
static void switched(struct scene *s)
{
	pci_of(s, PF)->autoprobe = false;
	pci_of(s, PF)->is_recorded = pci_of(s, PF)->is_switched = true;
}
static void recorded_only(struct scene *s)
{
	pci_of(s, PF)->is_recorded = pci_of(s, PF)->is_switched = true;
}
static void recorded_long_ago(struct scene *s)
{
	pci_of(s, PF)->is_recorded = true;
}
static void off_and_recorded_long_ago(struct scene *s)
{
	pci_of(s, PF)->is_recorded = true;
	pci_of(s, PF)->autoprobe = false;
}
static void keeps_identity(struct scene *s)
{
	s->section.identity = IDENTITY_KEEP;
}
static void none_possible(struct scene *s)
{
	pci_of(s, PF)->total_vfs = 0;
}
static void trusts(struct scene *s)
{
	s->section.identity = IDENTITY_KEEP;
	s->section.trust = TRUST_ON;
}
static void has_no_macs(struct scene *s)
{
	s->memories[s->memory.n_devices++] =
		(struct device_memory){ .pci = PF, .unsupported = VF_SETTING_MAC };
}
static void failed_to_make(struct scene *s)
{
	switched(s);
	set_tried(s, VERB_SET_AUTOPROBE, PF, "0", 0);
	set_tried(s, VERB_SET_NUM_VFS, PF, "2", -ENOMEM);
}
static void failed_to_record(struct scene *s)
{
	set_tried(s, VERB_SET_AUTOPROBE, PF, "0", -EROFS);
}
static void failed_to_remove(struct scene *s)
{
	set_tried(s, VERB_SET_NUM_VFS, PF, "0", -EPERM);
}

static void vfs_are_born_with_autoprobe_off(_unused_ void **state)
{
	static const struct {
		const char *name;
		uint32_t count, have;
		void (*spoil)(struct scene *s);
		const char *expected;
	} rows[] = {
		{ "0 to 1", 1, 0, NULL, OFF MAKE("1") },
		{ "0 to 7", 7, 0, NULL, OFF MAKE("7") },
		{ "max", COUNT_MAX, 0, NULL, OFF MAKE("7") },
		{ "max of none", COUNT_MAX, 0, none_possible,
		  "set-num-vfs 41:00.0 0>max impossible no-sriov" },
		{ "8 of 7", 8, 0, NULL, "set-num-vfs 41:00.0 0>8 impossible too-many-vfs" },
		{ "4 to 2", 2, 4, NULL, "set-num-vfs 41:00.0 4>0\n" OFF MAKE("2") },
		{ "equal", 4, 4, NULL, "" },
		{ "no such file", 2, 0, old_kernel, MAKE("2") },
		{ "nothing to set", 2, 0, keeps_identity, MAKE("2") },
		{ "trust only", 2, 0, trusts, OFF MAKE("2") },
		{ "a driver without MACs of VFs", 2, 0, has_no_macs, MAKE("2") },
		{ "off by another program", 2, 0, off_by_others, MAKE("2") "\nautoprobe-off: " },
		{ "crash after it was switched", 2, 0, switched, MAKE("2") },
		{ "crash before it was switched", 2, 0, recorded_only, OFF MAKE("2") },
		{ "it could not be recorded", 2, 0, failed_to_record,
		  "set-autoprobe 41:00.0 1>0 failed\n" MAKE("2") },
		{ "they could not be made", 2, 0, failed_to_make, MAKE("2") " failed\n" ON },
		{ "fewer than asked for stay", 2, 1, failed_to_make,
		  "set-num-vfs 41:00.0 1>2 failed\n" ON },
		{ "they could not be removed", 2, 4, failed_to_remove,
		  "set-num-vfs 41:00.0 4>0 failed" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, rows[i].count);
		add_vfs(&s, PF, rows[i].have, true, "02:00:00:00:00:01");
		if (rows[i].spoil)
			rows[i].spoil(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

#define MACS  "set-vf-mac 41:00.1 >*\nset-vf-mac 41:00.2 >*\n"
#define BINDS "bind-driver 41:00.1 >mlx5_core\nbind-driver 41:00.2 >mlx5_core"
#define SICK1 "wait 41:00.1 > waiting pf-sick\n"
#define SICK2 "wait 41:00.2 > waiting pf-sick"
#define LACK  "wait 41:00.1 > waiting no-driver\nwait 41:00.2 > waiting no-driver"

static void available(struct scene *s)
{
	switched(s);
	s->modules[3].state = MODULE_AVAILABLE;
}
static void blacklisted(struct scene *s)
{
	switched(s);
	s->modules[3].state = MODULE_BLACKLISTED;
}
static void untold(struct scene *s)
{
	switched(s);
	s->node.n_vf_infos = 0;
}
static void untold_by_a_busy_driver(struct scene *s)
{
	untold(s);
	pci_of(s, PF)->is_busy = true;
}
static void rejected(struct scene *s)
{
	switched(s);
	set_tried(s, VERB_SET_VF_MAC, "0000:41:00.1", "", -EOPNOTSUPP);
}
static void trusted_and_down(struct scene *s)
{
	switched(s);
	trusts(s);
	s->infos[0].link_state = 2;
}
static void not_restored(struct scene *s)
{
	switched(s);
	set_tried(s, VERB_SET_AUTOPROBE, PF, "1", -EIO);
}
static void switched_and_stuck(struct scene *s)
{
	switched(s);
	COPY(s->memory.stuck, PF);
}
static void other_card_stuck(struct scene *s)
{
	switched(s);
	add_card(s, SECOND, "b8:ce:f6:42:00:00");
	qsort(s->pcis, s->node.n_pcis, sizeof(*s->pcis), by_address);
	COPY(s->memory.stuck, SECOND);
}
static void tried_to_bind(struct scene *s, int result, uint32_t took_sec)
{
	set_tried(s, VERB_BIND_DRIVER, "0000:41:00.1", "mlx5_core", result);
	s->tried[s->tries.n_actions - 1].took_usec = took_sec * USEC_PER_SEC;
	s->tried[s->tries.n_actions - 1].pid = result == -ETIMEDOUT ? 77 : 0;
}
static void bind_vf(struct scene *s, const char *vf)
{
	COPY(pci_of(s, vf)->driver, "mlx5_core");
	COPY(pci_of(s, vf)->module, "");
	add_devices(s, vf, "02:00:00:00:00:01", "0200:00ff:fe00:0001");
}
static void bind_stuck(struct scene *s)
{
	tried_to_bind(s, -ETIMEDOUT, 130);
}
static void bind_failed(struct scene *s)
{
	tried_to_bind(s, -EIO, 1);
}
static void bind_failed_slowly(struct scene *s)
{
	tried_to_bind(s, -ENOENT, 121);
}
static void bind_was_slow(struct scene *s)
{
	tried_to_bind(s, 0, 21);
	bind_vf(s, "0000:41:00.1");
}
static void bind_was_not_slow(struct scene *s)
{
	tried_to_bind(s, 0, 20);
	bind_vf(s, "0000:41:00.1");
}
static void one_of_many_failed(struct scene *s)
{
	bind_failed(s);
	bind_vf(s, "0000:41:00.2");
}
static void remember_sick(struct scene *s, uint64_t instance)
{
	static struct device_memory m;

	m = (struct device_memory){ .instance = instance };
	COPY(m.pci, PF);
	COPY(m.sick, "binding 0000:41:00.1 took 90 s");
	s->memory.devices = &m;
	s->memory.n_devices = 1;
	s->pcis->instance = 5;
}
static void was_sick(struct scene *s)
{
	remember_sick(s, 5);
}
static void was_sick_before_it_was_bound_again(struct scene *s)
{
	remember_sick(s, 4);
}
static void was_sick_and_asked_for(struct scene *s)
{
	remember_sick(s, 5);
	s->tries.is_first = true;
}
static void was_sick_asked_for_and_still_at_it(struct scene *s)
{
	was_sick_and_asked_for(s);
	s->memory.devices->sick_pid = 77;
}

static void unbound_vfs_get_all_they_need_before_they_are_bound(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*spoil)(struct scene *s);
		const char *expected;
	} rows[] = {
		{ "born by us", switched, MACS ON "\n" BINDS },
		{ "unbound on purpose", NULL, MACS BINDS },
		{ "off by another program", off_by_others, MACS "autoprobe-off: " },
		{ "old record, off by another program", off_and_recorded_long_ago,
		  MACS "autoprobe-off: " },
		{ "record of an earlier boot", recorded_long_ago,
		  MACS "set-autoprobe 41:00.0 1>1\n" BINDS },
		{ "the driver tells nothing of them", untold, ON "\n" BINDS },
		{ "it is not asked while a write goes on", untold_by_a_busy_driver, LACK },
		{ "the driver has no such setting", rejected, ON "\n" BINDS },
		{ "trust and link state", trusted_and_down,
		  "set-vf-trust 41:00.1 0>1\nset-vf-link 41:00.1 >auto\nset-vf-trust 41:00.2 "
		  "0>1\n" ON "\n" BINDS },
		{ "autoprobe stays off", not_restored, MACS "set-autoprobe 41:00.0 0>1 failed" },
		{ "the card is stuck", switched_and_stuck, LACK },
		{ "one of them is stuck", bind_stuck,
		  "bind-driver 41:00.1 >mlx5_core failed\n" SICK1 SICK2 },
		{ "the first one failed", bind_failed,
		  "bind-driver 41:00.1 >mlx5_core failed\n" SICK1 SICK2 },
		{ "it failed after two minutes", bind_failed_slowly,
		  "bind-driver 41:00.1 >mlx5_core failed\n" SICK1 SICK2 },
		{ "it took long", bind_was_slow, SICK2 },
		{ "it took a while", bind_was_not_slow,
		  "set-vf-mac 41:00.2 >*\nbind-driver 41:00.2 >mlx5_core" },
		{ "the first one failed, the second did not", one_of_many_failed,
		  "set-vf-mac 41:00.1 >*\nbind-driver 41:00.1 >mlx5_core failed" },
		{ "sick before in this boot", was_sick, SICK1 SICK2 },
		{ "sick before its driver was bound", was_sick_before_it_was_bound_again,
		  MACS BINDS },
		{ "an administrator asks for it", was_sick_and_asked_for, MACS BINDS },
		{ "the kernel is still at it", was_sick_asked_for_and_still_at_it, SICK1 SICK2 },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 2);
		add_vfs(&s, PF, 2, false, ZERO);
		if (rows[i].spoil)
			rows[i].spoil(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

#define UP "set-link-up 41:00.0 >"

static void some_pfs_are_brought_up_once_their_vfs_are_there(_unused_ void **state)
{
	static const struct {
		const char *name;
		uint32_t count, have;
		bool is_igb;
		void (*spoil)(struct scene *s);
		const char *expected;
	} rows[] = {
		{ "most before", 2, 0, false, NULL, UP "\n" OFF MAKE("2") },
		{ "igb", 2, 0, true, NULL, OFF MAKE("2") "\n" UP },
		{ "igb, VFs there", 2, 2, true, switched, UP "\n" MACS ON "\n" BINDS },
		{ "igb, without autoprobe", 2, 0, true, old_kernel, UP "\n" MAKE("2") },
		{ "igb, autoprobe off", 2, 0, true, off_by_others,
		  MAKE("2") "\n" UP "\nautoprobe-off: " },
		{ "igb, bound as they are made", 2, 0, true, keeps_identity, UP "\n" MAKE("2") },
		{ "igb, not to be made", 8, 0, true, NULL,
		  "set-num-vfs 41:00.0 0>8 impossible too-many-vfs" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, rows[i].count);
		add_vfs(&s, PF, rows[i].have, false, ZERO);
		s.netdevs[0].is_up = false;
		if (rows[i].is_igb) {
			pci_of(&s, PF)->vendor = 0x8086;
			COPY(pci_of(&s, PF)->driver, "igb");
			s.section.match = (char *)"pci:*";
		}
		if (rows[i].spoil)
			rows[i].spoil(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

static void vfs_whose_rdma_is_not_known_are_made_and_it_is_said(_unused_ void **state)
{
	static const struct {
		const char *driver;
		bool is_out_of_tree, has_ibdev, is_unknown;
	} rows[] = {
		{ "mlx5_core", false, true, false }, { "mlx5_core", false, false, false },
		{ "ionic", false, true, true },      { "ice", true, true, true },
		{ "igb", false, false, true },       { "igb", false, true, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct module m = { .is_out_of_tree = rows[i].is_out_of_tree };
		const struct action *a;
		struct scene s;

		set_scene(&s, 2);
		COPY(m.name, rows[i].driver);
		COPY(pci_of(&s, PF)->driver, rows[i].driver);
		s.section.match = (char *)"pci:*";
		s.node.modules = &m;
		s.node.n_modules = 1;
		if (!rows[i].has_ibdev)
			s.node.n_ibdevs = 0;
		make_plan(&s, &p);
		a = FIND(it, p.actions, p.n_actions,
			 it->verb == VERB_SET_NUM_VFS && it->class == CLASS_CHANGE);
		assert_non_null(a);
		assert_row(rows[i].driver, a->detail ?: "",
			   rows[i].is_unknown ? "whether these have RDMA is not known" : "");
	}
}

static void the_driver_is_loaded_before_vfs_born_unbound_are_bound(_unused_ void **state)
{
	struct scene s;

	set_scene(&s, 2);
	add_vfs(&s, PF, 2, false, ZERO);
	available(&s);
	{
		_cleanup_(plan_done) struct plan p = {};
		char text[2048];

		make_plan(&s, &p);
		describe(&p, text, sizeof(text));
		assert_string_equal(p.actions[0].target, "mlx5_core");
		assert_non_null(strstr(text, MACS ON "\n" BINDS));
	}

	/* With autoprobe on, loading it binds them. */
	pci_of(&s, PF)->autoprobe = true;
	pci_of(&s, PF)->is_recorded = pci_of(&s, PF)->is_switched = false;
	{
		_cleanup_(plan_done) struct plan p = {};
		char text[2048];

		make_plan(&s, &p);
		describe(&p, text, sizeof(text));
		assert_null(strstr(text, "bind-driver"));
	}

	set_scene(&s, 2);
	add_vfs(&s, PF, 2, false, ZERO);
	blacklisted(&s);
	{
		_cleanup_(plan_done) struct plan p = {};
		char text[2048];

		make_plan(&s, &p);
		describe(&p, text, sizeof(text));
		assert_non_null(strstr(text, ON));
		assert_null(strstr(text, "bind-driver"));
	}
}

/* A look while VFs are being made finds some of them. */
static void what_goes_on_is_planned_neither_again_nor_otherwise(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;
	char text[4096];

	set_scene(&s, 4);
	add_vfs(&s, PF, 2, false, ZERO);
	set_tried(&s, VERB_SET_NUM_VFS, PF, "4", 0);
	s.tried[0].is_done = false;
	s.tried[0].is_running = true;
	action_set_numbers(&s.tried[0], 0, 4);
	make_plan(&s, &p);
	describe(&p, text, sizeof(text));
	assert_string_equal(text, MAKE("4"));
	assert_true(p.actions[0].is_running);
	assert_true(action_is_open(&p.actions[0])); /* the node waits for it */
}

static void a_stuck_card_keeps_no_other_from_what_is_begun(_unused_ void **state)
{
	struct scene s;

	set_scene(&s, 2);
	add_vfs(&s, PF, 2, false, ZERO);
	other_card_stuck(&s);
	assert_plan(&s, "another card is stuck",
		    "set-num-vfs 42:00.0 0>2 waiting pci-stuck\n" MACS ON "\n" BINDS);
}

static void what_we_switched_is_restored_whatever_is_asked_for(_unused_ void **state)
{
	static const enum vf_mode modes[] = { VF_MODE_KEEP, VF_MODE_EXCLUSIVE,
					      VF_MODE_SHARED_MULTI };

	for (size_t i = 0; i < ELEMENTSOF(modes); i++) {
		struct scene s;

		set_scene(&s, 0);
		s.section.mode = modes[i];
		switched(&s);
		assert_plan(&s, vf_mode_name(modes[i]), ON);
		s.config.n_devices = 0;
		assert_plan(&s, "not matched", ON);
	}
}

static void nothing_is_done_to_the_vfs_of_others(_unused_ void **state)
{
	struct scene s;

	set_scene(&s, 2);
	s.section.mode = VF_MODE_KEEP;
	s.section.trust = TRUST_ON;
	add_vfs(&s, PF, 2, false, ZERO);
	assert_plan(&s, "keep", "");
	s.config.n_devices = 0;
	assert_plan(&s, "not matched", "");
}

/* --- bound VFs --- */

#define FIX "set-vf-mac 41:00.1 >*\nrebind-driver 41:00.1 >mlx5_core"

static struct netdev *vf_netdev(struct scene *s)
{
	return (struct netdev *)node_netdev_of(&s->node, "0000:41:00.1");
}
static struct ibdev *vf_ibdev(struct scene *s)
{
	return (struct ibdev *)node_ibdev_of(&s->node, "0000:41:00.1");
}
static void is_down(struct scene *s)
{
	vf_netdev(s)->is_up = false;
}
static void random_mac(struct scene *s)
{
	COPY(s->infos[0].mac, vf_netdev(s)->mac);
	vf_netdev(s)->is_random_mac = true;
}
static void random_mac_after_it_was_brought_up(struct scene *s)
{
	random_mac(s);
	set_tried(s, VERB_SET_LINK_UP, "0000:41:00.1", "", 0);
}
static void mac_of_a_person(struct scene *s)
{
	COPY(s->infos[0].mac, vf_netdev(s)->mac);
	vf_netdev(s)->is_random_mac = false;
}
static void mac_by_its_netdev(struct scene *s)
{
	vf_netdev(s)->is_random_mac = false; /* NET_ADDR_PERM: by the firmware; NET_ADDR_SET */
}
static void mac_by_its_netdev_after_its_birth(struct scene *s)
{
	mac_by_its_netdev(s);
	COPY(vf_ibdev(s)->node_guid, GUID_0);
}
static void no_ibdev(struct scene *s)
{
	mac_by_its_netdev(s);
	s->node.n_ibdevs--;
}
static void guids_of_the_provider(struct scene *s)
{
	pci_of(s, PF)->class = pci_of(s, "0000:41:00.1")->class = 0x020700;
	COPY(s->infos[0].node_guid, GUID_0);
	COPY(s->infos[0].port_guid, GUID_0);
}
static void guids_of_nobody(struct scene *s)
{
	guids_of_the_provider(s);
	COPY(vf_ibdev(s)->node_guid, GUID_0);
}
static void mac_for_the_next_bind(struct scene *s)
{
	COPY(s->infos[0].mac, "02:00:00:00:00:07");
	vf_netdev(s)->is_random_mac = true;
}
/* As if this service had given it before it was bound. */
static void given_mac(struct scene *s)
{
	_cleanup_(plan_done) struct plan none = {};
	char seed[MAC_LEN];

	identity_seed(&s->node, pci_of(s, PF), seed);
	identity_mac(&s->node, &none, seed, pci_of(s, "0000:41:00.1"), s->infos[0].mac,
		     sizeof(s->infos[0].mac));
	vf_netdev(s)->is_random_mac = false;
	COPY(vf_netdev(s)->mac, s->infos[0].mac);
	COPY(vf_netdev(s)->perm_mac, s->infos[0].mac);
}
static void came_up_with_another(struct scene *s)
{
	given_mac(s);
	COPY(vf_netdev(s)->mac, "02:11:11:11:11:11");
	COPY(vf_netdev(s)->perm_mac, "02:11:11:11:11:11");
}
static void came_up_with_another_without_ibdev(struct scene *s)
{
	came_up_with_another(s);
	s->node.n_ibdevs--;
}
static void came_up_with_a_random_one(struct scene *s)
{
	came_up_with_another(s);
	vf_netdev(s)->perm_mac[0] = '\0';
	vf_netdev(s)->is_random_mac = true;
}
static void came_up_with_a_random_one_without_ibdev(struct scene *s)
{
	came_up_with_a_random_one(s);
	s->node.n_ibdevs--;
}
static void came_up_with_a_random_one_as_its_pf_was_down(struct scene *s)
{
	came_up_with_a_random_one_without_ibdev(s);
	s->netdevs[0].is_up = false;
}
static void came_up_with_another_in_use(struct scene *s)
{
	came_up_with_another(s);
	vf_ibdev(s)->n_contexts = 1;
}
static void came_up_with_another_again(struct scene *s)
{
	came_up_with_another(s);
	s->memories[s->memory.n_devices++] =
		(struct device_memory){ .pci = "0000:41:00.1", .was_rebuilt = true };
}
static void came_up_with_another_of_a_cni(struct scene *s)
{
	came_up_with_another(s);
	COPY(s->infos[0].mac, "02:00:00:00:00:09");
}
static void mac_changed_since(struct scene *s)
{
	given_mac(s);
	COPY(vf_netdev(s)->mac, "02:11:11:11:11:11");
}
static void random_in_a_bond(struct scene *s)
{
	came_up_with_a_random_one(s);
	vf_netdev(s)->master = 99;
}
static void given_guids(struct scene *s)
{
	_cleanup_(plan_done) struct plan none = {};
	char seed[MAC_LEN], node[GUID_LEN], port[GUID_LEN];

	guids_of_the_provider(s);
	identity_seed(&s->node, pci_of(s, PF), seed);
	identity_guids(&s->node, &none, seed, pci_of(s, "0000:41:00.1"), &s->infos[0], node, port);
	COPY(s->infos[0].node_guid, node);
	COPY(s->infos[0].port_guid, port);
	COPY(vf_ibdev(s)->node_guid, s->infos[0].node_guid);
}
static void came_up_with_other_guids(struct scene *s)
{
	given_guids(s);
	COPY(vf_ibdev(s)->node_guid, "0002:c903:0011:2233");
}
static void keeps_the_other(struct scene *s)
{
	came_up_with_another(s);
	keeps_identity(s);
}
static void infiniband_down(struct scene *s)
{
	guids_of_the_provider(s);
	s->infos[0].link_state = 2;
}
static void infiniband_down_without_guids(struct scene *s)
{
	guids_of_nobody(s);
	s->infos[0].link_state = 2;
}
static void infiniband_enabled(struct scene *s)
{
	infiniband_down(s);
	s->infos[0].link_state = 1;
}
static void infiniband_down_in_use(struct scene *s)
{
	infiniband_down(s);
	vf_ibdev(s)->n_contexts = 1;
}
static void infiniband_down_after_use(struct scene *s)
{
	infiniband_down(s);
	s->memories[s->memory.n_devices++] =
		(struct device_memory){ .pci = "0000:41:00.1", .was_usable = true };
}
static void infiniband_down_rebuilt(struct scene *s)
{
	infiniband_down(s);
	s->memories[s->memory.n_devices++] =
		(struct device_memory){ .pci = "0000:41:00.1", .was_rebuilt = true };
}
static void down_by_a_person(struct scene *s)
{
	mac_of_a_person(s);
	s->infos[0].link_state = 2;
}
static void in_use(struct scene *s)
{
	vf_ibdev(s)->n_contexts = 1;
}
static void has_address(struct scene *s)
{
	s->addresses[0] = (struct address){ .ifindex = vf_netdev(s)->ifindex };
	s->node.n_addresses = 1;
}
static void has_link_local(struct scene *s)
{
	has_address(s);
	s->addresses[0].family = AF_INET6;
	s->addresses[0].scope = RT_SCOPE_LINK;
	memcpy(s->addresses[0].local, "\xfe\x80", 2);
}
static void was_usable(struct scene *s)
{
	s->memories[s->memory.n_devices++] =
		(struct device_memory){ .pci = "0000:41:00.1", .was_usable = true };
}
static void was_rebuilt(struct scene *s)
{
	s->memories[s->memory.n_devices++] =
		(struct device_memory){ .pci = "0000:41:00.1", .was_rebuilt = true };
}
static void guids_are_zero(struct scene *s)
{
	COPY(s->infos[0].mac, "02:00:00:00:00:07");
	COPY(vf_ibdev(s)->node_guid, GUID_0);
}
static void guids_are_ones(struct scene *s)
{
	guids_are_zero(s);
	COPY(vf_ibdev(s)->node_guid, GUID_F);
}
static void is_zero_and_used(struct scene *s)
{
	guids_are_zero(s);
	in_use(s);
}
static void is_zero_and_rebuilt(struct scene *s)
{
	guids_are_zero(s);
	was_rebuilt(s);
}
static void is_zero_and_just_rebuilt(struct scene *s)
{
	guids_are_zero(s);
	set_tried(s, VERB_REBIND_DRIVER, "0000:41:00.1", "mlx5_core", 0);
}
static void is_zero_and_not_rebuilt_for_a_look(struct scene *s)
{
	guids_are_zero(s);
	set_tried(s, VERB_REBIND_DRIVER, "0000:41:00.1", "mlx5_core", -EBUSY);
	s->tried[0].is_refused = true;
}
static void is_zero_without_mac(struct scene *s)
{
	guids_are_zero(s);
	has_no_macs(s);
	COPY(s->infos[0].mac, ZERO);
}
static void is_stuck(struct scene *s)
{
	COPY(s->memory.stuck, PF);
}
static void is_stuck_and_down(struct scene *s)
{
	is_stuck(s);
	is_down(s);
}

static void a_bound_vf_is_touched_only_when_it_has_nothing_and_nobody(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*spoil)(struct scene *s);
		const char *expected;
	} rows[] = {
		{ "no MAC", NULL, FIX },
		{ "its netdev of now is left alone", is_down, FIX },
		{ "a MAC its driver made up", random_mac, FIX },
		{ "that, when we have brought it up", random_mac_after_it_was_brought_up, "" },
		{ "a MAC that was set", mac_of_a_person, "" },
		{ "a MAC the firmware or a program gave its netdev", mac_by_its_netdev, "" },
		{ "the same, too late for its GUID", mac_by_its_netdev_after_its_birth, FIX },
		{ "the same, without ibdev", no_ibdev, "wait 41:00.1 > waiting no-ibdev" },
		{ "GUIDs the firmware gave it", guids_of_the_provider, "" },
		{ "no GUIDs", guids_of_nobody,
		  "set-vf-guid 41:00.1 >*\nrebind-driver 41:00.1 >mlx5_core" },
		{ "a MAC that was set since it was bound", mac_for_the_next_bind, "" },
		{ "a link state that was set", down_by_a_person, "" },
		{ "the MAC it was given", given_mac, "" },
		{ "another one", came_up_with_another, "rebind-driver 41:00.1 >mlx5_core" },
		{ "another one, its RDMA device is to come", came_up_with_another_without_ibdev,
		  "wait 41:00.1 > waiting no-ibdev" },
		{ "a random one", came_up_with_a_random_one, "rebind-driver 41:00.1 >mlx5_core" },
		{ "a random one, its RDMA device is to come",
		  came_up_with_a_random_one_without_ibdev, "rebind-driver 41:00.1 >mlx5_core" },
		{ "the same, its PF is down", came_up_with_a_random_one_as_its_pf_was_down,
		  "set-link-up 41:00.0 >" },
		{ "another one, in use", came_up_with_another_in_use,
		  "wait 41:00.1 > waiting vf-identity" },
		{ "another one, rebuilt", came_up_with_another_again,
		  "wait 41:00.1 > waiting vf-identity" },
		{ "another one, given by a CNI", came_up_with_another_of_a_cni, "" },
		{ "changed since it came up", mac_changed_since, "" },
		{ "a bond has changed it", random_in_a_bond, "" },
		{ "another one, and it is kept", keeps_the_other, "" },
		{ "the GUIDs it was given", given_guids, "" },
		{ "other GUIDs", came_up_with_other_guids, "rebind-driver 41:00.1 >mlx5_core" },
		{ "InfiniBand, as the driver made it", infiniband_down_without_guids,
		  "set-vf-guid 41:00.1 >*\nset-vf-link 41:00.1 >auto\nrebind-driver 41:00.1 "
		  ">mlx5_core" },
		{ "InfiniBand with GUIDs, down", infiniband_down, "set-vf-link 41:00.1 >auto" },
		{ "InfiniBand, down, rebuilt", infiniband_down_rebuilt,
		  "set-vf-link 41:00.1 >auto" },
		{ "InfiniBand, enabled", infiniband_enabled, "" },
		{ "InfiniBand, down, in use", infiniband_down_in_use, "" },
		{ "InfiniBand, down after it was usable", infiniband_down_after_use, "" },
		{ "in use", in_use, "" },
		{ "with an address", has_address, "" },
		{ "with a link-local address", has_link_local, FIX },
		{ "handed out before", was_usable, "" },
		{ "rebuilt before", was_rebuilt, "" },
		{ "identity is kept", keeps_identity, "" },
		{ "autoprobe is off", off_by_others, "autoprobe-off: " },
		{ "no such setting", has_no_macs, "" },
		{ "the driver tells nothing", untold, "set-autoprobe 41:00.0 0>1" },
		{ "stuck", is_stuck, "" },
		{ "stuck, and down", is_stuck_and_down, "" },
		{ "zero GUID", guids_are_zero, "rebind-driver 41:00.1 >mlx5_core" },
		{ "GUID of ones", guids_are_ones, "rebind-driver 41:00.1 >mlx5_core" },
		{ "zero GUID, in use", is_zero_and_used, "wait 41:00.1 > waiting zero-guid" },
		{ "zero GUID, rebuilt", is_zero_and_rebuilt, "wait 41:00.1 > waiting zero-guid" },
		{ "zero GUID, rebuilt just now", is_zero_and_just_rebuilt,
		  "wait 41:00.1 > waiting zero-guid" },
		{ "zero GUID, the look right before did not want it rebuilt",
		  is_zero_and_not_rebuilt_for_a_look, "rebind-driver 41:00.1 >mlx5_core" },
		{ "zero GUID, no MAC to be had", is_zero_without_mac,
		  "wait 41:00.1 > waiting zero-guid" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 1);
		add_vfs(&s, PF, 1, true, ZERO);
		if (rows[i].spoil)
			rows[i].spoil(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

/* --- VFs of other programs --- */

static void by_vfio(struct scene *s)
{
	COPY(pci_of(s, "0000:41:00.1")->driver, "vfio-pci");
}
static void by_vfio_after_a_look(struct scene *s)
{
	by_vfio(s);
	s->node.has_users = true;
}
static void by_another_driver(struct scene *s)
{
	COPY(pci_of(s, "0000:41:00.1")->driver, "uio_pci_generic");
	pci_of(s, "0000:41:00.1")->has_other_driver = true;
}
static void by_override(struct scene *s)
{
	COPY(pci_of(s, "0000:41:00.1")->driver_override, "vfio-pci");
}
static void by_vdpa(struct scene *s)
{
	COPY(pci_of(s, "0000:41:00.1")->driver, "mlx5_core");
	COPY(pci_of(s, "0000:41:00.1")->vdpa, "vdpa3");
}

static void a_vf_of_another_program_gets_nothing(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*take)(struct scene *s);
		const char *hint;
	} rows[] = {
		{ "vfio", by_vfio, "it is bound to vfio-pci" },
		{ "vfio, after a look", by_vfio_after_a_look, "it is bound to vfio-pci" },
		{ "another driver", by_another_driver,
		  "it is bound to uio_pci_generic and not to mlx5_core" },
		{ "driver_override", by_override, "its driver_override is vfio-pci" },
		{ "vDPA", by_vdpa, "it is the vDPA device vdpa3" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		char expected[512];
		struct scene s;

		set_scene(&s, 2);
		add_vfs(&s, PF, 2, false, ZERO);
		s.section.trust = TRUST_ON;
		rows[i].take(&s);
		snprintf(expected, sizeof(expected),
			 "set-vf-mac 41:00.2 >*\nset-vf-trust 41:00.2 0>1\n"
			 "bind-driver 41:00.2 >mlx5_core\nvf-foreign: 0000:41:00.1: %s",
			 rows[i].hint);
		assert_plan(&s, rows[i].name, expected);

		make_plan(&s, &p);
		assert_true(p.devices[1].is_foreign && !p.devices[1].is_handed_out);
		assert_true(p.devices[2].is_handed_out);
	}
}

static void vfs_are_left_to_a_driver_container(_unused_ void **state)
{
	struct scene s;

	set_scene(&s, 2);
	add_vfs(&s, PF, 2, false, ZERO);
	s.node.is_container_loading = true;
	assert_plan(&s, "it is loading",
		    "wait 41:00.1 > waiting driver-container\n"
		    "wait 41:00.2 > waiting driver-container");
}

/* A node with VFs for containers and for virtual machines is ready with those it has for itself. */
static void vfs_of_others_are_not_missing_beside_one_of_ours(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {}, all = {};
	struct scene s;

	set_scene(&s, 2);
	add_vfs(&s, PF, 2, true, "02:00:00:00:00:01");
	by_vdpa(&s);
	make_plan(&s, &p);
	assert_int_equal(p.state, NODE_READY);

	COPY(pci_of(&s, "0000:41:00.2")->vdpa, "vdpa4");
	make_plan(&s, &all);
	assert_int_equal(all.state, NODE_DEGRADED);
}

static void trust_is_not_changed_while_a_process_uses_it(_unused_ void **state)
{
	struct scene s;

	set_scene(&s, 1);
	add_vfs(&s, PF, 1, true, "02:00:00:00:00:01");
	s.section.trust = TRUST_ON;
	assert_plan(&s, "idle", "set-vf-trust 41:00.1 0>1");
	in_use(&s);
	assert_plan(&s, "in use", "set-vf-trust 41:00.1 0>1 needs-reboot vf-in-use");
	s.section.trust = TRUST_OFF;
	assert_plan(&s, "as it is", "");
	s.infos[0].trust = -1;
	assert_plan(&s, "not told", "vf-setting-unsupported: Trust=");
}

/* --- settings a driver does not have --- */

/* The host of a BlueField in DPU mode may set nothing of its VFs, and tells so in several ways. */
static void what_a_card_refuses_is_not_tried_again(_unused_ void **state)
{
	static const struct {
		const char *name;
		int result, second; /* of the first VF, of the second */
		const char *driver;
		bool is_refused;
	} rows[] = {
		{ "EPERM", -EPERM, -EPERM, "mlx5_core", true },
		{ "EINVAL", -EINVAL, -EINVAL, "mlx5_core", true },
		{ "EREMOTEIO", -EREMOTEIO, -EREMOTEIO, "mlx5_core", true },
		{ "EIO", -EIO, -EIO, "mlx5_core", false },
		{ "another VF took it", -EINVAL, 0, "mlx5_core", false },
		{ "another driver", -EINVAL, -EINVAL, "igb", false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		bool is_hinted = false, is_wanted = false;
		struct scene s;

		set_scene(&s, 2);
		s.section.match = (char *)"pci:" PF;
		COPY(pci_of(&s, PF)->driver, rows[i].driver);
		add_vfs(&s, PF, 2, false, ZERO);
		set_tried(&s, VERB_SET_VF_MAC, "0000:41:00.1", "", rows[i].result);
		set_tried(&s, VERB_SET_VF_MAC, "0000:41:00.2", "", rows[i].second);
		make_plan(&s, &p);
		for (size_t k = 0; k < p.n_reasons; k++)
			is_hinted |= p.reasons[k].reason == REASON_VF_SETTING_UNSUPPORTED;
		for (size_t k = 0; k < p.n_actions; k++)
			is_wanted |= p.actions[k].verb == VERB_SET_VF_MAC;
		if (is_hinted != rows[i].is_refused || is_wanted == rows[i].is_refused)
			fail_msg("%s", rows[i].name);
	}
}

/* In DPU mode the driver of the PF tells nothing of its VFs, so nothing is tried. */
static void a_card_that_tells_nothing_of_its_vfs_refuses_what_is_set(_unused_ void **state)
{
#define HINT "vf-setting-unsupported: its card refuses what the host sets of VFs, as in DPU mode"
#define WAIT "wait 41:00.1 > waiting zero-guid"
	static const struct {
		const char *name, *driver, *expected;
		bool is_silent, has_own_advice;
		enum identity identity;
		enum trust trust;
	} rows[] = {
		{ "silent", "mlx5_core", WAIT "\n" HINT, true, true },
		{ "unreadable", "mlx5_core", WAIT, false, false },
		{ "another driver", "igb", WAIT, true, false },
		{ "nothing is asked for", "mlx5_core", WAIT, true, true, IDENTITY_KEEP },
		{ "trust", "mlx5_core", WAIT "\n" HINT, true, true, IDENTITY_KEEP, TRUST_ON },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s, 1);
		s.section.match = (char *)"pci:" PF;
		s.section.identity = rows[i].identity;
		s.section.trust = rows[i].trust;
		add_vfs(&s, PF, 1, true, ZERO);
		s.node.n_vf_infos = 0;
		COPY(pci_of(&s, PF)->driver, rows[i].driver);
		pci_of(&s, PF)->has_silent_vfs = rows[i].is_silent;
		COPY(vf_ibdev(&s)->node_guid, GUID_0);
		assert_plan(&s, rows[i].name, rows[i].expected);
		make_plan(&s, &p);
		if (streq(action_advice(&p.actions[0]), reason_advice(REASON_ZERO_GUID)) ==
		    rows[i].has_own_advice)
			fail_msg("%s: %s", rows[i].name, action_advice(&p.actions[0]));
	}
#undef HINT
#undef WAIT
}

static void what_a_driver_has_not_is_no_failure_and_is_remembered(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct memory next = {};
	struct scene s;

	set_scene(&s, 1);
	s.section.trust = TRUST_ON;
	s.section.mtu = 4200;
	add_vfs(&s, PF, 1, true, ZERO);
	s.netdevs[0].mtu = 4200;
	set_tried(&s, VERB_SET_VF_MAC, "0000:41:00.1", "", -EOPNOTSUPP);
	set_tried(&s, VERB_SET_VF_TRUST, "0000:41:00.1", "1", -EOPNOTSUPP);
	set_tried(&s, VERB_SET_MTU, "0000:41:00.1", "4200", -EOPNOTSUPP);
	assert_plan(&s, "tried", "vf-setting-unsupported: Trust=, MTU=");

	make_plan(&s, &p);
	assert_int_equal(p.state, NODE_READY);
	assert_int_equal(take_next(&s.config, &s.node, &s.memory, &p, "boot-1", &next), 0);
	assert_int_equal(memory_device(&next, PF)->unsupported,
			 VF_SETTING_MAC | VF_SETTING_TRUST | VF_SETTING_MTU);
	assert_string_equal(memory_device(&next, PF)->card, "b8:ce:f6:41:00:00");
	assert_string_equal(memory_device(&next, "0000:41:00.1")->card, "b8:ce:f6:41:00:00");
	assert_false(memory_device(&next, "0000:41:00.1")->was_rebuilt);
	s.tries.n_actions = 0;
	s.memory.devices = next.devices;
	s.memory.n_devices = next.n_devices;
	s.memories[0] = *memory_device(&next, PF);
	assert_plan(&s, "remembered", "vf-setting-unsupported: Trust=, MTU=");
	memory_done(&next);

	/* Another failure is one. */
	s.memory.n_devices = 0;
	set_tried(&s, VERB_SET_VF_TRUST, "0000:41:00.1", "1", -EIO);
	s.section.identity = IDENTITY_KEEP;
	s.section.mtu = 0;
	assert_plan(&s, "EIO", "set-vf-trust 41:00.1 0>1 failed");
}

static void memory_is_of_the_card_not_of_its_slot(_unused_ void **state)
{
	static const struct {
		const char *name, *then, *now;
		size_t kept;
	} rows[] = {
		{ "the same", "b8:ce:f6:41:00:00", "b8:ce:f6:41:00:00", 2 },
		{ "another", "b8:ce:f6:41:00:99", "b8:ce:f6:41:00:00", 0 },
		{ "not known then", "", "b8:ce:f6:41:00:00", 2 },
		{ "not told now", "b8:ce:f6:41:00:00", "", 2 },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 1);
		add_vfs(&s, PF, 1, true, ZERO);
		was_usable(&s);
		COPY(s.memories[0].card, rows[i].then);
		s.memories[1] = (struct device_memory){ .pci = PF };
		COPY(s.memories[1].card, rows[i].then);
		s.memory.n_devices = 2;
		COPY(s.netdevs[0].perm_mac, rows[i].now);
		node_forget_replaced(&s.node, &s.memory);
		assert_int_equal(s.memory.n_devices, rows[i].kept);
	}
}

static void a_vf_that_was_made_again_is_another(_unused_ void **state)
{
	static const struct {
		const char *name;
		enum verb verb;
		const char *target, *from, *to;
		int result;
		bool is_kept;
	} rows[] = {
		{ "removed", VERB_SET_NUM_VFS, PF, "4", "0", 0, false },
		{ "made", VERB_SET_NUM_VFS, PF, "0", "1", 0, false },
		{ "fewer made than asked for", VERB_SET_NUM_VFS, PF, "0", "2", -EREMOTEIO, false },
		{ "a write that never came back", VERB_SET_NUM_VFS, PF, "4", "0", -ETIMEDOUT,
		  false },
		{ "a process came in between", VERB_SET_NUM_VFS, PF, "4", "0", -EBUSY, true },
		{ "it failed in an earlier pass", VERB_SET_NUM_VFS, PF, "", "2", -EREMOTEIO, true },
		{ "those of another PF", VERB_SET_NUM_VFS, SECOND, "4", "0", 0, true },
		{ "its driver was reloaded", VERB_RELOAD_MODULE, "mlx5_core", "", "x=1", 0, false },
		{ "its driver was not", VERB_RELOAD_MODULE, "mlx5_core", "", "x=1", -EBUSY, true },
		{ "another driver was", VERB_RELOAD_MODULE, "erdma", "", "x=1", 0, true },
		{ "something else", VERB_REBIND_DRIVER, "0000:41:00.1", "", "mlx5_core", 0, true },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s, 2);
		add_vfs(&s, PF, 1, true, "02:00:00:00:00:07");
		s.memories[0] = (struct device_memory){ .pci = PF, .was_usable = true };
		s.memories[1] = (struct device_memory){ .pci = "0000:41:00.1", .was_usable = true };
		s.memory.n_devices = 2;
		set_tried(&s, rows[i].verb, rows[i].target, rows[i].to, rows[i].result);
		action_set(&s.tries.actions[0], rows[i].from, rows[i].to);
		plan_forget_ended(&s.node, &s.tries, &s.memory);
		if (s.memory.n_devices != (rows[i].is_kept ? 2 : 1))
			fail_msg("%s: %zu are left", rows[i].name, s.memory.n_devices);
		assert_string_equal(s.memories[0].pci, PF);
	}
}

/* An ibdev that is just being registered has users that cannot be counted yet. */
static void what_came_in_between_is_looked_at_once_more(_unused_ void **state)
{
	static const struct {
		const char *name;
		int n_refused, n_failed;
		bool is_open;
	} rows[] = {
		{ "not tried", 0, 0, true },
		{ "refused by a second look", 1, 0, true },
		{ "refused twice", 2, 0, false },
		{ "refused, then the kernel said no", 1, 1, false },
		{ "the kernel said no", 0, 1, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		bool is_open = false;
		struct scene s;

		set_scene(&s, 1);
		add_vfs(&s, PF, 2, true, ZERO);
		for (int k = 0; k < rows[i].n_refused; k++) {
			set_tried(&s, VERB_SET_NUM_VFS, PF, "0", -EBUSY);
			s.tried[k].is_refused = true;
		}
		if (rows[i].n_failed > 0)
			set_tried(&s, VERB_SET_NUM_VFS, PF, "0", -EBUSY);
		make_plan(&s, &p);
		for (size_t k = 0; k < p.n_actions; k++)
			is_open |= action_is_open(&p.actions[k]) &&
				   p.actions[k].verb == VERB_SET_NUM_VFS &&
				   action_is_to(&p.actions[k], 0);
		if (is_open != rows[i].is_open)
			fail_msg("%s: %s", rows[i].name, is_open ? "open" : "not open");
	}
}

/* Zero GUIDs of new VFs are mended, also when another program wrote those that were there before.
 */
static void a_new_vf_inherits_nothing(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	_cleanup_(memory_done) struct memory next = {};
	struct scene s;

	set_scene(&s, 1);
	add_vfs(&s, PF, 1, true, ZERO);
	guids_are_zero(&s);
	was_usable(&s);
	s.memories[0].was_rebuilt = true;
	set_tried(&s, VERB_SET_NUM_VFS, PF, "1", 0);
	action_set_numbers(&s.tries.actions[0], 0, 1);
	assert_plan(&s, "remembered", "wait 41:00.1 > waiting zero-guid");

	plan_forget_ended(&s.node, &s.tries, &s.memory);
	assert_plan(&s, "forgotten", "rebind-driver 41:00.1 >mlx5_core");
	make_plan(&s, &p);
	assert_int_equal(take_next(&s.config, &s.node, &s.memory, &p, "boot-1", &next), 0);
	assert_false(memory_device(&next, "0000:41:00.1")->was_usable);
	assert_false(memory_device(&next, "0000:41:00.1")->was_rebuilt);
}

/* --- identity --- */

static void mac_of(struct scene *s, const char *vf, char *ret)
{
	_cleanup_(plan_done) struct plan p = {};

	make_plan(s, &p);
	for (size_t i = 0; i < p.n_actions; i++)
		if (p.actions[i].verb == VERB_SET_VF_MAC && streq(p.actions[i].target, vf)) {
			copy(ret, 24, p.actions[i].text.to);
			return;
		}
	fail_msg("no MAC for %s", vf);
}

static bool is_local_unicast(const char *address)
{
	unsigned long first = strtoul((char[]){ address[0], address[1], '\0' }, NULL, 16);

	return (first & 3) == 2;
}

static void a_mac_follows_from_the_card_and_the_index_alone(_unused_ void **state)
{
	char one[24], other[24];
	struct scene s;

	set_scene(&s, 2);
	add_vfs(&s, PF, 2, false, ZERO);
	mac_of(&s, "0000:41:00.1", one);
	/* The algorithm is a promise: MACs are the same after an update of this service. */
	assert_string_equal(one, "fe:64:63:0e:0c:d6");
	assert_true(is_local_unicast(one));
	mac_of(&s, "0000:41:00.2", other);
	assert_string_not_equal(one, other);

	COPY(s.netdevs[0].name, "renamed0");
	COPY(s.netdevs[0].mac, "02:99:99:99:99:99");
	COPY(s.node.boot_id, "boot-2");
	mac_of(&s, "0000:41:00.1", other);
	assert_string_equal(one, other);

	/* In another slot, with another card beside it. */
	set_scene(&s, 2);
	COPY(s.netdevs[0].perm_mac, "b8:ce:f6:00:00:00");
	add_card(&s, SECOND, "b8:ce:f6:41:00:00");
	add_vfs(&s, SECOND, 2, false, ZERO);
	mac_of(&s, "0000:42:00.1", other);
	assert_string_equal(one, other);
}

static void no_two_functions_of_a_node_have_one_mac(_unused_ void **state)
{
	char first[24], next[24], third[24], again[24];
	struct scene s;

	/* Two cards that claim the same permanent MAC. */
	set_scene(&s, MAX_VF);
	add_card(&s, SECOND, "b8:ce:f6:41:00:00");
	add_vfs(&s, PF, MAX_VF, false, ZERO);
	add_vfs(&s, SECOND, MAX_VF, false, ZERO);
	{
		_cleanup_(plan_done) struct plan p = {};
		size_t n = 0;

		make_plan(&s, &p);
		for (size_t i = 0; i < p.n_actions; i++) {
			if (p.actions[i].verb != VERB_SET_VF_MAC)
				continue;
			n++;
			assert_true(is_local_unicast(p.actions[i].text.to));
			for (size_t k = 0; k < i; k++)
				assert_string_not_equal(p.actions[i].text.to, p.actions[k].text.to);
		}
		assert_int_equal(n, 2 * MAX_VF);
	}

	/* Taken as a MAC, a permanent MAC, or the admin MAC of another VF: each time the next. */
	set_scene(&s, 2);
	add_vfs(&s, PF, 2, false, ZERO);
	mac_of(&s, "0000:41:00.1", first);
	add_devices(&s, "", first, "");
	mac_of(&s, "0000:41:00.1", next);
	assert_string_not_equal(first, next);
	COPY(s.netdevs[0].mac, next);
	mac_of(&s, "0000:41:00.1", third);
	assert_string_not_equal(next, third);
	COPY(s.infos[1].mac, third);
	mac_of(&s, "0000:41:00.1", again);
	assert_string_not_equal(third, again);
	COPY(s.netdevs[s.node.n_netdevs - 1].mac, "02:55:55:55:55:55");
	COPY(s.netdevs[s.node.n_netdevs - 1].perm_mac, first);
	mac_of(&s, "0000:41:00.1", again);
	assert_string_not_equal(first, again);

	/* Its own netdev has it already: that is no other. */
	set_scene(&s, 1);
	add_vfs(&s, PF, 1, true, ZERO);
	COPY(vf_netdev(&s)->mac, first);
	mac_of(&s, "0000:41:00.1", again);
	assert_string_equal(first, again);
}

static void a_card_without_permanent_mac_falls_back_and_says_so(_unused_ void **state)
{
	char by_mac[24], by_guid[24], by_present[24];
	struct scene s;

	set_scene(&s, 1);
	add_vfs(&s, PF, 1, false, ZERO);
	mac_of(&s, "0000:41:00.1", by_mac);
	s.netdevs[0].perm_mac[0] = '\0';
	mac_of(&s, "0000:41:00.1", by_guid);
	assert_string_not_equal(by_mac, by_guid);
	COPY(s.ibdevs[0].node_guid, GUID_0);
	mac_of(&s, "0000:41:00.1", by_present);
	assert_string_equal(by_present,
			    by_mac); /* the present one happens to be the permanent one */
	assert_plan(&s, "unstable",
		    "set-vf-mac 41:00.1 >*\nbind-driver 41:00.1 >mlx5_core\n"
		    "identity-unstable: eth0");
	s.netdevs[0].mac[0] = '\0';
	assert_plan(&s, "nothing at all", "bind-driver 41:00.1 >mlx5_core");
}

static void infiniband(struct scene *s, const char *node, const char *port)
{
	pci_of(s, PF)->class = 0x020700;
	COPY(s->infos[0].node_guid, node);
	COPY(s->infos[0].port_guid, port);
}

static void infiniband_gets_guids(_unused_ void **state)
{
	static const struct {
		const char *name, *node, *port;
		bool is_set;
	} rows[] = {
		{ "none", GUID_0, GUID_0, true },
		{ "none, as a CNI plugin leaves it", GUID_F, GUID_F, true },
		{ "one", "0002:c903:0011:2233", GUID_0, true },
		{ "both", "0002:c903:0011:2233", "0002:c903:0011:2234", false },
		{ "not told", "", "", false },
	};
	struct scene s;

	set_scene(&s, 1);
	s.section.identity = IDENTITY_KEEP;
	pci_of(&s, PF)->class = 0x020700;
	assert_plan(&s, "staged for its link state alone", OFF MAKE("1"));

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		const char *to, *port;

		set_scene(&s, 1);
		add_vfs(&s, PF, 1, false, ZERO);
		switched(&s);
		infiniband(&s, rows[i].node, rows[i].port);
		s.infos[0].link_state = 2;
		make_plan(&s, &p);
		assert_int_equal(p.actions[0].verb,
				 rows[i].is_set ? VERB_SET_VF_GUID : VERB_SET_VF_LINK);
		if (!rows[i].is_set)
			continue;
		to = p.actions[0].text.to;
		port = to + GUID_LEN;
		assert_int_equal(strlen(to), 2 * GUID_LEN - 1);
		assert_false(guid_is_unset(port));
		assert_true(is_local_unicast(port));
		assert_memory_not_equal(to, port, GUID_LEN - 1);
		if (!guid_is_unset(rows[i].node))
			assert_memory_equal(to, rows[i].node, GUID_LEN - 1);
		else
			assert_true(is_local_unicast(to));
		assert_int_equal(p.actions[1].verb, VERB_SET_VF_LINK);
	}
}

/* IPoIB has another QP number, and so another MAC, after each start; or nobody loaded ib_ipoib. */
static void guids_follow_from_the_card_alone(_unused_ void **state)
{
	static const struct {
		const char *name, *mac, *node_guid;
	} rows[] = {
		{ "the first start", "00:00:11:07:fe:80:00:00:00:00:00:00:b8:ce:f6:03:00:41:00:00",
		  "b8ce:f603:0041:0000" },
		{ "the next", "00:00:02:9e:fe:80:00:00:00:00:00:00:b8:ce:f6:03:00:41:00:00",
		  "b8ce:f603:0041:0000" },
		{ "by its port", "00:00:02:9e:fe:80:00:00:00:00:00:00:b8:ce:f6:03:00:41:00:00",
		  "" },
		{ "another QP, by its port",
		  "00:00:11:07:fe:80:00:00:00:00:00:00:b8:ce:f6:03:00:41:00:00", GUID_0 },
	};
	char first[SHOWN_LEN] = "", to[SHOWN_LEN];

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		char card[MAC_LEN];
		struct scene s;

		set_scene(&s, 1);
		add_vfs(&s, PF, 1, false, ZERO);
		switched(&s);
		infiniband(&s, GUID_0, GUID_0);
		COPY(s.netdevs[0].mac, rows[i].mac);
		COPY(s.netdevs[0].perm_mac, rows[i].mac);
		COPY(s.ibdevs[0].node_guid, rows[i].node_guid);
		node_card(&s.node, pci_of(&s, "0000:41:00.1"), card);
		assert_string_equal(card, "b8ce:f603:0041:0000");

		make_plan(&s, &p);
		assert_int_equal(p.actions[0].verb, VERB_SET_VF_GUID);
		if (i == 0)
			COPY(first, action_to(&p.actions[0], to));
		assert_string_equal(action_to(&p.actions[0], to), first);
	}
	/* A promise as well, as with MACs. */
	assert_string_equal(first, "12f8:088b:50fa:2d67 26fb:e167:6c6b:034e");
}

static void no_ipoib(struct scene *s)
{
	pci_of(s, PF)->class = 0x020700;
	s->netdevs[0].pci[0] = s->ibdevs[0].netdev[0] = '\0';
	s->ports[0].gids[0].netdev[0] = '\0';
	COPY(s->ports[0].link_layer, "InfiniBand");
}
static struct module *ipoib_module(struct scene *s, enum module_state state)
{
	struct module *m = &s->modules[s->node.n_modules++];

	no_ipoib(s);
	COPY(m->name, "ib_ipoib");
	m->state = state;
	return m;
}
static void ipoib_available(struct scene *s)
{
	ipoib_module(s, MODULE_AVAILABLE);
}
static void ipoib_loaded(struct scene *s)
{
	ipoib_module(s, MODULE_LOADED);
}
static void ipoib_missing(struct scene *s)
{
	ipoib_module(s, MODULE_MISSING);
}
static void ipoib_blacklisted(struct scene *s)
{
	ipoib_module(s, MODULE_BLACKLISTED);
}
static void ipoib_not_asked_for(struct scene *s)
{
	ipoib_available(s);
	s->section.identity = IDENTITY_KEEP;
}
static void ipoib_of_no_use(struct scene *s)
{
	ipoib_available(s);
	s->memories[s->memory.n_devices++] =
		(struct device_memory){ .pci = PF, .unsupported = VF_SETTING_GUID };
}
static void ipoib_of_ethernet(struct scene *s)
{
	ipoib_available(s);
	pci_of(s, PF)->class = 0x020000;
}

#define NO_IPOIB "set-num-vfs 41:00.0 0>1 waiting no-ipoib"

static void infiniband_vfs_are_made_when_guids_can_be_given(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*spoil)(struct scene *s);
		const char *expected;
	} rows[] = {
		{ "ib_ipoib can be loaded", ipoib_available, "load-module oib >\n" NO_IPOIB },
		{ "it is, but the netdev is elsewhere", ipoib_loaded, NO_IPOIB },
		{ "it must not", ipoib_blacklisted,
		  "load-module oib > refused module-blacklisted\n" NO_IPOIB },
		{ "there is none", ipoib_missing,
		  "load-module oib > impossible module-missing\n" NO_IPOIB },
		{ "a tree does not tell of it", no_ipoib, NO_IPOIB },
		{ "identity is kept", ipoib_not_asked_for, OFF MAKE("1") },
		{ "the driver has no such setting", ipoib_of_no_use, OFF MAKE("1") },
		{ "Ethernet", ipoib_of_ethernet, "set-num-vfs 41:00.0 0>1 waiting in-netns" },
	};
	struct scene s;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		set_scene(&s, 1);
		rows[i].spoil(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}

	/* Made by another program: not bound before they have them. */
	set_scene(&s, 1);
	add_vfs(&s, PF, 1, false, ZERO);
	ipoib_available(&s);
	assert_plan(&s, "unbound", "load-module oib >");
	set_tried(&s, VERB_LOAD_MODULE, "ib_ipoib", "", -ENOENT);
	assert_plan(&s, "unbound, and it cannot be loaded",
		    "load-module oib > failed\nbind-driver 41:00.1 >mlx5_core");

	set_scene(&s, 1);
	add_vfs(&s, PF, 1, true, ZERO);
	ipoib_available(&s);
	assert_plan(&s, "GUIDs of the provider", "");
	s.node.n_vf_infos = 0; /* that netdev would tell them, too */
	COPY(vf_ibdev(&s)->node_guid, GUID_0);
	assert_plan(&s, "none", "load-module oib >");
}

/* --- GPUs, users, words --- */

static bool has_hint(struct scene *s, enum reason reason)
{
	_cleanup_(plan_done) struct plan p = {};

	make_plan(s, &p);
	return ANY(r, p.reasons, p.n_reasons, r->reason == reason);
}

static void sharing_by_many_on_a_node_with_gpus_is_a_hint(_unused_ void **state)
{
	static const struct {
		const char *name;
		enum vf_mode mode;
		uint16_t vendor;
		uint32_t class;
		const char *expected;
	} rows[] = {
		{ "H100", VF_MODE_SHARED_MULTI, 0x10de, 0x030200,
		  "gpu-shared-multi: [Device rail], GPU 0000:90:00.0" },
		{ "GeForce", VF_MODE_SHARED_MULTI, 0x10de, 0x030000,
		  "gpu-shared-multi: [Device rail], GPU 0000:90:00.0" },
		{ "MI300", VF_MODE_SHARED_MULTI, 0x1002, 0x030200,
		  "gpu-shared-multi: [Device rail], GPU 0000:90:00.0" },
		{ "MI200", VF_MODE_SHARED_MULTI, 0x1002, 0x038000,
		  "gpu-shared-multi: [Device rail], GPU 0000:90:00.0" },
		{ "Gaudi", VF_MODE_SHARED_MULTI, 0x1da3, 0x120000,
		  "gpu-shared-multi: [Device rail], GPU 0000:90:00.0" },
		{ "the second head of a screen", VF_MODE_SHARED_MULTI, 0x8086, 0x038000, "" },
		{ "the screen of a BMC", VF_MODE_SHARED_MULTI, 0x1a03, 0x030000, "" },
		{ "its sound", VF_MODE_SHARED_MULTI, 0x10de, 0x040300, "" },
		{ "shared", VF_MODE_SHARED, 0x10de, 0x030200, "" },
	};
	static const struct {
		uint32_t count, n, total;
		bool is_hint;
	} counts[] = {
		{ 1, 0, 8, false }, { 1, 1, 8, false }, { 2, 0, 8, true },
		{ 2, 0, 0, false }, { 2, 2, 8, true },  { 4, 1, 2, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		const uint32_t n = rows[i].mode == VF_MODE_SHARED ? 1 : 2;
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;
		struct pci *gpu;

		set_scene(&s, n);
		s.section.mode = rows[i].mode;
		add_vfs(&s, PF, n, true, "02:00:00:00:00:01");
		gpu = add_pci(&s, "0000:90:00.0", "nvidia");
		gpu->vendor = rows[i].vendor;
		gpu->class = rows[i].class;
		assert_plan(&s, rows[i].name, rows[i].expected);
		make_plan(&s, &p);
		assert_int_equal(p.state, NODE_READY);
	}
	for (size_t i = 0; i < ELEMENTSOF(counts); i++) {
		struct scene s;
		struct pci *gpu;

		set_scene(&s, counts[i].count);
		add_vfs(&s, PF, counts[i].n, true, "02:00:00:00:00:01");
		pci_of(&s, PF)->total_vfs = counts[i].total;
		gpu = add_pci(&s, "0000:90:00.0", "nvidia");
		gpu->vendor = 0x10de;
		gpu->class = 0x030200;
		assert_int_equal(has_hint(&s, REASON_GPU_SHARED_MULTI), counts[i].is_hint);
	}
}

static void every_use_keeps_vfs_and_all_users_are_named(_unused_ void **state)
{
	struct scene s;

	for (enum use u = 0; u < _USE_N; u++) {
		set_scene(&s, 2);
		add_vfs(&s, PF, 4, true, "02:00:00:00:00:01");
		s.users[0] = (struct user){ .target = "0000:41:00.3", .use = u };
		s.node.n_users = 1;
		assert_plan(&s, use_name(u), "set-num-vfs 41:00.0 4>2 needs-reboot vf-in-use");
	}

	for (size_t i = 0; i < ELEMENTSOF(s.users); i++)
		s.users[i] = (struct user){ .target = "0000:41:00.3",
					    .use = USE_CONTEXT,
					    .pid = (uint32_t)i + 100,
					    .command = "python3" };
	s.node.n_users = 2;
	{
		_cleanup_(plan_done) struct plan p = {};

		make_plan(&s, &p);
		assert_string_equal(p.actions[0].detail,
				    "0000:41:00.3: open-context by python3 (pid 100); "
				    "0000:41:00.3: open-context by python3 (pid 101)");
	}
	s.node.n_users = ELEMENTSOF(s.users);
	{
		_cleanup_(plan_done) struct plan p = {};

		make_plan(&s, &p);
		assert_true(strlen(p.actions[0].detail) < ACTION_TEXT_LEN - 1);
		assert_non_null(strstr(p.actions[0].detail, "); and "));
		assert_non_null(strstr(p.actions[0].detail, " more"));
	}
}

static void what_the_kernel_refuses_has_a_reason_of_its_own(_unused_ void **state)
{
	static const struct {
		int error;
		const char *code, *advice;
	} rows[] = {
		{ ERANGE, "too-many-vfs", "NUM_OF_VFS" },
		{ EBUSY, "vf-busy", "sriov_numvfs" },
		{ ENOENT, "vf-driver", "exclusive" },
		{ EINVAL, "vf-rejected", "dmesg" },
		{ ENOMEM, "vf-no-room", "pci=realloc" },
		{ ENOMEM, "vf-no-room", "pci=assign-busses" },
		{ ENOMEM, "vf-no-room", "BIOS" },
		{ EIO, "vf-firmware", "firmware" },
		{ EREMOTEIO, "vf-firmware", "firmware" },
		{ EREMOTEIO, "vf-firmware", "rings" },
		{ EPERM, "vf-assigned", "virtual machine" },
		{ ETIMEDOUT, "action-timeout", "reboot" },
		{ EFAULT, "action-failed", "dmesg" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct action a = { .verb = VERB_SET_NUM_VFS,
				    .is_done = true,
				    .result = -rows[i].error,
				    .target = "",
				    .subject = "",
				    .detail = "",
				    .error = "" };

		assert_string_equal(reason_code(action_failure(&a)), rows[i].code);
		assert_non_null(strstr(reason_advice(action_failure(&a)), rows[i].advice));
	}
}

static void assert_explained(struct scene *s, const char *of, int64_t wanted, const char *expected)
{
	char words[EXPLAIN_VFS_LEN];

	assert_int_equal(plan_explain_vfs(&s->config, &s->node, &s->memory, pci_of(s, of), words,
					  sizeof(words)),
			 wanted);
	assert_string_equal(words, expected);
}

static void explain_says_what_becomes_of_vfs(_unused_ void **state)
{
	struct device_config many[8] = {};
	char words[EXPLAIN_VFS_LEN], name[64];
	struct scene s;

	set_scene(&s, 4);
	add_vfs(&s, PF, 2, true, "02:00:00:00:00:01");
	assert_explained(&s, PF, 4,
			 "[Device rail] is the first section that matches: "
			 "VirtualFunctions=shared-multi, 4 VFs asked for, 2 there, 7 possible");
	assert_explained(&s, "0000:41:00.1", 4,
			 "its PF 0000:41:00.0: [Device rail] is the first section that matches: "
			 "VirtualFunctions=shared-multi, 4 VFs asked for, 2 there, 7 possible");

	/* Later sections that match have nothing to say. */
	s.config.devices = many;
	s.config.n_devices = 3;
	many[0] = many[1] = many[2] = s.section;
	COPY(many[0].name, "other");
	many[0].match = (char *)"driver:ice";
	COPY(many[2].name, "late");
	assert_explained(&s, PF, 4,
			 "[Device rail] is the first section that matches, before [Device late], "
			 "which matches too: VirtualFunctions=shared-multi, 4 VFs asked for, 2 "
			 "there, 7 possible");

	/* More of them than anybody wants to read, with the longest names there can be. */
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	s.config.n_devices = ELEMENTSOF(many);
	for (size_t i = 0; i < ELEMENTSOF(many); i++) {
		many[i] = s.section;
		COPY(many[i].name, name);
	}
	plan_explain_vfs(&s.config, &s.node, &s.memory, pci_of(&s, "0000:41:00.1"), words,
			 sizeof(words));
	assert_non_null(strstr(words, "] and 3 more, which match too: "));
	assert_non_null(strstr(words, "4 VFs asked for, 2 there, 7 possible"));

	s.config.devices = &s.section;
	s.config.n_devices = 1;
	s.section.mode = VF_MODE_KEEP;
	assert_explained(&s, PF, -1,
			 "[Device rail] is the first section that matches: VirtualFunctions=keep, "
			 "2 VFs there, left alone");
	s.config.n_devices = 0;
	assert_explained(&s, PF, -1,
			 "no [Device NAME] section matches: 2 VFs there, left alone (a "
			 "section with VirtualFunctions=exclusive would remove them)");
	assert_explained(&s, "0000:41:00.2", -1,
			 "its PF 0000:41:00.0: no [Device NAME] section matches: 2 VFs there, left "
			 "alone (a section with VirtualFunctions=exclusive would remove them)");
	pci_of(&s, PF)->num_vfs = 0;
	assert_explained(&s, PF, -1, "no [Device NAME] section matches: it is not managed");

	/* A section is for NICs only, whatever it matches. */
	s.config.n_devices = 1;
	s.section.match = (char *)"pci:*";
	pci_of(&s, PF)->class = 0x010802;
	s.node.n_ibdevs = 0;
	assert_explained(&s, PF, -1, "no [Device NAME] section matches: it is not managed");
}

/* Firmware that enables fewer VFs than asked for need not enable the first ones. */
static void the_users_of_vfs_behind_a_gap_are_seen(_unused_ void **state)
{
	struct pci pcis[] = {
		{ .address = "0000:41:00.0", .num_vfs = 1, .total_vfs = 4 },
		{ .address = "0000:41:00.4", .physfn = "0000:41:00.0", .vf_index = 3 },
	};
	struct user user = { .target = "0000:41:00.4", .use = USE_CONTEXT, .pid = 7 };
	const struct node n = {
		.pcis = pcis, .n_pcis = 2, .has_users = true, .users = &user, .n_users = 1
	};
	_cleanup_(graph_done) struct graph g = {};
	const struct memory memory = {};
	char text[128];

	assert_int_equal(graph_make(&n, &g), 0);
	assert_true(in_use_of_vfs(&g, &memory, &pcis[0], text, sizeof(text)));
	assert_true(strstr(text, "0000:41:00.4"));
}

static void vf_is_in_use_by_its_representor(_unused_ void **state)
{
	static const struct {
		const char *port_name;
		uint32_t master, ifindex; /* of the representor; with the address */
		const char *expected;
	} rows[] = {
		{ "pf0vf1", 9, 0, "the host uses r1, the representor of a VF, below br0" },
		{ "c1pf0vf1", 8, 0, "the host uses r1, the representor of a VF" }, /* not seen */
		{ "pf0vf1", 0, 3, "the host uses r1, the representor of a VF" },
		{ "pf0vf1", 0, 2, "" },
		{ "pf0sf1", 9, 0, "" }, /* it stays without VFs */
		{ "p0", 9, 0, "" },
	};

	FOREACH(row, rows, ELEMENTSOF(rows)) {
		struct pci pcis[] = {
			{ .address = "0000:41:00.0", .num_vfs = 1, .eswitch = "switchdev" },
			{ .address = "0000:41:00.1", .physfn = "0000:41:00.0" },
		};
		struct netdev netdevs[] = {
			{ 2, "eth0", "0000:41:00.0", .perm_mac = "02:00:00:00:00:01" },
			{ 3, "r1", "0000:41:00.0", .master = row->master },
			{ 9, "br0", .kind = "bridge" },
		};
		struct address a = { .ifindex = row->ifindex, .family = AF_INET };
		const struct node n = { .pcis = pcis,
					.n_pcis = 2,
					.netdevs = netdevs,
					.n_netdevs = 3,
					.addresses = &a,
					.n_addresses = row->ifindex > 0 };
		_cleanup_(graph_done) struct graph g = {};
		const struct memory memory = {};
		char text[128];

		COPY(netdevs[1].port_name, row->port_name);
		assert_int_equal(graph_make(&n, &g), 0);
		assert_int_equal(in_use_of_vfs(&g, &memory, &pcis[0], text, sizeof(text)),
				 row->expected[0] != '\0');
		assert_string_equal(text, row->expected);
		assert_false(in_use_of_function(&g, &memory, &pcis[1], text, sizeof(text)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vf_that_was_made_again_is_another),
		cmocka_unit_test(vf_is_in_use_by_its_representor),
		cmocka_unit_test(what_came_in_between_is_looked_at_once_more),
		cmocka_unit_test(a_new_vf_inherits_nothing),
		cmocka_unit_test(vfs_are_born_with_autoprobe_off),
		cmocka_unit_test(unbound_vfs_get_all_they_need_before_they_are_bound),
		cmocka_unit_test(some_pfs_are_brought_up_once_their_vfs_are_there),
		cmocka_unit_test(vfs_whose_rdma_is_not_known_are_made_and_it_is_said),
		cmocka_unit_test(the_driver_is_loaded_before_vfs_born_unbound_are_bound),
		cmocka_unit_test(what_goes_on_is_planned_neither_again_nor_otherwise),
		cmocka_unit_test(a_stuck_card_keeps_no_other_from_what_is_begun),
		cmocka_unit_test(what_we_switched_is_restored_whatever_is_asked_for),
		cmocka_unit_test(nothing_is_done_to_the_vfs_of_others),
		cmocka_unit_test(a_bound_vf_is_touched_only_when_it_has_nothing_and_nobody),
		cmocka_unit_test(a_vf_of_another_program_gets_nothing),
		cmocka_unit_test(vfs_are_left_to_a_driver_container),
		cmocka_unit_test(vfs_of_others_are_not_missing_beside_one_of_ours),
		cmocka_unit_test(trust_is_not_changed_while_a_process_uses_it),
		cmocka_unit_test(what_a_card_refuses_is_not_tried_again),
		cmocka_unit_test(a_card_that_tells_nothing_of_its_vfs_refuses_what_is_set),
		cmocka_unit_test(what_a_driver_has_not_is_no_failure_and_is_remembered),
		cmocka_unit_test(memory_is_of_the_card_not_of_its_slot),
		cmocka_unit_test(a_mac_follows_from_the_card_and_the_index_alone),
		cmocka_unit_test(no_two_functions_of_a_node_have_one_mac),
		cmocka_unit_test(a_card_without_permanent_mac_falls_back_and_says_so),
		cmocka_unit_test(infiniband_gets_guids),
		cmocka_unit_test(guids_follow_from_the_card_alone),
		cmocka_unit_test(infiniband_vfs_are_made_when_guids_can_be_given),
		cmocka_unit_test(sharing_by_many_on_a_node_with_gpus_is_a_hint),
		cmocka_unit_test(every_use_keeps_vfs_and_all_users_are_named),
		cmocka_unit_test(what_the_kernel_refuses_has_a_reason_of_its_own),
		cmocka_unit_test(explain_says_what_becomes_of_vfs),
		cmocka_unit_test(the_users_of_vfs_behind_a_gap_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
