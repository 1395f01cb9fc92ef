/* SPDX-License-Identifier: MIT
 * Who may ask the viewer for what: request heads, one case a line. */
#include "viewer/view_request.h"

#include "check.h"

#define SECRET "0123456789abcdef0123456789abcdef"
#define DOOR "fedcba9876543210fedcba9876543210"
#define OTHER "0123456789abcdef0123456789abcdee"
#define HOST "Host: 127.0.0.1:4711\r\n"

static const PtcViewPlace place = {.port = 4711, .secret = SECRET, .door = DOOR};

static PtcViewRequest ask(const char *head)
{
    return ptc_view_request_read(&place, ptc_text_cstr(head));
}

static void test_paths(void)
{
    PtcViewRequest r = ask("GET /" SECRET "/ HTTP/1.1\r\n" HOST "\r\n");
    CHECK(r.kind == PTC_VIEW_FILE && r.name.len == 0 && !r.head);
    r = ask("HEAD /" SECRET "/app.js HTTP/1.1\r\n" HOST "\r\n");
    CHECK(r.kind == PTC_VIEW_FILE && ptc_text_is(r.name, "app.js") && r.head);
    r = ask("GET /" SECRET "/traces.json HTTP/1.0\r\n" HOST "\r\n");
    CHECK(r.kind == PTC_VIEW_LIST);
    r = ask("GET /" SECRET "/trace/12 HTTP/1.1\r\nhost:localhost:4711 \r\n\r\n");
    CHECK(r.kind == PTC_VIEW_TRACE && r.number == 12);
    r = ask("GET /" DOOR " HTTP/1.1\r\n" HOST "\r\n");
    CHECK(r.kind == PTC_VIEW_DOOR);
    r = ask("GET /" SECRET "/trace/../../etc/passwd HTTP/1.1\r\n" HOST "\r\n");
    CHECK(r.kind == PTC_VIEW_REFUSED && r.status == 404);
}

static void test_refusals(void)
{
    static const struct {
        int status;
        const char *head;
    } cases[] = {
        {404, "GET / HTTP/1.1\r\n" HOST "\r\n"},
        {404, "GET /" SECRET " HTTP/1.1\r\n" HOST "\r\n"},
        {404, "GET /" OTHER "/ HTTP/1.1\r\n" HOST "\r\n"},
        {404, "GET //" SECRET "/ HTTP/1.1\r\n" HOST "\r\n"},
        {404, "GET /" SECRET "/trace/ HTTP/1.1\r\n" HOST "\r\n"},
        {404, "GET /" SECRET "/trace/01 HTTP/1.1\r\n" HOST "\r\n"},
        {404, "GET /" SECRET "/trace/-1 HTTP/1.1\r\n" HOST "\r\n"},
        {404, "GET /" SECRET "/trace/9999999999 HTTP/1.1\r\n" HOST "\r\n"},
        {400, "GET http://127.0.0.1:4711/" SECRET "/ HTTP/1.1\r\n" HOST "\r\n"},
        {400, "GET /" SECRET "/\r\n" HOST "\r\n"},
        {505, "GET /" SECRET "/ HTTP/2.0\r\n" HOST "\r\n"},
        {505, "GET /" SECRET "/ x HTTP/1.1\r\n" HOST "\r\n"},
        {405, "POST /" SECRET "/ HTTP/1.1\r\n" HOST "\r\n"},
        {405, "OPTIONS /" SECRET "/ HTTP/1.1\r\n" HOST "\r\n"},
        {400, "GET /" SECRET "/ HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n"},
        {400, "GET /" SECRET "/ HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"},
        {400, "GET /" SECRET "/ HTTP/1.1\r\n" HOST "a field\r\n\r\n"},
        {400, "GET /" SECRET "/ HTTP/1.1\r\n" HOST " folded: x\r\n\r\n"},
        {400, "GET /" SECRET "/ HTTP/1.1\r\n" HOST "X: \x01\r\n\r\n"},
        {400, "GET /" SECRET "/ HTTP/1.1\r\n" HOST "X: \xc3\xa9\r\n\r\n"},
        {400, "GET /" SECRET "/ HTTP/1.1\r\n" HOST "X: a\nY: b\r\n\r\n"},
        {400, "\r\n\r\n"},
        {403, "GET /" SECRET "/ HTTP/1.1\r\n\r\n"},
        {403, "GET /" SECRET "/ HTTP/1.1\r\nHost: evil.example:4711\r\n\r\n"},
        {403, "GET /" SECRET "/ HTTP/1.1\r\nHost: 127.0.0.1:4712\r\n\r\n"},
        {403, "GET /" SECRET "/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"},
        {403, "GET /" SECRET "/ HTTP/1.1\r\nHost: 127.0.0.1:4711.evil.example\r\n\r\n"},
        {403, "GET /" SECRET "/ HTTP/1.1\r\n" HOST HOST "\r\n"},
        {403, "GET /" SECRET "/ HTTP/1.1\r\n" HOST "Sec-Fetch-Site: cross-site\r\n\r\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtcViewRequest r = ask(cases[i].head);
        CHECK(r.kind == PTC_VIEW_REFUSED);
        if (r.status != cases[i].status)
            printf("case %zu: %d\n", i, r.status);
        CHECK(r.status == cases[i].status);
    }
}

static void test_door(void)
{
    PtcViewPlace used = place;
    used.door[0] = '\0';
    PtcViewRequest r =
        ptc_view_request_read(&used, PTC_TEXT("GET /" DOOR " HTTP/1.1\r\n" HOST "\r\n"));
    CHECK(r.kind == PTC_VIEW_REFUSED && r.status == 404);
}

static void test_end(void)
{
    CHECK(ptc_view_request_end(PTC_TEXT("")) == 0);
    CHECK(ptc_view_request_end(PTC_TEXT("GET / HTTP/1.1\r\n\r")) == 0);
    CHECK(ptc_view_request_end(PTC_TEXT("GET / HTTP/1.1\r\n\r\nmore")) == 18);
}

int main(void)
{
    CHECK_RUN(test_paths());
    CHECK_RUN(test_refusals());
    CHECK_RUN(test_door());
    CHECK_RUN(test_end());
    return check_done("test_viewer_request");
}
