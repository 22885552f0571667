/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include "document.h"

#include <arpa/inet.h>

#define PREFIX_LEN (INET6_ADDRSTRLEN + 4)

/* Numbers */

/* A number that JSON cannot hold becomes the largest that it can. */
static int64_t load(const struct field *f, const void *at)
{
	switch (f->size) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		return *(const uint16_t *)at;
	case 4:
		return f->is_signed ? *(const int32_t *)at : (int64_t)*(const uint32_t *)at;
	default:
		return f->is_signed ? *(const int64_t *)at
				    : (int64_t)MIN(*(const uint64_t *)at, (uint64_t)INT64_MAX);
	}
}

static void store(const struct field *f, void *at, int64_t value)
{
	switch (f->size) {
	case 1:
		*(uint8_t *)at = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)at = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)at = (uint32_t)value;
		break;
	default:
		*(uint64_t *)at = (uint64_t)value;
	}
}

static bool is_none(const struct field *f, const void *at)
{
	static const uint8_t ones[] = { 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF };

	return f->flags & FIELD_NONE && memcmp(at, ones, f->size) == 0;
}

static bool is_within(const struct field *f, int64_t value)
{
	const unsigned bits = (unsigned)f->size * 8;
	const int64_t most = bits == 64     ? INT64_MAX
			     : f->is_signed ? (INT64_C(1) << (bits - 1)) - 1
					    : (INT64_C(1) << bits) - 1 - !!(f->flags & FIELD_NONE);

	if (f->min != 0 || f->max != 0)
		return value >= f->min && value <= f->max;
	return value <= most && (value >= 0 || (f->is_signed && value >= -most - 1) ||
				 (f->flags & FIELD_NONE && value == -1));
}

/* Addresses */

static void format_host(int family, const uint8_t *bytes, char ret[static PREFIX_LEN])
{
	*ret = '\0';
	if (!is_zero(bytes))
		inet_ntop(family, bytes, ret, PREFIX_LEN);
}

static void format_prefix(int family, const uint8_t *bytes, uint32_t length,
			  char ret[static PREFIX_LEN])
{
	size_t n;

	*ret = '\0';
	inet_ntop(family, bytes, ret, PREFIX_LEN);
	n = strlen(ret);
	snprintf(ret + n, PREFIX_LEN - n, "/%" PRIu32, length);
}

static bool parse_length(const char *text, int family, unsigned long *ret)
{
	char *end;

	*ret = strtoul(text, &end, 10);
	return end != text && !*end && *ret <= (family == AF_INET ? 32 : 128);
}

static int parse_host(const struct field *f, const json_t *value, char *base)
{
	char text[PREFIX_LEN], *slash;
	int *known = (int *)(base + f->family);
	unsigned long n = 0;
	int family;

	if (!document_to_name(value, text, sizeof(text)))
		return -EINVAL;
	if (!*text)
		return 0;
	family = strchr(text, ':') ? AF_INET6 : AF_INET;
	slash = strchr(text, '/');
	if ((f->type == FIELD_PREFIX) != !!slash || (slash && !parse_length(slash + 1, family, &n)))
		return -EINVAL;
	if (slash)
		*slash = '\0';
	if ((*known != 0 && *known != family) ||
	    inet_pton(family, text, (uint8_t *)(base + f->offset)) != 1)
		return -EINVAL;
	if (!(f->flags & FIELD_FAMILY))
		return 0;
	*known = family;
	if (f->length > 0)
		*(uint32_t *)(base + f->length) = (uint32_t)n;
	return 0;
}

/* To JSON */

static const char *items_of(const struct field *f, const char *base)
{
	return f->type == FIELD_ARRAY ? base + f->offset : *(const char *const *)(base + f->offset);
}

static size_t count_of(const struct field *f, const char *base)
{
	return f->count > 0 ? *(const size_t *)(base + f->count) : f->size / f->of->size;
}

static bool is_list(const struct field *f)
{
	return f->type == FIELD_LIST || f->type == FIELD_ARRAY || f->type == FIELD_MAP;
}

static bool is_text(const struct field *f)
{
	return f->type == FIELD_TEXT || f->type == FIELD_NAME || f->type == FIELD_FILE_NAME;
}

static bool is_empty_field(const struct field *f, const char *base)
{
	const char *at = base + f->offset;

	if (f->has > 0)
		return !*(const bool *)(base + f->has);
	if (is_text(f))
		return !*at;
	if (is_list(f) && f->count > 0)
		return count_of(f, base) == 0;
	return !ANY(a, at, f->size, *a);
}

static json_t *pack_numbers(const struct field *f, const char *base)
{
	const uint32_t known = *(const uint32_t *)(base + f->known);
	const int32_t *values = (const int32_t *)(base + f->offset);
	json_auto_t *object = json_object();

	for (unsigned i = 0; i < f->n_words; i++)
		if (known & 1u << i &&
		    json_object_set_new(object, f->word(i), json_integer(values[i])) < 0)
			return NULL;
	return TAKE(object);
}

/* Leaves out items whose object would be empty. */
static json_t *pack_map(const struct field *f, const char *base)
{
	const char *item = items_of(f, base);
	json_auto_t *object = json_object();

	for (size_t i = 0; i < count_of(f, base); i++, item += f->of->size) {
		json_auto_t *key = document_name(item + f->of->rows[0].offset);
		json_auto_t *value = fields_pack(f->of, item);

		if (!key || !value)
			return NULL;
		if ((!json_is_object(value) || json_object_size(value) > 0) &&
		    json_object_set_new(object, json_string_value(key), json_incref(value)) < 0)
			return NULL;
	}
	return TAKE(object);
}

static json_t *pack_field(const struct field *f, const char *base)
{
	const char *at;
	char text[PREFIX_LEN];

	if (f->flags & FIELD_VIA)
		base = *(const char *const *)(base + f->via);
	if (!base)
		return f->type == FIELD_NUMBER ? json_integer(0) : json_string("");
	at = base + f->offset;
	switch (f->type) {
	case FIELD_NUMBER:
		return json_integer(is_none(f, at) ? -1 : load(f, at));
	case FIELD_FLAG:
		return json_boolean(*(const bool *)at);
	case FIELD_TEXT:
		return document_text(at);
	case FIELD_NAME:
	case FIELD_FILE_NAME:
		return document_name(at);
	case FIELD_OWNED:
		return document_name(*(const char *const *)at ? *(const char *const *)at : "");
	case FIELD_WORD:
		return json_string(f->word(*(const unsigned *)at));
	case FIELD_HOST:
		format_host(*(const int *)(base + f->family), (const uint8_t *)at, text);
		return json_string(text);
	case FIELD_PREFIX:
		format_prefix(*(const int *)(base + f->family), (const uint8_t *)at,
			      *(const uint32_t *)(base + f->length), text);
		return json_string(text);
	case FIELD_NUMBERS:
		return pack_numbers(f, base);
	case FIELD_LIST:
	case FIELD_ARRAY:
		return fields_pack_list(f->of, items_of(f, base), count_of(f, base));
	case FIELD_MAP:
		return pack_map(f, base);
	case FIELD_STRING:
		return document_text(*(const char *const *)at);
	case FIELD_MADE:
		return f->make(base);
	case FIELD_PART:
		return fields_pack(f->of, base);
	}
	return NULL;
}

static bool is_alone(const struct fields *s, const json_t *object)
{
	FOREACH(row, s->rows, s->n_rows)
		if (row->flags & FIELD_ALONE)
			return json_object_size(object) == 1 && json_object_get(object, row->key);
	return false;
}

int fields_update(json_t *object, const struct fields *s, const void *from)
{
	FOREACH(f, s->rows, s->n_rows) {
		const bool may_be_absent = f->has > 0 || f->flags & FIELD_SPARSE;

		if (!f->key)
			continue;
		if (may_be_absent && is_empty_field(f, from))
			json_object_del(object, f->key);
		else if (json_object_set_new(object, f->key, pack_field(f, from)) < 0)
			return -ENOMEM;
	}
	return 0;
}

json_t *fields_pack(const struct fields *s, const void *from)
{
	json_auto_t *object = json_object();

	if (fields_update(object, s, from) < 0)
		return NULL;
	if (object && is_alone(s, object))
		return json_incref(json_object_iter_value(json_object_iter(object)));
	return TAKE(object);
}

json_t *fields_pack_list(const struct fields *s, const void *from, size_t n)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(list, fields_pack(s, (const char *)from + i * s->size)) <
		    0)
			return NULL;
	return TAKE(list);
}

/* From JSON */

static void add_place(char *place, const char *name)
{
	char inner[FIELDS_PLACE_LEN];
	size_t n;

	if (!place)
		return;
	COPY(inner, place);
	copy(place, FIELDS_PLACE_LEN, name);
	n = strlen(place);
	if (!*inner || n + 2 >= FIELDS_PLACE_LEN)
		return;
	copy(place + n, FIELDS_PLACE_LEN - n, ": ");
	copy(place + n + 2, FIELDS_PLACE_LEN - n - 2, inner);
}

static int parse_number(const struct field *f, const json_t *value, char *base)
{
	if (!json_is_integer(value) || !is_within(f, json_integer_value(value)))
		return -EINVAL;
	store(f, base + f->offset, json_integer_value(value));
	return 0;
}

static int parse_flag(const struct field *f, const json_t *value, char *base)
{
	*(bool *)(base + f->offset) = json_is_true(value);
	return json_is_boolean(value) ? 0 : -EINVAL;
}

static int parse_text(const struct field *f, const json_t *value, char *base)
{
	char *to = base + f->offset;
	bool is_fine;

	if (f->type == FIELD_TEXT)
		is_fine = json_is_string(value) && copy(to, f->size, json_string_value(value));
	else if (f->type == FIELD_NAME)
		is_fine = document_to_name(value, to, f->size);
	else
		is_fine = document_to_file_name(value, to, f->size);
	return is_fine ? 0 : -EINVAL;
}

static int parse_owned(const struct field *f, const json_t *value, char *base)
{
	char **to = (char **)(base + f->offset);
	size_t size;

	if (!json_is_string(value))
		return -EINVAL;
	size = strlen(json_string_value(value)) + 1;
	*to = malloc(size);
	if (!*to)
		return -ENOMEM;
	return document_to_name(value, *to, size) ? 0 : -EINVAL;
}

static int parse_word(const struct field *f, const json_t *value, char *base)
{
	const char *text = json_string_value(value);

	for (unsigned i = 0; i < f->n_words && text && *text; i++)
		if (streq(f->word(i), text)) {
			*(unsigned *)(base + f->offset) = i;
			return 0;
		}
	return -EINVAL;
}

static int parse_numbers(const struct field *f, const json_t *object, char *base)
{
	uint32_t *known = (uint32_t *)(base + f->known);
	int32_t *values = (int32_t *)(base + f->offset);

	for (unsigned i = 0; i < f->n_words; i++) {
		const json_t *value = json_object_get(object, f->word(i));

		if (!value)
			continue;
		if (!json_is_integer(value) || json_integer_value(value) < INT32_MIN ||
		    json_integer_value(value) > INT32_MAX)
			return -EINVAL;
		*known |= 1u << i;
		values[i] = (int32_t)json_integer_value(value);
	}
	return json_is_object(object) ? 0 : -EINVAL;
}

/* Room for one item more. Return: 0, -EINVAL or -ENOMEM. */
static int add_item(const struct field *f, char *base, char **ret)
{
	size_t *count = (size_t *)(base + f->count);

	if (f->max > 0 && *count >= (size_t)f->max)
		return -EINVAL;
	if (f->type == FIELD_ARRAY) {
		if (*count >= f->size / f->of->size)
			return -EINVAL;
		*ret = base + f->offset + (*count)++ * f->of->size;
		return 0;
	}
	*ret = append_raw((void **)(base + f->offset), count, f->of->size);
	return *ret ? 0 : -ENOMEM;
}

/* Return: 1 when the item was forgotten, 0, -EINVAL or -ENOMEM. */
static int parse_item(const struct field *f, const char *key, const json_t *value, char *base,
		      char *place)
{
	char *item;
	int r = add_item(f, base, &item);

	if (r < 0)
		return r;
	if (key && !document_from_name(key, item + f->of->rows[0].offset, f->of->rows[0].size))
		return -EINVAL;
	r = fields_parse(f->of, value, item, place);
	if (r == -EINVAL && f->flags & FIELD_FORGET) {
		memset(item, 0, f->of->size);
		--*(size_t *)(base + f->count);
		return 1;
	}
	return MIN(r, 0);
}

static int parse_list(const struct field *f, const json_t *list, char *base, char *place)
{
	const json_t *item;
	char number[32];
	size_t i;
	int r, n = 0;

	if (!json_is_array(list))
		return -EINVAL;
	json_array_foreach(list, i, item) {
		r = parse_item(f, NULL, item, base, place);
		if (r == -EINVAL && f->flags & FIELD_FORGET) /* no room for more */
			return n;
		if (r < 0) {
			PRINT(number, "entry %zu", i);
			add_place(place, number);
			return r;
		}
		n += r;
	}
	return n;
}

/* All items of an array that has no count. */
static int parse_whole(const struct field *f, const json_t *list, char *base, char *place)
{
	const size_t n = f->size / f->of->size;
	int r = json_array_size(list) == n ? 0 : -EINVAL;

	for (size_t i = 0; i < n && r >= 0; i++)
		r = fields_parse(f->of, json_array_get(list, i), base + f->offset + i * f->of->size,
				 place);
	return MIN(r, 0);
}

static int parse_map(const struct field *f, const json_t *object, char *base, char *place)
{
	json_t *item;
	const char *key;
	int r, n = 0;

	if (!json_is_object(object))
		return -EINVAL;
	json_object_foreach((json_t *)object, key, item) {
		r = parse_item(f, key, item, base, place);
		if (r < 0) {
			add_place(place, key);
			return r;
		}
		n += r;
	}
	return n;
}

static int parse_items(const struct field *f, const json_t *value, char *base, char *place)
{
	int r;

	if (f->count == 0)
		return parse_whole(f, value, base, place);
	r = f->type == FIELD_MAP ? parse_map(f, value, base, place)
				 : parse_list(f, value, base, place);
	if (r < 0)
		return r;
	if (f->of->compare && count_of(f, base) > 0)
		qsort((void *)items_of(f, base), count_of(f, base), f->of->size, f->of->compare);
	if (f->has > 0)
		*(bool *)(base + f->has) = true;
	return r;
}

static int parse_value(const struct field *f, const json_t *value, char *base, char *place)
{
	switch (f->type) {
	case FIELD_NUMBER:
		return parse_number(f, value, base);
	case FIELD_FLAG:
		return parse_flag(f, value, base);
	case FIELD_TEXT:
	case FIELD_NAME:
	case FIELD_FILE_NAME:
		return parse_text(f, value, base);
	case FIELD_OWNED:
		return parse_owned(f, value, base);
	case FIELD_WORD:
		return parse_word(f, value, base);
	case FIELD_HOST:
	case FIELD_PREFIX:
		return parse_host(f, value, base);
	case FIELD_NUMBERS:
		return parse_numbers(f, value, base);
	case FIELD_LIST:
	case FIELD_ARRAY:
	case FIELD_MAP:
		return parse_items(f, value, base, place);
	case FIELD_STRING:
	case FIELD_MADE:
	case FIELD_PART:
		break;
	}
	return -EINVAL;
}

static bool may_be_zero(const struct field *f)
{
	return !is_text(f) && f->type != FIELD_HOST;
}

static int parse_field(const struct field *f, const json_t *value, char *base, char *place)
{
	int r = value ? parse_value(f, value, base, place) : 0;

	if (r == -EINVAL && f->flags & FIELD_FORGET) {
		if (!is_list(f) || f->count == 0)
			memset(base + f->offset, 0, f->size);
		value = NULL;
		r = 1;
	}
	if (!value && f->absent != 0)
		store(f, base + f->offset, f->absent);
	if (r >= 0 && f->flags & FIELD_NEEDED &&
	    (!value || (!may_be_zero(f) && is_empty_field(f, base))))
		r = -EINVAL;
	if (r == -EINVAL)
		add_place(place, f->key);
	return r;
}

int fields_parse(const struct fields *s, const json_t *value, void *to, char *place)
{
	const bool is_object = !value || json_is_object(value);
	bool is_known = is_object;
	int r = 0, n = 0;

	if (place)
		*place = '\0';
	FOREACH_WHILE(f, s->rows, s->n_rows, r >= 0) {
		const json_t *found = is_object ? json_object_get(value, f->key) : NULL;

		if (!f->key || f->flags & FIELD_SHOWN)
			continue;
		if (!is_object && f->flags & FIELD_ALONE) {
			found = value;
			is_known = true;
		}
		r = parse_field(f, found, to, place);
		n += MAX(r, 0);
	}
	if (r >= 0 && (!is_known || (s->is_valid && !s->is_valid(to))))
		r = -EINVAL;
	return r < 0 ? r : n;
}
