/* SPDX-License-Identifier: MIT
 * The thread that sends traces.  What always holds: the lock is never held while something is made, sent or waited
 * for; every text that was handed over is sent or counted as dropped, once. */
#include "viewer/otlp_sender.h"

#include <stdio.h>
#include <string.h>

#include "base/os/cancel.h"
#include "base/os/cond.h"
#include "base/os/thread.h"
#include "base/text/secret.h"
#include "base/units.h"
#include "net/client.h"
#include "net/retry_after.h"
#include "viewer/trace_report.h"

enum {
    SENDER_STACK = 512 * PTC_KB,
    SENDER_MEMORY = 64 * PTC_MB,
    SENDER_BODY = 32 * PTC_MB,
    SENDER_HEADERS = 32,
    SENDER_ANSWER = 64 * PTC_KB,
    OTLP_BACK_OFF_MS = 500,
    OTLP_BACK_OFF_MOST_MS = 15 * 1000,
};

typedef struct OtlpText {
    struct OtlpText *next;
    size_t len;
    char bytes[];
} OtlpText;

struct PtcOtlp {
    PtcMem mem;
    PtcOtlpConfig config;
    PtcBuf texts; /* url and service, a NUL after each, and the headers */
    PtcText headers[SENDER_HEADERS];
    size_t header_count;
    PtcClient *client;
    PtcReport report; /* of the thread, like the next two */
    PtcBuf body;
    uint64_t line;
    bool told;
    PtcCancel cancel;
    pthread_t thread;
    /* It guards everything below.  Whoever hands over a text takes it, and the thread, for a moment each; no other lock
     * is taken inside. */
    pthread_mutex_t lock;
    pthread_cond_t change, over;
    OtlpText *first, **last;
    size_t bytes;
    int64_t first_ns; /* when the first one came */
    uint64_t dropped, sent;
    int64_t end_ns; /* 0: it goes on */
    bool ended;
};

/* ------------------------------------------------------------------------------------ dropping */

static void tell_once(PtcOtlp *o, const char *why)
{
    if (!o->told && o->config.tell)
        o->config.tell(o->config.user, why);
    o->told = true;
}

static void count_dropped(PtcOtlp *o, uint64_t count)
{
    pthread_mutex_lock(&o->lock);
    o->dropped += count;
    pthread_mutex_unlock(&o->lock);
}

void ptc_otlp_lines(PtcOtlp *o, PtcText lines)
{
    OtlpText *text = ptc_mem_alloc(&o->mem, sizeof *text + lines.len);
    if (text) {
        *text = (OtlpText){.len = lines.len};
        memcpy(text->bytes, lines.bytes, lines.len);
    }
    pthread_mutex_lock(&o->lock);
    if (text && o->bytes + lines.len <= PTC_OTLP_QUEUE) {
        if (!o->first)
            o->first_ns = ptc_clock_ns(NULL);
        bool full = o->bytes < PTC_OTLP_BATCH && o->bytes + lines.len >= PTC_OTLP_BATCH;
        bool wake = !o->first || full;
        *o->last = text;
        o->last = &text->next;
        o->bytes += lines.len;
        text = NULL;
        if (wake)
            pthread_cond_signal(&o->change);
    } else {
        o->dropped++;
    }
    pthread_mutex_unlock(&o->lock);
    if (text)
        ptc_mem_free(&o->mem, text, sizeof *text + text->len);
}

uint64_t ptc_otlp_dropped(PtcOtlp *o)
{
    pthread_mutex_lock(&o->lock);
    uint64_t dropped = o->dropped;
    pthread_mutex_unlock(&o->lock);
    return dropped;
}

void ptc_otlp_metrics(PtcOtlp *o, PtcBuf *out)
{
    pthread_mutex_lock(&o->lock);
    uint64_t dropped = o->dropped, sent = o->sent;
    pthread_mutex_unlock(&o->lock);
    ptc_buf_addf(out,
                 "# HELP ptc_otlp_sent_total Calls whose traces a collector took.\n"
                 "# TYPE ptc_otlp_sent_total counter\n"
                 "ptc_otlp_sent_total %llu\n"
                 "# HELP ptc_otlp_dropped_total Calls whose traces no collector took.\n"
                 "# TYPE ptc_otlp_dropped_total counter\n"
                 "ptc_otlp_dropped_total %llu\n",
                 (unsigned long long)sent, (unsigned long long)dropped);
}

/* ------------------------------------------------------------------------------------- making */

static bool add_to_body(void *user, PtcText text)
{
    PtcOtlp *o = user;
    return ptc_buf_add(&o->body, text.bytes, text.len);
}

static void ignore_bad_line(void *user, const char *file, uint64_t line, const char *what)
{
    (void)user, (void)file, (void)line, (void)what;
}

static void report_lines(PtcOtlp *o, PtcText lines)
{
    while (lines.len) {
        const char *end = memchr(lines.bytes, '\n', lines.len);
        size_t n = end ? (size_t)(end - lines.bytes) : lines.len, all = n + (end != NULL);
        ptc_trace_report_line(&o->report, ++o->line, (PtcText){lines.bytes, n});
        lines = (PtcText){lines.bytes + all, lines.len - all};
    }
}

static void report_text(PtcOtlp *o, const OtlpText *text)
{
    if (!o->config.one)
        ptc_trace_report_begin(&o->report, "");
    report_lines(o, (PtcText){text->bytes, text->len});
    if (!o->config.one)
        ptc_trace_report_end(&o->report);
}

/* Makes the body of a request of these texts, and frees them.  How many they were; `last`: there will be no more. */
static uint64_t make_body(PtcOtlp *o, OtlpText *texts, bool last)
{
    uint64_t count = 0;
    ptc_buf_clear(&o->body);
    for (OtlpText *text = texts, *next; text; text = next, count++) {
        next = text->next;
        report_text(o, text);
        ptc_mem_free(&o->mem, text, sizeof *text + text->len);
    }
    if (last)
        ptc_trace_report_end(&o->report);
    if (!ptc_trace_report_finish(&o->report) || !ptc_buf_ok(&o->body))
        ptc_buf_clear(&o->body);
    o->report.failed = false;
    return count;
}

/* ------------------------------------------------------------------------------------ sending */

static PtcPiece ignore_piece(void *user, const PtcClientAnswer *answer, PtcText bytes)
{
    (void)user, (void)answer, (void)bytes;
    return PTC_PIECE_MORE;
}

static bool is_worth_a_try(const PtcClientAnswer *answer)
{
    int s = answer->status;
    if (!ptc_client_answered(answer))
        return answer->why.code != PTC_CLIENT_BAD_REQUEST && answer->why.code != PTC_CLIENT_BAD_TLS;
    return s == 429 || s == 502 || s == 503 || s == 504;
}

/* Until when it may be tried: not longer than the whole sender lasts. */
static int64_t end_of_tries(PtcOtlp *o, int64_t end)
{
    pthread_mutex_lock(&o->lock);
    if (o->end_ns && o->end_ns < end)
        end = o->end_ns;
    pthread_mutex_unlock(&o->lock);
    return end;
}

/* What the collector asks for, or twice as long as the last time, not all senders at once; when the end comes it is
 * tried once more, now.  False: that is too late. */
static bool wait_to_try(PtcOtlp *o, const PtcClientAnswer *answer, unsigned tries, int64_t end)
{
    uint32_t odd = 0;
    int64_t ms = OTLP_BACK_OFF_MS << (tries < 6 ? tries : 6);
    int64_t asked = ptc_retry_after_ms(ptc_text_cstr(answer->retry_after), ptc_clock_wall_ms());
    (void)!ptc_random_bytes(&odd, sizeof odd);
    ms = ms < OTLP_BACK_OFF_MOST_MS ? ms : OTLP_BACK_OFF_MOST_MS;
    ms = asked > 0 ? asked : ms / 2 + odd % (ms / 2 + 1);
    int64_t until = ptc_clock_ns(NULL) + ms * PTC_MS;
    if (until > end)
        return false;
    pthread_mutex_lock(&o->lock);
    bool ending = o->end_ns != 0;
    until = ending && o->end_ns < until ? o->end_ns : until;
    while ((ending || !o->end_ns) && ptc_clock_ns(NULL) < until)
        (void)ptc_cond_wait_until(&o->change, &o->lock, until);
    pthread_mutex_unlock(&o->lock);
    return ptc_clock_ns(NULL) < end_of_tries(o, end);
}

static bool send_once(PtcOtlp *o, PtcClientAnswer *answer, int64_t end)
{
    int64_t most = ptc_clock_ns(NULL) + PTC_OTLP_SEND_MS * PTC_MS;
    PtcClientRequest request = {.method = "POST",
                                .url = o->config.url,
                                .body = ptc_buf_view(&o->body),
                                .headers = o->headers,
                                .header_count = o->header_count,
                                .plain = true,
                                .max_body = SENDER_ANSWER,
                                .deadline_ns = most < end ? most : end,
                                .cancel = &o->cancel,
                                .piece = ignore_piece};
    ptc_client_send(o->client, &o->mem, &request, answer);
    return ptc_client_answered(answer) && answer->status / 100 == 2;
}

static void tell_failure(PtcOtlp *o, const PtcClientAnswer *answer)
{
    char why[400];
    if (ptc_client_answered(answer))
        snprintf(why, sizeof why, "the collector answered %d", answer->status);
    else
        snprintf(why, sizeof why, "%.380s", answer->why.text);
    tell_once(o, why);
}

static void send_body(PtcOtlp *o, uint64_t count)
{
    int64_t end = ptc_clock_ns(NULL) + PTC_OTLP_TRY_MS * PTC_MS;
    for (unsigned tries = 0;; tries++) {
        PtcClientAnswer answer;
        bool ok = send_once(o, &answer, end_of_tries(o, end));
        bool again = !ok && is_worth_a_try(&answer) && wait_to_try(o, &answer, tries, end);
        if (!ok && !again)
            tell_failure(o, &answer);
        ptc_client_answer_deinit(&answer);
        if (again)
            continue;
        pthread_mutex_lock(&o->lock);
        *(ok ? &o->sent : &o->dropped) += count;
        pthread_mutex_unlock(&o->lock);
        return;
    }
}

/* ------------------------------------------------------------------------------------- thread */

/* With the lock held: as many as go into one request, one at least. */
static OtlpText *take_batch(PtcOtlp *o)
{
    OtlpText *texts = o->first, **at = &o->first;
    size_t bytes = 0;
    while (*at && (!bytes || bytes + (*at)->len <= PTC_OTLP_BATCH)) {
        bytes += (*at)->len;
        at = &(*at)->next;
    }
    o->first = *at;
    if (!o->first)
        o->last = &o->first;
    *at = NULL;
    o->bytes -= bytes;
    return texts;
}

/* With the lock held.  False: there is nothing left, and nothing will come. */
static bool await_batch(PtcOtlp *o)
{
    while (!o->first && !o->end_ns)
        pthread_cond_wait(&o->change, &o->lock);
    int64_t until = o->first_ns + PTC_OTLP_BATCH_MS * PTC_MS;
    while (!o->end_ns && o->bytes < PTC_OTLP_BATCH && ptc_clock_ns(NULL) < until)
        (void)ptc_cond_wait_until(&o->change, &o->lock, until);
    return o->first != NULL;
}

/* A run whose parts have not ended yet has nothing to tell. */
static bool has_spans(const PtcOtlp *o)
{
    static const char none[] = "{\"resourceSpans\":[]}";
    return !ptc_text_starts(ptc_buf_view(&o->body), none);
}

static void send_batch(PtcOtlp *o, OtlpText *texts, bool last)
{
    uint64_t count = make_body(o, texts, last);
    if (!o->body.len)
        count_dropped(o, count);
    else if (has_spans(o))
        send_body(o, count);
}

static void *send_traces(void *user)
{
    PtcOtlp *o = user;
    pthread_mutex_lock(&o->lock);
    while (await_batch(o)) {
        OtlpText *texts = take_batch(o);
        pthread_mutex_unlock(&o->lock);
        send_batch(o, texts, false);
        pthread_mutex_lock(&o->lock);
    }
    pthread_mutex_unlock(&o->lock);
    if (o->config.one)
        send_batch(o, NULL, true);
    pthread_mutex_lock(&o->lock);
    o->ended = true;
    pthread_cond_broadcast(&o->over);
    pthread_mutex_unlock(&o->lock);
    return NULL;
}

/* -------------------------------------------------------------------------------- new and free */

static bool keep_otlp_texts(PtcOtlp *o)
{
    static const char json[] = "Content-Type: application/json\n";
    const PtcOtlpConfig *c = &o->config;
    size_t url = strlen(c->url) + 1, service = strlen(c->service) + 1;
    ptc_buf_add(&o->texts, c->url, url);
    ptc_buf_add(&o->texts, c->service, service);
    ptc_buf_add(&o->texts, json, sizeof json - 1);
    if (c->headers.len)
        ptc_buf_add(&o->texts, c->headers.bytes, c->headers.len);
    if (!ptc_buf_ok(&o->texts))
        return false;
    o->config.url = o->texts.data;
    o->config.service = o->report.service = o->texts.data + url;
    PtcText lines = {o->texts.data + url + service, o->texts.len - url - service};
    o->header_count = ptc_client_header_lines(lines, o->headers, SENDER_HEADERS);
    return true;
}

static bool open_report(PtcOtlp *o)
{
    o->report.write = add_to_body;
    o->report.tell = ignore_bad_line;
    o->report.user = o;
    if (!ptc_trace_report_init(&o->report, &o->mem, &ptc_form_otlp))
        return false;
    if (o->config.one)
        ptc_trace_report_begin(&o->report, "");
    return true;
}

static void release_otlp(PtcOtlp *o)
{
    PtcMem mem;
    if (o->client)
        ptc_client_free(o->client);
    if (o->report.parts)
        ptc_trace_report_deinit(&o->report);
    ptc_buf_deinit(&o->body);
    ptc_buf_deinit(&o->texts);
    pthread_mutex_destroy(&o->lock);
    pthread_cond_destroy(&o->change);
    pthread_cond_destroy(&o->over);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *o);
    ptc_mem_free(&mem, o, sizeof *o);
}

PtcOtlp *ptc_otlp_new(const PtcOtlpConfig *config, PtcWhy *why)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    ptc_why_no_memory(why);
    PtcOtlp *o = ptc_mem_alloc(&mem, sizeof *o);
    if (!o)
        return NULL;
    memset(o, 0, sizeof *o);
    o->config = *config;
    o->last = &o->first;
    ptc_mem_init(&o->mem, SENDER_MEMORY);
    ptc_buf_init(&o->texts, &o->mem, PTC_MB);
    ptc_buf_init(&o->body, &o->mem, SENDER_BODY);
    pthread_mutex_init(&o->lock, NULL);
    ptc_cond_init(&o->change);
    ptc_cond_init(&o->over);
    if (keep_otlp_texts(o) && (o->client = ptc_client_new(&o->mem, NULL)) && open_report(o) &&
        ptc_thread_start(&o->thread, SENDER_STACK, send_traces, o))
        return o;
    release_otlp(o);
    return NULL;
}

void ptc_otlp_free(PtcOtlp *o)
{
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    o->end_ns = ptc_clock_ns(NULL) + PTC_OTLP_END_MS * PTC_MS;
    pthread_cond_broadcast(&o->change);
    while (!o->ended && ptc_clock_ns(NULL) < o->end_ns)
        (void)ptc_cond_wait_until(&o->over, &o->lock, o->end_ns);
    pthread_mutex_unlock(&o->lock);
    ptc_cancel_ask(&o->cancel);
    pthread_join(o->thread, NULL);
    release_otlp(o);
}
