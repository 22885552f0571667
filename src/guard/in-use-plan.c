/* SPDX-License-Identifier: Apache-2.0 */
#include "in-use-plan.h"

#include "../model/in-use.h"
#include "../model/module-options.h"

#define MORE_LEN 24 /* "; and 4294967295 more" */

/* A list of words that keeps room to say how many did not fit. */
struct user_list {
	char *text;
	size_t size, len;
	uint32_t n, n_left_out;
};

static void user_list_add(struct user_list *w, const char *text)
{
	size_t need = strlen(text) + (w->n > 0 ? 2 : 0);

	/* The first user is always listed, cut if need be. */
	if (w->n_left_out > 0 || (w->n > 0 && w->len + need + MORE_LEN >= w->size)) {
		w->n_left_out++;
		return;
	}
	snprintf(w->text + w->len, w->size - w->len, "%s%s", w->n > 0 ? "; " : "", text);
	w->len = strlen(w->text);
	w->n++;
}

static bool user_list_end(struct user_list *w)
{
	if (w->n_left_out > 0)
		snprintf(w->text + w->len, w->size - w->len, "; and %" PRIu32 " more",
			 w->n_left_out);
	return w->n > 0;
}

static void add_users(const struct graph *g, const struct memory *memory, const struct pci *pci,
		      struct user_list *w)
{
	struct user found[IN_USE_MAX];
	const struct user *u;
	size_t i = 0, n_found;
	char text[448];
	bool is_any = false;

	while ((u = node_user(g->n, pci->address, &i))) {
		in_use_words(u, text, sizeof(text));
		user_list_add(w, text);
		is_any = true;
	}
	if (is_any)
		return;

	n_found = in_use_find(g, memory, pci, found);
	for (i = 0; i < n_found; i++) {
		in_use_words(&found[i], text, sizeof(text));
		user_list_add(w, text);
	}
}

bool in_use_of_function(const struct graph *g, const struct memory *memory, const struct pci *pci,
			char *ret, size_t size)
{
	struct user_list w = { ret, size };

	ret[0] = '\0';
	add_users(g, memory, pci, &w);
	return user_list_end(&w);
}

/* The other end of a VF goes with it: "pf0vf3", see node_netdev_of(). */
static void add_representors(const struct graph *g, const struct memory *memory,
			     const struct pci *pf, struct user_list *w)
{
	size_t at = SIZE_MAX, i;

	while ((i = node_next(g->n, NODE_INDEX_NETDEV_PCI, pf->address, &at)) != SIZE_MAX) {
		const struct netdev *nd = &g->n->netdevs[i];
		const struct netdev *upper = graph_above(g, nd, &(size_t){ 0 });
		char text[128];

		if (!strstr(nd->port_name, "vf") ||
		    (!upper && !nd->master && !node_has_host_address(g->n, memory, nd->ifindex)))
			continue;
		PRINT(text, "the host uses %s, the representor of a VF%s%s", nd->name,
		      upper ? ", below " : "", upper ? upper->name : "");
		user_list_add(w, text);
	}
}

bool in_use_of_vfs(const struct graph *g, const struct memory *memory, const struct pci *pf,
		   char *ret, size_t size)
{
	struct user_list w = { ret, size };
	size_t at = SIZE_MAX, i;

	ret[0] = '\0';
	while ((i = node_next(g->n, NODE_INDEX_VF, pf->address, &at)) != SIZE_MAX)
		add_users(g, memory, &g->n->pcis[i], &w);
	add_representors(g, memory, pf, &w);
	return user_list_end(&w);
}

static bool is_open(const struct node *n, const char *pf, char *ret, size_t size)
{
	const struct ibdev *ib = node_ibdev_of(n, pf);

	if (!ib || ib->n_contexts == 0 || ib->n_contexts == UINT32_MAX)
		return false;
	snprintf(ret, size, "%s has %" PRIu32 " open context%s", ib->name, ib->n_contexts,
		 ib->n_contexts == 1 ? "" : "s");
	return true;
}

bool in_use_of_port(const struct graph *g, const struct memory *memory, const struct pci *pf,
		    char *ret, size_t size)
{
	const struct node *n = g->n;
	const struct netdev *bond = node_bond_of(n, node_netdev_of(n, pf->address));

	if (in_use_of_vfs(g, memory, pf, ret, size) || is_open(n, pf->address, ret, size))
		return true;
	return bond && ANY(nd, n->netdevs, n->n_netdevs,
			   nd->master == bond->ifindex && is_open(n, nd->pci, ret, size));
}

void in_use_append(char *list, size_t size, const char *format, ...)
{
	static const char more[] = "; ...";
	const size_t used = strlen(list), from = used > 0 ? used + strlen("; ") : 0;
	va_list ap;
	int n;

	if (used >= strlen(more) && streq(list + used - strlen(more), more))
		return;
	va_start(ap, format);
	n = from < size ? vsnprintf(list + from, size - from, format, ap) : 0;
	va_end(ap);
	/* Room for "; ..." is kept, unless there is nothing before it. */
	if (used > 0 && from + (size_t)n + strlen(more) >= size)
		snprintf(list + used, size - used, "%s", more);
	else
		memcpy(list + used, "; ", from - used);
}

static bool list_users(const struct node *n, const char *target, char *ret, size_t size)
{
	const struct user *u;
	bool is_any = false;
	char item[256];

	for (size_t i = 0; (u = node_user(n, target, &i)); is_any = true) {
		/* A process may have a context, QPs and more: it is named once. */
		if (u->pid > 0 && ANY(v, n->users, (size_t)(u - n->users),
				      v->pid == u->pid && streq(v->target, u->target)))
			continue;
		in_use_words(u, item, sizeof(item));
		in_use_append(ret, size, "%s", item);
	}
	return is_any;
}

static void list_found(const struct graph *g, const struct memory *memory, const struct pci *pci,
		       char *ret, size_t size)
{
	struct user found[IN_USE_MAX];
	const size_t n_found = in_use_find(g, memory, pci, found);
	char item[256];

	for (size_t i = 0; i < n_found; i++) {
		in_use_words(&found[i], item, sizeof(item));
		in_use_append(ret, size, "%s", item);
	}
}

/* Lists the holders of a module, or else its references. */
static void list_module(const struct module *m, bool is_explained, char *ret, size_t size)
{
	if (m->holders[0])
		in_use_append(ret, size, "%s is used by %s", m->name, m->holders);
	else if (m->refcnt == UINT32_MAX)
		in_use_append(ret, size, "the references to %s cannot be counted", m->name);
	else if (m->refcnt > 0 && !is_explained)
		in_use_append(ret, size, "%s has %" PRIu32 " references", m->name, m->refcnt);
}

bool in_use_of_driver(const struct graph *g, const struct memory *memory, const char *driver,
		      char *ret, size_t size)
{
	const struct node *n = g->n;
	const struct module *m = node_module(n, driver);
	char why[IN_USE_WHY_LEN];

	ret[0] = '\0';
	FOREACH(pci, n->pcis, n->n_pcis) {
		if (!streq(pci->driver, driver))
			continue;
		if (!list_users(n, pci->address, ret, size))
			list_found(g, memory, pci, ret, size);
		if (in_use_over_rdma(g, pci, why, sizeof(why)))
			in_use_append(ret, size, "%s", why);
	}
	if (!list_users(n, driver, ret, size) && m && m->state == MODULE_LOADED)
		list_module(m, ret[0], ret, size);
	return ret[0];
}
