/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stand-in: what the vendor's eRDMA driver has beside that of the kernel.
 *
 * Included before the first line of erdma_main.c. The module begins in vendor.c, its RDMA devices
 * are below their functions, and its compat mode is the driver's other protocol: the device is
 * asked for it by a register, so another one is read, which is not zero.
 */
#ifndef STANDIN_VENDOR_H
#define STANDIN_VENDOR_H

#include <linux/module.h>
#include <rdma/ib_verbs.h>

#include "erdma_hw.h"

extern bool erdma_is_compat;

#undef ERDMA_REGS_DEV_PROTO_REG
#define ERDMA_REGS_DEV_PROTO_REG (erdma_is_compat ? ERDMA_REGS_VERSION_REG : 0xC)

#define ib_register_device(ibdev, name, dma)                                                       \
	((ibdev)->dev.parent = (dma), ib_register_device(ibdev, name, dma))

int erdma_driver_init(void);
void erdma_driver_exit(void);

#ifndef STANDIN_VENDOR_C
#undef module_init
#undef module_exit
#define module_init(f)                                                                             \
	int __init erdma_driver_init(void)                                                         \
	{                                                                                          \
		return f();                                                                        \
	}
#define module_exit(f)                                                                             \
	void __exit erdma_driver_exit(void)                                                        \
	{                                                                                          \
		f();                                                                               \
	}
#endif

#endif
