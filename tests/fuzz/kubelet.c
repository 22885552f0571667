/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz: what an edit leaves of a kubelet's configuration, YAML or JSON, whatever the text is.
 *
 * What edit_set() gives parses, has our value under our key and every other scalar of the first two
 * levels as it was, and of JSON everything else; a second run changes nothing; a value of NULL of a
 * key that was not there before gives back the text byte for byte. What is refused has no result to
 * look at.
 *
 * How the kubelet's files are found and which of them decides is in the target "tree".
 */
#include <jansson.h>
#include <signal.h>

#include "../../src/kubelet/edit.h"
#include "../../src/kubelet/sources.h"
#include "../../src/kubelet/yaml.h"
#include "../../src/model/kubelet.h"
#include "fuzz.h"

#define KEY "topologyManagerPolicy"

static bool is_ours(const struct yaml_item *item)
{
	return streq(item->key, KEY);
}

static void compare(const struct yaml_items *a, const struct yaml_items *b)
{
	size_t k = 0;

	for (size_t i = 0; i < a->n_items; i++) {
		const struct yaml_item *x = &a->items[i], *y;

		if (is_ours(x))
			continue;
		while (k < b->n_items && is_ours(&b->items[k]))
			k++;
		require(k < b->n_items);
		y = &b->items[k++];
		require(streq(x->key, y->key) && streq(x->sub, y->sub) && streq(x->text, y->text));
		require(x->is_null == y->is_null && x->is_plain == y->is_plain &&
			x->is_listed == y->is_listed && x->is_odd == y->is_odd);
	}
	while (k < b->n_items && is_ours(&b->items[k]))
		k++;
	require(k == b->n_items);
}

/* Everything but our key, at all levels. */
static void compare_json(const char *a, size_t a_size, const char *b, size_t b_size)
{
	json_auto_t *x = json_loadb(a, a_size, 0, NULL), *y = json_loadb(b, b_size, 0, NULL);

	require(x && y);
	json_object_del(x, KEY);
	json_object_del(y, KEY);
	require(json_equal(x, y));
}

/* How many bytes there are in @b that are not in @a before or behind the place of a change. */
static size_t count_new(const char *a, size_t a_size, const char *b, size_t b_size)
{
	const size_t most = MIN(a_size, b_size);
	size_t before = 0, behind = 0;

	while (before < most && a[before] == b[before])
		before++;
	while (behind < most - before && a[a_size - 1 - behind] == b[b_size - 1 - behind])
		behind++;
	return b_size - before - behind;
}

static void look(const char *text, size_t size, const char *value)
{
	_cleanup_(yaml_items_done) struct yaml_items before = {}, after = {};
	_cleanup_(freep) char *out = NULL, *again = NULL, *back = NULL;
	const struct yaml_item *item;
	size_t out_size, again_size, back_size;
	struct yaml_fault fault;
	int r;

	r = edit_set(text, size, KEY, value, &out, &out_size);
	if (r < 0)
		return;

	require(yaml_read(text, size, YAML_KUBELET, &before, &fault) == 0);
	require(yaml_read(out, out_size, YAML_KUBELET, &after, &fault) == 0);
	item = yaml_find(&after, KEY, "");
	require(item && !item->is_odd && !item->is_null && streq(item->text, value));
	compare(&before, &after);
	if (before.is_json)
		compare_json(text, size, out, out_size);
	/* A value that was there gives way to ours, and that is all there is new. */
	if (yaml_find(&before, KEY, ""))
		require(count_new(text, size, out, out_size) <= strlen("\"\" ") + strlen(value));
	require((r == 0) == (out_size == size && memcmp(out, text, size) == 0));

	require(edit_set(out, out_size, KEY, value, &again, &again_size) == 0);
	require(again_size == out_size && memcmp(again, out, out_size) == 0);

	if (yaml_find(&before, KEY, ""))
		return;
	require(edit_set(out, out_size, KEY, NULL, &back, &back_size) == 1);
	require(back_size == size && memcmp(back, text, size) == 0);
}

/* The copy for a recorder gives the same answers. */
static void look_at_copy(const char *text, size_t size)
{
	_cleanup_(yaml_items_done) struct yaml_items items = {}, again = {};
	_cleanup_(stream_done) struct stream copy = {};
	struct yaml_fault fault;

	if (yaml_read(text, size, YAML_KUBELET, &items, &fault) < 0)
		return;
	require(sources_write_kept(&items, &copy) == 0 && stream_close(&copy) == 0);
	require(yaml_read(copy.text, copy.size, YAML_KUBELET, &again, &fault) == 0);
	require(again.is_fixed == items.is_fixed);
	require(yaml_has_duplicates(&again) == yaml_has_duplicates(&items));
	for (int s = 0; s < _KUBELET_SETTING_N; s++) {
		const char *key = kubelet_key((enum kubelet_setting)s);
		const struct yaml_item *a = yaml_find(&items, key, ""),
				       *b = yaml_find(&again, key, "");

		require(!a == !b);
		require(!a ||
			(a->is_odd == b->is_odd && a->is_null == b->is_null && a->line == b->line &&
			 (a->is_null || strlen(a->text) == strlen(b->text))));
	}
}

/* What is not edited: the configuration of RKE2 and k3s. */
static void read_any(const char *text, size_t size)
{
	_cleanup_(yaml_items_done) struct yaml_items items = {};
	struct yaml_fault fault;

	if (yaml_read(text, size, YAML_ANY, &items, &fault) >= 0)
		yaml_has_duplicates(&items);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(freep) char *text = text_of(data, size);

	look(text, size, "best-effort");
	look(text, size, "0-1,8");
	look_at_copy(text, size);
	read_any(text, size);
	return 0;
}
