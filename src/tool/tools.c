/* SPDX-License-Identifier: MIT
 * Sets of tools: made, filled, found by name, let go. */
#include "tool/tools.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tool/call.h"

enum { HEAP_BYTES = 64 * 1024 * 1024 };

static int find(const PtcHost *host, const char *name, size_t len)
{
    const PtcTools *tools = (const PtcTools *)(const void *)host;
    for (size_t i = 0; i < tools->count; i++) {
        const PtcToolInfo *t = &tools->items[i].info;
        if (t->name_len == len && memcmp(t->name, name, len) == 0)
            return (int)i;
    }
    return -1;
}

static const char *name_of(const PtcHost *host, size_t tool, size_t *len)
{
    const PtcTools *tools = (const PtcTools *)(const void *)host;
    if (tool >= tools->count)
        return NULL;
    *len = tools->items[tool].info.name_len;
    return tools->items[tool].info.name;
}

/* The set lives in the ledger that it holds, as engines do. */
PtcTools *ptc_tools_new(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    PtcTools *tools = ptc_mem_alloc(&mem, sizeof *tools);
    if (!tools)
        return NULL;
    memset(tools, 0, sizeof *tools);
    tools->host = (PtcHost){find, name_of, ptc_tools_run};
    ptc_mem_init(&tools->mem, SIZE_MAX / 2);
    atomic_store(&tools->mem.used, sizeof *tools);
    ptc_pool_init(&tools->pool, &tools->mem);
    ptc_budget_init(&tools->budget);
    ptc_heap_init(&tools->heap, &tools->pool, &tools->budget, HEAP_BYTES);
    ptc_arena_init(&tools->arena, &tools->mem);
    atomic_init(&tools->refs, 1);
    return tools;
}

PtcTools *ptc_tools_retain(PtcTools *tools)
{
    if (tools)
        atomic_fetch_add(&tools->refs, 1);
    return tools;
}

static void free_turn(PtcTurn *turn)
{
    if (!turn)
        return;
    pthread_mutex_destroy(&turn->lock);
    pthread_cond_destroy(&turn->over);
}

void ptc_tools_free(PtcTools *tools)
{
    PtcMem mem;
    if (!tools || atomic_fetch_sub(&tools->refs, 1) > 1)
        return;
    for (size_t i = 0; i < tools->count; i++) {
        PtcTool *t = &tools->items[i];
        if (t->free_user)
            t->free_user(t->user);
        free_turn(t->turn);
    }
    ptc_mem_free(&tools->mem, tools->items, tools->cap * sizeof *tools->items);
    ptc_heap_deinit(&tools->heap);
    ptc_pool_deinit(&tools->pool);
    ptc_arena_deinit(&tools->arena);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    atomic_store(&mem.used, sizeof *tools);
    ptc_mem_free(&mem, tools, sizeof *tools);
}

static bool refuse(char *error, size_t size, const char *format, ...) PTC_PRINTF(3, 4);

static bool refuse(char *error, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (error && size)
        vsnprintf(error, size, format, args);
    va_end(args);
    return false;
}

static PtcTool *room(PtcTools *tools)
{
    if (tools->count == tools->cap) {
        size_t cap = tools->cap ? tools->cap * 2 : 8;
        PtcTool *p =
            ptc_mem_resize(&tools->mem, tools->items, tools->cap * sizeof *p, cap * sizeof *p);
        if (!p)
            return NULL;
        tools->items = p;
        tools->cap = cap;
    }
    return &tools->items[tools->count];
}

static bool read_signature(PtcTools *tools, PtcToolInfo *info, char *error, size_t size)
{
    PtcSigError e;
    if (!info->signature || info->skip_validation)
        return true;
    if (ptc_sig_parse(&tools->arena, info->signature, info->signature_len, &info->sig, &e))
        return true;
    return refuse(error, size, "tool %.*s: its signature is wrong at column %u: %s",
                  (int)info->name_len, info->name, (unsigned)e.column, e.message);
}

/* In the arena: a lock must not move when the set grows. */
static PtcTurn *new_turn(PtcTools *tools)
{
    pthread_condattr_t attr;
    PtcTurn *turn = ptc_arena_alloc(&tools->arena, sizeof *turn);
    if (!turn)
        return NULL;
    turn->taken = false;
    pthread_mutex_init(&turn->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&turn->over, &attr);
    pthread_condattr_destroy(&attr);
    return turn;
}

bool ptc_tools_put(PtcTools *tools, const PtcTool *tool, char *error, size_t size)
{
    char why[PTC_TOOL_WHY];
    if (!ptc_tool_check(&tool->info, why))
        return refuse(error, size, "%s", why);
    if (find(&tools->host, tool->info.name, tool->info.name_len) >= 0)
        return refuse(error, size, "there is a tool named %.*s already", (int)tool->info.name_len,
                      tool->info.name);
    PtcTool *t = room(tools);
    if (t)
        *t = *tool;
    if (!t || !ptc_tool_copy(&tools->arena, &tool->info, &t->info))
        return refuse(error, size, "out of memory");
    if (!read_signature(tools, &t->info, error, size))
        return false;
    t->turn = NULL;
    if (t->info.serial && !(t->turn = new_turn(tools)))
        return refuse(error, size, "out of memory");
    tools->count++;
    return true;
}

/* --------------------------------------------------------------------------- public */

void ptc_tool_def_init(PtcToolDef *def, size_t size)
{
    PtcToolDef all = {.size = size, .preview_limit = PTC_UNSET, .timeout_ms = PTC_UNSET};
    memcpy(def, &all, size < sizeof all ? size : sizeof all);
}

static bool read_type(const char *type, PtcToolInfo *info, char *error, size_t size)
{
    for (PtcToolType t = PTC_TOOL_NATIVE; t <= PTC_TOOL_SUBAGENT; t++)
        if (!type || strcmp(type, ptc_tool_type_name(t)) == 0) {
            info->type = t;
            return true;
        }
    return refuse(error, size, "tool %.*s: type must be native, llm or subagent",
                  (int)info->name_len, info->name);
}

/* A host's preview function, for the preview's own form. */
static bool call_preview(void *user, PtcHeap *heap, PtcValue result, PtcValue *out)
{
    const PtcTool *tool = user;
    PtcData data = {NULL, heap};
    *out = tool->preview(result, &data, tool->user);
    return *out != PTC_NONE;
}

static bool read_preview(const PtcToolDef *def, PtcToolInfo *info, char *error, size_t size)
{
    PtcNativeResult *how = &info->native_result;
    info->has_native_result = def->preview != NULL;
    if (!def->preview)
        return true;
    if (def->preview_limit != PTC_UNSET)
        how->limit = def->preview_limit;
    if (strcmp(def->preview, "function") == 0 && def->preview_function) {
        how->kind = PTC_PREVIEW_CUSTOM;
        how->fn = call_preview;
        return true;
    }
    return ptc_preview_parse(def->preview, strlen(def->preview), &how->kind) ||
           refuse(error, size,
                  "tool %.*s: preview must be metadata, rows, or function with preview_function",
                  (int)info->name_len, info->name);
}

static void read_plain(const PtcToolDef *def, PtcTool *t)
{
    ptc_tool_init(&t->info, def->name ? def->name : "", def->name ? def->name_len : 0);
    t->function = def->function;
    t->user = def->user;
    t->free_user = def->free_user;
    t->preview = def->preview_function;
    t->pending = def->pending;
    t->lisp = PTC_NONE;
    t->info.signature = def->signature;
    t->info.signature_len = def->signature_len;
    t->info.skip_validation = def->skip_validation;
    t->info.description = def->description;
    t->info.description_len = def->description_len;
    t->info.cache = def->cache;
    t->info.timeout_ms = def->timeout_ms == PTC_UNSET ? 0 : def->timeout_ms;
    t->info.serial = def->serial;
    t->info.on_error_value = def->on_error_value;
}

static bool read_def(const PtcToolDef *def, PtcTool *t, char *error, size_t size)
{
    read_plain(def, t);
    if (!def->function)
        return refuse(error, size, "a tool needs a function");
    if (def->expose && !ptc_expose_parse(def->expose, strlen(def->expose), &t->info.expose))
        return refuse(error, size, "tool %.*s: expose must be native, ptc_lisp or both",
                      (int)t->info.name_len, t->info.name);
    return read_type(def->type, &t->info, error, size) && read_preview(def, &t->info, error, size);
}

PtcStatus ptc_tools_add(PtcTools *tools, const PtcToolDef *given, char *error, size_t size)
{
    PtcToolDef def;
    PtcTool tool = {0};
    ptc_tool_def_init(&def, sizeof def);
    if (!tools || !given || given->size < sizeof(size_t))
        return PTC_BAD_ARGUMENT;
    memcpy(&def, given, given->size < sizeof def ? given->size : sizeof def);
    return read_def(&def, &tool, error, size) && ptc_tools_put(tools, &tool, error, size)
               ? PTC_OK
               : PTC_BAD_ARGUMENT;
}

size_t ptc_tools_count(const PtcTools *tools)
{
    return tools ? tools->count : 0;
}

static const PtcToolInfo *info_at(const PtcTools *tools, size_t i)
{
    return i < ptc_tools_count(tools) ? &tools->items[i].info : NULL;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

const char *ptc_tools_name(const PtcTools *tools, size_t i)
{
    const PtcToolInfo *info = info_at(tools, i);
    return info ? info->name : NULL;
}

const char *ptc_tools_signature(const PtcTools *tools, size_t i)
{
    const PtcToolInfo *info = info_at(tools, i);
    return info ? or_empty(info->signature) : NULL;
}

const char *ptc_tools_description(const PtcTools *tools, size_t i)
{
    const PtcToolInfo *info = info_at(tools, i);
    return info ? or_empty(info->description) : NULL;
}
