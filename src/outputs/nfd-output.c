/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nfd: the feature file for node-feature-discovery's source "local".
 *
 * Pure text. Lines are KEY=VALUE; nfd-master takes keys in feature.node.kubernetes.io/, which the
 * worker would else put before them only where that is not switched off
 * (docs/usage/customization-guide.md), and values that are label values: at most 63 letters,
 * digits, "-", "_" and ".", with a letter or digit at both ends.
 *
 *     feature.node.kubernetes.io/rdma-provision.ready=true or false
 *     ....state=ready, degraded or starting
 *     ....driver-mode=keep, default, compat or ofed: the mode that is wanted, "auto" resolved
 *     ....vf-mode=keep, exclusive, shared, shared-multi or mixed: of the managed NICs
 *     ....nics=, vfs=, devices=, usable=: managed NICs, their VFs, functions handed out, usable
 * ones
 *     ....link-layer=ethernet, infiniband or mixed
 *     ....rate-max-gbps=, rate-min-gbps=: Gbit/s of the ports of functions handed out
 *
 * A feature whose value is not known has no line.
 */
#include "documents-output.h"

#include "../model/module-options.h"

#define KEY       NFD_PREFIX
#define VALUE_LEN 64 /* 63 and NUL */

struct features {
	uint32_t nics, vfs, devices, usable;
	uint32_t rate_max, rate_min; /* of port_rate(), 0: none known */
	bool has_ethernet, has_infiniband;
	bool is_watched, is_flapping; /* by [Health] */
	bool has_hidden;              /* a port that cannot be seen, of a device in a pod */
	const char *vf_mode;
};

static void count_port(const struct port *port, struct features *f)
{
	uint32_t rate = port_rate(port);

	f->has_ethernet = f->has_ethernet || streq(port->link_layer, "Ethernet");
	f->has_infiniband = f->has_infiniband || streq(port->link_layer, "InfiniBand");
	f->rate_max = MAX(f->rate_max, rate);
	if (rate > 0 && (f->rate_min == 0 || rate < f->rate_min))
		f->rate_min = rate;
}

static void count_device(const struct device *d, struct features *f)
{
	if (!d->is_vf) {
		const char *mode = vf_mode_name(d->config->mode);

		f->nics++;
		f->vf_mode = f->vf_mode && !streq(f->vf_mode, mode) ? "mixed" : mode;
	}
	f->is_watched |= d->is_watched;
	f->is_flapping |= d->is_flapping;
	f->vfs += d->is_vf;
	f->devices += d->is_handed_out;
	f->usable += d->is_handed_out && d->is_usable;
	if (!d->is_handed_out)
		return;

	f->has_hidden = f->has_hidden || (d->is_in_pod && !d->ibdev);
	for (size_t i = 0; d->ibdev && i < d->ibdev->n_ports; i++)
		count_port(&d->ibdev->ports[i], f);
}

static void put(FILE *f, const char *key, const char *value)
{
	fprintf(f, KEY "%s=%s\n", key, value);
}

static void put_number(FILE *f, const char *key, uint32_t value)
{
	fprintf(f, KEY "%s=%" PRIu32 "\n", key, value);
}

static void put_rate(FILE *f, const char *key, uint32_t rate)
{
	if (rate > 0)
		fprintf(f, KEY "%s=%" PRIu32 "%s\n", key, rate / 10, rate % 10 ? ".5" : "");
}

/* The line of this key in a file of ours. Return: was there one? */
static bool put_old(FILE *f, const char *key, const char *old)
{
	char start[128];
	size_t n;

	n = (size_t)PRINT(start, "\n" KEY "%s=", key);
	old = strstr(old, start);
	if (!old || strcspn(old + n, "\n") >= VALUE_LEN)
		return false;
	fprintf(f, "%.*s\n", (int)strcspn(old + 1, "\n"), old + 1);
	return true;
}

static void put_links(FILE *f, const struct features *x, const char *old)
{
	const bool is_old = x->has_hidden && old;

	if (is_old && put_old(f, "link-layer", old)) {
		put_old(f, "rate-max-gbps", old);
		put_old(f, "rate-min-gbps", old);
		return;
	}
	if (x->has_ethernet || x->has_infiniband)
		put(f, "link-layer",
		    !x->has_infiniband ? "ethernet"
		    : x->has_ethernet  ? "mixed"
				       : "infiniband");
	put_rate(f, "rate-max-gbps", x->rate_max);
	put_rate(f, "rate-min-gbps", x->rate_min);
}

int nfd_text(const struct config *c, const struct node *n, const struct plan *p, const char *old,
	     char **ret)
{
	_cleanup_(stream_done) struct stream out = {};
	struct features x = {};

	for (size_t i = 0; i < p->n_devices; i++)
		count_device(&p->devices[i], &x);

	if (stream_open(&out) < 0)
		return -ENOMEM;
	fputs(output_mark(OUTPUT_NFD), out.f);
	put(out.f, "ready", p->state == NODE_READY ? "true" : "false");
	put(out.f, "state", node_state_name(p->state));
	put(out.f, "driver-mode", driver_mode_name(node_driver_mode(c, n)));
	if (x.vf_mode)
		put(out.f, "vf-mode", x.vf_mode);
	put_number(out.f, "nics", x.nics);
	put_number(out.f, "vfs", x.vfs);
	put_number(out.f, "devices", x.devices);
	put_number(out.f, "usable", x.usable);
	put_links(out.f, &x, old);
	if (x.is_watched)
		put(out.f, "link-flapping", x.is_flapping ? "true" : "false");
	return stream_take(&out, ret);
}
