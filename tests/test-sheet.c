/* SPDX-License-Identifier: Apache-2.0 */
/* Labelled lines, and the templates that they are made with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/output/sheet.h"

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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(templates_say_what_is_there),
		cmocka_unit_test(a_label_stands_before_its_first_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
