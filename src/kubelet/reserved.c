/* SPDX-License-Identifier: Apache-2.0 */
#include "reserved.h"

#include "../base/document.h"
#include "cpus.h"

#define MAX_STATE ((size_t)1024 * 1024)
#define MAX_NODES 64
#define DEFAULT   "100Mi" /* memory.available of DefaultEvictionHard: eviction/defaults_linux.go */

struct reserved {
	uint64_t nodes[MAX_NODES]; /* bytes of each NUMA node */
	uint64_t sum, free;        /* free: of all nodes, by the other keys */
	bool is_unclear;
};

static bool parse_bytes(const char *text, uint64_t *ret)
{
	const int r = cpus_parse_amount(text, ret);

	*ret = (*ret + 999) / 1000;
	return r >= 0;
}

/* Prints it as Quantity.String() does: "1124Mi". */
static const char *show_bytes(uint64_t n, char ret[static 32])
{
	size_t unit = 0;

	for (; n > 0 && n % 1024 == 0 && unit < 4; unit++)
		n /= 1024;
	snprintf(ret, 32, "%" PRIu64 "%.*s", n, unit > 0 ? 2 : 0, &"..KiMiGiTi"[2 * unit]);
	return ret;
}

/* Nothing but this list reserves huge pages: parseResourceList() in cmd/kubelet/app/server.go. */
static void add_reservation(struct reserved *m, const char *node, const char *type,
			    const char *text, struct kubelet_start *ret)
{
	const unsigned long n = strtoul(node, NULL, 10);
	uint64_t bytes = 0;

	if (n >= MAX_NODES || !parse_bytes(text, &bytes)) {
		m->is_unclear = true;
	} else if (bytes == 0 || (streq(type, "memory") && m->nodes[n] > 0)) {
		snprintf(ret->reserved_problem, sizeof(ret->reserved_problem),
			 "%s for NUMA node %lu and resource \"%.32s\"",
			 bytes > 0 ? "the reserved memory has a duplicate value"
				   : "reserved memory may not be zero",
			 n, type);
	} else if (streq(type, "memory")) {
		m->nodes[n] = bytes;
		m->sum += bytes;
	} else {
		snprintf(ret->memory_problem, sizeof(ret->memory_problem),
			 "the total amount \"%.24s\" of type \"%.24s\" is not equal to the value "
			 "\"0\" determined by Node Allocatable feature",
			 text, type);
	}
}

/* "0:memory=1Gi,hugepages-2Mi=4Mi;1:memory=1Gi", which adds up over several flags. */
static void read_flag(const struct flag *f, struct reserved *m, struct kubelet_start *ret)
{
	char text[sizeof(f->value)], *rest = text, *types, *type;

	m->is_unclear |= f->is_cut;
	COPY(text, f->value);
	while ((types = strsep(&rest, ";"))) {
		const char *node = strsep(&types, ":"), *name;

		while ((type = strsep(&types, ","))) {
			name = strsep(&type, "=");
			add_reservation(m, node, name, type ?: "", ret);
		}
	}
}

/* An element of the list, as yaml.h gives it: its words. */
static void read_element(const struct yaml_item *item, struct reserved *m,
			 struct kubelet_start *ret)
{
	char text[sizeof(item->text)], *rest = text, *word;
	const char *words[16], *node = "?";
	size_t n = 0;

	COPY(text, item->text);
	while ((word = strsep(&rest, ",\"")))
		if (*word && n < ELEMENTSOF(words))
			words[n++] = word;
	for (size_t i = 0; i + 1 < n; i++)
		if (streq(words[i], "numaNode"))
			node = words[i + 1];
	m->is_unclear |= n < 5 || n == ELEMENTSOF(words) || *node == '?';
	for (size_t i = 0; i + 1 < n; i += streq(words[i], "limits") ? 1 : 2)
		if (!streq(words[i], "limits") && !streq(words[i], "numaNode"))
			add_reservation(m, node, words[i], words[i + 1], ret);
}

/* Adds what a map, or its flag, says of memory. @otherwise: where the map is not there; or empty.
 */
static void add_free(const struct sources *sources, const struct flags *flags, enum flag_kind kind,
		     const char *key, const char *sub, const char *otherwise, struct reserved *m)
{
	const struct yaml_item *top = NULL, *item;
	const struct source *source;
	uint64_t bytes = 0;
	char text[64];

	if (!flags_map(flags, kind, sub, text, sizeof(text))) {
		if (*otherwise)
			top = sources_find(sources, key, "", &source);
		item = sources_find(sources, key, sub, &source);
		COPY(text, item && !item->is_null ? item->text
			   : !top || top->is_null ? otherwise
						  : "");
	}
	if (*text && !streq(text, "0%") && !streq(text, "100%"))
		m->is_unclear |= !parse_bytes(text, &bytes);
	m->free += bytes;
}

static void judge(const struct fs *fs, const struct reserved *m, struct kubelet_start *ret)
{
	char a[32], b[32];

	for (unsigned int n = 0; n < MAX_NODES; n++)
		if (m->nodes[n] > 0 &&
		    fs_exists(fs, FS_PATH("sys/devices/system/node/node%u", n)) == 0)
			snprintf(ret->memory_problem, sizeof(ret->memory_problem),
				 "the reserved memory configuration references a NUMA node %u that "
				 "does not exist on this machine",
				 n);
	if (*ret->memory_problem)
		return;
	if (m->sum != m->free)
		snprintf(ret->memory_problem, sizeof(ret->memory_problem),
			 "the total amount \"%s\" of type \"memory\" is not equal to the value "
			 "\"%s\" determined by Node Allocatable feature",
			 show_bytes(m->sum, a), show_bytes(m->free, b));
	else if (m->sum == 0)
		COPY(ret->memory_problem,
		     "[memorymanager] you should specify the system reserved memory");
}

/* Has the node the memory that the state says, and is the same reserved? True: or not known. */
static bool is_same_node(const struct fs *fs, const struct reserved *m, const char *name,
			 const json_t *memory)
{
	const unsigned long node = strtoul(name, NULL, 10) % MAX_NODES;
	const uint64_t reserved = (uint64_t)document_get_number(memory, "systemReserved");
	const uint64_t has = (uint64_t)document_get_number(memory, "total");
	char text[1024];
	const char *total;

	if (fs_read(fs, FS_PATH("sys/devices/system/node/node%lu/meminfo", node), text,
		    sizeof(text)) < 0)
		return m->nodes[node] == reserved;
	total = strstr(text, "MemTotal:");
	return m->nodes[node] == reserved &&
	       (!total || strtoull(total + strlen("MemTotal:"), NULL, 10) * 1024 == has);
}

/* A capture has no pods of it. */
static int record_state(const struct fs *fs, const char *path, const char *policy, json_t *machine)
{
	json_auto_t *kept = json_pack("{s:o, s:O*}", "policyName", document_text(policy),
				      "machineState", machine);
	_cleanup_(freep) char *text = NULL;

	if (!kept || document_print(kept, &text) < 0)
		return -ENOMEM;
	fs_record(fs, RECORD_FILE, path, text, strlen(text));
	return 0;
}

static int read_state(const struct fs *fs, const struct reserved *m, const char *root_dir,
		      struct kubelet_start *ret)
{
	const char *path = FS_PATH("%.140s/memory_manager_state", fs_bare(root_dir)), *name;
	_cleanup_(freep) char *text = NULL;
	json_auto_t *document = NULL;
	uint32_t n_nodes = CPUS_UNKNOWN;
	json_t *nodes, *node;
	bool is_same;
	size_t n;
	int r;

	r = fs_read_all(fs, path, MAX_STATE, true, &text, &n);
	if (r >= 0)
		r = document_parse(text, n, 0, &document, NULL);
	if (r >= 0)
		r = cpus_numa_nodes(fs, &n_nodes);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	COPY(ret->memory_state, document_get_text(document, "policyName"));
	nodes = json_object_get(document, "machineState");
	is_same = n_nodes - 1 >= MAX_NODES || json_object_size(nodes) == n_nodes;
	json_object_foreach(nodes, name, node) is_same &= is_same_node(
		fs, m, name, json_object_get(json_object_get(node, "memoryMap"), "memory"));
	if (json_object_size(nodes) > 0 && !is_same && !m->is_unclear)
		COPY(ret->memory_state_problem,
		     "[memorymanager] the expected machine state is different from the real one");
	return fs->on_read ? record_state(fs, path, ret->memory_state, nodes) : 0;
}

int reserved_observe(const struct fs *fs, const struct sources *sources, const struct flags *flags,
		     const char *root_dir, bool is_rancher, struct kubelet_start *ret)
{
	struct reserved m = {};
	const struct source *source = NULL;
	const struct yaml_item *top = sources_find(sources, "reservedMemory", "", &source);

	for (size_t i = 0; i < flags->n_flags; i++)
		if (flags->flags[i].kind == FLAG_RESERVED_MEMORY)
			read_flag(&flags->flags[i], &m, ret);
	for (const struct yaml_item *item = top;
	     top && !flags_last(flags, FLAG_RESERVED_MEMORY) &&
	     ++item < source->items.items + source->items.n_items && item->is_listed;)
		read_element(item, &m, ret);
	add_free(sources, flags, FLAG_SYSTEM_RESERVED, "systemReserved", "memory", "", &m);
	add_free(sources, flags, FLAG_KUBE_RESERVED, "kubeReserved", "memory", "", &m);
	add_free(sources, flags, FLAG_EVICTION_HARD, "evictionHard", "memory.available",
		 is_rancher ? "?" : DEFAULT, &m);
	/* That key adds what evictionHard does not say, and by default it does not. */
	m.is_unclear |= *sources->problem ||
			sources_find(sources, "mergeDefaultEvictionSettings", "", &source);
	judge(fs, &m, ret);
	if (m.is_unclear)
		ret->reserved_problem[0] = ret->memory_problem[0] = '\0';
	return read_state(fs, &m, root_dir, ret);
}
