/* SPDX-License-Identifier: MIT
 * test_api_texts.c - ptc.h: every text that is returned ends in NUL, every pointer to a length may be NULL; what the
 * library says of itself. */
#include "api_help.h"

/* The same text with and without its length, and a NUL behind it. */
#define TEXT_OF(call_with, call_without)                \
    do {                                                \
        size_t len_ = 99999;                            \
        const char *a_ = call_with, *b_ = call_without; \
        CHECK(is_same(a_, len_, b_));                   \
    } while (0)

static bool is_same(const char *a, size_t len, const char *b)
{
    return a && b && strlen(a) == len && strcmp(a, b) == 0;
}

static PtcOutcome *eval(Ptc *ptc, const PtcRun *run)
{
    PtcOutcome *o = NULL;
    CHECK(ptc_eval(ptc, run, &o) == PTC_OK && o);
    return o;
}

static void test_outcome(void)
{
    Ptc *ptc = patient_engine();
    PtcRun run = a_run("(println \"one\") (println \"two\") {:a [1 2.5 \"x\"]}", NULL, 0);
    PtcOutcome *o = eval(ptc, &run);
    TEXT_OF(ptc_outcome_text(o, &len_, NULL), ptc_outcome_text(o, NULL, NULL));
    TEXT_OF(ptc_outcome_json(o, &len_), ptc_outcome_json(o, NULL));
    TEXT_OF(ptc_outcome_print(o, 1, &len_), ptc_outcome_print(o, 1, NULL));
    size_t len = 0;
    const char *payload = ptc_outcome_payload(o, NULL, &len); /* good until the next one */
    CHECK(payload && strlen(payload) == len);
    payload = ptc_outcome_payload(o, NULL, NULL);
    CHECK(payload && payload[len - 1] == '}');
    CHECK(!ptc_outcome_json_problem(o, NULL, NULL) && ptc_outcome_tool_count(o, NULL) == 0);
    ptc_outcome_free(o);
    run = a_run("{:f inc}", NULL, 0);
    o = eval(ptc, &run);
    TEXT_OF(ptc_outcome_json_problem(o, &len_, NULL), ptc_outcome_json_problem(o, NULL, NULL));
    ptc_outcome_free(o);
    end_engine(ptc);
}

static void test_errors(void)
{
    static const char *const programs[] = {"(+ 1", "(foo)", "(+ 1 :a)", "(fail \"x\")"};
    Ptc *ptc = patient_engine();
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        PtcRun run = a_run(programs[i], NULL, 0);
        PtcOutcome *o = eval(ptc, &run);
        PtcError e = {.size = sizeof e};
        CHECK(ptc_outcome_error(o, 0, &e) && strlen(e.message) == e.message_len);
        CHECK(strlen(e.hint) == e.hint_len && strlen(e.form) == e.form_len);
        ptc_outcome_free(o);
    }
    PtcRun run = a_run("data/nothing", NULL, 0);
    PtcOutcome *o = eval(ptc, &run);
    PtcWarning w = {.size = sizeof w};
    CHECK(ptc_outcome_warning(o, 0, &w) && strlen(w.message) == w.message_len &&
          strlen(w.hint) == w.hint_len);
    ptc_outcome_free(o);
    end_engine(ptc);
}

/* Texts that the caller frees, with their lengths left out. */
static void test_owned(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    char *text = NULL;
    EXPECT(ptc, s, "(def a 1)", "#'a");
    CHECK(ptc_session_inspect(s, &text, NULL) == PTC_OK && strstr(text, "\"count\":1"));
    ptc_text_free(ptc, text, 0);
    CHECK(ptc_session_snapshot(s, "0123456789abcdef", 16, &text, NULL, NULL, 0) == PTC_OK);
    ptc_text_free(ptc, text, 0);
    CHECK(ptc_eval_json(ptc, "{\"program\":\"1\"}", 15, &text, NULL) == PTC_OK &&
          strchr(text, '}'));
    ptc_text_free(ptc, text, 0);
    PtcValue v = ptc_make_json(data, "[1,\"b\"]", 7, NULL, 0);
    CHECK(ptc_value_text(ptc, v, &text, NULL) == PTC_OK);
    CHECK_STR(text, "[1 \"b\"]");
    ptc_text_free(ptc, text, 0);
    CHECK(ptc_value_json(ptc, v, &text, NULL, NULL, 0) == PTC_OK);
    CHECK_STR(text, "[1,\"b\"]");
    ptc_text_free(ptc, text, 0);
    ptc_data_free(data);
    ptc_session_free(s);
    end_engine(ptc);
}

static void test_values(void)
{
    static const char keyed[] = "(subs \"a long enough string to be shared\" 2 6)";
    Ptc *ptc = patient_engine();
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    const char *text = NULL;
    CHECK(ptc_value_string(ptc_make_string(data, "abcd", 2), &text, NULL));
    CHECK_STR(text, "ab");
    CHECK(ptc_value_string(ptc_make_keyword(data, "kwd", 2), &text, NULL));
    CHECK_STR(text, "kw");
    CHECK(ptc_value_string(ptc_make_string(data, "", 0), NULL, NULL));
    PtcRun run = a_run(keyed, NULL, 0);
    PtcOutcome *o = eval(ptc, &run);
    CHECK(ptc_value_string(ptc_outcome_value(o), &text, NULL));
    CHECK_STR(text, "long");
    ptc_outcome_free(o);
    ptc_data_free(data);
    end_engine(ptc);
}

static void test_signatures(void)
{
    static const char sig[] = "(id :int) -> {name :string}";
    Ptc *ptc = patient_engine();
    char *text = NULL;
    CHECK(ptc_signature_schema(ptc, sig, sizeof sig - 1, true, &text, NULL, NULL, 0) == PTC_OK);
    CHECK(text[strlen(text) - 1] == '}');
    ptc_text_free(ptc, text, 0);
    CHECK(ptc_signature_validate(ptc, sig, sizeof sig - 1, ptc_make_nil(), &text, NULL, NULL, 0) ==
          PTC_OK);
    CHECK(text[strlen(text) - 1] == ']');
    ptc_text_free(ptc, text, 0);
    end_engine(ptc);
}

static PtcToolAnswer look(PtcToolCall *call, void *user)
{
    (void)user;
    TEXT_OF(ptc_call_name(call, &len_), ptc_call_name(call, NULL));
    TEXT_OF(ptc_call_args_json(call, &len_), ptc_call_args_json(call, NULL));
    ptc_call_return_json(call, "{\"n\":1}", 7);
    return PTC_TOOL_ANSWERED;
}

static void test_tools(void)
{
    Ptc *ptc = patient_engine();
    PtcTools *tools = ptc_tools_new();
    PtcToolDef def;
    char *text = NULL;
    bool ok = false;
    ptc_tool_def_init(&def, sizeof def);
    def.name = "lookup";
    def.name_len = 4; /* the rest is not part of it */
    def.function = look;
    def.signature = "(id :int) -> :anything";
    def.signature_len = 17;
    CHECK(ptc_tools_add(tools, &def, NULL, 0) == PTC_OK);
    CHECK_STR(ptc_tools_name(tools, 0), "look");
    CHECK_STR(ptc_tools_signature(tools, 0), "(id :int) -> :any");
    PtcRun run = a_run("(tool/look {:id 7})", NULL, 0);
    run.tools = tools;
    PtcOutcome *o = eval(ptc, &run);
    PtcToolRecord record = {.size = sizeof record};
    CHECK(ptc_outcome_ok(o) && ptc_outcome_tool(o, 0, &record));
    CHECK(strlen(record.name) == record.name_len && strlen(record.result) == record.result_len &&
          strlen(record.arguments) == record.arguments_len);
    ptc_outcome_free(o);
    CHECK(ptc_tools_call(ptc, NULL, tools, "look", 4, "{\"id\":1}", 8, &ok, &text, NULL) == PTC_OK);
    CHECK_STR(text, "{\"n\":1}");
    ptc_text_free(ptc, text, 0);
    ptc_tools_free(tools);
    ptc_free(ptc); /* it has a place for calls without a program */
}

/* ------------------------------------------------------------------- of the library itself */

static void test_kinds(void)
{
    size_t n = 0;
    const char *reason = NULL, *kind;
    bool found = false;
    for (; (kind = ptc_error_kind_at(n, &reason)) != NULL; n++) {
        CHECK(kind[0] && reason[0] && ptc_error_kind_at(n, NULL) == kind);
        found = found || (strcmp(kind, "deadline") == 0 && strcmp(reason, "timeout") == 0);
    }
    CHECK(n > 20 && found && !ptc_error_kind_at(SIZE_MAX, NULL));
}

/* What the table says is what an engine accepts, and gets when nothing is said. */
static void test_ranges(void)
{
    PtcLimitRange range = {.size = sizeof range};
    Ptc *plain = ptc_new(NULL);
    size_t n = 0;
    for (; ptc_limit_range(n, &range); n++) {
        PtcLimits limits;
        PtcOptions options;
        ptc_limits_init(&limits, sizeof limits);
        ptc_options_init(&options, sizeof options);
        options.limits = &limits;
        int64_t *field = &limits.timeout_ms + n;
        CHECK((&ptc_limits_of(plain)->timeout_ms)[n] == range.normal);
        *field = range.most + 1;
        CHECK(!ptc_new(&options));
        *field = range.normal;
        Ptc *ptc = ptc_new(&options);
        CHECK(ptc);
        ptc_free(ptc);
    }
    CHECK(n == (sizeof(PtcLimits) - sizeof(size_t)) / sizeof(int64_t));
    range.size = 4;
    CHECK(!ptc_limit_range(0, &range) && !ptc_limit_range(0, NULL));
    ptc_free(plain);
    CHECK(strstr(ptc_language_card(true), "tool/") && strlen(ptc_language_card(false)) > 300);
}

/* ---------------------------------------------------------------------------- upstreams */

static PtcStatus open_text(const char *json, const char *policy, PtcUpstreamSet **out,
                           char error[700])
{
    PtcUpstreamOptions options;
    ptc_upstream_options_init(&options, sizeof options);
    options.json = json;
    options.json_len = json ? strlen(json) : 0;
    options.policy = policy;
    error[0] = 0;
    return ptc_upstream_set_new(&options, out, error, 700);
}

static void test_upstreams(void)
{
    PtcUpstreamSet *set = NULL;
    Ptc *ptc = patient_engine();
    char error[700];
    CHECK(open_text("{\"upstreams\":{\"web\":{\"url\":\"http://127.0.0.1:1/mcp\"}}}", NULL, &set,
                    error) == PTC_OK);
    PtcUpstreamStatus status = {.size = sizeof status};
    CHECK(ptc_upstream_set_count(set) == 1 && ptc_upstream_set_state(set, 0, &status));
    CHECK_STR(status.name, "web");
    CHECK_STR(status.state, "cold");
    CHECK(!ptc_upstream_set_state(set, 1, &status));
    CHECK(ptc_upstream_set_use(set, ptc) == PTC_OK);
    EXPECT(ptc, NULL, "(+ 1 2)", "3");
    CHECK(ptc_upstream_set_use(NULL, ptc) == PTC_OK && ptc_upstream_set_use(set, NULL) != PTC_OK);
    ptc_free(ptc);
    ptc_upstream_set_free(set);
    CHECK(open_text("{\"upstreams\":{}}", "trusting", &set, error) == PTC_OK && set);
    CHECK(ptc_upstream_set_count(set) == 0);
    ptc_upstream_set_free(set);
    ptc_upstream_set_free(NULL);
}

static void test_bad_upstreams(void)
{
    PtcUpstreamSet *set = NULL;
    PtcUpstreamOptions options;
    char error[700];
    CHECK(open_text("{\"upstreams\":{\"a\":{\"comand\":\"x\"}}}", NULL, &set, error) ==
          PTC_BAD_DATA);
    CHECK(!set && strstr(error, "comand"));
    CHECK(open_text("{", NULL, &set, error) == PTC_BAD_DATA && error[0]);
    CHECK(open_text("{}", "lax", &set, error) == PTC_BAD_ARGUMENT && strstr(error, "read-only"));
    CHECK(open_text(NULL, NULL, &set, error) == PTC_BAD_ARGUMENT && error[0]);
    ptc_upstream_options_init(&options, sizeof options);
    options.path = "/nowhere/upstreams.json";
    CHECK(ptc_upstream_set_new(&options, &set, error, sizeof error) == PTC_BAD_DATA);
    CHECK(strstr(error, "/nowhere/upstreams.json: No such file"));
    options.path = "/dev/zero";
    CHECK(ptc_upstream_set_new(&options, &set, error, sizeof error) == PTC_BAD_DATA);
    CHECK(strstr(error, "regular file"));
    CHECK(ptc_upstream_set_new(NULL, &set, error, sizeof error) == PTC_BAD_ARGUMENT);
}

int main(void)
{
    CHECK_RUN(test_outcome());
    CHECK_RUN(test_errors());
    CHECK_RUN(test_owned());
    CHECK_RUN(test_values());
    CHECK_RUN(test_signatures());
    CHECK_RUN(test_tools());
    CHECK_RUN(test_kinds());
    CHECK_RUN(test_ranges());
    CHECK_RUN(test_upstreams());
    CHECK_RUN(test_bad_upstreams());
    return check_done("test_api_texts");
}
