/* SPDX-License-Identifier: MIT
 * Writing and reading frames.  What always holds: whatever comes from a worker is checked completely before it is
 * used: every length against the bytes that are there, every number against its range, every text for UTF-8, every
 * JSON part for being JSON. */
#include "exec/frame.h"

#include "base/utf8.h"
#include "json/check.h"
#include "tool/remote/remote.h"

#define FRAME_ABSENT UINT32_MAX

/* A field added to a task must travel too: add it to the functions below, then adjust the sizes. */
_Static_assert(
    sizeof(PtcTaskIn) == 248,
    "frames carry all of a PtcTaskIn but `turn`, `traceparent`, `listener` and `asking`");
_Static_assert(sizeof(PtcTaskOut) == (PTC_TASK_PARTS + 3) * sizeof(PtcBuf) + 432,
               "frames carry all of a PtcTaskOut but `effects`, `pictures`, `call_log` and `took`");

/* ---------------------------------------------------------------- numbers and texts */

bool ptc_frame_put_u32(PtcBuf *buf, uint32_t n)
{
    return ptc_buf_add(buf, &n, sizeof n);
}

bool ptc_frame_put_i64(PtcBuf *buf, int64_t n)
{
    return ptc_buf_add(buf, &n, sizeof n);
}

/* Fails through the buffer's sticky flag, so that writers of frames need not check each part. */
bool ptc_frame_put_view(PtcBuf *buf, PtcText view)
{
    if (!view.bytes)
        return ptc_frame_put_u32(buf, FRAME_ABSENT);
    if (view.len > PTC_FRAME_MAX) {
        buf->full = true;
        return false;
    }
    return ptc_frame_put_u32(buf, (uint32_t)view.len) && ptc_buf_add(buf, view.bytes, view.len);
}

PtcFrameCursor ptc_frame_cursor(const char *bytes, size_t len)
{
    if (!bytes)
        bytes = "";
    return (PtcFrameCursor){bytes, bytes + len, false};
}

static const char *take_frame_bytes(PtcFrameCursor *c, size_t n)
{
    const char *p = c->at;
    if (c->bad || (size_t)(c->end - c->at) < n) {
        c->bad = true;
        return NULL;
    }
    c->at += n;
    return p;
}

uint32_t ptc_frame_take_u32(PtcFrameCursor *c)
{
    uint32_t n = 0;
    const char *p = take_frame_bytes(c, sizeof n);
    if (p)
        memcpy(&n, p, sizeof n);
    return n;
}

int64_t ptc_frame_take_i64(PtcFrameCursor *c)
{
    int64_t n = 0;
    const char *p = take_frame_bytes(c, sizeof n);
    if (p)
        memcpy(&n, p, sizeof n);
    return n;
}

/* A length beyond the payload makes the cursor bad; no pointer outside the payload is ever made. */
PtcText ptc_frame_take_view(PtcFrameCursor *c)
{
    PtcText view = {NULL, 0};
    uint32_t len = ptc_frame_take_u32(c);
    if (c->bad || len == FRAME_ABSENT)
        return view;
    view.bytes = take_frame_bytes(c, len);
    view.len = view.bytes ? len : 0;
    return view;
}

/* Any number but 0 and 1 makes the frame bad. */
static bool take_bool(PtcFrameCursor *c)
{
    uint32_t n = ptc_frame_take_u32(c);
    c->bad = c->bad || n > 1;
    return n == 1;
}

static bool all_taken(const PtcFrameCursor *c)
{
    return !c->bad && c->at == c->end;
}

/* -------------------------------------------------------------------------- frames */

static bool frame_open(PtcBuf *buf)
{
    static const PtcFrameHead empty;
    return ptc_buf_add(buf, &empty, sizeof empty);
}

/* The head is written last, when the length is known. */
static bool frame_close(PtcBuf *buf, PtcFrameType type, uint64_t id)
{
    if (!ptc_buf_ok(buf) || buf->len - sizeof(PtcFrameHead) > PTC_FRAME_MAX)
        return false;
    PtcFrameHead head = {(uint32_t)(buf->len - sizeof head), type, id};
    memcpy(buf->data, &head, sizeof head);
    return true;
}

static bool put_bool(PtcBuf *buf, bool b)
{
    return ptc_frame_put_u32(buf, b);
}

static void put_numbers(PtcBuf *buf, const PtcTaskIn *in)
{
    const int64_t numbers[] = {in->timeout_ms,     in->deadline_ms,   in->memory_bytes,
                               in->max_tool_calls, in->program_bytes, in->context_bytes,
                               in->session_bytes,  in->preview_chars, in->result_bytes,
                               in->now_ms};
    ptc_buf_add(buf, numbers, sizeof numbers);
}

bool ptc_frame_put_run(PtcBuf *buf, uint64_t id, const PtcTaskIn *in, const PtcTaskOut *out)
{
    frame_open(buf);
    ptc_frame_put_u32(buf, (uint32_t)in->kind);
    ptc_frame_put_u32(buf, in->want);
    put_bool(buf, in->in_session);
    put_bool(buf, in->use_tools);
    put_bool(buf, in->use_data);
    put_bool(buf, in->use_remote);
    put_bool(buf, in->plan);
    ptc_frame_put_i64(buf, (int64_t)in->remote_version);
    put_numbers(buf, in);
    for (size_t i = 0; i < PTC_TASK_PARTS; i++) {
        size_t max = out->parts[i].max;
        ptc_frame_put_i64(buf, (int64_t)(max < PTC_FRAME_MAX ? max : PTC_FRAME_MAX));
    }
    ptc_frame_put_view(buf, in->program);
    ptc_frame_put_view(buf, in->context);
    ptc_frame_put_view(buf, in->signature);
    ptc_frame_put_view(buf, in->output_schema);
    ptc_frame_put_view(buf, in->session);
    ptc_frame_put_view(buf, in->name);
    return frame_close(buf, PTC_FRAME_RUN, id);
}

bool ptc_frame_get_run(const char *bytes, size_t len, PtcTaskIn *in, size_t maxima[PTC_TASK_PARTS])
{
    PtcFrameCursor c = ptc_frame_cursor(bytes, len);
    memset(in, 0, sizeof *in);
    in->kind = (PtcTaskKind)ptc_frame_take_u32(&c);
    in->want = ptc_frame_take_u32(&c);
    in->in_session = take_bool(&c);
    in->use_tools = take_bool(&c);
    in->use_data = take_bool(&c);
    in->use_remote = take_bool(&c);
    in->plan = take_bool(&c);
    in->remote_version = (uint64_t)ptc_frame_take_i64(&c);
    int64_t *numbers[] = {&in->timeout_ms,     &in->deadline_ms,   &in->memory_bytes,
                          &in->max_tool_calls, &in->program_bytes, &in->context_bytes,
                          &in->session_bytes,  &in->preview_chars, &in->result_bytes,
                          &in->now_ms};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = ptc_frame_take_i64(&c);
    for (size_t i = 0; i < PTC_TASK_PARTS; i++)
        maxima[i] = (size_t)ptc_frame_take_i64(&c);
    in->program = ptc_frame_take_view(&c);
    in->context = ptc_frame_take_view(&c);
    in->signature = ptc_frame_take_view(&c);
    in->output_schema = ptc_frame_take_view(&c);
    in->session = ptc_frame_take_view(&c);
    in->name = ptc_frame_take_view(&c);
    return all_taken(&c);
}

bool ptc_frame_put_result(PtcBuf *buf, uint64_t id, bool ok, const char *text, size_t len)
{
    frame_open(buf);
    put_bool(buf, ok);
    ptc_frame_put_view(buf, (PtcText){text, len});
    return frame_close(buf, PTC_FRAME_RESULT, id);
}

bool ptc_frame_get_result(const char *bytes, size_t len, bool *ok, PtcText *text)
{
    PtcFrameCursor c = ptc_frame_cursor(bytes, len);
    *ok = take_bool(&c);
    *text = ptc_frame_take_view(&c);
    return all_taken(&c) && text->bytes;
}

bool ptc_frame_get_call(const char *bytes, size_t len, uint32_t *tool, PtcText *arguments,
                        PtcWhy *why)
{
    PtcFrameCursor c = ptc_frame_cursor(bytes, len);
    *tool = ptc_frame_take_u32(&c);
    *arguments = (PtcText){c.at, (size_t)(c.end - c.at)};
    if (c.bad)
        return ptc_why_say(why, PTC_WHY_INVALID, "a tool call without arguments");
    return (ptc_json_is_line(arguments->bytes, arguments->len) && arguments->bytes[0] == '{') ||
           ptc_why_say(why, PTC_WHY_INVALID, "a tool call with arguments that are not JSON");
}

/* Numbers are for the remote to check; here only that there is an op of ours and a text that it can read. */
bool ptc_frame_get_ask(const char *bytes, size_t len, PtcFrameAsk *ask, PtcWhy *why)
{
    PtcFrameCursor c = ptc_frame_cursor(bytes, len);
    ask->op = ptc_frame_take_u32(&c);
    ask->slot = ptc_frame_take_u32(&c);
    ask->tool = ptc_frame_take_u32(&c);
    ask->id.path = ptc_frame_take_u32(&c);
    ask->id.path |= (uint64_t)ptc_frame_take_u32(&c) << 32;
    ask->id.count = ptc_frame_take_u32(&c);
    ask->text = (PtcText){c.at, (size_t)(c.end - c.at)};
    if (c.bad || ask->op >= PTC_REMOTE_OPS || ask->text.len > PTC_FRAME_ASK_MAX)
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "a question that is cut off, or of an unknown kind");
    bool good = ask->op == PTC_FRAME_KNOWS
                    ? ptc_utf8_valid(ask->text.bytes, ask->text.len)
                    : ptc_json_is_line(ask->text.bytes, ask->text.len) && ask->text.bytes[0] == '{';
    return good || ptc_why_say(why, PTC_WHY_INVALID, "a question that is not UTF-8 or not JSON");
}

/* ---------------------------------------------------------------------------- done */

static bool put_frame_word(PtcBuf *buf, const char *word)
{
    return ptc_frame_put_view(buf, (PtcText){word, strlen(word)});
}

bool ptc_frame_put_done(PtcBuf *buf, uint64_t id, PtcTaskStatus status, const PtcTaskOut *out)
{
    frame_open(buf);
    ptc_frame_put_u32(buf, (uint32_t)status);
    put_bool(buf, out->ok);
    put_bool(buf, out->validated);
    put_bool(buf, out->text_cut);
    put_bool(buf, out->prints_cut);
    ptc_frame_put_i64(buf, out->compute_us);
    ptc_frame_put_i64(buf, (int64_t)out->tool_calls);
    ptc_frame_put_i64(buf, (int64_t)out->bindings);
    put_frame_word(buf, out->reason);
    put_frame_word(buf, out->kind);
    put_frame_word(buf, out->message);
    for (size_t i = 0; i < PTC_TASK_PARTS; i++)
        ptc_frame_put_view(buf, ptc_buf_view(&out->parts[i]));
    return frame_close(buf, PTC_FRAME_DONE, id);
}

/* One of our own names, such as "type_error". */
static bool take_frame_name(PtcFrameCursor *c, char *to, size_t size)
{
    PtcText view = ptc_frame_take_view(c);
    if (!view.bytes || view.len >= size)
        return false;
    for (size_t i = 0; i < view.len; i++)
        if (view.bytes[i] != '_' && (view.bytes[i] < 'a' || view.bytes[i] > 'z'))
            return false;
    memcpy(to, view.bytes, view.len);
    to[view.len] = 0;
    return true;
}

/* Messages end up in answers, so they must be text without NUL. */
static bool take_frame_message(PtcFrameCursor *c, char *to, size_t size)
{
    PtcText view = ptc_frame_take_view(c);
    if (!view.bytes || view.len >= size || memchr(view.bytes, 0, view.len) ||
        !ptc_utf8_valid(view.bytes, view.len))
        return false;
    memcpy(to, view.bytes, view.len);
    to[view.len] = 0;
    return true;
}

/* What each part may contain, in the order of the struct. */
typedef enum { FRAME_TEXT, FRAME_BYTES, FRAME_JSON, FRAME_OBJECT, FRAME_ARRAY } Content;
static const Content contents[PTC_TASK_PARTS] = {
    FRAME_TEXT, FRAME_JSON,   FRAME_TEXT,  FRAME_BYTES, FRAME_TEXT,  FRAME_TEXT,
    FRAME_TEXT, FRAME_OBJECT, FRAME_ARRAY, FRAME_ARRAY, FRAME_OBJECT};

/* Do the first and last byte match these brackets?  Enough to tell objects from arrays: the JSON itself has been
 * checked. */
static bool is_between(PtcText view, char first, char last)
{
    return view.bytes[0] == first && view.bytes[view.len - 1] == last;
}

static bool good_content(Content content, PtcText view)
{
    if (content == FRAME_BYTES || view.len == 0)
        return true;
    if (content == FRAME_TEXT)
        return ptc_utf8_valid(view.bytes, view.len);
    return ptc_json_is_line(view.bytes, view.len) &&
           (content != FRAME_OBJECT || is_between(view, '{', '}')) &&
           (content != FRAME_ARRAY || is_between(view, '[', ']'));
}

static bool take_parts(PtcFrameCursor *c, PtcTaskOut *out, PtcWhy *why)
{
    for (size_t i = 0; i < PTC_TASK_PARTS; i++) {
        PtcBuf *part = &out->parts[i];
        PtcText view = ptc_frame_take_view(c);
        if (!view.bytes || view.len > part->max)
            return ptc_why_say(why, PTC_WHY_INVALID, "an answer that is cut off or too long");
        if (!good_content(contents[i], view))
            return ptc_why_say(why, PTC_WHY_INVALID,
                               "an answer that is not the JSON or text it should be");
        ptc_buf_clear(part);
        if (!ptc_buf_add(part, view.bytes, view.len))
            return ptc_why_no_memory(why);
    }
    return true;
}

bool ptc_frame_get_done(const char *bytes, size_t len, PtcTaskOut *out, PtcTaskStatus *status,
                        PtcWhy *why)
{
    PtcFrameCursor c = ptc_frame_cursor(bytes, len);
    uint32_t how = ptc_frame_take_u32(&c);
    out->ok = take_bool(&c);
    out->validated = take_bool(&c);
    out->text_cut = take_bool(&c);
    out->prints_cut = take_bool(&c);
    out->compute_us = ptc_frame_take_i64(&c);
    out->tool_calls = (uint64_t)ptc_frame_take_i64(&c);
    out->bindings = (uint64_t)ptc_frame_take_i64(&c);
    if (c.bad || (how != PTC_TASK_DONE && how != PTC_TASK_CANCELLED && how != PTC_TASK_NO_MEMORY))
        return ptc_why_say(why, PTC_WHY_INVALID, "a malformed answer");
    *status = (PtcTaskStatus)how;
    if (!take_frame_name(&c, out->reason, sizeof out->reason) ||
        !take_frame_name(&c, out->kind, sizeof out->kind) ||
        !take_frame_message(&c, out->message, sizeof out->message))
        return ptc_why_say(why, PTC_WHY_INVALID, "a malformed answer");
    return take_parts(&c, out, why) &&
           (all_taken(&c) ||
            ptc_why_say(why, PTC_WHY_INVALID, "an answer with more bytes after it"));
}

/* ---------------------------------------------------------------- what a worker sends */

void ptc_frame_reader_init(PtcFrameReader *reader, PtcMem *mem)
{
    memset(reader, 0, sizeof *reader);
    ptc_buf_init(&reader->payload, mem, PTC_FRAME_MAX);
}

void ptc_frame_reader_deinit(PtcFrameReader *reader)
{
    ptc_buf_deinit(&reader->payload);
}

/* One large answer must not make an idle worker expensive for the rest of its life. */
void ptc_frame_reader_trim(PtcFrameReader *reader)
{
    enum { FRAME_KEPT = 64 * PTC_KB };
    if (reader->whole && reader->payload.cap > FRAME_KEPT)
        ptc_buf_deinit(&reader->payload);
}

/* Checked before any memory is spent on the payload. */
static bool good_head(const PtcFrameReader *r)
{
    switch (r->head.type) {
    case PTC_FRAME_READY: return r->head.len == 0;
    case PTC_FRAME_CALL: return r->head.len <= r->max_call;
    case PTC_FRAME_ASK: return r->head.len <= r->max_ask;
    case PTC_FRAME_DONE: return r->head.len <= r->max_done;
    default: return false;
    }
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void feed_head(PtcFrameReader *r, const char **bytes, size_t *len)
{
    size_t n = min_size(*len, sizeof r->head - r->head_got);
    memcpy((char *)&r->head + r->head_got, *bytes, n);
    r->head_got += n;
    *bytes += n;
    *len -= n;
}

/* Heads and payloads may arrive in pieces of any size. */
PtcFrameState ptc_frame_feed(PtcFrameReader *r, const char **bytes, size_t *len)
{
    if (r->whole) {
        r->whole = false;
        r->head_got = 0;
        ptc_buf_clear(&r->payload);
    }
    if (r->head_got < sizeof r->head)
        feed_head(r, bytes, len);
    if (r->head_got < sizeof r->head)
        return PTC_FRAME_MORE;
    if (!good_head(r))
        return PTC_FRAME_BAD;
    size_t n = min_size(*len, r->head.len - r->payload.len);
    if (!ptc_buf_add(&r->payload, *bytes, n))
        return PTC_FRAME_NO_MEMORY;
    *bytes += n;
    *len -= n;
    r->whole = r->payload.len == r->head.len;
    return r->whole ? PTC_FRAME_WHOLE : PTC_FRAME_MORE;
}
