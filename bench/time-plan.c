/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time-plan ROOT ROUNDS: how long the node below ROOT takes, "PLAN WHOLE" in microseconds of
 * processor time, the median of ROUNDS: the plan from configuration and node, with the device
 * plugin's file and what a linter says to it; and with reading all of the node before.
 */
#include "../src/load.h"
#include "../src/loop.h"
#include "../src/output/plugin-output.h"
#include "../src/plan/plan-make.h"

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

static int time_round(struct os *d, const struct config *c, uint64_t *ret_plan, uint64_t *ret_whole)
{
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {}, again = {};
	uint64_t begin = cpu_usec();
	int r;

	r = loop_plan(d, c, false, &n, &memory, &p);
	if (r < 0)
		return r;
	*ret_whole = cpu_usec() - begin;

	begin = cpu_usec();
	r = plan_make(c, &n, &memory, false, &again);
	if (r >= 0)
		r = output_plugin_all(c, &n, &again);
	if (r >= 0)
		r = plan_finish(c, &n, &memory, false, &again);
	*ret_plan = cpu_usec() - begin;
	return r;
}

int main(int argc, char **argv)
{
	_cleanup_(config_done) struct config c = {};
	uint64_t plan[MAX_ROUNDS], whole[MAX_ROUNDS];
	struct os d = {};
	size_t rounds;
	int r;

	rounds = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	if (rounds < 1 || rounds > MAX_ROUNDS || os_open(argv[1], &d) < 0)
		return EXIT_FAILURE;

	r = load_config(&d.fs, NULL, &c);
	for (size_t i = 0; i < rounds && r >= 0; i++)
		r = time_round(&d, &c, &plan[i], &whole[i]);
	os_close(&d);
	if (r < 0)
		return EXIT_FAILURE;

	qsort(plan, rounds, sizeof(*plan), compare);
	qsort(whole, rounds, sizeof(*whole), compare);
	printf("%" PRIu64 " %" PRIu64 "\n", plan[rounds / 2], whole[rounds / 2]);
	return EXIT_SUCCESS;
}
