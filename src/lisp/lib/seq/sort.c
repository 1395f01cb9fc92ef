/* SPDX-License-Identifier: MIT
 * sort and sort-by: a stable merge sort, so that a comparator that contradicts itself only gives a
 * strange order.
 *
 * Where all keys are numbers, or all strings, or all keywords (nil among them or not), each gets a rank: a
 * 64-bit number such that a smaller rank means a smaller key.  Equal ranks need a look at the keys only where a
 * rank cannot tell all: integers beyond 2^53, long texts.  < > and compare are recognised and not called.  Keys
 * that a function of the program gives are taken once.
 *
 * What is moved about is a rank, or else the key, and the number of an element: 12 bytes, and merging needs half as
 * much again, so 18 bytes an element beside the result.  What is in order already needs nothing. */
#include <math.h>

#include "lisp/lazy/seq_int.h"
#include "lisp/number/num.h"

typedef struct SortRow {
    uint32_t word[2]; /* the 64 bits of a rank or key: so a row has 12 bytes, not 16 */
    uint32_t at;
} SortRow;

typedef struct Sorter {
    PtcVM *vm;
    PtcValue f; /* comparator to call, or PTC_NONE */
    bool down;
    bool ranked;         /* the words are ranks */
    bool exact;          /* equal ranks of numbers mean equal keys */
    PtcTag class;        /* of all ranked keys; PTC_T_NONE: all are nil */
    size_t prefix;       /* bytes with which all texts begin: a rank is of what follows */
    const PtcKeyFn *key; /* NULL: the elements are their own keys */
    const PtcValue *slots;
} Sorter;

enum { SORT_SOURCE, SORT_KEYS, SORT_SORTED, SORT_SLOTS };

enum {
    BLOCK = 8,     /* rows sorted by insertion before merging begins */
    LONG_TEXT = 9, /* last byte of a text's rank: its length and one, but at most this */
};

/* --------------------------------------------------------------------- comparing */

/* May a be before b?  -1: failed. */
static int ask_comparator(const Sorter *s, PtcValue a, PtcValue b)
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

static int fail_unsortable(const Sorter *s, PtcValue a, PtcValue b)
{
    ptc_fail_here(s->vm, PTC_E_TYPE, "%s and %s have no order", ptc_type_name(a), ptc_type_name(b));
    ptc_fail_hint(s->vm,
                  "sort by one kind of key: numbers, strings, keywords, dates or vectors of these");
    return -1;
}

/* Is a strictly before b?  -1: failed. */
static int before_slow(const Sorter *s, PtcValue a, PtcValue b)
{
    if (s->f != PTC_NONE)
        return ask_comparator(s, a, b);
    bool ok = true;
    int c = ptc_compare(s->vm->heap, a, b, &ok);
    if (s->vm->budget.stop != PTC_STOP_NONE)
        return -1;
    if (!ok)
        return fail_unsortable(s, a, b);
    return s->down ? c > 0 : c < 0;
}

/* The key of an element.  Does not collect. */
static bool sort_key_at(const Sorter *s, size_t i, PtcValue *key)
{
    *key = ptc_seq_nth(s->slots[SORT_SOURCE], i);
    return !s->key || ptc_key_at(s->vm, s->key, s->slots[SORT_KEYS], i, *key, key);
}

static int before_keys(const Sorter *s, size_t a, size_t b)
{
    PtcValue x, y;
    return sort_key_at(s, a, &x) && sort_key_at(s, b, &y) ? before_slow(s, x, y) : -1;
}

static uint64_t row_sort_word(const SortRow *row)
{
    uint64_t word;
    memcpy(&word, row->word, sizeof word);
    return word;
}

static inline int before(const Sorter *s, const SortRow *a, const SortRow *b)
{
    if (!ptc_tick(&s->vm->budget, 1))
        return -1;
    uint64_t x = row_sort_word(a), y = row_sort_word(b);
    if (!s->ranked)
        return before_slow(s, x, y);
    if (x != y)
        return s->down ? x > y : x < y;
    bool tells_all = s->class == PTC_T_FLOAT ? s->exact : (x & 0xff) < LONG_TEXT;
    return tells_all ? 0 : before_keys(s, a->at, b->at);
}

/* ------------------------------------------------------------------------- ranks */

static uint64_t rank_number(double d)
{
    uint64_t bits;
    d += 0.0; /* -0.0 becomes 0.0 */
    memcpy(&bits, &d, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* Seven bytes, then the length: texts of up to seven bytes are ordered by it alone. */
static uint64_t rank_text(PtcValue v, size_t prefix)
{
    const unsigned char *p = (const unsigned char *)ptc_str_bytes(v) + prefix;
    size_t len = ptc_str_len(v) - prefix;
    uint64_t rank = 0;
    for (size_t i = 0; i < 7; i++)
        rank = rank << 8 | (i < len ? p[i] : 0);
    return rank << 8 | (len < LONG_TEXT - 1 ? len + 1 : LONG_TEXT);
}

static bool is_nan(PtcValue v)
{
    return ptc_is_float(v) && isnan(ptc_to_float(v));
}

/* What must be alike for ranks to be comparable; PTC_T_NONE: has no rank. */
static PtcTag rank_class(PtcVM *vm, PtcValue v)
{
    if (ptc_is_number(v))
        return is_nan(v) ? PTC_T_NONE : PTC_T_FLOAT;
    PtcTag tag = ptc_tag(v);
    if (tag == PTC_T_KEYWORD &&
        ptc_bytes_find_char(&vm->budget, ptc_str_bytes(v), ptc_str_len(v), '/'))
        return PTC_T_NONE; /* those with a namespace come after all others */
    return tag == PTC_T_STRING || tag == PTC_T_KEYWORD ? tag : PTC_T_NONE;
}

/* nil is before all others. */
static uint64_t rank_key(const Sorter *s, PtcValue key)
{
    return key == PTC_NIL            ? 0
           : s->class == PTC_T_FLOAT ? rank_number(ptc_num_double(key))
                                     : rank_text(key, s->prefix);
}

/* Does a double tell this number from all others? */
static bool is_exact(PtcValue v)
{
    const int64_t most = (int64_t)1 << 53;
    return ptc_is_float(v) || (ptc_is_int(v) && ptc_to_int(v) <= most && ptc_to_int(v) >= -most);
}

/* Of the first n bytes, how many are the same in both texts. */
static size_t common_prefix_len(PtcValue a, PtcValue b, size_t n)
{
    const char *x = ptc_str_bytes(a), *y = ptc_str_bytes(b);
    size_t i = 0;
    n = ptc_str_len(b) < n ? ptc_str_len(b) : n;
    if (a == b)
        return n;
    while (i < n && x[i] == y[i])
        i++;
    return i;
}

static void forget_keys(Sorter *s)
{
    s->class = PTC_T_NONE;
    s->exact = true;
    s->prefix = 0;
}

/* Takes note of one more key; false when keys like that have no ranks. */
static bool note_sort_key(Sorter *s, PtcValue key, PtcValue *first)
{
    if (key == PTC_NIL)
        return true;
    PtcTag class = rank_class(s->vm, key);
    if (class == PTC_T_NONE || (s->class != PTC_T_NONE && class != s->class))
        return false;
    if (s->class == PTC_T_NONE) {
        s->class = class;
        *first = key;
        s->prefix = class == PTC_T_FLOAT ? 0 : ptc_str_len(key);
    }
    if (class == PTC_T_FLOAT)
        s->exact = s->exact && is_exact(key);
    else
        s->prefix = common_prefix_len(*first, key, s->prefix);
    return true;
}

static PtcValue key_in(const SortRow *row)
{
    return row_sort_word(row);
}

static void set_word(SortRow *row, uint64_t word)
{
    memcpy(row->word, &word, sizeof word);
}

/* Turns the keys in the rows into ranks, if all of them have one. */
static bool set_ranks(Sorter *s, SortRow *rows, size_t n)
{
    PtcValue first = PTC_NIL;
    forget_keys(s);
    for (size_t i = 0; i < n; i++) {
        if (!ptc_tick(&s->vm->budget, 1 + (int64_t)s->prefix / 64))
            return false;
        if (!note_sort_key(s, key_in(&rows[i]), &first))
            return true;
    }
    s->ranked = true;
    for (size_t i = 0; i < n; i++)
        set_word(&rows[i], rank_key(s, key_in(&rows[i])));
    return true;
}

/* Is every rank above the one before?  Looks no further than to the first that is not. */
static bool is_sorted(Sorter *s, bool *yes)
{
    PtcIter it;
    PtcValue key, first = PTC_NIL;
    uint64_t last = 0;
    forget_keys(s);
    *yes = true;
    if (!ptc_iter_init(&it, s->vm->heap, s->slots[SORT_SOURCE]))
        return false;
    for (size_t i = 0; *yes && ptc_next(s->vm, &it, &key); i++) {
        if (s->key && !ptc_key_at(s->vm, s->key, s->slots[SORT_KEYS], i, key, &key))
            return false;
        *yes = note_sort_key(s, key, &first);
        s->prefix = 0; /* ranks made with different ones have no order */
        uint64_t rank = *yes ? rank_key(s, key) : 0;
        *yes = *yes && (i == 0 || (s->down ? rank < last : rank > last));
        last = rank;
    }
    return ptc_iter_end(&it);
}

/* ----------------------------------------------------------------------- sorting */

static bool insertion_sort(const Sorter *s, SortRow *rows, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        SortRow row = rows[i];
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

/* Merges two sorted runs, nl rows and the nr behind them; the left ones step aside meanwhile.  On equal keys the left
 * row goes first. */
static bool merge_sorted_rows(const Sorter *s, SortRow *rows, size_t nl, size_t nr, SortRow *space)
{
    int c = nr ? before(s, rows + nl, rows + nl - 1) : 0;
    if (c <= 0)
        return c == 0;
    memcpy(space, rows, nl * sizeof *rows);
    const SortRow *left = space, *left_end = space + nl, *right = rows + nl,
                  *right_end = right + nr;
    SortRow *to = rows;
    while (left < left_end && right < right_end) {
        int r = before(s, right, left);
        if (r < 0)
            return false;
        *to++ = r ? *right++ : *left++;
    }
    memcpy(to, left, (size_t)(left_end - left) * sizeof *to);
    return true;
}

/* Sorts rows, with space for half of them.  The depth is the number of bits of n. */
static bool merge_sort_rows(const Sorter *s, SortRow *rows, size_t n, SortRow *space)
{
    if (n <= BLOCK)
        return insertion_sort(s, rows, n);
    size_t half = n / 2 < BLOCK ? n / 2 : n / 2 / BLOCK * BLOCK;
    return merge_sort_rows(s, rows, half, space) &&
           merge_sort_rows(s, rows + half, n - half, space) &&
           merge_sorted_rows(s, rows, half, n - half, space);
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
        ptc_fail_here(vm, PTC_E_TYPE, "argument %d is the keyword :%.80s, expected a comparator",
                      i + 1, ptc_str_bytes(f));
        return ptc_fail_hint(vm, "use < for ascending, > for descending: (sort-by :total > rows)");
    }
    if (ptc_is_map(f) || ptc_is_set(f) || ptc_is_sequential(f))
        return ptc_fail_type(vm, argv, i, "a comparator such as <, > or compare");
    s->f = f;
    return ptc_arg_callable(vm, argv, i);
}

/* One row for each element, with its key. */
static bool fill_rows(const Sorter *s, SortRow *rows)
{
    PtcIter it;
    PtcValue key;
    if (!ptc_iter_init(&it, s->vm->heap, s->slots[SORT_SOURCE]))
        return false;
    for (size_t i = 0; ptc_next(s->vm, &it, &key); i++) {
        if (s->key && !ptc_key_at(s->vm, s->key, s->slots[SORT_KEYS], i, key, &key))
            return false;
        set_word(&rows[i], key);
        rows[i].at = (uint32_t)i;
    }
    return ptc_iter_end(&it);
}

static bool sort_rows(Sorter *s, PtcValue *slots, SortRow *rows, size_t n)
{
    if (!fill_rows(s, rows) || (s->f == PTC_NONE && !set_ranks(s, rows, n)) ||
        !merge_sort_rows(s, rows, n, rows + n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!ptc_root_push(s->vm, &slots[SORT_SORTED], ptc_seq_nth(slots[SORT_SOURCE], rows[i].at)))
            return false;
    return true;
}

/* Rows for the elements of slots[SOURCE], sorted; then the elements in that order. */
static bool sort_source(Sorter *s, PtcValue *slots, size_t n, PtcValue *out)
{
    size_t bytes = (n + n / 2) * sizeof(SortRow);
    if (!ptc_root_build(s->vm, &slots[SORT_SORTED]))
        return false;
    SortRow *rows = PTC_RETRY(s->vm, ptc_vm_scratch(s->vm, bytes));
    bool ok = rows && sort_rows(s, slots, rows, n);
    ptc_heap_scratch_free(s->vm->heap, rows, bytes);
    return ok && ptc_root_done(s->vm, &slots[SORT_SORTED], PTC_SEQ, out);
}

/* Everything the rows stand for is reachable from argument i or a slot, so that a comparator may collect. */
static bool sort_arg(Sorter *s, const PtcValue *argv, int i, PtcValue *out)
{
    PtcVM *vm = s->vm;
    PtcValue *slots = ptc_roots(vm, SORT_SLOTS);
    bool sorted = false;
    if (!slots || !ptc_root_seq(vm, argv, i, true, &slots[SORT_SOURCE]) ||
        (s->key && !ptc_keys_collect(vm, s->key, slots[SORT_SOURCE], &slots[SORT_KEYS])))
        return false;
    s->slots = slots;
    size_t n = ptc_seq_count(slots[SORT_SOURCE]);
    if (s->f == PTC_NONE && !is_sorted(s, &sorted))
        return false;
    if (!sorted && n > 0)
        return sort_source(s, slots, n, out);
    *out = PTC_RETRY(vm, ptc_seq_slice(vm->heap, slots[SORT_SOURCE], 0, n, PTC_SEQ));
    return *out != PTC_NONE;
}

PTC_BUILTIN(core_sort, "clojure.core", "sort", 1, 2,
            PTC_B_CALLS | PTC_TAKES2(PTC_IS_SEQABLE | PTC_IS_FN | PTC_IS_OTHER, PTC_IS_SEQABLE) |
                PTC_GIVES(PTC_IS_LIST) | PTC_RULE(ELEMENTS),
            "(sort comparator? coll)",
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
    return sort_arg(&s, argv, argc - 1, out);
}

PTC_BUILTIN(core_sort_by, "clojure.core", "sort-by", 2, 3,
            PTC_B_CALLS |
                PTC_TAKES3(PTC_IS_KEYED, PTC_IS_SEQABLE | PTC_IS_FN | PTC_IS_OTHER,
                           PTC_IS_SEQABLE) |
                PTC_GIVES(PTC_IS_LIST) | PTC_RULE(SORT_BY),
            "(sort-by key comparator? coll)",
            "The elements in the order of their keys, which key (a function, a keyword, a string "
            "or a path such as "
            "[:a :b]) gives; with > in descending order, nil last.",
            "(sort-by count [\"ccc\" \"a\" \"bb\"]) => [\"a\" \"bb\" \"ccc\"]\n"
            "(sort-by :n > [{:n 1} {:n nil} {:n 2}]) => [{:n 2} {:n 1} {:n nil}]\n"
            "(sort-by :n :desc [{:n 1}]) !! type_error")
{
    Sorter s = {.vm = vm, .f = PTC_NONE};
    PtcKeyFn key;
    if (!ptc_arg_keyfn(vm, argv, 0, &key) || (argc == 3 && !arg_comparator(vm, argv, 1, &s)))
        return false;
    s.key = &key;
    return sort_arg(&s, argv, argc - 1, out) && ptc_key_check(vm, argv[0], argv[argc - 1], false);
}

PTC_BUILTIN_TABLE(ptc_lib_sort, core_sort, core_sort_by);
