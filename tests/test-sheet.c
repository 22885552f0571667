/* SPDX-License-Identifier: Apache-2.0 */
/* Labelled lines, and the templates that they are made with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/base/screen.h"
#include "../src/show/sheet.h"

static const char document[] =
	"{\"name\": \"eth0\", \"none\": \"\", \"n\": 8, \"zero\": 0, \"less\": -1,"
	" \"yes\": true, \"no\": false, \"null\": null, \"same\": \"eth0\","
	" \"list\": [\"a\", \"b\"], \"empty\": [], \"in\": {\"a\": \"b\"},"
	" \"evil\": \"\\u001b[2J\\nx\", \"brackets\": \"[a|{b}]\"}";

static void templates_say_what_is_there(_unused_ void **state)
{
	static const struct {
		const char *template, *expected;
	} cases[] = {
		{ "", "" },
		{ "{name}, MTU {n}", "eth0, MTU 8" },
		{ "{zero}{less}{none}{null}{no}{missing}{missing.a}", "0" },
		{ "[{+zero}|none]", "none" },
		{ "{in.a}", "b" },
		{ "{#list} of them[, {#empty} others]", "2 of them" },
		{ "a[ {name}][ of {none}][, {less}]", "a eth0" },
		{ "[{none}|{null}|{missing}|last]", "last" },
		{ "[{name}|{n}]", "eth0" },
		{ "[{?yes}up|down] [{?no}up|down] [{!no}not|so]", "up down not" },
		{ "[{?list}some|none] [{?empty}some|none] [{?in}some|none]", "some none some" },
		{ "[{?name=eth0}is it][{!name=eth0}is not][{?none=eth0}is it]", "is it" },
		{ "[{!same=@name}another|the same], [{!n=@name}another|the same]",
		  "the same, another" },
		{ "[{name}[ and {none}|, alone]|none]", "eth0, alone" },
		{ "[{none}[ of {name}]] -> {name}", " -> eth0" },
		{ "{evil}", "?[2J?x" },
		{ "{brackets}", "[a|{b}]" },
	};
	json_auto_t *d = json_loads(document, 0, NULL);

	assert_non_null(d);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char text[256];

		sheet_format(d, cases[i].template, text, sizeof(text));
		if (!streq(text, cases[i].expected))
			fail_msg("%s: %s, not %s", cases[i].template, text, cases[i].expected);
		for (size_t size = 1; size < strlen(cases[i].expected); size++) {
			sheet_format(d, cases[i].template, text, size);
			assert_true(strlen(text) < size);
		}
	}
}

static void a_label_stands_before_its_first_line(_unused_ void **state)
{
	static const struct sheet_row rows[] = {
		{ "Name", "", "{name}\n[{none}]\n  → {n}" },
		{ "Nothing", "", "[{none}]" },
		{ "List", "list", "<{}>" },
		{ NULL, "in", "{a}" },
	};
	json_auto_t *d = json_loads(document, 0, NULL);
	_cleanup_(sheet_done) struct sheet s = {};
	_cleanup_(freep) char *text = NULL;

	assert_int_equal(sheet_open(&s, 1, 6), 0);
	sheet_fill_rows(&s, d, rows, ELEMENTSOF(rows));
	s.label = "Last";
	sheet_line(&s, "%s", "a\nb\x7f");
	sheet_add(&s, "%u", 1u);
	sheet_fill(&s, d, ", {n}");
	assert_int_equal(sheet_close(&s, &text), 0);
	assert_string_equal(text, " Name  eth0\n         → 8\n List  <a>\n       <b>\n       b\n"
				  " Last  a?b?\n       1, 8\n");
}

static void lines_are_folded_behind_their_labels_and_arrows(_unused_ void **state)
{
	static const struct {
		int width;
		const char *text, *expected;
	} cases[] = {
		{ 0, "one two three four\n", "one two three four\n" },
		{ 10, "one two three four\n\nfive", "one two\n  three\n  four\n\nfive" },
		{ 16, "Label  one two three\n", "Label  one two\n       three\n" },
		{ 12, "  one two three\n  → one two three\n",
		  "  one two\n  three\n  → one two\n    three\n" },
		{ 8, "0123456789 a\n", "0123456789\n  a\n" }, /* no word is broken */
		{ 9, "\033[1ma b\033[0m  ✓✓✓ c\n", "\033[1ma b\033[0m  ✓✓✓\n  c\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const struct screen screen = { .width = cases[i].width };
		_cleanup_(freep) char *text = NULL;

		assert_int_equal(screen_fit(&screen, cases[i].text, &text), 0);
		assert_string_equal(text, cases[i].expected);
	}
}

static void without_utf8_each_letter_has_a_replacement(_unused_ void **state)
{
	const struct screen screen = { .is_ascii = true };
	_cleanup_(freep) char *text = NULL;

	assert_int_equal(screen_fit(&screen, "│  ├─ ✓ a\n└─ ✗ b · ü\n  → c\xff\n\033[", &text), 0);
	assert_string_equal(text, "|  |- + a\n`- x b - ?\n  > c?\n\033[");
}

/* "a b": the target and the detail of a reason. */
static void a_group_names_each_target_and_detail_once(_unused_ void **state)
{
	static const struct {
		const char *reasons[4], *expected;
	} cases[] = {
		{ { "a x" }, "a\n  lost: x\n" },
		{ { "a x", "b x" }, "a, b\n  lost: x\n" },
		{ { "a x", "b y" }, "a, b\n  lost\n  a: x\n  b: y\n" },
		{ { "a x", "b y", "b y" }, "a, b\n  lost\n  a: x\n  b: y\n" },
		{ { "a x", "b y", "b z" }, "a, b\n  lost\n  a: x\n  b: y\n  b: z\n" },
		{ { "a x", "b x", "a y", "b x" }, "a, b\n  lost\n  a: x\n  b: x\n  a: y\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		json_auto_t *list = json_array(), *groups = NULL;
		_cleanup_(sheet_done) struct sheet s = {};
		_cleanup_(freep) char *text = NULL;

		for (size_t k = 0; k < 4 && cases[i].reasons[k]; k++) {
			const char *reason = cases[i].reasons[k];

			json_array_append_new(list,
					      json_pack("{s:s%, s:s, s:s, s:s}", "target", reason,
							(size_t)1, "detail", reason + 2, "code",
							"lost", "meaning", "lost"));
		}
		groups = output_group(list);
		assert_non_null(groups);
		assert_int_equal(sheet_open(&s, 0, 0), 0);
		output_group_print(&s, groups, "{target}");
		assert_int_equal(sheet_close(&s, &text), 0);
		assert_string_equal(text, cases[i].expected);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_folded_behind_their_labels_and_arrows),
		cmocka_unit_test(without_utf8_each_letter_has_a_replacement),
		cmocka_unit_test(templates_say_what_is_there),
		cmocka_unit_test(a_label_stands_before_its_first_line),
		cmocka_unit_test(a_group_names_each_target_and_detail_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
