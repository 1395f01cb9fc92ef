/* SPDX-License-Identifier: MIT
 * One exchange over HTTP.  What always holds: a request is sent once, except after a redirect within its server, which
 * says that it was not accepted; a stream that ended early is taken up again by GET, never by sending again. */
#include "mcp/client/http_job_int.h"

#include <poll.h>
#include <stdio.h>
#include <strings.h>

#include "base/text/secret.h"
#include "json/members.h"

enum {
    HTTP_HEADERS = 96,
    HEADER_BYTES = 256 * PTC_KB,
    RESUMES = 20,     /* of one stream without a new event */
    RESUME_MS = 1000, /* unless the server says otherwise */
    RESUME_MOST_MS = 30 * 1000,
    HTTP_LAST_MS = 1000, /* for a DELETE */
    HTTP_SLICE_MS = 20,
};

PtcLinkJob *ptc_http_job_new(PtcLink *l, JobKind kind)
{
    PtcLinkJob *job = ptc_mem_alloc(l->mem, sizeof *job);
    if (!job)
        return NULL;
    memset(job, 0, sizeof *job);
    job->link = l;
    job->kind = kind;
    ptc_buf_init(&job->body, l->mem, PTC_UNBOUNDED);
    ptc_buf_init(&job->headers, l->mem, HEADER_BYTES);
    ptc_buf_init(&job->text, l->mem, l->config.max_message);
    ptc_why_init(&job->why);
    ptc_sse_init(&job->sse, l->mem, l->config.max_message);
    return job;
}

void ptc_http_job_free(PtcLinkJob *job)
{
    atomic_fetch_sub(&job->link->unasked, job->unasked);
    ptc_buf_deinit(&job->body);
    ptc_buf_deinit(&job->headers);
    ptc_buf_deinit(&job->text);
    ptc_sse_deinit(&job->sse);
    ptc_client_answer_deinit(&job->answer);
    ptc_mem_free(job->link->mem, job, sizeof *job);
}

/* -------------------------------------------------------------------------- headers */

static void add_header_line(PtcBuf *out, const char *name, const char *value)
{
    if (*value)
        ptc_buf_addf(out, "%s: %s\n", name, value);
}

/* All lines in one buffer, which has credentials in it.  False: the credentials cannot be read. */
static bool write_job_headers(PtcLinkJob *job, PtcBuf *out)
{
    const PtcLinkConfig *c = &job->link->config;
    if (job->kind == JOB_POST) {
        add_header_line(out, "Content-Type", "application/json");
        add_header_line(out, "Accept", "application/json, text/event-stream");
    } else if (job->kind == JOB_LISTEN) {
        add_header_line(out, "Accept", "text/event-stream");
    }
    add_header_line(out, "MCP-Protocol-Version", job->version);
    add_header_line(out, "Mcp-Session-Id", job->session);
    if (job->sse.id_len)
        ptc_buf_addf(out, "Last-Event-ID: %.*s\n", PTC_ARG_OF(job->sse.id, job->sse.id_len));
    ptc_buf_add(out, ptc_buf_view(&job->headers).bytes, job->headers.len);
    if (out->len && out->data[out->len - 1] != '\n')
        ptc_buf_add(out, "\n", 1);
    if (c->headers && !c->headers(c->user, out, &job->why))
        return false;
    return ptc_buf_ok(out);
}

/* --------------------------------------------------------------------------- answer */

/* Is this the answer to the job's request?  Then the stream has nothing more for us. */
static bool is_answer_to_job(const PtcLinkJob *job, PtcText text)
{
    PtcText key, value;
    int64_t id = 0;
    bool answer = false;
    if (!job->id)
        return false;
    PtcMembers members = ptc_members_of(text);
    while (!members.array && ptc_members_next(&members, &key, &value)) {
        if (ptc_text_is(key, "id") && !ptc_members_int(value, &id))
            return false;
        if (ptc_text_is(key, "method"))
            return false;
        answer |= ptc_text_is(key, "result") || ptc_text_is(key, "error");
    }
    return answer && id > 0 && (uint64_t)id == job->id;
}

static void note_answered(PtcLinkJob *job)
{
    pthread_mutex_lock(&job->link->lock);
    job->answered = true;
    pthread_mutex_unlock(&job->link->lock);
}

static bool on_event(void *user, PtcText name, PtcText data)
{
    PtcLinkJob *job = user;
    job->heard = true;
    if (job->endless_sse && ptc_text_is(name, "endpoint"))
        return ptc_http_arrive(job, data, true);
    if (data.len == 0 || (name.len && !ptc_text_is(name, "message")))
        return true;
    bool answer = is_answer_to_job(job, data);
    if (answer)
        note_answered(job);
    bool taken = ptc_http_arrive(job, data, false);
    job->no_memory |= !taken && !ptc_cancelled(&job->cancel);
    return taken && !answer;
}

static PtcPiece take_events(PtcLinkJob *job, PtcText bytes)
{
    job->is_stream = true;
    PtcWhy why;
    if (ptc_sse_feed(&job->sse, bytes, &why))
        return PTC_PIECE_MORE;
    job->too_large |= why.class == PTC_WHY_REFUSED;
    job->no_memory |= why.class == PTC_WHY_NO_MEMORY;
    return job->answered ? PTC_PIECE_ENOUGH : PTC_PIECE_STOP; /* only this thread sets it */
}

/* The session must be known before the answer arrives, because what follows is sent with it. */
static void take_session(PtcLinkJob *job, const PtcClientAnswer *answer);

static PtcPiece take_job_piece(void *user, const PtcClientAnswer *answer, PtcText bytes)
{
    PtcLinkJob *job = user;
    if (job->bytes == 0 && job->opens)
        take_session(job, answer);
    job->bytes += bytes.len;
    if (strncasecmp(answer->content_type, "text/event-stream", 17) == 0)
        return take_events(job, bytes);
    if (ptc_buf_add(&job->text, bytes.bytes, bytes.len))
        return PTC_PIECE_MORE;
    job->too_large = job->text.full;
    job->no_memory = job->text.failed;
    return PTC_PIECE_STOP;
}

static bool is_visible_text(const char *text)
{
    for (; *text; text++)
        if (*text < '!' || *text > '~')
            return false;
    return true;
}

static void take_session(PtcLinkJob *job, const PtcClientAnswer *answer)
{
    if (answer->session_id[0] && is_visible_text(answer->session_id))
        snprintf(job->session, sizeof job->session, "%s", answer->session_id);
    else
        job->session[0] = 0;
    ptc_http_set_session(job);
}

/* ------------------------------------------------------------------------- exchange */

/* Nothing was taken of a request that was refused, so with other credentials it may be sent again. */
static bool has_others(PtcLinkJob *job, PtcText lines)
{
    const PtcLinkConfig *c = &job->link->config;
    const PtcClientAnswer *a = &job->answer;
    return c->refused && ptc_client_answered(a) && (a->status == 401 || a->status == 403) &&
           c->refused(c->user, a->status, a->www_authenticate, lines, &job->why);
}

/* True: it was refused, and there are other credentials now. */
static bool send_job_once(PtcLinkJob *job, const char *method, bool first)
{
    PtcBuf all;
    bool again = false;
    PtcText lines[HTTP_HEADERS + 1];
    PtcLink *l = job->link;
    ptc_buf_init(&all, l->mem, HEADER_BYTES);
    ptc_client_answer_deinit(&job->answer);
    job->answer = (PtcClientAnswer){.why = {PTC_WHY_INVALID, PTC_CLIENT_BAD_REQUEST, "", ""}};
    bool made = write_job_headers(job, &all);
    size_t count = ptc_client_header_lines(ptc_buf_view(&all), lines, HTTP_HEADERS + 1);
    if (made && count > HTTP_HEADERS) {
        ptc_why_say_code(&job->answer.why, PTC_WHY_INVALID, PTC_CLIENT_BAD_REQUEST,
                         "the request has more than %d lines of headers", HTTP_HEADERS);
    } else if (made) {
        bool posts = *method == 'P';
        PtcClientRequest r = {
            .method = method,
            .url = job->url,
            .body = posts ? ptc_buf_view(&job->body) : (PtcText){NULL, 0},
            .headers = lines,
            .header_count = count,
            .plain = l->config.insecure_http,
            .stream = job->forever,
            .max_body = PTC_UNBOUNDED, /* of a stream; what comes in one piece is counted */
            .max_told = l->config.max_message,
            .connect_ms = l->config.connect_ms,
            .silence_ms =
                l->config.silence_ms > 0 && !job->forever ? l->config.silence_ms : INT64_MAX,
            .total_ms = job->kind == JOB_DELETE ? HTTP_LAST_MS
                        : job->gates            ? l->config.handshake_ms
                                                : INT64_MAX,
            .deadline_ns = INT64_MAX,
            .cancel = &job->cancel,
            .piece = take_job_piece,
            .user = job};
        ptc_client_send(l->config.http, l->mem, &r, &job->answer);
        again = first && has_others(job, ptc_buf_view(&all));
    } else if (job->why.class == PTC_WHY_NONE) {
        job->no_memory = true;
    }
    if (all.data)
        ptc_secret_wipe(all.data, all.len);
    ptc_buf_deinit(&all);
    return again;
}

static void send_job_request(PtcLinkJob *job, const char *method)
{
    if (send_job_once(job, method, true))
        (void)send_job_once(job, method, false);
}

/* Where a redirect leads, if it stays on this server.  Nothing was taken before it, so it may be sent there. */
static bool follow_job_redirect(PtcLinkJob *job)
{
    const PtcClientAnswer *a = &job->answer;
    PtcUrl here, there;
    char url[PTC_URL_BYTES + 1];
    if (!ptc_client_answered(a) || (a->status != 307 && a->status != 308) || job->redirected)
        return false;
    if (!a->location[0] || !ptc_url_parse(ptc_text_cstr(job->url), &here, NULL) ||
        !ptc_url_resolve(job->url, a->location, url) ||
        !ptc_url_parse(ptc_text_cstr(url), &there, NULL) || !ptc_url_same_server(&here, &there))
        return false;
    memcpy(job->url, url, strlen(url) + 1);
    job->redirected = true;
    return true;
}

/* False: it was cancelled. */
static bool wait_unless_cancelled(PtcLinkJob *job, int64_t ms)
{
    if (ms > RESUME_MOST_MS)
        ms = RESUME_MOST_MS;
    for (; ms > 0 && !ptc_cancelled(&job->cancel); ms -= HTTP_SLICE_MS)
        poll(NULL, 0, (int)(ms < HTTP_SLICE_MS ? ms : HTTP_SLICE_MS));
    return !ptc_cancelled(&job->cancel);
}

/* Did a stream end before its answer, and can it be taken up where it ended? */
static bool can_resume(const PtcLinkJob *job)
{
    const PtcClientAnswer *a = &job->answer;
    bool broken = ptc_client_answered(a) || a->why.code == PTC_CLIENT_BROKEN ||
                  a->why.code == PTC_CLIENT_SILENCE;
    return job->is_stream && !job->answered && !job->too_large && !job->no_memory && broken &&
           job->sse.id_len > 0 && a->status >= 200 && a->status < 300 &&
           !ptc_cancelled(&job->cancel);
}

static void begin_stream(PtcLinkJob *job)
{
    PtcSse *sse = &job->sse;
    ptc_buf_clear(&sse->line);
    ptc_buf_clear(&sse->data);
    sse->has_data = sse->after_cr = sse->begun = false;
    sse->name_len = 0;
    job->heard = false;
}

static void exchange_job(PtcLinkJob *job)
{
    static const char *const methods[] = {"POST", "GET", "DELETE"};
    send_job_request(job, methods[job->kind]);
    if (follow_job_redirect(job))
        send_job_request(job, methods[job->kind]);
    if (job->is_stream && ptc_client_answered(&job->answer) && !job->answered)
        (void)!ptc_sse_end(&job->sse, NULL);
}

/* A stream of the modern era is not taken up: the request died with it. */
static void resume(PtcLinkJob *job)
{
    for (int tries = 0; tries < RESUMES && can_resume(job); tries++) {
        int64_t ms = job->sse.retry_ms >= 0 ? job->sse.retry_ms : RESUME_MS;
        if (!wait_unless_cancelled(job, ms))
            return;
        begin_stream(job);
        send_job_request(job, "GET");
        if (job->is_stream && ptc_client_answered(&job->answer) && !job->answered)
            (void)!ptc_sse_end(&job->sse, NULL);
        if (job->heard)
            tries = 0;
    }
}

/* The stream of messages that belong to no request.  It is opened again when it ends, more slowly while nothing
 * comes. */
static void listen(PtcLinkJob *job)
{
    for (int silent = 0; !ptc_cancelled(&job->cancel) && silent < RESUMES; silent++) {
        begin_stream(job);
        job->is_stream = false;
        exchange_job(job);
        bool opened = job->answer.status >= 200 && job->answer.status < 300 && job->is_stream;
        bool broke = ptc_client_answered(&job->answer) || job->answer.why.code == PTC_CLIENT_BROKEN;
        if (!opened || !broke || job->endless_sse || job->too_large || job->no_memory)
            return;
        if (job->heard)
            silent = 0;
        int64_t ms =
            job->sse.retry_ms >= 0 ? job->sse.retry_ms : RESUME_MS << (silent < 5 ? silent : 5);
        if (!wait_unless_cancelled(job, ms))
            return;
    }
}

void ptc_http_job_run(PtcLinkJob *job)
{
    job->sse.event = on_event;
    job->sse.user = job;
    if (job->kind == JOB_LISTEN) {
        listen(job);
    } else {
        exchange_job(job);
        if (job->kind == JOB_POST && !job->forever && job->resumable)
            resume(job);
        if (job->text.len && !job->too_large && !job->no_memory &&
            ptc_client_answered(&job->answer)) {
            if (is_answer_to_job(job, ptc_buf_view(&job->text)))
                note_answered(job);
            job->no_memory = !ptc_http_arrive(job, ptc_buf_view(&job->text), false);
        }
    }
    ptc_http_end(job);
}
