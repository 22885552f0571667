/* SPDX-License-Identifier: Apache-2.0 */
/* What is a hint about health, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/pass/plan-make.h"
#include "../src/step/steps.h"

/* Two cards of one model in one section, a VF of the first, and one more card. */
struct scene {
	struct device_config sections[2];
	struct pci pcis[4];
	struct port ports[4];
	struct ibdev ibdevs[4];
	struct device devices[4];
	struct memlock memlocks[2];
	struct node node;
	struct memory memory;
	struct plan plan;
};

static void set_scene(struct scene *s)
{
	static const char *const addresses[] = { "0000:41:00.0", "0000:41:00.2", "0000:65:00.0",
						 "0000:a1:00.0" };

	*s = (struct scene){};
	for (size_t i = 0; i < ELEMENTSOF(addresses); i++) {
		s->pcis[i] = (struct pci){ .vendor = 0x15b3, .device = i == 3 ? 0x1017 : 0x1021 };
		COPY(s->pcis[i].address, addresses[i]);
		s->ports[i] =
			(struct port){ 1, "ACTIVE", "Ethernet", "400 Gb/sec (4X NDR)", NULL, 0 };
		s->ibdevs[i] = (struct ibdev){ .ports = &s->ports[i], .n_ports = 1 };
		s->devices[i] = (struct device){ .pci = &s->pcis[i],
						 .ibdev = &s->ibdevs[i],
						 .config = &s->sections[0],
						 .is_vf = i == 1 };
	}
	s->node = (struct node){ .pcis = s->pcis, .n_pcis = 4, .memlocks = s->memlocks };
	s->plan.devices = s->devices;
	s->plan.n_devices = 4;
}

/* "code target; ..." of the hints, which are released. */
static const char *hints(struct scene *s)
{
	static char text[512];
	size_t n = 0;

	text[0] = '\0';
	plan_health(&s->node, &s->memory, &s->plan);
	for (size_t i = 0; i < s->plan.n_health; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %s", i > 0 ? "; " : "",
				      reason_code(s->plan.health[i].reason),
				      s->plan.health[i].target);
	free(s->plan.health);
	s->plan.health = NULL;
	s->plan.n_health = 0;
	return text;
}

static void a_gpu_wants_a_nic_near_it(_unused_ void **state)
{
	static const struct {
		const char *root_port; /* of the GPU; those of the NICs are "0000:40:01.0" */
		int numa_node, numa_node_of_nics;
		bool is_told;
	} rows[] = {
		{ "0000:40:01.0", 1, 0, false },
		{ "0000:80:01.0", 0, 0, false },
		{ "0000:80:01.0", 1, 0, true },
		{ "", 1, 0, true },
		{ "", -1, 0, false },
		{ "", 1, -1, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct pci pcis[5];
		struct scene s;

		set_scene(&s);
		memcpy(pcis, s.pcis, sizeof(s.pcis));
		for (size_t k = 0; k < 4; k++) {
			pcis[k].numa_node = rows[i].numa_node_of_nics;
			COPY(pcis[k].root_port, "0000:40:01.0");
			s.devices[k].pci = &pcis[k];
		}
		pcis[4] = (struct pci){ .vendor = 0x10de,
					.class = 0x030200,
					.numa_node = rows[i].numa_node };
		COPY(pcis[4].address, "0000:e1:00.0");
		COPY(pcis[4].root_port, rows[i].root_port);
		s.node.pcis = pcis;
		s.node.n_pcis = 5;
		assert_string_equal(hints(&s),
				    rows[i].is_told ? "gpu-without-nic 0000:e1:00.0" : "");
	}
}

static void a_link_is_slow_when_both_ends_can_do_better(_unused_ void **state)
{
	static const struct {
		struct pcie is, card, slot;
		bool is_slow;
	} cases[] = {
		{ { 32000, 16 }, { 32000, 16 }, { 32000, 16 }, false },
		{ { 16000, 16 }, { 32000, 16 }, { 32000, 16 }, true },
		{ { 32000, 8 }, { 32000, 16 }, { 32000, 16 }, true },
		/* A slot that has no more, and a card that has no more. */
		{ { 16000, 16 }, { 32000, 16 }, { 16000, 16 }, false },
		{ { 16000, 8 }, { 16000, 16 }, { 32000, 8 }, false },
		{ { 8000, 8 }, { 16000, 16 }, { 32000, 8 }, true },
		{ { 16000, 4 }, { 16000, 4 }, { 16000, 16 }, false },
		/* Of an end that does not tell nothing is known, nor of a link that does not. */
		{ { 8000, 1 }, { 32000, 16 }, { 0, 0 }, false },
		{ { 8000, 1 }, { 0, 0 }, { 32000, 16 }, false },
		{ { 0, 0 }, { 32000, 16 }, { 32000, 16 }, false },
		{ { 0, 4 }, { 32000, 16 }, { 32000, 16 }, true },
		{ { 8000, 0 }, { 32000, 16 }, { 32000, 16 }, true },
		/* The emulated igb. */
		{ { 2500, 1 }, { 2500, 1 }, { 16000, 32 }, false },
		{ {}, {}, {}, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct scene s;

		set_scene(&s);
		s.pcis[0].link = cases[i].is;
		s.pcis[0].max_link = cases[i].card;
		s.pcis[0].max_slot = cases[i].slot;
		assert_string_equal(hints(&s), cases[i].is_slow ? "pcie-slow 0000:41:00.0" : "");
		/* Never of a VF. */
		s.pcis[1] = s.pcis[0];
		s.pcis[0].link = (struct pcie){};
		assert_string_equal(hints(&s), "");
	}
}

static void errors_of_a_link_are_a_hint(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	s.pcis[0].n_aer = 2;
	assert_string_equal(hints(&s), "pcie-errors 0000:41:00.0");
}

static void errors_that_were_cleared_are_none(_unused_ void **state)
{
	static const struct {
		uint32_t cleared, n_aer;
		bool is_told;
		uint32_t remembered;
	} rows[] = {
		{ 0, 2, true, 0 },  { 2, 2, false, 2 }, { UINT32_MAX, 2, false, 2 },
		{ 2, 3, true, 2 },  { 2, 1, true, 1 }, /* the kernel found the card again */
		{ 2, 0, false, 0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct device_memory m = { .aer = rows[i].cleared };
		struct memory next = {};
		struct config c = {};
		struct scene s;

		set_scene(&s);
		COPY(m.pci, s.pcis[0].address);
		s.memory.devices = &m;
		s.memory.n_devices = 1;
		s.pcis[0].n_aer = rows[i].n_aer;
		assert_string_equal(hints(&s), rows[i].is_told ? "pcie-errors 0000:41:00.0" : "");
		assert_int_equal(plan_remember(&c, &s.node, &s.memory, &s.plan, &next), 0);
		assert_int_equal(next.devices[0].aer, rows[i].remembered);
		memory_done(&next);
	}
}

static void a_port_is_compared_with_the_same_cards_of_its_section(_unused_ void **state)
{
	static const struct {
		const char *rates[4], *state;
		bool is_other_section;
		const char *hints;
		bool is_infiniband; /* the first */
		bool is_other_board;
		bool is_needed;
	} cases[] = {
		{ { "400 Gb/sec (4X NDR)", "", "400 Gb/sec (4X NDR)", "" }, "ACTIVE", false, "" },
		{ { "200 Gb/sec (4X HDR)", "", "400 Gb/sec (4X NDR)", "" },
		  "ACTIVE",
		  false,
		  "rate-below-siblings 0000:41:00.0" },
		{ { "2.5 Gb/sec (1X SDR)", "", "2 Gb/sec", "" },
		  "ACTIVE",
		  false,
		  "rate-below-siblings 0000:65:00.0" },
		/* A VF and another model are no siblings, nor is a card of another section. */
		{ { "200 Gb/sec (4X HDR)", "400 Gb/sec", "200 Gb/sec", "400 Gb/sec" },
		  "ACTIVE",
		  false,
		  "" },
		{ { "200 Gb/sec (4X HDR)", "", "400 Gb/sec (4X NDR)", "" }, "ACTIVE", true, "" },
		/* Nor is one of another fabric. */
		{ { "200 Gb/sec (4X HDR)", "", "400 Gb/sec (4X NDR)", "" },
		  "ACTIVE",
		  false,
		  "",
		  true },
		/* Nor is another board with the same chip. */
		{ { "25 Gb/sec (1X EDR)", "", "100 Gb/sec (4X EDR)", "" },
		  "ACTIVE",
		  false,
		  "",
		  false,
		  true },
		/* Nor is a rail, of what carries the node. */
		{ { "100 Gb/sec (4X EDR)", "", "400 Gb/sec (4X NDR)", "" },
		  "ACTIVE",
		  false,
		  "",
		  .is_needed = true },
		/* A port that is down says nothing. */
		{ { "2.5 Gb/sec (1X SDR)", "", "400 Gb/sec (4X NDR)", "" }, "DOWN", false, "" },
		/* What is no rate is none. */
		{ { "", "", "400 Gb/sec (4X NDR)", "" }, "ACTIVE", false, "" },
		{ { "99999999999999999999 Gb/sec", "", "400 Gb/sec", "" }, "ACTIVE", false, "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const struct need need = {};
		struct scene s;

		set_scene(&s);
		s.devices[0].need = cases[i].is_needed ? &need : NULL;
		for (size_t k = 0; k < 4; k++)
			COPY(s.ports[k].rate, cases[i].rates[k]);
		COPY(s.ports[0].state, cases[i].state);
		if (cases[i].is_infiniband)
			COPY(s.ports[0].link_layer, "InfiniBand");
		if (cases[i].is_other_section)
			s.devices[0].config = &s.sections[1];
		COPY(s.pcis[0].modalias, cases[i].is_other_board ? "pci:sd00000042" : "");
		assert_string_equal(hints(&s), cases[i].hints);
	}
}

static void an_iommu_that_translates_is_a_hint_for_pfs(_unused_ void **state)
{
	static const struct {
		const char *type;
		bool is_told;
	} cases[] = { { "DMA", true },      { "DMA-FQ", true },   { "identity", false },
		      { "blocked", false }, { "unknown", false }, { "", false } };

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct scene s;

		set_scene(&s);
		COPY(s.pcis[1].iommu, "DMA"); /* of a VF */
		COPY(s.pcis[2].iommu, cases[i].type);
		assert_string_equal(hints(&s),
				    cases[i].is_told ? "iommu-translates 0000:65:00.0" : "");
	}
}

static void memory_is_a_hint_for_nodes_with_managed_devices(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	s.memlocks[0] = (struct memlock){ "containerd.service", UINT64_C(8) << 20 };
	s.memlocks[1] = (struct memlock){ "crio.service", UINT64_MAX };
	s.node.n_memlocks = 2;
	assert_string_equal(hints(&s), "memlock-limited containerd.service");
	s.plan.n_devices = 0;
	assert_string_equal(hints(&s), "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gpu_wants_a_nic_near_it),
		cmocka_unit_test(a_link_is_slow_when_both_ends_can_do_better),
		cmocka_unit_test(a_port_is_compared_with_the_same_cards_of_its_section),
		cmocka_unit_test(errors_of_a_link_are_a_hint),
		cmocka_unit_test(errors_that_were_cleared_are_none),
		cmocka_unit_test(an_iommu_that_translates_is_a_hint_for_pfs),
		cmocka_unit_test(memory_is_a_hint_for_nodes_with_managed_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
