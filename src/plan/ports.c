/* SPDX-License-Identifier: Apache-2.0 */
#include "ports.h"

#include "stack.h"

#define NODEPORT_FIRST 30000 /* --service-node-port-range of kube-apiserver */
#define NODEPORT_LAST  32767
#define RXE_MODULE     "rdma_rxe"

static uint32_t to_port(const char *value)
{
	unsigned long port;
	char *end;

	errno = 0;
	port = strtoul(value, &end, 0);
	return errno == 0 && end != value && !*end && port <= UINT16_MAX ? (uint32_t)port : 0;
}

/* 0: it does not say. */
static uint32_t base_in_force(const struct node *n)
{
	const struct parameter *p = module_parameter(node_module(n, ERDMA_MODULE), ERDMA_PORTS);

	return p ? to_port(p->value) : 0;
}

uint32_t ports_base(const struct node *n, const struct module_options *w, bool in_force)
{
	const char *value = module_options_value(w, ERDMA_MODULE, ERDMA_PORTS);
	uint32_t base = value ? to_port(value) : 0;

	if (in_force && base_in_force(n) > 0)
		return base_in_force(n);

	for (size_t i = 0; !value && i < n->n_options; i++) {
		const struct option *o = &n->options[i];

		if (o->source != OPTION_LOAD && streq(o->module, ERDMA_MODULE) &&
		    streq(o->name, ERDMA_PORTS) && to_port(o->value) > 0)
			base = to_port(o->value); /* the last wins */
	}
	return base > 0 ? base : ERDMA_PORTS_BASE;
}

int ports_hint_nodeport(const struct config *c, struct plan *p, uint32_t base)
{
	const uint32_t last = base + ERDMA_N_PORTS - 1;

	/* Who has set the base has seen this, and may have kept Services off these ports. */
	if (c->driver.reserve_ports_base > 0 || base > NODEPORT_LAST || last < NODEPORT_FIRST)
		return 0;
	return plan_add_hint(p, REASON_PORTS_NODEPORT, ERDMA_MODULE, "%" PRIu32 " to %" PRIu32,
			     base, last);
}

/*
 * What the driver was built with cannot be read before it is loaded. Its build turns MAD on by
 * itself where OFED is installed (configure-dkms.sh), and an ibdev of a build with MAD has a umad
 * device.
 */
static bool is_mad_build(const struct node *n)
{
	char evidence[256];

	if (stack_of(n, CORE_MODULE, evidence, sizeof(evidence)) == STACK_OFED)
		return true;
	for (size_t i = 0; i < n->n_pcis; i++) {
		const struct ibdev *ib = node_ibdev_of(n, n->pcis[i].address);

		if (ib && ib->umad[0] && streq(n->pcis[i].driver, ERDMA_MODULE))
			return true;
	}
	return false;
}

int ports_hint_roce(const struct node *n, struct plan *p)
{
	const struct module *rxe = node_module(n, RXE_MODULE);

	if (!module_is_in_kernel(rxe) || !is_mad_build(n))
		return 0;
	return plan_add_hint(p, REASON_ROCE_PORT_BUSY, ERDMA_MODULE, RXE_MODULE " is loaded");
}
