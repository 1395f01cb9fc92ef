/* SPDX-License-Identifier: MIT
 * What an agent remembers, as JSON and as lines for its model.  What has no JSON form is written as a program would
 * print it. */
#include "agent/run/work_int.h"
#include "base/utf8.h"
#include "engine/engine.h"
#include "json/emit.h"
#include "lisp/vm/vm_int.h"
#include "tool/convert.h"
#include "tool/wire/feedback.h"
#include "value/coll/map.h"
#include "value/print.h"
#include "value/str.h"

enum {
    LOG_CHARS = 200,
    LOG_BYTES = 64 * PTC_KB,
    TELL_VALUE_BYTES =
        PTC_MB, /* of the JSON of one value; one that has more is shown as text ... */
    TELL_TEXT_BYTES = 64 * PTC_KB /* ... of which there is as much as this */
};

PtcText ptc_work_keep(PtcWork *w, PtcBuf *buf)
{
    PtcText text = {NULL, 0};
    if (ptc_buf_ok(buf))
        text = ptc_messages_keep(&w->arena, ptc_buf_view(buf));
    w->arena.failed |= !text.bytes;
    ptc_buf_deinit(buf);
    return text;
}

/* For the text of a value.  Neither the clock nor a cancel may cut it short, least of all what a journal keeps: how
 * long it may become is limited, and so is the work. */
static PtcHeapBox *new_box(PtcWork *w)
{
    PtcHeapBox *box = ptc_box_new(w->ptc, 64 * PTC_MB);
    if (box) {
        ptc_budget_init(&box->budget);
        box->budget.max_int_bits = w->ptc->limits.max_int_bits;
    }
    return box;
}

/* The value as a program prints it. */
static void print_value(PtcWork *w, PtcBuf *out, PtcValue v)
{
    PtcHeapBox *box = new_box(w);
    PtcPrinter printer = ptc_vm_printer(&w->ptc->vm, true);
    if (!box) {
        out->failed = true;
        return;
    }
    printer.heap = &box->heap;
    (void)!ptc_print(&printer, out, v);
    ptc_box_release(&box->heap);
}

/* Adds the value as JSON; false: it has none, or more than `most` bytes of it.  What a value refers to several times is
 * written every time, so a small value may have more JSON than there is memory. */
static bool add_json_within(PtcWork *w, PtcBuf *out, PtcValue v, size_t most, bool *too_long)
{
    PtcJsonError e = {0};
    PtcBuf json;
    PtcHeapBox *box = new_box(w);
    if (!box)
        return (out->failed = true);
    ptc_buf_init(&json, &w->mem, most);
    bool ok = ptc_to_json_value(&box->heap, &json, v, w->ptc->float_precision, &e);
    *too_long = json.full || box->budget.stop != PTC_STOP_NONE;
    ptc_box_release(&box->heap);
    if (ok)
        ptc_emit_raw(out, ptc_buf_view(&json));
    out->failed = out->failed || json.failed;
    ptc_buf_deinit(&json);
    return ok || out->failed;
}

/* As much as fits of what a program would print. */
static void add_text_object(PtcWork *w, PtcBuf *out, PtcValue v)
{
    PtcBuf text;
    ptc_buf_init(&text, &w->mem, TELL_TEXT_BYTES);
    print_value(w, &text, v);
    PtcText shown = ptc_buf_view(&text);
    shown.len = ptc_utf8_valid_prefix(shown.bytes, shown.len);
    ptc_emit_object(out);
    ptc_emit_field_text(out, "$text", shown);
    ptc_emit_object_end(out);
    out->failed = out->failed || text.failed;
    ptc_buf_deinit(&text);
}

void ptc_work_add_value(PtcWork *w, PtcBuf *out, PtcValue v)
{
    bool too_long;
    if (!add_json_within(w, out, v, TELL_VALUE_BYTES, &too_long))
        add_text_object(w, out, v);
}

void ptc_work_memory(PtcWork *w, PtcBuf *out)
{
    ptc_emit_object(out);
    size_t n = w->session ? ptc_session_binding_count(w->session) : 0;
    for (size_t i = 0; i < n; i++) {
        PtcText name = ptc_session_binding(w->session, i);
        ptc_emit_key_text(out, name);
        ptc_work_add_value(w, out, ptc_session_lookup(w->session, name));
    }
    ptc_emit_object_end(out);
}

static void add_journal(PtcWork *w, PtcBuf *out, bool whole)
{
    PtcValue key, value, journal = w->session ? w->session->journal : PTC_NIL;
    bool too_long = false;
    ptc_emit_object(out);
    for (size_t pos = 0; ptc_is_map(journal) && ptc_map_next(journal, &pos, &key, &value);) {
        ptc_emit_key_text(out, ptc_str_text(key));
        if (!add_json_within(w, out, value, whole ? out->max : TELL_VALUE_BYTES, &too_long))
            add_text_object(w, out, value);
        out->full = out->full || (whole && too_long);
    }
    ptc_emit_object_end(out);
}

void ptc_work_journal(PtcWork *w, PtcBuf *out)
{
    add_journal(w, out, false);
}

void ptc_work_journal_whole(PtcWork *w, PtcBuf *out)
{
    add_journal(w, out, true);
}

void ptc_work_journal_log(PtcWork *w, PtcBuf *out)
{
    PtcBuf text;
    PtcValue key, value, journal = w->session ? w->session->journal : PTC_NIL;
    ptc_buf_init(&text, &w->mem, LOG_BYTES);
    for (size_t pos = 0; ptc_is_map(journal) && ptc_map_next(journal, &pos, &key, &value);) {
        PtcText id = ptc_str_text(key);
        ptc_buf_clear(&text);
        print_value(w, &text, value);
        bool cut = text.full;
        text.full = false;
        ptc_buf_add(out, id.bytes, id.len);
        ptc_buf_add_cstr(out, ": ");
        ptc_preview_add(out, ptc_buf_view(&text), cut, LOG_CHARS);
        ptc_buf_add_char(out, '\n');
        out->failed = out->failed || text.failed;
    }
    ptc_buf_deinit(&text);
}
