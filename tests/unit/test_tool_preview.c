/* SPDX-License-Identifier: MIT
 * Previews of large results.  Run from the repository's root, or give the directory of the case files. */
#include "boundary_help.h"

#include "tool/cache_key.h"
#include "tool/hint.h"
#include "tool/wire/preview.h"

static Ptc *ptc;

/* What the function of a custom preview is to do. */
typedef struct {
    bool fails;
    PtcValue gives;
} Custom;

static bool custom(void *user, PtcHeap *heap, PtcValue result, PtcValue *preview)
{
    const Custom *c = user;
    (void)heap, (void)result;
    *preview = c->gives;
    return !c->fails;
}

static PtcNativeResult how_of(PtcValue def, Custom *c)
{
    PtcNativeResult how = {.limit = PTC_PREVIEW_LIMIT, .fn = custom, .user = c};
    PtcValue kind = get(def, "preview"), limit = get(def, "limit");
    if (limit != PTC_NONE)
        how.limit = ptc_to_int(limit);
    if (kind != PTC_NONE && ptc_is_string(kind))
        CHECK(ptc_preview_parse(ptc_str_bytes(kind), ptc_str_len(kind), &how.kind));
    if (kind != PTC_NONE && ptc_is_map(kind)) {
        how.kind = PTC_PREVIEW_CUSTOM;
        PtcValue gives = get(get(kind, "custom"), "returns");
        *c = (Custom){gives == PTC_NONE, gives == PTC_NONE ? PTC_NIL : untag(gives)};
    }
    return how;
}

/* The arguments in the program of a hint: what stands between `(tool/lookup ` and the last `)`. */
static bool hint_matches(const char *hint, PtcValue args)
{
    static char program[8192];
    PtcBuf a, b;
    PtcKeysError e;
    const char *from = strstr(hint, "(tool/lookup "), *to = strrchr(hint, ')');
    if (!from || !to)
        return false;
    from += strlen("(tool/lookup ");
    snprintf(program, sizeof program, "%.*s", (int)(to - from), from);
    PtcOutcome *o = run_program(ptc, program);
    ptc_buf_init(&a, &h.mem, 1 << 16);
    ptc_buf_init(&b, &h.mem, 1 << 16);
    bool same = ptc_cache_key(&h.heap, &a, "lookup", 6, args, &e) &&
                ptc_cache_key(&o->heap, &b, "lookup", 6, o->value, &e) && a.len == b.len &&
                memcmp(a.data, b.data, a.len) == 0;
    ptc_buf_deinit(&a);
    ptc_buf_deinit(&b);
    ptc_outcome_free(o);
    return same;
}

static void case_preview(PtcValue input, PtcValue expect_)
{
    PtcBuf buf;
    PtcJsonError e;
    Custom c = {0};
    PtcNativeResult how = how_of(get(input, "native_result"), &c);
    PtcValue args = untag(get(input, "args"));
    ptc_buf_init(&buf, &h.mem, 1 << 16);
    PtcPreviewStatus status =
        ptc_preview(&h.heap, &buf, &how, "lookup", 6, args, untag(get(input, "result")));
    check_case(is_text(get(expect_, "status"), status == PTC_PREVIEW_OK ? "ok" : "fallback"),
               "status");
    PtcValue got = buf.len ? ptc_json_parse(&h.heap, buf.data, buf.len, &e) : PTC_NONE;
    check_case(got != PTC_NONE, "it is JSON");
    PtcValue hint = get(got, "cache_hint");
    check_case(hint != PTC_NONE && hint_matches(ptc_str_bytes(hint), args),
               "the hint makes the call");
    if (got != PTC_NONE)
        got = ptc_map_dissoc(&h.heap, got, str("cache_hint"));
    check_case(got != PTC_NONE && ptc_equal(&h.heap, got, get(expect_, "preview")),
               got == PTC_NONE ? "nothing" : write(got));
    ptc_buf_deinit(&buf);
}

/* ---------------------------------------------------------------------- by hand */

/* The preview of a result in JSON, with "fallback " or "failed " in front; room is the size of the buffer. */
static const char *show(PtcPreviewKind kind, int64_t limit, const char *result, size_t room)
{
    static char text[8192];
    static const char *const words[] = {"", "fallback ", "failed "};
    PtcBuf buf;
    Custom c = {.fails = true};
    PtcNativeResult how = {kind, limit, custom, &c};
    ptc_buf_init(&buf, &h.mem, room);
    PtcPreviewStatus s =
        ptc_preview(&h.heap, &buf, &how, "f", 1, parse("{\"q\":1}"), untag(parse(result)));
    snprintf(text, sizeof text, "%s%.*s", words[s], (int)buf.len, buf.data ? buf.data : "");
    ptc_buf_deinit(&buf);
    return text;
}

#define HINT                                                                                 \
    ",\"full_result_cached\":true,\"cache_hint\":\"The whole result is kept: in lisp_eval, " \
    "(tool/f "                                                                               \
    "{:q 1}) gives it at once.\"}"

static void test_shapes(void)
{
    CHECK_STR(
        show(PTC_PREVIEW_METADATA, 20, "[]", 4096),
        "{\"status\":\"ok\",\"result_count\":0,\"schema\":{\"type\":\"array\",\"items\":{}}" HINT);
    CHECK_STR(
        show(PTC_PREVIEW_METADATA, 20, "{\"b\":false,\"a\":null}", 4096),
        "{\"status\":\"ok\",\"schema\":{\"type\":\"object\",\"properties\":{\"a\":\"null\",\"b\":"
        "\"boolean\"}},\"sample_keys\":[\"a\",\"b\"]" HINT);
    CHECK_STR(
        show(PTC_PREVIEW_METADATA, 20, "{\"$set\":[1,2]}", 4096),
        "{\"status\":\"ok\",\"result_count\":2,\"schema\":{\"type\":\"array\",\"items\":{\"type\":"
        "\"integer\"}}" HINT);
    CHECK_STR(
        show(PTC_PREVIEW_ROWS, 2, "[[1],[2],[3]]", 4096),
        "{\"status\":\"ok\",\"result_count\":3,\"schema\":{\"type\":\"array\",\"items\":{\"type\":"
        "\"array\"}},\"rows\":[[1],[2]]" HINT);
    CHECK_STR(show(PTC_PREVIEW_CUSTOM, 20, "7", 4096),
              "fallback {\"status\":\"ok\",\"schema\":{\"type\":\"integer\"}" HINT);
    /* A row that cannot be JSON, rows that do not fit, a buffer too small for anything. */
    CHECK_STR(
        show(PTC_PREVIEW_ROWS, 2, "[{\"$fn\":1}]", 4096),
        "fallback {\"status\":\"ok\",\"result_count\":1,\"schema\":{\"type\":\"array\",\"items\":{"
        "\"type\":\"string\"}}" HINT);
    static char rows[4096] = "[\"";
    memset(rows + 2, 'x', 2000);
    snprintf(rows + 2002, 10, "\"]");
    CHECK(strncmp(show(PTC_PREVIEW_ROWS, 2, rows, 1000), "fallback {\"status\"", 18) == 0);
    CHECK_STR(show(PTC_PREVIEW_METADATA, 2, "1", 50), "failed ");
    const char *page =
        show(PTC_PREVIEW_ROWS, 1, "{\"items\":[{\"a\":1},{\"a\":2}],\"next_cursor\":\"c7\"}", 4096);
    CHECK(strstr(page, "\"rows_in\":\"items\",\"result_count\":2,"));
    CHECK(strstr(page, "\"rest\":{\"next_cursor\":\"c7\"},\"rows\":[{\"a\":1}],"));
    CHECK(!strstr(show(PTC_PREVIEW_ROWS, 1, "{\"x\":[{\"a\":1}],\"y\":[{}]}", 4096), "rows_in"));
}

static void test_many_keys(void)
{
    static char text[8192] = "[{";
    for (int i = 0; i < 25; i++)
        snprintf(text + strlen(text), 64, "%s\"k%02d\":%d", i ? "," : "", i, i);
    strcat(text, "}]");
    PtcValue v = parse(show(PTC_PREVIEW_ROWS, 20, text, 8192));
    CHECK(ptc_seq_count(get(v, "sample_keys")) == 20);
    PtcValue items = get(get(v, "schema"), "items");
    CHECK(ptc_map_count(get(items, "properties")) == 20 && get(items, "truncated") == PTC_TRUE);
    CHECK(ptc_map_count(ptc_seq_nth(get(v, "rows"), 0)) == 25);
}

/* Keys are compared in the first five rows only. */
static void test_agreement(void)
{
    CHECK(strstr(show(PTC_PREVIEW_METADATA, 20,
                      "[{\"a\":1},{\"a\":1},{\"a\":1},{\"a\":1},{\"b\":1}]", 4096),
                 "sample_keys") == NULL);
    CHECK(strstr(show(PTC_PREVIEW_METADATA, 20,
                      "[{\"a\":1},{\"a\":1},{\"a\":1},{\"a\":1},{\"a\":1},{\"b\":1}]", 4096),
                 "\"sample_keys\":[\"a\"]") != NULL);
}

static const char *call(const char *args)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, 4096);
    CHECK(ptc_hint_call(&h.heap, &buf, "lookup", 6, untag(parse(args))));
    return keep(&buf);
}

static void test_hints(void)
{
    CHECK_STR(call("{}"), "(tool/lookup {})");
    CHECK_STR(call("{\"page-size\":2,\"1st\":\"a\\\"b\",\"o\":{\"x\":[null]}}"),
              "(tool/lookup {:page_size 2 \"1st\" \"a\\\"b\" :o {\"x\" [nil]}})");
    static char args[4096] = "{\"q\":\"";
    memset(args + 6, 'x', 3000);
    snprintf(args + 3006, 10, "\"}");
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, 4096);
    CHECK(ptc_hint_write(&h.heap, &buf, "lookup", 6, parse(args)));
    CHECK_STR(keep(&buf),
              "\"The whole result is kept: in lisp_eval, (tool/lookup ...) with the same "
              "arguments gives it at once.\"");
}

/* Each allocation fails in turn, until none does. */
static void test_torture(void)
{
    static const char text[] = "[{\"a\":1,\"b\":[1,2]},{\"a\":2,\"b\":[]},{\"b\":1,\"a\":2.5}]";
    for (int kind = 0; kind < 3; kind++) {
        for (uint64_t n = 1;; n++) {
            CheckHeap t;
            PtcJsonError e;
            PtcBuf buf;
            check_heap_init(&t);
            PtcValue v = ptc_json_parse(&t.heap, text, sizeof text - 1, &e);
            PtcValue args = ptc_json_parse(&t.heap, "{\"a-b\":[1]}", 11, &e);
            Custom c = {false, args};
            PtcNativeResult how = {(PtcPreviewKind)kind, 2, custom, &c};
            ptc_buf_init(&buf, &t.mem, 4096);
            ptc_mem_fail_at(&t.mem, n);
            PtcPreviewStatus s = ptc_preview(&t.heap, &buf, &how, "f", 1, args, v);
            CHECK(s == PTC_PREVIEW_OK ||
                  (s == PTC_PREVIEW_FAILED && buf.len == 0 && t.budget.stop == PTC_STOP_MEMORY));
            bool done = atomic_load(&t.mem.count) < n;
            ptc_buf_deinit(&buf);
            CHECK(t.heap.scratch == 0 && (!done || s == PTC_PREVIEW_OK));
            check_heap_deinit(&t);
            if (done || n > 1000)
                break;
        }
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        boundary_dir = argv[1];
    check_heap_init(&h);
    CHECK((ptc = ptc_new(NULL)) != NULL);
    CHECK(each_case("preview.jsonl", case_preview) == 25);
    test_shapes();
    test_many_keys();
    test_agreement();
    test_hints();
    test_torture();
    end_engine(ptc);
    CHECK(h.budget.stop == PTC_STOP_NONE);
    check_heap_deinit(&h);
    return check_done("tool_preview");
}
