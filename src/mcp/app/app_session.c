/* SPDX-License-Identifier: MIT
 * The tools of sessions.  A session's state is a snapshot in the table of sessions.  What always holds: a call holds
 * its session while it works, and what it changed is kept in one step or not at all. */
#include "mcp/app/app_int.h"

#include "json/parse.h"
#include "value/calendar.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum { SESSION_LISTED = 200, FORGOTTEN = 100 };

/* How often, and for how long, a program is run again because another server has changed its session. */
enum { AGAIN = 20, AGAIN_MS = 10000 };

static void add_session_time(PtcBuf *out, const char *key, int64_t ms)
{
    char stamp[PTC_CALENDAR_TEXT];
    ptc_iso_stamp(stamp, ms);
    ptc_emit_field_cstr(out, key, stamp);
}

static PtcMem *mem_of(const PtcJob *job)
{
    return ptc_mcp_mem(ptc_mcp_server(job->call));
}

/* What a call is told when its session was not changed, or perhaps was.  Each text says what the model can do. */
static const struct {
    PtcStoreStatus status;
    const char *reason, *text;
} session_faults[] = {
    {PTC_STORE_ABSENT, "unknown_session",
     "there is no such session; it was closed or its time is over: lisp_session_start begins a new "
     "one"},
    {PTC_STORE_HELD, "session_busy",
     "another call is using this session; try again when it has ended"},
    {PTC_STORE_CONFLICT, "session_busy",
     "another server changed this session while the program ran; what the program did to it is not "
     "kept: run it again"},
    {PTC_STORE_DAMAGED, "store_failed",
     "this session was changed in the store by someone other than the server, so it cannot be used "
     "any more; lisp_session_start begins a new one"},
    {PTC_STORE_NEWER, "store_failed", "this session was written by a newer ptc"},
    {PTC_STORE_UNKNOWN, "store_unknown",
     "the store was lost while the session was saved: what the program did to it may be there or "
     "not; look before you run it again"},
};

static bool refuse_session_limit(PtcJob *job)
{
    const PtcSessionsConfig *c = ptc_sessions_config(job->app->sessions);
    return ptc_job_fail(
        job, "session_limit",
        "this server keeps no more sessions, or no more data in them (%u sessions, %zu KiB each, "
        "%zu KiB in all); close some, or forget what is no longer needed",
        c->max, c->bytes / 1024, c->total_bytes / 1024);
}

static bool refuse_session_status(PtcJob *job, PtcStoreStatus status)
{
    char why[PTC_STORE_WHY];
    if (status == PTC_STORE_OK)
        return true;
    for (size_t i = 0; i < sizeof session_faults / sizeof *session_faults; i++)
        if (session_faults[i].status == status)
            return ptc_job_fail(job, session_faults[i].reason, "%s", session_faults[i].text);
    if (status == PTC_STORE_FULL)
        return refuse_session_limit(job);
    if (status == PTC_STORE_NO_MEMORY)
        return ptc_job_fail(job, "no_memory",
                            "the server is out of memory; try again a little later");
    ptc_store_why(job->app->config.store, why);
    return ptc_job_fail(job, "store_failed",
                        "%s; nothing of this call is in the session: try again later", why);
}

/* Others may use what this call does not need while it waits for its turn. */
static PtcStoreStatus wait_for_session(PtcJob *job, PtcText handle)
{
    ptc_mcp_pause(job->call);
    PtcStoreStatus status = ptc_sessions_hold(job->app->sessions, job->owner, handle, true,
                                              &job->held, &job->in.session);
    ptc_mcp_resume(job->call);
    return status;
}

static bool hold_session(PtcJob *job)
{
    PtcText handle;
    if (!ptc_job_text(job, "session_id", true, &handle))
        return false;
    job->in.in_session = true;
    PtcStoreStatus status = ptc_sessions_hold(job->app->sessions, job->owner, handle, false,
                                              &job->held, &job->in.session);
    if (status == PTC_STORE_HELD)
        status = wait_for_session(job, handle);
    return refuse_session_status(job, status);
}

bool ptc_session_hold_again(PtcJob *job, PtcText handle, bool *gone)
{
    PtcStoreStatus status = job->app->sessions ? wait_for_session(job, handle) : PTC_STORE_ABSENT;
    job->in.in_session = true;
    *gone = status == PTC_STORE_ABSENT || status == PTC_STORE_DAMAGED;
    return !*gone && refuse_session_status(job, status);
}

static void let_session_go(PtcJob *job)
{
    ptc_sessions_let_go(job->app->sessions, job->held, &job->info);
    job->held = NULL;
}

/* Another server has changed the session meanwhile.  Running the program again on the newer state goes unnoticed, as
 * long as it has changed nothing else.  False: that is not possible, and the call was answered. */
static bool begin_change_again(PtcJob *job, unsigned times, int64_t begun_ns)
{
    bool late = ptc_clock_ns(NULL) - begun_ns > AGAIN_MS * PTC_MS;
    if (times >= AGAIN || late || job->out.effects || ptc_mcp_cancelled(job->call))
        return refuse_session_status(job, PTC_STORE_CONFLICT);
    if (!refuse_session_status(job,
                               ptc_sessions_renew(job->app->sessions, job->held, &job->in.session)))
        return false;
    ptc_task_out_clear(&job->out);
    return true;
}

/* Runs `work` on the session that is held and saves the change it made; again and again while other servers are
 * faster.  False: it failed, and the call was answered. */
static bool change_held_session(PtcJob *job,
                                bool (*work)(PtcJob *job, void *user,
                                             PtcSessionChange *change_held_session),
                                void *user)
{
    int64_t begun = ptc_clock_ns(NULL);
    for (unsigned times = 0;; times++) {
        PtcSessionChange to = {0};
        if (!work(job, user, &to))
            return false;
        PtcStoreStatus status = ptc_sessions_change(job->app->sessions, job->held, &to);
        if (status != PTC_STORE_CONFLICT)
            return refuse_session_status(job, status);
        if (!begin_change_again(job, times, begun))
            return false;
    }
}

/* ------------------------------------------------------------------------------- start, list */

static void add_session_limits(PtcBuf *out, const PtcSessionsConfig *c)
{
    ptc_emit_key(out, "limits");
    ptc_emit_object(out);
    ptc_emit_field_int(out, "ttl_ms", c->ttl_ms);
    ptc_emit_field_int(out, "idle_ms", c->idle_ms);
    ptc_emit_field_uint(out, "bytes", c->bytes);
    ptc_emit_object_end(out);
}

static void start_session(PtcJob *job)
{
    PtcText title;
    PtcBuf out;
    int64_t ttl = 0;
    const PtcSessionsConfig *c = ptc_sessions_config(job->app->sessions);
    if (!ptc_job_text(job, "title", false, &title) ||
        !ptc_job_int(job, "ttl_ms", 1, PTC_UNBOUNDED, &ttl) ||
        !refuse_session_status(
            job, ptc_sessions_start(job->app->sessions, job->owner, title, ttl, &job->info)))
        return;
    ptc_buf_init(&out, mem_of(job), 4096);
    ptc_emit_object(&out);
    ptc_emit_field_cstr(&out, "session_id", job->info.handle);
    add_session_time(&out, "expires_at", job->info.expires_ms);
    add_session_limits(&out, c);
    ptc_emit_object_end(&out);
    ptc_job_json(job, &out);
    ptc_buf_deinit(&out);
}

void ptc_app_session_start(PtcMcpCall *call)
{
    PtcJob job;
    ptc_job_init(&job, call, "lisp_session_start");
    start_session(&job);
    ptc_job_done(&job);
}

static void add_info(PtcBuf *out, const PtcSessionInfo *info)
{
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "session_id", info->handle);
    ptc_emit_field_cstr(out, "title", info->title);
    add_session_time(out, "created_at", info->created_ms);
    add_session_time(out, "used_at", info->used_ms);
    add_session_time(out, "expires_at", info->expires_ms);
    ptc_emit_field_uint(out, "evals", info->evals);
    ptc_emit_field_uint(out, "bindings", info->bindings);
    ptc_emit_field_uint(out, "bytes", info->bytes);
    ptc_emit_field_bool(out, "busy", info->busy);
    ptc_emit_object_end(out);
}

static void show_session_list(PtcJob *job, const PtcSessionInfo *infos, size_t all)
{
    PtcBuf out;
    ptc_buf_init(&out, mem_of(job), 1 << 20);
    ptc_emit_object(&out);
    ptc_emit_field_uint(&out, "count", all);
    ptc_emit_key(&out, "sessions");
    ptc_emit_array(&out);
    for (size_t i = 0; i < all && i < SESSION_LISTED; i++)
        add_info(&out, &infos[i]);
    ptc_emit_array_end(&out);
    ptc_emit_object_end(&out);
    ptc_job_json(job, &out);
    ptc_buf_deinit(&out);
}

static void list_owner_sessions(PtcJob *job)
{
    size_t all;
    PtcSessionInfo *infos = ptc_mem_alloc(mem_of(job), SESSION_LISTED * sizeof *infos);
    if (!infos) {
        refuse_session_status(job, PTC_STORE_NO_MEMORY);
        return;
    }
    if (refuse_session_status(
            job, ptc_sessions_list(job->app->sessions, job->owner, infos, SESSION_LISTED, &all)))
        show_session_list(job, infos, all);
    ptc_mem_free(mem_of(job), infos, SESSION_LISTED * sizeof *infos);
}

void ptc_app_session_list(PtcMcpCall *call)
{
    PtcJob job;
    ptc_job_init(&job, call, "lisp_session_list");
    list_owner_sessions(&job);
    ptc_job_done(&job);
}

/* -------------------------------------------------------------------------------------- eval */

static bool eval_held(PtcJob *job, void *user, PtcSessionChange *to)
{
    (void)user;
    if (!ptc_job_submit(job))
        return false;
    to->evaluated = true;
    PtcText after = ptc_buf_view(&job->out.session);
    bool same = job->in.session.bytes && ptc_text_same(after, job->in.session);
    if (job->out.ok && !same && job->asking.mode <= PTC_REMOTE_ASKS) { /* not after a dry run */
        to->bytes = after;
        to->bindings = (size_t)job->out.bindings;
    }
    return true;
}

/* Let go before the answer is written: the next call need not wait for that. */
void ptc_session_run(PtcJob *job)
{
    if (!change_held_session(job, eval_held, NULL))
        return;
    let_session_go(job);
    ptc_job_answer(job);
}

static void session_eval(PtcJob *job)
{
    bool go_on;
    if (ptc_job_resumes(job, &go_on) ? go_on : ptc_job_eval_args(job) && hold_session(job))
        ptc_session_run(job);
}

void ptc_app_session_eval(PtcMcpCall *call)
{
    PtcJob job;
    ptc_job_init(&job, call, "lisp_session_eval");
    session_eval(&job);
    ptc_job_done(&job);
}

/* ------------------------------------------------------------------- inspect, forget, close */

/* {"session":{...},"bindings":...}: what the table knows, followed by the snapshot's own JSON. */
static void answer_inspected(PtcJob *job)
{
    PtcBuf out;
    const PtcBuf *answer = &job->out.answer;
    ptc_buf_init(&out, mem_of(job), answer->len + 4096);
    ptc_emit_object(&out);
    ptc_emit_key(&out, "session");
    add_info(&out, &job->info);
    if (answer->len > 2) /* its members, without the braces */
        ptc_emit_raw(&out, (PtcText){answer->data + 1, answer->len - 2});
    ptc_emit_object_end(&out);
    ptc_job_json(job, &out);
    ptc_buf_deinit(&out);
}

static bool task_ok(PtcJob *job)
{
    return job->out.ok || ptc_job_fail(job, job->out.reason, "%s", job->out.message);
}

static void inspect_session(PtcJob *job)
{
    job->in.kind = PTC_TASK_INSPECT;
    if (!hold_session(job) || !ptc_job_submit(job) || !task_ok(job))
        return;
    let_session_go(job);
    answer_inspected(job);
}

void ptc_app_session_inspect(PtcMcpCall *call)
{
    PtcJob job;
    ptc_job_init(&job, call, "lisp_session_inspect");
    inspect_session(&job);
    ptc_job_done(&job);
}

/* How many names were removed, according to FORGET. */
static int64_t count_forgotten(PtcJob *job)
{
    PtcJsonError error;
    PtcHeap *heap = ptc_mcp_heap(job->call);
    PtcText answer = ptc_buf_view(&job->out.answer);
    PtcValue n =
        ptc_map_field(heap, ptc_json_parse(heap, answer.bytes, answer.len, &error), "forgotten");
    return n != PTC_NONE && ptc_is_int(n) ? ptc_to_int(n) : 0;
}

/* What to forget, and what came of it. */
typedef struct {
    PtcValue names; /* PTC_NONE: everything */
    PtcBuf snapshot;
    int64_t forgotten;
} Forget;

/* Runs the task on the snapshot that the previous one made. */
static bool forget_one(PtcJob *job, PtcText name, Forget *f)
{
    job->in.name = name;
    if (f->snapshot.len)
        job->in.session = ptc_buf_view(&f->snapshot);
    ptc_task_out_clear(&job->out);
    if (!ptc_job_submit(job) || !task_ok(job))
        return false;
    f->forgotten += count_forgotten(job);
    ptc_buf_clear(&f->snapshot);
    return ptc_buf_add(&f->snapshot, job->out.session.data, job->out.session.len) ||
           refuse_session_status(job, PTC_STORE_NO_MEMORY);
}

static bool forget_names(PtcJob *job, Forget *f)
{
    for (size_t i = 0; i < ptc_seq_count(f->names); i++)
        if (!forget_one(job, ptc_str_text(ptc_seq_nth(f->names, i)), f))
            return false;
    return true;
}

static bool forget_held(PtcJob *job, void *user, PtcSessionChange *to)
{
    Forget *f = user;
    f->forgotten = 0;
    ptc_buf_clear(&f->snapshot);
    bool all = f->names == PTC_NONE;
    if (!(all ? forget_one(job, (PtcText){NULL, 0}, f) : forget_names(job, f)))
        return false;
    size_t had = ptc_session_bindings(job->held), gone = (size_t)f->forgotten;
    if (f->snapshot.len)
        to->bytes = ptc_buf_view(&f->snapshot);
    to->bindings = had > gone ? had - gone : 0;
    return true;
}

/* A list of names; PTC_NONE when absent. */
static bool names_arg(PtcJob *job, PtcValue *names)
{
    *names = ptc_mcp_arg(job->call, "bindings");
    if (*names == PTC_NIL)
        *names = PTC_NONE;
    if (*names == PTC_NONE)
        return true;
    bool good = ptc_is_sequential(*names) && ptc_seq_count(*names) <= FORGOTTEN;
    for (size_t i = 0; good && i < ptc_seq_count(*names); i++)
        good = ptc_is_string(ptc_seq_nth(*names, i));
    return good || ptc_job_fail(job, "args_error",
                                "`bindings` must be an array of at most %d names", FORGOTTEN);
}

static void answer_forgotten(PtcJob *job, int64_t forgotten)
{
    PtcBuf out;
    ptc_buf_init(&out, mem_of(job), 4096);
    ptc_emit_object(&out);
    ptc_emit_field_cstr(&out, "session_id", job->info.handle);
    ptc_emit_field_int(&out, "forgotten", forgotten);
    ptc_emit_field_uint(&out, "bindings", job->info.bindings);
    ptc_emit_field_uint(&out, "bytes", job->info.bytes);
    ptc_emit_object_end(&out);
    ptc_job_json(job, &out);
    ptc_buf_deinit(&out);
}

/* Either names or everything: an empty call must not wipe a session. */
static void forget_session_names(PtcJob *job)
{
    PtcValue names;
    bool all = false;
    job->in.kind = PTC_TASK_FORGET;
    if (!names_arg(job, &names) || !ptc_job_flag(job, "all", &all))
        return;
    if ((names != PTC_NONE) == all)
        ptc_job_fail(job, "args_error",
                     "say what to forget: `bindings`, a list of names, or `all`: true");
    else if (hold_session(job)) {
        Forget f = {.names = names};
        ptc_buf_init(&f.snapshot, mem_of(job), job->out.session.max);
        if (change_held_session(job, forget_held, &f)) {
            let_session_go(job);
            answer_forgotten(job, f.forgotten);
        }
        ptc_buf_deinit(&f.snapshot);
    }
}

void ptc_app_session_forget(PtcMcpCall *call)
{
    PtcJob job;
    ptc_job_init(&job, call, "lisp_session_forget");
    forget_session_names(&job);
    ptc_job_done(&job);
}

/* Not through hold_session(): a damaged session could then not be closed. */
static void close_owner_session(PtcJob *job)
{
    PtcText handle;
    PtcBuf out;
    if (!ptc_job_text(job, "session_id", true, &handle) ||
        !refuse_session_status(job, ptc_sessions_close(job->app->sessions, job->owner, handle)))
        return;
    ptc_buf_init(&out, mem_of(job), 4096);
    ptc_emit_object(&out);
    ptc_emit_field_text(&out, "session_id", handle);
    ptc_emit_field_bool(&out, "closed", true);
    ptc_emit_object_end(&out);
    ptc_job_json(job, &out);
    ptc_buf_deinit(&out);
}

void ptc_app_session_close(PtcMcpCall *call)
{
    PtcJob job;
    ptc_job_init(&job, call, "lisp_session_close");
    close_owner_session(&job);
    ptc_job_done(&job);
}
