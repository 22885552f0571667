/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz: JSON that was ours when it was written, and may be anything when it is read: state.json,
 * what is remembered, the record of kubelet files and the answers of a captured tree. The same
 * text is given to all of them.
 *
 * What is written again from what was read is read alike. What is refused leaves the node as it
 * was. What is drawn of it has no control characters.
 */
#include <jansson.h>

#include "../../src/base/log.h"
#include "../../src/model/memory.h"
#include "../../src/model/paths.h"
#include "../../src/os/memory-file.h"
#include "../../src/os/snapshot.h"
#include "../../src/show/state.h"
#include "../../src/show/tree.h"
#include "place.h"

static struct fs fs;

static void put(const char *path, const char *text, size_t size)
{
	_cleanup_(closep) int fd =
		openat(fs.root, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	require(fd >= 0 && write(fd, text, size) == (ssize_t)size);
}

static void open_place(void)
{
	if (fs.root > 0)
		return;
	log_set_level((enum log_level)0);
	require(fs_open_root(place(), &fs) == 0);
	require(fs_make_folders(&fs, RUN_FOLDER) == 0);
	require(fs_make_folders(&fs, "var/lib/rdma-provision") == 0);
	require(fs_make_folders(&fs, "var/lib/rdma-provision-kubelet") == 0);
}

static void try_state(const char *text)
{
	_cleanup_(freep) char *line = NULL, *tree = NULL, *narrow = NULL;
	_cleanup_(freep) struct news *news = NULL, *first = NULL;
	enum node_state state;
	size_t n_news;

	output_read_state(text, NULL, &state);
	if (output_state_line(text, &line) == 0) {
		json_auto_t *x = json_loads(text, 0, NULL), *y = json_loads(line, 0, NULL);

		require(json_equal(x, y) && strcspn(line, "\n") + 1 >= strlen(line));
	}
	if (output_tree(text, TREE_ALL, &(struct screen){ .width = 0 }, &tree) == 0)
		require_plain(tree);
	if (output_tree(text, TREE_ALL, &(struct screen){ .width = 60 }, &narrow) == 0)
		require_plain(narrow);
	require(output_news(NULL, text, &first, &n_news) <= 0);
	require(output_news(text, text, &news, &n_news) <= 0);
}

/* As the file of a lifetime: what is written again is read alike. */
static void try_memory(const char *text, size_t size)
{
	static const char *const paths[] = { MEMORY_BOOT_PATH, MEMORY_NODE_PATH,
					     KUBELET_RECORD_PATH };
	const struct fields *const tables[] = { &ledger_fields,           &boots_fields,
						&output_records_fields,   &autoprobes_fields,
						&metadata_answers_fields, &plugin_record_fields,
						&manifest_record_fields,  &ledger_files_fields };

	for (size_t i = 0; i < ELEMENTSOF(tables); i++) {
		const enum memory_lifetime l = (enum memory_lifetime)(i % ELEMENTSOF(paths));
		const bool is_list = tables[i]->rows[0].type == FIELD_LIST;
		_Alignas(16) char first[512] = {}, again[512] = {};
		json_auto_t *packed = NULL, *packed_again = NULL;

		require(tables[i]->size <= sizeof(first));
		put(paths[l], text, size);
		require(memory_read(&fs, l, tables[i], first) == 0);
		require(memory_write(&fs, l, tables[i], first) == 0);
		require(memory_read(&fs, l, tables[i], again) == 0);
		packed = fields_pack(tables[i], first);
		packed_again = fields_pack(tables[i], again);
		require(json_equal(packed, packed_again));
		if (is_list) {
			free(*(void **)first);
			free(*(void **)again);
		}
	}
}

/* What a pass takes of the one before: no name leads elsewhere. */
static void try_pass(const char *text, size_t size)
{
	_cleanup_(memory_done) struct memory seen = {}, again = {};
	char boot_id[sizeof(seen.boot_id)];
	json_auto_t *packed = NULL, *packed_again = NULL;
	const struct state_head head = { .state = NODE_READY };

	put(MEMORY_BOOT_PATH, text, size);
	require(memory_read(&fs, MEMORY_BOOT, &pass_memory_fields, &seen) == 0);
	require(memory_write(&fs, MEMORY_BOOT, &pass_memory_fields, &seen) == 0);
	require(memory_read(&fs, MEMORY_BOOT, &pass_memory_fields, &again) == 0);
	packed = fields_pack(&pass_memory_fields, &seen);
	packed_again = fields_pack(&pass_memory_fields, &again);
	require(json_equal(packed, packed_again));
	COPY(boot_id, seen.boot_id);
	memory_take(&seen, boot_id, &head);
	for (size_t i = 0; i < seen.n_devices; i++)
		require(!strchr(seen.devices[i].ibdev, '/') && !strchr(seen.devices[i].pci, '/') &&
			(i == 0 || strcmp(seen.devices[i - 1].pci, seen.devices[i].pci) < 0));
}

static void try_answers(const char *text)
{
	_cleanup_(node_done) struct node n = {}, again = {};
	_cleanup_(freep) char *first = NULL, *second = NULL;
	char problem[256] = "";

	if (snapshot_read(text, &n, problem, sizeof(problem)) < 0) {
		require(problem[0]);
		return;
	}
	require(snapshot_write(&n, &first) == 0);
	require(snapshot_read(first, &again, problem, sizeof(problem)) == 0);
	require(snapshot_write(&again, &second) == 0);
	require(streq(first, second));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(freep) char *text = text_of(data, size);

	open_place();
	try_state(text);
	try_answers(text);
	try_memory(text, size);
	try_pass(text, size);
	return 0;
}

#ifdef HAVE_LIBFUZZER

/*
 * Nearly all that libFuzzer does to the bytes makes them no JSON. So usually one value somewhere in
 * it is changed instead: for one of another kind, another number, or what libFuzzer makes of a
 * text.
 */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static json_t *mutate_text(const char *text)
{
	char buf[512];
	size_t n = MIN(strlen(text), sizeof(buf) / 2);
	json_t *made;

	memcpy(buf, text, n);
	n = LLVMFuzzerMutate((uint8_t *)buf, n, sizeof(buf));
	made = json_stringn(buf, n);
	return made ? made : json_string(""); /* it was no UTF-8 */
}

static json_t *other_value(const json_t *value, unsigned seed)
{
	static const json_int_t numbers[] = { 0,         -1,         1,         15,
					      16,        255,        256,       65536,
					      INT32_MAX, UINT32_MAX, INT64_MAX, INT64_MIN };
	static char longer[600];

	switch (seed % 8) {
	case 0:
		return json_null();
	case 1:
		return json_boolean(seed & 8);
	case 2:
		return json_integer(numbers[seed / 8 % ELEMENTSOF(numbers)]);
	case 3:
		return json_real(1e300);
	case 4:
		memset(longer, 'x', sizeof(longer) - 1);
		return json_string(longer + seed / 8 % sizeof(longer));
	case 5:
		return seed & 8 ? json_array() : json_object();
	default:
		return mutate_text(json_is_string(value) ? json_string_value(value) : "");
	}
}

/* Goes down by @seed until there is nothing below, or by chance. */
static void change(json_t *at, unsigned seed)
{
	const size_t n = json_is_array(at) ? json_array_size(at) : json_object_size(at);
	const size_t chosen = n > 0 ? seed % n : 0;
	const char *key = NULL;
	json_t *value;
	void *i;

	if (n == 0)
		return;
	if (json_is_array(at)) {
		value = json_array_get(at, chosen);
	} else {
		i = json_object_iter(at);
		for (size_t k = 0; k < chosen; k++)
			i = json_object_iter_next(at, i);
		key = json_object_iter_key(i);
		value = json_object_iter_value(i);
	}

	seed = seed / (unsigned)n * 2654435761u ^ seed >> 16;
	if ((json_is_array(value) || json_is_object(value)) && seed % 8 != 0) {
		change(value, seed / 8);
	} else if (seed / 8 % 16 == 0) {
		if (json_is_array(at))
			json_array_remove(at, chosen);
		else
			json_object_del(at, key);
	} else if (json_is_array(at) && seed / 8 % 16 == 1) {
		json_array_append_new(at, json_deep_copy(value));
	} else if (json_is_array(at)) {
		json_array_set_new(at, chosen, other_value(value, seed / 128));
	} else {
		json_object_set_new(at, key, other_value(value, seed / 128));
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	json_auto_t *document = json_loadb((const char *)data, size, 0, NULL);
	size_t n;

	if (!document || seed % 8 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	for (unsigned i = 0; i <= seed / 8 % 3; i++)
		change(document, (seed + i) * 2246822519u);
	n = json_dumpb(document, (char *)data, max_size, 0);
	return n > 0 && n <= max_size ? n : LLVMFuzzerMutate(data, size, max_size);
}

#endif
