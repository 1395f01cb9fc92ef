/* SPDX-License-Identifier: MIT
 * The files of `ptc mcp --task`: how its agent works, and what is said about upstreams in place of our own words.  Both
 * are read once, when the server starts, and a mistake in them keeps it from starting. */
#include "agent/step/bench.h"
#include "base/utf8.h"
#include "cli/io.h"
#include "cli/mcp/mcp_task.h"
#include "json/parse.h"
#include "value/coll/map.h"
#include "value/str.h"

enum { TASK_FILE_BYTES = 64 * PTC_KB, MOST_TURNS = 100 };

/* A file being read. */
typedef struct {
    PtcMcpTasks *tasks;
    PtcBench bench;
    const char *path;
    PtcWhy *why;
} TaskFileReading;

static bool refuse_task_file(const TaskFileReading *r, const char *where, const char *what)
{
    return ptc_why_say(r->why, PTC_WHY_INVALID, "%.200s: %s%s%s", r->path, where,
                       *where ? ": " : "", what);
}

/* The whole text, in the arena of the agent's definition. */
static bool read_task_text(TaskFileReading *r, PtcText *out)
{
    PtcBuf file;
    ptc_buf_init(&file, &r->bench.mem, TASK_FILE_BYTES);
    const char *unread = ptc_io_read(&file, r->path);
    if (!unread && ptc_utf8_valid_prefix(file.len ? file.data : "", file.len) != file.len)
        unread = "it is not UTF-8";
    char *copy = unread ? NULL : ptc_arena_alloc(&r->tasks->def->arena, file.len + 1);
    if (copy && file.len)
        memcpy(copy, file.data, file.len);
    *out = (PtcText){copy, copy ? file.len : 0};
    ptc_buf_deinit(&file);
    return copy || refuse_task_file(r, "", unread ? unread : "out of memory");
}

/* ---------------------------------------------------------------------------------- agent */

static bool read_turns(const TaskFileReading *r, const char *name, PtcValue v, int64_t least,
                       int64_t *out)
{
    if (!ptc_is_int(v) || ptc_to_int(v) < least || ptc_to_int(v) > MOST_TURNS)
        return refuse_task_file(r, name,
                                least ? "it must be a whole number from 1 to 100"
                                      : "it must be a whole number from 0 to 100");
    if (*out < 0) /* an option wins over the file */
        *out = ptc_to_int(v);
    return true;
}

static bool read_prompt_words(const TaskFileReading *r, PtcValue v, PtcText *out)
{
    PtcArena *arena = &r->tasks->def->arena;
    if (!ptc_is_string(v))
        return refuse_task_file(r, "system_prompt", "prefix and suffix must be texts");
    char *copy = ptc_arena_alloc(arena, ptc_str_len(v) + 1);
    if (!copy)
        return refuse_task_file(r, "", "out of memory");
    memcpy(copy, ptc_str_bytes(v), ptc_str_len(v));
    *out = (PtcText){copy, ptc_str_len(v)};
    return true;
}

static bool read_prompt(const TaskFileReading *r, PtcValue map)
{
    PtcSystemPrompt *system = &r->tasks->def->system;
    PtcValue key, value;
    if (!ptc_is_map(map))
        return refuse_task_file(r, "system_prompt",
                                "it must be an object with prefix, suffix or both");
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);) {
        bool prefix = ptc_text_is(ptc_str_text(key), "prefix");
        if (!prefix && !ptc_text_is(ptc_str_text(key), "suffix"))
            return refuse_task_file(r, "system_prompt",
                                    "it may have prefix and suffix, nothing else");
        if (!read_prompt_words(r, value, prefix ? &system->prefix : &system->suffix))
            return false;
    }
    return true;
}

static bool read_member(const TaskFileReading *r, PtcText key, PtcValue value)
{
    PtcMcpTasks *t = r->tasks;
    if (ptc_text_is(key, "max_turns"))
        return read_turns(r, "max_turns", value, 1, &t->max_turns);
    if (ptc_text_is(key, "retry_turns"))
        return read_turns(r, "retry_turns", value, 0, &t->retry_turns);
    if (ptc_text_is(key, "system_prompt"))
        return read_prompt(r, value);
    return refuse_task_file(r, "",
                            "it may have max_turns, retry_turns and system_prompt, nothing else");
}

static bool read_task_agent(TaskFileReading *r)
{
    PtcText text;
    PtcJsonError error = {0};
    PtcValue key, value;
    if (!read_task_text(r, &text))
        return false;
    PtcValue map = ptc_json_parse(&r->bench.heap, text.bytes, text.len, &error);
    if (map == PTC_NONE || !ptc_is_map(map))
        return refuse_task_file(r, "", "it must be a JSON object");
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);)
        if (!read_member(r, ptc_str_text(key), value))
            return false;
    return true;
}

bool ptc_mcp_task_read_files(PtcMcpTasks *t, PtcWhy *why)
{
    TaskFileReading r = {.tasks = t, .why = why};
    bool ok = true;
    ptc_bench_init(&r.bench);
    if ((r.path = t->o->agent))
        ok = read_task_agent(&r);
    if (ok && (r.path = t->o->summary))
        ok = read_task_text(&r, &t->summary);
    ptc_bench_deinit(&r.bench);
    return ok;
}
