/* SPDX-License-Identifier: MIT
 * Replies.  What always holds: after a failure nothing more is added; `text` and `args` are kept as the provider
 * wrote them, and secrets are removed from everything that leaves. */
#include "llm/reply_maker.h"

#include "base/grow.h"
#include "base/utf8.h"

void ptc_reply_init(PtcReply *r, PtcMem *mem, const PtcLlmRequest *request,
                    const PtcProviderKeys *keys)
{
    *r = (PtcReply){.mem = mem, .request = request, .keys = keys, .retry_after_ms = -1};
    ptc_buf_init(&r->text, mem, PTC_LLM_TEXT_BYTES);
    ptc_buf_init(&r->held, mem, PTC_UNBOUNDED);
    ptc_buf_init(&r->opaque, mem, PTC_REPLY_OPAQUE_BYTES);
    ptc_buf_init(&r->error, mem, 64 * PTC_KB);
}

void ptc_reply_deinit(PtcReply *r)
{
    for (size_t i = 0; i < r->call_count; i++) {
        ptc_buf_deinit(&r->calls[i].id);
        ptc_buf_deinit(&r->calls[i].name);
        ptc_buf_deinit(&r->calls[i].args);
    }
    ptc_mem_free(r->mem, r->calls, r->call_cap * sizeof *r->calls);
    ptc_buf_deinit(&r->text);
    ptc_buf_deinit(&r->held);
    ptc_buf_deinit(&r->opaque);
    ptc_buf_deinit(&r->error);
}

/* ------------------------------------------------------------------------------ failing */

bool ptc_reply_ok(const PtcReply *r)
{
    return r->status == PTC_LLM_OK;
}

bool ptc_reply_fail(PtcReply *r, PtcLlmStatus status, PtcText text)
{
    if (r->status != PTC_LLM_OK)
        return false;
    r->status = status;
    ptc_buf_clear(&r->error);
    ptc_buf_add(&r->error, text.bytes, text.len < r->error.max ? text.len : r->error.max);
    return false;
}

bool ptc_reply_failf(PtcReply *r, PtcLlmStatus status, const char *format, ...)
{
    va_list args;
    if (r->status != PTC_LLM_OK)
        return false;
    r->status = status;
    ptc_buf_clear(&r->error);
    va_start(args, format);
    ptc_buf_vaddf(&r->error, format, args);
    va_end(args);
    return false;
}

/* A buffer is full or has failed. */
static bool refuse_reply_size(PtcReply *r, const PtcBuf *buf, const char *what)
{
    if (buf->failed)
        return ptc_reply_fail(r, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory"));
    return ptc_reply_failf(r, PTC_LLM_TOO_LARGE, "%s of the reply is longer than %zu bytes", what,
                           buf->max);
}

/* --------------------------------------------------------------------------------- text */

/* Passes on the part of the held text that cannot be the beginning of a secret; at the end, all of it. */
static bool hand_text_on(PtcReply *r, bool last)
{
    PtcBuf out;
    PtcText held = ptc_buf_view(&r->held);
    size_t done = held.len;
    ptc_buf_init(&out, r->mem, PTC_UNBOUNDED);
    if (!r->keys)
        ptc_buf_add(&out, held.bytes, held.len);
    else
        done = ptc_secrets_blot_part(&r->keys->told, &out, held, last);
    bool ok = ptc_buf_ok(&out), go_on = true;
    if (ok && out.len) {
        r->streamed = true;
        go_on = r->request->stream(r->request->stream_user, ptc_buf_view(&out));
    }
    ptc_buf_deinit(&out);
    if (done)
        memmove(r->held.data, r->held.data + done, r->held.len - done);
    r->held.len -= done;
    if (!ok)
        return ptc_reply_fail(r, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory"));
    return go_on ||
           ptc_reply_fail(r, PTC_LLM_CANCELLED, PTC_TEXT("the reader of the text stopped"));
}

bool ptc_reply_add_text(PtcReply *r, PtcText piece)
{
    if (!ptc_reply_ok(r) || !piece.bytes)
        return ptc_reply_ok(r);
    r->has_text = true;
    if (!ptc_buf_add(&r->text, piece.bytes, piece.len))
        return refuse_reply_size(r, &r->text, "the text");
    if (!r->request || !r->request->stream || piece.len == 0)
        return true;
    if (!ptc_buf_add(&r->held, piece.bytes, piece.len))
        return refuse_reply_size(r, &r->held, "the text");
    return hand_text_on(r, false);
}

/* -------------------------------------------------------------------------------- calls */

PtcReplyCall *ptc_reply_new_call(PtcReply *r, int64_t key)
{
    if (!ptc_reply_ok(r))
        return NULL;
    if (r->call_count == PTC_LLM_CALLS) {
        ptc_reply_failf(r, PTC_LLM_TOO_LARGE, "the reply has more than %d calls", PTC_LLM_CALLS);
        return NULL;
    }
    if (!PTC_GROW(r->mem, &r->calls, &r->call_cap, r->call_count + 1)) {
        ptc_reply_fail(r, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory"));
        return NULL;
    }
    PtcReplyCall *call = &r->calls[r->call_count++];
    *call = (PtcReplyCall){.key = key};
    ptc_buf_init(&call->id, r->mem, PTC_REPLY_NAME_BYTES);
    ptc_buf_init(&call->name, r->mem, PTC_REPLY_NAME_BYTES);
    ptc_buf_init(&call->args, r->mem, PTC_LLM_ARGS_BYTES);
    return call;
}

PtcReplyCall *ptc_reply_find_call(PtcReply *r, int64_t key)
{
    for (size_t i = r->call_count; i > 0; i--)
        if (r->calls[i - 1].key == key)
            return &r->calls[i - 1];
    return NULL;
}

bool ptc_reply_set_id(PtcReply *r, PtcReplyCall *call, PtcText id)
{
    if (!ptc_reply_ok(r) || !id.bytes || id.len == 0)
        return ptc_reply_ok(r);
    call->has_id = true;
    ptc_buf_clear(&call->id);
    return ptc_buf_add(&call->id, id.bytes, id.len) || refuse_reply_size(r, &call->id, "an id");
}

bool ptc_reply_set_name(PtcReply *r, PtcReplyCall *call, PtcText name)
{
    if (!ptc_reply_ok(r) || !name.bytes)
        return ptc_reply_ok(r);
    ptc_buf_clear(&call->name);
    return ptc_buf_add(&call->name, name.bytes, name.len) ||
           refuse_reply_size(r, &call->name, "a name");
}

bool ptc_reply_add_args(PtcReply *r, PtcReplyCall *call, PtcText piece)
{
    if (!ptc_reply_ok(r) || !piece.bytes)
        return ptc_reply_ok(r);
    call->has_args = true;
    return ptc_buf_add(&call->args, piece.bytes, piece.len) ||
           refuse_reply_size(r, &call->args, "the arguments of a call");
}

/* --------------------------------------------------------------------------------- end */

PtcText ptc_reply_keep(PtcArena *arena, PtcText text, bool *failed)
{
    char *copy = text.bytes ? ptc_arena_alloc(arena, text.len + 1) : NULL;
    if (!copy) {
        *failed = *failed || text.bytes;
        return (PtcText){NULL, 0};
    }
    memcpy(copy, text.bytes, text.len);
    copy[text.len] = 0;
    return (PtcText){copy, text.len};
}

/* A copy without secrets. */
static PtcText keep_clean(PtcArena *arena, const PtcProviderKeys *keys, const PtcBuf *buf,
                          bool *failed)
{
    PtcBuf clean;
    if (!keys || !ptc_secrets_any(&keys->told))
        return ptc_reply_keep(arena, ptc_buf_view(buf), failed);
    ptc_buf_init(&clean, buf->mem, PTC_UNBOUNDED);
    ptc_secrets_blot_part(&keys->told, &clean, ptc_buf_view(buf), true);
    *failed = *failed || !ptc_buf_ok(&clean);
    PtcText kept =
        *failed ? (PtcText){NULL, 0} : ptc_reply_keep(arena, ptc_buf_view(&clean), failed);
    ptc_buf_deinit(&clean);
    return kept;
}

/* Appends text on one line: control characters become spaces, and bytes that are not UTF-8 `?`; at most `max` bytes,
 * cut between characters. */
static void reply_add_line(PtcBuf *out, PtcText text, size_t max)
{
    for (size_t at = 0, len = out->len; at < text.len;) {
        size_t look = text.len - at < 4 ? text.len - at : 4, n = 1;
        uint32_t code = '?';
        bool good = ptc_utf8_valid_prefix(text.bytes + at, look) > 0;
        if (good)
            n = ptc_utf8_decode(text.bytes + at, look, &code);
        if (out->len - len + n > max)
            return;
        if (code < ' ' || code == 0x7f)
            ptc_buf_add_char(out, ' ');
        else
            ptc_buf_add(out, good ? text.bytes + at : "?", n);
        at += n;
    }
}

/* What a provider said: secrets are removed before it is cut, since otherwise part of one could remain. */
static PtcText keep_provider_error(PtcArena *arena, const PtcProviderKeys *keys, PtcText text,
                                   bool *failed)
{
    PtcBuf clean, line;
    ptc_buf_init(&clean, arena->mem, PTC_UNBOUNDED);
    ptc_buf_init(&line, arena->mem, PTC_UNBOUNDED);
    if (keys)
        ptc_secrets_blot(&keys->shown, &clean, text, false);
    else
        ptc_buf_add(&clean, text.bytes, text.len);
    reply_add_line(&line, ptc_buf_view(&clean), PTC_REPLY_ERROR_BYTES);
    *failed = *failed || !ptc_buf_ok(&clean) || !ptc_buf_ok(&line);
    PtcText kept = ptc_reply_keep(arena, ptc_buf_view(&line), failed);
    ptc_buf_deinit(&clean);
    ptc_buf_deinit(&line);
    return kept;
}

void ptc_reply_error(PtcLlmReply *out, PtcArena *arena, const PtcProviderKeys *keys,
                     PtcLlmStatus status, PtcText text)
{
    bool failed = false;
    *out = (PtcLlmReply){.status = status, .retry_after_ms = -1};
    out->error = keep_provider_error(arena, keys, text, &failed);
    if (failed)
        *out = (PtcLlmReply){
            .status = PTC_LLM_NO_MEMORY, .error = PTC_TEXT("out of memory"), .retry_after_ms = -1};
}

static const PtcMessageCall *keep_reply_calls(PtcReply *r, PtcArena *arena, bool *failed)
{
    PtcMessageCall *calls = NULL;
    if (r->call_count)
        calls = ptc_arena_zalloc(arena, r->call_count * sizeof *calls);
    *failed = *failed || (r->call_count && !calls);
    for (size_t i = 0; !*failed && i < r->call_count; i++) {
        const PtcReplyCall *call = &r->calls[i];
        if (call->has_id)
            calls[i].id = keep_clean(arena, r->keys, &call->id, failed);
        calls[i].name = keep_clean(arena, r->keys, &call->name, failed);
        if (call->has_args)
            calls[i].args = keep_clean(arena, r->keys, &call->args, failed);
    }
    return calls;
}

static void write_ok(PtcReply *r, PtcArena *arena, PtcLlmReply *out, bool *failed)
{
    if (r->has_text)
        out->text = keep_clean(arena, r->keys, &r->text, failed);
    out->calls = keep_reply_calls(r, arena, failed);
    out->call_count = r->call_count;
    if (r->opaque.len)
        out->opaque = keep_clean(arena, r->keys, &r->opaque, failed);
    out->cut = r->cut;
}

void ptc_reply_finish(PtcReply *r, PtcArena *arena, PtcLlmReply *out)
{
    bool failed = false;
    if (ptc_reply_ok(r) && r->held.len)
        hand_text_on(r, true);
    *out = (PtcLlmReply){.status = r->status, .retry_after_ms = r->retry_after_ms};
    if (ptc_reply_ok(r))
        write_ok(r, arena, out, &failed);
    else
        out->error = keep_provider_error(arena, r->keys, ptc_buf_view(&r->error), &failed);
    if (failed)
        *out = (PtcLlmReply){.status = PTC_LLM_NO_MEMORY, .error = PTC_TEXT("out of memory")};
    out->tokens = r->tokens;
    out->streamed = r->streamed;
    if (out->status == PTC_LLM_NO_MEMORY)
        out->retry_after_ms = -1;
}
