/* SPDX-License-Identifier: MIT
 * Fences.  What always holds: no text inside a fence can end it or hide anything from the reader (fence.h says why). */
#include "tool/wire/fence.h"

#include "base/text/one_line.h"
#include "base/utf8.h"

enum { FENCE_MIN = 3, ZERO_WIDTH_NON_JOINER = 0x200c, ZERO_WIDTH_JOINER = 0x200d };

/* ------------------------------------------------------------------- cutting */

static bool is_char_start(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

PtcCut ptc_cut_chars(PtcText text, size_t max_chars)
{
    size_t i = 0, chars = 0;
    for (; i < text.len; i++)
        if (is_char_start(text.bytes[i]) && chars++ == max_chars)
            break;
    if (i == text.len)
        return (PtcCut){text.len, 0};
    return (PtcCut){i, ptc_utf8_count(text.bytes + i, text.len - i)};
}

/* Where the next row of a printed list ends, from i; SIZE_MAX: not before `end`.  Brackets in strings are text. */
static size_t find_row_end(PtcText text, size_t i, size_t end)
{
    size_t depth = 0;
    bool quoted = false;
    for (; i < end; i++) {
        char c = text.bytes[i];
        if (quoted) {
            quoted = c != '"';
            i += c == '\\';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[' || c == '(') {
            depth++;
        } else if ((c == '}' || c == ']' || c == ')') && depth > 0) {
            depth--;
        } else if (c == ' ' && depth == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

PtcCut ptc_cut_rows(PtcText text, size_t max_bytes, size_t *rows)
{
    size_t kept = text.len;
    *rows = 0;
    if (text.len <= max_bytes)
        return (PtcCut){kept, 0};
    kept = ptc_utf8_valid_prefix(text.bytes, max_bytes);
    bool list = text.bytes[0] == '[' || text.bytes[0] == '(';
    for (size_t at = list ? 0 : SIZE_MAX; at != SIZE_MAX;) {
        at = find_row_end(text, at + 1, kept + 1);
        if (at != SIZE_MAX && ++*rows && find_row_end(text, at + 1, kept + 1) == SIZE_MAX)
            kept = at;
    }
    return (PtcCut){kept, ptc_utf8_count(text.bytes + kept, text.len - kept)};
}

/* ------------------------------------------------------------------- fencing */

static bool is_joiner(uint32_t code)
{
    return code == ZERO_WIDTH_NON_JOINER || code == ZERO_WIDTH_JOINER;
}

/* The longest run of backticks; a joiner between two of them does not end it, since it is invisible. */
static size_t longest_run(PtcText text)
{
    size_t longest = 0, run = 0;
    uint32_t code;
    for (size_t i = 0; i < text.len;) {
        i += ptc_utf8_decode(text.bytes + i, text.len - i, &code);
        if (code == '`')
            run++;
        else if (!is_joiner(code))
            run = 0;
        if (run > longest)
            longest = run;
    }
    return longest;
}

/* The text with invisible characters made visible. */
void ptc_fence_add_visible(PtcBuf *out, PtcText text)
{
    size_t plain = 0, i = 0; /* text[plain..i) waits to be copied */
    uint32_t code;
    while (i < text.len) {
        size_t n = ptc_utf8_decode(text.bytes + i, text.len - i, &code);
        if (ptc_one_line_is_unseen(code)) {
            ptc_buf_add(out, text.bytes + plain, i - plain);
            ptc_buf_addf(out, "\\u{%x}", (unsigned)code);
            plain = i + n;
        }
        i += n;
    }
    if (i > plain)
        ptc_buf_add(out, text.bytes + plain, i - plain);
}

static void add_backticks(PtcBuf *out, size_t n)
{
    while (n-- > 0)
        ptc_buf_add_char(out, '`');
}

void ptc_fence_add(PtcBuf *out, const char *label, PtcText text)
{
    size_t run = longest_run(text), fence = run < FENCE_MIN ? FENCE_MIN : run + 1;
    add_backticks(out, fence);
    ptc_buf_add_cstr(out, label);
    ptc_buf_add_char(out, '\n');
    ptc_fence_add_visible(out, text);
    if (text.len > 0 && text.bytes[text.len - 1] != '\n')
        ptc_buf_add_char(out, '\n');
    add_backticks(out, fence);
    ptc_buf_add_char(out, '\n');
}
