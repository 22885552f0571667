/* SPDX-License-Identifier: Apache-2.0 */
#include "cpus.h"

#include "../base/document.h"

#include <ctype.h>

#define MAX_CPUS       8192 /* CONFIG_NR_CPUS of distributions */
#define MAX_LIST       4096 /* bytes of a list in a file of sysfs */
#define MAX_CHECKPOINT ((size_t)1024 * 1024)

int cpus_parse_amount(const char *text, uint64_t *ret)
{
	static const struct suffix {
		const char *suffix;
		int exponent; /* of ten, for thousandths */
		int n_bits;   /* that it is shifted by */
	} suffixes[] = { { "", 3 },       { "m", 0 },      { "u", -3 },     { "n", -6 },
			 { "k", 6 },      { "M", 9 },      { "G", 12 },     { "T", 15 },
			 { "P", 18 },     { "E", 21 },     { "Ki", 3, 10 }, { "Mi", 3, 20 },
			 { "Gi", 3, 30 }, { "Ti", 3, 40 }, { "Pi", 3, 50 }, { "Ei", 3, 60 } };
	const bool is_negative = *text == '-';
	const struct suffix *s;
	uint64_t value = 0;
	bool is_inexact = false;
	int exponent = 100;
	size_t n_digits = 0;
	long more = 0; /* of "1e3" */
	char *end;

	text += is_negative || *text == '+';
	for (bool is_fraction = false;; text++) {
		if (*text == '.' && !is_fraction) {
			is_fraction = true;
			continue;
		}
		if (!isdigit((unsigned char)*text))
			break;
		if (++n_digits > 15)
			return -ERANGE;
		value = value * 10 + (uint64_t)(*text - '0');
		exponent -= is_fraction;
	}
	if (n_digits == 0)
		return -EINVAL;

	s = FIND(it, suffixes, ELEMENTSOF(suffixes), streq(text, it->suffix));
	if (!s && (*text == 'e' || *text == 'E') && text[1] && !isspace((unsigned char)text[1])) {
		more = strtol(text + 1, &end, 10);
		s = *end ? NULL : suffixes;
	}
	if (!s)
		return -EINVAL;
	if (is_negative && value > 0)
		return -EDOM;
	if (value >> (63 - s->n_bits) || labs(more) > 18)
		return -ERANGE;
	value <<= s->n_bits;
	exponent += s->exponent + (int)more - 100;
	for (; exponent > 0; exponent--) {
		if (value > UINT64_MAX / 10)
			return -ERANGE;
		value *= 10;
	}
	for (; exponent < 0; exponent++) {
		is_inexact |= value % 10 > 0;
		value /= 10;
	}

	*ret = value + is_inexact;
	return 0;
}

struct cpuset {
	uint64_t bits[MAX_CPUS / 64];
};

/* Adds a list. Return: how many of it were not there, all below @n; or -EINVAL. */
static int add_list(struct cpuset *set, const char *list, uint32_t n)
{
	uint64_t *is_in = set->bits;
	int count = 0;

	for (;; list++) {
		uint32_t from, to;

		if (!take_number(&list, MAX_CPUS - 1, &from))
			return -EINVAL;
		to = from;
		if (*list == '-') {
			list++;
			if (!take_number(&list, MAX_CPUS - 1, &to))
				return -EINVAL;
		}
		if (to < from || to >= n)
			return -EINVAL;
		for (uint32_t i = from; i <= to; i++) {
			count += !(is_in[i / 64] >> i % 64 & 1);
			is_in[i / 64] |= UINT64_C(1) << i % 64;
		}
		if (!*list)
			return count;
		if (*list != ',')
			return -EINVAL;
	}
}

int cpus_count(const char *list, uint32_t n)
{
	return add_list(&(struct cpuset){}, list, n);
}

static bool is_subset(const struct cpuset *a, const struct cpuset *of)
{
	for (size_t i = 0; i < ELEMENTSOF(a->bits); i++)
		if (a->bits[i] & ~of->bits[i])
			return false;
	return true;
}

/* Prints a set as the kubelet does: "0-3,8"; of a long one the beginning. */
static const char *show_set(const struct cpuset *set, char *ret, size_t size)
{
	size_t at = 0;

	*ret = '\0';
	for (uint32_t i = 0, to; i < MAX_CPUS && at + 16 < size; i = to) {
		to = i;
		while (to < MAX_CPUS && set->bits[to / 64] >> to % 64 & 1)
			to++;
		if (to == i) {
			to++;
			continue;
		}
		at += (size_t)snprintf(ret + at, size - at, to - i > 1 ? "%s%u-%u" : "%s%u",
				       at > 0 ? "," : "", i, to - 1);
	}
	return ret;
}

/* Adds the CPUs that a map of the files, or its flag, reserves, in thousandths. */
static void add_amount(const struct sources *sources, const struct flags *flags,
		       enum flag_kind kind, uint64_t *sum, struct kubelet_cpus *ret)
{
	const struct yaml_item *item;
	char text[64];
	uint64_t amount;

	if (flags_map(flags, kind, "cpu", text, sizeof(text))) {
		ret->is_by_flag = true;
	} else {
		item = sources_find(sources, flags_key(kind), "cpu", NULL);
		if (!item || item->is_null)
			return;
		/* A number without quotes is fatal to the kubelet: a map of strings it must be. */
		ret->is_unclear |= item->is_odd ||
				   (item->is_plain && cpus_parse_amount(item->text, &amount) >= 0 &&
				    isdigit((unsigned char)item->text[strlen(item->text) - 1]));
		COPY(text, item->text);
	}
	if (!*text)
		return;
	if (cpus_parse_amount(text, &amount) < 0 || amount > UINT32_MAX)
		ret->is_unclear = true;
	else
		*sum += amount;
}

static void observe_reserved(const struct sources *sources, const struct flags *flags,
			     const struct cpuset *online, struct cpuset *reserved,
			     struct kubelet_cpus *ret)
{
	char a[64], b[64];
	const struct flag *f = flags_last(flags, FLAG_RESERVED_CPUS);
	const struct yaml_item *item = sources_find(sources, "reservedSystemCPUs", "", NULL);
	const char *list = flags_value(flags, sources, FLAG_RESERVED_CPUS);
	uint64_t sum = 0;
	int n;

	ret->is_unclear |= *sources->problem != '\0';
	ret->has_cgroup = *flags_value(flags, sources, FLAG_KUBE_CGROUP) ||
			  *flags_value(flags, sources, FLAG_SYSTEM_CGROUP);
	add_amount(sources, flags, FLAG_KUBE_RESERVED, &sum, ret);
	add_amount(sources, flags, FLAG_SYSTEM_RESERVED, &sum, ret);
	ret->n_reserved = (uint32_t)((sum + 999) / 1000);
	if (!*list)
		return;

	ret->is_list = true;
	n = cpus_count(list, MAX_CPUS);
	ret->is_unclear |= n < 0 || (f && f->is_cut) ||
			   (!f && (item->is_odd || (item->is_plain && !strpbrk(list, "-,"))));
	ret->n_reserved = n < 0 ? 0 : (uint32_t)n;
	if (n < 0 && (f || !item->is_odd))
		PRINT(ret->list_problem,
		      "unable to parse reservedSystemCPUs (--reserved-cpus) %.100s", list);
	if (n >= 0 && add_list(reserved, list, MAX_CPUS) >= 0 && ret->n_online > 0 &&
	    !is_subset(reserved, online))
		PRINT(ret->list_problem, "reserved-cpus: %s is not a subset of online-cpus: %s",
		      show_set(reserved, a, sizeof(a)), show_set(online, b, sizeof(b)));
}

/* validateState() of pkg/kubelet/cm/cpumanager/policy_static.go. */
static void judge_state(const struct cpuset *online, const struct cpuset *reserved, bool is_strict,
			const struct cpuset *free, const struct cpuset *taken,
			struct kubelet_cpus *ret)
{
	struct cpuset all = *free, usable = *online, common = {};
	bool is_empty = true, is_shared = false, has_reserved = false;
	char a[64], b[64];

	for (size_t i = 0; i < ELEMENTSOF(all.bits); i++) {
		is_empty &= !free->bits[i];
		is_shared |= free->bits[i] & taken->bits[i];
		common.bits[i] = free->bits[i] & reserved->bits[i];
		has_reserved |= common.bits[i];
		all.bits[i] |= taken->bits[i];
		usable.bits[i] &= is_strict ? ~reserved->bits[i] : UINT64_MAX;
	}
	if (is_empty && is_subset(taken, free))
		return; /* the kubelet fills it */
	if (is_empty)
		COPY(ret->state_problem, "default cpuset cannot be empty");
	else if (is_strict ? has_reserved : !is_subset(reserved, &common))
		PRINT(ret->state_problem,
		      is_strict ? "some of strictly reserved cpus: \"%s\" are present in "
				  "defaultCpuSet: \"%s\""
				: "not all reserved cpus: \"%s\" are present in defaultCpuSet: "
				  "\"%s\"",
		      show_set(is_strict ? &common : reserved, a, sizeof(a)),
		      show_set(free, b, sizeof(b)));
	else if (is_shared)
		PRINT(ret->state_problem, "cpuset: \"%s\" overlaps with default cpuset \"%s\"",
		      show_set(taken, a, sizeof(a)), show_set(free, b, sizeof(b)));
	else if (!is_subset(&all, &usable) || !is_subset(&usable, &all))
		PRINT(ret->state_problem,
		      "current set of available CPUs \"%s\" doesn't match with CPUs in state "
		      "\"%s\"",
		      show_set(&usable, a, sizeof(a)), show_set(&all, b, sizeof(b)));
}

/* CPUs of containers, or of whole pods. */
static void add_taken(json_t *entries, struct cpuset *ret)
{
	const char *name;
	json_t *pod, *set;

	json_object_foreach(entries, name, pod) {
		const char *container;

		json_object_foreach(pod, container, set)
			add_list(ret, json_string_value(set) ?: "", MAX_CPUS);
	}
}

/* Without the pods in it: their CPUs are those of one. */
static int record_checkpoint(const struct fs *fs, const struct kubelet_cpus *cpus,
			     const struct cpuset *free, const struct cpuset *taken)
{
	json_auto_t *document = NULL;
	_cleanup_(freep) char *text = NULL;
	char list[MAX_LIST], of_pods[MAX_LIST];

	if (!fs->on_read)
		return 0;
	document =
		json_pack("{s:o, s:s, s:{s:{s:s}}}", "policyName", document_text(cpus->checkpoint),
			  "defaultCpuSet", show_set(free, list, sizeof(list)), "entries", "", "",
			  show_set(taken, of_pods, sizeof(of_pods)));
	if (!document || document_print(document, &text) < 0)
		return -ENOMEM;
	fs_record(fs, RECORD_FILE, cpus->checkpoint_path + 1, text, strlen(text));
	return 0;
}

/*
 * Pods have "podEntries" from 1.36 on, and only a kubelet with the gate PodLevelResourceManagers
 * reads them; from 1.37 on they stand in the text "data" alone, itself JSON:
 * pkg/kubelet/cm/cpumanager/state/checkpoint.go.
 */
static int read_checkpoint(const struct fs *fs, const char *root_dir, bool is_strict, bool has_pods,
			   const struct cpuset *online, const struct cpuset *reserved,
			   struct kubelet_cpus *ret)
{
	struct cpuset free = {}, taken = {};
	_cleanup_(freep) char *text = NULL;
	json_auto_t *document = NULL, *inner = NULL;
	const char *name, *data;
	size_t size;
	int r;

	PRINT(ret->checkpoint_path, "%s/cpu_manager_state", root_dir);
	r = fs_read_all(fs, ret->checkpoint_path + 1, MAX_CHECKPOINT, true, &text, &size);
	if (r == -ENOENT || r == -ENOTDIR || r == -ENOMEM)
		return r == -ENOMEM ? r : 0;

	if (r >= 0 && document_parse(text, size, 0, &document, NULL) == -ENOMEM)
		return -ENOMEM;
	data = json_string_value(json_object_get(document, "data")) ?: "";
	if (document_parse(data, strlen(data), 0, &inner, NULL) == -ENOMEM)
		return -ENOMEM;
	name = json_string_value(json_object_get(document, "policyName"));
	COPY(ret->checkpoint, name ? (*name ? name : "none") : STATE_DAMAGED);
	add_list(&free, json_string_value(json_object_get(document, "defaultCpuSet")) ?: "",
		 MAX_CPUS);
	add_taken(json_object_get(document, "entries"), &taken);
	add_taken(has_pods ? json_object_get(document, "podEntries") : NULL, &taken);
	add_taken(has_pods ? json_object_get(inner, "podEntries") : NULL, &taken);
	if (ret->n_online > 0)
		judge_state(online, reserved, is_strict, &free, &taken, ret);
	return record_checkpoint(fs, ret, &free, &taken);
}

int cpus_observe(const struct fs *fs, const struct sources *sources, const struct flags *flags,
		 const char *root_dir, bool is_strict, bool has_pods, struct kubelet_cpus *ret)
{
	struct kubelet_cpus cpus = { .is_unclear = ret->is_unclear };
	struct cpuset online = {}, reserved = {}, core = {};
	char list[MAX_LIST];
	int n, r;

	if (fs_read(fs, "sys/devices/system/cpu/online", list, sizeof(list)) >= 0) {
		n = add_list(&online, list, MAX_CPUS);
		cpus.n_online = n < 0 ? 0 : (uint32_t)n;
	}
	if (fs_read(fs, "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
		    cpus.first_core, sizeof(cpus.first_core)) >= 0) {
		/* In a container lxcfs may make the first file up, and not this one. */
		n = add_list(&core, cpus.first_core, MAX_CPUS);
		cpus.n_first_core = n < 0 || !is_subset(&core, &online) ? 0 : (uint32_t)n;
	}
	observe_reserved(sources, flags, &online, &reserved, &cpus);

	r = read_checkpoint(fs, root_dir, is_strict, has_pods, &online, &reserved, &cpus);
	if (r >= 0)
		*ret = cpus;
	return r;
}

int cpus_numa_nodes(const struct fs *fs, uint32_t *ret)
{
	int r = fs_count(fs, "sys/devices/system/node", "node", ret); /* node0, node1, ... */

	if (r < 0)
		*ret = r == -ENOENT || r == -ENOTDIR ? 0 : CPUS_UNKNOWN;
	return r == -ENOMEM ? r : 0;
}
