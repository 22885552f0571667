/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules: the udev rules of the PFs that are to have VFs of ours. They have to be there before the
 * VFs are.
 */
#include "../model/paths.h"
#include "../model/udev-rules.h"
#include "../step/steps.h"

#define PATH "/" RULES_PATH

static bool is_wanted(const struct plan *p, const struct pci *pci)
{
	const struct device *d = plan_device(p, pci);

	/* A manager may have what carries the node. */
	return d && !d->is_vf && d->wanted_vfs != UINT32_MAX && !d->gives_nothing && d->has_vf_mode;
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

	if (stream_open(&out) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < node->n_pcis; i++)
		if (node->pcis[i].has_sriov &&
		    (is_wanted(p, &node->pcis[i]) || is_kept(node, &node->pcis[i]))) {
			fprintf(out.f, "%s\n", node->pcis[i].address);
			*ret_n += 1;
		}
	return stream_close(&out) < 0 ? -ENOMEM : udev_rules_make(out.text, ret);
}

int plan_udev_rules(const struct config *c, const struct node *n,
		    const struct memory *memory _unused_, struct plan *p)
{
	struct action *a;
	size_t n_pfs = 0;
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
		a->detail = plan_text(p, "keep networkd and NetworkManager off the VFs of %zu PFs",
				      n_pfs);
	else
		COPY(a->text.to, "none"); /* told apart from the other way by what was tried */
	return 0;
}
