/* SPDX-License-Identifier: MIT
 * A question of an upstream as our client is asked it.  What always holds: it says which server asks; texts that people
 * read are cleaned, and no secret is in it; only members that are known to be harmless are passed on. */
#include "base/text/clean.h"
#include "base/text/one_line.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/parse.h"
#include "tool/wire/fence.h"
#include "upstream/connect/inquiry.h"
#include "upstream/run/blot_json.h"
#include "value/coll/fields.h"

enum { INQUIRY_HEAP_BYTES = 8 * PTC_MB, INQUIRY_DEPTH = 8 };

static PtcValue clean_inquiry_text(PtcHeap *heap, PtcText text)
{
    PtcBuf clean;
    ptc_buf_init(&clean, heap->pool->mem, 8 * PTC_CLEAN_DOC + 64);
    ptc_clean_add(&clean, text, PTC_CLEAN_DOC, false);
    PtcValue v = ptc_fields_buf(heap, &clean);
    ptc_buf_deinit(&clean);
    return v;
}

static PtcValue visible_text(PtcHeap *heap, PtcText text)
{
    PtcBuf visible;
    ptc_buf_init(&visible, heap->pool->mem, 4 * PTC_INQUIRY_BYTES);
    ptc_fence_add_visible(&visible, text);
    PtcValue v = ptc_fields_buf(heap, &visible);
    ptc_buf_deinit(&visible);
    return v;
}

/* --------------------------------------------------------------------------------------- forms */

/* What a text of a schema is for. */
typedef enum {
    INQUIRY_EXACT,   /* it comes back in an answer, as names and choices do, and stays as it is */
    INQUIRY_SHOWN,   /* people read it */
    INQUIRY_PROPOSED /* it is what a field has before anybody types: it may have several lines */
} Role;

/* Can people see all of a text that must stay as it is?  One with line feeds could pass for more than it is. */
static bool is_seen(PtcText text, Role role)
{
    uint32_t code = ' ';
    bool seen = true;
    for (size_t i = 0; i < text.len && seen;) {
        i += ptc_utf8_decode(text.bytes + i, text.len - i, &code);
        seen = !ptc_one_line_is_unseen(code) &&
               (role == INQUIRY_PROPOSED || (code != '\n' && code != '\t'));
    }
    return seen;
}

static Role role_of(PtcText key)
{
    bool shown = ptc_text_is(key, "title") || ptc_text_is(key, "description") ||
                 ptc_text_is(key, "enumNames");
    return shown ? INQUIRY_SHOWN : ptc_text_is(key, "default") ? INQUIRY_PROPOSED : INQUIRY_EXACT;
}

/* A schema with clean titles and descriptions; PTC_NONE: it is too deep, has unseen characters elsewhere, or out of
 * memory. */
static PtcValue clean_schema(PtcHeap *heap, PtcValue v, Role role, int depth)
{
    PtcValue key, value;
    if (ptc_is_string(v) && role == INQUIRY_SHOWN)
        return clean_inquiry_text(heap, ptc_str_text(v));
    if (ptc_is_string(v))
        return is_seen(ptc_str_text(v), role) ? v : PTC_NONE;
    if (depth == INQUIRY_DEPTH)
        return PTC_NONE;
    if (ptc_is_map(v)) {
        PtcValue out = ptc_fields_map(heap);
        for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
            PtcValue clean = clean_schema(heap, value, role_of(ptc_str_text(key)), depth + 1);
            if (clean == PTC_NONE || !is_seen(ptc_str_text(key), INQUIRY_EXACT))
                return PTC_NONE;
            ptc_fields_put_key(heap, &out, ptc_str_text(key), clean);
        }
        return out;
    }
    if (!ptc_is_sequential(v))
        return v;
    PtcValue out = ptc_fields_list(heap);
    for (size_t i = 0; i < ptc_seq_count(v); i++) {
        PtcValue clean = clean_schema(heap, ptc_seq_nth(v, i), role, depth + 1);
        if (clean == PTC_NONE)
            return PTC_NONE;
        ptc_fields_push(heap, &out, clean);
    }
    return out;
}

/* The text behind the server's name, which stands between `before` and `behind`. */
static PtcValue prefixed(PtcHeap *heap, const char *before, PtcText server, const char *behind,
                         PtcText text)
{
    PtcBuf out;
    ptc_buf_init(&out, heap->pool->mem, 4 * PTC_INQUIRY_BYTES);
    ptc_buf_add_cstr(&out, before);
    ptc_clean_add(&out, server, PTC_CLEAN_LINE, false);
    ptc_buf_add_cstr(&out, behind);
    ptc_fence_add_visible(&out, text);
    PtcValue v = ptc_fields_buf(heap, &out);
    ptc_buf_deinit(&out);
    return v;
}

static PtcValue form(PtcHeap *heap, PtcText server, PtcValue in)
{
    PtcText mode = ptc_fields_text(heap, in, "mode");
    PtcText message = ptc_fields_text(heap, in, "message");
    PtcValue schema = ptc_map_field(heap, in, "requestedSchema"), out = ptc_fields_map(heap);
    if ((mode.bytes && !ptc_text_is(mode, "form")) || !message.bytes || schema == PTC_NONE ||
        !ptc_is_map(schema) || (schema = clean_schema(heap, schema, INQUIRY_EXACT, 0)) == PTC_NONE)
        return PTC_NONE;
    PtcValue clean = clean_inquiry_text(heap, message);
    if (clean == PTC_NONE)
        return PTC_NONE;
    ptc_fields_put(heap, &out, "message",
                   prefixed(heap, "The server \"", server, "\" asks: ", ptc_str_text(clean)));
    ptc_fields_put(heap, &out, "requestedSchema", schema);
    return out;
}

/* ------------------------------------------------------------------------------------ sampling */

static PtcValue visible_block(PtcHeap *heap, PtcValue block)
{
    PtcText text = ptc_is_map(block) ? ptc_fields_text(heap, block, "text") : (PtcText){NULL, 0};
    if (text.bytes)
        ptc_fields_put(heap, &block, "text", visible_text(heap, text));
    return block;
}

/* A person may look at it before a model does, and must see everything that the model reads. */
static PtcValue visible_message(PtcHeap *heap, PtcValue message)
{
    PtcValue content = ptc_map_field(heap, message, "content");
    if (content == PTC_NONE)
        return message;
    PtcValue out =
        ptc_is_sequential(content) ? ptc_fields_list(heap) : visible_block(heap, content);
    for (size_t i = 0; ptc_is_sequential(content) && i < ptc_seq_count(content); i++)
        ptc_fields_push(heap, &out, visible_block(heap, ptc_seq_nth(content, i)));
    ptc_fields_put(heap, &message, "content", out);
    return message;
}

/* A message whose content is a text, with the server's name; PTC_NONE: it is none. */
static PtcValue named_message(PtcHeap *heap, PtcText server, PtcValue message)
{
    PtcValue content = ptc_map_field(heap, message, "content");
    PtcText text =
        content != PTC_NONE ? ptc_fields_text(heap, content, "text") : (PtcText){NULL, 0};
    if (!text.bytes)
        return PTC_NONE;
    ptc_fields_put(heap, &content, "text", prefixed(heap, "[", server, "] ", text));
    ptc_fields_put(heap, &message, "content", content);
    return message;
}

/* A server learns nothing of our client's conversation, and its tools are not offered to the model: members that ask
 * for either are not passed on. */
static PtcValue sampling(PtcHeap *heap, PtcText server, PtcValue in)
{
    static const char *const passed[] = {"maxTokens", "temperature", "stopSequences",
                                         "modelPreferences"};
    PtcValue messages = ptc_map_field(heap, in, "messages"), out = ptc_fields_map(heap);
    PtcValue list = ptc_fields_list(heap);
    PtcText system = ptc_fields_text(heap, in, "systemPrompt");
    bool named = false;
    if (messages == PTC_NONE || !ptc_is_sequential(messages))
        return PTC_NONE;
    for (size_t i = 0; i < ptc_seq_count(messages); i++) {
        PtcValue message = ptc_seq_nth(messages, i);
        if (!ptc_is_map(message))
            return PTC_NONE;
        message = visible_message(heap, message);
        PtcValue with = named ? PTC_NONE : named_message(heap, server, message);
        named = named || with != PTC_NONE;
        ptc_fields_push(heap, &list, with != PTC_NONE ? with : message);
    }
    ptc_fields_put(heap, &out, "messages", list);
    if (system.bytes || !named)
        ptc_fields_put(heap, &out, "systemPrompt", prefixed(heap, "[", server, "] ", system));
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        ptc_fields_put(heap, &out, passed[i], ptc_map_field(heap, in, passed[i]));
    return out;
}

bool ptc_inquiry_words(PtcManager *m, const PtcInquiry *q, PtcText params, PtcBuf *out)
{
    PtcScratch scratch;
    PtcJsonError error;
    PtcBuf json;
    ptc_scratch_init(&scratch, m->mem, INQUIRY_HEAP_BYTES);
    ptc_scratch_hurry(&scratch);
    ptc_buf_init(&json, m->mem, 4 * PTC_INQUIRY_BYTES);
    PtcHeap *heap = &scratch.heap;
    PtcValue in = ptc_json_parse(heap, params.bytes ? params.bytes : "", params.len, &error);
    PtcValue asked = in == PTC_NONE || !ptc_is_map(in) ? PTC_NONE
                     : q->samples                      ? sampling(heap, q->server, in)
                                                       : form(heap, q->server, in);
    ptc_emit_object(&json);
    ptc_emit_field_cstr(&json, "method",
                        q->samples ? "sampling/createMessage" : "elicitation/create");
    ptc_emit_key(&json, "params");
    bool ok = asked != PTC_NONE && ptc_emit_value(&json, heap, asked) &&
              ptc_emit_object_end(&json) && ptc_fields_ok(heap);
    if (ok)
        ptc_blot_json(&m->hidden, out, ptc_buf_view(&json));
    ptc_buf_deinit(&json);
    ptc_scratch_deinit(&scratch);
    return ok && ptc_buf_ok(out);
}
