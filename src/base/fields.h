/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields: a struct as a JSON object and back, by a table of its members.
 *
 * A row describes a member: its key, its kind, and what it may be. Text, bounds and letters that
 * JSON does not have are dealt with here, by the rules of document.h, and nowhere else. Plain data,
 * and no file is opened.
 *
 *     static const struct field rows[] = {
 *             NUMBER(struct netdev, "ifindex", ifindex, .flags = FIELD_NEEDED),
 *             FILE_NAME(struct netdev, "name", name, .flags = FIELD_NEEDED),
 *     };
 *     static const struct fields netdev_fields = FIELDS(rows, struct netdev);
 *
 * A key that is absent leaves zero, or .absent of a number. A value of another kind or beyond its
 * bounds makes the whole object malformed, unless FIELD_FORGET says otherwise. Keys that no row has
 * are not looked at: they are of another version.
 */
#pragma once

#include <jansson.h>

#include "util.h"

enum field_type {
	FIELD_NUMBER, /* an integer of any size */
	FIELD_FLAG,
	FIELD_TEXT,      /* for people: document_text() */
	FIELD_NAME,      /* comes back byte for byte: document_name() */
	FIELD_FILE_NAME, /* the same, and leads to no other folder */
	FIELD_OWNED,     /* a char *, allocated: as FIELD_NAME, without a bound; NULL is "" */
	FIELD_WORD,      /* an enumeration by its names: .word and .n_words */
	FIELD_HOST,      /* IPv4 or IPv6, 16 bytes; .family: where the family is; all zero: none */
	FIELD_PREFIX,    /* the same with "/" and the length, a uint32_t at .length */
	FIELD_NUMBERS,   /* int32_t for each of .word, and at .known the bits of those there are */
	FIELD_LIST,      /* a pointer to allocated items of .of, their number at .count */
	FIELD_ARRAY,     /* items of .of in the struct itself; without .count all of them */
	FIELD_MAP,       /* a list as an object; the first row of .of, without a key, is the key */
	/* Only written: */
	FIELD_STRING, /* a const char *, never NULL: document_text() */
	FIELD_MADE,   /* what .make returns for the struct */
	FIELD_PART,   /* an object of its own: members of the same struct by the rows of .of */
};

enum field_flag {
	FIELD_SPARSE = 1, /* not written when it is zero or empty */
	FIELD_NEEDED = 2, /* absent is malformed, and so is an empty text or host */
	FIELD_FORGET = 4, /* malformed counts as absent; of items, those alone, which own nothing */
	FIELD_ALONE = 8,  /* a value that is no object is this member; written so if alone */
	FIELD_NONE = 16,  /* of a number without sign: all ones is "none", which is -1 */
	FIELD_FAMILY = 32, /* of addresses: this one says family and length, others have to agree */
	FIELD_SHOWN = 64,  /* only written: another row reads the member */
	FIELD_VIA = 128,   /* the member is of the struct that .via points to; NULL: zero or "" */
};

struct field {
	const char *key;
	enum field_type type;
	unsigned flags;
	size_t offset, size; /* of the member */
	bool is_signed;
	int64_t min, max, absent; /* of numbers; max of items; 0 and 0: what the type can hold */
	const char *(*word)(unsigned);
	unsigned n_words;
	const struct fields *of; /* of the items */
	/* Offsets of other members; 0: there is none. */
	size_t count, family, length, known;
	size_t has;                        /* of a flag: is the value there at all? */
	size_t via;                        /* of a pointer */
	json_t *(*make)(const void *item); /* NULL when there is no memory */
};

struct fields {
	const struct field *rows;
	size_t n_rows, size;
	bool (*is_valid)(void *item); /* NULL, or what no row can tell; may complete the item */
	int (*compare)(const void *a, const void *b); /* NULL, or the order of a list of them */
};

#define FIELD(type_, struct_, key_, member_, ...)                                                  \
	{ .key = (key_),                                                                           \
	  .type = (type_),                                                                         \
	  .offset = offsetof(struct_, member_),                                                    \
	  .size = sizeof(((struct_ *)0)->member_),                                                 \
	  ##__VA_ARGS__ }
#define TEXT(struct_, key_, ...)      FIELD(FIELD_TEXT, struct_, key_, __VA_ARGS__)
#define NAME(struct_, key_, ...)      FIELD(FIELD_NAME, struct_, key_, __VA_ARGS__)
#define FILE_NAME(struct_, key_, ...) FIELD(FIELD_FILE_NAME, struct_, key_, __VA_ARGS__)
#define FLAG(struct_, key_, ...)      FIELD(FIELD_FLAG, struct_, key_, __VA_ARGS__)
/* An address whose family is the member "family" of the same struct; a prefix has a length. */
#define HOST(struct_, key_, member_, ...)                                                          \
	FIELD(FIELD_HOST, struct_, key_, member_, .family = offsetof(struct_, family),             \
	      ##__VA_ARGS__)
#define PREFIX(struct_, key_, member_, length_, ...)                                               \
	FIELD(FIELD_PREFIX, struct_, key_, member_, .family = offsetof(struct_, family),           \
	      .length = offsetof(struct_, length_), ##__VA_ARGS__)
#define NUMBER(struct_, key_, member_, ...)                                                        \
	FIELD(FIELD_NUMBER, struct_, key_, member_,                                                \
	      .is_signed = (__typeof__(((struct_ *)0)->member_))-1 < 1, ##__VA_ARGS__)
#define MADE(key_, make_, ...) { .key = (key_), .type = FIELD_MADE, .make = (make_), ##__VA_ARGS__ }
#define PART(key_, fields_, ...)                                                                   \
	{ .key = (key_), .type = FIELD_PART, .of = &(fields_), ##__VA_ARGS__ }
#define VIA(type_, struct_, via_, key_, member_, ...)                                              \
	FIELD(type_, __typeof__(*((struct_ *)0)->via_), key_, member_,                             \
	      .via = offsetof(struct_, via_), .flags = FIELD_VIA, ##__VA_ARGS__)
#define WORD_FIELD(struct_, key_, member_, word_, n_, ...)                                         \
	FIELD(FIELD_WORD, struct_, key_, member_, .word = (word_), .n_words = (n_), ##__VA_ARGS__)
#define LIST(type_, struct_, key_, member_, fields_, ...)                                          \
	FIELD(type_, struct_, key_, member_, .of = &(fields_),                                     \
	      .count = offsetof(struct_, n_##member_), ##__VA_ARGS__)
#define FIELDS(rows_, struct_, ...)                                                                \
	{ .rows = (rows_), .n_rows = ELEMENTSOF(rows_), .size = sizeof(struct_), ##__VA_ARGS__ }
/* Defines @name_: the table of a struct that has a list in "entries", and nothing else. */
#define ENTRIES_FIELDS(name_, struct_, key_, fields_, ...)                                         \
	static const struct field name_##_rows[] = {                                               \
		LIST(FIELD_LIST, struct_, key_, entries, fields_,                                  \
		     .flags = FIELD_FORGET | FIELD_SPARSE, ##__VA_ARGS__),                         \
	};                                                                                         \
	const struct fields name_ = FIELDS(name_##_rows, struct_)

#define FIELDS_PLACE_LEN 160

/*
 * Sets the keys of a table in an object, and takes away those that are not written. Return: 0 or
 * -ENOMEM.
 */
int fields_update(json_t *object, const struct fields *s, const void *from);
/* Return: NULL when there is no memory. */
json_t *fields_pack(const struct fields *s, const void *from);
/* A list of @n such structs. Return: NULL when there is no memory. */
json_t *fields_pack_list(const struct fields *s, const void *from, size_t n);

/**
 * fields_parse() - a struct from what fields_pack() made, or from anything at all
 * @s:     its table
 * @value: NULL counts as an object that has nothing
 * @to:    zero before; its lists are appended to
 * @place: NULL, or of FIELDS_PLACE_LEN bytes: where the malformed value is, "links: entry 3: name"
 *
 * Return: the number of values and items that were forgotten; -EINVAL or -ENOMEM: then some of @to
 * may be filled, and is the caller's to release.
 */
int fields_parse(const struct fields *s, const json_t *value, void *to, char *place);
