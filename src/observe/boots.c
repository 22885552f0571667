/* SPDX-License-Identifier: Apache-2.0 */
#include "boots.h"

#include "../base/document.h"
#include "../base/log.h"
#include "../model/paths.h"

#include <fcntl.h>
#include <sys/stat.h>

#define MAX_BYTES (256u << 10) /* a full one has a fifth of it */
#define SCHEMA    1

static bool get_text(const json_t *object, const char *key, char *ret, size_t size)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (!text || !copy(ret, size, text))
		return false;
	make_printable(ret);
	return true;
}

static bool parse_step(const json_t *object, struct boot_step *s)
{
	const json_t *result = json_object_get(object, "result");

	s->verb = verb_from_name(document_get_text(object, "verb"));
	if (s->verb == _VERB_N || !json_is_integer(result) || json_integer_value(result) > 0 ||
	    json_integer_value(result) < -4095 || /* MAX_ERRNO */
	    !get_text(object, "target", s->target, sizeof(s->target)) ||
	    !get_text(object, "to", s->to, sizeof(s->to)) ||
	    !get_text(object, "config", s->config, sizeof(s->config)) ||
	    !get_text(object, "driver", s->driver, sizeof(s->driver)) ||
	    !get_text(object, "firmware", s->firmware, sizeof(s->firmware)) ||
	    !get_text(object, "program", s->program, sizeof(s->program)))
		return false;
	s->result = (int)json_integer_value(result);
	s->is_skipped = json_is_true(json_object_get(object, "skipped"));
	return true;
}

static bool parse_boot(const json_t *object, struct boot *b)
{
	const json_t *time = json_object_get(object, "time"), *step;
	const json_t *steps = json_object_get(object, "steps");
	const json_t *nics = json_object_get(object, "node_nics"), *nic;
	char state[16];
	size_t i;

	if (!get_text(object, "boot_id", b->boot_id, sizeof(b->boot_id)) || !b->boot_id[0] ||
	    !get_text(object, "kernel", b->kernel, sizeof(b->kernel)) ||
	    !get_text(object, "state", state, sizeof(state)) || !json_is_integer(time) ||
	    json_integer_value(time) < 0 || !json_is_array(steps))
		return false;
	b->time = json_integer_value(time);
	b->state = _NODE_STATE_N;
	for (int s = 0; s < _NODE_STATE_N; s++)
		if (streq(state, node_state_name((enum node_state)s)))
			b->state = (enum node_state)s;
	json_array_foreach(steps, i, step) if (b->n_steps < MAX_BOOT_STEPS &&
					       parse_step(step, &b->steps[b->n_steps]))
		b->n_steps++;
	b->knows_node_nics = json_is_array(nics);
	json_array_foreach(nics, i, nic) if (b->n_node_nics < MAX_NODE_NICS &&
					     json_is_string(nic) &&
					     copy(b->node_nics[b->n_node_nics], PCI_LEN,
						  json_string_value(nic)))
		make_printable(b->node_nics[b->n_node_nics++]);
	return b->state != _NODE_STATE_N;
}

/* An entry that is malformed loses itself alone. Return: 0, -EINVAL or -ENOMEM. */
static int parse(const char *text, size_t size, struct node *n)
{
	_cleanup_(freep) struct boot *boots = NULL;
	json_auto_t *document = NULL;
	const json_t *list, *object;
	size_t i;
	int r;

	r = document_parse(text, size, JSON_REJECT_DUPLICATES, &document, NULL);
	if (r < 0)
		return r;
	list = json_object_get(document, "boots");
	if (json_integer_value(json_object_get(document, "schema")) != SCHEMA ||
	    !json_is_array(list))
		return -EINVAL;
	boots = calloc(MAX_BOOTS, sizeof(*boots));
	if (!boots)
		return -ENOMEM;
	json_array_foreach(list, i, object)
	{
		struct boot b = {};

		if (i + MAX_BOOTS < json_array_size(list)) /* the last count */
			continue;
		if (parse_boot(object, &b))
			boots[n->n_boots++] = b;
		else
			log_warning("/" BOOTS_PATH ": entry %zu is damaged and not used", i);
	}

	n->boots = TAKE(boots);
	return 0;
}

/*
 * Which build this is: a package keeps the time of its files. Of another tree it is the one that
 * ran there last.
 */
static void tell_program(const struct fs *fs, struct node *n)
{
	_cleanup_(closep) int fd = -EBADF;
	struct stat st;

	COPY(n->program, PROJECT_VERSION);
	fd = fs->is_live ? fs_open(fs, "proc/self/exe", O_PATH) : -EBADF;
	if (fd >= 0 && fstat(fd, &st) >= 0)
		snprintf(n->program, sizeof(n->program), "%s %lld %lld", PROJECT_VERSION,
			 (long long)st.st_size, (long long)st.st_mtim.tv_sec);

	for (size_t i = 0; i < n->n_boots && !fs->is_live; i++)
		if (n->boots[i].n_steps > 0)
			COPY(n->program, n->boots[i].steps[n->boots[i].n_steps - 1].program);
}

int observe_boots(const struct fs *fs, struct node *n)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, BOOTS_PATH, MAX_BYTES, false, &text, &size);
	if (r >= 0)
		r = parse(text, size, n);
	if (r == -ENOMEM)
		return r;
	if (r == -EINVAL || r == -EFBIG)
		log_warning("/" BOOTS_PATH ": is damaged and not used: what earlier boots failed "
			    "at is not known");
	else if (r < 0 && r != -ENOENT)
		log_debug_errno(r, "/" BOOTS_PATH);
	tell_program(fs, n);
	return 0;
}

static json_t *make_step(const struct boot_step *s)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:b}", "verb",
			 verb_name(s->verb), "target", document_text(s->target), "to",
			 document_text(s->to), "config", document_text(s->config), "driver",
			 document_text(s->driver), "firmware", document_text(s->firmware),
			 "program", document_text(s->program), "result", s->result, "skipped",
			 s->is_skipped);
}

static json_t *make_boot(const struct boot *b)
{
	json_auto_t *steps = json_array(), *nics = json_array();

	for (size_t i = 0; i < b->n_steps; i++)
		if (json_array_append_new(steps, make_step(&b->steps[i])) < 0)
			return NULL;
	for (size_t i = 0; i < b->n_node_nics; i++)
		if (json_array_append_new(nics, document_text(b->node_nics[i])) < 0)
			return NULL;
	return json_pack("{s:o, s:I, s:o, s:s, s:O, s:O*}", "boot_id", document_text(b->boot_id),
			 "time", (json_int_t)b->time, "kernel", document_text(b->kernel), "state",
			 node_state_name(b->state), "steps", steps, "node_nics",
			 b->knows_node_nics ? nics : NULL);
}

int boots_write(const struct fs *fs, const struct boot *boots, size_t n)
{
	json_auto_t *list = json_array(), *document = NULL;
	_cleanup_(freep) char *json = NULL, *text = NULL;
	int r;

	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(list, make_boot(&boots[i])) < 0)
			return -ENOMEM;
	document = json_pack("{s:i, s:O}", "schema", SCHEMA, "boots", list);
	json = document ? json_dumps(document, JSON_INDENT(1)) : NULL;
	if (!json || asprintf(&text, "%s\n", json) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	r = fs_replace(fs, BOOTS_PATH, text, strlen(text), 0644);
	return MIN(r, 0);
}
