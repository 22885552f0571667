/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look: what a look at the node tells of the kubelet, and what is decided of that. The files of the
 * kubelet are edited by the program rdma-provision-kubelet alone: ensure.h, edit.h.
 * observe_generated() of step/observers.h is here as well.
 */
#pragma once

#include "../model/config.h"
#include "find.h"

/**
 * kubelet_look() - what is found, and what is to be done about it
 * @c:       the policies that are asked for
 * @is_copy: of files: a kubelet's file that is not in it is not known, and may say anything
 *
 * Labels are those of --node-labels and, before them, of LabelFile=. Of that file other labels are
 * not looked at, and a NUL ends it.
 *
 * Edits nothing and runs nothing. The manager helper is asked for what systemd has loaded of the
 * unit where something cannot be done to the kubelet by what its files say.
 *
 * Return: 0, or -ENOMEM.
 */
int kubelet_look(const struct fs *fs, const struct config *c, bool is_copy, struct kubelet *ret,
		 struct kubelet_decision *ret_decision);

/**
 * kubelet_decide() - what is to be done about each setting that is asked for, by the one table of
 * decide-rules.c
 * @ret: an item for each setting that is asked for; row 0: is not
 *
 * Pure. A stricter value of the operator is never lowered, and what is not understood is left
 * alone.
 */
void kubelet_decide(const struct config *c, const struct kubelet_found *k,
		    struct kubelet_decision *ret);

/*
 * kubelet_find() and kubelet_decide(), and both again with systemd's answer where something was
 * refused that it may know better than the files. Return: 0 or -ENOMEM.
 */
int kubelet_judge(const struct fs *fs, const struct config *c, bool is_copy,
		  struct kubelet_found *ret, struct kubelet_decision *ret_decision,
		  struct kubelet_notes *ret_notes);
