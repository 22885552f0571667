/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "plugin-facts.h"

void lint_done(struct lint *l)
{
	free(l->exposed);
	free(l->findings);
	*l = (struct lint){};
}

void questions_done(struct questions *q)
{
	free(q->ibdevs);
	free(q->lookups);
	free(q->functions);
	*q = (struct questions){};
}

bool questions_name(const struct questions *q, const char *pci)
{
	return ANY(f, q->functions, q->n_functions, streq(*f, pci));
}

int questions_add_function(struct questions *q, const char *pci)
{
	char(*slot)[PCI_LEN];

	if (questions_name(q, pci))
		return 0;
	slot = APPEND(q->functions, q->n_functions);
	if (!slot)
		return -ENOMEM;
	COPY(*slot, pci);
	return 0;
}

bool questions_ask(const struct questions *q, enum question question)
{
	return q->set & (1u << question);
}

void plan_done(struct plan *p)
{
	graph_done(&p->graph);
	free(p->actions);
	action_texts_done(&p->texts);
	text_index_done(&p->by_target);
	free(p->identities);
	text_index_done(&p->by_identity);
	free(p->nic_netdevs);
	questions_done(&p->questions);
	free(p->needs);
	free(p->devices);
	free(p->unmanaged);
	free(p->options);
	free(p->rules);
	free(p->plugin);
	free(p->manifest);
	lint_done(&p->lint);
	for (size_t i = 0; i < _OUTPUT_N; i++)
		free(p->outputs[i].text);
	free(p->reasons);
	free(p->health);
	*p = (struct plan){};
}

int plan_result(const struct plan *p)
{
	return p->texts.is_short ? -ENOMEM : 0;
}

struct action *plan_add(struct plan *p, enum verb verb, const char *target)
{
	struct action *a = APPEND(p->actions, p->n_actions);

	p->texts.is_short |= !a;
	a = a ?: &p->spare;
	*a = (struct action){ .step = verb_step(verb),
			      .verb = verb,
			      .target = action_text(&p->texts, target),
			      .subject = "",
			      .detail = "",
			      .error = "" };
	/* Without memory for it each action is looked at. */
	text_index_add(&p->by_target, a->target);
	return a;
}

void plan_index(struct plan *p)
{
	text_index_done(&p->by_target);
	for (size_t i = 0; i < p->n_actions; i++)
		text_index_add(&p->by_target, p->actions[i].target);
}

const struct action *plan_next(const struct plan *p, const char *target, const struct action *last)
{
	size_t i = last ? (size_t)(last - p->actions) : SIZE_MAX;

	do
		i = text_index_next(&p->by_target, p->n_actions, target, i);
	while (i != SIZE_MAX && !streq(p->actions[i].target, target));
	return i == SIZE_MAX ? NULL : &p->actions[i];
}

struct action *plan_add_reason(struct plan *p, enum verb verb, enum class class, const char *target,
			       enum reason reason)
{
	struct action *a = plan_add(p, verb, target);

	a->class = class;
	a->reason = reason;
	return a;
}

static const char *print_text(struct plan *p, const char *format, va_list ap)
{
	char s[ACTION_TEXT_LEN];

	vsnprintf(s, sizeof(s), format, ap);
	return action_text(&p->texts, s);
}

const char *plan_text(struct plan *p, const char *format, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, format);
	text = print_text(p, format, ap);
	va_end(ap);
	return text;
}

void plan_add_wait(struct plan *p, enum step step, enum class class, const char *target,
		   enum reason reason, const char *format, ...)
{
	struct action *a = plan_add_reason(p, VERB_WAIT, class, target, reason);
	va_list ap;

	a->step = step;
	va_start(ap, format);
	if (format)
		a->detail = print_text(p, format, ap);
	va_end(ap);
}

void plan_add_item(struct plan *p, enum verb verb, enum class class, const char *target,
		   enum reason reason, const char *format, ...)
{
	struct action *a = plan_add_reason(p, verb, class, target, reason);
	va_list ap;

	va_start(ap, format);
	if (format)
		a->detail = print_text(p, format, ap);
	va_end(ap);
}

void plan_add_hint(struct plan *p, enum reason reason, const char *target, const char *format, ...)
{
	/* the group of model/reason.h */
	const bool is_health = reason >= REASON_PCIE_SLOW && reason <= REASON_GPU_WITHOUT_NIC;
	struct diagnostic d = { .reason = reason };
	va_list ap;

	COPY(d.target, target);
	va_start(ap, format);
	if (format)
		vsnprintf(d.detail, sizeof(d.detail), format, ap);
	va_end(ap);
	if (is_health)
		PLAN_ADD(p, health, d);
	else
		PLAN_ADD(p, reasons, d);
}

bool plan_has_plugin_file(const struct node *n, const struct plan *p)
{
	return p->plugin && n->plugin_file && streq(n->plugin_file, p->plugin);
}

bool plan_has_open_changes(const struct plan *p)
{
	return ANY(a, p->actions, p->n_actions, action_is_open(a));
}

static int compare_device(const void *key, const void *element)
{
	const struct pci *a = key, *b = ((const struct device *)element)->pci;
	int r = strcmp(a->physfn[0] ? a->physfn : a->address,
		       b->physfn[0] ? b->physfn : b->address);

	if (r == 0)
		r = (a->physfn[0] != '\0') - (b->physfn[0] != '\0');
	return r ? r : (a->vf_index > b->vf_index) - (a->vf_index < b->vf_index);
}

const struct need *plan_need(const struct plan *p, const char *pci)
{
	return SEARCH(pci, p->needs, p->n_needs, compare_text);
}

void plan_describe_need(const struct need *k, char *ret, size_t size)
{
	snprintf(ret, size, "%s%s", k->is_by_vf ? "by one of its VFs: " : "", k->words);
}

void plan_describe_aside(const struct plan *p, const struct device *d, char *ret, size_t size)
{
	size_t n_match = 0, n_out = 0, n = 0;

	for (size_t i = 0; i < p->n_devices; i++) {
		const bool is_like = !p->devices[i].is_vf && p->devices[i].config == d->config;

		n_match += is_like;
		n_out += is_like && p->devices[i].aside != REASON_NONE;
	}
	if (!d->is_vf)
		n = (size_t)snprintf(ret, size, "%zu match%s, %zu %s left out: %s, ", n_match,
				     n_match == 1 ? "es" : "", n_out, n_out == 1 ? "is" : "are",
				     reason_code(d->aside));
	if (d->need)
		plan_describe_need(d->need, ret + n, size - n);
	else
		snprintf(ret + n, size - n, "%s%s", d->used_by,
			 d->use == DEVICE_ADDRESSED ? "; VirtualFunctions=exclusive hands it out, "
						      "until the pod ends"
						    : "");
}

const struct device *plan_device(const struct plan *p, const struct pci *pci)
{
	return SEARCH(pci, p->devices, p->n_devices, compare_device);
}

const struct action *plan_num_vfs(const struct plan *p, const char *pf)
{
	const struct action *a = NULL;

	while ((a = plan_next(p, pf, a)) && a->verb != VERB_SET_NUM_VFS)
		;
	return a;
}

bool plan_has_needed_changes(const struct plan *p)
{
	return ANY(a, p->actions, p->n_actions, action_is_open(a) && !action_is_best_effort(a));
}

const char *device_advice(const struct device *d)
{
	return d->advice ? d->advice : reason_advice(d->reason);
}

bool device_is_infiniband(const struct device *d)
{
	return d->ibdev ? ANY(p, d->ibdev->ports, d->ibdev->n_ports,
			      streq(p->link_layer, "InfiniBand"))
			: d->pci && d->pci->class >> 8 == CLASS_INFINIBAND;
}

uint64_t device_usable_usec(const struct node *n, const struct memory *memory,
			    const struct device *d)
{
	const struct device_memory *m = memory_device(memory, d->pci->address);

	if (m && m->usable_instance == d->pci->instance)
		return m->usable_usec;
	return *memory->last_hash ? n->now_usec : 0;
}

const struct device *plan_missed_by(const struct config *c, const struct node *n,
				    const struct memory *memory, const struct plan *p,
				    const struct plugin_process *driver)
{
	uint64_t last_usec = driver->started_usec;
	const struct device *last = NULL;

	FOREACH_WHILE(d, p->devices, p->n_devices, c->plugin.type == PLUGIN_DRA_SRIOV) {
		if (!d->is_vf || !d->is_handed_out || !d->is_usable ||
		    device_usable_usec(n, memory, d) <= last_usec)
			continue;
		last = d;
		last_usec = device_usable_usec(n, memory, d);
	}
	return last;
}

bool device_lacks_carrier(const struct device *d)
{
	if (d->netdev)
		return d->netdev->is_up && !d->netdev->has_carrier;
	return !d->is_in_pod && d->ibdev && d->ibdev->n_ports > 0 &&
	       !ANY(p, d->ibdev->ports, d->ibdev->n_ports,
		    !streq(p->link_layer, "InfiniBand") || !streq(p->state, "DOWN"));
}
