/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links: carrier and its counter, what the kernel announces of it, and which losses are those of a
 * cable. Only in some lives, so that the others stay what they were.
 *
 * The kernel counts each loss: netif_carrier_off() in net/sched/sch_generic.c. So it counts a link
 * that is set down, a driver that restarts its card for another MTU (igb_change_mtu() in
 * .../intel/igb/igb_main.c), and a card that bounces as it comes up. Of the cable's own losses the
 * program must count all when it was listening and nothing of its own ran near, and no others ever.
 */
#include "../../src/model/link-log.h"
#include "../../src/model/memory.h"
#include "../../src/model/paths.h"
#include "../../src/os/memory-file.h"
#include "sim.h"

#define NEAR_USEC   (3 * USEC_PER_SEC) /* more than the grace of health/flap-plan.c */
#define BOUNCE_USEC (USEC_PER_SEC + 500 * USEC_PER_MSEC)
#define UNHEARD     UINT64_MAX

static struct {
	struct link_log log, given; /* given: to the pass that runs, as a fork has it */
	bool is_deaf; /* the socket overran: announcements are lost until it is read */
	bool is_told; /* the last plan tells of a link that flaps */
	uint64_t look_usec;
	char hash[17]; /* of the configuration in force */
} links;

static bool is_life_with_links(void)
{
	return sim.seed % 4 == 1;
}

static bool is_listening(void)
{
	return sim.config && config_watches_links(sim.config);
}

static struct func *pf_of(struct func *f)
{
	return f->pf >= 0 ? &sim.funcs[f->pf] : f;
}

static void announce(struct func *f, bool is_gone)
{
	if (!is_listening() || links.is_deaf)
		return;
	if (sim_chance(sim.rates.lost / 4)) {
		sim_trace("announcements of links are lost");
		links.is_deaf = true;
		for (size_t i = 0; i < sim.n_funcs; i++)
			links_touch(&sim.funcs[i]);
		others_tell_late();
		return;
	}
	link_log_add(&links.log, &(struct link_news){ .ifindex = f->ifindex,
						      .carrier_downs = f->carrier_downs,
						      .mtu = f->mtu,
						      .is_up = f->is_up,
						      .is_gone = is_gone,
						      .usec = sim.now_usec,
						      .sec = time(NULL) });
}

void links_break(void)
{
	link_log_break(&links.log, sim.now_usec);
	for (size_t i = 0; i < sim.n_funcs; i++)
		links_touch(&sim.funcs[i]);
}

void links_listen(void)
{
	links.is_deaf = false;
	links_break();
}

void links_hear(void)
{
	if (links.is_deaf)
		links_listen();
}

void links_touch(struct func *f)
{
	f = pf_of(f);
	f->heard_usec = UNHEARD;
	f->new_losses.n = f->pass_losses = 0;
}

void links_forget(struct func *f)
{
	links_touch(f);
	f->sure_losses.n = f->n_sure = 0;
}

void links_configure(void)
{
	if (streq(links.hash, sim.config->hash))
		return;
	COPY(links.hash, sim.config->hash);
	for (size_t i = 0; i < sim.n_funcs; i++)
		links_forget(&sim.funcs[i]);
	links_listen();
}

void links_boot(void)
{
	memset(&links, 0, sizeof(links));
	for (size_t i = 0; i < sim.n_funcs; i++) {
		links_forget(&sim.funcs[i]);
		sim.funcs[i].n_losses = 0;
		sim.funcs[i].is_exposed = false;
	}
}

static void add(struct losses *l, uint64_t usec)
{
	if (l->n == ELEMENTSOF(l->usec))
		memmove(l->usec, l->usec + 1, --l->n * sizeof(*l->usec));
	l->usec[l->n++] = usec;
}

static void lose(struct func *f, unsigned n)
{
	f->carrier_downs += n;
	f->n_losses += n;
	for (unsigned i = 0; i < n && f->heard_usec <= sim.now_usec && f->pf < 0; i++)
		add(&f->new_losses, sim.now_usec);
	sim_trace("%s: its cable lost carrier, %u times%s", f->address, n,
		  f->new_losses.n > 0 ? "" : ", as nobody may know");
}

void links_set(struct func *f, bool is_up, bool has_carrier, uint32_t mtu)
{
	const bool had = f->is_up && f->has_carrier, is_there = kernel_has_netdev(f);
	const bool is_loss = had && is_up && !has_carrier && mtu == f->mtu;
	const bool is_other = is_up != f->is_up || mtu != f->mtu || had != (is_up && has_carrier);

	if (is_there && (is_up != f->is_up || mtu != f->mtu))
		links_touch(f);
	if (is_there && is_up && has_carrier && (!f->is_up || mtu != f->mtu) &&
	    is_life_with_links() && sim_random(3) == 0)
		f->bounce_usec = sim.now_usec + sim_random(BOUNCE_USEC);
	if (is_there && is_loss)
		lose(f, 1);
	else if (is_there && had && (!is_up || !has_carrier || mtu != f->mtu))
		f->carrier_downs++;
	f->is_up = is_up;
	f->has_carrier = has_carrier;
	f->mtu = mtu;
	if (is_there && is_other)
		announce(f, false);
}

/* Linkwatch tells of what happened within a second in one announcement. */
void links_bounce(struct func *f)
{
	if (!f || !is_life_with_links() || !kernel_has_netdev(f) || !f->is_up || !f->has_carrier)
		return;
	lose(f, 1 + (unsigned)sim_random(3));
	announce(f, false);
	others_tell();
}

void links_gone(struct func *f)
{
	if (!kernel_has_netdev(f))
		return;
	f->carrier_downs += f->is_up && f->has_carrier;
	f->is_up = false;
	f->bounce_usec = UINT64_MAX;
	links_touch(f);
	announce(f, true);
}

void links_here(struct func *f)
{
	links_touch(f);
	if (kernel_has_netdev(f))
		announce(f, false);
}

uint64_t links_next(void)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < sim.n_funcs; i++)
		if (sim.funcs[i].bounce_usec > 0)
			next = MIN(next, sim.funcs[i].bounce_usec);
	return next == UINT64_MAX ? next : MAX(next, sim.now_usec);
}

/* Cards that come up. */
void links_go_on(void)
{
	for (size_t i = 0; i < sim.n_funcs; i++) {
		struct func *f = &sim.funcs[i];

		if (f->bounce_usec == 0 || f->bounce_usec > sim.now_usec)
			continue;
		f->bounce_usec = UINT64_MAX;
		if (!kernel_has_netdev(f) || !f->is_up || !f->has_carrier)
			continue;
		f->carrier_downs++;
		sim_trace("%s bounces as it comes up", f->address);
		announce(f, false);
	}
}

void links_write(FILE *f)
{
	if (!is_life_with_links())
		return;
	fprintf(f, "[Health]\n%s%sQuiet=%u\nAct=%s\n",
		((const char *const[]){ "Flap=2/1h\n", "Flap=1/30\n", "Flap=3/2min\n",
					"" })[sim_random(4)],
		sim_random(2) == 0 ? "Drop=10\n" : "", 1 + (unsigned)sim_random(300),
		sim_random(3) == 0 ? "none" : "exclude");
}

const struct link_log *links_begin_pass(void)
{
	links.given = links.log;
	for (size_t i = 0; i < sim.n_funcs; i++)
		sim.funcs[i].pass_losses = sim.funcs[i].new_losses.n;
	return is_listening() ? &links.given : NULL;
}

void links_look(void)
{
	links.look_usec = sim.now_usec;
	for (size_t i = 0; i < sim.n_funcs; i++)
		sim.funcs[i].was_had_at_look =
			sim.funcs[i].is_in_pod ||
			(sim.funcs[i].user > 0 && func_has_ibdev(&sim.funcs[i]));
}

/* What was counted is remembered only where files can be written. */
static bool is_surely_flapping(const struct func *f)
{
	const struct losses *l = &f->sure_losses;
	const uint32_t count = sim.config->health.flap.count;

	if (count == 0 || l->n < count || sim.rates.file > 0)
		return false;
	return l->usec[l->n - 1] - l->usec[l->n - count] <= sim.config->health.flap.usec &&
	       links.look_usec < l->usec[l->n - 1] + sim.config->health.quiet_usec;
}

/* A file is written for another content only: what is in it now, when nothing is left to be done.
 */
static void check_left_out(const struct pass_result *result)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;

	if (result->state == NODE_STARTING || result->n_waiting > 0 || result->n_failed > 0 ||
	    sim.is_reconfigured || sim.config->health.act != HEALTH_ACT_EXCLUDE ||
	    fs_exists(&sim.os.fs, HOLD_PATH) ||
	    fs_read_all(&sim.os.fs, PLUGIN_CONFIG_PATH, 1u << 20, false, &text, &size) < 0)
		return;
	for (size_t i = 0; i < sim.n_funcs; i++) {
		struct func *f = &sim.funcs[i];

		if (is_surely_flapping(pf_of(f)) && !f->was_had_at_look && strstr(text, f->address))
			sim_fail("%s stays handed out, and its link flaps", f->address);
	}
}

/* iWARP has none, and what the shared plugin would drop is never usable, so nothing is counted. */
static bool is_without_umad(const struct func *f)
{
	return kernel_is_iwarp(f) && sim.config->plugin.type == PLUGIN_RDMA_SHARED;
}

void links_end_pass(const struct pass_result *result)
{
	check_left_out(result);
	for (size_t i = 0; i < sim.n_funcs; i++) {
		struct func *f = &sim.funcs[i];

		if (f->pf >= 0)
			continue;
		for (size_t k = 0; k < f->pass_losses; k++, f->n_sure++)
			add(&f->sure_losses, f->new_losses.usec[k]);
		f->new_losses.n -= f->pass_losses;
		memmove(f->new_losses.usec, f->new_losses.usec + f->pass_losses,
			f->new_losses.n * sizeof(*f->new_losses.usec));
		f->pass_losses = 0;
		if (f->heard_usec == UNHEARD && is_listening() && !links.is_deaf &&
		    f->was_usable_at_look && !f->was_refused_at_look && kernel_has_netdev(f) &&
		    os_is_managed(f) && !is_without_umad(f))
			f->heard_usec = sim.now_usec + NEAR_USEC;
	}
}

void links_see_plan(const struct plan *p)
{
	links.is_told = false;
	for (size_t i = 0; i < p->n_reasons; i++)
		links.is_told |= p->reasons[i].reason == REASON_LINK_FLAPPING;
}

void links_check_plugin_file(const char *text)
{
	for (size_t i = 0; i < sim.n_funcs; i++) {
		struct func *f = &sim.funcs[i];
		const bool is_in = strstr(text, f->address);
		const bool is_left = sim.config->health.act == HEALTH_ACT_EXCLUDE &&
				     is_surely_flapping(pf_of(f));

		if (is_in && is_left && !f->was_had_at_look)
			sim_fail("%s is handed out, and its link flaps", f->address);
		if (!is_in && is_left && f->was_had_at_look && f->is_in_pod && f->is_exposed &&
		    !sim.is_reconfigured && os_is_managed(f))
			sim_fail("%s is in a pod, and is not handed out any more", f->address);
		f->is_exposed = is_in;
	}
}

void links_check_quiet(void)
{
	if (links.is_told)
		sim_fail("a link flaps after its quiet time, and nobody has looked");
}

/* An eRDMA function has the link of its ENI. */
static const struct func *cable_of(const struct func *f)
{
	return f->habit->flags & HABIT_NO_NETDEV ? &sim.funcs[f->partner] : f;
}

void links_check_end(void)
{
	_cleanup_(memory_done) struct memory seen = {};

	if (links.is_told)
		sim_fail("a link flaps after its quiet time");
	if (memory_read(&sim.os.fs, MEMORY_BOOT, &pass_memory_fields, &seen) < 0 ||
	    !streq(seen.boot_id, sim.boot_id))
		return;
	for (size_t i = 0; i < sim.n_funcs && is_listening(); i++) {
		const struct func *f = &sim.funcs[i];
		const struct device_memory *m = f->pf < 0 ? memory_device(&seen, f->address) : NULL;

		if (m && m->losses.n > cable_of(f)->n_losses)
			sim_fail("%s: %" PRIu32 " losses are counted, and its cable had %" PRIu32,
				 f->address, m->losses.n, cable_of(f)->n_losses);
		if (m && sim.rates.file == 0 && m->losses.n < f->n_sure)
			sim_fail("%s: %" PRIu32 " losses are counted, and its cable had %" PRIu32
				 " that nothing was near",
				 f->address, m->losses.n, f->n_sure);
	}
}
