/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gate: what keeps a kubelet from starting, as [Kubelet] Gate= says. off: nothing. strict: all but
 * a ready node. degraded: a node that is starting, and it waits there, for it is run in a unit of
 * its own that the kubelet is only ordered after; it always opens in the end.
 */
#pragma once

#include "doors/fs.h"
#include "model/config.h"

/*
 * Gate=degraded waits, at most ReadyTimeoutSec=, while state.json says starting and the service is
 * active, and while there is no state and the service is being started. It opens with a warning
 * when no state can be read or will come. Below a --root nothing is waited for.
 * Return: is the gate open? If not, it was said why.
 */
bool gate_pass(const struct fs *fs, const struct config *c);
