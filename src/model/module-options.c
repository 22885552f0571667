/* SPDX-License-Identifier: Apache-2.0 */
#include "module-options.h"

#include "route-facts.h"

#include <linux/rtnetlink.h>

#define CONTROLLER_METRIC 200 /* the lowest that the ACK eRDMA Controller gives its routes */

/* Loaded, built in, or a file of it is installed, whatever modprobe.d says about it. */
static bool has_nvidia_module(const struct node *n)
{
	static const char *const names[] = { NVIDIA_MODULE, NVIDIA_DEBIAN };

	/* Its packages come with "blacklist" and "install" lines of their own. */
	const struct module *m;

	return ANY(name, names, ELEMENTSOF(names),
		   (m = node_module(n, *name)) && m->state != MODULE_MISSING);
}

bool module_options_is_compat(const struct node *n)
{
	const struct parameter *p = module_parameter(node_module(n, ERDMA_MODULE), ERDMA_COMPAT);

	return p && p->value[0] && module_options_is_same("bool", p->value, "Y");
}

/*
 * Will eRDMA's driver be loaded with compat_mode=Y by an option that is not ours? The kernel leaves
 * out an option that the module does not have.
 */
static bool is_set_by_others(const struct node *n)
{
	const struct module *m = node_module(n, ERDMA_MODULE);
	const struct option *o =
		FIND_LAST(k, n->options, n->n_options,
			  streq(k->module, ERDMA_MODULE) && streq(k->name, ERDMA_COMPAT) &&
				  !module_options_is_own(k->file));

	return o && module_options_is_same("bool", o->value, "Y") &&
	       ANY(f, n->pcis, n->n_pcis, pci_is_erdma(f)) && !module_is_in_kernel(m) &&
	       (!m || !m->has_info || module_parameter(m, ERDMA_COMPAT));
}

static bool is_of_erdma(const struct node *n, const struct netdev *nd)
{
	return nd && ANY(ib, n->ibdevs, n->n_ibdevs,
			 streq(ib->netdev, nd->name) && pci_is_erdma(node_pci(n, ib->pci)));
}

/* Has another program made routes by an eRDMA NIC, as the ACK eRDMA Controller does? */
static bool has_controller(const struct node *n)
{
	return ANY(t, n->routes, n->n_routes,
		   t->protocol == RTPROT_BOOT && t->metric >= CONTROLLER_METRIC &&
			   is_of_erdma(n, node_netdev(n, t->ifindex)));
}

enum driver_mode node_driver_mode(const struct config *c, const struct node *n)
{
	const enum driver_mode mode = node_driver_mode_alone(c, n);
	const struct parameter *p = module_parameter(node_module(n, ERDMA_MODULE), ERDMA_COMPAT);

	if (c->driver.mode != DRIVER_MODE_AUTO)
		return mode;
	if (mode == DRIVER_MODE_DEFAULT)
		return module_options_is_compat(n) || is_set_by_others(n) ? DRIVER_MODE_COMPAT
									  : mode;
	return p && p->value[0] && !module_options_is_compat(n) && has_controller(n)
		       ? DRIVER_MODE_DEFAULT
		       : mode;
}

enum driver_mode node_driver_mode_alone(const struct config *c, const struct node *n)
{
	if (c->driver.mode != DRIVER_MODE_AUTO)
		return c->driver.mode;
	return node_count_gpus(n) > 0 && has_nvidia_module(n) ? DRIVER_MODE_OFED
							      : DRIVER_MODE_DEFAULT;
}

enum reason reason_without_umad(const struct config *c, const struct node *n, const struct pci *pci)
{
	enum driver_mode mode = node_driver_mode(c, n);

	return pci_is_erdma(pci) && mode != DRIVER_MODE_COMPAT && mode != DRIVER_MODE_OFED
		       ? REASON_PLUGIN_NO_MAD
		       : REASON_NO_UMAD;
}

static struct module_option *add(struct module_options *w, const char *module, const char *name)
{
	struct module_option *o = &w->options[w->n_options++];

	COPY(o->module, module);
	COPY(o->name, name);
	return o;
}

void module_options_wanted(const struct config *c, enum driver_mode mode,
			   struct module_options *ret)
{
	bool is_compat = mode == DRIVER_MODE_COMPAT || mode == DRIVER_MODE_OFED;
	struct module_options w = {};

	/* Always told, for its default depends on how the driver was built. */
	if (mode == DRIVER_MODE_DEFAULT || is_compat)
		COPY(add(&w, ERDMA_MODULE, ERDMA_COMPAT)->value, is_compat ? "Y" : "N");
	if (is_compat && c->driver.reserve_ports_base > 0) {
		struct module_option *o = add(&w, ERDMA_MODULE, ERDMA_PORTS);

		PRINT(o->value, "%" PRIu32, c->driver.reserve_ports_base);
	}
	if (c->rdma.netns_mode != NETNS_MODE_KEEP)
		COPY(add(&w, CORE_MODULE, CORE_NETNS)->value,
		     c->rdma.netns_mode == NETNS_MODE_SHARED ? "1" : "0");
	*ret = w;
}

const char *module_options_value(const struct module_options *w, const char *module,
				 const char *name)
{
	const struct module_option *o =
		FIND(k, w->options, w->n_options, streq(k->module, module) && streq(k->name, name));

	return o ? o->value : NULL;
}

bool module_options_text(const struct module_options *w, const char *module, char *ret, size_t size)
{
	ret[0] = '\0';
	FOREACH(o, w->options, w->n_options)
		if (streq(o->module, module))
			append_word(ret, size, " ", "%s=%s", o->name, o->value);
	return ret[0];
}

/* 1, 0, or -1 for what is no bool. */
static int to_bool(const char *s)
{
	if (!*s || strchr("yYtT1", *s) ||
	    ((*s == 'o' || *s == 'O') && (s[1] == 'n' || s[1] == 'N')))
		return 1;
	if (strchr("nNfF0", *s) || ((*s == 'o' || *s == 'O') && (s[1] == 'f' || s[1] == 'F')))
		return 0;
	return -1;
}

static bool to_number(const char *s, long long *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(s, &end, 0);
	return errno == 0 && end != s && !*end;
}

bool module_options_is_same(const char *type, const char *a, const char *b)
{
	long long x, y;

	if (streq(a, b))
		return true;
	if (streq(type, "bool") || streq(type, "invbool"))
		return to_bool(a) >= 0 && to_bool(a) == to_bool(b);
	if (to_number(a, &x) && to_number(b, &y))
		return x == y;
	/* The type is not known: only values that no type would read differently are the same. */
	return !*type && *a && *b && to_bool(a) >= 0 && to_bool(a) == to_bool(b);
}

bool module_options_is_own(const char *path)
{
	static const char *const own[] = {
		"/run/modprobe.d/zz-rdma-provision.conf",
		"/run/modprobe.d/zzz-rdma-provision.conf",
		"/etc/modprobe.d/zz-rdma-provision.conf",
	};

	return ANY(o, own, ELEMENTSOF(own), streq(path, *o) || streq(path, *o + 1));
}
