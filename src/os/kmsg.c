/* SPDX-License-Identifier: Apache-2.0 */
#include "kmsg.h"

#include "helper.h"
#include "module.h"

#include <ctype.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sys/klog.h>

#define PATH      "dev/kmsg"
#define MAX_BYTES (4u << 20)
#define WARNING   4 /* KERN_WARNING; lower is worse */
#define ASK_USEC  (5 * USEC_PER_SEC)

/* Numbers of syslog(2), which the C library has no names for. */
#define READ_ALL    3
#define SIZE_BUFFER 10

/* Finds "0000:41:00.1" in a line. Return: its length, 0: there is none. */
static size_t find_address(const char *line, const char **ret)
{
	for (*ret = line; **ret; (*ret)++) {
		const size_t n = *ret > line && isalnum((unsigned char)(*ret)[-1])
					 ? 0
					 : pci_address_len(*ret);
		if (n > 0)
			return n;
	}
	return 0;
}

/* Is it a warning or an error of a function? A line without a level goes on with another one. */
static bool is_kept(const char *line)
{
	const char *level = line + (line[0] == '<'), *address;

	return isdigit((unsigned char)*level) && (strtoul(level, NULL, 10) & 7) <= WARNING &&
	       strchr(line, line[0] == '<' ? '>' : ';') && find_address(line, &address) > 0;
}

/* Some drivers end their lines with a carriage return too. */
static void filter(char *text)
{
	char *to = text, *rest = text, *line;

	while ((line = strsep(&rest, "\r\n"))) {
		size_t n = is_kept(line) ? strlen(line) : 0;

		memmove(to, line, n);
		to += n;
		if (n > 0 && rest)
			*to++ = '\n';
	}
	*to = '\0';
}

static int read_live(char **ret)
{
	const int size = klogctl(SIZE_BUFFER, NULL, 0);
	_cleanup_(freep) char *text = size < 0 ? NULL : malloc((size_t)size + 1);
	int n;

	if (size < 0)
		return -errno;
	if (!text)
		return -ENOMEM;
	n = klogctl(READ_ALL, text, size);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	*ret = TAKE(text);
	return 0;
}

static int read_log(const struct fs *fs, char **ret)
{
	struct fs quiet = *fs;
	int r = -EHOSTDOWN;

	quiet.on_read = NULL;
	if (!fs->is_live)
		return fs_read_all(&quiet, PATH, MAX_BYTES, false, ret, NULL);
	if (helper_is_needed(CAP_SYSLOG))
		r = helper_ask(MODULE_SOCKET, KMSG_QUESTION, ASK_USEC, ret);
	return r == -EHOSTDOWN ? read_live(ret) : r;
}

int kmsg_read(const struct fs *fs, char **ret)
{
	_cleanup_(freep) char *text = NULL;
	int r = read_log(fs, &text);

	fs_note_unread(fs, PATH, r);
	if (r < 0)
		return r;
	filter(text);
	if (fs->on_read)
		fs->on_read(fs->userdata, RECORD_FILE, PATH, text, strlen(text));
	*ret = TAKE(text);
	return 0;
}

static void parse(const char *line, struct log_line *ret)
{
	const char *address;
	const int length = (int)find_address(line, &address);
	uint64_t usec = 0;

	snprintf(ret->pci, sizeof(ret->pci), "%.*s", length, address);
	if (line[0] == '<')
		snprintf(ret->text, sizeof(ret->text), "%s", strchr(line, '>') + 1);
	else if (sscanf(line, "%*u,%*u,%" SCNu64, &usec) >= 0)
		snprintf(ret->text, sizeof(ret->text), "[%5" PRIu64 ".%06" PRIu64 "] %s",
			 usec / USEC_PER_SEC, usec % USEC_PER_SEC, strchr(line, ';') + 1);
	make_printable(ret->text);
}

/* The last lines of each function are kept, and of a failed probe all, which driver/driver-plan.c
 * goes by. */
static void add(struct node *n, const struct log_line *l)
{
	struct log_line *oldest = NULL;
	size_t count = 0;

	for (size_t i = n->n_log_lines; i-- > 0;)
		if (streq(n->log_lines[i].pci, l->pci)) {
			if (!oldest || !strstr(n->log_lines[i].text, LOG_PROBE_FAILED))
				oldest = &n->log_lines[i];
			count++;
		}
	if (count == LOG_LINES_MAX)
		memmove(oldest, oldest + 1,
			sizeof(*oldest) * (size_t)(&n->log_lines[--n->n_log_lines] - oldest));
	NODE_ADD(n, log_lines, *l);
}

int observe_log(const struct fs *fs, const struct questions *q, struct node *n)
{
	_cleanup_(freep) char *text = NULL;
	char *rest, *line;

	if (!questions_ask(q, QUESTION_LOG) || kmsg_read(fs, &text) < 0)
		return 0;
	n->n_log_lines = 0;
	rest = text;
	while ((line = strsep(&rest, "\n")) && *line) {
		struct log_line l = {};
		const struct pci *pci;

		parse(line, &l);
		pci = node_pci(n, l.pci);
		if (pci && (!pci->driver[0] || questions_name(q, l.pci)))
			add(n, &l);
	}
	return n->n_log_lines > 0;
}
