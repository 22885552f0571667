/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Late: a card whose firmware came up after its driver's probe gave up is probed again.
 *
 * The host of a BlueField may boot faster than the card. mlx5 waits 120 s for its firmware and then
 * fails (FW_PRE_INIT_TIMEOUT_MILI in drivers/net/ethernet/mellanox/mlx5/core/main.c) with an error
 * that the kernel does not try again, and no event tells that the firmware is up.
 */
#include "../step/steps.h"

#define LATE_MODULE "mlx5_core"
#define PAUSE_USEC  (60 * USEC_PER_SEC)

/*
 * Unbound with its driver in the kernel, since the boot: one that had a driver before was unbound
 * on purpose, and one with an override is meant for another driver. While a probe goes on the link
 * to the driver is there: really_probe() in drivers/base/dd.c.
 */
static bool is_late(const struct node *n, const struct memory *memory, const struct device *d)
{
	const struct device_memory *m = memory_device(memory, d->pci->address);

	return !d->is_vf && !d->pci->driver[0] && !d->pci->driver_override[0] &&
	       streq(d->pci->module, LATE_MODULE) &&
	       module_is_in_kernel(node_module(n, LATE_MODULE)) &&
	       !(m && (m->netdev[0] || m->ibdev[0] || m->was_usable));
}

/* CLOCK_MONOTONIC from which on it may be probed; 0: it was not, of late. */
static uint64_t not_before(const struct node *n, const struct memory *memory, const struct pci *pci)
{
	for (size_t i = 0; i < memory->n_attempts; i++) {
		const struct attempt *t = &memory->attempts[i];

		if (t->result == 0 && t->verb == VERB_PROBE_DRIVER &&
		    streq(t->target, pci->address) && n->now_usec >= t->last_usec &&
		    n->now_usec - t->last_usec < PAUSE_USEC)
			return t->last_usec + PAUSE_USEC;
	}
	return 0;
}

static int want_probe(const struct node *n, const struct memory *memory, struct plan *p,
		      const struct device *d)
{
	const uint64_t when = not_before(n, memory, d->pci);
	struct action *a;

	if (when > 0 && (p->again_usec == 0 || when < p->again_usec))
		p->again_usec = when;
	if (when > 0 || attempts_find(p->tried, VERB_PROBE_DRIVER, d->pci->address, d->pci->module))
		return 0;

	a = plan_add(p, STEP_DRIVER, VERB_PROBE_DRIVER, CLASS_CHANGE, d->pci->address);
	if (!a)
		return -ENOMEM;
	COPY(a->text.to, d->pci->module);
	return 0;
}

/* A probe may take its two minutes: all else of a pass goes before. */
int plan_late(const struct config *c _unused_, const struct node *n, const struct memory *memory,
	      struct plan *p)
{
	const bool is_last = !plan_has_open_changes(p);
	int r = 0;

	for (size_t i = 0; i < p->n_devices && r >= 0 && is_last && !memory->stuck[0]; i++)
		if (is_late(n, memory, &p->devices[i]))
			r = want_probe(n, memory, p, &p->devices[i]);
	return r;
}
