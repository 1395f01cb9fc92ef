/* SPDX-License-Identifier: MIT
 * One exchange over libcurl's handles.  What always holds: libcurl never gives up by itself on what we time (its own
 * limits are longer), so a look-up that hangs is ours to set aside; bytes of a body are counted after decompression;
 * and a request that may have reached the server is never sent again, because its body cannot be read twice. */
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/ascii.h"
#include "base/os/sigpipe.h"
#include "base/text/secret.h"
#include "net/address.h"
#include "net/client_int.h"
#include "net/content_length.h"
#include "ptc/ptc.h"

enum {
    CURL_LONGER_MS = 5000,   /* how much longer than ours libcurl's limits are */
    CURL_TOO_LARGE = 100,    /* CURLE_TOO_LARGE, which older headers lack */
    CURL_NEVER_MS = 1 << 30, /* twelve days */
    KEEP_CONNECTIONS = 4,    /* per handle */
    CONNECTION_AGE_S = 60,   /* a connection unused for longer is not reused */
};

bool ptc_client_end(PtcClientAnswer *a, PtcClientEnd end, const char *text)
{
    static const PtcWhyClass classes[] = {
        [PTC_CLIENT_BAD_REQUEST] = PTC_WHY_INVALID,
        [PTC_CLIENT_NO_CONNECTION] = PTC_WHY_UNAVAILABLE,
        [PTC_CLIENT_BAD_TLS] = PTC_WHY_REFUSED,
        [PTC_CLIENT_CONNECT_TIMEOUT] = PTC_WHY_LATE,
        [PTC_CLIENT_SILENCE] = PTC_WHY_LATE,
        [PTC_CLIENT_TIMEOUT] = PTC_WHY_LATE,
        [PTC_CLIENT_DEADLINE] = PTC_WHY_LATE,
        [PTC_CLIENT_CANCELLED] = PTC_WHY_CANCELLED,
        [PTC_CLIENT_STOPPED] = PTC_WHY_CANCELLED,
        [PTC_CLIENT_TOO_LARGE] = PTC_WHY_REFUSED,
        [PTC_CLIENT_BROKEN] = PTC_WHY_UNAVAILABLE,
        [PTC_CLIENT_NOT_HTTP] = PTC_WHY_INVALID,
    };
    return ptc_why_say_code(&a->why, classes[end], (int)end, "%s", text);
}

static bool end_too_large(PtcClientAnswer *a)
{
    return ptc_client_end(a, PTC_CLIENT_TOO_LARGE, "the answer is larger than its limit");
}

/* ---------------------------------------------------------------------------- callbacks */

/* Copies the value of a header into a field, without the blanks around it. */
static void keep_field(char *field, size_t size, const char *value, size_t len)
{
    PtcText text = ptc_text_trim((PtcText){value, len}, " \t\r\n");
    len = text.len < size - 1 ? text.len : size - 1;
    memcpy(field, text.bytes, len);
    field[len] = 0;
}

/* A server may say in several headers what it would take. */
static void add_challenge(PtcClientAnswer *a, const char *value, size_t len)
{
    size_t n = strlen(a->www_authenticate);
    if (n && n + 3 < sizeof a->www_authenticate) {
        memcpy(a->www_authenticate + n, ", ", 3);
        n += 2;
    }
    keep_field(a->www_authenticate + n, sizeof a->www_authenticate - n, value, len);
}

static void take_answer_field(PtcClientAnswer *a, const char *line, size_t len)
{
    static const char challenge[] = "www-authenticate:";
    const struct {
        const char *name;
        char *field;
        size_t size;
    } fields[] = {
        {"content-type:", a->content_type, sizeof a->content_type},
        {"retry-after:", a->retry_after, sizeof a->retry_after},
        {"retry-after-ms:", a->retry_after_ms, sizeof a->retry_after_ms},
        {"x-amzn-errortype:", a->error_type, sizeof a->error_type},
        {"mcp-session-id:", a->session_id, sizeof a->session_id},
        {"location:", a->location, sizeof a->location},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        size_t n = strlen(fields[i].name);
        if (len >= n && strncasecmp(line, fields[i].name, n) == 0)
            keep_field(fields[i].field, fields[i].size, line + n, len - n);
    }
    size_t n = sizeof challenge - 1;
    if (len >= n && strncasecmp(line, challenge, n) == 0)
        add_challenge(a, line + n, len - n);
}

/* A status line starts the headers over: those of a preceding 1xx do not count. */
static void begin_headers(Slot *s, PtcClientAnswer *a)
{
    long status = 0;
    a->content_type[0] = a->retry_after[0] = a->retry_after_ms[0] = 0;
    a->error_type[0] = a->session_id[0] = a->www_authenticate[0] = a->location[0] = 0;
    s->curl->easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
    a->status = (int)status;
    s->length = -1;
}

/* libcurl takes the last of several lengths, and of each the number that it begins with, and would wait for that many
 * bytes.  False: the exchange ends here. */
static bool take_length(Slot *s, const char *line, size_t len)
{
    static const char name[] = "content-length:";
    enum { EXCHANGE_NAME = sizeof name - 1 };
    const PtcClientRequest *r = s->request;
    int64_t n = 0;
    if (len < EXCHANGE_NAME || strncasecmp(line, name, EXCHANGE_NAME) != 0)
        return true;
    size_t most = r->max_told && r->max_told < r->max_body ? r->max_told : r->max_body;
    int status = s->answer->status;
    bool body = status >= 200 && status <= 299 && status != 204 && strcmp(r->method, "HEAD") != 0;
    if (!ptc_content_length((PtcText){line + EXCHANGE_NAME, len - EXCHANGE_NAME}, &n) ||
        (s->length >= 0 && s->length != n))
        return ptc_client_end(s->answer, PTC_CLIENT_NOT_HTTP,
                              "its Content-Length is not a number, or there are two that differ");
    s->length = n;
    return !body || (uint64_t)n <= most || end_too_large(s->answer);
}

/* The line without its end; the empty one that ends the headers is not passed on. */
static void pass_header(const PtcClientRequest *r, PtcText line)
{
    while (line.len && strchr("\r\n", line.bytes[line.len - 1]))
        line.len--;
    if (r->header && line.len)
        r->header(r->user, line);
}

/* Returning less than was given makes libcurl stop. */
static size_t take_header_line(char *line, size_t size, size_t count, void *user)
{
    Slot *s = user;
    size_t len = size * count;
    if (!s->request)
        return 0;
    s->answer->touched = s->connected = true;
    s->last_ns = ptc_clock_ns(NULL);
    s->header_bytes += len;
    if (s->header_bytes > PTC_CLIENT_HEADER_BYTES)
        return end_too_large(s->answer);
    if (len >= 5 && strncasecmp(line, "HTTP/", 5) == 0) {
        begin_headers(s, s->answer);
        if (s->request->header)
            s->request->header(s->request->user, (PtcText){NULL, 0});
        return len;
    }
    if (!take_length(s, line, len))
        return 0;
    take_answer_field(s->answer, line, len);
    pass_header(s->request, (PtcText){line, len});
    return len;
}

static void refresh_status(Slot *s)
{
    long status = 0;
    s->curl->easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
    s->answer->status = (int)status;
}

/* Keeps the beginning of a body whose status is not 2xx; once that is full, the rest is not waited for. */
static bool keep_error_body(Slot *s, const char *bytes, size_t len)
{
    PtcBuf *kept = &s->answer->error_body;
    size_t room = kept->max - kept->len;
    if (!ptc_buf_add(kept, bytes, len < room ? len : room))
        return ptc_why_no_memory(&s->answer->why);
    if (len >= room)
        s->enough_ns = s->last_ns;
    return s->enough_ns == 0;
}

static bool pass_piece_on(Slot *s, const char *bytes, size_t len)
{
    const PtcClientRequest *r = s->request;
    PtcPiece piece =
        r->piece ? r->piece(r->user, s->answer, (PtcText){bytes, len}) : PTC_PIECE_MORE;
    if (piece == PTC_PIECE_STOP)
        return ptc_client_end(s->answer, PTC_CLIENT_STOPPED, "stopped");
    if (piece == PTC_PIECE_ENOUGH)
        s->enough_ns = s->last_ns;
    return true;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *user)
{
    Slot *s = user;
    size_t len = size * count;
    if (!s->request)
        return 0;
    s->answer->touched = true;
    s->last_ns = ptc_clock_ns(NULL);
    s->body_bytes += len;
    refresh_status(s);
    if (s->enough_ns) /* what comes now is ignored, but not without limit */
        return s->body_bytes > s->request->max_body ? 0 : len;
    if (s->answer->status < 200 || s->answer->status > 299)
        return keep_error_body(s, bytes, len) ? len : 0;
    if (s->body_bytes > s->request->max_body)
        return end_too_large(s->answer);
    return pass_piece_on(s, bytes, len) ? len : 0;
}

/* Sends the body once.  libcurl would send it again on a new connection when an old one turns out to be closed, and
 * the server might see it twice.  Unable to rewind, it gives up instead, unless nothing had been sent. */
static size_t on_send(char *to, size_t size, size_t count, void *user)
{
    Slot *s = user;
    if (!s->request)
        return CURL_READFUNC_ABORT;
    size_t left = s->request->body.len - s->sent, room = size * count;
    size_t n = left < room ? left : room;
    memcpy(to, s->request->body.bytes + s->sent, n);
    s->sent += n;
    s->connected = true;
    s->last_ns = ptc_clock_ns(NULL);
    return n;
}

static int on_rewind(void *user, curl_off_t offset, int origin)
{
    const Slot *s = user;
    return offset == 0 && origin == SEEK_SET && s->sent == 0 ? CURL_SEEKFUNC_OK
                                                             : CURL_SEEKFUNC_FAIL;
}

static int on_lookup(void *state, void *reserved, void *user)
{
    Slot *s = user;
    (void)state;
    (void)reserved;
    s->looking_up = true;
    return s->request ? 0 : 1;
}

/* The name is resolved; gives out a socket if somebody still wants one. */
static curl_socket_t on_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    Slot *s = user;
    (void)purpose;
    s->looking_up = false;
    if (!s->request)
        return CURL_SOCKET_BAD;
    if (s->request->outside && s->direct && ptc_address_is_inside(&address->addr)) {
        s->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* ------------------------------------------------------------------------------ options */

/* A header without a value would be left out by libcurl, unless it is written with a semicolon. */
static void keep_empty(char *line)
{
    char *colon = strchr(line, ':');
    if (colon && colon[1 + strspn(colon + 1, " \t")] == 0)
        memcpy(colon, ";", 2);
}

static bool has_type(const PtcClientRequest *r)
{
    for (size_t i = 0; i < r->header_count; i++)
        if (r->headers[i].len > 13 && strncasecmp(r->headers[i].bytes, "content-type:", 13) == 0)
            return true;
    return false;
}

/* The header lines as libcurl wants them, in one block that can be wiped, because it contains keys. */
static bool make_curl_headers(Slot *s, const PtcClientRequest *r)
{
    /* A name alone keeps libcurl from sending such a header: 100-continue would only cost time, and it would call any
     * body a form whose type nobody said. */
    static const PtcText none[] = {{"Expect:", 7}, {"Content-Type:", 13}};
    size_t dropped = has_type(r) ? 1 : 2, count = r->header_count + dropped;
    size_t bytes = count * sizeof(struct curl_slist);
    for (size_t i = 0; i < count; i++)
        bytes += (i < dropped ? none[i].len : r->headers[i - dropped].len) + 1;
    struct curl_slist *nodes = ptc_mem_alloc(s->mem, bytes);
    if (!nodes)
        return false;
    char *text = (char *)(nodes + count);
    for (size_t i = 0; i < count; i++) {
        PtcText line = i < dropped ? none[i] : r->headers[i - dropped];
        nodes[i] = (struct curl_slist){text, i + 1 < count ? &nodes[i + 1] : NULL};
        memcpy(text, line.bytes, line.len);
        text[line.len] = 0;
        if (i >= dropped)
            keep_empty(text);
        text += line.len + 1;
    }
    s->headers = nodes;
    s->headers_bytes = bytes;
    return true;
}

static void drop_headers(Slot *s)
{
    if (s->headers) {
        s->curl->easy_setopt(s->easy, CURLOPT_HTTPHEADER, NULL);
        ptc_secret_wipe(s->headers, s->headers_bytes);
        ptc_mem_free(s->mem, s->headers, s->headers_bytes);
    }
    s->headers = NULL;
}

/* No redirects, no protocol but the one asked for, and certificates are always checked. */
static bool set_safety(Slot *s, const PtcUrl *url, long connect_ms)
{
    const PtcCurl *c = s->curl;
    CURL *e = s->easy;
    bool ok = c->easy_setopt(e, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
              c->easy_setopt(e, CURLOPT_PROTOCOLS_STR, url->https ? "https" : "http") == CURLE_OK &&
              c->easy_setopt(e, CURLOPT_REDIR_PROTOCOLS_STR, "https") == CURLE_OK &&
              c->easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
              c->easy_setopt(e, CURLOPT_HTTP09_ALLOWED, 0L) == CURLE_OK &&
              c->easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
              c->easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
              c->easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK &&
              c->easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) == CURLE_OK &&
              c->easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, connect_ms) == CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075700
    /* fails, harmlessly, where the library is older than its header */
    c->easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
#endif
    /* Behind a proxy our look at addresses is switched off (s->direct), so nothing may go past the proxy because of
     * NO_PROXY. */
    if (url->loopback)
        ok = ok && c->easy_setopt(e, CURLOPT_NOPROXY, "*") == CURLE_OK;
    else if (s->request->outside)
        ok = ok && c->easy_setopt(e, CURLOPT_NOPROXY, "") == CURLE_OK;
    if (s->ca_file)
        ok = ok && c->easy_setopt(e, CURLOPT_CAINFO, s->ca_file) == CURLE_OK;
    return ok;
}

/* All of them get the slot, which knows whether the exchange is still wanted. */
static bool set_callbacks(Slot *s)
{
    const PtcCurl *c = s->curl;
    CURL *e = s->easy;
    return c->easy_setopt(e, CURLOPT_HEADERFUNCTION, take_header_line) == CURLE_OK &&
           c->easy_setopt(e, CURLOPT_HEADERDATA, s) == CURLE_OK &&
           c->easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
           c->easy_setopt(e, CURLOPT_WRITEDATA, s) == CURLE_OK &&
           c->easy_setopt(e, CURLOPT_READFUNCTION, on_send) == CURLE_OK &&
           c->easy_setopt(e, CURLOPT_READDATA, s) == CURLE_OK &&
           c->easy_setopt(e, CURLOPT_SEEKFUNCTION, on_rewind) == CURLE_OK &&
           c->easy_setopt(e, CURLOPT_SEEKDATA, s) == CURLE_OK &&
           c->easy_setopt(e, CURLOPT_RESOLVER_START_FUNCTION, on_lookup) == CURLE_OK &&
           c->easy_setopt(e, CURLOPT_RESOLVER_START_DATA, s) == CURLE_OK &&
           c->easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, on_socket) == CURLE_OK &&
           c->easy_setopt(e, CURLOPT_OPENSOCKETDATA, s) == CURLE_OK &&
           c->easy_setopt(e, CURLOPT_ERRORBUFFER, s->error) == CURLE_OK;
}

static bool set_request(Slot *s, const PtcClientRequest *r)
{
    const PtcCurl *c = s->curl;
    CURL *e = s->easy;
    bool ok = c->easy_setopt(e, CURLOPT_URL, r->url) == CURLE_OK &&
              c->easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS) == CURLE_OK &&
              c->easy_setopt(e, CURLOPT_ACCEPT_ENCODING, "gzip") == CURLE_OK &&
              c->easy_setopt(e, CURLOPT_MAXAGE_CONN, (long)CONNECTION_AGE_S) == CURLE_OK &&
              c->easy_setopt(e, CURLOPT_USERAGENT, "ptc/" PTC_VERSION) == CURLE_OK &&
              c->easy_setopt(e, CURLOPT_HTTPHEADER, s->headers) == CURLE_OK;
    if (r->outside) /* a connection that is kept was made without looking at its address */
        ok = ok && c->easy_setopt(e, CURLOPT_FRESH_CONNECT, 1L) == CURLE_OK;
    if (r->body.bytes)
        ok = ok && c->easy_setopt(e, CURLOPT_POST, 1L) == CURLE_OK &&
             c->easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len) == CURLE_OK;
    bool head = strcmp(r->method, "HEAD") == 0;
    if (head) /* or libcurl would wait for a body */
        ok = ok && c->easy_setopt(e, CURLOPT_NOBODY, 1L) == CURLE_OK;
    /* Without a body libcurl would send again what an old connection did not answer, and the server might see it
     * twice. */
    if (!r->body.len && !head && strcmp(r->method, "GET") != 0)
        ok = ok && c->easy_setopt(e, CURLOPT_FRESH_CONNECT, 1L) == CURLE_OK;
    return ok && c->easy_setopt(e, CURLOPT_CUSTOMREQUEST, r->method) == CURLE_OK;
}

static int64_t limit_or(int64_t given, int64_t otherwise)
{
    return given > 0 ? given : otherwise;
}

/* -------------------------------------------------------------------------------- times */

static bool past(int64_t since_ns, int64_t now, int64_t ms)
{
    return ms < INT64_MAX / PTC_MS && now - since_ns >= ms * PTC_MS;
}

bool ptc_client_must_end(const PtcClientRequest *r, int64_t begun, PtcClientAnswer *a)
{
    int64_t now = ptc_clock_ns(NULL);
    if (ptc_cancelled(r->cancel))
        ptc_client_end(a, PTC_CLIENT_CANCELLED, "cancelled");
    else if (now >= r->deadline_ns)
        ptc_client_end(a, PTC_CLIENT_DEADLINE, "the deadline passed");
    else if (past(begun, now, limit_or(r->total_ms, PTC_CLIENT_TOTAL_MS)))
        ptc_client_end(a, PTC_CLIENT_TIMEOUT, "the answer was not complete in time");
    return !ptc_client_answered(a);
}

/* The limits that apply once the exchange is under way. */
static bool over_limits(Slot *s)
{
    const PtcClientRequest *r = s->request;
    int64_t now = ptc_clock_ns(NULL);
    if (ptc_client_must_end(r, s->asked_ns, s->answer))
        return true;
    if (!s->connected && past(s->begun_ns, now, limit_or(r->connect_ms, PTC_CLIENT_CONNECT_MS)))
        ptc_client_end(s->answer, PTC_CLIENT_CONNECT_TIMEOUT,
                       s->looking_up ? "the name of the host was not found in time"
                                     : "no connection in time");
    else if (s->connected && past(s->last_ns, now, limit_or(r->silence_ms, PTC_CLIENT_SILENCE_MS)))
        ptc_client_end(s->answer, PTC_CLIENT_SILENCE, "no byte came for too long");
    return !ptc_client_answered(s->answer);
}

/* ---------------------------------------------------------------------------------- end */

static PtcClientEnd end_of_curl_code(CURLcode code)
{
    switch ((int)code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PROXY: return PTC_CLIENT_NO_CONNECTION;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_USE_SSL_FAILED: return PTC_CLIENT_BAD_TLS;
    case CURLE_OPERATION_TIMEDOUT: return PTC_CLIENT_CONNECT_TIMEOUT;
    case CURLE_FILESIZE_EXCEEDED:
    case CURL_TOO_LARGE: return PTC_CLIENT_TOO_LARGE;
    case CURLE_URL_MALFORMAT: return PTC_CLIENT_BAD_REQUEST;
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_UNSUPPORTED_PROTOCOL: /* of an answer: the request's own is checked before */
    case CURLE_WEIRD_SERVER_REPLY: return PTC_CLIENT_NOT_HTTP;
    default: return PTC_CLIENT_BROKEN;
    }
}

/* A rewind failure or an empty reply means that the server closed an old connection; say that instead of libcurl's
 * words. */
static void finish_exchange(Slot *s, CURLcode code)
{
    PtcClientAnswer *a = s->answer;
    if (!ptc_client_answered(a))
        return; /* by one of the callbacks */
    if (code != CURLE_OK && !s->enough_ns) {
        const char *why = s->error[0] ? s->error : s->curl->easy_strerror(code);
        if (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY)
            a->touched = true; /* something came, but not HTTP */
        if (s->refused)
            why = "it leads to a private network or to this machine";
        if (code == CURLE_SEND_FAIL_REWIND || code == CURLE_GOT_NOTHING)
            why = "the server closed the connection without an answer";
        ptc_client_end(a, end_of_curl_code(code), why);
        if (code == CURLE_OUT_OF_MEMORY)
            a->why.class = PTC_WHY_NO_MEMORY;
    } else {
        refresh_status(s);
    }
}

/* Behind a proxy the address is the proxy's, which says nothing of the server. */
static bool led_inside(Slot *s)
{
    char *ip = NULL;
    if (!s->direct || s->curl->easy_getinfo(s->easy, CURLINFO_PRIMARY_IP, &ip) != CURLE_OK || !ip)
        return false;
    return *ip && ptc_address_text_is_inside(ptc_text_cstr(ip));
}

/* Asks libcurl whether the exchange is over, and notes how it ended. */
static bool take_curl_message(Slot *s)
{
    int left;
    CURLMsg *m = s->curl->multi_info_read(s->multi, &left);
    if (!m || m->msg != CURLMSG_DONE)
        return false;
    finish_exchange(s, m->data.result);
    s->answer->inside = led_inside(s);
    return true;
}

/* Silence is counted from the moment there is a connection. */
static void look_for_connection(Slot *s)
{
    curl_off_t after_us = 0;
    s->curl->easy_getinfo(s->easy, CURLINFO_PRETRANSFER_TIME_T, &after_us);
    if (after_us > 0 && !s->connected) {
        s->connected = true;
        s->last_ns = ptc_clock_ns(NULL);
    }
}

/* Runs until it is over, for libcurl or for us; true when libcurl is done. */
static bool drive_exchange(Slot *s)
{
    int running = 1;
    for (;;) {
        if (s->curl->multi_perform(s->multi, &running) != CURLM_OK) {
            ptc_why_say(&s->answer->why, PTC_WHY_NO_MEMORY, "libcurl could not go on");
            return true;
        }
        if (take_curl_message(s))
            return true;
        look_for_connection(s);
        if (s->enough_ns ? past(s->enough_ns, ptc_clock_ns(NULL), PTC_CLIENT_GRACE_MS)
                         : over_limits(s))
            return false;
        s->curl->multi_poll(s->multi, NULL, 0, PTC_CLIENT_SLICE_MS, NULL);
    }
}

/* The slot is reused, so everything about the last exchange is reset. */
static bool prepare_slot(Slot *s, const PtcUrl *url, const PtcClientRequest *r, PtcClientAnswer *a)
{
    s->request = r;
    s->answer = a;
    s->sent = s->header_bytes = s->body_bytes = 0;
    s->begun_ns = s->last_ns = ptc_clock_ns(NULL);
    s->enough_ns = 0;
    s->length = -1;
    s->looking_up = s->connected = s->refused = false;
    s->direct = url->loopback || !ptc_address_has_proxy(url->https);
    s->error[0] = 0;
    int64_t connect_ms = limit_or(r->connect_ms, PTC_CLIENT_CONNECT_MS);
    connect_ms = connect_ms < CURL_NEVER_MS ? connect_ms + CURL_LONGER_MS : CURL_NEVER_MS;
    s->curl->easy_reset(s->easy);
    s->curl->multi_setopt(s->multi, CURLMOPT_MAXCONNECTS, (long)KEEP_CONNECTIONS);
    return make_curl_headers(s, r) && set_safety(s, url, (long)connect_ms) && set_callbacks(s) &&
           set_request(s, r) && s->curl->multi_add_handle(s->multi, s->easy) == CURLM_OK;
}

/* Leaves the handles to a look-up that nobody waits for; it must not find anything of this exchange later. */
static void abandon(Slot *s)
{
    s->curl->easy_setopt(s->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CURL_NEVER_MS);
    s->curl->easy_setopt(s->easy, CURLOPT_HTTPHEADER, NULL);
}

bool ptc_client_exchange(Slot *s, const PtcUrl *url, const PtcClientRequest *r, PtcClientAnswer *a)
{
    PtcSigpipe held;
    bool idle = true;
    ptc_sigpipe_hold(&held);
    if (prepare_slot(s, url, r, a)) {
        idle = drive_exchange(s) || !s->looking_up;
        look_for_connection(s); /* all of it may have happened since the last look */
        if (idle)
            s->curl->multi_remove_handle(s->multi, s->easy);
        else
            abandon(s);
    } else {
        ptc_why_say(&a->why, PTC_WHY_NO_MEMORY, "libcurl could not begin the request");
    }
    a->sent = s->connected || s->sent > 0;
    drop_headers(s);
    s->request = NULL;
    s->answer = NULL;
    ptc_sigpipe_release(&held);
    return idle;
}

bool ptc_client_exchange_over(Slot *s)
{
    PtcSigpipe held;
    int running = 0;
    ptc_sigpipe_hold(&held);
    bool over = s->curl->multi_perform(s->multi, &running) != CURLM_OK || running == 0;
    if (over)
        s->curl->multi_remove_handle(s->multi, s->easy);
    ptc_sigpipe_release(&held);
    return over;
}
