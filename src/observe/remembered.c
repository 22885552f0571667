/* SPDX-License-Identifier: Apache-2.0 */
#include "remembered.h"

#include "../model/paths.h"

#define MAX_BYTES (1u << 20)
#define STATES    "states"
#define PATHS     "paths"
#define ALIASES   "modaliases"

static json_t *read_file(const struct fs *fs, const char *key)
{
	_cleanup_(freep) char *text = NULL;
	json_t *known;
	size_t size;

	if (fs_read_all(fs, MODULES_PATH, MAX_BYTES, true, &text, &size) < 0)
		return NULL;
	known = json_loads(text, 0, NULL);
	if (known && json_is_string(json_object_get(known, "key")) &&
	    streq(json_string_value(json_object_get(known, "key")), key) &&
	    json_is_object(json_object_get(known, STATES)) &&
	    json_is_object(json_object_get(known, PATHS)) &&
	    json_is_object(json_object_get(known, ALIASES)))
		return known;
	json_decref(known);
	return NULL;
}

int remembered_open(struct doors *d, time_t now, struct remembered *ret)
{
	struct remembered k = {};
	int r;

	if (!d->fs.is_live) {
		*ret = k;
		return 0;
	}

	/* It may have read modprobe.d before the last change of it, which the key has. */
	modules_forget(&d->modules);
	r = modules_key(&d->modules, now, &k.key);
	if (r == -ENOMEM)
		return r;
	if (r >= 0) {
		k.known = read_file(&d->fs, k.key);
		if (!k.known)
			k.known = json_pack("{s:s, s:{}, s:{}, s:{}}", "key", k.key, STATES, PATHS,
					    ALIASES);
		if (!k.known) {
			remembered_done(&k);
			return -ENOMEM;
		}
	}

	*ret = k;
	return 0;
}

void remembered_done(struct remembered *k)
{
	json_decref(k->known);
	free(k->key);
	*k = (struct remembered){};
}

static const json_t *find(const struct remembered *k, const char *kind, const char *name)
{
	return json_object_get(json_object_get(k->known, kind), name);
}

/* A name that is no UTF-8 is asked for again. */
static void add(struct remembered *k, const char *kind, const char *name, json_t *answer)
{
	if (!k->known)
		json_decref(answer);
	else if (json_object_set_new(json_object_get(k->known, kind), name, answer) >= 0)
		k->is_new = true;
}

/* Text, or -ENOENT, which is an answer as well. */
static bool find_text(const struct remembered *k, const char *kind, const char *name, char *ret,
		      size_t size, int *ret_result)
{
	const json_t *answer = find(k, kind, name);

	if (json_is_null(answer)) {
		*ret_result = -ENOENT;
		return true;
	}
	*ret_result = 0;
	return json_is_string(answer) && copy(ret, size, json_string_value(answer));
}

int remembered_look(struct doors *d, struct remembered *k, const char *name, enum module_state *ret)
{
	const json_t *answer = find(k, STATES, name);
	int r;

	if (json_is_integer(answer) && json_integer_value(answer) >= 0 &&
	    json_integer_value(answer) < _MODULE_STATE_N) {
		*ret = (enum module_state)json_integer_value(answer);
		return 0;
	}

	r = module_look(&d->modules, name, ret);
	if (r >= 0)
		add(k, STATES, name, json_integer(*ret));
	return r;
}

int remembered_path(struct doors *d, struct remembered *k, struct module *m)
{
	int r;

	if (find_text(k, PATHS, m->name, m->path, sizeof(m->path), &r))
		return r;

	r = module_read(&d->modules, false, m);
	if (r >= 0)
		add(k, PATHS, m->name, json_string(m->path));
	else if (r == -ENOENT)
		add(k, PATHS, m->name, json_null());
	return r;
}

int remembered_resolve(struct doors *d, struct remembered *k, const char *modalias, char *ret,
		       size_t size)
{
	int r;

	if (find_text(k, ALIASES, modalias, ret, size, &r))
		return r;

	r = module_resolve(&d->modules, modalias, ret, size);
	if (r >= 0)
		add(k, ALIASES, modalias, json_string(ret));
	else if (r == -ENOENT)
		add(k, ALIASES, modalias, json_null());
	return r;
}

int remembered_text(const struct remembered *k, char **ret)
{
	*ret = NULL;
	if (!k->is_new)
		return 0;
	*ret = json_dumps(k->known, JSON_INDENT(1) | JSON_SORT_KEYS);
	return *ret ? 0 : -ENOMEM;
}
