/* SPDX-License-Identifier: MIT
 * map.h - maps and sets that keep insertion order.
 *
 * Keys are compared strictly (1 and 1.0 are different keys, :a and "a" too).  The *_flex functions
 * then try the other spellings: keyword for string and back, `-` for `_` and back; and, for a keyword that
 * finds nothing so, the one string key that differs in letter case or has blanks for its hyphens ("Unit Price"
 * for :unit-price), in maps of up to PTC_LOOSE_MAX entries: rows, not indexes.
 * PTC_NONE means absent from getters, out of memory from makers.  Getters given keys so large that
 * hashing them trips a limit answer absent; the run's budget is then stopped. */
#ifndef PTC_VALUE_COLL_MAP_H
#define PTC_VALUE_COLL_MAP_H

#include "value/coll/sorted.h"
#include "value/heap.h"

enum { PTC_LOOSE_MAX = 1024 };

PTC_MUST_USE PtcValue ptc_map_empty(PtcHeap *heap);
PTC_MUST_USE PtcValue ptc_set_empty(PtcHeap *heap);

/* Entries of a map, elements of a set. */
static inline size_t ptc_map_count(PtcValue map)
{
    return ptc_obj(map)->count;
}

PtcValue ptc_map_get(PtcHeap *heap, PtcValue map, PtcValue key);
PtcValue ptc_map_get_flex(PtcHeap *heap, PtcValue map, PtcValue key);
/* The value of a string key by its text; PTC_NONE also if it is not a map.  Allocates nothing. */
PtcValue ptc_map_field(PtcHeap *heap, PtcValue map, const char *name);
/* The key as the map spells it, or PTC_NONE. */
PtcValue ptc_map_key_flex(PtcHeap *heap, PtcValue map, PtcValue key);

/* Adds or replaces; an existing entry keeps its key and place. */
PTC_MUST_USE PtcValue ptc_map_assoc(PtcHeap *heap, PtcValue map, PtcValue key, PtcValue value);
/* The same, but replaces the entry under whatever spelling it has. */
PTC_MUST_USE PtcValue ptc_map_assoc_flex(PtcHeap *heap, PtcValue map, PtcValue key, PtcValue value);
PTC_MUST_USE PtcValue ptc_map_dissoc(PtcHeap *heap, PtcValue map, PtcValue key);

bool ptc_set_has(PtcHeap *heap, PtcValue set, PtcValue key);
/* The element as the set holds it, or PTC_NONE. */
PtcValue ptc_set_get(PtcHeap *heap, PtcValue set, PtcValue key);
PTC_MUST_USE PtcValue ptc_set_add(PtcHeap *heap, PtcValue set, PtcValue key);
PTC_MUST_USE PtcValue ptc_set_remove(PtcHeap *heap, PtcValue set, PtcValue key);

/* Entries in order: *pos starts at 0; false at the end.  value may be NULL. Works on sets (key only). */
bool ptc_map_next(PtcValue map, size_t *pos, PtcValue *key, PtcValue *value);

/* A shape (small set) of n <= PTC_SMALL_MAX distinct keys, and a small map of it. */
PTC_MUST_USE PtcValue ptc_shape_new(PtcHeap *heap, const PtcValue *keys, const uint32_t *hashes,
                                    size_t n);
PTC_MUST_USE PtcValue ptc_smap_new(PtcHeap *heap, PtcValue shape, const PtcValue *values);

/* Building: an open-addressed table beside a heap vector of entries; nothing persistent is made until _done.  entries
 * is a heap value: root it across safepoints.  A build must be ended with _done or _cancel. */
typedef struct PtcDictBuild {
    PtcHeap *heap;
    PtcValue entries; /* vector builder: key, value, ... or keys */
    uint32_t *table;  /* entry number + 1, or 0 */
    uint32_t *hashes; /* by entry number */
    uint32_t table_cap, count;
    size_t hash_cap;
    bool is_set;
} PtcDictBuild;

PTC_MUST_USE bool ptc_dict_build_init(PtcDictBuild *b, PtcHeap *heap, bool is_set);
/* Index of the entry with this key, -1 when there is none. */
int64_t ptc_dict_build_find(PtcDictBuild *b, PtcValue key);
/* Adds or replaces. */
PTC_MUST_USE bool ptc_dict_build_put(PtcDictBuild *b, PtcValue key, PtcValue value);
/* Value slot of an entry, to be read or written in place. */
PtcValue *ptc_dict_build_slot(PtcDictBuild *b, int64_t entry);
PtcValue ptc_dict_build_key(PtcDictBuild *b, int64_t entry);
PTC_MUST_USE PtcValue ptc_dict_build_done(PtcDictBuild *b);
/* For a sorted map or set (sorted.h): sorts the entries; of those with the same key the first key and the last value
 * are kept.  Only _done_sorted or _cancel may follow.  Comparators are called, and may collect if the caller has
 * rooted the entries and says so to them (sorted.c). */
PTC_MUST_USE bool ptc_dict_build_sort(PtcDictBuild *b, PtcValue by);
/* The sorted map or set, from entries that are in order. */
PTC_MUST_USE PtcValue ptc_dict_build_done_sorted(PtcDictBuild *b, PtcValue by);
void ptc_dict_build_cancel(PtcDictBuild *b);

#endif
