/* SPDX-License-Identifier: MIT
 * Upstreams of agents on the command line.  What always holds: one question at a time is on the terminal, whichever
 * agents wait; what took effect is told, also when not all of it could be kept. */
#include "cli/agent/agent_upstreams.h"

#include "agent/run/agent_run.h"
#include "base/grow.h"
#include "cli/io.h"
#include "cli/out/shown.h"
#include "cli/term/terminal_ask.h"
#include "engine/engine.h"
#include "exec/effects_line.h"
#include "json/emit.h"
#include "json/parse.h"
#include "trace/call_log.h"
#include "upstream/catalog/catalog_text.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum {
    LEARN_MS = 5000,
    AGENT_ABOUT_BYTES = 4096,
    AGENT_CALLS_BYTES = 16 * PTC_MB, /* of all logs of calls */
    EFFECTS_BYTES = PTC_MB,
    EFFECTS = 1000, /* names in all lists */
    AGENT_UNKNOWN = 1,
    UNSAFE = 2
};

/* One program. */
typedef struct {
    PtcRemoteRun remote; /* first: agents know it by this */
    const PtcAgentRun *agent;
} Program;

/* -------------------------------------------------------------------------- what was called */

/* The calls of one program are numbered on from those before it. */
static void add_agent_calls(PtcAgentUpstreams *a, PtcHeap *heap, PtcValue calls)
{
    for (size_t i = 0; i < ptc_seq_count(calls); i++) {
        size_t before = a->calls.len;
        a->call_count++;
        ptc_call_log_put_call(&a->calls, heap, ptc_seq_nth(calls, i), a->call_count);
        if (ptc_buf_ok(&a->calls))
            continue;
        a->calls.len = before;
        a->calls.full = a->calls.failed = false;
        a->calls_left_out++;
    }
}

static PtcUpstreamEffect *find_effect(PtcAgentUpstreams *a, size_t list, PtcText name)
{
    for (size_t i = 0; i < a->effect_count; i++)
        if (a->effects[i].list == list && ptc_text_same(a->effects[i].name, name))
            return &a->effects[i];
    return NULL;
}

/* A name too many, or memory that is short, costs the name only: whether it may be run again is kept apart. */
static void add_effect(PtcAgentUpstreams *a, size_t list, PtcText name, uint64_t times)
{
    PtcUpstreamEffect *e = find_effect(a, list, name);
    if (!e && a->effect_count < EFFECTS &&
        PTC_GROW(a->mem, &a->effects, &a->effect_cap, a->effect_count + 1)) {
        char *copy = ptc_mem_alloc(a->mem, name.len + 1);
        if (!copy)
            return;
        memcpy(copy, name.bytes, name.len);
        copy[name.len] = 0;
        e = &a->effects[a->effect_count++];
        *e = (PtcUpstreamEffect){.name = {copy, name.len}, .list = list};
    }
    if (e)
        e->times += times;
}

static void add_effect_list(PtcAgentUpstreams *a, PtcHeap *heap, size_t list, PtcValue items)
{
    for (size_t i = 0; i < ptc_seq_count(items); i++) {
        PtcValue item = ptc_seq_nth(items, i);
        PtcText name = ptc_str_text(ptc_map_field(heap, item, "name"));
        PtcValue times = ptc_map_field(heap, item, "times");
        if (name.bytes && times != PTC_NONE && ptc_is_int(times))
            add_effect(a, list, name, (uint64_t)ptc_to_int(times));
    }
}

/* What one program did.  When that cannot be read, memory is short, and nobody knows. */
static int add_program_effects(PtcAgentUpstreams *a, PtcHeap *heap, PtcValue effects)
{
    if (effects == PTC_NONE || !ptc_is_map(effects))
        return AGENT_UNKNOWN;
    for (size_t i = 0; i < PTC_EFFECTS_LISTS; i++) {
        PtcValue list = ptc_map_field(heap, effects, ptc_effects_lists[i].key);
        if (list != PTC_NONE && ptc_is_sequential(list))
            add_effect_list(a, heap, i, list);
    }
    PtcValue again = ptc_map_field(heap, effects, "run_again");
    PtcText word = again == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(again);
    return ptc_text_is(word, "safe") ? 0 : ptc_text_is(word, "unsafe") ? UNSAFE : AGENT_UNKNOWN;
}

static PtcValue parse_json_buf(PtcHeap *heap, const PtcBuf *json)
{
    PtcJsonError error;
    return ptc_buf_ok(json) && json->len ? ptc_json_parse(heap, json->data, json->len, &error)
                                         : PTC_NONE;
}

/* True: the program may be run again. */
static bool take_program_effects(PtcAgentUpstreams *a, const PtcBuf *call_log,
                                 const PtcBuf *effects)
{
    PtcBench bench;
    ptc_bench_init(&bench);
    PtcValue calls = parse_json_buf(&bench.heap, call_log),
             took = parse_json_buf(&bench.heap, effects);
    pthread_mutex_lock(&a->lock);
    if (calls != PTC_NONE && ptc_is_sequential(calls))
        add_agent_calls(a, &bench.heap, calls);
    int again = add_program_effects(a, &bench.heap, took);
    a->again = again > a->again ? again : a->again;
    pthread_mutex_unlock(&a->lock);
    ptc_bench_deinit(&bench);
    return again == 0;
}

/* --------------------------------------------------------------------------------- programs */

static int64_t deadline_of_run(const PtcAgentRun *run)
{
    return run->deadline_ns;
}

/* After a question the program is run again, and tools of the agent that it calls are called again. */
static bool may_ask(const PtcAgentRun *run)
{
    return ptc_terminal_line_possible() && ptc_toolset_may_repeat(run->def->tools);
}

static const PtcRemoteRun *begin_remote_program(void *user, const PtcAgentRun *run)
{
    PtcAgentUpstreams *a = user;
    PtcRemote *remote = ptc_manager_remote(a->upstreams.manager);
    Program *p = ptc_mem_alloc(a->mem, sizeof *p);
    if (!p)
        return NULL;
    *p = (Program){.remote = {.remote = remote}, .agent = run};
    p->remote.run = remote->begin(remote, "local", deadline_of_run(run), &run->work->ptc->cancel,
                                  &p->remote.version);
    if (!p->remote.run) {
        ptc_mem_free(a->mem, p, sizeof *p);
        return NULL;
    }
    remote->allow(p->remote.run, PTC_REMOTE_GRANTED);
    if (may_ask(run))
        ptc_terminal_offer(remote, p->remote.run);
    return &p->remote;
}

static bool end_remote_program(void *user, const PtcRemoteRun *remote, PtcBuf *call_log)
{
    PtcAgentUpstreams *a = user;
    Program *p = (Program *)(uintptr_t)remote;
    PtcBuf effects;
    ptc_buf_init(&effects, a->mem, EFFECTS_BYTES);
    (void)remote->remote->effects(remote->run, &effects);
    remote->remote->end(remote->run, call_log);
    bool safe = take_program_effects(a, call_log, &effects);
    ptc_buf_deinit(&effects);
    ptc_mem_free(a->mem, p, sizeof *p);
    return safe;
}

/* With `asking` held: the line of the terminal is the question's meanwhile. */
static bool ask_at_terminal(PtcAgentUpstreams *a, const PtcRemoteRun *remote,
                            const PtcCancel *cancel)
{
    if (ptc_cancelled(cancel))
        return false;
    if (a->config.live)
        ptc_run_live_pause(a->config.live);
    bool answered = ptc_terminal_ask(a->mem, remote->remote, remote->run, cancel);
    if (a->config.live)
        ptc_run_live_resume(a->config.live);
    if (!answered) /* whoever is asked and says nothing does not want the agent to try it another way */
        atomic_store(&a->config.cancel->asked, true);
    return answered;
}

static bool suspended(void *user, const PtcRemoteRun *remote, int64_t *waited_ns)
{
    PtcAgentUpstreams *a = user;
    Program *p = (Program *)(uintptr_t)remote;
    const PtcAgentRun *run = p->agent;
    int64_t begun = ptc_clock_ns(NULL);
    if (remote->remote->waiting(remote->run, NULL) == 0)
        return false;
    pthread_mutex_lock(&a->asking);
    bool answered = ask_at_terminal(a, remote, run->options.cancel);
    pthread_mutex_unlock(&a->asking);
    *waited_ns = ptc_clock_ns(NULL) - begun;
    if (answered)
        remote->remote->again(remote->run, deadline_of_run(run) + *waited_ns,
                              &run->work->ptc->cancel, &p->remote.version);
    return answered;
}

/* ---------------------------------------------------------------------------- opening, closing */

static void tell_unlisted(const PtcAgentUpstreams *a)
{
    for (size_t i = 0; i < ptc_manager_count(a->upstreams.manager); i++) {
        PtcUpstreamState s;
        ptc_manager_state(a->upstreams.manager, i, &s);
        if (!s.listed && s.transport && s.state != PTC_UPSTREAM_DISABLED)
            ptc_io_printf(PTC_IO_STDERR,
                          "ptc %s: the tools of %.*s are not known%s%s, so the model is not told "
                          "of them; ptc upstreams check %.*s\n",
                          a->config.command, PTC_ARG(s.name), s.reason[0] ? ": " : "", s.reason,
                          PTC_ARG(s.ns));
    }
}

/* A model is told of tools; of upstreams that were never listed there is nothing to tell.  Those that are not waited
 * for are started all the same: what they list serves the next run. */
static void learn_agent_tools(PtcAgentUpstreams *a)
{
    PtcRemote *remote = ptc_manager_remote(a->upstreams.manager);
    PtcRemoteRun far = {.remote = remote};
    far.run = remote->begin(remote, "local", INT64_MAX, a->config.cancel, &far.version);
    if (!far.run)
        return;
    ptc_manager_warm(a->upstreams.manager, "local", 0, 0);
    ptc_upstreams_learn(a->upstreams.manager, &far, a->config.cancel, LEARN_MS);
    remote->end(far.run, NULL);
    tell_unlisted(a);
}

bool ptc_agent_upstreams_open(PtcAgentUpstreams *a, PtcMem *mem,
                              const PtcAgentUpstreamsConfig *config, int *status)
{
    PtcUpstreamsOptions options = *config->options;
    memset(a, 0, sizeof *a);
    a->config = *config;
    a->mem = mem;
    pthread_mutex_init(&a->asking, NULL);
    pthread_mutex_init(&a->lock, NULL);
    ptc_buf_init(&a->about, mem, AGENT_ABOUT_BYTES);
    ptc_buf_init(&a->calls, mem, AGENT_CALLS_BYTES);
    ptc_emit_array(&a->calls);
    options.records = config->records;
    options.payloads = config->traced;
    options.stored = true;
    if (!ptc_upstreams_open(&a->upstreams, mem, config->command, &options, NULL, NULL, status))
        return false;
    if (!a->upstreams.manager)
        return true;
    if (config->start)
        learn_agent_tools(a);
    ptc_manager_describe(a->upstreams.manager, &a->about, PTC_CATALOG_TEXT_BYTES);
    a->servers = (PtcTreeServers){.about = ptc_buf_view(&a->about),
                                  .begin = begin_remote_program,
                                  .suspended = suspended,
                                  .end = end_remote_program,
                                  .user = a};
    return true;
}

void ptc_agent_upstreams_forget(PtcAgentUpstreams *a)
{
    for (size_t i = 0; i < a->effect_count; i++)
        ptc_mem_free(a->mem, (char *)(uintptr_t)a->effects[i].name.bytes,
                     a->effects[i].name.len + 1);
    ptc_buf_clear(&a->calls);
    ptc_emit_array(&a->calls);
    a->effect_count = 0;
    a->call_count = a->calls_left_out = 0;
    a->again = 0;
}

void ptc_agent_upstreams_close(PtcAgentUpstreams *a)
{
    ptc_agent_upstreams_forget(a);
    ptc_mem_free(a->mem, a->effects, a->effect_cap * sizeof *a->effects);
    ptc_upstreams_close(&a->upstreams);
    ptc_buf_deinit(&a->about);
    ptc_buf_deinit(&a->calls);
    pthread_mutex_destroy(&a->asking);
    pthread_mutex_destroy(&a->lock);
}

const PtcTreeServers *ptc_agent_upstreams_servers(const PtcAgentUpstreams *a)
{
    return a->upstreams.manager ? &a->servers : NULL;
}

/* --------------------------------------------------------------------------------- telling */

static bool has_effects_to_tell(const PtcAgentUpstreams *a, bool failed)
{
    return a->effect_count > 0 || a->again != 0 || (failed && a->call_count > 0);
}

static PtcText run_again_word(const PtcAgentUpstreams *a)
{
    static const char *const words[] = {"safe", "unknown", "unsafe"};
    return ptc_text_cstr(words[a->again]);
}

static void write_effect_list(const PtcAgentUpstreams *a, size_t list, PtcBuf *json)
{
    bool any = false;
    for (size_t i = 0; i < a->effect_count; i++) {
        const PtcUpstreamEffect *e = &a->effects[i];
        if (e->list != list)
            continue;
        if (!any) {
            ptc_emit_key(json, ptc_effects_lists[list].key);
            ptc_emit_array(json);
        }
        any = true;
        ptc_emit_object(json);
        ptc_emit_field_text(json, "name", e->name);
        ptc_emit_field_uint(json, "times", e->times);
        ptc_emit_object_end(json);
    }
    if (any)
        ptc_emit_array_end(json);
}

static void write_effects(const PtcAgentUpstreams *a, PtcBuf *json)
{
    ptc_emit_object(json);
    for (size_t i = 0; i < PTC_EFFECTS_LISTS; i++)
        write_effect_list(a, i, json);
    ptc_emit_field_text(json, "run_again", run_again_word(a));
    ptc_emit_object_end(json);
}

void ptc_agent_upstreams_write(PtcAgentUpstreams *a, bool failed, PtcBuf *json)
{
    if (!a->upstreams.manager)
        return;
    ptc_emit_field_raw(json, "upstream_calls",
                       a->calls.len ? ptc_buf_view(&a->calls) : PTC_TEXT("["));
    ptc_emit_array_end(json);
    if (a->calls_left_out)
        ptc_emit_field_uint(json, "upstream_calls_left_out", a->calls_left_out);
    if (has_effects_to_tell(a, failed)) {
        ptc_emit_key(json, "upstream_effects");
        write_effects(a, json);
    }
}

void ptc_agent_upstreams_say(PtcAgentUpstreams *a, bool failed)
{
    PtcBench bench;
    PtcBuf json, line;
    if (!a->upstreams.manager || !has_effects_to_tell(a, failed))
        return;
    ptc_bench_init(&bench);
    ptc_buf_init(&json, &bench.mem, EFFECTS_BYTES);
    ptc_buf_init(&line, &bench.mem, EFFECTS_BYTES);
    write_effects(a, &json);
    PtcValue effects = parse_json_buf(&bench.heap, &json);
    ptc_buf_addf(&line, "ptc %s: upstreams: ", a->config.command);
    if (effects != PTC_NONE)
        ptc_effects_line_add(&line, &bench.heap, effects, run_again_word(a));
    else
        ptc_buf_addf(&line, "run again: %s", run_again_word(a).bytes);
    ptc_buf_add_char(&line, '\n');
    (void)!ptc_shown_write(PTC_IO_STDERR, line.data, line.len);
    ptc_buf_deinit(&line);
    ptc_buf_deinit(&json);
    ptc_bench_deinit(&bench);
}
