/* SPDX-License-Identifier: MIT
 * emit.h - JSON that does not come from a value: answers, records, messages, written member by member into a buffer.
 *
 *     ptc_emit_object(out);
 *     ptc_emit_field_cstr(out, "status", "ok");
 *     ptc_emit_key(out, "rows");
 *     ptc_emit_array(out);
 *     ...
 *     ptc_emit_array_end(out);
 *     ptc_emit_object_end(out);                   -- {"status":"ok","rows":[...]}
 *
 * Commas are added automatically.  There is no state apart from the buffer: a comma is due where its last byte ends
 * a value.  So a writer may stop, cut the buffer back to where it was, and continue; and nesting needs neither a
 * stack nor a limit.  For that, a JSON text must begin in an empty buffer or after white space.
 *
 * Failure is sticky in the buffer, so results need not be checked before the end.  Texts are UTF-8. */
#ifndef PTC_JSON_EMIT_H
#define PTC_JSON_EMIT_H

#include "base/buf.h"
#include "value/heap.h"

/* Adds the comma, where one is due, before a value or member that is written by other means. */
static inline bool ptc_emit_next(PtcBuf *out)
{
    unsigned char last = out->len ? (unsigned char)out->data[out->len - 1] : ' ';
    return last == '{' || last == '[' || last == ':' || last <= ' ' || ptc_buf_add(out, ",", 1);
}

static inline bool ptc_emit_object(PtcBuf *out)
{
    return ptc_emit_next(out) && ptc_buf_add(out, "{", 1);
}

static inline bool ptc_emit_object_end(PtcBuf *out)
{
    return ptc_buf_add(out, "}", 1);
}

static inline bool ptc_emit_array(PtcBuf *out)
{
    return ptc_emit_next(out) && ptc_buf_add(out, "[", 1);
}

static inline bool ptc_emit_array_end(PtcBuf *out)
{
    return ptc_buf_add(out, "]", 1);
}

/* The key of a member, escaped like any string; its value comes next. */
bool ptc_emit_key_text(PtcBuf *out, PtcText key);
static inline bool ptc_emit_key(PtcBuf *out, const char *key)
{
    return ptc_emit_key_text(out, (PtcText){key, strlen(key)});
}

/* Values: items of an array, or what follows a key. */
bool ptc_emit_text(PtcBuf *out, PtcText text);     /* absent: null */
bool ptc_emit_cstr(PtcBuf *out, const char *text); /* NULL: null */
bool ptc_emit_int(PtcBuf *out, int64_t n);
bool ptc_emit_uint(PtcBuf *out, uint64_t n);
bool ptc_emit_double(PtcBuf *out, double d); /* not finite: null */
bool ptc_emit_bool(PtcBuf *out, bool b);
bool ptc_emit_null(PtcBuf *out);
/* A string in parts. */
bool ptc_emit_string(PtcBuf *out);
bool ptc_emit_string_part(PtcBuf *out, PtcText part);
bool ptc_emit_string_end(PtcBuf *out);
/* Bytes as a string of hexadecimal digits. */
bool ptc_emit_hex(PtcBuf *out, const void *bytes, size_t len);
/* A value that came from JSON; the heap provides the budget.  False also if it cannot be written as JSON after all. */
bool ptc_emit_value(PtcBuf *out, PtcHeap *heap, PtcValue v);
/* JSON that has been written already; white space at its end is dropped.  Absent: null. */
bool ptc_emit_raw(PtcBuf *out, PtcText json);

/* A key and its value. */
static inline bool ptc_emit_field_text(PtcBuf *out, const char *key, PtcText text)
{
    return ptc_emit_key(out, key) && ptc_emit_text(out, text);
}

static inline bool ptc_emit_field_cstr(PtcBuf *out, const char *key, const char *text)
{
    return ptc_emit_key(out, key) && ptc_emit_cstr(out, text);
}

static inline bool ptc_emit_field_hex(PtcBuf *out, const char *key, const void *bytes, size_t len)
{
    return ptc_emit_key(out, key) && ptc_emit_hex(out, bytes, len);
}

static inline bool ptc_emit_field_int(PtcBuf *out, const char *key, int64_t n)
{
    return ptc_emit_key(out, key) && ptc_emit_int(out, n);
}

static inline bool ptc_emit_field_uint(PtcBuf *out, const char *key, uint64_t n)
{
    return ptc_emit_key(out, key) && ptc_emit_uint(out, n);
}

static inline bool ptc_emit_field_bool(PtcBuf *out, const char *key, bool b)
{
    return ptc_emit_key(out, key) && ptc_emit_bool(out, b);
}

static inline bool ptc_emit_field_raw(PtcBuf *out, const char *key, PtcText json)
{
    return ptc_emit_key(out, key) && ptc_emit_raw(out, json);
}

#endif
