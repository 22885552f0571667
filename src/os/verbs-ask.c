/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs-ask.h"

#include "program-ask.h"
#include "program-path.h"

#define N_WORDS 3 /* beside the names */

static int run(const char *const *words, char **ret)
{
	char path[PATH_MAX];
	size_t size;

	return program_ask(program_path("-verbs", VERBS_PROGRAM, path), words, -EBADF, ret, &size);
}

/* Takes one line, "RESULT REST", from @text. Return: RESULT; -EIO: the program died before it. */
static int take_line(char **text, char **ret_rest)
{
	char *line = strsep(text, "\n"), *end;
	long result;

	*ret_rest = NULL;
	if (!line || !*text)
		return -EIO;
	result = strtol(line, &end, 10);
	if (end == line || result > 0 || result < -4095 || *end != ' ')
		return -EIO;
	*ret_rest = end + 1;
	return (int)result;
}

void verbs_try(const char (*ibdevs)[IBDEV_LEN], size_t n, struct verbs_answer *ret)
{
	_cleanup_(freep) const char **words = calloc(n + N_WORDS, sizeof(*words));
	_cleanup_(freep) char *said = NULL;
	char *rest, *mtu;
	int r = -ENOMEM;

	if (words) {
		words[0] = "rdma-provision-verbs";
		words[1] = "try";
		for (size_t i = 0; i < n; i++)
			words[i + 2] = ibdevs[i];
		r = run(words, &said);
	}
	rest = said;
	for (size_t i = 0; i < n; i++) {
		ret[i] = (struct verbs_answer){ .result = r };
		if (r < 0)
			continue;
		ret[i].result = take_line(&rest, &mtu);
		ret[i].active_mtu = mtu ? (uint32_t)strtoul(mtu, NULL, 10) : 0;
	}
}

int verbs_ping(const char *ibdev, uint8_t port, int gid_index, char *ret_step, size_t size)
{
	_cleanup_(freep) char *said = NULL;
	char number[8], index[16], *rest, *step;
	const char *words[] = { "rdma-provision-verbs", "ping", ibdev, number, index, NULL };
	int r;

	snprintf(number, sizeof(number), "%u", port);
	snprintf(index, sizeof(index), "%d", gid_index);
	r = run(words, &said);
	if (r < 0) {
		copy(ret_step, size, VERBS_PROGRAM);
		return r;
	}
	rest = said;
	r = take_line(&rest, &step);
	copy(ret_step, size, step ? step : VERBS_PROGRAM);
	return r;
}
