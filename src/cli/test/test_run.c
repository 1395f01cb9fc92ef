/* SPDX-License-Identifier: MIT
 * Runs cases.  What always holds: a case is compared as the lines that it should have printed, so a difference shows
 * what to write; in torture mode every run must end in the normal way, or cleanly out of memory. */
#define _GNU_SOURCE /* memmem */
#include "cli/test/test_run.h"

#include <stdio.h>

#include "cli/test/test_agent.h"
#include "engine/outcome.h"

enum { TORTURE_RUNS = 20000 }; /* at most, per case */
enum { TORTURE_CALM = 64 }; /* this many runs in a row without any effect of the failure end it */
/* Time limits of cases that have none and are not about time: a busy machine fails none of them.  The second is for
 * slow modes. */
enum { TEST_PATIENCE_MS = 20000, SLOW_PATIENCE_MS = 600000 };

/* One run of a case. */
typedef struct {
    PtcStatus status;
    PtcData *data;
    PtcOutcome *outcome;
    char problem[240];         /* why there was no run, empty when there was */
    const PtcTestAgent *agent; /* that ran before; or NULL */
} TestRun;

/* ------------------------------------------------------------------ engine */

static Ptc *new_test_engine(const PtcTestRunner *runner, const PtcTestCase *c,
                            int64_t fail_allocation)
{
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    options.gc_stress = runner->gc_stress;
    options.fail_allocation = fail_allocation;
    if (c)
        options.float_precision = c->float_precision;
    return ptc_new(&options);
}

bool ptc_test_runner_start(PtcTestRunner *runner)
{
    runner->session_count = 0;
    runner->ptc = new_test_engine(runner, NULL, PTC_UNSET);
    return runner->ptc != NULL;
}

void ptc_test_runner_stop(PtcTestRunner *runner)
{
    for (size_t i = 0; i < runner->session_count; i++)
        ptc_session_free(runner->sessions[i].session);
    runner->session_count = 0;
    ptc_free(runner->ptc);
    runner->ptc = NULL;
}

/* The session that a case names; NULL: none, or too many. */
static PtcSession *find_test_session(PtcTestRunner *runner, PtcText name)
{
    size_t n = runner->session_count;
    if (name.len == 0)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (runner->sessions[i].name.len == name.len &&
            !memcmp(runner->sessions[i].name.bytes, name.bytes, name.len))
            return runner->sessions[i].session;
    if (n == PTC_TEST_SESSIONS || !(runner->sessions[n].session = ptc_session_new(runner->ptc)))
        return NULL;
    runner->sessions[n].name = name;
    return runner->sessions[runner->session_count++].session;
}

/* ----------------------------------------------------------------- running */

static bool load_case_context(Ptc *ptc, const PtcTestCase *c, TestRun *run, PtcValue *context)
{
    if (c->context.len == 0)
        return true;
    run->data = ptc_data_new(ptc, c->limits.context_bytes);
    if (!run->data) {
        run->status = PTC_NO_MEMORY;
        return false;
    }
    *context = ptc_make_json(run->data, c->context.bytes, c->context.len, run->problem,
                             sizeof run->problem);
    return *context != 0;
}

static bool expects_no_time_left(const PtcTestCase *c)
{
    return memmem(c->expect.bytes, c->expect.len, "!! timeout", 10) ||
           memmem(c->expect.bytes, c->expect.len, "!! deadline", 11);
}

static void give_patience(PtcLimits *limits, int64_t ms)
{
    if (limits->timeout_ms == PTC_UNSET)
        limits->timeout_ms = ms;
    if (limits->deadline_ms == PTC_UNSET)
        limits->deadline_ms = ms;
}

static void start_case_run(Ptc *ptc, const PtcTestCase *c, bool slow, PtcSession *session,
                           TestRun *run)
{
    PtcLimits limits = c->limits;
    PtcRun given;
    memset(run, 0, sizeof *run);
    if (slow || !expects_no_time_left(c))
        give_patience(&limits, slow ? SLOW_PATIENCE_MS : TEST_PATIENCE_MS);
    ptc_run_init(&given, sizeof given);
    given.program = c->program.bytes;
    given.program_len = c->program.len;
    given.limits = &limits;
    given.session = session;
    if (load_case_context(ptc, c, run, &given.context))
        run->status = ptc_eval(ptc, &given, &run->outcome);
}

static void run_end(TestRun *run)
{
    ptc_outcome_free(run->outcome);
    ptc_data_free(run->data);
}

/* --------------------------------------------------------------- rendering */

/* Text of one line: line feeds are shown as \n. */
static void add_inline(PtcBuf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\n')
            ptc_buf_add(out, "\\n", 2);
        else
            ptc_buf_add_char(out, text[i]);
}

static void add_line_start(PtcBuf *out, const char *mark)
{
    if (out->len > 0)
        ptc_buf_add_char(out, '\n');
    ptc_buf_add_cstr(out, mark);
}

/* A printed text may have several lines. */
static void render_prints(PtcBuf *out, PtcOutcome *outcome)
{
    for (size_t i = 0; i < ptc_outcome_print_count(outcome); i++) {
        size_t len;
        const char *text = ptc_outcome_print(outcome, i, &len), *end = text + len;
        for (const char *lf = text; lf; text = lf + 1) {
            lf = text < end ? memchr(text, '\n', (size_t)(end - text)) : NULL;
            size_t n = (size_t)((lf ? lf : end) - text);
            add_line_start(out, n ? "out> " : "out>");
            ptc_buf_add(out, text, n);
            if (!lf)
                break;
        }
    }
}

/* warn> kind 1:5 "message" (hint) */
static void render_warnings(PtcBuf *out, const PtcOutcome *outcome)
{
    PtcWarning w = {.size = sizeof w};
    for (size_t i = 0; ptc_outcome_warning(outcome, i, &w); i++) {
        add_line_start(out, "warn> ");
        ptc_buf_addf(out, "%s %u:%u \"", w.kind, (unsigned)w.line, (unsigned)w.column);
        add_inline(out, w.message, w.message_len);
        ptc_buf_add_cstr(out, "\" (");
        add_inline(out, w.hint, w.hint_len);
        ptc_buf_add_char(out, ')');
    }
    if (ptc_outcome_warning_count(outcome) == 0)
        add_line_start(out, "warn> none");
}

/* call> tool {arguments} */
static void render_calls(PtcBuf *out, const PtcTestAgent *agent)
{
    add_line_start(out, agent->lines.len ? "" : "call> none");
    ptc_buf_add(out, agent->lines.data, agent->lines.len);
}

/* Why an agent gave no answer. */
static void render_agent_failure(PtcBuf *out, const PtcTestAgent *agent, uint8_t show)
{
    add_line_start(out, "!! ");
    ptc_buf_add_cstr(out, agent->reason);
    if (!(show & PTC_SHOW_MESSAGE))
        return;
    ptc_buf_add_cstr(out, " \"");
    add_inline(out, agent->message, strlen(agent->message));
    ptc_buf_add_char(out, '"');
}

static void render_result(PtcBuf *out, PtcOutcome *outcome, bool as_text, bool as_json)
{
    size_t len;
    if (as_text) {
        const char *text = ptc_outcome_text(outcome, &len, NULL);
        add_line_start(out, "=> ");
        add_inline(out, text ? text : "(no text)", text ? len : 9);
    }
    if (as_json) {
        const char *json = ptc_outcome_json(outcome, &len);
        add_line_start(out, "json> ");
        add_inline(out, json ? json : "(no JSON)", json ? len : 9);
    }
}

static void render_errors(PtcBuf *out, PtcOutcome *outcome, const PtcTestCase *c)
{
    PtcError error = {.size = sizeof error};
    for (size_t i = 0; ptc_outcome_error(outcome, i, &error); i++) {
        uint8_t show = c && i < c->error_count ? c->show[i] : PTC_SHOW_ALL;
        add_line_start(out, "!! ");
        ptc_buf_add_cstr(out, error.kind);
        if ((show & PTC_SHOW_PLACE) && error.line)
            ptc_buf_addf(out, " %u:%u", (unsigned)error.line, (unsigned)error.column);
        if (show & PTC_SHOW_MESSAGE) {
            ptc_buf_add_cstr(out, " \"");
            add_inline(out, error.message, error.message_len);
            ptc_buf_add_char(out, '"');
        }
        if ((show & PTC_SHOW_HINT) && error.hint_len) {
            add_line_start(out, "hint> ");
            add_inline(out, error.hint, error.hint_len);
        }
    }
}

/* In the detail that the case has, or in full (with text and JSON as the case has them). */
static void render(PtcBuf *out, const TestRun *run, const PtcTestCase *c, bool full)
{
    ptc_buf_clear(out);
    if (run->problem[0]) {
        ptc_buf_addf(out, "!! args_error \"%s\"", run->problem);
        return;
    }
    if (run->status != PTC_OK) {
        ptc_buf_addf(out, "(ptc_eval: status %d)", (int)run->status);
        return;
    }
    if (!c->ignore_prints)
        render_prints(out, run->outcome);
    if (c->wants_warnings)
        render_warnings(out, run->outcome);
    if (c->wants_calls)
        render_calls(out, run->agent);
    if (ptc_outcome_ok(run->outcome))
        render_result(out, run->outcome, c->wants_text || !c->wants_json, c->wants_json);
    else
        render_errors(out, run->outcome, full ? NULL : c);
}

/* ----------------------------------------------------------------- torture */

/* How a run ended. */
typedef struct {
    PtcBuf lines;      /* in full */
    char failure[80];  /* kind and place of the first finding, empty for a result */
    bool no_memory;    /* it ran out of memory and said so */
    bool timed;        /* time was up, which does not happen at the same place every time */
    bool kept_session; /* a failed run must leave nothing in the session */
} CaseResult;

static void note_failure(const TestRun *run, CaseResult *result)
{
    result->failure[0] = 0;
    result->timed = false;
    result->no_memory = run->status == PTC_NO_MEMORY;
    if (!run->outcome || !run->outcome->error_count)
        return;
    const PtcOutcomeError *error = &run->outcome->errors[0];
    result->no_memory = error->kind == PTC_E_MEMORY;
    snprintf(result->failure, sizeof result->failure, "%s %u:%u", ptc_error_kind_name(error->kind),
             (unsigned)error->line, (unsigned)error->column);
    result->timed = error->kind == PTC_E_TIMEOUT || error->kind == PTC_E_DEADLINE;
}

/* One run with a failing allocation (PTC_UNSET: none) in an engine of its own, with a session so that committing is
 * tested too.  False: no engine. */
static bool torture_once(const PtcTestRunner *runner, const PtcTestCase *c, int64_t nth,
                         CaseResult *result)
{
    TestRun run;
    Ptc *ptc = new_test_engine(runner, c, nth);
    PtcSession *session = ptc ? ptc_session_new(ptc) : NULL;
    if (session) {
        start_case_run(ptc, c, true, session, &run);
        render(&result->lines, &run, c, true);
        note_failure(&run, result);
        bool failed = !run.outcome || !ptc_outcome_ok(run.outcome);
        result->kept_session = !failed || ptc_session_count(session) == 0;
        run_end(&run);
    }
    ptc_session_free(session);
    ptc_free(ptc);
    return session != NULL;
}

/* May a run end like this if it would normally have ended like `normal`?  A program that fails anyway may say less
 * about it (the value in question, later findings). */
static bool acceptable(const CaseResult *result, const CaseResult *normal)
{
    return result->kept_session &&
           (result->no_memory || (normal->failure[0] && !strcmp(result->failure, normal->failure)));
}

/* Did it end as if no allocation had failed? */
static bool same_end(const CaseResult *a, const CaseResult *b)
{
    return (a->timed && b->timed) ||
           (a->lines.len == b->lines.len &&
            (a->lines.len == 0 || !memcmp(a->lines.data, b->lines.data, a->lines.len)));
}

/* A collection may make up for a failed allocation, so a single run without effect is not the end. */
static bool torture(const PtcTestRunner *runner, const PtcTestCase *given, PtcBuf *got)
{
    PtcTestCase plain = *given, *c = &plain;
    CaseResult normal = {0}, result = {0};
    plain.wants_warnings = false; /* a warning that runs out of memory is skipped */
    bool ok = true;
    int calm = 0;
    if (c->session.len || c->agent.len || c->policy == PTC_TEST_BUG)
        return true;
    ptc_buf_init(&normal.lines, got->mem, got->max);
    ptc_buf_init(&result.lines, got->mem, got->max);
    if (!torture_once(runner, c, PTC_UNSET, &normal))
        calm = TORTURE_CALM;
    for (int64_t n = 1; ok && n <= TORTURE_RUNS && calm < TORTURE_CALM; n++) {
        if (!torture_once(runner, c, n, &result))
            continue;
        calm = same_end(&result, &normal) ? calm + 1 : 0;
        ok = result.kept_session && (calm || acceptable(&result, &normal));
        if (!ok) {
            ptc_buf_clear(got);
            ptc_buf_add(got, result.lines.data, result.lines.len);
            ptc_buf_addf(got, "\n(with allocation %lld failing)", (long long)n);
        }
    }
    ptc_buf_deinit(&normal.lines);
    ptc_buf_deinit(&result.lines);
    return ok;
}

/* -------------------------------------------------------------- whole cases */

static void run_and_render(PtcTestRunner *runner, const PtcTestCase *c, PtcBuf *got, PtcBuf *full,
                           const PtcTestAgent *agent)
{
    TestRun run;
    bool own = c->float_precision != PTC_UNSET;
    Ptc *ptc = own ? new_test_engine(runner, c, PTC_UNSET) : runner->ptc;
    start_case_run(ptc, c, runner->gc_stress, own ? NULL : find_test_session(runner, c->session),
                   &run);
    run.agent = agent;
    render(got, &run, c, false);
    if (full)
        render(full, &run, c, true);
    run_end(&run);
    if (own)
        ptc_free(ptc);
}

/* An agent that gave no answer to a case without a program. */
static void render_failed_agent(const PtcTestCase *c, PtcBuf *out, const PtcTestAgent *agent,
                                bool full)
{
    ptc_buf_clear(out);
    if (c->wants_calls)
        render_calls(out, agent);
    render_agent_failure(out, agent, full || !c->error_count ? PTC_SHOW_ALL : c->show[0]);
}

/* The agent of a case, then its program. */
static void run_with_agent(PtcTestRunner *runner, const PtcTestCase *given, PtcBuf *got,
                           PtcBuf *full)
{
    PtcTestAgent agent;
    PtcTestCase c = *given;
    bool ran = ptc_test_agent_run(&agent, runner->mem, runner->path ? runner->path : "", given);
    if (!ran || (!agent.answered && c.program.len == 0)) {
        render_failed_agent(given, got, &agent, false);
        if (full)
            render_failed_agent(given, full, &agent, true);
    } else {
        if (c.program.len == 0)
            c.program = PTC_TEXT("data/answer");
        c.context = ptc_buf_view(&agent.context);
        run_and_render(runner, &c, got, full, &agent);
    }
    ptc_test_agent_deinit(&agent);
}

bool ptc_test_run(PtcTestRunner *runner, const PtcTestCase *c, PtcBuf *got, PtcBuf *full)
{
    if (c->agent.len)
        run_with_agent(runner, c, got, full);
    else
        run_and_render(runner, c, got, full, NULL);
    bool ok = ptc_buf_ok(got) && got->len == c->expect.len &&
              !memcmp(got->data, c->expect.bytes, got->len);
    return ok && runner->torture ? torture(runner, c, got) : ok;
}
