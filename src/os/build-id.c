/* SPDX-License-Identifier: Apache-2.0 */
#include "build-id.h"

#include <elf.h>
#include <endian.h>

#define MAX_FILE_BYTES  (256u << 20)
#define MAX_NOTES_BYTES 65536

#define ALIGN4(n) (((n) + 3) & ~(size_t)3)

/* Each note has a head, a name and a description, each padded to a multiple of 4 bytes. */
static int find_note(const char *bytes, size_t size, char ret[static BUILD_ID_LEN])
{
	Elf64_Nhdr head;

	while (size >= sizeof(head)) {
		size_t name, total;
		const char *id;

		memcpy(&head, bytes, sizeof(head));
		if (head.n_namesz > size || head.n_descsz > size)
			return -ENOEXEC;
		name = ALIGN4((size_t)head.n_namesz);
		total = sizeof(head) + name + ALIGN4((size_t)head.n_descsz);
		if (total > size)
			return -ENOEXEC;

		id = bytes + sizeof(head) + name;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof("GNU") &&
		    memcmp(bytes + sizeof(head), "GNU", sizeof("GNU")) == 0 && head.n_descsz > 0 &&
		    2 * head.n_descsz < BUILD_ID_LEN) {
			for (size_t i = 0; i < head.n_descsz; i++)
				snprintf(ret + 2 * i, 3, "%02x", (unsigned char)id[i]);
			return 0;
		}
		bytes += total;
		size -= total;
	}
	return -ENOENT;
}

int build_id_parse(const char *bytes, size_t size, char ret[static BUILD_ID_LEN])
{
	const unsigned char data = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	Elf64_Ehdr head;
	int r = -ENOENT;

	if (size < sizeof(head))
		return -ENOEXEC;
	memcpy(&head, bytes, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_ident[EI_DATA] != data || head.e_shentsize != sizeof(Elf64_Shdr) ||
	    head.e_shoff > size || (size - head.e_shoff) / sizeof(Elf64_Shdr) < head.e_shnum)
		return -ENOEXEC;

	for (size_t i = 0; i < head.e_shnum && r == -ENOENT; i++) {
		Elf64_Shdr section;

		memcpy(&section, bytes + head.e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_type != SHT_NOTE)
			continue;
		if (section.sh_offset > size || section.sh_size > size - section.sh_offset)
			return -ENOEXEC;
		r = find_note(bytes + section.sh_offset, section.sh_size, ret);
	}
	return r;
}

int build_id_of_file(const struct fs *fs, const char *path, char ret[static BUILD_ID_LEN])
{
	_cleanup_(freep) char *bytes = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, path, MAX_FILE_BYTES, true, &bytes, &size);
	return r < 0 ? r : build_id_parse(bytes, size, ret);
}

int build_id_of_module(const struct fs *fs, const char *module, char ret[static BUILD_ID_LEN])
{
	_cleanup_(freep) char *bytes = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, FS_PATH("sys/module/%s/notes/.note.gnu.build-id", module),
			MAX_NOTES_BYTES, true, &bytes, &size);
	return r < 0 ? r : find_note(bytes, size, ret);
}
