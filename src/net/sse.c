/* SPDX-License-Identifier: MIT
 * Server-sent events.  What always holds: `line` has the beginning of a line that is not complete yet, `data` the
 * data of the event so far, with a line feed between two lines and none at the end. */
#include "net/sse.h"

#include "base/ascii.h"

void ptc_sse_init(PtcSse *sse, PtcMem *mem, size_t max)
{
    *sse = (PtcSse){.retry_ms = -1};
    ptc_buf_init(&sse->line, mem, max);
    ptc_buf_init(&sse->data, mem, max);
}

void ptc_sse_deinit(PtcSse *sse)
{
    ptc_buf_deinit(&sse->line);
    ptc_buf_deinit(&sse->data);
}

static bool say_too_large(PtcWhy *why)
{
    return ptc_why_say(why, PTC_WHY_REFUSED, "an event of the stream is too large");
}

/* Appends, or says why not. */
static bool keep_bytes(PtcBuf *buf, PtcText bytes, PtcWhy *why)
{
    if (ptc_buf_add(buf, bytes.bytes, bytes.len))
        return true;
    return buf->failed ? ptc_why_no_memory(why) : say_too_large(why);
}

static bool dispatch_sse_event(PtcSse *sse, PtcWhy *why)
{
    bool go_on = true;
    if (sse->has_data && sse->event)
        go_on =
            sse->event(sse->user, (PtcText){sse->name, sse->name_len}, ptc_buf_view(&sse->data));
    ptc_buf_clear(&sse->data);
    sse->has_data = false;
    sse->name_len = 0;
    return go_on || ptc_why_say(why, PTC_WHY_CANCELLED, "stopped");
}

/* Only a number of up to nine digits: nobody waits longer than that. */
static void take_retry(PtcSse *sse, PtcText value)
{
    int64_t ms = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (!ptc_ascii_is_digit(value.bytes[i]) || i == 9)
            return;
        ms = ms * 10 + (value.bytes[i] - '0');
    }
    if (value.len)
        sse->retry_ms = ms;
}

/* It goes into a header, so it must not contain what ends one. */
static void take_sse_id(PtcSse *sse, PtcText value)
{
    if (value.len > sizeof sse->id || (value.len && memchr(value.bytes, 0, value.len)))
        return;
    if (value.len)
        memcpy(sse->id, value.bytes, value.len);
    sse->id_len = value.len;
}

/* A name that is too long is cut: no event we know has one. */
static bool take_sse_field(PtcSse *sse, PtcText name, PtcText value, PtcWhy *why)
{
    if (ptc_text_is(name, "event")) {
        sse->name_len = value.len < sizeof sse->name ? value.len : sizeof sse->name;
        if (sse->name_len)
            memcpy(sse->name, value.bytes, sse->name_len);
    }
    if (ptc_text_is(name, "id"))
        take_sse_id(sse, value);
    if (ptc_text_is(name, "retry"))
        take_retry(sse, value);
    if (!ptc_text_is(name, "data"))
        return true;
    if ((sse->has_data && !keep_bytes(&sse->data, PTC_TEXT("\n"), why)) ||
        !keep_bytes(&sse->data, value, why))
        return false;
    sse->has_data = true;
    return true;
}

static bool take_sse_line(PtcSse *sse, PtcText line, PtcWhy *why)
{
    if (!sse->begun && ptc_text_starts(line, "\xef\xbb\xbf"))
        line = (PtcText){line.bytes + 3, line.len - 3};
    sse->begun = true;
    if (line.len == 0)
        return dispatch_sse_event(sse, why);
    const char *colon = memchr(line.bytes, ':', line.len);
    PtcText name = {line.bytes, colon ? (size_t)(colon - line.bytes) : line.len};
    PtcText value = {colon ? colon + 1 : "", colon ? line.len - name.len - 1 : 0};
    if (value.len && value.bytes[0] == ' ')
        value = (PtcText){value.bytes + 1, value.len - 1};
    return take_sse_field(sse, name, value, why);
}

/* A line ends here: what was kept of it, followed by its last bytes. */
static bool end_sse_line(PtcSse *sse, PtcText last, PtcWhy *why)
{
    if (sse->line.len == 0) /* the limit is the same for a line that came in one piece */
        return last.len > sse->line.max ? say_too_large(why) : take_sse_line(sse, last, why);
    bool ok =
        keep_bytes(&sse->line, last, why) && take_sse_line(sse, ptc_buf_view(&sse->line), why);
    ptc_buf_clear(&sse->line);
    return ok;
}

static size_t line_length(PtcText text)
{
    size_t n = 0;
    while (n < text.len && text.bytes[n] != '\n' && text.bytes[n] != '\r')
        n++;
    return n;
}

/* CR LF may be split between two pieces; after_cr remembers the first half. */
bool ptc_sse_feed(PtcSse *sse, PtcText bytes, PtcWhy *why)
{
    while (bytes.len) {
        if (sse->after_cr && bytes.bytes[0] == '\n')
            bytes = (PtcText){bytes.bytes + 1, bytes.len - 1};
        sse->after_cr = false;
        size_t n = line_length(bytes);
        if (n == bytes.len)
            return keep_bytes(&sse->line, bytes, why);
        sse->after_cr = bytes.bytes[n] == '\r';
        if (!end_sse_line(sse, (PtcText){bytes.bytes, n}, why))
            return false;
        bytes = (PtcText){bytes.bytes + n + 1, bytes.len - n - 1};
    }
    return true;
}

bool ptc_sse_end(PtcSse *sse, PtcWhy *why)
{
    return (!sse->line.len || end_sse_line(sse, PTC_TEXT(""), why)) && dispatch_sse_event(sse, why);
}
