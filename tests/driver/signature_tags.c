/* SPDX-License-Identifier: MIT
 * Values that JSON cannot express, in the lines of `ptc-test-driver signature`.  Recursion follows the JSON, whose
 * depth the parser limits (PTC_JSON_MAX_DEPTH). */
#include "driver/driver.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"
#include "value/time/time.h"

static PtcValue make_record(PtcHeap *heap, unsigned kind, const PtcValue *fields, uint32_t n)
{
    PtcRecord *o = ptc_heap_object(heap, PTC_T_RECORD, sizeof *o + n * sizeof *fields, n);
    if (!o)
        return PTC_NONE;
    o->obj.aux = (uint16_t)kind;
    memcpy(o->fields, fields, n * sizeof *fields);
    return ptc_from_obj(o);
}

/* A text that is not such a time stays unchanged, including its tag. */
static PtcValue read_time(PtcHeap *heap, unsigned kind, PtcValue text, PtcValue otherwise)
{
    PtcMoment p;
    PtcWhy why;
    if (!ptc_is_string(text) ||
        !ptc_iso_parse(PTC_ISO_LOOSE, ptc_str_bytes(text), ptc_str_len(text), &p, &why))
        return otherwise;
    if (p.has_time != (kind != PTC_R_DATE) || p.has_offset != (kind == PTC_R_INSTANT))
        return otherwise;
    PtcTime t = ptc_moment_time(&p);
    if (kind == PTC_R_DATE)
        return make_record(heap, kind, (PtcValue[]){ptc_int(ptc_moment_days(&p))}, 1);
    return make_record(heap, kind, (PtcValue[]){ptc_int(t.seconds), ptc_int(t.nanos)}, 2);
}

static PtcValue read_set(PtcHeap *heap, PtcValue list, PtcValue otherwise)
{
    if (!ptc_is_sequential(list))
        return otherwise;
    PtcValue set = ptc_set_empty(heap);
    for (size_t i = 0; set != PTC_NONE && i < ptc_seq_count(list); i++) {
        PtcValue v = ptc_sig_read_tags(heap, ptc_seq_nth(list, i));
        set = v == PTC_NONE ? v : ptc_set_add(heap, set, v);
    }
    return set;
}

static PtcValue read_map(PtcHeap *heap, PtcValue pairs, PtcValue otherwise)
{
    if (!ptc_is_sequential(pairs))
        return otherwise;
    PtcValue map = ptc_map_empty(heap);
    for (size_t i = 0; map != PTC_NONE && i < ptc_seq_count(pairs); i++) {
        PtcValue pair = ptc_seq_nth(pairs, i);
        if (!ptc_is_sequential(pair) || ptc_seq_count(pair) != 2)
            return otherwise;
        PtcValue key = ptc_sig_read_tags(heap, ptc_seq_nth(pair, 0));
        PtcValue value = ptc_sig_read_tags(heap, ptc_seq_nth(pair, 1));
        map =
            key == PTC_NONE || value == PTC_NONE ? PTC_NONE : ptc_map_assoc(heap, map, key, value);
    }
    return map;
}

static bool is_tag(PtcValue key, const char *name)
{
    return strcmp(ptc_str_bytes(key), name) == 0;
}

static PtcValue read_tag(PtcHeap *heap, PtcValue map, PtcValue tag, PtcValue v)
{
    if (is_tag(tag, "$kw") && ptc_is_string(v))
        return ptc_keyword_new(heap, ptc_str_bytes(v), ptc_str_len(v));
    if (is_tag(tag, "$datetime"))
        return read_time(heap, PTC_R_INSTANT, v, map);
    if (is_tag(tag, "$naive"))
        return read_time(heap, PTC_R_DATETIME, v, map);
    if (is_tag(tag, "$date"))
        return read_time(heap, PTC_R_DATE, v, map);
    if (is_tag(tag, "$set"))
        return read_set(heap, v, map);
    return is_tag(tag, "$map") ? read_map(heap, v, map) : map;
}

static PtcValue read_entries(PtcHeap *heap, PtcValue map)
{
    PtcValue to = map, key, value;
    for (size_t pos = 0; to != PTC_NONE && ptc_map_next(map, &pos, &key, &value);) {
        PtcValue v = ptc_sig_read_tags(heap, value);
        if (v != value)
            to = v == PTC_NONE ? v : ptc_map_assoc(heap, to, key, v);
    }
    return to;
}

static PtcValue read_elements(PtcHeap *heap, PtcValue list)
{
    PtcValue to = list;
    for (size_t i = 0; to != PTC_NONE && i < ptc_seq_count(list); i++) {
        PtcValue v = ptc_sig_read_tags(heap, ptc_seq_nth(list, i));
        if (v != ptc_seq_nth(list, i))
            to = v == PTC_NONE ? v : ptc_vec_assoc(heap, to, i, v);
    }
    return to;
}

PtcValue ptc_sig_read_tags(PtcHeap *heap, PtcValue v)
{
    PtcValue key, value;
    size_t pos = 0;
    if (ptc_is_sequential(v))
        return read_elements(heap, v);
    if (!ptc_is_map(v))
        return v;
    if (ptc_map_count(v) == 1 && ptc_map_next(v, &pos, &key, &value) &&
        ptc_str_bytes(key)[0] == '$') {
        PtcValue to = read_tag(heap, v, key, value);
        if (to != v)
            return to;
    }
    return read_entries(heap, v);
}
