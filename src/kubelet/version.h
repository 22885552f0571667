/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version: which version a kubelet, rke2 or k3s binary is, asked once and remembered in /run by
 * path, inode and time of change.
 */
#pragma once

#include "../base/util.h"
#include "../os/fs.h"

struct version {
	uint32_t minor; /* N of 1.N; 0: not known */
	char text[48];  /* "v1.30.4-eks-a18cd3a"; empty: not known */
	char line[400]; /* to be remembered; empty: it is already, or there is nothing to */
};

/*
 * @binary: absolute, or empty. It is only run when @may_run, with a deadline of 3 s, and never
 * below a folder; what takes longer or fails is not known. Return: 0.
 */
int version_observe(const struct fs *fs, const char *binary, bool may_run, struct version *ret);

/* "Kubernetes v1.30.4-eks-a18cd3a", "rke2 version v1.32.1+rke2r1 (...)". 0: neither, or v0.0.0. */
uint32_t version_parse(const char *output, char *ret_text, size_t size);

/**
 * program_output() - run a program with one argument and keep what it prints
 * @path:     absolute
 * @argument: "--version"
 * @ret:      the first bytes of its standard output, NUL appended
 *
 * No shell, no environment and no input. The program, and what it starts, is killed at the
 * deadline, and not waited for: it may be stuck in the kernel. A pipe shows that all of them have
 * ended; pidfd_open(2) is not in @system-service of systemd 239: src/shared/seccomp-util.c.
 *
 * Return: 0 when it ended with 0; -ETIMEDOUT, -EIO when it failed, or why it could not be run.
 */
int program_output(const char *path, const char *argument, uint64_t timeout_usec, char *ret,
		   size_t size);
