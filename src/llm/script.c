/* SPDX-License-Identifier: MIT
 * Scripted models.  What always holds: every text in the list has been read as a reply once, so that a mistake shows
 * before a run begins; `next` is the only thing that changes. */
#include "llm/script.h"

#include <stdio.h>
#include <string.h>

#include "json/write.h"
#include "llm/line_file.h"
#include "llm/llm_json.h"
#include "llm/waiting.h"

typedef struct Script {
    PtcModel model;
    PtcMem *mem;
    const PtcProviderKeys *keys;
    char *name;
    PtcLineFile file;
    atomic_size_t next;
} Script;

/* Reads the i-th reply into one in the making. */
static bool read_reply(Script *s, size_t i, PtcReply *reply, int64_t *sleep_ms, char *why,
                       size_t size)
{
    PtcJsonBox box;
    PtcJsonBoxStatus status;
    ptc_json_box_init(&box, reply->mem);
    PtcValue v = ptc_json_box_read(&box, s->file.lines[i], &status, why, size);
    bool ok = v != PTC_NONE && ptc_llm_json_read_reply(&box, v, reply, sleep_ms, why, size);
    ptc_json_box_deinit(&box);
    return ok;
}

static void script_ask(PtcModel *self, const PtcLlmRequest *request, PtcArena *arena,
                       PtcLlmReply *out)
{
    Script *s = (Script *)self;
    PtcReply reply;
    char why[200];
    int64_t sleep_ms = 0;
    size_t i = atomic_fetch_add(&s->next, 1);
    ptc_reply_init(&reply, arena->mem, NULL, s->keys);
    if (i >= s->file.count)
        ptc_reply_failf(&reply, PTC_LLM_UNKNOWN,
                        "the script has no reply for request %zu: it has %zu", i + 1,
                        s->file.count);
    else if (!read_reply(s, i, &reply, &sleep_ms, why, sizeof why))
        ptc_reply_failf(&reply, PTC_LLM_UNKNOWN, "reply %zu of the script: %s", i + 1, why);
    ptc_waiting_sleep(request, sleep_ms, &reply);
    ptc_waiting_finish(request, &reply, arena, out);
    ptc_reply_deinit(&reply);
}

static bool script_body(PtcModel *self, const PtcLlmRequest *request, PtcBuf *out)
{
    (void)self;
    return ptc_llm_json_write_request(out, request);
}

static void script_free(PtcModel *self)
{
    Script *s = (Script *)self;
    ptc_line_file_deinit(&s->file);
    if (s->name)
        ptc_mem_free(s->mem, s->name, strlen(s->name) + 1);
    ptc_mem_free(s->mem, s, sizeof *s);
}

size_t ptc_script_left(PtcModel *model)
{
    const Script *s = (const Script *)model;
    size_t used = atomic_load(&s->next);
    return used < s->file.count ? s->file.count - used : 0;
}

/* --------------------------------------------------------------------------------- making */

static bool check_all(Script *s, char *why, size_t size)
{
    bool ok = true;
    for (size_t i = 0; ok && i < s->file.count; i++) {
        PtcReply reply;
        int64_t sleep_ms;
        char what[200];
        ptc_reply_init(&reply, s->mem, NULL, NULL);
        ok = read_reply(s, i, &reply, &sleep_ms, what, sizeof what);
        if (!ok)
            snprintf(why, size, "line %u: %s", s->file.numbers[i], what);
        ptc_reply_deinit(&reply);
    }
    return ok;
}

/* An array becomes lines, an item each. */
static bool spread_array(PtcMem *mem, PtcText text, PtcBuf *out, char *why, size_t size)
{
    PtcJsonBox box;
    PtcJsonBoxStatus status;
    PtcJsonError error;
    ptc_json_box_init(&box, mem);
    PtcValue v = ptc_json_box_read(&box, text, &status, why, size);
    bool ok = v != PTC_NONE;
    PtcJsonWriter writer = {.heap = &box.heap, .float_precision = -1};
    for (size_t i = 0; ok && i < ptc_json_box_length(v); i++) {
        ok = ptc_json_write(&writer, out, ptc_json_box_item(v, i), &error) &&
             ptc_buf_add_char(out, '\n');
        if (!ok)
            snprintf(why, size, "no memory");
    }
    ptc_json_box_deinit(&box);
    return ok;
}

static bool is_array(PtcText text)
{
    size_t i = 0;
    while (i < text.len && strchr(" \t\r\n", text.bytes[i]) && text.bytes[i])
        i++;
    return i < text.len && text.bytes[i] == '[';
}

static bool fill(Script *s, PtcText replies, char *why, size_t size)
{
    PtcBuf lines;
    if (!is_array(replies))
        return ptc_line_file_take(&s->file, s->mem, replies, why, size) && check_all(s, why, size);
    ptc_buf_init(&lines, s->mem, PTC_LINE_FILE_BYTES);
    bool ok = spread_array(s->mem, replies, &lines, why, size) &&
              ptc_line_file_take(&s->file, s->mem, ptc_buf_view(&lines), why, size) &&
              check_all(s, why, size);
    ptc_buf_deinit(&lines);
    return ok;
}

static Script *make(PtcMem *mem, const char *name, const PtcProviderKeys *keys, char *why,
                    size_t size)
{
    Script *s = ptc_mem_alloc(mem, sizeof *s);
    if (s) {
        *s = (Script){.model = {.ask = script_ask, .body = script_body, .free = script_free},
                      .mem = mem,
                      .keys = keys,
                      .name = ptc_mem_alloc(mem, strlen(name) + 1)};
        s->file.mem = mem;
        if (s->name) {
            memcpy(s->name, name, strlen(name) + 1);
            s->model.name = s->name;
            return s;
        }
        script_free(&s->model);
    }
    snprintf(why, size, "no memory");
    return NULL;
}

PtcModel *ptc_script_new(PtcMem *mem, const char *name, PtcText replies,
                         const PtcProviderKeys *keys, char *why, size_t size)
{
    Script *s = make(mem, name, keys, why, size);
    if (!s || fill(s, replies, why, size))
        return s ? &s->model : NULL;
    script_free(&s->model);
    return NULL;
}

PtcModel *ptc_script_open(PtcMem *mem, const char *name, const char *path,
                          const PtcProviderKeys *keys, char *why, size_t size)
{
    PtcLineFile file;
    PtcModel *model = NULL;
    if (ptc_line_file_read(&file, mem, path, why, size))
        model = ptc_script_new(mem, name, ptc_buf_view(&file.text), keys, why, size);
    ptc_line_file_deinit(&file);
    return model;
}
