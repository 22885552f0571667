/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/base/document.h"
#include "../src/base/fields.h"

#include <sys/socket.h>

struct leaf {
	char name[8];
	uint16_t number;
};

struct thing {
	char name[8], file[8], text[8];
	uint8_t small;
	uint32_t index;
	uint64_t big;
	int sign;
	bool is_on;
	unsigned colour;
	int family;
	uint8_t address[16], gateway[16];
	uint32_t length, known;
	int32_t values[2];
	struct leaf *leaves, *rest, *map;
	size_t n_leaves, n_rest, n_map;
	struct leaf room[2];
	size_t n_room;
	bool has_leaves;
};

static const char *colour(unsigned i)
{
	static const char *const names[] = { "red", "green" };

	return i < ELEMENTSOF(names) ? names[i] : "";
}

static const struct field leaf_rows[] = {
	FIELD(FIELD_NAME, struct leaf, "name", name, .flags = FIELD_SPARSE),
	NUMBER(struct leaf, "number", number, .min = 1, .max = 100,
	       .flags = FIELD_NEEDED | FIELD_ALONE),
};
static const struct fields leaf_fields = FIELDS(leaf_rows, struct leaf);

static const struct field key_rows[] = {
	FIELD(FIELD_NAME, struct leaf, NULL, name),
	NUMBER(struct leaf, "number", number, .flags = FIELD_ALONE),
};
static const struct fields key_fields = FIELDS(key_rows, struct leaf);

static const struct field rows[] = {
	FIELD(FIELD_NAME, struct thing, "name", name, .flags = FIELD_NEEDED),
	FIELD(FIELD_FILE_NAME, struct thing, "file", file),
	FIELD(FIELD_TEXT, struct thing, "text", text, .flags = FIELD_SPARSE),
	NUMBER(struct thing, "small", small),
	NUMBER(struct thing, "index", index, .flags = FIELD_NONE, .absent = UINT32_MAX),
	NUMBER(struct thing, "big", big),
	NUMBER(struct thing, "sign", sign, .min = -10, .max = 10),
	FIELD(FIELD_FLAG, struct thing, "on", is_on),
	WORD_FIELD(struct thing, "colour", colour, colour, 2, .flags = FIELD_FORGET),
	FIELD(FIELD_PREFIX, struct thing, "address", address,
	      .family = offsetof(struct thing, family), .length = offsetof(struct thing, length),
	      .flags = FIELD_FAMILY),
	FIELD(FIELD_HOST, struct thing, "gateway", gateway,
	      .family = offsetof(struct thing, family)),
	FIELD(FIELD_NUMBERS, struct thing, "values", values, .word = colour, .n_words = 2,
	      .known = offsetof(struct thing, known)),
	LIST(FIELD_LIST, struct thing, "leaves", leaves, leaf_fields,
	     .has = offsetof(struct thing, has_leaves)),
	LIST(FIELD_LIST, struct thing, "rest", rest, leaf_fields, .max = 2, .flags = FIELD_FORGET),
	LIST(FIELD_ARRAY, struct thing, "room", room, leaf_fields, .flags = FIELD_FORGET),
	LIST(FIELD_MAP, struct thing, "map", map, key_fields),
};
static const struct fields thing_fields = FIELDS(rows, struct thing);

static void thing_done(struct thing *t)
{
	free(t->leaves);
	free(t->rest);
	free(t->map);
}

static int parse(const char *text, struct thing *ret, char *place)
{
	json_auto_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

	assert_non_null(value);
	*ret = (struct thing){};
	return fields_parse(&thing_fields, value, ret, place);
}

static void what_is_packed_is_parsed_byte_for_byte(void **state _unused_)
{
	struct leaf leaves[] = { { "a\xFF", 1 }, { "", 2 } }, map[] = { { "k\n", 3 } };
	const struct thing t = { .name = "\\\x1B\xC3",
				 .file = "a b",
				 .text = "x",
				 .small = 255,
				 .index = UINT32_MAX,
				 .big = INT64_MAX,
				 .sign = -10,
				 .is_on = true,
				 .colour = 1,
				 .family = AF_INET6,
				 .address = { 0xFE, 0x80, [15] = 1 },
				 .length = 64,
				 .known = 2,
				 .values = { 0, INT32_MIN },
				 .leaves = leaves,
				 .n_leaves = 2,
				 .has_leaves = true,
				 .room = { { "r", 9 } },
				 .n_room = 1,
				 .map = map,
				 .n_map = 1 };
	json_auto_t *packed = fields_pack(&thing_fields, &t), *again = NULL;
	_cleanup_(thing_done) struct thing back = {};
	char place[FIELDS_PLACE_LEN];

	assert_int_equal(fields_parse(&thing_fields, packed, &back, place), 0);
	assert_memory_equal(&back, &t, offsetof(struct thing, leaves));
	assert_memory_equal(back.leaves, leaves, sizeof(leaves));
	assert_memory_equal(back.map, map, sizeof(map));
	assert_memory_equal(back.room, t.room, sizeof(t.room));
	assert_true(back.has_leaves && back.n_leaves == 2 && back.n_map == 1 && back.n_room == 1);
	assert_int_equal(json_integer_value(json_object_get(packed, "index")), -1);
	/* An item that is one number is written as that. */
	assert_true(json_is_integer(json_array_get(json_object_get(packed, "leaves"), 1)));

	again = fields_pack(&thing_fields, &back);
	assert_true(json_equal(packed, again));
}

static void what_is_absent_is_empty(void **state _unused_)
{
	_cleanup_(thing_done) struct thing t = {};
	json_auto_t *packed = NULL;

	assert_int_equal(parse("{\"name\":\"n\",\"of-another-version\":[7]}", &t, NULL), 0);
	assert_int_equal(t.index, UINT32_MAX);
	assert_true(!t.has_leaves && t.n_rest == 0 && t.family == 0 && !*t.text);
	packed = fields_pack(&thing_fields, &t);
	assert_null(json_object_get(packed, "leaves"));
	assert_null(json_object_get(packed, "text"));
}

static void what_is_malformed_is_named(void **state _unused_)
{
	static const struct {
		const char *text, *place;
	} cases[] = {
		{ "7", "name" },
		{ "{}", "name" },
		{ "{\"name\":\"\"}", "name" },
		{ "{\"name\":\"12345678\"}", "name" },
		{ "{\"name\":7}", "name" },
		{ "{\"name\":\"n\",\"file\":\"..\"}", "file" },
		{ "{\"name\":\"n\",\"file\":\"a\\\\x2Fb\"}", "file" },
		{ "{\"name\":\"n\",\"small\":256}", "small" },
		{ "{\"name\":\"n\",\"small\":-1}", "small" },
		{ "{\"name\":\"n\",\"small\":\"1\"}", "small" },
		{ "{\"name\":\"n\",\"index\":-2}", "index" },
		{ "{\"name\":\"n\",\"index\":4294967295}", "index" },
		{ "{\"name\":\"n\",\"big\":-1}", "big" },
		{ "{\"name\":\"n\",\"sign\":11}", "sign" },
		{ "{\"name\":\"n\",\"on\":1}", "on" },
		{ "{\"name\":\"n\",\"address\":\"10.0.0.1\"}", "address" },
		{ "{\"name\":\"n\",\"address\":\"10.0.0.1/33\"}", "address" },
		{ "{\"name\":\"n\",\"address\":\"10.0.0/8\"}", "address" },
		{ "{\"name\":\"n\",\"address\":\"10.0.0.1/8\",\"gateway\":\"fe80::1\"}",
		  "gateway" },
		{ "{\"name\":\"n\",\"values\":{\"red\":2147483648}}", "values" },
		{ "{\"name\":\"n\",\"leaves\":{}}", "leaves" },
		{ "{\"name\":\"n\",\"leaves\":[1,{\"number\":101}]}", "leaves: entry 1: number" },
		{ "{\"name\":\"n\",\"leaves\":[{\"name\":\"n\"}]}", "leaves: entry 0: number" },
		{ "{\"name\":\"n\",\"map\":{\"k\":\"x\"}}", "map: k: number" },
		{ "{\"name\":\"n\",\"map\":{\"longer-than-that\":1}}", "map: longer-than-that" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(thing_done) struct thing t = {};
		char place[FIELDS_PLACE_LEN];

		if (parse(cases[i].text, &t, place) != -EINVAL)
			fail_msg("%s", cases[i].text);
		assert_string_equal(place, cases[i].place);
	}
}

static void what_may_be_forgotten_is_lost_alone(void **state _unused_)
{
	static const struct {
		const char *text;
		int n_forgotten;
		size_t n_rest, n_room;
		uint16_t first;
	} cases[] = {
		{ "{\"name\":\"n\",\"rest\":[0,5,\"x\"]}", 2, 1, 0, 5 },
		{ "{\"name\":\"n\",\"rest\":[1,2,3]}", 0, 2, 0, 1 },
		{ "{\"name\":\"n\",\"rest\":7}", 1, 0, 0, 0 },
		{ "{\"name\":\"n\",\"room\":[1,0,2,3]}", 1, 0, 2, 0 },
		{ "{\"name\":\"n\",\"colour\":\"blue\"}", 1, 0, 0, 0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(thing_done) struct thing t = {};

		assert_int_equal(parse(cases[i].text, &t, NULL), cases[i].n_forgotten);
		assert_string_equal(t.name, "n");
		assert_int_equal(t.n_rest, cases[i].n_rest);
		assert_int_equal(t.n_room, cases[i].n_room);
		assert_int_equal(t.n_rest > 0 ? t.rest[0].number : 0, cases[i].first);
		assert_int_equal(t.colour, 0);
	}
}

/* --- owned texts --- */

struct word {
	char *text;
};

struct sentence {
	char **words;
	size_t n;
};

static const struct field word_rows[] = {
	FIELD(FIELD_OWNED, struct word, "word", text, .flags = FIELD_ALONE),
};
static const struct fields word_fields = FIELDS(word_rows, struct word);
static const struct field sentence_rows[] = {
	FIELD(FIELD_LIST, struct sentence, "words", words, .of = &word_fields,
	      .count = offsetof(struct sentence, n)),
};
static const struct fields sentence_fields = FIELDS(sentence_rows, struct sentence);

static void free_words(struct sentence *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->words[i]);
	free(s->words);
}

static void owned_texts_come_back_byte_for_byte(_unused_ void **state)
{
	char longest[5000] = {};
	char *words[] = { (char *)"A=b c\n", (char *)"\xff\\x41", (char *)"", longest, NULL };
	const struct sentence all = { words, ELEMENTSOF(words) };
	struct sentence back = {};
	json_auto_t *document = NULL;

	memset(longest, 'x', sizeof(longest) - 1);
	document = fields_pack(&sentence_fields, &all);
	assert_int_equal(fields_parse(&sentence_fields, document, &back, NULL), 0);
	assert_int_equal(back.n, all.n);
	for (size_t i = 0; i < back.n; i++)
		assert_string_equal(back.words[i], words[i] ? words[i] : "");
	free_words(&back);
}

static void what_is_no_text_is_no_owned_one(_unused_ void **state)
{
	char place[FIELDS_PLACE_LEN];
	struct sentence s = {};
	json_auto_t *document = json_loads("{\"words\": [\"a\", 1]}", 0, NULL);

	assert_int_equal(fields_parse(&sentence_fields, document, &s, place), -EINVAL);
	assert_string_equal(place, "words: entry 1: word");
	free_words(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owned_texts_come_back_byte_for_byte),
		cmocka_unit_test(what_is_no_text_is_no_owned_one),
		cmocka_unit_test(what_is_packed_is_parsed_byte_for_byte),
		cmocka_unit_test(what_is_absent_is_empty),
		cmocka_unit_test(what_is_malformed_is_named),
		cmocka_unit_test(what_may_be_forgotten_is_lost_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
