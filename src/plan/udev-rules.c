/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules: the udev rules that say which VFs are ours, so that networkd and NetworkManager keep off
 * them, and only them. They have to be there before the VFs are. What follows from that is the same
 * on every node, and stands in udev-rules/80-rdma-provision.rules.
 *
 * A VF is known by the link from its PF to it, which the kernel makes before it makes the VF's
 * netdev (pci_iov_add_virtfn() in drivers/pci/iov.c): "*" in TEST is any one entry of the PF's
 * folder, one being virtfnN. The other way round, ATTR{device/physfn/uevent} would wait for
 * the end of the write that makes the VFs: from Linux 6.10 to 6.14, and in stable kernels of that
 * time, uevent_show() takes the device's lock.
 *
 * The property is set at every event but "remove", for the database of udev keeps only those of the
 * last one. VFs that are there already get it at their next event; none is made here, because
 * nothing is taken from a netdev that was set up before.
 */
#include "../model/paths.h"
#include "steps.h"

#define PATH "/" RULES_PATH

static const char head[] =
	"# Written by rdma-provision: networkd and NetworkManager keep off the VFs of these PFs.\n"
	"SUBSYSTEM!=\"net\", GOTO=\"rdma_provision_end\"\n"
	"ACTION==\"remove\", GOTO=\"rdma_provision_end\"\n"
	"TEST!=\"device/physfn\", GOTO=\"rdma_provision_end\"\n";
static const char tail[] = "LABEL=\"rdma_provision_end\"\n";

static bool is_wanted(const struct plan *p, const struct pci *pci)
{
	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i].pci == pci && !p->devices[i].is_vf)
			/* A manager may have what carries the node. */
			return p->devices[i].wanted_vfs != UINT32_MAX &&
			       (p->devices[i].config->mode == VF_MODE_SHARED ||
				p->devices[i].config->mode == VF_MODE_SHARED_MULTI);
	return false;
}

/* VFs that are left as they are when their section goes would be taken at their next event. */
static bool is_kept(const struct node *n, const struct pci *pci)
{
	char path[PCI_LEN + 4];

	snprintf(path, sizeof(path), "/%s/", pci->address);
	return pci->num_vfs > 0 && n->rules_file && strstr(n->rules_file, path);
}

/* NULL when no PF of ours is to have VFs. */
static int make_text(const struct node *node, const struct plan *p, char **ret, size_t *ret_n)
{
	_cleanup_(stream_done) struct stream out = {};
	size_t n = 0;

	if (stream_open(&out) < 0)
		return -ENOMEM;

	fputs(head, out.f);
	for (size_t i = 0; i < node->n_pcis; i++)
		if (node->pcis[i].has_sriov &&
		    (is_wanted(p, &node->pcis[i]) || is_kept(node, &node->pcis[i]))) {
			fprintf(out.f,
				"TEST==\"/sys/bus/pci/devices/%s/*/net/%%k\", "
				"ENV{ID_RDMA_PROVISION_VF}=\"1\"\n",
				node->pcis[i].address);
			n++;
		}
	fputs(tail, out.f);
	if (stream_close(&out) < 0)
		return -ENOMEM;

	*ret = n > 0 ? TAKE(out.text) : NULL;
	*ret_n = n;
	return 0;
}

int plan_udev_rules(const struct config *c, const struct node *n,
		    const struct memory *memory _unused_, struct plan *p)
{
	struct action *a;
	size_t n_pfs;
	int r;

	r = make_text(n, p, &p->rules, &n_pfs);
	if (r < 0)
		return r;

	if (!p->rules && (!n->rules_file || c->is_invalid))
		return 0;
	if (p->rules && n->rules_file && streq(p->rules, n->rules_file))
		return 0;

	a = plan_add(p, STEP_VF, VERB_WRITE_RULES, CLASS_CHANGE, PATH);
	if (!a)
		return -ENOMEM;
	if (p->rules)
		snprintf(a->detail, sizeof(a->detail),
			 "keep networkd and NetworkManager off the VFs of %zu PFs", n_pfs);
	else
		COPY(a->text.to, "none"); /* told apart from the other way by what was tried */
	return 0;
}
