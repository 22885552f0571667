/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start observe: the facts that start-rules.c judges, from flags, files and the kernel.
 */
#include "../base/document.h"
#include "cpus.h"
#include "start-rules.h"
#include "words.h"

#define MAX_STATE ((size_t)1024 * 1024)
#define MAX_NODES 64      /* NUMA nodes */
#define DEFAULT   "100Mi" /* memory.available of DefaultEvictionHard: eviction/defaults_linux.go */

/* strconv.ParseBool(): 1, 0, or -1 for a text that is neither. */
static int parse_bool(const char *text)
{
	static const char *const words[] = { "0", "f", "F", "false", "FALSE", "False",
					     "1", "t", "T", "true",  "TRUE",  "True" };
	const char *const *word = FIND(w, words, ELEMENTSOF(words), streq(text, *w));

	return word ? word - words >= 6 : -1;
}

/* strconv.Atoi() */
static bool is_number(const char *text)
{
	text += *text == '+' || *text == '-';
	return *text && !text[strspn(text, "0123456789")];
}

/* A map of the kubelet's, as its flag or its files give it. */
struct map {
	enum flag_kind kind;
	const char *between; /* a flag: its pairs; NoSplit of map_string_string.go: one pair */
	char of_pair;        /* a flag: "=", or "<" */
	void (*take)(const struct map *map, const char *name, const char *value,
		     struct kubelet_start *ret);
	enum start_word first, end; /* its rows */
	int other;                  /* which other_option has its first name that is no row's */
};

static void take_word(const struct map *map, const char *name, const char *value,
		      struct kubelet_start *ret)
{
	for (enum start_word w = map->first; w < map->end; w++)
		if (streq(name, start_rows[w].name)) {
			const bool is_max = w == NUMA_OPTION_MAX_NODES;
			const uint32_t bit = 1u << w;
			const int is_on = parse_bool(value);

			if (is_max)
				ret->max_numa_nodes = (uint32_t)MAX(strtol(value, NULL, 10), 1);
			ret->given |= bit;
			ret->on = is_on > 0 ? ret->on | bit : ret->on & ~bit;
			ret->bad = (is_max ? !is_number(value) : is_on < 0) ? ret->bad | bit
									    : ret->bad & ~bit;
			return;
		}
	if (map->other >= 0)
		COPY(ret->other_option[map->other], name);
}

/* ParseQuantity() in apimachinery, and parsePercentage() in eviction/helpers.go: the words with
 * which it is refused; or NULL. */
static const char *find_bad_amount(const char *text, bool is_threshold)
{
	const size_t n = strlen(text);
	uint64_t amount = 1;
	char *end;
	int r;

	if (is_threshold && n > 0 && text[n - 1] == '%') {
		const double share = strtod(text, &end);

		return end == text || end[strspn(end, "%")] ? "strconv.ParseFloat: parsing"
		       : share < 0 || share > 100           ? "eviction percentage threshold"
							    : NULL;
	}
	r = cpus_parse_amount(text, &amount);
	if (r == -EINVAL)
		return n == 0 || text[strspn(text, "0123456789+-.eEinumkKMGTP")]
			       ? "quantities must match the regular expression"
			       : "unable to parse quantity's suffix";
	if (is_threshold)
		return r == -EDOM || amount == 0 ? "eviction threshold" : NULL;
	return r == -EDOM ? "" : NULL;
}

/* parseResourceList() in cmd/kubelet/app/server.go: the words that it puts before. */
static void take_amount(const struct map *map, const char *name, const char *value,
			struct kubelet_start *ret)
{
	const bool is_threshold = map->kind == FLAG_EVICTION_HARD;
	const bool is_judged = sources_are_read(flags_key(map->kind), name) && !streq(value, "?") &&
			       !(ret->has_list && streq(name, "cpu")); /* which it replaces */
	const char *bad = is_judged ? find_bad_amount(value, is_threshold) : NULL;

	if (bad && is_threshold)
		problem_note(ret->amount_problem, "%s", bad);
	else if (bad && *bad)
		problem_note(ret->amount_problem,
			     "--%s value failed to parse: failed to parse quantity \"%.40s\" for "
			     "\"%s\" resource: %s",
			     flags_name(map->kind), value, name, bad);
	else if (bad)
		problem_note(ret->amount_problem,
			     "--%s value failed to parse: resource quantity for \"%s\" cannot be "
			     "negative: %.40s",
			     flags_name(map->kind), name, value);
}

/* map_string_string.go and its like in component-base/cli/flag. The last amount of a key counts. */
static void take_flag(const struct flags *flags, const struct map *map, const struct flag *flag,
		      struct kubelet_start *ret)
{
	char text[sizeof(flag->value)], *rest = text, *value, last[64];

	COPY(text, flag->value);
	while ((value = strsep(&rest, map->between))) {
		const char *name = word_trim(strsep(&value, (const char[]){ map->of_pair, '\0' }));

		if (value)
			value = word_trim(value);
		if (value && map->take == take_amount) {
			flags_map(flags, map->kind, name, last, sizeof(last));
			value = last;
		}
		if (value && map->kind == FLAG_FEATURE_GATES && parse_bool(value) < 0)
			problem_note(ret->flag_problem,
				     "invalid value of %.80s: %.80s, err: ", name, value);
		if (value)
			map->take(map, name, value, ret);
		else if (!flag->is_cut && (*name || !*map->between))
			problem_note(
				ret->flag_problem,
				"invalid argument \"%.60s\" for \"--%s\" flag: malformed pair, "
				"expect string%c%s",
				flag->value, flags_name(map->kind), map->of_pair,
				map->kind == FLAG_FEATURE_GATES ? "bool" : "string");
	}
}

/* A boolean of YAML 1.1: 1, 0, or -1 for what is none. */
static int yaml_bool(const struct yaml_item *item)
{
	static const char *const words[] = { "n",     "N",     "no",  "No",  "NO",   "false",
					     "False", "FALSE", "off", "Off", "OFF",  "y",
					     "Y",     "yes",   "Yes", "YES", "true", "True",
					     "TRUE",  "on",    "On",  "ON" };
	const char *const *word = FIND(w, words, ELEMENTSOF(words), streq(item->text, *w));

	return word && item->is_plain ? word - words >= 11 : -1;
}

/* A flag takes the map of the files away, unless they are gates. The null of a key is the decoder's
 * zero in the file, and takes the key away in a drop-in. */
static void read_map(const struct sources *sources, const struct flags *flags,
		     const struct map *map, struct kubelet_start *ret)
{
	const bool is_of_files = !flags_last(flags, map->kind) || map->kind == FLAG_FEATURE_GATES;
	const char *key = flags_key(map->kind);

	FOREACH_WHILE(source, sources->sources, sources->n_sources, is_of_files)
		FOREACH(item, source->items.items, source->items.n_items)
			if (streq(item->key, key) && *item->sub &&
			    !(item->is_null && *source->name) && sources_are_read(key, item->sub) &&
			    sources_find(sources, key, item->sub, NULL) == item)
				map->take(map, item->sub,
					  map->kind == FLAG_FEATURE_GATES
						  ? yaml_bool(item) > 0 ? "true" : "false"
					  : item->is_null ? ""
							  : item->text,
					  ret);
	for (size_t i = 0; i < flags->n_flags; i++)
		if (flags->flags[i].kind == map->kind)
			take_flag(flags, map, &flags->flags[i], ret);
}

static const struct map maps[] = {
	{ FLAG_CPU_OPTIONS, "", '=', take_word, 0, NUMA_OPTIONS, START_CPUS },
	{ FLAG_POLICY_OPTIONS, ",", '=', take_word, NUMA_OPTIONS, GATES, START_NUMA },
	{ FLAG_FEATURE_GATES, ",", '=', take_word, GATES, _START_WORD_N, -1 },
	{ FLAG_KUBE_RESERVED, ",", '=', take_amount },
	{ FLAG_SYSTEM_RESERVED, ",", '=', take_amount },
	{ FLAG_EVICTION_HARD, ",", '<', take_amount },
};

/* The type of a scalar in YAML 1.1: resolve() in resolve.go of go-yaml v2. */
static const char *type_of(const struct yaml_item *item)
{
	const char *text = item->text;
	char *end;

	if (!item->is_plain)
		return "string";
	if (yaml_bool(item) >= 0)
		return "bool";
	strtod(text, &end);
	text += strspn(text, "+-.");
	return *text >= '0' && *text <= '9' && !*end &&
			       !(strpbrk(text, "xX") && strpbrk(text, ".pP")) /* "0x1p3" */
		       ? "number"
		       : "string";
}

/* The type of a value that is not the field's, or NULL. The file is decoded by itself, drop-ins
 * after they are merged: of these only values in force count. Flags do not matter, nor are
 * collections and tags looked at. */
static const char *find_wrong_type(const struct sources *sources, const struct start_field *field)
{
	for (size_t i = 0; i < sources->n_sources; i++) {
		const struct source *source = &sources->sources[i], *of;
		const struct yaml_items *l = &source->items;
		const struct yaml_item *wrong = FIND(
			item, l->items, l->n_items,
			streq(item->key, field->key) && sources_are_read(item->key, item->sub) &&
				!item->is_odd && !item->is_null && !item->is_listed &&
				!streq(type_of(item), field->type) &&
				(*source->name ? sources_find(sources, item->key, item->sub, &of)
					       : yaml_find(l, item->key, item->sub)) == item);

		if (wrong)
			return type_of(wrong);
	}
	return NULL;
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

/*
 * Memory that is reserved for the memory manager: reservedMemory of all NUMA nodes is the memory
 * of kubeReserved, systemReserved and evictionHard. From 1.21 to 1.37: validateReservedMemory() in
 * pkg/kubelet/cm/memorymanager/memory_manager.go, NewPolicyStatic() in policy_static.go. What is
 * not understood is not judged: a share of all memory.
 */
struct reserved {
	uint64_t nodes[MAX_NODES], sum, free; /* bytes */
	uint64_t huge;
	char huge_type[32];            /* "hugepages-2Mi" */
	uint32_t node, last;           /* NUMA node: of this element, and the last of all */
	uint64_t has_memory, has_huge; /* NUMA nodes, by bits, that have a reservation of them */
	bool is_unclear;
	const char *bad;   /* the words with which an amount is not decoded, or empty; or NULL */
	char problem[256]; /* the first of validateReservedMemoryConfiguration() */
};

static uint64_t parse_bytes(const char *text, struct reserved *m)
{
	uint64_t thousandths = 0;

	m->is_unclear |= cpus_parse_amount(text, &thousandths) < 0;
	return (thousandths + 999) / 1000;
}

/* Huge pages are judged by the size that comes first. */
static void add_reserved(struct reserved *m, const char *type, const char *amount)
{
	const bool is_memory = streq(type, "memory");
	const bool is_null = streq(amount, "null") || streq(amount, "~");
	const uint64_t bytes = is_null ? 0 : parse_bytes(amount, m), bit = UINT64_C(1)
									   << m->node % MAX_NODES;
	uint64_t *has = is_memory ? &m->has_memory : &m->has_huge;

	if (!is_null && find_bad_amount(amount, false))
		m->bad = find_bad_amount(amount, false);
	if (!is_memory && !is_prefix(type, "hugepages-"))
		problem_note(
			m->problem,
			"invalid configuration: the limit type \"%.60s\" for NUMA node %" PRIu32
			" is not supported",
			type, m->node);
	if (bytes == 0)
		problem_note(m->problem,
			     "invalid configuration: reserved memory may not be zero for NUMA node "
			     "%" PRIu32 " and resource \"%.60s\"",
			     m->node, type);
	if (*has & bit && (is_memory || streq(type, m->huge_type)))
		problem_note(m->problem,
			     "invalid configuration: the reserved memory has a duplicate value for "
			     "NUMA node %" PRIu32 " and resource \"%.60s\"",
			     m->node, type);
	if (is_memory || !*m->huge_type || streq(type, m->huge_type))
		*has |= bit;
	if (is_memory) {
		m->nodes[m->node % MAX_NODES] += bytes;
		m->sum += bytes;
	} else if (!*m->huge_type || streq(type, m->huge_type)) {
		COPY(m->huge_type, type);
		m->huge += bytes;
	}
}

/* An element of reservedMemory, as yaml.h gives it: its words. Or one of the flag:
 * "0:memory=1Gi,hugepages-2Mi=4Mi". */
static void read_element(const char *text, struct reserved *m)
{
	const char *number = after(strstr(text, "numaNode") ?: "", "numaNode\",\"") ?: text;
	char words[256], *rest = words, *word, *key = NULL;

	m->node =
		*number >= '0' && *number <= '9' ? (uint32_t)strtoul(number, NULL, 10) : MAX_NODES;
	m->last = MAX(m->last, m->node);
	m->is_unclear |= m->node >= MAX_NODES || strlen(text) >= sizeof(words);
	COPY(words, number == text ? strchr(text, ':') ?: "" : text);
	while ((word = strsep(&rest, "\",:="))) {
		if (!*word || streq(word, "limits"))
			continue;
		if (key && !streq(key, "numaNode"))
			add_reserved(m, key, word);
		key = key ? NULL : word;
	}
}

static void read_elements(const struct sources *sources, const struct flags *flags,
			  struct reserved *m)
{
	const struct source *source = NULL;
	const struct yaml_item *item = sources_find(sources, "reservedMemory", "", &source);
	const bool is_of_flags = flags_last(flags, FLAG_RESERVED_MEMORY);

	for (size_t i = 0; i < flags->n_flags; i++) {
		char text[sizeof(flags->flags[i].value)], *rest = text, *element;

		if (flags->flags[i].kind != FLAG_RESERVED_MEMORY)
			continue;
		COPY(text, flags->flags[i].value);
		m->is_unclear |= flags->flags[i].is_cut;
		while ((element = strsep(&rest, ";")))
			read_element(element, m);
	}
	while (item && !is_of_flags && ++item < source->items.items + source->items.n_items &&
	       item->is_listed)
		read_element(item->text, m);
}

/* Adds what a map, or its flag, says of memory. @otherwise: where nothing says the whole map. */
static void add_free(const struct sources *sources, const struct flags *flags, enum flag_kind kind,
		     const char *sub, const char *otherwise, struct reserved *m)
{
	const struct yaml_item *item = sources_find(sources, flags_key(kind), sub, NULL);
	char text[64];

	if (!flags_map(flags, kind, sub, text, sizeof(text)))
		COPY(text, item && !item->is_null ? item->text : otherwise);
	m->is_unclear |= streq(text, "?");
	if (*text && !streq(text, "0%") && !streq(text, "100%") &&
	    !find_bad_amount(text, kind == FLAG_EVICTION_HARD)) /* with which it exits before */
		m->free += parse_bytes(text, m);
}

/* The file is given its defaults before drop-ins are merged into it. mergeDefaultEvictionSettings
 * adds what evictionHard does not say; k3s and RKE2 have one of theirs. */
static void read_reserved(const struct sources *sources, const struct flags *flags, bool is_rancher,
			  struct reserved *m)
{
	bool has_default = true;

	FOREACH(s, sources->sources, sources->n_sources) {
		const struct yaml_item *map = yaml_find(&s->items, "evictionHard", "");
		const struct yaml_item *item =
			yaml_find(&s->items, "evictionHard", "memory.available");

		/* A file that has the map has no default, and null in a drop-in takes it away. */
		has_default &=
			!(map && map->is_null == (*s->name != '\0')) && !(item && item->is_null);
	}
	read_elements(sources, flags, m);
	if (m->is_unclear)
		*m->problem = '\0';
	add_free(sources, flags, FLAG_SYSTEM_RESERVED, "memory", "", m);
	add_free(sources, flags, FLAG_KUBE_RESERVED, "memory", "", m);
	add_free(sources, flags, FLAG_EVICTION_HARD, "memory.available",
		 !has_default ? ""
		 : is_rancher ? "?"
			      : DEFAULT,
		 m);
	m->is_unclear |= *sources->problem ||
			 sources_find(sources, "mergeDefaultEvictionSettings", "", NULL);
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

static void judge_reserved(const struct fs *fs, const struct reserved *m, struct kubelet_start *ret)
{
	const bool is_absent =
		m->last > 0 && fs_exists(fs, "sys/devices/system/node") > 0 &&
		fs_exists(fs, FS_PATH("sys/devices/system/node/node%" PRIu32, m->last)) == 0;
	char *problem = ret->memory_problem, a[32], b[32];

	if (is_absent)
		problem_note(problem,
			     "the reserved memory configuration references a NUMA node %" PRIu32
			     " that does not exist on this machine",
			     m->last);
	if (m->sum != m->free)
		problem_note(problem,
			     "the total amount \"%s\" of type \"memory\" is not equal to the value "
			     "\"%s\" determined by Node Allocatable feature",
			     show_bytes(m->sum, a), show_bytes(m->free, b));
	if (m->huge > 0) /* none can be in kubeReserved or systemReserved */
		problem_note(
			problem,
			"the total amount \"%s\" of type \"%s\" is not equal to the value \"0\" "
			"determined by Node Allocatable feature",
			show_bytes(m->huge, a), m->huge_type);
	if (m->sum == 0)
		problem_note(problem,
			     "[memorymanager] you should specify the system reserved memory");
}

/* Has a NUMA node as many huge pages of this type as its state says? */
static bool is_same_huge(const struct fs *fs, unsigned long node, const char *type, json_t *state)
{
	uint64_t size;
	uint32_t n;

	return !is_prefix(type, "hugepages-") ||
	       cpus_parse_amount(type + strlen("hugepages-"), &size) < 0 ||
	       fs_read_u32(fs,
			   FS_PATH("sys/devices/system/node/node%lu/hugepages/hugepages-%" PRIu64
				   "kB/nr_hugepages",
				   node, size / 1000 / 1024),
			   &n) < 0 ||
	       n * (size / 1000) == (uint64_t)document_get_number(state, "total");
}

/* Is a NUMA node as memory_manager_state says? areMemoryStatesEqual() in policy_static.go. */
static bool is_same_node(const struct fs *fs, const struct reserved *m, const char *name,
			 json_t *map)
{
	json_t *memory = json_object_get(map, "memory"), *state;
	const unsigned long node = strtoul(name, NULL, 10) % MAX_NODES;
	char text[4096]; /* as long as a file of sysfs can be */
	const char *total, *type;
	int r;

	json_object_foreach(map, type, state) {
		if (!is_same_huge(fs, node, type, state))
			return false;
	}
	r = fs_read(fs, FS_PATH("sys/devices/system/node/node%lu/meminfo", node), text,
		    sizeof(text));
	total = r < 0 ? NULL : strstr(text, "MemTotal:");
	return m->nodes[node] == (uint64_t)document_get_number(memory, "systemReserved") &&
	       (!total || strtoull(total + strlen("MemTotal:"), NULL, 10) * 1024 ==
				  (uint64_t)document_get_number(memory, "total"));
}

/* A capture has no pods of memory_manager_state. */
static int read_memory_state(const struct fs *fs, const char *root_dir, const struct reserved *m,
			     struct kubelet_start *ret)
{
	const char *path = FS_PATH("%.140s/memory_manager_state", fs_bare(root_dir)), *name;
	_cleanup_(freep) char *text = NULL, *kept = NULL;
	json_auto_t *document = NULL, *copy_of = NULL;
	json_t *machine, *node;
	bool is_same = true;
	uint32_t n_nodes;
	size_t n;
	int r = fs_read_all(fs, path, MAX_STATE, true, &text, &n);

	if (r >= 0 && document_parse(text, n, 0, &document, NULL) == -ENOMEM)
		return -ENOMEM;
	if (r >= 0)
		r = cpus_numa_nodes(fs, &n_nodes);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	COPY(ret->memory_state,
	     document ? document_get_text(document, "policyName") : STATE_DAMAGED);
	machine = json_object_get(document, "machineState");
	json_object_foreach(machine, name, node)
		is_same &= is_same_node(fs, m, name, json_object_get(node, "memoryMap"));
	is_same &= n_nodes > MAX_NODES || n_nodes == 0 || json_object_size(machine) == n_nodes;
	if (json_object_size(machine) > 0 && !is_same && !m->is_unclear)
		COPY(ret->memory_state_problem,
		     "[memorymanager] the expected machine state is different from the real one");
	if (!fs->on_read)
		return 0;
	copy_of = json_pack("{s:o, s:O*}", "policyName", document_text(ret->memory_state),
			    "machineState", machine);
	if (!copy_of || document_print(copy_of, &kept) < 0)
		return -ENOMEM;
	fs_record(fs, RECORD_FILE, path, kept, strlen(kept));
	return 0;
}

bool start_needs_version(const struct sources *sources, const struct flags *flags)
{
	static const enum flag_kind of[] = { FLAG_CPU_OPTIONS, FLAG_POLICY_OPTIONS,
					     FLAG_FEATURE_GATES, FLAG_MEMORY_POLICY,
					     FLAG_RESERVED_MEMORY };

	return ANY(o, of, ELEMENTSOF(of),
		   flags_last(flags, *o) || sources_find(sources, flags_key(*o), "", NULL));
}

int start_observe(const struct fs *fs, const struct sources *sources, const struct flags *flags,
		  const char *root_dir, bool is_rancher, struct kubelet_start *ret)
{
	const struct flag *memory = flags_last(flags, FLAG_MEMORY_POLICY);
	const char *policy = flags_value(flags, sources, FLAG_MEMORY_POLICY);
	struct reserved m = {};
	int r;

	ret->has_list = *flags_value(flags, sources, FLAG_RESERVED_CPUS);
	for (size_t i = 0; i < ELEMENTSOF(maps); i++)
		read_map(sources, flags, &maps[i], ret);
	for (size_t i = 0; i < START_FIELDS; i++)
		ret->wrong_type[i] = find_wrong_type(sources, &start_fields[i]);

	COPY(ret->memory_policy, memory || *policy ? policy : "None");
	read_reserved(sources, flags, is_rancher, &m);
	if (!m.is_unclear)
		judge_reserved(fs, &m, ret);
	COPY(ret->reserved_problem, m.problem);
	COPY(ret->decode_problem, m.bad ?: "");
	r = read_memory_state(fs, root_dir, &m, ret);
	if (r >= 0 && ret->on >> CPU_OPTION_BY_SOCKET & 1)
		r = count_packages(fs, &ret->n_packages);
	return r;
}
