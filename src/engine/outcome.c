/* SPDX-License-Identifier: MIT
 * What a run produced.  The outcome owns the run's heap, so its value stays readable until it is freed. */
#include "engine/outcome.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/engine.h"
#include "engine/session.h"
#include "json/emit.h"
#include "lisp/vm/vm_int.h"
#include "tool/convert.h"

static const char *const phases[] = {"parse", "check", "run"};

PtcOutcome *ptc_outcome_new(Ptc *ptc, const PtcLimits *limits)
{
    PtcOutcome *o = ptc->spare;
    if (o)
        ptc->spare = NULL;
    else if (!(o = ptc_mem_alloc(&ptc->mem, sizeof *o)))
        return NULL;
    memset(o, 0, sizeof *o);
    o->ptc = ptc;
    o->limits = *limits;
    ptc_heap_init(&o->heap, &ptc->pool, &ptc->vm.budget, (size_t)limits->memory_bytes);
    o->heap.refs = 0; /* not counted: it is freed with the outcome */
    return o;
}

/* The next run is likely to make as many calls.  New pages for the record would cost a fourth of what 10,000 calls
 * take. */
static void give_back_log(Ptc *ptc, PtcLog *log)
{
    ptc_log_clear(log, &ptc->mem);
    if (log->cap <= ptc->spare_log.cap || log->cap * sizeof *log->items > PTC_MB) {
        ptc_log_deinit(log, &ptc->mem);
        return;
    }
    ptc_log_deinit(&ptc->spare_log, &ptc->mem);
    ptc->spare_log = *log;
}

void ptc_outcome_drop(PtcOutcome *o)
{
    if (!o)
        return;
    Ptc *ptc = o->ptc;
    PtcMem *mem = &ptc->mem;
    ptc_heap_deinit(&o->heap);
    for (int i = 0; i < PTC_KEPT_HEAPS; i++)
        if (o->kept[i])
            ptc_box_release(o->kept[i]);
    ptc_prints_deinit(&o->prints);
    ptc_warnings_deinit(&o->warnings);
    if (o->text.mem)
        ptc_buf_deinit(&o->text);
    if (o->json.mem)
        ptc_buf_deinit(&o->json);
    if (o->payload.mem)
        ptc_buf_deinit(&o->payload);
    if (o->answer.mem)
        ptc_buf_deinit(&o->answer);
    if (o->issues.mem)
        ptc_buf_deinit(&o->issues);
    if (o->lost.mem)
        ptc_buf_deinit(&o->lost);
    give_back_log(ptc, &o->log);
    ptc_toolset_release(o->tools);
    ptc_mem_free(mem, o->old, o->old_count * sizeof *o->old);
    ptc_mem_free(mem, o->errors, o->error_count * sizeof *o->errors);
    if (ptc->spare)
        ptc_mem_free(mem, o, sizeof *o);
    else
        ptc->spare = o;
}

void ptc_outcome_keep(PtcOutcome *o, int which, PtcValue v, PtcHeap *heap)
{
    if (!heap && ptc_is_obj(v))
        heap = ptc_page_of(v)->heap;
    if (heap) {
        ptc_box_retain(heap);
        o->kept[which] = heap;
    }
}

/* -------------------------------------------------------------------------- filling */

static void take_run_calls(PtcOutcome *o, PtcVM *vm)
{
    o->log = vm->log;
    vm->log = (PtcLog){0};
    o->journal = vm->journal.all;
    o->summaries = vm->summaries.all;
}

/* The failing form on one line, cut to fit. */
static void copy_form(char *out, size_t size, const char *source, size_t len, const PtcDiag *d)
{
    out[0] = 0;
    if (d->last > len || d->first >= d->last)
        return;
    size_t n = d->last - d->first;
    n = ptc_utf8_valid_prefix(source + d->first,
                              n < size * 2 ? n : size * 2); /* a program may contain any bytes */
    ptc_diag_format(out, size, "%.*s", PTC_ARG_OF(source + d->first, n));
    for (char *p = out; *p; p++)
        if (*p == '\n' || *p == '\r' || *p == '\t')
            *p = ' ';
}

static void fill_error(PtcOutcomeError *e, const PtcDiag *d, PtcPhase phase, const char *source,
                       size_t len, bool earlier)
{
    e->kind = d->kind;
    e->detail = d->detail;
    e->earlier = earlier && d->first != PTC_NO_PLACE;
    e->phase = phase;
    memcpy(e->message, d->message, sizeof e->message);
    memcpy(e->hint, d->hint, sizeof e->hint);
    e->line = e->column = 0;
    if (d->first != PTC_NO_PLACE)
        ptc_diag_place(source, len, d->first, &e->line, &e->column);
    copy_form(e->form, sizeof e->form, source, len, d);
}

/* (fail v): the message is v. */
static void fail_signal(PtcOutcome *o, PtcDiag *d)
{
    PtcVM *vm = &o->ptc->vm;
    PtcBuf buf;
    ptc_buf_init(&buf, &o->ptc->mem, PTC_MESSAGE_MAX - 4);
    PtcPrinter printer = ptc_vm_printer(vm, !ptc_is_string(vm->result));
    bool whole = ptc_print(&printer, &buf, vm->result);
    const char *text = ptc_buf_text(&buf);
    memset(d, 0, sizeof *d);
    d->kind = PTC_E_FAIL;
    d->first = vm->error.first;
    d->last = vm->error.last;
    ptc_diag_format(d->message, sizeof d->message, "%s%s", text ? text : "", whole ? "" : "...");
    ptc_buf_deinit(&buf);
}

static PtcValue global_before(const PtcSession *s, size_t i)
{
    return i < s->global_cap ? s->globals[i] : PTC_UNBOUND;
}

bool ptc_outcome_note_changes(PtcOutcome *o, const PtcSession *s, const PtcVM *vm)
{
    size_t n = 0;
    o->session = s;
    for (size_t i = 0; i < vm->global_count; i++)
        n += vm->globals[i] != global_before(s, i);
    if (n == 0)
        return true;
    if (!(o->old = ptc_mem_alloc(&o->ptc->mem, n * sizeof *o->old)))
        return false;
    o->old_count = n;
    n = 0;
    for (size_t i = 0; i < vm->global_count; i++)
        if (vm->globals[i] != global_before(s, i))
            o->old[n++] = (PtcOldGlobal){(uint32_t)i, global_before(s, i)};
    return true;
}

/* By index, in which order they are stored. */
static const PtcOldGlobal *find_old(const PtcOutcome *o, uint32_t index)
{
    size_t from = 0, to = o->old_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (o->old[middle].index < index)
            from = middle + 1;
        else
            to = middle;
    }
    return from < o->old_count && o->old[from].index == index ? &o->old[from] : NULL;
}

bool ptc_outcome_changed(PtcOutcome *o, const PtcSession *s, uint32_t index)
{
    const PtcOldGlobal *old = find_old(o, index);
    return old && ptc_session_defines(s, index) &&
           (old->value == PTC_UNBOUND || !ptc_equal(&o->heap, old->value, s->globals[index]));
}

void ptc_outcome_note_lost(PtcOutcome *o, const PtcSession *s, const PtcVM *vm)
{
    ptc_buf_init(&o->lost, &o->ptc->mem, PTC_UNBOUNDED);
    for (size_t i = s ? s->history : 0; i < vm->global_count; i++) {
        if (vm->globals[i] == (s ? global_before(s, i) : PTC_UNBOUND))
            continue;
        ptc_buf_add(&o->lost, vm->names->items[i].text, vm->names->items[i].len);
        ptc_buf_add_char(&o->lost, '\n');
    }
}

static bool is_string_text(PtcValue str, const char *text, size_t len)
{
    return ptc_str_len(str) == len && memcmp(ptc_str_bytes(str), text, len) == 0;
}

bool ptc_outcome_fill(PtcOutcome *o, bool ok, const PtcDiags *diags, PtcPhase phase,
                      const char *source, size_t len)
{
    PtcVM *vm = &o->ptc->vm;
    o->prints = ptc_prints_take(&vm->prints);
    o->warnings = vm->warnings;
    vm->warnings = (PtcWarnings){0};
    take_run_calls(o, vm);
    o->ok = ok;
    o->control = vm->control;
    o->heap.budget = &o->budget;
    /* The run's garbage must not keep the result from being shown. */
    o->heap.limit += (size_t)o->limits.memory_bytes;
    ptc_outcome_refresh(o);
    if (ok) {
        o->value = vm->result;
        return true;
    }
    PtcDiag signal;
    const PtcDiag *list = diags->items;
    size_t n = diags->count;
    bool earlier = false; /* a function of an earlier program failed */
    if (vm->failed || n == 0) {
        list = &vm->error;
        n = 1;
        if (vm->error_source != PTC_NIL) {
            earlier = !is_string_text(vm->error_source, source, len);
            source = ptc_str_bytes(vm->error_source);
            len = ptc_str_len(vm->error_source);
        }
    }
    if (vm->control == PTC_CONTROL_FAIL && !vm->failed) {
        fail_signal(o, &signal);
        list = &signal;
        o->value = vm->result;
    }
    o->errors = ptc_mem_alloc(&o->ptc->mem, n * sizeof *o->errors);
    if (!o->errors)
        return false;
    o->error_count = n;
    for (size_t i = 0; i < n; i++)
        fill_error(&o->errors[i], &list[i], phase, source, len, earlier);
    return true;
}

/* -------------------------------------------------------------------------- reading */

const char *ptc_control_name(PtcControl control)
{
    static const char *const names[] = {NULL, "return", "fail"};
    return names[control];
}

void ptc_outcome_refresh(PtcOutcome *o)
{
    ptc_engine_budget(o->ptc, &o->budget, o->limits.timeout_ms);
}

static PtcPrinter printer_of(PtcOutcome *o)
{
    PtcPrinter printer = ptc_vm_printer(&o->ptc->vm, true);
    printer.heap = &o->heap;
    printer.float_precision = o->ptc->float_precision;
    return printer;
}

bool ptc_outcome_print_value(PtcOutcome *o, PtcBuf *buf, PtcValue v)
{
    PtcPrinter printer = printer_of(o);
    return ptc_print(&printer, buf, v);
}

const char *ptc_outcome_show_text(PtcOutcome *o)
{
    if (!o->text_done) {
        ptc_outcome_refresh(o);
        ptc_buf_init(&o->text, &o->ptc->mem, (size_t)o->limits.result_bytes);
        o->text_cut = !ptc_outcome_print_value(o, &o->text, o->value);
        o->text_done = true;
    }
    return ptc_buf_text(&o->text);
}

/* Says what keeps the result from being JSON. */
static void explain_json_result(PtcOutcome *o, const PtcJsonError *error)
{
    bool root = strcmp(error->path, "<root>") == 0;
    o->json_long = !error->what[0];
    if (error->what[0])
        ptc_diag_format(o->json_why, sizeof o->json_why, "%s%s%s", error->what, root ? "" : " at ",
                        root ? "" : error->path);
    else if (o->json.full)
        snprintf(o->json_why, sizeof o->json_why, "its JSON is longer than %lld bytes",
                 (long long)o->limits.result_bytes);
    else
        snprintf(o->json_why, sizeof o->json_why, "its JSON takes longer than %lld ms to write",
                 (long long)o->limits.timeout_ms);
}

const char *ptc_outcome_show_json(PtcOutcome *o)
{
    if (!o->json_done) {
        PtcJsonError error = {0};
        ptc_outcome_refresh(o);
        ptc_buf_init(&o->json, &o->ptc->mem, (size_t)o->limits.result_bytes);
        o->json_done = true;
        bool written =
            ptc_to_json_value(&o->heap, &o->json, o->value, o->ptc->float_precision, &error);
        o->json_none = !written && !o->json.failed;
        if (o->json_none)
            explain_json_result(o, &error);
        o->json.failed = !written;
    }
    return ptc_buf_text(&o->json);
}

PtcWarning ptc_outcome_warned(const PtcOutcome *o, size_t i)
{
    const PtcWarningItem *w = &o->warnings.items[i];
    return (PtcWarning){.size = sizeof(PtcWarning),
                        .kind = ptc_warning_kind_name(w->kind),
                        .message = w->message,
                        .message_len = strlen(w->message),
                        .hint = w->hint,
                        .hint_len = strlen(w->hint),
                        .line = w->line,
                        .column = w->column,
                        .earlier = w->earlier,
                        .phase = w->checked ? "check" : "run"};
}

bool ptc_outcome_write_warnings(const PtcOutcome *o, PtcBuf *out)
{
    ptc_emit_array(out);
    for (size_t i = 0; i < o->warnings.count; i++) {
        PtcWarning w = ptc_outcome_warned(o, i);
        ptc_emit_object(out);
        ptc_emit_field_cstr(out, "kind", w.kind);
        ptc_emit_field_cstr(out, "phase", w.phase);
        ptc_emit_field_text(out, "message", (PtcText){w.message, w.message_len});
        ptc_emit_field_uint(out, "line", w.line);
        ptc_emit_field_uint(out, "column", w.column);
        ptc_emit_field_text(out, "hint", (PtcText){w.hint, w.hint_len});
        if (w.earlier)
            ptc_emit_field_bool(out, "earlier", true);
        ptc_emit_object_end(out);
    }
    return ptc_emit_array_end(out);
}

const char *ptc_outcome_show_answer(PtcOutcome *o)
{
    if (!o->answer_done) {
        PtcJsonError error = {0};
        ptc_outcome_refresh(o);
        ptc_buf_init(&o->answer, &o->ptc->mem, (size_t)o->limits.result_bytes);
        o->answer_done = true;
        bool written =
            o->value != PTC_NONE && ptc_to_json_answer(&o->heap, &o->answer, o->value,
                                                       o->ptc->float_precision, NULL, &error);
        o->answer_none = !written && !o->answer.failed;
    }
    return o->answer_none ? NULL : ptc_buf_text(&o->answer);
}

PtcError ptc_outcome_finding(const PtcOutcome *o, size_t i)
{
    const PtcOutcomeError *e = &o->errors[i];
    return (PtcError){.size = sizeof(PtcError),
                      .reason = ptc_error_reason(e->kind),
                      .phase = phases[e->phase],
                      .kind = ptc_error_kind_name(e->kind),
                      .message = e->message,
                      .message_len = strlen(e->message),
                      .hint = e->hint,
                      .hint_len = strlen(e->hint),
                      .form = e->form,
                      .form_len = strlen(e->form),
                      .line = e->line,
                      .column = e->column,
                      .earlier = e->earlier};
}

const PtcWrites *ptc_outcome_writes(PtcOutcome *o)
{
    PtcPrinter printer = printer_of(o);
    if (o->log.writes.count) {
        ptc_outcome_refresh(o);
        ptc_writes_settle(&o->log.writes, &o->ptc->mem, &printer);
    }
    return &o->log.writes;
}

PtcToolRecord ptc_outcome_call(PtcOutcome *o, size_t i)
{
    PtcLogEntry *e = &o->log.items[i];
    PtcPrinter printer = printer_of(o);
    ptc_outcome_refresh(o);
    ptc_log_render(&o->log, e, &o->ptc->mem, &printer);
    const PtcToolInfo *tool = &o->tools->items[e->tool].info;
    return (PtcToolRecord){.size = sizeof(PtcToolRecord),
                           .name = tool->name,
                           .name_len = tool->name_len,
                           .arguments = e->text ? e->text : "",
                           .arguments_len = e->args_len,
                           .result = e->text ? e->text + e->args_len + 1 : "",
                           .result_len = e->result_len,
                           .ok = e->ok,
                           .cached = e->cached,
                           .layer = "program",
                           .duration_us = e->took_ns / 1000};
}
