/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/command/preset.h"

static void the_type_of_the_instance_tells_where_mlx5_nics_are(_unused_ void **state)
{
	static const struct {
		const char *type, *preset, *why;
	} rows[] = {
		{ "ecs.scch5.16xlarge", "scc", "the instance type is ecs.scch5.16xlarge" },
		{ "ecs.hpcg1ve.21xlarge", "vke-exclusive",
		  "the instance type is ecs.hpcg1ve.21xlarge" },
		{ "ecs.hpcpni2.28xlarge", "",
		  "the instance type is ecs.hpcpni2.28xlarge, which needs vke-exclusive in some "
		  "regions" },
		{ "ecs.hpcpni3.28xlarge", "vke-shared",
		  "the instance type is ecs.hpcpni3.28xlarge" },
		{ "ecs.ebmhpcpni2l.32xlarge", "vke-shared",
		  "the instance type is ecs.ebmhpcpni2l.32xlarge" },
		{ "ecs.g8i.xlarge", "",
		  "1 NICs of mlx5_core are those of SCC, Lingjun and VKE, and neither the "
		  "instance type ecs.g8i.xlarge nor --node-labels=vke.node.rdma.mode=MODE of the "
		  "kubelet tells which" },
	};
	struct pci pci = { .address = "0000:41:00.0", .driver = "mlx5_core" };
	struct node n = { .pcis = &pci, .n_pcis = 1 };
	struct preset_choice c;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		plan_preset(&n, rows[i].type, &c);
		assert_string_equal(c.name, rows[i].preset);
		assert_string_equal(c.why, rows[i].why);
		assert_false(c.wants_type);
	}
	plan_preset(&n, "", &c);
	assert_string_equal(c.name, "");
	assert_true(c.wants_type);

	assert_string_equal(c.advice, "name one of those that \"rdma-provision presets\" lists");

	COPY(pci.driver, "igb"); /* without such a NIC it does not count */
	plan_preset(&n, "", &c);
	assert_false(c.wants_type);
	assert_string_equal(c.advice, "write a [Device NAME] section");
	COPY(pci.driver, "mlx4_core");
	n.ibdevs = &(struct ibdev){ .name = "mlx4_0", .pci = "0000:41:00.0" };
	n.n_ibdevs = 1;
	plan_preset(&n, "", &c);
	assert_string_equal(c.advice, "write a [Device NAME] section with Match=driver:mlx4_core");
	plan_preset(&n, "ecs.scch5.16xlarge", &c);
	assert_string_equal(c.name, "");

	COPY(pci.driver, "mlx5_core"); /* the label is more */
	COPY(n.kubelet.vke_rdma_mode.value, "shared-multi");
	n.kubelet.vke_rdma_mode.is_in_file = true;
	plan_preset(&n, "ecs.hpcg1ve.21xlarge", &c);
	assert_string_equal(c.name, "vke-shared-multi");
	assert_string_equal(c.why, "the file of LabelFile= has vke.node.rdma.mode=shared-multi");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_type_of_the_instance_tells_where_mlx5_nics_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
