/* SPDX-License-Identifier: MIT
 * Writing and reading frames.  What always holds: whatever comes from a worker is checked completely before it is
 * used: every length against the bytes that are there, every number against its range, every text for UTF-8, every
 * JSON part for being JSON. */
#include "exec/frame.h"

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/check.h"
#include "tool/remote/remote.h"

/* A field added to a task must travel too: add it to the tables below, then adjust the sizes. */
_Static_assert(sizeof(PtcTaskIn) == 360,
               "frames carry all of a PtcTaskIn but `turn`, `trace`, `listener` and `asking`");
_Static_assert(sizeof(PtcTaskOut) == (PTC_TASK_PARTS + 3) * sizeof(PtcBuf) + 432,
               "frames carry all of a PtcTaskOut but `effects`, `pictures`, `call_log` and `took`");

/* -------------------------------------------------------------------------- fields */

/* How a field of a struct travels. */
typedef enum {
    FRAME_AS_RAW,     /* a number, or several, as they lie in memory: any bytes will do */
    FRAME_AS_BOOL,    /* 0 or 1 */
    FRAME_AS_VIEW,    /* a PtcText */
    FRAME_AS_NAME,    /* an array of char: one of our own names, such as "type_error" */
    FRAME_AS_MESSAGE, /* an array of char: it ends up in answers, so it must be text without NUL */
} FrameKind;

typedef struct FrameField {
    FrameKind kind;
    size_t offset, size;
} FrameField;

#define FRAME_FIELD(type, kind, member)                                               \
    {                                                                                 \
        FRAME_AS_##kind, offsetof(type, member), sizeof(((const type *)NULL)->member) \
    }
#define FRAME_FIELDS(table) (table), sizeof(table) / sizeof *(table)

#define FRAME_IN(kind, member) FRAME_FIELD(PtcTaskIn, kind, member)
static const FrameField in_fields[] = {
    FRAME_IN(RAW, kind),          FRAME_IN(RAW, want),           FRAME_IN(BOOL, in_session),
    FRAME_IN(BOOL, use_tools),    FRAME_IN(BOOL, use_data),      FRAME_IN(BOOL, use_remote),
    FRAME_IN(BOOL, plan),         FRAME_IN(RAW, remote_version), FRAME_IN(RAW, limits),
    FRAME_IN(RAW, preview_chars), FRAME_IN(RAW, now_ms),         FRAME_IN(VIEW, program),
    FRAME_IN(VIEW, context),      FRAME_IN(VIEW, signature),     FRAME_IN(VIEW, output_schema),
    FRAME_IN(VIEW, session),      FRAME_IN(VIEW, name),
};

#define FRAME_OUT(kind, member) FRAME_FIELD(PtcTaskOut, kind, member)
static const FrameField out_fields[] = {
    FRAME_OUT(BOOL, ok),         FRAME_OUT(BOOL, validated), FRAME_OUT(BOOL, text_cut),
    FRAME_OUT(BOOL, prints_cut), FRAME_OUT(RAW, compute_us), FRAME_OUT(RAW, tool_calls),
    FRAME_OUT(RAW, bindings),    FRAME_OUT(NAME, reason),    FRAME_OUT(NAME, kind),
    FRAME_OUT(MESSAGE, message), FRAME_OUT(BOOL, suspended),
};

static void put_field(PtcBuf *buf, const FrameField *field, const void *at)
{
    switch (field->kind) {
    case FRAME_AS_RAW: ptc_buf_add(buf, at, field->size); break;
    case FRAME_AS_BOOL: ptc_pack_u32(buf, *(const bool *)at); break;
    case FRAME_AS_VIEW: ptc_pack_text(buf, *(const PtcText *)at); break;
    case FRAME_AS_NAME:
    case FRAME_AS_MESSAGE: ptc_pack_text(buf, ptc_text_cstr(at)); break;
    }
}

static void put_fields(PtcBuf *buf, const FrameField *fields, size_t n, const void *from)
{
    for (size_t i = 0; i < n; i++)
        put_field(buf, &fields[i], (const char *)from + fields[i].offset);
}

/* Any number but 0 and 1 makes the frame bad. */
static bool take_bool(PtcPackedReader *c)
{
    uint32_t n = ptc_unpack_u32(c);
    c->bad = c->bad || n > 1;
    return n == 1;
}

static bool is_frame_name(PtcText view)
{
    for (size_t i = 0; i < view.len; i++)
        if (view.bytes[i] != '_' && (view.bytes[i] < 'a' || view.bytes[i] > 'z'))
            return false;
    return true;
}

static bool is_frame_message(PtcText view)
{
    return !memchr(view.bytes, 0, view.len) && ptc_utf8_valid(view.bytes, view.len);
}

/* Nothing is written that does not fit or is not what it should be. */
static void take_chars(PtcPackedReader *c, bool (*is_good)(PtcText view), char *to, size_t size)
{
    PtcText view = ptc_unpack_text(c);
    if (!view.bytes || view.len >= size || !is_good(view)) {
        c->bad = true;
        return;
    }
    memcpy(to, view.bytes, view.len);
    to[view.len] = 0;
}

static void take_field(PtcPackedReader *c, const FrameField *field, void *to)
{
    switch (field->kind) {
    case FRAME_AS_RAW: {
        const char *p = ptc_unpack_bytes(c, field->size);
        if (p)
            memcpy(to, p, field->size);
        break;
    }
    case FRAME_AS_BOOL: *(bool *)to = take_bool(c); break;
    case FRAME_AS_VIEW: *(PtcText *)to = ptc_unpack_text(c); break;
    case FRAME_AS_NAME: take_chars(c, is_frame_name, to, field->size); break;
    case FRAME_AS_MESSAGE: take_chars(c, is_frame_message, to, field->size); break;
    }
}

/* Stops at the first that is bad. */
static void take_fields(PtcPackedReader *c, const FrameField *fields, size_t n, void *to)
{
    for (size_t i = 0; i < n && !c->bad; i++)
        take_field(c, &fields[i], (char *)to + fields[i].offset);
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

bool ptc_frame_put_run(PtcBuf *buf, uint64_t id, const PtcTaskIn *in, const PtcTaskOut *out)
{
    frame_open(buf);
    put_fields(buf, FRAME_FIELDS(in_fields), in);
    for (size_t i = 0; i < PTC_TASK_PARTS; i++) {
        size_t max = out->parts[i].max;
        ptc_pack_i64(buf, (int64_t)(max < PTC_FRAME_MAX ? max : PTC_FRAME_MAX));
    }
    return frame_close(buf, PTC_FRAME_RUN, id);
}

bool ptc_frame_get_run(const char *bytes, size_t len, PtcTaskIn *in, size_t maxima[PTC_TASK_PARTS])
{
    PtcPackedReader c = ptc_unpack_begin(bytes, len);
    memset(in, 0, sizeof *in);
    take_fields(&c, FRAME_FIELDS(in_fields), in);
    for (size_t i = 0; i < PTC_TASK_PARTS; i++)
        maxima[i] = (size_t)ptc_unpack_i64(&c);
    return ptc_unpack_is_done(&c);
}

bool ptc_frame_put_result(PtcBuf *buf, uint64_t id, bool ok, const char *text, size_t len)
{
    frame_open(buf);
    ptc_pack_u32(buf, ok);
    ptc_pack_text(buf, (PtcText){text, len});
    return frame_close(buf, PTC_FRAME_RESULT, id);
}

bool ptc_frame_get_result(const char *bytes, size_t len, bool *ok, PtcText *text)
{
    PtcPackedReader c = ptc_unpack_begin(bytes, len);
    *ok = take_bool(&c);
    *text = ptc_unpack_text(&c);
    return ptc_unpack_is_done(&c) && text->bytes;
}

bool ptc_frame_get_call(const char *bytes, size_t len, uint32_t *tool, PtcText *arguments,
                        PtcWhy *why)
{
    PtcPackedReader c = ptc_unpack_begin(bytes, len);
    *tool = ptc_unpack_u32(&c);
    *arguments = (PtcText){c.at, (size_t)(c.end - c.at)};
    if (c.bad)
        return ptc_why_say(why, PTC_WHY_INVALID, "a tool call without arguments");
    return (ptc_json_is_line(arguments->bytes, arguments->len) && arguments->bytes[0] == '{') ||
           ptc_why_say(why, PTC_WHY_INVALID, "a tool call with arguments that are not JSON");
}

/* Numbers are for the remote to check; here only that there is an op of ours and a text that it can read. */
bool ptc_frame_get_ask(const char *bytes, size_t len, PtcFrameAsk *ask, PtcWhy *why)
{
    PtcPackedReader c = ptc_unpack_begin(bytes, len);
    ask->op = ptc_unpack_u32(&c);
    ask->slot = ptc_unpack_u32(&c);
    ask->tool = ptc_unpack_u32(&c);
    ask->id.path = ptc_unpack_u32(&c);
    ask->id.path |= (uint64_t)ptc_unpack_u32(&c) << 32;
    ask->id.count = ptc_unpack_u32(&c);
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

bool ptc_frame_put_done(PtcBuf *buf, uint64_t id, PtcTaskStatus status, const PtcTaskOut *out)
{
    frame_open(buf);
    ptc_pack_u32(buf, (uint32_t)status);
    put_fields(buf, FRAME_FIELDS(out_fields), out);
    for (size_t i = 0; i < PTC_TASK_PARTS; i++)
        ptc_pack_text(buf, ptc_buf_view(&out->parts[i]));
    return frame_close(buf, PTC_FRAME_DONE, id);
}

/* What each part may contain. */
typedef enum { FRAME_TEXT, FRAME_BYTES, FRAME_JSON, FRAME_OBJECT, FRAME_ARRAY } Content;
#define FRAME_PART(member) \
    ((offsetof(PtcTaskOut, member) - offsetof(PtcTaskOut, parts)) / sizeof(PtcBuf))
static const Content contents[PTC_TASK_PARTS] = {
    [FRAME_PART(text)] = FRAME_TEXT,     [FRAME_PART(json)] = FRAME_JSON,
    [FRAME_PART(prints)] = FRAME_TEXT,   [FRAME_PART(session)] = FRAME_BYTES,
    [FRAME_PART(feedback)] = FRAME_TEXT, [FRAME_PART(changed)] = FRAME_TEXT,
    [FRAME_PART(stored)] = FRAME_TEXT,   [FRAME_PART(memory)] = FRAME_OBJECT,
    [FRAME_PART(calls)] = FRAME_ARRAY,   [FRAME_PART(warnings)] = FRAME_ARRAY,
    [FRAME_PART(answer)] = FRAME_OBJECT,
};

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

static bool take_parts(PtcPackedReader *c, PtcTaskOut *out, PtcWhy *why)
{
    for (size_t i = 0; i < PTC_TASK_PARTS; i++) {
        PtcBuf *part = &out->parts[i];
        PtcText view = ptc_unpack_text(c);
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
    PtcPackedReader c = ptc_unpack_begin(bytes, len);
    uint32_t how = ptc_unpack_u32(&c);
    take_fields(&c, FRAME_FIELDS(out_fields), out);
    if (c.bad || (how != PTC_TASK_DONE && how != PTC_TASK_CANCELLED && how != PTC_TASK_NO_MEMORY))
        return ptc_why_say(why, PTC_WHY_INVALID, "a malformed answer");
    *status = (PtcTaskStatus)how;
    return take_parts(&c, out, why) &&
           (ptc_unpack_is_done(&c) ||
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
