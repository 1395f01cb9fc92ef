/* SPDX-License-Identifier: MIT
 * fuzz_mcp_frame.c - what a worker may send.  The first byte chooses: frames in pieces of that many bytes; a whole task
 * whose worker sends the input and ends; or JSON, which the check must judge as the parser does. */
#include <assert.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/utf8.h"
#include "exec/worker_task.h"
#include "json/check.h"
#include "json/parse.h"
#include "tool/toolset.h"
#include "unit/remote_fake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX = 4096 };

static bool is_json(const char *text, size_t len)
{
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcJsonError e = {0};
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_pool_init(&pool, &mem);
    ptc_budget_init(&budget);
    ptc_heap_init(&heap, &pool, &budget, 64 << 20);
    /* numbers beyond a double are the parser's own limit */
    bool ok = ptc_json_parse(&heap, text, len, &e) != PTC_NONE || strstr(e.message, "double") ||
              strstr(e.message, "large") || e.stopped;
    ptc_heap_deinit(&heap);
    ptc_pool_deinit(&pool);
    return ok;
}

static void check_json(const char *text, size_t len)
{
    bool controls = false;
    for (size_t i = 0; i < len; i++)
        controls = controls || (unsigned char)text[i] < 0x20;
    bool line = ptc_json_is_line(text, len);
    assert(!line || !controls);
    assert(!line || is_json(text, len));
    (void)line;
}

static void check_out(const PtcTaskOut *out)
{
    const PtcBuf *json[] = {&out->json, &out->memory, &out->calls, &out->warnings, &out->answer};
    const PtcBuf *text[] = {&out->text, &out->prints, &out->feedback, &out->changed, &out->stored};
    for (size_t i = 0; i < sizeof json / sizeof *json; i++)
        if (json[i]->len)
            check_json(json[i]->data, json[i]->len);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        assert(!text[i]->len || ptc_utf8_valid(text[i]->data, text[i]->len));
    assert(!out->memory.len || out->memory.data[0] == '{');
    assert(!out->answer.len || out->answer.data[out->answer.len - 1] == '}');
    assert(!out->calls.len || out->calls.data[0] == '[');
    assert(ptc_utf8_valid(out->message, strlen(out->message)));
}

static void take_frame(const PtcFrameReader *r, PtcMem *mem)
{
    PtcTaskOut out;
    PtcTaskStatus status;
    PtcText arguments;
    uint32_t tool;
    PtcWhy why;
    if (r->head.type == PTC_FRAME_CALL &&
        ptc_frame_get_call(r->payload.data, r->payload.len, &tool, &arguments, &why))
        check_json(arguments.bytes, arguments.len);
    PtcFrameAsk ask;
    if (r->head.type == PTC_FRAME_ASK &&
        ptc_frame_get_ask(r->payload.data, r->payload.len, &ask, &why)) {
        assert(ask.op < PTC_REMOTE_OPS && ptc_utf8_valid(ask.text.bytes, ask.text.len));
        if (ask.op != PTC_FRAME_KNOWS)
            check_json(ask.text.bytes, ask.text.len);
    }
    if (r->head.type != PTC_FRAME_DONE)
        return;
    ptc_task_out_init(&out, mem, MAX);
    if (ptc_frame_get_done(r->payload.data, r->payload.len, &out, &status, &why)) {
        assert(status != PTC_TASK_LOST);
        check_out(&out);
    }
    ptc_task_out_deinit(&out);
}

static void read_pieces(const char *bytes, size_t size, size_t piece)
{
    PtcMem mem;
    PtcFrameReader r;
    PtcFrameState state = PTC_FRAME_MORE;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_frame_reader_init(&r, &mem);
    r.max_call = r.max_ask = r.max_done = MAX;
    while (size > 0 && state == PTC_FRAME_MORE) {
        size_t len = size < piece ? size : piece;
        size -= len;
        while ((state = ptc_frame_feed(&r, &bytes, &len)) == PTC_FRAME_WHOLE)
            take_frame(&r, &mem);
    }
    ptc_frame_reader_deinit(&r);
    assert(atomic_load(&mem.used) == 0);
}

/* ------------------------------------------------------------------------------ a task */

static PtcToolAnswer answer(PtcToolCall *call, void *user)
{
    (void)user;
    ptc_call_return(call, ptc_call_args(call));
    return PTC_TOOL_ANSWERED;
}

/* Made once: threads are dear. */
static const PtcWorkerTaskPlan *a_plan(void)
{
    static PtcMem mem;
    static PtcWorkerTaskPlan plan;
    static PtcSpinWait spin; /* as on one core: never */
    static Fake fake;
    PtcToolDef def;
    if (plan.crew)
        return &plan;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    PtcTools *tools = ptc_tools_new();
    ptc_tool_def_init(&def, sizeof def);
    def.name = "echo";
    def.name_len = 4;
    def.function = answer;
    if (!tools || ptc_tools_add(tools, &def, NULL, 0) != PTC_OK)
        abort();
    fake_start(&fake);
    plan.remote = &fake.base;
    plan.mem = &mem;
    plan.spin = &spin;
    plan.limits.timeout_ms = plan.limits.deadline_ms = 100;
    plan.limits.tool_bytes = MAX;
    plan.limits.max_tool_calls = 3;
    plan.crew = ptc_tool_crew_new(&mem, tools, MAX);
    return &plan;
}

static void run_task(const char *bytes, size_t size)
{
    const PtcWorkerTaskPlan *plan = a_plan();
    PtcTaskIn in;
    PtcTaskOut out;
    PtcMem mem;
    bool keep;
    int ends[2];
    if (size > 100000 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return;
    if (write(ends[1], bytes, size) != (ssize_t)size)
        abort();
    shutdown(ends[1], SHUT_WR);
    ptc_task_in_init(&in);
    in.program = PTC_TEXT("1");
    in.use_tools = true;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_task_out_init(&out, &mem, MAX);
    PtcWorkerProcess w = {
        .fd = ends[0], .pidfd = -1, .kick = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    ptc_frame_reader_init(&w.reader, &mem);
    PtcTaskStatus status = ptc_worker_task_run(plan, &w, &in, NULL, &out, &keep);
    if (status == PTC_TASK_DONE)
        check_out(&out);
    else
        assert(status != PTC_TASK_LOST || (!keep && out.message[0]));
    ptc_frame_reader_deinit(&w.reader);
    ptc_task_out_deinit(&out);
    close(w.kick);
    close(ends[0]);
    close(ends[1]);
    assert(atomic_load(&mem.used) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *bytes = (const char *)data + 1;
    if (data[0] == 0)
        run_task(bytes, size - 1);
    else if (data[0] == '{' || data[0] == '[' || data[0] == '"')
        check_json((const char *)data, size);
    else
        read_pieces(bytes, size - 1, data[0]);
    return 0;
}
