/* SPDX-License-Identifier: MIT
 * The conversation of a run.  messages.h says what always holds about the order of its messages. */
#include "agent/prompt/messages.h"

#include <stdio.h>

#include "agent/agent_fault.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "value/str.h"

enum { IDS_MIN = 16, CHARS_PER_TOKEN = 4 };

void ptc_messages_init(PtcConversation *c, PtcArena *arena)
{
    *c = (PtcConversation){.arena = arena};
}

PtcText ptc_messages_keep(PtcArena *arena, PtcText text)
{
    char *copy = text.bytes ? ptc_arena_alloc(arena, text.len + 1) : NULL;
    if (!copy)
        return (PtcText){NULL, 0};
    memcpy(copy, text.bytes, text.len);
    copy[text.len] = 0;
    return (PtcText){copy, text.len};
}

/* ---------------------------------------------------------------------------- estimates */

static uint64_t text_tokens(const PtcConversation *c, PtcText text)
{
    if (text.len == 0)
        return 0;
    int64_t n = c->count_tokens ? c->count_tokens(c->count_user, text)
                                : (int64_t)(ptc_utf8_count(text.bytes, text.len) / CHARS_PER_TOKEN);
    return n > 0 ? (uint64_t)n : 0;
}

static uint32_t message_tokens(const PtcConversation *c, const PtcMessage *m)
{
    uint64_t n = text_tokens(c, m->content);
    for (size_t i = 0; i < m->call_count; i++)
        n += text_tokens(c, m->calls[i].args);
    return n == 0 ? 1 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static size_t message_bytes(const PtcMessage *m)
{
    size_t n = m->content.len + m->call_id.len + m->call_name.len + m->opaque.len;
    for (size_t i = 0; i < m->call_count; i++)
        n += m->calls[i].id.len + m->calls[i].name.len + m->calls[i].args.len;
    return n;
}

/* ------------------------------------------------------------------------------- adding */

static bool add_conversation_message(PtcConversation *c, const PtcMessage *m)
{
    PtcMessage *items = ptc_arena_push(c->arena, c->items, c->count, sizeof *items);
    uint32_t *tokens = items ? ptc_arena_push(c->arena, c->tokens, c->count, sizeof *tokens) : NULL;
    if (!tokens)
        return false;
    c->items = items;
    c->tokens = tokens;
    items[c->count] = *m;
    tokens[c->count++] = message_tokens(c, m);
    c->bytes += message_bytes(m);
    return true;
}

/* Joins two texts of one user.  The older message is replaced, since messages never change. */
static bool join_user(PtcConversation *c, PtcText text)
{
    PtcText first = c->items[c->count - 1].content;
    size_t len = first.len + 2 + text.len;
    char *both = ptc_arena_alloc(c->arena, len + 1);
    if (!both)
        return false;
    memcpy(both, first.bytes, first.len);
    memcpy(both + first.len, "\n\n", 2);
    memcpy(both + first.len + 2, text.bytes, text.len);
    both[len] = 0;
    c->count--;
    c->bytes -= first.len;
    return add_conversation_message(c,
                                    &(PtcMessage){.role = PTC_ROLE_USER, .content = {both, len}});
}

bool ptc_messages_add_user(PtcConversation *c, PtcText text)
{
    if (c->count && c->items[c->count - 1].role == PTC_ROLE_USER)
        return join_user(c, text);
    PtcMessage m = {.role = PTC_ROLE_USER, .content = ptc_messages_keep(c->arena, text)};
    return m.content.bytes && add_conversation_message(c, &m);
}

static bool keep_message_calls(PtcConversation *c, const PtcMessageCall *calls, size_t count,
                               PtcMessage *m)
{
    PtcMessageCall *copy = count ? ptc_arena_alloc(c->arena, count * sizeof *copy) : NULL;
    if (count && !copy)
        return false;
    for (size_t i = 0; i < count; i++)
        copy[i] = (PtcMessageCall){.id = ptc_messages_keep(c->arena, calls[i].id),
                                   .name = ptc_messages_keep(c->arena, calls[i].name),
                                   .args = ptc_messages_keep(c->arena, calls[i].args)};
    m->calls = copy;
    m->call_count = count;
    return !c->arena->failed;
}

bool ptc_messages_add_assistant(PtcConversation *c, PtcText content, const PtcMessageCall *calls,
                                size_t call_count, PtcText opaque)
{
    PtcMessage m = {.role = PTC_ROLE_ASSISTANT,
                    .content = ptc_messages_keep(c->arena, content),
                    .opaque = ptc_messages_keep(c->arena, opaque)};
    return keep_message_calls(c, calls, call_count, &m) && add_conversation_message(c, &m);
}

bool ptc_messages_add_tool(PtcConversation *c, const PtcMessageCall *call, PtcText content,
                           bool is_error)
{
    PtcMessage m = {.role = PTC_ROLE_TOOL,
                    .content = ptc_messages_keep(c->arena, content),
                    .call_id = ptc_messages_keep(c->arena, call->id),
                    .call_name = ptc_messages_keep(c->arena, call->name),
                    .is_error = is_error};
    return !c->arena->failed && add_conversation_message(c, &m);
}

void ptc_messages_mark_note(PtcConversation *c, size_t at)
{
    c->items[c->count - 1].note = at;
}

/* ------------------------------------------------------------------------------ earlier */

/* Calls of the last assistant's message that have not been answered yet. */
typedef struct Open {
    const PtcMessage *asked;
    size_t answered;
} Open;

static const char *check_next_message(const PtcMessage *m, const PtcMessage *before, Open *open)
{
    bool waiting = open->asked && open->answered < open->asked->call_count;
    switch (m->role) {
    case PTC_ROLE_USER:
        return waiting            ? "a call before it is not answered"
               : m->content.bytes ? NULL
                                  : "it has no text";
    case PTC_ROLE_ASSISTANT:
        if (!before)
            return "a conversation begins with a user's message";
        if (waiting)
            return "a call before it is not answered";
        if (before->role == PTC_ROLE_ASSISTANT)
            return "two messages of the assistant follow each other";
        *open = (Open){m, 0};
        return m->content.bytes || m->call_count ? NULL : "it has neither text nor calls";
    case PTC_ROLE_TOOL:
        if (!waiting)
            return "it answers no call";
        return ptc_text_same(m->call_id, open->asked->calls[open->answered++].id)
                   ? NULL
                   : "it answers a call other than the next one";
    }
    return "it has an unknown role";
}

bool ptc_messages_check(const PtcMessage *items, size_t count, PtcWhy *why)
{
    Open open = {NULL, 0};
    const char *wrong = NULL;
    size_t n = 0;
    while (n < count && !(wrong = check_next_message(&items[n], n ? &items[n - 1] : NULL, &open)))
        n++;
    if (!wrong && open.asked && open.answered < open.asked->call_count)
        wrong = "the conversation ends before a call is answered";
    if (!wrong)
        return true;
    ptc_fault_input(why, "", "%s", wrong);
    return ptc_why_at(why, "run.messages[%zu]", n);
}

bool ptc_messages_add_earlier(PtcConversation *c, const PtcMessage *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const PtcMessage *m = &items[i];
        PtcMessageCall answered = {.id = m->call_id, .name = m->call_name};
        bool ok =
            m->role == PTC_ROLE_USER ? ptc_messages_add_user(c, m->content)
            : m->role == PTC_ROLE_TOOL
                ? ptc_messages_add_tool(c, &answered, m->content, m->is_error)
                : ptc_messages_add_assistant(c, m->content, m->calls, m->call_count, m->opaque);
        if (ok && m->note)
            ptc_messages_mark_note(c, m->note);
        for (size_t k = 0; ok && k < m->call_count; k++)
            ok = ptc_messages_id(c, m->calls[k].id, 1).bytes != NULL;
        if (!ok)
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------------------------- ids */

/* The slot of an id, or the free one where it belongs.  There is always a free one. */
static PtcText *slot(PtcText *ids, size_t cap, PtcText id)
{
    size_t i = ptc_str_hash_bytes(id.bytes, id.len) & (cap - 1);
    while (ids[i].bytes && !ptc_text_same(ids[i], id))
        i = (i + 1) & (cap - 1);
    return &ids[i];
}

static bool grow_ids(PtcConversation *c)
{
    size_t cap = c->id_cap ? c->id_cap * 2 : IDS_MIN;
    if (c->id_count + 1 < c->id_cap / 2)
        return true;
    PtcText *ids = ptc_arena_zalloc(c->arena, cap * sizeof *ids);
    if (!ids)
        return false;
    for (size_t i = 0; i < c->id_cap; i++)
        if (c->ids[i].bytes)
            *slot(ids, cap, c->ids[i]) = c->ids[i];
    c->ids = ids;
    c->id_cap = cap;
    return true;
}

PtcText ptc_messages_id(PtcConversation *c, PtcText id, uint64_t n)
{
    char made[32];
    PtcText none = {NULL, 0};
    if (!grow_ids(c))
        return none;
    if (id.len == 0)
        id = none;
    while (!id.bytes || slot(c->ids, c->id_cap, id)->bytes) {
        n = n > c->next_made ? n : c->next_made; /* so that no number is tried twice */
        int len = snprintf(made, sizeof made, "tc_%llu", (unsigned long long)n);
        id = (PtcText){made, (size_t)len};
        c->next_made = n + 1;
    }
    id = ptc_messages_keep(c->arena, id);
    if (!id.bytes)
        return none;
    *slot(c->ids, c->id_cap, id) = id;
    c->id_count++;
    return id;
}

/* ------------------------------------------------------------------------------ answers */

void ptc_messages_error(PtcBuf *out, PtcAgentFault reason, PtcText message, PtcText feedback)
{
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "status", "error");
    ptc_emit_field_cstr(out, "reason", ptc_agent_fault_word(reason));
    ptc_emit_field_text(out, "message", message);
    ptc_emit_field_text(out, "feedback", feedback.bytes ? feedback : PTC_TEXT(""));
    ptc_emit_object_end(out);
}

void ptc_messages_payload(PtcBuf *out, PtcText payload, PtcText feedback)
{
    size_t n = payload.len;
    while (n > 0 && payload.bytes[n - 1] != '}')
        n--;
    if (n < 2) { /* not an object: the feedback is all there is */
        ptc_emit_object(out);
    } else {
        ptc_buf_add(out, payload.bytes, n - 1);
    }
    ptc_emit_field_text(out, "feedback", feedback);
    ptc_emit_object_end(out);
}
