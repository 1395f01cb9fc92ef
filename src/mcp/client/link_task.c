/* SPDX-License-Identifier: MIT
 * What always holds: a task has its ask, which is in the table under a number that the server never saw, or it is about
 * to be freed; a poll has no time of its own, so it ends with an answer, with its connection, or with its ask. */
#define _GNU_SOURCE /* memmem */
#include "mcp/client/link_task.h"

#include <stdio.h>
#include <string.h>

#include "json/emit.h"
#include "json/members.h"

#define TASK_STATE "ptc-task " /* of our own: it names the task, and what it has asked so far */

enum {
    TASK_NAME = 256,
    TASK_KEYS = 16 * PTC_KB, /* of all questions of a task */
    TASK_FIRST_MS = 100,     /* after an answer was given */
    TASK_USUAL_MS = 1000,
    TASK_LEAST_MS = 100,
    TASK_MOST_MS = 60 * 1000,
    TASK_FAULTS = 5, /* polls that fail one after the other */
    TASK_CANCEL_MS = 10 * 1000,
};

struct PtcLinkTask {
    PtcLink *link;
    PtcLinkAsk *ask; /* NULL: it has ended */
    uint64_t id;     /* of it */
    PtcLinkAsk poll; /* tasks/get, or tasks/cancel at the end */
    bool polling;
    PtcLoopTimer due;
    int64_t every_ms, begun_ns;
    unsigned faults;
    char name[TASK_NAME]; /* JSON, with its quotes */
    PtcBuf keys; /* of questions that were answered, as they are written in JSON, a line each */
};

static PtcLinkTask *new_link_task(PtcLink *l, PtcText name)
{
    PtcLinkTask *t = name.len < TASK_NAME ? ptc_mem_alloc(l->mem, sizeof *t) : NULL;
    if (!t)
        return NULL;
    *t = (PtcLinkTask){.link = l, .every_ms = TASK_USUAL_MS, .begun_ns = ptc_clock_ns(NULL)};
    memcpy(t->name, name.bytes, name.len);
    t->name[name.len] = 0;
    ptc_buf_init(&t->keys, l->mem, TASK_KEYS);
    return t;
}

static void free_link_task(PtcLinkTask *t)
{
    ptc_loop_unset(&t->due);
    ptc_buf_deinit(&t->keys);
    ptc_mem_free(t->link->mem, t, sizeof *t);
}

/* ------------------------------------------------------------------------------------ its end */

/* The ask ends so, unless it is ending in another way just now. */
static void end_link_task(PtcLinkTask *t, PtcLinkReply *reply)
{
    PtcLink *l = t->link;
    PtcLinkAsk *ask = ptc_link_take_ask(l, t->id);
    if (!ask) {
        ptc_buf_deinit(&reply->text);
        return;
    }
    ask->task = NULL;
    free_link_task(t);
    reply->delivered = true;
    ptc_link_end_ask(l, ask, reply);
}

static void end_link_task_so(PtcLinkTask *t, PtcLinkEnd end, PtcText text)
{
    PtcLinkReply reply = ptc_link_reply(t->link, end);
    if (!ptc_buf_add(&reply.text, text.bytes, text.len)) {
        ptc_buf_deinit(&reply.text);
        reply.end = PTC_LINK_NO_MEMORY;
    }
    end_link_task(t, &reply);
}

/* ------------------------------------------------------------------------------------ questions */

static bool was_answered(const PtcLinkTask *t, PtcText key)
{
    PtcText keys = ptc_buf_view(&t->keys);
    const char *at = keys.bytes, *end = keys.bytes + keys.len;
    while (at < end) {
        const char *lf = memchr(at, '\n', (size_t)(end - at));
        if (ptc_text_same((PtcText){at, (size_t)(lf - at)}, key))
            return true;
        at = lf + 1;
    }
    return false;
}

static bool add_key(PtcBuf *keys, PtcText key)
{
    return ptc_buf_add(keys, key.bytes, key.len) && ptc_buf_add_char(keys, '\n');
}

/* Those that were not answered before; how many.  All of them are in `keys` afterwards. */
static size_t put_open_requests(PtcLinkTask *t, PtcText requests, PtcBuf *keys, PtcBuf *out)
{
    PtcText key, value;
    size_t count = 0;
    PtcMembers members = ptc_members_of(requests);
    while (!members.array && ptc_members_next(&members, &key, &value)) {
        if (was_answered(t, key))
            continue;
        ptc_emit_next(out);
        ptc_buf_addf(out, "\"%.*s\":", PTC_ARG(key));
        ptc_emit_raw(out, value);
        add_key(keys, key);
        count++;
    }
    return count;
}

/* The state: the name, and the keys that are answered when it comes back.  They are as they stand in JSON, so a
 * backslash in them is one of the text. */
static void put_task_state(const PtcLinkTask *t, const PtcBuf *keys, PtcBuf *out)
{
    ptc_emit_key(out, "requestState");
    ptc_emit_string(out);
    ptc_emit_string_part(out, PTC_TEXT(TASK_STATE));
    ptc_emit_string_part(out, ptc_text_cstr(t->name));
    ptc_emit_string_part(out, PTC_TEXT("\n"));
    ptc_emit_string_part(out, ptc_buf_view(&t->keys));
    ptc_emit_string_part(out, ptc_buf_view(keys));
    ptc_emit_string_end(out);
}

/* False: there is none that was not answered before. */
static bool pass_questions_on(PtcLinkTask *t, PtcText requests)
{
    PtcLinkReply reply = ptc_link_reply(t->link, PTC_LINK_ANSWER);
    PtcBuf *out = &reply.text, keys;
    ptc_buf_init(&keys, t->link->mem, TASK_KEYS);
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "resultType", "input_required");
    ptc_emit_key(out, "inputRequests");
    ptc_emit_object(out);
    size_t open = put_open_requests(t, requests, &keys, out);
    ptc_emit_object_end(out);
    put_task_state(t, &keys, out);
    ptc_emit_object_end(out);
    bool ok = ptc_buf_ok(out) && ptc_buf_ok(&keys);
    ptc_buf_deinit(&keys);
    if (!open) {
        ptc_buf_deinit(out);
        return false;
    }
    if (!ok) {
        ptc_buf_deinit(out);
        reply.end = PTC_LINK_NO_MEMORY;
    }
    end_link_task(t, &reply);
    return true;
}

/* -------------------------------------------------------------------------------------- polling */

static void set_due(PtcLinkTask *t, int64_t ms)
{
    ptc_loop_set(t->link->loop, &t->due, ptc_clock_ns(NULL) + ms * PTC_MS);
}

static void take_interval(PtcLinkTask *t, PtcText task)
{
    int64_t ms;
    if (ptc_members_int(ptc_members_get(task, "pollIntervalMs"), &ms))
        t->every_ms = ms < TASK_LEAST_MS ? TASK_LEAST_MS : ms > TASK_MOST_MS ? TASK_MOST_MS : ms;
}

/* It works: a sign of life, like progress. */
static void note_task_works(PtcLinkTask *t, PtcText task)
{
    PtcLink *l = t->link;
    PtcLinkScratch scratch;
    uint64_t id = t->id;
    double seconds = (double)((ptc_clock_ns(NULL) - t->begun_ns) / PTC_S);
    set_due(t, t->every_ms);
    ptc_link_scratch_init(&scratch, l);
    PtcText said = ptc_link_scratch_text(&scratch, ptc_members_get(task, "statusMessage"));
    ptc_link_progress(l, id, seconds, 0, said);
    ptc_link_scratch_deinit(&scratch);
}

static void take_task_state(PtcLinkTask *t, PtcText task)
{
    PtcText status = ptc_members_plain(ptc_members_get(task, "status"));
    PtcText result = ptc_members_get(task, "result"), error = ptc_members_get(task, "error");
    status = status.bytes ? status : PTC_TEXT("");
    take_interval(t, task);
    if (ptc_text_is(status, "completed") && ptc_members_is_object(result))
        end_link_task_so(t, PTC_LINK_ANSWER, result);
    else if (ptc_text_is(status, "failed") && ptc_members_is_object(error))
        end_link_task_so(t, PTC_LINK_ERROR, error);
    else if (ptc_text_is(status, "cancelled"))
        end_link_task_so(t, PTC_LINK_ERROR,
                         PTC_TEXT("{\"code\":-32603,\"message\":\"the task was cancelled\"}"));
    else if (ptc_text_is(status, "working") ||
             (ptc_text_is(status, "input_required") &&
              !pass_questions_on(t, ptc_members_get(task, "inputRequests"))))
        note_task_works(t, task);
    else if (!ptc_text_is(status, "input_required"))
        end_link_task_so(t, PTC_LINK_BAD_ANSWER,
                         PTC_TEXT("the state of its task cannot be understood"));
}

/* A server that is not there for a moment, as one of many, may be back for the next poll. */
static bool is_passing(const PtcLinkReply *reply)
{
    return reply->end == PTC_LINK_BROKEN || reply->end == PTC_LINK_TIMEOUT ||
           (reply->end == PTC_LINK_HTTP_FAULT && (reply->status >= 500 || reply->status == 429));
}

static void on_poll(PtcLinkAsk *ask, PtcLinkReply *reply)
{
    PtcLinkTask *t = ask->user;
    t->polling = false;
    if (!t->ask) {
        free_link_task(t);
        return;
    }
    if (reply->end == PTC_LINK_ANSWER) {
        t->faults = 0;
        take_task_state(t, ptc_buf_view(&reply->text));
        return;
    }
    if (is_passing(reply) && ++t->faults < TASK_FAULTS) {
        set_due(t, t->every_ms);
        return;
    }
    PtcLinkReply passed = *reply;
    reply->text = (PtcBuf){0};
    end_link_task(t, &passed);
}

static bool ask_about_task(PtcLinkTask *t, const char *method, int64_t end_ns,
                           void (*done)(PtcLinkAsk *, PtcLinkReply *))
{
    char params[TASK_NAME + 16];
    int n = snprintf(params, sizeof params, "{\"taskId\":%s}", t->name);
    t->poll = (PtcLinkAsk){.done = done, .user = t, .end_ns = end_ns};
    return ptc_link_ask_inner(t->link, &t->poll, method, (PtcText){params, (size_t)n});
}

static void poll_link_task(PtcLoopTimer *timer)
{
    PtcLinkTask *t = (PtcLinkTask *)(void *)((char *)timer - offsetof(PtcLinkTask, due));
    t->polling = ask_about_task(t, "tasks/get", 0, on_poll);
    if (t->polling)
        return;
    if (++t->faults < TASK_FAULTS)
        set_due(t, t->every_ms);
    else
        end_link_task_so(t, PTC_LINK_BROKEN, PTC_TEXT("its task could not be asked about"));
}

/* ------------------------------------------------------------------------------------ beginning */

/* From now on the ask has a number that the server does not know; NULL: nobody waits for it. */
static PtcLinkAsk *keep_ask(PtcLink *l, uint64_t id, bool offered)
{
    pthread_mutex_lock(&l->lock);
    PtcLinkAsk *ask = ptc_link_renumber(l, id, offered);
    if (ask)
        ask->delivered = true;
    pthread_mutex_unlock(&l->lock);
    return ask;
}

static void begin_polling(PtcLinkTask *t, PtcLinkAsk *ask, int64_t first_ms)
{
    t->ask = ask;
    t->id = ask->id;
    t->due.fire = poll_link_task;
    ask->task = t;
    set_due(t, first_ms);
}

/* The answer to tasks/update says nothing else. */
static bool go_on_with_task(PtcLink *l, uint64_t id)
{
    PtcLinkAsk *ask = keep_ask(l, id, false);
    if (ask)
        begin_polling(ask->task, ask, TASK_FIRST_MS);
    return true;
}

bool ptc_link_task_begin(PtcLink *l, uint64_t id, PtcText result)
{
    PtcText type = ptc_members_plain(ptc_members_get(result, "resultType"));
    PtcText name = ptc_members_get(result, "taskId");
    bool polled;
    if (ptc_link_task_of(l, id, &polled))
        return go_on_with_task(l, id);
    if (!type.bytes || !ptc_text_is(type, "task") || !name.bytes || name.bytes[0] != '"' ||
        name.len >= TASK_NAME)
        return false;
    PtcLinkAsk *ask = keep_ask(l, id, true);
    if (!ask)
        return false;
    PtcLinkTask *t = new_link_task(l, name);
    if (!t) {
        (void)ptc_link_take_ask(l, ask->id);
        ptc_link_end_ask_why(l, ask, PTC_LINK_NO_MEMORY, PTC_TEXT("out of memory"));
        return true;
    }
    take_interval(t, result);
    begin_polling(t, ask, t->every_ms);
    return true;
}

/* The state of the call before, if it is one of ours: the name of the task, and the keys behind it. */
static bool split_task_state(PtcText state, PtcText *name, PtcText *keys)
{
    size_t head = strlen(TASK_STATE);
    if (state.len <= head || memcmp(state.bytes, TASK_STATE, head) != 0)
        return false;
    const char *from = state.bytes + head, *lf = memchr(from, '\n', state.len - head);
    if (!lf)
        return false;
    *name = (PtcText){from, (size_t)(lf - from)};
    *keys = (PtcText){lf + 1, (size_t)(state.bytes + state.len - lf - 1)};
    return name->len >= 2 && name->len < TASK_NAME && from[0] == '"' && lf[-1] == '"';
}

bool ptc_link_task_again(PtcLink *l, PtcLinkAsk *ask, PtcText *params, PtcBuf *text)
{
    PtcLinkScratch scratch;
    PtcText name, keys;
    PtcText state = memmem(params->bytes, params->len, TASK_STATE, strlen(TASK_STATE))
                        ? ptc_members_get(*params, "requestState")
                        : (PtcText){NULL, 0};
    if (!state.bytes)
        return true;
    ptc_link_scratch_init(&scratch, l);
    bool ok = true;
    if (split_task_state(ptc_link_scratch_text(&scratch, state), &name, &keys)) {
        PtcText given = ptc_members_get(*params, "inputResponses");
        ask->task = new_link_task(l, name);
        ptc_emit_object(text);
        ptc_emit_field_raw(text, "taskId", name);
        ptc_emit_field_raw(text, "inputResponses", given.bytes ? given : PTC_TEXT("{}"));
        ok = ptc_emit_object_end(text) && ask->task &&
             ptc_buf_add(&ask->task->keys, keys.bytes, keys.len);
        *params = ptc_buf_view(text);
    }
    ptc_link_scratch_deinit(&scratch);
    if (!ok && ask->task) {
        free_link_task(ask->task);
        ask->task = NULL;
    }
    return ok;
}

/* --------------------------------------------------------------------------------------- leaving */

static void on_task_cancelled(PtcLinkAsk *ask, PtcLinkReply *reply)
{
    (void)reply;
    free_link_task(ask->user);
}

void ptc_link_task_left(PtcLink *l, PtcLinkAsk *ask, bool tell)
{
    PtcLinkTask *t = ask->task;
    ask->task = NULL;
    t->ask = NULL;
    ptc_loop_unset(&t->due);
    if (!tell && t->polling)
        return; /* its own end, which is near, frees it */
    if (t->polling)
        ptc_link_drop_ask(l, &t->poll);
    t->polling = false;
    int64_t end_ns = ptc_clock_ns(NULL) + TASK_CANCEL_MS * PTC_MS;
    if (!tell || !ask_about_task(t, "tasks/cancel", end_ns, on_task_cancelled))
        free_link_task(t);
}
