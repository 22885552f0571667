/* SPDX-License-Identifier: Apache-2.0 */
#include "ports.h"

#include "in-use-plan.h"
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

static bool is_in_range(uint32_t port, uint32_t base)
{
	return port >= base && port < base + ERDMA_N_PORTS;
}

/* In compat mode the driver has the ports of its own range, until it is unloaded. */
static bool is_held_by_driver(const struct node *n, uint32_t port)
{
	const struct module *m = node_module(n, ERDMA_MODULE);
	const struct parameter *compat = module_parameter(m, ERDMA_COMPAT);
	const uint32_t base = base_in_force(n);

	if (!m || m->state != MODULE_LOADED || !compat ||
	    !module_options_is_same("bool", compat->value, "Y") || !compat->value[0])
		return false;
	return is_in_range(port, base > 0 ? base : ERDMA_PORTS_BASE);
}

static bool is_listened_on(const struct node *n, uint32_t port)
{
	for (size_t i = 0; i < n->n_listening; i++)
		if (n->listening[i] == port)
			return true;
	return false;
}

bool ports_clash(const struct node *n, uint32_t base, char *ret, size_t size)
{
	char item[16];

	ret[0] = '\0';
	for (uint32_t port = base; port < base + ERDMA_N_PORTS; port++) {
		if (!is_listened_on(n, port) || is_held_by_driver(n, port))
			continue;
		snprintf(item, sizeof(item), "TCP %" PRIu32, port);
		in_use_append(ret, size, item);
	}
	return ret[0];
}

/* Are all that the driver takes kept from outgoing connections? Source: net/ipv4/sysctl_net_ipv4.c
 */
static bool is_reserved(const struct node *n, uint32_t base)
{
	uint32_t n_reserved = 0;

	for (const char *at = n->reserved_ports; *at;) {
		unsigned long first, last;
		char *end;

		first = last = strtoul(at, &end, 10);
		if (end == at)
			return false;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (uint32_t port = base; port < base + ERDMA_N_PORTS; port++)
			n_reserved += port >= first && port <= last;
		if (*end && *end != ',')
			return false;
		at = end + (*end == ',');
	}
	return n_reserved >= ERDMA_N_PORTS; /* the kernel shows no port twice */
}

int ports_hints(const struct config *c, const struct node *n, struct plan *p, uint32_t base)
{
	const uint32_t last = base + ERDMA_N_PORTS - 1;
	const uint16_t *local = n->local_ports;
	int r = 0;

	if (local[1] > 0 && base <= local[1] && last >= local[0] && !is_reserved(n, base))
		r = plan_add_hint(p, REASON_PORTS_EPHEMERAL, ERDMA_MODULE,
				  "%" PRIu32 " to %" PRIu32 ", and ip_local_port_range is %u to %u",
				  base, last, local[0], local[1]);
	/* Who has set the base has seen this, and may have kept Services off these ports. */
	if (r >= 0 && c->driver.reserve_ports_base == 0 && base <= NODEPORT_LAST &&
	    last >= NODEPORT_FIRST)
		r = plan_add_hint(p, REASON_PORTS_NODEPORT, ERDMA_MODULE, "%" PRIu32 " to %" PRIu32,
				  base, last);
	return r;
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
