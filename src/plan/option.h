/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Option: who else sets the options of our modules, and to what? And what is to become of files of
 * ours there. Pure.
 *
 * What is loaded by this service gets its options last, and they win. What systemd-modules-load,
 * udev or an initramfs load gets what modprobe.d and the kernel command line say, in kmod's order.
 */
#pragma once

#include "../model/module-options.h"
#include "../model/plan.h"

/*
 * A refused VERB_SET_OPTION for each line that asks for something else than what is wanted, with
 * its file and line in the advice, also where a file of ours comes later and wins.
 * What a file of ours says and nothing asks for any more is a hint.
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
