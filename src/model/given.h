/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Given: what a device is handed out with, and what a pod may give back otherwise.
 *
 * A network device that leaves a pod, or whose pod ends, comes back with the name, MTU, MAC and
 * alternative names that it had there, and with what was set of a VF through its PF:
 * default_device_exit_net() in net/core/dev.c moves it and changes nothing. A CNI plugin puts back
 * what it remembers, unless it was killed or the pod ended without it.
 *
 * A PF that leaves loses its addresses and routes: those that have no lifetime and that neither
 * this service nor the kernel or a router made are put back when it is here and up. Those
 * with a lifetime come again from the router or program that gave them. It loses its VRF as well,
 * vrf_device_event() in drivers/net/vrf.c: nothing of these is put back before it is a port of that
 * again, for in another table an address would lead elsewhere. Until then nothing is recorded,
 * unless an administrator wants a pass: one who deleted the VRF wants no more of it.
 *
 * struct device_memory has the values of the device as it was usable first since its driver was
 * bound and udev had named it, or since an administrator last wanted a pass. Other values replace
 * these once the device has had them for GIVEN_USEC while it is here; a CNI plugin moves a device
 * sooner after it has set the first value.
 */
#pragma once

#include "node.h"

#define GIVEN_USEC (10 * USEC_PER_SEC)

/* Fills @ret with the values that @pci has in this look; @nd is its netdev. Return: false where one
 * of its addresses or routes cannot be put back as it is: a longer list than fits, an address with
 * a peer, a route that is_partial or has_more. */
bool given_look(const struct node *n, const struct memory *memory, const struct pci *pci,
		const struct netdev *nd, struct given *ret);
bool given_is_same(const struct given *a, const struct given *b);
/* The part of @g that a PF has for its VF: all that is known of a VF that was bound again. */
struct given given_in_pf(const struct given *g);

/* The metric of an address follows it in its word, and is what [Route] makes of it: neither that
 * nor the scope behind it counts when words are compared. The word has the metric before ours. */
#define GIVEN_ADDRESS_END ","

/* Is @word one of a blank-separated list? No further than to a character of @end; "": the whole. */
bool given_has_word(const char *list, const char *word, const char *end);
/* The next word of a list from *list on, which moves behind it. Return: is there one? */
bool given_next_word(const char **list, char *ret, size_t size);

/* Reads one of those words, on that netdev. Return: false when it is none. */
bool given_parse_address(const char *word, uint32_t ifindex, struct address *ret);
bool given_parse_route(const char *word, uint32_t ifindex, struct route *ret);
