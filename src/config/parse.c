/* SPDX-License-Identifier: Apache-2.0 */
#include "parse.h"

#include "../model/ip.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <strings.h>

static const char *digits_to(const char *s, uint64_t *ret)
{
	for (*ret = 0; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(*ret, 10, ret) ||
		    __builtin_add_overflow(*ret, (uint64_t)(*s - '0'), ret))
			return NULL;

	return s;
}

int parse_number(const char *value, uint64_t min, uint64_t max, uint64_t *ret)
{
	uint64_t n;

	/* "010" is 8 to C and to systemd, and 10 to most people: neither is accepted. */
	if (!*value || (value[0] == '0' && value[1]))
		return -EINVAL;
	value = digits_to(value, &n);
	if (!value || *value || n < min || n > max)
		return -EINVAL;

	*ret = n;
	return 0;
}

int parse_boolean(const char *value, bool *ret)
{
	static const char *const words[][6] = {
		{ "no", "false", "off", "0", "n", "f" },
		{ "yes", "true", "on", "1", "y", "t" },
	};

	for (size_t is_true = 0; is_true < ELEMENTSOF(words); is_true++)
		for (size_t i = 0; i < ELEMENTSOF(words[0]); i++)
			if (strcasecmp(value, words[is_true][i]) == 0) {
				*ret = is_true;
				return 0;
			}

	return -EINVAL;
}

/* Months and years, which systemd.time(7) has as well, are longer than any setting takes. */
static uint64_t unit_usec(const char *unit, size_t n)
{
	static const struct {
		const char *names; /* between blanks; "" is one */
		uint64_t usec;
	} units[] = {
		{ " us usec ", 1 },
		{ " ms msec ", USEC_PER_MSEC },
		{ "  s sec second seconds ", USEC_PER_SEC },
		{ " m min minute minutes ", 60 * USEC_PER_SEC },
		{ " h hr hour hours ", 3600 * USEC_PER_SEC },
		{ " d day days ", 86400 * USEC_PER_SEC },
		{ " w week weeks ", 7 * 86400 * USEC_PER_SEC },
	};
	char name[16];

	if (n + sizeof("  ") > sizeof(name))
		return 0;
	PRINT(name, " %.*s ", (int)n, unit);
	for (size_t i = 0; i < ELEMENTSOF(units); i++)
		if (strstr(units[i].names, name))
			return units[i].usec;

	return 0;
}

/* "1.5min" and the blanks behind it, added to @sum; where the next one begins, or NULL. */
static const char *add_span(const char *s, uint64_t *sum)
{
	uint64_t whole, unit, part, fraction = 0;
	const char *begin = s, *point = NULL, *name;

	s = digits_to(s, &whole);
	if (!s || s == begin)
		return NULL;
	if (*s == '.') {
		point = s + 1;
		s = point + strspn(point, "0123456789");
		if (s == point)
			return NULL;
	}

	name = s += strspn(s, " \t");
	s += strspn(s, "abcdefghijklmnopqrstuvwxyz");
	unit = unit_usec(name, (size_t)(s - name));
	if (unit == 0)
		return NULL;

	/* Each digit is worth a tenth of the one before; below a microsecond none is worth
	 * anything. */
	part = unit;
	for (; point && *point >= '0' && *point <= '9'; point++) {
		part /= 10;
		fraction += part * (uint64_t)(*point - '0');
	}

	if (__builtin_mul_overflow(whole, unit, &whole) ||
	    __builtin_add_overflow(*sum, whole, sum) || __builtin_add_overflow(*sum, fraction, sum))
		return NULL;

	return s + strspn(s, " \t");
}

int parse_span(const char *value, uint64_t *ret_usec)
{
	uint64_t sum = 0;

	do {
		value = add_span(value, &sum);
		if (!value)
			return -EINVAL;
	} while (*value);

	*ret_usec = sum;
	return 0;
}

int parse_ip(const char *value, bool has_length, struct ip *ret)
{
	const char *slash = strchr(value, '/');
	const size_t len = slash ? (size_t)(slash - value) : strlen(value);
	char text[INET6_ADDRSTRLEN];
	struct ip ip = {};
	uint64_t bits;

	if (has_length != (slash != NULL) || len >= sizeof(text))
		return -EINVAL;
	PRINT(text, "%.*s", (int)len, value);

	ip.family = strchr(text, ':') ? AF_INET6 : AF_INET;
	bits = ip.family == AF_INET ? 32 : 128;
	if (inet_pton(ip.family, text, ip.bytes) != 1 || !ip_is_of_host(ip.family, ip.bytes))
		return -EINVAL;
	if (!has_length) {
		*ret = ip;
		return 0;
	}

	if (parse_number(slash + 1, 1, bits - 1, &bits) < 0)
		return -EINVAL;
	ip.prefix_len = (uint32_t)bits;
	if (ip.family == AF_INET ? ip_is_end(ip.bytes, ip.prefix_len)
				 : ip_is_link_local(ip.family, ip.bytes))
		return -EINVAL;
	*ret = ip;
	return 0;
}

/* Hexadecimal text as sysfs has it, or a glob of it. */
static bool is_hex_glob(const char *s, const char *others, const char *pattern)
{
	for (const char *c = s; *c; c++)
		if (!strchr("0123456789abcdef*?[]!^-", *c) && !strchr(others, *c))
			return false;

	if (strpbrk(s, "*?["))
		return true;

	/* No glob: then it is the whole name, or it can never match. 'x' is one digit. */
	for (; *s && *pattern; s++, pattern++)
		if (*pattern == 'x' ? !isxdigit((unsigned char)*s) : *s != *pattern)
			return false;

	return !*s && !*pattern;
}

static bool is_pci_glob(char *s)
{
	static const char longest[] = "xxxxxxxx:xx:xx.x"; /* the domain has four digits at least */

	return ANY(shape, longest, 5, is_hex_glob(s, ":.", shape));
}

static bool is_id_glob(char *s)
{
	char *colon = strchr(s, ':');
	bool is_id;

	if (!colon || colon == s || !colon[1])
		return false;

	*colon = '\0';
	is_id = is_hex_glob(s, "", "xxxx") && is_hex_glob(colon + 1, "", "xxxx");
	*colon = ':';
	return is_id;
}

/* Names of the kernel may have commas and quotes, but in a glob these are mistakes, except in a
 * set: "eth[0,1]". Brackets are balanced. */
static bool is_name_glob(char *s)
{
	if (strlen(s) >= 64 || strpbrk(s, "/\\:"))
		return false;
	for (s += strcspn(s, "[,\"'"); *s == '['; s += strcspn(s, "[,\"'"))
		s = strchr(s, ']');
	return !*s;
}

/* "[" without an end is an ordinary character to fnmatch(3): surely not what was meant. */
static bool has_balanced_brackets(const char *s)
{
	bool is_inside = false;

	for (; *s; s++) {
		if (*s == '[' && is_inside)
			return false;
		if (*s == ']' && !is_inside)
			return false;
		if (*s == '[' || *s == ']')
			is_inside = *s == '[';
	}

	return !is_inside;
}

static bool is_match_word(char *word)
{
	static const struct {
		const char *kind;
		bool is_hex;
		bool (*is_glob)(char *glob);
	} kinds[] = {
		{ "pci:", true, is_pci_glob },      { "id:", true, is_id_glob },
		{ "driver:", false, is_name_glob }, { "netdev:", false, is_name_glob },
		{ "ibdev:", false, is_name_glob },
	};

	for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
		char *glob;

		if (!is_prefix(word, kinds[i].kind))
			continue;

		glob = word + strlen(kinds[i].kind);
		for (char *c = glob; kinds[i].is_hex && *c; c++)
			*c = (char)tolower((unsigned char)*c);
		return *glob && has_balanced_brackets(glob) && kinds[i].is_glob(glob);
	}

	return false;
}

int parse_match(const char *value, char **ret)
{
	_cleanup_(freep) char *words = strdup(value), *match = calloc(1, strlen(value) + 1);
	char *at = match, *rest = NULL;

	if (!words || !match)
		return -ENOMEM;

	for (char *word = strtok_r(words, " \t", &rest); word;
	     word = strtok_r(NULL, " \t", &rest)) {
		if (!is_match_word(word))
			return -EINVAL;
		if (at != match)
			*at++ = ' ';
		at = stpcpy(at, word);
	}

	*ret = *match ? TAKE(match) : NULL;
	return 0;
}
