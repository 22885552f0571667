/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The helper that asks a cloud's metadata service for the address of one NIC, or for the type of
 * the instance. A program of its own: the only part that speaks IP, unprivileged, started for one
 * question by rdma-provision-metadata.socket, its standard input: os/helper.h. Without a socket
 * there, standard input and output are question and answer.
 *
 * The question is one line, the MAC of the NIC or "instance-type". The answer is one line:
 *
 *   known 10.0.1.5/24 10.0.1.253     address with the length of its prefix, and gateway
 *   known ecs.scch5.16xlarge         type of the instance
 *   waiting WORDS                    no answer in time, or the service does not know the NIC yet
 *   refused WORDS                    an answer that cannot be right
 *
 * The service is http://100.100.100.200, or what METADATA_SERVICE=HOST[:PORT] says, for tests. A
 * token comes first, and goes with each question. Paths and header: "Instance metadata" in the
 * documentation of Alibaba Cloud ECS. Where it does not answer for the type, that of Volcengine ECS
 * is asked, which wants no token: "Viewing instance metadata" in its documentation.
 *
 * Everything is bounded: each answer in bytes, each try in time, the tries in number, and the whole
 * by alarm(2). No proxy, no redirect. Nothing else is taken from the environment: it is cleared,
 * for libcurl and its TLS library read more of it than can be switched off (SSLKEYLOGFILE names a
 * file to write). It brings most of the package's dependencies, and gives one deadline over all,
 * and any form of HTTP/1.1.
 */
#include "../base/log.h"
#include "../model/metadata.h"
#include "../os/helper.h"

#include <curl/curl.h>

#define SERVICE        "100.100.100.200"
#define TOKEN_PATH     "/latest/api/token"
#define TOKEN_TTL      "X-aliyun-ecs-metadata-token-ttl-seconds: 60"
#define TOKEN_HEADER   "X-aliyun-ecs-metadata-token: "
#define NIC_PATH       "/latest/meta-data/network/interfaces/macs/"
#define TYPE_PATH      "/latest/meta-data/instance/instance-type"
#define VOLC_SERVICE   "100.96.0.96"
#define VOLC_TYPE_PATH "/latest/instance_type_id"
#define WHOLE_SEC      10
#define ANSWER_LEN     256 /* the token is the longest, and has less than half of it */
#define HEADERS_MAX    8192

#define REFUSED (-EBADMSG)
#define WAITING (-EAGAIN)

struct metadata_session {
	CURL *curl; /* owned */
	char base[320];
	char token[sizeof(TOKEN_HEADER) + ANSWER_LEN]; /* as a header; empty: none yet */
	unsigned n_failed;                             /* tries */
	char problem[192];
};

struct http_answer {
	char body[ANSWER_LEN];
	size_t size, header_bytes;
	bool is_too_large;
};

CLEANUP(curl_done, CURL *, curl_easy_cleanup);
CLEANUP(list_done, struct curl_slist *, curl_slist_free_all);

_printf_(3, 4) static int fail(struct metadata_session *s, int error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(s->problem, sizeof(s->problem), format, ap);
	va_end(ap);
	make_printable(s->problem);
	return error;
}

/* HOST or HOST:PORT, of what names and addresses of IPv4 consist of. */
static int set_service(struct metadata_session *s, const char *service)
{
	const size_t host = strspn(service, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					    "0123456789.-");
	const char *port = service[host] == ':' ? service + host + 1 : NULL;

	if (host == 0 || host > 253 || (service[host] && !port) ||
	    (port && (strspn(port, "0123456789") != strlen(port) || !*port || strlen(port) > 5)))
		return fail(s, REFUSED, "METADATA_SERVICE is no HOST or HOST:PORT");
	PRINT(s->base, "http://%s", service);
	return 0;
}

/* A short count ends the transfer with an error. */
static size_t on_body(char *data, size_t size, size_t n, void *userdata)
{
	struct http_answer *a = userdata;

	size *= n;
	if (size >= sizeof(a->body) - a->size) {
		a->is_too_large = true;
		return 0;
	}
	memcpy(a->body + a->size, data, size);
	a->size += size;
	return size;
}

static size_t on_header(_unused_ char *data, size_t size, size_t n, void *userdata)
{
	struct http_answer *a = userdata;

	a->header_bytes += size * n;
	a->is_too_large |= a->header_bytes > HEADERS_MAX;
	return a->is_too_large ? 0 : size * n;
}

static bool set_options(struct metadata_session *s, const char *path, bool is_put,
			struct curl_slist *headers, long timeout_msec, struct http_answer *a)
{
	char url[512];

	PRINT(url, "%s%s", s->base, path);
	curl_easy_reset(s->curl); /* keeps the connection */
	return curl_easy_setopt(s->curl, CURLOPT_URL, url) == CURLE_OK &&
#if LIBCURL_VERSION_NUM >= 0x075500
	       curl_easy_setopt(s->curl, CURLOPT_PROTOCOLS_STR, "http") == CURLE_OK &&
#else
	       curl_easy_setopt(s->curl, CURLOPT_PROTOCOLS, CURLPROTO_HTTP) == CURLE_OK &&
#endif
#if LIBCURL_VERSION_NUM >= 0x074000
	       curl_easy_setopt(s->curl, CURLOPT_HTTP09_ALLOWED, 0L) == CURLE_OK &&
#endif
	       curl_easy_setopt(s->curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) ==
		       CURLE_OK &&
	       curl_easy_setopt(s->curl, CURLOPT_IPRESOLVE, (long)CURL_IPRESOLVE_V4) == CURLE_OK &&
	       curl_easy_setopt(s->curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
	       curl_easy_setopt(s->curl, CURLOPT_PROXY, "") == CURLE_OK &&
	       curl_easy_setopt(s->curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       curl_easy_setopt(s->curl, CURLOPT_TIMEOUT_MS, timeout_msec) == CURLE_OK &&
	       curl_easy_setopt(s->curl, CURLOPT_HTTPHEADER, headers) == CURLE_OK &&
	       curl_easy_setopt(s->curl, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
	       curl_easy_setopt(s->curl, CURLOPT_HEADERDATA, a) == CURLE_OK &&
	       curl_easy_setopt(s->curl, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
	       curl_easy_setopt(s->curl, CURLOPT_WRITEDATA, a) == CURLE_OK &&
	       (!is_put || curl_easy_setopt(s->curl, CURLOPT_CUSTOMREQUEST, "PUT") == CURLE_OK);
}

/* The body is one word, so that it cannot become a second header. */
static int take_body(struct metadata_session *s, const char *path, struct http_answer *a)
{
	a->body[a->size] = '\0';
	if (a->size > 0 && a->body[a->size - 1] == '\n')
		a->body[--a->size] = '\0';
	if (a->size == 0)
		return fail(s, REFUSED, "%s: an empty answer", path);
	for (size_t i = 0; i < a->size; i++)
		if (a->body[i] <= ' ' || a->body[i] > '~')
			return fail(s, REFUSED, "%s: not one printable word", path);
	return 0;
}

static int judge(struct metadata_session *s, const char *path, CURLcode code, struct http_answer *a)
{
	long status = 0;

	if (a->is_too_large)
		return fail(s, REFUSED, "%s: an answer that is too large", path);
	switch (code) {
	case CURLE_OK:
		break;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_PARTIAL_FILE:
		return fail(s, WAITING, "%s: %s", s->base, curl_easy_strerror(code));
	default:
		return fail(s, REFUSED, "%s: %s", path, curl_easy_strerror(code));
	}

	curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status == 404 || status == 429 || status >= 500)
		return fail(s, WAITING, "%s: status %ld", path, status);
	if (status != 200)
		return fail(s, REFUSED, "%s: status %ld", path, status);
	return take_body(s, path, a);
}

/* The time of each try. */
static const unsigned tries_msec[] = { 500, 600, 720, 864 };

/* A try that failed early is given its whole time: the service may be about to start. */
static void wait_until(uint64_t end_usec)
{
	const struct timespec end = { (time_t)(end_usec / USEC_PER_SEC),
				      (long)(end_usec % USEC_PER_SEC * NSEC_PER_USEC) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL); /* alarm(2) ends it for good */
}

/* Asks one question, again while that makes sense. The tries count for the whole session. */
static int ask(struct metadata_session *s, const char *path, bool is_put,
	       char ret[static ANSWER_LEN])
{
	const char *header = is_put ? TOKEN_TTL : s->token;
	_cleanup_(list_done) struct curl_slist *headers =
		*header ? curl_slist_append(NULL, header) : NULL;
	int r = WAITING;

	if (*header && !headers)
		return fail(s, WAITING, "out of memory");

	while (r == WAITING && s->n_failed < ELEMENTSOF(tries_msec)) {
		const unsigned msec = tries_msec[s->n_failed];
		const uint64_t end_usec = now_usec() + msec * USEC_PER_MSEC;
		struct http_answer a = {};

		if (!set_options(s, path, is_put, headers, msec, &a))
			return fail(s, REFUSED, "libcurl lacks an option");
		r = judge(s, path, curl_easy_perform(s->curl), &a);
		if (r >= 0)
			memcpy(ret, a.body, ANSWER_LEN);
		if (r == WAITING && ++s->n_failed < ELEMENTSOF(tries_msec))
			wait_until(end_usec);
	}
	return r;
}

static int ask_nic(struct metadata_session *s, const char *mac, const char *item,
		   char ret[static ANSWER_LEN])
{
	char path[128];

	PRINT(path, NIC_PATH "%.17s/%s", mac, item);
	return ask(s, path, false, ret);
}

static int take_token(struct metadata_session *s)
{
	char token[ANSWER_LEN];
	int r = ask(s, TOKEN_PATH, true, token);

	if (r >= 0)
		PRINT(s->token, TOKEN_HEADER "%s", token);
	return r;
}

/* @ret: as the answer has it */
static int ask_address(struct metadata_session *s, const char *mac, char *ret, size_t size)
{
	char address[ANSWER_LEN], prefix[ANSWER_LEN], gateway[ANSWER_LEN];
	struct metadata m = {};
	int r = take_token(s);

	if (r >= 0)
		r = ask_nic(s, mac, "primary-ip-address", address);
	if (r >= 0)
		r = ask_nic(s, mac, "vswitch-cidr-block", prefix);
	if (r >= 0)
		r = ask_nic(s, mac, "gateway", gateway);
	if (r < 0)
		return r;
	if (metadata_make(address, prefix, gateway, &m, s->problem, sizeof(s->problem)) < 0)
		return REFUSED;
	metadata_format(&m, ret, size);
	return r;
}

/* @other: the service of another cloud, NULL: the same */
static int ask_type(struct metadata_session *s, const char *other, char *ret, size_t size)
{
	char type[ANSWER_LEN];
	int r = take_token(s);

	if (r >= 0)
		r = ask(s, TYPE_PATH, false, type);
	if (r == WAITING) {
		s->n_failed = 0;
		s->token[0] = '\0';
		if (other)
			PRINT(s->base, "http://%s", other);
		r = ask(s, VOLC_TYPE_PATH, false, type);
	}
	if (r < 0)
		return r;
	if (!metadata_is_type(type))
		return fail(s, REFUSED, "%s: no instance type", type);
	snprintf(ret, size, "%s", type);
	return r;
}

/* Reads the question of the service from the socket, or in a test from standard input. Return: 0,
 * or an error of helper_take(). */
static int read_question(struct helper_question *q)
{
	int r = helper_take(STDIN_FILENO, q);
	ssize_t n;

	if (r == -ENOTSOCK) {
		n = read(STDIN_FILENO, q->text, sizeof(q->text) - 1);
		q->text[MAX(n, 0)] = '\0';
		r = 0;
	}
	q->text[strcspn(q->text, "\n")] = '\0';
	return r;
}

static int ask_service(struct metadata_session *s, const char *service, const char *question,
		       char *ret, size_t size)
{
	const bool is_type = streq(question, METADATA_TYPE);
	int r = set_service(s, is_empty(service) ? SERVICE : service);

	if (r < 0)
		return r;
	if (is_type)
		return ask_type(s, is_empty(service) ? VOLC_SERVICE : NULL, ret, size);
	if (!metadata_is_mac(question))
		return fail(s, REFUSED, "the question is no MAC");
	return ask_address(s, question, ret, size);
}

static int tell(const struct metadata_session *s, const struct helper_question *q, int r,
		const char *known)
{
	char line[METADATA_LINE_LEN];

	PRINT(line, "%s %.200s\n",
	      r >= 0         ? "known"
	      : r == WAITING ? "waiting"
			     : "refused",
	      r >= 0 ? known : s->problem);
	r = q->fd >= 0 ? helper_answer(q, 0, line) : standard_print(line);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(void)
{
	_cleanup_(curl_done) CURL *curl = NULL;
	const char *service = getenv("METADATA_SERVICE"); /* stays where it is: clearenv(3) */
	struct helper_question q = { .fd = -EBADF };
	struct metadata_session s = {};
	char known[METADATA_LINE_LEN] = "";
	int r;

	if (standard_open() < 0)
		return EXIT_FAILURE;
	alarm(WHOLE_SEC);
	if (clearenv() != 0)
		return EXIT_FAILURE;
	if (curl_global_init(CURL_GLOBAL_NOTHING) != CURLE_OK || !(curl = curl_easy_init()))
		return EXIT_FAILURE;
	s.curl = curl;
	r = read_question(&q);
	if (r < 0)
		return r == -EAGAIN || r == -ESRCH ? EXIT_SUCCESS : EXIT_FAILURE;

	r = ask_service(&s, service, q.text, known, sizeof(known));
	return tell(&s, &q, r, known);
}
