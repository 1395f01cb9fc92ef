/* SPDX-License-Identifier: MIT
 * The JSON parser: values, guesses about shapes, messages, limits and memory.  Every rule of the grammar is in
 * test_json_cases.c. */
#include "json_help.h"

#include <math.h>

#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/equal.h"

/* ------------------------------------------------------------------- parsing */

static void test_scalars(void)
{
    CHECK(parse("null") == PTC_NIL);
    CHECK(parse(" true\n") == PTC_TRUE);
    CHECK(parse("\tfalse\r") == PTC_FALSE);
    CHECK(parse("0") == ptc_int(0));
    CHECK(parse("-0") == ptc_int(0));
    CHECK(parse("-17") == ptc_int(-17));
    CHECK(parse("999999999999999999") == ptc_int(999999999999999999));
    CHECK(parse("4611686018427387903") == ptc_int(PTC_INT_MAX));
    CHECK(parse("-4611686018427387904") == ptc_int(PTC_INT_MIN));
    CHECK(ptc_is_bigint(parse("4611686018427387904")));
    CHECK_STR(again("-123456789012345678901234567890"), "-123456789012345678901234567890");
    CHECK_STR(again("[9223372036854775807,-9223372036854775808]"),
              "[9223372036854775807,-9223372036854775808]");
    CHECK(ptc_is_float(parse("1e5")) && ptc_to_float(parse("1e5")) == 100000);
    CHECK(ptc_to_float(parse("-1.5E-3")) == -1.5e-3);
    CHECK(ptc_to_float(parse("1e-999")) == 0);
    CHECK(ptc_to_float(parse("1.7976931348623157e308")) == 1.7976931348623157e308);
    CHECK(ptc_to_float(parse("5e-324")) == 5e-324);
    CHECK(signbit(ptc_to_float(parse("-0.0"))) && ptc_is_float(parse("-0.0")));
    CHECK_STR(again("[0.1,-2.5,3.0,1e300]"), "[0.1,-2.5,3.0,1.0e300]");
}

static void test_strings(void)
{
    CHECK_STR(ptc_str_bytes(parse("\"\"")), "");
    CHECK_STR(ptc_str_bytes(parse("\"abc\"")), "abc");
    CHECK_STR(ptc_str_bytes(parse("\"exactly sixteen!\"")), "exactly sixteen!");
    CHECK_STR(ptc_str_bytes(parse("\"seventeen letters\"")), "seventeen letters");
    CHECK_STR(ptc_str_bytes(parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")), "\"\\/\b\f\n\r\t");
    CHECK_STR(ptc_str_bytes(parse("\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"")), "Aé€😀");
    CHECK_STR(ptc_str_bytes(parse("\"é€😀 and some ASCII\"")), "é€😀 and some ASCII");
    PtcValue nul = parse("\"a\\u0000b\"");
    CHECK(ptc_str_len(nul) == 3 && memcmp(ptc_str_bytes(nul), "a\0b", 4) == 0);
    CHECK(ptc_str_simple(parse("\"plain\"")) && ptc_str_simple(parse("\"new\\nline\"")));
    CHECK(ptc_str_simple(parse("\"\\r\"")) && !ptc_str_simple(parse("\"é\"")));
    CHECK(ptc_obj(parse("\"plain\""))->count == 5);
    CHECK(ptc_equal(&h.heap, parse("\"plain\""), str("plain")));
    CHECK(ptc_hash(&h.heap, parse("\"plain\"")) == ptc_hash(&h.heap, str("plain")));
    PtcValue twice = parse("[\"d3\",\"d3\",\"more than sixteen bytes\",\"d3\"]");
    CHECK(ptc_seq_nth(twice, 0) == ptc_seq_nth(twice, 3));
}

static void test_containers(void)
{
    CHECK_STR(again("[]"), "[]");
    CHECK_STR(again("{}"), "{}");
    CHECK_STR(again(" [ 1 , [ ] , { } ] "), "[1,[],{}]");
    CHECK_STR(again("{\"a\":{\"b\":[{\"c\":null}]},\"d\":[[[]]]}"),
              "{\"a\":{\"b\":[{\"c\":null}]},\"d\":[[[]]]}");
    PtcValue v = parse("{\"a\" : 1, \"b\" : 2}");
    CHECK(ptc_is(v, PTC_T_SMAP) && ptc_map_get(&h.heap, v, str("b")) == ptc_int(2));
    CHECK(ptc_map_get_flex(&h.heap, v, keyword("a")) == ptc_int(1));
    CHECK_STR(again("{\"a\":1,\"b\":2,\"a\":3}"), "{\"a\":3,\"b\":2}");
    CHECK_STR(again("[{\"a\":1,\"b\":2},{\"a\":1,\"a\":2},{\"a\":3,\"b\":4,\"a\":5}]"),
              "[{\"a\":1,\"b\":2},{\"a\":2},{\"a\":5,\"b\":4}]");
    CHECK_STR(again("{\"\":1,\"\\u0061\":2,\"a\":3}"), "{\"\":1,\"a\":3}");
}

static PtcValue shape_at(PtcValue rows, size_t i)
{
    return ((PtcSmap *)(uintptr_t)ptc_seq_nth(rows, i))->shape;
}

/* Guesses about keys must never show. */
static void test_shapes(void)
{
    const char *text = "[{\"id\":1,\"x\":2},{\"id\":3,\"x\":4},{\"id\":5},{\"id\":6,\"x\":7},"
                       "{\"id\":8,\"x\":9,\"y\":10},{\"x\":1,\"id\":2},{},{\"id\":11,\"x\":12}]";
    PtcValue rows = parse(text);
    CHECK_STR(write(rows), text);
    CHECK(shape_at(rows, 0) == shape_at(rows, 1));
    /* Rows 3 and 7 mostly share it too, but that hangs on a cache of a few addresses. */
    CHECK(shape_at(rows, 0) != shape_at(rows, 5));
    /* A key that needs escapes has other bytes in the text than in memory. */
    CHECK_STR(again("[{\"a\\\"b\":1},{\"a\\\"b\":2},{\"a\":3}]"),
              "[{\"a\\\"b\":1},{\"a\\\"b\":2},{\"a\":3}]");
    CHECK_STR(again("[{\"a\\\"b\":1},{\"a\"b\":2}]"), "! expected ':', found b @16 1:17");
    CHECK_STR(again("[{\"é\":1},{\"é\":2},{\"\\u00e9\":3}]"), "[{\"é\":1},{\"é\":2},{\"é\":3}]");
    CHECK_STR(again("[{\"abc\":1},{\"ab\":2},{\"abcd\":3},{\"abc"),
              "! the text ends inside a string @36 1:37");
    CHECK_STR(again("[{\"seventeen letters\":1},{\"seventeen letterz\":2},{\"12345678\":1}]"),
              "[{\"seventeen letters\":1},{\"seventeen letterz\":2},{\"12345678\":1}]");
}

/* Objects of n keys, around the size where maps change their form; each key twice when asked. */
static void test_sizes(void)
{
    static char text[1 << 15];
    for (int n = 1; n <= 40; n++) {
        for (int copies = 1; copies <= 2; copies++) {
            size_t at = (size_t)sprintf(text, "[");
            for (int row = 0; row < 2; row++) {
                at += (size_t)sprintf(text + at, "%s{", row ? "," : "");
                for (int i = 0; i < n * copies; i++)
                    at += (size_t)sprintf(text + at, "%s\"key%d\":%d", i ? "," : "", i % n, i);
                at += (size_t)sprintf(text + at, "}");
            }
            sprintf(text + at, "]");
            PtcValue map = ptc_seq_nth(parse(text), 1);
            CHECK(ptc_map_count(map) == (size_t)n);
            CHECK(ptc_map_get(&h.heap, map, str("key0")) == ptc_int(n * (copies - 1)));
            CHECK(ptc_is(map, n <= PTC_SMALL_MAX ? PTC_T_SMAP : PTC_T_BMAP));
            if (copies == 1)
                CHECK_STR(again(text), text);
        }
    }
}

/* Parses with the members of {"a":{"b":{...}}} named x and y as text: "value | x | y". */
static const char *keeping(const char *text)
{
    static const char *const path[] = {"a", "b", NULL}, *const names[] = {"x", "y", NULL};
    static char line[1000];
    PtcText kept[2];
    PtcJsonError e;
    const PtcJsonKeep wanted = {.path = path, .names = names, .texts = kept};
    PtcValue v = ptc_json_parse_keeping(&h.heap, ptc_text_cstr(text), &wanted, &e);
    if (v == PTC_NONE)
        snprintf(line, sizeof line, "! %s @%zu", e.message, e.offset);
    else
        snprintf(line, sizeof line, "%s | %.*s | %.*s", write(v), (int)kept[0].len,
                 kept[0].bytes ? kept[0].bytes : "", (int)kept[1].len,
                 kept[1].bytes ? kept[1].bytes : "");
    return line;
}

static void test_keeping(void)
{
    CHECK_STR(keeping("{\"a\":{\"b\":{\"x\":{ \"k\" : [1,\n2] } ,\"z\":{\"x\":{}}}}}"),
              "{\"a\":{\"b\":{\"x\":{},\"z\":{\"x\":{}}}}} | { \"k\" : [1,\n2] } | ");
    CHECK_STR(keeping("{\"a\":{\"b\":{\"y\":{\"\\u00e9}\":\"}\"},\"\\u0078\":{}}}}"),
              "{\"a\":{\"b\":{\"y\":{},\"x\":{}}}} | {} | {\"\\u00e9}\":\"}\"}");
    /* What is no object is a value. */
    CHECK_STR(keeping("{\"a\":{\"b\":{\"x\":[{\"k\":1}],\"y\":null}}}"),
              "{\"a\":{\"b\":{\"x\":[{\"k\":1}],\"y\":null}}} |  | ");
    /* Other places do not count, nor do members of the same name before the last. */
    CHECK_STR(keeping("{\"x\":{\"k\":1},\"a\":{\"x\":{\"k\":2},\"b\":[{\"x\":{\"k\":3}}]}}"),
              "{\"x\":{\"k\":1},\"a\":{\"x\":{\"k\":2},\"b\":[{\"x\":{\"k\":3}}]}} |  | ");
    CHECK_STR(keeping("{\"b\":{\"x\":{\"k\":1}},\"a\":[{\"b\":{\"x\":{\"k\":2}}}]}"),
              "{\"b\":{\"x\":{\"k\":1}},\"a\":[{\"b\":{\"x\":{\"k\":2}}}]} |  | ");
    CHECK_STR(keeping("{\"a\":{\"b\":{\"x\":{\"k\":1},\"x\":{\"k\":2}}}}"),
              "{\"a\":{\"b\":{\"x\":{}}}} | {\"k\":2} | ");
    CHECK_STR(keeping("{\"a\":{\"b\":{\"x\":{\"k\":1},\"x\":5}}}"),
              "{\"a\":{\"b\":{\"x\":5}}} |  | ");
    /* The second object at a depth is guessed from the first. */
    CHECK_STR(keeping("{\"c\":{\"b\":{\"x\":{}}},\"a\":{\"b\":{\"x\":{\"k\":1}}}}"),
              "{\"c\":{\"b\":{\"x\":{}}},\"a\":{\"b\":{\"x\":{}}}} | {\"k\":1} | ");
    CHECK_STR(keeping("[{\"a\":{\"b\":{\"x\":{\"k\":1}}}}]"),
              "[{\"a\":{\"b\":{\"x\":{\"k\":1}}}}] |  | ");
    /* What is wrong inside is told as anywhere else. */
    CHECK_STR(keeping("{\"a\":{\"b\":{\"x\":{\"k\":1,}}}}"),
              "! expected a key in quotes, found } @22");
    CHECK_STR(keeping("{\"a\":{\"b\":{\"x\":{\"k\":\"\xff\"}}}}"),
              "! invalid UTF-8 in a string @21");
    CHECK_STR(keeping("{\"a\":{\"b\":{\"x\":{\"k\":1"),
              "! expected ',' or '}', but the text ends @21");
}

/* Reads members x into another heap, unless they have a key "no". */
typedef struct {
    PtcHeap *heap;
    PtcValue last;
    int reads;
} Elsewhere;

static size_t read_elsewhere(void *user, PtcText rest)
{
    Elsewhere *to = user;
    PtcJsonError e;
    size_t used = 0;
    to->reads++;
    to->last = ptc_json_parse_prefix(to->heap, rest.bytes, rest.len, &used, &e);
    return to->last == PTC_NONE || ptc_map_field(to->heap, to->last, "no") != PTC_NONE ? 0 : used;
}

/* "value | what was read elsewhere, if it counts | reads" */
static const char *reading_apart(const char *text)
{
    static const char *const path[] = {NULL}, *const names[] = {"x", NULL};
    static char line[1000];
    PtcText kept;
    PtcJsonError e;
    Elsewhere to = {.heap = &h.heap, .last = PTC_NONE};
    const PtcJsonKeep wanted = {path, names, &kept, read_elsewhere, &to};
    PtcValue v = ptc_json_parse_keeping(&h.heap, ptc_text_cstr(text), &wanted, &e);
    if (v == PTC_NONE)
        snprintf(line, sizeof line, "! %s @%zu", e.message, e.offset);
    else {
        int n = snprintf(line, sizeof line, "%s | ", write(v));
        snprintf(line + n, sizeof line - (size_t)n, "%s | %d", kept.bytes ? write(to.last) : "",
                 to.reads);
    }
    return line;
}

static void test_reading_apart(void)
{
    CHECK_STR(reading_apart("{\"x\":{\"k\":[1,{\"x\":{}}]} ,\"y\":{\"x\":{}}}"),
              "{\"x\":{},\"y\":{\"x\":{}}} | {\"k\":[1,{\"x\":{}}]} | 1");
    CHECK_STR(reading_apart("{\"x\":[1],\"y\":2}"), "{\"x\":[1],\"y\":2} |  | 0");
    /* The last of several counts. */
    CHECK_STR(reading_apart("{\"x\":{\"k\":1},\"x\":{\"k\":2}}"), "{\"x\":{}} | {\"k\":2} | 2");
    CHECK_STR(reading_apart("{\"x\":{\"k\":1},\"x\":5}"), "{\"x\":5} |  | 1");
    /* What cannot be read elsewhere is read here, and what is wrong with it is told for this text. */
    CHECK_STR(reading_apart("{\"x\":{\"no\":1}}"), "{\"x\":{\"no\":1}} |  | 1");
    CHECK_STR(reading_apart("{\"x\":{\"k\":1,}}"), "! expected a key in quotes, found } @12");
}

static void test_refused(void)
{
    CHECK_STR(again(""), "! expected a value, but the text ends @0 1:1");
    CHECK_STR(again("[1,\n  é]"), "! expected a value, found byte 0xC3 @6 2:3");
    CHECK_STR(again("[\"é\" x]"), "! expected ',' or ']', found x @6 1:6");
    CHECK_STR(again("{\"a\":1,}"), "! expected a key in quotes, found } @7 1:8");
    CHECK_STR(again("[1,]"), "! expected a value, found ] @3 1:4");
    CHECK_STR(again("{\"a\" 1}"), "! expected ':', found 1 @5 1:6");
    CHECK_STR(again("01"), "! a number must not begin with 0 @0 1:1");
    CHECK_STR(again("1e400"), "! this number is too large for a double @0 1:1");
    CHECK_STR(again("1 2"), "! expected the end of the text, found 2 @2 1:3");
    CHECK_STR(again("\"\\ud800\""), "! half of a surrogate pair is not a character @3 1:4");
    CHECK_STR(again("\"\\ude00\\ud83d\""), "! half of a surrogate pair is not a character @3 1:4");
    CHECK_STR(again("\"\\u00g0\""), "! expected four hexadecimal digits @3 1:4");
    CHECK_STR(again("\"\\x\""), "! expected an escape, found x @2 1:3");
    CHECK_STR(again("\"a\nb\""), "! control character 0x0A in a string: use an escape @2 1:3");
    CHECK_STR(again("\"\xff\""), "! invalid UTF-8 in a string @1 1:2");
    CHECK_STR(again("\"\xed\xa0\x80\""), "! invalid UTF-8 in a string @1 1:2");
    CHECK_STR(again("\xef\xbb\xbf{}"), "! expected a value, found byte 0xEF @0 1:1");
    CHECK_STR(again("tru"), "! expected a value, found t @0 1:1");
    CHECK_STR(again("-"), "! expected a digit, but the text ends @1 1:2");
    CHECK_STR(again("1."), "! expected a digit, but the text ends @2 1:3");
    CHECK_STR(again("[1}"), "! expected ',' or ']', found } @2 1:3");
    CHECK(h.budget.stop == PTC_STOP_NONE);
}

/* `n` opening brackets, and when `close` the closing ones. */
static char *nest(size_t n, bool close)
{
    char *text = malloc(2 * n + 1);
    memset(text, '[', n);
    memset(text + n, ']', close ? n : 0);
    text[close ? 2 * n : n] = 0;
    return text;
}

static void test_depth(void)
{
    char *text = nest(PTC_JSON_MAX_DEPTH, true);
    CHECK_STR(again(text), text);
    free(text);
    text = nest(PTC_JSON_MAX_DEPTH + 1, true);
    CHECK_STR(again(text), "! nested deeper than 512 levels @512 1:513");
    free(text);
    text = nest(100000, false);
    CHECK_STR(again(text), "! nested deeper than 512 levels @512 1:513");
    free(text);
    CHECK_STR(again("[[[[[[[[[[[[[[[[[[[{\"a\":1},{\"a\":2}]]]]]]]]]]]]]]]]]]]"),
              "[[[[[[[[[[[[[[[[[[[{\"a\":1},{\"a\":2}]]]]]]]]]]]]]]]]]]]");
}

static void test_prefix(void)
{
    const char *lines = " {\"a\":1}\n[2] 3\n\"x\"4true";
    const char *want[] = {"{\"a\":1}", "[2]", "3", "\"x\"", "4", "true"};
    size_t at = 0, used;
    PtcJsonError e;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        PtcValue v = ptc_json_parse_prefix(&h.heap, lines + at, strlen(lines + at), &used, &e);
        CHECK_STR(v == PTC_NONE ? e.message : write(v), want[i]);
        at += used;
    }
    CHECK(at == strlen(lines));
    CHECK(ptc_json_parse_prefix(&h.heap, "", 0, &used, &e) == PTC_NONE && used == 0);
}

/* -------------------------------------------------------------------- limits */

static int64_t clock_of(void *user)
{
    return ++*(int64_t *)user;
}

static void test_time(void)
{
    int64_t now = 0;
    size_t n = 1 << 20;
    char *text = malloc(n);
    PtcJsonError e;
    memset(text, ' ', n);
    memcpy(text, "[1, 2, \"", 8);
    memset(text + 8, 'x', n / 2);
    memcpy(text + n - 40, "\",3,4,5,6]", 10);
    h.budget.clock_ns = clock_of;
    h.budget.clock_user = &now;
    h.budget.deadline_ns = 1;
    CHECK(ptc_json_parse(&h.heap, text, n, &e) == PTC_NONE && e.stopped);
    CHECK(h.budget.stop == PTC_STOP_DEADLINE);
    ptc_budget_init(&h.budget);
    h.budget.max_int_bits = 256;
    CHECK(parse("[123456789012345678901234567890]") != PTC_NONE);
    memset(text, '7', 1000);
    CHECK(ptc_json_parse(&h.heap, text, 1000, &e) == PTC_NONE && !e.stopped);
    CHECK_STR(e.message, "this integer is too large");
    CHECK(h.budget.stop == PTC_STOP_SIZE);
    ptc_budget_init(&h.budget);
    free(text);
}

/* Parses and writes with each allocation failing in turn, until none does. */
static void torture(const char *text)
{
    for (uint64_t n = 1; n < 10000; n++) {
        CheckHeap t;
        PtcJsonError e = {0};
        PtcBuf buf;
        check_heap_init(&t);
        ptc_buf_init(&buf, &t.mem, SIZE_MAX / 2);
        ptc_mem_fail_at(&t.mem, n);
        PtcValue v = ptc_json_parse(&t.heap, text, strlen(text), &e);
        PtcJsonWriter w = {&t.heap, -1, NULL};
        bool ok = v != PTC_NONE && ptc_json_write(&w, &buf, v, &e);
        CHECK(ok || (e.stopped && t.budget.stop == PTC_STOP_MEMORY));
        CHECK(!ok || (buf.len == strlen(text) && memcmp(buf.data, text, buf.len) == 0));
        bool done = atomic_load(&t.mem.count) < n;
        ptc_buf_deinit(&buf);
        check_heap_deinit(&t);
        if (done) {
            CHECK(ok && n > 1);
            return;
        }
    }
    CHECK(!"torture ended");
}

static void test_torture(void)
{
    static char text[1 << 16];
    size_t at = (size_t)sprintf(text, "[");
    for (int i = 0; i < 300; i++)
        at += (size_t)sprintf(text + at, "{\"id\":%d,\"é\":[\"long text number %d\"],\"x\":%d.5},",
                              i, i, i);
    at += (size_t)sprintf(text + at, "{");
    for (int i = 0; i < 100; i++)
        at += (size_t)sprintf(text + at, "%s\"k%d\":12345678901234567890123", i ? "," : "", i);
    at += (size_t)sprintf(text + at, "}");
    char *deep = nest(200, true);
    sprintf(text + at, ",%s]", deep);
    free(deep);
    torture(text);
}

/* A heap that is too small for the text. */
static void test_heap_limit(void)
{
    enum { COUNT = 150000, LEN = 2 * COUNT + 1 };
    char *text = malloc(LEN);
    memset(text, ',', LEN);
    for (size_t i = 1; i < LEN; i += 2)
        text[i] = '7';
    text[0] = '[';
    text[LEN - 1] = ']';
    size_t fitted = 0;
    for (size_t limit = 0; limit < 3000000; limit += 100000) {
        CheckHeap t;
        PtcJsonError e;
        check_heap_init(&t);
        t.heap.limit = limit;
        PtcValue v = ptc_json_parse(&t.heap, text, LEN, &e);
        fitted += v != PTC_NONE;
        CHECK(v != PTC_NONE || (e.stopped && t.budget.stop == PTC_STOP_MEMORY));
        CHECK(v == PTC_NONE || (limit > 8 * COUNT && ptc_seq_count(v) == COUNT));
        check_heap_deinit(&t);
    }
    CHECK(fitted > 10);
    free(text);
}

int main(void)
{
    check_heap_init(&h);
    test_scalars();
    test_strings();
    test_containers();
    test_shapes();
    test_sizes();
    test_keeping();
    test_reading_apart();
    test_refused();
    test_depth();
    test_prefix();
    test_time();
    test_torture();
    test_heap_limit();
    CHECK(h.budget.stop == PTC_STOP_NONE);
    check_heap_deinit(&h);
    return check_done("json");
}
