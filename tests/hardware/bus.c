// SPDX-License-Identifier: GPL-2.0
#include "bus.h"

#include <linux/delay.h>
#include <linux/io.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/msi.h>
#include <linux/vmalloc.h>

#define DOMAIN      1 /* the machine's own buses are in domain 0 */
#define CAP_EXPRESS 0x40
#define CAP_MSIX    0x9c
#define CAP_SRIOV   0x100
#define COMMAND_BITS                                                                               \
	(PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY | PCI_COMMAND_SERR |         \
	 PCI_COMMAND_INTX_DISABLE)

#define BUSY_LOOKS 200U /* in a row without work, before the pauses become longer */

static unsigned long base = 0x50000000;
module_param(base, ulong, 0444);
MODULE_PARM_DESC(base, "where the memory of the cards is; \"memmap=128M$0x50000000\" reserves it");

static unsigned long size = 0x08000000;
module_param(size, ulong, 0444);
MODULE_PARM_DESC(size, "bytes of it");

static void *ram; /* all of it */
static struct irq_domain *irqs;
static struct fwnode_handle *irqs_node;
static struct soft_card *cards[SOFT_SLOTS];
static DEFINE_MUTEX(slots); /* who changes the table above */

/* --- configuration space --- */

static u32 get(const u8 *at, int bytes)
{
	u32 value = 0;

	for (int i = bytes - 1; i >= 0; i--)
		value = value << 8 | at[i];
	return value;
}

static void put(u8 *at, int bytes, u32 value)
{
	for (int i = 0; i < bytes; i++, value >>= 8)
		at[i] = value;
}

static void config_set(struct soft_function *f, int where, int bytes, u32 value, u32 writable)
{
	put(f->config + where, bytes, value);
	put(f->writable + where, bytes, writable);
}

/* A BAR of 64 bits: its size is what stays zero when all ones are written. */
static void config_set_bar(struct soft_function *f, int where, u32 bytes, u32 address)
{
	config_set(f, where, 4,
		   address | PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH,
		   ~(bytes - 1));
	config_set(f, where + 4, 4, 0, ~0u);
}

static unsigned int n_functions(const struct soft_card *card)
{
	return card->n_ports * (1 + card->n_vfs);
}

/* Where the BAR 0 of a function begins in the memory of the card: those of PFs come first, for they
 * are larger and aligned. */
static u32 offset_of(const struct soft_card *card, unsigned int devfn)
{
	u32 pf = card->model->pf_bar + card->model->msix_bar;

	if (devfn < card->n_ports)
		return devfn * pf;
	return card->n_ports * pf + (devfn - card->n_ports) * card->model->vf_bar;
}

static u32 address_of(const struct soft_card *card, unsigned int devfn)
{
	return base + card->slot * (size / SOFT_SLOTS) + offset_of(card, devfn);
}

static void config_make_sriov(struct soft_function *f)
{
	const struct soft_card *card = f->card;
	unsigned int first = card->n_ports + f->port * card->n_vfs;

	config_set(f, CAP_SRIOV, 4, PCI_EXT_CAP_ID_SRIOV | 1 << 16, 0);
	config_set(f, CAP_SRIOV + PCI_SRIOV_CTRL, 2, 0,
		   PCI_SRIOV_CTRL_VFE | PCI_SRIOV_CTRL_MSE | PCI_SRIOV_CTRL_ARI);
	config_set(f, CAP_SRIOV + PCI_SRIOV_INITIAL_VF, 2, card->n_vfs, 0);
	config_set(f, CAP_SRIOV + PCI_SRIOV_TOTAL_VF, 2, card->n_vfs, 0);
	config_set(f, CAP_SRIOV + PCI_SRIOV_NUM_VF, 2, 0, 0xffff);
	config_set(f, CAP_SRIOV + PCI_SRIOV_VF_OFFSET, 2, first - f->port, 0);
	config_set(f, CAP_SRIOV + PCI_SRIOV_VF_STRIDE, 2, 1, 0);
	config_set(f, CAP_SRIOV + PCI_SRIOV_VF_DID, 2, card->model->vf_device, 0);
	config_set(f, CAP_SRIOV + PCI_SRIOV_SUP_PGSIZE, 4, 0x553, 0);
	config_set(f, CAP_SRIOV + PCI_SRIOV_SYS_PGSIZE, 4, 1, ~0u);
	config_set_bar(f, CAP_SRIOV + PCI_SRIOV_BAR, card->model->vf_bar, address_of(card, first));
}

static void config_make(struct soft_function *f)
{
	const struct soft_model *m = f->card->model;

	config_set(f, PCI_VENDOR_ID, 2, m->vendor, 0);
	config_set(f, PCI_DEVICE_ID, 2, f->number ? m->vf_device : m->pf_device, 0);
	config_set(f, PCI_COMMAND, 2, 0, COMMAND_BITS);
	config_set(f, PCI_STATUS, 2, PCI_STATUS_CAP_LIST, 0);
	config_set(f, PCI_CLASS_REVISION, 4, m->class << 8, 0);
	config_set(f, PCI_HEADER_TYPE, 1, f->card->n_ports > 1 ? PCI_HEADER_TYPE_MFD : 0, 0);
	config_set(f, PCI_SUBSYSTEM_VENDOR_ID, 2, m->vendor, 0);
	config_set(f, PCI_SUBSYSTEM_ID, 2, 8, 0);
	config_set(f, PCI_CAPABILITY_LIST, 1, CAP_EXPRESS, 0);
	config_set(f, PCI_INTERRUPT_LINE, 1, 0, 0xff);

	config_set(f, CAP_EXPRESS, 2, PCI_CAP_ID_EXP | CAP_MSIX << 8, 0);
	config_set(f, CAP_EXPRESS + PCI_EXP_FLAGS, 2, 2 | PCI_EXP_TYPE_ENDPOINT << 4, 0);
	config_set(f, CAP_EXPRESS + PCI_EXP_DEVCAP, 4, PCI_EXP_DEVCAP_RBER | 2, 0);
	config_set(f, CAP_EXPRESS + PCI_EXP_DEVCTL, 2, 0, 0x7fff);
	config_set(f, CAP_EXPRESS + PCI_EXP_LNKCAP, 4, PCI_EXP_LNKCAP_SLS_16_0GB | 16 << 4, 0);
	config_set(f, CAP_EXPRESS + PCI_EXP_LNKSTA, 2, PCI_EXP_LNKSTA_CLS_16_0GB | 16 << 4, 0);
	config_set(f, CAP_EXPRESS + PCI_EXP_LNKCAP2, 4, 0x1e, 0);

	config_set(f, CAP_MSIX, 2, PCI_CAP_ID_MSIX, 0);
	config_set(f, CAP_MSIX + PCI_MSIX_FLAGS, 2, SOFT_VECTORS - 1,
		   PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	config_set(f, CAP_MSIX + PCI_MSIX_TABLE, 4, SOFT_MSIX_TABLE | (m->msix_bar ? 2 : 0), 0);
	config_set(f, CAP_MSIX + PCI_MSIX_PBA, 4, (SOFT_MSIX_TABLE + 0x800) | (m->msix_bar ? 2 : 0),
		   0);

	if (f->number)
		return; /* the BARs of a VF are in the capability of its PF */
	config_set_bar(f, PCI_BASE_ADDRESS_0, m->pf_bar, address_of(f->card, f->port));
	if (m->msix_bar)
		config_set_bar(f, PCI_BASE_ADDRESS_2, m->msix_bar,
			       address_of(f->card, f->port) + m->pf_bar);
	if (f->card->n_vfs)
		config_make_sriov(f);
}

bool soft_is_present(const struct soft_function *f)
{
	const u8 *pf = f->card->functions[f->port].config;

	return f->number == 0 || (f->number <= f->card->n_vfs &&
				  f->number <= get(pf + CAP_SRIOV + PCI_SRIOV_NUM_VF, 2) &&
				  get(pf + CAP_SRIOV + PCI_SRIOV_CTRL, 2) & PCI_SRIOV_CTRL_VFE);
}
EXPORT_SYMBOL_GPL(soft_is_present);

bool soft_is_master(const struct soft_function *f)
{
	return READ_ONCE(f->config[PCI_COMMAND]) & PCI_COMMAND_MASTER;
}
EXPORT_SYMBOL_GPL(soft_is_master);

static struct soft_card *card_of(struct pci_bus *bus)
{
	return container_of((struct pci_sysdata *)bus->sysdata, struct soft_card, sysdata);
}

static struct soft_function *function_at(struct pci_bus *bus, unsigned int devfn)
{
	struct soft_card *card = card_of(bus);

	if (bus->number != card->numbers.start || devfn >= n_functions(card) ||
	    !soft_is_present(&card->functions[devfn]))
		return NULL;
	return &card->functions[devfn];
}

/* With the lock of all configuration space held, and interrupts off. */
static int config_read(struct pci_bus *bus, unsigned int devfn, int where, int bytes, u32 *ret)
{
	struct soft_function *f = function_at(bus, devfn);

	*ret = ~0u;
	if (!f)
		return PCIBIOS_DEVICE_NOT_FOUND;
	if (f->number == 0 || where >= 4) /* a VF has no IDs of its own: PCIe 9.3.4.1 */
		*ret = get(f->config + where, bytes);
	return PCIBIOS_SUCCESSFUL;
}

static int config_write(struct pci_bus *bus, unsigned int devfn, int where, int bytes, u32 value)
{
	struct soft_function *f = function_at(bus, devfn);

	if (!f)
		return PCIBIOS_DEVICE_NOT_FOUND;
	for (int i = where; i < where + bytes; i++, value >>= 8)
		f->config[i] = (f->config[i] & ~f->writable[i]) | (value & f->writable[i]);
	if (where == CAP_SRIOV + PCI_SRIOV_CTRL && !(f->config[where] & PCI_SRIOV_CTRL_VFE))
		for (unsigned int i = 1; i <= f->card->n_vfs; i++)
			put(soft_function(f->card, f->port, i)->config + PCI_COMMAND, 2, 0);
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops config_ops = { .read = config_read, .write = config_write };

/* --- memory and interrupts --- */

void *soft_dma(const struct soft_function *f, u64 address, size_t bytes)
{
	if (!soft_is_master(f) || !address || !bytes)
		return NULL;
	if (!pfn_valid(PHYS_PFN(address)) || !pfn_valid(PHYS_PFN(address + bytes - 1)))
		return NULL;
	return phys_to_virt(address);
}
EXPORT_SYMBOL_GPL(soft_dma);

/* Nobody else raises these, and there is one look at a time at each card: none is lost while its
 * handler is at work. */
void soft_interrupt(struct soft_function *f, unsigned int vector)
{
	unsigned int irq = vector < SOFT_VECTORS ? READ_ONCE(f->irq[vector]) : 0;

	if (irq)
		generic_handle_irq_safe(irq);
}
EXPORT_SYMBOL_GPL(soft_interrupt);

static void compose_message(struct irq_data *d, struct msi_msg *m)
{
	*m = (struct msi_msg){ .address_lo = 0xfee00000, .data = d->irq }; /* nobody reads it */
}

static struct irq_chip chip = { .name = "soft-pci", .irq_compose_msi_msg = compose_message };

static irq_hw_number_t on_hwirq(struct msi_domain_info *info, msi_alloc_info_t *a)
{
	return 0;
}

static void on_descriptor(msi_alloc_info_t *a, struct msi_desc *d)
{
	a->desc = d;
}

static int on_prepare(struct irq_domain *d, struct device *dev, int n, msi_alloc_info_t *a)
{
	memset(a, 0, sizeof(*a));
	return 0;
}

static int on_irq(struct irq_domain *d, struct msi_domain_info *info, unsigned int irq,
		  irq_hw_number_t hw, msi_alloc_info_t *a)
{
	struct pci_dev *dev = msi_desc_to_pci_dev(a->desc);
	struct soft_function *f = function_at(dev->bus, dev->devfn);

	if (!f || a->desc->msi_index >= SOFT_VECTORS)
		return -EINVAL;
	irq_domain_set_info(d, irq, irq, info->chip, &f->irq[a->desc->msi_index], handle_simple_irq,
			    NULL, NULL);
	WRITE_ONCE(f->irq[a->desc->msi_index], irq);
	return 0;
}

static void on_irq_free(struct irq_domain *d, struct msi_domain_info *info, unsigned int irq)
{
	unsigned int *place = irq_get_chip_data(irq);

	if (place)
		WRITE_ONCE(*place, 0);
}

static struct msi_domain_ops irq_ops = {
	.get_hwirq = on_hwirq,
	.set_desc = on_descriptor,
	.msi_prepare = on_prepare,
	.msi_init = on_irq,
	.msi_free = on_irq_free,
};
static struct msi_domain_info irq_info = {
	.flags = MSI_FLAG_USE_DEF_DOM_OPS | MSI_FLAG_USE_DEF_CHIP_OPS | MSI_FLAG_NO_AFFINITY |
		 MSI_FLAG_PCI_MSIX,
	.ops = &irq_ops,
	.chip = &chip,
};

/* --- cards --- */

static bool serve_all(struct soft_card *card)
{
	bool was_busy = false;

	for (unsigned int i = 0; i < n_functions(card); i++)
		if (soft_is_present(&card->functions[i]))
			was_busy |= card->model->serve(&card->functions[i]);
	return was_busy;
}

/* Looks once: microseconds until the next look. */
static unsigned int look(struct soft_card *card)
{
	card->quiet = serve_all(card) ? 0 : min(card->quiet + 1, BUSY_LOOKS);
	return card->quiet < BUSY_LOOKS ? 100 : 1000;
}

static int on_thread(void *data)
{
	while (!kthread_should_stop()) {
		unsigned int pause = look(data);

		usleep_range_state(pause, 2 * pause, TASK_IDLE);
	}
	return 0;
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	struct soft_card *card = container_of(timer, struct soft_card, timer);

	hrtimer_forward_now(timer, ns_to_ktime(2 * NSEC_PER_USEC * look(card)));
	return HRTIMER_RESTART;
}

static int start_looks(struct soft_card *card)
{
	if (card->model->in_interrupt) {
		hrtimer_init(&card->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
		card->timer.function = on_timer;
		hrtimer_start(&card->timer, ns_to_ktime(100 * NSEC_PER_USEC), HRTIMER_MODE_REL);
		return 0;
	}
	card->thread = kthread_run(on_thread, card, "soft-pci/%u", card->slot);
	return PTR_ERR_OR_ZERO(card->thread);
}

static void stop_looks(struct soft_card *card)
{
	if (card->model->in_interrupt)
		hrtimer_cancel(&card->timer);
	else
		kthread_stop(card->thread);
}

static int make_functions(struct soft_card *card)
{
	u8 *bar = ram + card->slot * (size / SOFT_SLOTS);
	int r;

	memset(bar, 0, resource_size(&card->window));
	for (unsigned int i = 0; i < n_functions(card); i++) {
		struct soft_function *f = &card->functions[i];
		unsigned int vf = i - card->n_ports;

		f->card = card;
		f->port = i < card->n_ports ? i : vf / card->n_vfs;
		f->number = i < card->n_ports ? 0 : 1 + vf % card->n_vfs;
		f->bar = bar + offset_of(card, i);
		snprintf(f->name, sizeof(f->name), "%04x:%02x:%02x.%x", DOMAIN, card->slot << 4,
			 i >> 3, i & 7);
		config_make(f);
		r = card->model->plug(f);
		if (r < 0) {
			while (i--)
				card->model->unplug(&card->functions[i]);
			return r;
		}
	}
	return 0;
}

static void free_functions(struct soft_card *card)
{
	for (unsigned int i = 0; i < n_functions(card); i++)
		card->model->unplug(&card->functions[i]);
}

/* The kernel is not let to assign addresses, for it takes none that the firmware has reserved:
 * arch_remove_reservations(). */
static int make_bus(struct soft_card *card)
{
	LIST_HEAD(resources);
	int r = 0;

	pci_add_resource(&resources, &card->numbers);
	pci_add_resource(&resources, &card->window);
	pci_lock_rescan_remove();
	card->bus = pci_create_root_bus(NULL, card->numbers.start, &config_ops, &card->sysdata,
					&resources);
	if (card->bus) {
		pci_scan_child_bus(card->bus);
		pci_bus_claim_resources(card->bus);
	} else {
		pci_free_resource_list(&resources);
		r = -ENOMEM;
	}
	pci_unlock_rescan_remove();
	return r;
}

static int start(struct soft_card *card)
{
	int r;

	r = make_functions(card);
	if (r < 0)
		return r;
	r = insert_resource(&iomem_resource, &card->window);
	if (r < 0)
		goto no_window;
	r = start_looks(card);
	if (r < 0)
		goto no_looks;
	r = make_bus(card);
	if (r < 0)
		goto no_bus;
	return 0;

no_bus:
	stop_looks(card);
no_looks:
	remove_resource(&card->window);
no_window:
	free_functions(card);
	return r;
}

static struct soft_card *card_new(const struct soft_model *model, unsigned int slot,
				  unsigned int n_ports, unsigned int n_vfs)
{
	struct soft_card *card = vzalloc(sizeof(*card));
	u32 start;

	if (!card)
		return NULL;
	card->model = model;
	card->slot = slot;
	card->n_ports = n_ports;
	card->n_vfs = n_vfs;
	card->sysdata.domain = DOMAIN;
	card->sysdata.node = slot & 1;
	card->sysdata.fwnode = irqs_node;
	card->numbers =
		(struct resource)DEFINE_RES_NAMED(slot << 4, 16, "soft-pci", IORESOURCE_BUS);
	start = address_of(card, 0);
	card->window = (struct resource)DEFINE_RES_MEM_NAMED(
		start, offset_of(card, n_functions(card)), "soft-pci");
	return card;
}

int soft_plug(const struct soft_model *model, unsigned int slot, unsigned int n_ports,
	      unsigned int n_vfs)
{
	struct soft_card *card;
	int r;

	if (slot >= SOFT_SLOTS || n_ports < 1 || n_ports > SOFT_PORTS || n_vfs > SOFT_VFS)
		return -EINVAL;
	mutex_lock(&slots);
	if (cards[slot]) {
		r = -EBUSY;
		goto out;
	}
	r = -ENOMEM;
	card = card_new(model, slot, n_ports, n_vfs);
	if (!card)
		goto out;
	r = resource_size(&card->window) < size / SOFT_SLOTS ? start(card) : -EINVAL;
	if (r < 0) {
		vfree(card);
		goto out;
	}
	cards[slot] = card;
out:
	mutex_unlock(&slots);
	if (r < 0) {
		pr_err("soft_pci: slot %u: %s cannot be plugged: %d\n", slot, model->name, r);
		return r;
	}

	/* Drivers probe in here, for minutes when the firmware of a card takes them. */
	pci_lock_rescan_remove();
	pci_bus_add_devices(card->bus);
	pci_unlock_rescan_remove();
	return 0;
}
EXPORT_SYMBOL_GPL(soft_plug);

void soft_unplug(const struct soft_model *model, unsigned int slot)
{
	struct soft_card *card;

	if (slot >= SOFT_SLOTS)
		return;
	mutex_lock(&slots);
	card = cards[slot];
	if (card && card->model == model) {
		pci_lock_rescan_remove();
		pci_stop_root_bus(card->bus);
		pci_remove_root_bus(card->bus);
		pci_unlock_rescan_remove();
		stop_looks(card); /* drivers that let go have still asked */
		remove_resource(&card->window);
		free_functions(card);
		vfree(card);
		cards[slot] = NULL;
	}
	mutex_unlock(&slots);
}
EXPORT_SYMBOL_GPL(soft_unplug);

/* --- the module --- */

static int __init soft_pci_init(void)
{
	int r = -ENOMEM;

	if (region_intersects(base, size, IORESOURCE_SYSTEM_RAM, IORES_DESC_NONE) !=
	    REGION_DISJOINT) {
		pr_err("soft_pci: the kernel uses the memory at %#lx: boot it with "
		       "memmap=%luM$%#lx\n",
		       base, size >> 20, base);
		return -EBUSY;
	}
	ram = (void __force *)ioremap(base, size);
	if (!ram)
		return r;
	memset(ram, 0, size);
	irqs_node = irq_domain_alloc_named_fwnode("soft-pci");
	if (!irqs_node)
		goto no_node;
	irqs = pci_msi_create_irq_domain(irqs_node, &irq_info, NULL);
	if (!irqs)
		goto no_domain;
	return 0;

no_domain:
	irq_domain_free_fwnode(irqs_node);
no_node:
	iounmap((void __iomem *)ram);
	return r;
}

static void __exit soft_pci_exit(void)
{
	irq_domain_remove(irqs);
	irq_domain_free_fwnode(irqs_node);
	iounmap((void __iomem *)ram);
}

module_init(soft_pci_init);
module_exit(soft_pci_exit);
MODULE_DESCRIPTION("PCI root buses in software, for models of cards");
MODULE_LICENSE("GPL");
