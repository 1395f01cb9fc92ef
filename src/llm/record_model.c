/* SPDX-License-Identifier: MIT
 * Recording.  What always holds: a line is either complete or not written at all, and secrets are removed before it
 * is measured or hashed. */
#include "llm/record_model.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/hex.h"
#include "base/text/hmac.h"
#include "json/check.h"
#include "json/emit.h"
#include "llm/line_file.h"
#include "llm/llm_json.h"

struct PtcRecordFile {
    PtcMem *mem;
    const PtcProviderKeys *keys;
    /* It guards everything below, and is held while a line is written, so that lines of agents that run side by
     * side stay whole.  No other lock is taken inside. */
    pthread_mutex_t lock;
    int fd;
    bool begun;        /* a line was written, and what the file had before is gone */
    char trouble[160]; /* why a line is missing; "": none is */
};

void ptc_record_hash(PtcText body, char hash[PTC_RECORD_HASH])
{
    uint8_t digest[PTC_SHA256_BYTES];
    ptc_sha256(body.bytes ? body.bytes : "", body.len, digest);
    ptc_hex_write(hash, digest, sizeof digest);
}

/* --------------------------------------------------------------------------------- file */

PtcRecordFile *ptc_record_file_open(PtcMem *mem, const char *path, const PtcProviderKeys *keys,
                                    PtcWhy *why)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s", strerror(errno));
        return NULL;
    }
    PtcRecordFile *file = ptc_mem_alloc(mem, sizeof *file);
    if (!file) {
        close(fd);
        ptc_why_no_memory(why);
        return NULL;
    }
    *file = (PtcRecordFile){.mem = mem, .keys = keys, .fd = fd};
    pthread_mutex_init(&file->lock, NULL);
    return file;
}

bool ptc_record_file_close(PtcRecordFile *file, PtcWhy *why)
{
    bool ok = !file->trouble[0];
    if (!ok)
        ptc_why_say(why, PTC_WHY_INVALID, "%s", file->trouble);
    if (close(file->fd) != 0 && ok) {
        ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s", strerror(errno));
        ok = false;
    }
    pthread_mutex_destroy(&file->lock);
    ptc_mem_free(file->mem, file, sizeof *file);
    return ok;
}

static void note_record_trouble(PtcRecordFile *file, const char *what)
{
    pthread_mutex_lock(&file->lock);
    if (!file->trouble[0])
        snprintf(file->trouble, sizeof file->trouble, "%s", what);
    pthread_mutex_unlock(&file->lock);
}

/* Removes what the file had before; pipes and devices have nothing. */
static void begin_record_file(PtcRecordFile *file)
{
    struct stat st;
    if (fstat(file->fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(file->fd, 0) != 0)
        snprintf(file->trouble, sizeof file->trouble, "%s", strerror(errno));
    file->begun = true;
}

/* After a truncated line nothing more is written: it would be read as part of that line. */
static void write_record_line(PtcRecordFile *file, PtcText line)
{
    pthread_mutex_lock(&file->lock);
    if (!file->begun)
        begin_record_file(file);
    while (line.len && !file->trouble[0]) {
        ssize_t n = write(file->fd, line.bytes, line.len);
        if (n < 0 && errno != EINTR)
            snprintf(file->trouble, sizeof file->trouble, "%s", strerror(errno));
        if (n > 0)
            line = (PtcText){line.bytes + n, line.len - (size_t)n};
    }
    pthread_mutex_unlock(&file->lock);
}

/* -------------------------------------------------------------------------------- lines */

/* Appends text without secrets; false: out of memory. */
static bool blot_record_text(const PtcRecordFile *file, PtcBuf *out, PtcText text)
{
    if (file->keys)
        ptc_secrets_blot(&file->keys->shown, out, text, false);
    else
        ptc_buf_add(out, text.bytes, text.len);
    return ptc_buf_ok(out);
}

/* Removing a secret only changes the inside of strings, unless the secret itself looks like JSON. */
static void emit_blotted(PtcBuf *line, const char *key, PtcText json)
{
    if (ptc_json_is_line(json.bytes, json.len))
        ptc_emit_field_raw(line, key, json);
    else
        ptc_emit_field_text(line, key, json);
}

static void compose_record_line(PtcBuf *line, const PtcModel *inner, const PtcLlmRequest *r,
                                PtcText body, PtcText reply)
{
    char hash[PTC_RECORD_HASH];
    ptc_record_hash(body, hash);
    ptc_emit_object(line);
    ptc_emit_field_int(line, "ptc_record", PTC_RECORD_VERSION);
    ptc_emit_field_cstr(line, "model", inner->name);
    ptc_emit_field_bool(line, "network", inner->network);
    ptc_emit_field_text(line, "agent", r->agent.bytes ? r->agent : PTC_TEXT(""));
    ptc_emit_field_cstr(line, "hash", hash);
    emit_blotted(line, "request", body);
    emit_blotted(line, "reply", reply);
    ptc_emit_object_end(line);
    ptc_buf_add_char(line, '\n');
}

static void record_exchange(PtcRecordFile *file, PtcModel *inner, const PtcLlmRequest *r,
                            PtcText body, const PtcLlmReply *out, PtcMem *mem)
{
    PtcBuf plain, reply, line;
    ptc_buf_init(&plain, mem, PTC_LINE_FILE_LINE);
    ptc_buf_init(&reply, mem, PTC_LINE_FILE_LINE);
    ptc_buf_init(&line, mem, PTC_LINE_FILE_LINE);
    if (ptc_llm_json_write_reply(&plain, out) &&
        blot_record_text(file, &reply, ptc_buf_view(&plain)))
        compose_record_line(&line, inner, r, body, ptc_buf_view(&reply));
    if (line.len && ptc_buf_ok(&line))
        write_record_line(file, ptc_buf_view(&line));
    else
        note_record_trouble(file, plain.full || reply.full || line.full
                                      ? "a request and its reply are longer than 64 MiB"
                                      : "out of memory");
    ptc_buf_deinit(&plain);
    ptc_buf_deinit(&reply);
    ptc_buf_deinit(&line);
}

/* -------------------------------------------------------------------------------- model */

typedef struct Recorder {
    PtcModel model;
    PtcMem *mem;
    PtcRecordFile *file;
    PtcModel *inner;
} Recorder;

static bool recorder_body(PtcModel *self, const PtcLlmRequest *request, PtcBuf *out)
{
    PtcModel *inner = ((Recorder *)self)->inner;
    return inner->body(inner, request, out);
}

static void recorder_ask(PtcModel *self, const PtcLlmRequest *r, PtcArena *arena, PtcLlmReply *out)
{
    const Recorder *m = (const Recorder *)self;
    PtcBuf plain, body;
    m->inner->ask(m->inner, r, arena, out);
    ptc_buf_init(&plain, arena->mem, PTC_LINE_FILE_LINE);
    ptc_buf_init(&body, arena->mem, PTC_LINE_FILE_LINE);
    if (m->inner->body(m->inner, r, &plain) &&
        blot_record_text(m->file, &body, ptc_buf_view(&plain)))
        record_exchange(m->file, m->inner, r, ptc_buf_view(&body), out, arena->mem);
    else
        note_record_trouble(m->file, "out of memory");
    ptc_buf_deinit(&plain);
    ptc_buf_deinit(&body);
}

static void recorder_free(PtcModel *self)
{
    Recorder *m = (Recorder *)self;
    m->inner->free(m->inner);
    ptc_mem_free(m->mem, m, sizeof *m);
}

PtcModel *ptc_record_model_new(PtcMem *mem, PtcRecordFile *file, PtcModel *inner)
{
    Recorder *m = ptc_mem_alloc(mem, sizeof *m);
    if (!m)
        return NULL;
    *m = (Recorder){
        .model = {.ask = recorder_ask,
                  .body = recorder_body,
                  .free = recorder_free,
                  .name = inner->name,
                  .network = inner->network,
                  .price = inner->price},
        .mem = mem,
        .file = file,
        .inner = inner,
    };
    return &m->model;
}
