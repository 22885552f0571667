/* SPDX-License-Identifier: Apache-2.0 */
#include "documents-output.h"

#include "../nccl/nccl-output.h"

static int make_nccl(const struct config *c, const struct node *n, const struct plan *p,
		     struct plan_output *o)
{
	_cleanup_(nccl_done) struct nccl choice = {};
	_cleanup_(freep) char *settings = NULL, *left_out = NULL;
	int r;

	o->is_kept = p->state == NODE_STARTING || (n->outputs[OUTPUT_NCCL].text &&
						   ANY(d, p->devices, p->n_devices, d->is_in_pod));
	if (o->is_kept)
		return 0;

	r = nccl_choose(c, n, p, &choice);
	if (r < 0)
		return r;
	o->reason = choice.reason;
	COPY(o->detail, choice.detail);
	if (choice.reason != REASON_NONE)
		return 0;

	choice.traffic_class = qos_traffic_class(c);
	choice.service_level = qos_priority(c);
	r = nccl_text(&choice, false, false, &settings);
	if (r >= 0)
		r = nccl_left_out(&choice, &left_out);
	if (r < 0)
		return r;
	if (asprintf(&o->text, "%s%s%s", output_mark(OUTPUT_NCCL), settings, left_out) < 0) {
		o->text = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* The first CDI file names all devices; later ones name those that are there. */
static int make_cdi(const struct node *n, const struct plan *p, struct plan_output *o)
{
	o->is_kept = p->state == NODE_STARTING && !n->outputs[OUTPUT_CDI].text;
	return o->is_kept ? 0 : cdi_text(n, p, &o->text);
}

static int make(const struct config *c, const struct node *n, const struct plan *p, enum output i,
		struct plan_output *o)
{
	switch (i) {
	case OUTPUT_NFD:
		return nfd_text(c, n, p, n->outputs[i].text, &o->text);
	case OUTPUT_NCCL:
		return make_nccl(c, n, p, o);
	case OUTPUT_CDI:
		return make_cdi(n, p, o);
	default:
		return metrics_text(c, n, p, &o->text);
	}
}

void output_files(const struct config *c, const struct node *n, struct plan *p)
{
	/* A file keeps its text until the loss of a device is confirmed. */
	const bool has_lost = p->n_gone > 0 || ANY(d, p->devices, p->n_devices, d->is_lost);

	for (enum output i = 0; i < _OUTPUT_N; i++) {
		struct plan_output *o = &p->outputs[i];

		if (!c->output.paths[i][0])
			continue;
		o->path = c->output.paths[i];
		o->is_kept = n->outputs[i].text && has_lost;
		if (!o->is_kept)
			p->texts.is_short |= make(c, n, p, i, o) < 0;
	}
}

static bool is_named(const struct device *d)
{
	return d->is_handed_out && !d->is_excluded && d->ibdev && *d->ibdev->uverbs;
}

static void put_node(FILE *f, const char *node)
{
	if (*node)
		fprintf(f, "    - {path: \"/dev/infiniband/%s\", permissions: \"rw\"}\n", node);
}

/* @only: NULL: all of them */
static void put_devices(FILE *f, const struct node *n, const struct plan *p,
			const struct device *only)
{
	fprintf(f, "- name: \"%s\"\n  containerEdits:\n    deviceNodes:\n",
		only ? only->pci->address : "all");
	FOREACH(d, p->devices, p->n_devices) {
		if (!is_named(d) || (only && only != d))
			continue;
		put_node(f, d->ibdev->uverbs);
		put_node(f, d->ibdev->umad);
	}
	put_node(f, n->has_rdma_cm ? "rdma_cm" : "");
}

int cdi_text(const struct node *n, const struct plan *p, char **ret)
{
	_cleanup_(stream_done) struct stream out = {};
	size_t n_named = 0;
	int r;

	if (stream_open(&out) < 0)
		return -ENOMEM;
	fputs(output_mark(OUTPUT_CDI), out.f);
	fputs("cdiVersion: \"0.5.0\"\nkind: \"rdma-provision.io/rdma\"\ndevices:\n", out.f);
	for (size_t i = 0; i < p->n_devices; i++)
		if (is_named(&p->devices[i])) {
			put_devices(out.f, n, p, &p->devices[i]);
			n_named++;
		}
	put_devices(out.f, n, p, NULL);
	r = stream_close(&out);
	if (r >= 0)
		*ret = n_named > 0 ? TAKE(out.text) : NULL;
	return r;
}
