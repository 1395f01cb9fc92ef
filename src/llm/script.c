/* SPDX-License-Identifier: MIT
 * Scripted models.  What always holds: every reply was read when the script was opened, so that a mistake shows
 * before a run begins and an answer costs no more than a copy; `next` is the only thing that changes. */
#include "llm/script.h"

#include <stdio.h>
#include <string.h>

#include "llm/line_file.h"
#include "llm/llm_json.h"
#include "llm/waiting.h"

typedef struct ScriptLine {
    PtcLlmReply reply; /* its texts are in the arena */
    int64_t sleep_ms;
} ScriptLine;

typedef struct Script {
    PtcModel model;
    PtcMem *mem;
    const PtcProviderKeys *keys;
    PtcArena arena; /* name, lines */
    ScriptLine *lines;
    size_t count;
    atomic_size_t next;
} Script;

/* ------------------------------------------------------------------------------- asking */

static const PtcMessageCall *copy_reply_calls(PtcArena *arena, const PtcLlmReply *from,
                                              bool *failed)
{
    PtcMessageCall *calls = NULL;
    if (from->call_count)
        calls = ptc_arena_zalloc(arena, from->call_count * sizeof *calls);
    *failed = *failed || (from->call_count && !calls);
    for (size_t i = 0; !*failed && i < from->call_count; i++)
        calls[i] = (PtcMessageCall){
            .id = ptc_reply_keep(arena, from->calls[i].id, failed),
            .name = ptc_reply_keep(arena, from->calls[i].name, failed),
            .args = ptc_reply_keep(arena, from->calls[i].args, failed),
        };
    return calls;
}

static void copy_reply(PtcArena *arena, const PtcLlmReply *from, PtcLlmReply *out)
{
    bool failed = false;
    *out = *from;
    out->text = ptc_reply_keep(arena, from->text, &failed);
    out->error = ptc_reply_keep(arena, from->error, &failed);
    out->opaque = ptc_reply_keep(arena, from->opaque, &failed);
    out->calls = copy_reply_calls(arena, from, &failed);
    if (failed)
        ptc_reply_error(out, arena, NULL, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory"));
}

static void script_ask(PtcModel *self, const PtcLlmRequest *request, PtcArena *arena,
                       PtcLlmReply *out)
{
    Script *s = (Script *)self;
    char words[100];
    size_t i = atomic_fetch_add(&s->next, 1);
    const ScriptLine *line = i < s->count ? &s->lines[i] : NULL;
    PtcLlmStatus stopped = ptc_waiting_sleep(request, line ? line->sleep_ms : 0);
    if (stopped != PTC_LLM_OK) {
        ptc_waiting_stopped(stopped, arena, out);
    } else if (line) {
        copy_reply(arena, &line->reply, out);
        ptc_waiting_hand_on(request, arena, out);
    } else {
        snprintf(words, sizeof words, "the script has no reply for request %zu: it has %zu", i + 1,
                 s->count);
        ptc_reply_error(out, arena, NULL, PTC_LLM_UNKNOWN, ptc_text_cstr(words));
    }
}

static bool script_body(PtcModel *self, const PtcLlmRequest *request, PtcBuf *out)
{
    (void)self;
    return ptc_llm_json_write_request(out, request);
}

static void script_free(PtcModel *self)
{
    Script *s = (Script *)self;
    ptc_arena_deinit(&s->arena);
    ptc_mem_free(s->mem, s, sizeof *s);
}

/* --------------------------------------------------------------------------------- making */

/* Always false. */
/* Reads a reply; `number` is its line, 0 for an item of an array. */
static bool read_script_reply(Script *s, PtcJsonBox *box, PtcValue v, uint32_t number, PtcWhy *why)
{
    PtcReply reply;
    ScriptLine *line = &s->lines[s->count];
    ptc_reply_init(&reply, s->mem, NULL, s->keys);
    bool ok = ptc_llm_json_read_reply(box, v, &reply, &line->sleep_ms, why);
    if (ok)
        ptc_reply_finish(&reply, &s->arena, &line->reply);
    else
        ptc_why_prefix(why, "%s %zu: ", number ? "line" : "reply",
                       number ? (size_t)number : s->count + 1);
    if (ok && line->reply.status == PTC_LLM_NO_MEMORY)
        ok = ptc_why_no_memory(why);
    ptc_reply_deinit(&reply);
    s->count += ok;
    return ok;
}

static bool make_script_room(Script *s, size_t count, PtcWhy *why)
{
    s->lines = count < SIZE_MAX / sizeof(ScriptLine) - 1
                   ? ptc_arena_zalloc(&s->arena, (count + 1) * sizeof *s->lines)
                   : NULL;
    return s->lines || ptc_why_no_memory(why);
}

static bool fill_array(Script *s, PtcText text, PtcWhy *why)
{
    PtcJsonBox box;
    ptc_json_box_init(&box, s->mem);
    PtcValue v = ptc_json_box_read(&box, text, why);
    bool ok = v != PTC_NONE && make_script_room(s, ptc_json_box_length(v), why);
    for (size_t i = 0; ok && i < ptc_json_box_length(v); i++)
        ok = read_script_reply(s, &box, ptc_json_box_item(v, i), 0, why);
    ptc_json_box_deinit(&box);
    return ok;
}

static bool fill_lines(Script *s, const PtcLineFile *file, PtcWhy *why)
{
    PtcJsonBox box;
    bool ok = make_script_room(s, file->count, why);
    ptc_json_box_init(&box, s->mem);
    for (size_t i = 0; ok && i < file->count; i++) {
        PtcValue v = ptc_json_box_read(&box, file->lines[i], why);
        if (v == PTC_NONE)
            ptc_why_prefix(why, "line %u: ", file->numbers[i]);
        ok = v != PTC_NONE && read_script_reply(s, &box, v, file->numbers[i], why);
        ptc_json_box_clear(&box);
    }
    ptc_json_box_deinit(&box);
    return ok;
}

static bool fill_script(Script *s, PtcText replies, PtcWhy *why)
{
    PtcLineFile file;
    if (ptc_text_starts(ptc_text_skip_spaces(replies), "["))
        return fill_array(s, replies, why);
    bool ok = ptc_line_file_take(&file, s->mem, replies, why) && fill_lines(s, &file, why);
    ptc_line_file_deinit(&file);
    return ok;
}

PtcModel *ptc_script_new(PtcMem *mem, const char *name, PtcText replies,
                         const PtcProviderKeys *keys, PtcWhy *why)
{
    bool failed = false;
    Script *s = ptc_mem_alloc(mem, sizeof *s);
    if (!s) {
        ptc_why_no_memory(why);
        return NULL;
    }
    *s = (Script){.model = {.ask = script_ask, .body = script_body, .free = script_free},
                  .mem = mem,
                  .keys = keys};
    ptc_arena_init(&s->arena, mem);
    s->model.name = ptc_reply_keep(&s->arena, ptc_text_cstr(name), &failed).bytes;
    if ((!failed || ptc_why_no_memory(why)) && fill_script(s, replies, why))
        return &s->model;
    script_free(&s->model);
    return NULL;
}

PtcModel *ptc_script_open(PtcMem *mem, const char *name, const char *path,
                          const PtcProviderKeys *keys, PtcWhy *why)
{
    PtcLineFile file;
    PtcModel *model = NULL;
    if (ptc_line_file_read(&file, mem, path, why))
        model = ptc_script_new(mem, name, ptc_buf_view(&file.text), keys, why);
    ptc_line_file_deinit(&file);
    return model;
}
