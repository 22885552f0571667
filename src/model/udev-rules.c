/* SPDX-License-Identifier: Apache-2.0 */
#include "udev-rules.h"

#include "node.h"

#include <ctype.h>

static const char head[] =
	"# Written by rdma-provision: networkd and NetworkManager keep off the VFs of these PFs.\n"
	"SUBSYSTEM!=\"net\", GOTO=\"rdma_provision_end\"\n"
	"ACTION==\"remove\", GOTO=\"rdma_provision_end\"\n"
	"TEST!=\"device/physfn\", GOTO=\"rdma_provision_end\"\n";
static const char tail[] = "LABEL=\"rdma_provision_end\"\n";

int udev_rules_make(const char *text, char **ret)
{
	_cleanup_(stream_done) struct stream out = {};
	bool is_empty = true;

	if (stream_open(&out) < 0)
		return -ENOMEM;
	fputs(head, out.f);
	for (const char *p = text; *p; p++) {
		const int n =
			p > text && isalnum((unsigned char)p[-1]) ? 0 : (int)pci_address_len(p);

		if (n == 0)
			continue;
		fprintf(out.f,
			"TEST==\"/sys/bus/pci/devices/%.*s/*/net/%%k\", "
			"ENV{ID_RDMA_PROVISION_VF}=\"1\"\n",
			n, p);
		is_empty = false;
		p += n - 1;
	}
	fputs(tail, out.f);
	*ret = NULL;
	return is_empty ? 0 : stream_take(&out, ret);
}
