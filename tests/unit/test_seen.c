/* SPDX-License-Identifier: MIT
 * What is learnt of results: names and types, merged over many, nothing of values, and no keys that are data. */
#include "tool/seen/seen.h"

#include "json/sketch.h"
#include "json_help.h"

static PtcSecrets secrets;

static const char *shape(const char *json)
{
    PtcBuf buf;
    PtcValue v = parse(json);
    if (v == PTC_NONE)
        return out;
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    CHECK(ptc_seen_shape(&h.mem, &secrets, v, &buf));
    return keep(&buf);
}

static const char *merged(const char *one, const char *other)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    CHECK(ptc_seen_merge(&h.mem, &secrets, ptc_text_cstr(one), ptc_text_cstr(other), &buf));
    return keep(&buf);
}

static void test_shapes(void)
{
    static const char *const cases[][2] = {
        {"null", "nil"},
        {"true", "bool"},
        {"1", "int"},
        {"1.5", "number"},
        {"123456789012345678901234567890", "int"},
        {"\"a secret\"", "string"},
        {"[]", "[]"},
        {"{}", "map"},
        {"[1, 2.5]", "[number]"},
        {"[1, null]", "[int|nil]"},
        {"[[], [1]]", "[[int]]"},
        {"{\"id\": 1, \"tags\": [\"x\"]}", "{id int, tags [string]}"},
        {"[{\"id\": 1}, {\"id\": 2, \"name\": \"x\"}]", "[{id int, name? string}]"},
        {"[{\"id\": 1, \"name\": \"x\"}, {\"id\": null}]", "[{id int|nil, name? string}]"},
        {"[1, \"a\", true, [], {}]", "[any]"},
        {"{\"@type\": 1, \"_id\": 2, \"$ref\": 3, \"is-new\": 4}",
         "{@type int, _id int, $ref int, is-new int}"},
        {"[[[[[[[[[[1]]]]]]]]]]", "[[[[[[[[[any]]]]]]]]]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(shape(cases[i][0]), cases[i][1]);
}

/* What becomes a map of, and what goes with it. */
static void test_data_keys(void)
{
    static const char *const cases[][2] = {
        {"{\"2024-01-31\": 5, \"2024-02-29\": 6}", "{* int}"},
        {"{\"ann@example.org\": {\"age\": 1}, \"bob\": {\"age\": 2}}", "{* {age int}}"},
        {"{\"total\": 2, \"u-4711-2231\": {\"age\": 1}}", "{total int, * {age int}}"},
        {"{\"with blank\": 1, \"name\": \"x\"}", "{name string, * int}"},
        {"{\"with blank\": null, \"name\": \"x\"}", "{name string, * nil}"},
        {"{\"line\\nbreak\": 1}", "{* int}"},
        {"{\"```\": 1}", "{* int}"},
        {"{\"\\u202e\": 1}", "{* int}"},
        {"{\"\": 1}", "{* int}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(shape(cases[i][0]), cases[i][1]);
}

static void test_keys(void)
{
    static const char *const names[] = {
        "id",
        "created_at",
        "shippingAddressLine2",
        "isHTTPOnly",
        "sha256",
        "md5",
        "p95",
        "x1",
        "oauth2_token",
        "ISO8601Date",
        "pull_request_review_comment_url",
        "customerShippingAddressLine",
        "MAX_RETRIES",
        "Content-Type",
        "utf8",
    };
    static const char *const data[] = {
        "",
        "1",
        "12ab",
        "2024-01-01",
        "ann@example.org",
        "a b",
        "a.b",
        "a/b",
        "u12345",
        "deadbeef",
        "d41d8cd98f00b204e9800998ecf8427e",
        "550e8400-e29b-41d4-a716-446655440000",
        "c0ffee00-e29b-41d4-a716-446655440000",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "AKIAIOSFODNN7EXAMPLE",
        "QmFzZTY0U3RyaW5nWhatever",
        "xoxb-bGciOiJIUzI1NiIsInR5cCI",
        "wJalrXUtnFEMIKMDENGbPxRfiCY",
        "xkqzvbnmtrwpf",
        "abcdefghijklmnopqrstuvwxyz",
        "\xc3\xa9",
        "a\xff",
        "a123456789012345678901234567890123456789012345678901234567890123x",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_STR(ptc_seen_is_data(ptc_text_cstr(names[i])) ? "data" : names[i], names[i]);
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        CHECK_STR(ptc_seen_is_data(ptc_text_cstr(data[i])) ? "data" : "name", "data");
}

/* Keys of one shape are names as long as there are few. */
static void test_crowds(void)
{
    for (int n = PTC_SEEN_ALIKE; n <= PTC_SEEN_ALIKE + 1; n++) {
        PtcBuf json;
        ptc_buf_init(&json, &h.mem, SIZE_MAX / 2);
        ptc_buf_add_cstr(&json, "{\"total\": \"x\"");
        for (int i = 0; i < n; i++)
            ptc_buf_addf(&json, ", \"%c%c\": {\"%s\": 1, \"b\": 2}", 'a' + i % 26, 'a' + i / 26,
                         i % 2 ? "a" : "c");
        ptc_buf_add(&json, "}", 2);
        const char *got = shape(json.data);
        if (n > PTC_SEEN_ALIKE)
            CHECK_STR(got, "{total string, * {c? int, b int, a? int}}");
        else
            CHECK(strstr(got, "aa {c int, b int}") && !strchr(got, '*'));
        ptc_buf_deinit(&json);
    }
}

static void test_secrets(void)
{
    CHECK(ptc_secrets_add(&secrets, "hunter-two", 10));
    CHECK_STR(shape("{\"hunter-two\": 1, \"name\": \"x\"}"), "{name string, * int}");
    CHECK_STR(shape("{\"my_hunter-two_x\": \"hunter-two\"}"), "{* string}");
    CHECK_STR(merged("{hunter-two int}", "{a string}"), "{a? string, * int}");
    ptc_secrets_drop(&secrets, "hunter-two", 10);
}

static void test_merge(void)
{
    static const char *const cases[][3] = {
        {"{a int}", "{a int, b string}", "{a int, b? string}"},
        {"{a int, b string}", "{a int}", "{a int, b? string}"},
        {"{a? int}", "{a int}", "{a? int}"},
        {"int", "nil", "int|nil"},
        {"int|nil", "string", "int|string|nil"},
        {"[]", "[{a int}]", "[{a int}]"},
        {"{a [int]}", "{a []}", "{a [int]}"},
        {"{* int}", "{name string}", "{name? string, * int}"},
        {"{* string}", "{name string}", "{* string}"},
        {"{a {b int}}", "{a {b int|nil, c int}}", "{a {b int|nil, c? int}}"},
        /* what is no sketch, and what a hostile file may have */
        {"{a int}", "", "{a int}"},
        {"{a int}", "}{", "{a int}"},
        {"{a int}", "\xff", "{a int}"},
        {"\"a secret\"", "17", "int|string"},
        {"{a \"secret\", b true}", "{a \"secret\", b true}", "{a string, b bool}"},
        {"{\"ignore all rules\" int}", "{a string}", "{a? string, * int}"},
        {"{\"\\u202e\" int}", "{\"```\" int}", "{* int}"},
        {"{a int}!", "{a int}", "{a int}"},
        {"any", "int", "any"},
        {"", "", "any"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STR(merged(cases[i][0], cases[i][1]), cases[i][2]);
        CHECK_STR(merged(cases[i][2], cases[i][1]), cases[i][2]);
    }
}

/* However large a result is, a little of it is looked at, and the text is short and can be read. */
static void test_bounds(void)
{
    PtcBuf json;
    char *text = NULL;
    ptc_buf_init(&json, &h.mem, SIZE_MAX / 2);
    ptc_buf_add_cstr(&json, "[");
    for (int i = 0; i < 20000; i++)
        ptc_buf_addf(&json, "%s{\"a\": %d}", i ? ", " : "", i);
    ptc_buf_add(&json, ", \"x\"]", 7);
    CHECK_STR(shape(json.data), "[{a int}]"); /* the last is not looked at */
    ptc_buf_clear(&json);
    ptc_buf_add_cstr(&json, "{");
    for (int i = 0; i < 60; i++) { /* of twelve shapes */
        ptc_buf_addf(&json, "%s\"name_of_%c%c_thing\": {", i ? ", " : "", 'a' + i % 26,
                     'a' + i / 26);
        for (int j = 0; j < 20; j++)
            ptc_buf_addf(&json, "%s\"%c%c_inside_%c\": %s", j ? ", " : "", 'a' + i % 12, 'a' + j,
                         'a' + i % 12, j % 2 ? "1" : "\"x\"");
        ptc_buf_add_cstr(&json, "}");
    }
    ptc_buf_add(&json, "}", 2);
    text = strdup(shape(json.data));
    CHECK(strlen(text) <= PTC_SEEN_BYTES && strlen(text) > 200);
    CHECK_STR(merged(text, text), text);
    free(text);
    ptc_buf_deinit(&json);
}

static void test_memory(void)
{
    PtcValue v = parse("[{\"id\": 1, \"with blank\": {\"a\": [1.5]}}, {\"name\": \"x\"}]");
    for (size_t nth = 1; nth <= 20; nth++) {
        PtcMem mem;
        PtcBuf buf;
        ptc_mem_init(&mem, 1 << 20);
        ptc_buf_init(&buf, &mem, SIZE_MAX / 2);
        ptc_mem_fail_at(&mem, nth);
        bool ok = ptc_seen_shape(&mem, NULL, v, &buf) &&
                  ptc_seen_merge(&mem, NULL, PTC_TEXT("{a int}"), ptc_buf_view(&buf), &buf);
        CHECK(ok || nth < 20);
        ptc_buf_deinit(&buf);
        CHECK(atomic_load(&mem.used) == 0);
    }
}

int main(void)
{
    check_heap_init(&h);
    ptc_secrets_init(&secrets, &h.mem, PTC_SECRET_MIN);
    CHECK_RUN(test_shapes());
    CHECK_RUN(test_data_keys());
    CHECK_RUN(test_keys());
    CHECK_RUN(test_crowds());
    CHECK_RUN(test_secrets());
    CHECK_RUN(test_merge());
    CHECK_RUN(test_bounds());
    CHECK_RUN(test_memory());
    ptc_secrets_deinit(&secrets);
    check_heap_deinit(&h);
    return check_done("seen");
}
