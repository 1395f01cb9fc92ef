/* SPDX-License-Identifier: MIT
 * test_api_tools.c - what a host does with tools beside running programs: exposure, calls for a model with previews and
 * the shared cache, signatures, values as JSON. */
#include "api_help.h"

#include "tool/toolset.h"

static int calls;

static PtcToolAnswer rows(PtcToolCall *call, void *user)
{
    static const char json[] = "[{\"id\":1,\"name\":\"a\"},{\"id\":2,\"name\":\"b\"}]";
    (void)user;
    calls++;
    ptc_call_return_json(call, json, sizeof json - 1);
    return PTC_TOOL_ANSWERED;
}

static PtcToolAnswer fails(PtcToolCall *call, void *user)
{
    (void)user;
    ptc_call_fail(call, "closed today", 12);
    return PTC_TOOL_ANSWERED;
}

static PtcValue own_preview(PtcValue result, PtcData *data, void *user)
{
    (void)user;
    PtcValue pair[2] = {ptc_make_string(data, "seen", 4),
                        ptc_make_int(data, (int64_t)ptc_value_count(result))};
    return ptc_make_map(data, pair, 1);
}

static void add(PtcTools *tools, const char *name, PtcToolFn fn, const char *expose,
                const char *preview)
{
    PtcToolDef def;
    char error[300] = "";
    ptc_tool_def_init(&def, sizeof def);
    CHECK(!def.extra);
    def.extra = strcmp(name, "open") == 0;
    def.name = name;
    def.name_len = strlen(name);
    def.function = fn;
    def.expose = expose;
    def.cache = preview != NULL;
    def.preview = preview;
    def.preview_limit = 1;
    def.preview_function = preview && preview[0] == 'f' ? own_preview : NULL;
    def.signature = "(q :int?) -> :any";
    def.signature_len = strlen(def.signature);
    CHECK(ptc_tools_add(tools, &def, error, sizeof error) == PTC_OK);
    CHECK_STR(error, "");
}

static PtcTools *make_tools(void)
{
    PtcTools *tools = ptc_tools_new();
    add(tools, "plain", rows, NULL, NULL);
    add(tools, "native", rows, "native", NULL);
    add(tools, "meta", rows, "both", "metadata");
    add(tools, "first", rows, "both", "rows");
    add(tools, "mine", rows, "both", "function");
    add(tools, "fails", fails, "ptc_lisp", NULL);
    add(tools, "open", rows, "native", NULL);
    return tools;
}

static void test_exposure(PtcTools *tools)
{
    size_t found[8];
    CHECK_STR(ptc_tools_expose(tools, 0, "text", NULL), "native");
    CHECK_STR(ptc_tools_expose(tools, 0, "text", "tool_call"), "native");
    CHECK_STR(ptc_tools_expose(tools, 0, "ptc_lisp", "content"), "ptc_lisp");
    CHECK_STR(ptc_tools_expose(tools, 2, "text", NULL), "both");
    CHECK(!ptc_tools_expose(tools, 9, "text", NULL) && !ptc_tools_expose(tools, 0, "txt", NULL) &&
          !ptc_tools_expose(tools, 0, "text", "mail"));
    CHECK(ptc_tools_filter(tools, "text", "tool_call", "native,both", found, 8) == 6);
    CHECK(found[0] == 0 && found[1] == 1 && found[2] == 2 && found[3] == 3 && found[4] == 4);
    CHECK(ptc_tools_filter(tools, "ptc_lisp", NULL, "ptc_lisp", found, 1) == 2 && found[0] == 0);
}

/* ok or error, then the text. */
static void expect_call(int line, Ptc *ptc, PtcSession *s, PtcTools *tools, const char *name,
                        const char *args, const char *want)
{
    char got[TEXT];
    char *out = NULL;
    size_t len = 0;
    bool ok = false;
    CHECK(ptc_tools_call(ptc, s, tools, name, strlen(name), args, strlen(args), &ok, &out, &len) ==
          PTC_OK);
    snprintf(got, sizeof got, "%s %.*s", ok ? "ok" : "error", (int)len, out ? out : "");
    ptc_text_free(ptc, out, len);
    if (!strstr(got, want))
        check_str("", line, name, got, want);
    else
        check_count(true);
}

#define CALL(name, args, want) expect_call(__LINE__, ptc, session, tools, name, args, want)

static void test_calls(Ptc *ptc, PtcTools *tools)
{
    PtcSession *session = ptc_session_new(ptc);
    char *out;
    size_t len;
    bool ok;
    CALL("plain", "{}", "ok [{\"id\":1,\"name\":\"a\"},{\"id\":2,\"name\":\"b\"}]");
    CALL("fails", "{}", "error closed today");
    CALL("plain", "{\"q\":\"x\"}", "q: expected int");
    CALL("plain", "{\"p\":1}", "tool/plain: p: unexpected field; there is q");
    CALL("open", "{\"p\":1}", "ok [{\"id\":1");
    CALL("plain", "[1]", "error its arguments must be an object");
    CALL("plain", "{", "error its arguments are not JSON");
    calls = 0;
    CALL("meta", "{\"q\":1}", "\"result_count\":2");
    CALL("meta", "{ \"q\" : 1 }", "\"sample_keys\":[\"id\",\"name\"]");
    CALL("first", "{}", "\"rows\":[{\"id\":1,\"name\":\"a\"}]");
    CALL("mine", "{}", "\"seen\":2");
    CHECK(calls == 3);
    /* the whole result waits for a program */
    PtcRun run = a_run("[(:name (second (tool/meta {:q 1}))) (count (tool/first))]", session, 0);
    PtcOutcome *o = NULL;
    run.tools = tools;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK);
    CHECK_STR(ptc_outcome_text(o, NULL, NULL), "[\"b\" 2]");
    ptc_outcome_free(o);
    CHECK(calls == 3);
    CHECK(ptc_tools_call(ptc, session, tools, "none", 4, "{}", 2, &ok, &out, &len) ==
          PTC_BAD_ARGUMENT);
    ptc_session_free(session);
    session = NULL; /* nothing is kept: the whole result */
    CALL("meta", "{}", "ok [{\"id\":1");
}

static void test_signatures(Ptc *ptc)
{
    static const char sig[] = "(id :int) -> {rows [{id :int}]}";
    char error[200] = "";
    char *out = NULL;
    size_t len = 0;
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    PtcValue good = ptc_make_json(data, "{\"rows\":[{\"id\":1}]}", 19, NULL, 0);
    PtcValue bad = ptc_make_json(data, "{\"rows\":[{\"id\":\"x\"}]}", 21, NULL, 0);
    CHECK(ptc_signature_check(ptc, sig, sizeof sig - 1, error, sizeof error) == PTC_OK);
    CHECK(ptc_signature_check(ptc, ":strin", 6, error, sizeof error) == PTC_BAD_DATA);
    CHECK(strstr(error, "line 1, column 1") && strstr(error, "string"));
    CHECK(ptc_signature_validate(ptc, sig, sizeof sig - 1, good, &out, &len, NULL, 0) == PTC_OK);
    CHECK_STR(out, "[]");
    ptc_text_free(ptc, out, len);
    CHECK(ptc_signature_validate(ptc, sig, sizeof sig - 1, bad, &out, &len, NULL, 0) == PTC_OK);
    CHECK(strstr(out, "[\"rows\",0,\"id\"]"));
    ptc_text_free(ptc, out, len);
    CHECK(ptc_signature_schema(ptc, sig, sizeof sig - 1, true, &out, &len, NULL, 0) == PTC_OK);
    CHECK(strstr(out, "\"required\":[\"id\"]"));
    ptc_text_free(ptc, out, len);
    CHECK(ptc_signature_schema(ptc, sig, sizeof sig - 1, false, &out, &len, NULL, 0) == PTC_OK);
    CHECK(strstr(out, "\"rows\""));
    ptc_text_free(ptc, out, len);
    ptc_data_free(data);
}

static void expect_json(Ptc *ptc, const char *program, const char *want)
{
    char error[200] = "";
    char *out = NULL;
    size_t len = 0;
    PtcOutcome *o = start(ptc, program, NULL, 0);
    PtcStatus status = ptc_value_json(ptc, ptc_outcome_value(o), &out, &len, error, sizeof error);
    CHECK_STR(status == PTC_OK ? out : error, want);
    ptc_text_free(ptc, out, len);
    ptc_outcome_free(o);
}

int main(void)
{
    Ptc *ptc = patient_engine();
    PtcTools *tools = make_tools();
    test_exposure(tools);
    test_calls(ptc, tools);
    test_signatures(ptc);
    expect_json(ptc, "{:count 2 :items [:a :b]}", "{\"count\":2,\"items\":[\"a\",\"b\"]}");
    expect_json(ptc, "{:rows [{:ts inc}]}", "a function at rows[0].ts");
    expect_json(ptc, "[1.5 :foo nil #{1}]", "[1.5,\"foo\",null,[1]]");
    ptc_tools_free(tools);
    end_engine(ptc);
    return check_done("test_api_tools");
}
