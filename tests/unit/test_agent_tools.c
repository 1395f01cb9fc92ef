/* SPDX-License-Identifier: MIT
 * test_agent_tools.c - tools that come with agents: grep and grep-n, previews by a function in PTC-Lisp, tools that
 * programs do not see. */
#include "native_help.h"
#include "tool_file_help.h"

#include "agent/agent_kinds.h"
#include "engine/session.h"

static void put(PtcTools *tools, const char *name, const char *signature, PtcToolFn function)
{
    PtcTool t = {.function = function};
    ptc_tool_init(&t.info, name, strlen(name));
    t.info.signature = signature;
    t.info.signature_len = strlen(signature);
    CHECK(ptc_toolset_put(tools, &t, NULL));
}

static PtcTools *greps(void)
{
    PtcTools *tools = ptc_toolset_new();
    put(tools, "grep", ptc_grep_kind.signature, ptc_grep_kind.call);
    put(tools, "grep-n", ptc_grep_n_kind.signature, ptc_grep_n_kind.call);
    return tools;
}

/* --------------------------------------------------------------------------------- grep */

static const struct {
    const char *program, *want;
} cases[] = {
    {"(tool/grep {:pattern \"err\" :text \"ok\\nError: a\\r\\nno\\nan err\"})",
     "[\"Error: a\" \"an err\"]"},
    {"(tool/grep {:pattern \"x\" :text \"a\\nb\"})", "[]"},
    {"(tool/grep {:pattern \"\" :text \"a\\n\\nb\\n\\n\"})", "[\"a\" \"\" \"b\"]"},
    {"(tool/grep {:pattern \"x\" :text \"\"})", "[]"},
    {"(tool/grep {:pattern \"^b|c$\" :text \"ab\\nbc\\nca\\nac\"})", "[\"bc\" \"ac\"]"},
    {"(tool/grep {:pattern \"\\\\(foo\\\\|bar\\\\)\\\\d+\" :text \"foo1\\nbar2\\nfoo\\nbaz3\"})",
     "[\"foo1\" \"bar2\"]"},
    {"(tool/grep {:pattern \"f\\\\(x\\\\)\" :text \"f(x)\\nfx\"})", "[\"f(x)\"]"},
    {"(tool/grep {:pattern \"\\\\\\\\|b\" :text \"a\\\\\\nb\\n|\"})", "[\"a\\\\\" \"b\"]"},
    {"(tool/grep {:pattern \"ä\" :text \"Ärger\\nArger\"})", "[\"Ärger\"]"},
    {"(try (tool/grep {:pattern \"(\" :text \"a\"}) (catch Exception e (subs (ex-message e) 0 "
     "59)))",
     "\"tool/grep failed: pattern is not a valid regular expression\""},
    {"(tool/grep-n {:pattern \"b\" :text \"a\\nb\"})",
     "[{\"line\" 2, \"text\" \"b\", \"match\" true}]"},
    {"(map (juxt :line :match) (tool/grep-n {:pattern \"x\" :text "
     "\"1\\n2\\nx\\n4\\n5\\nx\\nx\\n8\\n9\\n10\\n11\\nx\" :context 1}))",
     "[[2 false] [3 true] [4 false] [5 false] [6 true] [7 true] [8 false] [11 false] [12 true]]"},
    {"(map (juxt :line :text) (tool/grep-n {:pattern \"x\" :text \"x\\nb\\nc\\nd\" :context 2}))",
     "[[1 \"x\"] [2 \"b\"] [3 \"c\"]]"},
    {"(map :line (tool/grep-n {:pattern \"x\" :text \"a\\nb\\nx\" :context 1000}))", "[1 2 3]"},
    {"(map :line (tool/grep-n {:pattern \"\" :text \"a\\nb\\n\" :context 5}))", "[1 2]"},
    {"(try (tool/grep-n {:pattern \"x\" :text \"x\" :context -1}) (catch Exception e (ex-message "
     "e)))",
     "\"tool/grep-n failed: context is a number of lines from 0 to 1000\""},
    {"(count (tool/grep {:pattern \"7\" :text (str/join \"\\n\" (range 10000))}))", "3439"},
};

static void test_grep(void)
{
    char out[TEXT];
    Ptc *ptc = ptc_new(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(run_with(ptc, greps(), cases[i].program, out), cases[i].want);
    end_engine(ptc);
}

/* ----------------------------------------------------------------------------- previews */

static const struct {
    const char *preview, *has, *has_not;
} previews[] = {
    {"(fn [result] {\\\"n\\\" (count result)})", "\"n\":3", "schema"},
    {"(fn [result] {\\\"status\\\" \\\"odd\\\" :k 1})", "\"status\":\"ok\"", "odd"},
    {"(fn [result] (throw (ex-info \\\"no\\\" {})))", "\"result_count\":3", "no\""},
    {"(fn [result] 5)", "\"result_count\":3", "5"},
    {"(fn [result] {:f inc})", "\"result_count\":3", "inc"},
    {"(fn [result] (loop [] (recur)))", "\"result_count\":3", "recur"},
    {"(fn [result] {:all (vec (range 10000000))})", "\"result_count\":3", "all"},
    {"(fn [result] {:sum (reduce + (map :id result)) :big (count (vec (range 10000)))})",
     "\"sum\":6", "schema"},
};

static void test_previews(void)
{
    PtcWhy why;
    char json[1000];
    for (size_t i = 0; i < sizeof previews / sizeof *previews; i++) {
        PtcNativeOptions options = {.preview = true};
        bool ok = false;
        PtcBuf out;
        Ptc *ptc = ptc_new(NULL);
        PtcSession *s = ptc_session_new(ptc);
        snprintf(json, sizeof json,
                 "{\"rows\":{\"value\":[{\"id\":1},{\"id\":2},{\"id\":3}],\"expose\":\"both\","
                 "\"cache\":true,"
                 "\"native_result\":{\"preview\":{\"lisp\":\"%s\"}}}}",
                 previews[i].preview);
        PtcTools *tools = read_tools(json, &allow_all, &why);
        CHECK_STR(why.text, "");
        options.cache = ptc_session_cache(s);
        ptc_buf_init(&out, &ptc->mem, 1 << 20);
        CHECK(tools && native_call_named(tools, PTC_TEXT("rows"), PTC_TEXT("{\"q\":1}"), &options,
                                         &out, &ok));
        CHECK(ok && strstr(ptc_buf_text(&out), previews[i].has));
        CHECK(!strstr(ptc_buf_text(&out), previews[i].has_not));
        CHECK(strstr(ptc_buf_text(&out), "(tool/rows {:q 1})") != NULL);
        ptc_buf_deinit(&out);
        ptc_tools_free(tools);
        ptc_session_free(s);
        end_engine(ptc);
    }
}

/* --------------------------------------------------------------------------- native only */

static void test_native_only(void)
{
    PtcWhy why;
    char out[TEXT];
    Ptc *ptc = ptc_new(NULL);
    PtcTools *tools =
        read_tools("{\"rowz\":{\"value\":1},\"rows\":{\"value\":2}}", &allow_all, &why);
    tools->items[0].native_only = true;
    ptc_toolset_retain(tools);
    CHECK_STR(run_with(ptc, tools, "(tool/rows)", out), "2");
    ptc_toolset_retain(tools);
    CHECK_STR(run_with(ptc, tools, "(tool/rowz)", out),
              "!unknown_tool: there is no tool named rowz");
    CHECK(ptc_toolset_find(tools, PTC_TEXT("rowz")) == 0);
    tools->items[1].native_only = true;
    CHECK_STR(run_with(ptc, tools, "(tool/rows)", out),
              "!unknown_tool: there is no tool named rows");
    end_engine(ptc);
}

int main(void)
{
    test_grep();
    test_previews();
    test_native_only();
    return check_done("agent_tools");
}
