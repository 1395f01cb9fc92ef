/* SPDX-License-Identifier: MIT
 * From the options of a command to a manager over what the files say (upstreams_files.c), and programs run with it. */
#include "cli/upstreams/upstreams_open.h"

#include <stdio.h>

#include "cli/cmd/cmd.h"
#include "cli/io.h"
#include "cli/out/shown.h"
#include "cli/term/terminal_ask.h"
#include "cli/upstreams/upstreams_ask.h"
#include "cli/upstreams/upstreams_files.h"
#include "engine/engine.h"
#include "engine/outcome.h"
#include "exec/asked_calls.h"
#include "exec/effects_line.h"
#include "json/parse.h"
#include "tool/remote/remote_ask.h"
#include "value/coll/fields.h"

extern char **environ;

enum { OPEN_HEAP_BYTES = 256 * PTC_MB, LIST_HEAP = 16 * PTC_MB, OPEN_ANSWER_BYTES = PTC_MB };

static void show_notice(void *user, PtcText line)
{
    (void)user;
    (void)!ptc_shown_write_line(PTC_IO_STDERR, line.bytes, line.len);
}

bool ptc_upstreams_open_store(PtcUpstreams *u, const char *command,
                              const PtcUpstreamsOptions *options, int *status)
{
    PtcWhy why;
    if (options->shelf || !options->stored || !ptc_store_url(&options->store))
        return true;
    *status = PTC_EXIT_FAILED;
    u->store = ptc_store_open_options(&options->store, command, false);
    if (!u->store || !ptc_store_is_shared(u->store))
        return u->store != NULL;
    ptc_store_shelf_init(&u->kept, u->store);
    if (ptc_store_secret(u->store, "root-key", u->root_key, &why))
        return true;
    ptc_io_printf(PTC_IO_STDERR, "ptc %s: store: %s\n", command, why.text);
    return false;
}

PtcShelf *ptc_upstreams_shelf(PtcUpstreams *u, const PtcUpstreamsOptions *options)
{
    return options->shelf ? options->shelf : u->kept.store ? &u->kept.shelf : NULL;
}

static bool make_upstream_manager(PtcUpstreams *u, const char *command,
                                  const PtcUpstreamsOptions *options,
                                  void (*log)(void *user, PtcText line), void *user, int *status)
{
    PtcManagerConfig config = {.heap = &u->scratch.heap,
                               .entries = u->entries,
                               .places = u->places,
                               .policy = u->policy,
                               .credentials = u->credentials,
                               .secrets = u->secrets,
                               .posture = options->read_only    ? PTC_POSTURE_READ_ONLY
                                          : options->policy < 0 ? PTC_POSTURE_DEFAULT
                                                                : (PtcPosture)options->policy,
                               .payloads = options->payloads,
                               .no_learn = options->no_learn,
                               .idle_ms = options->idle_ms,
                               .realm = options->realm,
                               .root_key = u->kept.store ? u->root_key : options->root_key,
                               .version = options->version,
                               .approved = options->approved,
                               .records = options->records,
                               .cache_dir = u->cache_dir[0] ? u->cache_dir : NULL,
                               .state_dir = u->state_dir[0] ? u->state_dir : NULL,
                               .shelf = ptc_upstreams_shelf(u, options),
                               .environment = (const char *const *)environ,
                               .call_ms = options->call_ms,
                               .load_ms = options->load_ms,
                               .log = log,
                               .notice = log || options->quiet ? NULL : show_notice,
                               .user = user};
    u->manager = ptc_manager_new(u->mem, &config);
    if (!u->manager) {
        *status = PTC_EXIT_FAILED;
        ptc_io_printf(PTC_IO_STDERR, "ptc %s: upstreams: out of memory\n", command);
    }
    return u->manager != NULL;
}

/* --upstreams-strict: every upstream is there and listed, or nothing begins. */
static bool all_listed(PtcUpstreams *u, const char *command, int *status)
{
    bool all = true;
    for (size_t i = 0; i < ptc_manager_count(u->manager); i++) {
        PtcUpstreamState s;
        if (ptc_upstreams_load(u, i, &s) || ptc_upstreams_is_left(&s))
            continue;
        all = false;
        ptc_io_printf(PTC_IO_STDERR, "ptc %s: --upstreams-strict: %.*s is %s%s%s\n", command,
                      PTC_ARG(s.name), ptc_manager_state_word(s.state), s.reason[0] ? ": " : "",
                      s.reason);
    }
    if (!all)
        *status = PTC_EXIT_FAILED;
    return all;
}

bool ptc_upstreams_open(PtcUpstreams *u, PtcMem *mem, const char *command,
                        const PtcUpstreamsOptions *options, void (*log)(void *user, PtcText line),
                        void *user, int *status)
{
    memset(u, 0, sizeof *u);
    if (!ptc_upstreams_files_any(options)) /* which costs nothing */
        return true;
    u->mem = mem;
    ptc_scratch_init(&u->scratch, mem, OPEN_HEAP_BYTES);
    ptc_buf_init(&u->effects, mem, OPEN_ANSWER_BYTES);
    if (!ptc_upstreams_files_read(u, command, options, status))
        return false;
    if (ptc_fields_count(u->entries) == 0)
        return true;
    return ptc_upstreams_open_store(u, command, options, status) &&
           make_upstream_manager(u, command, options, log, user, status) &&
           (!options->strict || all_listed(u, command, status));
}

/* -------------------------------------------------------------------------------- programs */

static void set_unset(int64_t *limit, int64_t to)
{
    if (*limit == PTC_UNSET)
        *limit = to;
}

void ptc_upstreams_limits(const PtcUpstreams *u, PtcLimits *limits)
{
    if (!u->manager)
        return;
    set_unset(&limits->timeout_ms, 5 * 1000);
    set_unset(&limits->deadline_ms, 60 * 1000);
    set_unset(&limits->memory_bytes, 64 * PTC_MB);
    set_unset(&limits->max_workers, 16);
}

static PtcStatus eval_run(Ptc *ptc, const PtcRun *run, const PtcRunMore *more, PtcOutcome **outcome)
{
    return more ? ptc_engine_run_more(ptc, run, more, outcome) : ptc_eval(ptc, run, outcome);
}

static int64_t deadline_of_engine(Ptc *ptc)
{
    return ptc_clock_ns(NULL) + ptc_limits_of(ptc)->deadline_ms * PTC_MS;
}

static bool is_suspended_outcome(const PtcOutcome *outcome)
{
    return !outcome->ok && outcome->errors[0].kind == PTC_E_SUSPENDED;
}

static bool ask_for_suspended_run(PtcUpstreams *u, Ptc *ptc, const PtcRemoteRun *far)
{
    ptc_engine_wait_begin(ptc);
    bool answered = ptc_terminal_ask(u->mem, far->remote, far->run, &ptc->cancel);
    ptc_engine_wait_end(ptc);
    return answered;
}

/* Somebody at the terminal is asked about calls, and the program is run again. */
static PtcStatus eval_asking(PtcUpstreams *u, Ptc *ptc, PtcRemoteRun *far, const PtcRun *run,
                             const PtcRunMore *more, PtcOutcome **outcome)
{
    PtcRun again = *run;
    PtcStatus status;
    again.now_ms = run->now_ms ? run->now_ms : ptc_clock_wall_ms();
    ptc_terminal_offer(far->remote, far->run);
    while ((status = eval_run(ptc, &again, more, outcome)) == PTC_OK &&
           is_suspended_outcome(*outcome) && far->remote->waiting(far->run, NULL) > 0 &&
           ask_for_suspended_run(u, ptc, far)) {
        ptc_outcome_drop(*outcome);
        *outcome = NULL;
        far->remote->again(far->run, deadline_of_engine(ptc), &ptc->cancel, &far->version);
    }
    if (status == PTC_OK && is_suspended_outcome(*outcome) &&
        !ptc_engine_keep_journal(run->session, *outcome))
        status = PTC_NO_MEMORY;
    return status;
}

/* What a program that failed has done; own tools that may not be called again say nothing of theirs. */
static void note_failed_effects(PtcUpstreams *u, const PtcRemoteRun *far, bool repeatable)
{
    PtcScratch scratch;
    PtcBuf json;
    PtcJsonError error;
    ptc_scratch_init(&scratch, u->mem, LIST_HEAP);
    ptc_buf_init(&json, u->mem, OPEN_ANSWER_BYTES);
    if (far->remote->effects(far->run, &json) && ptc_buf_ok(&json)) {
        PtcValue took = ptc_json_parse(&scratch.heap, json.data, json.len, &error);
        PtcText again = ptc_fields_text(&scratch.heap, took, "run_again");
        if (!again.bytes || (!repeatable && ptc_text_is(again, "safe")))
            again = PTC_TEXT("unknown");
        if (took != PTC_NONE)
            ptc_effects_line_add(&u->effects, &scratch.heap, took, again);
    }
    ptc_buf_deinit(&json);
    ptc_scratch_deinit(&scratch);
}

void ptc_upstreams_say_effects(PtcUpstreams *u)
{
    PtcBuf line;
    if (!u->mem || !u->effects.len)
        return;
    ptc_buf_init(&line, u->mem, OPEN_ANSWER_BYTES);
    ptc_buf_add_cstr(&line, "effects: ");
    ptc_buf_add(&line, u->effects.data, u->effects.len);
    if (ptc_buf_ok(&line))
        (void)!ptc_shown_write_line(PTC_IO_STDERR, line.data, line.len);
    ptc_buf_deinit(&line);
}

PtcStatus ptc_upstreams_eval(PtcUpstreams *u, Ptc *ptc, const PtcRun *run, const PtcRunMore *more,
                             PtcOutcome **outcome)
{
    if (!u->manager)
        return eval_run(ptc, run, more, outcome);
    PtcRemote *remote = ptc_manager_remote(u->manager);
    PtcRemoteRun far = {.remote = remote};
    ptc_buf_clear(&u->effects);
    far.run = remote->begin(remote, "local", deadline_of_engine(ptc), &ptc->cancel, &far.version);
    if (!far.run)
        return PTC_NO_MEMORY;
    ptc->remote = &far;
    if (u->trace)
        remote->trace(far.run, u->trace);
    /* after a question the program is run again, and its own tools are called again */
    bool repeatable = ptc_toolset_may_repeat(run->tools);
    bool asks = ptc_terminal_line_possible() && repeatable;
    remote->allow(far.run, PTC_REMOTE_GRANTED);
    PtcStatus status =
        asks ? eval_asking(u, ptc, &far, run, more, outcome) : eval_run(ptc, run, more, outcome);
    ptc->remote = NULL;
    if (status == PTC_OK && !(*outcome)->ok)
        note_failed_effects(u, &far, repeatable);
    remote->end(far.run, u->call_log);
    return status;
}

PtcStatus ptc_upstreams_dry_run(PtcUpstreams *u, Ptc *ptc, const PtcRun *run,
                                const PtcRunMore *more, PtcDryRun *dry, PtcOutcome **outcome)
{
    PtcRemote *remote = ptc_manager_remote(u->manager);
    PtcRemoteRun far = {.remote = remote, .plan = dry->plan};
    PtcScratch scratch;
    far.run = remote->begin(remote, "local", deadline_of_engine(ptc), &ptc->cancel, &far.version);
    if (!far.run)
        return PTC_NO_MEMORY;
    remote->allow(far.run, dry->plan ? PTC_REMOTE_PLANS : PTC_REMOTE_READS);
    ptc->remote = &far;
    PtcStatus status = eval_run(ptc, run, more, outcome);
    ptc->remote = NULL;
    dry->stopped = status == PTC_OK && is_suspended_outcome(*outcome);
    ptc_scratch_init(&scratch, u->mem, LIST_HEAP);
    PtcAskedCalls calls = {remote, far.run, &scratch.heap, u->mem};
    if (dry->stopped)
        ptc_asked_calls_dry_run(&calls, dry->plan, (PtcText){run->program, run->program_len},
                                dry->text, dry->json);
    ptc_scratch_deinit(&scratch);
    remote->end(far.run, NULL);
    return status;
}

void ptc_upstreams_learn(PtcManager *manager, const PtcRemoteRun *remote, const PtcCancel *cancel,
                         int64_t ms)
{
    PtcRemoteQuestion question = {
        .op = PTC_REMOTE_LOOK,
        .text = PTC_TEXT(
            "{\"op\":\"apropos\",\"query\":\"\",\"limit\":1,\"load\":true,\"hopeful\":true}")};
    PtcMem mem;
    PtcBudget budget;
    PtcRemoteAnswer ignored = {.heap = NULL};
    if (ptc_manager_is_known(manager))
        return;
    ptc_mem_init(&mem, OPEN_ANSWER_BYTES);
    ptc_buf_init(&ignored.text, &mem, OPEN_ANSWER_BYTES);
    ptc_budget_init(&budget);
    budget.deadline_ns = budget.hard_ns = ptc_clock_ns(NULL) + ms * PTC_MS;
    budget.cancel = cancel;
    (void)!ptc_remote_ask(remote, &budget, &question, &ignored);
    ptc_buf_deinit(&ignored.text);
}

void ptc_upstreams_close(PtcUpstreams *u)
{
    if (!u->mem)
        return;
    ptc_manager_free(u->manager);
    ptc_scratch_deinit(&u->scratch);
    ptc_buf_deinit(&u->effects);
    ptc_store_shelf_deinit(&u->kept);
    ptc_store_free(u->store);
    u->mem = NULL;
}
