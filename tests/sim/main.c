/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Main: lives in two processes, for a time or by number; or one of a script.
 */
#include "found.h"
#include "sim.h"
#include "unmet.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define N_WORKERS 2
#define N_COVERED 10000 /* lives that have to meet what is not in unmet.h */
#define N_STALE   2000  /* lives that must not meet what is */

int __real_clock_gettime(clockid_t id, struct timespec *ts);

/* Of all processes. */
struct shared {
	struct {
		uint64_t seed, n_lives;
		bool is_failed;
		char failure[400];
	} workers[N_WORKERS];
	uint64_t verbs[_VERB_N], reasons[_REASON_N]; /* which life met it first, from 1; 0: none */
};

static double seconds(void)
{
	struct timespec ts;

	__real_clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void live_one(struct shared *s, size_t me, uint64_t seed)
{
	if (s->workers[me].is_failed)
		return;
	s->workers[me].seed = seed;
	s->workers[me].is_failed = !life_run(seed, NULL, false);
	COPY(s->workers[me].failure, sim.failure);
	s->workers[me].n_lives += !s->workers[me].is_failed;
}

static void note_first(uint64_t *first, bool is_met, uint64_t life)
{
	if (is_met && (*first == 0 || life < *first))
		*first = life;
}

static void note_met(struct shared *s, uint64_t life)
{
	for (size_t i = 0; i < _VERB_N; i++)
		note_first(&s->verbs[i], sim.verbs[i], life);
	for (size_t i = 0; i < _REASON_N; i++)
		note_first(&s->reasons[i], sim.reasons[i], life);
}

/* Of numbers: each process every second one. */
static void live(struct shared *s, size_t me, uint64_t first, uint64_t n_min, double until)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = me; i < ELEMENTSOF(found); i += N_WORKERS)
		live_one(s, me, found[i].seed);
	for (uint64_t seed = first + me; !s->workers[me].is_failed; seed += N_WORKERS) {
		if (s->workers[me].n_lives >= n_min / N_WORKERS && seconds() >= until)
			break;
		live_one(s, me, seed);
		if (seed < first + N_COVERED)
			note_met(s, seed - first + 1);
	}
	_exit(EXIT_SUCCESS);
}

static int tell(const struct shared *s, double took)
{
	uint64_t n = 0;
	int r = EXIT_SUCCESS;

	for (size_t i = 0; i < N_WORKERS; i++) {
		n += s->workers[i].n_lives;
		if (!s->workers[i].is_failed)
			continue;
		printf("life %" PRIu64 ": %s\n", s->workers[i].seed, s->workers[i].failure);
		r = EXIT_FAILURE;
	}
	printf("%" PRIu64 " lives in %.0f s\n", n, took);
	return r;
}

static const char *test_of(const char *name)
{
	for (size_t i = 0; i < ELEMENTSOF(unmet); i++)
		for (size_t k = 0; k < ELEMENTSOF(unmet[i].names) && unmet[i].names[k]; k++)
			if (streq(unmet[i].names[k], name))
				return unmet[i].test;
	return NULL;
}

/* Return: is it wrong? Neither a life nor a test meets it, or an early life that unmet.h denies. */
static bool tell_name(const char *name, uint64_t life)
{
	const char *test = test_of(name);
	const bool is_stale = test && life > 0 && life <= N_STALE;

	printf("  %s: %s%s\n", name,
	       life > 0 ? "a life"
	       : test   ? test
			: "NOTHING",
	       is_stale ? ", and STALE in unmet.h" : "");
	return is_stale || (life == 0 && !test);
}

/* Which verbs and reasons the lives met, and which test meets the others. */
static bool tell_coverage(const struct shared *s)
{
	unsigned n_wrong = 0;

	printf("verbs\n");
	for (enum verb v = 0; v < _VERB_N; v++)
		if (v != VERB_WAIT && v != VERB_SET_OPTION) /* never a change */
			n_wrong += tell_name(verb_name(v), s->verbs[v]);
	printf("reasons\n");
	for (enum reason r = REASON_NONE + 1; r < _REASON_N; r++)
		n_wrong += tell_name(reason_code(r), s->reasons[r]);
	return n_wrong == 0;
}

static int run_all(uint64_t first, uint64_t n_min, double limit)
{
	struct shared *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const double begun = seconds();
	int status, r = EXIT_SUCCESS;
	pid_t pids[N_WORKERS];

	if (s == MAP_FAILED)
		return EXIT_FAILURE;
	for (size_t i = 0; i < N_WORKERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			live(s, i, first, n_min, begun + limit);
	}
	for (size_t i = 0; i < N_WORKERS; i++)
		if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 || status != 0) {
			printf("life %" PRIu64 ": its process ended with %d\n", s->workers[i].seed,
			       status);
			r = EXIT_FAILURE;
		}
	if (!tell_coverage(s) && n_min >= N_COVERED)
		r = EXIT_FAILURE;
	if (tell(s, seconds() - begun) != EXIT_SUCCESS)
		r = EXIT_FAILURE;
	/* For tests/run, which counts such lines of all tests. */
	printf("%sok - sim\n", r == EXIT_SUCCESS ? "" : "not ");
	return r;
}

static int run_script(const char *path)
{
	uint64_t seed;
	const char *cards = script_open(path, &seed);
	const bool is_right = cards && life_run(seed, cards, true) && script_is_over();

	printf("%sok - %s\n", is_right ? "" : "not ", path);
	return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	uint64_t first = 1, n_min = N_COVERED;
	double limit = 60;

	for (int i = 1; i < argc; i++) {
		const bool has_value = i + 1 < argc;

		if (streq(argv[i], "--long"))
			n_min = 10000000;
		else if (streq(argv[i], "--trace") && has_value)
			return life_run(strtoull(argv[i + 1], NULL, 0), NULL, true) ? EXIT_SUCCESS
										    : EXIT_FAILURE;
		else if (streq(argv[i], "--script") && has_value)
			return run_script(argv[i + 1]);
		else if (streq(argv[i], "--lives") && has_value)
			n_min = strtoull(argv[++i], NULL, 0);
		else if (streq(argv[i], "--seconds") && has_value)
			limit = strtod(argv[++i], NULL);
		else if (streq(argv[i], "--first") && has_value)
			first = strtoull(argv[++i], NULL, 0);
		else
			return EXIT_FAILURE;
	}
	return run_all(first, n_min, limit);
}
