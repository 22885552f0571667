/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start observe: the facts that start.c judges, from flags, files and the kernel.
 */
#include "../base/document.h"
#include "start.h"

#define MAX_STATE ((size_t)1024 * 1024)

/* A key of a map: by flag, which takes the map of the files away unless they are gates. */
static bool is_true(const struct sources *sources, const struct flags *flags, enum flag_kind kind,
		    const char *key, const char *sub, bool *ret_is_set)
{
	const bool is_given = flags_map(flags, kind, sub, (char[64]){}, 64);
	const struct yaml_item *item;
	const struct source *source;
	char text[64];

	flags_map(flags, kind, sub, text, sizeof(text));
	if (!*text && (!is_given || kind == FLAG_FEATURE_GATES)) {
		item = sources_find(sources, key, sub, &source);
		COPY(text, item && !item->is_null ? item->text : "");
	}
	*ret_is_set = *text;
	return streq(text, "true") || streq(text, "True") || streq(text, "1") || streq(text, "t");
}

static bool is_said(const struct sources *sources, const struct flags *flags, enum flag_kind kind,
		    const char *key)
{
	const struct source *source;
	const struct yaml_item *item = sources_find(sources, key, "", &source);

	return flags_last(flags, kind) || (item && !item->is_null);
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

/* The policy that memory_manager_state was written under. A capture has nothing else of it. */
static int read_memory_state(const struct fs *fs, const char *root_dir, char *ret, size_t size)
{
	const char *path = FS_PATH("%.140s/memory_manager_state", fs_bare(root_dir));
	_cleanup_(freep) char *text = NULL, *kept = NULL;
	json_auto_t *document = NULL, *copy_of = NULL;
	size_t n;
	int r = fs_read_all(fs, path, MAX_STATE, true, &text, &n);

	if (r >= 0)
		r = document_parse(text, n, 0, &document, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	copy(ret, size, json_string_value(json_object_get(document, "policyName")) ?: "");
	if (!fs->on_read)
		return 0;
	copy_of = json_pack("{s:o}", "policyName", document_text(ret));
	if (!copy_of || document_print(copy_of, &kept) < 0)
		return -ENOMEM;
	fs_record(fs, RECORD_FILE, path, kept, strlen(kept));
	return 0;
}

int start_observe(const struct fs *fs, const struct sources *sources, const struct flags *flags,
		  const char *root_dir, struct kubelet_start *ret)
{
	const struct flag *memory = flags_last(flags, FLAG_MEMORY_POLICY);
	const struct yaml_item *item;
	const struct source *source;
	bool is_set;
	int r;

	for (enum cpu_option o = 0; o < _CPU_OPTION_N; o++)
		if (is_true(sources, flags, FLAG_CPU_OPTIONS, "cpuManagerPolicyOptions",
			    start_option(o), &is_set))
			ret->cpu_options |= 1u << o;
	ret->has_alpha_options =
		is_true(sources, flags, FLAG_FEATURE_GATES, "featureGates",
			"CPUManagerPolicyAlphaOptions", &is_set) ||
		is_true(sources, flags, FLAG_FEATURE_GATES, "featureGates", "AllAlpha", &is_set);
	for (size_t i = 0; i < START_GATES_N; i++) {
		is_true(sources, flags, FLAG_FEATURE_GATES, "featureGates", start_gates[i].name,
			&is_set);
		ret->gates |= (uint32_t)is_set << i;
	}

	item = sources_find(sources, "memoryManagerPolicy", "", &source);
	COPY(ret->memory_policy, memory                                  ? memory->value
				 : item && *item->text && !item->is_null ? item->text
									 : "None");
	ret->has_reserved_memory = is_said(sources, flags, FLAG_RESERVED_MEMORY, "reservedMemory");
	ret->has_eviction = is_said(sources, flags, FLAG_EVICTION_HARD, "evictionHard");
	r = read_memory_state(fs, root_dir, ret->memory_state, sizeof(ret->memory_state));
	if (r >= 0 && ret->cpu_options & 1u << CPU_OPTION_BY_SOCKET)
		r = count_packages(fs, &ret->n_packages);
	return r;
}
