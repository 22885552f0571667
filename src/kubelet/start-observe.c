/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start observe: the facts that start.c judges, from flags, files and the kernel.
 */
#include "reserved.h"
#include "start.h"

/* strconv.ParseBool() */
static bool is_true(const char *text)
{
	static const char *const words[] = { "1", "t", "T", "true", "TRUE", "True" };

	return ANY(w, words, ELEMENTSOF(words), streq(text, *w));
}

/* @first to @end: the rows of its map. @other: its first name that none of them has. */
static void take_word(const char *name, const char *value, enum start_word first,
		      enum start_word end, char other[64], struct kubelet_start *ret)
{
	for (enum start_word w = first; w < end; w++)
		if (streq(name, start_rows[w].name)) {
			ret->given |= 1u << w;
			ret->on = (ret->on & ~(1u << w)) | (uint32_t)is_true(value) << w;
			return;
		}
	copy(other, 64, name);
}

/* A flag takes the map of the files away, unless they are gates. */
static void read_words(const struct sources *sources, const struct flags *flags,
		       enum flag_kind kind, const char *key, enum start_word first,
		       enum start_word end, char other[64], struct kubelet_start *ret)
{
	const bool is_of_files = !flags_last(flags, kind) || kind == FLAG_FEATURE_GATES;
	const struct source *source;

	for (size_t i = 0; i < sources->n_sources && is_of_files; i++)
		for (size_t k = 0; k < sources->sources[i].items.n_items; k++) {
			const struct yaml_item *item = &sources->sources[i].items.items[k];

			if (streq(item->key, key) && *item->sub && !item->is_null &&
			    sources_find(sources, key, item->sub, &source) == item)
				take_word(item->sub, item->text, first, end, other, ret);
		}
	for (size_t i = 0; i < flags->n_flags; i++) {
		char text[sizeof(flags->flags[i].value)], *rest = text, *value;

		COPY(text, flags->flags[i].kind == kind ? flags->flags[i].value : "");
		while ((value = strsep(&rest, ","))) {
			const char *name = strsep(&value, "=");

			if (value)
				take_word(name, value, first, end, other, ret);
		}
	}
}

/* Packages of processors, as cadvisor counts them. */
static int count_packages(const struct fs *fs, uint32_t *ret)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	uint64_t seen[64] = {};
	int r = fs_list(fs, "sys/devices/system/cpu", &names);

	for (size_t i = 0; i < names.n_names && r >= 0; i++) {
		const char *number = after(names.names[i], "cpu");
		char text[16];
		unsigned long id;

		if (!number || *number < '0' || *number > '9' ||
		    fs_read(fs,
			    FS_PATH("sys/devices/system/cpu/%s/topology/physical_package_id",
				    names.names[i]),
			    text, sizeof(text)) < 0)
			continue;
		id = strtoul(text, NULL, 10) % (64 * ELEMENTSOF(seen));
		*ret += !(seen[id / 64] >> id % 64 & 1);
		seen[id / 64] |= UINT64_C(1) << id % 64;
	}
	return r == -ENOMEM ? r : 0;
}

bool start_needs_version(const struct sources *sources, const struct flags *flags)
{
	static const struct {
		enum flag_kind kind;
		const char *key;
	} of[] = {
		{ FLAG_CPU_OPTIONS, "cpuManagerPolicyOptions" },
		{ FLAG_POLICY_OPTIONS, "topologyManagerPolicyOptions" },
		{ FLAG_FEATURE_GATES, "featureGates" },
		{ FLAG_MEMORY_POLICY, "memoryManagerPolicy" },
	};
	const struct source *source;

	return ANY(o, of, ELEMENTSOF(of),
		   flags_last(flags, o->kind) || sources_find(sources, o->key, "", &source));
}

int start_observe(const struct fs *fs, const struct sources *sources, const struct flags *flags,
		  const char *root_dir, bool is_rancher, struct kubelet_start *ret)
{
	const struct flag *memory = flags_last(flags, FLAG_MEMORY_POLICY);
	char gate[64];
	const struct yaml_item *item;
	const struct source *source;
	int r;

	read_words(sources, flags, FLAG_CPU_OPTIONS, "cpuManagerPolicyOptions", 0, NUMA_OPTIONS,
		   ret->other_option[START_CPUS], ret);
	read_words(sources, flags, FLAG_POLICY_OPTIONS, "topologyManagerPolicyOptions",
		   NUMA_OPTIONS, GATES, ret->other_option[START_NUMA], ret);
	read_words(sources, flags, FLAG_FEATURE_GATES, "featureGates", GATES, _START_WORD_N, gate,
		   ret);

	item = sources_find(sources, "memoryManagerPolicy", "", &source);
	COPY(ret->memory_policy, memory                                  ? memory->value
				 : item && *item->text && !item->is_null ? item->text
									 : "None");
	r = reserved_observe(fs, sources, flags, root_dir, is_rancher, ret);
	if (r >= 0 && ret->on >> CPU_OPTION_BY_SOCKET & 1)
		r = count_packages(fs, &ret->n_packages);
	return r;
}
