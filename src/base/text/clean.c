/* SPDX-License-Identifier: MIT
 * Text of upstreams.  Nothing but blanks, visible characters and our own escapes is ever appended, so a description
 * cannot begin a line of its own or hide instructions. */
#include "base/text/clean.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/text/one_line.h"
#include "base/utf8.h"

/* One text on its way: what is appended, and where it may have to be cut. */
typedef struct {
    PtcBuf *out;
    size_t start, max;
    size_t cut; /* length of out that leaves room for the dots */
    bool full;
} Cleaning;

/* All or nothing; a piece that does not fit ends the text. */
static void add_clean_piece(Cleaning *c, const char *bytes, size_t n)
{
    size_t len = c->out->len - c->start;
    if (c->full)
        return;
    if (n > c->max - len) {
        c->full = true;
        return;
    }
    ptc_buf_add(c->out, bytes, n);
    if (len + n + 3 <= c->max)
        c->cut = c->out->len;
}

static void add_clean_code(Cleaning *c, const char *bytes, size_t n, uint32_t code)
{
    char escape[16];
    if (ptc_one_line_is_unseen(code))
        add_clean_piece(c, escape,
                        (size_t)snprintf(escape, sizeof escape, "\\u{%x}", (unsigned)code));
    else
        add_clean_piece(c, bytes, n);
}

/* Shortenings that end in a point without ending a sentence. */
static bool is_shortening(PtcText before)
{
    static const char *const words[] = {"e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "incl."};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if (before.len >= n && memcmp(before.bytes + before.len - n, words[i], n) == 0)
            return true;
    }
    return false;
}

/* Does a sentence end with byte i, which is not white space?  Only if white space or the end of the text follows. */
static bool ends_sentence(PtcText text, size_t i)
{
    char c = text.bytes[i], next = i + 1 < text.len ? text.bytes[i + 1] : ' ';
    return (c == '.' || c == '!' || c == '?') && ptc_ascii_is_white(next) &&
           !is_shortening((PtcText){text.bytes, i + 1});
}

/* How far the first sentence goes: up to its mark, or to an empty line. */
static size_t sentence_len(PtcText text)
{
    size_t feeds = 0, words = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.bytes[i];
        feeds = c == '\n' ? feeds + 1 : ptc_ascii_is_space(c) ? feeds : 0;
        words += !ptc_ascii_is_white(c);
        if (words && feeds > 1)
            return i;
        if (ends_sentence(text, i))
            return i + 1;
    }
    return text.len;
}

void ptc_clean_add(PtcBuf *out, PtcText text, size_t max, bool first_sentence)
{
    Cleaning c = {.out = out, .start = out->len, .max = max, .cut = out->len};
    bool blank = false;
    uint32_t code;
    text.len = text.bytes ? ptc_utf8_valid_prefix(text.bytes, text.len) : 0;
    if (first_sentence)
        text.len = sentence_len(text);
    for (size_t i = 0; i < text.len && !c.full;) {
        size_t n = ptc_utf8_decode(text.bytes + i, text.len - i, &code);
        if (ptc_utf8_is_space(code)) {
            blank = out->len > c.start;
        } else {
            if (blank)
                add_clean_piece(&c, " ", 1);
            blank = false;
            add_clean_code(&c, text.bytes + i, n, code);
        }
        i += n;
    }
    if (c.full && ptc_buf_ok(out)) {
        out->len = c.cut;
        ptc_buf_add(out, "...", max < 3 ? max : 3);
    }
}
