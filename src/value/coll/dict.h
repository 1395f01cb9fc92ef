/* SPDX-License-Identifier: MIT
 * dict.h - large maps and sets; map.h is the way in for everybody else.
 *
 * Entries are in a persistent vector in insertion order; an index, a hash trie, leads from a key's hash to the number
 * of its entry.  The versions of a map share one index: adding a key to the newest version changes the index in
 * place.  Older versions may then meet numbers beyond their entries, or numbers that mean another key to them; they
 * ignore both, because a number counts only when the entry there has the key.  Adding to an older version copies one
 * path of the trie under a new index.  Replacing a value copies one path of the entry vector. */
#ifndef PTC_VALUE_COLL_DICT_H
#define PTC_VALUE_COLL_DICT_H

#include "value/heap.h"

/* A BMAP or BSET with the contents of a small map or set. */
PTC_MUST_USE PtcValue ptc_dict_from_small(PtcHeap *heap, PtcValue small);
/* Value of a key (PTC_NIL for sets); the stored key.  PTC_NONE: absent. */
PtcValue ptc_dict_get(PtcHeap *heap, PtcValue dict, PtcValue key, bool flex);
PtcValue ptc_dict_key(PtcHeap *heap, PtcValue dict, PtcValue key, bool flex);
PTC_MUST_USE PtcValue ptc_dict_put(PtcHeap *heap, PtcValue dict, PtcValue key, PtcValue value,
                                   bool flex);
PTC_MUST_USE PtcValue ptc_dict_remove(PtcHeap *heap, PtcValue dict, PtcValue key);
bool ptc_dict_next(PtcValue dict, size_t *pos, PtcValue *key, PtcValue *value);
/* How well a stored key matches `key` if it is not the same: 0 not at all, 2 another type with the same letters, 1
 * the same letters apart from - and _ (map.c). */
int ptc_key_likeness(PtcHeap *heap, PtcValue stored, PtcValue key);
/* Is it a string key that a keyword means, differing in letter case and blanks (map.c)? */
bool ptc_key_loose(PtcHeap *heap, PtcValue stored, PtcValue key);

/* The trie (hamt.c).  A slot word: hash << 32 | entry << 1 | 1. */
static inline PtcValue ptc_hamt_slot(uint32_t hash, uint32_t entry)
{
    return (PtcValue)hash << 32 | (PtcValue)entry << 1 | 1;
}
/* The slots whose hash is `hash`: pointer and count. */
size_t ptc_hamt_find(PtcValue root, uint32_t hash, const PtcValue **slots);
/* The trie with one slot more or less.  Inserting changes nodes owned by `owner` (an index) in place; removing always
 * copies. */
PTC_MUST_USE PtcValue ptc_hamt_insert(PtcHeap *heap, PtcValue owner, PtcValue root, PtcValue slot);
PTC_MUST_USE PtcValue ptc_hamt_remove(PtcHeap *heap, PtcValue owner, PtcValue root, PtcValue slot);
/* A trie of n slot words, which are reordered; `scratch` has room for n more. */
PTC_MUST_USE PtcValue ptc_hamt_build(PtcHeap *heap, PtcValue owner, PtcValue *slots,
                                     PtcValue *scratch, size_t n);

#endif
