/* SPDX-License-Identifier: MIT
 * Who may ask the viewer for what: requests, one case a line. */
#include "viewer/view_request.h"

#include "check.h"

#define SECRET "0123456789abcdef0123456789abcdef"
#define DOOR "fedcba9876543210fedcba9876543210"
#define OTHER "0123456789abcdef0123456789abcdee"
#define HOST "127.0.0.1:4711"

static const PtcViewPlace place = {.port = 4711, .secret = SECRET, .door = DOOR};

/* What becomes of a request with this Host and at most one more field. */
static PtcViewRequest ask_as(const PtcViewPlace *to, const char *method, const char *path,
                             const char *host, const char *name, const char *value)
{
    PtcViewFields fields = {0};
    if (host)
        ptc_view_fields_add(&fields, PTC_TEXT("host"), ptc_text_cstr(host));
    if (name)
        ptc_view_fields_add(&fields, ptc_text_cstr(name), ptc_text_cstr(value));
    return ptc_view_request_judge(to, &fields, ptc_text_cstr(method), ptc_text_cstr(path));
}

static PtcViewRequest ask(const char *path)
{
    return ask_as(&place, "GET", path, HOST, NULL, NULL);
}

static void test_paths(void)
{
    PtcViewRequest r = ask("/" SECRET "/");
    CHECK(r.kind == PTC_VIEW_FILE && r.name.len == 0);
    r = ask_as(&place, "HEAD", "/" SECRET "/app.js", "localhost:4711 ", "Content-Length", "0");
    CHECK(r.kind == PTC_VIEW_FILE && ptc_text_is(r.name, "app.js"));
    r = ask("/" SECRET "/traces.json");
    CHECK(r.kind == PTC_VIEW_LIST);
    r = ask_as(&place, "GET", "/" SECRET "/trace/12", "LOCALHOST:4711", "Sec-Fetch-Site", "none");
    CHECK(r.kind == PTC_VIEW_TRACE && r.number == 12);
    r = ask("/" DOOR);
    CHECK(r.kind == PTC_VIEW_DOOR);
    r = ask("/" SECRET "/trace/../../etc/passwd");
    CHECK(r.kind == PTC_VIEW_REFUSED && r.status == 404);
}

static void test_refusals(void)
{
    static const char page[] = "/" SECRET "/";
    static const struct {
        int status;
        const char *method, *path, *host, *name, *value;
    } cases[] = {
        {404, "GET", "/", HOST, NULL, NULL},
        {404, "GET", "/" SECRET, HOST, NULL, NULL},
        {404, "GET", "/" OTHER "/", HOST, NULL, NULL},
        {404, "GET", "//" SECRET "/", HOST, NULL, NULL},
        {404, "GET", "/" SECRET "/trace/", HOST, NULL, NULL},
        {404, "GET", "/" SECRET "/trace/01", HOST, NULL, NULL},
        {404, "GET", "/" SECRET "/trace/-1", HOST, NULL, NULL},
        {404, "GET", "/" SECRET "/trace/9999999999", HOST, NULL, NULL},
        {400, "GET", "http://127.0.0.1:4711/" SECRET "/", HOST, NULL, NULL},
        {400, "GET", "", HOST, NULL, NULL},
        {403, "POST", page, HOST, NULL, NULL},
        {405, "OPTIONS", page, HOST, NULL, NULL},
        {400, "GET", page, HOST, "Content-Length", "5"},
        {400, "GET", page, HOST, "Transfer-Encoding", "chunked"},
        {403, "GET", page, NULL, NULL, NULL},
        {403, "GET", page, "evil.example:4711", NULL, NULL},
        {403, "GET", page, "127.0.0.1:4712", NULL, NULL},
        {403, "GET", page, "127.0.0.1", NULL, NULL},
        {403, "GET", page, "127.0.0.1:4711.evil.example", NULL, NULL},
        {403, "GET", page, HOST, "Host", HOST},
        {403, "GET", page, HOST, "Sec-Fetch-Site", "cross-site"},
        {403, "GET", page, HOST, "sec-fetch-site", "Same-Site"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtcViewRequest r = ask_as(&place, cases[i].method, cases[i].path, cases[i].host,
                                  cases[i].name, cases[i].value);
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
    PtcViewRequest r = ask_as(&used, "GET", "/" DOOR, HOST, NULL, NULL);
    CHECK(r.kind == PTC_VIEW_REFUSED && r.status == 404);
}

/* An approval comes from our own page, with everything that a page of somebody else cannot have. */
static void test_answers(void)
{
    static const char path[] = "/" SECRET "/approval", json[] = "application/json";
    static const struct {
        int status;
        const char *path, *origin, *type, *length;
    } cases[] = {
        {0, path, "http://" HOST, json, "20"},
        {0, path, "http://localhost:4711", json, "20"},
        {403, path, NULL, json, "20"},
        {403, path, "http://127.0.0.1:4712", json, "20"},
        {403, path, "https://" HOST, json, "20"},
        {403, path, "http://evil.example", json, "20"},
        {403, path, "null", json, "20"},
        {404, "/" OTHER "/approval", "http://" HOST, json, "20"},
        {405, "/" SECRET "/", "http://" HOST, json, "20"},
        {400, path, "http://" HOST, "text/plain", "20"},
        {400, path, "http://" HOST, NULL, "20"},
        {400, path, "http://" HOST, json, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtcViewFields fields = {0};
        const char *const more[][2] = {{"host", HOST},
                                       {"origin", cases[i].origin},
                                       {"content-type", cases[i].type},
                                       {"content-length", cases[i].length}};
        for (size_t k = 0; k < sizeof more / sizeof *more; k++)
            if (more[k][1])
                ptc_view_fields_add(&fields, ptc_text_cstr(more[k][0]), ptc_text_cstr(more[k][1]));
        PtcViewRequest r =
            ptc_view_request_judge(&place, &fields, PTC_TEXT("POST"), ptc_text_cstr(cases[i].path));
        if (check_count(cases[i].status ? r.status == cases[i].status : r.kind == PTC_VIEW_ANSWER))
            printf("answer %d: %d\n", (int)i, r.status);
    }
    CHECK(ask("/" SECRET "/approvals.json").kind == PTC_VIEW_WAITING);
    CHECK(ask("/" SECRET "/approval").kind == PTC_VIEW_FILE); /* which there is not */
}

int main(void)
{
    CHECK_RUN(test_paths());
    CHECK_RUN(test_refusals());
    CHECK_RUN(test_answers());
    CHECK_RUN(test_door());
    return check_done("test_viewer_request");
}
