/* SPDX-License-Identifier: MIT
 * Pieces of a text.  They are made of whole lines or characters (four of which count as a token, as for a model), and
 * their overlap is smaller than a piece, so every piece makes progress. */
#include "agent/run/chunks.h"

#include <stdio.h>

#include "base/utf8.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

bool ptc_chunks_check(const PtcChunks *how, PtcWhy *why)
{
    if (how->size < 1 || how->size > PTC_CHUNKS_SIZE || how->overlap < 0)
        return ptc_why_say(why, PTC_WHY_INVALID, "a size is a whole number from 1");
    return how->overlap < how->size ||
           ptc_why_say(why, PTC_WHY_INVALID, "the overlap is not smaller than the pieces");
}

/* Where the unit (line or character) that begins at `at` ends. */
static size_t unit_end(const PtcChunks *how, PtcText text, size_t at)
{
    if (how->lines) {
        const char *end = memchr(text.bytes + at, '\n', text.len - at);
        return end ? (size_t)(end - text.bytes) + 1 : text.len;
    }
    size_t n = at + 1;
    while (n < text.len && ((unsigned char)text.bytes[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* A piece made of lines does not include the end of its last line. */
static PtcValue piece(PtcHeap *heap, const PtcChunks *how, PtcText text, size_t from, size_t to)
{
    if (how->lines && to > from && text.bytes[to - 1] == '\n')
        to--;
    return ptc_str_new(heap, text.bytes + from, to - from);
}

/* The list; PTC_NONE with a reason. */
static PtcValue split_into_chunks(PtcHeap *heap, const PtcChunks *how, PtcText text, PtcWhy *why)
{
    PtcValue list = ptc_build_new(heap);
    bool ok = list != PTC_NONE;
    for (size_t from = 0, pieces = 0; ok && from < text.len; pieces++) {
        size_t at = from, next = from;
        for (int64_t n = 0; n < how->size && at < text.len; n++) {
            at = unit_end(how, text, at);
            if (n < how->size - how->overlap)
                next = at;
        }
        if (pieces == PTC_CHUNKS_MAX) {
            ptc_why_say(why, PTC_WHY_INVALID, "it gives more than %d pieces", PTC_CHUNKS_MAX);
            return PTC_NONE;
        }
        PtcValue v = piece(heap, how, text, from, at);
        ok = v != PTC_NONE && ptc_build_add(heap, list, v);
        from = at == text.len ? at : next;
    }
    list = ok ? ptc_build_done(heap, list, 0) : PTC_NONE;
    if (list == PTC_NONE)
        ptc_why_no_memory(why);
    return list;
}

bool ptc_chunks_add(PtcHeap *heap, PtcValue *map, PtcText key, const PtcChunks *how, PtcText text,
                    PtcWhy *why)
{
    if (!ptc_chunks_check(how, why))
        return false;
    if (!ptc_utf8_valid(text.bytes, text.len) || !ptc_utf8_valid(key.bytes, key.len))
        return ptc_why_say(why, PTC_WHY_INVALID, "it is not UTF-8");
    PtcValue list = split_into_chunks(heap, how, text, why);
    if (list == PTC_NONE)
        return false;
    PtcValue name = ptc_str_new(heap, key.bytes, key.len);
    PtcValue more = name == PTC_NONE ? PTC_NONE : ptc_map_assoc(heap, *map, name, list);
    if (more == PTC_NONE)
        return ptc_why_no_memory(why);
    *map = more;
    return true;
}
