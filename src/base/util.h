/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Util: all the macros and tiny inline functions there are. None of them reads or changes the node.
 */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ELEMENTSOF(x)  (sizeof(x) / sizeof((x)[0]))
#define _cleanup_(f)   __attribute__((cleanup(f)))
#define _printf_(a, b) __attribute__((format(printf, a, b)))
#define _unused_       __attribute__((unused))
#define MIN(a, b)      ((a) < (b) ? (a) : (b))
#define MAX(a, b)      ((a) > (b) ? (a) : (b))
#define USEC_PER_SEC   UINT64_C(1000000)
#define USEC_PER_MSEC  UINT64_C(1000)
#define NSEC_PER_USEC  UINT64_C(1000)
#define streq(a, b)    (strcmp((a), (b)) == 0)

/* Marks the one place where a pointer or descriptor changes hands. */
#define TAKE(p)                                                                                    \
	({                                                                                         \
		__typeof__(p) _taken = (p);                                                        \
		(p) = (__typeof__(p))0;                                                            \
		_taken;                                                                            \
	})
#define TAKE_STRUCT(s)                                                                             \
	({                                                                                         \
		__typeof__(s) _taken = (s);                                                        \
		(s) = (__typeof__(s)){};                                                           \
		_taken;                                                                            \
	})
/* Gives what was made to the caller, unless @r is an error. Return: @r, or 0. */
#define GIVE(r, thing, ret)                                                                        \
	({                                                                                         \
		const int _r = (r);                                                                \
		if (_r >= 0) {                                                                     \
			*(ret) = (thing);                                                          \
			memset(&(thing), 0, sizeof(thing));                                        \
		}                                                                                  \
		MIN(_r, 0);                                                                        \
	})
#define TAKE_FD(fd)                                                                                \
	({                                                                                         \
		int _taken = (fd);                                                                 \
		(fd) = -EBADF;                                                                     \
		_taken;                                                                            \
	})

/*
 * Defines f(), the name of each member of an enumeration, "" of a number that is none: it may have
 * come over a pipe.
 */
#define NAMES(f, type, n, ...)                                                                     \
	static const char *const f##_table[] = __VA_ARGS__;                                        \
	const char *f(type i)                                                                      \
	{                                                                                          \
		return (size_t)i < ELEMENTSOF(f##_table) ? f##_table[i] : "";                      \
	}                                                                                          \
	_Static_assert(ELEMENTSOF(f##_table) == (n), "a name for every member")

/* Appends one zeroed element to an array with its own count: NULL when there is no memory. */
#define APPEND(array, n) ((__typeof__(array))append_raw((void **)&(array), &(n), sizeof(*(array))))

/* Appends a value: 0 or -ENOMEM. */
#define ADD(array, n, ...)                                                                         \
	({                                                                                         \
		__typeof__(array) _slot = APPEND(array, n);                                        \
		if (_slot)                                                                         \
			*_slot = (__VA_ARGS__);                                                    \
		_slot ? 0 : -ENOMEM;                                                               \
	})

/* qsort() wants no NULL, not even of no elements. */
#define SORT(array, n, compare)                                                                    \
	({                                                                                         \
		if ((n) > 0)                                                                       \
			qsort((array), (n), sizeof(*(array)), (compare));                          \
	})

/* Nor does bsearch(). */
#define SEARCH(key, array, n, compare)                                                             \
	((n) > 0 ? bsearch((key), (array), (n), sizeof(*(array)), (compare)) : NULL)

static inline void *append_raw(void **array, size_t *n, size_t size)
{
	/* Grows at every power of two, so that the count alone tells the room there is. */
	if ((*n & (*n - 1)) == 0) {
		size_t room = *n == 0 ? 1 : *n * 2;
		void *grown = reallocarray(*array, room, size);

		if (!grown)
			return NULL;
		*array = grown;
	}

	return memset((char *)*array + size * (*n)++, 0, size);
}

/* A loop over the elements of an array, which does not grow meanwhile. @it points to each; the body
 * does not set it. */
#define FOREACH(it, array, n) FOREACH_WHILE(it, array, n, true)
/* The same, to the first of them for which @condition does not hold before its turn. @array is read
 * before the condition is. The cast drops the const that FIND() speaks of. */
#define FOREACH_WHILE(it, array, n, condition)                                                     \
	for (__typeof__((__typeof__(&*(array)))(array)) it = (array);                              \
	     (size_t)(it - (array)) < (n) && (condition); it++)

/* Does @condition, an expression of the pointer @it, hold for any element of an array? */
#define ANY(it, array, n, condition)                                                               \
	({                                                                                         \
		bool _any = false;                                                                 \
		for (size_t _i = 0; _i < (n) && !_any; _i++) {                                     \
			__typeof__(&*(array)) it = &(array)[_i];                                   \
			_any = (condition);                                                        \
		}                                                                                  \
		_any;                                                                              \
	})

/* The first element for which @condition holds; else NULL. It keeps an index, no pointer: before
 * GCC 11 a pointer of the type of a const member cannot be assigned. */
#define FIND(it, array, n, condition)                                                              \
	({                                                                                         \
		size_t _i = 0;                                                                     \
		for (; _i < (n); _i++) {                                                           \
			__typeof__(&*(array)) it = &(array)[_i];                                   \
			if (condition)                                                             \
				break;                                                             \
		}                                                                                  \
		_i < (n) ? &(array)[_i] : NULL;                                                    \
	})

/* The last one for which it holds; else NULL. */
#define FIND_LAST(it, array, n, condition)                                                         \
	({                                                                                         \
		size_t _left = (n);                                                                \
		for (; _left > 0; _left--) {                                                       \
			__typeof__(&*(array)) it = &(array)[_left - 1];                            \
			if (condition)                                                             \
				break;                                                             \
		}                                                                                  \
		_left > 0 ? &(array)[_left - 1] : NULL;                                            \
	})

/* Keeps the elements for which @condition holds, in their order. The room stays, and APPEND() finds
 * at least what it expects. */
#define KEEP(it, array, n, condition)                                                              \
	({                                                                                         \
		size_t _kept = 0;                                                                  \
		for (size_t _from = 0; _from < (n); _from++) {                                     \
			__typeof__(&*(array)) it = &(array)[_from];                                \
			if (condition)                                                             \
				(array)[_kept++] = *it;                                            \
		}                                                                                  \
		(n) = _kept;                                                                       \
	})

/* The address that is none. */
static inline bool is_zero(const uint8_t bytes[static 16])
{
	static const uint8_t zero[16];

	return memcmp(bytes, zero, sizeof(zero)) == 0;
}

/* Declares a struct that owns the memory of its first member alone, and frees it. */
#define _owns_(type, member)                                                                       \
	_Static_assert(offsetof(type, member) == 0, "the first member");                           \
	_cleanup_(freep) type

static inline void freep(void *p)
{
	free(*(void **)p);
}

struct words {
	char **words; /* owned, and each of them */
	size_t n;
};

static inline void words_done(struct words *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->words[i]);
	free(l->words);
	*l = (struct words){};
}

/* A text that is printed to f. */
struct stream {
	FILE *f;
	char *text; /* owned; valid once it is closed, as is the size */
	size_t size;
};

static inline int stream_open(struct stream *s)
{
	s->f = open_memstream(&s->text, &s->size);
	return s->f ? 0 : -ENOMEM;
}

/*
 * glibc's fclose() answers 0 also when there was no memory for even the first byte, and the text is
 * NULL then. Return: 0 or -ENOMEM.
 */
static inline int stream_close(struct stream *s)
{
	const bool is_bad = ferror(s->f);

	return fclose(TAKE(s->f)) != 0 || is_bad || !s->text ? -ENOMEM : 0;
}

/* Closes the stream as stream_close() does; the text becomes the caller's. */
static inline int stream_take(struct stream *s, char **ret)
{
	int r = stream_close(s);

	if (r >= 0)
		*ret = TAKE(s->text);
	return r;
}

static inline void stream_done(struct stream *s)
{
	if (s->f)
		fclose(s->f);
	free(s->text);
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Defines @name, for _cleanup_() of a @type: calls @release with it unless it is NULL. */
#define CLEANUP(name, type, release)                                                               \
	static inline void name(type *p)                                                           \
	{                                                                                          \
		if (*p)                                                                            \
			release(*p);                                                               \
	}                                                                                          \
	_Static_assert(sizeof(type) == sizeof(void *), "a pointer")

CLEANUP(closedirp, DIR *, closedir);

static inline uint64_t clock_usec(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * USEC_PER_SEC + (uint64_t)ts.tv_nsec / NSEC_PER_USEC;
}

static inline uint64_t now_usec(void)
{
	return clock_usec(CLOCK_MONOTONIC);
}

/* For SORT() and SEARCH(), also of an array of structs whose first member is the number, or the
 * text. */
static inline int compare_u32(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static inline int compare_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static inline int compare_text_at(const void *a, const void *b) /* of an array of pointers */
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The number of the first element that begins with @key or a larger number, in a sorted array. */
static inline size_t lower_bound_u32(const void *array, size_t n, size_t size, uint32_t key)
{
	size_t from = 0;

	while (from < n) {
		const size_t middle = from + (n - from) / 2;

		if (compare_u32((const char *)array + middle * size, &key) < 0)
			from = middle + 1;
		else
			n = middle;
	}
	return from;
}

static inline bool is_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* The rest of @s behind @prefix; NULL when it does not begin so. */
static inline const char *after(const char *s, const char *prefix)
{
	return is_prefix(s, prefix) ? s + strlen(prefix) : NULL;
}

/* The digits at *@at, which goes behind them; false: there is none, or it is larger. */
static inline bool take_number(const char **at, uint32_t max, uint32_t *ret)
{
	uint64_t n = 0;

	if (**at < '0' || **at > '9')
		return false;
	for (; **at >= '0' && **at <= '9' && n <= max; (*at)++)
		n = n * 10 + (uint64_t)(**at - '0');
	*ret = (uint32_t)n;
	return n <= max;
}

static inline bool is_empty(const char *s)
{
	return !s || !*s;
}

#define HASH_START UINT64_C(0xcbf29ce484222325) /* of no bytes */
/* FNV-1a, 64 bits: it has to differ, not to be safe. @h: that of the bytes before. */
static inline uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
	return h;
}

static inline uint64_t hash_text(const char *text)
{
	uint64_t h = HASH_START;

	for (; *text; text++)
		h = hash_bytes(h, text, 1);
	return h;
}

/* Copies what fits, always ends in NUL: true when nothing was cut. */
static inline bool copy(char *to, size_t size, const char *from)
{
	size_t n = strlen(from);

	if (n >= size) {
		memcpy(to, from, size - 1);
		to[size - 1] = '\0';
		return false;
	}

	memcpy(to, from, n + 1);
	return true;
}
#define COPY(to, from) copy((to), sizeof(to), (from))
/* Prints into an array. Return: as snprintf(), so that what was cut can be told. */
#define PRINT(to, ...) snprintf((to), sizeof(to), __VA_ARGS__)

/* Appends a word, behind @gap unless it is the first. False: it does not fit, and is left out. */
static inline _printf_(4, 5) bool append_word(char *list, size_t size, const char *gap,
					      const char *format, ...)
{
	const size_t n = strlen(list), from = n > 0 ? n + strlen(gap) : 0;
	va_list ap;
	int length;

	if (from >= size)
		return false;
	memcpy(list + n, gap, from - n);
	va_start(ap, format);
	length = vsnprintf(list + from, size - from, format, ap);
	va_end(ap);
	if (from + (size_t)length < size)
		return true;
	list[n] = '\0';
	return false;
}

/*
 * RLIMIT_DATA of a process that stands between a boot and its kubelet. AddressSanitizer maps
 * terabytes for itself.
 */
#ifdef SANITIZED
#define LIMIT_BYTES RLIM_INFINITY
#else
#define LIMIT_BYTES ((rlim_t)256 << 20)
#endif

/*
 * Decodes the first character of UTF-8 into its number. Return: its length; 0: it is not valid by
 * RFC 3629, which has no surrogates and nothing overlong. A NUL ends the text also before @size.
 */
static inline size_t utf8_decode(const char *text, size_t size, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	size_t n = s[0] < 0x80 ? 1 : (s[0] & 0xE0) == 0xC0 ? 2 : (s[0] & 0xF0) == 0xE0 ? 3 : 4;
	uint32_t c;

	if (n > size || (n == 4 && (s[0] & 0xF8) != 0xF0))
		return 0;

	c = n == 1 ? s[0] : s[0] & (0x7Fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xC0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3F);
	}

	*ret = c;
	return c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF) ? 0 : n;
}

/* Makes foreign text fit for a terminal and for JSON: all but printable ASCII becomes '?'. */
static inline void make_printable(char *s)
{
	for (; *s; s++)
		*s = *s < ' ' || *s > '~' ? '?' : *s;
}

/*
 * Makes foreign text fit to be read by people: newlines and letters of UTF-8 stay, bytes that move
 * the cursor become '?'.
 */
static inline void make_still(char *s)
{
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\n') || *s == 0x7F ||
		    ((unsigned char)s[0] == 0xC2 && (unsigned char)s[1] < 0xA0))
			*s = '?';
}
