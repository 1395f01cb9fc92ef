/* SPDX-License-Identifier: MIT
 * test_card.c - the language card: its size, and that every program on it does what it says. */
#include "api_help.h"

#include "tool/card.h"

static const char context[] =
    "{\"rows\":[{\"id\":\"a\",\"n\":1},{\"id\":\"b\",\"n\":2},{\"id\":\"c\",\"n\":3}]}";

/* What programs without an answer on the card give; they are the ones that need data or whose answer is long. */
static const char *const answers[][2] = {
    {"(->> data/rows", "[\"b\" \"c\"]"},
    {"(try (/ 1 0)", "\"/: division by zero\""},
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

static void test_examples(Ptc *ptc, PtcValue rows)
{
    int count = 0;
    for (const char *line = ptc_card_text(); *line;) {
        size_t len = strcspn(line, "\n");
        if (*line == '(' || *line == '[') {
            run_line(ptc, rows, line, len);
            count++;
        }
        line += len + (line[len] == '\n');
    }
    CHECK(count >= 8);
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
        {"(tool/name {:arg 1})", "(tool/name {:arg 1})", "!unknown_tool 1:2"},
        {"pmap", "(pmap inc [1 2])", "[2 3]"},
        {"(doc 'sum-by)", "(str/includes? (doc 'sum-by) \"sum\")", "true"},
        {"(apropos \"sum\")", "(pos? (count (apropos \"sum\")))", "true"},
        {"atoms", "(atom 1)", "!unbound_var 1:2"},
        {"macros", "(defmacro m [x] x)", "!unbound_var 1:2"},
        {"multimethods", "(defmulti m :a)", "!unbound_var 1:2"},
        {"records", "(defrecord R [a])", "!unbound_var 1:2"},
        {"I/O", "(slurp \"f\")", "!unbound_var 1:2"},
        {"random", "(rand)", "!unbound_var 1:2"},
        {"Math/", "(Math/sqrt 16)", "4.0"},
        {"LocalDate/", "(str (LocalDate/parse \"2026-01-15\"))", "\"2026-01-15\""},
        {"String methods", "(.toUpperCase \"a\")", "\"A\""},
        {"1e6 loops", "(loop [i 0] (if (< i 1000001) (recur (inc i)) i))",
         "!loop_limit_exceeded 1:31"},
    };
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        CHECK(strstr(ptc_card_text(), claims[i].on_card) != NULL);
        expect(__LINE__, ptc, NULL, 0, claims[i].program, claims[i].answer);
    }
}

static void test_size(const Ptc *ptc)
{
    const char *description = ptc_tool_description(PTC_PROFILE_MCP_NO_TOOLS);
    CHECK(strlen(ptc_card_text()) <= 1100 && PTC_CARD_MAX == 1100);
    CHECK(strncmp(ptc_card_text(), description, strlen(description)) == 0);
    CHECK(ptc_card_text()[strlen(description)] == '\n');
    CHECK(strstr(ptc_card_text(), "1 s, 10 MiB"));
    CHECK(ptc->limits.timeout_ms == 1000 && ptc->limits.memory_bytes == 10 << 20);
}

int main(void)
{
    Ptc *ptc = ptc_new(NULL);
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    test_size(ptc);
    test_examples(ptc, ptc_make_json(data, context, strlen(context), NULL, 0));
    test_claims(ptc);
    ptc_data_free(data);
    end_engine(ptc);
    return check_done("test_card");
}
