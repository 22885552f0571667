/* SPDX-License-Identifier: Apache-2.0 */
#include "metadata-ask.h"

#include "../os/helper.h"

int metadata_parse_answer(char *line, struct metadata *ret)
{
	const char *known, *waiting, *refused;
	const size_t n = strcspn(line, "\n");

	if (n + 1 >= METADATA_LINE_LEN || !streq(line + n, "\n"))
		return -EBADMSG;
	line[n] = '\0';
	known = after(line, "known ");
	waiting = after(line, "waiting ");
	refused = after(line, "refused ");

	if (known)
		return metadata_parse(known, ret) < 0 ? -EBADMSG : 0;
	if (!waiting && !refused)
		return -EBADMSG;
	*ret = (struct metadata){ .state = waiting ? METADATA_WAITING : METADATA_REFUSED };
	COPY(ret->detail, waiting ? waiting : refused);
	make_printable(ret->detail);
	return 0;
}

int metadata_ask(const char *path, const char *mac, uint64_t deadline_usec, struct metadata *ret)
{
	_cleanup_(freep) char *answer = NULL;
	struct metadata m = {};
	int r;

	r = helper_ask(path, mac, deadline_usec, &answer);
	if (r >= 0)
		r = metadata_parse_answer(answer, &m);
	if (r < 0)
		return r;
	COPY(m.mac, mac);
	*ret = m;
	return 0;
}

int metadata_ask_type(const char *path, uint64_t deadline_usec, char ret[static METADATA_TYPE_LEN])
{
	_cleanup_(freep) char *answer = NULL;
	const char *known;
	int r;

	r = helper_ask(path, METADATA_TYPE, deadline_usec, &answer);
	if (r < 0)
		return r;
	answer[strcspn(answer, "\n")] = '\0';
	if (is_prefix(answer, "waiting "))
		return -EAGAIN;
	known = after(answer, "known ");
	if (!known || !metadata_is_type(known))
		return -EBADMSG;
	snprintf(ret, METADATA_TYPE_LEN, "%s", known);
	return 0;
}
