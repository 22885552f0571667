/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serve: the verb "helper", the other side of os/helper.h. A question of the service is
 * answered, by a process that may do that one thing, and does nothing else; a second one too when
 * it comes at once.
 */
#pragma once

#include "../base/util.h"

/*
 * @name: which helper this is; questions are taken from standard input, its socket. The process is
 * ended by SIGALRM when the work on one does not end. Return: 0, or -errno, logged.
 */
int serve(const char *name);
