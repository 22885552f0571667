/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time-plan ROOT ROUNDS: how long the node below ROOT takes, "PLAN HALF WHOLE" in microseconds of
 * processor time, the median of ROUNDS: the plan from configuration and node, with the device
 * plugin's file and what a linter says to it; the same in the middle of a first boot, when every
 * second VF is still unbound and without a MAC, and two changes of each VF were tried; and the
 * first with reading all of the node before.
 */
#include "../src/config/load.h"
#include "../src/model/vf-facts.h"
#include "../src/pass/loop.h"
#include "../src/pass/plan-make.h"

#include <time.h>

#define MAX_ROUNDS 1000

static uint64_t cpu_usec(void)
{
	struct timespec t = {};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * USEC_PER_SEC + (uint64_t)t.tv_nsec / NSEC_PER_USEC;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* A name of its own for tests/instructions, which counts what happens below it. */
__attribute__((noinline)) static int plan_node(const struct config *c, struct node *n,
					       const struct memory *memory,
					       const struct attempts *tried)
{
	_cleanup_(plan_done) struct plan p = {};

	return plan_make(c, n, memory, tried, false, &p);
}

__attribute__((noinline)) static int plan_half(const struct config *c, struct node *n,
					       const struct memory *memory,
					       const struct attempts *tried)
{
	return plan_node(c, n, memory, tried);
}

static int add_tried(struct attempts *tried, enum verb verb, const char *vf, const char *to)
{
	struct action a = { .step = STEP_VF,
			    .verb = verb,
			    .class = CLASS_CHANGE,
			    .target = "",
			    .subject = "",
			    .detail = "",
			    .error = "" },
		      *last;

	a.target = vf;
	action_set(&a, "", to);
	if (attempts_begin(tried, &a) < 0)
		return -ENOMEM;
	last = &tried->actions[tried->n_actions - 1];
	last->is_running = false;
	last->is_done = true;
	return 0;
}

static void unbind(struct node *n, struct pci *vf)
{
	COPY(vf->module, vf->driver);
	vf->driver[0] = '\0';
	for (size_t i = 0; i < n->n_netdevs; i++)
		if (streq(n->netdevs[i].pci, vf->address))
			n->netdevs[i].pci[0] = '\0';
	for (size_t i = 0; i < n->n_ibdevs; i++)
		if (streq(n->ibdevs[i].pci, vf->address))
			n->ibdevs[i].pci[0] = '\0';
	for (size_t i = 0; i < n->n_vf_infos; i++)
		if (n->vf_infos[i].index == vf->vf_index && streq(n->vf_infos[i].pf, vf->physfn))
			COPY(n->vf_infos[i].mac, "00:00:00:00:00:00");
}

static int halve(struct node *n, struct attempts *tried)
{
	for (size_t i = 0; i < n->n_pcis; i++) {
		struct pci *pci = &n->pcis[i];
		const bool is_bound = pci->vf_index % 2 == 0;
		int r;

		if (!pci->physfn[0])
			continue;
		if (!is_bound)
			unbind(n, pci);
		r = add_tried(tried, VERB_SET_VF_TRUST, pci->address, "0");
		if (r >= 0)
			r = add_tried(tried, is_bound ? VERB_BIND_DRIVER : VERB_SET_VF_LINK,
				      pci->address, is_bound ? pci->driver : "auto");
		if (r < 0)
			return r;
	}
	node_make_indexes(n);
	return node_result(n);
}

static int time_round(struct os *d, const struct config *c, uint64_t ret[static 3])
{
	_cleanup_(attempts_done) struct attempts tried = {};
	_cleanup_(inspection_done) struct inspection in = {};
	uint64_t begin = cpu_usec();
	int r;

	r = loop_plan(d, c, &in);
	if (r < 0)
		return r;
	ret[2] = cpu_usec() - begin;

	begin = cpu_usec();
	r = plan_node(c, &in.node, &in.memory, NULL);
	ret[0] = cpu_usec() - begin;
	if (r >= 0)
		r = halve(&in.node, &tried);
	if (r < 0)
		return r;

	begin = cpu_usec();
	r = plan_half(c, &in.node, &in.memory, &tried);
	ret[1] = cpu_usec() - begin;
	return r;
}

int main(int argc, char **argv)
{
	_cleanup_(config_done) struct config c = {};
	uint64_t usec[3][MAX_ROUNDS], round[3] = {};
	struct os d = {};
	size_t rounds;
	int r;

	rounds = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	if (rounds < 1 || rounds > MAX_ROUNDS || os_open(argv[1], &d) < 0)
		return EXIT_FAILURE;

	r = load_config(&d.fs, NULL, &c);
	for (size_t i = 0; i < rounds && r >= 0; i++) {
		r = time_round(&d, &c, round);
		for (size_t k = 0; k < ELEMENTSOF(usec); k++)
			usec[k][i] = round[k];
	}
	os_close(&d);
	if (r < 0)
		return EXIT_FAILURE;

	for (size_t k = 0; k < ELEMENTSOF(usec); k++)
		qsort(usec[k], rounds, sizeof(*usec[k]), compare);
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", usec[0][rounds / 2], usec[1][rounds / 2],
	       usec[2][rounds / 2]);
	return EXIT_SUCCESS;
}
