/* SPDX-License-Identifier: MIT
 * request_help.h - requests to models out of JSON, for the driver and for tests: the form of src/llm/llm_json.h, and
 * beside it "stream", "timeout_ms", "deadline_ms" and "agent".  Texts stay in the box and the arena. */
#ifndef PTC_TESTS_REQUEST_HELP_H
#define PTC_TESTS_REQUEST_HELP_H

#include "json/write.h"
#include "llm/json_box.h"
#include "llm/llm.h"
#include "llm/reply_maker.h"
#include "value/str.h"

/* A value as JSON text in the arena; absent stays absent. */
static inline PtcText help_json(PtcJsonBox *box, PtcArena *arena, PtcValue v)
{
    PtcBuf buf;
    PtcJsonError error;
    bool failed = false;
    PtcText text = {NULL, 0};
    PtcJsonWriter writer = {.heap = &box->heap, .float_precision = -1};
    if (v == PTC_NONE || v == PTC_NIL)
        return text;
    ptc_buf_init(&buf, arena->mem, SIZE_MAX / 2);
    if (ptc_json_write(&writer, &buf, v, &error))
        text = ptc_reply_keep(arena, ptc_buf_view(&buf), &failed);
    ptc_buf_deinit(&buf);
    return text;
}

static inline void help_calls(PtcJsonBox *box, PtcArena *arena, PtcValue list, PtcMessage *m)
{
    m->call_count = ptc_json_box_length(list);
    PtcMessageCall *calls = ptc_arena_zalloc(arena, (m->call_count + 1) * sizeof *calls);
    for (size_t i = 0; i < m->call_count; i++) {
        PtcValue item = ptc_json_box_item(list, i);
        calls[i].id = ptc_json_box_text(box, item, "id");
        calls[i].name = ptc_json_box_text(box, item, "name");
        calls[i].args = ptc_json_box_text(box, item, "args_text");
        if (!calls[i].args.bytes)
            calls[i].args = help_json(box, arena, ptc_json_box_get(box, item, "args"));
    }
    m->calls = calls;
}

static inline void help_message(PtcJsonBox *box, PtcArena *arena, PtcValue item, PtcMessage *m)
{
    PtcText role = ptc_json_box_text(box, item, "role");
    m->role = ptc_text_is(role, "assistant") ? PTC_ROLE_ASSISTANT
              : ptc_text_is(role, "tool")    ? PTC_ROLE_TOOL
                                             : PTC_ROLE_USER;
    m->content = ptc_json_box_text(box, item, "content");
    m->call_id = ptc_json_box_text(box, item, "tool_call_id");
    m->call_name = ptc_json_box_text(box, item, "name");
    m->is_error = ptc_json_box_bool(box, item, "is_error");
    m->note = (size_t)ptc_json_box_count(box, item, "note", (int64_t)m->content.len, 0);
    m->opaque = help_json(box, arena, ptc_json_box_get(box, item, "opaque"));
    help_calls(box, arena, ptc_json_box_get(box, item, "tool_calls"), m);
}

static inline void help_tools(PtcJsonBox *box, PtcArena *arena, PtcValue list, PtcLlmRequest *r)
{
    r->tool_count = ptc_json_box_length(list);
    PtcLlmTool *tools = ptc_arena_zalloc(arena, (r->tool_count + 1) * sizeof *tools);
    for (size_t i = 0; i < r->tool_count; i++) {
        PtcValue item = ptc_json_box_item(list, i);
        tools[i].name = ptc_json_box_text(box, item, "name");
        tools[i].description = ptc_json_box_text(box, item, "description");
        tools[i].parameters = help_json(box, arena, ptc_json_box_get(box, item, "parameters"));
    }
    r->tools = tools;
}

static inline PtcEffort help_effort(PtcText word)
{
    return ptc_text_is(word, "low")      ? PTC_EFFORT_LOW
           : ptc_text_is(word, "medium") ? PTC_EFFORT_MEDIUM
           : ptc_text_is(word, "high")   ? PTC_EFFORT_HIGH
                                         : PTC_EFFORT_NONE;
}

/* Fills a request; its stream and cancel are the caller's. */
static inline void help_request(PtcJsonBox *box, PtcArena *arena, PtcValue v, PtcLlmRequest *r)
{
    PtcValue list = ptc_json_box_get(box, v, "messages");
    size_t count = ptc_json_box_length(list), half = count / 2;
    PtcMessage *messages = ptc_arena_zalloc(arena, (count + 1) * sizeof *messages);
    int64_t deadline = ptc_json_box_count(box, v, "deadline_ms", 1 << 30, -1);
    *r = (PtcLlmRequest){.deadline_ns = INT64_MAX};
    for (size_t i = 0; i < count; i++)
        help_message(box, arena, ptc_json_box_item(list, i), &messages[i]);
    r->parts[0] = (PtcMessages){messages, half};
    r->parts[1] = (PtcMessages){messages + half, count - half};
    r->system = ptc_json_box_text(box, v, "system");
    r->system_more = ptc_json_box_text(box, v, "system_more");
    help_tools(box, arena, ptc_json_box_get(box, v, "tools"), r);
    r->one_call = ptc_json_box_bool(box, v, "one_call");
    r->schema = help_json(box, arena, ptc_json_box_get(box, v, "schema"));
    r->effort = help_effort(ptc_json_box_text(box, v, "effort"));
    r->thinking_tokens = ptc_json_box_count(box, v, "thinking_tokens", 1 << 30, 0);
    r->max_output_tokens = ptc_json_box_count(box, v, "max_output_tokens", 1 << 30, 0);
    r->timeout_ms = ptc_json_box_count(box, v, "timeout_ms", 1 << 30, 0);
    if (deadline >= 0)
        r->deadline_ns = ptc_clock_ns(NULL) + deadline * 1000000;
    r->agent = ptc_json_box_text(box, v, "agent");
}

#endif
