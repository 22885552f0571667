/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz: JSON that was ours when it was written, and may be anything when it is read: state.json,
 * boots.json, the ledger, the record of kubelet files and the answers of a captured tree. The same
 * text is given to all of them.
 *
 * What is written again from what was read is read alike. What is refused leaves the node as it
 * was. What is drawn of it has no control characters.
 */
#include <jansson.h>

#include "../../src/base/log.h"
#include "../../src/model/paths.h"
#include "../../src/observe/answers.h"
#include "../../src/observe/boots.h"
#include "../../src/observe/ledger.h"
#include "../../src/observe/record.h"
#include "../../src/output/state.h"
#include "../../src/output/tree.h"
#include "place.h"

#define MAX_FILE (1u << 20)

static struct fs fs;

static void put(const char *path, const char *text, size_t size)
{
	_cleanup_(closep) int fd =
		openat(fs.root, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	require(fd >= 0 && write(fd, text, size) == (ssize_t)size);
}

static char *get(const char *path)
{
	char *text;
	size_t size;

	require(fs_read_all(&fs, path, MAX_FILE, false, &text, &size) == 0);
	return text;
}

static void open_place(void)
{
	if (fs.root > 0)
		return;
	log_set_level((enum log_level)0);
	require(fs_open_root(place(), &fs) == 0);
	require(fs_make_folders(&fs, RUN_FOLDER) == 0);
	require(fs_make_folders(&fs, "var/lib/rdma-provision") == 0);
}

static void try_state(const char *text)
{
	static const char boot_id[] = "11111111-2222-3333-4444-555555555555";
	_cleanup_(node_done) struct node n = {};
	_cleanup_(freep) char *line = NULL, *tree = NULL, *narrow = NULL;
	_cleanup_(freep) struct news *news = NULL, *first = NULL;
	enum node_state state;
	size_t n_news;

	if (output_parse_memory(text, boot_id, &n) < 0)
		require(n.n_memories == 0 && n.n_failures == 0 && !n.last_hash[0] && !n.stuck[0]);
	output_read_state(text, NULL, &state);
	if (output_state_line(text, &line) == 0) {
		json_auto_t *x = json_loads(text, 0, NULL), *y = json_loads(line, 0, NULL);

		require(json_equal(x, y) && strcspn(line, "\n") + 1 >= strlen(line));
	}
	if (output_tree(text, false, 0, &tree) == 0)
		require_plain(tree);
	if (output_tree(text, false, 60, &narrow) == 0)
		require_plain(narrow);
	require(output_news(NULL, text, &first, &n_news) <= 0);
	require(output_news(text, text, &news, &n_news) <= 0);
}

static void try_boots(const char *text, size_t size)
{
	_cleanup_(node_done) struct node n = {}, again = {};
	_cleanup_(freep) char *first = NULL, *second = NULL;

	put(BOOTS_PATH, text, size);
	require(observe_boots(&fs, &n) == 0);
	if (n.n_boots == 0)
		return;
	require(boots_write(&fs, n.boots, n.n_boots) == 0);
	first = get(BOOTS_PATH);
	require(observe_boots(&fs, &again) == 0 && again.n_boots == n.n_boots);
	require(boots_write(&fs, again.boots, again.n_boots) == 0);
	second = get(BOOTS_PATH);
	require(streq(first, second));
}

static void try_ledger(const char *text, size_t size)
{
	_cleanup_(freep) struct ledger_entry *entries = NULL, *again = NULL;
	size_t n = 0, n_again = 0;

	put(LEDGER_PATH, text, size);
	require(ledger_read(&fs, &entries, &n) == 0);
	if (n == 0)
		return;
	require(ledger_write(&fs, entries, n) == 0);
	require(ledger_read(&fs, &again, &n_again) == 0 && n_again == n);
	for (size_t i = 0; i < n; i++)
		require(memcmp(&entries[i], &again[i], sizeof(entries[i])) == 0);
}

static void try_record(const char *text, size_t size)
{
	_cleanup_(record_done) struct record rec = {}, again = {};
	_cleanup_(freep) char *first = NULL, *second = NULL;

	if (record_parse(text, size, &rec) < 0)
		return;
	require(record_print(&rec, &first) == 0);
	require(record_parse(first, strlen(first), &again) == 0);
	require(record_print(&again, &second) == 0);
	require(streq(first, second));
}

static void try_answers(const char *text)
{
	_cleanup_(node_done) struct node n = {}, again = {};
	_cleanup_(freep) char *first = NULL, *second = NULL;
	char problem[256] = "";

	if (answers_read(text, &n, problem, sizeof(problem)) < 0) {
		require(problem[0]);
		return;
	}
	require(answers_write(&n, &first) == 0);
	require(answers_read(first, &again, problem, sizeof(problem)) == 0);
	require(answers_write(&again, &second) == 0);
	require(streq(first, second));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(freep) char *text = text_of(data, size);

	open_place();
	try_state(text);
	try_answers(text);
	try_boots(text, size);
	try_ledger(text, size);
	try_record(text, size);
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
