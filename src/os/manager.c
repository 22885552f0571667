/* SPDX-License-Identifier: Apache-2.0 */
#include "manager.h"

#include "../base/log.h"
#include "../model/kubelet.h"
#include "helper.h"

#include <fnmatch.h>
#include <signal.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>

#define SYSTEMD      "org.freedesktop.systemd1"
#define SYSTEMD_PATH "/org/freedesktop/systemd1"
#define MANAGER      SYSTEMD ".Manager"
#define UNIT         SYSTEMD ".Unit"
#define SERVICE      SYSTEMD ".Service"
#define NETWORKD     "org.freedesktop.network1"

#define ENSURE_UNIT   "rdma-provision-kubelet.service"
#define UDEV_UNIT     "systemd-udevd.service"
#define NETWORKD_UNIT "systemd-networkd.service"

#define WATCH_USEC (5 * USEC_PER_SEC)
#define READ_USEC  (2 * USEC_PER_SEC) /* systemd may be busy; then the files tell */

CLEANUP(bus_donep, sd_bus *, sd_bus_flush_close_unref);

static uint64_t left_usec(uint64_t deadline)
{
	const uint64_t now = now_usec();

	return deadline > now ? deadline - now : 0;
}

static int open_private(sd_bus **ret)
{
	_cleanup_(bus_donep) sd_bus *bus = NULL;
	int r = sd_bus_new(&bus);

	if (r >= 0)
		r = sd_bus_set_address(bus, "unix:path=/run/systemd/private");
	if (r >= 0)
		r = sd_bus_start(bus);
	return GIVE(r, bus, ret);
}

/*
 * @types, and what follows: the arguments. Return: 0; -ENOENT: there is no such unit; -EBADR: it
 * has no such job; -ERFKILL: it is masked; or another -errno. libsystemd knows them by the names of
 * systemd's errors: src/libsystemd/sd-bus/bus-common-errors.c.
 */
static int call(sd_bus *bus, uint64_t deadline, const char *path, const char *interface,
		const char *method, sd_bus_message **ret, const char *types, ...)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	const uint64_t left = left_usec(deadline);
	va_list arguments;
	int r;

	if (left == 0)
		return -ETIMEDOUT;
	r = sd_bus_message_new_method_call(bus, &m,
					   is_prefix(interface, NETWORKD) ? NETWORKD : SYSTEMD,
					   path, interface, method);
	va_start(arguments, types);
	if (r >= 0 && *types)
		r = sd_bus_message_appendv(m, types, arguments);
	va_end(arguments);
	if (r >= 0)
		r = sd_bus_call(bus, m, left, NULL, ret);
	return MIN(r, 0);
}

static bool is_gone(int r)
{
	return r == -ECONNRESET || r == -ENOTCONN || r == -EPIPE;
}

/* Reading a unit */

/* @prefix: a character before the text, or "". */
static int add_word(struct words *l, const char *prefix, const char *text)
{
	char **slot = APPEND(l->words, l->n);

	if (!slot)
		return -ENOMEM;
	if (asprintf(slot, "%s%s", prefix, text) < 0) {
		*slot = NULL;
		l->n--;
		return -ENOMEM;
	}
	return 0;
}

/* By the private socket, where only root is let in, else over the system bus. */
static int connect_manager(sd_bus **ret)
{
	if (open_private(ret) >= 0 || sd_bus_open_system(ret) >= 0)
		return 0;
	return -EHOSTDOWN;
}

static int get_property(sd_bus *bus, uint64_t deadline, const char *path, const char *interface,
			const char *name, const char *type, sd_bus_message **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = call(bus, deadline, path, "org.freedesktop.DBus.Properties", "Get", &m, "ss",
		     interface, name);

	if (r >= 0)
		r = sd_bus_message_enter_container(m, SD_BUS_TYPE_VARIANT, type);
	return GIVE(r, m, ret);
}

static int read_words(sd_bus_message *m, struct words *ret)
{
	const char *text;
	int r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "s");

	while (r >= 0 && (r = sd_bus_message_read(m, "s", &text)) > 0)
		r = add_word(ret, "", text);
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_exec(sd_bus_message *m, struct words *ret)
{
	const char *path;
	int r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "(sasbttttuii)");

	if (r > 0)
		r = sd_bus_message_enter_container(m, SD_BUS_TYPE_STRUCT, "sasbttttuii");
	if (r <= 0)
		return r;
	r = sd_bus_message_read(m, "s", &path);
	if (r >= 0)
		r = read_words(m, ret);
	if (r < 0 || ret->n == 0)
		return r;

	/* With "@" the first argument is another than the program's path. */
	free(ret->words[0]);
	ret->words[0] = strdup(path);
	return ret->words[0] ? 0 : -ENOMEM;
}

static int read_env_files(sd_bus_message *m, struct words *ret)
{
	const char *path;
	int r, is_optional;

	r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "(sb)");
	while (r >= 0 && (r = sd_bus_message_read(m, "(sb)", &path, &is_optional)) > 0)
		r = add_word(ret, is_optional ? "-" : "+", path);
	return MIN(r, 0);
}

/*
 * A start takes the time of the main process before it away (service_start() in
 * src/core/service.c), and that of the unit is only set when it is ready.
 */
static int read_start(sd_bus *bus, uint64_t deadline, const char *path, uint64_t *ret)
{
	static const struct {
		const char *interface, *name;
	} times[] = { { SERVICE, "ExecMainStartTimestampMonotonic" },
		      { UNIT, "ActiveEnterTimestampMonotonic" } };
	uint64_t latest = 0;

	for (size_t i = 0; i < ELEMENTSOF(times); i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
		uint64_t usec = 0;
		int r = get_property(bus, deadline, path, times[i].interface, times[i].name, "t",
				     &m);

		if (r >= 0)
			r = sd_bus_message_read(m, "t", &usec);
		if (r < 0)
			return r;
		latest = MAX(latest, usec);
	}

	*ret = latest;
	return 0;
}

/* Has systemd load a unit; *ret is the D-Bus path of its object, release with free(). */
static int load_unit(sd_bus *bus, uint64_t deadline, const char *unit, char **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	const char *path;
	int r = call(bus, deadline, SYSTEMD_PATH, MANAGER, "LoadUnit", &m, "s", unit);

	if (r >= 0)
		r = sd_bus_message_read(m, "o", &path);
	if (r < 0)
		return r;
	*ret = strdup(path);
	return *ret ? 0 : -ENOMEM;
}

static int read_unit(sd_bus *bus, const char *unit, uint64_t deadline, struct manager_unit *ret)
{
	const struct {
		const char *interface, *name, *type;
		int (*read)(sd_bus_message *m, struct words *ret);
		struct words *ret;
	} words[] = {
		{ SERVICE, "ExecStart", "a(sasbttttuii)", read_exec, &ret->exec },
		{ SERVICE, "Environment", "as", read_words, &ret->environment },
		{ MANAGER, "Environment", "as", read_words, &ret->inherited },
		{ SERVICE, "EnvironmentFiles", "a(sb)", read_env_files, &ret->env_files },
	};
	_cleanup_(freep) char *path = NULL;
	int r = load_unit(bus, deadline, unit, &path);

	for (size_t i = 0; i < ELEMENTSOF(words) && r >= 0; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

		r = get_property(bus, deadline,
				 streq(words[i].interface, MANAGER) ? SYSTEMD_PATH : path,
				 words[i].interface, words[i].name, words[i].type, &m);
		if (r >= 0)
			r = words[i].read(m, words[i].ret);
	}
	return r < 0 ? r : read_start(bus, deadline, path, &ret->start_usec);
}

static int read_text(sd_bus *bus, const char *path, const char *name, char *ret, size_t size)
{
	_cleanup_(freep) char *text = NULL;
	int r = sd_bus_get_property_string(bus, SYSTEMD, path, UNIT, name, NULL, &text);

	return r < 0 ? r : copy(ret, size, text) ? 0 : -EMSGSIZE;
}

static int on_changed(_unused_ sd_bus_message *m, _unused_ void *userdata,
		      _unused_ sd_bus_error *error)
{
	return 0; /* it only has to wake */
}

void manager_watch_done(struct manager_watch *w)
{
	bus_donep(&w->bus);
	free(w->path);
	*w = (struct manager_watch){};
}

int manager_watch_open(const char *unit, struct manager_watch *ret)
{
	_cleanup_(manager_watch_done) struct manager_watch w = {};
	int r = connect_manager(&w.bus);

	/* systemd sends signals to those who ask for them. */
	if (r >= 0)
		r = call(w.bus, now_usec() + WATCH_USEC, SYSTEMD_PATH, MANAGER, "Subscribe", NULL,
			 "");
	if (r >= 0)
		r = load_unit(w.bus, now_usec() + WATCH_USEC, unit, &w.path);
	if (r >= 0)
		r = sd_bus_match_signal(w.bus, NULL, NULL, w.path,
					"org.freedesktop.DBus.Properties", "PropertiesChanged",
					on_changed, NULL);
	return GIVE(is_gone(r) ? -EHOSTDOWN : r, w, ret);
}

int manager_watch_fd(const struct manager_watch *w)
{
	return sd_bus_get_fd(w->bus);
}

static int read_activity(struct manager_watch *w, struct manager_activity *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *job = NULL;
	struct manager_activity a = {};
	uint32_t id = 0;
	int r = read_text(w->bus, w->path, "ActiveState", a.active, sizeof(a.active));

	if (r >= 0)
		r = read_text(w->bus, w->path, "LoadState", a.load, sizeof(a.load));
	if (r >= 0)
		r = get_property(w->bus, now_usec() + WATCH_USEC, w->path, UNIT, "Job", "(uo)",
				 &job);
	if (r >= 0)
		r = sd_bus_message_read(job, "(uo)", &id, NULL);
	a.has_job = id != 0;
	return GIVE(r, a, ret);
}

int manager_watch_look(struct manager_watch *w, struct manager_activity *ret)
{
	int r;

	/* A signal that comes before an answer is in the queue of the bus and not in its file
	 * descriptor any more: poll() does not wake for it. */
	do {
		while ((r = sd_bus_process(w->bus, NULL)) > 0)
			;
		if (r >= 0)
			r = read_activity(w, ret);
	} while (r >= 0 && (r = sd_bus_process(w->bus, NULL)) > 0);
	return MIN(r, 0);
}

/*
 * Runs a job of a service to its end; @result: the property that tells how it ended. Return: as
 * call(), -EHOSTDOWN no systemd to ask, -ETIMEDOUT, or -EIO: it failed (its journal tells why).
 */
static int run_job(const char *method, const char *result, const char *unit, uint64_t timeout_usec)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	_cleanup_(manager_watch_done) struct manager_watch w = {};
	const uint64_t deadline = now_usec() + timeout_usec;
	struct manager_activity a;
	const char *word = "";
	int r = manager_watch_open(unit, &w);

	if (r >= 0)
		r = call(w.bus, deadline, SYSTEMD_PATH, MANAGER, method, NULL, "ss", unit,
			 "replace");
	while (r >= 0 && (r = manager_watch_look(&w, &a)) >= 0 && a.has_job) {
		const uint64_t left = left_usec(deadline);

		r = left > 0 ? sd_bus_wait(w.bus, left) : -ETIMEDOUT;
		r = r == -EINTR ? 0 : r;
	}
	if (r >= 0)
		r = get_property(w.bus, deadline, w.path, SERVICE, result, "s", &m);
	if (r >= 0)
		r = sd_bus_message_read(m, "s", &word);
	if (r < 0)
		return is_gone(r) ? -EHOSTDOWN : r;
	return streq(word, "success") ? 0 : -EIO;
}

int manager_reload(uint64_t timeout_usec)
{
	_cleanup_(bus_donep) sd_bus *bus = NULL;
	int r = connect_manager(&bus);

	if (r >= 0)
		r = call(bus, now_usec() + timeout_usec, SYSTEMD_PATH, MANAGER, "Reload", NULL, "");
	return is_gone(r) ? -EHOSTDOWN : r;
}

/* --- requests --- */

static int hang_up_udev(void)
{
	_cleanup_(bus_donep) sd_bus *bus = NULL;
	int r = connect_manager(&bus);

	if (r >= 0)
		r = sd_bus_call_method(bus, SYSTEMD, SYSTEMD_PATH, MANAGER, "KillUnit", NULL, NULL,
				       "ssi", UDEV_UNIT, "main", SIGHUP);
	return MIN(r, 0);
}

/*
 * Where udevd cannot be reloaded (before systemd 243), or its ExecReload= fails, it gets SIGHUP,
 * which means the same to it. Before systemd 250 udevd kills what is left in its control group when
 * it has nothing to do, and its own ExecReload= with it: on_post() in src/udev/udevd.c of v247,
 * seen on that of bullseye. When it does not run it has nothing to reload: 0.
 */
static int reload_udev(uint64_t timeout_usec)
{
	int r = run_job("ReloadUnit", "ReloadResult", UDEV_UNIT, timeout_usec);

	return r == -EBADR || r == -EIO ? hang_up_udev() : r;
}

/* The file of this package is in every image, hence networkd reads it when it starts. */
static const char *const network_files[] = {
	"usr/lib/systemd/network/00-rdma-provision.network",
	"lib/systemd/network/00-rdma-provision.network",
};

/* When the file came to be here; 0: it is not, since this systemd does not need or know it. */
static uint64_t network_file_usec(const struct fs *fs)
{
	struct stat st;

	for (size_t i = 0; i < ELEMENTSOF(network_files); i++)
		if (fs_stat(fs, network_files[i], &st) >= 0)
			return (uint64_t)st.st_ctim.tv_sec * USEC_PER_SEC +
			       (uint64_t)st.st_ctim.tv_nsec / NSEC_PER_USEC;
	return 0;
}

/* When the main process of networkd was started, CLOCK_REALTIME; 0: it does not run. */
static int get_networkd_start(uint64_t *ret_usec)
{
	_cleanup_(bus_donep) sd_bus *bus = NULL;
	_cleanup_(freep) char *path = NULL;
	uint64_t started = 0;
	uint32_t pid = 0;
	int r = sd_bus_path_encode(SYSTEMD_PATH "/unit", NETWORKD_UNIT, &path);

	if (r >= 0)
		r = connect_manager(&bus);
	if (r >= 0)
		r = sd_bus_get_property_trivial(bus, SYSTEMD, path, SERVICE, "MainPID", NULL, 'u',
						&pid);
	if (r >= 0 && pid > 0)
		r = sd_bus_get_property_trivial(bus, SYSTEMD, path, SERVICE,
						"ExecMainStartTimestamp", NULL, 't', &started);
	if (r < 0)
		return is_gone(r) ? -EHOSTDOWN : r;

	*ret_usec = started;
	return 0;
}

/*
 * networkd configures links for which its files have changed (systemd 244). Only when the package
 * was installed while networkd was running: a reload also makes it read what another program has
 * changed and not yet announced to it.
 */
static int reload_networkd(const struct fs *fs, uint64_t timeout_usec)
{
	_cleanup_(bus_donep) sd_bus *bus = NULL;
	const uint64_t file = network_file_usec(fs);
	uint64_t started = 0;
	int r = file > 0 ? get_networkd_start(&started) : 0;

	if (r < 0 || started == 0 || started > file)
		return r;
	/* networkd is on the system bus only. */
	if (sd_bus_open_system(&bus) < 0)
		return -EHOSTDOWN;
	return call(bus, now_usec() + timeout_usec, "/org/freedesktop/network1",
		    NETWORKD ".Manager", "Reload", NULL, "");
}

static int start_ensure_unit(_unused_ const struct fs *fs, uint64_t timeout_usec)
{
	return run_job("StartUnit", "Result", ENSURE_UNIT, timeout_usec);
}

static int reload_rules(const struct fs *fs, uint64_t timeout_usec)
{
	int r = reload_udev(timeout_usec / 2), k;

	if (r == -EHOSTDOWN)
		return r;
	k = reload_networkd(fs, timeout_usec / 2);
	/* A node without udev has no rules either. */
	return r < 0 && r != -ENOENT ? r : k == -ENOENT || k == -EHOSTDOWN ? 0 : k;
}

static int reload_units(_unused_ const struct fs *fs, uint64_t timeout_usec)
{
	return manager_reload(timeout_usec);
}

static const struct {
	int (*make)(const struct fs *fs, uint64_t timeout_usec);
	uint64_t timeout_usec; /* below the deadline of the verb that makes it */
} requests[] = {
	[WANT_KUBELET] = { start_ensure_unit, 25 * USEC_PER_SEC },
	[WANT_RULES] = { reload_rules, 25 * USEC_PER_SEC },
	[WANT_UNITS] = { reload_units, 50 * USEC_PER_SEC }, /* all generators run */
};
_Static_assert(ELEMENTSOF(requests) == _WANT_N, "a line for every wish");

void manager_prepare(void)
{
	const int r = helper_wake(MANAGER_SOCKET);

	if (r < 0 && r != -EHOSTDOWN)
		log_debug_errno(r, MANAGER_SOCKET);
}

int manager_request(const struct fs *fs, enum want what)
{
	const uint64_t timeout_usec = requests[what].timeout_usec;
	int r = requests[what].make(fs, timeout_usec);

	if (r == -EHOSTDOWN && what == WANT_KUBELET)
		manager_prepare(); /* kubelet-ensure has five seconds, and asks it */
	return r == -EHOSTDOWN ? want_make(fs, what, timeout_usec) : r;
}

int manager_serve_wants(const struct fs *fs, int (*is_stale)(const struct fs *fs))
{
	int result = 0;

	/* kubelet-ensure takes its own wish. */
	for (enum want what = WANT_KUBELET + 1; what < _WANT_N; what++) {
		int n = want_take(fs, what);
		int r = n > 0 && (what != WANT_UNITS || is_stale(fs) != 0)
				? requests[what].make(fs, requests[what].timeout_usec)
				: n;

		result = result < 0 ? result : r < 0 ? r : result + n;
	}
	return result;
}

static int serve_unit(const char *unit, char **ret_answer)
{
	_cleanup_(manager_unit_done) struct manager_unit m = {};
	_cleanup_(bus_donep) sd_bus *bus = NULL;
	int r;

	if (!ANY(k, kubelet_units, ELEMENTSOF(kubelet_units), streq(*k, unit)) &&
	    fnmatch(K3S_UNITS, unit, FNM_PATHNAME) != 0)
		return -EPERM;
	r = connect_manager(&bus);
	if (r >= 0)
		r = read_unit(bus, unit, now_usec() + READ_USEC, &m);
	if (r < 0)
		return is_gone(r) ? -EHOSTDOWN : r;
	return manager_unit_print(&m, ret_answer);
}

int manager_serve(const char *question, char **ret_answer)
{
	const char *unit = after(question, MANAGER_UNIT_QUESTION);

	return unit ? serve_unit(unit, ret_answer) : -EOPNOTSUPP;
}
