/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Script: a life with written events, which stays the same one when the model or the program makes
 * other draws. It has no faults but those that it names. Each line but the first three is an
 * event, at a time of the boot clock in seconds; "boot" is the next boot.
 *
 *     # Of life 1084224: ...   comments, at the beginning
 *     8                        this number gives the draws, and the optional parts of the model
 *     ens erdma                cards, as kernel_plug() calls them
 *     0 config                 a configuration, up to a line "."
 *     boot
 *     20 without ib_uverbs     a module is not loaded
 *     23 error 1000            a rate of struct rates, of a thousand; "full 2" is sim.full
 *     23.5 pod 0000:41:01.0    an event of others_do()
 *     24 kubelet 2             an agent writes this enum topology_policy
 *     25 restart               the service is started again, once no pass runs
 */
#include "disk.h"
#include "sim.h"

static char *at; /* the line that comes next; NULL: there is no script */
static char cards[64];

bool script_is_on(void)
{
	return at;
}

const char *script_open(const char *path, uint64_t *ret_seed)
{
	static char text[4096];
	FILE *f = fopen(path, "re");
	const size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	int len = 0;

	if (f)
		fclose(f);
	at = text;
	while (n > 0 && at[0] == '#')
		at += strcspn(at, "\n") + 1;
	if (n == 0 || sscanf(at, "%" SCNu64 "\n%63[^\n]\n%n", ret_seed, cards, &len) != 2)
		return NULL;
	at += len;
	return cards;
}

bool script_is_over(void)
{
	return at[0] == '\0';
}

uint64_t script_next(void)
{
	char *end = at;
	const double sec = at ? strtod(at, &end) : 0;

	return end > at ? (uint64_t)(sec * 1e6) : UINT64_MAX;
}

bool script_boot(void)
{
	const bool is_boot = is_prefix(at, "boot\n");

	at += is_boot ? strlen("boot\n") : 0;
	return is_boot;
}

/* Return: is it one that the model has? */
static bool run(const char *what, const char *argument)
{
	struct func *f = kernel_find(argument, strlen(argument));
	const unsigned value = (unsigned)strtoul(argument, NULL, 10);
	const struct {
		const char *name;
		unsigned *value;
	} rates[] = { { "error", &sim.rates.error },
		      { "hang", &sim.rates.hang },
		      { "full", &sim.full },
		      { "kubelet", &sim.kubelet_policy } };

	for (size_t i = 0; i < ELEMENTSOF(rates); i++)
		if (streq(rates[i].name, what)) {
			*rates[i].value = value;
			return true;
		}
	if (streq(what, "restart"))
		life_command();
	else if (streq(what, "without"))
		kernel_forget(argument);
	else
		return f && others_do(what, f);
	return true;
}

void script_go_on(void)
{
	while (script_next() <= sim.now_usec) {
		char what[32] = "", argument[32] = "", *end;

		sscanf(at, "%*s %31s%*[ ]%31[^\n]", what, argument);
		at = strchrnul(at, '\n');
		at += at[0] == '\n';
		end = streq(what, "config") ? strstr(at, "\n.\n") : NULL;
		sim_trace("script: %s %s", what, argument);
		if (end) {
			end[1] = '\0';
			life_configure(at);
			at = end + strlen("\n.\n");
		} else if (!run(what, argument)) {
			sim_fail("the script's \"%s %s\" is no event", what, argument);
		}
	}
}
