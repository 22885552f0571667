/* SPDX-License-Identifier: Apache-2.0 */
#include "link-log.h"

static const struct link_news *at(const struct link_log *log, size_t i)
{
	return &log->items[i % LINK_LOG_MAX];
}

static size_t first(const struct link_log *log)
{
	return log->n > LINK_LOG_MAX ? log->n - LINK_LOG_MAX : 0;
}

/* The last announcement of this link since the last break; or NULL. */
static const struct link_news *find(const struct link_log *log, uint32_t ifindex)
{
	for (size_t i = log->n; i > first(log); i--) {
		const struct link_news *news = at(log, i - 1);

		if (news->ifindex == ifindex || news->ifindex == 0)
			return news->ifindex == ifindex ? news : NULL;
	}
	return NULL;
}

static void append(struct link_log *log, const struct link_news *news)
{
	const uint64_t last_usec = log->n > 0 ? at(log, log->n - 1)->usec : 0;
	struct link_news *slot = &log->items[log->n % LINK_LOG_MAX];

	*slot = *news;
	slot->usec = MAX(news->usec, last_usec + 1);
	log->n++;
}

void link_log_add(struct link_log *log, const struct link_news *news)
{
	const struct link_news *old = find(log, news->ifindex);
	const bool is_same = old && old->carrier_downs == news->carrier_downs &&
			     old->mtu == news->mtu && old->is_up == news->is_up &&
			     old->is_gone == news->is_gone;

	if (!news->is_vf && !is_same)
		append(log, news);
}

void link_log_break(struct link_log *log, uint64_t usec)
{
	append(log, &(struct link_news){ .usec = usec });
}

void link_log_give(const struct link_log *log, struct node *n)
{
	for (size_t i = first(log); i < log->n; i++)
		NODE_ADD(n, link_news, *at(log, i));
}
