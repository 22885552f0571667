/* SPDX-License-Identifier: Apache-2.0 */
#include "tar.h"

#define BLOCK_BYTES 512

/* ustar of POSIX.1-1988, as in pax(1p). Numbers are octal digits. */
struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8];
	char type;
	char target[100];
	char magic[8]; /* "ustar", NUL, "00" */
	char user[32], group[32], major[8], minor[8], prefix[155], padding[12];
};
_Static_assert(sizeof(struct header) == BLOCK_BYTES, "a header is one block");

static const struct {
	char type;
	unsigned mode;
} kinds[] = {
	[RECORD_FILE] = { '0', 0644 },
	[RECORD_LINK] = { '2', 0777 },
	[RECORD_FOLDER] = { '5', 0755 },
};

static int write_padded(int fd, const char *data, size_t size)
{
	static const char zeroes[BLOCK_BYTES];
	int r;

	r = fs_write_all(fd, data, size);
	return r < 0 ? r
		     : fs_write_all(fd, zeroes, (BLOCK_BYTES - size % BLOCK_BYTES) % BLOCK_BYTES);
}

static void put_octal(char *to, size_t size, uint64_t value)
{
	to[size - 1] = '\0';
	for (size_t i = size - 1; i-- > 0; value >>= 3)
		to[i] = (char)('0' + (value & 7));
}

static int write_header(int fd, char type, unsigned mode, const char *path, const char *target,
			size_t size)
{
	struct header h = { .type = type,
			    .uid = "0000000",
			    .gid = "0000000",
			    .mtime = "00000000000",
			    .major = "0000000",
			    .minor = "0000000",
			    .magic = "ustar\00000",
			    .user = "root",
			    .group = "root" };
	const unsigned char *byte = (const unsigned char *)&h;
	unsigned sum = 0;

	if ((uint64_t)size >> 33) /* 11 octal digits */
		return -EFBIG;

	/* Names that fill their field have no NUL; longer ones are whole in the pax header. */
	memcpy(h.name, path, strnlen(path, sizeof(h.name)));
	memcpy(h.target, target, strnlen(target, sizeof(h.target)));
	put_octal(h.mode, sizeof(h.mode), mode);
	put_octal(h.size, sizeof(h.size), size);

	/* Summed up as if the sum itself were blanks. */
	memset(h.checksum, ' ', sizeof(h.checksum));
	for (size_t i = 0; i < sizeof(h); i++)
		sum += byte[i];
	put_octal(h.checksum, sizeof(h.checksum) - 1, sum);

	return fs_write_all(fd, (const char *)&h, sizeof(h));
}

/* "LENGTH KEY=VALUE\n", where the length counts its own digits. */
static int append_record(char **records, size_t *size, const char *key, const char *value)
{
	const size_t rest = strlen(key) + strlen(value) + 3;
	size_t length = rest + 1;
	char *grown;

	while (length != rest + (size_t)snprintf(NULL, 0, "%zu", length))
		length++;

	grown = realloc(*records, *size + length + 1);
	if (!grown)
		return -ENOMEM;
	*records = grown;

	snprintf(grown + *size, length + 1, "%zu %s=%s\n", length, key, value);
	*size += length;
	return 0;
}

static int write_pax(int fd, const char *path, const char *target)
{
	_cleanup_(freep) char *records = NULL;
	size_t size = 0;
	int r = 0;

	if (strlen(path) > sizeof(((struct header *)0)->name))
		r = append_record(&records, &size, "path", path);
	if (r >= 0 && strlen(target) > sizeof(((struct header *)0)->target))
		r = append_record(&records, &size, "linkpath", target);
	if (r < 0 || size == 0)
		return r;

	r = write_header(fd, 'x', 0644, "pax-header", "", size);
	return r < 0 ? r : write_padded(fd, records, size);
}

int tar_add(int fd, enum record_kind kind, const char *path, const char *data, size_t size)
{
	const char *target = kind == RECORD_LINK ? data : "";
	int r;

	if (is_empty(path))
		return -EINVAL;
	if (kind != RECORD_FILE)
		size = 0;
	r = write_pax(fd, path, target);
	if (r >= 0)
		r = write_header(fd, kinds[kind].type, kinds[kind].mode, path, target, size);
	return r < 0 ? r : write_padded(fd, data, size);
}

int tar_end(int fd)
{
	static const char zeroes[2 * BLOCK_BYTES];

	return fs_write_all(fd, zeroes, sizeof(zeroes));
}
