/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata: the cloud's service that tells NICs their addresses, as its helper hands it on. Only in
 * some lives, so that the others stay what they were.
 *
 * The service may know a NIC late: an ENI that is attached is not in it at once; and after a stop
 * and start it may tell another address. What the helper says is in src/metadata/metadata-main.c.
 */
#include "../../src/model/metadata.h"
#include "../../src/model/paths.h"
#include "../../src/os/helper.h"
#include "sim.h"

#include <arpa/inet.h>

#define HELPER_USEC (10 * USEC_PER_SEC) /* as src/metadata/metadata-main.c bounds it */

static uint8_t told[FUNCS_MAX][4]; /* in this boot */

/* Nobody declares what the linker makes of --wrap. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

bool is_life_with_metadata(void)
{
	return sim.seed % 8 == 4;
}

void metadata_boot(void)
{
	memset(told, 0, sizeof(told));
	if (is_life_with_metadata() && sim_random(2) == 0)
		sim.lease++;
}

static struct func *of_mac(const char *mac)
{
	for (size_t i = 0; i < sim.n_funcs; i++)
		if (streq(sim.funcs[i].mac, mac) && !(sim.funcs[i].habit->flags & HABIT_NO_NETDEV))
			return &sim.funcs[i];
	return NULL;
}

/* What is no good must become no address. */
static int fail(char *ret, size_t size)
{
	const char *words[] = { "waiting 100.100.100.200: Timeout was reached\n",
				"waiting meta-data/network: status 404\n",
				"refused the gateway is outside the prefix: 10.0.1.5\n",
				"known 10.0.1.5/24 10.0.1.5\n",
				"known 127.0.0.1/8 127.0.0.2\n",
				"known 10.0.1.5/24 10.0.1.1",
				"\n" };
	const size_t what = sim_random(ELEMENTSOF(words) + 3);

	sim.cost_usec += sim_random(HELPER_USEC);
	if (what == ELEMENTSOF(words))
		return -EHOSTDOWN;
	if (what == ELEMENTSOF(words) + 1)
		return -ETIMEDOUT;
	if (what == ELEMENTSOF(words) + 2)
		snprintf(ret, size, "known 10.0.1.5/24 10.0.1.1%*s\n", METADATA_LINE_LEN, "");
	else
		snprintf(ret, size, "%s", words[what]);
	return 0;
}

int __real_helper_ask(const char *path, const char *question, uint64_t deadline_usec,
		      char **ret_answer);

int __wrap_helper_ask(const char *path, const char *question, uint64_t deadline_usec,
		      char **ret_answer)
{
	const struct func *f = of_mac(question);
	const size_t i = f ? (size_t)(f - sim.funcs) : 0;
	char answer[2 * METADATA_LINE_LEN];
	int r = 0;

	if (!streq(path, "/" METADATA_SOCKET_PATH))
		return __real_helper_ask(path, question, deadline_usec, ret_answer);
	sim.cost_usec += 20 * USEC_PER_MSEC;
	if (!f || f->pf >= 0 || f->is_node)
		sim_fail("the metadata service is asked about %s", question);
	if (sim_chance(sim.rates.late)) {
		r = fail(answer, sizeof(answer));
	} else {
		memcpy(told[i], (uint8_t[]){ 10, 7, (uint8_t)i, (uint8_t)(20 + sim.lease) }, 4);
		snprintf(answer, sizeof(answer), "known 10.7.%zu.%u/24 10.7.%zu.1\n", i,
			 20 + sim.lease, i);
	}
	if (r >= 0)
		*ret_answer = strdup(answer);
	return r;
}

void metadata_check_address(const struct address *a)
{
	const struct func *f = kernel_of_ifindex(a->ifindex);

	if (f && sim.config->route.address == ADDRESS_METADATA && !sim.is_reverting &&
	    memcmp(told[f - sim.funcs], a->local, sizeof(told[0])) != 0)
		sim_fail("%s gets an address that the metadata service did not tell", f->address);
}
