/* SPDX-License-Identifier: MIT
 * Cache hints.  What always holds: the program in a hint makes the same call again, or there is no program in it. */
#include "tool/hint.h"

#include "base/ascii.h"
#include "json/emit.h"
#include "tool/keys.h"
#include "tool/wire/preview.h"
#include "value/coll/map.h"
#include "value/print.h"
#include "value/str.h"

/* A name that is certain to be read as a keyword. */
static bool is_keyword_name(PtcValue key)
{
    const char *p = ptc_str_bytes(key);
    size_t n = ptc_str_len(key);
    for (size_t i = 0; i < n; i++)
        if (!ptc_ascii_is_name(p[i]))
            return false;
    return n > 0 && ptc_ascii_begins_name(p[0]);
}

bool ptc_hint_call(PtcHeap *heap, PtcBuf *buf, const char *name, size_t name_len, PtcValue args)
{
    PtcKeysError error;
    PtcValue key, value, map = ptc_tool_args(heap, args, &error);
    PtcPrinter printer = {.heap = heap, .readable = true, .float_precision = -1};
    bool ok = map != PTC_NONE && ptc_buf_add_cstr(buf, "(tool/") &&
              ptc_buf_add(buf, name, name_len) && ptc_buf_add_cstr(buf, " {");
    bool first = true;
    for (size_t pos = 0; ok && ptc_map_next(map, &pos, &key, &value); first = false) {
        ok = ptc_tick(heap->budget, 1) && ptc_buf_add(buf, " ", !first);
        if (is_keyword_name(key))
            ok = ok && ptc_buf_add_char(buf, ':') &&
                 ptc_buf_add(buf, ptc_str_bytes(key), ptc_str_len(key));
        else
            ok = ok && ptc_print(&printer, buf, key);
        ok = ok && ptc_buf_add_char(buf, ' ') && ptc_print(&printer, buf, value);
    }
    return ok && ptc_buf_add_cstr(buf, "})");
}

bool ptc_hint_write(PtcHeap *heap, PtcBuf *buf, const char *name, size_t name_len, PtcValue args)
{
    PtcBuf text;
    ptc_buf_init(&text, buf->mem, PTC_PREVIEW_HINT_BYTES + name_len + 100);
    ptc_buf_add_cstr(&text, "The whole result is kept: in lisp_eval, ");
    size_t start = text.len;
    bool whole = ptc_hint_call(heap, &text, name, name_len, args);
    if (!whole && heap->budget->stop == PTC_STOP_NONE && !text.failed) {
        text.len = start;
        text.full = false;
        ptc_buf_add_cstr(&text, "(tool/");
        ptc_buf_add(&text, name, name_len);
        ptc_buf_add_cstr(&text, " ...) with the same arguments");
    }
    ptc_buf_add_cstr(&text, " gives it at once.");
    buf->failed |= text.failed;
    bool ok = heap->budget->stop == PTC_STOP_NONE && ptc_buf_ok(&text) &&
              ptc_emit_text(buf, ptc_buf_view(&text));
    ptc_buf_deinit(&text);
    return ok;
}
