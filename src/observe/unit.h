/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit: the command line that a systemd unit will start, from its files or from systemd itself,
 * with each letter's place in those files.
 *
 * Below a folder there is no systemd to ask: then its rules are followed here, for ExecStart=,
 * Environment= and EnvironmentFile=, resets, drop-ins and masks: systemd.unit(5), systemd.exec(5).
 * On the running system what systemd has loaded counts, and the files only tell where it is
 * written.
 */
#pragma once

#include "../doors/fs.h"
#include "words.h"

/* In copies alone: systemd skips what begins with "X-". */
#define UNIT_PROBLEM_KEY "X-RDMAProvisionProblem"

enum page_kind {
	PAGE_UNIT,
	PAGE_VARIABLES, /* of EnvironmentFile= */
	PAGE_FLAGS,     /* one flag a line */
	PAGE_PROCESS,   /* /proc/PID/cmdline */
};

struct page {
	char path[256]; /* absolute */
	enum page_kind kind;
	char *text; /* owned */
	size_t size;
	uint32_t *ends; /* owned; bytes at which its lines end, for unit_line() */
	size_t n_ends;
};

/* A word of the command line. */
struct argument {
	struct word word; /* owned */
	size_t source;    /* the word of ExecStart= it comes from; SIZE_MAX: of none */
	bool is_relevant; /* it is about a flag that we know: set by flags.c */
};

struct env_file {
	char path[256];
	bool is_optional, is_missing;
	uint16_t page; /* where it is named */
	uint32_t at;
};

struct unit {
	char name[64];
	bool is_there;
	bool is_clear;      /* the command line is all understood */
	char problem[256];  /* the first thing that was not */
	struct page *pages; /* owned */
	size_t n_pages;
	struct words exec;          /* of ExecStart=, before variables */
	struct variable *variables; /* owned; of the unit, then of its files: the last one counts */
	size_t n_variables;
	struct env_file *env_files; /* owned */
	size_t n_env_files;
	struct argument *arguments; /* owned; the command line, without the program's name */
	size_t n_arguments;
	char program[256]; /* absolute; empty: not known */
	size_t n_bytes;    /* taken of what variables and arguments may have */
	char memlock[64];  /* LimitMEMLOCK= as its files say it; empty: they do not */
	/* Of its last start in this boot; 0: none, UINT64_MAX: systemd does not tell. */
	uint64_t start_usec;
	bool is_unasked; /* this process does not reach systemd: the files alone tell */
};

/* Has it a file, which is not masked? */
bool unit_is_there(const struct fs *fs, const char *name);

/* @may_help: see loaded.h. Return: 0 or -ENOMEM. Release @ret with unit_done(). */
int unit_read(const struct fs *fs, const char *name, bool may_help, struct unit *ret);
void unit_done(struct unit *u);

/*
 * The same of its files alone, also on the running system, and as far as they are understood line
 * by line: is_there and memlock. Asks nobody.
 */
int unit_read_files(const struct fs *fs, const char *name, struct unit *ret);

/* DefaultLimitMEMLOCK= in system.conf and its drop-ins, as memlock: systemd-system.conf(5). */
int unit_read_manager(const struct fs *fs, struct unit *ret);

/*
 * Adds a file to the pages. Return: its number; -ENOENT: there is none; -EIO: it cannot be read,
 * which is noted as the problem; -ENOMEM.
 */
int unit_add_page(struct unit *u, const struct fs *fs, const char *path, enum page_kind kind);

/* Takes NAME=VALUE in one word; the last of a name counts. 0 or -ENOMEM. */
int unit_assign(struct unit *u, const struct word *w);

/*
 * Takes room for another variable or argument. Return: false when all are more than a command may
 * have, which is noted as the problem.
 */
bool unit_has_room(struct unit *u, const struct word *w);

/* The value that counts, or NULL. */
const struct variable *unit_variable(const struct unit *u, const char *name);

uint32_t unit_line(const struct unit *u, uint16_t page, uint32_t at); /* from 1 */

_printf_(2, 3) void unit_problem(struct unit *u, const char *format, ...);
