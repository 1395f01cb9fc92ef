/* SPDX-License-Identifier: MIT
 * --data: files read once into a heap that never changes afterwards.  What always holds: after loading nothing in that
 * heap is written any more, so threads need no lock; unless it is for one process, not even a string's cached hash,
 * so forked workers keep sharing its pages. */
#include "data/shared.h"

#include <stdio.h>

#include "base/ascii.h"
#include "data/data_file.h"
#include "value/coll/columns.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/coll/visit.h"
#include "value/str.h"

enum { SHARED_NAMES = 64, SHARED_NAME_BYTES = 64, COLUMNS_SHOWN = 24 };

typedef struct {
    char name[SHARED_NAME_BYTES + 1];
    PtcValue key, value;
    size_t bytes;
} Named;

struct PtcShared {
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    Named items[SHARED_NAMES];
    size_t count;
    bool own; /* no other process shares its pages */
};

static PtcShared *make_shared(size_t limit, bool own)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcShared *s = ptc_mem_alloc(&mem, sizeof *s);
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    s->own = own;
    ptc_mem_init(&s->mem, limit);
    ptc_pool_init(&s->pool, &s->mem);
    ptc_budget_init(&s->budget);
    ptc_heap_init(&s->heap, &s->pool, &s->budget, PTC_UNBOUNDED);
    return s;
}

PtcShared *ptc_shared_new(void)
{
    return make_shared(PTC_UNBOUNDED, false);
}

PtcShared *ptc_shared_new_own(size_t limit)
{
    return make_shared(limit, true);
}

void ptc_shared_free(PtcShared *s)
{
    PtcMem mem;
    if (!s)
        return;
    ptc_heap_deinit(&s->heap);
    ptc_pool_deinit(&s->pool);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *s);
    ptc_mem_free(&mem, s, sizeof *s);
}

/* --------------------------------------------------------------------------------- reading */

/* data/NAME must be a symbol that a program can write. */
bool ptc_shared_is_name(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > SHARED_NAME_BYTES || ptc_ascii_is_digit(name[0]))
        return false;
    for (const char *p = name; *p; p++)
        if (!(ptc_ascii_is_alnum(*p) || *p == '-' || *p == '_'))
            return false;
    return true;
}

/* Computes the hash of every string now; it would otherwise be written when first asked for, and unshare the page. */
static bool compute_string_hashes(PtcShared *s, PtcValue value)
{
    PtcWalk walk;
    PtcFrame *top;
    PtcValue v;
    ptc_walk_init(&walk, &s->heap);
    bool ok = !ptc_visit_can(value) || ptc_visit_begin(&walk, value);
    if (ptc_is_named(value))
        (void)ptc_str_hash(value);
    while (ok && (top = ptc_walk_top(&walk))) {
        if (ptc_visit_next(top, &v) == PTC_VISIT_END)
            walk.count--;
        else if (ptc_is_named(v))
            (void)ptc_str_hash(v);
        else if (ptc_visit_can(v))
            ok = ptc_visit_begin(&walk, v);
    }
    ptc_walk_deinit(&walk);
    return ok;
}

/* The size of an item is what the ledger grew by while it was loaded. */
static bool add_shared_item(PtcShared *s, const char *name, PtcValue value, size_t before)
{
    Named *item = &s->items[s->count];
    item->key = ptc_str_new(&s->heap, name, strlen(name));
    if (item->key == PTC_NONE || (!s->own && !compute_string_hashes(s, value)))
        return false;
    (void)ptc_str_hash(item->key);
    item->value = value;
    item->bytes = atomic_load(&s->mem.used) - before;
    snprintf(item->name, sizeof item->name, "%s", name);
    s->count++;
    return true;
}

static const Named *find_shared_item(const PtcShared *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->items[i].name, name) == 0)
            return &s->items[i];
    return NULL;
}

static bool may_name(const PtcShared *s, const char *name, PtcWhy *why)
{
    if (!ptc_shared_is_name(name))
        ptc_why_say(why, PTC_WHY_INVALID,
                    "\"%.80s\" cannot be a name of data: use letters, digits, - and _, at "
                    "most %d, not beginning with a digit",
                    name, SHARED_NAME_BYTES);
    else if (find_shared_item(s, name) || s->count == SHARED_NAMES)
        ptc_why_say(why, PTC_WHY_INVALID,
                    find_shared_item(s, name) ? "%s: there is already data of that name"
                                              : "%s: there are too many data files",
                    name);
    else
        return true;
    return false;
}

bool ptc_shared_load(PtcShared *s, const char *name, const char *path, PtcDataForm *form,
                     PtcWhy *why)
{
    size_t before = atomic_load(&s->mem.used);
    if (!may_name(s, name, why))
        return false;
    PtcDataFile file = {.heap = &s->heap, .why = why, .form = form};
    PtcValue v = ptc_data_file_read(&file, path);
    if (v == PTC_NONE)
        return false;
    bool ok = add_shared_item(s, name, v, before);
    if (!ok)
        ptc_why_say(why, PTC_WHY_NO_MEMORY, "%s: out of memory", path);
    return ok;
}

bool ptc_shared_load_rows(PtcShared *s, PtcValue *all, const char *path, PtcDataForm *form,
                          PtcWhy *why)
{
    PtcDataFile file = {.heap = &s->heap, .why = why, .form = form};
    PtcValue v = ptc_data_file_read(&file, path);
    if (v == PTC_NONE)
        return false;
    if (*all == PTC_NONE)
        *all = ptc_build_new(&s->heap);
    bool ok = *all != PTC_NONE, list = ptc_is_sequential(v);
    for (size_t i = 0, n = list ? ptc_seq_count(v) : 1; ok && i < n; i++)
        ok = ptc_build_add(&s->heap, *all, list ? ptc_seq_nth(v, i) : v);
    return ok || ptc_why_say(why, PTC_WHY_NO_MEMORY,
                             "%s: with the files before it, it does not fit into memory", path);
}

bool ptc_shared_name_rows(PtcShared *s, const char *name, PtcValue all, PtcWhy *why)
{
    if (!may_name(s, name, why))
        return false;
    PtcValue v = ptc_build_done(&s->heap, all, 0);
    if (v != PTC_NONE && add_shared_item(s, name, v, atomic_load(&s->mem.used)))
        return true;
    return ptc_why_no_memory(why);
}

PtcValue ptc_shared_value(const PtcShared *s, const char *name)
{
    const Named *item = find_shared_item(s, name);
    return item ? item->value : PTC_NONE;
}

bool ptc_shared_add_rows(PtcShared *s, const char *name, PtcValue v)
{
    size_t before = atomic_load(&s->mem.used);
    if (!ptc_is_sequential(v))
        v = ptc_vec_new(&s->heap, &v, 1, 0);
    return v != PTC_NONE && s->count < SHARED_NAMES && add_shared_item(s, name, v, before);
}

bool ptc_shared_add_texts(PtcShared *s, const char *name, char *const *texts, size_t count)
{
    size_t before = atomic_load(&s->mem.used);
    PtcValue all = ptc_build_new(&s->heap);
    for (size_t i = 0; i < count && all != PTC_NONE; i++) {
        PtcValue text = ptc_str_new(&s->heap, texts[i], strlen(texts[i]));
        if (text == PTC_NONE || !ptc_build_add(&s->heap, all, text))
            return false;
    }
    PtcValue v = all == PTC_NONE ? all : ptc_build_done(&s->heap, all, 0);
    return v != PTC_NONE && s->count < SHARED_NAMES && add_shared_item(s, name, v, before);
}

/* ----------------------------------------------------------------------------------- using */

/* The call's own values are put last, so they win over shared ones of the same name. */
PtcValue ptc_shared_context(const PtcShared *s, PtcHeap *heap, PtcValue context)
{
    PtcDictBuild build;
    PtcValue key, value;
    if (!ptc_dict_build_init(&build, heap, false))
        return PTC_NONE;
    bool ok = true;
    for (size_t i = 0; i < s->count && ok; i++)
        ok = ptc_dict_build_put(&build, s->items[i].key, s->items[i].value);
    for (size_t pos = 0; ok && ptc_is_map(context) && ptc_map_next(context, &pos, &key, &value);)
        ok = ptc_dict_build_put(&build, key, value);
    if (ok)
        return ptc_dict_build_done(&build);
    ptc_dict_build_cancel(&build);
    return PTC_NONE;
}

/* ------------------------------------------------------------------------------ describing */

static bool is_awkward(PtcShared *s, PtcValue v)
{
    PtcColumns t;
    bool table = ptc_columns_see(&s->heap, &t, v);
    for (size_t i = 0; table && i < t.count && i < COLUMNS_SHOWN; i++)
        if (ptc_column_is_awkward(&t.items[i]))
            return true;
    return false;
}

static void describe_shared_item(PtcShared *s, PtcBuf *buf, const Named *item)
{
    PtcValue v = item->value;
    ptc_buf_addf(buf, "data/%s: ", item->name);
    if (!ptc_columns_write_line(&s->heap, buf, v, COLUMNS_SHOWN))
        ptc_buf_add_cstr(buf, ptc_is_string(v)   ? "a string"
                              : ptc_is_number(v) ? "a number"
                                                 : "a value");
    ptc_buf_add_char(buf, '\n');
}

void ptc_shared_describe(PtcShared *s, PtcBuf *buf, size_t max)
{
    size_t begin = buf->len, count = s ? s->count : 0;
    bool awkward = false;
    for (size_t i = 0; i < count; i++) {
        size_t before = buf->len;
        describe_shared_item(s, buf, &s->items[i]);
        if (buf->len - begin > max) {
            buf->len = before;
            ptc_buf_addf(buf, "and %zu more: (dir 'data)\n", count - i);
            break;
        }
        awkward = awkward || is_awkward(s, s->items[i].value);
    }
    if (awkward)
        ptc_buf_add_cstr(buf, "A name in quotes is not a keyword: (get row \"...\") reads it.\n");
}

bool ptc_shared_item(const PtcShared *s, size_t i, const char **name, size_t *count, size_t *bytes)
{
    if (!s || i >= s->count)
        return false;
    PtcValue v = s->items[i].value;
    *name = s->items[i].name;
    *count = ptc_is_sequential(v) ? ptc_seq_count(v) : ptc_is_map(v) ? ptc_map_count(v) : 1;
    *bytes = s->items[i].bytes;
    return true;
}
