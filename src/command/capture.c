/* SPDX-License-Identifier: Apache-2.0 */
#include "capture.h"

#include "../base/log.h"
#include "../config/load.h"
#include "../guard/users-observe.h"
#include "../health/limits-observe.h"
#include "../model/plan.h"
#include "../os/kmsg.h"
#include "../os/snapshot.h"
#include "../os/tar.h"
#include "../step/observers.h"
#include "session.h"
#include "status.h"

#include <fcntl.h>
#include <sys/stat.h>

#define ZERO_GID "0000:0000:0000:0000:0000:0000:0000:0000"

struct capture_record {
	enum record_kind kind;
	char *path; /* owned */
	char *data; /* owned */
	size_t size;
};

struct recorder {
	struct capture_record *records; /* owned */
	size_t n_records;
	int error; /* -ENOMEM */
};

static void recorder_done(struct recorder *rec)
{
	for (size_t i = 0; i < rec->n_records; i++) {
		free(rec->records[i].path);
		free(rec->records[i].data);
	}
	free(rec->records);
}

static void on_read(void *userdata, enum record_kind kind, const char *path, const char *data,
		    size_t size)
{
	struct recorder *rec = userdata;
	struct capture_record *record;

	/* A captured tree has such a file; the answers are written again. */
	if (streq(path, ANSWERS_PATH))
		return;
	/* A table of 1,024 GIDs is read for the few that are set; an absent slot reads as an empty
	 * one. */
	if (rec->error < 0 ||
	    (kind == RECORD_FILE && strstr(path, "/gids/") && size >= strlen(ZERO_GID) &&
	     memcmp(data, ZERO_GID, strlen(ZERO_GID)) == 0))
		return;

	record = APPEND(rec->records, rec->n_records);
	if (record)
		*record = (struct capture_record){ kind, strdup(path), malloc(size + 1), size };
	if (!record || !record->path || !record->data) {
		rec->error = -ENOMEM;
		return;
	}
	if (size > 0)
		memcpy(record->data, data, size);
	record->data[size] = '\0';
}

/*
 * By path. Of two records of a path the last one counts: a file that was read goes before one that
 * was only looked for, and a later look before an earlier one.
 */
static int compare_records(const void *a, const void *b)
{
	const struct capture_record *x = *(struct capture_record *const *)a,
				    *y = *(struct capture_record *const *)b;
	int r = strcmp(x->path, y->path);

	if (r == 0)
		r = (x->size > 0) - (y->size > 0);
	return r != 0 ? r : (x > y) - (x < y);
}

static int write_archive(const struct recorder *rec, const char *answers, int fd)
{
	_cleanup_(freep) struct capture_record **sorted =
		reallocarray(NULL, rec->n_records + 1, sizeof(*sorted));
	int r;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_records; i++)
		sorted[i] = &rec->records[i];
	qsort(sorted, rec->n_records, sizeof(*sorted), compare_records);

	r = tar_add(fd, RECORD_FILE, ANSWERS_PATH, answers, strlen(answers));
	for (size_t i = 0; i < rec->n_records && r >= 0; i++)
		if (i + 1 == rec->n_records || !streq(sorted[i]->path, sorted[i + 1]->path))
			r = tar_add(fd, sorted[i]->kind, sorted[i]->path, sorted[i]->data,
				    sorted[i]->size);
	return r < 0 ? r : tar_end(fd);
}

/* PFs that are not managed are asked about as well: a plan of another configuration may need it. */
static int answer_all(struct os *d, struct node *n, const struct memory *memory)
{
	_cleanup_(questions_done) struct questions q = {
		.set = 1u << QUESTION_PCIE | 1u << QUESTION_LOG |
		       (n->has_dcbs ? 0 : 1u << QUESTION_DCB)
	};
	int r = n->has_users ? 0 : observe_users(d, n, memory);

	for (size_t i = 0; i < n->n_pcis && r >= 0; i++)
		if (!n->pcis[i].physfn[0] && !n->pcis[i].is_management)
			r = questions_add_function(&q, n->pcis[i].address);
	if (r < 0)
		return r;
	observe_pcie(&d->fs, &q, n);
	observe_log(&d->fs, &q, n);
	observe_vf_owners(&d->fs, &q, n);
	return observe_dcbs(d, &q, n, memory);
}

/* Logs what of the node is not in the archive. Return: 1 when something is not, else 0. */
static int tell_left_out(const struct os *d, const struct node *n)
{
	if (!n->has_socks && !n->is_copy)
		log_error("The sockets of the node are not in the archive: they cannot be listed");
	if (os_is_incomplete(d))
		log_error(OS_INCOMPLETE ": the archive may lack some of them");
	status_tell_denied(d->fs.unread);
	return (!n->has_socks && !n->is_copy) || os_is_incomplete(d) || d->fs.unread->n > 0;
}

int capture(struct os *d, const char *config_file, int fd)
{
	_cleanup_(recorder_done) struct recorder rec = {};
	_cleanup_(config_done) struct config c = {};
	_cleanup_(inspection_done) struct inspection in = {};
	_cleanup_(freep) char *answers = NULL;
	struct fs_unread unread = {};
	int r;

	d->fs.unread = &unread;
	d->fs.on_read = on_read;
	d->fs.userdata = &rec;
	r = load_config(&d->fs, config_file, &c);
	if (r >= 0)
		r = loop_plan(d, &c, &in);
	if (r >= 0)
		r = answer_all(d, &in.node, &in.memory);
	d->fs.on_read = NULL;
	if (r >= 0)
		r = rec.error < 0 ? rec.error : snapshot_write(&in.node, &answers);
	if (r >= 0)
		r = write_archive(&rec, answers, fd);
	if (r >= 0)
		r = tell_left_out(d, &in.node);
	d->fs.unread = NULL;
	return r;
}

static bool is_stdout(const struct stat *st)
{
	struct stat out;

	return fstat(STDOUT_FILENO, &out) >= 0 && out.st_dev == st->st_dev &&
	       out.st_ino == st->st_ino;
}

/*
 * Opens a path that exists and is no regular file: a FIFO, a device as /dev/null, or a link that
 * standard output has in /dev and /proc. Any other link may have been planted, and is not followed.
 */
static int open_in_place(const char *path, bool is_link)
{
	_cleanup_(closep) int fd = -EBADF;
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (is_stdout(&st)) {
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? -errno : TAKE_FD(fd);
	}
	if (is_link && !S_ISFIFO(st.st_mode))
		return -ELOOP;
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EMEDIUMTYPE;
	fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode) ? TAKE_FD(fd) : -EMEDIUMTYPE;
}

/* Only the caller may read the archive: mode 0600. */
static int write_file(struct os *d, const char *config_file, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const int n = (int)(name - path);
	_cleanup_(closep) int folder = -EBADF, fd = -EBADF;
	char parent[PATH_MAX], temporary[PATH_MAX];
	int r;

	if ((size_t)PRINT(temporary, "%.*s.%s.tmp", n, path, name) >= sizeof(temporary))
		return -ENAMETOOLONG;
	PRINT(parent, "%.*s.", n, path);
	folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* A crash may have left a temporary file behind. */
	if (folder < 0 || (unlink(temporary) < 0 && errno != ENOENT))
		return -errno;
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	r = capture(d, config_file, fd);
	if (r >= 0 && (fsync(fd) < 0 || rename(temporary, path) < 0 || fsync(folder) < 0))
		r = -errno;
	if (r < 0)
		unlink(temporary);
	return r;
}

int capture_file(struct os *d, const char *config_file, const char *path)
{
	_cleanup_(closep) int fd = -EBADF;
	struct stat st;
	const int r = lstat(path, &st) < 0 ? -errno : 0;

	if (r == -ENOENT || (r >= 0 && S_ISREG(st.st_mode)))
		return write_file(d, config_file, path);
	fd = r < 0 ? r : open_in_place(path, S_ISLNK(st.st_mode));
	return fd < 0 ? fd : capture(d, config_file, fd);
}

int command_capture(const struct command *cmd)
{
	const char *path = cmd->argument ? cmd->argument : "rdma-provision-capture.tar";
	const bool is_stdout = streq(path, "-");
	_cleanup_(os_close) struct os d = { .fs.root = -EBADF };
	int r;

	if (is_stdout && cmd->is_json) {
		log_error("capture - prints the archive: take it without --json");
		return EXIT_FAILURE;
	}
	if (session_open_root(cmd, &d) < 0)
		return EXIT_FAILURE;
	r = is_stdout ? capture(&d, cmd->config, STDOUT_FILENO)
		      : capture_file(&d, cmd->config, path);
	if (r < 0 && r != -EPIPE) /* "| head" wants no more */
		log_error_errno(r, "%s", path);
	else if (r >= 0 && !is_stdout)
		log_info("%s: use --root=%s with plan or status", path, path);
	return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
