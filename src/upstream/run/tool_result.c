/* SPDX-License-Identifier: MIT
 * Results as values.  A block that is not as the protocol has it is left out with a note: what else the tool said is
 * worth more than the order it broke. */
#include "upstream/run/tool_result.h"

#include <stdio.h>

#include "base/ascii.h"
#include "json/emit.h"
#include "json/parse.h"
#include "tool/remote/remote_answer.h"
#include "tool/schema/schema.h"
#include "value/coll/fields.h"

const char *const ptc_tool_result_notes[] = {"schema_mismatch",
                                             "no_structured_content",
                                             "unknown_block",
                                             "bad_block",
                                             "tool_changed",
                                             "schema_slow",
                                             NULL};

const char *ptc_tool_result_kind(PtcResultKind kind)
{
    static const char *const names[] = {"json", "text", "none", "content"};
    return names[kind];
}

static bool answer_tool_result(PtcToolResult *out, PtcResultKind kind, PtcValue value)
{
    out->ok = true;
    out->kind = kind;
    out->value = value;
    return value != PTC_NONE;
}

static bool refuse_tool_result(PtcToolResult *out, PtcCallReason reason)
{
    out->ok = false;
    out->reason = reason;
    return true;
}

static bool begins_as_container(PtcText text)
{
    PtcText inner = ptc_text_skip_spaces(text);
    return ptc_text_starts(inner, "{") || ptc_text_starts(inner, "[");
}

/* The value of a text that is as a whole a JSON object or array; PTC_NONE: it is not. */
static PtcValue read_text_as_json(PtcHeap *heap, PtcText text)
{
    PtcJsonError error;
    return begins_as_container(text) ? ptc_json_parse(heap, text.bytes, text.len, &error)
                                     : PTC_NONE;
}

/* Where it is wanted first; what cannot be read there is read here, which says why. */
bool ptc_tool_result_text(PtcHeap *heap, PtcRemoteAnswer *answer, PtcText text, bool parse,
                          PtcToolResult *out)
{
    bool json = parse && begins_as_container(text);
    PtcValue v = json ? ptc_remote_answer_json(answer, text) : PTC_NONE;
    out->there = v != PTC_NONE;
    if (json && !out->there)
        v = read_text_as_json(heap, text);
    if (v != PTC_NONE)
        return answer_tool_result(out, PTC_TOOL_RESULT_JSON, v);
    if (!ptc_fields_ok(heap))
        return false;
    v = ptc_remote_answer_string(answer, text);
    out->there = v != PTC_NONE;
    return answer_tool_result(out, PTC_TOOL_RESULT_TEXT,
                              out->there ? v : ptc_fields_string(heap, text));
}

/* ---------------------------------------------------------------------------------- blocks */

/* What base64 text of a length stands for; -1: it cannot be base64. */
static int64_t decoded_bytes(PtcText text)
{
    size_t padding = 0;
    while (padding < 2 && padding < text.len && text.bytes[text.len - 1 - padding] == '=')
        padding++;
    for (size_t i = 0; i < text.len - padding; i++) {
        char c = text.bytes[i];
        if (!(ptc_ascii_is_alnum(c) || c == '+' || c == '/'))
            return -1;
    }
    return text.len % 4 ? -1 : (int64_t)(text.len / 4 * 3 - padding);
}

size_t ptc_tool_result_most_blobs(PtcHeap *heap, PtcValue result)
{
    size_t most = 0;
    PtcValue content = ptc_map_field(heap, result, "content");
    for (size_t i = 0; i < ptc_fields_count(content); i++) {
        PtcText type = ptc_fields_text(heap, ptc_seq_nth(content, i), "type");
        most += !type.bytes || !ptc_text_is(type, "text");
    }
    return most;
}

PtcValue ptc_tool_result_blob(PtcHeap *heap, const char *type, PtcText mime, size_t bytes,
                              size_t before, PtcValue data, PtcToolResult *out)
{
    char ref[32];
    PtcValue block = ptc_fields_map(heap), blob = ptc_fields_map(heap);
    size_t number = before + ptc_fields_count(out->blobs) + 1;
    PtcText name = {ref, (size_t)snprintf(ref, sizeof ref, "blob-%zu", number)};
    ptc_fields_put_text(heap, &block, "type", ptc_text_cstr(type));
    if (mime.bytes)
        ptc_fields_put_text(heap, &block, "mimeType", mime);
    ptc_fields_put(heap, &block, "bytes", ptc_int((int64_t)bytes));
    ptc_fields_put_text(heap, &block, "ref", name);
    ptc_fields_put_text(heap, &blob, "ref", name);
    if (mime.bytes)
        ptc_fields_put_text(heap, &blob, "mimeType", mime);
    ptc_fields_put(heap, &blob, "data", data);
    ptc_fields_push(heap, &out->blobs, blob);
    return block;
}

/* One reading: what is known of the blocks so far. */
typedef struct {
    PtcHeap *heap;
    const PtcToolResultIn *in;
    PtcToolResult *out;
    PtcValue blocks, texts; /* all as values; the texts of text blocks */
    PtcText resource;       /* of the last embedded text resource */
} ResultReading;

static PtcValue bad_block(ResultReading *r)
{
    r->out->notes |= PTC_NOTE_BAD_BLOCK;
    return PTC_NONE;
}

static PtcValue read_text_block(ResultReading *r, PtcValue block)
{
    PtcValue to = ptc_fields_map(r->heap), text = ptc_map_field(r->heap, block, "text");
    if (text == PTC_NONE || !ptc_is_string(text))
        return bad_block(r);
    ptc_fields_push(r->heap, &r->texts, text);
    ptc_fields_put_text(r->heap, &to, "type", PTC_TEXT("text"));
    ptc_fields_put(r->heap, &to, "text", text);
    return to;
}

static PtcValue read_binary(ResultReading *r, const char *type, PtcValue from, const char *key)
{
    PtcValue data = ptc_map_field(r->heap, from, key);
    int64_t bytes =
        data == PTC_NONE || !ptc_is_string(data) ? -1 : decoded_bytes(ptc_str_text(data));
    if (bytes < 0)
        return bad_block(r);
    return ptc_tool_result_blob(r->heap, type, ptc_fields_text(r->heap, from, "mimeType"),
                                (size_t)bytes, r->in->blobs, data, r->out);
}

static PtcValue read_resource_block(ResultReading *r, PtcValue block)
{
    PtcValue from = ptc_map_field(r->heap, block, "resource"), to = PTC_NONE;
    PtcText uri = ptc_fields_text(r->heap, from, "uri"), text = {NULL, 0};
    if (!uri.bytes)
        return bad_block(r);
    text = ptc_fields_text(r->heap, from, "text");
    if (!text.bytes) {
        to = read_binary(r, "resource", from, "blob");
    } else {
        PtcText mime = ptc_fields_text(r->heap, from, "mimeType");
        to = ptc_fields_map(r->heap);
        ptc_fields_put_text(r->heap, &to, "type", PTC_TEXT("resource"));
        if (mime.bytes)
            ptc_fields_put_text(r->heap, &to, "mimeType", mime);
        ptc_fields_put_text(r->heap, &to, "text", text);
        r->resource = text;
    }
    if (to != PTC_NONE)
        ptc_fields_put_text(r->heap, &to, "uri", uri);
    return to;
}

static PtcValue read_link(ResultReading *r, PtcValue block)
{
    static const char *const keys[] = {"uri", "name", "title", "description", "mimeType", "size"};
    PtcValue to = ptc_fields_map(r->heap);
    if (!ptc_fields_text(r->heap, block, "uri").bytes)
        return bad_block(r);
    ptc_fields_put_text(r->heap, &to, "type", PTC_TEXT("resource_link"));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        ptc_fields_put(r->heap, &to, keys[i], ptc_map_field(r->heap, block, keys[i]));
    return to;
}

static PtcValue read_unknown(ResultReading *r, PtcText type)
{
    PtcValue to = ptc_fields_map(r->heap);
    r->out->notes |= PTC_NOTE_UNKNOWN_BLOCK;
    ptc_fields_put_text(r->heap, &to, "type", type);
    return to;
}

static PtcValue read_content_block(ResultReading *r, PtcValue block)
{
    PtcText type = ptc_fields_text(r->heap, block, "type");
    if (!type.bytes)
        return bad_block(r);
    if (ptc_text_is(type, "text"))
        return read_text_block(r, block);
    if (ptc_text_is(type, "image"))
        return read_binary(r, "image", block, "data");
    if (ptc_text_is(type, "audio"))
        return read_binary(r, "audio", block, "data");
    if (ptc_text_is(type, "resource"))
        return read_resource_block(r, block);
    if (ptc_text_is(type, "resource_link"))
        return read_link(r, block);
    return read_unknown(r, type);
}

static void read_blocks(ResultReading *r, PtcValue content)
{
    for (size_t i = 0; i < ptc_fields_count(content) && ptc_fields_ok(r->heap); i++)
        ptc_fields_push(r->heap, &r->blocks, read_content_block(r, ptc_seq_nth(content, i)));
}

/* -------------------------------------------------------------------------------- choosing */

static PtcValue join_result_texts(ResultReading *r)
{
    PtcBuf all;
    size_t n = ptc_fields_count(r->texts);
    if (n == 1)
        return ptc_seq_nth(r->texts, 0);
    ptc_buf_init(&all, r->heap->pool->mem, PTC_UNBOUNDED);
    for (size_t i = 0; i < n; i++) {
        PtcText text = ptc_str_text(ptc_seq_nth(r->texts, i));
        if (i)
            ptc_buf_add_char(&all, '\n');
        ptc_buf_add(&all, text.bytes, text.len);
    }
    PtcValue value = ptc_fields_buf(r->heap, &all);
    ptc_buf_deinit(&all);
    return value;
}

static bool answer_result_text(ResultReading *r, PtcText text)
{
    return ptc_tool_result_text(r->heap, r->in->answer, text, !r->in->leave_text, r->out);
}

/* Several texts: all of them JSON, or lines of one text. */
static bool answer_texts(ResultReading *r)
{
    PtcValue list = ptc_fields_list(r->heap);
    size_t n = ptc_fields_count(r->texts);
    for (size_t i = 0; i < n && !r->in->leave_text; i++) {
        PtcValue v = read_text_as_json(r->heap, ptc_str_text(ptc_seq_nth(r->texts, i)));
        if (v == PTC_NONE)
            break;
        ptc_fields_push(r->heap, &list, v);
    }
    if (!ptc_fields_ok(r->heap))
        return false;
    if (ptc_fields_count(list) == n)
        return answer_tool_result(r->out, PTC_TOOL_RESULT_JSON, list);
    return answer_tool_result(r->out, PTC_TOOL_RESULT_TEXT, join_result_texts(r));
}

static bool answer_content(ResultReading *r)
{
    PtcValue value = ptc_fields_map(r->heap);
    if (ptc_fields_count(r->texts))
        ptc_fields_put(r->heap, &value, "text", join_result_texts(r));
    ptc_fields_put(r->heap, &value, "content", r->blocks);
    return ptc_fields_ok(r->heap) && answer_tool_result(r->out, PTC_TOOL_RESULT_CONTENT, value);
}

static bool answer_blocks(ResultReading *r, PtcValue content)
{
    read_blocks(r, content);
    size_t blocks = ptc_fields_count(r->blocks), texts = ptc_fields_count(r->texts);
    if (!ptc_fields_ok(r->heap))
        return false;
    if (blocks == 0)
        return answer_tool_result(r->out, PTC_TOOL_RESULT_NONE, PTC_NIL);
    if (blocks == 1 && texts == 1)
        return answer_result_text(r, ptc_str_text(ptc_seq_nth(r->texts, 0)));
    if (blocks == 1 && r->resource.bytes)
        return answer_result_text(r, r->resource);
    return blocks == texts ? answer_texts(r) : answer_content(r);
}

/* -------------------------------------------------------------------------------- failures */

static PtcValue structured_content(const ResultReading *r)
{
    return r->in->structured ? *r->in->structured
                             : ptc_map_field(r->heap, r->in->result, "structuredContent");
}

static bool answer_tool_failure(ResultReading *r)
{
    PtcValue content = ptc_map_field(r->heap, r->in->result, "content");
    PtcValue structured = structured_content(r);
    PtcBuf json;
    r->out->message = PTC_NONE;
    read_blocks(r, content);
    r->out->notes = 0;
    r->out->blobs = ptc_fields_list(r->heap);
    if (ptc_fields_count(r->texts)) {
        r->out->message = join_result_texts(r);
    } else if (r->resource.bytes) {
        r->out->message = ptc_fields_string(r->heap, r->resource);
    } else if (structured != PTC_NONE && structured != PTC_NIL) {
        ptc_buf_init(&json, r->heap->pool->mem, PTC_UNBOUNDED);
        ptc_emit_value(&json, r->heap, structured);
        r->out->message = ptc_fields_buf(r->heap, &json);
        ptc_buf_deinit(&json);
    }
    return ptc_fields_ok(r->heap) && refuse_tool_result(r->out, PTC_CALL_TOOL_ERROR);
}

/* Is the value as the schema of the tool has it?  A schema that cannot be compiled says nothing. */
static PtcSchemaVerdict check_result_schema(ResultReading *r, PtcValue value)
{
    PtcArena arena;
    const PtcToolResultIn *in = r->in;
    const PtcSchema *schema = in->compiled;
    PtcBudget *budget = in->checks ? in->checks : r->heap->budget;
    PtcSchemaError error;
    PtcMem *mem = r->heap->pool->mem;
    if (in->given_up)
        return PTC_SCHEMA_STOPPED;
    if (in->checks && !schema)
        return budget->stop ? PTC_SCHEMA_STOPPED : PTC_SCHEMA_VALID;
    ptc_arena_init(&arena, mem);
    bool has =
        schema || ptc_schema_compile(&arena, mem, budget, in->output_schema, &schema, &error);
    PtcSchemaVerdict verdict =
        has ? ptc_schema_validate(schema, value, mem, budget, NULL) : PTC_SCHEMA_VALID;
    ptc_arena_deinit(&arena);
    return verdict;
}

/* May the value be used?  Where answers must fit, one that could not be checked does not. */
static bool judge_structured(ResultReading *r, PtcValue value)
{
    PtcSchemaVerdict verdict = check_result_schema(r, value);
    if (verdict == PTC_SCHEMA_INVALID)
        r->out->notes |= PTC_NOTE_SCHEMA_MISMATCH;
    if (verdict == PTC_SCHEMA_STOPPED && r->in->strict)
        r->out->message = ptc_fields_string(
            r->heap, PTC_TEXT("its answer could not be checked: a pattern of the tool's output "
                              "schema takes too long, or ptc is out of memory"));
    return verdict == PTC_SCHEMA_VALID || !r->in->strict;
}

static bool answer_structured(ResultReading *r, PtcValue value)
{
    PtcHeap *heap = r->heap;
    PtcValue schema = r->in->output_schema;
    if (schema != PTC_NONE && !judge_structured(r, value))
        return refuse_tool_result(r->out, PTC_CALL_BAD_ANSWER);
    bool wrapped = schema != PTC_NONE &&
                   ptc_fields_is(heap, schema, "x-fastmcp-wrap-result", PTC_TRUE) &&
                   ptc_is_map(value) && ptc_map_count(value) == 1;
    PtcValue inner = wrapped ? ptc_map_field(heap, value, "result") : PTC_NONE;
    r->out->there = r->in->structured != NULL;
    return ptc_fields_ok(heap) &&
           answer_tool_result(r->out, PTC_TOOL_RESULT_JSON, inner == PTC_NONE ? value : inner);
}

static bool answer_result(ResultReading *r)
{
    PtcHeap *heap = r->heap;
    PtcValue result = r->in->result;
    PtcText type = ptc_fields_text(heap, result, "resultType");
    PtcValue structured = structured_content(r);
    PtcValue content = ptc_map_field(heap, result, "content");
    PtcValue old = ptc_map_field(heap, result, "toolResult");
    PtcValue failed = ptc_map_field(heap, result, "isError");
    if (r->in->modern && type.bytes && !ptc_text_is(type, "complete"))
        return refuse_tool_result(r->out, ptc_text_is(type, "input_required")
                                              ? PTC_CALL_INPUT_REQUIRED
                                              : PTC_CALL_BAD_ANSWER);
    if (failed == PTC_TRUE)
        return answer_tool_failure(r);
    if (failed != PTC_NONE && failed != PTC_NIL && failed != PTC_FALSE)
        return refuse_tool_result(r->out, PTC_CALL_BAD_ANSWER); /* what is neither is no success */
    if (content != PTC_NONE && !ptc_is_sequential(content))
        return refuse_tool_result(r->out, PTC_CALL_BAD_ANSWER);
    if (structured != PTC_NONE && (structured != PTC_NIL || r->in->modern))
        return answer_structured(r, structured);
    if (content == PTC_NONE && old != PTC_NONE)
        return answer_tool_result(r->out, PTC_TOOL_RESULT_JSON, old);
    if (r->in->output_schema != PTC_NONE)
        r->out->notes |= PTC_NOTE_NO_STRUCTURED_CONTENT;
    return answer_blocks(r, content);
}

bool ptc_tool_result_read(PtcHeap *heap, const PtcToolResultIn *in, PtcToolResult *out)
{
    PtcValue blocks = ptc_fields_list(heap);
    ResultReading r = {heap, in, out, blocks, blocks, {NULL, 0}};
    *out = (PtcToolResult){.value = PTC_NIL, .message = PTC_NONE, .blobs = blocks};
    if (!ptc_is_map(in->result))
        return refuse_tool_result(out, PTC_CALL_BAD_ANSWER);
    return answer_result(&r) && ptc_fields_ok(heap);
}
