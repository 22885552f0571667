/* SPDX-License-Identifier: Apache-2.0 */
#include "catalog.h"

#define WIDTH 76 /* journalctl does not fold, and puts a mark before each line */

static void put_folded(FILE *f, const char *text)
{
	size_t at = 0;

	while (*text) {
		const size_t n = strcspn(text, " ");

		if (at > 0 && at + 1 + n > WIDTH) {
			fputc('\n', f);
			at = 0;
		}
		at += (size_t)fprintf(f, "%s%.*s", at > 0 ? " " : "", (int)n, text);
		text += n + strspn(text + n, " ");
	}
	fputc('\n', f);
}

static void put_head(FILE *f, const char *name, const char *subject)
{
	char id[MESSAGE_ID_LEN];

	message_id(name, id);
	fprintf(f,
		"\n# %s\n-- %s\nSubject: %s\nDefined-By: rdma-provision\n"
		"Documentation: man:rdma-provision(8)\n\n",
		name, id, subject);
}

static void put_reason(FILE *f, enum reason r)
{
	char subject[320];

	snprintf(subject, sizeof(subject), "@RDMA_TARGET@: %s", reason_meaning(r));
	put_head(f, reason_code(r), subject);
	fputs("@RDMA_DETAIL@\n\nWhat to do:\n", f);
	put_folded(f, reason_advice(r));
	fputs("\n\"rdma-provision explain DEVICE\" and \"rdma-provision status\" tell how it is "
	      "now.\n",
	      f);
}

int output_catalog(char **ret)
{
	_cleanup_(freep) char *text = NULL; /* of the stream, valid once that is closed */
	size_t size = 0;
	FILE *f;

	f = open_memstream(&text, &size);
	if (!f)
		return -ENOMEM;

	fputs("# SPDX-License-Identifier: Apache-2.0\n"
	      "# Made of src/model/reason.c and src/model/message.c. See journalctl -x.\n",
	      f);
	for (int m = 0; m < _MESSAGE_N; m++) {
		put_head(f, message_name((enum message)m), message_subject((enum message)m));
		put_folded(f, message_body((enum message)m));
	}
	for (int i = REASON_NONE + 1; i < _REASON_N; i++)
		put_reason(f, (enum reason)i);

	if (text_close(f, &text) < 0)
		return -ENOMEM;
	*ret = TAKE(text);
	return 0;
}
