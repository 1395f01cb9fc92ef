/* SPDX-License-Identifier: MIT
 * test_api.c - ptc.h, first part: arguments, host values, contexts, results, prints, errors.  Sessions, batch
 * requests and whatever goes wrong from outside are in test_api_session.c. */
#include "api_help.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/utf8.h"

/* ----------------------------------------------------------------------------- arguments */

static void test_structs(void)
{
    PtcLimits limits;
    PtcOptions options;
    memset(&limits, 0x55, sizeof limits);
    ptc_limits_init(&limits, offsetof(PtcLimits, loop_limit));
    CHECK(limits.size == offsetof(PtcLimits, loop_limit));
    CHECK(limits.memory_bytes == PTC_UNSET);
    CHECK(limits.loop_limit == 0x5555555555555555 && limits.result_bytes == 0x5555555555555555);
    ptc_options_init(&options, sizeof options);
    options.limits = &limits; /* an older caller's: what lies beyond its size is not read */
    Ptc *ptc = ptc_new(&options);
    CHECK(ptc && ptc->limits.loop_limit == (int64_t)1 << 62 &&
          ptc->limits.memory_bytes == 10 << 20);
    PtcRun run = a_run("(+ 1 2)", (PtcSession *)(uintptr_t)0x55, 0);
    PtcOutcome *o = NULL;
    run.size = offsetof(PtcRun, session);
    run.limits = (const PtcLimits *)(uintptr_t)0x55;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK && ptc_outcome_ok(o));
    ptc_outcome_free(o);
    options.size = offsetof(PtcOptions, float_precision);
    options.clock_ms = (int64_t(*)(void *))(uintptr_t)0x55;
    end_engine(ptc);
    ptc = ptc_new(&options);
    EXPECT(ptc, NULL, "(/ 1.0 3)", "0.3333333333333333");
    end_engine(ptc);
}

static void test_refused(void)
{
    PtcOptions options;
    PtcLimits limits;
    ptc_options_init(&options, sizeof options);
    ptc_limits_init(&limits, sizeof limits);
    options.limits = &limits;
    for (int64_t *p = &limits.timeout_ms; (char *)p < (char *)(&limits + 1); p++) {
        for (int i = 0; i < 3; i++) {
            *p = (const int64_t[]){-2, INT64_MIN, INT64_MAX}[i];
            CHECK(ptc_new(&options) == NULL);
        }
        *p = PTC_UNSET;
    }
    limits.size = 0;
    CHECK(ptc_new(&options) == NULL);
    limits.size = sizeof limits;
    options.float_precision = 16;
    CHECK(ptc_new(&options) == NULL);
    options.size = 0;
    CHECK(ptc_new(&options) == NULL);
}

static void test_bad_runs(void)
{
    PtcLimits limits;
    Ptc *ptc = patient_engine(), *other = patient_engine();
    PtcSession *theirs = ptc_session_new(other);
    PtcRun run = a_run("1", theirs, 0);
    PtcOutcome *o = (PtcOutcome *)(uintptr_t)0x55;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_BAD_ARGUMENT && o == NULL);
    run = a_run("1", NULL, ptc_make_bool(true));
    CHECK(ptc_eval(ptc, &run, &o) == PTC_BAD_ARGUMENT);
    run = a_run("1", NULL, 0);
    CHECK(ptc_eval(ptc, &run, NULL) == PTC_BAD_ARGUMENT);
    CHECK(ptc_eval(ptc, NULL, &o) == PTC_BAD_ARGUMENT);
    CHECK(ptc_eval(NULL, &run, &o) == PTC_BAD_ARGUMENT);
    run.size = 0;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_BAD_ARGUMENT);
    run = a_run("1", NULL, 0);
    run.program = NULL;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_BAD_ARGUMENT);
    ptc_limits_init(&limits, sizeof limits);
    limits.max_depth = -7;
    run = a_run("1", NULL, 0);
    run.limits = &limits;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_BAD_ARGUMENT && o == NULL);
    limits.max_depth = 20000; /* deeper than the engine was made for */
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK && ptc_outcome_ok(o));
    ptc_outcome_free(o);
    ptc_session_free(theirs);
    ptc_free(NULL);
    ptc_session_free(NULL);
    ptc_data_free(NULL);
    ptc_outcome_free(NULL);
    ptc_cancel(NULL);
    CHECK(!ptc_outcome_ok(NULL) && !ptc_outcome_value(NULL) && !ptc_outcome_control(NULL));
    CHECK(!ptc_outcome_text(NULL, NULL, NULL) && !ptc_outcome_json(NULL, NULL));
    CHECK(ptc_session_bytes(NULL) == 0 && ptc_session_count(NULL) == 0);
    CHECK(ptc_outcome_print_count(NULL) == 0 && ptc_outcome_error_count(NULL) == 0);
    CHECK(ptc_session_new(NULL) == NULL && ptc_data_new(NULL, 1) == NULL &&
          ptc_data_new(ptc, -2) == NULL);
    CHECK_STR(ptc_version(), PTC_VERSION);
    end_engine(ptc);
    end_engine(other);
}

/* --------------------------------------------------------------------------- host values */

static void test_numbers(PtcData *d)
{
    static const int64_t ints[] = {
        0,         1,         -1,           INT32_MAX,       INT32_MIN,
        1LL << 61, 1LL << 62, -(1LL << 62), (1LL << 62) - 1, -(1LL << 62) - 1,
        INT64_MAX, INT64_MIN, INT64_MIN + 1};
    static const double floats[] = {0.0,          -0.0,         1.5,        -1e300,    DBL_MAX,
                                    DBL_MIN,      DBL_TRUE_MIN, INFINITY,   -INFINITY, 1e-300,
                                    123456789.25, -DBL_MAX,     DBL_EPSILON};
    int64_t n;
    double x;
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++) {
        PtcValue v = ptc_make_int(d, ints[i]);
        CHECK(ptc_value_type(v) == PTC_TYPE_INT && ptc_value_int(v, &n) && n == ints[i]);
        CHECK(ptc_value_float(v, &x) && x == (double)ints[i]);
    }
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        PtcValue v = ptc_make_float(d, floats[i]);
        CHECK(ptc_value_type(v) == PTC_TYPE_FLOAT && ptc_value_float(v, &x));
        CHECK(memcmp(&x, &floats[i], sizeof x) == 0 && !ptc_value_int(v, &n));
    }
    CHECK(ptc_value_float(ptc_make_float(d, NAN), &x) && isnan(x));
    PtcValue big = ptc_make_json(d, "-9223372036854775809", 20, NULL, 0);
    CHECK(ptc_value_type(big) == PTC_TYPE_BIGINT && !ptc_value_int(big, &n));
    CHECK(ptc_value_float(big, &x) && x == -9223372036854775808.0);
    CHECK(ptc_make_int(NULL, 1) == 0 && ptc_make_float(NULL, 1) == 0);
}

static void test_atoms(PtcData *d)
{
    bool b = false;
    const char *text;
    size_t len;
    CHECK(ptc_value_type(0) == PTC_TYPE_NONE && ptc_value_type(ptc_make_nil()) == PTC_TYPE_NIL);
    CHECK(ptc_value_type(ptc_make_bool(true)) == PTC_TYPE_BOOL);
    CHECK(ptc_value_bool(ptc_make_bool(true), &b) && b &&
          ptc_value_bool(ptc_make_bool(false), &b) && !b);
    CHECK(!ptc_value_bool(ptc_make_nil(), &b) && !ptc_value_string(ptc_make_nil(), &text, &len));
    PtcValue s = ptc_make_string(d, "a\0\xc3\xa9\xf0\x9f\x91\xa9", 8);
    CHECK(ptc_value_type(s) == PTC_TYPE_STRING && ptc_value_string(s, &text, &len));
    CHECK(len == 8 && memcmp(text, "a\0\xc3\xa9\xf0\x9f\x91\xa9", 9) == 0 &&
          ptc_value_count(s) == 4);
    PtcValue k = ptc_make_keyword(d, "key-word", 8);
    CHECK(ptc_value_type(k) == PTC_TYPE_KEYWORD && ptc_value_string(k, &text, &len) && len == 8);
    CHECK(ptc_value_string(ptc_make_string(d, NULL, 0), &text, &len) && len == 0);
    static const char *const bad[] = {
        "\x80", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "ok\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(ptc_make_string(d, bad[i], strlen(bad[i])) == 0);
        CHECK(ptc_make_keyword(d, bad[i], strlen(bad[i])) == 0);
    }
    CHECK(ptc_make_string(NULL, "a", 1) == 0 && ptc_make_keyword(NULL, "a", 1) == 0);
    CHECK(ptc_value_count(ptc_make_nil()) == 0 && ptc_value_at(k, 0) == 0 &&
          ptc_value_get(k, "a", 1) == 0);
}

/* Vectors and maps of n elements, read back by position and by key. */
static void check_size(PtcData *d, size_t n)
{
    PtcValue *items = malloc((2 * n + 1) * sizeof *items);
    char name[32];
    int64_t got;
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "k-%zu", i);
        items[2 * i] = i % 2 ? ptc_make_string(d, name, strlen(name))
                             : ptc_make_keyword(d, name, strlen(name));
        items[2 * i + 1] = ptc_make_int(d, (int64_t)i);
    }
    PtcValue vec = ptc_make_vector(d, items, 2 * n), map = ptc_make_map(d, items, n);
    CHECK(ptc_value_type(vec) == PTC_TYPE_SEQUENCE && ptc_value_count(vec) == 2 * n);
    CHECK(ptc_value_type(map) == PTC_TYPE_MAP && ptc_value_count(map) == n);
    CHECK(ptc_value_at(vec, 2 * n) == 0 && ptc_value_at(map, n) == 0 &&
          ptc_value_key_at(map, n) == 0);
    CHECK(ptc_value_key_at(vec, 0) == 0 && ptc_value_get(vec, "k-0", 3) == 0 &&
          ptc_value_get(map, "no", 2) == 0);
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, i % 3 ? "k-%zu" : "k_%zu",
                 i); /* a key may be spelt with _ for - */
        CHECK(ptc_value_at(vec, 2 * i) == items[2 * i] && ptc_value_key_at(map, i) == items[2 * i]);
        CHECK(ptc_value_int(ptc_value_at(map, i), &got) && got == (int64_t)i);
        CHECK(ptc_value_int(ptc_value_get(map, name, strlen(name)), &got) && got == (int64_t)i);
    }
    free(items);
}

static void test_collections(PtcData *d)
{
    static const size_t sizes[] = {0, 1, 2, 16, 17, 32, 33, 100, 513, 1025, 1100};
    int64_t n = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        check_size(d, sizes[i]);
    PtcValue pairs[] = {ptc_make_string(d, "a_b", 3),  ptc_make_int(d, 1),
                        ptc_make_keyword(d, "a-b", 3), ptc_make_int(d, 2),
                        ptc_make_string(d, "a_b", 3),  ptc_make_int(d, 3)};
    PtcValue map = ptc_make_map(d, pairs, 3);
    CHECK(ptc_value_count(map) ==
          2); /* a later equal key wins; the exact spelling is found first */
    CHECK(ptc_value_int(ptc_value_get(map, "a_b", 3), &n) && n == 3);
    CHECK(ptc_value_int(ptc_value_get(map, "a-b", 3), &n) && n == 2);
    CHECK(ptc_make_vector(NULL, pairs, 1) == 0 && ptc_make_map(NULL, pairs, 1) == 0);
}

static void test_foreign(Ptc *ptc, PtcData *d)
{
    Ptc *other_engine = patient_engine();
    PtcData *other = ptc_data_new(ptc, PTC_UNSET), *theirs = ptc_data_new(other_engine, PTC_UNSET);
    PtcOutcome *o = start(ptc, "{:a [1 2]}", NULL, 0);
    PtcValue foreign[] = {ptc_make_string(other, "x", 1), ptc_make_string(theirs, "x", 1),
                          ptc_outcome_value(o), 0};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        PtcValue pair[] = {ptc_make_nil(), foreign[i]};
        CHECK(ptc_make_vector(d, &foreign[i], 1) == 0 && ptc_make_map(d, pair, 1) == 0);
    }
    PtcOutcome *refused = NULL;
    PtcValue contexts[] = {ptc_make_json(theirs, "{}", 2, NULL, 0), ptc_outcome_value(o)};
    for (size_t i = 0; i < 2; i++) {
        PtcRun run = a_run("1", NULL, contexts[i]);
        CHECK(ptc_eval(ptc, &run, &refused) == PTC_BAD_ARGUMENT);
    }
    ptc_outcome_free(o);
    ptc_data_free(other);
    ptc_data_free(theirs);
    end_engine(other_engine);
}

static void test_json_values(Ptc *ptc, PtcData *d)
{
    static const char *const bad[] = {"",         "{",     "[1,]",      "nul",
                                      "\"\xff\"", "1e999", "{\"a\" 1}", "1 2"};
    char error[8], whole[200];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        error[0] = 1;
        CHECK(ptc_make_json(d, bad[i], strlen(bad[i]), error, sizeof error) == 0);
        CHECK(error[0] && memchr(error, 0, sizeof error));
        CHECK(ptc_make_json(d, bad[i], strlen(bad[i]), NULL, 0) == 0);
    }
    CHECK(ptc_make_json(NULL, "1", 1, error, sizeof error) == 0);
    PtcData *small = ptc_data_new(ptc, 100000);
    char *text = malloc(200001);
    memset(text, 'x', 200001);
    text[0] = text[200000] = '"';
    CHECK(ptc_make_json(small, text, 200001, whole, sizeof whole) == 0 &&
          strstr(whole, "100000 bytes"));
    CHECK(ptc_make_string(small, text + 1, 199999) == 0);
    CHECK(ptc_make_string(small, text + 1, 1000) != 0); /* the failure is not held against it */
    free(text);
    ptc_data_free(small);
}

static void test_values(void)
{
    Ptc *ptc = patient_engine();
    PtcData *d = ptc_data_new(ptc, PTC_UNSET);
    test_numbers(d);
    test_atoms(d);
    test_collections(d);
    test_foreign(ptc, d);
    test_json_values(ptc, d);
    ptc_data_free(d);
    end_engine(ptc);
}

/* -------------------------------------------------------------------------------- context */

static void test_context(void)
{
    static const char json[] =
        "{\"user-id\":7,\"rows\":[{\"first_name\":\"A\",\"n\":1},{\"first_name\":\"B\",\"n\":2.5}],"
        "\"big\":123456789012345678901234567890,\"deep\":{\"x\":[null,true]},\"\":0}";
    Ptc *ptc = patient_engine();
    PtcData *d = ptc_data_new(ptc, PTC_UNSET);
    PtcValue c = ptc_make_json(d, json, strlen(json), NULL, 0);
    EXPECT_WITH(ptc, c, "data/user-id", "7");
    EXPECT_WITH(ptc, c, "data/user_id", "7");
    EXPECT_WITH(ptc, c, "data/missing", "nil");
    EXPECT_WITH(ptc, c, "(map :first-name data/rows)", "[\"A\" \"B\"]");
    EXPECT_WITH(ptc, c, "(let [{:keys [x]} data/deep] x)", "[nil true]");
    EXPECT_WITH(ptc, c, "(+ 1 data/big)", "123456789012345678901234567891");
    EXPECT_WITH(ptc, c, "(assoc (first data/rows) :n 5)", "{\"first_name\" \"A\", \"n\" 5}");
    EXPECT_WITH(ptc, c, "(def data/rows 1)", "!invalid_form 1:6");
    EXPECT_WITH(ptc, ptc_make_nil(), "data/user-id", "nil");
    EXPECT(ptc, NULL, "data/user-id", "nil");
    ptc_data_free(d);
    end_engine(ptc);
}

/* ------------------------------------------------------------------------------- outcomes */

static void check_json(Ptc *ptc, const char *program, const char *want)
{
    size_t len = 0;
    PtcOutcome *o = start(ptc, program, NULL, 0);
    const char *json = ptc_outcome_json(o, &len);
    CHECK_STR(json ? json : "none", want);
    CHECK(!json || (len == strlen(want) && json == ptc_outcome_json(o, NULL)));
    ptc_outcome_free(o);
}

static void test_results(void)
{
    Ptc *ptc = patient_engine();
    EXPECT(ptc, NULL, "", "nil");
    EXPECT(ptc, NULL, "[1 2.0 \"a\\nb\" :k nil true #{1} {:a [()]} inc (fn f [] 1)]",
           "[1 2.0 \"a\\nb\" :k nil true #{1} {:a [[]]} #fn[inc] #fn[f]]");
    check_json(ptc, "{:a [1 2.5 nil true \"x\\u0000\"] \"b\" #{1}}",
               "{\"a\":[1,2.5,null,true,\"x\\u0000\"],\"b\":[1]}");
    check_json(ptc, "123456789012345678901234567890", "123456789012345678901234567890");
    check_json(ptc, "inc", "none");
    check_json(ptc, "(fn [] 1)", "none");
    check_json(ptc, "(/ 1.0 0)", "none");
    check_json(ptc, "(+ 1", "none");
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    options.float_precision = 2;
    Ptc *rounded = ptc_new(&options);
    check_json(rounded, "[(/ 2.0 3) 1.5]", "[0.67,1.5]");
    EXPECT(rounded, NULL, "[(/ 2.0 3) 1.5]", "[0.67 1.5]");
    end_engine(rounded);
    end_engine(ptc);
}

static void test_types(void)
{
    static const struct {
        const char *program;
        PtcType type;
    } cases[] = {{"nil", PTC_TYPE_NIL},
                 {"false", PTC_TYPE_BOOL},
                 {"1", PTC_TYPE_INT},
                 {"1.5", PTC_TYPE_FLOAT},
                 {"(* 4 9223372036854775807)", PTC_TYPE_BIGINT},
                 {"\"\"", PTC_TYPE_STRING},
                 {":k", PTC_TYPE_KEYWORD},
                 {"[1]", PTC_TYPE_SEQUENCE},
                 {"(range 9)", PTC_TYPE_SEQUENCE},
                 {"(cons 1 [2])", PTC_TYPE_SEQUENCE},
                 {"{}", PTC_TYPE_MAP},
                 {"#{1 2}", PTC_TYPE_SET},
                 {"inc", PTC_TYPE_FUNCTION},
                 {"(fn [] 1)", PTC_TYPE_FUNCTION},
                 {"(comp inc dec)", PTC_TYPE_FUNCTION},
                 {"(def x 1)", PTC_TYPE_OTHER},
                 {"(fail 1)", PTC_TYPE_NONE}};
    Ptc *ptc = patient_engine();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        PtcOutcome *o = start(ptc, cases[i].program, NULL, 0);
        CHECK(ptc_value_type(ptc_outcome_value(o)) == cases[i].type);
        ptc_outcome_free(o);
    }
    int64_t n;
    PtcOutcome *o = start(
        ptc, "[(cons 7 (range 3)) (reduce dissoc (zipmap (range 40) (range 40)) (range 5)) #{9}]",
        NULL, 0);
    PtcValue v = ptc_outcome_value(o), list = ptc_value_at(v, 0), map = ptc_value_at(v, 1);
    CHECK(ptc_value_count(list) == 4 && ptc_value_int(ptc_value_at(list, 3), &n) && n == 2);
    CHECK(ptc_value_count(map) == 35 && ptc_value_int(ptc_value_key_at(map, 0), &n) && n == 5);
    CHECK(ptc_value_int(ptc_value_at(map, 34), &n) && n == 39);
    CHECK(ptc_value_int(ptc_value_at(ptc_value_at(v, 2), 0), &n) && n == 9);
    ptc_outcome_free(o);
    end_engine(ptc);
}

static void test_cut(void)
{
    PtcLimits limits;
    PtcRun run = a_run("[\"\xc3\xa9\xc3\xa9\xc3\xa9\" 1234567890]", NULL, 0);
    Ptc *ptc = patient_engine();
    ptc_limits_init(&limits, sizeof limits);
    run.limits = &limits;
    for (limits.result_bytes = 0; limits.result_bytes < 24; limits.result_bytes++) {
        PtcOutcome *o = NULL;
        size_t len = 99, json_len;
        bool cut = false;
        CHECK(ptc_eval(ptc, &run, &o) == PTC_OK);
        const char *text = ptc_outcome_text(o, &len, &cut), *json = ptc_outcome_json(o, &json_len);
        CHECK(text && len <= (size_t)limits.result_bytes && ptc_utf8_valid(text, len) &&
              text[len] == 0);
        CHECK(cut == (limits.result_bytes < 21) && (json != NULL) == (limits.result_bytes >= 21));
        CHECK(memcmp(text, run.program, len) == 0);
        ptc_outcome_free(o);
    }
    end_engine(ptc);
}

static PtcOutcome *check_only(Ptc *ptc, PtcSession *session, const char *program)
{
    PtcRun run = a_run(program, NULL, 0);
    PtcOutcome *o = NULL;
    run.session = session;
    run.signature = ":int";
    run.signature_len = 4;
    CHECK(ptc_check(ptc, &run, &o) == PTC_OK && o);
    return o;
}

/* Nothing runs and nothing is remembered, whatever is found. */
static void test_only_check(void)
{
    Ptc *ptc = ptc_new(NULL);
    PtcSession *session = ptc_session_new(ptc);
    PtcError e = {.size = sizeof e};
    size_t before = ptc_session_bytes(session);
    PtcOutcome *o = check_only(ptc, session, "(def x 1) (println x) (loop [] (recur)) 7");
    CHECK(ptc_outcome_ok(o) && ptc_value_type(ptc_outcome_value(o)) == PTC_TYPE_NIL);
    CHECK(ptc_outcome_print_count(o) == 0 && ptc_session_count(session) == 0);
    ptc_outcome_free(o);
    o = check_only(ptc, session, "(def x 1) (str x)");
    CHECK(!ptc_outcome_ok(o) && ptc_outcome_error(o, 0, &e));
    CHECK_STR(e.phase, "check");
    CHECK_STR(e.kind, "validation_error");
    ptc_outcome_free(o);
    o = check_only(ptc, session, "(inc x)"); /* it was never defined */
    CHECK(ptc_outcome_error(o, 0, &e) && strcmp(e.kind, "unbound_var") == 0);
    CHECK(ptc_session_bytes(session) == before);
    ptc_outcome_free(o);
    CHECK(ptc_check(ptc, NULL, &o) == PTC_BAD_ARGUMENT);
    CHECK(ptc_check(NULL, &(PtcRun){.size = sizeof(PtcRun)}, &o) == PTC_BAD_ARGUMENT);
    ptc_session_free(session);
    ptc_free(ptc);
}

/* Told of runs that went well and of those that did not; a host may know fewer fields. */
static void test_warnings(void)
{
    Ptc *ptc = ptc_new(NULL);
    PtcWarning w = {.size = sizeof w}, older;
    PtcOutcome *o = start(ptc, "1 + 2", NULL, 0);
    CHECK(ptc_outcome_ok(o) && ptc_outcome_warning_count(o) == 1 && ptc_outcome_warning(o, 0, &w));
    CHECK_STR(w.kind, "dropped_value");
    CHECK_STR(w.message, "the value of 1 is not used");
    CHECK_STR(w.hint, "the function comes first: (+ 1 2)");
    CHECK_STR(w.phase, "check");
    CHECK(w.message_len == strlen(w.message) && w.hint_len == strlen(w.hint) && !w.earlier);
    CHECK(w.line == 1 && w.column == 1);
    memset(&older, 1, sizeof older);
    older.size = offsetof(PtcWarning, hint);
    CHECK(ptc_outcome_warning(o, 0, &older) && older.message_len == w.message_len);
    CHECK(older.line == 0x01010101);
    older.size = 0;
    CHECK(!ptc_outcome_warning(o, 0, &older) && !ptc_outcome_warning(o, 1, &w));
    CHECK(!ptc_outcome_warning(o, 0, NULL) && !ptc_outcome_warning(NULL, 0, &w));
    CHECK(ptc_outcome_warning_count(NULL) == 0);
    ptc_outcome_free(o);
    o = start(ptc, "1 (/ 1 0)", NULL, 0);
    CHECK(!ptc_outcome_ok(o) && ptc_outcome_warning_count(o) == 1);
    ptc_outcome_free(o);
    o = start(ptc, "1 (foo)", NULL, 0); /* never run */
    CHECK(!ptc_outcome_ok(o) && ptc_outcome_warning_count(o) == 1);
    ptc_outcome_free(o);
    end_engine(ptc);
}

/* Why a result has no JSON, or too much of it. */
static void test_json_problem(void)
{
    Ptc *ptc = ptc_new(NULL);
    PtcLimits limits;
    size_t len = 0;
    bool too_long = true;
    PtcOutcome *o = start(ptc, "{:rows [{:f inc}]}", NULL, 0);
    CHECK_STR(ptc_outcome_json_problem(o, &len, &too_long), "a function at rows[0].f");
    CHECK(len == 23 && !too_long && ptc_outcome_json(o, NULL) == NULL);
    ptc_outcome_free(o);
    o = start(ptc, "[1 2]", NULL, 0);
    CHECK(ptc_outcome_json_problem(o, NULL, NULL) == NULL && ptc_outcome_json(o, NULL));
    ptc_outcome_free(o);
    o = start(ptc, "(/ 1 0)", NULL, 0);
    CHECK(ptc_outcome_json_problem(o, NULL, NULL) == NULL);
    ptc_outcome_free(o);
    ptc_limits_init(&limits, sizeof limits);
    limits.result_bytes = 8;
    PtcRun run = a_run("[1 2 3 4 5 6]", NULL, 0);
    run.limits = &limits;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK);
    CHECK_STR(ptc_outcome_json_problem(o, NULL, &too_long), "its JSON is longer than 8 bytes");
    CHECK(too_long && ptc_outcome_json_problem(NULL, NULL, NULL) == NULL);
    ptc_outcome_free(o);
    end_engine(ptc);
}

/* The time of a run: the host's, or the system's for a host that knows no such field. */
static void test_now(void)
{
    Ptc *ptc = ptc_new(NULL);
    PtcOutcome *o;
    PtcRun run = a_run("(System/currentTimeMillis)", NULL, 0);
    int64_t ms = 0;
    run.now_ms = 1709202030500;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK && ptc_value_int(ptc_outcome_value(o), &ms));
    CHECK(ms == 1709202030500);
    ptc_outcome_free(o);
    run.size = offsetof(PtcRun, now_ms);
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK && ptc_value_int(ptc_outcome_value(o), &ms));
    CHECK(ms > 1760000000000);
    ptc_outcome_free(o);
    run.size = sizeof run;
    run.now_ms = INT64_MAX;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_BAD_ARGUMENT);
    run.now_ms = INT64_MIN;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_BAD_ARGUMENT);
    end_engine(ptc);
}

/* A line in pieces is cut where a line in one piece would be. */
static void test_open_lines(void)
{
    Ptc *ptc = ptc_new(NULL);
    PtcLimits limits;
    PtcOutcome *o;
    ptc_limits_init(&limits, sizeof limits);
    for (limits.print_bytes = 0; limits.print_bytes < 20; limits.print_bytes++) {
        PtcRun run =
            a_run("(print \"aa\") (print \"a\") (println \"a\") (print \"\xc3\xa9\xc3\xa9\") "
                  "(print \"\xc3\xa9\")",
                  NULL, 0);
        run.limits = &limits;
        CHECK(ptc_eval(ptc, &run, &o) == PTC_OK && ptc_outcome_ok(o));
        CHECK(ptc_outcome_prints_cut(o) == (limits.print_bytes < 11));
        for (size_t i = 0, len; i < ptc_outcome_print_count(o); i++) {
            const char *line = ptc_outcome_print(o, i, &len),
                       *whole = i ? "\xc3\xa9\xc3\xa9\xc3\xa9" : "aaaa";
            CHECK(ptc_utf8_valid(line, len) && line[len] == 0 && memcmp(line, whole, len) == 0);
        }
        ptc_outcome_free(o);
    }
    end_engine(ptc);
}

static void test_prints(void)
{
    Ptc *ptc = patient_engine();
    PtcLimits limits;
    size_t len = 0;
    PtcOutcome *o = start(
        ptc, "(println \"a\" 1 :b [\"c\"]) (println) (println \"\xc3\xa9\") (/ 1 0)", NULL, 0);
    CHECK(!ptc_outcome_ok(o) && ptc_outcome_print_count(o) == 3 && !ptc_outcome_prints_cut(o));
    CHECK(memcmp(ptc_outcome_print(o, 0, &len), "a 1 :b [\"c\"]", 12) == 0 && len == 12);
    CHECK(ptc_outcome_print(o, 1, &len) && len == 0 && ptc_outcome_print(o, 2, &len) && len == 2);
    CHECK(ptc_outcome_print(o, 3, &len) == NULL);
    ptc_outcome_free(o);
    ptc_limits_init(&limits, sizeof limits);
    for (limits.print_bytes = 0; limits.print_bytes < 20; limits.print_bytes++) {
        PtcRun run = a_run("(println \"aaaa\") (println \"\xc3\xa9\xc3\xa9\xc3\xa9\")", NULL, 0);
        run.limits = &limits;
        CHECK(ptc_eval(ptc, &run, &o) == PTC_OK && ptc_outcome_ok(o));
        CHECK(ptc_outcome_prints_cut(o) == (limits.print_bytes < 11)); /* 4, a line feed, 6 */
        for (size_t i = 0; i < ptc_outcome_print_count(o); i++) {
            const char *line = ptc_outcome_print(o, i, &len);
            CHECK(len <= (size_t)limits.print_bytes && ptc_utf8_valid(line, len));
        }
        ptc_outcome_free(o);
    }
    end_engine(ptc);
}

/* -------------------------------------------------------------------------------- errors */

static void check_findings(Ptc *ptc)
{
    PtcOutcome *o = start(ptc, "(println :no)\n(foo 1)\n[bar\n  (inc 1 2) (mapp inc [])]", NULL, 0);
    static const struct {
        const char *kind, *form, *hint;
        uint32_t line, column;
    } want[] = {{"unbound_var", "foo", "", 2, 2},
                {"unbound_var", "bar", "", 3, 2},
                {"arity_error", "(inc 1 2)", "usage: ", 4, 3},
                {"unbound_var", "mapp", "did you mean map", 4, 14}};
    CHECK(!ptc_outcome_ok(o) && ptc_outcome_error_count(o) == 4 && ptc_outcome_print_count(o) == 0);
    for (size_t i = 0; i < 4; i++) {
        PtcError e = {.size = sizeof e};
        CHECK(ptc_outcome_error(o, i, &e));
        CHECK_STR(e.kind, want[i].kind);
        CHECK_STR(e.form, want[i].form);
        CHECK_STR(e.phase, "check");
        CHECK(e.line == want[i].line && e.column == want[i].column && strstr(e.hint, want[i].hint));
        CHECK(e.message_len == strlen(e.message) && e.hint_len == strlen(e.hint) &&
              e.form_len == strlen(e.form));
    }
    PtcError e = {.size = offsetof(PtcError, hint), .hint = "untouched"};
    CHECK(ptc_outcome_error(o, 0, &e) && e.message_len > 0 && strcmp(e.hint, "untouched") == 0);
    e.size = 0;
    CHECK(!ptc_outcome_error(o, 0, &e) && !ptc_outcome_error(o, 4, &(PtcError){.size = sizeof e}));
    CHECK(!ptc_outcome_error(o, 0, NULL));
    ptc_outcome_free(o);
}

/* Names and forms of any length: texts are cut between characters. */
static void check_long_texts(Ptc *ptc)
{
    static const char *const programs[] = {"%s",
                                           "(%s)",
                                           "str/%s",
                                           "%s/x",
                                           "(def %s 1) (%s)",
                                           "(defn %s [x] x) (%s)",
                                           "(apply (fn %s [x] x) [])",
                                           "(fail \"%s\")",
                                           "(fail [\"%s\"])",
                                           "(+ 1 \"%s\")",
                                           "#'%s",
                                           "(let [{:%s b} {}] b)",
                                           "tool/%s",
                                           "(let [%s/x 1] 1)",
                                           "(do (declare %s) (inc %s) 1)"};
    char name[400], program[1000];
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        for (size_t n = 36; n < 170; n += n < 44 ? 1 : 37) {
            for (size_t k = 0; k < n; k++)
                memcpy(name + 1 + 2 * k, "\xc3\xa9", 3);
            name[0] = 'a';
            PtcError e;
            for (int odd = 0; odd < 2; odd++) {
                snprintf(program, sizeof program, programs[i], name + odd, name + odd);
                PtcOutcome *o = start(ptc, program, NULL, 0);
                e = first_error(o);
                CHECK(e.message_len <= 300 && e.form_len <= 83 &&
                      ptc_utf8_valid(e.message, e.message_len));
                CHECK(ptc_utf8_valid(e.hint, e.hint_len) && ptc_utf8_valid(e.form, e.form_len));
                ptc_outcome_free(o);
            }
        }
}

static void test_errors(void)
{
    Ptc *ptc = patient_engine();
    check_findings(ptc);
    check_long_texts(ptc);
    EXPECT(ptc, NULL, "(+ 1 [", "!parse_error 1:6");
    EXPECT(ptc, NULL, "\n\n  \"\xc3\xa9\" (+ 1 \"x\")", "!type_error 3:7");
    EXPECT(ptc, NULL, "(defn f [x]\n  (/ 1 x))\n(map f\n [1 0])", "!arithmetic_error 2:3");
    EXPECT(ptc, NULL, "([1] 5)", "!index_error 1:1");
    EXPECT(ptc, NULL, "(def x 1) (x)", "!not_callable 1:11");
    EXPECT(ptc, NULL, "\xff", "!parse_error 1:1");
    PtcOutcome *o =
        start(ptc, "foo1 foo2 foo3 foo4 foo5 foo6 foo7 foo8 foo9 foo10 foo11 foo12", NULL, 0);
    CHECK(ptc_outcome_error_count(o) == 10);
    ptc_outcome_free(o);
    o = start(ptc, "(+ 1 2)", NULL, 0);
    CHECK(ptc_outcome_error_count(o) == 0 && !ptc_outcome_control(o));
    ptc_outcome_free(o);
    end_engine(ptc);
}

static void test_control(void)
{
    Ptc *ptc = patient_engine();
    PtcOutcome *o =
        start(ptc, "(println 1) (map (fn [x] (if (= x 2) (return {:x x}) x)) [1 2 3]) (println 2)",
              NULL, 0);
    CHECK(ptc_outcome_ok(o) && ptc_outcome_control(o) &&
          strcmp(ptc_outcome_control(o), "return") == 0);
    CHECK_STR(ptc_outcome_text(o, NULL, NULL), "{:x 2}");
    CHECK(ptc_outcome_print_count(o) == 1);
    ptc_outcome_free(o);
    o = start(ptc, "(let [x 1]\n  (reduce (fn [a b] (fail {:got b})) 0 [5 6]))", NULL, 0);
    PtcError e = first_error(o);
    CHECK(!ptc_outcome_ok(o) && ptc_outcome_control(o) &&
          strcmp(ptc_outcome_control(o), "fail") == 0);
    CHECK(ptc_outcome_value(o) == 0 && ptc_outcome_text(o, NULL, NULL) == NULL);
    CHECK_STR(e.message, "{:got 5}");
    CHECK_STR(e.reason, "fail");
    CHECK_STR(e.form, "(fail {:got b})");
    CHECK(e.line == 2 && e.column == 21);
    ptc_outcome_free(o);
    EXPECT(ptc, NULL, "(return (range))", "!value_error 1:1"); /* without end */
    EXPECT(ptc, NULL, "(try (return 1) (finally (/ 1 0)))", "!arithmetic_error 1:26");
    EXPECT(ptc, NULL, "(try (return 1) (catch Exception e 2))", "1");
    end_engine(ptc);
}

/* A result's value as text. */
static void text_of(int line, Ptc *ptc, const char *program, const char *want)
{
    PtcOutcome *o = start(ptc, program, NULL, 0);
    char *text = NULL;
    size_t len = 0;
    CHECK(ptc_value_text(ptc, ptc_outcome_value(o), &text, &len) == PTC_OK);
    check_str(__FILE__, line, program, text ? text : "nothing", want);
    CHECK(text && strlen(text) == len);
    ptc_text_free(ptc, text, len);
    ptc_outcome_free(o);
}

#define TEXT_OF(ptc, program, want) text_of(__LINE__, ptc, program, want)

static void test_value_text(void)
{
    Ptc *ptc = patient_engine();
    TEXT_OF(ptc, "(* 10000000000 10000000000)", "100000000000000000000");
    TEXT_OF(ptc, "(LocalDate/of 2024 5 1)", "2024-05-01");
    TEXT_OF(ptc, "(Duration/ofMinutes 90)", "PT1H30M");
    TEXT_OF(ptc, "#\"a\\d\"", "a\\d");
    TEXT_OF(ptc, "(def x 1)", "#'x");
    TEXT_OF(ptc, "\"as it is\"", "as it is");
    TEXT_OF(ptc, "[nil :k \"s\" {1 2.5} inc]", "[nil :k \"s\" {1 2.5} #fn[inc]]");
    PtcOutcome *o = start(ptc, "(vec (range 1000000))", NULL, 0);
    char *text = NULL;
    size_t len = 0;
    CHECK(ptc_value_text(ptc, ptc_outcome_value(o), &text, &len) == PTC_BAD_DATA && !text);
    for (uint64_t n = 1; n < 5; n++) {
        ptc_mem_fail_at(&ptc->mem, n);
        PtcStatus status = ptc_value_text(ptc, ptc_make_nil(), &text, &len);
        CHECK(status == PTC_OK ? strcmp(text, "nil") == 0 : status == PTC_NO_MEMORY);
        ptc_mem_fail_at(&ptc->mem, 0);
        ptc_text_free(ptc, text, len);
        text = NULL;
    }
    CHECK(ptc_value_text(ptc, 0, &text, &len) == PTC_BAD_ARGUMENT);
    CHECK(ptc_value_text(NULL, ptc_make_nil(), &text, &len) == PTC_BAD_ARGUMENT);
    CHECK(ptc_value_text(ptc, ptc_make_nil(), NULL, &len) == PTC_BAD_ARGUMENT);
    ptc_outcome_free(o);
    end_engine(ptc);
}

int main(void)
{
    test_value_text();
    test_structs();
    test_refused();
    test_bad_runs();
    test_values();
    test_context();
    test_results();
    test_types();
    test_cut();
    test_json_problem();
    test_now();
    test_warnings();
    test_only_check();
    test_prints();
    test_open_lines();
    test_errors();
    test_control();
    return check_done("test_api");
}
