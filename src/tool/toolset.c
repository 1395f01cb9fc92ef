/* SPDX-License-Identifier: MIT
 * Sets of tools: made, filled, found by name, released.  What always holds: a set does not change after its first
 * run, so threads read it without a lock. */
#include "tool/toolset.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "base/os/cond.h"
#include "tool/call.h"
#include "tool/learn.h"
#include "tool/sig/sig_sketch.h"

enum { TOOLSET_HEAP_BYTES = 64 * PTC_MB };

int ptc_toolset_find(const PtcTools *tools, PtcText name)
{
    for (size_t i = 0; i < tools->count; i++) {
        const PtcToolInfo *t = &tools->items[i].info;
        if (ptc_text_same((PtcText){t->name, t->name_len}, name))
            return (int)i;
    }
    return -1;
}

/* The one tool for programs whose name differs from this in - and _ alone; -1: there is none, or more than one. */
static int find_other_spelling(const PtcTools *tools, PtcText name)
{
    int found = -1;
    for (size_t i = 0; i < tools->count; i++) {
        const PtcToolInfo *t = &tools->items[i].info;
        if (tools->items[i].native_only ||
            !ptc_text_same_name((PtcText){t->name, t->name_len}, name))
            continue;
        if (found >= 0)
            return -1;
        found = (int)i;
    }
    return found;
}

/* For programs.  Models write get-stock for get_stock, and the other way round. */
static int find_program_tool(const PtcHost *host, const char *name, size_t len)
{
    const PtcTools *tools = (const PtcTools *)(const void *)host;
    int i = ptc_toolset_find(tools, (PtcText){name, len});
    if (i < 0)
        return find_other_spelling(tools, (PtcText){name, len});
    return tools->items[i].native_only ? -1 : i;
}

/* Name of the nth tool that programs see. */
static const char *program_tool_name(const PtcHost *host, size_t n, size_t *len)
{
    const PtcTools *tools = (const PtcTools *)(const void *)host;
    for (size_t i = 0; i < tools->count; i++) {
        if (tools->items[i].native_only || n-- > 0)
            continue;
        *len = tools->items[i].info.name_len;
        return tools->items[i].info.name;
    }
    return NULL;
}

static bool describe_host_tool(const PtcHost *host, size_t tool, PtcHostTool *out)
{
    const PtcTools *tools = (const PtcTools *)(const void *)host;
    if (tool >= tools->count)
        return false;
    const PtcToolInfo *t = &tools->items[tool].info;
    *out = (PtcHostTool){{t->name, t->name_len},
                         {t->signature, t->signature_len},
                         {t->description, t->description_len}};
    return true;
}

static PtcValue list_tool_params(const PtcHost *host, size_t tool, PtcHeap *heap)
{
    const PtcTools *tools = (const PtcTools *)(const void *)host;
    const PtcSig *sig = tool < tools->count ? tools->items[tool].info.sig : NULL;
    if (!sig || !sig->has_params)
        return PTC_NIL;
    PtcValue list = ptc_build_new(heap);
    for (size_t i = 0; list != PTC_NONE && i < sig->params.field_count; i++) {
        const PtcSigField *f = &sig->params.fields[i];
        PtcValue name = ptc_str_new(heap, f->name, f->name_len);
        if (name == PTC_NONE || !ptc_build_add(heap, list, name))
            return PTC_NONE;
    }
    return list == PTC_NONE ? list : ptc_build_done(heap, list, 0);
}

static bool tell_shapes(const PtcHost *host, size_t tool, PtcHostShapes *out)
{
    const PtcTools *tools = (const PtcTools *)(const void *)host;
    if (tool >= tools->count)
        return false;
    *out = tools->items[tool].shapes;
    return true;
}

static _Atomic uint64_t sets_made = 1;

/* The set lives in the ledger that it contains, as engines do. */
PtcTools *ptc_toolset_new(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcTools *tools = ptc_mem_alloc(&mem, sizeof *tools);
    if (!tools)
        return NULL;
    memset(tools, 0, sizeof *tools);
    tools->host = (PtcHost){.number = atomic_fetch_add(&sets_made, 1),
                            .find = find_program_tool,
                            .name = program_tool_name,
                            .call = ptc_program_call,
                            .about = describe_host_tool,
                            .params = list_tool_params,
                            .seen = ptc_tool_seen,
                            .refuses = ptc_program_refuses,
                            .shapes = tell_shapes};
    ptc_mem_init(&tools->mem, PTC_UNBOUNDED);
    atomic_store(&tools->mem.used, sizeof *tools);
    ptc_scratch_init(&tools->kept, &tools->mem, TOOLSET_HEAP_BYTES);
    pthread_mutex_init(&tools->shape_lock, NULL);
    ptc_arena_init(&tools->shape_arena, &tools->mem);
    atomic_init(&tools->refs, 1);
    return tools;
}

PtcTools *ptc_toolset_retain(PtcTools *tools)
{
    if (tools)
        atomic_fetch_add(&tools->refs, 1);
    return tools;
}

static void free_turn(PtcSerial *turn)
{
    if (!turn)
        return;
    pthread_mutex_destroy(&turn->lock);
    pthread_cond_destroy(&turn->over);
}

void ptc_toolset_release(PtcTools *tools)
{
    PtcMem mem;
    if (!tools || atomic_fetch_sub(&tools->refs, 1) > 1)
        return;
    for (size_t i = 0; i < tools->count; i++) {
        PtcTool *t = &tools->items[i];
        if (t->borrowed)
            continue;
        if (t->free_user)
            t->free_user(t->user);
        free_turn(t->turn);
    }
    ptc_mem_free(&tools->mem, tools->items, tools->cap * sizeof *tools->items);
    ptc_scratch_deinit(&tools->kept);
    ptc_arena_deinit(&tools->shape_arena);
    pthread_mutex_destroy(&tools->shape_lock);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *tools);
    ptc_mem_free(&mem, tools, sizeof *tools);
}

static PtcTool *make_room_for_tool(PtcTools *tools)
{
    bool fits = PTC_GROW(&tools->mem, &tools->items, &tools->cap, tools->count + 1);
    return fits ? &tools->items[tools->count] : NULL;
}

static bool parse_tool_signature(PtcTools *tools, PtcToolInfo *info, PtcWhy *why)
{
    PtcSigError e;
    if (!info->signature || info->skip_validation)
        return true;
    if (ptc_sig_parse(&tools->kept.arena, info->signature, info->signature_len, &info->sig, &e))
        return true;
    return ptc_tool_refuse(why, info, "signature", "its signature is wrong at column %u: %s",
                           (unsigned)e.column, e.message);
}

/* What the checker of programs may count on.  A signature that is not applied promises nothing. */
static bool sketch_tool(PtcTools *tools, PtcTool *t, PtcWhy *why)
{
    PtcArena *arena = &tools->kept.arena;
    const PtcSig *sig = t->info.sig;
    bool applied = sig && (t->mode == PTC_SIG_ENABLED || t->mode == PTC_SIG_STRICT);
    t->shapes = (PtcHostShapes){.reads = t->info.read_only};
    if (!applied)
        return true;
    if (sig->has_params && !(t->shapes.takes = ptc_sig_sketch(arena, &sig->params, !t->info.extra)))
        return ptc_why_no_memory(why);
    if (!t->info.on_error_value && !(t->shapes.gives = ptc_sig_sketch(arena, sig->result, false)))
        return ptc_why_no_memory(why);
    return true;
}

/* In the arena: a lock must not move when the set grows. */
static PtcSerial *new_turn(PtcTools *tools)
{
    PtcSerial *turn = ptc_arena_alloc(&tools->kept.arena, sizeof *turn);
    if (!turn)
        return NULL;
    turn->taken = false;
    pthread_mutex_init(&turn->lock, NULL);
    ptc_cond_init(&turn->over);
    return turn;
}

bool ptc_toolset_put(PtcTools *tools, const PtcTool *tool, PtcWhy *why)
{
    if (!ptc_tool_check(&tool->info, why))
        return false;
    if (ptc_toolset_find(tools, (PtcText){tool->info.name, tool->info.name_len}) >= 0)
        return ptc_why_say(why, PTC_WHY_INVALID, "there is a tool named %.*s already",
                           PTC_ARG_OF(tool->info.name, tool->info.name_len));
    PtcTool *t = make_room_for_tool(tools);
    if (t)
        *t = *tool;
    if (!t || !ptc_tool_copy(&tools->kept.arena, &tool->info, &t->info))
        return ptc_why_no_memory(why);
    if (!parse_tool_signature(tools, &t->info, why) || !sketch_tool(tools, t, why))
        return false;
    if (!t->borrowed)
        t->turn = NULL;
    if (t->info.serial && !t->turn && !(t->turn = new_turn(tools)))
        return ptc_why_no_memory(why);
    tools->count++;
    return true;
}

bool ptc_toolset_borrow(PtcTools *tools, const PtcTool *tool, PtcWhy *why)
{
    PtcTool copy = *tool;
    copy.borrowed = true;
    return ptc_toolset_put(tools, &copy, why);
}
