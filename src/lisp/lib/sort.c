/* SPDX-License-Identifier: MIT
 * sort and sort-by: a stable merge sort, so that a comparator that contradicts itself only gives a
 * strange order.
 *
 * Keys are taken once.  Where all keys are numbers, or all strings, or all keywords (nil among them or
 * not), each gets a rank: a 64-bit number such that a smaller rank means a smaller key.  Only equal
 * ranks need a look at the keys.  < > and compare are recognised and not called. */
#include <math.h>

#include "lisp/lib/num.h"
#include "lisp/lib/seq_int.h"

typedef struct Row {
    uint64_t rank;
    PtcValue key, item;
} Row;

typedef struct Sorter {
    PtcVM *vm;
    PtcValue f; /* comparator to call, or PTC_NONE */
    bool down;
} Sorter;

enum { BLOCK = 8 }; /* rows sorted by insertion before merging begins */

/* --------------------------------------------------------------------- comparing */

/* May a be before b?  -1: failed. */
static int ask(const Sorter *s, PtcValue a, PtcValue b)
{
    PtcValue y;
    if (!ptc_call2(s->vm, s->f, a, b, &y))
        return -1;
    if (ptc_is_bool(y))
        return y == PTC_TRUE;
    if (ptc_is_int(y))
        return ptc_to_int(y) < 0;
    if (ptc_is_number(y))
        return ptc_num_double(y) < 0;
    ptc_fail_value_type(s->vm, y, "the comparator's answer", "a boolean or a number");
    return -1;
}

static int fail_order(const Sorter *s, PtcValue a, PtcValue b)
{
    const char *name = ptc_builtin_row(s->vm->running)->name;
    ptc_fail(s->vm, PTC_E_TYPE, "%s: %s and %s have no order", name, ptc_type_name(a),
             ptc_type_name(b));
    ptc_fail_hint(s->vm,
                  "sort by one kind of key: numbers, strings, keywords, dates or vectors of these");
    return -1;
}

/* Is a strictly before b?  -1: failed. */
static int before_slow(const Sorter *s, PtcValue a, PtcValue b)
{
    if (s->f != PTC_NONE)
        return ask(s, a, b);
    bool ok = true;
    int c = ptc_compare(s->vm->heap, a, b, &ok);
    if (s->vm->budget.stop != PTC_STOP_NONE)
        return -1;
    if (!ok)
        return fail_order(s, a, b);
    return s->down ? c > 0 : c < 0;
}

static inline int before(const Sorter *s, const Row *a, const Row *b)
{
    if (!ptc_tick(&s->vm->budget, 1))
        return -1;
    if (a->rank != b->rank)
        return s->down ? a->rank > b->rank : a->rank < b->rank;
    return before_slow(s, a->key, b->key);
}

/* ------------------------------------------------------------------------- ranks */

static uint64_t rank_number(double d)
{
    uint64_t bits;
    d += 0.0; /* -0.0 becomes 0.0 */
    memcpy(&bits, &d, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static uint64_t rank_text(PtcValue v)
{
    const unsigned char *p = (const unsigned char *)ptc_str_bytes(v);
    size_t len = ptc_str_len(v);
    uint64_t rank = 0;
    for (size_t i = 0; i < 8; i++)
        rank = rank << 8 | (i < len ? p[i] : 0);
    return rank;
}

static bool is_nan(PtcValue v)
{
    return ptc_is_float(v) && isnan(ptc_to_float(v));
}

/* What must be alike for ranks to be comparable; PTC_T_NONE: has no rank. */
static PtcTag rank_class(PtcValue v)
{
    if (ptc_is_number(v))
        return is_nan(v) ? PTC_T_NONE : PTC_T_FLOAT;
    PtcTag tag = ptc_tag(v);
    return tag == PTC_T_STRING || tag == PTC_T_KEYWORD ? tag : PTC_T_NONE;
}

static void set_ranks(Row *rows, size_t n)
{
    PtcTag class = PTC_T_NONE;
    for (size_t i = 0; i < n; i++) {
        rows[i].rank = 0;
        if (rows[i].key == PTC_NIL)
            continue;
        PtcTag own = rank_class(rows[i].key);
        if (own == PTC_T_NONE || (class != PTC_T_NONE && own != class))
            return; /* all ranks stay 0 */
        class = own;
    }
    for (size_t i = 0; i < n && class != PTC_T_NONE; i++)
        if (rows[i].key != PTC_NIL)
            rows[i].rank = class == PTC_T_FLOAT ? rank_number(ptc_num_double(rows[i].key))
                                                : rank_text(rows[i].key);
}

/* ----------------------------------------------------------------------- sorting */

static bool insertion_sort(const Sorter *s, Row *rows, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        Row row = rows[i];
        size_t k = i;
        for (; k > 0; k--) {
            int c = before(s, &row, &rows[k - 1]);
            if (c < 0)
                return false;
            if (!c)
                break;
            rows[k] = rows[k - 1];
        }
        rows[k] = row;
    }
    return true;
}

/* Merges two sorted runs into `to`; on equal keys the left row goes first. */
static bool merge(const Sorter *s, const Row *left, size_t nl, const Row *right, size_t nr, Row *to)
{
    int c = nr ? before(s, right, left + nl - 1) : 0;
    if (c < 0)
        return false;
    while (c && nl && nr) {
        int r = before(s, right, left);
        if (r < 0)
            return false;
        if (r) {
            *to++ = *right++;
            nr--;
        } else {
            *to++ = *left++;
            nl--;
        }
    }
    memcpy(to, left, nl * sizeof *to);
    memcpy(to + nl, right, nr * sizeof *to);
    return true;
}

/* Sorts rows, using as much space again; *sorted is where they end up. */
static bool merge_sort(const Sorter *s, Row *rows, Row *space, size_t n, Row **sorted)
{
    *sorted = rows;
    for (size_t i = 0; i < n; i += BLOCK)
        if (!insertion_sort(s, rows + i, n - i < BLOCK ? n - i : BLOCK))
            return false;
    for (size_t width = BLOCK; width < n; width *= 2) {
        for (size_t i = 0; i < n; i += 2 * width) {
            size_t nl = n - i < width ? n - i : width;
            size_t nr = n - i - nl < width ? n - i - nl : width;
            if (!merge(s, rows + i, nl, rows + i + nl, nr, space + i))
                return false;
        }
        Row *t = rows;
        rows = space;
        space = t;
    }
    *sorted = rows;
    return true;
}

/* --------------------------------------------------------------------- functions */

/* Which comparator argument i is. */
static bool arg_comparator(PtcVM *vm, const PtcValue *argv, int i, Sorter *s)
{
    PtcValue f = argv[i];
    if (ptc_is_builtin(f)) {
        const char *name = ptc_builtin_row(ptc_builtin_index(f))->name;
        s->down = strcmp(name, ">") == 0;
        s->f = s->down || strcmp(name, "<") == 0 || strcmp(name, "compare") == 0 ? PTC_NONE : f;
        return true;
    }
    if (ptc_is_keyword(f)) {
        ptc_fail(vm, PTC_E_TYPE, "%s: argument %d is the keyword :%s, expected a comparator",
                 ptc_builtin_row(vm->running)->name, i + 1, ptc_str_bytes(f));
        return ptc_fail_hint(vm, "use < for ascending, > for descending: (sort-by :total > rows)");
    }
    if (ptc_is_map(f) || ptc_is_set(f) || ptc_is_sequential(f))
        return ptc_fail_type(vm, argv, i, "a comparator such as <, > or compare");
    s->f = f;
    return ptc_arg_callable(vm, argv, i);
}

enum { SOURCE, KEYS, SORTED, SLOTS };

/* One row for each element; keys NULL: the elements are their own keys. */
static bool fill_rows(PtcVM *vm, const PtcKeyFn *key, const PtcValue *slots, Row *rows)
{
    PtcIter it;
    PtcValue x;
    size_t n = 0;
    if (!ptc_iter_init(&it, vm->heap, slots[SOURCE]))
        return false;
    for (; ptc_next(vm, &it, &x); n++) {
        rows[n].item = rows[n].key = x;
        rows[n].rank = 0;
        if (key && !ptc_key_at(vm, key, slots[KEYS], n, x, &rows[n].key))
            return false;
    }
    return ptc_iter_end(&it);
}

static bool sort_rows(PtcVM *vm, const Sorter *s, const PtcKeyFn *key, PtcValue *slots, Row *rows,
                      size_t n)
{
    Row *sorted;
    if (!fill_rows(vm, key, slots, rows))
        return false;
    if (s->f == PTC_NONE)
        set_ranks(rows, n);
    if (!merge_sort(s, rows, rows + n, n, &sorted))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!ptc_root_push(vm, &slots[SORTED], sorted[i].item))
            return false;
    return true;
}

/* Everything the rows hold is reachable from argument i or a slot, so that a comparator may collect. */
static bool sort_arg(PtcVM *vm, const Sorter *s, const PtcKeyFn *key, const PtcValue *argv, int i,
                     PtcValue *out)
{
    PtcValue *slots = ptc_roots(vm, SLOTS);
    if (!slots || !ptc_root_seq(vm, argv, i, true, &slots[SOURCE]) ||
        (key && !ptc_keys_collect(vm, key, slots[SOURCE], &slots[KEYS])) ||
        !ptc_root_build(vm, &slots[SORTED]))
        return false;
    size_t n = ptc_seq_count(slots[SOURCE]), bytes = 2 * n * sizeof(Row);
    if (n) {
        Row *rows = ptc_scratch(vm, bytes);
        bool ok = rows && sort_rows(vm, s, key, slots, rows, n);
        ptc_mem_free(vm->mem, rows, bytes);
        if (!ok)
            return false;
    }
    return ptc_root_done(vm, &slots[SORTED], PTC_SEQ, out);
}

PTC_BUILTIN(core_sort, "clojure.core", "sort", 1, 2, PTC_B_CALLS, "(sort comparator? coll)",
            "The elements in ascending order, nil first, or as a comparator such as > says.  Equal "
            "ones keep "
            "their order; vectors are ordered by length, then element by element.",
            "(sort [3 1 2]) => [1 2 3]\n(sort > [3 9 1]) => [9 3 1]\n(sort [\"b\" nil \"a\"]) => "
            "[nil \"a\" \"b\"]\n"
            "(sort [1 \"a\"]) !! type_error")
{
    Sorter s = {.vm = vm, .f = PTC_NONE};
    if (argc == 2 && !arg_comparator(vm, argv, 0, &s))
        return false;
    return sort_arg(vm, &s, NULL, argv, argc - 1, out);
}

PTC_BUILTIN(
    core_sort_by, "clojure.core", "sort-by", 2, 3, PTC_B_CALLS, "(sort-by key comparator? coll)",
    "The elements in the order of their keys, which key (a function, a keyword or a path such as "
    "[:a :b]) gives; with > in descending order, nil last.",
    "(sort-by count [\"ccc\" \"a\" \"bb\"]) => [\"a\" \"bb\" \"ccc\"]\n"
    "(sort-by :n > [{:n 1} {:n nil} {:n 2}]) => [{:n 2} {:n 1} {:n nil}]\n"
    "(sort-by :n :desc [{:n 1}]) !! type_error")
{
    Sorter s = {.vm = vm, .f = PTC_NONE};
    PtcKeyFn key;
    if (!ptc_arg_keyfn(vm, argv, 0, false, &key) || (argc == 3 && !arg_comparator(vm, argv, 1, &s)))
        return false;
    return sort_arg(vm, &s, &key, argv, argc - 1, out);
}

const PtcBuiltin *const ptc_lib_sort[] = {&core_sort_def, &core_sort_by_def, NULL};
