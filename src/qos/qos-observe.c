/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Qos: what the ports of PFs do with priorities.
 */
#include "../step/observers.h"

#include "../base/log.h"
#include "../model/plan.h"
#include "../os/dcb.h"
#include "../os/rdma.h"

/* Is it one of these PFs, whose driver can be asked? */
static bool is_asked(const struct questions *q, const struct node *n, const struct memory *memory,
		     const struct netdev *nd)
{
	const struct pci *pci = node_pci(n, nd->pci);

	return pci && questions_name(q, pci->address) && !pci->physfn[0] && !pci->is_busy &&
	       !memory->stuck[0];
}

int observe_dcbs(struct os *d, const struct questions *q, struct node *n,
		 const struct memory *memory)
{
	if (!d->fs.is_live || !questions_ask(q, QUESTION_DCB))
		return 0;
	FOREACH(nd, n->netdevs, n->n_netdevs) {
		struct dcb dcb;
		int r;

		if (!is_asked(q, n, memory, nd))
			continue;
		r = dcb_read(&d->route, nd->name, &dcb);
		if (r < 0) {
			log_debug_errno(r, "%s: DCB", nd->name);
			continue;
		}
		dcb.ifindex = nd->ifindex;
		NODE_ADD(n, dcbs, dcb);
	}
	n->has_dcbs = true;
	return node_result(n) ?: 1;
}

static void read_port(const struct fs *fs, const char *ibdev, struct port *port)
{
	if (rdma_cm_read(fs, ibdev, FS_PATH("ports/%" PRIu32 "/default_roce_tos", port->number),
			 port->roce_tos, sizeof(port->roce_tos)) < 0)
		port->roce_tos[0] = '\0';
	if (rdma_cm_read(fs, ibdev, FS_PATH("ports/%" PRIu32 "/default_roce_mode", port->number),
			 port->roce_mode, sizeof(port->roce_mode)) < 0)
		port->roce_mode[0] = '\0';
}

void observe_rdma_cm(const struct fs *fs, struct node *n)
{
	n->has_cm_config = fs_exists(fs, RDMA_CM_FOLDER) > 0;
	for (size_t i = 0; i < n->n_ibdevs && n->has_cm_config; i++)
		for (size_t k = 0; k < n->ibdevs[i].n_ports; k++)
			read_port(fs, n->ibdevs[i].name, &n->ibdevs[i].ports[k]);
}
