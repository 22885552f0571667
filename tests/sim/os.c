/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doors: calls of the program's os that would reach a kernel or the time, which the linker gives
 * to these (--wrap in meson.build). What is about files goes on to the real ones, on the disk of
 * this life (disk.h), after it had its chance to fail.
 */
#include "../../src/base/log.h"
#include "../../src/model/paths.h"
#include "../../src/step/steps.h"
#include "sim.h"

#include <jansson.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdarg.h>

#define DEVICES "sys/bus/pci/devices/"

/* The linker makes these names, and those that are defined below: nobody declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
json_t *__real_json_loadb(const char *text, size_t size, size_t flags, json_error_t *error);
char *__real_json_dumps(const json_t *document, size_t flags);
int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __real_fs_open_root(const char *path, struct fs *ret);
int __real_fs_count(const struct fs *fs, const char *path, const char *prefix, uint32_t *ret);
int __real_fs_read(const struct fs *fs, const char *path, char *buf, size_t size);
int __real_fs_read_u32(const struct fs *fs, const char *path, uint32_t *ret);
int __real_fs_read_link_name(const struct fs *fs, const char *path, char *buf, size_t size);
int __real_fs_exists(const struct fs *fs, const char *path);
int __real_fs_replace(const struct fs *fs, const char *path, const char *data, size_t size,
		      unsigned mode);
int __real_fs_remove(const struct fs *fs, const char *path);
int __real_fs_rename(const struct fs *fs, const char *from, const char *to, bool is_new);
int __real_fs_output(const struct fs *fs, const char *path, const char *data, size_t size,
		     unsigned mode);
int __real_fs_output_remove(const struct fs *fs, const char *path);
struct work;

/* --- our own files --- */

/*
 * Half of a life would go into parsing JSON that the same process wrote. A document that was
 * printed or parsed is kept with its text, and handed out as a copy when that text is parsed: the
 * caller may replace its members but not what is in them. Of some texts, by their bytes, the
 * parser has to find what was printed.
 */
static struct known {
	uint32_t hash;
	char *text; /* owned */
	size_t size;
	json_t *document; /* owned */
} known[32];

/* FNV-1a, eight bytes at a time. */
static uint32_t hash_of(const char *text, size_t size)
{
	uint64_t hash = UINT64_C(14695981039346656037) ^ size, word;

	for (; size >= sizeof(word); text += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = (hash ^ word) * UINT64_C(1099511628211);
	}
	for (; size > 0; text++, size--)
		hash = (hash ^ (uint8_t)*text) * UINT64_C(1099511628211);
	return (uint32_t)(hash >> 32);
}

static struct known *find_known(uint32_t hash, const char *text, size_t size)
{
	for (struct known *k = known; k < known + ELEMENTSOF(known); k++)
		if (k->document && k->hash == hash && k->size == size &&
		    memcmp(k->text, text, size) == 0)
			return k;
	return NULL;
}

static void keep(uint32_t hash, const char *text, size_t size, json_t *document)
{
	static size_t next;
	struct known *k = &known[next++ % ELEMENTSOF(known)];

	free(k->text);
	json_decref(k->document);
	*k = (struct known){ hash, sim_must(malloc(size + 1)), size, json_incref(document) };
	memcpy(k->text, text, size);
}

json_t *__wrap_json_loadb(const char *text, size_t size, size_t flags, json_error_t *error)
{
	/* The newline at its end is not the document's. */
	const size_t bare = size - (size > 0 && text[size - 1] == '\n');
	const uint32_t hash = hash_of(text, bare);
	const struct known *k = find_known(hash, text, bare);
	json_auto_t *document = NULL;

	if (k && hash % 64 > 0)
		return json_copy(k->document);
	document = __real_json_loadb(text, size, flags, error);
	if (k && !json_equal(document, k->document))
		sim_fail("a document is parsed as another one than was printed");
	if (document && !k)
		keep(hash, text, bare, document);
	return json_copy(document);
}

char *__wrap_json_dumps(const json_t *document, size_t flags)
{
	char *text = __real_json_dumps(document, flags);
	const size_t size = text ? strlen(text) : 0;
	const uint32_t hash = hash_of(text, size);

	if (text && !find_known(hash, text, size))
		keep(hash, text, size, (json_t *)document);
	return text;
}

/* --- time --- */

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	const uint64_t usec =
		sim.now_usec + (id == CLOCK_REALTIME ? (uint64_t)sim.wall_sec * USEC_PER_SEC : 0);

	*ts = (struct timespec){ (time_t)(usec / USEC_PER_SEC),
				 (long)(usec % USEC_PER_SEC * NSEC_PER_USEC) };
	return 0;
}

time_t __wrap_time(time_t *ret _unused_)
{
	return (time_t)(sim.wall_sec + (int64_t)(sim.now_usec / USEC_PER_SEC));
}

/* The process may die before any change that it makes; nothing of it happens after that. */
static bool is_alive(void)
{
	if (sim.n_doors_left > 0 && --sim.n_doors_left == 0 && !sim.is_dead) {
		sim_trace("the process is killed");
		sim.is_dead = true;
	}
	return !sim.is_dead;
}

enum touch {
	TOUCH_IS_HARMLESS,
	TOUCH_IS_FELT,   /* by who uses it: not where a look has shown one */
	TOUCH_TAKES_AWAY /* looked at once more right before */
};

/* Of a change of this function in the kernel: may it be made? */
static int touch(const struct func *f, const char *what, enum touch kind)
{
	const bool is_used = f->user > 0 || f->is_in_pod;

	if (!is_alive())
		return -ECANCELED;
	sim.n_kernel_writes++;
	sim_trace("  %s: %s", f->address, what);
	if (f->habit) /* not what is gone */
		links_touch(&sim.funcs[f - sim.funcs]);
	if (!streq(sim.state_hash, sim.config->hash) && !sim.is_reverting)
		sim_fail("%s is changed, and state.json is of another configuration", f->address);
	if (sim.is_reverting && !fs_exists(&sim.os.fs, HOLD_PATH))
		sim_fail("revert changes the node, and the service is not held");
	if (!sim.is_by_hand && fs_exists(&sim.os.fs, HOLD_PATH))
		sim_fail("%s is changed after revert: %s", f->address, what);
	if (f->is_node)
		sim_fail("%s carries the node, and is changed: %s", f->address, what);
	if (is_used && (kind == TOUCH_TAKES_AWAY || (kind == TOUCH_IS_FELT && f->was_used_at_look)))
		sim_fail("%s is in use by %" PRIu32 ", and is taken away: %s", f->address, f->user,
			 what);
	return 0;
}

int os_touch(const struct func *f, const char *what)
{
	static const struct func none = { .address = "a gone netdev" };

	return touch(f ? f : &none, what, TOUCH_IS_HARMLESS);
}

int os_touch_felt(const struct func *f, const char *what)
{
	return touch(f, what, TOUCH_IS_FELT);
}

int os_touch_away(const struct func *f, const char *what)
{
	return touch(f, what, TOUCH_TAKES_AWAY);
}

bool os_is_managed(const struct func *f)
{
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	const struct pci *pci;

	kernel_show(&n);
	pci = node_pci(&n, f->pf >= 0 ? sim.funcs[f->pf].address : f->address);
	return pci && plan_section_of(sim.config, &n, &memory, pci) &&
	       (f->pf < 0 || plan_section_of(sim.config, &n, &memory, pci)->mode >= VF_MODE_SHARED);
}

/* Does the section of this PF ask for another number than there is? */
static bool wants_other(const struct func *f)
{
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	const struct pci *pci;

	kernel_show(&n);
	pci = node_pci(&n, f->address);
	for (size_t i = 0; i < sim.config->n_devices && pci; i++) {
		const struct device_config *dc = &sim.config->devices[i];

		if (!plan_is_match(dc->match, &n, &memory, pci))
			continue;
		switch (dc->mode) {
		case VF_MODE_EXCLUSIVE:
			return true;
		case VF_MODE_SHARED:
			return f->num_vfs != 1;
		case VF_MODE_SHARED_MULTI:
			return f->num_vfs != (dc->count == COUNT_MAX ? f->total_vfs : dc->count);
		default:
			return false;
		}
	}
	return false;
}

static int write_num_vfs(struct func *f, const char *value)
{
	const uint32_t n = (uint32_t)strtoul(value, NULL, 10);
	int r = touch(f, n > 0 ? "VFs are made" : "VFs are removed", TOUCH_IS_HARMLESS);

	if (r < 0)
		return r;
	if (sim.locked_until_usec > sim.now_usec && sim.is_foreign) /* it waits for the lock */
		sim.cost_usec += sim.locked_until_usec - sim.now_usec;
	else if (sim.locked_until_usec > sim.now_usec)
		sim_fail("%s: written while another number of VFs is being written", f->address);
	for (size_t i = 0; i < sim.n_funcs && n == 0; i++)
		if (sim.funcs[i].pf == f - sim.funcs && func_is_there(&sim.funcs[i])) {
			r = touch(&sim.funcs[i], "removed", TOUCH_TAKES_AWAY);
			if (r < 0)
				return r;
		}
	/* A bond that came since the look is not seen: VFs are made without another one. */
	if (n > 0 &&
	    ((kernel_is_lag(f) && f->was_lag_at_look) || (f->is_port && sim.is_bond_early)))
		sim_fail("%s: VFs are made on what is, or is to be, a LAG", f->address);
	if (n == 0 && f->num_vfs > 0 && !sim.is_removal_asked && !wants_other(f))
		sim_fail("%s: VFs are removed, and the configuration does not ask for it",
			 f->address);
	return kernel_set_num_vfs(f, n);
}

static int write_autoprobe(struct func *f, const char *value)
{
	int r = touch(f, "sriov_drivers_autoprobe", TOUCH_IS_HARMLESS);

	if (r >= 0 && sim_chance(sim.rates.error / 4)) {
		f->is_odd = true;
		return -EIO;
	}
	if (r >= 0)
		f->autoprobe = streq(value, "1");
	return r;
}

static int probe(struct func *f)
{
	int r = touch(f, "probed", TOUCH_IS_HARMLESS);

	if (r < 0)
		return r;
	sim.cost_usec += f->habit->bind_usec;
	if (sim_chance(sim.rates.slow))
		sim.cost_usec += sim_random(60 * USEC_PER_SEC);
	if (sim_chance(sim.rates.error / 2))
		return -EIO;
	return f->is_bound || (f->pf >= 0 && !sim.funcs[f->pf].autoprobe) ? 0 : kernel_bind(f);
}

static int unbind(struct func *f)
{
	int r = touch(f, "unbound", TOUCH_TAKES_AWAY);

	if (r >= 0)
		kernel_unbind(f);
	return r;
}

/* The function of a path in sysfs, and what is after it. */
static struct func *of_path(const char *path, const char **ret_rest)
{
	const char *address = after(path, DEVICES);
	const size_t len = address ? strcspn(address, "/") : 0;
	struct func *f = address ? kernel_find(address, len) : NULL;

	*ret_rest = address ? address + len : "";
	return f && f->appears_usec != UINT64_MAX ? f : NULL;
}

int __wrap_fs_write_attribute(const struct fs *fs _unused_, const char *path, const char *value)
{
	const char *rest;
	struct func *f = of_path(path, &rest);

	if (streq(path, "sys/bus/pci/drivers_probe")) {
		f = kernel_find(value, strlen(value));
		return f && f->appears_usec != UINT64_MAX ? probe(f) : -ENODEV;
	}
	if (after(path, "proc/sys/net/ipv4/conf/"))
		return routes_write_conf(after(path, "proc/sys/net/ipv4/conf/"), value);
	if (!f)
		return -ENOENT;
	if (streq(rest, "/sriov_numvfs"))
		return write_num_vfs(f, value);
	if (streq(rest, "/sriov_drivers_autoprobe"))
		return write_autoprobe(f, value);
	if (streq(rest, "/driver/unbind"))
		return unbind(f);
	sim_fail("/%s is written, and the model does not know it", path);
	return -ENOENT;
}

int __wrap_fs_writer(const struct fs *fs _unused_, const char *path)
{
	const char *rest;
	const struct func *f = of_path(path, &rest);

	return f && f == sim.locked && sim.locked_until_usec > sim.now_usec ? (int)sim.writer_pid
									    : 0;
}

int __wrap_fs_count(const struct fs *fs, const char *path, const char *prefix, uint32_t *ret)
{
	const char *rest;
	const struct func *f = of_path(path, &rest);

	if (!f)
		return is_prefix(path, DEVICES) ? -ENOENT : __real_fs_count(fs, path, prefix, ret);
	*ret = kernel_count(f);
	return 0;
}

int __wrap_fs_read(const struct fs *fs, const char *path, char *buf, size_t size)
{
	const char *rest = after(path, "proc/");

	if (rest && *rest >= '0' && *rest <= '9') { /* comm of a process of ours */
		if (strtoul(rest, NULL, 10) != sim.writer_pid ||
		    sim.locked_until_usec <= sim.now_usec)
			return -ENOENT;
		copy(buf, size, program_invocation_short_name);
		return 0;
	}
	if (streq(path, "proc/sys/kernel/random/boot_id")) {
		copy(buf, size, sim.boot_id);
		return 0;
	}
	return __real_fs_read(fs, path, buf, size);
}

int __wrap_fs_read_u32(const struct fs *fs, const char *path, uint32_t *ret)
{
	const char *rest, *name = after(path, "sys/class/net/");
	const struct func *f = of_path(path, &rest);

	for (size_t i = 0; i < sim.n_funcs && name; i++)
		if (is_prefix(name, sim.funcs[i].netdev) &&
		    name[strlen(sim.funcs[i].netdev)] == '/' && func_is_there(&sim.funcs[i])) {
			*ret = sim.funcs[i].is_random; /* NET_ADDR_RANDOM */
			return 0;
		}
	if (name || (is_prefix(path, DEVICES) && !f))
		return -ENOENT;
	if (!f)
		return __real_fs_read_u32(fs, path, ret);
	if (streq(rest, "/sriov_numvfs") && sim.locked_until_usec > sim.now_usec)
		sim.cost_usec += sim.locked_until_usec - sim.now_usec;
	*ret = streq(rest, "/sriov_numvfs") ? f->num_vfs : f->autoprobe;
	return 0;
}

int __wrap_fs_read_link_name(const struct fs *fs, const char *path, char *buf, size_t size)
{
	const char *rest;
	const struct func *f = of_path(path, &rest);

	if (!is_prefix(path, DEVICES))
		return __real_fs_read_link_name(fs, path, buf, size);
	if (!f || !f->is_bound)
		return -ENOENT;
	copy(buf, size, f->habit->driver);
	return 0;
}

int __wrap_fs_exists(const struct fs *fs, const char *path)
{
	const char *rest;
	const struct func *f = of_path(path, &rest);

	if (!is_prefix(path, DEVICES))
		return __real_fs_exists(fs, path);
	if (!f)
		return false;
	return streq(rest, "/driver") ? f->is_bound : streq(rest, "/physfn") ? f->pf >= 0 : true;
}

/* --- files --- */

int __wrap_fs_open_root(const char *path, struct fs *ret)
{
	int r = __real_fs_open_root(path, ret);

	if (r >= 0)
		ret->is_live = true; /* the kernel behind it is the model */
	return r;
}

static int may_write(const char *path)
{
	if (!is_alive())
		return -EROFS;
	if (sim.full & (is_prefix(path, "var/") ? 1 : 2) || sim_chance(sim.rates.file))
		return sim_chance(500) ? -ENOSPC : -EROFS;
	return 0;
}

int __wrap_fs_replace(const struct fs *fs, const char *path, const char *data, size_t size,
		      unsigned mode)
{
	int r = may_write(path);

	if (r >= 0)
		r = __real_fs_replace(fs, path, data, size, mode);
	/* A file with VFs that the last look saw while their PF was here has what that has of them.
	 */
	for (size_t i = 0; i < sim.n_funcs && r >= 0 && streq(path, MEMORY_BOOT_PATH); i++)
		sim.funcs[i].was_usable_with_pf |=
			sim.funcs[i].was_with_pf_at_look &&
			memmem(data, size, sim.funcs[i].address, strlen(sim.funcs[i].address));
	if (r > 0) {
		sim.n_file_writes++;
		sim_trace("  /%s is written", path);
	}
	if (r >= 0 && streq(path, STATE_PATH))
		COPY(sim.state_hash, sim.config->hash);
	return r;
}

int __wrap_fs_remove(const struct fs *fs, const char *path)
{
	int r = __real_fs_exists(fs, path) ? may_write(path) : 0;

	return r < 0 ? r : __real_fs_remove(fs, path);
}

int __wrap_fs_rename(const struct fs *fs, const char *from, const char *to, bool is_new)
{
	int r = may_write(to);

	if (r >= 0)
		COPY(sim.state_hash, sim.config->hash);
	return r < 0 ? r : __real_fs_rename(fs, from, to, is_new);
}

/* A device that is handed out was usable when it was looked at, or less than SettleSec= before. */
static void check_plugin_file(const char *path, const char *text)
{
	if (!strstr(path, "device-plugin/"))
		return;
	for (const char *at = text; (at = strstr(at, "0000:")); at++) {
		const struct func *f = kernel_find(at, strlen("0000:00:00.0"));

		if (!f || (!f->was_usable_at_look &&
			   (f->lost_usec == 0 ||
			    (f->lost_usec < sim.look_usec &&
			     sim.look_usec - f->lost_usec >= sim.config->service.settle_usec))))
			sim_fail("%.12s is handed out, and is not usable", at);
	}
	links_check_plugin_file(text);
}

int __wrap_fs_output(const struct fs *fs, const char *path, const char *data, size_t size,
		     unsigned mode)
{
	int r = may_write(path);

	if (r >= 0)
		r = __real_fs_output(fs, path, data, size, mode);
	if (r > 0) {
		sim.n_file_writes++;
		sim_trace("  /%s is written", path);
		check_plugin_file(path, data);
	}
	return r;
}

int __wrap_fs_output_remove(const struct fs *fs, const char *path)
{
	int r = may_write(path);

	return r < 0 ? r : __real_fs_output_remove(fs, path);
}

/* --- netlink, systemd, the log --- */

int __wrap_netlink_open(struct netlink *nl _unused_)
{
	return 0;
}

int __wrap_vf_list(struct netlink *nl _unused_, uint32_t ifindex, struct vf_info **ret,
		   size_t *ret_n)
{
	const struct func *pf = kernel_of_ifindex(ifindex);

	*ret = NULL;
	*ret_n = 0;
	for (size_t i = 0; i < sim.n_funcs && pf; i++) {
		const struct func *f = &sim.funcs[i];
		struct vf_info *slot;

		if (f->pf != pf - sim.funcs || !func_is_there(f))
			continue;
		slot = GROW(*ret, *ret_n);
		*slot = f->info;
		/* IFLA_VF_MAC of these drivers is what the VF's own driver made up. */
		if (f->habit->flags & HABIT_RANDOM && f->is_bound && f->is_random &&
		    streq(f->info.mac, "00:00:00:00:00:00"))
			COPY(slot->mac, f->mac);
	}
	return 0;
}

/* A setting of a VF that its PF's driver makes. */
static int set_vf(uint32_t ifindex, uint32_t vf, const char *what, struct func **ret)
{
	struct func *pf = kernel_of_ifindex(ifindex);

	for (size_t i = 0; i < sim.n_funcs && pf; i++)
		if (sim.funcs[i].pf == pf - sim.funcs && sim.funcs[i].vf_index == vf &&
		    func_is_there(&sim.funcs[i])) {
			*ret = &sim.funcs[i];
			sim.cost_usec += 2 * USEC_PER_MSEC;
			if (sim_chance(sim.rates.error / 2)) {
				(*ret)->is_odd = (*ret)->is_spoilt = true;
				return -EBUSY;
			}
			return touch(*ret, what,
				     streq(what, "link state") ? TOUCH_IS_HARMLESS : TOUCH_IS_FELT);
		}
	return -ENODEV;
}

/* The same in each boot. */
static int give(struct func *f, const char *id)
{
	if (f->given[0] && !streq(f->given, id))
		sim_fail("%s gets the identity %s, and had %s before", f->address, id, f->given);
	COPY(f->given, id);
	return 0;
}

int __wrap_vf_set_mac(struct netlink *nl _unused_, uint32_t ifindex, uint32_t vf, const char *mac)
{
	struct func *f = NULL;
	int r = set_vf(ifindex, vf, mac, &f);

	if (r < 0)
		return r;
	COPY(f->info.mac, mac);
	return streq(f->lent.vf_mac, mac) ? 0 : give(f, mac);
}

int __wrap_vf_set_trust(struct netlink *nl _unused_, uint32_t ifindex, uint32_t vf, bool is_trusted)
{
	struct func *f = NULL;
	int r = set_vf(ifindex, vf, "trust", &f);

	if (r >= 0 && f->habit->flags & HABIT_NO_TRUST)
		return -EOPNOTSUPP;
	if (r >= 0)
		f->info.trust = is_trusted;
	return r;
}

int __wrap_vf_set_vlan(struct netlink *nl _unused_, uint32_t ifindex, uint32_t vf, uint32_t vlan)
{
	struct func *f = NULL;
	int r = set_vf(ifindex, vf, "VLAN", &f);

	if (r >= 0)
		f->info.vlan = (int)vlan;
	return r;
}

int __wrap_vf_set_link_auto(struct netlink *nl _unused_, uint32_t ifindex, uint32_t vf)
{
	struct func *f = NULL;
	int r = set_vf(ifindex, vf, "link state", &f);

	if (r >= 0)
		f->info.link_state = IFLA_VF_LINK_STATE_AUTO;
	return r;
}

int __wrap_vf_set_guids(struct netlink *nl _unused_, uint32_t ifindex, uint32_t vf,
			const char *node, const char *port)
{
	struct func *f = NULL;
	int r = set_vf(ifindex, vf, "GUIDs", &f);

	if (r < 0)
		return r;
	COPY(f->info.node_guid, node);
	COPY(f->info.port_guid, port);
	return give(f, node);
}

static int set_link(uint32_t ifindex, const char *what, struct func **ret)
{
	int r;

	*ret = kernel_of_ifindex(ifindex);
	r = *ret ? touch(*ret, what, TOUCH_IS_HARMLESS) : -ENODEV;
	sim.cost_usec += 20 * USEC_PER_MSEC;
	if (r >= 0 && sim_chance(sim.rates.error / 2)) {
		(*ret)->is_spoilt = true;
		return -EIO;
	}
	if (r >= 0)
		others_see_link(*ret);
	return r;
}

int __wrap_link_set_up(struct netlink *nl _unused_, uint32_t ifindex)
{
	struct func *f;
	int r = set_link(ifindex, "up", &f);

	if (r == -EIO && f->habit->flags & HABIT_RANDOM) /* its VFs make up their MACs then */
		f->is_odd = true;
	if (r >= 0)
		links_set(f, true, f->has_carrier, f->mtu);
	return r;
}

int __wrap_link_set_mtu(struct netlink *nl _unused_, uint32_t ifindex, uint32_t mtu)
{
	struct func *f;
	int r = set_link(ifindex, "MTU", &f);

	if (r >= 0)
		links_set(f, f->is_up, f->has_carrier, mtu);
	return r;
}

/* What was set of a device that came back is put back, and not while a CNI plugin does it. */
static int put_back(uint32_t ifindex, const char *what, struct func **ret)
{
	int r = set_link(ifindex, what, ret);

	if (r >= 0 && (*ret)->was_cni_at_look)
		sim_fail("%s: %s is set while a CNI plugin is at work", (*ret)->address, what);
	return r;
}

int __wrap_link_set_down(struct netlink *nl _unused_, uint32_t ifindex)
{
	struct func *f;
	int r = put_back(ifindex, "down", &f);

	if (r >= 0)
		links_set(f, false, f->has_carrier, f->mtu);
	return r;
}

int __wrap_link_set_mac(struct netlink *nl _unused_, uint32_t ifindex, const char *mac)
{
	struct func *f;
	int r = put_back(ifindex, mac, &f);

	if (r >= 0 && f->is_up)
		return -EBUSY;
	if (r >= 0)
		COPY(f->pod_mac, streq(mac, f->mac) ? "" : mac);
	return r;
}

static bool is_taken(const char *name)
{
	for (size_t i = 0; i < sim.n_funcs; i++)
		if (kernel_has_netdev(&sim.funcs[i]) && streq(sim.funcs[i].netdev, name))
			return true;
	return false;
}

int __wrap_link_set_name(struct netlink *nl _unused_, uint32_t ifindex, const char *name)
{
	struct func *f;
	int r = put_back(ifindex, name, &f);

	if (r >= 0 && f->is_up)
		return -EBUSY;
	if (r >= 0 && is_taken(name))
		return -EEXIST;
	if (r >= 0)
		COPY(f->netdev, name);
	return r;
}

int __wrap_link_change_altname(struct netlink *nl _unused_, uint32_t ifindex, const char *name,
			       bool is_added)
{
	struct func *f;
	int r = put_back(ifindex, name, &f);

	if (r >= 0) /* one at most, here */
		COPY(f->altnames, is_added ? name : "");
	return r;
}

int __wrap_apply_load_module(struct work *w _unused_, const struct action *a)
{
	sim.cost_usec += 300 * USEC_PER_MSEC;
	if (!is_alive())
		return -ECANCELED;
	sim.n_kernel_writes++;
	return sim_chance(sim.rates.error / 2) ? -ENOMEM : kernel_load(a->target);
}

int __wrap_manager_request(const struct fs *fs _unused_, enum want what)
{
	sim.cost_usec += 50 * USEC_PER_MSEC;
	if (!is_alive())
		return -ECANCELED;
	return sim_chance(sim.rates.error / 2) ? -EHOSTDOWN : kubelet_request(what);
}

int __wrap_log_line_errno(enum log_level level, int r, const char *format, ...)
{
	const bool is_unnoted = strstr(format, "not noted for revert");
	char text[960];
	struct func *f;
	va_list ap;

	if (strstr(format, "is damaged"))
		sim_fail("a file of ours cannot be read: %s", format);
	if (!sim.is_traced && !is_unnoted)
		return r;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	f = is_unnoted ? kernel_find(text, strcspn(text, " ") - 1) : NULL;
	if (f)
		f->is_unnoted = true;
	sim_trace("<%d> %s%s%s", (int)level, text, r < 0 ? ": " : "", r < 0 ? strerror(-r) : "");
	return r;
}
