/* SPDX-License-Identifier: MIT
 * One run of a program, on the thread of JavaScript or on one of its own.  What always holds: an engine runs one
 * program at a time, and a run that has a thread of its own never uses Node's pool, whose few threads its tools may be
 * waiting for. */
#include <pthread.h>

#include "addon.h"

typedef struct Run {
    Engine *engine;
    PtcRun run;
    PtcLimits limits;
    char *program, *signature, *schema;
    bool only_check;
    PtcStatus status;
    PtcOutcome *outcome;
    Gate *done;
    napi_ref kept; /* the object with all handles, so that none is collected meanwhile */
} Run;

/* ---------------------------------------------------------------------------------- results */

static napi_value number(napi_env env, int64_t n)
{
    napi_value value;
    napi_create_int64(env, n, &value);
    return value;
}

static napi_value boolean(napi_env env, bool b)
{
    napi_value value;
    napi_get_boolean(env, b, &value);
    return value;
}

static napi_value errors(napi_env env, PtcOutcome *o)
{
    napi_value list, item;
    PtcError e = {.size = sizeof e};
    napi_create_array(env, &list);
    for (uint32_t i = 0; ptc_outcome_error(o, i, &e); i++) {
        napi_create_object(env, &item);
        set_member(env, item, "reason", make_text(env, e.reason, NAPI_AUTO_LENGTH));
        set_member(env, item, "phase", make_text(env, e.phase, NAPI_AUTO_LENGTH));
        set_member(env, item, "kind", make_text(env, e.kind, NAPI_AUTO_LENGTH));
        set_member(env, item, "message", make_text(env, e.message, e.message_len));
        set_member(env, item, "hint", make_text(env, e.hint, e.hint_len));
        set_member(env, item, "form", make_text(env, e.form, e.form_len));
        set_member(env, item, "line", number(env, e.line));
        set_member(env, item, "column", number(env, e.column));
        napi_set_element(env, list, i, item);
    }
    return list;
}

static napi_value warnings(napi_env env, PtcOutcome *o)
{
    napi_value list, item;
    PtcWarning w = {.size = sizeof w};
    napi_create_array(env, &list);
    for (uint32_t i = 0; ptc_outcome_warning(o, i, &w); i++) {
        napi_create_object(env, &item);
        set_member(env, item, "kind", make_text(env, w.kind, NAPI_AUTO_LENGTH));
        set_member(env, item, "phase", make_text(env, w.phase, NAPI_AUTO_LENGTH));
        set_member(env, item, "message", make_text(env, w.message, w.message_len));
        set_member(env, item, "hint", make_text(env, w.hint, w.hint_len));
        set_member(env, item, "line", number(env, w.line));
        set_member(env, item, "column", number(env, w.column));
        napi_set_element(env, list, i, item);
    }
    return list;
}

static napi_value calls(napi_env env, PtcOutcome *o)
{
    napi_value list, item;
    PtcToolRecord r = {.size = sizeof r};
    napi_create_array(env, &list);
    for (uint32_t i = 0; ptc_outcome_tool(o, i, &r); i++) {
        napi_create_object(env, &item);
        set_member(env, item, "name", make_text(env, r.name, r.name_len));
        set_member(env, item, "arguments", make_text(env, r.arguments, r.arguments_len));
        set_member(env, item, "result", make_text(env, r.result, r.result_len));
        set_member(env, item, "ok", boolean(env, r.ok));
        set_member(env, item, "cached", boolean(env, r.cached));
        set_member(env, item, "durationUs", number(env, r.duration_us));
        napi_set_element(env, list, i, item);
    }
    return list;
}

static napi_value prints(napi_env env, PtcOutcome *o)
{
    napi_value list;
    size_t len;
    const char *line;
    napi_create_array(env, &list);
    for (uint32_t i = 0; (line = ptc_outcome_print(o, i, &len)) != NULL; i++)
        napi_set_element(env, list, i, make_text(env, line, len));
    return list;
}

static napi_value result(napi_env env, PtcOutcome *o)
{
    napi_value object;
    size_t len = 0;
    const char *text = ptc_outcome_text(o, &len, NULL);
    napi_create_object(env, &object);
    set_member(env, object, "ok", boolean(env, ptc_outcome_ok(o)));
    set_member(env, object, "text", make_text(env, text, len));
    text = ptc_outcome_json(o, &len);
    set_member(env, object, "json", make_text(env, text, len));
    if (!text)
        set_member(env, object, "problem",
                   make_text(env, ptc_outcome_json_problem(o, NULL, NULL), NAPI_AUTO_LENGTH));
    set_member(env, object, "prints", prints(env, o));
    set_member(env, object, "errors", errors(env, o));
    set_member(env, object, "warnings", warnings(env, o));
    set_member(env, object, "toolCalls", calls(env, o));
    return object;
}

/* -------------------------------------------------------------------------------------- runs */

/* Ends the run and gives what it came to; without an environment nobody wants it any longer. */
static napi_value end_run(napi_env env, Run *r)
{
    napi_value value = NULL;
    if (env && r->status == PTC_OK)
        value = result(env, r->outcome);
    else if (env)
        value = make_text(env,
                          r->status == PTC_NO_MEMORY
                              ? "libptc is out of memory"
                              : "the run cannot be made: a context that is not an object, a limit "
                                "out of range, or something of another engine",
                          NAPI_AUTO_LENGTH);
    ptc_outcome_free(r->outcome);
    r->engine->busy = false;
    drop_engine(r->engine);
    if (env && r->kept)
        napi_delete_reference(env, r->kept);
    free(r->program);
    free(r->signature);
    free(r->schema);
    free(r);
    return value;
}

static void do_run(Run *r)
{
    r->status = (r->only_check ? ptc_check : ptc_eval)(r->engine->ptc, &r->run, &r->outcome);
}

static void *work(void *user)
{
    Run *r = user;
    do_run(r);
    Gate *done = r->done;
    (void)gate_call(done, r); /* without Node nobody is left who could free the run */
    gate_close(done);
    return NULL;
}

static void on_done(napi_env env, napi_value function, void *context, void *data)
{
    napi_value undefined, value = end_run(env, data);
    (void)context;
    if (!env || !value)
        return;
    napi_get_undefined(env, &undefined);
    napi_call_function(env, undefined, function, 1, &value, NULL);
}

static bool start(napi_env env, Run *r, napi_value object, napi_value done)
{
    pthread_t thread;
    if (napi_create_reference(env, object, 1, &r->kept) != napi_ok ||
        !(r->done = gate_new(env, done, "ptc run", on_done, true)))
        return false;
    if (pthread_create(&thread, NULL, work, r) == 0) {
        pthread_detach(thread);
        return true;
    }
    gate_close(r->done);
    return false;
}

static bool read_run(napi_env env, Run *r, napi_value from)
{
    Part *part;
    ToolSet *set;
    ptc_run_init(&r->run, sizeof r->run);
    r->program = get_text(env, get_member(env, from, "program"), &r->run.program_len);
    r->signature = get_text(env, get_member(env, from, "signature"), &r->run.signature_len);
    r->schema = get_text(env, get_member(env, from, "outputSchema"), &r->run.output_schema_len);
    r->run.program = r->program;
    r->run.signature = r->signature;
    r->run.output_schema = r->schema;
    if ((part = get_handle(env, get_member(env, from, "data"))) != NULL)
        r->run.context = part->value;
    if ((part = get_handle(env, get_member(env, from, "session"))) != NULL)
        r->run.session = part->session;
    if ((set = get_handle(env, get_member(env, from, "tools"))) != NULL)
        r->run.tools = set->tools;
    if (read_limits(env, get_member(env, from, "limits"), &r->limits))
        r->run.limits = &r->limits;
    r->only_check = get_flag(env, from, "onlyCheck");
    r->run.now_ms = get_number(env, get_member(env, from, "nowMs"), 0);
    return r->program != NULL;
}

/* run(engine, {program, data, session, tools, signature, outputSchema, limits, nowMs, onlyCheck}, done): with `done` it
 * comes later, without it at once.  An object, or a text that says why there is none. */
napi_value run_program(napi_env env, napi_callback_info info)
{
    napi_value args[3];
    napi_valuetype type = napi_undefined;
    Run *r = NULL;
    if (!get_args(env, info, 3, args))
        return NULL;
    Engine *engine = get_handle(env, args[0]);
    if (!engine || engine->closed || engine->busy)
        return throw_text(env, engine && engine->busy
                                   ? "this engine is running a program already; use another engine"
                                   : "this engine was closed");
    if (!(r = calloc(1, sizeof *r)))
        return throw_text(env, "out of memory");
    r->engine = engine;
    hold_engine(engine);
    engine->busy = true;
    r->status = PTC_NO_MEMORY;
    bool ready = read_run(env, r, args[1]);
    napi_typeof(env, args[2], &type);
    if (ready && type == napi_function && start(env, r, args[1], args[2]))
        return NULL;
    if (ready && type != napi_function)
        do_run(r);
    return end_run(env, r);
}
