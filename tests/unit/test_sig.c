/* SPDX-License-Identifier: MIT
 * Signatures: what their parser says is wrong and where, that values which fit are left alone, and that nothing leaks
 * when memory runs out.  The cases of tests/boundary run through the command (tests/e2e/test_signature.py). */
#include "json/time_json.h"
#include "value/time/time.h" /* before json_help.h, whose names its functions use */

#include "json_help.h"

#include <pthread.h>

#include "driver/signature_forms.h"
#include "tool/sig/sig_check.h"
#include "tool/sig/sig_schema.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/equal.h"
#include "value/number/bigint.h"

static PtcArena arena;
static PtcSigIssues errors, warnings;

/* The signature, or NULL with what is wrong with it in `out`. */
static const PtcSig *sig(const char *text)
{
    const PtcSig *s = NULL;
    PtcSigError e;
    if (ptc_sig_parse(&arena, text, strlen(text), &s, &e))
        return s;
    snprintf(out, sizeof out, "%u:%u @%zu %s [%s]", e.line, e.column, e.offset, e.message,
             e.nearest ? e.nearest : "");
    return NULL;
}

static const PtcSigType *type(const char *text)
{
    return sig(text)->result;
}

static const char *wrong(const char *text)
{
    return sig(text) ? "parsed" : out;
}

static const char *printed(const char *text)
{
    PtcBuf buf;
    const PtcSig *s = sig(text);
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    ptc_sig_print(&buf, s);
    return keep(&buf);
}

/* Empties a list. */
static void forget_issues(PtcSigIssues *issues, PtcMem *mem)
{
    ptc_sig_issues_deinit(issues);
    ptc_sig_issues_init(issues, mem);
}

/* All issues of a list, which is then emptied. */
static const char *told(PtcSigIssues *issues)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    ptc_sig_issues_print(&buf, issues, "; ");
    forget_issues(issues, &h.mem);
    return keep(&buf);
}

static const char *validated(const char *text, const char *json)
{
    bool ok = ptc_sig_validate(&h.heap, type(text), false, parse(json), &errors);
    CHECK(ok == (errors.total == 0));
    return told(&errors);
}

static const char *strictly(const char *text, const char *json)
{
    bool ok = ptc_sig_validate(&h.heap, type(text), true, parse(json), &errors);
    CHECK(ok == (errors.total == 0));
    return told(&errors);
}

static const char *with_times(PtcValue v)
{
    return write_with(&(PtcJsonWriter){&h.heap, -1, ptc_time_json}, v);
}

/* The coerced value as JSON, or the errors; warnings stay. */
static const char *coerced(const char *text, PtcValue v)
{
    forget_issues(&warnings, &h.mem);
    PtcValue to =
        ptc_sig_coerce(&h.heap, type(text), PTC_SIG_EXTRA_LEFT_OUT, v, &warnings, &errors);
    return to == PTC_NONE ? told(&errors) : with_times(to);
}

/* -------------------------------------------------------------------------------- parsing */

static void test_errors(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", "1:1 @0 the signature is empty; write a type such as {count :int} []"},
        {" \n ", "2:2 @3 the signature is empty; write a type such as {count :int} []"},
        {":intt", "1:1 @0 no type :intt; did you mean :int? [int]"},
        {":list", "1:1 @0 no type :list; write [:string] for a list []"},
        {":integer", "1:1 @0 no type :integer; did you mean :int? [int]"},
        {":zebra", "1:1 @0 no type :zebra; there are :string :int :float :bool :keyword :datetime "
                   ":any :map []"},
        {"int", "1:1 @0 a type begins with a colon: write :int [int]"},
        {"{a :int,\n  b :strin}", "2:5 @13 no type :strin; did you mean :string? [string]"},
        {"{é :int}", "1:2 @1 expected a name (letters, digits, _ and -, not a digit or - first), "
                     "got 'é' []"},
        {"{a :int b :int}", "1:9 @8 expected ',' or '}', got 'b' []"},
        {"{a :int, a :int}", "1:10 @9 the name a is given twice []"},
        {"(a :int, b :int, a :int) -> :int", "1:18 @17 the name a is given twice []"},
        {"[:int]??", "1:8 @7 expected the end of the signature, got '?' []"},
        {"[:int] ?", "1:8 @7 expected the end of the signature, got '?' []"},
        {"{a [:int]?? }", "1:11 @10 expected ',' or '}', got '?' []"},
        {":int x", "1:6 @5 expected the end of the signature, got 'x' []"},
        {"(a :int)", "1:9 @8 expected '->' and the type of the result after the parameters, got "
                     "the end []"},
        {":int\x01", "1:5 @4 expected the end of the signature, got byte 0x01 []"},
        {":int\xff", "1:5 @4 expected the end of the signature, got byte 0xff []"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(wrong(cases[i].text), cases[i].want);
}

static void nest(char *text, size_t depth)
{
    memset(text, '[', depth);
    memcpy(text + depth, ":int", 4);
    memset(text + depth + 4, ']', depth);
    text[2 * depth + 4] = 0;
}

static void test_limits(void)
{
    static char text[PTC_SIG_MAX_BYTES + 16];
    nest(text, PTC_SIG_MAX_DEPTH);
    CHECK(sig(text) != NULL);
    nest(text, PTC_SIG_MAX_DEPTH + 1);
    CHECK_STR(wrong(text), "1:201 @200 types are nested deeper than 200 []");
    size_t n = 0;
    for (int i = 0; i <= PTC_SIG_MAX_FIELDS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%sf%d :int", i ? "," : "{", i);
    text[n] = '}';
    text[n + 1] = 0;
    CHECK(strstr(wrong(text), "more than 1000 names in one place"));
    *strrchr(text, ',') = '}';
    text[strlen(text) - 1] = 0;
    *(strchr(text, '}') + 1) = 0;
    CHECK(sig(text) && type(text)->field_count == PTC_SIG_MAX_FIELDS);
    memset(text, ' ', sizeof text);
    memcpy(text + PTC_SIG_MAX_BYTES - 4, ":int", 5);
    CHECK(sig(text) != NULL);
    memcpy(text + PTC_SIG_MAX_BYTES - 4, " :int", 6);
    CHECK(strstr(wrong(text), "longer than 65536 bytes"));
}

static void test_print(void)
{
    CHECK_STR(printed(" ( a:int? ,b-c [ {d:boolean} ] )->{ }"), "(a :int?, b-c [{d :bool}]) -> {}");
    CHECK_STR(printed("()->:any"), "() -> :any");
    CHECK_STR(printed(":any"), ":any");
    CHECK_STR(printed("(a [:int]?,b { c [[:any]?]? }?)->[{}?]?"),
              "(a [:int]?, b {c [[:any]?]?}?) -> [{}?]?");
    CHECK(!ptc_sig_equal(sig("() -> :any"), sig(":any")));
    CHECK(ptc_sig_equal(sig("{a :int}"), sig("{ a:int }")));
    CHECK(!ptc_sig_equal(sig("{a :int}"), sig("{b :int}")));
    CHECK(!ptc_sig_equal(sig("{a :int}"), sig("{a :int?}")));
    CHECK(!ptc_sig_equal(sig("(a :int) -> :int"), sig("(a :float) -> :int")));
}

/* ----------------------------------------------------------------------------- validation */

static void test_example(void)
{
    static const char *const cases[][2] = {
        {"(q :string, n :int?) -> :any", "{:q \"text\"}"},
        {"(at :datetime, f :float, ok :bool, k :keyword, m :map, a :any) -> :any",
         "{:at \"2024-05-01T12:00:00Z\", :f 1.5, :ok true, :k :word, :m {}, :a 1}"},
        {"(rows [{id :int, tag :string?}]) -> :any", "{:rows [{:id 1}]}"},
        {"(a [[[[:int]]]]) -> :any", "{:a [[[]]]}"},
        {"(n :int?) -> :any", "{}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtcBuf buf;
        ptc_buf_init(&buf, &h.mem, 200);
        CHECK(ptc_sig_example(&buf, &sig(cases[i][0])->params));
        CHECK_STR(ptc_buf_text(&buf), cases[i][1]);
        ptc_buf_deinit(&buf);
        ptc_buf_init(&buf, &h.mem, 1);
        CHECK(!ptc_sig_example(&buf, &sig(cases[i][0])->params));
        ptc_buf_deinit(&buf);
    }
}

static void test_validate(void)
{
    CHECK_STR(validated("{results [{customer {id :int}}]}",
                        "{\"results\":[{\"customer\":{\"id\":\"abc\"}}]}"),
              "results[0].customer.id: expected int, got string \"abc\"");
    CHECK_STR(validated(":int", "[]"), "expected int, got list");
    CHECK_STR(validated(":int?", "2.5"), "expected int or nil, got float 2.5");
    CHECK_STR(validated("{user_id :int}", "{\"user_ld\":1}"),
              "user_id: missing, expected int; there is \"user_ld\"");
    CHECK_STR(validated("[:string]", "[1,true,null]"),
              "[0]: expected string, got int 1; [1]: expected string, got bool true; "
              "[2]: expected string, got nil");
    CHECK_STR(validated(":int", "\"0123456789012345678901234567890123456789é\""),
              "expected int, got string \"0123456789012345678901234567890123456789...\"");
    CHECK_STR(validated(":int", "\"a\\\"\\n\\u0001b\""), "expected int, got string \"a\\\"\\n b\"");
    CHECK_STR(strictly("{a {b :int}}", "{\"a\":{\"b\":1,\"c d\":2},\"x\":3}"),
              "a[\"c d\"]: unexpected field; there is b; x: unexpected field; there is a");
    CHECK_STR(strictly("{limit :int?}", "{\"limt\":1}"),
              "limt: unexpected field; did you mean limit? There is limit");
    CHECK_STR(strictly("{a-b :int, a_b :int}", "{\"a_b\":1,\"c\":2}"),
              "c: unexpected field; there are a-b, a_b");
}

/* Past their number issues are counted only. */
/* Lists and maps that may be nil, or not there. */
static void test_optional_parts(void)
{
    const char *t = "{tags [:string]?, at {x :int}?, rows [{id :int}?]}";
    CHECK_STR(validated(t, "{\"rows\":[]}"), "");
    CHECK_STR(validated(t, "{\"tags\":null,\"at\":null,\"rows\":[null,{\"id\":1}]}"), "");
    CHECK_STR(validated(t, "{\"tags\":[1],\"at\":{},\"rows\":[{}]}"),
              "tags[0]: expected string, got int 1; at.x: missing, expected int; "
              "rows[0].id: missing, expected int");
    CHECK_STR(validated(t, "{\"tags\":5,\"at\":[],\"rows\":null}"),
              "tags: expected list or nil, got int 5; at: expected map or nil, got list; "
              "rows: expected list, got nil");
    CHECK_STR(strictly(t, "{\"at\":{\"x\":1,\"y\":2},\"rows\":[]}"),
              "at.y: unexpected field; there is x");
    CHECK_STR(
        coerced("{tags [:int]?, at {x :int}?}", parse("{\"tags\":[\"1\"],\"at\":{\"x\":\"2\"}}")),
        "{\"tags\":[1],\"at\":{\"x\":2}}");
    CHECK_STR(coerced("{tags [:int]?, at {x :int}?}", parse("{\"at\":null}")), "{\"at\":null}");
}

static void test_many_issues(void)
{
    PtcValue list = ptc_range_new(&h.heap, 0, 1, 1000);
    CHECK(!ptc_sig_validate(&h.heap, type("[:string]"), false, list, &errors));
    CHECK(errors.count == PTC_SIG_ISSUES_MAX && errors.total == 1000);
    CHECK(strstr(told(&errors), "; 936 more"));
}

static PtcValue large_map(const char *name, PtcValue value)
{
    char key[16];
    PtcValue map = ptc_map_empty(&h.heap);
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "k%d", i);
        map = ptc_map_assoc(&h.heap, map, str(key), ptc_int(i));
    }
    return ptc_map_assoc(&h.heap, map, keyword(name), value);
}

static void test_large_maps(void)
{
    PtcValue map = large_map("user-id", ptc_int(7));
    CHECK(ptc_sig_validate(&h.heap, type("{user_id :int, k99 :int}"), false, map, &errors));
    CHECK(!ptc_sig_validate(&h.heap, type("{user_id :string}"), false, map, &errors));
    CHECK_STR(told(&errors), "user_id: expected string, got int 7");
    CHECK_STR(coerced("{k3 :float, user_id :int}", map), "{\"k3\":3.0,\"user-id\":7}");
    PtcValue sorted = ptc_sorted_empty(&h.heap, false, PTC_NIL);
    sorted = ptc_map_assoc(&h.heap, sorted, str("a"), str("1"));
    sorted = ptc_map_assoc(&h.heap, sorted, str("b"), ptc_int(2));
    CHECK(ptc_sig_validate(&h.heap, type("{b :int, a :string}"), true, sorted, &errors));
    CHECK_STR(coerced("{b :int, a :int}", sorted), "{\"b\":2,\"a\":1}");
}

/* ------------------------------------------------------------------------------- coercion */

static void test_coerce(void)
{
    CHECK_STR(coerced("{id :int, at :datetime, tags [:keyword]}",
                      parse("{\"id\":\"42\",\"at\":\"2024-02-29T10:00:00+01:00\",\"tags\":[\"a\"],"
                            "\"more\":1}")),
              "{\"id\":42,\"at\":\"2024-02-29T09:00:00Z\",\"tags\":[\"a\"]}");
    CHECK_STR(told(&warnings),
              "id: took string \"42\" as int; at: took string \"2024-02-29T10:00:00+01:00\" as "
              "datetime; at: the datetime was not in UTC and is now; tags[0]: took string \"a\" as "
              "keyword");
    CHECK_STR(
        coerced("[:datetime]", parse("[\"2024-02-29T10:00:00\",\"x\"]")),
        "[0]: expected datetime, got string \"2024-02-29T10:00:00\": it has no offset; end it "
        "with Z or +01:00; [1]: expected datetime, got string \"x\": write it as "
        "2024-02-29T10:00:00Z");
    CHECK_STR(coerced(":string", PTC_NIL), "expected string, got nil");
    CHECK_STR(coerced(":float", parse("\" 2.5 \"")), "2.5");
    CHECK_STR(coerced(":float", parse("\"1e999\"")), "expected float, got string \"1e999\"");
    CHECK_STR(coerced(":keyword", parse("\"a b\"")), "expected keyword, got string \"a b\"");
}

static void test_long_numbers(void)
{
    static char text[100003];
    memset(text, '9', sizeof text - 1);
    text[0] = text[sizeof text - 2] = '"';
    CHECK(strstr(coerced(":int", parse(text)), "expected int"));
    memset(text, '9', sizeof text - 1);
    CHECK_STR(
        coerced(":float", parse("1" /* and 400 digits */
                                "00000000000000000000000000000000000000000000000000000000000000"
                                "00000000000000000000000000000000000000000000000000000000000000"
                                "00000000000000000000000000000000000000000000000000000000000000"
                                "00000000000000000000000000000000000000000000000000000000000000"
                                "00000000000000000000000000000000000000000000000000000000000000"
                                "00000000000000000000000000000000000000000000000000000000000000"
                                "00000000000000000000000000000000000000000000000000000000000000")),
        "expected float, got int");
    CHECK(h.budget.stop == PTC_STOP_NONE);
}

/* What fits comes back as the same value, and nothing is allocated for it. */
static void test_no_copy(void)
{
    PtcValue v = parse("{\"user-id\":7,\"rows\":[{\"id\":1,\"at\":null},{\"id\":2}],\"any\":{}}");
    const PtcSigType *t = type("{user_id :int, rows [{id :int, at :datetime?}], any :map}");
    size_t used = h.heap.used, mem = atomic_load(&h.mem.used);
    const char *cur = h.heap.cur;
    CHECK(ptc_sig_validate(&h.heap, t, true, v, &errors));
    CHECK(ptc_sig_coerce(&h.heap, t, PTC_SIG_EXTRA_REFUSED, v, &warnings, &errors) == v);
    CHECK(ptc_sig_atomize(&h.heap, t, v) == v);
    CHECK(h.heap.cur == cur && h.heap.used == used && atomic_load(&h.mem.used) == mem);
    CHECK(errors.total == 0);
    PtcValue rows = ptc_map_get(&h.heap, v, str("rows"));
    PtcValue to = ptc_sig_coerce(&h.heap, type("{user_id :float, rows [{id :int}]}"),
                                 PTC_SIG_EXTRA_LEFT_OUT, v, &warnings, &errors);
    CHECK(ptc_map_get(&h.heap, to, str("rows")) != PTC_NONE &&
          ptc_seq_nth(ptc_map_get(&h.heap, to, str("rows")), 1) == ptc_seq_nth(rows, 1));
}

static void test_atomize(void)
{
    PtcValue v =
        parse("{\"at\":[\"2024-02-29T10:00:00.5+01:00\",\"soon\"],\"k\":\"ready\",\"x\":1}");
    PtcValue to = ptc_sig_atomize(&h.heap, type("{at [:datetime], k :keyword}"), v);
    CHECK_STR(with_times(to),
              "{\"at\":[\"2024-02-29T09:00:00.500Z\",\"soon\"],\"k\":\"ready\",\"x\":1}");
    CHECK(ptc_is_keyword(ptc_map_get(&h.heap, to, str("k"))));
    PtcValue at = ptc_map_get(&h.heap, to, str("at"));
    CHECK(ptc_is_record(ptc_seq_nth(at, 0), PTC_R_INSTANT));
    CHECK(!ptc_sig_validate_return(&h.heap, sig("{at [:datetime]}"), to, &errors));
    CHECK_STR(told(&errors), "at[1]: expected datetime, got string \"soon\"");
    CHECK(ptc_sig_validate_return(&h.heap, NULL, to, &errors));
    CHECK(ptc_sig_validate_return(&h.heap, sig(":any"), to, &errors));
}

/* Whole numbers that a program computed as floats. */
static void test_whole(void)
{
    PtcValue v = parse("{\"n\":[3.0,2.5,\"4\"],\"f\":1.0,\"big\":1e16,\"x\":2.0}");
    const PtcSigType *t = type("{n [:int], f :float, big :int, none :int?}");
    CHECK_STR(with_times(ptc_sig_whole(&h.heap, t, v)),
              "{\"n\":[3,2.5,\"4\"],\"f\":1.0,\"big\":1.0e16,\"x\":2.0}");
    CHECK(ptc_sig_whole(&h.heap, type("{f :float}"), v) == v);
    PtcValue one = ptc_float_new(&h.heap, 5.0), set = ptc_set_empty(&h.heap);
    CHECK_STR(with_times(ptc_sig_whole(&h.heap, type("[:int]"), ptc_set_add(&h.heap, set, one))),
              "[5]");
}

static void test_modes(void)
{
    const PtcSig *s = sig("(n :int) -> {n :int}");
    PtcValue loose = parse("{\"n\":\"1\",\"x\":2}"), bad = parse("{\"n\":\"one\"}");
    CHECK(ptc_sig_input(&h.heap, s, PTC_SIG_ENABLED, PTC_SIG_EXTRA_REFUSED, loose, &warnings,
                        &errors) == PTC_NONE);
    CHECK_STR(told(&warnings), "n: took string \"1\" as int");
    CHECK_STR(told(&errors), "x: unexpected field; there is n");
    CHECK(ptc_sig_input(&h.heap, s, PTC_SIG_STRICT, PTC_SIG_EXTRA_REFUSED, loose, &warnings,
                        &errors) == PTC_NONE);
    CHECK_STR(told(&errors), "n: expected int, got string \"1\"; x: unexpected field; there is n");
    CHECK(ptc_sig_input(&h.heap, s, PTC_SIG_WARN_ONLY, PTC_SIG_EXTRA_REFUSED, bad, &warnings,
                        &errors) == bad);
    CHECK(errors.total == 0);
    CHECK_STR(told(&warnings), "n: expected int, got string \"one\"");
    CHECK_STR(write(ptc_sig_input(&h.heap, s, PTC_SIG_WARN_ONLY, PTC_SIG_EXTRA_REFUSED, loose,
                                  &warnings, &errors)),
              "{\"n\":1,\"x\":2}");
    CHECK_STR(told(&warnings), "n: took string \"1\" as int; x: unexpected field; there is n");
    CHECK(ptc_sig_input(&h.heap, s, PTC_SIG_DISABLED, PTC_SIG_EXTRA_REFUSED, bad, &warnings,
                        &errors) == bad);
    CHECK(ptc_sig_input(&h.heap, s, PTC_SIG_ENABLED, PTC_SIG_EXTRA_REFUSED, PTC_NIL, &warnings,
                        &errors) == PTC_NONE);
    CHECK_STR(told(&errors), "n: missing, expected int");
    CHECK(ptc_sig_input(&h.heap, sig(":int"), PTC_SIG_ENABLED, PTC_SIG_EXTRA_REFUSED, bad,
                        &warnings, &errors) == bad);
    CHECK(!ptc_sig_output(&h.heap, s, PTC_SIG_ENABLED, bad, &warnings, &errors));
    told(&errors);
    CHECK(ptc_sig_output(&h.heap, s, PTC_SIG_WARN_ONLY, bad, &warnings, &errors));
    CHECK(warnings.total == 1 && errors.total == 0);
    told(&warnings);
    CHECK(ptc_sig_output(&h.heap, s, PTC_SIG_DISABLED, bad, &warnings, &errors));
    PtcSigMode mode;
    CHECK(ptc_sig_mode_named("warn_only", 9, &mode) && mode == PTC_SIG_WARN_ONLY);
    CHECK(!ptc_sig_mode_named("warn", 4, &mode));
}

/* Fields that parameters do not name. */
static void test_extra(void)
{
    static const struct {
        PtcSigExtra how;
        const char *sig, *args, *got, *warned;
    } cases[] = {
        {PTC_SIG_EXTRA_REFUSED, "() -> :int", "{}", "{}", ""},
        {PTC_SIG_EXTRA_REFUSED, "() -> :int", "{\"a\":1}", "a: unexpected field; there are none",
         ""},
        {PTC_SIG_EXTRA_REFUSED, "(n :int) -> :int", "{\"n\":\"1\",\"m\":2,\"a b\":3}",
         "m: unexpected field; there is n; [\"a b\"]: unexpected field",
         "n: took string \"1\" as int"},
        {PTC_SIG_EXTRA_REFUSED, "(priority :int?, title :string?) -> :int", "{\"prio\":1}",
         "prio: unexpected field; did you mean priority? There are priority, title", ""},
        {PTC_SIG_EXTRA_REFUSED, "(rows [{id :int}]) -> :int", "{\"rows\":[{\"id\":1,\"x\":1}]}",
         "rows[0].x: unexpected field; there is id", ""},
        {PTC_SIG_EXTRA_REFUSED, "(user_id :int) -> :int", "{\"user-id\":1}", "{\"user-id\":1}", ""},
        {PTC_SIG_EXTRA_KEPT, "(n :int, m {a :int}?) -> :int",
         "{\"n\":\"1\",\"m\":{\"a\":\"2\",\"b\":3},\"x\":4}",
         "{\"n\":1,\"m\":{\"a\":2,\"b\":3},\"x\":4}",
         "n: took string \"1\" as int; m.a: took string \"2\" as int"},
        {PTC_SIG_EXTRA_WARNED, "(n :int) -> :int", "{\"n\":\"1\",\"x\":4}", "{\"n\":1,\"x\":4}",
         "n: took string \"1\" as int; x: unexpected field; there is n"},
        {PTC_SIG_EXTRA_LEFT_OUT, "(n :int, m {a :int}?) -> :int",
         "{\"n\":1,\"m\":{\"a\":2,\"b\":3},\"x\":4}", "{\"n\":1,\"m\":{\"a\":2}}", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const PtcSig *s = sig(cases[i].sig);
        PtcValue v = parse(cases[i].args);
        PtcValue to =
            ptc_sig_input(&h.heap, s, PTC_SIG_ENABLED, cases[i].how, v, &warnings, &errors);
        CHECK_STR(to == PTC_NONE ? told(&errors) : write(to), cases[i].got);
        CHECK_STR(told(&warnings), cases[i].warned);
    }
}

/* Names that have no room in a message are dots, and a message never has more than its room. */
static void test_many_fields(void)
{
    char text[40000] = "(";
    for (int i = 0; i < 900; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "parameter_number_%d :int?, ", i);
    strcat(text, "z :int?) -> :int");
    PtcValue v = parse("{\"parameter_nunber_7\":1}");
    CHECK(ptc_sig_input(&h.heap, sig(text), PTC_SIG_ENABLED, PTC_SIG_EXTRA_REFUSED, v, &warnings,
                        &errors) == PTC_NONE);
    CHECK_STR(told(&errors),
              "parameter_nunber_7: unexpected field; did you mean parameter_number_7? There are "
              "parameter_number_0, parameter_number_1, parameter_number_2, parameter_number_3, "
              "parameter_number_4, parameter_number_5, parameter_number_6, ...");
}

/* A run whose time is up gets no answer, and no issue that would blame the value. */
static void test_stop(void)
{
    PtcValue list = ptc_range_new(&h.heap, 0, 1, 100000);
    ptc_budget_halt(&h.budget, PTC_STOP_TIMEOUT);
    CHECK(!ptc_sig_validate(&h.heap, type("[:int]"), false, list, &errors));
    CHECK(h.budget.stop == PTC_STOP_TIMEOUT && errors.total == 0);
    CHECK(ptc_sig_coerce(&h.heap, type("[:float]"), PTC_SIG_EXTRA_REFUSED, list, &warnings,
                         &errors) == PTC_NONE);
    CHECK(errors.total == 0);
    h.budget.stop = PTC_STOP_NONE;
}

/* --------------------------------------------------------------------------------- schema */

static const char *schema_of(const char *text)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    ptc_sig_schema_result(&buf, type(text));
    return keep(&buf);
}

/* The type of a JSON Schema as a signature has it, which parses back to the same. */
static const char *imported_text(const char *json)
{
    PtcSigError e;
    const PtcSigType *t;
    PtcBuf buf;
    CHECK(ptc_sig_import(&arena, &h.heap, parse(json), &t, &e));
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    ptc_sig_type_print(&buf, t);
    const char *text = keep(&buf);
    CHECK(ptc_sig_type_equal(type(text), t));
    return text;
}

static const char *imported(const char *json)
{
    PtcSigError e;
    const PtcSigType *t;
    PtcBuf buf;
    if (!ptc_sig_import(&arena, &h.heap, parse(json), &t, &e)) {
        snprintf(out, sizeof out, "%s", e.message);
        return out;
    }
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    ptc_sig_type_json(&buf, t);
    return keep(&buf);
}

static void test_schema(void)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    ptc_sig_schema_tool(&buf, "get-it", 6, "Gets.", 5, sig("(a :any, b :datetime?) -> :int"));
    CHECK_STR(keep(&buf),
              "{\"type\":\"function\",\"function\":{\"name\":\"get_it\",\"description\":"
              "\"Gets.\",\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":{},"
              "\"b\":{\"type\":\"string\"}},\"required\":[\"a\"],"
              "\"additionalProperties\":false}}}");
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    ptc_sig_schema_params(&buf, NULL, false);
    CHECK_STR(keep(&buf), "{\"type\":\"object\",\"properties\":{}}");
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    ptc_sig_schema_params(&buf, sig("(m {a :int}) -> :int"), true);
    CHECK_STR(keep(&buf), "{\"type\":\"object\",\"properties\":{\"m\":{\"type\":\"object\","
                          "\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":[\"a\"]}},"
                          "\"required\":[\"m\"]}");
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    ptc_sig_schema_params(&buf, sig("() -> :int"), false);
    CHECK_STR(keep(&buf), "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}");
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    ptc_sig_schema_params(&buf, sig(":int"), false);
    CHECK_STR(keep(&buf), "{\"type\":\"object\",\"properties\":{}}");
    CHECK_STR(
        imported("{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"array\",\"items\":{"
                 "\"type\":\"number\"}},\"a\":{\"type\":\"string\"}},\"required\":[\"b\"]}"),
        "{\"map\":[{\"name\":\"a\",\"type\":{\"optional\":\"string\"}},{\"name\":\"b\",\"type\":"
        "{\"list\":\"float\"}}]}");
    CHECK_STR(imported("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":{"
                       "\"enum\":[1]}}}}"),
              "properties.a.items: a signature cannot say what string \"enum\" means here");
    CHECK_STR(schema_of("{a [:int]?, b {c :int}?, d [[:int]?]}"),
              "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":"
              "\"integer\"}},"
              "\"b\":{\"type\":\"object\",\"properties\":{\"c\":{\"type\":\"integer\"}},"
              "\"required\":[\"c\"],"
              "\"additionalProperties\":false},\"d\":{\"type\":\"array\",\"items\":{\"type\":"
              "\"array\",\"items\":"
              "{\"type\":\"integer\"}}}},\"required\":[\"d\"],\"additionalProperties\":false}");
    CHECK_STR(schema_of("[:int]?"), "{\"type\":\"object\",\"properties\":{\"items\":{\"type\":"
                                    "\"array\",\"items\":{\"type\":\"integer\"}}},"
                                    "\"required\":[],\"additionalProperties\":false}");
    CHECK_STR(
        imported_text("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":{"
                      "\"type\":\"integer\"}},\"b\":{\"type\":\"object\",\"properties\":{}}}}"),
        "{a [:int]?, b {}?}");
    CHECK_STR(imported("{\"type\":\"object\",\"properties\":{},\"required\":[\"a\"]}"),
              "required: there is no property for string \"a\"");
    CHECK_STR(imported("{\"type\":[\"string\",\"null\"]}"),
              "\"type\" is string, integer, number, boolean, array or object, not list");
}

static void test_deep_schema(void)
{
    static char text[40 * (PTC_SIG_MAX_DEPTH + 1)];
    size_t n = 0;
    for (int i = 0; i < PTC_SIG_MAX_DEPTH; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "{\"type\":\"array\",\"items\":");
    n += (size_t)snprintf(text + n, sizeof text - n, "{\"type\":\"string\"}");
    memset(text + n, '}', PTC_SIG_MAX_DEPTH);
    CHECK_STR(imported(text), "the schema is nested deeper than 200");
}

/* ------------------------------------------------------------------------ threads, memory */

static const PtcSig *shared;

/* Each thread has a heap of its own; the signature is common. */
static void *check_shared(void *unused)
{
    (void)unused;
    CheckHeap mine;
    PtcSigIssues bad, said;
    PtcJsonError e;
    const char *json = "{\"id\":\"1\",\"tags\":[\"a\",7],\"user-name\":\"x\"}";
    bool as_expected = true;
    check_heap_init(&mine);
    for (int i = 0; i < 200; i++) {
        ptc_sig_issues_init(&bad, &mine.mem);
        ptc_sig_issues_init(&said, &mine.mem);
        PtcValue v = ptc_json_parse(&mine.heap, json, strlen(json), &e);
        PtcValue to =
            ptc_sig_coerce(&mine.heap, &shared->params, PTC_SIG_EXTRA_REFUSED, v, &said, &bad);
        as_expected = as_expected && to == PTC_NONE && bad.total == 1 && said.total == 1;
        ptc_sig_issues_deinit(&bad);
        ptc_sig_issues_deinit(&said);
    }
    ptc_heap_deinit(&mine.heap);
    ptc_pool_deinit(&mine.pool);
    return as_expected && atomic_load(&mine.mem.used) == 0 ? (void *)(uintptr_t)&shared : NULL;
}

static void test_threads(void)
{
    pthread_t threads[4];
    void *ok;
    shared = sig("(id :int, tags [:string], user_name :string) -> :any");
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, check_shared, NULL) == 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &ok);
        CHECK(ok != NULL);
    }
}

/* Everything once, with allocation n failing; true when it went through. */
static bool run_short(uint64_t n)
{
    static const char text[] =
        "(id :int, at :datetime, rows [{a-b :float, k :keyword}]) -> {s :string}";
    static const char json[] = "{\"id\":\"x\",\"at\":\"2024-02-29T10:00:00Z\",\"rows\":[{\"a_b\":1,"
                               "\"k\":\"z\"},{\"k\":1}]}";
    static const char schema[] = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\","
                                 "\"items\":{\"type\":\"string\"}}}}";
    CheckHeap c;
    PtcArena a;
    PtcSigIssues bad, said;
    PtcSigError e;
    PtcJsonError je;
    PtcBuf buf;
    const PtcSig *s;
    const PtcSigType *t;
    check_heap_init(&c);
    ptc_arena_init(&a, &c.mem);
    ptc_sig_issues_init(&bad, &c.mem);
    ptc_sig_issues_init(&said, &c.mem);
    ptc_buf_init(&buf, &c.mem, SIZE_MAX / 2);
    ptc_mem_fail_at(&c.mem, n);
    bool ok = ptc_sig_parse(&a, text, strlen(text), &s, &e);
    CHECK(ok || e.stopped);
    PtcValue v = ok ? ptc_json_parse(&c.heap, json, strlen(json), &je) : PTC_NONE;
    if (v != PTC_NONE) {
        CHECK(!ptc_sig_validate(&c.heap, &s->params, true, v, &bad));
        CHECK(ptc_sig_coerce(&c.heap, &s->params, PTC_SIG_EXTRA_REFUSED, v, &said, &bad) ==
              PTC_NONE);
        ok = ptc_sig_issues_json(&buf, &bad) && ptc_sig_print(&buf, s) &&
             ptc_sig_schema_params(&buf, s, false) && bad.count == bad.total &&
             said.count == said.total;
        v = ptc_sig_atomize(&c.heap, &s->params, v);
    }
    ok = ok && v != PTC_NONE && (v = ptc_json_parse(&c.heap, schema, strlen(schema), &je));
    if (ok) {
        ok = ptc_sig_import(&a, &c.heap, v, &t, &e);
        CHECK(ok || e.stopped);
    }
    ptc_buf_deinit(&buf);
    ptc_sig_issues_deinit(&bad);
    ptc_sig_issues_deinit(&said);
    ptc_arena_deinit(&a);
    check_heap_deinit(&c);
    return ok;
}

static void test_torture(void)
{
    uint64_t n = 1;
    while (n < 1000 && !run_short(n))
        n++;
    CHECK(n > 4 && n < 1000 && run_short(0));
}

int main(void)
{
    check_heap_init(&h);
    ptc_arena_init(&arena, &h.mem);
    ptc_sig_issues_init(&errors, &h.mem);
    ptc_sig_issues_init(&warnings, &h.mem);
    test_errors();
    test_limits();
    test_print();
    test_example();
    test_validate();
    test_optional_parts();
    test_many_issues();
    test_large_maps();
    test_coerce();
    test_long_numbers();
    test_no_copy();
    test_atomize();
    test_whole();
    test_modes();
    test_extra();
    test_many_fields();
    test_stop();
    test_schema();
    test_deep_schema();
    test_threads();
    test_torture();
    ptc_sig_issues_deinit(&errors);
    ptc_sig_issues_deinit(&warnings);
    ptc_arena_deinit(&arena);
    check_heap_deinit(&h);
    return check_done("sig");
}
