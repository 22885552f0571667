/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Health: what could be better on a node that works. There are only hints: nothing is done about
 * them, and no state depends on them. vf-busy alone is among the reasons, and in the journal.
 *
 * A node without managed devices has no hints: it is not set up yet.
 */
#include "../model/vf-facts.h"
#include "../step/steps.h"

/* "16.0 GT/s x16" */
static const char *format_link(struct pcie link, char *buf, size_t size)
{
	char speed[24] = "any speed", width[16] = "";

	if (link.speed > 0)
		PRINT(speed, "%" PRIu32 ".%" PRIu32 " GT/s", link.speed / 1000,
		      link.speed % 1000 / 100);
	if (link.width > 0)
		PRINT(width, " x%" PRIu32, link.width);
	snprintf(buf, size, "%s%s", speed, width);
	return buf;
}

/* The slower end decides; if an end is unknown (0), so is the result. */
static uint32_t lower(uint32_t a, uint32_t b)
{
	return a == 0 || b == 0 ? 0 : MIN(a, b);
}

static void tell_link(struct plan *p, const struct pci *pci)
{
	const struct pcie is = pci->link, card = pci->max_link, slot = pci->max_slot;
	char is_text[48], card_text[48], slot_text[48];

	if ((is.speed == 0 || is.speed >= lower(card.speed, slot.speed)) &&
	    (is.width == 0 || is.width >= lower(card.width, slot.width)))
		return;
	plan_add_hint(p, REASON_PCIE_SLOW, pci->address, "%s, the card has %s and its slot %s",
		      format_link(is, is_text, sizeof(is_text)),
		      format_link(card, card_text, sizeof(card_text)),
		      format_link(slot, slot_text, sizeof(slot_text)));
}

static void tell_errors(struct plan *p, const struct pci *pci, const struct device_memory *m)
{
	const uint32_t cleared = m && (m->aer == UINT32_MAX || m->aer <= pci->n_aer) ? m->aer : 0;

	if (pci->n_aer <= cleared)
		return;
	plan_add_hint(p, REASON_PCIE_ERRORS, pci->address, "%" PRIu32 " since %s",
		      pci->n_aer - cleared,
		      cleared > 0 ? "they were cleared" : "the kernel found it");
}

static void tell_iommu(struct plan *p, const struct pci *pci)
{
	if (is_prefix(pci->iommu, "DMA"))
		plan_add_hint(p, REASON_IOMMU_TRANSLATES, pci->address, "its group is of type %s",
			      pci->iommu);
}

/* The lowest rate of the ports that are up: a port that is down has its own reason. 0: none. */
static uint32_t lowest_rate(const struct device *d)
{
	uint32_t lowest = 0;

	for (size_t i = 0; d->ibdev && i < d->ibdev->n_ports; i++)
		if (streq(d->ibdev->ports[i].state, "ACTIVE")) {
			const uint32_t rate = port_rate(&d->ibdev->ports[i]);

			lowest = lowest == 0 ? rate : MIN(lowest, rate);
		}
	return lowest;
}

/* Is @b the same model in the same section, with the same use? Two models, or fabrics, may well
 * have two speeds, and so may what carries the node and a rail; the modalias has the board beside
 * the chip. */
static bool is_sibling(const struct device *a, const struct device *b)
{
	return !b->is_vf && !a->need == !b->need && a->config == b->config &&
	       a->pci->vendor == b->pci->vendor && a->pci->device == b->pci->device &&
	       streq(a->pci->modalias, b->pci->modalias) &&
	       device_is_infiniband(a) == device_is_infiniband(b);
}

static void tell_rate(struct plan *p, const struct device *d)
{
	const uint32_t rate = lowest_rate(d);
	const struct device *best = d;

	FOREACH(other, p->devices, p->n_devices)
		if (is_sibling(d, other) && lowest_rate(other) > lowest_rate(best))
			best = other;
	if (rate == 0 || best == d)
		return;
	plan_add_hint(p, REASON_RATE_BELOW_SIBLINGS, d->pci->address,
		      "%" PRIu32 "%s Gb/s, %s has %" PRIu32 "%s Gb/s", rate / 10,
		      rate % 10 ? ".5" : "", best->pci->address, lowest_rate(best) / 10,
		      lowest_rate(best) % 10 ? ".5" : "");
}

/* A GPU whose data crosses the link between processors to each managed NIC. Nothing is reported
 * where NUMA nodes are unknown, as in many virtual machines. */
static void tell_gpu(struct plan *p, const struct pci *gpu)
{
	bool is_told = false;

	for (size_t i = 0; i < p->n_devices; i++) {
		const struct pci *nic = p->devices[i].pci;

		if (p->devices[i].is_vf)
			continue;
		if (pci_nearness(gpu, nic) != NEARNESS_NONE)
			return;
		is_told |= nic->numa_node >= 0;
	}
	if (gpu->numa_node < 0 || !is_told)
		return;
	plan_add_hint(p, REASON_GPU_WITHOUT_NIC, gpu->address, "NUMA node %d", gpu->numa_node);
}

/* Another program that sets the number of VFs writes 0 first, under VFs that pods may have. */
static void tell_owners(const struct node *n, struct plan *p, const struct device *d)
{
	for (size_t i = 0; i < n->n_vf_owners && d->wanted_vfs != COUNT_LEAVE; i++)
		if (streq(n->vf_owners[i].pci, d->pci->address))
			plan_add_hint(p, REASON_VF_BUSY, n->vf_owners[i].path, "%s, %s",
				      n->vf_owners[i].key, d->pci->address);
}

void plan_health(const struct node *n, const struct memory *memory, struct plan *p)
{
	FOREACH(d, p->devices, p->n_devices) {
		if (d->is_vf)
			continue;
		tell_link(p, d->pci);
		tell_errors(p, d->pci, memory_device(memory, d->pci->address));
		tell_rate(p, d);
		tell_iommu(p, d->pci);
		tell_owners(n, p, d);
	}
	if (p->n_devices == 0)
		return;
	for (size_t i = 0; i < n->n_pcis; i++)
		if (pci_is_gpu(&n->pcis[i]))
			tell_gpu(p, &n->pcis[i]);
	for (size_t i = 0; i < n->n_memlocks; i++)
		if (n->memlocks[i].bytes != UINT64_MAX)
			plan_add_hint(p, REASON_MEMLOCK_LIMITED, n->memlocks[i].unit,
				      "%" PRIu64 " KiB", n->memlocks[i].bytes / 1024);
}
