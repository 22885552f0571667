/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mode: what each driver mode asks of each family of devices, as one table. For plan/ only, pure.
 *
 * The options that follow are in model/module-options.h. Beside the table, every mode wants the
 * modules of the RDMA character devices, keep as well.
 */
#pragma once

#include "../model/module-options.h"

enum family {
	FAMILY_ERDMA, /* has modes of its own: parameters of its driver */
	FAMILY_OTHER, /* mlx5 and all others: the driver that the modalias gives */
	_FAMILY_N
};

struct duty {
	bool sets_options; /* the driver's parameters are compared, and the driver is reloaded */
	bool wants_ofed; /* the driver must be of an OFED or DOCA stack; it is reported, not changed
			  */
	bool refuses_smc;   /* OFED's smc is not the one that smc-tools knows */
	bool wants_peermem; /* NvidiaPeermem=auto means yes, where a GPU is */
};

enum family mode_family(const struct pci *pci);
const struct duty *mode_duty(enum driver_mode mode, enum family family); /* @mode: never auto */
