/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "document.h"

int output_check(const char *const *problems, size_t n_problems, char **ret)
{
	json_auto_t *document = NULL;
	json_t *list = json_array();

	for (size_t i = 0; i < n_problems; i++)
		if (json_array_append_new(list, document_text(problems[i])) < 0) {
			json_decref(list);
			return -ENOMEM;
		}

	document = json_pack("{s:b, s:o}", "valid", n_problems == 0, "problems", list);
	return document ? document_print(document, ret) : -ENOMEM;
}
