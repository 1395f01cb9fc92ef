/* SPDX-License-Identifier: MIT
 * The notation for what is known of values: what is read is written the same, what is no such text gives nothing, and
 * types of JSON Schemas are such texts that rule out nothing which the schema allows. */
#include "json/sketch.h"

#include "json_help.h"
#include "tool/schema/type_text.h"

static PtcArena arena;

static const PtcSketch *sketch(const char *text)
{
    const PtcSketch *s = NULL;
    size_t n = strlen(text);
    char *copy = malloc(n ? n : 1); /* of exact size, so that reads beyond the end are seen */
    memcpy(copy, text, n);
    bool ok = ptc_sketch_read(&arena, (PtcText){copy, n}, &s);
    free(copy);
    return ok ? s : NULL;
}

/* Read and written again; "-": it cannot be read. */
static const char *through(const char *text)
{
    PtcBuf buf;
    const PtcSketch *s = sketch(text);
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    if (s)
        ptc_sketch_write(&buf, s);
    else
        ptc_buf_add_char(&buf, '-');
    return keep(&buf);
}

static const char *shortened(const char *text, size_t most)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    ptc_sketch_write_short(&buf, sketch(text), most);
    return keep(&buf);
}

static void test_same(void)
{
    static const char *const texts[] = {
        "any",
        "nil",
        "bool",
        "int",
        "number",
        "string",
        "keyword",
        "datetime",
        "map",
        "[int]",
        "[]",
        "[[any]]",
        "{}!",
        "{a int}",
        "{a int, b? string|nil}!",
        "{* int}",
        "{a int, * [string]}",
        "{a {b {c {d {e {f int}}}}}}",
        "\"open\"|\"closed\"",
        "1|-2|true|nil",
        "[{id int, tags? [string]}]|nil",
        "{\"a b\" int, \"\" any, \"*\" nil, \":k\" int, $ref int}",
        "{@type string, x-y? int, 404 map}",
        "\"a\\\"b\\\\c\"",
        "{\"a\\u{a}b\" int}",
        "{\xc3\xa4\xe6\x97\xa5 int}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK_STR(through(texts[i]), texts[i]);
}

static void test_alike(void)
{
    CHECK_STR(through(" { a  int ,b ? [ string ] | nil } ! "), "-"); /* the mark follows at once */
    CHECK_STR(through(" { a  int ,b? [ string ] | nil }! "), "{a int, b? [string]|nil}!");
    CHECK_STR(through("{id :int, at :datetime?, t [:string]?}"),
              "{id int, at? datetime|nil, t? [string]|nil}");
    CHECK_STR(through(":float"), "number");
    CHECK_STR(through("[:boolean]?"), "[bool]|nil");
    CHECK_STR(through("unknown"), "any");
    CHECK_STR(through("{}"), "map");
    CHECK_STR(through("{a int|any, b any?}"), "{a any, b? any}");
    CHECK_STR(through("{a int, ...}!"), "{a int}");
    CHECK_STR(through("{a int, ..., * int}"), "{a int}");
    CHECK_STR(through("\"x\"|..."), "any");
    CHECK_STR(through("int|(string)"), "-");
    CHECK_STR(through("2.5|1e3"), "number|number");
    CHECK_STR(through("\"\\u0041\\u{42}\\n\""), "\"AB\\u{a}\"");
    CHECK(sketch("{a :int?}")->fields[0].optional && !sketch("{a int|nil}")->fields[0].optional);
    CHECK(sketch("{a :int? , b int}")->fields[0].optional);
    CHECK(!sketch("{a {b :int?}}")->fields[0].optional);
}

static void test_wrong(void)
{
    static const char *const texts[] = {
        "",
        " ",
        "integer",
        "in t",
        "int int",
        "int|",
        "|int",
        "[",
        "[int",
        "[int}",
        "{",
        "{a}",
        "{a int",
        "{a int,}",
        "{,}",
        "{a? }",
        "{* int, * int}",
        "{a int}!!",
        "int!",
        "?",
        "{:a int}",
        "\"",
        "\"\\",
        "\"\\u\"",
        "\"\\ud800\"",
        "\"\\u{110000}\"",
        "\"\\q\"",
        "\"a\nb\"",
        "-",
        "1x",
        "1.",
        ".5",
        "...a",
        "{... int}",
        "\xff",
        "{\xff int}",
        ":",
        ":nope",
        "::int",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK_STR(through(texts[i]), "-");
    const PtcSketch *s;
    CHECK(!ptc_sketch_read(&arena, (PtcText){NULL, 0}, &s));
    CHECK(!ptc_sketch_read(&arena, (PtcText){"int\0", 4}, &s));
}

/* A text of `n` times one and `n` times another piece around a middle. */
static const char *nest(const char *open, const char *middle, const char *close, int n)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    for (int i = 0; i < n; i++)
        ptc_buf_add_cstr(&buf, open);
    ptc_buf_add_cstr(&buf, middle);
    for (int i = 0; i < n; i++)
        ptc_buf_add_cstr(&buf, close);
    ptc_buf_add_char(&buf, 0);
    return keep(&buf);
}

static void test_bounds(void)
{
    char deep[PTC_SKETCH_BYTES + 200];
    for (int n = PTC_SKETCH_DEPTH - 1; n < PTC_SKETCH_DEPTH + 1; n++) {
        snprintf(deep, sizeof deep, "%s", nest("[", "int", "]", n));
        CHECK((sketch(deep) != NULL) == (n < PTC_SKETCH_DEPTH));
        snprintf(deep, sizeof deep, "%s", nest("{a ", "int", "}", n));
        CHECK((sketch(deep) != NULL) == (n < PTC_SKETCH_DEPTH));
    }
    snprintf(deep, sizeof deep, "%s", nest("1|", "1", "", PTC_SKETCH_PARTS - 2));
    CHECK(sketch(deep) != NULL);
    snprintf(deep, sizeof deep, "%s", nest("1|", "1", "", PTC_SKETCH_PARTS - 1));
    CHECK(sketch(deep) == NULL);
    snprintf(deep, sizeof deep, "%s", nest(" ", "int", "", PTC_SKETCH_BYTES - 3));
    CHECK(sketch(deep) != NULL);
    snprintf(deep, sizeof deep, "%s", nest(" ", "int", "", PTC_SKETCH_BYTES - 2));
    CHECK(sketch(deep) == NULL);
}

static void test_short(void)
{
    const char *all = "{a {b {c {d int}}}, e? int}!";
    CHECK_STR(shortened(all, 100), "{a {b {c map}}, e? int}");
    CHECK_STR(shortened(all, 20), "{a {b map}, e? int}");
    CHECK_STR(shortened(all, 19), "{a {b map}, e? int}");
    CHECK_STR(shortened(all, 18), "{a map, e? int}");
    CHECK_STR(shortened(all, 10), "map");
    CHECK_STR(shortened(all, 2), "any");
    CHECK_STR(shortened("{a int, b int, c int, d int}", 27), "{a int, b int, c int, ...}");
    CHECK(sketch(shortened("{a int, b int, c int, d int}", 27)) != NULL);
}

/* The type of a schema, with everything, which reads back as itself. */
static const char *whole(const char *json, bool gives)
{
    static char shown[sizeof out];
    PtcBuf buf;
    PtcValue schema = parse(json);
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    ptc_type_text_add_whole(&buf, &h.heap, schema, schema, gives);
    snprintf(shown, sizeof shown, "%s", keep(&buf));
    CHECK(strlen(shown) <= PTC_TYPE_TEXT_BYTES);
    CHECK_STR(through(shown), shown);
    return shown;
}

static void test_schemas(void)
{
    CHECK_STR(whole("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b c\":{}},"
                    "\"required\":[\"a\"],\"additionalProperties\":false}",
                    true),
              "{a int, \"b c\"? any}!");
    CHECK_STR(whole("{\"properties\":{\"a\":{\"const\":1}},\"required\":[\"a\"]}", true), "{a 1}");
    CHECK_STR(whole("{\"properties\":{\"a\":{\"const\":1}},\"required\":[\"a\"]}", false),
              "{a? 1}");
    CHECK_STR(
        whole("{\"properties\":{\"a\":{}},\"additionalProperties\":{\"type\":\"string\"}}", true),
        "{a? any, * string}");
    CHECK_STR(whole("{\"properties\":{\"a\":{}},\"patternProperties\":{\"x\":{}},"
                    "\"additionalProperties\":false}",
                    true),
              "{a? any}");
    CHECK_STR(
        whole("{\"patternProperties\":{\"x\":{}},\"additionalProperties\":{\"type\":\"string\"}}",
              true),
        "map");
    CHECK_STR(whole("{\"type\":\"object\",\"additionalProperties\":false}", true), "map");
    CHECK_STR(whole("{\"allOf\":[{\"type\":\"string\"},{\"minLength\":1}]}", true), "any");
    CHECK_STR(whole("{\"allOf\":[{\"properties\":{\"a\":{}}},{\"properties\":{\"b\":{}}}]}", true),
              "{a? any, b? any}");
    CHECK_STR(
        whole("{\"type\":\"array\",\"prefixItems\":[{}],\"items\":{\"type\":\"string\"}}", true),
        "[any]");
    CHECK_STR(whole("{\"enum\":[1,2,\"a\",null,[1],{\"x\":1},2.5]}", true),
              "1|2|\"a\"|nil|[any]|map|number");
    CHECK_STR(whole("{\"enum\":[1,2,3,4,5,6,7,\"a\",\"b\"],\"nullable\":true}", true),
              "int|string|nil");
    CHECK_STR(whole("{\"anyOf\":[{\"type\":\"object\",\"properties\":{\"a\":{\"type\":[\"integer\","
                    "\"null\",\"string\"]}}},{\"type\":\"null\"}]}",
                    true),
              "{a? string|int|nil}|nil");
    /* What contains itself goes on for a while. */
    CHECK_STR(whole("{\"properties\":{\"v\":{\"type\":\"integer\"},\"next\":{\"$ref\":\"#\"}},"
                    "\"required\":[\"v\"]}",
                    true),
              "{v int, next? {v int, next? {v int, next? {v int, next? {v int, next? {v int, "
              "next? map}}}}}}");
    CHECK_STR(whole("{\"items\":{\"$ref\":\"#\"}}", true), "[[[[[[[[[[[[any]]]]]]]]]]]]");
}

/* Twelve members that are each the same twelve: fewer levels of them are told. */
static void test_wide(void)
{
    PtcBuf json;
    ptc_buf_init(&json, &h.mem, SIZE_MAX / 2);
    ptc_buf_add_cstr(&json, "{\"properties\":{");
    for (int i = 0; i < 12; i++)
        ptc_buf_addf(&json, "%s\"p%d\":{\"$ref\":\"#\"}", i ? "," : "", i);
    ptc_buf_add_cstr(&json, "}}");
    ptc_buf_add_char(&json, 0);
    const char *text = whole(json.data, true);
    CHECK(ptc_text_starts(ptc_text_cstr(text), "{p0? {p0? map, p1? map"));
    ptc_buf_deinit(&json);
}

/* Alternatives that are all the same take no room, but they are looked at. */
static void test_alternatives(void)
{
    PtcBuf json;
    ptc_buf_init(&json, &h.mem, SIZE_MAX / 2);
    ptc_buf_add_cstr(&json, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for (int i = 0; i < 12; i++) {
        ptc_buf_addf(&json, "\"d%d\":{\"anyOf\":[", i);
        for (int j = 0; j < 12; j++)
            ptc_buf_addf(&json, "%s{\"$ref\":\"#/$defs/d%d\"}", j ? "," : "", i + 1);
        ptc_buf_add_cstr(&json, "]},");
    }
    ptc_buf_add_cstr(&json, "\"d12\":{\"type\":\"string\"}}}");
    ptc_buf_add_char(&json, 0);
    CHECK_STR(whole(json.data, true), "any");
    ptc_buf_deinit(&json);
}

/* Nothing is half made when memory runs out. */
static void test_memory(void)
{
    static const char text[] = "{a int, b? [string]|nil, \"c d\" {* 1|\"x\"}}";
    for (uint64_t nth = 1; nth < 40; nth++) {
        PtcMem mem;
        PtcArena poor;
        const PtcSketch *s;
        ptc_mem_init(&mem, 1 << 20);
        ptc_arena_init(&poor, &mem);
        ptc_mem_fail_at(&mem, nth);
        bool read = ptc_sketch_read(&poor, (PtcText){text, sizeof text - 1}, &s);
        CHECK(read || poor.failed);
        ptc_arena_deinit(&poor);
        CHECK(atomic_load(&mem.used) == 0);
    }
}

int main(void)
{
    check_heap_init(&h);
    ptc_arena_init(&arena, &h.mem);
    CHECK_RUN(test_same());
    CHECK_RUN(test_alike());
    CHECK_RUN(test_wrong());
    CHECK_RUN(test_bounds());
    CHECK_RUN(test_short());
    CHECK_RUN(test_schemas());
    CHECK_RUN(test_wide());
    CHECK_RUN(test_alternatives());
    CHECK_RUN(test_memory());
    ptc_arena_deinit(&arena);
    check_heap_deinit(&h);
    return check_done("sketch");
}
