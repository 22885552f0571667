/* SPDX-License-Identifier: Apache-2.0 */
#include "find.h"

#include "../model/ledger.h"
#include "../model/paths.h"
#include "../os/memory-file.h"
#include "../os/unit-file.h"
#include "cpus.h"
#include "rancher.h"
#include "servers.h"
#include "sources.h"
#include "start-rules.h"
#include "version.h"
#include "yaml.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>

#define MINOR_RESET     28 /* its drop-ins set what they do not say to the default */
#define K0S_DIR         "/var/lib/k0s"
#define MICROSHIFT_FILE "/var/lib/microshift/resources/kubelet/config/config.yaml"
#define MICROSHIFT_CONF "/etc/microshift/config"
#define MAX_SCRIPT      ((size_t)64 * 1024)
#define MAX_CMDLINE     ((size_t)2 * 1024 * 1024)   /* the kernel's default limit */
#define MACHINE_WORD    "--rdma-provision-machine=" /* our last word of what is remembered */

/* In the order in which they are tried. */
static const char *const own_drop_ins[] = {
	"90-rdma-provision.conf",
	"99-rdma-provision.conf",
	"zz-rdma-provision.conf",
};

/* Units that have a kubelet in them, by the beginning of their names; the last has all names. */
static const struct unit_kind {
	const char *prefix;
	enum kubelet_flavour flavour;
	const char *args;    /* of a snap: its file of flags */
	const char *manager; /* writes the kubelet's file at each start */
} unit_kinds[] = {
	{ "rke2", KUBELET_RANCHER },
	{ "k3s", KUBELET_RANCHER },
	{ "snap.microk8s.", KUBELET_SNAP, "/var/snap/microk8s/current/args/kubelet" },
	{ "snap.k8s.", KUBELET_SNAP, "/var/snap/k8s/common/args/kubelet" },
	{ "snap.eks.", KUBELET_SNAP, "/var/snap/eks/current/args/kubelet" },
	{ "snap.kubelet.", KUBELET_SNAP, "/var/snap/kubelet/current/args" },
	{ "snap.kubelet-eks.", KUBELET_SNAP, "/var/snap/kubelet-eks/current/args" },
	{ "k0s", .manager = "k0s" },
	{ "microshift", .manager = "microshift" },
	{ "" },
};

/*
 * Variables that are there for more flags. Not those of kubeadm: it writes
 * /var/lib/kubelet/kubeadm-flags.env itself.
 */
static const char *const extra_variables[] = {
	"KUBELET_EXTRA_ARGS", "KUBELET_CUSTOMIZED_ARGS", "NODEADM_KUBELET_ARGS",
	"KUBELET_ARGS",       "KUBELET_FLAGS",           "KUBELET_OPTS",
	"KUBELET_EXTRA_OPTS",
};

/* All that is read on the way to a struct kubelet. */
struct value_look {
	const struct fs *fs;
	struct unit unit, process; /* process: the pages and arguments of a command line */
	struct flags flags;        /* that count */
	struct rancher rancher;
	struct sources sources;
	uint32_t pid; /* of the running kubelet, or 0 */
	bool is_asking;
};

static void look_done(struct value_look *l)
{
	unit_done(&l->unit);
	unit_done(&l->process);
	flags_done(&l->flags);
	rancher_done(&l->rancher);
	sources_done(&l->sources);
}

/* The unit and its process */

static int worth_of(const struct fs *fs, const char *unit)
{
	if (!unit_file_is_there(fs, unit))
		return 0;
	if (unit_file_has_cgroup(fs, unit))
		return 3;
	return fs_exists(fs, FS_PATH("etc/systemd/system/multi-user.target.wants/%s", unit)) > 0
		       ? 2
		       : 1;
}

/* The unit: one that runs before one that is enabled before one that is there. "": none. Return: 0
 * or -ENOMEM. */
static int which_unit(const struct fs *fs, char *ret, size_t size)
{
	_cleanup_(fs_names_done) struct fs_names named = {};
	int best = 0, r = unit_file_find(fs, K3S_UNITS, K3S_PROGRAM, &named);

	*ret = '\0';
	for (size_t i = 0; i < N_KUBELET_UNITS + named.n_names && best < 3; i++) {
		const char *unit =
			i < N_KUBELET_UNITS ? kubelet_units[i] : named.names[i - N_KUBELET_UNITS];
		const int worth = worth_of(fs, unit);

		if (worth > best) {
			best = worth;
			copy(ret, size, unit);
		}
	}
	return r;
}

/* MicroK8s (kubelite), k3s and MicroShift run the kubelet as a thread, RKE2 as a process. */
static const char *const process_names[] = { "kubelet", "kubelite", "k3s", "microshift" };

/* A command of ExecStartPre=, such as ours, is no kubelet. */
static int is_kubelet(const struct fs *fs, const char *pid)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r = fs_read_all(fs, FS_PATH("proc/%s/cmdline", pid), MAX_CMDLINE, true, &text, &size);

	if (r < 0)
		return r == -ENOMEM ? r : 0; /* it has ended */
	text[strcspn(text, " ")] = '\0'; /* k3s hides its arguments: "/usr/local/bin/k3s server" */
	return ANY(p, process_names, ELEMENTSOF(process_names), streq(basename(text), *p));
}

/* The first process of a list that is, or has in it, a kubelet, or 0. Return: 0 or -ENOMEM. */
static int which_process(const struct fs *fs, char *list, uint32_t *ret_pid)
{
	char *rest = list, *pid;
	int r = 0;

	*ret_pid = 0;
	while (r >= 0 && (pid = strsep(&rest, "\n"))) {
		if (!*pid || strlen(pid) > 9 || pid[strspn(pid, "0123456789")])
			continue;
		r = is_kubelet(fs, pid);
		if (r > 0) {
			*ret_pid = (uint32_t)strtoul(pid, NULL, 10);
			return 0;
		}
	}
	return r;
}

/* The kubelet's control groups of pods stay until the next boot, whatever became of it. */
static bool was_started(const struct value_look *l, const struct kubelet_found *k)
{
	static const char *const traces[] = {
		"sys/fs/cgroup/kubepods.slice",
		"sys/fs/cgroup/kubepods",
		"sys/fs/cgroup/systemd/kubepods.slice",
		"sys/fs/cgroup/systemd/kubepods",
	};

	if (k->seen.is_running || l->unit.start_usec > 0)
		return true;
	/* A trace that cannot be looked for counts: the kubelet may run. */
	return ANY(t, traces, ELEMENTSOF(traces), fs_exists(l->fs, *t) != 0);
}

/*
 * The process of the unit. Without a unit, any where pods have run: it tells the kubelet's address,
 * and nothing of the next start. A capture gets no names of other processes.
 */
static int find_process(struct value_look *l, struct kubelet_found *k)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	_cleanup_(freep) char *list = NULL;
	struct fs apart = *l->fs;
	size_t size;
	int r;

	apart.on_read = NULL;
	apart.unread = NULL;
	if (*k->seen.unit) {
		r = unit_file_read_pids(l->fs, k->seen.unit, false, &list, &size);
		return r >= 0 ? which_process(l->fs, list, &l->pid) : r == -ENOMEM ? r : 0;
	}
	if (!was_started(l, k))
		return 0;
	r = fs_list(&apart, "proc", &names);
	FOREACH_WHILE(name, names.names, names.n_names, r >= 0 && l->pid == 0)
		r = which_process(&apart, *name, &l->pid);
	return r == -ENOMEM ? r : 0;
}

/* The command line */

/* A shell or a wrapper does with its words what it likes. */
static bool is_kubelet_program(const char *path)
{
	static const char *const names[] = { "kubelet", "hyperkube", "rke2",      "k3s",
					     "snap",    "k0s",       "microshift" };

	return ANY(n, names, ELEMENTSOF(names), streq(basename(path), *n));
}

/* Is it called as a kubelet is? One that runs another program has that as its first argument. */
static bool is_called_as_kubelet(const struct unit *u)
{
	for (size_t i = 0; i < u->n_arguments; i++) {
		const char *text = u->arguments[i].text;

		if (i == 0 && *text != '-')
			return false;
		if (streq(text, "--config") || is_prefix(text, "--config="))
			return true;
	}
	return false;
}

/* A program such as numactl hands the words behind a kubelet's name on. A copy has that name too.
 */
static bool is_handing_on(struct unit *u)
{
	struct argument *kubelet =
		FIND(a, u->arguments, u->n_arguments, is_kubelet_program(a->text));

	if (kubelet)
		kubelet->is_relevant = true;
	return kubelet;
}

static bool names_address(const char *text)
{
	static const char *const flags[] = { "node-ip", "hostname-override", "flannel-iface" };

	return ANY(f, flags, ELEMENTSOF(flags), strstr(text, *f));
}

/* Is a flag of the kubelet's address in the line of a shell, in a variable it may use, or in a
 * script? */
static bool has_address_flag(const struct value_look *l, const char *program)
{
	_cleanup_(freep) char *text = NULL;
	const struct unit *u = &l->unit;

	if (ANY(a, u->arguments, u->n_arguments, names_address(a->text)) ||
	    ANY(v, u->variables, u->n_variables,
		(v->is_doubtful || names_address(v->value)) && unit_variable(u, v->name) == v))
		return true;
	return *program == '/' &&
	       fs_read_all(l->fs, fs_bare(program), MAX_SCRIPT, true, &text, NULL) >= 0 &&
	       is_prefix(text, "#!") && names_address(text);
}

/* The command line of a running kubelet, or the last one that was seen on this machine. */
static int read_process(struct value_look *l, struct kubelet_found *k, struct kubelet_notes *notes)
{
	char path[64] = KUBELET_CMDLINE_PATH;
	const uint32_t pid = l->pid;
	char machine[17], word[64];
	const char *of = NULL;
	int page, n, r;

	k->seen.is_running = pid > 0;
	if (pid > 0)
		PRINT(path, "proc/%" PRIu32 "/cmdline", pid);
	if (pid == 0 && l->unit.is_clear)
		return 0;

	fs_read_machine(l->fs, machine);
	page = unit_add_page(&l->process, l->fs, path, PAGE_PROCESS);
	if (page < 0)
		return page == -ENOMEM ? page : 0;
	if (notes && pid > 0 && !l->unit.is_clear) {
		n = PRINT(word, MACHINE_WORD "%s", machine) + 1;
		notes->cmdline = malloc(l->process.pages[page].size + (size_t)n);
		if (!notes->cmdline)
			return -ENOMEM;
		notes->cmdline_size = l->process.pages[page].size + (size_t)n;
		memcpy(mempcpy(notes->cmdline, l->process.pages[page].text,
			       l->process.pages[page].size),
		       word, (size_t)n);
	}
	r = arguments_add_page(&l->process, (uint16_t)page);
	if (l->process.n_arguments > 0)
		of = after(l->process.arguments[l->process.n_arguments - 1].text, MACHINE_WORD);
	if (of && *machine && !streq(of, machine))
		unit_done(&l->process);
	return r;
}

static int read_unit(struct value_look *l, struct kubelet_found *k)
{
	const struct unit_kind *kind;
	const char *program;
	int page, r = which_unit(l->fs, k->seen.unit, sizeof(k->seen.unit));

	if (r < 0 || !*k->seen.unit)
		return r;
	r = unit_read(l->fs, k->seen.unit, l->is_asking, &l->unit);
	if (r < 0)
		return r;
	if (!l->unit.is_there)
		return 0;

	k->seen.is_there = true;
	COPY(k->binary, l->unit.program);
	kind = FIND(t, unit_kinds, ELEMENTSOF(unit_kinds), is_prefix(k->seen.unit, t->prefix));
	k->flavour = kind->flavour;
	COPY(k->seen.manager, kind->manager ?: "");
	/* MicroShift's unit leaves the folder to systemd. */
	program = l->unit.exec.n > 0 ? l->unit.exec.words[0] : "";
	program += strspn(program, "@-:+!");

	if (kind->args) {
		page = unit_add_page(&l->unit, l->fs, kind->args, PAGE_FLAGS);
		if (page == -ENOMEM)
			return page;
		if (page >= 0) {
			COPY(k->extra.path, kind->args);
			k->extra.source = SIZE_MAX;
			k->extra.at = UINT32_MAX;
			k->extra.bytes = (uint32_t)l->unit.pages[page].size;
			return arguments_add_page(&l->unit, (uint16_t)page);
		}
		k->seen.is_waiting = true;
	} else if (!is_kubelet_program(program) && !is_called_as_kubelet(&l->unit)) {
		unit_problem(&l->unit, "%s: what %s does is not known", l->unit.name,
			     *program ? program : "it");
		l->unit.hides_address =
			*program && !is_handing_on(&l->unit) && has_address_flag(l, program);
	}
	return 0;
}

/* A word behind @known that may become any flag: "$NAME", and "${NAME}" that is no flag's value. */
static const char *open_word(struct unit *u, const struct flag *known)
{
	for (size_t i = 0; i < u->n_arguments; i++) {
		struct argument *a = &u->arguments[i];
		const char *before = i > 0 ? a[-1].text : "";

		if (*a->text == '$' && a->source != SIZE_MAX &&
		    (!known || a->source > known->source) &&
		    !(a->text[1] == '{' && *before == '-' && !strchr(before, '='))) {
			a->is_relevant = true; /* a copy has it */
			return a->text;
		}
	}
	return NULL;
}

/* Is a variable or a specifier in it whose value is not known? */
static bool is_open(const struct flag *f)
{
	return f && (f->is_cut || f->value[strcspn(f->value, "$%")]);
}

/* Notes why the kubelet's address cannot be told. With a --node-ip, the last of which wins, its
 * name does not count. */
static void note_address_problem(struct value_look *l, struct kubelet_found *k)
{
	const struct flag *ip = flags_last(&l->flags, FLAG_NODE_IP),
			  *name = flags_last(&l->flags, FLAG_HOST_NAME);
	const bool is_known = ip && *ip->value && !is_open(ip);
	const char *word = open_word(&l->unit, is_known ? ip : NULL);

	if (is_known && !word)
		return;
	problem_note(k->seen.address_problem, "%s", l->rancher.problem);
	if (l->unit.hides_address)
		problem_note(k->seen.address_problem, "%s", l->unit.problem);
	if (word || is_open(ip) || is_open(name))
		problem_note(k->seen.address_problem, "%s: %s%.150s is not known", k->seen.unit,
			     word          ? ""
			     : is_open(ip) ? "--node-ip="
					   : "--hostname-override=",
			     word ?: (is_open(ip) ? ip : name)->value);
}

static void set_address(const struct flags *of, struct kubelet_found *k)
{
	const struct flag *ip = flags_last(of, FLAG_NODE_IP),
			  *name = flags_last(of, FLAG_HOST_NAME);

	COPY(k->seen.node_ip, ip ? ip->value : "");
	COPY(k->seen.host_name, name ? name->value : "");
}

/* Puts the folder of a snap's unit in place of its variable, as the shell of its wrapper does. */
static void resolve_snap(const char *unit, struct flag *f)
{
	static const char *const variables[][2] = {
		{ "${SNAP_DATA}/", "current" },
		{ "$SNAP_DATA/", "current" },
		{ "${SNAP_COMMON}/", "common" },
		{ "$SNAP_COMMON/", "common" },
	};
	const char *name = unit + strlen("snap.");
	char path[PATH_MAX];

	FOREACH(v, variables, ELEMENTSOF(variables)) {
		const char *rest = after(f->value, (*v)[0]);

		if (!rest)
			continue;
		PRINT(path, SNAP_DIR "%.*s/%s/%s", (int)strcspn(name, "."), name, (*v)[1], rest);
		f->is_cut |= !COPY(f->value, path);
	}
}

/* Which flags count: of the unit where that is clear, else of the process. */
static int read_flags(struct value_look *l, struct kubelet_found *k)
{
	const bool is_k0s = streq(k->seen.manager, "k0s");
	struct flags of_process = {};
	bool is_of_process = false;
	int r;

	k->rest = flags_rest(&l->unit);
	r = flags_read(&l->unit, &l->flags);
	if (r >= 0)
		r = flags_read(&l->process, &of_process);
	if (r < 0)
		return r;

	if (k->flavour == KUBELET_RANCHER) {
		r = rancher_read(l->fs, &l->unit, &l->flags, &l->rancher);
		flags_done(&l->flags);
		l->flags = TAKE_STRUCT(l->rancher.flags);
		COPY(k->seen.folder, l->rancher.folder);
		COPY(k->rancher_path, l->rancher.own_path);
		COPY(k->rival, l->rancher.rival);
		problem_note(k->seen.problem, "%s", l->rancher.problem);
		if (ANY(v, l->unit.variables, l->unit.n_variables, v->is_doubtful))
			problem_note(k->seen.problem, "%s", l->unit.problem);
	} else if (*k->seen.unit && (is_k0s || !l->unit.is_clear) && l->process.n_pages > 0) {
		flags_done(&l->flags);
		l->flags = TAKE_STRUCT(of_process);
		is_of_process = true;
	} else if (k->seen.is_there) {
		problem_note(k->seen.problem, "%s", l->unit.problem);
	}
	FOREACH(f, l->flags.flags, k->flavour == KUBELET_SNAP ? l->flags.n_flags : 0)
		resolve_snap(k->seen.unit, f);
	set_address(&l->flags, k);
	if (!is_of_process)
		note_address_problem(l, k);
	/* The line of the kubelet that runs has what files and variables do not tell. */
	if ((*k->seen.address_problem || !*k->seen.unit) && l->process.n_pages > 0 &&
	    streq(basename(l->process.pages[0].text), "kubelet")) {
		set_address(&of_process, k);
		k->seen.address_problem[0] = '\0';
	}
	flags_done(&of_process);

	FOREACH(file, l->unit.env_files, l->unit.n_env_files)
		k->seen.is_waiting |= file->is_missing && !file->is_optional;
	return r;
}

/* Where a variable that nobody set can be set: the last file that is the kubelet's, and that
 * kubeadm does not write. Others, as /etc/environment, are of more programs. */
static const char *free_env_file(const struct unit *u)
{
	const struct env_file *last = FIND_LAST(
		f, u->env_files, u->n_env_files,
		strstr(f->path, "kubelet") && !streq(basename(f->path), "kubeadm-flags.env") &&
			!f->path[strcspn(f->path, "*?[")]);

	return last ? last->path : "";
}

/* The last variable on the command line that is there for more, and whose file we may edit. */
static void find_extra(const struct unit *u, struct kubelet_found *k)
{
	if (!u->is_clear || k->flavour != KUBELET_PLAIN)
		return;

	for (size_t i = u->exec.n; i-- > 1;) {
		const char *word = u->exec.words[i], *path;
		const struct variable *v;

		if (*word != '$' ||
		    !ANY(e, extra_variables, ELEMENTSOF(extra_variables), streq(*e, word + 1)))
			continue;
		v = unit_variable(u, word + 1);
		if (v && !v->is_file)
			continue; /* a file would take what the unit says away */
		path = v ? u->pages[v->page].path : free_env_file(u);
		if (!*path)
			continue;
		COPY(k->extra.path, path);
		COPY(k->extra.variable, word + 1);
		k->extra.source = i;
		k->extra.at = v ? v->insert_at : UINT32_MAX;
		k->extra.is_empty = v && !*v->value;
		for (size_t p = 0; p < u->n_pages; p++)
			if (streq(u->pages[p].path, path))
				k->extra.bytes = (uint32_t)u->pages[p].size;
		return;
	}
}

/* Files and folders */

/* As they are written on command lines; what is more is not understood. */
static bool is_plain_path(const char *path)
{
	return *path == '/' && !path[strcspn(path, "$%\\*")] && !strstr(path, "/..");
}

static int read_file(struct value_look *l, struct kubelet_found *k, const char *path)
{
	int r;

	COPY(k->seen.file, path);
	l->sources.problem[0] = k->unknown[0] = '\0'; /* of another one of the usual files */
	r = sources_add_file(&l->sources, l->fs, path, "", YAML_KUBELET);
	if (r == -ENOMEM)
		return r;
	k->seen.has_file = r != -ENOENT;
	k->file_result = r;
	k->is_fixed = r >= 0 && l->sources.sources[0].items.is_fixed;
	r = k->is_fixed ? -EOPNOTSUPP : r;
	COPY(k->seen.file_problem, r < 0 ? yaml_problem(r) : "");
	COPY(k->unknown, l->sources.problem);
	return 0;
}

static int read_usual_file(struct value_look *l, struct kubelet_found *k)
{
	const char *refused = NULL;
	int r;

	for (size_t i = 0; i < N_KUBELET_FILES; i++) {
		r = read_file(l, k, kubelet_files[i]);
		if (r < 0)
			return r;
		if (k->file_result == 0) {
			k->seen.is_there = true;
			return 0;
		}
		if (k->seen.has_file && !refused)
			refused = kubelet_files[i];
	}
	/* There is something, but nothing of a kubelet's. */
	k->seen.is_there = refused != NULL;
	return read_file(l, k, refused ? refused : kubelet_files[0]);
}

/* The folder of k0s: that of the kubelet is in it, and a file that is written before each start.
 * NULL: it is not k0s. Source: pkg/component/worker/kubelet.go. */
static const char *k0s_dir(const struct value_look *l, const struct kubelet_found *k)
{
	const struct flag *f = flags_last(&l->flags, FLAG_DATA_DIR);

	if (!is_prefix(k->seen.unit, "k0s"))
		return NULL;
	return f && !f->is_cut && is_plain_path(f->value) ? f->value : K0S_DIR;
}

/* Forgets the usual file beside a masked unit: a kubelet of another unit has its own. */
static void forget_file(struct value_look *l, struct kubelet_found *k)
{
	problem_note(k->seen.problem, "%s is masked, and no unit is known that reads %.190s",
		     kubelet_units[0], k->seen.file);
	sources_done(&l->sources);
	k->seen.file[0] = '\0';
	k->seen.has_file = false;
}

/* The file of --config, or a usual one. 0 or -ENOMEM. */
static int find_file(struct value_look *l, struct kubelet_found *k)
{
	const struct flag *f = flags_last(&l->flags, FLAG_CONFIG);
	const char *k0s = k0s_dir(l, k);
	int r;

	if (!*k->seen.unit) {
		r = read_usual_file(l, k);
		if (k->seen.is_there && unit_file_is_masked(l->fs, kubelet_units[0]))
			forget_file(l, k);
		return r;
	}
	if (!f && (k0s || streq(k->seen.manager, "microshift")))
		return read_file(
			l, k, k0s ? FS_PATH("%.230s/kubelet-config.yaml", k0s) : MICROSHIFT_FILE);
	if (!f)
		return 0;
	if (f->is_cut || !is_plain_path(f->value)) {
		problem_note(k->seen.problem,
			     "%.120s:%" PRIu32 ": --config=%.120s is not understood", f->path,
			     f->line, f->value);
		return 0;
	}
	return read_file(l, k, f->value);
}

/* With --kubelet-cgroups= the kubelet leaves the control group of its unit for that one when it
 * starts: setupNode() in pkg/kubelet/cm/container_manager_linux.go. */
static int find_moved(struct value_look *l, struct kubelet_found *k)
{
	const char *group = flags_value(&l->flags, &l->sources, FLAG_KUBELET_CGROUPS);
	_cleanup_(freep) char *list = NULL;
	size_t size;
	int r;

	if (l->pid > 0 || !is_plain_path(group))
		return 0;
	r = unit_file_read_group(l->fs, group, &list, &size);
	if (r >= 0)
		r = which_process(l->fs, list, &l->pid);
	k->seen.is_running = l->pid > 0;
	return r == -ENOMEM ? r : 0;
}

/* The folder of --config-dir. A link that does not end in "/" is not followed by the kubelet's
 * walk: nothing is read. */
static int find_folder(struct value_look *l, struct kubelet_found *k)
{
	const struct flag *f = flags_last(&l->flags, FLAG_CONFIG_DIR);
	_cleanup_(closep) int fd = -EBADF;
	char path[sizeof(k->seen.folder)], link[PATH_MAX];
	size_t n;

	if (f)
		COPY(k->seen.folder, f->value);
	if (!*k->seen.folder)
		return 0;
	if (!is_plain_path(k->seen.folder)) {
		problem_note(k->seen.problem, "--config-dir is not understood");
		return 0;
	}

	COPY(path, k->seen.folder + 1);
	n = strlen(path);
	if (n == 0 || path[n - 1] != '/') {
		if (fs_read_link(l->fs, path, link, sizeof(link)) >= 0)
			return 0;
	}
	while (n > 0 && path[n - 1] == '/')
		path[--n] = '\0';
	fd = fs_open(l->fs, n > 0 ? path : ".", O_PATH | O_DIRECTORY);
	k->seen.has_folder = fd >= 0;
	k->seen.lacks_folder = fd < 0 && fs_exists(l->fs, path) == 0;
	k->has_dir_flag = f;
	k->needs_dir = f && k->seen.lacks_folder; /* k3s and RKE2 make their own */
	k->lacks_variable = l->unit.is_clear && !unit_variable(&l->unit, DROP_INS_VARIABLE);
	k->seen.folder[n + 1] = '\0';
	return k->seen.has_folder ? sources_add_folder(&l->sources, l->fs, k->seen.folder) : 0;
}

/* In the order of the walk: a folder's content stands where its name does. */
static int compare_names(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return (*a == '/' ? 1 : (unsigned char)*a) - (*b == '/' ? 1 : (unsigned char)*b);
}

/* A name behind all that say something about our settings. */
static void find_drop_in(const struct value_look *l, struct kubelet_found *k)
{
	const char *last = "";

	FOREACH(source, l->sources.sources, l->sources.n_sources)
		for (enum kubelet_setting s = 0; s < _KUBELET_SETTING_N; s++)
			if (!ANY(o, own_drop_ins, ELEMENTSOF(own_drop_ins),
				 streq(*o, source->name)) &&
			    yaml_find(&source->items, kubelet_key(s), "") && *source->name)
				last = source->name;

	FOREACH_WHILE(it, own_drop_ins, ELEMENTSOF(own_drop_ins), !*k->drop_in)
		if (compare_names(last, *it) < 0 &&
		    (size_t)PRINT(k->drop_in, "%s/%s", k->seen.folder, *it) >= sizeof(k->drop_in))
			k->drop_in[0] = '\0';
}

/* 1.28 sets all that a drop-in does not say to its default: then only the last one counts. */
static void forget_reset(struct value_look *l, struct kubelet_found *k)
{
	struct sources *s = &l->sources;

	if (k->minor != MINOR_RESET || s->n_sources == 0 || !*s->sources[s->n_sources - 1].name)
		return;
	k->is_reset = true;
	for (size_t i = 0; i + 1 < s->n_sources; i++)
		yaml_items_done(&s->sources[i].items);
}

/* Values */

/* The rank of a misspelt value: "None", or "best-effort " in quotes, or nothing after "=". */
static uint32_t meant_rank(enum kubelet_setting s, const char *text)
{
	char copied[64], *word;

	COPY(copied, text);
	word = word_trim(copied);
	for (char *c = word; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return *word ? kubelet_rank(s, word) : 1;
}

static void set_text(struct kubelet_value *v, enum kubelet_setting s, const char *text,
		     bool may_be_empty)
{
	bool is_text;

	COPY(v->text, text);
	make_printable(v->text); /* values come from files, and are shown */
	is_text = streq(v->text, text);
	v->rank = is_text ? kubelet_rank(s, v->text) : 0;
	if (may_be_empty && !*v->text)
		v->rank = 1;
	if (v->rank == 0 && is_text && s != KUBELET_RESERVED_CPUS) {
		v->rank = meant_rank(s, v->text);
		v->is_misspelt = v->rank > 0;
	}
}

static void find_value(const struct value_look *l, struct kubelet_found *k, enum kubelet_setting s)
{
	const struct flag *f = flags_last(&l->flags, FLAG_POLICY + s);
	struct kubelet_value *v = &k->seen.values[s];
	const struct yaml_item *item;
	const struct source *source;

	*v = (struct kubelet_value){ .rank = 1 };
	if (!f && *k->unknown) {
		*v = (struct kubelet_value){ .source = KUBELET_UNKNOWN };
		return;
	}
	if (f) {
		v->source = KUBELET_FLAG;
		set_text(v, s, f->is_cut ? "?" : f->value, false);
		COPY(v->path, f->path);
		v->line = f->line;
		k->words[s].is_behind_extra = f->source > k->extra.source;
		if (!f->is_cut) {
			k->words[s].from = f->from;
			k->words[s].to = f->to;
		}
		return;
	}

	item = sources_find(&l->sources, kubelet_key(s), "", &source);
	if (!item)
		return;
	v->source = *source->name ? KUBELET_DROP_IN : KUBELET_FILE;
	COPY(v->path, source->path);
	v->line = item->line;
	if (item->is_odd)
		set_text(v, s, *item->text ? item->text : "?", false);
	else
		set_text(v, s, item->is_null ? "" : item->text, true);
	if (item->is_odd)
		v->rank = 0;
}

static void find_settings(const struct value_look *l, struct kubelet_found *k)
{
	const struct flag *root_dir = flags_last(&l->flags, FLAG_ROOT_DIR);
	const char *k0s = k0s_dir(l, k);

	for (enum kubelet_setting s = 0; s < _KUBELET_SETTING_N; s++)
		find_value(l, k, s);
	/* A variable that is not known may be in there. */
	k->seen.cpus.is_unclear = root_dir && (root_dir->is_cut || root_dir->value[0] != '/');
	COPY(k->seen.root_dir, root_dir && !k->seen.cpus.is_unclear ? root_dir->value
			       : k0s                                ? FS_PATH("%.180s/kubelet", k0s)
								    : KUBELET_ROOT_DIR);
	COPY(k->seen.flannel_iface, l->rancher.flannel_iface);
	flags_map(&l->flags, FLAG_NODE_LABELS, VKE_RDMA_MODE, k->seen.vke_rdma_mode.value,
		  sizeof(k->seen.vke_rdma_mode.value));
	flags_map(&l->flags, FLAG_NODE_LABELS, VKE_GPU_SCHEDULE, k->seen.vke_gpu_schedule.value,
		  sizeof(k->seen.vke_gpu_schedule.value));
}

static int observe_cpus(const struct value_look *l, const struct fs *fs, struct kubelet_found *k)
{
	return cpus_observe(fs, &l->sources, &l->flags, k->seen.root_dir,
			    k->start.on >> CPU_OPTION_STRICT & 1,
			    start_has_gate(k, GATE_POD_MANAGERS), &k->seen.cpus);
}

/* 0 or -ENOMEM. One that is empty, or only has comments, says nothing. */
static int add_microshift(const struct value_look *l, struct kubelet_found *k, const char *path,
			  const char *name, struct sources *own)
{
	int r = sources_add_file(own, l->fs, path, name, YAML_ANY);

	if (r < 0 && r != -ENOENT && r != -ENODATA)
		problem_note(k->seen.address_problem, "%s", own->problem);
	own->problem[0] = '\0';
	return r == -ENOMEM ? r : 0;
}

/* MicroShift hands the kubelet what its own files say of the node: pkg/node/kubelet.go. Those of
 * its folder are merged over the first one in the order of their names, null takes back:
 * "Using configuration snippets" of its documentation. */
static int find_microshift(const struct value_look *l, struct kubelet_found *k)
{
	_cleanup_(sources_done) struct sources own = {};
	_cleanup_(fs_names_done) struct fs_names names = {};
	const struct yaml_item *ip, *name;
	int r;

	if (!streq(k->seen.manager, "microshift"))
		return 0;
	r = add_microshift(l, k, MICROSHIFT_CONF ".yaml", "", &own);
	if (r >= 0 && fs_list(l->fs, fs_bare(MICROSHIFT_CONF ".d"), &names) == -ENOMEM)
		r = -ENOMEM;
	FOREACH_WHILE(it, names.names, names.n_names, r >= 0)
		if (streq(strrchr(*it, '.') ?: "", ".yaml"))
			r = add_microshift(l, k, FS_PATH(MICROSHIFT_CONF ".d/%s", *it), *it, &own);
	if (r < 0)
		return r;
	ip = sources_find(&own, "node", "nodeIP", NULL);
	name = sources_find(&own, "node", "hostnameOverride", NULL);
	COPY(k->seen.node_ip, ip && !ip->is_odd && !ip->is_null ? ip->text : "");
	COPY(k->seen.host_name, name && !name->is_odd && !name->is_null ? name->text : "");
	return 0;
}

/* The folder of static pods; of k3s and RKE2 their own where no flag or file names another:
 * DefaultPodManifestPath in pkg/agent/config/config.go of k3s. */
static void find_pod_folder(const struct value_look *l, struct kubelet_found *k)
{
	const struct yaml_item *item = sources_find(&l->sources, "staticPodPath", "", NULL);
	const struct flag *f = flags_last(&l->flags, FLAG_POD_FOLDER);
	const char *path = flags_value(&l->flags, &l->sources, FLAG_POD_FOLDER);
	const bool is_known = *k->seen.unit && !*k->unknown && !*k->seen.problem &&
			      !k->seen.is_waiting && (!*k->seen.file || k->file_result == 0);

	if (is_plain_path(path) && !(f ? f->is_cut : item->is_odd))
		COPY(k->seen.pod_folder, path);
	else if (!*path && *l->rancher.name)
		PRINT(k->seen.pod_folder, "%s/agent/pod-manifests", l->rancher.data_dir);
	else if (!*path && !(item && item->is_odd) && is_known && k->flavour == KUBELET_PLAIN)
		COPY(k->seen.pod_folder, POD_FOLDER_NONE);
}

/* Fills in the coming values, and where a drop-in of ours would win. The version must be known. */
static void find_values(struct value_look *l, struct kubelet_found *k)
{
	if (!*k->unknown)
		problem_note(k->seen.problem, "%s", l->sources.problem);
	COPY(k->unknown, l->sources.problem);
	forget_reset(l, k);
	if (k->seen.has_folder || k->flavour == KUBELET_RANCHER)
		find_drop_in(l, k);
	find_settings(l, k);
	find_pod_folder(l, k);
}

/* The rest */

/* OpenShift degrades a node whose files were edited, and those of the others cannot be edited at
 * all. */
static void find_manager(const struct fs *fs, struct kubelet_found *k)
{
	static const char *const files[] = { "etc/os-release", "usr/lib/os-release" };
	static const char *const systems[] = { "bottlerocket", "talos" };

	if (fs_exists(fs, "etc/machine-config-daemon/currentconfig") > 0)
		COPY(k->seen.manager, "openshift");
	for (size_t i = 0; i < ELEMENTSOF(files) && !*k->seen.manager; i++) {
		_cleanup_(freep) char *text = NULL;
		size_t size, at = 0;
		int r = fs_read_all(fs, files[i], 65536, false, &text, &size);

		while (r >= 0) {
			_cleanup_(variable_done) struct variable v = {};

			if (variable_next(text, size, &at, &v) <= 0)
				break;
			if (streq(v.name, "ID") &&
			    ANY(s, systems, ELEMENTSOF(systems), streq(v.value, *s)))
				COPY(k->seen.manager, v.value);
		}
	}
}

/* Names this very process: its number alone may be given away again. */
static void identify(const struct value_look *l, char *ret, size_t size)
{
	char boot_id[40] = "", line[1024], *field;

	*ret = '\0';
	if (l->pid == 0)
		return;
	if (fs_read(l->fs, FS_PATH("proc/%" PRIu32 "/stat", l->pid), line, sizeof(line)) < 0 ||
	    fs_read(l->fs, "proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id)) < 0)
		return;
	/* Behind the name in parentheses is the third field; the start is the 22nd: proc(5). */
	field = strrchr(line, ')');
	for (int i = 2; field && i < 22; i++)
		field = strchr(field + 1, ' ');
	if (field)
		snprintf(ret, size, "%.36s:%" PRIu32 ":%.*s", boot_id, l->pid,
			 (int)MIN(strcspn(field + 1, " "), 20), field + 1);
}

/* Takes a value of ours out of the flags and files that were read: what it replaced counts. */
static void hide(struct value_look *l, const struct ledger_entry *e)
{
	struct flag *f = FIND_LAST(it, l->flags.flags, l->flags.n_flags,
				   it->kind == FLAG_POLICY + e->setting &&
					   streq(it->path, e->target) && streq(it->value, e->to));
	struct source *s =
		FIND(it, l->sources.sources, l->sources.n_sources, streq(it->path, e->target));
	struct yaml_item *item =
		s ? FIND_LAST(it, s->items.items, s->items.n_items,
			      streq(it->key, kubelet_key(e->setting)) && streq(it->text, e->to))
		  : NULL;

	if (f && e->was_there)
		COPY(f->value, e->from);
	else if (f)
		f->kind = _FLAG_N;
	if (item && e->was_there)
		COPY(item->text, e->from);
	else if (item)
		item->key[0] = '\0';
}

/* Fills in k->below from the flags and files without all that is ours. 0 or -ENOMEM. */
static int find_below(struct value_look *l, const struct ledger *ledger, struct kubelet_found *k)
{
	struct fs unrecorded = *l->fs; /* it was, with what is ours */
	struct kubelet_found below = *k;
	int r;

	if (k->ours == 0)
		return 0;
	unrecorded.on_read = NULL;
	for (size_t i = ledger->n_entries; i-- > 0;)
		hide(l, &ledger->entries[i]);
	find_settings(l, &below);
	below.start = (struct kubelet_start){};
	memcpy(k->below.values, below.seen.values, sizeof(k->below.values));
	if (!(k->ours >> KUBELET_RESERVED_CPUS & 1))
		return 0;
	r = start_observe(&unrecorded, &l->sources, &l->flags, k->seen.root_dir,
			  k->flavour == KUBELET_RANCHER, &below.start);
	if (r >= 0)
		r = observe_cpus(l, &unrecorded, &below);
	k->below.cpus = below.seen.cpus;
	k->below.start = below.start;
	return r;
}

/* Behind all else that reads flags and files. */
static int recall(struct value_look *l, struct kubelet_found *k, const char *running)
{
	_cleanup_(ledger_done) struct ledger ledger = {};
	int r = memory_read_tables(l->fs, MEMORY_KUBELET,
				   &(struct memory_table){ &ledger_files_fields, &ledger }, 1);

	FOREACH(e, ledger.entries, ledger.n_entries) {
		const struct kubelet_value *v = &k->seen.values[e->setting];

		k->is_open |= *e->file != '\0';
		if (*e->file || !streq(e->target, v->path) || !streq(e->to, v->text))
			continue;
		k->ours |= 1u << e->setting;
		if (strcmp(e->since, k->seen.since) > 0)
			COPY(k->seen.since, e->since);
		k->seen.is_deferred |= *running && streq(e->running, running);
	}
	return r < 0 ? r : find_below(l, &ledger, k);
}

/* Forgets all values if a file could not be looked at: it may set any of them. */
static void forget_values(const struct fs *fs, const struct fs_unread *unread,
			  struct kubelet_found *k)
{
	const char *path = unread->error < 0 ? unread->path : unread->paths[0];
	const int error = unread->error < 0 ? unread->error : -EACCES;

	for (size_t i = 0; i < MIN(unread->n, ELEMENTSOF(unread->paths)); i++)
		fs_note_unread(fs, unread->paths[i], -EACCES);
	if (unread->error == 0 && unread->n == 0)
		return;
	PRINT(k->unknown, "/%.190s: %s", path, strerror(-error));
	for (enum kubelet_setting s = 0; s < _KUBELET_SETTING_N; s++)
		k->seen.values[s] = (struct kubelet_value){ .source = KUBELET_UNKNOWN };
}

int kubelet_find(const struct fs *caller_fs, bool is_asking, struct kubelet_found *ret,
		 struct kubelet_notes *ret_notes)
{
	struct fs_unread unread = {};
	struct fs looking = *caller_fs;
	const struct fs *fs = &looking;
	_cleanup_(look_done) struct value_look l = { .fs = fs, .is_asking = is_asking };
	struct kubelet_found k = {};
	struct version version = {};
	char running[80];
	int r;

	looking.unread = &unread;
	r = read_unit(&l, &k);
	if (r >= 0)
		r = find_process(&l, &k);
	if (r >= 0)
		r = read_process(&l, &k, ret_notes);
	if (r >= 0)
		r = read_flags(&l, &k);
	if (r >= 0)
		find_extra(&l.unit, &k);
	if (r >= 0)
		r = find_file(&l, &k);
	if (r >= 0)
		r = find_folder(&l, &k);
	if (r >= 0)
		r = find_moved(&l, &k);
	/* Behind it: one of the usual files may be either kind, and of a kubeconfig this copy
	 * stays. */
	if (r >= 0)
		r = servers_find(caller_fs, &l.flags, *l.rancher.name ? &l.rancher : NULL, &k.seen);
	/* Only drop-ins, options and the like depend on it: without them no program is run. */
	if (r >= 0 && (*k.seen.folder || start_needs_version(&l.sources, &l.flags)) &&
	    is_kubelet_program(k.binary))
		r = version_observe(fs, k.binary, ret_notes != NULL, &version);
	if (r < 0)
		return r;

	k.minor = version.minor;
	COPY(k.seen.version, version.text);
	find_values(&l, &k);
	r = find_microshift(&l, &k);
	if (r >= 0)
		r = cpus_numa_nodes(caller_fs, &k.n_numa_nodes);
	if (r < 0)
		return r;
	r = start_observe(fs, &l.sources, &l.flags, k.seen.root_dir, k.flavour == KUBELET_RANCHER,
			  &k.start);
	if (r >= 0)
		r = observe_cpus(&l, fs, &k);
	if (r < 0)
		return r;
	find_manager(fs, &k);
	k.was_started = was_started(&l, &k);
	k.is_unasked = l.unit.is_unasked;
	forget_values(caller_fs, &unread, &k);
	l.fs = caller_fs;
	identify(&l, running, sizeof(running));
	r = recall(&l, &k, running);
	if (r >= 0)
		r = redact_unit(fs, &l.unit);
	if (r >= 0)
		r = redact_unit(fs, &l.process);
	if (r < 0)
		return r;
	if (ret_notes) {
		COPY(ret_notes->version, version.line);
		COPY(ret_notes->running, running);
	}
	make_printable(k.seen.problem);
	make_printable(k.seen.address_problem);
	*ret = k;
	return 0;
}
