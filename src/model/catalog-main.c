/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the message catalog: what "journalctl -x" says below a line of ours, made of the table of
 * reasons when the program is built, so that the two cannot differ. Never installed.
 *
 * Format: https://systemd.io/CATALOG. @FIELD@ is put in by journalctl, from the line's own fields.
 */
#include "message.h"

#define WIDTH 76 /* journalctl does not fold, and puts a mark before each line */

static void put_folded(const char *text)
{
	size_t at = 0;

	while (*text) {
		const size_t n = strcspn(text, " ");

		if (at > 0 && at + 1 + n > WIDTH) {
			putchar('\n');
			at = 0;
		}
		at += (size_t)printf("%s%.*s", at > 0 ? " " : "", (int)n, text);
		text += n + strspn(text + n, " ");
	}
	putchar('\n');
}

static void put_head(const char *name, const char *subject)
{
	char id[MESSAGE_ID_LEN];

	message_id(name, id);
	printf("\n# %s\n-- %s\nSubject: %s\nDefined-By: rdma-provision\n"
	       "Documentation: man:rdma-provision(8)\n\n",
	       name, id, subject);
}

static void put_reason(enum reason r)
{
	char subject[320];

	PRINT(subject, "@RDMA_TARGET@: %s", reason_meaning(r));
	put_head(reason_code(r), subject);
	fputs("@RDMA_DETAIL@\n\nWhat to do:\n", stdout);
	put_folded(reason_advice(r));
	fputs("\n\"rdma-provision explain DEVICE\" and \"rdma-provision status\" show the state "
	      "now.\n",
	      stdout);
}

int main(void)
{
	fputs("# SPDX-License-Identifier: Apache-2.0\n"
	      "# Made of src/model/reason.c and src/model/message.c. See journalctl -x.\n",
	      stdout);
	for (enum message m = 0; m < _MESSAGE_N; m++)
		if (messages[m].subject) {
			put_head(messages[m].name, messages[m].subject);
			put_folded(messages[m].body);
		}
	for (int i = REASON_NONE + 1; i < _REASON_N; i++)
		put_reason((enum reason)i);
	return fflush(stdout) != 0 || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
