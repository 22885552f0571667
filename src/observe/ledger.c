/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger.h"

#include "../base/document.h"
#include "../base/log.h"
#include "../model/paths.h"

static bool get_number(json_t *object, const char *key, uint64_t max, uint64_t *ret)
{
	json_t *number = json_object_get(object, key);

	if (!json_is_integer(number) || json_integer_value(number) < 0 ||
	    (uint64_t)json_integer_value(number) > max)
		return false;
	*ret = (uint64_t)json_integer_value(number);
	return true;
}

static bool parse_entry(json_t *object, struct ledger_entry *e)
{
	uint64_t ifindex, n, total;

	if (!document_get_name(object, "verb", e->verb, sizeof(e->verb)) ||
	    !document_get_name(object, "target", e->target, sizeof(e->target)) ||
	    !document_get_name(object, "subject", e->subject, sizeof(e->subject)) ||
	    !document_get_name(object, "from", e->from, sizeof(e->from)) ||
	    !document_get_name(object, "to", e->to, sizeof(e->to)) ||
	    !get_number(object, "ifindex", UINT32_MAX, &ifindex) ||
	    !get_number(object, "n", UINT32_MAX, &n) ||
	    !get_number(object, "total", UINT32_MAX, &total) ||
	    !get_number(object, "since_usec", INT64_MAX, &e->since_usec))
		return false;
	e->ifindex = (uint32_t)ifindex;
	e->n = (uint32_t)n;
	e->total = (uint32_t)total;
	return true;
}

int ledger_read(const struct fs *fs, struct ledger_entry **ret, size_t *ret_n)
{
	_cleanup_(freep) struct ledger_entry *entries = NULL;
	_cleanup_(freep) char *text = NULL;
	json_auto_t *root = NULL;
	size_t n = 0, size, i;
	json_t *object;
	int r;

	r = fs_read_all(fs, LEDGER_PATH, MAX_LEDGER_BYTES, false, &text, &size);
	if (r < 0)
		return r == -ENOMEM ? r : 0;

	r = document_parse(text, strlen(text), JSON_REJECT_DUPLICATES, &root, NULL);
	if (r == -ENOMEM)
		return r;
	if (!json_is_array(root))
		log_warning("/" LEDGER_PATH ": is damaged and not used: what was there before "
			    "our changes is not known");
	json_array_foreach(root, i, object)
	{
		struct ledger_entry *e = APPEND(entries, n);

		if (!e)
			return -ENOMEM;
		if (!parse_entry(object, e)) {
			log_warning("/" LEDGER_PATH ": entry %zu is damaged and not used", i);
			n--;
		}
	}
	*ret = TAKE(entries);
	*ret_n = n;
	return 0;
}

int ledger_write(const struct fs *fs, const struct ledger_entry *entries, size_t n)
{
	_cleanup_(freep) char *text = NULL;
	json_auto_t *root = json_array();
	int r;

	for (size_t i = 0; i < n; i++) {
		const struct ledger_entry *e = &entries[i];
		json_t *object = json_pack(
			"{s:o,s:o,s:I,s:o,s:o,s:o,s:I,s:I,s:I}", "verb", document_name(e->verb),
			"target", document_name(e->target), "ifindex", (json_int_t)e->ifindex,
			"subject", document_name(e->subject), "from", document_name(e->from), "to",
			document_name(e->to), "n", (json_int_t)e->n, "since_usec",
			(json_int_t)e->since_usec, "total", (json_int_t)e->total);

		if (json_array_append_new(root, object) < 0)
			return -ENOMEM;
	}
	text = json_dumps(root, JSON_INDENT(1));
	if (!text)
		return -ENOMEM;
	r = fs_replace(fs, LEDGER_PATH, text, strlen(text), 0644);
	return MIN(r, 0);
}
