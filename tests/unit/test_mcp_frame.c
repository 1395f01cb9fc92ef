/* SPDX-License-Identifier: MIT
 * test_mcp_frame.c - frames between the server and its workers: there and back, cut off, split, made up; and the check
 * of JSON that is passed on as it is. */
#include "check.h"

#include "exec/frame.h"
#include "json/check.h"
#include "lisp/vm/limits.h"

static PtcMem mem;

static PtcText view(const char *text)
{
    return (PtcText){text, strlen(text)};
}

static bool same(PtcText a, PtcText b)
{
    return !a.bytes == !b.bytes && a.len == b.len && (!a.len || !memcmp(a.bytes, b.bytes, a.len));
}

static void check_run(void)
{
    PtcBuf buf;
    PtcTaskOut out;
    PtcTaskIn back, in = {.kind = PTC_TASK_FORGET,
                          .want = PTC_WANT_CALLS | PTC_WANT_MEMORY,
                          .program = view("(+ 1 2)"),
                          .context = {"", 0},
                          .session = {"a\0b", 3},
                          .name = view("x"),
                          .in_session = true,
                          .use_data = true,
                          .plan = true,
                          .remote_version = 7,
                          .now_ms = -9,
                          .preview_chars = PTC_UNSET};
    const PtcLimit *limit;
    ptc_limits_unset(&in.limits);
    for (size_t i = 1; (limit = ptc_limits_row(i)); i++)
        *ptc_limits_field(&in.limits, limit) = (int64_t)i;
    size_t maxima[PTC_TASK_PARTS];
    ptc_task_out_init(&out, &mem, 1000);
    out.session.max = 77;
    ptc_buf_init(&buf, &mem, PTC_FRAME_MAX);
    CHECK(ptc_frame_put_run(&buf, 9, &in, &out));
    size_t head = sizeof(PtcFrameHead);
    CHECK(ptc_frame_get_run(buf.data + head, buf.len - head, &back, maxima));
    CHECK(same(in.program, back.program) && same(in.context, back.context));
    CHECK(same(in.signature, back.signature) && same(in.output_schema, back.output_schema));
    CHECK(same(in.session, back.session) && same(in.name, back.name));
    CHECK(back.kind == in.kind && back.in_session && back.use_data && !back.use_tools);
    CHECK(memcmp(&back.limits, &in.limits, sizeof in.limits) == 0 && back.plan && !back.use_remote);
    CHECK(back.preview_chars == PTC_UNSET && back.remote_version == 7 && back.now_ms == -9);
    CHECK(back.want == in.want && maxima[0] == 1000 && maxima[3] == 77);
    for (size_t n = 0; n < buf.len - head; n++)
        CHECK(!ptc_frame_get_run(buf.data + head, n, &back, maxima));
    ptc_buf_deinit(&buf);
    ptc_task_out_deinit(&out);
}

static void fill(PtcTaskOut *out)
{
    out->ok = out->validated = true;
    out->prints_cut = true;
    out->compute_us = 12;
    out->tool_calls = 3;
    out->bindings = 4;
    strncpy(out->reason, "runtime_error", sizeof out->reason - 1);
    strncpy(out->message, "it went wrong: \xc3\xa9", sizeof out->message - 1);
    ptc_buf_add_cstr(&out->text, "[1\n2]");
    ptc_buf_add_cstr(&out->prints, "a line\n");
    ptc_buf_add(&out->session, "\0\1\xff", 3);
    ptc_buf_add_cstr(&out->feedback, "```\nfenced\n```");
    ptc_buf_add_cstr(&out->changed, "a\nb\n");
    ptc_buf_add_cstr(&out->stored, "a\nb\nc\n");
    ptc_buf_add_cstr(&out->memory, "{\"changed\":{}}");
    ptc_buf_add_cstr(&out->calls, "[{\"name\":\"t\"}]");
    ptc_buf_add_cstr(&out->warnings, "[]");
    ptc_buf_add_cstr(&out->answer, "{\"forgotten\":1}");
}

static void check_done_frame(void)
{
    PtcBuf buf;
    PtcTaskOut out, back;
    PtcTaskStatus status = PTC_TASK_LOST;
    PtcWhy why;
    ptc_task_out_init(&out, &mem, 1000);
    ptc_task_out_init(&back, &mem, 1000);
    fill(&out);
    ptc_buf_init(&buf, &mem, PTC_FRAME_MAX);
    CHECK(ptc_frame_put_done(&buf, 9, PTC_TASK_DONE, &out));
    const char *bytes = buf.data + sizeof(PtcFrameHead);
    size_t len = buf.len - sizeof(PtcFrameHead);
    CHECK(ptc_frame_get_done(bytes, len, &back, &status, &why));
    CHECK(status == PTC_TASK_DONE && back.ok && back.prints_cut && !back.text_cut);
    CHECK(back.validated && back.compute_us == 12 && back.tool_calls == 3 && back.bindings == 4);
    CHECK_STR(back.reason, out.reason);
    CHECK_STR(back.message, out.message);
    for (size_t i = 0; i < PTC_TASK_PARTS; i++)
        CHECK(same(ptc_buf_view(&back.parts[i]), ptc_buf_view(&out.parts[i])));
    CHECK(back.session.len == 3 && back.json.len == 0);
    for (size_t n = 0; n < len; n++)
        CHECK(!ptc_frame_get_done(bytes, n, &back, &status, &why));
    CHECK(!ptc_frame_get_done(NULL, 0, &back, &status, &why));
    back.prints.max = 3;
    CHECK(!ptc_frame_get_done(bytes, len, &back, &status, &why) && why.text[0]);
    ptc_buf_deinit(&buf);
    ptc_task_out_deinit(&out);
    ptc_task_out_deinit(&back);
}

/* What a worker may not say. */
static void check_made_up(void)
{
    struct {
        const char *reason, *message, *text, *json, *memory, *calls;
        PtcTaskStatus status;
        bool good;
    } cases[] = {
        {"x", "m", "t", "1", "{}", "[]", PTC_TASK_DONE, true},
        {"x", "m", "t", "1", "", "", PTC_TASK_DONE, true},
        {"x", "m", "t", "1", "{}", "[]", PTC_TASK_CANCELLED, true},
        {"x", "m", "t", "1", "{}", "[]", PTC_TASK_LOST, false},
        {"x", "m", "t", "1", "{}", "[]", (PtcTaskStatus)99, false},
        {"Not a name", "m", "t", "1", "{}", "[]", PTC_TASK_DONE, false},
        {"x", "\xff", "t", "1", "{}", "[]", PTC_TASK_DONE, false},
        {"x", "m", "t", "{}\n{\"jsonrpc\":\"2.0\"}", "{}", "[]", PTC_TASK_DONE, false},
        {"x", "m", "t", "{\"a\":1,}", "{}", "[]", PTC_TASK_DONE, false},
        {"x", "m", "\xc0\x80", "1", "{}", "[]", PTC_TASK_DONE, false},
        {"x", "m", "t", "nul", "{}", "[]", PTC_TASK_DONE, false},
        /* Members and items are taken out of their brackets, so these must be there. */
        {"x", "m", "t", "1", "7", "[]", PTC_TASK_DONE, false},
        {"x", "m", "t", "1", "[]", "[]", PTC_TASK_DONE, false},
        {"x", "m", "t", "1", "{} ", "[]", PTC_TASK_DONE, false},
        {"x", "m", "t", "1", " {}", "[]", PTC_TASK_DONE, false},
        {"x", "m", "t", "1", "{}", "{}", PTC_TASK_DONE, false},
        {"x", "m", "t", "1", "{}", "\"[]\"", PTC_TASK_DONE, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtcBuf buf;
        PtcTaskOut out, back;
        PtcTaskStatus status;
        PtcWhy why;
        ptc_task_out_init(&out, &mem, 1000);
        ptc_task_out_init(&back, &mem, 1000);
        snprintf(out.reason, sizeof out.reason, "%s", cases[i].reason);
        snprintf(out.message, sizeof out.message, "%s", cases[i].message);
        ptc_buf_add_cstr(&out.text, cases[i].text);
        ptc_buf_add_cstr(&out.json, cases[i].json);
        ptc_buf_add_cstr(&out.memory, cases[i].memory);
        ptc_buf_add_cstr(&out.calls, cases[i].calls);
        ptc_buf_init(&buf, &mem, PTC_FRAME_MAX);
        CHECK(ptc_frame_put_done(&buf, 9, cases[i].status, &out));
        CHECK(ptc_frame_get_done(buf.data + 16, buf.len - 16, &back, &status, &why) ==
              cases[i].good);
        ptc_buf_deinit(&buf);
        ptc_task_out_deinit(&out);
        ptc_task_out_deinit(&back);
    }
}

/* Two frames in pieces of every size. */
static void check_splits(void)
{
    PtcBuf buf;
    PtcTaskOut out;
    ptc_task_out_init(&out, &mem, 1000);
    fill(&out);
    ptc_buf_init(&buf, &mem, PTC_FRAME_MAX);
    CHECK(ptc_frame_put_done(&buf, 9, PTC_TASK_DONE, &out));
    size_t first = buf.len;
    PtcFrameHead ready = {0, PTC_FRAME_READY, 0};
    ptc_buf_add(&buf, &ready, sizeof ready);
    for (size_t piece = 1; piece <= buf.len; piece++) {
        PtcFrameReader r;
        int whole = 0;
        ptc_frame_reader_init(&r, &mem);
        r.max_done = first;
        for (size_t at = 0; at < buf.len; at += piece) {
            const char *bytes = buf.data + at;
            size_t len = buf.len - at < piece ? buf.len - at : piece;
            PtcFrameState state;
            while ((state = ptc_frame_feed(&r, &bytes, &len)) == PTC_FRAME_WHOLE)
                CHECK(r.head.type == (whole++ ? PTC_FRAME_READY : PTC_FRAME_DONE));
            CHECK(state == PTC_FRAME_MORE && len == 0);
        }
        CHECK(whole == 2 && (r.whole || r.head_got == 0));
        ptc_frame_reader_deinit(&r);
    }
    ptc_buf_deinit(&buf);
    ptc_task_out_deinit(&out);
}

/* Each allocation fails once: nothing is lost, and no worker is blamed. */
static void check_no_memory(void)
{
    PtcMem small;
    PtcTaskOut out, back;
    PtcBuf frame;
    bool done = false;
    ptc_task_out_init(&out, &mem, 1000);
    fill(&out);
    ptc_buf_init(&frame, &mem, PTC_FRAME_MAX);
    CHECK(ptc_frame_put_done(&frame, 1, PTC_TASK_DONE, &out));
    for (uint64_t n = 1; !done && n < 100; n++) {
        PtcFrameReader r;
        PtcTaskStatus status;
        PtcBuf buf;
        PtcWhy why;
        const char *bytes = frame.data;
        size_t len = frame.len;
        ptc_mem_init(&small, SIZE_MAX / 2);
        ptc_mem_fail_at(&small, n);
        ptc_buf_init(&buf, &small, PTC_FRAME_MAX);
        done = ptc_frame_put_done(&buf, 1, PTC_TASK_DONE, &out);
        ptc_buf_deinit(&buf);
        ptc_frame_reader_init(&r, &small);
        r.max_done = 1000;
        PtcFrameState state = ptc_frame_feed(&r, &bytes, &len);
        CHECK(state == PTC_FRAME_WHOLE || state == PTC_FRAME_NO_MEMORY);
        ptc_task_out_init(&back, &small, 1000);
        bool got = state == PTC_FRAME_WHOLE &&
                   ptc_frame_get_done(r.payload.data, r.payload.len, &back, &status, &why);
        CHECK(got || state == PTC_FRAME_NO_MEMORY || why.class == PTC_WHY_NO_MEMORY);
        done = done && got;
        ptc_frame_reader_deinit(&r);
        ptc_task_out_deinit(&back);
        CHECK(atomic_load(&small.used) == 0);
    }
    CHECK(done);
    ptc_buf_deinit(&frame);
    ptc_task_out_deinit(&out);
}

static void check_heads(void)
{
    static const struct {
        PtcFrameHead head;
        PtcFrameState state;
    } cases[] = {
        {{0, PTC_FRAME_READY, 0}, PTC_FRAME_WHOLE},       {{1, PTC_FRAME_READY, 0}, PTC_FRAME_BAD},
        {{100, PTC_FRAME_CALL, 1}, PTC_FRAME_MORE},       {{101, PTC_FRAME_CALL, 1}, PTC_FRAME_BAD},
        {{200, PTC_FRAME_DONE, 1}, PTC_FRAME_MORE},       {{201, PTC_FRAME_DONE, 1}, PTC_FRAME_BAD},
        {{0, PTC_FRAME_RUN, 1}, PTC_FRAME_BAD},           {{0, 0, 1}, PTC_FRAME_BAD},
        {{UINT32_MAX, PTC_FRAME_DONE, 1}, PTC_FRAME_BAD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtcFrameReader r;
        const char *bytes = (const char *)&cases[i].head;
        size_t len = sizeof cases[i].head;
        ptc_frame_reader_init(&r, &mem);
        r.max_call = 100;
        r.max_done = 200;
        CHECK(ptc_frame_feed(&r, &bytes, &len) == cases[i].state);
        ptc_frame_reader_deinit(&r);
    }
}

/* Texts at the limit of nesting, below and above it. */
static void check_deep_json(void)
{
    char deep[1100];
    memset(deep, '[', 512);
    memset(deep + 512, ']', 512);
    CHECK(ptc_json_is_line(deep + 1, 1022) && ptc_json_is_line(deep + 511, 2));
    CHECK(ptc_json_is_line(deep, 1024));
    memset(deep, '[', 513);
    memset(deep + 513, ']', 513);
    CHECK(!ptc_json_is_line(deep, 1026)); /* the innermost is empty, and a level all the same */
    memset(deep, '[', 550);
    memset(deep + 550, ']', 550);
    CHECK(!ptc_json_is_line(deep, 1100));
}

static void check_json(void)
{
    static const struct {
        const char *text;
        bool good;
    } cases[] = {
        {"1", true},
        {"-0.5e+10", true},
        {"01", false},
        {"-", false},
        {"1.", false},
        {"1e", false},
        {"\"a\\u00e9\\n\"", true},
        {"\"\\ud83d\\ude00\"", true},
        {"\"\\ud83d\"", false},
        {"\"\\ude00\"", false},
        {"\"\\x\"", false},
        {"\"a", false},
        {"\"a\nb\"", false},
        {"[1,\n2]", false},
        {"[1, 2]", true},
        {"[1 2]", false},
        {"[1,]", false},
        {"[]", true},
        {"[ ]", true},
        {"{}", true},
        {"{\"a\":[{}]}", true},
        {"{\"a\" : 1 , \"b\":null}", true},
        {"{a:1}", false},
        {"{\"a\"}", false},
        {"{\"a\":1]", false},
        {"[1}", false},
        {"[[1]", false},
        {"[1]]", false},
        {"true", true},
        {"tru", false},
        {"true false", false},
        {"", false},
        {" ", false},
        {" 1 ", true},
        {"\"\xff\"", false},
        {"nullx", false},
        {"[\"\\\"]\"]", true},
        {"{\"a\":}", false},
        {"{,}", false},
        {"[,]", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (check_count(ptc_json_is_line(cases[i].text, strlen(cases[i].text)) == cases[i].good))
            printf("ptc_json_is_line: %s\n", cases[i].text);
}

int main(void)
{
    ptc_mem_init(&mem, SIZE_MAX / 2);
    check_run();
    check_done_frame();
    check_made_up();
    check_splits();
    check_no_memory();
    check_heads();
    check_json();
    check_deep_json();
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("test_mcp_frame");
}
