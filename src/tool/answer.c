/* SPDX-License-Identifier: MIT
 * A call from the tool's side: reading what was asked, giving the answer, on the program's thread or later from any. */
#include "tool/call.h"

#include <stdio.h>
#include <string.h>

#include "json/parse.h"
#include "tool/convert.h"
#include "value/copy.h"

const char *ptc_call_name(const PtcToolCall *call, size_t *len)
{
    if (len)
        *len = call->tool->info.name_len;
    return call->tool->info.name;
}

PtcValue ptc_call_args(const PtcToolCall *call)
{
    return call->args;
}

PtcData *ptc_call_data(PtcToolCall *call)
{
    return &call->data;
}

const char *ptc_call_args_json(PtcToolCall *call, size_t *len)
{
    PtcJsonError error;
    if (call->json.len == 0 &&
        !ptc_to_json_value(call->vm->heap, &call->json, call->args, -1, &error))
        return NULL;
    if (len)
        *len = call->json.len;
    return ptc_buf_text(&call->json);
}

/* ------------------------------------------------------------------------------ waiting */

static bool on_its_thread(const PtcToolCall *call)
{
    return !call->counted ||
           (atomic_load(&call->inside) && pthread_equal(pthread_self(), call->thread));
}

int64_t ptc_call_time_left_ms(PtcToolCall *call)
{
    int64_t now = ptc_clock_ns(NULL);
    if (ptc_call_cancelled(call) || now >= call->end_ns)
        return 0;
    return call->end_ns == INT64_MAX ? INT64_MAX : (call->end_ns - now) / 1000000;
}

bool ptc_call_cancelled(PtcToolCall *call)
{
    if (atomic_load(&call->cancelled))
        return true;
    if (!on_its_thread(call))
        return ptc_clock_ns(NULL) >= call->end_ns;
    const PtcBudget *b = &call->vm->budget;
    return ptc_cancelled(b->cancel) || ptc_clock_ns(NULL) >= call->end_ns ||
           b->clock_ns(b->clock_user) >= b->deadline_ns;
}

int64_t ptc_call_pause(PtcToolCall *call)
{
    PtcBudget *b = &call->vm->budget;
    int64_t now = b->clock_ns(b->clock_user), waited = now - call->begun_ns;
    call->begun_ns = now;
    if (b->compute_end_ns < INT64_MAX - waited)
        b->compute_end_ns += waited;
    return waited;
}

/* ----------------------------------------------------------------------------- answers */

PtcValue ptc_call_parse(PtcVM *vm, const char *json, size_t len, char *error, size_t size)
{
    PtcJsonError e = {0};
    error[0] = 0;
    PtcValue v = ptc_json_parse(vm->heap, json, len, &e);
    if (v == PTC_NONE && !e.stopped)
        snprintf(error, size, "its result is not JSON: line %u, column %u: %s", (unsigned)e.line,
                 (unsigned)e.column, e.message);
    return v;
}

/* With the lock held when the call is counted.  The first answer counts. */
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

/* The tool's share of a counted call ends with its answer; an answer on the program's thread leaves that to call.c. */
static bool answer(PtcToolCall *call, bool ok, PtcValue v, char *text, size_t len)
{
    bool counted = call->counted, here = on_its_thread(call);
    if (counted)
        pthread_mutex_lock(&call->lock);
    bool taken = set_answer(call, ok, v, text, len);
    call->elsewhere = call->elsewhere || !here;
    if (counted) {
        pthread_cond_signal(&call->answered_now);
        pthread_mutex_unlock(&call->lock);
    }
    if (!taken)
        ptc_mem_free(&call->tools->mem, text, len + 1);
    if (counted && !here)
        ptc_call_release(call);
    return taken;
}

static bool answer_text(PtcToolCall *call, bool ok, const char *text, size_t len)
{
    char *copy = ptc_mem_alloc(&call->tools->mem, len + 1);
    if (!copy)
        return answer(call, false, PTC_NONE, NULL, 0);
    memcpy(copy, text, len);
    copy[len] = 0;
    return answer(call, ok, PTC_NONE, copy, len);
}

/* A value from elsewhere may go before the run does: it is copied. */
static PtcValue own(const PtcToolCall *call, PtcValue v)
{
    PtcCopy copy;
    if (v == PTC_NONE || !ptc_is_obj(v) || ptc_heap_owns(call->data.heap, v) ||
        ptc_heap_owns(&call->tools->heap, v))
        return v;
    ptc_copy_init(&copy, call->data.heap);
    v = ptc_copy_value(&copy, v);
    ptc_copy_deinit(&copy);
    return v;
}

bool ptc_call_return(PtcToolCall *call, PtcValue v)
{
    static const char late[] = "its function gave a value after it had returned; give JSON";
    static const char none[] = "its function gave no value";
    if (!on_its_thread(call))
        return answer_text(call, false, late, sizeof late - 1) && false;
    v = own(call, v);
    if (v == PTC_NONE)
        return answer_text(call, false, none, sizeof none - 1) && false;
    return answer(call, true, v, NULL, 0);
}

bool ptc_call_return_json(PtcToolCall *call, const char *json, size_t len)
{
    char error[200];
    if (!on_its_thread(call))
        return answer_text(call, true, json, len);
    ptc_call_pause(call);
    PtcValue v = ptc_call_parse(call->vm, json, len, error, sizeof error);
    if (v == PTC_NONE)
        return answer_text(call, false, error, strlen(error)) && false;
    return answer(call, true, v, NULL, 0);
}

bool ptc_call_fail(PtcToolCall *call, const char *message, size_t len)
{
    return answer_text(call, false, message, len);
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
    ptc_tools_free(tools);
}
