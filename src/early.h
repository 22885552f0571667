/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Early: the part that must precede sysinit.target, before any driver is loaded and any other
 * network namespace exists. Needs nothing below /var and writes only below /run/modprobe.d.
 */
#pragma once

#include "run.h"

/*
 * Writes the option that gives ib_core its netns mode at its first load, or removes it when the
 * mode is to be kept; then sets the mode by netlink, for an ib_core that was loaded in the
 * initramfs. Return: 0 or -errno.
 */
int early(struct doors *d, const struct config *c);
