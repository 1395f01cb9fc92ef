/* SPDX-License-Identifier: MIT
 * The list of warnings.  What always holds: it has one entry for each kind and place, in the order in which they were
 * added, and never more than PTC_WARNINGS_MAX. */
#include "lisp/analyze/warnings.h"

#include <string.h>

#include "lisp/vm/vm_int.h"

const char *ptc_warning_kind_name(PtcWarningKind kind)
{
    static const char *const names[] = {
        [PTC_W_UNKNOWN_DATA] = "unknown_data",   [PTC_W_UNKNOWN_KEY] = "unknown_key",
        [PTC_W_DROPPED_VALUE] = "dropped_value", [PTC_W_EQUAL_ROWS] = "equal_rows",
        [PTC_W_HIDDEN_FORM] = "hidden_form",     [PTC_W_TYPE_MISMATCH] = "type_mismatch",
        [PTC_W_MAYBE_NIL] = "maybe_nil",         [PTC_W_TOOL_ARGS] = "invalid_tool_args",
        [PTC_W_ANSWER] = "answer_mismatch"};
    return names[kind];
}

void ptc_warnings_deinit(PtcWarnings *w)
{
    if (w->items)
        ptc_mem_free(w->mem, w->items, PTC_WARNINGS_MAX * sizeof *w->items);
    *w = (PtcWarnings){0};
}

static PtcWarningItem *warning_at(const PtcWarnings *w, PtcWarningKind kind, uint32_t line,
                                  uint32_t column)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->items[i].kind == kind && w->items[i].line == line && w->items[i].column == column)
            return &w->items[i];
    return NULL;
}

PtcWarningItem *ptc_warnings_add(PtcWarnings *w, PtcMem *mem, PtcWarningKind kind, uint32_t line,
                                 uint32_t column)
{
    PtcWarningItem *same = warning_at(w, kind, line, column);
    if (same && same->general) {
        same->general = false;
        return same;
    }
    if (same || w->count == PTC_WARNINGS_MAX)
        return NULL;
    if (!w->items) {
        w->mem = mem;
        w->items = ptc_mem_alloc(mem, PTC_WARNINGS_MAX * sizeof *w->items);
    }
    if (!w->items)
        return NULL;
    PtcWarningItem *item = &w->items[w->count++];
    memset(item, 0, sizeof *item);
    item->kind = kind;
    item->line = line;
    item->column = column;
    item->checked = true;
    return item;
}

void ptc_warnings_merge(PtcWarnings *w, PtcMem *mem, const PtcWarnings *other, size_t from,
                        size_t n)
{
    for (size_t i = from; i < from + n && i < other->count; i++) {
        const PtcWarningItem *more = &other->items[i];
        PtcWarningItem *item = ptc_warnings_add(w, mem, more->kind, more->line, more->column);
        if (item)
            *item = *more;
    }
}

PtcWarningItem *ptc_warnings_here(PtcVM *vm, PtcWarningKind kind)
{
    enum { BYTES_A_TICK = 16 };
    const PtcCall *frame = ptc_vm_program_frame(vm);
    if (!frame || vm->warnings.count == PTC_WARNINGS_MAX)
        return NULL;
    const PtcProto *p = ptc_closure_proto(frame->closure);
    size_t at = (size_t)(frame->pc - ptc_proto_code(p));
    PtcSpan span = ptc_proto_spans(p)[at ? at - 1 : 0];
    uint32_t line, column;
    if (!ptc_tick(&vm->budget, 1 + span.first / BYTES_A_TICK)) /* a loop may come here often */
        return NULL;
    ptc_diag_place(ptc_str_bytes(p->source), ptc_str_len(p->source), span.first, &line, &column);
    PtcWarningItem *item = ptc_warnings_add(&vm->warnings, vm->mem, kind, line, column);
    const PtcProto *whole =
        ptc_is(vm->program, PTC_T_PROTO) ? (const PtcProto *)(uintptr_t)vm->program : p;
    if (item) {
        item->earlier = p->source != whole->source;
        item->checked = false;
    }
    return item;
}
