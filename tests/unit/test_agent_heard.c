/* SPDX-License-Identifier: MIT
 * test_agent_heard.c - what replies are in each mode: tests/agent/heard.txt.  With `--print FILE` the cases are shown
 * as they come out. */
#include "agent/step/heard.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"

#include "agent_help.h"

static bool printing;
static const PtcAgentReading reading = {.allow_scripts = true};

/* A reply from JSON as scripts have it: content, tool_calls, cut. */
static PtcLlmReply read_reply(PtcValue v, PtcMessageCall *calls)
{
    PtcValue list = ptc_map_field(&h.heap, v, "tool_calls"),
             text = ptc_map_field(&h.heap, v, "content");
    PtcLlmReply reply = {.text = text == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(text),
                         .calls = calls,
                         .cut = ptc_map_field(&h.heap, v, "cut") == PTC_TRUE};
    for (size_t i = 0; list != PTC_NONE && i < ptc_seq_count(list); i++) {
        PtcValue c = ptc_seq_nth(list, i), id = ptc_map_field(&h.heap, c, "id"),
                 raw = ptc_map_field(&h.heap, c, "raw");
        PtcValue args = ptc_map_field(&h.heap, c, "args");
        if (raw == PTC_NONE && args != PTC_NONE)
            raw = ptc_str_new(&h.heap, write(args), strlen(write(args)));
        calls[i] = (PtcMessageCall){.id = id == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(id),
                                    .name = ptc_str_text(ptc_map_field(&h.heap, c, "name"))};
        if (raw != PTC_NONE)
            calls[i].args = ptc_str_text(raw);
        reply.call_count++;
    }
    return reply;
}

static void show(PtcBuf *to, const char *name, PtcText t)
{
    if (t.bytes)
        ptc_buf_addf(to, "%s: %.*s\n", name, (int)t.len, t.bytes);
}

static void show_heard(PtcBuf *to, const PtcHeard *heard)
{
    static const char *const kinds[] = {"program", "calls", "answer", "bad", "out of memory"};
    ptc_buf_addf(to, "%s%s%s\n", kinds[heard->kind], heard->kind == PTC_HEARD_BAD ? " " : "",
                 heard->kind == PTC_HEARD_BAD ? ptc_agent_fault_word(heard->reason) : "");
    show(to, "content", heard->content);
    show(to, "program", heard->program);
    show(to, "answer", heard->answer);
    for (size_t i = 0; i < heard->call_count; i++) {
        const PtcHeardCall *c = &heard->calls[i];
        ptc_buf_addf(to, "call %.*s#%.*s %.*s", (int)c->name.len, c->name.bytes, (int)c->id.len,
                     c->id.bytes ? c->id.bytes : "", (int)c->args.len, c->args.bytes);
        if (c->reason)
            ptc_buf_addf(to, " !%s: %.*s", ptc_agent_fault_word(c->reason), (int)c->message.len,
                         c->message.bytes);
        else if (c->tool != SIZE_MAX)
            ptc_buf_addf(to, " -> %zu", c->tool);
        ptc_buf_addf(to, "\n");
    }
    show(to, "issues", heard->issues);
    show(to, "feedback", heard->feedback);
}

static void run_case(const Case *c)
{
    PtcWhy fault;
    PtcBench b;
    PtcHeard heard;
    PtcMessageCall calls[40];
    PtcBuf got;
    PtcAgentDef *def =
        ptc_definition_read_json(ptc_text_cstr(said(part(c, "agent"))), &reading, &fault);
    PtcValue v = parse(said(part(c, "reply")));
    if (!check_that(def != NULL, "agent", fault.text, fault.path) ||
        !check_that(v != PTC_NONE, "reply", "no JSON", ""))
        return;
    PtcLlmReply reply = read_reply(v, calls);
    ptc_bench_init(&b);
    ptc_hear(&b, def, &reply, &heard);
    ptc_buf_init(&got, &h.mem, SIZE_MAX / 2);
    show_heard(&got, &heard);
    while (got.len && got.data[got.len - 1] == '\n')
        got.len--;
    if (printing)
        printf("== %s\n-- heard\n%s\n", c->name, ptc_buf_text(&got));
    else
        check_text("heard", ptc_buf_text(&got), part(c, "heard") ? part(c, "heard")->text : "");
    ptc_buf_deinit(&got);
    ptc_bench_deinit(&b);
    ptc_definition_release(def);
}

/* Every allocation fails once, in every mode. */
static void check_memory(const char *fields, const PtcLlmReply *reply)
{
    char json[500];
    PtcWhy fault;
    bool done = false;
    snprintf(json, sizeof json, "{\"prompt\":\"x\",\"tools\":{\"a\":{\"value\":1}}%s}", fields);
    PtcAgentDef *def = ptc_definition_read_json(ptc_text_cstr(json), &reading, &fault);
    CHECK(def != NULL);
    for (uint64_t n = 1; def && !done && n < 300; n++) {
        PtcBench b;
        PtcHeard heard;
        ptc_bench_init(&b);
        ptc_mem_fail_at(&b.mem, n);
        ptc_hear(&b, def, reply, &heard);
        CHECK(heard.kind == PTC_HEARD_NO_MEMORY || heard.kind == PTC_HEARD_BAD ||
              heard.kind == PTC_HEARD_CALLS || heard.kind == PTC_HEARD_PROGRAM ||
              heard.kind == PTC_HEARD_ANSWER);
        for (size_t i = 0; heard.kind != PTC_HEARD_NO_MEMORY && i < heard.call_count; i++)
            CHECK(heard.calls[i].args.bytes &&
                  (!heard.calls[i].reason || heard.calls[i].message.bytes));
        done = atomic_load(&b.mem.count) < n;
        ptc_bench_deinit(&b);
        CHECK(atomic_load(&b.mem.used) == 0);
    }
    CHECK(done);
    ptc_definition_release(def);
}

static void test_memory(void)
{
    PtcMessageCall calls[] = {{.id = PTC_TEXT("1"),
                               .name = PTC_TEXT("lisp_eval"),
                               .args = PTC_TEXT("{\"program\":\"```\\n(+ 1 1)\\n```\"}")},
                              {.name = PTC_TEXT("ghost"), .args = PTC_TEXT("\"{}\"")},
                              {.name = PTC_TEXT("a"), .args = PTC_TEXT("[")}};
    for (size_t n = 0; n <= 3; n++) {
        PtcLlmReply reply = {.text = PTC_TEXT("Text {\"n\":1}\n```clojure\n(return 1)\n```\n"),
                             .calls = calls + 3 - n,
                             .call_count = n};
        PtcLlmReply one = {.calls = calls, .call_count = 1};
        check_memory("", &reply);
        check_memory(",\"ptc_transport\":\"tool_call\"", n == 1 ? &one : &reply);
        check_memory(",\"output\":\"text\",\"signature\":\"{n :int, m :int}\"", &reply);
        check_memory(",\"output\":\"text\",\"ptc_transport\":\"tool_call\"",
                     n == 1 ? &one : &reply);
    }
}

/* What is no UTF-8 is replaced before anything looks at it. */
static void test_utf8(void)
{
    PtcWhy fault;
    PtcBench b;
    PtcHeard heard;
    PtcLlmReply reply = {.text = PTC_TEXT("a\xff"
                                          "b\xe4")};
    PtcAgentDef *def = ptc_definition_read_json(PTC_TEXT("{\"prompt\":\"x\",\"output\":\"text\"}"),
                                                &reading, &fault);
    ptc_bench_init(&b);
    ptc_hear(&b, def, &reply, &heard);
    CHECK(heard.kind == PTC_HEARD_ANSWER && ptc_text_is(heard.answer, "\"a\xef\xbf\xbd"
                                                                      "b\xef\xbf\xbd\""));
    ptc_bench_deinit(&b);
    ptc_definition_release(def);
}

int main(int argc, char **argv)
{
    check_heap_init(&h);
    printing = argc == 3 && strcmp(argv[1], "--print") == 0;
    int cases = case_file(printing ? argv[2] : "tests/agent/heard.txt", run_case);
    if (!printing) {
        CHECK(cases > 40);
        test_memory();
        test_utf8();
    }
    check_heap_deinit(&h);
    return check_done("agent_heard");
}
