/* SPDX-License-Identifier: MIT
 * http_calls.c - what libmicrohttpd calls: connections that open and close, requests as they arrive.
 *
 * We write a stream of events to the socket ourselves, inside the access handler, which then has the connection
 * closed: that is the only way for a handler running on the connection's own thread to send anything before it
 * returns. */
#include "mcp/http/http_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "mcp/http/http_endpoint.h"

void ptc_http_on_connection(void *user, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode what)
{
    PtcHttp *http = user;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        int fd = http->mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
                     ->connect_fd;
        const struct sockaddr *address =
            http->mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
                ->client_addr;
        *socket_context = ptc_http_conn_open(&http->conns, fd, address);
    } else if (*socket_context) {
        ptc_http_conn_close(&http->conns, *socket_context);
        *socket_context = NULL;
    }
}

static PtcHttpConn *conn_of(PtcHttp *http, struct MHD_Connection *connection)
{
    return http->mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
        ->socket_context;
}

/* The lines of a head, as they lie in the library's buffer. */
typedef struct {
    PtcHttpHead *head;
    const char *at; /* where the next line begins; NULL: lines are not checked */
} Lines;

/* Is "name: value" all there is between the previous line and the next one?  The library (0.9) has put NULs over the
 * colon and the line end, and also takes a NUL that the client sent for the end of a value. */
static void check_line(Lines *lines, const char *name, size_t name_len, const char *value,
                       size_t value_len)
{
    const char *p = lines->at;
    if (!p || lines->head->odd)
        return;
    lines->head->odd = name != p || p[name_len] != 0;
    if (lines->head->odd)
        return;
    for (p += name_len + 1; ptc_ascii_is_blank(*p); p++)
        ;
    lines->head->odd = !value || value != p || p[value_len] != 0 || p[value_len + 1] != 0;
    lines->at = p + value_len + 2;
}

static enum MHD_Result on_field(void *user, enum MHD_ValueKind kind, const char *name,
                                size_t name_len, const char *value, size_t value_len)
{
    Lines *lines = user;
    (void)kind;
    check_line(lines, name, name_len, value, value_len);
    ptc_http_head_add(lines->head, name, name_len, value, value_len);
    return MHD_YES;
}

/* NUL, a slash and what is no pair of digits stay as they were sent, and so lead to no page: `/mcp%00x` is not `/mcp`,
 * whatever the library makes of a NUL. */
size_t ptc_http_on_escapes(void *user, struct MHD_Connection *connection, char *text)
{
    const char *from = text;
    char *to = text;
    (void)user, (void)connection;
    while (*from) {
        bool pair = from[0] == '%' && ptc_ascii_is_hex(from[1]) && ptc_ascii_is_hex(from[2]);
        char digits[3] = {pair ? from[1] : '0', pair ? from[2] : '0', 0};
        char c = (char)strtoul(digits, NULL, 16);
        bool decoded = c && c != '/';
        *to++ = decoded ? c : *from;
        from += decoded ? 3 : 1;
    }
    *to = '\0';
    return (size_t)(to - text);
}

/* The address of a request as it was sent, before the library decodes it. */
void *ptc_http_on_uri(void *user, const char *uri, struct MHD_Connection *connection)
{
    PtcHttpConn *conn = conn_of(user, connection);
    if (conn)
        conn->uri_len = uri ? strlen(uri) : 0;
    return NULL;
}

/* The first line, "verb uri version", with NULs over the blanks. */
static bool check_first(const char *verb, size_t uri_len, const char *version)
{
    const char *uri = verb + strlen(verb) + 1;
    return *uri != ' ' && version == uri + uri_len + 1 && memchr(uri, '\r', uri_len) == NULL;
}

/* Reads the fields, and notes whether the head can be read in only one way.  Version 1 of the library checks that
 * itself when told to be strict. */
static void read_request_head(PtcHttp *http, struct MHD_Connection *connection, PtcHttpConn *conn,
                              const char *verb, const char *version)
{
    PtcHttpHead *head = &conn->exchange.head;
    Lines lines = {.head = head};
    if (ptc_mhd_trusts_nul(&http->mhd)) {
        head->odd = !check_first(verb, conn->uri_len, version);
        lines.at = version + strlen(version) + 2;
    }
    http->mhd.MHD_get_connection_values_n(connection, MHD_HEADER_KIND, on_field, &lines);
    const union MHD_ConnectionInfo *size =
        http->mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (lines.at && !head->odd)
        head->odd = lines.at[0] != 0 || lines.at[1] != 0 || !size ||
                    lines.at + 2 != verb + size->header_size;
}

static void add_response_header(PtcHttp *http, struct MHD_Response *response, const char *name,
                                const char *value)
{
    if (value)
        (void)http->mhd.MHD_add_response_header(response, name, value);
}

/* A page of an origin that was allowed by name may read the answer, and is told what it may send. */
static void add_cors(PtcHttp *http, struct MHD_Response *response, const PtcHttpExchange *ex)
{
    char origin[PTC_HTTP_NAME_MAX];
    PtcText from = ex->stream.origin;
    if (http->shared.guard.origins.count)
        add_response_header(http, response, "Vary", "Origin");
    if (!from.bytes)
        return;
    (void)snprintf(origin, sizeof origin, "%.*s", PTC_ARG(from));
    add_response_header(http, response, "Access-Control-Allow-Origin", origin);
    add_response_header(http, response, "Access-Control-Expose-Headers",
                        "Mcp-Session-Id, WWW-Authenticate, Retry-After");
    if (!ex->out.preflight)
        return;
    add_response_header(http, response, "Access-Control-Allow-Methods", "GET, POST, DELETE");
    add_response_header(http, response, "Access-Control-Allow-Headers",
                        "Authorization, Content-Type, Accept, Last-Event-ID, MCP-Protocol-Version, "
                        "MCP-Session-Id, Mcp-Method, Mcp-Name, *");
    add_response_header(http, response, "Access-Control-Max-Age", "3600");
}

static enum MHD_Result send_answer(PtcHttp *http, struct MHD_Connection *connection,
                                   PtcHttpConn *conn)
{
    const PtcHttpExchange *ex = &conn->exchange;
    const PtcHttpOut *out = &ex->out;
    conn->last = out->close || atomic_load(&http->shared.leaving);
    /* libmicrohttpd takes a pointer to non-const, but does not write through it in this mode. */
    void *text = (void *)(uintptr_t)(out->text ? out->text : "");
    struct MHD_Response *response = http->mhd.MHD_create_response_from_buffer(
        out->text ? out->len : 0, text, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    add_response_header(http, response, "Content-Type", out->type);
    add_response_header(http, response, "Allow", out->allow);
    add_response_header(http, response, "Mcp-Session-Id", out->session);
    add_response_header(http, response, "WWW-Authenticate", out->authenticate);
    add_response_header(http, response, "Retry-After", out->retry_after);
    add_cors(http, response, ex);
    if (conn->last)
        add_response_header(http, response, "Connection", "close");
    enum MHD_Result queued =
        http->mhd.MHD_queue_response(connection, (unsigned)out->status, response);
    http->mhd.MHD_destroy_response(response);
    return queued;
}

/* The head has arrived.  A client that waits for `100 Continue` is refused before it sends the body. */
static enum MHD_Result begin_request(PtcHttp *http, struct MHD_Connection *connection,
                                     PtcHttpConn *conn, const char *path, const char *verb,
                                     const char *version)
{
    PtcHttpExchange *ex = &conn->exchange;
    atomic_store(&conn->asked, true);
    read_request_head(http, connection, conn, verb, version);
    ptc_http_exchange_open(ex, verb, path);
    if (!ex->refused && !ptc_http_conn_claim(&http->conns, conn)) {
        ptc_http_refuse(ex, 503, PTC_HTTP_FAULT_BUSY, PTC_MCP_BUSY,
                        "you have as many connections as one owner may have: close some first");
        ex->out.retry_after = "5";
        ex->out.close = true;
    }
    if (ex->refused && (ex->out.close || ex->head.field[PTC_HTTP_EXPECT].bytes))
        return send_answer(http, connection, conn);
    return MHD_YES;
}

static enum MHD_Result take_body_piece(PtcHttpConn *conn, const char *bytes, size_t *len)
{
    ptc_http_exchange_body(&conn->exchange, bytes, *len);
    *len = 0;
    return ptc_http_exchange_enough(&conn->exchange) ? MHD_NO : MHD_YES;
}

static enum MHD_Result end_http_request(PtcHttp *http, struct MHD_Connection *connection,
                                        PtcHttpConn *conn)
{
    const PtcHttpOut *out = &conn->exchange.out;
    ptc_http_conn_enter(conn, PTC_HTTP_WORKING);
    ptc_http_exchange_answer(&conn->exchange);
    ptc_http_conn_enter(conn, PTC_HTTP_SENDING);
    conn->last = out->streamed;
    if (out->streamed || out->status == 0)
        return MHD_NO;
    return send_answer(http, connection, conn);
}

/* Called when the head has arrived, for each piece of the body, and at the end.  *state is NULL the first time. */
enum MHD_Result ptc_http_on_request(void *user, struct MHD_Connection *connection, const char *path,
                                    const char *verb, const char *version, const char *bytes,
                                    size_t *len, void **state)
{
    PtcHttp *http = user;
    PtcHttpConn *conn = conn_of(http, connection);
    if (!conn)
        return MHD_NO;
    if (!*state) {
        *state = conn;
        return begin_request(http, connection, conn, path, verb, version);
    }
    return *len ? take_body_piece(conn, bytes, len) : end_http_request(http, connection, conn);
}

void ptc_http_on_completed(void *user, struct MHD_Connection *connection, void **state,
                           enum MHD_RequestTerminationCode how)
{
    PtcHttp *http = user;
    PtcHttpConn *conn = *state;
    (void)connection, (void)how;
    if (!conn)
        return;
    ptc_http_exchange_close(&conn->exchange);
    *state = NULL;
    ptc_http_conn_enter(conn, PTC_HTTP_RECEIVING);
    atomic_store(&conn->asked, false);
    if (conn->last)
        ptc_http_conn_await_close(&http->conns, conn);
}
