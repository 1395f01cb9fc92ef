/* SPDX-License-Identifier: MIT
 * Builtins in the language itself: finds definitions in the text, compiles them on demand, calls them.
 *
 * `lock` guards everything here except `functions`, which runs read without it: a function is published there, whole,
 * with release order, and never changes.  Whoever holds the lock takes no other one but that of the page pool. */
#include "lisp/prelude/prelude.h"

#include "base/bytes.h"
#include "lisp/compile/function.h"
#include "lisp/prelude/prelude_files.h"
#include "lisp/vm/registry.h"
#include "lisp/vm/vm_int.h"

#include <stdio.h>

enum {
    MOST_DEFINITIONS = 128, /* of a file */
    MOST_NESTED = 16,       /* definitions that wait for one which they name */
    MOST_BYTES = 64 << 20,  /* of the heap: far more than all of it takes */
};

/* What begins a definition, at the beginning of a line; it ends before the next line that is not indented. */
#define DEFN "\n(defn "

typedef struct Definition {
    PtcText name, text;
    PtcValue function; /* PTC_NONE: not compiled yet */
} Definition;

typedef struct PreludeText {
    const char *ns;
    const unsigned char *bytes;
    const size_t *len;
} PreludeText;

typedef struct PreludeFile {
    const PreludeText *text; /* NULL: nobody has looked yet */
    Definition all[MOST_DEFINITIONS];
    size_t count;
} PreludeFile;

struct PtcPreludeScope {
    PreludeFile *file;
    size_t at; /* the definition that is being compiled */
    unsigned depth;
    PtcDiag *why;
};

static const PreludeText texts[] = {
#define TEXT_OF(file, ns_) {ns_, ptc_prelude_##file, &ptc_prelude_##file##_len},
    PTC_PRELUDE_FILES(TEXT_OF)
#undef TEXT_OF
};
enum { PRELUDE_FILES = sizeof texts / sizeof texts[0] };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static PtcMem mem = {.limit = SIZE_MAX};
static PtcPool pool;
static PtcBudget budget;
static PtcHeap heap; /* never freed: what runs hold may point into it */
static PreludeFile files[PRELUDE_FILES];
static _Atomic PtcValue functions[PTC_BUILTIN_MAX];

/* --------------------------------------------------------------------- definitions */

static void prepare_heap(void)
{
    if (heap.pool)
        return;
    ptc_pool_init(&pool, &mem);
    ptc_budget_init(&budget);
    ptc_heap_init(&heap, &pool, &budget, MOST_BYTES);
}

/* The definition that begins at text[0], "(defn name ...", without the blanks after it. */
static Definition read_definition(const char *text, const char *end)
{
    const char *name = text + strlen(DEFN) - 1, *last = text;
    while (last < end && !(last[0] == '\n' && last + 1 < end && last[1] != ' ' && last[1] != '\n'))
        last++;
    while (last > text && last[-1] != ')')
        last--;
    size_t len = 0;
    while (name + len < last && name[len] != ' ' && name[len] != '\n')
        len++;
    return (Definition){{name, len}, {text, (size_t)(last - text)}, PTC_NONE};
}

static void find_definitions(PreludeFile *file, const PreludeText *text)
{
    const char *at = (const char *)text->bytes, *end = at + *text->len;
    file->text = text;
    while (file->count < MOST_DEFINITIONS && at < end &&
           (at = ptc_bytes_find(&budget, at, (size_t)(end - at), DEFN, strlen(DEFN))) != NULL)
        file->all[file->count++] = read_definition(++at, end);
}

/* The last of the first n definitions with this name; NULL: there is none. */
static Definition *find_definition(PreludeFile *file, size_t n, PtcText name)
{
    while (n-- > 0)
        if (ptc_text_same(file->all[n].name, name))
            return &file->all[n];
    return NULL;
}

/* The number of the builtin that it defines plus 1; 0: it is for others in its file. */
static uint16_t row_of(const char *ns, PtcText name)
{
    char full[80], *hidden = full + strlen(ns);
    int n = snprintf(full, sizeof full, "%s/%.*s", ns, PTC_ARG(name));
    int row = n > 0 && (size_t)n < sizeof full ? ptc_builtin_find(full, (size_t)n) : -1;
    if (row < 0) {
        *hidden = '%';
        row = ptc_builtin_find(hidden, name.len + 1);
    }
    const PtcBuiltin *found = row < 0 ? NULL : ptc_builtin_row((uint32_t)row);
    bool own = found && found->fn == ptc_prelude_run && strcmp(found->ns, ns) == 0;
    return own ? (uint16_t)(row + 1) : 0;
}

/* ----------------------------------------------------------------------- compiling */

static PtcValue new_function(PtcValue proto)
{
    PtcClosure *o = ptc_heap_object(&heap, PTC_T_CLOSURE, sizeof *o, 0);
    if (!o)
        return PTC_NONE;
    o->proto = proto;
    return ptc_from_obj(o);
}

static PtcValue define(PtcPreludeScope *scope)
{
    Definition *d = &scope->file->all[scope->at];
    if (d->function != PTC_NONE || scope->depth > MOST_NESTED)
        return d->function;
    PtcArena arena;
    PtcNames none = {0};
    ptc_arena_init(&arena, &mem);
    PtcFnMaker maker = {.arena = &arena, .heap = &heap, .names = &none};
    PtcFnText text = {.form = PTC_FORM_FN,
                      .text = d->text.bytes,
                      .len = d->text.len,
                      .captures = "",
                      .prelude = scope,
                      .row = row_of(scope->file->text->ns, d->name)};
    PtcValue proto = ptc_function_compile(&maker, &text);
    if (proto != PTC_NONE)
        d->function = new_function(proto);
    else if (scope->why && maker.diags.count > 0)
        *scope->why = maker.diags.items[0];
    ptc_arena_deinit(&arena);
    return d->function;
}

PtcValue ptc_prelude_named(PtcPreludeScope *scope, const char *name, size_t len)
{
    Definition *d = find_definition(scope->file, scope->at, (PtcText){name, len});
    if (!d)
        return PTC_NIL;
    PtcPreludeScope inner = {scope->file, (size_t)(d - scope->file->all), scope->depth + 1,
                             scope->why};
    return define(&inner);
}

/* What a failure has left: everything that no function needs. */
static void drop_unfinished(void)
{
    ptc_heap_mark_begin(&heap);
    for (size_t f = 0; f < PRELUDE_FILES; f++)
        for (size_t i = 0; i < files[f].count; i++)
            if (files[f].all[i].function != PTC_NONE)
                ptc_heap_mark(&heap, files[f].all[i].function);
    ptc_heap_mark_finish(&heap);
}

/* The definition of a row, in one of the files of its namespace. */
static Definition *find_row_definition(const PtcBuiltin *row, PreludeFile **file)
{
    Definition *d = NULL;
    for (size_t f = 0; !d && f < PRELUDE_FILES; f++) {
        *file = &files[f];
        if (strcmp(texts[f].ns, row->ns) != 0)
            continue;
        if (!files[f].text)
            find_definitions(&files[f], &texts[f]);
        d = find_definition(&files[f], files[f].count, (PtcText){row->name, row->name_len});
    }
    return d;
}

static PtcValue define_row(const PtcBuiltin *row, PtcDiag *why)
{
    PreludeFile *file;
    prepare_heap();
    budget.stop = PTC_STOP_NONE;
    Definition *d = find_row_definition(row, &file);
    if (!d)
        return PTC_NONE;
    PtcPreludeScope scope = {file, (size_t)(d - file->all), 0, why};
    PtcValue function = define(&scope);
    if (function == PTC_NONE)
        drop_unfinished();
    return function;
}

PtcValue ptc_prelude_function(uint32_t row, PtcDiag *why)
{
    PtcValue f = atomic_load_explicit(&functions[row], memory_order_acquire);
    if (PTC_LIKELY(f != PTC_NONE))
        return f;
    pthread_mutex_lock(&lock);
    f = define_row(ptc_builtin_row(row), why);
    atomic_store_explicit(&functions[row], f, memory_order_release);
    pthread_mutex_unlock(&lock);
    return f;
}

/* ------------------------------------------------------------------------- running */

bool ptc_prelude_run(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcValue f = ptc_prelude_function(vm->running, NULL);
    if (PTC_UNLIKELY(f == PTC_NONE))
        return ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    return ptc_call(vm, f, argc, argv, out);
}

uint32_t ptc_prelude_running(const PtcVM *vm)
{
    for (const PtcCall *c = vm->call; c >= vm->calls; c--) {
        const PtcProto *p = ptc_closure_proto(c->closure);
        if (p->source == PTC_NIL && p->row > 0)
            return p->row - 1u;
    }
    return vm->running;
}

PtcMem *ptc_prelude_mem(void)
{
    return &mem;
}

size_t ptc_prelude_pending(void)
{
    size_t n = 0;
    pthread_mutex_lock(&lock);
    for (size_t f = 0; f < PRELUDE_FILES; f++)
        for (size_t i = 0; i < files[f].count; i++)
            n += files[f].all[i].function == PTC_NONE;
    pthread_mutex_unlock(&lock);
    return n;
}
