/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver: the mode of eRDMA's driver, a parameter that is given when it is loaded. In the lives
 * with slots, so that the others stay what they were.
 *
 * Its functions lose it while it is loaded again: delete_module(2), and erdma_remove() in
 * drivers/infiniband/hw/erdma/erdma_main.c. In compat mode its devices are RoCE ones (the vendor's
 * driver, github.com/alibaba/elastic-rdma-kernel-driver); the kernel's own has no such parameter.
 */
#include "../../src/model/module-options.h"
#include "../../src/pass/apply.h"
#include "../../src/step/verbs.h"
#include "sim.h"

static struct {
	bool is_kernels, is_of_other_release, is_building;
} driver;

/* Nobody declares what the linker makes of --wrap. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

void driver_boot(void)
{
	sim.is_compat = false;
	memset(&driver, 0, sizeof(driver));
	if (!is_life_with_slots())
		return;
	sim.is_compat = sim_random(3) == 0;
	driver.is_kernels = !sim.is_compat && sim_random(4) == 0;
	driver.is_of_other_release = sim_random(6) == 0;
	driver.is_building = sim_random(6) == 0;
}

void driver_write(FILE *f)
{
	if (is_life_with_slots())
		fprintf(f, "[Driver]\nMode=%s\n",
			sim_random(3) == 0   ? "default"
			: sim_random(3) == 0 ? "ofed"
					     : "compat");
}

/* DKMS builds it while the node boots. */
static bool is_building(void)
{
	return driver.is_building && sim.now_usec < 60 * USEC_PER_SEC;
}

void driver_show(struct node *n)
{
	struct module *m = (struct module *)node_module(n, ERDMA_MODULE);
	struct parameter *p;

	if (!is_life_with_slots() || !m)
		return;
	n->is_dkms_building = is_building();
	COPY(m->path, "/lib/modules/erdma.ko");
	m->has_info = true;
	snprintf(m->vermagic, sizeof(m->vermagic), "%.32s SMP",
		 driver.is_of_other_release ? "4.19.0" : n->kernel);
	if (driver.is_kernels)
		return;
	p = GROW(m->parameters, m->n_parameters);
	COPY(p->name, ERDMA_COMPAT);
	COPY(p->type, "bool");
	COPY(p->value, sim.is_compat ? "Y" : "N");
}

static int check(const struct action *a)
{
	int r = 0;

	for (size_t i = 0; i < sim.n_funcs && r >= 0; i++)
		if (streq(sim.funcs[i].habit->driver, a->target))
			r = os_touch_away(&sim.funcs[i], "its driver is loaded again");
	if (sim.config->driver.mode == DRIVER_MODE_KEEP || driver.is_kernels ||
	    driver.is_of_other_release)
		sim_fail("%s is unloaded, and there is no way back", a->target);
	return r;
}

int __wrap_apply_reload_module(struct work *w _unused_, const struct action *a)
{
	static const int errors[] = { -EBUSY, -EPROTO, -EADDRINUSE };
	int r = check(a);

	sim.cost_usec += USEC_PER_SEC;
	if (r < 0)
		return r;
	r = sim_chance(sim.rates.error) ? errors[sim_random(ELEMENTSOF(errors))] : 0;
	if (r == -EBUSY) /* refused by delete_module(2) */
		return r;
	kernel_unload(a->target);
	sim.is_compat = r < 0 ? sim.is_compat : !sim.is_compat;
	kernel_probe(a->target);
	return r;
}
