/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work: the process of a worker (worker.h), which makes one pass for the service.
 */
#pragma once

/* @fd: what the service hands over; it is closed. Return: 0 or -errno. */
int work(int fd);
