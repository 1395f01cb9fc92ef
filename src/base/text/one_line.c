/* SPDX-License-Identifier: MIT
 * Text from outside on one line. */
#include "base/text/one_line.h"

#include "base/ascii.h"
#include "base/utf8.h"

typedef struct {
    uint32_t first, last;
} Range;

/* What is invisible, or changes how other text looks.  The two joiners are not listed: scripts and emoji need them. */
static const Range unseen[] = {
    {0x00, 0x08},     {0x0b, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},       {0x61c, 0x61c},
    {0x180e, 0x180e}, {0x200b, 0x200b}, {0x200e, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
    {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool ptc_one_line_is_unseen(uint32_t code)
{
    for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++)
        if (code >= unseen[i].first && code <= unseen[i].last)
            return true;
    return false;
}

static void add_valid_text(PtcBuf *out, PtcText text)
{
    uint32_t code;
    for (size_t i = 0, n; i < text.len; i += n) {
        n = ptc_utf8_decode(text.bytes + i, text.len - i, &code);
        if (code == '\n' || code == '\t' || ptc_one_line_is_unseen(code))
            ptc_buf_addf(out, "\\u{%x}", (unsigned)code);
        else
            ptc_buf_add(out, text.bytes + i, n);
    }
}

void ptc_one_line_add(PtcBuf *out, PtcText text)
{
    while (text.len) {
        size_t n = ptc_utf8_valid_prefix(text.bytes, text.len), bad = n < text.len;
        add_valid_text(out, (PtcText){text.bytes, n});
        if (bad)
            ptc_buf_add_char(out, '?');
        text = (PtcText){text.bytes + n + bad, text.len - n - bad};
    }
}

static bool is_shell_plain(PtcText word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!ptc_ascii_is_alnum(word.bytes[i]) && !memchr("_.-/", word.bytes[i], 4))
            return false;
    return word.len > 0 && word.bytes[0] != '-';
}

/* Into the caller's array, so nothing grows; the last two bytes of it are for the end of the quotes. */
const char *ptc_one_line_word(char out[PTC_ONE_LINE_WORD], PtcText name, PtcText rest)
{
    char text[PTC_ONE_LINE_WORD / 2];
    PtcBuf clean = {.data = text, .cap = sizeof text, .max = sizeof text};
    PtcBuf word = {.data = out, .cap = PTC_ONE_LINE_WORD - 2, .max = PTC_ONE_LINE_WORD - 2};
    ptc_one_line_add(&clean, name);
    if (rest.bytes) {
        ptc_buf_add_char(&clean, '/');
        ptc_one_line_add(&clean, rest);
    }
    bool plain = is_shell_plain(ptc_buf_view(&clean));
    ptc_buf_add_cstr(&word, plain ? "" : "'");
    for (size_t i = 0; i < clean.len; i++)
        if (clean.data[i] == '\'')
            ptc_buf_add_cstr(&word, "'\\''");
        else
            ptc_buf_add_char(&word, clean.data[i]);
    if (!plain)
        out[word.len++] = '\'';
    out[word.len] = '\0';
    return out;
}
