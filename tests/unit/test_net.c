/* SPDX-License-Identifier: MIT
 * What protocols are made of, without a network: addresses, delays, events of streams cut at every byte. */
#include "check.h"
#include "net/content_length.h"
#include "net/eventstream.h"
#include "net/retry_after.h"
#include "net/sse.h"
#include "net/url.h"

static PtcMem mem;

/* ---------------------------------------------------------------------------------- addresses */

static const struct {
    const char *text;
    const char *host, *port, *path; /* host NULL: refused */
    bool loopback, literal;
} urls[] = {
    {"https://api.example.com", "api.example.com", "", "", false, false},
    {"https://api.example.com/v1?x=1&y=%20", "api.example.com", "", "/v1?x=1&y=%20", false, false},
    {"http://localhost:11434/", "localhost", "11434", "/", true, false},
    {"http://LOCALHOST", "LOCALHOST", "", "", true, false},
    {"http://127.0.0.1:80/a", "127.0.0.1", "80", "/a", true, true},
    {"http://127.1.2.3", "127.1.2.3", "", "", true, true},
    {"http://128.0.0.1", "128.0.0.1", "", "", false, true},
    {"http://0.0.0.0", "0.0.0.0", "", "", false, true},
    {"http://127.0.0.1.example.com", "127.0.0.1.example.com", "", "", false, false},
    {"http://127.1", "127.1", "", "", false, false},
    {"http://[::1]:8/x", "::1", "8", "/x", true, true},
    {"http://[fe80::1]", "fe80::1", "", "", false, true},
    {"https://a_b-c.d?q", "a_b-c.d", "", "?q", false, false},
    {"ftp://x", NULL, NULL, NULL, false, false},
    {"HTTPS://x", NULL, NULL, NULL, false, false},
    {"https://", NULL, NULL, NULL, false, false},
    {"https:///x", NULL, NULL, NULL, false, false},
    {"https://user@host", NULL, NULL, NULL, false, false},
    {"https://user:secret@host", NULL, NULL, NULL, false, false},
    {"http://127.0.0.1@evil.example", NULL, NULL, NULL, false, false},
    {"https://host:0", NULL, NULL, NULL, false, false},
    {"https://host:65536", NULL, NULL, NULL, false, false},
    {"https://host:", NULL, NULL, NULL, false, false},
    {"https://host:8x", NULL, NULL, NULL, false, false},
    {"https://ho st", NULL, NULL, NULL, false, false},
    {"https://host/a b", NULL, NULL, NULL, false, false},
    {"https://host/a\r\nx", NULL, NULL, NULL, false, false},
    {"https://host/#frag", NULL, NULL, NULL, false, false},
    {"https://host\\@x", NULL, NULL, NULL, false, false},
    {"https://h\xc3\xb6st", NULL, NULL, NULL, false, false},
    {"https://[::1", NULL, NULL, NULL, false, false},
    {"https://[::1]x", NULL, NULL, NULL, false, false},
    {"https://%31%32", NULL, NULL, NULL, false, false},
};

static void test_urls(void)
{
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        PtcUrl url;
        bool ok = ptc_url_parse(ptc_text_cstr(urls[i].text), &url, NULL);
        if (check_count(ok == (urls[i].host != NULL)))
            printf("url %s\n", urls[i].text);
        if (!ok || !urls[i].host)
            continue;
        CHECK(ptc_text_is(url.host, urls[i].host) && ptc_text_is(url.path, urls[i].path));
        CHECK(url.loopback == urls[i].loopback && url.literal == urls[i].literal);
        CHECK(urls[i].port[0] ? ptc_text_is(url.port, urls[i].port) : !url.port.bytes);
    }
    PtcUrl a, b;
    CHECK(ptc_url_parse(PTC_TEXT("https://Host:443/x"), &a, NULL) &&
          ptc_url_parse(PTC_TEXT("https://host/y"), &b, NULL) && ptc_url_same_server(&a, &b));
    CHECK(ptc_url_parse(PTC_TEXT("http://host/y"), &b, NULL) && !ptc_url_same_server(&a, &b));
    CHECK(ptc_url_parse(PTC_TEXT("https://host:444"), &b, NULL) && !ptc_url_same_server(&a, &b));
    static const char *const stay[] = {"",      "/",    "/a/b", "/...", "/.a", "/a..",
                                       "/%2fa", "/%2x", "/%2",  "/%",   "/;a", "/a/..b;c"};
    static const char *const leave[] = {".",        "..",      "/..",       "/.",   "/a/../b",
                                        "/./",      "/%2e%2E", "/.%2e/",    "/%2e", "/a%2f..",
                                        "/\\..\\x", "/..;a/b", "/a%5C..%5c"};
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        CHECK(ptc_url_path_stays(ptc_text_cstr(stay[i])));
    for (size_t i = 0; i < sizeof leave / sizeof *leave; i++)
        CHECK(!ptc_url_path_stays(ptc_text_cstr(leave[i])));
    PtcBuf out;
    ptc_buf_init(&out, &mem, 1000);
    CHECK(ptc_url_encode(&out, PTC_TEXT("a-b.c_d~:/?\xc3\xa4 \0x")));
    CHECK_STR(ptc_buf_text(&out), "a-b.c_d~%3A%2F%3F%C3%A4%20%00x");
    ptc_buf_deinit(&out);
}

static void test_locations(void)
{
    static const char *const cases[][3] = {
        {"https://h/a/b?q=1", "/c", "https://h/c"},
        {"https://h/a/b?q=1", "c", "https://h/a/c"},
        {"https://h/a/b?q=1/2", "c?d=1#e", "https://h/a/c?d=1"},
        {"https://h/a/b?q=1", "?r=2", "https://h/a/b?r=2"},
        {"https://h", "c", "https://h/c"},
        {"https://h:8443?x", "c", "https://h:8443/c"},
        {"https://h/a", "https://other/c", "https://other/c"},
        {"https://h/a", "/login?back=https://h/a", "https://h/login?back=https://h/a"},
        {"https://h/a", "?back=https://h/a", "https://h/a?back=https://h/a"},
        {"https://h/a", "//other/c", NULL},
        {"https://h/a", "javascript:1", NULL},
        {"https://h/a", "/a b", NULL},
        {"nowhere", "/a", NULL},
    };
    char out[PTC_URL_BYTES + 1], *end, longer[PTC_URL_BYTES + 8];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool ok = ptc_url_resolve(cases[i][0], cases[i][1], out);
        CHECK(ok == (cases[i][2] != NULL) && (!ok || strcmp(out, cases[i][2]) == 0));
    }
    memset(longer, 'a', sizeof longer);
    end = longer + sizeof longer - 1;
    longer[0] = '/';
    *end = '\0';
    CHECK(!ptc_url_resolve("https://h/a", longer, out));
}

/* ------------------------------------------------------------------------------------- lengths */

static void test_lengths(void)
{
    static const struct {
        const char *text;
        int64_t n; /* -1: none */
    } rows[] = {{" 0\r\n", 0},
                {"\t17 ", 17},
                {"007", 7},
                {"1000000000000000000", 1000000000000000000},
                {"9223372036854775807", INT64_MAX},
                {"9223372036854775808", INT64_MAX},
                {"99999999999999999999999999", INT64_MAX},
                {"", -1},
                {" ", -1},
                {"-5", -1},
                {"+5", -1},
                {"5x", -1},
                {"0x10", -1},
                {"5, 5", -1},
                {"1 2", -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t n = -1;
        bool ok = ptc_content_length(ptc_text_cstr(rows[i].text), &n);
        if (check_count(ok == (rows[i].n >= 0) && (!ok || n == rows[i].n)))
            printf("length %s\n", rows[i].text);
    }
}

/* ------------------------------------------------------------------------------------- delays */

static const struct {
    const char *value;
    int64_t ms;
} delays[] = {
    {"0", 0},
    {"7", 7000},
    {" 1.5 ", 1500},
    {"-3", -1},
    {"", -1},
    {"soon", -1},
    {"1e300", PTC_RETRY_AFTER_MAX},
    {"99999999999999999999999999", PTC_RETRY_AFTER_MAX},
    {"34.074824224s", 34074},
    {"250ms", 250},
    {"s", -1},
    {"0x10", -1},
    {"nan", -1},
    {"inf", -1},
    {"Thu, 01 Jan 1970 00:01:40 GMT", 40000}, /* the clock shows one minute past */
    {"Thu, 01 Jan 1970 00:00:10 GMT", 0},
    {"Fri, 31 Dec 9999 23:59:59 GMT", PTC_RETRY_AFTER_MAX},
    {"Thu, 31 Feb 1999 00:00:00 GMT", -1},
    {"Thu, 01 Jan 1970 24:00:00 GMT", -1},
    {"Thu, 01 Jän 1970 00:00:00 GMT", -1},
    {"Thu, 01 Jan 1970 00:01:40 CET", -1},
};

static void test_delays(void)
{
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++)
        if (check_count(ptc_retry_after_ms(ptc_text_cstr(delays[i].value), 60000) == delays[i].ms))
            printf("delay %s: %lld\n", delays[i].value,
                   (long long)ptc_retry_after_ms(ptc_text_cstr(delays[i].value), 60000));
    CHECK(ptc_retry_delay_ms(PTC_TEXT("1250"), 1) == 1250);
}

/* ------------------------------------------------------------------------------------- events */

static bool note_event(void *user, PtcText name, PtcText data)
{
    return ptc_buf_addf(user, "(%.*s|%.*s)", (int)name.len, name.bytes, (int)data.len, data.bytes);
}

static const struct {
    const char *text, *events;
} streams[] = {
    {"data: a\n\ndata: b\n\n", "(|a)(|b)"},
    {"event: x\r\ndata:1\r\ndata: 2\r\n\r\n", "(x|1\n2)"},
    {"data: a\r\rdata: b\r\r", "(|a)(|b)"},
    {": note\n\nid: 7\nretry: 9\ndata: a\n\n", "(|a)"},
    {"\xef\xbb\xbf"
     "data: a\n\n",
     "(|a)"},
    {"event: only\n\ndata\n\n", "(|)"},
    {"data:  two\n\ndata: cut", "(| two)(|cut)"},
    {"datax: a\nda: b\n\n", ""},
    {"data: a\nevent: late\n\n", "(late|a)"},
    {"data: {\"a\": \"b:c\"}\n\n", "(|{\"a\": \"b:c\"})"},
};

static void test_sse(void)
{
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        size_t len = strlen(streams[i].text);
        for (size_t cut = 0; cut <= len; cut++)
            for (size_t step = 1; step <= 3; step++) {
                PtcBuf seen;
                PtcSse sse;
                bool ok = true;
                ptc_buf_init(&seen, &mem, 10000);
                ptc_sse_init(&sse, &mem, 1000);
                sse.event = note_event;
                sse.user = &seen;
                for (size_t at = 0, n = cut; at < len && ok; at += n, n = step) {
                    n = n < len - at ? n : len - at;
                    ok = ptc_sse_feed(&sse, (PtcText){streams[i].text + at, n}, NULL);
                }
                CHECK(ok && ptc_sse_end(&sse, NULL));
                CHECK_STR(ptc_buf_text(&seen), streams[i].events);
                ptc_sse_deinit(&sse);
                ptc_buf_deinit(&seen);
            }
    }
    PtcSse sse;
    PtcWhy why;
    ptc_sse_init(&sse, &mem, 1000);
    CHECK(sse.retry_ms == -1 && sse.id_len == 0);
    CHECK(ptc_sse_feed(
        &sse, PTC_TEXT("id: a-1\nretry: 250\ndata:\n\nretry: soon\nretry: 1234567890\nid: b\0c\n"),
        NULL));
    CHECK(sse.retry_ms == 250 && ptc_text_is((PtcText){sse.id, sse.id_len}, "a-1"));
    CHECK(ptc_sse_feed(&sse, PTC_TEXT("id\n"), NULL) && sse.id_len == 0);
    ptc_sse_deinit(&sse);
    ptc_sse_init(&sse, &mem, 8);
    CHECK(!ptc_sse_feed(&sse, PTC_TEXT("data: 123456789"), &why) && why.class == PTC_WHY_REFUSED);
    ptc_sse_deinit(&sse);
    ptc_sse_init(&sse, &mem, 8);
    CHECK(!ptc_sse_feed(&sse, PTC_TEXT("data: 123456789\n"), &why) && why.class == PTC_WHY_REFUSED);
    ptc_sse_deinit(&sse);
    ptc_sse_init(&sse, &mem, 8);
    CHECK(ptc_sse_feed(&sse, PTC_TEXT("data: 12\ndata: 12\ndata: 12\n"), NULL));
    CHECK(!ptc_sse_feed(&sse, PTC_TEXT("data: 3\n\n"), &why) && why.class == PTC_WHY_REFUSED);
    ptc_sse_deinit(&sse);
}

/* ------------------------------------------------------------------------------ AWS's streams */

static bool note_message(void *user, const PtcEventMessage *m)
{
    return ptc_buf_addf(user, "(%.*s|%.*s|%.*s)", (int)m->message_type.len, m->message_type.bytes,
                        (int)m->event_type.len, m->event_type.bytes ? m->event_type.bytes : "",
                        (int)m->payload.len, m->payload.bytes);
}

/* A message by another hand: empty payload, headers of every type. */
static const unsigned char odd_headers[] = {
    1,   'a', 0,   1,   'b', 1,   1,   'c', 2,  9,  1,  'd', 3,   0,   9,   1,   'e', 4,   0,
    0,   0,   9,   1,   'f', 5,   0,   0,   0,  0,  0,  0,   0,   9,   1,   'g', 6,   0,   2,
    'x', 'y', 1,   'h', 8,   0,   0,   0,   0,  0,  0,  0,   9,   1,   'i', 9,   0,   1,   2,
    3,   4,   5,   6,   7,   8,   9,   10,  11, 12, 13, 14,  15,  13,  ':', 'm', 'e', 's', 's',
    'a', 'g', 'e', '-', 't', 'y', 'p', 'e', 7,  0,  5,  'e', 'v', 'e', 'n', 't'};

static void add_number(PtcBuf *out, uint32_t n)
{
    unsigned char bytes[4] = {(unsigned char)(n >> 24), (unsigned char)(n >> 16),
                              (unsigned char)(n >> 8), (unsigned char)n};
    ptc_buf_add(out, bytes, 4);
}

static void add_message(PtcBuf *out, PtcText headers, PtcText payload)
{
    size_t from = out->len;
    add_number(out, (uint32_t)(16 + headers.len + payload.len));
    add_number(out, (uint32_t)headers.len);
    add_number(out, ptc_eventstream_crc32(0, out->data + from, 8));
    ptc_buf_add(out, headers.bytes, headers.len);
    ptc_buf_add(out, payload.bytes, payload.len);
    add_number(out, ptc_eventstream_crc32(0, out->data + from, out->len - from));
}

/* How it ends: no class when all of it was taken. */
static PtcWhyClass feed_all(PtcText bytes, size_t first, size_t step, PtcBuf *seen)
{
    PtcEventStream stream;
    PtcWhy why;
    ptc_why_init(&why);
    ptc_eventstream_init(&stream, &mem, 4096);
    stream.message = note_message;
    stream.user = seen;
    bool ok = true;
    for (size_t at = 0, n = first; at < bytes.len && ok; at += n, n = step) {
        n = n < bytes.len - at ? n : bytes.len - at;
        ok = ptc_eventstream_feed(&stream, (PtcText){bytes.bytes + at, n}, &why);
    }
    if (ok && ptc_eventstream_pending(&stream))
        ptc_buf_add_cstr(seen, "...");
    ptc_eventstream_deinit(&stream);
    return why.class;
}

static void test_eventstream(void)
{
    PtcBuf bytes, seen;
    PtcText headers = {(const char *)odd_headers, sizeof odd_headers};
    CHECK(ptc_eventstream_crc32(0, "123456789", 9) == 0xcbf43926);
    ptc_buf_init(&bytes, &mem, 10000);
    ptc_buf_init(&seen, &mem, 10000);
    add_message(&bytes, headers, PTC_TEXT(""));
    add_message(&bytes, PTC_TEXT(""), PTC_TEXT("{}"));
    for (size_t cut = 0; cut <= bytes.len; cut++) {
        ptc_buf_clear(&seen);
        CHECK(feed_all(ptc_buf_view(&bytes), cut, 1 + cut % 3, &seen) == PTC_WHY_NONE);
        CHECK_STR(ptc_buf_text(&seen), "(event||)(||{})");
        ptc_buf_clear(&seen);
        if (cut < bytes.len && cut)
            CHECK(feed_all((PtcText){bytes.data, cut}, cut, 1, &seen) == PTC_WHY_NONE);
    }
    for (size_t i = 0; i < bytes.len; i++) { /* no flipped bit goes unnoticed */
        bytes.data[i] ^= 1;
        ptc_buf_clear(&seen);
        CHECK(feed_all(ptc_buf_view(&bytes), SIZE_MAX, 1, &seen) == PTC_WHY_INVALID);
        bytes.data[i] ^= 1;
    }
    ptc_buf_clear(&bytes);
    add_number(&bytes, 5000); /* larger than may be */
    add_number(&bytes, 0);
    add_number(&bytes, ptc_eventstream_crc32(0, bytes.data, 8));
    CHECK(feed_all(ptc_buf_view(&bytes), SIZE_MAX, 1, &seen) == PTC_WHY_REFUSED);
    ptc_buf_clear(&bytes);
    add_message(&bytes, PTC_TEXT("\5ab"), PTC_TEXT("")); /* a header that ends behind its message */
    CHECK(feed_all(ptc_buf_view(&bytes), SIZE_MAX, 1, &seen) == PTC_WHY_INVALID);
    ptc_buf_deinit(&bytes);
    ptc_buf_deinit(&seen);
}

int main(void)
{
    ptc_mem_init(&mem, SIZE_MAX / 2);
    test_urls();
    test_locations();
    test_lengths();
    test_delays();
    test_sse();
    test_eventstream();
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("net");
}
