/* SPDX-License-Identifier: Apache-2.0 */
#include "places-observe.h"

#include "../model/ip.h"
#include "storage-observe.h"

#include <ctype.h>
#include <sys/socket.h>

#define MAX_HOSTS_BYTES  (16u << 20) /* lists against advertisements have some 5 MiB */
#define MAX_RESOLV_BYTES 65536u

static const char blanks[] = " \t\r";

/* The next word of @line, which is cut. NULL: there is none. */
static char *cut_word(char **line)
{
	char *word = *line + strspn(*line, blanks), *end = word + strcspn(word, blanks);

	*line = end + (*end != '\0');
	*end = '\0';
	return *word ? word : NULL;
}

/* --- names --- */

static bool is_known(const struct node *n, const char *name)
{
	return ANY(h, n->hosts, n->n_hosts, streq(h->name, name));
}

/* A line of /etc/hosts: hosts(5). */
static int read_host(struct node *n, char *line, uint32_t number, const char *name)
{
	struct host host = { .line = number }, *slot;
	bool is_found = false;
	char *word;

	line[strcspn(line, "#")] = '\0';
	word = cut_word(&line);
	if (!word || !ip_parse(word, &host.family, host.address))
		return 0;
	while ((word = cut_word(&line)))
		is_found |= strcasecmp(word, name) == 0;
	if (!is_found)
		return 0;
	slot = APPEND(n->hosts, n->n_hosts);
	if (!slot)
		return -ENOMEM;
	*slot = host;
	COPY(slot->name, name);
	return 0;
}

/* Adds the lines with that name, once. */
static int find_name(struct places *p, const char *name)
{
	uint32_t number = 0;

	if (is_known(p->n, name) || !*name || strlen(name) >= HOST_NAME_LEN)
		return 0;
	for (const char *at = p->hosts; at && *at; at += *at == '\n') {
		const char *end = strchrnul(at, '\n');
		char line[1024];

		number++;
		snprintf(line, sizeof(line), "%.*s", (int)MIN(end - at, 1023), at);
		if (read_host(p->n, line, number, name) < 0)
			return -ENOMEM;
		at = end;
	}
	return 0;
}

static int compare_hosts(const void *a, const void *b)
{
	const struct host *x = a, *y = b;

	return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
				  : strcmp(x->name, y->name);
}

/* Each in its line. */
static int record_hosts(const struct places *p)
{
	_cleanup_(stream_done) struct stream out = {};
	uint32_t line = 1, last = 0;

	if (!p->fs->on_read || !p->hosts)
		return 0;
	if (stream_open(&out) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < p->n->n_hosts; i++) {
		const struct host *h = &p->n->hosts[i];
		char address[64];

		for (; line < h->line; line++)
			fputc('\n', out.f);
		ip_format(h->family, h->address, UINT32_MAX, address, sizeof(address));
		fprintf(out.f, "%s %s", last == h->line ? "" : address, h->name);
		last = h->line;
	}
	fputs("\n# other lines are left out\n", out.f);
	return fs_record_stream(p->fs, "etc/hosts", &out);
}

/* As the kubelet makes it: without blanks, in lower case. */
static int find_own_name(struct places *p)
{
	const char *given = p->n->kubelet.host_name;
	char text[HOST_NAME_LEN], *rest = text, *name;

	COPY(text, *given ? given : p->n->host_name);
	name = cut_word(&rest);
	for (char *c = name; c && *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return name ? find_name(p, name) : 0;
}

static void read_host_name(const struct fs *fs, char *ret, size_t size)
{
	if (fs_read(fs, "proc/sys/kernel/hostname", ret, size) < 0 && !fs->is_live)
		fs_read(fs, "etc/hostname", ret, size);
	make_printable(ret);
}

/* --- destinations --- */

static struct destination *append(struct places *p, enum destination_to to, const char *words)
{
	struct destination *d = APPEND(p->n->destinations, p->n->n_destinations);

	if (d) {
		d->to = to;
		d->lookup.result = -ENODATA;
		COPY(d->words, words);
		make_printable(d->words);
	}
	return d;
}

static int add_address(struct places *p, enum destination_to to, int family, const uint8_t *bytes,
		       const char *words)
{
	struct destination *d;

	if (ip_is_loopback(family, bytes) || is_zero(bytes) ||
	    ANY(k, p->n->destinations, p->n->n_destinations,
		k->to == to && k->lookup.family == family &&
			memcmp(k->lookup.dst, bytes, sizeof(k->lookup.dst)) == 0))
		return 0;
	d = append(p, to, words);
	if (!d)
		return -ENOMEM;
	d->lookup.family = family;
	memcpy(d->lookup.dst, bytes, sizeof(d->lookup.dst));
	return 0;
}

int places_add_device(struct places *p, enum destination_to to, const struct netdev *nd,
		      const char *words)
{
	struct destination *d = nd ? append(p, to, words) : NULL;

	if (!nd)
		return 0;
	if (!d)
		return -ENOMEM;
	d->lookup.ifindex = d->lookup.found = d->lookup.hops[0] = nd->ifindex;
	d->lookup.n_hops = 1;
	d->lookup.result = 0;
	return 0;
}

const struct netdev *places_netdev(const struct places *p, const char *name)
{
	return FIND(nd, p->n->netdevs, p->n->n_netdevs, netdev_is_called(nd, name));
}

int places_add(struct places *p, enum destination_to to, const char *host, const char *words)
{
	char text[HOST_NAME_LEN], *zone;
	uint8_t bytes[16];
	int family, r;

	if (!COPY(text, host))
		return 0;
	zone = strchr(text, '%');
	if (zone)
		*zone++ = '\0';
	if (ip_parse(text, &family, bytes)) {
		if (zone || ip_is_link_local(family, bytes))
			return zone && to != TO_NAME_SERVER
				       ? places_add_device(p, to, places_netdev(p, zone), words)
				       : 0;
		return add_address(p, to, family, bytes, words);
	}
	r = find_name(p, text);
	for (size_t i = 0; i < p->n->n_hosts && r >= 0; i++)
		if (streq(p->n->hosts[i].name, text))
			r = add_address(p, to, p->n->hosts[i].family, p->n->hosts[i].address,
					words);
	return r;
}

/* --- servers --- */

static int add_api_servers(struct places *p)
{
	const struct kubelet *k = &p->n->kubelet;
	char words[sizeof(p->n->destinations->words)];
	int r = 0;

	for (size_t i = 0; i < k->n_servers && r >= 0; i++) {
		snprintf(words, sizeof(words), "API server, %.140s", k->servers[i].path);
		r = places_add(p, TO_API_SERVER, k->servers[i].host, words);
	}
	return r;
}

/* resolv.conf(5). @ret_is_stub: it names one on the loopback address. */
static int read_resolv(struct places *p, const char *path, bool *ret_is_stub)
{
	_cleanup_(stream_done) struct stream out = {};
	_cleanup_(freep) char *text = NULL;
	char words[160], *rest, *line;
	size_t size;
	int r;

	snprintf(words, sizeof(words), "name server, /%s", path);
	r = fs_read_all(p->fs, path, MAX_RESOLV_BYTES, true, &text, &size);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (stream_open(&out) < 0)
		return -ENOMEM;
	for (rest = text; r >= 0 && (line = strsep(&rest, "\n"));) {
		char *word = cut_word(&line), *host = word ? cut_word(&line) : NULL;
		uint8_t bytes[16];
		int family;

		if (!host || !streq(word, "nameserver"))
			continue;
		fprintf(out.f, "nameserver %s\n", host);
		*ret_is_stub |= ip_parse(host, &family, bytes) && ip_is_loopback(family, bytes);
		r = places_add(p, TO_NAME_SERVER, host, words);
	}
	fputs("# other lines are left out\n", out.f);
	return r < 0 ? r : fs_record_stream(p->fs, path, &out);
}

static int add_name_servers(struct places *p)
{
	static const char *const behind[] = { "run/systemd/resolve/resolv.conf",
					      "run/NetworkManager/no-stub-resolv.conf",
					      "run/NetworkManager/resolv.conf" };
	bool is_stub = false;
	int r = read_resolv(p, "etc/resolv.conf", &is_stub);

	for (size_t i = 0; i < ELEMENTSOF(behind) && r >= 0 && is_stub; i++)
		r = read_resolv(p, behind[i], &(bool){ false });
	return r;
}

int observe_places(const struct fs *fs, struct node *n)
{
	struct places p = { .fs = fs, .n = n };
	size_t size;
	int r;

	read_host_name(fs, n->host_name, sizeof(n->host_name));
	r = fs_read_all(fs, "etc/hosts", MAX_HOSTS_BYTES, true, &p.hosts, &size);
	if (r != -ENOMEM)
		r = find_own_name(&p);
	if (r >= 0)
		r = add_api_servers(&p);
	if (r >= 0)
		r = add_name_servers(&p);
	if (r >= 0)
		r = storage_add(&p);
	if (r >= 0)
		SORT(n->hosts, n->n_hosts, compare_hosts);
	if (r >= 0)
		r = record_hosts(&p);
	free(p.hosts);
	return r;
}
