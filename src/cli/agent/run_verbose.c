/* SPDX-License-Identifier: MIT
 * Tells what an agent does.  What always holds: a text is blotted before it is cut, so that no part of a secret is left
 * at its end, and nothing written to a terminal can control it. */
#include "cli/agent/run_verbose.h"

#include "agent/run/agent_run.h"
#include "base/utf8.h"
#include "cli/io.h"
#include "cli/out/shown.h"
#include "engine/outcome.h"
#include "trace/call_log.h"

/* What is shown of a text, of a call, and of a list.  More is read, because [secret] is shorter than most secrets. */
enum {
    VERBOSE_BYTES = 2000,
    VERBOSE_LINES = 24,
    VERBOSE_CALL = 160,
    VERBOSE_ITEMS = 20,
    VERBOSE_READ = 4 * VERBOSE_BYTES,
    VERBOSE_MEMORY = 4 * PTC_MB,
};

/* -------------------------------------------------------------------------------- pieces */

/* The text without secrets, of at most this many bytes, good until the next one. */
static PtcText clean_verbose_text(PtcRunVerbose *v, PtcText text, size_t most)
{
    if (text.len > VERBOSE_READ)
        text.len = ptc_utf8_valid_prefix(text.bytes, VERBOSE_READ);
    ptc_buf_clear(&v->clean);
    ptc_secrets_blot(v->secrets, &v->clean, text, false);
    text = ptc_buf_ok(&v->clean) ? ptc_buf_view(&v->clean) : PTC_TEXT("");
    if (text.len > most)
        text.len = ptc_utf8_valid_prefix(text.bytes, most);
    return text;
}

/* Bytes up to the end of the line numbered `lines`. */
static size_t verbose_lines_end(PtcText text, size_t lines)
{
    for (size_t at = 0; at < text.len; at++)
        if (text.bytes[at] == '\n' && --lines == 0)
            return at;
    return text.len;
}

/* Starts a line: who, and in which turn. */
static void begin_verbose(PtcRunVerbose *v, const PtcProgress *p)
{
    ptc_buf_clear(&v->line);
    ptc_buf_add_cstr(&v->line, "-- ");
    if (p->agent.len)
        ptc_buf_addf(&v->line, "%.*s, ", PTC_ARG(ptc_text_cut(p->agent, 60)));
    ptc_buf_addf(&v->line, "turn %lld: ", (long long)p->turn);
}

static void end_verbose(PtcRunVerbose *v)
{
    if (ptc_buf_ok(&v->line))
        (void)!ptc_shown_write_line(PTC_IO_STDERR, v->line.data, v->line.len);
}

/* A text on the line that was begun. */
static void add_verbose_text(PtcRunVerbose *v, PtcText text, size_t most)
{
    PtcText kept = clean_verbose_text(v, text, most);
    for (size_t i = 0; i < kept.len; i++)
        ptc_buf_add_char(&v->line, kept.bytes[i] == '\n' ? ' ' : kept.bytes[i]);
    if (kept.len < text.len && kept.len >= most)
        ptc_buf_add_cstr(&v->line, "...");
}

/* A text on lines of its own, below what it is; `whole`: the bytes that there were of it. */
static void tell_block(PtcRunVerbose *v, const PtcProgress *p, const char *what, PtcText text,
                       size_t whole)
{
    PtcText kept = clean_verbose_text(v, text, VERBOSE_BYTES);
    size_t end = verbose_lines_end(kept, VERBOSE_LINES);
    bool cut = end < kept.len || text.len > VERBOSE_READ || kept.len < v->clean.len;
    begin_verbose(v, p);
    ptc_buf_addf(&v->line, "%s\n", what);
    ptc_buf_add(&v->line, kept.bytes, end);
    if (cut)
        ptc_buf_addf(&v->line, "\n... (%zu bytes in all)", whole);
    end_verbose(v);
}

static void tell_words(PtcRunVerbose *v, const PtcProgress *p, const char *what, PtcText text)
{
    begin_verbose(v, p);
    ptc_buf_add_cstr(&v->line, what);
    add_verbose_text(v, text, VERBOSE_BYTES);
    end_verbose(v);
}

/* --------------------------------------------------------------------------------- calls */

/* call server/tool arguments => result */
static void tell_call(PtcRunVerbose *v, const PtcProgress *p, PtcText server, PtcText name,
                      PtcText args, bool ok, PtcText result)
{
    begin_verbose(v, p);
    ptc_buf_add_cstr(&v->line, "call ");
    if (server.len)
        ptc_buf_addf(&v->line, "%.*s/", PTC_ARG(ptc_text_cut(server, 64)));
    ptc_buf_addf(&v->line, "%.*s ", PTC_ARG(ptc_text_cut(name, 64)));
    add_verbose_text(v, args, VERBOSE_CALL);
    ptc_buf_add_cstr(&v->line, ok ? " => " : " !! ");
    add_verbose_text(v, result, VERBOSE_CALL);
    end_verbose(v);
}

static void tell_more_calls(PtcRunVerbose *v, const PtcProgress *p, size_t count)
{
    if (count <= VERBOSE_ITEMS)
        return;
    begin_verbose(v, p);
    ptc_buf_addf(&v->line, "... %zu calls in all", count);
    end_verbose(v);
}

static void tell_program_calls(PtcRunVerbose *v, const PtcProgress *p)
{
    size_t count = p->outcome ? p->outcome->log.count : 0;
    for (size_t i = 0; i < count && i < VERBOSE_ITEMS; i++) {
        PtcToolRecord r = ptc_outcome_call(p->outcome, i);
        tell_call(v, p, (PtcText){NULL, 0}, (PtcText){r.name, r.name_len},
                  (PtcText){r.arguments, r.arguments_len}, r.ok, (PtcText){r.result, r.result_len});
    }
    tell_more_calls(v, p, count);
}

static void tell_upstream_calls(PtcRunVerbose *v, const PtcProgress *p)
{
    PtcCallLog log;
    if (p->upstream_calls.len == 0)
        return;
    ptc_call_log_open(&log, &v->mem, p->upstream_calls);
    for (size_t i = 0; i < log.count && i < VERBOSE_ITEMS; i++) {
        bool ok = ptc_call_log_reason(&log, i).len == 0;
        PtcText said = ptc_call_log_text(&log, i, ok ? "result" : "error");
        tell_call(v, p, ptc_call_log_text(&log, i, "server"), ptc_call_log_text(&log, i, "tool"),
                  ptc_call_log_text(&log, i, "arguments"), ok,
                  said.bytes || ok ? said : ptc_call_log_reason(&log, i));
    }
    tell_more_calls(v, p, log.count);
    ptc_call_log_close(&log);
}

static void tell_native_calls(PtcRunVerbose *v, const PtcProgress *p)
{
    for (size_t i = 0; i < p->call_count && i < VERBOSE_ITEMS; i++) {
        const PtcToolInfo *info = &p->what->def->tools->items[p->orders[i].tool].info;
        tell_call(v, p, (PtcText){NULL, 0}, (PtcText){info->name, info->name_len},
                  p->orders[i].args, p->results[i].ok, p->results[i].content);
    }
    tell_more_calls(v, p, p->call_count);
}

/* -------------------------------------------------------------------------------- events */

/* All that a program printed, as one text. */
static void tell_prints(PtcRunVerbose *v, const PtcProgress *p)
{
    PtcBuf all;
    size_t len, whole = 0, count = p->outcome ? ptc_outcome_print_count(p->outcome) : 0;
    ptc_buf_init(&all, &v->mem, VERBOSE_READ + 1);
    for (size_t i = 0; i < count; i++) {
        const char *text = ptc_outcome_print(p->outcome, i, &len);
        size_t room = all.max - all.len;
        whole += len + (i > 0);
        if (i > 0)
            ptc_buf_add_char(&all, '\n');
        ptc_buf_add(&all, text, len < room ? len : ptc_utf8_valid_prefix(text, room));
    }
    if (count && !all.failed)
        tell_block(v, p, "printed", ptc_buf_view(&all), whole);
    ptc_buf_deinit(&all);
}

static void tell_ended_turn(PtcRunVerbose *v, const PtcProgress *p)
{
    const PtcTurn *t = p->ended;
    begin_verbose(v, p);
    if (t->ok) {
        ptc_buf_add_cstr(&v->line, "=> ");
        add_verbose_text(v, t->value.bytes ? t->value : PTC_TEXT("null"), VERBOSE_BYTES);
    } else {
        ptc_buf_addf(&v->line, "!! %s: ", ptc_turn_word(t));
        add_verbose_text(v, t->message, VERBOSE_BYTES);
    }
    end_verbose(v);
}

void ptc_run_verbose_tell(PtcRunVerbose *v, const PtcProgress *p)
{
    if (!v->on)
        return;
    switch (p->kind) {
    case PTC_PROGRESS_ASKED:
        tell_words(v, p, "asking ", ptc_text_cstr(p->what->model ? p->what->model->name : ""));
        break;
    case PTC_PROGRESS_ANSWERED:
        if (p->reply->status != PTC_LLM_OK)
            tell_words(v, p, "no reply: ", p->reply->error);
        break;
    case PTC_PROGRESS_PROGRAM_BEGAN: tell_block(v, p, "program", p->program, p->program.len); break;
    case PTC_PROGRESS_PROGRAM_ENDED:
        tell_program_calls(v, p);
        tell_upstream_calls(v, p);
        tell_prints(v, p);
        break;
    case PTC_PROGRESS_CALLED: tell_native_calls(v, p); break;
    case PTC_PROGRESS_TURN_ENDED: tell_ended_turn(v, p); break;
    case PTC_PROGRESS_CALLING:
    case PTC_PROGRESS_RUN_BEGAN:
    case PTC_PROGRESS_RUN_ENDED: break;
    }
}

/* --------------------------------------------------------------------- beginning and end */

void ptc_run_verbose_begin(PtcRunVerbose *v, bool on, const PtcSecrets *secrets)
{
    *v = (PtcRunVerbose){.on = on, .secrets = secrets};
    ptc_mem_init(&v->mem, VERBOSE_MEMORY);
    ptc_buf_init(&v->clean, &v->mem, PTC_UNBOUNDED);
    ptc_buf_init(&v->line, &v->mem, PTC_UNBOUNDED);
}

void ptc_run_verbose_end(PtcRunVerbose *v)
{
    ptc_buf_deinit(&v->clean);
    ptc_buf_deinit(&v->line);
    v->on = false;
}
