/* SPDX-License-Identifier: Apache-2.0 */
#include "cmdline-observe.h"

#define PATH      "proc/cmdline"
#define MAX_BYTES 65536u /* COMMAND_LINE_SIZE is 2048 to 4096 */

/* Beginnings of the words that are read; '-' and '_' are equal to the kernel. */
static const char *const prefixes[] = {
	"BOOTIF=",
	"bootdev=",
	"ip=",
	"iscsi_target_ip=",
	"nbdroot=",
	"netroot=",
	"nfsroot=",
	"root=",
	"module_blacklist=",
	"modprobe.blacklist=",
	"modules_load=",
	"rd.driver.blacklist=",
	"rd.modules_load=",
	"rdblacklist=",
	"erdma.",
	"ib_core.",
	"ib_umad.",
	"ib_uverbs.",
	"mlx5_core.",
	"mlx5_ib.",
	"mlx_compat.",
	"nvidia.",
	"nvidia_peermem.",
	"rdma_rxe.",
	"rdma_ucm.",
	"smc.",
};

static bool is_read(const char *word)
{
	for (size_t i = 0; i < ELEMENTSOF(prefixes); i++) {
		const char *p = prefixes[i], *w = word;

		while (*p && *p == (*w == '-' ? '_' : *w)) {
			p++;
			w++;
		}
		if (!*p)
			return true;
	}
	return false;
}

/* "netroot=iscsi:user:password@host", "root=cifs://user@host/share" without what is before "@". */
static void drop_secret(char *word)
{
	char *at = strrchr(word, '@'), *colon = strchr(word, ':');

	if (at && colon && colon < at && strstr(word, "root="))
		memmove(colon + 1, at + 1, strlen(at + 1) + 1);
}

/* Cuts the next word out of @text, which loses its quotes: a blank inside quotes belongs to it. */
static char *cut_word(char **text)
{
	char *from = *text + strspn(*text, " \t\n"), *word = from, *to = from;
	bool is_quoted = false;

	for (; *from && (is_quoted || !strchr(" \t\n", *from)); from++)
		if (*from == '"')
			is_quoted = !is_quoted;
		else
			*to++ = *from;
	*text = from + (*from != '\0');
	if (from == word)
		return NULL;
	*to = '\0';
	return word;
}

int cmdline_read(const struct fs *fs, int (*on_word)(void *userdata, const char *word),
		 void *userdata)
{
	_cleanup_(freep) char *text = NULL, *kept = NULL;
	size_t size, n_kept = 0;
	char *rest, *word;
	const char *quote;
	int r = fs_read_all(fs, PATH, MAX_BYTES, true, &text, &size);

	if (r < 0)
		return r == -ENOMEM ? r : 0;

	/* A quote may stand anywhere in a word, and need not be closed: 'a="b c' is longer as "a=b
	 * c". */
	kept = malloc(size + 4);
	if (!kept)
		return -ENOMEM;

	r = 0;
	if (size > 0 &&
	    text[size - 1] == '\n') /* not the kernel's: a quote that stays open would have it */
		text[size - 1] = '\0';
	rest = text;
	while (r >= 0 && (word = cut_word(&rest)) && !streq(word, "--")) {
		if (!is_read(word))
			continue;
		drop_secret(word);
		quote = strpbrk(word, " \t\n") ? "\"" : "";
		n_kept += (size_t)sprintf(kept + n_kept, "%s%s%s%s", n_kept > 0 ? " " : "", quote,
					  word, quote);
		r = on_word(userdata, word);
	}

	n_kept += (size_t)sprintf(kept + n_kept, "\n");
	fs_record(fs, RECORD_FILE, PATH, kept, n_kept);
	return MIN(r, 0);
}
