/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bus: PCI root buses in software, for cards that are models.
 *
 * It knows configuration space, virtual functions, interrupts, and memory that a driver has given
 * to a card; it knows no card. Each slot is a root bus of its own, "0001:N0:00.0" with N the slot,
 * on NUMA node N & 1. The memory of the functions is RAM that the kernel does not use ("memmap=" on
 * its command line), so what a driver writes to a register is seen by looking, not by being called:
 * a thread or a timer for each card asks the model again and again whether there is work.
 */
#ifndef SOFT_BUS_H
#define SOFT_BUS_H

#include <linux/hrtimer.h>
#include <linux/pci.h>

#define SOFT_SLOTS      4
#define SOFT_PORTS      2  /* PFs of a card */
#define SOFT_VFS        16 /* of each PF */
#define SOFT_FUNCTIONS  (SOFT_PORTS * (1 + SOFT_VFS))
#define SOFT_VECTORS    16     /* of MSI-X, for each function */
#define SOFT_MSIX_TABLE 0x3000 /* its offset; the bits of pending ones are 0x800 later */

struct soft_card;

struct soft_function {
	struct soft_card *card;
	char name[16];                  /* its PCI address */
	unsigned int port;              /* the PF that it is or belongs to; PFs come first */
	unsigned int number;            /* 0 is that PF, others are its VFs */
	void *bar;                      /* its BAR 0 */
	void *data;                     /* the model's own */
	unsigned int irq[SOFT_VECTORS]; /* of Linux, 0 while none is allocated */
	u8 config[4096];
	u8 writable[4096]; /* the bits of config that a driver may change */
};

/* A kind of card. */
struct soft_model {
	const char *name;
	u16 vendor, pf_device, vf_device;
	u32 class;
	u32 pf_bar, vf_bar; /* bytes of BAR 0, powers of two */
	u32 msix_bar; /* of the BAR 2 that has the table of MSI-X; 0: BAR 0 has it. One port, no VFs
		       */

	/* Before the function is seen by the kernel, and after it is gone. */
	int (*plug)(struct soft_function *f);
	void (*unplug)(struct soft_function *f);
	/*
	 * Looks whether the driver of the function wants something: true if it did. Called for the
	 * PFs and for each VF that is enabled, one after the other: in a thread for each card, or
	 * with in_interrupt by a timer. A driver that spins until it has its answer, as
	 * erdma does, keeps a thread from its processor: two that probe at once stop a node of two
	 * processors until they give up.
	 */
	bool (*serve)(struct soft_function *f);
	bool in_interrupt; /* serve() does not sleep */
};

struct soft_card {
	const struct soft_model *model;
	unsigned int slot, n_ports, n_vfs;              /* VFs of each port */
	struct soft_function functions[SOFT_FUNCTIONS]; /* by devfn */

	/* the bus layer's own */
	struct pci_sysdata sysdata;
	struct resource window, numbers;
	struct pci_bus *bus;
	unsigned int quiet; /* looks in a row without work */
	struct task_struct *thread;
	struct hrtimer timer; /* in place of the thread */
};

static inline unsigned int soft_devfn(const struct soft_function *f)
{
	return f - f->card->functions;
}

/* The PF of a port, or one of its VFs: NULL when the card has none of this number. */
static inline struct soft_function *soft_function(struct soft_card *card, unsigned int port,
						  unsigned int number)
{
	if (number > card->n_vfs)
		return NULL;
	return &card->functions[number ? card->n_ports + port * card->n_vfs + number - 1 : port];
}

/**
 * soft_plug() - put a card into a slot; the kernel finds it, and a driver that is there probes it
 * @model:   stays until the card is unplugged
 * @slot:    0 to SOFT_SLOTS - 1
 * @n_ports: 1, or 2 for functions 0 and 1 of one device
 * @n_vfs:   how many virtual functions each supports, 0 for a card without SR-IOV
 *
 * Return: 0, -EBUSY when the slot is taken, or another negative errno
 */
int soft_plug(const struct soft_model *model, unsigned int slot, unsigned int n_ports,
	      unsigned int n_vfs);

/* Takes the card of this model out of a slot, as by the attention button: its drivers let go first.
 * None is no error. */
void soft_unplug(const struct soft_model *model, unsigned int slot);

/* Is the function there? A VF is while its PF has VF Enable set. */
bool soft_is_present(const struct soft_function *f);

/* May the function reach memory? Drivers set and clear Bus Master Enable. */
bool soft_is_master(const struct soft_function *f);

/* The memory at a DMA address, NULL when the function may not reach it or there is none. There is
 * no IOMMU before these buses. */
void *soft_dma(const struct soft_function *f, u64 address, size_t bytes);

/* Raises vector N of the function's MSI-X; handlers run before it returns. Not from atomic context.
 */
void soft_interrupt(struct soft_function *f, unsigned int vector);

#endif
