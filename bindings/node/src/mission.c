/* SPDX-License-Identifier: MIT
 * One run of an agent, or a conversation with one, on a thread of its own.  What always holds: everything goes to
 * JavaScript through one gate, so events come in order and before the end; and the gate's function holds nothing that
 * holds the mission, so that the collector can find both. */
#include <pthread.h>
#include <time.h>

#include "addon.h"

enum { STACK_BYTES = 16 << 20, LOOK_MS = 50 }; /* agents below each other need 512 KiB each */

typedef struct Mission {
    PtcMission *mission; /* NULL: it was closed */
    Llm *llm;            /* or NULL */
    Gate *gate;
    char *message; /* of a conversation; NULL: it is run once */
    size_t message_len;
    PtcStatus status;
    napi_ref kept; /* its handle, while it runs */
    bool busy;
} Mission;

/* What goes to JavaScript: tell(what, value, question). */
typedef enum { TELL_ASK, TELL_EVENT, TELL_END } What;

/* A request to a model that is a function of JavaScript: held by the thread that waits, and by JavaScript. */
typedef struct Question {
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool done, ok, plain; /* a reply; as a text, not as JSON */
    char *text;           /* NULL: there is none */
    size_t len;
    atomic_int holds;
} Question;

typedef struct Message {
    What what;
    Mission *mission;
    Question *question;
    PtcMissionEvent event; /* its texts are in `bytes` */
    size_t len;
    char bytes[];
} Message;

/* --------------------------------------------------------------------------------- questions */

static Question *question_new(void)
{
    pthread_condattr_t attr;
    Question *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->over, &attr);
    pthread_condattr_destroy(&attr);
    atomic_init(&q->holds, 2);
    return q;
}

static void drop_question(Question *q)
{
    if (atomic_fetch_sub(&q->holds, 1) > 1)
        return;
    pthread_cond_destroy(&q->over);
    pthread_mutex_destroy(&q->lock);
    free(q->text);
    free(q);
}

/* The first answer counts; the text is taken over. */
static void end_question(Question *q, bool ok, bool plain, char *text, size_t len)
{
    pthread_mutex_lock(&q->lock);
    if (q->done) {
        free(text);
    } else {
        q->done = true;
        q->ok = ok;
        q->plain = plain;
        q->text = text;
        q->len = len;
        pthread_cond_signal(&q->over);
    }
    pthread_mutex_unlock(&q->lock);
}

/* Waits for the answer, as long as anybody wants it. */
static bool await(Question *q, PtcAsk *ask)
{
    pthread_mutex_lock(&q->lock);
    while (!q->done && !ptc_ask_cancelled(ask)) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&q->over, &q->lock, &until);
    }
    bool done = q->done;
    pthread_mutex_unlock(&q->lock);
    return done;
}

static void fail(PtcAsk *ask, const char *why)
{
    (void)ptc_ask_fail(ask, NULL, why, strlen(why));
}

static void reply(PtcAsk *ask, const Question *q)
{
    if (!q->text)
        fail(ask, "JavaScript gave no reply");
    else if (!q->ok)
        (void)ptc_ask_fail(ask, NULL, q->text, q->len);
    else if (q->plain)
        (void)ptc_ask_text(ask, q->text, q->len);
    else
        (void)ptc_ask_reply(ask, q->text, q->len);
}

static Message *message_new(Mission *m, What what, size_t bytes)
{
    Message *message = calloc(1, sizeof *message + bytes + 1);
    if (message) {
        message->what = what;
        message->mission = m;
        message->len = bytes;
    }
    return message;
}

/* On a thread of the mission. */
static void on_ask(PtcAsk *ask, void *user)
{
    size_t len = 0;
    const char *json = ptc_ask_json(ask, &len);
    Message *message = json ? message_new(user, TELL_ASK, len) : NULL;
    Question *q = message ? message->question = question_new() : NULL;
    if (!q) {
        free(message);
        fail(ask, "out of memory");
        return;
    }
    memcpy(message->bytes, json, len);
    if (!gate_call(((Mission *)user)->gate, message)) {
        free(message);
        drop_question(q); /* JavaScript's hold */
        fail(ask, "JavaScript is ending");
    } else if (await(q, ask)) {
        reply(ask, q);
    } else {
        fail(ask, "nobody waits for the reply any longer");
    }
    drop_question(q);
}

/* A question that JavaScript let go of without an answer. */
static void finalize_question(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)hint;
    end_question(data, false, true, NULL, 0);
    drop_question(data);
}

/* askAnswer(question, ok, plain, text) */
napi_value ask_answer(napi_env env, napi_callback_info info)
{
    napi_value args[4];
    bool ok = false, plain = false;
    size_t len = 0;
    Question *q;
    if (!get_args(env, info, 4, args) || !(q = get_handle(env, args[0])))
        return NULL;
    napi_get_value_bool(env, args[1], &ok);
    napi_get_value_bool(env, args[2], &plain);
    char *text = get_text(env, args[3], &len);
    end_question(q, ok, plain, text, len);
    return NULL;
}

/* ------------------------------------------------------------------------------------ events */

/* On a thread of the mission.  An event for which there is no memory is left out. */
static void on_event(void *user, const PtcMissionEvent *event)
{
    size_t text_len = event->text ? event->text_len : 0;
    Message *message = message_new(user, TELL_EVENT, event->agent_len + text_len);
    if (!message)
        return;
    message->event = *event;
    if (event->agent_len)
        memcpy(message->bytes, event->agent, event->agent_len);
    if (text_len)
        memcpy(message->bytes + event->agent_len, event->text, text_len);
    message->event.text_len = text_len;
    if (!gate_call(((Mission *)user)->gate, message))
        free(message);
}

static napi_value number(napi_env env, int64_t n)
{
    napi_value value;
    napi_create_int64(env, n, &value);
    return value;
}

static void set_flag(napi_env env, napi_value object, const char *name, bool flag)
{
    napi_value value;
    napi_get_boolean(env, flag, &value);
    set_member(env, object, name, value);
}

static napi_value event_object(napi_env env, const Message *m)
{
    static const char *const kinds[] = {"began",    "ended",         "asked",
                                        "answered", "program_began", "program_ended",
                                        "called",   "turn_ended",    "text"};
    const PtcMissionEvent *e = &m->event;
    napi_value object;
    size_t kind = (size_t)e->kind < sizeof kinds / sizeof *kinds ? (size_t)e->kind : 0;
    napi_create_object(env, &object);
    set_member(env, object, "kind", make_text(env, kinds[kind], NAPI_AUTO_LENGTH));
    set_member(env, object, "agent", make_text(env, m->bytes, e->agent_len));
    set_member(env, object, "turn", number(env, e->turn));
    set_flag(env, object, "ok", e->ok);
    set_member(env, object, "reason", make_text(env, e->reason, NAPI_AUTO_LENGTH));
    set_member(env, object, "text", make_text(env, m->bytes + e->agent_len, e->text_len));
    set_member(env, object, "inputTokens", number(env, e->input_tokens));
    set_member(env, object, "outputTokens", number(env, e->output_tokens));
    return object;
}

/* ------------------------------------------------------------------------------------ the end */

static napi_value usage_object(napi_env env, PtcMission *mission)
{
    napi_value object;
    PtcMissionUsage u = {.size = sizeof u};
    napi_create_object(env, &object);
    if (!ptc_mission_usage(mission, &u))
        return object;
    set_member(env, object, "turns", number(env, u.turns));
    set_member(env, object, "requests", number(env, u.requests));
    set_member(env, object, "inputTokens", number(env, u.input_tokens));
    set_member(env, object, "outputTokens", number(env, u.output_tokens));
    set_member(env, object, "durationUs", number(env, u.duration_us));
    return object;
}

static napi_value result_object(napi_env env, const Mission *m)
{
    napi_value object;
    size_t len = 0;
    if (m->status != PTC_OK)
        return make_text(env,
                         m->status == PTC_NO_MEMORY ? "libptc is out of memory"
                                                    : "this agent has run already",
                         NAPI_AUTO_LENGTH);
    napi_create_object(env, &object);
    set_flag(env, object, "ok", ptc_mission_ok(m->mission));
    set_member(env, object, "reason",
               make_text(env, ptc_mission_reason(m->mission), NAPI_AUTO_LENGTH));
    const char *text = ptc_mission_message(m->mission, &len);
    set_member(env, object, "message", make_text(env, text, len));
    text = ptc_mission_answer(m->mission, &len);
    set_member(env, object, "answer", make_text(env, text, len));
    text = ptc_mission_json(m->mission, &len);
    set_member(env, object, "outcome", make_text(env, text, len));
    set_member(env, object, "usage", usage_object(env, m->mission));
    return object;
}

static napi_value end_run(napi_env env, Mission *m)
{
    napi_value result = result_object(env, m);
    free(m->message);
    m->message = NULL;
    m->busy = false;
    gate_wait(env, m->gate, false);
    napi_delete_reference(env, m->kept);
    m->kept = NULL;
    return result;
}

/* On the thread of JavaScript; without an environment Node is ending, and nobody is left who could free a mission that
 * runs. */
static void to_js(napi_env env, napi_value function, void *context, void *data)
{
    Message *message = data;
    napi_value args[3], undefined;
    (void)context;
    if (!env && message->question)
        finalize_question(NULL, message->question, NULL);
    if (env) {
        napi_get_undefined(env, &undefined);
        args[2] = undefined;
        napi_create_uint32(env, message->what, &args[0]);
        if (message->what == TELL_ASK &&
            napi_create_external(env, message->question, finalize_question, NULL, &args[2]) !=
                napi_ok)
            finalize_question(env, message->question, NULL);
        args[1] = message->what == TELL_ASK     ? make_text(env, message->bytes, message->len)
                  : message->what == TELL_EVENT ? event_object(env, message)
                                                : end_run(env, message->mission);
        napi_call_function(env, undefined, function, 3, args, NULL); /* it raises nothing */
    }
    free(message);
}

static void *work(void *user)
{
    Mission *m = user;
    m->status = m->message ? ptc_mission_say(m->mission, m->message, m->message_len)
                           : ptc_mission_run(m->mission);
    Message *message = NULL;
    while (!(message = message_new(m, TELL_END, 0))) { /* somebody waits for it */
        struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
        nanosleep(&pause, NULL);
    }
    if (!gate_call(m->gate, message))
        free(message);
    return NULL;
}

/* ------------------------------------------------------------------------------------ handles */

static void finalize_mission(napi_env env, void *data, void *hint)
{
    Mission *m = data;
    (void)env;
    (void)hint;
    if (m->busy) { /* Node is ending; its thread has it */
        ptc_mission_cancel(m->mission);
        return;
    }
    ptc_mission_free(m->mission);
    drop_llm(m->llm);
    if (m->gate)
        gate_close(m->gate);
    free(m);
}

static bool open_mission(napi_env env, Mission *m, PtcAgent *agent, napi_value from, char *error)
{
    PtcMissionOptions o;
    ptc_mission_options_init(&o, sizeof o);
    char *model = get_text(env, get_member(env, from, "model"), NULL);
    char *context = get_text(env, get_member(env, from, "context"), &o.context_len);
    o.model = model;
    o.context = context;
    o.llm = m->llm ? m->llm->llm : NULL;
    o.token_limit = get_number(env, get_member(env, from, "tokenLimit"), PTC_UNSET);
    if (get_flag(env, from, "asks")) {
        o.ask = on_ask;
        o.ask_user = m;
    }
    if (get_flag(env, from, "watches")) {
        o.watch = on_event;
        o.watch_user = m;
    }
    bool ok = ptc_mission_new(agent, &o, &m->mission, error, ERROR_BYTES) == PTC_OK;
    free(model);
    free(context);
    return ok;
}

/* missionNew(agent, {context, model, llm, tokenLimit, asks, watches}, tell) */
napi_value mission_new(napi_env env, napi_callback_info info)
{
    napi_value args[3], handle;
    char error[ERROR_BYTES] = "out of memory";
    Mission *m = NULL;
    PtcAgent *agent;
    if (!get_args(env, info, 3, args) || !(agent = get_handle(env, args[0])) ||
        !(m = calloc(1, sizeof *m)))
        return NULL;
    m->llm = get_handle(env, get_member(env, args[1], "llm"));
    if (m->llm)
        m->llm->holds++;
    m->gate = gate_new(env, args[2], "ptc agent", to_js, false);
    if (m->gate && open_mission(env, m, agent, args[1], error) &&
        napi_create_external(env, m, finalize_mission, NULL, &handle) == napi_ok)
        return handle;
    finalize_mission(env, m, NULL);
    return throw_text(env, error);
}

static bool start(napi_env env, Mission *m, napi_value handle)
{
    pthread_t thread;
    pthread_attr_t attr;
    if (napi_create_reference(env, handle, 1, &m->kept) != napi_ok)
        return false;
    gate_wait(env, m->gate, true);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    m->busy = pthread_create(&thread, &attr, work, m) == 0;
    pthread_attr_destroy(&attr);
    if (m->busy)
        return true;
    gate_wait(env, m->gate, false);
    napi_delete_reference(env, m->kept);
    return false;
}

/* missionRun(mission, message or null): its end comes through tell. */
napi_value mission_run(napi_env env, napi_callback_info info)
{
    napi_value args[2];
    Mission *m;
    if (!get_args(env, info, 2, args) || !(m = get_handle(env, args[0])))
        return NULL;
    if (!m->mission || m->busy)
        return throw_text(env, m->busy ? "it is answering another message" : "it was closed");
    m->message = get_text(env, args[1], &m->message_len);
    if (start(env, m, args[0]))
        return NULL;
    free(m->message);
    m->message = NULL;
    return throw_text(env, "no thread can be started");
}

napi_value mission_cancel(napi_env env, napi_callback_info info)
{
    napi_value arg;
    Mission *m;
    if (get_args(env, info, 1, &arg) && (m = get_handle(env, arg)) != NULL && m->busy)
        ptc_mission_cancel(m->mission);
    return NULL;
}

/* missionClose(mission): frees what it holds without waiting for the collector. */
napi_value mission_close(napi_env env, napi_callback_info info)
{
    napi_value arg;
    Mission *m;
    if (!get_args(env, info, 1, &arg) || !(m = get_handle(env, arg)))
        return NULL;
    if (m->busy)
        return throw_text(env, "it is answering a message");
    ptc_mission_free(m->mission);
    drop_llm(m->llm);
    if (m->gate)
        gate_close(m->gate);
    m->mission = NULL;
    m->llm = NULL;
    m->gate = NULL;
    return NULL;
}
