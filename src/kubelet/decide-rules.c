/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decide: what is to be done about each setting of the kubelet that is asked for, by one table:
 * kubelet_decide() of look.h.
 */
#include "look.h"

#include "cpus.h"
#include "start-rules.h"

/* The kubelet exits above this with any policy, unless an option raises it:
 * pkg/kubelet/cm/topologymanager/topology_manager.go */
#define MAX_NUMA_NODES 8

/* Drop-ins: behind a variable of the environment before 1.30; k3s and RKE2 have a folder of them
 * from 1.32 on. KEP-3983; k3s-io/k3s#2116. */
#define MINOR_DROP_INS 29
#define MINOR_RANCHER  32

/* The facts for one decision: the setting, its value, and the rank that is wanted. */
struct kubelet_question {
	const struct kubelet_found *k;
	const struct kubelet_value *v;
	enum kubelet_setting setting;
	uint32_t want;
};

/* The rank of what our value hides; 0: it is not ours, or that is not a word of the kubelet. */
static uint32_t rank_below(const struct kubelet_question *q)
{
	const struct kubelet_value *below = &q->k->below.values[q->setting];

	return q->k->ours >> q->setting & 1 && !below->is_misspelt ? below->rank : 0;
}

/* A value of ours is no stricter than what is asked for or what it hides. */
static bool is_strict_enough(const struct kubelet_question *q)
{
	return !q->v->is_misspelt &&
	       (q->k->ours >> q->setting & 1 ? q->v->rank == MAX(q->want, rank_below(q))
					     : q->v->rank >= q->want);
}

static bool is_outdone(const struct kubelet_question *q)
{
	return rank_below(q) >= q->want;
}

static bool is_left_out(const struct kubelet_question *q)
{
	return q->k->is_left_out && q->v->source != KUBELET_FLAG;
}

static bool is_managed(const struct kubelet_question *q)
{
	return *q->k->seen.manager && !is_strict_enough(q);
}

static bool exceeds_nodes(const struct kubelet_found *k)
{
	return !*k->unknown && k->n_numa_nodes != CPUS_UNKNOWN &&
	       k->n_numa_nodes > MAX(MAX_NUMA_NODES, k->start.max_numa_nodes);
}

static bool has_too_many_nodes(const struct kubelet_question *q)
{
	return q->setting == KUBELET_TOPOLOGY_POLICY && exceeds_nodes(q->k);
}

static bool is_unread(const struct kubelet_question *q)
{
	return q->v->source == KUBELET_UNKNOWN ||
	       (*q->k->unknown && q->k->n_numa_nodes > MAX_NUMA_NODES);
}

/* A vendor's word, or one of a newer kubelet, or a misspelt stricter one; or it cannot be read. */
static bool is_unknown(const struct kubelet_question *q)
{
	if (is_unread(q) || q->k->n_numa_nodes == CPUS_UNKNOWN)
		return true;
	return q->setting != KUBELET_RESERVED_CPUS &&
	       (q->v->rank == 0 || (q->v->rank > q->want && q->v->is_misspelt));
}

/* A drop-in with which the kubelet ends: find.c notes it as both. */
static bool is_fatal(const struct kubelet_question *q)
{
	return *q->k->unknown && streq(q->k->seen.problem, q->k->unknown);
}

static bool is_unclear(const struct kubelet_question *q)
{
	return *q->k->seen.problem != '\0';
}

static bool is_flag(const struct kubelet_question *q)
{
	return q->v->source == KUBELET_FLAG;
}

/* A file that another program writes first, and fills then. */
static bool lacks_file(const struct kubelet_found *k)
{
	return *k->seen.file && (!k->seen.has_file || k->file_result == -ENODATA);
}

static bool is_waiting(const struct kubelet_question *q)
{
	return q->k->seen.is_waiting || (lacks_file(q->k) && !is_flag(q));
}

static bool is_editable_flag(const struct kubelet_question *q)
{
	return is_flag(q) && q->k->words[q->setting].to > 0;
}

static bool is_flag_and_extra(const struct kubelet_question *q)
{
	return is_flag(q) && *q->k->extra.path && !q->k->words[q->setting].is_behind_extra;
}

static bool is_rancher(const struct kubelet_question *q)
{
	return q->k->flavour == KUBELET_RANCHER;
}

static bool is_rancher_drop_in(const struct kubelet_question *q)
{
	/* With --config-dir they copy what is there at their start, and keep the copy for good. */
	return is_rancher(q) && !is_flag(q) && q->k->minor >= MINOR_RANCHER && *q->k->drop_in &&
	       !q->k->has_dir_flag;
}

/* Flags of the command line come behind those of all files: "CONFIG" and "CONFIG.d/". */
static bool is_rancher_config(const struct kubelet_question *q)
{
	const char *own = q->k->rancher_path, *end = strrchr(own, '/');

	return is_rancher(q) && end &&
	       (!is_flag(q) || strncmp(q->v->path, own, (size_t)(end - own) - 2) == 0);
}

static bool is_rancher_flag(const struct kubelet_question *q)
{
	return is_rancher(q) && is_flag(q);
}

/* A kubelet of unknown version that has the folder without DROP_INS_VARIABLE is 1.30 or newer. */
static bool is_drop_in(const struct kubelet_question *q)
{
	const struct kubelet_found *k = q->k;

	return k->seen.has_folder && *k->drop_in && !is_flag(q) &&
	       (k->minor > 0 ? k->minor >= MINOR_DROP_INS : k->lacks_variable);
}

/* Also where a folder of drop-ins is used by 1.28, or by a kubelet of unknown version. */
static bool is_file(const struct kubelet_question *q)
{
	return q->k->seen.has_file && q->k->file_result == 0 && !q->k->is_fixed &&
	       q->v->source != KUBELET_DROP_IN && !q->k->is_reset && !is_flag(q);
}

static bool is_extra(const struct kubelet_question *q)
{
	return *q->k->extra.path;
}

static bool is_always(_unused_ const struct kubelet_question *q)
{
	return true;
}

/*
 * The decision table: the first row whose condition holds, and whose way was not refused in this
 * run, decides. Its number is what "explain kubelet" prints: rows that answer one question share
 * it. 8 is not in use.
 */
static const struct {
	bool (*is_met)(const struct kubelet_question *q);
	uint32_t row;
	enum kubelet_outcome outcome;
	enum kubelet_way way;
	enum reason reason;
} rows[] = {
	{ is_left_out, 10, KUBELET_WAITING, KUBELET_WAY_NONE, REASON_NOT_RECORDED },
	{ is_managed, 1, KUBELET_REFUSED, KUBELET_WAY_NONE, REASON_KUBELET_MANAGED },
	{ has_too_many_nodes, 2, KUBELET_REFUSED, KUBELET_WAY_NONE, REASON_KUBELET_NUMA_NODES },
	{ is_waiting, 10, KUBELET_WAITING, KUBELET_WAY_NONE, REASON_KUBELET_NO_FILE },
	{ is_strict_enough, 4, KUBELET_SATISFIED, KUBELET_WAY_NONE, REASON_NONE },
	{ is_fatal, 4, KUBELET_REFUSED, KUBELET_WAY_NONE, REASON_KUBELET_VALUE_UNKNOWN },
	{ is_unclear, 12, KUBELET_REFUSED, KUBELET_WAY_NONE, REASON_KUBELET_UNCLEAR },
	{ is_unknown, 4, KUBELET_REFUSED, KUBELET_WAY_NONE, REASON_KUBELET_VALUE_UNKNOWN },
	{ is_outdone, 3, KUBELET_CHANGED, KUBELET_WAY_BACK, REASON_NONE },
	{ is_outdone, 3, KUBELET_REFUSED, KUBELET_WAY_NONE, REASON_KUBELET_FILE_REFUSED },
	{ is_editable_flag, 5, KUBELET_CHANGED, KUBELET_WAY_TOKEN, REASON_NONE },
	{ is_flag_and_extra, 5, KUBELET_CHANGED, KUBELET_WAY_EXTRA, REASON_NONE },
	{ is_rancher_drop_in, 6, KUBELET_CHANGED, KUBELET_WAY_DROP_IN, REASON_NONE },
	{ is_rancher_config, 6, KUBELET_CHANGED, KUBELET_WAY_RANCHER, REASON_NONE },
	{ is_rancher_flag, 6, KUBELET_REFUSED, KUBELET_WAY_NONE, REASON_KUBELET_FLAG_WINS },
	{ is_rancher, 6, KUBELET_REFUSED, KUBELET_WAY_NONE, REASON_KUBELET_FILE_REFUSED },
	{ is_flag, 5, KUBELET_REFUSED, KUBELET_WAY_NONE, REASON_KUBELET_FLAG_WINS },
	{ is_drop_in, 7, KUBELET_CHANGED, KUBELET_WAY_DROP_IN, REASON_NONE },
	{ is_file, 9, KUBELET_CHANGED, KUBELET_WAY_FILE, REASON_NONE },
	{ is_extra, 11, KUBELET_CHANGED, KUBELET_WAY_EXTRA, REASON_NONE },
	{ is_always, 12, KUBELET_REFUSED, KUBELET_WAY_NONE, REASON_KUBELET_FILE_REFUSED },
};

static void show_value(const struct kubelet_question *q, char *ret, size_t size)
{
	const struct kubelet_value *v = q->v;
	char line[16] = "";

	if (v->line > 0)
		PRINT(line, ":%" PRIu32, v->line);
	if (is_unread(q) || is_fatal(q))
		copy(ret, size, q->k->unknown);
	else if (q->k->n_numa_nodes == CPUS_UNKNOWN)
		copy(ret, size, "how many NUMA nodes there are cannot be read");
	else if (v->source == KUBELET_DEFAULT)
		snprintf(ret, size, "%.160s%s%s is not set", q->k->seen.file,
			 *q->k->seen.file ? ": " : "", kubelet_key(q->setting));
	else
		snprintf(ret, size, is_flag(q) ? "%.128s%s: --%s=%.63s" : "%.128s%s: %s: %.63s",
			 *v->path ? v->path : "command line", line,
			 is_flag(q) ? kubelet_flag(q->setting) : kubelet_key(q->setting), v->text);
}

/* Why, with the file, line and value that decide. */
static void explain(const struct kubelet_question *q, struct kubelet_item *item)
{
	const struct kubelet_found *k = q->k;

	show_value(q, item->detail, sizeof(item->detail));
	COPY(item->path, *q->v->path ? q->v->path : k->seen.file);
	switch (item->reason) {
	case REASON_KUBELET_MANAGED:
		PRINT(item->detail, "%s", k->seen.manager);
		break;
	case REASON_KUBELET_NUMA_NODES:
		PRINT(item->detail, "%" PRIu32 " NUMA nodes", q->k->n_numa_nodes);
		break;
	case REASON_KUBELET_UNCLEAR:
		COPY(item->detail, k->seen.problem);
		break;
	case REASON_NOT_RECORDED:
		COPY(item->detail, *k->seen.file && !k->seen.has_file
					   ? k->seen.file
					   : "a file that the kubelet's unit names");
		break;
	case REASON_KUBELET_NO_FILE:
		PRINT(item->detail, "%.200s is %s",
		      *k->seen.file ? k->seen.file : "a file that the kubelet's unit names",
		      k->file_result == -ENODATA ? "empty" : "not there");
		break;
	case REASON_KUBELET_FILE_REFUSED:
		if (*k->blocked_detail)
			COPY(item->detail, k->blocked_detail);
		else if (*k->seen.file_problem)
			PRINT(item->detail, "%.128s: %s", k->seen.file, k->seen.file_problem);
		else if (*k->rival)
			PRINT(item->detail, "%.200s sorts behind each file of ours", k->rival);
		else if (k->is_reset)
			PRINT(item->detail, "%.100s: the drop-ins of kubelet 1.28 reset the policy",
			      k->seen.folder);
		else if (q->v->source == KUBELET_DROP_IN && k->minor == 0 && !k->lacks_variable)
			PRINT(item->detail,
			      "%.140s says %.20s, and the kubelet's version is not known",
			      q->v->path, q->v->text);
		else if (!*k->seen.file && !*k->seen.folder)
			PRINT(item->detail,
			      "the kubelet has neither --config nor a variable for more flags");
		break;
	default:
		break;
	}
}

static const char *text_of(const struct kubelet_value *v, enum kubelet_setting s)
{
	return v->source == KUBELET_UNKNOWN                ? ""
	       : v->source == KUBELET_DEFAULT || !*v->text ? kubelet_word(s, 1)
							   : v->text;
}

static void decide(const struct kubelet_question *q, const char *to, struct kubelet_item *item)
{
	const struct kubelet_question below = { q->k, &q->k->below.values[q->setting], q->setting,
						q->want };
	const char *const paths[_KUBELET_WAY_N] = {
		[KUBELET_WAY_FILE] = q->k->seen.file,
		[KUBELET_WAY_DROP_IN] = q->k->drop_in,
		[KUBELET_WAY_RANCHER] = q->k->rancher_path,
		[KUBELET_WAY_EXTRA] = q->k->extra.path,
	};
	size_t i = 0;

	while (q->k->blocked >> rows[i].way & 1 || !rows[i].is_met(q))
		i++; /* the last one is */
	*item = (struct kubelet_item){ .row = rows[i].row,
				       .outcome = rows[i].outcome,
				       .reason = rows[i].reason };
	COPY(item->from, text_of(q->v, q->setting));
	COPY(item->to, rows[i].is_met == is_outdone ? text_of(below.v, q->setting) : to);
	explain(q, item);
	item->way = rows[i].way;
	if (item->way == KUBELET_WAY_BACK)
		show_value(&below, item->detail, sizeof(item->detail));
	if (paths[item->way])
		COPY(item->path, paths[item->way]);
}

static void refuse(struct kubelet_item *item, enum reason reason, const char *detail)
{
	item->outcome = KUBELET_REFUSED;
	item->way = KUBELET_WAY_NONE;
	item->reason = reason;
	COPY(item->detail, detail);
}

/* Would the kubelet start with the static policy? "": yes. */
static const char *cpu_obstacle(const struct kubelet_cpus *c)
{
	if (c->is_unclear)
		return "the CPU reservation, or --root-dir, is not understood";
	if (c->n_online == 0)
		return "the CPUs that are online are not known";
	if (c->is_list && c->has_cgroup)
		return "reservedSystemCPUs is given with kubeReservedCgroup or "
		       "systemReservedCgroup, which the kubelet refuses";
	if (c->n_reserved == 0 && c->has_cgroup)
		return "kubeReserved has no cpu, and with kubeReservedCgroup or "
		       "systemReservedCgroup no CPUs may be listed";
	if (c->n_reserved == 0 && c->is_by_flag)
		return "--kube-reserved or --system-reserved replaces what the file reserves, and "
		       "has no cpu";
	if (c->n_reserved == 0 && c->n_first_core == 0)
		return "the CPUs of core 0 are not known, or not online";
	if (c->n_reserved == 0 && c->n_first_core >= c->n_online)
		return "there is no core to spare";
	if (c->n_reserved >= c->n_online)
		return "all CPUs are reserved";
	return "";
}

/* A state file of another policy ends every start of the kubelet: its message names that file. */
static bool has_other_state(const struct kubelet_cpus *c)
{
	return *c->checkpoint && !streq(c->checkpoint, "static");
}

static void decide_cpus(const struct kubelet_found *k, struct kubelet_decision *ret)
{
	struct kubelet_item *item = &ret->items[KUBELET_CPU_POLICY],
			    *reserved = &ret->items[KUBELET_RESERVED_CPUS];
	struct kubelet_question q = { k, &k->seen.values[KUBELET_CPU_POLICY], KUBELET_CPU_POLICY,
				      CPU_POLICY_STATIC };
	const char *obstacle = cpu_obstacle(&k->seen.cpus);
	char detail[384];

	decide(&q, "static", item);
	if (item->outcome != KUBELET_CHANGED && item->outcome != KUBELET_SATISFIED)
		return;

	PRINT(detail, "%s has the policy %s", k->seen.cpus.checkpoint_path,
	      *k->seen.cpus.checkpoint ? k->seen.cpus.checkpoint : "not written yet");
	if (item->outcome == KUBELET_SATISFIED) {
		if (has_other_state(&k->seen.cpus) && k->was_started)
			refuse(item, REASON_KUBELET_CPU_STATE, detail);
		ret->is_state_removed =
			(has_other_state(&k->seen.cpus) || *k->seen.cpus.state_problem) &&
			!k->was_started;
		return;
	}

	if (*obstacle) {
		refuse(item, REASON_KUBELET_CPU_RESERVATION, obstacle);
		return;
	}
	/* A reservation that is made here is none that the state file knows. */
	if (k->was_started && (has_other_state(&k->seen.cpus) || k->seen.is_running ||
			       (*k->seen.cpus.checkpoint && k->seen.cpus.n_reserved == 0))) {
		refuse(item, REASON_KUBELET_CPU_STATE, detail);
		return;
	}
	if (k->seen.cpus.n_reserved > 0)
		return;

	q.v = &k->seen.values[KUBELET_RESERVED_CPUS];
	q.setting = KUBELET_RESERVED_CPUS;
	q.want = UINT32_MAX;
	decide(&q, k->seen.cpus.first_core, reserved);
	COPY(reserved->from, q.v->source == KUBELET_DEFAULT ? "" : q.v->text);
	if (reserved->outcome != KUBELET_CHANGED)
		refuse(item, reserved->reason, reserved->detail);
}

static uint32_t rank_of(const struct kubelet_found *k, const struct kubelet_decision *d,
			enum kubelet_setting s, bool is_after)
{
	if (is_after && d->items[s].outcome == KUBELET_CHANGED)
		return kubelet_rank(s, d->items[s].to);
	return k->seen.values[s].source == KUBELET_UNKNOWN ? 0 : k->seen.values[s].rank;
}

static struct start_policies policies_of(const struct kubelet_found *k,
					 const struct kubelet_decision *d, bool is_after)
{
	struct start_policies p = {
		.topology = rank_of(k, d, KUBELET_TOPOLOGY_POLICY, is_after),
		.cpu = rank_of(k, d, KUBELET_CPU_POLICY, is_after),
	};
	uint32_t changed = 0;

	for (int s = 0; s < _KUBELET_SETTING_N; s++) {
		const struct kubelet_value *v = &k->seen.values[s];

		changed |= (uint32_t)(is_after && d->items[s].outcome == KUBELET_CHANGED) << s;
		/* A vendor's kubelet, or a newer one, may have a word of no rank. */
		p.misspelt |= (uint32_t)(v->is_misspelt && v->rank > 0) << s;
	}
	p.misspelt &= ~changed;
	p.is_cpu_state_asked =
		!d->is_state_removed && (k->was_started || !(changed >> KUBELET_CPU_POLICY & 1));
	p.is_reserved = changed >> KUBELET_RESERVED_CPUS & 1;
	return p;
}

/* Takes settings of ours back where the kubelet would exit with them, and not without. */
static bool take_back(const struct kubelet_found *k, uint32_t settings,
		      const struct start_exits *exits, struct kubelet_decision *ret)
{
	const struct start_policies before = policies_of(k, ret, false);
	struct start_policies after;
	struct kubelet_found without = *k;
	struct start_exits left, gone;

	settings &= k->ours;
	if (settings >> KUBELET_RESERVED_CPUS & 1) {
		without.seen.cpus = k->below.cpus;
		without.start = k->below.start;
	}
	for (int s = 0; s < _KUBELET_SETTING_N; s++)
		if (settings >> s & 1)
			without.seen.values[s] = k->below.values[s];
	after = policies_of(&without, ret, false);
	after.is_cpu_state_asked |= settings >> KUBELET_CPU_POLICY & 1;
	start_find_exits(&without, &after, NULL, &left);
	start_find_exits(k, &before, &left, &gone);
	/* With too many NUMA nodes ours goes also where the policy of another program is left. */
	if (settings == 0 || left.n + gone.n > exits->n ||
	    (gone.n == 0 &&
	     (!exceeds_nodes(k) || !(settings >> KUBELET_TOPOLOGY_POLICY & 1) ||
	      settings >> KUBELET_CPU_POLICY || before.topology <= TOPOLOGY_POLICY_NONE)))
		return false;

	for (enum kubelet_setting s = 0; s < _KUBELET_SETTING_N; s++) {
		struct kubelet_item *item = &ret->items[s];

		if (!(settings >> s & 1))
			continue;
		*item = (struct kubelet_item){ .row = 3,
					       .outcome = KUBELET_CHANGED,
					       .way = KUBELET_WAY_BACK };
		COPY(item->path, k->seen.values[s].path);
		COPY(item->from, k->seen.values[s].text);
		COPY(item->to, text_of(&k->below.values[s], s));
		COPY(item->detail, gone.n > 0 ? gone.first : exits->first);
	}
	return true;
}

/* Tells of a kubelet that would exit before it does; edits that add a cause for it are refused. */
static void decide_exit(const struct kubelet_found *k, struct kubelet_decision *ret)
{
	const struct start_policies before = policies_of(k, ret, false);
	const struct start_policies after = policies_of(k, ret, true);
	/* Refused for these, the facts of a start are known, and are not the reason. */
	const bool is_told =
		ANY(item, ret->items, _KUBELET_SETTING_N,
		    item->outcome == KUBELET_REFUSED && item->reason != REASON_KUBELET_FLAG_WINS &&
			    item->reason != REASON_KUBELET_MANAGED &&
			    item->reason != REASON_KUBELET_FILE_REFUSED);
	/* The smallest set first: with a state file in place not all of ours may go. */
	const uint32_t topology = 1u << KUBELET_TOPOLOGY_POLICY, cpu = 1u << KUBELET_CPU_POLICY,
		       reserved = 1u << KUBELET_RESERVED_CPUS,
		       sets[] = { topology | 1u << KUBELET_TOPOLOGY_SCOPE,
				  topology,
				  cpu | reserved,
				  cpu,
				  reserved,
				  UINT32_MAX };
	/* Where the start is unclear, the number of NUMA nodes is not. */
	const size_t n_sets = k->blocked >> KUBELET_WAY_BACK & 1 ? 0
			      : !*k->seen.problem                ? ELEMENTSOF(sets)
			      : exceeds_nodes(k)                 ? 1
								 : 0;
	struct kubelet_item *cpus = &ret->items[KUBELET_CPU_POLICY];
	struct start_exits exits, added;

	if (k->seen.is_waiting || lacks_file(k)) /* with what the kubelet needs to start */
		return;
	start_find_exits(k, &before, NULL, &exits);
	FOREACH(set, sets, exits.n > 0 ? n_sets : 0)
		if (take_back(k, *set, &exits, ret))
			return;
	/* Words of the kubelet tell why a reservation that it refuses as well is not understood. */
	if (exits.n > 0 && cpus->reason == REASON_KUBELET_CPU_RESERVATION &&
	    k->seen.cpus.is_unclear)
		refuse(cpus, REASON_KUBELET_WOULD_EXIT, exits.first);
	start_find_exits(k, &after, &exits, &added);
	for (int s = 0; s < _KUBELET_SETTING_N && added.n > 0; s++)
		if (ret->items[s].outcome == KUBELET_CHANGED)
			refuse(&ret->items[s], REASON_KUBELET_WOULD_EXIT, added.first);
	if (added.n == 0)
		start_find_exits(k, &after, NULL, &exits);
	if (!is_told)
		COPY(ret->would_exit, exits.first);
}

void kubelet_decide(const struct config *c, const struct kubelet_found *k,
		    struct kubelet_decision *ret)
{
	const uint32_t wanted[] = { [KUBELET_TOPOLOGY_POLICY] = c->kubelet.topology_policy,
				    [KUBELET_TOPOLOGY_SCOPE] = c->kubelet.topology_scope };

	*ret = (struct kubelet_decision){};
	if (!k->seen.is_there && !*k->unknown)
		return;

	for (enum kubelet_setting s = 0; s < ELEMENTSOF(wanted); s++) {
		const struct kubelet_question q = { k, &k->seen.values[s], s, wanted[s] };

		if (q.want > 0)
			decide(&q, kubelet_word(s, q.want), &ret->items[s]);
	}
	if (c->kubelet.cpu_policy == CPU_POLICY_STATIC)
		decide_cpus(k, ret);
	decide_exit(k, ret);
}
