/* SPDX-License-Identifier: MIT
 * Quotes texts for CSV. */
#include "data/csv_int.h"

bool ptc_csv_is_text(PtcText text)
{
    return ptc_csv_kind(&(PtcCsvField){text.bytes, text.len, false}) == PTC_CSV_TEXT;
}

bool ptc_csv_needs_quotes(PtcText text, char separator, bool among_texts)
{
    static const char marks[] = {'"', '\r', '\n'};
    if (text.len == 0 || (!among_texts && !ptc_csv_is_text(text)))
        return true;
    for (size_t i = 0; i < text.len; i++)
        if (text.bytes[i] == separator || memchr(marks, text.bytes[i], sizeof marks))
            return true;
    return false;
}

bool ptc_csv_has_separator(PtcText text)
{
    bool has = false;
    for (size_t i = 0; i < sizeof ptc_csv_separators && text.len && !has; i++)
        has = memchr(text.bytes, ptc_csv_separators[i], text.len) != NULL;
    return has;
}

bool ptc_csv_add_quoted(PtcBuf *out, PtcText text)
{
    ptc_buf_add_char(out, '"');
    for (const char *quote; (quote = text.len ? memchr(text.bytes, '"', text.len) : NULL);) {
        size_t n = (size_t)(quote - text.bytes) + 1;
        ptc_buf_add(out, text.bytes, n);
        ptc_buf_add_char(out, '"');
        text.bytes += n;
        text.len -= n;
    }
    ptc_buf_add(out, text.bytes, text.len);
    return ptc_buf_add_char(out, '"');
}
