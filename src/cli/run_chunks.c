/* SPDX-License-Identifier: MIT
 * Texts in pieces.  What always holds: pieces end between characters (not graphemes: they are for a model), and their
 * overlap is smaller than a piece, so every piece makes progress. */
#include "cli/run_chunks.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "json/emit.h"

enum { CHARS_PER_TOKEN = 4 };
#define SIZE_MOST ((int64_t)1 << 40)

static bool refuse(char why[PTC_CHUNK_WHY], const char *what)
{
    snprintf(why, PTC_CHUNK_WHY,
             "%s; it is written KEY=@FILE,lines=N (or chars=N, tokens=N), then perhaps ,overlap=N",
             what);
    return false;
}

/* ------------------------------------------------------------------------------- reading */

static bool read_number(const char *text, size_t len, int64_t *out)
{
    char digits[20], *end;
    if (len == 0 || len >= sizeof digits || text[0] < '0' || text[0] > '9')
        return false;
    memcpy(digits, text, len);
    digits[len] = 0;
    *out = strtoll(digits, &end, 10);
    return *end == 0 && *out <= SIZE_MOST;
}

static bool read_part(PtcText part, PtcChunkSpec *s, bool *has_size, char why[PTC_CHUNK_WHY])
{
    static const struct {
        const char *name;
        bool lines, overlap;
        int64_t times;
    } known[] = {{"lines=", true, false, 1},
                 {"chars=", false, false, 1},
                 {"tokens=", false, false, CHARS_PER_TOKEN},
                 {"overlap=", false, true, 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].name);
        int64_t number;
        if (!ptc_text_starts(part, known[i].name))
            continue;
        if (!read_number(part.bytes + n, part.len - n, &number) ||
            (number == 0 && !known[i].overlap))
            return refuse(why, "a size is a whole number from 1");
        if (!known[i].overlap && *has_size)
            return refuse(why, "it has two sizes");
        *(known[i].overlap ? &s->overlap : &s->size) = number * known[i].times;
        if (!known[i].overlap) {
            s->lines = known[i].lines;
            *has_size = true;
        }
        return true;
    }
    return refuse(why, "it has a part that is neither a size nor an overlap");
}

static bool read_path(PtcText rest, PtcChunkSpec *s, size_t *used, char why[PTC_CHUNK_WHY])
{
    const char *comma = rest.len ? memchr(rest.bytes, ',', rest.len) : NULL;
    size_t n = comma ? (size_t)(comma - rest.bytes) : rest.len;
    if (n < 2 || rest.bytes[0] != '@' || n > sizeof s->path)
        return refuse(why, "it names no file with @");
    memcpy(s->path, rest.bytes + 1, n - 1);
    s->path[n - 1] = 0;
    *used = n;
    return true;
}

bool ptc_chunk_parse(const char *text, PtcChunkSpec *s, char why[PTC_CHUNK_WHY])
{
    const char *equals = strchr(text, '=');
    bool has_size = false;
    size_t used;
    *s = (PtcChunkSpec){.lines = false};
    if (!equals || equals == text)
        return refuse(why, "it has no key");
    s->key = (PtcText){text, (size_t)(equals - text)};
    PtcText rest = ptc_text_cstr(equals + 1);
    if (!read_path(rest, s, &used, why))
        return false;
    for (rest = (PtcText){rest.bytes + used, rest.len - used}; rest.len > 0;) {
        rest = (PtcText){rest.bytes + 1, rest.len - 1}; /* the comma */
        const char *comma = rest.len ? memchr(rest.bytes, ',', rest.len) : NULL;
        size_t n = comma ? (size_t)(comma - rest.bytes) : rest.len;
        if (!read_part((PtcText){rest.bytes, n}, s, &has_size, why))
            return false;
        rest = (PtcText){rest.bytes + n, rest.len - n};
    }
    if (!has_size)
        return refuse(why, "it has no size");
    return s->overlap < s->size || refuse(why, "the overlap is not smaller than the pieces");
}

/* ------------------------------------------------------------------------------- writing */

/* Where the unit (line or character) that begins at `at` ends. */
static size_t unit_end(const PtcChunkSpec *s, PtcText text, size_t at)
{
    if (s->lines) {
        const char *end = memchr(text.bytes + at, '\n', text.len - at);
        return end ? (size_t)(end - text.bytes) + 1 : text.len;
    }
    size_t n = at + 1;
    while (n < text.len && ((unsigned char)text.bytes[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* A piece made of lines does not include the end of its last line. */
static PtcText piece(const PtcChunkSpec *s, PtcText text, size_t from, size_t to)
{
    PtcText p = {text.bytes + from, to - from};
    if (s->lines && p.len && p.bytes[p.len - 1] == '\n')
        p.len--;
    return p;
}

bool ptc_chunk_write(const PtcChunkSpec *s, PtcText text, PtcBuf *out, char why[PTC_CHUNK_WHY])
{
    size_t from = 0, pieces = 0;
    if (ptc_utf8_valid_prefix(text.bytes, text.len) < text.len) {
        snprintf(why, PTC_CHUNK_WHY, "%.200s is not UTF-8", s->path);
        return false;
    }
    ptc_emit_array(out);
    while (from < text.len) {
        size_t at = from, next = from;
        for (int64_t n = 0; n < s->size && at < text.len; n++) {
            at = unit_end(s, text, at);
            if (n < s->size - s->overlap)
                next = at;
        }
        ptc_emit_text(out, piece(s, text, from, at));
        if (++pieces > PTC_CHUNKS_MAX) {
            snprintf(why, PTC_CHUNK_WHY, "%.200s gives more than %d pieces", s->path,
                     PTC_CHUNKS_MAX);
            return false;
        }
        from = at == text.len ? at : next;
    }
    ptc_emit_array_end(out);
    if (ptc_buf_ok(out))
        return true;
    snprintf(why, PTC_CHUNK_WHY, "out of memory");
    return false;
}
