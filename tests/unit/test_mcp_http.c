/* SPDX-License-Identifier: MIT
 * The parts of the HTTP transport that need no server: heads, Host and Origin rules, tokens, addresses, metrics,
 * event streams. */
#define _GNU_SOURCE /* memmem */
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mcp/http/http_bind.h"
#include "mcp/http/http_conn.h"
#include "mcp/http/http_guard.h"
#include "mcp/http/http_log.h"
#include "mcp/http/http_metrics.h"
#include "mcp/http/http_session.h"
#include "mcp/http/http_stream.h"
#include "unit/check.h"

static PtcText text(const char *s)
{
    return (PtcText){s, s ? strlen(s) : 0};
}

static void add(PtcHttpHead *head, const char *name, const char *value)
{
    ptc_http_head_add(head, name, strlen(name), value, strlen(value));
}

/* --------------------------------------------------------------------- heads */

static void test_head(void)
{
    PtcHttpHead head = {0};
    add(&head, "HOST", "localhost:1");
    add(&head, "mcp-NAME", "  a b\t ");
    add(&head, "Mcp-Param-Region", "eu");
    add(&head, "X-Other", "x");
    CHECK(ptc_http_text_is(head.field[PTC_HTTP_HOST], "localhost:1"));
    CHECK(ptc_http_text_is(head.field[PTC_HTTP_NAME], "a b"));
    CHECK(!head.field[PTC_HTTP_ORIGIN].bytes && !head.twice.bytes && !head.broken);
    CHECK_STR(ptc_http_head_find(&head, "mcp-param-REGION"), "eu");
    CHECK_STR(ptc_http_head_find(&head, "Host"), "localhost:1");
    CHECK(!ptc_http_head_find(&head, "Mcp-Param-Other") && !ptc_http_head_find(&head, "X-Other"));
    add(&head, "Accept", "a/b");
    add(&head, "Accept", "c/d");
    CHECK(!head.twice.bytes);
    add(&head, "Mcp-Name", "other");
    CHECK(ptc_http_text_is_nocase(head.twice, "mcp-name"));
    CHECK(ptc_http_text_is(head.field[PTC_HTTP_NAME], "a b"));
    static const struct {
        const char *name, *value;
        size_t len;
        bool broken;
    } values[] = {
        {"Origin", "a\0b", 3, true},       {"Mcp-Method", "a\x7f", 2, true},
        {"Mcp-Name", "\xc3\xa4", 2, true}, {"Mcp-Name", "a\tb ~", 5, false},
        {"Mcp-Param-X", "\x01", 1, true},  {"X-Other", "\xff", 1, false},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        PtcHttpHead one = {0};
        ptc_http_head_add(&one, values[i].name, strlen(values[i].name), values[i].value,
                          values[i].len);
        CHECK(one.broken == values[i].broken);
    }
    for (int i = 0; i < PTC_HTTP_PARAMS_MAX; i++)
        add(&head, "Mcp-Param-X", "1");
    CHECK(head.crowded && head.param_count == PTC_HTTP_PARAMS_MAX);
}

static void test_media_types(void)
{
    static const struct {
        const char *accept, *type;
        bool ok;
    } cases[] = {
        {"application/json, text/event-stream", "text/event-stream", true},
        {"application/json", "text/event-stream", false},
        {"*/*", "text/event-stream", true},
        {"text/*;q=0.5", "text/event-stream", true},
        {"text/*", "application/json", false},
        {"TEXT/Event-Stream ; x=y", "text/event-stream", true},
        {"", "application/json", false},
        {",,;,", "application/json", false},
        {"application/jsonx", "application/json", false},
        {"application/*", "application/json", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(ptc_http_accepts(text(cases[i].accept), cases[i].type) == cases[i].ok);
    CHECK(ptc_http_is_json(text("Application/JSON; charset=utf-8")));
    CHECK(!ptc_http_is_json(text("text/plain")) && !ptc_http_is_json(text(NULL)));
}

/* --------------------------------------------------------------------- guard */

static void test_local_names(void)
{
    static const struct {
        const char *host;
        bool local;
    } cases[] = {
        {"localhost", true},
        {"LocalHost:80", true},
        {"127.0.0.1", true},
        {"127.0.0.1:7332", true},
        {"127.9.8.7", true},
        {"[::1]:7332", true},
        {"[::1]", true},
        {"evil.example", false},
        {"localhost.evil.example", false},
        {"127.0.0.1.evil.x", false},
        {"localhost:80x", false},
        {"127.0.0", false},
        {"127.0.0.1234", false},
        {"127..0.1", false},
        {"", false},
        {"[::2]", false},
        {"0.0.0.0", false},
        {"localhost@evil", false},
        {"127.0.0.1.", false},
        {"[::1", false},
        {"[::1]x", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(ptc_http_is_local_name(text(cases[i].host)) == cases[i].local);
}

static PtcHttpVerdict place(const PtcHttpGuard *guard, const char *host, const char *origin)
{
    PtcHttpHead head = {0};
    head.field[PTC_HTTP_HOST] = text(host);
    head.field[PTC_HTTP_ORIGIN] = text(origin);
    return ptc_http_guard_place(guard, &head);
}

static void test_places(PtcMem *mem)
{
    PtcHttpGuard guard;
    CHECK(ptc_http_guard_init(&guard, mem, true));
    CHECK(place(&guard, "localhost:1", NULL) == PTC_HTTP_PASS);
    CHECK(place(&guard, "localhost:1", "http://localhost:1234") == PTC_HTTP_PASS);
    CHECK(place(&guard, "127.0.0.1", "https://[::1]:9") == PTC_HTTP_PASS);
    CHECK(place(&guard, NULL, NULL) == PTC_HTTP_BAD_HOST);
    CHECK(place(&guard, "evil.example", NULL) == PTC_HTTP_BAD_HOST);
    CHECK(place(&guard, "localhost", "null") == PTC_HTTP_BAD_ORIGIN);
    CHECK(place(&guard, "localhost", "http://evil.example") == PTC_HTTP_BAD_ORIGIN);
    CHECK(place(&guard, "localhost", "http://localhost.evil.example") == PTC_HTTP_BAD_ORIGIN);
    CHECK(place(&guard, "localhost", "file://localhost") == PTC_HTTP_BAD_ORIGIN);
    CHECK(place(&guard, "localhost", "http://") == PTC_HTTP_BAD_ORIGIN);
    CHECK(ptc_http_names_add(&guard.hosts, "MCP.example.com", NULL));
    CHECK(ptc_http_names_add(&guard.origins, "https://App.example.com", NULL));
    CHECK(!ptc_http_names_add(&guard.origins, "with space", NULL));
    CHECK(place(&guard, "mcp.Example.com:443", "https://app.example.com") == PTC_HTTP_PASS);
    CHECK(place(&guard, "mcp.example.com", "https://mcp.example.com") == PTC_HTTP_BAD_ORIGIN);
    ptc_http_guard_deinit(&guard);
    CHECK(ptc_http_guard_init(&guard, mem, false));
    CHECK(place(&guard, "anything", NULL) == PTC_HTTP_PASS);
    CHECK(place(&guard, "anything", "http://localhost") == PTC_HTTP_BAD_ORIGIN);
    ptc_http_guard_deinit(&guard);
}

static PtcHttpVerdict token(PtcHttpGuard *guard, const char *field, uint64_t peer, int64_t second,
                            char owner[PTC_HTTP_OWNER_MAX])
{
    PtcHttpHead head = {0};
    head.field[PTC_HTTP_AUTHORIZATION] = text(field);
    return ptc_http_guard_token(guard, &head, (PtcHttpPeer){peer, false},
                                second * INT64_C(1000000000), owner);
}

#define TOKENS \
    "# two owners\n\nann 0123456789abcdef0123\r\nbob\tsecret-secret-secret \nplain-token-plain\n"

static void test_tokens(PtcMem *mem)
{
    PtcHttpGuard guard;
    char owner[PTC_HTTP_OWNER_MAX];
    CHECK(ptc_http_guard_init(&guard, mem, false));
    CHECK(token(&guard, NULL, 1, 0, owner) == PTC_HTTP_PASS);
    CHECK_STR(owner, "");
    CHECK(ptc_http_tokens_read(&guard.tokens, text(TOKENS), NULL));
    CHECK(guard.tokens.count == 3 && ptc_http_tokens_owners(&guard.tokens) == 3);
    CHECK(token(&guard, "Bearer 0123456789abcdef0123", 1, 0, owner) == PTC_HTTP_PASS);
    CHECK_STR(owner, "ann");
    CHECK(token(&guard, "bearer  secret-secret-secret", 1, 0, owner) == PTC_HTTP_PASS);
    CHECK_STR(owner, "bob");
    CHECK(token(&guard, "BEARER plain-token-plain", 1, 0, owner) == PTC_HTTP_PASS);
    CHECK_STR(owner, "default");
    CHECK(token(&guard, NULL, 1, 0, owner) == PTC_HTTP_NO_TOKEN);
    CHECK(token(&guard, "Basic 0123456789abcdef0123", 1, 0, owner) == PTC_HTTP_NO_TOKEN);
    CHECK(token(&guard, "Bearer 0123456789abcdef012", 1, 0, owner) == PTC_HTTP_WRONG_TOKEN);
    CHECK(token(&guard, "Bearer 0123456789abcdef01234", 1, 0, owner) == PTC_HTTP_WRONG_TOKEN);
    CHECK_STR(owner, "");
    char longest[400] = "Bearer ";
    memset(longest + 7, 'x', 300);
    CHECK(token(&guard, longest, 2, 0, owner) == PTC_HTTP_WRONG_TOKEN);
    ptc_http_guard_deinit(&guard);
}

/* Tokens can be replaced while others look at them. */
static void test_replaced_tokens(PtcMem *mem)
{
    PtcHttpGuard guard;
    PtcHttpTokens tokens;
    char owner[PTC_HTTP_OWNER_MAX];
    CHECK(ptc_http_guard_init(&guard, mem, false) && ptc_http_guard_has_owner(&guard, "anyone"));
    CHECK(ptc_http_tokens_read(&guard.tokens, text(TOKENS), NULL));
    CHECK(ptc_http_tokens_init(&tokens, mem));
    CHECK(ptc_http_tokens_read(&tokens, text("ann new-token-of-ann-01\nann another-of-ann-012\n"),
                               NULL));
    CHECK(ptc_http_tokens_owners(&tokens) == 1);
    ptc_http_guard_replace(&guard, &tokens);
    CHECK(tokens.count == 3);
    ptc_http_tokens_deinit(&tokens);
    CHECK(token(&guard, "Bearer 0123456789abcdef0123", 1, 0, owner) == PTC_HTTP_WRONG_TOKEN);
    CHECK(token(&guard, "Bearer new-token-of-ann-01", 1, 0, owner) == PTC_HTTP_PASS);
    CHECK(ptc_http_guard_has_owner(&guard, "ann") && !ptc_http_guard_has_owner(&guard, "bob"));
    ptc_http_guard_deinit(&guard);
}

static void test_bad_token_files(PtcMem *mem)
{
    static const struct {
        const char *tokens, *path;
    } cases[] = {
        {"", "line 0"},
        {"# none\n", "line 1"},
        {"\nshort\n", "line 2"},
        {"a b c-with-three-words\n", "line 1"},
        {"ann 0123456789abcdef\nann 0123456789abcdef\nbob 0123456789abcdef\n", "line 3"},
        {"ok 0123456789abcdef\nx "
         "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01",
         "line 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtcHttpTokens tokens;
        PtcWhy why;
        CHECK(ptc_http_tokens_init(&tokens, mem));
        CHECK(!ptc_http_tokens_read(&tokens, text(cases[i].tokens), &why));
        CHECK_STR(why.path, cases[i].path);
        ptc_http_tokens_deinit(&tokens);
    }
}

/* Wrong tokens are answered, then braked: each by itself, and all of one address.  A right one always passes. */
static void test_guessing(PtcMem *mem)
{
    PtcHttpGuard guard;
    char owner[PTC_HTTP_OWNER_MAX], guess[40];
    const char *right = "Bearer 0123456789abcdef0123", *wrong = "Bearer wrong-wrong-wrong";
    CHECK(ptc_http_guard_init(&guard, mem, false));
    CHECK(ptc_http_tokens_add(&guard.tokens, text(right + 7), text("a"), NULL));
    for (int i = 0; i < PTC_HTTP_SAME_TOKEN_MAX; i++)
        CHECK(token(&guard, wrong, 7, 100, owner) == PTC_HTTP_WRONG_TOKEN);
    CHECK(token(&guard, wrong, 7, 101, owner) == PTC_HTTP_TOO_MANY_BAD);
    CHECK(token(&guard, wrong, 8, 101, owner) == PTC_HTTP_TOO_MANY_BAD); /* from wherever */
    CHECK(token(&guard, "Bearer another-wrong-one", 7, 101, owner) == PTC_HTTP_WRONG_TOKEN);
    CHECK(token(&guard, right, 7, 101, owner) == PTC_HTTP_PASS);
    CHECK(token(&guard, wrong, 7, 159, owner) == PTC_HTTP_TOO_MANY_BAD);
    CHECK(token(&guard, wrong, 7, 160, owner) == PTC_HTTP_WRONG_TOKEN);
    for (int i = 0; i < PTC_HTTP_PEER_TOKENS_MAX; i++) {
        snprintf(guess, sizeof guess, "Bearer guess-number-%06d", i);
        CHECK(token(&guard, guess, 9, 200, owner) == PTC_HTTP_WRONG_TOKEN);
    }
    CHECK(token(&guard, "Bearer guess-number-last", 9, 201, owner) == PTC_HTTP_TOO_MANY_BAD);
    CHECK(token(&guard, "Bearer guess-number-last", 10, 201, owner) == PTC_HTTP_WRONG_TOKEN);
    CHECK(token(&guard, right, 9, 201, owner) == PTC_HTTP_PASS);
    CHECK(token(&guard, NULL, 9, 201, owner) == PTC_HTTP_NO_TOKEN);
    /* Many addresses: bounded, and right ones pass among them. */
    for (uint64_t peer = 1000; peer < 21000; peer++) {
        snprintf(guess, sizeof guess, "Bearer of-peer-%06d-x", (int)peer);
        CHECK(token(&guard, guess, peer, 300, owner) != PTC_HTTP_PASS);
    }
    CHECK(token(&guard, right, 1000, 300, owner) == PTC_HTTP_PASS);
    ptc_http_guard_deinit(&guard);
}

static PtcHttpPeer peer_of(const char *address)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    if (inet_pton(AF_INET, address, &v4.sin_addr) == 1)
        return ptc_http_conn_peer((const struct sockaddr *)&v4);
    CHECK(inet_pton(AF_INET6, address, &v6.sin6_addr) == 1);
    return ptc_http_conn_peer((const struct sockaddr *)&v6);
}

static bool same(const char *a, const char *b)
{
    PtcHttpPeer x = peer_of(a), y = peer_of(b);
    return x.high == y.high && x.v6 == y.v6;
}

/* An IPv4 address is one peer however it is written; of IPv6 the first half counts. */
static void test_peers(void)
{
    CHECK(same("192.0.2.1", "192.0.2.1") && !same("192.0.2.1", "192.0.2.2"));
    CHECK(same("::ffff:192.0.2.1", "192.0.2.1"));
    CHECK(!same("::ffff:192.0.2.1", "::ffff:192.0.2.2"));
    CHECK(same("2001:db8::1", "2001:db8::2") && !same("2001:db8:0:1::1", "2001:db8::1"));
    CHECK(!same("::1", "::ffff:127.0.0.1"));
}

static void test_guard_memory(void)
{
    for (uint64_t n = 1; n <= 3; n++) {
        PtcMem mem;
        PtcHttpGuard guard;
        ptc_mem_init(&mem, SIZE_MAX / 2);
        ptc_mem_fail_at(&mem, n);
        bool ok = ptc_http_guard_init(&guard, &mem, true);
        CHECK(ok == (n > 2));
        if (ok)
            ptc_http_guard_deinit(&guard);
        CHECK(atomic_load(&mem.used) == 0);
    }
}

/* ------------------------------------------------------------------ addresses */

static void test_addresses(void)
{
    static const struct {
        const char *text;
        bool ok, local;
        unsigned port;
    } cases[] = {
        {"127.0.0.1:7332", true, true, 7332},
        {"localhost:0", true, true, 0},
        {"[::1]:80", true, true, 80},
        {"0.0.0.0:65535", true, false, 65535},
        {"[::]:1", true, false, 1},
        {"10.0.0.1:1", true, false, 1},
        {"127.0.0.1", false, false, 0},
        {"127.0.0.1:", false, false, 0},
        {"127.0.0.1:65536", false, false, 0},
        {"example.com:80", false, false, 0},
        {":80", false, false, 0},
        {"", false, false, 0},
        {"127.0.0.1:8x", false, false, 0},
        {"[::1:80", false, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtcHttpAddress address;
        PtcWhy why = {0};
        CHECK(ptc_http_address_parse(&address, cases[i].text, &why) == cases[i].ok);
        CHECK(cases[i].ok == (why.text[0] == '\0'));
        CHECK(!cases[i].ok || ptc_http_address_is_local(&address) == cases[i].local);
        CHECK(!cases[i].ok || ptc_http_address_port(&address) == cases[i].port);
    }
}

static void test_listen_twice(void)
{
    PtcHttpAddress address, same;
    PtcWhy why = {0};
    CHECK(ptc_http_address_parse(&address, "127.0.0.1:0", &why));
    int fd = ptc_http_listen(&address, &why);
    CHECK(fd >= 0 && ptc_http_address_port(&address) != 0);
    same = address;
    CHECK(ptc_http_listen(&same, &why) < 0 && strstr(why.text, "another server"));
    close(fd);
}

/* -------------------------------------------------------- metrics, log, stream */

static void test_metrics(PtcMem *mem)
{
    PtcHttpMetrics metrics;
    PtcBuf out;
    ptc_http_metrics_init(&metrics);
    ptc_buf_init(&out, mem, 100000);
    ptc_http_metrics_done(&metrics, 200, 90000, 10, 20);
    ptc_http_metrics_done(&metrics, 404, 3000000, 1, 2);
    ptc_http_metrics_done(&metrics, 0, INT64_C(99000000000), 0, 0);
    ptc_http_metrics_fault(&metrics, PTC_HTTP_FAULT_REQUEST);
    ptc_http_metrics_fault(&metrics, PTC_HTTP_FAULT_NONE);
    static char tools[PTC_HTTP_TOOLS + 5][16];
    ptc_http_metrics_tool(&metrics, "lisp_eval", "", 1500000);
    ptc_http_metrics_tool(&metrics, "lisp_eval", "timeout", 2000000);
    ptc_http_metrics_tool(&metrics, "lisp_eval", "timeout", 0);
    for (int i = 0; i < PTC_HTTP_TOOLS + 5; i++) { /* names are bounded */
        snprintf(tools[i], sizeof tools[i], "t%d", i);
        for (int k = 0; k < 3; k++)
            ptc_http_metrics_tool(&metrics, tools[i], k == 0 ? "a" : k == 1 ? "b" : "c", 0);
    }
    CHECK(ptc_http_metrics_write(&out, &metrics,
                                 &(PtcHttpGauges){.sessions = 5, .isolation = "workers"}));
    const char *page = ptc_buf_text(&out);
    static const char *const lines[] = {
        "\nptc_mcp_http_requests_total{status=\"2xx\"} 1\n",
        "\nptc_mcp_http_requests_total{status=\"4xx\"} 1\n",
        "\nptc_mcp_http_requests_total{status=\"none\"} 1\n",
        "\nptc_mcp_http_errors_total{kind=\"bad_request\"} 1\n",
        "\nptc_mcp_http_request_duration_seconds_bucket{le=\"0.000100\"} 1\n",
        "\nptc_mcp_http_request_duration_seconds_bucket{le=\"0.005000\"} 2\n",
        "\nptc_mcp_http_request_duration_seconds_bucket{le=\"10.000000\"} 2\n",
        "\nptc_mcp_http_request_duration_seconds_bucket{le=\"+Inf\"} 3\n",
        "\nptc_mcp_http_request_duration_seconds_sum 99.003090\n",
        "\nptc_mcp_http_request_duration_seconds_count 3\n",
        "\nptc_mcp_http_request_bytes_total 11\n",
        "\nptc_mcp_sessions 5\n",
        "\nptc_mcp_tool_calls_total{tool=\"lisp_eval\",outcome=\"ok\"} 1\n",
        "\nptc_mcp_tool_calls_total{tool=\"lisp_eval\",outcome=\"error\"} 2\n",
        "\nptc_mcp_tool_errors_total{tool=\"lisp_eval\",reason=\"timeout\"} 2\n",
        "\nptc_mcp_tool_duration_seconds_sum{tool=\"lisp_eval\"} 0.003500\n",
        "\nptc_mcp_tool_duration_seconds_count{tool=\"lisp_eval\"} 3\n",
        "\nptc_mcp_tool_calls_total{tool=\"other\",outcome=\"error\"} 21\n",
        "\nptc_mcp_tool_errors_total{tool=\"other\",reason=\"other\"} 49\n",
        "\nptc_mcp_isolation{mode=\"workers\"} 1\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK(strstr(page, lines[i]));
    ptc_buf_deinit(&out);
    ptc_http_metrics_deinit(&metrics);
}

/* What a client chose cannot forge a line. */
static void test_log(PtcMem *mem)
{
    int fds[2];
    char got[4096] = "";
    PtcHttpLog log;
    CHECK(pipe(fds) == 0);
    ptc_http_log_init(&log, mem, fds[1]);
    ptc_http_log_add(&log, &(PtcHttpLogLine){.address = "127.0.0.1",
                                             .owner = "",
                                             .verb = "POST",
                                             .path = "/a\nb \x1b[1m",
                                             .method = {"tools/call", 10},
                                             .status = 200,
                                             .took_ns = 1234567,
                                             .in = 3,
                                             .out = 4});
    ptc_http_log_deinit(&log);
    CHECK(read(fds[0], got, sizeof got - 1) > 0);
    const char *rest = strchr(got, ' ');
    CHECK_STR(rest ? rest : "", " 127.0.0.1 - POST /a?b??[1m tools/call 200 1.234ms 3 4\n");
    ptc_http_log_init(&log, mem, fds[1]);
    log.json = true;
    ptc_http_log_add(&log, &(PtcHttpLogLine){.address = "127.0.0.1",
                                             .owner = "ann",
                                             .verb = "POST",
                                             .path = "/mcp\"\n\x1b",
                                             .method = {"tools/call", 10},
                                             .tool = "lisp_eval",
                                             .failure = "timeout",
                                             .status = 200,
                                             .took_ns = 1234567,
                                             .in = 3,
                                             .out = 4});
    ptc_http_log_say(&log, "a \"%s\"", "word");
    ptc_http_log_deinit(&log);
    memset(got, 0, sizeof got);
    CHECK(read(fds[0], got, sizeof got - 1) > 0);
    CHECK(strncmp(got, "{\"ts\":\"20", 9) == 0);
    CHECK(strstr(got, "\"address\":\"127.0.0.1\",\"owner\":\"ann\",\"verb\":\"POST\","
                      "\"path\":\"/mcp\\\"\\n\\u001b\",\"method\":\"tools/call\","
                      "\"tool\":\"lisp_eval\",\"outcome\":\"error\",\"reason\":\"timeout\","
                      "\"status\":200,\"duration_ms\":1.234,\"bytes_in\":3,\"bytes_out\":4}\n"));
    CHECK(strstr(got, "\"message\":\"a \\\"word\\\"\"}\n"));
    /* A reader that stopped reading does not stop the writer. */
    ptc_http_log_init(&log, mem, fds[1]);
    for (int i = 0; i < 20000; i++)
        ptc_http_log_add(
            &log, &(PtcHttpLogLine){.address = "a", .owner = "", .verb = "GET", .path = "/"});
    ptc_http_log_deinit(&log);
    close(fds[0]);
    close(fds[1]);
}

/* What a slow reader gets are whole lines, though some are missing. */
static void test_log_whole_lines(PtcMem *mem)
{
    int fds[2];
    static char got[256 * 1024];
    size_t len = 0;
    PtcHttpLog log;
    PtcHttpLogLine line = {
        .address = "a", .owner = "ann", .verb = "POST", .path = "/mcp", .status = 200};
    CHECK(pipe(fds) == 0);
    ptc_http_log_init(&log, mem, fds[1]);
    log.json = true;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 1000; i++)
            ptc_http_log_add(&log, &line);
        len += (size_t)read(fds[0], got + len, 10000);
    }
    size_t whole = 0, all = 0;
    for (char *at = got, *end; (end = memchr(at, '\n', len - (size_t)(at - got))); at = end + 1) {
        whole += strncmp(at, "{\"ts\":", 6) == 0 && end[-1] == '}' &&
                 memmem(at + 1, (size_t)(end - at), "{\"ts\":", 6) == NULL;
        all++;
    }
    CHECK(all > 500 && whole == all);
    ptc_http_log_deinit(&log);
    close(fds[0]);
    close(fds[1]);
}

static size_t read_all(int fd, char *to, size_t size)
{
    size_t len = 0;
    ssize_t n;
    while (len < size && (n = recv(fd, to + len, size - len, MSG_DONTWAIT)) > 0)
        len += (size_t)n;
    return len;
}

static void test_stream(PtcMem *mem)
{
    int fds[2];
    char got[4096] = "";
    PtcHttpStream stream;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    ptc_http_stream_init(&stream, mem, fds[0]);
    CHECK(!ptc_http_stream_is_open(&stream));
    CHECK(ptc_http_stream_send(&stream, "{\"a\":1}", 7));
    ptc_http_stream_tick(&stream, stream.sent_ns);
    ptc_http_stream_tick(&stream, stream.sent_ns + INT64_C(16000000000));
    ptc_http_stream_finish(&stream, "{}", 2);
    read_all(fds[1], got, sizeof got - 1);
    CHECK(strncmp(got, "HTTP/1.1 200 OK\r\n", 17) == 0 && strstr(got, "X-Accel-Buffering: no\r\n"));
    const char *body = strstr(got, "\r\n\r\n");
    CHECK_STR(body ? body + 4 : "",
              "event: message\ndata: {\"a\":1}\n\n:\n\nevent: message\ndata: {}\n\n");
    close(fds[1]);
    CHECK(!ptc_http_stream_send(&stream, "{}", 2) && !ptc_http_stream_is_open(&stream));
    close(fds[0]);
    ptc_http_stream_deinit(&stream);
}

/* A client that reads nothing is given up, without anybody waiting for it. */
static void test_stream_backlog(PtcMem *mem)
{
    int fds[2], sent = 0;
    static char big[64 * 1024];
    PtcHttpStream stream;
    memset(big, ' ', sizeof big);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    ptc_http_stream_init(&stream, mem, fds[0]);
    while (sent < 1000 && ptc_http_stream_send(&stream, big, sizeof big))
        sent++;
    CHECK(sent >= PTC_HTTP_STREAM_BACKLOG / (int)sizeof big - 1 && sent < 1000);
    CHECK(stream.broken && !ptc_http_stream_is_behind(&stream));
    ptc_http_stream_deinit(&stream);
    close(fds[0]);
    close(fds[1]);
}

/* A call takes long, and there is no memory to say so: whatever is sent later is a whole response all the same. */
static void test_stream_no_memory(void)
{
    int fds[2];
    char got[1000] = "";
    PtcHttpStream stream;
    PtcMem own;
    ptc_mem_init(&own, 16);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    ptc_http_stream_init(&stream, &own, fds[0]);
    ptc_http_stream_arm(&stream, 0);
    ptc_http_stream_tick(&stream, INT64_C(16000000000));
    CHECK(!stream.begun && !stream.broken);
    own.limit = SIZE_MAX / 2;
    ptc_http_stream_finish(&stream, "{}", 2);
    CHECK(read(fds[1], got, sizeof got - 1) > 0 && strncmp(got, "HTTP/1.1 200 OK\r\n", 17) == 0);
    CHECK(strstr(got, "\r\n\r\n") && strstr(got, "data: {}\n\n"));
    ptc_http_stream_deinit(&stream);
    close(fds[0]);
    close(fds[1]);
    CHECK(atomic_load(&own.used) == 0);
}

/* ------------------------------------------------------------------------------- sessions */

/* A store for one session.  While it writes, somebody may end the session. */
static struct {
    PtcHttpSessions sessions;
    PtcHttpSession *ending; /* the next save ends it; NULL: none is ended */
    bool forget, kept;
} store;

static void save_session(void *user, const char *owner, PtcText id, PtcText bytes)
{
    (void)user, (void)owner, (void)id, (void)bytes;
    if (store.ending)
        ptc_http_session_end(&store.sessions, store.ending, store.forget);
    store.ending = NULL;
    store.kept = true;
}

static bool load_session(void *user, const char *owner, PtcText id, PtcBuf *bytes)
{
    (void)user, (void)owner, (void)id, (void)bytes;
    return false;
}

static void forget_session(void *user, const char *owner, PtcText id)
{
    (void)user, (void)owner, (void)id;
    store.kept = false;
}

/* What a client has ended stays so, even if a request of it that ends at this moment is about to save it. */
static void test_ended_while_saved(void)
{
    PtcWhy why;
    PtcHttpKeep keep = {save_session, load_session, forget_session, NULL};
    PtcMcp *mcp = ptc_mcp_new(&(PtcMcpConfig){.name = "t", .version = "1"}, &why);
    CHECK(mcp && ptc_http_sessions_init(&store.sessions, mcp, 10));
    store.sessions.keep = &keep;
    for (int forget = 0; forget < 2; forget++) {
        PtcMcpPeer *peer = ptc_mcp_peer_new(mcp, (PtcMcpSink){NULL, NULL});
        PtcHttpSession *session = ptc_http_session_new(&store.sessions, peer, "ann", 1);
        CHECK(session && store.kept);
        store.ending = session;
        store.forget = forget;
        ptc_http_session_keep(&store.sessions, session, true, 2);
        CHECK(store.kept == !forget && ptc_http_session_ended(session));
        ptc_http_session_drop(&store.sessions, session, 3);
    }
    ptc_http_sessions_deinit(&store.sessions);
    ptc_mcp_free(mcp);
}

int main(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    CHECK_RUN(test_head());
    CHECK_RUN(test_media_types());
    CHECK_RUN(test_local_names());
    CHECK_RUN(test_places(&mem));
    CHECK_RUN(test_tokens(&mem));
    CHECK_RUN(test_bad_token_files(&mem));
    CHECK_RUN(test_replaced_tokens(&mem));
    CHECK_RUN(test_guessing(&mem));
    CHECK_RUN(test_peers());
    CHECK_RUN(test_guard_memory());
    CHECK_RUN(test_addresses());
    CHECK_RUN(test_listen_twice());
    CHECK_RUN(test_metrics(&mem));
    CHECK_RUN(test_log(&mem));
    CHECK_RUN(test_log_whole_lines(&mem));
    CHECK_RUN(test_stream(&mem));
    CHECK_RUN(test_stream_backlog(&mem));
    CHECK_RUN(test_stream_no_memory());
    CHECK_RUN(test_ended_while_saved());
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("mcp_http");
}
