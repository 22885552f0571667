/* SPDX-License-Identifier: Apache-2.0 */
#include "given.h"

#define ETHERNET_MAC_CHARS 17

void given_look(const struct node *n, const struct pci *pci, const struct netdev *nd,
		struct given *ret)
{
	const struct vf_info *v =
		pci->physfn[0] ? node_vf_info(n, pci->physfn, pci->vf_index) : NULL;
	struct given g = { .mtu = nd->mtu, .vlan = v ? v->vlan : -1, .trust = v ? v->trust : -1 };

	COPY(g.name, nd->name);
	/* IPoIB has the number of a queue pair in it. */
	COPY(g.mac, strlen(nd->mac) == ETHERNET_MAC_CHARS ? nd->mac : "");
	COPY(g.altnames, nd->altnames);
	COPY(g.vf_mac, v && !node_is_infiniband(n, pci) ? v->mac : "");
	*ret = g;
}

bool given_next_word(const char **list, char *ret, size_t size)
{
	const size_t blanks = strspn(*list, " "), len = strcspn(*list + blanks, " ");

	snprintf(ret, size, "%.*s", (int)len, *list + blanks);
	*list += blanks + len;
	return len > 0;
}

bool given_has_word(const char *list, const char *word)
{
	char found[sizeof(((struct given *)0)->altnames)];

	while (given_next_word(&list, found, sizeof(found)))
		if (streq(found, word))
			return true;
	return false;
}

/* In whatever order: a name that was taken away and added is the last one. */
static bool has_same_words(const char *a, const char *b)
{
	char word[sizeof(((struct given *)0)->altnames)];
	const char *list = a;

	while (given_next_word(&list, word, sizeof(word)))
		if (!given_has_word(b, word))
			return false;
	return strlen(a) == strlen(b);
}

bool given_is_same(const struct given *a, const struct given *b)
{
	return streq(a->name, b->name) && streq(a->mac, b->mac) && a->mtu == b->mtu &&
	       has_same_words(a->altnames, b->altnames) && streq(a->vf_mac, b->vf_mac) &&
	       a->vlan == b->vlan && a->trust == b->trust;
}
