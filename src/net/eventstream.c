/* SPDX-License-Identifier: MIT
 * AWS event streams.  What always holds: no length is believed before its checksum is verified, and none is used to
 * allocate: the buffer grows with what has actually arrived. */
#include "net/eventstream.h"

enum { PRELUDE = 12, CRC = 4, TYPE_BYTES = 6, TYPE_STRING = 7 };

void ptc_eventstream_init(PtcEventStream *stream, PtcMem *mem, size_t max)
{
    *stream = (PtcEventStream){0};
    ptc_buf_init(&stream->buf, mem, max);
}

void ptc_eventstream_deinit(PtcEventStream *stream)
{
    ptc_buf_deinit(&stream->buf);
}

uint32_t ptc_eventstream_crc32(uint32_t sum, const void *bytes, size_t len)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    const unsigned char *p = bytes;
    sum = ~sum;
    for (size_t i = 0; i < len; i++) {
        sum = table[(sum ^ p[i]) & 15] ^ (sum >> 4);
        sum = table[(sum ^ (uint32_t)(p[i] >> 4)) & 15] ^ (sum >> 4);
    }
    return ~sum;
}

static uint32_t number_at(const char *bytes)
{
    const unsigned char *p = (const unsigned char *)bytes;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* ------------------------------------------------------------------------------ headers */

/* Cuts `n` bytes off the front; false when there are fewer. */
static bool cut_front_bytes(PtcText *rest, size_t n, PtcText *out)
{
    if (rest->len < n)
        return false;
    *out = (PtcText){rest->bytes, n};
    *rest = (PtcText){rest->bytes + n, rest->len - n};
    return true;
}

/* A text preceded by its length in `size` bytes. */
static bool take_counted(PtcText *rest, size_t size, PtcText *out)
{
    PtcText count;
    size_t n = 0;
    if (!cut_front_bytes(rest, size, &count))
        return false;
    for (size_t i = 0; i < size; i++)
        n = n << 8 | (unsigned char)count.bytes[i];
    return cut_front_bytes(rest, n, out);
}

/* The value of a header; absent if it is not a string. */
static bool take_header_value(PtcText *rest, PtcText *value)
{
    /* lengths of the types 0 to 9: true, false, byte, short, int, long, bytes, string, timestamp, uuid */
    static const unsigned char sizes[] = {0, 0, 1, 2, 4, 8, 0, 0, 8, 16};
    PtcText type, skipped;
    *value = (PtcText){NULL, 0};
    if (!cut_front_bytes(rest, 1, &type) || (unsigned char)*type.bytes >= sizeof sizes)
        return false;
    if (*type.bytes == TYPE_STRING)
        return take_counted(rest, 2, value);
    if (*type.bytes == TYPE_BYTES)
        return take_counted(rest, 2, &skipped);
    return cut_front_bytes(rest, sizes[(unsigned char)*type.bytes], &skipped);
}

static bool read_event_headers(PtcText rest, PtcEventMessage *m)
{
    PtcText name, value;
    while (rest.len) {
        if (!take_counted(&rest, 1, &name) || !take_header_value(&rest, &value))
            return false;
        if (ptc_text_is(name, ":message-type"))
            m->message_type = value;
        else if (ptc_text_is(name, ":event-type") || ptc_text_is(name, ":exception-type"))
            m->event_type = value;
        else if (ptc_text_is(name, ":error-code"))
            m->error_code = value;
        else if (ptc_text_is(name, ":error-message"))
            m->error_message = value;
    }
    return true;
}

/* ----------------------------------------------------------------------------- messages */

static bool say_damaged(PtcWhy *why)
{
    return ptc_why_say(why, PTC_WHY_INVALID, "the event stream is damaged");
}

static bool say_too_long(PtcWhy *why)
{
    return ptc_why_say(why, PTC_WHY_REFUSED, "an event of the stream is too large");
}

/* Length of the message that the buffer begins with; 0: not known yet. */
static bool message_length(const PtcEventStream *s, size_t *length, PtcWhy *why)
{
    const char *p = s->buf.data;
    *length = 0;
    if (s->buf.len < PRELUDE)
        return true;
    uint32_t total = number_at(p), headers = number_at(p + 4);
    if (ptc_eventstream_crc32(0, p, 8) != number_at(p + 8) || total < PTC_EVENTSTREAM_OVERHEAD ||
        headers > total - PTC_EVENTSTREAM_OVERHEAD)
        return say_damaged(why);
    if (total > s->buf.max || headers > PTC_EVENTSTREAM_HEADERS)
        return say_too_long(why);
    *length = total;
    return true;
}

static bool take_event_message(PtcEventStream *s, size_t length, PtcWhy *why)
{
    const char *p = s->buf.data;
    size_t headers = number_at(p + 4);
    PtcEventMessage m = {0};
    if (ptc_eventstream_crc32(0, p, length - CRC) != number_at(p + length - CRC) ||
        !read_event_headers((PtcText){p + PRELUDE, headers}, &m))
        return say_damaged(why);
    m.payload = (PtcText){p + PRELUDE + headers, length - PRELUDE - headers - CRC};
    return !s->message || s->message(s->user, &m) || ptc_why_say(why, PTC_WHY_CANCELLED, "stopped");
}

/* Adds as much as the current message can still use. */
static bool add_some(PtcEventStream *s, PtcText *bytes, size_t length, PtcWhy *why)
{
    size_t want = (length ? length : PRELUDE) - s->buf.len;
    size_t n = bytes->len < want ? bytes->len : want;
    if (!ptc_buf_add(&s->buf, bytes->bytes, n))
        return s->buf.failed ? ptc_why_no_memory(why) : say_too_long(why);
    *bytes = (PtcText){bytes->bytes + n, bytes->len - n};
    return true;
}

bool ptc_eventstream_feed(PtcEventStream *s, PtcText bytes, PtcWhy *why)
{
    size_t length;
    bool ok = message_length(s, &length, why);
    while (ok && bytes.len) {
        ok = add_some(s, &bytes, length, why) && message_length(s, &length, why);
        if (ok && length && s->buf.len == length) {
            ok = take_event_message(s, length, why);
            ptc_buf_clear(&s->buf);
            length = 0;
        }
    }
    return ok;
}
