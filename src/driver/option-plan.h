/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Option: which other sources set options of our modules, and to what; and what becomes of our own
 * files there. Pure.
 *
 * A module that this service loads gets the service's options last, and they win. A module that
 * systemd-modules-load, udev or an initramfs loads gets those of modprobe.d and the kernel command
 * line, in kmod's order.
 */
#pragma once

#include "../model/module-options.h"
#include "../model/plan.h"

/*
 * Adds a refused VERB_SET_OPTION for each line with another value than the wanted one, with file
 * and line in the advice, also where a file of ours comes later and wins. An option in a file of
 * ours that is not wanted any more is a hint.
 * @refuses_smc: a line that loads smc is one of them.
 * Return: 0 or -ENOMEM.
 */
int plan_options(const struct node *n, struct plan *p, const struct module_options *w,
		 bool refuses_smc);

/* A file of ours in modprobe.d. */
struct option_file {
	const char *path; /* below the root */
	const char *want; /* NULL: none is wanted; of two files both want the same */
	char *have;       /* NULL: there is none */
};

int plan_option_file(const struct option_file *f, struct plan *p);
