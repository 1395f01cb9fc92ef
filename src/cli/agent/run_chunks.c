/* SPDX-License-Identifier: MIT
 * What --chunk says.  An overlap is counted in the unit of the size, wherever it stands. */
#include "cli/agent/run_chunks.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"

#define SIZE_MOST ((int64_t)1 << 40)

static bool refuse_chunk_spec(PtcWhy *why, const char *what)
{
    ptc_why_say(
        why, PTC_WHY_INVALID,
        "%s; it is written KEY=@FILE,lines=N (or chars=N, tokens=N), optionally followed by "
        ",overlap=N",
        what);
    return false;
}

static bool read_chunk_number(const char *text, size_t len, int64_t *out)
{
    char digits[20], *end;
    if (len == 0 || len >= sizeof digits || !ptc_ascii_is_digit(text[0]))
        return false;
    memcpy(digits, text, len);
    digits[len] = 0;
    *out = strtoll(digits, &end, 10);
    return *end == 0 && *out <= SIZE_MOST;
}

static bool read_chunk_part(PtcText part, PtcChunkSpec *s, int64_t *unit, PtcWhy *why)
{
    static const struct {
        const char *name;
        bool lines, overlap;
        int64_t times;
    } known[] = {{"lines=", true, false, 1},
                 {"chars=", false, false, 1},
                 {"tokens=", false, false, PTC_CHUNKS_TOKEN},
                 {"overlap=", false, true, 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].name);
        int64_t number;
        if (!ptc_text_starts(part, known[i].name))
            continue;
        if (!read_chunk_number(part.bytes + n, part.len - n, &number) ||
            (number == 0 && !known[i].overlap))
            return refuse_chunk_spec(why, "a size is a whole number from 1");
        if (!known[i].overlap && *unit)
            return refuse_chunk_spec(why, "it has two sizes");
        *(known[i].overlap ? &s->how.overlap : &s->how.size) = number;
        if (!known[i].overlap) {
            s->how.lines = known[i].lines;
            *unit = known[i].times;
        }
        return true;
    }
    return refuse_chunk_spec(why, "it has a part that is neither a size nor an overlap");
}

static bool read_chunk_path(PtcText rest, PtcChunkSpec *s, size_t *used, PtcWhy *why)
{
    const char *comma = rest.len ? memchr(rest.bytes, ',', rest.len) : NULL;
    size_t n = comma ? (size_t)(comma - rest.bytes) : rest.len;
    if (n < 2 || rest.bytes[0] != '@' || n > sizeof s->path)
        return refuse_chunk_spec(why, "it names no file with @");
    memcpy(s->path, rest.bytes + 1, n - 1);
    s->path[n - 1] = 0;
    *used = n;
    return true;
}

bool ptc_chunk_parse(const char *text, PtcChunkSpec *s, PtcWhy *why)
{
    const char *equals = strchr(text, '=');
    int64_t unit = 0; /* lines or characters; 0: there is no size yet */
    size_t used;
    *s = (PtcChunkSpec){.path = ""};
    if (!equals || equals == text)
        return refuse_chunk_spec(why, "it has no key");
    s->key = (PtcText){text, (size_t)(equals - text)};
    PtcText rest = ptc_text_cstr(equals + 1);
    if (!read_chunk_path(rest, s, &used, why))
        return false;
    for (rest = (PtcText){rest.bytes + used, rest.len - used}; rest.len > 0;) {
        rest = (PtcText){rest.bytes + 1, rest.len - 1}; /* the comma */
        const char *comma = rest.len ? memchr(rest.bytes, ',', rest.len) : NULL;
        size_t n = comma ? (size_t)(comma - rest.bytes) : rest.len;
        if (!read_chunk_part((PtcText){rest.bytes, n}, s, &unit, why))
            return false;
        rest = (PtcText){rest.bytes + n, rest.len - n};
    }
    if (!unit)
        return refuse_chunk_spec(why, "it has no size");
    s->how.size *= unit;
    s->how.overlap *= unit;
    return s->how.overlap < s->how.size ||
           refuse_chunk_spec(why, "the overlap is not smaller than the pieces");
}
