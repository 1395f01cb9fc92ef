/* SPDX-License-Identifier: MIT
 * Answers from the tool's side.  A counted call is shared by the tool and the thread that waits; the last of the two
 * frees it. */
#include "tool/wire/answer.h"

#include <stdio.h>
#include <string.h>

#include "json/parse.h"
#include "tool/convert.h"
#include "value/copy.h"

const char *ptc_answer_args_json(PtcToolCall *call)
{
    PtcJsonError error;
    if (call->json.len == 0 &&
        !ptc_to_json_value(call->data.heap, &call->json, call->args, -1, &error))
        return NULL;
    return ptc_buf_text(&call->json);
}

/* ------------------------------------------------------------------------------ waiting */

static bool on_its_thread(const PtcToolCall *call)
{
    return !call->counted ||
           (atomic_load(&call->inside) && pthread_equal(pthread_self(), call->thread));
}

int64_t ptc_answer_time_left_ms(PtcToolCall *call)
{
    int64_t now = ptc_clock_ns(NULL);
    if (ptc_answer_cancelled(call) || now >= call->end_ns)
        return 0;
    return call->end_ns == INT64_MAX ? INT64_MAX : (call->end_ns - now) / PTC_MS;
}

bool ptc_answer_cancelled(PtcToolCall *call)
{
    if (atomic_load(&call->cancelled))
        return true;
    if (!on_its_thread(call))
        return ptc_clock_ns(NULL) >= call->end_ns;
    const PtcBudget *b = call->budget;
    return ptc_cancelled(b->cancel) || ptc_clock_ns(NULL) >= call->end_ns ||
           b->clock_ns(b->clock_user) >= ptc_budget_end(b);
}

int64_t ptc_call_pause(PtcToolCall *call)
{
    PtcBudget *b = call->budget;
    int64_t now = ptc_budget_now(b), waited = now - call->begun_ns;
    call->begun_ns = now;
    if (call->tool->info.uncounted)
        ptc_budget_resume(b, waited);
    else
        ptc_budget_waited(b, waited);
    return waited;
}

/* ----------------------------------------------------------------------------- answers */

/* Threads come and go while it is read: whether they are in the way is looked at before and after. */
PtcValue ptc_call_parse(PtcHeap *heap, PtcText json, char *error, size_t size, bool *crowded)
{
    PtcJsonError e = {0};
    error[0] = 0;
    bool shared = ptc_heap_is_shared(heap);
    PtcValue v = ptc_json_parse(heap, json.bytes, json.len, &e);
    *crowded = heap->budget->stop == PTC_STOP_MEMORY && (shared || ptc_heap_is_shared(heap));
    if (v == PTC_NONE && !e.stopped)
        snprintf(error, size, "its result is not JSON: line %u, column %u: %s", (unsigned)e.line,
                 (unsigned)e.column, e.message);
    return v;
}

/* With the lock held if the call is counted.  Only the first answer counts. */
static bool set_answer(PtcToolCall *call, bool ok, PtcValue v, char *text, size_t len)
{
    if (call->answered || atomic_load(&call->cancelled))
        return false;
    call->answered = true;
    call->ok = ok;
    call->result = v;
    call->text = text;
    call->text_len = len;
    return true;
}

/* The tool's share of a counted call ends with its answer; for an answer on the program's thread, call.c ends it. */
static bool give_tool_answer(PtcToolCall *call, bool ok, PtcValue v, char *text, size_t len)
{
    bool here = on_its_thread(call);
    if (call->counted)
        pthread_mutex_lock(&call->lock);
    bool taken = set_answer(call, ok, v, text, len);
    if (call->counted) {
        call->elsewhere = call->elsewhere || !here;
        pthread_cond_signal(&call->answered_now);
        pthread_mutex_unlock(&call->lock);
    }
    if (!taken)
        ptc_mem_free(&call->tools->mem, text, len + 1);
    if (!here) /* so it is counted */
        ptc_call_release(call);
    return taken;
}

static bool give_text_answer(PtcToolCall *call, bool ok, PtcText text)
{
    char *copy = ptc_mem_alloc(&call->tools->mem, text.len + 1);
    if (!copy)
        return give_tool_answer(call, false, PTC_NONE, NULL, 0);
    if (text.len)
        memcpy(copy, text.bytes, text.len);
    copy[text.len] = 0;
    return give_tool_answer(call, ok, PTC_NONE, copy, text.len);
}

/* A value from elsewhere may be freed before the run ends, so it is copied. */
static PtcValue own(const PtcToolCall *call, PtcValue v)
{
    PtcCopy copy;
    if (v == PTC_NONE || !ptc_is_obj(v) || ptc_heap_owns(call->data.heap, v) ||
        ptc_heap_owns(&call->tools->kept.heap, v))
        return v;
    ptc_copy_init(&copy, call->data.heap);
    v = ptc_copy_value(&copy, v);
    ptc_copy_deinit(&copy);
    return v;
}

bool ptc_answer_value(PtcToolCall *call, PtcValue v)
{
    PtcText late = PTC_TEXT(
        "its function answered with a value after it had returned; answer with JSON instead");
    PtcText none = PTC_TEXT("its function gave no value");
    if (!on_its_thread(call))
        return give_text_answer(call, false, late) && false;
    v = own(call, v);
    if (v == PTC_NONE)
        return give_text_answer(call, false, none) && false;
    return give_tool_answer(call, true, v, NULL, 0);
}

bool ptc_answer_json(PtcToolCall *call, PtcText json)
{
    char error[200];
    if (!on_its_thread(call))
        return give_text_answer(call, true, json);
    ptc_call_pause(call);
    PtcHeap *heap = call->data.heap;
    bool crowded;
    PtcValue v = ptc_call_parse(heap, json, error, sizeof error, &crowded);
    if (v == PTC_NONE && crowded) {
        heap->budget->stop = PTC_STOP_NONE; /* there may be room once other threads release some */
        return give_text_answer(call, true, json);
    }
    call->did = true;
    if (v == PTC_NONE)
        return give_text_answer(call, false, ptc_text_cstr(error)) && false;
    return give_tool_answer(call, true, v, NULL, 0);
}

bool ptc_answer_fail(PtcToolCall *call, PtcText message)
{
    return give_text_answer(call, false, message);
}

bool ptc_answer_fault(PtcToolCall *call, PtcCallFault fault, PtcText message)
{
    call->fault = fault;
    return give_text_answer(call, false, message);
}

void ptc_call_release(PtcToolCall *call)
{
    if (atomic_fetch_sub(&call->refs, 1) > 1)
        return;
    PtcTools *tools = call->tools;
    pthread_mutex_destroy(&call->lock);
    pthread_cond_destroy(&call->answered_now);
    ptc_mem_free(&tools->mem, call->text, call->text_len + 1);
    ptc_mem_free(&tools->mem, call, sizeof *call);
    ptc_toolset_release(tools);
}
