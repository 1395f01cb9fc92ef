/* SPDX-License-Identifier: MIT
 * A program for each row.  What always holds: rows come in batches, one run for each, so that a program is compiled
 * once for thousands of rows; when a batch fails its rows are run one by one, so that the message names the row, and
 * everything before it has been done. */
#include "cli/cmd/each.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/io.h"
#include "cli/out/report.h"
#include "cli/out/rows_out.h"
#include "cli/out/shown.h"
#include "data/row_stream.h"
#include "engine/engine.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/copy.h"
#include "value/str.h"

/* Names that --data cannot give. */
#define EACH_ROWS "each-rows*"
#define EACH_STATE "each-state*"

enum { EACH_PROGRESS_MS = 200, LINES_BEFORE = 1 };

typedef struct {
    const PtcEach *each;
    PtcRowStream stream;
    PtcBuf program;
    PtcHeapBox *box; /* of the state; or NULL */
    PtcValue state;
    PtcRowsOut *table; /* of results, in formats with columns */
    size_t rows;       /* done */
    size_t before;     /* of them, those of earlier files */
    bool watched;      /* somebody sees how far it is */
    bool warned;
    int64_t shown_ms;
    PtcWhy why;
} Each;

/* --------------------------------------------------------------------------------- progress */

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / PTC_MS;
}

static void show_progress(Each *e, bool last)
{
    char line[80];
    const PtcDataSource *s = &e->stream.source;
    if (!e->watched || (!last && now_ms() - e->shown_ms < EACH_PROGRESS_MS))
        return;
    e->shown_ms = now_ms();
    int n =
        last ? snprintf(line, sizeof line, "\r\033[K")
        : s->size
            ? snprintf(line, sizeof line, "\r%zu row%s, %d%%\033[K", e->rows,
                       e->rows == 1 ? "" : "s", (int)((double)s->taken * 100 / (double)s->size))
            : snprintf(line, sizeof line, "\r%zu row%s\033[K", e->rows, e->rows == 1 ? "" : "s");
    (void)!ptc_io_write(PTC_IO_STDERR, line, (size_t)n);
}

/* ------------------------------------------------------------------------------------- runs */

/* The program as a function of a row.  It begins on a line of its own, so that columns are right. */
static bool wrap_row_program(Each *e)
{
    bool state = e->each->init != NULL;
    ptc_buf_init(&e->program, e->each->mem, PTC_IO_MAX);
    ptc_buf_add_cstr(&e->program, state ? "(reduce (fn [state row]\n" : "(vec (keep (fn [row]\n");
    ptc_buf_add(&e->program, e->each->program.bytes, e->each->program.len);
    return ptc_buf_add_cstr(&e->program, state ? "\n) data/" EACH_STATE " data/" EACH_ROWS ")"
                                               : "\n) data/" EACH_ROWS "))");
}

static bool put_context_entry(PtcDictBuild *build, PtcHeap *heap, const char *name, PtcValue v)
{
    PtcValue key = ptc_str_new(heap, name, strlen(name));
    return key != PTC_NONE && ptc_dict_build_put(build, key, v);
}

/* The context of a run: what every row sees, the rows, the state. */
static PtcValue make_row_context(const Each *e, PtcHeap *heap, PtcValue rows)
{
    PtcDictBuild build;
    PtcValue key, value, given = e->each->run->context;
    if (!ptc_dict_build_init(&build, heap, false))
        return PTC_NONE;
    bool ok = put_context_entry(&build, heap, EACH_ROWS, rows) &&
              put_context_entry(&build, heap, EACH_STATE, e->state);
    for (size_t pos = 0;
         ok && given && ptc_is_map(given) && ptc_map_next(given, &pos, &key, &value);)
        ok = ptc_dict_build_put(&build, key, value);
    if (ok)
        return ptc_dict_build_done(&build);
    ptc_dict_build_cancel(&build);
    return PTC_NONE;
}

static PtcOutcome *run_over_rows(const Each *e, PtcText program, PtcHeap *heap, PtcValue rows)
{
    PtcRunMore more = {.bare_data = true, .unchecked = true}; /* an error tells its row */
    PtcRun r = *e->each->run;
    PtcOutcome *o = NULL;
    r.program = program.bytes;
    r.program_len = program.len;
    r.context = make_row_context(e, heap, rows);
    if (r.context == PTC_NONE || ptc_engine_run_more(e->each->ptc, &r, &more, &o) != PTC_OK)
        return NULL;
    return o;
}

static int report_no_row_memory(void)
{
    ptc_io_printf(PTC_IO_STDERR, "error: out of memory\n");
    return PTC_EXIT_FAILED;
}

/* What was printed, the warnings of the first batch, and errors. */
static void remark(Each *e, const PtcOutcome *o, PtcText program, uint32_t lines_before)
{
    PtcReported about = {e->each->name, program, lines_before};
    unsigned which = PTC_REMARK_PRINTS | PTC_REMARK_ERRORS;
    if (!e->warned)
        which |= PTC_REMARK_WARNINGS;
    e->warned = true;
    if (ptc_outcome_print_count(o) || ptc_outcome_warning_count(o) || !ptc_outcome_ok(o))
        show_progress(e, true);
    (void)!ptc_report_remarks(e->each->mem, o, &about, which);
}

/* Keeps the state beyond the run that made it. */
static bool keep_row_state(Each *e, PtcValue v)
{
    PtcCopy copy;
    PtcHeapBox *box = ptc_box_new(e->each->ptc, (size_t)e->each->ptc->limits.memory_bytes);
    if (!box)
        return false;
    ptc_copy_init(&copy, &box->heap);
    PtcValue kept = ptc_copy_value(&copy, v);
    ptc_copy_deinit(&copy);
    if (kept == PTC_NONE) {
        ptc_box_release(&box->heap);
        return false;
    }
    if (e->box)
        ptc_box_release(&e->box->heap);
    e->box = box;
    e->state = kept;
    return true;
}

/* What a run over rows gave: the next state, or lines. */
static int take_row_outcome(Each *e, PtcOutcome *o)
{
    if (e->each->init)
        return keep_row_state(e, o->value) ? PTC_EXIT_OK : report_no_row_memory();
    show_progress(e, e->watched && ptc_shown_on(PTC_IO_STDOUT));
    if (!ptc_seq_count(o->value))
        return PTC_EXIT_OK;
    return e->each->out.format == PTC_FORMAT_JSONL ? ptc_data_out_write(&e->each->out, o)
                                                   : ptc_data_out_more(&e->each->out, &e->table, o);
}

/* ---------------------------------------------------------------------------------- batches */

static int run_one_row(Each *e, PtcHeap *heap, PtcValue row)
{
    PtcText program = ptc_buf_view(&e->program);
    PtcValue rows = ptc_vec_new(heap, &row, 1, 0);
    PtcOutcome *o = rows == PTC_NONE ? NULL : run_over_rows(e, program, heap, rows);
    if (!o)
        return report_no_row_memory();
    bool ok = ptc_outcome_ok(o);
    remark(e, o, program, LINES_BEFORE);
    int status = ok ? take_row_outcome(e, o) : PTC_EXIT_FAILED;
    if (!ok)
        ptc_io_printf(PTC_IO_STDERR, "note: this is row %zu of %s\n", e->rows - e->before + 1,
                      e->stream.name);
    e->rows += ok;
    ptc_outcome_free(o);
    return status;
}

static int run_singly(Each *e, PtcHeap *heap, PtcValue rows)
{
    int status = PTC_EXIT_OK;
    for (size_t i = 0; status == PTC_EXIT_OK && i < ptc_seq_count(rows); i++)
        status = run_one_row(e, heap, ptc_seq_nth(rows, i));
    return status;
}

/* A program that is wrong before any row.  One that cannot be read is read again by itself, because what is around it
 * would be blamed. */
static int report_program(Each *e, PtcHeap *heap, PtcOutcome *o)
{
    bool alone = o->errors[0].phase == PTC_PHASE_PARSE;
    PtcOutcome *again = alone ? run_over_rows(e, e->each->program, heap, PTC_NIL) : NULL;
    if (again && !ptc_outcome_ok(again))
        remark(e, again, e->each->program, 0);
    else
        remark(e, o, ptc_buf_view(&e->program), LINES_BEFORE);
    ptc_outcome_free(again);
    return PTC_EXIT_FAILED;
}

static int run_failed(Each *e, PtcHeap *heap, PtcOutcome *o, PtcValue rows)
{
    if (o->error_count && o->errors[0].phase != PTC_PHASE_RUN)
        return report_program(e, heap, o);
    return run_singly(e, heap, rows);
}

static int run_row_batch(Each *e, PtcHeap *heap, PtcValue rows)
{
    PtcText program = ptc_buf_view(&e->program);
    PtcOutcome *o = run_over_rows(e, program, heap, rows);
    if (!o)
        return report_no_row_memory();
    if (!ptc_outcome_ok(o)) {
        int failed = run_failed(e, heap, o, rows);
        ptc_outcome_free(o);
        return failed;
    }
    remark(e, o, program, LINES_BEFORE);
    int status = take_row_outcome(e, o);
    ptc_outcome_free(o);
    e->rows += ptc_seq_count(rows);
    show_progress(e, false);
    return status;
}

/* Every batch has a heap of its own; *more becomes false at the end of the file. */
static int next_batch(Each *e, bool *more)
{
    PtcHeapBox *box = ptc_box_new(e->each->ptc, (size_t)e->each->context_bytes);
    if (!box)
        return report_no_row_memory();
    int status = PTC_EXIT_OK;
    PtcValue rows = ptc_row_stream_next(&e->stream, &box->heap, NULL);
    *more = rows != PTC_NIL && rows != PTC_NONE;
    if (rows == PTC_NONE) {
        show_progress(e, true);
        ptc_data_in_advise(&e->stream.form, &e->why);
        ptc_io_printf(PTC_IO_STDERR, "error: %s\n", e->why.text);
        status = PTC_EXIT_FAILED;
    } else if (*more && ptc_seq_count(rows) > 0) {
        status = run_row_batch(e, &box->heap, rows);
    }
    ptc_box_release(&box->heap);
    return status;
}

static int begin_row_state(Each *e)
{
    PtcText init = ptc_text_cstr(e->each->init);
    if (!init.bytes)
        return PTC_EXIT_OK;
    PtcHeapBox *box = ptc_box_new(e->each->ptc, (size_t)e->each->context_bytes);
    PtcOutcome *o = box ? run_over_rows(e, init, &box->heap, PTC_NIL) : NULL;
    int status = o && ptc_outcome_ok(o) ? PTC_EXIT_OK : PTC_EXIT_FAILED;
    if (o && status != PTC_EXIT_OK) {
        remark(e, o, init, 0);
        ptc_io_printf(PTC_IO_STDERR, "note: this is the program of --init\n");
    } else if (!o || !keep_row_state(e, o->value)) {
        status = report_no_row_memory();
    }
    ptc_outcome_free(o);
    if (box)
        ptc_box_release(&box->heap);
    return status;
}

/* A run that does nothing but give the state, since outcomes are what is printed. */
static int finish_row_state(Each *e, PtcOutcome **last)
{
    if (!e->each->init)
        return PTC_EXIT_OK;
    *last = run_over_rows(e, PTC_TEXT("data/" EACH_STATE), &e->box->heap, PTC_NIL);
    return *last ? PTC_EXIT_OK : report_no_row_memory();
}

static int run_over_file(Each *e, const char *path)
{
    const PtcEach *each = e->each;
    bool more = true;
    int status = PTC_EXIT_OK;
    PtcDataForm form = ptc_data_in_form(each->in, path, false);
    form.file = each->input_count > 1 ? path : NULL;
    e->before = e->rows;
    if (!ptc_row_stream_open(&e->stream, each->mem, path, &form, &e->why)) {
        ptc_data_in_advise(&e->stream.form, &e->why);
        ptc_io_printf(PTC_IO_STDERR, "ptc: %s\n", e->why.text);
        return PTC_EXIT_USAGE;
    }
    ptc_data_in_say(path, &e->stream.form);
    while (status == PTC_EXIT_OK && more)
        status = next_batch(e, &more);
    show_progress(e, true);
    ptc_data_in_say_bad(path, &e->stream.form);
    ptc_row_stream_close(&e->stream);
    return status;
}

int ptc_each(const PtcEach *each, PtcOutcome **last)
{
    Each e = {.each = each, .state = PTC_NIL};
    e.watched = isatty(PTC_IO_STDERR) == 1 && (each->init || !ptc_shown_on(PTC_IO_STDOUT));
    int status = wrap_row_program(&e) ? begin_row_state(&e) : report_no_row_memory();
    for (int i = 0; status == PTC_EXIT_OK && i < each->input_count; i++)
        status = run_over_file(&e, each->inputs[i]);
    if (status == PTC_EXIT_OK)
        status = finish_row_state(&e, last);
    if (e.box)
        ptc_box_release(&e.box->heap);
    ptc_rows_out_free(e.table);
    ptc_buf_deinit(&e.program);
    return status;
}
