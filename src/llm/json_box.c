/* SPDX-License-Identifier: MIT
 * A bounded heap for JSON from outside.  What always holds: nesting is measured before the text is parsed, and every
 * getter accepts any value. */
#include "llm/json_box.h"

#include <stdio.h>

#include "json/parse.h"
#include "llm/llm.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

void ptc_json_box_init(PtcJsonBox *box, PtcMem *mem)
{
    ptc_pool_init(&box->pool, mem);
    ptc_budget_init(&box->budget);
    ptc_heap_init(&box->heap, &box->pool, &box->budget, PTC_JSON_BOX_BYTES);
}

void ptc_json_box_deinit(PtcJsonBox *box)
{
    ptc_heap_deinit(&box->heap);
    ptc_pool_deinit(&box->pool);
}

void ptc_json_box_clear(PtcJsonBox *box)
{
    ptc_heap_deinit(&box->heap);
    ptc_budget_init(&box->budget);
    ptc_heap_init(&box->heap, &box->pool, &box->budget, PTC_JSON_BOX_BYTES);
}

/* Skips a string; `at` is just after its opening quote. */
static size_t skip_string_rest(PtcText text, size_t at)
{
    while (at < text.len && text.bytes[at] != '"')
        at += text.bytes[at] == '\\' ? 2 : 1;
    return at + 1;
}

/* Is the text nested no deeper than this?  Accepts any bytes. */
static bool json_box_depth(PtcText text, size_t max)
{
    size_t depth = 0;
    for (size_t at = 0; at < text.len; at++) {
        char c = text.bytes[at];
        if (c == '"')
            at = skip_string_rest(text, at + 1) - 1;
        else if ((c == '{' || c == '[') && ++depth > max)
            return false;
        else if ((c == '}' || c == ']') && depth)
            depth--;
    }
    return true;
}

/* Was it the box that refused, and not the system?  The box grows by doubling, so it refuses well before its limit. */
static bool is_heap_full(const PtcJsonBox *box)
{
    return box->heap.page_bytes + box->heap.scratch > PTC_JSON_BOX_BYTES / 4;
}

PtcValue ptc_json_box_read(PtcJsonBox *box, PtcText text, PtcWhy *why)
{
    PtcJsonError error = {0};
    if (!json_box_depth(text, PTC_LLM_JSON_DEPTH)) {
        ptc_why_say(why, PTC_WHY_INVALID, "it is nested deeper than %d", PTC_LLM_JSON_DEPTH);
        return PTC_NONE;
    }
    PtcValue v = ptc_json_parse(&box->heap, text.bytes ? text.bytes : "", text.len, &error);
    if (v == PTC_NONE && !error.stopped)
        ptc_why_say(why, PTC_WHY_INVALID, "%s, at byte %zu", error.message, error.offset);
    else if (v == PTC_NONE && is_heap_full(box))
        ptc_why_say(why, PTC_WHY_REFUSED, "it takes more memory than it may, at byte %zu",
                    error.offset);
    else if (v == PTC_NONE)
        ptc_why_say(why, PTC_WHY_NO_MEMORY, "out of memory, at byte %zu", error.offset);
    return v;
}

PtcValue ptc_json_box_get(PtcJsonBox *box, PtcValue map, const char *name)
{
    return map == PTC_NONE ? PTC_NONE : ptc_map_field(&box->heap, map, name);
}

PtcText ptc_json_box_text(PtcJsonBox *box, PtcValue map, const char *name)
{
    PtcValue v = ptc_json_box_get(box, map, name);
    return v == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(v);
}

bool ptc_json_box_bool(PtcJsonBox *box, PtcValue map, const char *name)
{
    return ptc_json_box_get(box, map, name) == PTC_TRUE;
}

int64_t ptc_json_box_count(PtcJsonBox *box, PtcValue map, const char *name, int64_t most,
                           int64_t otherwise)
{
    PtcValue v = ptc_json_box_get(box, map, name);
    double d;
    if (v == PTC_NONE || !ptc_is_number(v))
        return otherwise;
    if (ptc_is_bigint(v))
        return (ptc_obj(v)->flags & PTC_BIG_NEGATIVE) ? 0 : most;
    if (ptc_is_int(v)) {
        int64_t n = ptc_to_int(v);
        return n < 0 ? 0 : n > most ? most : n;
    }
    d = ptc_to_float(v);
    return !(d > 0) ? 0 : d >= (double)most ? most : (int64_t)d;
}

size_t ptc_json_box_length(PtcValue array)
{
    return array != PTC_NONE && ptc_is_sequential(array) ? ptc_seq_count(array) : 0;
}

PtcValue ptc_json_box_item(PtcValue array, size_t i)
{
    return ptc_seq_nth(array, i);
}
