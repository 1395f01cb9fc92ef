/* SPDX-License-Identifier: MIT
 * OAuth as a client, without a network: challenges, metadata, addresses, answers, redirects, token files.
 * tests/upstream/test_oauth.py has the rest, with real servers. */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/library.h"
#include "check.h"
#include "net/address.h"
#include "net/client.h"
#include "oauth/challenge.h"
#include "oauth/oauth_assertion.h"
#include "oauth/oauth_bearer.h"
#include "oauth/oauth_discover.h"
#include "oauth/oauth_doc.h"
#include "oauth/oauth_redirect.h"
#include "oauth/oauth_scopes.h"
#include "oauth/oauth_url.h"
#include "upstream/connect/sign_in.h"

static PtcMem mem;
static PtcArena arena;

static const char *text_or_null(const char *text)
{
    return text ? text : "(null)";
}

/* --------------------------------------------------------------------------------- challenges */

static const struct {
    const char *header;
    bool bearer;
    const char *metadata, *scope, *error;
} challenges[] = {
    {"", false, "", "", ""},
    {"Bearer", true, "", "", ""},
    {"bearer realm=\"x\"", true, "", "", ""},
    {"Bearer resource_metadata=\"https://a/b?c=d,e\", scope=\"r w\"", true, "https://a/b?c=d,e",
     "r w", ""},
    {"Basic realm=\"scope=\\\"x\\\"\", Bearer scope=one", true, "", "one", ""},
    {"Basic scope=\"no\"", false, "", "", ""},
    {"Bearer scope=\"a\", Basic scope=\"b\"", true, "", "a", ""},
    {"Bearer scope=a, Bearer error=late", true, "", "a", ""},
    {"Bearer error = \"insufficient_scope\" , SCOPE=\"x y\"", true, "", "x y",
     "insufficient_scope"},
    {"Bearer scope=\"a\", scope=\"b\"", true, "", "a", ""},
    {"Bearer scope=\"a\\\"b\"", true, "", "a\"b", ""},
    {"Bearer scope=\"open", true, "", "open", ""},
    {"Bearer scope=\"a\nb\"", true, "", "", ""},
    {"Bearer scope=\"\xc3\xa4\", error=e", true, "", "", "e"},
    {",,, Bearer ,, scope=x ,,", true, "", "x", ""},
    {"Bearer =x, scope=y", false, "", "", ""},
    {"\"Bearer\" scope=x", false, "", "", ""},
    {"Negotiate abc==, Bearer error=e", true, "", "", "e"},
};

static void test_challenges(void)
{
    PtcChallenge c;
    for (size_t i = 0; i < sizeof challenges / sizeof *challenges; i++) {
        ptc_challenge_parse(ptc_text_cstr(challenges[i].header), &c);
        CHECK(c.bearer == challenges[i].bearer);
        CHECK_STR(c.metadata, challenges[i].metadata);
        CHECK_STR(c.scope, challenges[i].scope);
        CHECK_STR(c.error, challenges[i].error);
    }
    char longest[PTC_CHALLENGE_SCOPE + 64];
    int n = snprintf(longest, sizeof longest, "Bearer scope=\"%0*d\"", PTC_CHALLENGE_SCOPE, 1);
    ptc_challenge_parse((PtcText){longest, (size_t)n}, &c);
    CHECK(strlen(c.scope) == PTC_CHALLENGE_SCOPE);
    n = snprintf(longest, sizeof longest, "Bearer scope=\"%0*d\"", PTC_CHALLENGE_SCOPE + 1, 1);
    ptc_challenge_parse((PtcText){longest, (size_t)n}, &c);
    CHECK_STR(c.scope, "");
}

/* ---------------------------------------------------------------------------------- addresses */

static void check_places(const PtcOauthPlaces *p, const char *a, const char *b, const char *c)
{
    const char *want[] = {a, b, c};
    for (size_t i = 0; i < 3; i++)
        CHECK_STR(i < p->count ? p->urls[i] : "(null)", text_or_null(want[i]));
}

static void test_places(void)
{
    PtcOauthPlaces p;
    ptc_oauth_url_of_resource("https://h.example:8443/a/b?x=1", &p);
    check_places(&p, "https://h.example:8443/.well-known/oauth-protected-resource/a/b",
                 "https://h.example:8443/.well-known/oauth-protected-resource", NULL);
    ptc_oauth_url_of_resource("https://h.example/", &p);
    check_places(&p, "https://h.example/.well-known/oauth-protected-resource", NULL, NULL);
    ptc_oauth_url_of_issuer("https://as.example/tenant/", &p);
    check_places(&p, "https://as.example/.well-known/oauth-authorization-server/tenant",
                 "https://as.example/.well-known/openid-configuration/tenant",
                 "https://as.example/tenant/.well-known/openid-configuration");
    ptc_oauth_url_of_issuer("https://as.example", &p);
    check_places(&p, "https://as.example/.well-known/oauth-authorization-server",
                 "https://as.example/.well-known/openid-configuration", NULL);
    ptc_oauth_url_of_issuer("ftp://as.example", &p);
    check_places(&p, NULL, NULL, NULL);
}

static void test_covers(void)
{
    CHECK(ptc_oauth_url_covers("https://h/mcp", "https://h/mcp"));
    CHECK(ptc_oauth_url_covers("https://h/", "https://h/mcp"));
    CHECK(ptc_oauth_url_covers("https://h", "https://H:443/mcp?x"));
    CHECK(ptc_oauth_url_covers("https://h/mcp/", "https://h/mcp"));
    CHECK(ptc_oauth_url_covers("https://h/a", "https://h/a/b"));
    CHECK(!ptc_oauth_url_covers("https://h/a", "https://h/ab"));
    CHECK(!ptc_oauth_url_covers("https://h/a/b", "https://h/a"));
    CHECK(!ptc_oauth_url_covers("https://other/mcp", "https://h/mcp"));
    CHECK(!ptc_oauth_url_covers("http://h/mcp", "https://h/mcp"));
    CHECK(!ptc_oauth_url_covers("https://h:8443", "https://h/mcp"));
    CHECK(!ptc_oauth_url_covers("nonsense", "https://h/mcp"));
}

static void check_param(const char *address, PtcOauthParam want, const char *value)
{
    char out[16];
    CHECK(ptc_oauth_url_param(ptc_text_cstr(address), "code", out, sizeof out) == want);
    if (want == PTC_OAUTH_PARAM_FOUND)
        CHECK_STR(out, value);
}

static void test_params(void)
{
    check_param("/c?code=a%2Bb+c", PTC_OAUTH_PARAM_FOUND, "a+b c");
    check_param("/c?xcode=1&code=", PTC_OAUTH_PARAM_FOUND, "");
    check_param("/c?state=1&code=x#code=y", PTC_OAUTH_PARAM_FOUND, "x");
    check_param("/c?code=x&code=y", PTC_OAUTH_PARAM_WRONG, "");
    check_param("/c?code=%0a", PTC_OAUTH_PARAM_WRONG, "");
    check_param("/c?code=%4", PTC_OAUTH_PARAM_WRONG, "");
    check_param("/c?code=%zz", PTC_OAUTH_PARAM_WRONG, "");
    check_param("/c?code=0123456789abcdef", PTC_OAUTH_PARAM_WRONG, "");
    check_param("/c?codex=1", PTC_OAUTH_PARAM_MISSING, "");
    check_param("/c", PTC_OAUTH_PARAM_MISSING, "");
    check_param("", PTC_OAUTH_PARAM_MISSING, "");
}

static void test_forms(void)
{
    PtcBuf form, url;
    ptc_buf_init(&form, &mem, 1000);
    ptc_buf_init(&url, &mem, 1000);
    ptc_oauth_url_add(&form, "scope", "a b");
    ptc_oauth_url_add(&form, "none", NULL);
    ptc_oauth_url_add(&form, "resource", "https://h/mcp");
    CHECK_STR(ptc_buf_text(&form), "scope=a%20b&resource=https%3A%2F%2Fh%2Fmcp");
    ptc_oauth_url_with(&url, "https://as/authorize?tenant=1", &form);
    CHECK(strstr(ptc_buf_text(&url), "authorize?tenant=1&scope="));
    ptc_buf_deinit(&form);
    ptc_buf_deinit(&url);
}

static void test_scopes(void)
{
    CHECK_STR(ptc_oauth_scopes_join(&arena, "a b", "b  c a"), "a b c");
    CHECK_STR(ptc_oauth_scopes_join(&arena, NULL, "x x"), "x");
    CHECK(ptc_oauth_scopes_join(&arena, NULL, " ") == NULL);
    CHECK(ptc_oauth_scopes_have("ab a", PTC_TEXT("a")));
    CHECK(!ptc_oauth_scopes_have("ab", PTC_TEXT("a")));
    CHECK(!ptc_oauth_scopes_have(NULL, PTC_TEXT("a")));
}

static PtcWhy wrong;

/* ----------------------------------------------------------------------------------- metadata */

static const char *read_resource(const char *json, PtcOauthResource *out)
{
    return ptc_oauth_metadata_resource(&mem, &arena, ptc_text_cstr(json), "https://h.example/mcp",
                                       out, &wrong)
               ? "(null)"
               : wrong.text;
}

static void test_resource(void)
{
    PtcOauthResource r;
    CHECK_STR(
        read_resource(
            "{\"resource\":\"https:\\/\\/h.example/mcp\",\"authorization_servers\":[\"https://"
            "as\",7,\"https://as2\"],\"scopes_supported\":[\"a\",\"b c\",1,\"d\"]}",
            &r),
        "(null)");
    CHECK(r.issuer_count == 2);
    CHECK_STR(r.issuers[1], "https://as2");
    CHECK_STR(r.scopes, "a d");
    CHECK(strstr(
        read_resource(
            "{\"resource\":\"https://evil.example/mcp\",\"authorization_servers\":[\"https://"
            "as\"]}",
            &r),
        "a resource other than"));
    CHECK(strstr(read_resource("{\"authorization_servers\":[\"https://as\"]}", &r),
                 "which resource"));
    CHECK(strstr(read_resource("{\"resource\":\"https://h.example\"}", &r), "names no"));
    CHECK(strstr(read_resource("[]", &r), "not a JSON object"));
    CHECK(strstr(read_resource("", &r), "not a JSON object"));
}

static const char *read_server(const char *json, PtcOauthServer *out)
{
    return ptc_oauth_metadata_server(&mem, &arena, ptc_text_cstr(json), "https://as.example", out,
                                     &wrong)
               ? "(null)"
               : wrong.text;
}

static void test_server(void)
{
    PtcOauthServer s;
    CHECK_STR(read_server(
                  "{\"issuer\":\"https://as.example\",\"token_endpoint\":\"https://as.example/t\","
                  "\"authorization_endpoint\":\"javascript:alert(1)\","
                  "\"code_challenge_methods_supported\":[\"plain\",\"S256\"],"
                  "\"authorization_response_iss_parameter_supported\":true,"
                  "\"scopes_supported\":[\"offline_access\"],"
                  "\"token_endpoint_auth_methods_supported\":[\"client_secret_post\"]}",
                  &s),
              "(null)");
    CHECK(s.s256 && s.iss && s.offline && s.post && !s.basic && !s.none && !s.documents);
    CHECK(s.authorize == NULL && s.registration == NULL);
    const char *issuers[] = {"https://as.example/", "https://AS.example", "http://as.example", ""};
    for (size_t i = 0; i < sizeof issuers / sizeof *issuers; i++) {
        char json[200];
        snprintf(json, sizeof json, "{\"issuer\":\"%s\",\"token_endpoint\":\"https://x\"}",
                 issuers[i]);
        CHECK(strstr(read_server(json, &s), "issuer"));
    }
    CHECK(strstr(read_server("{\"issuer\":\"https://as.example\"}", &s), "token_endpoint"));
    CHECK_STR(read_server("{\"issuer\":\"https://as.example\",\"token_endpoint\":\"https://x\","
                          "\"code_challenge_methods_supported\":\"S256\"}",
                          &s),
              "(null)");
    CHECK(!s.s256);
}

/* ------------------------------------------------------------------------------------ answers */

static const char *read_tokens(const char *json, PtcOauthTokens *out)
{
    return ptc_oauth_answer_tokens(&mem, &arena, ptc_text_cstr(json), out, &wrong) ? "(null)"
                                                                                   : wrong.text;
}

static void test_tokens(void)
{
    PtcOauthTokens t;
    CHECK_STR(
        read_tokens("{\"access_token\":\"a\",\"token_type\":\"bearer\",\"expires_in\":\"60\"}", &t),
        "(null)");
    CHECK(t.expires_in == 60 && !t.refresh && !t.scope);
    CHECK_STR(
        read_tokens("{\"access_token\":\"a\",\"expires_in\":59.9,\"refresh_token\":\"r\"}", &t),
        "(null)");
    CHECK(t.expires_in == 59);
    CHECK_STR(t.refresh, "r");
    const char *odd[] = {"-1", "1e300", "99999999999", "null", "\"x\"", "[]", "\"\""};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char json[100];
        snprintf(json, sizeof json, "{\"access_token\":\"a\",\"expires_in\":%s}", odd[i]);
        CHECK_STR(read_tokens(json, &t), "(null)");
        CHECK(t.expires_in == -1);
    }
    CHECK(strstr(read_tokens("{\"access_token\":\"a\",\"token_type\":\"DPoP\"}", &t), "Bearer"));
    CHECK(strstr(read_tokens("{\"access_token\":\"a\\r\\nX: y\"}", &t), "no access_token"));
    CHECK(strstr(read_tokens("{\"access_token\":\"a b\"}", &t), "no access_token"));
    CHECK(strstr(read_tokens("{\"access_token\":\"\"}", &t), "no access_token"));
}

static void test_other_answers(void)
{
    PtcOauthDevice d;
    PtcOauthClient c;
    PtcOauthError e;
    CHECK(ptc_oauth_answer_device(
        &mem, &arena,
        PTC_TEXT("{\"device_code\":\"d\",\"user_code\":\"U\",\"verification_uri\":"
                 "\"https://as/d\",\"interval\":1}"),
        &d, NULL));
    CHECK(d.interval == 1 && d.expires_in == 600 && !d.complete);
    CHECK(!ptc_oauth_answer_device(&mem, &arena, PTC_TEXT("{\"device_code\":\"d\"}"), &d, NULL));
    CHECK(ptc_oauth_answer_client(&mem, &arena,
                                  PTC_TEXT("{\"client_id\":\"i\",\"client_secret\":\"s\"}"),
                                  PTC_OAUTH_AUTH_POST, &c, NULL));
    CHECK(c.auth == PTC_OAUTH_AUTH_POST);
    CHECK(ptc_oauth_answer_client(&mem, &arena, PTC_TEXT("{\"client_id\":\"i\"}"),
                                  PTC_OAUTH_AUTH_BASIC, &c, NULL));
    CHECK(c.auth == PTC_OAUTH_AUTH_NONE);
    ptc_oauth_answer_error(
        &mem, &arena, PTC_TEXT("{\"error\":\"slow_down\",\"error_description\":\"\\u001b[2J\"}"),
        &e);
    CHECK_STR(e.error, "slow_down");
    CHECK(e.description == NULL);
}

static const char *read_redirect(const char *address, bool says_iss, PtcOauthRedirect *out)
{
    PtcOauthServer s = {.issuer = "https://as", .iss = says_iss};
    return ptc_oauth_redirect_read(ptc_text_cstr(address), "STATE", &s, out, &wrong) ? "(null)"
                                                                                     : wrong.text;
}

static void test_redirects(void)
{
    PtcOauthRedirect r;
    CHECK_STR(read_redirect("/callback?code=c&state=STATE", false, &r), "(null)");
    CHECK_STR(r.code, "c");
    CHECK_STR(read_redirect("http://127.0.0.1:1/callback?iss=https%3A%2F%2Fas&code=c&state=STATE",
                            true, &r),
              "(null)");
    CHECK(strstr(read_redirect("/callback?code=c&state=STATE", true, &r), "iss"));
    CHECK(strstr(read_redirect("/callback?code=c&state=STATE&iss=https://evil", false, &r), "iss"));
    CHECK(strstr(
        read_redirect("/callback?code=c&state=STATE&iss=https://as&iss=https://as", true, &r),
        "iss"));
    CHECK(strstr(read_redirect("/callback?code=c&state=STAT", false, &r), "state"));
    CHECK(strstr(read_redirect("/callback?code=c&state=STATE&state=STATE", false, &r), "state"));
    CHECK(strstr(read_redirect("/callback?code=c", false, &r), "state"));
    CHECK(strstr(read_redirect("/callback?error=access_denied&state=STATE", false, &r), "refused"));
    CHECK_STR(r.error, "access_denied");
    CHECK(strstr(read_redirect("/callback?error=access_denied&state=x", false, &r), "state"));
    CHECK_STR(r.error, "");
    CHECK(strstr(read_redirect("/callback?state=STATE", false, &r), "no code"));
}

/* ------------------------------------------------------------------------------------ network */

static void test_inside(void)
{
    const char *inside[] = {
        "127.0.0.1",         "10.1.2.3",        "172.16.0.1",    "172.31.255.255",
        "192.168.1.1",       "169.254.1.1",     "100.64.0.1",    "0.0.0.0",
        "224.0.0.1",         "255.255.255.255", "::1",           "::",
        "fe80::1",           "fc00::1",         "fd12::1",       "ff02::1",
        "::ffff:10.0.0.1",   "64:ff9b::7f00:1", "2002:7f00:1::", "198.18.0.1",
        "64:ff9b:1::808:808"};
    const char *outside[] = {"8.8.8.8",           "172.32.0.1",   "172.15.0.1",     "100.128.0.1",
                             "1.1.1.1",           "2606:4700::1", "::ffff:8.8.8.8", "example.com",
                             "localhost.example", "192.169.0.1"};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        CHECK(ptc_address_text_is_inside(ptc_text_cstr(inside[i])));
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        CHECK(!ptc_address_text_is_inside(ptc_text_cstr(outside[i])));
}

/* Of an upstream that is outside: what it names must be, too. */
static void test_named_addresses(void)
{
    const char *refused[] = {"http://as.example/x",
                             "https://127.0.0.1/x",
                             "https://[::1]/x",
                             "https://localhost/x",
                             "https://10.0.0.1/x",
                             "https://169.254.169.254/latest",
                             "ftp://x",
                             "https://"};
    PtcClient *http = ptc_client_new(&mem, NULL);
    PtcOauthWork w;
    PtcOauthReply reply;
    CHECK(http != NULL);
    ptc_oauth_work_init(&w, &mem, http, NULL, 10 * 1000);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        CHECK(!ptc_oauth_work_allows(&w, "it", refused[i]));
        CHECK(!ptc_oauth_work_get(&w, refused[i], &reply));
        CHECK(w.why.text[0] != 0);
        ptc_oauth_work_drop(&reply);
    }
    CHECK(ptc_oauth_work_allows(&w, "it", "https://as.example/authorize"));
    w.inside = true;
    CHECK(ptc_oauth_work_allows(&w, "it", "http://127.0.0.1:9/authorize"));
    CHECK(!ptc_oauth_work_allows(&w, "it", "http://10.0.0.1/authorize"));
    CHECK(ptc_oauth_work_allows(&w, "it", "https://10.0.0.1/authorize"));
    ptc_oauth_work_deinit(&w);
    ptc_client_free(http);
}

/* Is this a name whose address is one of a private network, or of this machine? */
static bool name_is_inside(const char *name)
{
    struct addrinfo *found = NULL;
    if (getaddrinfo(name, "9", NULL, &found) != 0)
        return false;
    bool inside = ptc_address_is_inside(found->ai_addr);
    freeaddrinfo(found);
    return inside;
}

static void ask_outside(PtcClient *http, const char *name, PtcClientAnswer *answer)
{
    char url[300];
    snprintf(url, sizeof url, "https://%s:9/", name);
    PtcClientRequest r = {.method = "GET",
                          .url = url,
                          .outside = true,
                          .max_body = 10,
                          .total_ms = 500,
                          .deadline_ns = INT64_MAX};
    ptc_client_send(http, &mem, &r, answer);
    CHECK(!ptc_client_answered(answer) && !answer->sent);
    ptc_client_answer_deinit(answer);
}

/* A listener that stands for a proxy; *port is its port. */
static int open_proxy(int *port)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK(fd >= 0 && bind(fd, (const struct sockaddr *)&here, sizeof here) == 0 &&
          listen(fd, 1) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&here, &size) == 0);
    *port = ntohs(here.sin_port);
    return fd;
}

/* A name that leads inside is found out when it is connected to; a proxy for other addresses changes nothing about
 * that, and one for these is not passed by. */
static void test_names_and_proxies(void)
{
    static const char *const variables[] = {"https_proxy", "HTTPS_PROXY", "http_proxy",
                                            "all_proxy",   "ALL_PROXY",   "no_proxy"};
    PtcClientAnswer answer;
    char name[256] = "", address[64];
    int port, proxy = open_proxy(&port);
    PtcClient *http = ptc_client_new(&mem, NULL);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        CHECK(unsetenv(variables[i]) == 0);
    CHECK(http && gethostname(name, sizeof name - 1) == 0);
    setenv("http_proxy", "http://127.0.0.1:9", 1);
    CHECK(ptc_address_has_proxy(false) && !ptc_address_has_proxy(true));
    ask_outside(http, name, &answer);
    CHECK(!name_is_inside(name) || strstr(answer.why.text, "private network"));
    snprintf(address, sizeof address, "http://127.0.0.1:%d", port);
    setenv("https_proxy", address, 1);
    setenv("no_proxy", "*", 1);
    ask_outside(http, name, &answer);
    CHECK(accept(proxy, NULL, NULL) >= 0);
    unsetenv("http_proxy");
    unsetenv("https_proxy");
    unsetenv("no_proxy");
    close(proxy);
    ptc_client_free(http);
}

/* -------------------------------------------------------------------------------------- store */

static char dir[64], path[PTC_SHELF_PATH];
static PtcFileShelf shelf;
static PtcOauthPlace place;

static PtcOauthRecord sample(void)
{
    return (PtcOauthRecord){
        .account = "acc",
        .resource = "https://h/mcp",
        .issuer = "https://as",
        .token_endpoint = "https://as/t",
        .client = {.id = "id", .secret = "se\"cret", .auth = PTC_OAUTH_AUTH_BASIC},
        .access = "access-1",
        .scope = "a b",
        .expires_at = 2000000000,
        .life = 3600,
        .inside = true};
}

static void test_store(void)
{
    PtcOauthRecord r = sample(), got;
    PtcOauthPlace other;
    struct stat st;
    CHECK(ptc_file_shelf_init(&shelf, dir));
    ptc_oauth_place_init(&place, &shelf.shelf, PTC_TEXT("one"), "https://h/mcp");
    ptc_sheet_place(&shelf.shelf, &place.sheet, path);
    ptc_oauth_place_init(&other, &shelf.shelf, PTC_TEXT("one"), "https://h/mcp2");
    CHECK(strcmp(place.file, other.file) != 0);
    ptc_oauth_place_init(&other, &shelf.shelf, PTC_TEXT("two"), "https://h/mcp");
    CHECK(strcmp(place.file, other.file) != 0);
    CHECK(ptc_oauth_store_load(&mem, &arena, &place, &got, &wrong) == PTC_OAUTH_MISSING);
    CHECK(ptc_oauth_store_save(&mem, &place, &r));
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(ptc_oauth_store_load(&mem, &arena, &place, &got, &wrong) == PTC_OAUTH_FOUND);
    CHECK_STR(got.client.secret, r.client.secret);
    CHECK(got.client.auth == PTC_OAUTH_AUTH_BASIC && got.expires_at == r.expires_at && got.inside);
    CHECK_STR(got.scope, "a b");
    CHECK(!got.refresh && !got.wanted);
    CHECK(chmod(path, 0644) == 0);
    CHECK(ptc_oauth_store_load(&mem, &arena, &place, &got, &wrong) == PTC_OAUTH_REFUSED);
    CHECK(strstr(wrong.text, "chmod 600 ") && strstr(wrong.text, path));
    CHECK(chmod(path, 0600) == 0);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs("{\"format\":1}", file) >= 0 && fclose(file) == 0);
    CHECK(ptc_oauth_store_load(&mem, &arena, &place, &got, &wrong) == PTC_OAUTH_MISSING);
    CHECK(unlink(path) == 0 && symlink("/etc/passwd", path) == 0);
    CHECK(ptc_oauth_store_load(&mem, &arena, &place, &got, &wrong) == PTC_OAUTH_REFUSED);
    CHECK(ptc_oauth_store_remove(&place) && !ptc_oauth_store_remove(&place));
}

static void test_age(void)
{
    PtcOauthRecord r = sample();
    int64_t now = time(NULL);
    r.expires_at = 0;
    CHECK(ptc_oauth_store_age(&r) == PTC_OAUTH_FRESH);
    r.expires_at = now + 600;
    CHECK(ptc_oauth_store_age(&r) == PTC_OAUTH_FRESH);
    r.expires_at = now + 50;
    CHECK(ptc_oauth_store_age(&r) == PTC_OAUTH_DUE);
    r.life = 90;
    CHECK(ptc_oauth_store_age(&r) == PTC_OAUTH_FRESH);
    r.expires_at = now - 1;
    CHECK(ptc_oauth_store_age(&r) == PTC_OAUTH_EXPIRED);
    ptc_oauth_store_time(&r, &(PtcOauthTokens){.expires_in = 100});
    CHECK(r.life == 100 && r.expires_at >= now + 100);
    ptc_oauth_store_time(&r, &(PtcOauthTokens){.expires_in = -1});
    CHECK(r.expires_at == 0);
}

static void test_lock(void)
{
    PtcCancel cancel = {0};
    PtcSheetLock lock, second;
    bool have = ptc_oauth_store_lock(&place, INT64_MAX, NULL, &lock);
    CHECK(have);
    CHECK(!ptc_oauth_store_lock(&place, ptc_clock_ns(NULL), NULL, &second));
    atomic_store(&cancel.asked, true);
    CHECK(!ptc_oauth_store_lock(&place, INT64_MAX, &cancel, &second));
    ptc_oauth_store_unlock(&place, &lock);
    have = ptc_oauth_store_lock(&place, INT64_MAX, NULL, &lock);
    CHECK(have);
    ptc_oauth_store_unlock(&place, &lock);
}

static size_t learned;

static bool learn(void *user, const char *secret)
{
    (void)user;
    learned += strncmp(secret, "access", 6) == 0;
    return true;
}

static void test_bearer(void)
{
    PtcOauthRecord r = sample();
    PtcOauthBearer b = {.mem = &mem, .place = &place, .learn = learn};
    PtcBuf token;
    ptc_buf_init(&token, &mem, 1000);
    CHECK(ptc_oauth_bearer_get(&b, NULL, &token, &wrong) == PTC_OAUTH_NO_LOGIN);
    CHECK(ptc_oauth_store_save(&mem, &place, &r));
    CHECK(ptc_oauth_bearer_get(&b, NULL, &token, &wrong) == PTC_OAUTH_HAVE);
    CHECK_STR(ptc_buf_text(&token), "access-1");
    CHECK(learned > 0);
    CHECK(ptc_oauth_bearer_renew(&b, NULL, PTC_TEXT("access-0"),
                                 &wrong)); /* somebody else was faster */
    CHECK(!ptc_oauth_bearer_renew(&b, NULL, PTC_TEXT("access-1"), &wrong));
    CHECK(strstr(wrong.text, "cannot be replaced"));
    ptc_oauth_bearer_want(&b, "c d");
    ptc_oauth_bearer_want(&b, "d e");
    CHECK(ptc_oauth_store_load(&mem, &arena, &place, &r, &wrong) == PTC_OAUTH_FOUND);
    CHECK_STR(text_or_null(r.wanted), "c d e");
    ptc_buf_clear(&token);
    ptc_oauth_bearer_account(&b, &token);
    CHECK_STR(ptc_buf_text(&token), "acc");
    ptc_buf_deinit(&token);
    (void)ptc_oauth_store_remove(&place);
}

/* Tokens come and go for months: the last ones are hidden, and memory does not grow. */
static void test_many_tokens(void)
{
    PtcSecrets told, hidden;
    PtcEntry entry = {.name = PTC_TEXT("one"),
                      .url = "https://h/mcp",
                      .headers = PTC_NONE,
                      .auth = PTC_NONE,
                      .oauth = PTC_NONE};
    PtcSignIn s;
    size_t used = 0;
    ptc_secrets_init(&told, &mem, 4);
    ptc_secrets_init(&hidden, &mem, 8);
    PtcCredentials c = {.mem = &mem, .told = &told, .hidden = &hidden};
    ptc_sign_in_init(&s, &entry, &shelf.shelf, &c);
    for (int i = 0; i < 200; i++) {
        char token[64], refresh[64];
        PtcOauthRecord r = sample();
        PtcBuf lines, shown;
        PtcWhy why;
        snprintf(token, sizeof token, "access-%04d-token", i);
        snprintf(refresh, sizeof refresh, "refresh-%04d-token", i);
        r.access = token;
        r.refresh = refresh;
        CHECK(ptc_oauth_store_save(&mem, s.bearer.place, &r));
        ptc_buf_init(&lines, &mem, 1000);
        ptc_buf_init(&shown, &mem, 1000);
        CHECK(ptc_sign_in_add(&s, NULL, &lines, &why));
        CHECK(strstr(ptc_buf_text(&lines), token));
        ptc_secrets_blot(&told, &shown, ptc_buf_view(&lines), false);
        CHECK(!strstr(ptc_buf_text(&shown), token));
        ptc_buf_deinit(&lines);
        ptc_buf_deinit(&shown);
        if (i == 50)
            used = atomic_load(&mem.used);
    }
    CHECK(atomic_load(&mem.used) <= used);
    CHECK(ptc_oauth_store_remove(s.bearer.place));
    ptc_sign_in_deinit(&s);
    ptc_secrets_deinit(&told);
    ptc_secrets_deinit(&hidden);
}

/* An Authorization that the entry has itself goes before a token, and http before neither. */
static void test_no_token(void)
{
    PtcSecrets told, hidden;
    PtcBuf lines;
    PtcWhy why;
    PtcSignIn s;
    PtcEntry entry = {.name = PTC_TEXT("one"),
                      .url = "http://h/mcp",
                      .headers = PTC_NONE,
                      .auth = PTC_NONE,
                      .oauth = PTC_NONE};
    ptc_secrets_init(&told, &mem, 4);
    ptc_secrets_init(&hidden, &mem, 8);
    PtcCredentials c = {.mem = &mem, .told = &told, .hidden = &hidden};
    ptc_buf_init(&lines, &mem, 1000);
    ptc_sign_in_init(&s, &entry, &shelf.shelf, &c);
    PtcOauthRecord r = sample();
    CHECK(ptc_oauth_store_save(&mem, s.bearer.place, &r));
    CHECK(ptc_sign_in_add(&s, NULL, &lines, &why) && lines.len == 0);
    entry.insecure_auth = true;
    ptc_buf_add_cstr(&lines, "X: y\nauthorization: Basic abc\n");
    CHECK(ptc_sign_in_add(&s, NULL, &lines, &why) && !strstr(ptc_buf_text(&lines), "Bearer"));
    CHECK(!ptc_sign_in_again(&s, NULL, 401, "Bearer", ptc_buf_view(&lines), &why));
    ptc_buf_clear(&lines);
    CHECK(ptc_sign_in_add(&s, NULL, &lines, &why));
    CHECK_STR(ptc_buf_text(&lines), "Authorization: Bearer access-1\n");
    CHECK(!ptc_sign_in_again(&s, NULL, 403, "Bearer error=\"insufficient_scope\", scope=\"z\"",
                             ptc_buf_view(&lines), &why));
    CHECK(strstr(why.text, "more scopes"));
    CHECK(ptc_oauth_store_remove(s.bearer.place));
    ptc_buf_clear(&lines);
    CHECK(ptc_sign_in_add(&s, NULL, &lines, &why) && lines.len == 0 && why.class == PTC_WHY_NONE);
    ptc_sign_in_deinit(&s);
    ptc_buf_deinit(&lines);
    ptc_secrets_deinit(&told);
    ptc_secrets_deinit(&hidden);
}

/* Every allocation fails once: the answer is a text or a document, never half of one. */
static void test_no_memory(void)
{
    static const char json[] =
        "{\"issuer\":\"https://as.example\",\"token_endpoint\":\"https://as.example/t\"}";
    for (long n = 1; n < 200; n++) {
        PtcMem small;
        PtcArena own;
        PtcOauthServer s;
        ptc_mem_init(&small, (size_t)64 << 20);
        ptc_arena_init(&own, &small);
        ptc_mem_fail_at(&small, (size_t)n);
        bool ok = ptc_oauth_metadata_server(&small, &own, (PtcText){json, sizeof json - 1},
                                            "https://as.example", &s, NULL);
        CHECK(!ok || (s.token && s.issuer));
        ptc_arena_deinit(&own);
        CHECK(atomic_load(&small.used) == 0);
    }
}

/* A key of this kind in a file; false: the library for it is not there. */
static bool make_key(const char *file, const char *kind, const char *curve)
{
    static const char *const files[] = {"libcrypto.so.3", NULL};
    static const char *const names[] = {"EVP_PKEY_Q_keygen", "BIO_new_file", "BIO_free",
                                        "PEM_write_bio_PrivateKey", "EVP_PKEY_free"};
    struct {
        void *(*make)(void *library, const char *more, const char *kind, ...);
        void *(*open)(const char *file, const char *mode);
        int (*close)(void *bio);
        int (*write)(void *bio, void *key, void *cipher, void *, int, void *, void *);
        void (*drop)(void *key);
    } lib;
    const char *missing;
    if (!PTC_LIBRARY_LOAD(files, names, &lib, &missing))
        return false;
    void *key = lib.make(NULL, NULL, kind, curve), *bio = lib.open(file, "w");
    CHECK(key && bio && lib.write(bio, key, NULL, NULL, 0, NULL, NULL) == 1);
    lib.close(bio);
    lib.drop(key);
    return chmod(file, 0600) == 0;
}

/* What is signed has three parts, and the last of ES256 has always 64 bytes; every allocation fails once.  That it is a
 * signature is for authorization servers to say: tests/upstream/test_oauth.py. */
static void test_signing(void)
{
    char file[128];
    snprintf(file, sizeof file, "%s/key.pem", dir);
    PtcOauthClient client = {
        .id = "me", .auth = PTC_OAUTH_AUTH_KEY, .key_file = file, .audience = "https://as"};
    if (!make_key(file, "EC", "P-256"))
        return;
    for (long n = 0; n < 60; n++) {
        PtcMem small;
        PtcBuf form;
        PtcOauthWork w;
        ptc_mem_init(&small, (size_t)64 << 20);
        ptc_oauth_work_init(&w, &small, NULL, NULL, 1000);
        ptc_buf_init(&form, &small, PTC_OAUTH_DOC_BYTES);
        ptc_mem_fail_at(&small, (size_t)n % 40);
        bool ok = ptc_oauth_assertion_add(&w, &client, &form);
        CHECK(ok || (n % 40 && w.why.text[0]));
        const char *dot = ok && ptc_buf_ok(&form) ? strrchr(ptc_buf_text(&form), '.') : NULL;
        CHECK(!dot || strlen(dot + 1) == 86);
        ptc_buf_deinit(&form);
        ptc_oauth_work_deinit(&w);
        CHECK(atomic_load(&small.used) == 0);
    }
    PtcOauthWork w;
    PtcBuf form;
    ptc_oauth_work_init(&w, &mem, NULL, NULL, 1000);
    ptc_buf_init(&form, &mem, PTC_OAUTH_DOC_BYTES);
    CHECK(make_key(file, "EC", "P-384") && !ptc_oauth_assertion_add(&w, &client, &form));
    CHECK(strstr(w.why.text, "RSA or P-256"));
    CHECK(unlink(file) == 0 && !ptc_oauth_assertion_add(&w, &client, &form));
    CHECK(strstr(w.why.text, "cannot be read"));
    ptc_buf_deinit(&form);
    ptc_oauth_work_deinit(&w);
}

static void remove_all(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    CHECK(system(command) == 0);
}

int main(void)
{
    ptc_mem_init(&mem, SIZE_MAX);
    ptc_arena_init(&arena, &mem);
    snprintf(dir, sizeof dir, "/tmp/ptc-oauth-XXXXXX");
    CHECK(mkdtemp(dir) != NULL);
    CHECK_RUN(test_challenges());
    CHECK_RUN(test_places());
    CHECK_RUN(test_covers());
    CHECK_RUN(test_params());
    CHECK_RUN(test_forms());
    CHECK_RUN(test_scopes());
    CHECK_RUN(test_resource());
    CHECK_RUN(test_server());
    CHECK_RUN(test_tokens());
    CHECK_RUN(test_other_answers());
    CHECK_RUN(test_redirects());
    CHECK_RUN(test_inside());
    CHECK_RUN(test_named_addresses());
    CHECK_RUN(test_names_and_proxies());
    CHECK_RUN(test_store());
    CHECK_RUN(test_age());
    CHECK_RUN(test_lock());
    CHECK_RUN(test_bearer());
    CHECK_RUN(test_many_tokens());
    CHECK_RUN(test_no_token());
    CHECK_RUN(test_no_memory());
    CHECK_RUN(test_signing());
    remove_all();
    ptc_arena_deinit(&arena);
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("oauth");
}
