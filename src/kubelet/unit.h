/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit: the command line that a systemd unit will start, and the statements it comes from.
 *
 * On the running system systemd says what that is, and the files only tell where it is written.
 * Below a folder there is no systemd to ask: then ExecStart=, Environment= and EnvironmentFile= are
 * read here, with "$V" and "${V}", resets, drop-ins and masks: systemd.unit(5), systemd.exec(5).
 * A variable that nothing sets stays in the words as it is written if it may still be set: one of
 * PassEnvironment=, or any while a file of EnvironmentFile= that must be there is not. So does one
 * that only some versions of systemd set.
 * Specifiers other than the unit's own name and the host's are refused there, with file and line.
 */
#pragma once

#include "../os/fs.h"
#include "words.h"

/* In copies alone: systemd skips what begins with "X-". */
#define UNIT_PROBLEM_KEY "X-RDMAProvisionProblem"

#define NO_PAGE UINT16_MAX

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
	uint32_t *newlines; /* owned; where they are */
	size_t n_newlines;
};

/* A statement of a file: a setting, an assignment or a line. */
struct place {
	uint16_t page;     /* NO_PAGE: of no file */
	uint32_t from, to; /* bytes */
};

/* A word of the command line. */
struct argument {
	char *text;         /* owned */
	size_t source;      /* the word of ExecStart= it comes from; SIZE_MAX: of none */
	struct place place; /* the statement that says it */
	uint32_t at;        /* byte where it begins there, as near as is known */
	bool is_literal;    /* it stands there as it is */
	bool is_relevant;   /* it is about a flag that we know: set by flags.c */
	bool is_labels;     /* it is the value of --node-labels: the same */
	bool is_words;      /* it is the value of --kubelet-extra-args: the same */
};

struct env_file {
	char path[256];
	bool is_optional, is_missing;
	struct place place; /* where it is named */
};

struct unit {
	char name[64], host[254]; /* host: the host name; empty: not known */
	bool is_there;
	bool is_clear;      /* the command line is all understood */
	char problem[256];  /* the first thing that was not */
	struct page *pages; /* owned */
	size_t n_pages;
	struct words exec;          /* of ExecStart=, before variables */
	struct place exec_place;    /* of it */
	char slice[128];            /* Slice=; empty: it is not given */
	uint16_t slice_page;        /* that gives it */
	uint32_t *exec_at;          /* owned; where each word of it begins */
	size_t n_names;             /* words of it that name the program */
	struct variable *variables; /* owned; of the unit, then of its files: the last one counts */
	size_t n_variables;
	struct env_file *env_files; /* owned */
	size_t n_env_files;
	struct words passed;        /* of PassEnvironment= */
	struct argument *arguments; /* owned; the command line, without the program's name */
	size_t n_arguments;
	char program[256]; /* absolute; empty: not known */
	size_t n_bytes;    /* taken of what variables and arguments may have */
	/* The time of its last start in this boot; 0: none, UINT64_MAX: systemd does not tell. */
	uint64_t start_usec;
	bool is_newer;      /* as in struct unit_paths */
	bool is_unasked;    /* systemd was not asked, as the files tell enough */
	bool hides_address; /* a shell or script gives the kubelet's address: set by find.c */
};

/*
 * @is_asking: systemd is asked for what it has loaded, also where the files tell the same. Return:
 * 0 or -ENOMEM. Release @ret with unit_done().
 */
int unit_read(const struct fs *fs, const char *name, bool is_asking, struct unit *ret);
void unit_done(struct unit *u);

/*
 * Adds a file to the pages. Return: its number; -ENOENT: there is none; -EIO: it cannot be read,
 * which is noted as the problem; -ENOMEM.
 */
int unit_add_page(struct unit *u, const struct fs *fs, const char *path, enum page_kind kind);

/* The value that counts, or NULL. */
struct variable *unit_variable(const struct unit *u, const char *name);

uint32_t unit_line(const struct unit *u, uint16_t page, uint32_t at); /* from 1; 0: not known */

#define unit_problem(u, ...) ((u)->is_clear = false, problem_note((u)->problem, __VA_ARGS__))

/* Adds the arguments that a page of flags, or of a process, has in it. 0 or -ENOMEM. */
int arguments_add_page(struct unit *u, uint16_t page);

/**
 * arguments_find_literal() - find the one text in a file that gives an argument its value
 * @i:        the argument, in a file of variables or flags
 * @value:    byte of the argument at which the value begins
 * @ret_from: where the value stands in the file, to *ret_to
 *
 * A place counts only when a plain word put there gives that word to this argument, and leaves
 * every other argument as it was; of equal flags from one variable all may change.
 *
 * Return: 1, 0: there is no such place, or -ENOMEM.
 */
int arguments_find_literal(const struct unit *u, size_t i, size_t value, uint32_t *ret_from,
			   uint32_t *ret_to);

/* In redact.c: copies for a recorder. */

/* Tells the recorder of @fs, if there is one, a copy of every page of the unit. 0 or -ENOMEM. */
int redact_unit(const struct fs *fs, const struct unit *u);
