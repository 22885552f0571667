/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz: JSON that was ours when it was written, and may be anything when it is read: state.json,
 * boots.json, the ledger, the record of kubelet files, the answers of a captured tree, and the
 * documents of "explain". The same text is given to all of them.
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
#include "../../src/output/explain-plugin.h"
#include "../../src/output/explain.h"
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
	output_read_state(text, &state);
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

static void try_explain(const char *text)
{
	_cleanup_(freep) char *device = NULL, *plugin = NULL;

	if (output_explain_text(text, &device) == 0)
		require_plain(device);
	if (output_explain_plugin_text(text, &plugin) == 0)
		require_plain(plugin);
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
	try_explain(text);
	try_answers(text);
	try_boots(text, size);
	try_ledger(text, size);
	try_record(text, size);
	return 0;
}
