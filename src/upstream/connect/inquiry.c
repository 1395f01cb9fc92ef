/* SPDX-License-Identifier: MIT
 * Questions of upstreams to whoever started a run.  What always holds: a question is given to the run whose calls the
 * upstream works on, and to no other; a call that is held has no ask, ends once, and is freed by its run, or after its
 * run by the upstream's answer; everything here is guarded by the manager's lock. */
#include "upstream/connect/inquiry.h"

#include "json/members.h"
#include "upstream/connect/endpoint.h"
#include "upstream/connect/roots.h"

static const int64_t HOLD_NS = (int64_t)3600 * 1000 * PTC_MS; /* an hour for a person to answer */

/* --------------------------------------------------------------------------------- questions */

static char *copy_inquiry_text(PtcMem *mem, PtcText text)
{
    char *copy = ptc_mem_alloc(mem, text.len + 1);
    if (copy && text.len)
        memcpy(copy, text.bytes, text.len);
    return copy;
}

PtcInquiry *ptc_inquiry_add(PtcUpRun *run, PtcText server, PtcText id, bool samples, PtcText params)
{
    PtcManager *m = run->manager;
    if (run->inquired >= PTC_INQUIRIES || id.len > PTC_INQUIRY_ID || params.len > PTC_INQUIRY_BYTES)
        return NULL;
    PtcInquiry *q = ptc_mem_alloc(m->mem, sizeof *q), **at = &run->inquiries;
    char *copy = q ? copy_inquiry_text(m->mem, params) : NULL;
    if (!copy) {
        ptc_mem_free(m->mem, q, q ? sizeof *q : 0);
        return NULL;
    }
    *q = (PtcInquiry){.number = ++m->last_inquiry,
                      .server = server,
                      .samples = samples,
                      .params = copy,
                      .params_len = params.len,
                      .id_len = id.len};
    memcpy(q->id, id.bytes, id.len);
    while (*at)
        at = &(*at)->next;
    *at = q;
    run->inquired++;
    return q;
}

void ptc_inquiry_free(PtcMem *mem, PtcInquiry *q)
{
    ptc_mem_free(mem, q->params, q->params_len + 1);
    if (q->answer)
        ptc_mem_free(mem, q->answer, q->answer_len + 1);
    ptc_mem_free(mem, q, sizeof *q);
}

/* Is the connection still there that it came on? */
static bool is_alive(const PtcInquiry *q)
{
    const PtcInstance *i = q->instance;
    return !i || (i->start == q->start && i->connected && i->endpoint);
}

static bool is_open_inquiry(const PtcInquiry *q)
{
    return is_alive(q) && !q->answered;
}

static bool asks(const PtcUpRun *run, const PtcInstance *i)
{
    for (const PtcInquiry *q = run->inquiries; q; q = q->next)
        if (q->instance == i && is_open_inquiry(q))
            return true;
    return false;
}

static void drop_inquiry(PtcUpRun *run, PtcInquiry *q)
{
    PtcInquiry **at = &run->inquiries;
    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
    ptc_inquiry_free(run->manager->mem, q);
}

/* ----------------------------------------------------------------------------------- holding */

/* Stands in for a call that is held: what the program sees of it. */
static PtcUpCall *new_stand_in(const PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    PtcUpCall *stand_in = ptc_mem_alloc(run->manager->mem, sizeof *stand_in);
    if (!stand_in)
        return NULL;
    *stand_in = (PtcUpCall){.ask = call->ask,
                            .op = call->op,
                            .run = run,
                            .state = PTC_UP_ANSWERED,
                            .slot = call->slot,
                            .tool = call->tool,
                            .seen = call->seen,
                            .method = call->method,
                            .effect = call->effect,
                            .part = call->part,
                            .reply.retry_after_ms = -1,
                            .sibling = run->calls,
                            .sibling_at = &run->calls};
    (void)ptc_call_refuse(stand_in, PTC_CALL_ASIDE, "its server has a question first");
    if (run->calls)
        run->calls->sibling_at = &stand_in->sibling;
    run->calls = stand_in;
    return stand_in;
}

static void set_end(PtcUpCall *call, int64_t end_ns)
{
    call->end_ns = end_ns;
    if (call->state == PTC_UP_SENT)
        ptc_endpoint_extend(call->instance->endpoint, call, end_ns, ptc_queue_most(call));
}

/* A held call does not count as under way, so that no other call waits for a person. */
static void uncount_call(PtcUpCall *call)
{
    if (!call->counted)
        return;
    call->counted = false;
    call->instance->under_way--;
    call->instance->upstream->manager->under_way--;
}

static void recount(PtcUpCall *call)
{
    if (call->counted || call->state != PTC_UP_SENT)
        return;
    call->counted = true;
    call->instance->under_way++;
    call->instance->upstream->manager->under_way++;
}

/* May the owner of the run have one more call held? */
static bool has_room_to_hold(const PtcUpRun *run)
{
    const PtcManager *m = run->manager;
    size_t held = 0;
    for (const PtcInstance *i = m->instances; i; i = i->next)
        held += strcmp(i->owner, run->owner) == 0 ? i->held : 0;
    return held < PTC_INQUIRY_HELD && m->held < PTC_INQUIRY_HELD_ALL;
}

static void count_held(PtcUpCall *call, bool held)
{
    PtcManager *m = call->instance->upstream->manager;
    call->held = held;
    call->instance->held += held ? 1 : -1;
    m->held += held ? 1 : -1;
}

static bool hold_inquiring_call(PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    PtcRemoteAsk *ask = call->ask;
    PtcUpCall *stand_in = call->part && has_room_to_hold(run) ? new_stand_in(call) : NULL;
    if (!stand_in)
        return false;
    count_held(call, true);
    call->ask = NULL;
    uncount_call(call);
    set_end(call, ptc_clock_ns(NULL) + HOLD_NS);
    run->asides++;
    ask->own = stand_in;
    ask->ready(ask);
    return true;
}

static bool may_hold(const PtcUpCall *call, const PtcUpRun *run)
{
    return call->run == run && !call->held && !call->cancelled;
}

/* Calls that cannot be held go on as they are, and may run out of time. */
static bool hold_all(PtcUpRun *run, PtcInstance *i)
{
    bool any = false;
    for (PtcUpCall *call = i->sent; call; call = call->next)
        any = (may_hold(call, run) ? hold_inquiring_call(call) : call->held && call->run == run) ||
              any;
    for (PtcUpCall *call = i->first; any && call; call = call->next)
        if (may_hold(call, run))
            (void)hold_inquiring_call(call);
    ptc_queue_pump(i);
    return any;
}

void ptc_inquiry_hold(PtcUpCall *call)
{
    if ((call->state == PTC_UP_SENT || call->state == PTC_UP_QUEUED) &&
        asks(call->run, call->instance))
        (void)hold_inquiring_call(call);
}

/* ------------------------------------------------------------------------------ a question comes */

unsigned ptc_inquiry_kind(PtcText method)
{
    if (!method.bytes)
        return 0;
    return ptc_text_is(method, "elicitation/create")       ? PTC_REMOTE_ELICITS
           : ptc_text_is(method, "sampling/createMessage") ? PTC_REMOTE_SAMPLES
                                                           : 0;
}

/* The one run whose calls are under way; NULL with the reason.  A run that has yet to answer an earlier question asks
 * no other one as long as somebody else may be meant: it may wait for hours. */
static PtcUpRun *run_of(const PtcInstance *i, unsigned kind, const char **why)
{
    PtcUpRun *runs[2] = {NULL, NULL}; /* by whether they wait for an answer */
    bool several[2] = {false, false};
    for (const PtcUpCall *call = i->sent; call; call = call->next) {
        bool waits = call->run && asks(call->run, i);
        if (!call->run)
            continue;
        several[waits] = several[waits] || (runs[waits] && runs[waits] != call->run);
        runs[waits] = call->run;
    }
    bool waits = !runs[false];
    *why = "several programs are calling this server, so nobody can tell whose question it is";
    if (several[waits])
        return NULL;
    *why = "no program is running that it could belong to";
    if (!runs[waits])
        return NULL;
    *why = "whoever runs the program cannot be asked";
    return ptc_inquiry_allowed(runs[waits]->offers, &i->upstream->entry) & kind ? runs[waits]
                                                                                : NULL;
}

static bool take_inquiry(PtcInstance *i, PtcText id, unsigned kind, PtcText params,
                         const char **why)
{
    PtcUpRun *run = run_of(i, kind, why);
    if (!run)
        return false;
    *why = "there are too many questions, or it is too long";
    PtcInquiry *q =
        ptc_inquiry_add(run, i->upstream->entry.name, id, kind == PTC_REMOTE_SAMPLES, params);
    if (!q)
        return false;
    q->instance = i;
    q->start = i->start;
    if (hold_all(run, i))
        return true;
    *why = "the program cannot wait for an answer";
    drop_inquiry(run, q);
    return false;
}

bool ptc_inquiry_take(void *user, PtcText id, PtcText method, PtcText params, const char **why)
{
    PtcInstance *i = user;
    PtcManager *m = i->upstream->manager;
    unsigned kind = ptc_inquiry_kind(method);
    pthread_mutex_lock(&m->lock);
    bool taken = (i->offers & kind) && take_inquiry(i, id, kind, params, why);
    pthread_mutex_unlock(&m->lock);
    return taken;
}

/* Only the runs of its calls can have it. */
void ptc_inquiry_withdraw(PtcInstance *i, PtcText id)
{
    PtcManager *m = i->upstream->manager;
    bool found = false;
    pthread_mutex_lock(&m->lock);
    for (const PtcUpCall *call = i->sent; call && !found; call = call->next)
        for (PtcInquiry *q = call->run ? call->run->inquiries : NULL; q && !found; q = q->next)
            if (q->instance == i && q->start == i->start &&
                ptc_text_same((PtcText){q->id, q->id_len}, id)) {
                drop_inquiry(call->run, q);
                found = true;
                break;
            }
    pthread_mutex_unlock(&m->lock);
}

/* ----------------------------------------------------------------------------------- going on */

static PtcUpCall *held_of(const PtcUpRun *run, size_t part)
{
    for (PtcUpCall *call = run->calls; call; call = call->sibling)
        if (call->held && call->part == part)
            return call;
    return NULL;
}

static PtcRemoteStatus take_held_call_over(PtcUpCall *held, PtcRemoteAsk *ask)
{
    const PtcUpRun *run = held->run;
    int64_t end = ptc_clock_ns(NULL) + held->instance->upstream->entry.call_ms * PTC_MS;
    count_held(held, false);
    held->ask = ask;
    ask->own = held;
    recount(held);
    if (held->state == PTC_UP_ANSWERED)
        return PTC_REMOTE_NOW;
    set_end(held, end < run->deadline_ns ? end : run->deadline_ns);
    ptc_inquiry_hold(held); /* it has asked again meanwhile */
    return PTC_REMOTE_PENDING;
}

bool ptc_inquiry_rejoin(PtcUpCall *call, PtcRemoteStatus *status)
{
    PtcUpRun *run = call->run;
    PtcManager *m = run->manager;
    if (!call->part || call->replayed)
        return false;
    pthread_mutex_lock(&m->lock);
    PtcUpCall *held = held_of(run, call->part);
    bool same = held ? memcmp(held->print, call->print, sizeof held->print) == 0
                     : ptc_inquiry_fits_input(call);
    if (held && same)
        *status = take_held_call_over(held, call->ask);
    pthread_mutex_unlock(&m->lock);
    if (held && same)
        ptc_call_free(call);
    else if (!same)
        ptc_serve_diverge(call);
    return held || !same;
}

/* --------------------------------------------------------------------------------------- end */

static void unlink_sibling(PtcUpCall *call)
{
    *call->sibling_at = call->sibling;
    if (call->sibling)
        call->sibling->sibling_at = call->sibling_at;
}

/* The upstream still has it: its answer frees it. */
static void orphan(PtcUpCall *call)
{
    unlink_sibling(call);
    call->run = NULL;
    call->cancelled = true;
    if (call->instance->endpoint)
        ptc_endpoint_cancel(call->instance->endpoint, call);
}

static void let_held_call_go(PtcUpCall *call)
{
    count_held(call, false);
    if (call->state == PTC_UP_SENT)
        orphan(call);
    else
        ptc_queue_cancel(call);
}

void ptc_inquiry_end(PtcUpRun *run)
{
    PtcManager *m = run->manager;
    pthread_mutex_lock(&m->lock);
    for (PtcUpCall *call = run->calls, *next; call; call = next) {
        next = call->sibling;
        if (call->held)
            let_held_call_go(call);
    }
    for (PtcInquiry *q; (q = run->inquiries);) {
        if (q->instance && is_alive(q))
            (void)ptc_endpoint_answer(q->instance->endpoint, (PtcText){q->id, q->id_len},
                                      (PtcText){NULL, 0});
        drop_inquiry(run, q);
    }
    pthread_mutex_unlock(&m->lock);
    ptc_inquiry_free_inputs(run);
}

bool ptc_inquiry_is_bound(const PtcUpRun *run)
{
    const PtcInquiry *q = run->inquiries;
    while (q && !q->instance)
        q = q->next;
    return q || (run->sign_in && !run->sign_in_over);
}

/* ------------------------------------------------------------------------------- for the asker */

/* A server that several owners share may ask late, when another one's call is under way. */
unsigned ptc_inquiry_allowed(unsigned offers, const PtcEntry *e)
{
    if (e->shared)
        return offers & PTC_REMOTE_OPENS;
    return offers & ~((e->no_elicitation ? (unsigned)PTC_REMOTE_ELICITS : 0) |
                      (e->no_sampling ? (unsigned)PTC_REMOTE_SAMPLES : 0));
}

PtcText ptc_inquiry_capabilities(const PtcInstance *i)
{
#define INQUIRY_FORM "\"elicitation\":{\"form\":{}}"
#define MODEL "\"sampling\":{}"
#define INQUIRY_ROOTS "\"roots\":{}"
#define NEWS "\"roots\":{\"listChanged\":true}"
    static const char *const texts[][3] = {
        {"{}", "{" INQUIRY_ROOTS "}", "{" NEWS "}"},
        {"{" INQUIRY_FORM "}", "{" INQUIRY_FORM "," INQUIRY_ROOTS "}",
         "{" INQUIRY_FORM "," NEWS "}"},
        {"{" MODEL "}", "{" MODEL "," INQUIRY_ROOTS "}", "{" MODEL "," NEWS "}"},
        {"{" INQUIRY_FORM "," MODEL "}", "{" INQUIRY_FORM "," MODEL "," INQUIRY_ROOTS "}",
         "{" INQUIRY_FORM "," MODEL "," NEWS "}"}};
    return ptc_text_cstr(
        texts[i->offers & 3][i->client_roots ? 2 : ptc_roots_any(&i->upstream->entry)]);
}

static void offer_run_abilities(void *user, unsigned what)
{
    PtcUpRun *run = user;
    PtcManager *m = run->manager;
    run->offers = what;
    pthread_mutex_lock(&m->lock);
    m->client_roots = m->client_roots || (what & PTC_REMOTE_ROOTS);
    pthread_mutex_unlock(&m->lock);
}

/* With the lock held: the first that waits behind that one; those that are gone are forgotten. */
static PtcInquiry *next_open(PtcUpRun *run, uint64_t after)
{
    for (PtcInquiry *q = run->inquiries, *next; q; q = next) {
        next = q->next;
        if (is_open_inquiry(q) && q->number > after)
            return q;
        if (!is_alive(q))
            drop_inquiry(run, q);
    }
    return NULL;
}

/* With the lock held.  When there is no memory for the answer, there may be enough for an error, so that the server
 * does not wait in vain. */
static void answer_upstream(const PtcInquiry *q, PtcText answer)
{
    PtcEndpoint *endpoint = q->instance->endpoint;
    PtcText id = {q->id, q->id_len};
    if (!ptc_endpoint_answer(endpoint, id, answer))
        (void)ptc_endpoint_answer(endpoint, id, (PtcText){NULL, 0});
}

static void reply_to_inquiry(void *user, uint64_t number, PtcText answer)
{
    PtcUpRun *run = user;
    PtcManager *m = run->manager;
    if (ptc_inquiry_reply_sign_in(run, number, answer))
        return;
    if (answer.len > PTC_INQUIRY_BYTES)
        answer = (PtcText){NULL, 0};
    pthread_mutex_lock(&m->lock);
    PtcInquiry *q = run->inquiries;
    while (q && q->number != number)
        q = q->next;
    if (q && q->instance) {
        if (is_alive(q))
            answer_upstream(q, answer);
        drop_inquiry(run, q);
    } else if (q) {
        q->answered = true;
        q->answer = answer.bytes ? copy_inquiry_text(m->mem, answer) : NULL;
        q->answer_len = q->answer ? answer.len : 0;
    }
    pthread_mutex_unlock(&m->lock);
}

static uint64_t inquiry(void *user, uint64_t after, PtcBuf *out)
{
    PtcUpRun *run = user;
    PtcManager *m = run->manager;
    for (;;) {
        PtcInquiry copy = {0};
        PtcBuf params;
        ptc_buf_init(&params, m->mem, PTC_INQUIRY_BYTES);
        pthread_mutex_lock(&m->lock);
        const PtcInquiry *q = next_open(run, after);
        if (q) {
            copy = *q;
            ptc_buf_add(&params, q->params, q->params_len);
        }
        pthread_mutex_unlock(&m->lock);
        ptc_buf_clear(out);
        bool good = q && ptc_inquiry_words(m, &copy, ptc_buf_view(&params), out);
        ptc_buf_deinit(&params);
        if (!q)
            return after ? 0 : ptc_inquiry_sign_in(run, out);
        if (good)
            return copy.number;
        reply_to_inquiry(run, copy.number,
                         (PtcText){NULL, 0}); /* nobody could make anything of it */
    }
}

void ptc_inquiry_fill(PtcRemote *remote)
{
    remote->offer = offer_run_abilities;
    remote->inquiry = inquiry;
    remote->reply = reply_to_inquiry;
    ptc_inquiry_fill_sign_in(remote);
}
