/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/model/memory.h"
#include "../src/model/paths.h"
#include "../src/model/plan.h"
#include "../src/os/memory-file.h"
#include "../src/pass/boots-apply.h"
#include "../src/pass/live.h"
#include "scene.h"
#include "tree.h"

#define PF    "0000:41:00.0"
#define OTHER "0000:42:00.0"

static const struct config config = { .hash = "0123456789abcdef" };

static void read_node(const struct tree *t, struct node *ret, struct memory *memory)
{
	*ret = (struct node){ .boot_id = "now", .kernel = "6.1" };
	*memory = (struct memory){};
	assert_int_equal(observe_memory(&t->fs, NULL, ret, memory), 0);
}

static struct action step(enum verb verb, const char *to)
{
	struct action a = { .verb = verb, .target = "", .subject = "", .detail = "", .error = "" };

	a.target = PF;
	action_set(&a, "", to);
	return a;
}

static void nothing_is_known_without_a_file(void **state)
{
	const struct tree *t = *state;
	struct memory memory = {};
	struct node n;

	read_node(t, &n, &memory);
	assert_int_equal(memory.n_boots, 0);
	assert_string_equal(n.program, PROJECT_VERSION);
	node_done(&n);
	memory_done(&memory);
}

static void what_is_written_is_read_again(void **state)
{
	const struct tree *t = *state;
	struct boot boots[2] = {
		{ .boot_id = "a",
		  .kernel = "6.0",
		  .time = 1700000000,
		  .state = NODE_READY,
		  .machine = "0123456789abcdef",
		  .has_needs = true,
		  .needs = { { PF, "b8:3f:d2:00:00:01", "default inet 0",
			       "bond0 has the default route", OTHER },
			     { OTHER } },
		  .n_needs = 2 },
		{ .boot_id = "b",
		  .kernel = "6.1",
		  .time = 1700000001,
		  .steps = { { VERB_SET_NUM_VFS, PF, "4", "0123456789abcdef", "igb 5.6", "28.1",
			       "1 2 3", -ETIMEDOUT, true, "b8:3f:d2:00:00:01" },
			     { .verb = VERB_LOAD_MODULE, .target = "igb" } },
		  .n_steps = 2 },
	};
	struct memory memory = {};
	struct node n;

	assert_int_equal(
		memory_write(&t->fs, MEMORY_NODE, &boots_fields, &(struct boots){ boots, 2 }), 0);
	read_node(t, &n, &memory);
	assert_int_equal(memory.n_boots, 2);
	assert_memory_equal(memory.boots, boots, sizeof(boots));
	/* A captured tree is looked at by another program than the one that ran there. */
	assert_string_equal(n.program, "");
	node_done(&n);
	memory_done(&memory);
}

static char recorded_id[64];
static void on_read(void *userdata _unused_, enum record_kind kind _unused_, const char *path,
		    const char *data, size_t size)
{
	if (streq(path, "etc/machine-id"))
		PRINT(recorded_id, "%.*s", (int)size, data);
}

/* A golden image carries the memory of another machine. */
static void boots_of_another_machine_are_left_out(void **state)
{
	const struct tree *t = *state;
	struct boot boots[] = { { .boot_id = "a", .machine = "0123456789abcdef" },
				{ .boot_id = "b" }, /* not known */
				{ .boot_id = "now", .machine = "0123456789abcdef" } };
	struct tree recording = *t;
	char machine[17];
	_cleanup_(boot_notes_done) struct boot_notes notes = {};
	struct memory memory = {};
	struct node n;

	assert_int_equal(memory_write(&t->fs, MEMORY_NODE, &boots_fields,
				      &(struct boots){ boots, ELEMENTSOF(boots) }),
			 0);
	read_node(t, &n, &memory);
	assert_int_equal(memory.n_boots, 3);
	memory_done(&memory);
	node_done(&n);
	tree_file(t, "etc/machine-id", "another\n");
	read_node(t, &n, &memory);
	assert_int_equal(memory.n_boots, 2);
	assert_string_equal(memory.boots[0].boot_id, "b");
	assert_string_equal(memory.boots[1].boot_id, "now");

	/* A capture has no id, and tells the same. */
	memory_done(&memory);
	COPY(machine, n.machine);
	node_done(&n);
	recording.fs.on_read = on_read;
	read_node(&recording, &n, &memory);
	memory_done(&memory);
	node_done(&n);
	assert_null(strstr(recorded_id, "another"));
	tree_file(t, "etc/machine-id", recorded_id);
	read_node(t, &n, &memory);
	assert_string_equal(n.machine, machine);
	assert_int_equal(memory.n_boots, 2);

	COPY(n.boot_id, "next");
	assert_int_equal(boot_notes_open(&n, &memory, &notes), 0);
	assert_string_equal(notes.boots[2].machine, n.machine);
	assert_string_not_equal(n.machine, "");
	memory_done(&memory);
	node_done(&n);
}

#define BOOT(steps)                                                                                \
	"{\"boot_id\": \"a\", \"time\": 1, \"kernel\": \"6.1\", \"state\": \"ready\", \"steps\": " \
	"[" steps "]}"
#define FILE_OF(boots) "{\"schema\": 1, \"boots\": [" boots "]}"
#define STEP(verb, result)                                                                         \
	"{\"verb\": \"" verb "\", \"target\": \"\", \"to\": \"\", \"config\": \"\", \"driver\": "  \
	"\"\", \"firmware\": \"\", \"program\": \"\", \"result\": " result "}"

static void what_is_damaged_is_not_used(void **state)
{
	static const struct {
		const char *text;
		size_t n_boots, n_steps;
	} cases[] = {
		{ FILE_OF(BOOT(STEP("set-num-vfs", "0"))), 1, 1 },
		{ FILE_OF(BOOT(STEP("of-another-version", "0") "," STEP("set-num-vfs", "-5"))), 1,
		  1 },
		{ FILE_OF(BOOT(STEP("set-num-vfs", "1"))), 1, 0 },
		{ FILE_OF(BOOT(STEP("set-num-vfs", "-5000"))), 1, 0 },
		{ FILE_OF(BOOT("7")), 1, 0 },
		{ "", 0, 0 },
		{ "{\"schema\": 1, \"boo", 0, 0 },
		{ "[]", 0, 0 },
		{ "{\"schema\": 2, \"boots\": []}", 0, 0 },
		{ FILE_OF("{}"), 0, 0 },
		{ FILE_OF(BOOT("") ", 7"), 1, 0 }, /* that entry alone */
		{ FILE_OF("{}, " BOOT("")), 1, 0 },
		{ "{\"schema\": 1, \"boots\": [{\"boot_id\": \"a\", \"time\": -1, \"kernel\": "
		  "\"\", \"state\": \"ready\", \"steps\": []}]}",
		  0, 0 },
		{ "{\"schema\": 1, \"boots\": [{\"boot_id\": \"a\", \"time\": 1, \"kernel\": "
		  "\"\", \"state\": \"other\", \"steps\": []}]}",
		  0, 0 },
	};
	const struct tree *t = *state;

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct memory memory = {};
		struct node n;

		tree_file(t, MEMORY_NODE_PATH, cases[i].text);
		read_node(t, &n, &memory);
		if (memory.n_boots != cases[i].n_boots)
			fail_msg("%s", cases[i].text);
		if (memory.n_boots > 0)
			assert_int_equal(memory.boots[0].n_steps, cases[i].n_steps);
		node_done(&n);
		memory_done(&memory);
	}
}

static void what_is_too_long_is_not_used(void **state)
{
	const struct tree *t = *state;
	const size_t size = 1u << 20;
	_cleanup_(freep) char *text = malloc(size);
	struct memory memory = {};
	struct node n;

	assert_non_null(text);
	memset(text, ' ', size);
	tree_bytes(t, MEMORY_NODE_PATH, text, size);
	read_node(t, &n, &memory);
	assert_int_equal(memory.n_boots, 0);
	node_done(&n);
	memory_done(&memory);

	/* Of more boots than are ever kept the last count. */
	text[0] = '\0';
	strcat(text, "{\"schema\": 1, \"boots\": [" BOOT(STEP("set-num-vfs", "0")));
	for (int i = 0; i < MAX_BOOTS; i++)
		strcat(text, "," BOOT(""));
	strcat(text, "]}");
	tree_file(t, MEMORY_NODE_PATH, text);
	read_node(t, &n, &memory);
	assert_int_equal(memory.n_boots, MAX_BOOTS);
	assert_int_equal(memory.boots[0].n_steps, 0);
	node_done(&n);
	memory_done(&memory);
}

/* What a boot that ends here leaves for the next: "verb to result" of its steps. */
static void expect_notes(const struct tree *t, const char *expected)
{
	char got[256] = "";
	struct memory memory = {};
	struct node n;

	read_node(t, &n, &memory);
	assert_true(memory.n_boots > 0);
	assert_string_equal(memory.boots[memory.n_boots - 1].boot_id, "now");
	for (size_t i = 0; i < memory.boots[memory.n_boots - 1].n_steps; i++) {
		const struct boot_step *s = &memory.boots[memory.n_boots - 1].steps[i];

		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s %s %d\n",
			 verb_name(s->verb), s->to, s->result);
	}
	assert_string_equal(got, expected);
	node_done(&n);
	memory_done(&memory);
}

static void a_step_is_on_disk_before_it_is_tried(void **state)
{
	_cleanup_(boot_notes_done) struct boot_notes notes = {};
	_cleanup_(plan_done) struct plan p = { .state = NODE_READY };
	const struct tree *t = *state;
	struct action zero = step(VERB_SET_NUM_VFS, "0"), four = step(VERB_SET_NUM_VFS, "4"),
		      bind = step(VERB_BIND_DRIVER, "igb"), mac = step(VERB_SET_VF_MAC, "02:");
	struct memory memory = {};
	struct node n;

	read_node(t, &n, &memory);
	assert_int_equal(boot_notes_open(&n, &memory, &notes), 0);
	/* Nothing is noted of what can crash nothing. */
	boot_notes_start(&notes, &t->fs, &config, &n, &mac);
	boot_notes_end(&notes, &config, &n, &mac);
	assert_false(fs_exists(&t->fs, MEMORY_NODE_PATH));

	boot_notes_start(&notes, &t->fs, &config, &n, &zero);
	expect_notes(t, "set-num-vfs 0 0\n");
	boot_notes_end(&notes, &config, &n, &zero);
	boot_notes_start(&notes, &t->fs, &config, &n, &four);
	expect_notes(t, "set-num-vfs 4 0\n");
	/* What ended well is not blamed for what comes after it. */
	boot_notes_end(&notes, &config, &n, &four);
	boot_notes_start(&notes, &t->fs, &config, &n, &mac);
	expect_notes(t, "");

	bind.is_done = true;
	bind.result = -EIO;
	boot_notes_start(&notes, &t->fs, &config, &n, &bind);
	boot_notes_end(&notes, &config, &n, &bind);
	boot_notes_start(&notes, &t->fs, &config, &n, &four);
	expect_notes(t, "bind-driver igb -5\nset-num-vfs 4 0\n");

	/* The plan of the last look wants neither. */
	boot_notes_conclude(&notes, &t->fs, &config, &n, &memory, &p);
	expect_notes(t, "");
	node_done(&n);
	memory_done(&memory);
}

static ino_t written(const struct tree *t)
{
	struct stat st;

	assert_int_equal(fstatat(t->fs.root, MEMORY_NODE_PATH, &st, 0), 0);
	return st.st_ino;
}

static void vfs_of_two_pfs_that_are_bound_in_turns_are_noted_once(void **state)
{
	_cleanup_(boot_notes_done) struct boot_notes notes = {};
	const struct tree *t = *state;
	struct action mac = step(VERB_SET_VF_MAC, "02:"), a = step(VERB_BIND_DRIVER, "igbvf"),
		      b = a;
	_cleanup_(closep) int kept = -EBADF; /* another file does not get its inode */
	struct memory memory = {};
	struct node n;
	ino_t inode;

	b.target = "0000:42:00.0";
	read_node(t, &n, &memory);
	assert_int_equal(boot_notes_open(&n, &memory, &notes), 0);
	boot_notes_start(&notes, &t->fs, &config, &n, &a);
	boot_notes_start(&notes, &t->fs, &config, &n, &b);
	kept = fs_open(&t->fs, MEMORY_NODE_PATH, O_RDONLY);
	assert_true(kept >= 0);
	inode = written(t);
	for (int i = 0; i < 3; i++) {
		boot_notes_end(&notes, &config, &n, &a);
		boot_notes_start(&notes, &t->fs, &config, &n, &a);
		boot_notes_end(&notes, &config, &n, &b);
		boot_notes_start(&notes, &t->fs, &config, &n, &b);
		assert_true(written(t) == inode);
	}
	expect_notes(t, "bind-driver igbvf 0\nbind-driver igbvf 0\n");

	boot_notes_end(&notes, &config, &n, &a);
	boot_notes_start(&notes, &t->fs, &config, &n, &mac);
	expect_notes(t, "bind-driver igbvf 0\n");
	/* As a step that failed it is another note. */
	b.is_done = true;
	b.result = -EIO;
	boot_notes_end(&notes, &config, &n, &b);
	boot_notes_start(&notes, &t->fs, &config, &n, &mac);
	expect_notes(t, "bind-driver igbvf -5\n");
	node_done(&n);
	memory_done(&memory);
}

static void a_pass_on_a_finished_node_writes_once_in_a_boot(void **state)
{
	const struct tree *t = *state;
	struct stat first, second;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", t->root, MEMORY_NODE_PATH);
	for (int i = 0; i < 2; i++) {
		_cleanup_(boot_notes_done) struct boot_notes notes = {};
		_cleanup_(plan_done) struct plan p = { .state = NODE_READY };
		struct memory memory = {};
		struct node n;

		read_node(t, &n, &memory);
		assert_int_equal(boot_notes_open(&n, &memory, &notes), 0);
		boot_notes_conclude(&notes, &t->fs, &config, &n, &memory, &p);
		assert_int_equal(stat(path, i == 0 ? &first : &second), 0);
		node_done(&n);
		memory_done(&memory);
	}
	assert_true(first.st_ino == second.st_ino);
	expect_notes(t, "");
}

static void needs_are_kept(void **state)
{
	static const struct {
		const char *what;
		struct need need; /* without an address: there is none */
		bool has_needs;   /* of the plan */
		const char *kept; /* in the end: "PCI OF", or "unknown" */
	} rows[] = {
		{ "nothing", {}, false, "unknown" },
		{ "of the last boot",
		  { PF, .why = NEED_BEFORE, .of = "address" },
		  false,
		  "unknown" },
		{ "a guess", { PF, .why = NEED_UNKNOWN }, false, "unknown" },
		{ "hardware that is none of ours", {}, true, "" },
		{ "of a VF", { PF, .is_by_vf = true, .is_kept = true, .of = "address" }, true, "" },
		{ "an answer", { PF, .is_kept = true, .of = "address" }, true, PF " address" },
		{ "still the same",
		  { PF, .why = NEED_BEFORE, .is_kept = true, .of = "another" },
		  false,
		  PF " address" },
		{ "a better one",
		  { OTHER, .is_kept = true, .of = "default inet 0" },
		  true,
		  OTHER " default inet 0" },
		{ "nothing any more", {}, false, "" },
	};
	const struct tree *t = *state;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(boot_notes_done) struct boot_notes notes = {};
		struct need need = rows[i].need;
		struct plan p = { .state = NODE_READY,
				  .has_needs = rows[i].has_needs,
				  .needs = &need,
				  .n_needs = need.pci[0] ? 1 : 0 };
		struct pci pcis[] = { { .address = PF }, { .address = OTHER } };
		const struct boot *b;
		char text[96];
		struct memory memory = {};
		struct node n;

		read_node(t, &n, &memory);
		n.pcis = pcis;
		n.n_pcis = ELEMENTSOF(pcis);
		assert_int_equal(boot_notes_open(&n, &memory, &notes), 0);
		boot_notes_conclude(&notes, &t->fs, &config, &n, &memory, &p);
		n.pcis = NULL;
		n.n_pcis = 0;
		node_done(&n);
		memory_done(&memory);
		read_node(t, &n, &memory);
		b = &memory.boots[memory.n_boots - 1];
		snprintf(text, sizeof(text), "%s%s%s", b->has_needs ? "" : "unknown",
			 b->n_needs > 0 ? b->needs[0].pci : "", b->n_needs > 0 ? " " : "");
		if (b->n_needs > 0)
			strncat(text, b->needs[0].of, NEED_OF_LEN);
		assert_row(rows[i].what, text, rows[i].kept);
		node_done(&n);
		memory_done(&memory);
	}
}

static void a_boot_knows_its_needs_where_var_cannot_be_written(void **state)
{
	/* The memory of a /var that is mounted late; its present boot is older than that of /run.
	 */
	struct boot kept[] = { { .boot_id = "a" }, { .boot_id = "b" }, { .boot_id = "now" } };
	struct pci pf = { .address = PF };
	const struct tree *t = *state;

	for (int i = 0; i < 4; i++) {
		const size_t n_boots = i < 3 ? 1 : ELEMENTSOF(kept);
		_cleanup_(boot_notes_done) struct boot_notes notes = {};
		struct need need = { PF, .why = i == 0 ? NEED_ADDRESS : NEED_BEFORE,
				     .is_kept = true, .of = "address" };
		struct plan p = { .has_needs = true, .needs = &need, .n_needs = 1 };
		struct memory memory = {};
		struct node n;

		if (i < 3)
			tree_file(t, "var/lib/rdma-provision", "a file in the place of the folder");
		else
			fs_remove(&t->fs, "var/lib/rdma-provision");
		if (i == 3)
			assert_int_equal(memory_write(&t->fs, MEMORY_NODE, &boots_fields,
						      &(struct boots){ kept, ELEMENTSOF(kept) }),
					 0);
		read_node(t, &n, &memory);
		assert_int_equal(memory.n_boots, i > 0 ? n_boots : 0);
		assert_true(memory.has_boots_in_run == (i > 0));
		assert_int_equal(boot_notes_open(&n, &memory, &notes), 0);
		n.pcis = &pf;
		n.n_pcis = 1;
		boot_notes_conclude(&notes, &t->fs, &config, &n, &memory, &p);
		n.pcis = NULL;
		n.n_pcis = 0;
		memory_done(&memory);
		node_done(&n);

		read_node(t, &n, &memory);
		assert_int_equal(memory.n_boots, n_boots);
		assert_string_equal(memory.boots[0].boot_id, i < 3 ? "now" : "a");
		assert_int_equal(memory.boots[n_boots - 1].n_needs, 1);
		assert_string_equal(memory.boots[n_boots - 1].needs[0].pci, PF);
		memory_done(&memory);
		node_done(&n);
	}
	assert_true(fs_exists(&t->fs, MEMORY_NODE_PATH));
	assert_false(fs_exists(&t->fs, MEMORY_BOOT_PATH)); /* it has nothing else */
}

static void the_last_boots_are_kept(void **state)
{
	const struct tree *t = *state;

	for (int i = 0; i < MAX_BOOTS + 3; i++) {
		_cleanup_(boot_notes_done) struct boot_notes notes = {};
		_cleanup_(plan_done) struct plan p = { .state = NODE_DEGRADED };
		struct memory memory = {};
		struct node n;

		read_node(t, &n, &memory);
		snprintf(n.boot_id, sizeof(n.boot_id), "boot %d", i);
		assert_int_equal(boot_notes_open(&n, &memory, &notes), 0);
		boot_notes_conclude(&notes, &t->fs, &config, &n, &memory, &p);
		node_done(&n);
		memory_done(&memory);

		read_node(t, &n, &memory);
		assert_int_equal(memory.n_boots, MIN(i + 1, MAX_BOOTS));
		assert_int_equal(memory.boots[memory.n_boots - 1].state, NODE_DEGRADED);
		assert_string_equal(memory.boots[0].boot_id, i < MAX_BOOTS ? "boot 0"
							     : i == MAX_BOOTS + 2
								     ? "boot 3"
								     : memory.boots[0].boot_id);
		node_done(&n);
		memory_done(&memory);
	}
}

static void no_pass_fails_because_nothing_can_be_noted(void **state)
{
	_cleanup_(boot_notes_done) struct boot_notes notes = {}, none = {};
	const struct action a = step(VERB_SET_NUM_VFS, "4");
	const struct tree *t = *state;
	struct plan p = {};
	struct memory memory = {};
	struct node n;

	tree_file(t, "var/lib/rdma-provision", "a file in the place of the folder");
	read_node(t, &n, &memory);
	assert_int_equal(boot_notes_open(&n, &memory, &notes), 0);
	boot_notes_start(&notes, &t->fs, &config, &n, &a);
	boot_notes_end(&notes, &config, &n, &a);
	boot_notes_conclude(&notes, &t->fs, &config, &n, &memory, &p);

	/* Nor because nobody knows which boot this is. */
	n.boot_id[0] = '\0';
	assert_int_equal(boot_notes_open(&n, &memory, &none), 0);
	boot_notes_start(&none, &t->fs, &config, &n, &a);
	boot_notes_end(&none, &config, &n, &a);
	boot_notes_conclude(&none, &t->fs, &config, &n, &memory, &p);
	node_done(&n);
	memory_done(&memory);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, tree_set_up, tree_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TREE(nothing_is_known_without_a_file),
		WITH_TREE(what_is_written_is_read_again),
		WITH_TREE(boots_of_another_machine_are_left_out),
		WITH_TREE(what_is_damaged_is_not_used),
		WITH_TREE(what_is_too_long_is_not_used),
		WITH_TREE(a_step_is_on_disk_before_it_is_tried),
		WITH_TREE(vfs_of_two_pfs_that_are_bound_in_turns_are_noted_once),
		WITH_TREE(a_pass_on_a_finished_node_writes_once_in_a_boot),
		WITH_TREE(needs_are_kept),
		WITH_TREE(the_last_boots_are_kept),
		WITH_TREE(no_pass_fails_because_nothing_can_be_noted),
		WITH_TREE(a_boot_knows_its_needs_where_var_cannot_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
