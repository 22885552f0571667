/* SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"

#include "../model/module-options.h"
#include "helper.h"

#include <linux/capability.h>

#define SOCKET   "/run/rdma-provision-module.socket"
#define ASK_USEC (145 * USEC_PER_SEC) /* below the deadline of the verb that loads */
#define LOAD     "load"
#define REMOVE   "remove"

static int ask(const struct modules *m, const char *what, const char *name, const char *options)
{
	char question[256];

	if (m->folder || !helper_is_needed(CAP_SYS_MODULE))
		return -EHOSTDOWN;
	if ((size_t)snprintf(question, sizeof(question), "%s %s %s", what, name, options) >=
	    sizeof(question))
		return -EMSGSIZE;
	return helper_ask(SOCKET, question, ASK_USEC, NULL);
}

int loader_load(struct modules *m, const char *name, const char *options)
{
	int r = ask(m, LOAD, name, options);

	return r == -EHOSTDOWN ? module_load(m, name, options) : r;
}

int loader_remove(struct modules *m, const char *name)
{
	int r = ask(m, REMOVE, name, "");

	return r == -EHOSTDOWN ? module_remove(m, name) : r;
}

/* The other side */

static bool is_known(const char *name)
{
	static const char *const names[] = { ERDMA_MODULE,   IPOIB_MODULE, "ib_umad", "ib_uverbs",
					     PEERMEM_MODULE, "rdma_ucm",   SMC_MODULE };

	return ANY(n, names, ELEMENTSOF(names), streq(*n, name));
}

/* Does a function that is here ask for it? udev would load it as well. */
static bool is_asked_for(struct modules *m, const struct fs *fs, const char *name)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char modalias[128], found[64];

	if (fs_list(fs, "sys/bus/pci/devices", &names) < 0)
		return false;
	return ANY(n, names.names, names.n_names,
		   fs_read(fs, FS_PATH("sys/bus/pci/devices/%.64s/modalias", *n), modalias,
			   sizeof(modalias)) >= 0 &&
			   module_resolve(m, modalias, found, sizeof(found)) >= 0 &&
			   streq(found, name));
}

/* Words "compat_mode=Y reserve_ports_base=30608", of these two names. */
static bool is_mode(const char *options)
{
	static const char *const names[] = { ERDMA_COMPAT "=", ERDMA_PORTS "=" };

	for (const char *o = options; *o;) {
		const char *value = NULL;
		size_t length;

		for (size_t i = 0; i < ELEMENTSOF(names) && !value; i++)
			value = after(o, names[i]);
		length = value ? strspn(value, "0123456789YNyn") : 0;
		if (length == 0 || (value[length] && value[length] != ' '))
			return false;
		o = value + length + (value[length] == ' ');
	}
	return true;
}

static int serve_load(struct modules *m, const struct fs *fs, const char *name, const char *options)
{
	if (options[0] && (!streq(name, ERDMA_MODULE) || !is_mode(options)))
		return -EOPNOTSUPP;
	if (!is_known(name) && !is_asked_for(m, fs, name))
		return -EOPNOTSUPP;
	return module_load(m, name, options);
}

int loader_serve(struct modules *m, const struct fs *fs, const char *question)
{
	char text[256], *rest = text;
	const char *what, *name;

	if (!COPY(text, question))
		return -EOPNOTSUPP;
	what = strsep(&rest, " ");
	name = strsep(&rest, " ");
	if (!name || !rest)
		return -EOPNOTSUPP;
	if (streq(what, LOAD))
		return serve_load(m, fs, name, rest);
	if (streq(what, REMOVE) && streq(name, ERDMA_MODULE) && !*rest)
		return module_remove(m, name);
	return -EOPNOTSUPP;
}
