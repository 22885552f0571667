/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inspect: the verbs check, explain and manifest, each by one look that changes nothing.
 */
#pragma once

#include "../model/config.h"
#include "../os/os.h"

/*
 * Would the device plugin refuse what is written for this configuration? A node that cannot be
 * looked at refuses nothing. Return: 0, -EINVAL with the reason logged, or -ENOMEM.
 */
int inspect_refuse(struct os *d, const struct config *c);
