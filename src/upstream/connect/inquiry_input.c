/* SPDX-License-Identifier: MIT
 * Questions of the modern era: a call is answered with what the server wants to know, and made again with the answers
 * and the server's own state.  What always holds: all questions of a result are taken, or none. */
#include "base/utf8.h"
#include "json/check.h"
#include "json/emit.h"
#include "upstream/connect/inquiry.h"
#include "upstream/connect/roots.h"
#include "value/coll/fields.h"

enum { REQUESTS = 8 }; /* of one result */

/* A call that is made again. */
typedef struct PtcUpInput {
    struct PtcUpInput *next;
    size_t part;                     /* number + 1 in the run's replay */
    uint8_t print[PTC_SHA256_BYTES]; /* of the call */
    bool has_state;
    size_t len;
    char state[]; /* as the server gave it */
} PtcUpInput;

static void free_input(PtcMem *mem, PtcUpInput *input)
{
    ptc_mem_free(mem, input, sizeof *input + input->len);
}

void ptc_inquiry_free_inputs(PtcUpRun *run)
{
    for (PtcUpInput *input; (input = run->inputs);) {
        run->inputs = input->next;
        free_input(run->mem, input);
    }
}

/* With the lock held: forgets the questions of a call. */
static void drop_part(PtcUpRun *run, size_t part)
{
    for (PtcInquiry **at = &run->inquiries, *q; (q = *at);) {
        if (q->instance || q->part != part) {
            at = &q->next;
            continue;
        }
        *at = q->next;
        ptc_inquiry_free(run->mem, q);
    }
}

/* ------------------------------------------------------------------------------------ taking */

static bool is_roots(PtcText method)
{
    return method.bytes && ptc_text_is(method, "roots/list");
}

static bool has_roots(const PtcUpCall *call)
{
    PtcUpstream *up = ptc_run_upstream(call->run, call->slot);
    PtcManager *m = up->manager;
    pthread_mutex_lock(&m->lock);
    bool has = ptc_roots_any(&up->entry) || ptc_roots_of_client(up);
    pthread_mutex_unlock(&m->lock);
    return has;
}

static bool can_all_be_asked(const PtcUpCall *call, PtcHeap *heap, PtcValue requests)
{
    const PtcEntry *e = &ptc_run_upstream(call->run, call->slot)->entry;
    unsigned offers = ptc_inquiry_allowed(call->run->offers, e);
    PtcValue key, value;
    if (requests == PTC_NONE || !ptc_is_map(requests) || ptc_map_count(requests) == 0 ||
        ptc_map_count(requests) > REQUESTS)
        return false;
    for (size_t pos = 0; ptc_map_next(requests, &pos, &key, &value);) {
        PtcText method = ptc_fields_text(heap, value, "method");
        if (!(ptc_inquiry_kind(method) & offers) && !(is_roots(method) && has_roots(call)))
            return false;
    }
    return true;
}

/* Nobody needs to be asked for them. */
static bool answer_roots(const PtcUpCall *call, PtcInquiry *q)
{
    PtcBuf text;
    PtcMem *mem = call->run->mem;
    ptc_buf_init(&text, mem, PTC_ROOTS_BYTES);
    bool ok = ptc_roots_answer(ptc_run_upstream(call->run, call->slot), true, &text) &&
              (q->answer = ptc_mem_alloc(mem, text.len + 1));
    if (ok)
        memcpy(q->answer, text.data, text.len);
    q->answer_len = ok ? text.len : 0;
    q->answered = true;
    ptc_buf_deinit(&text);
    return ok;
}

static bool add_request(PtcUpCall *call, PtcHeap *heap, PtcValue key, PtcValue request)
{
    PtcUpRun *run = call->run;
    PtcBuf params;
    PtcValue given = ptc_map_field(heap, request, "params");
    bool samples = ptc_inquiry_kind(ptc_fields_text(heap, request, "method")) == PTC_REMOTE_SAMPLES;
    ptc_buf_init(&params, run->mem, PTC_INQUIRY_BYTES);
    bool ok = ptc_emit_value(&params, heap, given == PTC_NONE ? PTC_NIL : given);
    pthread_mutex_lock(&run->manager->lock);
    PtcInquiry *q = ok ? ptc_inquiry_add(run, ptc_run_upstream(run, call->slot)->entry.name,
                                         ptc_str_text(key), samples, ptc_buf_view(&params))
                       : NULL;
    if (q)
        q->part = call->part;
    if (q && is_roots(ptc_fields_text(heap, request, "method")))
        ok = answer_roots(call, q);
    pthread_mutex_unlock(&run->manager->lock);
    ptc_buf_deinit(&params);
    return q && ok;
}

static bool add_input(PtcUpCall *call, PtcText state)
{
    PtcUpRun *run = call->run;
    PtcUpInput *input =
        state.len <= PTC_INQUIRY_BYTES ? ptc_mem_alloc(run->mem, sizeof *input + state.len) : NULL;
    if (!input)
        return false;
    *input = (PtcUpInput){.part = call->part, .has_state = state.bytes != NULL, .len = state.len};
    memcpy(input->print, call->print, sizeof input->print);
    if (state.len)
        memcpy(input->state, state.bytes, state.len);
    pthread_mutex_lock(&run->manager->lock);
    input->next = run->inputs;
    run->inputs = input;
    run->asides++;
    pthread_mutex_unlock(&run->manager->lock);
    return true;
}

static bool add_input_requests(PtcUpCall *call, PtcHeap *heap, PtcValue requests, PtcText state)
{
    PtcUpRun *run = call->run;
    PtcValue key, value;
    bool ok = true;
    for (size_t pos = 0; ok && ptc_map_next(requests, &pos, &key, &value);)
        ok = add_request(call, heap, key, value);
    if (ok && add_input(call, state))
        return true;
    pthread_mutex_lock(&run->manager->lock);
    drop_part(run, call->part);
    pthread_mutex_unlock(&run->manager->lock);
    return false;
}

bool ptc_inquiry_take_input(PtcUpCall *call, PtcScratch *scratch, PtcValue result)
{
    PtcHeap *heap = &scratch->heap;
    PtcText type = ptc_fields_text(heap, result, "resultType");
    PtcValue requests = ptc_map_field(heap, result, "inputRequests");
    if (!call->run->offers || call->raw || !call->seen || !type.bytes ||
        !ptc_text_is(type, "input_required") || !can_all_be_asked(call, heap, requests))
        return false;
    bool added =
        call->part && /* else the run has no room left to come back to it */
        add_input_requests(call, heap, requests, ptc_fields_text(heap, result, "requestState"));
    (void)ptc_call_refuse(call, added ? PTC_CALL_ASIDE : PTC_CALL_INPUT_REQUIRED,
                          added ? "its server has a question first"
                                : "its server has a question first, but there are too many, it "
                                  "is too long, or ptc is out of memory");
    ptc_run_record_end(call, PTC_CALL_INPUT_REQUIRED, ptc_text_cstr(call->message), 0);
    return true;
}

/* ------------------------------------------------------------------------------------ giving */

static PtcUpInput *take_input(PtcUpRun *run, size_t part)
{
    for (PtcUpInput **at = &run->inputs, *input; (input = *at); at = &input->next)
        if (input->part == part) {
            *at = input->next;
            return input;
        }
    return NULL;
}

bool ptc_inquiry_fits_input(const PtcUpCall *call)
{
    for (const PtcUpInput *input = call->run->inputs; input; input = input->next)
        if (input->part == call->part)
            return memcmp(input->print, call->print, sizeof input->print) == 0;
    return true;
}

/* With the lock held.  A form that nobody filled in was put away; a model that nobody asked has nothing to say. */
static bool put_answers(const PtcUpRun *run, size_t part, PtcBuf *out)
{
    bool all = true;
    ptc_emit_key(out, "inputResponses");
    ptc_emit_object(out);
    for (const PtcInquiry *q = run->inquiries; q; q = q->next) {
        if (q->instance || q->part != part)
            continue;
        ptc_emit_key_text(out, (PtcText){q->id, q->id_len});
        ptc_emit_raw(out, q->answer ? (PtcText){q->answer, q->answer_len}
                                    : PTC_TEXT("{\"action\":\"cancel\"}"));
        all = all && (q->answer || !q->samples);
    }
    ptc_emit_object_end(out);
    return all;
}

bool ptc_inquiry_put_input(PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    bool all = true;
    pthread_mutex_lock(&run->manager->lock);
    PtcUpInput *input = call->part ? take_input(run, call->part) : NULL;
    if (input) {
        all = put_answers(run, call->part, &call->params);
        drop_part(run, call->part);
    }
    pthread_mutex_unlock(&run->manager->lock);
    if (!input)
        return true;
    if (input->has_state)
        ptc_emit_field_text(&call->params, "requestState", (PtcText){input->state, input->len});
    free_input(run->mem, input);
    return all || ptc_call_refuse(call, PTC_CALL_INPUT_REQUIRED,
                                  "its server wants an answer from a model, and nobody gave one");
}

/* ------------------------------------------------------------------------ for another process */

enum { INPUT_ANSWERED = 1, INPUT_SAMPLES = 2 };

static void save_inquiry(const PtcInquiry *q, PtcBuf *out)
{
    ptc_pack_text(out, q->server);
    ptc_pack_i64(out, (int64_t)q->number);
    ptc_pack_u32(out, (q->answered ? INPUT_ANSWERED : 0) | (q->samples ? INPUT_SAMPLES : 0));
    ptc_pack_i64(out, (int64_t)q->part);
    ptc_pack_text(out, (PtcText){q->id, q->id_len});
    ptc_pack_text(out, (PtcText){q->params, q->params_len});
    ptc_pack_text(out, (PtcText){q->answer, q->answer_len});
}

void ptc_inquiry_save(const PtcUpRun *run, PtcBuf *out)
{
    for (const PtcInquiry *q = run->inquiries; q; q = q->next)
        save_inquiry(q, out);
    ptc_pack_text(out, (PtcText){NULL, 0});
    ptc_pack_i64(out, (int64_t)run->inquired);
    for (const PtcUpInput *input = run->inputs; input; input = input->next) {
        ptc_pack_i64(out, (int64_t)input->part);
        ptc_buf_add(out, input->print, sizeof input->print);
        ptc_pack_text(out,
                      input->has_state ? (PtcText){input->state, input->len} : (PtcText){NULL, 0});
    }
    ptc_pack_i64(out, 0);
}

/* It becomes part of what a server is sent, so it must be JSON. */
static void restore_answer(const PtcUpRun *run, PtcInquiry *q, PtcPackedReader *in)
{
    PtcText answer = ptc_unpack_text(in);
    in->bad = in->bad || answer.len > PTC_INQUIRY_BYTES || (answer.bytes && !q->answered) ||
              (answer.bytes && !ptc_json_value_len(answer.bytes, answer.len));
    q->answer = answer.bytes ? ptc_run_copy_text(run->mem, in, answer, 1) : NULL;
    q->answer_len = q->answer ? answer.len : 0;
}

/* With the lock held.  False: it was the end of them. */
static bool restore_inquiry(PtcUpRun *run, PtcPackedReader *in)
{
    PtcManager *m = run->manager;
    PtcPackedReader ahead = *in;
    if (!ptc_unpack_text(&ahead).bytes) {
        *in = ahead;
        return false;
    }
    PtcText server = ptc_run_own_text(run, in);
    uint64_t number = (uint64_t)ptc_unpack_upto(in, INT64_MAX);
    uint32_t flags = ptc_unpack_below(in, INPUT_ANSWERED | INPUT_SAMPLES);
    size_t part = (size_t)ptc_unpack_upto(in, (int64_t)run->replay.count);
    PtcText id = ptc_unpack_text(in), params = ptc_unpack_text(in);
    in->bad = in->bad || !id.bytes || !params.bytes || !ptc_utf8_valid(id.bytes, id.len) ||
              number == 0 || part == 0;
    PtcInquiry *q =
        in->bad ? NULL : ptc_inquiry_add(run, server, id, flags & INPUT_SAMPLES, params);
    in->bad = in->bad || !q;
    if (!q)
        return false;
    m->last_inquiry = m->last_inquiry > number ? m->last_inquiry : number;
    q->number = number; /* by which it was asked */
    q->part = part;
    q->answered = flags & INPUT_ANSWERED;
    restore_answer(run, q, in);
    return !in->bad;
}

static bool restore_input(PtcUpRun *run, PtcPackedReader *in)
{
    size_t part = (size_t)ptc_unpack_upto(in, (int64_t)run->replay.count);
    uint8_t print[PTC_SHA256_BYTES];
    if (in->bad || part == 0)
        return false;
    ptc_unpack_copy(in, print, sizeof print);
    PtcText state = ptc_unpack_text(in);
    in->bad = in->bad || state.len > PTC_INQUIRY_BYTES ||
              (state.len && !ptc_utf8_valid(state.bytes, state.len));
    PtcUpInput *input = in->bad ? NULL : ptc_mem_alloc(run->mem, sizeof *input + state.len);
    in->bad = in->bad || !input;
    if (!input)
        return false;
    *input = (PtcUpInput){
        .next = run->inputs, .part = part, .has_state = state.bytes != NULL, .len = state.len};
    memcpy(input->print, print, sizeof print);
    if (state.len)
        memcpy(input->state, state.bytes, state.len);
    run->inputs = input;
    return true;
}

void ptc_inquiry_restore(PtcUpRun *run, PtcPackedReader *in)
{
    pthread_mutex_lock(&run->manager->lock);
    while (!in->bad && restore_inquiry(run, in))
        ;
    run->inquired = (size_t)ptc_unpack_upto(in, PTC_INQUIRIES);
    while (!in->bad && restore_input(run, in))
        ;
    pthread_mutex_unlock(&run->manager->lock);
}
