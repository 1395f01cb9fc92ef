/* SPDX-License-Identifier: MIT
 * The record of tool calls, which a host can ask for after the run.  A call that cannot be recorded because the
 * run is out of memory is still made; the log then only counts it. */
#include "lisp/vm/host.h"

#include "base/grow.h"
#include "base/utf8.h"
#include "lisp/vm/vm_int.h"

PtcLogEntry *ptc_log_add(PtcLog *log, PtcMem *mem)
{
    log->total++;
    if (log->count == PTC_LOG_MAX || !PTC_GROW(mem, &log->items, &log->cap, log->count + 1))
        return NULL;
    PtcLogEntry *e = &log->items[log->count++];
    *e = (PtcLogEntry){.args = PTC_NONE, .result = PTC_NONE};
    return e;
}

/* A value's text, cut. */
static void add_log_text(const PtcPrinter *printer, PtcBuf *buf, PtcValue v)
{
    size_t before = buf->len;
    if (v == PTC_NONE)
        return;
    buf->max = before + PTC_LOG_TEXT - 3;
    if (ptc_print(printer, buf, v))
        return;
    buf->full = false;
    if (buf->len > before) /* else there may be no memory at all, and no block */
        buf->len = before + ptc_utf8_valid_prefix(buf->data + before, buf->len - before);
    buf->max = before + PTC_LOG_TEXT;
    ptc_buf_add_cstr(buf, "...");
}

/* An error's message is no value to be quoted. */
static void add_message(PtcBuf *buf, PtcValue str)
{
    size_t n = ptc_str_len(str);
    if (n > PTC_LOG_TEXT)
        n = ptc_utf8_valid_prefix(ptc_str_bytes(str), PTC_LOG_TEXT);
    buf->max = buf->len + PTC_LOG_TEXT;
    ptc_buf_add(buf, ptc_str_bytes(str), n);
}

static void end_log_text(PtcBuf *buf)
{
    buf->max = buf->len + 1;
    ptc_buf_add_char(buf, 0);
}

/* Bytes of its two texts. */
static size_t text_bytes(const PtcLogEntry *e)
{
    return e->text ? (size_t)e->args_len + e->result_len + 2 : 0;
}

void ptc_log_render(PtcLog *log, PtcLogEntry *e, PtcMem *mem, const PtcPrinter *printer)
{
    PtcBuf buf;
    if (e->args == PTC_NONE && e->result == PTC_NONE)
        return;
    ptc_buf_init(&buf, mem, 2 * PTC_LOG_TEXT + 2);
    if (log->bytes < PTC_LOG_BYTES) {
        add_log_text(printer, &buf, e->args);
        e->args_len = (uint32_t)buf.len;
        end_log_text(&buf);
        if (!e->ok && ptc_is_string(e->result))
            add_message(&buf, e->result);
        else
            add_log_text(printer, &buf, e->result);
        e->result_len = (uint32_t)buf.len - e->args_len - 1;
        end_log_text(&buf);
    }
    e->args = e->result = PTC_NONE;
    e->text = buf.len && ptc_buf_ok(&buf) ? ptc_mem_resize(mem, buf.data, buf.cap, buf.len) : NULL;
    if (e->text) {
        log->bytes += buf.len;
        return;
    }
    ptc_buf_deinit(&buf);
    e->args_len = e->result_len = 0;
}

void ptc_log_settle(PtcVM *vm)
{
    PtcPrinter printer = ptc_vm_printer(vm, true);
    PtcStop before = vm->budget.stop; /* what printing lacks for a log is not the program's fault */
    for (; vm->log.settled < vm->log.count; vm->log.settled++)
        ptc_log_render(&vm->log, &vm->log.items[vm->log.settled], vm->mem, &printer);
    ptc_writes_settle(&vm->log.writes, vm->mem, &printer);
    if (vm->budget.stop == PTC_STOP_MEMORY)
        vm->budget.stop = before;
}

void ptc_log_move(PtcLog *to, PtcMem *mem, PtcLog *log, size_t from, size_t n, size_t total)
{
    to->total += total - n;
    if (log->forgot)
        ptc_log_forget(to);
    for (size_t i = from; i < from + n; i++) {
        PtcLogEntry *e = ptc_log_add(to, mem);
        if (!e)
            continue;
        *e = log->items[i];
        to->bytes += text_bytes(e);
        log->items[i].text = NULL;
    }
}

void ptc_log_journaled(PtcLog *log, size_t from)
{
    for (size_t i = from; i < log->count; i++)
        log->items[i].journaled = true;
}

void ptc_log_forget(PtcLog *log)
{
    log->forgot = true;
    for (size_t i = 0; i < log->count; i++)
        log->items[i].journaled = false;
}

void ptc_log_clear(PtcLog *log, PtcMem *mem)
{
    for (size_t i = 0; i < log->count; i++)
        ptc_mem_free(mem, log->items[i].text, text_bytes(&log->items[i]));
    ptc_writes_deinit(&log->writes, mem);
    *log = (PtcLog){.items = log->items, .cap = log->cap};
}

void ptc_log_deinit(PtcLog *log, PtcMem *mem)
{
    ptc_log_clear(log, mem);
    ptc_mem_free(mem, log->items, log->cap * sizeof *log->items);
    *log = (PtcLog){0};
}
