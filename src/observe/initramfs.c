/* SPDX-License-Identifier: Apache-2.0 */
#include "initramfs.h"

#include <fcntl.h>
#include <limits.h>

#define MAX_RECIPE_BYTES (1u << 20)
#define MAX_ENTRIES      (1u << 18) /* a full initramfs has 5,000 */
#define MAX_PADDING      (64u << 10)
#define HEADER_BYTES     110 /* "070701" and 13 numbers of 8 hexadecimal digits */
#define TRAILER          "TRAILER!!!"

static bool is_name(const char *word, size_t n, const char *module)
{
	if (n != strlen(module))
		return false;
	for (size_t i = 0; i < n; i++)
		if ((word[i] == '-' ? '_' : word[i]) != module[i])
			return false;
	return true;
}

/* "usr/lib/modules/6.8.0/updates/dkms/erdma.ko.zst" */
static bool is_module_file(const char *path, const char *module)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strstr(name, ".ko");

	return dot && (!dot[3] || dot[3] == '.') && is_name(name, (size_t)(dot - name), module);
}

static bool parse_hex(const char *digits, uint32_t *ret)
{
	char text[9], *end;

	memcpy(text, digits, 8);
	text[8] = '\0';
	*ret = (uint32_t)strtoul(text, &end, 16);
	return end == text + 8 && text[0] != '-' && text[0] != '+' && text[0] != ' ';
}

/* One member of an archive of the "newc" format. */
struct member {
	char name[PATH_MAX];
	off_t next;
};

static bool read_member(int fd, off_t at, struct member *ret)
{
	char header[HEADER_BYTES];
	uint32_t size, name_size;

	if (pread(fd, header, sizeof(header), at) != sizeof(header) ||
	    (memcmp(header, "070701", 6) != 0 && memcmp(header, "070702", 6) != 0) ||
	    !parse_hex(header + 6 + 6 * 8, &size) || !parse_hex(header + 6 + 11 * 8, &name_size) ||
	    name_size == 0 || name_size > sizeof(ret->name))
		return false;
	if (pread(fd, ret->name, name_size, at + HEADER_BYTES) != (ssize_t)name_size)
		return false;

	ret->name[name_size - 1] = '\0';
	at = (at + HEADER_BYTES + name_size + 3) & ~(off_t)3;
	ret->next = (at + size + 3) & ~(off_t)3;
	return true;
}

/* Archives are padded with zeros: where is the next byte that is none? Return: 0 at the end. */
static off_t skip_zeros(int fd, off_t at)
{
	for (off_t end = at + MAX_PADDING; at < end;) {
		char buf[4096];
		ssize_t n = pread(fd, buf, sizeof(buf), at);

		if (n <= 0)
			return n < 0 ? at : 0;
		for (ssize_t i = 0; i < n; i++)
			if (buf[i])
				return at + i;
		at += n;
	}
	return at;
}

static enum initramfs_answer look_into(int fd, const char *module)
{
	struct member m;
	off_t at = 0;

	for (uint32_t i = 0; i < MAX_ENTRIES && read_member(fd, at, &m); i++) {
		if (is_module_file(m.name, module))
			return INITRAMFS_HAS;
		at = m.next;
		if (!streq(m.name, TRAILER))
			continue;
		at = skip_zeros(fd, at);
		if (at == 0)
			return INITRAMFS_HAS_NOT;
	}
	return INITRAMFS_UNKNOWN;
}

static bool is_image(const char *name)
{
	return is_prefix(name, "initrd.img") || is_prefix(name, "initramfs-") ||
	       is_prefix(name, "initrd-");
}

static void look_into_all(const struct fs *fs, const char *module, struct initramfs *ret)
{
	_cleanup_(fs_names_done) struct fs_names names = {};

	if (fs_list(fs, "boot", &names) < 0)
		return;

	for (size_t i = 0; i < names.n_names && ret->answer != INITRAMFS_HAS; i++) {
		_cleanup_(closep) int fd = -EBADF;
		enum initramfs_answer answer;
		char path[PATH_MAX];

		if (!is_image(names.names[i]))
			continue;
		snprintf(path, sizeof(path), "boot/%s", names.names[i]);
		fd = fs_open(fs, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
		answer = fd < 0 ? INITRAMFS_UNKNOWN : look_into(fd, module);
		if (answer == INITRAMFS_HAS)
			snprintf(ret->where, sizeof(ret->where), "/boot/%.255s", names.names[i]);
		/* One that has it decides; one that cannot be read outweighs one that has it not.
		 */
		if (answer == INITRAMFS_HAS || ret->answer != INITRAMFS_UNKNOWN)
			ret->answer = answer;
	}
}

/* Is the module a word of this line, before any comment? */
static bool has_word(const char *line, size_t size, const char *module)
{
	static const char separators[] = " \t\r\n\"'=";
	const char *end = line + size, *comment = memchr(line, '#', size);

	end = comment ? comment : end;
	while (line < end) {
		size_t n = strcspn(line, separators);

		n = MIN(n, (size_t)(end - line));
		if (is_name(line, n, module))
			return true;
		line += n + 1;
	}
	return false;
}

/* The number of the first line that has the word, and one of @keys if there are any; else 0. */
static uint32_t find_line(const struct fs *fs, const char *path, const char *const keys[],
			  const char *module)
{
	_cleanup_(freep) char *text = NULL;
	uint32_t number = 1;
	size_t size;

	if (fs_read_all(fs, path, MAX_RECIPE_BYTES, false, &text, &size) < 0)
		return 0;

	for (const char *line = text; *line; number++) {
		const size_t n = strcspn(line, "\n");
		bool is_meant = !keys;

		for (size_t i = 0; keys && keys[i]; i++)
			is_meant = is_meant || is_prefix(line + strspn(line, " \t"), keys[i]);
		if (is_meant && has_word(line, n, module))
			return number;
		line += n + (line[n] == '\n');
	}
	return 0;
}

static bool found(struct initramfs *ret, const char *path, uint32_t line)
{
	if (line > 0) {
		ret->answer = INITRAMFS_HAS;
		snprintf(ret->where, sizeof(ret->where), "/%.255s:%u", path, line);
	}
	return line > 0;
}

static bool ask_dracut(const struct fs *fs, const struct node *n, const char *module,
		       struct initramfs *ret)
{
	static const char *const keys[] = { "add_drivers", "force_drivers", NULL };
	static const char *const folders[] = { "etc/dracut.conf.d",
					       "usr/lib/dracut/dracut.conf.d" };

	if (found(ret, "etc/dracut.conf", find_line(fs, "etc/dracut.conf", keys, module)))
		return true;

	for (size_t i = 0; i < ELEMENTSOF(folders); i++) {
		_cleanup_(fs_names_done) struct fs_names names = {};

		if (fs_list(fs, folders[i], &names) < 0)
			continue;
		for (size_t k = 0; k < names.n_names; k++) {
			char path[PATH_MAX];

			snprintf(path, sizeof(path), "%s/%s", folders[i], names.names[k]);
			if (found(ret, path, find_line(fs, path, keys, module)))
				return true;
		}
	}

	for (size_t i = 0; i < n->n_options; i++) {
		const struct option *o = &n->options[i];

		if (o->source == OPTION_LOAD && o->line > 0 && streq(o->module, module))
			return found(ret, o->file + 1, o->line);
	}
	return false;
}

void observe_initramfs(const struct fs *fs, const struct node *n, const char *module,
		       struct initramfs *ret)
{
	static const char recipe[] = "etc/initramfs-tools/modules";
	bool has_dracut = fs_exists(fs, "usr/bin/dracut") || fs_exists(fs, "usr/sbin/dracut");

	*ret = (struct initramfs){};
	/* Debian's dracut comes with an update-initramfs of its own. */
	if (fs_exists(fs, "usr/sbin/update-initramfs"))
		ret->command = "update-initramfs -u -k all";
	else if (has_dracut)
		ret->command = "dracut --force --regenerate-all";

	look_into_all(fs, module, ret);
	if (ret->answer != INITRAMFS_UNKNOWN)
		return;
	if (!found(ret, recipe, find_line(fs, recipe, NULL, module)) && has_dracut)
		ask_dracut(fs, n, module, ret);
}
