/* SPDX-License-Identifier: MIT
 * Replaying.  What always holds: a line is used once; `used` is only touched under the lock, the rest never changes
 * after opening. */
#include "llm/replay.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "llm/json_difference.h"
#include "llm/line_file.h"
#include "llm/llm_json.h"
#include "llm/record_model.h"
#include "llm/waiting.h"
#include "value/str.h"

typedef struct ReplayLine {
    char hash[PTC_RECORD_HASH];
    PtcText agent; /* in the arena */
    size_t model;  /* which of the models */
    bool used;
} ReplayLine;

typedef struct Replay {
    PtcModel model;
    PtcReplayOptions options;
    PtcArena arena; /* name, agents, models, lines */
    PtcLineFile file;
    ReplayLine *lines;
    PtcText models[PTC_REPLAY_MODELS];
    size_t model_count;
    /* It guards which lines were used.  Agents that run side by side take it to claim a line; no other lock is taken
     * inside. */
    pthread_mutex_t lock;
} Replay;

/* ------------------------------------------------------------------------------- opening */

/* Always false. */
static bool refuse_replay_line(PtcWhy *why, uint32_t line, const char *what)
{
    return ptc_why_say(why, PTC_WHY_INVALID, "line %u: %s", line, what);
}

/* The number of a model, which is new or known. */
static bool number_model(Replay *r, PtcText name, size_t *number)
{
    bool failed = false;
    for (*number = 0; *number < r->model_count; ++*number)
        if (ptc_text_same(r->models[*number], name))
            return true;
    if (r->model_count == PTC_REPLAY_MODELS)
        return false;
    r->models[r->model_count++] = ptc_reply_keep(&r->arena, name, &failed);
    return !failed;
}

static bool read_replay_line(Replay *r, PtcJsonBox *box, size_t i, PtcWhy *why)
{
    bool failed = false;
    uint32_t number = r->file.numbers[i];
    ReplayLine *line = &r->lines[i];
    PtcValue v = ptc_json_box_read(box, r->file.lines[i], why);
    if (v == PTC_NONE)
        return ptc_why_prefix(why, "line %u: ", number);
    PtcText hash = ptc_json_box_text(box, v, "hash"), model = ptc_json_box_text(box, v, "model");
    PtcText agent = ptc_json_box_text(box, v, "agent");
    if (ptc_json_box_count(box, v, "ptc_record", INT64_MAX, -1) != PTC_RECORD_VERSION)
        return refuse_replay_line(why, number,
                                  "not a line of a record of version 1 (\"ptc_record\": 1)");
    if (hash.len != PTC_RECORD_HASH - 1 || !model.bytes || !agent.bytes ||
        ptc_json_box_get(box, v, "request") == PTC_NONE)
        return refuse_replay_line(why, number,
                                  "\"model\", \"agent\", \"hash\" or \"request\" is missing");
    memcpy(line->hash, hash.bytes, hash.len);
    line->agent = ptc_reply_keep(&r->arena, agent, &failed);
    if (!number_model(r, model, &line->model))
        return refuse_replay_line(why, number,
                                  "too many different models, or ptc is out of memory");
    r->model.network = r->model.network || ptc_json_box_bool(box, v, "network");
    return !failed || (ptc_why_no_memory(why), ptc_why_prefix(why, "line %u: ", number));
}

static bool fill_replay(Replay *r, PtcWhy *why)
{
    PtcJsonBox box;
    bool failed = false, ok = true;
    PtcText name = ptc_reply_keep(&r->arena, ptc_text_cstr(r->options.name), &failed);
    r->lines = ptc_arena_zalloc(&r->arena, (r->file.count + 1) * sizeof *r->lines);
    if (failed || !r->lines)
        return ptc_why_no_memory(why);
    r->model.name = name.bytes;
    ptc_json_box_init(&box, r->options.mem);
    for (size_t i = 0; ok && i < r->file.count; i++) {
        ok = read_replay_line(r, &box, i, why);
        ptc_json_box_clear(&box);
    }
    ptc_json_box_deinit(&box);
    /* Replaying a run with only one model counts as a run of that model. */
    if (ok && r->model_count == 1)
        r->model.name = r->models[0].bytes;
    return ok;
}

/* ------------------------------------------------------------------------------- answers */

/* The body that a model of the record would be sent, without secrets. */
static bool make_body(const Replay *r, size_t model, const PtcLlmRequest *request, PtcBuf *out)
{
    PtcBuf plain;
    ptc_buf_init(&plain, out->mem, PTC_LINE_FILE_LINE);
    bool ok = r->options.body ? r->options.body(r->options.user, r->models[model], request, &plain)
                              : ptc_llm_json_write_request(&plain, request);
    if (ok && r->options.keys)
        ptc_secrets_blot(&r->options.keys->shown, out, ptc_buf_view(&plain), false);
    else if (ok)
        ptc_buf_add(out, plain.data, plain.len);
    ptc_buf_deinit(&plain);
    return ok && ptc_buf_ok(out);
}

static bool make_hashes(const Replay *r, const PtcLlmRequest *request, PtcMem *mem,
                        char hashes[][PTC_RECORD_HASH])
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->model_count; i++) {
        PtcBuf body;
        ptc_buf_init(&body, mem, PTC_LINE_FILE_LINE);
        ok = make_body(r, i, request, &body);
        if (ok)
            ptc_record_hash(ptc_buf_view(&body), hashes[i]);
        ptc_buf_deinit(&body);
    }
    return ok;
}

/* The first unused line with the same body; with `hashes` NULL, the first of the same agent. */
static size_t find_replay_line(const Replay *r, PtcText agent, char hashes[][PTC_RECORD_HASH])
{
    for (size_t i = 0; i < r->file.count; i++) {
        const ReplayLine *line = &r->lines[i];
        if (!line->used && (hashes ? strcmp(line->hash, hashes[line->model]) == 0
                                   : ptc_text_same(line->agent, agent)))
            return i;
    }
    return SIZE_MAX;
}

static size_t find_any(const Replay *r)
{
    size_t i = 0;
    while (i < r->file.count && r->lines[i].used)
        i++;
    return i < r->file.count ? i : SIZE_MAX;
}

/* Takes the line for a request; if there is none, *near is the one to compare with. */
static size_t take_replay_line(Replay *r, PtcText agent, char hashes[][PTC_RECORD_HASH],
                               size_t *near)
{
    pthread_mutex_lock(&r->lock);
    size_t i = find_replay_line(r, agent, hashes);
    *near = i == SIZE_MAX ? find_replay_line(r, agent, NULL) : i;
    if (i == SIZE_MAX && r->options.loose)
        i = *near != SIZE_MAX ? *near : find_any(r);
    if (i != SIZE_MAX)
        r->lines[i].used = true;
    pthread_mutex_unlock(&r->lock);
    return i;
}

static PtcText shown_agent(PtcText agent)
{
    return agent.len ? agent : PTC_TEXT("the top agent");
}

/* Says how a request differs from that of a line.  True: the bodies differ only in notation, which counts as the
 * same. */
static bool compare_with_line(const Replay *r, size_t i, const PtcLlmRequest *request,
                              PtcReply *reply)
{
    PtcBuf body, words;
    PtcJsonBox box;
    ptc_buf_init(&body, reply->mem, PTC_LINE_FILE_LINE);
    ptc_buf_init(&words, reply->mem, 1024);
    ptc_json_box_init(&box, reply->mem);
    bool same = false, ok = make_body(r, r->lines[i].model, request, &body);
    PtcValue line = ptc_json_box_read(&box, r->file.lines[i], NULL);
    PtcValue now = ptc_json_box_read(&box, ptc_buf_view(&body), NULL);
    PtcValue then = ptc_json_box_get(&box, line, "request");
    if (!ok || now == PTC_NONE || then == PTC_NONE)
        ptc_reply_fail(reply, PTC_LLM_REPLAY_MISMATCH,
                       PTC_TEXT("the request is not the recorded one"));
    else if (!ptc_json_difference(&box, then, now, &words))
        same = true;
    else
        ptc_reply_failf(reply, PTC_LLM_REPLAY_MISMATCH,
                        "the request is not that of line %u of the record: %.*s",
                        r->file.numbers[i], PTC_ARG_OF(words.data, words.len));
    ptc_json_box_deinit(&box);
    ptc_buf_deinit(&words);
    ptc_buf_deinit(&body);
    return same;
}

static void answer_from_line(Replay *r, size_t i, PtcReply *reply)
{
    PtcJsonBox box;
    PtcWhy why;
    int64_t sleep_ms;
    ptc_json_box_init(&box, reply->mem);
    PtcValue line = ptc_json_box_read(&box, r->file.lines[i], &why);
    PtcValue v = ptc_json_box_get(&box, line, "reply");
    if (v == PTC_NONE)
        ptc_reply_failf(reply, PTC_LLM_UNKNOWN, "line %u of the record has no reply",
                        r->file.numbers[i]);
    else if (!ptc_llm_json_read_reply(&box, v, reply, &sleep_ms, &why))
        ptc_reply_failf(reply, PTC_LLM_UNKNOWN, "line %u of the record: %s", r->file.numbers[i],
                        why.text);
    ptc_json_box_deinit(&box);
}

/* Takes a line that was compared and found to be the same, unless another thread was faster. */
static bool claim(Replay *r, size_t i)
{
    pthread_mutex_lock(&r->lock);
    bool free = !r->lines[i].used;
    r->lines[i].used = true;
    pthread_mutex_unlock(&r->lock);
    return free;
}

static void replay_ask(PtcModel *self, const PtcLlmRequest *request, PtcArena *arena,
                       PtcLlmReply *out)
{
    Replay *r = (Replay *)self;
    char hashes[PTC_REPLAY_MODELS][PTC_RECORD_HASH];
    PtcText agent = request->agent.bytes ? request->agent : PTC_TEXT("");
    PtcReply reply;
    size_t near = SIZE_MAX, i = SIZE_MAX;
    ptc_reply_init(&reply, arena->mem, NULL, r->options.keys);
    if (!make_hashes(r, request, arena->mem, hashes))
        ptc_reply_fail(&reply, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory"));
    else
        i = take_replay_line(r, agent, hashes, &near);
    if (ptc_reply_ok(&reply) && i == SIZE_MAX && near != SIZE_MAX &&
        compare_with_line(r, near, request, &reply) && claim(r, near))
        i = near;
    if (i != SIZE_MAX)
        answer_from_line(r, i, &reply);
    else
        ptc_reply_failf(&reply, PTC_LLM_REPLAY_MISMATCH,
                        "the record has no further request of %.*s", PTC_ARG(shown_agent(agent)));
    ptc_reply_finish(&reply, arena, out);
    ptc_waiting_hand_on(request, arena, out);
    ptc_reply_deinit(&reply);
}

static bool replay_body(PtcModel *self, const PtcLlmRequest *request, PtcBuf *out)
{
    const Replay *r = (const Replay *)self;
    return r->model_count ? make_body(r, 0, request, out)
                          : ptc_llm_json_write_request(out, request);
}

static void replay_free(PtcModel *self)
{
    Replay *r = (Replay *)self;
    PtcMem *mem = r->options.mem;
    ptc_line_file_deinit(&r->file);
    ptc_arena_deinit(&r->arena);
    pthread_mutex_destroy(&r->lock);
    ptc_mem_free(mem, r, sizeof *r);
}

static Replay *make_replay(const PtcReplayOptions *options, PtcWhy *why)
{
    Replay *r = ptc_mem_alloc(options->mem, sizeof *r);
    if (!r) {
        ptc_why_no_memory(why);
        return NULL;
    }
    *r = (Replay){.model = {.ask = replay_ask, .body = replay_body, .free = replay_free},
                  .options = *options};
    r->file.mem = options->mem;
    ptc_arena_init(&r->arena, options->mem);
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

PtcModel *ptc_replay_open(const PtcReplayOptions *options, const char *path, PtcWhy *why)
{
    Replay *r = make_replay(options, why);
    if (!r || (ptc_line_file_read(&r->file, options->mem, path, why) && fill_replay(r, why)))
        return r ? &r->model : NULL;
    replay_free(&r->model);
    return NULL;
}
