/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Main: lives in two processes, by number; or one of a script.
 */
#include "found.h"
#include "sim.h"
#include "unmet.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define N_WORKERS  2
#define N_COVERED  10000 /* lives that have to meet what is not in unmet.h */
#define N_STALE    2000  /* lives that must not meet what is */
#define N_FAILURES 10    /* lives that fail in a process before it ends */

/* Of all processes. */
struct shared {
	struct {
		uint64_t seed, n_lives, n_failures;
	} workers[N_WORKERS];
	uint64_t verbs[_VERB_N], reasons[_REASON_N]; /* which life met it first, from 1; 0: none */
};

static void live_one(struct shared *s, size_t me, uint64_t seed)
{
	s->workers[me].seed = seed;
	if (life_run(seed, NULL, false)) {
		s->workers[me].n_lives++;
		return;
	}
	s->workers[me].n_failures++;
	printf("life %" PRIu64 ": %s\n", seed, sim.failure);
	fflush(stdout);
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

/* Each process lives every second life: the same ones in each run, however long that takes. */
static void live(struct shared *s, size_t me, uint64_t first, uint64_t n)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = me; i < ELEMENTSOF(found); i += N_WORKERS)
		live_one(s, me, found[i].seed);
	for (uint64_t i = me; i < n && s->workers[me].n_failures < N_FAILURES; i += N_WORKERS) {
		live_one(s, me, first + i);
		if (i < N_COVERED)
			note_met(s, i + 1);
	}
	_exit(EXIT_SUCCESS);
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

	if (life > 0)
		printf("  %s: life %" PRIu64 "%s\n", name, life,
		       is_stale ? ", and STALE in unmet.h" : "");
	else
		printf("  %s: %s\n", name, test ? test : "NOTHING");
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

static int run_all(uint64_t first, uint64_t n)
{
	struct shared *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t n_lives = 0;
	int status, r = EXIT_SUCCESS;
	pid_t pids[N_WORKERS];

	if (s == MAP_FAILED)
		return EXIT_FAILURE;
	for (size_t i = 0; i < N_WORKERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			live(s, i, first, n);
	}
	for (size_t i = 0; i < N_WORKERS; i++) {
		if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 || status != 0) {
			printf("life %" PRIu64 ": its process ended with %d\n", s->workers[i].seed,
			       status);
			r = EXIT_FAILURE;
		}
		n_lives += s->workers[i].n_lives;
		if (s->workers[i].n_failures > 0)
			r = EXIT_FAILURE;
	}
	if (!tell_coverage(s) && n >= N_COVERED)
		r = EXIT_FAILURE;
	printf("%" PRIu64 " lives\n", n_lives);
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
	uint64_t first = 1, n = N_COVERED;

	for (int i = 1; i < argc; i += 2) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (streq(argv[i], "--trace"))
			return life_run(strtoull(value, NULL, 0), NULL, true) ? EXIT_SUCCESS
									      : EXIT_FAILURE;
		if (streq(argv[i], "--script"))
			return run_script(value);
		if (streq(argv[i], "--lives"))
			n = strtoull(value, NULL, 0);
		else if (streq(argv[i], "--first"))
			first = strtoull(value, NULL, 0);
		else
			return EXIT_FAILURE;
	}
	return run_all(first, n);
}
