/* SPDX-License-Identifier: MIT
 * JSON Schema: messages, values that are no JSON, limits, memory and threads.  What each keyword means is in
 * test_schema_cases.c. */
#include "lisp/vm/record.h" /* before json_help.h, whose names are short */

#include "schema_help.h"

#include <pthread.h>

#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/number/bigint.h"

/* --------------------------------------------------------------------- helpers */

/* All issues in one line, "" when there are none; or what is wrong with the schema. */
static const char *judge_value(const char *schema, PtcValue v)
{
    static char line[8192];
    PtcBuf buf;
    ptc_arena_reset(&arena);
    const PtcSchema *made = compile(parse(schema));
    if (!made) {
        snprintf(line, sizeof line, "%s ! %s", mistake.path, mistake.message);
        return line;
    }
    ptc_buf_init(&buf, &h.mem, sizeof line - 1);
    validate(made, v);
    for (size_t i = 0; i < issues.count; i++) {
        ptc_buf_add_cstr(&buf, i ? " | " : "");
        ptc_schema_issue_text(&buf, &issues.items[i]);
    }
    snprintf(line, sizeof line, "%s%s", buf.len ? ptc_buf_text(&buf) : "",
             issues.more ? " | and more" : "");
    ptc_buf_deinit(&buf);
    return line;
}

static const char *judge(const char *schema, const char *value)
{
    return judge_value(schema, parse(value));
}

/* ------------------------------------------------------------------- messages */

static const struct {
    const char *schema, *value, *want;
} messages[] = {
    {"{\"type\":\"integer\"}", "\"abc\"", "expected integer, got string \"abc\""},
    {"{\"type\":[\"integer\",\"null\"]}", "1.5", "expected null or integer, got number 1.5"},
    {"{\"type\":[\"string\",\"number\",\"null\"]}", "[1]",
     "expected null, number or string, got array [1]"},
    {"{\"properties\":{\"results\":{\"items\":{\"properties\":{\"customer\":{\"properties\":{"
     "\"id\":{\"type\":\"integer\"}}}}}}}}",
     "{\"results\":[{\"customer\":{\"id\":\"x\"}},{\"customer\":{\"id\":1}},{\"customer\":{"
     "\"id\":null}}]}",
     "results[0].customer.id: expected integer, got string \"x\" | results[2].customer.id: "
     "expected integer, got null"},
    {"{\"items\":{\"additionalProperties\":{\"type\":\"null\"}}}",
     "[{\"a b\":1,\"\":2,\"é\\n\":3}]",
     "[0][\"a b\"]: expected null, got integer 1 | [0][\"\"]: expected null, got integer 2 | "
     "[0][\"é\\n\"]: expected null, got integer 3"},
    {"{\"required\":[\"name\",\"age\"]}", "{\"nmae\":1}",
     "the key \"name\" is missing; did you mean it by \"nmae\"? | the key \"age\" is missing"},
    {"{\"properties\":{\"name\":true},\"additionalProperties\":false}", "{\"nam\":1,\"zzz\":2}",
     "nam: this key is not allowed; did you mean \"name\"? | zzz: this key is not allowed"},
    {"{\"properties\":{\"name\":true},\"unevaluatedProperties\":false}", "{\"nam\":1}",
     "nam: this key is not allowed; did you mean \"name\"?"},
    {"{\"required\":[\"a\\nb\\u0000c\"]}", "{}", "the key \"a\\u000ab\\u0000c\" is missing"},
    {"{\"properties\":{\"a\\nb\":true},\"additionalProperties\":false}", "{\"a\\tb\":1}",
     "[\"a\\tb\"]: this key is not allowed; did you mean \"a\\u000ab\"?"},
    {"{\"pattern\":\"a\\nb\"}", "\"\"", "expected text that matches a\\u000ab, got string \"\""},
    {"{\"dependentRequired\":{\"card\":[\"address\"]}}", "{\"card\":1}",
     "the key \"address\" is missing, which \"card\" needs"},
    {"{\"enum\":[\"a\",1,null]}", "\"b\"", "expected one of \"a\", 1, null, got string \"b\""},
    {"{\"const\":{\"a\":1}}", "{\"a\":2}", "expected {\"a\":1}, got object {\"a\":2}"},
    {"{\"minimum\":3,\"multipleOf\":0.01}", "2.005",
     "expected at least 3, got number 2.005 | expected a multiple of 0.01, got number 2.005"},
    {"{\"exclusiveMaximum\":10}", "10", "expected less than 10, got integer 10"},
    {"{\"minLength\":2,\"pattern\":\"^a\"}", "\"é\"",
     "expected at least 2 characters, got 1 | expected text that matches ^a, got string \"é\""},
    {"{\"uniqueItems\":true,\"maxItems\":2}", "[1,2,1.0]",
     "expected at most 2 items, got 3 | expected items that differ, but items 0 and 2 are equal"},
    {"{\"contains\":{\"type\":\"null\"},\"minContains\":2}", "[null,1]",
     "expected at least 2 items that match \"contains\", got 1"},
    {"{\"propertyNames\":{\"maxLength\":3}}", "{\"abcd\":1}",
     "abcd (the key): expected at most 3 characters, got 4"},
    {"{\"maxProperties\":1}", "{\"a\":1,\"b\":1}", "expected at most 1 key, got 2"},
    {"false", "1", "no value is allowed here"},
    {"{\"not\":{\"type\":\"null\"}}", "null",
     "expected a value that does not fit \"not\", got null"},
    {"{\"prefixItems\":[true],\"unevaluatedItems\":false}", "[1,2]",
     "[1]: no item is allowed here"},
    {"{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}", "\"x\"",
     "expected null or integer, got string \"x\""},
    {"{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"object\",\"required\":[\"id\"]}]}", "{}",
     "the key \"id\" is missing"},
    {"{\"oneOf\":[{\"properties\":{\"kind\":{\"const\":\"a\"},\"x\":{\"type\":\"integer\"}}},"
     "{\"properties\":{\"kind\":{\"const\":\"b\"},\"y\":{\"type\":\"integer\"}}}]}",
     "{\"kind\":\"b\",\"y\":true}", "y: expected integer, got boolean true"},
    {"{\"oneOf\":[{\"minimum\":1},{\"minimum\":2}]}", "0",
     "expected one of the 2 forms of \"oneOf\", got integer 0"},
    {"{\"oneOf\":[{\"minimum\":5},{\"minimum\":1},{\"minimum\":2}]}", "3",
     "expected exactly one form of \"oneOf\" to fit, but numbers 1 and 2 both do, got integer 3"},
    {"{\"if\":{\"type\":\"string\"},\"then\":{\"minLength\":1},\"else\":{\"minimum\":0}}", "-1",
     "expected at least 0, got integer -1"},
    {"{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}", "{\"type\":\"text\"}",
     "expected a JSON Schema, got object {\"type\":\"text\"}"},
    {"{\"type\":\"null\"}",
     "\"a long text that would fill the whole line if it were shown to its end, which it is not\"",
     "expected null, got string \"a long text that would fill the whole line if it\"..."},
    {"{\"type\":\"null\"}", "[[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24]]",
     "expected null, got array [[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,..."},
    {"{\"multipleOf\":0.0001}", "0.00751", "expected a multiple of 0.0001, got number 0.00751"},
    {"{\"multipleOf\":1e-8}", "12391239123", ""},
    {"{\"multipleOf\":3}", "12345678901234567890123456788",
     "expected a multiple of 3, got integer "
     "12345678901234567890123456788"},
    {"{\"multipleOf\":1e-300}", "1.7976931348623157e308", ""},
    {"{\"maximum\":9007199254740992}", "9007199254740993",
     "expected at most 9007199254740992, got integer 9007199254740993"},
    {"{\"pattern\":\"^\\\\S+\\\\s$\"}", "\"a\\u00a0\"", ""},
    {"{\"pattern\":\"^a$\"}", "\"a\\n\"", "expected text that matches ^a$, got string \"a\\n\""},
    {"{\"pattern\":\"^[^]{2}[[&&]\\\\u{1F600}\\\\v$\"}", "\"\\n\\r&\\ud83d\\ude00\\u000b\"", ""},
    {"{\"dependencies\":{\"a\":[\"b\"],\"c\":false}}", "{\"a\":1}",
     "the key \"b\" is missing, which \"a\" needs"},
};

static void test_messages(void)
{
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
        CHECK_STR(judge(messages[i].schema, messages[i].value), messages[i].want);
}

static const struct {
    const char *schema, *want;
} mistakes[] = {
    {"1", "# ! expected a schema: an object, true or false"},
    {"{\"type\":\"int\"}", "#/type ! \"int\" is not a type; did you mean integer"},
    {"{\"type\":\"any\"}",
     "#/type ! \"any\" is not a type; there are null, boolean, number, integer, "
     "string, array, object"},
    {"{\"type\":\"strng\"}", "#/type ! \"strng\" is not a type; did you mean string"},
    {"{\"properties\":{\"a\":{\"items\":{\"type\":[]}}}}",
     "#/properties/a/items/type ! expected at least one type"},
    {"{\"items\":[{}]}", "#/items ! expected a schema; a list of schemas is written prefixItems"},
    {"{\"allOf\":[true,5]}", "#/allOf/1 ! expected a schema: an object, true or false"},
    {"{\"allOf\":[]}", "#/allOf ! expected an array of at least one schema"},
    {"{\"minLength\":-1}", "#/minLength ! expected a whole number, 0 or more"},
    {"{\"minLength\":1.5}", "#/minLength ! expected a whole number, 0 or more"},
    {"{\"multipleOf\":0}", "#/multipleOf ! expected a number above 0"},
    {"{\"exclusiveMinimum\":true}",
     "#/exclusiveMinimum ! expected a number (true and false are of draft 4)"},
    {"{\"properties\":{\"a\":{\"required\":true}}}",
     "#/properties/a/required ! expected an array of names, beside properties of the object"},
    {"{\"required\":[\"a\",\"b\",\"a\"]}", "#/required ! the names 0 and 2 are the same"},
    {"{\"enum\":1}", "#/enum ! expected an array of the allowed values"},
    {"{\"pattern\":\"[a\"}", "#/pattern ! the pattern [a is not valid: a [ has no closing ]"},
    {"{\"pattern\":\"\\\\Z\"}", "#/pattern ! the pattern \\Z is not valid: this letter after a "
                                "backslash means nothing in JSON Schema"},
    {"{\"patternProperties\":{\"(\":true}}",
     "#/patternProperties ! the pattern ( is not valid: a ( has no closing )"},
    {"{\"$ref\":\"#/$defs/x\"}", "#/$ref ! #/$defs/x leads to no place in this schema"},
    {"{\"$ref\":\"#a\\nb\"}", "#/$ref ! #a\\u000ab leads to no place in this schema"},
    {"{\"properties\":{\"a\\nb\\u0000c\":1}}",
     "#/properties/a\\u000ab\\u0000c ! expected a schema: an object, true or false"},
    {"{\"$ref\":\"#nowhere\"}", "#/$ref ! #nowhere leads to no place in this schema"},
    {"{\"$ref\":\"#/%ff\"}", "#/$ref ! #/%ff leads to no place in this schema"},
    {"{\"$ref\":\"https://example.com/x.json#/a\"}",
     "#/$ref ! https://example.com/x.json is not in this document, and others are never fetched; "
     "put it under $defs with that $id"},
    {"{\"$ref\":\"file:///etc/passwd\"}",
     "#/$ref ! file:///etc/passwd is not in this document, and others are never fetched; put it "
     "under $defs with that $id"},
    {"{\"$id\":\"http://a/b#c\"}", "#/$id ! expected no #fragment; $anchor makes one"},
    {"{\"$defs\":{\"a\":{\"$id\":\"x\"},\"b\":{\"$id\":\"x\",\"type\":\"null\"}}}",
     "#/$defs/b/$id ! two schemas have the address x"},
    {"{\"$defs\":{\"a\":{\"$anchor\":\"x\"},\"b\":{\"$anchor\":\"x\",\"type\":\"null\"}}}",
     "#/$defs/b/$anchor ! two schemas have the anchor x"},
    {"{\"$schema\":\"http://example.com/mine\"}",
     "#/$schema ! the rules of http://example.com/mine are not known; use "
     "https://json-schema.org/draft/2020-12/schema"},
    {"{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"additionalItems\":false}",
     "#/additionalItems ! this is of an older draft; use prefixItems and items"},
};

static void test_mistakes(void)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        CHECK_STR(judge(mistakes[i].schema, "1"), mistakes[i].want);
}

/* --------------------------------------------------------------- other values */

static PtcValue date(int64_t days)
{
    PtcRecord *o = ptc_heap_object(&h.heap, PTC_T_RECORD, sizeof *o + sizeof(PtcValue), 1);
    o->obj.aux = PTC_R_DATE;
    o->fields[0] = ptc_int(days);
    return ptc_from_obj(o);
}

static PtcValue map_of(PtcValue key, PtcValue v)
{
    return ptc_map_assoc(&h.heap, ptc_map_empty(&h.heap), key, v);
}

/* Values of a program count as what they are in JSON. */
static void test_values(void)
{
    PtcValue set = ptc_set_add(&h.heap, ptc_set_empty(&h.heap), keyword("b"));
    PtcValue twins = ptc_set_add(&h.heap, set, str("b"));
    const char *closed = "{\"properties\":{\"a-b\":{\"enum\":[\"x\"]}},\"required\":[\"a-b\"],"
                         "\"additionalProperties\":false}";
    CHECK_STR(judge_value(closed, map_of(keyword("a-b"), keyword("x"))), "");
    CHECK_STR(judge_value(closed, map_of(keyword("a_b"), keyword("x"))),
              "a_b: this key is not allowed; did you mean \"a-b\"? | the key \"a-b\" is missing; "
              "did you mean it by \"a_b\"?");
    CHECK_STR(judge_value("{\"const\":{\"7\":[\"b\"]}}", map_of(ptc_int(7), set)), "");
    CHECK_STR(judge_value("{\"const\":{\"nil\":1}}", map_of(PTC_NIL, ptc_flonum(1.0))), "");
    CHECK_STR(judge_value("{\"const\":{\"1970-01-02\":\"1970-01-03\"}}", map_of(date(1), date(2))),
              "");
    CHECK_STR(judge_value("{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"minItems\":3}",
                          ptc_range_new(&h.heap, 0, 1, 3)),
              "");
    CHECK_STR(judge_value("{\"uniqueItems\":true}", twins),
              "expected items that differ, but items 0 and 1 are equal");
    CHECK_STR(judge_value("{\"pattern\":\"^[0-9-]+$\",\"maxLength\":9}", date(0)),
              "expected at most 9 characters, got 10");
    CHECK_STR(judge_value("{\"patternProperties\":{\"^1$\":{\"type\":\"null\"}}}",
                          map_of(ptc_int(1), ptc_int(2))),
              "1: expected null, got integer 2");
    CHECK_STR(judge_value("{}", ptc_builtin(0)),
              "expected a JSON value, got a function, which cannot be JSON");
    CHECK_STR(judge_value("{\"properties\":{\"a\":true}}", map_of(set, PTC_NIL)),
              "expected keys that can be JSON, got array [\"b\"]");
    CHECK_STR(judge_value("{\"type\":\"number\"}", ptc_float_new(&h.heap, 1e308 * 10)),
              "expected a JSON value, got a number that is not finite");
    CHECK(compile(map_of(keyword("type"), keyword("integer"))) != NULL);
    CHECK(validate(compile(map_of(keyword("type"), keyword("integer"))), ptc_int(1)) ==
          PTC_SCHEMA_VALID);
}

/* --------------------------------------------------------------------- limits */

static int64_t clock_of(void *user)
{
    return ++*(int64_t *)user;
}

/* Stops after some looks at the clock, with the default deadline put back afterwards. */
static PtcSchemaVerdict validate_briefly(const char *schema, PtcValue v)
{
    int64_t now = 0;
    ptc_arena_reset(&arena);
    const PtcSchema *made = compile(parse(schema));
    h.budget.clock_ns = clock_of;
    h.budget.clock_user = &now;
    h.budget.deadline_ns = 100;
    PtcSchemaVerdict got =
        made ? ptc_schema_validate(made, v, &h.mem, &h.budget, &issues) : PTC_SCHEMA_INVALID;
    CHECK(got != PTC_SCHEMA_STOPPED || h.budget.stop == PTC_STOP_DEADLINE);
    ptc_budget_init(&h.budget);
    return got;
}

/* n times `open`, then `inner`, then n times `close`. */
static char *nest(int n, const char *open, const char *inner, const char *close)
{
    size_t a = strlen(open), b = strlen(close), at = 0;
    char *text = malloc((size_t)n * (a + b) + strlen(inner) + 1);
    for (int i = 0; i < n; i++, at += a)
        memcpy(text + at, open, a);
    memcpy(text + at, inner, strlen(inner));
    at += strlen(inner);
    for (int i = 0; i < n; i++, at += b)
        memcpy(text + at, close, b);
    text[at] = 0;
    return text;
}

static void test_time(void)
{
    char *a = nest(30, "a", "", "");
    char text[64];
    snprintf(text, sizeof text, "\"%s!\"", a);
    free(a);
    CHECK(validate_briefly("{\"pattern\":\"^(a+)+$\"}", parse(text)) == PTC_SCHEMA_STOPPED);
    CHECK(validate_briefly("{\"pattern\":\"^(a|a)*$\"}", parse(text)) == PTC_SCHEMA_STOPPED);
    CHECK(validate_briefly("{\"patternProperties\":{\"^(a+)+$\":true}}",
                           map_of(parse(text), PTC_NIL)) == PTC_SCHEMA_STOPPED);
    char schema[4096] = "{\"$defs\":{\"d0\":{\"type\":\"null\"}";
    for (int i = 1; i <= 40; i++) {
        size_t len = strlen(schema);
        snprintf(schema + len, sizeof schema - len,
                 ",\"d%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]}", i,
                 i - 1, i - 1);
    }
    strcat(schema, "},\"$ref\":\"#/$defs/d40\"}");
    CHECK(validate_briefly(schema, ptc_int(1)) == PTC_SCHEMA_STOPPED);
}

static void test_loops(void)
{
    CHECK_STR(judge("{\"$ref\":\"#\"}", "1"),
              "the schema refers to itself here without end | and more");
    CHECK_STR(judge("{\"$dynamicAnchor\":\"a\",\"not\":{\"$dynamicRef\":\"#a\"}}", "1"),
              "the schema refers to itself here without end | and more");
    CHECK_STR(judge("{\"properties\":{\"a\":{\"$ref\":\"#/$defs/x\"}},\"$defs\":{\"x\":{\"anyOf\":["
                    "{\"type\":\"null\"},{\"$ref\":\"#/$defs/y\"}]},\"y\":{\"allOf\":[{\"$ref\":"
                    "\"#/$defs/x\"}]}}}",
                    "{\"a\":1}"),
              "a: the schema refers to itself here without end | and more");
    CHECK_STR(judge("{\"additionalProperties\":{\"$ref\":\"#\"},\"minProperties\":1}",
                    "{\"a\":{\"b\":{\"c\":{}}}}"),
              "a.b.c: expected at least 1 key, got 0");
}

static void test_depth(void)
{
    const char *list = "{\"type\":\"array\",\"items\":{\"$ref\":\"#\"}}";
    char *text = nest(PTC_SCHEMA_MAX_DEPTH / 2, "[", "", "]");
    CHECK_STR(judge(list, text), "");
    free(text);
    text = nest(PTC_SCHEMA_MAX_DEPTH, "[", "", "]");
    CHECK(strstr(judge(list, text), "nested too deep to be checked | and more"));
    CHECK(issues.count == 1);
    free(text);
    /* The deepest calls: alternatives that mark what they evaluate. */
    text = nest(PTC_SCHEMA_MAX_DEPTH, "{\"a\":", "1", "}");
    CHECK(strstr(judge("{\"anyOf\":[{\"properties\":{\"a\":{\"$ref\":\"#\"}}}],"
                       "\"unevaluatedProperties\":false}",
                       text),
                 "nested too deep to be checked"));
    free(text);
    text = nest(250, "{\"items\":", "true", "}");
    CHECK_STR(judge(text, "[]"), "");
    free(text);
    text = nest(500, "[", "", "]");
    char *constant = nest(1, "{\"const\":", text, "}");
    CHECK_STR(judge(constant, text), "");
    free(text);
    free(constant);
}

static void test_sizes(void)
{
    enum { MANY = PTC_SCHEMA_MAX_NODES + 1 };
    char *text = malloc(MANY * 24 + 32), *at = text;
    at += sprintf(at, "{\"allOf\":[{}");
    for (int i = 2; i < MANY; i++)
        at += sprintf(at, ",{\"not\":{\"a\":%d}}", i);
    sprintf(at, "]}");
    CHECK(strstr(judge(text, "1"), "the schema has more than 10000 subschemas"));
    free(text);
    judge("{\"items\":{\"type\":\"null\"}}",
          "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]");
    CHECK(issues.count == PTC_SCHEMA_MAX_ISSUES && issues.more);
}

/* ---------------------------------------------------------------------- memory */

static const char torture_schema[] =
    "{\"$id\":\"http://a/b\",\"$defs\":{\"n\":{\"$anchor\":\"n\",\"enum\":[1,\"two\",[3.5]]}},"
    "\"properties\":{\"a\":{\"$ref\":\"#n\"},\"b\":{\"pattern\":\"^(x+x+)+y$\"},\"c\":{"
    "\"uniqueItems\":true,\"contains\":{\"multipleOf\":0.01}}},\"patternProperties\":{\"^z\":{"
    "\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}},\"anyOf\":[{\"properties\":{\"q\":"
    "{\"type\":\"null\"}}},{\"required\":[\"r\"]}],\"unevaluatedProperties\":false}";
static const char torture_value[] =
    "{\"a\":[3.5],\"b\":\"xxxxxxxxxxxxxxxxxxxxx\",\"c\":[0.5,1,1.0],\"z\":{\"type\":1},\"q\":2}";

/* Each allocation fails in turn, until none does. */
static void test_torture(void)
{
    for (uint64_t n = 1; n < 10000; n++) {
        CheckHeap t;
        PtcArena place;
        PtcJsonError e;
        const PtcSchema *schema;
        check_heap_init(&t);
        PtcValue s = ptc_json_parse(&t.heap, torture_schema, sizeof torture_schema - 1, &e);
        PtcValue v = ptc_json_parse(&t.heap, torture_value, sizeof torture_value - 1, &e);
        ptc_arena_init(&place, &t.mem);
        ptc_mem_fail_at(&t.mem, n);
        bool ok = ptc_schema_compile(&place, &t.mem, &t.budget, s, &schema, &mistake);
        CHECK(ok || (mistake.stopped && t.budget.stop == PTC_STOP_MEMORY));
        PtcSchemaVerdict got =
            ok ? ptc_schema_validate(schema, v, &t.mem, &t.budget, &issues) : PTC_SCHEMA_STOPPED;
        CHECK((got == PTC_SCHEMA_STOPPED) == (t.budget.stop == PTC_STOP_MEMORY));
        bool done = atomic_load(&t.mem.count) < n;
        CHECK(!done || (got == PTC_SCHEMA_INVALID && issues.count == 4));
        ptc_arena_deinit(&place);
        check_heap_deinit(&t);
        if (done)
            return;
    }
    CHECK(!"torture ended");
}

/* The schema's own value may go as soon as it is compiled. */
static void test_independence(void)
{
    CheckHeap t;
    PtcJsonError e;
    const PtcSchema *schema;
    check_heap_init(&t);
    PtcValue s = ptc_json_parse(&t.heap, torture_schema, sizeof torture_schema - 1, &e);
    ptc_arena_reset(&arena);
    CHECK(ptc_schema_compile(&arena, &h.mem, &h.budget, s, &schema, &mistake));
    check_heap_deinit(&t);
    CHECK(validate(schema, parse(torture_value)) == PTC_SCHEMA_INVALID && issues.count == 4);
    CHECK(validate(schema, parse("{\"a\":\"two\",\"b\":\"xxxxy\",\"c\":[1],\"zz\":{}}")) ==
          PTC_SCHEMA_VALID);
}

static void *validate_often(void *arg)
{
    PtcMem mem;
    PtcBudget budget;
    size_t *wrong = malloc(sizeof *wrong);
    const PtcSchema *schema = ((const PtcSchema **)arg)[0];
    PtcValue v = ((PtcValue *)arg)[1];
    ptc_mem_init(&mem, 64 << 20);
    ptc_budget_init(&budget);
    *wrong = 0;
    for (int i = 0; i < 50; i++) {
        PtcSchemaIssues own;
        *wrong += ptc_schema_validate(schema, v, &mem, &budget, &own) != PTC_SCHEMA_INVALID ||
                  own.count != 4;
    }
    *wrong += atomic_load(&mem.used) != 0;
    return wrong;
}

static void test_threads(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    ptc_arena_reset(&arena);
    union {
        const PtcSchema *schema;
        PtcValue value;
    } shared[2] = {{.schema = compile(parse(torture_schema))}, {.value = parse(torture_value)}};
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, validate_often, shared) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        CHECK(*(size_t *)wrong == 0);
        free(wrong);
    }
}

int main(void)
{
    check_heap_init(&h);
    ptc_arena_init(&arena, &h.mem);
    test_messages();
    test_mistakes();
    test_values();
    test_time();
    test_loops();
    test_depth();
    test_sizes();
    test_torture();
    test_independence();
    test_threads();
    CHECK(h.budget.stop == PTC_STOP_NONE);
    ptc_arena_deinit(&arena);
    check_heap_deinit(&h);
    return check_done("schema");
}
