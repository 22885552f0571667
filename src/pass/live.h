/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live: the world of a running system, or of a tree below --root, which only answers.
 */
#pragma once

#include "../model/world.h"
#include "../os/os.h"

/* @d has to outlive the world that is returned. */
struct world live_world(struct os *d);
