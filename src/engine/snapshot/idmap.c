/* SPDX-License-Identifier: MIT
 * A hash table from values to numbers, by identity.  What always holds: it has a free slot, so a search always ends. */
#include "engine/snapshot/idmap.h"

void ptc_idmap_init(PtcIdMap *map, PtcMem *mem)
{
    *map = (PtcIdMap){.mem = mem};
}

void ptc_idmap_deinit(PtcIdMap *map)
{
    ptc_mem_free(map->mem, map->table, map->cap * sizeof *map->table);
    ptc_idmap_init(map, map->mem);
}

/* Where a value is, or belongs. */
static PtcIdEntry *id_entry_place(PtcIdEntry *table, size_t cap, PtcValue v)
{
    size_t at = (size_t)((v >> 3) * 0x9e3779b97f4a7c15u >> 32) & (cap - 1);
    while (table[at].value != PTC_NONE && table[at].value != v)
        at = (at + 1) & (cap - 1);
    return &table[at];
}

static bool grow_id_map(PtcIdMap *map)
{
    size_t cap = map->cap ? map->cap * 2 : 64;
    PtcIdEntry *table = ptc_mem_alloc(map->mem, cap * sizeof *table);
    if (!table)
        return false;
    memset(table, 0, cap * sizeof *table);
    for (size_t i = 0; i < map->cap; i++)
        if (map->table[i].value != PTC_NONE)
            *id_entry_place(table, cap, map->table[i].value) = map->table[i];
    ptc_mem_free(map->mem, map->table, map->cap * sizeof *table);
    map->table = table;
    map->cap = cap;
    return true;
}

PtcIdEntry *ptc_idmap_find(const PtcIdMap *map, PtcValue v)
{
    PtcIdEntry *e = map->cap ? id_entry_place(map->table, map->cap, v) : NULL;
    return e && e->value == v ? e : NULL;
}

PtcIdEntry *ptc_idmap_at(PtcIdMap *map, PtcValue v, bool *fresh)
{
    if (map->count * 2 >= map->cap && !grow_id_map(map))
        return NULL;
    PtcIdEntry *e = id_entry_place(map->table, map->cap, v);
    *fresh = e->value == PTC_NONE;
    if (*fresh) {
        *e = (PtcIdEntry){v, 0};
        map->count++;
    }
    return e;
}
