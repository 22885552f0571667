/* SPDX-License-Identifier: Apache-2.0 */
#include "cdi.h"

static bool is_named(const struct device *d)
{
	return d->is_handed_out && !d->is_excluded && d->ibdev && *d->ibdev->uverbs;
}

static void put_name(FILE *f, const char *name)
{
	fprintf(f, "- name: \"%s\"\n  containerEdits:\n    deviceNodes:\n", name);
}

static void put_node(FILE *f, const char *node)
{
	if (*node)
		fprintf(f, "    - {path: \"/dev/infiniband/%s\", permissions: \"rw\"}\n", node);
}

static void put_device(FILE *f, const struct device *d)
{
	put_node(f, d->ibdev->uverbs);
	put_node(f, d->ibdev->umad);
}

/* @only: NULL: all of them */
static void put_devices(FILE *f, const struct node *n, const struct plan *p,
			const struct device *only)
{
	put_name(f, only ? only->pci->address : "all");
	for (size_t i = 0; i < p->n_devices; i++)
		if (is_named(&p->devices[i]) && (!only || only == &p->devices[i]))
			put_device(f, &p->devices[i]);
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
