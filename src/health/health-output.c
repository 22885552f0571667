/* SPDX-License-Identifier: Apache-2.0 */
#include "health-output.h"

#include "../base/document.h"
#include "../model/node.h"

#define NOTHING_KNOWN "There is no state of this boot: is rdma-provision.service running?"

static const struct {
	const char *name;
	const char *list; /* of the document; NULL: its state is meant */
	const char *codes[2];
	const char *ok;
} conditions[] = {
	{ "RdmaNotReady", NULL, { NULL }, NULL },
	{ "RdmaLinkFlapping", "reasons", { "link-flapping", "link-dropped" }, "no link flaps" },
	{ "RdmaPcieDegraded",
	  "health",
	  { "pcie-slow", "pcie-errors" },
	  "no PCIe link is slow or had errors" },
};

static bool is_of(const json_t *item, size_t condition, const char *target)
{
	const char *const *codes = conditions[condition].codes;
	const char *code = document_get_text(item, "code");

	return (streq(code, codes[0]) || (codes[1] && streq(code, codes[1]))) &&
	       (!target || streq(document_get_text(item, "target"), target));
}

/* "0000:41:00.0: link-flapping: 3 losses, ...; ...", of one target or of all. How many? @f: NULL:
 * only counted */
static unsigned put_reasons(const json_t *document, size_t condition, const char *target, FILE *f)
{
	const json_t *list = json_object_get(document, conditions[condition].list);
	unsigned n = 0;

	document_each(item, list) {
		if (!is_of(item, condition, target))
			continue;
		if (f)
			fprintf(f, "%s%s: %s: %s", n > 0 ? "; " : "",
				document_get_text(item, "target"), document_get_text(item, "code"),
				document_get_text(item, "detail"));
		n++;
	}
	return n;
}

static int judge_state(const json_t *document, FILE *f)
{
	const char *state = document_get_text(document, "state");
	const json_t *first = json_array_get(json_object_get(document, "reasons"), 0);

	fprintf(f, "the node is %s", state);
	if (streq(state, node_state_name(NODE_READY)))
		return HEALTH_OK;
	if (first)
		fprintf(f, ": %s %s", document_get_text(first, "target"),
			document_get_text(first, "code"));
	return streq(state, node_state_name(NODE_DEGRADED)) ? HEALTH_NOT_OK : HEALTH_UNKNOWN;
}

/* The first one that is met, or the state. */
static const char *find_condition(const json_t *document)
{
	size_t met = 0;

	if (streq(document_get_text(document, "state"), node_state_name(NODE_READY)))
		for (size_t i = ELEMENTSOF(conditions) - 1; i > 0; i--)
			if (put_reasons(document, i, NULL, NULL) > 0)
				met = i;
	return conditions[met].name;
}

static int judge(const json_t *document, const char *name, FILE *f)
{
	const json_t *nic = json_array_get(json_object_get(document, "devices"), 0);
	size_t i = 0;

	while (i < ELEMENTSOF(conditions) && !streq(conditions[i].name, name))
		i++;
	if (!document || i == ELEMENTSOF(conditions)) {
		fprintf(f,
			document ? "%s is not valid: use RdmaNotReady, RdmaLinkFlapping or "
				   "RdmaPcieDegraded"
				 : NOTHING_KNOWN,
			name);
		return HEALTH_UNKNOWN;
	}
	if (!conditions[i].list)
		return judge_state(document, f);
	if (put_reasons(document, i, NULL, f) > 0)
		return HEALTH_NOT_OK;
	if (streq(document_get_text(document, "state"), node_state_name(NODE_STARTING)))
		return judge_state(document, f);
	if (streq(conditions[i].list, "reasons") && nic && !json_object_get(nic, "link")) {
		fputs("losses of links are not counted: [Health] is not set", f);
		return HEALTH_UNKNOWN;
	}
	fputs(conditions[i].ok, f);
	return HEALTH_OK;
}

/* Return: 0, -ENOENT for none of this boot, -EINVAL or -ENOMEM. */
static int read_document(const char *json, const char *boot_id, json_t **ret)
{
	json_auto_t *document = NULL;
	int r = json ? document_parse(json, strlen(json), 0, &document, NULL) : -ENOENT;

	if (r < 0)
		return r;
	if (boot_id && !streq(document_get_text(document, "boot_id"), boot_id))
		return -ENOENT;
	*ret = TAKE(document);
	return 0;
}

int output_npd(const char *json, const char *boot_id, const char *condition, char **ret)
{
	_cleanup_(stream_done) struct stream out = {};
	json_auto_t *document = NULL;
	int code, r;

	if (read_document(json, boot_id, &document) == -ENOMEM || stream_open(&out) < 0)
		return -ENOMEM;
	code = judge(document, *condition ? condition : find_condition(document), out.f);
	fputc('\n', out.f);
	r = stream_take(&out, ret);
	return r < 0 ? r : code;
}

static bool is_named(const json_t *device, const char *name)
{
	return streq(document_get_text(device, "pci"), name) ||
	       streq(document_get_text(device, "netdev"), name) ||
	       streq(document_get_text(device, "ibdev"), name);
}

static const json_t *find_nic(const json_t *document, const char *name)
{
	document_each(nic, *name ? json_object_get(document, "devices") : NULL)
		if (is_named(nic, name) ||
		    document_any(vf, json_object_get(nic, "vfs"), is_named(vf, name)))
			return nic;
	return NULL;
}

int output_find_nic(const char *json, const char *name, char *ret, size_t size)
{
	json_auto_t *document = NULL;
	const json_t *nic;
	int r = read_document(json, NULL, &document);

	if (r < 0)
		return r;
	nic = find_nic(document, name);
	return nic && copy(ret, size, document_get_text(nic, "pci")) ? 0 : -ENODEV;
}

static int put_nic(const json_t *document, const json_t *nic, FILE *f)
{
	const json_t *link = json_object_get(nic, "link");
	const char *pci = document_get_text(nic, "pci");
	int code = HEALTH_OK;

	fprintf(f, "%s %s %s: ", pci, document_get_text(nic, "netdev"),
		document_get_text(nic, "ibdev"));
	if (link)
		fprintf(f, "link lost %" PRId64 " times%s%s\n", document_get_number(link, "losses"),
			document_get_flag(link, "flapping") ? ", flapping" : "",
			document_get_flag(link, "excluded") ? ", left out of the plugin" : "");
	else
		fputs("losses of the link are not counted\n", f);
	for (size_t i = 1; i < ELEMENTSOF(conditions); i++) {
		if (put_reasons(document, i, pci, f) == 0)
			continue;
		fputc('\n', f);
		code = HEALTH_NOT_OK;
	}
	return code;
}

static int print_document(const json_t *document, const char *name, const json_t *only, char **ret)
{
	json_auto_t *list = name ? json_pack("[O*]", only) : NULL;
	json_auto_t *d =
		json_pack("{s:O?, s:O?, s:O?, s:O?}", "state", json_object_get(document, "state"),
			  "nics", list ? list : json_object_get(document, "devices"), "reasons",
			  json_object_get(document, "reasons"), "health",
			  json_object_get(document, "health"));

	return d && (list || !name) ? document_print(d, ret) : -ENOMEM;
}

int output_health(const char *json, const char *boot_id, const char *name, bool is_json, char **ret)
{
	_cleanup_(stream_done) struct stream out = {};
	json_auto_t *document = NULL;
	const json_t *only;
	int code = HEALTH_OK, r;

	if (read_document(json, boot_id, &document) == -ENOMEM || stream_open(&out) < 0)
		return -ENOMEM;
	only = name ? find_nic(document, name) : NULL;
	document_each(nic, json_object_get(document, "devices")) {
		r = name && nic != only ? HEALTH_OK : put_nic(document, nic, out.f);
		code = MAX(code, r);
	}
	if (!document || (name && !only)) {
		fprintf(out.f, document ? "%s: no managed NIC has this name\n" : NOTHING_KNOWN "\n",
			name);
		code = HEALTH_UNKNOWN;
	}
	r = is_json ? print_document(document, name, only, ret) : stream_take(&out, ret);
	return r < 0 ? r : code;
}
