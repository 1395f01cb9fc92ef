/* SPDX-License-Identifier: MIT
 * test_tool_file.c - tools from JSON: every kind and option, every mistake with its message, short memory. */
#include "tool_file_help.h"

#include "agent/agent_kinds.h"

static const PtcToolsFileOptions allow_kinds = {
    .command = true, .http = true, .kinds = ptc_agent_kinds};

#include <pthread.h>

/* ---------------------------------------------------------------------------- what works */

static const struct {
    const char *tools, *program, *want;
} cases[] = {
    {"{}", "(+ 1 2)", "3"},
    /* value */
    {"{\"t\":{\"value\":{\"order_id\":[1,2.5,null,true,\"x\"]}}}",
     "[(:order-id (tool/t)) (tool/t {:a 1})]",
     "[[1 2.5 nil true \"x\"] {\"order_id\" [1 2.5 nil true \"x\"]}]"},
    {"{\"t\":{\"value\":null}}", "(tool/t)", "nil"},
    {"{\"t\":{\"value\":12345678901234567890}}", "(inc (tool/t))", "12345678901234567891"},
    {"{\"t\":{\"value\":{\"a\":1}}}", "(assoc (tool/t) :b 2)", "{\"a\" 1, :b 2}"},
    {"{\"t\":{\"value\":[1,2]}}", "[(conj (tool/t) 3) (conj (tool/t) 4)]", "[[1 2 3] [1 2 4]]"},
    /* error */
    {"{\"t\":{\"error\":\"no luck\"}}", "(tool/t)", "!tool_error: tool/t failed: no luck"},
    {"{\"t\":{\"error\":\"no luck\",\"on_error\":\"value\"}}", "(tool/t)",
     "{:ok false, :message \"no luck\"}"},
    {"{\"t\":{\"error\":\"no luck\",\"on_error\":\"fail\"}}",
     "(try (tool/t) (catch Exception e 1))", "1"},
    /* table */
    {"{\"t\":{\"table\":{\"{\\\"n\\\":2}\":\"int\",\"{\\\"n\\\":2.0}\":\"float\"}}}",
     "[(tool/t {:n 2}) (tool/t {:n 2.0})]", "[\"int\" \"float\"]"},
    {"{\"t\":{\"table\":{\"{ \\\"b\\\": [1, {\\\"c_d\\\": null}], \\\"a\\\": \\\"x\\\" "
     "}\":1,\"*\":2}}}",
     "[(tool/t {:a :x :b [1 {:c-d nil}]}) (tool/t :a \"x\" :b [1 {:c-d false}]) (tool/t)]",
     "[1 2 2]"},
    {"{\"t\":{\"table\":{\"{}\":1,\"*\":null}}}", "[(tool/t) (tool/t {}) (tool/t :a 1)]",
     "[1 1 nil]"},
    {"{\"t\":{\"table\":{\"{\\\"k\\\":\\\"a\\\"}\":1}}}", "(tool/t {:k \"b\"})",
     "!tool_error: tool/t failed: its table has no entry for {\"k\":\"b\"}, and no \"*\""},
    {"{\"t\":{\"table\":{\"{\\\"on\\\":\\\"2026-01-02T03:04:05Z\\\"}\":1,\"*\":0},"
     "\"signature\":\"(on :datetime) -> :int\"}}",
     "(tool/t {:on \"2026-01-02T03:04:05Z\"})", "1"},
    /* lisp */
    {"{\"t\":{\"lisp\":\"(fn [args] (* 2 (:n args)))\"}}", "(map #(tool/t {:n %}) [1 2 3])",
     "[2 4 6]"},
    {"{\"t\":{\"lisp\":\"(let [seen #{1 2}] (fn [{:keys [n]}] (contains? seen n)))\"}}",
     "[(tool/t {:n 1}) (tool/t {:n 3})]", "[true false]"},
    {"{\"t\":{\"lisp\":\"identity\"},\"u\":{\"lisp\":\"(comp count keys)\"}}",
     "[(tool/t {:a 1}) (tool/u {:a 1 :b 2})]", "[{\"a\" 1} 2]"},
    {"{\"t\":{\"lisp\":\"(fn [a] (re-find #\\\"[0-9]+\\\" (:s a)))\"}}", "(tool/t {:s \"ab12\"})",
     "\"12\""},
    {"{\"t\":{\"lisp\":\"(fn f [a] (if (zero? (:n a)) 0 (inc (f {:n (dec (:n a))}))))\"}}",
     "(pmap #(tool/t {:n %}) [5 0 9 3])", "[5 0 9 3]"},
    {"{\"t\":{\"lisp\":\"(fn [a] (return 5) 6)\"},\"u\":{\"lisp\":\"(fn [a] (fail {:why 1}))\"}}",
     "[(tool/t) (try (tool/u) (catch Exception e 7))]", "[5 7]"},
    {"{\"t\":{\"lisp\":\"(fn [a] (/ 1 0))\"}}", "(tool/t)",
     "!tool_error: tool/t failed: /: division by zero"},
    {"{\"t\":{\"lisp\":\"(fn [a] (map inc (:xs a)))\"}}", "(def x 3) (conj (tool/t {:xs [x]}) x)",
     "[3 4]"},
    /* mocks */
    {"{\"t\":{\"echo\":true}}", "[(tool/t {:a-b [:x {\"c\" nil}]}) (tool/t)]",
     "[{\"a_b\" [\"x\" {\"c\" nil}]} {}]"},
    {"{\"t\":{\"seq\":[1,{\"$error\":\"busy\"},{\"$error\":2}]}}",
     "[(tool/t) (try (tool/t) (catch Exception e (ex-message e))) (tool/t) (tool/t)]",
     "[1 \"tool/t failed: busy\" {\"$error\" 2} {\"$error\" 2}]"},
    {"{\"t\":{\"seq\":[1,2,3,4,5],\"sleep_ms\":2}}", "(sort (pmap (fn [_] (tool/t)) (range 5)))",
     "[1 2 3 4 5]"},
    {"{\"t\":{\"error\":\"e\",\"sleep_ms\":1,\"on_error\":\"value\"}}", "(:message (tool/t))",
     "\"e\""},
    {"{\"t\":{\"echo\":true,\"sleep_ms\":60000,\"timeout_ms\":20}}",
     "(try (tool/t) (catch Exception e (ex-message e)))",
     "\"tool/t failed: it did not answer within 20 ms\""},
    {"{\"t\":{\"value\":1,\"read_only\":true,\"idempotent\":false}}", "(tool/t)", "1"},
    /* options */
    {"{\"t\":{\"value\":1,\"signature\":\"(n :int) -> :int\",\"description\":\"d\",\"cache\":true,"
     "\"expose\":\"both\",\"native_result\":{\"preview\":\"rows\",\"limit\":5},\"timeout_ms\":50,"
     "\"serial\":true,\"on_error\":\"value\"}}",
     "(tool/t {:n 1})", "1"},
    {"{\"t\":{\"value\":1,\"signature\":null,\"description\":null,\"cache\":null,\"expose\":null,"
     "\"native_result\":null,\"timeout_ms\":null,\"serial\":false,\"on_error\":null,\"env\":null}}",
     "(tool/t {:n 1})", "1"},
    {"{\"t\":{\"lisp\":\"(fn [a] (:n a))\",\"signature\":\"(n :int) -> :int\"}}",
     "(tool/t {:n \"7\"})", "7"},
    {"{\"t\":{\"echo\":true,\"signature\":\"(n :int) -> :any\"}}", "(tool/t {:n 7 :m 8})",
     "!invalid_tool_args: tool/t: m: unexpected field; there is n"},
    {"{\"t\":{\"echo\":true,\"signature\":\"(n :int) -> :any\",\"extra\":true}}",
     "(tool/t {:n 7 :m 8})", "{\"n\" 7, \"m\" 8}"},
};

static void test_cases(void)
{
    char out[TEXT];
    Ptc *ptc = patient_engine();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(run_json(ptc, cases[i].tools, cases[i].program, out), cases[i].want);
    end_engine(ptc);
}

/* ------------------------------------------------------------------------------- mistakes */

static const struct {
    const char *tools, *want;
} mistakes[] = {
    {"[1]",
     "tools must be an object from names to definitions, such as {\"price\": {\"value\": 5}}, "
     "not a list"},
    {"{\"t\":", "not JSON: line 1, column 6: expected a value, but the text ends"},
    {"{\"t\":1}",
     "tool t: its definition must be an object such as {\"value\": 1}, not an integer"},
    {"{\"t\":{}}",
     "tool t: one of command, sql, lisp, value, error, table, echo and seq must say what it does"},
    {"{\"t\":{\"description\":\"d\"}}",
     "tool t: one of command, sql, lisp, value, error, table, echo and seq must say what it does"},
    {"{\"t\":{\"value\":1,\"error\":\"e\"}}",
     "tool t: value and error exclude each other: a tool is one of them"},
    {"{\"t\":{\"comand\":[\"x\"]}}", "tool t: unknown key comand; did you mean command?"},
    {"{\"t\":{\"value\":1,\"timeout\":5}}", "tool t: unknown key timeout"},
    {"{\"t\":{\"value\":1,\"timeoutms\":5}}",
     "tool t: unknown key timeoutms; did you mean timeout_ms?"},
    {"{\"t\":{\"value\":1,\"cache\":\"yes\"}}",
     "tool t: cache must be true or false, not a string"},
    {"{\"t\":{\"value\":1,\"serial\":1}}", "tool t: serial must be true or false, not an integer"},
    {"{\"t\":{\"value\":1,\"read_only\":\"yes\"}}",
     "tool t: read_only must be true or false, not a string"},
    {"{\"t\":{\"value\":1,\"extra\":\"yes\"}}",
     "tool t: extra must be true or false, not a string"},
    {"{\"t\":{\"value\":1,\"idempotent\":0}}",
     "tool t: idempotent must be true or false, not an integer"},
    {"{\"t\":{\"value\":1,\"expose\":\"all\"}}",
     "tool t: expose must be \"native\", \"ptc_lisp\" or \"both\""},
    {"{\"t\":{\"value\":1,\"on_error\":true}}", "tool t: on_error must be \"value\" or \"fail\""},
    {"{\"t\":{\"value\":1,\"timeout_ms\":0}}",
     "tool t: timeout_ms must be a whole number from 1 to 86400000"},
    {"{\"t\":{\"value\":1,\"timeout_ms\":1.5}}",
     "tool t: timeout_ms must be a whole number from 1 to 86400000"},
    {"{\"t\":{\"value\":1,\"description\":[]}}",
     "tool t: description must be a string, not a vector"},
    {"{\"t\":{\"value\":1,\"env\":[\"A\"]}}", "tool t: env goes with command and sql only"},
    {"{\"t\":{\"value\":1,\"native_result\":{\"preview\":\"rows\"}}}",
     "tool t: native_result needs expose both and cache true, since the preview points to the "
     "cached result; here expose is not set and cache is false"},
    {"{\"t\":{\"value\":1,\"native_result\":{\"limits\":1}}}",
     "tool t: unknown key native_result.limits; did you mean limit?"},
    {"{\"t\":{\"value\":1,\"native_result\":{\"preview\":\"function\"}}}",
     "tool t: native_result.preview must be \"metadata\" or \"rows\""},
    {"{\"t\":{\"value\":1,\"native_result\":7}}",
     "tool t: native_result must be an object such as {\"preview\": \"rows\"}, not an integer"},
    {"{\"t\":{\"value\":1,\"native_result\":{\"limit\":0}}}",
     "tool t: native_result.limit must be a whole number from 1 to 10000"},
    {"{\"a b\":{\"value\":1}}",
     "tool a b: a tool's name may not have byte 0x20 at position 2: it is made of letters, digits "
     "and _-.?!*+<>=&$"},
    {"{\"lisp_eval\":{\"value\":1}}",
     "tool lisp_eval: lisp_eval is the tool that runs programs: choose another name"},
    {"{\"\":{\"value\":1}}", "a tool needs a name"},
    {"{\"t\":{\"error\":5}}", "tool t: error must be a string, the text of the failure"},
    {"{\"t\":{\"table\":[1]}}",
     "tool t: table must be an object from arguments (as JSON text) to results"},
    {"{\"t\":{\"table\":{\"{n:1}\":1}}}",
     "tool t: table: the key {n:1} is not JSON: column 2: expected a key in quotes, found n"},
    {"{\"t\":{\"table\":{\"[1]\":1}}}",
     "tool t: table: the key [1] must be a JSON object, the arguments of a call, or *"},
    {"{\"t\":{\"table\":{\"{\\\"a\\\":1}\":1,\"{ \\\"a\\\":1}\":1}}}",
     "tool t: table: the key { \"a\":1} occurs twice"},
    {"{\"t\":{\"lisp\":1}}",
     "tool t: lisp must be a string such as \"(fn [args] ...)\", not an integer"},
    {"{\"t\":{\"lisp\":\"5\"}}",
     "tool t: lisp must give a function, such as (fn [args] ...), not an integer"},
    {"{\"t\":{\"lisp\":\":kw\"}}",
     "tool t: lisp must give a function, such as (fn [args] ...), not a keyword"},
    {"{\"t\":{\"lisp\":\"\"}}",
     "tool t: lisp must give a function, such as (fn [args] ...), not nil"},
    {"{\"t\":{\"lisp\":\"(return 1)\"}}",
     "tool t: lisp must give a function, but ends with (return ...)"},
    {"{\"t\":{\"lisp\":\"(fail 1)\"}}",
     "tool t: lisp must give a function, but ends with (fail ...)"},
    {"{\"t\":{\"lisp\":\"(defn f [a] a) f\"}}",
     "tool t: lisp defines the global variable f, which a tool cannot have; use let"},
    {"{\"t\":{\"lisp\":\"(fn [a] (def x 1))\"}}",
     "tool t: lisp defines the global variable x, which a tool cannot have; use let"},
    {"{\"t\":{\"http\":{\"url\":\"x\"}}}",
     "tool t: http is not available here: it belongs in the tools of an agent"},
    {"{\"t\":{\"echo\":1}}", "tool t: echo must be true"},
    {"{\"t\":{\"echo\":false}}", "tool t: echo must be true"},
    {"{\"t\":{\"seq\":[]}}", "tool t: seq must be an array of one value or more"},
    {"{\"t\":{\"seq\":5}}", "tool t: seq must be an array of one value or more"},
    {"{\"t\":{\"lisp\":\"identity\",\"sleep_ms\":5}}",
     "tool t: sleep_ms goes with value, error, table, echo and seq only"},
    {"{\"t\":{\"value\":1,\"sleep_ms\":0}}",
     "tool t: sleep_ms must be a whole number from 1 to 86400000"},
    {"{\"t\":{\"value\":1,\"read_only\":1}}",
     "tool t: read_only must be true or false, not an integer"},
    {"{\"t\":{\"value\":1,\"native_result\":{\"preview\":{\"lsp\":\"1\"}}}}",
     "tool t: native_result.preview must be \"metadata\", \"rows\" or {\"lisp\": \"(fn [result] "
     "{...})\"}"},
    {"{\"t\":{\"value\":1,\"native_result\":{\"preview\":{\"lisp\":\"1\"}}}}",
     "tool t: native_result.preview: lisp must give a function, such as (fn [args] ...), not an "
     "integer"},
    {"{\"t\":{\"agent\":\"a.json\"}}",
     "tool t: agent is not available here: it belongs in the tools of an agent"},
    {"{\"t\":{\"llm\":{}}}",
     "tool t: llm is not available here: it belongs in the tools of an agent"},
    {"{\"t\":\"self\"}",
     "tool t: \"self\" is not available here: it belongs in the tools of an agent"},
    {"{\"t\":{\"command\":\"ls\"}}",
     "tool t: command must be an array of 1 to 1000 strings: the program and its "
     "arguments, such as [\"ls\", \"-l\"]"},
    {"{\"t\":{\"command\":[]}}",
     "tool t: command must be an array of 1 to 1000 strings: the program and its "
     "arguments, such as [\"ls\", \"-l\"]"},
    {"{\"t\":{\"command\":[\"\"]}}", "tool t: command[0] must name a program"},
    {"{\"t\":{\"command\":[\"a\",1]}}", "tool t: command[1] must be a string"},
    {"{\"t\":{\"command\":[\"a\\u0000\"]}}", "tool t: command[0] may not contain a NUL byte"},
    {"{\"t\":{\"command\":[\"a\"],\"env\":\"A\"}}",
     "tool t: env must be an array of 0 to 1000 strings"},
    {"{\"t\":{\"command\":[\"a\"],\"env\":[\"A=1\"]}}",
     "tool t: env[0] must be the name of a variable, without a value"},
};

/* Beginnings of messages that others write. */
static const struct {
    const char *tools, *want;
} near_mistakes[] = {
    {"{\"t\":{\"value\":1,\"signature\":\"(n :inte) -> :int\"}}",
     "tool t: its signature is wrong at"},
    {"{\"t\":{\"lisp\":\"(fn [args]\\n  (foo args))\"}}", "tool t: lisp: line 2, column 4: "},
    {"{\"t\":{\"lisp\":\"(fn [args]\"}}", "tool t: lisp: line 1, column "},
    {"{\"t\":{\"lisp\":\"(/ 1 0)\"}}", "tool t: lisp: line 1, column 1: "},
    {"{\"t\":{\"lisp\":\"(fn [a] (tool/u a))\"},\"u\":{\"value\":1}}",
     "tool t: lisp: line 1, column 10: "},
    {"{\"t\":{\"lisp\":\"(loop [] (recur))\"}}", "tool t: lisp: line 1, column "},
    {"{\"t\":{\"lisp\":\"(vec (range 10000000))\"}}", "tool t: lisp: line 1, column "},
};

static void test_mistakes(void)
{
    PtcWhy why;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        CHECK(!read_tools(mistakes[i].tools, &allow_kinds, &why));
        CHECK_STR(why.text, mistakes[i].want);
    }
    for (size_t i = 0; i < sizeof near_mistakes / sizeof *near_mistakes; i++) {
        CHECK(!read_tools(near_mistakes[i].tools, &allow_kinds, &why));
        why.text[strlen(near_mistakes[i].want)] = 0;
        CHECK_STR(why.text, near_mistakes[i].want);
    }
}

/* "read-only idempotent inside" as letters, of the one tool of a file. */
static const char *hints(const char *json)
{
    PtcWhy why;
    static char out[4];
    PtcTools *tools = read_tools(json, &allow_kinds, &why);
    CHECK_STR(why.text, "");
    const PtcToolInfo *info = &tools->items[0].info;
    snprintf(out, sizeof out, "%c%c%c", info->read_only ? 'r' : '-', info->idempotent ? 'i' : '-',
             info->inside ? 'n' : '-');
    ptc_tools_free(tools);
    return out;
}

static void test_hints(void)
{
    CHECK_STR(hints("{\"t\":{\"value\":1}}"), "rin");
    CHECK_STR(hints("{\"t\":{\"error\":\"x\"}}"), "rin");
    CHECK_STR(hints("{\"t\":{\"table\":{\"*\":1}}}"), "rin");
    CHECK_STR(hints("{\"t\":{\"echo\":true}}"), "rin");
    CHECK_STR(hints("{\"t\":{\"seq\":[1]}}"), "rin");
    CHECK_STR(hints("{\"t\":{\"lisp\":\"(fn [a] 1)\"}}"), "rin");
    CHECK_STR(hints("{\"t\":{\"command\":[\"true\"]}}"), "---");
    CHECK_STR(hints("{\"t\":{\"command\":[\"true\"],\"read_only\":true}}"), "ri-");
    CHECK_STR(hints("{\"t\":{\"command\":[\"true\"],\"idempotent\":true}}"), "-i-");
    CHECK_STR(hints("{\"t\":{\"read_only\":false,\"value\":1}}"),
              "--n"); /* a mock of one that writes */
    CHECK_STR(hints("{\"t\":{\"read_only\":false,\"idempotent\":true,\"value\":1}}"), "-in");
}

/* Where the mistake is. */
static const struct {
    const char *tools, *path;
} places[] = {
    {"[]", ""},
    {"{\"t\":{}}", "t"},
    {"{\"t\":{\"value\":1,\"error\":\"e\"}}", "t"},
    {"{\"t\":{\"comand\":[\"x\"]}}", "t.comand"},
    {"{\"t\":{\"value\":1,\"expose\":\"all\"}}", "t.expose"},
    {"{\"t\":{\"table\":5}}", "t.table"},
    {"{\"a b\":{\"value\":1}}", "a b"},
    {"{\"lisp_eval\":{\"value\":1}}", "lisp_eval"},
    {"{\"t\":{\"value\":1,\"native_result\":{\"limit\":0}}}", "t.native_result.limit"},
    {"{\"t\":{\"value\":1,\"native_result\":{\"limits\":1}}}", "t.native_result.limits"},
    {"{\"t\":{\"value\":1,\"native_result\":{}}}", "t.native_result"},
    {"{\"t\":{\"value\":1,\"signature\":\"(n :inte) -> :int\"}}", "t.signature"},
    {"{\"u\":{\"value\":1},\"t\":{\"agent\":{}}}", "t.agent"},
};

static void test_places(void)
{
    Ptc *ptc = ptc_new(NULL);
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        PtcWhy fault;
        PtcTools *tools = ptc_tools_new();
        PtcValue v = ptc_make_json(data, places[i].tools, strlen(places[i].tools), NULL, 0);
        CHECK(!ptc_tools_read_at(tools, v, &allow_kinds, &fault));
        CHECK_STR(fault.path, places[i].path);
        ptc_tools_free(tools);
    }
    ptc_data_free(data);
    end_engine(ptc);
}

static void test_allowed(void)
{
    PtcWhy why;
    PtcToolsFileOptions allow = {.command = true};
    static const PtcToolsFileOptions none;
    static const char command[] = "{\"t\":{\"command\":[\"true\"]}}",
                      http[] = "{\"t\":{\"http\":{}}}";
    CHECK(!read_tools(command, &none, &why));
    CHECK_STR(why.text, "tool t: command tools are not allowed here");
    allow.kinds = ptc_agent_kinds;
    CHECK(!read_tools(http, &allow, &why));
    CHECK_STR(why.text, "tool t: http tools are not allowed here");
    CHECK(ptc_tools_read_allowed("http", &allow, &why));
    CHECK(!read_tools(command, &allow, &why));
    CHECK_STR(why.text,
              "tool t: command tools are not allowed here; --allow-tools command allows them");
    CHECK(ptc_tools_read_allowed("command", &allow, &why));
    allow.kinds = ptc_agent_kinds;
    CHECK(!read_tools(http, &allow, &why));
    CHECK_STR(why.text, "tool t: http tools are not allowed here; --allow-tools http allows them");
    PtcTools *tools = read_tools(command, &allow, &why);
    CHECK(tools && ptc_tools_count(tools) == 1);
    ptc_tools_free(tools);
    CHECK(ptc_tools_read_allowed("http,command", &allow, &why));
    CHECK(allow.command && allow.http);
    CHECK(ptc_tools_read_allowed("", &allow, &why) && !allow.command && !allow.http);
    CHECK(!ptc_tools_read_allowed("commands", &allow, &why));
    CHECK_STR(why.text, "command and http can be allowed, not 'commands'");
}

static void test_many(void)
{
    PtcWhy why;
    static char json[64 * 1024];
    size_t n = 0;
    for (int i = 0; i <= PTC_TOOLS_FILE_MAX; i++)
        n += (size_t)snprintf(json + n, sizeof json - n, "%s\"t%d\":{\"value\":%d}", i ? "," : "{",
                              i, i);
    snprintf(json + n, sizeof json - n, "}");
    CHECK(!read_tools(json, &allow_kinds, &why));
    CHECK_STR(why.text, "there are 1001 tools, at most 1000 may be defined");
    snprintf(strrchr(json, ','), 2, "}");
    PtcTools *tools = read_tools(json, &allow_kinds, &why);
    CHECK(tools && ptc_tools_count(tools) == PTC_TOOLS_FILE_MAX);
    CHECK_STR(ptc_tools_name(tools, 999), "t999");
    ptc_tools_free(tools);
}

/* Definitions that are values of a heap which goes away. */
static void test_copied(void)
{
    PtcWhy why;
    char out[TEXT];
    static const char json[] = "{\"t\":{\"value\":{\"a\":[\"text of some length\"]}},"
                               "\"u\":{\"lisp\":\"(fn [x] [x \\\"constant\\\"])\"},"
                               "\"v\":{\"table\":{\"{}\":{\"k\":\"value\"}}},"
                               "\"w\":{\"command\":[\"echo\",\"[1]\"],\"description\":\"says 1\"}}";
    Ptc *ptc = patient_engine();
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    PtcValue v = ptc_make_json(data, json, sizeof json - 1, NULL, 0);
    PtcTools *tools = ptc_tools_new();
    CHECK(ptc_tools_read(tools, v, &allow_kinds, &why));
    ptc_data_free(data);
    CHECK_STR(ptc_tools_description(tools, 3), "says 1");
    CHECK_STR(run_with(ptc, tools, "[(tool/t) (tool/u) (tool/v) (tool/w)]", out),
              "[{\"a\" [\"text of some length\"]} [{} \"constant\"] {\"k\" \"value\"} [1]]");
    end_engine(ptc);
}

/* ------------------------------------------------------------------------------- sharing */

enum { THREADS = 4 };

static void *use_shared(void *tools)
{
    char out[TEXT];
    Ptc *ptc = patient_engine();
    for (int i = 0; i < 10; i++)
        run_with(ptc, ptc_toolset_retain(tools),
                 "(reduce + (pmap (fn [n] (+ (tool/f {:n n}) (:x (tool/c)) (tool/t {:n 1}))) "
                 "(range 20)))",
                 out);
    ptc_free(ptc);
    return strcmp(out, "310") == 0 ? tools : NULL;
}

/* Engines on several threads use one set at once. */
static void test_shared(void)
{
    PtcWhy why;
    pthread_t threads[THREADS];
    PtcTools *tools = read_tools("{\"f\":{\"lisp\":\"(fn [{:keys [n]}] (let [m {:a n}] (:a m)))\"},"
                                 "\"c\":{\"value\":{\"x\":5}},\"t\":{\"table\":{\"*\":1}}}",
                                 &allow_kinds, &why);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, use_shared, tools) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *good = NULL;
        pthread_join(threads[i], &good);
        CHECK(good == tools);
    }
    ptc_tools_free(tools);
}

/* ------------------------------------------------------------------------------- torture */

/* Every allocation of reading a file fails once. */
static void test_torture(void)
{
    static const char json[] =
        "{\"v\":{\"value\":{\"a\":[1,{\"b\":2}]},\"signature\":\"(n :int) -> :map\"},"
        "\"e\":{\"error\":\"e\"},\"l\":{\"lisp\":\"(fn [a] [a {:k 1}])\"},"
        "\"t\":{\"table\":{\"{\\\"a\\\":1}\":[1],\"*\":2}},"
        "\"c\":{\"command\":[\"cat\"],\"env\":[\"PATH\"],\"description\":\"d\"}}";
    PtcWhy why;
    bool done = false;
    int n = 0;
    while (!done && n < 1000) {
        PtcTools *tools = ptc_tools_new();
        ptc_mem_fail_at(&tools->mem, (uint64_t)++n);
        why.text[0] = 0;
        done = ptc_tools_read_json(tools, json, sizeof json - 1, &allow_kinds, &why);
        CHECK(done || strstr(why.text, "memory"));
        if (!done && !strstr(why.text, "memory"))
            printf("allocation %d: %s\n", n, why.text);
        ptc_tools_free(tools);
    }
    CHECK(done && n > 10);
}

/* May a program with these tools be run again, after a person was asked about something else that it calls? */
static void test_repeated(void)
{
    static const struct {
        const char *json;
        bool may;
    } sets[] = {
        {"{}", true},
        {"{\"a\":{\"command\":[\"true\"]}}", false},
        {"{\"a\":{\"command\":[\"true\"],\"read_only\":true}}", true},
        {"{\"a\":{\"command\":[\"true\"],\"idempotent\":true}}", true},
        {"{\"a\":{\"command\":[\"true\"],\"cache\":true}}", true},
        {"{\"a\":{\"value\":1}}", true},
        {"{\"a\":{\"value\":1},\"b\":{\"command\":[\"true\"]}}", false},
    };
    PtcWhy why;
    CHECK(ptc_toolset_may_repeat(NULL));
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        PtcTools *tools = read_tools(sets[i].json, &allow_kinds, &why);
        CHECK(tools && ptc_toolset_may_repeat(tools) == sets[i].may);
        ptc_tools_free(tools);
    }
}

int main(void)
{
    test_cases();
    test_mistakes();
    test_hints();
    test_repeated();
    test_places();
    test_allowed();
    test_many();
    test_copied();
    test_shared();
    test_torture();
    return check_done("test_tool_file");
}
