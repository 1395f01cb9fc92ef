/* SPDX-License-Identifier: MIT
 * Understands replies, with one function for each mode.  What always holds: every call of a reply gets an entry, and
 * either a tool to be called or the reason why not. */
#include "agent/step/heard.h"

#include "agent/prompt/agent_words.h"
#include "agent/step/blocks.h"
#include "agent/step/find_program.h"
#include "agent/step/read_answer.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "tool/convert.h"
#include "tool/hint.h"
#include "tool/wire/protocol.h"
#include "value/coll/map.h"
#include "value/str.h"

enum { FEEDBACK_BYTES = PTC_MB, HEARD_MESSAGE_BYTES = 2000, HEARD_CALL_BYTES = 1000 };

typedef struct Hearing {
    PtcBench *b;
    const PtcAgentDef *def;
    const PtcLlmReply *reply;
    PtcText text;        /* of the reply, valid UTF-8; absent: none */
    PtcHeardCall *calls; /* of the reply */
    PtcValue *args;      /* of each call; PTC_NONE when they are not an object */
    size_t call_count, evals;
    PtcHeard *out;
    bool failed; /* memory ran out: whatever was heard does not count */
} Hearing;

/* What is in the buffer, in the bench's arena. */
static PtcText take_heard_text(Hearing *r, PtcBuf *buf)
{
    PtcText text = ptc_bench_take(r->b, buf);
    r->failed |= !text.bytes;
    return text;
}

/* ----------------------------------------------------------------------------- bad replies */

/* The reply cannot be used.  Feedback may be NULL. */
static void bad(Hearing *r, PtcAgentFault reason, PtcBuf *feedback)
{
    PtcHeard *out = r->out;
    out->kind = PTC_HEARD_BAD;
    out->reason = reason;
    out->message = ptc_text_cstr(ptc_agent_fault_text(reason));
    if (feedback)
        out->feedback = take_heard_text(r, feedback);
}

static void feedback_init(Hearing *r, PtcBuf *buf)
{
    ptc_buf_init(buf, &r->b->mem, FEEDBACK_BYTES);
}

/* ------------------------------------------------------------------------------------ texts */

/* The model may be a host's own and send any bytes, so invalid UTF-8 is replaced. */
static PtcText clean_reply_text(Hearing *r, PtcText text)
{
    PtcBuf buf;
    if (!text.bytes || ptc_utf8_valid(text.bytes, text.len))
        return text;
    ptc_buf_init(&buf, &r->b->mem, 3 * text.len);
    for (size_t at = 0; at < text.len;) {
        size_t n = ptc_utf8_valid_prefix(text.bytes + at, text.len - at);
        ptc_buf_add(&buf, text.bytes + at, n);
        at += n;
        if (at < text.len) {
            ptc_buf_add_cstr(&buf, "\xef\xbf\xbd");
            at++;
        }
    }
    return take_heard_text(r, &buf);
}

static bool is_printable(PtcText t, size_t most)
{
    for (size_t i = 0; i < t.len; i++)
        if (t.bytes[i] <= ' ' || t.bytes[i] > '~')
            return false;
    return t.len > 0 && t.len <= most;
}

/* ------------------------------------------------------------------------------------ calls */

static bool is_eval(const PtcHeardCall *call)
{
    return ptc_text_same_name(call->name, PTC_TEXT(PTC_TOOL_NAME));
}

/* The index of an offered tool in the set; SIZE_MAX: none, or lisp_eval. */
static size_t find_tool(const PtcAgentDef *def, PtcText name)
{
    for (size_t i = 0; i < def->offer_count; i++)
        if (ptc_text_same_name(def->offer[i].name, name))
            return def->offer_tools[i];
    return SIZE_MAX;
}

/* The arguments as a map; a string that contains JSON is read too, null and nothing become {}.  PTC_NONE: not an
 * object. */
static PtcValue read_call_args(Hearing *r, PtcText text)
{
    PtcJsonError e;
    PtcHeap *heap = &r->b->heap;
    text = ptc_blocks_trim(text);
    PtcValue v = text.len ? ptc_json_parse(heap, text.bytes, text.len, &e) : PTC_NIL;
    if (v != PTC_NONE && ptc_is_string(v)) {
        PtcText inner = ptc_blocks_trim(ptc_str_text(v));
        v = inner.len ? ptc_json_parse(heap, inner.bytes, inner.len, &e) : PTC_NIL;
    }
    if (v == PTC_NIL)
        v = ptc_map_empty(heap);
    ptc_budget_go_on(&r->b->budget);
    return v != PTC_NONE && ptc_is_map(v) ? v : PTC_NONE;
}

static PtcText args_json(Hearing *r, PtcValue args)
{
    PtcBuf buf;
    PtcJsonError e = {0};
    if (args == PTC_NONE)
        return PTC_TEXT("{}");
    ptc_buf_init(&buf, &r->b->mem, 8 * PTC_LLM_ARGS_BYTES);
    if (!ptc_to_json_value(&r->b->heap, &buf, args, -1, &e))
        buf.failed = true;
    return take_heard_text(r, &buf);
}

static void read_heard_call(Hearing *r, size_t i)
{
    const PtcMessageCall *from = &r->reply->calls[i];
    PtcHeardCall *call = &r->calls[i];
    PtcText none = {NULL, 0};
    *call = (PtcHeardCall){.tool = SIZE_MAX};
    call->id = is_printable(from->id, PTC_CALL_ID_BYTES) ? from->id : none;
    call->name = is_printable(from->name, PTC_CALL_NAME_BYTES) ? from->name : PTC_TEXT("unknown");
    r->args[i] = read_call_args(r, clean_reply_text(r, from->args));
    call->args = args_json(r, r->args[i]);
    r->evals += is_eval(call);
}

static bool read_heard_calls(Hearing *r)
{
    size_t n = r->reply->call_count;
    r->calls = ptc_arena_alloc(&r->b->arena, (n + 1) * sizeof *r->calls);
    r->args = ptc_arena_alloc(&r->b->arena, (n + 1) * sizeof *r->args);
    if (!r->calls || !r->args)
        return false;
    for (size_t i = 0; i < n && !r->failed; i++)
        read_heard_call(r, i);
    r->call_count = n;
    r->out->calls = r->calls;
    r->out->call_count = n;
    return !r->failed;
}

/* The call will not be made; `words` says why. */
static void refuse_heard_call(Hearing *r, PtcHeardCall *call, PtcAgentFault reason, PtcBuf *message)
{
    call->reason = reason;
    call->message = take_heard_text(r, message);
}

/* The tool of this name that programs may call, or NULL. */
static const PtcToolInfo *find_program_info(const PtcAgentDef *def, PtcText name)
{
    for (size_t i = 0; i < def->tools->count; i++)
        if (def->agent_tools[i]->in_programs &&
            ptc_text_same_name(def->agent_tools[i]->native_name, name))
            return &def->tools->items[i].info;
    return NULL;
}

/* Only programs may call the tool: shows the call as they would make it. */
static void add_call_for_program(Hearing *r, PtcBuf *message, const PtcToolInfo *info,
                                 PtcValue args)
{
    PtcBuf call;
    ptc_buf_init(&call, &r->b->mem, HEARD_CALL_BYTES);
    bool whole =
        args != PTC_NONE && ptc_hint_call(&r->b->heap, &call, info->name, info->name_len, args);
    ptc_words_program_tool(message, (PtcText){info->name, info->name_len},
                           whole ? ptc_buf_view(&call) : (PtcText){NULL, 0});
    ptc_buf_deinit(&call);
}

static void refuse_unknown(Hearing *r, size_t i)
{
    PtcHeardCall *call = &r->calls[i];
    const PtcToolInfo *info = find_program_info(r->def, call->name);
    PtcBuf message;
    ptc_buf_init(&message, &r->b->mem, HEARD_MESSAGE_BYTES);
    if (info)
        add_call_for_program(r, &message, info, r->args[i]);
    else
        ptc_words_unknown_tool(&message, r->def, call->name);
    refuse_heard_call(r, call, PTC_FAULT_UNKNOWN_TOOL, &message);
}

static void refuse_args(Hearing *r, PtcHeardCall *call)
{
    call->reason = PTC_FAULT_ARGS;
    call->message = ptc_text_cstr(r->reply->cut ? ptc_words_cut_args() : ptc_words_bad_args());
}

/* Refuses all calls of the reply for the same reason. */
static void refuse_heard_calls(Hearing *r, PtcAgentFault reason, bool mixed)
{
    for (size_t i = 0; i < r->call_count; i++) {
        PtcBuf message;
        ptc_buf_init(&message, &r->b->mem, HEARD_MESSAGE_BYTES);
        if (mixed)
            ptc_words_mixed_calls(&message);
        else
            ptc_words_several_calls(&message, r->call_count);
        refuse_heard_call(r, &r->calls[i], reason, &message);
    }
}

/* --------------------------------------------------------------------------------- programs */

/* The program of a lisp_eval call; false: the call is refused. */
static bool read_eval(Hearing *r, size_t i)
{
    PtcHeardCall *call = &r->calls[i];
    PtcBuf message;
    PtcPrinter printer = {.heap = &r->b->heap, .readable = true, .float_precision = -1};
    if (r->args[i] == PTC_NONE) {
        refuse_args(r, call);
        return false;
    }
    PtcValue program = ptc_map_field(&r->b->heap, r->args[i], "program");
    ptc_buf_init(&message, &r->b->mem, HEARD_MESSAGE_BYTES);
    bool ok = ptc_protocol_validate_program(program, &printer, &message);
    if (!ok) {
        message.full = false;
        refuse_heard_call(r, call, PTC_FAULT_ARGS, &message);
        return false;
    }
    ptc_buf_deinit(&message);
    r->out->program = ptc_find_unwrap(r->b, ptc_str_text(program));
    r->failed |= !r->out->program.bytes;
    return !r->failed;
}

/* A reply whose one call is lisp_eval. */
static void hear_eval(Hearing *r)
{
    if (read_eval(r, 0))
        r->out->kind = PTC_HEARD_PROGRAM;
    else
        bad(r, PTC_FAULT_ARGS, NULL);
}

/* ---------------------------------------------------------------------------------- answers */

static void hear_wrong(Hearing *r, const PtcAnswer *answer)
{
    PtcBuf buf;
    feedback_init(r, &buf);
    switch (answer->kind) {
    case PTC_ANSWER_EMPTY:
        ptc_words_empty(&buf, r->def, r->reply->cut);
        bad(r, PTC_FAULT_EMPTY, &buf);
        return;
    case PTC_ANSWER_NO_JSON:
        ptc_words_no_json(&buf, r->def, r->reply->cut);
        bad(r, PTC_FAULT_NO_JSON, &buf);
        return;
    default: break;
    }
    ptc_words_wrong_answer(&buf, r->def, answer->json, answer->findings);
    bad(r, PTC_FAULT_WRONG_ANSWER, &buf);
    r->out->issues = answer->issues;
}

static void hear_answer(Hearing *r)
{
    PtcAnswer answer;
    if (!ptc_read_answer(r->b, &r->def->want, r->text, &answer)) {
        r->failed = true;
    } else if (answer.kind == PTC_ANSWER_FITS) {
        r->out->kind = PTC_HEARD_ANSWER;
        r->out->answer = answer.json;
    } else {
        hear_wrong(r, &answer);
    }
}

/* ------------------------------------------------------------------------------------ modes */

static PtcNoCode no_code_kind(const Hearing *r)
{
    if (ptc_blocks_trim(r->text).len == 0 && r->reply->call_count > 0)
        return PTC_NO_CODE_CALLS;
    if (r->reply->cut)
        return PTC_NO_CODE_CUT;
    return ptc_blocks_trim(r->text).len == 0 ? PTC_NO_CODE_EMPTY : PTC_NO_CODE_TEXT;
}

/* This mode has no calls: no tool was offered, so they are not even answered. */
static void hear_content(Hearing *r)
{
    PtcFound found;
    PtcBuf buf;
    PtcText text = r->text.bytes ? r->text : PTC_TEXT("");
    r->failed = !ptc_find_program(r->b, text, r->reply->cut, &found);
    if (r->failed)
        return;
    r->out->content = found.history;
    if (found.kind == PTC_FOUND_PROGRAM) {
        r->out->kind = PTC_HEARD_PROGRAM;
        r->out->program = found.program;
        return;
    }
    feedback_init(r, &buf);
    if (found.kind == PTC_FOUND_SEVERAL)
        ptc_words_several(&buf, found.count);
    else
        ptc_words_no_code(&buf, no_code_kind(r));
    bad(r, found.kind == PTC_FOUND_SEVERAL ? PTC_FAULT_SEVERAL_PROGRAMS : PTC_FAULT_NO_CODE, &buf);
}

/* In this mode, what is wrong with calls of lisp_eval is said twice: in their answers, and as feedback. */
static void hear_one_call(Hearing *r)
{
    if (r->call_count > 1) {
        refuse_heard_calls(r, PTC_FAULT_SEVERAL_CALLS, false);
        bad(r, PTC_FAULT_SEVERAL_CALLS, NULL);
    } else if (!r->evals) {
        refuse_unknown(r, 0);
        bad(r, PTC_FAULT_UNKNOWN_TOOL, NULL);
        return;
    } else {
        hear_eval(r);
    }
    if (r->out->kind != PTC_HEARD_BAD)
        return;
    PtcBuf buf;
    feedback_init(r, &buf);
    ptc_words_call_feedback(&buf, r->out->reason);
    bad(r, r->out->reason, &buf);
}

static void hear_tool_call(Hearing *r)
{
    if (r->call_count > 0) {
        hear_one_call(r);
        return;
    }
    bool fenced = false;
    r->failed = r->text.bytes && !ptc_find_fenced(r->b, r->text, &fenced);
    if (!fenced) {
        hear_answer(r);
    } else {
        PtcBuf buf;
        feedback_init(r, &buf);
        ptc_words_fenced_program(&buf);
        bad(r, PTC_FAULT_FENCED_PROGRAM, &buf);
    }
}

/* Each call on its own. */
static void hear_calls(Hearing *r)
{
    r->out->kind = PTC_HEARD_CALLS;
    for (size_t i = 0; i < r->call_count; i++) {
        PtcHeardCall *call = &r->calls[i];
        call->tool = find_tool(r->def, call->name);
        if (call->tool == SIZE_MAX)
            refuse_unknown(r, i);
        else if (r->args[i] == PTC_NONE)
            refuse_args(r, call);
    }
}

static void hear_text(Hearing *r)
{
    if (r->call_count > 0)
        hear_calls(r);
    else
        hear_answer(r);
}

static void hear_combined(Hearing *r)
{
    if (r->evals > 1) {
        refuse_heard_calls(r, PTC_FAULT_SEVERAL_CALLS, false);
        bad(r, PTC_FAULT_SEVERAL_CALLS, NULL);
    } else if (r->evals == 1 && r->call_count > 1) {
        refuse_heard_calls(r, PTC_FAULT_MIXED_CALLS, true);
        bad(r, PTC_FAULT_MIXED_CALLS, NULL);
    } else if (r->evals == 1) {
        hear_eval(r);
    } else {
        hear_text(r);
    }
}

void ptc_hear(PtcBench *b, const PtcAgentDef *def, const PtcLlmReply *reply, PtcHeard *out)
{
    static void (*const modes[])(Hearing *) = {
        [PTC_MODE_CONTENT] = hear_content,
        [PTC_MODE_TOOL_CALL] = hear_tool_call,
        [PTC_MODE_TEXT] = hear_text,
        [PTC_MODE_COMBINED] = hear_combined,
    };
    Hearing r = {.b = b, .def = def, .reply = reply, .out = out};
    *out = (PtcHeard){.kind = PTC_HEARD_BAD};
    r.text = out->content = clean_reply_text(&r, reply->text);
    if (!r.failed && (def->mode == PTC_MODE_CONTENT || read_heard_calls(&r)))
        modes[def->mode](&r);
    if (r.failed || b->budget.stop != PTC_STOP_NONE || b->arena.failed)
        out->kind = PTC_HEARD_NO_MEMORY;
}
