/* SPDX-License-Identifier: MIT
 * test_card.c - the language card: its size, and that every program on it does what it says. */
#include "api_help.h"

#include "tool/wire/card.h"

static const char context[] =
    "{\"rows\":[{\"id\":\"a\",\"n\":1,\"t\":\"y\"},{\"id\":\"b\",\"n\":2,\"t\":\"x\"},"
    "{\"id\":\"c\",\"n\":3,\"t\":\"x\"}]}";

/* What programs without an answer on the card give; they are the ones that need data or whose answer is long. */
static const char *const answers[][2] = {
    {"(def m 1)", "[\"b\" \"c\"]"},
    {"(for [[k v]", "[[\"y\" 1 \"a\"] [\"x\" 5 \"b\"]]"},
    {"(sort-by", "[{\"id\" \"c\", \"n\" 3, \"t\" \"x\"} {\"id\" \"b\", \"n\" 2, \"t\" \"x\"} "
                 "{\"id\" \"a\", \"n\" 1, \"t\" \"y\"}]"},
};

static const char *answer_of(const char *program)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (strncmp(program, answers[i][0], strlen(answers[i][0])) == 0)
            return answers[i][1];
    return "(no answer known to the test)";
}

static void run_line(Ptc *ptc, PtcValue rows, const char *line, size_t len)
{
    char program[TEXT];
    CHECK(len < sizeof program);
    memcpy(program, line, len);
    program[len] = 0;
    char *arrow = strstr(program, " => ");
    if (arrow)
        *arrow = 0;
    expect(__LINE__, ptc, NULL, rows, program, arrow ? arrow + 4 : answer_of(program));
}

static void test_examples(Ptc *ptc, PtcValue rows, const char *card)
{
    int count = 0;
    for (const char *line = card; *line;) {
        size_t len = strcspn(line, "\n");
        if (*line == '(' || *line == '[') {
            run_line(ptc, rows, line, len);
            count++;
        }
        line += len + (line[len] == '\n');
    }
    CHECK(count >= 10);
}

/* What the card claims in its sentences, in its words. */
static void test_claims(Ptc *ptc)
{
    static const struct {
        const char *on_card, *program, *answer;
    } claims[] = {
        {"(return v)", "(do (return 1) 2)", "1"},
        {"(fail v)", "(do (fail 1) 2)", "!fail 1:5"},
        {"(println v)", "(println 1)", "nil"},
        {"The last form's value is the answer", "1 2", "2"},
        {"(doc 'sum-by)", "(str/includes? (doc 'sum-by) \"sum\")", "true"},
        {"(apropos \"sum\")", "(pos? (count (apropos \"sum\")))", "true"},
        {"atoms", "@(atom 1)", "1"},
        {"macros", "(defmacro m [x] x)", "!unbound_var 1:2"},
        {"records", "(defrecord R [a]) (:a (->R 1))", "1"},
        {"lazy-seq", "(first (lazy-seq [1]))", "1"},
        {"I/O", "(slurp \"f\")", "!unbound_var 1:2"},
        {"str/join", "(str/join \",\" [1 2])", "\"1,2\""},
        {"into", "(into [1] [2])", "[1 2]"},
        {"memoize", "(let [f (memoize inc)] [(f 1) (f 1)])", "[2 2]"},
        {"index-by", "(index-by :id [{:id 1}])", "{1 {:id 1}}"},
        {"pq", "(first (pq-peek (pq {:a 2 :b 1})))", ":b"},
        {"set/", "(set/union #{1} #{2})", "#{1 2}"},
        {"json/", "(json/parse-string \"[1]\")", "[1]"},
        {"Math/", "(Math/sqrt 16)", "4.0"},
        {"LocalDate/", "(str (LocalDate/parse \"2026-01-15\"))", "\"2026-01-15\""},
        {"String methods", "(.toUpperCase \"a\")", "\"A\""},
    };
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        CHECK(strstr(ptc_card_text(false, false), claims[i].on_card) != NULL);
        expect(__LINE__, ptc, NULL, 0, claims[i].program, claims[i].answer);
    }
}

static PtcToolAnswer echo(PtcToolCall *call, void *user)
{
    (void)user;
    ptc_call_return(call, ptc_call_args(call));
    return PTC_TOOL_ANSWERED;
}

/* Only one of the two speaks of tools. */
static void test_tools(Ptc *ptc)
{
    static const char call[] = "(tool/name {:arg 1})";
    PtcToolDef def;
    ptc_tool_def_init(&def, sizeof def);
    def.name = "name";
    def.name_len = 4;
    def.function = echo;
    PtcTools *tools = ptc_tools_new();
    CHECK(ptc_tools_add(tools, &def, NULL, 0) == PTC_OK);
    PtcRun run = a_run("[(tool/name {:arg 1}) (pmap #(tool/name {:arg %}) [1 2])]", NULL, 0);
    PtcOutcome *o = NULL;
    run.tools = tools;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK && ptc_outcome_ok(o));
    ptc_outcome_free(o);
    ptc_tools_free(tools);
    CHECK(strstr(ptc_card_text(true, false), call) && strstr(ptc_card_text(true, false), "pmap"));
    CHECK(!strstr(ptc_card_text(false, false), "tool/") &&
          strstr(ptc_card_text(false, false), "no tools"));
    CHECK(!strstr(ptc_card_text(true, false), "no tools"));
}

static void check_limits(bool tools)
{
    PtcMem mem;
    PtcBuf out;
    ptc_mem_init(&mem, 1 << 20);
    ptc_buf_init(&out, &mem, 1 << 16);
    ptc_card_add(&out, tools, false, 1000, 10 << 20);
    CHECK(strcmp(ptc_buf_text(&out), ptc_card_text(tools, false)) == 0);
    ptc_buf_clear(&out);
    ptc_card_add(&out, tools, false, 2500, 1 << 19);
    CHECK(strstr(ptc_buf_text(&out), "Limits: 2500 ms, 512 KiB. "));
    ptc_buf_deinit(&out);
}

static void test_size(const Ptc *ptc)
{
    CHECK(PTC_CARD_MAX == 1950);
    for (int tools = 0; tools < 2; tools++) {
        CHECK(strlen(ptc_card_text(tools, false)) <= PTC_CARD_MAX);
        CHECK(strstr(ptc_card_text(tools, false), "1 s, 10 MiB"));
        check_limits(tools);
    }
    CHECK(ptc->limits.timeout_ms == 1000 && ptc->limits.memory_bytes == 10 << 20);
    CHECK(ptc->limits.loop_limit == (int64_t)1 << 62);
}

int main(void)
{
    Ptc *ptc = ptc_new(NULL);
    test_size(ptc);
    end_engine(ptc);
    ptc = patient_engine(); /* a second is not enough for all of them everywhere */
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    PtcValue rows = ptc_make_json(data, context, strlen(context), NULL, 0);
    test_examples(ptc, rows, ptc_card_text(false, false));
    test_examples(ptc, rows, ptc_card_text(true, false));
    CHECK(strlen(ptc_card_text(false, true)) <= PTC_CARD_MAX &&
          !strstr(ptc_card_text(false, true), "no tools"));
    test_claims(ptc);
    test_tools(ptc);
    ptc_data_free(data);
    end_engine(ptc);
    return check_done("test_card");
}
