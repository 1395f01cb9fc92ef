/* SPDX-License-Identifier: MIT
 * idmap.h - numbers for values by identity: what has been seen before, and under which number.  For walks over
 * everything that a value refers to. */
#ifndef PTC_ENGINE_SNAPSHOT_IDMAP_H
#define PTC_ENGINE_SNAPSHOT_IDMAP_H

#include "base/mem.h"
#include "value/value.h"

typedef struct PtcIdEntry {
    PtcValue value; /* PTC_NONE: free */
    uint64_t number;
} PtcIdEntry;

typedef struct PtcIdMap {
    PtcMem *mem;
    PtcIdEntry *table;
    size_t count, cap;
} PtcIdMap;

void ptc_idmap_init(PtcIdMap *map, PtcMem *mem);
void ptc_idmap_deinit(PtcIdMap *map);
/* The entry of a value, added with number 0 and *fresh true if there is none; valid until the next one is added.
 * NULL: out of memory. */
PTC_MUST_USE PtcIdEntry *ptc_idmap_at(PtcIdMap *map, PtcValue value, bool *fresh);
/* The same without adding: NULL if there is none. */
PtcIdEntry *ptc_idmap_find(const PtcIdMap *map, PtcValue value);

#endif
