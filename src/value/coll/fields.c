/* SPDX-License-Identifier: MIT
 * Members of values, looked up and added.  What always holds: nothing here reports a failure; when memory runs out the
 * heap's budget stops, and ptc_fields_ok says so. */
#include "value/coll/fields.h"

enum { FIELDS_NAME_BYTES = 256 };

PtcValue ptc_fields_map(PtcHeap *heap)
{
    return ptc_map_empty(heap);
}

PtcValue ptc_fields_list(PtcHeap *heap)
{
    return ptc_vec_new(heap, NULL, 0, 0);
}

PtcValue ptc_fields_string(PtcHeap *heap, PtcText text)
{
    return text.bytes ? ptc_str_new(heap, text.bytes, text.len) : PTC_NIL;
}

PtcValue ptc_fields_buf(PtcHeap *heap, const PtcBuf *buf)
{
    if (ptc_buf_ok(buf))
        return ptc_fields_string(heap, ptc_buf_view(buf));
    ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
    return PTC_NONE;
}

void ptc_fields_put_key(PtcHeap *heap, PtcValue *map, PtcText name, PtcValue value)
{
    PtcValue key = ptc_fields_string(heap, name);
    if (key == PTC_NONE || value == PTC_NONE || *map == PTC_NONE)
        return;
    PtcValue to = ptc_map_assoc(heap, *map, key, value);
    if (to != PTC_NONE)
        *map = to;
}

void ptc_fields_put(PtcHeap *heap, PtcValue *map, const char *name, PtcValue value)
{
    ptc_fields_put_key(heap, map, ptc_text_cstr(name), value);
}

void ptc_fields_put_text(PtcHeap *heap, PtcValue *map, const char *name, PtcText text)
{
    ptc_fields_put(heap, map, name, ptc_fields_string(heap, text));
}

void ptc_fields_push(PtcHeap *heap, PtcValue *list, PtcValue value)
{
    if (value == PTC_NONE || *list == PTC_NONE)
        return;
    PtcValue to = ptc_vec_conj(heap, *list, value);
    if (to != PTC_NONE)
        *list = to;
}

void ptc_fields_remove(PtcHeap *heap, PtcValue *map, const char *name)
{
    if (ptc_map_field(heap, *map, name) == PTC_NONE)
        return;
    PtcValue key = ptc_fields_string(heap, ptc_text_cstr(name));
    PtcValue less = key == PTC_NONE ? PTC_NONE : ptc_map_dissoc(heap, *map, key);
    *map = less == PTC_NONE ? *map : less;
}

/* Looks are taken for every call in heaps that live as long as the process, so the names that occur take no memory. */
PtcValue ptc_fields_get(PtcHeap *heap, PtcValue map, PtcText name)
{
    char plain[FIELDS_NAME_BYTES + 1];
    if (map == PTC_NONE || !ptc_is_map(map))
        return PTC_NONE;
    if (name.len <= FIELDS_NAME_BYTES && name.bytes && !memchr(name.bytes, '\0', name.len)) {
        memcpy(plain, name.bytes, name.len);
        plain[name.len] = '\0';
        return ptc_map_field(heap, map, plain);
    }
    PtcValue key = ptc_fields_string(heap, name);
    return key == PTC_NONE ? PTC_NONE : ptc_map_get(heap, map, key);
}
