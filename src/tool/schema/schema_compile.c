/* SPDX-License-Identifier: MIT
 * From a schema's value to nodes.  A queue holds the subschemas that are known but not read yet, so that nothing
 * recurses; references are resolved when it is empty, which may fill it again. */
#include "tool/schema/schema_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "tool/schema/schema_keyword.h"
#include "value/str.h"

typedef PtcSchemaCompiler Compiler;
typedef PtcSchemaPending Pending;

enum { FROZEN_MAX = 200000 }; /* objects in const, enum and patterns of one schema */

static const PtcSchemaNode anything = {.form = PTC_SCHEMA_ANYTHING};
static const PtcSchemaNode nothing = {.form = PTC_SCHEMA_NOTHING};

/* ------------------------------------------------------------------- mistakes */

typedef struct {
    char *text;
    size_t size, len;
} Path;

static void add_schema_path_step(Path *path, const char *bytes, size_t n)
{
    char line[PTC_SCHEMA_LINE];
    size_t room = path->size - 1 - path->len;
    if (room < 2)
        return;
    path->text[path->len++] = '/';
    ptc_schema_line(line, (PtcText){bytes, n}, PTC_SCHEMA_LINE);
    n = ptc_text_cut((PtcText){line, strlen(line)}, room - 1).len;
    memcpy(path->text + path->len, line, n);
    path->len += n;
}

static void add_pending_step(Path *path, const Pending *p)
{
    char number[24];
    if (p->key.bytes) {
        add_schema_path_step(path, p->key.bytes, p->key.len);
    } else if (p->index >= 0) {
        int n = snprintf(number, sizeof number, "%lld", (long long)p->index);
        add_schema_path_step(path, number, (size_t)n);
    }
}

/* #/properties/id: the chain of parents is reversed first, as far as it can be shown. */
static void write_schema_path(PtcSchemaError *error, const Pending *at, const char *keyword)
{
    enum { STEPS = 64 };
    const Pending *chain[STEPS];
    size_t n = 0;
    Path path = {error->path, sizeof error->path, 1};
    error->path[0] = '#';
    for (; at && at->up; at = at->up)
        chain[n++ % STEPS] = at;
    for (size_t shown = n < STEPS ? n : STEPS; shown > 0; shown--, n--) {
        const Pending *p = chain[(n - 1) % STEPS];
        add_schema_path_step(&path, p->keyword, strlen(p->keyword));
        add_pending_step(&path, p);
    }
    if (keyword)
        add_schema_path_step(&path, keyword, strlen(keyword));
    path.text[path.len] = 0;
}

bool ptc_schema_refuse(Compiler *c, const Pending *at, const char *keyword, const char *format, ...)
{
    PtcSchemaError *error = c->error;
    va_list args;
    if (error->message[0])
        return false;
    write_schema_path(error, at, keyword);
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    error->message[ptc_utf8_valid_prefix(error->message, strlen(error->message))] = 0;
    return false;
}

bool ptc_schema_no_memory(Compiler *c)
{
    return ptc_budget_halt(c->work.budget, PTC_STOP_MEMORY);
}

/* -------------------------------------------------------------------- copying */

bool ptc_schema_keep(Compiler *c, const char *bytes, size_t len, PtcText *out)
{
    char *copy = ptc_arena_alloc(c->arena, len + 1);
    if (!copy)
        return ptc_schema_no_memory(c);
    memcpy(copy, bytes, len);
    copy[len] = 0;
    *out = (PtcText){copy, len};
    return true;
}

/* Copies one object; what it points to still belongs to the old one. */
static bool freeze_object(Compiler *c, PtcValue *v)
{
    PtcLayout at = ptc_object_layout(ptc_obj(*v));
    if (++c->frozen > FROZEN_MAX)
        return ptc_schema_refuse(c, NULL, NULL, "the values in const and enum are too large");
    PtcObj *o = ptc_arena_alloc(c->arena, at.size);
    if (!o)
        return ptc_schema_no_memory(c);
    if (ptc_is_named(*v)) { /* another thread may be caching its hash */
        PtcStr *s = (PtcStr *)(void *)o;
        s->obj = *ptc_obj(*v);
        atomic_init(&s->hash, 0);
        memcpy(s->bytes, ptc_str_bytes(*v), ptc_str_len(*v) + 1);
    } else {
        memcpy(o, ptc_obj(*v), at.size);
    }
    *v = ptc_from_obj(o);
    return ptc_tick(c->work.budget, 1 + (int64_t)(at.size / 256));
}

/* Objects whose contents are still to be frozen. */
typedef struct Thaw {
    struct Thaw *next;
    PtcObj *object;
} Thaw;

static bool freeze_one(Compiler *c, PtcValue *v, Thaw **todo)
{
    if (!ptc_is_obj(*v))
        return true;
    if (!freeze_object(c, v))
        return false;
    if (ptc_object_layout(ptc_obj(*v)).value_count == 0)
        return true;
    Thaw *t = ptc_arena_alloc(c->arena, sizeof *t);
    if (!t)
        return ptc_schema_no_memory(c);
    *t = (Thaw){*todo, ptc_obj(*v)};
    *todo = t;
    return true;
}

bool ptc_schema_freeze(Compiler *c, PtcValue value, PtcValue *out)
{
    Thaw *todo = NULL;
    *out = value;
    if (!freeze_one(c, out, &todo))
        return false;
    while (todo) {
        PtcLayout at = ptc_object_layout(todo->object);
        todo = todo->next;
        for (size_t i = 0; i < at.value_count; i++)
            if (!freeze_one(c, &at.values[i], &todo))
                return false;
    }
    return true;
}

/* ---------------------------------------------------------------------- nodes */

static size_t pending_table_slot(const Compiler *c, PtcValue value,
                                 const PtcSchemaResource *resource)
{
    uint64_t h = ((value >> 3) ^ (uintptr_t)resource) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(h >> 32) & (c->table_cap - 1);
    while (c->table[at] && (c->table[at]->value != value || c->table[at]->resource != resource))
        at = (at + 1) & (c->table_cap - 1);
    return at;
}

static bool grow_pending_table(Compiler *c)
{
    PtcSchemaPending **old = c->table;
    size_t cap = c->table_cap;
    c->table_cap = cap ? cap * 2 : 64;
    c->table = ptc_arena_zalloc(c->arena, c->table_cap * sizeof(Pending *));
    if (!c->table)
        return ptc_schema_no_memory(c);
    for (size_t i = 0; i < cap; i++)
        if (old[i])
            c->table[pending_table_slot(c, old[i]->value, old[i]->resource)] = old[i];
    return true;
}

static Pending *new_pending(Compiler *c, PtcValue value, PtcSchemaResource *resource,
                            const PtcSchemaStep *step)
{
    Pending *p = ptc_arena_zalloc(c->arena, sizeof *p);
    PtcSchemaNode *node = p ? ptc_arena_zalloc(c->arena, sizeof *node) : NULL;
    if (!node) {
        ptc_schema_no_memory(c);
        return NULL;
    }
    *p = (Pending){.node = node,
                   .value = value,
                   .resource = resource,
                   .up = step->up,
                   .keyword = step->keyword,
                   .key = step->key,
                   .index = step->index};
    node->resource = resource;
    *(c->last ? &c->last->next : &c->first) = p;
    c->last = p;
    return p;
}

static const PtcSchemaNode *object_node(Compiler *c, PtcValue value, PtcSchemaResource *around,
                                        const PtcSchemaStep *step)
{
    PtcSchemaResource *resource = around;
    if (!ptc_schema_enter(c, value, step, &resource) ||
        (c->node_count * 2 >= c->table_cap && !grow_pending_table(c)))
        return NULL;
    size_t at = pending_table_slot(c, value, resource);
    if (c->table[at])
        return c->table[at]->node;
    Pending *p = new_pending(c, value, resource, step);
    if (!p)
        return NULL;
    if (++c->node_count > PTC_SCHEMA_MAX_NODES) {
        ptc_schema_refuse(c, p, NULL, "the schema has more than %d subschemas",
                          PTC_SCHEMA_MAX_NODES);
        return NULL;
    }
    c->table[at] = p;
    return p->node;
}

const PtcSchemaNode *ptc_schema_node(Compiler *c, PtcValue value, PtcSchemaResource *around,
                                     const PtcSchemaStep *step)
{
    if (value == PTC_TRUE)
        return &anything;
    if (value == PTC_FALSE)
        return &nothing;
    if (ptc_is_map(value))
        return object_node(c, value, around, step);
    Pending at = {.up = step->up, .keyword = step->keyword, .key = step->key, .index = step->index};
    ptc_schema_refuse(c, step->keyword ? &at : NULL, NULL,
                      "expected a schema: an object, true or false");
    return NULL;
}

/* -------------------------------------------------------------------- whole */

static bool read_node(Compiler *c, Pending *p)
{
    PtcValue key, value;
    PtcSchemaKey name;
    bool json;
    for (size_t pos = 0; ptc_map_next(p->value, &pos, &key, &value);) {
        if (!ptc_tick(c->work.budget, 1) || !ptc_schema_key(&c->work, key, &name, &json))
            return false;
        if (json && !ptc_schema_read_keyword(c, p, (PtcText){name.bytes, name.len}, value))
            return false;
    }
    return true;
}

/* Until neither subschemas nor references are left. */
static bool read_all_pending(Compiler *c)
{
    while (c->first || c->refs) {
        if (c->first) {
            Pending *p = c->first;
            c->first = p->next;
            c->last = c->first ? c->last : NULL;
            if (!read_node(c, p))
                return false;
        } else {
            const PtcSchemaRef *ref = c->refs;
            c->refs = ref->next;
            c->last_ref = c->refs ? c->last_ref : NULL;
            if (!ptc_tick(c->work.budget, 1) || !ptc_schema_resolve(c, ref))
                return false;
        }
    }
    return true;
}

static const PtcSchemaNode *compile_root(Compiler *c, PtcValue schema)
{
    PtcSchemaResource *document = ptc_arena_zalloc(c->arena, sizeof *document);
    if (!document) {
        ptc_schema_no_memory(c);
        return NULL;
    }
    document->uri.bytes = "";
    document->root = schema;
    c->resources = document;
    PtcSchemaStep step = {.index = -1};
    const PtcSchemaNode *root = ptc_schema_node(c, schema, document, &step);
    return root && read_all_pending(c) ? root : NULL;
}

/* Fills in the error unless a mistake has done so already. */
static void explain_schema_error(Compiler *c)
{
    PtcSchemaError *error = c->error;
    error->stopped = c->work.budget->stop != PTC_STOP_NONE;
    if (error->stopped || !error->message[0]) {
        error->path[0] = 0;
        snprintf(error->message, sizeof error->message, "%s",
                 error->stopped ? "stopped by a limit" : "the schema cannot be read");
    }
}

bool ptc_schema_compile(PtcArena *arena, PtcMem *mem, PtcBudget *budget, PtcValue schema,
                        const PtcSchema **out, PtcSchemaError *error)
{
    Compiler c = {.arena = arena, .error = error};
    memset(error, 0, sizeof *error);
    *out = NULL;
    ptc_schema_work_init(&c.work, mem, budget);
    const PtcSchemaNode *root = compile_root(&c, schema);
    PtcSchema *made = root ? ptc_arena_alloc(arena, sizeof *made) : NULL;
    if (made) {
        made->root = root;
        *out = made;
    } else {
        if (root)
            ptc_schema_no_memory(&c);
        explain_schema_error(&c);
    }
    ptc_schema_work_deinit(&c.work);
    return made != NULL;
}

bool ptc_schema_is_schema(PtcMem *mem, PtcBudget *budget, PtcValue value)
{
    PtcArena arena;
    PtcSchemaError error = {.stopped = false};
    Compiler c = {.arena = &arena, .error = &error, .form_only = true};
    ptc_arena_init(&arena, mem);
    ptc_schema_work_init(&c.work, mem, budget);
    bool ok = compile_root(&c, value) != NULL;
    ptc_schema_work_deinit(&c.work);
    ptc_arena_deinit(&arena);
    return ok;
}
