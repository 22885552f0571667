/* SPDX-License-Identifier: Apache-2.0 */
#include "cpus.h"

#include "../base/document.h"

#define MAX_CPUS       8192 /* CONFIG_NR_CPUS of distributions */
#define MAX_CHECKPOINT ((size_t)1024 * 1024)
#define ROOT_FOLDER    "/var/lib/kubelet"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int cpus_parse_amount(const char *text, uint64_t *ret)
{
	static const struct {
		const char *suffix;
		int exponent; /* of ten, for thousandths */
	} suffixes[] = { { "", 3 }, { "m", 0 }, { "u", -3 }, { "n", -6 }, { "k", 6 }, { "M", 9 } };
	uint64_t value = 0;
	bool is_inexact = false;
	int exponent = 100;
	size_t n_digits = 0;

	for (bool is_fraction = false;; text++) {
		if (*text == '.' && !is_fraction) {
			is_fraction = true;
			continue;
		}
		if (!is_digit(*text))
			break;
		if (++n_digits > 15)
			return -ERANGE;
		value = value * 10 + (uint64_t)(*text - '0');
		exponent -= is_fraction;
	}
	if (n_digits == 0)
		return -EINVAL;

	exponent -= 100;
	for (size_t i = 0;; i++) {
		if (i == ELEMENTSOF(suffixes))
			return -EINVAL; /* also "1e3": nobody writes CPUs so */
		if (streq(text, suffixes[i].suffix)) {
			exponent += suffixes[i].exponent;
			break;
		}
	}
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

/* One number of a list, and what follows it. */
static int take_number(const char **text, uint32_t *ret)
{
	unsigned long value;
	char *end;

	if (!is_digit(**text))
		return -EINVAL;
	errno = 0;
	value = strtoul(*text, &end, 10);
	if (errno != 0 || value >= MAX_CPUS)
		return -EINVAL;
	*text = end;
	*ret = (uint32_t)value;
	return 0;
}

int cpus_count(const char *list, uint32_t n)
{
	uint64_t is_in[MAX_CPUS / 64] = {};
	int count = 0;

	for (;; list++) {
		uint32_t from, to;

		if (take_number(&list, &from) < 0)
			return -EINVAL;
		to = from;
		if (*list == '-') {
			list++;
			if (take_number(&list, &to) < 0)
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

/* What one of the two maps says of CPUs, in thousandths. */
static void add_amount(const struct sources *sources, const struct flags *flags, const char *key,
		       enum flag_kind kind, uint64_t *sum, struct kubelet_cpus *ret)
{
	const struct yaml_item *item;
	const struct source *source;
	char text[64];
	uint64_t amount;

	if (flags_map(flags, kind, "cpu", text, sizeof(text))) {
		ret->is_by_flag = true;
	} else {
		item = sources_find(sources, key, "cpu", &source);
		if (!item || item->is_null)
			return;
		/* A number without quotes is fatal to the kubelet: a map of strings it must be. */
		ret->is_unclear |= item->is_odd ||
				   (item->is_plain && cpus_parse_amount(item->text, &amount) >= 0 &&
				    is_digit(item->text[strlen(item->text) - 1]));
		COPY(text, item->text);
	}
	if (!*text)
		return;
	if (cpus_parse_amount(text, &amount) < 0 || amount > UINT32_MAX)
		ret->is_unclear = true;
	else
		*sum += amount;
}

static bool has_text(const struct sources *sources, const struct flags *flags, const char *key,
		     enum flag_kind kind)
{
	const struct flag *f = flags_last(flags, kind);
	const struct source *source;
	const struct yaml_item *item = sources_find(sources, key, "", &source);

	return f ? *f->value != '\0' : item && !item->is_null && *item->text;
}

static void observe_reserved(const struct sources *sources, const struct flags *flags,
			     struct kubelet_cpus *ret)
{
	const struct flag *f = flags_last(flags, FLAG_RESERVED_CPUS);
	const struct source *source;
	const struct yaml_item *item = sources_find(sources, "reservedSystemCPUs", "", &source);
	const char *list = f ? f->value : item && !item->is_null ? item->text : "";
	uint64_t sum = 0;
	int n;

	ret->is_unclear |= *sources->problem != '\0';
	ret->has_cgroup = has_text(sources, flags, "kubeReservedCgroup", FLAG_KUBE_CGROUP) ||
			  has_text(sources, flags, "systemReservedCgroup", FLAG_SYSTEM_CGROUP);
	add_amount(sources, flags, "kubeReserved", FLAG_KUBE_RESERVED, &sum, ret);
	add_amount(sources, flags, "systemReserved", FLAG_SYSTEM_RESERVED, &sum, ret);
	ret->n_reserved = (uint32_t)((sum + 999) / 1000);
	if (!*list)
		return;

	ret->is_list = true;
	n = cpus_count(list, MAX_CPUS);
	ret->is_unclear |= n < 0 || (f && f->is_cut) ||
			   (!f && (item->is_odd || (item->is_plain && !strpbrk(list, "-,"))));
	ret->n_reserved = n < 0 ? 0 : (uint32_t)n;
}

/* Without the pods in it. */
static int record_checkpoint(const struct fs *fs, const struct kubelet_cpus *cpus)
{
	json_auto_t *document = NULL;
	_cleanup_(freep) char *text = NULL;

	if (!fs->on_read)
		return 0;
	document = json_pack("{s:o}", "policyName", document_text(cpus->checkpoint));
	if (!document || document_print(document, &text) < 0)
		return -ENOMEM;
	fs_record(fs, RECORD_FILE, cpus->checkpoint_path + 1, text, strlen(text));
	return 0;
}

static int read_checkpoint(const struct fs *fs, const struct flags *flags, struct kubelet_cpus *ret)
{
	const struct flag *f = flags_last(flags, FLAG_ROOT_DIR);
	_cleanup_(freep) char *text = NULL;
	json_auto_t *document = NULL;
	const char *name;
	size_t size;
	int r;

	/* MicroK8s has variables of its wrapper in there. */
	if (f && (f->is_cut || f->value[0] != '/'))
		ret->is_unclear = true;
	snprintf(ret->checkpoint_path, sizeof(ret->checkpoint_path), "%.230s/cpu_manager_state",
		 f && f->value[0] == '/' ? f->value : ROOT_FOLDER);
	r = fs_read_all(fs, ret->checkpoint_path + 1, MAX_CHECKPOINT, true, &text, &size);
	if (r == -ENOENT || r == -ENOTDIR || r == -ENOMEM)
		return r == -ENOMEM ? r : 0;

	if (r >= 0 && document_parse(text, size, 0, &document, NULL) == -ENOMEM)
		return -ENOMEM;
	name = json_string_value(json_object_get(document, "policyName"));
	/* A damaged one is as bad for the kubelet as one of another policy. */
	COPY(ret->checkpoint, name ? (*name ? name : "none") : "damaged");
	return record_checkpoint(fs, ret);
}

int cpus_observe(const struct fs *fs, const struct sources *sources, const struct flags *flags,
		 struct kubelet_cpus *ret)
{
	struct kubelet_cpus cpus = {};
	char online[256];
	int n, r;

	if (fs_read(fs, "sys/devices/system/cpu/online", online, sizeof(online)) >= 0) {
		n = cpus_count(online, MAX_CPUS);
		if (n == -ENOMEM)
			return n;
		cpus.n_online = n < 0 ? 0 : (uint32_t)n;
	}
	if (fs_read(fs, "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
		    cpus.first_core, sizeof(cpus.first_core)) >= 0) {
		n = cpus_count(cpus.first_core, MAX_CPUS);
		if (n == -ENOMEM)
			return n;
		cpus.n_first_core = n < 0 ? 0 : (uint32_t)n;
	}
	observe_reserved(sources, flags, &cpus);

	r = read_checkpoint(fs, flags, &cpus);
	if (r >= 0)
		*ret = cpus;
	return r;
}

int cpus_numa_nodes(const struct fs *fs, uint32_t *ret)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	uint32_t n = 0;
	int r;

	r = fs_list(fs, "sys/devices/system/node", &names);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		n = r == -ENOENT || r == -ENOTDIR ? 0 : CPUS_UNKNOWN;
	for (size_t i = 0; i < names.n_names; i++) {
		const char *number = after(names.names[i], "node");

		n += number && *number >= '0' && *number <= '9';
	}
	*ret = n;
	return 0;
}
