/* SPDX-License-Identifier: MIT
 * test_agent_reply.c - what is found in replies of models: programs and answers.  The cases are in tests/agent. */
#include "agent_help.h"

#include "agent/step/blocks.h"
#include "agent/step/find_program.h"
#include "agent/step/read_answer.h"

static const char *text_of(PtcText t)
{
    static char all[4][1 << 16];
    static int next;
    char *to = all[next++ % 4];
    snprintf(to, sizeof all[0], "%.*s", t.bytes ? (int)t.len : 8, t.bytes ? t.bytes : "(absent)");
    return to;
}

/* ------------------------------------------------------------------------------ programs */

static const char *found_name(const PtcFound *f)
{
    static char several[32];
    snprintf(several, sizeof several, "several %zu", f->count);
    return f->kind == PTC_FOUND_NONE ? "none" : f->kind == PTC_FOUND_PROGRAM ? "program" : several;
}

static void run_find(const Case *c)
{
    PtcBench s;
    PtcFound found;
    const char *reply = said(part(c, "reply"));
    size_t len = strlen(reply);
    char *copy = malloc(len + !len);
    memcpy(copy, reply, len);
    ptc_bench_init(&s);
    CHECK(ptc_find_program(&s, (PtcText){copy, len}, part(c, "cut") != NULL, &found));
    const char *want = part(c, "none") ? "none" : part(c, "program") ? "program" : "several 2";
    check_text("kind", found_name(&found), want);
    if (part(c, "program"))
        check_text("program", text_of(found.program), said(part(c, "program")));
    check_text("history", text_of(found.history),
               said(part(c, part(c, "history") ? "history" : "reply")));
    check_that(found.work <= 9 * len + 16, "work", "more than linear", "");
    ptc_bench_deinit(&s);
    free(copy);
}

/* Replies made to cost much: the work stays within the bound, and whatever is found is found again. */
static void check_work(const char *piece, size_t count, const char *end)
{
    PtcBench s;
    PtcFound found;
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    while (count--)
        ptc_buf_add_cstr(&buf, piece);
    ptc_buf_add_cstr(&buf, end);
    ptc_bench_init(&s);
    CHECK(ptc_find_program(&s, ptc_buf_view(&buf), false, &found));
    CHECK(found.work <= (PTC_FIND_FACTOR + 2) * buf.len);
    ptc_bench_deinit(&s);
    ptc_buf_deinit(&buf);
}

static void test_work(void)
{
    check_work("```clojure\n(\"\n```\n", 20000, "");
    check_work("```clojure\n\"\n", 20000, "```\n");
    check_work("```clojure\n(a\n```\n", 20000, "");
    check_work("```clojure\n{1}\n```\n", 20000, "");
    check_work("<lisp>(\"", 20000, "");
    check_work("<lisp>", 50000, "</lisp>");
    check_work("</lisp>\n", 50000, "");
    check_work("```\n", 50000, "");
    check_work("~~~ x\n", 50000, "");
    check_work("(", 200000, "");
    check_work("“", 100000, "");
    check_work("\xc2\xa0\n", 100000, "(x)");
    check_work("```clojure\n(", 1, "");
}

static void test_find_memory(void)
{
    static const char reply[] =
        "Text.\n```clojure\n(return \"a\n```\n\" 12345678901234567890)\n```\n";
    bool done = false;
    for (uint64_t n = 1; !done && n < 100; n++) {
        PtcBench s;
        PtcFound found;
        ptc_bench_init(&s);
        ptc_mem_fail_at(&s.mem, n);
        bool ok = ptc_find_program(&s, ptc_text_cstr(reply), false, &found);
        CHECK(!ok || found.kind == PTC_FOUND_PROGRAM);
        done = ok && atomic_load(&s.mem.count) < n;
        ptc_bench_deinit(&s);
        CHECK(atomic_load(&s.mem.used) == 0);
    }
    CHECK(done);
}

static const struct {
    const char *program, *want;
} wraps[] = {
    {"(+ 1 2)", "(+ 1 2)"},
    {"```clojure\n(+ 1 2)\n```", "(+ 1 2)"},
    {"\n ```\n(+ 1\r\n 2)\n ```  \n", "(+ 1\n 2)"},
    {"```clojure\n(+ 1 2)\n```\nDone.", "```clojure\n(+ 1 2)\n```\nDone."},
    {"```clojure\n(+ 1 2)", "```clojure\n(+ 1 2)"},
    {"(str “a”)", "(str \"a\")"},
    {"  ", "  "},
    {"", ""},
};

static void test_unwrap(void)
{
    for (size_t i = 0; i < sizeof wraps / sizeof *wraps; i++) {
        PtcBench s;
        ptc_bench_init(&s);
        CHECK_STR(text_of(ptc_find_unwrap(&s, ptc_text_cstr(wraps[i].program))), wraps[i].want);
        ptc_bench_deinit(&s);
    }
}

static const struct {
    const char *reply;
    bool want;
} fenced[] = {
    {"```clojure\n(return 5)\n```", true},
    {"```\n(return 5)\n```", true},
    {"```edn\n5\n```", true},
    {"```\n5\n```", false},
    {"```python\n(print 5)\n```", false},
    {"```json\n[5]\n```", false},
    {"(return 5)", false},
    {"```clojure\n(return 5)", false},
};

static void test_fenced(void)
{
    for (size_t i = 0; i < sizeof fenced / sizeof *fenced; i++) {
        PtcBench s;
        bool found;
        ptc_bench_init(&s);
        CHECK(ptc_find_fenced(&s, ptc_text_cstr(fenced[i].reply), &found));
        CHECK(found == fenced[i].want);
        ptc_bench_deinit(&s);
    }
}

/* ------------------------------------------------------------------------------- answers */

static PtcArena arena;

/* What the case wants; in the definition of an agent definition_check.c finds it out. */
static PtcWant want_of(const Case *c)
{
    static const PtcWrap wraps_of[] = {
        [PTC_SIG_LIST] = PTC_WRAP_ITEMS,    [PTC_SIG_INT] = PTC_WRAP_VALUE,
        [PTC_SIG_FLOAT] = PTC_WRAP_VALUE,   [PTC_SIG_BOOL] = PTC_WRAP_VALUE,
        [PTC_SIG_KEYWORD] = PTC_WRAP_VALUE, [PTC_SIG_DATETIME] = PTC_WRAP_VALUE,
        [PTC_SIG_OPTIONAL] = PTC_WRAP_NONE};
    PtcWant want = {.float_precision = -1};
    PtcSigError e;
    PtcSchemaError bad;
    const CasePart *type = part(c, "type"), *schema = part(c, "schema");
    if (type) {
        check_that(ptc_sig_parse(&arena, type->value, strlen(type->value), &want.sig, &e), "type",
                   e.message, "");
        want.wrap = wraps_of[ptc_want_type(&want)->kind];
    }
    if (schema) {
        check_that(
            ptc_schema_compile(&arena, &h.mem, &h.budget, parse(schema->value), &want.schema, &bad),
            "schema", bad.message, "");
        want.wrap = strstr(schema->value, "{\"type\":\"array\"") == schema->value ? PTC_WRAP_ITEMS
                    : strcmp(schema->value, "{\"type\":\"integer\"}") == 0        ? PTC_WRAP_VALUE
                                                                                  : PTC_WRAP_NONE;
    }
    return want;
}

static const char *const answer_kinds[] = {"answer", "wrong", "no-json", "empty"};

/* Answers in the file are JSON; texts in quotes are so already. */
static void run_answer(const Case *c)
{
    PtcBench b;
    PtcAnswer got;
    PtcWant want = want_of(c);
    const char *reply = said(part(c, "reply"));
    size_t len = strlen(reply);
    char *copy = malloc(len + !len);
    memcpy(copy, reply, len);
    ptc_bench_init(&b);
    CHECK(ptc_read_answer(&b, &want, (PtcText){copy, len}, &got));
    const CasePart *answer = part(c, "answer"), *wrong = part(c, "wrong");
    if (!check_that(part(c, answer_kinds[got.kind]) != NULL, "kind", answer_kinds[got.kind], ""))
        ;
    else if (answer)
        check_text("answer", text_of(got.json), answer->value[0] ? answer->value : answer->text);
    else if (wrong)
        check_text("findings", text_of(ptc_blocks_trim(got.findings)), said(wrong));
    check_that(!wrong || parse(text_of(got.issues)) != PTC_NONE, "issues", text_of(got.issues), "");
    check_that(got.work <= 10 * len, "work", "more than linear", "");
    ptc_bench_deinit(&b);
    free(copy);
}

static void check_answer_work(const char *piece, size_t count, const char *end, bool found)
{
    PtcBench b;
    PtcAnswer got;
    PtcBuf buf;
    Case c = {.parts = {{"type", "{a :int}", NULL, 0}}, .count = 1};
    running = &c;
    PtcWant want = want_of(&c);
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    while (count--)
        ptc_buf_add_cstr(&buf, piece);
    ptc_buf_add_cstr(&buf, end);
    ptc_bench_init(&b);
    CHECK(ptc_read_answer(&b, &want, ptc_buf_view(&buf), &got));
    CHECK((got.kind == PTC_ANSWER_FITS) == found);
    CHECK(got.work <= 10 * buf.len);
    ptc_bench_deinit(&b);
    ptc_buf_deinit(&buf);
}

static void test_answer_work(void)
{
    check_answer_work("[", 100000, "", false);
    check_answer_work("[1,", 100000, "{\"a\":1}", false);
    check_answer_work("{\"b\":", 100000, "", false);
    check_answer_work("{x", 100000, "{\"a\":1}", true);
    check_answer_work("{} ", 63, "{\"a\":1}", true);
    check_answer_work("{} ", 64, "{\"a\":1}", false);
    check_answer_work("```\n[\n```\n", 20000, "{\"a\":1}", true);
    check_answer_work("```json\n", 20000, "", false);
}

static void test_answer_memory(void)
{
    bool done = false;
    Case c = {.parts = {{"type", "{a :datetime, b [:keyword]}", NULL, 0}}, .count = 1};
    running = &c;
    PtcWant want = want_of(&c);
    for (uint64_t n = 1; !done && n < 1000; n++) {
        PtcBench b;
        PtcAnswer got;
        ptc_bench_init(&b);
        ptc_mem_fail_at(&b.mem, n);
        bool ok = ptc_read_answer(
            &b, &want, PTC_TEXT("{} {\"a\":\"2031-02-03T04:05:06Z\",\"b\":[\"x\",\"y\"]}"), &got);
        CHECK(!ok || got.kind == PTC_ANSWER_FITS);
        done = ok && atomic_load(&b.mem.count) < n;
        ptc_bench_deinit(&b);
        CHECK(atomic_load(&b.mem.used) == 0);
    }
    CHECK(done);
}

int main(void)
{
    check_heap_init(&h);
    CHECK(case_file("tests/agent/find_program.txt", run_find) > 40);
    test_work();
    test_find_memory();
    test_unwrap();
    test_fenced();
    ptc_arena_init(&arena, &h.mem);
    CHECK(case_file("tests/agent/read_answer.txt", run_answer) > 40);
    test_answer_work();
    test_answer_memory();
    ptc_arena_deinit(&arena);
    check_heap_deinit(&h);
    return check_done("agent_reply");
}
